/* SPDX-License-Identifier: Apache-2.0
 *
 * extent.c: which bytes a tensor copy or a matrix product touches; what is expected was worked
 * out by hand from the PTX ISA.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "extent/extent.h"

enum { PIECES = 8192, LANE = 3, COPY = 0x1000, BASE = 0x10000 };
struct piece { uint64_t address, bytes; };
struct pieces { struct piece v[PIECES]; unsigned n; };

/* What is asked about, and what comes of it. */
static struct event_put put;
static struct event_site site;
static struct event_map map;
static struct pieces shared, global, a, scales, d;

static void add(void *arg, uint64_t address, uint64_t bytes)
{
	struct pieces *p = arg;

	assert_true(p->n < PIECES);
	p->v[p->n++] = (struct piece){address, bytes};
}

static const struct extent_to to = {add, &shared, &global, &a, &scales, &d};

static int by_address(const void *x, const void *y)
{
	const struct piece *p = x, *q = y;

	return p->address < q->address ? -1 : p->address > q->address;
}

/* In order, with none beside or over another. */
static void unite(struct pieces *p)
{
	unsigned n = 0;

	qsort(p->v, p->n, sizeof *p->v, by_address);
	for (unsigned i = 0; i < p->n; i++)
		if (!n || p->v[n - 1].address + p->v[n - 1].bytes < p->v[i].address)
			p->v[n++] = p->v[i];
		else if (p->v[n - 1].address + p->v[n - 1].bytes < p->v[i].address + p->v[i].bytes)
			p->v[n - 1].bytes = p->v[i].address + p->v[i].bytes - p->v[n - 1].address;
	p->n = n;
}

static void expect(struct pieces *p, const struct piece *want, unsigned n)
{
	unite(p);
	assert_int_equal(p->n, n);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(p->v[i].address, want[i].address);
		assert_int_equal(p->v[i].bytes, want[i].bytes);
	}
	p->n = 0;
}
#define EXPECT(p, ...) \
	expect(p, (const struct piece[]){__VA_ARGS__}, sizeof (const struct piece[]){__VA_ARGS__} / sizeof(struct piece))
#define EXPECT_NOTHING(p) expect(p, NULL, 0)

/* Takes `n` cells from the column on, in each of those lanes of tensor memory, out of what is there. */
static void expect_cells(struct pieces *p, unsigned lane, unsigned lanes, unsigned column, unsigned n)
{
	unite(p);
	assert_true(p->n >= lanes);
	for (unsigned i = 0; i < lanes; i++) {
		assert_int_equal(p->v[i].address, ((lane + i) * 512 + column) * 4);
		assert_int_equal(p->v[i].bytes, n * 4);
	}
	p->n -= lanes;
	memmove(p->v, p->v + lanes, p->n * sizeof *p->v);
}

static const struct event_unit *record(void)
{
	static struct event_unit u[EVENT_UNITS_MAX];

	put.words = 8;
	event_encode(u, &put);
	return u;
}

/* A record of one lane, of which nothing is said yet. */
static int blank(void **state)
{
	(void)state;
	put = (struct event_put){.lanes = 1u << LANE};
	put.address[LANE] = COPY;
	site = (struct event_site){0};
	shared.n = global.n = a.n = scales.n = d.n = 0;
	return 0;
}

/* ---- boxes: 16 rows of 64 elements of 4 bytes, unless a test says otherwise ---------------------- */

static int blank_map(void **state)
{
	map = (struct event_map){.base = BASE, .rank = 2};
	for (unsigned i = 0; i < 5; i++)
		map.dim[i] = map.box[i] = map.every[i] = 1;
	map.stride[0] = 4;
	map.stride[1] = 256;
	map.dim[0] = 64;
	map.dim[1] = 16;
	put.kind = EVENT_TENSOR;
	return blank(state);
}

/* A box of so many columns and rows from (x, y) on; returns its bytes. */
static uint32_t box(unsigned columns, unsigned rows, int x, int y, uint32_t flags)
{
	map.box[0] = columns;
	map.box[1] = rows;
	put.kind = EVENT_TENSOR;
	put.word[LANE][3] = (uint32_t)x | (uint64_t)(uint32_t)y << 32;
	site.flags = flags;
	return extent_box(record(), &site, LANE, &map, &to);
}

