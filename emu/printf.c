/* SPDX-License-Identifier: Apache-2.0
 *
 * printf.c: the functions that device code may call without bringing them along:
 * vprintf, malloc, free, __assertfail.  Output is kept until the host
 * synchronises, as CUDA C++ Programming Guide, "Formatted Output", says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/access.h"

static struct ptx_buf out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int emu_builtin_find(const char *name)
{
	static const struct { const char *name; int which; } table[] = {
		{"vprintf", BUILTIN_VPRINTF}, {"malloc", BUILTIN_MALLOC},
		{"free", BUILTIN_FREE}, {"__assertfail", BUILTIN_ASSERTFAIL}
	};

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(name, table[i].name))
			return table[i].which;
	return BUILTIN_NONE;
}

void emu_print_flush(void)
{
	pthread_mutex_lock(&lock);
	if (out.len) {
		fwrite(out.p, 1, out.len, stdout);
		fflush(stdout);
		out.len = 0;
	}
	pthread_mutex_unlock(&lock);
}

/* Copies a string of the device; false if it runs out of memory that there is. */
static bool get_string(const struct emu_x *x, unsigned l, uint64_t a, char *to, size_t max)
{
	for (size_t i = 0; i < max; i++) {
		const char *p = emu_at_generic(x, l, a + i, 1);

		if (!p)
			return false;
		to[i] = *p;
		if (!*p)
			return true;
	}
	to[max - 1] = 0;
	return true;
}

struct args { const struct emu_x *x; unsigned lane; uint64_t at; bool bad; };

static uint64_t next(struct args *a, unsigned size)
{
	const void *p;
	uint64_t v = 0;

	a->at = (a->at + size - 1) & ~(uint64_t)(size - 1);
	p = emu_at_generic(a->x, a->lane, a->at, size);
	if (!p) {
		a->bad = true;
		return 0;
	}
	memcpy(&v, p, size);
	a->at += size;
	return v;
}

/* A GPU's printf knows the sizes h, l and ll alone (CUDA C++ Programming Guide, "Format Specifiers"); of "%hhd" and a 7 it made
 * 98 (H100, CUDA 13.0).  Here it is done as on the host. */
static void warn_size(void)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fputs("emu: device code prints with the size hh: a GPU's printf does not have it, and prints something else\n", stderr);
}

/* Copies one conversion, from behind the %, with stars replaced by their numbers;
 * returns the conversion's letter, 0 if it is none.  *size is that of an integer. */
static char spec(const char **f, char *to, struct args *a, unsigned *size)
{
	char *end = to + 60;

	*to++ = '%';
	*size = 4;
	for (; **f; ++*f) {
		char c = **f;

		if (to >= end)
			return 0;
		if (c == '*') {
			to += snprintf(to, 16, "%d", (int)next(a, 4));
		} else if (strchr("-+ #0123456789.", c)) {
			*to++ = c;
		} else if (c == 'l' || c == 'z' || c == 'j' || c == 't') {
			*size = 8;
		} else if (c == 'h') {
			if ((*f)[1] == 'h')
				warn_size();
		} else {
			++*f;
			*to = 0;
			return strchr("diouxXcsfFeEgGaAp%", c) ? c : 0;
		}
	}
	return 0;
}

static void put(struct ptx_buf *b, const char *format, char type, unsigned size, struct args *a)
{
	char how[80], text[2048], string[1024];
	double d;
	uint64_t v;
	int n = 0;

	switch (type) {
	case 'd':
	case 'i':
		v = next(a, size);
		snprintf(how, sizeof how, "%slld", format);
		n = snprintf(text, sizeof text, how,
			     size == 4 ? (long long)(int32_t)v : (long long)v);
		break;
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		snprintf(how, sizeof how, "%sll%c", format, type);
		n = snprintf(text, sizeof text, how, (unsigned long long)next(a, size));
		break;
	case 'c':
		snprintf(how, sizeof how, "%sc", format);
		n = snprintf(text, sizeof text, how, (int)next(a, 4));
		break;
	case 'p':
		snprintf(how, sizeof how, "%sp", format);
		n = snprintf(text, sizeof text, how, (void *)(uintptr_t)next(a, 8));
		break;
	case 's':
		v = next(a, 8);
		if (!v || !get_string(a->x, a->lane, v, string, sizeof string))
			strcpy(string, "(null)");
		snprintf(how, sizeof how, "%ss", format);
		n = snprintf(text, sizeof text, how, string);
		break;
	default:
		v = next(a, 8);
		memcpy(&d, &v, sizeof d);
		snprintf(how, sizeof how, "%s%c", format, type);
		n = snprintf(text, sizeof text, how, d);
		break;
	}
	if (n > (int)sizeof text - 1)
		n = (int)sizeof text - 1;
	if (n > 0)
		ptx_put(b, text, (size_t)n);
}

