/* SPDX-License-Identifier: Apache-2.0
 *
 * end.c: how the runtime ends.
 *
 * By exit() the end comes in two steps.  Before the handlers that were registered
 * before the device's first use (the CUDA runtime's among them, which end its
 * contexts), the device is waited for and asked.  After all handlers, the closing
 * line is printed and, if something was found, the exit status changed.
 *
 * By _exit(), or by a signal whose default is to end the process, it comes at any
 * moment: whoever is interrupted may hold any lock.  Then a thread of ours does all
 * of that, and is waited for, but not for long.
 */
#include <dlfcn.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rt/drv.h"
#include "rt/gsan.h"
#include "rt/image.h"

#define HOOKED __attribute__((visibility("protected")))
#define PATIENCE_MS 1000        /* of who ends a process: with kernels, and with us beyond that */

static bool over;               /* somebody says the closing line; atomic */
static bool closed;             /* it is out; atomic */
static bool unwatched;          /* it says so; before closed */

/* Of the thread, and of the process that it is in. */
static sem_t wanted;
static int patience_ms;         /* with kernels; before wanted */
static pid_t watched_pid;       /* 0: there is no thread; atomic */
static void (*next_exit)(int);  /* of whoever stands behind us; NULL: nobody */

/* ---- the closing line ------------------------------------------------------------------------- */

/* What runs on the device is waited for, and judged, while it is there. */
static void ask_device(int timeout_ms)
{
	CUcontext ctx[64];
	size_t n = 0;

	if (rt_forked() || !rt_dev_ready())
		return;
	pthread_mutex_lock(&rt_dev_lock);
	for (struct rt_ctx *c = rt_contexts(); c && n < sizeof ctx / sizeof *ctx; c = c->next)
		ctx[n++] = c->ctx;
	pthread_mutex_unlock(&rt_dev_lock);
	rt_inside++;
	for (size_t i = 0; i < n; i++)
		rt_context_tell(ctx[i], timeout_ms);
	rt_inside--;
}

static void say_closing(void)
{
	struct rt_totals t;

	memset(&t, 0, sizeof t);
	rt_findings_count(&t);
	rt_launch_count(&t);
	rt_modules_count(&t);
	rt_chosen_count(&t);
	rt_image_count(&t);
	rt_context_count(&t);
	rt_drv_count(&t);
	t.still_running = rt_still_running();
	t.memory = rt_short();
	t.off = rt_dev_off();
	if (t.off)              /* then no module was looked at */
		t.bare_launches = 0;
	unwatched = rt_nothing_watched(&t);
	rt_watch_closed(&t);
	rt_tell_closing(&t);
}

/* The last findings and the closing line, once.  Programs that have not used CUDA
 * have a runtime in them, too. */
