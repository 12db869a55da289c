/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c: launches that are under way, in the order of their numbers.  One thread empties their regions while they
 * run, another one takes the log of those that are over to the detector, and prints what it finds.
 *
 * Locks, outermost first: judge_lock (the detector), drain_lock (what is drained), queue_lock (the launches).
 */
#include <stdlib.h>
#include <string.h>

#include "rt/copy.h"
#include "rt/screen.h"
#include "rt/hang.h"
#include "rt/order.h"
#include "rt/part.h"
#include "rt/take.h"
#include "rt/touch.h"

enum {
	DRAIN_US = 50,                  /* between looks at regions that are emptied, */
	LOOK_MS = 5,                    /* and at others: each takes the program's kernels off the device (doc/hardware.md 17) */
	JUDGE_US = 1000,
	GATHER_MS = 2,                  /* that are waited for another launch */
	PATIENCE_MS = 900,              /* that a lane waits for a piece: clocks of records have 32 bits (doc/probes.md) */
	LONG_MS = 3000                  /* that a launch may be judged before it is said */
};

static pthread_mutex_t judge_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(judge_lock, RT_LOCK_WHOLE);
RT_LIST_LOCK(drain_lock, RT_LOCK_WHOLE);
RT_LIST_LOCK(queue_lock, RT_LOCK_WHOLE);

static struct rt_launch *first, **last = &first;        /* with queue_lock */
static struct rt_launch *reached;       /* all before it are known to be over; NULL: nobody has looked */
static unsigned unsettled;              /* launches that wait for rt_judge_settle(); atomic, too */
static uint32_t numbers;                /* atomic, too */
static struct { CUcontext ctx; uint64_t stream; bool is_last; } newest;  /* the launch: is nothing behind it in its stream? */
static uint64_t logged_launches;        /* with queue_lock */
static bool watching, draining;         /* atomic */
static uint32_t judged;                 /* all up to that number; atomic */
static const struct rt_launch *judging; /* atomic; and since when: ms; 0: none is */
static uint64_t judging_since;
static uint64_t issued;         /* ms: the last launch; atomic */

/* With judge_lock. */
static struct rt_verdict *verdict;
static uint64_t lost_logs, clear_launches;
static bool begun;                      /* the device can be asked, or cannot; atomic */

/* ---- the queue ------------------------------------------------------------------------------------------ */

static enum rt_state state_of(const struct rt_launch *l)
{
	return __atomic_load_n(&l->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct rt_launch *l, enum rt_state s)
{
	__atomic_store_n(&l->state, s, __ATOMIC_RELEASE);
}

/* Is it over, or nothing to wait for? */
static bool is_over(struct rt_launch *l)
{
	CUevent e = __atomic_load_n(&l->behind, __ATOMIC_ACQUIRE);
	bool over;

	if (state_of(l) != RT_ISSUED || !e)
		return state_of(l) >= RT_OVER;
	over = rt_event_over(l->ctx, e);
	if (over)
		set_state(l, RT_OVER);
	return over;
}

static struct rt_launch *behind(const struct rt_launch *l)
{
	struct rt_launch *next;

