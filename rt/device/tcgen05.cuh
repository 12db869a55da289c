/* SPDX-License-Identifier: Apache-2.0
 *
 * tcgen05.cuh: tensor memory and what accesses it.  (PTX ISA, TensorCore 5th
 * Generation Family Instructions: Memory Consistency Model, Pipelined Instructions)
 *
 * A block's tensor memory has a list of the accesses that may matter yet, as
 * rectangles.  An access is over for who knows that it is complete (a phase that a
 * commit completes, or a fence::before_thread_sync behind a wait::ld or wait::st) and
 * knew it at its last fence::after_thread_sync: so each warp keeps what was complete at
 * its last fences of the one kind, and what it knew at those of the other.  Operands in
 * shared memory have records there, as those of any asynchronous operation.
 */
#define tc_begin        __gsan_v1_tc_begin
#define tc_before       __gsan_v1_tc_before
#define tc_after        __gsan_v1_tc_after
#define knew_missed     __gsan_v1_knew_missed
#define tc_issue        __gsan_v1_tc_issue
#define tc_unknown      __gsan_v1_tc_unknown
#define tc_mma          __gsan_v1_tc_mma
#define tc_scales       __gsan_v1_tc_scales
#define tc_commit       __gsan_v1_tc_commit
#define tc_commit_at    __gsan_v1_tc_commit_at
#define tc_access       __gsan_v1_tc_access
#define tc_alloc        __gsan_v1_tc_alloc
#define fence_why       __gsan_v1_fence_why
#define cells_why       __gsan_v1_cells_why
#define cells_put       __gsan_v1_cells_put
#define cells_add       __gsan_v1_cells_add
#define cells_drop      __gsan_v1_cells_drop

FN struct gsan_tc *tc_of(u32 who) { return at<struct gsan_tc>(ROOT(tcs)) + (who >> 5); }
FN struct gsan_tmem *tmem_of(u32 slot) { return at<struct gsan_tmem>(ROOT(tmems)) + slot; }
FN u32 who_in(u64 r) { return (u32)(r >> 12) & 0x7fffff; }
FN u32 group_in(u64 r) { return GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX; }

/* A block that is new to the slot begins. */
SLOW void tc_begin(struct gsan_warp *w, struct gsan_tc *t)
{
	take_lock(&w->lock);
	if (load(&t->start) != w->start) {
		u32 group = load(&t->group);
		store(&t->done, group);
		store(&t->group, group + 1);
		store(&t->issued, 0);
		store(&t->ld, 1);
		store(&t->st, 1);
		store(&t->waited_ld, 0);
		store(&t->waited_st, 0);
		store(&t->lost_ld, 0);
		store(&t->lost_st, 0);
		store(&t->lost_issued, 0);
		store(&t->lost_after, 0);
		ROLLED
		for (u32 k = 0; k < GSAN_BEFORES; k++)
			store(&t->before[k].mask, 0);
		ROLLED
		for (u32 k = 0; k < GSAN_AFTERS; k++)
			store(&t->after[k].mask, 0);
		__threadfence();
		store(&t->start, w->start);
	}
	unlock(&w->lock);
}

/* The warp's own. */
FN struct gsan_tc *tc_now(struct gsan_warp *w)
{
	struct gsan_tc *t = tc_of(w->id << 5);
	if (load(&t->start) != w->start)
		ONE_BY_ONE(tc_begin(w, t););
	return t;
}

/* An instruction for whole warps: all lanes that are left come to it, though not
 * together, and the one that `leads` acts for them.  (PTX ISA: .sync, .aligned) */
#define FOR_ALL(w, leads, ...) do { \
	u32 all_ = load(&(w)->live); \
	meet_all(all_); \
	if (sreg_laneid() == (leads)) { \
		__VA_ARGS__ \
	} \
	meet_all(all_); \
} while (0)

#define FIRST_LANE(w)   (__ffs(load(&(w)->live)) - 1)
#define LAST_LANE(w)    (31 - __clz(load(&(w)->live)))

/* ---- What is known ------------------------------------------------------------------ */

/* Is a thread's group of products and copies over?  A commit's phase tells of all that
 * the thread had issued.  (PTX ISA, tcgen05.commit) */
SLOW bool tc_over(struct gsan_warp *w, u32 who, u32 group, u32 all, struct moment then)
{
	struct gsan_block *b = block_of(who >> 10);
	struct gsan_tc *t = tc_of(who);
	if (!of_launch(w, b) || load(&t->start) != load(&b->start) || group <= load(&t->done))
		return true;
	bool lost = group <= load(&t->lost_group);
	ROLLED
	for (u32 k = 0; k < GSAN_COMMITS; k++) {
		uint4 e = load_cg(&t->commit[k]);       /* upto lane mbar phase */
		if (e.x >= group && e.y == (who & 31) && mbar_past(w, e.z >> 8, e.z & 255, e.w, all, then))
			return true;
	}
	if (lost)
		count(GSAN_COUNT_ASYNC_LOST, 1);
	return lost;
}

