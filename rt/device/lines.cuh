/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.cuh: asynchronous operations access lines (line.cuh): their records come into linked ones, and
 * are compared with what stands there.
 */
#define lines_global    __gsan_v1_lines_global
#define line_put        __gsan_v1_line_put
#define line_judge      __gsan_v1_line_judge
#define row_status      __gsan_v1_row_status
#define rows_status     __gsan_v1_rows_status
#define line_pass       __gsan_v1_line_pass
#define lines_issue     __gsan_v1_lines_issue

/* What issue_status says of a line's record `prev`.  A product asks again and again of the
 * copies that filled what it reads: what it came behind once it stays behind. */
FN u32 line_status(struct issue *x, u64 *sh, u64 prev, u64 now)
{
	if (x->post)
		return status_of(x, sh, prev, now);
	struct gsan_lane *l = lane_of(x->w, sreg_laneid());
	u32 hash = over_hash(x->w, prev), fine = load_ca32(&l->fine), found = load_ca32(&l->found);
	if (fine == hash || found == hash)
		return STATUS_FINE;
	u32 v = status_of(x, sh, prev, now);
	if ((v & 255) == STATUS_FINE)
		store_ca32(&l->found, hash);
	return v;
}

/* The operation with record `now` is compared with the line's record `r`.  Does it stand for
 * that one as well? */
SLOW u32 line_judge(struct issue *x, struct line l, u64 r, u64 now, u64 addr)
{
	u64 prev = operation(r);
	u32 both = (u32)(prev & now) & 255, v = line_status(x, l.sh, prev, now), s = v & 255;
	bool write = now & ASYNC_WRITES, writes = prev & ASYNC_WRITES;
	if (s == STATUS_BAD && both && (write || writes) && !both_reduce(prev, now)) {
		u32 j = 0, last = 0, last_site = 0;
		ROLLED
		while (j + 1 < LINE_RECORDS && load64(line_record(l, j)) != r)
			j++;
		/* Either may be several operations of a group, in columns of their own. */
		ROLLED
		for (u32 m = both; m; m &= m - 1) {
			u32 c = __ffs(m) - 1, word = load(line_site(l, j, c)), site = site_of_column(x, c);
			if (word != last || site != last_site) {
				u32 psite = site_in(word, whole(prev));
				issue_report(x->w, v, psite ? psite : site_of(l.st, 1, whole(prev)), whole(prev), whole(now),
					     addr + 16 * c | is_shared_line(l) | x->owner, site);
			}
			last = word;
			last_site = site;
		}
	}
	return s == STATUS_GONE || (s == STATUS_FINE && !(prev & ~now & 255) && (write || !writes));
}

/* What issue_status says of the row of record `r`; STATUS_BAD: its lanes have to be asked one by
 * one, in their granules. */
SLOW u32 row_status(struct issue *x, u64 *sh, u64 r, u64 now)
{
	bool apart = row_writes(r) && chosen(GSAN_CHOICE_proxy_war);
	return apart ? STATUS_BAD : status_of_all(x, sh, row_weak(r, 0), now) & 255;
}

/* The same + 1 of the first of `rows`, places in r[], and << 8 of the second, if the calling lane finds
 * another of `group` that has none to ask for it: of a copy that was posted all know the same.  0: it
 * has none. */
SLOW u32 rows_status(struct issue *x, u32 group, u64 *sh, u32 rows, const u64 *r, u64 now)
{
	u32 lane = sreg_laneid(), from = lane, helper = lane;
	u32 needs = __ballot_sync(group, (rows & (rows - 1)) && x->post), idle = group & ~__ballot_sync(group, rows);
	ROLLED
	for (; needs && idle; needs &= needs - 1, idle &= idle - 1) {
		u32 a = __ffs(needs) - 1, b = __ffs(idle) - 1;
		from = lane == b ? a : from;
		helper = lane == a ? b : helper;
	}
	struct issue y;
	u64 first = rows ? r[__ffs(rows) - 1] : 0, second = rows & (rows - 1) ? r[__ffs(rows & (rows - 1)) - 1] : 0;
	bool helps = from != lane;
	u32 s = 0;
	meet_all(group);
	issue_of(&y, x, group, from);
	u64 its = __shfl_sync(group, second, from);
	sh = (u64 *)__shfl_sync(group, (u64)sh, from);
	now = __shfl_sync(group, now, from);
	if (helps || rows)
		s = row_status(helps ? &y : x, sh, helps ? its : first, now) + 1;
	meet_all(group);
	u32 other = __shfl_sync(group, s, helper);
	return !rows ? 0 : helper != lane ? s | other << 8 : s;
}

