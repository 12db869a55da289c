/* SPDX-License-Identifier: Apache-2.0
 *
 * supp.c: suppressions, lines `type:pattern`.  The types are the kinds of
 * finding, `race` for all kinds of race, `race_top` for the innermost frames
 * only, and `kernel`.  A pattern is held against functions (as in the module
 * and demangled), source files, PTX files and variables.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/rti.h"

enum { SUPP_RACE = GSAN_KIND_COUNT, SUPP_TOP, SUPP_KERNEL };

struct rt_supps rt_supps;

static const char *const types[] = {
#define KIND(id, name) [GSAN_##id] = name,
#include "rt/kinds.def"
	[SUPP_RACE] = "race",
	[SUPP_TOP] = "race_top",
	[SUPP_KERNEL] = "kernel",
};

#define NTYPES (sizeof types / sizeof types[0])

/* What `race` stands for: the kinds that are races (reproducer-format). */
static bool is_race(enum gsan_kind kind)
{
	switch (kind) {
	case GSAN_DATA_RACE:
	case GSAN_SCOPE_RACE:
	case GSAN_ASYNC_RACE:
	case GSAN_PROXY_RACE:
	case GSAN_PROXY_FENCE_ORDER:
	case GSAN_TENSORMAP_RACE:
	case GSAN_STREAM_RACE:
	case GSAN_HOST_RACE:
		return true;
	case GSAN_SHARED_BOUNDS:
	case GSAN_GLOBAL_BOUNDS:
	case GSAN_USE_AFTER_FREE:
	case GSAN_UNINITIALISED_READ:
	case GSAN_MBARRIER_MISUSE:
	case GSAN_BARRIER_MISUSE:
	case GSAN_LIFETIME:
	case GSAN_DEADLOCK:
	case GSAN_KIND_COUNT:
		return false;
	}
	return false;
}

