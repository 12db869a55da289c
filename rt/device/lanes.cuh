/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.cuh: cp.async, a copy of up to 16 bytes by each lane.  (PTX ISA, Data Movement and Conversion
 * Instructions: cp.async)
 *
 * A warp of these comes as often as a warp of loads and stores, and mostly finds as little: what a barrier
 * has ordered, reads where it reads, and copies of its own that it has waited for.  Each lane looks at its
 * granules by itself, two at a time, and leaves things as they were where there is anything else: copy_issue
 * decides.
 */
#define lane_side       __gsan_v1_lane_side
#define lane_copies     __gsan_v1_lane_copies

/* What is known of the lane: high words of records below are of no account, or are known to all of the block (only in
 * its shared memory; else 0); those of its block begin at; and its last group that it has waited for. */
struct copier { u32 gone, below, start, waited; };

/* Which of `groups` are of blocks that have ended?  As async_gone, of all at once: as many answers one after the other
 * would be a third of what such a copy takes. */
FN u32 ended_groups(const struct gsan_warp *w, const struct rec2 r[4], u32 groups)
{
	u32 number[4], start[4], owner[4], first[4], ended = 0, launch = own_block(w)->launch_number;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		u32 who = groups >> k & 1 ? (u32)(rec_of(r[k]) >> 12) & 0x7fffff : w->id << 5;
		const struct gsan_block *b = block_of(who >> 10);
		const struct gsan_groups *g = groups_of(who);
		number[k] = load(&b->launch_number);
		start[k] = load(&b->start);
		owner[k] = load(&g->start);
		first[k] = load(&g->first);
	}
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		ended |= number[k] != launch || owner[k] != start[k] || (r[k].hi >> 3 & GSAN_ASYNC_GROUP_MAX) < first[k] >> 1 ? 1u << k : 0;
	return ended & groups;
}

/* Where record `now` goes among those that stand, 0 to 3; NOTHING: nowhere, and that is all; or OTHERWISE. */
FN u32 lane_choose(struct gsan_warp *w, const struct copier *c, const struct rec2 r[4], u64 now)
{
	u32 lo = (u32)now, hi = (u32)(now >> 32), free = 0, stands = 0, groups = 0;
	bool write = now & ASYNC_WRITES, other = is_mark(rec_of(r[1])) || of_line(rec_of(r[2])), in = false;
	/* Mostly before a barrier of all. */
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		free |= (r[k].hi < c->gone) | ((r[k].hi < c->below) & !(r[k].lo & ~lo & 255)) ? 1u << k : 0;
	ROLLED
	for (u32 m = free ^ 15; m; m &= m - 1) {
		u32 k = __ffs(m) - 1;
		struct rec2 x = rec_at(r, k);
		bool async = is_async(x), meets = x.lo & lo & 255, inside = !(x.lo & ~lo & 255), mine = !((x.lo ^ lo) >> 12 | ((x.hi ^ hi) & 7));
		u32 clock = x.hi >> 3;
		/* A group of its own that it waited for, or an access of its own. */
		bool group = async & !(clock & GSAN_ASYNC_MBAR) & ((clock >> GSAN_ASYNC_HOW_SHIFT & 7) == GSAN_HOW_CP);
		bool known = async ? group & mine & ((clock & GSAN_ASYNC_GROUP_MAX) <= c->waited) : (x.hi < c->below) | (mine & (x.hi >= c->start) & !(x.lo & 0xe00));
		bool writes = async ? clock & GSAN_ASYNC_WRITE : x.lo & 0x100;
		free |= known & inside & (write | !writes) ? 1u << k : 0;
		other |= meets & !known & (write | writes);
		in |= async & !write & (x.lo == lo) & (x.hi == hi);
		stands |= async & !group ? 1u << k : 0;
		groups |= group ? 1u << k : 0;
	}
	if (other || in)
		return other ? OTHERWISE : NOTHING;
	/* Reads of blocks that have ended. */
	if (groups && !free && !write)
		free = ended_groups(w, r, groups);
	ROLLED
	for (u32 m = free || write ? 0 : stands; m; m &= m - 1)
		if (over_for_all(w, rec_of(rec_at(r, __ffs(m) - 1)), false))
			free |= m & (0 - m);
	if (free)
		return place_in(free, first_place(now), write);
	if (write)
		return OTHERWISE;
	/* A read gives up itself. */
	w->dropped = 1;
	return NOTHING;
}