/* Does the moment that is asked for count for these lanes? */
FN struct moment moment_of(struct gsan_tc *t, u32 k, u32 lanes)
{
	struct moment m;
	m.at = &t->after[k];
	m.self = load(&t->after[k].mask) & lanes;
	return m;
}

enum before_what { BEFORE_LD, BEFORE_ST, BEFORE_ISSUED };

/* Lanes `by` of the warp of thread `who` did something at its clock `when`, number `n` of
 * its kind, and ran fence::before_thread_sync: did `lanes` of the calling warp know of
 * that at their last fence::after_thread_sync?  0, or what is missing. */
SLOW u32 fence_why(struct gsan_warp *w, u32 who, u32 by, u32 what, u32 n, u32 when, u32 lanes)
{
	struct gsan_tc *p = tc_of(who), *t = tc_of(w->id << 5);
	bool lost = n <= load(what == BEFORE_LD ? &p->lost_ld : what == BEFORE_ST ? &p->lost_st : &p->lost_issued);
	bool early = false, now = false;
	ROLLED
	for (u32 k = 0; k < GSAN_BEFORES; k++) {
		uint4 e = load_cg(&p->before[k]);       /* clock mask ld st */
		u32 upto = what == BEFORE_LD ? e.z : what == BEFORE_ST ? e.w : load(&p->before[k].issued);
		ROLLED
		for (u32 m = e.y & by; m; m &= m - 1) {
			u32 fenced = (who & ~31u) | (__ffs(m) - 1);
			ROLLED
			for (u32 i = 0; i < GSAN_AFTERS && upto >= n; i++) {
				struct moment then = moment_of(t, i, lanes);
				if (then.self && event_knew(w, then, fenced, e.x))
					return 0;
			}
			bool known = load(&p->before[k].again) >= when && event_known(w, fenced, e.x >= when ? e.x : when, false);
			now |= known && upto >= n;
			early |= known && upto < n;
		}
	}
	if (lost) {
		count(GSAN_COUNT_ASYNC_LOST, 1);
		return 0;
	}
	if (now && chosen(GSAN_CHOICE_tcgen05_fence))
		return 0;
	return now ? GSAN_WHY_TC_AFTER : early ? GSAN_WHY_TC_WAIT :
	       event_known(w, who, when, false) ? GSAN_WHY_TC_BEFORE : GSAN_WHY_TC_SYNC;
}

/* Copies come before products, and products that have one accumulator one after the
 * other.  (PTX ISA, tcgen05: Pipelined Instructions)  That copies come behind products whose
 * scale factors they replace, and behind each other, it does not say, nor that a product comes behind one
 * whose A it overwrites; libraries rely on both.  (CUTLASS, sm100_blockscaled_mma_warpspecialized.hpp,
 * sm100_fmha_fwd_mainloop_tma_warpspecialized.hpp: scores over the probabilities before) */
FN bool pipelined(u32 before, u32 now, bool same)
{
	if (now == GSAN_PIPE_CP)
		return before == GSAN_PIPE_CP || before == GSAN_PIPE_SCALE;
	return now && (before == GSAN_PIPE_CP || (now == GSAN_PIPE_D && (before == GSAN_PIPE_A || (before == now && same))));
}

/* What keeps access `rec` (of pipe `pipe`, number `seq`, at clock `when`) from being before what `lanes`
 * of the calling warp do next; 0: nothing.  `piped`: they are in one pipeline. */
