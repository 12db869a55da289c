/* SPDX-License-Identifier: Apache-2.0
 *
 * sweep.cuh: a posted copy as it mostly is: its lines are linked, and what stands there is known to be over.
 *
 * A warp that walks the copy takes a line for each of its lanes.  What all of them have to know is loaded at
 * once, the operations that stand there are asked of with all lanes (ghost.cuh), and the copy's
 * record takes the place of what it stands for.  A read of global memory comes beside other reads, or
 * finds that the line is full of them.  What is not as simple as that is left as it was, to work_walk.
 */
#define sweep_shared    __gsan_v1_sweep_shared
#define sweep_reads     __gsan_v1_sweep_reads
#define sweep_writes    __gsan_v1_sweep_writes

/* Where up to four records stand that a copy is compared with: those of a line, or of a granule. */
struct places { u64 *at; u32 apart; u64 none; u64 r[LINE_RECORDS]; };

FN u64 *place_at(const struct places *f, u32 j) { return f->at + j * f->apart; }

FN void places_now(const struct places *f, u64 *r)
{
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		r[j] = load64(place_at(f, j));
}

/* The copy's record `mine` goes to `place`, and what else it stands for goes, of `room`.  What came meanwhile sees the
 * record, or is seen here: then that is taken back. */
FN bool places_put(const struct places *f, u32 room, u32 place, u64 mine)
{
	u64 got[LINE_RECORDS], v[LINE_RECORDS], differs = 0, put = 0;
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		bool goes = (room >> j & 1) && (j == place || f->r[j] != f->none);
		got[j] = goes ? swap(place_at(f, j), f->r[j], j == place ? mine : f->none) : f->r[j];
	}
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		differs |= got[j] ^ f->r[j];
		put |= j == place ? got[j] ^ f->r[j] : 0;
	}
	places_now(f, v);
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		differs |= v[j] ^ (j == place ? mine : room >> j & 1 ? f->none : f->r[j]);
	if (differs && !put)
		swap(place_at(f, place), mine, f->none);
	return !differs;
}

/* What copy `p` accesses, as its side `side`, in the block's memory: for each lane that is `there` a line at `off`,
 * if `lines`, or a granule, and its neighbour the other one of 16 bytes.  Returns whether the calling lane's is
 * still to be walked.  By all 32. */
SLOW bool sweep_shared(struct gsan_post *p, u32 side, u32 off, bool there, bool lines)
{
	u32 lane = sreg_laneid(), free = 0, weak = 0, asks = 0, fine = 0, must = 0, clock[LINE_RECORDS];
	struct ghost_view g = ghost_of(p);
	u64 now = load64(&p->work.side[side].rec) | 255, at_row = (u64)((off >> 13) * p->w.nslots + (g.me.x >> 5)), mark = 0;
	u64 *sh = at<u64>(GSAN_SHADOW_SHARED + (at_row << 15) + (off & 0x1ff8) * 4);
	u32 *st = at<u32>(GSAN_SITES_SHARED + (at_row << 14) + (off & 0x1ff8) * 2);
	bool mine = there && off + (lines ? LINE_BYTES : 8) <= g.me.w, write = now & ASYNC_WRITES, good = mine;
	struct places f;
	f.at = lines ? sh + 2 : sh;
	f.apart = lines ? 4 : 1;
	f.none = lines ? LINE_NONE : 0;
	if (mine) {
		places_now(&f, f.r);
		mark = lines ? load64(sh + 1) : 0;
	}
	good &= !lines | is_mark(mark);
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		u32 bit = 1u << j;
		u64 r = f.r[j] = mine ? f.r[j] : f.none;
		bool none = r == f.none, threads = !none & (lines ? is_row(r) : GSAN_REC_KIND(r) < 2);
		bool op = !none & !threads & (lines ? of_line(r) : GSAN_REC_KIND(r) == GSAN_KIND_ASYNC);
		bool writes = threads ? lines ? row_writes(r) : (r & 0x100) != 0 : (r & ASYNC_WRITES) != 0;
		clock[j] = lines ? row_clock(r) : GSAN_REC_CLOCK(r);
		free |= none ? bit : 0;
		weak |= threads ? bit : 0;
		asks |= op ? bit : 0;
		must |= !none & (write | writes) ? bit : 0;
		good &= none | threads | op;
	}
	if (__ballot_sync(~0u, weak)) {
		u32 fenced = chosen(GSAN_CHOICE_proxy_war) ? 0 : ghost_fenced(&g);
#pragma unroll
		for (u32 j = 0; j < LINE_RECORDS; j++) {
			u32 upto = __shfl_sync(~0u, fenced, GSAN_REC_WARP(f.r[j]));
			fine |= (weak >> j & 1) && clock[j] <= upto ? 1u << j : 0;
		}
	}
	/* One operation after the other, wherever it stands. */
	ROLLED
	for (u32 rest = asks, lanes; (lanes = __ballot_sync(~0u, rest)); ) {
		u32 j = __ffs(rest) - 1, from = __ffs(lanes) - 1;
		u64 one = operation(j & 2 ? (j & 1 ? f.r[3] : f.r[2]) : j & 1 ? f.r[1] : f.r[0]), its = __shfl_sync(~0u, one, from) & ~255ull;
		bool over = ghost_saw(p, &g, its);
		/* work_walk would ask again (status_of). */
		if (over && !lane)
			said_note(p, its, side, STATUS_FINE);
#pragma unroll
		for (u32 k = 0; k < LINE_RECORDS; k++) {
			bool it = (asks >> k & 1) && (operation(f.r[k]) & ~255ull) == its;
			rest &= it ? ~(1u << k) : ~0u;
			fine |= it && over ? 1u << k : 0;
		}
	}
	/* A write stands for all that it comes behind, a read for other reads. */
	u32 room = free | (write ? fine : fine & ~must), site = p->work.site, place = 0;
	good = good && !(must & ~fine) && room;
	if (good && lines) {
		struct line l = { sh, st, LINE_BYTES / 8 };
		good = line_lock(l, mark);
		if (good) {
			/* Rows take the first places. */
			u32 word = site_word(site, whole(now));
			place = 31 - __clz(room);
#pragma unroll
			for (u32 c = 0; c < 8; c++)
				store(line_site(l, place, 0) + 8 * c, word);
			good = places_put(&f, room, place, in_line(now));
			fence();
			line_unlock(l, GSAN_MARK);
		}
	} else if (good) {
		place = place_in(room, first_place(now), true);
		good = places_put(&f, room, place, now);
		if (good)
			store(st + place, site_word(site, now));
	}
	meet_all(~0u);
	/* A piece is two granules, of which both are done or none. */
	bool both = __shfl_xor_sync(~0u, (int)good, 1);
	if (good && !both && !lines)
		swap(place_at(&f, place), now, 0);
	return there && !(good && (both || lines));
}

