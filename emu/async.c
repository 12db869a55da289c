/* SPDX-License-Identifier: Apache-2.0
 *
 * async.c: carries asynchronous operations on.  Each has a moment at which it does
 * its next step, reading or writing some of its pieces; emu_run() looks at the
 * earliest of them between two turns of warps.  Data is always written before the
 * mbarrier hears of it, and a group is done when nothing of it is left in the list.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/async.h"
#include "emu/listen.h"

/* Steps that one stage takes: with seed 0; with others up to 2^SPREAD, mostly less.
 * With stepwise schedules steps are fewer. */
#define PLAIN_DELAY (emu_m.stepwise ? 60 : 600)
#define SPREAD      (emu_m.stepwise ? 10u : 15u)

static struct emu_async *pending, **tail = &pending;

/* ---- chance ------------------------------------------------------------------------- */

uint64_t emu_async_delay(void)
{
	uint64_t r;

	if (!emu_m.seed)
		return emu_m.steps + PLAIN_DELAY;
	r = emu_random();
	return emu_m.steps + (r >> 8 & ((UINT64_C(1) << r % (SPREAD + 1)) - 1));
}

bool emu_async_chance(unsigned n)
{
	return emu_m.seed && emu_random() % 16 < n;
}

/* ---- making one --------------------------------------------------------------------- */

static void *grown(void *p, size_t n, size_t size)
{
	p = realloc(p, n * size);
	if (!p)
		abort();
	return p;
}

struct emu_async *emu_async_new(struct emu_x *x, const struct emu_op *op, unsigned lane)
{
	struct emu_async *a = calloc(1, sizeof *a);

	if (!a)
		abort();
	a->block = x->b;
	a->warp = x->w;
	a->op = op;
	a->lane = lane;
	a->serial = emu_serial();
	return a;
}

static uint8_t *stage(struct emu_async *a, uint32_t n)
{
	if (a->bytes + n > a->cap_staged) {
		a->cap_staged = (a->bytes + n) * 2;
		a->staged = grown(a->staged, a->cap_staged, 1);
	}
	a->bytes += n;
	return a->staged + a->bytes - n;
}

static struct emu_piece *piece(struct emu_async *a, uint8_t *dst, uint32_t n)
{
	struct emu_piece *p;

	if (a->n == a->cap) {
		a->cap = a->cap ? a->cap * 2 : 8;
		a->piece = grown(a->piece, a->cap, sizeof *a->piece);
	}
	p = &a->piece[a->n++];
	*p = (struct emu_piece){.dst = dst, .n = n, .at = a->bytes};
	return p;
}

void emu_async_piece(struct emu_async *a, const uint8_t *src, uint8_t *dst, uint32_t n)
{
	piece(a, dst, n)->src = src;
	memset(stage(a, n), 0, n);
}

void emu_async_bytes(struct emu_async *a, const void *bytes, uint8_t *dst, uint32_t n)
{
	piece(a, dst, n);
	memcpy(stage(a, n), bytes, n);
}

/* Pieces land in any order. */
static void shuffle(struct emu_async *a)
{
	if (!emu_m.seed)
		return;
	a->order = grown(NULL, a->n + 1, sizeof *a->order);
	for (unsigned i = 0; i < a->n; i++)
		a->order[i] = i;
	for (unsigned i = a->n; i > 1; i--) {
		unsigned k = (unsigned)(emu_random() % i);
		uint32_t p = a->order[i - 1];

		a->order[i - 1] = a->order[k];
		a->order[k] = p;
	}
}

static const struct emu_piece *nth(const struct emu_async *a, unsigned i)
{
	return &a->piece[a->order ? a->order[i] : i];
}

static void due_next(const struct emu_async *a)
{
	if (a->due < emu_m.async_due)
		emu_m.async_due = a->due;
}

void emu_async_start(struct emu_async *a)
{
	shuffle(a);
	a->stale = !a->generic && (a->from ? a->from->stale != NULL : emu_weak_global(a->block)) &&
		   emu_async_chance(4);
	a->due = emu_async_delay();
	a->next = NULL;
	*tail = a;
	tail = &a->next;
	due_next(a);
}

/* ---- its steps ---------------------------------------------------------------------- */

