/* SPDX-License-Identifier: Apache-2.0
 *
 * words.cuh: strong accesses and fences: who published what at which word, who
 * has seen it, and who has acquired it.  (PTX ISA, Memory Consistency Model:
 * Release and Acquire Patterns, Observation, Synchronizes)
 *
 * A store is entered before it is carried out and a load looks after it was, so
 * that whoever sees the value finds the entry.
 */
#define WORD_SHARED     (1ull << 62)
#define WORD_FENCE      (1ull << 61)    /* the order of fence.sc, not an address */

FN u64 word_key(const struct gsan_warp *w, u64 addr, bool shared)
{
	return shared ? WORD_SHARED | (u64)w->slot << 32 | (u32)addr : addr;
}

/* Everything that this launch does not judge any more. */
FN void go_quiet(struct gsan_warp *w, u32 why)
{
	count(why, 1);
	launch_of(block_of(w->slot))->quiet = 1;
}

/* May a word that launch number `n` used last be taken for another address? */
FN bool launch_over(u32 n)
{
	struct gsan_launch *l = at<struct gsan_launch>(root()->launches);
	ROLLED
	for (u32 i = 0; i < GSAN_LAUNCHES; i++)
		if (load(&l[i].ready) == n && load64(&l[i].grid))
			return false;
	return true;
}

/* The word for a key, NULL if it has none (and `make` is false). */
SLOW struct gsan_word *word_find(struct gsan_warp *w, u64 key, bool make)
{
	struct gsan_root *r = root();
	struct gsan_word *table = at<struct gsan_word>(root()->words);
	u32 mine = block_of(w->slot)->launch_number;
	u32 h = (u32)((key * 0x9e3779b97f4a7c15ull) >> 36);
	ROLLED
	for (u32 probe = 0; probe < 32; probe++) {
		struct gsan_word *x = table + ((h + probe) & (r->nwords - 1));
		u64 k = load64(&x->key);
		if (k == key)
			return x;
		if (k)
			continue;
		if (!make)
			return 0;
		k = swap((u64 *)&x->key, 0, key);
		if (!k || k == key)
			return x;
	}
	if (!make)
		return 0;
	/* No free word near: take over one of a launch that is over.  Its
	 * contents are dropped by word_refresh. */
	ROLLED
	for (u32 probe = 0; probe < 32; probe++) {
		struct gsan_word *x = table + ((h + probe) & (r->nwords - 1));
		u64 k = load64(&x->key);
		u32 n = load(&x->launch);
		if (n != mine && launch_over(n) && swap((u64 *)&x->key, k, key) == k)
			return x;
	}
	go_quiet(w, GSAN_COUNT_WORD_FULL);
	return 0;
}

/* With the lock held: what an earlier launch left means nothing to this one. */
FN void word_refresh(struct gsan_word *x, u32 launch)
{
	if (x->launch != launch) {
		x->launch = launch;
		x->n = 0;
		x->writer_level = 0;
		x->writer = ~0u;
	}
}

FN bool entry_meets(const struct gsan_warp *w, u32 cluster, u32 a, u32 b, u32 slot, u32 pcluster)
{
	u32 level = a < b ? a : b;
	return level >= GSAN_GPU || slot == w->slot || (level == GSAN_CLUSTER && cluster == pcluster);
}

/* A snapshot that will hold what was published at a word, not what this thread
 * knows. */
FN struct gsan_snap *word_begin(struct gsan_warp *w, u32 *id, u32 cluster)
{
	struct gsan_snap *s = snap_begin(w, id);
	ROLLED
	for (u32 k = 0; k < 32; k++)
		store_cg(snap_own(s) + k, four(0, 0, 0, 0));
	s->floor = w->start;
	s->cluster = cluster;
	return s;
}

/* Adds a snapshot to a word's list; joins it with one of the same reach. */
SLOW void word_add(struct gsan_warp *w, struct gsan_word *x, u32 snap, u32 level, u32 cluster)
{
	u32 n = x->n;
	ROLLED
	for (u32 i = 0; i < n; i++) {
		struct gsan_word_entry *e = x->e + i;
		if (e->snap == snap && e->level >= level)
			return;
		if (e->level == level && (level >= GSAN_GPU || e->slot == w->slot)) {
			u32 id;
			struct gsan_snap *s = word_begin(w, &id, cluster);
			snap_join(s, e->snap);
			snap_join(s, snap);
			snap_publish(s, id);
			e->snap = id;
			e->slot = w->slot;
			return;
		}
	}
	if (n == GSAN_WORD_ENTRIES) {
		/* No room to tell scopes apart: the widest reach for all. */
		count(GSAN_COUNT_MERGED, 1);
		n = x->n = 0;
		u32 id;
		struct gsan_snap *s = word_begin(w, &id, cluster);
		ROLLED
		for (u32 i = 0; i < GSAN_WORD_ENTRIES; i++)
			snap_join(s, x->e[i].snap);
		snap_join(s, snap);
		snap_publish(s, id);
		snap = id;
		level = GSAN_SYS;
	}
	struct gsan_word_entry *e = x->e + n;
	e->snap = snap;
	e->level = level;
	e->slot = w->slot;
	e->cluster = cluster;
	x->n = n + 1;
}

