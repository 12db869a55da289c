/* SPDX-License-Identifier: Apache-2.0
 *
 * init.c: how the runtime starts, ends and forks, and the functions of gsan.h.
 *
 * The end comes in two steps.  At exit, before the handlers that were
 * registered before the device's first use (the CUDA runtime's among them,
 * which end its contexts), the device is waited for and asked.  After all
 * handlers, the closing line is printed and, if something was found, the exit
 * status changed.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/drv.h"
#include "rt/gsan.h"
#include "rt/register.h"

#define EXPORT __attribute__((visibility("default")))

#pragma weak __gsan_default_options
#pragma weak __gsan_default_suppressions
#pragma weak rt_linked_on_purpose

pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t rt_dev_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_once_t started = PTHREAD_ONCE_INIT;
static bool forked;             /* in a child that cannot use the device */
static bool over;               /* the closing line is out; atomic */

/* ---- start ------------------------------------------------------------------------------------ */

static void read_options(const char *text, const char *origin)
{
	struct rt_buf err = {0}, warn = {0};
	bool good;

	if (!text)
		return;
	good = rt_flags_parse(&rt_flags, text, &err, &warn);
	for (char *s = warn.text, *end; s && *s; s = end + 1) {
		end = strchr(s, '\n');
		*end = '\0';
		rt_say("%s: %s", origin, s);
	}
	if (!good)
		rt_die("%s: %s", origin, err.text);
	rt_buf_free(&warn);
	rt_buf_free(&err);
}

static void read_suppressions(void)
{
	struct rt_buf err = {0};
	bool good = true;

	if (__gsan_default_suppressions)
		good = rt_supps_parse(&rt_supps, __gsan_default_suppressions(),
				      "__gsan_default_suppressions", &err);
	if (good && *rt_flags.suppressions)
		good = rt_supps_load(&rt_supps, rt_flags.suppressions, &err);
	if (!good)
		rt_die("%s", err.text);
	rt_buf_free(&err);
}

/* The child of a fork has one thread, and no device if its parent had one. */
static void in_child(void)
{
	pthread_mutex_init(&rt_lock, NULL);
	pthread_mutex_init(&rt_dev_lock, NULL);
	rt_drv_fork();
	if (rt_dev_ready())
		forked = true;
	rt_watch_fork();
	rt_log_fork();
}

static void start(void)
{
	rt_flags_default(&rt_flags);
	if (__gsan_default_options)
		read_options(__gsan_default_options(), "__gsan_default_options");
	read_options(getenv("GSAN_OPTIONS"), "GSAN_OPTIONS");
	read_suppressions();
	if (rt_flags.help) {
		struct rt_buf b = {0};

		rt_flags_help(&rt_flags, &b);
		rt_log(b.text, b.len);
		rt_buf_free(&b);
	}
	pthread_atfork(NULL, NULL, in_child);
}

void rt_start(void)
{
	pthread_once(&started, start);
}

bool rt_active(void)
{
	return !forked && !rt_short();
}

/* ---- end ----------------------------------------------------------------------------------------- */

/* Everything that only the device knows, while it is there. */
static void ask_device(void)
{
	CUcontext ctx[64];
	size_t n = 0;

	if (forked || !rt_dev_ready())
		return;
	pthread_mutex_lock(&rt_dev_lock);
	for (struct rt_ctx *c = rt_contexts(); c && n < sizeof ctx / sizeof *ctx; c = c->next)
		ctx[n++] = c->ctx;
	pthread_mutex_unlock(&rt_dev_lock);
	rt_inside++;
	for (size_t i = 0; i < n; i++)
		rt_context_tell(ctx[i], rt_flags.exit_timeout_ms);
	rt_inside--;
}

/* Other programs have a runtime in them without having asked for it: those that
 * were started with it preloaded, and gsan-run. */
static bool is_meant(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return rt_drv_loaded() || (&rt_linked_on_purpose && !(preload && strstr(preload, "libgsan")));
}

static void say_closing(void)
{
	struct rt_totals t;
	struct rt_buf b = {0};

	memset(&t, 0, sizeof t);
	rt_findings_count(&t);
	rt_launch_count(&t);
	rt_modules_count(&t);
	rt_mem_count(&t);
	rt_context_count(&t);
	t.still_running = rt_still_running();
	t.memory = rt_short();
	t.driver = rt_drv_loaded();
	t.off = rt_dev_off();
	if (t.off)              /* then no module was looked at */
		t.bare_launches = 0;
	if (rt_flags.print_suppressions)
		rt_supps_list(&rt_supps, &b);
	if (!rt_flags.quiet)
		rt_print_closing(&b, &t);
	if (b.len)
		rt_log(b.text, b.len);
	rt_buf_free(&b);
}

/* The last findings and the closing line, once. */
static void finish(void)
{
	if (__atomic_exchange_n(&over, true, __ATOMIC_ACQ_REL) || forked)
		return;
	rt_start();
	rt_watch_stop();
	rt_tell(NULL);
	if (is_meant())
		say_closing();
}

static void before_exit(void)
{
	if (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
		ask_device();
}

static _Noreturn void end_with_status(void)
{
	if (rt_flags.abort_on_error)
		abort();
	_exit(rt_flags.exitcode);
}

static bool must_fail(void)
{
	return rt_reported() && (rt_flags.exitcode || rt_flags.abort_on_error);
}

static void quick_end(void)
{
	if (__atomic_load_n(&over, __ATOMIC_ACQUIRE))
		return;
	ask_device();
	finish();
	if (must_fail())
		end_with_status();
}

/* Priority 101: after every other destructor of the program. */
__attribute__((destructor(101))) static void at_end(void)
{
	if (forked || __atomic_load_n(&over, __ATOMIC_ACQUIRE) || rt_other())
		return;
	finish();
	if (must_fail()) {
		fflush(NULL);
		end_with_status();
	}
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
	_exit(rt_flags.exitcode);
}

/* ---- gsan.h ------------------------------------------------------------------------------------------ */

EXPORT int gsan_init(void)
{
	if (rt_other())
		return rt_other()->init();
	return rt_drv_load() ? 0 : -1;
}

EXPORT size_t gsan_findings(void)
{
	if (rt_other())
		return rt_other()->findings();
	rt_drain();
	return rt_reports();
}

static struct gsan_spot spot(const struct rt_place *p)
{
	struct gsan_spot s = { .function = "", .file = "", .ptx_file = "" };

	if (p->known) {
		s.function = p->nframes ? p->frame[0].shown : "";
		s.file = p->nframes ? p->frame[0].file : "";
		s.line = p->nframes ? p->frame[0].line : 0;
		s.ptx_file = p->ptx;
		s.ptx_line = p->ptx_line;
	}
	return s;
}

EXPORT int gsan_finding(size_t i, struct gsan_report *out)
{
	struct rt_report r;

	if (rt_other())
		return rt_other()->finding(i, out);
	if (!rt_report_get(i, &r))
		return -1;
	out->kind = rt_kind_name(r.kind);
	out->now = spot(&r.now);
	out->before = spot(&r.before);
	out->count = r.count;
	out->suppressed = r.suppressed || r.filtered || rt_only_warned(&r);
	return 0;
}

EXPORT int gsan_finish(void)
{
	if (rt_other())
		return rt_other()->finish();
	if (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
		ask_device();
		finish();
	}
	return (int)rt_reported();
}
