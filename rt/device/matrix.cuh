/* SPDX-License-Identifier: Apache-2.0
 *
 * matrix.cuh: matrices in shared memory that wgmma and tcgen05 read by descriptor
 * through the async proxy: which bytes those are.  (PTX ISA, Asynchronous Warpgroup
 * Level Matrix Instructions: Strides; TensorCore 5th Generation Instructions: Shared
 * memory descriptor; Canonical Layouts)
 *
 * A matrix is pieces of 16 bytes.  Major in k, each row is a line of them; major in m or
 * n, a piece is the rows of one column that fit into it, and a line of its own.
 */
#define matrix_read     __gsan_v1_matrix_read

/* The descriptor's fields count 16 bytes. */
#define DESC_START(d)   ((u32)(d) << 4 & 0x3fff0)
#define DESC_LEAD(d)    ((u32)((d) >> 16) << 4 & 0x3fff0)
#define DESC_STRIDE(d)  ((u32)((d) >> 32) << 4 & 0x3fff0)
#define DESC_BASE(d)    ((u32)((d) >> 49) & 7)

/* Of a layout: the span of the swizzle in bytes, 0: none; and */
#define LAYOUT_SPAN(l)  ((l) & 255)
#define LAYOUT_MN       256u    /* major in m or n */
#define LAYOUT_WIDE     512u    /* 32 bytes are moved about together, not 16 */

/* Where line `i` of a matrix begins, before the swizzle: row i, or where it is major in
 * m or n, of `columns` columns, column i % columns of piece i / columns of the rows. */
FN u32 matrix_line(u64 d, u32 layout, u32 columns, u32 i)
{
	u32 span = LAYOUT_SPAN(layout), r = i / columns, k = i % columns;
	if (!(layout & LAYOUT_MN))
		return DESC_START(d) + (i >> 3) * DESC_STRIDE(d) + (i & 7) * (span ? span : 16);
	if (!span)
		return DESC_START(d) + r * DESC_STRIDE(d) + (k >> 3) * DESC_LEAD(d) + (k & 7) * 16;
	return DESC_START(d) + r * 16 / span * DESC_LEAD(d) + r * 16 % span + (k >> 3) * DESC_STRIDE(d) + (k & 7) * span;
}

/* What the swizzle makes of an address. */
FN u32 swizzled(u64 d, u32 layout, u32 a)
{
	u32 b = a - (DESC_BASE(d) << 7), span = LAYOUT_SPAN(layout);
	return layout & LAYOUT_WIDE ? a ^ (b >> 2 & 0x60) : span ? a ^ (b >> 3 & (span - 16)) : a;
}

/* Lines `first`, `first` + `step`, ... of a matrix of `rows` rows of `bytes` bytes in
 * elements of `size`, by all lanes of `group`. */
SLOW void matrix_read(struct issue *x, u32 group, u64 d, u32 layout, u32 rows, u32 bytes, u32 size, u32 first, u32 step)
{
	bool mn = layout & LAYOUT_MN;
	u32 columns = bytes / size, lines = mn ? rows * size / 16 * columns : rows, pieces = mn ? 1 : bytes / 16;
	u32 lead = LAYOUT_SPAN(layout) ? 16 : DESC_LEAD(d);
	meet_all(group);
	ROLLED
	for (u32 i = first; __ballot_sync(group, i < lines); i += step) {
		u32 at = matrix_line(d, layout, columns, i);
		ROLLED
		for (u32 k = 0; k < pieces; k++)
			async_range(x, group, swizzled(d, layout, at + k * lead), i < lines ? 16 : 0);
		meet_all(group);
	}
}
