/* SPDX-License-Identifier: Apache-2.0
 *
 * gen.c: makes a program of a seed.  It is put together of motifs: things that
 * kernels do, each with memory of its own.  Two in five programs are made as they
 * should be; in the others any choice may slip: a barrier is left out, a scope is
 * too narrow, a neighbour's element is taken.
 */
#include "testsuite/gen/gen_impl.h"

/* ---- motifs ----------------------------------------------------------------------------------- */

/* An access of any kind to what should be this thread's own. */
static void own_access(struct gen *g, struct place a, unsigned size, unsigned n)
{
	unsigned what = below(g, 10);
	const char *sc = any_scope(g), *sem = PICK(g, "", ".relaxed"), *how = "";
	bool red = chance(g, 50);

	if (slip(g, 12))
		a.index = (enum index)below(g, IX_COUNT);
	if (slip(g, 6) && a.stride > 1)
		a.stride /= 2;
	if (slip(g, 6))
		a.off += size * n;
	if (size * n > 1 && (a.stride % (size * n) || a.off % (size * n)))
		a.stride = size * n, a.off -= a.off % (size * n);
	if (chance(g, 25))
		how = what & 1 ? ".volatile" : strong(".relaxed", sc);
	if (n == 1 && (size == 4 || size == 8) && what >= 8)
		put_atomic(g, what == 8, strong(sem, sc), &a, size);
	else if (n == 1 && size == 4 && what == 7)
		put_packed(g, red, strong(".relaxed", sc), &a);
	else if (what == 6 && a.space == 'g' && chance(g, 40))
		put_load_store(g, false, ".volatile", &a, size, n);
	else
		put_load_store(g, what < 4, how, &a, size, n);
	plain(g);
}

static void motif_own(struct gen *g)
{
	unsigned size = size_of(g), n = vec_of(g, size), times = 1 + below(g, 4);
	bool shared = chance(g, 50), own_block = chance(g, 40);
	struct place a;

	if (!take(g, &a, shared, own_block, size * n, shared || own_block ? 97 : 385))
		return;
	a.index = shared || own_block ? IX_THREAD : IX_GRID;
	while (times--)
		own_access(g, a, size, n);
}

/* What others have written is read behind a barrier. */
static void motif_exchange(struct gen *g)
{
	static const enum index others[] = {IX_PAIR, IX_NEXT, IX_BACK, IX_ZERO, IX_WARP, IX_FOUR};
	unsigned size = size_of(g), n = vec_of(g, size), bytes = size * n;
	struct place a, b;
	struct open o;
	bool loop = chance(g, 30);

	if (!take(g, &a, chance(g, 65), true, bytes, 130))
		return;
	b = a;
	b.index = others[below(g, 6)];
	if (loop)
		o = open_loop(g);
	put_load_store(g, true, chance(g, 85) ? "" : ".relaxed.cta", &a, size, n);
	plain(g);
	sync_block(g);
	/* Other sizes see parts of what one wrote, or more than that. */
	if (chance(g, 15) && bytes >= 2)
		put_load_store(g, false, "", &b, bytes / 2 > 8 ? 8 : bytes / 2, 1);
	else
		put_load_store(g, false, chance(g, 85) ? "" : ".volatile", &b, size, n);
	plain(g);
	if (loop || chance(g, 40))
		sync_block(g);
	if (loop)
		close_loop(g, o, 2 + below(g, 2));
	else if (slip(g, 40))
		own_access(g, a, size, n);
}

