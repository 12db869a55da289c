/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c: how the detector's work grows with the log, for what programs do at length.  Each pattern is judged at some
 * size and at twice that: per byte of the log the work may become MOST per cent of what it was, and no more.
 *
 * Work is basic blocks of the detector that are executed, which no other load on the machine changes: the detector's
 * sources are compiled for this test with -fsanitize-coverage=trace-pc (configure.ac).
 *
 *   work.tap                  the test
 *   work.tap PATTERN SIZE     one log, and what it took
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "detect/detect.h"
#include "testsuite/detect/ev.h"

enum { MOST = 140 };

static uint64_t work;

/* The compiler calls it in each block. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	work++;
}

/* ---- text ---------------------------------------------------------------------------------- */

struct text { char *s; size_t n, room; };

static void *memory(void *p, size_t bytes)
{
	p = realloc(p, bytes);
	if (!p)
		abort();
	return p;
}

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
	enum { LINE = 1024 };
	va_list ap;

	if (t->room - t->n < LINE) {
		t->room = t->room * 2 + 64 * LINE;
		t->s = memory(t->s, t->room);
	}
	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->s + t->n, LINE, fmt, ap);
	va_end(ap);
}

/* ---- a spin lock ------------------------------------------------------------------------------ */

static uint64_t chance;

static unsigned below(unsigned n)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)((chance >> 33) % n);
}

/* Of an H200, in nanoseconds: how far the memory is; what it takes for an atomic; what a warp does between two; a fence;
 * the timer's steps. */
enum { WAY = 250, EACH = 3, AGAIN = 100, FENCE = 450, TICK = 32 };
/* Lines of the text that say what an instruction is; others are by the same. */
enum { AT_SWAP = 2, AT_FREE, AT_FENCE, AT_LOAD, AT_STORE, AT_BEHIND };
enum { WARPS = 8 };                     /* of a block */

struct request { unsigned warp; uint64_t sent; };
struct lock {
	struct text *t;
	struct request *ring;           /* compare-and-swaps, in the order in which they come: */
	unsigned n, head, room;         /* so many, from that one on, of so many */
	unsigned *left;                 /* by warp: rounds; */
	uint64_t now, *since, *last;    /* polls that are not logged yet: from then to then; 0: there are none */
	unsigned logged;                /* of so many polls one is logged by itself; 0: those of a wait are one, as probes have it */
};

static void swap(struct lock *k, unsigned w, uint64_t from, uint64_t to, unsigned read, unsigned written)
{
	add(k->t, "%u.%u:0 atom.relaxed.gpu g:0x100 size=4 read=%u written=%u line=%d @%llu..%llu\n", w / WARPS, w % WARPS, read, written,
	    written ? AT_SWAP : AT_FREE, (unsigned long long)from / TICK * TICK, (unsigned long long)to / TICK * TICK);
}

static void poll(struct lock *k, unsigned w)
{
	if (k->last[w])
		swap(k, w, k->since[w], k->last[w], 1, 1);
	k->since[w] = k->last[w];
	k->last[w] = 0;
}

static void enter(struct lock *k, unsigned w, uint64_t at)
{
	if (!--k->left[w])
		return;
	k->since[w] = at;
	k->ring[(k->head + k->n++) % k->room] = (struct request){w, at};
}

