/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.c: a copy of the process, made while a launch runs for long.  It waits until the process is gone; then it takes the logs
 * by the way that is used behind a fault (rescue.c), judges and tells.
 *
 * It is a child that gives no signal when it ends and that wait() does not see.  No handlers of a fork run in the process, since
 * those could wait for whoever waits for the launch.  It has nothing of the process open but what it needs, and is ended when
 * no launch runs any more.  It calls no driver: the rescuer does.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/copy.h"
#include "rt/judge.h"
#include "rt/slab.h"

enum {
	WAIT_MS = 50,
	TELL_S = 300,                   /* that a copy has for telling; memory that it shares may be in any state */
	COST = 50,                      /* making copies takes at most one part of so many of the time */
	FILES = 4096
};

struct page { uint64_t moves, launches; };      /* that both have; atomic */

static struct page *page;               /* NULL: there was no copy yet; atomic */
static pthread_mutex_t copy_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(copy_lock, RT_LOCK);

/* With copy_lock.  pid: 0: there is none; pipe: it sees when that is closed; due: ms: no other before; was: when it was made. */
static struct { pid_t pid; int pipe; uint64_t due; struct page was; bool off; } copy;
static bool is_here;

void rt_copy_moved(void)
{
	struct page *p = __atomic_load_n(&page, __ATOMIC_ACQUIRE);

	if (p)
		__atomic_add_fetch(&p->moves, 1, __ATOMIC_ACQ_REL);
}

void rt_copy_launched(void)
{
	struct page *p = __atomic_load_n(&page, __ATOMIC_ACQUIRE);

	if (p)
		__atomic_add_fetch(&p->launches, 1, __ATOMIC_ACQ_REL);
}

static struct page now(void)
{
	return (struct page){__atomic_load_n(&page->moves, __ATOMIC_ACQUIRE), __atomic_load_n(&page->launches, __ATOMIC_ACQUIRE)};
}

bool rt_copy_is_here(void)
{
	return is_here;
}

/* ---- the copy ---------------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void close_between(int from, int to)
{
#ifdef SYS_close_range
	if (from > to || !syscall(SYS_close_range, (unsigned)from, (unsigned)to, 0))
		return;
#endif
	for (int fd = from; fd <= to && fd < sysconf(_SC_OPEN_MAX); fd++)
		close(fd);
}

/* Who waits for the end of a pipe of the process must not wait for the copy. */
static void close_others(int pipe)
{
	static int kept[FILES + 3];
	size_t n = rt_slab_files(kept, FILES);
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	int from = STDERR_FILENO + 1;

	kept[n++] = pipe;
	if (rt_log_file() > STDERR_FILENO)
		kept[n++] = rt_log_file();
	if (rt_keep_file() > STDERR_FILENO)
		kept[n++] = rt_keep_file();
	dup2(nothing, STDIN_FILENO);
	if (rt_log_file() != STDOUT_FILENO)
		dup2(nothing, STDOUT_FILENO);
	qsort(kept, n, sizeof *kept, by_number);
	for (size_t i = 0; i < n; i++) {
		close_between(from, kept[i] - 1);
		from = kept[i] + 1;
	}
	close_between(from, ~0u >> 1);
}

/* If the machine lacks memory the copy goes first. */
static void offer_memory(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		rt_write_all(fd, "1000", 4);
		close(fd);
	}
}

/* One that ends has no memory any more when its files are closed. */
static bool has_memory(pid_t of)
{
	char path[32], exe[8];

	snprintf(path, sizeof path, "/proc/%ld/exe", (long)of);
	return readlink(path, exe, sizeof exe) >= 0 || errno != ENOENT;
}

/* False: it is another program now, or has closed all that it had open. */
static bool wait_for_end(pid_t of, int pipe)
{
	struct pollfd open = {.fd = pipe};

	while (getppid() == of) {
		if (poll(&open, 1, WAIT_MS) <= 0)
			continue;
		if (has_memory(of))
			return getppid() != of;
		rt_pause_us(WAIT_MS * 1000);
	}
	return true;
}

static void on_alarm(int unused)
{
	static const char text[] = "GSan: the copy of the process took too long\n";

	(void)unused;
	rt_log_plain(text, sizeof text - 1);
	syscall(SYS_exit_group, 0);
}

