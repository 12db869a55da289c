/* SPDX-License-Identifier: Apache-2.0
 *
 * wrong.c: programs of which half have an error that is no race: forms of wrong_sync.c and, here, accesses outside of
 * a variable, with motifs of the other families in between that have nothing wrong.  At most one form of a program has
 * its error; the others are there as they should be.
 */
#include "testsuite/gen/wrong.h"

#include <stdio.h>

#include "testsuite/gen/gen_async.h"

/* ---- what forms are made of ------------------------------------------------------------ */

void wrong_plant(struct wrong *w, const char *kind, unsigned may)
{
	if (!w->bad)
		return;
	w->g->p->planted = kind;
	w->g->p->may = may;
}

const char *wrong_mark(const struct wrong *w)
{
	return w->bad ? GEN_MARK : "";
}

bool wrong_var(struct wrong *w, unsigned bytes, unsigned *number)
{
	if (!bytes || w->vars == sizeof w->g->p->var / sizeof *w->g->p->var)
		return false;
	*number = w->vars;
	w->g->p->var[w->vars++] = bytes;
	return true;
}

bool wrong_bar(struct wrong *w, unsigned *at)
{
	*at = w->bars * 8;
	return w->bars++ < 8;
}

/* Those that other motifs use are kept apart from these by barriers; two forms have two. */
bool wrong_id(struct wrong *w, unsigned *id)
{
	*id = 15 - w->ids;
	return w->ids++ < 6;
}

void wrong_init(struct wrong *w, unsigned at, unsigned count)
{
	struct gen *g = w->g;

	put(g, "setp.eq.u32 %%p, %%t, 0;");
	put(g, "@%%p mbarrier.init.shared.b64 [eb+%u], %u;", at, count);
	put(g, "barrier.sync 0;");
}

void wrong_wait(struct wrong *w, unsigned at, const char *phase, const char *mark)
{
	struct gen *g = w->g;
	unsigned loop = ++g->labels;

	put_label(g, loop);
	put(g, "mbarrier.%s_wait%s.shared.b64 %%f, [eb+%u], %s;%s", PICK(g, "try", "try", "test"), *phase == '%' ? "" : ".parity", at,
	    phase, mark);
	put(g, "@!%%f bra L%u;", loop);
}

/* ---- accesses outside of a variable ---------------------------------------------------------- */

enum { UNIT = 128 };            /* in which blocks get shared memory; the dynamic part begins with one, or in its middle */

static unsigned threads(const struct wrong *w)
{
	return w->g->p->threads;
}

/* An access of `size` bytes, as n elements, at %ea. */
static void put_access(struct wrong *w, unsigned size, unsigned n, unsigned off)
{
	struct gen *g = w->g;
	const char *vec = n == 1 ? "" : n == 2 ? ".v2" : ".v4", *mark = wrong_mark(w);

	switch (n == 1 && size >= 4 ? below(g, 5) : below(g, 3)) {
	case 0:
		put(g, "ld.shared%s.u%u %s, [%%ea+%u];%s", vec, size * 8, regs(size, n), off, mark);
		break;
	case 1:
		put(g, "cvt.u64.u32 %%ra, %%ea;");
		put(g, "cvta.shared.u64 %%ra, %%ra;");
		put(g, "%s%s.u%u [%%ra+%u], %s;%s", chance(g, 50) ? "st" : "st.volatile", vec, size * 8, off, regs(size, n), mark);
		break;
	case 3:
		put(g, "atom.shared.%s.u%u %s, [%%ea+%u], %s;%s", size == 4 ? "add" : "max", size * 8, regs(size, 1), off, regs(size, 1), mark);
		break;
	case 4:
		put(g, "red.relaxed.cta.shared.add.u%u [%%ea+%u], %s;%s", size * 8, off, regs(size, 1), mark);
		break;
	default:
		put(g, "st.shared%s.u%u [%%ea+%u], %s;%s", vec, size * 8, off, regs(size, n), mark);
	}
	plain(g);
}

