/* SPDX-License-Identifier: Apache-2.0
 *
 * report.cuh: two accesses look unordered: judge them with all that is known,
 * and if they are a race, tell the host.  Off the fast path.
 */
#define may_observe     __gsan_v1_may_observe
#define missed_knows    __gsan_v1_missed_knows
#define pair_known      __gsan_v1_pair_known
#define key_known       __gsan_v1_key_known
#define site_settled    __gsan_v1_site_settled
#define site_found      __gsan_v1_site_found
#define tell            __gsan_v1_tell
#define judge_async     __gsan_v1_judge_async
#define behind_product  __gsan_v1_behind_product
#define then_knew       __gsan_v1_then_knew

/* Levels a scope reaches: see enum gsan_level.  Observed kinds keep cluster or
 * gpu only. */
FN u32 kind_level(u32 kind)
{
	if (kind < 10)
		return kind >> 1;
	return kind >= GSAN_KIND_WARP_READ ? GSAN_WEAK :
	       kind >= GSAN_KIND_OBSERVED_GPU ? GSAN_GPU : GSAN_CLUSTER;
}

FN bool kind_observed(u32 kind) { return kind >= GSAN_KIND_OBSERVED_CTA && kind < GSAN_KIND_WARP_READ; }

/* Do scopes of level a and b, of a thread in this block and one in `slot` with
 * clock `clock`, include each other?  (PTX ISA, Memory Consistency Model: Scope,
 * Morally Strong Operations) */
FN bool scopes_meet(const struct gsan_warp *w, u32 a, u32 b, u32 slot, u32 clock)
{
	u32 level = a < b ? a : b;
	if (level >= GSAN_GPU || (slot == w->slot && clock > w->start))
		return true;
	if (level != GSAN_CLUSTER)
		return false;
	struct gsan_block *o = block_of(slot);
	return load(&o->cluster) == block_of(w->slot)->cluster && clock > load(&o->start);
}

/* What threads that ran fence.sc had acquired before, up to number `sc`, in a launch
 * whose clocks begin above `base`: what earlier ones left says nothing of it. */
SLOW bool shared_knows(u32 slot, u32 warp, u32 lanes, u32 clock, u32 end, u32 sc, u32 base)
{
	struct gsan_root *r = root();
	u32 n = load(&r->sc_shared), best = 0, id = 0, start = 0;
	if (!n)
		return false;
	if (load(&r->sc_busy))
		return true;
	ROLLED
	for (u32 k = 0; k < GSAN_SC_SHARED; k++) {
		u32 number = load(&r->sc_number[k]);
		if (no_later(number, sc) && (!best || no_later(best, number))) {
			best = number;
			id = load(&r->sc_snap[k]);
			start = load(&r->sc_start[k]);
		}
	}
	if (!id && n > GSAN_SC_SHARED) {
		count(GSAN_COUNT_SNAP_LOST, 1);
		return true;
	}
	return id && start >= base && snap_knows(id, slot, warp, lanes, clock, end);
}

/* Who issued a posted copy is there as a ghost, post.cuh. */
FN bool is_ghost(const struct gsan_warp *w) { return w->options & GSAN_WARP_GHOST; }
FN const struct gsan_post *post_of(const struct gsan_warp *w)
{
	return (const struct gsan_post *)((const char *)w - __builtin_offsetof(struct gsan_post, w));
}

/* The lane that is asked about: the calling one, or the ghost's. */
FN u32 lane_in(const struct gsan_warp *w)
{
	return is_ghost(w) ? w->options >> GSAN_WARP_LANE_SHIFT : sreg_laneid();
}

/* What lanes `self` of the warp knew at a moment that is over. */
struct moment { const struct gsan_knew *at; u32 self; };

/* Now, or when the ghost was left. */
FN struct moment present(const struct gsan_warp *w)
{
	struct moment m;
	m.at = is_ghost(w) ? &post_of(w)->knew : 0;
	m.self = 1u << lane_in(w);
	return m;
}

