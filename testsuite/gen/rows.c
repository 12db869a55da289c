/* SPDX-License-Identifier: Apache-2.0
 *
 * rows.c: programs of tiles: a thread fills stages of shared memory by bulk copies, whole warps
 * read them 16 bytes a lane, and write others, which it stores.  (PTX ISA, Data Movement and
 * Conversion Instructions: cp.async.bulk; mbarrier)
 */
#include "testsuite/gen/gen_async.h"

enum { LINE = 1024, STAGES = 2 };

struct tiles {
	unsigned bytes;                 /* of a stage: one line or two */
	unsigned stages, rounds;
	bool barrier;                   /* stages are given back by a barrier of the block, or an mbarrier */
	struct place stage[STAGES], out, to[2];
	struct bar full[STAGES], empty[STAGES];
};

/* Warps access rows, or one thread a few bytes. */
static void touch(struct gen *g, const struct place *a, unsigned bytes, bool store)
{
	static const unsigned sizes[] = {1, 2, 4, 8};
	struct place b = *a;
	struct open o;

	b.stride = 16;
	if (chance(g, 12)) {
		o = open_eq(g, "%t", below(g, g->p->threads));
		b.index = IX_ZERO;
		b.off += 8 * below(g, bytes / 8);
		put_load_store(g, store, "", &b, sizes[below(g, 4)], 1);
	} else if (chance(g, 10)) {
		/* Not rows: the lanes the other way round, or not all. */
		o = open_lt(g, "%t", chance(g, 50) ? 32 : 20);
		b.index = IX_BACK;
		put_load_store(g, store, "", &b, 4, 4);
	} else if (!store && chance(g, 25)) {
		o = open_lt(g, "%t", g->p->threads);
		b.index = IX_LANE;
		b.off += 512 * below(g, bytes / 512);
		put_load_store(g, false, "", &b, 4, 4);
	} else {
		o = open_lt(g, "%t", bytes / 16);
		b.index = IX_THREAD;
		put_load_store(g, store, "", &b, 4, 4);
	}
	plain(g);
	close_if(g, o);
}

/* Nothing slips where stages are filled: of two copies under way at one mbarrier either may end its
 * phase. */
static void fill(struct gen *g, const struct tiles *t, unsigned i)
{
	unsigned s = i % t->stages, half = chance(g, 15) ? 16 * (1 + below(g, LINE / 16 - 1)) : LINE;

	put(g, "mbarrier.arrive.expect_tx.shared.b64 _, [%%sb+%u], %u;", t->full[s].off, t->bytes);
	for (unsigned at = 0, n = half; at < t->bytes; at += n, n = at % LINE ? LINE - half : half) {
		put(g, "add.u64 %%ra, %%src, %u;", at % LINE);
		put(g, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%sb+%u], [%%ra], %u, [%%sb+%u];",
		    t->stage[s].off + at, n, t->full[s].off);
	}
	plain(g);
}

/* What the stage had is read, perhaps written over, and it is filled again. */
static void consume(struct gen *g, struct tiles *t, unsigned i)
{
	unsigned s = i % t->stages, times = 1 + below(g, 2);
	bool late = slip(g, 10), again = i + t->stages < t->rounds;
	struct open o;

	if (!slip(g, 10))
		put_await(g, &t->full[s], i / t->stages + slip(g, 4), POLLS);
	while (times--)
		touch(g, &t->stage[s], t->bytes, false);
	if (chance(g, 20)) {
		if (!slip(g, 10))
			sync_block(g);
		touch(g, &t->stage[s], t->bytes, true);
	}
	if (!late)
		put_proxy_fence(g, true);
	if (!t->barrier)
		put_arrive(g, &t->empty[s], "_", false);
	else
		sync_block(g);
	if (late)
		put_proxy_fence(g, true);
	if (!again)
		return;
	o = open_eq(g, "%t", 0);
	if (!t->barrier && !slip(g, 10))
		put_await(g, &t->empty[s], i / t->stages, POLLS);
	fill(g, t, i + t->stages);
	close_if(g, o);
}

/* The place that is stored is written anew, once it has been read. */
static void produce(struct gen *g, struct tiles *t, unsigned i)
{
	struct open o = open_eq(g, "%t", 0);

	put(g, "cp.async.bulk.wait_group%s %u;", PICK(g, ".read", ".read", ""), slip(g, 14) ? 1 : 0);
	put(g, "cp.async.bulk.wait_group %u;", slip(g, 4) ? 2 : 1);
	plain(g);
	close_if(g, o);
	sync_block(g);
	touch(g, &t->out, LINE, true);
	if (chance(g, 20)) {
		sync_block(g);
		touch(g, &t->out, LINE, chance(g, 50));
	}
	hand_over(g, true);
	o = open_eq(g, "%t", 0);
	put(g, "cp.async.bulk.global.shared::cta.bulk_group %s, [%%sb+%u], %u;", put_global(g, &t->to[i & 1], 0), t->out.off,
	    chance(g, 85) ? LINE : 16 * (1 + below(g, LINE / 16 - 1)));
	put(g, "cp.async.bulk.commit_group;");
	plain(g);
	close_if(g, o);
}

void row_motifs(struct gen *g)
{
	static const unsigned threads[] = {32, 64, 64, 64, 128, 128, 96};
	struct gen_prog *p = g->p;
	struct tiles t = {.bytes = LINE * (1 + chance(g, 40)), .stages = 1 + below(g, STAGES), .rounds = 2 + below(g, 4),
			  .barrier = chance(g, 40)};
	bool stores = chance(g, 60);
	struct open o;

	/* One thing at a time, which what is lost of others does not excuse. */
	g->slips = 1 + chance(g, 30);
	p->threads = threads[below(g, sizeof threads / sizeof *threads)];
	p->blocks = 1 + chance(g, 30);
	p->cluster = 0;
	g->whole = true;
	for (unsigned s = 0; s <= t.stages; s++) {
		g->shared = (g->shared + LINE - 1) & ~(LINE - 1u);
		if (!take(g, s < t.stages ? &t.stage[s] : &t.out, true, false, 4, (s < t.stages ? t.bytes : LINE) / 4))
			return;
	}
	for (unsigned k = 0; k < 2; k++)
		if (!take(g, &t.to[k], false, true, 4, LINE / 4))
			return;
	for (unsigned s = 0; s < t.stages; s++) {
		if (!take_bar(g, &t.full[s]) || !take_bar(g, &t.empty[s]))
			return;
		put_init(g, &t.full[s], 1);
		put_init(g, &t.empty[s], p->threads);
	}
	/* Somebody may have been in the room before. */
	if (chance(g, 25)) {
		touch(g, &t.stage[0], t.bytes, chance(g, 30));
		put_proxy_fence(g, true);
	}
	put_barrier(g);
	o = open_eq(g, "%t", 0);
	for (unsigned i = 0; i < t.stages && i < t.rounds; i++)
		fill(g, &t, i);
	close_if(g, o);
	for (unsigned i = 0; i < t.rounds; i++) {
		consume(g, &t, i);
		if (stores)
			produce(g, &t, i);
	}
	o = open_eq(g, "%t", 0);
	put(g, "cp.async.bulk.wait_group 0;");
	plain(g);
	close_if(g, o);
}
