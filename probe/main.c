/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: put FILE.ptx OUT.ptx: puts probes in, and says how much is left out.
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

int main(int argc, char **argv)
{
	struct probe_sites sites;
	size_t len = 0;
	char *text, *out;
	FILE *f;

	if (argc != 3) {
		fputs("usage: put FILE.ptx OUT.ptx\n", stderr);
		return 2;
	}
	text = slurp(argv[1], &len);
	out = text ? probe_module(argv[1], text, len, &sites, NULL, NULL) : NULL;
	free(text);
	if (!out)
		return 1;
	f = fopen(argv[2], "w");
	if (!f || fputs(out, f) < 0 || fclose(f)) {
		perror(argv[2]);
		return 1;
	}
	printf("%u sites, %u not logged (the first at line %u)\n", sites.n - 1, sites.left_out, sites.first);
	probe_sites_free(&sites);
	free(out);
	return 0;
}
