/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c: memory that is only bumped, lists that only become longer, and order.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "detect/impl.h"

/* ---- memory ---------------------------------------------------------------------------- */

struct chunk { struct chunk *next; size_t size; };
enum { CHUNK = 1 << 20, ALIGN = 16, LARGE = 4 << 20 };

static void (*on_refusal)(void);

void detect_on_refusal(void (*refused)(void))
{
	on_refusal = refused;
}

static void *had(void *p)
{
	if (!p && on_refusal)
		on_refusal();
	if (!p)
		abort();
	return p;
}

/* A log of some megabytes takes gigabytes: where the system gives large pages to who asks, a quarter of the time is saved.  What
 * malloc() maps is asked for as a whole, since realloc() can move no part of a mapping. */
static void *in_large_pages(void *p, size_t bytes)
{
	uintptr_t page, from;

	if (bytes < LARGE)
		return p;
	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	from = (uintptr_t)p / page * page;
	(void)madvise((void *)from, ((uintptr_t)p + bytes - from + page - 1) / page * page, MADV_HUGEPAGE);
	return p;
}

void *detect_memory(void *p, size_t bytes)
{
	return in_large_pages(had(realloc(p, bytes)), bytes);
}

void *detect_zeroed(size_t n, size_t size)
{
	return in_large_pages(had(calloc(n ? n : 1, size)), n * size);
}

static size_t in_chunk(size_t bytes)
{
	return (bytes + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
}

/* Makes room for so many bytes; `zeroed`: if they are of a new chunk, they are zero.  Are they? */
static bool make_room(struct arena *a, size_t bytes, bool zeroed)
{
	struct chunk *c = a->chunks;
	size_t room = bytes + in_chunk(sizeof *c) > CHUNK ? bytes + in_chunk(sizeof *c) : CHUNK;

	if (c && c->size - a->used >= bytes)
		return false;
	zeroed = zeroed && room >= LARGE;
	c = (struct chunk *)(zeroed ? detect_zeroed(1, room) : detect_memory(NULL, room));
	c->size = room;
	c->next = a->chunks;
	a->chunks = c;
	a->used = in_chunk(sizeof *c);
	return zeroed;
}

static void *take_room(struct arena *a, size_t bytes)
{
	char *p = (char *)a->chunks + a->used;

	a->used += bytes;
	return p;
}

void *arena_raw(struct arena *a, size_t n, size_t size)
{
	(void)make_room(a, in_chunk(n * size), false);
	return take_room(a, in_chunk(n * size));
}

void *arena_get(struct arena *a, size_t n, size_t size)
{
	const bool zeroed = make_room(a, in_chunk(n * size), true);
	void *p = take_room(a, in_chunk(n * size));

	return zeroed ? p : memset(p, 0, n * size);
}

void arena_reset(struct arena *a)
{
	while (a->chunks) {
		struct chunk *c = a->chunks;

		a->chunks = c->next;
		free(c);
	}
	a->used = 0;
}

void *list_more(struct list *l, uint32_t n, size_t size)
{
	char *p;

	if (l->cap - l->n < n) {
		l->cap = (l->n + n) * 2 < 16 ? 16 : (l->n + n) * 2;
		l->v = detect_memory(l->v, l->cap * size);
	}
	p = (char *)l->v + l->n * size;
	memset(p, 0, n * size);
	l->n += n;
	return p;
}

void list_free(struct list *l)
{
	free(l->v);
	l->v = NULL;
	l->n = l->cap = 0;
}

/* ---- an index: open addressing, at most half full ----------------------------------------------- */

static struct entry *entry_of(const struct index *t, uint64_t a, uint64_t b)
{
	uint64_t h = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xc2b2ae3d27d4eb4f);
	uint32_t mask = t->entry.n - 1, i = (uint32_t)(h ^ h >> 32) & mask;

	while (t->entry.v[i].value && (t->entry.v[i].a != a || t->entry.v[i].b != b))
		i = (i + 1) & mask;
	return &t->entry.v[i];
}

uint32_t index_get(const struct index *t, uint64_t a, uint64_t b)
{
	return t->entry.n ? entry_of(t, a, b)->value : 0;
}

