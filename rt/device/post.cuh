/* SPDX-License-Identifier: Apache-2.0
 *
 * post.cuh: bulk copies are walked by all that wait.
 *
 * One thread issues a copy of thousands of granules, and the others of its block wait
 * for it: so it posts what is to be walked and how much it knew, as a ghost of itself,
 * and goes on.  Who comes to a wait takes pieces of what was posted and judges them as
 * the ghost.  So does who is idle: at a barrier before the others come, or at his end.  Nobody
 * leaves a wait for a copy, or the kernel, before it is walked: what is ordered behind the copy
 * finds its records, and what came between the two the walk finds, since the ghost does not
 * know of it.  (What that took the place of is not found, but takes part in a race itself.)  The
 * issue ends an interval of its thread, so that its own accesses behind the copy are not taken for
 * earlier ones.
 */
#define work_piece      __gsan_v1_work_piece
#define work_walk       __gsan_v1_work_walk
#define post_work       __gsan_v1_post_work
#define work_issue      __gsan_v1_work_issue
#define sweep           __gsan_v1_sweep
#define walk_some       __gsan_v1_walk_some
#define walk_posts      __gsan_v1_walk_posts
#define walk_idle       __gsan_v1_walk_idle
#define walk_last       __gsan_v1_walk_last
#define tile_shared     __gsan_v1_tile_shared
#define walk_pieces     __gsan_v1_walk_pieces
#define walk_all        __gsan_v1_walk_all
#define tile_global     __gsan_v1_tile_global
#define peer_slot       __gsan_v1_peer_slot

#define SIDE_BOX        256u    /* in gsan_side.flags: rows of the tile, not a range */
#define SIDE_LINES      512u    /* its pieces are lines (line.cuh) */
#define POST_LEAST      8u      /* pieces; fewer are not worth it */
#define POST_MANY       16u     /* lanes */
#define WALK_ROUNDS     4u      /* pieces that a lane takes at a time */
#define POST_STAY       400u    /* microseconds, while others may wait for who stays to leave */
#define POST_STAY_MOST  100000u /* likewise, in any case: whoever waits for it in a way that nobody knows of goes on */
#define IDLE_SLEEP      1000u   /* nanoseconds, of who finds nothing to do */
#define IDLE_MOMENT     20u     /* half microseconds */
#define IDLE_MOST       120u    /* likewise */

FN struct gsan_queue *queue_of(u32 slot) { return at<struct gsan_queue>(ROOT(queues)) + slot; }

/* ---- What is to be walked --------------------------------------------------------- */

FN void work_side(struct gsan_work *k, u32 slot, u64 at, u32 bytes, u32 pieces, u64 rec, u32 flags)
{
	struct gsan_side *s = &k->side[k->sides++];
	s->rec = rec;
	s->at = at;
	s->flags = flags;
	s->slot = slot;
	s->bytes = bytes;
	s->pieces = pieces;
	k->pieces = pieces > k->pieces ? pieces : k->pieces;
}

FN void work_begin(struct gsan_work *k, u32 site)
{
	k->sides = k->pieces = k->from = 0;
	k->site = site;
}

FN void work_range(struct gsan_warp *w, struct gsan_work *k, u32 slot, u64 at, u32 bytes, u64 rec, u32 flags)
{
	u32 unit = 16;
	struct gsan_block *b = block_of(slot);
	bool whole = flags == (ISSUE_PROXY | ISSUE_SHARED) && bytes && !(((u32)at | bytes) & (LINE_BYTES - 1));
	if (whole && !load_ca32(&b->lines))
		lines_begin(b);
	if (whole && by_lines(slot, (u32)at, may_link(b), rec & ASYNC_WRITES))
		unit = LINE_BYTES;
	if (flags == ISSUE_PROXY)
		unit = LINE_GLOBAL;
	work_side(k, slot, at, bytes, (((u32)at & (unit - 1)) + bytes + unit - 1) / unit, rec, flags | (unit > 16 ? SIDE_LINES : 0));
}

/* tensor.cuh: where a piece of the tile begins, and what there is of it. */
SLOW u64 tile_shared(const struct gsan_tile *t, u64 at, u32 i, u32 *bytes);
SLOW u64 tile_global(const struct gsan_tile *t, u32 i, u32 *bytes);

