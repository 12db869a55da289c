/* SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.cuh: the shared memory that wgmma reads through the async proxy.  (PTX ISA,
 * Asynchronous Warpgroup Level Matrix Instructions: Matrices in shared memory)
 *
 * A matrix that is major in k is rows of 32 bytes, two pieces of 16 each.  The 128
 * threads of the warpgroup share the rows of both.
 */
#define wgmma_rows      __gsan_v1_wgmma_rows

/* The descriptor's fields count 16 bytes. */
#define DESC_START(d)   ((u32)(d) << 4 & 0x3fff0)
#define DESC_LEAD(d)    ((u32)((d) >> 16) << 4 & 0x3fff0)
#define DESC_STRIDE(d)  ((u32)((d) >> 32) << 4 & 0x3fff0)
#define DESC_BASE(d)    ((u32)((d) >> 49) & 7)
#define DESC_SWIZZLE(d) ((u32)((d) >> 62))

/* `rows` rows of the matrix, the calling thread's share of them. */
SLOW void wgmma_rows(struct gsan_warp *w, u64 d, u32 rows, u64 rec, u32 site)
{
	u32 swizzle = DESC_SWIZZLE(d), span = swizzle ? 256u >> swizzle : 16;
	u32 mask = swizzle ? span - 16 : 0, lead = swizzle ? 16 : DESC_LEAD(d);
	if (DESC_BASE(d)) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	ROLLED
	for (u32 r = (w->id & 3) << 5 | sreg_laneid(); r < rows; r += 128) {
		u32 at = DESC_START(d) + (r >> 3) * DESC_STRIDE(d) + (r & 7) * span;
		ROLLED
		for (u32 k = 0; k < 2; k++) {
			u32 a = at + k * lead;
			async_range(w, w->slot, a ^ (a >> 3 & mask), 16, rec, ISSUE_PROXY | ISSUE_SHARED, site);
		}
	}
}

/* The group of the warp's next wgmma; in a new block they go on from the last one's. */
FN u32 wgmma_now(struct gsan_warp *w)
{
	struct gsan_log *log = log_of(w->id << 5);
	u32 group = __activemask(), n = load(&log->wgmma);
	if (load(&log->wgmma_start) != w->start) {
		meet(group);
		if (sreg_laneid() == __ffs(group) - 1) {
			store(&log->wgmma_waited, n);
			store(&log->wgmma, n + 1);
			__threadfence();
			store(&log->wgmma_start, w->start);
		}
		meet(group);
		n = n + 1;
	}
	return n;
}

API void __gsan_v1_wgmma(u64 ctx, u64 a, u64 b, u32 op, u32 site)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	TOGETHER(
		u32 n = wgmma_now(w);
		/* One thread stands for the warpgroup: what is alike in neighbouring
		 * granules is judged once, see async_range. */
		u64 rec = group_record((w->id & ~3u) << 5, GSAN_HOW_WGMMA, n);
		if (n > GSAN_ASYNC_GROUP_MAX || (op & (GSAN_WGMMA_A | GSAN_WGMMA_B)) == 0) {
			fetch_add(&w->unmodelled, 1);
		} else {
			if (op & GSAN_WGMMA_A)
				wgmma_rows(w, a, 64, rec, site + __gsan_site_base);
			if (op & GSAN_WGMMA_B)
				wgmma_rows(w, b, op & 0xffff, rec, site + __gsan_site_base);
		}
	);
}

API void __gsan_v1_wgmma_group(u64 ctx, u32 op, u32 pending)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	TOGETHER(
		u32 n = wgmma_now(w), group = __activemask();
		struct gsan_log *log = log_of(w->id << 5);
		u32 from = load(&log->wgmma_waited), upto = n - 1 > pending ? n - 1 - pending : 0;
		meet(group);
		if (sreg_laneid() == __ffs(group) - 1) {
			if (op & GSAN_GROUP_COMMIT) {
				store(&log->wgmma, n + 1);
			} else if (upto > from) {
				wait_noted(w, group, GSAN_WAIT_WGMMA, from, upto, load(&w->clock), 0);
				store(&log->wgmma_waited, upto);
			}
		}
	);
}
