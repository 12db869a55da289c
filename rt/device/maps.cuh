/* SPDX-License-Identifier: Apache-2.0
 *
 * maps.cuh: tensor maps: their proxy, and what they say.  (PTX ISA, membar/fence:
 * fence.proxy.tensormap::generic; tensormap.replace; tensormap.cp_fenceproxy)
 *
 * What is written to a map is released to its proxy by who knows of the write, and
 * acquired, for the map's 128 bytes, in the block that issues the copy.  So a warp
 * keeps its last such fences with what it knew then: a write is fenced if the issuing
 * thread knows of an acquire that knew of a release that knew of it.
 *
 * What the bytes mean is the driver's business.  A map is known by a hash of them;
 * tensormap.replace makes a new one of one that is known.
 */
#define map_hash        __gsan_v1_map_hash
#define map_known       __gsan_v1_map_known
#define map_enter       __gsan_v1_map_enter
#define map_change      __gsan_v1_map_change
#define map_noted       __gsan_v1_map_noted
#define noted_knows     __gsan_v1_noted_knows
#define noted_lost      __gsan_v1_noted_lost
#define released_in     __gsan_v1_released_in
#define map_released    __gsan_v1_map_released

/* ---- What they say --------------------------------------------------------------- */

SLOW u64 map_hash(u64 map)
{
	u64 key = 1, word[16];
#pragma unroll
	for (u32 i = 0; i < 16; i++)
		word[i] = ((const u64 *)map)[i];
#pragma unroll
	for (u32 i = 0; i < 16; i++)
		key = GSAN_MAP_HASH(key, GSAN_MAP_WORD(i, word[i]));
	return key | 1;
}

/* Returns what hangs on all that was loaded, for load_behind. */
FN u32 map_take(struct gsan_map *to, const struct gsan_map *from)
{
	uint4 v[sizeof *to / 16];
	u32 seen = 0;
#pragma unroll
	for (u32 i = 0; i < sizeof *to / 16; i++)
		v[i] = load_cg((const uint4 *)from + i);
#pragma unroll
	for (u32 i = 0; i < sizeof *to / 16; i++) {
		((uint4 *)to)[i] = v[i];
		seen |= v[i].x;
	}
	return seen >> 1;
}

FN struct gsan_map *edits_of(u64 key)
{
	return at<struct gsan_map>(ROOT(edits)) + (u32)(key >> 32) % (GSAN_EDITS / GSAN_EDIT_WAYS) * GSAN_EDIT_WAYS;
}

/* Enters a description, in the place of another if need be.  Blocks make the same maps at the same time: one that is
 * being written may be this one, of which the next change is to know. */
SLOW void map_enter(const struct gsan_map *m)
{
	struct gsan_map *set = edits_of(m->key);
	for (;;) {
		u32 way = clock32() % GSAN_EDIT_WAYS;
		bool busy = false;
		u64 old = load64((const u64 *)&set[way].key);
		ROLLED
		for (u32 i = 0; i < GSAN_EDIT_WAYS; i++) {
			u64 k = load64((const u64 *)&set[i].key);
			if (k == m->key)
				return;
			busy |= k == GSAN_EDIT_BUSY;
			if (!k && old) {
				old = 0;
				way = i;
			}
		}
		struct gsan_map *to = set + way;
		if (busy || swap((u64 *)&to->key, old, GSAN_EDIT_BUSY) != old)
			continue;
		fence();
		ROLLED
		for (u32 i = 1; i < sizeof *to / 8; i++)
			((volatile u64 *)to)[i] = ((const u64 *)m)[i];
		fence();
		*(volatile u64 *)&to->key = m->key;
		return;
	}
}

/* The description of that hash, if it is known; `to` is aligned to 16 bytes.  The host's table is in its own memory,
 * far away: what was found there is entered here. */