SLOW u32 cells_why(struct gsan_warp *w, u64 rec, u32 pipe, u32 seq, u32 when, bool piped, u32 lanes)
{
	u32 who = who_in(rec), n = group_in(rec);
	struct gsan_block *b = block_of(who >> 10);
	struct gsan_tc *p = tc_of(who), *t = tc_of(w->id << 5);
	struct gsan_warp *o = warp_of(who >> 10, who >> 5 & 31);
	bool own = who >> 5 == w->id, write = rec & ASYNC_WRITES;
	if (!of_launch(w, b) || load(&p->start) != load(&b->start))
		return 0;
	/* Something in between may have been the wait or the fence. */
	if ((load(&w->state) | load(&o->state)) & (GSAN_WARP_UNMODELLED | GSAN_WARP_LOST))
		return 0;
	if (load(&t->lost_after) & lanes) {
		count(GSAN_COUNT_ASYNC_LOST, 1);
		return 0;
	}
	if (!pipe) {
		if (n > load(write ? &p->waited_st : &p->waited_ld))
			return GSAN_WHY_TC_WAIT;
		return own ? 0 : fence_why(w, who, ~0u, write ? BEFORE_ST : BEFORE_LD, n, when, lanes);
	}
	if (piped && ((own && (lanes >> (who & 31) & 1)) || !fence_why(w, who, 1u << (who & 31), BEFORE_ISSUED, seq, when, lanes) ||
		      (chosen(GSAN_CHOICE_tcgen05_fence) && event_known(w, who, when, false))))
		return 0;
	ROLLED
	for (u32 i = 0; i < GSAN_AFTERS; i++) {
		struct moment then = moment_of(t, i, lanes);
		if (then.self && tc_over(w, who, n, false, then))
			return 0;
	}
	/* Who issued it and waits for it himself needs no fence. */
	struct gsan_knew me;
	struct moment mine;
	me.clock = GSAN_CLOCK_MAX;
	me.floor = me.wfloor = me.own_top = me.own_mask = me.sc = me.sc_cta = me.mask = 0;
	ROLLED
	for (u32 i = 0; i < 3; i++)
		me.refs[i].id[0] = me.refs[i].id[1] = me.refs[i].id[2] = me.refs[i].id[3] = 0;
	mine.at = &me;
	mine.self = own ? 1u << (who & 31) & lanes : 0;
	if (mine.self && tc_over(w, who, n, false, mine))
		return 0;
	if (!tc_over(w, who, n, false, present(w)))
		return GSAN_WHY_TC_COMMIT;
	return chosen(GSAN_CHOICE_tcgen05_fence) ? 0 : GSAN_WHY_TC_AFTER;
}

/* ---- The list of accesses ------------------------------------------------------------- */

#define COLUMNS(first, n)       ((first) | ((first) + (n)) << 16)
#define FIRST(columns)          ((columns) & 0xffff)
#define END(columns)            ((columns) >> 16)
#define ALL_LANES               (~0u)

/* Locked; what earlier tenants of the slot left is gone. */
FN struct gsan_tmem *tmem_locked(u32 slot)
{
	struct gsan_tmem *m = tmem_of(slot);
	u32 start = load(&block_of(slot)->start);
	take_lock(&m->lock);
	if (load(&m->start) != start) {
		store(&m->n, 0);
		store(&m->start, start);
	}
	return m;
}

FN void cells_move(struct gsan_cells *to, const struct gsan_cells *from)
{
	ROLLED
	for (u32 i = 0; i < sizeof *to / 16; i++)
		store_cg((char *)to + 16 * i, load_cg((const char *)from + 16 * i));
}

/* Accesses within these columns are forgotten. */
SLOW void cells_drop(u32 slot, u32 columns)
{
	struct gsan_tmem *m = tmem_locked(slot);
	u32 n = load(&m->n);
	ROLLED
	for (u32 i = 0; i < n; ) {
		u32 c = load(&m->e[i].columns);
		if (FIRST(c) < FIRST(columns) || END(c) > END(columns)) {
			i++;
			continue;
		}
		cells_move(m->e + i, m->e + --n);
	}
	store(&m->n, n);
	unlock(&m->lock);
}

/* It is the last of the list now, or part of one that goes on there. */
SLOW void cells_add(struct gsan_warp *w, struct gsan_tmem *m, struct gsan_cells x)
{
	u32 n = load(&m->n);
	ROLLED
	for (u32 i = 0; i < n; i++) {
		struct gsan_cells *e = m->e + i;
		u32 c = load(&e->columns);
		if (load64((u64 *)&e->rec) != x.rec || load(&e->site) != x.site || load(&e->lanes) != x.lanes ||
		    load(&e->pipe) != x.pipe || x.pipe || END(c) != FIRST(x.columns))
			continue;
		store(&e->columns, FIRST(c) | END(x.columns) << 16);
		return;
	}
	if (n == GSAN_CELLS) {
		fetch_add(&w->evicted, 1);
		cells_move(m->e + ((u32)(x.rec >> 12) ^ clock32()) % GSAN_CELLS, m->e + --n);
	}
	struct gsan_cells *e = m->e + n;
	store_cg(e, four((u32)x.rec, (u32)(x.rec >> 32), 0, 0));
	store_cg(&e->site, four(x.site, x.lanes, x.columns, x.seq));
	store_cg(&e->pipe, four(x.pipe, x.d, x.shape, load(&w->clock)));
	store(&m->n, n + 1);
}

/* `lanes` of the calling warp access tensor memory of `slot`: the access is compared with
 * what is there, and entered.  By one lane. */
