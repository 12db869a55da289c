/* SPDX-License-Identifier: Apache-2.0
 *
 * wrong_sync.c: forms of wrong.c: what may not be done with barriers and mbarriers, what a block leaves behind when
 * it ends, and waits without an end (memory-model.md 1.5, 1.7, 1.11).
 */
#include "testsuite/gen/wrong.h"

#include <stdio.h>

static const char barrier[] = "barrier-misuse", mbarrier[] = "mbarrier-misuse";

/* Those whose register is below `n` do what follows until put_else(), the others what follows that. */
static unsigned put_branch(struct gen *g, const char *reg, unsigned n)
{
	unsigned label = g->labels += 2;

	put(g, "setp.ge.u32 %%p, %s, %u;", reg, n);
	put(g, "@%%p bra L%u;", label - 1);
	return label;
}

static void put_else(struct gen *g, unsigned label)
{
	put(g, "bra L%u;", label);
	put_label(g, label - 1);
}

static bool warps(const struct wrong *w, unsigned n)
{
	return w->g->whole && w->g->p->threads >= n * 32;
}

/* ---- barriers ------------------------------------------------------------------------------ */

/* A count that is no multiple of the warp size. */
static bool odd_count(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned all = (g->p->threads + 31) / 32 * 32, count = w->bad ? all - 1 - below(g, 31) : all, id;

	if (!wrong_id(w, &id))
		return false;
	if (chance(g, 50)) {
		put(g, "mov.u32 %%ev, %u;", count);
		put(g, "barrier.sync %u, %%ev;%s", id, wrong_mark(w));
	} else {
		put(g, "%s %u, %u;%s", PICK(g, "barrier.sync", "bar.sync", "barrier.cta.sync"), id, count, wrong_mark(w));
	}
	plain(g);
	wrong_plant(w, barrier, GEN_MAY_FAULT | GEN_MAY_HANG);
	return true;
}

/* Two warps that are to meet count differently. */
static bool two_counts(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned other = below(g, 2) ? 96 : 32, id, label;
	bool arrives = chance(g, 50) && other == 32;

	if (!warps(w, 2) || !wrong_id(w, &id))
		return false;
	put(g, "setp.gt.u32 %%p, %%w, 1;");
	label = g->labels += 1;
	put(g, "@%%p bra L%u;", label);
	label = put_branch(g, "%w", 1);
	put(g, "barrier.%s %u, 64;%s", arrives ? "arrive" : "sync", id, wrong_mark(w));
	put_else(g, label);
	put(g, "barrier.sync %u, %u;%s", id, w->bad ? other : 64, wrong_mark(w));
	put_label(g, label);
	put_label(g, label - 2);
	plain(g);
	wrong_plant(w, barrier, GEN_MAY_FAULT | GEN_MAY_HANG | GEN_MAY_MISS);
	return true;
}

/* The lanes of a warp come by two instructions, which .aligned ones may not be. */
static bool apart(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned id, label;

	if (!warps(w, 1) || !wrong_id(w, &id))
		return false;
	label = put_branch(g, "%l", 1 + below(g, 31));
	put(g, "%s %u;%s", w->bad ? "bar.sync" : "barrier.sync", id, wrong_mark(w));
	put_else(g, label);
	put(g, "%s %u;%s", w->bad ? PICK(g, "bar.sync", "barrier.sync.aligned") : "barrier.sync", id, wrong_mark(w));
	put_label(g, label);
	plain(g);
	wrong_plant(w, barrier, 0);
	return true;
}

/* Some reduce, and some do not. */
static bool mixed(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned id, label;

	if (!warps(w, 2) || !wrong_id(w, &id))
		return false;
	put(g, "setp.lt.u32 %%q, %%l, 5;");
	label = put_branch(g, "%w", 1);
	put(g, "barrier.red.popc.u32 %%ev, %u, %%q;%s", id, wrong_mark(w));
	put_else(g, label);
	if (w->bad)
		put(g, "barrier.sync %u;%s", id, wrong_mark(w));
	else
		put(g, "barrier.red.popc.u32 %%ev, %u, %%q;", id);
	put_label(g, label);
	plain(g);
	wrong_plant(w, barrier, GEN_MAY_FAULT);
	return true;
}

