/* SPDX-License-Identifier: Apache-2.0
 *
 * host.c: random programs of streams, events and waits: whether detect/host.h takes two deeds for ordered is what a graph of
 * all calls says, of which nothing is ever forgotten; and of deeds that nothing orders it tells those that share a byte of
 * which one writes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "detect/host.h"

enum { TRIES = 3000, CALLS = 40, NODES = 2 * CALLS, STREAMS = 5, EVENTS = 3, BYTES = 24 };

static uint32_t state = 7;

/* Below n. */
static uint32_t some(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % n;
}

/* Node 2k is call k, 2k + 1 what it has put into a stream. */
static bool reach[NODES][NODES];
static const struct detect_stream streams[STREAMS] = {
	{1, 0, true, true}, {1, 16, false, true}, {1, 32, false, true}, {1, 48, false, false}, {2, 64, false, false}
};
static int recorded[EVENTS], stream_of[CALLS];  /* the call that recorded it last, -1; the stream that a call comes into, -1 */
static struct detect_when when[CALLS];
static struct detect_deed deed[CALLS];
static bool is_deed[CALLS], met[CALLS][CALLS];

static void edge(int from, int to)
{
	if (from < 0 || reach[from][to])
		return;
	for (int i = 0; i < NODES; i++)
		for (int j = 0; (i == from || reach[i][from]) && j < NODES; j++)
			reach[i][j] |= j == to || reach[to][j];
}

static bool meet(int s, int t)
{
	return s == t || (streams[s].context == streams[t].context && (streams[s].legacy || streams[t].legacy) && streams[s].blocking &&
			  streams[t].blocking);
}

/* All that is in a stream, or that it waits for, comes before that node. */
static void behind(int s, int k, int node)
{
	for (int i = 0; i < k; i++)
		if (stream_of[i] >= 0 && meet(stream_of[i], s))
			edge(2 * i + 1, node);
}

static void come(int k, int s)
{
	edge(2 * k, 2 * k + 1);
	behind(s, k, 2 * k + 1);
	stream_of[k] = s;
}

/* ---- one call ------------------------------------------------------------------------------------------------ */

/* Does it come behind all that streams have got before? */
static bool behind_all(int k)
{
	for (int i = 0; i < k; i++)
		if (is_deed[i] && stream_of[i] >= 0 && !reach[2 * i + 1][2 * k + 1])
			return false;
	return true;
}

static void do_deed(struct detect_order *o, int k, int s)
{
	struct detect_range r = {.address = 100 + some(BYTES), .bytes = 1 + some(4), .size = 1};

	r.writes = some(2);
	r.reads = !r.writes;
	come(k, s);
	detect_put(o, &streams[s], &when[k]);
	assert_int_equal(detect_is_behind_all(o, &when[k]), behind_all(k));
	deed[k] = (struct detect_deed){.number = (uint64_t)k, .origin = (uint64_t)k, .kind = DETECT_COPY, .when = when[k]};
	deed[k].behind_all = behind_all(k);
	deed[k].host = *detect_host_clock(o);
	detect_range_add(&deed[k].ranges, &r);
	detect_ranges_end(&deed[k].ranges);
	is_deed[k] = true;
}

static void do_touch(struct detect_order *o, int k)
{
	const struct detect_range r = {.address = 100 + some(BYTES), .bytes = 1 + some(4), .size = 1, .reads = some(2), .writes = true};

	edge(2 * k, 2 * k + 1);
	edge(2 * k + 1, 2 * k + 2 < NODES ? 2 * k + 2 : 2 * k + 1);
	detect_host_now(o, &when[k]);
	deed[k] = (struct detect_deed){.number = (uint64_t)k, .origin = (uint64_t)k, .kind = DETECT_TOUCH, .when = when[k]};
	deed[k].host = *detect_host_clock(o);
	detect_range_add(&deed[k].ranges, &r);
	detect_ranges_end(&deed[k].ranges);
	is_deed[k] = true;
}

