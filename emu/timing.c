/* SPDX-License-Identifier: Apache-2.0
 *
 * timing.c: a model of the time that warps take on a GPU, in the file that EMU_TIMING
 * names.  Much of what kernels do is to wait for memory, which no count of
 * instructions shows: loads that wait for each other take as many times longer as there
 * are, loads on their way together do not.
 *
 * Each register of a warp is ready at some cycle; an op waits for those that it reads.
 * The warp whose time is earliest goes next, so that spinning takes as long as what is
 * waited for.  What is in the instruction cache is known (icache.c); other caches are averages, and
 * neither bandwidth nor what other warps of a multiprocessor issue is looked at.  At each launch's end the file gets, for each warp
 * of its first block, the functions that the kernel calls, and the instructions for whose
 * results it waited longest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/access.h"
#include "emu/emu.h"

/* Cycles.  An H200 under the runtime's own load shows 500 to 1,000 for what goes past L1. */
enum {
	ISSUE = 5,              /* of a warp's next op: its scheduler has others */
	ALU = 6,
	COLLECTIVE = 25,        /* shfl, vote */
	MATCH = 80,
	SHARED = 30,
	SHARED_ATOM = 60,
	GLOBAL = 250,           /* a weak load, which L1 may have or not */
	GLOBAL_FAR = 700,       /* a strong load, and .cg */
	GLOBAL_ATOM = 900,
	FENCE = 500,            /* fence.acq_rel, or that of an atom.release */
	FENCE_SC = 900,
	BARRIER = 20,
	SLEEP = 1000,           /* the runtime mostly asks for half a microsecond */
	MBARRIER = 60,
	CALL = 20
};

enum { MOST_CALLED = 64, SHOWN_CALLED = 16, SHOWN_WAITS = 40 };

struct wait { uint64_t cycles, times; };

/* The waits of a warp for the ops of a function. */
struct waits {
	struct waits *next;
	const struct emu_func *func;
	struct wait op[];
};

struct ready { uint64_t at; const struct emu_op *by; };
struct readies { struct ready *v; unsigned n; };

/* A function that the kernel calls. */
struct called { const struct emu_func *func; uint64_t cycles, times, ops, fetched; };

struct emu_timing {
	struct emu_timing *next;
	const struct emu_grid *grid;
	unsigned warp;
	bool first;             /* of the first block */
	uint64_t start, now, ops, fetched;
	uint32_t line;          /* of the code of the last op */
	struct readies rows, preds;
	struct ready scratch[WROW_COUNT];
	struct called called[MOST_CALLED], *in; /* in: NULL in the kernel itself */
	unsigned ncalled, deep; /* deep: frames of what EMU_TIMING_OF names begin there; 0: it is not in that */
	struct waits *waits, *last;
};

static struct emu_timing *timings;      /* of the kernels that run */
static uint64_t now;                    /* of the warp that ran last */
static const char *inner;               /* EMU_TIMING_OF */

static void *get(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p) {
		fputs("emu: no memory for timing\n", stderr);
		abort();
	}
	return p;
}

void emu_timing_init(void)
{
	FILE *f;

	emu_m.timing = getenv("EMU_TIMING");
	inner = getenv("EMU_TIMING_OF");
	if (emu_m.timing && !*emu_m.timing)
		emu_m.timing = NULL;
	if (!emu_m.timing)
		return;
	f = fopen(emu_m.timing, "w");
	if (!f || fclose(f)) {
		perror(emu_m.timing);
		emu_m.timing = NULL;
	}
}

void emu_timing_begin(struct emu_warp *w)
{
	const struct emu_block *b = w->block;
	struct emu_timing *t;

	if (!emu_m.timing)
		return;
	t = get(sizeof *t);
	t->next = timings;
	timings = t;
	t->grid = b->grid;
	t->first = !(b->ctaid[0] | b->ctaid[1] | b->ctaid[2]);
	t->warp = w->index;
	t->start = t->now = now;
	w->timing = t;
}

