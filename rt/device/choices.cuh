/* SPDX-License-Identifier: Apache-2.0
 *
 * choices.cuh: what GSAN_OPTIONS can ask for where the documentation leaves room
 * (rt/choices.def), as far as it takes more than a condition elsewhere.  What is no
 * longer remembered is in order.
 */
#define event_fenced    __gsan_v1_event_fenced
#define init_fenced     __gsan_v1_init_fenced

/* Phases that are over since the record's. */
FN u32 phases_since(u64 r)
{
	return (load(&(mbars_of(GSAN_REC_SLOT(r)) + mbar_in(r))->phase) - phase_in(r)) & GSAN_MBAR_PHASES;
}

/* tx_scope=strict: the phase of record `r` is over; do its bytes, from another block, reach a
 * wait that the calling lane knows of?  (PTX ISA, mbarrier: complete-tx is .release at
 * .cluster scope, and morally strong with an acquire of that scope alone) */
SLOW bool tx_reached(struct gsan_warp *w, u64 r, u32 all)
{
	u32 slot = GSAN_REC_SLOT(r), phase = phase_in(r), left = phases_since(r);
	struct gsan_mbar *m = mbars_of(slot) + mbar_in(r);
	if (!chosen(GSAN_CHOICE_tx_scope) || !of_launch(w, block_of(slot)) ||
	    load(&m->start) != load(&block_of(slot)->start) || (load(&m->flags) & GSAN_MBAR_LOST) || !left || left > 2)
		return true;
	u32 wide = load(&m->wide[phase & 1]);
	ROLLED
	for (; wide; wide &= wide - 1) {
		u32 k = __ffs(wide) - 1;
		u64 v = load64((u64 *)&m->seen[phase & 1][k]);
		u32 lanes = (u32)(v >> 32);
		if (all != OF_BLOCK && slot == w->slot && k == (w->id & 31) && (all ? lanes == ~0u : lanes >> lane_in(w) & 1) && (u32)v <= w->clock)
			return true;
		ROLLED
		for (; lanes; lanes &= lanes - 1)
			if (event_known(w, slot << 10 | k << 5 | (__ffs(lanes) - 1), (u32)v, all))
				return true;
	}
	return false;
}

/* Did somebody run a fence behind the event, which the calling lane knows of? */
SLOW bool event_fenced(struct gsan_warp *w, u32 who, u32 clock, u32 space)
{
	u64 rec = (u64)clock << 35 | (u64)who << 12;
	if (!event_known(w, who, clock, false))
		return false;
	ROLLED
	for (u32 k = 0; k < GSAN_LOG; k++) {
		uint4 e = load_cg(&log_of(who)->fence[k]);      /* clock mask what */
		if ((e.z & space) && !(e.z & PROXY_HALVES) && (e.y >> (who & 31) & 1) && e.x >= clock && event_known(w, who, e.x, false))
			return true;
	}
	return fence_knew(w, rec, who >> 10 == w->slot, GSAN_CLOCK_MAX, space) || other_fence(w, space);
}

/* Is there a fence behind the completion of an operation?  async_read_fence=strict asks, where it has read
 * what is written now.  (PTX ISA, Async Proxy: the completion of an operation is followed by an implicit
 * fence, which makes its result visible; of reads nothing is said) */
