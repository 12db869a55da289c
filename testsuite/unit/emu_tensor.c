/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_tensor.c: tensor maps and copies through them: every mode, swizzle and bound
 * against a plain statement of which element belongs where; maps changed on the
 * device.
 */
#include <stdbool.h>

#include "emu_test.h"

#define SEEDS 6u

/* Shared memory of the kernels: 32 KiB of 0xee, an mbarrier, room for a map. */
#define BEGIN(more) ".visible .entry k(.param .u64 p, .param .align 64 .b8 m[128]" more ") {\n" \
	".shared .align 1024 .b8 sm[32768]; .shared .align 8 .b64 bar; .shared .align 128 .b8 own[128];\n" \
	".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<10>; .reg .b16 %h<9>;\n" \
	"ld.param.u64 %d0, [p]; mov.b64 %d2, m; mov.u32 %r0, %tid.x; mov.u32 %r30, sm; mov.u32 %r31, bar;\n" \
	"setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [%r31], 1; shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r30;\n" \
	"mov.u32 %r5, 0;\n" \
	"F: mad.lo.u32 %r6, %r5, 256, %r4; st.shared.u32 [%r6], 0xeeeeeeee; add.u32 %r5, %r5, 1;\n" \
	"setp.lt.u32 %p1, %r5, 128; @%p1 bra F; fence.proxy.async; bar.sync 0;\n"
/* Waits, and writes all of it to out + 64 KiB. */
#define END \
	"W: mbarrier.try_wait.parity.shared.b64 %p9, [%r31], 0; @!%p9 bra W; bar.sync 0;\n" \
	"mov.u32 %r5, 0; mul.wide.u32 %d3, %r0, 4; add.u64 %d3, %d3, %d0; add.u64 %d3, %d3, 65536;\n" \
	"G: mad.lo.u32 %r6, %r5, 256, %r4; ld.shared.u32 %r7, [%r6]; st.global.u32 [%d3], %r7;\n" \
	"add.u64 %d3, %d3, 256; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 128; @%p1 bra G; ret; }\n"
#define EXPECT(bytes) "@!%p0 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [%r31], " bytes ";\n"
#define TMA "cp.async.bulk.tensor."
#define INTO ".shared::cluster.global.tile.mbarrier::complete_tx::bytes "

/* `text` with $0 to $9 replaced. */
static const char *filled(const char *text, const char *const *with)
{
	static char to[16384];
	char *p = to;

	for (; *text; text++) {
		if (*text == '$') {
			const char *w = with[*++text - '0'];

			memcpy(p, w, strlen(w));
			p += strlen(w);
		} else {
			*p++ = *text;
		}
	}
	*p = 0;
	return to;
}

static CUresult launch(const CUtensorMap *map)
{
	void *args[] = {&out_ptr, (void *)(uintptr_t)map};
	CUfunction f;
	CUresult r;

	ok(cuModuleGetFunction(&f, module, "k"));
	r = cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL);
	return r ? r : cuCtxSynchronize();
}

struct shape {
	CUtensorMapDataType type;
	unsigned bytes, rank;
	cuuint64_t dim[5], stride[4];
	cuuint32_t box[5], step[5];
	CUtensorMapSwizzle swizzle;
	CUtensorMapFloatOOBfill fill;
	int at[5];
	CUtensorMapInterleave slices;
};

static void encode(CUtensorMap *m, const struct shape *s)
{
	ok(cuTensorMapEncodeTiled(m, s->type, s->rank, out, s->dim, s->stride, s->box, s->step,
				  s->slices, s->swizzle,
				  CU_TENSOR_MAP_L2_PROMOTION_NONE, s->fill));
}

/* The first 64 KiB: every 16-bit word differs from its neighbours. */
static void fill_source(void)
{
	uint16_t *h = (uint16_t *)(void *)out;

	memset(out, 0, OUT_WORDS * 4);
	for (unsigned i = 0; i < 32768; i++)
		h[i] = (uint16_t)(i * 40503u + (i >> 8));
}