/* The same within warps. */
static void motif_warp(struct gen *g)
{
	unsigned size = size_of(g), half = chance(g, 40), other = 1 + below(g, half ? 15 : 31);
	struct place a, b;
	struct open o;
	const char *mask = half ? "0xffff" : "0xffffffff";

	if (!take(g, &a, chance(g, 60), true, size, 130))
		return;
	b = a;
	if (half)
		o = open_lt(g, "%l", 16);
	put_load_store(g, true, "", &a, size, 1);
	plain(g);
	if (slip(g, 25)) {
		switch (below(g, 4)) {
		case 0:
			put(g, "shfl.sync.bfly.b32 %%v3, %%v0, 1, 31, %s;", mask);
			break;
		case 1:
			put(g, "vote.sync.any.pred %%q, %%f, %s;", mask);
			break;
		case 2:
			put(g, "and.b32 %%v3, %%t, 0x10;");
			put(g, "setp.ne.u32 %%q, %%v3, 0;");
			put(g, "selp.b32 %%v3, %s, %s, %%q;", half ? "0xffff" : "0xffff0000", "0xffff");
			put(g, "bar.warp.sync %%v3;");
			break;
		default:
			put(g, "fence.acq_rel.cta;");
		}
	} else {
		put(g, "bar.warp.sync %s;", mask);
	}
	plain(g);
	put(g, "xor.b32 %%v4, %%t, %u;", other);
	put(g, "min.u32 %%v4, %%v4, 127;");
	if (b.space == 's' || b.space == 'y') {
		put(g, "mad.lo.u32 %%a, %%v4, %u, %%sb;", b.stride);
		put(g, "ld.shared.u%u %s, [%%a+%u];", size * 8, regs(size, 1), b.off);
	} else {
		put(g, "mul.wide.u32 %%ra, %%v4, %u;", b.stride);
		put(g, "add.s64 %%ra, %%ra, %%rg;");
		put(g, "mad.wide.u32 %%ra, %%c, 4096, %%ra;");
		put(g, "ld.global.u%u %s, [%%ra+%u];", size * 8, regs(size, 1), b.off);
	}
	plain(g);
	if (chance(g, 30)) {
		if (!slip(g, 30)) {
			put(g, "bar.warp.sync %s;", mask);
			plain(g);
		}
		put_load_store(g, true, "", &a, size, 1);
		plain(g);
	}
	if (half)
		close_if(g, o);
}

/* The mask of the lane's group of `size` lanes, in %v5. */
static void put_group(struct gen *g, unsigned size)
{
	put(g, "and.b32 %%v5, %%l, %u;", 32 - size);
	put(g, "mov.u32 %%v6, %u;", size == 32 ? 0xffffffffu : (1u << size) - 1);
	put(g, "shl.b32 %%v5, %%v6, %%v5;");
	put(g, "bar.warp.sync %%v5;");
}

/* Groups of lanes by themselves, smaller and larger ones by turns. */
static void motif_groups(struct gen *g)
{
	unsigned size = size_of(g), rounds = 1 + below(g, 3);
	bool shared = chance(g, 60);
	struct place a;

	if (!take(g, &a, shared, true, size, 130))
		return;
	a.space = shared ? 's' : 'g';
	while (rounds--) {
		unsigned group = 1u << (1 + below(g, 5)), other = 1 + below(g, group - 1);
		bool again = chance(g, 40);

		if (slip(g, 25))
			other = 1 + below(g, 31);
		put_load_store(g, true, "", &a, size, 1);
		plain(g);
		if (again && !slip(g, 25))
			put_group(g, group);
		else if (again)
			put_group(g, 2);
		if (again)
			put(g, "bar.warp.sync %%v5;");
		else
			put_group(g, group);
		plain(g);
		put(g, "xor.b32 %%v4, %%t, %u;", other);
		if (shared) {
			put(g, "mad.lo.u32 %%a, %%v4, %u, %%sb;", a.stride);
			put(g, "ld.shared.u%u %s, [%%a+%u];", size * 8, regs(size, 1), a.off);
		} else {
			put(g, "mul.wide.u32 %%ra, %%v4, %u;", a.stride);
			put(g, "add.s64 %%ra, %%ra, %%rg;");
			put(g, "mad.wide.u32 %%ra, %%c, 4096, %%ra;");
			put(g, "ld.global.u%u %s, [%%ra+%u];", size * 8, regs(size, 1), a.off);
		}
		plain(g);
		if (!slip(g, 10)) {
			put_group(g, group);
			plain(g);
		}
	}
}

