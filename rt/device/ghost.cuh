/* SPDX-License-Identifier: Apache-2.0
 *
 * ghost.cuh: what stands in the lines of a posted copy is mostly settled: the copy that filled them last,
 * products and rows that read them.  Whether it is, a warp that walks the copy asks with all of its lanes:
 * each has what the ghost knows of one warp of the block, and looks at one entry of what tells that an
 * operation is over.  A yes is what issue_status would say as well; all else is left to that.
 */

/* What a ghost knows of the warp of the calling lane's number: never more than lane_knows says of it. */
struct ghost_view {
	uint4 me;               /* id start launch_base shared_limit */
	u32 warps;
	u32 left;               /* what came behind this clock it does not know */
	u32 base, top, mask;    /* all lanes up to `base`, those of `mask` up to `top` */
};

/* By all 32 lanes. */
FN struct ghost_view ghost_of(const struct gsan_post *p)
{
	u32 lane = sreg_laneid();
	struct ghost_view g;
	/* mask clock floor wfloor; own_top own_mask sc sc_cta */
	uint4 k = load_ca(&p->knew), own = load_ca(&p->knew.own_top), list[3];
#pragma unroll
	for (u32 i = 0; i < 3; i++)
		list[i] = load_ca(&p->knew.refs[i]);
	u64 block = load_ca64(&p->w.block);
	g.me = load_ca(&p->w.id);
	g.left = load_ca32(&p->clock[lane]);
	g.warps = (load_ca32(&at<struct gsan_block>(block)->ntid) + 31) >> 5;
	bool self = lane == (g.me.x & 31);
	g.base = self && k.w > k.z ? k.w : k.z;
	g.top = self ? k.y : 0;
	g.mask = self ? k.x : 0;
	ROLLED
	for (u32 i = 0; i < 3; ) {
		u32 id = list[0].x;
		list[0] = four(list[0].y, list[0].z, list[0].w, 0);
		if (!id) {
			list[0] = list[1];
			list[1] = list[2];
			list[2] = four(0, 0, 0, 0);
			i++;
			continue;
		}
		const struct gsan_snap *s = snap_of(id);
		uint4 a = load_cg(s), b = load_cg(&s->floor), c = load_cg(&s->nslots);
		uint4 row = id & GSAN_SNAP_LARGE ? load_cg(snap_own((struct gsan_snap *)s) + lane) : four(0, 0, 0, 0);
		/* As in snap_knows: id flags slot start; floor warp top mask; _ _ base; base top mask. */
		if (a.x != id || a.z != g.me.x >> 5 || a.w != g.me.y)
			continue;
		if (lane >= GSAN_SNAP_ROWS(a.y))
			row = four(0, 0, 0, 0);
		if (lane == b.y) {
			row.x = c.z > row.x ? c.z : row.x;
			if (b.w && b.z > row.y)
				row = four(row.x, b.z, b.w, 0);
		}
		row.x = b.x > row.x ? b.x : row.x;
		/* All of its lanes are the warp: the ghost's own later clock, of one, tells less. */
		row.x = !~row.z && row.y > row.x ? row.y : row.x;
		g.base = row.x > g.base ? row.x : g.base;
		/* Of two with some lanes the later one. */
		if (row.z && row.y > g.top) {
			g.top = row.y;
			g.mask = row.z;
		}
	}
	return g;
}

/* Of all of `lanes` up to `clock`, where it knows this of their warp?  (0: of any) */
FN bool view_knows(u32 left, u32 base, u32 top, u32 mask, u32 lanes, u32 clock)
{
	return clock <= left && (clock <= base || (clock <= top && mask && !(lanes & ~mask)));
}

/* The same of warp `k`. */
FN bool ghost_knows(const struct ghost_view *g, u32 k, u32 lanes, u32 clock)
{
	u32 left = __shfl_sync(~0u, g->left, k), base = __shfl_sync(~0u, g->base, k);
	u32 top = __shfl_sync(~0u, g->top, k), mask = __shfl_sync(~0u, g->mask, k);
	return view_knows(left, base, top, mask, lanes, clock);
}

/* A copy that an mbarrier of the block completes: has somebody of whom it knows seen the phase over?  As
 * mbar_past, of one of the last two phases. */