SLOW void cells_put(struct gsan_warp *w, u32 slot, struct gsan_cells x, u32 lanes)
{
	struct gsan_tmem *m = tmem_locked(slot);
	bool write = x.rec & ASYNC_WRITES;
	ROLLED
	for (u32 i = 0; i < load(&m->n); ) {
		struct gsan_cells *e = m->e + i++;
		uint4 a = load_cg(e), b = load_cg(&e->site), c = load_cg(&e->pipe);
		/* a: rec via; b: site lanes columns seq; c: pipe d shape when */
		u64 rec = (u64)a.y << 32 | a.x, via = (u64)a.w << 32 | a.z;
		u32 first = FIRST(b.z) > FIRST(x.columns) ? FIRST(b.z) : FIRST(x.columns);
		u32 end = END(b.z) < END(x.columns) ? END(b.z) : END(x.columns);
		bool writes = rec & ASYNC_WRITES, actor = who_in(rec) == who_in(x.rec) && !c.x == !x.pipe;
		bool covered = !(b.y & ~x.lanes) && FIRST(b.z) >= FIRST(x.columns) && END(b.z) <= END(x.columns);
		if (!(b.y & x.lanes) || first >= end || (actor && x.pipe && b.w == x.seq))
			continue;
		bool piped = pipelined(c.x, x.pipe, c.y == x.d && c.z == x.shape);
		u32 why = cells_why(w, rec, c.x, b.w, c.w, piped, lanes);
		if (why && via && !cells_why(w, via, GSAN_PIPE_A, 0, 0, false, lanes))
			why = 0;
		if (why && (write || writes)) {
			u64 where = WHERE_TENSOR | owner_of(w, slot) | (u64)(__ffs(b.y & x.lanes) - 1) << 18 | (first & ~7u);
			u64 bit = 1u << (first & 7);
			tell(w, GSAN_ASYNC_RACE, why, where, x.site, x.rec | bit, b.x, rec | bit, own_block(w)->cta);
		}
		/* Who is not ordered behind it is not ordered behind this one, either. */
		if (covered && (write || !writes) && (!why || actor))
			cells_move(m->e + --i, m->e + (m->n = load(&m->n) - 1));
		/* A commit tells of a product alone, not of what that came behind. */
		else if (!why && covered && (x.pipe == GSAN_PIPE_A || x.pipe == GSAN_PIPE_SCALE))
			store_cg(e, four(a.x, a.y, (u32)x.rec, (u32)(x.rec >> 32)));
	}
	cells_add(w, m, x);
	unlock(&m->lock);
}

/* ---- Fences and waits ---------------------------------------------------------------- */

/* By the first of `group`: what its warp has completed may be learned of from now on. */
SLOW void tc_before(struct gsan_warp *w, struct gsan_tc *t, u32 group)
{
	u32 ld = load(&t->waited_ld), st = load(&t->waited_st), issued = load(&t->issued), n = load(&t->befores);
	uint4 last = load_cg(&t->before[(n - 1) % GSAN_BEFORES]);
	/* The fence before said as much. */
	if (n && last.y == group && last.z == ld && last.w == st && load(&t->before[(n - 1) % GSAN_BEFORES].issued) == issued) {
		store(&t->before[(n - 1) % GSAN_BEFORES].again, load(&w->clock));
		return;
	}
	u32 clock = tick(w, group == load(&w->live)), k = fetch_add(&t->befores, 1) % GSAN_BEFORES;
	uint4 old = load_cg(&t->before[k]);
	if (old.y) {
		fetch_max(&t->lost_ld, old.z);
		fetch_max(&t->lost_st, old.w);
		fetch_max(&t->lost_issued, load(&t->before[k].issued));
	}
	store(&t->before[k].mask, 0);
	store(&t->before[k].issued, issued);
	store(&t->before[k].again, clock);
	__threadfence();
	store_cg(&t->before[k], four(clock, group, ld, st));
}

/* Who met a release at too narrow a scope runs behind it all the same, and more is not asked for here.
 * (memory-model.md 1.9) */
SLOW void knew_missed(struct gsan_warp *w, struct gsan_knew *k)
{
	ROLLED
	for (uint4 v = load_cg(&own_block(w)->missed); v.x; v = four(v.y, v.z, v.w, 0)) {
		u32 sc = load(&snap_of(v.x)->sc);
		refs_add(w, &k->refs[0], v.x);
		if (sc > k->sc)
			k->sc = sc;
	}
}