/* Data, then a flag; the flag, then data. */
static void motif_message(struct gen *g)
{
	bool same = g->p->blocks < 2 || (chance(g, 35) && g->p->threads > 32);
	bool in_shared = same && chance(g, 50), many = chance(g, 35), one, half;
	unsigned from = below(g, g->p->blocks), to = same ? from : (from + 1) % g->p->blocks;
	unsigned reader = same ? g->p->threads - 1 : below(g, g->p->threads);
	unsigned size = size_of(g), n = vec_of(g, size);
	struct place data, flag;
	struct open o, i;

	if (g->p->blocks < 2 && g->p->threads < 2)
		return;
	if (!take(g, &data, in_shared, false, size * n, 130) ||
	    !take(g, &flag, in_shared || (same && chance(g, 30)), false, 4, 1))
		return;
	flag.index = IX_ZERO;
	data.index = many ? IX_LANE : IX_ZERO;
	if (many) {
		put(g, "setp.eq.u32 %%p, %%c, %u;", from);
		half = chance(g, 40);
		put(g, "setp.lt.and.u32 %%p, %%t, %u, %%p;", half && !slip(g, 25) ? 16 : 32);
		o = open_if(g);
	} else {
		o = open_thread(g, from, 0);
	}
	put_load_store(g, true, "", &data, size, n);
	plain(g);
	if (many) {
		if (half) {
			put_group(g, 16);
			plain(g);
		} else if (!slip(g, 15)) {
			put(g, "bar.warp.sync 0xffffffff;");
			plain(g);
		}
		i = open_eq(g, "%l", 0);
	}
	put_release(g, &flag, same);
	if (slip(g, 10)) {
		put_load_store(g, true, "", &data, size, n);
		plain(g);
	}
	if (many)
		close_if(g, i);
	close_if(g, o);
	data.index = many && chance(g, 60) ? IX_LAST : IX_ZERO;
	one = chance(g, 70);
	if (one) {
		o = open_thread(g, to, reader);
	} else {
		put(g, "setp.eq.u32 %%p, %%c, %u;", to);
		put(g, "setp.ge.and.u32 %%p, %%t, %u, %%p;", same ? 32 : 0);
		o = open_if(g);
	}
	put_acquire(g, &flag, same);
	if (!slip(g, 6))
		i = open_found(g);
	else
		i.pair = 0;
	put_load_store(g, one && !many && chance(g, 20), "", &data, size, n);
	plain(g);
	if (i.pair)
		close_if(g, i);
	close_if(g, o);
}

/* A lock around plain data. */
static void motif_lock(struct gen *g)
{
	bool same = g->p->blocks < 2 || chance(g, 30), shared = same && chance(g, 60);
	struct place lock, data;
	const char *s = scope(g, same), *s2 = scope(g, same);
	struct open o, i;

	if (!take(g, &lock, shared, true, 4, 1) || !take(g, &data, shared, true, 4, 2))
		return;
	if (!same)
		lock.own_block = data.own_block = false;
	lock.index = data.index = IX_ZERO;
	o = open_eq(g, same ? "%l" : "%t", 0);
	{
		unsigned loop = ++g->labels, done = ++g->labels;

		put(g, "mov.u32 %%k7, 0;");
		put_label(g, loop);
		put(g, "atom%s%s.cas.b32 %%v0, %s, 0, 1;",
		    strong(slip(g, 10) ? ".relaxed" : PICK(g, ".acquire", ".acq_rel"), s),
		    space_text(&lock), put_address(g, &lock));
		put(g, "setp.eq.u32 %%f, %%v0, 0;");
		put(g, "@%%f bra L%u;", done);
		put(g, "add.u32 %%k7, %%k7, 1;");
		put(g, "setp.lt.u32 %%q, %%k7, 24;");
		put(g, "@%%q bra L%u;", loop);
		put_label(g, done);
		plain(g);
	}
	i = open_found(g);
	put_load_store(g, false, "", &data, 4, 1);
	plain(g);
	put_load_store(g, true, "", &data, 4, 1);
	plain(g);
	if (slip(g, 15)) {
		if (chance(g, 50)) {
			put(g, "st%s.u32 %s, 0;", space_text(&lock), put_address(g, &lock));
			plain(g);
		} else {
			put(g, "st.relaxed%s%s.u32 %s, 0;", s2, space_text(&lock), put_address(g, &lock));
			plain(g);
		}
	} else if (chance(g, 50)) {
		put(g, "st.release%s%s.u32 %s, 0;", s2, space_text(&lock), put_address(g, &lock));
		plain(g);
	} else if (chance(g, 50)) {
		put(g, "atom.release%s%s.exch.b32 %%v0, %s, 0;", s2, space_text(&lock),
		    put_address(g, &lock));
		plain(g);
	} else {
		put_fence(g, true, s2);
		put(g, "st.relaxed%s%s.u32 %s, 0;", s2, space_text(&lock), put_address(g, &lock));
		plain(g);
	}
	close_if(g, i);
	close_if(g, o);
}