/* Where byte `off` of a box at a 1,024-byte boundary lies. */
static unsigned place(const struct shape *s, unsigned off)
{
	unsigned line = off / 128;

	switch (s->swizzle) {
	case CU_TENSOR_MAP_SWIZZLE_32B:
		return off ^ (line & 1) << 4;
	case CU_TENSOR_MAP_SWIZZLE_64B:
		return off ^ (line & 3) << 4;
	case CU_TENSOR_MAP_SWIZZLE_128B:
		return off ^ (line & 7) << 4;
	case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B:
		return off ^ (line & 3) << 5;
	case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B:
		return off ^ (line & 3) << 5 ^ (line & 1) << 3;
	case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B:
		return off ^ (line & 1) << 6;
	default:
		return off;
	}
}

static unsigned pitch(const struct shape *s)
{
	return s->swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 32 : s->swizzle == CU_TENSOR_MAP_SWIZZLE_64B ?
	       64 : s->swizzle ? 128 : s->box[0] * s->bytes;
}

/* What shared memory holds after the box has been loaded; returns the bytes counted.
 * Interleaved (as measured on an H200): elements are slices, of those of a pixel, which are
 * in the last dimension but one, the box has one, and they lie side by side. */
static unsigned expected(const struct shape *s, uint8_t *sm)
{
	unsigned n[5] = {1, 1, 1, 1, 1}, k[5], row = 0, bytes = 0;
	unsigned size = s->slices ? 8u << s->slices : s->bytes;

	memset(sm, 0xee, 32768);
	for (unsigned i = 0; i < s->rank; i++)
		n[i] = i || s->slices ? (s->box[i] + s->step[i] - 1) / s->step[i] : s->box[0];
	if (s->slices)
		n[s->rank - 2] = 1;
	for (k[4] = 0; k[4] < n[4]; k[4]++)
	for (k[3] = 0; k[3] < n[3]; k[3]++)
	for (k[2] = 0; k[2] < n[2]; k[2]++)
	for (k[1] = 0; k[1] < n[1]; k[1]++, row++)
	for (k[0] = 0; k[0] < n[0]; k[0]++) {
		const uint8_t *p = (const uint8_t *)out;
		bool in = true;

		for (unsigned i = 0; i < s->rank; i++) {
			long c = s->at[i] + (long)k[i] * (i || s->slices ? (long)s->step[i] : 1);

			in = in && c >= 0 && c < (long)s->dim[i];
			p += in ? c * (i ? (long)s->stride[i - 1] : (long)size) : 0;
		}
		for (unsigned b = 0; b < size; b++, bytes++) {
			unsigned at = place(s, row * (s->slices ? n[0] * size : pitch(s)) + k[0] * size + b);

			sm[at] = in ? p[b] : !s->fill ? 0 : b % s->bytes + 1 == s->bytes ? 0x7f : 0xff;
		}
	}
	return bytes;
}

static void check(const uint8_t *want, const char *what)
{
	const uint8_t *got = (const uint8_t *)(out + 16384);

	for (unsigned i = 0; i < 32768; i++)
		if (got[i] != want[i])
			fail_msg("%s: byte %u is %02x, not %02x", what, i, got[i], want[i]);
}

