/* SPDX-License-Identifier: Apache-2.0
 *
 * mma.c: mma.sync and wmma: where the elements of fragments lie, and the
 * products.
 *
 * All shapes but the four-fold m8n8k4 follow one pattern.  A lane is (group,
 * tid) = (lane / 4, lane % 4), a unit is what fills a 32-bit register (or one
 * .f64).  A unit of A or B holds elements with successive k, tid choosing which;
 * the group chooses the row of A or the column of B.  Rows come in pairs eight
 * apart, columns of B and C in blocks of eight.
 */
#include "emu/mma.h"

#include <math.h>
#include <string.h>

#include "emu/half.h"
#include "ptxparse/ptx.h"

enum { LANES = 32, MAX_M = 32, MAX_N = 32, MAX_K = 256, MAX_FLOAT_K = 32 };

struct place {
	unsigned row, col;
};

static unsigned type_bits(enum emu_mma_type t)
{
	switch (t) {
	case MMA_F64:
		return 64;
	case MMA_TF32: case MMA_F32: case MMA_S32:
		return 32;
	case MMA_F16: case MMA_BF16:
		return 16;
	case MMA_E4M3: case MMA_E5M2: case MMA_E3M2: case MMA_E2M3: case MMA_E2M1:
	case MMA_S8: case MMA_U8:
		return 8;
	case MMA_S4: case MMA_U4:
		return 4;
	case MMA_B1:
		break;
	}
	return 1;
}

/* Elements in a unit. */
static unsigned per_unit(enum emu_mma_type t)
{
	return t == MMA_F64 ? 1 : 32 / type_bits(t);
}

/* ---- fragments ------------------------------------------------------------------- */

/* Distinct elements that a lane holds of a rows x cols matrix. */
static unsigned lane_elems(unsigned rows, unsigned cols)
{
	return rows * cols / LANES;
}

/* Element i of a lane's fragment of A, m x k. */
static struct place place_a(const struct emu_mma *o, unsigned lane, unsigned i)
{
	const unsigned group = lane / 4, tid = lane % 4, e = per_unit(o->at);
	const unsigned unit = i / e, within = i % e;
	struct place p;

	if (o->m == 8) {
		p.row = group;
		p.col = unit * 4 * e + tid * e + within;
	} else {
		const unsigned per_block = 2 * o->k / (4 * e), u = unit % per_block;

		p.row = unit / per_block * 16 + group + 8 * (u & 1);
		p.col = (u >> 1) * 4 * e + tid * e + within;
	}
	return p;
}

/* Element i of a lane's fragment of B, k x n. */
static struct place place_b(const struct emu_mma *o, unsigned lane, unsigned i)
{
	const unsigned group = lane / 4, tid = lane % 4, e = per_unit(o->bt);
	const unsigned unit = i / e, per_block = o->k / (4 * e);

	return (struct place){
		.row = unit % per_block * 4 * e + tid * e + i % e,
		.col = unit / per_block * 8 + group,
	};
}

/* Element i of a lane's fragment of C or D, m x n. */
static struct place place_c(const struct emu_mma *o, unsigned lane, unsigned i)
{
	const unsigned group = lane / 4, tid = lane % 4;
	const unsigned per_tile = o->m == 8 ? 2 : 4, tile = i / per_tile, in = i % per_tile;
	const unsigned tiles_n = o->n / 8;

	return (struct place){
		.row = tile / tiles_n * 16 + group + 8 * (in >> 1),
		.col = tile % tiles_n * 8 + tid * 2 + (in & 1),
	};
}

/* mma.m8n8k4 of .f16: lanes 4q..4q+3 and 16+4q..16+4q+3 work on product q. */
static struct place quad_a(const struct emu_mma *o, unsigned lane, unsigned i)
{
	const unsigned half = lane < 16 ? 0 : 4;

	return o->arow ? (struct place){ lane % 4 + half, i } : (struct place){ i + half, lane % 4 };
}

static struct place quad_b(const struct emu_mma *o, unsigned lane, unsigned i)
{
	const unsigned half = lane < 16 ? 0 : 4;

	return o->brow ? (struct place){ lane % 4, i + half } : (struct place){ i, lane % 4 + half };
}

static struct place quad_c(enum emu_mma_type t, unsigned lane, unsigned i)
{
	const unsigned half = lane < 16 ? 0 : 4;

