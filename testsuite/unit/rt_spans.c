/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_spans.c: pieces of memory by their addresses, held against a plain list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rt/spans.h"

static struct rt_spans s;
static struct rt_span plain[RT_SPANS];  /* by place; bytes 0: none */

static unsigned long seed = 1;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void compare(uint64_t address, uint64_t bytes)
{
	bool found[RT_SPANS] = {false};
	unsigned at = 0, i, n = 0, find = rt_span_find(&s, address, bytes);

	while ((i = rt_span_overlap(&s, address, bytes, &at)) != RT_NO_SPAN) {
		assert_false(found[i]);
		found[i] = true;
	}
	for (i = 0; i < RT_SPANS; i++) {
		const struct rt_span *x = &plain[i];

		assert_int_equal(found[i], x->bytes && x->address < address + bytes && address < x->address + x->bytes);
		n += x->bytes != 0;
	}
	assert_int_equal(n, s.n);
	if (find != RT_NO_SPAN)
		assert_true(plain[find].address == address && plain[find].bytes == bytes);
}

static void add(uint64_t address, uint64_t bytes)
{
	const unsigned at = rt_span_add(&s, address, bytes);

	plain[at] = (struct rt_span){address, bytes};
}

static void test_as_a_list(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		const uint64_t address = 0x1000 + 64 * pick(i % 2 ? 40 : 4000), bytes = 64 * (1 + pick(i % 5 ? 3 : 60));
		unsigned place = pick(RT_SPANS);

		add(address, bytes);
		if (pick(3) && plain[place].bytes) {
			rt_span_remove(&s, place);
			plain[place].bytes = 0;
		}
		if (i % 16 == 0)
			compare(0x1000 + 64 * pick(4000), 64 * (1 + pick(100)));
		if (i % 16 == 8)
			compare(address, bytes);
	}
	compare(0, UINT64_MAX);
}

/* One after the other, removed as it is seen. */
static void test_remove_all(void **state)
{
	unsigned at = 0, i;

	(void)state;
	while ((i = rt_span_overlap(&s, 0, UINT64_MAX, &at)) != RT_NO_SPAN) {
		rt_span_remove(&s, i);
		plain[i].bytes = 0;
		at--;
	}
	assert_int_equal(s.n, 0);
	compare(0, UINT64_MAX);
}

/* Of one address the latest comes first; and the oldest leaves its place. */
static void test_order(void **state)
{
	unsigned first, at = 0;

	(void)state;
	first = rt_span_add(&s, 0x5000, 64);
	assert_int_equal(rt_span_overlap(&s, 0x5000, 1, &at), first);
	assert_int_equal(s.by_address[0], first);
	for (unsigned i = 1; i < RT_SPANS; i++)
		assert_int_equal(s.by_address[0] != rt_span_add(&s, 0x5000, 64), true);
	assert_int_equal(s.by_address[RT_SPANS - 1], first);
	assert_int_equal(rt_span_add(&s, 0x9000, 64), first);
	assert_int_equal(s.n, RT_SPANS);
	assert_int_equal(rt_span_find(&s, 0x9000, 64), first);
	assert_int_equal(rt_span_find(&s, 0x9000, 65), RT_NO_SPAN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_a_list), cmocka_unit_test(test_remove_all), cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
