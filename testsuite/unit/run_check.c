/* SPDX-License-Identifier: Apache-2.0
 *
 * run_check.c: how gsan-run holds findings against expect lines, and what it
 * makes of the values in a script.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt/kinds.h"
#include "run/run.h"

/* Whether `verdict` holds for the findings, given as kind, line, line, ..., -1. */
static bool holds(const char *verdict, ...)
{
	struct run_findings f = { 0 };
	struct run_finding x = { 0 };
	struct run_script s;
	char text[200];
	va_list ap;
	bool held;

	/* Room for the line numbers that verdicts name. */
	snprintf(text, sizeof text, "//@ expect %s\n\n\n\n\n\n\n\n\n\n", verdict);
	assert_true(run_parse(&s, "t.ptx", text, strlen(text)));
	assert_int_equal(s.nexpects, 1);
	va_start(ap, verdict);
	while ((x.kind = va_arg(ap, int)) >= 0) {
		x.line[0] = va_arg(ap, unsigned);
		x.line[1] = va_arg(ap, unsigned);
		x.count = 1;
		run_add(&f, &x);
	}
	va_end(ap);
	held = run_holds(&s, &s.expects[0], &f, "");
	free(f.v);
	run_free(&s);
	return held;
}

#define D GSAN_DATA_RACE
#define S GSAN_SCOPE_RACE
#define M GSAN_MBARRIER_MISUSE

static void test_clean(void **state)
{
	(void)state;
	assert_true(holds("clean", -1));
	assert_false(holds("clean", D, 3, 4, -1));
	assert_false(holds("clean", M, 0, 0, -1));
}

static void test_kind(void **state)
{
	(void)state;
	assert_false(holds("data-race", -1));
	assert_true(holds("data-race", D, 3, 4, -1));
	assert_false(holds("data-race", S, 3, 4, -1));
	assert_true(holds("data-race", S, 3, 4, D, 3, 4, -1));
	assert_true(holds("only data-race", D, 3, 4, D, 5, 6, -1));
	assert_false(holds("only data-race", S, 3, 4, D, 3, 4, -1));
	assert_false(holds("only data-race", -1));
}

static void test_any_race(void **state)
{
	(void)state;
	assert_true(holds("race", S, 3, 4, -1));
	assert_true(holds("race", GSAN_HOST_RACE, 3, 4, -1));
	assert_false(holds("race", M, 3, 4, -1));
	assert_false(holds("race", GSAN_SHARED_BOUNDS, 3, 4, -1));
	assert_true(holds("only race", S, 3, 4, D, 5, 6, -1));
	assert_false(holds("only race", S, 3, 4, M, 5, 6, -1));
}

static void test_lines(void **state)
{
	(void)state;
	assert_true(holds("data-race 3 4", D, 3, 4, -1));
	assert_true(holds("data-race 4 3", D, 3, 4, -1));
	assert_false(holds("data-race 3 3", D, 3, 4, -1));
	assert_false(holds("data-race 3 5", D, 3, 4, D, 5, 6, -1));
	assert_true(holds("data-race 3", D, 3, 4, -1));
	assert_true(holds("data-race 4", D, 3, 4, -1));
	assert_false(holds("data-race 5", D, 3, 4, -1));
	/* The lines and the kind must be of one finding. */
	assert_false(holds("data-race 3 4", S, 3, 4, D, 5, 6, -1));
	assert_true(holds("data-race 5 6", D, 3, 4, D, 5, 6, -1));
}

static void test_union(void **state)
{
	struct run_finding a = { D, { 3, 4 }, 2 }, b = { D, { 4, 3 }, 5 }, c = { S, { 3, 4 }, 1 };
	struct run_findings f = { 0 };

	(void)state;
	run_add(&f, &a);
	run_add(&f, &b);
	run_add(&f, &c);
	assert_int_equal(f.n, 2);
	assert_int_equal(f.v[0].count, 7);
	assert_int_equal(f.v[1].count, 1);
	free(f.v);
}

static void test_values(void **state)
{
	static const char text[] =
		"//@ buf a 64\n"
		"//@ launch k grid=2,3 block=4 cluster=2 smem=0x20 args=a+16,u8:255,s32:-1,"
		"s64:-9223372036854775808,f32:1.5,f64:-2,u16:7\n"
		"//@ copy a+8 a 16\n//@ set a+1 0xff 2\n";
	static const struct { uint64_t bits; unsigned size; } want[] = {
		{ 16, 8 }, { 255, 1 }, { 0xffffffff, 4 }, { 1ull << 63, 8 }, { 0x3fc00000, 4 },
		{ 0xc000000000000000, 8 }, { 7, 2 },
	};
	struct run_script s;
	unsigned i;

	(void)state;
	assert_true(run_parse(&s, "t.ptx", text, strlen(text)));
	assert_int_equal(s.nactions, 3);
	assert_int_equal(s.actions[0].nargs, 7);
	for (i = 0; i < 7; i++) {
		assert_int_equal(s.actions[0].args[i].obj, i ? ARG_VALUE : 1);
		assert_int_equal(s.actions[0].args[i].bits, want[i].bits);
		assert_int_equal(s.actions[0].args[i].size, want[i].size);
	}
	assert_int_equal(s.actions[0].grid[1], 3);
	assert_int_equal(s.actions[0].grid[2], 1);
	assert_int_equal(s.actions[0].cluster[0], 2);
	assert_int_equal(s.actions[0].smem, 32);
	assert_int_equal(s.actions[1].dst_off, 8);
	assert_int_equal(s.actions[1].src_off, 0);
	assert_int_equal(s.actions[2].byte, 255);
	assert_int_equal(s.timeout, RUN_TIMEOUT);
	run_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean), cmocka_unit_test(test_kind),
		cmocka_unit_test(test_any_race), cmocka_unit_test(test_lines),
		cmocka_unit_test(test_union), cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
