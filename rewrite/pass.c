/* SPDX-License-Identifier: Apache-2.0
 *
 * pass.c: the passes in their order, and the functions that callers see.
 * This is the place to read first: everything else in the folder is called from
 * gsan_rewrite, once, top to bottom.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/probe.h"
#include "rewrite/rw.h"
#include "rt/pairs.h"

const struct gsan_rewrite_pass_name gsan_rewrite_passes[] = {
	{ 'S', "space", "what variables address registers point into" },
	{ 'P', "probe", "what is logged" },
	{ 'A', "attach", "the module with probes and tables" },
	{ 0, NULL, NULL }
};

/* The given line of the input, for a message. */
static const char *source_line(struct rw *r, unsigned line)
{
	const char *p = r->input, *end = p + r->input_len, *e;

	for (; line > 1 && p < end; line--) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	e = memchr(p, '\n', (size_t)(end - p));
	return ptx_intern(r->m->arena, p, (size_t)((e ? e : end) - p));
}

void rw_error(struct rw *r, unsigned line, unsigned col, const char *text)
{
	struct ptx_error e = { line, col, text, source_line(r, line) };

	r->m->nerrors++;
	if (r->report)
		r->report(r->report_arg, r->path, &e);
	else
		fprintf(stderr, "%s:%u:%u: error: %s\n%s\n%*s^\n", r->path, line, col, text,
			e.source, col ? (int)col - 1 : 0, "");
}

static void dump_module(const struct rw *r, FILE *out)
{
	struct ptx_buf b = { 0 };

	ptx_print(&b, r->m);
	fwrite(b.p, 1, b.len, out);
	free(b.p);
}

static FILE *dump_to(const struct rw *r, char letter)
{
	if (!r->options->dump || !strchr(r->options->dump, letter))
		return NULL;
	return r->options->dump_to ? r->options->dump_to : stderr;
}

static void add(struct rw *r, struct rw_list *l, struct ptx_stmt *s)
{
	if (l->n == l->cap) {
		struct ptx_stmt **more;

		l->cap = l->cap ? l->cap * 4 : 64;
		more = ptx_alloc(r->m->arena, l->cap * sizeof *more);
		if (l->n)
			memcpy(more, l->p, l->n * sizeof *more);
		l->p = more;
	}
	l->p[l->n++] = s;
}

static void list_var(struct rw *r, struct ptx_stmt *s)
{
	if (s->var->sym->space == SPACE_SHARED || s->var->sym->space == SPACE_GLOBAL)
		add(r, &r->vars, s);
}

/* The functions, and declarations of memory, in functions too: statements are spread over memory, so that every walk
 * costs. */
static void list(struct rw *r)
{
	struct ptx_stmt *s;
	unsigned n = 0;

	for (s = r->m->first; s; s = s->next)
		n += s->kind == STMT_FUNC && s->func->has_body;
	r->funcs = ptx_alloc(r->m->arena, (n + 1) * sizeof *r->funcs);
	for (s = r->m->first; s; s = s->next) {
		if (s->kind == STMT_VAR)
			list_var(r, s);
		if (s->kind != STMT_FUNC || !s->func->has_body)
			continue;
		r->funcs[r->nfuncs++].f = s->func;
		for (struct ptx_stmt *in = s->func->body; in; in = in->next)
			if (in->kind == STMT_VAR)
				list_var(r, in);
	}
}

/* False: the input is to stay as it is. */
static bool passes(struct rw *r)
{
	if (rw_resolve(r)) {
		r->stats->passed = GSAN_PASSED_MARKED;
		return false;
	}
	if (r->m->nerrors)
		return false;
	if (r->m->address_size == 32) {
		r->stats->passed = GSAN_PASSED_32BIT;
		return false;
	}
	r->stats->insts = r->m->ninsts;
	list(r);
	rw_space(r);
	if (dump_to(r, 'S'))
		rw_dump_space(r, dump_to(r, 'S'));
	rw_probe(r);
	if (dump_to(r, 'A'))
		dump_module(r, dump_to(r, 'A'));
	return true;
}

static char *copy(const char *text, size_t len)
{
	char *p = malloc(len + 1);

	if (!p) {
		fputs("gsan: out of memory\n", stderr);
		exit(3);
	}
	memcpy(p, text, len);
	p[len] = '\0';
	return p;
}

enum { PAGE = 4 << 10, HUGE_PAGE = 2 << 20 };

char *rw_room(size_t *bytes)
{
	size_t page = *bytes < HUGE_PAGE ? PAGE : HUGE_PAGE;
	size_t cap = (*bytes + *bytes / 16 + page) & ~(page - 1);
	char *p = aligned_alloc(page, cap);

	*bytes = p ? cap : 0;
	if (p && page == HUGE_PAGE)
		madvise(p, cap, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
	else if (p)
		madvise(p, cap, MADV_POPULATE_WRITE);
#endif
	return p;
}

char *gsan_rewrite(const char *path, const char *text, size_t len,
		   const struct gsan_rewrite_options *options,
		   struct gsan_rewrite_stats *stats, size_t *out_len,
		   ptx_report_fn *report, void *arg)
{
	static const struct gsan_rewrite_options defaults;
	struct gsan_rewrite_stats own;
	struct ptx_buf out = { 0 };
	struct rw r = {
		.path = path, .options = options ? options : &defaults,
		.stats = stats ? stats : &own, .report = report, .report_arg = arg,
		.input = text, .input_len = len
	};
	char *result = NULL;

	memset(r.stats, 0, sizeof *r.stats);
	r.m = ptx_parse(path, text, len, report, arg);
	if (!r.m)
		return NULL;
	if (passes(&r)) {
		/* Without room it would move as it grows. */
		out.cap = len + r.text.total;
		out.p = rw_room(&out.cap);
		ptx_print(&out, r.m);
		*out_len = out.len;
		ptx_put(&out, "", 1);
		result = out.p;
	} else if (!r.m->nerrors) {
		*out_len = len;
		result = copy(text, len);
	}
	ptx_free(r.m);
	return result;
}

/* ---- options -------------------------------------------------------------------------------- */

void gsan_rewrite_asked(struct gsan_rewrite_options *o, const char *list)
{
	struct rt_pair p;

	while (list && rt_pair_next(&list, &p) == RT_PAIR) {
		char number[16] = "";

		if (rt_pair_is(&p, "same_value"))
			o->stored = p.len == 6 && !memcmp(p.value, "ignore", 6);
		if (!rt_pair_is(&p, "perturb") || p.len >= sizeof number)
			continue;
		memcpy(number, p.value, p.len);
		gsan_rewrite_seed(number, &o->perturb);
	}
}

static bool number(const char *text, unsigned long least, unsigned long *v)
{
	char *end;

	*v = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *v >= least && *v <= 2147483647;
}

bool gsan_rewrite_seed(const char *text, unsigned *seed)
{
	unsigned long v;

	if (!number(text, 1, &v))
		return false;
	*seed = (unsigned)v;
	return true;
}

bool gsan_rewrite_inline(const char *text, unsigned *most)
{
	unsigned long v;

	if (!number(text, 0, &v))
		return false;
	*most = v ? (unsigned)v : PROBE_INLINE_NONE;
	return true;
}