SLOW bool end_fenced(struct gsan_warp *w, u64 r, u32 space)
{
	u32 who = (u32)(r >> 12) & 0x7fffff, number = GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX, how = async_how(r);
	bool mbar = async_what(r) & GSAN_ASYNC_MBAR, wgmma = how == GSAN_HOW_WGMMA, seen = false;
	u32 slot = mbar ? GSAN_REC_SLOT(r) : who >> 10;
	if (async_gone(w, r) || (mbar ? reads_map(r) || phases_since(r) - 1 > 1 : how != GSAN_HOW_BULK && !wgmma))
		return true;
	ROLLED
	for (u32 k = 0; k < (mbar ? 32 : wgmma ? 4 * GSAN_LOG : GSAN_LOG); k++) {
		u32 warp = wgmma ? (who & ~127u) + (k / GSAN_LOG << 5) : who & ~31u, lanes, clock;
		if (mbar) {
			u64 v = load64((u64 *)&(mbars_of(slot) + mbar_in(r))->seen[phase_in(r) & 1][k]);
			warp = slot << 10 | k << 5;
			lanes = (u32)(v >> 32);
			clock = (u32)v;
		} else {
			uint4 e = load_cg(&log_of(warp)->wait[k % GSAN_LOG]);   /* clock mask upto from */
			u32 kind = e.z >> 28;
			bool it = wgmma ? kind == GSAN_WAIT_WGMMA : (kind == GSAN_WAIT_BULK || kind == GSAN_WAIT_READ) && (e.y >> (who & 31) & 1);
			it &= (e.w & 0xffffff) < number && (e.z & 0xfffffff) >= number;
			lanes = !it ? 0 : wgmma ? e.y : 1u << (who & 31);
			clock = e.x;
		}
		ROLLED
		for (; lanes; lanes &= lanes - 1) {
			seen = true;
			if (event_fenced(w, warp | (__ffs(lanes) - 1), clock, space))
				return true;
		}
	}
	return !seen;
}

/* Likewise of one that accessed memory through the generic proxy, where an operation of the async proxy is
 * issued.  Where it is not remembered who saw it over, any fence will do. */
SLOW bool generic_fenced(struct gsan_warp *w, u64 r, u32 space)
{
	u32 unsure = (GSAN_MBAR_SHORT | GSAN_MBAR_EITHER) << (phase_in(r) & 1);
	bool seen = (async_what(r) & GSAN_ASYNC_MBAR) && phases_since(r) - 1 <= 1 &&
		    !(load(&(mbars_of(GSAN_REC_SLOT(r)) + mbar_in(r))->flags) & unsure);
	return seen ? end_fenced(w, r, space) : any_fence(w, space);
}

/* async_proxy=per-cta: did another block issue it?  Of a copy that completes in a peer it
 * is not known which. */
SLOW bool apart(struct gsan_warp *w, u64 r)
{
	bool mbar = async_what(r) & GSAN_ASYNC_MBAR;
	u32 slot = GSAN_REC_SLOT(r);
	if (!chosen(GSAN_CHOICE_async_proxy) || !of_launch(w, block_of(slot)))
		return false;
	/* By a block that is there yet. */
	if (!mbar && (async_how(r) >= GSAN_HOW_WGMMA || load(&groups_of((u32)(r >> 12) & 0x7fffff)->start) != load(&block_of(slot)->start)))
		return false;
	return mbar && (r & MBAR_PEER) ? slot == w->slot : slot != w->slot;
}

/* mbar_init_fence=strict: the calling lane issues a copy that completes on the mbarrier
 * at `place`.  Was its init fenced?  (PTX ISA before 9.1 does not say through which proxy
 * that operand is accessed) */
SLOW void init_fenced(struct gsan_warp *w, u64 place, u32 site)
{
	struct gsan_mbar *m = chosen(GSAN_CHOICE_mbar_init_fence) ? mbar_find(place) : 0;
	if (!m || (load(&m->flags) & (GSAN_MBAR_LOST | GSAN_MBAR_FENCED)))
		return;
	u32 slot = (u32)(place >> 32), clock = load(&m->init_clock), who = slot << 10 | load(&m->init_who);
	if (!event_known(w, who, clock, false))
		return;
	u64 rec = (u64)clock << 35 | (u64)who << 12 | GSAN_KIND_WRITE << 8 | 255;
	u32 status = proxy_status(w, rec, slot == w->slot, GSAN_CLOCK_MAX, GSAN_PROXY_SHARED);
	if ((status & 255) == STATUS_BAD)
		tell(w, status >> 8 & 255, status >> 16, (place & 0xfffffff8u) | 1, site,
		     group_record(self_of(w), GSAN_HOW_BULK, 1) | 255, load(&m->init_site), rec, cta_at(slot, clock));
}
