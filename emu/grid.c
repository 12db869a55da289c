/* SPDX-License-Identifier: Apache-2.0
 *
 * grid.c: the machine's size, and blocks coming and going: a block gets a place on
 * an SM with its registers and shared memory, all blocks of a cluster at once, and
 * gives it back when its last thread has ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"

/* A number from the environment; `value` stays if there is none.  False, with a
 * message, if it is not a number from `min` to `max`. */
static bool setting(const char *name, uint64_t min, uint64_t max, uint64_t *value)
{
	const char *s = getenv(name);
	unsigned long long v;
	char *end;

	if (!s || !*s)
		return true;
	v = strtoull(s, &end, 0);
	if (*end || v < min || v > max) {
		fprintf(stderr, "emu: %s=%s is not a number from %llu to %llu\n", name, s,
			(unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*value = v;
	return true;
}

bool emu_machine_init(void)
{
	uint64_t sm = emu_m.sm_version ? emu_m.sm_version : EMU_DEFAULT_SM, sms = 4, stepwise = emu_m.stepwise;
	uint64_t timeout = 0, patient = 0, fatal = 0;

	if (!setting("EMU_SM", EMU_FIRST_SM, EMU_LAST_SM, &sm) || !setting("EMU_SMS", 1, EMU_MAX_SMS, &sms) ||
	    !setting("EMU_SEED", 0, UINT64_MAX, &emu_m.seed) ||
	    !setting("EMU_STEPWISE", 0, 1, &stepwise) || !setting("EMU_TIMEOUT", 0, 1000000, &timeout) ||
	    !setting("EMU_PATIENT", 0, 1, &patient) || !setting("EMU_FATAL", 0, 2, &fatal))
		return false;
	emu_where_begin(timeout);
	emu_m.stepwise = stepwise;
	emu_m.patient = patient;
	emu_m.fatal = (unsigned)fatal;
	emu_profile_begin();
	emu_timing_init();
	emu_set_device((int)sm);
	emu_m.nsm = (unsigned)sms;
	emu_m.heap_limit = UINT64_C(8) << 20;
	emu_m.async_due = UINT64_MAX;
	return true;
}

/* Compute capability as 10 * major + minor; the sizes are those of CUDA C++
 * Programming Guide, "Technical Specifications per Compute Capability". */
EMU_API int emu_set_device(int sm)
{
	if (sm < EMU_FIRST_SM || sm > EMU_LAST_SM)
		return CUDA_ERROR_INVALID_VALUE;
	emu_m.sm_version = (unsigned)sm;
	emu_m.max_blocks = 8;
	emu_m.max_threads = sm == 75 ? 1024 : sm > 80 && sm < 90 ? 1536 : sm >= 120 ? 1536 : 2048;
	emu_m.sm_smem = (sm == 75 ? 64u : sm == 80 || sm == 87 ? 164u :
			 sm > 80 && sm < 90 ? 100u : sm >= 120 ? 100u : 228u) << 10;
	emu_m.block_smem = emu_m.sm_smem - EMU_SMEM_RESERVED;
	if (sm == 75)
		emu_m.block_smem = emu_m.sm_smem;
	return CUDA_SUCCESS;
}

EMU_API void emu_set_seed(unsigned long long seed)
{
	emu_m.seed = seed;
	emu_m.launches = 0;
}

/* ---- room -------------------------------------------------------------------------- */

uint64_t emu_grid_smem(const struct emu_grid *g)
{
	return EMU_SMEM_RESERVED + g->func->static_smem + g->smem_dynamic;
}

static unsigned grid_threads(const struct emu_grid *g)
{
	return g->block[0] * g->block[1] * g->block[2];
}

static unsigned warps_of(unsigned threads)
{
	return (threads + EMU_LANES - 1) / EMU_LANES;
}

static uint64_t sm_capacity(void)
{
	return emu_m.sm_smem > emu_m.block_smem ? emu_m.sm_smem :
	       emu_m.block_smem + EMU_SMEM_RESERVED;
}

static bool fits(const struct emu_sm *sm, unsigned threads, uint64_t smem)
{
	return sm->blocks < emu_m.max_blocks &&
	       sm->threads + warps_of(threads) * EMU_LANES <= emu_m.max_threads &&
	       sm->smem + smem <= sm_capacity();
}

unsigned emu_occupancy(const struct emu_func *f, unsigned threads, uint64_t dynamic_smem)
{
	uint64_t smem = EMU_SMEM_RESERVED + f->static_smem + dynamic_smem;
	struct emu_sm sm = {0};
	unsigned n = 0;

	if (!threads)
		return 0;
	while (fits(&sm, threads, smem)) {
		sm.blocks++;
		sm.threads += warps_of(threads) * EMU_LANES;
		sm.smem += smem;
		n++;
	}
	return n;
}

CUresult emu_grid_check(const struct emu_grid *g)
{
	unsigned each = emu_occupancy(g->func, grid_threads(g), g->smem_dynamic);
	uint64_t together = (uint64_t)g->cluster[0] * g->cluster[1] * g->cluster[2];

	if (!each)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (together > (uint64_t)each * emu_m.nsm)
		return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	if (g->cooperative && g->nblocks > (uint64_t)each * emu_m.nsm)
		return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	return CUDA_SUCCESS;
}

/* ---- warps ---------------------------------------------------------------------------- */

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

void emu_warp_grow(struct emu_warp *w, unsigned rows)
{
	unsigned old = w->nrows;

	if (rows < old * 2)
		rows = old * 2;
	w->rows = realloc(w->rows, (size_t)rows * EMU_LANES * sizeof *w->rows);
	w->preds = realloc(w->preds, rows * sizeof *w->preds);
	if (!w->rows || !w->preds)
		abort();
	memset(w->rows + (size_t)old * EMU_LANES, 0,
	       (size_t)(rows - old) * EMU_LANES * sizeof *w->rows);
	memset(w->preds + old, 0, (rows - old) * sizeof *w->preds);
	w->nrows = rows;
}

bool emu_warp_grow_local(struct emu_warp *w, uint64_t bytes)
{
	uint64_t size = w->local_bytes ? w->local_bytes : 64;
	uint8_t *now;

	if (bytes > EMU_MAX_LOCAL)
		return false;
	while (size < bytes)
		size *= 2;
	if (size == w->local_bytes)
		return true;
	now = zeroed(EMU_LANES, size);
	for (unsigned l = 0; w->local && l < EMU_LANES; l++)
		memcpy(now + l * size, w->local + l * w->local_bytes, w->local_bytes);
	free(w->local);
	w->local = now;
	w->local_bytes = size;
	return true;
}

static void fill(struct emu_warp *w, enum emu_wrow row, uint64_t v)
{
	for (unsigned l = 0; l < EMU_LANES; l++)
		w->wrows[row * EMU_LANES + l] = v;
}

static void fill3(struct emu_warp *w, enum emu_wrow row, const uint32_t v[3])
{
	for (unsigned i = 0; i < 3; i++)
		fill(w, row + i, v[i]);
}

static void set_sregs(struct emu_warp *w)
{
	const struct emu_block *b = w->block;
	const struct emu_grid *g = b->grid;
	uint32_t cluster[3], nclusters[3], in[3];

	for (unsigned l = 0; l < EMU_LANES; l++) {
		uint32_t t = w->index * EMU_LANES + l, bit = 1u << l;
		uint64_t *row = w->wrows + l;

		row[WROW_TID_X * EMU_LANES] = t % g->block[0];
		row[WROW_TID_Y * EMU_LANES] = t / g->block[0] % g->block[1];
		row[WROW_TID_Z * EMU_LANES] = t / g->block[0] / g->block[1];
		row[WROW_LANEID * EMU_LANES] = l;
		row[WROW_LANEMASK_EQ * EMU_LANES] = bit;
		row[WROW_LANEMASK_LT * EMU_LANES] = bit - 1;
		row[WROW_LANEMASK_LE * EMU_LANES] = bit | (bit - 1);
		row[WROW_LANEMASK_GE * EMU_LANES] = (uint32_t)~(bit - 1);
		row[WROW_LANEMASK_GT * EMU_LANES] = (uint32_t)~(bit | (bit - 1));
	}
	for (unsigned i = 0; i < 3; i++) {
		cluster[i] = b->ctaid[i] / g->cluster[i];
		nclusters[i] = g->dim[i] / g->cluster[i];
		in[i] = b->ctaid[i] % g->cluster[i];
	}
	fill(w, WROW_WARPID, w->slot);
	fill3(w, WROW_NTID_X, g->block);
	fill(w, WROW_NWARPID, emu_m.max_threads / EMU_LANES);
	fill3(w, WROW_CTAID_X, b->ctaid);
	fill3(w, WROW_NCTAID_X, g->dim);
	fill(w, WROW_SMID, b->sm);
	fill(w, WROW_NSMID, emu_m.nsm);
	fill(w, WROW_GRIDID, g->id);
	fill3(w, WROW_CLUSTERID_X, cluster);
	fill3(w, WROW_NCLUSTERID_X, nclusters);
	fill3(w, WROW_CLUSTER_CTAID_X, in);
	fill3(w, WROW_CLUSTER_NCTAID_X, g->cluster);
	fill(w, WROW_CLUSTER_CTARANK, b->rank);
	fill(w, WROW_CLUSTER_NCTARANK, g->cluster[0] * g->cluster[1] * g->cluster[2]);
	fill(w, WROW_IS_EXPLICIT_CLUSTER, g->explicit_cluster);
	fill(w, WROW_TOTAL_SMEM_SIZE, b->smem_bytes - EMU_SMEM_RESERVED);
	fill(w, WROW_AGGR_SMEM_SIZE, b->smem_bytes);
	fill(w, WROW_DYNAMIC_SMEM_SIZE, g->smem_dynamic);
	fill(w, WROW_RESERVED_SMEM_END, EMU_SMEM_RESERVED);
	fill(w, WROW_RESERVED_SMEM_CAP, EMU_SMEM_RESERVED);
	/* Where cooperative groups look for the workspace of grid_group. */
	fill(w, WROW_ENVREG1, g->workspace >> 32);
	fill(w, WROW_ENVREG2, (uint32_t)g->workspace);
	fill(w, WROW_WARP_SZ, EMU_LANES);
}

/* ---- blocks ------------------------------------------------------------------------------ */

static struct emu_block *block_new(struct emu_grid *g)
{
	struct emu_block *b = g->pool;

	if (b) {
		g->pool = b->pool_next;
		return b;
	}
	b = zeroed(1, sizeof *b);
	b->next = g->blocks;
	g->blocks = b;
	b->grid = g;
	b->nthreads = grid_threads(g);
	b->nwarps = warps_of(b->nthreads);
	b->smem_bytes = emu_grid_smem(g);
	b->smem_first = g->func->mod->reserved_smem ? 0 : EMU_SMEM_RESERVED;
	/* What is behind it in its last unit is there, too, as far as somebody judges who uses it. */
	b->smem_end = emu_mem_judged ? (b->smem_bytes + EMU_SMEM_UNIT - 1) / EMU_SMEM_UNIT * EMU_SMEM_UNIT : b->smem_bytes;
	b->smem = zeroed(1, b->smem_end + 64);
	b->warp = zeroed(b->nwarps, sizeof *b->warp);
	b->cluster_arrived = zeroed(b->nthreads, sizeof *b->cluster_arrived);
	for (unsigned i = 0; i < b->nwarps; i++) {
		struct emu_warp *w = &b->warp[i];

		w->block = b;
		w->index = i;
		w->run_at = -1;
		w->wrows = zeroed(WROW_COUNT * EMU_LANES, sizeof *w->wrows);
		emu_warp_grow(w, g->func->rows);
		emu_warp_grow_local(w, g->func->local_bytes);
	}
	return b;
}

static void block_free(struct emu_block *b)
{
	for (unsigned i = 0; i < b->nwarps; i++) {
		struct emu_warp *w = &b->warp[i];

		free(w->rows);
		free(w->preds);
		free(w->wrows);
		free(w->local);
		emu_copies_free(w);
	}
	free(b->warp);
	free(b->cluster_arrived);
	free(b->smem);
	emu_weak_free(b);
	emu_tc_block_end(b);
	free(b);
}

static void block_start(struct emu_block *b, uint64_t linear, struct emu_cluster *c, unsigned rank,
			unsigned sm)
{
	struct emu_grid *g = b->grid;
	struct emu_sm *at = &emu_m.sm[sm];

	b->cluster = c;
	b->rank = rank;
	b->sm = sm;
	b->live = b->nthreads;
	b->triggered = false;
	b->ctaid[0] = (uint32_t)(linear % g->dim[0]);
	b->ctaid[1] = (uint32_t)(linear / g->dim[0] % g->dim[1]);
	b->ctaid[2] = (uint32_t)(linear / g->dim[0] / g->dim[1]);
	memset(b->bar, 0, sizeof b->bar);
	memset(b->cluster_arrived, 0, b->nthreads * sizeof *b->cluster_arrived);
	emu_weak_block(b);
	memset(b->heard, 0, sizeof b->heard);
	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = TELL_BLOCK_BEGIN, .b = b, .u.linear = linear});
	at->blocks++;
	at->threads += b->nwarps * EMU_LANES;
	at->smem += b->smem_bytes;
	emu_m.resident++;
	for (unsigned i = 0; i < b->nwarps; i++) {
		struct emu_warp *w = &b->warp[i];
		unsigned n = b->nthreads - i * EMU_LANES;

		w->slot = (unsigned)__builtin_ctzll(~at->warps);
		at->warps |= UINT64_C(1) << w->slot;
		w->live = n >= EMU_LANES ? EMU_ALL : (1u << n) - 1;
		w->cc = 0;
		w->ran = w->steps = w->place = 0;
		w->loose = false;
		w->outside = 0;
		w->looks = 0;
		memset(w->came, 0, sizeof w->came);
		emu_timing_begin(w);
		w->ngroups = 1;
		w->group[0] = (struct emu_group){
			.pc = g->func->ops, .mask = w->live, .state = GROUP_READY
		};
		for (unsigned l = 0; l < EMU_LANES; l++) {
			w->sp[l] = g->func->local_bytes;
			w->rows[FRAME_LOCAL * EMU_LANES + l] = 0;
		}
		set_sregs(w);
		emu_warp_ready(w);
	}
}

/* Linear number of the block of rank `r` in cluster number `c`. */
static uint64_t block_number(const struct emu_grid *g, uint64_t c, unsigned r)
{
	uint64_t nx = g->dim[0] / g->cluster[0], ny = g->dim[1] / g->cluster[1];
	uint64_t x = c % nx * g->cluster[0] + r % g->cluster[0];
	uint64_t y = c / nx % ny * g->cluster[1] + r / g->cluster[0] % g->cluster[1];
	uint64_t z = c / nx / ny * g->cluster[2] + r / g->cluster[0] / g->cluster[1];

	return (z * g->dim[1] + y) * g->dim[0] + x;
}

void emu_cluster_place(const struct emu_grid *g, uint64_t c, uint64_t at[3])
{
	uint64_t linear = block_number(g, c, 0);

	at[0] = linear % g->dim[0];
	at[1] = linear / g->dim[0] % g->dim[1];
	at[2] = linear / g->dim[0] / g->dim[1];
}

/* Finds an SM for each of `n` blocks; false, and nothing is taken, if one has none. */
static bool find_room(const struct emu_grid *g, unsigned n, unsigned *sm)
{
	struct emu_sm now[EMU_MAX_SMS];
	unsigned threads = grid_threads(g), i, s;
	uint64_t smem = emu_grid_smem(g);

	memcpy(now, emu_m.sm, sizeof now);
	for (i = 0; i < n; i++) {
		unsigned best = EMU_MAX_SMS;

		for (s = 0; s < emu_m.nsm; s++)         /* the emptiest */
			if (fits(&now[s], threads, smem) &&
			    (best == EMU_MAX_SMS || now[s].blocks < now[best].blocks))
				best = s;
		if (best == EMU_MAX_SMS)
			return false;
		sm[i] = best;
		now[best].blocks++;
		now[best].threads += warps_of(threads) * EMU_LANES;
		now[best].smem += smem;
	}
	return true;
}

static bool admit_cluster(struct emu_grid *g)
{
	unsigned n = g->cluster[0] * g->cluster[1] * g->cluster[2], sm[16];
	struct emu_cluster *c = NULL;

	if (!find_room(g, n, sm))
		return false;
	for (unsigned r = 0; r < n; r++) {
		struct emu_block *b = block_new(g);

		if (!c) {
			c = &b->own_cluster;
			*c = (struct emu_cluster){
				.nblocks = n, .running = n, .threads = n * grid_threads(g)
			};
		}
		c->block[r] = b;
		block_start(b, block_number(g, g->next_block / n, r), c, r, sm[r]);
	}
	g->next_block += n;
	return true;
}

void emu_admit(void)
{
	emu_m.admit = false;
	for (struct emu_grid *g = emu_m.grids; g; g = g->next) {
		if (g->cooperative && !g->next_block) {
			unsigned *sm = zeroed(g->nblocks, sizeof *sm);
			bool ok = find_room(g, (unsigned)g->nblocks, sm);

			free(sm);
			if (!ok)
				continue;
		}
		while (g->next_block < g->nblocks && admit_cluster(g))
			;
	}
}

static void leave_sm(struct emu_block *b)
{
	struct emu_sm *at = &emu_m.sm[b->sm];

	at->blocks--;
	at->threads -= b->nwarps * EMU_LANES;
	at->smem -= b->smem_bytes;
	for (unsigned i = 0; i < b->nwarps; i++)
		at->warps &= ~(UINT64_C(1) << b->warp[i].slot);
	emu_m.resident--;
}

/* PTX ISA, "griddepcontrol": dependents start when every block has asked for it or
 * ended. */
void emu_grid_trigger(struct emu_block *b)
{
	if (b->triggered)
		return;
	b->triggered = true;
	if (++b->grid->triggered == b->grid->nblocks)
		atomic_store(&emu_m.attention, true);
}

struct emu_grid *emu_block_end(struct emu_block *b)
{
	struct emu_cluster *c = b->cluster;
	struct emu_grid *g = b->grid, **p;

	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = TELL_BLOCK_END, .b = b});
	emu_grid_trigger(b);
	if (--c->running)               /* others may still look at its shared memory */
		return NULL;
	emu_async_cluster_end(c);
	for (unsigned i = 0; i < c->nblocks; i++) {
		leave_sm(c->block[i]);
		c->block[i]->pool_next = g->pool;
		g->pool = c->block[i];
		g->done++;
	}
	emu_m.admit = true;
	if (g->done < g->nblocks)
		return NULL;
	for (p = &emu_m.grids; *p != g; p = &(*p)->next)
		;
	*p = g->next;
	return g;
}

