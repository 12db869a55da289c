/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_bulk.c: cp.async.bulk and cp.reduce.async.bulk between two ranges of memory,
 * bulk groups, st.async and red.async: what is checked when they are issued, and
 * what async.c is given to do.
 */
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"

struct emu_bulk {
	struct emu_addr to, from, mbar;
	bool counted;                   /* by an mbarrier; else a bulk group or nothing */
	bool out;                       /* from shared to global memory */
	bool multicast;
	struct emu_opnd bytes, mask;    /* mask: of blocks, or of the bytes of each 16 */
	bool byte_mask;
	uint8_t reduce, type, size, n;  /* n: values of st.async and red.async */
	struct emu_opnd value[8];
};

/* ---- destinations ---------------------------------------------------------------------- */

/* The mbarrier of lane l; NULL with a fault. */
static uint64_t *mbarrier(struct emu_x *x, const struct emu_op *op, const struct emu_addr *at,
			  unsigned l, struct emu_block **owner)
{
	uint64_t a = emu_addr_of(x, at, l);
	uint8_t *p = emu_range(x, op, l, at->base, a, 8, 8, owner);

	if (!p)
		return NULL;
	if ((!*owner || !emu_mbar_live((uint64_t *)(void *)p)) && !emu_mbar_missing(x, op, l, a, *owner))
		return NULL;
	return (uint64_t *)(void *)p;
}

bool emu_async_land(struct emu_x *x, struct emu_async *a, const struct emu_addr *mbar,
		    struct emu_block *to, uint32_t mask, bool pair)
{
	struct emu_cluster *c = x->b->cluster;
	struct emu_block *at = NULL;
	uint64_t *m = mbar ? mbarrier(x, a->op, mbar, a->lane, &at) : NULL;

	if (mbar && !m)
		return false;
	if (!mask) {
		a->land[a->nland++] = (struct emu_landing){.block = to, .mbar = m};
		return true;
	}
	/* The same offsets in every block of the mask.  With .cta_group::2 it is the mbarrier of
	 * that block or of its peer, by the parity of the rank of the block where `mbar` lies
	 * (PTX ISA, "cp.async.bulk.tensor"). */
	for (unsigned r = 0; r < EMU_LANDINGS; r++) {
		unsigned told = pair ? (r & ~1u) | (at->rank & 1) : r;
		struct emu_block *b = r < c->nblocks && told < c->nblocks ? c->block[r] : NULL;
		uint8_t *p;

		if (!(mask >> r & 1))
			continue;
		if (!b) {
			emu_fault(x, a->op, a->lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
				  "a multicast to block %u of a cluster of %u", r, c->nblocks);
			return false;
		}
		p = c->block[told]->smem + ((uint8_t *)(void *)m - at->smem);
		if (!emu_mbar_live((uint64_t *)(void *)p) && !emu_goes_on(a->op)) {
			emu_fault(x, a->op, a->lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
				  "block %u of the cluster has no mbarrier there", told);
			return false;
		}
		a->land[a->nland++] = (struct emu_landing){
			.shift = b->smem - to->smem, .block = b, .mbar = (uint64_t *)(void *)p
		};
	}
	return true;
}

void emu_async_group(struct emu_async *a)
{
	a->grouped = true;
	a->group = emu_copies_of(a->warp)->bulk_group[a->lane];
}