/* By one of `group`, who all know the same.  Others of the warp may come by another call. */
SLOW void tc_after(struct gsan_warp *w, struct gsan_tc *t, u32 group)
{
	take_lock(&w->lock);
	u32 pick = load(&t->afters) % GSAN_AFTERS;
	ROLLED
	for (u32 k = GSAN_AFTERS; k-- > 0; ) {
		u32 left = fetch_and(&t->after[k].mask, ~group) & ~group;
		if (!left)
			pick = k;
	}
	u32 lost = exchange(&t->after[pick].mask, 0);
	fetch_or(&t->lost_after, lost);
	fetch_and(&t->lost_after, ~group);
	if (lost)
		store(&t->afters, pick + 1);
	struct gsan_knew *k = &t->after[pick];
	knew_more(w, k);
	knew_missed(w, k);
	u32 floor = w->floor, wfloor = w->wfloor, clock = tick(w, group == load(&w->live));
	__threadfence();
	store_ca(k, four(group, clock, floor, wfloor));
	unlock(&w->lock);
}

/* The lanes that know what the calling lane does. */
FN u32 alike(struct gsan_warp *w, u32 group)
{
	u32 lane = sreg_laneid(), h = 0;
	struct gsan_lane *l = lane_of(w, lane);
	if (load(&w->m_refs) >> lane & 1)
		h = (l->refs.id[0] * 2654435761u + l->refs.id[1] * 2246822519u + l->refs.id[2] * 3266489917u + l->refs.id[3] * 668265263u) ^
		    (l->sc * 374761393u + l->sc_cta * 3266489917u) ^ 1;
	if (load(&w->m_own) >> lane & 1)
		h ^= l->own_top * 2654435761u + l->own_mask * 2246822519u;
	return __match_any_sync(group, h);
}

/* Threads may synchronise by relaxed operations, which order tensor memory between these
 * fences and nothing else; here they order all, as if they were fences of memory. */
API void __gsan_v1_tcgen05_fence(u64 ctx, u32 op)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	TOGETHER(
		struct gsan_tc *t = tc_now(w);
		u32 group = of_kind(op), lane = sreg_laneid();
		if (op & GSAN_TC_LOOSE) {
			if ((op & GSAN_TC_AFTER) && (load(&w->m_seen) >> lane & 1))
				count(GSAN_COUNT_MERGED, 1);
			if (op & GSAN_TC_AFTER)
				__gsan_v1_fence(ctx, GSAN_INFO_ACQUIRE | GSAN_SYS << GSAN_INFO_LEVEL_SHIFT);
		}
		meet(group);
		u32 set = op & GSAN_TC_AFTER ? alike(w, group) : group;
		ONE_BY_ONE(
			if (lane == __ffs(set) - 1) {
				if (op & GSAN_TC_AFTER)
					tc_after(w, t, set);
				else
					tc_before(w, t, set);
			}
		);
		meet(group);
		if ((op & GSAN_TC_LOOSE) && !(op & GSAN_TC_AFTER))
			__gsan_v1_fence(ctx, GSAN_INFO_RELEASE | GSAN_SYS << GSAN_INFO_LEVEL_SHIFT);
	);
}

API void __gsan_v1_tcgen05_wait(u64 ctx, u32 op)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	FOR_ALL(w, FIRST_LANE(w),
		struct gsan_tc *t = tc_now(w);
		u32 *now = op & GSAN_TC_STORE ? &t->st : &t->ld, n = load(now);
		store(op & GSAN_TC_STORE ? &t->waited_st : &t->waited_ld, n);
		store(now, n + 1);
		/* tcgen05_fence=off: as if a fence followed, for all who learn of it. */
		if (chosen(GSAN_CHOICE_tcgen05_fence))
			tc_before(w, t, load(&w->live));
	);
}

/* ---- Operations ------------------------------------------------------------------------ */

/* tcgen05.ld and .st, by one lane for its warp. */
SLOW void tc_access(struct gsan_warp *w, u32 addr, u32 op, u32 split, u32 site)
{
	struct gsan_tc *t = tc_now(w);
	u32 n = load(op & GSAN_TC_STORE ? &t->st : &t->ld);
	struct gsan_cells x;
	x.rec = group_record(w->id << 5, GSAN_HOW_TCGEN05, n) | (op & GSAN_TC_STORE ? ASYNC_WRITES : 0);
	x.site = site + __gsan_site_base;
	x.lanes = (op & GSAN_TC_HALF ? 0xfu : 0xffu) << (addr >> 18 & 31);
	x.columns = COLUMNS(addr & 0xffff, op & 1023);
	x.seq = x.pipe = x.d = x.shape = 0;
	if (n > GSAN_ASYNC_GROUP_MAX) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	cells_put(w, w->slot, x, ALL_LANES);
	x.lanes <<= 4;
	x.columns = COLUMNS((addr & 0xffff) + split, op & 1023);
	if (op & GSAN_TC_TWICE)
		cells_put(w, w->slot, x, ALL_LANES);
}

API void __gsan_v1_tcgen05_access(u64 ctx, u64 addr, u32 op, u32 split, u32 site)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	FOR_ALL(w, FIRST_LANE(w), tc_access(w, (u32)addr, op, split, site););
}

