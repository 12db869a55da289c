/* SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.cuh: the shared memory that wgmma reads through the async proxy.  (PTX ISA,
 * Asynchronous Warpgroup Level Matrix Instructions: Matrices in shared memory)
 *
 * A matrix that is major in k is rows of 32 bytes, two pieces of 16 each.  The 128
 * threads of the warpgroup share the rows of both.
 */
#define wgmma_rows      __gsan_v1_wgmma_rows

#define DESC_SWIZZLE(d) ((u32)((d) >> 62))

/* `rows` rows of the matrix, the calling thread's share of them. */
SLOW void wgmma_rows(struct gsan_warp *w, u64 d, u32 rows, u64 rec, u32 site)
{
	u32 swizzle = DESC_SWIZZLE(d);
	struct reader r = { w, rec, w->slot, site };
	if (DESC_BASE(d)) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	matrix_read(r, d, swizzle ? 256u >> swizzle : 0, false, rows, 2, (w->id & 3) << 5 | sreg_laneid(), 128);
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
		u64 rec = group_record(self_of(w), GSAN_HOW_WGMMA, n);
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
