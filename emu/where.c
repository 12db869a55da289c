/* SPDX-License-Identifier: Apache-2.0
 *
 * where.c: where warps stand, when nothing can go on or the time is up: the kernel, its line,
 * the warp, and what it waits for.
 */
#include <stdio.h>
#include <time.h>

#include "emu/async.h"

#define MOST_LINES 16
#define LOOK_EVERY 4096         /* turns of warps between two looks at the clock */

static double deadline;         /* 0: none */
static uint64_t allowed;        /* seconds */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void emu_where_begin(uint64_t seconds)
{
	allowed = seconds;
	deadline = seconds ? now() + (double)seconds : 0;
}

/* The op of the program's own in which these lanes are, or the last one in front of what gsan
 * put in there; of who waits at an mbarrier, wherever it is in its loop, the one that looked there. */
static const struct emu_op *own_op(const struct emu_warp *w, const struct emu_group *g)
{
	const bool looks = g->state == GROUP_READY && w->looks & g->mask;
	const struct emu_op *op = looks ? w->looked_by : g->state == GROUP_READY ? g->pc : g->at;
	unsigned line;

	for (const struct emu_op *o = op; o > op->func->ops; o--)
		if (o->stmt && emu_source_place(o->func->ptx, o->stmt, &line))
			return o;
	return op;
}

/* A barrier with a count is one of warps, which come when their last lane does. */
static void say_barrier(const struct emu_warp *w, unsigned id)
{
	const struct emu_bar *bar = &w->block->bar[id];
	const uint32_t missing = w->live & ~bar->lanes[w->index];

	if (bar->expected == EMU_BAR_ALL) {
		fprintf(stderr, "waits at barrier %u, where %u of %u threads are", id, bar->arrived, w->block->live);
		return;
	}
	fprintf(stderr, "waits at barrier %u, where %u of %u warps are", id, bar->warps, bar->expected / EMU_LANES);
	if (bar->lanes[w->index] && missing)
		fprintf(stderr, "; lanes 0x%x of this warp have not come", missing);
}

static void say_group(const struct emu_warp *w, const struct emu_group *g)
{
	unsigned lane = (unsigned)__builtin_ctz(g->mask);
	const struct emu_cluster *c = w->block->cluster;
	const struct emu_polled *p = emu_spin_polled(w, lane);

	fputs("emu:   ", stderr);
	emu_print_thread(w, lane, own_op(w, g));
	fprintf(stderr, ", warp %u, lanes 0x%x: ", w->index, g->mask);
	switch (g->state) {
	case GROUP_WAIT_BAR:
		say_barrier(w, g->bar);
		break;
	case GROUP_WAIT_CLUSTER:
		fprintf(stderr, "waits at the cluster's barrier, where %u of %u threads are", c->arrived, c->threads);
		break;
	case GROUP_WAIT_WARP:
		fprintf(stderr, "waits for lanes 0x%x of its warp", g->need & ~g->mask);
		break;
	default:
		if (w->looks & g->mask) {
			fprintf(stderr, "waits at the mbarrier at 0x%llx: ", (unsigned long long)w->looked_at);
			emu_mbar_say(w->looked);
		} else if (p) {
			fprintf(stderr, "polls the word at 0x%llx, which holds 0x%llx", (unsigned long long)p->at, (unsigned long long)p->value);
		} else {
			fputs("goes on", stderr);
		}
	}
	fputc('\n', stderr);
}

static void say_all(void)
{
	unsigned lines = 0, more = 0;

	for (struct emu_grid *g = emu_m.grids; g; g = g->next) {
		for (struct emu_block *b = g->blocks; b; b = b->next) {
			for (unsigned i = 0; b->live && i < b->nwarps; i++) {
				const struct emu_warp *w = &b->warp[i];

				for (unsigned k = 0; k < w->ngroups; k++) {
					if (++lines <= MOST_LINES)
						say_group(w, &w->group[k]);
					else
						more++;
				}
			}
		}
	}
	if (more)
		fprintf(stderr, "emu:   and %u more groups of lanes\n", more);
	emu_hang_say(own_op);
}

void emu_deadlock(void)
{
	fputs("emu: deadlock: every thread waits for something that cannot happen\n", stderr);
	emu_async_settle();
	say_all();
	emu_m.fault = CUDA_ERROR_LAUNCH_TIMEOUT;
}

void emu_wait_a_moment(void)
{
	const struct timespec t = {.tv_nsec = 1000000};

	nanosleep(&t, NULL);
}

bool emu_is_late(void)
{
	static unsigned turns;

	if (!deadline || ++turns % LOOK_EVERY || now() < deadline)
		return false;
	fprintf(stderr, "emu: a kernel still runs after %llu seconds (EMU_TIMEOUT); its warps:\n",
		(unsigned long long)allowed);
	say_all();
	emu_m.fault = CUDA_ERROR_LAUNCH_TIMEOUT;
	return true;
}
