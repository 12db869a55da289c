/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c: how the detector's work grows with the log, for what programs do at length.  Each pattern is judged at some
 * size and at twice that: the work may not grow to more than MOST per cent.
 *
 * Work is basic blocks of the detector that are executed, which is the same on every machine: its sources are compiled
 * for this test with -fsanitize=coverage=trace-pc.
 *
 *   work                  the test
 *   work PATTERN SIZE     one log, and what it took
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "detect/detect.h"
#include "testsuite/detect/ev.h"

enum { MOST = 260 };

static uint64_t work;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	work++;
}

/* ---- text ---------------------------------------------------------------------------------- */

struct text { char *s; size_t n, room; };

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	if (t->room - t->n < 1024) {
		t->room = t->room * 2 + 65536;
		t->s = realloc(t->s, t->room);
		if (!t->s)
			abort();
	}
	va_start(ap, fmt);
	t->n += (size_t)vsnprintf(t->s + t->n, t->room - t->n, fmt, ap);
	va_end(ap);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static uint64_t chance;

static unsigned below(unsigned n)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)((chance >> 33) % n);
}

enum { WARPS = 8, ROUNDS = 4, WAY = 250, EACH = 3, AGAIN = 100, FENCE = 450 };

/* A multiprocessor's atomic on its way to the lock. */
struct request { unsigned warp; uint64_t sent; };
struct lock {
	struct text *t;
	struct request *ring;           /* compare-and-swaps, in the order in which they come: */
	unsigned n, head, room;         /* so many, from that one on, of so many */
	uint64_t now, *since, *last;    /* by warp: when its polls began; end of the last of them; 0 */
	unsigned *rounds;               /* that it has still to go */
};

static void add_poll(struct lock *k, unsigned w, uint64_t from, uint64_t to, unsigned read, unsigned written)
{
	add(k->t, "%u.%u:0 atom.relaxed.gpu g:0x100 size=4 read=%u written=%u line=%u @%llu..%llu\n", w / WARPS, w % WARPS, read, written,
	    written ? 2u : 3u, (unsigned long long)from / 32 * 32, (unsigned long long)to / 32 * 32);
}

/* The warp has the lock from now on: until when? */
static uint64_t hold(struct lock *k, const struct request *r)
{
	unsigned b = r->warp / WARPS, w = r->warp % WARPS;
	uint64_t at = k->now + WAY;

	if (k->last[r->warp])
		add_poll(k, r->warp, k->since[r->warp], k->last[r->warp], 1, 1);
	add_poll(k, r->warp, r->sent, at, 0, 1);
	add(k->t, "%u.%u:0 fence.sc.gpu line=4 @%llu\n", b, w, (unsigned long long)(at + 64));
	at += 64 + FENCE;
	add(k->t, "%u.%u:0 ld g:0x200 size=4 line=5 @%llu\n", b, w, (unsigned long long)at);
	add(k->t, "%u.%u:0 st g:0x200 size=4 line=6 @%llu\n", b, w, (unsigned long long)at);
	add(k->t, "%u.%u:0 fence.sc.gpu line=7 @%llu\n", b, w, (unsigned long long)at);
	return at + FENCE;
}

/* The lock's memory takes one after the other.  What an H200 logs of that: who waits logs its polls as one, which
 * lasts until the lock is free.  The timer goes in steps of 32. */
static void serve(struct lock *k)
{
	uint64_t frees = 0;             /* when the exchange of who has the lock is sent */
	unsigned holder = 0;
	bool held = false;

	while (k->n || held) {
		struct request *r = &k->ring[k->head];

		if (held && (!k->n || r->sent >= frees)) {
			k->now = k->now > frees + WAY ? k->now : frees + WAY;
			add_poll(k, holder, frees, k->now + WAY, 1, 0);
			k->last[holder] = 0;
			if (--k->rounds[holder])
				k->ring[(k->head + k->n++) % k->room] = (struct request){holder, k->now + WAY + AGAIN};
			k->since[holder] = k->now + WAY + AGAIN;
			held = false;
			continue;
		}
		k->now = (k->now > r->sent + WAY ? k->now : r->sent + WAY) + EACH;
		k->head = (k->head + 1) % k->room;
		k->n--;
		if (!held) {
			frees = hold(k, r);
			holder = r->warp;
			held = true;
			continue;
		}
		k->last[r->warp] = k->now + WAY;
		k->ring[(k->head + k->n++) % k->room] = (struct request){r->warp, k->now + WAY + AGAIN + below(64)};
	}
}

