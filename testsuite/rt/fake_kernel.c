/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_kernel.c: a part of the pretended driver: what kernels do.
 *
 *   __gsan_vN_init*   hands over the tables of its unit
 *   hang*             does as its parameter says, and does not end
 *   die*              does as its parameter says, and ends in a fault
 *   others            do as their parameter says (struct fake_work)
 *
 * Those with probes log it as probes do (probe/start.ptx, refill.ptx), one warp after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "testsuite/rt/fake_impl.h"

#define SHARED 4096u                    /* bytes of a block's shared memory */
#define WINDOW UINT64_C(0x7e0000000000)

struct warp {
	uint32_t block, number, first;  /* unit in front of its piece among the launch's */
	uint32_t lanes;
	uint32_t last[EVENT_LANES];     /* unit that each of them stored last, as a leader */
};

/* A launch that is watched. */
struct grid {
	const struct launch *l;
	const struct module_tables *unit;
	struct region_launch p;
	uint32_t piece, threads, blocks, warps; /* of a block */
	bool *waited;                   /* it has waited for a piece */
	struct warp *warp;
};

static bool is_cut_off(const struct launch *l)
{
	return __atomic_load_n(&l->ctx->sick, __ATOMIC_ACQUIRE) != CUDA_SUCCESS;
}

static void nap(void)
{
	usleep(200);
}

