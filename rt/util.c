/* SPDX-License-Identifier: Apache-2.0
 *
 * util.c: memory that is never NULL, growing text, patterns, a clock.  Knows
 * nothing of CUDA.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/rti.h"

void *rt_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p)
		rt_die("out of memory");
	return p;
}

/* Doubles, so that adding one at a time stays cheap; new elements are zero. */
void *rt_grow(void *p, size_t *cap, size_t need, size_t each)
{
	size_t n = *cap ? *cap : 16;

	if (need <= *cap)
		return p;
	while (n < need)
		n *= 2;
	p = realloc(p, n * each);
	if (!p)
		rt_die("out of memory");
	memset((char *)p + *cap * each, 0, (n - *cap) * each);
	*cap = n;
	return p;
}

char *rt_copy(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(rt_alloc(n), text, n);
}

void rt_putn(struct rt_buf *b, const char *text, size_t n)
{
	b->text = rt_grow(b->text, &b->cap, b->len + n + 1, 1);
	memcpy(b->text + b->len, text, n);
	b->len += n;
	b->text[b->len] = '\0';
}

void rt_puts(struct rt_buf *b, const char *text)
{
	rt_putn(b, text, strlen(text));
}

void rt_printf(struct rt_buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n > 0) {
		b->text = rt_grow(b->text, &b->cap, b->len + (size_t)n + 1, 1);
		vsnprintf(b->text + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

void rt_buf_free(struct rt_buf *b)
{
	free(b->text);
	memset(b, 0, sizeof *b);
}

/* Whether `p` up to `end` matches all of `s`, `*` standing for any text. */
static bool match(const char *p, const char *end, const char *s, bool open_end)
{
	const char *star = NULL, *from = NULL;

	for (;;) {
		if (p < end && *p == '*') {
			star = ++p;
			from = s;
		} else if (p == end && (open_end || !*s)) {
			return true;
		} else if (*s && p < end && *p == *s) {
			p++;
			s++;
		} else if (star && *from) {
			p = star;
			s = ++from;
		} else {
			return false;
		}
	}
}

bool rt_glob(const char *pattern, const char *text)
{
	const char *end = pattern + strlen(pattern);
	bool fixed_start = *pattern == '^', fixed_end = false;

	if (fixed_start)
		pattern++;
	if (end > pattern && end[-1] == '$') {
		fixed_end = true;
		end--;
	}
	for (; ; text++) {
		if (match(pattern, end, text, !fixed_end))
			return true;
		if (fixed_start || !*text)
			return false;
	}
}

uint64_t rt_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