static bool over(const struct emu_async *a)
{
	if (a->read < a->n)
		return false;
	for (unsigned i = 0; i < a->nland; i++)
		if (a->land[i].written < a->n)
			return false;
	return true;
}

static void read_piece(struct emu_async *a, const struct emu_piece *p)
{
	const uint8_t *src = p->src;

	if (!src)
		return;
	if (a->stale && a->from && a->from->stale)
		src = a->from->stale + (src - a->from->smem);
	memcpy(a->staged + p->at, src, p->n);
	if (a->stale && !a->from)
		emu_weak_before(a->block, emu_address(src), p->n, a->staged + p->at);
}

/* PTX ISA, "Data Movement and Conversion Instructions: cp.reduce.async.bulk": every
 * element is a read-modify-write of its own. */
static void reduce_piece(struct emu_async *a, const struct emu_piece *p, uint8_t *dst)
{
	for (uint32_t i = 0; i + a->size <= p->n; i += a->size) {
		uint64_t v = 0;

		memcpy(&v, a->staged + p->at + i, a->size);
		emu_atom_update(dst + i, a->size, a->sys, a->reduce - 1u, a->type, v, 0);
	}
}

static void tell_landed(const struct emu_async *a, const struct emu_landing *land)
{
	struct emu_tell_landed landed = {a, (unsigned)(land - a->land)};

	emu_tell(&(struct emu_tell){
		.kind = TELL_LANDED, .b = a->block, .w = a->warp, .lanes = 1u << a->lane, .u.landed = &landed
	});
}

/* The mbarrier counts in units of 16 bytes: a phase that expects less than what
 * comes is complete as soon as that much is there. */
static void count(const struct emu_async *a, const struct emu_landing *land, uint32_t n)
{
	for (uint32_t i = 0; land->mbar && i < n; i += 16) {
		if (emu_listening && land->written == a->n && n - i <= 16)
			tell_landed(a, land);
		emu_mbar_complete_tx(land->mbar, n - i < 16 ? n - i : 16);
	}
}

static void write_piece(struct emu_async *a, struct emu_landing *land)
{
	const struct emu_piece *p = nth(a, land->written++);
	uint8_t *dst = p->dst + land->shift;

	if (a->reduce)
		reduce_piece(a, p, dst);
	else
		memcpy(dst, a->staged + p->at, p->n);
	if (land->block && !a->generic) {
		if (land->block->stale)
			memcpy(land->block->stale + (dst - land->block->smem), dst, p->n);
		emu_late_landed(land->block, dst, p->n);
	}
	count(a, land, p->n);
}

/* How many of `left` pieces one step does. */
static unsigned some(unsigned left)
{
	uint64_t r;

	if (!emu_m.seed)
		return (left + 1) / 2;
	r = emu_random();
	return r & 1 ? left : 1 + (unsigned)((r >> 1) % left);
}

static void step(struct emu_async *a)
{
	unsigned n;

	if (a->read < a->n && (!a->read || !emu_m.seed || emu_random() & 1)) {
		for (n = emu_m.seed ? some(a->n - a->read) : a->n - a->read; n; n--)
			read_piece(a, nth(a, a->read++));
		return;
	}
	for (unsigned i = 0; i < a->nland; i++) {
		struct emu_landing *land = &a->land[i];
		unsigned left = a->read - land->written;

		if (!left || (a->nland > 1 && emu_async_chance(8)))
			continue;
		for (n = some(left); n; n--)
			write_piece(a, land);
	}
}

static void finish(struct emu_async *a)
{
	while (a->read < a->n)
		read_piece(a, nth(a, a->read++));
	for (unsigned i = 0; i < a->nland; i++)
		while (a->land[i].written < a->n)
			write_piece(a, &a->land[i]);
}

void emu_async_free(struct emu_async *a)
{
	free(a->piece);
	free(a->order);
	free(a->staged);
	free(a);
}

static void drop(struct emu_async **p)
{
	struct emu_async *a = *p;

	*p = a->next;
	if (tail == &a->next)
		tail = p;
	emu_async_free(a);
}

