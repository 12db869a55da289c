/* SPDX-License-Identifier: Apache-2.0
 *
 * leave.cuh: a block's shared memory is there from its first thread to its last: what
 * uses it outside of that.  (PTX ISA, State Spaces: Shared State Space; memory-model.md
 * 1.11, 2.4 AMB-8)
 *
 * Bulk copies out of it must have been waited for by their threads, copies into it by
 * somebody of the block, and what peers accessed must be known to some thread of the block
 * when that leaves: by a release that was met, at whatever scopes, as the peer has gone past its
 * access then.  Called at the end of kernels that have such copies or peers.
 */
#define copy_stays      __gsan_v1_copy_stays
#define copy_reads      __gsan_v1_copy_reads
#define copy_sends      __gsan_v1_copy_sends
#define guest_of        __gsan_v1_guest_of
#define left_over       __gsan_v1_left_over
#define guests_known    __gsan_v1_guests_known
#define last_leaves     __gsan_v1_last_leaves
#define thread_leaves   __gsan_v1_thread_leaves

#define GUEST_BUSY      (~0u)   /* in start: being set up */

FN struct gsan_guest *guests_of(u32 slot) { return at<struct gsan_guest>(ROOT(guests)) + (u64)slot * GSAN_GUESTS; }

/* Something ran without being understood: it may have ordered the two. */
FN bool may_be_blind(const struct gsan_warp *w) { return load(&w->state) & (GSAN_WARP_UNMODELLED | GSAN_WARP_LOST); }

/* `prev`, of site `psite`, outlives the shared memory that it accesses at `addr`, of `slot`. */
SLOW void left_over(struct gsan_warp *w, u32 why, u32 psite, u64 prev, u32 slot, u32 addr, u64 cta)
{
	tell(w, GSAN_LIFETIME, why, (addr & ~7u) | 1 | owner_of(w, slot), 0, prev | 255, psite, prev | 255, cta);
}

/* ---- Peers --------------------------------------------------------------------------- */

/* What the warp's last access, or arrival, is kept in, in the block of `slot`; NULL if there
 * is no room. */
SLOW struct gsan_guest *guest_of(struct gsan_warp *w, u32 slot, bool arrival)
{
	u32 start = load(&block_of(slot)->start), who = w->id << 5 | arrival;
	ROLLED
	for (u32 i = 0; i < 8; i++) {
		struct gsan_guest *x = guests_of(slot) + (w->id * 7 + arrival + i) % GSAN_GUESTS;
		u32 had = load(&x->start);
		if (had != start && had != GUEST_BUSY && swap32(&x->start, had, GUEST_BUSY) == had) {
			store(&x->who, who);
			store(&x->clock, 0);
			store(&x->known, 0);
			store(&x->arrival, 0);
			fence();
			store(&x->start, start);
			return x;
		}
		if (load(&x->start) == start && load(&x->who) == who)
			return x;
	}
	count(GSAN_COUNT_ASYNC_LOST, 1);
	return 0;
}

/* Lanes of the calling one's group accessed the shared memory of `slot` at `addr`. */
SLOW void guest_enter(struct gsan_warp *w, u32 slot, u32 addr, u32 arrival, u32 site)
{
	u32 group = __match_any_sync(__activemask(), slot), clock = load(&w->clock);
	if (sreg_laneid() != __ffs(group) - 1)
		return;
	struct gsan_guest *g = guest_of(w, slot, arrival);
	if (!g)
		return;
	/* What was told of by its phase alone is so no more. */
	u32 had = load(&g->arrival);
	if (had && had != arrival && load(&g->clock) == clock)
		count(GSAN_COUNT_ASYNC_LOST, 1);
	store(&g->mask, load(&g->clock) == clock ? load(&g->mask) | group : group);
	store(&g->arrival, arrival);
	store(&g->site, site);
	store(&g->at, addr);
	fence();
	store(&g->clock, clock);
	__threadfence();
	if (load(&log_of(slot << 10)->closed) == load(&block_of(slot)->start))
		tell(w, GSAN_LIFETIME, GSAN_WHY_PEER, (addr & ~7u) | 1 | owner_of(w, slot), site, record(view_of(w), sreg_laneid(), 0, 255), 0,
		     record(view_of(w), sreg_laneid(), 0, 255), ~0ull);
}

/* Does the calling lane know that the block in `slot` has begun: of any of its threads? */
SLOW bool knows_begun(struct gsan_warp *w, u32 slot)
{
	struct gsan_block *b = block_of(slot);
	u64 first = (u64)(load(&b->start) + 1) << 35 | (u64)slot << 22;
	u32 threads = load(&b->ntid);
	/* The first of each warp are asked about first. */
	ROLLED
	for (u32 i = 0; i < threads + 32; i++) {
		u32 t = i < 32 ? i << 5 : i - 32;
		if (t < threads && lane_knows(w, first | (u64)t << 12, true, GSAN_CLOCK_MAX))
			return true;
	}
	return false;
}

