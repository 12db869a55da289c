/* SPDX-License-Identifier: Apache-2.0
 *
 * init.c: how the runtime starts and forks, and the functions of gsan.h.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/copy.h"
#include "rt/drv.h"
#include "rt/slab.h"
#include "rt/gsan.h"
#include "rt/image.h"

#define EXPORT __attribute__((visibility("default")))

#pragma weak __gsan_default_options
#pragma weak __gsan_default_suppressions

pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t rt_dev_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(rt_lock, RT_LOCK_WHOLE);
RT_LIST_LOCK(rt_dev_lock, RT_LOCK);

static pthread_once_t started = PTHREAD_ONCE_INIT;
static bool forked;             /* in a child that cannot use the device */

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
	for (struct rt_listed *l = __start_rt_locks; l < __stop_rt_locks; l++)
		pthread_mutex_init(l->lock, NULL);
	if (rt_dev_ready())
		forked = true;
	rt_watch_fork();
	rt_copy_fork();
	rt_log_fork();
	rt_slab_fork();
	rt_end_fork(rt_drv_loaded());
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

bool rt_forked(void)
{
	return forked;
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
	rt_tell_idle();
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
	if (i >= rt_reports())
		rt_drain();
	if (!rt_report_get(i, &r))
		return -1;
	if (!r.told) {          /* whether it is suppressed turns out then */
		rt_tell();
		rt_report_get(i, &r);
	}
	out->kind = rt_kind_name(r.kind);
	out->now = spot(&r.now);
	out->before = spot(&r.before);
	out->count = r.count;
	out->suppressed = r.suppressed || r.filtered || rt_only_warned(&r);
	return 0;
}

EXPORT int gsan_incomplete(void)
{
	struct rt_totals t;

	if (rt_other())
		return rt_other()->incomplete();
	memset(&t, 0, sizeof t);
	rt_drain();
	rt_launch_count(&t);
	rt_modules_count(&t);
	rt_image_count(&t);
	rt_context_count(&t);
	return rt_incomplete(&t);
}

EXPORT int gsan_finish(void)
{
	return rt_other() ? rt_other()->finish() : rt_finish();
}

EXPORT void gsan_off(void)
{
	if (rt_other())
		rt_other()->off();
	else
		rt_off();
}
