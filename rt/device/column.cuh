/* SPDX-License-Identifier: Apache-2.0
 *
 * column.cuh: weak reads of a column of shared memory, which the rewriter makes of reads
 * that follow one another (elide.c): what a product of matrices does most.
 */

/* What live records of a granule say, their bytes and whether one writes. */
FN u32 standing(const u64 *sh, u32 bound)
{
	struct rec2 r[4];
	u32 all = 0;
	load_granule(sh, r);
	/* Two instructions each; of C++ it would be three. */
#pragma unroll
	for (u32 k = 0; k < 4; k++)
		asm("{\n\t.reg .pred p;\n\tsetp.ge.u32 p, %1, %2;\n\t@p or.b32 %0, %0, %3;\n\t}"
		    : "+r"(all) : "r"(r[k].hi), "r"(bound), "r"(r[k].lo));
	return all;
}

/* A column of `n` elements, an even number, in pairs, that each access bytes `want` of a
 * granule, the first at `addr`: which pair, from the i-th on and beginning with element `k`,
 * is the first with a read for which no others stand?  i | 256 and 512 for which of the two
 * | 1024 if there were others before | 2048 if a write stands; n where there is none.  It calls nothing, so that
 * everything stays in registers: ptxas keeps on the stack, wherever it is used, what lives
 * across any call. */
SLOW u32 column_settled(const struct gsan_warp *w, u32 addr, u32 stride, u32 n, u32 want, u32 k, u32 i)
{
	struct head h = head_of(w, true);
	/* Rows of 8 KiB lie apart, see abi.h. */
	u32 bound = HIGH(h.a.y + 1), apart = (h.c.y - 1) << 15, open = 0, left = 0;
	u64 base = GSAN_SHADOW_SHARED + ((u64)h.c.x << 15);
	if (addr + (n - 1) * stride >= h.b.w)
		return i | 3 << 8;
	ROLLED
	for (; i < n; i += 2) {
		u32 p = addr + k * stride, q = p + stride;
		u32 x = standing(at<u64>(base + (u64)(p >> 13) * apart + (u64)p * 4), bound);
		u32 y = standing(at<u64>(base + (u64)(q >> 13) * apart + (u64)q * 4), bound);
		if ((want & ~x) | (want & ~y) | ((x | y) & 0x100)) {
			open = ((want & ~x) | (x & 0x100) ? 1 : 0) | ((want & ~y) | (y & 0x100) ? 2 : 0);
			left |= open ^ 3;
			open |= (x | y) & 0x100 ? 8 : 0;
			break;
		}
		left = 1;
		k = k + 2 < n ? k + 2 : 0;
	}
	return i | open << 8 | (left ? 1024 : 0);
}

/* Puts in reads of the elements that `open` names (1: at `addr`, 2: one on), where nothing
 * stood a moment ago: at once, as in write_quick.  Another warp that was as quick has one
 * reader less.  Returns what is left, PLAIN_* of the first | of the second << 8.  It calls
 * nothing, see column_settled. */
SLOW u32 column_put(struct gsan_warp *w, u32 addr, u32 stride, u32 size, u32 site, u32 open)
{
	struct head h = head_of(w, true);
	u32 rest = 0;
	ROLLED
	for (u32 k = open & 1 ? 0 : 1; k <= open >> 1; k++) {
		struct quick q;
		u32 more = PLAIN_AGAIN;
		if (quick_place(&q, &h, addr + k * stride, size, 0, true)) {
			u32 pick = usual_place(q.now.lo, 0, true);
			u64 now = rec_of(q.now), found = exchange64(q.sh + pick, now);
			load_granule(q.sh, q.r);
			bool gone = (u32)(found >> 32) < q.bound;
			/* Of lanes that come together the last one's stands, and its site must. */
			if (gone || !((u32)found & (0xf00 | (~q.want & 255))))
				more = beside(&q, 0, site + k, true, false, pick, chosen(&q, pick) == now);
			/* A line's mark that was out for a moment may have been missed. (line.cuh) */
			else if (swap(q.sh + pick, now, found) != now || is_mark(found) || of_line(found))
				fetch_add(&w->evicted, 1);
			if (!gone)
				w->dropped = 1;
		}
		rest |= more << 8 * k;
	}
	return rest;
}

