/* SPDX-License-Identifier: Apache-2.0
 *
 * words.cuh: strong accesses: who published what at which word, who has seen it,
 * and who has acquired it.  (PTX ISA, Memory Consistency Model:
 * Release and Acquire Patterns, Observation, Synchronizes)
 *
 * A store is entered before it is carried out and a load looks after it was, so
 * that whoever sees the value finds the entry.
 */
#define either          __gsan_v1_either
#define moved_on        __gsan_v1_moved_on
#define word_alone      __gsan_v1_word_alone
#define word_tidy       __gsan_v1_word_tidy
#define word_look       __gsan_v1_word_look
#define word_age        __gsan_v1_word_age
#define word_pending    __gsan_v1_word_pending
#define step            __gsan_v1_step
#define has_released    __gsan_v1_has_released
#define fence_own       __gsan_v1_fence_own
#define miss            __gsan_v1_miss
#define take_seen       __gsan_v1_take_seen

#define WORD_SHARED     (1ull << 62)

/* A location is an address and a size: only accesses of one size observe each other.
 * (PTX ISA, Morally Strong Operations) */
FN u64 word_key(const struct gsan_warp *w, u64 addr, u32 size, bool shared)
{
	return (u64)size << 56 | (shared ? WORD_SHARED | (u64)w->slot << 32 | ((u32)addr & SHARED_WINDOW) : addr);
}

/* Everything that this launch does not judge any more. */
FN void go_quiet(struct gsan_warp *w, u32 why)
{
	count(why, 1);
	launch_of(block_of(w->slot))->quiet = 1;
}

/* block.cuh */
SLOW bool launch_deserted(struct gsan_launch *x);

/* May a word that launch number `n` used last be taken for another address? */
FN bool launch_over(u32 n)
{
	struct gsan_launch *l = at<struct gsan_launch>(ROOT(launches));
	ROLLED
	for (u32 i = 0; i < GSAN_LAUNCHES; i++)
		if (load(&l[i].ready) >= n && load(&l[i].first) <= n && load64(&l[i].grid))
			return launch_deserted(l + i);
	return true;
}

/* The word for a key, NULL if it has none (and `make` is false). */
SLOW struct gsan_word *word_find(struct gsan_warp *w, u64 key, bool make)
{
	struct gsan_root *r = root();
	struct gsan_word *table = at<struct gsan_word>(ROOT(words));
	struct gsan_block *b = block_of(w->slot);
	u32 mine = b->first;
	if (make)
		store(key & WORD_SHARED ? &block_of((u32)(key >> 32) & (GSAN_MAX_SLOTS - 1))->words : &launch_of(b)->words, 1);
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
		if (n < mine && launch_over(n) && swap((u64 *)&x->key, k, key) == k)
			return x;
	}
	go_quiet(w, GSAN_COUNT_WORD_FULL);
	return 0;
}

/* With the lock held: what a launch left that is over means nothing to this one. */
FN void word_refresh(struct gsan_word *x, const struct gsan_block *b)
{
	if (x->launch < b->first) {
		x->n = 0;
		x->writer_level = 0;
		x->writing[0].who = x->writing[1].who = x->writing[2].who = 0;
	}
	if (x->launch < b->launch_number)
		x->launch = b->launch_number;
}

/* Level 0 reaches nobody. */
FN bool entry_meets(const struct gsan_warp *w, u32 cluster, u32 a, u32 b, u32 slot, u32 pcluster)
{
	u32 level = a < b ? a : b;
	return level >= GSAN_GPU || (level && (slot == w->slot || (level == GSAN_CLUSTER && cluster == pcluster)));
}

/* Which of a word's first n entries has the reach of a snapshot published now; n if
 * none has. */
FN u32 entry_of(struct gsan_warp *w, struct gsan_word *x, u32 n, u32 level)
{
	u32 k = 0;
	ROLLED
	while (k < n && !(x->e[k].level == level && (level >= GSAN_GPU || x->e[k].slot == w->slot)))
		k++;
	return k;
}

/* In an entry's slot: the last of several blocks, each of which published some of it. */
#define WORD_JOINED     (1u << 31)

/* Adds a snapshot (0: none) to a word's first n entries; joins it with one of the same
 * reach.  Returns how many there are then.  Others may be reading the first. */