	pthread_mutex_lock(&queue_lock);
	next = l->next;
	pthread_mutex_unlock(&queue_lock);
	return next;
}

void rt_judge_add(struct rt_launch *l)
{
	pthread_mutex_lock(&queue_lock);
	l->number = numbers + 1;
	__atomic_store_n(&numbers, l->number, __ATOMIC_RELEASE);
	l->early = l->early && newest.is_last && newest.ctx == l->ctx && newest.stream == l->stream;
	newest.ctx = l->ctx;
	newest.stream = l->stream;
	__atomic_store_n(&newest.is_last, true, __ATOMIC_RELEASE);
	*last = l;
	last = &l->next;
	pthread_mutex_unlock(&queue_lock);
}

const char *rt_judge_ready(struct rt_launch *l)
{
	l->drain = log_drain_begin(rt_way_to_drain(), l->memory.at, &l->shape, PATIENCE_MS);
	if (l->drain)
		set_state(l, RT_READY);
	return l->drain ? NULL : "the host has no memory for its log";
}

void rt_judge_drop(struct rt_launch *l)
{
	set_state(l, RT_DROPPED);
}

void rt_judge_issued(struct rt_launch *l, uint32_t nth, enum rt_hook which, CUstream s, bool now)
{
	l->nth = nth;
	l->since = rt_now_ms();
	__atomic_store_n(&issued, l->since, __ATOMIC_RELEASE);
	rt_inside++;
	if (now)
		rt_event_record(l, which, s);
	rt_inside--;
	rt_copy_launched();
	pthread_mutex_lock(&queue_lock);
	logged_launches++;
	l->unsettled = !l->behind;
	__atomic_store_n(&unsettled, unsettled + l->unsettled, __ATOMIC_RELEASE);
	set_state(l, RT_ISSUED);
	pthread_mutex_unlock(&queue_lock);
}

/* With queue_lock. */
static void settle(struct rt_launch *l)
{
	__atomic_store_n(&unsettled, unsettled - l->unsettled, __ATOMIC_RELEASE);
	l->unsettled = false;
}

void rt_judge_settle(CUcontext ctx, enum rt_hook which, CUstream s, uint64_t key)
{
	if (!__atomic_load_n(&unsettled, __ATOMIC_ACQUIRE) && !__atomic_load_n(&newest.is_last, __ATOMIC_ACQUIRE))
		return;
	rt_inside++;
	pthread_mutex_lock(&queue_lock);
	for (struct rt_launch *l = unsettled ? first : NULL; l; l = l->next) {
		if (!l->unsettled || l->ctx != ctx || l->stream != key || state_of(l) != RT_ISSUED)
			continue;
		rt_event_record(l, which, s);
		if (l->behind)
			settle(l);
	}
	if (newest.ctx == ctx && newest.stream == key)
		__atomic_store_n(&newest.is_last, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&queue_lock);
	rt_inside--;
}

uint32_t rt_judge_last(void)
{
	return __atomic_load_n(&numbers, __ATOMIC_ACQUIRE);
}

/* With queue_lock; NULL: all are known to be over. */
static struct rt_launch *first_under_way(void)
{
	struct rt_launch *l = reached ? reached : first;