/* A spin lock that a lane of each warp takes four times. */
static void storm(struct text *t, unsigned blocks)
{
	unsigned n = blocks * WARPS;
	struct lock k = {.t = t, .room = n};

	k.ring = calloc(n, sizeof *k.ring);
	k.since = calloc(n, sizeof *k.since);
	k.last = calloc(n, sizeof *k.last);
	k.rounds = calloc(n, sizeof *k.rounds);
	if (!k.ring || !k.since || !k.last || !k.rounds)
		abort();
	add(t, "launch blocks=%u threads=%u\n", blocks, WARPS * 32);
	for (; k.n < n; k.n++) {
		k.ring[k.n] = (struct request){k.n, k.since[k.n] = 20000 + k.n};
		k.rounds[k.n] = ROUNDS;
	}
	serve(&k);
	free(k.ring);
	free(k.since);
	free(k.last);
	free(k.rounds);
}

/* Two warps that nothing orders store to the same 128 bytes. */
static void stores(struct text *t, unsigned times)
{
	add(t, "launch blocks=2\n");
	for (unsigned i = 0; i < times; i++) {
		add(t, "0.0 st g:0x100+4 size=4 line=2\n");
		add(t, "1.0 st g:0x100+4 size=4 line=2\n");
	}
}

/* Eight warps store, and meet. */
static void rounds(struct text *t, unsigned times)
{
	add(t, "launch threads=256\n");
	for (unsigned i = 0; i < times; i++) {
		for (unsigned w = 0; w < 8; w++)
			add(t, "0.%u st s:%u+4 size=4 line=2\n", w, (w + i) % 8 * 128);
		add(t, "0.* bar.arrive id=0 line=3\n0.* bar.wait id=0 line=4\n");
	}
}

/* ---- judging ------------------------------------------------------------------------------------ */

static const struct pattern { const char *name; void (*make)(struct text *, unsigned); unsigned size; size_t findings; } patterns[] = {
	{"storm", storm, 8, 0},
	{"stores", stores, 100, 1},
	{"rounds", rounds, 100, 0}
};

/* How many findings; NULL text: an error was printed. */
static size_t judge(const struct ev *t)
{
	struct event_sites sites = {t->site, NULL, NULL, t->nsites, 0};
	struct detect *d = detect_new();
	const struct detect_finding *f;
	size_t n;

	detect_sites(d, &sites);
	for (uint32_t i = 0; i < t->nhost && t->host[i].kind != EVENT_HOST_OVER; i++)
		detect_host(d, &t->host[i]);
	for (size_t at = 0; at < t->bytes; at += ((const struct event_piece *)(const void *)(t->log + at))->bytes)
		if (detect_feed(d, (const struct event_piece *)(const void *)(t->log + at), t->bytes - at))
			abort();
	detect_host(d, &t->host[t->nhost - 1]);
	detect_judge(d);
	n = detect_findings(d, &f);
	for (unsigned c = 0; getenv("WORK_COUNTERS") && c < DETECT_COUNTERS; c++)
		printf("# %llu %s\n", (unsigned long long)detect_count(d, (enum detect_counter)c), detect_counter_name((enum detect_counter)c));
	detect_free(d);
	return n;
}

static uint64_t work_of(const struct pattern *p, unsigned size, size_t *findings, double *seconds)
{
	struct text text = {0};
	struct ev t;
	char error[256];
	clock_t start;

	chance = 1;
	p->make(&text, size);
	if (!ev_read(&t, p->name, text.s, error, sizeof error)) {
		printf("Bail out! %s\n", error);
		exit(1);
	}
	work = 0;
	start = clock();
	*findings = judge(&t);
	*seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	ev_free(&t);
	free(text.s);
	return work;
}

int main(int argc, char **argv)
{
	unsigned n = sizeof patterns / sizeof *patterns, bad = 0;
	size_t findings[2];
	double seconds;

	if (argc < 3)
		printf("1..%u\n", n);
	for (unsigned i = 0; i < n; i++) {
		const struct pattern *p = &patterns[i];
		uint64_t once, twice;
		bool ok;

		if (argc == 3 && strcmp(argv[1], p->name))
			continue;
		once = work_of(p, argc == 3 ? (unsigned)atoi(argv[2]) : p->size, &findings[0], &seconds);
		if (argc == 3) {
			printf("%s %s: %zu findings, work %llu, %.3f s\n", p->name, argv[2], findings[0], (unsigned long long)once, seconds);
			continue;
		}
		twice = work_of(p, 2 * p->size, &findings[1], &seconds);
		ok = twice * 100 <= once * MOST && findings[0] == p->findings && findings[1] == p->findings;
		bad += !ok;
		printf("%sok %u - %s: work %llu, of twice the log %llu; %zu and %zu findings\n", ok ? "" : "not ", i + 1, p->name,
		       (unsigned long long)once, (unsigned long long)twice, findings[0], findings[1]);
	}
	return bad != 0;
}
