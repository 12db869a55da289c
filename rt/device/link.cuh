/* SPDX-License-Identifier: Apache-2.0
 *
 * link.cuh: lines are linked (line.cuh): granules in which nothing of account stands, or what is alike
 * in all, get the line's mark.
 */
#define line_link       __gsan_v1_line_link
#define link_granule    __gsan_v1_link_granule
#define link_end        __gsan_v1_link_end
#define line_link_one   __gsan_v1_line_link_one

/* What the granules of a line must have, by place, with its site; a record that is of no
 * account is none. */
struct link { struct gsan_warp *w; u64 r[4]; u32 site[4]; bool shared, vacant, far; };

/* What of a granule's record is of account for linking; ~0: it cannot be linked.  In shared
 * memory what threads of the slot's earlier tenants left is of none, in global memory what
 * earlier launches did. */
FN u64 linkable(const struct link *k, u64 r)
{
	if (!r || is_mark(r))
		return r ? ~0ull : 0;
	if (GSAN_REC_KIND(r) != GSAN_KIND_ASYNC)
		return k->shared ? (GSAN_REC_CLOCK(r) <= k->w->start ? 0 : ~0ull) : GSAN_REC_CLOCK(r) < k->w->launch_base ? 0 : ~0ull;
	if (!k->shared)
		return line_over(k->w, r, false) ? 0 : ~0ull;
	/* What the block knows to be over the issuer of a peer's copy may not. */
	if (k->vacant && !generic_too(r) && (k->far ? async_gone(k->w, r) : over_for_all(k->w, r, true)))
		return 0;
	return GSAN_REC_BYTES(r) == 255 && ((async_what(r) & GSAN_ASYNC_MBAR) || async_how(r) == GSAN_HOW_BULK ||
					    async_how(r) == GSAN_HOW_WGMMA) ? r : ~0ull;
}

/* Takes a record out, puts `now` there.  False: another was quicker. */
FN bool replaced(u64 *place, u64 old, u64 now) { return old == now || swap(place, old, now) == old; }

/* Is granule `i` of the line as it must be?  If `mark`, it is marked, and the line's record
 * `own` takes place 2; the first one's mark is the lock, which is there. */
SLOW bool link_granule(const struct link *k, struct line l, u32 i, bool mark, u64 own)
{
	u64 *sh = l.sh + 4 * i;
	uint4 a = load_cg(sh), c = load_cg(sh + 2), words = load_cg(l.st + 4 * i);
	ROLLED
	for (u32 n = 0; n < 4; n++) {
		u32 p = n < 2 ? n ^ 1 : n;      /* the mark first */
		u64 r = p & 2 ? (p & 1 ? (u64)c.w << 32 | c.z : (u64)c.y << 32 | c.x) : (p & 1 ? (u64)a.w << 32 | a.z : (u64)a.y << 32 | a.x);
		u32 site = p & 2 ? (p & 1 ? words.w : words.z) : p & 1 ? words.y : words.x;
		if (mark && !i && p == 1)
			continue;
		u64 has = r == k->r[p] ? r : linkable(k, r);
		if (has != k->r[p] || (has && site != k->site[p]))
			return false;
		if (mark && !replaced(sh + p, r, p == 1 ? GSAN_MARK : p == 2 ? own : 0))
			return false;
	}
	return true;
}

FN u64 link_own(const struct link *k, u32 i)
{
	return i >= LINE_SITES ? 0 : i < LINE_RECORDS && k->r[i] ? in_line(k->r[i]) : LINE_NONE;
}

/* Mostly nothing stands there but what threads of earlier launches left, or of earlier tenants of shared
 * memory.  Of four granules, `step` apart, what is to be waited for is on its way at once. */
enum { VACANT_AT_ONCE = 4, MARKED_AT_ONCE = 8 };

