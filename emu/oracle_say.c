/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle_say.c: what the oracle found, by lines of the PTX file, and how it compares
 * with what another detector found.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/oracle_impl.h"

/* ---- findings ---------------------------------------------------------------------- */

struct found {
	struct emu_oracle_finding f;
	unsigned may;                   /* kinds that it may be called */
	bool moot;
	char kernel[64], inst[2][48];
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
	[ORC_TMAP] = "tensormap-race", [ORC_MISUSE] = "mbarrier-misuse", [ORC_LIFETIME] = "lifetime",
	[ORC_BARRIER] = "barrier-misuse", [ORC_BOUNDS] = "shared-bounds",
	[ORC_BEHIND] = "global-bounds", [ORC_FREED] = "use-after-free",
	[ORC_UNINIT] = "uninitialised-read"
};

static bool same_lines(const unsigned a[2], const unsigned b[2])
{
	return (a[0] == b[0] && a[1] == b[1]) || (a[0] == b[1] && a[1] == b[0]);
}

/* A line that somebody lost is like any other; so is the init that an mbarrier lacks, where clocks do
 * not say that it came later. */
static bool like(const unsigned given[2], const unsigned b[2])
{
	if (given[0] && given[1] && b[0] && b[1])
		return same_lines(given, b);
	return (given[0] && (given[0] == b[0] || given[0] == b[1])) || (given[1] && (given[1] == b[0] || given[1] == b[1]));
}

/* As PTX spells it, without what an instruction need not have. */
static void name_inst(char *to, size_t size, const struct orc_op *op)
{
	const struct ptx_inst_row *row = op && op->in ? &ptx_insts[op->in->id] : NULL;

	if (row && row->base)
		snprintf(to, size, "%s%s%s", row->base, *row->mods ? "." : "", row->mods);
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
		x->f.bytes[i] = f->bytes[i];
		name_inst(x->inst[i], sizeof x->inst[i], f->op[i]);
		x->f.inst[i] = x->inst[i];
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
	if (!f->moot)
		orc_demand(f, line, 1);
}

EMU_ORACLE_API void emu_oracle_forget(void)
{
	orc_next(NULL, NULL);
	for (unsigned i = 0; i < nfounds; i++)
		free(founds[i]);
	for (unsigned i = 0; i < naskeds; i++)
		free(askeds[i].line);
	nfounds = naskeds = 0;
}

EMU_ORACLE_API size_t emu_oracle_findings(struct emu_oracle_finding *out, size_t max)
{
	size_t n = 0;

	orc_next(NULL, NULL);
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

	while (kind < ORC_KINDS && strcmp(p->kind, names[kind]))
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

	orc_next(NULL, NULL);
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
