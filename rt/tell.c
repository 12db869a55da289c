/* SPDX-License-Identifier: Apache-2.0
 *
 * tell.c: reports on their way to the log: which are news, which are wanted, how many there are.
 *
 * Locks, outermost first: tell_lock, list_lock, rt_lock.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rt/drv.h"

static pthread_mutex_t tell_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(tell_lock, RT_LOCK_WHOLE);
RT_LIST_LOCK(list_lock, RT_LOCK_WHOLE);

/* With list_lock; entries are only added. */
static struct rt_report **list;
static size_t nlist, list_cap;

/* With tell_lock. */
static size_t ntold;            /* all before it are told; atomic */
static uint64_t reported, suppressed, filtered, beyond_limit, warned;

void rt_report_add(struct rt_report *const *r, size_t n)
{
	pthread_mutex_lock(&list_lock);
	list = rt_grow(list, &list_cap, nlist + n, sizeof *list);
	for (size_t i = 0; i < n; i++)
		if (r[i])
			list[nlist++] = r[i];
	pthread_mutex_unlock(&list_lock);
}

size_t rt_reports(void)
{
	size_t n;

	pthread_mutex_lock(&list_lock);
	n = nlist;
	pthread_mutex_unlock(&list_lock);
	return n;
}

static struct rt_report *entry(size_t i)
{
	struct rt_report *r;

	pthread_mutex_lock(&list_lock);
	r = list[i];
	pthread_mutex_unlock(&list_lock);
	return r;
}

bool rt_anything_to_tell(void)
{
	return rt_reports() > __atomic_load_n(&ntold, __ATOMIC_ACQUIRE);
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static bool same_place(const struct rt_place *a, const struct rt_place *b)
{
	if (a->known != b->known || a->nframes != b->nframes)
		return false;
	for (unsigned i = 0; i < a->nframes; i++)
		if (a->frame[i].line != b->frame[i].line ||
		    !same_text(a->frame[i].func, b->frame[i].func) ||
		    !same_text(a->frame[i].file, b->frame[i].file))
			return false;
	/* Without source lines the PTX lines are what there is. */
	return !a->nframes || (a->frame[0].line && rt_flags.symbolize) ||
	       (a->ptx_line == b->ptx_line && same_text(a->ptx, b->ptx));
}

static bool same_stacks(const struct rt_report *a, const struct rt_report *b)
{
	return a->kind == b->kind &&
	       ((same_place(&a->now, &b->now) && same_place(&a->before, &b->before)) ||
		(same_place(&a->now, &b->before) && same_place(&a->before, &b->now)));
}

char *rt_command_line(void)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return rt_copy("");
	for (ssize_t i = 0; i < n - 1; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
	return rt_copy(text);
}

static void print(const struct rt_report *r)
{
	struct rt_look look = { .pid = r->process ? r->process->pid : rt_pid(), .color = rt_log_color(),
		.summary = rt_flags.print_summary, .source = rt_flags.symbolize,
		.strip = rt_flags.strip_path_prefix };
	char *own = rt_flags.print_cmdline && !r->process ? rt_command_line() : NULL;
	struct rt_buf b = {0};

	look.cmdline = rt_flags.print_cmdline && r->process ? r->process->cmdline : own;
	rt_print_report(&b, r, &look);
	rt_log(b.text, b.len);
	rt_buf_free(&b);
	rt_free(own);
}

bool rt_only_warned(const struct rt_report *r)
{
	return rt_flags.proxy_war == PROXY_WAR_WARN &&
	       (r->kind == GSAN_PROXY_RACE || r->kind == GSAN_PROXY_FENCE_ORDER) &&
	       r->before.known && !r->before.write && !r->before.async;
}

static bool is_filtered(const struct rt_report *r)
{
	return *rt_flags.kernel_filter && !rt_glob(rt_flags.kernel_filter, r->kernel) && !rt_glob(rt_flags.kernel_filter, r->kernel_raw);
}

bool rt_is_told(const struct rt_report *r)
{
	return !is_filtered(r) && !rt_may_suppress(&rt_supps, r) && !rt_only_warned(r);
}

/* Sorts out one report; the caller has its count right. */
static void tell(struct rt_report *r)
{
	r->told = true;
	if (is_filtered(r)) {
		r->filtered = true;
		filtered += !r->repeated;
	} else if (rt_suppressed(&rt_supps, r)) {
		r->suppressed = true;
		suppressed += !r->repeated;
	} else if (!r->repeated) {
		if (!rt_flags.report_limit || reported < (uint64_t)rt_flags.report_limit)
			print(r);
		else
			beyond_limit++;
		if (rt_only_warned(r)) {
			warned++;
			return;
		}
		__atomic_add_fetch(&reported, 1, __ATOMIC_RELAXED);
		if (rt_flags.halt_on_error)
			rt_halt();
	}
}

/* Is it told by an earlier one?  `from`: the first one whose count can still grow. */
static bool is_repeated(struct rt_report *r, size_t i, size_t from)
{
	for (size_t j = 0; rt_flags.suppress_equal_stacks && j < i; j++) {
		struct rt_report *other = entry(j);

		/* That other values meet there as well is news. */
		if (other->repeated || !same_stacks(r, other) ||
		    (other->values == GSAN_VALUES_SAME && r->values != GSAN_VALUES_SAME))
			continue;
		if (j >= from) {
			other->count += r->count;
			r->merged = true;
			other->exact = other->exact && r->exact;
		}
		return true;
	}
	return false;
}

void rt_tell_all(uint64_t older_ms, void (*count)(struct rt_report *, void *), void *arg)
{
	const uint64_t now = rt_now_ms();
	size_t n, from;

	pthread_mutex_lock(&tell_lock);
	n = rt_reports();
	from = ntold;
	if (n > from && now - entry(from)->seen_ms < older_ms)
		n = from;
	for (size_t i = from; i < n; i++) {
		struct rt_report *r = entry(i);

		if (count)
			count(r, arg);
		r->repeated = is_repeated(r, i, from);
	}
	for (size_t i = from; i < n; i++)
		tell(entry(i));
	__atomic_store_n(&ntold, n > ntold ? n : ntold, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&tell_lock);
}

uint64_t rt_reported(void)
{
	return __atomic_load_n(&reported, __ATOMIC_RELAXED);
}

void rt_findings_count(struct rt_totals *t)
{
	pthread_mutex_lock(&tell_lock);
	t->findings = reported;
	t->suppressed = suppressed;
	t->warned = warned;
	t->filtered = filtered;
	t->beyond_limit = beyond_limit;
	pthread_mutex_unlock(&tell_lock);
}

void rt_tell_closing(const struct rt_totals *t)
{
	struct rt_buf b = {0};

	if (rt_flags.print_suppressions)
		rt_supps_list(&rt_supps, &b);
	if (!rt_flags.quiet)
		rt_print_closing(&b, t);
	if (b.len)
		rt_log(b.text, b.len);
	rt_buf_free(&b);
}

bool rt_report_get(size_t i, struct rt_report *r)
{
	if (i >= rt_reports())
		return false;
	*r = *entry(i);
	return true;
}

void rt_tell_fork(void)
{
	nlist = ntold = 0;
	reported = suppressed = filtered = beyond_limit = warned = 0;
}
