/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_mat.c: matrices of a warp: ldmatrix, stmatrix, movmatrix, wmma.load and
 * wmma.store, and handing mma to mma.c.  All lanes of the warp that have not
 * exited take part.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/access.h"
#include "emu/listen.h"
#include "emu/mma.h"

/* ---- ldmatrix, stmatrix: 8x8 matrices of 16-bit elements --------------------------- */

static void tell_rows(struct emu_x *x, const struct emu_gather *g, const struct emu_op *op, uint32_t m,
		      const uint64_t *addr)
{
	struct emu_tell t = emu_tell_of(TELL_ACCESS, x, op, m, x->mask);
	uint64_t bytes[EMU_LANES];
	struct emu_tell_access a = {.base = op->u.mem.base, .addr = addr, .bytes = bytes, .size = 16, .n = 1};

	if (!m || !emu_tells(op))
		return;
	EMU_EACH(l, m)
		bytes[l] = 16;
	t.came = g->came;
	t.u.access = &a;
	emu_tell(&t);
}

/* Addresses of the rows: lane 8 * i + r holds row r of matrix i. */
static bool rows(struct emu_x *x, const struct emu_gather *g, unsigned n, uint8_t **row)
{
	for (unsigned k = 0; k < g->n && !emu_m.fault; k++) {
		const struct emu_part *p = &g->part[k];
		uint64_t a[EMU_LANES];
		struct emu_x v = *x;
		uint32_t done = 0;

		v.base = p->base;
		emu_x_banks(&v);
		EMU_EACH(l, p->mask) {
			if (l >= n * 8)
				break;
			a[l] = emu_addr_of(&v, &p->op->u.mem, l);
			row[l] = emu_at(&v, l, p->op->u.mem.base, a[l], 16);
			if (!row[l]) {
				emu_access_fault(x, p->op, l, a[l], 16, p->op->u.mem.base);
				break;
			}
			done |= 1u << l;
		}
		tell_rows(x, g, p->op, done, a);
	}
	return !emu_m.fault;
}

static bool all_here(struct emu_x *x, const struct emu_op *op, const struct emu_gather *g,
		     unsigned lanes)
{
	uint32_t need = lanes >= EMU_LANES ? EMU_ALL : (1u << lanes) - 1;

	if (!(need & ~g->mask))
		return true;
	emu_fault(x, op, (unsigned)__builtin_ctz(g->mask), CUDA_ERROR_ILLEGAL_INSTRUCTION,
		  "lanes 0x%x of the warp do not take part", need & ~g->mask);
	return false;
}

/* Element that lane l holds as number k of its register: row and column. */
static void place(unsigned l, unsigned k, bool trans, unsigned *r, unsigned *c)
{
	unsigned i = l / 4, j = l % 4 * 2 + k;

	*r = trans ? j : i;
	*c = trans ? i : j;
}

static const struct emu_op *ldmatrix(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint8_t *row[EMU_LANES] = {0};
	struct emu_gather g;

	if (!emu_gather(x, op, m, EMU_ALL, &g) || !all_here(x, op, &g, EMU_LANES) ||
	    !rows(x, &g, op->n, row))
		return NULL;
	for (unsigned i = 0; i < op->n; i++) {
		uint64_t d[EMU_LANES];

		for (unsigned l = 0; l < EMU_LANES; l++) {
			d[l] = 0;
			for (unsigned k = 0; k < 2; k++) {
				unsigned r, c;
				uint16_t e;

				place(l, k, op->imm, &r, &c);
				memcpy(&e, row[i * 8 + r] + c * 2, 2);
				d[l] |= (uint64_t)e << k * 16;
			}
		}
		for (unsigned k = 0; k < g.n; k++)
			emu_write_part(x, &g.part[k], g.part[k].op->o[i], d);
	}
	return op + 1;
}

static const struct emu_op *stmatrix(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint8_t *row[EMU_LANES] = {0};
	struct emu_gather g;

	if (!emu_gather(x, op, m, EMU_ALL, &g) || !all_here(x, op, &g, EMU_LANES) ||
	    !rows(x, &g, op->n, row))
		return NULL;
	for (unsigned i = 0; i < op->n; i++) {
		uint64_t s[EMU_LANES];

		for (unsigned k = 0; k < g.n; k++)
			emu_read_part(x, &g.part[k], g.part[k].op->o[i], s);
		for (unsigned l = 0; l < EMU_LANES; l++) {
			for (unsigned k = 0; k < 2; k++) {
				uint16_t e = (uint16_t)(s[l] >> k * 16);
				unsigned r, c;

				place(l, k, op->imm, &r, &c);
				memcpy(row[i * 8 + r] + c * 2, &e, 2);
			}
		}
	}
	return op + 1;
}

