/* SPDX-License-Identifier: Apache-2.0
 *
 * async.c: motifs of the asynchronous world within a block: mbarriers, copies of all
 * kinds and their groups, proxy fences, stages and rings.  As in gen.c, they have it
 * right unless something slips.
 */
#include "testsuite/gen/gen_async.h"

#include <stdio.h>

/* ---- pieces ---------------------------------------------------------------------------- */

bool take_bar(struct gen *g, struct bar *b)
{
	struct place a;

	if (!take(g, &a, true, false, 8, 1))
		return false;
	*b = (struct bar){a.off, 0};
	return true;
}

bool take_stage(struct gen *g, struct place *a, bool shared)
{
	if (shared)
		g->shared = (g->shared + 127) & ~127u;
	else
		g->global = (g->global + 127) & ~127u;
	return take(g, a, shared, true, 4, STAGE / 4);
}

void put_init(struct gen *g, const struct bar *b, unsigned count)
{
	put(g, "setp.eq.u32 %%p, %%t, 0;");
	put(g, "@%%p mbarrier.init.shared.b64 [%%sb+%u], %u;", b->off, count);
	plain(g);
}

/* Who uses an mbarrier that is not there ends the kernel: that is to be rare. */
void init_done(struct gen *g)
{
	if (chance(g, 15))
		sync_block(g);
	else
		put_barrier(g);
}

void put_polls(struct gen *g, const char *instruction, unsigned times)
{
	unsigned loop = ++g->labels, done = ++g->labels;

	/* Nothing is to be left of a program in which something else is looked for. */
	if (g->p->seed >= GEN_ERRORS) {
		put_label(g, loop);
		put(g, "%s", instruction);
		put(g, "@!%%f bra L%u;", loop);
		return;
	}
	put(g, "mov.u32 %%k7, 0;");
	put_label(g, loop);
	put(g, "%s", instruction);
	put(g, "@%%f bra L%u;", done);
	put(g, "add.u32 %%k7, %%k7, 1;");
	put(g, "setp.lt.u32 %%q, %%k7, %u;", times);
	put(g, "@%%q bra L%u;", loop);
	/* A barrier with a count waits for those that left. */
	if (times > POLLS || g->p->safe || chance(g, 15))
		put(g, "exit;");
	put_label(g, done);
}

void put_wait(struct gen *g, const struct bar *b, const char *parity, bool cluster)
{
	static const char *const sems[] = {"", ".acquire.cta", ".acquire.cluster", ".relaxed.cluster"};
	unsigned how = below(g, 4);
	char text[160];

	if (cluster && how < 2 && !slip(g, 15))
		how = 2;
	snprintf(text, sizeof text, "mbarrier.%s_wait.parity%s.shared%s.b64 %%f, [%%sb+%u], %s;",
		 PICK(g, "try", "try", "test"), sems[how], how ? "::cta" : "", b->off, parity);
	put_polls(g, text, POLLS);
	if (how == 3 && !slip(g, 15))
		put(g, "fence.%s.cluster;", PICK(g, "acquire", "acq_rel", "sc"));
	plain(g);
}

void put_await(struct gen *g, const struct bar *b, unsigned phase, unsigned times)
{
	char text[96];

	snprintf(text, sizeof text, "mbarrier.try_wait.parity%s.b64 %%f, [%%sb+%u], %u;",
		 PICK(g, ".shared", ".acquire.cta.shared::cta"), b->off, phase & 1);
	put_polls(g, text, times);
	plain(g);
}

void put_wait_now(struct gen *g, const struct bar *b)
{
	unsigned phase = slip(g, 6) ? b->phase + 1 : b->phase;

	put_wait(g, b, phase & 1 ? "1" : "0", false);
}

