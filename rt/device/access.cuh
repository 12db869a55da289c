/* SPDX-License-Identifier: Apache-2.0
 *
 * access.cuh: the shadow of one granule, and what the rewriter calls for weak
 * accesses.
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

/* Where a record goes if it can, by its low word.  Neighbours that come at one moment take a
 * place each: those of the two halves of a granule, and of a warp.  Reads take others than
 * writes do, so that a write stands longer: its block has long known of it, but a copy that
 * comes later may need a proxy fence behind it. */
FN u32 usual_place(u32 lo) { return (lo & 15 ? 0 : 3) ^ (lo >> 16 & 1 ? 3 : 0) ^ (lo & 0x100 ? 0 : 1); }

/* The first of those that are `free`, at least one. */
FN u32 place_in(u32 free, u32 first)
{
	return free >> first & 1 ? first : free >> (first ^ 3) & 1 ? first ^ 3 : free >> (first ^ 1) & 1 ? first ^ 1 : first ^ 2;
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
 * not; otherwise reads go before writes, and what rule 9 needs goes last. */
SLOW u32 evict(struct gsan_warp *w, u64 *sh, u64 a, u64 b, u64 c, u64 d, u64 rec, u64 where)
{
	u32 h = ((u32)(rec >> 12) ^ (u32)(rec >> 35) ^ (u32)where) * 2654435761u;
	u32 reads = 0, writes = 0, spare = 0;
	ROLLED
	for (u32 k = 0; k < 4; k++) {
		u64 x = k == 0 ? a : k == 1 ? b : k == 2 ? c : d;
		u32 kind = GSAN_REC_KIND(x);
		if (kind_observed(kind))
			continue;
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
	if (spare)
		reads = spare;
	else if (!(rec & 0x100) && (!reads || (h >> 28 & 3)))
		return 4;
	u32 from = reads ? reads : writes ? writes : 15;
	/* An observation goes only with the writes that it may have observed:
	 * without it they would look unordered. */
	if (from == 15) {
		swap(sh, a, 0);
		swap(sh + 1, b, 0);
		swap(sh + 2, c, 0);
		swap(sh + 3, d, 0);
		return 5;
	}
	u32 k = h >> 30;
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
		pick = free ? place_in(free, usual_place(now.lo)) : 4;
		if (pick == 4) {
			pick = evict(w, sh, rec_of(r[0]), rec_of(r[1]), rec_of(r[2]), rec_of(r[3]), rec, where);
			if (pick == 4)
				break;
			if (pick == 5) {
				load_granule(sh, r);
				continue;
			}
		}
		old = pick & 2 ? (pick & 1 ? r[3] : r[2]) : (pick & 1 ? r[1] : r[0]);
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
		if (both && !fine && k != pick)
			bad |= 1u << k;
	}
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

#define PLAIN_SHARED    1u
#define PLAIN_NC        2u      /* through the read-only proxy */
#define PLAIN_SAMPLE    4u      /* not to be left out */
#define PLAIN_AGAIN     8u      /* anything else that is not done yet */
#define PLAIN_BESIDE    16u     /* its record is in; something came beside it */

/* The whole story of a plain access, granule by granule. */
SLOW void plain_slow(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	struct view v = view_of(w);
	u32 lane = sreg_laneid();
	bool shared = flags & 1;
	ROLLED
	for (u32 left = size; left; ) {
		u32 n = 8 - ((u32)addr & 7);
		u64 *sh;
		u32 *st;
		if (shadow_of(w, addr, shared, &sh, &st))
			check_granule(w, v, sh, st, record(v, lane, kind, bytes_at(addr, left)), site,
				      (addr & ~7ull) | (flags & (PLAIN_SHARED | PLAIN_NC)), shared, flags & PLAIN_NC,
				      false, flags & PLAIN_SAMPLE);
		if (left <= n)
			break;
		addr += n;
		left -= n;
	}
}

/* An access within one granule where a record is free or the thread's own and
 * nothing of another thread stands that could conflict, or a read that others
 * stand for.  True if that was it. */
SLOW u32 plain_again(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	u64 *sh;
	u32 *st;
	bool write = kind & 1, shared = flags & PLAIN_SHARED;
	if (!(shared ? shadow_shared(w, (u32)addr, &sh, &st) : shadow_global(addr, &sh, &st)))
		return false;
	/* Below this high word a record is of no account, see gives_way. */
	u32 bound = HIGH(shared ? w->floor + 1 : w->launch_base), start = HIGH(w->start + 1);
	struct view v;
	v.clock = w->clock;
	v.id = w->id;
	u32 lane = sreg_laneid(), want = ((1u << size) - 1) << ((u32)addr & 7);
	u64 rec = record(v, lane, kind, want);
	u32 lo = (u32)rec, hi = (u32)(rec >> 32);
	struct rec2 r[4];
	load_granule(sh, r);
	ROLLED
	for (u32 tries = 0; tries < 4; tries++) {
		u32 bad = 0, free = 0, mine = 4;
		bool cover = false;
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			struct rec2 x = r[k];
			/* A lane's own; all lanes' is nobody's own. */
			bool own = !((x.lo ^ lo) >> 12 | ((x.hi ^ hi) & 7)) && x.hi >= start && (x.lo & 0xe00) == 0 && kind < 2;
			bool gone = x.hi < bound, inside = !(want & ~x.lo);
			if (own && inside && x.hi == hi && (x.lo & 0x100 || !write)) {
				/* Without its site it was taken out by another and put back:
				 * not yet compared with what stands. (write_quick) */
				if (rec_of(x) != rec || site_in(load(st + k), rec))
					return true;
				mine = k;
				continue;
			}
			if (gone || (own && (write || !(x.lo & 0x100)) && !(x.lo & 255 & ~want)))
				free |= 1u << k;
			else if (!own && (write || (x.lo & 0x100)))
				bad |= x.lo;
			cover |= !gone && inside;
		}
		if (mine < 4) {
			store(st + mine, site_word(site, rec));
			if (bad & want)
				judge_all(w, sh, st, 15, rec, 4, 0, (addr & ~7ull) | (u64)shared, site);
			return true;
		}
		if (bad & want)
			return false;
		if (!write && cover && !free) {
			w->dropped = 1;
			return true;
		}
		if (!free)
			return false;
		u32 pick = place_in(free, usual_place(lo));
		struct rec2 old = pick & 2 ? (pick & 1 ? r[3] : r[2]) : (pick & 1 ? r[1] : r[0]);
		u64 found = swap(sh + pick, rec_of(old), rec);
		load_granule(sh, r);
		if (found != rec_of(old))
			continue;
		store(st + pick, site_word(site, rec));
		bad = 0;
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			u32 x = r[k].hi >= bound && k != pick ? r[k].lo : 0;
			bad |= write || (x & 0x100) ? x : 0;
		}
		if (bad & want)
			judge_all(w, sh, st, 15, rec, 4, 0, (addr & ~7ull) | (u64)shared, site);
		return true;
	}
	return false;
}