	while (l && l->next && state_of(l) >= RT_OVER)
		l = l->next;
	reached = l;
	return l && state_of(l) < RT_OVER ? l : NULL;
}

void rt_judge_over(CUcontext ctx, const uint64_t *key, uint32_t upto)
{
	pthread_mutex_lock(&queue_lock);
	for (struct rt_launch *l = first_under_way(); l && l->number <= upto; l = l->next)
		if (l->ctx == ctx && (!key || l->stream == *key) && state_of(l) == RT_ISSUED)
			set_state(l, RT_OVER);
	pthread_mutex_unlock(&queue_lock);
}

uint32_t rt_judge_known_over(void)
{
	const struct rt_launch *l;
	uint32_t n;

	pthread_mutex_lock(&queue_lock);
	l = first_under_way();
	n = l ? l->number - 1 : numbers;
	pthread_mutex_unlock(&queue_lock);
	return n;
}

bool rt_judge_under_way(void)
{
	bool any;

	pthread_mutex_lock(&queue_lock);
	any = first;
	pthread_mutex_unlock(&queue_lock);
	return any;
}

uint32_t rt_judge_done(void)
{
	return __atomic_load_n(&judged, __ATOMIC_ACQUIRE);
}

bool rt_judge_drains(void)
{
	return __atomic_load_n(&draining, __ATOMIC_ACQUIRE);
}

/* ---- draining ---------------------------------------------------------------------------------------------- */

/* Streams whose launch before is under way. */
struct busy { struct { CUcontext ctx; uint64_t stream; } of[16]; unsigned n; };

static bool is_busy(const struct busy *b, const struct rt_launch *l)
{
	for (unsigned i = 0; i < b->n; i++)
		if (b->of[i].ctx == l->ctx && b->of[i].stream == l->stream)
			return true;
	return false;
}

/* May it be running?  What comes behind it in its stream then is not. */
static bool may_run(struct rt_launch *l, struct busy *b)
{
	if (state_of(l) < RT_READY || state_of(l) > RT_ISSUED || (!l->early && !l->beside && is_busy(b, l)) || is_over(l))
		return false;
	if (state_of(l) == RT_ISSUED && b->n < sizeof b->of / sizeof *b->of) {
		b->of[b->n].ctx = l->ctx;
		b->of[b->n++].stream = l->stream;
	}
	return true;
}

/* Is it time to look at it?  Not when it is met first: most launches are over before it is. */
static bool is_due(struct rt_launch *l)
{
	const uint64_t now = rt_now_ms(), since = l->looked;

	if (log_drain_is_busy(l->drain))
		return true;
	if (since && now - since < LOOK_MS)
		return false;
	l->looked = now;
	return since;
}

/* Is there one that has to be emptied? */
static bool drain_all(void)
{
	struct busy busy = {.n = 0};
	struct rt_launch *l;
	bool any = false;

	pthread_mutex_lock(&queue_lock);
	l = first;
	pthread_mutex_unlock(&queue_lock);
	for (; l; l = behind(l))
		if (may_run(l, &busy) && is_due(l)) {
			log_drain_look(l->drain);
			if (log_drain_is_busy(l->drain)) {
				any = true;
				rt_copy_moved();
			}
		}
	return any;
}

/* Who waits for the end of a program wants to know what for. */
static void say_if_slow(void)
{
	static uint64_t said;
	const uint64_t since = __atomic_load_n(&judging_since, __ATOMIC_ACQUIRE);

	if (!since || since == said || rt_now_ms() - since < LONG_MS)
		return;
	said = since;
	rt_say("a launch of %s is still being judged by what it logged, by one core of the host; with fewer blocks it takes less",
	       rt_demangle(__atomic_load_n(&judging, __ATOMIC_ACQUIRE)->func->name));
}

static void relax_capture(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	rt_drv.cuThreadExchangeStreamCaptureMode(&mode);
}

static void *drain(void *unused)
{
	rt_inside++;
	relax_capture();
	while (__atomic_load_n(&watching, __ATOMIC_ACQUIRE)) {
		bool any = false;

		if (rt_judge_under_way()) {
			pthread_mutex_lock(&drain_lock);
			if (rt_dev_ready() && rt_way_begin(RT_WAY_DRAIN)) {
				any = drain_all();
				rt_way_end(RT_WAY_DRAIN);
			}
			pthread_mutex_unlock(&drain_lock);
		}
		say_if_slow();
		rt_pause_us(any ? DRAIN_US : JUDGE_US);
	}
	return unused;
}

/* ---- judging: with judge_lock --------------------------------------------------------------------------------- */

/* Nobody asks the driver about it any more. */
static void let_go(struct rt_launch *l)
{
	if (l->behind)
		rt_event_leave(l->ctx, l->behind);
	l->behind = NULL;
}

/* What is known by now of tensor maps, and of memory as it was at the launch. */
static void tell_host(const struct rt_launch *l)
{
	struct event_map m;
	size_t n;

	while (rt_verdict_maps(verdict, &n), rt_map_get(n, &m))
		rt_verdict_map(verdict, &m);
	pthread_mutex_lock(&rt_lock);
	rt_verdict_memory(verdict, rt_mem_at(l));
	pthread_mutex_unlock(&rt_lock);
}

static void feed(void *unused, const struct event_piece *p)
{
	(void)unused;
	rt_verdict_feed(verdict, p);
}

/* The device has ended it, which waited for what it waits for still. */
static void explain_late(struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	struct rt_report *r = l->late && rt_flags.hang_timeout && rt_flags.report_bugs ? rt_hang_of(l, c, fill, n) : NULL;

	if (r)
		rt_report_add(&r, 1);
}

/* part: NULL: all of it at once. */
static void judge_log(struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill, uint32_t n, struct rt_part *part)
{
	bool told;

	__atomic_store_n(&judging, l, __ATOMIC_RELEASE);
	__atomic_store_n(&judging_since, rt_now_ms(), __ATOMIC_RELEASE);
	rt_verdict_begin(verdict, l, c->head.lost ? &c->head.since : NULL);
	told = part ? rt_part_judge(part, verdict, c, fill, n) : !log_tell(c, &l->shape, fill, n, feed, NULL);
	lost_logs += !rt_verdict_end(verdict, l) || !told;
	__atomic_store_n(&judging_since, 0, __ATOMIC_RELEASE);
}

/* NULL: it is judged at once. */
static struct rt_part *part_of(const struct rt_launch *l, const struct log_copy *c)
{
	return rt_part_is_large(c->end) && rt_screen_is_plain(l, verdict, c) ? rt_part_new(l) : NULL;
}

/* Its log has been taken. */
static void judge_taken(struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	const bool clear = rt_screen_here(l, verdict, c), asked = rt_flags.report_bugs && !clear;
	struct rt_part *part = asked ? part_of(l, c) : NULL;
	const char *wrong = asked || rt_keeps() || rt_deed_is_walked(l->deed) ? rt_taken_wrong(l, c, fill, n, part) : NULL;

	if (wrong) {
		rt_part_free(part);
		rt_say("the log of a launch of %s cannot be read: %s", rt_demangle(l->func->name), wrong);
		lost_logs++;
		return;
	}
	if (rt_keeps())
		rt_keep_launch(verdict, l, c, fill, n);
	if (rt_deed_is_walked(l->deed))
		rt_deed_walk(l, verdict, c, fill, n);
	clear_launches += clear;
	if (asked)
		judge_log(l, c, fill, n, part);
	rt_part_free(part);
	explain_late(l, c, fill, n);
}

/* It was not launched. */
static void drop(struct rt_launch *l)
{
	struct log_copy c = {0};

	if (l->memory.bytes)
		rt_take_back(l, &c);
	free(c.unit);
	if (l->drain)
		log_drain_free(l->drain);
	let_go(l);
	rt_deed_ready(l->deed);
	rt_hang_forget(l);
	rt_free(l->map);
	rt_free(l->place);
	rt_free(l);
}

static void judge(struct rt_launch *l)
{
	struct log_copy c = {0};
	uint32_t n = 0;
	const struct log_fill *fill = log_drain_end(l->drain, &n);

	tell_host(l);
	let_go(l);
	rt_verdict_take(verdict, l);
	if (l->there == RT_CLEAR && !rt_screen_compares()) {
		clear_launches++;
	} else if (l->running || !rt_take(l, &c)) {
		lost_logs++;
	} else {
		c.torn = l->failed;
		rt_screen_places(l, c.unit);
		rt_taken_say_size(l, &c, fill, n);
		judge_taken(l, &c, fill, n);
	}
	rt_deed_ready(l->deed);
	l->deed = NULL;
	rt_free(l->note);
	l->note = NULL;
	rt_hang_forget(l);
	free(c.unit);
	log_drain_free(l->drain);
	l->drain = NULL;
}

static struct rt_launch *next_over(void)
{
	struct rt_launch *l;