/* Where piece `i` of side `s` in global memory begins, if it is less than `last`. */
FN u64 global_piece(const struct gsan_post *p, const struct gsan_side *s, const struct tile_now *now, u32 i, u32 last, u32 *bytes)
{
	*bytes = 0;
	if (i >= last)
		return 0;
	return s->flags & SIDE_BOX ? tile_piece(&p->work.tile, now, i, bytes) : piece_of(s, LINE_GLOBAL, i, bytes);
}

/* Lines that a lane reads, by round, of which the first is the next one: registers have no numbers at run time. */
struct round_lines { u64 *sh[WALK_ROUNDS]; u32 columns[WALK_ROUNDS]; };

FN void next_round(struct round_lines *l, u64 *sh, u32 columns)
{
#pragma unroll
	for (u32 n = 0; n + 1 < WALK_ROUNDS; n++) {
		l->sh[n] = l->sh[n + 1];
		l->columns[n] = l->columns[n + 1];
	}
	l->sh[WALK_ROUNDS - 1] = sh;
	l->columns[WALK_ROUNDS - 1] = columns;
}

/* Of WALK_ROUNDS pieces for each lane from `first` on of side `s`, lines of global memory that the copy reads: what whole
 * grids read is full of such reads, mostly, else the read comes into the line (line_says).  Returns the others, by
 * round.  By all 32. */