/* What the quick ways need of the warp's context, in as many loads as letters. */
struct head {
	uint4 a;                /* clock floor wfloor options */
	uint4 b;                /* id start launch_base shared_limit */
	uint4 c;                /* slot nslots sc sc_cta; only for shared memory */
	u32 private_too;
};

FN struct head head_of(const struct gsan_warp *w, bool shared)
{
	struct head h;
	h.private_too = load_ca32(&w->private_too);
	h.a = load_ca(w);
	h.b = load_ca((const uint4 *)w + 1);
	if (shared)
		h.c = load_ca(&w->slot);
	return h;
}

/* Where the records of an address are, counted in bytes of memory; ~0 if nowhere. */
FN u64 shadow_offset(const struct head *h, u64 addr, bool shared)
{
	if (shared)
		return (u64)(((u32)addr >> 13) * h->c.y + h->c.x) << 13 | ((u32)addr & 0x1ff8);
	u64 off = addr & GSAN_WINDOW & ~7ull;
	u32 unit = (u32)(off >> 20);
	return at<const u32>(GSAN_MAP)[unit >> 5] >> (unit & 31) & 1 ? off : ~0ull;
}

/* One granule on its quick way: what the warp's context says, the record to put
 * in, and the records that stand. */
struct quick {
	u64 *sh;
	u64 off;
	struct rec2 now, r[4];
	u32 want, bound;        /* below this high word a record is of no account, see gives_way */
};

