/* SPDX-License-Identifier: Apache-2.0
 *
 * util.c: memory that is never NULL, growing text, patterns, a clock.  Knows
 * nothing of CUDA.
 *
 * A program that runs out of memory is not to end because of the runtime: what
 * malloc refuses comes from a reserve, and from then on the runtime takes no part
 * in what the program does, so that the reserve need only last for what is under
 * way and for the reports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rt/rti.h"

#define RESERVE (UINT32_C(1) << 20)

static _Alignas(16) char reserve[RESERVE];
static size_t reserved;         /* bytes of it that are gone; atomic */

bool rt_short(void)
{
	return __atomic_load_n(&reserved, __ATOMIC_RELAXED) != 0;
}

/* Says so past rt_log(), whose lock the caller may hold. */
static void say_short(void)
{
	static const char text[] =
		"GSan: out of memory: what is allocated, loaded or launched from now on is not watched\n";

	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		return;
}

void rt_ran_out(void)
{
	if (!__atomic_fetch_add(&reserved, 16, __ATOMIC_RELAXED))
		say_short();
}

/* From the reserve, zeroed: it is never given back. */
static void *spare(size_t bytes)
{
	const size_t n = (bytes + 15) / 16 * 16 + 16;
	size_t at;

	if (bytes > RESERVE)
		rt_die("out of memory");
	at = __atomic_fetch_add(&reserved, n, __ATOMIC_RELAXED);
	if (!at)
		say_short();
	if (at + n > RESERVE)
		rt_die("out of memory");
	return reserve + at;
}

static bool is_spare(const void *p)
{
	return (uintptr_t)p - (uintptr_t)reserve < RESERVE;
}

void *rt_try_alloc(size_t bytes)
{
	return calloc(1, bytes ? bytes : 1);
}

void *rt_alloc(size_t bytes)
{
	void *p = rt_try_alloc(bytes);

	return p ? p : spare(bytes);
}

void rt_free(void *p)
{
	if (!is_spare(p))
		free(p);
}

/* Doubles, so that adding one at a time stays cheap; new elements are zero. */
void *rt_grow(void *p, size_t *cap, size_t need, size_t each)
{
	size_t n = *cap ? *cap : 16;
	void *q;

	if (need <= *cap)
		return p;
	while (n < need)
		n *= 2;
	q = is_spare(p) ? NULL : realloc(p, n * each);
	if (q) {
		memset((char *)q + *cap * each, 0, (n - *cap) * each);
	} else {
		q = rt_alloc(n * each);
		if (p)
			memcpy(q, p, *cap * each);
		rt_free(p);
	}
	*cap = n;
	return q;
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
	rt_free(b->text);
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

void rt_pause_us(long us)
{
	const struct timespec t = {.tv_nsec = us * 1000};

	nanosleep(&t, NULL);
}

static pid_t stands_for;        /* 0: nobody */

long rt_pid(void)
{
	return (long)(stands_for ? stands_for : getpid());
}

void rt_pid_set(pid_t pid)
{
	stands_for = pid;
}

uint64_t rt_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