/* Piece `i` of side `s`, which is a range, in units of `unit` bytes. */
FN u64 piece_of(const struct gsan_side *s, u32 unit, u32 i, u32 *bytes)
{
	u64 last = s->at + s->bytes, to = (s->at & ~(u64)(unit - 1)) + unit * i + unit, from = i ? to - unit : s->at;
	*bytes = (u32)((to < last ? to : last) - from);
	return from;
}

/* sweep.cuh */
SLOW u32 sweep(struct gsan_post *p, u32 first, u32 end);

/* Piece `i` of a side of `k`, if it is less than `end`, as far as `x` says.  By all lanes of `group`. */
SLOW void work_piece(struct issue *x, const struct gsan_work *k, const struct gsan_side *s, u32 i, u32 end, u32 group)
{
	u32 bytes = 0, lines = 0;
	u64 from = 0;
	if (i < end) {
		u32 flags = s->flags;
		lines = flags & SIDE_LINES ? flags & ISSUE_SHARED ? LINE_BYTES : LINE_GLOBAL : 0;
		if (!(flags & SIDE_BOX)) {
			from = piece_of(s, lines ? lines : 16, i, &bytes);
		} else if (flags & ISSUE_SHARED) {
			from = tile_shared(&k->tile, s->at, i, &bytes);
		} else {
			from = tile_global(&k->tile, i, &bytes);
		}
	}
	meet_all(group);
	if (__ballot_sync(group, lines == LINE_BYTES))
		lines_issue(x, group, lines == LINE_BYTES, (u32)from, LINE_ALL, false);
	if (__ballot_sync(group, lines == LINE_GLOBAL) && !lines_global(x, group, from, lines == LINE_GLOBAL ? bytes : 0) && lines)
		bytes = 0;
	bytes = lines == LINE_BYTES ? 0 : bytes;
	if (__ballot_sync(group, bytes))
		async_range(x, group, from, bytes);
}

/* Of each side of what `w` issued the calling lane walks piece `first` and every `step`-th behind it, up to
 * `end` (exclusive).  One side after the other: what that executes is in the instruction cache after its
 * first piece.  `left`: which of them, as sweep says, or ~0, all.  `by`: the warp that walks.  By all lanes of `group`, of which
 * some may have none. */
SLOW void work_walk(struct gsan_warp *w, struct gsan_warp *by, const struct gsan_work *k, u32 first, u32 step, u32 end, u32 left, u32 group)
{
	struct issue x;
	bool all = left == ~0u;
	ROLLED
	for (u32 n = 0; __ballot_sync(group, first < end && n < k->sides); n++, left = all ? left : left >> WALK_ROUNDS) {
		if (!__ballot_sync(group, left & ((1u << WALK_ROUNDS) - 1)))
			continue;
		const struct gsan_side *s = k->side + n;
		u32 pieces = first < end && n < k->sides ? s->pieces : 0, last = pieces < end ? pieces : end;
		issue_begin(&x, w, 0, 0, 0, 0);
		if (pieces)
			issue_begin(&x, w, s->slot, s->rec, s->flags & 255, k->site);
		x.post = is_ghost(w) ? (struct gsan_post *)post_of(w) : 0;
		x.side = n;
		/* Of a peer's copy the ghost is no warp of this block. */
		x.links = !x.links && x.slot == by->slot ? by : x.links;
		meet_all(group);
		u32 rounds = left;
		ROLLED
		for (u32 i = first; __ballot_sync(group, i < last); i += step, rounds = all ? rounds : rounds >> 1)
			if (__ballot_sync(group, rounds & 1))
				work_piece(&x, k, s, i, rounds & 1 ? last : 0, group);
	}
}

/* ---- It is posted ------------------------------------------------------------------- */

/* Is the copy that was posted as number `n` walked? */
FN bool post_done(const struct gsan_post *p, u32 n)
{
	u64 v = load64((const u64 *)&p->next);
	return GSAN_POST_NUMBER(v) != (n & 0xffffff) || load(&p->done) >= GSAN_POST_PIECES(v);
}