/* Is it a read by another block of this launch?  That one is hardly known to be over: nobody is
 * told of its phases. */
FN bool reads_elsewhere(struct gsan_warp *w, u64 r) { return GSAN_REC_SLOT(r) != w->slot && !async_gone(w, r); }

FN void line_records(struct line l, u64 *r)
{
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		r[j] = load64(line_record(l, j));
}

/* The operation's record goes into the line of each lane for which it is `locked`, and is
 * compared with what stands.  False: there is no room for it, or a row of which more is to be asked,
 * or that comes at this moment.  By all lanes of `group`, which meet before each call: apart, they
 * would wait for memory one after the other. */
SLOW bool line_put(struct issue *x, u32 group, bool locked, struct line l, u64 addr, u32 columns)
{
	u64 now = x->rec | columns, all = now, r[LINE_RECORDS];
	u32 free = 0, old_ones = 0, reads = 0, copies = 0, rows = 0, same = LINE_RECORDS;
	bool write = now & ASYNC_WRITES, put = locked, fine = true;
	if (locked) {
#pragma unroll
		for (u32 j = 0; j < LINE_RECORDS; j++)
			r[j] = load64(line_record(l, j));
#pragma unroll
		for (u32 j = 0; j < LINE_RECORDS; j++)
			rows |= is_row(r[j]) ? 1u << j : 0;
	}
	/* Rows first: if they have to be asked in granules, so has all else. */
	ROLLED
	while (__ballot_sync(group, rows)) {
		u32 j = __ffs(rows) - 1, k = __ffs(rows & (rows - 1)) - 1, said = rows_status(x, group, l.sh, rows, r, now);
		ROLLED
		for (u32 i = j; said; i = k, said >>= 8) {
			u32 s = (said & 255) - 1;
			bool writes = row_writes(r[i]);
			fine &= s != STATUS_BAD || !(write || writes);
			old_ones |= s == STATUS_GONE || (s == STATUS_FINE && columns == LINE_ALL && (write || !writes)) ? 1u << i : 0;
			rows &= rows - 1;
		}
		meet_all(group);
	}
	locked = put = locked && fine;
	ROLLED
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		bool judged = false;
		if (locked) {
			if (!of_line(r[j]))
				r[j] = line_load(l, j);
			if (r[j] == LINE_NONE) {
				free |= 1u << j;
			} else if (is_row(r[j])) {
				/* See above. */
			} else if (write || (r[j] & ASYNC_WRITES)) {
				judged = true;
			} else if (!((operation(r[j]) ^ now) & ~255ull)) {
				/* Another read of the same group. */
				same = j;
				all |= r[j] & 255;
			} else if (is_shared_line(l) || !reads_elsewhere(x->w, r[j])) {
				reads |= 1u << j;
				copies |= async_what(r[j]) & GSAN_ASYNC_MBAR ? 1u << j : 0;
			}
		}
		meet_all(group);
		if (judged)
			old_ones |= line_judge(x, l, r[j], now, addr) << j;
		meet_all(group);
	}
	/* Reads do not mind each other: they are asked of if there is little room, those whose
	 * phases are not remembered for long somewhat earlier. */
	u32 asked = !locked || __popc(free) > 2 ? 0 : __popc(free) > 1 ? copies : reads;
	ROLLED
	while (__ballot_sync(group, asked)) {
		if (asked) {
			u32 j = __ffs(asked) - 1;
			asked &= asked - 1;
			if (line_judge(x, l, r[j], now, addr))
				old_ones |= 1u << j;
			else if ((r[j] & now & 255) && (line_status(x, l.sh, operation(r[j]), now) & 255) == STATUS_FINE)
				swap(line_record(l, j), r[j], r[j] & ~(now & 255));
		}
		meet_all(group);
	}
	if (locked && same == LINE_RECORDS) {
		/* Rows take the first places. */
		u32 room = free | old_ones;
		/* In global memory a read gives up itself. */
		if (!room && !write && !is_shared_line(l))
			fetch_add(&warp_of(x->w->slot, x->w->id & 31)->evicted, 1);
		put = room;
		locked = room || (!write && !is_shared_line(l));
		same = 31 - __clz(room);
		old_ones &= ~(1u << (same & 31));
	}
	if (put) {
		sites_put(x, l, same, now);
		bool late = swap(line_record(l, same), r[same], in_line(all)) != r[same];
		/* Others that it stands for are only in the way. */
		ROLLED
		for (u32 m = old_ones; m; m &= m - 1)
			swap(line_record(l, __ffs(m) - 1), r[__ffs(m) - 1], LINE_NONE);
		/* Rows come without the lock, and reads of global memory: who comes now sees the operation, who came
		 * is seen here. */
		if (is_shared_line(l) || write) {
			u64 v[LINE_RECORDS];
			line_records(l, v);
#pragma unroll
			for (u32 j = 0; j < LINE_RECORDS; j++)
				late |= v[j] != r[j] && j != same && v[j] != LINE_NONE &&
					(is_row(v[j]) ? write || row_writes(v[j]) : !is_shared_line(l));
		}
		/* It goes into granules, then, which do not know their own from another's. */
		if (late)
			swap(line_record(l, same), in_line(all), r[same]);
		locked = !late;
	}
	meet_all(group);
	return locked;
}