/* movmatrix.trans: an 8x8 matrix in registers, transposed. */
static const struct emu_op *movmatrix(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t s[EMU_LANES], d[EMU_LANES];
	struct emu_gather g;

	if (!emu_gather(x, op, m, EMU_ALL, &g) || !all_here(x, op, &g, EMU_LANES))
		return NULL;
	for (unsigned k = 0; k < g.n; k++)
		emu_read_part(x, &g.part[k], g.part[k].op->o[1], s);
	for (unsigned l = 0; l < EMU_LANES; l++) {
		d[l] = 0;
		for (unsigned k = 0; k < 2; k++) {
			unsigned r, c;

			place(l, k, true, &r, &c);
			d[l] |= (s[r * 4 + c / 2] >> c % 2 * 16 & 0xffff) << k * 16;
		}
	}
	for (unsigned k = 0; k < g.n; k++)
		emu_write_part(x, &g.part[k], g.part[k].op->o[0], d);
	return op + 1;
}

/* ---- wmma.load, wmma.store ------------------------------------------------------------ */

struct emu_tile {
	unsigned elems, bits;           /* of a lane's fragment; of an element */
	bool row_major;
	unsigned leading;               /* elements from row to row where none is given */
	uint8_t row[EMU_LANES][EMU_TILE_ELEMS], col[EMU_LANES][EMU_TILE_ELEMS];
};

static unsigned elem_bytes(const struct emu_tile *t)
{
	return t->bits >= 8 ? t->bits / 8 : 1;
}

static uint64_t stride_of(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	return op->flags & EMU_F_STRIDE ? (uint32_t)emu_get(x, op->o[op->n], l) : op->u.tile.tile->leading;
}

/* Bits behind the matrix's address. */
static uint64_t elem_at(struct emu_x *x, const struct emu_op *op, unsigned l, unsigned e)
{
	const struct emu_tile *t = op->u.tile.tile;
	uint64_t stride = stride_of(x, op, l);

	return t->bits * (t->row_major ? t->row[l][e] * stride + t->col[l][e] :
			  t->col[l][e] * stride + t->row[l][e]);
}

/* Bits of an element, or NULL with a fault. */
static uint8_t *tile_at(struct emu_x *x, const struct emu_op *op, unsigned l, unsigned e,
			unsigned *shift)
{
	uint64_t at = elem_at(x, op, l, e), a = emu_addr_of(x, &op->u.tile.mem, l) + at / 8;
	unsigned bytes = elem_bytes(op->u.tile.tile);
	uint8_t *p = emu_at(x, l, op->u.tile.mem.base, a, bytes);

	*shift = (unsigned)(at & 7);
	if (!p)
		emu_access_fault(x, op, l, a, bytes, op->u.tile.mem.base);
	return p;
}

static bool tile_load(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_tile *t = op->u.tile.tile;
	uint64_t reg[64] = {0};

	for (unsigned e = 0; e < t->elems; e++) {
		unsigned shift, per = t->bits >= 32 ? 1 : 32 / t->bits;
		uint8_t *p = tile_at(x, op, l, e, &shift);
		uint64_t v = 0;

		if (!p)
			return false;
		if (t->bits >= 8)
			memcpy(&v, p, t->bits / 8);
		else
			v = (uint64_t)*p >> shift & ((1u << t->bits) - 1);
		reg[e / per] |= v << e % per * t->bits;
	}
	for (unsigned i = 0; i < op->n; i++)
		emu_set(x, op->o[i], l, reg[i]);
	return true;
}

static bool tile_store(struct emu_x *x, const struct emu_op *op, unsigned l)
{
	const struct emu_tile *t = op->u.tile.tile;

	for (unsigned e = 0; e < t->elems; e++) {
		unsigned shift, per = t->bits >= 32 ? 1 : 32 / t->bits;
		uint8_t *p = tile_at(x, op, l, e, &shift);
		uint64_t v = emu_get(x, op->o[e / per], l) >> e % per * t->bits;

		if (!p)
			return false;
		memcpy(p, &v, t->bits / 8);
	}
	return true;
}

/* Where the elements of an instruction are, for who listens: its registers may be those of
 * the address. */
static struct {
	uint64_t addr[EMU_LANES], bytes[EMU_LANES], stride[EMU_LANES], elem[EMU_LANES][EMU_TILE_ELEMS];
} where;

