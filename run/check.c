/* SPDX-License-Identifier: Apache-2.0
 *
 * check.c: the verdict.  Holds what was found against a reproducer's expect
 * lines.  Findings are a set: the same kind at the same two lines counts once,
 * however many threads, launches, seeds or children met it.
 */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#include "rt/kinds.h"

#define SHOW_FINDINGS 12        /* of those that were not expected */

static const char *const kind_names[] = {
#define KIND(id, name) name,
#include "rt/kinds.def"
};

const char *run_kind_name(int kind)
{
	return kind == KIND_ANY_RACE ? "race" : kind_names[kind];
}

int run_kind_of(const char *name)
{
	int k;

	for (k = 0; k < GSAN_KIND_COUNT && strcmp(kind_names[k], name); k++)
		;
	return k;
}

static bool is_race(int kind)
{
	return kind >= GSAN_DATA_RACE && kind <= GSAN_HOST_RACE;
}

static bool same_lines(const unsigned a[2], const unsigned b[2])
{
	return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

void run_add(struct run_findings *f, const struct run_finding *x)
{
	unsigned i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].kind == x->kind && same_lines(f->v[i].line, x->line)) {
			f->v[i].count += x->count;
			return;
		}
	if (f->n == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 16;
		f->v = realloc(f->v, f->cap * sizeof *f->v);
		if (!f->v) {
			fputs("gsan-run: out of memory\n", stderr);
			exit(RUN_OTHER);
		}
	}
	f->v[f->n++] = *x;
}

static bool of_kind(const struct run_expect *e, const struct run_finding *x)
{
	return e->kind == KIND_ANY_RACE ? is_race(x->kind) : e->kind == x->kind;
}

static bool at_lines(const struct run_expect *e, const struct run_finding *x)
{
	switch (e->nlines) {
	case 0:
		return true;
	case 1:
		return x->line[0] == e->lines[0] || x->line[1] == e->lines[0];
	default:
		return same_lines(e->lines, x->line);
	}
}

static void say_expected(const struct run_script *s, const struct run_expect *e)
{
	unsigned i;

	fprintf(stderr, "%s:%u: expected", s->path, e->pos.line);
	if (e->options)
		fprintf(stderr, " with %s:", e->options);
	if (e->clean)
		fputs(" clean", stderr);
	else
		fprintf(stderr, "%s %s", e->only ? " only" : "", run_kind_name(e->kind));
	for (i = 0; i < e->nlines; i++)
		fprintf(stderr, "%s%u", i ? " and " : e->nlines > 1 ? " at lines " : " at line ",
			e->lines[i]);
}

static void say_found(const struct run_findings *f, const char *whose)
{
	unsigned i;

	fprintf(stderr, ", got%s", whose);
	if (!f->n)
		fputs(" no finding", stderr);
	for (i = 0; i < f->n && i < SHOW_FINDINGS; i++)
		fprintf(stderr, "%s %s at lines %u and %u", i ? "," : "",
			run_kind_name(f->v[i].kind), f->v[i].line[0], f->v[i].line[1]);
	if (f->n > SHOW_FINDINGS)
		fprintf(stderr, " and %u more", f->n - SHOW_FINDINGS);
	fputc('\n', stderr);
}

bool run_holds(const struct run_script *s, const struct run_expect *e,
	       const struct run_findings *f, const char *whose)
{
	bool met = e->clean, other = false;
	unsigned i;

	for (i = 0; i < f->n; i++) {
		if (e->clean || (e->only && !of_kind(e, &f->v[i])))
			other = true;
		else if (of_kind(e, &f->v[i]) && at_lines(e, &f->v[i]))
			met = true;
	}
	if (met && !other)
		return true;
	say_expected(s, e);
	say_found(f, whose);
	return false;
}
