/* SPDX-License-Identifier: Apache-2.0
 *
 * plant.c: programs with a planted error (wrong.c): what their maker knows of them, against what the detector, the
 * oracle and the emulated device say.
 */
#include "testsuite/gen/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARKS_MAX = 8 };

/* Lines of a program's text that have the mark, counted from its first one. */
struct marks { unsigned n, line[MARKS_MAX]; };

static struct marks marks_of(const struct gen_prog *p)
{
	struct marks m = {0};
	struct ptx_buf b = {0};
	unsigned line = 1;

	gen_print(&b, p, "k");
	ptx_put(&b, "", 1);
	for (const char *s = b.p; *s; line += *s++ == '\n')
		if (m.n < MARKS_MAX && !strncmp(s, GEN_MARK, strlen(GEN_MARK)))
			m.line[m.n++] = line;
	free(b.p);
	return m;
}

static bool is_marked(const struct marks *m, const unsigned line[2], unsigned first)
{
	for (unsigned i = 0; i < m->n; i++)
		if (line[0] == first + m->line[i] || line[1] == first + m->line[i])
			return true;
	return false;
}

static void wrong(struct run_result *r, const char *who, const char *what, const char *kind, const unsigned line[2])
{
	if (!bad_of(r))
		snprintf(r->text, sizeof r->text, "%s %s: %s at lines %u and %u", who, what, kind, line[0], line[1]);
	r->bad[BAD_PLANT]++;
}

/* All that is said of a program has to be the planted error, and that has to be said, or, where `open`, may be. */
static void hold(const struct gen_prog *p, unsigned first, const struct plant_said *x, struct run_result *r)
{
	const struct marks m = marks_of(p);
	bool found = false;

	for (size_t i = 0; i < x->n; i++) {
		if (p->planted && !strcmp(x->pair[i].kind, p->planted))
			found |= is_marked(&m, x->pair[i].line, first);
		else if (!x->torn)
			wrong(r, x->who, p->planted ? "says something else" : "says what is right is wrong", x->pair[i].kind, x->pair[i].line);
	}
	if (p->planted && !found && !x->open)
		wrong(r, x->who, "does not say what is planted", p->planted, (const unsigned[]){first + m.line[0], first + m.line[m.n > 1]});
}

/* What the emulated device says of an end that never comes. */
static void hold_end(const struct worker *w, const struct gen_prog *p, unsigned first, struct run_result *r)
{
	struct emu_oracle_pair hang = {"deadlock", {0, 0}};
	bool hangs = r->fault && w->hang(hang.line);

	if (hangs && !(p->may & GEN_IS_HANG) && !(p->may & GEN_MAY_HANG))
		wrong(r, "the device", "hangs", hang.kind, hang.line);
	else if (r->fault && !hangs && !(p->may & GEN_MAY_FAULT) && !(p->may & GEN_MAY_HANG))
		wrong(r, "the device", "ends in a fault", "none", hang.line);
	if (p->may & GEN_IS_HANG)
		hold(p, first, &(struct plant_said){.who = "the device", .pair = &hang, .n = hangs}, r);
}

void plant_check(struct worker *w, const struct gen_prog *p, unsigned first, const struct plant_said *said, struct run_result *r)
{
	size_t n = w->findings(NULL, 0);
	struct emu_oracle_finding *f = calloc(n + 1, sizeof *f);
	struct emu_oracle_pair *pairs = calloc(n + 1, sizeof *pairs);
	bool hangs = p->may & GEN_IS_HANG;
	struct plant_said judge;

	if (!f || !pairs)
		give_up("out of memory");
	w->findings(f, n);
	for (size_t i = 0; i < n; i++)
		pairs[i] = f[i].pair;
	/* It hears of what an instruction has done. */
	judge = (struct plant_said){"the oracle", pairs, n, hangs || p->may & GEN_MAY_MISS || (r->fault && p->may & GEN_MAY_FAULT), false};
	hold(p, first, &judge, r);
	judge = *said;
	judge.open |= hangs;
	hold(p, first, &judge, r);
	hold_end(w, p, first, r);
	r->told = p->planted && !r->bad[BAD_PLANT] && (hangs || said->n);
	free(f);
	free(pairs);
}