	if (t == MMA_F16)
		return (struct place){ lane % 4 + half, i };
	return (struct place){ (lane & 1) + (i & 2) + half, (i & 4) + (lane & 2) + (i & 1) };
}

/* ---- elements ----------------------------------------------------------------------- */

static uint64_t get_bits(const uint32_t (*regs)[LANES], unsigned lane, unsigned i, unsigned bits)
{
	if (bits == 64)
		return (uint64_t)regs[2 * i + 1][lane] << 32 | regs[2 * i][lane];
	if (bits == 32)
		return regs[i][lane];
	return regs[i * bits / 32][lane] >> (i * bits % 32) & ((1u << bits) - 1);
}

static void put_bits(uint32_t (*regs)[LANES], unsigned lane, unsigned i, unsigned bits, uint64_t v)
{
	const unsigned shift = i * bits % 32;

	if (bits == 64) {
		regs[2 * i][lane] = (uint32_t)v;
		regs[2 * i + 1][lane] = (uint32_t)(v >> 32);
	} else if (bits == 32) {
		regs[i][lane] = (uint32_t)v;
	} else {
		/* Elements come in order; the first one sets the whole register. */
		uint32_t *r = &regs[i * bits / 32][lane];

		*r = (shift ? *r : 0) | (uint32_t)v << shift;
	}
}

static double of_format(enum fp_format f, uint64_t bits)
{
	const struct fp_num n = fp_unpack(f, bits);

	if (n.kind == FPK_NAN)
		return (double)NAN;
	if (n.kind == FPK_INF)
		return n.sign ? -(double)INFINITY : (double)INFINITY;
	return copysign(n.kind == FPK_ZERO ? 0.0 : ldexp((double)n.mant, n.exp), n.sign ? -1.0 : 1.0);
}

