/* SPDX-License-Identifier: Apache-2.0
 *
 * alloc.c: the table of the program's allocations, for reports.  The caller holds
 * rt_lock.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/rti.h"

/* Index of the first block that starts at or after `addr`. */
static size_t lower(const struct rt_blocks *b, uint64_t addr)
{
	size_t lo = 0, hi = b->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (b->list[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void rt_block_add(struct rt_blocks *b, const struct rt_block *block)
{
	size_t i = lower(b, block->addr);

	/* Of those that start at one address the innermost is the last. */
	while (i < b->n && b->list[i].addr == block->addr && b->list[i].bytes > block->bytes)
		i++;
	b->list = rt_grow(b->list, &b->cap, b->n + 1, sizeof *b->list);
	memmove(&b->list[i + 1], &b->list[i], (b->n - i) * sizeof *b->list);
	b->list[i] = *block;
	b->n++;
	b->changes++;
}

void rt_blocks_copy(struct rt_blocks *to, const struct rt_blocks *from)
{
	to->list = rt_grow(to->list, &to->cap, from->n, sizeof *to->list);
	if (from->n)
		memcpy(to->list, from->list, from->n * sizeof *to->list);
	to->n = from->n;
	to->changes = from->changes;
}

static void take(struct rt_blocks *b, size_t i, struct rt_block *was)
{
	*was = b->list[i];
	b->n--;
	b->changes++;
	memmove(&b->list[i], &b->list[i + 1], (b->n - i) * sizeof *b->list);
}

bool rt_block_take(struct rt_blocks *b, uint64_t addr, bool part, struct rt_block *was)
{
	/* A variable is not freed: its module is unloaded. */
	for (size_t i = lower(b, addr); i < b->n && b->list[i].addr == addr; i++) {
		if (b->list[i].kind != RT_MEM_VARIABLE && b->list[i].part == part) {
			take(b, i, was);
			return true;
		}
	}
	return false;
}

bool rt_block_take_part(struct rt_blocks *b, uint64_t addr, uint64_t bytes, struct rt_block *was)
{
	for (size_t i = lower(b, addr); i < b->n && b->list[i].addr - addr < bytes; i++) {
		if (b->list[i].part) {
			take(b, i, was);
			return true;
		}
	}
	return false;
}

bool rt_block_take_mapped(struct rt_blocks *b, uint64_t addr, uint64_t bytes, struct rt_block *was)
{
	for (size_t i = lower(b, addr); i < b->n && b->list[i].addr - addr < bytes; i++) {
		if (b->list[i].kind == RT_MEM_MAPPED) {
			take(b, i, was);
			return true;
		}
	}
	return false;
}

bool rt_block_take_owned(struct rt_blocks *b, const void *owner, struct rt_block *was)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->list[i].owner == owner) {
			take(b, i, was);
			return true;
		}
	}
	return false;
}

/* Blocks may lie in others (a variable in nothing, but a registered piece in a
 * mapping), so those that start before are asked from the nearest on.  The limit
 * keeps a lookup far from any block short. */
bool rt_block_find(const struct rt_blocks *b, uint64_t addr, struct rt_block *was)
{
	size_t i = lower(b, addr + 1);

	for (int steps = 0; i-- > 0 && steps < 64; steps++) {
		if (addr - b->list[i].addr < b->list[i].bytes) {
			*was = b->list[i];
			return true;
		}
	}
	return false;
}
