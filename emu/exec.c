/* SPDX-License-Identifier: Apache-2.0
 *
 * exec.c: the loop that runs a group of lanes, arithmetic that has no fast form,
 * the ops that the decoder makes up, and what happens when a thread does
 * something it may not.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"

static void note(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_profile *p;
	size_t i;

	if (emu_m.timing)
		emu_timing_op(x, op, m);
	if (!emu_m.profile || !m || !op->func)
		return;
	p = op->func->profile ? op->func->profile : emu_profile_of(op->func);
	p->ops++;
	p->lanes += (unsigned)__builtin_popcount(m);
	p->calls += op == op->func->ops;
	i = (size_t)(op - op->func->ops);
	if (i < p->nops && !p->seen[i]) {
		p->seen[i] = 1;
		p->used++;
	}
}

static inline __attribute__((always_inline)) void run(struct emu_x *x, const struct emu_op *op, bool profile)
{
	for (;;) {
		const struct emu_op *next;
		uint32_t m = x->mask;

		if (op->guard >= 0) {
			uint32_t p = x->pred[op->guard];

			m &= op->guard_neg ? ~p : p;
		}
		if (profile)
			note(x, op, m);
		next = m ? op->fn(x, op, m) : op + 1;
		x->budget--;
		if (!next)
			return;
		op = next;
		if (op == x->stop) {
			op = emu_arrive(x, op);
			if (!op)
				return;
		}
		if (x->budget <= 0) {
			emu_park(x, GROUP_READY, op);
			return;
		}
	}
}

void emu_exec(struct emu_x *x, const struct emu_op *op)
{
	if (emu_m.profile || emu_m.timing)
		run(x, op, true);
	else
		run(x, op, false);
}

void emu_x_banks(struct emu_x *x)
{
	struct emu_warp *w = x->w;

	x->bank[BANK_REG] = w->rows + (size_t)x->base * EMU_LANES;
	x->bank[BANK_WARP] = w->wrows;
	x->pred = w->preds + x->base;
}

uint64_t emu_thread_index(const struct emu_warp *w, unsigned lane)
{
	return (uint64_t)w->index * EMU_LANES + lane;
}

/* ---- faults --------------------------------------------------------------------- */

