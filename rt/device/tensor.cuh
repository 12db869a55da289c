/* SPDX-License-Identifier: Apache-2.0
 *
 * tensor.cuh: tensor copies.  (PTX ISA, Tensors; cp.async.bulk.tensor: tile mode,
 * tile::gather4, tile::scatter4, im2col mode)
 *
 * A box is rows of contiguous bytes: what is outside of the tensor is zero in shared
 * memory, and nowhere in global memory.  With a swizzle, rows in shared memory are as
 * far apart as its span, and their pieces of 16 bytes change places.
 */
#define row_at          __gsan_v1_row_at
#define row_place       __gsan_v1_row_place
#define tensor_shared   __gsan_v1_tensor_shared
#define tensor_global   __gsan_v1_tensor_global
#define tensor_issue    __gsan_v1_tensor_issue

struct tile {
	struct gsan_map m;
	u32 inner, rows;        /* bytes of a row in shared memory, rows */
	u32 op;
	int c[5];
	u32 offset[3];          /* im2col: of W, H, D */
};

/* PTX ISA, Tensors: every how many-th element; the innermost dimension has no steps. */
FN u32 elements(const struct gsan_map *m, u32 i) { return (m->box[i] + m->every[i] - 1) / m->every[i]; }

/* Where the row at coordinates `c` is in global memory, ~0 if it is outside of the
 * tensor. */
SLOW u64 row_at(const struct gsan_map *m, const int *c)
{
	u64 a = m->base;
	ROLLED
	for (u32 i = 1; i < m->rank; i++) {
		if (c[i] < 0 || (u32)c[i] >= m->dim[i])
			return ~0ull;
		a += (u64)c[i] * m->stride[i];
	}
	return a;
}

/* The coordinates of row `r` of the tile; of im2col rows are asked for in order. */
SLOW void row_place(struct tile *t, u32 r, int *c)
{
	const struct gsan_map *m = &t->m;
	u32 left = r, spatial = m->rank - 2, i = 0;
	if (t->op & GSAN_COPY_FOUR_ROWS) {
		c[1] = t->c[(r & 3) + 1];
		return;
	}
	ROLLED
	for (i = 1; i < m->rank; i++) {
		u32 n = elements(m, i);
		c[i] = t->c[i] + (m->im2col ? (i <= spatial ? (int)t->offset[i - 1] : 0) : (int)(left % n * m->every[i]));
		left /= n;
	}
	if (!m->im2col)
		return;
	/* (PTX ISA, im2col mode: pixels of the bounding box one after another) */
	ROLLED
	for (i = 1; i <= spatial; i++) {
		t->c[i] += (int)m->every[i];
		if (t->c[i] < (long long)m->dim[i] + m->upper[i - 1])
			break;
		t->c[i] = m->lower[i - 1];
	}
	if (i > spatial)
		t->c[m->rank - 1]++;
}

/* The tile in the shared memory of `slot`, at `at`. */
SLOW void tensor_shared(struct gsan_warp *w, const struct tile *t, u32 slot, u32 at, u64 rec, u32 site)
{
	u32 span = t->m.span, inner = t->inner, mask = span - 16;
	if (!span || inner == span) {
		async_range(w, slot, at, inner * t->rows, rec, ISSUE_PROXY | ISSUE_SHARED, site);
		return;
	}
	ROLLED
	for (u32 r = 0; r < t->rows; r++)
		ROLLED
		for (u32 k = 0; k < inner; k += 16) {
			u32 a = at + r * span + k;
			async_range(w, slot, a ^ (a >> 3 & mask), inner - k < 16 ? inner - k : 16, rec, ISSUE_PROXY | ISSUE_SHARED, site);
		}
}

