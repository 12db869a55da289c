/* SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.cuh: the shared memory that wgmma reads through the async proxy.  (PTX ISA,
 * Asynchronous Warpgroup Level Matrix Instructions: Matrices in shared memory)
 *
 * Each warp of the warpgroup may know of other things.  Of matrices that are whole lines (line.cuh) each looks
 * at all.  Where that does not tell, or they lie otherwise, the 128 threads share what there is to ask, and
 * of a matrix of few lines each warp asks of all.
 */
#define wgmma_part      __gsan_v1_wgmma_part
#define products_judge  __gsan_v1_products_judge
#define products_ask    __gsan_v1_products_ask
#define products_part   __gsan_v1_products_part
#define wgmma_begin     __gsan_v1_wgmma_begin

#define LOOK_TRIES      16u     /* while others are at a line */

#define DESC_SWIZZLE(d) ((u32)((d) >> 62))

/* `rows` rows of `columns` bytes of the matrix, the calling thread's share of them. */
SLOW void wgmma_part(struct issue *x, u32 all, u64 d, bool mn, u32 rows, u32 columns)
{
	u32 warps = rows * columns < 128 * 16 ? 1 : 4;
	u32 layout = (DESC_SWIZZLE(d) ? 256u >> DESC_SWIZZLE(d) : 0) | (mn ? LAYOUT_MN : 0);
	matrix_read(x, all, d, layout, rows, columns, 2, (x->w->id & (warps - 1)) << 5 | sreg_laneid(), 32 * warps);
}

/* How many lines a matrix has, if those are whole columns of them, and which columns.  Major in
 * k, a product's slice of each row is two columns or four; major in m or n, each piece of 64
 * rows fills lines. */
struct matrix_lines { u32 lines, columns; };

FN struct matrix_lines matrix_lines(u64 d, bool mn, u32 rows, u32 bytes)
{
	struct matrix_lines m = { 0, 0 };
	u32 start = DESC_START(d), first = start >> 4 & 7, n = bytes >> 4, far = DESC_STRIDE(d) | (mn ? start | DESC_LEAD(d) : start & 0x380);
	if (DESC_SWIZZLE(d) != 1 || DESC_BASE(d) || (far & (LINE_BYTES - 1)) || (mn ? rows & 63 : first + n > 8))
		return m;
	m.lines = mn ? rows / 64 * (bytes / 16) : rows / 8;
	m.columns = mn ? LINE_ALL : ((1u << n) - 1) << first;
	return m;
}

FN u32 matrix_line_at(u64 d, bool mn, u32 rows, u32 i)
{
	u32 start = DESC_START(d) & ~(LINE_BYTES - 1), each = rows / 64;
	return mn ? start + i / each * DESC_STRIDE(d) + i % each * DESC_LEAD(d) : start + i * DESC_STRIDE(d);
}

/* All lanes of the warp come to these instructions together, whether they come here
 * together or not.  (PTX ISA, wgmma: .sync.aligned) */
FN u32 wgmma_lanes(struct gsan_warp *w)
{
	u32 all = together();
	if (all != ~0u) {
		all = load(&w->live);
		meet_all(all);
	}
	return all;
}

/* The warp's groups begin.  In a new block they go on from the last one's, all of a warpgroup
 * from one number: what one warp waited for is then known by its own. */
SLOW void wgmma_begin(struct gsan_warp *w, struct gsan_log *log)
{
	struct gsan_block *b = own_block(w);
	u32 before = 0;
	take_lock(&b->lock);
	ROLLED
	for (u32 i = 0; i < 4; i++) {
		struct gsan_log *other = log_of(((w->id & ~3u) + i) << 5);
		u32 last = load(load(&other->wgmma_start) == w->start ? &other->wgmma_before : &other->wgmma);
		before = last > before ? last : before;
	}
	store(&log->wgmma_before, before);
	store(&log->wgmma_waited, before);
	store(&log->wgmma, before + 1);
	fence();
	store(&log->wgmma_start, w->start);
	unlock(&b->lock);
}

/* Of the warp's log: start, the group of its next wgmma, the last one that it waited for. */
FN uint4 wgmma_now(struct gsan_warp *w, u32 start, struct gsan_log *log, u32 all)
{
	uint4 now = load_ca(&log->wgmma_start);
	if (now.x == start)
		return now;
	meet(all);
	if (sreg_laneid() == __ffs(all) - 1)
		wgmma_begin(w, log);
	meet(all);
	return load_cg(&log->wgmma_start);
}

