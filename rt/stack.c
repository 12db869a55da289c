/* SPDX-License-Identifier: Apache-2.0
 *
 * stack.c: where in the program the host is: the places that its functions return to.
 *
 * To unwind a stack takes microseconds, and most calls come from where an earlier one came from.  So what was found is kept, with
 * all that it was found by: the unwinder goes by the place in the code, the stack pointer and the frame pointer (System V ABI
 * for x86-64; DWARF 5, 6.4), and reads from the stack where a function returns to, what its caller's frame pointer was and,
 * where a function aligns its stack, where its frame ends.  If these words are what they were, frame for frame from the
 * innermost on, then all that follows is what it was.
 */
#include <dlfcn.h>
#include <string.h>
#include <unwind.h>

#include "rt/order.h"

static _Thread_local struct { const char *file; unsigned line; } script;

__attribute__((visibility("default"))) void gsan_at(const char *file, unsigned line)
{
	if (rt_other()) {
		rt_other()->at(file, line);
		return;
	}
	script.file = file;
	script.line = line;
}

/* ---- unwinding ------------------------------------------------------------------------------------------------- */

/* The unwinder of the process, as backtrace() has it. */
static struct {
	__typeof__(&_Unwind_Backtrace) walk;
	__typeof__(&_Unwind_GetIPInfo) place;
	__typeof__(&_Unwind_GetCFA) stack;
	__typeof__(&_Unwind_GetGR) reg;
} unwind;
static pthread_once_t looked_up = PTHREAD_ONCE_INIT;

#define FIND(to, name) (found = dlsym(lib, name), memcpy(&(to), &found, sizeof found))

static void look_up(void)
{
	void *lib = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL), *found;

	if (!lib)
		return;
	FIND(unwind.place, "_Unwind_GetIPInfo");
	FIND(unwind.stack, "_Unwind_GetCFA");
	FIND(unwind.reg, "_Unwind_GetGR");
	if (unwind.place && unwind.stack && unwind.reg)
		FIND(unwind.walk, "_Unwind_Backtrace");
}

/* pc: where it goes on; signal: it was interrupted there; sp, bp: what its registers are then. */
struct frame { uintptr_t pc, sp, bp; bool signal; };
struct walk { struct frame *frame; unsigned n, most; };

enum { FRAME_POINTER = 6 };             /* DWARF's number of x86-64's */

static _Unwind_Reason_Code visit(struct _Unwind_Context *c, void *arg)
{
	struct walk *w = arg;
	struct frame *f = &w->frame[w->n];
	int before = 0;

	if (w->n == w->most)
		return _URC_END_OF_STACK;
	f->pc = unwind.place(c, &before);
	f->signal = before;
	f->sp = unwind.stack(c);
#if defined __x86_64__
	f->bp = unwind.reg(c, FRAME_POINTER);
#else
	f->bp = 0;
#endif
	/* As in backtrace(): one that makes no progress, and the end of a thread's. */
	if (!f->pc || (w->n && f->pc == f[-1].pc && f->sp == f[-1].sp))
		return _URC_END_OF_STACK;
	w->n++;
	return _URC_NO_REASON;
}

static unsigned walk(struct frame *frame, unsigned most)
{
	struct walk w = {.frame = frame, .most = most};

	pthread_once(&looked_up, look_up);
	if (unwind.walk)
		unwind.walk(visit, &w);
	return w.n;
}

unsigned rt_stack_walk(const void **pc, unsigned most)
{
	struct frame frame[RT_STACK_DEEP];
	const unsigned n = walk(frame, most < RT_STACK_DEEP ? most : RT_STACK_DEEP);

	for (unsigned i = 0; i < n; i++)
		pc[i] = (const void *)frame[i].pc;
	return n;
}

/* ---- stacks that were seen ----------------------------------------------------------------------------------------- */

enum { SETS = 128, WAYS = 2, WORDS = 64, FRAME_WORDS = 16384 /* of a frame that is looked through */ };

/* What the stack was found by: its words, in the order of frames, and the frame pointer, if it counts. */
struct seen {
	uintptr_t pc, sp, bp;
	bool counts;
	unsigned n, nwords;
	void *frame[RT_STACK];
	uint64_t hash;
	struct { const uintptr_t *at; uintptr_t value; } word[WORDS];
};

static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(seen_lock, RT_LOCK_WHOLE);
static struct seen seen[SETS][WAYS];            /* n 0: none; with seen_lock */
static unsigned turn[SETS];

