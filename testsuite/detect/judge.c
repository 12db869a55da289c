/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c: holds the detector's verdict on logs written as text (ev.c) against the expect lines
 * in them, which are those of reproducers:
 *
 *   expect clean | expect KIND [LINE [LINE]] | expect only KIND ... | expect-with NAME=VALUE[:...] : ...
 *   expect no KIND [LINE [LINE]]
 *   expect KIND LINE LINE why WHAT [met LINE LINE]      what is missing (whys, below), and where the two met
 *   expect ... # an explanation
 *
 * Each log is judged as a whole, by detect=reference, and in portions, cut at random places:
 * the findings must be the same.  With -v they are printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/detect.h"
#include "testsuite/detect/ev.h"

enum { CUTS = 20, MOST = 256 };

static bool verbose, aloud;
static uint64_t chance = 1;

static uint32_t below(uint32_t n)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(chance >> 33) % n;
}

/* ---- judging ------------------------------------------------------------------------------- */

struct told { enum detect_kind kind; enum detect_why why; unsigned line[2], met[2]; };
struct verdict { unsigned n; struct told v[MOST]; };

/* By enum detect_why. */
static const char *const whys[] = {
	"nothing", "release", "acquire", "both", "scope", "size", "completion", "fence", "fence-elsewhere", "read-only", "misuse",
	"mask", "count", "counts", "shared", "forms", "apart", "cluster-twice", "many", "bytes", "too-many", "stale", "not-freed", "freed-twice", "used-freed", "older-phase"
};

static unsigned line_of(const struct ev *t, uint32_t site)
{
	return site < t->nsites ? t->site[site].line : 0;
}

static bool choose(struct detect *d, const char *options)
{
	char copy[256], *save;

	snprintf(copy, sizeof copy, "%s", options);
	for (char *w = strtok_r(copy, ":", &save); w; w = strtok_r(NULL, ":", &save)) {
		char *value = strchr(w, '=');

		if (!value)
			return false;
		*value++ = 0;
		if (!detect_choose(d, w, value))
			return false;
	}
	return true;
}

static void collect(const struct ev *t, const struct detect *d, struct verdict *v)
{
	const struct detect_finding *f;
	size_t n = detect_findings(d, &f);

	v->n = 0;
	for (size_t i = 0; i < n && v->n < MOST; i++) {
		struct told *to = &v->v[v->n++];

		to->kind = f[i].kind;
		to->why = f[i].why;
		for (unsigned k = 0; k < 2; k++) {
			to->line[k] = k && f[i].one ? 0 : line_of(t, f[i].side[k].site);
			to->met[k] = line_of(t, f[i].met[k]);
		}
		if (verbose && aloud)
			printf("# %s at lines %u and %u, %llu times, why %s, met at %u and %u\n", detect_kind_name(to->kind),
			       to->line[0], to->line[1], (unsigned long long)f[i].count, whys[to->why], to->met[0], to->met[1]);
	}
}

/* Feeds the log, and judges behind every piece whose number is a cut.  NULL, or what is wrong. */
static const char *run(const struct ev *t, const char *options, const bool *cut, struct verdict *v)
{
	struct event_sites sites = ev_sites(t);
	struct detect *d = detect_new();
	uint32_t host = 0, piece = 0;
	const char *why = choose(d, options) ? NULL : "no such choice";

	detect_sites(d, &sites);
	for (size_t at = 0; at < t->bytes && !why; piece++) {
		const struct event_piece *p = (const struct event_piece *)(const void *)(t->log + at);

		for (; host < t->nhost && t->host[host].launch <= p->launch && t->host[host].kind != EVENT_HOST_OVER; host++)
			detect_host(d, &t->host[host]);
		while (host < t->nhost && t->host[host].kind == EVENT_HOST_OVER && t->host[host].launch < p->launch) {
			detect_host(d, &t->host[host++]);
			for (; host < t->nhost && t->host[host].launch <= p->launch && t->host[host].kind != EVENT_HOST_OVER; host++)
				detect_host(d, &t->host[host]);
		}
		why = detect_feed(d, p, t->bytes - at);
		at += p->bytes;
		if (cut && cut[piece])
			detect_judge(d);
	}
	for (; host < t->nhost; host++)
		if (t->host[host].kind == EVENT_HOST_OVER)
			detect_host(d, &t->host[host]);
	detect_judge(d);
	collect(t, d, v);
	for (unsigned c = 0; verbose && aloud && c < DETECT_COUNTERS; c++)
		if (detect_count(d, (enum detect_counter)c))
			printf("# %llu %s\n", (unsigned long long)detect_count(d, (enum detect_counter)c),
			       detect_counter_name((enum detect_counter)c));
	detect_free(d);
	return why;
}

