/* SPDX-License-Identifier: Apache-2.0
 *
 * tensor.cuh: tensor copies.  (PTX ISA, Tensors; cp.async.bulk.tensor: tile mode,
 * tile::gather4, tile::scatter4, im2col mode)
 *
 * A box is rows of contiguous bytes: what is outside of the tensor is zero in shared
 * memory, and nowhere in global memory.  With a swizzle, rows in shared memory are as
 * far apart as its span, and their pieces of 16 bytes change places.
 *
 * With an interleaved layout (PTX ISA, Interleave layout: NC/8DHWC8, NC/16DHWC16) the
 * dimensions are W, H, D, C / slice and N: what lies along dimension 0 are slices, their
 * channels are in no dimension, and one of those of a pixel is copied, whatever the box
 * says.  Rows are slices, side by side in shared memory.
 */
#define row_at          __gsan_v1_row_at
#define row_place       __gsan_v1_row_place
#define tensor_issue    __gsan_v1_tensor_issue
#define tensor_all      __gsan_v1_tensor_all
#define form_enter      __gsan_v1_form_enter

/* PTX ISA, Tensors: every how many-th element; without slices the innermost dimension has
 * no steps. */
FN u32 elements(const struct gsan_map *m, u32 i)
{
	return m->slice && i + 2 == m->rank ? 1 : (m->box[i] + m->every[i] - 1) / m->every[i];
}

/* What tells where a matrix's pieces are.  each: how many a row has. */
struct tile_now { u64 base, apart, pitch; u32 rank, slice, im2col, op, inner, wide, high, every, each; int x, y; };

/* The innermost dimension that tells rows apart. */
FN u32 row_from(const struct gsan_map *m) { return m->slice ? 0 : 1; }

/* Where the row at coordinates `c` is in global memory, ~0 if it is outside of the
 * tensor. */
SLOW u64 row_at(const struct gsan_map *m, const int *c)
{
	u64 a = m->base;
	ROLLED
	for (u32 i = row_from(m); i < m->rank; i++) {
		if (c[i] < 0 || (u32)c[i] >= m->dim[i])
			return ~0ull;
		a += (u64)c[i] * m->stride[i];
	}
	return a;
}

/* The coordinates of row `r` of the tile. */
SLOW void row_place(const struct gsan_tile *t, u32 r, int *c)
{
	const struct gsan_map *m = &t->m;
	u32 from = row_from(m), spatial = m->rank - 3 + from;
	if (t->op & GSAN_COPY_FOUR_ROWS) {
		c[1] = t->c[(r & 3) + 1];
		return;
	}
	ROLLED
	for (u32 i = from; i < m->rank; i++) {
		int every = (int)m->every[i], at = t->c[i];
		if (!m->im2col) {
			u32 n = elements(m, i);
			c[i] = at + (int)(r % n) * every;
			r /= n;
			continue;
		}
		if (i > spatial) {
			c[i] = i + 1 < m->rank ? at : at + (int)r;
			continue;
		}
		/* (PTX ISA, im2col mode: pixels of the bounding box one after another) */
		int low = m->lower[i - from], end = (int)m->dim[i] + m->upper[i - from];
		u32 first = at < end ? (u32)(end - at + every - 1) / every : 1;
		u32 each = low < end ? (u32)(end - low + every - 1) / every : 1;
		bool past = r >= first;
		r -= past ? first : 0;
		c[i] = (past ? low + (int)(r % each) * every : at + (int)r * every) + (int)t->offset[i - from];
		r = past ? 1 + r / each : 0;
	}
}

/* Does the tile of a store lie inside of the tensor?  (No: it may.) */
FN bool tile_inside(const struct gsan_tile *t)
{
	const struct gsan_map *m = &t->m;
	bool inside = !m->im2col && !(t->op & GSAN_COPY_FOUR_ROWS);
	ROLLED
	for (u32 i = 0; i < m->rank; i++) {
		u32 last = i < row_from(m) ? m->box[i] - 1 : (elements(m, i) - 1) * m->every[i];
		inside &= t->c[i] >= 0 && (u64)t->c[i] + last < m->dim[i];
	}
	return inside;
}