/* One lane, or all, are not in the mask that they name. */
static bool mask(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned k = below(g, 32);

	if (!warps(w, 1))
		return false;
	switch (below(g, 3)) {
	case 0:
		put(g, "bar.warp.sync 0x%x;%s", w->bad ? ~(1u << k) : ~0u, wrong_mark(w));
		break;
	case 1:                         /* its half; of the neighbour, the other one */
		put(g, "and.b32 %%ev, %%l, 16;");
		put(g, "mov.u32 %%eb, 0x%x;", w->bad ? 0xffff0000u : 0xffffu);
		put(g, "%s %%eb, %%eb, %%ev;", w->bad ? "shr.u32" : "shl.b32");
		put(g, "bar.warp.sync %%eb;%s", wrong_mark(w));
		break;
	default:                        /* pairs of lanes */
		put(g, "and.b32 %%ev, %%l, 30;");
		put(g, "mov.u32 %%eb, 3;");
		put(g, "shl.b32 %%eb, %%eb, %%ev;");
		if (w->bad)
			put(g, "shl.b32 %%eb, %%eb, 1;");
		put(g, "bar.warp.sync %%eb;%s", wrong_mark(w));
	}
	plain(g);
	wrong_plant(w, barrier, GEN_MAY_FAULT | GEN_MAY_HANG);
	return true;
}

/* Arrives at the cluster's barrier again, before it has waited. */
static bool cluster_twice(struct wrong *w)
{
	struct gen *g = w->g;
	const char *how = PICK(g, "", ".aligned");

	if (!g->p->cluster)
		return false;
	put(g, "barrier.cluster.arrive%s;%s", how, wrong_mark(w));
	if (!w->bad)
		put(g, "barrier.cluster.wait%s;", how);
	put(g, "barrier.cluster.arrive%s;%s", how, wrong_mark(w));
	put(g, "barrier.cluster.wait%s;", how);
	plain(g);
	wrong_plant(w, barrier, GEN_MAY_FAULT | GEN_MAY_HANG);
	return true;
}

wrong_form *const wrong_barriers[] = {odd_count, two_counts, apart, mixed, mask, mask, cluster_twice};
const unsigned wrong_nbarriers = sizeof wrong_barriers / sizeof *wrong_barriers;

/* ---- mbarriers ----------------------------------------------------------------------------- */

