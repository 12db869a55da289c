/* SPDX-License-Identifier: Apache-2.0
 *
 * order.c: the program's calls as detect/host.h is told of them, and deeds on their way to being compared.
 *
 * A deed has its place when it is issued, and its ranges when they are known: those of a launch when its log has been read.
 * Deeds are compared in the order of their issue.
 *
 * Lock: order_lock, inside which there are no others, and no driver calls.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/edges.h"
#include "rt/order.h"
#include "rt/spans.h"

_Thread_local const struct detect_when *rt_order_within;

static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(order_lock, RT_LOCK_WHOLE);
static bool wanted;                     /* atomic */

/* With order_lock. */
static struct detect_order *order;
static struct rt_deed *first, **last = &first, *newest;        /* newest: if it is there yet */
static uint64_t unseen;                 /* calls that may order anything */
static uint64_t hearing;                /* deeds on their way that may hear something */
static uint64_t waiting;                /* deeds on their way; atomic, too */

/* Memory that pools got back, and what was known then, or when that very piece came back before.  With order_lock. */
static struct rt_spans given;
static struct detect_clock given_clock[RT_SPANS];

/* As long as everything that comes into streams comes behind all that came before: how many these are, and of each line the
 * last launch that was spared.  With order_lock. */
enum { MANY = 4096 };                   /* deeds on their way: who calls takes a part in comparing them, and of more waits */
enum { TRIAL = 64 };                    /* so many are looked through in any case */
static struct { uint64_t puts; bool parted; uint32_t spared[DETECT_LINES]; uint64_t lost; } chain;

/* With judge_lock. */
static struct detect_deeds *deeds;

bool rt_order_wanted(void)
{
	return __atomic_load_n(&wanted, __ATOMIC_ACQUIRE);
}

void rt_order_want(void)
{
	if (rt_order_wanted() || !rt_flags.report_bugs)
		return;
	pthread_mutex_lock(&order_lock);
	if (!order)
		order = detect_order_new();
	if (order)
		__atomic_store_n(&wanted, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&order_lock);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* What the driver says of a stream holds as long as the stream is known. */
static bool is_blocking(CUstream s, const struct detect_stream *x)
{
	unsigned flags = CU_STREAM_DEFAULT;
	bool known;

	if (!x->key || (uintptr_t)s <= 2)
		return true;
	if (rt_call.has_blocking && rt_call.other == s)
		return rt_call.blocking;
	pthread_mutex_lock(&order_lock);
	known = order && detect_stream_known(order, x);
	pthread_mutex_unlock(&order_lock);
	if (!known && rt_drv.cuStreamGetFlags && rt_drv.cuStreamGetFlags(s, &flags) != CUDA_SUCCESS)
		flags = CU_STREAM_DEFAULT;
	rt_call.other = s;
	rt_call.blocking = !(flags & CU_STREAM_NON_BLOCKING);
	rt_call.has_blocking = rt_call.live;
	return rt_call.blocking;
}

/* Of a handle the context is not looked at: it may be used while another one is current. */
static struct detect_stream stream_of(enum rt_hook which, CUstream s)
{
	struct detect_stream x = {.context = (uintptr_t)rt_current(), .key = rt_stream_key(which, s)};

	x.legacy = !x.key;
	x.blocking = is_blocking(s, &x);
	return x;
}

/* ---- deeds ---------------------------------------------------------------------------------------------------------- */

static void append(struct rt_deed *x)
{
	hearing += x->hears;
	__atomic_store_n(&waiting, waiting + 1, __ATOMIC_RELEASE);
	x->d.number = (uintptr_t)x;
	*last = newest = x;
	last = &x->next;
}

/* From now on nothing is spared; what was, and is not known to be over, may race with what comes. */
static void part(void)
{
	const struct detect_clock *host = detect_host_clock(order);

	chain.parted = true;
	for (unsigned i = 0; i < DETECT_LINES; i++)
		if (chain.spared[i] > host->upto[i])
			chain.lost += chain.spared[i] - host->upto[i];
}

void rt_deed_spare(const struct rt_launch *l)
{
	struct rt_deed *x = l->deed;
	uint32_t *upto;

	if (!x || l->running || l->failed || l->tables->linked->talks)
		return;
	upto = &chain.spared[x->d.when.line];
	pthread_mutex_lock(&order_lock);
	x->spared = !chain.parted && x->nth > TRIAL && chain.puts > x->nth;
	if (x->spared && x->d.when.number > *upto)
		*upto = x->d.when.number;
	pthread_mutex_unlock(&order_lock);
}

bool rt_deed_is_walked(const struct rt_deed *x)
{
	return x && !x->spared;
}

void rt_deed_deaf(struct rt_deed *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&order_lock);
	hearing -= x->hears;
	x->hears = false;
	pthread_mutex_unlock(&order_lock);
}

