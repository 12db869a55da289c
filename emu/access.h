/* SPDX-License-Identifier: Apache-2.0
 *
 * access.h: from an address in a thread to the byte of the process that it means,
 * or to nothing.  Every access of a kernel to memory passes through emu_at().
 */
#ifndef EMU_ACCESS_H
#define EMU_ACCESS_H

#include "emu/emu.h"

/* The access is wrong: says how and ends the kernel; returns NULL. */
const struct emu_op *emu_access_fault(struct emu_x *, const struct emu_op *, unsigned lane,
				      uint64_t addr, unsigned size, enum emu_base);

static inline void *emu_at_shared(const struct emu_x *x, uint64_t a, unsigned size)
{
	const struct emu_block *b = x->b;
	uint32_t off = (uint32_t)a & ((1u << EMU_RANK_SHIFT) - 1);
	unsigned rank = (uint32_t)a >> EMU_RANK_SHIFT;

	if (rank != b->rank) {
		if (rank >= b->cluster->nblocks)
			return NULL;
		b = b->cluster->block[rank];
	}
	if ((off & (size - 1)) || off < b->smem_first || off + size > b->smem_end)
		return NULL;
	return b->smem + off;
}

static inline void *emu_at_local(const struct emu_x *x, unsigned l, uint64_t off, unsigned size)
{
	const struct emu_warp *w = x->w;

	if ((off & (size - 1)) || off >= w->sp[l] || off + size > w->sp[l])
		return NULL;
	return w->local + l * w->local_bytes + off;
}

static inline void *emu_at_global(uint64_t a, unsigned size)
{
	if ((a & (size - 1)) || !emu_mem_ok(a, size))
		return NULL;
	return emu_view(a);
}

static inline void *emu_at_param(const struct emu_x *x, unsigned l, uint64_t a, unsigned size)
{
	uint64_t off = a - EMU_PARAM_WINDOW;

	if (off >= EMU_WINDOW_BYTES)
		return emu_at_global(a, size);
	if ((off & (size - 1)) || size > 8 || off / 8 >= x->w->nrows)
		return NULL;
	return (uint8_t *)&x->w->rows[off / 8 * EMU_LANES + l] + (off & 7);
}

static inline void *emu_at_generic(const struct emu_x *x, unsigned l, uint64_t a, unsigned size)
{
	if (a - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES)
		return emu_at_shared(x, a, size);
	if (a - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES)
		return emu_at_local(x, l, a - EMU_LOCAL_WINDOW, size);
	return emu_at_global(a, size);
}

/* `size` is a power of two, at most 32; NULL if a thread may not touch it. */
static inline void *emu_at(const struct emu_x *x, unsigned l, enum emu_base base, uint64_t a,
			   unsigned size)
{
	switch (base) {
	case BASE_GENERIC:
		return emu_at_generic(x, l, a, size);
	case BASE_GLOBAL:
	case BASE_KPARAM:
		return emu_at_global(a, size);
	case BASE_SHARED:
	case BASE_OWN_SHARED:
		return emu_at_shared(x, a, size);
	case BASE_LOCAL:
	case BASE_FRAME:
		return emu_at_local(x, l, a, size);
	case BASE_PARAM:
	case BASE_FPARAM:
		return emu_at_param(x, l, a, size);
	}
	return NULL;
}

/* The address that `mem` gives in a lane, in the space of its base. */
static inline uint64_t emu_addr_of(struct emu_x *x, const struct emu_addr *mem, unsigned l)
{
	const struct emu_block *b = x->b;

	switch ((enum emu_base)mem->base) {
	case BASE_GENERIC:
	case BASE_GLOBAL:
	case BASE_SHARED:
	case BASE_LOCAL:
	case BASE_PARAM:
		return emu_row(x, mem->reg)[l] + (uint64_t)mem->off;
	case BASE_OWN_SHARED:
		return ((uint64_t)b->rank << EMU_RANK_SHIFT) +
		       b->grid->func->shared_at[mem->reg.at] + (uint64_t)mem->off;
	case BASE_FRAME:
		return x->bank[BANK_REG][FRAME_LOCAL * EMU_LANES + l] + (uint64_t)mem->off;
	case BASE_KPARAM:
		return b->grid->params + (uint64_t)mem->off;
	case BASE_FPARAM:
		return EMU_PARAM_WINDOW + ((uint64_t)x->base + mem->reg.at) * 8 +
		       (uint64_t)mem->off;
	}
	return 0;
}

#endif
