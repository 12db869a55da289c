/* SPDX-License-Identifier: Apache-2.0
 *
 * pass.c: the passes in their order, and the one function that callers see.
 * This is the place to read first: everything else in the folder is called from
 * gsan_rewrite, once, top to bottom.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "config.h"
#include "rewrite/rw.h"

const struct gsan_rewrite_pass_name gsan_rewrite_passes[] = {
	{ 'C', "cfg", "basic blocks" },
	{ 'S', "space", "what address registers point to" },
#if ENGINE_PROBES
	{ 'P', "probe", "what is logged" },
	{ 'A', "attach", "the module with probes and tables" },
#else
	{ 'K', "class", "what the runtime must hear of" },
	{ 'E', "elide", "the same, with what is left out and why" },
	{ 'I', "insert", "the module with the calls" },
	{ 'A', "attach", "the module with runtime and tables" },
#endif
	{ 0, NULL, NULL }
};

static const struct { const char *name, *text; } rules[RULE_COUNT] = {
#define RULE(id, name, text) [RULE_##id] = { name, text },
#include "rewrite/rules.def"
};

const char *gsan_rewrite_rule_name(enum rw_rule rule)
{
	return rules[rule].name;
}

const char *gsan_rewrite_rule_text(enum rw_rule rule)
{
	return rules[rule].text;
}

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

static void dump(const struct rw *r, char letter)
{
	FILE *out = r->options->dump_to ? r->options->dump_to : stderr;

	if (!r->options->dump || !strchr(r->options->dump, letter))
		return;
	switch (letter) {
	case 'C':
		rw_dump_cfg(r, out);
		break;
	case 'S':
		rw_dump_space(r, out);
		break;
	case 'K':
	case 'E':
		rw_dump_class(r, out);
		break;
	default:
		dump_module(r, out);
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
	/* Generic addresses of 32 bits leave no room for shadow memory. */
	if (r->m->address_size == 32) {
		r->stats->passed = GSAN_PASSED_32BIT;
		return false;
	}
	r->stats->insts = r->m->ninsts;
	rw_cfg(r);
	dump(r, 'C');
	rw_space(r);
	dump(r, 'S');
	if (ENGINE_PROBES) {
		rw_probe(r);
		dump(r, 'A');
		return true;
	}
	rw_class(r);
	dump(r, 'K');
	rw_elide(r);
	dump(r, 'E');
	rw_join(r);
	rw_insert(r);
	dump(r, 'I');
	rw_attach(r);
	dump(r, 'A');
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
	free(r.spare.p);
	ptx_free(r.m);
	return result;
}