static float f32_of_bits(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static double float_elem(enum emu_mma_type t, uint64_t v)
{
	double f;

	switch (t) {
	case MMA_F16: return half_to_f32((uint16_t)v);
	case MMA_BF16: return bf16_to_f32((uint16_t)v);
	case MMA_F32: return f32_of_bits((uint32_t)v);
	case MMA_TF32: return f32_of_bits((uint32_t)v & 0xffffe000u);   /* low bits are ignored */
	case MMA_E4M3: return of_format(FP_E4M3, v);
	case MMA_E5M2: return of_format(FP_E5M2, v);
	case MMA_E3M2: return of_format(FP_E3M2, v);
	case MMA_E2M3: return of_format(FP_E2M3, v);
	case MMA_E2M1: return of_format(FP_E2M1, v >> 2);               /* the middle of a byte */
	case MMA_F64:
		memcpy(&f, &v, sizeof f);
		return f;
	case MMA_S32: case MMA_S8: case MMA_U8: case MMA_S4: case MMA_U4: case MMA_B1:
		break;
	}
	return 0;
}

static int64_t int_elem(enum emu_mma_type t, uint64_t v)
{
	switch (t) {
	case MMA_S32: return (int32_t)(uint32_t)v;
	case MMA_S8: return (int8_t)(uint8_t)v;
	case MMA_S4: return (int64_t)(v ^ 8) - 8;
	default: return (int64_t)v;
	}
}

static uint64_t float_result(enum emu_mma_type t, double v)
{
	uint64_t u;
	uint32_t w;
	float f;

	if (t == MMA_F16)
		return half_of_f64(v);
	if (t == MMA_F64) {
		memcpy(&u, &v, sizeof u);
		return u;
	}
	f = (float)v;
	if (f != f)
		return 0x7fffffff;
	memcpy(&w, &f, sizeof w);
	return w;
}

unsigned emu_mma_bits(enum emu_mma_type t)
{
	return type_bits(t);
}

double emu_mma_value(enum emu_mma_type t, uint64_t v)
{
	switch (t) {
	case MMA_S32: case MMA_S8: case MMA_U8: case MMA_S4: case MMA_U4: case MMA_B1:
		return (double)int_elem(t, v);
	default:
		return float_elem(t, v);
	}
}

/* Sums of products of bytes are exact in a double. */
uint64_t emu_mma_bits_of(enum emu_mma_type t, double v, bool satfinite)
{
	if (t != MMA_S32)
		return float_result(t, v);
	if (satfinite)
		v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
	return (uint32_t)(int64_t)v;
}

/* ---- products ------------------------------------------------------------------------- */

static bool is_float(const struct emu_mma *o)
{
	return o->dt != MMA_S32;
}

static double float_dot(const struct emu_mma *o, const double *a, const double *b, double c)
{
	double sum = c;

	if (o->dt == MMA_F64) {
		for (unsigned k = 0; k < o->k; k++)
			sum = fma(a[k], b[k], sum);
	} else {
		for (unsigned k = 0; k < o->k; k++)
			sum += a[k] * b[k];
	}
	return sum;
}

static uint32_t int_dot(const struct emu_mma *o, const int16_t *a, const int16_t *b, int64_t c)
{
	int64_t sum = c;

	for (unsigned k = 0; k < o->k; k++)
		sum += o->at != MMA_B1 ? a[k] * b[k] : o->and_popc ? a[k] & b[k] : a[k] ^ b[k];
	if (o->satfinite)
		sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
	return (uint32_t)sum;
}

/* Rows of A and columns of B. */
struct operands {
	union {
		struct { double a[MAX_M][MAX_FLOAT_K], b[MAX_N][MAX_FLOAT_K]; } f;
		struct { int16_t a[MAX_M][MAX_K], b[MAX_N][MAX_K]; } i;
	} u;
};

static void gather(const struct emu_mma *o, struct operands *x, unsigned lane,
		   const uint32_t (*a)[LANES], const uint32_t (*b)[LANES])
{
	const unsigned na = o->quads ? 4 : lane_elems(o->m, o->k);
	const unsigned nb = o->quads ? 4 : lane_elems(o->k, o->n);

	for (unsigned i = 0; i < na; i++) {
		const struct place p = o->quads ? quad_a(o, lane, i) : place_a(o, lane, i);
		const uint64_t v = get_bits(a, lane, i, type_bits(o->at));

		if (is_float(o))
			x->u.f.a[p.row][p.col] = float_elem(o->at, v);
		else
			x->u.i.a[p.row][p.col] = (int16_t)int_elem(o->at, v);
	}
	for (unsigned i = 0; i < nb; i++) {
		const struct place p = o->quads ? quad_b(o, lane, i) : place_b(o, lane, i);
		const uint64_t v = get_bits(b, lane, i, type_bits(o->bt));

		if (is_float(o))
			x->u.f.b[p.col][p.row] = float_elem(o->bt, v);
		else
			x->u.i.b[p.col][p.row] = (int16_t)int_elem(o->bt, v);
	}
}

/* The elements of D that a lane holds.  Those of C may lie in another lane only in
 * the four-fold shape with C and D of different types; hence `cm`. */
static void results(const struct emu_mma *o, const struct operands *x, const uint64_t (*cm)[MAX_N],
		    unsigned lane, uint32_t (*d)[LANES])
{
	const unsigned n = o->quads ? 8 : lane_elems(o->m, o->n);

	for (unsigned i = 0; i < n; i++) {
		const struct place p = o->quads ? quad_c(o->dt, lane, i) : place_c(o, lane, i);
		const uint64_t c = cm[p.row][p.col];
		uint64_t v;

		if (is_float(o))
			v = float_result(o->dt, float_dot(o, x->u.f.a[p.row], x->u.f.b[p.col],
							  float_elem(o->ct, c)));
		else
			v = int_dot(o, x->u.i.a[p.row], x->u.i.b[p.col], int_elem(o->ct, c));
		put_bits(d, lane, i, type_bits(o->dt), v);
	}
}

/* One product, of the lanes in `lanes`. */
static void product(const struct emu_mma *o, uint32_t lanes, uint32_t (*d)[LANES],
		    const uint32_t (*a)[LANES], const uint32_t (*b)[LANES],
		    const uint32_t (*c)[LANES])
{
	const unsigned n = o->quads ? 8 : lane_elems(o->m, o->n);
	uint64_t cm[MAX_M][MAX_N];
	struct operands x;

	for (unsigned lane = 0; lane < LANES; lane++) {
		if (!(lanes >> lane & 1))
			continue;
		gather(o, &x, lane, a, b);
		for (unsigned i = 0; i < n; i++) {
			const struct place p = o->quads ? quad_c(o->ct, lane, i) :
							  place_c(o, lane, i);

			cm[p.row][p.col] = get_bits(c, lane, i, type_bits(o->ct));
		}
	}
	for (unsigned lane = 0; lane < LANES; lane++) {
		if (lanes >> lane & 1)
			results(o, &x, (const uint64_t (*)[MAX_N])cm, lane, d);
	}
}

void emu_mma_eval(const struct emu_mma *o, uint32_t (*d)[LANES], const uint32_t (*a)[LANES],
		  const uint32_t (*b)[LANES], const uint32_t (*c)[LANES])
{
	if (!o->quads) {
		product(o, 0xffffffff, d, a, b, c);
		return;
	}
	for (unsigned q = 0; q < 4; q++)
		product(o, 0x000f000fu << (4 * q), d, a, b, c);
}

/* ---- decoding ------------------------------------------------------------------------- */

static bool type_of(enum ptx_mod m, enum emu_mma_type *t)
{
	static const struct { enum ptx_mod mod; enum emu_mma_type type; } types[] = {
		{ MOD_F16, MMA_F16 }, { MOD_BF16, MMA_BF16 }, { MOD_TF32, MMA_TF32 },
		{ MOD_F32, MMA_F32 }, { MOD_F64, MMA_F64 }, { MOD_E4M3, MMA_E4M3 },
		{ MOD_E5M2, MMA_E5M2 }, { MOD_E3M2, MMA_E3M2 }, { MOD_E2M3, MMA_E2M3 },
		{ MOD_E2M1, MMA_E2M1 }, { MOD_S32, MMA_S32 }, { MOD_S8, MMA_S8 },
		{ MOD_U8, MMA_U8 }, { MOD_S4, MMA_S4 }, { MOD_U4, MMA_U4 }, { MOD_B1, MMA_B1 },
	};

	for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].mod == m) {
			*t = types[i].type;
			return true;
		}
	}
	return false;
}

