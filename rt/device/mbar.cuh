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
#define gather_add      __gsan_v1_gather_add
#define gather_take     __gsan_v1_gather_take
#define mbar_mark       __gsan_v1_mbar_mark
#define mbar_brings     __gsan_v1_mbar_brings
#define mbar_enter      __gsan_v1_mbar_enter
#define mbar_enter_warp __gsan_v1_mbar_enter_warp
#define mbar_init       __gsan_v1_mbar_init
#define copies_arrive   __gsan_v1_copies_arrive
#define mbar_arrive     __gsan_v1_mbar_arrive
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

/* One more snapshot (0: none) for those who wait; lock held. */
SLOW void gather_add(struct gsan_warp *w, struct gsan_gather *g, u32 id)
{
	if (!id)
		return;
	u32 one = g->one, made;
	if (!g->builder) {
		u32 wider = one ? the_wider(one, id) : id;
		if (wider) {
			g->one = wider;
			return;
		}
		snap_begin(w, &made, w->start);
		g->builder = made;
		snap_join(snap_of(made), one);
	}
	snap_join(snap_of(g->builder), id);
}

/* What was gathered, as one snapshot. */
SLOW u32 gather_take(struct gsan_gather *g)
{
	if (g->builder) {
		snap_publish(snap_of(g->builder), g->builder);
		g->one = g->builder;
		g->builder = 0;
	}
	return g->one;
}

/* What the caller brings to an arrival: all of `lanes` know the same.  `own`: to those of
 * its block, whom a fence reaches whatever its scope and the arrival's. */
SLOW u32 mbar_brings(struct gsan_warp *w, u32 op, u32 lanes, u32 top, bool own)
{
	u32 lane = sreg_laneid(), level = GSAN_INFO_LEVEL(op);
	if (op & GSAN_INFO_RELEASE)
		return snap_take(w, lanes, top, 0, 0);
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
	uint4 last = *last_now;
	uint4 tx = load_cg(&m->tx_expected), gathered = load_cg(&m->own);       /* expected issued; own and peer: one builder */
	u32 flags = load(&m->flags), first = load(&m->tx_first), n = now.x;
	u32 own = gathered.y ? gathered.y : gathered.x, peer = gathered.w ? gathered.w : gathered.z;
	if (gathered.y)
		snap_show(snap_of(own), own);
	if (gathered.w)
		snap_show(snap_of(peer), peer);
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
	for (u32 k = 0; k < (own_block(w)->ntid + 31) >> 5; k += 2)
		store_cg(&m->seen[n & 1][k], four(0, 0, 0, 0));
	store(&m->wide[n & 1], 0);
	return flags;
}

/* cluster.cuh: phases of its cluster's barrier that are over. */
SLOW u32 cluster_phases(struct gsan_warp *w);

/* Is an mbarrier used by somebody who does not know of its init?  (PTX ISA,
 * mbarrier.init: it has to come before any other operation) */
SLOW void mbar_used(struct gsan_warp *w, struct gsan_mbar *m, u64 place, u32 site, u32 why)
{
	u32 slot = (u32)(place >> 32), clock = load(&m->init_clock), who = slot << 10 | load(&m->init_who);
	u64 rec = (u64)clock << 35 | (u64)who << 12 | GSAN_KIND_WRITE << 8 | 255;
	struct gsan_block *o = block_of(slot);
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
	tell(w, GSAN_MBARRIER_MISUSE, why, (place & 0xfffffff8u) | 1 | owner_of(w, slot), site, now, load(&m->init_site), rec, o->cta);
}

SLOW u64 place_far(struct gsan_warp *w, u64 addr, u32 op) { return place_of(w, addr, op); }

/* As place_of, but that what `me` (id start) says is not asked for again. */
FN u64 place_near(struct gsan_warp *w, uint4 me, u64 addr, u32 op)
{
	if (op & (GSAN_MBAR_CLUSTER | GSAN_MBAR_GENERIC))
		return place_far(w, addr, op);
	return (u64)(me.x >> 5) << 32 | ((u32)addr & SHARED_WINDOW);
}