/* Piece `i` of the tile at `at` in shared memory.  A load fills what is outside of the tensor, too; of
 * that a store takes nothing.  (PTX ISA, Tensors: out-of-boundary access) */
SLOW u64 tile_shared(const struct gsan_tile *t, u64 at, u32 i, u32 *bytes)
{
	const struct gsan_map *m = &t->m;
	u32 each = (t->inner + 15) >> 4, k = i % each << 4, pitch = m->slice ? m->slice : m->span ? m->span : t->inner;
	u32 a = (u32)at + i / each * pitch + k, end = t->inner - k < 16 ? t->inner : k + 16;
	a ^= m->span ? a >> 3 & (m->span - 16) : 0;
	*bytes = end - k;
	if (t->op & GSAN_COPY_MBAR)
		return a;
	int c[5];
	row_place(t, i / each, c);
	/* In bytes of the row: what there is of it. */
	long long first = m->slice ? 0 : (long long)t->c[0] * (long long)m->stride[0], width = m->slice ? m->slice : (long long)m->dim[0] * (long long)m->stride[0];
	u32 skip = first + k < 0 ? (u32)(-first - k < 16 ? -first - k : 16) : 0;
	long long left = width - first - k;
	u32 most = left < 0 ? 0 : left < end - k ? (u32)left : end - k;
	*bytes = row_at(m, c) == ~0ull || most < skip ? 0 : most - skip;
	return a + skip;
}

/* Do the tensor's rows begin at the same place of lines of global memory, or each at another? */
FN bool rows_alike(const struct gsan_map *m)
{
	u32 rank = load_any(&m->rank), apart = 0;
#pragma unroll
	for (u32 i = 1; i < 5; i++)
		apart |= i < rank ? (u32)load_any(&m->stride[i]) : 0;
	return !(apart & (LINE_GLOBAL - 1));
}

/* In one go. */
FN struct tile_now tile_now(const struct gsan_tile *t)
{
	const struct gsan_map *m = &t->m;
	struct tile_now n;
	n.base = load_any(&m->base); n.apart = load_any(&m->stride[0]); n.pitch = load_any(&m->stride[1]);
	n.rank = load_any(&m->rank); n.slice = load_any(&m->slice); n.im2col = load_any(&m->im2col); n.op = load_any(&t->op); n.inner = load_any(&t->inner);
	n.wide = load_any(&m->dim[0]); n.high = load_any(&m->dim[1]); n.every = load_any(&m->every[1]);
	n.x = (int)load_any((const u32 *)&t->c[0]); n.y = (int)load_any((const u32 *)&t->c[1]);
	/* A slice is aligned, and so inside of a line. */
	u32 lead = !rows_alike(m) ? LINE_GLOBAL - 1 : ((u32)n.base + (u32)n.x * (u32)n.apart) & (LINE_GLOBAL - 1);
	n.each = ((n.slice ? 0 : lead) + n.inner + LINE_GLOBAL - 1) / LINE_GLOBAL;
	return n;
}

