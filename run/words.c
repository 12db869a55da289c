/* SPDX-License-Identifier: Apache-2.0
 *
 * words.c: what a line of a script is read with: its words, numbers and options,
 * the errors that point at them, and the memory that they lie in.  What the words
 * mean is script.c's.
 */
#include "run/script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory: everything lives as long as the script. */

struct chunk { struct chunk *next; };

void *run_alloc(struct run_script *s, size_t n)
{
	struct chunk *c = calloc(1, sizeof *c + n);

	if (!c) {
		fputs("gsan-run: out of memory\n", stderr);
		exit(RUN_OTHER);
	}
	c->next = s->chunks;
	s->chunks = c;
	return c + 1;
}

char *run_copy(struct run_script *s, const char *p, size_t n)
{
	char *q = run_alloc(s, n + 1);

	memcpy(q, p, n);
	return q;
}

void *run_more(struct run_script *s, void *old, size_t size, unsigned n, unsigned *cap)
{
	void *p;

	if (n < *cap)
		return old;
	*cap = *cap ? *cap * 2 : 8;
	p = run_alloc(s, size * *cap);
	if (n)
		memcpy(p, old, size * n);
	return p;
}

void run_free(struct run_script *s)
{
	struct chunk *c = s->chunks, *next;

	for (; c; c = next) {
		next = c->next;
		free(c);
	}
	memset(s, 0, sizeof *s);
}

/* ---- Errors. */

void run_error(const struct run_script *s, struct run_pos pos, const char *fmt, ...)
{
	const char *p = s->text, *end = s->text + s->len, *eol;
	unsigned line = 1, col;
	va_list ap;

	fprintf(stderr, "%s:%u:%u: error: ", s->path, pos.line, pos.col);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	for (; p < end && line < pos.line; p++)
		line += *p == '\n';
	if (p == end)
		return;
	eol = memchr(p, '\n', (size_t)(end - p));
	if (!eol)
		eol = end;
	fprintf(stderr, "%.*s\n", (int)(eol - p > 400 ? 400 : eol - p), p);
	for (col = 1; col < pos.col && col < 400; col++, p++)
		fputc(p < eol && *p == '\t' ? '\t' : ' ', stderr);
	fputs("^\n", stderr);
}

/* ---- Words and numbers. */

void run_split(struct parser *p, const char *line, size_t len, size_t start)
{
	size_t i = start, from;
	const char *nul;

	p->n = p->at = 0;
	p->bad = false;
	p->end_col = (unsigned)start + 1;
	nul = memchr(line + start, 0, len - start);
	if (nul) {              /* what follows in its word would be ignored */
		fail(p, (unsigned)(nul - line) + 1, "NUL byte");
		return;
	}
	while (i < len) {
		if (line[i] == ' ' || line[i] == '\t') {
			i++;
			continue;
		}
		for (from = i; i < len && line[i] != ' ' && line[i] != '\t'; i++)
			;
		if (p->n == MAX_WORDS) {
			fail(p, (unsigned)from + 1, "more than %d words", MAX_WORDS);
			return;
		}
		p->w[p->n].s = run_copy(p->s, line + from, i - from);
		p->w[p->n++].col = (unsigned)from + 1;
		p->end_col = (unsigned)i + 1;
	}
}

bool run_done(const struct parser *p)
{
	return p->bad || p->at == p->n;
}

struct word run_next(struct parser *p, const char *what)
{
	if (!p->bad && p->at < p->n)
		return p->w[p->at++];
	fail(p, p->end_col, "expected %s", what);
	return (struct word){ "", p->end_col };
}

void run_no_more(struct parser *p)
{
	if (!p->bad && p->at < p->n)
		fail(p, p->w[p->at].col, "unexpected \"%s\"", p->w[p->at].s);
}

/* Decimal or 0x…; the whole word, nothing else. */
static bool to_number(const char *s, uint64_t *v)
{
	char *end;
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');

	if (hex ? !strchr("0123456789abcdefABCDEF", s[2]) || !s[2] : s[0] < '0' || s[0] > '9')
		return false;
	errno = 0;
	*v = strtoull(s, &end, hex ? 16 : 10);
	return !*end && !errno;
}

uint64_t run_number(struct parser *p, struct word w, uint64_t max, const char *what)
{
	uint64_t v = 0;

	if (p->bad)
		return 0;
	if (!to_number(w.s, &v))
		fail(p, w.col, "%s: \"%s\" is not a number", what, w.s);
	else if (v > max)
		fail(p, w.col, "%s: %s is more than %llu", what, w.s, (unsigned long long)max);
	return p->bad ? 0 : v;
}

bool run_is_name(const char *s)
{
	size_t i;

	for (i = 0; s[i]; i++)
		if (!(s[i] == '_' || s[i] == '$' || (s[i] >= 'a' && s[i] <= 'z') ||
		      (s[i] >= 'A' && s[i] <= 'Z') || (i && s[i] >= '0' && s[i] <= '9')))
			return false;
	return i > 0;
}

bool run_option(struct word w, const char *key, struct word *value)
{
	size_t n = strlen(key);

	if (strncmp(w.s, key, n) || w.s[n] != '=')
		return false;
	value->s = w.s + n + 1;
	value->col = w.col + (unsigned)n + 1;
	return true;
}

void run_once(struct parser *p, struct word w, bool *seen)
{
	if (*seen)
		fail(p, w.col, "\"%s\" a second time", w.s);
	*seen = true;
}