/* It has the lock from now on: until when? */
static uint64_t hold(struct lock *k, const struct request *r)
{
	unsigned b = r->warp / WARPS, w = r->warp % WARPS;
	unsigned long long at = k->now + WAY;

	poll(k, r->warp);
	swap(k, r->warp, r->sent, at, 0, 1);
	at += TICK;
	add(k->t, "%u.%u:0 fence.sc.gpu line=%d @%llu\n", b, w, AT_FENCE, at);
	at += FENCE;
	add(k->t, "%u.%u:0 ld g:0x200 size=4 line=%d @%llu\n", b, w, AT_LOAD, at);
	add(k->t, "%u.%u:0 st g:0x200 size=4 line=%d @%llu\n", b, w, AT_STORE, at);
	add(k->t, "%u.%u:0 fence.sc.gpu line=%d @%llu\n", b, w, AT_BEHIND, at);
	return at + FENCE;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The lock's memory takes one after the other. */
static void serve(struct lock *k)
{
	uint64_t frees = 0;             /* when the exchange of who has the lock is sent */
	unsigned holder = 0;
	bool held = false;

	while (k->n || held) {
		struct request r = k->ring[k->head];

		if (held && (!k->n || r.sent >= frees)) {
			k->now = later(k->now, frees + WAY);
			swap(k, holder, frees, k->now + WAY, 1, 0);
			enter(k, holder, k->now + WAY + AGAIN);
			held = false;
			continue;
		}
		k->now = later(k->now, r.sent + WAY) + EACH;
		k->head = (k->head + 1) % k->room;
		k->n--;
		if (!held) {
			frees = hold(k, &r);
			holder = r.warp;
			held = true;
			continue;
		}
		k->last[r.warp] = k->now + WAY;
		if (k->logged && !below(k->logged))
			poll(k, r.warp);
		k->ring[(k->head + k->n++) % k->room] = (struct request){r.warp, k->now + WAY + AGAIN + below(2 * TICK)};
	}
}

static void contend(struct text *t, unsigned blocks, unsigned rounds, unsigned logged)
{
	unsigned n = blocks * WARPS;
	struct lock k = {.t = t, .room = n, .logged = logged};

	k.ring = memory(NULL, n * sizeof *k.ring);
	k.since = memory(NULL, n * sizeof *k.since);
	k.last = memory(NULL, n * sizeof *k.last);
	k.left = memory(NULL, n * sizeof *k.left);
	add(t, "launch blocks=%u threads=%u\n", blocks, WARPS * 32);
	for (unsigned w = 0; w < n; w++) {
		k.last[w] = 0;
		k.left[w] = rounds + 1;
		enter(&k, w, 20000 + w);
	}
	serve(&k);
	free(k.ring);
	free(k.since);
	free(k.last);
	free(k.left);
}

/* A lane of each warp takes the lock four times. */
static void storm(struct text *t, unsigned blocks)
{
	contend(t, blocks, 4, 0);
}

static void longer(struct text *t, unsigned rounds)
{
	contend(t, 4, rounds, 0);
}

static void polls(struct text *t, unsigned rounds)
{
	contend(t, 4, rounds, 5);
}

/* ---- other patterns ------------------------------------------------------------------------------- */

/* Two warps that nothing orders store to the same 128 bytes. */
static void stores(struct text *t, unsigned times)
{
	add(t, "launch blocks=2\n");
	for (unsigned i = 0; i < times; i++)
		add(t, "*.0 st g:0x100+4 size=4 line=2\n");
}

static void strong_stores(struct text *t, unsigned times)
{
	add(t, "launch blocks=2\n");
	for (unsigned i = 0; i < times; i++)
		add(t, "*.0 st.relaxed.gpu g:0x100+4 size=4 line=2\n");
}

/* Eight warps store, each where another did before, and meet. */
static void rounds(struct text *t, unsigned times)
{
	add(t, "launch threads=256\n");
	for (unsigned i = 0; i < times; i++) {
		for (unsigned w = 0; w < 8; w++)
			add(t, "0.%u st s:%u+4 size=4 line=2\n", w, (w + i) % 8 * 128);
		add(t, "0.* bar.arrive id=0 line=10\n0.* bar.wait id=0 line=11\n");
	}
}

/* Blocks count arrivals, and look three times whether all are there. */
static void grid(struct text *t, unsigned times)
{
	enum { BLOCKS = 16, LOOKS = 3, TURN = 3000 };
	unsigned long long now = 1000;

	add(t, "launch blocks=%d\n", BLOCKS);
	for (unsigned i = 0; i < times; i++, now += TURN) {
		for (unsigned b = 0; b < BLOCKS; b++) {
			unsigned n = i * BLOCKS + b;

			add(t, "%u.0:0 st g:%u size=4 line=2 @%llu\n", b, 4096 + (b + i) % BLOCKS * 128, now + b * 7);
			add(t, "%u.0:0 fence.sc.gpu line=3 @%llu\n", b, now + b * 7 + 2);
			add(t, "%u.0:0 atom.relaxed.gpu g:0x100 size=4 read=%u written=%u line=4 @%llu..%llu\n", b, n, n + 1,
			    now + b * 7 + 5, now + b * 7 + 300);
		}
		for (unsigned k = 0; k < BLOCKS * LOOKS; k++) {
			unsigned long long at = now + k % BLOCKS * 7 + 400 + k / BLOCKS * WAY;

			add(t, "%u.0:0 ld.relaxed.gpu g:0x100 size=4 read=%u line=5 @%llu..%llu\n", k % BLOCKS,
			    (i + 1) * BLOCKS, at, at + WAY - 10);
		}
		for (unsigned b = 0; b < BLOCKS; b++)
			add(t, "%u.0:0 fence.sc.gpu line=6 @%llu\n", b, now + TURN - 100 + b);
	}
}

/* One warp tells how far it is, the other one looks, again and again, before it acquires all that. */
static void looks(struct text *t, unsigned times)
{
	add(t, "launch blocks=2\n");
	for (unsigned i = 0; i < times; i++) {
		add(t, "0.0:0 st g:%u size=4 line=2\n", 4096 + i * 4);
		add(t, "0.0:0 st.release.gpu g:0x100 size=4 written=%u line=3\n", i + 1);
		add(t, "1.0:0 ld.relaxed.gpu g:0x100 size=4 read=%u line=4\n", i + 1);
	}
	add(t, "1.0:0 fence.acq_rel.gpu\n1.0:0 ld g:4096 size=4\n");
}

/* ---- judging ------------------------------------------------------------------------------------ */

static const struct pattern { const char *name; void (*make)(struct text *, unsigned); unsigned size; size_t findings; } patterns[] = {
	{"storm", storm, 15, 0},
	{"longer", longer, 16, 0},
	{"polls", polls, 8, 0},
	{"stores", stores, 200, 1},
	{"strong-stores", strong_stores, 800, 0},
	{"rounds", rounds, 100, 0},
	{"grid", grid, 40, 0},
	{"looks", looks, 1000, 0}
};

struct measured { size_t bytes, findings; uint64_t work; double seconds; };

static size_t judge(const struct ev *t)
{
	struct event_sites sites = ev_sites(t);
	struct detect *d = detect_new();
	const struct detect_finding *f;
	size_t n;

	detect_sites(d, &sites);
	for (uint32_t i = 0; i + 1 < t->nhost; i++)
		detect_host(d, &t->host[i]);
	for (size_t at = 0; at < t->bytes;) {
		const struct event_piece *p = (const struct event_piece *)(const void *)(t->log + at);

		if (detect_feed(d, p, t->bytes - at))
			abort();
		at += p->bytes;
	}
	detect_host(d, &t->host[t->nhost - 1]);
	detect_judge(d);
	n = detect_findings(d, &f);
	detect_free(d);
	return n;
}

static struct measured measure(const struct pattern *p, unsigned size)
{
	struct text text = {0};
	struct measured m;
	struct ev t;
	char error[256];
	clock_t start;

	chance = 1;
	p->make(&text, size);
	if (!ev_read(&t, p->name, text.s, error, sizeof error)) {
		printf("Bail out! %s\n", error);
		exit(1);
	}
	m.bytes = t.bytes;
	work = 0;
	start = clock();
	m.findings = judge(&t);
	m.seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	m.work = work;
	ev_free(&t);
	free(text.s);
	return m;
}

static bool grows_well(unsigned number, const struct pattern *p)
{
	struct measured a = measure(p, p->size), b = measure(p, 2 * p->size);
	double per_byte = (double)b.work / (double)b.bytes / ((double)a.work / (double)a.bytes);
	bool ok = per_byte * 100 <= MOST && a.findings == p->findings && b.findings == p->findings;

	printf("%sok %u - %s\n", ok ? "" : "not ", number, p->name);
	printf("# %zu bytes: %llu, %zu bytes: %llu; %.2f times as much per byte; %zu and %zu findings\n", a.bytes,
	       (unsigned long long)a.work, b.bytes, (unsigned long long)b.work, per_byte, a.findings, b.findings);
	return ok;
}

int main(int argc, char **argv)
{
	unsigned n = sizeof patterns / sizeof *patterns, bad = 0;
	struct measured m;

	for (unsigned i = 0; argc == 3 && i < n; i++)
		if (!strcmp(argv[1], patterns[i].name)) {
			m = measure(&patterns[i], (unsigned)atoi(argv[2]));
			printf("%s %s: %zu bytes, %zu findings, work %llu, %.3f s\n", argv[1], argv[2], m.bytes, m.findings,
			       (unsigned long long)m.work, m.seconds);
			return 0;
		}
	measure(&patterns[3], 1);
	if (!work) {
		printf("1..0 # SKIP the compiler has no -fsanitize-coverage=trace-pc\n");
		return 0;
	}
	printf("1..%u\n", n);
	for (unsigned i = 0; i < n; i++)
		bad += !grows_well(i + 1, &patterns[i]);
	return bad != 0;
}
