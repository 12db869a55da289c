/* SPDX-License-Identifier: Apache-2.0
 *
 * granule.cuh: the shadow of one granule: its records, which of them gives way to which,
 * and what a new one is compared with.
 *
 * An access first puts its record in, then looks at the others: of two threads
 * that do so at the same time at least one sees the other.  What a new record
 * may replace is what it makes superfluous: whoever is not ordered after the
 * old access is not ordered after the new one either, and conflicts with it at
 * least as much.
 */

/* Would a race with an access of kind `old` also be one with `now`? */
FN bool covers(u32 now, u32 old)
{
	if (kind_observed(old))
		return false;
	if ((old & GSAN_KIND_WRITE) && !(now & GSAN_KIND_WRITE))
		return false;
	return kind_level(now) <= kind_level(old);
}

struct view {           /* what the fast path needs of the warp, in registers */
	u32 clock, id;
	u32 ordered;    /* high words below: this block's, known to all of it */
	u32 start;      /* high words from here on are of this block, or another */
	u32 alive;      /* high words below are of earlier launches */
};

/* Clocks are compared as the high words of records, clock << 3 | slot >> 10. */
#define HIGH(clock) ((clock) << 3)

FN struct view view_of(const struct gsan_warp *w)
{
	uint4 a = *(const uint4 *)w, b = *((const uint4 *)w + 1);
	struct view v;
	v.clock = a.x;
	v.id = b.x;
	v.ordered = HIGH(a.y + 1);
	v.start = HIGH(b.y + 1);
	v.alive = HIGH(b.z);
	return v;
}

/* A record as its two words. */
struct rec2 { u32 lo, hi; };

FN u64 rec_of(struct rec2 r) { return (u64)r.hi << 32 | r.lo; }
FN struct rec2 rec_at(const struct rec2 r[4], u32 k) { return k & 2 ? (k & 1 ? r[3] : r[2]) : (k & 1 ? r[1] : r[0]); }

/* All four records of a granule.  L1 keeps old ones: it does not see the swaps. */
FN void load_granule(const u64 *sh, struct rec2 r[4])
{
	uint4 a = load_cg(sh), b = load_cg(sh + 2);
	r[0].lo = a.x; r[0].hi = a.y; r[1].lo = a.z; r[1].hi = a.w;
	r[2].lo = b.x; r[2].hi = b.y; r[3].lo = b.z; r[3].hi = b.w;
}

/* By the same lane of the same warp? */
FN bool same_lane(struct rec2 r, struct rec2 now)
{
	return !((r.lo ^ now.lo) & 0x3ff000) && (r.lo & 0xf00) != GSAN_KIND_ASYNC << 8;
}

FN bool same_slot(struct rec2 r, struct rec2 now)
{
	return !((r.lo ^ now.lo) >> 22 | ((r.hi ^ now.hi) & 7));
}

/* The lane's own weak read of no more bytes, in an earlier interval.  In shared memory, where
 * records of blocks before this one are of no account. */
FN bool is_older(struct rec2 x, struct rec2 now)
{
	return !((x.lo ^ now.lo) >> 8 | (x.lo & ~now.lo & 255) | ((x.hi ^ now.hi) & 7)) && x.hi != now.hi;
}

/* Is it a mark of a linked line? (line.cuh) */
FN bool is_mark(u64 r) { return ((r | (GSAN_MARK ^ GSAN_MARK_LOCKED)) & ~GSAN_MARK_NUMBER) == GSAN_MARK_LOCKED; }
/* Or a record of one? */
FN bool of_line(u64 r) { return GSAN_REC_CLOCK(r) >= GSAN_ASYNC_CLOCK && GSAN_REC_KIND(r) == GSAN_LINE >> 8; }
SLOW void line_open(struct gsan_warp *w, u64 *sh);
/* May lines of the block be linked before a product reads what a copy filled? */
FN bool may_link(const struct gsan_block *b) { return load_ca32(&b->lines) == GSAN_LINES_MAY; }

FN bool is_async(struct rec2 r) { return (r.lo & 0xf00) == GSAN_KIND_ASYNC << 8; }

/* An operation's record `r`, and the block, in 32 bits, which another is not likely to have:
 * phases of the block's mbarriers differ for certain, as long as there are few. */
