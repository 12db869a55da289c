/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_tensor.c: cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, and what
 * changes tensor maps: tensormap.replace, tensormap.cp_fenceproxy and the fence of
 * the tensor map's proxy.
 *
 * Maps are read in a proxy of their own: one that was used before may be seen as it
 * was then, by the seed, until a fence acquires it.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"
#include "emu/tmap.h"

struct emu_tensor {
	struct emu_addr map, smem, mbar;
	uint8_t rank;
	bool out, multicast, pair, im2col, four;
	uint8_t reduce;
	struct emu_opnd at[5], offset[3], mask;
};

/* ---- maps as they were seen ---------------------------------------------------------------- */

struct seen { uint64_t a; struct emu_tmap map; };
static struct seen *seen;
static unsigned nseen, capseen;

static struct seen *find(uint64_t a)
{
	for (unsigned i = 0; i < nseen; i++)
		if (seen[i].a == a)
			return &seen[i];
	return NULL;
}

void emu_tmap_forget(void)
{
	nseen = 0;
}

static void look_again(uint64_t a)
{
	struct seen *s = find(a);

	if (s)
		*s = seen[--nseen];
}

static void read_map(uint64_t a, const void *p, struct emu_tmap *out)
{
	struct seen *s = find(a);

	memcpy(out, p, sizeof *out);
	if (!emu_m.seed)
		return;
	if (s && memcmp(&s->map, out, sizeof *out) && emu_async_chance(8)) {
		*out = s->map;
		return;
	}
	if (!s) {
		if (nseen == capseen) {
			capseen = capseen ? capseen * 2 : 16;
			seen = realloc(seen, capseen * sizeof *seen);
			if (!seen)
				abort();
		}
		s = &seen[nseen++];
	}
	s->a = a;
	s->map = *out;
}

/* The 128 bytes at an address, which may be a parameter of the kernel. */
static uint8_t *map_at(struct emu_x *x, const struct emu_op *op, const struct emu_addr *mem,
		       unsigned l, unsigned align, uint64_t *a)
{
	struct emu_block *owner;

	*a = emu_addr_of(x, mem, l);
	if (*a & (align - 1)) {
		emu_access_fault(x, op, l, *a, align, mem->base);
		return NULL;
	}
	return emu_range(x, op, l, mem->base, *a, 128, 16, &owner);
}

/* ---- copies ------------------------------------------------------------------------------------ */

struct walk {
	struct emu_x *x;
	const struct emu_op *op;
	struct emu_async *a;
	struct emu_box *box;
	uint8_t *smem;
	unsigned lane;
};

static bool piece(void *arg, uint32_t off, uint64_t global, uint32_t n)
{
	struct walk *w = arg;
	uint8_t *p = emu_view(global), fill[128];

	if (!global) {
		emu_tmap_fill(w->box->map, fill, n);
		emu_async_bytes(w->a, fill, w->smem + off, n);
		return true;
	}
	if (!emu_mem_range_open(global, n)) {
		emu_fault(w->x, w->op, w->lane, CUDA_ERROR_ILLEGAL_ADDRESS,
			  "the tensor map leads to 0x%llx, which is no memory",
			  (unsigned long long)global);
		return false;
	}
	if (w->box->load)
		emu_async_piece(w->a, p, w->smem + off, n);
	else
		emu_async_piece(w->a, w->smem + off, p, n);
	return true;
}

/* PTX types of the elements, for reductions. */
static enum ptx_type elem_type(const struct emu_tmap *t)
{
	static const uint8_t types[TMAP_ELEMS] = {
		TYPE_NONE, TYPE_NONE, TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64, TYPE_F16, TYPE_F32,
		TYPE_F32, TYPE_F64, TYPE_BF16, TYPE_F32, TYPE_F32
	};

	return types[t->elem];
}