/* Whom a record is of: all of `lanes` have to be known up to its clock; none: any of the
 * warp, which whoever knows of a snapshot or fence up to there does. */
FN u32 lanes_of(u64 rec)
{
	u32 kind = GSAN_REC_KIND(rec);
	return kind == GSAN_KIND_WARP_READ ? ~0u : kind == GSAN_KIND_ASYNC ? 0 : 1u << GSAN_REC_LANE(rec);
}

/* Did they know of `rec`, of a block whose clocks end at `end`? */
SLOW bool then_knew(struct gsan_warp *w, struct moment then, u64 rec, u32 end)
{
	const struct gsan_knew *k = then.at;
	u32 slot = GSAN_REC_SLOT(rec), clock = GSAN_REC_CLOCK(rec), warp = GSAN_REC_WARP(rec), lanes = lanes_of(rec);
	/* All that is needed, in one go. */
	uint4 me = load_ca(&w->id);             /* id start */
	u32 upto = load_any(&k->clock), floor = load_any(&k->floor), wfloor = load_any(&k->wfloor), own_top = load_any(&k->own_top);
	u32 own_mask = load_any(&k->own_mask), sc = load_any(&k->sc), sc_cta = load_any(&k->sc_cta), any[3];
#pragma unroll
	for (u32 i = 0; i < 3; i++)
		any[i] = load_any(&k->refs[i].id[0]);
	u32 lists = (any[0] ? 1 : 0) | (any[1] ? 2 : 0) | (any[2] ? 4 : 0);
	bool here = slot == me.x >> 5 && clock > me.y;
	if (here) {
		if (clock <= floor)
			return true;
		if (warp == (me.x & 31)) {
			if (clock <= upto)
				lanes &= w->options & GSAN_WARP_LOCKSTEP ? 0 : ~then.self;
			if ((!lanes && clock <= upto) || clock <= wfloor || (clock <= own_top && !(lanes & ~own_mask)))
				return true;
		}
	}
	sc_cta = here ? sc_cta : 0;
	if ((sc | sc_cta) && fence_knows(slot, warp, lanes, clock, end, sc, sc_cta))
		return true;
	ROLLED
	for (; lists; lists &= lists - 1)
		if (refs_know(&k->refs[__ffs(lists) - 1], slot, warp, lanes, clock, end))
			return true;
	return sc && shared_knows(slot, warp, lanes, clock, end, sc, w->launch_base);
}

/* Does the calling lane know of `rec`, of a block whose clocks end at `end`?
 * Its own accesses count as known if `self`. */
SLOW bool lane_knows(struct gsan_warp *w, u64 rec, bool self, u32 end)
{
	u32 slot = GSAN_REC_SLOT(rec), clock = GSAN_REC_CLOCK(rec), warp = GSAN_REC_WARP(rec);
	/* A ghost knows nothing that came behind it. */
	if (is_ghost(w)) {
		uint4 self = load_ca(&w->id);           /* id start */
		u32 left = load_ca32(&post_of(w)->clock[warp]), floor = load_ca32(&w->floor);
		if (slot == self.x >> 5 && clock > self.y && (clock > left || clock <= floor))
			return clock <= left;
		return then_knew(w, present(w), rec, end);
	}
	u32 me = sreg_laneid(), bit = 1u << me;
	u32 lanes = lanes_of(rec);
	struct gsan_lane *l = lane_of(w, me);
	struct gsan_block *b = block_of(w->slot);
	u32 sc = w->sc, sc_cta = 0, state = load(&w->state), most = load(&b->sc);
	bool mine = load(&w->m_refs) & bit;

	if (most > sc)
		sc = most;
	if (mine && l->sc > sc)
		sc = l->sc;
	if (slot == w->slot && clock > w->start) {
		if (clock <= w->floor)
			return true;
		if (warp == (w->id & 31)) {
			if (self)
				lanes &= ~bit;
			if (!lanes || clock <= w->wfloor || (w->options & GSAN_WARP_LOCKSTEP))
				return true;
			if ((load(&w->m_own) & bit) && clock <= l->own_top && !(lanes & ~l->own_mask))
				return true;
		}
		sc_cta = mine && l->sc_cta > w->sc_cta ? l->sc_cta : w->sc_cta;
	}
	if ((sc | sc_cta) && fence_knows(slot, warp, lanes, clock, end, sc, sc_cta))
		return true;
	if (mine && refs_know(&l->refs, slot, warp, lanes, clock, end))
		return true;
	if ((state & GSAN_WARP_REFS) && refs_know(&w->refs, slot, warp, lanes, clock, end))
		return true;
	if ((state & GSAN_WARP_BLOCK_REFS) && refs_know(&b->refs, slot, warp, lanes, clock, end))
		return true;
	return sc && shared_knows(slot, warp, lanes, clock, end, sc, w->launch_base);
}