SLOW u32 word_add(struct gsan_warp *w, struct gsan_word *x, u32 n, u32 snap, u32 level, u32 cluster)
{
	if (!snap)
		return n;
	u32 k = entry_of(w, x, n, level), old = k < n ? x->e[k].snap : 0, id = k < n ? the_wider(old, snap) : snap;
	bool full = k == GSAN_WORD_ENTRIES, joined = full || (k < n && x->e[k].slot != w->slot);
	if (full || !id) {
		/* Of nobody's but the word's own. */
		struct gsan_snap *s = (old & GSAN_SNAP_LARGE) && !full ? snap_continue(old, &id) : snap_begin(w->slot, w->start, &id, w->start);
		ROLLED
		for (u32 i = 0; i < n; i++)
			snap_join(s, (full && x->e[i].level) || (i == k && !(old & GSAN_SNAP_LARGE)) ? x->e[i].snap : 0);
		snap_join(s, snap);
		if (!s->line)
			s->line = id;
		snap_publish(s, id);
	}
	if (full) {
		/* No room to tell scopes apart: the widest reach for all. */
		count(GSAN_COUNT_MERGED, 1);
		n = 1;
		level = GSAN_SYS;
		k = 0;
	} else if (k == n) {
		n++;
	}
	store_cg(x->e + k, four(id, level, w->slot | (joined ? WORD_JOINED : 0), cluster));
	return n;
}

/* Joined entries do not say which blocks published, so each block notes who of it did, by hash of the
 * word.  `note`: the calling lane does.  Returns whether another thread of its block may have. */
FN bool other_releaser(struct gsan_warp *w, u32 h, bool note)
{
	u32 *who = own_block(w)->releasers + (h >> 4) % GSAN_RELEASERS, me = ((w->id & 31) << 5 | sreg_laneid()) + 1;
	u32 was = note ? swap32(who, 0, me) : load(who);
	bool other = was && was != me;
	if (note && other && was != GSAN_RELEASER_SEVERAL)
		store(who, GSAN_RELEASER_SEVERAL);
	return other;
}

/* A snapshot that holds what both do. */
SLOW u32 either(struct gsan_warp *w, u32 a, u32 b)
{
	u32 id = a && b ? the_wider(a, b) : a | b;
	if (id)
		return id;
	struct gsan_snap *s = snap_begin(w->slot, w->start, &id, w->start);
	snap_join(s, a);
	snap_join(s, b);
	snap_publish(s, id);
	return id;
}

/* Writes are entered before they are carried out, and reads looked at afterwards: of
 * several writes that are under way nobody knows which comes last, and what was there
 * before may still be read, or have been.  So a word notes three of those who wrote
 * it, by thread and by clock and steps of their warp and lane.  What a write puts out
 * of reach stays in its list: as old until the write is over, then as dead for those
 * who were reading by then (by the word's version), and for a number of looks. */
#define WORD_SEVERAL    0x100u  /* in n: which entry was written last is not known */
#define ENTRY_OLD       0x100u  /* in level */
#define ENTRY_DEAD      0x200u
#define ENTRY_LOOKS     10      /* shifts: five bits; sixteen */
#define ENTRY_VERSION   16

/* The lane goes on to its next strong access or fence: what it wrote is written. */
SLOW void step(struct gsan_warp *w)
{
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	l->moment = (l->moment + 1) & 7;
}

/* Has thread `id` carried out the write that it entered at `when`? */
SLOW bool moved_on(struct gsan_warp *w, u32 id, u32 when)
{
	struct gsan_warp *o = warp_of(id >> 10, id >> 5 & 31);
	uint4 a = load_cg(o), b = load_cg((char *)o + 16);      /* clock floor wfloor; id start */
	u32 clock = when >> 3;
	return id == (w->id << 5 | sreg_laneid()) || clock <= a.y || clock <= a.z || clock <= b.y ||
	       !(load(&o->live) >> (id & 31) & 1) || ((load(&lane_of(o, id & 31)->moment) ^ when) & 7);
}

/* Is everybody's write but the caller's over? */
SLOW bool word_alone(struct gsan_warp *w, struct gsan_word *x)
{
	u32 left = 0;
	ROLLED
	for (u32 i = 0; i < GSAN_WORD_WRITERS; i++) {
		u32 id = x->writing[i].who;
		if (id && moved_on(w, id - 1, x->writing[i].when))
			x->writing[i].who = id = 0;
		left |= id;
	}
	return !left;
}

/* The calling lane will write.  With more under way than there is room for, the
 * first is forgotten. */
SLOW void word_pending(struct gsan_warp *w, struct gsan_word *x)
{
	u32 me = (w->id << 5 | sreg_laneid()) + 1, k = GSAN_WORD_WRITERS;
	word_alone(w, x);
	ROLLED
	for (u32 i = 0; i < GSAN_WORD_WRITERS; i++)
		if (!x->writing[i].who)
			k = i;
	ROLLED
	for (u32 i = 0; i < GSAN_WORD_WRITERS && k == GSAN_WORD_WRITERS; i++)
		if ((x->writing[i].who - 1) >> 5 == w->id)
			k = i;
	if (k == GSAN_WORD_WRITERS)
		k = 0;
	x->writing[k].who = me;
	x->writing[k].when = load(&w->clock) << 3 | (lane_of(w, sreg_laneid())->moment & 7);
}

/* What is old dies if nobody is writing, and the dead go in the end, the first one
 * also if there is no `room`; returns the number of entries. */