/* What is to be walked, both aligned to 16 bytes. */
FN void work_copy(struct gsan_work *to, const struct gsan_work *from)
{
	ROLLED
	for (u32 i = 0; i < sizeof *to / 16; i += 5) {
		uint4 v[5];
#pragma unroll
		for (u32 k = 0; k < 5; k++)
			v[k] = ((const uint4 *)from)[i + k];
#pragma unroll
		for (u32 k = 0; k < 5; k++)
			store_cg((uint4 *)to + i + k, v[k]);
	}
}

/* Who posts a copy, as he is now. */
struct ghost {
	uint4 now, me, block, slot, m, state, refs;     /* clock floor wfloor options; id start; block; slot nslots sc sc_cta; own refs; state live */
	uint4 mine, all;        /* snapshots that the lane and its block acquired */
	u32 own_top, own_mask, sc, sc_cta, most, ntid, c[16];
};

FN void ghost_begin(struct ghost *g, const struct gsan_warp *w)
{
	g->me = load_ca<OF(warp, id)>(w); g->block = load_ca<OF(warp, block)>(w); g->slot = load_ca<OF(warp, slot)>(w); g->now = load_ca(w);
	g->m = load_cg<OF(warp, m_own)>(w); g->state = load_cg<OF(warp, state)>(w); g->refs = load_cg<OF(warp, refs)>(w);
}

FN struct gsan_block *ghost_block(const struct ghost *g) { return kept(at<struct gsan_block>((u64)g->block.y << 32 | g->block.x)); }

/* The clocks of warps I to I + 3. */
template<u32 I> FN void clocks(const struct gsan_warp *first, u32 *c)
{
	enum { EACH = sizeof *first };
	asm volatile("ld.volatile.global.u32 %0, [%4+%5];\n\tld.volatile.global.u32 %1, [%4+%6];\n\t"
		     "ld.volatile.global.u32 %2, [%4+%7];\n\tld.volatile.global.u32 %3, [%4+%8];"
		     : "=r"(c[I]), "=r"(c[I + 1]), "=r"(c[I + 2]), "=r"(c[I + 3])
		     : "l"(first), "n"(I * EACH), "n"(I * EACH + EACH), "n"(I * EACH + 2 * EACH), "n"(I * EACH + 3 * EACH) : "memory");
}

/* The rest of it: the clocks of block `b`'s warps, of which `w` is one, and what lane `l` knows. */
FN void ghost_more(struct ghost *g, const struct gsan_warp *w, const struct gsan_block *b, const struct gsan_lane *l)
{
	const struct gsan_warp *first = kept(w - (g->me.x & 31));
	l = kept(l);
	g->mine = load_cg<OF(lane, refs)>(l); g->all = load_cg<OF(block, refs)>(b);
	g->most = load<OF(block, sc)>(b); g->ntid = load_ca32<OF(block, ntid)>(b);
	g->own_top = load_ca32<OF(lane, own_top)>(l); g->own_mask = load_ca32<OF(lane, own_mask)>(l);
	g->sc = load_ca32<OF(lane, sc)>(l); g->sc_cta = load_ca32<OF(lane, sc_cta)>(l);
	clocks<0>(first, g->c); clocks<4>(first, g->c); clocks<8>(first, g->c); clocks<12>(first, g->c);
}

/* Entries I to I + 3 say nothing. */
template<u32 I> FN void said_nothing(struct gsan_post *p)
{
	uint4 none = four(0, 0, 0, 0);
	enum { AT = OF(post, said), EACH = sizeof p->said[0] };
	store_ca<AT + I * EACH>(p, none); store_ca<AT + I * EACH + EACH>(p, none);
	store_ca<AT + I * EACH + 2 * EACH>(p, none); store_ca<AT + I * EACH + 3 * EACH>(p, none);
}

