/* SPDX-License-Identifier: Apache-2.0
 *
 * util.c: arena, interned words, growing buffer.  Nothing here knows PTX; a word
 * comes with room for what the other files attach to it.
 *
 * Memory of an arena is zeroed and lives as long as the arena.  Running out of
 * memory ends the process: there is nothing sensible left to do.
 */
#include "ptxparse/parse.h"

#include <endian.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A small module gets by with a few small chunks; after those, a huge page at a time. */
enum { SMALL_CHUNK = 1 << 18, SMALL_CHUNKS = 4, PAGE = 1 << 12, HUGE = 1 << 21 };

struct chunk {
	struct chunk *next;
	size_t bytes;                   /* of the mapping; what follows is aligned as well */
};

struct ptx_arena {
	char *p, *end;                  /* free part of the current chunk */
	unsigned small;                 /* SMALL_CHUNKs taken */
	struct chunk *chunks;
	struct word **words;            /* open addressing, `cap` of them, 2^(64 - shift) */
	size_t cap;
	unsigned shift;                 /* the upper bits of a hash are the best */
	size_t nwords;
};

static void die(void)
{
	fputs("gsan: out of memory\n", stderr);
	exit(3);
}

struct ptx_arena *ptx_arena_new(void)
{
	struct ptx_arena *a = calloc(1, sizeof *a);

	if (!a)
		die();
	a->shift = 64 - 12;
	a->cap = 1 << 12;
	a->words = calloc(a->cap, sizeof *a->words);
	if (!a->words)
		die();
	return a;
}

void ptx_arena_free(struct ptx_arena *a)
{
	struct chunk *c, *next;

	if (!a)
		return;
	for (c = a->chunks; c; c = next) {
		next = c->next;
		if (c->bytes)
			munmap(c, c->bytes);
		else
			free(c);        /* under the sanitizer */
	}
	free(a->words);
	free(a);
}

/* Zeroed pages.  Taken one fault at a time they cost a third of a parse, so that
 * large pieces ask for huge pages, and all pieces that will surely be used are
 * taken at once; both are only wishes, and the kernel may refuse them. */
static void *new_chunk(struct ptx_arena *a, size_t bytes, bool populate)
{
	struct chunk *c;
	size_t slack = 0;
	char *p;

	if (bytes > SIZE_MAX - 2 * HUGE)
		die();
	bytes = (bytes + sizeof *c + PAGE - 1) & ~(size_t)(PAGE - 1);
	if (bytes >= HUGE)
		slack = HUGE - PAGE;
	p = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die();
	if (slack) {
		size_t head = (HUGE - ((uintptr_t)p & (HUGE - 1))) & (HUGE - 1);

		if (head)
			munmap(p, head);
		if (head < slack)
			munmap(p + head + bytes, slack - head);
		p += head;
		madvise(p, bytes, MADV_HUGEPAGE);
	}
#ifdef MADV_POPULATE_WRITE
	if (populate)
		madvise(p, bytes, MADV_POPULATE_WRITE);
#endif
	c = (struct chunk *)(void *)p;
	c->bytes = bytes;
	c->next = a->chunks;
	a->chunks = c;
	return c + 1;
}

#ifdef __SANITIZE_ADDRESS__
static void *sanitized_chunk(struct ptx_arena *a, size_t bytes)
{
	struct chunk *c = calloc(1, sizeof *c + bytes);

	if (!c)
		die();
	c->next = a->chunks;
	a->chunks = c;
	return c + 1;
}
#endif

void *ptx_alloc(struct ptx_arena *a, size_t bytes)
{
	char *p;

	if (bytes > SIZE_MAX - 7)
		die();
	bytes = (bytes + 7) & ~(size_t)7;
#ifdef __SANITIZE_ADDRESS__
	/* Every piece by itself, so that the sanitizer sees its ends. */
	a->p = a->end = NULL;
	return sanitized_chunk(a, bytes);
#endif
	if (bytes > (size_t)(a->end - a->p)) {
		/* Large ones get a chunk of their own and leave the current one be. */
		size_t room = a->small < SMALL_CHUNKS ? SMALL_CHUNK : HUGE;

		if (bytes > SMALL_CHUNK / 4)
			return new_chunk(a, bytes, bytes < HUGE);
		a->small += room == SMALL_CHUNK;
		room -= sizeof(struct chunk);
		a->p = new_chunk(a, room, true);
		a->end = a->p + room;
	}
	p = a->p;
	a->p += bytes;
	return p;
}

/* --- words --- */

static inline uint64_t load64(const char *s)
{
	uint64_t v;

	memcpy(&v, s, 8);
	return v;
}

static inline uint32_t load32(const char *s)
{
	uint32_t v;

	memcpy(&v, s, 4);
	return v;
}

static inline uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* Of two different words of one length up to SHORT the hashes differ: nothing is
 * lost of them on the way. */
enum { SHORT = 8 };