void rt_deed_keep(struct rt_deed *x)
{
	if (x)
		x->nth = 0;
}

struct rt_deed *rt_deed_put(enum rt_hook which, CUstream s, enum detect_deed_kind kind, const char *call)
{
	struct detect_stream at;
	struct rt_deed *x;

	if (!rt_order_wanted() || rt_is_off() || rt_short() || rt_stream_captured(s))
		return NULL;
	at = stream_of(which, s);
	x = rt_alloc(sizeof *x);
	x->d.kind = kind;
	x->hears = kind == DETECT_LAUNCH;
	x->call = call;
	x->stream = at.key & 2 && (at.key >> 16) ? 2 : at.key;
	if (kind != DETECT_LAUNCH)
		x->stack = *rt_stack_here();
	x->d.origin = x->stack.hash;
	pthread_mutex_lock(&order_lock);
	detect_put(order, &at, &x->d.when);
	x->nth = ++chain.puts;
	x->d.behind_all = detect_is_behind_all(order, &x->d.when);
	if (!chain.parted && !x->d.behind_all)
		part();
	x->d.host = *detect_host_clock(order);
	append(x);
	pthread_mutex_unlock(&order_lock);
	return x;
}

struct rt_deed *rt_deed_beside(const struct rt_deed *d)
{
	struct rt_deed *x = d ? rt_alloc(sizeof *x) : NULL;

	if (!x)
		return NULL;
	x->d.kind = d->d.kind;
	x->hears = d->d.kind == DETECT_LAUNCH;
	x->d.when = d->d.when;
	x->nth = d->nth;
	x->stream = d->stream;
	pthread_mutex_lock(&order_lock);
	x->d.host = *detect_host_clock(order);
	append(x);
	pthread_mutex_unlock(&order_lock);
	return x;
}

void rt_deed_range(struct rt_deed *x, uint64_t address, uint64_t bytes, bool writes)
{
	const struct detect_range r = {.address = address, .bytes = bytes, .size = (uint32_t)bytes, .reads = !writes, .writes = writes};

	if (x && bytes)
		detect_range_add(&x->d.ranges, &r);
}

void rt_deed_ready(struct rt_deed *x)
{
	if (!x)
		return;
	__atomic_store_n(&x->ready, true, __ATOMIC_RELEASE);
}

/* With order_lock: is it one more of the newest one's, in a loop say? */
static bool goes_on(const struct rt_deed *x)
{
	return newest && newest->d.kind == DETECT_TOUCH && newest->call && newest->d.origin == x->d.origin &&
	       newest->d.when.line == x->d.when.line && newest->d.when.number == x->d.when.number &&
	       !memcmp(&newest->d.host, &x->d.host, sizeof x->d.host);
}

