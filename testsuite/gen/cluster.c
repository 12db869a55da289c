/* SPDX-License-Identifier: Apache-2.0
 *
 * cluster.c: motifs of two blocks of a cluster: shared memory of the other, arrivals
 * and copies from one to the other, copies to both.  Before the first such access
 * both have started, behind the last one neither has ended, unless it slips.
 */
#include "testsuite/gen/gen_async.h"

/* The barrier of the cluster, by all threads of both blocks. */
static void meet(struct gen *g)
{
	unsigned how = below(g, 3);
	bool relaxed = how == 2 || slip(g, 8);

	if (how == 2 && !slip(g, 12)) {
		put(g, "fence.%s;", PICK(g, "acq_rel.cluster", "sc.cluster", "acq_rel.gpu", "release.cluster"));
		plain(g);
	}
	put(g, "barrier.cluster.arrive%s;", relaxed ? ".relaxed" : how ? ".release" : "");
	plain(g);
	put(g, "barrier.cluster.wait%s;", how ? ".acquire" : "");
	plain(g);
}

/* Both have begun; the end is not before all is done. */
static void begin(struct gen *g)
{
	if (!slip(g, 4))
		meet(g);
}

static void end(struct gen *g)
{
	if (!slip(g, 6))
		meet(g);
}

/* An mbarrier for both to use. */
static void put_shared_init(struct gen *g, const struct bar *b, unsigned count)
{
	put_init(g, b, count);
	if (chance(g, 40)) {
		if (!slip(g, 20)) {
			put(g, "fence.mbarrier_init.release.cluster;");
			plain(g);
		}
		put(g, "barrier.cluster.arrive.relaxed;");
		plain(g);
		put(g, "barrier.cluster.wait;");
		plain(g);
	} else {
		meet(g);
	}
}

/* [%a+...] is the same place in the other block. */
static void put_peer(struct gen *g, unsigned stride)
{
	put(g, "mad.lo.u32 %%a, %%i, %u, %%sb;", stride);
	put(g, "mapa.shared::cluster.u32 %%a, %%a, %%peer;");
}

static void peer_load_store(struct gen *g, bool store, const struct place *a, const char *index)
{
	const char *sem = chance(g, 85) ? "" : ".relaxed.cluster";

	put(g, "%s;", index);
	put_peer(g, 4);
	if (chance(g, 20)) {
		put(g, "cvt.u64.u32 %%ra, %%a;");
		put(g, "cvta.shared::cluster.u64 %%ra, %%ra;");
		put(g, store ? "st%s.u32 [%%ra+%u], %%v0;" : "ld%s.u32 %%v0, [%%ra+%u];", sem, a->off);
	} else {
		put(g, store ? "st%s.shared::cluster.u32 [%%a+%u], %%v0;" :
		    "ld%s.shared::cluster.u32 %%v0, [%%a+%u];", sem, a->off);
	}
	plain(g);
}

static const char *some_index(struct gen *g)
{
	return PICK(g, "mov.u32 %i, %t", "mov.u32 %i, %l", "xor.b32 %i, %t, 1", "mov.u32 %i, 0",
		    "mov.u32 %i, %w");
}

static struct open open_rank(struct gen *g, unsigned rank)
{
	return open_eq(g, "%rank", rank);
}

/* The block of `to` reads what its mbarrier has told it of; neither ends before. */
static void hear(struct gen *g, struct open to, const struct bar *b, const struct place *a, unsigned slips,
		 bool cluster)
{
	if (!slip(g, slips))
		put_wait(g, b, "0", cluster);
	read_stage(g, a);
	close_if(g, to);
	end(g);
}

/* What the other has written is read there, or is written for it. */
void motif_peer_access(struct gen *g)
{
	unsigned rounds = 1 + below(g, 2);
	bool push = chance(g, 40), atomics = chance(g, 20);
	struct place a;

	if (g->p->cluster < 2 || !take_stage(g, &a, true))
		return;
	if (push || atomics)
		begin(g);
	while (rounds--) {
		if (atomics) {
			put(g, "and.b32 %%i, %%t, 3;");
			put_peer(g, 4);
			put(g, "red%s.shared::cluster.add.u32 [%%a+%u], 1;",
			    slip(g, 20) ? ".relaxed.cta" : ".relaxed.cluster", a.off);
			plain(g);
		} else if (push) {
			peer_load_store(g, true, &a, "mov.u32 %i, %t");
		} else {
			write_stage(g, &a);
		}
		meet(g);
		if (push || atomics)
			read_stage(g, &a);
		else
			peer_load_store(g, false, &a, some_index(g));
		if (rounds)
			meet(g);
	}
	end(g);
}