SLOW u32 sweep_reads(struct gsan_post *p, const struct gsan_side *s, u32 first, u32 end)
{
	u32 lane = sreg_laneid(), left = 0, dropped = 0, last = s->pieces < end ? s->pieces : end;
	u64 mark[WALK_ROUNDS], full = full_mark(&p->w);
	struct round_lines l;
	struct tile_now now = tile_now(&p->work.tile);
	ROLLED
	for (u32 k = 1, i = first + lane; k < 1u << WALK_ROUNDS; k <<= 1, i += 32) {
		u32 bytes, *st;
		u64 from = global_piece(p, s, &now, i, last, &bytes), *at = 0;
		if (bytes && !(((u32)from | bytes) & 15) && !shadow_global(from, &at, &st))
			at = 0;
		left |= bytes ? k : 0;
		next_round(&l, at, ((1u << (bytes >> 4)) - 1) << ((u32)from >> 4 & 7));
	}
	meet_all(~0u);
#pragma unroll
	for (u32 k = 0; k < WALK_ROUNDS; k++)
		mark[k] = l.sh[k] ? load64(line_of(l.sh[k]).sh + 1) : 0;
#pragma unroll
	for (u32 k = 0; k < WALK_ROUNDS; k++) {
		bool drops = mark[k] == full;
		left &= drops ? ~(1u << k) : ~0u;
		l.sh[k] = drops ? 0 : l.sh[k];
		dropped += __popc(__ballot_sync(~0u, drops));
	}
	struct issue x;
	issue_begin(&x, &p->w, s->slot, s->rec, s->flags & 255, p->work.site);
	ROLLED
	for (u32 k = 1; k < 1u << WALK_ROUNDS && __ballot_sync(~0u, left >= k); k <<= 1) {
		u64 stands;
		u32 says = l.sh[0] ? LINE_AGAIN : LINE_OPEN;
		/* Who comes at one moment with many others finds a place, or that none is left, the next time. */
		ROLLED
		for (u32 tries = 0; tries < 4 && __ballot_sync(~0u, says == LINE_AGAIN); tries++) {
			if (says == LINE_AGAIN)
				says = line_says(&x, line_of(l.sh[0]), x.rec | l.columns[0], &stands);
			meet_all(~0u);
		}
		dropped += __popc(__ballot_sync(~0u, says == LINE_FULL));
		left &= (says == LINE_FULL) | (says == LINE_HAS_IT) ? ~k : ~0u;
		next_round(&l, 0, 0);
	}
	if (dropped && !lane)
		fetch_add(&warp_of(p->w.slot, p->w.id & 31)->evicted, dropped);
	meet_all(~0u);
	return left;
}

/* Likewise of lines that the copy writes, which are linked only where copies read them (lines_global). */
SLOW u32 sweep_writes(struct gsan_post *p, const struct gsan_side *s, u32 first, u32 end)
{
	u32 left = 0, last = s->pieces < end ? s->pieces : end;
	struct tile_now now = tile_now(&p->work.tile);
	struct issue x;
	issue_begin(&x, &p->w, s->slot, s->rec, s->flags & 255, p->work.site);
	x.post = p;
	x.side = (u32)(s - p->work.side);
	ROLLED
	for (u32 k = 1, i = first + sreg_laneid(); __ballot_sync(~0u, i < last); k <<= 1, i += 32) {
		u32 bytes, *st;
		u64 from = global_piece(p, s, &now, i, last, &bytes), *sh;
		bool linked = bytes && shadow_global(from, &sh, &st) && is_mark(load64(line_of(sh).sh + 1));
		left |= linked ? k : 0;
		bytes = linked ? 0 : bytes;
		meet_all(~0u);
		async_range(&x, ~0u, from, bytes);
	}
	return left;
}

/* Of pieces `first` to `end` (exclusive) of copy `p`, at most WALK_ROUNDS for each lane: those of the calling lane
 * that are to be walked; WALK_ROUNDS bits for each side.  By all 32 lanes. */
SLOW u32 sweep(struct gsan_post *p, u32 first, u32 end)
{
	u32 left = 0, lane = sreg_laneid();
	ROLLED
	for (u32 n = 0; n < p->work.sides; n++) {
		const struct gsan_side *s = p->work.side + n;
		u32 last = s->pieces < end ? s->pieces : end, rounds = 0;
		bool lines = s->flags & SIDE_LINES, shared = s->flags & ISSUE_SHARED;
		bool own = shared && s->slot == p->w.slot && !(s->flags & SIDE_BOX) && !(((u32)s->at | s->bytes) & 15);
		if (first >= last)
			continue;
		if (lines && !shared) {
			rounds = s->rec & ASYNC_WRITES ? sweep_writes(p, s, first, end) : sweep_reads(p, s, first, end);
		} else {
			ROLLED
			for (u32 i = first, bit = 1; i < last; i += 32, bit <<= 1) {
				u32 off = (u32)s->at & SHARED_WINDOW, piece = i + lane;
				bool walks = piece < last;
				if (own && lines)
					walks = sweep_shared(p, n, off + LINE_BYTES * piece, walks, true);
				/* Two lanes for each piece of 16 bytes. */
				ROLLED
				for (u32 k = 0; own && !lines && k < 32 && i + k < last; k += 16) {
					u32 half = i + k + (lane >> 1);
					bool v = sweep_shared(p, n, off + 16 * half + 8 * (lane & 1), half < last, false);
					v = __shfl_sync(~0u, (int)v, 2 * lane & 31);
					walks = lane >> 4 == k >> 4 ? v : walks;
				}
				rounds |= walks ? bit : 0;
			}
		}
		left |= rounds << WALK_ROUNDS * n;
	}
	meet_all(~0u);
	return left;
}