/* Which block had `slot` at `clock`: 0 if no longer known, else where its clocks
 * end. */
SLOW u32 find_tenant(u32 slot, u32 clock, u32 *launch, u64 *cta)
{
	struct gsan_block *b = block_of(slot);
	struct gsan_tenant *t = at<struct gsan_tenant>(ROOT(history)) + (u64)slot * GSAN_HISTORY;
	u32 n = load(&b->ntenants), end = GSAN_CLOCK_MAX;
	ROLLED
	for (u32 back = 1; back <= n && back < GSAN_HISTORY; back++) {
		uint4 v = load_cg(t + (n - back) % GSAN_HISTORY);
		if (v.x < clock) {
			*launch = v.y;
			*cta = (u64)v.w << 32 | v.z;
			return end;
		}
		end = v.x;
	}
	return 0;
}

/* The number of the block that had `slot` at `clock`, which may have ended; ~0: that is no longer known. */
FN u64 cta_at(u32 slot, u32 clock)
{
	u32 launch;
	u64 cta;
	return find_tenant(slot, clock, &launch, &cta) ? GSAN_TENANT_CTA(cta) : ~0ull;
}

/* A site, hidden in a hash of whose record it is, when, of which bytes, whether it writes
 * and how far it reaches (`what`): what does not change when a read is marked as an
 * observation. */
FN u32 tagged(u32 site, u32 lo, u32 hi, u32 what)
{
	return site ^ (lo >> 12) * 2654435761u ^ hi * 2246822519u ^ what * 3266489917u;
}

/* A weak access of `bytes`. */
FN u32 what_weak(u32 bytes, u32 write) { return bytes | write << 8; }

FN u32 site_word(u32 site, u64 rec)
{
	u32 kind = GSAN_REC_KIND(rec), level = kind_level(kind);
	return tagged(site, (u32)rec, (u32)(rec >> 32), what_weak((u32)rec & 255, kind & 1) |
		      (u32)(level != GSAN_WEAK) << 9 | (u32)(level >= GSAN_GPU) << 10);
}

/* The site of a record by word `v`, 0 if that belongs to another: few of all numbers are
 * sites. */
FN u32 site_in(u32 v, u64 rec)
{
	u32 site = v ^ site_word(0, rec);
	return v && site < ROOT(next_site) ? site : 0;
}

/* The word, the i-th of its granule, is written after the record, which may have been
 * put in at another place as well.  (write_quick) */
FN u32 site_of(const u32 *words, u32 i, u64 rec)
{
	u32 site = 0;
	ROLLED
	for (u32 k = i; k < 1000 && !site; k++)
		site = site_in(load(words + (k & 3)), rec);
	return site;
}

/* The word by which `site` was found may be another record's that looks the same, if there
 * are many sites: until the record's own is there.  So a pair that is new is given
 * time for that; 0 if the record is displaced meanwhile. */
SLOW u32 site_settled(const u64 *sh, const u32 *word, u64 rec, u32 site)
{
	ROLLED
	for (int i = 0; i < 500; i++) {
		u32 now = site_in(load(word), rec);
		if (load64(sh) != rec)
			return 0;
		if (now && now != site)
			return now;
	}
	return site;
}