/* An operation that touches nobody knows what: who learns of its end may learn of what
 * went before, and that is no longer compared. */
SLOW void tc_unknown(struct gsan_warp *w, u32 op)
{
	u32 peer = op & GSAN_TC_PAIR ? peer_slot(w, own_block(w)->rank ^ 1) : ~0u;
	if (sreg_laneid() != __ffs(__activemask()) - 1)
		return;
	fetch_add(&w->unmodelled, 1);
	cells_drop(w->slot, COLUMNS(0, 0x8000u));
	if (peer != ~0u)
		cells_drop(peer, COLUMNS(0, 0x8000u));
}

API void __gsan_v1_tcgen05_other(u64 ctx, u32 op)
{
	if (ctx)
		TOGETHER(tc_unknown(WARP(ctx), op););
}

/* The calling lane's next operation, of which the rectangle is not said yet; its own
 * group is over with its next commit. */
SLOW struct gsan_cells tc_issue(struct gsan_warp *w, u32 site)
{
	struct gsan_tc *t = tc_now(w);
	struct gsan_cells x;
	u32 group = load(&t->group);
	x.rec = group <= GSAN_ASYNC_GROUP_MAX ? group_record(self_of(w), GSAN_HOW_TCGEN05, group) : 0;
	x.site = site + __gsan_site_base;
	x.seq = fetch_add(&t->issued, 1) + 1;
	x.d = x.shape = 0;
	return x;
}

/* The layout of a descriptor; ~0 if that is not known. */
FN u32 tc_layout(u64 d)
{
	u32 layout = (u32)(d >> 61);
	if ((d >> 52 & 1) || layout == 3 || layout == 5 || layout == 7)
		return ~0u;
	return !layout ? 0 : layout == 1 ? 128 | LAYOUT_WIDE : layout == 2 ? 128 : layout == 4 ? 64 : 32;
}

/* A block's part of D with less than 128 rows lies in 16 of each 32 lanes, from the first or the 17th on; or, if the
 * other rows are a peer's or the product is one of .ws, in all lanes, as halves or quarters of its columns have lanes of
 * their own.  A in tensor memory is in the same lanes, as often as it takes.  (PTX ISA, tcgen05: Instruction
 * descriptor, Data Path Layout Organization; CUTLASS, mma_traits_sm100.hpp: TmemAllocMode) */
SLOW void tc_mma(struct gsan_warp *w, u32 d, u64 a, u64 b, u32 idesc, u32 op, u32 site)
{
	u32 m = (idesc >> 24 & 31) << 4, n = (idesc >> 17 & 63) << 3, size = op & 7, blocks = op & GSAN_TC_PAIR ? 2 : 1;
	u32 peer = blocks > 1 ? peer_slot(w, own_block(w)->rank ^ 1) : 0, a_type = idesc >> 7 & 7, b_type = idesc >> 10 & 7;
	/* Elements of 6 and 4 bits fill bytes, unless they are packed.  Accumulators of 16 bits fill words. */
	bool scaled = op & GSAN_TC_SCALED, packed = op & GSAN_TC_PACKED, integer = op & GSAN_TC_INTEGER, ws = op & GSAN_TC_WS;
	u32 d_type = idesc >> 4 & 3;
	bool types = scaled || ((d_type == (integer ? 2 : 1) || (!d_type && !integer && size < 4)) &&
				(a_type | b_type) < (size > 1 ? 3 : integer ? 2 : 6));
	u32 rows = m / blocks, at_a = op & GSAN_TC_A_TMEM ? 0 : tc_layout(a), at_b = tc_layout(b);
	bool half = m == 64 && !ws && blocks == 1;
	u32 lane = d >> 16, columns = half ? n : n * rows >> 7;
	bool good = !(idesc & 4) && n && n <= 256 && types && !(packed && (idesc >> 31 | (idesc >> 15 & 3))) &&
		    (rows == 128 || (rows == 64 && (blocks > 1 || !scaled)) || (ws && rows == 32)) &&
		    !(n & (blocks > 1 ? 31 : ws ? 63 : 7)) && (!lane || (half && lane == 16)) &&
		    (d & 0xffff) + columns <= 512 && at_a != ~0u && at_b != ~0u &&
		    (!(op & GSAN_TC_A_TMEM) || ((u32)a >> 16 == lane && ((u32)a & 0xffff) + 8 <= 512)) && peer != ~0u;
	struct gsan_cells x = tc_issue(w, site);
	if (!good || !x.rec) {
		tc_unknown(w, op);
		return;
	}
	u64 rec = x.rec;
	ROLLED
	for (u32 h = 0; h < blocks; h++) {
		struct issue r;
		issue_begin(&r, w, h ? peer : w->slot, rec, ISSUE_PROXY | ISSUE_SHARED, x.site);
		matrix_read(&r, together(), b, at_b | (idesc >> 16 & 1 ? LAYOUT_MN : 0), n / blocks, 32, size, 0, 1);
		if (!(op & GSAN_TC_A_TMEM))
			matrix_read(&r, together(), a, at_a | (idesc >> 15 & 1 ? LAYOUT_MN : 0), rows, 32, size, 0, 1);
		x.lanes = half ? 0x0f0f0f0fu << lane / 4 : ALL_LANES;
		x.rec = rec;
		x.pipe = GSAN_PIPE_A;
		x.columns = COLUMNS((u32)a & 0xffff, 8);
		ONE_BY_ONE(
			if (op & GSAN_TC_A_TMEM)
				cells_put(w, r.slot, x, 1u << sreg_laneid());
			x.rec = rec | ASYNC_WRITES;
			x.pipe = GSAN_PIPE_D;
			x.columns = COLUMNS(d & 0xffff, columns);
			x.d = d;
			x.shape = m | n << 16 | (u32)ws << 29 | blocks << 30;
			cells_put(w, r.slot, x, 1u << sreg_laneid());
		);
	}
}

