/* SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.cuh: the shared memory that wgmma reads through the async proxy.  (PTX ISA,
 * Asynchronous Warpgroup Level Matrix Instructions: Matrices in shared memory)
 *
 * The 128 threads of the warpgroup share the lines of both matrices.  Each warp may know of other things, so
 * that of a matrix of few lines each takes all.
 */
#define wgmma_part      __gsan_v1_wgmma_part
#define products_judge  __gsan_v1_products_judge
#define wgmma_begin     __gsan_v1_wgmma_begin

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
		u32 last = load(load(&other->wgmma_start) == w->start ? &other->products.before : &other->wgmma);
		before = last > before ? last : before;
	}
	store(&log->products.before, before);
	store(&log->wgmma_waited, before);
	store(&log->wgmma, before + 1);
	fence();
	store(&log->wgmma_start, w->start);
	unlock(&b->lock);
}

/* The group of the warp's next wgmma. */
FN u32 wgmma_now(struct gsan_warp *w, u32 all)
{
	struct gsan_log *log = log_of(w->id << 5);
	bool old = load(&log->wgmma_start) != w->start;
	meet(all);
	if (old && sreg_laneid() == __ffs(all) - 1)
		wgmma_begin(w, log);
	meet(all);
	return load(&log->wgmma);
}

/* Four bits for each of eight columns. */
FN u32 by_column(u32 columns)
{
	u32 v = (columns | columns << 12) & 0x000f000f;
	v = (v | v << 6) & 0x03030303;
	return ((v | v << 3) & 0x11111111) * 15;
}

/* A matrix that a product reads. */
struct operand { u64 d; u32 site, rows, bytes; bool mn, there; };

/* The `t`-th of the `n` products of `p`: a, b, a of the next one, ... */
FN struct operand operand_of(const struct gsan_products *p, u32 n, u32 t)
{
	struct operand o = { 0, 0, 64, 32, false, false };
	if (t >= 2 * n)
		return o;
	uint4 d = load_ca(p->desc[t >> 1]);
	u32 op = load_ca32(&p->op[t >> 1][0]);
	bool b = t & 1;
	o.d = b ? (u64)d.w << 32 | d.z : (u64)d.y << 32 | d.x;
	o.site = load_ca32(&p->op[t >> 1][1]);
	o.rows = b ? op & 0xffff : 64;
	o.bytes = b && (op & GSAN_WGMMA_SPARSE) ? 64 : 32;
	o.mn = op & (b ? GSAN_WGMMA_B_MN : GSAN_WGMMA_A_MN);
	o.there = b || (op & GSAN_WGMMA_A);
	return o;
}

/* The warp's share of the shared memory that `n` products of a group read.  Slices of one
 * stage lie in the same lines, so those are gone through once for all of them. */