/* One block tells the other by its mbarrier. */
void motif_peer_arrive(struct gen *g)
{
	bool global = chance(g, 50), one = chance(g, 40);
	unsigned from = below(g, 2), how = below(g, 3);
	struct place a;
	struct bar b;
	struct open o, i;

	if (g->p->cluster < 2 || !take_bar(g, &b) || !take_stage(g, &a, !global))
		return;
	if (global)
		a.own_block = false;
	/* The two clusters of a grid use parts of their own. */
	if (global && g->p->blocks > 2)
		return;
	put_shared_init(g, &b, one ? 1 : g->p->threads);
	o = open_rank(g, from);
	if (global)
		write_stage(g, &a);
	else
		peer_load_store(g, true, &a, "mov.u32 %i, %t");
	close_if(g, o);
	if (one)
		sync_block(g);
	o = open_rank(g, from);
	if (one)
		i = open_eq(g, "%t", some_thread(g));
	if (how == 2 && !slip(g, 12)) {
		put(g, "fence.%s.cluster;", PICK(g, "release", "acq_rel", "sc"));
		plain(g);
	}
	put(g, "add.u32 %%a, %%sb, %u;", b.off);
	put(g, "mapa.shared::cluster.u32 %%a, %%a, %%peer;");
	put(g, "mbarrier.arrive.%s.%s.shared::cluster.b64 _, [%%a];", how == 2 ? "relaxed" : "release",
	    slip(g, 12) ? "cta" : "cluster");
	plain(g);
	if (one)
		close_if(g, i);
	close_if(g, o);
	o = open_rank(g, !from);
	hear(g, o, &b, &a, 6, true);
}

/* From one block's shared memory into the other's. */
void motif_peer_copy(struct gen *g)
{
	struct part part = put_part(g);
	unsigned who = some_thread(g), from = below(g, 2), expect = part.bytes;
	struct place a, to;
	struct bar b;
	struct open o, i;

	if (g->p->cluster < 2 || !take_bar(g, &b) || !take_stage(g, &a, true) || !take_stage(g, &to, true))
		return;
	if (slip(g, 5))
		expect -= 16;
	put_init(g, &b, 1);
	write_stage(g, &a);
	put_proxy_fence(g, true);
	meet(g);
	o = open_rank(g, from);
	i = open_eq(g, "%t", who);
	put(g, "add.u32 %%a, %%sb, %u;", to.off + part.off);
	put(g, "mapa.shared::cluster.u32 %%a, %%a, %%peer;");
	put(g, "add.u32 %%i, %%sb, %u;", b.off);
	put(g, "mapa.shared::cluster.u32 %%i, %%i, %%peer;");
	if (chance(g, 25))
		put(g, "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
		    "[%%a], [%%sb+%u], %u, [%%i];", a.off + part.off, part.bytes);
	else
		put(g, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
		    "[%%a], [%%sb+%u], %u, [%%i];", a.off + part.off, part.bytes);
	plain(g);
	close_if(g, i);
	if (slip(g, 10))
		write_stage(g, &a);
	close_if(g, o);
	o = open_rank(g, !from);
	i = open_eq(g, "%t", who);
	put(g, "mbarrier.arrive.expect_tx.shared.b64 _, [%%sb+%u], %u;", b.off, expect);
	plain(g);
	close_if(g, i);
	hear(g, o, &b, &to, 8, false);
	if (chance(g, 30))
		write_stage(g, &a);
}

/* st.async and red.async into the other block. */
void motif_peer_store(struct gen *g)
{
	bool reduce = chance(g, 40);
	unsigned from = below(g, 2), n = g->p->threads;
	struct place to;
	struct bar b;
	struct open o, i;

	if (g->p->cluster < 2 || !take_bar(g, &b) || !take_stage(g, &to, true))
		return;
	put_shared_init(g, &b, 1);
	o = open_rank(g, from);
	put(g, "mad.lo.u32 %%a, %%%c, 4, %%sb;", reduce ? 'l' : 't');
	put(g, "mapa.shared::cluster.u32 %%a, %%a, %%peer;");
	put(g, "add.u32 %%i, %%sb, %u;", b.off);
	put(g, "mapa.shared::cluster.u32 %%i, %%i, %%peer;");
	if (reduce)
		put(g, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
		    "[%%a+%u], %%v0, [%%i];", to.off);
	else
		put(g, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%%a+%u], %%v0, [%%i];",
		    to.off);
	plain(g);
	close_if(g, o);
	o = open_rank(g, !from);
	i = open_eq(g, "%t", some_thread(g));
	put(g, "mbarrier.arrive.expect_tx.shared.b64 _, [%%sb+%u], %u;", b.off, 4 * n - (slip(g, 5) ? 4 : 0));
	plain(g);
	close_if(g, i);
	hear(g, o, &b, &to, 8, false);
}

/* A copy into both blocks; each waits at its own mbarrier. */
void motif_multicast(struct gen *g)
{
	struct part part = put_part(g);
	unsigned who = some_thread(g), from = below(g, 2), rounds = 1 + below(g, 2);
	struct place to;
	struct bar b;
	struct open o, i;

	if (g->p->cluster < 2 || !take_bar(g, &b) || !take_stage(g, &to, true))
		return;
	put_shared_init(g, &b, 1);
	for (unsigned r = 0; r < rounds; r++) {
		i = open_eq(g, "%t", who);
		put(g, "mbarrier.arrive.expect_tx.shared.b64 _, [%%sb+%u], %u;", b.off, part.bytes);
		plain(g);
		o = open_rank(g, from);
		put(g, "mov.u16 %%h3, %u;", slip(g, 4) ? 1 : 3);
		put(g, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
		    "[%%sb+%u], [%%src+%u], %u, [%%sb+%u], %%h3;", to.off + part.off, part.off, part.bytes, b.off);
		plain(g);
		close_if(g, o);
		close_if(g, i);
		if (!slip(g, 6))
			put_wait_now(g, &b);
		b.phase++;
		read_stage(g, &to);
		if (r + 1 == rounds)
			break;
		put_proxy_fence(g, true);
		meet(g);
	}
	end(g);
}
