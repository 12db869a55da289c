/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.cuh: asynchronous copies and their groups.  (PTX ISA, Data Movement and
 * Conversion Instructions: cp.async, cp.async.bulk, cp.reduce.async.bulk)
 *
 * A copy's records are put in before it is issued.  What completes it is the group
 * of its thread, or the phase of an mbarrier that was under way when it was issued.
 */
#define copy_all        __gsan_v1_copy_all
#define dests_find      __gsan_v1_dests_find
#define copy_range      __gsan_v1_copy_range
#define copy_long       __gsan_v1_copy_long
#define copy_issue      __gsan_v1_copy_issue
#define copy_phase      __gsan_v1_copy_phase
#define group_step      __gsan_v1_group_step
#define first_alike     __gsan_v1_first_alike

/* The calling thread's groups, which nobody else changes: start cp bulk first.  `me`: id start. */
FN struct gsan_groups *own_groups(struct gsan_warp *w, uint4 me, uint4 *now)
{
	struct gsan_groups *g = groups_of(me.x << 5 | sreg_laneid());
	*now = load_ca(g);
	if (now->x != me.y) {
		groups_now(w);
		*now = load_ca(g);
	}
	return g;
}

/* The record of an operation whose `bytes` bytes count in the phase under way of the
 * mbarrier at `place`; 0 if that is not followed.  To `addr` in the memory of that block: of a peer's
 * see copy_stays.  By one lane. */
SLOW u64 copy_phase(struct gsan_warp *w, u64 place, u32 bytes, u32 addr, u32 site)
{
	struct known_init at = known_begin();
	uint4 me = load_ca(&w->id);
	u32 slot = (u32)(place >> 32), who = me.x << 5 | sreg_laneid();
	bool own = slot == me.x >> 5;
	struct gsan_mbar *m = mbar_quick(at, me, place, sreg_lanemask_eq());
	if (!m) {
		m = mbar_find(place);
		if (!m || (load(&m->flags) & GSAN_MBAR_LOST))
			return 0;
		mbar_asked(w, m, place, site);
	}
	take_lock(&m->lock);
	/* start addr lock flags; phase first expected later; ahead; expected issued */
	uint4 head = load_ca(m), now = load_ca(&m->phase), tx = load_ca(&m->tx_expected);
	u32 ahead = load_ca32(&m->ahead), first = load_ca32(&m->tx_first), phase = now.x, flags = head.w;
	/* Nobody is left to expect more: it counts in the next phase. */
	if (ahead >= now.z && first && tx.y + bytes > tx.x) {
		phase = (phase + 1) & GSAN_MBAR_PHASES;
		/* Or one of those before it does. */
		count(GSAN_COUNT_ASYNC_LOST, 1);
	} else {
		/* What came too late for the phase before may stand in for these. */
		if (phase != now.y && (flags & GSAN_MBAR_SHORT << (~phase & 1)))
			count(GSAN_COUNT_ASYNC_LOST, 1);
		if (!first)
			store(&m->tx_first, bytes);
		store(&m->tx_issued, tx.y + bytes);
	}
	store(&m->issuer[phase & 1], who);
	/* Who sees the block's last thread leave sees these, with the lock or behind it. */
	if (own) {
		store(&m->tx_phase[phase & 1], phase);
		store(&m->tx_at[phase & 1], addr);
		store(&m->tx_site[phase & 1], site);
	}
	/* What is kept of a copy whose end nobody has seen gives way to this one's. */
	u32 unseen = flags & GSAN_MBAR_UNSEEN << (phase & 1);
	if (unseen) {
		if (phase_unseen(m, phase))
			count(GSAN_COUNT_ASYNC_LOST, 1);
		store(&m->flags, flags & ~unseen);
	}
	unlock(&m->lock);
	if (flags & GSAN_MBAR_LOST)
		return 0;
	return mbar_record(slot, (u32)(m - (at.mbars + (u64)slot * GSAN_MBARS)), phase) | (own ? 0 : MBAR_PEER);
}

/* All blocks of the cluster, by rank. */
FN u32 cluster_mask(void)
{
	u32 size = 1;
#if __CUDA_ARCH__ >= 900
	asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
	return (2u << (size - 1)) - 1;
}

/* The blocks that a copy goes to, by rank: where, and its record there; 0: to that one it does not go. */
struct dests { u64 rec[16]; u32 slot[16]; };