static const struct shape shapes[] = {
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 1, {1000}, {0}, {256}, {1}, 0, 0, {100}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 1, {1000}, {0}, {64}, {1}, 0, 0, {-13}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_INT32, 4, 2, {60, 50}, {256}, {20, 9}, {1, 1}, 0, 0, {4, 3}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 2, {61, 50}, {256}, {24, 9}, {1, 1}, 0, 1, {50, 45}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 2, {64, 50}, {128}, {64, 20}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B, 0, {-7, -2}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {64, 50}, {512}, {16, 20}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_64B, 0, {8, 2}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {64, 50}, {512}, {8, 20}, {1, 3}, CU_TENSOR_MAP_SWIZZLE_32B, 0, {8, 2}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {64, 50}, {512}, {16, 20}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B, 0, {8, 2}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {61, 50}, {512}, {32, 20}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, 0, {35, 2}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 2, {61, 50}, {512}, {64, 20}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, 1, {13, 40}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, 2, {61, 50}, {512}, {16, 20}, {1, 1}, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, 0, {50, 2}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, 3, {10, 12, 7}, {96, 1152}, {4, 5, 3}, {2, 1, 2}, 0, 1, {8, 9, 5}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, 4, {24, 6, 5, 9}, {48, 288, 1440}, {8, 3, 2, 4}, {1, 2, 1, 3}, 0, 0, {20, -1, 4, 6}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_INT64, 8, 5, {4, 3, 3, 3, 9}, {32, 96, 288, 864}, {2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, 0, 0, {3, 2, -1, 1, 8}, 0},
	{CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, 3, {8, 4, 5}, {128, 512}, {8, 2, 3}, {1, 1, 1}, 0, 0, {3, 2, 3}, CU_TENSOR_MAP_INTERLEAVE_16B},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 4, {9, 6, 4, 3}, {144, 864, 3456}, {16, 3, 2, 2}, {1, 2, 3, 1}, CU_TENSOR_MAP_SWIZZLE_64B, 1, {-2, -1, 3, 2}, CU_TENSOR_MAP_INTERLEAVE_16B},
	{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 5, {20, 4, 3, 2, 2}, {320, 1280, 3840, 7680}, {16, 3, 2, 5, 2}, {3, 1, 1, 1, 1}, 0, 0, {4, 2, 1, 1, 0}, CU_TENSOR_MAP_INTERLEAVE_16B},
	/* PTX ISA, Swizzling modes, the 32-byte one: a tensor of 1x2x10x10xC16 */
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 4, {10, 10, 2, 1}, {320, 3200, 6400}, {16, 4, 2, 1}, {1, 1, 1, 1}, CU_TENSOR_MAP_SWIZZLE_32B, 0, {2, 2, 1, 0}, CU_TENSOR_MAP_INTERLEAVE_32B},
	{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 3, {40, 2, 3}, {1280, 2560}, {12, 1, 2}, {2, 1, 1}, CU_TENSOR_MAP_SWIZZLE_128B, 1, {33, 0, 1}, CU_TENSOR_MAP_INTERLEAVE_32B},
	{CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, 3, {40, 2, 3}, {1280, 2560}, {2, 1, 2}, {1, 1, 1}, 0, 0, {0, 2, 1}, CU_TENSOR_MAP_INTERLEAVE_32B},
};

static const char *const ranks[] = {"1", "2", "3", "4", "5"};
static const char *const list[] = {"%r11", "%r11,%r12", "%r11,%r12,%r13", "%r11,%r12,%r13,%r14",
				   "%r11,%r12,%r13,%r14,%r15"};

/* Coordinates in registers, as constants of the text. */
static void coordinates(char *to, const int *at, unsigned rank)
{
	for (unsigned i = 0; i < rank; i++)
		to += sprintf(to, "mov.s32 %%r%u, %d;", 11 + i, at[i]);
}

static void tiles_in(void **unused)
{
	static uint8_t want[32768];

	(void)unused;
	for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		CUtensorMap map;
		const struct shape *s = &shapes[i];
		char bytes[16], at[256], what[32];
		const char *const with[] = {at, bytes, ranks[s->rank - 1], list[s->rank - 1]};

		fresh();
		fill_source();
		sprintf(bytes, "%u", expected(s, want));
		coordinates(at, s->at, s->rank);
		ok(cuModuleLoadData(&module, filled(PTX(BEGIN("") "$0" EXPECT("$1")
			TMA "$2d" INTO "[%r30], [%d2, {$3}], [%r31];\n" END), with)));
		for (unsigned seed = 0; seed < SEEDS; seed++) {
			emu_set_seed(seed);
			fill_source();
			encode(&map, s);
			ok(launch(&map));
			sprintf(what, "shape %u, seed %u", i, seed);
			check(want, what);
		}
	}
}

/* Out again through a map of the same box over the second half: in-bounds elements
 * arrive where they were, and nothing else changes. */