/* All but the records that stand; false if there is no shadow. */
FN bool quick_place(struct quick *q, const struct head *h, u64 addr, u32 size, u32 kind, bool shared)
{
	u64 rec;

	q->want = ((1u << size) - 1) << ((u32)addr & 7);
	q->bound = HIGH(shared ? h->a.y + 1 : h->b.z);
	rec = (u64)h->a.x << 35 | (u64)h->b.x << 17 | sreg_laneid() << 12 | kind << 8 | q->want;
	q->now.lo = (u32)rec;
	q->now.hi = (u32)(rec >> 32);
	q->off = shadow_offset(h, addr, shared);
	if (shared ? (u32)addr >= h->b.w : q->off == ~0ull)
		return false;
	q->sh = at<u64>((shared ? GSAN_SHADOW_SHARED : GSAN_SHADOW) + q->off * 4);
	return true;
}

FN bool quick_load(struct quick *q, const struct head *h, u64 addr, u32 size, u32 kind, bool shared)
{
	bool there = quick_place(q, h, addr, size, kind, shared);
	if (there)
		load_granule(q->sh, q->r);
	return there;
}

/* How often a read is left out for which others stand. */
enum often { ALWAYS, NEVER, MOSTLY };

/* A strong write of the same bytes, no conflict with a reduction?  Levels that
 * reach: in shared memory any (see GSAN_KIND_*: odd, and not weak). */
FN bool like_red(u32 lo, u32 now, bool shared)
{
	return !((lo ^ now) & 255) && (shared ? 0x2aa8u : 0x2280u) >> (lo >> 8 & 15) & 1;
}

/* The lane's own, of this very interval, which a weak access need not mind. */
FN bool own_weak(struct rec2 x, struct rec2 now)
{
	return !((x.lo ^ now.lo) >> 12 | (x.hi ^ now.hi) | (x.lo & 0xe00));
}

/* What there is to do on the quick way: put the record where one is free, 0 to 3, or: */
enum choice { NOTHING = 4, NOTHING_BUT_SAMPLES, OTHERWISE };

/* The common case in few instructions: nothing stands that could conflict, and
 * there is room or, for a read or reduction, one that stands for it.  `red`: the
 * same reduction by another thread does not conflict. */
FN u32 choose(const struct quick *q, struct gsan_warp *w, u32 kind, bool shared, bool red, enum often often)
{
	u32 write = kind & 1, bad = 0, free = 0, older = 0;
	bool weak = kind < 2, cover = false, stood = false;
	/* What of a record must be alike for it to be the same access, see stands. */
	u32 alike = red ? ~0u : write ? 0xffffff00 : 0xfffffe00;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		struct rec2 x = q->r[k];
		bool same = red && like_red(x.lo, q->now.lo, shared), own = weak && own_weak(x, q->now);
		stood |= !(((x.lo ^ q->now.lo) & alike) | (x.hi ^ q->now.hi) | (q->want & ~x.lo));
		if (x.hi < q->bound || (own && write && !(x.lo & ~q->want & 255)))
			free |= 1u << k;
		else if (!own && ((write && !same) || (!write && (x.lo & 0x100))))
			bad |= x.lo;
		/* Who is ordered behind this read is so behind the lane's earlier one. */
		if (shared && kind == 0 && x.hi >= q->bound && is_older(x, q->now))
			older |= 1u << k;
		cover |= x.hi >= q->bound && (red ? same : !(q->want & ~x.lo));
	}
	if (stood)
		return NOTHING;
	if ((bad & q->want) || !(free || (cover && (red || !write))))
		return OTHERWISE;
	if (older)
		return __ffs(older) - 1;
	if (!free) {
		if (often == NEVER || (often == MOSTLY && !mostly(q->now)))
			return NOTHING_BUT_SAMPLES;
		w->dropped = 1;
		return NOTHING;
	}
	return place_in(free, usual_place(q->now.lo));
}

/* The record in place `pick`, 0 to 3. */
FN u64 chosen(const struct quick *q, u32 pick)
{
	u32 lo0 = pick & 1 ? q->r[1].lo : q->r[0].lo, lo2 = pick & 1 ? q->r[3].lo : q->r[2].lo;
	u32 hi0 = pick & 1 ? q->r[1].hi : q->r[0].hi, hi2 = pick & 1 ? q->r[3].hi : q->r[2].hi;
	return (u64)(pick & 2 ? hi2 : hi0) << 32 | (pick & 2 ? lo2 : lo0);
}

