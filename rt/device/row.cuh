/* SPDX-License-Identifier: Apache-2.0
 *
 * row.cuh: what a whole warp accesses of a line of shared memory (line.cuh), 16 bytes a lane in
 * order, is one record of that line.  Copies and products are compared with it in one question,
 * and it with them.  Whatever is not plainly ordered opens the line: then each lane's granules
 * decide as ever, and say who raced.
 */
#define ROW_TRIES       1000u   /* while others are at the line */

/* Does record `r` say what `now` does, of the same interval? */
FN bool row_stands(u64 r, u64 now)
{
	return is_row(r) && !((row_bits(r) ^ row_bits(now)) & ~1u) && !((r ^ now) & 0x3ffffull << 17) && (row_writes(r) || !row_writes(now));
}

/* What a record of the line is to a new row: */
enum row_says {
	ROW_STAYS,
	ROW_SPARE,              /* may go where there is no room: all threads of the block know of it */
	ROW_FREE,
	ROW_COVERED,            /* by the new one, which is of the same lanes */
	ROW_ASKS                /* perhaps a race */
};

/* A conflicting operation has to be over for each lane of the warp.  Mostly it is the last one. */
FN u32 row_after_operation(struct gsan_warp *w, u64 prev, bool write)
{
	u32 hash = over_hash(w, prev);
	if (load_ca32(&w->over) == hash)
		return ROW_STAYS;
	if ((write && chosen(GSAN_CHOICE_async_read_fence)) || !async_over(w, prev, OF_WARP))
		return ROW_ASKS;
	store_ca32(&w->over, hash);
	return ROW_STAYS;
}

FN u32 row_after(struct gsan_warp *w, u64 r, u64 now)
{
	bool write = row_writes(now), writes = row_writes(r), half = row_half(r) == row_half(now);
	u32 clock = row_clock(r);
	if (r == LINE_NONE)
		return ROW_FREE;
	if (!is_row(r))
		return write || (r & ASYNC_WRITES) ? row_after_operation(w, operation(r), write) : ROW_STAYS;
	if (clock <= w->start)
		return ROW_FREE;
	bool own = !((r ^ now) & 0x3ffffull << 17);
	if (half && (own || clock <= w->floor) && (write || (own && !writes)))
		return ROW_COVERED;
	if (clock <= w->floor)
		return writes ? ROW_STAYS : ROW_SPARE;
	if (own || !half || !(write || writes))
		return ROW_STAYS;
	return lane_knows(w, (row_weak(r, 0) & ~0xfffull) | GSAN_KIND_WARP_READ << 8, false, GSAN_CLOCK_MAX) ? ROW_STAYS : ROW_ASKS;
}

/* A row as it mostly is: the line is linked, and nothing that stands there or comes meanwhile has to be
 * asked of.  As row_access, in few instructions, without a call, and with three answers to wait for.  By
 * all 32 lanes, to which it says the same: one of ROW_*, or the record of an operation that stands beside
 * the row, which is in, and is yet to be asked of.  The first lanes have a record of the line each, the
 * others its mark, whose bytes are those of no row. */
