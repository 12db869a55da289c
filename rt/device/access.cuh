/* SPDX-License-Identifier: Apache-2.0
 *
 * access.cuh: the shadow of one granule, and what the rewriter calls for weak
 * accesses.
 *
 * An access first puts its record in, then looks at the others: of two threads
 * that do so at the same time at least one sees the other.  What a new record
 * may replace is what it makes superfluous: whoever is not ordered after the
 * old access is not ordered after the new one either, and conflicts with it at
 * least as much.
 */

/* Would a race with an access of kind `old` also be one with `now`? */
FN bool covers(u32 now, u32 old)
{
	if (kind_observed(old))
		return false;
	if ((old & GSAN_KIND_WRITE) && !(now & GSAN_KIND_WRITE))
		return false;
	return kind_level(now) <= kind_level(old);
}

struct view {           /* what the fast path needs of the warp, in registers */
	u32 clock, floor, wfloor, id, start, base;
};

FN struct view view_of(const struct gsan_warp *w)
{
	uint4 a = *(const uint4 *)w, b = *((const uint4 *)w + 1);
	struct view v;
	v.clock = a.x; v.floor = a.y; v.wfloor = a.z;
	v.id = b.x; v.start = b.y; v.base = b.z;
	return v;
}

/* Could `r` be unordered with `rec` and conflict with it? */
FN bool suspect(struct view v, u64 r, u64 rec, bool shared, bool nc)
{
	if (!(r & rec & 255) || !((r | rec) & 0x100))
		return false;
	u32 clock = GSAN_REC_CLOCK(r), actor = (u32)(r >> 12) & 0x7fffff;
	bool same = actor >> 10 == v.id >> 5 && clock > v.start;
	if (nc && (r & 0x100))
		return same || clock >= v.base;
	if (same) {
		if (clock <= v.floor || (actor >> 5 == v.id && clock <= v.wfloor))
			return false;
		if (actor == ((u32)(rec >> 12) & 0x7fffff) && GSAN_REC_KIND(rec) != GSAN_KIND_WARP_READ &&
		    GSAN_REC_KIND(r) != GSAN_KIND_WARP_READ)
			return false;
	} else if (shared || clock < v.base) {
		return false;
	}
	u32 a = GSAN_REC_KIND(r), b = GSAN_REC_KIND(rec);
	return !(a >= 6 && a < 10 && b >= 6 && b < 10 && !((r ^ rec) & 255));
}

/* How willingly `r` gives way to `rec`: 5 to 3 lose nothing, 2 to 0 lose
 * history. */
FN u32 yields(struct view v, u64 r, u64 rec, bool shared)
{
	u32 clock = GSAN_REC_CLOCK(r), actor = (u32)(r >> 12) & 0x7fffff;
	u32 old = GSAN_REC_KIND(r), now = GSAN_REC_KIND(rec);
	bool same = actor >> 10 == v.id >> 5 && clock > v.start;
	if (!r || (!same && (shared || clock < v.base)))
		return 4;
	bool inside = now < 2 || now == GSAN_KIND_WARP_READ ? !(r & ~rec & 255) : !((r ^ rec) & 255);
	if (same && inside && covers(now, old)) {
		if (actor == ((u32)(rec >> 12) & 0x7fffff) && old != GSAN_KIND_WARP_READ)
			return 5;
		if (clock <= v.floor || (actor >> 5 == v.id && clock <= v.wfloor))
			return 3;
	}
	return kind_observed(old) ? 0 : old & GSAN_KIND_WRITE ? 1 : 2;
}

FN u64 half(uint4 v, bool high)
{
	return high ? (u64)v.w << 32 | v.z : (u64)v.y << 32 | v.x;
}