SLOW bool map_known(u64 key, struct gsan_map *to)
{
	const struct gsan_map *table = at<const struct gsan_map>(ROOT(maps)), *set = edits_of(key);
	u64 keys[GSAN_EDIT_WAYS];
	u32 found, busy;
	do {
		found = busy = 0;
#pragma unroll
		for (u32 i = 0; i < GSAN_EDIT_WAYS; i++)
			keys[i] = load64((const u64 *)&set[i].key);
#pragma unroll
		for (u32 i = 0; i < GSAN_EDIT_WAYS; i++) {
			found |= (u32)(keys[i] == key) << i;
			busy |= keys[i] == GSAN_EDIT_BUSY;
		}
	} while (!found && busy);
	if (found) {
		const struct gsan_map *m = set + (__ffs(found) - 1);
		/* It may have been replaced meanwhile.  Each of the three loads waits for the answer of the one
		 * before, and all go to L2: that takes no fences. */
		if (load_behind((const u32 *)&m->key, map_take(to, m)) == (u32)key)
			return true;
	}
	ROLLED
	for (u32 i = 0; i < GSAN_MAPS; i++) {
		const struct gsan_map *m = table + ((u32)key + i) % GSAN_MAPS;
		u64 k = *(const volatile u64 *)&m->key;
		if (k == key) {
			map_take(to, m);
			map_enter(to);
			return true;
		}
		if (!k)
			break;
	}
	return false;
}

/* Bytes of an element by the number that tensormap.replace gives its type; 0: packed. */
FN u32 type_bytes(u32 type) { return type > 12 ? 0 : 1u << (0x0122331223122ull >> 4 * (12 - type) & 3); }

/* One field of `m` is replaced.  False: what comes of it is not modelled. */
SLOW bool map_change(struct gsan_map *m, u32 op, u64 value)
{
	u32 i = op >> 4 & 7, v = (u32)value;
	if (m->im2col || i > 4)
		return false;
	switch (op & 15) {
	case GSAN_MAP_ADDRESS:
		m->base = value;
		return true;
	case GSAN_MAP_RANK:
		m->rank = v + 1;
		return v < 5;
	case GSAN_MAP_BOX:
		m->box[i] = v;
		return v;
	case GSAN_MAP_DIM:
		m->dim[i] = v;
		return true;
	case GSAN_MAP_STRIDE:
		m->stride[(i + 1) % 5] = value;
		return i < 4;
	case GSAN_MAP_STEP:
		m->every[i] = v;
		return v;
	case GSAN_MAP_TYPE:
		m->stride[0] = type_bytes(v);
		return m->stride[0];
	case GSAN_MAP_SWIZZLE:
		m->span = v ? 16u << v : 0;
		return v < 4;
	case GSAN_MAP_FILL:
		return true;
	case GSAN_MAP_INTERLEAVE:
		m->slice = v ? 8u << v : 0;
		return v < 3;
	default:                /* of another atomicity */
		return !v;
	}
}

FN u64 map_address(u64 map, u32 op)
{
	u64 a = map;
	if (op & GSAN_MAP_SHARED)
		asm("cvta.shared.u64 %0, %1;" : "=l"(a) : "l"(map));
	return a;
}

/* PTX ISA, tensormap.replace: a weak write of the whole object. */
API u64 __gsan_v1_map_edit(u64 ctx, u64 map, u32 op, u32 site)
{
	u64 was = 0;
	if (!ctx)
		return 0;
	TOGETHER(
		u64 a = map_address(map, op);
		/* In an interval of its own: else the thread's plain stores stand for it. */
		tick(WARP(ctx), group_ == load(&WARP(ctx)->live));
		__gsan_v1_range_x(ctx, a, 128, GSAN_INFO_WRITE, site);
		was = map_hash(a);
	);
	return was;
}

API void __gsan_v1_map_edited(u64 ctx, u64 map, u32 op, u64 value, u64 was)
{
	if (!ctx)
		return;
	TOGETHER(
		alignas(16) struct gsan_map m;
		if (map_known(was, &m) && map_change(&m, op, value)) {
			m.key = map_hash(map_address(map, op));
			map_enter(&m);
		}
	);
}

/* ---- Their proxy ------------------------------------------------------------------- */

