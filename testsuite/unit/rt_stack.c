/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_stack.c: a stack that was seen before is what unwinding it would say: by two ways to one place, as deep in the stack or
 * not, by recursion, with frames whose size differs, and in several threads.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt/gsan.h"
#include "rt/order.h"

#define APART __attribute__((noinline, noclone))

/* AddressSanitizer puts room of its own around what alloca() gives. */
#ifdef __SANITIZE_ADDRESS__
enum { FRAMES_AS_ASKED = 0 };
#else
enum { FRAMES_AS_ASKED = 1 };
#endif

static unsigned long wrong;             /* atomic */
static _Thread_local uintptr_t depth;   /* of the last call's frame */
static _Thread_local struct rt_stack last;

/* As the hooks of rt/drv.c. */
static APART void hook(void)
{
	struct rt_stack want;
	const struct rt_stack *got;

	rt_call_begin(__builtin_return_address(0), __builtin_frame_address(0));
	got = rt_stack_here();
	rt_stack_from(&want, rt_call.from);
	if (!want.n || got->n != want.n || got->hash != want.hash || memcmp(got->frame, want.frame, want.n * sizeof *want.frame))
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
	last = *got;
	depth = (uintptr_t)rt_call.frame;
	rt_call_end();
}

/* What it does behind the call keeps it from being a jump. */
static APART int leaf(volatile int *n)
{
	hook();
	return ++*n;
}

static APART int one(volatile int *n)
{
	return leaf(n) + 1;
}

static APART int another(volatile int *n)
{
	return leaf(n) + 2;
}

static void test_two_ways(void **state)
{
	volatile int n = 0;
	struct rt_stack first;
	uintptr_t at;

	(void)state;
	for (int i = 0; i < 100; i++) {
		one(&n);
		first = last;
		at = depth;
		another(&n);
		assert_true(depth == at);
		assert_true(first.hash != last.hash && first.frame[1] != last.frame[1]);
		assert_ptr_equal(first.frame[0], last.frame[0]);
	}
	assert_int_equal(wrong, 0);
}

static APART int deeper(volatile int *n, int left)
{
	return left ? deeper(n, left - 1) + 1 : leaf(n);
}

static APART int crosswise(volatile int *n, int left)
{
	return left ? (left % 3 ? crosswise(n, left - 1) + 3 : deeper(n, left - 1) + 1) : leaf(n);
}

static void test_recursion(void **state)
{
	volatile int n = 0;

	(void)state;
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < 40; i++) {
			deeper(&n, i);
			crosswise(&n, i);
			deeper(&n, i % 5);
		}
	assert_int_equal(wrong, 0);
}

/* A function with a frame pointer, whose caller's it keeps. */
static APART int inner(volatile int *n, size_t bytes)
{
	volatile char *room = alloca(bytes);

	room[0] = 1;
	return leaf(n) + room[0];
}

/* Its frame grows by what its caller's shrinks by, so that inner's lies where it did, and in what it does not write is left where
 * it returned to when it was smaller. */
static APART int middle(volatile int *n, size_t bytes)
{
	volatile char *room = alloca(bytes);

	room[0] = 1;
	return inner(n, 64) + room[0];
}

static APART int outer(volatile int *n, size_t bytes, size_t all)
{
	volatile char *room = alloca(bytes);

	room[0] = 1;
	return middle(n, all - bytes) + room[0];
}

static APART int other_outer(volatile int *n, size_t bytes, size_t all)
{
	volatile char *room = alloca(bytes);

	room[0] = 2;
	return middle(n, all - bytes) + room[0];
}

/* The one place that both are called from. */
static APART int call(int (*fn)(volatile int *, size_t, size_t), volatile int *n, size_t bytes)
{
	return fn(n, bytes, 1024) + 1;
}

static void test_frames_that_differ(void **state)
{
	static int (*volatile fn[2])(volatile int *, size_t, size_t) = {outer, other_outer};
	struct rt_stack first = {.n = 0};
	volatile int n = 0;
	uintptr_t at = 0;

	(void)state;
	for (size_t bytes = 64; bytes < 1024; bytes += 64)
		for (size_t i = 0; i < 64; i++) {
			call(fn[i % 2], &n, bytes / (1 + 3 * (i % 2)));
			assert_true(!FRAMES_AS_ASKED || !at || depth == at);
			at = depth;
			assert_true(!i || first.hash != last.hash);
			first = last;
		}
	assert_int_equal(wrong, 0);
}

/* The stacks of threads that have ended are those of others. */
static void *in_thread(void *arg)
{
	volatile int n = 0;

	for (int i = 0; i < 200; i++) {
		if ((uintptr_t)arg % 2)
			one(&n);
		else
			another(&n);
		deeper(&n, (i + (int)(uintptr_t)arg) % 11);
		outer(&n, 64 + 64 * (size_t)(i % 8), 1024);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t t[4];

	(void)state;
	for (int round = 0; round < 8; round++) {
		for (uintptr_t i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&t[i], NULL, in_thread, (void *)(i + (unsigned)round)), 0);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	}
	assert_int_equal(wrong, 0);
}

/* A script says where it is: then there is no stack. */
static void test_script(void **state)
{
	static const char file[] = "script";

	(void)state;
	gsan_at(file, 7);
	rt_call_begin(__builtin_return_address(0), __builtin_frame_address(0));
	assert_ptr_equal(rt_stack_here()->file, file);
	assert_int_equal(rt_stack_here()->line, 7);
	assert_int_equal(rt_stack_here()->n, 0);
	rt_call_end();
	gsan_at(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_ways), cmocka_unit_test(test_recursion), cmocka_unit_test(test_frames_that_differ),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
