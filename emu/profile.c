/* SPDX-License-Identifier: Apache-2.0
 *
 * profile.c: what warps execute, by function, in the file that EMU_PROFILE names: so
 * that one sees without a GPU where instrumented code spends its instructions, whether the lanes of a warp are together there, how often it is called and
 * how many different instructions that takes of an instruction cache.  It is written anew
 * whenever a kernel ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emu.h"

/* Modules come and go, and each has functions of its own of the same name. */
static struct emu_profile *profiles;
static unsigned nprofiles;

void emu_profile_begin(void)
{
	emu_m.profile = getenv("EMU_PROFILE");
	if (emu_m.profile && !*emu_m.profile)
		emu_m.profile = NULL;
}

struct emu_profile *emu_profile_of(struct emu_func *f)
{
	struct emu_profile *p;

	for (p = profiles; p && strcmp(p->name, f->name); p = p->next)
		;
	if (!p) {
		char *name = strdup(f->name);

		p = calloc(1, sizeof *p);
		if (p)
			p->seen = calloc(f->nops ? f->nops : 1, 1);
		if (!p || !name || !p->seen) {
			fputs("emu: no memory for a profile\n", stderr);
			abort();
		}
		p->name = name;
		p->nops = f->nops;
		p->next = profiles;
		profiles = p;
		nprofiles++;
	}
	f->profile = p;
	return p;
}

static int by_count(const void *a, const void *b)
{
	const struct emu_profile *x = *(struct emu_profile *const *)a, *y = *(struct emu_profile *const *)b;

	return x->ops != y->ops ? (x->ops < y->ops ? 1 : -1) : strcmp(x->name, y->name);
}

void emu_profile_write(void)
{
	struct emu_profile **list, *p;
	uint64_t all = 0, lanes = 0, calls = 0;
	unsigned n = 0, used = 0;
	FILE *f;

	if (!nprofiles)
		return;
	list = malloc(nprofiles * sizeof *list);
	f = list ? fopen(emu_m.profile, "w") : NULL;
	if (!f) {
		perror(emu_m.profile);
		free(list);
		emu_m.profile = NULL;
		return;
	}
	for (p = profiles; p; p = p->next) {
		list[n++] = p;
		all += p->ops;
		lanes += p->lanes;
		calls += p->calls;
		used += p->used;
	}
	qsort(list, n, sizeof *list, by_count);
	fprintf(f, "%7s %12s %6s %9s %9s  function\n", "percent", "instructions", "lanes", "calls", "different");
	fprintf(f, "%7.1f %12llu %6.1f %9llu %9u  all\n", 100.0, (unsigned long long)all, (double)lanes / (double)all,
		(unsigned long long)calls, used);
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "%7.1f %12llu %6.1f %9llu %9u  %s\n", 100.0 * (double)list[i]->ops / (double)all,
			(unsigned long long)list[i]->ops, (double)list[i]->lanes / (double)list[i]->ops,
			(unsigned long long)list[i]->calls, list[i]->used, list[i]->name);
	if (fclose(f))
		perror(emu_m.profile);
	free(list);
}