/* The record is in, at `pick`: what is left to do if anything that counts came beside it.
 * `still`: nobody took its place since, so that the site is its own. */
FN u32 beside(const struct quick *q, u32 kind, u32 site, bool shared, bool red, u32 pick, bool still)
{
	u32 write = kind & 1, bad = 0, *st = at<u32>((shared ? GSAN_SITES_SHARED : GSAN_SITES) + q->off * 2);
	bool weak = kind < 2, alone = true;
	site += __gsan_site_base;
	if (still)
		store(st + pick, red ? site_word(site, rec_of(q->now)) : tagged(site, q->now.lo, q->now.hi, what_weak(q->want, write)));
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		alone &= q->r[k].hi < q->bound || k == pick;
	if (alone)
		return 0;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		struct rec2 x = q->r[k];
		bool harm = write ? !(red && like_red(x.lo, q->now.lo, shared)) : x.lo & 0x100;
		if (x.hi >= q->bound && k != pick && harm && !(weak && own_weak(x, q->now)))
			bad |= x.lo;
	}
	return bad & q->want ? PLAIN_BESIDE : 0;
}

/* 0 if it is done, or else what plain_rest is to know. */
FN u32 rest_of(u32 choice)
{
	return choice == NOTHING ? 0 : choice == NOTHING_BUT_SAMPLES ? PLAIN_SAMPLE : PLAIN_AGAIN;
}

FN u32 quick_enter(struct quick *q, struct gsan_warp *w, u32 kind, u32 site, bool shared, bool red, enum often often)
{
	/* Many come at once, after a barrier above all: others may be first. */
	ROLLED
	for (u32 tries = 0; tries < 4; tries++) {
		bool clear = q->r[0].hi < q->bound && q->r[1].hi < q->bound && q->r[2].hi < q->bound && q->r[3].hi < q->bound;
		u32 pick = clear ? usual_place(q->now.lo) : choose(q, w, kind, shared, red, often);
		if (pick >= NOTHING)
			return rest_of(pick);
		/* The second look is on its way before the answer to the first is known:
		 * they go to one sector, one after the other. */
		u64 old = chosen(q, pick), found = swap(q->sh + pick, old, rec_of(q->now));
		load_granule(q->sh, q->r);
		if (found != old)
			continue;
		return beside(q, kind, site, shared, red, pick, true);
	}
	return PLAIN_AGAIN;
}

FN u32 plain_quick(struct gsan_warp *w, const struct head *h, u64 addr, u32 size, u32 kind, u32 site, bool shared, bool red, enum often often)
{
	struct quick q;
	return quick_load(&q, h, addr, size, kind, shared) ? quick_enter(&q, w, kind, site, shared, red, often) : PLAIN_AGAIN;
}

/* A write of a half or a whole granule of shared memory puts its record in at once, where
 * others of its kind do: what stood there a barrier has mostly made of no account, or it is
 * the lane's own, and one round trip is enough.  (Global memory may have to come from
 * further off, which a look should wait for.)  Anything else is put back, and nothing was
 * done; where several lanes do so at one moment, each looks again for its own.  Reads
 * do not: many lanes may well read one place. */
FN u32 write_quick(struct gsan_warp *w, const struct head *h, u64 addr, u32 size, u32 site)
{
	struct quick q;
	if (!quick_place(&q, h, addr, size, 1, true))
		return PLAIN_AGAIN;
	u32 pick = q.want & 15 ? 0 : 3;
	u64 now = rec_of(q.now), found = exchange64(q.sh + pick, now);
	/* The look is on its way before the answer is known: they go to one sector, one
	 * after the other. */
	load_granule(q.sh, q.r);
	struct rec2 x;
	x.lo = (u32)found;
	x.hi = (u32)(found >> 32);
	if (x.hi < q.bound || (own_weak(x, q.now) && !(x.lo & ~q.want & 255))) {
		u32 rest = beside(&q, 1, site, true, false, pick, true);
		return chosen(&q, pick) == now ? rest : PLAIN_AGAIN;
	}
	if (swap(q.sh + pick, now, found) != now)
		fetch_add(&w->evicted, 1);
	return PLAIN_AGAIN;
}