FN u32 over_of(u64 r, u32 started)
{
	u32 h = ((u32)r >> 8) * 0x9e3779b1u + (u32)(r >> 32);
	return ((h ^ h >> 15) * 0x85ebca77u ^ started) | 1;
}

FN u32 over_started(u32 start) { return start * 0xc2b2ae3du; }
FN u32 over_hash(const struct gsan_warp *w, u64 r) { return over_of(r, over_started(w->start)); }

/* Is it that operation's, known to be over? */
FN bool is_over(const struct gsan_warp *w, struct rec2 r, u32 over)
{
	return over && is_async(r) && over_hash(w, rec_of(r)) == over;
}

/* Where a record goes if it can, by its low word and kind.  Neighbours that come at one moment take a
 * place each: those of the two halves of a granule, or of its quarters, and of a warp.  Reads of shared memory
 * take others than writes do, so that a write stands longer: its block has long known of it,
 * but a copy that comes later may need a proxy fence behind it. */
FN u32 usual_place(u32 lo, u32 kind, bool shared)
{
	u32 low = kind & 1 ? 0 : 1;
	return (lo & 15 ? low : low ^ 3) ^ !(lo & 0x33) ^ (lo >> 16 & 1) * (shared ? 3 : 1);
}

/* The first of those that are `free`, at least one. */
FN u32 place_in(u32 free, u32 first, bool shared)
{
	u32 next = shared ? 3 : 1;
	return free >> first & 1 ? first : free >> (first ^ next) & 1 ? first ^ next : free >> (first ^ next ^ 2) & 1 ? first ^ next ^ 2 : first ^ 2;
}

/* A read of shared memory whose place `pick` is a write's takes another that is `free`, if
 * that is none's: the write may stand where reads usually do. */
FN u32 spare_writes(const struct rec2 r[4], u32 pick, u32 free, u32 first)
{
	u32 lo = pick & 2 ? (pick & 1 ? r[3].lo : r[2].lo) : (pick & 1 ? r[1].lo : r[0].lo);
	if (!(lo & 0x100))
		return pick;
	free &= ~((r[0].lo >> 8 & 1) | (r[1].lo >> 7 & 2) | (r[2].lo >> 6 & 4) | (r[3].lo >> 5 & 8));
	return free ? place_in(free, first, true) : pick;
}

/* The exact test behind the quick one in check_granule. */
FN bool suspect(struct gsan_warp *w, u64 r, u64 rec, bool shared, bool nc)
{
	u32 clock = GSAN_REC_CLOCK(r);
	bool same = GSAN_REC_SLOT(r) == w->slot && clock > w->start;
	if (!(r & rec & 255) || !((r | rec) & 0x100))
		return false;
	if (GSAN_REC_KIND(r) == GSAN_KIND_ASYNC)
		return (rec & 0x100) || (clock & GSAN_ASYNC_WRITE);
	if (nc && (r & 0x100))
		return same || clock >= w->launch_base;
	if (same) {
		if (clock <= w->floor)
			return false;
		if (GSAN_REC_WARP(r) == (w->id & 31)) {
			bool group = GSAN_REC_KIND(r) == GSAN_KIND_WARP_READ || GSAN_REC_KIND(rec) == GSAN_KIND_WARP_READ;
			if (clock <= w->wfloor || (GSAN_REC_LANE(r) == GSAN_REC_LANE(rec) && !group))
				return false;
		}
	} else if (shared || clock < w->launch_base) {
		return false;
	}
	u32 a = GSAN_REC_KIND(r), b = GSAN_REC_KIND(rec);
	return !(kind_level(a) >= GSAN_GPU && kind_level(b) >= GSAN_GPU && !((r ^ rec) & 255));
}

/* Some of the granule's records may conflict: `bad` says which. */
SLOW void judge_all(struct gsan_warp *w, u64 *sh, u32 *st, u32 bad, u64 rec, u32 pick,
		    u64 replaced, u64 where, u32 site)
{
	/* Products last: who knows that one is over needs to know of nothing it came behind. */
	ROLLED
	for (u32 i = 0; i < 8; i++) {
		u32 k = i & 3;
		/* The site at once: the record may be displaced at any time. */
		u32 word = load(st + k);
		u64 r = k == pick ? replaced : load64(sh + k);
		if (is_mark(r) || of_line(r)) {
			line_open(w, sh);
			bad = 15;
			i = ~0u;
			continue;
		}
		if ((bad >> k & 1) && by_product(r) == i >> 2 && suspect(w, r, rec, where & 1, where & 2))
			judge(w, sh, st, k, r, word, rec, replaced, where, site);
	}
}