static const char *mode_wrong(const struct emu_tensor *k, const struct emu_tmap *t)
{
	const char *why = emu_tmap_wrong(t);

	if (why)
		return why;
	if (k->four ? t->mode != TMAP_TILED || t->rank != 2 || t->box[1] != 1 : t->rank != k->rank)
		return "a tensor map of another rank than the instruction's";
	if (k->im2col != (t->mode == TMAP_IM2COL))
		return "a tensor map of another mode than the instruction's";
	if (k->reduce && elem_type(t) == TYPE_NONE)
		return "a tensor map of elements that cannot be reduced";
	return NULL;
}

/* The box of lane l, as the map at `p` or an older one says; false: a fault. */
static bool box_of(struct emu_x *x, const struct emu_op *op, unsigned l, struct emu_tmap *map,
		   struct emu_box *box)
{
	const struct emu_tensor *k = op->u.tensor;
	static int64_t rows[4];
	const char *why = mode_wrong(k, map);

	*box = (struct emu_box){.map = map, .load = !k->out, .bytes = piece};
	for (unsigned i = 0; i < k->rank; i++)
		box->at[i] = (int32_t)emu_get(x, k->at[i], l);
	for (unsigned i = 0; k->im2col && !k->out && i + 2 < k->rank; i++)
		box->offset[i] = (uint16_t)emu_get(x, k->offset[i], l);
	for (unsigned i = 0; k->four && i < 4; i++)
		rows[i] = (int32_t)emu_get(x, k->at[i + 1], l);
	box->rows = k->four ? rows : NULL;
	if (!why)
		why = emu_box_wrong(box);
	if (why)
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION, "%s", why);
	return !why;
}

/* What lanes store together is one store. */
static void stores(struct emu_x *x, struct emu_async *a, const struct emu_tensor *k, unsigned l, uint64_t smem)
{
	uint64_t operand[7] = {a->map, smem};

	for (unsigned i = 0; i < (k->four ? 5 : k->rank); i++)
		operand[2 + i] = (uint32_t)emu_get(x, k->at[i], l);
	emu_async_stores(a, operand, 7);
}

/* NULL: a fault. */
static struct emu_async *start(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_tensor *k = op->u.tensor;
	struct emu_block *owner;
	struct emu_tmap map;
	struct emu_box box;
	struct walk w = {.x = x, .op = op, .box = &box, .lane = l};
	uint64_t a, s = emu_addr_of(x, &k->smem, l);
	const uint8_t *p = map_at(x, op, &k->map, l, 64, &a);

	if (!p)
		return NULL;
	read_map(a, p, &map);
	if (!box_of(x, op, l, &map, &box))
		return NULL;
	w.smem = emu_range(x, op, l, k->smem.base, s, (emu_box_span(&box) + 127) & ~127u, 128, &owner);
	if (!w.smem)
		return NULL;
	if (!owner || (k->out && owner != x->b)) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_ADDRESS, "an address in the wrong space");
		return NULL;
	}
	box.base = (uint32_t)(w.smem - owner->smem);
	box.arg = &w;
	w.a = emu_async_new(x, op, l);
	w.a->from = k->out ? owner : NULL;
	w.a->reduce = k->reduce;
	w.a->type = (uint8_t)elem_type(&map);
	w.a->size = (uint8_t)emu_tmap_elem_bytes(&map);
	w.a->sys = k->out;
	w.a->map = a;
	if (k->out)
		emu_async_group(w.a);
	if (k->out && !k->reduce)
		stores(x, w.a, k, l, s);
	if (!emu_box_walk(&box) ||
	    !emu_async_land(x, w.a, k->out ? NULL : &k->mbar, k->out ? NULL : owner,
			    k->multicast ? (uint16_t)emu_get(x, k->mask, l) : 0, k->pair)) {
		emu_async_free(w.a);
		return NULL;
	}
	emu_async_start(w.a);
	return w.a;
}

