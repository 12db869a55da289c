/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c: appending inserted code, piece by piece, to memory of the module's
 * arena.  Millions of short appends happen here in a large module, so nothing
 * is formatted by printf and texts share chunks.
 */
#include <string.h>

#include "rewrite/rw.h"

#define CHUNK (64 * 1024)
#define ROOM 2048               /* what a typical text takes, at most */

void rw_open(struct rw *r)
{
	struct rw_text *t = &r->text;

	if (!t->p || (size_t)(t->end - t->p) < ROOM) {
		t->p = ptx_alloc(r->m->arena, CHUNK);
		t->end = t->p + CHUNK;
	}
	t->start = t->p;
}

/* Moves the text begun to a place with `more` bytes of room behind it. */
static void grow(struct rw *r, size_t more)
{
	struct rw_text *t = &r->text;
	size_t have = (size_t)(t->p - t->start);
	size_t cap = have * 2 + more + CHUNK;
	char *start = ptx_alloc(r->m->arena, cap);

	memcpy(start, t->start, have);
	t->start = start;
	t->p = start + have;
	t->end = start + cap;
}

static inline char *room(struct rw *r, size_t n)
{
	/* One byte stays free for the NUL. */
	if ((size_t)(r->text.end - r->text.p) <= n)
		grow(r, n);
	return r->text.p;
}

const char *rw_close(struct rw *r)
{
	/* The printer ends the line. */
	if (r->text.p > r->text.start && r->text.p[-1] == '\n')
		r->text.p--;
	*room(r, 0) = '\0';
	r->text.p++;
	r->text.total += (size_t)(r->text.p - r->text.start);
	return r->text.start;
}

void rw_reserve(struct rw *r, size_t n)
{
	room(r, n);
}

void rw_puts(struct rw *r, const char *s)
{
	rw_putn(r, s, strlen(s));
}

void rw_putu(struct rw *r, uint64_t v)
{
	r->text.p = ptx_digits(room(r, PTX_DIGITS), v);
}

void rw_put_words(struct rw *r, const uint32_t *w, size_t n)
{
	for (size_t i = 0; i < n; ) {
		size_t end = n - i > 64 ? i + 64 : n;
		char *p = room(r, 64 * 11 + PTX_DIGITS);

		for (; i < end; i++) {
			if (i)
				*p++ = ',';
			p = ptx_digits(p, w[i]);
		}
		r->text.p = p;
	}
}

void rw_put_bytes(struct rw *r, const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < n; ) {
		size_t end = n - i > 64 ? i + 64 : n;
		char *p = room(r, 64 * 4 + PTX_DIGITS);

		for (; i < end; i++) {
			if (i)
				*p++ = ',';
			p = ptx_digits(p, s[i]);
		}
		r->text.p = p;
	}
}

void rw_putx(struct rw *r, uint64_t v)
{
	char b[16];

	for (int i = 15; i >= 0; i--, v >>= 4)
		b[i] = "0123456789abcdef"[v & 15];
	rw_putn(r, b, sizeof b);
}
