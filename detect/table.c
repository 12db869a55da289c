/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c: memory that is only bumped, lists that only become longer, and order.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/impl.h"

/* ---- memory ---------------------------------------------------------------------------- */

struct chunk { struct chunk *next; size_t size; };
enum { CHUNK = 1 << 20, ALIGN = 16 };

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

void *detect_memory(void *p, size_t bytes)
{
	return had(realloc(p, bytes));
}

void *detect_zeroed(size_t n, size_t size)
{
	return had(calloc(n ? n : 1, size));
}

void *arena_raw(struct arena *a, size_t n, size_t size)
{
	size_t bytes = (n * size + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
	struct chunk *c = a->chunks;
	char *p;

	if (!c || c->size - a->used < bytes) {
		size_t room = bytes + sizeof *c + ALIGN > CHUNK ? bytes + sizeof *c + ALIGN : CHUNK;

		c = (struct chunk *)detect_memory(NULL, room);
		c->size = room;
		c->next = a->chunks;
		a->chunks = c;
		a->used = (sizeof *c + ALIGN - 1) / ALIGN * ALIGN;
	}
	p = (char *)c + a->used;
	a->used += bytes;
	return p;
}

void *arena_get(struct arena *a, size_t n, size_t size)
{
	return memset(arena_raw(a, n, size), 0, n * size);
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
	struct sorting o = {a, (uint64_t *)arena_get(a, n, sizeof(uint64_t)), (uint32_t *)arena_get(a, n, sizeof(uint32_t)), n};

	for (uint32_t i = 0; i < n; i++)
		o.item[i] = i;
	return o;
}

static void merge(const struct sorting *o, struct sorting *to, uint32_t from, uint32_t half)
{
	uint32_t mid = from + half < o->n ? from + half : o->n, end = mid + half < o->n ? mid + half : o->n;

	for (uint32_t i = from, a = from, b = mid; i < end; i++) {
		uint32_t x = b == end || (a < mid && o->key[a] <= o->key[b]) ? a++ : b++;

		to->key[i] = o->key[x];
		to->item[i] = o->item[x];
	}
}

void sort(struct sorting *o)
{
	struct sorting other = new_sorting(o->arena, o->n);

	for (uint32_t half = 1; half < o->n; half *= 2) {
		struct sorting was = *o;

		for (uint32_t i = 0; i < o->n; i += 2 * half)
			merge(o, &other, i, half);
		*o = other;
		other = was;
	}
}

void sort_list(struct arena *a, struct list *l, size_t size, uint64_t *key)
{
	struct sorting o = new_sorting(a, l->n);
	char *sorted = (char *)arena_get(a, l->n, size);

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