FN bool ghost_saw_phase(const struct ghost_view *g, u64 r)
{
	u32 lane = sreg_laneid(), phase = phase_in(r);
	const struct gsan_mbar *m = mbars_of(g->me.x >> 5) + mbar_in(r);
	uint4 head = load_cg(m), phases = load_cg(&m->phase);   /* start addr lock flags; phase first */
	u64 v = load64((const u64 *)&m->seen[phase & 1][lane]);
	u32 left = (phases.x - phase) & GSAN_MBAR_PHASES, odd = (GSAN_MBAR_SHORT | GSAN_MBAR_EITHER) << (phase & 1) | GSAN_MBAR_LOST;
	u32 clock = (u32)v, lanes = (u32)(v >> 32);
	bool saw = lane < g->warps && lanes && clock <= g->left && (clock <= g->base || (clock <= g->top && (lanes & g->mask)));
	bool it = head.x == g->me.y && !(head.w & odd) && left - 1 < 2 && !(((phase - phases.y) & GSAN_MBAR_PHASES) > GSAN_MBAR_PHASES / 2);
	return __any_sync(~0u, saw && it);
}

/* A group of wgmma of the block: does it know of a wait of one of the warpgroup's four warps?  As wgmma_over, of
 * the last eight entries of each. */
FN bool ghost_saw_products(const struct ghost_view *g, u64 r)
{
	u32 lane = sreg_laneid(), who = (u32)(r >> 12) & 0x7fffff, number = GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX;
	const struct gsan_log *log = log_of(who & ~127u) + (lane >> 3);
	u32 began = load(&log->wgmma_start), n = load(&log->waits);
	uint4 e = load_cg(&log->wait[(n - 1 - (lane & 7)) % GSAN_LOG]);         /* clock mask upto from */
	bool tells = began == g->me.y && e.z >> 28 == GSAN_WAIT_WGMMA && e.y && (e.z & 0xfffffff) >= number && e.x > g->me.y;
	return __any_sync(~0u, ghost_knows(g, (who >> 5 & 28) + (lane >> 3), 0, e.x) && tells);
}

/* A group of bulk copies of a thread of the block, which read: does it know of a wait of that thread?  As group_over. */
FN bool ghost_saw_group(const struct ghost_view *g, u64 r)
{
	u32 who = (u32)(r >> 12) & 0x7fffff, bit = 1u << (who & 31), number = GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX;
	u32 kinds = 1u << GSAN_WAIT_BULK | 1u << GSAN_WAIT_READ;
	uint4 e = load_cg(&log_of(who)->wait[sreg_laneid() % GSAN_LOG]);        /* clock mask upto from */
	bool tells = (kinds >> (e.z >> 28) & 1) && (e.y & bit) && (e.z & 0xfffffff) >= number && e.x > g->me.y;
	return __any_sync(~0u, ghost_knows(g, who >> 5 & 31, bit, e.x) && tells);
}

/* Of copy `p` and its view; what an earlier tenant of the slot left, which stands in all that the block fills first, is over as
 * well. */
FN bool ghost_saw(struct gsan_post *p, const struct ghost_view *g, u64 r)
{
	bool saw = false, mbar = async_what(r) & GSAN_ASYNC_MBAR;
	if (GSAN_REC_SLOT(r) != g->me.x >> 5 || (mbar && ((r & MBAR_PEER) || generic_too(r))))
		return false;
	if (mbar)
		saw = ghost_saw_phase(g, r);
	else if (async_how(r) == GSAN_HOW_BULK && !(r & ASYNC_WRITES))
		saw = ghost_saw_group(g, r);
	else if (async_how(r) == GSAN_HOW_WGMMA)
		saw = ghost_saw_products(g, r);
	return saw || async_gone(&p->w, r);
}

/* The last proxy fence for shared memory by all of the warp of the calling lane's number that it knows of, among
 * that warp's last ones: what the warp accessed up to that clock is known, and fenced.  As fence_next. */
FN u32 ghost_fenced(const struct ghost_view *g)
{
	enum { LAST = 4 };
	u32 lane = sreg_laneid(), clock = 0;
	const struct gsan_log *log = log_of((g->me.x & ~31u | lane) << 5);
	u32 n = lane < g->warps ? load(&log->fences) : 0;
	uint4 e[LAST];          /* clock mask what */
#pragma unroll
	for (u32 i = 0; i < LAST; i++)
		e[i] = lane < g->warps ? load_cg(&log->fence[(n - 1 - i) % GSAN_LOG]) : four(0, 0, 0, 0);
#pragma unroll
	for (u32 i = 0; i < LAST; i++) {
		bool all = (e[i].z & GSAN_PROXY_SHARED) && !(e[i].z & PROXY_HALVES) && !~e[i].y;
		bool known = view_knows(g->left, g->base, g->top, g->mask, ~0u, e[i].x);
		clock = all && known && e[i].x > clock ? e[i].x : clock;
	}
	return clock;
}