/* A releasing event: what the lane did so far is at the clock returned, what
 * follows at a later one.  Lanes that come together tick once. */
FN u32 tick(struct gsan_warp *w)
{
	u32 clock = load(&w->clock);
	swap32(&w->clock, clock, clock + 1);
	return clock;
}

/* A strong write of the calling lane at `key`; `release`: with that semantics;
 * `rmw`: continues the release sequence.  `top`: its own clock. */
SLOW void publish(struct gsan_warp *w, u64 key, u32 level, bool release, bool rmw, u32 top)
{
	u32 lane = sreg_laneid(), bit = 1u << lane;
	bool fenced = w->m_fence & bit;
	struct gsan_word *x = word_find(w, key, release || fenced);
	if (!x)
		return;
	struct gsan_block *b = block_of(w->slot);
	struct gsan_lane *l = lane_of(w, lane);
	u32 snap = release ? snap_take(w, bit, top, 0) : 0;
	u32 me = w->id << 5 | lane, cluster = b->cluster;

	LOCKED(&x->lock, {
		word_refresh(x, b->launch_number);
		/* A release sequence goes on through RMWs of sufficient scope,
		 * and through the same thread's stores (pattern 1b). */
		bool keep = rmw ? !x->writer_level || entry_meets(w, cluster, x->writer_level, level, x->writer_slot, x->writer_cluster)
				: x->writer == me;
		if (!keep)
			x->n = 0;
		if (snap)
			word_add(w, x, snap, level, cluster);
		if (fenced && !release)
			ROLLED
			for (u32 i = 3; i-- > 0; ) {
				u32 s = l->fence[i];
				if (s && (i == 2 || s != l->fence[i + 1]))
					word_add(w, x, s, i == 2 || level < i + 1 ? level : i + 1, cluster);
			}
		x->writer_level = level;
		x->writer_slot = w->slot;
		x->writer_cluster = cluster;
		x->writer = me;
	});
}

/* The lane takes over what snapshot `id` says. */
FN void acquire(struct gsan_warp *w, u32 id)
{
	u32 lane = sreg_laneid();
	struct gsan_lane *l = lane_of(w, lane);
	if (!(fetch_or(&w->m_refs, 1u << lane) >> lane & 1))
		l->refs.id[0] = l->refs.id[1] = l->refs.id[2] = l->refs.id[3] = 0;
	refs_add(w, &l->refs, id);
}

/* A release met its acquire, but the scopes do not reach: only for the wording
 * of a finding. */
SLOW void miss(struct gsan_warp *w, struct gsan_block *b, u32 id)
{
	for (int i = 0; i < GSAN_REFS; i++)
		if (load(&b->missed.id[i]) == id)
			return;
	LOCKED(&b->lock, refs_add(w, &b->missed, id););
}

/* A strong read of the calling lane has been carried out. */
SLOW void observe(struct gsan_warp *w, u64 key, u32 level, bool acq)
{
	struct gsan_word *x = word_find(w, key, false);
	if (!x)
		return;
	struct gsan_block *b = block_of(w->slot);
	struct gsan_word_entry e[GSAN_WORD_ENTRIES];
	u32 n = 0, lane = sreg_laneid(), bit = 1u << lane;
	LOCKED(&x->lock, {
		word_refresh(x, b->launch_number);
		n = x->n;
		ROLLED
		for (u32 i = 0; i < GSAN_WORD_ENTRIES; i++)
			e[i] = x->e[i];
	});
	ROLLED
	for (u32 i = 0; i < n; i++) {
		if (!entry_meets(w, b->cluster, level, e[i].level, e[i].slot, e[i].cluster)) {
			miss(w, b, e[i].snap);
			continue;
		}
		if (acq) {
			acquire(w, e[i].snap);
			continue;
		}
		/* Seen, to be acquired by a later fence. */
		struct gsan_lane *l = lane_of(w, lane);
		if (!(fetch_or(&w->m_seen, bit) & bit))
			l->seen[0] = l->seen[1] = l->seen[2] = l->seen[3] = 0;
		u32 k = 0;
		u32 reach = e[i].level < level ? e[i].level : level;
		ROLLED
		while (k < 4 && l->seen[k] && l->seen[k] != e[i].snap)
			k++;
		if (k == 4) {
			/* More than can be kept apart: acquired at once. */
			count(GSAN_COUNT_MERGED, 1);
			acquire(w, e[i].snap);
			continue;
		}
		l->seen[k] = e[i].snap;
		l->seen_level[k] = reach | e[i].slot << 8;
	}
}