static void note_tile(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_tile *k = op->u.tile.tile;

	EMU_EACH(l, m) {
		where.addr[l] = emu_addr_of(x, &op->u.tile.mem, l);
		where.bytes[l] = (uint64_t)elem_bytes(k) * k->elems;
		where.stride[l] = stride_of(x, op, l);
		for (unsigned e = 0; e < k->elems; e++)
			where.elem[l][e] = where.addr[l] + elem_at(x, op, l, e) / 8;
	}
}

static void tell_tile(struct emu_x *x, const struct emu_gather *g, const struct emu_op *op, uint32_t m)
{
	const struct emu_tile *k = op->u.tile.tile;
	struct emu_tell t = emu_tell_of(TELL_ACCESS, x, op, m, x->mask);
	struct emu_tell_access a = {
		.base = op->u.tile.mem.base, .addr = where.addr, .bytes = where.bytes, .size = elem_bytes(k),
		.n = k->elems, .elem = (const uint64_t (*)[EMU_TILE_ELEMS])where.elem, .stride = where.stride
	};

	t.came = g->came;
	t.u.access = &a;
	emu_tell(&t);
}

static const struct emu_op *tile(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_gather g;

	if (!emu_gather(x, op, m, EMU_ALL, &g) || !all_here(x, op, &g, EMU_LANES))
		return NULL;
	for (unsigned k = 0; k < g.n && !emu_m.fault; k++) {
		const struct emu_part *p = &g.part[k];
		bool tells = emu_tells(p->op);
		struct emu_x v = *x;
		uint32_t done = 0;

		v.base = p->base;
		emu_x_banks(&v);
		if (tells)
			note_tile(&v, p->op, p->mask);
		EMU_EACH(l, p->mask) {
			if (!(op->kind ? tile_store(&v, p->op, l) : tile_load(&v, p->op, l)))
				break;
			done |= 1u << l;
		}
		if (tells && done)
			tell_tile(&v, &g, p->op, done);
	}
	if (!emu_m.fault)
		return op + 1;
	x->why = WHY_FAULT;
	return NULL;
}

/* ---- mma ---------------------------------------------------------------------------------- */

static unsigned words(const struct emu_mma *mma, unsigned n)
{
	return mma->wide ? n / 2 : n;
}

static void fragment(struct emu_x *x, const struct emu_gather *g, const struct emu_mma *mma,
		     unsigned first, unsigned n, uint32_t (*f)[EMU_LANES])
{
	for (unsigned i = 0; i < words(mma, n); i++) {
		uint64_t row[EMU_LANES] = {0};

		for (unsigned k = 0; k < g->n; k++)
			emu_read_part(x, &g->part[k], g->part[k].op->o[first + i], row);
		for (unsigned l = 0; l < EMU_LANES; l++) {
			if (mma->wide) {
				f[2 * i][l] = (uint32_t)row[l];
				f[2 * i + 1][l] = (uint32_t)(row[l] >> 32);
			} else {
				f[i][l] = (uint32_t)row[l];
			}
		}
	}
}

static const struct emu_op *mma(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_mma *how = op->u.mma;
	unsigned nd = words(how, how->nd), na = words(how, how->na), nb = words(how, how->nb);
	uint32_t a[32][EMU_LANES], b[32][EMU_LANES], c[32][EMU_LANES], d[32][EMU_LANES];
	struct emu_gather g;

	if (!emu_gather(x, op, m, EMU_ALL, &g) || !all_here(x, op, &g, EMU_LANES))
		return NULL;
	fragment(x, &g, how, nd, how->na, a);
	fragment(x, &g, how, nd + na, how->nb, b);
	fragment(x, &g, how, nd + na + nb, how->nc, c);
	emu_mma_eval(how, d, (const uint32_t (*)[EMU_LANES])a, (const uint32_t (*)[EMU_LANES])b,
		     (const uint32_t (*)[EMU_LANES])c);
	for (unsigned i = 0; i < nd; i++) {
		uint64_t row[EMU_LANES];

		for (unsigned l = 0; l < EMU_LANES; l++)
			row[l] = how->wide ? d[2 * i][l] | (uint64_t)d[2 * i + 1][l] << 32 : d[i][l];
		for (unsigned k = 0; k < g.n; k++)
			emu_write_part(x, &g.part[k], g.part[k].op->o[i], row);
	}
	return op + 1;
}

/* ---- decoding ------------------------------------------------------------------------------- */