void emu_async_run(void)
{
	if (emu_copies_due <= emu_m.steps)
		emu_copies_run();
	if (emu_wgmma_due <= emu_m.steps)
		emu_wgmma_run();
	if (emu_tc_due <= emu_m.steps)
		emu_tc_run();
	emu_m.async_due = emu_copies_due < emu_wgmma_due ? emu_copies_due : emu_wgmma_due;
	if (emu_tc_due < emu_m.async_due)
		emu_m.async_due = emu_tc_due;
	for (struct emu_async **p = &pending; *p;) {
		struct emu_async *a = *p;

		if (a->due <= emu_m.steps) {
			step(a);
			if (over(a)) {
				drop(p);
				continue;
			}
			a->due = emu_async_delay();
		}
		due_next(a);
		p = &a->next;
	}
}

void emu_async_settle(void)
{
	while (emu_m.async_due != UINT64_MAX) {
		if (emu_m.steps < emu_m.async_due)
			emu_m.steps = emu_m.async_due;
		emu_async_run();
	}
}

bool emu_async_done(const struct emu_warp *w, unsigned lane, uint32_t group, bool read)
{
	for (const struct emu_async *a = pending; a; a = a->next)
		if (a->grouped && a->warp == w && a->lane == lane && a->group < group &&
		    (!read || a->read < a->n))
			return false;
	return true;
}

/* ---- ends --------------------------------------------------------------------------- */

/* An operation that has not read its source when the last thread ends reads what the
 * next owner of that shared memory has put there. */
static void lose_shared(struct emu_cluster *c)
{
	for (unsigned i = 0; i < c->nblocks; i++) {
		struct emu_block *b = c->block[i];

		memset(b->smem, 0xdd, b->smem_end);
		if (b->stale)
			memset(b->stale, 0xdd, b->smem_end);
	}
}

void emu_async_cluster_end(struct emu_cluster *c)
{
	bool lost = false, any = false;

	for (unsigned i = 0; i < c->nblocks; i++)
		emu_tc_block_end(c->block[i]);

	for (struct emu_async **p = &pending; *p;) {
		struct emu_async *a = *p;

		if (a->block->cluster != c) {
			p = &a->next;
			continue;
		}
		if (!any)
			lost = emu_async_chance(8);
		any = true;
		if (lost && a->from && a->read < a->n)
			lose_shared(c);
		for (unsigned i = 0; i < a->nland; i++)
			a->land[i].mbar = NULL;
		finish(a);
		drop(p);
	}
}

void emu_async_abandon(void)
{
	while (pending)
		drop(&pending);
	emu_copies_abandon();
	emu_m.async_due = UINT64_MAX;
}

/* ---- places ------------------------------------------------------------------------- */

uint8_t *emu_range(struct emu_x *x, const struct emu_op *op, unsigned lane, enum emu_base base,
		   uint64_t a, uint64_t n, unsigned align, struct emu_block **owner)
{
	uint8_t *p, *end;

	*owner = NULL;
	if ((a | n) & (align - 1)) {
		emu_fault(x, op, lane, CUDA_ERROR_MISALIGNED_ADDRESS,
			  "%llu bytes at 0x%llx, which are no multiples of %u", (unsigned long long)n,
			  (unsigned long long)a, align);
		return NULL;
	}
	p = emu_at(x, lane, base, a, align);
	if (base == BASE_SHARED || base == BASE_OWN_SHARED ||
	    (base == BASE_GENERIC && a - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES)) {
		unsigned rank = (uint32_t)a >> EMU_RANK_SHIFT;
		uint64_t last = n ? a + n - align : a;

		end = p ? emu_at(x, lane, base, last, align) : NULL;
		if (end && end >= p && (uint32_t)last >> EMU_RANK_SHIFT == rank) {
			*owner = x->b->cluster->block[rank];
			return p;
		}
		emu_access_fault(x, op, lane, p ? last : a, align, base);
		return NULL;
	}
	if (base == BASE_LOCAL || base == BASE_FRAME || base == BASE_PARAM || base == BASE_FPARAM ||
	    (base == BASE_GENERIC && a - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES) || !p ||
	    !emu_mem_range_open(a, n)) {
		uint64_t at = a;

		while (p && at < a + n && emu_mem_ok(at, align))
			at += align;
		emu_access_fault(x, op, lane, at, align, base);
		return NULL;
	}
	return p;
}