SLOW u64 row_quick(struct gsan_warp *w, u32 addr, u32 info, u32 kind, u32 site, u32 value)
{
	/* clock floor wfloor options; id start launch_base shared_limit; slot nslots */
	uint4 a = load_ca(w), me = load_ca(&w->id), at_slot = load_ca(&w->slot);
	const struct gsan_block *b = at<struct gsan_block>(load_ca64(&w->block));
	u32 over = load_ca32(&w->over), private_too = load_ca32(&w->private_too), lane = sreg_laneid();
	u64 lanes = ROOT_NOW(lanes);
	u32 number = site + __gsan_site_base, first = addr - 16 * lane, off = addr & SHARED_WINDOW & ~(LINE_BYTES - 1);
	/* Lanes of another call may be here, too. */
	bool like = (first == __shfl_sync(~0u, first, 0)) & (site == __shfl_sync(~0u, site, 0));
	if (!__all_sync(~0u, like & !((first & 511) | private_too) & (off + LINE_BYTES <= me.w)))
		return ROW_NOT;
	bool here = lane < LINE_RECORDS, write = kind, may = may_link(b), in = false;
	u32 started = over_started(me.y), row = (off >> 13) * at_slot.y + at_slot.x, half = addr >> 9 & 1;
	/* Not by a multiplication that widens: ptxas 13.0 crashes at that here, for sm_120 and sm_121. */
	u64 at_row = kept((u64)row);
	u64 *place = at<u64>(GSAN_SHADOW_SHARED + (at_row << 15) + ((off & 0x1fff) * 4 + (here ? 32 * lane + 16 : 8)));
	u64 now = row_record(a.x, me.x, half, kind), r = load64(place), is = 0, done = ROW_DONE;
	if (!__all_sync(~0u, may))
		return ROW_NOT;
	if (write & (GSAN_INFO_VALUE(info) != 0))
		store_cg(&at<struct gsan_lane>(lanes)[(me.x << 5) + lane].stored, four(value_tag(number, a.x), addr, info, value));
	ROLLED
	for (;;) {
		u32 lo = (u32)r, hi = (u32)(r >> 32), clock = (hi & 0x1ffffff8) | (lo >> 14 & 7), differs = lo ^ (u32)now, other = hi ^ (u32)(now >> 32);
		bool is_op = lo & 255, writes = lo & 0x1000, conflicts = write | writes, own = !(differs >> 17 | (other & 7));
		bool same = !(differs & 0x2000), below = clock <= a.y, gone = !is_op & (clock <= me.y);         /* LINE_NONE's is 0 */
		bool stands = !(other | (differs & ~0x1000)) & (writes | !differs), line = (hi >= GSAN_ASYNC_CLOCK << 3) & ((lo & 0xf00) == GSAN_LINE);
		/* As row_after says, if not ROW_ASKS. */
		bool covered = !is_op & !gone & same & (own | below) & (write | (own & !writes));
		bool fine = (here & line & (in | !stands) & (is_op | below | own | !same | !conflicts)) | (!here & (r == GSAN_MARK));
		bool asks = here & is_op & (write | ((hi >> 3 & GSAN_ASYNC_WRITE) != 0)) & (over_of(r | GSAN_KIND_ASYNC << 8, started) != over) & (r != is);
		u32 covers = __ballot_sync(~0u, covered), room = covers ? covers : __ballot_sync(~0u, gone), ask = __ballot_sync(~0u, asks);
		room = room ? room : __ballot_sync(~0u, !is_op & below & !writes);
		if (!__all_sync(~0u, fine))
			return in ? ROW_BESIDE : ROW_OTHERWISE;
		if (in)
			return ask ? ROW_BESIDE : done;
		if (!room || (ask & (ask - 1)))
			return ROW_OTHERWISE;
		if (ask)
			done = __shfl_sync(~0u, r, __ffs(ask) - 1);
		u32 pick = room >> half & 1 ? half : __ffs(room) - 1;
		u64 found = r;
		if (lane == pick)
			found = swap(place, r, now);
		in = __all_sync(~0u, found == r);
		if (!in)
			return ROW_OTHERWISE;
		/* As row_weak has it. */
		if (lane == pick)
			store(at<u32>(GSAN_SITES_SHARED + (at_row << 14) + ((off & 0x1fff) * 2 + (pick & 1) * 16 + 4 + (pick >> 1) * 4)),
			      tagged(number, me.x << 17, a.x << 3 | me.x >> 15, what_weak(255, kind)));
		else if (covered)
			swap(place, r, LINE_NONE);
		is = lane == pick ? now : covered ? LINE_NONE : r;
		__syncwarp(~0u);
		/* The second look: mostly nothing else has come. */
		r = load64(place);
		if (__all_sync(~0u, r == is))
			return done;
	}
}