/* What a line says before it is locked; the last three to a read alone: */
enum { LINE_OPEN, LINE_ASKS, LINE_HAS_IT, LINE_FULL, LINE_AGAIN };

/* The mark of a line that is full of reads by blocks of this launch.  It says so to all that come
 * before one of those blocks leaves, whose slot another may take. */
FN u64 full_mark(const struct gsan_warp *w)
{
	struct gsan_block *b = own_block(w);
	u32 number = load(&launch_of(b)->finished) ^ b->launch_number * 2654435761u >> 12;
	return GSAN_MARK | (u64)((number | 1u << 20) & GSAN_ASYNC_GROUP_MAX) << 35;
}

/* Which of the reads by copies in a line of global memory are of blocks of this launch; the rest, of earlier
 * ones, is over.  As async_gone says, of all at once.  ~0: there is something else, or launches overlap. */
FN u32 live_reads(const struct gsan_warp *w, const u64 *r)
{
	const struct gsan_block *own = own_block(w);
	u32 launch = load_ca32(&own->launch_number), chain = load_ca32(&own->chain);
	u32 start[LINE_RECORDS], owner[LINE_RECORDS], first[LINE_RECORDS], number[LINE_RECORDS], live = 0;
	bool reads = launch == chain;
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		u32 slot = of_line(r[j]) ? GSAN_REC_SLOT(r[j]) : w->slot;
		const struct gsan_block *b = block_of(slot);
		const struct gsan_mbar *m = mbars_of(slot) + mbar_in(r[j]);
		number[j] = load(&b->launch_number);
		start[j] = load(&b->start);
		owner[j] = load(&m->start);
		first[j] = load(&m->first);
		reads &= r[j] == LINE_NONE || (of_line(r[j]) && async_what(r[j]) == GSAN_ASYNC_MBAR);
	}
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		live |= r[j] != LINE_NONE && number[j] == launch && owner[j] == start[j] &&
			((phase_in(r[j]) - first[j]) & GSAN_MBAR_PHASES) <= GSAN_MBAR_PHASES / 2 ? 1u << j : 0;
	return reads ? live : ~0u;
}

/* What a line says to an operation with record `now` before it is locked, and to a read alone: the same may stand
 * already.  A read of global memory beside none but reads comes without the lock, for which all blocks
 * that read the line would wait: it is put in, and what stands is looked at again, as who comes
 * with the lock does.  Or all places are taken by reads of this launch, of which none is worth more than
 * another. */
