/* SPDX-License-Identifier: Apache-2.0
 *
 * matrix.cuh: matrices in shared memory that wgmma and tcgen05 read by descriptor
 * through the async proxy: which bytes those are.  (PTX ISA, Asynchronous Warpgroup
 * Level Matrix Instructions and TensorCore 5th Generation Instructions: Matrices in
 * shared memory, Canonical Layouts)
 */
#define matrix_read     __gsan_v1_matrix_read

/* The descriptor's fields count 16 bytes. */
#define DESC_START(d)   ((u32)(d) << 4 & 0x3fff0)
#define DESC_LEAD(d)    ((u32)((d) >> 16) << 4 & 0x3fff0)
#define DESC_STRIDE(d)  ((u32)((d) >> 32) << 4 & 0x3fff0)
#define DESC_BASE(d)    ((u32)((d) >> 49) & 7)

/* Who issues it, and in whose shared memory the matrix lies. */
struct reader { struct gsan_warp *w; u64 rec; u32 slot, site; };

/* `rows` rows of m or n by `columns` bytes of k, elements of `size` bytes.  `span` of the
 * swizzle, 0: none; `wide`: of 32 bytes together.  Pieces of 16 bytes: major in k, each row
 * is a line of them; major in m or n (`mn`), a line is one piece, of one column. */
struct matrix { u64 d; u32 span, rows, columns, size; bool wide, mn; };

/* Where line `i` begins, before the swizzle. */
FN u32 matrix_line(const struct matrix *m, u32 i)
{
	u32 n = m->columns / m->size, b = i / n * 16, k = i % n, span = m->span;
	u64 d = m->d;
	if (!m->mn)
		return DESC_START(d) + (i >> 3) * DESC_STRIDE(d) + (i & 7) * (span ? span : 16);
	if (!span)
		return DESC_START(d) + (b >> 4) * DESC_STRIDE(d) + (k >> 3) * DESC_LEAD(d) + (k & 7) * 16;
	return DESC_START(d) + b / span * DESC_LEAD(d) + b % span + (k >> 3) * DESC_STRIDE(d) + (k & 7) * span;
}

FN u32 matrix_swizzled(const struct matrix *m, u32 a)
{
	return m->wide ? a ^ (a >> 2 & 0x60) : m->span ? a ^ ((a - (DESC_BASE(m->d) << 7)) >> 3 & (m->span - 16)) : a;
}

/* Lines `first`, `first` + `step`, ... of it. */
SLOW void matrix_read(struct reader r, struct matrix m, u32 first, u32 step)
{
	u32 lines = m.mn ? m.rows * m.size / 16 * (m.columns / m.size) : m.rows;
	u32 pieces = m.mn ? 1 : m.columns / 16, lead = m.span ? 16 : DESC_LEAD(m.d);
	ROLLED
	for (u32 i = first; i < lines; i += step) {
		u32 at = matrix_line(&m, i);
		ROLLED
		for (u32 k = 0; k < pieces; k++)
			async_range(r.w, r.slot, matrix_swizzled(&m, at + k * lead), 16, r.rec, ISSUE_PROXY | ISSUE_SHARED, r.site);
	}
}