void emu_async_stores(struct emu_async *a, const uint64_t *operand, unsigned n)
{
	uint64_t h = (uintptr_t)a->op ^ (uint64_t)a->group << 48 ^ (uint64_t)a->warp->index << 40;

	for (unsigned i = 0; i < n; i++)
		h = (h ^ operand[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	a->what = h | 1;
}

/* ---- cp.async.bulk, cp.reduce.async.bulk ------------------------------------------------- */

/* Bytes of each 16 that a mask lets through. */
static void masked(struct emu_async *a, const uint8_t *src, uint8_t *dst, uint32_t n, uint32_t mask)
{
	for (uint32_t i = 0; i < n; i += 16)
		for (unsigned from = 0, to; from < 16; from = to) {
			to = from + 1;
			if (!(mask >> from & 1))
				continue;
			while (to < 16 && mask >> to & 1)
				to++;
			emu_async_piece(a, src + i + from, dst + i + from, to - from);
		}
}

static void pieces(struct emu_async *a, const uint8_t *src, uint8_t *dst, uint32_t n)
{
	uint32_t step = emu_m.seed ? 16u << emu_random() % 5 : 16;

	while (n / step > 64)
		step *= 2;
	for (uint32_t i = 0; i < n; i += step)
		emu_async_piece(a, src + i, dst + i, n - i < step ? n - i : step);
}

/* Does lane `l` store what an earlier one of `m` does, to the same place?  ptxas makes one
 * UBLKCP of those; of loads and reductions it makes one for each lane. */
static bool again(struct emu_x *x, const struct emu_bulk *k, uint32_t m, unsigned l)
{
	EMU_EACH(e, m & ((1u << l) - 1))
		if (emu_addr_of(x, &k->to, e) == emu_addr_of(x, &k->to, l) &&
		    emu_addr_of(x, &k->from, e) == emu_addr_of(x, &k->from, l) &&
		    emu_get(x, k->bytes, e) == emu_get(x, k->bytes, l) &&
		    (!k->byte_mask || emu_get(x, k->mask, e) == emu_get(x, k->mask, l)))
			return k->out && !k->reduce;
	return false;
}

/* The instruction that is being carried out, for who listens. */
static struct emu_tell_copy told;

static void note_copy(struct emu_x *x, const struct emu_bulk *k, uint32_t m)
{
	memset(&told, 0, sizeof told);
	told.to_base = k->to.base;
	told.from_base = k->from.base;
	told.mbar_base = k->mbar.base;
	told.counted = k->counted;
	told.multicast = k->multicast;
	told.byte_mask = k->byte_mask;
	EMU_EACH(l, m) {
		told.to[l] = emu_addr_of(x, &k->to, l);
		told.mbar[l] = k->counted ? emu_addr_of(x, &k->mbar, l) : 0;
		for (unsigned i = 0; i < k->n; i++)
			told.value[l][i] = emu_get(x, k->value[i], l);
		told.bytes[l] = (uint64_t)k->size * k->n;
		if (k->n)
			continue;
		told.from[l] = emu_addr_of(x, &k->from, l);
		told.bytes[l] = (uint32_t)emu_get(x, k->bytes, l);
		if (k->multicast || k->byte_mask)
			told.mask[l] = (uint16_t)emu_get(x, k->mask, l);
	}
}

/* All are under way that could be; NULL after a fault. */
static const struct emu_op *issued(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_tell t = emu_tell_of(TELL_COPY, x, op, m, x->mask);

	t.u.copy = &told;
	if (m && emu_tells(op))
		emu_tell(&t);
	return emu_m.fault ? NULL : op + 1;
}

/* NULL: a fault. */
static struct emu_async *bulk_lane(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_bulk *k = op->u.bulk;
	uint32_t n = (uint32_t)emu_get(x, k->bytes, l);
	struct emu_block *dst_block, *src_block;
	uint8_t *dst, *src;
	struct emu_async *a;

	dst = emu_range(x, op, l, k->to.base, emu_addr_of(x, &k->to, l), n, 16, &dst_block);
	if (!dst)
		return NULL;
	src = emu_range(x, op, l, k->from.base, emu_addr_of(x, &k->from, l), n, 16, &src_block);
	if (!src)
		return NULL;
	if (!k->out == !dst_block || (k->out && src_block != x->b)) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_ADDRESS, "an address in the wrong space");
		return NULL;
	}
	a = emu_async_new(x, op, l);
	a->from = src_block;
	a->reduce = k->reduce;
	a->type = k->type;
	a->size = k->size;
	a->sys = k->out;
	if (k->byte_mask)
		masked(a, src, dst, n, (uint32_t)emu_get(x, k->mask, l));
	else
		pieces(a, src, dst, n);
	if (!k->counted)
		emu_async_group(a);
	if (k->out && !k->reduce)
		emu_async_stores(a, (const uint64_t[]){(uintptr_t)dst, (uintptr_t)src, n,
				 k->byte_mask ? emu_get(x, k->mask, l) : 0}, 4);
	if (!emu_async_land(x, a, k->counted ? &k->mbar : NULL, dst_block,
			    k->multicast ? (uint16_t)emu_get(x, k->mask, l) : 0, false)) {
		emu_async_free(a);
		return NULL;
	}
	emu_async_start(a);
	return a;
}

