/* SPDX-License-Identifier: Apache-2.0
 *
 * damaged.c: a launch whose pieces say that they are behind what cannot be is not clear to the screen, which goes nowhere
 * by them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "detect/screen.h"

enum { PIECE = 32, SLOTS = 320, WARPS = 2, END = SLOTS + WARPS * PIECE, TAKEN = 4, UNITS = END + TAKEN * PIECE };

static struct event_unit unit[UNITS];

/* Where a piece that was taken is. */
#define AT(taken) (END + (uint32_t)(taken) * PIECE)

static void head(uint32_t taken, uint32_t behind, uint32_t leader)
{
	const struct region_piece p = {.magic = EVENT_MAGIC, .behind = behind, .leader = leader, .ticket = AT(taken)};

	memcpy(&unit[AT(taken)], &p, sizeof p);
}

/* Pieces of warp 1's lane 0, and of a lane of warp 0 that leads others. */
static void make(void)
{
	const struct region_block b = {.magic = EVENT_MAGIC, .launch = 1, .threads = 64, .place = 1 << 16, .piece = PIECE};

	memset(unit, 0, sizeof unit);
	memcpy(&unit[REGION_QUEUE], &b, sizeof b);
	head(0, END - 1, 0);
	head(1, AT(1) - 1, 0);
	head(2, SLOTS - 1, 7);
	head(3, AT(3) - 1, 7);
}

static bool is_clear(uint32_t shared)
{
	const struct screen_log l = {
		.unit = unit, .launch = 1, .heads = REGION_QUEUE, .slots = SLOTS, .end = END, .next = UNITS, .piece = PIECE, .blocks = 1,
		.warps = WARPS, .threads = 64, .shared = shared, .rows = 1
	};
	const struct event_sites none = {.nsites = 0};
	const struct screen_maps maps = {NULL, 0};
	uint32_t why[SCREEN_WHYS];

	alarm(20);
	return screen_launch(&l, &none, &maps, NULL, NULL, why);
}

static void right(void **unused)
{
	(void)unused;
	make();
	assert_true(is_clear(0));
	assert_true(is_clear(1024));
}

/* A piece behind itself, one that is taken later, or no unit of the log; a leader that is none. */
static void damaged(void **unused)
{
	static const struct { uint32_t behind, leader; } bad[] = {
		{AT(1) + PIECE - 1, 0}, {AT(3), 0}, {UNITS, 0}, {UINT32_MAX, 0}, {0, 0}, {SLOTS - 2, 0}, {AT(1), 7}, {END - 1, 7}, {UINT32_MAX, 7},
		{AT(1) - 1, 32}, {AT(1) - 1, 1u << 31}
	};

	(void)unused;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		make();
		head(1, bad[i].behind, bad[i].leader);
		assert_false(is_clear(0));
		assert_false(is_clear(1024));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(right), cmocka_unit_test(damaged)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