/* The record of what the copy reads, see read_elsewhere; 0: it gets none. */
FN u64 dests_read(const struct dests *d)
{
	u64 read = 0;
	ROLLED
	for (u32 rank = 0; rank < 16; rank++) {
		u64 rec = d->rec[rank];
		if (rec && read && phases_behind(read) != phases_behind(rec)) {
			count(GSAN_COUNT_ASYNC_LOST, 1);
			return 0;
		}
		read = rec && read ? read | MBAR_MANY : read | rec;
	}
	return read;
}

/* A copy of `bytes` bytes to `at` of the shared memory of the calling lane's blocks of `mask` counts at the mbarrier at `mbar` of
 * each; if `pair`, of one of each two, by the lowest bit of its rank. */
SLOW void dests_find(struct gsan_warp *w, struct dests *d, u32 mask, u32 bytes, u32 at, u32 mbar, bool pair, u32 odd, u32 site)
{
	ROLLED
	for (u32 rank = 0; rank < 16; rank++) {
		u32 slot = mask >> rank & 1 ? peer_slot(w, rank) : ~0u, told = slot;
		if (pair && slot != ~0u)
			told = peer_slot(w, (rank & ~1u) | odd);
		bool there = slot != ~0u && told != ~0u;
		u64 rec = 0;
		if (there)
			init_fenced(w, (u64)told << 32 | mbar, site);
		ONE_BY_ONE(
			if (there)
				rec = copy_phase(w, (u64)told << 32 | mbar, bytes, at, site);
		);
		d->rec[rank] = rec;
		d->slot[rank] = slot;
		if (rec & MBAR_PEER)
			copy_stays(w, rec, at, site);
	}
}

/* A copy to the shared memory of several blocks, at the same place in each; it counts
 * at the mbarrier of each. */
SLOW void copy_all(struct gsan_warp *w, u64 dst, u64 src, u32 bytes, u32 mask, u64 mbar, u32 op, u32 site)
{
	alignas(16) struct gsan_work k;
	struct dests d;
	u32 done = 0, to = (u32)cluster_place(w, dst);
	dests_find(w, &d, mask, bytes, to, (u32)cluster_place(w, mbar), false, 0, site);
	u64 read = op & GSAN_COPY_NO_SOURCE ? 0 : dests_read(&d);
	work_begin(&k, site);
	if (read)
		work_range(w, &k, w->slot, src, bytes, read, ISSUE_PROXY);
	posted source = work_issue(w, &k, w->slot, 0);
	ROLLED
	for (u32 rank = 0; rank < 16; rank++) {
		u64 rec = d.rec[rank];
		if (!rec)
			continue;
		work_begin(&k, site);
		work_range(w, &k, d.slot[rank], to, bytes, rec | ASYNC_WRITES, ISSUE_PROXY | ISSUE_SHARED);
		work_issue(w, &k, GSAN_REC_SLOT(rec), source);
		done |= 1u << rank;
	}
	if (done != mask)
		fetch_add(&w->unmodelled, 1);
}

/* Of each 16 bytes those of `mask`.  (PTX ISA, cp.async.bulk: .cp_mask) */
SLOW void copy_range(struct gsan_warp *w, u32 slot, u64 addr, u32 bytes, u32 mask, u64 rec, u32 flags, u32 site)
{
	if (mask == 0xffff) {
		async_all(w, slot, addr, bytes, rec, flags, site);
		return;
	}
	ROLLED
	for (u32 i = 0; i < bytes; i += 16)
		ROLLED
		for (u32 m = mask, first, n; m; m &= ~0u << (first + n)) {
			first = __ffs(m) - 1;
			n = __ffs(~(m >> first)) - 1;
			async_all(w, slot, addr + i + first, n, rec, flags, site);
		}
}

#define COPY_LONG       64u

/* A copy of many bytes, from `src` with record `reads` to `dst` with `writes`. */
struct copied { u64 src, dst, reads, writes; u32 bytes, slot; };
SLOW void copy_long(struct gsan_warp *w, const struct copied *c, u32 from_flags, u32 to_flags, u32 site)
{
	alignas(16) struct gsan_work k;
	work_begin(&k, site);
	work_range(w, &k, w->slot, c->src, c->bytes, c->reads, from_flags);
	work_range(w, &k, c->slot, c->dst, c->bytes, c->writes, to_flags);
	work_issue(w, &k, GSAN_REC_SLOT(c->reads), 0);
}