static int find_type(const char *name, size_t n)
{
	for (size_t i = 0; i < NTYPES; i++)
		if (strlen(types[i]) == n && !memcmp(types[i], name, n))
			return (int)i;
	return -1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool rt_supps_parse(struct rt_supps *s, const char *text, const char *origin, struct rt_buf *err)
{
	for (unsigned line = 1; *text; line++) {
		const char *from = text, *to = text + strcspn(text, "\n"), *colon;
		struct rt_supp *supp;
		int type;

		text = *to ? to + 1 : to;
		while (from < to && is_blank(*from))
			from++;
		while (to > from && is_blank(to[-1]))
			to--;
		if (from == to || *from == '#')
			continue;
		colon = memchr(from, ':', (size_t)(to - from));
		if (!colon) {
			rt_printf(err, "%s:%u: a suppression is TYPE:PATTERN, not '%.*s'", origin, line,
				  (int)(to - from), from);
			return false;
		}
		type = find_type(from, (size_t)(colon - from));
		if (type < 0) {
			rt_printf(err, "%s:%u: unknown suppression type '%.*s'; known are", origin, line,
				  (int)(colon - from), from);
			for (size_t i = 0; i < NTYPES; i++)
				rt_printf(err, "%s %s", i ? "," : "", types[i]);
			return false;
		}
		for (colon++; colon < to && is_blank(*colon); colon++)
			;
		if (colon == to) {
			rt_printf(err, "%s:%u: nothing after '%s:'", origin, line, types[type]);
			return false;
		}
		s->list = rt_grow(s->list, &s->cap, s->n + 1, sizeof *s->list);
		supp = &s->list[s->n++];
		supp->kind = type;
		supp->type = rt_copy(types[type]);
		supp->pattern = rt_alloc((size_t)(to - colon) + 1);
		memcpy(supp->pattern, colon, (size_t)(to - colon));
	}
	return true;
}

/* A relative name is looked up in the working directory, then beside the program. */
static FILE *open_list(const char *path)
{
	FILE *f = fopen(path, "re");
	char exe[4096];
	ssize_t n;

	if (f || *path == '/')
		return f;
	n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (n <= 0)
		return NULL;
	exe[n] = '\0';
	while (n > 0 && exe[n - 1] != '/')
		n--;
	if ((size_t)n + strlen(path) + 1 > sizeof exe) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	strcpy(exe + n, path);
	return fopen(exe, "re");
}

bool rt_supps_load(struct rt_supps *s, const char *path, struct rt_buf *err)
{
	FILE *f = open_list(path);
	struct rt_buf text = {0};
	char piece[4096];
	size_t n;
	bool good;

	if (!f) {
		rt_printf(err, "cannot read suppressions from %s: %s", path, strerror(errno));
		return false;
	}
	rt_puts(&text, "");
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		rt_putn(&text, piece, n);
	good = !ferror(f);
	if (!good)
		rt_printf(err, "cannot read suppressions from %s", path);
	fclose(f);
	good = good && rt_supps_parse(s, text.text, path, err);
	rt_buf_free(&text);
	return good;
}

static bool match_place(const char *pattern, const struct rt_place *p, unsigned frames)
{
	if (!p->known)
		return false;
	for (unsigned i = 0; i < p->nframes && i < frames; i++)
		if (rt_glob(pattern, p->frame[i].func) || rt_glob(pattern, p->frame[i].shown) ||
		    (*p->frame[i].file && rt_glob(pattern, p->frame[i].file)))
			return true;
	return rt_glob(pattern, p->ptx);
}

static bool matches(const struct rt_supp *s, const struct rt_report *r)
{
	if (s->kind == SUPP_KERNEL)
		return rt_glob(s->pattern, r->kernel) || rt_glob(s->pattern, r->kernel_raw);
	if (s->kind < GSAN_KIND_COUNT ? (int)r->kind != s->kind : !is_race(r->kind))
		return false;
	if (s->kind == SUPP_TOP)
		return match_place(s->pattern, &r->now, 1) || match_place(s->pattern, &r->before, 1);
	return match_place(s->pattern, &r->now, RT_FRAMES) ||
	       match_place(s->pattern, &r->before, RT_FRAMES) ||
	       (*r->var && rt_glob(s->pattern, r->var));
}

static struct rt_supp *find(const struct rt_supps *s, const struct rt_report *r)
{
	for (size_t i = 0; i < s->n; i++)
		if (matches(&s->list[i], r))
			return &s->list[i];
	return NULL;
}

bool rt_suppressed(struct rt_supps *s, const struct rt_report *r)
{
	struct rt_supp *by = find(s, r);

	if (by)
		by->hits += r->merged ? 0 : r->count;
	return by;
}

bool rt_may_suppress(const struct rt_supps *s, const struct rt_report *r)
{
	return find(s, r);
}

void rt_supps_list(const struct rt_supps *s, struct rt_buf *b)
{
	size_t used = 0;

	for (size_t i = 0; i < s->n; i++)
		used += s->list[i].hits != 0;
	if (!used)
		return;
	rt_printf(b, "GSan: %zu suppression%s used:\n", used, used == 1 ? "" : "s");
	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].hits)
			rt_printf(b, "  %llu %s:%s\n", (unsigned long long)s->list[i].hits,
				  s->list[i].type, s->list[i].pattern);
}

void rt_supps_free(struct rt_supps *s)
{
	for (size_t i = 0; i < s->n; i++) {
		rt_free(s->list[i].type);
		rt_free(s->list[i].pattern);
	}
	rt_free(s->list);
	memset(s, 0, sizeof *s);
}

/* Anchored, so that it hides this pair's function and nothing that has its name in
 * its own; of names that take many lines the beginning has to do. */
void rt_supp_line(struct rt_buf *b, const struct rt_report *r)
{
	const struct rt_place *p = r->now.known ? &r->now : &r->before;
	bool found = p->known && p->nframes && *p->frame[0].shown;
	const char *name = found ? p->frame[0].shown : r->kernel;

	rt_printf(b, "%s:^%.200s%s", found ? types[r->kind] : "kernel", name,
		  strlen(name) > 200 ? "" : "$");
}