SLOW u32 word_tidy(struct gsan_warp *w, struct gsan_word *x, bool room)
{
	u32 n = x->n & 255, left = 0, version = x->version + 1;
	bool alone = word_alone(w, x);
	ROLLED
	for (u32 i = 0; i < n; i++) {
		uint4 e = load_cg(x->e + i);
		if ((e.y & ENTRY_OLD) && alone) {
			e.y = (e.y & 7) | ENTRY_DEAD | version << ENTRY_VERSION;
			x->version = version;
		}
		e.y += e.y & ENTRY_DEAD ? 1u << ENTRY_LOOKS : 0;
		if ((e.y & ENTRY_DEAD) && (!room || (e.y >> ENTRY_LOOKS & 31) == 31))
			room = true;
		else
			store_cg(x->e + left++, e);
	}
	x->n = left | (x->n & WORD_SEVERAL);
	return left;
}

/* Before a read: from what version on it reads. */
SLOW void word_look(struct gsan_warp *w, u64 key)
{
	struct gsan_word *x = word_find(w, key, false);
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	if (!x || load(&x->launch) < block_of(w->slot)->first)
		return;
	if (load(&x->n) && (load(&x->e[0].level) & (ENTRY_OLD | ENTRY_DEAD)))
		ONE_BY_ONE(
			take_lock(&x->lock);
			word_tidy(w, x, true);
			unlock(&x->lock);
		);
	l->moment = (l->moment & 7) | (load(&x->version) & 0xffff) << 3;
}

/* What a read-modify-write of this block makes of an entry: who reads it has to be in
 * its reach as well.  (PTX ISA, Observation Order: each step is morally strong.)
 * Level 0: nobody can reach it any more. */
FN uint4 narrowed(struct gsan_warp *w, uint4 e, u32 level, u32 cluster)
{
	if (e.y > GSAN_SYS)     /* old, dead */
		return e;
	bool meet = level && e.y && (level >= GSAN_GPU || e.y >= GSAN_GPU ||
				     (level + e.y > 2 * GSAN_CTA ? e.w == cluster : e.z == w->slot));
	if (!meet)
		return four(e.x, 0, ~0u, 0);
	return level < e.y ? four(e.x, level, w->slot, cluster) : e;
}

/* Would it change any of them? */
FN bool narrows(struct gsan_warp *w, struct gsan_word *x, u32 n, u32 level, u32 cluster)
{
	bool any = false;
	ROLLED
	for (u32 i = 0; i < n; i++) {
		uint4 e = load_cg(x->e + i);
		any |= narrowed(w, e, level, cluster).y != e.y;
	}
	return any;
}

/* All entries become old; behind them come those that a read-modify-write makes of
 * them, if it is one.  What is out of reach is one, for the kind of a finding. */
SLOW u32 word_age(struct gsan_warp *w, struct gsan_word *x, u32 n, bool rmw, u32 level, u32 cluster)
{
	u32 all = n, out = 0;
	ROLLED
	for (u32 i = 0; i < n; i++) {
		uint4 e = load_cg(x->e + i), now = narrowed(w, e, level, cluster);
		if (e.y > GSAN_SYS)
			continue;
		store_cg(x->e + i, four(e.x, e.y | ENTRY_OLD, e.z, e.w));
		out = rmw && !now.y ? either(w, out, e.x) : out;
		if (rmw && now.y)
			store_cg(x->e + all++, now);
	}
	if (out)
		store_cg(x->e + all++, four(out, 0, ~0u, 0));
	return all;
}

/* Words in 28 bits, never 0: 0 is any word. */
FN u32 hash_of(u64 key) { return (u32)((key * 0x9e3779b97f4a7c15ull) >> 32) & ~15u | 16; }
#define RELEASED_LEVEL  7u
#define RELEASED_MORE   8u      /* the snapshot may hold what the lane does not know */

/* The lane released `snap` at the word of hash `h` (pattern 1b).  Two are remembered;
 * of those before, one stands for all: a later release holds what an earlier does. */
SLOW void has_released(struct gsan_warp *w, struct gsan_lane *l, u32 h, u32 snap)
{
	u32 bit = 1u << sreg_laneid();
	if (!(fetch_or(&w->m_release, bit) & bit))
		l->released[0] = l->released[1] = 0;
	u32 a = l->released[0], c = l->released[1];
	if (!a || (((a ^ h) >> 4) == 0 && (a & RELEASED_LEVEL) <= (h & RELEASED_LEVEL))) {
		l->released[0] = h;
		l->release[0] = snap;
		return;
	}
	if (c && (((c ^ h) >> 4) || (c & RELEASED_LEVEL) > (h & RELEASED_LEVEL))) {
		u32 level = (a & RELEASED_LEVEL) > (c & RELEASED_LEVEL) ? a : c;
		a = (level & RELEASED_LEVEL) | ((a | c) & RELEASED_MORE);
	}
	l->released[1] = a;
	l->release[1] = l->release[0];
	l->released[0] = h;
	l->release[0] = snap;
}