/* Does the record of the same access, in this very interval, stand already?
 * Whatever came later was compared with it. */
FN bool stands(struct rec2 r, struct rec2 now)
{
	if (((r.lo ^ now.lo) & 0xfffff000) | (r.hi ^ now.hi) | (now.lo & ~r.lo & 255))
		return false;
	u32 old = r.lo >> 8 & 15, kind = now.lo >> 8 & 15;
	return old == kind ? kind < 2 || kind == GSAN_KIND_WARP_READ || !((r.lo ^ now.lo) & 255) :
	       kind != GSAN_KIND_WARP_READ && (old == 1 || (old == 0 && !(kind & 1)));
}

/* May `now` take the place of `r` and nothing be lost? */
FN bool gives_way(struct view v, struct rec2 r, struct rec2 now, bool shared)
{
	/* Shared memory has no other readers than this block, and what a
	 * barrier of all its threads ordered is ordered for all of them. */
	if (r.hi < (shared ? v.ordered : v.alive))
		return true;
	bool inside = (now.lo & 0xe00) && (now.lo >> 8 & 15) != GSAN_KIND_WARP_READ ?
		      !((r.lo ^ now.lo) & 255) : !(r.lo & ~now.lo & 255);
	if (!inside)
		return false;
	/* Ordered before this access by a barrier, or the thread's own. */
	bool mine = shared || (r.hi >= v.start && same_slot(r, now));
	if (!mine || !(r.hi < v.ordered || same_lane(r, now)))
		return false;
	u32 old = r.lo >> 8 & 15, kind = now.lo >> 8 & 15;
	if (kind == 1)
		return !kind_observed(old) && (old != GSAN_KIND_WARP_READ || r.hi < v.ordered);
	if (kind == 0)
		return !(old & 1) && !kind_observed(old) && (old != GSAN_KIND_WARP_READ || r.hi < v.ordered);
	return covers(kind, old) && (old != GSAN_KIND_WARP_READ || kind == GSAN_KIND_WARP_READ);
}

/* No record gives way: history must go.  A read gives up itself more often than
 * not; otherwise reads go before writes, and what rule 9 needs goes last.  Where there are
 * only writes (of half-words, say, by four threads) one makes way for a weak read of what it
 * wrote, which has been compared with it; or what is written behind reads without a barrier
 * would never be seen. */
SLOW u32 evict(struct gsan_warp *w, u64 *sh, u64 a, u64 b, u64 c, u64 d, u64 rec, u64 where)
{
	u32 h = ((u32)(rec >> 12) ^ (u32)(rec >> 35) ^ (u32)where) * 2654435761u;
	u32 reads = 0, writes = 0, spare = 0, met = 0;
	ROLLED
	for (u32 k = 0; k < 4; k++) {
		u64 x = k == 0 ? a : k == 1 ? b : k == 2 ? c : d;
		u32 kind = GSAN_REC_KIND(x);
		if (kind_observed(kind))
			continue;
		met |= x & rec & 255 ? 1u << k : 0;
		if (kind & GSAN_KIND_WRITE) {
			writes |= 1u << k;
			continue;
		}
		/* A read whose bytes another read has as well is spare. */
		u64 others = (reads & 1 ? a : 0) | (reads & 2 ? b : 0) | (reads & 4 ? c : 0);
		if (!(x & ~others & 255))
			spare |= 1u << k;
		reads |= 1u << k;
	}
	fetch_add(&w->evicted, 1);
	if (spare) {
		reads = spare;
	} else if (!(rec & 0x100)) {
		writes &= kind_level(GSAN_REC_KIND(rec)) == GSAN_WEAK ? met : 0;
		if (!(reads | writes) || (h >> 28 & 3))
			return 4;
	}
	u32 from = reads ? reads : writes, k = h >> 30;
	/* An observation goes only with the writes that it may have observed:
	 * without it they would look unordered. */
	if (!from)
		return 5;
	ROLLED
	while (!(from >> k & 1))
		k = (k + 1) & 3;
	return k;
}

