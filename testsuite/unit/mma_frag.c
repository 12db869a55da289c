/* SPDX-License-Identifier: Apache-2.0
 *
 * mma_frag.c: tests of the emulated device's matrix products.
 *
 * Matrices of small integers are laid out in registers by the formulas that the
 * ISA gives for each shape, multiplied by the code under test, and compared
 * with the product computed here.
 */
#include "testsuite/unit/alu_test.h"

#include <math.h>

#include "emu/half.h"
#include "emu/mma.h"

enum { LANES = 32, REGS = 16, MAXK = 256 };

struct place {
	unsigned row, col;
};

/* Where the ISA puts element i of a lane: g is the lane's group, t its number in it. */
typedef struct place place_fn(unsigned g, unsigned t, unsigned i);

/* ---- "Matrix Fragments for mma.m16n8k16 with floating point type" and so on -------- */

static struct place f16_k16_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i < 2 || (4 <= i && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0) };
}

static struct place f16_k16_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g };
}

static struct place c16(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i < 2 ? g : g + 8, t * 2 + (i & 1) };
}

static struct place f16_k8_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i < 2 ? g : g + 8, t * 2 + (i & 1) };
}

static struct place f16_k8_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ t * 2 + i, g };
}

static struct place tf32_k8_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4 };
}

static struct place tf32_k8_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i == 0 ? t : t + 4, g };
}

static struct place k4_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i == 0 ? g : g + 8, t };
}

static struct place k4_b(unsigned g, unsigned t, unsigned i)
{
	(void)i;
	return (struct place){ t, g };
}

static struct place s8_k32_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i < 4 || (8 <= i && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0) };
}

static struct place s8_k32_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g };
}

static struct place s4_k64_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i < 8 || (16 <= i && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0) };
}

static struct place s4_k64_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ t * 8 + (i & 7) + (i >= 8 ? 32 : 0), g };
}

static struct place b1_k256_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i < 32 || (64 <= i && i < 96) ? g : g + 8,
			       t * 32 + (i & 31) + (i >= 64 ? 128 : 0) };
}

static struct place b1_k256_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ t * 32 + (i & 31) + (i >= 32 ? 128 : 0), g };
}

static struct place f64_k16_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ i % 2 == 0 ? g : g + 8, t + 4 * (i / 2) };
}

static struct place f64_k16_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ t + 4 * i, g };
}

static struct place m8_s8_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ g, t * 4 + i };
}

static struct place m8_s8_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ t * 4 + i, g };
}

static struct place m8_b1_a(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ g, t * 32 + i };
}

static struct place m8_b1_b(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ t * 32 + i, g };
}

static struct place m8_c(unsigned g, unsigned t, unsigned i)
{
	return (struct place){ g, t * 2 + i };
}

/* ---- elements ------------------------------------------------------------------------ */

enum kind { F16, BF16, TF32, F32, F64, E4M3, E2M1, S8, U8, S4, U4, B1, S32 };

static const struct { unsigned bits; int lo, hi; } kinds[] = {
	[F16] = { 16, -3, 3 }, [BF16] = { 16, -3, 3 }, [TF32] = { 32, -3, 3 }, [F32] = { 32, -9, 9 },
	[F64] = { 64, -9, 9 }, [E4M3] = { 8, -3, 3 }, [E2M1] = { 8, -3, 3 }, [S8] = { 8, -128, 127 },
	[U8] = { 8, 0, 255 }, [S4] = { 4, -8, 7 }, [U4] = { 4, 0, 15 }, [B1] = { 1, 0, 1 },
	[S32] = { 32, -1000, 1000 },
};

static uint64_t encode(enum kind k, int v)
{
	const float f = (float)v;
	const double g = v;
	uint64_t u = 0;

	switch (k) {
	case F16: return fp_pack_f64(FP_F16, g);
	case BF16: return fp_pack_f64(FP_BF16, g);
	case E4M3: return fp_pack_f64(FP_E4M3, g);
	case E2M1: return fp_pack_f64(FP_E2M1, g) << 2;
	case TF32: case F32: memcpy(&u, &f, sizeof f); return u;
	case F64: memcpy(&u, &g, sizeof g); return u;
	case S8: case U8: case S4: case U4: case B1: case S32: break;
	}
	return (uint64_t)v & (kinds[k].bits == 32 ? 0xffffffff : (1u << kinds[k].bits) - 1);
}