FN u64 dedup_key(u32 a, u32 b, u32 kind)
{
	return a < b ? (u64)b << 40 | (u64)a << 8 | (kind + 1) : (u64)a << 40 | (u64)b << 8 | (kind + 1);
}

/* In a key: both write one value.  A pair may be there with and without. */
#define KEY_SAME        0x80ull

SLOW bool key_known(u64 key)
{
	struct gsan_root *r = root();
	struct gsan_dedup *table = at<struct gsan_dedup>(ROOT(dedup));
	u64 k = 1;
	u32 h = (u32)((key * 0x9e3779b97f4a7c15ull) >> 40);
	ROLLED
	for (u32 probe = 0; probe < 64 && k; probe++) {
		k = load64(&table[(h + probe) & (r->ndedup - 1)].key);
		if (k == key)
			return true;
	}
	return false;
}

/* Is the pair in the table, by whatever name? */
SLOW bool pair_known(u32 site, u32 psite)
{
	ROLLED
	for (u32 kind = GSAN_DATA_RACE; kind <= GSAN_TENSORMAP_RACE; kind++) {
		u64 key = dedup_key(site, psite, kind);
		if (key_known(key) || (kind <= GSAN_SCOPE_RACE && key_known(key | KEY_SAME)))
			return true;
	}
	return false;
}

/* The site of record `rec`, the i-th of its granule with word `word`, for a finding with
 * `site`; 0: it is not known. */
SLOW u32 site_found(const u64 *sh, const u32 *st, u32 i, u32 word, u64 rec, u32 site)
{
	u32 found = site_in(word, rec);
	if (!found)
		found = site_of(st, i, rec);
	if (!found || pair_known(site, found))
		return found;
	u32 sure = site_settled(sh + i, st + i, rec, found);
	/* Where records go too fast for that, and have gone without any site,
	 * no line is better than a wrong one. */
	return sure ? sure : pair_known(site, 0) ? 0 : found;
}

/* One more of this pair: true if it is the first, and then *entry is its index
 * in the ring (nring if there is no room). */
SLOW bool first_of(u64 key, u32 *index, u32 *entry)
{
	struct gsan_root *r = root();
	struct gsan_dedup *table = at<struct gsan_dedup>(ROOT(dedup));
	u32 h = (u32)((key * 0x9e3779b97f4a7c15ull) >> 40);
	ROLLED
	for (u32 probe = 0; probe < 64; probe++) {
		u32 i = (h + probe) & (r->ndedup - 1);
		struct gsan_dedup *d = table + i;
		u64 old = load64(&d->key);
		if (!old)
			old = swap((u64 *)&d->key, 0, key);
		if (old == key) {
			u32 n = fetch_add(&d->count, 1) + 1;
			if (!(n & (n - 1))) {
				u32 e = load(&d->entry);
				if (e && e <= r->nring)
					(at<struct gsan_finding>(ROOT(ring)))[e - 1].count = n;
			}
			return false;
		}
		if (old)
			continue;
		fetch_add(&d->count, 1);
		u32 e = fetch_add(&r->ring_next, 1);
		if (e >= r->nring) {
			count(GSAN_COUNT_RING_LOST, 1);
			return false;
		}
		store(&d->entry, e + 1);
		*index = i;
		*entry = e;
		return true;
	}
	count(GSAN_COUNT_DEDUP_FULL, 1);
	return false;
}

/* Where the clocks end of the block that made `rec`. */
FN u32 end_of(const struct gsan_warp *w, u64 rec)
{
	u32 slot = GSAN_REC_SLOT(rec), clock = GSAN_REC_CLOCK(rec), launch;
	u64 cta;
	return slot == w->slot && clock > w->start ? GSAN_CLOCK_MAX : find_tenant(slot, clock, &launch, &cta);
}