static void tiles_out(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		CUtensorMap maps[2];
		const struct shape *s = &shapes[i];
		void *args[] = {&out_ptr, &maps[0], &maps[1]};
		char bytes[16], at[256];
		const char *const with[] = {at, bytes, ranks[s->rank - 1], list[s->rank - 1]};
		static uint8_t sm[32768];
		unsigned moved = 0, inside = 0;
		CUfunction f;

		/* faults, or all of it is outside */
		if (s->slices && (s->at[0] < 0 || s->at[1] == (int)s->dim[1]))
			continue;
		fresh();
		fill_source();
		sprintf(bytes, "%u", expected(s, sm));
		coordinates(at, s->at, s->rank);
		ok(cuModuleLoadData(&module, filled(PTX(BEGIN(", .param .align 64 .b8 n[128]") "$0" EXPECT("$1")
			TMA "$2d" INTO "[%r30], [%d2, {$3}], [%r31];\n"
			"W: mbarrier.try_wait.parity.shared.b64 %p9, [%r31], 0; @!%p9 bra W; @!%p0 ret;\n"
			"mov.b64 %d2, n; cp.async.bulk.tensor.$2d.global.shared::cta.tile.bulk_group [%d2, {$3}], [%r30];\n"
			"cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n"), with)));
		ok(cuModuleGetFunction(&f, module, "k"));
		for (unsigned seed = 0; seed < SEEDS; seed++) {
			const uint8_t *a = (const uint8_t *)out, *b = a + 65536;

			emu_set_seed(seed);
			fill_source();
			encode(&maps[0], s);
			maps[1] = maps[0];
			ok(cuTensorMapReplaceAddress(&maps[1], out + 16384));
			ok(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
			ok(cuCtxSynchronize());
			for (unsigned k = 0; k < 65536; k++) {
				assert_true(b[k] == a[k] || !b[k]);
				moved += b[k] != 0;
			}
		}
		/* as many as lie inside: in shared memory they are neither 0xee nor fill */
		for (unsigned k = 0; k < 32768; k++)
			inside += sm[k] != 0xee && sm[k] != 0 && !(s->fill && (sm[k] == 0xff || sm[k] == 0x7f));
		assert_true(moved >= inside * SEEDS && inside);
	}
}

/* Convolution, 3 x 2 filter, one pixel of padding at either side, two above: rank 4, NHWC, or
 * NC/8HWC8, where the dimensions are W, H, C / 8 and N. */
static void convolved(bool slices)
{
	static const cuuint64_t dims[][4] = {{16, 7, 6, 3}, {7, 6, 2, 3}};
	static const cuuint64_t strides[][3] = {{32, 224, 1344}, {112, 672, 1344}};
	static const int lower[] = {-1, -2}, upper[] = {-1, 0}, first[][4] = {{8, 2, -1}, {2, -1, 1}};
	static const cuuint32_t steps[][4] = {{1, 1, 2, 1}, {1, 2, 5, 1}};
	static uint8_t want[32768];
	unsigned pixel = slices ? 8 : 16, line = 7 * pixel, second = slices ? 336 : 8;
	char at[256];
	const char *const with[] = {at};
	CUtensorMap map;
	const uint16_t *src;

	coordinates(at, first[slices], 4);
	load(filled(PTX(BEGIN("") EXPECT("640") "$0 mov.u16 %h0, 2; mov.u16 %h1, 1;\n"
		TMA "4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r30], [%d2, {%r11,%r12,%r13,%r14}], [%r31], {%h0, %h1};\n"
		END), with));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		int w = 2, h = -1, n = 0;

		emu_set_seed(seed);
		fill_source();
		src = (const uint16_t *)(const void *)out;
		ok(cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, out, dims[slices], strides[slices], lower,
					   upper, 8, 40, steps[slices], slices ? CU_TENSOR_MAP_INTERLEAVE_16B : CU_TENSOR_MAP_INTERLEAVE_NONE,
					   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, 0));
		memset(want, 0xee, sizeof want);
		for (unsigned p = 0; p < 40; p++) {
			int x = w + 2, y = h + 1;
			uint16_t *to = (uint16_t *)(void *)want + 8 * p;

			for (unsigned c = 0; c < 8; c++)
				to[c] = x >= 0 && x < 7 && y >= 0 && y < 6 && n < 3 ?
					src[(unsigned)n * 672 + (unsigned)y * line + (unsigned)x * pixel + second + c] : 0;
			if (++w > 7 - 1 + upper[0]) {
				w = lower[0];
				h += 2;
				if (h > 6 - 1 + upper[1]) {
					h = lower[1];
					n++;
				}
			}
		}
		ok(launch(&map));
		check(want, slices ? "im2col of slices" : "im2col");
	}
}

