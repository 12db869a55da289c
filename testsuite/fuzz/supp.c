/* SPDX-License-Identifier: Apache-2.0
 *
 * supp.c: fuzz target for suppressions and their patterns.  The input up to the
 * first NUL is the file; what follows, cut at NULs, names the functions, files
 * and variables of a report that it is held against.  Patterns are matched a
 * second time by a slow matcher that has nothing in common with rt_glob().
 */
#include <stdlib.h>
#include <string.h>

#include "rt/rti.h"
#include "testsuite/fuzz/fuzz.h"

static const char *const folders[] = { NULL };
const struct fuzz_target fuzz_target = { "supp", "", folders, 500000, false };

enum { MOST = 48 };     /* letters of pattern and text that the slow matcher takes */

/* Row by row: can[j] is whether the pattern so far matches the text's first j
 * letters.  Ends that are not fixed take any text. */
static bool slow_glob(const char *pattern, const char *text)
{
	size_t n = strlen(text), m = strlen(pattern);
	bool can[MOST + 1] = { true }, open_start = true, open_end = true;

	if (m && *pattern == '^') {
		open_start = false;
		pattern++;
		m--;
	}
	if (m && pattern[m - 1] == '$') {
		open_end = false;
		m--;
	}
	for (size_t j = 1; j <= n; j++)
		can[j] = open_start;
	for (size_t i = 0; i < m; i++) {
		bool next[MOST + 1] = { false };

		for (size_t j = 0; j <= n; j++)
			if (pattern[i] == '*')
				next[j] = can[j] || (j && next[j - 1]);
			else
				next[j] = j && can[j - 1] && text[j - 1] == pattern[i];
		memcpy(can, next, sizeof can);
	}
	for (size_t j = 0; j <= n; j++)
		if (can[j] && (open_end || j == n))
			return true;
	return false;
}

static void compare(const char *pattern, const char *text)
{
	if (strlen(pattern) > MOST || strlen(text) > MOST)
		return;
	if (rt_glob(pattern, text) != slow_glob(pattern, text))
		fuzz_broken("'%s' and '%s': %d", pattern, text, rt_glob(pattern, text));
}

/* The next text of the input, "" behind its end. */
static const char *take(const char **at, const char *end)
{
	const char *s = *at;

	if (s >= end)
		return "";
	*at += strlen(s) + 1;
	return s;
}

static void fill(struct rt_place *p, const char **at, const char *end)
{
	p->known = true;
	p->ptx = take(at, end);
	p->var = p->op = "";
	for (p->nframes = 0; p->nframes < 3; p->nframes++) {
		struct rt_frame *f = &p->frame[p->nframes];

		f->func = take(at, end);
		f->shown = take(at, end);
		f->file = take(at, end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *bare;
	const char *at = text + strlen(text) + 1, *end = text + size;
	struct rt_supps s = {0};
	struct rt_buf err = {0}, b = {0};
	struct rt_report r;
	bool good = rt_supps_parse(&s, text, "fuzz", &err);

	if (good == (err.len != 0))
		fuzz_broken("%s with error '%s'", good ? "accepted" : "refused", err.len ? err.text : "");
	memset(&r, 0, sizeof r);
	r.kind = (enum gsan_kind)(fuzz_hash(data, size) % GSAN_KIND_COUNT);
	r.kernel = take(&at, end);
	r.kernel_raw = take(&at, end);
	r.var = take(&at, end);
	fill(&r.now, &at, end);
	fill(&r.before, &at, end);
	for (size_t i = 0; i < s.n; i++) {
		if (!*s.list[i].pattern || !*s.list[i].type)
			fuzz_broken("an empty suppression");
		compare(s.list[i].pattern, r.kernel);
		compare(s.list[i].pattern, r.var);
		compare(s.list[i].pattern, r.now.frame[0].shown);
	}
	r.count = 1;
	if (rt_suppressed(&s, &r)) {
		rt_supps_list(&s, &b);
		if (!b.len)
			fuzz_broken("a suppression that was used is not listed");
	}
	/* The line that a report offers suppresses it. */
	b.len = 0;
	rt_supp_line(&b, &r);
	rt_supps_free(&s);
	if (!strchr(r.kernel, '\n') && !strchr(r.now.frame[0].shown, '\n')) {
		err.len = 0;
		if (!rt_supps_parse(&s, b.text, "offered", &err))
			fuzz_broken("the line that a report offers is refused: %s", err.text);
		if (!rt_suppressed(&s, &r))
			fuzz_broken("the line that a report offers does not suppress it: %s", b.text);
	}
	bare = rt_bare_name(r.kernel);
	if (strlen(bare) > strlen(r.kernel))
		fuzz_broken("'%s' grew to '%s'", r.kernel, bare);
	free(bare);
	rt_supps_free(&s);
	rt_buf_free(&err);
	rt_buf_free(&b);
	free(text);
	return 0;
}