/* As for bulk copies: one UTMASTG is made of stores of the same box. */
static bool again(struct emu_x *x, const struct emu_tensor *k, uint32_t m, unsigned l)
{
	EMU_EACH(e, m & ((1u << l) - 1)) {
		unsigned i = 0, n = k->four ? 5 : k->rank;

		while (i < n && (int32_t)emu_get(x, k->at[i], e) == (int32_t)emu_get(x, k->at[i], l))
			i++;
		if (i == n && emu_addr_of(x, &k->smem, e) == emu_addr_of(x, &k->smem, l) &&
		    emu_addr_of(x, &k->map, e) == emu_addr_of(x, &k->map, l))
			return k->out && !k->reduce;
	}
	return false;
}

/* The instruction that is being carried out, for who listens. */
static struct emu_tell_copy told;

static void note_copy(struct emu_x *x, const struct emu_tensor *k, uint32_t m)
{
	memset(&told, 0, sizeof told);
	told.to_base = told.from_base = k->smem.base;
	told.map_base = k->map.base;
	told.mbar_base = k->mbar.base;
	told.counted = !k->out;
	told.multicast = k->multicast;
	told.rank = k->rank;
	EMU_EACH(l, m) {
		*(k->out ? &told.from[l] : &told.to[l]) = emu_addr_of(x, &k->smem, l);
		told.map[l] = emu_addr_of(x, &k->map, l);
		told.mbar[l] = k->out ? 0 : emu_addr_of(x, &k->mbar, l);
		told.mask[l] = k->multicast ? (uint16_t)emu_get(x, k->mask, l) : 0;
		for (unsigned i = 0; i < (k->four ? 5 : k->rank); i++)
			told.at[l][i] = (int32_t)emu_get(x, k->at[i], l);
		for (unsigned i = 0; k->im2col && !k->out && i + 2 < k->rank; i++)
			told.offset[l][i] = (uint16_t)emu_get(x, k->offset[i], l);
	}
}

/* What they copied; the maps can be looked at now. */
static void tell_copy(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_tell t = emu_tell_of(TELL_COPY, x, op, m, x->mask);

	EMU_EACH(l, m) {
		const struct emu_async *a = told.async[l];

		told.tmap[l] = emu_at(x, l, op->u.tensor->map.base, told.map[l], 16);
		for (unsigned i = 0; a && i < a->n; i++)
			told.bytes[l] += a->piece[i].n;
	}
	t.u.copy = &told;
	emu_tell(&t);
}

static const struct emu_op *tensor(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint32_t done = 0;

	if (emu_tells(op))
		note_copy(x, op->u.tensor, m);
	EMU_EACH(l, m) {
		bool folded = again(x, op->u.tensor, m, l);

		told.folded |= (uint32_t)folded << l;
		told.async[l] = folded ? NULL : start(x, op, l);
		if (emu_m.fault)
			break;
		done |= 1u << l;
	}
	if (done && emu_tells(op))
		tell_copy(x, op, done);
	return emu_m.fault ? NULL : op + 1;
}

/* ---- changing maps ---------------------------------------------------------------------------------- */

/* PTX ISA, "tensormap.replace": the rank is given less one. */
static bool put(struct emu_tmap *t, enum emu_tmap_field f, uint32_t ord, uint64_t v)
{
	switch (f) {
	case FIELD_ADDRESS:
		t->address = v;
		return true;
	case FIELD_RANK:
		t->rank = (uint8_t)(v + 1);
		return v < 5;
	case FIELD_BOX_DIM:
		t->box[ord] = (uint16_t)v;
		return v && v <= 256;
	case FIELD_GLOBAL_DIM:
		t->last[ord] = (uint32_t)v - 1;
		return true;
	case FIELD_GLOBAL_STRIDE:
		t->stride[ord] = v;
		return !(v >> 40);
	case FIELD_ELEMENT_STRIDE:
		t->step[ord] = (uint8_t)v;
		return v && v <= 8;
	case FIELD_ELEMTYPE:
		t->elem = (uint8_t)v;
		return v < 16;
	case FIELD_INTERLEAVE:
		t->interleave = (uint8_t)v;
		return v < 3;
	case FIELD_SWIZZLE:
		t->swizzle = (uint8_t)v;
		return v < 4;
	case FIELD_ATOMICITY:
		t->atomicity = (uint8_t)v;
		return v < 4;
	case FIELD_FILL:
		t->fill = (uint8_t)v;
		return v < 2;
	}
	return false;
}

