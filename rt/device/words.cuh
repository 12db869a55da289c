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
		if (x->n && (x->key & WORD_FENCE) && !launch_over(x->launch))
			x->broken = 1;
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

/* Adds a snapshot (0: none) to a word's list; joins it with one of the same
 * reach. */
SLOW void word_add(struct gsan_warp *w, struct gsan_word *x, u32 snap, u32 level, u32 cluster)
{
	u32 n = x->n, k = 0;
	if (!snap)
		return;
	ROLLED
	while (k < n && !(x->e[k].level == level && (level >= GSAN_GPU || x->e[k].slot == w->slot)))
		k++;
	u32 wider = k < n ? the_wider(x->e[k].snap, snap) : snap;
	if (k < GSAN_WORD_ENTRIES && wider) {
		x->e[k].snap = wider;
		x->e[k].level = level;
		x->e[k].slot = w->slot;
		x->e[k].cluster = cluster;
		x->n = k == n ? n + 1 : n;
		return;
	}
	u32 id;
	struct gsan_snap *s = word_begin(w, &id, cluster);
	bool full = k == GSAN_WORD_ENTRIES;
	ROLLED
	for (u32 i = 0; i < GSAN_WORD_ENTRIES; i++)
		snap_join(s, full || i == k ? x->e[i].snap : 0);
	snap_join(s, snap);
	snap_publish(s, id);
	if (full) {
		/* No room to tell scopes apart: the widest reach for all. */
		count(GSAN_COUNT_MERGED, 1);
		x->n = 1;
		x->e[0].level = GSAN_SYS;
		k = 0;
	}
	x->e[k].snap = id;
	x->e[k].slot = w->slot;
	x->e[k].cluster = cluster;
}

/* A releasing event: what the lane did so far is at the clock returned, what
 * follows at a later one.  Lanes that come together tick once. */
FN u32 tick(struct gsan_warp *w)
{
	u32 clock = load(&w->clock);
	w->clock = clock + 1;
	return clock;
}

/* A strong write of the calling lane at `key`; `release`: with that semantics;
 * `rmw`: continues the release sequence.  `top`: its own clock. */
SLOW void publish_one(struct gsan_warp *w, struct gsan_word *x, u32 level, u32 snap, bool rmw)
{
	struct gsan_block *b = block_of(w->slot);
	u32 lane = sreg_laneid(), me = w->id << 5 | lane, cluster = b->cluster;
	struct gsan_lane *l = lane_of(w, lane);
	bool fences = !snap && (load(&w->m_fence) >> lane & 1);

	take_lock(&x->lock);
	word_refresh(x, b->launch_number);
	/* A release sequence goes on through RMWs of sufficient scope, and
	 * through the same thread's stores (pattern 1b). */
	bool keep = rmw ? !x->writer_level || entry_meets(w, cluster, x->writer_level, level, x->writer_slot, x->writer_cluster)
			: x->writer == me;
	if (!keep)
		x->n = 0;
	word_add(w, x, snap, level, cluster);
	ROLLED
	for (u32 i = 3; i-- > 0; ) {
		u32 s = fences ? l->fence[i] : 0;
		if (i < 2 && s == l->fence[i + 1])
			s = 0;
		word_add(w, x, s, i == 2 || level < i + 1 ? level : i + 1, cluster);
	}
	x->writer_level = level;
	x->writer_slot = w->slot;
	x->writer_cluster = cluster;
	x->writer = me;
	unlock(&x->lock);
}

SLOW void publish(struct gsan_warp *w, u64 key, u32 level, bool release, bool rmw, u32 top)
{
	u32 bit = 1u << sreg_laneid();
	struct gsan_word *x = word_find(w, key, release || (load(&w->m_fence) & bit));
	if (!x)
		return;
	ONE_BY_ONE(publish_one(w, x, level, release ? snap_take(w, bit, top, 0) : 0, rmw););
}

/* The lane takes over what snapshot `id` (0: none) says. */
SLOW void acquire(struct gsan_warp *w, u32 id)
{
	if (!id)
		return;
	u32 lane = sreg_laneid();
	struct gsan_lane *l = lane_of(w, lane);
	w->private_too = 1;
	if (!(fetch_or(&w->m_refs, 1u << lane) >> lane & 1))
		l->refs.id[0] = l->refs.id[1] = l->refs.id[2] = l->refs.id[3] = 0;
	refs_add(w, &l->refs, id);
}

