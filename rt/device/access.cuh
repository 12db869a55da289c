/* SPDX-License-Identifier: Apache-2.0
 *
 * access.cuh: what the rewriter calls for weak accesses, and their quick ways through the
 * shadow.
 */

#define PLAIN_SHARED    1u
#define PLAIN_NC        2u      /* through the read-only proxy */
#define PLAIN_SAMPLE    4u      /* not to be left out */
#define PLAIN_AGAIN     8u      /* anything else that is not done yet */
#define PLAIN_BESIDE    16u     /* its record is in; something came beside it */
#define PLAIN_WHOLE     32u     /* by all 32 lanes, in one call */

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
	u32 group = together();
	bool marked = is_mark(rec_of(r[1])) || of_line(rec_of(r[2]));
	if (__any_sync(group, marked)) {
		if (marked)
			line_open(w, sh);
		meet(group);
		load_granule(sh, r);
	}
	/* It stays known to be over.  One lane's read for all of them is for others to know, too. */
	u32 over = kind < 2 ? load_ca32(&lane_of(w, lane)->over[kind & 1]) : 0;
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
			if (is_over(w, x, over)) {
				if (write && !(x.lo & 255 & ~want))
					free |= 1u << k;
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
		u32 first = usual_place(lo, kind, shared), pick = place_in(free, first, shared);
		if (shared && !write)
			pick = spare_writes(r, pick, free, first);
		struct rec2 old = pick & 2 ? (pick & 1 ? r[3] : r[2]) : (pick & 1 ? r[1] : r[0]);
		u64 found = swap(sh + pick, rec_of(old), rec);
		load_granule(sh, r);
		if (found != rec_of(old))
			continue;
		store(st + pick, site_word(site, rec));
		bad = 0;
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			u32 x = r[k].hi >= bound && k != pick && !is_over(w, r[k], over) ? r[k].lo : 0;
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
	u32 first = usual_place(q->now.lo, kind, shared), pick = place_in(free, first, shared);
	return shared && !write ? spare_writes(q->r, pick, free, first) : pick;
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
		u32 pick = clear ? usual_place(q->now.lo, kind, shared) : choose(q, w, kind, shared, red, often);
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
 * do not: many lanes may well read one place.  Nor do writes of halfwords: four lanes would have all four
 * places at one moment, and who looks then would not see a record that is out. */
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

/* async.cuh */
SLOW bool settled(struct gsan_warp *w, u64 r, u32 kind);

/* What plain_copied makes of a granule: put the record in, 0 to 3, or NOTHING or OTHERWISE; or
 * it depends on the operation of record `choice` - COPIED_ASKS. */
enum { COPIED_ASKS = 8 };

/* Which records are of account. */
FN u32 live_in(const struct rec2 r[4], u32 bound)
{
	return (r[0].hi >= bound) | (r[1].hi >= bound) << 1 | (r[2].hi >= bound) << 2 | (r[3].hi >= bound) << 3;
}

/* Is the record a weak one of the very lane? */
FN bool lanes_own(struct rec2 x, struct rec2 now) { return !((x.lo ^ now.lo) >> 12 | ((x.hi ^ now.hi) & 7) | (x.lo & 0xe00)); }

FN u32 copied_choose(u32 started, const struct rec2 r[4], struct rec2 now, u32 bound, u32 over)
{
	u32 kind = now.lo >> 8 & 1, want = now.lo & 255, bad = 0, older = 0, live = live_in(r, bound), free = live ^ 15;
	bool cover = false, stands = false;
	ROLLED
	for (u32 m = live; m; m &= m - 1) {
		u32 k = __ffs(m) - 1;
		struct rec2 x = rec_at(r, k);
		bool fits = !(x.lo & 255 & ~want), inside = !(want & ~x.lo), harm = kind || (x.lo & 0x100);
		if (is_async(x)) {
			if (over_of(rec_of(x), started) == over)
				free |= kind && fits ? 1u << k : 0;
			else if ((kind || (x.hi >> 3 & GSAN_ASYNC_WRITE)) && (x.lo & want))
				return COPIED_ASKS + k;
			continue;
		}
		if (lanes_own(x, now)) {
			stands |= x.hi == now.hi && inside && (!kind || (x.lo & 0x100));
			older |= fits && (kind || !(x.lo & 0x100)) ? 1u << k : 0;
			harm = false;
		}
		bad |= harm ? x.lo : 0;
		cover |= inside;
	}
	if ((bad & want) || stands)
		return OTHERWISE;
	if (older)
		return __ffs(older) - 1;
	if (!free)
		return !kind && cover ? NOTHING : OTHERWISE;
	u32 first = usual_place(now.lo, kind, true), pick = place_in(free, first, true);
	return kind ? pick : spare_writes(r, pick, free, first);
}

/* The record is in at `pick`: may what stands beside it conflict? */
FN bool copied_beside(u32 started, const struct rec2 r[4], struct rec2 now, u32 bound, u32 over, u32 pick)
{
	u32 bad = 0;
	ROLLED
	for (u32 m = live_in(r, bound) & ~(1u << pick); m; m &= m - 1) {
		struct rec2 x = rec_at(r, __ffs(m) - 1);
		bool async = is_async(x), harm = (now.lo & 0x100) || (async ? x.hi >> 3 & GSAN_ASYNC_WRITE : x.lo & 0x100);
		bad |= harm && !(async ? over_of(rec_of(x), started) == over : lanes_own(x, now)) ? x.lo : 0;
	}
	return bad & now.lo & 255;
}

/* Have two other lanes of the warp put in the same read, at this very moment?  One of them may be
 * he who writes there next, to whom his own says nothing. */
FN bool copied_alike(struct gsan_warp *w, const struct rec2 r[4], struct rec2 now)
{
	u32 found = 0;
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		found += !(((r[k].lo ^ now.lo) & 0xfffe0f00) | (r[k].hi ^ now.hi) | (now.lo & 255 & ~r[k].lo));
	bool enough = found > 1 && !(now.lo & 0x100);
	if (enough)
		w->dropped = 1;
	return enough;
}

/* A plain access within 16 bytes, or a granule, of the block's shared memory, where copies and
 * products come and go: the lane knows to be over what stands there, or finds that out, and no
 * other thread's access of account does.  Both granules are on their way at once.  True if that was it. */
SLOW bool plain_copied(struct gsan_warp *w, u32 addr, u32 size, u32 kind, u32 site, u32 over)
{
	uint4 a = load_ca(w), b = load_ca((const uint4 *)w + 1), c = load_ca(&w->slot);
	u32 off = addr & SHARED_WINDOW;
	u64 place = ((u64)((off >> 13) * c.y + c.x) << 13) | (off & 0x1ff8);
	u64 *sh = at<u64>(GSAN_SHADOW_SHARED + place * 4), rec = (u64)a.x << 35 | (u64)b.x << 17 | sreg_laneid() << 12 | kind << 8;
	u32 *st = at<u32>(GSAN_SITES_SHARED + place * 2), bound = HIGH(a.y + 1), more = (off & 7) + size, started = over_started(b.y);
	struct rec2 r[4], s[4], x, y;
	if (off >= b.w)
		return false;
	x.lo = (u32)rec | bytes_at(off, size);
	y.lo = (u32)rec | (more > 8 ? bytes_at(0, more - 8) : 0);
	x.hi = y.hi = (u32)(rec >> 32);
	bool first = true, second = more > 8;
	load_granule(sh, r);
	if (second)
		load_granule(sh + 4, s);
	ROLLED
	for (u32 tries = 0; tries < 6; tries++) {
		u32 i = first ? copied_choose(started, r, x, bound, over) : NOTHING;
		u32 k = second ? copied_choose(started, s, y, bound, over) : NOTHING;
		if (i == OTHERWISE || k == OTHERWISE)
			return false;
		if (i >= COPIED_ASKS || k >= COPIED_ASKS) {
			struct rec2 o = i >= COPIED_ASKS ? rec_at(r, i & 3) : rec_at(s, k & 3);
			if (!settled(w, rec_of(o), kind))
				return false;
			over = over_hash(w, rec_of(o));
			continue;
		}
		if ((first && i == NOTHING) || (second && k == NOTHING))
			w->dropped = 1;
		struct rec2 was = rec_at(r, i), had = rec_at(s, k);
		u64 got = 0, found = 0;
		first = i < NOTHING;
		second = k < NOTHING;
		/* The second look is on its way before the answer to the first is known. */
		if (first)
			got = swap(sh + i, rec_of(was), rec_of(x));
		if (second)
			found = swap(sh + 4 + k, rec_of(had), rec_of(y));
		if (first)
			load_granule(sh, r);
		if (second)
			load_granule(sh + 4, s);
		bool in = first && got == rec_of(was), entered = second && found == rec_of(had), beside = false;
		if (in) {
			store(st + i, site_word(site, rec_of(x)));
			beside = copied_beside(started, r, x, bound, over, i);
		}
		if (beside)
			judge_all(w, sh, st, 15, rec_of(x), 4, 0, (addr & ~7u) | 1, site);
		if (entered) {
			store(st + 4 + k, site_word(site, rec_of(y)));
			beside = copied_beside(started, s, y, bound, over, k);
		}
		if (entered && beside)
			judge_all(w, sh + 4, st + 4, 15, rec_of(y), 4, 0, ((addr & ~7u) + 8) | 1, site);
		/* Of lanes that read one place at one moment two are enough. */
		first = first && !in && !copied_alike(w, r, x);
		second = second && !entered && !copied_alike(w, s, y);
		if (!first && !second)
			return true;
	}
	return false;
}

/* What plain_copied is to know, the last operation that the lane knew to be over; 0: it is none
 * of its. */
FN u32 copied_over(const struct gsan_warp *w, u32 kind, u32 flags)
{
	bool maybe = kind < 2 && (flags & (PLAIN_SHARED | PLAIN_SAMPLE)) == PLAIN_SHARED;
	return maybe ? load_ca32(&lane_of(w, sreg_laneid())->over[kind]) : 0;
}

/* What is not done quickly. */
SLOW void plain_rest(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	u32 over = copied_over(w, kind, flags);
	site += __gsan_site_base;
	if (flags & PLAIN_BESIDE)
		beside_slow(w, addr, size, kind, site, flags);
	else if (over && plain_copied(w, (u32)addr, size, kind, site, over))
		return;
	else if ((flags & (PLAIN_NC | PLAIN_SAMPLE)) || !plain_again(w, addr, size, kind, site, flags))
		plain_slow(w, addr, size, kind, site, flags);
}

/* One granule, of any kind of access. */
FN void plain_granule(struct gsan_warp *w, const struct head *h, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	/* The read-only proxy minds the thread's own writes too. */
	u32 rest = flags & PLAIN_NC ? PLAIN_AGAIN : plain_quick(w, h, addr, size, kind, site, flags & PLAIN_SHARED, false, flags & PLAIN_SAMPLE ? NEVER : ALWAYS);
	if (rest)
		plain_rest(w, addr, size, kind, site, flags | rest);
}

/* The same, where no inlined copy is worth it. */
SLOW void plain_one(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	struct head h = head_of(w, flags & PLAIN_SHARED);
	plain_granule(w, &h, addr, size, kind, site, flags);
}

/* Do all lanes read one place?  Then one answers for the warp: 32 records of the
 * same read would only displace each other.  `group`: those of the call.  Others that are
 * here at the moment do not wait for who answers, and what they do behind their call (a fence,
 * say) would be older than their read. */
FN bool warp_read(const struct head *h, u64 addr, u32 size, bool shared, u32 group)
{
	if (group != ~0u || h->private_too)
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
 * pieces that fall to it: others of the warp stand for it in the rest.  Not where the
 * bytes of some lanes lie in one granule, and those do not come here. */
SLOW void plain_wide(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, u32 flags)
{
	u32 n = (((u32)addr & 7) + size + 7) >> 3, k = 0, step = 1, lane = sreg_laneid();
	if (kind == GSAN_KIND_WARP_READ) {
		k = lane;
		step = 32;
	} else if (!kind && flags & PLAIN_WHOLE && together() == ~0u && !w->private_too) {
		u32 alike = __match_any_sync(~0u, addr ^ (u64)size << 56);
		step = __popc(alike);
		k = __popc(alike & ((1u << lane) - 1));
		if (step > 1)
			w->dropped = 1;
	}
	flags |= sample(w);
	u32 over = step == 1 && size == 16 && !((u32)addr & 15) ? copied_over(w, kind, flags) : 0;
	if (over && plain_copied(w, (u32)addr, size, kind, site + __gsan_site_base, over))
		return;
	struct head h = head_of(w, flags & PLAIN_SHARED);
	ROLLED
	for (; k < n; k += step) {
		u64 a = k ? (addr & ~7ull) + 8 * k : addr;
		u32 end = ((u32)addr & 7) + size - 8 * k, from = k ? 0 : (u32)addr & 7, bytes = (end < 8 ? end : 8) - from;
		plain_granule(w, &h, a, bytes, kind, site, flags);
	}
}

/* row.cuh */
enum { ROW_NOT, ROW_DONE, ROW_OTHERWISE, ROW_BESIDE };
SLOW u64 row_quick(struct gsan_warp *w, u32 addr, u32 info, u32 write, u32 site, u32 value);
SLOW bool row_rest(struct gsan_warp *w, u32 addr, u32 write, u32 site, u64 said);

/* See plain: of 16 bytes a lane of shared memory, which may be a row.  It is a function of its own, or what
 * it needs in registers others would have to save. */
SLOW void plain_sixteen(struct gsan_warp *w, u32 group, u32 addr, u32 info, u32 kind, u32 site, u32 value)
{
	if (group == ~0u && together() == ~0u && may_link(own_block(w))) {
		u64 said = row_quick(w, addr, info, kind, site, value);
		if (said == ROW_DONE || (said && row_rest(w, addr, kind, site, said)))
			return;
	}
	struct head h = head_of(w, true);
	if (kind == 1)
		meet(group);
	else if (warp_read(&h, addr, 16, true, group))
		kind = GSAN_KIND_WARP_READ;
	if (kind == 1 && GSAN_INFO_VALUE(info))
		value_put(w, addr, info, site, value);
	plain_wide(w, addr, 16, kind, site, PLAIN_SHARED | (group == ~0u ? PLAIN_WHOLE : 0));
}

/* A plain access of the lanes `group`; `value`: what a write stores, as `info` says. */
FN void plain(struct gsan_warp *w, u32 group, u64 addr, u32 info, u32 kind, u32 site, u32 value, bool shared, bool nc)
{
	u32 size = GSAN_INFO_SIZE(info);
	bool wide = ((u32)addr & 7) + size > 8, valued = kind == 1 && GSAN_INFO_VALUE(info);
	u32 flags = (shared ? PLAIN_SHARED : 0) | (nc ? PLAIN_NC : 0);
	if (shared && size == 16) {
		plain_sixteen(w, group, (u32)addr, info, kind, site, value);
		return;
	}
	struct head h = head_of(w, shared);
	if (!(kind & 1) && warp_read(&h, addr, size, shared, group)) {
		if (!wide && sreg_laneid())
			return;
		kind = GSAN_KIND_WARP_READ;
	}
	bool quick = !wide && (!shared || kind != 1 || size == 4 || size == 8);
	u32 rest = !quick ? 0 : nc ? PLAIN_AGAIN : shared && kind == 1 ? write_quick(w, &h, addr, size, site) :
		   plain_quick(w, &h, addr, size, kind, site, shared, false, MOSTLY);
	/* One lane may have to know what another stores that has nothing left to do, and would go on
	 * alone. */
	if (kind == 1)
		meet(group);
	if (valued && (!quick || __any_sync(__activemask(), rest)))
		value_put(w, addr, info, site, value);
	if (!quick) {
		if (wide)
			plain_wide(w, addr, size, kind, site, flags | (group == ~0u ? PLAIN_WHOLE : 0));
		else
			plain_one(w, addr, size, kind, site, flags);
		return;
	}
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
		TOGETHER(plain(WARP(ctx), group_, addr, info, 0, site, 0, false, info & GSAN_INFO_NC););
}

API void __gsan_v1_write_g(u64 ctx, u64 addr, u32 info, u32 site, u32 value)
{
	if (ctx)
		TOGETHER(plain(WARP(ctx), group_, addr, info, 1, site, value, false, false););
}

API void __gsan_v1_read_s(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(plain(WARP(ctx), group_, addr, info, 0, site, 0, true, false););
}

API void __gsan_v1_write_s(u64 ctx, u64 addr, u32 info, u32 site, u32 value)
{
	if (ctx)
		TOGETHER(plain(WARP(ctx), group_, addr, info, 1, site, value, true, false););
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

API void __gsan_v1_write_x(u64 ctx, u64 addr, u32 info, u32 site, u32 value)
{
	if (!ctx)
		return;
	TOGETHER(
		if (is_shared(addr))
			__gsan_v1_write_s(ctx, shared_offset(addr), info, site, value);
		else if (!is_local(addr))
			__gsan_v1_write_g(ctx, addr, info, site, value);
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
 * lane has which element is not specified, so each row is put to one lane, the last one's
 * to the first: programs have lane i fill or read row i, and i is the lane that would race with
 * nobody there.  (PTX ISA, Warp Level Matrix Load Instruction) */
FN void rows(struct gsan_warp *w, u64 addr, u64 stride, u32 n, u32 info, u32 site, bool shared)
{
	u32 row = 31 - sreg_laneid(), left = row < n ? GSAN_INFO_SIZE(info) : 0;
	ROLLED
	for (addr += row * stride; left; ) {
		u32 size = left < 16 - ((u32)addr & 15) ? left : 16 - ((u32)addr & 15);
		plain_wide(w, addr, size, info & GSAN_INFO_WRITE ? 1 : 0, site, shared ? PLAIN_SHARED : 0);
		addr += size;
		left -= size;
	}
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