static void im2col(void **unused)
{
	(void)unused;
	convolved(false);
	convolved(true);
}

static void gather(void **unused)
{
	static const struct shape s = {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {60, 50}, {256}, {16, 1},
				       {1, 1}, CU_TENSOR_MAP_SWIZZLE_64B, 0, {0}, 0};
	static const int row[] = {7, 49, 50, 3};
	static uint8_t want[32768];
	CUtensorMap map;

	(void)unused;
	emu_set_device(100);
	load(PTX(BEGIN("") EXPECT("256") "mov.s32 %r11, 48; mov.s32 %r12, 7; mov.s32 %r13, 49; mov.s32 %r14, 50; mov.s32 %r15, 3;\n"
		TMA "2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r30], [%d2, {%r11,%r12,%r13,%r14,%r15}], [%r31];\n"
		"W0: mbarrier.try_wait.parity.shared.b64 %p9, [%r31], 0; @!%p9 bra W0;\n"
		"mov.s32 %r12, 41; mov.s32 %r13, 49; mov.s32 %r14, -1; mov.s32 %r15, 30;\n"
		TMA "2d.global.shared::cta.tile::scatter4.bulk_group [%d2, {%r11,%r12,%r13,%r14,%r15}], [%r30];\n"
		"cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n" END));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		uint32_t before[OUT_WORDS / 4];

		emu_set_seed(seed);
		fill_source();
		memcpy(before, out, sizeof before);
		encode(&map, &s);
		memset(want, 0xee, sizeof want);
		for (unsigned i = 0; i < 4; i++)
			for (unsigned c = 0; c < 16; c++) {
				uint32_t v = row[i] < 50 && c < 12 ? out[row[i] * 64 + 48 + (int)c] : 0;

				memcpy(want + place(&s, i * 64 + c * 4), &v, 4);
			}
		ok(launch(&map));
		check(want, "gather4");
		for (unsigned c = 0; c < 16; c++) {
			assert_int_equal(out[41 * 64 + 48 + c], c < 12 ? before[7 * 64 + 48 + c] : before[41 * 64 + 48 + c]);
			assert_int_equal(out[49 * 64 + 48 + c], before[49 * 64 + 48 + c]);
			assert_int_equal(out[30 * 64 + 48 + c], c < 12 ? before[3 * 64 + 48 + c] : before[30 * 64 + 48 + c]);
		}
	}
	emu_set_device(90);
}

static void reduces(void **unused)
{
	static const struct shape s = {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {60, 50}, {256}, {8, 4},
				       {1, 1}, 0, 0, {0}, 0};
	CUtensorMap map;

	(void)unused;
	load(PTX(BEGIN("") "cvt.rn.f32.u32 %r6, %r0; st.shared.f32 [%r4], %r6; fence.proxy.async.shared::cta; bar.sync 0; @!%p0 ret;\n"
		"mov.s32 %r11, 56; mov.s32 %r12, 3; cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%d2, {%r11,%r12}], [%r30];\n"
		"cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n"));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		float *v = (float *)(void *)out;

		emu_set_seed(seed);
		for (unsigned i = 0; i < 4096; i++)
			v[i] = 0.5f;
		encode(&map, &s);
		ok(launch(&map));
		for (unsigned y = 0; y < 8; y++)
			for (unsigned x = 48; x < 64; x++)
				assert_true(v[y * 64 + x] == (y >= 3 && y < 7 && x >= 56 && x < 60 ?
							      0.5f + (float)((y - 3) * 8 + x - 56) : 0.5f));
	}
}

/* A map made from another one on the device: every field, in shared memory, published by
 * cp_fenceproxy; then in place. */