/* What the calling lane's last fence of scope `k` + 1 put by.  A whole warp's is one for all of them: it
 * is made the lane's own where that alone goes on with it.  (PTX ISA, Release Patterns: a fence and a
 * later write of the same thread) */
SLOW u32 fence_own(struct gsan_warp *w, u32 k)
{
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	u32 was = l->fence[k], bit = 1u << sreg_laneid(), id;
	if (!was)
		return 0;
	struct gsan_snap *s = snap_of(was), *t;
	uint4 a = load_cg(s), b = load_cg(&s->floor), c = load_cg(&s->nslots), d = load_cg(&s->sc);
	/* The order of all fence.sc tells of each lane's. */
	if (a.x != was || !(b.w & ~bit) || (a.y & GSAN_SNAP_FENCE))
		return was;
	/* With all that it acquired it is too much to copy. */
	if (was & GSAN_SNAP_LARGE) {
		count(GSAN_COUNT_MERGED, 1);
		return was;
	}
	t = snap_new(false, &id);
	t->flags = a.y;
	t->slot = a.z;
	t->start = a.w;
	store_cg(&t->floor, four(b.x, b.y, b.z, bit));
	store_cg(&t->nslots, c);
	t->sc = d.x;
	t->sc_cta = d.y;
	t->grids = d.w;
	snap_publish(t, id);
	ROLLED
	for (u32 i = 0; i < 3; i++)
		l->fence[i] = l->fence[i] == was ? id : l->fence[i];
	return id;
}

/* A strong write of the calling lane at `x`; `release`: with that semantics, at
 * its own clock `top`; `rmw`: continues the release sequence. */
SLOW void publish_one(struct gsan_warp *w, struct gsan_word *x, u32 level, bool release, bool rmw, u32 top)
{
	struct gsan_block *b = block_of(w->slot);
	u32 lane = sreg_laneid(), cluster = b->cluster, h = hash_of(x->key);
	struct gsan_lane *l = lane_of(w, lane);
	bool fences = !release && (load(&w->m_fence) >> lane & 1);
	bool before = !release && (load(&w->m_release) >> lane & 1);

	if (release || before || fences)
		other_releaser(w, h, true);
	take_lock(&x->lock);
	word_refresh(x, b);
	/* A release sequence goes on through RMWs of sufficient scope alone. */
	bool keep = rmw && (!x->writer_level ||
			    entry_meets(w, cluster, x->writer_level, level, x->writer_slot, x->writer_cluster));
	u32 n = x->n & 255, several = x->n & WORD_SEVERAL, to = keep ? level : 0;
	bool alone = true, flagged = n && x->e[0].level > GSAN_SYS, change = !rmw || (to < GSAN_GPU && narrows(w, x, n, to, cluster));
	if (change || several || flagged) {
		alone = word_alone(w, x);
		n = word_tidy(w, x, n < GSAN_WORD_ENTRIES);
		several = rmw || !alone ? several : 0;
	}
	/* Where others are writing, or there is no room, all stays as it is. */
	if (change && n && alone && (!rmw || 2 * n < GSAN_WORD_ENTRIES))
		n = word_age(w, x, n, rmw, to, cluster);
	else if (change && n)
		several = WORD_SEVERAL;
	if (change || release || before || fences)
		word_pending(w, x);
	if (release) {
		u32 k = entry_of(w, x, n, level);
		u32 snap = snap_make(w, 1u << lane, top, k < n ? x->e[k].snap : 0, GSAN_SNAP_FIRST);
		n = word_add(w, x, n, snap, level, cluster);
		/* With what was there before, part of which `snap` left out. */
		u32 all = x->e[entry_of(w, x, n, level) & (GSAN_WORD_ENTRIES - 1)].snap;
		has_released(w, l, h | level | (all == snap ? 0 : RELEASED_MORE), all);
	}
	/* Its own release may stand behind this write. */
	ROLLED
	for (u32 i = before ? 2 : 0; i-- > 0; ) {
		u32 r = l->released[i], reach = r & RELEASED_LEVEL;
		if (!r || (r >> 4 && (r ^ h) >> 4))
			continue;
		if (!(r >> 4) || (r & RELEASED_MORE))
			count(GSAN_COUNT_MERGED, 1);
		n = word_add(w, x, n, l->release[i], level < reach ? level : reach, cluster);
	}
	ROLLED
	for (u32 i = 3; i-- > 0; ) {
		u32 s = fences ? fence_own(w, i) : 0;
		if (i < 2 && s == l->fence[i + 1])
			s = 0;
		n = word_add(w, x, n, s, i == 2 || level < i + 1 ? level : i + 1, cluster);
	}
	/* In the end, as the list is looked at without the lock. */
	x->n = n | several;
	x->writer_level = level;
	x->writer_slot = w->slot;
	x->writer_cluster = cluster;
	unlock(&x->lock);
}