FN u32 line_says(struct issue *x, struct line l, u64 now, u64 *mark)
{
	u64 r[LINE_RECORDS], again;
	*mark = load64(l.sh + 1);
	if (now & ASYNC_WRITES)
		return is_mark(*mark) ? LINE_ASKS : LINE_OPEN;
	u64 stands = is_shared_line(l) ? 0 : full_mark(x->w);
	bool found = false, plain = true;
	line_records(l, r);
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		found |= !((r[j] ^ in_line(now)) & ~255ull) && !(now & ~r[j] & 255) && !is_row(r[j]);
	if (!is_mark(*mark))
		return LINE_OPEN;
	if (found && !x->product)
		return LINE_HAS_IT;
	if (*mark == stands)
		return LINE_FULL;
	if (is_shared_line(l) || !(async_what(now) & GSAN_ASYNC_MBAR))
		return LINE_ASKS;
	u32 live = live_reads(x->w, r), free = ~live & ((1u << LINE_RECORDS) - 1);
	if (live == ~0u)
		return LINE_ASKS;
	if (!free) {
		if (*mark != GSAN_MARK_LOCKED)
			swap(l.sh + 1, *mark, stands);
		return LINE_FULL;
	}
	/* Who comes at one moment begins at another place. */
	u32 turned = (free | free << LINE_RECORDS) >> x->slot % LINE_RECORDS, pick = (__ffs(turned) - 1 + x->slot) % LINE_RECORDS;
	u64 was = pick & 2 ? (pick & 1 ? r[3] : r[2]) : pick & 1 ? r[1] : r[0];
	if (*mark == GSAN_MARK_LOCKED || swap(line_record(l, pick), was, in_line(now)) != was)
		return LINE_AGAIN;
	sites_put(x, l, pick, now);
	again = load64(l.sh + 1);
	line_records(l, r);
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		plain &= r[j] == LINE_NONE || (of_line(r[j]) && !(r[j] & ASYNC_WRITES));
	if (plain && is_mark(again) && again != GSAN_MARK_LOCKED)
		return LINE_HAS_IT;
	swap(line_record(l, pick), in_line(now), LINE_NONE);
	return LINE_ASKS;
}

/* Reads of the lanes of `group` for which it is true, `full`, are in no line. */
FN void line_dropped(const struct issue *x, u32 group, bool full)
{
	u32 lanes = __ballot_sync(group, full);
	if (sreg_laneid() == __ffs(lanes) - 1)
		fetch_add(&warp_of(x->w->slot, x->w->id & 31)->evicted, __popc(lanes));
}

/* Of each lane for which it is true, `mine`: the operation accesses columns of the line at
 * `addr`.  Returns whether that is still to be done, as the line is not linked, or has no
 * room.  By all lanes of `group`. */
SLOW bool line_pass(struct issue *x, u32 group, bool mine, u64 *sh, u64 addr, u32 columns)
{
	bool left = mine;
	struct line l = line_of(sh);
	meet_all(group);
	ROLLED
	for (u32 tries = 0; __ballot_sync(group, mine); tries++) {
		bool locked = false, full = false;
		/* Blocks that read one line at one moment keep who has the lock from getting on, if all of them
		 * ask again and again. */
		if (tries)
			__nanosleep(is_shared_line(l) ? 100 : tries < 8 ? 500 * tries : 4000);
		if (mine) {
			u64 mark;
			u32 says = line_says(x, l, x->rec | columns, &mark);
			full = says == LINE_FULL;
			mine = says == LINE_ASKS || says == LINE_AGAIN;
			left = left && (mine || says == LINE_OPEN);
			locked = says == LINE_ASKS && line_lock(l, mark);
		}
		line_dropped(x, group, full);
		bool room = true;
		meet_all(group);
		if (__ballot_sync(group, locked))
			room = line_put(x, group, locked, l, addr, columns) || !locked;
		if (locked && room) {
			fence();
			line_unlock(l, GSAN_MARK);
			mine = left = false;
		}
		meet_all(group);
		if (__ballot_sync(group, !room))
			lines_spill(x->w, group, !room, l.sh);
		mine = mine && room;
		meet_all(group);
	}
	return left;
}

/* Lines of the shared memory of x->slot, one of each lane for which it is `mine`, of which
 * the operation accesses a run of columns.  What is not linked is linked if it can be (by the
 * block whose memory it is; `link`: what a copy filled), or done granule by granule, by all lanes together. */