FN void check_granule(struct gsan_warp *w, struct view v, u64 *sh, u32 *st, u64 rec,
		      u32 site, u64 where)
{
	bool shared = where & 1, nc = where & 2;
	u32 kind = GSAN_REC_KIND(rec), prefer = (u32)__ffs((int)rec & 255) - 1 >= 4 ? 2 : 0;
	uint4 lo, hi;
	u64 r[4], replaced = 0;
	u32 pick = 0;

	ROLLED
	for (int tries = 0; ; tries++) {
		lo = load_cg(sh);
		hi = load_cg(sh + 2);
		r[0] = half(lo, false); r[1] = half(lo, true);
		r[2] = half(hi, false); r[3] = half(hi, true);
		u32 best = 0;
		pick = 4;
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			/* Recorded already, in this very interval? */
			if (!(rec & ~r[k] & 255) && !nc) {
				u32 old = GSAN_REC_KIND(r[k]);
				if (r[k] >> 12 == rec >> 12 && old != GSAN_KIND_WARP_READ &&
				    (old < 2 || !((r[k] ^ rec) & 255)) && (old == kind || covers(old, kind)))
					return;
				if (old == GSAN_KIND_WARP_READ && r[k] >> 17 == rec >> 17 && !(kind & 1))
					return;
			}
			u32 y = yields(v, r[k], rec, shared) * 2 + 1 + (k >> 1 == prefer >> 1);
			if (y > best) {
				best = y;
				pick = k;
			}
		}
		best = (best - 1) >> 1;
		if (best < 3) {
			/* History must go.  A read gives up itself more often
			 * than not; otherwise a read goes before a write. */
			u32 h = ((u32)(rec >> 12) ^ (u32)(rec >> 35) ^ (u32)where) * 2654435761u;
			w->evicted++;
			if (!(kind & 1) && (best < 2 || (h >> 28 & 3))) {
				pick = 4;
				break;
			}
			u32 k = h >> 30;
			if (yields(v, r[k], rec, shared) == best)
				pick = k;
		}
		replaced = pick == 0 ? r[0] : pick == 1 ? r[1] : pick == 2 ? r[2] : r[3];
		if (atomicCAS(sh + pick, replaced, rec) == replaced)
			break;
		if (tries >= 32) {
			w->evicted++;
			pick = 4;
			break;
		}
	}
	if (pick < 4) {
		store(st + pick, site << 8 | ((v.clock ^ sreg_laneid()) & 255));
		lo = load_cg(sh);
		hi = load_cg(sh + 2);
		r[0] = half(lo, false); r[1] = half(lo, true);
		r[2] = half(hi, false); r[3] = half(hi, true);
	}
	u32 bad = 0;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		u64 x = k == pick ? replaced : r[k];
		if (suspect(v, x, rec, shared, nc))
			bad |= 1u << k;
	}
	ROLLED
	while (bad) {
		u32 k = __ffs(bad) - 1;
		bad &= bad - 1;
		u64 x = k == pick ? replaced : k == 0 ? r[0] : k == 1 ? r[1] : k == 2 ? r[2] : r[3];
		judge(w, sh, st, k, x, rec, replaced, where, site);
	}
}

FN u64 record(struct view v, u32 lane, u32 kind, u32 bytes)
{
	return (u64)v.clock << 35 | (u64)v.id << 17 | lane << 12 | kind << 8 | bytes;
}

/* Shadow of a granule of global memory; false if there is none. */
FN bool shadow_global(u64 addr, u64 **sh, u32 **st)
{
	u64 a = addr & GSAN_WINDOW & ~7ull;
	u32 unit = (u32)(a >> 20);
	if (!(((const u32 *)GSAN_MAP)[unit >> 5] >> (unit & 31) & 1))
		return false;
	*sh = (u64 *)(GSAN_SHADOW + a * 4);
	*st = (u32 *)(GSAN_SITES + a * 2);
	return true;
}

FN bool shadow_shared(const struct gsan_warp *w, u32 off, u64 **sh, u32 **st)
{
	if (off >= w->shared_limit)
		return false;
	u64 row = (u64)(off >> 13) * w->nslots + w->slot;
	*sh = (u64 *)(GSAN_SHADOW_SHARED + (row << 15) + (off & 0x1ff8) * 4);
	*st = (u32 *)(GSAN_SITES_SHARED + (row << 14) + (off & 0x1ff8) * 2);
	return true;
}

SLOW void one_granule(struct gsan_warp *w, u64 *sh, u32 *st, u64 rec, u32 site, u64 where)
{
	check_granule(w, view_of(w), sh, st, rec, site, where);
}

/* The bytes of [addr, addr + size) in the granule that holds addr. */
FN u32 bytes_at(u64 addr, u32 size)
{
	u32 low = (u32)addr & 7;
	return size >= 8 - low ? 0xffu << low & 0xff : ((1u << size) - 1) << low;
}

/* A plain access of `size` bytes.  The common case is one granule; the rest of
 * a longer one goes out of line. */