FN void fill_access(struct gsan_access *a, u32 site, u64 rec, u64 cta)
{
	a->site = site;
	a->kind = GSAN_REC_KIND(rec);
	a->bytes = GSAN_REC_BYTES(rec);
	a->thread = GSAN_REC_WARP(rec) << 5 | GSAN_REC_LANE(rec);
	a->block = cta;
	a->slot = GSAN_REC_SLOT(rec);
	a->clock = GSAN_REC_CLOCK(rec);
}

/* Observation `z` was of what a strong write of these bytes wrote: may that be `prev`,
 * or a read-modify-write that has it from there?  Which write it was no record says,
 * nor whether `prev` came later or took the place of that one: counted. */
SLOW bool may_observe(struct gsan_warp *w, u64 *sh, u64 z, u64 prev)
{
	u32 a = kind_level(GSAN_REC_KIND(z)), b = kind_level(GSAN_REC_KIND(prev));
	u32 slot = GSAN_REC_SLOT(prev), level = a < b ? a : b;
	struct gsan_block *p = block_of(slot), *o = block_of(GSAN_REC_SLOT(z));
	/* A block that has ended may have been of any cluster. */
	bool meet = level >= GSAN_GPU || p == o || (level == GSAN_CLUSTER &&
		(load(&p->cluster) == load(&o->cluster) || GSAN_REC_CLOCK(prev) <= load(&p->start) ||
		 GSAN_REC_CLOCK(z) <= load(&o->start)));
	bool chain = false;
	ROLLED
	for (u32 k = 0; k < 4; k++) {
		u64 y = load64(sh + k);
		if (y == z || y == prev || ((y ^ prev) & 255) || !(y & 0x100) || !kind_level(GSAN_REC_KIND(y)) ||
		    GSAN_REC_CLOCK(y) < w->launch_base)
			continue;
		chain |= GSAN_REC_SLOT(y) == slot;
	}
	if (meet || chain)
		count(GSAN_COUNT_OBSERVED, 1);
	return meet || chain;
}

/* Would one of the snapshots that the block acquired in vain have told of it? */
SLOW bool missed_knows(struct gsan_block *b, u32 slot, u32 warp, u32 lanes, u32 clock, u32 end)
{
	bool known = refs_know(&b->missed, slot, warp, lanes, clock, end);
	ROLLED
	for (int i = 0; i < GSAN_REFS && !known; i++) {
		u32 id = load(&b->missed.id[i]), sc = id ? load(&snap_of(id)->sc) : 0;
		known = sc && (fence_knows(slot, warp, lanes, clock, end, sc, 0) ||
			       shared_knows(slot, warp, lanes, clock, end, sc, b->base));
	}
	return known;
}

FN bool stands_in(const u64 *sh, u64 rec)
{
	return load64(sh) == rec || load64(sh + 1) == rec || load64(sh + 2) == rec || load64(sh + 3) == rec;
}

/* Bits of gsan_block.unmarked. */
FN u32 unmarked_hash(const u64 *sh) { return (u32)((u64)sh >> 5) * 2654435761u >> 26; }
FN u32 *unmarked_at(struct gsan_block *b, const u64 *sh) { return b->unmarked + (unmarked_hash(sh) >> 5); }
FN u32 unmarked_bit(const u64 *sh) { return 1u << (unmarked_hash(sh) & 31); }

#define WHERE_LATE (1ull << 63)
#define WHERE_TENSOR (1ull << 62)       /* tensor memory: lane << 16 | column */

/* The records of asynchronous operations: who issued them. */
FN void fill_async(struct gsan_access *a, u64 rec)
{
	u32 who = (u32)(rec >> 12) & 0x7fffff, clock = GSAN_REC_CLOCK(rec);
	if (clock & GSAN_ASYNC_MBAR)
		who = load(&(at<struct gsan_mbar>(ROOT(mbars)) + (u64)GSAN_REC_SLOT(rec) * GSAN_MBARS +
			     (clock >> 18 & (GSAN_MBARS - 1)))->issuer[rec >> 14 & 1]);
	/* A thread's own access is not asynchronous for leaving such a record. */
	bool own = !(clock & GSAN_ASYNC_MBAR) && (clock >> GSAN_ASYNC_HOW_SHIFT & 7) == GSAN_HOW_PEER;
	a->kind = (own ? (clock >> 19 & 3) << 1 : GSAN_ACCESS_ASYNC) | (clock & GSAN_ASYNC_WRITE ? GSAN_KIND_WRITE : 0);
	a->thread = who & 1023;
	a->slot = who >> 10;
	/* Its clock is not in the record: whoever was there last. */
	a->block = cta_at(who >> 10, GSAN_CLOCK_MAX);
}