void rt_deed_touch(uint64_t address, uint64_t bytes, bool writes, const struct rt_stack *stack)
{
	struct rt_deed *x;

	if (!rt_order_wanted() || rt_is_off() || rt_short())
		return;
	x = rt_alloc(sizeof *x);
	x->d.kind = DETECT_TOUCH;
	x->call = "the host";
	x->stack = *stack;
	x->d.origin = stack->hash;
	rt_deed_range(x, address, bytes, writes);
	x->ready = true;
	pthread_mutex_lock(&order_lock);
	detect_host_now(order, &x->d.when);
	if (rt_order_within)
		x->d.when = *rt_order_within;
	x->d.host = *detect_host_clock(order);
	if (goes_on(x)) {
		rt_deed_range(newest, address, bytes, writes);
		detect_ranges_free(&x->d.ranges);
		rt_free(x);
	} else {
		append(x);
	}
	pthread_mutex_unlock(&order_lock);
}

/* ---- events and waiting ------------------------------------------------------------------------------------------------ */

/* Runs what stands behind it with the order, if somebody wants it. */
#define WITH_ORDER(statement) \
	do { \
		if (rt_order_wanted()) { \
			pthread_mutex_lock(&order_lock); \
			statement; \
			pthread_mutex_unlock(&order_lock); \
		} \
	} while (0)

void rt_order_record(enum rt_hook which, CUstream s, CUevent e)
{
	struct detect_stream at;

	if (!rt_order_wanted() || rt_stream_captured(s))
		return;
	at = stream_of(which, s);
	WITH_ORDER(detect_record(order, (uintptr_t)e, &at));
}

void rt_order_wait(enum rt_hook which, CUstream s, CUevent e)
{
	struct detect_stream at;

	if (!rt_order_wanted() || rt_stream_captured(s))
		return;
	at = stream_of(which, s);
	WITH_ORDER(detect_wait(order, &at, (uintptr_t)e));
}

void rt_order_open(enum rt_hook which, CUstream s)
{
	struct detect_stream at;

	if (!rt_order_wanted() || rt_stream_captured(s))
		return;
	at = stream_of(which, s);
	WITH_ORDER((detect_open(order, &at), unseen++));
}

void rt_order_blind(void)
{
	WITH_ORDER((detect_blind(order), unseen++));
}

void rt_order_stream_end(CUstream s)
{
	const struct detect_stream at = {.context = (uintptr_t)rt_current(), .key = (uintptr_t)s};

	if ((uintptr_t)s > 2)
		WITH_ORDER(detect_stream_end(order, &at));
}

struct detect_clock rt_order_of_stream(enum rt_hook which, CUstream s)
{
	struct detect_clock c = {{0}};
	struct detect_stream at;

	if (!rt_order_wanted())
		return c;
	at = stream_of(which, s);
	WITH_ORDER(c = detect_clock_of_stream(order, &at));
	return c;
}

struct detect_clock rt_order_of_event(CUevent e)
{
	struct detect_clock c = {{0}};

	WITH_ORDER(c = detect_clock_of_event(order, (uintptr_t)e));
	return c;
}

struct detect_clock rt_order_of_all(CUcontext ctx)
{
	struct detect_clock c = {{0}};

	WITH_ORDER(c = detect_clock_of_all(order, (uintptr_t)ctx));
	return c;
}

/* With order_lock.  A kernel that is under way may hear of it, by memory that the host writes. */
static void learn(const struct detect_clock *c)
{
	const struct detect_clock *host = detect_host_clock(order);

	detect_learn(order, c);
	for (struct rt_deed *x = hearing ? first : NULL; x; x = x->next)
		if (x->hears && host->upto[x->d.when.line] < x->d.when.number)
			detect_clock_join(&x->d.heard, host);
}

void rt_order_learn(const struct detect_clock *c)
{
	WITH_ORDER(learn(c));
}

struct detect_clock rt_order_host(void)
{
	struct detect_clock c = {{0}};

	WITH_ORDER(c = *detect_host_clock(order));
	return c;
}

/* ---- memory ----------------------------------------------------------------------------------------------------------- */

