/* SPDX-License-Identifier: Apache-2.0
 *
 * mbar.cuh: mbarriers.  (PTX ISA, Parallel Synchronization and Communication
 * Instructions: mbarrier)
 *
 * The object in the program's memory is not looked at; what is entered here says
 * which phase an arrival belongs to.  Arrivals are entered before they are carried
 * out, waits afterwards.  Somebody who waits tells that a phase is over, and all
 * that is entered from then on is of a later one; where as many arrivals had been
 * entered as the phases that are over needed, none of those is of a later one,
 * either.  Where that does not come out, arrivals count for both phases.
 */
#define place_far       __gsan_v1_place_far
#define mbar_find       __gsan_v1_mbar_find
#define mbar_make       __gsan_v1_mbar_make
#define mbar_mark       __gsan_v1_mbar_mark
#define mbar_brings     __gsan_v1_mbar_brings
#define mbar_enter      __gsan_v1_mbar_enter
#define mbar_enter_warp __gsan_v1_mbar_enter_warp
#define mbar_enter_lane __gsan_v1_mbar_enter_lane
#define mbar_init       __gsan_v1_mbar_init
#define copies_arrive   __gsan_v1_copies_arrive
#define mbar_learn      __gsan_v1_mbar_learn
#define mbar_waited     __gsan_v1_mbar_waited
#define mbar_tried      __gsan_v1_mbar_tried
#define mbar_tried_first        __gsan_v1_mbar_tried_first
#define mbar_idle       __gsan_v1_mbar_idle
#define mbar_waits      __gsan_v1_mbar_waits
#define warp_known      __gsan_v1_warp_known
#define mbar_op         __gsan_v1_mbar_op
#define mbar_wait       __gsan_v1_mbar_await
#define mbar_used       __gsan_v1_mbar_used
#define mbar_asked      __gsan_v1_mbar_asked

/* The mbarrier at a place, NULL if its init was not seen, or not to its end. */
SLOW struct gsan_mbar *mbar_find(u64 place)
{
	u32 addr = (u32)place, slot = (u32)(place >> 32);
	if (place == NOWHERE)
		return 0;
	struct gsan_mbar *m = mbars_of(slot);
	u32 start = load(&block_of(slot)->start);
	ROLLED
	for (u32 k = 0; k < GSAN_MBARS; k++) {
		struct gsan_mbar *x = m + ((addr >> 3) + k) % GSAN_MBARS;
		uint4 v = load_cg(x);   /* start addr lock flags */
		if (v.x != start)
			return 0;
		if (v.y != addr)
			continue;
		/* Another thread may be at its init. */
		ROLLED
		for (u32 n = 0; n < 100 && v.z && !(v.w & GSAN_MBAR_LIVE); n++) {
			__nanosleep(100);
			v = load_cg(x);
		}
		return v.w & GSAN_MBAR_LIVE ? x : 0;
	}
	return 0;
}

/* Phases that are asked about never come again; the first is even.  Returns GSAN_MBAR_LOST
 * where they begin anew. */
FN u32 mbar_begin(struct gsan_mbar *m)
{
	u32 first = ((m->phase + 5) & ~1u) & GSAN_MBAR_PHASES, lost = first < m->phase ? GSAN_MBAR_LOST : 0;
	store(&m->phase, first);
	store(&m->first, first);
	return lost;
}

/* The one for a place of the own block; NULL if there is no room.  Of a new tenant's no
 * earlier phase is under way: others look before it is initialised. */
SLOW struct gsan_mbar *mbar_make(struct gsan_warp *w, u32 addr)
{
	struct gsan_block *b = own_block(w);
	struct gsan_mbar *m = mbars_of(w->slot), *found = 0;
	take_lock(&b->lock);
	ROLLED
	for (u32 k = 0; k < GSAN_MBARS && !found; k++) {
		struct gsan_mbar *x = m + ((addr >> 3) + k) % GSAN_MBARS;
		if (load(&x->start) != w->start) {
			store(&x->addr, addr);
			store(&x->flags, mbar_begin(x));
			store(&x->lock, 0);
			fence();
			store(&x->start, w->start);
		}
		if (load(&x->addr) == addr)
			found = x;
	}
	unlock(&b->lock);
	return found;
}

/* What the caller brings to an arrival: all of `lanes` know the same.  `own`: to those of
 * its block, whom a fence reaches whatever its scope and the arrival's. */
SLOW u32 mbar_brings(struct gsan_warp *w, u32 op, u32 lanes, u32 top, bool own)
{
	u32 lane = sreg_laneid(), level = GSAN_INFO_LEVEL(op);
	if (op & GSAN_INFO_RELEASE)
		return snap_make(w, lanes, top, 0, 0);
	/* Relaxed: what the last fence put by.  (PTX ISA, Release Patterns) */
	if (!(load(&w->m_fence) >> lane & 1))
		return 0;
	return fence_own(w, own || level <= GSAN_CTA ? 0 : level - 1);
}

/* The phase under way is over: who comes from now on comes to the next one.  Lock held, so what is
 * loaded at once belongs together.  `now`: phase first expected later; `last_now`: ahead narrow
 * last_own last_peer, as they are then.  Returns the flags. */
