/* SPDX-License-Identifier: Apache-2.0
 *
 * watch.c: findings from the ring to the log.  A thread looks at the ring every
 * few milliseconds, reading host memory only, so that findings keep coming while
 * a kernel hangs and after a context died.  What it finds is printed at the
 * next synchronisation, when it is known how often it happened, or after a
 * while.
 *
 * Locks, outermost first: rt_dev_lock, tell_lock, ring_lock, rt_lock.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rt/drv.h"

#define LOOK_EVERY_MS 5
#define AHEAD 64u       /* entries that may be taken before an earlier one is written */

struct entry { struct rt_report *r; int32_t slot; };    /* slot: in the ring; -1: gone */

static pthread_mutex_t tell_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;

/* With ring_lock; entries are only added. */
static struct entry *entries;
static size_t nentries, entries_cap;
static uint8_t *taken;
static uint32_t first;          /* all before it are taken */

/* With tell_lock. */
static size_t ntold;            /* all before it are told */
static uint64_t reported, suppressed, filtered, beyond_limit, warned;

static bool watching, still_running;    /* atomic */

/* ---- the ring -------------------------------------------------------------------------------- */

void rt_ring_restart(void)
{
	uint32_t n;

	rt_ring(&n);
	pthread_mutex_lock(&ring_lock);
	if (!taken)
		taken = rt_alloc(n);
	memset(taken, 0, n);
	first = 0;
	for (size_t i = 0; i < nentries; i++)
		entries[i].slot = -1;
	pthread_mutex_unlock(&ring_lock);
}

void rt_drain(void)
{
	uint32_t n;
	struct gsan_finding *ring = rt_ring(&n);

	pthread_mutex_lock(&ring_lock);
	for (uint32_t i = first, empty = 0; taken && i < n && empty < AHEAD && rt_room(); i++) {
		struct gsan_finding copy;

		if (taken[i])
			continue;
		if (!__atomic_load_n(&ring[i].ready, __ATOMIC_ACQUIRE)) {
			empty++;
			continue;
		}
		copy = ring[i];
		entries = rt_grow(entries, &entries_cap, nentries + 1, sizeof *entries);
		entries[nentries].r = rt_collect(&copy);
		entries[nentries++].slot = (int32_t)i;
		taken[i] = 1;
		while (first < n && taken[first])
			first++;
	}
	pthread_mutex_unlock(&ring_lock);
}

static size_t how_many(void)
{
	size_t n;

	pthread_mutex_lock(&ring_lock);
	n = nentries;
	pthread_mutex_unlock(&ring_lock);
	return n;
}

static struct rt_report *entry(size_t i, int32_t *slot)
{
	struct rt_report *r;

	pthread_mutex_lock(&ring_lock);
	r = entries[i].r;
	*slot = entries[i].slot;
	pthread_mutex_unlock(&ring_lock);
	return r;
}

/* ---- telling ------------------------------------------------------------------------------------- */

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

/* The command line, blanks between the words. */
static char *command_line(void)
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
	struct rt_look look = { .pid = (long)getpid(), .color = rt_log_color(),
		.summary = rt_flags.print_summary, .source = rt_flags.symbolize,
		.strip = rt_flags.strip_path_prefix };
	char *cmdline = rt_flags.print_cmdline ? command_line() : NULL;
	struct rt_buf b = {0};

	look.cmdline = cmdline;
	rt_print_report(&b, r, &look);
	rt_log(b.text, b.len);
	rt_buf_free(&b);
	rt_free(cmdline);
}

bool rt_only_warned(const struct rt_report *r)
{
	return rt_flags.proxy_war == PROXY_WAR_WARN &&
	       (r->kind == GSAN_PROXY_RACE || r->kind == GSAN_PROXY_FENCE_ORDER) &&
	       r->before.known && !r->before.write && !r->before.async;
}