/* Each thread's element, and the one behind the last. */
static bool one_past(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned size = size_of(g), n = vec_of(g, size), bytes = size * n, e, more = chance(g, 50);

	/* Right is a variable with one element more, or an index that begins at 0. */
	if (!wrong_var(w, bytes * (threads(w) + (more && !w->bad)), &e))
		return false;
	put(g, "mad.lo.u32 %%ea, %%t, %u, %%e%u;", bytes, e);
	put_access(w, size, n, more || w->bad ? bytes : 0);
	wrong_plant(w, "shared-bounds", 0);
	return true;
}

/* The neighbour's element, which the first one has not. */
static bool negative(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned size = size_of(g), e;

	if (!wrong_var(w, size * threads(w), &e))
		return false;
	put(g, "mad.lo.u32 %%ea, %%t, %u, %%e%u;", size, e);
	put(g, "sub.u32 %%ea, %%ea, %u;", size);
	put(g, "setp.ge.s32 %%p, %%t, %u;", w->bad ? 0 : 1);
	put(g, "@%%p ld.shared.u%u %s, [%%ea];%s", size * 8, regs(size, 1), wrong_mark(w));
	plain(g);
	wrong_plant(w, "shared-bounds", 0);
	return true;
}

static bool stride(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned size = size_of(g), wide = size * (2 + below(g, 3)), e;
	bool more = chance(g, 50);

	if (threads(w) < 2 || wide * threads(w) > 4096)
		return false;
	if (!wrong_var(w, (more && !w->bad ? wide : size) * threads(w), &e))
		return false;
	put(g, "mul.lo.u32 %%ea, %%t, %u;", more || w->bad ? wide : size);
	put(g, "add.u32 %%ea, %%ea, %%e%u;", e);
	put_access(w, size, 1, 0);
	wrong_plant(w, "shared-bounds", 0);
	return true;
}

/* Of the last vector a part lies behind the end. */
static bool vector(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned size = 1u << below(g, 3), n = chance(g, 50) ? 2 : 4, e;

	if (!wrong_var(w, size * n * threads(w) - (w->bad ? size * (1 + below(g, n - 1)) : 0), &e))
		return false;
	put(g, "mad.lo.u32 %%ea, %%t, %u, %%e%u;", size * n, e);
	put_access(w, size, n, 0);
	wrong_plant(w, "shared-bounds", 0);
	return true;
}

/* One thread goes through an array, and one too far. */
static bool loop(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned size = size_of(g), n = 2 + below(g, 9), again = ++g->labels, e;
	struct open o;

	if (!wrong_var(w, size * n, &e))
		return false;
	o = open_eq(g, "%t", below(g, threads(w)));
	/* A register of its own: whose address it is is to be known across labels. */
	put(g, "mov.u32 %%el%u, %%e%u;", e, e);
	put(g, "mov.u32 %%ev, 0;");
	put_label(g, again);
	put(g, "%s.shared.u%u [%%el%u], %s;%s", chance(g, 50) ? "st" : "st.volatile", size * 8, e, regs(size, 1), wrong_mark(w));
	put(g, "add.u32 %%el%u, %%el%u, %u;", e, e, size);
	put(g, "add.u32 %%ev, %%ev, 1;");
	put(g, "setp.%s.u32 %%q, %%ev, %u;", w->bad ? "le" : "lt", n);
	put(g, "@%%q bra L%u;", again);
	plain(g);
	close_if(g, o);
	wrong_plant(w, "shared-bounds", 0);
	return true;
}

/* A bulk copy of 16 bytes more than its variable has, or one of which the variable is the source. */
static bool bulk(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned bytes = 16 * (1 + below(g, 12)), all = bytes + (w->bad ? 16 * (1 + below(g, 3)) : 0), at, e;
	bool store = chance(g, 35);
	struct place to;

	if (!wrong_bar(w, &at) || !wrong_var(w, bytes, &e))
		return false;
	if (!take(g, &to, false, true, 16, 16))
		return false;
	if (!store)
		wrong_init(w, at, 1);
	put(g, "setp.eq.u32 %%p, %%t, 0;");
	if (store) {
		put(g, "mad.wide.u32 %%ra, %%c, 4096, %%rg;");
		put(g, "@%%p cp.async.bulk.global.shared::cta.bulk_group [%%ra+%u], [%%e%u], %u;%s", to.off, e, all, wrong_mark(w));
		put(g, "cp.async.bulk.commit_group;");
		put(g, "cp.async.bulk.wait_group 0;");
	} else {
		put(g, "@%%p mbarrier.arrive.expect_tx.shared.b64 _, [eb+%u], %u;", at, all);
		put(g, "@%%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%e%u], [%%src], %u, [eb+%u];%s", e, all, at,
		    wrong_mark(w));
		wrong_wait(w, at, "0", "");
	}
	plain(g);
	wrong_plant(w, "shared-bounds", 0);
	return true;
}