static bool has(const struct verdict *v, enum detect_kind kind, const unsigned line[2])
{
	for (unsigned i = 0; i < v->n; i++)
		if (v->v[i].kind == kind && ((v->v[i].line[0] == line[0] && v->v[i].line[1] == line[1]) ||
					     (v->v[i].line[0] == line[1] && v->v[i].line[1] == line[0])))
			return true;
	return false;
}

static bool same(const struct verdict *a, const struct verdict *b)
{
	for (unsigned i = 0; i < a->n; i++)
		if (!has(b, a->v[i].kind, a->v[i].line))
			return false;
	return a->n == b->n;
}

/* ---- expecting ------------------------------------------------------------------------------ */

static bool is_kind(const char *word, enum detect_kind kind)
{
	if (!strcmp(word, "race"))
		return kind != DETECT_MBARRIER_MISUSE && kind != DETECT_BARRIER_MISUSE && kind != DETECT_LIFETIME &&
		       kind != DETECT_SHARED_BOUNDS && kind != DETECT_GLOBAL_BOUNDS && kind != DETECT_USE_AFTER_FREE &&
		       kind != DETECT_UNINITIALISED_READ;
	return !strcmp(word, detect_kind_name(kind));
}

static bool known_kind(const char *word)
{
	for (unsigned k = 0; k < DETECT_KINDS; k++)
		if (is_kind(word, (enum detect_kind)k))
			return true;
	return false;
}

static bool names_lines(const unsigned line[2], const unsigned want[2], unsigned n)
{
	return !n || (n == 1 && (line[0] == want[0] || line[1] == want[0])) ||
	       (n == 2 && ((line[0] == want[0] && line[1] == want[1]) || (line[0] == want[1] && line[1] == want[0])));
}

/* "why WHAT", "met LINE LINE". */
static bool says(const struct told *v, const char *why, const unsigned met[2])
{
	return (!*why || !strcmp(why, whys[v->why])) && (!met[0] || (v->met[0] == met[0] && v->met[1] == met[1]));
}

/* "clean", "KIND 3 5", "only KIND", "no KIND 3 5"; NULL: it holds. */
static const char *holds(const struct verdict *v, char *words)
{
	char kind[64], why[32] = "";
	unsigned want[2] = {0, 0}, met[2] = {0, 0}, n = 0;
	bool only, no, found = false, others = false;
	char *save, *w = strtok_r(words, " \t", &save);

	if (w && !strcmp(w, "clean"))
		return v->n ? "clean was expected" : NULL;
	only = w && !strcmp(w, "only");
	no = w && !strcmp(w, "no");
	w = only || no ? strtok_r(NULL, " \t", &save) : w;
	if (!w || !known_kind(w))
		return "an expect line of no kind";
	snprintf(kind, sizeof kind, "%s", w);
	while ((w = strtok_r(NULL, " \t", &save))) {
		if (!strcmp(w, "why") && (w = strtok_r(NULL, " \t", &save)))
			snprintf(why, sizeof why, "%s", w);
		else if (w && !strcmp(w, "met"))
			for (unsigned k = 0; k < 2 && (w = strtok_r(NULL, " \t", &save)); k++)
				met[k] = (unsigned)strtoul(w, NULL, 10);
		else if (w && n < 2)
			want[n++] = (unsigned)strtoul(w, NULL, 10);
		else
			return "an expect line of too many words";
	}
	for (unsigned i = 0; i < v->n; i++) {
		found |= is_kind(kind, v->v[i].kind) && names_lines(v->v[i].line, want, n) && says(&v->v[i], why, met);
		others |= !is_kind(kind, v->v[i].kind);
	}
	if (no)
		return found ? "what is none was found" : NULL;
	return !found ? "what was expected was not found" : only && others ? "something else was found, too" : NULL;
}