/* A matrix that a product reads. */
struct operand { u64 d; u32 rows, bytes; bool mn, there; };

/* The `t`-th of `n` products: a, b, a of the next one, ... */
FN struct operand operand_of(u64 descs, u32 n, u32 op, u32 t)
{
	struct operand o;
	bool b = t & 1;
	o.d = 0;
	o.there = t < 2 * n && (b || (op & GSAN_WGMMA_A));
	if (o.there)
		asm volatile("ld.local.u64 %0, [%1];" : "=l"(o.d) : "l"(descs + 8 * t) : "memory");
	o.rows = b ? op & 0xffff : 64;
	o.bytes = b && (op & GSAN_WGMMA_SPARSE) ? 64 : 32;
	o.mn = op & (b ? GSAN_WGMMA_B_MN : GSAN_WGMMA_A_MN);
	return o;
}

/* The first bit of each of four bytes, by four bits. */
FN u32 by_column(u32 columns) { return columns * 0x204081u & 0x01010101u; }

/* What any of `group`, as all of it say it, has; wgmma is of sm_90a. */
FN u32 any_of(u32 group, u32 v)
{
#if __CUDA_ARCH__ >= 900
	v = __reduce_or_sync(group, v);
#endif
	return v;
}

/* What the records of a linked line are to a product: the place that its own goes to, or */
#define LOOK_HAS_IT     4u
#define LOOK_ASKS       5u

/* Mostly there are the copy that filled the line, which each lane knows to be over if it is one of
 * those that it found so (line_status), and products, which read as well.  With little room, where
 * line_put asks of reads, its own takes the place of an earlier one of the warpgroup that the warp
 * waited for.  Of all else more is to be asked. */
FN u32 line_look(u64 v[LINE_RECORDS], u64 now, u32 start, u32 fine, u32 found, u32 waited)
{
	u64 it = in_line(now), copy = 0;
	u32 columns = (u32)it & 255, kind = 0, high = ~0u, rows = 0, free = 0, writes = 0, copies = 0, old = 0, same = 0, own = 0;
	ROLLED
	for (u32 k = 1; k < 1u << LINE_RECORDS; k <<= 1) {
		u64 r = v[0], apart = r ^ it;
		u32 low = (u32)r, clock = GSAN_REC_CLOCK(r);
		bool ours = !(apart & ~((u64)GSAN_ASYNC_GROUP_MAX << 35 | 255)), this_one = !(apart & ~255ull), write = r & ASYNC_WRITES;
		v[0] = v[1];
		v[1] = v[2];
		v[2] = v[3];
		v[3] = r;
		kind |= (u32)apart;
		high &= clock;
		rows |= low & 255 ? 0 : k;
		free |= r == LINE_NONE ? k : 0;
		writes |= write ? k : 0;
		copy = write ? r : copy;
		copies |= clock & GSAN_ASYNC_MBAR ? k : 0;
		same |= this_one ? k : 0;
		own |= this_one ? low : 0;
		old |= ours & !(low & ~columns & 255) & ((clock & GSAN_ASYNC_GROUP_MAX) <= waited) ? k : 0;
	}
	u32 hash = over_of(operation(copy), over_started(start));
	if ((kind & 0xf00) || high < GSAN_ASYNC_CLOCK || (rows & ~free) || (writes & (writes - 1)) ||
	    (writes && hash != fine && hash != found))
		return LOOK_ASKS;
	if (same && !(columns & ~own))
		return LOOK_HAS_IT;
	u32 room = same ? same : __popc(free) > (copies & ~writes ? 2 : 1) ? free : old;
	return room ? 31 - __clz(room) : LOOK_ASKS;
}

/* The record of a product, which has none there yet, goes to place `k` of a line that is locked, if
 * nothing else has come there since it was looked at: that is seen behind it. */
FN bool line_takes(struct issue *x, struct line l, const u64 v[LINE_RECORDS], u64 now, u32 k)
{
	u64 was = k & 2 ? (k & 1 ? v[3] : v[2]) : k & 1 ? v[1] : v[0], r[LINE_RECORDS];
	u64 put = in_line(now) | (((was ^ in_line(now)) & ~255ull) ? 0 : was & 255);
	sites_put(x, l, k, now);
	u64 got = swap(line_record(l, k), was, put);
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		r[j] = load64(line_record(l, j));
	u64 differs = got ^ was;
#pragma unroll
	for (u32 j = 0; j < LINE_RECORDS; j++)
		differs |= j == k ? r[j] ^ put : r[j] ^ v[j];
	if (differs && got == was)
		swap(line_record(l, k), put, was);
	return !differs;
}