/* Compilers make maps of nothing: 128 bytes of zeros, and then each field. */
static bool blank(const struct emu_tmap *t)
{
	static const struct emu_tmap zero;

	return !memcmp(t, &zero, sizeof zero);
}

/* What replace() did, by lane. */
static struct { uint64_t addr[EMU_LANES], value[EMU_LANES]; struct emu_tmap before[EMU_LANES], after[EMU_LANES]; } replaced;

static bool replace_one(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	struct emu_tmap t;
	uint64_t a, v = emu_get(x, op->o[0], l);
	uint8_t *p = map_at(x, op, &op->u.mem, l, 64, &a);

	if (!p)
		return false;
	memcpy(&t, p, sizeof t);
	replaced.before[l] = t;
	if (blank(&t)) {
		t.magic = EMU_TMAP_MAGIC;
		t.mode = TMAP_TILED;
	}
	if (t.magic != EMU_TMAP_MAGIC) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
			  "there is no tensor map at 0x%llx", (unsigned long long)a);
		return false;
	}
	if (op->kind != FIELD_ADDRESS && op->kind != FIELD_GLOBAL_STRIDE)
		v = (uint32_t)v;
	if (!put(&t, op->kind, op->imm, v)) {
		emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_INSTRUCTION,
			  "a tensor map cannot have 0x%llx there", (unsigned long long)v);
		return false;
	}
	memcpy(p, &t, sizeof t);
	replaced.addr[l] = a;
	replaced.value[l] = v;
	replaced.after[l] = t;
	return true;
}

static void tell_replace(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_tell t = emu_tell_of(TELL_TMAP_REPLACE, x, op, m, x->mask);
	struct emu_tell_replace r = {
		.base = op->u.mem.base, .addr = replaced.addr, .field = op->kind, .ordinal = op->imm,
		.value = replaced.value, .before = replaced.before, .after = replaced.after
	};

	t.u.replace = &r;
	emu_tell(&t);
}

/* o[]: the new value.  kind: the field; imm: which dimension. */
static const struct emu_op *replace(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint32_t done = 0;

	EMU_EACH(l, m) {
		if (!replace_one(x, op, l))
			break;
		done |= 1u << l;
	}
	if (done && emu_tells(op))
		tell_replace(x, op, done);
	return emu_m.fault ? NULL : op + 1;
}

/* tensormap.cp_fenceproxy: all lanes of the warp copy the same 128 bytes. */
static const struct emu_op *cp_fenceproxy(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_tensor *k = op->u.tensor;
	struct emu_gather g;
	uint64_t to = 0, from = 0;
	uint8_t *d = NULL;

	if (!emu_gather(x, op, m, EMU_ALL, &g))
		return NULL;
	for (unsigned i = 0; i < g.n; i++) {
		const struct emu_part *part = &g.part[i];
		struct emu_x v = *x;

		v.base = part->base;
		emu_x_banks(&v);
		EMU_EACH(l, part->mask) {
			const uint8_t *s;

			d = map_at(&v, part->op, &k->map, l, 128, &to);
			s = d ? map_at(&v, part->op, &k->smem, l, 128, &from) : NULL;
			if (!s) {
				x->why = WHY_FAULT;
				return NULL;
			}
			memcpy(d, s, 128);
		}
	}
	if (emu_tells(op)) {
		struct emu_tell t = emu_tell_of(TELL_TMAP_COPY, x, op, g.mask, x->mask);
		struct emu_tell_tmap_copy c = {
			.to_base = k->map.base, .from_base = k->smem.base, .to = to, .from = from,
			.tmap = (const struct emu_tmap *)(const void *)d
		};

		t.came = g.came;
		t.u.tmap_copy = &c;
		emu_tell(&t);
	}
	return op + 1;
}