FN bool link_vacant(const struct link *k, struct line l, u32 i, u32 step, bool mark)
{
	u32 bound = HIGH(k->shared ? k->w->start + 1 : k->w->launch_base);
	uint4 a[VACANT_AT_ONCE], c[VACANT_AT_ONCE];
	bool fine = true;
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
		const u64 *sh = l.sh + 4 * (i + n * step);
		bool there = i + n * step < l.granules;
		a[n] = there ? load_cg(sh) : four(0, 0, 0, 0);
		c[n] = there ? load_cg(sh + 2) : four(0, 0, 0, 0);
	}
	u32 other = 0;          /* granules with something else */
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++)
		other |= (a[n].y >= bound) | ((a[n].w >= bound) & (i + n || !mark)) | (c[n].y >= bound) | (c[n].w >= bound) ? 1u << n : 0;
	ROLLED
	for (u32 m = other; m && fine; m &= m - 1) {
		u32 g = i + (__ffs(m) - 1) * step;
		fine = link_granule(k, l, g, mark, link_own(k, g));
	}
	if (!mark || !fine)
		return fine;
	u64 marked[VACANT_AT_ONCE], own[VACANT_AT_ONCE];
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
		u32 g = i + n * step;
		u64 *sh = l.sh + 4 * g, was = (u64)a[n].w << 32 | a[n].z, had = (u64)c[n].y << 32 | c[n].x, now = link_own(k, g);
		bool done = (other >> n & 1) || g >= l.granules;
		marked[n] = done || !g ? was : swap(sh + 1, was, GSAN_MARK);
		own[n] = done || had == now ? had : swap(sh + 2, had, now);
	}
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
		u64 *sh = l.sh + 4 * (i + n * step);
		fine &= marked[n] == ((u64)a[n].w << 32 | a[n].z) && own[n] == ((u64)c[n].y << 32 | c[n].x);
		if (other >> n & 1)
			continue;
		fine &= !(a[n].x | a[n].y) || replaced(sh, (u64)a[n].y << 32 | a[n].x, 0);
		fine &= !(c[n].z | c[n].w) || replaced(sh + 3, (u64)c[n].w << 32 | c[n].z, 0);
	}
	return fine;
}

/* Or nothing at all, in the whole line of global memory. */
FN bool line_empty(struct line l)
{
	u32 any = 0;
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8; i += VACANT_AT_ONCE) {
		uint4 v[2 * VACANT_AT_ONCE];
#pragma unroll
		for (u32 n = 0; n < 2 * VACANT_AT_ONCE; n++)
			v[n] = load_cg(l.sh + 4 * i + 2 * n);
#pragma unroll
		for (u32 n = 0; n < 2 * VACANT_AT_ONCE; n++)
			any |= v[n].x | v[n].y | v[n].z | v[n].w;
	}
	return !any;
}

/* It is marked if nothing came. */
FN bool empty_marked(struct line l)
{
	u64 any = 0;
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8; i += MARKED_AT_ONCE) {
		u64 was[MARKED_AT_ONCE], had[MARKED_AT_ONCE];
#pragma unroll
		for (u32 n = 0; n < MARKED_AT_ONCE; n++) {
			was[n] = i + n ? swap(l.sh + 4 * (i + n) + 1, 0, GSAN_MARK) : 0;
			had[n] = swap(l.sh + 4 * (i + n) + 2, 0, LINE_NONE);
		}
#pragma unroll
		for (u32 n = 0; n < MARKED_AT_ONCE; n++)
			any |= was[n] | had[n];
	}
	return !any;
}

/* Have four granules, which were marked, nothing but what they were given?  Who came between the look
 * and the mark is seen now; who comes later sees the mark. */
FN bool four_stand(struct line l, u32 i, u32 step)
{
	uint4 a[VACANT_AT_ONCE], c[VACANT_AT_ONCE];
	bool stands = true;
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
		u32 g = i + n * step < l.granules ? i + n * step : i;
		a[n] = load_cg(l.sh + 4 * g);
		c[n] = load_cg(l.sh + 4 * g + 2);
	}