/* The lines of lanes for which it is `mine`, as any operation accesses them. */
SLOW void products_ask(struct gsan_warp *w, u32 all, bool mine, u32 addr, u32 columns, u64 whose, u64 rec, u32 site)
{
	struct issue x;
	issue_begin(&x, w, w->slot, rec, ISSUE_PROXY | ISSUE_SHARED, site);
	x.whose = whose;
	x.product = true;
	lines_issue(&x, all, mine, addr, columns, true);
}

/* Matrices of other layouts, of the lanes for which it is `mine`. */
SLOW void products_part(struct gsan_warp *w, u32 all, bool mine, u64 d, bool mn, u32 rows, u32 bytes, u64 rec, u32 site)
{
	struct issue x;
	issue_begin(&x, w, w->slot, rec, ISSUE_PROXY | ISSUE_SHARED, site);
	ROLLED
	for (u32 others = __ballot_sync(all, mine); others; others &= others - 1) {
		u32 from = __ffs(others) - 1;
		x.site = __shfl_sync(all, site, from);
		wgmma_part(&x, all, __shfl_sync(all, d, from), __shfl_sync(all, (int)mn, from), __shfl_sync(all, rows, from),
			   __shfl_sync(all, bytes, from));
	}
}

/* The shared memory that `n` products of a group read.  Slices of one stage lie in the same lines, so
 * those are gone through once for all of them, in rounds of as many as there are lanes.
 *
 * All four warps have the same rounds.  Each looks at all of its lines, for what it knows is not what
 * the others know; and the first that comes to a round puts the record, which is the warpgroup's, into
 * all of them: whoever comes to a line behind that sees it, and what came before the first one sees.
 * Where there is more to ask than a look tells, a warp asks about its share of the lines, and the first
 * one about the others, too, so that they have the record. */
