/* SPDX-License-Identifier: Apache-2.0
 *
 * detect.c: fuzz target for the detector.  An input is a log as text (testsuite/detect/ev.c), and
 * behind a NUL changes of its bytes: three bytes each, of which two say where and one is put there.
 * Whatever happened, the detector comes to an end, and finds the same again, and by detect=reference.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/detect.h"
#include "testsuite/detect/ev.h"
#include "testsuite/fuzz/fuzz.h"

static const char *const folders[] = {
	"testsuite/detect/async", "testsuite/detect/barrier", "testsuite/detect/fence", "testsuite/detect/host", "testsuite/detect/mbarrier",
	"testsuite/detect/order", "testsuite/detect/pdl", "testsuite/detect/proxy", "testsuite/detect/tcgen05", "testsuite/detect/wgmma", "testsuite/detect/words",
	"testsuite/fuzz/corpus/ev", NULL
};
const struct fuzz_target fuzz_target = { "detect", ".ev", folders, 20000, false };

enum { TEXT = 4096, LOG = 1 << 16, SITES = 256, LANES = 1 << 9, EXTENT = 4096 };

enum way { WHOLE, REFERENCE, PORTIONS };

static void change(struct ev *t, const uint8_t *by, size_t n)
{
	for (size_t i = 0; i + 3 <= n && t->bytes; i += 3)
		t->log[(by[i] | (size_t)by[i + 1] << 8) % t->bytes] = by[i + 2];
}

/* How much an input asks for grows by what one number in it says: those that would only take long
 * are left out. */
static bool is_small(const struct ev *t)
{
	uint32_t lanes = 0;

	for (size_t at = 0; at < t->bytes;) {
		const struct event_piece *p = (const struct event_piece *)(const void *)(t->log + at);
		const struct event_unit *end = (const struct event_unit *)(const void *)(t->log + at + p->bytes);

		for (const struct event_unit *e = event_units_of(p); e < end && event_units(e); e += event_units(e))
			lanes += event_count(event_lanes(e));
		at += p->bytes;
	}
	for (uint32_t i = 0; i < t->nsites; i++)
		if ((uint32_t)t->site[i].size * t->site[i].count > EXTENT)
			return false;
	return t->bytes <= LOG && t->nsites <= SITES && lanes <= LANES;
}

/* Launches and maps come before the pieces of their launch, the end of a launch before those of another. */
static void tell_hosts(struct detect *d, const struct ev *t, uint32_t *host, uint32_t launch)
{
	for (; *host < t->nhost; ++*host) {
		const struct event_host *h = &t->host[*host];

		if (h->launch > launch || (h->kind == EVENT_HOST_OVER && h->launch == launch))
			return;
		detect_host(d, h);
	}
}

/* A piece that is refused is left out: what is wrong with it is said. */
static struct detect *judge(const struct ev *t, enum way way)
{
	struct event_sites sites = ev_sites(t);
	struct detect *d = detect_new();
	uint32_t host = 0, n = 0;

	if (way == REFERENCE && !detect_choose(d, "detect", "reference"))
		fuzz_broken("no reference");
	detect_sites(d, &sites);
	for (size_t at = 0; at + sizeof(struct event_piece) <= t->bytes;) {
		struct event_piece p;
		const char *why;

		memcpy(&p, t->log + at, sizeof p);
		tell_hosts(d, t, &host, p.launch);
		why = detect_feed(d, (const struct event_piece *)(const void *)(t->log + at), t->bytes - at);
		if (why && !*why)
			fuzz_broken("a piece is refused without a reason");
		if (way == PORTIONS && n++ % 3 == 0)
			detect_judge(d);
		at += p.bytes < sizeof p || p.bytes > t->bytes - at ? sizeof p : p.bytes / 16 * 16;
	}
	tell_hosts(d, t, &host, UINT32_MAX);
	detect_judge(d);
	return d;
}

static bool alike(const struct detect_finding *a, const struct detect_finding *b)
{
	return a->kind == b->kind && a->one == b->one &&
	       ((a->side[0].site == b->side[0].site && (a->one || a->side[1].site == b->side[1].site)) ||
		(!a->one && a->side[0].site == b->side[1].site && a->side[1].site == b->side[0].site));
}

static void compare(const struct detect *a, const struct detect *b, const char *way)
{
	const struct detect_finding *fa, *fb;
	size_t na = detect_findings(a, &fa), nb = detect_findings(b, &fb);

	for (size_t i = 0; i < na; i++) {
		bool found = false;

		for (size_t k = 0; k < nb && !found; k++)
			found = alike(&fa[i], &fb[k]);
		if (!found)
			fuzz_broken("%s lacks a %s of sites %u and %u", way, detect_kind_name(fa[i].kind),
				    fa[i].side[0].site, fa[i].side[1].site);
	}
	if (na != nb)
		fuzz_broken("%s finds %zu things, not %zu", way, nb, na);
}

static void exactly(const struct detect *a, const struct detect *b)
{
	const struct detect_finding *fa, *fb;
	size_t n = detect_findings(a, &fa);

	compare(a, b, "another run");
	detect_findings(b, &fb);
	for (size_t i = 0; i < n; i++)
		if (fa[i].count != fb[i].count || fa[i].why != fb[i].why || fa[i].side[0].address != fb[i].side[0].address)
			fuzz_broken("another run counts otherwise");
	for (unsigned c = 0; c < DETECT_COUNTERS; c++)
		if (detect_count(a, (enum detect_counter)c) != detect_count(b, (enum detect_counter)c))
			fuzz_broken("another run counts otherwise: %s", detect_counter_name((enum detect_counter)c));
}

static void check(const struct ev *t)
{
	struct detect *whole = judge(t, WHOLE), *again = judge(t, WHOLE);
	struct detect *reference = judge(t, REFERENCE), *portions = judge(t, PORTIONS);

	exactly(whole, again);
	compare(whole, reference, "detect=reference");
	compare(reference, whole, "what is not detect=reference");
	detect_free(whole);
	detect_free(again);
	detect_free(reference);
	detect_free(portions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size < TEXT ? size : TEXT), error[256];
	size_t n = strlen(text);
	struct ev t;

	if (ev_read(&t, "fuzz.ev", text, error, sizeof error) && is_small(&t)) {
		/* Exactly: a sanitizer sees what is read behind it. */
		t.log = realloc(t.log, t.bytes ? t.bytes : 1);
		if (!t.log)
			fuzz_broken("out of memory");
		if (n < size)
			change(&t, data + n + 1, size - n - 1);
		check(&t);
	}
	ev_free(&t);
	free(text);
	return 0;
}
