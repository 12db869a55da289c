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
		if (op & GSAN_WGMMA_A)
			wgmma_part(&x, all, a, op & GSAN_WGMMA_A_MN, 64, 32);
		wgmma_part(&x, all, b, op & GSAN_WGMMA_B_MN, op & 0xffff, op & GSAN_WGMMA_SPARSE ? 64 : 32);
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
