/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_say.c: what the oracle found, by lines of the PTX file, and how it compares
 * with what another detector found.
 *
 * The rewriter puts calls between instructions, and stores to local memory of its own, and moves
 * none: the n-th access of a function is the same instruction before and after it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/oracle_impl.h"

/* ---- lines ----------------------------------------------------------------------- */

struct lines {
	char *func;
	unsigned *line, n, cap;         /* of accesses and the like, see orc_counts */
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

bool orc_counts(const struct ptx_inst *in)
{
	const struct ptx_inst_row *row = &ptx_insts[in->id];

	if (stores_for_gsan(in))
		return false;
	switch (row->order) {
	case ORDER_MBARRIER:
	case ORDER_CLUSTER_BARRIER:
	case ORDER_ASYNC_GROUP:
	case ORDER_TENSOR:
		return true;
	default:
		return row->access != ACCESS_NONE;
	}
}

static void add_func(const struct ptx_func *f)
{
	struct lines *x;

	original = orc_grow(original, noriginal, &caporiginal, sizeof *original);
	x = &original[noriginal++];
	*x = (struct lines){.func = strdup(f->name)};
	if (!x->func)
		abort();
	for (const struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind != STMT_INST)
			continue;
		x->each = orc_grow(x->each, x->neach, &x->capeach, sizeof *x->each);
		x->each[x->neach++] = s->line;
		if (!orc_counts(&s->inst))
			continue;
		x->line = orc_grow(x->line, x->n, &x->cap, sizeof *x->line);
		x->line[x->n++] = s->line;
	}
}

unsigned orc_line(const char *func, unsigned n)
{
	for (unsigned i = 0; i < noriginal; i++)
		if (!strcmp(original[i].func, func))
			return n < original[i].n ? original[i].line[n] : 0;
	return 0;
}

/* Put between the program's instructions by the rewriter? */
static bool is_inserted(const struct ptx_stmt *s)
{
	struct ptx_buf b = {0};
	bool found;

	ptx_print_stmt(&b, s);
	found = memmem(b.p, b.len, "__gsan_", 7);
	free(b.p);
	return found;
}