static void do_wait(struct detect_order *o, int k, int s, int e)
{
	struct detect_clock c;

	switch (some(3)) {
	case 0:
		behind(s, k, 2 * k + 1);
		c = detect_clock_of_stream(o, &streams[s]);
		break;
	case 1:
		edge(recorded[e] < 0 ? -1 : 2 * recorded[e] + 1, 2 * k + 1);
		c = detect_clock_of_event(o, (uint64_t)e + 1);
		break;
	default:
		for (int i = 0; i < k; i++)
			if (stream_of[i] >= 0 && streams[stream_of[i]].context == streams[s].context)
				edge(2 * i + 1, 2 * k + 1);
		c = detect_clock_of_all(o, streams[s].context);
		break;
	}
	edge(2 * k, 2 * k + 1);
	if (2 * k + 2 < NODES)
		edge(2 * k + 1, 2 * k + 2);
	detect_learn(o, &c);
}

static void do_event(struct detect_order *o, int k, int s, int e)
{
	come(k, s);
	if (some(2)) {
		detect_record(o, (uint64_t)e + 1, &streams[s]);
		recorded[e] = k;
	} else {
		edge(recorded[e] < 0 ? -1 : 2 * recorded[e] + 1, 2 * k + 1);
		detect_wait(o, &streams[s], (uint64_t)e + 1);
	}
}

static void do_call(struct detect_order *o, int k)
{
	const int s = (int)some(STREAMS), e = (int)some(EVENTS);

	if (2 * k + 2 < NODES)
		edge(2 * k, 2 * k + 2);
	switch (some(8)) {
	case 0:
		do_wait(o, k, s, e);
		break;
	case 1:
	case 2:
	case 3:
		do_event(o, k, s, e);
		break;
	case 4:
		do_touch(o, k);
		break;
	default:
		do_deed(o, k, s);
		break;
	}
}

/* ---- what is told ----------------------------------------------------------------------------------------------- */

static void hear(void *unused, const struct detect_meeting *m)
{
	(void)unused;
	met[m->deed[0]->number][m->deed[1]->number] = true;
	assert_true(m->bytes && m->address >= m->range[0].address && m->address >= m->range[1].address);
}

static void gone(void *arg, uint64_t number)
{
	bool *left = arg;

	assert_true(left[number]);
	left[number] = false;
}

static bool share(const struct detect_range *a, const struct detect_range *b)
{
	return a->address < b->address + b->bytes && b->address < a->address + a->bytes && (a->writes || b->writes);
}

static void check(struct detect_range *range)
{
	struct detect_deeds *d = detect_deeds_new();
	bool left[CALLS];
	const struct detect_sink sink = {hear, gone, left};

	memset(met, 0, sizeof met);
	memcpy(left, is_deed, sizeof left);
	for (int k = 0; k < CALLS; k++)
		if (is_deed[k])
			detect_deed(d, &deed[k], &sink);
	detect_deeds_known(d, NULL, &sink);
	for (int i = 0; i < CALLS; i++) {
		assert_false(left[i]);
		for (int k = i + 1; k < CALLS; k++) {
			bool ordered = reach[2 * i + 1][2 * k + 1] || reach[2 * k + 1][2 * i + 1];

			if (!is_deed[i] || !is_deed[k])
				continue;
			assert_int_equal(ordered, detect_before(&when[i], &when[k]) || detect_before(&when[k], &when[i]));
			assert_int_equal(met[i][k], !ordered && share(&range[i], &range[k]));
		}
	}
	detect_deeds_free(d);
}

static void test_random(void **unused)
{
	(void)unused;
	for (int t = 0; t < TRIES; t++) {
		struct detect_order *o = detect_order_new();
		struct detect_range range[CALLS];

		memset(reach, 0, sizeof reach);
		memset(recorded, -1, sizeof recorded);
		memset(stream_of, -1, sizeof stream_of);
		memset(is_deed, 0, sizeof is_deed);
		for (int k = 0; k < CALLS; k++)
			do_call(o, k);
		for (int k = 0; k < CALLS; k++)
			range[k] = is_deed[k] ? deed[k].ranges.v[0] : (struct detect_range){0};
		check(range);
		detect_order_free(o);
	}
}

/* ---- what is taken as ordered -------------------------------------------------------------------------------------- */

static unsigned told;

static void count(void *unused, const struct detect_meeting *m)
{
	(void)unused;
	(void)m;
	told++;
}

static void ignore(void *unused, uint64_t number)
{
	(void)unused;
	(void)number;
}

static const struct detect_sink counting = {count, ignore, NULL};