static void test_box(void **state)
{
	(void)state;
	assert_int_equal(box(8, 3, 4, 2, EVENT_COUNTED), 96);
	EXPECT(&shared, {COPY, 96});
	EXPECT(&global, {BASE + 0x210, 32}, {BASE + 0x310, 32}, {BASE + 0x410, 32});
	assert_int_equal(extent_box(record(), &site, LANE, &map, NULL), 96);
}

/* Rows of 16 bytes show where the first 16 bytes of each pattern's line go. */
static void test_swizzle_32(void **state)
{
	(void)state;
	map.span = 32;
	box(4, 5, 0, 0, EVENT_COUNTED);
	EXPECT(&shared, {COPY, 16}, {COPY + 32, 16}, {COPY + 64, 16}, {COPY + 96, 16}, {COPY + 144, 16});
}

static void test_swizzle_64(void **state)
{
	(void)state;
	map.span = 64;
	box(4, 7, 0, 0, EVENT_COUNTED);
	EXPECT(&shared, {COPY, 16}, {COPY + 64, 16}, {COPY + 144, 16}, {COPY + 208, 16}, {COPY + 288, 16}, {COPY + 352, 16},
	       {COPY + 432, 16});
}

static void test_swizzle_128(void **state)
{
	(void)state;
	map.span = 128;
	box(4, 9, 0, 0, 0);
	EXPECT(&shared, {COPY, 16}, {COPY + 144, 16}, {COPY + 288, 16}, {COPY + 432, 16}, {COPY + 576, 16}, {COPY + 720, 16},
	       {COPY + 864, 16}, {COPY + 1008, 32});
	box(12, 2, 0, 0, EVENT_COUNTED);
	EXPECT(&shared, {COPY, 48}, {COPY + 128, 32}, {COPY + 176, 16});
}

static void test_swizzle_atoms(void **state)
{
	(void)state;
	map.span = 128;
	map.atom = 32;
	box(4, 5, 0, 0, EVENT_COUNTED);
	EXPECT(&shared, {COPY, 16}, {COPY + 160, 16}, {COPY + 320, 16}, {COPY + 480, 16}, {COPY + 512, 16});
	map.atom = 64;
	box(4, 4, 0, 0, EVENT_COUNTED);
	EXPECT(&shared, {COPY, 16}, {COPY + 192, 16}, {COPY + 256, 16}, {COPY + 448, 16});
}

/* What is outside of the tensor is filled by a load, and not read by a store. */
static void test_cut_off(void **state)
{
	(void)state;
	assert_int_equal(box(8, 3, 60, 14, 0), 96);
	EXPECT(&shared, {COPY, 16}, {COPY + 32, 16});
	EXPECT(&global, {BASE + 0xef0, 16}, {BASE + 0xff0, 16});
	assert_int_equal(box(8, 3, 60, 14, EVENT_COUNTED), 96);
	EXPECT(&shared, {COPY, 96});
	EXPECT(&global, {BASE + 0xef0, 16}, {BASE + 0xff0, 16});
	box(8, 3, -2, -1, 0);
	EXPECT(&shared, {COPY + 40, 24}, {COPY + 72, 24});
	EXPECT(&global, {BASE, 24}, {BASE + 256, 24});
}

static void test_element_strides(void **state)
{
	(void)state;
	map.every[1] = 2;
	assert_int_equal(box(8, 5, 0, 2, EVENT_COUNTED), 96);
	EXPECT(&shared, {COPY, 96});
	EXPECT(&global, {BASE + 0x200, 32}, {BASE + 0x400, 32}, {BASE + 0x600, 32});
}

static void test_gather(void **state)
{
	(void)state;
	put.word[LANE][4] = 3 | UINT64_C(20) << 32;
	put.word[LANE][5] = 5;
	assert_int_equal(box(8, 1, 4, 9, EVENT_COUNTED | EVENT_FOUR_ROWS), 128);
	EXPECT(&shared, {COPY, 128});
	EXPECT(&global, {BASE + 0x310, 32}, {BASE + 0x510, 32}, {BASE + 0x910, 32});
}