/* Where a finding is in shared or tensor memory, as tell is to know it: in the upper half 1 + the rank
 * of the block that the memory belongs to, 0: the calling lane's own. */
FN u64 owned_by(u32 rank) { return (u64)(rank + 1) << 32; }

FN u64 owner_of(const struct gsan_warp *w, u32 slot)
{
	return slot == w->slot ? 0 : owned_by(load(&block_of(slot)->rank));
}

/* A finding of `kind`: the calling lane's `now` and `prev`, of block `pcta`; `where` as
 * for judge, its other bits 0 but for the owner of shared or tensor memory. */
SLOW void tell(struct gsan_warp *w, u32 kind, u32 why, u64 where, u32 site, u64 now, u32 psite, u64 prev, u64 pcta)
{
	struct gsan_block *b = block_of(w->slot);
	struct gsan_launch *launch = launch_of(b);
	u32 index, entry, both = (u32)(prev & now) & 255, values = GSAN_VALUES_DIFFER;
	bool same = GSAN_REC_SLOT(prev) == w->slot && GSAN_REC_CLOCK(prev) > w->start;
	if ((load(&w->state) & GSAN_WARP_LOST) || load(&launch->quiet))
		return;
	u32 owner = where & (WHERE_TENSOR | 1) ? (u32)(where >> 32) & 255 : 0;
	where &= where & (WHERE_TENSOR | 1) ? WHERE_TENSOR | SHARED_WINDOW : ~0ull;       /* addresses of a cluster begin with the rank */
	u64 key = dedup_key(site, psite, kind);
	if (!key_known(key))
		values = values_of(w, where & ~(WHERE_LATE | WHERE_TENSOR), both, site, now, psite, prev);
	if (values == GSAN_VALUES_SAME) {
		if (chosen(GSAN_CHOICE_same_value)) {
			count(GSAN_COUNT_SAME_VALUE, 1);
			return;
		}
		key |= KEY_SAME;
	}
	if (!first_of(key, &index, &entry))
		return;
	struct gsan_finding *f = at<struct gsan_finding>(ROOT(ring)) + entry;
	f->kind = kind;
	f->why = why;
	f->values = values;
	f->owner = owner;
	f->shared = where & WHERE_TENSOR ? GSAN_IN_TENSOR : where & 1;
	f->addr = (where & ~(WHERE_LATE | WHERE_TENSOR | 7)) + __ffs(both) - 1;
	f->count = 1;
	f->dedup = index;
	f->launch = launch->ordinal;
	f->kernel = launch->kernel;
	ROLLED
	for (int k = 0; k < 3; k++) {
		f->grid[k] = launch->grid_dim[k];
		f->block[k] = launch->block_dim[k];
		f->cluster[k] = launch->cluster_dim[k];
	}
	fill_access(&f->now, site, now, b->cta);
	fill_access(&f->before, psite, prev, pcta == ~0ull ? pcta : GSAN_TENANT_CTA(pcta));
	if (GSAN_REC_KIND(now) == GSAN_KIND_ASYNC) {
		fill_async(&f->now, now);
		f->now.thread = (w->id & 31) << 5 | lane_in(w);
		f->now.block = b->cta;
	}
	if (GSAN_REC_KIND(prev) == GSAN_KIND_ASYNC)
		fill_async(&f->before, prev);
	else if (GSAN_REC_KIND(prev) == GSAN_KIND_WARP_READ && same && GSAN_REC_WARP(prev) == (w->id & 31) &&
		 f->before.thread == f->now.thread)
		f->before.thread ^= 1;
	__threadfence_system();
	store(&f->ready, 1);
}