SLOW u32 mbar_mark(struct gsan_warp *w, struct gsan_mbar *m, uint4 now, uint4 *last_now)
{
	u64 block = load_ca64(&w->block);
	/* start addr lock flags; expected issued; own and peer: one builder */
	uint4 last = *last_now, head = load_ca(m), tx = load_ca(&m->tx_expected), gathered = load_ca(&m->own);
	u32 first = load_ca32(&m->tx_first), ntid = load_ca32(&at<struct gsan_block>(block)->ntid), flags = head.w, n = now.x;
	/* What was being built has had its number from the beginning; it is left as it is. */
	u32 own = gathered.y ? gathered.y : gathered.x, peer = gathered.w ? gathered.w : gathered.z;
	if (flags & GSAN_MBAR_DIRTY) {
		count(GSAN_COUNT_MERGED, 1);
		own = either(w, own, last.z);
		peer = either(w, peer, last.w);
	}
	store_ca(&m->own, four(0, 0, 0, 0));
	u32 left = last.x - now.z, expected = tx.x, issued = tx.y;
	/* Of several copies that are more than expected nobody knows which were in time; nor, where
	 * more arrivals came than this phase needs, whether bytes were expected before it was over:
	 * who entered first may be carried out last. */
	bool late = first > expected, either_one = left && expected;
	if ((issued > expected && !late) || either_one)
		count(GSAN_COUNT_ASYNC_LOST, 1);
	flags = (flags & ~(GSAN_MBAR_DIRTY | (GSAN_MBAR_SHORT | GSAN_MBAR_EITHER) << (n & 1))) | (left ? GSAN_MBAR_DIRTY : 0) |
		(late ? GSAN_MBAR_SHORT << (n & 1) : 0) | (either_one ? GSAN_MBAR_EITHER << (n & 1) : 0);
	last = *last_now = four(left, last.y, own, peer);
	store_ca(&m->ahead, last);
	store(&m->expected, now.w);
	/* It could not be over before all came that it expects: more is the next phase's,
	 * entered early. */
	store(&m->tx_expected, issued < expected ? expected - issued : 0);
	store(&m->tx_issued, 0);
	store(&m->tx_first, 0);
	if (((n + 1 - now.y) & GSAN_MBAR_PHASES) > GSAN_MBAR_PHASES / 4)
		flags |= GSAN_MBAR_LOST;
	store(&m->flags, flags);
	fence();
	store(&m->phase, (n + 1) & GSAN_MBAR_PHASES);
	fence();
	ROLLED
	for (u32 k = 0; k < (ntid + 31) >> 5; k += 2)
		store_cg(&m->seen[n & 1][k], four(0, 0, 0, 0));
	store(&m->wide[n & 1], 0);
	return flags;
}

/* leave.cuh */
SLOW void gone_astray(struct gsan_warp *w, u32 addr, u32 site);

/* cluster.cuh: phases of its cluster's barrier that are over. */
SLOW u32 cluster_phases(struct gsan_warp *w);

/* Is an mbarrier used by somebody who does not know of its init?  (PTX ISA,
 * mbarrier.init: it has to come before any other operation) */
SLOW void mbar_used(struct gsan_warp *w, struct gsan_mbar *m, u64 place, u32 site, u32 why)
{
	u32 slot = (u32)(place >> 32), clock = load(&m->init_clock), who = slot << 10 | load(&m->init_who);
	u64 rec = (u64)clock << 35 | (u64)who << 12 | GSAN_KIND_WRITE << 8 | 255;
	if (why == GSAN_WHY_MBAR_INIT && event_known(w, who, clock, false))
		return;
	/* A relaxed arrival may have published the fence since then, or something else. */
	if (why == GSAN_WHY_MBAR_INIT && (load(&m->flags) & GSAN_MBAR_FENCED)) {
		if (cluster_phases(w) <= load(&m->fenced))
			count(GSAN_COUNT_ASYNC_LOST, 1);
		return;
	}
	u32 mine = load(&w->state), its = load(&warp_of(slot, GSAN_REC_WARP(rec))->state);
	if (((mine | its) & GSAN_WARP_UNMODELLED) || (mine & GSAN_WARP_LOST))
		return;
	u64 now = record(view_of(w), sreg_laneid(), 1, 255);
	tell(w, GSAN_MBARRIER_MISUSE, why, (place & 0xfffffff8u) | 1 | owner_of(w, slot), site, now, load(&m->init_site), rec, cta_at(slot, clock));
}

SLOW u64 place_far(struct gsan_warp *w, u64 addr, u32 op) { return place_of(w, addr, op); }

/* As place_of, but that what `me` (id start) says is not asked for again. */
FN u64 place_near(struct gsan_warp *w, uint4 me, u64 addr, u32 op)
{
	if (op & (GSAN_MBAR_CLUSTER | GSAN_MBAR_GENERIC))
		return place_far(w, addr, op);
	return (u64)(me.x >> 5) << 32 | ((u32)addr & SHARED_WINDOW);
}

/* Where mbarriers and what warps know of them are: to be loaded with the warp's number. */
struct known_init { struct gsan_mbar *mbars; struct gsan_log *logs; };
FN struct known_init known_begin(void)
{
	struct known_init at;
	at.mbars = ::at<struct gsan_mbar>(ROOT_NOW(mbars));
	at.logs = ::at<struct gsan_log>(ROOT_NOW(logs));
	return at;
}

/* The mbarrier at `place` of the block of warp `me`, if it is not in another's place. */
FN struct gsan_mbar *mbar_there(struct known_init at, uint4 me, u64 place)
{
	return at.mbars + (u64)(me.x >> 5) * GSAN_MBARS + ((u32)place >> 3) % GSAN_MBARS;
}

/* What mbar_find and mbar_used come to, where the lanes of `group`, that are together, are known to
 * know of the init of the block's mbarrier at `place`: nobody forgets that.  NULL: they have to ask.  Its flags,
 * if it is, are a by-product.  The
 * entry is written by the warp alone; what two groups of it note at one moment is of one init each. */