SLOW void lines_issue(struct issue *x, u32 group, bool mine, u32 addr, u32 columns, bool link)
{
	u32 lane = sreg_laneid(), rank = __popc(group & ((1u << lane) - 1)), n = __popc(group);
	struct granule g;
	meet_all(group);
	bool there = mine && granule_at(x, &g, addr, (u64)addr + 8, load(&block_of(x->slot)->shared_limit));
	bool left = line_pass(x, group, there, g.sh, addr, columns);
	if (!__ballot_sync(group, mine && (left || !there)))
		return;
	struct gsan_block *b = block_of(x->slot);
	bool vacant = may_link(b);
	link = (link || vacant) && load(&b->opened) < LINE_OPENED && x->links;
	meet_all(group);
	if (mine && !there)
		fetch_add(&warp_of(x->w->slot, x->w->id & 31)->unbacked, LINE_BYTES / 8);
	meet_all(group);
	ROLLED
	for (u32 lanes = __ballot_sync(group, left); lanes; lanes &= lanes - 1) {
		u32 from = __ffs(lanes) - 1, start = __shfl_sync(group, addr, from), set = __shfl_sync(group, columns, from);
		u32 linked = LINK_NOT;
		u64 *sh = (u64 *)__shfl_sync(group, (u64)g.sh, from), as = __shfl_sync(group, (u64)(link ? x->links : 0), from);
		bool its = __shfl_sync(group, (int)vacant, from), far = as != __shfl_sync(group, (u64)x->w, from);
		if (as)
			linked = line_link((struct gsan_warp *)as, group, line_of(sh), its, far);
		meet_all(group);
		bool open = true;
		if (linked != LINK_NOT)
			open = line_pass(x, group, lane == from, g.sh, addr, columns);
		open = __shfl_sync(group, (int)open, from);
		if (linked != LINK_NOT && !open)
			continue;
		if (link && vacant && linked == LINK_NOT && lane == from)
			line_failed(b);
		/* Other lanes' operations may be others. */
		struct issue y;
		issue_begin(&y, (struct gsan_warp *)__shfl_sync(group, (u64)x->w, from), __shfl_sync(group, x->slot, from),
			    __shfl_sync(group, x->rec, from), __shfl_sync(group, x->flags, from), __shfl_sync(group, x->site, from));
		y.post = (struct gsan_post *)__shfl_sync(group, (u64)x->post, from);
		y.side = __shfl_sync(group, x->side, from);
		y.whose = __shfl_sync(group, x->whose, from);
		u32 wide = __popc(set), base = y.site;
		ROLLED
		for (u32 i = rank; __ballot_sync(group, i < 8 * wide); i += n) {
			u32 row = i / wide & 7, m = set;
			ROLLED
			for (u32 k = i % wide; k; k--)
				m &= m - 1;
			u32 c = __ffs(m) - 1;
			y.site = site_among(base, (u32)(y.whose >> 8 * c));
			async_range(&y, group, start + row * 128 + ((c ^ row) << 4), i < 8 * wide ? 16 : 0);
		}
		meet_all(group);
	}
}

/* Likewise of global memory, `bytes` bytes at `addr` within a line.  Returns whether it is
 * still to be done. */
SLOW bool lines_global(struct issue *x, u32 group, u64 addr, u32 bytes)
{
	u32 first = (u32)addr >> 4 & 7, columns = ((1u << (bytes >> 4)) - 1) << first;
	bool write = x->rec & ASYNC_WRITES, full = false;
	struct granule g;
	bool mine = bytes && !(((u32)addr | bytes) & 15) && granule_at(x, &g, addr, addr + bytes, 0);
	/* What whole grids read is full, mostly: one look. */
	if (mine && !write)
		full = load64(line_of(g.sh).sh + 1) == full_mark(x->w);
	line_dropped(x, group, full);
	if (!__ballot_sync(group, bytes && !full))
		return false;
	u32 opened = load(&own_block(x->w)->opened);
	bool left = line_pass(x, group, mine && !full, g.sh, addr & ~(u64)(LINE_GLOBAL - 1), columns);
	/* What copies write is mostly for threads to read. */
	bool link = left && !write && opened < LINE_OPENED;
	bool in = false;
	meet_all(group);
	if (link)
		in = line_link_one(x, line_of(g.sh), x->rec | columns);
	meet_all(group);
	bool still = line_pass(x, group, link && !in, g.sh, addr & ~(u64)(LINE_GLOBAL - 1), columns);
	return bytes && !full && (!mine || (link ? still : left));
}