/* Does a read-modify-write of gpu scope at least, which brings nothing, leave all as it is?  Who spins for a lock does that
 * again and again, and who is to release it should not have to wait for the word's lock in turns with all of them. */
FN bool word_stays(struct gsan_warp *w, struct gsan_word *x)
{
	uint4 a = load_cg(x), b = load_cg(&x->n);       /* key lock launch; n writer's level slot cluster */
	u32 first = load(&x->e[0].level);
	return a.w >= block_of(w->slot)->launch_number && !(b.x & WORD_SEVERAL) && (!b.x || first <= GSAN_SYS) && b.y >= GSAN_GPU;
}

SLOW void publish(struct gsan_warp *w, u64 key, u32 level, bool release, bool rmw, u32 top)
{
	u32 bit = 1u << sreg_laneid(), fences = load(&w->m_fence) & bit;
	struct gsan_word *x = word_find(w, key, release || fences);
	if (!x || (rmw && level >= GSAN_GPU && !release && !fences && !(load(&w->m_release) & bit) && word_stays(w, x)))
		return;
	ONE_BY_ONE(publish_one(w, x, level, release, rmw, top););
}

/* From now on the lane knows more than its warp. */
SLOW struct gsan_lane *lane_private(struct gsan_warp *w)
{
	u32 lane = sreg_laneid();
	struct gsan_lane *l = lane_of(w, lane);
	w->private_too = 1;
	if (!(fetch_or(&w->m_refs, 1u << lane) >> lane & 1)) {
		store_ca(&l->refs, four(0, 0, 0, 0));
		l->sc = l->sc_cta = l->told = 0;
	}
	return l;
}

/* The lane takes over what snapshot `id` (0: none) says. */
SLOW void acquire(struct gsan_warp *w, u32 id)
{
	if (!id)
		return;
	struct gsan_lane *l = lane_private(w);
	struct gsan_snap *s = snap_of(id);
	uint4 a = load_cg(s), d = load_cg((char *)s + 48);
	if (d.x > l->sc)
		l->sc = d.x;
	if (a.z == w->slot && a.w == w->start && d.y > l->sc_cta)
		l->sc_cta = d.y;
	if (!(a.y & GSAN_SNAP_FENCE) || a.x != id)
		refs_add(w, &l->refs, id);
}

/* A release met its acquire, but the scopes do not reach: only for the kind of a
 * finding. */
SLOW void miss(struct gsan_warp *w, u32 id)
{
	if (!id)
		return;
	struct gsan_block *b = block_of(w->slot);
	uint4 v = load_cg(&b->missed);
	if (id == v.x || id == v.y || id == v.z || id == v.w)
		return;
	ONE_BY_ONE(
		take_lock(&b->lock);
		refs_add(w, &b->missed, id);
		unlock(&b->lock);
	);
}

/* What is kept of an entry that was read: how far it reaches, whether who published it is of
 * the reader's block or cluster, or only some of those who did may be, and eleven bits of where. */
#define REACH(level, near, h)   ((level) | (near) | (h) >> 21 << 21)
#define REACH_LEVEL(r)          ((r) & 7)
#define REACH_BLOCK             8u
#define REACH_CLUSTER           16u
#define REACH_PERHAPS           32u

/* Seen by a relaxed read, to be acquired by a later fence.  Returns the id if
 * there is no room: it is acquired at once then. */
SLOW u32 see(struct gsan_warp *w, u32 id, u32 reach)
{
	u32 lane = sreg_laneid(), bit = 1u << lane, k = 0, wider = id;
	struct gsan_lane *l = lane_of(w, lane);
	if (!id)
		return 0;
	if (!(fetch_or(&w->m_seen, bit) & bit))
		l->seen[0] = l->seen[1] = l->seen[2] = l->seen[3] = 0;
	ROLLED
	while (k < 4 && l->seen[k] && !(l->seen_level[k] == reach && (wider = the_wider(l->seen[k], id))))
		k++;
	if (k == 4) {
		count(GSAN_COUNT_MERGED, 1);
		return REACH_LEVEL(reach) ? id : 0;
	}
	l->seen[k] = l->seen[k] ? wider : id;
	l->seen_level[k] = reach;
	return 0;
}

/* The calling lane acquires what it saw before, at the word of hash `h` (pattern
 * 2b), or anywhere by a fence (0, pattern 2c), as far as `level` reaches.  `sc`: a
 * fence.sc of gpu scope, which learns by its number what such fences published. */