/* A strong read that finds another thread's strong write orders that write
 * before what follows (rule 9): its record says so from now on. */
FN void mark_observed(struct gsan_warp *w, u64 *sh, u32 bytes, u32 kind)
{
	struct view v = view_of(w);
	u64 mine = record(v, sreg_laneid(), kind, bytes);
	u32 own = 4;
	bool other = false;
	ROLLED
	for (u32 i = 0; i < 4; i++) {
		u64 r = load64(sh + i);
		u32 k = GSAN_REC_KIND(r);
		if (r == mine)
			own = i;
		else if ((r & bytes) == bytes && (k & GSAN_KIND_WRITE) && kind_level(k) &&
			 (r >> 12 & 0x7fffff) != (mine >> 12 & 0x7fffff) &&
			 scopes_meet(w, kind_level(k), kind >> 1, GSAN_REC_SLOT(r), GSAN_REC_CLOCK(r)))
			other = true;
	}
	if (own < 4 && other) {
		u32 seen = (kind >> 1 >= GSAN_GPU ? GSAN_KIND_OBSERVED_GPU : GSAN_KIND_OBSERVED_CTA) | (kind & 1);
		swap(sh + own, mine, (mine & ~0xf00ull) | seen << 8);
	}
}

FN u32 strong_kind(u32 info) { return GSAN_INFO_LEVEL(info) << 1 | (info & GSAN_INFO_WRITE ? 1 : 0); }

FN bool as_weak(const struct gsan_warp *w, u32 info)
{
	return (info & GSAN_INFO_VOLATILE) && (w->flags & GSAN_WARP_VOLATILE);
}

/* Elements of a vector are accesses of their own. (PTX ISA, Vector Data-types) */
SLOW void access_before(struct gsan_warp *w, u64 addr, u32 info, u32 site, bool shared)
{
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_ELEMS(info), level = GSAN_INFO_LEVEL(info);
	if (!n)
		n = 1;
	if (as_weak(w, info)) {
		u32 all = size * n;
		if (info & GSAN_INFO_WRITE) {
			if (shared)
				__gsan_v1_write_s((u64)w, addr, all, site);
			else
				__gsan_v1_write_g((u64)w, addr, all, site);
		} else if (shared) {
			__gsan_v1_read_s((u64)w, addr, all, site);
		} else {
			__gsan_v1_read_g((u64)w, addr, all, site);
		}
		return;
	}
	struct view v = view_of(w);
	u32 kind = strong_kind(info), lane = sreg_laneid(), global_site = site + __gsan_site_base;
	bool write = info & GSAN_INFO_WRITE, release = info & GSAN_INFO_RELEASE;
	ROLLED
	for (u32 k = 0; k < n; k++)
		ROLLED
		for (u32 done = 0; done < size; done += 8) {
			u64 a = addr + k * size + done, *sh;
			u32 *st;
			if (shared ? shadow_shared(w, (u32)a, &sh, &st) : shadow_global(a, &sh, &st))
				one_granule(w, sh, st, record(v, lane, kind, bytes_at(a, size - done)),
					    global_site, (a & ~7ull) | (u64)shared);
			else
				w->unbacked++;
		}
	if (!write)
		return;
	u32 top = release ? tick(w) : v.clock;
	ROLLED
	for (u32 k = 0; k < n; k++)
		publish(w, word_key(w, addr + k * size, shared), level, release,
			info & GSAN_INFO_READ, top);
}

SLOW void access_after(struct gsan_warp *w, u64 addr, u32 info, bool shared)
{
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_ELEMS(info), level = GSAN_INFO_LEVEL(info);
	if (as_weak(w, info))
		return;
	ROLLED
	for (u32 k = 0; k < (n ? n : 1); k++) {
		u64 a = addr + k * size, *sh;
		u32 *st;
		if (size <= 8 && (shared ? shadow_shared(w, (u32)a, &sh, &st) : shadow_global(a, &sh, &st)))
			mark_observed(w, sh, bytes_at(a, size), strong_kind(info));
		observe(w, word_key(w, a, shared), level, info & GSAN_INFO_ACQUIRE);
	}
}