SLOW void products_judge(struct gsan_warp *w, u32 all, const struct gsan_products *p, u32 n, u64 rec)
{
	u32 lane = sreg_laneid(), rank = __popc(all & ((1u << lane) - 1)), warp = w->id & 3;
	struct issue x;
	issue_begin(&x, w, w->slot, rec, ISSUE_PROXY | ISSUE_SHARED, 0);
	struct operand o = operand_of(p, n, rank);
	struct matrix_lines m = { 0, 0 };
	if (o.there)
		m = matrix_lines(o.d, o.mn, o.rows, o.bytes);
	u32 start = DESC_START(o.d) & ~(LINE_BYTES - 1), apart = o.mn ? DESC_LEAD(o.d) : 0;
	u64 key = (u64)(start | o.mn) << 42 | (u64)(DESC_STRIDE(o.d) >> 10) << 34 | (u64)(apart >> 10) << 26 | o.rows << 8 | m.lines;
	u32 same = __match_any_sync(all, m.lines ? key : ~(u64)lane);
	u32 columns = 0, whose = 0;
	ROLLED
	for (u32 todo = __ballot_sync(all, m.lines); todo; todo &= todo - 1) {
		u32 from = __ffs(todo) - 1, c = __shfl_sync(all, m.columns, from), k = __popc(all & ((1u << from) - 1));
		if (same >> from & 1) {
			whose |= (k >> 1) * 0x11111111u & by_column(c & ~columns);
			columns |= c;
		}
	}
	/* The first of each set of lines has them; its four warps share them, unless there are too few. */
	u32 first = __ballot_sync(all, m.lines && lane == __ffs(same) - 1), few = __ballot_sync(all, m.lines < 4), most = __popc(all);
	u32 mine = m.lines < 4 ? m.lines : (m.lines + 3 - warp) / 4;
	x.products = p;
	ROLLED
	for (u32 round = 0, total = 1; round < total; round += most) {
		u32 r = round + rank, i = 0, from = lane;
		total = 0;
		ROLLED
		for (u32 f = first; f; f &= f - 1) {
			u32 has = __shfl_sync(all, mine, __ffs(f) - 1);
			if (r - total < has) {
				from = __ffs(f) - 1;
				i = few >> from & 1 ? r - total : (r - total) * 4 + warp;
			}
			total += has;
		}
		u64 d = __shfl_sync(all, o.d, from);
		u32 rows = __shfl_sync(all, o.rows, from), set = __shfl_sync(all, columns, from);
		bool mn = __shfl_sync(all, (int)o.mn, from);
		x.whose = __shfl_sync(all, whose, from);
		if (total)
			lines_issue(&x, all, r < total, matrix_line_at(d, mn, rows, i), set, true);
	}
	/* What has other layouts. */
	x.products = 0;
	ROLLED
	for (u32 others = __ballot_sync(all, o.there && !m.lines); others; others &= others - 1) {
		u32 from = __ffs(others) - 1;
		u64 d = __shfl_sync(all, o.d, from);
		u32 rows = __shfl_sync(all, o.rows, from), bytes = __shfl_sync(all, o.bytes, from);
		x.site = __shfl_sync(all, o.site, from);
		wgmma_part(&x, all, d, __shfl_sync(all, (int)o.mn, from), rows, bytes);
	}
}

/* Before a product is issued; or, with GSAN_WGMMA_MORE, it is put by for that of the next one,
 * behind which the warp knows no more than now. */
API void __gsan_v1_wgmma(u64 ctx, u64 a, u64 b, u32 op, u32 site)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	/* In one go: most calls only note what is to be judged with the last. */
	u32 id = load_ca32(&w->id), base = load_ca32(&__gsan_site_base);
	u64 logs = ROOT(logs);
	u32 all = wgmma_lanes(w);
	struct gsan_products *p = &(at<struct gsan_log>(logs) + id)->products;
	u32 n = load_ca32(&p->n);
	bool more = (op & GSAN_WGMMA_MORE) && n + 1 < GSAN_PRODUCTS && all == ~0u;
	meet(all);
	if (sreg_laneid() == __ffs(all) - 1) {
		store_ca(p->desc[n], four((u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)));
		store_ca2(p->op[n], op, site + base);
		store_ca32(&p->n, more ? n + 1 : 0);
	}
	meet_all(all);
	if (more)
		return;
	/* One thread stands for the warpgroup: what is alike in neighbouring granules is
	 * judged once, see async_range. */
	u32 group = wgmma_now(w, all);
	if (group > GSAN_ASYNC_GROUP_MAX)
		fetch_add(&w->unmodelled, 1);
	else
		products_judge(w, all, p, n + 1, group_record((w->id & ~3u) << 5, GSAN_HOW_WGMMA, group));
	meet(all);
}

API void __gsan_v1_wgmma_group(u64 ctx, u32 op, u32 pending)
{
	if (!ctx)
		return;
	struct gsan_warp *w = WARP(ctx);
	u32 all = wgmma_lanes(w), n = wgmma_now(w, all);
	if (sreg_laneid() == __ffs(all) - 1) {
		struct gsan_log *log = log_of(w->id << 5);
		u32 from = load(&log->wgmma_waited), upto = n - 1 > pending ? n - 1 - pending : 0;
		if (op & GSAN_GROUP_COMMIT) {
			store(&log->wgmma, n + 1);
		} else if (upto > from) {
			store(&log->wgmma_seen, upto);
			if (!chosen(GSAN_CHOICE_wgmma_read_retire)) {
				wait_noted(w, all, GSAN_WAIT_WGMMA, from, upto, load(&w->clock), 0);
				store(&log->wgmma_waited, upto);
			}
		}
	}
	meet(all);
}
