/* SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.cuh: the shared memory that wgmma reads through the async proxy.  (PTX ISA,
 * Asynchronous Warpgroup Level Matrix Instructions: Matrices in shared memory)
 *
 * The 128 threads of the warpgroup share the lines of both matrices.
 */
#define wgmma_part      __gsan_v1_wgmma_part

#define DESC_SWIZZLE(d) ((u32)((d) >> 62))

/* `rows` rows of `columns` bytes of the matrix, the calling thread's share of them. */
SLOW void wgmma_part(struct issue *x, u32 all, u64 d, bool mn, u32 rows, u32 columns)
{
	u32 layout = (DESC_SWIZZLE(d) ? 256u >> DESC_SWIZZLE(d) : 0) | (mn ? LAYOUT_MN : 0);
	matrix_read(x, all, d, layout, rows, columns, 2, (x->w->id & 3) << 5 | sreg_laneid(), 128);
}

/* The lines of a matrix, if it has whole columns of them: of the calling warp's share the
 * `lane`-th one, and which columns.  Major in k, a product's slice of each row is two columns
 * or four; major in m or n, each piece of 64 rows fills lines. */
struct matrix_lines { u32 mine, columns; };     /* how many of them are the warp's */

FN struct matrix_lines matrix_lines(u64 d, bool mn, u32 rows, u32 bytes, u32 warp)
{
	struct matrix_lines m = { 0, 0 };
	u32 start = DESC_START(d), first = start >> 4 & 7, n = bytes >> 4, far = DESC_STRIDE(d) | (mn ? start | DESC_LEAD(d) : start & 0x380);
	if (DESC_SWIZZLE(d) != 1 || DESC_BASE(d) || (far & (LINE_BYTES - 1)) || (mn ? rows & 63 : first + n > 8))
		return m;
	u32 lines = mn ? rows / 64 * (bytes / 16) : rows / 8;
	m.mine = (lines + 3 - warp) / 4;
	m.columns = mn ? LINE_ALL : ((1u << n) - 1) << first;
	return m;
}

FN u32 matrix_line_at(u64 d, bool mn, u32 rows, u32 i)
{
	u32 start = DESC_START(d) & ~(LINE_BYTES - 1), each = rows / 64;
	return mn ? start + i / each * DESC_STRIDE(d) + i % each * DESC_LEAD(d) : start + i * DESC_STRIDE(d);
}

/* All lanes of the warp come to these instructions together, whether they come here
 * together or not.  (PTX ISA, wgmma: .sync.aligned) */
FN u32 wgmma_lanes(struct gsan_warp *w)
{
	u32 all = load(&w->live);
	meet(all);
	return all;
}

/* The group of the warp's next wgmma; in a new block they go on from the last one's. */
FN u32 wgmma_now(struct gsan_warp *w, u32 all)
{
	struct gsan_log *log = log_of(w->id << 5);
	u32 n = load(&log->wgmma);
	bool old = load(&log->wgmma_start) != w->start;
	meet(all);
	if (old && sreg_laneid() == __ffs(all) - 1) {
		store(&log->wgmma_waited, n);
		store(&log->wgmma, n + 1);
		__threadfence();
		store(&log->wgmma_start, w->start);
	}
	meet(all);
	return old ? n + 1 : n;
}

API void __gsan_v1_wgmma(u64 ctx, u64 a, u64 b, u32 op, u32 site)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 all = wgmma_lanes(w), n = wgmma_now(w, all);
	/* One thread stands for the warpgroup: what is alike in neighbouring granules is
	 * judged once, see async_range. */
	u64 rec = group_record((w->id & ~3u) << 5, GSAN_HOW_WGMMA, n);
	site += __gsan_site_base;
	if (n > GSAN_ASYNC_GROUP_MAX) {
		fetch_add(&w->unmodelled, 1);
	} else {
		struct issue x;
		issue_begin(&x, w, w->slot, rec, ISSUE_PROXY | ISSUE_SHARED, site);
		u32 warp = w->id & 3, lane = sreg_laneid(), rows = op & 0xffff, depth = op & GSAN_WGMMA_SPARSE ? 64 : 32;
		struct matrix_lines m = { 0, 0 }, n = matrix_lines(b, op & GSAN_WGMMA_B_MN, rows, depth, warp);
		if (op & GSAN_WGMMA_A)
			m = matrix_lines(a, op & GSAN_WGMMA_A_MN, 64, 32, warp);
		if (m.mine + n.mine) {
			bool of_b = lane >= m.mine;
			u32 i = (of_b ? lane - m.mine : lane) * 4 + warp;
			u32 start = of_b ? matrix_line_at(b, op & GSAN_WGMMA_B_MN, rows, i) : matrix_line_at(a, op & GSAN_WGMMA_A_MN, 64, i);
			lines_issue(&x, all, lane < m.mine + n.mine, start, of_b ? n.columns : m.columns, true);
		}
		if ((op & GSAN_WGMMA_A) && !m.columns)
			wgmma_part(&x, all, a, op & GSAN_WGMMA_A_MN, 64, 32);
		if (!n.columns)
			wgmma_part(&x, all, b, op & GSAN_WGMMA_B_MN, rows, depth);
	}
	meet(all);
}

API void __gsan_v1_wgmma_group(u64 ctx, u32 op, u32 pending)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 all = wgmma_lanes(w), n = wgmma_now(w, all);
	if (sreg_laneid() == __ffs(all) - 1) {
		struct gsan_log *log = log_of(w->id << 5);
		u32 from = load(&log->wgmma_waited), upto = n - 1 > pending ? n - 1 - pending : 0;
		if (op & GSAN_GROUP_COMMIT) {
			store(&log->wgmma, n + 1);
		} else if (upto > from) {
			store(&log->wgmma_seen, upto);
			if (!chosen(GSAN_CHOICE_wgmma_read_retire)) {
				wait_noted(w, all, GSAN_WAIT_WGMMA, from, upto, load(&w->clock), 0);
				store(&log->wgmma_waited, upto);
			}
		}
	}
	meet(all);
}