/* It accesses nothing: warps without a map run it for address 0. */
static const struct emu_op *fence(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m)
		look_again(emu_addr_of(x, &op->u.mem, l));
	return op + 1;
}

/* ---- decoding ------------------------------------------------------------------------------------------ */

static bool bad(struct emu_dec *d)
{
	return emu_dec_refuse(d, "operands that do not fit the instruction");
}

/* [map, {coordinates}] */
static bool dec_map(struct emu_dec *d, const struct ptx_operand *p, struct emu_tensor *k)
{
	struct ptx_operand base = *p;
	unsigned want = k->four ? 5 : k->rank;

	if (p->kind != OP_ADDR || p->n != 2)
		return bad(d);
	base.n = 1;
	return emu_dec_addr(d, &base, SPACE_NONE, &k->map) &&
	       (emu_dec_words(d, &p->list[1], false, k->at, 5) == want || bad(d));
}

static unsigned rank_of(const struct ptx_inst *in)
{
	static const enum ptx_mod ranks[] = {MOD_1D, MOD_2D, MOD_3D, MOD_4D, MOD_5D};

	for (unsigned i = 0; i < 5; i++)
		if (ptx_has(in, ranks[i]))
			return i + 1;
	return 0;
}

static bool emit(struct emu_dec *d, emu_op_fn *fn, struct emu_tensor *k)
{
	struct emu_op *op = emu_dec_new(d);

	op->fn = fn;
	op->u.tensor = k;
	return true;
}

/* [to], [map], [mbarrier] (, {offsets}) (, blocks) (, policy);  [map], [from] (, policy). */
static bool dec_tensor(struct emu_dec *d, const struct ptx_inst *in, bool reduce)
{
	struct emu_tensor *k = ptx_alloc(d->arena, sizeof *k);
	unsigned n, hint = ptx_has(in, MOD_L2_CACHE_HINT);
	uint8_t kind;

	memset(k, 0, sizeof *k);
	k->out = ptx_has(in, MOD_BULK_GROUP);
	k->rank = (uint8_t)rank_of(in);
	k->four = ptx_has(in, MOD_TILE_GATHER4) || ptx_has(in, MOD_TILE_SCATTER4);
	k->im2col = ptx_has(in, MOD_IM2COL) || ptx_has(in, MOD_IM2COL_NO_OFFS);
	k->multicast = ptx_has(in, MOD_MULTICAST_CLUSTER);
	k->pair = ptx_has(in, MOD_CTA_GROUP_2);
	if (ptx_has(in, MOD_IM2COL_W) || ptx_has(in, MOD_IM2COL_W_128))
		return emu_dec_refuse(d, "the wide im2col mode, which is not emulated");
	if (!k->rank || (k->four && k->rank != 2) || (k->im2col && k->rank < 3))
		return emu_dec_refuse(d, "a tensor copy of no rank that there is");
	if (reduce) {
		if (!emu_atom_kind(in, &kind))
			return emu_dec_refuse(d, "a reduction that is not emulated");
		k->reduce = kind + 1;
	}
	if (k->out) {
		if (in->nops != 2 + hint || !dec_map(d, &in->ops[0], k) ||
		    !emu_dec_addr(d, &in->ops[1], SPACE_SHARED, &k->smem))
			return d->why ? false : bad(d);
		d->mod->async_reads = true;
		return emit(d, tensor, k);
	}
	n = 3;
	if (in->nops != n + k->im2col + k->multicast + hint ||
	    !emu_dec_addr(d, &in->ops[0], SPACE_SHARED, &k->smem) || !dec_map(d, &in->ops[1], k) ||
	    !emu_dec_addr(d, &in->ops[2], SPACE_SHARED, &k->mbar))
		return d->why ? false : bad(d);
	if (k->im2col && emu_dec_words(d, &in->ops[n++], false, k->offset, 3) != k->rank - 2u)
		return bad(d);
	if (k->multicast)
		k->mask = emu_dec_word(d, &in->ops[n], false);
	return emit(d, tensor, k);
}