static inline uint64_t hash(const char *s, size_t len)
{
	uint64_t h = len;

	if (len >= 8) {
		size_t i;

		for (i = 0; i + 8 < len; i += 8)
			h = mix(h, load64(s + i));
		h = mix(h, load64(s + len - 8));
	} else if (len >= 4) {
		h = mix(h, (uint64_t)load32(s) << 32 | load32(s + len - 4));
	} else if (len) {
		h = mix(h, (uint64_t)(unsigned char)s[0] << 16 |
			(uint64_t)(unsigned char)s[len / 2] << 8 | (unsigned char)s[len - 1]);
	}
	return h;
}

/* Most opcodes are no longer than two loads of eight bytes, which may overlap. */
static inline bool is_word(const struct word *w, uint64_t h, const char *s, size_t len)
{
	if (w->hash != h || w->len != len)
		return false;
	if (len <= SHORT)
		return true;
	if (len <= 16)
		return load64(w->text) == load64(s) && load64(w->text + len - 8) == load64(s + len - 8);
	return memcmp(w->text, s, len) == 0;
}

static void grow_words(struct ptx_arena *a)
{
	struct word **old = a->words;
	size_t n = a->cap, i, k;

	a->shift--;
	a->cap *= 2;
	a->words = calloc(a->cap, sizeof *a->words);
	if (!a->words)
		die();
	for (i = 0; i < n; i++) {
		if (!old[i])
			continue;
		for (k = old[i]->hash >> a->shift; a->words[k]; k = (k + 1) & (a->cap - 1))
			;
		a->words[k] = old[i];
	}
	free(old);
}

static struct word *new_word(struct ptx_arena *a, uint64_t h, size_t k, const char *s, size_t len)
{
	struct word *w;

	if (len > UINT32_MAX)
		die();
	w = ptx_alloc(a, sizeof *w + len + 1);
	w->hash = h;
	w->len = (uint32_t)len;
	memcpy(w->text, s, len);
	a->words[k] = w;
	if (++a->nwords > a->cap / 2)
		grow_words(a);
	return w;
}

struct word *ptx_word(struct ptx_arena *a, const char *s, size_t len)
{
	uint64_t h = hash(s, len);
	size_t k = h >> a->shift;
	struct word *w;

	for (; (w = a->words[k]); k = (k + 1) & (a->cap - 1))
		if (is_word(w, h, s, len))
			return w;
	return new_word(a, h, k, s, len);
}

const char *ptx_intern(struct ptx_arena *a, const char *s, size_t len)
{
	return ptx_word(a, s, len)->text;
}

char *ptx_sprintf(struct ptx_arena *a, const char *fmt, ...)
{
	char small[256], *p;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof small, fmt, ap);
	va_end(ap);
	if (n < 0)
		die();
	p = ptx_alloc(a, (size_t)n + 1);
	if ((size_t)n < sizeof small) {
		memcpy(p, small, (size_t)n);
	} else {
		va_start(ap, fmt);
		vsnprintf(p, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	return p;
}

/* --- numbers --- */

/* The eight digits of a number, the first one in the lowest byte: halves, then
 * fours, then all of them. */
static inline uint64_t digits_of(uint32_t v)
{
	uint64_t d = v / 10000 | (uint64_t)(v % 10000) << 32, q;

	q = d * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
	d = q | (d - q * 100) << 16;
	q = d * 103 >> 10 & UINT64_C(0x000f000f000f000f);
	return q | (d - q * 10) << 8;
}

/* Numbers are a large part of what is written, and how long they are is anyone's guess,
 * the processor's too. */
char *ptx_more_digits(char *p, uint64_t v)
{
	enum { EIGHT = 100000000 };
	unsigned zeros = 0;             /* bits of those in front */
	uint64_t d;

	if (v < EIGHT) {
		d = digits_of((uint32_t)v);
		zeros = (unsigned)__builtin_ctzll(d) & ~7u;
	} else {
		p = ptx_digits(p, v / EIGHT);
		d = digits_of((uint32_t)(v % EIGHT));
	}
	d = htole64((d | BYTES('0')) >> zeros);
	memcpy(p, &d, sizeof d);
	return p + sizeof d - zeros / 8;
}

/* --- growing buffer --- */

void ptx_put(struct ptx_buf *b, const char *s, size_t len)
{
	if (len > b->cap - b->len) {
		size_t cap = b->cap ? b->cap * 2 : 4096;

		if (len > SIZE_MAX / 4 || b->cap > SIZE_MAX / 4)
			die();
		while (cap - b->len < len)
			cap *= 2;
		b->p = realloc(b->p, cap);
		if (!b->p)
			die();
		b->cap = cap;
	}
	memcpy(b->p + b->len, s, len);
	b->len += len;
}

void ptx_puts(struct ptx_buf *b, const char *s)
{
	ptx_put(b, s, strlen(s));
}