API void __gsan_v1_before_g(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(access_before(WARP(ctx), addr, info, site, false););
}

API void __gsan_v1_before_s(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(access_before(WARP(ctx), addr, info, site, true););
}

API void __gsan_v1_before_x(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx)
		return;
	bool shared = is_shared(addr);
	TOGETHER(
		if (!is_local(addr))
			access_before(WARP(ctx), shared ? shared_offset(addr) : addr, info, site, shared);
	);
}

API void __gsan_v1_after_g(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(access_after(WARP(ctx), addr, info, false););
}

API void __gsan_v1_after_s(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(access_after(WARP(ctx), addr, info, true););
}

API void __gsan_v1_after_x(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx)
		return;
	bool shared = is_shared(addr);
	TOGETHER(
		if (!is_local(addr))
			access_after(WARP(ctx), shared ? shared_offset(addr) : addr, info, shared);
	);
}

/* fence.sc of sufficient scope are ordered as they run: each acquires what the
 * one before it published.  For `lanes`, all of the warp or the caller alone. */
SLOW u32 fence_sc(struct gsan_warp *w, u32 level, u32 lanes, u32 top)
{
	struct gsan_block *b = block_of(w->slot);
	u64 key = WORD_FENCE | (level >= GSAN_GPU ? 0 : level == GSAN_CLUSTER ?
				1ull << 40 | b->cluster : 2ull << 40 | w->slot);
	struct gsan_word *x = word_find(w, key, true);
	u32 snap = 0;
	if (!x)
		return snap_take(w, lanes, top, 0);
	LOCKED(&x->lock, {
		word_refresh(x, b->launch_number);
		if (x->n && (lanes & (lanes - 1))) {
			refs_add(w, &w->refs, x->e[0].snap);
			fetch_or(&w->flags, GSAN_WARP_REFS);
		} else if (x->n) {
			acquire(w, x->e[0].snap);
		}
		snap = snap_take(w, lanes, top, 0);
		x->e[0].snap = snap;
		x->n = 1;
	});
	return snap;
}

/* Acquire side: what was seen by relaxed reads, as far as the fence reaches.
 * Release side: later strong writes publish what is known now.
 * (PTX ISA, Release and Acquire Patterns) */
API void __gsan_v1_fence(u64 ctx, u32 info)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 level = GSAN_INFO_LEVEL(info), lane = sreg_laneid(), bit = 1u << lane;
	struct gsan_lane *l = lane_of(w, lane);
	struct gsan_block *b = block_of(w->slot);

	if ((info & GSAN_INFO_ACQUIRE) && (w->m_seen & bit)) {
		u32 left = 0;
		ROLLED
		for (u32 k = 0; k < 4; k++) {
			u32 id = l->seen[k], reach = l->seen_level[k] & 255, slot = l->seen_level[k] >> 8;
			if (!id)
				continue;
			if (entry_meets(w, b->cluster, level, reach, slot, snap_of(id)->cluster)) {
				acquire(w, id);
				l->seen[k] = 0;
			} else {
				miss(w, b, id);
				left++;
			}
		}
		if (!left)
			fetch_and(&w->m_seen, ~bit);
	}
	/* A whole warp with nothing private does the rest once for all. */
	u32 group = __activemask();
	bool whole = agreed(group, group == load(&w->live) && !((w->m_refs | w->m_own) & group));
	u32 lanes = whole ? group : bit, snap = 0;
	if (!whole || lane == __ffs(group) - 1) {
		u32 top = info & GSAN_INFO_RELEASE ? tick(w) : 0;
		if (info & GSAN_INFO_SC)
			snap = fence_sc(w, level, lanes, top);
		else if (info & GSAN_INFO_RELEASE)
			snap = snap_take(w, lanes, top, 0);
	}
	__syncwarp(group);
	if (whole)
		snap = __shfl_sync(group, snap, __ffs(group) - 1);
	if (snap) {
		if (!(fetch_or(&w->m_fence, bit) & bit))
			l->fence[0] = l->fence[1] = l->fence[2] = 0;
		ROLLED
		for (u32 k = 0; k < 3; k++)
			if (k + 1 <= level)
				l->fence[k] = snap;
	}
}