void put_arrive(struct gen *g, const struct bar *b, const char *state, bool cluster)
{
	const char *sc = cluster && !slip(g, 12) ? ".cluster" : PICK(g, ".cta", ".cluster");

	switch (below(g, cluster ? 3 : 5)) {
	case 0:
		put(g, "mbarrier.arrive.release%s.shared::cta.b64 %s, [%%sb+%u];", sc, state, b->off);
		break;
	case 1:
		put(g, "mbarrier.arrive.release%s.shared::cta.b64 %s, [%%sb+%u], 1;", sc, state, b->off);
		break;
	case 2:
		if (!slip(g, 20))
			put(g, "fence.%s%s;", PICK(g, "release", "acq_rel", "sc"), sc);
		put(g, "mbarrier.arrive.relaxed%s.shared::cta.b64 %s, [%%sb+%u];", sc, state, b->off);
		break;
	default:
		put(g, "mbarrier.arrive.shared.b64 %s, [%%sb+%u];", state, b->off);
	}
	plain(g);
}

/* A fence between the proxies, as far as the space goes. */
void put_proxy_fence(struct gen *g, bool shared)
{
	const char *space = shared ? PICK(g, "", ".shared::cta", ".shared::cta", ".shared::cluster") :
			    PICK(g, "", ".global");

	if (slip(g, 16)) {
		switch (below(g, 4)) {
		case 0:
			put(g, "fence.acq_rel%s;", any_scope(g));
			break;
		case 1:
			put(g, "fence.proxy.async%s;", shared ? ".global" : ".shared::cta");
			break;
		case 2:
			put(g, "setp.eq.u32 %%p, %%l, %u;", below(g, 32));
			put(g, "@%%p fence.proxy.async%s;", space);
			break;
		default:
			return;
		}
	} else {
		put(g, "fence.proxy.async%s;", space);
	}
	plain(g);
}

/* What threads have accessed is for the async proxy from now on. */
void hand_over(struct gen *g, bool shared)
{
	bool late = slip(g, 8);

	if (!late)
		put_proxy_fence(g, shared);
	sync_block(g);
	if (late)
		put_proxy_fence(g, shared);
}

/* A place in global memory; NULL: in that which nobody writes. */
const char *put_global(struct gen *g, const struct place *a, unsigned off)
{
	static char operand[32];

	if (!a)
		put(g, "mov.b64 %%ra, %%src;");
	else if (a->own_block)
		put(g, "mad.wide.u32 %%ra, %%c, 4096, %%rg;");
	else
		put(g, "mov.b64 %%ra, %%rg;");
	snprintf(operand, sizeof operand, "[%%ra+%u]", (a ? a->off : 0) + off);
	return operand;
}

struct part put_part(struct gen *g)
{
	static const unsigned sizes[] = {16, 32, 64, 128, 256, 384, STAGE, STAGE};
	struct part p = {0, sizes[below(g, 8)]};

	if (p.bytes < STAGE && chance(g, 30))
		p.off = 16 * below(g, (STAGE - p.bytes) / 16);
	return p;
}

unsigned some_thread(struct gen *g)
{
	unsigned n = g->p->threads;

	return chance(g, 60) ? 0 : chance(g, 50) ? n - 1 : below(g, n);
}

/* Threads read what is there, or have their own element of it. */
static void own_or_others(struct gen *g, const struct place *a, bool store)
{
	static const enum index others[] = {
		IX_THREAD, IX_THREAD, IX_PAIR, IX_NEXT, IX_BACK, IX_ZERO, IX_WARP, IX_FOUR, IX_LANE, IX_LAST
	};
	struct place b = *a;

	b.index = store ? IX_THREAD : others[below(g, 10)];
	put_load_store(g, store, chance(g, 90) ? "" : ".relaxed.cta", &b, 4, 1);
	plain(g);
}

void read_stage(struct gen *g, const struct place *a)
{
	own_or_others(g, a, false);
}

void write_stage(struct gen *g, const struct place *a)
{
	own_or_others(g, a, true);
}

/* ---- stages that are loaded ------------------------------------------------------------------ */

