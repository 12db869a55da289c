/* SPDX-License-Identifier: Apache-2.0
 *
 * flags.c: fuzz target for GSAN_OPTIONS.  What was accepted lies inside the
 * bounds of flags.def, and written out again as key='value' it is read to the
 * same flags.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/rti.h"
#include "testsuite/fuzz/fuzz.h"

static const char *const folders[] = { NULL };
const struct fuzz_target fuzz_target = { "flags", "", folders, 100000, false };

static void check(const struct rt_flags *f)
{
#define BOOL(name, value, help) \
	if (f->name != 0 && f->name != 1) \
		fuzz_broken(#name " is %d", f->name);
#define INT(name, value, least, most, help) \
	if (f->name < (least) || f->name > (most)) \
		fuzz_broken(#name " is %d", f->name);
#define TEXT(name, value, help) \
	if (!f->name) \
		fuzz_broken(#name " is no text");
#include "rt/flags.def"
	if (strcmp(f->color, "auto") && strcmp(f->color, "always") && strcmp(f->color, "never"))
		fuzz_broken("color is '%s'", f->color);
}

/* A value came from between quotes of one kind, or from between gaps: it never
 * holds both kinds of quote and a gap.  One that holds both stands bare. */
static void put_text(struct rt_buf *b, const char *name, const char *value)
{
	const char *quote = !strchr(value, '\'') ? "'" : !strchr(value, '"') ? "\"" : "";

	rt_printf(b, " %s=%s%s%s", name, quote, value, quote);
}

static void compare(const struct rt_flags *a, const struct rt_flags *b)
{
#define BOOL(name, value, help) \
	if (a->name != b->name) \
		fuzz_broken(#name " is %d and then %d", a->name, b->name);
#define INT(name, value, least, most, help) BOOL(name, value, help)
#define TEXT(name, value, help) \
	if (strcmp(a->name, b->name)) \
		fuzz_broken(#name " is '%s' and then '%s'", a->name, b->name);
#include "rt/flags.def"
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct rt_flags f, g;
	struct rt_buf err = {0}, warn = {0}, b = {0};

	rt_flags_default(&f);
	rt_flags_default(&g);
	if (rt_flags_parse(&f, text, &err, &warn)) {
		if (err.len)
			fuzz_broken("accepted with an error: %s", err.text);
		check(&f);
#define BOOL(name, value, help) rt_printf(&b, " " #name "=%d", f.name);
#define INT(name, value, least, most, help) rt_printf(&b, " " #name "=%d", f.name);
#define TEXT(name, value, help) put_text(&b, #name, f.name);
#include "rt/flags.def"
		if (!rt_flags_parse(&g, b.text, &err, &warn))
			fuzz_broken("'%s' is refused: %s", b.text, err.text);
		compare(&f, &g);
	} else if (!err.len) {
		fuzz_broken("refused without an error");
	} else {
		check(&f);
	}
	/* One line a warning: init.c cuts there. */
	if (warn.len && warn.text[warn.len - 1] != '\n')
		fuzz_broken("a warning is not a line");
	b.len = 0;
	rt_flags_help(&f, &b);
	rt_flags_free(&f);
	rt_flags_free(&g);
	rt_buf_free(&err);
	rt_buf_free(&warn);
	rt_buf_free(&b);
	free(text);
	return 0;
}