static void put(uint32_t (*regs)[LANES], unsigned lane, unsigned i, unsigned bits, uint64_t v)
{
	if (bits == 64) {
		regs[2 * i][lane] = (uint32_t)v;
		regs[2 * i + 1][lane] = (uint32_t)(v >> 32);
	} else {
		regs[i * bits / 32][lane] |= (uint32_t)(v << (i * bits % 32));
	}
}

static uint64_t get(uint32_t (*regs)[LANES], unsigned lane, unsigned i, unsigned bits)
{
	if (bits == 64)
		return (uint64_t)regs[2 * i + 1][lane] << 32 | regs[2 * i][lane];
	return regs[i * bits / 32][lane] >> (i * bits % 32) & (bits == 32 ? 0xffffffff : (1u << bits) - 1);
}

static struct {
	int a[32][MAXK], b[MAXK][32], c[32][32];
	uint32_t ra[REGS][LANES], rb[REGS][LANES], rc[REGS][LANES], rd[REGS][LANES];
} x;

static int some(enum kind k)
{
	return kinds[k].lo + (int)(alu_test_random() % (uint64_t)(kinds[k].hi - kinds[k].lo + 1));
}

static void fill(unsigned m, unsigned n, unsigned k, enum kind ka, enum kind kb, enum kind kc)
{
	for (unsigned i = 0; i < m; i++) {
		for (unsigned j = 0; j < k; j++)
			x.a[i][j] = some(ka);
	}
	for (unsigned i = 0; i < k; i++) {
		for (unsigned j = 0; j < n; j++)
			x.b[i][j] = some(kb);
	}
	for (unsigned i = 0; i < m; i++) {
		for (unsigned j = 0; j < n; j++)
			x.c[i][j] = some(kc);
	}
	memset(x.ra, 0, sizeof x.ra);
	memset(x.rb, 0, sizeof x.rb);
	memset(x.rc, 0, sizeof x.rc);
	memset(x.rd, 0, sizeof x.rd);
}

/* "and", "xor" of .b1, else a product. */
static int want(unsigned row, unsigned col, unsigned k, enum kind ka, const char *text)
{
	int sum = x.c[row][col];

	for (unsigned i = 0; i < k; i++) {
		const int a = x.a[row][i], b = x.b[i][col];

		sum += ka != B1 ? a * b : strstr(text, ".and.") ? a & b : a ^ b;
	}
	return sum;
}

static void decode(const char *text, struct emu_mma *o)
{
	const char *why = "";
	struct ptx_module *mod;
	const struct ptx_inst *in = alu_test_parse(text, &mod);

	if (!in)
		fail_msg("cannot parse %s", text);
	if (!emu_mma_decode(in, o, &why))
		fail_msg("%s: %s", text, why);
	ptx_free(mod);
}

/* ---- mma ------------------------------------------------------------------------------- */

#define R1 "%r1"
#define R2 "{%r1, %r2}"
#define R4 "{%r1, %r2, %r3, %r4}"
#define R8 "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"
#define D1 "%d1"
#define D2 "{%d1, %d2}"
#define D4 "{%d1, %d2, %d3, %d4}"
#define D8 "{%d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8}"