SLOW void take_seen(struct gsan_warp *w, u32 level, u32 h, bool sc)
{
	u32 lane = sreg_laneid(), bit = 1u << lane, left = 0;
	if (!(load(&w->m_seen) & bit))
		return;
	struct gsan_lane *l = lane_of(w, lane);
	struct gsan_block *b = block_of(w->slot);
	ROLLED
	for (u32 k = 0; k < 4; k++) {
		u32 id = l->seen[k], reach = l->seen_level[k];
		struct gsan_snap *s = snap_of(id);
		u32 slot = reach & REACH_BLOCK ? w->slot : ~0u, cluster = reach & REACH_CLUSTER ? b->cluster : ~b->cluster;
		bool here = !h || !((reach ^ h) >> 21);
		bool meet = entry_meets(w, b->cluster, level, REACH_LEVEL(reach), slot, cluster);
		bool known = sc && (load(&s->flags) & GSAN_SNAP_FENCE) && load(&s->id) == id;
		if (id && here && meet && level < GSAN_GPU && (reach & REACH_PERHAPS))
			count(GSAN_COUNT_MERGED, 1);
		acquire(w, here && meet && !known ? id : 0);
		miss(w, here && !meet ? id : 0);
		if (here && meet)
			l->seen[k] = id = 0;
		left |= id;
	}
	if (!left)
		fetch_and(&w->m_seen, ~bit);
}

/* A strong read of the calling lane has been carried out: one entry of what it
 * finds at the word of hash `h`.  `weak`: record of a weak write there (0: none). */
SLOW void observe_entry(struct gsan_warp *w, uint4 e, u32 level, u32 h, bool acq, u64 weak)
{
	u32 id = e.x, low = e.y < level ? e.y : level, cluster = block_of(w->slot)->cluster;
	/* Of blocks whose releases were joined, its own may be one, and that it would have to know. */
	bool own = e.y && (e.z & WORD_JOINED) && other_releaser(w, h, false);
	bool peers = e.y && (e.z & WORD_JOINED) && own_block(w)->cluster_at;
	u32 slot = own ? w->slot : e.z & ~WORD_JOINED, of = own || peers ? cluster : e.w;
	u32 near = (slot == w->slot ? REACH_BLOCK : 0) | (of == cluster ? REACH_CLUSTER : 0) | (own || peers ? REACH_PERHAPS : 0);
	bool meet = entry_meets(w, cluster, level, e.y, slot, of);
	/* Words do not see weak writes: it may have been that one. */
	if (weak && !snap_knows(id, GSAN_REC_SLOT(weak), GSAN_REC_WARP(weak), 1u << GSAN_REC_LANE(weak),
				GSAN_REC_CLOCK(weak), end_of(w, weak)))
		count(GSAN_COUNT_OBSERVED, 1);
	if (acq && !meet) {
		miss(w, id);
		return;
	}
	if (acq && low < GSAN_GPU && (near & REACH_PERHAPS))
		count(GSAN_COUNT_MERGED, 1);
	/* Of one that does not reach a later fence will say that it was in vain. */
	acquire(w, acq ? id : see(w, id, REACH(meet ? low : 0, near, h)));
}

/* A list of several is read under the word's lock. */
SLOW void observe_all(struct gsan_warp *w, struct gsan_word *x, u32 level, u32 h, bool acq, u64 weak)
{
	uint4 e[GSAN_WORD_ENTRIES];
	u32 from = lane_of(w, sreg_laneid())->moment >> 3;
	take_lock(&x->lock);
	u32 n = x->n & 255, several = x->n & WORD_SEVERAL;
#pragma unroll
	for (u32 i = 0; i < GSAN_WORD_ENTRIES; i++)
		e[i] = load_cg(x->e + i);
	unlock(&x->lock);
#pragma unroll
	for (u32 i = 0; i < GSAN_WORD_ENTRIES; i++) {
		bool dead = (e[i].y & ENTRY_DEAD) && (short)((e[i].y >> ENTRY_VERSION) - from) <= 0;
		if (i >= n || dead)
			continue;
		if (several || e[i].y > GSAN_SYS)
			count(GSAN_COUNT_OBSERVED, 1);
		e[i].y &= 7;
		observe_entry(w, e[i], level, h, acq, weak);
	}
}

SLOW void observe(struct gsan_warp *w, u64 key, u32 level, bool acq, u64 weak)
{
	u32 h = hash_of(key);
	if (acq)
		take_seen(w, level, h, false);
	struct gsan_word *x = word_find(w, key, false);
	/* An entry is complete before the value can be seen that it stands for. */
	u32 n = x ? load(&x->n) : 0;
	if (!n || load(&x->launch) < block_of(w->slot)->first)
		return;
	uint4 e = load_cg(x->e);
	if (n > 1 || e.y > GSAN_SYS) {
		ONE_BY_ONE(observe_all(w, x, level, h, acq, weak););
		return;
	}
	/* Who polls finds the same entry again and again. */
	u32 id = e.x, lane = sreg_laneid();
	const u32 *list = lane_of(w, lane)->refs.id;
	if (acq && (load(&w->m_refs) >> lane & 1) && (list[0] == id || list[1] == id || list[2] == id || list[3] == id))
		return;
	observe_entry(w, e, level, h, acq, weak);
}

