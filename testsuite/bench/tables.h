/* SPDX-License-Identifier: Apache-2.0 */
/* What build/probe/put says of a module (probe/main.c): its sites, and its kernels with the units of their pieces; and what
 * slice.cu and drain.cu do when a call fails.  They end at once: a kernel may be waiting for them. */
#ifndef TESTSUITE_BENCH_TABLES_H
#define TESTSUITE_BENCH_TABLES_H

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "event/event.h"

#define CHECK(x) do { \
	int e_ = (int)(x); \
	if (e_) { \
		fprintf(stderr, "%s: error %d\n", #x, e_); \
		_exit(2); \
	} \
} while (0)

struct tables { std::vector<struct event_site> site; std::vector<struct event_run> run; std::vector<std::pair<std::string, uint32_t>> kernel; };

static void read_all(void *to, size_t n, FILE *f)
{
	if (fread(to, 1, n, f) != n) {
		fprintf(stderr, "the table of sites is too short\n");
		_exit(2);
	}
}

static struct tables read_tables(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint32_t n[3], piece;
	struct tables t;
	char line[4096];

	CHECK(!f);
	read_all(n, sizeof n, f);
	t.site.resize(n[0]);
	t.run.resize(n[1]);
	read_all(t.site.data(), n[0] * sizeof t.site[0], f);
	read_all(t.run.data(), n[1] * sizeof(struct event_run), f);
	for (uint32_t i = 0; i < n[2] && fread(&piece, sizeof piece, 1, f) == 1 && fgets(line, sizeof line, f); i++)
		t.kernel.push_back({std::string(line, strcspn(line, "\n")), piece});
	fclose(f);
	return t;
}

#endif