SLOW void copy_issue(struct gsan_warp *w, u64 dst, u64 src, u32 bytes, u32 from, u64 mbar, u32 op, u32 site)
{
	u32 how = GSAN_COPY_HOW(op), me = self_of(w), slot = w->slot;
	u32 proxy = op & GSAN_COPY_GENERIC || (how == GSAN_HOW_CP && !(op & GSAN_COPY_MBAR)) ? 0 : ISSUE_PROXY;
	u64 rec = 0, place = 0, at = (u64)w->slot << 32 | ((u32)mbar & SHARED_WINDOW);
	u32 mask = op & GSAN_COPY_MASKED ? from & 0xffff : 0xffff;
	site += __gsan_site_base;
	if (op & GSAN_COPY_CANCEL) {
		launch_of(own_block(w))->cancels = 1;
		from = cluster_mask();
	}
	if (op & GSAN_COPY_ANYWHERE) {
		dst = shared_offset(dst);
		mbar = at = shared_offset(mbar);
		at |= (u64)w->slot << 32;
	}
	from = op & GSAN_COPY_MASKED ? bytes : from;
	if (op & GSAN_COPY_MULTICAST) {
		copy_all(w, dst, src, bytes, from, mbar, op, site);
		return;
	}
	if (op & GSAN_COPY_CLUSTER) {
		place = cluster_place(w, dst);
		if (place == NOWHERE)
			gone_astray(w, (u32)dst, site);
		slot = (u32)(place >> 32);
		dst = (u32)place;
		at = cluster_place(w, mbar);
	}
	if (op & GSAN_COPY_MBAR) {
		if (proxy)
			init_fenced(w, at, site);
		ONE_BY_ONE(rec = place == NOWHERE ? 0 : copy_phase(w, at, bytes, (u32)dst, site););
	} else {
		uint4 now;
		own_groups(w, load_ca(&w->id), &now);
		u32 number = how == GSAN_HOW_CP ? now.y : now.z;
		rec = number <= GSAN_ASYNC_GROUP_MAX ? group_record(me, how, number) : 0;
	}
	if (!rec) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	if ((op & GSAN_COPY_MBAR) && (op & GSAN_COPY_FROM_SHARED) && slot != w->slot)
		copy_sends(w, rec, (u32)src, site);
	if ((op & GSAN_COPY_MBAR) && (rec & MBAR_PEER))
		copy_stays(w, rec, (u32)dst, site);
	else if (!(op & GSAN_COPY_MBAR) && (op & GSAN_COPY_FROM_SHARED))
		copy_reads(w, (u32)src, site);
	u64 writes = rec | ASYNC_WRITES;
	if (op & GSAN_COPY_MBAR)
		writes |= (how == GSAN_HOW_REDUCE ? MBAR_REDUCES : 0) | (op & GSAN_COPY_GENERIC ? MBAR_GENERIC : 0);
	u64 r = how == GSAN_HOW_REDUCE && !(op & GSAN_COPY_MBAR) ?
		group_record(me, GSAN_HOW_BULK, GSAN_REC_CLOCK(rec) & GSAN_ASYNC_GROUP_MAX) : rec;
	u32 from_flags = proxy | (op & GSAN_COPY_FROM_SHARED ? ISSUE_SHARED : 0), to_flags = proxy | (op & GSAN_COPY_TO_SHARED ? ISSUE_SHARED : 0);
	if (mask == 0xffff && bytes >= COPY_LONG && !(op & GSAN_COPY_NO_SOURCE)) {
		struct copied c = { src, dst, r, writes, bytes, slot };
		copy_long(w, &c, from_flags, to_flags, site);
		return;
	}
	if (!(op & GSAN_COPY_NO_SOURCE))
		copy_range(w, w->slot, src, from, mask, r, from_flags, site);
	copy_range(w, slot, dst, bytes, mask, writes, to_flags, site);
}

/* Lanes that store the same bytes to the same place in global memory make one copy, the first
 * one's: ptxas makes one UTMASTG or UBLKCP of them.  Loads and reductions are each thread's. */
FN bool one_store(u32 op)
{
	return GSAN_COPY_HOW(op) == GSAN_HOW_BULK && !(op & (GSAN_COPY_MBAR | GSAN_COPY_TO_SHARED));
}

/* Which of all stores it is: of which group of its thread, of the block that began at `start`. */
FN u64 store_key(u32 site, u32 start, u64 a, u64 b, u64 c, u64 d, u32 e, u32 nth)
{
	u64 key = GSAN_MAP_HASH((u64)site << 32 | start, a);
	key = GSAN_MAP_HASH(GSAN_MAP_HASH(key, b), c);
	return GSAN_MAP_HASH(GSAN_MAP_HASH(key, d), (u64)nth << 32 | e);
}

/* Has no lane of the warp made that store yet, by the instruction at `site` and into the same
 * of its groups?  They need not come together. */