/* grid.cuh: is launch `other` of a chain, not the own one, not over for the calling lane? */
SLOW bool launch_beside(struct gsan_warp *w, u32 other, u32 chain);

/* Is it a read by tcgen05.mma or .cp? */
FN bool by_product(u64 r)
{
	u32 what = GSAN_REC_CLOCK(r) & (GSAN_ASYNC_MBAR | 7u << GSAN_ASYNC_HOW_SHIFT);
	return GSAN_REC_KIND(r) == GSAN_KIND_ASYNC && what == GSAN_HOW_TCGEN05 << GSAN_ASYNC_HOW_SHIFT;
}

/* async.cuh */
SLOW void judge_async(struct gsan_warp *w, u64 *sh, u32 *st, u32 i, u64 prev, u32 word, u64 now, u64 where, u32 site);
SLOW bool behind_product(struct gsan_warp *w, const u64 *sh, u64 prev);

/* Did nothing of other blocks reach the calling lane's, as far as `b` or its warp in `state`
 * tells?  Then no chain of observations ends in it that began at block scope elsewhere. */
FN bool alone(const struct gsan_warp *w, const struct gsan_block *b, u32 state)
{
	return !is_ghost(w) && !load(&b->wide) && !(state & (GSAN_WARP_REFS | GSAN_WARP_BLOCK_REFS)) &&
	       !(load(&w->m_refs) >> sreg_laneid() & 1) && !w->sc && !load(&b->sc);
}

/* `where`: address of the granule; bit 0 says shared memory, bit 1 that the
 * access is through the read-only proxy, bit 2 that it is a reduction
 * (or an atom whose result is not used), WHERE_LATE that it will acquire.  `now` was just recorded with `site`;
 * `prev` stands (or stood) in the granule's record `i`, and `word` was its site
 * word when it was read; `replaced` is what `now` took the place of. */