static const char *check(const struct ev *t, const char *options, char *words)
{
	struct verdict whole, other;
	char reference[300];
	const char *why;
	uint32_t pieces = 0;
	bool *cut;

	aloud = true;
	why = run(t, options, NULL, &whole);
	aloud = false;
	if (why)
		return why;
	why = holds(&whole, words);
	snprintf(reference, sizeof reference, "%s%sdetect=reference", options, *options ? ":" : "");
	if (!why)
		why = run(t, reference, NULL, &other);
	if (!why && !same(&whole, &other))
		why = "detect=reference finds something else";
	for (size_t at = 0; at < t->bytes; pieces++)
		at += ((const struct event_piece *)(const void *)(t->log + at))->bytes;
	cut = calloc(pieces + 1, sizeof *cut);
	for (unsigned i = 0; i < CUTS && cut && pieces && !why; i++) {
		memset(cut, 0, pieces);
		for (unsigned k = 0; k < 1 + i % 4; k++)
			cut[below(pieces)] = true;
		why = run(t, options, cut, &other);
		if (why || same(&whole, &other))
			continue;
		why = "in portions something else is found";
		for (uint32_t k = 0; verbose && k < pieces; k++)
			if (cut[k])
				printf("# cut behind piece %u of %u\n", k, pieces);
		aloud = true;
		run(t, options, cut, &other);
		aloud = false;
	}
	free(cut);
	return why;
}

/* ---- files --------------------------------------------------------------------------------------- */

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	long n;

	if (f && !fseek(f, 0, SEEK_END) && (n = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET) && (text = malloc((size_t)n + 1)))
		text[fread(text, 1, (size_t)n, f)] = 0;
	if (f)
		fclose(f);
	return text;
}

/* One expect line; false: it does not hold. */
static bool expect(const struct ev *t, const char *path, unsigned line, char *s)
{
	char options[256] = "", *words = s + strcspn(s, " \t");
	const char *why;

	s[strcspn(s, "#")] = 0;
	words += strspn(words, " \t");
	if (!strncmp(s, "expect-with", 11)) {
		char *colon = strstr(words, " : ");

		if (!colon) {
			printf("# %s:%u: no verdict behind the options\n", path, line);
			return false;
		}
		*colon = 0;
		snprintf(options, sizeof options, "%s", words);
		words = colon + 3;
	}
	why = check(t, options, words);
	if (why)
		printf("# %s:%u: %s\n", path, line, why);
	return !why;
}

static bool file(const char *path)
{
	char error[256], *text = slurp(path);
	unsigned line = 0, expects = 0;
	bool ok = text != NULL;
	struct ev t;

	if (!ok) {
		printf("# %s: cannot be read\n", path);
		return false;
	}
	ok = ev_read(&t, path, text, error, sizeof error);
	if (!ok)
		printf("# %s\n", error);
	for (char *s = text, *next; ok && *s; s = next) {
		line++;
		next = s + strcspn(s, "\n");
		next += *next == '\n' ? (*next = 0, 1) : 0;
		if (strncmp(s, "expect", 6))
			continue;
		expects++;
		ok &= expect(&t, path, line, s);
	}
	if (ok && !expects) {
		printf("# %s: nothing is expected\n", path);
		ok = false;
	}
	ev_free(&t);
	free(text);
	return ok;
}

int main(int argc, char **argv)
{
	unsigned failed = 0;
	int first = 1;

	if (argc > 1 && !strcmp(argv[1], "-v")) {
		verbose = true;
		first++;
	}
	printf("1..%d\n", argc - first);
	for (int i = first; i < argc; i++) {
		bool ok = file(argv[i]);

		printf("%sok %d - %s\n", ok ? "" : "not ", i - first + 1, argv[i]);
		failed += !ok;
	}
	return failed != 0;
}