/* A release met its acquire, but the scopes do not reach: only for the wording
 * of a finding. */
SLOW void miss(struct gsan_warp *w, struct gsan_block *b, u32 id)
{
	bool there = !id;
	for (int i = 0; i < GSAN_REFS; i++)
		there |= load(&b->missed.id[i]) == id;
	if (there)
		return;
	take_lock(&b->lock);
	refs_add(w, &b->missed, id);
	unlock(&b->lock);
}

/* Seen by a relaxed read, to be acquired by a later fence.  Returns the id if
 * there is no room: it is acquired at once then. */
FN u32 see(struct gsan_warp *w, struct gsan_lane *l, u32 id, u32 reach)
{
	u32 bit = 1u << sreg_laneid(), k = 0;
	if (!(fetch_or(&w->m_seen, bit) & bit))
		l->seen[0] = l->seen[1] = l->seen[2] = l->seen[3] = 0;
	ROLLED
	while (k < 4 && l->seen[k] && l->seen[k] != id)
		k++;
	if (k == 4) {
		count(GSAN_COUNT_MERGED, 1);
		return id;
	}
	l->seen[k] = id;
	l->seen_level[k] = reach;
	return 0;
}

/* A strong read of the calling lane has been carried out: what it finds. */
SLOW void observe_one(struct gsan_warp *w, struct gsan_word *x, u32 level, bool acq)
{
	struct gsan_block *b = block_of(w->slot);
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	struct gsan_word_entry e[GSAN_WORD_ENTRIES];
	take_lock(&x->lock);
	word_refresh(x, b->launch_number);
	u32 n = x->n;
	for (u32 i = 0; i < GSAN_WORD_ENTRIES; i++)
		e[i] = x->e[i];
	unlock(&x->lock);
#pragma unroll
	for (u32 i = 0; i < GSAN_WORD_ENTRIES; i++) {
		u32 id = i < n ? e[i].snap : 0;
		bool meet = entry_meets(w, b->cluster, level, e[i].level, e[i].slot, e[i].cluster);
		u32 now = meet ? id : 0;
		if (now && !acq)
			now = see(w, l, id, (e[i].level < level ? e[i].level : level) | e[i].slot << 8);
		acquire(w, now);
		miss(w, b, meet ? 0 : id);
	}
}

SLOW void observe(struct gsan_warp *w, u64 key, u32 level, bool acq)
{
	struct gsan_word *x = word_find(w, key, false);
	if (!x)
		return;
	/* Who polls finds the same entry again and again. */
	u32 n = load(&x->n), id = load(&x->e[0].snap), lane = sreg_laneid();
	if (!n)
		return;
	struct gsan_lane *l = lane_of(w, lane);
	u32 has = load(acq ? &w->m_refs : &w->m_seen) >> lane & 1;
	const u32 *list = acq ? l->refs.id : l->seen;
	if (n == 1 && has && (list[0] == id || list[1] == id || list[2] == id || list[3] == id))
		return;
	ONE_BY_ONE(observe_one(w, x, level, acq););
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
	return (info & GSAN_INFO_VOLATILE) && (load(&w->flags) & GSAN_WARP_VOLATILE);
}

/* One element of a strong access, up to 16 bytes. */
SLOW void strong_granules(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	struct view v = view_of(w);
	u32 lane = sreg_laneid();
	bool shared = flags & 1;
	u64 *sh;
	u32 *st;
	if (!(shared ? shadow_shared(w, (u32)addr, &sh, &st) : shadow_global(addr, &sh, &st))) {
		fetch_add(&w->unbacked, 1);
		return;
	}
	one_granule(w, sh, st, record(v, lane, kind, bytes_at(addr, size)), site, (addr & ~7ull) | flags);
	if (size <= 8)
		return;
	one_granule(w, sh + 4, st + 4, record(v, lane, kind, 255), site, ((addr & ~7ull) + 8) | flags);
}

FN void plain_instead(struct gsan_warp *w, u64 addr, u32 info, u32 site, bool shared)
{
	u32 n = GSAN_INFO_ELEMS(info), all = GSAN_INFO_SIZE(info) * (n ? n : 1);
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
}

