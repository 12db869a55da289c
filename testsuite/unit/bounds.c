/* SPDX-License-Identifier: Apache-2.0
 *
 * bounds.c: what the screen takes for the bounds of copies and products (detect/bounds.h) holds all that
 * extent/extent.h says they touch: of random boxes, maps, descriptors and shapes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "detect/bounds.h"
#include "extent/extent.h"

enum { TRIES = 20000, LANE = 5, ROWS_MOST = 1024 };

/* What is asked about, and where all that is given has to be. */
static struct event_put put;
static struct event_site site;
static struct bounds allowed[ROWS_MOST + 1];
static unsigned nallowed, given;

static uint32_t state = 1;

/* Below n. */
static uint32_t some(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % n;
}

static void look(void *arg, uint64_t address, uint64_t bytes)
{
	bool in = false;

	(void)arg;
	for (unsigned i = 0; i < nallowed; i++)
		in |= address >= allowed[i].from && address + bytes <= allowed[i].to;
	assert_true(in);
	given++;
}

static const struct event_unit *record(void)
{
	static struct event_unit u[EVENT_UNITS_MAX];

	put.words = 8;
	event_encode(u, &put);
	return u;
}

/* ---- products ------------------------------------------------------------------------------------------- */

static uint64_t descriptor(void)
{
	uint64_t leading = some(some(2) ? 0x400 : 2), stride = some(some(2) ? 0x400 : 2);

	return some(0x4000) | leading << 16 | stride << 32 | (uint64_t)some(8) << 49 | (uint64_t)some(4) << 62;
}

static struct bounds bounds_of(bool b)
{
	return b ? bounds_matrix(put.word[LANE][1], site.flags & EVENT_B_MN, site.shape[1], site.shape[4], site.shape[3]) :
		   bounds_matrix(put.word[LANE][0], site.flags & EVENT_A_MN, site.shape[0], 64, site.shape[2]);
}

/* PTX ISA, "wgmma.mma_async": 32 bytes along K, here up to 64, and 8 to 256 columns of B. */
static void test_products(void **unused)
{
	struct extent_to to = {.sink = look};

	(void)unused;
	for (unsigned i = 0; i < TRIES; i++) {
		uint16_t size = (uint16_t)(1u << some(3)), k = (uint16_t)((32u << some(2)) / size);

		put = (struct event_put){.kind = EVENT_WGMMA, .lanes = 1u << LANE};
		put.word[LANE][0] = descriptor();
		put.word[LANE][1] = descriptor();
		site = (struct event_site){.shape = {size, size, k, k, (uint16_t)(8 * (1 + some(32)))}};
		site.flags = (some(2) ? EVENT_A_MN : 0) | (some(2) ? EVENT_B_MN : 0) | (some(4) ? 0 : EVENT_A_ELSEWHERE);
		nallowed = 0;
		allowed[nallowed++] = bounds_of(true);
		if (!(site.flags & EVENT_A_ELSEWHERE))
			allowed[nallowed++] = bounds_of(false);
		extent_product(record(), &site, LANE, &to);
	}
	assert_true(given > TRIES);
}

/* ---- boxes ------------------------------------------------------------------------------------------------ */

static struct event_map random_map(void)
{
	static const uint8_t spans[] = {0, 32, 64, 128}, atoms[] = {16, 32, 64};
	struct event_map m = {.base = 0x100000, .rank = (uint8_t)(1 + some(5)), .span = spans[some(4)]};

	m.atom = m.span == 128 ? atoms[some(3)] : 16;
	m.stride[0] = UINT64_C(1) << some(4);
	for (unsigned i = 0; i < 5; i++) {
		m.dim[i] = 1 + some(i ? 20 : 300);
		m.box[i] = 1 + some(i ? 5 : (m.span ? m.span : 256) / (uint32_t)m.stride[0]);
		m.every[i] = 1;
		m.stride[i] = i ? 16 * (1 + some(200)) : m.stride[0];
	}
	return m;
}

static void put_box(const struct event_map *m)
{
	put = (struct event_put){.kind = EVENT_TENSOR, .lanes = 1u << LANE};
	put.address[LANE] = 128 * some(1024);
	for (unsigned i = 0; i < 5; i++) {
		uint32_t at = some(m->dim[i] + 8) - 4;

		put.word[LANE][3 + i / 2] |= (uint64_t)at << (i % 2 ? 32 : 0);
	}
	site = (struct event_site){.kind = EVENT_TENSOR, .flags = some(2) ? EVENT_COUNTED : 0};
}

static void test_boxes(void **unused)
{
	struct extent_to to = {.sink = look};
	unsigned copies = 0;

	(void)unused;
	for (unsigned i = 0; i < TRIES / 10; i++) {
		struct event_map m = random_map();
		struct bounds_box box;
		const struct event_unit *u;

		put_box(&m);
		u = record();
		if (!bounds_box(u, &site, LANE, &m, &box) || box.rows > ROWS_MOST)
			continue;
		copies++;
		assert_int_equal(extent_box(u, &site, LANE, &m, NULL), box.rows * box.row_bytes);
		/* In shared memory one range, in global memory, which lies behind that, each row's. */
		nallowed = box.rows;
		for (uint32_t r = 0; r < box.rows; r++) {
			allowed[r] = bounds_row(&box, r);
			assert_true(allowed[r].from >= bounds_rows(&box).from && allowed[r].to <= bounds_rows(&box).to);
		}
		allowed[nallowed++] = bounds_shared_box(&box, put.address[LANE]);
		extent_box(u, &site, LANE, &m, &to);
	}
	assert_true(copies > TRIES / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_boxes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