const char *orc_place(const struct ptx_func *f, const struct ptx_stmt *at, unsigned *line)
{
	const struct lines *x = NULL;
	unsigned n = 0, nth = 0;

	for (unsigned i = 0; i < noriginal && *original_name; i++)
		if (!strcmp(original[i].func, f->name))
			x = &original[i];
	if (!x)
		return NULL;
	for (const struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind != STMT_INST || is_inserted(s))
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

static int set_original(const char *name, const char *text, size_t len)
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

EMU_ORACLE_API int emu_source(const char *name, const char *text, size_t len)
{
	return set_original(name, text, len);
}

EMU_ORACLE_API int emu_oracle(const char *text, size_t len)
{
	if (set_original(NULL, text, len))
		return -1;
	emu_oracle_on = true;
	return 0;
}

/* ---- findings ---------------------------------------------------------------------- */

struct found {
	struct emu_oracle_finding f;
	unsigned may;                   /* kinds that it may be called */
	bool moot;
	char kernel[64];
};

/* A race that must be named: by one of these pairs of lines. */
struct asked {
	enum orc_kind kind;
	unsigned may, n;
	unsigned (*line)[2];            /* the race's own lines come first */
};

static struct found **founds;
static struct asked *askeds;
static unsigned nfounds, capfounds, naskeds, capaskeds;

static const char *const names[] = {
	[ORC_DATA] = "data-race", [ORC_SCOPE] = "scope-race", [ORC_IN_FLIGHT] = "async-race",
	[ORC_PROXY] = "proxy-race", [ORC_FENCE_ORDER] = "proxy-fence-order",
	[ORC_TMAP] = "tensormap-race", [ORC_MISUSE] = "mbarrier-misuse", [ORC_LIFETIME] = "lifetime"
};

static bool same_lines(const unsigned a[2], const unsigned b[2])
{
	return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

/* A line that somebody lost is like any other. */
static bool like(const unsigned given[2], const unsigned b[2])
{
	if (given[0] && given[1])
		return same_lines(given, b);
	return given[0] == b[0] || given[0] == b[1] || given[1] == b[0] || given[1] == b[1];
}

static unsigned line_of(const struct orc_op *op)
{
	return op ? op->line : 0;
}

void orc_found(const struct orc_fact *f, unsigned long long count)
{
	unsigned line[2] = {line_of(f->op[0]), line_of(f->op[1])};
	struct found *x;

	for (unsigned i = 0; i < nfounds; i++) {
		x = founds[i];
		if (x->may == f->may && x->moot == f->moot && x->f.pair.kind == names[f->kind] &&
		    same_lines(x->f.pair.line, line)) {
			x->f.count += count;
			x->f.certain |= f->certain;
			return;
		}
	}
	founds = orc_grow(founds, nfounds, &capfounds, sizeof(struct found *));
	founds[nfounds++] = x = orc_alloc(1, sizeof *x);
	x->may = f->may;
	x->moot = f->moot;
	x->f.pair = (struct emu_oracle_pair){names[f->kind], {line[0], line[1]}};
	strncpy(x->kernel, f->op[f->op[1] != NULL]->func, sizeof x->kernel - 1);
	x->f.kernel = x->kernel;
	x->f.certain = f->certain;
	x->f.count = count;
	for (unsigned i = 0; i < 2; i++) {
		x->f.block[i] = f->block[i];
		x->f.thread[i] = f->thread[i];
	}
	x->f.addr = f->addr;
	x->f.shared = f->space != 0;
}

void orc_demand(const struct orc_fact *f, const unsigned (*line)[2], unsigned n)
{
	struct asked *x;

	for (unsigned i = 0; i < naskeds; i++)
		if (askeds[i].may == f->may && askeds[i].kind == f->kind && askeds[i].n == n &&
		    !memcmp(askeds[i].line, line, n * sizeof *line))
			return;
	askeds = orc_grow(askeds, naskeds, &capaskeds, sizeof *askeds);
	x = &askeds[naskeds++];
	*x = (struct asked){f->kind, f->may, n, orc_alloc(n, sizeof *line)};
	memcpy(x->line, line, n * sizeof *line);
}

void orc_say(const struct orc_fact *f)
{
	const unsigned line[1][2] = {{line_of(f->op[0]), line_of(f->op[1])}};

	orc_found(f, 1);
	if (f->certain)
		orc_demand(f, line, 1);
}

EMU_ORACLE_API void emu_oracle_forget(void)
{
	emu_oracle_next(NULL, NULL);
	for (unsigned i = 0; i < nfounds; i++)
		free(founds[i]);
	for (unsigned i = 0; i < naskeds; i++)
		free(askeds[i].line);
	nfounds = naskeds = 0;
}

EMU_ORACLE_API size_t emu_oracle_findings(struct emu_oracle_finding *out, size_t max)
{
	size_t n = 0;

	emu_oracle_next(NULL, NULL);
	for (unsigned i = 0; i < nfounds; i++) {
		if (founds[i]->moot)
			continue;
		if (n < max)
			out[n] = founds[i]->f;
		n++;
	}
	return n;
}

/* ---- comparison ---------------------------------------------------------------------- */

static bool named(const struct asked *x, const struct emu_oracle_pair *given, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < x->n; k++)
			if (like(given[i].line, x->line[k]))
				return true;
	return false;
}

static bool judge_given(const struct emu_oracle_pair *p, enum emu_oracle_word *word)
{
	unsigned kind = 0;

	while (kind <= ORC_LIFETIME && strcmp(p->kind, names[kind]))
		kind++;
	*word = ORACLE_NO_RACE;
	for (unsigned i = 0; i < nfounds; i++) {
		if (!like(p->line, founds[i]->f.pair.line))
			continue;
		if (founds[i]->may >> kind & 1)
			return true;
		*word = ORACLE_OTHER_KIND;
	}
	return false;
}

EMU_ORACLE_API int emu_oracle_judge(const struct emu_oracle_pair *given, size_t n,
				    emu_oracle_tell *tell, void *arg)
{
	enum emu_oracle_word word;
	int bad = 0;

	emu_oracle_next(NULL, NULL);
	for (size_t i = 0; i < n; i++) {
		if (judge_given(&given[i], &word))
			continue;
		tell(arg, word, &given[i]);
		bad++;
	}
	for (unsigned i = 0; i < naskeds; i++) {
		const struct asked *x = &askeds[i];
		const unsigned *line = x->line[0];
		struct emu_oracle_pair p = {names[x->kind], {line[0], line[1]}};
		bool told = false;

		if (named(x, given, n))
			continue;
		for (unsigned k = 0; k < i && !told; k++)
			told = same_lines(askeds[k].line[0], line) &&
			       !named(&askeds[k], given, n);
		if (told)
			continue;
		tell(arg, ORACLE_LACKS, &p);
		bad++;
	}
	return bad;
}