/* What one thread does with an mbarrier that it has, or has not. */
static void put_use(struct wrong *w, unsigned at)
{
	struct gen *g = w->g;

	switch (below(g, 3)) {
	case 0:
		put(g, "mbarrier.arrive.shared.b64 %%ex, [eb+%u];%s", at, wrong_mark(w));
		break;
	case 1:
		put(g, "mbarrier.test_wait.parity.shared.b64 %%f, [eb+%u], 1;%s", at, wrong_mark(w));
		break;
	default:
		put(g, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [eb+%u], 16;%s", at, wrong_mark(w));
	}
}

/* Some thread does with an mbarrier of its own what `body` writes. */
static bool by_a_thread(struct wrong *w, void (*body)(struct wrong *, unsigned at), unsigned may)
{
	struct gen *g = w->g;
	unsigned at;
	struct open o;

	if (!wrong_bar(w, &at))
		return false;
	o = open_eq(g, "%t", below(g, g->p->threads));
	body(w, at);
	plain(g);
	close_if(g, o);
	wrong_plant(w, mbarrier, may);
	return true;
}

static void put_init_twice(struct wrong *w, unsigned at)
{
	struct gen *g = w->g;

	put(g, "mbarrier.init.shared.b64 [eb+%u], %u;", at, 1 + below(g, 4));
	if (!w->bad)
		put(g, "mbarrier.inval.shared.b64 [eb+%u];", at);
	put(g, "mbarrier.init.shared.b64 [eb+%u], %u;%s", at, 1 + below(g, 4), wrong_mark(w));
}

static bool init_twice(struct wrong *w) { return by_a_thread(w, put_init_twice, GEN_MAY_FAULT); }

static void put_no_init(struct wrong *w, unsigned at)
{
	struct gen *g = w->g;

	if (!w->bad)
		put(g, "mbarrier.init.shared.b64 [eb+%u], %u;", at, 1 + below(g, 4));
	put_use(w, at);
}

static bool no_init(struct wrong *w) { return by_a_thread(w, put_no_init, GEN_MAY_FAULT); }

static void put_after_inval(struct wrong *w, unsigned at)
{
	struct gen *g = w->g;

	put(g, "mbarrier.init.shared.b64 [eb+%u], %u;", at, 1 + below(g, 4));
	if (w->bad)
		put(g, "mbarrier.inval.shared.b64 [eb+%u];", at);
	put_use(w, at);
	if (!w->bad)
		put(g, "mbarrier.inval.shared.b64 [eb+%u];", at);
}

static bool after_inval(struct wrong *w) { return by_a_thread(w, put_after_inval, GEN_MAY_FAULT); }

/* It is stored to while it lives. */
static void put_stored(struct wrong *w, unsigned at)
{
	struct gen *g = w->g;
	unsigned words = below(g, 2);

	put(g, "mbarrier.init.shared.b64 [eb+%u], 1;", at);
	if (chance(g, 50))
		put(g, "mbarrier.arrive.shared.b64 %%ex, [eb+%u];", at);
	if (!w->bad)
		put(g, "mbarrier.inval.shared.b64 [eb+%u];", at);
	put(g, "st.shared.%s [eb+%u], %s;%s", words ? "u64" : "u32", at, words ? "%x0" : "%v0", wrong_mark(w));
}

static bool stored(struct wrong *w) { return by_a_thread(w, put_stored, GEN_MAY_FAULT); }

/* More arrivals than the phase expects: by one, or while bytes are out. */
static void put_arrivals(struct wrong *w, unsigned at)
{
	struct gen *g = w->g;
	unsigned n = 1 + below(g, 5);
	bool bytes = chance(g, 50);

	put(g, "mbarrier.init.shared.b64 [eb+%u], %u;", at, n);
	if (bytes) {
		put(g, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [eb+%u], 16;", at);
		put(g, "mbarrier.arrive.shared::cta.b64 %%ex, [eb+%u], %u;", at, w->bad ? n : 1);
		if (w->bad || n > 1)
			put(g, "mbarrier.arrive.shared::cta.b64 %s, [eb+%u];%s", PICK(g, "%ex", "_"), at, wrong_mark(w));
	} else {
		put(g, "mbarrier.arrive.shared::cta.b64 %%ex, [eb+%u], %u;%s", at, w->bad ? n + 1 + below(g, 3) : n, wrong_mark(w));
	}
}

static bool arrivals(struct wrong *w) { return by_a_thread(w, put_arrivals, GEN_MAY_FAULT); }

/* More bytes than an mbarrier counts, at once or by one warp together. */
static void put_too_many_bytes(struct wrong *w, unsigned at)
{
	struct gen *g = w->g;
	unsigned half = 1u << 19;
	bool one = chance(g, 50);

	put(g, "mbarrier.init.shared.b64 [eb+%u], 2;", at);
	if (one) {
		put(g, "mbarrier.arrive.expect_tx.shared.b64 _, [eb+%u], %u;%s", at, half * 2 - !w->bad, wrong_mark(w));
	} else {
		put(g, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [eb+%u], %u;", at, half);
		put(g, "mbarrier.%s [eb+%u], %u;%s", PICK(g, "expect_tx.relaxed.cta.shared::cta.b64", "arrive.expect_tx.shared.b64 _,"), at,
		    half - !w->bad, wrong_mark(w));
	}
}

static bool too_many_bytes(struct wrong *w) { return by_a_thread(w, put_too_many_bytes, GEN_MAY_FAULT); }

/* Waits by the state of an arrival that is two phases old. */
static void put_stale(struct wrong *w, unsigned at)
{
	struct gen *g = w->g;

	put(g, "mbarrier.init.shared.b64 [eb+%u], 1;", at);
	put(g, "mbarrier.arrive.shared.b64 %%ex, [eb+%u];", at);
	wrong_wait(w, at, "%ex", "");
	put(g, "mbarrier.arrive.shared.b64 %%st, [eb+%u];", at);
	wrong_wait(w, at, "%st", "");
	put(g, "mbarrier.test_wait.shared.b64 %%f, [eb+%u], %s;%s", at, w->bad ? "%ex" : "%st", wrong_mark(w));
}

static bool stale(struct wrong *w) { return by_a_thread(w, put_stale, 0); }

/* In its second round the reader waits for the phase of the first. */
static bool older_parity(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned at, e, label, spin;
	struct place count;

	if (!warps(w, 2) || !take(g, &count, false, true, 4, 1) || !wrong_bar(w, &at) || !wrong_var(w, 4, &e))
		return false;
	wrong_init(w, at, 1);
	put(g, "mad.wide.u32 %%ra, %%c, 4096, %%rg;");
	put(g, "setp.gt.u32 %%p, %%w, 1;");
	spin = g->labels += 2;
	put(g, "@%%p bra L%u;", spin - 1);
	label = put_branch(g, "%w", 1);
	put(g, "@%%p bra L%u;", label);
	put(g, "setp.ne.u32 %%p, %%t, 0;");
	put(g, "@%%p bra L%u;", label);
	put(g, "st.shared.u32 [%%e%u], 1;", e);
	put(g, "mbarrier.arrive.shared.b64 _, [eb+%u];", at);
	put_label(g, spin);
	put(g, "ld.relaxed.cta.global.u32 %%ev, [%%ra+%u];", count.off);
	put(g, "setp.ne.u32 %%p, %%ev, 32;");
	put(g, "@%%p bra L%u;", spin);
	put(g, "st.shared.u32 [%%e%u], 2;%s", e, wrong_mark(w));
	put(g, "mbarrier.arrive.shared.b64 _, [eb+%u];", at);
	put_else(g, label);
	wrong_wait(w, at, "0", "");
	/* The write comes behind what is wrong, as the phase of that parity would not come again. */
	if (w->bad)
		wrong_wait(w, at, "0", "");
	put(g, "red.relaxed.cta.global.add.u32 [%%ra+%u], 1;", count.off);
	if (!w->bad)
		wrong_wait(w, at, "1", "");
	put(g, "ld.shared.u32 %%ev, [%%e%u];%s", e, wrong_mark(w));
	put_label(g, label);
	put_label(g, spin - 1);
	plain(g);
	wrong_plant(w, "data-race", 0);
	return true;
}

wrong_form *const wrong_mbarriers[] = {
	init_twice, no_init, after_inval, stored, arrivals, too_many_bytes, stale, older_parity
};
const unsigned wrong_nmbarriers = sizeof wrong_mbarriers / sizeof *wrong_mbarriers;

/* ---- ends ------------------------------------------------------------------------------------- */

/* A store, or a load, is under way when the block ends. */
static bool store_left(struct wrong *w)
{
	struct gen *g = w->g;
	struct place to;
	struct open o;
	unsigned e;

	if (!take(g, &to, false, true, 16, 8) || !wrong_var(w, 128, &e))
		return false;
	o = open_eq(g, "%t", below(g, g->p->threads));
	put(g, "mad.wide.u32 %%ra, %%c, 4096, %%rg;");
	put(g, "cp.async.bulk.global.shared::cta.bulk_group [%%ra+%u], [%%e%u], %u;%s", to.off, e, 16 * (1 + below(g, 8)), wrong_mark(w));
	put(g, "cp.async.bulk.commit_group;");
	if (!w->bad)
		put(g, "cp.async.bulk.wait_group%s 0;", PICK(g, "", ".read"));
	else if (chance(g, 50))
		put(g, "cp.async.bulk.wait_group.read 1;");
	plain(g);
	close_if(g, o);
	wrong_plant(w, "lifetime", 0);
	return true;
}

static bool load_left(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned e, at;

	if (!wrong_bar(w, &at) || !wrong_var(w, 128, &e))
		return false;
	wrong_init(w, at, 1);
	put(g, "setp.eq.u32 %%p, %%t, 0;");
	put(g, "@%%p mbarrier.arrive.expect_tx.shared.b64 _, [eb+%u], 128;", at);
	put(g, "@%%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%e%u], [%%src], 128, [eb+%u];%s", e, at, wrong_mark(w));
	if (!w->bad)
		wrong_wait(w, at, "0", "");
	plain(g);
	wrong_plant(w, "lifetime", 0);
	return true;
}

/* A peer's memory is accessed, which may be over. */
static bool peer_gone(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned e;

	if (!g->p->cluster || !wrong_var(w, 512, &e))
		return false;
	put(g, "barrier.cluster.arrive;");
	put(g, "barrier.cluster.wait;");
	put(g, "mapa.shared::cluster.u32 %%ea, %%e%u, %%peer;", e);
	put(g, "mad.lo.u32 %%ea, %%t, 4, %%ea;");
	put(g, "%s;%s", PICK(g, "ld.shared::cluster.u32 %ev, [%ea]", "st.shared::cluster.u32 [%ea], %v0",
	    "atom.shared::cluster.add.u32 %ev, [%ea], 1"), wrong_mark(w));
	if (!w->bad) {
		put(g, "barrier.cluster.arrive;");
		put(g, "barrier.cluster.wait;");
	}
	plain(g);
	wrong_plant(w, "lifetime", GEN_MAY_FAULT);
	return true;
}

/* Lanes that have exited are not waited for by who names them, nor at a barrier of all threads. */
static bool exited_named(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned n = 1 + below(g, 31);

	if (w->bad || !warps(w, 1))
		return false;
	put(g, "setp.ge.u32 %%p, %%l, %u;", n);
	put(g, "@%%p exit;");
	put(g, "bar.warp.sync 0xffffffff;");
	if (chance(g, 50))
		put(g, "barrier.sync 0;");
	put(g, "bar.warp.sync 0x%x;", (1u << n) - 1);
	plain(g);
	return true;
}

wrong_form *const wrong_ends[] = {store_left, load_left, peer_gone, exited_named};
const unsigned wrong_nends = sizeof wrong_ends / sizeof *wrong_ends;

/* ---- waits without an end ------------------------------------------------------------------------ */

static const char deadlock[] = "deadlock";

/* One arrival fewer than it counts. */
static bool arrival_missing(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned at;

	if (!wrong_bar(w, &at))
		return false;
	wrong_init(w, at, g->p->threads + w->bad);
	put(g, "mbarrier.arrive.shared.b64 _, [eb+%u];", at);
	wrong_wait(w, at, "0", wrong_mark(w));
	plain(g);
	wrong_plant(w, deadlock, GEN_IS_HANG | GEN_POLLS);
	return true;
}

/* A phase for which nobody arrives. */
static bool phase_too_far(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned at;

	if (!wrong_bar(w, &at))
		return false;
	wrong_init(w, at, g->p->threads);
	put(g, "mbarrier.arrive.shared.b64 _, [eb+%u];", at);
	wrong_wait(w, at, "0", "");
	wrong_wait(w, at, w->bad ? "1" : "0", wrong_mark(w));
	plain(g);
	wrong_plant(w, deadlock, GEN_IS_HANG | GEN_POLLS);
	return true;
}

/* Fewer bytes come than are expected. */
static bool bytes_missing(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned at, e;

	if (!wrong_bar(w, &at) || !wrong_var(w, 64, &e))
		return false;
	wrong_init(w, at, 1);
	put(g, "setp.eq.u32 %%p, %%t, 0;");
	put(g, "@%%p mbarrier.arrive.expect_tx.shared.b64 _, [eb+%u], %u;", at, w->bad ? 80 : 64);
	put(g, "@%%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%e%u], [%%src], 64, [eb+%u];", e, at);
	wrong_wait(w, at, "0", wrong_mark(w));
	plain(g);
	wrong_plant(w, deadlock, GEN_IS_HANG | GEN_POLLS);
	return true;
}

/* Each of two warps waits for what the other does behind its own wait. */
static bool crosswise(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned one, two, label;

	if (!warps(w, 2) || g->p->threads != 64 || !wrong_bar(w, &one) || !wrong_bar(w, &two))
		return false;
	wrong_init(w, one, 32);
	wrong_init(w, two, 32);
	label = put_branch(g, "%w", 1);
	if (!w->bad)
		put(g, "mbarrier.arrive.shared.b64 _, [eb+%u];", two);
	wrong_wait(w, one, "0", wrong_mark(w));
	if (w->bad)
		put(g, "mbarrier.arrive.shared.b64 _, [eb+%u];", two);
	put_else(g, label);
	wrong_wait(w, two, "0", wrong_mark(w));
	put(g, "mbarrier.arrive.shared.b64 _, [eb+%u];", one);
	put_label(g, label);
	plain(g);
	wrong_plant(w, deadlock, GEN_IS_HANG | GEN_POLLS);
	return true;
}

/* A flag that nobody sets: who would is behind the wait, or sets another. */
static bool flag_unset(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned e, label = ++g->labels;
	bool other = chance(g, 50);
	const char *how = PICK(g, "ld.volatile.shared.u32 %ev,", "ld.relaxed.cta.shared.u32 %ev,", "ld.acquire.cta.shared.u32 %ev,");

	if (!wrong_var(w, 16, &e))
		return false;
	put(g, "st.relaxed.cta.shared.u32 [%%e%u], 0;", e);
	put(g, "barrier.sync 0;");
	put(g, "setp.eq.u32 %%p, %%t, %u;", below(g, g->p->threads));
	if (!w->bad || other)
		put(g, "@%%p st.relaxed.cta.shared.u32 [%%e%u+%u], 1;", e, w->bad ? 4 : 0);
	put_label(g, label);
	put(g, "%s [%%e%u];%s", how, e, wrong_mark(w));
	put(g, "setp.eq.u32 %%q, %%ev, 0;");
	put(g, "@%%q bra L%u;", label);
	if (w->bad && !other)
		put(g, "@%%p st.relaxed.cta.shared.u32 [%%e%u], 1;", e);
	plain(g);
	wrong_plant(w, deadlock, GEN_IS_HANG | GEN_POLLS);
	return true;
}

/* Two barriers, which two warps come to in two orders. */
static bool two_ids(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned one, two, label;

	if (!warps(w, 2) || g->p->threads != 64 || !wrong_id(w, &one) || !wrong_id(w, &two))
		return false;
	label = put_branch(g, "%w", 1);
	put(g, "barrier.sync %u, 64;%s", one, wrong_mark(w));
	put(g, "barrier.sync %u, 64;", two);
	put_else(g, label);
	put(g, "barrier.sync %u, 64;%s", w->bad ? two : one, wrong_mark(w));
	put(g, "barrier.sync %u, 64;", w->bad ? one : two);
	put_label(g, label);
	plain(g);
	wrong_plant(w, deadlock, GEN_IS_HANG);
	return true;
}

/* A barrier whose count needs a warp that does not come: it has exited, or is done. */
static bool some_reach(struct wrong *w)
{
	struct gen *g = w->g;
	unsigned id, label;

	if (!warps(w, 2) || !wrong_id(w, &id))
		return false;
	label = put_branch(g, "%w", 1);
	put(g, "barrier.sync %u, %u;%s", id, w->bad ? 64 : 32, wrong_mark(w));
	put_else(g, label);
	if (chance(g, 50))
		put(g, "exit;");
	put_label(g, label);
	plain(g);
	wrong_plant(w, deadlock, GEN_IS_HANG);
	return true;
}

wrong_form *const wrong_hangs[] = {
	arrival_missing, phase_too_far, bytes_missing, crosswise, flag_unset, two_ids, two_ids, some_reach, some_reach
};
const unsigned wrong_nhangs = sizeof wrong_hangs / sizeof *wrong_hangs;
