/* SPDX-License-Identifier: Apache-2.0
 *
 * why.c: one sentence for each finding: what would order the two accesses, and
 * where it would go.  The sentences are rows of kinds.def; here is what the words
 * in braces stand for.
 */
#include <string.h>

#include "rt/rti.h"

static const char *const sentences[] = {
#define WHY(id, text) text,
#include "rt/kinds.def"
};
/* NULL: as above. */
static const char *const in_python[GSAN_WHY_COUNT] = {
#define WHY_PYTHON(id, text) [GSAN_WHY_##id] = text,
#include "rt/kinds.def"
};

static bool is_python(const struct rt_place *p)
{
	const char *file = p->nframes ? p->frame[0].file : "", *end = strrchr(file, '.');

	return end && !strcmp(end, ".py");
}

static const char *sentence(const struct rt_report *r)
{
	const enum gsan_why why = r->why < GSAN_WHY_COUNT ? r->why : GSAN_WHY_NOTHING;

	return in_python[why] && is_python(&r->now) && is_python(&r->before) ? in_python[why] : sentences[why];
}

/* The access through the read-only path, or the other one. */
static const struct rt_place *by_path(const struct rt_report *r, bool read_only)
{
	return r->now.read_only == read_only ? &r->now : &r->before;
}

static bool begins(const char *op, const char *with) { return !strncmp(op, with, strlen(with)); }

/* Is the access made through the async proxy?  cp.async, st.async and red.async are not. */
static bool async_proxy(const struct rt_place *p)
{
	bool generic = begins(p->op, "st.async") || begins(p->op, "red.async") ||
		       (begins(p->op, "cp.async.") && !begins(p->op, "cp.async.bulk"));

	return p->async && !generic;
}

/* The asynchronous access, or the other one; of two, the one through the async proxy, or the other one. */
static const struct rt_place *by_proxy(const struct rt_report *r, bool async)
{
	if (!r->before.async != !r->now.async)
		return !r->before.async == !async ? &r->before : &r->now;
	return async_proxy(&r->before) == async ? &r->before : &r->now;
}

/* What may still be under way, or the other one: of two asynchronous ones the first. */
static const struct rt_place *by_end(const struct rt_report *r, bool pending)
{
	return r->before.async == pending ? &r->before : &r->now;
}

static const struct rt_place *narrow(const struct rt_report *r)
{
	return r->now.level < r->before.level ? &r->now : &r->before;
}

static const char *scope(enum gsan_level level)
{
	switch (level) {
	case GSAN_WEAK:
	case GSAN_CTA:
		return "block";
	case GSAN_CLUSTER:
		return "cluster";
	case GSAN_GPU:
		return "gpu";
	case GSAN_SYS:
		return "system";
	}
	return "block";
}

static void put_two(struct rt_buf *b, const struct rt_report *r, const struct rt_look *look)
{
	rt_print_spot(b, &r->before, look);
	rt_puts(b, " and ");
	rt_print_spot(b, &r->now, look);
}

static void put_word(struct rt_buf *b, const char *word, size_t n, const struct rt_report *r,
		     const struct rt_look *look)
{
#define IS(text) (n == sizeof text - 1 && !memcmp(word, text, n))
	if (IS("before")) {
		rt_print_spot(b, &r->before, look);
	} else if (IS("now")) {
		rt_print_spot(b, &r->now, look);
	} else if (IS("between")) {
		rt_puts(b, "between ");
		put_two(b, r, look);
	} else if (IS("copy")) {
		rt_print_spot(b, by_proxy(r, true), look);
	} else if (IS("other")) {
		rt_print_spot(b, by_proxy(r, false), look);
	} else if (IS("pending")) {
		rt_print_spot(b, by_end(r, true), look);
	} else if (IS("later")) {
		rt_print_spot(b, by_end(r, false), look);
	} else if (IS("read-only")) {
		rt_print_spot(b, by_path(r, true), look);
	} else if (IS("ordinary")) {
		rt_print_spot(b, by_path(r, false), look);
	} else if (IS("narrow")) {
		if (r->now.level == r->before.level)
			put_two(b, r, look);
		else
			rt_print_spot(b, narrow(r), look);
	} else if (IS("scope")) {
		rt_puts(b, scope(narrow(r)->level));
	} else if (IS("variable")) {
		rt_puts(b, *r->var ? rt_demangle(r->var) : "the block's shared memory");
	} else if (IS("arrival")) {
		rt_print_spot(b, &r->arrival, look);
	} else if (IS("wait")) {
		rt_print_spot(b, &r->wait, look);
	} else if (IS("phase")) {
		rt_printf(b, "%u", r->phase);
	} else if (IS("parity")) {
		rt_printf(b, "%u", r->phase % 2);
	} else if (IS("sizes")) {
		rt_printf(b, "%u and %u", r->before.size, r->now.size);
	} else {
		rt_printf(b, "{%.*s}", (int)n, word);
	}
#undef IS
}

void rt_print_missing(struct rt_buf *b, const struct rt_report *r, const struct rt_look *look)
{
	const char *s = sentence(r);

	for (;;) {
		size_t n = strcspn(s, "{");

		rt_putn(b, s, n);
		s += n;
		if (!*s)
			return;
		n = strcspn(++s, "}");
		put_word(b, s, n, r, look);
		s += n + 1;
	}
}