FN void plain(struct gsan_warp *w, u64 addr, u32 size, u32 kind, u32 site, bool shared, bool nc)
{
	struct view v = view_of(w);
	u32 lane = sreg_laneid();
	u64 flags = (u64)shared | (u64)nc << 1;
	site += __gsan_site_base;

	/* One lane answers for a warp that reads one place: 32 records of the
	 * same read would only displace each other. */
	if (!(kind & 1) && __activemask() == ~0u && !(w->m_own | w->m_refs) &&
	    __all_sync(~0u, __shfl_sync(~0u, (u32)addr ^ size << 24, 0) == ((u32)addr ^ size << 24)) &&
	    (shared || __all_sync(~0u, __shfl_sync(~0u, (u32)(addr >> 32), 0) == (u32)(addr >> 32)))) {
		if (lane)
			return;
		kind = GSAN_KIND_WARP_READ;
	}
	ROLLED
	for (u32 left = size; left; ) {
		u32 bytes = bytes_at(addr, left), n = 8 - ((u32)addr & 7);
		u64 *sh;
		u32 *st;
		bool there = shared ? shadow_shared(w, (u32)addr, &sh, &st) : shadow_global(addr, &sh, &st);
		if (there)
			check_granule(w, v, sh, st, record(v, lane, kind, bytes), site, (addr & ~7ull) | flags);
		else
			w->unbacked++;
		if (left <= n)
			break;
		addr += n;
		left -= n;
	}
}

FN bool is_shared(u64 addr) { return __isShared((const void *)addr); }
FN bool is_local(u64 addr) { return __isLocal((const void *)addr); }

FN u32 shared_offset(u64 addr) { return (u32)__cvta_generic_to_shared((const void *)addr); }

#define WARP(ctx) ((struct gsan_warp *)(ctx))

API void __gsan_v1_read_g(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		plain(WARP(ctx), addr, GSAN_INFO_SIZE(info), 0, site, false, info & GSAN_INFO_NC);
}

API void __gsan_v1_write_g(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		plain(WARP(ctx), addr, GSAN_INFO_SIZE(info), 1, site, false, false);
}

API void __gsan_v1_read_s(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		plain(WARP(ctx), addr, GSAN_INFO_SIZE(info), 0, site, true, false);
}

API void __gsan_v1_write_s(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (ctx)
		plain(WARP(ctx), addr, GSAN_INFO_SIZE(info), 1, site, true, false);
}

API void __gsan_v1_read_x(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx || is_local(addr))
		return;
	if (is_shared(addr))
		__gsan_v1_read_s(ctx, shared_offset(addr), info, site);
	else
		__gsan_v1_read_g(ctx, addr, info, site);
}

API void __gsan_v1_write_x(u64 ctx, u64 addr, u32 info, u32 site)
{
	if (!ctx || is_local(addr))
		return;
	if (is_shared(addr))
		__gsan_v1_write_s(ctx, shared_offset(addr), info, site);
	else
		__gsan_v1_write_g(ctx, addr, info, site);
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
			w->unbacked++;
	}
}

API void __gsan_v1_range_g(u64 ctx, u64 addr, u64 bytes, u32 info, u32 site)
{
	if (ctx)
		range(WARP(ctx), addr, bytes, info, site, false);
}

API void __gsan_v1_range_s(u64 ctx, u64 addr, u64 bytes, u32 info, u32 site)
{
	if (ctx)
		range(WARP(ctx), addr, bytes, info, site, true);
}

API void __gsan_v1_range_x(u64 ctx, u64 addr, u64 bytes, u32 info, u32 site)
{
	if (!ctx || is_local(addr))
		return;
	bool shared = is_shared(addr);
	range(WARP(ctx), shared ? shared_offset(addr) : addr, bytes, info, site, shared);
}

/* A tile of rows that the whole warp accesses (wmma.load, wmma.store): which
 * lane has which element is not specified, so each row is put to one lane.
 * (PTX ISA, Warp Level Matrix Load Instruction) */
FN void rows(struct gsan_warp *w, u64 addr, u64 stride, u32 n, u32 info, u32 site, bool shared)
{
	u32 lane = sreg_laneid();
	if (lane < n)
		range(w, addr + lane * stride, GSAN_INFO_SIZE(info), info, site, shared);
}

API void __gsan_v1_rows_g(u64 ctx, u64 addr, u64 stride, u32 n, u32 info, u32 site)
{
	if (ctx)
		rows(WARP(ctx), addr, stride, n, info, site, false);
}

API void __gsan_v1_rows_s(u64 ctx, u64 addr, u64 stride, u32 n, u32 info, u32 site)
{
	if (ctx)
		rows(WARP(ctx), addr, stride, n, info, site, true);
}

API void __gsan_v1_rows_x(u64 ctx, u64 addr, u64 stride, u32 n, u32 info, u32 site)
{
	if (!ctx || is_local(addr))
		return;
	bool shared = is_shared(addr);
	rows(WARP(ctx), shared ? shared_offset(addr) : addr, stride, n, info, site, shared);
}