/* `now` is in at `pick` for `was`: did anything come beside it that may conflict? */
FN bool lane_beside(const struct rec2 was[4], const struct rec2 r[4], u64 now, u32 pick)
{
	bool beside = false;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		struct rec2 x = r[k];
		bool writes = is_async(x) ? x.hi >> 3 & GSAN_ASYNC_WRITE : x.lo & 0x100, same = (x.lo == was[k].lo) & (x.hi == was[k].hi);
		beside |= (k != pick) & !same & ((x.lo & (u32)now & 255) != 0) & ((now & ASYNC_WRITES) != 0 | writes);
	}
	return beside;
}

/* The record `rec` of one side of a copy of `bytes` bytes, within a granule or of two whole ones.  False: it is left to
 * the general way, and is not in. */
SLOW bool lane_side(struct gsan_warp *w, u64 *sh, u32 *st, u64 rec, u32 low, u32 bytes, u32 gone, u32 below, u32 start, u32 waited, u32 site)
{
	struct copier c = { gone, below, start, waited };
	struct rec2 r[4], s[4], q[4];
	bool first = true, second = bytes > 8;
	u64 now = rec | bytes_at(low, bytes), next = rec | 255;
	u32 at = NOTHING, to = NOTHING;
	load_granule(sh, r);
	if (second)
		load_granule(sh + 4, s);
	ROLLED
	for (u32 tries = 0; tries < 4 && (first || second); tries++) {
		u32 i = first ? lane_choose(w, &c, r, now) : NOTHING, k = second ? lane_choose(w, &c, s, next) : NOTHING;
		if (i == OTHERWISE || k == OTHERWISE)
			break;
		u64 got = 0, found = 0, was = rec_of(rec_at(r, i)), had = rec_of(rec_at(s, k));
		bool beside = false;
		first = first && i < NOTHING;
		second = second && k < NOTHING;
		/* The second look is on its way before the answer to the first is known. */
		if (first)
			got = swap(sh + i, was, now);
		if (second)
			found = swap(sh + 4 + k, had, next);
		if (first) {
			load_granule(sh, q);
			if (got == was) {
				at = i;
				first = false;
				beside = lane_beside(r, q, now, i);
			}
#pragma unroll
			for (u32 n = 0; n < 4; n++)
				r[n] = q[n];
		}
		if (second) {
			load_granule(sh + 4, q);
			if (found == had) {
				to = k;
				second = false;
				beside |= lane_beside(s, q, next, k);
			}
#pragma unroll
			for (u32 n = 0; n < 4; n++)
				s[n] = q[n];
		}
		if (beside) {
			first = true;
			break;
		}
	}
	if (first || second) {
		if (at < NOTHING)
			swap(sh + at, now, 0);
		if (to < NOTHING)
			swap(sh + 4 + to, next, 0);
		return false;
	}
	if (at < NOTHING)
		store(st + at, site_word(site, now));
	if (to < NOTHING)
		store(st + 4 + to, site_word(site, next));
	return true;
}

/* The calling lane copies by cp.async from global memory to the block's own shared memory, into the group under
 * way.  False: that is left to copy_issue. */
SLOW bool lane_copies(struct gsan_warp *w, u32 dst, u64 src, u32 bytes, u32 from, u32 site)
{
	/* clock floor wfloor options; id start launch_base shared_limit; start cp bulk first */
	uint4 a = load_ca(w), me = load_ca(&w->id);
	u32 who = me.x << 5 | sreg_laneid(), off = dst & SHARED_WINDOW;
	struct gsan_groups *g = groups_of(who);
	uint4 now = load_ca(g);
	u32 waited = load_ca32(&g->waited[GSAN_WAIT_CP]), start = HIGH(me.y + 1);
	u64 *sh, rec = group_record(who, GSAN_HOW_CP, now.y);
	u32 *st;
	if (now.x != me.y || now.y > GSAN_ASYNC_GROUP_MAX || off + bytes > me.w || (from && from != bytes) || (((u32)src | off) & (bytes - 1)))
		return false;
	/* A source that is told of already is told of again without harm. */
	if (from && (!shadow_global(src, &sh, &st) || !lane_side(w, sh, st, rec, (u32)src, bytes, HIGH(me.z), 0, start, waited, site)))
		return false;
	return shadow_shared(w, off, &sh, &st) &&
	       lane_side(w, sh, st, rec | ASYNC_WRITES, off, bytes, start, HIGH(a.y + 1), start, waited, site);
}