static unsigned set_of(uintptr_t pc, uintptr_t sp)
{
	return (unsigned)((pc ^ sp << 7) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SETS;
}

/* Frames of others have places between that a sanitizer lets nobody read. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

/* In a thread that has ended the stack may have gone on further than here, but not while all is alike. */
UNCHECKED static bool is_same(const struct seen *x, uintptr_t pc, uintptr_t sp, uintptr_t bp)
{
	if (!x->n || x->pc != pc || x->sp != sp || (x->counts && x->bp != bp))
		return false;
	for (unsigned i = 0; i < x->nwords; i++)
		if (*x->word[i].at != x->word[i].value)
			return false;
	return true;
}

static bool note(struct seen *x, const uintptr_t *at, uintptr_t value)
{
	if (x->nwords == WORDS)
		return false;
	x->word[x->nwords].at = at;
	x->word[x->nwords++].value = value;
	return true;
}

/* A frame pointer that points past the stack pointer, and not past the last frame. */
static bool points_to_frame(const struct frame *f, const struct frame *end)
{
	return f->bp >= f->sp && f->bp <= end->sp;
}

/* Of a frame: each word from which its caller's registers may have been read, and where it returns to. */
UNCHECKED static bool note_frame(struct seen *x, const struct frame *f, const struct frame *end)
{
	const uintptr_t *from = (const uintptr_t *)f->sp, *back = (const uintptr_t *)f[1].sp - 1;
	const bool bp = points_to_frame(&f[1], end);

	if (f->signal || f->sp % sizeof *from || f[1].sp % sizeof *from || back < from || *back != f[1].pc || back - from > FRAME_WORDS)
		return false;
	for (const uintptr_t *at = from; at < back; at++)
		if ((*at == f[1].sp || (bp && *at == f[1].bp)) && !note(x, at, *at))
			return false;
	return note(x, back, *back);
}

/* How the frames were found; false: it cannot be kept. */
static bool make_seen(struct seen *x, const struct frame *f, unsigned n)
{
	*x = (struct seen){.pc = f->pc, .sp = f->sp, .bp = f->bp, .counts = points_to_frame(f, &f[n - 1])};
	for (unsigned i = 0; i + 1 < n; i++)
		if (!note_frame(x, &f[i], &f[n - 1]))
			return false;
	return true;
}

static bool look_at_seen(struct rt_stack *s, uintptr_t pc, uintptr_t sp, uintptr_t bp)
{
	struct seen *set = seen[set_of(pc, sp)];

	pthread_mutex_lock(&seen_lock);
	for (unsigned i = 0; i < WAYS && !s->n; i++)
		if (is_same(&set[i], pc, sp, bp)) {
			memcpy(s->frame, set[i].frame, set[i].n * sizeof *s->frame);
			s->n = set[i].n;
			s->hash = set[i].hash;
		}
	pthread_mutex_unlock(&seen_lock);
	return s->n;
}

static void keep(const struct seen *x)
{
	const unsigned set = set_of(x->pc, x->sp);

	pthread_mutex_lock(&seen_lock);
	seen[set][turn[set]++ % WAYS] = *x;
	pthread_mutex_unlock(&seen_lock);
}

/* ---- from outside ----------------------------------------------------------------------------------------------------- */

enum { OURS = 16 };                     /* frames of our own below those of the program */

/* From the first frame that goes on there: pc, and sp unless that is 0; the number of the others before it. */
static unsigned skip(const struct frame *f, unsigned n, uintptr_t pc, uintptr_t sp)
{
	unsigned from = 0;

	while (from < n && (f[from].pc != pc || (sp && f[from].sp != sp)))
		from++;
	return from < n ? from : 0;
}

static void fill(struct rt_stack *s, const struct frame *f, unsigned n)
{
	s->hash = s->line + 1;
	for (s->n = 0; s->n < n && s->n < RT_STACK; s->n++) {
		s->frame[s->n] = (void *)f[s->n].pc;
		s->hash = (s->hash ^ f[s->n].pc) * UINT64_C(0x9e3779b97f4a7c15);
	}
}

void rt_stack_from(struct rt_stack *s, const void *pc)
{
	struct frame frame[RT_STACK + OURS];
	const unsigned n = script.file ? 0 : walk(frame, RT_STACK + OURS), from = skip(frame, n, (uintptr_t)pc, 0);

	*s = (struct rt_stack){.file = script.file, .line = script.line};
	fill(s, frame + from, n - from);
}

/* The stack of a call that a hook is in.  The hook has a frame of the usual form: its caller's frame pointer, and above it
 * where it returns to. */
static void take_call(struct rt_stack *s)
{
	const uintptr_t *hook = rt_call.frame, pc = (uintptr_t)rt_call.from, sp = (uintptr_t)(hook + 2), bp = *hook;
	struct frame frame[RT_STACK + OURS], *at;
	unsigned n, from;
	struct seen x;

	*s = (struct rt_stack){.n = 0};
	if (look_at_seen(s, pc, sp, bp))
		return;
	n = walk(frame, RT_STACK + OURS);
	from = skip(frame, n, pc, sp);
	at = frame + from;
	fill(s, at, n - from);
	if (!s->n || at->pc != pc || at->sp != sp || at->bp != bp || !make_seen(&x, at, s->n))
		return;
	x.n = s->n;
	x.hash = s->hash;
	memcpy(x.frame, s->frame, sizeof x.frame);
	keep(&x);
}

const struct rt_stack *rt_stack_here(void)
{
	static _Thread_local struct rt_stack s;
#if defined __x86_64__
	const bool in_hook = rt_call.frame;
#else
	const bool in_hook = false;
#endif

	if (rt_call.has_stack)
		return &s;
	if (script.file || !in_hook)
		rt_stack_from(&s, rt_call.from);
	else
		take_call(&s);
	s.called = true;
	rt_call.has_stack = rt_call.live;
	return &s;
}