void rt_order_freed(uint64_t address, uint64_t bytes)
{
	struct rt_deed *x;

	if (!rt_order_wanted() || rt_is_off() || rt_short())
		return;
	x = rt_alloc(sizeof *x);
	x->forget = address;
	x->forget_bytes = bytes;
	x->ready = true;
	WITH_ORDER(append(x));
}

void rt_order_given_back(const struct rt_deed *x, uint64_t address, uint64_t bytes)
{
	struct detect_clock knew;
	unsigned was;

	if (!x || !bytes)
		return;
	knew = x->d.when.knew;
	pthread_mutex_lock(&order_lock);
	was = rt_span_find(&given, address, bytes);
	if (was != RT_NO_SPAN) {
		detect_clock_join(&knew, &given_clock[was]);
		rt_span_remove(&given, was);
	}
	given_clock[rt_span_add(&given, address, bytes)] = knew;
	pthread_mutex_unlock(&order_lock);
}

void rt_order_handed_on(enum rt_hook which, CUstream s, uint64_t address, uint64_t bytes)
{
	struct detect_stream at;

	if (!rt_order_wanted() || rt_stream_captured(s))
		return;
	at = stream_of(which, s);
	pthread_mutex_lock(&order_lock);
	for (unsigned k = 0, i; (i = rt_span_overlap(&given, address, bytes, &k)) != RT_NO_SPAN;)
		detect_learn_stream(order, &at, &given_clock[i]);
	pthread_mutex_unlock(&order_lock);
}

/* ---- what launches touch --------------------------------------------------------------------------------------------------- */

enum { PORTION = 256 };                 /* pieces */

struct walk {
	struct rt_launch *l;
	const struct rt_verdict *v;
	const struct log_copy *c;
	const struct log_fill *fill;
	uint32_t n, fed;
	struct detect *d;
};

static void touched(void *arg, const struct detect_touch *t)
{
	struct detect_ranges *to = arg;
	const struct detect_side *s = &t->side;
	const struct detect_range r = {
		.address = s->address, .bytes = s->bytes, .size = (uint32_t)s->bytes, .site = s->site, .block = s->block, .thread = s->thread, .reads = s->reads,
		.writes = s->writes, .strong = t->strong
	};

	detect_range_add(to, &r);
}

static void feed(void *arg, const struct event_piece *p)
{
	struct walk *w = arg;

	detect_feed(w->d, p, p->bytes);
	if (++w->fed % PORTION == 0)
		detect_judge(w->d);
}

static void walk(void *arg)
{
	struct walk *w = arg;
	const struct event_sites sites = rt_sites_linked(w->l->tables);
	struct event_host h = {.launch = w->l->number, .blocks = w->l->shape.blocks, .fault = w->l->failed};
	const struct event_map *maps;
	size_t n;

	w->d = detect_new();
	detect_walk(w->d, touched, &w->l->deed->d.ranges);
	detect_sites(w->d, &sites);
	maps = rt_verdict_maps(w->v, &n);
	h.kind = EVENT_HOST_MAP;
	for (size_t i = 0; i < n + w->l->nmaps; i++) {
		h.map = i < n ? maps[i] : w->l->map[i - n];
		detect_host(w->d, &h);
	}
	h.kind = EVENT_HOST_LAUNCH;
	detect_host(w->d, &h);
	h.kind = EVENT_HOST_CUT;
	h.timer = w->c->head.since;
	if (w->c->head.lost)
		detect_host(w->d, &h);
	log_tell(w->c, &w->l->shape, w->fill, w->n, feed, w);
	h.kind = EVENT_HOST_OVER;
	detect_host(w->d, &h);
	detect_judge(w->d);
}