/* 16 channels of 2 bytes, 8 by 8 pixels, 2 images; a bounding box from -1 to 6. */
static void test_im2col(void **state)
{
	static const uint64_t stride[] = {2, 32, 256, 2048};
	static const uint32_t dim[] = {16, 8, 8, 2};

	(void)state;
	map.rank = 4;
	map.im2col = 1;
	memcpy(map.stride, stride, sizeof stride);
	memcpy(map.dim, dim, sizeof dim);
	for (unsigned i = 0; i < 2; i++)
		map.lower[i] = map.upper[i] = -1;
	/* Pixels (6, 2), (-1, 3) and (0, 3), each 2 to the right and below: the first is outside. */
	put.word[LANE][4] = 2;
	put.word[LANE][5] = UINT64_C(2) << 32 | UINT64_C(2) << 48;
	assert_int_equal(box(16, 3, 0, 6, EVENT_COUNTED | EVENT_IM2COL), 96);
	EXPECT(&shared, {COPY, 96});
	EXPECT(&global, {BASE + 1312, 64});
	/* Behind (6, 6) comes (-1, -1) of the next image. */
	put.word[LANE][4] = 6;
	box(16, 3, 0, 6, EVENT_COUNTED | EVENT_IM2COL);
	EXPECT(&global, {BASE + 2336, 64});
}

/* W, H, C / 32 and N: a row is one pixel's slice of 32 bytes. */
static void test_interleave(void **state)
{
	static const uint64_t stride[] = {1, 256, 2048, 8192};
	static const uint32_t dim[] = {8, 8, 4, 2};

	(void)state;
	map.rank = 4;
	map.slice = 32;
	memcpy(map.stride, stride, sizeof stride);
	memcpy(map.dim, dim, sizeof dim);
	put.word[LANE][4] = 3 | UINT64_C(1) << 32;
	assert_int_equal(box(2, 2, 7, 1, EVENT_COUNTED), 128);
	EXPECT(&shared, {COPY, 128});
	EXPECT(&global, {BASE + 14816, 32}, {BASE + 15072, 32});
}

static void test_unknown_map(void **state)
{
	(void)state;
	assert_int_equal(extent_box(record(), &site, LANE, NULL, &to), 0);
	assert_int_equal(box(8, 3, 0, 0, EVENT_COUNTED | EVENT_IM2COL), 0);
	assert_int_equal(box(8, 0, 0, 0, EVENT_COUNTED), 0);
	map.rank = 6;
	assert_int_equal(box(8, 3, 0, 0, EVENT_COUNTED), 0);
	EXPECT_NOTHING(&shared);
	EXPECT_NOTHING(&global);
}

static void edit(unsigned field, unsigned ordinal, uint64_t value)
{
	put.kind = EVENT_MAP_EDIT;
	put.word[LANE][1] = 7;
	put.word[LANE][2] = value;
	site.shape[0] = (uint16_t)field;
	site.shape[1] = (uint16_t)ordinal;
	map = extent_edited(record(), &site, LANE, &map);
}

static void test_edits(void **state)
{
	static const uint8_t elements[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4, 0, 0, 0, 0}, slices[] = {0, 16, 32},
			     spans[] = {0, 32, 64, 128}, atoms[] = {16, 32, 32, 64};

	(void)state;
	edit(0, 0, 0x20000);    /* .global_address */
	edit(1, 0, 2);          /* .rank, which is one less */
	edit(2, 1, 3);          /* .box_dim */
	edit(3, 2, 9);          /* .global_dim */
	edit(4, 0, 512);        /* .global_stride, of dimension 1 */
	edit(5, 1, 2);          /* .element_stride */
	assert_int_equal(map.hash, 7);
	assert_int_equal(map.base, 0x20000);
	assert_int_equal(map.rank, 3);
	assert_int_equal(map.box[1], 3);
	assert_int_equal(map.dim[2], 9);
	assert_int_equal(map.stride[1], 512);
	assert_int_equal(map.every[1], 2);
	for (unsigned i = 0; i < sizeof elements; i++) {
		edit(6, 0, i);  /* .elemtype */
		assert_int_equal(map.stride[0], elements[i]);
	}
	for (unsigned i = 0; i < 4; i++) {
		edit(7, 0, i % 3);      /* .interleave_layout */
		edit(8, 0, i);          /* .swizzle_mode */
		edit(9, 0, i);          /* .swizzle_atomicity */
		assert_int_equal(map.slice, slices[i % 3]);
		assert_int_equal(map.span, spans[i]);
		assert_int_equal(map.atom, atoms[i]);
	}
}