static const struct shape {
	const char *text;
	unsigned m, n, k;
	enum kind a, b, c, d;
	place_fn *pa, *pb, *pc;
} shapes[] = {
	{ "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "R4", "R4", "R2", "R4";",
	  16, 8, 16, F16, F16, F32, F32, f16_k16_a, f16_k16_b, c16 },
	{ "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "R2", "R4", "R2", "R2";",
	  16, 8, 16, F16, F16, F16, F16, f16_k16_a, f16_k16_b, c16 },
	{ "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "R4", "R2", {%r1}, "R4";",
	  16, 8, 8, F16, F16, F32, F32, f16_k8_a, f16_k8_b, c16 },
	{ "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "R4", "R4", "R2", "R4";",
	  16, 8, 16, BF16, BF16, F32, F32, f16_k16_a, f16_k16_b, c16 },
	{ "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "R4", "R4", "R2", "R4";",
	  16, 8, 8, TF32, TF32, F32, F32, tf32_k8_a, tf32_k8_b, c16 },
	{ "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 "R4", "R2", "R1", "R4";",
	  16, 8, 4, TF32, TF32, F32, F32, k4_a, k4_b, c16 },
	{ "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "R4", "R4", "R2", "R4";",
	  16, 8, 32, E4M3, E4M3, F32, F32, s8_k32_a, s8_k32_b, c16 },
	{ "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 "R4", "R4", "R2", "R4";",
	  16, 8, 32, E4M3, E2M1, F32, F32, s8_k32_a, s8_k32_b, c16 },
	{ "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "R4", "R4", "R2", "R4";",
	  16, 8, 32, S8, U8, S32, S32, s8_k32_a, s8_k32_b, c16 },
	{ "mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32 "R4", "R4", "R2", "R4";",
	  16, 8, 64, U4, S4, S32, S32, s4_k64_a, s4_k64_b, c16 },
	{ "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc "R4", "R4", "R2", "R4";",
	  16, 8, 256, B1, B1, S32, S32, b1_k256_a, b1_k256_b, c16 },
	{ "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "R4", "R4", "R2", "R4";",
	  16, 8, 256, B1, B1, S32, S32, b1_k256_a, b1_k256_b, c16 },
	{ "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc "R2", "R1", "R1", "R2";",
	  8, 8, 128, B1, B1, S32, S32, m8_b1_a, m8_b1_b, m8_c },
	{ "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 "R2", "R1", "R1", "R2";",
	  8, 8, 16, U8, S8, S32, S32, m8_s8_a, m8_s8_b, m8_c },
	{ "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "D2", "D1", "D1", "D2";",
	  8, 8, 4, F64, F64, F64, F64, k4_a, k4_b, m8_c },
	{ "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "D4", "D2", "D1", "D4";",
	  16, 8, 4, F64, F64, F64, F64, k4_a, k4_b, c16 },
	{ "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "D4", "D8", "D4", "D4";",
	  16, 8, 16, F64, F64, F64, F64, f64_k16_a, f64_k16_b, c16 },
};

static void products(void **state)
{
	(void)state;
	for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
		const struct shape *h = &shapes[s];
		struct emu_mma o;

		decode(h->text, &o);
		fill(h->m, h->n, h->k, h->a, h->b, h->c);
		for (unsigned lane = 0; lane < LANES; lane++) {
			const unsigned g = lane / 4, t = lane % 4;

			for (unsigned i = 0; i < h->m * h->k / LANES; i++) {
				const struct place p = h->pa(g, t, i);

				put(x.ra, lane, i, kinds[h->a].bits, encode(h->a, x.a[p.row][p.col]));
			}
			for (unsigned i = 0; i < h->k * h->n / LANES; i++) {
				const struct place p = h->pb(g, t, i);

				put(x.rb, lane, i, kinds[h->b].bits, encode(h->b, x.b[p.row][p.col]));
			}
			for (unsigned i = 0; i < h->m * h->n / LANES; i++) {
				const struct place p = h->pc(g, t, i);

				put(x.rc, lane, i, kinds[h->c].bits, encode(h->c, x.c[p.row][p.col]));
			}
		}
		emu_mma_eval(&o, x.rd, (const uint32_t (*)[LANES])x.ra, (const uint32_t (*)[LANES])x.rb,
			     (const uint32_t (*)[LANES])x.rc);
		for (unsigned lane = 0; lane < LANES; lane++) {
			for (unsigned i = 0; i < h->m * h->n / LANES; i++) {
				const struct place p = h->pc(lane / 4, lane % 4, i);
				const uint64_t w = encode(h->d, want(p.row, p.col, h->k, h->a, h->text));

				if (get(x.rd, lane, i, kinds[h->d].bits) != w)
					fail_msg("%s: lane %u element %u: %#llx, not %#llx", h->text, lane, i,
						 (unsigned long long)get(x.rd, lane, i, kinds[h->d].bits),
						 (unsigned long long)w);
			}
		}
	}
}

