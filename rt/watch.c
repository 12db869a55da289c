/* SPDX-License-Identifier: Apache-2.0
 *
 * watch.c: findings from the ring to the log.  A thread looks at the ring every
 * few milliseconds, reading host memory only, so that findings keep coming while
 * a kernel hangs and after a context died.  What it finds is printed at the
 * next synchronisation, when it is known how often it happened, or after a
 * while.
 *
 * Locks, outermost first: rt_dev_lock, that of tell.c, ring_lock, rt_lock.
 */
#include <string.h>
#include <time.h>

#include "rt/drv.h"

#define LOOK_EVERY_MS 5
#define AHEAD 64u       /* entries that may be taken before an earlier one is written */

static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;

/* With ring_lock. */
static uint8_t *taken;
static uint32_t first;          /* all before it are taken */
static uint32_t ring_number;    /* of the ring: those of earlier ones are gone */

static bool watching;           /* atomic */

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
	ring_number++;
	pthread_mutex_unlock(&ring_lock);
}

void rt_drain(void)
{
	uint32_t n;
	struct gsan_finding *ring = rt_ring(&n);

	pthread_mutex_lock(&ring_lock);
	for (uint32_t i = first, empty = 0; taken && i < n && empty < AHEAD && rt_room(); i++) {
		struct gsan_finding copy;
		struct rt_report *r;

		if (taken[i])
			continue;
		if (!__atomic_load_n(&ring[i].ready, __ATOMIC_ACQUIRE)) {
			empty++;
			continue;
		}
		copy = ring[i];
		r = rt_collect(&copy);
		r->slot = i;
		r->ring = ring_number;
		rt_report_add(&(struct rt_report *){r}, 1);
		taken[i] = 1;
		while (first < n && taken[first])
			first++;
	}
	pthread_mutex_unlock(&ring_lock);
}

/* ---- telling ------------------------------------------------------------------------------------- */

/* How often it was found; arg: the context to ask, or NULL. */
static void count(struct rt_report *r, void *arg)
{
	uint32_t n;
	struct gsan_finding *ring = rt_ring(&n);

	r->exact = arg && rt_read_count(arg, r->dedup, &r->count);
	if (!r->exact && r->ring == ring_number)
		r->count = __atomic_load_n(&ring[r->slot].count, __ATOMIC_RELAXED);
	if (!r->count)
		r->count = 1;
}

void rt_tell(struct rt_ctx *c)
{
	rt_drain();
	rt_tell_all(0, count, c);
}

void rt_tell_idle(void)
{
	struct rt_ctx *c;

	rt_drain();
	if (!rt_anything_to_tell())
		return;
	c = rt_idle() ? rt_dev_begin() : NULL;
	rt_tell_all(0, count, c);
	if (c)
		rt_dev_end();
}

/* ---- the thread ------------------------------------------------------------------------------------- */

static void *look_after(void *unused)
{
	const struct timespec pause = { .tv_nsec = LOOK_EVERY_MS * 1000000 };

	(void)unused;
	rt_inside++;
	while (__atomic_load_n(&watching, __ATOMIC_ACQUIRE)) {
		nanosleep(&pause, NULL);
		rt_drain();
		rt_tell_all((uint64_t)rt_flags.report_delay_ms, count, NULL);
	}
	return NULL;
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

void rt_watch_fork(void)
{
	pthread_mutex_init(&ring_lock, NULL);
	rt_tell_fork();
	watching = false;
}

void rt_watch_closed(const struct rt_totals *unused)
{
	(void)unused;
	if (*rt_flags.log)
		rt_say("log=: there is none, kernels are judged on the device; a gsan that was configured --with-engine=new keeps logs");
}