/* cp.async, 4, 8 or 16 bytes a thread. */
static bool copies(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned size = 4u << below(g, 2), e;

	if (size * threads(w) > GEN_SOURCE || !wrong_var(w, size * threads(w) - (w->bad ? size : 0), &e))
		return false;
	put(g, "mad.lo.u32 %%ea, %%t, %u, %%e%u;", size, e);
	put(g, "mad.wide.u32 %%ex, %%t, %u, %%src;", size);
	put(g, "cp.async.ca.shared.global [%%ea], [%%ex], %u;%s", size, wrong_mark(w));
	put(g, "cp.async.wait_all;");
	plain(g);
	wrong_plant(w, "shared-bounds", 0);
	return true;
}

/* The memory that the launch was given. */
static bool dynamic(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned size = size_of(g), less = chance(g, 50) ? size : 0;

	if (g->p->dynamic || size * threads(w) <= less)
		return false;
	/* Behind the end of the block's last unit of shared memory the device has nothing. */
	if (w->bad && (size * threads(w) - less) % (UNIT / 2) == 0)
		return false;
	g->p->dynamic = size * threads(w) - (w->bad ? less : 0);
	put(g, "mad.lo.u32 %%ea, %%t, %u, %%dyn;", size);
	put_access(w, size, 1, w->bad && !less ? size : 0);
	wrong_plant(w, "shared-bounds", 0);
	return true;
}

wrong_form *const wrong_bounds[] = {one_past, negative, stride, vector, loop, bulk, copies, dynamic};
const unsigned wrong_nbounds = sizeof wrong_bounds / sizeof *wrong_bounds;

/* ---- programs ------------------------------------------------------------------------------------ */

/* By a barrier that no motif has with another count. */
static void put_meeting(struct gen *g)
{
	put(g, "%s 0;", PICK(g, "barrier.sync", "bar.sync", "barrier.cta.sync.aligned"));
	plain(g);
}

/* Something else that is right. */
static void between(struct gen *g)
{
	static void (*const others[])(struct gen *) = {motif_load, motif_store, motif_phases, motif_copies_arrive};

	g->p->safe = true;
	put_meeting(g);
	if (chance(g, 50))
		any_motif(g);
	else if (chance(g, 20))
		others[below(g, 4)](g);
	put_meeting(g);
}

/* False: the program did not have it, and is as before. */
static bool add(struct wrong *w, wrong_form *const *forms, unsigned n, bool bad)
{
	w->bad = bad;
	return forms[below(w->g, n)](w);
}

static bool add_any(struct wrong *w, bool bad)
{
	switch (below(w->g, 3)) {
	case 0:
		return add(w, wrong_bounds, wrong_nbounds, bad);
	case 1:
		return add(w, wrong_barriers, wrong_nbarriers, bad);
	default:
		return add(w, wrong_mbarriers, wrong_nmbarriers, bad);
	}
}

static bool add_end(struct wrong *w, bool bad)
{
	return chance(w->g, 50) ? add(w, wrong_ends, wrong_nends, bad) : add(w, wrong_hangs, wrong_nhangs, bad);
}

void wrong_motifs(struct gen *g)
{
	struct gen_prog *p = g->p;
	struct wrong w = {.g = g};
	bool planted = chance(g, 50), last = chance(g, 40);

	p->async = true;
	if (chance(g, 25)) {
		p->cluster = 2;
		p->blocks = chance(g, 75) ? 2 : 4;
	}
	between(g);
	for (unsigned n = below(g, 3); n-- > 0;) {
		add_any(&w, false);
		between(g);
	}
	while (planted && !last && !add_any(&w, true))
		;
	if (planted && !last)
		between(g);
	if (!planted || last)
		for (unsigned i = 0; i < 100 && !add_end(&w, planted); i++)
			;
	p->safe = !p->planted;
}