/* mma.m8n8k4 of .f16: four products, layouts that matter. */
static void four_products(void **state)
{
	static const char *const layouts[] = { "row.row", "row.col", "col.row", "col.col" };

	(void)state;
	for (unsigned l = 0; l < 8; l++) {
		const bool arow = (l & 3) < 2, brow = !(l & 1), f32 = l < 4;
		struct emu_mma o;
		char text[256];

		snprintf(text, sizeof text, "mma.sync.aligned.m8n8k4.%s.%s.f16.f16.%s %s, %s, %s, %s;",
			 layouts[l & 3], f32 ? "f32" : "f16", f32 ? "f32" : "f16", f32 ? R8 : R4, R2, R2,
			 f32 ? R8 : R4);
		decode(text, &o);
		for (unsigned q = 0; q < 4; q++) {
			fill(8, 8, 4, F16, F16, F16);
			for (unsigned pass = 0; pass < 2; pass++) {
				for (unsigned j = 0; j < 8; j++) {
					const unsigned lane = 4 * q + (j & 3) + (j & 4) * 4, h = j & 4;

					for (unsigned i = 0; i < 4 && !pass; i++) {
						const int a = arow ? x.a[(j & 3) + h][i] : x.a[i + h][j & 3];
						const int b = brow ? x.b[j & 3][i + h] : x.b[i][(j & 3) + h];

						put(x.ra, lane, i, 16, encode(F16, a));
						put(x.rb, lane, i, 16, encode(F16, b));
					}
					for (unsigned i = 0; i < 8; i++) {
						const unsigned row = f32 ? (lane & 1) + (i & 2) + h : (j & 3) + h;
						const unsigned col = f32 ? (i & 4) + (lane & 2) + (i & 1) : i;
						const enum kind k = f32 ? F32 : F16;

						if (!pass)
							put(x.rc, lane, i, kinds[k].bits, encode(k, x.c[row][col]));
						else
							assert_int_equal(get(x.rd, lane, i, kinds[k].bits),
									 encode(k, want(row, col, 4, F16, "")));
					}
				}
				if (!pass)
					emu_mma_eval(&o, x.rd, (const uint32_t (*)[LANES])x.ra,
						     (const uint32_t (*)[LANES])x.rb,
						     (const uint32_t (*)[LANES])x.rc);
			}
		}
	}
}

static void corner_values(void **state)
{
	struct emu_mma o;

	(void)state;
	decode("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 "R2", "R1", "R1", "R2";", &o);
	fill(8, 8, 16, S8, S8, S32);
	memset(x.ra, 0x7f, sizeof x.ra);
	memset(x.rb, 0x7f, sizeof x.rb);
	for (unsigned lane = 0; lane < LANES; lane++)
		x.rc[0][lane] = 0x7fffffff;
	emu_mma_eval(&o, x.rd, (const uint32_t (*)[LANES])x.ra, (const uint32_t (*)[LANES])x.rb,
		     (const uint32_t (*)[LANES])x.rc);
	assert_int_equal(x.rd[0][3], 0x7fffffff);
	assert_int_equal(x.rd[1][3], 16 * 127 * 127);
	o.satfinite = false;
	emu_mma_eval(&o, x.rd, (const uint32_t (*)[LANES])x.ra, (const uint32_t (*)[LANES])x.rb,
		     (const uint32_t (*)[LANES])x.rc);
	assert_int_equal(x.rd[0][3], 0x7fffffffu + 16 * 127 * 127);

	decode("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "R4", "R4", "R2", "R4";", &o);
	fill(16, 8, 8, TF32, TF32, F32);
	for (unsigned lane = 0; lane < LANES; lane++) {
		x.ra[0][lane] = 0x3f801fff;     /* 1 and bits that tf32 does not have */
		x.rb[0][lane] = 0x3f800000;
	}
	x.rc[0][5] = 0x7f800000;
	x.rc[1][5] = 0x7fc00001;
	emu_mma_eval(&o, x.rd, (const uint32_t (*)[LANES])x.ra, (const uint32_t (*)[LANES])x.rb,
		     (const uint32_t (*)[LANES])x.rc);
	assert_int_equal(x.rd[0][4], 0x40800000);
	assert_int_equal(x.rd[0][5], 0x7f800000);
	assert_int_equal(x.rd[1][5], 0x7fffffff);
}