/* 63 times of 64. */
FN bool mostly(struct rec2 now) { return (clock32() >> 3 ^ now.lo >> 17) & 63; }

FN bool leave_out(struct gsan_warp *w, struct rec2 now)
{
	if (!mostly(now))
		return false;
	w->dropped = 1;
	return true;
}

/* A read that need not be put in: it conflicts with nothing, no record gives
 * way, and a read of its bytes since the last barrier stands.  Such a read is
 * left out most times, by whole warps; what stays is a sample of the readers. */
FN bool read_quick(struct gsan_warp *w, struct view v, const struct rec2 r[4], struct rec2 now, bool shared)
{
	bool slow = false, covered = false, mine = false;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		struct rec2 x = r[k];
		bool gone = x.hi < (shared ? v.ordered : v.alive), write = x.lo & 0x100;
		bool known = !shared && x.hi < v.ordered && x.hi >= v.start && same_slot(x, now);
		slow |= gone || (known && !write && !(x.lo & ~now.lo & 255)) || (shared && is_older(x, now));
		slow |= !known && write && (x.lo & now.lo & 255);
		bool cover = !known && !write && !(now.lo & ~x.lo & 255);
		covered |= cover;
		mine |= cover && x.hi == now.hi && !((x.lo ^ now.lo) >> 12);
	}
	if (slow || !covered)
		return false;
	if (mine)
		return true;
	return leave_out(w, now);
}

/* Likewise for a reduction (no result, so nobody observes anything by it), where
 * the same reduction of another thread stands. */
FN bool red_quick(struct gsan_warp *w, struct view v, const struct rec2 r[4], struct rec2 now, bool shared)
{
	bool slow = !shared && (now.lo >> 8 & 15) < 6, covered = false;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		struct rec2 x = r[k];
		bool same = !((x.lo ^ now.lo) & 0xfff);
		slow |= x.hi < (shared ? v.ordered : v.alive) || (!same && (x.lo & now.lo & 255));
		covered |= same;
	}
	return !slow && covered && leave_out(w, now);
}

/* Those that may conflict with `now`, for judge_all. */
FN u32 suspects(struct view v, const struct rec2 r[4], struct rec2 now, bool shared, bool nc)
{
	u32 bad = 0;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		struct rec2 x = r[k];
		bool both = (x.lo & now.lo & 255) && ((x.lo | now.lo) & 0x100);
		bool mine = shared ? true : same_slot(x, now) && x.hi >= v.start;
		bool fine = mine ? x.hi < v.ordered || same_lane(x, now) : x.hi < v.alive;
		if (mine && ((now.lo >> 8 & 15) == GSAN_KIND_WARP_READ || (x.lo >> 8 & 15) == GSAN_KIND_WARP_READ))
			fine = x.hi < v.ordered;
		if (nc)
			fine = x.hi < v.alive;
		if (both && !fine)
			bad |= 1u << k;
	}
	return bad;
}

