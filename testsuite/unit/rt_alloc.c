/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_alloc.c: the table of allocations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rt/rti.h"

static void add(struct rt_blocks *b, uint64_t addr, uint64_t bytes, enum rt_mem kind)
{
	struct rt_block block = { .addr = addr, .bytes = bytes, .kind = kind };

	rt_block_add(b, &block);
}

static void test_find(void **state)
{
	struct rt_blocks b = {0};
	struct rt_block was;

	(void)state;
	assert_false(rt_block_find(&b, 0x1000, &was));
	add(&b, 0x3000, 0x100, RT_MEM_DEVICE);
	add(&b, 0x1000, 0x100, RT_MEM_DEVICE);
	add(&b, 0x2000, 0x100, RT_MEM_DEVICE);
	assert_false(rt_block_find(&b, 0xfff, &was));
	assert_true(rt_block_find(&b, 0x1000, &was));
	assert_int_equal(was.addr, 0x1000);
	assert_true(rt_block_find(&b, 0x10ff, &was));
	assert_int_equal(was.addr, 0x1000);
	assert_false(rt_block_find(&b, 0x1100, &was));
	assert_true(rt_block_find(&b, 0x3080, &was));
	assert_int_equal(was.addr, 0x3000);
	free(b.list);
}

/* A piece inside a larger block, and what is behind the piece. */
static void test_nested(void **state)
{
	struct rt_blocks b = {0};
	struct rt_block was;

	(void)state;
	add(&b, 0x1000, 0x10000, RT_MEM_MAPPED);
	add(&b, 0x2000, 0x100, RT_MEM_HOST);
	assert_true(rt_block_find(&b, 0x2010, &was));
	assert_int_equal(was.bytes, 0x100);
	assert_true(rt_block_find(&b, 0x2100, &was));
	assert_int_equal(was.bytes, 0x10000);
	free(b.list);
}

static void test_take(void **state)
{
	struct rt_blocks b = {0};
	struct rt_block was;
	int owner;

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		add(&b, 0x1000 * (100 - i), 0x1000, RT_MEM_DEVICE);
	assert_false(rt_block_take(&b, 0x1001, false, &was));
	assert_true(rt_block_take(&b, 0x5000, false, &was));
	assert_int_equal(was.addr, 0x5000);
	assert_false(rt_block_take(&b, 0x5000, false, &was));
	assert_false(rt_block_find(&b, 0x5800, &was));
	assert_int_equal(b.n, 99);
	/* A variable is not freed by its address, only with its module. */
	rt_block_add(&b, &(struct rt_block){ .addr = 0x5000, .bytes = 8, .kind = RT_MEM_VARIABLE,
					     .owner = &owner });
	assert_false(rt_block_take(&b, 0x5000, false, &was));
	assert_true(rt_block_take_owned(&b, &owner, &was));
	assert_false(rt_block_take_owned(&b, &owner, &was));
	free(b.list);
}

/* A part begins where the allocation does. */
static void test_take_part(void **state)
{
	struct rt_blocks b = {0};
	struct rt_block was;

	(void)state;
	add(&b, 0x1000, 0x1000, RT_MEM_DEVICE);
	rt_block_add(&b, &(struct rt_block){.addr = 0x1000, .bytes = 0x100, .kind = RT_MEM_DEVICE, .part = true});
	rt_block_add(&b, &(struct rt_block){.addr = 0x1800, .bytes = 0x100, .kind = RT_MEM_DEVICE, .part = true});
	assert_true(rt_block_find(&b, 0x1040, &was));
	assert_int_equal(was.bytes, 0x100);
	assert_true(rt_block_find(&b, 0x1200, &was));
	assert_int_equal(was.bytes, 0x1000);
	assert_false(rt_block_take(&b, 0x1800, false, &was));
	assert_true(rt_block_take(&b, 0x1000, false, &was));
	assert_int_equal(was.bytes, 0x1000);
	assert_true(rt_block_take_part(&b, 0x1000, 0x1000, &was));
	assert_int_equal(was.addr, 0x1000);
	assert_false(rt_block_take_part(&b, 0x1000, 0x800, &was));
	assert_true(rt_block_take_part(&b, 0x1000, 0x1000, &was));
	assert_int_equal(was.addr, 0x1800);
	free(b.list);
}

static void test_take_mapped(void **state)
{
	struct rt_blocks b = {0};
	struct rt_block was;

	(void)state;
	add(&b, 0x1000, 0x1000, RT_MEM_MAPPED);
	add(&b, 0x2000, 0x1000, RT_MEM_DEVICE);
	add(&b, 0x3000, 0x1000, RT_MEM_MAPPED);
	add(&b, 0x4000, 0x1000, RT_MEM_MAPPED);
	assert_true(rt_block_take_mapped(&b, 0x1000, 0x3000, &was));
	assert_int_equal(was.addr, 0x1000);
	assert_true(rt_block_take_mapped(&b, 0x1000, 0x3000, &was));
	assert_int_equal(was.addr, 0x3000);
	assert_false(rt_block_take_mapped(&b, 0x1000, 0x3000, &was));
	assert_int_equal(b.n, 2);
	free(b.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find), cmocka_unit_test(test_nested), cmocka_unit_test(test_take),
		cmocka_unit_test(test_take_part),
		cmocka_unit_test(test_take_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