static void refused(void **state)
{
	static const char *const texts[] = {
		"mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 "R4", "R4", "R2", "R4";",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 "R4", "R4", "R2", "R4";",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "R4", "R2", "R2", "R4";",
		"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "R4", "R4", "R2", "R4";",
		"mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 "R4", "R4", "R2", "R4";",
		"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32 "R4", "R4", "R2", "R4";",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct emu_mma o;
		const char *why = NULL;
		struct ptx_module *mod;
		const struct ptx_inst *in = alu_test_parse(texts[i], &mod);

		assert_non_null(in);
		if (emu_mma_decode(in, &o, &why) || !why)
			fail_msg("not refused: %s", texts[i]);
		ptx_free(mod);
	}
}

/* ---- wmma -------------------------------------------------------------------------------- */

static const struct {
	const char *shape, *types, *a, *b, *c, *d;      /* the last four: types of the loads */
	unsigned m, n, k;
	enum kind ka, kb, kc, kd;
	unsigned ra, rb, rc, rd;                        /* registers, or .f64 ones */
} wmmas[] = {
	{ "m16n16k16", "f32.f32", "f16", "f16", "f32", "f32", 16, 16, 16, F16, F16, F32, F32, 8, 8, 8, 8 },
	{ "m32n8k16", "f16.f32", "f16", "f16", "f32", "f16", 32, 8, 16, F16, F16, F32, F16, 8, 8, 8, 4 },
	{ "m8n32k16", "f16.f16", "f16", "f16", "f16", "f16", 8, 32, 16, F16, F16, F16, F16, 8, 8, 4, 4 },
	{ "m16n16k16", "f32.bf16.bf16.f32", "bf16", "bf16", "f32", "f32", 16, 16, 16, BF16, BF16, F32, F32, 4, 4, 8, 8 },
	{ "m32n8k16", "f32.bf16.bf16.f32", "bf16", "bf16", "f32", "f32", 32, 8, 16, BF16, BF16, F32, F32, 8, 2, 8, 8 },
	{ "m16n16k8", "f32.tf32.tf32.f32", "tf32", "tf32", "f32", "f32", 16, 16, 8, TF32, TF32, F32, F32, 4, 4, 8, 8 },
	{ "m16n16k16", "s32.s8.s8.s32", "s8", "s8", "s32", "s32", 16, 16, 16, S8, S8, S32, S32, 2, 2, 8, 8 },
	{ "m32n8k16", "s32.u8.u8.s32", "u8", "u8", "s32", "s32", 32, 8, 16, U8, U8, S32, S32, 4, 1, 8, 8 },
	{ "m8n32k16", "s32.s8.s8.s32", "s8", "s8", "s32", "s32", 8, 32, 16, S8, S8, S32, S32, 1, 4, 8, 8 },
	{ "m8n8k32", "s32.s4.s4.s32", "s4", "s4", "s32", "s32", 8, 8, 32, S4, S4, S32, S32, 1, 1, 2, 2 },
	{ "m8n8k128", "s32.b1.b1.s32", "b1", "b1", "s32", "s32", 8, 8, 128, B1, B1, S32, S32, 1, 1, 2, 2 },
	{ "m8n8k4", "f64.f64.f64.f64", "f64", "f64", "f64", "f64", 8, 8, 4, F64, F64, F64, F64, 1, 1, 2, 2 },
};