/* By all lanes of the warp, of which none knows more than the others; `addr` is of the first, `in`: its
 * record is in.  False: it is left to the granules.  As in a granule the record is put in, without a
 * lock, and what stands then is looked at: of two that come at one moment one sees the other. */
FN bool row_access(struct gsan_warp *w, u32 addr, u32 write, u32 site, bool in)
{
	u32 lane = sreg_laneid(), half = addr >> 9 & 1;
	uint4 a = load_ca(w), me = load_ca(&w->id);     /* clock floor wfloor options; id start launch_base shared_limit */
	u64 *sh;
	u32 *st;
	if ((addr & SHARED_WINDOW & ~(LINE_BYTES - 1)) + LINE_BYTES > me.w || !shadow_shared(w, addr, &sh, &st))
		return false;
	struct line l = line_of(sh);
	/* Each of the first lanes has a record of the line, the others have its mark. */
	bool mine = lane < LINE_RECORDS;
	u64 *place = mine ? line_record(l, lane) : l.sh + 1, now = row_record(a.x, me.x, half, write), was = now;
	u32 says = ROW_STAYS;
	ROLLED
	for (u32 tries = 0; tries < ROW_TRIES; tries++) {
		u64 r = load64(place), mark = __shfl_sync(~0u, r, LINE_RECORDS);
		if (!is_mark(mark)) {
			/* Its own record is in its granules, if there was one, and was looked at. */
			u32 linked = in ? LINK_NOT : line_link(w, ~0u, l, true, false);
			if (linked == LINK_NOT && !in && !lane)
				line_failed(own_block(w));
			meet_all(~0u);
			if (linked == LINK_NOT)
				break;
			continue;
		}
		/* It is opened, or linked, at this moment; or a copy comes. */
		if (mark != GSAN_MARK || !__all_sync(~0u, !mine || of_line(r)))
			continue;
		if (!in && __any_sync(~0u, row_stands(r, now)))
			return true;
		if (mine && r != was)
			says = r == now ? ROW_STAYS : row_after(w, r, now);
		was = r;
		meet_all(~0u);
		u32 covered = __ballot_sync(~0u, says == ROW_COVERED), free = __ballot_sync(~0u, says == ROW_FREE);
		u32 room = covered ? covered : free ? free : __ballot_sync(~0u, says == ROW_SPARE);
		if (__any_sync(~0u, says == ROW_ASKS) || (!in && !room)) {
			line_open(w, l.sh);
			break;
		}
		/* That was the second look. */
		if (in)
			return true;
		u32 pick = room >> half & 1 ? half : __ffs(room) - 1;
		bool done = false;
		if (lane == pick)
			done = swap(place, r, now) == r;
		in = __any_sync(~0u, done);
		if (done)
			store(line_site(l, pick, 0), site_word(site, row_weak(now, 0)));
		else if (in && says == ROW_COVERED)
			swap(place, r, LINE_NONE);
		meet_all(~0u);
	}
	/* Each lane's record is in its granules, and is compared with what stands there. */
	if (in) {
		beside_slow(w, addr + 16 * lane, 8, write, site, PLAIN_SHARED);
		beside_slow(w, addr + 16 * lane + 8, 8, write, site, PLAIN_SHARED);
	}
	return in;
}

/* What row_quick said is left to do; false: it is left to the granules. */
SLOW bool row_rest(struct gsan_warp *w, u32 addr, u32 write, u32 site, u64 said)
{
	/* An operation is mostly over, which is noted. */
	if (said > ROW_BESIDE) {
		bool asks = row_after_operation(w, operation(said), write) == ROW_ASKS;
		meet_all(~0u);
		if (!__any_sync(~0u, asks))
			return true;
		said = ROW_BESIDE;
	}
	return row_access(w, __shfl_sync(~0u, addr, 0), write, site + __gsan_site_base, said == ROW_BESIDE);
}
