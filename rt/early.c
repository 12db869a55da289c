/* SPDX-License-Identifier: Apache-2.0
 *
 * early.c: launches that may start before the one before them in their stream has
 * ended (programmatic dependent launch).  The device sees launches begin, but no
 * streams: it is told, in a table in host memory, which launch is which, by the n-th
 * launch of a kernel.  Nothing is said where that is not certain, and then the launch
 * counts as ordered: kernels that run in several streams, in graphs, or that threads
 * launch at one moment; and launches with anything but a launch before them.
 */
#include <string.h>

#include "rt/drv.h"
#include "rt/state.h"

#define STREAMS 64

/* A kernel as the device knows it. */
struct rt_order {
	uint32_t site;
	uint32_t launches;      /* that the device counts, too */
	CUcontext ctx;
	uint64_t stream;        /* of the first launch */
	bool unsure;            /* the n-th on the device may be another */
	unsigned under_way;     /* calls of the driver */
	struct rt_order *next;
};

/* What was last put into a stream, if that was a launch. */
struct last {
	CUcontext ctx;
	uint64_t stream;
	struct rt_order *order;         /* NULL: anything else */
	uint32_t n;
	uint64_t all, nulls;    /* as below, behind it */
	unsigned under_way;
};

/* All with rt_lock. */
static struct gsan_early *table;
static struct rt_order *orders;
static struct last lasts[STREAMS];
static unsigned next_last;
static uint32_t generation = 1;         /* of sites' numbers */
static uint64_t all, nulls;     /* what was put into any stream, and into null streams */

void rt_early_into(struct gsan_early *to)
{
	pthread_mutex_lock(&rt_lock);
	table = to;
	pthread_mutex_unlock(&rt_lock);
}

/* Takes back what was said of the kernel's launches and of those behind them. */
static void doubt(struct rt_order *o)
{
	if (o->unsure)
		return;
	o->unsure = true;
	for (unsigned i = 0; table && i < GSAN_EARLY; i++)
		if ((uint32_t)table[i].key == o->site || (uint32_t)table[i].before == o->site)
			__atomic_store_n(&table[i].key, 0, __ATOMIC_SEQ_CST);
}

void rt_early_forget(void)
{
	pthread_mutex_lock(&rt_lock);
	for (struct rt_order *o = orders; o; o = o->next) {
		doubt(o);
		o->site = 0;
	}
	memset(lasts, 0, sizeof lasts);
	generation++;
	pthread_mutex_unlock(&rt_lock);
}

static struct rt_order *order_of(struct rt_func *f)
{
	uint32_t site;
	struct rt_order *o;

	if (f->asked == generation)
		return f->order;
	f->asked = generation;
	f->order = NULL;
	site = rt_func_site(f);
	if (!site)
		return NULL;
	for (o = orders; o && o->site != site; o = o->next)
		;
	if (!o) {
		o = rt_alloc(sizeof *o);
		o->site = site;
		o->next = orders;
		orders = o;
	}
	return f->order = o;
}

static struct last *last_of(CUcontext ctx, uint64_t stream, bool make)
{
	struct last *l;

	for (unsigned i = 0; i < STREAMS; i++)
		if (lasts[i].ctx == ctx && lasts[i].stream == stream)
			return &lasts[i];
	if (!make)
		return NULL;
	for (unsigned i = 0; i < STREAMS && lasts[next_last].under_way; i++)
		next_last = (next_last + 1) % STREAMS;
	l = &lasts[next_last];
	next_last = (next_last + 1) % STREAMS;
	if (l->under_way)
		return NULL;
	*l = (struct last){ .ctx = ctx, .stream = stream };
	return l;
}

/* Does nothing stand between the launch and what is put into the stream next?  A null
 * stream waits for others, and others for it. */
static bool follows(const struct last *l)
{
	return l->order && !l->order->unsure && (l->stream ? l->nulls == nulls : l->all == all);
}

static void say(const struct rt_order *o, uint32_t n, const struct last *before)
{
	const unsigned long long key = GSAN_EARLY_KEY(o->site, n);
	struct gsan_early *e = &table[GSAN_EARLY_HASH(key) % GSAN_EARLY];

	__atomic_store_n(&e->key, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&e->before, GSAN_EARLY_KEY(before->order->site, before->n), __ATOMIC_SEQ_CST);
	__atomic_store_n(&e->key, key, __ATOMIC_SEQ_CST);
}

static void put(uint64_t stream)
{
	all++;
	if (!stream)
		nulls++;
}

void rt_early_begin(struct rt_func *f, CUcontext ctx, uint64_t stream, bool early, struct rt_begun *now)
{
	struct rt_order *o;
	struct last *l;

	*now = (struct rt_begun){0};
	pthread_mutex_lock(&rt_lock);
	l = last_of(ctx, stream, true);
	o = rt_func_watched(f) ? order_of(f) : NULL;
	if (o) {
		if (!o->ctx) {
			o->ctx = ctx;
			o->stream = stream;
		}
		if (o->ctx != ctx || o->stream != stream || o->under_way++)
			doubt(o);
		o->launches++;
	}
	if (l && l->under_way++)
		l->order = NULL;
	if (early && table && l && o && !o->unsure && follows(l))
		say(o, o->launches, l);
	put(stream);
	if (l)
		*l = (struct last){ ctx, stream, l->under_way > 1 ? NULL : o, o ? o->launches : 0, all, nulls,
				    l->under_way };
	now->order = o;
	now->stream = l ? stream : 0;
	now->ctx = l ? ctx : NULL;
	pthread_mutex_unlock(&rt_lock);
}

void rt_early_end(const struct rt_begun *now, bool launched)
{
	struct last *l;

	pthread_mutex_lock(&rt_lock);
	l = now->ctx ? last_of(now->ctx, now->stream, false) : NULL;
	if (l) {
		l->under_way--;
		if (!launched)
			l->order = NULL;
	}
	if (now->order) {
		now->order->under_way--;
		/* Which it was is not known any more, if others came meanwhile. */
		if (!launched)
			doubt(now->order);
	}
	pthread_mutex_unlock(&rt_lock);
}

void rt_early_graph(struct rt_func *f)
{
	struct rt_order *o;

	pthread_mutex_lock(&rt_lock);
	o = rt_func_watched(f) ? order_of(f) : NULL;
	if (o)
		doubt(o);
	pthread_mutex_unlock(&rt_lock);
}

void rt_early_other(CUcontext ctx, uint64_t stream)
{
	struct last *l;

	pthread_mutex_lock(&rt_lock);
	put(stream);
	l = last_of(ctx, stream, false);
	if (l)
		l->order = NULL;
	pthread_mutex_unlock(&rt_lock);
}

void rt_early_waited(void)
{
	pthread_mutex_lock(&rt_lock);
	for (unsigned i = 0; i < STREAMS; i++)
		lasts[i].order = NULL;
	pthread_mutex_unlock(&rt_lock);
}

/* The device finds maps in its table. */
void rt_map_made(const void *bytes, const struct gsan_map *m)
{
	(void)bytes;
	(void)m;
}