SLOW bool first_alike(struct gsan_warp *w, u64 a, u64 b, u64 c, u64 d, u32 e, u32 site)
{
	uint4 me = load_ca(&w->id), now;
	own_groups(w, me, &now);
	struct gsan_log *log = log_of(me.x << 5);
	u32 group = together();
	u64 key = store_key(site, me.y, a, b, c, d, e, now.z - (now.w >> 1));
	/* Other parts of the warp may be here at the same time. */
	return sreg_laneid() == __ffs(__match_any_sync(group, key)) - 1 &&
	       exchange64((u64 *)&log->stored[key >> 61], key) != key;
}

/* Is the caller the first of the lanes that copy the same bytes to the same place by this cp.async?
 * Whatever order they come in, they leave the same there.  (memory-model.md 2.4, AMB-19) */
FN bool first_of_same(u64 dst, u64 src, u32 bytes, u32 from, u32 op)
{
	if (GSAN_COPY_HOW(op) != GSAN_HOW_CP || (op & (GSAN_COPY_MBAR | GSAN_COPY_NO_SOURCE)))
		return true;
	/* The two addresses often differ alike from lane to lane: mixed one after the other. */
	u64 key = GSAN_MAP_HASH(GSAN_MAP_HASH(GSAN_MAP_HASH(0ull, dst), src), (u64)bytes << 32 | from);
	return sreg_laneid() == __ffs(__match_any_sync(together(), key)) - 1;
}

/* alone.cuh: with GSAN_COPY_TO_SHARED also a bulk load. */
API void __gsan_v1_tensor(u64 ctx, u64 map, u64 shared, u64 mbar, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u32 op, u64 more, u32 site);

API void __gsan_v1_copy(u64 ctx, u64 dst, u64 src, u32 bytes, u32 from, u64 mbar, u32 op, u32 site)
{
	if ((op & ~GSAN_COPY_CLUSTER) == (GSAN_HOW_BULK | GSAN_COPY_MBAR | GSAN_COPY_TO_SHARED) && __activemask() == sreg_lanemask_eq())
		__gsan_v1_tensor(ctx, 0, dst, mbar, (u32)src, (u32)(src >> 32), bytes, 0, 0, op, 0, site);
	else if (ctx)
		TOGETHER(
			if (one_store(op) ? first_alike(WARP(ctx), dst, src, bytes, op & GSAN_COPY_MASKED ? from : 0, 0, site + __gsan_site_base) :
			    first_of_same(dst, src, bytes, from, op) &&
			    !(op == (GSAN_HOW_CP | GSAN_COPY_TO_SHARED) && lane_copies(WARP(ctx), (u32)dst, src, bytes, from, site + __gsan_site_base)))
				copy_issue(WARP(ctx), dst, src, bytes, from, mbar, op, site);
			perturb(WARP(ctx));
		);
}

/* A group of the calling lane is committed, or waited for: all but the last `n`. */
SLOW void group_step(struct gsan_warp *w, u32 op, u32 n)
{
	uint4 me = load_ca(&w->id), now;
	struct gsan_groups *g = own_groups(w, me, &now);
	uint4 waited = load_ca(g->waited);
	bool cp = GSAN_COPY_HOW(op) == GSAN_HOW_CP;
	u32 number = cp ? now.y : now.z, first = 0;
	if (op & (GSAN_GROUP_COMMIT | GSAN_GROUP_ALL))
		store(cp ? &g->cp : &g->bulk, ++number);
	if (op & GSAN_GROUP_COMMIT)
		return;
	u32 kind = cp ? GSAN_WAIT_CP : op & GSAN_GROUP_READ ? GSAN_WAIT_READ : GSAN_WAIT_BULK;
	/* Not every number is a group that was committed. */
	if (cp && n && (now.w & 1))
		count(GSAN_COUNT_ASYNC_LOST, 1);
	u32 upto = number - 1 > n ? number - 1 - n : 0;
	u32 from = kind == GSAN_WAIT_CP ? waited.x : kind == GSAN_WAIT_BULK ? waited.z : waited.w;
	if (!cp)
		walk(w, together(), WALK_GROUP, upto);
	u32 group = of_kind(op), alike = __match_any_sync(group, (u64)upto << 32 | from);
	first = sreg_laneid() == __ffs(alike) - 1;
	ONE_BY_ONE(
		if (first)
			wait_noted(w, alike, kind, from, upto, load(&w->clock), 0);
	);
	meet(group);
	if (upto > from)
		store(&g->waited[kind], upto);
}

API void __gsan_v1_group(u64 ctx, u32 op, u32 n)
{
	if (ctx)
		TOGETHER(
			group_step(WARP(ctx), op, n);
			perturb(WARP(ctx));
		);
}