static void replaced(void **unused)
{
	static const struct shape s = {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, 3, {32, 10, 10}, {128, 1280}, {8, 2, 1},
				       {1, 1, 1}, 0, 0, {0}, 0};
	static const struct shape t = {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {40, 30}, {256}, {16, 7}, {1, 2},
				       CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, 1, {30, 21}, 0};
	static uint8_t want[32768];
	struct shape slices = s;
	CUtensorMap map;
	unsigned stale = 0;

	(void)unused;
	slices.slices = CU_TENSOR_MAP_INTERLEAVE_16B;
	load(PTX(BEGIN("") "mov.u32 %r20, own; add.u64 %d4, %d0, 0x30000;\n"
		/* copy the map to shared memory, change it, publish it */
		"setp.lt.u32 %p2, %r0, 32; @!%p2 bra.uni SKIP; mul.wide.u32 %d5, %r0, 4; add.u64 %d5, %d5, %d2; ld.param.u32 %r21, [%d5];\n"
		"shl.b32 %r22, %r0, 2; add.u32 %r22, %r22, %r20; st.shared.u32 [%r22], %r21; bar.warp.sync 0xffffffff;\n"
		"@!%p0 bra PUB; add.u64 %d6, %d0, 256;\n"
		"tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r20], %d0;\n"
		"tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r20], 1;\n"
		"tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r20], 0, 16;\n"
		"tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r20], 1, 7;\n"
		"tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r20], 0, 40;\n"
		"tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r20], 1, 30;\n"
		"mov.u64 %d7, 256; tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r20], 0, %d7;\n"
		"tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r20], 1, 2;\n"
		"tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r20], 7;\n"
		"tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r20], 3;\n"
		"tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%r20], 3;\n"
		"tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r20], 1;\n"
		"tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r20], 0;\n"
		"PUB: bar.warp.sync 0xffffffff;\n"
		"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d4], [%r20], 128;\n"
		"SKIP: bar.sync 0; fence.proxy.tensormap::generic.acquire.gpu [%d4], 128;\n"
		EXPECT("256") "mov.s32 %r11, 30; mov.s32 %r12, 21;\n"
		TMA "2d" INTO "[%r30], [%d4, {%r11,%r12}], [%r31];\n" END));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		emu_set_seed(seed);
		fill_source();
		encode(&map, &slices);
		expected(&t, want);
		ok(launch(&map));
		check(want, "replaced");
	}
	load(PTX(BEGIN("") "add.u64 %d4, %d0, 0x30000;" EXPECT("128")
		"tensormap.replace.tile.interleave_layout.global.b1024.b32 [%d4], 1;\n"
		"fence.proxy.tensormap::generic.acquire.gpu [%d4], 128;\n"
		TMA "3d" INTO "[%r30], [%d4, {0,0,0}], [%r31];\n" END));
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		emu_set_seed(seed);
		fill_source();
		encode((CUtensorMap *)(void *)(out + 0xc000), &s);
		assert_int_equal(expected(&slices, want), 128);
		ok(launch(&map));
		check(want, "interleaved");
	}
	/* The map is used, changed, and used again: without a fence it may be the old one. */
	for (unsigned fence = 0; fence < 2; fence++) {
		const char *with[] = {fence ? "fence.proxy.tensormap::generic.acquire.gpu [%d4], 128;" : ""};

		load(filled(PTX(BEGIN("") "add.u64 %d4, %d0, 0x30000; @!%p0 bra W;\n"
			"mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 32;\n"
			TMA "3d" INTO "[%r30], [%d4, {0,0,0}], [%r31];\n"
			"W0: mbarrier.try_wait.parity.shared.b64 %p9, [%r31], 0; @!%p9 bra W0;\n"
			"add.u64 %d6, %d0, 1024; tensormap.replace.tile.global_address.global.b1024.b64 [%d4], %d6;\n$0"
			"mbarrier.arrive.expect_tx.shared.b64 _, [%r31], 32;\n"
			TMA "3d" INTO "[%r30], [%d4, {0,0,0}], [%r31];\n"
			"W1: mbarrier.try_wait.parity.shared.b64 %p9, [%r31], 1; @!%p9 bra W1;\n"
			"ld.shared.u32 %r7, [%r30]; st.global.u32 [%d0+0x3ff00], %r7; ret; W: ret; }\n"), with));
		for (unsigned seed = 0; seed < 40; seed++) {
			emu_set_seed(seed);
			fill_source();
			encode((CUtensorMap *)(void *)(out + 0xc000), &s);
			ok(launch(&map));
			if (fence || out[0xffc0] != out[0])
				assert_int_equal(out[0xffc0], out[256]);
			else
				stale++;
		}
	}
	assert_true(stale > 3 && stale < 37);
}