/* The copy that thread `who` issues, with what it expects. */
static void put_load(struct gen *g, const struct bar *b, const struct place *to, const struct place *from,
		     const struct part *p, bool tensor, bool arrive)
{
	unsigned expect = p->bytes, n, split = 0;

	if (chance(g, 25) && p->bytes > 16 && !tensor)
		split = p->bytes / 32 * 16;

	if (slip(g, 6))
		expect += chance(g, 50) ? 16 : -16u;
	if (arrive && chance(g, 60)) {
		put(g, "mbarrier.arrive.expect_tx%s.b64 _, [%%sb+%u], %u;",
		    PICK(g, ".shared", ".release.cta.shared::cta", ".relaxed.cta.shared::cta"), b->off, expect);
		arrive = false;
	} else {
		put(g, "mbarrier.expect_tx%s.b64 [%%sb+%u], %u;",
		    PICK(g, ".shared", ".relaxed.cta.shared::cta"), b->off, expect);
	}
	plain(g);
	if (tensor) {
		put(g, "mov.u32 %%v5, %u;", p->off / 4 % 32);
		put(g, from->own_block ? "mad.lo.u32 %%v6, %%c, 32, %u;" : "mov.u32 %%v6, %u;", from->off / 128);
		put(g, "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
		    "[%%sb+%u], [%%map, {%%v5, %%v6}], [%%sb+%u];", to->off, b->off);
		plain(g);
	} else {
		for (unsigned at = 0; at < p->bytes; at += n) {
			const char *source;

			n = !split ? p->bytes : at ? p->bytes - split : split;
			source = put_global(g, from, p->off + at);
			put(g, "cp.async.bulk.shared::%s.global.mbarrier::complete_tx::bytes "
			    "[%%sb+%u], %s, %u, [%%sb+%u];", PICK(g, "cluster", "cluster", "cta"),
			    to->off + p->off + at, source, n, b->off);
			plain(g);
		}
	}
	if (arrive) {
		put(g, "mbarrier.arrive.shared.b64 _, [%%sb+%u];", b->off);
		plain(g);
	}
}

/* Where a box of 8 by 4 words comes from: each thread's, of the first 32. */
static void write_box(struct gen *g, const struct place *a, unsigned x, bool store)
{
	struct open o = open_lt(g, "%t", 32);

	put(g, "shr.u32 %%i, %%t, 3;");
	put(g, "mul.wide.u32 %%ra, %%i, 128;");
	put(g, "add.s64 %%ra, %%ra, %%rg;");
	if (a->own_block)
		put(g, "mad.wide.u32 %%ra, %%c, 4096, %%ra;");
	put(g, "and.b32 %%i, %%t, 7;");
	put(g, "mad.wide.u32 %%ra, %%i, 4, %%ra;");
	put(g, store ? "st.global.u32 [%%ra+%u], %%v0;" : "ld.global.u32 %%v0, [%%ra+%u];", a->off + x * 4);
	plain(g);
	close_if(g, o);
}

