/* SPDX-License-Identifier: Apache-2.0
 *
 * tensor.cuh: tensor copies in tiles.  (PTX ISA, Tensors; cp.async.bulk.tensor: tile
 * mode, tile::gather4, tile::scatter4)
 *
 * A box is rows of contiguous bytes: what is outside of the tensor is zero in shared
 * memory, and nowhere in global memory.  With a swizzle, rows in shared memory are as
 * far apart as its span, and their pieces of 16 bytes change places.
 */
#define row_at          __gsan_v1_row_at
#define map_find        __gsan_v1_map_find
#define tensor_shared   __gsan_v1_tensor_shared
#define tensor_global   __gsan_v1_tensor_global
#define tensor_issue    __gsan_v1_tensor_issue

struct tile {
	const struct gsan_map *map;
	u32 inner, rows;        /* bytes of a row in shared memory, rows */
	u32 op;
	int c[5];
};

/* What a tensor map says, NULL if that is not known: it was made on the device, or of
 * a kind that is not modelled. */
SLOW const struct gsan_map *map_find(u64 map)
{
	const struct gsan_map *table = at<const struct gsan_map>(root()->maps);
	u64 key = 1;
	ROLLED
	for (u32 i = 0; i < 16; i++)
		key = GSAN_MAP_HASH(key, ((const u64 *)map)[i]);
	key |= 1;
	ROLLED
	for (u32 i = 0; i < GSAN_MAPS; i++) {
		const struct gsan_map *m = table + ((u32)key + i) % GSAN_MAPS;
		u64 k = *(const volatile u64 *)&m->key;
		if (k == key)
			return m;
		if (!k)
			break;
	}
	return 0;
}

FN u32 elements(const struct gsan_map *m, u32 i) { return (m->box[i] + m->every[i] - 1) / m->every[i]; }

/* Where row `r` of the tile is in global memory, ~0 if it is outside of the tensor. */
SLOW u64 row_at(const struct tile *t, u32 r)
{
	const struct gsan_map *m = t->map;
	u64 a = m->base;
	u32 left = r;
	if (t->op & GSAN_COPY_FOUR_ROWS) {
		int y = r == 0 ? t->c[1] : r == 1 ? t->c[2] : r == 2 ? t->c[3] : t->c[4];
		return y < 0 || (u32)y >= m->dim[1] ? ~0ull : a + (u64)y * m->stride[1];
	}
	ROLLED
	for (u32 i = 1; i < m->rank; i++) {
		u32 n = elements(m, i);
		int x = t->c[i] + (int)(left % n * m->every[i]);
		left /= n;
		if (x < 0 || (u32)x >= m->dim[i])
			return ~0ull;
		a += (u64)x * m->stride[i];
	}
	return a;
}

/* The tile in the shared memory of `slot`, at `at`. */
SLOW void tensor_shared(struct gsan_warp *w, const struct tile *t, u32 slot, u32 at, u64 rec, u32 site)
{
	u32 span = t->map->span, inner = t->inner, mask = span - 16;
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
SLOW void tensor_global(struct gsan_warp *w, const struct tile *t, u64 rec, u32 site)
{
	const struct gsan_map *m = t->map;
	u32 size = (u32)m->stride[0], step = m->every[0], n = elements(m, 0);
	ROLLED
	for (u32 r = 0; r < t->rows; r++) {
		u64 row = row_at(t, r);
		if (row == ~0ull)
			continue;
		long long from = t->c[0], to = from + (long long)n * step;
		if (step == 1) {
			from = from < 0 ? 0 : from;
			to = to > m->dim[0] ? m->dim[0] : to;
			if (from < to)
				async_range(w, w->slot, row + from * size, (u32)(to - from) * size, rec, ISSUE_PROXY, site);
			continue;
		}
		ROLLED
		for (; from < to; from += step)
			if (from >= 0 && from < m->dim[0])
				async_range(w, w->slot, row + from * size, size, rec, ISSUE_PROXY, site);
	}
}

SLOW void tensor_issue(struct gsan_warp *w, struct tile *t, u64 map, u64 shared, u64 mbar, u32 mask, u32 site)
{
	u32 op = t->op, how = GSAN_COPY_HOW(op), blocks = mask;
	u64 rec = 0, place = cluster_place(w, shared), at = op & GSAN_COPY_MBAR ? cluster_place(w, mbar) : 0;
	t->map = map_find(map);
	if (!t->map || place == NOWHERE || at == NOWHERE) {
		fetch_add(&w->unmodelled, 1);
		return;
	}
	t->inner = elements(t->map, 0) * (u32)t->map->stride[0];
	t->rows = 1;
	ROLLED
	for (u32 i = 1; i < t->map->rank; i++)
		t->rows *= elements(t->map, i);
	if (op & GSAN_COPY_FOUR_ROWS)
		t->rows = 4;
	if (!(op & GSAN_COPY_MBAR)) {
		struct gsan_groups *g = groups_now(w);
		u32 n = load(&g->bulk);
		if (n > GSAN_ASYNC_GROUP_MAX) {
			fetch_add(&w->unmodelled, 1);
			return;
		}
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
		tensor_shared(w, t, slot, (u32)place, now | ASYNC_WRITES, site);
		rec = rec ? rec : now;
	}
	if (rec)
		tensor_global(w, t, rec, site);
	else
		fetch_add(&w->unmodelled, 1);
}

API void __gsan_v1_tensor(u64 ctx, u64 map, u64 shared, u64 mbar, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u32 op, u32 mask, u32 site)
{
	if (!ctx)
		return;
	struct tile t;
	t.op = op;
	t.c[0] = (int)c0; t.c[1] = (int)c1; t.c[2] = (int)c2; t.c[3] = (int)c3; t.c[4] = (int)c4;
	TOGETHER(
		tensor_issue(WARP(ctx), &t, map, shared, mbar, mask, site + __gsan_site_base);
		perturb(WARP(ctx));
	);
}
