/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: put FILE.ptx OUT.ptx [SITES [UNIT]]: puts probes in, and says how much is left out.  SITES gets the tables: how
 * many sites, runs and kernels there are, 32 bits each; sites; runs; of each kernel 32 bits, units of a piece, and a line,
 * its name.  UNIT: probe_what.unit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "probe/probe.h"

static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *p = NULL;
	long n;

	if (f && !fseek(f, 0, SEEK_END) && (n = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET)) {
		p = malloc((size_t)n + 1);
		*len = p ? fread(p, 1, (size_t)n, f) : 0;
		if (p)
			p[*len] = 0;
	}
	if (f)
		fclose(f);
	if (!p)
		perror(path);
	return p;
}

static bool put_tables(const char *path, const struct probe_sites *s)
{
	const uint32_t head[] = {s->n, s->nruns, s->nkernels};
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(head, sizeof head, 1, f) == 1 && fwrite(s->site, sizeof *s->site, s->n, f) == s->n &&
		  fwrite(s->run, sizeof *s->run, s->nruns, f) == s->nruns;

	for (uint32_t i = 0; ok && i < s->nkernels; i++)
		ok = fwrite(&s->kernel[i].piece, sizeof s->kernel[i].piece, 1, f) == 1 && fprintf(f, "%s\n", s->kernel[i].name) > 0;
	ok = f && !fclose(f) && ok;
	if (!ok)
		perror(path);
	return ok;
}

int main(int argc, char **argv)
{
	struct probe_what what = {0};
	struct probe_sites sites;
	size_t len = 0;
	char *text, *out;
	FILE *f;

	if (argc < 3 || argc > 5) {
		fputs("usage: put FILE.ptx OUT.ptx [SITES [UNIT]]\n", stderr);
		return 2;
	}
	text = slurp(argv[1], &len);
	what.unit = argc > 4 ? argv[4] : NULL;
	out = text ? probe_module(argv[1], text, what, &sites, NULL, NULL) : NULL;
	free(text);
	if (!out)
		return 1;
	f = fopen(argv[2], "w");
	if (!f || fputs(out, f) < 0 || fclose(f)) {
		perror(argv[2]);
		return 1;
	}
	if (argc > 3 && !put_tables(argv[3], &sites))
		return 1;
	printf("%u sites, %u not logged (the first at line %u), %u not watched\n", sites.n - 1, sites.left_out, sites.first,
	       sites.unwatched);
	probe_sites_free(&sites);
	free(out);
	return 0;
}