/* What mbar_find and mbar_used come to, where the lanes of `group`, that are together, are known to
 * know of the init of the block's mbarrier at `place`: nobody forgets that.  NULL: they have to ask.  The
 * entry is written by the warp alone; what two groups of it note at one moment is of one init each. */
FN struct gsan_mbar *mbar_quick(uint4 me, u64 place, u32 group)
{
	u32 addr = (u32)place;
	struct gsan_mbar *m = mbars_of(me.x >> 5) + (addr >> 3) % GSAN_MBARS;
	uint4 known = load_ca(&log_of(me.x << 5)->inits[(addr >> 3) % GSAN_INITS]);
	uint4 head = load_cg(m), init = load_cg(&m->init_who);  /* start addr lock flags; init_who init_clock */
	bool quick = (u32)(place >> 32) == me.x >> 5 && known.x == addr && head.x == me.y && head.y == addr &&
		     (head.w & GSAN_MBAR_LIVE) && known.y == init.x && known.z == init.y && known.z > me.y && !(group & ~known.w);
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
	for (u32 k = 0; k < 64; k++)
		store(&m->seen[k >> 5][k & 31].mask, 0);
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
		m->expected += times;
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
		if (m->ahead >= m->expected) {
			u32 n = m->phase;
			if (own && mbar_complete(load(&m->addr), n)) {
				uint4 last = load_cg(&m->ahead);
				u32 flags = mbar_mark(w, m, load_cg(&m->phase), &last);
				store(&m->flags, flags | GSAN_MBAR_UNSEEN << (n & 1));
			} else {
				count(GSAN_COUNT_ASYNC_LOST, 1);
				/* It will be when the last of them is carried out. */
				if (!m->tx_expected && !m->tx_first)
					store(&m->flags, load(&m->flags) | GSAN_MBAR_LOST);
			}
		}
		m->tx_expected += n * times;
	}
	m->ahead += arrivals;
	/* Nobody has seen the phase over, and yet it may be: what was copied may be of the next. */
	if ((what == GSAN_MBAR_CP_ARRIVE || what == GSAN_MBAR_CP_ARRIVE_NOINC) && m->ahead > m->expected)
		count(GSAN_COUNT_ASYNC_LOST, 1);
	if (what == GSAN_MBAR_DROP || what == GSAN_MBAR_DROP_EXPECT)
		m->later -= arrivals;
	if (reaches || GSAN_INFO_LEVEL(op) >= GSAN_CLUSTER)
		gather_add(w, reaches ? &m->own : &m->peer, snap);
	else if (snap)
		store(&m->narrow, either(w, snap, load(&m->narrow)));
}

/* The same of all 32 lanes, which know the same, at an mbarrier of their block where others arrive as
 * well: what they bring is joined to what those do, without a snapshot of its own.  False: it is
 * not as simple as that. */