static const struct emu_op *bulk(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_bulk *k = op->u.bulk;
	uint32_t done = 0;

	if (emu_tells(op))
		note_copy(x, k, m);
	EMU_EACH(l, m) {
		bool folded = again(x, k, m, l);

		told.folded |= (uint32_t)folded << l;
		told.async[l] = folded ? NULL : bulk_lane(x, op, l);
		if (emu_m.fault)
			break;
		done |= 1u << l;
	}
	return issued(x, op, done);
}

/* ---- groups ---------------------------------------------------------------------------- */

static const struct emu_op *commit(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m)
		emu_copies_of(x->w)->bulk_group[l]++;
	if (emu_tells(op))
		emu_tell_groups(TELL_GROUP_COMMIT, x, op, m, &(struct emu_tell_groups){.list = EMU_LIST_BULK});
	return op + 1;
}

/* Waits for all groups but the last imm; with kind, only until their sources are read. */
static const struct emu_op *wait_group(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		uint32_t group = emu_copies_of(x->w)->bulk_group[l];

		if (group > op->imm && !emu_async_done(x->w, l, group - op->imm, op->kind))
			return emu_yield(x, op);
	}
	if (emu_tells(op))
		emu_tell_groups(TELL_GROUP_WAIT, x, op, m, &(struct emu_tell_groups){
			.list = EMU_LIST_BULK, .left = op->imm, .read = op->kind
		});
	return op + 1;
}

/* ---- st.async, red.async ---------------------------------------------------------------- */

/* NULL: a fault. */
static struct emu_async *store_lane(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_bulk *k = op->u.bulk;
	struct emu_block *to;
	unsigned bytes = (unsigned)k->size * k->n;
	uint8_t *dst = emu_range(x, op, l, k->to.base, emu_addr_of(x, &k->to, l), bytes, bytes, &to);
	uint64_t v[8];
	struct emu_async *a;

	if (!dst)
		return NULL;
	if (k->counted && !to) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_ADDRESS, "an address in the wrong space");
		return NULL;
	}
	a = emu_async_new(x, op, l);
	a->generic = true;
	a->reduce = k->reduce;
	a->type = k->type;
	a->size = k->size;
	a->sys = !to;
	for (unsigned i = 0; i < k->n; i++) {
		v[i] = emu_get(x, k->value[i], l);
		memmove((uint8_t *)v + i * k->size, &v[i], k->size);
	}
	emu_async_bytes(a, v, dst, bytes);
	if (!emu_async_land(x, a, k->counted ? &k->mbar : NULL, to, 0, false)) {
		emu_async_free(a);
		return NULL;
	}
	emu_async_start(a);
	return a;
}

static const struct emu_op *store(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint32_t done = 0;

	if (emu_tells(op))
		note_copy(x, op->u.bulk, m);
	EMU_EACH(l, m) {
		told.async[l] = store_lane(x, op, l);
		if (emu_m.fault)
			break;
		done |= 1u << l;
	}
	return issued(x, op, done);
}

/* ---- decoding ------------------------------------------------------------------------------ */

static bool bad(struct emu_dec *d)
{
	return emu_dec_refuse(d, "operands that do not fit the instruction");
}

static struct emu_bulk *new_bulk(struct emu_dec *d)
{
	struct emu_bulk *k = ptx_alloc(d->arena, sizeof *k);

	memset(k, 0, sizeof *k);
	return k;
}

static bool emit(struct emu_dec *d, emu_op_fn *fn, struct emu_bulk *k)
{
	struct emu_op *op = emu_dec_new(d);

	op->fn = fn;
	op->u.bulk = k;
	return true;
}