uint64_t emu_timing_of(const struct emu_warp *w)
{
	return w->timing->now;
}

void emu_timing_ready(struct emu_warp *w)
{
	if (w->timing && w->timing->now < now)
		w->timing->now = now;
}

/* ---- registers ------------------------------------------------------------------ */

static struct ready *ready_at(struct readies *r, unsigned i)
{
	if (i >= r->n) {
		struct ready *v = get((i + 256) * 2 * sizeof *v);

		if (r->n)
			memcpy(v, r->v, r->n * sizeof *v);
		free(r->v);
		r->v = v;
		r->n = (i + 256) * 2;
	}
	return &r->v[i];
}

/* When an operand is ready; NULL: always. */
static struct ready *ready_of(const struct emu_x *x, struct emu_opnd o)
{
	struct emu_timing *t = x->w->timing;

	if (o.kind == OPND_PRED)
		return ready_at(&t->preds, x->base + o.at);
	if (o.kind != OPND_ROW || o.bank == BANK_CONST)
		return NULL;
	if (o.bank == BANK_WARP)
		return &t->scratch[o.at / EMU_LANES];
	return ready_at(&t->rows, x->base + o.at / EMU_LANES);
}

static struct wait *wait_for(struct emu_timing *t, const struct emu_op *op)
{
	struct waits *s = t->last;

	if (!s || s->func != op->func)
		for (s = t->waits; s && s->func != op->func; s = s->next)
			;
	if (!s) {
		s = get(sizeof *s + op->func->nops * sizeof *s->op);
		s->func = op->func;
		s->next = t->waits;
		t->waits = s;
	}
	t->last = s;
	return &s->op[op - op->func->ops];
}

static void waited(struct emu_timing *t, const struct emu_op *op, uint64_t cycles)
{
	struct wait *w;

	t->now += cycles;
	if (!op)
		return;
	w = wait_for(t, op);
	w->cycles += cycles;
	w->times++;
}

static void use(const struct emu_x *x, struct emu_opnd o)
{
	const struct ready *r = ready_of(x, o);

	if (r && r->at > x->w->timing->now)
		waited(x->w->timing, r->by, r->at - x->w->timing->now);
}

static void use_all(const struct emu_x *x, const struct emu_opnd *o, unsigned n)
{
	for (unsigned i = 0; o && i < n; i++)
		use(x, o[i]);
}

static void define_all(const struct emu_x *x, const struct emu_op *op, const struct emu_opnd *o, unsigned n,
		       uint64_t latency)
{
	for (unsigned i = 0; o && i < n; i++) {
		struct ready *r = ready_of(x, o[i]);

		if (r)
			*r = (struct ready){ x->w->timing->now + latency, op };
	}
}

/* ---- ops -------------------------------------------------------------------------- */

enum place { PLACE_GLOBAL, PLACE_SHARED, PLACE_PRIVATE };

static enum place place_of(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t a;

	switch ((enum emu_base)op->u.mem.base) {
	case BASE_SHARED:
	case BASE_OWN_SHARED:
		return PLACE_SHARED;
	case BASE_GLOBAL:
		return PLACE_GLOBAL;
	case BASE_GENERIC:
		break;
	default:
		return PLACE_PRIVATE;
	}
	a = emu_addr_of(x, &op->u.mem, (unsigned)__builtin_ctz(m));
	if (a - EMU_SHARED_WINDOW < EMU_WINDOW_BYTES)
		return PLACE_SHARED;
	return a - EMU_LOCAL_WINDOW < EMU_WINDOW_BYTES ? PLACE_PRIVATE : PLACE_GLOBAL;
}

