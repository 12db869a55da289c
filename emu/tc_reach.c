/* SPDX-License-Identifier: Apache-2.0
 *
 * tc_reach.c: which bytes of shared memory and cells of tensor memory an operation of tcgen05
 * touches, for who listens.
 */
#include <string.h>

#include "emu/tcgen05.h"

enum { LANES = EMU_TC_LANES, COLUMNS = EMU_TC_COLUMNS, ROW_BYTES = 32 };

/* To whom each part is told. */
struct to { emu_tc_reach_fn *fn; void *arg; };

/* A byte for each byte of shared memory, or each cell of tensor memory. */
static uint8_t map[1u << EMU_RANK_SHIFT >> 4];

static void say(const struct to *to, const struct emu_block *b, enum emu_tc_role role, bool write,
		uint64_t accumulator)
{
	uint32_t n = role == EMU_TC_OPERANDS ? (uint32_t)b->smem_bytes : LANES * COLUMNS;

	to->fn(to->arg, &(struct emu_tc_reach){
		.b = b, .role = role, .write = write, .map = map, .n = n, .accumulator = accumulator
	});
	memset(map, 0, n);
}

/* n rows of k elements of so many bytes. */
static void mark(const struct emu_block *b, uint64_t bits, bool mn, unsigned size, unsigned n, unsigned k)
{
	struct emu_matdesc d = emu_tc_described(bits);

	for (unsigned r = 0; r < n; r++)
		for (unsigned c = 0; c < k; c++) {
			uint32_t at = emu_matdesc_at(&d, mn, size, r, c);

			if (at + size <= b->smem_bytes)
				memset(map + at, 1, size);
		}
}

static void mark_cell(unsigned lane, uint32_t column)
{
	map[lane % LANES * COLUMNS + (column & 0xffff) % COLUMNS] = 1;
}

static void mark_d(const struct emu_tc_item *it, unsigned h, unsigned m)
{
	for (unsigned r = 0; r < m; r++)
		for (unsigned n = 0; n < it->n; n++) {
			unsigned lane = emu_tc_lane_of(it, r, n);

			if (!(it->skip[h * 4 + lane / 32] >> lane % 32 & 1))
				mark_cell(lane, emu_tc_column_of(it, n));
		}
}

static void product(const struct emu_tc_item *it, const struct to *to)
{
	unsigned blocks = it->pair[1] ? 2 : 1, m = it->m / blocks, columns = emu_tc_columns_of(it);
	unsigned size_a = emu_mma_bits(it->at) / 8, size_b = emu_mma_bits(it->bt) / 8;
	uint64_t d = (uint64_t)it->d | (uint64_t)it->m << 32 | (uint64_t)it->n << 42 | (uint64_t)it->folds << 52;

	for (unsigned h = 0; h < blocks; h++) {
		const struct emu_block *b = it->pair[h];

		mark(b, it->b, it->b_mn, size_b, it->n / blocks, ROW_BYTES / size_b);
		if (!it->from_tmem)
			mark(b, it->a, it->a_mn, size_a, m, ROW_BYTES / size_a);
		say(to, b, EMU_TC_OPERANDS, false, 0);
		for (unsigned r = 0; it->from_tmem && r < m; r++)
			for (unsigned n = 0; n < it->n; n += columns)
				for (unsigned k = 0; k < ROW_BYTES / 4; k++)
					mark_cell(emu_tc_lane_of(it, r, n), it->a_tmem + k);
		say(to, b, EMU_TC_A, false, 0);
		if (it->vec) {
			for (unsigned r = 0; r < m / 32 * LANES; r++)
				mark_cell(r, it->scales[0] + r / LANES);
			for (unsigned r = 0; r < (columns + 31) / 32 * LANES; r++)
				mark_cell(r, it->scales[1] + r / LANES);
			say(to, b, EMU_TC_SCALES, false, 0);
		}
		mark_d(it, h, m);
		say(to, b, EMU_TC_D, true, d);
	}
}

static void copy(const struct emu_tc_item *it, const struct to *to)
{
	for (unsigned h = 0; h < 2 && it->pair[h]; h++) {
		mark(it->pair[h], it->a, false, 4, it->lanes, it->bytes / 4);
		say(to, it->pair[h], EMU_TC_OPERANDS, false, 0);
		for (unsigned r = 0; r < it->lanes * it->copies; r++)
			for (unsigned k = 0; k < it->bytes / 4; k++)
				mark_cell(r, it->d + k);
		say(to, it->pair[h], EMU_TC_COPIED, true, 0);
	}
}

static void access(const struct emu_tell *t, const struct to *to)
{
	const struct emu_tc *k = t->op->u.tc;

	for (unsigned i = 0; i < k->n; i++)
		for (unsigned l = 0; l < EMU_LANES; l++)
			for (unsigned h = 0; h <= k->packed; h++)
				map[emu_tc_cell(k, t->u.tmem, l, i, h)] = 1;
	say(to, t->b, EMU_TC_REGISTERS, k->store, 0);
}

const struct emu_tc_item *emu_tc_item_of(const struct emu_tell *t, unsigned lane)
{
	return &t->u.items[__builtin_popcount(t->lanes & ((1u << lane) - 1))];
}

void emu_tc_reach(const struct emu_tell *t, unsigned lane, emu_tc_reach_fn *fn, void *arg)
{
	const struct to to = {fn, arg};
	const struct emu_tc_item *it = t->kind == TELL_TC_ISSUE ? emu_tc_item_of(t, lane) : NULL;

	if (!it)
		access(t, &to);
	else if (it->kind == EMU_TC_PRODUCT)
		product(it, &to);
	else if (it->kind == EMU_TC_COPY)
		copy(it, &to);
}