#pragma unroll
	for (u32 n = 0; n < VACANT_AT_ONCE; n++) {
		u32 g = i + n * step < l.granules ? i + n * step : i;
		stands &= !(a[n].x | a[n].y | c[n].z | c[n].w) & is_mark((u64)a[n].w << 32 | a[n].z) & (g < LINE_SITES || !(c[n].x | c[n].y));
	}
	return stands;
}

/* Likewise of global memory, of eight that follow each other. */
FN bool marks_stand(struct line l, u32 i)
{
	u64 first[MARKED_AT_ONCE], last[MARKED_AT_ONCE], any = 0;
	u32 mark[MARKED_AT_ONCE], other = 0;
#pragma unroll
	for (u32 n = 0; n < MARKED_AT_ONCE; n++) {
		first[n] = load64(l.sh + 4 * (i + n));
		mark[n] = load((u32 *)(l.sh + 4 * (i + n) + 1) + 1);    /* its high word, which is no other record's */
		last[n] = load64(l.sh + 4 * (i + n) + 3);
	}
#pragma unroll
	for (u32 n = 0; n < MARKED_AT_ONCE; n++) {
		any |= first[n] | last[n];
		other |= mark[n] ^ (u32)(GSAN_MARK >> 32);
	}
	return !(any | other);
}

/* The line is locked: it is linked if `fine`, else opened.  By all of `group`, which have linked it. */
SLOW void link_end(const struct link *k, u32 group, struct line l, bool fine)
{
	if (fine) {
		if (sreg_laneid() == __ffs(group) - 1)
			line_unlock(l, GSAN_MARK);
		meet_all(group);
		return;
	}
	struct line_state s;
	ROLLED
	for (u32 j = 0; j < LINE_RECORDS; j++) {
		s.r[j] = k->r[j] ? in_line(k->r[j]) : LINE_NONE;
		ROLLED
		for (u32 c = 0; c < 8; c++)
			s.site[j][c] = k->site[j];
	}
	line_spill(k->w, group, l, &s);
}

enum { LINK_NOT, LINK_DONE, LINK_AGAIN };

/* The lanes of `group` link the line of the own block's shared memory, if a copy filled it
 * and nothing has come since but what is alike in all its granules; or if nothing of account
 * stands there at all and `vacant` is enough.  `far`: for a copy that a peer issued. */