/* Piece `i` of it in global memory, as far as that lies inside of the tensor: of a line. */
FN u64 tile_piece(const struct gsan_tile *t, const struct tile_now *n, u32 i, u32 *bytes)
{
	u32 size = (u32)n->apart, r = n->each == 1 ? i : i / n->each;
	u64 row;
	if (n->rank == 2 && !n->slice && !n->im2col && !(n->op & GSAN_COPY_FOUR_ROWS)) {
		int y = n->y + (int)(r * n->every);
		row = y < 0 || (u32)y >= n->high ? ~0ull : n->base + (u64)y * n->pitch;
	} else {
		int c[5];
		row_place(t, r, c);
		row = row_at(&t->m, c);
		/* Where rows are scattered to one place the operation writes it once: it is one, like a thread. */
		if (n->op & GSAN_COPY_FOUR_ROWS)
			for (u32 k = 0; k < r; k++)
				row = t->c[k + 1] == c[1] ? ~0ull : row;
	}
	/* In bytes of the row: the piece, and what there is. */
	long long first = n->slice ? 0 : (long long)n->x * size, end = first + n->inner;
	u32 lead = n->slice ? 0 : (u32)(row + first) & (LINE_GLOBAL - 1);
	long long a = first - lead + (i - r * n->each) * LINE_GLOBAL, b = a + LINE_GLOBAL, width = n->slice ? size : (long long)n->wide * size;
	first = first < 0 ? 0 : first;
	end = end > width ? width : end;
	a = a < first ? first : a;
	b = b > end ? end : b;
	bool there = row != ~0ull && a < b;
	*bytes = there ? (u32)(b - a) : 0;
	return there ? row + a : 0;
}

SLOW u64 tile_global(const struct gsan_tile *t, u32 i, u32 *bytes)
{
	struct tile_now n = tile_now(t);
	return tile_piece(t, &n, i, bytes);
}

/* The tile in the shared memory of `slot`, at `at`. */
FN void work_shared(struct gsan_warp *w, struct gsan_work *k, u32 slot, u32 at, u64 rec)
{
	const struct gsan_tile *t = &k->tile;
	u32 span = t->m.span, bytes = t->inner * t->rows;
	bool dense = !span || (t->m.slice ? !(bytes & (span - 1)) : t->inner == span);
	if (dense && ((t->op & GSAN_COPY_MBAR) || tile_inside(t)))
		work_range(w, k, slot, at, bytes, rec, ISSUE_PROXY | ISSUE_SHARED);
	else            /* gaps behind rows, slices that the swizzle moves out of the range, or rows cut off */
		work_side(k, slot, at, 0, (t->inner + 15) / 16 * t->rows, rec, ISSUE_PROXY | ISSUE_SHARED | SIDE_BOX);
}

/* In global memory, and the tensor map, if it is in global memory: nobody writes what is
 * in parameters or constants. */
FN void work_global(struct gsan_warp *w, struct gsan_work *k, u64 rec, u64 map, u64 map_rec)
{
	u64 *sh;
	u32 *st;
	if (!is_local(map) && !is_shared(map) && shadow_global(map, &sh, &st))
		work_range(w, k, w->slot, map, 128, map_rec, ISSUE_PROXY | ISSUE_MAP);
	work_side(k, w->slot, 0, 0, tile_now(&k->tile).each * k->tile.rows, rec, ISSUE_PROXY | SIDE_BOX | SIDE_LINES);
}

/* alone.cuh: the next copies by the map find there what tile `t` says of it. */
SLOW void form_enter(struct gsan_warp *w, u64 map, const struct gsan_tile *t);