/* ---- matrices: A of 64 by 16, B of 8 by 16, of 2 bytes ------------------------------------------------ */

static uint64_t descriptor(uint64_t start, uint64_t leading, uint64_t stride)
{
	return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32;
}

static void product(uint64_t da, uint64_t db, uint32_t flags)
{
	static const uint16_t shape[] = {2, 2, 16, 16, 8};

	put.kind = EVENT_WGMMA;
	put.word[LANE][0] = da;
	put.word[LANE][1] = db;
	memcpy(site.shape, shape, sizeof shape);
	site.flags = flags;
	extent_product(record(), &site, LANE, &to);
}

static void test_wgmma_plain(void **state)
{
	(void)state;
	product(descriptor(0x1000, 128, 512), descriptor(0x4000, 256, 0), 0);
	EXPECT(&shared, {0x1000, 256}, {0x1200, 256}, {0x1400, 256}, {0x1600, 256}, {0x1800, 256}, {0x1a00, 256},
	       {0x1c00, 256}, {0x1e00, 256}, {0x4000, 128}, {0x4100, 128});
	/* Along N, leading leads from 8 columns to the next 8. */
	product(0, descriptor(0x4000, 256, 0), EVENT_A_ELSEWHERE | EVENT_B_MN);
	EXPECT(&shared, {0x4000, 128}, {0x4100, 128});
}

/* A second part of 32 bytes of the pattern: line r's lie at 32 ^ r * 16 and 48 ^ r * 16. */
static void test_wgmma_swizzled(void **state)
{
	(void)state;
	product(0, descriptor(0x4020, 0, 1024) | UINT64_C(1) << 62, EVENT_A_ELSEWHERE);
	EXPECT(&shared, {0x4020, 32}, {0x40a0, 32}, {0x4100, 32}, {0x4180, 32}, {0x4260, 32}, {0x42e0, 32}, {0x4340, 32},
	       {0x43c0, 32});
	/* 64 bytes: 2 lines by 2; 32 bytes: a line is all of its pattern's. */
	product(0, descriptor(0x4020, 0, 1024) | UINT64_C(2) << 62, EVENT_A_ELSEWHERE);
	EXPECT(&shared, {0x4020, 32}, {0x4060, 32}, {0x40a0, 32}, {0x40e0, 64}, {0x4140, 32}, {0x4180, 32}, {0x41c0, 32});
	product(0, descriptor(0x4000, 0, 1024) | UINT64_C(3) << 62, EVENT_A_ELSEWHERE);
	EXPECT(&shared, {0x4000, 256});
	/* A pattern that begins at line 1 of those that addresses make. */
	product(0, descriptor(0x4080, 0, 1024) | UINT64_C(1) << 62 | UINT64_C(1) << 49, EVENT_A_ELSEWHERE);
	EXPECT(&shared, {0x4080, 32}, {0x4100, 32}, {0x41a0, 32}, {0x4220, 32}, {0x42c0, 32}, {0x4340, 32}, {0x43e0, 32},
	       {0x4460, 32});
}

/* 64 rows are 128 bytes along M; 8 columns a pattern. */
static void test_wgmma_transposed(void **state)
{
	(void)state;
	product(descriptor(0x1000, 0, 2048) | UINT64_C(1) << 62, descriptor(0x4000, 128, 0), EVENT_A_MN);
	EXPECT(&shared, {0x1000, 1024}, {0x1800, 1024}, {0x4000, 256});
}

/* ---- tensor memory ------------------------------------------------------------------------------------------ */

static void cells(enum event_kind kind, uint32_t at, unsigned block)
{
	put.kind = kind;
	put.a = at;
	extent_cells(record(), &site, LANE, block, &to);
}

static void load(uint32_t at, unsigned columns, unsigned registers, unsigned split, bool pack)
{
	const uint16_t shape[] = {(uint16_t)columns, (uint16_t)registers, (uint16_t)split, pack};

	memcpy(site.shape, shape, sizeof shape);
	cells(EVENT_TC_LOAD, at, 0);
}