FN struct gsan_mbar *mbar_quick(struct known_init at, uint4 me, u64 place, u32 group, u32 *flags = 0)
{
	u32 addr = (u32)place;
	struct gsan_mbar *m = mbar_there(at, me, place);
	uint4 known = load_ca(&(at.logs + me.x)->inits[(addr >> 3) % GSAN_INITS]);
	uint4 head = load_cg(m), init = load_cg(&m->init_who);  /* start addr lock flags; init_who init_clock */
	bool quick = (u32)(place >> 32) == me.x >> 5 && known.x == addr && head.x == me.y && head.y == addr &&
		     (head.w & GSAN_MBAR_LIVE) && known.y == init.x && known.z == init.y && known.z > me.y && !(group & ~known.w);
	if (flags)
		*flags = head.w;
	return __ballot_sync(group, quick) == group ? m : 0;
}

/* The calling lane has asked. */
SLOW void mbar_asked(struct gsan_warp *w, struct gsan_mbar *m, u64 place, u32 site)
{
	u32 group = together(), slot = (u32)(place >> 32), addr = (u32)place;
	uint4 init = load_cg(&m->init_who);
	mbar_used(w, m, place, site, GSAN_WHY_MBAR_INIT);
	bool known = slot == w->slot && event_known(w, slot << 10 | init.x, init.y, false);
	u32 alike = __match_any_sync(group, place), lanes = alike & __ballot_sync(group, known);
	if (!known || sreg_laneid() != __ffs(lanes) - 1)
		return;
	struct gsan_log *log = log_of(w->id << 5);
	uint4 was = load_ca(&log->inits[(addr >> 3) % GSAN_INITS]);
	if (was.x == addr && was.y == init.x && was.z == init.y)
		lanes |= was.w;
	store_ca(&log->inits[(addr >> 3) % GSAN_INITS], four(addr, init.x, init.y, lanes));
}

SLOW void mbar_init(struct gsan_warp *w, u64 place, u32 n, u32 site)
{
	struct gsan_mbar *m = mbar_make(w, (u32)place);
	if (!m) {
		count(GSAN_COUNT_ASYNC_LOST, 1);
		return;
	}
	take_lock(&m->lock);
	u32 lost = load(&m->flags) & GSAN_MBAR_LOST;
	if (load(&m->flags) & GSAN_MBAR_LIVE)
		mbar_used(w, m, place, site, GSAN_WHY_MBAR_LIVE);
	store(&m->flags, 0);
	lost |= mbar_begin(m);
	m->expected = m->later = n;
	m->ahead = m->tx_expected = m->tx_issued = m->narrow = m->tried[1] = m->tx_first = 0;
	m->last_own = m->last_peer = m->own.one = m->own.builder = m->peer.one = m->peer.builder = 0;
	m->init_who = w->id << 5 & 0x3ff | sreg_laneid();
	m->init_clock = load(&w->clock);
	m->init_site = site;
	store(&m->tx_site[0], 0);
	store(&m->tx_site[1], 0);
	async_all(w, w->slot, (u32)place, 8, ASYNC_WRITES |
		  group_record(self_of(w), GSAN_HOW_OBJECT, object_number((u32)(m - mbars_of(w->slot)), w->start)),
		  ISSUE_SHARED | ISSUE_THREAD, site);
	ROLLED
	for (u32 k = 0; k < 32; k += 8)
#pragma unroll
		for (u32 i = 0; i < 8; i += 2) {
			store_cg(&m->seen[0][k + i], four(0, 0, 0, 0));
			store_cg(&m->seen[1][k + i], four(0, 0, 0, 0));
		}
	store(&m->wide[0], 0);
	store(&m->wide[1], 0);
	store(&m->flags, GSAN_MBAR_LIVE | lost);
	unlock(&m->lock);
}

/* Did nobody see phase `phase` over, one of the last two that are? */
FN bool phase_unseen(const struct gsan_mbar *m, u32 phase)
{
	u32 any = 0;
	ROLLED
	for (u32 k = 0; k < 32; k++)
		any |= load(&m->seen[phase & 1][k].mask);
	return !any;
}

/* Is the phase under way complete by now?  Only asked where it may be. */
FN bool mbar_complete(u32 addr, u32 phase)
{
	u32 done;
	asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
		     : "=r"(done) : "r"(addr), "r"(phase & 1) : "memory");
	return done;
}

/* The calling lane enters `times` times operation `op` with operand `n`, and what they
 * bring.  Lock held. */
SLOW void mbar_enter(struct gsan_warp *w, struct gsan_mbar *m, u32 slot, u32 op, u32 n, u32 times, u32 snap)
{
	/* phase first expected later; ahead narrow last_own last_peer; expected issued */
	uint4 now = load_ca(&m->phase), last = load_ca(&m->ahead), tx = load_ca(&m->tx_expected);
	u32 what = op & 255, arrivals = 0;
	bool own = slot == w->slot, expects = what == GSAN_MBAR_EXPECT;
	/* Who names no scope for an arrival in another block means one that reaches it. */
	bool reaches = own || ((op & GSAN_MBAR_PLAIN) && !chosen(GSAN_CHOICE_arrive_scope));
	switch (what) {
	case GSAN_MBAR_ARRIVE_EXPECT:
	case GSAN_MBAR_DROP_EXPECT:
		expects = true;
		arrivals = times;
		break;
	case GSAN_MBAR_ARRIVE:
	case GSAN_MBAR_DROP:
		arrivals = n * times;
		break;
	/* Without .noinc it makes the arrival pending itself. */
	case GSAN_MBAR_CP_ARRIVE:
		now.z += times;
		store(&m->expected, now.z);
		arrivals = times;
		break;
	case GSAN_MBAR_CP_ARRIVE_NOINC:
		arrivals = times;
		break;
	default:
		break;
	}
	if (expects) {
		/* All have come that this phase waits for, but for copies: is it over?  It may be
		 * by the time that this is carried out. */
		if (last.x >= now.z) {
			if (own && mbar_complete(shared_base(own_rank()) + load(&m->addr), now.x)) {
				u32 flags = mbar_mark(w, m, now, &last);
				store(&m->flags, flags | GSAN_MBAR_UNSEEN << (now.x & 1));
				now.w = load(&m->later);
				tx.x = load(&m->tx_expected);
			} else {
				count(GSAN_COUNT_ASYNC_LOST, 1);
				/* It will be when the last of them is carried out. */
				if (!tx.x && !load(&m->tx_first))
					store(&m->flags, load(&m->flags) | GSAN_MBAR_LOST);
			}
		}
		store(&m->tx_expected, tx.x + n * times);
	}
	store(&m->ahead, last.x + arrivals);
	/* Nobody has seen the phase over, and yet it may be: what was copied may be of the next. */
	if ((what == GSAN_MBAR_CP_ARRIVE || what == GSAN_MBAR_CP_ARRIVE_NOINC) && last.x + arrivals > now.z)
		count(GSAN_COUNT_ASYNC_LOST, 1);
	if (what == GSAN_MBAR_DROP || what == GSAN_MBAR_DROP_EXPECT)
		store(&m->later, now.w - arrivals);
	if (!snap)
		return;
	if (!reaches && GSAN_INFO_LEVEL(op) < GSAN_CLUSTER)
		store(&m->narrow, either(w, snap, last.y));
	else if (reaches)
		gather_add(&m->own, snap, slot, load(&m->start));
	else
		gather_add(&m->peer, snap, w->slot, w->start);
}

