/* SPDX-License-Identifier: Apache-2.0
 *
 * hang.c: what is said of a hang that is given as data (event/hang.h).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "event/hang.h"

static char said[4096];

static void keep(void *arg, const char *text)
{
	(void)arg;
	strncat(said, text, sizeof said - strlen(said) - 1);
	strncat(said, "\n", sizeof said - strlen(said) - 1);
}

static const char *explain(const struct hang *h)
{
	said[0] = '\0';
	hang_explain(h, keep, NULL);
	return said;
}

#define BAR(n) {HANG_BARRIER, 0, n}
#define MBAR(n) {HANG_MBARRIER, 0, n}

/* Each of two warps waits at a barrier to which the other would come next. */
static void circle(void **unused)
{
	const struct hang_wait wait[] = {
		{.object = BAR(1), .warp = 0, .lanes = ~0u, .missing = 1, .warps = true, .at = {"a.ptx", 10}},
		{.object = BAR(2), .warp = 1, .lanes = ~0u, .missing = 1, .warps = true, .at = {"a.ptx", 20}}
	};
	const struct hang_party party[] = {
		{.object = BAR(1), .warp = 0, .lanes = ~0u, .live = ~0u}, {.object = BAR(1), .warp = 1, .lanes = ~0u, .live = ~0u},
		{.object = BAR(2), .warp = 0, .lanes = ~0u, .live = ~0u}, {.object = BAR(2), .warp = 1, .lanes = ~0u, .live = ~0u}
	};
	const char *s = explain(&(struct hang){.wait = wait, .party = party, .nwaits = 2, .nparties = 4});

	(void)unused;
	assert_non_null(strstr(s, "barrier 1 of block 0 lacks 1 warp, waited for at a.ptx:10; warp 1 of block 0 could arrive, and waits at "
				  "a.ptx:20 for barrier 2 of block 0\n"));
	assert_non_null(strstr(s, "a circle: barrier 1 of block 0 needs warp 1 of block 0, which waits for barrier 2 of block 0, which needs "
				  "warp 0 of block 0, which waits for barrier 1 of block 0\n"));
	assert_null(strstr(s, "nobody"));
	assert_null(strstr(strstr(s, "a circle") + 1, "a circle"));
}

static void nobody_left(void **unused)
{
	const struct hang_wait wait[] = {{.object = MBAR(0x400), .warp = 0, .lanes = 1, .missing = 2, .bytes = 64, .at = {"a.ptx", 10}}};
	const struct hang_party party[] = {
		{.object = MBAR(0x400), .warp = 0, .lanes = 1, .live = 1}, {.object = MBAR(0x400), .warp = 1, .lanes = ~0u},
		{.object = MBAR(0x400), .warp = 1, .came = {"a.ptx", 30}}, {.object = MBAR(0x400), .warp = 1, .came = {"a.ptx", 30}}
	};
	struct hang h = {.wait = wait, .party = party, .nwaits = 1, .nparties = 4};

	(void)unused;
	assert_string_equal(explain(&h), "the mbarrier at 0x400 of block 0 lacks 2 arrivals and 64 bytes, waited for at a.ptx:10; the last "
				       "arrivals came by a.ptx:30; nobody is left who could arrive: the others have exited, or wait there "
				       "themselves\n");
	h.copies = true;
	assert_null(strstr(explain(&h), "nobody"));
}

/* Who runs may do anything. */
static void somebody_runs(void **unused)
{
	const struct hang_wait wait[] = {
		{.object = BAR(0), .warp = 0, .lanes = ~0u, .missing = 32, .at = {"a.ptx", 10}}, {.warp = 1, .lanes = ~0u, .at = {"a.ptx", 50}}
	};
	const struct hang_party party[] = {{.object = BAR(0), .warp = 1, .lanes = ~0u, .live = ~0u}};

	(void)unused;
	assert_string_equal(explain(&(struct hang){.wait = wait, .party = party, .nwaits = 2, .nparties = 1}),
			    "barrier 0 of block 0 lacks 32 threads, waited for at a.ptx:10; warp 1 of block 0 could arrive, and is at a.ptx:50\n");
}