/* The scale factors at columns `a` and `b` of tensor memory that the next product reads: those of 32 rows are
 * in a column, as bytes, in each 32 lanes; of B's rows half is in half of the lanes, if D's columns are.  (PTX ISA,
 * tcgen05: Block scaling; CUTLASS, mma_traits_sm100.hpp: tmem_sf_frg) */
SLOW void tc_scales(struct gsan_warp *w, u32 a, u32 b, u32 idesc, u32 op, u32 site)
{
	u32 n = (idesc >> 17 & 63) << 3, blocks = op & GSAN_TC_PAIR ? 2 : 1;
	u32 rows = (idesc >> 24 & 31) * 16 / blocks, columns[2] = { rows >> 5, ((n * rows >> 7) + 31) >> 5 }, at[2] = { a & 0xffff, b & 0xffff };
	u32 peer = blocks > 1 ? peer_slot(w, own_block(w)->rank ^ 1) : 0;
	struct gsan_cells x = tc_issue(w, site);
	if (!x.rec || peer == ~0u)
		return;
	x.lanes = ALL_LANES;
	x.pipe = GSAN_PIPE_SCALE;
	ROLLED
	for (u32 i = 0; i < 2 * blocks; i++) {
		x.columns = COLUMNS(at[i & 1], columns[i & 1]);
		ONE_BY_ONE(cells_put(w, i & 2 ? peer : w->slot, x, 1u << sreg_laneid()););
	}
}

API void __gsan_v1_tcgen05_scales(u64 ctx, u64 a, u64 b, u32 idesc, u32 op, u32 site)
{
	if (ctx)
		TOGETHER(tc_scales(WARP(ctx), (u32)a, (u32)b, idesc, op, site););
}

API void __gsan_v1_tcgen05_mma(u64 ctx, u64 d, u64 a, u64 b, u32 idesc, u32 off, u32 op, u32 site)
{
	if (!ctx)
		return;
	TOGETHER(
		if (off)
			tc_unknown(WARP(ctx), op);
		else
			tc_mma(WARP(ctx), (u32)d, a, b, idesc, op, site);
	);
}

/* Rows go to all lanes: as many copies are made of them as fit.  (PTX ISA, tcgen05.cp) */
API void __gsan_v1_tcgen05_cp(u64 ctx, u64 d, u64 from, u32 op, u32 site)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	TOGETHER(
		u32 pieces = op >> 8 & 3, layout = tc_layout(from), blocks = op & GSAN_TC_PAIR ? 2 : 1;
		u32 peer = blocks > 1 ? peer_slot(w, own_block(w)->rank ^ 1) : 0;
		struct gsan_cells x = tc_issue(w, site);
		u64 rec = x.rec;
		bool good = rec && layout != ~0u && peer != ~0u && d + 4 * pieces <= 512;
		x.rec |= ASYNC_WRITES;
		x.lanes = ALL_LANES;
		x.columns = COLUMNS((u32)d, 4 * pieces);
		x.pipe = GSAN_PIPE_CP;
		if (!good)
			tc_unknown(w, op);
		ROLLED
		for (u32 h = 0; good && h < blocks; h++) {
			struct issue r;
			issue_begin(&r, w, h ? peer : w->slot, rec, ISSUE_PROXY | ISSUE_SHARED, x.site);
			matrix_read(&r, together(), from, layout, op & 255, pieces * 16, 4, 0, 1);
			ONE_BY_ONE(cells_put(w, r.slot, x, 1u << sreg_laneid()););
		}
	);
}