/* The calling lane arrives at mbarrier `m` of its block, for `lanes`, which know the same, with a release at
 * `top`: what they know goes into the snapshot that is being made of what is brought.  Where one arrival makes a
 * phase, that is its own.  NULL for `m`: it comes by itself, to the one at `addr`, and `top` is yet to be; false, if it has to
 * ask for that one's init, and nothing is done. */
SLOW bool mbar_enter_lane(struct gsan_warp *w, struct gsan_mbar *m, u32 addr, u32 op, u32 n, u32 lanes, u32 top)
{
	struct known_init at = known_begin();
	u32 clock = load(&w->clock);
	struct lane_seen seen = lane_look(w);
	u64 place = (u64)(seen.me.x >> 5) << 32 | (addr & SHARED_WINDOW);
	u32 building = load(&(m ? m : mbar_there(at, seen.me, place))->own.builder);
	if (!m) {
		m = mbar_quick(at, seen.me, place, lanes);
		if (!m)
			return false;
		top = tick_from(w, lanes == seen.state.z, clock);
	}
	u32 what = op & 255, times = __popc(lanes), many = n * times, id = building;
	struct lane_now x = lane_knows_now(seen);
	/* Its answer comes with the lock's. */
	if (!building)
		id = fetch_add(&root()->snap_next, 1) + 1;
	if (!try_lock(&m->lock))
		take_lock(&m->lock);
	uint4 now = load_ca(&m->phase), last = load_ca(&m->ahead), tx = load_ca(&m->tx_expected), got = load_ca(&m->own);
	if (what == GSAN_MBAR_ARRIVE) {
		store(&m->ahead, last.x + many);
	} else if (what == GSAN_MBAR_ARRIVE_EXPECT && last.x < now.z) {
		store(&m->tx_expected, tx.x + many);
		store(&m->ahead, last.x + times);
	} else {
		mbar_enter(w, m, w->slot, op, n, times, 0);
		got = load_ca(&m->own);
	}
	bool alone = now.z == 1 && !(got.x | got.y);
	if (building && !got.y)
		id = fetch_add(&root()->snap_next, 1) + 1;
	id = got.y ? got.y : (id & GSAN_SNAP_NUMBER) | GSAN_SNAP_LARGE;
	struct gsan_snap *s = snap_of(id);
	snap_fill(s, id, got.y, alone, x, GSAN_SNAP_OWN | x.warps << GSAN_SNAP_ROWS_SHIFT, lanes, top, 0);
	if (alone)
		store(&m->own.one, id);
	else if (!got.y)
		store(&m->own.builder, id);
	if (!got.y)
		snap_join(s, got.x);
	unlock(&m->lock);
	return true;
}

/* The same of all 32 lanes, which know the same, at an mbarrier of their block where others arrive as
 * well: what they bring is joined to what those do, without a snapshot of its own.  False: it is
 * not as simple as that. */
SLOW bool mbar_enter_warp(struct gsan_warp *w, struct gsan_mbar *m, u32 op, u32 n, u32 top, u32 expected)
{
	struct brought x;
	u32 lane = sreg_laneid(), id = 0;
	if (!__shfl_sync(~0u, expected > 32 * n, 0) || !warp_brings(w, top, &x))
		return false;
	if (!lane) {
		/* What is being built is known by the time that the lock is had, mostly. */
		ROLLED
		for (;; wait_lock(&m->lock)) {
			id = load(&m->own.builder);
			if (try_lock(&m->lock))
				break;
		}
	}
	/* It may find that what came so far was for a phase that is over. */
	if (!lane && (op & 255) != GSAN_MBAR_ARRIVE)
		mbar_enter(w, m, w->slot, op, n, 32, 0);
	meet_all(~0u);
	u32 ahead = load(&m->ahead), one = load(&m->own.one);
	id = warp_adds(w, &m->own.builder, __shfl_sync(~0u, id, 0), &x);
	if (lane)
		return true;
	if (!id)
		snap_join(snap_of(m->own.builder), one);
	if ((op & 255) == GSAN_MBAR_ARRIVE)
		store(&m->ahead, ahead + 32 * n);
	unlock(&m->lock);
	return true;
}

/* What the lanes of `group` copied by cp.async so far arrives at `m` when it is there:
 * copies after it are others. */