/* A stage is loaded, waited for and read; perhaps written, and loaded again. */
void motif_load(struct gen *g)
{
	bool tensor = chance(g, 25), written = tensor || chance(g, 35), all = chance(g, 30), loop = chance(g, 20);
	unsigned rounds = 1 + below(g, 3), who = some_thread(g), poll = below(g, 3);
	struct place to, from = {0};
	struct part part = put_part(g);
	struct bar b;
	struct open o, i;

	if (!take_stage(g, &to, true) || !take_bar(g, &b) || (written && !take_stage(g, &from, false)))
		return;
	if (tensor)
		part = (struct part){16 * below(g, 6), 128};
	put_init(g, &b, (all ? g->p->threads : 1) + (slip(g, 4) ? 1 : 0));
	if (slip(g, 4))
		put_init(g, &b, 1);
	if (chance(g, 25)) {
		write_stage(g, &to);
		hand_over(g, true);
	} else {
		init_done(g);
	}
	if (loop) {
		o = open_loop(g);
		put(g, "and.b32 %%v4, %%k%u, 1;", o.loop);
		plain(g);
	}
	for (unsigned r = 0; r < (loop ? 1 : rounds); r++) {
		if (written && chance(g, 80)) {
			if (tensor)
				write_box(g, &from, part.off / 4 % 32, true);
			else
				write_stage(g, &from);
			hand_over(g, false);
		}
		if (all) {
			put(g, "setp.ne.u32 %%p, %%t, %u;", who);
			put(g, "@%%p mbarrier.arrive.shared.b64 _, [%%sb+%u];", b.off);
			plain(g);
		}
		i = open_eq(g, "%t", who);
		put_load(g, &b, &to, written ? &from : NULL, &part, tensor, true);
		if (poll == 0 && loop)
			put_wait(g, &b, "%v4", false);
		else if (poll == 0)
			put_wait_now(g, &b);
		close_if(g, i);
		if (poll == 0)
			sync_block(g);
		else if (slip(g, 8))
			;
		else if (loop)
			put_wait(g, &b, "%v4", false);
		else
			put_wait_now(g, &b);
		b.phase++;
		read_stage(g, &to);
		if (chance(g, 25)) {
			sync_block(g);
			write_stage(g, &to);
		}
		if (loop || r + 1 < rounds)
			hand_over(g, true);
		else if (chance(g, 30) && !slip(g, 5))
			sync_block(g);
	}
	if (loop)
		close_loop(g, o, rounds);
}

/* ---- stages that are stored ------------------------------------------------------------------- */

static void put_store(struct gen *g, const struct place *to, const struct place *from, const struct part *p,
		      bool tensor, bool reduce)
{
	if (tensor) {
		put(g, "mov.u32 %%v5, %u;", p->off / 4 % 32);
		put(g, "mad.lo.u32 %%v6, %%c, 32, %u;", to->off / 128);
		put(g, "cp%s.async.bulk.tensor.2d.global.shared::cta%s.bulk_group [%%map, {%%v5, %%v6}], [%%sb+%u];",
		    reduce ? ".reduce" : "", reduce ? ".add.tile" : ".tile", from->off);
	} else {
		const char *at = put_global(g, to, p->off);

		put(g, "cp%s.async.bulk.global.shared::cta.bulk_group%s %s, [%%sb+%u], %u;",
		    reduce ? ".reduce" : "", reduce ? PICK(g, ".add.u32", ".max.u32", ".or.b32") : "", at,
		    from->off + p->off, p->bytes);
	}
	plain(g);
}

static void put_groups(struct gen *g, bool read, unsigned left)
{
	put(g, "cp.async.bulk.wait_group%s %u;", read ? ".read" : "", left + (slip(g, 10) ? 1 : 0));
	plain(g);
}

/* Threads write a stage, one stores it and waits until it has been read, or until it
 * is there. */
void motif_store(struct gen *g)
{
	bool tensor = chance(g, 20), reduce = chance(g, 25), full = chance(g, 40);
	unsigned rounds = 1 + below(g, 3), who = some_thread(g), two = chance(g, 40);
	struct place from[2], to;
	struct part part = put_part(g);
	struct open i;

	if (!take_stage(g, &from[0], true) || !take_stage(g, &from[1], true) || !take_stage(g, &to, false))
		return;
	if (tensor)
		part = (struct part){16 * below(g, 6), 128};
	for (unsigned r = 0; r < rounds; r++) {
		struct place *a = &from[two && r & 1];

		write_stage(g, a);
		hand_over(g, true);
		i = open_eq(g, "%t", who);
		put_store(g, &to, a, &part, tensor, reduce);
		if (!slip(g, 4)) {
			put(g, "cp.async.bulk.commit_group;");
			plain(g);
		}
		/* Two into one place follow each other. */
		if (!slip(g, 5) && (r + 1 < rounds || !full))
			put_groups(g, r + 1 < rounds ? two && reduce : chance(g, 60),
				   r + 1 < rounds && two && reduce);
		close_if(g, i);
		if (r + 1 < rounds)
			sync_block(g);
	}
	if (!full)
		return;
	i = open_eq(g, "%t", who);
	put_groups(g, slip(g, 10), 0);
	close_if(g, i);
	sync_block(g);
	if (tensor)
		write_box(g, &to, part.off / 4 % 32, chance(g, 30));
	else if (chance(g, 30))
		write_stage(g, &to);
	else
		read_stage(g, &to);
	write_stage(g, &from[0]);
}