static void access(struct emu_x *x, const struct emu_op *op, const struct ptx_inst *in, uint32_t m)
{
	enum place p = place_of(x, op, m);
	bool far = (op->flags & EMU_F_STRONG) || ptx_has(in, MOD_CG);

	if (op->u.mem.base != BASE_FPARAM)
		use(x, op->u.mem.reg);
	switch (in->id) {
	case INST_LD:
	case INST_LDU:
		define_all(x, op, op->o, op->n, p == PLACE_SHARED ? SHARED : p == PLACE_PRIVATE ? ALU : far ? GLOBAL_FAR : GLOBAL);
		break;
	case INST_ST:
		use_all(x, op->o, op->n);
		break;
	default:
		use_all(x, op->o + op->nd, op->n * (ptx_has(in, MOD_CAS) ? 2u : 1u));
		if (ptx_has(in, MOD_RELEASE) || ptx_has(in, MOD_ACQ_REL))
			waited(x->w->timing, op, FENCE);
		define_all(x, op, op->o, op->nd, p == PLACE_SHARED ? SHARED_ATOM : GLOBAL_ATOM);
		break;
	}
}

static void other(struct emu_x *x, const struct emu_op *op, const struct ptx_inst *in)
{
	struct emu_timing *t = x->w->timing;
	const char *base = in ? ptx_insts[in->id].base : "";
	uint64_t latency = ALU;

	use_all(x, op->o ? op->o + op->nd : NULL, op->ns);
	if (!strcmp(base, "membar") || !strcmp(base, "fence"))
		waited(t, op, ptx_has(in, MOD_CTA) ? ALU : ptx_has(in, MOD_ACQ_REL) ? FENCE : FENCE_SC);
	else if (!strcmp(base, "nanosleep"))
		waited(t, op, SLEEP);
	else if (!strcmp(base, "bar") || !strcmp(base, "barrier"))
		t->now += BARRIER;
	else if (!strcmp(base, "mbarrier"))
		t->now += MBARRIER;
	else if (!strcmp(base, "call") || !strcmp(base, "ret"))
		t->now += CALL;
	else if (!strcmp(base, "match"))
		latency = MATCH;
	else if (!strcmp(base, "shfl") || !strcmp(base, "vote") || !strcmp(base, "redux"))
		latency = COLLECTIVE;
	define_all(x, op, op->o, op->nd, latency);
}

/* The function that the kernel called and that the op belongs to, with what that calls; or the one that
 * EMU_TIMING_OF names, as long as it calls others. */
static void enter(struct emu_timing *t, const struct emu_func *f, unsigned depth)
{
	unsigned i;

	if (f->entry) {
		t->in = NULL;
		t->deep = 0;
		return;
	}
	if (t->deep && depth < t->deep) {
		t->in = NULL;
		t->deep = 0;
	}
	if (!t->deep && inner && !strncmp(f->name, inner, strlen(inner))) {
		t->in = NULL;
		t->deep = depth;
	}
	if (t->in)
		return;
	for (i = 0; i < t->ncalled && t->called[i].func != f; i++)
		;
	if (i == MOST_CALLED)
		return;
	if (i == t->ncalled)
		t->called[t->ncalled++].func = f;
	t->in = &t->called[i];
	t->in->times++;
}

void emu_timing_op(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_timing *t = x->w->timing;
	const struct ptx_inst *in = op->stmt && op->stmt->kind == STMT_INST ? &op->stmt->inst : NULL;
	uint64_t before = t->now;
	uint32_t line = emu_icache_line(op);
	uint64_t fetch = line == t->line ? 0 : emu_icache_fetch(x->b->sm, op, line, t->now);

	t->line = line;
	t->now += fetch;
	t->fetched += fetch != 0;
	if (op->guard >= 0)
		use(x, (struct emu_opnd){ .kind = OPND_PRED, .bits = 1, .at = (uint32_t)op->guard });
	if (m && in && (op->flags & EMU_F_ACCESS) &&
	    (in->id == INST_LD || in->id == INST_LDU || in->id == INST_ST || in->id == INST_ATOM || in->id == INST_RED))
		access(x, op, in, m);
	else if (m)
		other(x, op, in);
	t->now += ISSUE;
	t->ops++;
	now = t->now;
	enter(t, op->func, x->base + 1);
	if (t->in) {
		t->in->cycles += t->now - before;
		t->in->ops++;
		t->in->fetched += fetch != 0;
	}
}