/* A strong read that finds another thread's strong write orders that write
 * before what follows (rule 9): its record says so from now on.  Returns the record
 * of a weak write that it may have found instead, 0 if there is none. */
FN u64 mark_observed(struct gsan_warp *w, u64 *sh, u32 bytes, u32 kind, bool unused)
{
	struct view v = view_of(w);
	u64 mine = record(v, sreg_laneid(), kind, bytes), weak = 0;
	u32 own = 4, seen = 0;
	bool observed = false;
	ROLLED
	for (u32 i = 0; i < 4; i++) {
		u64 r = load64(sh + i);
		u32 k = GSAN_REC_KIND(r);
		if (GSAN_REC_CLOCK(r) < w->launch_base)
			continue;
		if (k == GSAN_KIND_WRITE && (r & bytes))
			weak = r;
		if (r == mine)
			own = i;
		else if ((r & 255) == bytes && (k & GSAN_KIND_WRITE) && kind_level(k) &&
			 (r >> 12 & 0x7fffff) != (mine >> 12 & 0x7fffff) &&
			 scopes_meet(w, kind_level(k), kind >> 1, GSAN_REC_SLOT(r), GSAN_REC_CLOCK(r))) {
			seen |= 1u << i;
			observed |= kind_observed(k);
		}
	}
	if (own < 4 && seen) {
		u32 now = (kind >> 1 >= GSAN_GPU ? GSAN_KIND_OBSERVED_GPU : GSAN_KIND_OBSERVED_CTA) | (kind & 1);
		if (swap(sh + own, mine, (mine & ~0xf00ull) | now << 8) == mine)
			return weak;
	}
	/* Many at one moment, as a rule, where nobody uses the value: their records stay. */
	if (unused) {
		u32 *to = unmarked_at(own_block(w), sh), bit = unmarked_bit(sh);
		if (seen && !(load_ca32(to) & bit))
			fetch_or(to, bit);
		return weak;
	}
	/* No record to say it: then the write must not stand either, nor, if that is itself
	 * an observation, what it may have observed: the writes first, see judge. */
	if (observed)
		seen = 15;
	ROLLED
	for (u32 i = 0; i < 8; i++) {
		u64 r = load64(sh + (i & 3));
		if (!(seen >> (i & 3) & 1) || !r || (i < 4 && kind_observed(GSAN_REC_KIND(r))))
			continue;
		swap(sh + (i & 3), r, 0ull);
		fetch_add(&w->evicted, 1);
	}
	return weak;
}

FN u32 strong_kind(u32 info) { return GSAN_INFO_LEVEL(info) << 1 | (info & GSAN_INFO_WRITE ? 1 : 0); }

FN bool as_weak(const struct gsan_warp *w, u32 info)
{
	return (info & GSAN_INFO_VOLATILE) && (w->options & GSAN_WARP_VOLATILE);
}

/* One element of a strong access, up to 16 bytes. */
SLOW void strong_granules(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags, u64 late)
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
	u32 bytes = size > 8 ? GSAN_REC_WIDE : bytes_at(addr, size);
	one_granule(w, sh, st, record(v, lane, kind, bytes), site, (addr & ~7ull) | flags | late);
	if (size <= 8)
		return;
	one_granule(w, sh + 4, st + 4, record(v, lane, kind, bytes), site, ((addr & ~7ull) + 8) | flags | late);
}

FN void plain_instead(struct gsan_warp *w, u64 addr, u32 info, u32 site, bool shared)
{
	u32 n = GSAN_INFO_ELEMS(info), all = GSAN_INFO_SIZE(info) * (n ? n : 1);
	if (info & GSAN_INFO_WRITE) {
		if (shared)
			__gsan_v1_write_s((u64)w, addr, all, site, 0);
		else
			__gsan_v1_write_g((u64)w, addr, all, site, 0);
	} else if (shared) {
		__gsan_v1_read_s((u64)w, addr, all, site);
	} else {
		__gsan_v1_read_g((u64)w, addr, all, site);
	}
}

/* Was anything released at a word yet?  Noted before the word can be seen. */
FN u32 any_words(const struct gsan_warp *w, bool shared)
{
	const struct gsan_block *b = own_block(w);
	return load(shared ? &b->words : &launch_of(b)->words);
}

/* A relaxed reduction by a thread that released by no fence, where nothing was
 * released at any word: only its record matters.  True if that was quickly put
 * in, or others stand for it. */
