/* SPDX-License-Identifier: Apache-2.0
 *
 * made.c: where the program made its memory and freed it, and what of it was freed and not used again: an access there is
 * one too late (memory-model.md 1.14).
 */
#include <string.h>

#include "rt/order.h"

/* ---- places of calls, each kept once ------------------------------------------------------------------------ */

enum { BUCKETS = 256 };

struct made { struct rt_made made; struct made *next; const char *call; struct rt_stack stack; };

static pthread_mutex_t made_lock = PTHREAD_MUTEX_INITIALIZER;
static struct made *bucket[BUCKETS];

static void fill(const struct rt_made *m, struct rt_place *p)
{
	const struct made *x = (const struct made *)m;

	rt_met_call(p, x->call, &x->stack);
}

static uint32_t hash_of(const struct rt_stack *s)
{
	uint64_t h = s->line;

	for (unsigned i = 0; i < s->n; i++)
		h = (h ^ (uintptr_t)s->frame[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32) % BUCKETS;
}

static bool same(const struct rt_stack *a, const struct rt_stack *b)
{
	return a->n == b->n && a->file == b->file && a->line == b->line && !memcmp(a->frame, b->frame, a->n * sizeof *a->frame);
}

const struct rt_made *rt_made_here(const char *call)
{
	struct rt_stack s;
	struct made *x, **at;

	if (!rt_flags.bounds || !rt_flags.report_bugs || rt_is_off() || rt_short())
		return NULL;
	rt_stack_take(&s);
	pthread_mutex_lock(&made_lock);
	at = &bucket[hash_of(&s)];
	for (x = *at; x && (strcmp(x->call, call) || !same(&x->stack, &s)); x = x->next)
		;
	if (!x) {
		x = rt_alloc(sizeof *x);
		*x = (struct made){{fill}, *at, call, s};
		*at = x;
	}
	pthread_mutex_unlock(&made_lock);
	return &x->made;
}

/* ---- what was freed -------------------------------------------------------------------------------------------- */

enum { FREED = 1024 };                  /* so many of those that were freed last are kept at least */

/* upto: number of the last launch that was issued before it was freed; known: of the last one that was known to be over when
 * the memory was used again, or may have been.  ordered: it was freed in the order of a stream, at that place. */
struct freed { struct rt_block block; uint32_t upto, known; bool ordered; };

/* With rt_lock; the last one is the one that was freed last.  Their places in the order are apart, since each allocation looks at
 * all blocks. */
static struct freed freed[2 * FREED];
static struct detect_when places[2 * FREED];
static size_t nfreed;

static void move(size_t to, size_t from)
{
	if (to == from)
		return;
	freed[to] = freed[from];
	if (freed[from].ordered)
		places[to] = places[from];
}

void rt_freed_add(const struct rt_block *was, const char *call, const struct detect_when *when)
{
	struct freed f = {.block = *was, .upto = rt_judge_last(), .known = UINT32_MAX, .ordered = when};

	if (was->kind != RT_MEM_DEVICE || !rt_flags.bounds || rt_short())
		return;
	f.block.kind = RT_MEM_FREED;
	f.block.freed = rt_made_here(call);
	pthread_mutex_lock(&rt_lock);
	if (nfreed == 2 * FREED)
		for (nfreed = 0; nfreed < FREED; nfreed++)
			move(nfreed, nfreed + FREED);
	if (when)
		places[nfreed] = *when;
	freed[nfreed++] = f;
	pthread_mutex_unlock(&rt_lock);
}

/* Of what is judged there is no need to know; with rt_lock. */
static void drop_known(uint32_t judged)
{
	size_t n = 0;

	for (size_t i = 0; i < nfreed; i++)
		if (freed[i].known > judged)
			move(n++, i);
	nfreed = n;
}

void rt_freed_reused(uint64_t address, uint64_t bytes)
{
	const uint32_t known = rt_judge_known_over(), judged = rt_judge_done();

	pthread_mutex_lock(&rt_lock);
	/* What such a launch does there may be later than the new use, of which the host may have told it. */
	for (size_t i = 0; i < nfreed; i++) {
		struct freed *f = &freed[i];

		if (f->block.addr - address >= bytes && address - f->block.addr >= f->block.bytes)
			continue;
		f->known = known < f->known ? known : f->known;
	}
	drop_known(judged);
	pthread_mutex_unlock(&rt_lock);
}

void rt_freed_unseen(void)
{
	rt_freed_reused(0, UINT64_MAX);
}

void rt_freed_forget(void)
{
	pthread_mutex_lock(&rt_lock);
	nfreed = 0;
	pthread_mutex_unlock(&rt_lock);
}

/* Was it there no more when the launch was issued, whatever ran when?  In another stream, without an order, it is a race. */
static bool was_gone(size_t i, const struct rt_launch *l)
{
	const struct freed *f = &freed[i];
	const struct detect_when *when = &places[i];

	if (f->upto >= l->number || f->known < l->number)
		return false;
	return !f->ordered || (l->deed && !when->open && !l->deed->d.when.open && detect_before(when, &l->deed->d.when));
}

bool rt_freed_at(const struct rt_launch *l, struct rt_blocks *to)
{
	bool any = false;

	for (size_t i = 0; i < nfreed; i++) {
		if (!was_gone(i, l))
			continue;
		if (to)
			rt_block_add(to, &freed[i].block);
		any = true;
	}
	return any;
}