static void put(struct detect_order *o, struct detect_deed *x, unsigned s)
{
	x->origin = s;
	detect_put(o, &streams[s], &x->when);
	x->host = *detect_host_clock(o);
}

static void bring(struct detect_deeds *d, struct detect_deed *x, const struct detect_range *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		detect_range_add(&x->ranges, &r[i]);
	detect_ranges_end(&x->ranges);
	detect_deed(d, x, &counting);
}

static void issue(struct detect_order *o, struct detect_deeds *d, unsigned s, const struct detect_range *r, size_t n)
{
	struct detect_deed x = {.kind = DETECT_LAUNCH};

	put(o, &x, s);
	bring(d, &x, r, n);
}

static const struct detect_range data = {.address = 64, .bytes = 4, .size = 4, .writes = true};
static const struct detect_range flag = {.address = 128, .bytes = 4, .size = 4, .writes = true, .strong = true};

/* A flag orders what comes before the one behind the other, also if it turns out only later. */
static void test_talk(void **unused)
{
	struct detect_order *o = detect_order_new();
	struct detect_deeds *d = detect_deeds_new();

	(void)unused;
	told = 0;
	issue(o, d, 3, &data, 1);
	issue(o, d, 4, (const struct detect_range[]){flag, data}, 2);
	issue(o, d, 3, &flag, 1);
	detect_deeds_known(d, NULL, &counting);
	assert_int_equal(told, 0);
	assert_int_equal(detect_deeds_counts(d).talked, 1);
	issue(o, d, 1, &data, 1);
	issue(o, d, 3, &data, 1);
	detect_deeds_known(d, NULL, &counting);
	assert_int_equal(told, 1);
	detect_deeds_free(d);
	detect_order_free(o);
}

/* The host knows one to be over before what sets the flag for the other is issued. */
static void test_talk_later(void **unused)
{
	struct detect_order *o = detect_order_new();
	struct detect_deeds *d = detect_deeds_new();
	struct detect_clock c;

	(void)unused;
	told = 0;
	issue(o, d, 3, &data, 1);
	issue(o, d, 4, (const struct detect_range[]){flag, data}, 2);
	c = detect_clock_of_stream(o, &streams[3]);
	detect_learn(o, &c);
	issue(o, d, 1, &flag, 1);
	detect_deeds_known(d, NULL, &counting);
	assert_int_equal(told, 0);
	detect_deeds_free(d);
	detect_order_free(o);
}

/* A write of data in one stream, and one in another that synchronises with the host; which of them is issued first.  Returns
 * how many meetings are told. */
static unsigned with_host(const struct detect_deed *talker, bool talker_first)
{
	struct detect_order *o = detect_order_new();
	struct detect_deeds *d = detect_deeds_new();
	struct detect_deed x = *talker;

	told = 0;
	if (!talker_first)
		issue(o, d, 4, &data, 1);
	put(o, &x, 3);
	bring(d, &x, &data, 1);
	if (talker_first)
		issue(o, d, 4, &data, 1);
	detect_deeds_known(d, NULL, &counting);
	assert_int_equal(detect_deeds_counts(d).talked, 1 - told);
	detect_deeds_free(d);
	detect_order_free(o);
	return told;
}

/* The host may have learned from a launch that it is far enough for the next one, but not for the one before.  From one that
 * only reads what the host writes it learns nothing. */
static void test_talk_with_host(void **unused)
{
	const struct detect_deed tells = {.kind = DETECT_LAUNCH, .tells = true}, hears = {.kind = DETECT_LAUNCH, .hears = true};

	(void)unused;
	assert_int_equal(with_host(&tells, true), 0);
	assert_int_equal(with_host(&tells, false), 1);
	assert_int_equal(with_host(&hears, true), 1);
	assert_int_equal(with_host(&hears, false), 1);
}

/* One tells the host, and the host another, in whatever order the two are issued. */
static void test_talk_by_host(void **unused)
{
	for (unsigned swap = 0; swap < 2; swap++) {
		struct detect_order *o = detect_order_new();
		struct detect_deeds *d = detect_deeds_new();
		struct detect_deed x[2] = {{.kind = DETECT_LAUNCH}, {.kind = DETECT_LAUNCH}};

		(void)unused;
		told = 0;
		x[swap].tells = x[!swap].hears = true;
		put(o, &x[0], 3);
		put(o, &x[1], 4);
		bring(d, &x[0], &data, 1);
		bring(d, &x[1], &data, 1);
		detect_deeds_known(d, NULL, &counting);
		assert_int_equal(told, 0);
		assert_int_equal(detect_deeds_counts(d).talked, 1);
		detect_deeds_free(d);
		detect_order_free(o);
	}
}