/* `lanes`, the calling one among them, ran a fence; for an acquire, of that map. */
SLOW void map_noted(struct gsan_warp *w, u64 map, u32 what, u32 lanes)
{
	u32 lane = sreg_laneid(), state = load(&w->state), mine = load(&w->m_refs), sc = w->sc, most = load(&own_block(w)->sc);
	bool split = ring_begin(w, lanes);
	u32 clock = ring_clock(w, split);
	struct gsan_log *log = log_of(w->id << 5);
	struct gsan_noted *n = log->map + load(&log->maps) % GSAN_LOG_MAPS;
	if (most > sc)
		sc = most;
	if ((mine >> lane & 1) && lane_of(w, lane)->sc > sc)
		sc = lane_of(w, lane)->sc;
	/* What some lanes know alone is not told apart. */
	if ((mine & lanes & ~(1u << lane)) || (load(&w->m_own) & lanes) || w->sc_cta || own_block(w)->sc_cta)
		what |= GSAN_NOTED_MORE;
	store(&n->mask, 0);
	store_cg(&n->floor, four(w->floor, w->wfloor, sc, w->start));
	copy_refs(&n->refs[0], &lane_of(w, lane)->refs, mine >> lane & 1);
	copy_refs(&n->refs[1], &w->refs, state & GSAN_WARP_REFS);
	copy_refs(&n->refs[2], &own_block(w)->refs, state & GSAN_WARP_BLOCK_REFS);
	fence();
	store_cg(n, four(lanes, clock, what, (u32)(map >> GSAN_NOTED_SHIFT)));
	store(&log->maps, load(&log->maps) + 1);
	ring_end(w, split);
}

API void __gsan_v1_map_fence(u64 ctx, u64 map, u32 info)
{
	if (!ctx)
		return;
	u32 group = of_kind(info);
	bool release = info & GSAN_INFO_RELEASE;
	/* Who learns of the fence learns of what is noted, too. */
	if (!release)
		__gsan_v1_fence(ctx, info);
	meet(group);
	u32 alike = release ? group : __match_any_sync(group, map);
	ONE_BY_ONE(
		if (sreg_laneid() == __ffs(alike) - 1)
			map_noted(WARP(ctx), map, release ? GSAN_NOTED_RELEASE : GSAN_NOTED_ACQUIRE, alike);
	);
	meet(group);
	if (release)
		__gsan_v1_fence(ctx, info);
}

/* PTX ISA, tensormap.cp_fenceproxy: a copy by the whole warp, and then a release to the
 * proxy. */
API void __gsan_v1_map_copy(u64 ctx, u64 dst, u64 src, u32 info, u32 site)
{
	if (!ctx)
		return;
	u32 group = load(&WARP(ctx)->live);
	/* All lanes that are left come to it, though not together. */
	meet_all(group);
	if (sreg_laneid() == __ffs(group) - 1) {
		__gsan_v1_range_s(ctx, src, 128, GSAN_INFO_READ, site);
		__gsan_v1_range_x(ctx, dst, 128, GSAN_INFO_WRITE, site);
	}
	meet_all(group);
	__gsan_v1_warp_sync(ctx, group);
	__gsan_v1_map_fence(ctx, dst, info);
}

/* Did who noted `n`, of warp `by`, know of the thread of `rec` up to its clock? */
SLOW bool noted_knows(const struct gsan_noted *n, u32 by, u64 rec, u32 end)
{
	u32 slot = GSAN_REC_SLOT(rec), warp = GSAN_REC_WARP(rec), clock = GSAN_REC_CLOCK(rec);
	u32 lanes = GSAN_REC_KIND(rec) == GSAN_KIND_WARP_READ ? ~0u : 1u << GSAN_REC_LANE(rec);
	uint4 e = load_cg(n), f = load_cg(&n->floor);   /* mask clock what map; floor wfloor sc start */
	if (e.z & GSAN_NOTED_MORE) {
		count(GSAN_COUNT_MERGED, 1);
		return true;
	}
	if (by >> 5 == slot && clock > f.w && (clock <= f.x ||
	    (warp == (by & 31) && (clock <= f.y || (clock <= e.y && !(lanes & ~e.x))))))
		return true;
	if (f.z && (fence_knows(slot, warp, lanes, clock, end, f.z, 0) ||
		    shared_knows(slot, warp, lanes, clock, end, f.z, block_of(by >> 5)->base)))
		return true;
	return refs_know(&n->refs[0], slot, warp, lanes, clock, end) ||
	       refs_know(&n->refs[1], slot, warp, lanes, clock, end) ||
	       refs_know(&n->refs[2], slot, warp, lanes, clock, end);
}