/* Reads of `n` elements of shared memory, `stride` bytes (a multiple of 8) apart, at
 * sites that follow one another.  Each warp begins at another element: what the
 * first have put in, the next find settled. */
FN void column(struct gsan_warp *w, u32 group, u32 addr, u32 stride, u32 n, u32 size, u32 site)
{
	struct head h = head_of(w, true);
	u32 lane = sreg_laneid(), left = 0;
	if (warp_read(&h, addr, size, true, group)) {
		if (lane < n)
			plain_one(w, addr + lane * stride, size, GSAN_KIND_WARP_READ, site + lane, PLAIN_SHARED | sample(w));
		return;
	}
	/* Since the last barrier of the block something was released, and reads before that are
	 * not reads behind it.  Lanes that read the same share the work, as in plain_wide. */
	if (h.a.x > h.a.y + 1) {
		bool shares = group == ~0u && !agreed(group, h.private_too);
		u32 alike = shares ? __match_any_sync(~0u, addr) : 1u << lane, step = __popc(alike);
		if (step > 1)
			w->dropped = 1;
		/* What copies bring is hardly quick. */
		u32 over = copied_over(w, 0, PLAIN_SHARED);
		ROLLED
		for (u32 k = __popc(alike & ((1u << lane) - 1)); k < n; k += step)
			if (over)
				plain_rest(w, addr + k * stride, size, 0, site + k, PLAIN_SHARED | PLAIN_AGAIN);
			else
				plain_one(w, addr + k * stride, size, 0, site + k, PLAIN_SHARED);
		return;
	}
	/* Two halves of a warp that read the same share the work, and stand for each other. */
	if (!(n & 3) && group == ~0u && !h.private_too && __all_sync(~0u, addr == __shfl_xor_sync(~0u, addr, 16))) {
		n >>= 1;
		if (lane & 16) {
			addr += n * stride;
			site += n;
		}
		left = 1024;
	}
	/* One element in 256 is put in whatever stands for it, and the odd one. */
	u32 never = (clock32() >> 3 ^ w->id) & 255;
	if (never < n)
		plain_one(w, addr + never * stride, size, 0, site + never, PLAIN_SHARED | PLAIN_SAMPLE);
	if (n & 1)
		plain_one(w, addr + (n - 1) * stride, size, 0, site + n - 1, PLAIN_SHARED);
	n &= ~1u;
	u32 start = (w->id & 31) * 10 % n, want = bytes_at(addr, size);
	ROLLED
	for (u32 i = 0; i < n; i += 2) {
		u32 k = start + i < n ? start + i : start + i - n, found = column_settled(w, addr & ~7u, stride, n, want, k, i);
		left |= found;
		i = found & 255;
		k = start + i < n ? start + i : start + i - n;
		/* A write is not to be lost where several lanes read the element. */
		u32 rest = (found & 256 ? PLAIN_AGAIN : 0) | (found & 512 ? PLAIN_AGAIN << 8 : 0);
		if (rest && !(found & 2048))
			rest = column_put(w, addr + k * stride, stride, size, site + k, found >> 8 & 3);
		if (rest & 255)
			plain_rest(w, addr + k * stride, size, 0, site + k, PLAIN_SHARED | (rest & 255));
		if (rest >> 8)
			plain_rest(w, addr + (k + 1) * stride, size, 0, site + k + 1, PLAIN_SHARED | rest >> 8);
	}
	if (left & 1024)
		w->dropped = 1;
}

API void __gsan_v1_column_s(u64 ctx, u64 addr, u32 stride, u32 n, u32 info, u32 site)
{
	if (ctx)
		TOGETHER(column(WARP(ctx), of_kind(site), (u32)addr, stride, n, GSAN_INFO_SIZE(info), site););
}

