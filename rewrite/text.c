/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c: appending inserted code, piece by piece, to memory of the module's
 * arena.  Millions of short appends happen here in a large module, so nothing
 * is formatted by printf and texts share chunks.
 */
#include <stdlib.h>
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

static const char pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* Decimal digits of v at p; returns their end. */
static inline char *digits(char *p, uint32_t v)
{
	uint32_t limit = 100;
	char *end, *q;

	/* Most of them are this small. */
	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	for (end = p + 2; v >= limit; end++) {
		if (end == p + 9) {
			end++;
			break;
		}
		limit *= 10;
	}
	for (q = end; v >= 10; v /= 100) {
		q -= 2;
		memcpy(q, &pairs[v % 100 * 2], 2);
	}
	if (q > p)
		*p = (char)('0' + v);
	return end;
}

void rw_putu(struct rw *r, uint64_t v)
{
	char b[20], *p = b + sizeof b;

	if (v <= UINT32_MAX) {
		r->text.p = digits(room(r, 10), (uint32_t)v);
		return;
	}
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	rw_putn(r, p, (size_t)(b + sizeof b - p));
}

void rw_put_words(struct rw *r, const uint32_t *w, size_t n)
{
	for (size_t i = 0; i < n; ) {
		size_t end = n - i > 64 ? i + 64 : n;
		char *p = room(r, 64 * 11);

		for (; i < end; i++) {
			if (i)
				*p++ = ',';
			p = digits(p, w[i]);
		}
		r->text.p = p;
	}
}

void rw_put_bytes(struct rw *r, const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < n; ) {
		size_t end = n - i > 64 ? i + 64 : n;
		char *p = room(r, 64 * 4);

		for (; i < end; i++) {
			if (i)
				*p++ = ',';
			p = digits(p, s[i]);
		}
		r->text.p = p;
	}
}

void rw_puti(struct rw *r, int64_t v)
{
	if (v < 0)
		RW_PUT(r, "-");
	rw_putu(r, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void rw_putx(struct rw *r, uint64_t v)
{
	char b[16];

	for (int i = 15; i >= 0; i--, v >>= 4)
		b[i] = "0123456789abcdef"[v & 15];
	rw_putn(r, b, sizeof b);
}

void rw_put_operand(struct rw *r, const struct ptx_operand *o)
{
	struct ptx_buf b = { 0 };

	if (o->kind == OP_SYM && !o->neg && !o->elem && !o->off) {
		rw_putn(r, o->sym->name, ptx_name_len(o->sym));
		return;
	}
	ptx_print_operand(&b, o);
	rw_putn(r, b.p, b.len);
	free(b.p);
}