/* It stays with `p`, at `clock`; nothing was found of records yet. */
FN void ghost_stays(struct gsan_post *p, const struct ghost *g, const struct gsan_warp *w, u32 lane, u32 clock)
{
	const u32 *c = g->c;
	const struct gsan_warp *first = w - (g->me.x & 31);
	u32 bit = 1u << lane, sc = g->m.y & bit ? g->sc : 0, sc_cta = g->m.y & bit ? g->sc_cta : 0;
	uint4 none = four(0, 0, 0, 0);
	store_ca<OF(post, clock[0])>(p, four(c[0], c[1], c[2], c[3]));
	store_ca<OF(post, clock[4])>(p, four(c[4], c[5], c[6], c[7]));
	store_ca<OF(post, clock[8])>(p, four(c[8], c[9], c[10], c[11]));
	store_ca<OF(post, clock[12])>(p, four(c[12], c[13], c[14], c[15]));
	ROLLED
	for (u32 i = 16, warps = (g->ntid + 31) >> 5; i < warps; i++)
		store(&p->clock[i], load(&first[i].clock));
	sc = g->slot.z > sc ? g->slot.z : sc;
	sc_cta = g->slot.w > sc_cta ? g->slot.w : sc_cta;
	store_ca<OF(post, knew)>(p, four(bit, clock, g->now.y, g->now.z));
	store_ca<OF(post, knew.own_top)>(p, four(g->m.x & bit ? g->own_top : 0, g->m.x & bit ? g->own_mask : 0, g->most > sc ? g->most : sc, sc_cta));
	store_ca<OF(post, knew.refs[0])>(p, g->m.y & bit ? g->mine : none);
	store_ca<OF(post, knew.refs[1])>(p, g->state.x & GSAN_WARP_REFS ? g->refs : none);
	store_ca<OF(post, knew.refs[2])>(p, g->state.x & GSAN_WARP_BLOCK_REFS ? g->all : none);
	store_ca<OF(post, w)>(p, four(clock, g->now.y, g->now.z, (g->now.w & 0xffff) | GSAN_WARP_GHOST | lane << GSAN_WARP_LANE_SHIFT));
	store_ca<OF(post, w.id)>(p, g->me);
	store_ca<OF(post, w.block)>(p, g->block);
	store_ca<OF(post, w.slot)>(p, g->slot);
	store_ca<OF(post, w.state)>(p, g->state);
	static_assert(GSAN_SAID == 16, "all of it");
	said_nothing<0>(p); said_nothing<4>(p); said_nothing<8>(p); said_nothing<12>(p);
	store<OF(post, done)>(p, 0);
	store<OF(post, from)>(p, 0);
}

/* What all of it is behind `p`, which is there as number `n` of `q` from now on.  Who looks for copies goes by `posted`: whom
 * that tells of it finds the rest.  Whoever has the lock next does, too. */
FN void post_publish(struct gsan_queue *q, struct gsan_post *p, u32 n, u32 pieces)
{
	*(volatile u64 *)&p->next = (u64)(n & 0xffffff) << 40 | (u64)pieces << 20;
	fence();
	store(&q->posted, n + 1);
}

/* Where a copy was posted: slot + 1 of the queue << 32 | number; 0: nowhere. */
typedef u64 posted;

/* Into the queue of block `slot`, as work_issue says.  0: there is no room.  By one lane of those that are together, whose
 * ghost stays as it is now; it begins another interval. */
SLOW posted post_work(struct gsan_warp *w, const struct gsan_work *k, u32 slot, posted source)
{
	u32 lane = sreg_laneid();
	struct ghost g;
	ghost_begin(&g, w);
	struct gsan_block *b = block_of(slot);
	struct gsan_queue *q = queue_of(slot);
	bool own = slot == g.me.x >> 5;
	u32 start = own ? g.me.y : load(&b->start);
	take_lock(&q->lock);
	uint4 head = load_cg(q);        /* start posted walked */
	u32 clock = load(&w->clock), begun = load(&q->first), n = head.y;
	ghost_more(&g, w, ghost_block(&g), at<struct gsan_lane>(ROOT(lanes)) + (((u64)g.me.x << 5) + lane));
	/* What the slot's last block left, by leaving where it was not seen, is nobody's. */
	if (head.x != start) {
		ROLLED
		for (u32 k = head.z; n - k - 1 < GSAN_POSTS; k++)
			if (!post_done(q->e + k % GSAN_POSTS, k))
				count(GSAN_COUNT_ASYNC_LOST, 1);
		begun = n;
		store(&q->first, n);
		store(&q->walked, n);
		ROLLED
		for (u32 i = 0; i < 32; i++)
			store(&q->by[i], 0);
		fence();
		store(&q->start, start);
	}
	struct gsan_post *p = kept(q->e + n % GSAN_POSTS);
	u64 next = load64((const u64 *)&p->next);
	u32 done = load(&p->done);
	/* As post_done, of what had the place before. */
	bool room = n - begun < GSAN_POSTS || GSAN_POST_NUMBER(next) != ((n - GSAN_POSTS) & 0xffffff) || done >= GSAN_POST_PIECES(next);
	if (room) {
		clock = tick_from(w, __activemask() == g.state.z, clock);
		work_copy(&p->work, k);
		ghost_stays(p, &g, w, lane, clock);
		store(&p->from, (u32)(source >> 32));
		store(&p->work.from, (u32)source);
		if (own)
			fetch_or(&q->by[g.me.x & 31], 1u << lane);
		else
			fetch_or(&own_block(w)->sent, 1u << load(&b->rank));
		post_publish(q, p, n, k->pieces);
	}
	unlock(&q->lock);
	return room ? (u64)(slot + 1) << 32 | n : 0;
}

