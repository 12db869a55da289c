/* SPDX-License-Identifier: Apache-2.0
 *
 * sched.c: which lanes run next.  A warp is a set of groups; a group is lanes with
 * the same pc and frame (independent thread scheduling).  Within a warp the group
 * deepest in calls, and there the one with the smallest pc, goes first, so that
 * lanes meet again soon after they parted; but none waits for ever: a group that
 * spins lets the others go, and one that waited long gets its turn.
 *
 * Everything is decided by emu_m.seed and the order of launches: the same seed
 * gives the same schedule.  Seed 0 is plain round robin.  stepwise.c has another
 * way to give warps their turns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"

#define QUANTUM    256          /* ops of one turn of a warp, seed 0 */
#define TIMED_QUANTUM 1         /* likewise, with EMU_TIMING */
#define LONG_WAIT  2048         /* ops of its warp after which a group must run */

struct emu_machine emu_m;

/* ---- chance ------------------------------------------------------------------------ */

uint64_t emu_random(void)               /* splitmix64 */
{
	uint64_t z = emu_m.rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void emu_reseed(uint64_t salt)
{
	if (emu_m.stepwise)             /* gsan may have launches of its own */
		salt = emu_m.steps = 0;
	emu_m.rng = emu_m.seed * UINT64_C(0xd1342543de82ef95) + salt;
	emu_m.cursor = 0;
	emu_m.stays = NULL;
	emu_m.last = UINT64_MAX;
}

/* ---- runnable warps ------------------------------------------------------------------ */

void emu_warp_ready(struct emu_warp *w)
{
	if (w->run_at >= 0)
		return;
	if (emu_m.timing)
		emu_timing_ready(w);
	if (emu_m.nrun == emu_m.caprun) {
		emu_m.caprun = emu_m.caprun ? emu_m.caprun * 2 : 256;
		emu_m.run = realloc(emu_m.run, emu_m.caprun * sizeof(struct emu_warp *));
		if (!emu_m.run)
			abort();
	}
	w->run_at = (int)emu_m.nrun;
	emu_m.run[emu_m.nrun++] = w;
}

void emu_warp_gone(struct emu_warp *w)
{
	struct emu_warp *last;

	if (w->run_at < 0)
		return;
	if (emu_m.stays == w)
		emu_m.stays = NULL;
	last = emu_m.run[--emu_m.nrun];
	emu_m.run[w->run_at] = last;
	last->run_at = w->run_at;
	w->run_at = -1;
}

/* ---- groups ---------------------------------------------------------------------------- */

static void drop(struct emu_warp *w, unsigned i)
{
	w->group[i] = w->group[--w->ngroups];
}

static bool joinable(const struct emu_group *g)
{
	return g->state == GROUP_READY || g->state == GROUP_WAIT_WARP;
}

/* Takes in the lanes that are at `pc` in the same frame. */
static void join(struct emu_x *x, const struct emu_op *pc)
{
	struct emu_warp *w = x->w;

	for (unsigned i = 0; i < w->ngroups;) {
		struct emu_group *g = &w->group[i];

		if (g->pc == pc && g->base == x->base && joinable(g)) {
			x->mask |= g->mask;
			drop(w, i);
		} else {
			i++;
		}
	}
}

/* The next place ahead of `pc` where lanes could be joined. */
void emu_find_stop(struct emu_x *x, const struct emu_op *pc)
{
	const struct emu_warp *w = x->w;

	x->stop = NULL;
	for (unsigned i = 0; i < w->ngroups; i++) {
		const struct emu_group *g = &w->group[i];

		if (g->base == x->base && g->pc > pc && joinable(g) && (!x->stop || g->pc < x->stop))
			x->stop = g->pc;
	}
}

/* Whether a goes before b. */
static bool before(const struct emu_op *a, uint32_t abase, const struct emu_op *b, uint32_t bbase)
{
	return abase != bbase ? abase > bbase : a < b;
}

struct emu_group *emu_park(struct emu_x *x, enum emu_state state, const struct emu_op *pc)
{
	struct emu_warp *w = x->w;
	struct emu_group *g = &w->group[w->ngroups++];

	*g = (struct emu_group){
		.pc = pc, .mask = x->mask, .base = x->base, .state = (uint8_t)state,
		.at = pc, .stamp = w->ran - (uint64_t)x->budget
	};
	x->mask = 0;
	x->why = WHY_PARKED;
	return g;
}

const struct emu_op *emu_yield(struct emu_x *x, const struct emu_op *pc)
{
	emu_park(x, GROUP_READY, pc)->nap = true;
	x->why = WHY_YIELD;
	return NULL;
}

void emu_split(struct emu_x *x, uint32_t m, const struct emu_op *pc, uint32_t base)
{
	struct emu_warp *w = x->w;

	w->group[w->ngroups++] = (struct emu_group){
		.pc = pc, .mask = m, .base = base, .state = GROUP_READY,
		.stamp = w->ran - (uint64_t)x->budget
	};
	x->mask &= ~m;
	if (base == x->base && (!x->stop || pc < x->stop))
		x->stop = pc;
}

const struct emu_op *emu_arrive(struct emu_x *x, const struct emu_op *pc)
{
	struct emu_warp *w = x->w;

	join(x, pc);
	if (!x->forced) {
		for (unsigned i = 0; i < w->ngroups; i++) {
			const struct emu_group *g = &w->group[i];

			if (g->state == GROUP_READY && !g->nap &&
			    before(g->pc, g->base, pc, x->base)) {
				emu_park(x, GROUP_READY, pc);
				return NULL;
			}
		}
	}
	emu_find_stop(x, pc);
	return pc;
}

void emu_exit(struct emu_x *x, uint32_t m)
{
	struct emu_warp *w = x->w;
	struct emu_block *b = x->b;
	unsigned n = (unsigned)__builtin_popcount(m);

	emu_copies_finish(w, m);
	if (emu_listening) {
		struct emu_tell t = emu_tell_of(TELL_EXIT, x, NULL, m, x->mask);

		emu_tell(&t);
	}
	x->mask &= ~m;
	w->live &= ~m;
	b->live -= n;
	for (unsigned i = 0; i < w->ngroups; i++)       /* it may have been the last missing */
		if (w->group[i].state == GROUP_WAIT_WARP)
			w->group[i].state = GROUP_READY;
	emu_bar_recheck(b);
	emu_cluster_exit(b, w, m);
	x->why = WHY_PARKED;
}

/* ---- a warp's turn ------------------------------------------------------------------------ */

/* Which group of the warp goes next: its index, -1 if none can. */
static int choose(struct emu_x *x)
{
	struct emu_warp *w = x->w;
	int best = -1, oldest = -1, awake = 0;
	uint64_t now = w->ran - (uint64_t)x->budget;

	x->forced = false;
	for (int i = 0; i < (int)w->ngroups; i++) {
		const struct emu_group *g = &w->group[i];

		if (g->state != GROUP_READY)
			continue;
		if (oldest < 0 || g->stamp < w->group[oldest].stamp)
			oldest = i;
		if (g->nap)
			continue;
		awake++;
		if (best < 0 || before(g->pc, g->base, w->group[best].pc, w->group[best].base))
			best = i;
	}
	if (oldest < 0)
		return -1;
	if (best < 0) {                         /* all of them slept: the first to do so */
		for (unsigned i = 0; i < w->ngroups; i++)
			w->group[i].nap = false;
		x->forced = true;
		return oldest;
	}
	if (w->ngroups > 1 && now - w->group[oldest].stamp > LONG_WAIT) {
		x->forced = oldest != best;
		return oldest;
	}
	if (emu_m.seed && awake > 1 && emu_random() % 4 == 0) {
		unsigned k = (unsigned)(emu_random() % (unsigned)awake);

		for (int i = 0; i < (int)w->ngroups; i++) {
			if (w->group[i].state == GROUP_READY && !w->group[i].nap && k-- == 0) {
				x->forced = i != best;
				return i;
			}
		}
	}
	return best;
}

static bool has_probes(struct emu_func *f)
{
	for (unsigned i = 0; f->probes == PROBES_UNKNOWN && i < f->nops; i++) {
		if (emu_source_sets_ours(f->ops[i].stmt))
			f->probes = PROBES_THERE;
	}
	if (f->probes == PROBES_UNKNOWN)
		f->probes = PROBES_NONE;
	return f->probes == PROBES_THERE;
}

/* Lanes need not stay together just because they are: now and then some go ahead.  But hardware parts lanes at branches
 * (doc/hardware.md 7), and probes count on that: who is together when they look is so until they look again. */
static bool may_part(const struct emu_op *pc)
{
	if (!has_probes(pc->func))
		return emu_random() % 32 == 0;
	return pc->stmt && pc->stmt->kind == STMT_INST && pc->stmt->inst.id == INST_ACTIVEMASK && emu_random() % 2;
}

static void part(struct emu_x *x, const struct emu_op *pc)
{
	uint32_t ahead;

	if (!emu_m.seed || !(x->mask & (x->mask - 1)) || !may_part(pc))
		return;
	ahead = x->mask & (uint32_t)emu_random();
	if (!ahead || ahead == x->mask)
		return;
	emu_split(x, x->mask & ~ahead, pc, x->base);
	x->forced = true;
}

static void turn(struct emu_warp *w, int quantum)
{
	struct emu_x x = {.w = w, .b = w->block, .budget = quantum};

	x.bank[BANK_CONST] = w->block->grid->func->mod->consts;
	w->ran += (uint64_t)quantum;
	while (x.budget > 0 && !emu_m.fault) {
		int i = choose(&x);
		const struct emu_op *pc;

		if (i < 0)
			break;
		pc = w->group[i].pc;
		x.mask = w->group[i].mask;
		x.base = w->group[i].base;
		x.spin = false;
		drop(w, (unsigned)i);
		if (w->ngroups)
			join(&x, pc);
		x.stop = NULL;
		part(&x, pc);
		if (w->ngroups)
			emu_find_stop(&x, pc);
		emu_x_banks(&x);
		emu_exec(&x, pc);
		if (x.why == WHY_YIELD) {
			unsigned j;

			for (j = 0; j < w->ngroups; j++)
				if (w->group[j].state == GROUP_READY && !w->group[j].nap)
					break;
			if (j == w->ngroups)
				break;
		}
	}
	w->ran -= (uint64_t)x.budget;
	emu_m.steps += (uint64_t)(quantum - x.budget);
}

void emu_step_group(struct emu_warp *w, unsigned group)
{
	const struct emu_group g = w->group[group];
	struct emu_x x = {.w = w, .b = w->block, .budget = 1, .mask = g.mask, .base = g.base, .forced = true};

	x.bank[BANK_CONST] = w->block->grid->func->mod->consts;
	w->ran++;
	drop(w, group);
	emu_x_banks(&x);
	emu_exec(&x, g.pc);
	emu_m.steps++;
}

static bool has_ready(const struct emu_warp *w)
{
	for (unsigned i = 0; i < w->ngroups; i++)
		if (w->group[i].state == GROUP_READY)
			return true;
	return false;
}

/* ---- the machine ------------------------------------------------------------------------------ */

/* Whose time is earliest, on the GPU that timing.c has in mind. */
static struct emu_warp *earliest(void)
{
	struct emu_warp *best = emu_m.run[0];

	for (unsigned i = 1; i < emu_m.nrun; i++)
		if (emu_timing_of(emu_m.run[i]) < emu_timing_of(best))
			best = emu_m.run[i];
	return best;
}

static struct emu_warp *next_warp(int *quantum)
{
	if (emu_m.timing) {
		*quantum = TIMED_QUANTUM;
		return earliest();
	}
	if (emu_m.seed) {
		uint64_t r = emu_random();
		static const uint8_t lengths[] = {1, 2, 3, 5, 8, 16, 32, 64, 128, 255};

		*quantum = lengths[r % sizeof lengths];
		return emu_m.run[(r >> 32) % emu_m.nrun];
	}
	*quantum = QUANTUM;
	if (emu_m.cursor >= emu_m.nrun)
		emu_m.cursor = 0;
	return emu_m.run[emu_m.cursor++];
}

struct emu_grid *emu_run(void)
{
	while (!emu_m.fault && !atomic_load_explicit(&emu_m.attention, memory_order_relaxed)) {
		struct emu_warp *w;
		struct emu_grid *ended;
		int quantum;

		if (emu_m.admit)
			emu_admit();
		if (emu_m.steps >= emu_m.async_due)
			emu_async_run();
		if (emu_is_late())
			break;
		if (emu_spins()) {
			emu_deadlock();
			break;
		}
		if (!emu_m.nrun) {
			if (emu_m.resident && emu_m.patient) {
				emu_wait_a_moment();
				continue;
			}
			if (emu_m.resident)
				emu_deadlock();
			return NULL;
		}
		if (emu_m.stepwise) {
			w = emu_step();
			if (!w && !emu_m.fault)
				continue;
		} else {
			w = next_warp(&quantum);
			turn(w, quantum);
		}
		if (emu_m.fault)
			break;
		if (has_ready(w))
			continue;
		emu_warp_gone(w);
		if (w->block->live)
			continue;
		ended = emu_block_end(w->block);
		if (ended) {
			if (emu_m.profile)
				emu_profile_write();
			if (emu_m.timing)
				emu_timing_end(ended);
			return ended;
		}
	}
	return NULL;
}
