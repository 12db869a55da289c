/* SPDX-License-Identifier: Apache-2.0
 *
 * alone.cuh: a copy that one thread issues by itself, as producers do again and again.
 *
 * What such a thread needs is code, which is not in the instruction cache when it comes, and answers that it
 * waits for one after the other.  So this is all that copy_issue and tensor_issue come to where nothing is out
 * of the ordinary, in one function that asks for all at once and takes both locks at once, the mbarrier's
 * and the queue's.  Where something is (an init or a wait that has to be looked into, bytes that count elsewhere,
 * a box with gaps, a queue that is full, somebody who has a lock), it leaves things as they were and says so: the
 * general way decides.
 */

enum {
	ALONE_NOT,              /* it is not as simple as that: nothing is done yet */
	ALONE_FIRST,            /* but the store is known to be the first of those alike */
	ALONE_DONE
};

FN struct gsan_form *form_of(struct gsan_queue *q, u64 map) { return q->form + (u32)(map >> 6) % GSAN_FORMS; }

/* Is the map in the kernel's parameters, which nobody changes? */
FN bool in_parameters(u64 map)
{
#if __CUDA_ARCH__ >= 900
	u32 in;
	asm volatile("{\n\t.reg .pred p;\n\tisspacep.param p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(in) : "l"(map));
	return in;
#else
	return false;
#endif
}

/* As cluster_place: are both in the block's own shared memory, and where? */
FN bool near(u64 a, u64 b, u32 *at_a, u32 *at_b)
{
	u32 rank = own_rank(), base = shared_base(rank);
	*at_a = kept(((u32)a - base) & SHARED_WINDOW);
	*at_b = kept(((u32)b - base) & SHARED_WINDOW);
	return (rank_of(a) == rank) & (rank_of(b) == rank);
}

/* The copies to come by the tensor map of tile `t` find there what it says. */
SLOW void form_enter(struct gsan_warp *w, u64 map, const struct gsan_tile *t)
{
	const struct gsan_map *m = &t->m;
	bool dense = !m->span || t->inner == m->span;
	if (!ROOT(queues) || !in_parameters(map) || m->im2col || m->slice || (t->op & GSAN_COPY_FOUR_ROWS) || !dense)
		return;
	struct gsan_queue *q = queue_of(w->slot);
	struct gsan_form *f = form_of(q, map);
	ONE_BY_ONE(
		uint4 had = load_cg(f);
		if (had.x != (u32)map || had.y != (u32)(map >> 32) || had.z != w->start) {
			take_lock(&q->lock);
			store_ca(f, four((u32)map, (u32)(map >> 32), w->start, t->rows));
			/* As tile_now. */
			bool alike = rows_alike(m);
			store_ca(&f->inner, four(t->inner, alike ? (u32)m->base : LINE_GLOBAL - 1, alike ? (u32)m->stride[0] : 0, ~0u));
			ROLLED
			for (u32 i = 0; i < 5; i++) {
				u32 last = i ? (elements(m, i) - 1) * m->every[i] : m->box[0] - 1, most = m->dim[i] > last ? m->dim[i] - last : 0;
				/* Coordinates have signs. */
				most = i >= m->rank ? ~0u : most > 1u << 31 ? 1u << 31 : most;
				store(i < 4 ? f->begins + i : &f->begins4, most);
			}
			ROLLED
			for (u32 i = 0; i < sizeof *m / 16; i++)
				store_ca((uint4 *)&f->m + i, ((const uint4 *)m)[i]);
			unlock(&q->lock);
		}
	);
}

/* What it says is put into post `p`: a half of it. */
template<u32 I> FN void form_map(struct gsan_post *p, const struct gsan_form *f)
{
	enum { FROM = OF(form, m) + 80 * I, TO = OF(post, work) + 80 * I };
	uint4 a = load_ca<FROM>(f), b = load_ca<FROM + 16>(f), c = load_ca<FROM + 32>(f), d = load_ca<FROM + 48>(f), e = load_ca<FROM + 64>(f);
	store_ca<TO>(p, a); store_ca<TO + 16>(p, b); store_ca<TO + 32>(p, c); store_ca<TO + 48>(p, d); store_ca<TO + 64>(p, e);
}

/* By a lane with nobody of its warp beside it.  A tensor copy by `map`, or, if that is 0, a bulk load of c2 bytes
 * from the address in c0 and c1. */
FN u32 copy_alone(struct gsan_warp *w, u64 map, u64 shared, u64 mbar, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u32 op, u32 site)
{
	u32 lane = sreg_laneid(), otherwise = ALONE_NOT, number = 0, off, bar;
	bool loads = op & GSAN_COPY_MBAR;
	struct gsan_root *r = kept(root());
	struct gsan_mbar *m = ROOT_AT(r, mbar, mbars);
	struct gsan_log *log = ROOT_AT(r, log, logs);
	struct gsan_queue *q = ROOT_AT(r, queue, queues);
	struct gsan_lane *lanes = ROOT_AT(r, lane, lanes);
	struct gsan_groups *groups = ROOT_AT(r, groups, groups);
	u32 options = fixed_now(&r->options);
	struct ghost g;
	ghost_begin(&g, w);
	uint4 special = load_ca<OF(warp, private_too)>(w);
	site += __gsan_site_base;
	if (!near(shared, loads ? mbar : shared, &off, &bar) | !q || (map && !in_parameters(map)) ||
	    (loads && (options & GSAN_OPT_CHOICE(GSAN_CHOICE_mbar_init_fence))))
		return ALONE_NOT;
	u32 slot = g.me.x >> 5, start = g.me.y, self = kept(g.me.x << 5 | lane), index = kept((bar >> 3) % GSAN_MBARS);
	struct gsan_block *b = ghost_block(&g);
	log = kept(log + g.me.x);
	m = kept(m + ((u64)slot * GSAN_MBARS + index));
	q = kept(q + slot);
	ghost_more(&g, w, b, lanes + self);
	u32 lines = load_ca32<OF(block, lines)>(b);
	uint4 known = four(0, 0, 0, 0), init = known;
	if (loads) {
		known = load_ca<OF(log, inits)>((const char *)log + (bar >> 3) % GSAN_INITS * sizeof log->inits[0]);
		init = load_cg<OF(mbar, init_who)>(m);
	} else {
		/* As first_alike; the group under way as own_groups finds it. */
		uint4 group = load_ca(groups + self);
		number = group.z;
		if (group.x != start || number > GSAN_ASYNC_GROUP_MAX)
			return ALONE_NOT;
		otherwise = ALONE_FIRST;
		u64 key = store_key(site, start, map, shared, (u64)c0 << 32 | c1, (u64)c2 << 32 | c3, c4, number - (group.w >> 1));
		if (exchange64((u64 *)&log->stored[key >> 61], key) == key)
			return ALONE_DONE;
	}
	/* From here on all is left as it was but for the clock, which may well go on. */
	u32 clock = tick_split(w);
	bool mine = try_lock(&q->lock), its = !loads || try_lock(&m->lock);
	/* start posted walked; start addr lock flags; phase first expected later; expected issued */
	uint4 head = load_cg(q), who = load_cg(m), phases = load_cg<OF(mbar, phase)>(m), tx = load_cg<OF(mbar, tx_expected)>(m);
	u32 begun = load<OF(queue, first)>(q), ahead = load<OF(mbar, ahead)>(m), first = load<OF(mbar, tx_first)>(m), n = head.y, phase = phases.x;
	u32 odd = kept(phase & 1), rare = odd ? GSAN_MBAR_UNSEEN << 1 | GSAN_MBAR_SHORT : GSAN_MBAR_UNSEEN | GSAN_MBAR_SHORT << 1;
	/* map start rows; inner base apart begins4; begins */
	const struct gsan_form *f = kept(form_of(q, map));
	uint4 form = load_ca(f), row = load_ca<OF(form, inner)>(f), begins = load_ca<OF(form, begins)>(f);
	u32 bytes = form.w * row.x, inner = row.x, lead = (row.y + c0 * row.z) & (LINE_GLOBAL - 1), rows = form.w;
	bool good = mine & its & (head.x == start) & ((n - begun < GSAN_POSTS) | (n - head.z < GSAN_POSTS));
	if (map) {
		good = good & (form.x == (u32)map) & (form.y == (u32)(map >> 32)) & (form.z == start);
	} else {
		bytes = inner = c2;
		lead = c0 & (LINE_GLOBAL - 1);
		rows = 1;
	}
	if (loads)      /* As mbar_quick, and copy_phase. */
		good = good & (known.x == bar) & (who.x == start) & (who.y == bar) & (known.y == init.x) & (known.z == init.y) & (known.z > start) &
		       (known.w >> lane & 1) & ((who.w & (GSAN_MBAR_LIVE | GSAN_MBAR_LOST | rare)) == GSAN_MBAR_LIVE) &
		       ((ahead < phases.z) | !first | (tx.y + bytes <= tx.x));
	else            /* As tile_inside. */
		good = good & (c0 < begins.x) & (c1 < begins.y) & (c2 < begins.z) & (c3 < begins.w) & (c4 < row.w);
	/* As work_range, and work_global. */
	u32 unit = 4;
	bool whole = bytes && !((off | bytes) & (LINE_BYTES - 1));
	if (whole && good && lines && by_lines(slot, off, lines == GSAN_LINES_MAY, loads))
		unit = 10;
	u32 pieces = (((1u << unit) - 1 & off) + bytes + (1u << unit) - 1) >> unit, far = (lead + inner + LINE_GLOBAL - 1) / LINE_GLOBAL * rows;
	u32 most = pieces > far ? pieces : far;
	if (!good || (whole && !lines) || most < POST_LEAST || most > GSAN_POST_MAX) {
		if (mine)
			store(&q->lock, 0);
		if (loads && its)
			store(&m->lock, 0);
		return otherwise;
	}
	struct gsan_post *p = kept(q->e + n % GSAN_POSTS);
	ghost_stays(p, &g, w, lane, clock);
	u64 rec = group_record(self, GSAN_HOW_BULK, number);
	if (loads) {
		rec = mbar_record(slot, index, phase) | ASYNC_WRITES;
		struct gsan_mbar *x = kept(at<struct gsan_mbar>((u64)m + odd * 4));
		if (!first)
			store<OF(mbar, tx_first)>(m, bytes);
		store<OF(mbar, tx_issued)>(m, tx.y + bytes);
		store<OF(mbar, issuer)>(x, self);
		store<OF(mbar, tx_phase)>(x, phase);
		store<OF(mbar, tx_at)>(x, off);
		store<OF(mbar, tx_site)>(x, site);
	} else {        /* As copy_reads. */
		struct gsan_log *x = kept(at<struct gsan_log>((u64)log + lane * 4));
		store<OF(log, last_group)>(x, number);
		store<OF(log, last_site)>(x, site);
		store<OF(log, last_at)>(x, off);
	}
	/* The side in shared memory, and the other, which writes if that does not. */
	u64 other = rec ^ ASYNC_WRITES;
	uint4 near_at = four((u32)rec, (u32)(rec >> 32), off, 0), far_at = four((u32)other, (u32)(other >> 32), 0, 0);
	uint4 near_size = four(ISSUE_PROXY | ISSUE_SHARED | (unit > 4 ? SIDE_LINES : 0), slot, bytes, pieces);
	uint4 far_size = four(ISSUE_PROXY | SIDE_LINES | SIDE_BOX, slot, 0, far);
	if (map) {
		form_map<0>(p, f); form_map<1>(p, f);
		store_ca<OF(post, work.tile.inner)>(p, four(inner, rows, op, c0));
		store_ca<OF(post, work.tile.c[1])>(p, four(c1, c2, c3, c4));
		store_ca<OF(post, work.side[0])>(p, near_at);
		store_ca<OF(post, work.side[0].flags)>(p, near_size);
		store_ca<OF(post, work.side[1])>(p, far_at);
		store_ca<OF(post, work.side[1].flags)>(p, far_size);
	} else {
		store_ca<OF(post, work.side[0])>(p, four(far_at.x, far_at.y, c0, c1));
		store_ca<OF(post, work.side[0].flags)>(p, four(ISSUE_PROXY | SIDE_LINES, slot, bytes, far));
		store_ca<OF(post, work.side[1])>(p, near_at);
		store_ca<OF(post, work.side[1].flags)>(p, near_size);
	}
	store_ca<OF(post, work.sides)>(p, four(2, most, site, 0));
	fetch_or(&q->by[g.me.x & 31], 1u << lane);
	post_publish(q, p, n, most);
	fence();
	store<OF(queue, lock)>(q, 0);
	if (loads)
		store<OF(mbar, lock)>(m, 0);
	if (special.y & GSAN_SPECIAL_HELD_UP)
		hold_up(w);
	return ALONE_DONE;
}

/* Or of a bulk load, see __gsan_v1_copy: it has GSAN_COPY_TO_SHARED. */
API void __gsan_v1_tensor(u64 ctx, u64 map, u64 shared, u64 mbar, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u32 op, u64 more, u32 site)
{
	if (!ctx)
		return;
	u32 did = ALONE_NOT;
	if (__activemask() == sreg_lanemask_eq() && (op & ~(GSAN_COPY_MBAR | GSAN_COPY_TO_SHARED | GSAN_COPY_CLUSTER)) == GSAN_HOW_BULK)
		did = copy_alone(WARP(ctx), kept(map), kept(shared), kept(mbar), kept(c0), kept(c1), kept(c2), kept(c3), kept(c4), op, site);
	if (did == ALONE_DONE)
		return;
	if (!(op & GSAN_COPY_TO_SHARED)) {
		tensor_all(WARP(ctx), did == ALONE_FIRST, map, shared, mbar, c0, c1, c2, c3, c4, op, more, site + __gsan_site_base);
		return;
	}
	copy_issue(WARP(ctx), shared, (u64)c1 << 32 | c0, c2, c2, mbar, op, site);
	perturb(WARP(ctx));
}