/* walk, below */
SLOW void walk_all(struct gsan_warp *w, u32 group, u32 slot);

/* The calling lane issues `k`, for which threads of block `slot` wait, and nobody else.  `source`: they wait for that as well,
 * which was posted before (0: for nothing).  Returns where it is; 0: it is walked. */
SLOW posted work_issue(struct gsan_warp *w, const struct gsan_work *k, u32 slot, posted source)
{
	posted at = 0;
	/* What one thread walks in a peer's memory it walks granule by granule. */
	u32 least = source || (slot != w->slot && (k->side[0].flags & SIDE_LINES)) ? 1 : POST_LEAST;
	bool posts = ROOT(queues) && k->pieces >= least && k->pieces <= GSAN_POST_MAX;
	ONE_BY_ONE(
		if (posts)
			at = post_work(w, k, slot, source);
	);
	u32 pieces = at ? 0 : k->pieces, group = together();
	if (!__ballot_sync(group, pieces))
		return at;
	work_walk(w, w, k, 0, 1, pieces, ~0u, group);
	if (__ballot_sync(group, pieces && source))
		walk_all(w, group, w->slot);
	return at;
}

/* ---- It is walked ------------------------------------------------------------------- */

/* What the lanes that come wait for: */
enum walk_for {
	WALK_HELP,              /* nothing, and there is time for a piece of one posted before that number */
	WALK_REST,              /* nothing: they are going to wait for something else */
	/* From here on, what they may not go on without: */
	WALK_ALL,
	WALK_MBAR,              /* copies that complete on an mbarrier of the block, of that number */
	WALK_GROUP              /* the calling thread's bulk groups up to that number */
};

/* Does the calling lane wait for a copy with record `r`? */
FN bool walk_needs(struct gsan_warp *w, u64 r, u32 how, u32 n)
{
	bool mbar = async_what(r) & GSAN_ASYNC_MBAR;
	if (how == WALK_MBAR)
		return mbar && mbar_in(r) == n;
	if (how == WALK_GROUP)
		return !mbar && ((u32)(r >> 12) & 0x7fffff) == self_of(w) && (GSAN_REC_CLOCK(r) & GSAN_ASYNC_GROUP_MAX) <= n;
	return how == WALK_ALL;
}

/* What walk_some comes to, of copy `k`: */
#define WALK_TOOK       1u      /* the lanes had some of its pieces */
#define WALK_MORE       2u      /* there may be others */

/* The lanes of `group`, of warp `w`, take pieces of copy `k`, WALK_ROUNDS each, and walk them.  Returns the first << 32 | those behind
 * them are left << 31 | the end (exclusive); 0: there are none. */