static bool reduction(struct emu_dec *d, const struct ptx_inst *in, struct emu_bulk *k)
{
	uint8_t kind;

	if (!emu_atom_kind(in, &kind) || ptx_type_bits(in->type) < 16)
		return emu_dec_refuse(d, "a reduction that is not emulated");
	k->reduce = kind + 1;
	k->type = (uint8_t)in->type;
	k->size = (uint8_t)(ptx_type_bits(in->type) / 8);
	return true;
}

/* [to], [from], bytes (, [mbarrier]) (, blocks) (, policy) (, mask of bytes). */
static bool dec_bulk(struct emu_dec *d, const struct ptx_inst *in, bool reduce)
{
	struct emu_bulk *k = new_bulk(d);
	unsigned n = 3;

	k->out = ptx_has(in, MOD_BULK_GROUP);
	k->counted = !k->out;
	k->multicast = ptx_has(in, MOD_MULTICAST_CLUSTER);
	k->byte_mask = ptx_has(in, MOD_CP_MASK);
	n += k->counted;
	n += k->multicast + k->byte_mask + ptx_has(in, MOD_L2_CACHE_HINT);
	if (in->nops != n || (k->multicast && k->byte_mask) ||
	    !emu_dec_addr(d, &in->ops[0], k->out ? SPACE_GLOBAL : SPACE_SHARED, &k->to) ||
	    !emu_dec_addr(d, &in->ops[1], k->out || !ptx_has(in, MOD_GLOBAL) ? SPACE_SHARED :
			  SPACE_GLOBAL, &k->from) ||
	    (k->counted && !emu_dec_addr(d, &in->ops[3], SPACE_SHARED, &k->mbar)))
		return bad(d);
	k->bytes = emu_dec_word(d, &in->ops[2], false);
	if (k->multicast)
		k->mask = emu_dec_word(d, &in->ops[4], false);
	if (k->byte_mask)
		k->mask = emu_dec_word(d, &in->ops[n - 1], false);
	if (reduce && !reduction(d, in, k))
		return false;
	if (k->out || !ptx_has(in, MOD_GLOBAL))
		d->mod->async_reads = true;
	return emit(d, bulk, k);
}

/* [to], value(s) (, [mbarrier]). */
static bool dec_store(struct emu_dec *d, const struct ptx_inst *in, bool reduce)
{
	struct emu_bulk *k = new_bulk(d);

	k->counted = ptx_has(in, MOD_MBARRIER_COMPLETE_TX_BYTES);
	if (in->nops != 2u + k->counted ||
	    !emu_dec_addr(d, &in->ops[0], k->counted ? SPACE_SHARED : ptx_inst_space(in), &k->to) ||
	    (k->counted && !emu_dec_addr(d, &in->ops[2], SPACE_SHARED, &k->mbar)))
		return bad(d);
	if (reduce && !reduction(d, in, k))
		return false;
	k->size = (uint8_t)(ptx_type_bits(in->type) / 8);
	k->n = (uint8_t)emu_dec_words(d, &in->ops[1], false, k->value, 8);
	if (k->n != ptx_inst_vec(in) || k->size > 8)
		return bad(d);
	return emit(d, store, k);
}

bool emu_dec_bulk(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_op *op;

	switch (in->id) {
	case INST_CP_ASYNC_BULK:
		return dec_bulk(d, in, false);
	case INST_CP_REDUCE_ASYNC_BULK:
		return dec_bulk(d, in, true);
	case INST_ST_ASYNC:
	case INST_ST_ASYNC_RELEASE:
		return dec_store(d, in, false);
	case INST_RED_ASYNC:
	case INST_RED_ASYNC_RELEASE:
		return dec_store(d, in, true);
	case INST_CP_ASYNC_BULK_COMMIT_GROUP:
		emu_dec_new(d)->fn = commit;
		return true;
	case INST_CP_ASYNC_BULK_WAIT_GROUP:
		if (in->nops != 1 || in->ops[0].kind == OP_SYM)
			return emu_dec_refuse(d, "a wait for a number of groups that is no constant");
		op = emu_dec_new(d);
		op->fn = wait_group;
		op->kind = ptx_has(in, MOD_READ);
		op->imm = (uint32_t)in->ops[0].ival;
		return true;
	default:
		return false;
	}
}