/* An access to the shared memory of `slot` by the calling lane. */
SLOW void guest_begins(struct gsan_warp *w, u32 slot, u32 addr, u32 site)
{
	struct gsan_log *log = log_of(w->id << 5);
	u32 bit = 1u << (load(&block_of(slot)->rank) & 31);
	/* Nobody passes the cluster's barrier, whatever it orders, before all have begun. */
	if (load(&cluster_of(own_block(w))->phases))
		return;
	if (load(&log->begun_start) != w->start) {
		store(&log->begun, 0);
		store(&log->begun_told, 0);
		fence();
		store(&log->begun_start, w->start);
	}
	if ((load(&log->begun) & bit) || load(&log->begun_told) == site || may_be_blind(w))
		return;
	if (knows_begun(w, slot)) {
		fetch_or(&log->begun, bit);
		return;
	}
	store(&log->begun_told, site);
	u64 now = record(view_of(w), sreg_laneid(), 0, 255);
	tell(w, GSAN_LIFETIME, GSAN_WHY_PEER, (addr & ~7u) | 1 | owner_of(w, slot), site, now, 0, now, ~0ull);
}

/* Of the block's own warps there are copies that they sent to peers: their records. */
FN bool is_sent(struct gsan_warp *w, uint4 a) { return a.y >> 10 == w->slot; }
FN u64 sent_record(uint4 a) { return (u64)a.w << 32 | a.z; }
/* Of others: the first one's access.  An arrival writes. */
FN u64 guest_access(uint4 a)
{
	return (u64)a.w << 35 | (u64)((a.y & ~31u) | (__ffs(a.z) - 1)) << 12 | (a.y & 1 ? GSAN_KIND_WRITE << 8 : 0);
}
/* By which it is noted that somebody knew. */
FN u32 guest_mark(struct gsan_warp *w, uint4 a) { return is_sent(w, a) ? a.w ^ a.z : a.w; }

/* The calling lane leaves: which accesses of peers does it know of, and which copies to
 * them? */
SLOW void guests_known(struct gsan_warp *w)
{
	struct gsan_guest *table = guests_of(w->slot);
	ROLLED
	for (u32 i = 0; i < GSAN_GUESTS; i++) {
		uint4 a = load_cg(table + i), b = load_cg(&table[i].site);      /* start who mask clock; site at known arrival */
		if (a.x != w->start || !a.w || b.z == guest_mark(w, a))
			continue;
		bool known = true, sent = is_sent(w, a);
		if (sent)
			known = async_over(w, sent_record(a), OF_LANE);
		ROLLED
		for (u32 m = sent ? 0 : a.z; m && known; m &= m - 1) {
			u32 who = (a.y & ~31u) | (__ffs(m) - 1);
			known = event_known(w, who, a.w, false) ||
				missed_knows(own_block(w), a.y >> 10, a.y >> 5 & 31, m & -m, a.w, end_of(w, guest_access(a)));
		}
		if (!known && !sent && b.w)
			known = mbar_over(w, w->slot, (b.w >> 25) - 1, b.w & GSAN_MBAR_PHASES, OF_LANE);
		if (known)
			store(&table[i].known, guest_mark(w, a));
	}
}

/* ---- Copies --------------------------------------------------------------------------- */

/* The copy of record `rec` goes to `addr` in another block's shared memory, which may have gone:
 * it or the block's last thread sees the other. */
SLOW void copy_stays(struct gsan_warp *w, u64 rec, u32 addr, u32 site)
{
	u32 slot = GSAN_REC_SLOT(rec), phase = phase_in(rec);
	struct gsan_mbar *m = mbars_of(slot) + mbar_in(rec);
	store(&m->tx_phase[phase & 1], phase);
	store(&m->tx_at[phase & 1], addr);
	store(&m->tx_site[phase & 1], site);
	__threadfence();
	if (load(&log_of(slot << 10)->closed) == load(&block_of(slot)->start))
		left_over(w, GSAN_WHY_EXIT, site, rec | ASYNC_WRITES, slot, addr, ~0ull);
}

/* A copy or an arrival goes to a block that is not there: it has ended, or not begun.  `addr` is its
 * address there. */
SLOW void gone_astray(struct gsan_warp *w, u32 addr, u32 site)
{
	u64 now = record(view_of(w), sreg_laneid(), 1, 255);
	if (own_block(w)->cluster_at)
		tell(w, GSAN_LIFETIME, GSAN_WHY_PEER, astray(addr), site, now, 0, now, ~0ull);
}

/* The copy of record `rec` to a peer reads the block's shared memory at `addr`. */
SLOW void copy_sends(struct gsan_warp *w, u64 rec, u32 addr, u32 site)
{
	struct gsan_guest *g = guest_of(w, w->slot, false);
	if (!g)
		return;
	store(&g->site, site);
	store(&g->at, addr);
	__threadfence();
	*(volatile u64 *)&g->mask = rec;
}