static bool dec_mma(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_mma *how = ptx_alloc(d->arena, sizeof *how);
	struct emu_opnd o[128];
	struct emu_op *op;
	unsigned n = 0;

	if (!emu_mma_decode(in, how, &d->why)) {
		if (!d->why)
			d->why = "a matrix product that is not emulated";
		return false;
	}
	for (unsigned i = 0; i < in->nops && i < 4; i++)
		n += emu_dec_words(d, &in->ops[i], i == 0, o + n, 128 - n);
	if (n != words(how, how->nd) + words(how, how->na) + words(how, how->nb) +
		 words(how, how->nc))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	op = emu_dec_new(d);
	op->fn = mma;
	op->u.mma = how;
	op->o = emu_dec_keep(d, o, n);
	return true;
}

static bool dec_tile(struct emu_dec *d, const struct ptx_inst *in, bool store)
{
	struct emu_tile *t = ptx_alloc(d->arena, sizeof *t);
	unsigned row, col, bits, n, rows_ = 0, cols = 0;
	struct emu_opnd o[40];
	struct emu_addr mem;
	struct emu_op *op;

	if (in->nops < 2 || !emu_dec_addr(d, &in->ops[store ? 0 : 1], ptx_inst_space(in), &mem))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	for (unsigned l = 0; l < EMU_LANES; l++) {
		for (unsigned e = 0; e < 64; e++) {
			if (!emu_wmma_elem(in, l, e, &row, &col, &bits))
				break;
			t->elems = e + 1;
			t->bits = bits;
			t->row[l][e] = (uint8_t)row;
			t->col[l][e] = (uint8_t)col;
			rows_ = row + 1 > rows_ ? row + 1 : rows_;
			cols = col + 1 > cols ? col + 1 : cols;
		}
	}
	n = emu_dec_words(d, &in->ops[store ? 1 : 0], !store, o, 32);
	if (!t->elems || (store && t->bits < 8) ||
	    n != (t->bits >= 32 ? t->elems : (t->elems * t->bits + 31) / 32))
		return emu_dec_refuse(d, "a fragment that is not emulated");
	t->row_major = ptx_has(in, MOD_ROW);
	t->leading = t->row_major ? cols : rows_;
	if (in->nops > 2)
		o[n] = emu_dec_word(d, &in->ops[2], false);
	op = emu_dec_new(d);
	op->fn = tile;
	op->kind = store;
	op->n = (uint8_t)n;
	if (in->nops > 2)
		op->flags |= EMU_F_STRIDE;
	op->flags |= EMU_F_ACCESS;
	op->u.tile.mem = mem;
	op->u.tile.tile = t;
	op->o = emu_dec_keep(d, o, n + (in->nops > 2));
	return true;
}

static bool dec_matrix(struct emu_dec *d, const struct ptx_inst *in, bool store)
{
	unsigned n = ptx_has(in, MOD_X4) ? 4 : ptx_has(in, MOD_X2) ? 2 : 1;
	struct emu_opnd o[8];
	struct emu_addr mem;
	struct emu_op *op;

	if (!ptx_has(in, MOD_M8N8) || !ptx_has(in, MOD_B16))
		return emu_dec_refuse(d, "a shape of matrix that is not emulated");
	if (in->nops != 2 || !emu_dec_addr(d, &in->ops[store ? 0 : 1],
					   ptx_inst_space(in), &mem) ||
	    emu_dec_words(d, &in->ops[store ? 1 : 0], !store, o, 8) != n)
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	op = emu_dec_new(d);
	op->fn = store ? stmatrix : ldmatrix;
	op->flags |= EMU_F_ACCESS;
	op->n = (uint8_t)n;
	op->imm = ptx_has(in, MOD_TRANS);
	op->u.mem = mem;
	op->o = emu_dec_keep(d, o, n);
	return true;
}

bool emu_dec_mat(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_opnd o[2];
	struct emu_op *op;

	switch (in->id) {
	case INST_MMA:
	case INST_WMMA_MMA:
		return dec_mma(d, in);
	case INST_WMMA_LOAD:
		return dec_tile(d, in, false);
	case INST_WMMA_STORE:
		return dec_tile(d, in, true);
	case INST_LDMATRIX:
		return dec_matrix(d, in, false);
	case INST_STMATRIX:
		return dec_matrix(d, in, true);
	case INST_MOVMATRIX:
		if (in->nops != 2)
			return emu_dec_refuse(d, "operands that do not fit the instruction");
		o[0] = emu_dec_word(d, &in->ops[0], true);
		o[1] = emu_dec_word(d, &in->ops[1], false);
		op = emu_dec_new(d);
		op->fn = movmatrix;
		op->o = emu_dec_keep(d, o, 2);
		return true;
	default:
		return false;
	}
}