/* Everybody counts; who comes last looks at what all have done. */
static void motif_counter(struct gen *g)
{
	bool blocks = g->p->blocks > 1 && chance(g, 70);
	struct place count, data, one;
	const char *s = scope(g, !blocks), *s2 = scope(g, !blocks);
	struct open o, i;

	if (!take(g, &count, !blocks && chance(g, 50), !blocks, 4, 1) ||
	    !take(g, &data, !blocks && chance(g, 50), !blocks, 4, 130))
		return;
	count.index = IX_ZERO;
	data.index = blocks ? IX_BLOCK : IX_THREAD;
	one = data;
	one.index = IX_ZERO;
	if (blocks)
		o = open_eq(g, "%t", 0);
	put_load_store(g, true, "", &data, 4, 1);
	plain(g);
	if (chance(g, 50)) {
		put(g, "atom%s%s.add.u32 %%v0, %s, 1;",
		    strong(slip(g, 15) ? PICK(g, ".release", ".acquire", ".relaxed") : ".acq_rel", s),
		    space_text(&count), put_address(g, &count));
	} else {
		if (!slip(g, 15))
			put_fence(g, true, s2);
		put(g, "atom%s%s.add.u32 %%v0, %s, 1;", strong(PICK(g, "", ".relaxed"), s),
		    space_text(&count), put_address(g, &count));
		if (!slip(g, 15))
			put(g, "fence.acq_rel%s;", s2);
	}
	put(g, "add.u32 %%v0, %%v0, %u;", slip(g, 10) ? 2 : 1);
	put(g, "setp.ge.u32 %%f, %%v0, %s;", blocks ? "%m" : "%n");
	plain(g);
	i = open_found(g);
	put_load_store(g, chance(g, 20), "", &one, 4, 1);
	plain(g);
	one.off += 4;
	put_load_store(g, chance(g, 20), "", &one, 4, 1);
	plain(g);
	close_if(g, i);
	if (blocks)
		close_if(g, o);
}

/* One warp hands over to another by a barrier with a count; perhaps back again. */
static void motif_named(struct gen *g)
{
	unsigned id = 1 + below(g, 15), back = 1 + below(g, 15);
	struct place a;
	struct open o;
	bool both = chance(g, 40), broken;

	if (!g->whole || g->p->threads < 64 || !take(g, &a, chance(g, 70), true, 4, 130))
		return;
	if (back == id)
		back = id % 15 + 1;
	a.index = IX_LANE;
	broken = slip(g, 15);
	o = open_eq(g, "%w", 0);
	put_load_store(g, true, "", &a, 4, 1);
	plain(g);
	put(g, "barrier.%s %u, 64;", chance(g, 70) ? "arrive" : "sync", id);
	plain(g);
	if (both && !broken) {
		put(g, "barrier.sync %u, 64;", back);
		plain(g);
	}
	if (both || broken) {
		put_load_store(g, true, "", &a, 4, 1);
		plain(g);
	}
	close_if(g, o);
	o = open_eq(g, "%w", 1);
	put(g, "barrier.sync %u, 64;", id);
	plain(g);
	put_load_store(g, false, "", &a, 4, 1);
	plain(g);
	if (both && !broken) {
		put(g, "barrier.%s %u, 64;", chance(g, 50) ? "arrive" : "sync", back);
		plain(g);
	}
	close_if(g, o);
}

/* Atomics of all on a few places. */
static void motif_histogram(struct gen *g)
{
	bool shared = chance(g, 40), packed = chance(g, 20);
	unsigned size = chance(g, 70) ? 4 : 8, times = 1 + below(g, 3);
	struct place a;

	if (!take(g, &a, shared, false, 8, 16))
		return;
	a.index = chance(g, 60) ? IX_FOUR : IX_ZERO;
	while (times--) {
		const char *sc = scope(g, shared), *how = strong(PICK(g, "", ".relaxed"), sc);
		bool red = chance(g, 50);

		if (slip(g, 10))
			put_load_store(g, red, "", &a, size, 1);
		else if (slip(g, 8))
			put_atomic(g, false, how, &a, size == 4 ? 8 : 4);
		else if (packed)
			put_packed(g, red, strong(".relaxed", sc), &a);
		else if (chance(g, 20))
			put_load_store(g, red, strong(".relaxed", sc), &a, size, 1);
		else
			put_atomic(g, red, how, &a, size);
		plain(g);
	}
}