SLOW void tensor_issue(struct gsan_warp *w, struct gsan_work *k, u64 map, u64 shared, u64 mbar, u32 mask)
{
	struct gsan_tile *t = &k->tile;
	u32 op = t->op, how = GSAN_COPY_HOW(op), site = k->site;
	u64 rec = 0, place = cluster_place(w, shared), at = op & GSAN_COPY_MBAR ? cluster_place(w, mbar) : 0;
	if (!map_known(map_hash(map), &t->m) || !t->m.im2col != !(op & GSAN_COPY_IM2COL) || place == NOWHERE || at == NOWHERE ||
	    (t->m.slice && (t->m.rank < 3 || (op & GSAN_COPY_FOUR_ROWS)))) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	if (t->m.slice)
		t->m.stride[0] = t->m.slice;
	t->inner = (t->m.slice ? 1 : t->m.box[0]) * (u32)t->m.stride[0];
	t->rows = t->m.im2col ? t->m.box[1] : 1;
	ROLLED
	for (u32 i = row_from(&t->m); i < t->m.rank && !t->m.im2col; i++)
		t->rows *= elements(&t->m, i);
	if (op & GSAN_COPY_FOUR_ROWS)
		t->rows = 4;
	form_enter(w, map, t);
	if (!(op & GSAN_COPY_MBAR)) {
		uint4 now;
		own_groups(w, load_ca(&w->id), &now);
		u32 n = now.z;
		if (n > GSAN_ASYNC_GROUP_MAX) {
			fetch_add(&w->unmodelled, 1);
			return;
		}
		copy_reads(w, (u32)place, site);
		work_shared(w, k, w->slot, (u32)place, group_record(self_of(w), GSAN_HOW_BULK, n));
		work_global(w, k, group_record(self_of(w), how, n) | ASYNC_WRITES, map, group_record(self_of(w), GSAN_HOW_MAP, n));
		work_issue(w, k, w->slot, 0);
		return;
	}
	u32 bytes = t->inner * t->rows;
	if (!(op & GSAN_COPY_MULTICAST)) {
		init_fenced(w, at, site);
		ONE_BY_ONE(rec = copy_phase(w, at, bytes, (u32)place, site););
		if (!rec) {
			fetch_add(&w->unmodelled, 1);
			return;
		}
		if (rec & MBAR_PEER)
			copy_stays(w, rec, (u32)place, site);
		work_shared(w, k, (u32)(place >> 32), (u32)place, rec | ASYNC_WRITES);
		work_global(w, k, rec, map, rec | MBAR_MAP);
		work_issue(w, k, GSAN_REC_SLOT(rec), 0);
		return;
	}
	/* Of a pair hears who has the parity of the rank where the mbarrier lies (PTX ISA,
	 * "cp.async.bulk.tensor"). */
	struct dests d;
	u32 odd = op & GSAN_COPY_PAIR ? (u32)(cluster_offset(mbar) >> 32) & 1 : 0;
	dests_find(w, &d, mask, bytes, (u32)place, (u32)at, op & GSAN_COPY_PAIR, odd, site);
	rec = dests_read(&d);
	if (rec)
		work_global(w, k, rec, map, rec | MBAR_MAP);
	posted source = work_issue(w, k, w->slot, 0);
	bool any = false;
	ROLLED
	for (u32 rank = 0; rank < 16; rank++) {
		if (!d.rec[rank])
			continue;
		any = true;
		work_begin(k, site);
		work_shared(w, k, d.slot[rank], (u32)place, d.rec[rank] | ASYNC_WRITES);
		work_issue(w, k, GSAN_REC_SLOT(d.rec[rank]), source);
	}
	if (!any)
		fetch_add(&w->unmodelled, 1);
}

/* By all lanes that are together.  `first`: of a store it is known that it is the first of those alike. */
SLOW void tensor_all(struct gsan_warp *w, bool first, u64 map, u64 shared, u64 mbar, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u32 op,
		     u64 more, u32 site)
{
	alignas(16) struct gsan_work k;
	struct gsan_tile *t = &k.tile;
	work_begin(&k, site);
	t->op = op;
	t->c[0] = (int)c0; t->c[1] = (int)c1; t->c[2] = (int)c2; t->c[3] = (int)c3; t->c[4] = (int)c4;
	t->offset[0] = (u32)(more >> 16) & 0xffff; t->offset[1] = (u32)(more >> 32) & 0xffff; t->offset[2] = (u32)(more >> 48);
	TOGETHER(
		if (first || !one_store(op) || first_alike(w, map, shared, (u64)c0 << 32 | c1, (u64)c2 << 32 | c3, c4, site))
			tensor_issue(w, &k, map, shared, mbar, (u32)more & 0xffff);
		perturb(w);
	);
}