/* Something came beside the record that was just put in. */
SLOW void beside_slow(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	bool shared = flags & PLAIN_SHARED;
	u64 *sh;
	u32 *st;
	if (shared ? shadow_shared(w, (u32)addr, &sh, &st) : shadow_global(addr, &sh, &st))
		judge_all(w, sh, st, 15, record(view_of(w), sreg_laneid(), kind, bytes_at(addr, size)), 4, 0,
			  (addr & ~7ull) | (u64)shared, site);
}

/* What is not done quickly. */
SLOW void plain_rest(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	site += __gsan_site_base;
	if (flags & PLAIN_BESIDE)
		beside_slow(w, addr, size, kind, site, flags);
	else if ((flags & (PLAIN_NC | PLAIN_SAMPLE)) || !plain_again(w, addr, size, kind, site, flags))
		plain_slow(w, addr, size, kind, site, flags);
}

/* One granule, where no inlined copy is worth it. */
SLOW void plain_one(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	struct head h = head_of(w, flags & PLAIN_SHARED);
	/* The read-only proxy minds the thread's own writes too. */
	u32 rest = flags & PLAIN_NC ? PLAIN_AGAIN : plain_quick(w, &h, addr, size, kind, site, flags & PLAIN_SHARED, false, flags & PLAIN_SAMPLE ? NEVER : ALWAYS);
	if (rest)
		plain_rest(w, addr, size, kind, site, flags | rest);
}

/* Do all lanes read one place?  Then one answers for the warp: 32 records of the
 * same read would only displace each other. */
FN bool warp_read(const struct head *h, u64 addr, u32 size, bool shared)
{
	if (__activemask() != ~0u || h->private_too)
		return false;
	u32 lo = (u32)addr ^ size << 24, hi = (u32)(addr >> 32);
	if (!__all_sync(~0u, lo == __shfl_sync(~0u, lo, 0)))
		return false;
	return shared || __all_sync(~0u, hi == __shfl_sync(~0u, hi, 0));
}

/* PLAIN_SAMPLE once in 64 times. */
FN u32 sample(const struct gsan_warp *w)
{
	struct rec2 who;
	who.lo = w->id << 17;
	return mostly(who) ? 0 : PLAIN_SAMPLE;
}

/* Several granules.  Lanes that read the same bytes share the work, each the
 * pieces that fall to it: others of the warp stand for it in the rest. */
SLOW void plain_wide(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	u32 n = (((u32)addr & 7) + size + 7) >> 3, k = 0, step = 1, lane = sreg_laneid();
	if (kind == GSAN_KIND_WARP_READ) {
		k = lane;
		step = 32;
	} else if (!kind && __activemask() == ~0u && !w->private_too) {
		u32 alike = __match_any_sync(~0u, addr ^ (u64)size << 56);
		step = __popc(alike);
		k = __popc(alike & ((1u << lane) - 1));
		if (step > 1)
			w->dropped = 1;
	}
	flags |= sample(w);
	ROLLED
	for (; k < n; k += step) {
		u64 a = k ? (addr & ~7ull) + 8 * k : addr;
		u32 end = ((u32)addr & 7) + size - 8 * k, from = k ? 0 : (u32)addr & 7, bytes = (end < 8 ? end : 8) - from;
		plain_one(w, a, bytes, kind, site, flags);
	}
}

/* A plain access of `size` bytes. */
FN void plain(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, bool shared, bool nc)
{
	bool wide = ((u32)addr & 7) + size > 8;
	u32 flags = (shared ? PLAIN_SHARED : 0) | (nc ? PLAIN_NC : 0);
	struct head h = head_of(w, shared);
	if (!(kind & 1) && warp_read(&h, addr, size, shared)) {
		if (!wide && sreg_laneid())
			return;
		kind = GSAN_KIND_WARP_READ;
	}
	if (wide) {
		plain_wide(w, addr, size, kind, site, flags);
		return;
	}
	if (shared && kind == 1 && size != 4 && size != 8) {
		plain_one(w, addr, size, kind, site, flags);
		return;
	}
	u32 rest = nc ? PLAIN_AGAIN : shared && kind == 1 ? write_quick(w, &h, addr, size, site) :
		   plain_quick(w, &h, addr, size, kind, site, shared, false, MOSTLY);
	if (rest)
		plain_rest(w, addr, size, kind, site, flags | rest);
}

FN bool is_shared(u64 addr) { return __isShared((const void *)addr); }
FN bool is_local(u64 addr) { return __isLocal((const void *)addr); }