/* A third thread hears of what the first has done from the second. */
static void motif_chain(struct gen *g)
{
	struct place data, one, two;
	unsigned last = g->p->blocks - 1;
	struct open o, i;
	const char *sc;
	bool rmw = chance(g, 50);

	if (g->p->blocks < 3 || !take(g, &data, false, false, 4, 1) ||
	    !take(g, &one, false, false, 4, 1) || !take(g, &two, false, false, 4, 1))
		return;
	data.index = one.index = two.index = IX_ZERO;
	o = open_thread(g, 0, 0);
	put_load_store(g, true, "", &data, 4, 1);
	plain(g);
	put_release(g, &one, false);
	close_if(g, o);
	o = open_thread(g, 1, 0);
	if (rmw) {                      /* a link of a release sequence; one flag */
		put_acquire(g, &one, false);
		i = open_found(g);
		sc = scope(g, false);
		put_atomic(g, chance(g, 50), strong(".relaxed", sc), &one, 4);
		plain(g);
		close_if(g, i);
	} else {
		put_acquire(g, &one, false);
		i = open_found(g);
		put_release(g, &two, false);
		close_if(g, i);
	}
	close_if(g, o);
	o = open_thread(g, last, 0);
	put_acquire(g, rmw ? &one : &two, false);
	i = open_found(g);
	put_load_store(g, chance(g, 30), "", &data, 4, 1);
	plain(g);
	close_if(g, i);
	close_if(g, o);
}

/* Everybody reads; nobody writes. */
static void motif_read(struct gen *g)
{
	unsigned size = size_of(g), n = vec_of(g, size), times = 1 + below(g, 3);
	struct place a;

	if (!take(g, &a, chance(g, 30), false, size * n, 385))
		return;
	while (times--) {
		a.index = (enum index)below(g, IX_COUNT);
		put_load_store(g, slip(g, 8), "", &a, size, n);
		plain(g);
	}
	if (a.space != 'g' || !chance(g, 50))
		return;
	put(g, "ld.global.nc.u%u %s, %s;", size * 8, regs(size, 1), put_address(g, &a));
	plain(g);
	if (slip(g, 20))
		own_access(g, a, size, n);
}

/* Anything at all at a few bytes: for races and orders that nobody thought of. */
static void motif_soup(struct gen *g)
{
	unsigned times = 3 + below(g, 6), off;
	bool shared = chance(g, 40);
	struct place a;
	struct open o;

	if (!take(g, &a, shared, false, 8, 8))
		return;
	off = a.off;
	while (times--) {
		unsigned size = size_of(g), who = below(g, 4), store = chance(g, 30);
		const char *sc = any_scope(g), *sem = PICK(g, ".relaxed", ".acquire", ".release", ".acq_rel");
		unsigned block = below(g, g->p->blocks), thread = below(g, g->p->threads);

		a.off = off + below(g, 3) * 8 + (chance(g, 50) ? 0 : below(g, 8 / size) * size);
		a.stride = 8;
		a.index = chance(g, 70) ? IX_ZERO : chance(g, 50) ? IX_WARP : IX_BLOCK;
		if (who == 0)
			o = open_thread(g, block, thread);
		else if (who == 1)
			o = open_eq(g, "%l", below(g, 32));
		else if (who == 2)
			o = open_eq(g, "%t", thread);
		else
			o = open_eq(g, "%w", below(g, 3));
		switch (below(g, 9)) {
		case 0:
			put_fence(g, store, sc);
			break;
		case 1:
			put_load_store(g, true, strong(sem[1] == 'r' ? sem : ".release", sc), &a, size, 1);
			break;
		case 2:
			put_load_store(g, false, strong(sem[1] == 'a' ? ".acquire" : ".relaxed", sc), &a,
				       size, 1);
			break;
		case 3:
			if (size >= 4) {
				put_atomic(g, false, strong(sem, sc), &a, size);
				break;
			}
			/* fall through */
		case 4:
			put_load_store(g, true, "", &a, size, 1);
			break;
		case 5:
			if (size >= 4) {
				put_atomic(g, true, strong(sem[1] == 'r' ? sem : ".release", sc), &a, size);
				break;
			}
			/* fall through */
		case 6:
			put_load_store(g, store, ".volatile", &a, size, 1);
			break;
		default:
			put_load_store(g, store, "", &a, size, 1);
		}
		plain(g);
		close_if(g, o);
		if (chance(g, 15))
			put_barrier(g);
	}
}