/* No handler of the program's runs in it, and it leaves no core file. */
static void take_signals(void)
{
	const struct rlimit no_core = {0, 0};
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	signal(SIGALRM, on_alarm);
	setrlimit(RLIMIT_CORE, &no_core);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void stand_by(pid_t of, int pipe)
{
	setsid();       /* what is sent to all of the process's group is not for it */
	prctl(PR_SET_NAME, "gsan-copy");
	take_signals();
	close_others(pipe);
	offer_memory();
	if (!wait_for_end(of, pipe))
		syscall(SYS_exit_group, 0);
	alarm(TELL_S);
	rt_pid_set(of);
	is_here = true;
	copy.pid = 0;
	if (now().moves == copy.was.moves) {
		rt_say("process %ld is gone, and has not told what launches logged that were under way: a copy of it does", (long)of);
		rt_judge_alone(now().launches - copy.was.launches);
	} else {
		rt_say("process %ld is gone, and what launches logged that were under way with it: its copy"
		       " was out of date (kill_watch says how often one is made)", (long)of);
	}
	rt_end_alone();
}

/* ---- the process ------------------------------------------------------------------------------------------------------- */

static void let_go(struct rt_listed *end)
{
	for (struct rt_listed *l = __start_rt_locks; l < end; l++)
		if (l->kind == RT_LOCK_WHOLE)
			pthread_mutex_unlock(l->lock);
}

/* False: somebody has one of them. */
static bool hold(void)
{
	for (struct rt_listed *l = __start_rt_locks; l < __stop_rt_locks; l++)
		if (l->kind == RT_LOCK_WHOLE && pthread_mutex_trylock(l->lock)) {
			let_go(l);
			return false;
		}
	return true;
}

static void free_others(void)
{
	for (struct rt_listed *l = __start_rt_locks; l < __stop_rt_locks; l++)
		if (l->kind != RT_LOCK_WHOLE)
			pthread_mutex_init(l->lock, NULL);
}

/* With copy_lock. */
static void end(void)
{
	if (!copy.pid)
		return;
	kill(copy.pid, SIGKILL);
	while (waitpid(copy.pid, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	close(copy.pipe);
	copy.pid = 0;
}

static bool make_page(void)
{
	void *p = page ? page : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED)
		__atomic_store_n(&page, p, __ATOMIC_RELEASE);
	return p != MAP_FAILED;
}

/* With copy_lock, and the locks that are to be whole. */
static void divide(const int pipe[2])
{
	const pid_t of = getpid();
	pid_t pid;

	copy.was = now();
	copy.pipe = pipe[1];
	pid = (pid_t)syscall(SYS_clone, 0UL, 0UL, 0UL, 0UL, 0UL);
	if (!pid) {
		let_go(__stop_rt_locks);
		free_others();
		stand_by(of, pipe[0]);
	}
	copy.pid = pid > 0 ? pid : 0;
}

static bool make(void)
{
	int pipe[2];

	if (!make_page() || pipe2(pipe, O_CLOEXEC))
		return false;
	if (!hold()) {
		close(pipe[0]);
		close(pipe[1]);
		return false;
	}
	divide(pipe);
	let_go(__stop_rt_locks);
	close(pipe[0]);
	if (!copy.pid)
		close(pipe[1]);
	return copy.pid;
}

void rt_copy_make(void)
{
	const uint64_t start = rt_now_ms();
	uint64_t pause = (uint64_t)rt_flags.kill_watch * 1000, cost;

	pthread_mutex_lock(&copy_lock);
	if (!copy.off) {
		end();
		if (!make())
			pause = WAIT_MS;
		cost = (rt_now_ms() - start) * COST;
		copy.due = rt_now_ms() + (cost > pause ? cost : pause);
	}
	pthread_mutex_unlock(&copy_lock);
}

void rt_copy_drop(void)
{
	pthread_mutex_lock(&copy_lock);
	end();
	pthread_mutex_unlock(&copy_lock);
}

bool rt_copy_is_due(uint64_t since)
{
	const uint64_t ms = rt_now_ms();
	bool due = false;

	pthread_mutex_lock(&copy_lock);
	if (!copy.off && ms - since >= (uint64_t)rt_flags.kill_watch * 1000 && ms >= copy.due)
		due = !copy.pid || copy.was.moves != now().moves || copy.was.launches != now().launches;
	pthread_mutex_unlock(&copy_lock);
	return due;
}

void rt_copy_end(void)
{
	pthread_mutex_lock(&copy_lock);
	copy.off = true;
	end();
	pthread_mutex_unlock(&copy_lock);
}

void rt_copy_fork(void)
{
	if (copy.pid)
		close(copy.pipe);
	copy.pid = 0;
	if (page)
		munmap(page, sizeof *page);
	page = NULL;
}