SLOW u32 line_link(struct gsan_warp *w, u32 group, struct line l, bool vacant, bool far)
{
	u32 lead = __ffs(group) - 1, n = __popc(group), rank = __popc(group & ((1u << sreg_laneid()) - 1));
	struct link k;
	bool filled = vacant, fine = true;
	k.w = w;
	k.shared = true;
	k.vacant = vacant;
	k.far = far;
	/* What the first lane sees: others may look at another moment. */
	uint4 one = load_cg(l.sh), two = load_cg(l.sh + 2), words = load_cg(l.st);
	u64 lock = __shfl_sync(group, (u64)one.w << 32 | one.z, lead), any = 0;
	ROLLED
	for (u32 p = 0; p < 4; p++) {
		u32 low = p & 2 ? (p & 1 ? two.z : two.x) : p & 1 ? one.z : one.x, high = p & 2 ? (p & 1 ? two.w : two.y) : p & 1 ? one.w : one.y;
		u64 r = linkable(&k, __shfl_sync(group, (u64)high << 32 | low, lead));
		k.r[p] = r = __shfl_sync(group, r, lead);
		k.site[p] = __shfl_sync(group, p & 2 ? (p & 1 ? words.w : words.z) : p & 1 ? words.y : words.x, lead);
		filled |= (async_what(r) & GSAN_ASYNC_MBAR) && (r & ASYNC_WRITES);
		fine &= r != ~0ull;
		any |= r;
		meet_all(group);
	}
	if (is_mark(lock))
		return LINK_AGAIN;
	if (!filled || !fine)
		return LINK_NOT;
	/* A vacant one four granules at a time, or with what is alike in all. */
	u32 once = any ? 1 : VACANT_AT_ONCE;
	ROLLED
	for (u32 i = rank; i < LINE_BYTES / 8; i += once * n)
		fine &= any ? link_granule(&k, l, i, false, 0) : link_vacant(&k, l, i, n, false);
	meet_all(group);
	/* Somebody else links it at this moment? */
	if (!__all_sync(group, fine))
		return agreed(group, is_mark(load64(l.sh + 1))) ? LINK_AGAIN : LINK_NOT;
	if (!rank)
		fine = replaced(l.sh + 1, lock, GSAN_MARK_LOCKED);
	meet_all(group);
	if (!__all_sync(group, fine))
		return LINK_AGAIN;
	ROLLED
	for (u32 i = rank; i < LINE_BYTES / 8; i += once * n)
		fine &= any ? link_granule(&k, l, i, true, link_own(&k, i)) : link_vacant(&k, l, i, n, true);
	/* The sites of the line's records stand where no granule needs them any more. */
	meet_all(group);
	ROLLED
	for (u32 i = rank; i < 8 * LINE_RECORDS; i += n)
		store(line_site(l, i >> 3, i & 7), k.site[i >> 3]);
	__threadfence();
	meet_all(group);
	ROLLED
	for (u32 i = rank; i < LINE_BYTES / 8; i += VACANT_AT_ONCE * n)
		fine &= four_stand(l, i, n);
	meet_all(group);
	fine = __all_sync(group, fine);
	link_end(&k, group, l, fine);
	return fine ? LINK_DONE : LINK_NOT;
}

/* The sites of an operation's columns are those of the line's record `j`. */
FN void sites_put(const struct issue *x, struct line l, u32 j, u64 now)
{
	/* It is in the word by exclusive or. */
	u32 word = site_word(0, whole(now));
	u32 *at = line_site(l, j, 0);
	u64 whose = x->whose;
	ROLLED
	for (u32 m = (u32)now & 255; m; m >>= 1, whose >>= 8, at += line_site(l, 0, 1) - line_site(l, 0, 0))
		if (m & 1)
			store(at, word ^ site_among(x->site, (u32)whose));
}

/* The calling lane links a line of global memory, where nothing is of account, with record `now` of
 * its operation.  False: it is not in. */
SLOW bool line_link_one(const struct issue *x, struct line l, u64 now)
{
	struct link k;
	bool fine = true;
	u64 lock = load64(l.sh + 1);
	k.w = x->w;
	k.shared = k.vacant = k.far = false;
	ROLLED
	for (u32 p = 0; p < 4; p++)
		k.r[p] = k.site[p] = 0;
	bool empty = line_empty(l);
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8 && fine && !empty; i += VACANT_AT_ONCE)
		fine = link_vacant(&k, l, i, 1, false);
	if (!fine || is_mark(lock) || !replaced(l.sh + 1, lock, GSAN_MARK_LOCKED))
		return false;
	if (empty)
		fine = empty_marked(l);
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8 && fine && !empty; i += VACANT_AT_ONCE)
		fine = link_vacant(&k, l, i, 1, true);
	bool in = false;
	if (fine) {
		sites_put(x, l, 0, now);
		in = swap(line_record(l, 0), LINE_NONE, in_line(now)) == LINE_NONE;
	}
	__threadfence();
	ROLLED
	for (u32 i = 0; i < LINE_GLOBAL / 8; i += MARKED_AT_ONCE)
		fine &= marks_stand(l, i);
	/* What came is compared with it in granules. */
	if (in && !fine) {
		swap(line_record(l, 0), in_line(now), LINE_NONE);
		in = false;
	}
	link_end(&k, 1u << sreg_laneid(), l, fine);
	return in;
}