/* Loaded, changed in place, stored. */
void motif_through(struct gen *g)
{
	unsigned who = some_thread(g), rounds = 1 + below(g, 2);
	struct place a, to;
	struct part part = put_part(g);
	struct bar b;
	struct open i;

	if (!take_stage(g, &a, true) || !take_stage(g, &to, false) || !take_bar(g, &b))
		return;
	put_init(g, &b, 1);
	init_done(g);
	for (unsigned r = 0; r < rounds; r++) {
		i = open_eq(g, "%t", who);
		put_load(g, &b, &a, NULL, &part, false, true);
		close_if(g, i);
		put_wait_now(g, &b);
		b.phase++;
		if (chance(g, 70)) {
			if (chance(g, 50))
				sync_block(g);
			write_stage(g, &a);
			hand_over(g, true);
		}
		i = open_eq(g, "%t", who);
		put_store(g, &to, &a, &part, false, false);
		put(g, "cp.async.bulk.commit_group;");
		plain(g);
		/* What comes next through the same proxy needs nothing more. */
		put_groups(g, r + 1 == rounds && chance(g, 60), 0);
		close_if(g, i);
		if (r + 1 < rounds || chance(g, 50))
			sync_block(g);
	}
}

/* ---- rings --------------------------------------------------------------------------------------- */

enum source { BY_BULK, BY_STORES, BY_CP_ASYNC };

static void fill(struct gen *g, enum source s, const struct bar *full, const struct place *to)
{
	struct place a = *to;
	struct part whole = {0, STAGE};

	a.index = IX_LANE;
	switch (s) {
	case BY_BULK:
		put_load(g, full, to, NULL, &whole, false, true);
		break;
	case BY_STORES:
		put_load_store(g, true, "", &a, 4, 1);
		plain(g);
		put_arrive(g, full, "_", false);
		break;
	case BY_CP_ASYNC:
		put(g, "mad.lo.u32 %%a, %%l, 4, %%sb;");
		put(g, "mad.wide.u32 %%ra, %%l, 4, %%src;");
		put(g, "cp.async.ca.shared.global [%%a+%u], [%%ra], 4;", to->off);
		plain(g);
		put(g, "cp.async.mbarrier.arrive.noinc.shared.b64 [%%sb+%u];", full->off);
		plain(g);
	}
}

