/* SPDX-License-Identifier: Apache-2.0
 *
 * diag.c: errors with their place.  Lines and columns are counted only when
 * something is reported.  The first error of a statement is the precise one: a
 * second report for the same place is dropped.
 */
#include "ptxparse/parse.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCE = 400 };              /* bytes of the source line shown */

static unsigned column_of(const struct parser *p, const char *pos)
{
	const char *s = pos;

	while (s > p->text && s[-1] != '\n')
		s--;
	return (unsigned)(pos - s) + 1;
}

static unsigned line_of(const struct parser *p, const char *pos)
{
	const char *s = p->text;
	unsigned n = 1;

	while ((s = memchr(s, '\n', (size_t)(pos - s)))) {
		n++;
		s++;
	}
	return n;
}

static void print_error(const char *path, const struct ptx_error *e)
{
	const char *s;
	unsigned i;

	fprintf(stderr, "%s:%u:%u: error: %s\n", path, e->line, e->col, e->text);
	if (!e->source)
		return;
	fprintf(stderr, " %s\n ", e->source);
	/* Tabs stay tabs, so that the caret stands right at any tab width. */
	for (s = e->source, i = 1; i < e->col && *s; s++, i++)
		putc(*s == '\t' ? '\t' : ' ', stderr);
	fputs("^\n", stderr);
}

static void report(struct parser *p, struct ptx_error *e)
{
	p->m->nerrors++;
	if (p->report)
		p->report(p->arg, p->m->path, e);
	else
		print_error(p->m->path, e);
}

void ptx_error_at(struct parser *p, const char *pos, const char *fmt, ...)
{
	struct ptx_error e = {0};
	const char *s, *nl;
	char *source;
	va_list ap;
	size_t n;
	char text[300];

	if (p->stop || pos == p->last_error)
		return;
	p->last_error = pos;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);

	e.col = column_of(p, pos);
	e.line = line_of(p, pos);
	s = pos - (e.col - 1);
	nl = memchr(s, '\n', (size_t)(p->end - s));
	n = (size_t)((nl ? nl : p->end) - s);
	while (n && s[n - 1] == '\r')
		n--;
	source = NULL;
	/* A caret under a column that is not shown would lie. */
	if (e.col <= MAX_SOURCE) {
		if (n > MAX_SOURCE)
			n = MAX_SOURCE;
		source = malloc(n + 1);
	}
	if (source) {
		memcpy(source, s, n);
		source[n] = 0;
	}
	e.text = text;
	e.source = source;
	report(p, &e);
	free(source);

	if (p->m->nerrors == MAX_ERRORS) {
		p->stop = true;
		e.text = "too many errors";
		e.source = NULL;
		report(p, &e);
	}
}

/* Grammar errors; the lexer has already spoken if the token was bad. */
void ptx_syntax_error(struct parser *p, int major, const struct tok *t)
{
	int len = 0;

	/* A section is one token of many lines. */
	while (len < 60 && (unsigned)len < t->len && t->s[len] != '\n' && t->s[len] != '\r')
		len++;
	p->recover = true;
	if (p->bad)
		return;
	if (major == 0)
		ptx_error_at(p, t->s, "unexpected end of file");
	else
		ptx_error_at(p, t->s, "unexpected '%.*s'", len, t->s);
}
