/* SPDX-License-Identifier: Apache-2.0
 *
 * order.cuh: the one order of all fence.sc, kept as a number each and a log per
 * warp and per block.  (PTX ISA, Memory Consistency Model: Fence-SC)
 *
 * A fence costs a number and two stores; who wants to know what the fences up to
 * number n published looks into the log of the thread in question.  Entries
 * outlive their block, since others may ask later.
 */
FN struct gsan_fence *fence_log(u32 slot, u32 which)
{
	return at<struct gsan_fence>(ROOT(fences)) + ((u64)slot * GSAN_FENCE_LOGS + which) * GSAN_FENCES;
}

/* In `top` of an entry: what the lane knew of its warp from before its fence. */
#define GSAN_FENCE_BEFORE       0x40000000u

/* Was fence `a` (0: none) run no later than fence `b` (0: none)? */
FN bool no_later(u32 a, u32 b) { return a && b && (int)(b - a) >= 0; }

/* Enters a fence as the log's next, of `*entries` so far, and takes its number.  Meanwhile the
 * entry says so: whoever has a higher number already must not miss it.  One after the
 * other (see ring_begin): what was overwritten is told from what stands there. */
SLOW u32 fence_enter(struct gsan_fence *log, u32 *entries, u32 top, u32 mask, u32 base)
{
	u32 at = load(entries);
	struct gsan_fence *e = log + at % GSAN_FENCES;
	store_cg(e, four(GSAN_FENCE_BUSY, top, mask, base));
	__threadfence();
	store(entries, at + 1);
	u32 n = fetch_add(&root()->sc_next, 1) + 1;
	store(&e->number, n);
	return n;
}

/* Does one of the entries in this log, see fence_knows? */
SLOW bool log_knows(const struct gsan_fence *log, const u32 *entries, u32 lanes, u32 clock, u32 end, u32 sc, u32 sc_cta)
{
	u32 now = load(entries), before = 0;
	bool lost = false;
	ROLLED
	for (u32 tries = 0; tries < GSAN_FENCES && now != before && !lost; tries++) {
		u32 oldest = GSAN_CLOCK_MAX, n = 0;
		before = now;
		ROLLED
		for (u32 k = 1; k <= GSAN_FENCES; k++) {
			uint4 e = load_cg(log + (now - k) % GSAN_FENCES);       /* number top mask base */
			u32 top = e.y & GSAN_CLOCK_MAX;
			if (!e.x)
				continue;
			n++;
			/* In the order in which they were made, but for these. */
			if (top < oldest && !(e.y & GSAN_FENCE_BEFORE))
				oldest = top;
			if (top > end || (clock > e.w && (clock > top || (lanes & ~e.z))))
				continue;
			if (e.x == GSAN_FENCE_BUSY || no_later(e.x, sc_cta) ||
			    (!(e.y & GSAN_FENCE_CTA) && no_later(e.x, sc)))
				return true;
		}
		/* One that was overwritten may have said it; or it was just now. */
		lost = n == GSAN_FENCES && oldest > clock;
		__threadfence();        /* of all before it */
		now = load(entries);
	}
	lost |= now != before;
	if (lost)
		count(GSAN_COUNT_SNAP_LOST, 1);
	return lost;
}

/* Do the fences up to number `sc`, and of block scope up to `sc_cta`, publish
 * all of `lanes` of `warp` in `slot` up to `clock`?  `end`: where the clocks of
 * that block end. */
SLOW bool fence_knows(u32 slot, u32 warp, u32 lanes, u32 clock, u32 end, u32 sc, u32 sc_cta)
{
	return log_knows(fence_log(slot, warp), &warp_of(slot, warp)->fences, lanes, clock, end, sc, sc_cta) ||
	       log_knows(fence_log(slot, 32), &block_of(slot)->fences, lanes, clock, end, sc, sc_cta);
}
