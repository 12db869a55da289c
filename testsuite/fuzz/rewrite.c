/* SPDX-License-Identifier: Apache-2.0
 *
 * rewrite.c: fuzz target for the whole rewriter: parse, all passes, print.
 * What it makes must parse, must be known for its own, and be the same the
 * second time.  Options are drawn from the input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rewrite.h"
#include "testsuite/fuzz/fuzz.h"

static const char *const folders[] = { "testsuite/rewrite", "testsuite/parse", "testsuite/race",
	"testsuite/norace", "examples", NULL };
const struct fuzz_target fuzz_target = { "rewrite", ".ptx", folders, 15000, false };

static void hear(void *arg, const char *path, const struct ptx_error *e)
{
	(void)path;
	(void)e;
	++*(unsigned *)arg;
}

static void tell(void *arg, const char *path, const struct ptx_error *e)
{
	(void)arg;
	(void)path;
	fuzz_broken("instrumented text does not parse: %u:%u: %s\n%s", e->line, e->col, e->text,
		    e->source ? e->source : "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	const uint64_t h = fuzz_hash(data, size);
	struct gsan_rewrite_options o = {
		.stored = h % 4 == 0,
		.relocatable = h >> 8 & 1,
		.kernel = (h >> 9) % 16 == 0 ? "*[a-m]" : NULL,
		.perturb = (h >> 19) % 8 == 0 ? (unsigned)(h >> 33) : 0,
		.dump = (h >> 16) % 8 == 0 ? "CSPA" : NULL,
	};
	struct gsan_rewrite_stats s, t;
	size_t n = 0, m = 0;
	unsigned errors = 0;
	char *one, *two, *again;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	o.dump_to = nowhere;
	one = gsan_rewrite("fuzz.ptx", (const char *)data, size, &o, &s, &n, hear, &errors);
	if (!one) {
		if (!errors)
			fuzz_broken("rejected without an error");
		return 0;
	}
	if (errors)
		fuzz_broken("accepted with %u errors", errors);
	if (one[n])
		fuzz_broken("no NUL behind the text");
	if (s.passed != GSAN_REWRITTEN && (n != size || memcmp(one, data, size)))
		fuzz_broken("text that was passed is not the same");
	o.dump = NULL;
	two = gsan_rewrite("again.ptx", one, n, &o, &t, &m, tell, NULL);
	if (!two)
		fuzz_broken("instrumented text is rejected");
	if (s.passed != GSAN_PASSED_32BIT && t.passed != GSAN_PASSED_MARKED)
		fuzz_broken("instrumented text is not known for what it is");
	if (m != n || memcmp(one, two, n))
		fuzz_broken("instrumented text is changed again");
	again = gsan_rewrite("fuzz.ptx", (const char *)data, size, &o, &t, &m, tell, NULL);
	if (!again || m != n || memcmp(one, again, n))
		fuzz_broken("another text the second time");
	free(one);
	free(two);
	free(again);
	return 0;
}