static void test_loads(void **state)
{
	(void)state;
	load(32 << 16 | 10, 1, 4, 0, false);    /* .32x32b.x4 */
	expect_cells(&d, 32, 32, 10, 4);
	load(32 << 16 | 10, 2, 2, 0, false);    /* .16x64b.x2 */
	expect_cells(&d, 32, 16, 10, 4);
	load(10, 1, 4, 0, true);                /* .32x32b.x4.pack::16b */
	expect_cells(&d, 0, 32, 10, 8);
	load(96 << 16, 1, 4, 4, false);         /* .16x32bx2.x4: the halves lie side by side */
	expect_cells(&d, 96, 16, 0, 8);
	EXPECT_NOTHING(&d);
}

static void test_copy(void **state)
{
	static const uint16_t shape[] = {64, 16, 2}, four[] = {4, 32, 1};

	(void)state;
	memcpy(site.shape, shape, sizeof shape);        /* .64x128b, twice */
	put.word[LANE][0] = descriptor(0x2000, 0, 256);
	cells(EVENT_TC_COPY, 12, 0);
	EXPECT(&shared, {0x2000, 128}, {0x2100, 128}, {0x2200, 128}, {0x2300, 128}, {0x2400, 128}, {0x2500, 128},
	       {0x2600, 128}, {0x2700, 128});
	expect_cells(&d, 0, 128, 12, 4);
	EXPECT_NOTHING(&d);
	memcpy(site.shape, four, sizeof four);          /* .4x256b, swizzled by 32 bytes */
	put.word[LANE][0] = descriptor(0x2000, 0, 1024) | UINT64_C(1) << 61;
	cells(EVENT_TC_COPY, 12, 0);
	EXPECT(&shared, {0x2000, 32}, {0x20a0, 32}, {0x2140, 32}, {0x21e0, 32});
	expect_cells(&d, 0, 4, 12, 8);
	EXPECT_NOTHING(&d);
}

static void test_freed(void **state)
{
	(void)state;
	cells(EVENT_TC_FREE, 64 << 16 | 32, 0);
	expect_cells(&d, 0, 128, 32, 64);
	EXPECT_NOTHING(&d);
}

/* M by N, of 2 bytes.  K lies along the lines, unless flags say EVENT_A_MN, or EVENT_B_MN, where B is swizzled. */
static void mma(unsigned m, unsigned n, uint32_t at, uint32_t flags, unsigned block)
{
	put.word[LANE][0] = descriptor(0x2000, 0x4000, 2048) | UINT64_C(2) << 61;
	put.word[LANE][1] = descriptor(0xc000, 128, 256) | (flags & EVENT_B_MN ? UINT64_C(2) << 61 : 0);
	put.word[LANE][2] = m / 16 << 24 | n / 8 << 17 | (flags & EVENT_A_MN ? 1u << 15 : 0) | (flags & EVENT_B_MN ? 1u << 16 : 0);
	put.b = 256;
	site.shape[0] = 2;
	site.flags = flags;
	cells(EVENT_TC_MMA, at, block);
}

static void test_accumulator(void **state)
{
	(void)state;
	put.word[LANE][4] = 1 << 3;     /* lanes 3 and 127 are left alone */
	put.word[LANE][5] = UINT64_C(1) << 63;
	mma(128, 32, 64, 0, 0);
	expect_cells(&d, 0, 3, 64, 32);
	expect_cells(&d, 4, 123, 64, 32);
	EXPECT_NOTHING(&d);
	EXPECT_NOTHING(&a);
	EXPECT_NOTHING(&scales);
}

static void test_accumulator_64(void **state)
{
	(void)state;
	mma(64, 8, 16 << 16 | 64, 0, 0);        /* the other half of each 32 lanes */
	for (unsigned i = 0; i < 4; i++)
		expect_cells(&d, 16 + i * 32, 16, 64, 8);
	EXPECT_NOTHING(&d);
	mma(32, 64, 0, EVENT_WS, 0);            /* columns are folded into four */
	expect_cells(&d, 0, 128, 0, 16);
	EXPECT_NOTHING(&d);
}