SLOW void copies_arrive(struct gsan_warp *w, struct gsan_mbar *m, struct gsan_groups *g, u32 group)
{
	u32 upto = load(&g->cp), from = load(&g->waited[GSAN_WAIT_CP_MBAR]);
	u32 alike = __match_any_sync(group, (u64)upto << 32 | from) & __match_any_sync(group, (u64)m);
	ONE_BY_ONE(
		if (sreg_laneid() == __ffs(alike) - 1)
			wait_noted(w, alike, GSAN_WAIT_CP_MBAR, from, upto, load(&m->phase), (u32)(m - mbars_of(w->slot)));
	);
	meet(group);
	store(&g->waited[GSAN_WAIT_CP_MBAR], upto);
	store(&g->cp, upto + 1);
	store(&g->first, load(&g->first) | 1);
}

/* An operation at `m` by the lanes that are together, whose warp is `self`, with these masks (own refs fence
 * seen; live) and clock.  A moment ago `expected` arrivals made a phase. */
FN void mbar_arrive(struct gsan_warp *w, struct gsan_mbar *m, u64 place, u32 op, u32 n, uint4 know, u32 live, u32 clock, u32 self,
		    u32 expected)
{
	u32 group = of_kind(op), lane = sreg_laneid(), bit = 1u << lane, what = op & 255, top = 0;
	bool arrives = what >= GSAN_MBAR_ARRIVE && what < GSAN_MBAR_CP_ARRIVE, all = agreed(group, group == live);
	bool releases = arrives && (op & GSAN_INFO_RELEASE), own = (u32)(place >> 32) == self >> 5;
	bool one = __match_any_sync(group, (u64)m ^ (u64)n << 48) == group;
	/* All know the same: one speaks for them. */
	bool whole = one && agreed(group, !((know.x | know.y | know.z) & group));
	struct gsan_groups *g = what == GSAN_MBAR_CP_ARRIVE || what == GSAN_MBAR_CP_ARRIVE_NOINC ? groups_now(w) : 0;
	/* Some may have come here earlier, and loaded it before others moved it. */
	if (releases && all)
		clock = highest(group, clock);
	if (releases)
		top = tick_from(w, all, clock);
	if (whole && !all)
		top = highest(group, top);
	bool entered = releases && whole && group == ~0u && own && mbar_enter_warp(w, m, op, n, top, expected);
	BY_THESE(entered ? 0 : one_or_all(group, whole),
		u32 lanes = whole ? group : bit, snap = 0;
		if (releases && own) {
			mbar_enter_lane(w, m, 0, op, n, lanes, top);
		} else {
			if (arrives)
				snap = mbar_brings(w, op, lanes, top, own);
			take_lock(&m->lock);
			mbar_enter(w, m, (u32)(place >> 32), op, n, __popc(lanes), snap);
			unlock(&m->lock);
		}
	);
	meet(group);
	if (g)
		copies_arrive(w, m, g, group);
}

/* `lanes` of the warp saw a phase over at `clock`, of whose note `was` stands there; with the lock, or
 * all of it. */
FN void mbar_saw(struct gsan_seen *s, u64 was, u32 clock, u32 lanes)
{
	u32 mask = (u32)(was >> 32);
	if (mask && (u32)was != clock) {
		/* Known by some from too early on. */
		if (!(mask & lanes))
			count(GSAN_COUNT_MERGED, 1);
		clock = (u32)was;
	}
	*(volatile u64 *)s = (u64)(mask | lanes) << 32 | clock;
}

/* What a wait learns: what the phases brought that it may have waited for, the last one (own, peer), or that
 * and the one before; at too narrow a scope; and 1 + the phase where copies that complete in it are over. */
struct learnt { u32 own, peer, before, narrow, over, lost; };

/* What mbar_waited does for a whole warp, where others have found the phase to be over already,
 * as all but the first have: nothing is to be marked, so that they need not wait for each other's
 * lock.  `now`, `flags`: as of some moment before.  False: it has to be had. */
FN bool mbar_passed(struct gsan_mbar *m, u32 warp, u32 clock, u32 op, u32 parity, uint4 now, u32 flags, struct learnt *x)
{
	if ((op & 255) == GSAN_MBAR_STATE || GSAN_INFO_LEVEL(op) >= GSAN_CLUSTER || !((now.x ^ parity) & 1) || (flags & GSAN_MBAR_LOST))
		return false;
	/* What belongs to that phase, and to no other if it is still the last one afterwards.  It is loaded
	 * when what it hangs on is there, past L1: that takes no fence. */
	u32 p = now.x - 1;
	struct gsan_seen *s = &m->seen[p & 1][warp];
	uint4 last = load_cg(&m->ahead), head = load_cg(m);     /* ahead narrow last_own last_peer; start addr lock flags */
	u64 was = load64((u64 *)s);
	if (head.z || last.x >= now.z + now.w)
		return false;
	mbar_saw(s, was, clock, ~0u);
	fence();
	/* Has it been marked meanwhile?  The next phase but one takes the place of this one's note. */
	u32 again = load(&m->phase), lock = load(&m->lock);
	if (again - now.x > 1)
		store(&s->mask, 0);
	if (again != now.x || lock)
		return false;
	x->own = last.z;
	x->peer = last.w;
	x->before = 0;
	x->narrow = last.y;
	x->over = head.w & GSAN_MBAR_SHORT << (p & 1) ? 0 : (p & GSAN_MBAR_PHASES) + 1;
	x->lost = head.w & GSAN_MBAR_LOST;
	return true;
}

