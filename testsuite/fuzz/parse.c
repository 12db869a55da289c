/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.c: fuzz target for the PTX parser and printer.  Whatever parses must
 * print to text that parses to the same tree and prints to the same text.
 */
#include <stdlib.h>
#include <string.h>

#include "ptxparse/ptx.h"
#include "testsuite/fuzz/fuzz.h"
#include "testsuite/fuzz/same.h"

static const char *const folders[] = { "testsuite/parse", "testsuite/err", "testsuite/rewrite",
	"testsuite/race", "testsuite/norace", "examples", NULL };
const struct fuzz_target fuzz_target = { "parse", ".ptx", folders, 40000, false };

static void hear(void *arg, const char *path, const struct ptx_error *e)
{
	(void)path;
	++*(unsigned *)arg;
	if (!e->line || !e->col || !*e->text || strchr(e->text, '\n'))
		fuzz_broken("an error without its place: %u:%u: %s", e->line, e->col, e->text);
}

static void tell(void *arg, const char *path, const struct ptx_error *e)
{
	(void)arg;
	(void)path;
	fuzz_broken("printed text does not parse: %u:%u: %s\n%s", e->line, e->col, e->text,
		    e->source ? e->source : "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ptx_buf one = { 0 }, two = { 0 };
	struct ptx_module *a, *b;
	unsigned errors = 0, line;
	const char *why;

	a = ptx_parse("fuzz.ptx", (const char *)data, size, hear, &errors);
	if (!a) {
		if (!errors)
			fuzz_broken("rejected without an error");
		return 0;
	}
	if (errors)
		fuzz_broken("accepted with %u errors", errors);
	ptx_print(&one, a);
	b = ptx_parse("print.ptx", one.p, one.len, tell, NULL);
	if (!b)
		fuzz_broken("printed text does not parse");
	why = same_module(a, b, &line);
	if (why)
		fuzz_broken("line %u: printing loses %s", line, why);
	ptx_print(&two, b);
	if (one.len != two.len || memcmp(one.p, two.p, one.len))
		fuzz_broken("printing is not stable");
	ptx_free(a);
	ptx_free(b);
	free(one.p);
	free(two.p);
	return 0;
}