FN u32 shared_offset(u64 addr) { return (u32)__cvta_generic_to_shared((const void *)addr); }

/* Global memory, so that ptxas need not find out where it lies. */
#define WARP(ctx) ((struct gsan_warp *)__cvta_global_to_generic(ctx))

API void __gsan_v1_read_g(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(plain(WARP(ctx), addr, GSAN_INFO_SIZE(info), 0, site, false, info & GSAN_INFO_NC););
}

API void __gsan_v1_write_g(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(plain(WARP(ctx), addr, GSAN_INFO_SIZE(info), 1, site, false, false););
}

API void __gsan_v1_read_s(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(plain(WARP(ctx), addr, GSAN_INFO_SIZE(info), 0, site, true, false););
}

API void __gsan_v1_write_s(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(plain(WARP(ctx), addr, GSAN_INFO_SIZE(info), 1, site, true, false););
}

API void __gsan_v1_read_x(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx)
		return;
	TOGETHER(
		if (is_shared(addr))
			__gsan_v1_read_s(ctx, shared_offset(addr), info, site);
		else if (!is_local(addr))
			__gsan_v1_read_g(ctx, addr, info, site);
	);
}

API void __gsan_v1_write_x(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx)
		return;
	TOGETHER(
		if (is_shared(addr))
			__gsan_v1_write_s(ctx, shared_offset(addr), info, site);
		else if (!is_local(addr))
			__gsan_v1_write_g(ctx, addr, info, site);
	);
}

/* Many bytes by one thread (discard, st.bulk). */
SLOW void range(struct gsan_warp *w, u64 addr, u64 bytes, u32 info, u32 site, bool shared)
{
	struct view v = view_of(w);
	u32 kind = info & GSAN_INFO_WRITE ? 1 : 0, lane = sreg_laneid();
	site += __gsan_site_base;
	ROLLED
	for (u64 end = addr + bytes; addr < end; addr = (addr & ~7ull) + 8) {
		u32 size = end - addr < 8 ? (u32)(end - addr) : 8;
		u64 *sh;
		u32 *st;
		if (shared ? shadow_shared(w, (u32)addr, &sh, &st) : shadow_global(addr, &sh, &st))
			one_granule(w, sh, st, record(v, lane, kind, bytes_at(addr, size)), site,
				    (addr & ~7ull) | (u64)shared);
		else
			fetch_add(&w->unbacked, 1);
	}
}

API void __gsan_v1_range_g(u64 ctx, u64 addr, u64 bytes, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(range(WARP(ctx), addr, bytes, info, site, false););
}

API void __gsan_v1_range_s(u64 ctx, u64 addr, u64 bytes, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(range(WARP(ctx), addr, bytes, info, site, true););
}

API void __gsan_v1_range_x(u64 ctx, u64 addr, u64 bytes, u32 info, u32 site)
{
	if (!ctx)
		return;
	bool shared = is_shared(addr);
	TOGETHER(
		if (!is_local(addr))
			range(WARP(ctx), shared ? shared_offset(addr) : addr, bytes, info, site, shared);
	);
}

/* A tile of rows that the whole warp accesses (wmma.load, wmma.store): which
 * lane has which element is not specified, so each row is put to one lane.
 * (PTX ISA, Warp Level Matrix Load Instruction) */
FN void rows(struct gsan_warp *w, u64 addr, u64 stride, u32 n, u32 info, u32 site, bool shared)
{
	u32 lane = sreg_laneid();
	if (lane < n)
		range(w, addr + lane * stride, GSAN_INFO_SIZE(info), info, site, shared);
}

API void __gsan_v1_rows_g(u64 ctx, u64 addr, u64 stride, u32 n, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(rows(WARP(ctx), addr, stride, n, info, site, false););
}

API void __gsan_v1_rows_s(u64 ctx, u64 addr, u64 stride, u32 n, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(rows(WARP(ctx), addr, stride, n, info, site, true););
}

API void __gsan_v1_rows_x(u64 ctx, u64 addr, u64 stride, u32 n, u32 info, u32 site)
{
	if (!ctx)
		return;
	bool shared = is_shared(addr);
	TOGETHER(
		if (!is_local(addr))
			rows(WARP(ctx), shared ? shared_offset(addr) : addr, stride, n, info, site, shared);
	);
}