	pthread_mutex_lock(&queue_lock);
	l = first;
	pthread_mutex_unlock(&queue_lock);
	return l && is_over(l) ? l : NULL;
}

/* Was the program's memory as the verdict has it? */
static bool has_same_memory(const struct rt_launch *l)
{
	bool same;

	pthread_mutex_lock(&rt_lock);
	same = rt_mem_at(l)->changes == rt_verdict_blocks(verdict)->changes;
	pthread_mutex_unlock(&rt_lock);
	return same;
}

/* It is over.  What a lane has stored of one that was left running is not all that others have seen. */
static bool may_ask(struct rt_launch *l)
{
	uint32_t n;

	pthread_mutex_lock(&drain_lock);
	l->full = log_drain_end(l->drain, &n);
	pthread_mutex_unlock(&drain_lock);
	l->asked = true;
	rt_deed_spare(l);
	return rt_screen_may_ask(l, verdict);
}

/* The device is asked about that launch and what is over behind it. */
static void ask_ahead(struct rt_launch *l)
{
	struct rt_launch *batch[RT_CLEAR_BATCH];
	uint32_t n = 0;

	tell_host(l);
	for (; l && n < RT_CLEAR_BATCH && is_over(l); l = behind(l)) {
		if (l->asked || state_of(l) != RT_OVER)
			continue;
		if (n && (l->ctx != batch[0]->ctx || !has_same_memory(l)))
			break;
		if (may_ask(l))
			batch[n++] = l;
	}
	if (n)
		rt_screen_there(batch, n, verdict);
}

/* Nobody drains it any more. */
static void unlink_first(struct rt_launch *l)
{
	pthread_mutex_lock(&drain_lock);
	pthread_mutex_lock(&queue_lock);
	first = l->next;
	if (!first)
		last = &first;
	if (reached == l)
		reached = first;
	settle(l);
	pthread_mutex_unlock(&queue_lock);
	pthread_mutex_unlock(&drain_lock);
}

/* stops: in front of a large log, while there is something to tell; returns whether it has. */
static bool catch_up(bool stops)
{
	struct rt_launch *l;

	rt_inside++;
	while ((l = next_over())) {
		const uint32_t number = l->number;

		rt_copy_moved();
		if (!verdict)
			verdict = rt_verdict_new(&rt_flags, NULL);
		if (state_of(l) == RT_OVER && !l->asked)
			ask_ahead(l);
		if (stops && l->large && rt_anything_to_tell())
			break;
		unlink_first(l);
		if (state_of(l) == RT_OVER)
			judge(l);
		else
			drop(l);
		__atomic_store_n(&judged, number, __ATOMIC_RELEASE);
	}
	rt_order_catch_up(false);
	rt_inside--;
	return l;
}

void rt_judge_begin(CUcontext ctx)
{
	if (!rt_screen_is_on() || __atomic_load_n(&begun, __ATOMIC_ACQUIRE) || pthread_mutex_trylock(&judge_lock))
		return;
	if (!begun)
		rt_clear_begin(ctx);
	__atomic_store_n(&begun, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&judge_lock);
}

void rt_judge_catch_up(bool wait)
{
	if (wait)
		pthread_mutex_lock(&judge_lock);
	else if (pthread_mutex_trylock(&judge_lock))
		return;
	catch_up(false);
	pthread_mutex_unlock(&judge_lock);
}

static void count(struct rt_report *r, void *unused)
{
	(void)unused;
	if (!r->verdict)
		return;
	pthread_mutex_lock(&judge_lock);
	rt_verdict_count(r->verdict, r);
	r->exact = !rt_judge_under_way() && !rt_part_left();
	pthread_mutex_unlock(&judge_lock);
}

/* What was found does not wait for what takes long. */
static void catch_up_and_tell(void)
{
	for (bool more = true; more;) {
		pthread_mutex_lock(&judge_lock);
		more = catch_up(true);
		pthread_mutex_unlock(&judge_lock);
		if (more)
			rt_tell_all(0, count, NULL);
	}
}

/* ---- launches that hang ------------------------------------------------------------------------------------ */

/* What has become of its tickets so far; NULL: nothing. */
static struct log_fill *fills_now(struct rt_launch *l, uint32_t *n)
{
	const struct log_fill *fill;
	struct log_fill *copy;

