/* SPDX-License-Identifier: Apache-2.0
 *
 * made.c: where the program made its memory and freed it, and what of it was freed and not used again: an access there is
 * one too late (memory-model.md 1.14).
 */
#include <string.h>

#include "rt/order.h"
#include "rt/spans.h"

/* ---- places of calls, each kept once ------------------------------------------------------------------------ */

enum { BUCKETS = 256 };

struct made { struct rt_made made; struct made *next; const char *call; struct rt_stack stack; };

static pthread_mutex_t made_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(made_lock, RT_LOCK_WHOLE);
static struct made *bucket[BUCKETS];

static void fill(const struct rt_made *m, struct rt_place *p)
{
	const struct made *x = (const struct made *)m;

	rt_met_call(p, x->call, &x->stack);
}

static bool same(const struct rt_stack *a, const struct rt_stack *b)
{
	return a->hash == b->hash && a->n == b->n && a->file == b->file && a->line == b->line && !memcmp(a->frame, b->frame, a->n * sizeof *a->frame);
}

const struct rt_made *rt_made_here(const char *call)
{
	const struct rt_stack *s;
	struct made *x, **at;

	if (!rt_flags.bounds || !rt_flags.report_bugs || rt_is_off() || rt_short())
		return NULL;
	s = rt_stack_here();
	pthread_mutex_lock(&made_lock);
	at = &bucket[(s->hash >> 32) % BUCKETS];
	for (x = *at; x && (strcmp(x->call, call) || !same(&x->stack, s)); x = x->next)
		;
	if (!x) {
		x = rt_alloc(sizeof *x);
		*x = (struct made){{fill}, *at, call, *s};
		*at = x;
	}
	pthread_mutex_unlock(&made_lock);
	return &x->made;
}

/* ---- what was freed -------------------------------------------------------------------------------------------- */

/* upto: number of the last launch that was issued before it was freed; known: of the last one that was known to be over when
 * the memory was used again, or may have been.  ordered: it was freed in the order of a stream, at that place. */
struct freed { struct rt_block block; uint32_t upto, known; bool ordered; struct detect_when place; };

/* Those that were freed last; with rt_lock. */
static struct rt_spans spans;
static struct freed freed[RT_SPANS];

void rt_freed_add(const struct rt_block *was, const char *call, const struct detect_when *when)
{
	const struct rt_made *made;
	uint32_t upto;
	struct freed *f;

	if (was->kind != RT_MEM_DEVICE || !rt_flags.bounds || rt_short())
		return;
	made = rt_made_here(call);
	upto = rt_judge_last();
	pthread_mutex_lock(&rt_lock);
	f = &freed[rt_span_add(&spans, was->addr, was->bytes)];
	f->block = *was;
	f->block.kind = RT_MEM_FREED;
	f->block.freed = made;
	f->upto = upto;
	f->known = UINT32_MAX;
	f->ordered = when;
	if (when)
		f->place = *when;
	pthread_mutex_unlock(&rt_lock);
}

/* Is there no launch any more, judged or not, that could be too late? */
static bool is_over(const struct freed *f, uint32_t judged)
{
	return f->known <= judged || f->known <= f->upto;
}

void rt_freed_reused(uint64_t address, uint64_t bytes)
{
	const uint32_t known = rt_judge_known_over(), judged = rt_judge_done();
	unsigned at = 0, i;

	pthread_mutex_lock(&rt_lock);
	/* What such a launch does there may be later than the new use, of which the host may have told it. */
	while ((i = rt_span_overlap(&spans, address, bytes, &at)) != RT_NO_SPAN) {
		freed[i].known = known < freed[i].known ? known : freed[i].known;
		if (is_over(&freed[i], judged)) {
			rt_span_remove(&spans, i);
			at--;
		}
	}
	pthread_mutex_unlock(&rt_lock);
}

void rt_freed_unseen(void)
{
	rt_freed_reused(0, UINT64_MAX);
}

void rt_freed_forget(void)
{
	pthread_mutex_lock(&rt_lock);
	while (spans.n)
		rt_span_remove(&spans, spans.by_address[spans.n - 1]);
	pthread_mutex_unlock(&rt_lock);
}

/* Was it there no more when the launch was issued, whatever ran when?  In another stream, without an order, it is a race. */
static bool was_gone(const struct freed *f, const struct rt_launch *l)
{
	const struct detect_when *when = &f->place;

	if (f->upto >= l->number || f->known < l->number)
		return false;
	return !f->ordered || (l->deed && !when->open && !l->deed->d.when.open && detect_before(when, &l->deed->d.when));
}

/* Of those at one place the one that was freed last is added last. */
bool rt_freed_at(const struct rt_launch *l, struct rt_blocks *to)
{
	const uint32_t judged = rt_judge_done();
	bool any = false;

	for (unsigned k = spans.n; k-- > 0;) {
		const unsigned i = spans.by_address[k];

		if (is_over(&freed[i], judged)) {
			rt_span_remove(&spans, i);
			continue;
		}
		if (!was_gone(&freed[i], l))
			continue;
		if (to)
			rt_block_add(to, &freed[i].block);
		any = true;
	}
	return any;
}
