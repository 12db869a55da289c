/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * text FILE...: how fast the rewriter goes through PTX, in MB of input a
 * second on one core: parsing alone, parsing and printing, and the whole of
 * gsan-ptx.  The best of several rounds, files in memory.  One line a file:
 *	FILE BYTES PARSE PRINT REWRITE SECONDS_OF_REWRITE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ptxparse/ptx.h"
#include "rewrite/rewrite.h"

enum { ROUNDS = 25 };       /* others may have the machine for some of them */

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *
slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *s;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
		perror(path);
		exit(2);
	}
	s = malloc((size_t)n + 1);
	if (!s || fread(s, 1, (size_t)n, f) != (size_t)n) {
		perror(path);
		exit(2);
	}
	s[n] = '\0';
	fclose(f);
	*len = (size_t)n;
	return s;
}

static double
parse(const char *path, const char *text, size_t len, int print)
{
	double start = now(), spent;
	struct ptx_module *m = ptx_parse(path, text, len, NULL, NULL);
	struct ptx_buf buf = { 0 };

	if (!m)
		exit(1);
	if (print)
		ptx_print(&buf, m);
	spent = now() - start;
	ptx_free(m);
	free(buf.p);
	return spent;
}

static double
rewrite(const char *path, const char *text, size_t len)
{
	struct gsan_rewrite_options options = { 0 };
	size_t out_len;
	double start = now(), spent;
	char *out = gsan_rewrite(path, text, len, &options, NULL, &out_len, NULL, NULL);

	if (!out)
		exit(1);
	spent = now() - start;
	free(out);
	return spent;
}

static double
least(double a, double b)
{
	return a < b ? a : b;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		double alone = 1e9, printed = 1e9, rewritten = 1e9, mb;
		size_t len;
		char *text = slurp(argv[i], &len);

		for (int r = 0; r < ROUNDS; r++) {
			alone = least(alone, parse(argv[i], text, len, 0));
			printed = least(printed, parse(argv[i], text, len, 1));
			rewritten = least(rewritten, rewrite(argv[i], text, len));
		}
		mb = (double)len / 1e6;
		printf("%s %zu %.1f %.1f %.1f %.5f\n", argv[i], len, mb / alone, mb / printed,
		    mb / rewritten, rewritten);
		free(text);
	}
	return 0;
}