static const struct { enum ptx_mod mod; uint16_t m, n, k; bool wmma; } shapes[] = {
	{ MOD_M8N8K4, 8, 8, 4, true }, { MOD_M8N8K16, 8, 8, 16, false },
	{ MOD_M8N8K32, 8, 8, 32, true }, { MOD_M8N8K128, 8, 8, 128, true },
	{ MOD_M16N8K4, 16, 8, 4, false }, { MOD_M16N8K8, 16, 8, 8, false },
	{ MOD_M16N8K16, 16, 8, 16, false }, { MOD_M16N8K32, 16, 8, 32, false },
	{ MOD_M16N8K64, 16, 8, 64, false }, { MOD_M16N8K128, 16, 8, 128, false },
	{ MOD_M16N8K256, 16, 8, 256, false }, { MOD_M16N16K8, 16, 16, 8, true },
	{ MOD_M16N16K16, 16, 16, 16, true }, { MOD_M8N32K16, 8, 32, 16, true },
	{ MOD_M32N8K16, 32, 8, 16, true },
};

/* A row of A takes one or two registers of each of four lanes, except with .f64. */
static bool shape_fits(const struct emu_mma *o, bool wmma)
{
	const unsigned depth = o->k * type_bits(o->at);

	if (o->at == MMA_F64)
		return o->m == 8 ? o->k == 4 : o->k == 4 || o->k == 8 || o->k == 16;
	if (wmma)
		return (o->m * o->n == 256 && (depth == 256 || (depth == 128 && type_bits(o->at) == 8))) ||
		       (o->m == 8 && o->n == 8 && depth == 128);
	return o->n == 8 && o->m <= 16 && (depth == 128 || (o->m == 16 && depth == 256));
}

static bool types_fit(const struct emu_mma *o)
{
	const bool f8 = type_bits(o->at) == 8 && type_bits(o->bt) == 8;

	switch (o->at) {
	case MMA_F16:
		return o->bt == MMA_F16 && (o->dt == MMA_F16 || o->dt == MMA_F32) &&
		       (o->ct == MMA_F16 || o->ct == MMA_F32);
	case MMA_BF16: case MMA_TF32:
		return o->bt == o->at && o->dt == MMA_F32 && o->ct == MMA_F32;
	case MMA_F64:
		return o->bt == MMA_F64 && o->dt == MMA_F64 && o->ct == MMA_F64;
	case MMA_E4M3: case MMA_E5M2: case MMA_E3M2: case MMA_E2M3: case MMA_E2M1:
		return f8 && o->bt >= MMA_E4M3 && o->bt <= MMA_E2M1 && o->dt == o->ct &&
		       (o->dt == MMA_F16 || o->dt == MMA_F32);
	case MMA_S8: case MMA_U8:
		return (o->bt == MMA_S8 || o->bt == MMA_U8) && o->dt == MMA_S32 && o->ct == MMA_S32;
	case MMA_S4: case MMA_U4:
		return (o->bt == MMA_S4 || o->bt == MMA_U4) && o->dt == MMA_S32 && o->ct == MMA_S32;
	case MMA_B1:
		return o->bt == MMA_B1 && o->dt == MMA_S32 && o->ct == MMA_S32;
	case MMA_F32: case MMA_S32:
		break;
	}
	return false;
}