static void print_inst(const struct ptx_stmt *s)
{
	struct ptx_buf b = {0};
	const char *p;
	size_t n;

	if (!s || s->kind != STMT_INST)
		return;
	ptx_print_stmt(&b, s);
	p = b.p;
	n = b.len;
	while (n && (*p == ' ' || *p == '\t' || *p == '\n'))
		p++, n--;
	while (n && (p[n - 1] == '\n' || p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	fprintf(stderr, "  %.*s\n", (int)n, p);
	free(b.p);
}

/* file:line of an op, if known of what it was instrumented from, and the CUDA source line when
 * there is one. */
static void print_place(const struct emu_op *op)
{
	const struct ptx_module *m = op->func->mod->ptx;
	const struct ptx_stmt *s = op->stmt;
	unsigned line;
	const char *file = s ? emu_source_place(op->func->ptx, s, &line) : NULL;

	if (file)
		fprintf(stderr, "%s:%u", file, line);
	else
		fprintf(stderr, "%s:%u", op->func->mod->name, s ? s->line : op->func->ptx->end_line);
	if (s && s->loc && (file = ptx_file_name(m, s->loc->file)))
		fprintf(stderr, " (%s:%u)", file, s->loc->line);
}

void emu_print_thread(const struct emu_warp *w, unsigned lane, const struct emu_op *op)
{
	const struct emu_block *b = w->block;
	const uint32_t *dim = b->grid->block;
	uint64_t t = emu_thread_index(w, lane);

	fprintf(stderr, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u), ",
		b->grid->func->name, b->ctaid[0], b->ctaid[1], b->ctaid[2],
		(unsigned)(t % dim[0]), (unsigned)(t / dim[0] % dim[1]),
		(unsigned)(t / dim[0] / dim[1]));
	print_place(op);
}

const struct emu_op *emu_fault(struct emu_x *x, const struct emu_op *op, unsigned lane, CUresult code,
			       const char *fmt, ...)
{
	va_list ap;

	fputs("emu: ", stderr);
	emu_print_thread(x->w, lane, op);
	fputs(": ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	print_inst(op->stmt);
	emu_m.fault = code;
	x->why = WHY_FAULT;
	return NULL;
}

/* ---- arithmetic without a fast form ------------------------------------------------ */

const struct emu_op *emu_op_alu(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	enum { MAX = 40 };
	const struct emu_alu *alu = &op->u.alu;
	const struct emu_opnd *o = op->o;
	const uint64_t *src[MAX];
	uint32_t pred[MAX];
	unsigned nd = op->nd, ns = op->ns;
	bool cc = op->flags & EMU_F_HAS_CC;

	for (unsigned i = 0; i < ns; i++) {
		if (o[nd + i].kind == OPND_PRED) {
			src[i] = NULL;
			pred[i] = emu_pred(x, o[nd + i]);
		} else {
			src[i] = emu_row(x, o[nd + i]);
		}
	}
	EMU_EACH(l, m) {
		uint64_t s[MAX + 1], d[MAX + 1];

		for (unsigned i = 0; i < ns; i++)
			s[i] = src[i] ? src[i][l] : pred[i] >> l & 1;
		if (cc)
			s[ns] = x->w->cc >> l & 1;
		alu->fn(alu, d, s);
		for (unsigned i = 0; i < nd; i++)
			emu_set(x, o[i], l, d[i]);
		if (cc)
			x->w->cc = (x->w->cc & ~(1u << l)) | (uint32_t)(d[nd] & 1) << l;
	}
	return op + 1;
}

/* ---- what the decoder makes up ------------------------------------------------------- */

const struct emu_op *emu_op_refuse(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	return emu_fault(x, op, (unsigned)__builtin_ctz(m), CUDA_ERROR_NOT_SUPPORTED,
			 "not emulated: %s", op->u.why);
}

const struct emu_op *emu_op_nop(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	(void)x;
	(void)m;
	return op + 1;
}

/* The clock counts ops of all warps: it advances with the work, and repeats when a
 * schedule is repeated. */
const struct emu_op *emu_op_clock(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t now = ++emu_m.steps, ns = UINT64_C(1000000000000) + now;
	const uint64_t values[] = {
		(uint32_t)now, now >> 32, now, (uint32_t)ns, ns >> 32, ns
	};
	uint64_t *d = emu_row(x, op->o[0]);

	EMU_EACH(l, m)
		d[l] = values[op->kind];
	return op + 1;
}

const struct emu_op *emu_op_shared_addr(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_block *b = x->b;
	uint64_t v = ((uint64_t)b->rank << EMU_RANK_SHIFT) + b->grid->func->shared_at[op->imm] +
		     op->u.value;
	uint64_t *d = emu_row(x, op->o[0]);

	EMU_EACH(l, m)
		d[l] = v;
	return op + 1;
}

const struct emu_op *emu_op_local_addr(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const uint64_t *local = x->bank[BANK_REG] + FRAME_LOCAL * EMU_LANES;
	uint64_t *d = emu_row(x, op->o[0]);

	EMU_EACH(l, m)
		d[l] = local[l] + op->imm + op->u.value;
	return op + 1;
}

const struct emu_op *emu_op_kparam_addr(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t *d = emu_row(x, op->o[0]);

	EMU_EACH(l, m)
		d[l] = x->b->grid->params + op->imm + op->u.value;
	return op + 1;
}

const struct emu_op *emu_op_param_addr(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t *d = emu_row(x, op->o[0]);

	EMU_EACH(l, m)
		d[l] = EMU_PARAM_WINDOW + ((uint64_t)x->base + op->imm) * 8 + op->u.value;
	return op + 1;
}