/* More streams than lines, and open ones, are taken as ordered. */
static void test_lines(void **unused)
{
	struct detect_order *o = detect_order_new();
	struct detect_when first, w;

	(void)unused;
	detect_put(o, &streams[3], &first);
	for (uint64_t k = 0; k < 2 * DETECT_LINES; k++)
		detect_put(o, &(struct detect_stream){1, 100 + k, false, false}, &w);
	assert_true(w.open && detect_before(&first, &w));
	assert_true(detect_order_lacking(o) > 0);
	detect_open(o, &streams[3]);
	detect_put(o, &streams[3], &w);
	assert_true(w.open);
	detect_learn(o, &(struct detect_clock){{0}});
	detect_put(o, &streams[3], &w);
	assert_true(w.open);
	detect_learn(o, &(const struct detect_clock){.upto = {[1] = w.number}});
	detect_put(o, &streams[3], &w);
	assert_false(w.open);
	detect_blind(o);
	detect_put(o, &streams[3], &w);
	assert_true(w.open);
	detect_order_free(o);
}

static void put_away(void *arg, uint64_t number)
{
	struct detect_deed *x = (struct detect_deed *)arg;

	assert_true(x->number == number);
	memset(x, 0xff, sizeof *x);
}

/* Who is told that it is gone may free it at once. */
static void test_gone(void **unused)
{
	struct detect_deeds *d = detect_deeds_new();
	struct detect_deed x = {.number = 7, .kind = DETECT_COPY};
	const struct detect_sink sink = {count, put_away, &x};

	(void)unused;
	detect_deed(d, &x, &sink);
	assert_true(x.number == UINT64_MAX && x.ranges.n == SIZE_MAX);
	detect_deeds_free(d);
}

/* A stream is known from its first use to its end. */
static void test_known(void **unused)
{
	struct detect_order *o = detect_order_new();
	struct detect_when w;

	(void)unused;
	assert_false(detect_stream_known(o, &streams[3]));
	detect_put(o, &streams[3], &w);
	assert_true(detect_stream_known(o, &streams[3]));
	assert_false(detect_stream_known(o, &(struct detect_stream){streams[3].context + 1, streams[3].key, false, false}));
	detect_stream_end(o, &streams[3]);
	assert_false(detect_stream_known(o, &streams[3]));
	detect_order_free(o);
}

/* What is over and destroyed leaves its line to another. */
static void test_reuse(void **unused)
{
	struct detect_order *o = detect_order_new();
	struct detect_when w;

	(void)unused;
	for (uint64_t k = 0; k < 10 * DETECT_LINES; k++) {
		const struct detect_stream s = {1, 100 + k, false, false};
		struct detect_clock c;

		detect_put(o, &s, &w);
		assert_false(w.open);
		c = detect_clock_of_stream(o, &s);
		detect_learn(o, &c);
		detect_stream_end(o, &s);
	}
	detect_order_free(o);
}

/* A loop without synchronisation keeps one of those that are alike. */
static void test_loop(void **unused)
{
	struct detect_order *o = detect_order_new();
	struct detect_deeds *d = detect_deeds_new();

	(void)unused;
	told = 0;
	for (unsigned i = 0; i < 20000; i++)
		issue(o, d, 3, &data, 1);
	assert_int_equal(detect_deeds_counts(d).dropped, 0);
	issue(o, d, 4, &data, 1);
	detect_deeds_known(d, NULL, &counting);
	assert_int_equal(told, 1);
	detect_deeds_free(d);
	detect_order_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random), cmocka_unit_test(test_talk), cmocka_unit_test(test_talk_later),
		cmocka_unit_test(test_talk_with_host), cmocka_unit_test(test_talk_by_host), cmocka_unit_test(test_lines), cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_loop), cmocka_unit_test(test_gone), cmocka_unit_test(test_known)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