/* Entries of the ring that were overwritten knew of `prev` only if the oldest does. */
SLOW bool noted_lost(const struct gsan_log *log, u32 by, u64 prev, u32 end)
{
	const struct gsan_noted *n = log->map + load(&log->maps) % GSAN_LOG_MAPS;
	if (load(&n->start) != load(&block_of(by >> 5)->start) || !noted_knows(n, by, prev, end))
		return false;
	count(GSAN_COUNT_ASYNC_LOST, 1);
	return true;
}

/* Did a thread of `slot` release `prev`, and did who noted `f`, of warp `by`, know of
 * that? */
SLOW bool released_in(const struct gsan_block *b, u32 slot, const struct gsan_noted *f, u32 by, u64 prev, u32 end)
{
	ROLLED
	for (u32 k = 0; k < (load(&b->ntid) + 31) >> 5; k++) {
		u32 who = slot << 5 | k;
		struct gsan_log *log = log_of(who << 5);
		ROLLED
		for (u32 i = 0; i < GSAN_LOG_MAPS; i++) {
			const struct gsan_noted *n = log->map + i;
			uint4 e = load_cg(n);
			if (!e.x || !(e.z & GSAN_NOTED_RELEASE) || load(&n->start) != load(&b->start))
				continue;
			/* Each of its lanes ran the fence. */
			u32 lanes = noted_knows(n, who, prev, end) ? e.x : 0;
			ROLLED
			for (; lanes; lanes &= lanes - 1)
				if (noted_knows(f, by, (u64)e.y << 35 | (u64)who << 17 | (u64)(__ffs(lanes) - 1) << 12, GSAN_CLOCK_MAX))
					return true;
		}
		if (load(&log->maps) && noted_lost(log, who, prev, end))
			return true;
	}
	return false;
}

SLOW bool map_released(struct gsan_warp *w, const struct gsan_noted *f, u32 by, u64 prev, u32 end)
{
	u32 slot = GSAN_REC_SLOT(prev), top = load(&root()->top_slot);
	struct gsan_block *b = block_of(slot);
	/* Its block is gone, and with it what it noted. */
	if (end != GSAN_CLOCK_MAX || GSAN_REC_CLOCK(prev) <= load(&b->start)) {
		count(GSAN_COUNT_ASYNC_LOST, 1);
		return true;
	}
	if (released_in(own_block(w), w->slot, f, by, prev, end) || (slot != w->slot && released_in(b, slot, f, by, prev, end)))
		return true;
	ROLLED
	for (u32 s = 0; s < top; s++)
		if (s != slot && s != w->slot && of_launch(w, block_of(s)) && released_in(block_of(s), s, f, by, prev, end))
			return true;
	return false;
}

/* The calling lane issues a copy that reads the tensor map in whose granule, with records
 * `sh`, a thread's access `prev` stands, which the lane knows of: see issue_status. */
SLOW u32 map_status(struct gsan_warp *w, const u64 *sh, u64 prev, u32 end)
{
	u32 place = (u32)(((u64)sh - GSAN_SHADOW) >> (GSAN_NOTED_SHIFT + 2)), lane = lane_in(w);
	if (!(prev & 0x100) || ((load(&w->state) | load(&warp_of(GSAN_REC_SLOT(prev), GSAN_REC_WARP(prev))->state)) &
				(GSAN_WARP_UNMODELLED | GSAN_WARP_LOST)))
		return STATUS_FINE;
	ROLLED
	for (u32 k = 0; k < (load(&own_block(w)->ntid) + 31) >> 5; k++) {
		u32 by = (w->id & ~31u) | k;
		struct gsan_log *log = log_of(by << 5);
		ROLLED
		for (u32 i = 0; i < GSAN_LOG_MAPS; i++) {
			const struct gsan_noted *f = log->map + i;
			uint4 e = load_cg(f);
			/* The map begins there, or 64 bytes before. */
			if (!e.x || !(e.z & GSAN_NOTED_ACQUIRE) || place - e.w > 1 || load(&f->start) != w->start)
				continue;
			bool own = by == w->id && (e.x >> lane & 1) && e.y <= w->clock;
			if ((own || seen_known(w, w->slot, k, e.x, e.y, OF_LANE, present(w))) && map_released(w, f, by, prev, end))
				return STATUS_FINE;
		}
		if (load(&log->maps) && noted_lost(log, by, prev, end))
			return STATUS_FINE;
	}
	return STATUS_BAD | GSAN_TENSORMAP_RACE << 8 | GSAN_WHY_MAP << 16;
}