#define TOOK_MORE       (1u << 31)
#define TOOK_FIRST(v)   ((u32)((v) >> 32))
#define TOOK_END(v)     ((u32)(v) & ~TOOK_MORE)
SLOW u64 walk_pieces(struct gsan_warp *w, struct gsan_queue *q, u32 k, u32 group)
{
	u32 lane = sreg_laneid(), lead = __ffs(group) - 1, n = __popc(group), rank = __popc(group & ((1u << lane) - 1));
	struct gsan_post *p = q->e + k % GSAN_POSTS;
	u64 v = load64((u64 *)&p->next);
	if (lane == lead && GSAN_POST_NUMBER(v) == (k & 0xffffff) && GSAN_POST_NEXT(v) < GSAN_POST_PIECES(v))
		v = fetch_add64((u64 *)&p->next, n * WALK_ROUNDS);
	meet_all(group);
	v = __shfl_sync(group, v, lead);
	u32 first = GSAN_POST_NEXT(v), most = GSAN_POST_PIECES(v), end = first + n * WALK_ROUNDS < most ? first + n * WALK_ROUNDS : most;
	if (GSAN_POST_NUMBER(v) != (k & 0xffffff) || first >= most)
		return 0;
	u32 left = group == ~0u ? sweep(p, first, end) : ~0u;
	if (__ballot_sync(group, left))
		work_walk(&p->w, w, &p->work, first + rank, n, end, left, group);
	meet_all(group);
	return (u64)first << 32 | (end < most ? TOOK_MORE : 0) | end;
}

/* The same, and says so.  Who has the first piece goes on when what the copy reads is walked, too, if that was posted
 * elsewhere.  Returns WALK_*. */
SLOW u32 walk_some(struct gsan_warp *w, struct gsan_queue *q, u32 k, u32 group)
{
	struct gsan_post *p = q->e + k % GSAN_POSTS;
	bool leads = sreg_laneid() == __ffs(group) - 1;
	u64 took = walk_pieces(w, q, k, group);
	if (!took)
		return 0;
	u32 slot = TOOK_FIRST(took) ? 0 : load(&p->from);
	if (slot) {
		u32 n = load(&p->work.from);
		struct gsan_queue *other = queue_of(slot - 1);
		struct gsan_post *source = other->e + n % GSAN_POSTS;
		ROLLED
		for (u64 v; (v = walk_pieces(w, other, n, group)); )
			if (leads)
				fetch_add(&source->done, TOOK_END(v) - TOOK_FIRST(v));
		ROLLED
		while (!post_done(source, n))
			__nanosleep(300);
		meet_all(group);
	}
	if (leads)
		fetch_add(&p->done, TOOK_END(took) - TOOK_FIRST(took));
	return WALK_TOOK | (took & TOOK_MORE ? WALK_MORE : 0);
}

/* Of which lanes of `group` is it true, by their places among them? */
FN u32 by_rank(u32 group, bool is)
{
	u32 lanes = __ballot_sync(group, is), lead = __ffs(group) - 1, places = 0;
	if (!(group >> lead & ((group >> lead) + 1)))
		return lanes >> lead;
	ROLLED
	for (; lanes; lanes &= lanes - 1)
		places |= 1u << __popc(group & ((lanes & -lanes) - 1));
	return places;
}

/* The lanes of `group` take pieces of the copies `from` to `end` that they need, and wait until
 * those are done.  Many lanes help with others as well, but not for long: who took all there is
 * would keep others waiting that are idle by then.  Returns whether there was anything to take. */