/* One of the calling lane's group under way reads the block's shared memory. */
SLOW void copy_reads(struct gsan_warp *w, u32 addr, u32 site)
{
	struct gsan_log *log = log_of(w->id << 5);
	u32 lane = sreg_laneid();
	store(&log->last_group[lane], load(&groups_of(self_of(w))->bulk));
	store(&log->last_site[lane], site);
	store(&log->last_at[lane], addr);
}

/* The last of the block's threads leave, `group` of them together: each asks of what falls to it. */
SLOW void last_leaves(struct gsan_warp *w, u32 group)
{
	struct gsan_mbar *m = mbars_of(w->slot);
	struct gsan_guest *table = guests_of(w->slot);
	u32 n = __popc(group), rank = __popc(group & ((1u << sreg_laneid()) - 1));
	bool blind = false;
	/* A wait that was not understood may have been for any of them. */
	ROLLED
	for (u32 k = rank; k < (own_block(w)->ntid + 31) >> 5; k += n)
		blind |= may_be_blind(warp_of(w->slot, k));
	if (__ballot_sync(group, blind))
		return;
	store(&log_of(w->slot << 10)->closed, w->start);
	__threadfence();
	ROLLED
	for (u32 k = rank; k < 2 * GSAN_MBARS; k += n) {
		struct gsan_mbar *x = m + (k >> 1);
		u32 site = load(&x->tx_site[k & 1]), phase = load(&x->tx_phase[k & 1]), flags = load(&x->flags);
		u32 left = (load(&x->phase) - phase) & GSAN_MBAR_PHASES;
		bool open = !left || left == GSAN_MBAR_PHASES || (left == 1 && (flags & GSAN_MBAR_SHORT << (phase & 1))) ||
			    (left < 3 && phase_unseen(x, phase) &&
			     (left < 2 || !(flags & GSAN_MBAR_EITHER << (phase & 1)) || phase_unseen(x, phase + 1)));
		if (load(&x->start) == w->start && (flags & (GSAN_MBAR_LIVE | GSAN_MBAR_LOST)) == GSAN_MBAR_LIVE && site && open)
			left_over(w, GSAN_WHY_EXIT, site, mbar_record(w->slot, k >> 1, phase) | ASYNC_WRITES, w->slot, load(&x->tx_at[k & 1]), own_block(w)->cta);
	}
	ROLLED
	for (u32 i = rank; i < GSAN_GUESTS; i += n) {
		uint4 a = load_cg(table + i), b = load_cg(&table[i].site);
		struct gsan_warp *peer = warp_of(a.y >> 10, a.y >> 5 & 31);
		if (a.x != w->start || !a.w || b.z == guest_mark(w, a) || may_be_blind(peer))
			continue;
		if (is_sent(w, a))
			left_over(w, GSAN_WHY_EXIT, b.x, sent_record(a), w->slot, b.y, own_block(w)->cta);
		else
			left_over(w, GSAN_WHY_EXIT, b.x, guest_access(a), w->slot, b.y, cta_at(a.y >> 10, a.w));
	}
}

SLOW void thread_leaves(struct gsan_warp *w)
{
	walk_last(w);
	u32 lane = sreg_laneid(), group = together();
	struct gsan_groups *g = groups_of(self_of(w));
	struct gsan_log *log = log_of(w->id << 5);
	u32 n = load(&log->last_group[lane]);
	/* That it has been read is enough, unless more is asked for. */
	bool reads = n > load(&g->waited[GSAN_WAIT_READ]), open = n > load(&g->waited[GSAN_WAIT_BULK]);
	if (load(&g->start) == w->start && open && (reads || chosen(GSAN_CHOICE_exit_async)) && !may_be_blind(w))
		left_over(w, reads ? GSAN_WHY_EXIT : GSAN_WHY_EXIT_WRITE, load(&log->last_site[lane]),
			  group_record(self_of(w), GSAN_HOW_BULK, n), w->slot, load(&log->last_at[lane]), own_block(w)->cta);
	if (own_block(w)->cluster_at)
		guests_known(w);
	meet(group);
	/* As many as came since the block began. */
	u64 *count_at = (u64 *)&log_of(w->slot << 10)->leaving;
	u64 was = load64(count_at), now = 0;
	ROLLED
	while (lane == __ffs(group) - 1) {
		now = ((u32)(was >> 32) == w->start ? was : (u64)w->start << 32) + __popc(group);
		u64 old = swap(count_at, was, now);
		if (old == was)
			break;
		was = old;
	}
	__threadfence();
	meet(group);
	if (agreed(group, (u32)now == own_block(w)->ntid))
		last_leaves(w, group);
	meet(group);
}

API void __gsan_v1_ended(u64 ctx)
{
	if (ctx)
		TOGETHER(thread_leaves(WARP(ctx)););
}