#define ALL(object, warp) {object, 0, warp, ~0u, ~0u, {NULL, 0}}

/* Warp 0 waits for an mbarrier at which warp 1, at a barrier that needs warp 0, and warp 2 could arrive. */
static void any_may_come(void **unused)
{
	struct hang_wait wait[] = {
		{.object = MBAR(0x400), .warp = 0, .lanes = ~0u, .missing = 1}, {.object = BAR(0), .warp = 1, .lanes = ~0u, .missing = 64},
		{.warp = 2, .lanes = ~0u}
	};
	const struct hang_party party[] = {
		ALL(MBAR(0x400), 0), ALL(MBAR(0x400), 1), ALL(MBAR(0x400), 2), ALL(BAR(0), 0), ALL(BAR(0), 1), ALL(BAR(0), 2)
	};
	struct hang h = {.wait = wait, .party = party, .nwaits = 3, .nparties = 6};

	(void)unused;
	assert_false(hang_is_sure(&h));
	wait[2].object = wait[1].object;        /* it is at the barrier as well */
	assert_true(hang_is_sure(&h));
	wait[0].open = true;                    /* others may arrive */
	assert_false(hang_is_sure(&h));
	wait[0].open = false;
	h.copies = true;
	assert_false(hang_is_sure(&h));
}

/* A barrier needs warps 1 and 2: one waits for ever is enough; both run is not. */
static void all_have_to_come(void **unused)
{
	struct hang_wait wait[] = {
		{.object = BAR(0), .warp = 0, .lanes = ~0u, .missing = 64}, {.object = MBAR(0x400), .warp = 1, .lanes = ~0u, .missing = 1},
		{.warp = 2, .lanes = ~0u}
	};
	const struct hang_party party[] = {
		ALL(BAR(0), 0), ALL(BAR(0), 1), ALL(BAR(0), 2), ALL(MBAR(0x400), 0), ALL(MBAR(0x400), 1)
	};
	struct hang h = {.wait = wait, .party = party, .nwaits = 3, .nparties = 5};

	(void)unused;
	assert_true(hang_is_sure(&h));
	wait[1].object = (struct hang_object){HANG_RUNS, 0, 0};
	assert_false(hang_is_sure(&h));
}

/* A barrier with a count, whose other threads have exited; a word that nobody else can write, and one that anybody may. */
static void nobody_can(void **unused)
{
	struct hang_wait wait[] = {{.object = BAR(1), .warp = 0, .lanes = ~0u, .missing = 1, .warps = true}};
	struct hang_party party[] = {ALL(BAR(1), 0), {BAR(1), 0, 1, ~0u, 0, {NULL, 0}}};
	struct hang h = {.wait = wait, .party = party, .nwaits = 1, .nparties = 2};

	(void)unused;
	assert_true(hang_is_sure(&h));
	wait[0] = (struct hang_wait){.object = {HANG_WORD, 0, 0x400}, .lanes = ~0u, .value = 7, .at = {"a.ptx", 10}};
	party[0].object = party[1].object = wait[0].object;
	assert_true(hang_is_sure(&h));
	assert_string_equal(explain(&h), "the word at 0x400 of block 0 holds 0x7, polled at a.ptx:10; nobody is left who could write it: the "
				       "others have exited, or wait there themselves\n");
	wait[0].object.number = 0x7f0000000000;
	wait[0].open = true;
	wait[0].name = "flag";
	h.nparties = 0;
	assert_false(hang_is_sure(&h));
	assert_string_equal(explain(&h), "the word at 0x7f0000000000 (flag) holds 0x7, polled at a.ptx:10\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(circle), cmocka_unit_test(nobody_left), cmocka_unit_test(somebody_runs),
					   cmocka_unit_test(any_may_come), cmocka_unit_test(all_have_to_come), cmocka_unit_test(nobody_can)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