static void tell_launch(enum emu_tell_kind kind, struct emu_grid *g)
{
	struct emu_tell_launch l = {.grid = g};

	if (emu_listening)
		emu_tell(&(struct emu_tell){.kind = kind, .u.launch = &l});
}

void emu_grid_start(struct emu_grid *g)
{
	struct emu_grid **p = &emu_m.grids;

	if (!emu_m.grids)
		emu_reseed(emu_m.launches);
	emu_spin_begin();
	emu_m.launches++;
	emu_tmap_forget();
	g->id = ++emu_m.next_grid;
	g->next = NULL;
	tell_launch(TELL_LAUNCH, g);
	while (*p)
		p = &(*p)->next;
	*p = g;
	emu_m.admit = true;
}

void emu_grid_free(struct emu_grid *g)
{
	while (g->blocks) {
		struct emu_block *b = g->blocks;

		g->blocks = b->next;
		block_free(b);
	}
	emu_mem_delete(g->params, MEM_PARAMS);
	free(g);
}

/* ---- after a fault -------------------------------------------------------------------------- */

struct emu_grid *emu_machine_abandon(void)
{
	struct emu_grid *all = emu_m.grids;

	for (struct emu_grid *g = all; g; g = g->next) {
		tell_launch(TELL_LAUNCH_END, g);
		if (emu_m.timing)
			emu_timing_end(g);
	}

	emu_async_abandon();
	emu_m.grids = NULL;
	emu_m.nrun = 0;
	emu_m.resident = 0;
	memset(emu_m.sm, 0, sizeof emu_m.sm);
	return all;
}