void index_set(struct index *t, uint64_t a, uint64_t b, uint32_t value)
{
	struct index bigger;

	if (t->used * 2 >= t->entry.n) {
		memset(&bigger, 0, sizeof bigger);
		ADD_MANY(&bigger.entry, t->entry.n ? t->entry.n * 2 : 256);
		bigger.used = t->used;
		for (uint32_t i = 0; i < t->entry.n; i++)
			if (t->entry.v[i].value)
				*entry_of(&bigger, t->entry.v[i].a, t->entry.v[i].b) = t->entry.v[i];
		list_free(&t->entry.list);
		*t = bigger;
	}
	*entry_of(t, a, b) = (struct entry){a, b, value};
	t->used++;
}

/* ---- order --------------------------------------------------------------------------------- */

struct sorting new_sorting(struct arena *a, uint32_t n)
{
	struct sorting o = {a, (uint64_t *)arena_raw(a, n, sizeof(uint64_t)), (uint32_t *)arena_raw(a, n, sizeof(uint32_t)), n};

	for (uint32_t i = 0; i < n; i++)
		o.item[i] = i;
	return o;
}

enum { FEW = 32, DIGIT = 8, DIGITS = 1 << DIGIT };

static void insert_each(struct sorting *o)
{
	for (uint32_t i = 1; i < o->n; i++) {
		uint64_t key = o->key[i];
		uint32_t item = o->item[i], k = i;

		for (; k && o->key[k - 1] > key; k--) {
			o->key[k] = o->key[k - 1];
			o->item[k] = o->item[k - 1];
		}
		o->key[k] = key;
		o->item[k] = item;
	}
}

/* By one digit of the keys. */
static void sort_digit(const struct sorting *o, struct sorting *to, unsigned shift)
{
	uint32_t first[DIGITS + 1] = {0};

	for (uint32_t i = 0; i < o->n; i++)
		first[(o->key[i] >> shift) % DIGITS + 1]++;
	for (unsigned i = 0; i < DIGITS; i++)
		first[i + 1] += first[i];
	for (uint32_t i = 0; i < o->n; i++) {
		uint32_t at = first[(o->key[i] >> shift) % DIGITS]++;

		to->key[at] = o->key[i];
		to->item[at] = o->item[i];
	}
}

void sort(struct sorting *o)
{
	uint64_t differ = 0;
	struct sorting other;
	bool sorted = true;

	if (o->n <= FEW) {
		insert_each(o);
		return;
	}
	for (uint32_t i = 1; i < o->n; i++) {
		sorted &= o->key[i - 1] <= o->key[i];
		differ |= o->key[i - 1] ^ o->key[i];
	}
	if (sorted)
		return;
	other = new_sorting(o->arena, o->n);
	for (unsigned shift = 0; shift < 64; shift += DIGIT) {
		struct sorting was = *o;

		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		sort_digit(o, &other, shift);
		*o = other;
		other = was;
	}
}

void sort_list(struct arena *a, struct list *l, size_t size, uint64_t *key)
{
	struct sorting o = new_sorting(a, l->n);
	char *sorted = (char *)arena_raw(a, l->n, size);

	memcpy(o.key, key, l->n * sizeof *key);
	sort(&o);
	for (uint32_t i = 0; i < l->n; i++)
		memcpy(sorted + i * size, (char *)l->v + o.item[i] * size, size);
	if (l->n)
		memcpy(l->v, sorted, l->n * size);
}

struct rows rows_of(struct arena *a, const uint32_t *row, uint32_t n, uint32_t nrows)
{
	struct rows r = {(uint32_t *)arena_get(a, nrows + 2, sizeof(uint32_t)), (uint32_t *)arena_get(a, n, sizeof(uint32_t))};

	for (uint32_t i = 0; i < n; i++)
		r.first[row[i] + 2]++;
	for (uint32_t i = 0; i < nrows; i++)
		r.first[i + 2] += r.first[i + 1];
	for (uint32_t i = 0; i < n; i++)
		r.item[r.first[row[i] + 1]++] = i;
	return r;
}