/* Does it write or read strongly what the host can reach? */
static void find_talk(struct detect_deed *x)
{
	struct rt_block b;

	pthread_mutex_lock(&rt_lock);
	for (size_t i = 0; i < x->ranges.n && !(x->tells && x->hears); i++) {
		const struct detect_range *r = &x->ranges.v[i];

		if (!r->strong || !rt_block_find(&rt_blocks, r->address, &b))
			continue;
		if (b.kind != RT_MEM_HOST && b.kind != RT_MEM_MANAGED)
			continue;
		x->tells |= r->writes;
		x->hears |= r->reads;
	}
	pthread_mutex_unlock(&rt_lock);
}

void rt_deed_walk(struct rt_launch *l, const struct rt_verdict *v, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	struct walk w = {.l = l, .v = v, .c = c, .fill = fill, .n = n};
	struct rt_deed *x = l->deed;

	if (!x)
		return;
	if (!rt_with_memory(walk, &w))
		detect_ranges_free(&x->d.ranges);
	detect_free(w.d);
	find_talk(&x->d);
	x->d.origin = (uintptr_t)l->tables;
	x->of = *l;
	x->of.map = NULL;
	x->of.nmaps = 0;
}

/* ---- comparing ------------------------------------------------------------------------------------------------------- */

static void gone(void *unused, uint64_t number)
{
	struct rt_deed *x = (struct rt_deed *)(uintptr_t)number;

	(void)unused;
	rt_edges_release(x->d.edges);
	rt_free(x);
}

static const struct detect_sink sink = {rt_met, gone, NULL};

/* The first one, if it is ready. */
static struct rt_deed *next_ready(void)
{
	struct rt_deed *x;

	pthread_mutex_lock(&order_lock);
	x = first;
	if (x && __atomic_load_n(&x->ready, __ATOMIC_ACQUIRE)) {
		first = x->next;
		hearing -= x->hears;
		__atomic_store_n(&waiting, waiting - 1, __ATOMIC_RELEASE);
		newest = first ? newest : NULL;
		if (!first)
			last = &first;
	} else {
		x = NULL;
	}
	pthread_mutex_unlock(&order_lock);
	return x;
}

/* The host's clock, if nothing is on its way. */
static bool all_here(struct detect_clock *c)
{
	bool all;

	pthread_mutex_lock(&order_lock);
	all = !first;
	*c = *detect_host_clock(order);
	pthread_mutex_unlock(&order_lock);
	return all;
}

static void take_all(void *arg)
{
	const bool end = *(const bool *)arg;
	struct detect_clock host;
	struct rt_deed *x;

	if (!deeds)
		deeds = detect_deeds_new();
	while ((x = next_ready())) {
		if (x->forget) {
			detect_deeds_forget(deeds, x->forget, x->forget_bytes, &sink);
			rt_free(x);
		} else {
			detect_ranges_end(&x->d.ranges);
			detect_deed(deeds, &x->d, &sink);
		}
	}
	if (all_here(&host) || end)
		detect_deeds_known(deeds, end ? NULL : &host, &sink);
}

void rt_order_help(void)
{
	const uint64_t n = __atomic_load_n(&waiting, __ATOMIC_ACQUIRE);

	if (n > MANY)
		rt_judge_catch_up(n > 4 * MANY);
}

bool rt_order_under_way(void)
{
	return rt_order_wanted() && __atomic_load_n(&first, __ATOMIC_ACQUIRE);
}

void rt_order_catch_up(bool end)
{
	static bool gave_up;

	if (rt_order_wanted() && !gave_up)
		gave_up = !rt_with_memory(take_all, &end);
}

void rt_order_count(struct rt_totals *t)
{
	const struct detect_deeds_count c = deeds ? detect_deeds_counts(deeds) : (struct detect_deeds_count){0, 0};

	t->talked += c.talked;
	t->deeds_dropped += c.dropped;
	WITH_ORDER((t->unseen += unseen, t->deeds_dropped += detect_order_lacking(order) + chain.lost));
}

void rt_order_fork(void)
{
	wanted = false;
	memset(&chain, 0, sizeof chain);
	first = newest = NULL;
	last = &first;
	hearing = waiting = 0;
}