/* As acquire, where it is known whether the lane of warp `me` (id start) has a list: one answer is waited for. */
FN void lane_learns(struct gsan_warp *w, uint4 me, bool listed, u32 id)
{
	struct gsan_lane *l = at<struct gsan_lane>(ROOT(lanes)) + (((u64)me.x << 5) + sreg_laneid());
	struct gsan_snap *s = snap_of(id);
	uint4 a = load_cg(s), d = load_cg(&s->sc);
	u32 sc = listed ? load_ca32(&l->sc) : 0, sc_cta = listed ? load_ca32(&l->sc_cta) : 0;
	if (!listed) {
		w->private_too = 1;
		fetch_or(&w->m_refs, sreg_lanemask_eq());
		store_ca(&l->refs, four(0, 0, 0, 0));
		l->told = 0;
	}
	l->sc = d.x > sc ? d.x : sc;
	l->sc_cta = a.z == me.x >> 5 && a.w == me.y && d.y > sc_cta ? d.y : sc_cta;
	if (!(a.y & GSAN_SNAP_FENCE) || a.x != id)
		refs_add(w, &l->refs, id);
}

/* The lanes that are together take over what those who arrived at the phase brought.  `listed`: has the
 * calling one a list of its own? */
SLOW void mbar_learn(struct gsan_warp *w, u32 own, u32 peer, u32 miss_id, u32 slot, u32 op, bool whole, bool listed)
{
	bool wide = GSAN_INFO_LEVEL(op) >= GSAN_CLUSTER, acq = op & GSAN_INFO_ACQUIRE;
	u32 lane = sreg_laneid();
	if (!acq) {
		/* Of what does not reach a later fence will say that it was in vain. */
		u32 h = 0x5a5au << 16, near = REACH_CLUSTER | (slot == w->slot ? REACH_BLOCK : 0);
		acquire(w, see(w, own, REACH(GSAN_INFO_LEVEL(op), near, h)));
		acquire(w, see(w, peer, REACH(wide ? GSAN_CLUSTER : 0, near, h)));
		acquire(w, see(w, miss_id, REACH(0, near, h)));
		return;
	}
	miss(w, miss_id);
	miss(w, wide ? 0 : peer);
	peer = wide ? peer : 0;
	if (!whole) {
		if (own)
			lane_learns(w, load_ca(&w->id), listed, own);
		acquire(w, peer);
		return;
	}
	/* Not of those that are together here: they may come in two pieces, and of two lanes that write the
	 * list at once one undoes what the other did. */
	if (lane != __ffs(load(&w->live)) - 1 || !(own | peer))
		return;
	u32 next = own ? peer : 0, id = own ? own : peer;
	struct gsan_snap *s = snap_of(id);
	uint4 a = load_cg(s), d = load_cg(&s->sc);
	uint4 me = load_ca(&w->id), fences = load_ca(&w->slot);         /* id start; slot nslots sc sc_cta */
	u32 special = load_ca32(&w->special), number = load_ca32(&own_block(w)->launch_number);
	fetch_or(&w->state, GSAN_WARP_REFS);
	store_ca32(&w->special, special | GSAN_SPECIAL_MORE);
	ROLLED
	for (;;) {
		if (d.x > fences.z)
			w->sc = fences.z = d.x;
		if (a.z == me.x >> 5 && a.w == me.y && d.y > fences.w)
			w->sc_cta = fences.w = d.y;
		if (d.w == number)
			grid_over(w);
		refs_add(w, &w->refs, id);
		if (!next)
			return;
		id = next;
		next = 0;
		s = snap_of(id);
		a = load_cg(s);
		d = load_cg(&s->sc);
	}
}

/* The calling lane's wait was successful, for `lanes` of its warp, whose number and clock these are.  `flags`:
 * as of some moment before. */
SLOW void mbar_waited(struct gsan_warp *w, struct gsan_mbar *m, u32 addr, u32 op, u32 parity, u32 lanes, u32 warp, u32 clock, u32 flags,
		      struct learnt *x)
{
	uint4 now, last;        /* phase first expected later; ahead narrow last_own last_peer */
	ROLLED
	for (;; __nanosleep(100)) {
		now = load_cg(&m->phase);
		u32 held = load(&m->lock);
		if (lanes == ~0u && mbar_passed(m, warp, clock, op, parity, now, flags, x))
			return;
		if (!held && try_lock(&m->lock))
			break;
	}
	/* All that is needed, in one go. */
	now = load_ca(&m->phase);
	last = load_ca(&m->ahead);
	u32 before = load_ca32(&m->flags), n = now.x, p = n - 1;
	struct gsan_seen *seen = &m->seen[0][warp];
	u64 was = load_ca64(seen + (n & 1) * 32), was_before = load_ca64(seen + (p & 1) * 32);
	flags = before;
	x->before = 0;
	if ((op & 255) == GSAN_MBAR_STATE) {
		if (last.x >= now.z && mbar_complete(addr, n)) {
			x->before = last.z;
			mbar_saw(seen + (p & 1) * 32, was_before, clock, lanes);
			p = n;
		} else if (last.x >= now.z + now.w) {
			/* Or two are over, and nobody waited for the first. */
			flags |= GSAN_MBAR_LOST;
		}
	} else if ((n & 1) == (parity & 1)) {
		/* Not over yet: it was the last but one, and another found out that the one between
		 * is over, too, before this was entered. */
		bool older = last.x < now.z + now.w && !mbar_complete(addr, n);
		p = older ? n - 2 : n;
	} else if (last.x >= now.z + now.w) {
		/* It may have been the next but one. */
		flags |= GSAN_MBAR_LOST;
	}
	/* Somebody arrived of whom nothing is known. */
	if (p == n && last.x < now.z)
		flags |= GSAN_MBAR_LOST;
	if (flags != before)
		store(&m->flags, flags);
	if (p == n && last.x >= now.z) {
		flags = mbar_mark(w, m, now, &last);
		was = 0;
	}
	mbar_saw(seen + (p & 1) * 32, (p ^ n) & 1 ? was_before : was, clock, lanes);
	if (GSAN_INFO_LEVEL(op) >= GSAN_CLUSTER)
		fetch_or(&m->wide[p & 1], 1u << warp);
	/* What the last but one brought is not kept; the first one's predecessor brought nothing. */
	bool none = p + 2 == n && n - now.y < 2;
	if (p + 2 == n && !none)
		count(GSAN_COUNT_MERGED, 1);
	x->own = none ? 0 : last.z;
	x->peer = none ? 0 : last.w;
	x->narrow = last.y;
	x->over = flags & (GSAN_MBAR_LOST | GSAN_MBAR_SHORT << (p & 1)) ? 0 : (p & GSAN_MBAR_PHASES) + 1;
	x->lost = flags & GSAN_MBAR_LOST;
	unlock(&m->lock);
}