	pthread_mutex_lock(&drain_lock);
	fill = log_drain_end(l->drain, n);
	copy = fill ? rt_alloc((*n + 1) * sizeof *copy) : NULL;
	if (fill)
		memcpy(copy, fill, *n * sizeof *copy);
	pthread_mutex_unlock(&drain_lock);
	return copy;
}

static struct rt_report *look_for_hang(struct rt_launch *l)
{
	uint32_t n;
	struct log_fill *fill = fills_now(l, &n);
	struct rt_report *r = rt_hang_look(l, fill, n);

	rt_free(fill);
	return r;
}

/* Nobody waits for those that are under way any more: what they have logged is judged, but for what they log just now. */
static void abandon(struct rt_launch *hung)
{
	pthread_mutex_lock(&queue_lock);
	for (struct rt_launch *l = first; l; l = l->next) {
		if (state_of(l) != RT_ISSUED)
			continue;
		l->failed = true;
		l->running = l != hung && !rt_hang_is_quiet(l);
		l->behind = NULL;       /* the driver is asked no more of its context */
		set_state(l, RT_OVER);
	}
	pthread_mutex_unlock(&queue_lock);
}

static struct rt_launch *next_issued(struct rt_launch *l)
{
	pthread_mutex_lock(&queue_lock);
	for (l = l ? l->next : first; l && state_of(l) != RT_ISSUED; l = l->next)
		;
	pthread_mutex_unlock(&queue_lock);
	return l;
}

/* Who hangs is told behind what was found until then. */
static void watch_hangs(void)
{
	struct rt_report *r = NULL;

	if (!rt_flags.hang_timeout || !rt_flags.report_bugs)
		return;
	pthread_mutex_lock(&judge_lock);
	for (struct rt_launch *l = next_issued(NULL); l && !r; l = next_issued(l)) {
		r = rt_hang_is_due(l) && !is_over(l) ? look_for_hang(l) : NULL;
		if (!r)
			continue;
		if (rt_flags.hang_exit) {
			abandon(l);
			catch_up(false);
		}
		rt_copy_moved();
		rt_report_add(&r, 1);
		break;
	}
	pthread_mutex_unlock(&judge_lock);
	if (!r)
		return;
	rt_tell();
	if (rt_flags.hang_exit && !r->suppressed && !r->filtered)
		rt_end_hung();
}

/* ---- processes that are killed ----------------------------------------------------------------------------- */

/* When the oldest launch was issued that is under way; 0: there is none. */
static uint64_t oldest(void)
{
	const struct rt_launch *l;
	uint64_t since;

	pthread_mutex_lock(&queue_lock);
	for (l = first; l && state_of(l) != RT_ISSUED; l = l->next)
		;
	since = l ? l->since : 0;
	pthread_mutex_unlock(&queue_lock);
	return since;
}

static void watch_kills(void)
{
	const uint64_t since = rt_flags.kill_watch && rt_flags.report_bugs ? oldest() : 0;

	if (!since) {
		rt_copy_drop();
	} else if (rt_copy_is_due(since)) {
		rt_tell();
		rt_copy_make();
	}
}

/* Nobody waits for what was under way any more, and nothing is asked of the driver. */
void rt_judge_alone(uint64_t later)
{
	lost_logs += later;
	logged_launches += later;
	for (struct rt_launch *l = first; l; l = l->next) {
		l->failed = l->late = true;
		l->behind = NULL;
		if (state_of(l) < RT_OVER)
			set_state(l, state_of(l) == RT_ISSUED ? RT_OVER : RT_DROPPED);
	}
	rt_flags.device_screen = 0;
	rt_keep_no_more();
	rt_way_forget();
	catch_up(false);
}

/* Launches that come one behind the other are looked at together. */
static bool more_may_come(void)
{
	return rt_judge_under_way() && rt_judge_last() - rt_judge_done() < RT_CLEAR_BATCH &&
	       rt_now_ms() - __atomic_load_n(&issued, __ATOMIC_ACQUIRE) < GATHER_MS;
}

static void *look_after(void *unused)
{
	rt_inside++;
	relax_capture();
	while (__atomic_load_n(&watching, __ATOMIC_ACQUIRE)) {
		rt_pause_us(JUDGE_US);
		watch_kills();
		if (!rt_judge_under_way() && !rt_anything_to_tell() && !rt_order_under_way())
			continue;
		if (!rt_screen_is_on() || !more_may_come()) {
			catch_up_and_tell();
			rt_tell_idle();
		}
		watch_hangs();
	}
	return unused;
}

/* ---- reports ------------------------------------------------------------------------------------------------------- */

void rt_drain(void)
{
	rt_judge_catch_up(true);
}

void rt_tell(void)
{
	catch_up_and_tell();
	rt_tell_all(0, count, NULL);
}

/* What is under way may find the same again, or what is just being judged. */
void rt_tell_idle(void)
{
	bool idle = false;

	if (!rt_anything_to_tell())
		return;
	if (!pthread_mutex_trylock(&judge_lock)) {
		idle = !rt_judge_under_way();
		pthread_mutex_unlock(&judge_lock);
	}
	rt_tell_all(idle ? 0 : (uint64_t)rt_flags.report_delay_ms, count, NULL);
}

void rt_watch_start(void)
{
	if (__atomic_exchange_n(&watching, true, __ATOMIC_ACQ_REL))
		return;
	if (!rt_thread(look_after, NULL))
		rt_verbose(1, "no thread for reports; they come at the end");
	__atomic_store_n(&draining, rt_thread(drain, NULL), __ATOMIC_RELEASE);
}

void rt_watch_stop(void)
{
	rt_touch_end();
	__atomic_store_n(&watching, false, __ATOMIC_RELEASE);
	rt_copy_end();
}

void rt_watch_fork(void)
{
	rt_tell_fork();
	rt_order_fork();
	rt_touch_fork();
	first = reached = NULL;
	last = &first;
	watching = false;
}

void rt_watch_closed(const struct rt_totals *t)
{
	pthread_mutex_lock(&judge_lock);
	rt_keep_end(t);
	pthread_mutex_unlock(&judge_lock);
}

/* ---- contexts and the closing line ------------------------------------------------------------------------------------ */

/* What is left of a context that ends.  What is over is judged, whatever came before it; what ended in an error, as far as
 * it can be read. */
static void give_up(CUcontext ctx, bool running, bool late)
{
	pthread_mutex_lock(&queue_lock);
	for (struct rt_launch *l = first; l; l = l->next)
		if (l->ctx == ctx && !is_over(l) && state_of(l) == RT_ISSUED) {
			l->failed = true;
			l->running = running && !rt_hang_is_quiet(l);
			l->late = late;
			set_state(l, RT_OVER);
		}
	pthread_mutex_unlock(&queue_lock);
}

/* Nothing of it runs any more: what was found until then need not wait for the end. */
void rt_context_died(bool late)
{
	CUcontext ctx = NULL;

	if (rt_drv.cuCtxGetCurrent(&ctx) == CUDA_SUCCESS && ctx)
		give_up(ctx, false, late);
}

void rt_context_tell(CUcontext ctx, int timeout_ms)
{
	const uint32_t upto = rt_judge_last();
	CUresult r = rt_wait_all(ctx, timeout_ms);

	rt_context_noted(r);
	if (r == CUDA_SUCCESS)
		rt_judge_over(ctx, NULL, upto);
	else
		give_up(ctx, r == CUDA_ERROR_NOT_READY, r == CUDA_ERROR_LAUNCH_TIMEOUT);
	catch_up_and_tell();
	pthread_mutex_lock(&judge_lock);
	rt_order_catch_up(true);
	pthread_mutex_unlock(&judge_lock);
	rt_tell();
}

/* They end with their context, and so do those that somebody could still ask about. */
static void forget_events(CUcontext ctx)
{
	pthread_mutex_lock(&queue_lock);
	for (struct rt_launch *l = first; l; l = l->next)
		if (l->ctx == ctx)
			l->behind = NULL;
	pthread_mutex_unlock(&queue_lock);
	rt_events_forget(ctx);
}

/* Events are the context's.  What still ran there ends with it. */
void rt_context_ends(CUcontext ctx)
{
	const struct detect_clock c = rt_order_of_all(ctx);

	rt_context_tell(ctx, rt_flags.exit_timeout_ms);
	forget_events(ctx);
	pthread_mutex_lock(&judge_lock);
	if (rt_clear_forget(ctx))
		__atomic_store_n(&begun, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&judge_lock);
	rt_order_learn(&c);
	rt_touch_over();
}

/* With queue_lock: launches that nobody judges any more. */
static uint64_t left_over(void)
{
	uint64_t n = 0;

	for (const struct rt_launch *l = __atomic_load_n(&watching, __ATOMIC_ACQUIRE) ? NULL : first; l; l = l->next)
		n += state_of(l) == RT_ISSUED || state_of(l) == RT_OVER;
	return n;
}

void rt_context_count(struct rt_totals *t)
{
	pthread_mutex_lock(&judge_lock);
	t->clear = clear_launches;
	t->lost_logs = lost_logs;
	rt_part_count(t);
	pthread_mutex_lock(&queue_lock);
	t->lost_logs += left_over();
	/* Of what was lost nothing was watched. */
	if (logged_launches <= t->lost_logs)
		t->kernels_watched = 0;
	pthread_mutex_unlock(&queue_lock);
	if (verdict)
		rt_verdict_totals(verdict, t);
	rt_order_count(t);
	rt_keep_count(t);
	pthread_mutex_unlock(&judge_lock);
}
