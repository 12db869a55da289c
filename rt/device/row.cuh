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

/* By all lanes of the warp, of which none knows more than the others; `addr` is of the first.  False:
 * it is left to the granules.  As in a granule the record is put in, without a lock, and what stands
 * then is looked at: of two that come at one moment one sees the other. */
SLOW bool row_access(struct gsan_warp *w, u32 addr, u32 write, u32 site)
{
	u32 lane = sreg_laneid(), half = addr >> 9 & 1;
	uint4 a = load_ca(w), me = load_ca(&w->id);     /* clock floor wfloor options; id start launch_base shared_limit */
	u64 *sh;
	u32 *st;
	if ((addr & SHARED_WINDOW & ~(LINE_BYTES - 1)) + LINE_BYTES > me.w || !shadow_shared(w, addr, &sh, &st))
		return false;
	struct line l = line_of(sh);
	/* Each of the first lanes has a record of the line, the others have its mark. */
	bool mine = lane < LINE_RECORDS, in = false;
	u64 *place = mine ? line_record(l, lane) : l.sh + 1, now = row_record(a.x, me.x, half, write), was = now;
	u32 says = ROW_STAYS;
	ROLLED
	for (u32 tries = 0; tries < ROW_TRIES; tries++) {
		u64 r = load64(place), mark = __shfl_sync(~0u, r, LINE_RECORDS);
		if (!is_mark(mark)) {
			/* Its own record is in its granules, if there was one, and was looked at. */
			u32 linked = in ? LINK_NOT : line_link(w, ~0u, l, true);
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
