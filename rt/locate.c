/* SPDX-License-Identifier: Apache-2.0
 *
 * locate.c: where a finding's memory is, in words: what follows "Location is ".
 */
#include <string.h>

#include "rt/drv.h"

/* That of the later access, or the one of its cluster to which the memory belongs; ranks in a
 * cluster go by x first (PTX ISA, "%cluster_ctarank"). */
static void locate_block(struct rt_buf *b, const struct rt_report *r)
{
	uint64_t at[3], rank = r->owner ? r->owner - 1 : 0;

	if (!r->now.block_known)
		return;
	for (int i = 0; i < 3; i++) {
		const uint64_t n = r->cluster[i] ? r->cluster[i] : 1;

		at[i] = r->owner ? r->now.block[i] / n * n + rank % n : r->now.block[i];
		rank /= n;
	}
	rt_printf(b, " of block (%llu,%llu,%llu)", (unsigned long long)at[0], (unsigned long long)at[1],
		  (unsigned long long)at[2]);
}

/* Of misuse the address is the barrier's number. */
void rt_locate_barrier(struct rt_buf *b, const struct rt_report *r)
{
	if (r->why == GSAN_WHY_BAR_MASK)
		rt_puts(b, "a barrier of lanes of a warp");
	else if (r->why == GSAN_WHY_CLUSTER_TWICE)
		rt_puts(b, "the barrier of the cluster");
	else
		rt_printf(b, "barrier %llu", (unsigned long long)r->addr);
	locate_block(b, r);
}

void rt_locate_tensor(struct rt_buf *b, const struct rt_report *r)
{
	rt_puts(b, "tensor memory");
	locate_block(b, r);
	rt_printf(b, " at lane %u, column %u", (unsigned)(r->addr >> 16), (unsigned)(r->addr & 0xffff));
}

void rt_locate_shared(struct rt_buf *b, struct rt_report *r, uint64_t size)
{
	rt_puts(b, "shared memory");
	locate_block(b, r);
	rt_printf(b, " at offset 0x%llx", (unsigned long long)r->addr);
	if (!*r->var)
		return;
	if (size)
		rt_printf(b, ", reached through the %llu-byte variable %s", (unsigned long long)size,
			  rt_demangle(r->var));
	else
		rt_printf(b, ", reached through the variable %s", rt_demangle(r->var));
}

void rt_locate_outside(struct rt_buf *b, const struct rt_report *r)
{
	const unsigned long long n = (unsigned long long)(r->outside < 0 ? -r->outside : r->outside);

	rt_puts(b, "shared memory");
	locate_block(b, r);
	rt_printf(b, " at offset 0x%llx: %s %llu byte%s %s ", (unsigned long long)r->addr, r->outside < 0 ? "it begins" : "it reaches", n,
		  n == 1 ? "" : "s", r->outside < 0 ? "before the start of" : "past the end of");
	if (*r->var)
		rt_printf(b, "%s (%llu bytes)", rt_demangle(r->var), (unsigned long long)r->var_bytes);
	else
		rt_puts(b, "the block's shared memory");
	if (*r->in)
		rt_printf(b, ", in %s", rt_demangle(r->in));
}

void rt_locate_global(struct rt_buf *b, const struct rt_report *r, const struct rt_block *block)
{
	static const char *const kinds[] = {
		[RT_MEM_DEVICE] = "global memory", [RT_MEM_MANAGED] = "managed memory",
		[RT_MEM_HOST] = "page-locked host memory", [RT_MEM_MAPPED] = "global memory",
		[RT_MEM_VARIABLE] = "global memory", [RT_MEM_FREED] = "global memory", [RT_MEM_GRAPH] = "global memory",
	};
	const unsigned long long in = r->addr - block->addr, bytes = block->bytes;

	rt_puts(b, kinds[block->kind]);
	if (block->kind == RT_MEM_VARIABLE)
		rt_printf(b, ", %llu bytes inside the %llu-byte variable %s at 0x%llx", in, bytes,
			  rt_demangle(block->name), (unsigned long long)block->addr);
	else
		rt_printf(b, ", %llu bytes inside a %llu-byte %s at 0x%llx%s", in, bytes,
			  block->kind == RT_MEM_MAPPED ? "mapping" : "allocation",
			  (unsigned long long)block->addr, block->kind == RT_MEM_FREED ? " that was freed" : "");
}

void rt_locate_behind(struct rt_buf *b, const struct rt_report *r, const struct rt_block *block)
{
	const uint64_t end = block->addr + block->bytes, n = r->addr >= end ? r->addr - end : (uint64_t)r->outside;

	rt_printf(b, "%s memory: it %s %llu byte%s past the end of a %llu-byte allocation at 0x%llx", block->kind == RT_MEM_MANAGED ?
		  "managed" : "global", r->addr >= end ? "begins" : "reaches", (unsigned long long)n, n == 1 ? "" : "s",
		  (unsigned long long)block->bytes, (unsigned long long)block->addr);
}