static void refused(void **unused)
{
	struct shape s = {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {64, 50}, {512}, {16, 20}, {1, 1}, 0, 0, {0}, 0};
	CUtensorMap map;
	struct capture c;
	CUresult r;

#define BAD(change) do { struct shape b = s; b.change; assert_int_equal( \
	cuTensorMapEncodeTiled(&map, b.type, b.rank, out, b.dim, b.stride, b.box, b.step, b.slices, b.swizzle, 0, b.fill), \
	CUDA_ERROR_INVALID_VALUE); } while (0)
	(void)unused;
	fresh();
	encode(&map, &s);
	BAD(rank = 0);
	BAD(rank = 6);
	BAD(dim[1] = 0);
	BAD(dim[0] = (UINT64_C(1) << 32) + 1);
	BAD(stride[0] = 520);
	BAD(stride[0] = UINT64_C(1) << 40);
	BAD(box[0] = 257);
	BAD(box[0] = 0);
	BAD(box[0] = 15);
	BAD(step[1] = 9);
	BAD(swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
	BAD(swizzle = 7);
	BAD(fill = 2);
	assert_int_equal(cuTensorMapEncodeTiled(&map, s.type, 2, (char *)out + 8, s.dim, s.stride, s.box, s.step,
						0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	BAD(slices = CU_TENSOR_MAP_INTERLEAVE_16B);
	s = (struct shape){CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, 3, {8, 4, 5}, {128, 512}, {8, 2, 3}, {1, 1, 1}, 0, 0, {0},
			   CU_TENSOR_MAP_INTERLEAVE_32B};
	encode(&map, &s);
	BAD(stride[1] = 528);
	BAD(box[0] = 12);
	BAD(box[0] = (b.box[1] = b.box[2] = 121, 8));
	BAD(swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B);
	BAD(slices = 3);
	assert_int_equal(cuTensorMapEncodeTiled(&map, s.type, 3, (char *)out + 16, s.dim, s.stride, s.box, s.step,
						s.slices, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	load(PTX(BEGIN("") "@!%p0 bra W; mov.u32 %r11, 0; mov.s32 %r12, -1;"
		TMA "3d.global.shared::cta.tile.bulk_group [%d2, {%r12,%r11,%r11}], [%r30]; W: ret; }\n"));
	encode(&map, &s);
	capture_begin(&c, 2);
	r = launch(&map);
	assert_non_null(strstr(capture_end(&c), "begins before an interleaved tensor"));
	assert_int_not_equal(r, CUDA_SUCCESS);
	fresh();
	s = (struct shape){CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, {64, 50}, {512}, {16, 20}, {1, 1}, 0, 0, {0}, 0};
	/* no map at all, another rank, memory that there is not */
	load(PTX(BEGIN("") EXPECT("1280") "mov.u32 %r11, 0;" TMA "2d" INTO "[%r30], [%d2, {%r11,%r11}], [%r31];\n" END));
	memset(&map, 0, sizeof map);
	capture_begin(&c, 2);
	r = launch(&map);
	assert_non_null(strstr(capture_end(&c), "no tensor map"));
	assert_int_not_equal(r, CUDA_SUCCESS);
	load(PTX(BEGIN("") EXPECT("1280") "mov.u32 %r11, 0;" TMA "1d" INTO "[%r30], [%d2, {%r11}], [%r31];\n" END));
	encode(&map, &s);
	capture_begin(&c, 2);
	r = launch(&map);
	assert_non_null(strstr(capture_end(&c), "another rank"));
	assert_int_not_equal(r, CUDA_SUCCESS);
	load(PTX(BEGIN("") EXPECT("1280") "mov.u32 %r11, 0; mov.u32 %r12, 500;" TMA "2d" INTO "[%r30], [%d2, {%r11,%r12}], [%r31];\n" END));
	s.dim[1] = 1000;
	encode(&map, &s);
	capture_begin(&c, 2);
	r = launch(&map);
	assert_non_null(strstr(capture_end(&c), "which is no memory"));
	assert_int_not_equal(r, CUDA_SUCCESS);
	fresh();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_in), cmocka_unit_test(tiles_out), cmocka_unit_test(im2col),
		cmocka_unit_test(gather), cmocka_unit_test(reduces), cmocka_unit_test(replaced),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