/* %clock64 and %globaltimer; never twice the same. */
static uint64_t now(void)
{
	static uint64_t last;
	uint64_t was = __atomic_load_n(&last, __ATOMIC_RELAXED), next;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	do {
		next = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		next = next > was ? next : was + 1;
	} while (!__atomic_compare_exchange_n(&last, &was, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return next;
}

static uint32_t product(const unsigned v[3])
{
	return v[0] * v[1] * v[2];
}

/* ---- pieces --------------------------------------------------------------------------------------------- */

static void *unit_at(const struct grid *g, uint32_t n)
{
	return (void *)(uintptr_t)(g->p.region + (uint64_t)n * sizeof(struct event_unit));
}

/* Nobody empties pieces: what is logged goes where it is lost. */
static uint32_t lose(const struct grid *g)
{
	struct region_head *h = unit_at(g, 0);
	uint64_t since = now(), was = __atomic_load_n(&h->since, __ATOMIC_RELAXED);

	while (since < was && !__atomic_compare_exchange_n(&h->since, &was, since, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	__atomic_add_fetch(&h->lost, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&h->next, REGION_OVER, __ATOMIC_RELAXED);
	return h->last + g->piece;
}

/* Asks for a piece that was emptied, until there is an answer. */
static uint32_t ask(const struct grid *g, uint32_t ticket, uint32_t was)
{
	struct region_head *h = unit_at(g, 0);
	struct region_entry *e = (struct region_entry *)unit_at(g, REGION_QUEUE) + (ticket / g->piece & g->p.queue);

	while (!__atomic_load_n(&h->cut, __ATOMIC_ACQUIRE) && !is_cut_off(g->l)) {
		uint32_t at;

		*g->waited = true;
		if (__atomic_load_n(&e->ticket, __ATOMIC_ACQUIRE) == ticket) {
			at = __atomic_load_n(&e->piece, __ATOMIC_ACQUIRE);
			if (!at)
				__atomic_store_n(&e->piece, was, __ATOMIC_RELEASE);
			if (at & REGION_GIVEN) {
				__atomic_store_n(&e->piece, 0, __ATOMIC_RELAXED);
				__atomic_store_n(&e->ticket, ticket + (g->p.queue + 1) * g->piece, __ATOMIC_RELEASE);
				return at & ~REGION_GIVEN;
			}
		}
		nap();
	}
	return lose(g);
}

/* A new piece, and its head. */
static uint32_t refill(const struct grid *g, unsigned lane, uint32_t was)
{
	struct region_head *h = unit_at(g, 0);
	const uint32_t ticket = __atomic_fetch_add(&h->next, g->piece, __ATOMIC_RELAXED);
	const struct region_piece head = { EVENT_MAGIC, was, lane, ticket, now(), now() };
	uint32_t at = ticket;

	if (ticket > g->p.last) {
		at = ask(g, ticket, was);
		memset(unit_at(g, at), 0, g->piece * sizeof(struct event_unit));
	}
	memcpy(unit_at(g, at), &head, sizeof head);
	return at + 1;
}

static void append(const struct grid *g, struct warp *w, unsigned leader, const struct event_unit *unit, unsigned n)
{
	uint32_t *last = &w->last[leader];

	if ((leader && *last == w->first) || (*last != w->first && *last % g->piece + n >= g->piece))
		*last = refill(g, leader, *last);
	memcpy(unit_at(g, *last + 1), unit, n * sizeof *unit);
	*last += n;
}

/* ---- records ---------------------------------------------------------------------------------------------- */

static void put(const struct grid *g, struct warp *w, struct event_put *p)
{
	struct event_unit unit[EVENT_UNITS_MAX];

	p->clock[0] = p->timer[0] = now();
	p->clock[1] = p->timer[1] = now();
	append(g, w, event_first(p->lanes), unit, event_encode(unit, p));
}

static uint32_t site(const struct grid *g, uint32_t number)
{
	uint32_t first = 0;

	if (g->unit->first)
		memcpy(&first, (const void *)(uintptr_t)g->unit->first, sizeof first);
	return (first >> EVENT_SITE_SHIFT) + number;
}

/* Lanes come together, or apart. */
static void meet(const struct grid *g, struct warp *w, uint32_t lanes)
{
	struct event_put clock = { .kind = EVENT_CLOCK, .lanes = lanes };

	put(g, w, &clock);
}

static void access_memory(const struct grid *g, struct warp *w, uint32_t lanes, uint32_t number, uint64_t address, uint32_t step)
{
	const struct event_site *s = (const struct event_site *)(uintptr_t)g->unit->sites + number;
	struct event_put p = { .kind = (enum event_kind)s->kind, .site = site(g, number), .lanes = lanes };

	for (unsigned l = 0; l < EVENT_LANES; l++)
		p.address[l] = address + l * step;
	put(g, w, &p);
}

static void do_access(const struct grid *g, const struct fake_access *a)
{
	struct warp *w = &g->warp[a->block * g->warps + a->thread / EVENT_LANES];

	const uint32_t lane = 1u << a->thread % EVENT_LANES;

	meet(g, w, lane);
	access_memory(g, w, lane, a->site, a->address, 0);
}

/* ---- a block's begin and end ------------------------------------------------------------------------------ */

static void begin_block(const struct grid *g, uint32_t block)
{
	const struct region_block b = {
		.magic = EVENT_MAGIC, .launch = g->p.launch, .block = block, .first = block, .place = 1 << 16, .sm = block % SMS,
		.threads = g->threads, .shared = SHARED, .window = WINDOW, .clock = now(), .timer = now(), .piece = g->piece
	};

	memcpy(unit_at(g, g->p.heads + block * REGION_BLOCK), &b, sizeof b);
}

/* What a lane would keep across a call; where that is the runtime has to say. */
static void keep(const struct grid *g, const struct warp *w)
{
	uint64_t table;
	struct region_lane *l;

	memcpy(&table, (const void *)(uintptr_t)g->unit->lanes, sizeof table);
	l = (struct region_lane *)(uintptr_t)table + (w->block % SMS * REGION_WARPS + w->number) * EVENT_LANES;
	for (unsigned i = 0; i < EVENT_LANES; i++)
		l[i] = (struct region_lane){ g->p.region, w->last[i], 0 };
}

static void begin_warp(const struct grid *g, struct warp *w, uint32_t n)
{
	const uint32_t left = g->threads - n % g->warps * EVENT_LANES;
	struct event_put begin = { .kind = EVENT_BEGIN, .a = g->threads, .b = SHARED };

	w->block = n / g->warps;
	w->number = n % g->warps;
	w->first = g->p.slots + n * g->piece - 1;
	w->lanes = left < EVENT_LANES ? (1u << left) - 1 : ~0u;
	for (unsigned i = 0; i < EVENT_LANES; i++)
		w->last[i] = w->first;
	begin.lanes = w->lanes;
	meet(g, w, w->lanes);
	put(g, w, &begin);
	keep(g, w);
}

static void end_warp(const struct grid *g, struct warp *w)
{
	struct event_put end = { .kind = EVENT_EXIT, .lanes = w->lanes };

	meet(g, w, w->lanes);
	put(g, w, &end);
}

/* ---- what a kernel does between ---------------------------------------------------------------------------- */

static void await_gate(const struct launch *l, const struct fake_work *k)
{
	while (k->gate && !__atomic_load_n(k->gate, __ATOMIC_ACQUIRE) && !is_cut_off(l))
		nap();
}

/* Each warp in memory of its own, which need not be there. */
static void fill(const struct grid *g, const struct fake_work *k)
{
	for (uint32_t n = 0; n < g->blocks * g->warps; n++) {
		struct warp *w = &g->warp[n];
		uint64_t own = ((uint64_t)1 + n) << 32;

		for (unsigned l = 0; l < k->lanes; l++) {
			meet(g, w, 1u << l);
			access_memory(g, w, 1u << l, k->fill_site, own + l * 4, 0);
		}
		if (k->fill)
			meet(g, w, w->lanes);
		for (uint32_t i = 0; i < k->fill; i++)
			access_memory(g, w, w->lanes, k->fill_site, own + i * 128, 4);
	}
}

static void wreck(const struct grid *g, enum fake_damage how)
{
	struct event_unit *first = unit_at(g, g->p.slots);
	uint32_t end = g->p.slots + g->blocks * g->warps * g->piece;

	end = (end + REGION_PIECE_MAX - 1) / REGION_PIECE_MAX * REGION_PIECE_MAX;       /* of the first ticket */
	if (how == FAKE_BAD_RECORD)
		first[1].w[0] |= 63;
	else if (how == FAKE_BAD_SITE)
		first[1].w[0] |= ~0u << EVENT_SITE_SHIFT;
	else if (how == FAKE_BAD_HEAD)
		((struct region_piece *)unit_at(g, end))->behind = 7;
}

static void log_all(const struct grid *g, const struct fake_work *k)
{
	uint32_t n = g->blocks * g->warps, i = 0;

	for (uint32_t b = 0; b < g->blocks; b++)
		begin_block(g, b);
	for (uint32_t w = 0; w < n; w++)
		begin_warp(g, &g->warp[w], w);
	for (; i < k->early && i < k->naccesses; i++)
		do_access(g, &k->access[i]);
	fill(g, k);
	for (; i < k->naccesses; i++)
		do_access(g, &k->access[i]);
	for (uint32_t w = 0; w < n; w++)
		end_warp(g, &g->warp[w]);
	wreck(g, k->damage);
}

/* ---- kernels -------------------------------------------------------------------------------------------------- */

static void hand_over(const struct launch *l)
{
	struct module_mailbox *box;
	uint64_t at;

	memcpy(&at, l->value, sizeof at);
	box = (struct module_mailbox *)(uintptr_t)at;
	if (fake_fails("init"))
		return;
	box->tables = (uintptr_t)l->fn->k->unit;
	box->version = l->fn->k->unit->version;
	__atomic_store_n(&box->done, 1, __ATOMIC_RELEASE);
}

static const struct module_kernel *kernel_of(const struct fake_kernel *k)
{
	const struct module_kernel *t = (const struct module_kernel *)(uintptr_t)k->unit->kernels;
	const char *strings = (const char *)(uintptr_t)k->unit->strings;

	while (strcmp(strings + t->name, k->name))
		t++;
	return t;
}

static void log_launch(const struct launch *l, const struct fake_work *k)
{
	struct grid g = { .l = l, .unit = l->fn->k->unit, .piece = kernel_of(l->fn->k)->piece, .threads = product(l->block),
			  .blocks = product(l->grid) };
	bool waited = false;

	g.waited = &waited;
	memcpy(&g.p, l->value + OWN, sizeof g.p);
	if (g.p.magic == FAKE_NOTHING)
		printf("a kernel with probes was launched without their parameter\n");
	if (g.p.magic != EVENT_MAGIC)
		return;
	g.warps = (g.threads + EVENT_LANES - 1) / EVENT_LANES;
	g.warp = calloc(g.blocks * g.warps, sizeof *g.warp);
	log_all(&g, k);
	if (waited)
		printf("it waited for a piece\n");
	free(g.warp);
}

void fake_run(const struct launch *l)
{
	static const struct fake_work nothing;
	const struct fake_work *k;
	uint64_t own;

	if (l->fn->module->image == &fake_screen) {
		fake_screen_run(l);
		return;
	}
	memcpy(&own, l->value, sizeof own);
	if (l->fn->k->unit && !fake_logs(l->fn)) {
		hand_over(l);
		return;
	}
	k = own ? (const struct fake_work *)(uintptr_t)own : &nothing;
	await_gate(l, k);
	if (k->deaf)
		__atomic_store_n(&fake_deaf, true, __ATOMIC_RELEASE);
	if (fake_logs(l->fn))
		log_launch(l, k);
	__atomic_store_n(&fake_deaf, false, __ATOMIC_RELEASE);
	while (!strncmp(l->fn->k->name, "hang", 4) && !is_cut_off(l))
		nap();
	if (!strncmp(l->fn->k->name, "die", 3))
		fake_fault(CUDA_ERROR_LAUNCH_FAILED);
}