static bool vprintf_lane(struct emu_x *x, unsigned l, uint64_t format, uint64_t va, uint64_t *ret)
{
	struct args a = {.x = x, .lane = l, .at = va};
	struct ptx_buf b = {0};
	char f[4096];
	const char *p = f;
	int32_t n = 0;

	if (!get_string(x, l, format, f, sizeof f))
		return false;
	while (*p) {
		const char *q = strchr(p, '%');
		char how[80], type;
		unsigned size;

		if (p != q)
			ptx_put(&b, p, q ? (size_t)(q - p) : strlen(p));
		if (!q)
			break;
		p = q + 1;
		if (*p == '%') {
			ptx_put(&b, p++, 1);
			continue;
		}
		type = spec(&p, how, &a, &size);
		if (!type)
			break;
		put(&b, how, type, size, &a);
		n++;
	}
	pthread_mutex_lock(&lock);
	if (b.len)
		ptx_put(&out, b.p, b.len);
	pthread_mutex_unlock(&lock);
	free(b.p);
	*ret = (uint32_t)n;
	return !a.bad;
}

static uint64_t heap_malloc(uint64_t bytes)
{
	uint64_t a;

	if (!bytes || emu_m.heap_used + bytes > emu_m.heap_limit)
		return 0;
	a = emu_mem_new(bytes, MEM_HEAP, 0);
	if (a)
		emu_m.heap_used += bytes;
	return a;
}

static bool heap_free(uint64_t a)
{
	struct emu_block_mem b;

	if (!a)
		return true;
	if (!emu_mem_find(a, &b) || b.base != a || !emu_mem_delete(a, MEM_HEAP))
		return false;
	emu_m.heap_used -= b.bytes;
	return true;
}

static void say_assert(struct emu_x *x, unsigned l, uint64_t (*args)[EMU_LANES])
{
	const struct emu_block *b = x->b;
	const uint32_t *dim = b->grid->block;
	uint64_t t = emu_thread_index(x->w, l);
	char text[3][1024];

	for (unsigned i = 0; i < 3; i++)
		if (!get_string(x, l, args[i == 2 ? 3 : i][l], text[i], sizeof text[i]))
			strcpy(text[i], "?");
	fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
		text[1], (unsigned)args[2][l], text[2], b->ctaid[0], b->ctaid[1], b->ctaid[2],
		(unsigned)(t % dim[0]), (unsigned)(t / dim[0] % dim[1]),
		(unsigned)(t / dim[0] / dim[1]), text[0]);
}

const struct emu_op *emu_builtin_run(struct emu_x *x, const struct emu_op *op, uint32_t m, int which,
				     uint64_t (*args)[EMU_LANES], uint64_t *ret)
{
	EMU_EACH(l, m) {
		switch ((enum emu_builtin)which) {
		case BUILTIN_VPRINTF:
			if (!vprintf_lane(x, l, args[0][l], args[1][l], &ret[l]))
				return emu_fault(x, op, l, CUDA_ERROR_ILLEGAL_ADDRESS,
						 "printf with a bad pointer");
			break;
		case BUILTIN_MALLOC:
			ret[l] = heap_malloc(args[0][l]);
			break;
		case BUILTIN_FREE:
			if (!heap_free(args[0][l]))
				return emu_fault(x, op, l, CUDA_ERROR_LAUNCH_FAILED,
						 "free of 0x%llx, which malloc did not give",
						 (unsigned long long)args[0][l]);
			break;
		case BUILTIN_ASSERTFAIL:
			say_assert(x, l, args);
			break;
		case BUILTIN_NONE:
			break;
		}
	}
	if (which == BUILTIN_ASSERTFAIL) {
		emu_m.fault = CUDA_ERROR_ASSERT;
		x->why = WHY_FAULT;
		return NULL;
	}
	return op;
}