/* Puts `rec` into the granule and compares it with what stands there. */
FN void check_granule(struct gsan_warp *w, struct view v, u64 *sh, u32 *st, u64 rec,
		      u32 site, u64 where, bool shared, bool nc, bool red, bool sample)
{
	struct rec2 now, r[4], old;
	now.lo = (u32)rec;
	now.hi = (u32)(rec >> 32);
	u32 pick, tries = 0;

	bool read = !nc && !sample && ((now.lo >> 8 & 15) == 0 || (now.lo >> 8 & 15) == GSAN_KIND_WARP_READ);
	load_granule(sh, r);
	ROLLED
	for (;;) {
		if (is_mark(rec_of(r[1])) || of_line(rec_of(r[2]))) {
			line_open(w, sh);
			load_granule(sh, r);
			continue;
		}
		if (read && read_quick(w, v, r, now, shared))
			return;
		if (red && red_quick(w, v, r, now, shared))
			return;
		if (!nc && (stands(r[0], now) || stands(r[1], now) || stands(r[2], now) || stands(r[3], now)))
			return;
		u32 free = 0;
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			free |= gives_way(v, r[k], now, shared) ? 1u << k : 0;
		u32 first = usual_place(now.lo, now.lo >> 8, shared);
		pick = free ? place_in(free, first, shared) : 4;
		if (free && shared && !(now.lo & 0x100))
			pick = spare_writes(r, pick, free, first);
		if (pick == 4) {
			pick = evict(w, sh, rec_of(r[0]), rec_of(r[1]), rec_of(r[2]), rec_of(r[3]), rec, where);
			if (pick == 4)
				break;
			/* Lanes that come together drive out what others of them are to be
			 * compared with: each looks at it before. */
			u32 bad = now.lo & 0xe00 ? 0 : suspects(v, r, now, shared, nc);
			if (bad)
				judge_all(w, sh, st, bad, rec, 4, 0, where, site);
			if (pick == 5) {
				ROLLED
				for (u32 k = 0; k < 4; k++)
					swap(sh + k, rec_of(rec_at(r, k)), 0);
				load_granule(sh, r);
				continue;
			}
		}
		old = rec_at(r, pick);
		/* The second look is on its way before the answer to the first
		 * is known: they go to one sector, one after the other. */
		u64 found = swap(sh + pick, rec_of(old), rec);
		load_granule(sh, r);
		if (found == rec_of(old)) {
			/* What it took the place of is judged while its site is
			 * still known. */
			if (!(old.hi < (shared ? v.ordered : v.alive)) && (old.lo & now.lo & 255) &&
			    ((old.lo | now.lo) & 0x100))
				judge_all(w, sh, st, 1u << pick, rec, pick, rec_of(old), where, site);
			store(st + pick, site_word(site, rec));
			break;
		}
		if (++tries == 64) {
			fetch_add(&w->evicted, 1);
			pick = 4;
			break;
		}
	}
	u32 bad = suspects(v, r, now, shared, nc) & ~(1u << pick);
	if (bad)
		judge_all(w, sh, st, bad, rec, pick, pick < 4 ? rec_of(old) : 0, where, site);
}

FN u64 record(struct view v, u32 lane, u32 kind, u32 bytes)
{
	return (u64)v.clock << 35 | (u64)v.id << 17 | lane << 12 | kind << 8 | bytes;
}

/* Shadow of a granule of global memory; false if there is none. */
FN bool shadow_global(u64 addr, u64 **sh, u32 **st)
{
	u64 a = addr & GSAN_WINDOW & ~7ull;
	u32 unit = (u32)(a >> 20);
	if (!(at<const u32>(GSAN_MAP)[unit >> 5] >> (unit & 31) & 1))
		return false;
	*sh = at<u64>(GSAN_SHADOW + a * 4);
	*st = at<u32>(GSAN_SITES + a * 2);
	return true;
}

FN bool shadow_shared(const struct gsan_warp *w, u32 off, u64 **sh, u32 **st)
{
	off &= SHARED_WINDOW;
	if (off >= w->shared_limit)
		return false;
	u64 row = (u64)(off >> 13) * w->nslots + w->slot;
	*sh = at<u64>(GSAN_SHADOW_SHARED + (row << 15) + (off & 0x1ff8) * 4);
	*st = at<u32>(GSAN_SITES_SHARED + (row << 14) + (off & 0x1ff8) * 2);
	return true;
}

SLOW void one_granule(struct gsan_warp *w, u64 *sh, u32 *st, u64 rec, u32 site, u64 where)
{
	check_granule(w, view_of(w), sh, st, rec, site, where, where & 1, where & 2, where & 4, false);
}

/* The bytes of [addr, addr + size) in the granule that holds addr. */
FN u32 bytes_at(u64 addr, u32 size)
{
	u32 low = (u32)addr & 7;
	return size >= 8 - low ? 0xffu << low & 0xff : ((1u << size) - 1) << low;
}

/* Shadow, or the lack of it counted. */
FN bool shadow_of(struct gsan_warp *w, u64 addr, bool shared, u64 **sh, u32 **st)
{
	if (shared ? shadow_shared(w, (u32)addr, sh, st) : shadow_global(addr, sh, st))
		return true;
	fetch_add(&w->unbacked, 1);
	return false;
}