FN bool red_alone(struct gsan_warp *w, u64 addr, u32 info, u32 site, bool shared)
{
	u32 size = GSAN_INFO_SIZE(info);
	if (!(info & (GSAN_INFO_RED | GSAN_INFO_UNUSED)) || (info & (GSAN_INFO_ACQUIRE | GSAN_INFO_RELEASE)) ||
	    GSAN_INFO_ELEMS(info) > 1 || ((u32)addr & 7) + size > 8 ||
	    !(shared ? GSAN_INFO_LEVEL(info) : GSAN_INFO_LEVEL(info) >= GSAN_GPU) || w->special)
		return false;
	u32 words = any_words(w, shared);
	struct head h = head_of(w, shared);
	u32 rest = plain_quick(w, &h, addr, size, strong_kind(info), site, shared, true, MOSTLY);
	if (rest == PLAIN_BESIDE)
		plain_rest(w, addr, size, strong_kind(info), site, rest | (shared ? PLAIN_SHARED : 0));
	return (!rest || rest == PLAIN_BESIDE) && !words;
}

/* Elements of a vector are accesses of their own. (PTX ISA, Vector Data-types) */
SLOW void access_before(struct gsan_warp *w, u64 addr, u32 info, u32 site, bool shared)
{
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_ELEMS(info), level = GSAN_INFO_LEVEL(info);
	if (as_weak(w, info)) {
		plain_instead(w, addr, info, site, shared);
		return;
	}
	if (level > GSAN_CTA && !load_ca32(&own_block(w)->wide))
		store(&own_block(w)->wide, 1);
	if (red_alone(w, addr, info, site, shared))
		return;
	u32 kind = strong_kind(info), top = load(&w->clock);
	step(w);
	site += __gsan_site_base;
	ROLLED
	for (u32 k = 0; k < (n ? n : 1); k++)
		strong_granules(w, addr + k * size, size, kind, site, (shared ? 1 : 0) |
				(info & (GSAN_INFO_RED | GSAN_INFO_UNUSED) ? 4 : 0), info & GSAN_INFO_ACQUIRE ? WHERE_LATE : 0);
	if (info & GSAN_INFO_READ)
		word_look(w, word_key(w, addr, size, shared));
	if (!(info & GSAN_INFO_WRITE))
		return;
	if (info & GSAN_INFO_RELEASE)
		top = tick(w, __activemask() == load(&w->live));
	ROLLED
	for (u32 k = 0; k < (n ? n : 1); k++)
		publish(w, word_key(w, addr + k * size, size, shared), level, info & GSAN_INFO_RELEASE,
			info & GSAN_INFO_READ, top);
}

/* What was put off until the access had acquired. */
SLOW void judge_late(struct gsan_warp *w, u64 *sh, u32 *st, u64 addr, u64 rec, u32 site, bool shared)
{
	struct gsan_lane *l = lane_of(w, sreg_laneid());
	u64 prev = l->late_rec;
	/* Another element of a vector? */
	if (!(prev & rec & 255))
		return;
	fetch_and(&w->m_late, ~(1u << sreg_laneid()));
	judge(w, sh, st, 0, prev, site_word(l->late_site, prev), rec, 0, (addr & ~7ull) | (u64)shared, site);
}

SLOW void access_after(struct gsan_warp *w, u64 addr, u32 info, u32 site, bool shared)
{
	u32 size = GSAN_INFO_SIZE(info), n = GSAN_INFO_ELEMS(info), level = GSAN_INFO_LEVEL(info);
	if (as_weak(w, info))
		return;
	u32 late = info & GSAN_INFO_ACQUIRE ? load(&w->m_late) >> sreg_laneid() & 1 : 0, words = any_words(w, shared);
	ROLLED
	for (u32 k = 0; k < (n ? n : 1); k++) {
		u64 a = addr + k * size, *sh, weak = 0;
		u32 *st;
		/* It looked at the first word alone. */
		if (k)
			lane_of(w, sreg_laneid())->moment &= 7;
		bool there = shared ? shadow_shared(w, (u32)a, &sh, &st) : shadow_global(a, &sh, &st);
		/* What is known of the granule is all that could be said of it once more. */
		bool said = there && (info & GSAN_INFO_UNUSED) && !words &&
			    (load_ca32(unmarked_at(own_block(w), sh)) & unmarked_bit(sh));
		if (there && size <= 8 && !said)
			weak = mark_observed(w, sh, bytes_at(a, size), strong_kind(info), info & GSAN_INFO_UNUSED);
		if (words)
			observe(w, word_key(w, a, size, shared), level, info & GSAN_INFO_ACQUIRE, weak);
		if (there && late)
			judge_late(w, sh, st, a, record(view_of(w), sreg_laneid(), strong_kind(info), bytes_at(a, size)),
				   site + __gsan_site_base, shared);
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
		TOGETHER(access_after(WARP(ctx), addr, info, site, false););
}

API void __gsan_v1_after_s(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(access_after(WARP(ctx), addr, info, site, true););
}

API void __gsan_v1_after_x(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx)
		return;
	bool shared = is_shared(addr);
	TOGETHER(
		if (!is_local(addr))
			access_after(WARP(ctx), shared ? shared_offset(addr) : addr, info, site, shared);
	);
}