/* One warp, or its first lane, fills stages in turn; the others empty them. */
void motif_ring(struct gen *g)
{
	enum source s = (enum source)(chance(g, 60) ? BY_BULK : BY_STORES + below(g, 2));
	unsigned n = g->p->threads, stages = 1 + below(g, 3), rounds = stages + 1 + below(g, stages + 1);
	unsigned from = s == BY_BULK && chance(g, 50) ? 1 : 32, readers = n - from;
	bool one = chance(g, 35) && from == 32 && readers % 32 == 0;
	struct place a[3];
	struct bar full[3], empty[3];
	struct open o, i;
	char parity[2] = "0";

	if (n < from + 1)
		return;
	for (unsigned k = 0; k < stages; k++)
		if (!take_stage(g, &a[k], true) || !take_bar(g, &full[k]) || !take_bar(g, &empty[k]))
			return;
	for (unsigned k = 0; k < stages; k++) {
		put_init(g, &full[k], s == BY_BULK ? 1 : 32);
		put_init(g, &empty[k], (one ? readers / 32 : readers) - (slip(g, 4) && readers > 32 ? 1 : 0));
	}
	init_done(g);
	o = open_lt(g, "%t", s == BY_BULK ? 1 : 32);
	for (unsigned r = 0; r < rounds; r++) {
		unsigned k = r % stages;

		parity[0] = (char)('0' + ((r / stages + 1) & 1));
		if (r >= stages && !slip(g, 5))
			put_wait(g, &empty[k], parity, false);
		fill(g, s, &full[k], &a[k]);
	}
	if (s == BY_CP_ASYNC) {
		put(g, "cp.async.wait_all;");
		plain(g);
	}
	close_if(g, o);
	put(g, "setp.ge.u32 %%p, %%t, %u;", from);
	o = open_if(g);
	for (unsigned r = 0; r < rounds; r++) {
		unsigned k = r % stages;
		bool early = slip(g, 4);

		parity[0] = (char)('0' + ((r / stages) & 1));
		if (!slip(g, 5))
			put_wait(g, &full[k], parity, false);
		if (!early)
			read_stage(g, &a[k]);
		if (s == BY_BULK)
			put_proxy_fence(g, true);
		if (one) {
			if (!slip(g, 12)) {
				put(g, "bar.warp.sync 0xffffffff;");
				plain(g);
			}
			i = open_eq(g, "%l", 0);
		}
		put_arrive(g, &empty[k], "_", false);
		if (one)
			close_if(g, i);
		if (early)
			read_stage(g, &a[k]);
	}
	close_if(g, o);
}

/* ---- cp.async -------------------------------------------------------------------------------------- */

static void put_cp(struct gen *g, const struct place *to, unsigned size, unsigned at)
{
	const char *how = size == 16 ? PICK(g, "ca", "cg") : "ca";

	put(g, "mad.lo.u32 %%a, %%t, %u, %%sb;", size);
	put(g, "mad.wide.u32 %%ra, %%t, %u, %%src;", size);
	switch (below(g, 5)) {
	case 0:
		put(g, "cp.async.%s.shared.global [%%a+%u], [%%ra+%u], %u, %u;", how, to->off + at, at, size,
		    below(g, size + 1));
		break;
	case 1:
		put(g, "setp.lt.u32 %%q, %%l, 9;");
		put(g, "cp.async.%s.shared.global [%%a+%u], [%%ra+%u], %u, %%q;", how, to->off + at, at, size);
		break;
	default:
		put(g, "cp.async.%s.shared.global [%%a+%u], [%%ra+%u], %u;", how, to->off + at, at, size);
	}
	plain(g);
}

/* Groups of cp.async: the one that has to be over is waited for. */
void motif_groups_of_copies(struct gen *g)
{
	unsigned n = 1 + below(g, 3), left = below(g, n), rounds = 1 + below(g, 2);
	bool all = chance(g, 25);
	struct place a[3], b;

	for (unsigned k = 0; k < n; k++)
		if (!take_stage(g, &a[k], true))
			return;
	while (rounds--) {
		for (unsigned k = 0; k < n; k++) {
			put_cp(g, &a[k], 4, 0);
			if (!slip(g, 5)) {
				put(g, "cp.async.commit_group;");
				plain(g);
			}
		}
		if (all)
			put(g, "cp.async.wait_all;");
		else
			put(g, "cp.async.wait_group %u;", left + (slip(g, 12) ? 1 : 0));
		plain(g);
		b = a[all ? below(g, n) : below(g, n - left)];
		if (chance(g, 60)) {
			sync_block(g);
			read_stage(g, &b);
		} else {
			b.index = IX_THREAD;
			put_load_store(g, chance(g, 30), "", &b, 4, 1);
			plain(g);
		}
		if (rounds || chance(g, 60)) {
			if (!all && !slip(g, 10)) {
				put(g, "cp.async.wait_group 0;");
				plain(g);
			}
			sync_block(g);
		}
	}
	put(g, "cp.async.wait_all;");
	plain(g);
}