static bool dec_replace(struct emu_dec *d, const struct ptx_inst *in)
{
	static const enum ptx_mod fields[] = {
		MOD_GLOBAL_ADDRESS, MOD_RANK, MOD_BOX_DIM, MOD_GLOBAL_DIM, MOD_GLOBAL_STRIDE,
		MOD_ELEMENT_STRIDE, MOD_ELEMTYPE, MOD_INTERLEAVE_LAYOUT, MOD_SWIZZLE_MODE,
		MOD_SWIZZLE_ATOMICITY, MOD_FILL_MODE
	};
	bool shared = ptx_has(in, MOD_SHARED_CTA);
	struct emu_addr mem;
	struct emu_opnd o;
	struct emu_op *op;
	unsigned f = 0, ordered;

	while (f < sizeof fields / sizeof *fields && !ptx_has(in, fields[f]))
		f++;
	ordered = f >= FIELD_BOX_DIM && f <= FIELD_ELEMENT_STRIDE;
	if (f > FIELD_FILL || in->nops != 2 + ordered || (ordered && (in->ops[1].kind == OP_SYM ||
	    in->ops[1].ival > (f == FIELD_GLOBAL_STRIDE ? 3 : 4))) ||
	    !emu_dec_addr(d, &in->ops[0], shared ? SPACE_SHARED : ptx_has(in, MOD_GLOBAL) ?
			  SPACE_GLOBAL : SPACE_NONE, &mem))
		return d->why ? false : bad(d);
	o = emu_dec_word(d, &in->ops[1 + ordered], false);
	op = emu_dec_new(d);
	op->fn = replace;
	op->kind = (uint8_t)f;
	op->imm = ordered ? (uint32_t)in->ops[1].ival : 0;
	op->u.mem = mem;
	op->o = emu_dec_keep(d, &o, 1);
	return true;
}

bool emu_dec_tensor(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_tensor *k;
	struct emu_addr mem;
	struct emu_op *op;

	switch (in->id) {
	case INST_CP_ASYNC_BULK_TENSOR:
		return dec_tensor(d, in, false);
	case INST_CP_REDUCE_ASYNC_BULK_TENSOR:
		return dec_tensor(d, in, true);
	case INST_TENSORMAP_REPLACE:
		return dec_replace(d, in);
	case INST_TENSORMAP_CP_FENCEPROXY:
		k = ptx_alloc(d->arena, sizeof *k);
		memset(k, 0, sizeof *k);
		if (in->nops != 3 || in->ops[2].kind == OP_SYM || in->ops[2].ival != 128 ||
		    !emu_dec_addr(d, &in->ops[0], SPACE_GLOBAL, &k->map) ||
		    !emu_dec_addr(d, &in->ops[1], SPACE_SHARED, &k->smem))
			return d->why ? false : bad(d);
		return emit(d, cp_fenceproxy, k);
	case INST_FENCE_PROXY_TENSORMAP_GENERIC:
		if (!ptx_has(in, MOD_ACQUIRE)) {
			emu_dec_new(d)->fn = emu_op_nop;
			return true;
		}
		if (in->nops != 2 || !emu_dec_addr(d, &in->ops[0], SPACE_NONE, &mem))
			return d->why ? false : bad(d);
		op = emu_dec_new(d);
		op->fn = fence;
		op->u.mem = mem;
		return true;
	default:
		return false;
	}
}
