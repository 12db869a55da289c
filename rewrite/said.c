/* SPDX-License-Identifier: Apache-2.0
 *
 * said.c: of what ptxas said of instrumented code, what is about the program.  Figures
 * of a function are shown if the function is the program's; anything else is shown if
 * ptxas says it of the program's own PTX, too.  What that is tells a second run, where
 * there is one; otherwise names that begin as gsan's are all that is known.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rw.h"

struct span { const char *p; size_t len; };

static bool begins(struct span s, const char *with)
{
	const size_t n = strlen(with);

	return s.len >= n && !memcmp(s.p, with, n);
}

static const char *find(struct span s, const char *text)
{
	return memmem(s.p, s.len, text, strlen(text));
}

/* The next line of *text, without its end; false: there is none. */
static bool next(const char **text, struct span *line)
{
	const char *end = strchrnul(*text, '\n');

	*line = (struct span){*text, (size_t)(end - *text)};
	if (!**text)
		return false;
	*text = *end ? end + 1 : end;
	return true;
}

/* What a line says, behind "ptxas info    : " and the like, and the place in a file. */
static struct span message(struct span line)
{
	const char *place = find(line, "; "), *colon;

	if (place && find((struct span){line.p, (size_t)(place - line.p)}, ", line "))
		line = (struct span){place + 2, line.len - (size_t)(place + 2 - line.p)};
	colon = find(line, " : ");
	if (colon)
		line = (struct span){colon + 3, line.len - (size_t)(colon + 3 - line.p)};
	return line;
}

/* ---- figures ------------------------------------------------------------------------------------ */

/* The function that the line begins to give figures of; false: it does not. */
static bool figures_of(struct span what, struct span *name)
{
	static const struct { const char *words, *end; } forms[] = {
		{ "Compiling entry function '", "'" }, { "Function properties for ", "" },
		{ "Registers are spilled to local memory in function '", "'" },
		{ "Local memory used for function '", "'" },
	};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const size_t n = strlen(forms[i].words);

		if (!begins(what, forms[i].words))
			continue;
		*name = (struct span){what.p + n, what.len - n};
		if (*forms[i].end) {
			const char *end = memchr(name->p, *forms[i].end, name->len);

			name->len = end ? (size_t)(end - name->p) : name->len;
		}
		return true;
	}
	return false;
}

/* More figures of the function before it. */
static bool goes_on(struct span line, struct span what)
{
	return (line.len && *line.p == ' ') || begins(what, "Used ") || begins(what, "Compile time ");
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Does the text have figures of that function, or of the one that it was made of ("f$1")? */
static bool has_figures(const char *text, struct span name)
{
	const char *dollar = memchr(name.p, '$', name.len);
	struct span line, other;

	if (dollar && dollar > name.p)
		name.len = (size_t)(dollar - name.p);
	while (next(&text, &line))
		if (figures_of(message(line), &other) && other.len >= name.len &&
		    !memcmp(other.p, name.p, name.len) &&
		    (other.len == name.len || other.p[name.len] == '$' || !is_name(other.p[name.len])))
			return true;
	return false;
}

static bool is_of_program(const char *plain, struct span name)
{
	if (begins(name, "__gsan_"))
		return false;
	/* Helpers that ptxas brings along, for the program or for probes. */
	return !begins(name, "__cuda_sm") || !plain || has_figures(plain, name);
}

/* Every kernel has its own copy of a function, and figures of each. */
static bool is_repeated(const char *said, struct span line)
{
	struct span before;

	while (next(&said, &before) && before.p < line.p)
		if (before.len == line.len && !memcmp(before.p, line.p, line.len))
			return true;
	return false;
}

/* ---- anything else -------------------------------------------------------------------------------- */

/* Two lines say the same, whatever the numbers in them. */
static bool same(struct span a, struct span b)
{
	size_t i = 0, k = 0;

	while (i < a.len && k < b.len) {
		if (isdigit((unsigned char)a.p[i]) && isdigit((unsigned char)b.p[k])) {
			while (i < a.len && isdigit((unsigned char)a.p[i]))
				i++;
			while (k < b.len && isdigit((unsigned char)b.p[k]))
				k++;
		} else if (a.p[i++] != b.p[k++]) {
			return false;
		}
	}
	return i == a.len && k == b.len;
}

static bool is_said(const char *plain, struct span what)
{
	struct span line;

	if (find(what, "__gsan_"))
		return false;
	if (!plain)
		return true;
	/* The sums of a file, which differ in what they have. */
	if (find(what, " bytes gmem"))
		return find((struct span){plain, strlen(plain)}, " bytes gmem") != NULL;
	while (next(&plain, &line))
		if (same(message(line), what))
			return true;
	return false;
}

char *rw_said_of_program(const char *said, const char *plain, bool *figures)
{
	char *out = malloc(strlen(said) + 1), *to = out;
	const char *rest = said;
	bool shown = true;
	struct span line, name;

	*figures = false;
	while (out && next(&rest, &line)) {
		const struct span what = message(line);

		if (figures_of(what, &name)) {
			shown = is_of_program(plain, name) && !is_repeated(said, line);
			*figures |= shown;
		} else if (!goes_on(line, what)) {
			shown = is_said(plain, what);
		}
		if (!shown)
			continue;
		memcpy(to, line.p, line.len);
		to += line.len;
		*to++ = '\n';
	}
	if (out)
		*to = '\0';
	return out;
}