/* An mbarrier hears of cp.async. */
void motif_copies_arrive(struct gen *g)
{
	bool noinc = chance(g, 50);
	unsigned rounds = 1 + below(g, 2), size = chance(g, 60) ? 4 : 8;
	struct place a[2];
	struct bar b;

	if (size * g->p->threads > STAGE)
		size = 4;
	if (!take_stage(g, &a[0], true) || !take_stage(g, &a[1], true) || !take_bar(g, &b))
		return;
	put_init(g, &b, g->p->threads);
	init_done(g);
	for (unsigned r = 0; r < rounds; r++) {
		struct place own = a[1];

		own.index = IX_THREAD;
		put_cp(g, &a[0], size, 0);
		if (chance(g, 30) && !noinc) {
			put_load_store(g, true, "", &own, 4, 1);
			plain(g);
		}
		put(g, "cp.async.mbarrier.arrive%s.shared.b64 [%%sb+%u];", noinc ? ".noinc" : "", b.off);
		plain(g);
		if (!noinc)
			put_arrive(g, &b, "_", false);
		if (!slip(g, 8))
			put_wait_now(g, &b);
		b.phase++;
		read_stage(g, &a[0]);
		if (!noinc && chance(g, 40))
			read_stage(g, &a[1]);
		sync_block(g);
	}
	put(g, "cp.async.wait_all;");
	plain(g);
}

/* ---- mbarriers without copies -------------------------------------------------------------------------- */

/* All arrive and wait, or some for others, in several phases. */
void motif_phases(struct gen *g)
{
	unsigned n = g->p->threads, rounds = 1 + below(g, 4), how = below(g, 5), two = !slip(g, 8);
	bool split = n > 32 && how == 4;
	struct place a[2];
	struct bar b;
	struct open o;

	if (!take_stage(g, &a[0], chance(g, 70)) || !take_stage(g, &a[1], true) || !take_bar(g, &b))
		return;
	put_init(g, &b, (split ? 32 : how == 1 ? 2 * n : n) - (slip(g, 5) && n > 1 ? 1 : 0));
	init_done(g);
	for (unsigned r = 0; r < rounds; r++) {
		struct place *x = &a[two && r & 1];

		if (split)
			o = open_lt(g, "%t", 32);
		write_stage(g, x);
		switch (how) {
		case 0:
			put_arrive(g, &b, "%st", false);
			break;
		case 1:
			put(g, "mbarrier.arrive%s.shared.b64 %%st, [%%sb+%u], 2;", PICK(g, "", ".release.cta"), b.off);
			plain(g);
			break;
		case 2:
			/* The last of a thread is the one that counts. */
			put(g, "mbarrier.arrive%s.shared.b64 _, [%%sb+%u];",
			    r + 1 == rounds && chance(g, 30) ? "_drop" : "", b.off);
			plain(g);
			break;
		default:
			put_arrive(g, &b, "_", false);
		}
		if (split)
			close_if(g, o);
		if (split) {
			put(g, "setp.ge.u32 %%p, %%t, 32;");
			o = open_if(g);
		}
		if (slip(g, 6)) {
			;
		} else if (how <= 1 && chance(g, 70)) {
			char text[120];

			snprintf(text, sizeof text, "mbarrier.%s_wait%s.shared::cta.b64 %%f, [%%sb+%u], %%st;",
				 PICK(g, "try", "test"), PICK(g, ".acquire.cta", ".acquire.cluster"), b.off);
			put_polls(g, text, POLLS);
			plain(g);
		} else {
			put_wait_now(g, &b);
		}
		b.phase++;
		read_stage(g, x);
		if (split)
			close_if(g, o);
		if (split)
			sync_block(g);
	}
	if (chance(g, 25) && !slip(g, 5)) {
		sync_block(g);
		put(g, "setp.eq.u32 %%p, %%t, 0;");
		put(g, "@%%p mbarrier.inval.shared.b64 [%%sb+%u];", b.off);
		plain(g);
	}
}