static void finish(void)
{
	sigset_t ends, before;

	if (__atomic_exchange_n(&over, true, __ATOMIC_ACQ_REL) || rt_forked())
		return;
	/* Who is asked to end while he says it goes on. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	rt_start();
	rt_watch_stop();
	rt_tell();
	if (rt_drv_used() != RT_DRV_UNUSED)
		say_closing();
	__atomic_store_n(&closed, true, __ATOMIC_RELEASE);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

bool rt_is_off(void)
{
	return is_over();
}

static bool is_closed(void)
{
	return __atomic_load_n(&closed, __ATOMIC_ACQUIRE);
}

/* ---- the status ------------------------------------------------------------------------------- */

static _Noreturn void leave(int status)
{
	if (next_exit)
		next_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

/* -1: the program's own. */
static int status_instead(void)
{
	if (rt_reported() && rt_flags.exitcode)
		return rt_flags.exitcode;
	return rt_flags.strict && is_closed() && unwatched ? RT_UNWATCHED : -1;
}

static void end_if_changed(bool flush)
{
	const bool aborts = rt_reported() && rt_flags.abort_on_error;
	const int status = status_instead();

	if (!aborts && status < 0)
		return;
	if (flush)
		fflush(NULL);
	if (aborts)
		abort();
	leave(status);
}

/* ---- exit() --------------------------------------------------------------------------------------- */

static void before_exit(void)
{
	if (!is_over())
		ask_device(rt_flags.exit_timeout_ms);
}

static void quick_end(void)
{
	if (is_over())
		return;
	ask_device(rt_flags.exit_timeout_ms);
	finish();
	end_if_changed(false);
}

/* Priority 101: after every other destructor of the program. */
__attribute__((destructor(101))) static void at_end(void)
{
	if (rt_forked() || is_over() || rt_other())
		return;
	finish();
	end_if_changed(true);
}

/* Twice: at the device's first use, for what is launched by handlers that were
 * registered after it, and at the first launch, before whatever the driver and the
 * CUDA runtime registered meanwhile. */
void rt_exit_soon(bool launched)
{
	static bool used, run;

	if (__atomic_exchange_n(launched ? &run : &used, true, __ATOMIC_RELAXED))
		return;
	atexit(before_exit);
	at_quick_exit(quick_end);
}

/* From whatever thread reports, which may not wait for others. */
void rt_halt(void)
{
	if (rt_flags.print_suppressions) {
		struct rt_buf b = {0};

		rt_supps_list(&rt_supps, &b);
		rt_log(b.text, b.len);
	}
	if (rt_flags.abort_on_error)
		abort();
	leave(rt_flags.exitcode);
}

static sem_t flushed;

static void *flush(void *unused)
{
	fflush(NULL);
	sem_post(&flushed);
	return unused;
}

/* What the program has written may be held by who waits, and is not waited for long. */
void rt_end_hung(void)
{
	struct timespec until;

	if (is_over())
		return;
	finish();
	sem_init(&flushed, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_MS / 1000;
	if (rt_thread(flush, NULL))
		sem_timedwait(&flushed, &until);
	if (rt_flags.abort_on_error)
		abort();
	leave(rt_flags.exitcode ? rt_flags.exitcode : EXIT_FAILURE);
}

void rt_end_alone(void)
{
	finish();
	leave(0);
}

int rt_finish(void)
{
	if (!is_over()) {
		ask_device(rt_flags.exit_timeout_ms);
		finish();
	}
	return (int)rt_reported();
}

void rt_off(void)
{
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	__atomic_store_n(&closed, true, __ATOMIC_RELEASE);
	rt_watch_stop();
}

/* ---- _exit() and signals: nothing but what POSIX lists for signal handlers ------------------------ */

static void *wait_to_end(void *unused)
{
	(void)unused;
	rt_inside++;
	while (sem_wait(&wanted))
		;
	if (!is_over()) {
		ask_device(patience_ms);
		finish();
	}
	return NULL;
}

static void await_closing(int ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < ms && !is_closed(); i++)
		nanosleep(&pause, NULL);
}

/* Has the closing line said, or a word instead of it. */
static void close_now(int kernels_ms)
{
	static const char text[] = "GSan: the process was ended before the closing line could be said\n";

	if (!is_over()) {
		patience_ms = kernels_ms;
		sem_post(&wanted);
	}
	await_closing(kernels_ms + PATIENCE_MS);
	if (!is_closed() && !rt_flags.quiet)
		rt_log_plain(text, sizeof text - 1);
}

/* Is this the process that is watched?  It is not in the child of a vfork, which
 * has our memory. */
static bool is_ours(void)
{
	return __atomic_load_n(&watched_pid, __ATOMIC_ACQUIRE) == getpid();
}

static void on_signal(int sig)
{
	const int kernels = rt_flags.exit_timeout_ms;
	sigset_t this;

	if (is_ours() && !is_closed())
		close_now(kernels < PATIENCE_MS ? kernels : PATIENCE_MS);
	/* It ends the process as it would have. */
	signal(sig, SIG_DFL);
	sigemptyset(&this);
	sigaddset(&this, sig);
	raise(sig);
	pthread_sigmask(SIG_UNBLOCK, &this, NULL);
}

/* From who is called to end the process; returns the status. */
static int end_with(int status)
{
	if (!is_ours() || is_closed())
		return status;
	close_now(rt_flags.exit_timeout_ms);
	if (rt_reported() && rt_flags.abort_on_error)
		abort();
	return status_instead() < 0 ? status : status_instead();
}

int rt_end_with(int status)
{
	return end_with(status);
}

HOOKED _Noreturn void _exit(int status)
{
	const struct rt_one *one = rt_known();

	leave(one ? one->end_with(status) : status);
}

HOOKED _Noreturn void _Exit(int status)
{
	_exit(status);
}

/* Handlers that are there already are the program's; those that come later take the place
 * of ours.  The first process of a container has no default that would end it. */
static void take_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM };
	struct sigaction now, ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };

	/* A second one, as a terminal and a parent send it, waits for the first. */
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaddset(&ours.sa_mask, ends[i]);
	for (size_t i = 0; i < sizeof ends / sizeof *ends && getpid() != 1; i++)
		if (!sigaction(ends[i], NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
		    now.sa_handler == SIG_DFL)
			sigaction(ends[i], &ours, NULL);
}

void rt_end_watch(void)
{
	void *p = rt_look_up_next("_exit");

	memcpy(&next_exit, &p, sizeof p);
	sem_init(&wanted, 0, 0);
	if (!rt_thread(wait_to_end, NULL))
		return;
	__atomic_store_n(&watched_pid, getpid(), __ATOMIC_RELEASE);
	take_signals();
}

/* In the child of a fork, which has one thread. */
void rt_end_fork(bool has_driver)
{
	__atomic_store_n(&watched_pid, 0, __ATOMIC_RELEASE);
	closed = over;
	if (has_driver && !rt_forked())
		rt_end_watch();
}
