/* SPDX-License-Identifier: Apache-2.0
 *
 * matrix.cuh: matrices in shared memory that wgmma and tcgen05 read by descriptor
 * through the async proxy: which bytes those are.  (PTX ISA, Asynchronous Warpgroup
 * Level Matrix Instructions and TensorCore 5th Generation Instructions: Matrices in
 * shared memory, Canonical Layouts)
 */
#define matrix_read     __gsan_v1_matrix_read
#define matrix_read_mn  __gsan_v1_matrix_read_mn

/* The descriptor's fields count 16 bytes. */
#define DESC_START(d)   ((u32)(d) << 4 & 0x3fff0)
#define DESC_LEAD(d)    ((u32)((d) >> 16) << 4 & 0x3fff0)
#define DESC_STRIDE(d)  ((u32)((d) >> 32) << 4 & 0x3fff0)
#define DESC_BASE(d)    ((u32)((d) >> 49) & 7)

/* Who issues it, and in whose shared memory the matrix lies. */
struct reader { struct gsan_warp *w; u64 rec; u32 slot, site; };

/* How 16 bytes are moved about; `wide`: 32 bytes together. */
FN u32 swizzled(u32 a, u32 span, bool wide)
{
	return wide ? a ^ (a >> 2 & 0x60) : span ? a ^ (a >> 3 & (span - 16)) : a;
}

/* Rows `first`, `first` + `step`, ... of a matrix that is major in k: `pieces` of 16
 * bytes each. */
SLOW void matrix_read(struct reader r, u64 d, u32 span, bool wide, u32 rows, u32 pieces, u32 first, u32 step)
{
	u32 lead = span ? 16 : DESC_LEAD(d), row = span ? span : 16;
	ROLLED
	for (u32 i = first; i < rows; i += step) {
		u32 at = DESC_START(d) + (i >> 3) * DESC_STRIDE(d) + (i & 7) * row;
		ROLLED
		for (u32 k = 0; k < pieces; k++)
			async_range(r.w, r.slot, swizzled(at + k * lead, span, wide), 16, r.rec, ISSUE_PROXY | ISSUE_SHARED, r.site);
	}
}

/* All of a matrix that is major in m or n: 32 bytes of k, `rows` elements of `size`. */
SLOW void matrix_read_mn(struct reader r, u64 d, u32 span, bool wide, u32 rows, u32 size)
{
	ROLLED
	for (u32 k = 0; k < 32 / size; k++)
		ROLLED
		for (u32 b = 0; b < rows * size; b += 16) {
			u32 at = DESC_START(d) + (span ?
				b / span * DESC_LEAD(d) + b % span + (k >> 3) * DESC_STRIDE(d) + (k & 7) * span :
				(b >> 4) * DESC_STRIDE(d) + (k >> 3) * DESC_LEAD(d) + (k & 7) * 16);
			async_range(r.w, r.slot, swizzled(at, span, wide), 16, r.rec, ISSUE_PROXY | ISSUE_SHARED, r.site);
		}
}
