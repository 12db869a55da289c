/* SPDX-License-Identifier: Apache-2.0
 *
 * source.c: lines of the text that a program was instrumented from, which faults and the
 * oracle name instead of those of what is loaded.
 *
 * The rewriter moves none of a function's instructions: the n-th access that is not its own is the same one
 * before and after it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"
#include "emu/oracle.h"
#include "probe/probe.h"

struct lines {
	char *func;
	unsigned *line, n, cap;         /* of accesses and the like, see emu_source_counts() */
	unsigned *each, neach, capeach; /* of all instructions */
};

static struct lines *original;
static unsigned noriginal, caporiginal;
static char original_name[256];         /* "": nobody said */

static void ignore(void *arg, const char *path, const struct ptx_error *e)
{
	(void)arg;
	(void)path;
	(void)e;
}

static void forget_original(void)
{
	for (unsigned i = 0; i < noriginal; i++) {
		free(original[i].func);
		free(original[i].line);
		free(original[i].each);
	}
	noriginal = 0;
}

/* Does the rewriter put by there what its next call tells of? */
static bool stores_for_gsan(const struct ptx_inst *in)
{
	const struct ptx_operand *at = in->id == INST_ST && in->nops ? &in->ops[0] : NULL;

	return at && at->kind == OP_ADDR && at->list[0].kind == OP_SYM && !strncmp(at->list[0].sym->name, "__gsan_", 7);
}

bool emu_source_counts(const struct ptx_inst *in)
{
	const struct ptx_inst_row *row = &ptx_insts[in->id];

	if (stores_for_gsan(in))
		return false;
	switch (row->order) {
	case ORDER_CTA_BARRIER:
	case ORDER_MBARRIER:
	case ORDER_CLUSTER_BARRIER:
	case ORDER_ASYNC_GROUP:
	case ORDER_TENSOR:
	case ORDER_WARP_BARRIER:
		return true;
	default:
		return row->access != ACCESS_NONE;
	}
}

static void *grown(void *v, unsigned n, unsigned *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap = *cap ? *cap * 2 : 16;
	v = realloc(v, *cap * size);
	if (!v)
		abort();
	return v;
}

static void add_func(const struct ptx_func *f)
{
	struct lines *x;

	original = grown(original, noriginal, &caporiginal, sizeof *original);
	x = &original[noriginal++];
	*x = (struct lines){.func = strdup(f->name)};
	if (!x->func)
		abort();
	for (const struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind != STMT_INST)
			continue;
		x->each = grown(x->each, x->neach, &x->capeach, sizeof *x->each);
		x->each[x->neach++] = s->line;
		if (!emu_source_counts(&s->inst))
			continue;
		x->line = grown(x->line, x->n, &x->cap, sizeof *x->line);
		x->line[x->n++] = s->line;
	}
}

void emu_source_marks(struct ptx_func *f)
{
	unsigned depth = !strncmp(f->name, PROBE_OUTSIDE, strlen(PROBE_OUTSIDE));      /* no label ends that */

	for (struct ptx_stmt *s = f->body; s; s = s->next) {
		bool label = s->kind == STMT_LABEL;

		depth += label && !strncmp(s->sym->name, PROBE_IN, strlen(PROBE_IN));
		s->inserted = depth > 0;
		depth -= depth && label && !strncmp(s->sym->name, PROBE_OUT, strlen(PROBE_OUT));
	}
}

bool emu_source_sets_ours(const struct ptx_stmt *s)
{
	const struct ptx_operand *to = s && s->kind == STMT_INST && s->inst.nops ? &s->inst.ops[0] : NULL;

	return to && to->kind == OP_SYM && to->sym && !strncmp(to->sym->name, "%__gsan_", 8);
}

const unsigned *emu_source_lines(const char *func, unsigned *n)
{
	for (unsigned i = 0; i < noriginal; i++)
		if (!strcmp(original[i].func, func)) {
			*n = original[i].n;
			return original[i].line;
		}
	*n = 0;
	return NULL;
}

/* Put between the program's instructions by the rewriter? */
static bool is_inserted(const struct ptx_stmt *s, bool marked)
{
	struct ptx_buf b = {0};
	bool found;

	if (marked)
		return s->inserted;
	ptx_print_stmt(&b, s);
	found = memmem(b.p, b.len, "__gsan_", 7);
	free(b.p);
	return found;
}

const char *emu_source_place(const struct ptx_func *f, const struct ptx_stmt *at, unsigned *line)
{
	const struct lines *x = NULL;
	unsigned n = 0, nth = 0;
	bool marked = false;

	for (unsigned i = 0; i < noriginal && *original_name; i++)
		if (!strcmp(original[i].func, f->name))
			x = &original[i];
	if (!x)
		return NULL;
	for (const struct ptx_stmt *s = f->body; s && !marked; s = s->next)
		marked = s->inserted;
	for (const struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind != STMT_INST || is_inserted(s, marked))
			continue;
		n++;
		if (s == at)
			nth = n;
	}
	if (!nth || n != x->neach)
		return NULL;
	*line = x->each[nth - 1];
	return original_name;
}

int emu_source_set(const char *name, const char *text, size_t len)
{
	struct ptx_module *m = NULL;

	if (text) {
		m = ptx_parse("", text, len, ignore, NULL);
		if (!m)
			return -1;
	}
	forget_original();
	if (name)
		snprintf(original_name, sizeof original_name, "%s", name);
	for (const struct ptx_stmt *s = m ? m->first : NULL; s; s = s->next)
		if (s->kind == STMT_FUNC && s->func->has_body)
			add_func(s->func);
	if (m)
		ptx_free(m);
	return 0;
}

EMU_ORACLE_API void emu_judged(void)
{
	emu_mem_judged = true;
}

EMU_ORACLE_API int emu_source(const char *name, const char *text, size_t len)
{
	return emu_source_set(name, text, len);
}