/* Does the calling lane know of what warp `k` did with an mbarrier at `clock`?  One lane may
 * speak for those of its warp that it has met in a vote or a match: libraries end
 * mbarriers so. */
SLOW bool warp_known(struct gsan_warp *w, u32 k, u32 clock)
{
	bool known = k == (w->id & 31);
	ROLLED
	for (u32 lane = 0; lane < 32 && !known; lane++)
		known = event_known(w, w->slot << 10 | k << 5 | lane, clock, false);
	return known;
}

/* The mbarrier is invalidated: are the waits that were seen last before that? */
SLOW void mbar_waits(struct gsan_warp *w, struct gsan_mbar *m, u64 place, u32 site)
{
	u64 now = record(view_of(w), sreg_laneid(), 1, 255);
	u64 last = load64((u64 *)m->tried);
	u32 tried = w->slot << 10 | (u32)last, clock = (u32)(last >> 32);
	if (clock > w->start && !warp_known(w, tried >> 5 & 31, clock)) {
		tell(w, GSAN_MBARRIER_MISUSE, GSAN_WHY_MBAR_INVAL, (place & 0xfffffff8u) | 1, site, now, load(&m->tried_site),
		     (u64)clock << 35 | (u64)tried << 12 | 255, own_block(w)->cta);
		return;
	}
	ROLLED
	for (u32 k = 0; k < 64; k++) {
		u64 v = load64((u64 *)&m->seen[k >> 5][k & 31]);
		u32 lanes = (u32)(v >> 32), who = w->slot << 10 | (k & 31) << 5 | (__ffs(lanes) - 1);
		if (!lanes || warp_known(w, k & 31, (u32)v))
			continue;
		tell(w, GSAN_MBARRIER_MISUSE, GSAN_WHY_MBAR_INVAL, (place & 0xfffffff8u) | 1, site, now, load(&m->wait_site),
		     (u64)(u32)v << 35 | (u64)who << 12 | 255, own_block(w)->cta);
		return;
	}
}

SLOW void mbar_op(struct gsan_warp *w, u64 addr, u32 op, u32 n, u32 site)
{
	struct known_init at = known_begin();
	/* id start; own refs fence seen; state light live */
	uint4 me = load_ca(&w->id), know = load_cg(&w->m_own), state = load_cg(&w->state);
	u32 what = op & 255, clock = load(&w->clock);
	u64 place = place_near(w, me, addr, op);
	if (what == GSAN_MBAR_INIT) {
		ONE_BY_ONE(mbar_init(w, place, n, site + __gsan_site_base););
		return;
	}
	/* Where it mostly is. */
	struct gsan_mbar *there = mbar_there(at, me, place);
	u32 expected = load(&there->expected);
	struct gsan_mbar *m = mbar_quick(at, me, place, together());
	if (!m) {
		m = mbar_find(place);
		if (!m) {
			if (place == NOWHERE && (op & GSAN_MBAR_CLUSTER))
				gone_astray(w, (u32)addr, site + __gsan_site_base);
			count(GSAN_COUNT_ASYNC_LOST, 1);
			return;
		}
		mbar_asked(w, m, place, site + __gsan_site_base);
		expected = load(&m->expected);
	}
	if (what == GSAN_MBAR_INVAL) {
		ONE_BY_ONE(
			mbar_waits(w, m, place, site + __gsan_site_base);
			take_lock(&m->lock);
			store(&m->flags, load(&m->flags) & ~GSAN_MBAR_LIVE);
			unlock(&m->lock);
		);
		return;
	}
	u32 slot = (u32)(place >> 32);
	if (slot != me.x >> 5) {
		guest_begins(w, slot, (u32)place, site + __gsan_site_base);
		guest_enter(w, slot, (u32)place, (u32)(m - mbars_of(slot) + 1) << 25 | load(&m->phase), site + __gsan_site_base);
		clock = load(&w->clock);
	}
	mbar_arrive(w, m, place, op, n, know, state.z, clock, me.x, expected);
}

API void __gsan_v1_mbar(u64 ctx, u64 addr, u32 op, u32 n, u32 site)
{
	u32 what = op & 255;
	bool near = what >= GSAN_MBAR_ARRIVE && what < GSAN_MBAR_CP_ARRIVE && (op & GSAN_INFO_RELEASE) &&
		    !(op & (GSAN_MBAR_CLUSTER | GSAN_MBAR_GENERIC));
	if (ctx)
		TOGETHER(
			if (!near || (group_ & (group_ - 1)) || !mbar_enter_lane(WARP(ctx), 0, (u32)addr, op, n, group_, 0))
				mbar_op(WARP(ctx), addr, op, n, site);
			perturb(WARP(ctx));
		);
}