SLOW bool walk_posts(struct gsan_warp *w, struct gsan_queue *q, u32 from, u32 end, u32 how, u32 wanted, u32 group)
{
	u32 lane = sreg_laneid(), lead = __ffs(group) - 1, n = __popc(group), rank = __popc(group & ((1u << lane) - 1));
	u32 needs = 0, some = 0, left = 0;      /* by copy: this lane, one of the group; has pieces left */
	u32 its = __shfl_sync(group, how, lead), number = __shfl_sync(group, wanted, lead);
	bool took = false, alike = n == 1 || __all_sync(group, how == its && wanted == number && how != WALK_GROUP);
	/* Each lane loads what there is to know of one copy: it was there before its number was. */
	ROLLED
	for (u32 at = 0; at < end - from; at += n) {
		u32 k = from + at + rank;
		const struct gsan_post *p = q->e + k % GSAN_POSTS;
		u64 v = load64((const u64 *)&p->next), r = load64((const u64 *)&p->work.side[0].rec);
		bool there = at + rank < end - from && GSAN_POST_NUMBER(v) == (k & 0xffffff);
		u32 need = alike && there && walk_needs(w, r, how, wanted);
		meet_all(group);
		left |= by_rank(group, there && GSAN_POST_NEXT(v) < GSAN_POST_PIECES(v)) << at;
		need = by_rank(group, need) << at;
		needs |= need;
		some |= need;
		ROLLED
		for (u32 i = at, rest = alike ? 0 : group; rest && i < end - from; i++, rest &= rest - 1) {
			u64 rec = __shfl_sync(group, there ? r : 0, __ffs(rest) - 1);
			need = rec && walk_needs(w, rec, how, wanted);
			needs |= need << i;
			some |= (u32)(__ballot_sync(group, need) != 0) << i;
		}
	}
	if (how > WALK_REST && !some)
		return false;
	/* What they need, or all there is, if they are idle themselves: WALK_HELP is for a moment. */
	ROLLED
	for (u32 rest = how > WALK_REST ? some & left : left; rest; ) {
		u32 v = walk_some(w, q, from + __ffs(rest) - 1, group);
		took |= v;
		rest &= v & WALK_MORE ? ~0u : rest - 1;
		rest = v && how == WALK_HELP ? 0 : rest;
	}
	/* Others took some of it, and are at it. */
	ROLLED
	for (; needs; needs &= needs - 1) {
		u32 k = from + __ffs(needs) - 1;
		ROLLED
		while (!post_done(q->e + k % GSAN_POSTS, k))
			__nanosleep(300);
	}
	/* How many are done, from the first on? */
	u32 done = 0;
	ROLLED
	for (u32 got = n; got == n && done < end - from; done += got) {
		u32 k = from + done + rank;
		bool is = done + rank < end - from && post_done(q->e + k % GSAN_POSTS, k);
		u32 open = group & ~__ballot_sync(group, is);
		got = open ? __popc(group & ((open & -open) - 1)) : n;
	}
	if (done && lane == lead)
		fetch_max(&q->walked, from + done);
	meet_all(group);
	return took;
}

/* By the lanes of `group`, which come to a wait together and all wait in that way, for what is in the queue of the block of
 * `slot`, which began at `start`.  Returns to all of them whether they had anything to do. */
FN bool walk_of(struct gsan_warp *w, u32 slot, u32 start, u32 group, u32 how, u32 wanted)
{
	if (!ROOT(queues))
		return false;
	struct gsan_queue *q = queue_of(slot);
	uint4 a = load_cg(q);   /* start posted walked */
	u32 lead = __ffs(group) - 1;
	u32 from = __shfl_sync(group, a.z, lead), end = __shfl_sync(group, a.x == start ? a.y : a.z, lead);
	u32 before = __shfl_sync(group, wanted, lead);
	if (how == WALK_HELP && (int)(end - before) > 0)
		end = before;
	/* What had their places before them is done. */
	if (end - from > GSAN_POSTS)
		from = end - GSAN_POSTS;
	if ((int)(end - from) <= 0 || (how <= WALK_REST && __popc(group) < POST_MANY))
		return false;
	/* They are taken in the order in which they were posted, mostly: is there something left of the last? */
	u64 last = load64((const u64 *)&q->e[(end - 1) % GSAN_POSTS].next);
	if (how <= WALK_REST && agreed(group, GSAN_POST_NUMBER(last) == ((end - 1) & 0xffffff) && GSAN_POST_NEXT(last) >= GSAN_POST_PIECES(last)))
		return false;
	return walk_posts(w, q, from, end, how, wanted, group);
}

FN bool walk(struct gsan_warp *w, u32 group, u32 how, u32 wanted) { return walk_of(w, w->slot, w->start, group, how, wanted); }

/* All that is in the queue of the block that has `slot` now. */
SLOW void walk_all(struct gsan_warp *w, u32 group, u32 slot)
{
	walk_of(w, slot, __shfl_sync(group, load(&block_of(slot)->start), __ffs(group) - 1), group, WALK_ALL, 0);
}

FN u32 posted_now(const struct gsan_warp *w) { return ROOT(queues) ? load(&queue_of(w->slot)->posted) : 0; }

/* By lanes that come to a barrier of all threads: they help until all are there, with what
 * was posted a moment ago: who posts is about to come himself, and would have to wait for them.
 * What counts those who are there may be wrong for a while where threads leave. */