SLOW void judge(struct gsan_warp *w, u64 *sh, u32 *st, u32 i, u64 prev, u32 word, u64 now,
		u64 replaced, u64 where, u32 site)
{
	u32 slot = GSAN_REC_SLOT(prev), clock = GSAN_REC_CLOCK(prev);
	u32 pk = GSAN_REC_KIND(prev), nk = GSAN_REC_KIND(now);
	bool same = slot == w->slot && clock > w->start, nc = where & 2;

	if (pk == GSAN_KIND_ASYNC) {
		judge_async(w, sh, st, i, prev, word, now, where, site);
		return;
	}
	struct gsan_block *b = block_of(w->slot);
	u32 plaunch = b->launch_number, end = GSAN_CLOCK_MAX, state = load(&w->state);
	bool other = false;
	u64 pcta = b->cta;
	if (!same) {
		end = find_tenant(slot, clock, &plaunch, &pcta);
		if (!end) {
			count(GSAN_COUNT_HISTORY_LOST, 1);
			return;
		}
		/* Launches of one context count as ordered, but for those that overlap. */
		other = plaunch != b->launch_number;
		if (other && !launch_beside(w, plaunch, GSAN_TENANT_CHAIN(plaunch, pcta)))
			return;
		if ((state & GSAN_WARP_UNMODELLED) && scopes_meet(w, GSAN_CLUSTER, GSAN_CLUSTER, slot, clock))
			return;
	}
	/* What was known when the launch began was not written while it runs. */
	if ((!nc || other) && lane_knows(w, prev, nk != GSAN_KIND_WARP_READ, end))
		return;
	if (!nc && same && (where & 1) && behind_product(w, sh, prev))
		return;
	struct gsan_launch *launch = launch_of(b);
	if ((state & GSAN_WARP_LOST) || load(&launch->quiet))
		return;

	u32 pl = kind_level(pk), nl = kind_level(nk);
	bool alike = !((prev ^ now) & 255), meet = pl && nl && scopes_meet(w, pl, nl, slot, clock);
	u32 why = GSAN_WHY_OTHER_BLOCK, kind = GSAN_DATA_RACE;
	if (!nc && pl && nl && ((w->options & GSAN_WARP_NO_ATOMIC) || (meet && alike)))
		return;
	/* Rule 9: a strong read that found prev's value orders prev before what
	 * follows that read.  (PTX ISA, Causality Order) */
	bool observable = !nc && pl && (pk & GSAN_KIND_WRITE) && !(pl == GSAN_CTA && !same && alone(w, b, state));
	if (observable) {
		ROLLED
		for (u32 k = 0; k <= 4; k++) {
			u64 z = k < 4 ? load64(sh + k) : replaced;
			if (!kind_observed(GSAN_REC_KIND(z)) || ((z ^ prev) & 255) || z == prev ||
			    GSAN_REC_CLOCK(z) < w->launch_base)
				continue;
			bool mine = (z >> 12 & 0x7fffff) == (now >> 12 & 0x7fffff) && GSAN_REC_CLOCK(z) > w->start;
			if (!mine && !lane_knows(w, z, true, end_of(w, z)))
				continue;
			if (!may_observe(w, sh, z, prev))
				continue;
			if ((nk & GSAN_KIND_WRITE) && !nl && !kind_observed(pk) && !(GSAN_REC_BYTES(prev) & ~GSAN_REC_BYTES(now)))
				swap(sh + i, prev, 0ull);
			return;
		}
	}
	/* An observation that had to go took what it may have observed with it, first: what
	 * stands no more may have been observed, or what has its place now, and that no more.
	 * (words.cuh, mark_observed) */
	if (observable && !stands_in(sh, prev != replaced ? prev : now)) {
		fetch_add(&w->evicted, 1);
		return;
	}
	/* Or it may be, and no record says so. */
	if (observable && (load(unmarked_at(b, sh)) & unmarked_bit(sh))) {
		count(GSAN_COUNT_OBSERVED, 1);
		return;
	}
	u32 psite = site_found(sh, st, i, word, prev, site);
	/* Taken out again before it had a site: who put it in looks again, and finds `now`.  Without one
	 * nobody can say whether both write the same; and where many write by one instruction, which is told, it
	 * is that mostly. */
	if (!psite && (!stands_in(sh, prev) || chosen(GSAN_CHOICE_same_value) || pair_known(site, site))) {
		fetch_add(&w->evicted, 1);
		return;
	}
	/* What it is about to acquire may order the two: judged after it.  There is
	 * room for one. */
	if (where & WHERE_LATE) {
		struct gsan_lane *l = lane_of(w, sreg_laneid());
		u32 bit = 1u << sreg_laneid();
		l->late_rec = prev;
		l->late_site = psite;
		if (fetch_or(&w->m_late, bit) & bit)
			fetch_add(&w->evicted, 1);
		return;
	}
	if (other && !(pl && nl)) {
		why = plaunch < b->launch_number ? GSAN_WHY_GRID_NOW : GSAN_WHY_GRID_BEFORE;
	} else if (nc) {
		why = GSAN_WHY_READ_ONLY;
	} else if (pl && nl) {
		why = alike ? GSAN_WHY_SCOPE_ATOMIC : GSAN_WHY_MIXED_SIZE;
		kind = alike ? GSAN_SCOPE_RACE : GSAN_DATA_RACE;
	} else if (same) {
		why = GSAN_REC_WARP(prev) == (w->id & 31) ? GSAN_WHY_SAME_WARP : GSAN_WHY_SAME_BLOCK;
	}

	if (!nc && kind == GSAN_DATA_RACE &&
	    missed_knows(b, slot, GSAN_REC_WARP(prev), 1u << GSAN_REC_LANE(prev), clock, end)) {
		why = GSAN_WHY_SCOPE_SYNC;
		kind = GSAN_SCOPE_RACE;
	}

	tell(w, kind, why, where, site, now, psite, prev, pcta);
}