SLOW bool mbar_enter_warp(struct gsan_warp *w, struct gsan_mbar *m, u32 op, u32 n, u32 top)
{
	struct brought x;
	u32 lane = sreg_laneid(), before = load(&m->own.builder);
	bool several = __shfl_sync(~0u, load(&m->expected) > 32 * n, 0);
	if (!several || !warp_brings(w, top, &x))
		return false;
	if (!lane)
		take_lock(&m->lock);
	meet_all(~0u);
	u32 ahead = load(&m->ahead);
	before = warp_adds(w, &m->own.builder, before, &x);
	if (lane)
		return true;
	if (!before)
		snap_join(snap_of(m->own.builder), m->own.one);
	if ((op & 255) == GSAN_MBAR_ARRIVE)
		store(&m->ahead, ahead + 32 * n);
	else
		mbar_enter(w, m, w->slot, op, n, 32, 0);
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

/* An operation at `m` by the lanes that are together. */
SLOW void mbar_arrive(struct gsan_warp *w, struct gsan_mbar *m, u64 place, u32 op, u32 n)
{
	u32 group = of_kind(op), lane = sreg_laneid(), bit = 1u << lane, what = op & 255, top = 0;
	uint4 know = load_cg(&w->m_own);        /* own refs fence seen */
	bool arrives = what >= GSAN_MBAR_ARRIVE && what < GSAN_MBAR_CP_ARRIVE, all = agreed(group, group == load(&w->live));
	bool one = __match_any_sync(group, (u64)m ^ (u64)n << 48) == group;
	/* All know the same: one speaks for them. */
	bool whole = one && agreed(group, !((know.x | know.y | know.z) & group));
	struct gsan_groups *g = what == GSAN_MBAR_CP_ARRIVE || what == GSAN_MBAR_CP_ARRIVE_NOINC ? groups_now(w) : 0;
	if (arrives && (op & GSAN_INFO_RELEASE))
		top = tick(w, all);
	if (whole)
		top = highest(group, top);
	bool entered = arrives && whole && (op & GSAN_INFO_RELEASE) && group == ~0u && (u32)(place >> 32) == w->slot &&
		       mbar_enter_warp(w, m, op, n, top);
	BY_THESE(entered ? 0 : one_or_all(group, whole),
		u32 snap = arrives ? mbar_brings(w, op, whole ? group : bit, top, (u32)(place >> 32) == w->slot) : 0;
		take_lock(&m->lock);
		mbar_enter(w, m, (u32)(place >> 32), op, n, whole ? __popc(group) : 1, snap);
		unlock(&m->lock);
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

/* What mbar_waited does for a whole warp, where others have found the phase to be over already,
 * as all but the first have: nothing is to be marked, so that they need not wait for each other's
 * lock.  False: it has to be had. */
FN bool mbar_passed(struct gsan_warp *w, struct gsan_mbar *m, u32 op, u32 parity, u32 id[4])
{
	uint4 head = load_cg(m), now = load_cg(&m->phase);      /* start addr lock flags; phase first expected later */
	if (head.z || (op & 255) == GSAN_MBAR_STATE || GSAN_INFO_LEVEL(op) >= GSAN_CLUSTER || !((now.x ^ parity) & 1) ||
	    (head.w & GSAN_MBAR_LOST))
		return false;
	/* What belongs to that phase, and to no other if it is still the last one afterwards. */
	fence();
	u32 p = now.x - 1;
	struct gsan_seen *s = &m->seen[p & 1][w->id & 31];
	uint4 last = load_cg(&m->ahead);        /* ahead narrow last_own last_peer */
	u64 was = load64((u64 *)s);
	if (last.x >= now.z + now.w)
		return false;
	mbar_saw(s, was, load(&w->clock), ~0u);
	fence();
	/* Has it been marked meanwhile?  The next phase but one takes the place of this one's note. */
	u32 again = load(&m->phase), lock = load(&m->lock);
	if (again - now.x > 1)
		store(&s->mask, 0);
	if (again != now.x || lock)
		return false;
	id[0] = last.z;
	id[1] = last.w;
	id[2] = 0;
	id[3] = head.w & GSAN_MBAR_SHORT << (p & 1) ? 0 : (p & GSAN_MBAR_PHASES) + 1;
	return true;
}

/* The lanes that are together take over what those who arrived at the phase brought. */
SLOW void mbar_learn(struct gsan_warp *w, u32 own, u32 peer, u32 miss_id, u32 slot, u32 op, bool whole)
{
	bool wide = GSAN_INFO_LEVEL(op) >= GSAN_CLUSTER, acq = op & GSAN_INFO_ACQUIRE;
	u32 lane = sreg_laneid();
	if (!acq) {
		/* Of what does not reach a later fence will say that it was in vain. */
		u32 h = 0x5a5au << 16;
		acquire(w, see(w, own, REACH(GSAN_INFO_LEVEL(op), slot, h)));
		acquire(w, see(w, peer, REACH(wide ? GSAN_CLUSTER : 0, slot, h)));
		acquire(w, see(w, miss_id, REACH(0, slot, h)));
		return;
	}
	miss(w, miss_id);
	miss(w, wide ? 0 : peer);
	peer = wide ? peer : 0;
	if (!whole) {
		acquire(w, own);
		acquire(w, peer);
		return;
	}
	if (lane != __ffs(__activemask()) - 1 || !(own | peer))
		return;
	uint4 me = load_ca(&w->id), fences = load_ca(&w->slot);         /* id start; slot nslots sc sc_cta */
	u32 special = load_ca32(&w->special), number = own_block(w)->launch_number;
	fetch_or(&w->state, GSAN_WARP_REFS);
	store_ca32(&w->special, special | GSAN_SPECIAL_MORE);
	u32 next = own ? peer : 0;
	ROLLED
	for (u32 id = own ? own : peer; id; id = next, next = 0) {
		struct gsan_snap *s = snap_of(id);
		uint4 a = load_cg(s), d = load_cg(&s->sc);
		if (d.x > fences.z)
			w->sc = fences.z = d.x;
		if (a.z == me.x >> 5 && a.w == me.y && d.y > fences.w)
			w->sc_cta = fences.w = d.y;
		if (d.w == number)
			grid_over(w);
		refs_add(w, &w->refs, id);
	}
}

/* The calling lane's wait was successful, for `lanes` of its warp.  Returns what the phases
 * brought that it may have waited for: the last one, or that and the one before; and 1 + the phase
 * where copies that complete in it are over. */
SLOW void mbar_waited(struct gsan_warp *w, struct gsan_mbar *m, u32 addr, u32 op, u32 parity, u32 lanes, u32 id[4])
{
	ROLLED
	for (;;) {
		if (lanes == ~0u && mbar_passed(w, m, op, parity, id))
			return;
		if (try_lock(&m->lock))
			break;
		__nanosleep(100);
	}
	/* All that is needed, in one go. */
	uint4 now = load_cg(&m->phase), last = load_cg(&m->ahead);      /* phase first expected later; ahead narrow last_own last_peer */
	u32 before = load(&m->flags), flags = before, clock = load(&w->clock), n = now.x, p = n - 1;
	struct gsan_seen *seen = &m->seen[0][w->id & 31];
	u64 was = load64((u64 *)(seen + (n & 1) * 32)), was_before = load64((u64 *)(seen + (p & 1) * 32));
	id[0] = id[1] = id[2] = id[3] = 0;
	if ((op & 255) == GSAN_MBAR_STATE) {
		if (last.x >= now.z && mbar_complete(addr, n)) {
			id[2] = last.z;
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
		fetch_or(&m->wide[p & 1], 1u << (w->id & 31));
	/* What the last but one brought is not kept; the first one's predecessor brought nothing. */
	bool none = p + 2 == n && n - now.y < 2;
	if (p + 2 == n && !none)
		count(GSAN_COUNT_MERGED, 1);
	id[0] = none ? 0 : last.z;
	id[1] = none ? 0 : last.w;
	if (!(flags & (GSAN_MBAR_LOST | GSAN_MBAR_SHORT << (p & 1))))
		id[3] = (p & GSAN_MBAR_PHASES) + 1;
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
	uint4 me = load_ca(&w->id);
	u64 place = place_near(w, me, addr, op);
	u32 what = op & 255;
	site += __gsan_site_base;
	if (what == GSAN_MBAR_INIT) {
		ONE_BY_ONE(mbar_init(w, place, n, site););
		return;
	}
	struct gsan_mbar *m = mbar_quick(me, place, together());
	if (!m) {
		m = mbar_find(place);
		if (!m) {
			count(GSAN_COUNT_ASYNC_LOST, 1);
			return;
		}
		mbar_asked(w, m, place, site);
	}
	if (what == GSAN_MBAR_INVAL) {
		ONE_BY_ONE(
			mbar_waits(w, m, place, site);
			take_lock(&m->lock);
			store(&m->flags, load(&m->flags) & ~GSAN_MBAR_LIVE);
			unlock(&m->lock);
		);
		return;
	}
	u32 slot = (u32)(place >> 32);
	if (slot != me.x >> 5) {
		guest_begins(w, slot, (u32)place, site);
		guest_enter(w, slot, (u32)place, (u32)(m - mbars_of(slot) + 1) << 25 | load(&m->phase), site);
	}
	mbar_arrive(w, m, place, op, n);
}

API void __gsan_v1_mbar(u64 ctx, u64 addr, u32 op, u32 n, u32 site)
{
	if (ctx)
		TOGETHER(
			mbar_op(WARP(ctx), addr, op, n, site);
			perturb(WARP(ctx));
		);
}

SLOW void mbar_wait(struct gsan_warp *w, u64 addr, u32 op, u32 parity, u32 site)
{
	uint4 me = load_ca(&w->id);
	u64 place = place_near(w, me, addr, op);
	u32 live = load(&w->live);
	struct gsan_mbar *known = mbar_quick(me, place, together()), *m = known ? known : mbar_find(place);
	u32 flags = m ? load(&m->flags) : GSAN_MBAR_LOST;
	walk(w, m ? WALK_MBAR : WALK_ALL, m ? (u32)(m - mbars_of((u32)(place >> 32))) : 0);
	if (flags & GSAN_MBAR_LOST) {
		__gsan_v1_unmodelled((u64)w);
		return;
	}
	u32 group = of_kind(op), lane = sreg_laneid(), id[4] = { 0, 0, 0, 0 };
	u32 at = op & GSAN_MBAR_GENERIC ? shared_offset(addr) : (u32)addr;
	bool one = __match_any_sync(group, (u64)m ^ (u64)(parity & 1) << 60) == group, leader = lane == __ffs(group) - 1;
	if (!known)
		mbar_asked(w, m, place, site + __gsan_site_base);
	store(&m->wait_site, site + __gsan_site_base);
	BY_THESE(one_or_all(group, one), mbar_waited(w, m, at, op, parity, one ? group : 1u << lane, id););
	meet(group);
	u32 narrow = load(&m->narrow);
	flags = load(&m->flags);
	/* That copies are over is taken as known, whether a fence follows or not. */
	if (leader && !(op & GSAN_INFO_ACQUIRE))
		count(GSAN_COUNT_RELAXED_WAIT, 1);
	if (one) {
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			id[k] = __shfl_sync(group, id[k], __ffs(group) - 1);
	}
	/* What it accesses next is mostly what they brought, see plain_copied, line_status and row_after. */
	if (id[3] && (u32)(place >> 32) == me.x >> 5) {
		struct gsan_lane *l = lane_of(w, lane);
		u32 hash = over_hash(w, mbar_record(me.x >> 5, (u32)(m - mbars_of(me.x >> 5)), id[3] - 1) | ASYNC_WRITES);
		store_ca32(&l->over[0], hash);
		store_ca32(&l->over[1], hash);
		store_ca32(&l->fine, hash);
		if (one && group == ~0u && leader)
			store_ca32(&w->over, hash);
	}
	bool whole = one && agreed(group, group == live);
	mbar_learn(w, id[0], id[1], narrow, me.x >> 5, op, whole);
	if (id[2])
		acquire(w, id[2]);
	meet(group);
	if (flags & GSAN_MBAR_LOST)
		__gsan_v1_unmodelled((u64)w);
}

/* Many lanes help; what fewer do is in the way of others, whose instructions are in the cache. */
SLOW void mbar_idle(struct gsan_warp *w)
{
	if (__popc(together()) >= POST_MANY)
		walk(w, WALK_HELP, posted_now(w));
	else
		__nanosleep(500);
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
	uint4 me = load_ca(&w->id);
	u32 clock = load(&w->clock), base = __gsan_site_base;
	/* All that are together ask, whatever their addresses are. */
	bool near = !(op & (GSAN_MBAR_CLUSTER | GSAN_MBAR_GENERIC));
	struct gsan_mbar *m = mbar_quick(me, near ? (u64)(me.x >> 5) << 32 | ((u32)addr & SHARED_WINDOW) : NOWHERE, group);
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
