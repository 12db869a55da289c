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

static const char *line_end(const struct parser *p)
{
	const char *nl = memchr(p->bol, '\n', (size_t)(p->end - p->bol));

	return nl ? nl : p->end;
}

/* Line and column of a place in the text, counted from the last one that was asked
 * for: the places of statements only go forward. */
void ptx_place(struct parser *p, const char *pos, unsigned *line, unsigned *col)
{
	if (pos < p->bol || !p->eol) {
		p->bol = p->text;
		p->eol = line_end(p);
		p->line = 1;
	}
	while (pos > p->eol) {
		p->bol = p->eol + 1;
		p->eol = line_end(p);
		p->line++;
	}
	*line = p->line;
	if (col)
		*col = (unsigned)(pos - p->bol) + 1;
}

/* How much of a token a message shows. */
int ptx_show(const struct span *t)
{
	return t->e - t->s < 60 ? (int)(t->e - t->s) : 60;
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

	ptx_place(p, pos, &e.line, &e.col);
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
void ptx_syntax_error(struct parser *p, int major, const struct span *t)
{
	int len = 0, most = ptx_show(t);

	/* A section is one token of many lines. */
	while (len < most && t->s[len] != '\n' && t->s[len] != '\r')
		len++;
	p->recover = true;
	if (p->bad)
		return;
	if (major == 0)
		ptx_error_at(p, t->s, "unexpected end of file");
	else
		ptx_error_at(p, t->s, "unexpected '%.*s'", len, t->s);
}
