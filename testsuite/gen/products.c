/* SPDX-License-Identifier: Apache-2.0
 *
 * products.c: programs of wgmma: warpgroups go through stages of shared memory that a
 * thread of another warp fills by bulk copies, and give them back.  (PTX ISA, Asynchronous
 * Warpgroup Level Matrix Instructions)  Stages are a matrix of eight rows in the widest
 * swizzle, the other one is in registers.
 */
#include "testsuite/gen/gen_async.h"

enum { TILE = 1024, ROUNDS = 5 };

struct ring {
	unsigned stages, groups, rounds;
	struct place stage[3];
	struct bar full[3], empty[3];
	bool all;               /* threads give a stage back, or one of each warpgroup does */
};

/* Some thread accesses a few bytes of a stage; true if it wrote. */
static bool touch(struct gen *g, const struct ring *r, unsigned s)
{
	static const unsigned sizes[] = {1, 2, 4, 4, 8};
	unsigned size = sizes[below(g, 5)], what = below(g, 5);
	struct place a = r->stage[s];
	struct open o = open_eq(g, "%t", below(g, 128 * r->groups));

	a.index = IX_ZERO;
	a.off += below(g, TILE / 8) * 8;
	if (what == 4 && size >= 4)
		put_atomic(g, chance(g, 50), "", &a, size);
	else
		put_load_store(g, what > 2, "", &a, size, 1);
	plain(g);
	close_if(g, o);
	return what > 2;
}

/* Products of slices of the stage, as one group. */
static void multiply(struct gen *g, const struct ring *r, unsigned s)
{
	unsigned slices = chance(g, 50) ? 4 : 1 + below(g, 2);

	put(g, "add.u32 %%a, %%sb, %u;", r->stage[s].off);
	put(g, "shr.u32 %%a, %%a, 4;");
	put(g, "cvt.u64.u32 %%x7, %%a;");
	/* stride 1,024 bytes, swizzle of 128 */
	put(g, "or.b64 %%x7, %%x7, 0x4000004000010000;");
	put(g, "wgmma.fence.sync.aligned;");
	for (unsigned k = 0; k < slices; k++) {
		put(g, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%d0, %%d1, %%d2, %%d3}, "
		    "{%%v0, %%v1, %%v2, %%v3}, %%x7, 1, 1, 1, 0;");
		put(g, "add.u64 %%x7, %%x7, 2;");
	}
	put(g, "wgmma.commit_group.sync.aligned;");
	plain(g);
}

/* The warpgroups' `i`-th round; `freed` stages have been given back. */
static unsigned consume(struct gen *g, struct ring *r, unsigned i, unsigned freed)
{
	unsigned s = i % r->stages, pending, upto;

	if (!slip(g, 8))
		put_await(g, &r->full[s], i / r->stages + slip(g, 6), POLLS);
	if (chance(g, 15) && (touch(g, r, s) || slip(g, 30))) {
		if (!slip(g, 20))
			put_proxy_fence(g, true);
		put(g, "barrier.cta.sync 1, %u;", 128 * r->groups);
		plain(g);
	}
	multiply(g, r, s);
	pending = i + 1 < r->rounds && r->stages > 1 ? chance(g, 35) : 0;
	put(g, "wgmma.wait_group.sync.aligned %u;", pending + (slip(g, 6) ? 1 + below(g, 2) : 0));
	plain(g);
	if (chance(g, 15)) {
		bool wrote = touch(g, r, s);

		if (!wrote || !slip(g, 40))
			put_proxy_fence(g, true);
	}
	upto = i + 1 > pending ? i + 1 - pending : 0;
	for (; freed < upto; freed++) {
		const struct bar *empty = &r->empty[freed % r->stages];

		if (r->all) {
			put_arrive(g, empty, "_", false);
		} else {
			struct open o;

			/* Who tells of the accesses of others has to know of them. */
			if (!slip(g, 20)) {
				put(g, "barrier.cta.sync 2, %u;", 128 * r->groups);
				plain(g);
			}
			put(g, "and.b32 %%i, %%t, 127;");
			plain(g);
			o = open_eq(g, "%i", below(g, 128));
			put_arrive(g, empty, "_", false);
			close_if(g, o);
		}
	}
	return freed;
}

/* Two copies under way at one mbarrier may end either's phase, so that nothing slips here. */
static void fill(struct gen *g, struct ring *r, unsigned i)
{
	unsigned s = i % r->stages, half = chance(g, 25) ? 16 * (1 + below(g, TILE / 16 - 1)) : TILE;

	if (i >= r->stages)
		put_await(g, &r->empty[s], i / r->stages - 1, 20 * POLLS);
	put(g, "mbarrier.arrive.expect_tx.shared.b64 _, [%%sb+%u], %u;", r->full[s].off, TILE);
	for (unsigned from = 0, n = half; from < TILE; from += n, n = TILE - half) {
		put(g, "add.u64 %%ra, %%src, %u;", from);
		put(g, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%sb+%u], [%%ra], %u, [%%sb+%u];",
		    r->stage[s].off + from, n, r->full[s].off);
	}
	plain(g);
}

void product_motifs(struct gen *g)
{
	struct gen_prog *p = g->p;
	struct ring r = {1 + below(g, 3), 1 + chance(g, 30), 2 + below(g, ROUNDS - 1), {{0}}, {{0, 0}}, {{0, 0}}, chance(g, 50)};
	unsigned freed = 0;
	struct open o;

	p->threads = 128 * r.groups + 32;
	p->blocks = 1 + chance(g, 30);
	p->cluster = 0;
	g->whole = true;
	for (unsigned s = 0; s < r.stages; s++) {
		g->shared = (g->shared + TILE - 1) & ~(TILE - 1u);
		if (!take(g, &r.stage[s], true, true, 4, TILE / 4))
			return;
	}
	for (unsigned s = 0; s < r.stages; s++) {
		if (!take_bar(g, &r.full[s]) || !take_bar(g, &r.empty[s]))
			return;
		put_init(g, &r.full[s], 1);
		put_init(g, &r.empty[s], (r.all ? 128 : 1) * r.groups);
	}
	/* Somebody may have been in the room before. */
	if (chance(g, 25)) {
		read_stage(g, &r.stage[0]);
		put_proxy_fence(g, true);
	}
	put_barrier(g);
	o = open_lt(g, "%t", 128 * r.groups);
	for (unsigned i = 0; i < r.rounds; i++)
		freed = consume(g, &r, i, freed);
	put(g, "wgmma.wait_group.sync.aligned 0;");
	plain(g);
	close_if(g, o);
	o = open_eq(g, "%t", 128 * r.groups);
	for (unsigned i = 0; i < r.rounds; i++)
		fill(g, &r, i);
	for (unsigned i = r.rounds > r.stages ? r.rounds - r.stages : 0; i < r.rounds; i++)
		put_await(g, &r.full[i % r.stages], i / r.stages, 20 * POLLS);
	close_if(g, o);
	if (chance(g, 30)) {
		put_barrier(g);
		touch(g, &r, below(g, r.stages));
	}
}