/* Elements of a vector are accesses of their own. (PTX ISA, Vector Data-types) */
SLOW void access_before(struct gsan_warp *w, u64 addr, u32 info, u32 site, bool shared)
{
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_ELEMS(info), level = GSAN_INFO_LEVEL(info);
	if (as_weak(w, info)) {
		plain_instead(w, addr, info, site, shared);
		return;
	}
	u32 kind = strong_kind(info), top = load(&w->clock);
	site += __gsan_site_base;
	ROLLED
	for (u32 k = 0; k < (n ? n : 1); k++)
		strong_granules(w, addr + k * size, size, kind, site, (shared ? 1 : 0) | (info & (GSAN_INFO_RED | GSAN_INFO_UNUSED) ? 4 : 0));
	if (!(info & GSAN_INFO_WRITE))
		return;
	if (info & GSAN_INFO_RELEASE)
		top = tick(w);
	ROLLED
	for (u32 k = 0; k < (n ? n : 1); k++)
		publish(w, word_key(w, addr + k * size, shared), level, info & GSAN_INFO_RELEASE,
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
	if (!x)
		return snap_take(w, lanes, top, 0);
	bool several = lanes & (lanes - 1);
	take_lock(&x->lock);
	word_refresh(x, b->launch_number);
	u32 last = x->n ? x->e[0].snap : 0;
	acquire(w, several ? 0 : last);
	refs_add(w, &w->refs, several ? last : 0);
	if (several && last)
		fetch_or(&w->flags, GSAN_WARP_REFS);
	u32 snap = snap_take(w, lanes, top, level >= GSAN_GPU && last && !x->broken ? GSAN_SNAP_CHAIN : 0);
	x->e[0].snap = snap;
	x->n = 1;
	unlock(&x->lock);
	return snap;
}

/* The acquire side of a fence. */
SLOW void fence_acquire(struct gsan_warp *w, u32 level)
{
	u32 lane = sreg_laneid(), bit = 1u << lane, left = 0;
	if (!(load(&w->m_seen) & bit))
		return;
	struct gsan_lane *l = lane_of(w, lane);
	struct gsan_block *b = block_of(w->slot);
	ROLLED
	for (u32 k = 0; k < 4; k++) {
		u32 id = l->seen[k], reach = l->seen_level[k] & 255, slot = l->seen_level[k] >> 8;
		bool meet = id && entry_meets(w, b->cluster, level, reach, slot, snap_of(id)->cluster);
		acquire(w, meet ? id : 0);
		miss(w, b, meet ? 0 : id);
		l->seen[k] = meet ? 0 : id;
		left |= meet ? 0 : id;
	}
	if (!left)
		fetch_and(&w->m_seen, ~bit);
}

/* The release side: a snapshot for `lanes`, the caller among them. */
SLOW u32 fence_release(struct gsan_warp *w, u32 info, u32 lanes)
{
	u32 top = info & GSAN_INFO_RELEASE ? tick(w) : 0;
	if (info & GSAN_INFO_SC)
		return fence_sc(w, GSAN_INFO_LEVEL(info), lanes, top);
	return info & GSAN_INFO_RELEASE ? snap_take(w, lanes, top, 0) : 0;
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
	u32 group = __activemask();
	if (info & GSAN_INFO_ACQUIRE)
		ONE_BY_ONE(fence_acquire(w, level););
	__syncwarp(group);
	/* A whole warp with nothing private does the rest once for all. */
	bool whole = agreed(group, group == load(&w->live) && !((load(&w->m_refs) | load(&w->m_own)) & group));
	u32 snap = 0;
	ONE_BY_ONE(
		if (!whole || lane == __ffs(group) - 1)
			snap = fence_release(w, info, whole ? group : bit);
	);
	__syncwarp(group);
	if (whole)
		snap = __shfl_sync(group, snap, __ffs(group) - 1);
	struct gsan_lane *l = lane_of(w, lane);
	if (snap) {
		if (!(fetch_or(&w->m_fence, bit) & bit))
			l->fence[0] = l->fence[1] = l->fence[2] = 0;
		ROLLED
		for (u32 k = 0; k < 3; k++)
			if (k + 1 <= level)
				l->fence[k] = snap;
	}
}