/* The calling lane's groups up to `upto` end with the phase under way of the mbarrier at
 * `place`.  It arrives there, and brings nothing else. */
SLOW void tc_commit_at(struct gsan_warp *w, struct gsan_tc *t, u64 place, u32 upto, u32 site)
{
	struct gsan_mbar *m = mbar_find(place);
	u32 slot = (u32)(place >> 32), k = fetch_add(&t->commits, 1) % GSAN_COMMITS, old = load(&t->commit[k].upto);
	if (!m || (load(&m->flags) & GSAN_MBAR_LOST)) {
		/* Who waits there knows what cannot be told. */
		fetch_max(&t->lost_group, upto);
		fetch_add(&w->unmodelled, 1);
		if (!m)
			return;
	}
	mbar_used(w, m, place, site, GSAN_WHY_MBAR_INIT);
	if (old)
		fetch_max(&t->lost_group, old);
	store_cg(&t->commit[k], four(upto, sreg_laneid(), slot << 8 | (u32)(m - mbars_of(slot)), load(&m->phase)));
	take_lock(&m->lock);
	mbar_enter(w, m, slot, GSAN_MBAR_ARRIVE | GSAN_CLUSTER << GSAN_INFO_LEVEL_SHIFT, 1, 1, 0);
	unlock(&m->lock);
}

SLOW void tc_commit(struct gsan_warp *w, u64 mbar, u32 mask, u32 op, u32 site)
{
	struct gsan_tc *t = tc_now(w);
	u64 place = place_of(w, mbar, op);
	u32 upto = fetch_add(&t->group, 1);
	if (!(op & GSAN_TC_MULTICAST)) {
		ONE_BY_ONE(tc_commit_at(w, t, place, upto, site););
		return;
	}
	ROLLED
	for (u32 rank = 0; rank < 16; rank++) {
		u64 slot = mask >> rank & 1 ? peer_slot(w, rank) : ~0u;
		ONE_BY_ONE(
			if (mask >> rank & 1)
				tc_commit_at(w, t, slot == ~0u || place == NOWHERE ? NOWHERE : slot << 32 | (u32)place, upto, site);
		);
	}
}

API void __gsan_v1_tcgen05_commit(u64 ctx, u64 mbar, u32 mask, u32 op, u32 site)
{
	if (ctx)
		TOGETHER(tc_commit(WARP(ctx), mbar, mask, op, site + __gsan_site_base););
}

/* ---- Room in tensor memory --------------------------------------------------------------- */

/* One lane stands for the warp that writes the address, a generic store, and the others
 * know of that.  (PTX ISA, tcgen05.alloc) */
SLOW void tc_alloc(struct gsan_warp *w, u64 addr, u32 site, u32 group)
{
	u32 lane = sreg_laneid(), m_own = load(&w->m_own);
	u64 *sh;
	u32 *st;
	if (shadow_shared(w, (u32)addr, &sh, &st))
		one_granule(w, sh, st, record(view_of(w), lane, 1, bytes_at(addr, 4)), site, (addr & ~7ull) | 1);
	else
		fetch_add(&w->unbacked, 1);
	struct gsan_own mine;
	mine.base = mine.pad = 0;
	mine.top = tick(w, group == load(&w->live));
	mine.mask = 1u << lane;
	ROLLED
	for (u32 m = group; m; m &= m - 1) {
		struct gsan_lane *l = lane_of(w, __ffs(m) - 1);
		struct gsan_own e = mine;
		if (m_own >> (__ffs(m) - 1) & 1) {
			e.base = w->wfloor;
			e.top = l->own_top;
			e.mask = l->own_mask;
			e = join_own(e, mine);
		}
		l->own_top = e.top;
		l->own_mask = e.mask;
	}
	w->private_too = 1;
	fetch_or(&w->m_own, group);
}

API void __gsan_v1_tcgen05_alloc(u64 ctx, u64 addr, u32 op, u32 site)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	bool shared = !(op & GSAN_MBAR_GENERIC) || is_shared(addr);
	u64 offset = op & GSAN_MBAR_GENERIC ? shared_offset(addr) : addr;
	/* The last one, as the first is who does things alone. */
	FOR_ALL(w, LAST_LANE(w),
		if (shared)
			tc_alloc(w, (u32)offset & SHARED_WINDOW, site + __gsan_site_base, load(&w->live));
	);
}

/* An allocation ends, and with it what is compared. */
API void __gsan_v1_tcgen05_free(u64 ctx, u32 addr, u32 n)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	FOR_ALL(w, FIRST_LANE(w), cells_drop(w->slot, COLUMNS(addr & 0xffff, n)););
}