SLOW void walk_idle(struct gsan_warp *w, u32 group)
{
	struct gsan_queue *q = queue_of(w->slot);
	u32 live = load(&own_block(w)->live), lead = __ffs(group) - 1, before = load(&q->posted);
	bool leads = sreg_laneid() == lead, done = false;
	u64 v = 0;
	if (leads)
		v = fetch_add64((u64 *)&q->came, __popc(group));
	u32 use = (u32)(v >> 32);
	/* The last one. */
	if (leads && (u32)v + __popc(group) >= live) {
		*(volatile u64 *)&q->came = (u64)(use + 1) << 32;
		done = true;
	}
	ROLLED
	for (u32 i = 0, posted = before; i < IDLE_MOST / IDLE_MOMENT; i++) {
		/* One looks, the others sleep. */
		ROLLED
		for (u32 k = 0; leads && !done && k < IDLE_MOMENT; k++) {
			__nanosleep(500);
			done = load(&q->uses) != use;
		}
		meet_all(group);
		if (agreed(group, done))
			break;
		if (walk(w, group, WALK_HELP, __shfl_sync(group, before, lead)))
			i--;
		before = posted;
		posted = posted_now(w);
		meet_all(group);
	}
	meet_all(group);
}

/* cluster.cuh: do threads wait at a barrier of the block's cluster? */
SLOW bool cluster_awaits(struct gsan_warp *w);
/* peer.cuh */
SLOW u32 peer_slot(struct gsan_warp *w, u32 rank);

/* May others wait for threads of the block to leave?  Who has left counts at a barrier of all threads
 * as one who came, and for griddepcontrol.launch_dependents as one who ran it. */
FN bool exit_awaited(struct gsan_warp *w, const struct gsan_queue *q)
{
	return load(&q->came) || load(&own_block(w)->let_go) || cluster_awaits(w);
}

/* By lanes that leave the kernel.  A whole warp that has nothing left to do helps those that
 * have, until all have left who posted copies: idle warps of kernels whose warps have different
 * tasks, and what the block's last copies need, which one thread issues and waits for alone.  Without
 * them consumers do it all, which is many times slower, and never gets better.  Not
 * for long where nothing is posted, and others may wait for it to leave. */
SLOW void walk_last(struct gsan_warp *w)
{
	u32 group = together(), lane = sreg_laneid(), me = w->id & 31;
	if (!ROOT(queues))
		return;
	struct gsan_queue *q = queue_of(w->slot);
	bool stays = agreed(group, __popc(group) >= POST_MANY && group == load(&w->live));
	if (load(&q->start) == w->start && lane == __ffs(group) - 1)
		fetch_and(&q->by[me], ~group);
	meet_all(group);
	ROLLED
	for (u32 i = 0, all = 0, before = 0; i < POST_STAY && all < POST_STAY_MOST && stays; i++, all++) {
		u32 number = load(&q->posted);
		bool posted = load(&q->start) == w->start && number != load(&q->first);
		bool others = lane != me && load(&q->by[lane]);
		stays = __ballot_sync(group, !posted || others);
		i = agreed(group, number != before || (posted && !exit_awaited(w, q))) ? 0 : i;
		before = number;
		if (!walk(w, group, WALK_REST, 0))
			__nanosleep(IDLE_SLEEP);
		meet_all(group);
	}
	walk_all(w, group, w->slot);
	/* Peers need what their copies' issuers knew, of which the block keeps some. */
	ROLLED
	for (u32 lead = __ffs(group) - 1, ranks = __shfl_sync(group, load(&own_block(w)->sent), lead); ranks; ranks &= ranks - 1) {
		u32 slot = __shfl_sync(group, peer_slot(w, __ffs(ranks) - 1), lead);
		if (slot != ~0u)
			walk_all(w, group, slot);
	}
}

/* Before a wait at a barrier, of all threads if `count` is 0. */
API void __gsan_v1_help(u64 ctx, u32 count)
{
	if (!ctx || !ROOT(queues))
		return;
	TOGETHER(
		u32 group = of_kind(count);
		if (count)
			walk(WARP(ctx), group, WALK_REST, 0);
		else
			walk_idle(WARP(ctx), group);
	);
}
