/* SPDX-License-Identifier: Apache-2.0
 *
 * counters.c: the device's counters, read in time, for the closing line.
 */
#include <string.h>
#include <time.h>

#include "rt/drv.h"

#define SHARE 50        /* what is read in passing takes a fiftieth of the time */

/* Of devices torn down, and as last read; with rt_lock. */
static uint64_t ended[GSAN_COUNTER_COUNT], live[GSAN_COUNTER_COUNT];
static uint64_t launched, covered;      /* launches so far; those that `live` covers */
static uint64_t next_glance;            /* not before this; microseconds */
static bool dead;                       /* a context died */
static bool lost, old;                  /* what devices torn down took with them */

void rt_context_launched(void)
{
	launched++;
}

void rt_context_died(void)
{
	pthread_mutex_lock(&rt_lock);
	dead = true;
	pthread_mutex_unlock(&rt_lock);
}

static uint64_t launches_so_far(void)
{
	uint64_t n;

	pthread_mutex_lock(&rt_lock);
	n = launched;
	pthread_mutex_unlock(&rt_lock);
	return n;
}

/* `upto`: launches that have ended for certain. */
static void read_counters(struct rt_ctx *c, uint64_t upto)
{
	uint64_t v[GSAN_COUNTER_COUNT];

	if (!rt_read_counters(c, v))
		return;
	pthread_mutex_lock(&rt_lock);
	memcpy(live, v, sizeof live);
	covered = upto;
	pthread_mutex_unlock(&rt_lock);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void rt_context_glance(void)
{
	const uint64_t start = now_us(), upto = launches_so_far();
	struct rt_ctx *c;
	bool due;

	pthread_mutex_lock(&rt_lock);
	due = upto != covered && start >= next_glance;
	pthread_mutex_unlock(&rt_lock);
	/* What is launched from here on makes the device busy again. */
	if (!due || !rt_idle() || !rt_dev_ready() || !(c = rt_dev_begin()))
		return;
	read_counters(c, upto);
	rt_dev_end();
	pthread_mutex_lock(&rt_lock);
	next_glance = start + (now_us() - start) * SHARE;
	pthread_mutex_unlock(&rt_lock);
}

void rt_context_tell(CUcontext ctx, int timeout_ms)
{
	const uint64_t upto = launches_so_far();
	CUresult r = rt_wait_all(ctx, timeout_ms);
	struct rt_ctx *c = r == CUDA_SUCCESS ? rt_dev_begin_known(ctx) : NULL;

	rt_context_noted(r);
	if (c) {
		rt_all_done();
		rt_tell(c);
		read_counters(c, upto);
		rt_dev_end();
	} else {
		rt_tell(NULL);
	}
}

/* With rt_lock: what is not in `live` cannot be had any more. */
static void give_up(bool *died, bool *unread)
{
	*died = lost || (launched != covered && dead);
	*unread = old || (launched != covered && !dead);
}

/* The counters are of the device, not of the context: they are read when its last context ends. */
void rt_context_ends(CUcontext ctx, bool of_device)
{
	if (of_device)
		rt_context_tell(ctx, rt_flags.exit_timeout_ms);
	rt_early_waited();
}

void rt_context_torn_down(void)
{
	rt_early_forget();
	pthread_mutex_lock(&rt_lock);
	for (int i = 0; i < GSAN_COUNTER_COUNT; i++) {
		ended[i] += live[i];
		live[i] = 0;
	}
	give_up(&lost, &old);
	covered = launched;
	dead = false;
	pthread_mutex_unlock(&rt_lock);
}

void rt_context_count(struct rt_totals *t)
{
	pthread_mutex_lock(&rt_lock);
	for (int i = 0; i < GSAN_COUNTER_COUNT; i++)
		t->counters[i] = ended[i] + live[i];
	give_up(&t->counters_lost, &t->counters_old);
	pthread_mutex_unlock(&rt_lock);
}