SLOW void products_judge(struct gsan_warp *w, u32 all, u64 descs, u32 n, u32 op, u32 site)
{
	u32 lane = sreg_laneid(), rank = __popc(all & ((1u << lane) - 1)), lead = __ffs(all) - 1, most = __popc(all);
	struct operand o = operand_of(descs, n, op, rank);
	uint4 me = load_ca(&w->id);             /* id start launch_base shared_limit */
	u32 nslots = load_ca32(&w->nslots), warp = me.x & 3;
	u64 logs = ROOT(logs), lanes = ROOT(lanes);
	struct gsan_log *log = at<struct gsan_log>(logs) + me.x, *head = log - warp;
	const struct gsan_lane *known = at<struct gsan_lane>(lanes) + (((u64)me.x << 5) + lane);
	u32 last = load_ca32(&log->round), fine = load_ca32(&known->fine), found = load_ca32(&known->found);
	uint4 now = wgmma_now(w, me.y, log, all);
	u32 group = now.y;
	meet(all);
	if (group > GSAN_ASYNC_GROUP_MAX) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	u64 rec = group_record((me.x & ~3u) << 5, GSAN_HOW_WGMMA, group);
	struct matrix_lines m = { 0, 0 };
	if (o.there)
		m = matrix_lines(o.d, o.mn, o.rows, o.bytes);
	u32 start = DESC_START(o.d) & ~(LINE_BYTES - 1), apart = o.mn ? DESC_LEAD(o.d) : 0;
	u64 key = (u64)(start | o.mn) << 42 | (u64)(DESC_STRIDE(o.d) >> 10) << 34 | (u64)(apart >> 10) << 26 | o.rows << 8 | m.lines;
	u32 same = __match_any_sync(all, m.lines ? key : ~(u64)lane), number = rank >> 1, columns = 0;
	u64 whose = 0;
	/* The first of each set of lines has them. */
	u32 first = __ballot_sync(all, m.lines && lane == __ffs(same) - 1), few = __ballot_sync(all, m.lines < 4);
	ROLLED
	for (u32 f = first; f; f &= f - 1) {
		u32 has = same & f & -f ? m.columns : 0, set = any_of(all, has);
		u64 products = (u64)any_of(all, by_column(has >> 4) << number) << 32 | any_of(all, by_column(has & 15) << number);
		columns = has ? set : columns;
		whose = has ? products : whose;
	}
	struct issue x;
	x.site = site;
	ROLLED
	for (u32 round = 0, total = 1; round < total; round += most) {
		u32 r = round + rank, i = 0, from = lane;
		total = 0;
		ROLLED
		for (u32 f = first; f; f &= f - 1) {
			u32 has = __shfl_sync(all, m.lines, __ffs(f) - 1);
			if (r - total < has) {
				from = __ffs(f) - 1;
				i = r - total;
			}
			total += has;
		}
		if (!total)
			break;
		/* Numbers of rounds go on from group to group; there are enough of them in one. */
		u32 next = (last >> 10 == group ? last : group << 10) + 1;
		bool counted = next >> 10 == group, leads = true;
		last = counted ? next : last;
		if (lane == lead && counted) {
			leads = fetch_max(&head->rounds, next) < next;
			store_ca32(&log->round, next);
		}
		u64 d = __shfl_sync(all, o.d, from);
		u32 rows = __shfl_sync(all, o.rows, from), set = __shfl_sync(all, columns, from);
		bool mn = __shfl_sync(all, (int)o.mn, from), mine = r < total;
		x.whose = __shfl_sync(all, whose, from);
		u32 addr = matrix_line_at(d, mn, rows, i);
		u64 row = (u64)(addr >> 13) * nslots + (me.x >> 5);
		bool looks = mine && addr + LINE_BYTES <= me.w, left = mine, linked = false;
		struct line l;
		l.sh = at<u64>(GSAN_SHADOW_SHARED + (row << 15) + (addr & 0x1c00) * 4);
		l.st = at<u32>(GSAN_SITES_SHARED + (row << 14) + (addr & 0x1c00) * 2);
		l.granules = LINE_BYTES / 8;
		ROLLED
		for (u32 tries = 0; tries < LOOK_TRIES && __ballot_sync(all, looks); tries++) {
			u64 mark = 0, v[LINE_RECORDS];
			if (looks) {
				mark = load64(l.sh + 1);
#pragma unroll
				for (u32 j = 0; j < LINE_RECORDS; j++)
					v[j] = load64(line_record(l, j));
			}
			leads = __shfl_sync(all, (int)leads, lead);
			if (looks) {
				linked = is_mark(mark);
				u32 k = line_look(v, rec | set, me.y, fine, found, now.z);
				k = linked ? k : LOOK_ASKS;
				bool put = k < LOOK_HAS_IT && leads, locked = put && line_lock(l, mark);
				left = k == LOOK_ASKS;
				if (locked) {
					left = !line_takes(&x, l, v, rec | set, k);
					fence();
					line_unlock(l, GSAN_MARK);
				}
				looks = put && !locked;
			}
		}
		leads = __shfl_sync(all, (int)leads, lead);
		/* What others link now is done last. */
		bool share = few >> from & 1 || (i & 3) == warp, asks = (left || looks) && (share || leads), at_once = share || linked;
		ROLLED
		for (u32 k = 0; k < 2 && __ballot_sync(all, asks); k++) {
			products_ask(w, all, asks && at_once, addr, set, x.whose, rec, site);
			asks = asks && !at_once;
			at_once = true;
		}
	}
	bool other = o.there && !m.lines;
	if (__ballot_sync(all, other))
		products_part(w, all, other, o.d, o.mn, o.rows, o.bytes, rec, site + number);
}

/* Before the last of `n` products is issued, behind the first of which the warp has learnt nothing. */
API void __gsan_v1_wgmma(u64 ctx, u64 descs, u32 n, u32 op, u32 site)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 base = load_ca32(&__gsan_site_base), all = wgmma_lanes(w);
	products_judge(w, all, descs, n, op, site + base);
	meet(all);
}

API void __gsan_v1_wgmma_group(u64 ctx, u32 op, u32 pending)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	uint4 me = load_ca(&w->id);             /* id start */
	u32 clock = load(&w->clock), all = wgmma_lanes(w);
	struct gsan_log *log = at<struct gsan_log>(ROOT(logs)) + me.x;
	uint4 now = wgmma_now(w, me.y, log, all);
	u32 upto = now.y - 1 > pending ? now.y - 1 - pending : 0;
	meet(all);
	if (sreg_laneid() == __ffs(all) - 1) {
		if (op & GSAN_GROUP_COMMIT) {
			store(&log->wgmma, now.y + 1);
		} else if (upto > now.z) {
			store(&log->wgmma_seen, upto);
			if (!chosen(GSAN_CHOICE_wgmma_read_retire)) {
				wait_entered(log, all, GSAN_WAIT_WGMMA, now.z, upto, clock, 0);
				store(&log->wgmma_waited, upto);
			}
		}
	}
	meet(all);
}