/* ---- anything ---------------------------------------------------------------------------------------------- */

/* Anything at all at a few bytes, by anybody: one thread issues what is asynchronous. */
void motif_async_soup(struct gen *g)
{
	unsigned times = 4 + below(g, 8), who = some_thread(g), loads = 0;
	struct place s, d;
	struct bar b;
	struct open o;

	if (!take_stage(g, &s, true) || !take_stage(g, &d, false) || !take_bar(g, &b))
		return;
	put_init(g, &b, 1);
	init_done(g);
	while (times--) {
		struct part part = {16 * below(g, 2), 16 * (1 + below(g, 2))};
		struct place a = chance(g, 65) ? s : d;
		bool one = chance(g, 50);
		unsigned size = size_of(g);

		a.index = IX_ZERO;
		a.stride = 4;
		a.off += below(g, 48 / size) * size;
		if (chance(g, 30)) {
			sync_block(g);
			continue;
		}
		o = one ? open_eq(g, "%t", who) : chance(g, 50) ? open_eq(g, "%l", below(g, 32)) :
		    open_eq(g, "%w", below(g, 2));
		switch (one ? below(g, 9) : below(g, 4)) {
		case 0:
			put_proxy_fence(g, a.space == 's' || a.space == 'y');
			break;
		case 1:
			put_load_store(g, true, "", &a, size, 1);
			plain(g);
			break;
		case 2:
			put_load_store(g, false, "", &a, size, 1);
			plain(g);
			break;
		case 3:
		case 4:
			b.phase = loads + 1;
			if (loads || chance(g, 30))
				put_wait_now(g, &b);
			break;
		case 5:
		case 6:
			/* Not before the last one is over, or it would count too much. */
			b.phase = loads - 1;
			if (loads)
				put_wait(g, &b, b.phase & 1 ? "1" : "0", false);
			put_load(g, &b, &s, chance(g, 50) ? &d : NULL, &part, false, true);
			loads++;
			break;
		case 7:
			put_store(g, &d, &s, &part, false, chance(g, 30));
			put(g, "cp.async.bulk.commit_group;");
			plain(g);
			break;
		default:
			put_groups(g, chance(g, 50), below(g, 2));
		}
		close_if(g, o);
	}
	o = open_eq(g, "%t", who);
	put(g, "cp.async.bulk.wait_group 0;");
	plain(g);
	b.phase = loads - 1;
	if (loads)
		put_wait(g, &b, b.phase & 1 ? "1" : "0", false);
	close_if(g, o);
}

void async_motifs(struct gen *g)
{
	static void (*const motifs[])(struct gen *) = {
		motif_load, motif_load, motif_load, motif_store, motif_store, motif_through, motif_ring,
		motif_ring, motif_groups_of_copies, motif_copies_arrive, motif_phases, motif_phases
	};
	static void (*const peers[])(struct gen *) = {
		motif_peer_access, motif_peer_arrive, motif_peer_copy, motif_peer_store, motif_multicast
	};
	struct gen_prog *p = g->p;
	unsigned times = 1 + below(g, 3);

	if (p->threads < 16)
		p->threads = 32;
	g->whole = p->threads % 32 == 0;
	if (chance(g, 30)) {
		p->cluster = 2;
		p->blocks = chance(g, 75) ? 2 : 4;
	} else {
		p->blocks = p->blocks > 2 ? 1 : p->blocks;
	}
	while (times--) {
		if (p->cluster && chance(g, 70))
			peers[below(g, sizeof peers / sizeof *peers)](g);
		else if (chance(g, 15))
			any_motif(g);
		else if (!p->safe && chance(g, 25))
			motif_async_soup(g);
		else
			motifs[below(g, sizeof motifs / sizeof *motifs)](g);
	}
	if (chance(g, 5))
		motif_leave(g);
}