/* Each block has half of the rows of D, and of the columns that B brings. */
static void test_accumulator_pair(void **state)
{
	(void)state;
	put.word[LANE][7] = ~UINT64_C(0);       /* lanes 64 to 127 of the odd block are left alone */
	mma(256, 32, 0, EVENT_PAIR | EVENT_A_ELSEWHERE, 0);
	EXPECT(&shared, {0xc000, 512});
	expect_cells(&a, 0, 128, 256, 8);
	expect_cells(&d, 0, 128, 0, 32);
	mma(256, 32, 0, EVENT_PAIR | EVENT_A_ELSEWHERE, 1);
	expect_cells(&d, 0, 64, 0, 32);
	EXPECT_NOTHING(&d);
	mma(128, 32, 0, EVENT_PAIR | EVENT_A_ELSEWHERE, 0);     /* two by two */
	expect_cells(&d, 0, 128, 0, 16);
	EXPECT_NOTHING(&d);
}

/* Patterns of 8 lines of 128 bytes, of which A has 32 bytes. */
static void test_mma_matrices(void **state)
{
	(void)state;
	mma(128, 8, 0, 0, 0);
	unite(&shared);
	assert_int_equal(shared.n, 16 * 8 + 1);
	for (unsigned i = 0; i < 128; i++) {
		assert_int_equal(shared.v[i].address, 0x2000 + i / 8 * 2048 + i % 8 * 128 + i % 8 / 2 * 32);
		assert_int_equal(shared.v[i].bytes, 32);
	}
	assert_int_equal(shared.v[128].address, 0xc000);
	assert_int_equal(shared.v[128].bytes, 256);
	shared.n = 0;
	mma(128, 8, 0, EVENT_A_MN, 0);
	EXPECT(&shared, {0x2000, 1024}, {0x2800, 1024}, {0x6000, 1024}, {0x6800, 1024}, {0xc000, 256});
	mma(128, 64, 0, EVENT_A_ELSEWHERE | EVENT_B_MN, 0);
	EXPECT(&shared, {0xc000, 1280});
}

/* Half of A's elements are there. */
static void test_sparse(void **state)
{
	(void)state;
	site.shape[2] = 1;
	mma(128, 8, 0, EVENT_A_ELSEWHERE, 0);
	EXPECT(&shared, {0xc000, 512});
	expect_cells(&a, 0, 128, 256, 8);
}

static void test_scales(void **state)
{
	(void)state;
	site.shape[1] = 4;
	put.word[LANE][3] = 100 | UINT64_C(200) << 32;
	mma(128, 232, 0, 0, 0);
	unite(&scales);
	assert_int_equal(scales.n, 256);
	for (unsigned i = 0; i < 128; i++) {
		assert_int_equal(scales.v[2 * i].address, (i * 512 + 100) * 4);
		assert_int_equal(scales.v[2 * i].bytes, 16);
		assert_int_equal(scales.v[2 * i + 1].address, (i * 512 + 200) * 4);
		assert_int_equal(scales.v[2 * i + 1].bytes, 32);
	}
}

static uint64_t accumulator(unsigned m, unsigned n, uint32_t at, uint32_t flags)
{
	mma(m, n, at, flags, 0);
	d.n = shared.n = 0;
	return extent_accumulator(record(), &site, LANE);
}

static void test_accumulator_number(void **state)
{
	uint64_t same;

	(void)state;
	same = accumulator(128, 32, 64, 0);
	assert_true(same == accumulator(128, 32, 64, EVENT_WS));
	assert_true(same != accumulator(64, 32, 64, 0));
	assert_true(same != accumulator(128, 40, 64, 0));
	assert_true(same != accumulator(128, 32, 65, 0));
	assert_true(accumulator(64, 32, 0, 0) != accumulator(64, 32, 0, EVENT_WS));
}

int main(void)
{
#define BOX(f) cmocka_unit_test_setup(f, blank_map)
#define REST(f) cmocka_unit_test_setup(f, blank)
	const struct CMUnitTest tests[] = {
		BOX(test_box), BOX(test_swizzle_32), BOX(test_swizzle_64), BOX(test_swizzle_128), BOX(test_swizzle_atoms),
		BOX(test_cut_off), BOX(test_element_strides), BOX(test_gather), BOX(test_im2col), BOX(test_interleave),
		BOX(test_unknown_map), BOX(test_edits), REST(test_wgmma_plain), REST(test_wgmma_swizzled),
		REST(test_wgmma_transposed), REST(test_loads), REST(test_copy), REST(test_freed), REST(test_accumulator),
		REST(test_accumulator_64), REST(test_accumulator_pair), REST(test_mma_matrices), REST(test_sparse), REST(test_scales),
		REST(test_accumulator_number)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