/* Writes to two places and looks at the other's, a fence.sc between. */
static void motif_store_buffer(struct gen *g)
{
	bool same = g->p->blocks < 2;
	struct place a, b;

	if (!take(g, &a, false, false, 4, 1) || !take(g, &b, false, false, 4, 1))
		return;
	if (same && g->p->threads < 33)
		return;
	a.index = b.index = IX_ZERO;
	for (unsigned i = 0; i < 2; i++) {
		struct open o = open_thread(g, same ? 0 : i, same ? i * 32 : 0);
		const char *how = strong(".relaxed", scope(g, same));

		if (!g->p->safe && chance(g, 40))
			how = "";

		put_load_store(g, true, how, i ? &b : &a, 4, 1);
		plain(g);
		put(g, "fence.sc%s;", scope(g, same));
		plain(g);
		put_load_store(g, false, how, i ? &a : &b, 4, 1);
		plain(g);
		close_if(g, o);
	}
}

/* Some threads leave early; or a barrier that not all come to, which may be the end. */
void motif_leave(struct gen *g)
{
	bool lane;

	switch (slip(g, 15) ? below(g, 3) : 0) {
	case 1:
		if (g->whole && g->p->threads > 32) {
			struct open o = open_eq(g, "%w", 0);

			put(g, "barrier.sync 3;");
			plain(g);
			close_if(g, o);
		}
		break;
	case 2:
		if (g->whole && g->p->threads > 32) {
			put(g, "barrier.sync 5, 32;");
			plain(g);
		}
		break;
	default:
		lane = chance(g, 50);
		put(g, "setp.eq.u32 %%p, %%%c, %u;", lane ? 'l' : 'w', below(g, 4));
		put(g, "@%%p exit;");
		plain(g);
	}
}

void any_motif(struct gen *g)
{
	static void (*const motifs[])(struct gen *) = {
		motif_own, motif_own, motif_exchange, motif_exchange, motif_exchange,
		motif_warp, motif_groups, motif_groups,
		motif_message, motif_message, motif_message, motif_lock, motif_counter, motif_counter,
		motif_named, motif_histogram, motif_chain, motif_read, motif_store_buffer
	};

	motifs[below(g, sizeof motifs / sizeof *motifs)](g);
}

void gen_make(struct gen_prog *p, uint64_t seed, bool async)
{
	static const unsigned threads[] = {1, 2, 16, 31, 32, 32, 33, 48, 64, 64, 64, 64, 96, 96};
	struct gen g = {.p = p, .slips = ~0u, .rng = (seed + (uint64_t)async * UINT64_C(0x517cc1b727220a95)) * UINT64_C(0xd1342543de82ef95) + 1};
	unsigned times;

	*p = (struct gen_prog){.seed = seed, .async = async};
	p->safe = chance(&g, 40);
	p->blocks = 1 + below(&g, 4);
	p->threads = threads[below(&g, sizeof threads / sizeof *threads)];
	g.whole = p->threads % 32 == 0;
	if (seed >= GEN_LOCKS) {
		if (seed >= GEN_ERRORS)
			wrong_motifs(&g);
		else
			lock_motifs(&g);
		return;
	}
	if (async) {
		if (seed < GEN_PRODUCTS)
			async_motifs(&g);
		else if (seed < GEN_ROWS)
			product_motifs(&g);
		else
			row_motifs(&g);
		return;
	}
	g.global = 0;
	times = 1 + below(&g, 4);
	while (times--) {
		if (!p->safe && chance(&g, 20))
			motif_soup(&g);
		else
			any_motif(&g);
	}
	if (chance(&g, 8))
		motif_leave(&g);
	/* Its memory is used once more, with nothing but a barrier in between. */
	if (slip(&g, 15)) {
		put_barrier(&g);
		g.shared = g.global = 0;
		any_motif(&g);
	}
}