SLOW void mbar_wait(struct gsan_warp *w, u64 addr, u32 op, u32 parity, u32 site)
{
	struct known_init from = known_begin();
	uint4 me = load_ca(&w->id);
	u32 live = load(&w->live), base = __gsan_site_base, flags = GSAN_MBAR_LOST, clock = load(&w->clock), listed = load(&w->m_refs);
	u64 place = place_near(w, me, addr, op), copies = load64((const u64 *)mbar_there(from, me, place)->tx_site);
	struct gsan_mbar *known = mbar_quick(from, me, place, together(), &flags), *m = known ? known : mbar_find(place);
	if (!known) {
		flags = m ? load(&m->flags) : GSAN_MBAR_LOST;
		copies = m ? load64((const u64 *)m->tx_site) : 1;
	}
	/* Of none that completes there since its init nobody has to wait for the walk. */
	u32 here = together();
	if (__ballot_sync(here, copies != 0))
		walk(w, here, m ? WALK_MBAR : WALK_ALL, m ? (u32)(m - mbars_of((u32)(place >> 32))) : 0);
	if (flags & GSAN_MBAR_LOST) {
		__gsan_v1_unmodelled((u64)w);
		return;
	}
	u32 group = of_kind(op), lane = sreg_laneid();
	u32 near = op & GSAN_MBAR_GENERIC ? shared_offset(addr) : (u32)addr;
	bool one = __match_any_sync(group, (u64)m ^ (u64)(parity & 1) << 60) == group, leader = lane == __ffs(group) - 1;
	struct learnt x = { };
	if (!known)
		mbar_asked(w, m, place, site + base);
	store(&m->wait_site, site + base);
	BY_THESE(one_or_all(group, one), mbar_waited(w, m, near, op, parity, one ? group : 1u << lane, me.x & 31, clock, flags, &x););
	meet(group);
	/* That copies are over is taken as known, whether a fence follows or not. */
	if (leader && !(op & GSAN_INFO_ACQUIRE))
		count(GSAN_COUNT_RELAXED_WAIT, 1);
	if (one && (group & (group - 1))) {
		u32 lead = __ffs(group) - 1;
		x.own = __shfl_sync(group, x.own, lead);
		x.peer = __shfl_sync(group, x.peer, lead);
		x.before = __shfl_sync(group, x.before, lead);
		x.narrow = __shfl_sync(group, x.narrow, lead);
		x.over = __shfl_sync(group, x.over, lead);
		x.lost = __shfl_sync(group, x.lost, lead);
	}
	/* What it accesses next is mostly what they brought, see plain_copied, line_status and row_after. */
	if (x.over && (u32)(place >> 32) == me.x >> 5) {
		struct gsan_lane *l = at<struct gsan_lane>(ROOT(lanes)) + (((u64)me.x << 5) + lane);
		u32 hash = over_hash(w, mbar_record(me.x >> 5, (u32)(m - mbars_of(me.x >> 5)), x.over - 1) | ASYNC_WRITES);
		store_ca32(&l->over[0], hash);
		store_ca32(&l->over[1], hash);
		store_ca32(&l->fine, hash);
		if (one && group == ~0u && leader)
			store_ca32(&w->over, hash);
	}
	bool whole = one && agreed(group, group == live);
	mbar_learn(w, x.own, x.peer, x.narrow, me.x >> 5, op, whole, listed >> lane & 1);
	if (x.before)
		acquire(w, x.before);
	meet(group);
	if (x.lost)
		__gsan_v1_unmodelled((u64)w);
}

/* Many lanes help; what fewer do is in the way of others, whose instructions are in the cache, and so is who
 * asks again at once. */
SLOW void mbar_idle(struct gsan_warp *w)
{
	u32 group = together();
	if (__popc(group) < POST_MANY || !walk(w, group, WALK_HELP, posted_now(w)))
		__nanosleep(IDLE_SLEEP);
}

/* The first of the calling lanes tried in vain, at `clock`. */
FN void mbar_note(struct gsan_mbar *m, u32 id, u32 clock, u32 site)
{
	if (sreg_laneid() != __ffs(__activemask()) - 1)
		return;
	store(&m->tried_site, site);
	/* Together: others try as well. */
	store_ca2(m->tried, (id & 31) << 5 | sreg_laneid(), clock);
}

SLOW void mbar_tried_first(struct gsan_warp *w, u64 addr, u32 op, u32 site)
{
	u64 place = place_far(w, addr, op);
	struct gsan_mbar *m = mbar_find(place);
	if (!m)
		return;
	mbar_asked(w, m, place, site + __gsan_site_base);
	mbar_note(m, w->id, load(&w->clock), site + __gsan_site_base);
}

/* A wait that was not successful is an operation all the same.  It comes often: nothing lives across
 * a call. */
SLOW void mbar_tried(struct gsan_warp *w, u64 addr, u32 op, u32 site)
{
	u32 group = together();
	struct known_init at = known_begin();
	uint4 me = load_ca(&w->id);
	u32 clock = load(&w->clock), base = __gsan_site_base;
	/* All that are together ask, whatever their addresses are. */
	bool near = !(op & (GSAN_MBAR_CLUSTER | GSAN_MBAR_GENERIC));
	struct gsan_mbar *m = mbar_quick(at, me, near ? (u64)(me.x >> 5) << 32 | ((u32)addr & SHARED_WINDOW) : NOWHERE, group);
	if (m)
		mbar_note(m, me.x, clock, site + base);
	else
		mbar_tried_first(w, addr, op, site);
}

API void __gsan_v1_mbar_wait(u64 ctx, u64 addr, u32 op, u32 parity, u32 done, u32 site)
{
	if (!ctx)
		return;
	TOGETHER(
		if (done) {
			mbar_wait(WARP(ctx), addr, op, parity, site);
		} else {
			mbar_tried(WARP(ctx), addr, op, site);
			mbar_idle(WARP(ctx));
		}
		perturb(WARP(ctx));
	);
}