/* Sorts out one report; the caller has its count right. */
static void tell(struct rt_report *r)
{
	r->told = true;
	if (*rt_flags.kernel_filter && !rt_glob(rt_flags.kernel_filter, r->kernel) &&
	    !rt_glob(rt_flags.kernel_filter, r->kernel_raw)) {
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

/* Tells all findings that are at least so old. */
static void tell_all(struct rt_ctx *c, uint64_t older_ms)
{
	const uint64_t now = rt_now_ms();
	uint32_t size;
	struct gsan_finding *ring;
	size_t n, from;

	rt_drain();
	pthread_mutex_lock(&tell_lock);
	ring = rt_ring(&size);
	n = how_many();
	from = ntold;
	if (n > from) {
		int32_t slot;

		if (now - entry(from, &slot)->seen_ms < older_ms)
			n = from;
	}
	for (size_t i = from; i < n; i++) {
		int32_t slot;
		struct rt_report *r = entry(i, &slot);

		r->exact = c && rt_read_count(c, r->dedup, &r->count);
		if (!r->exact && slot >= 0)
			r->count = __atomic_load_n(&ring[slot].count, __ATOMIC_RELAXED);
		if (!r->count)
			r->count = 1;
		for (size_t j = 0; rt_flags.suppress_equal_stacks && j < i && !r->repeated; j++) {
			struct rt_report *other = entry(j, &slot);

			/* That other values meet there as well is news. */
			if (other->repeated || !same_stacks(r, other) ||
			    (other->values == GSAN_VALUES_SAME && r->values != GSAN_VALUES_SAME))
				continue;
			r->repeated = true;
			if (j >= from) {
				other->count += r->count;
				other->exact = other->exact && r->exact;
			}
		}
	}
	for (size_t i = from; i < n; i++) {
		int32_t slot;

		tell(entry(i, &slot));
	}
	ntold = n > ntold ? n : ntold;
	pthread_mutex_unlock(&tell_lock);
}

void rt_tell(struct rt_ctx *c)
{
	tell_all(c, 0);
}

static bool anything_to_tell(void)
{
	bool any;

	rt_drain();
	pthread_mutex_lock(&tell_lock);
	any = how_many() > ntold;
	pthread_mutex_unlock(&tell_lock);
	return any;
}

void rt_tell_idle(void)
{
	struct rt_ctx *c;

	if (!anything_to_tell())
		return;
	c = rt_idle() ? rt_dev_begin() : NULL;
	tell_all(c, 0);
	if (c)
		rt_dev_end();
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

size_t rt_reports(void)
{
	return how_many();
}

bool rt_report_get(size_t i, struct rt_report *r)
{
	int32_t slot;

	if (i >= how_many())
		return false;
	*r = *entry(i, &slot);
	return true;
}

/* ---- the thread ------------------------------------------------------------------------------------- */

static void *look_after(void *unused)
{
	const struct timespec pause = { .tv_nsec = LOOK_EVERY_MS * 1000000 };

	(void)unused;
	rt_inside++;
	while (__atomic_load_n(&watching, __ATOMIC_ACQUIRE)) {
		nanosleep(&pause, NULL);
		tell_all(NULL, (uint64_t)rt_flags.report_delay_ms);
	}
	return NULL;
}

/* A thread of ours takes no signal of the program's. */
bool rt_thread(void *(*fn)(void *), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r == 0;
}

void rt_watch_start(void)
{
	if (__atomic_exchange_n(&watching, true, __ATOMIC_ACQ_REL))
		return;
	if (!rt_thread(look_after, NULL)) {
		__atomic_store_n(&watching, false, __ATOMIC_RELEASE);
		rt_verbose(1, "no thread for reports; they come at synchronisations only");
	}
}

void rt_watch_stop(void)
{
	__atomic_store_n(&watching, false, __ATOMIC_RELEASE);
}

/* ---- waiting, but not for ever ------------------------------------------------------------------------ */

/* Shared with a thread that may outlive the wait, and so never freed; chained, so
 * that who looks for lost memory in the program finds none of ours. */
struct wait {
	struct wait *next;
	pthread_mutex_t lock;
	pthread_cond_t done;
	CUcontext ctx;
	CUresult result;
	bool ended;
};

static struct wait *waits;

static void *wait_for(void *arg)
{
	struct wait *w = arg;
	CUresult r;

	rt_inside++;
	r = rt_drv.cuCtxSetCurrent(w->ctx);
	if (r == CUDA_SUCCESS)
		r = REAL(CUresult(void), RT_cuCtxSynchronize)();
	pthread_mutex_lock(&w->lock);
	w->result = r;
	w->ended = true;
	pthread_cond_signal(&w->done);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

CUresult rt_wait_all(CUcontext ctx, int timeout_ms)
{
	struct wait *w;
	struct timespec until;
	pthread_condattr_t attr;
	bool ended;

	if (rt_still_running())
		return CUDA_ERROR_NOT_READY;
	w = rt_alloc(sizeof *w);
	w->ctx = ctx;
	w->next = __atomic_exchange_n(&waits, w, __ATOMIC_ACQ_REL);
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->done, &attr);
	pthread_condattr_destroy(&attr);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	if (!rt_thread(wait_for, w))
		return CUDA_ERROR_NOT_READY;
	pthread_mutex_lock(&w->lock);
	while (!w->ended && pthread_cond_timedwait(&w->done, &w->lock, &until) == 0)
		;
	ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	if (!ended) {
		__atomic_store_n(&still_running, true, __ATOMIC_RELEASE);
		return CUDA_ERROR_NOT_READY;
	}
	return w->result;
}

bool rt_still_running(void)
{
	return __atomic_load_n(&still_running, __ATOMIC_ACQUIRE);
}

/* In the child of a fork: the parent's findings are the parent's. */
void rt_watch_fork(void)
{
	pthread_mutex_init(&tell_lock, NULL);
	pthread_mutex_init(&ring_lock, NULL);
	nentries = ntold = 0;
	reported = suppressed = filtered = beyond_limit = warned = 0;
	watching = false;
}