static bool fail(const char **why, const char *text)
{
	*why = text;
	return false;
}

/* What the decoders have understood of the modifiers. */
struct taken {
	const struct ptx_inst *in;
	uint64_t bits;
};

static bool take(struct taken *t, enum ptx_mod m)
{
	bool found = false;

	for (unsigned i = 0; i < t->in->nmods; i++) {
		if (t->in->mod[i] == m) {
			t->bits |= UINT64_C(1) << i;
			found = true;
		}
	}
	return found;
}

static bool all_taken(const struct taken *t)
{
	return t->bits == (UINT64_C(1) << t->in->nmods) - 1;
}

static bool take_shape(struct taken *t, struct emu_mma *o, bool wmma)
{
	for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		if (take(t, shapes[i].mod)) {
			o->m = shapes[i].m;
			o->n = shapes[i].n;
			o->k = shapes[i].k;
			return shapes[i].wmma || !wmma;
		}
	}
	return false;
}

/* The type modifiers in the order written; their number. */
static unsigned take_types(struct taken *t, enum emu_mma_type list[4])
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->in->nmods; i++) {
		if (ptx_mod_type((enum ptx_mod)t->in->mod[i]) == TYPE_NONE)
			continue;
		if (n == 4 || !type_of((enum ptx_mod)t->in->mod[i], &list[n]))
			return 0;
		t->bits |= UINT64_C(1) << i;
		n++;
	}
	return n;
}

/* The layouts of A and B, in this order.  Only m8n8k4 leaves a choice that shows in
 * the fragments; those of wmma matter to its loads alone. */
static bool take_layouts(struct taken *t, struct emu_mma *o)
{
	bool row[2] = { false, false };
	unsigned n = 0;

	for (unsigned i = 0; i < t->in->nmods; i++) {
		const enum ptx_mod m = (enum ptx_mod)t->in->mod[i];

		if (m != MOD_ROW && m != MOD_COL)
			continue;
		if (n == 2)
			return false;
		t->bits |= UINT64_C(1) << i;
		row[n++] = m == MOD_ROW;
	}
	o->arow = row[0];
	o->brow = row[1];
	return n == 2;
}

/* 32-bit registers of `elems` elements. */
static uint8_t regs_of(unsigned elems, enum emu_mma_type t)
{
	return (uint8_t)(elems * type_bits(t) / 32);
}

/* wmma of .f16: a lane's fragment of A or B is 8 registers for every shape; where
 * fewer would do the elements are there several times. */
enum { WMMA_F16_REGS = 8 };

static void count_regs(struct emu_mma *o, bool wmma)
{
	const unsigned nc = o->quads ? 8 : lane_elems(o->m, o->n);

	o->wide = o->at == MMA_F64;
	o->nd = regs_of(nc, o->dt);
	o->nc = regs_of(nc, o->ct);
	o->na = regs_of(o->quads ? 4 : lane_elems(o->m, o->k), o->at);
	o->nb = regs_of(o->quads ? 4 : lane_elems(o->k, o->n), o->bt);
	if (wmma && o->at == MMA_F16)
		o->na = o->nb = WMMA_F16_REGS;
}

static bool count_fits(const struct ptx_operand *p, unsigned regs, bool wide)
{
	return (p->kind == OP_VEC ? p->n : 1) == (wide ? regs / 2 : regs);
}