/* What of it lies inside the tensor, in global memory. */
SLOW void tensor_global(struct gsan_warp *w, struct tile *t, u64 rec, u32 site)
{
	const struct gsan_map *m = &t->m;
	u32 size = (u32)m->stride[0];
	ROLLED
	for (u32 r = 0; r < t->rows; r++) {
		int c[5];
		row_place(t, r, c);
		u64 row = row_at(m, c);
		long long from = t->c[0], to = from + m->box[0];
		from = from < 0 ? 0 : from;
		to = to > m->dim[0] ? m->dim[0] : to;
		if (row != ~0ull && from < to)
			async_range(w, w->slot, row + from * size, (u32)(to - from) * size, rec, ISSUE_PROXY, site);
	}
}

SLOW void tensor_issue(struct gsan_warp *w, struct tile *t, u64 map, u64 shared, u64 mbar, u32 mask, u32 site)
{
	u32 op = t->op, how = GSAN_COPY_HOW(op), blocks = mask;
	u64 rec = 0, place = cluster_place(w, shared), at = op & GSAN_COPY_MBAR ? cluster_place(w, mbar) : 0;
	if (!map_known(map_hash(map), &t->m) || !t->m.im2col != !(op & GSAN_COPY_IM2COL) || place == NOWHERE || at == NOWHERE) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	t->inner = t->m.box[0] * (u32)t->m.stride[0];
	t->rows = t->m.im2col ? t->m.box[1] : 1;
	ROLLED
	for (u32 i = 1; i < t->m.rank && !t->m.im2col; i++)
		t->rows *= elements(&t->m, i);
	if (op & GSAN_COPY_FOUR_ROWS)
		t->rows = 4;
	if (!(op & GSAN_COPY_MBAR)) {
		struct gsan_groups *g = groups_now(w);
		u32 n = load(&g->bulk);
		if (n > GSAN_ASYNC_GROUP_MAX) {
			fetch_add(&w->unmodelled, 1);
			return;
		}
		copy_reads(w, (u32)place, site);
		map_read(w, map, group_record(self_of(w), GSAN_HOW_MAP, n), site);
		tensor_shared(w, t, w->slot, (u32)place, group_record(self_of(w), GSAN_HOW_BULK, n), site);
		tensor_global(w, t, group_record(self_of(w), how, n) | ASYNC_WRITES, site);
		return;
	}
	ROLLED
	for (u32 rank = 0; rank < 16; rank++) {
		u32 slot = (u32)(place >> 32);
		bool mine = op & GSAN_COPY_MULTICAST ? blocks >> rank & 1 : rank == 0;
		if (mine && (op & GSAN_COPY_MULTICAST))
			slot = peer_slot(w, rank);
		u64 to = op & GSAN_COPY_MULTICAST ? (u64)slot << 32 | (u32)at : at, now = 0;
		if (mine && slot != ~0u)
			init_fenced(w, to, site);
		ONE_BY_ONE(
			if (mine && slot != ~0u)
				now = copy_phase(w, to, t->inner * t->rows, site);
		);
		if (!now)
			continue;
		copy_stays(w, now, (u32)place, site);
		tensor_shared(w, t, slot, (u32)place, now | ASYNC_WRITES, site);
		rec = rec ? rec : now;
	}
	if (!rec) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	map_read(w, map, rec | MBAR_MAP, site);
	tensor_global(w, t, rec, site);
}

API void __gsan_v1_tensor(u64 ctx, u64 map, u64 shared, u64 mbar, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u32 op, u64 more, u32 site)
{
	if (!ctx)
		return;
	struct tile t;
	t.op = op;
	t.c[0] = (int)c0; t.c[1] = (int)c1; t.c[2] = (int)c2; t.c[3] = (int)c3; t.c[4] = (int)c4;
	t.offset[0] = (u32)(more >> 16) & 0xffff; t.offset[1] = (u32)(more >> 32) & 0xffff; t.offset[2] = (u32)(more >> 48);
	TOGETHER(
		tensor_issue(WARP(ctx), &t, map, shared, mbar, (u32)more & 0xffff, site + __gsan_site_base);
		perturb(WARP(ctx));
	);
}