/* ---- the file ---------------------------------------------------------------------- */

struct site { const struct emu_op *op; struct wait w; };

static int by_cycles(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return (x->w.cycles < y->w.cycles) - (x->w.cycles > y->w.cycles);
}

static int by_called(const void *a, const void *b)
{
	const struct called *x = a, *y = b;

	return (x->cycles < y->cycles) - (x->cycles > y->cycles);
}

static void write_waits(FILE *f, const struct emu_timing *t)
{
	struct site *list;
	size_t n = 0;

	for (const struct waits *s = t->waits; s; s = s->next)
		for (unsigned i = 0; i < s->func->nops; i++)
			n += s->op[i].times != 0;
	list = get((n + 1) * sizeof *list);
	n = 0;
	for (const struct waits *s = t->waits; s; s = s->next)
		for (unsigned i = 0; i < s->func->nops; i++)
			if (s->op[i].times)
				list[n++] = (struct site){ &s->func->ops[i], s->op[i] };
	qsort(list, n, sizeof *list, by_cycles);
	fprintf(f, "%12s %9s  waited for\n", "cycles", "times");
	for (size_t i = 0; i < n && i < SHOWN_WAITS; i++) {
		struct ptx_buf b = { 0 };

		ptx_print_stmt(&b, list[i].op->stmt);
		fprintf(f, "%12llu %9llu  %s:%u %.*s", (unsigned long long)list[i].w.cycles,
			(unsigned long long)list[i].w.times, list[i].op->func->name, list[i].op->stmt->line,
			(int)b.len, b.p);
		free(b.p);
	}
	free(list);
}

static void forget(struct emu_timing *t)
{
	while (t->waits) {
		struct waits *s = t->waits;

		t->waits = s->next;
		free(s);
	}
	free(t->rows.v);
	free(t->preds.v);
	free(t);
}

static void write_warp(FILE *f, struct emu_timing *t)
{
	fprintf(f, "\nwarp %u: %llu cycles, %llu instructions, %llu lines of code fetched\n%12s %9s %12s %9s  function\n",
		t->warp, (unsigned long long)(t->now - t->start), (unsigned long long)t->ops, (unsigned long long)t->fetched,
		"cycles", "calls", "instructions", "lines");
	qsort(t->called, t->ncalled, sizeof *t->called, by_called);
	for (unsigned i = 0; i < t->ncalled && i < SHOWN_CALLED; i++)
		fprintf(f, "%12llu %9llu %12llu %9llu  %s\n", (unsigned long long)t->called[i].cycles,
			(unsigned long long)t->called[i].times, (unsigned long long)t->called[i].ops,
			(unsigned long long)t->called[i].fetched, t->called[i].func->name);
	write_waits(f, t);
}

void emu_timing_end(const struct emu_grid *g)
{
	FILE *f = fopen(emu_m.timing, "a");
	uint64_t most = 0;

	for (const struct emu_timing *t = timings; t; t = t->next)
		if (t->grid == g && t->now - t->start > most)
			most = t->now - t->start;
	if (f)
		fprintf(f, "kernel %s: %llu cycles\n", g->func->name, (unsigned long long)most);
	if (f)
		emu_icache_write(f);
	for (struct emu_timing **at = &timings; *at; ) {
		struct emu_timing *t = *at;

		if (t->grid != g) {
			at = &t->next;
			continue;
		}
		if (f && t->first)
			write_warp(f, t);
		*at = t->next;
		forget(t);
	}
	if (!f || fputs("\n", f) == EOF || fclose(f))
		perror(emu_m.timing);
}