bool emu_mma_decode(const struct ptx_inst *in, struct emu_mma *o, const char **why)
{
	struct taken t = { .in = in };
	const bool wmma = in->id == INST_WMMA_MMA;
	enum emu_mma_type types[4] = { MMA_F32, MMA_F16, MMA_F16, MMA_F32 };
	unsigned nt;
	bool xor;

	memset(o, 0, sizeof *o);
	if (in->id == INST_MMA_SP)
		return fail(why, "sparse matrix products are not implemented");
	if ((in->id != INST_MMA && !wmma) || in->nmods >= 64)
		return fail(why, "not a matrix product");
	if (ptx_has(in, MOD_SP_ORDERED_METADATA))
		return fail(why, "sparse matrix products are not implemented");
	if (ptx_has(in, MOD_BLOCK_SCALE))
		return fail(why, "matrix products with block scaling are not implemented");
	take(&t, MOD_MMA);
	take(&t, MOD_SYNC);
	take(&t, MOD_ALIGNED);
	if (!take_shape(&t, o, wmma))
		return fail(why, "the matrix product has no such shape");
	nt = take_types(&t, types);
	if (nt == 2 && wmma) {                  /* .dtype.ctype; A and B are .f16 */
		types[3] = types[1];
		types[1] = types[2] = MMA_F16;
	} else if (nt != 4) {
		return fail(why, "the matrix product has no such types");
	}
	o->dt = types[0];
	o->at = types[1];
	o->bt = types[2];
	o->ct = types[3];
	o->quads = !wmma && o->m == 8 && o->k == 4 && o->at == MMA_F16;
	if (!types_fit(o) || (!o->quads && !shape_fits(o, wmma)))
		return fail(why, "the matrix product has no such combination of shape and types");
	if (!take_layouts(&t, o) || (!wmma && !o->quads && (!o->arow || o->brow)))
		return fail(why, "the matrix product has no such layouts");
	if (o->at == MMA_B1) {
		xor = take(&t, MOD_XOR);
		o->and_popc = take(&t, MOD_AND);
		if (xor == o->and_popc || !take(&t, MOD_POPC))
			return fail(why, "a .b1 product needs .xor.popc or .and.popc");
	}
	if (o->dt == MMA_S32 && o->at != MMA_B1)
		o->satfinite = take(&t, MOD_SATFINITE);
	if (o->at >= MMA_E4M3 && o->at <= MMA_E2M1)
		take(&t, MOD_KIND_F8F6F4);
	if (o->at == MMA_F64)
		take(&t, MOD_RN);
	if (!all_taken(&t))
		return fail(why, "a modifier is not implemented for matrix products");
	count_regs(o, wmma);
	if (in->nops != 4 || !count_fits(&in->ops[0], o->nd, o->wide) ||
	    !count_fits(&in->ops[1], o->na, o->wide) ||
	    !count_fits(&in->ops[2], o->nb, o->wide) || !count_fits(&in->ops[3], o->nc, o->wide))
		return fail(why, "the fragments do not fit the matrix product");
	return true;
}

/* ---- wmma.load, wmma.store -------------------------------------------------------------- */

/* The multiplicands' type stands for the shape: fragments of C depend on it alone. */
static bool decode_fragment(const struct ptx_inst *in, struct emu_mma *o, enum emu_mma_type *type)
{
	struct taken t = { .in = in };
	enum emu_mma_type types[4];

	memset(o, 0, sizeof *o);
	if ((in->id != INST_WMMA_LOAD && in->id != INST_WMMA_STORE) || in->nmods >= 64)
		return false;
	if (!take_shape(&t, o, true) || take_types(&t, types) != 1)
		return false;
	*type = o->at = o->bt = types[0];
	return true;
}

bool emu_wmma_elem(const struct ptx_inst *in, unsigned lane, unsigned elem,
		   unsigned *row, unsigned *col, unsigned *elem_bits)
{
	enum emu_mma_type type;
	struct emu_mma o;
	struct place p;
	unsigned distinct, slots;

	if (!decode_fragment(in, &o, &type))
		return false;
	*elem_bits = type_bits(type);
	if (ptx_has(in, MOD_A) || ptx_has(in, MOD_B)) {
		const bool is_a = ptx_has(in, MOD_A);

		if (!shape_fits(&o, true))
			return false;
		distinct = is_a ? lane_elems(o.m, o.k) : lane_elems(o.k, o.n);
		slots = type == MMA_F16 ? WMMA_F16_REGS * 2 : distinct;
		if (elem >= slots)
			return false;
		p = is_a ? place_a(&o, lane, elem % distinct) : place_b(&o, lane, elem % distinct);
	} else {
		if (elem >= lane_elems(o.m, o.n))
			return false;
		p = place_c(&o, lane, elem);
	}
	*row = p.row;
	*col = p.col;
	return true;
}