static const char *regs(unsigned n, bool wide)
{
	static const char *const r[] = { R1, R2, R4, R8 }, *const d[] = { D1, D2, D4, D8 };
	const unsigned i = n == 1 ? 0 : n == 2 ? 1 : n == 4 ? 2 : 3;

	return wide ? d[i] : r[i];
}

/* Loads a fragment of `mat`, whose elements element() gives, as wmma.load would; or, for 'd',
 * checks one.  Every element of the matrix must come up. */
static void fragment(unsigned w, char which, uint32_t (*frag)[LANES], unsigned rows, unsigned cols,
		     enum kind kind, unsigned nregs)
{
	static unsigned char seen[MAXK][MAXK];
	unsigned row, col, bits, count = 0;
	const struct ptx_inst *in;
	struct ptx_module *mod;
	char text[256];

	memset(seen, 0, sizeof seen);
	if (which == 'd')
		snprintf(text, sizeof text, "wmma.store.d.sync.aligned.row.%s.global.%s [%%d1], %s, %%r1;",
			 wmmas[w].shape, wmmas[w].d, regs(nregs, kind == F64));
	else
		snprintf(text, sizeof text, "wmma.load.%c.sync.aligned.row.%s.global.%s %s, [%%d1], %%r1;", which,
			 wmmas[w].shape, which == 'a' ? wmmas[w].a : which == 'b' ? wmmas[w].b : wmmas[w].c,
			 regs(nregs, kind == F64));
	in = alu_test_parse(text, &mod);
	assert_non_null(in);
	for (unsigned lane = 0; lane < LANES; lane++) {
		unsigned i = 0;

		for (; emu_wmma_elem(in, lane, i, &row, &col, &bits); i++) {
			assert_int_equal(bits, kinds[kind].bits);
			assert_true(row < rows && col < cols);
			count += !seen[row][col]++;
			if (which == 'd')
				assert_int_equal(get(frag, lane, i, bits),
						 encode(kind, want(row, col, wmmas[w].k, wmmas[w].ka, ".and.")));
			else
				put(frag, lane, i, bits, encode(kind, which == 'a' ? x.a[row][col] : which == 'b' ?
								x.b[row][col] : x.c[row][col]));
		}
		assert_int_equal(i * kinds[kind].bits, nregs * (kind == F64 ? 64 : 32));
	}
	assert_int_equal(count, rows * cols);
	ptx_free(mod);
}

static void wmma(void **state)
{
	(void)state;
	for (unsigned w = 0; w < sizeof wmmas / sizeof *wmmas; w++) {
		const bool wide = wmmas[w].ka == F64;
		struct emu_mma o;
		char text[512];

		snprintf(text, sizeof text, "wmma.mma%s.sync.aligned.row.row.%s.%s %s, %s, %s, %s;",
			 wmmas[w].ka == B1 ? ".and.popc" : "", wmmas[w].shape, wmmas[w].types,
			 regs(wmmas[w].rd, wide), regs(wmmas[w].ra, wide), regs(wmmas[w].rb, wide),
			 regs(wmmas[w].rc, wide));
		decode(text, &o);
		fill(wmmas[w].m, wmmas[w].n, wmmas[w].k, wmmas[w].ka, wmmas[w].kb, wmmas[w].kc);
		fragment(w, 'a', x.ra, wmmas[w].m, wmmas[w].k, wmmas[w].ka, wmmas[w].ra);
		fragment(w, 'b', x.rb, wmmas[w].k, wmmas[w].n, wmmas[w].kb, wmmas[w].rb);
		fragment(w, 'c', x.rc, wmmas[w].m, wmmas[w].n, wmmas[w].kc, wmmas[w].rc);
		emu_mma_eval(&o, x.rd, (const uint32_t (*)[LANES])x.ra, (const uint32_t (*)[LANES])x.rb,
			     (const uint32_t (*)[LANES])x.rc);
		fragment(w, 'd', x.rd, wmmas[w].m, wmmas[w].n, wmmas[w].kd, wmmas[w].rd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products), cmocka_unit_test(four_products),
		cmocka_unit_test(corner_values), cmocka_unit_test(refused), cmocka_unit_test(wmma),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
