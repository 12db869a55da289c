/* SPDX-License-Identifier: Apache-2.0
 *
 * parse_lex.c: the scanner by itself: which bytes make one token.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptxparse/parse.h"
#include "ptxparse/gram.h"

static unsigned errors;

static void count(void *arg, const char *path, const struct ptx_error *e)
{
	(void)arg;
	(void)path;
	(void)e;
	errors++;
}

static char text[4096];
static struct parser p;
static struct ptx_module module;

static void start(const char *s)
{
	memset(&p, 0, sizeof p);
	memset(text, 0, sizeof text);
	strcpy(text, s);
	p.arena = ptx_arena_new();
	p.m = &module;
	p.report = count;
	p.line = 1;
	p.text = p.cur = p.bol = text;
	p.end = text + strlen(s);
	module.nerrors = 0;
	errors = 0;
	ptx_table_words(p.arena);
}

/* The next token is this terminal with this spelling. */
static void token(int major, const char *s)
{
	struct span t;

	assert_int_equal(ptx_lex(&p, &t), major);
	assert_int_equal(t.e - t.s, strlen(s));
	assert_memory_equal(t.s, s, strlen(s));
}

static void finish(unsigned line)
{
	unsigned at;

	token(0, "");
	ptx_place(&p, p.cur, &at, NULL);
	assert_int_equal(at, line);
	ptx_arena_free(p.arena);
}

static void test_words(void **state)
{
	(void)state;
	start("ld.global.u32%r3,[a].x; .shared::cta.b32 .1d.32x32b v.x %tid.x @!p L: .reg.global");
	token(T_DOTTED, "ld.global.u32");
	token(T_ID, "%r3");
	token(T_COMMA, ",");
	token(T_LB, "[");
	token(T_ID, "a");
	token(T_RB, "]");
	token(T_DOT, ".x");
	token(T_SEMI, ";");
	token(T_DOT, ".shared::cta");
	token(T_DOT, ".b32");
	token(T_DOT, ".1d");
	token(T_DOT, ".32x32b");
	token(T_DOTTED, "v.x");
	token(T_DOTTED, "%tid.x");
	token(T_AT, "@");
	token(T_BANG, "!");
	token(T_ID, "p");
	token(T_ID, "L");
	token(T_COLON, ":");
	token(T_SPACE, ".reg");
	token(T_SPACE, ".global");
	finish(1);
}

static void test_operands(void **state)
{
	(void)state;
	start("add.s32 %r1, %r2 , -5; ld.v2.u32 {%r1,_}, [a+0x10]; add.f32 a, 0f3f800000\n; "
	      "st.b32 [WARP_SZ+4], a; v.x -5; a.b c, {d; e.f {g}, [h], {i, j};");
	token(T_DOTTED, "add.s32");
	token(T_OPERANDS, "%r1, %r2 , -5;");
	assert_int_equal(p.nops, 3);
	token(T_DOTTED, "ld.v2.u32");
	token(T_OPERANDS, "{%r1,_}, [a+0x10];");
	assert_int_equal(p.nops, 2);
	assert_int_equal(p.items[0].n, 2);
	assert_int_equal(p.items[3].off.e - p.items[3].off.s, 5);
	/* These are the grammar's. */
	token(T_DOTTED, "add.f32");
	token(T_ID, "a");
	token(T_COMMA, ",");
	token(T_FLOAT, "0f3f800000");
	token(T_SEMI, ";");
	token(T_DOTTED, "st.b32");
	token(T_LB, "[");
	token(T_ID, "WARP_SZ");
	token(T_PLUS, "+");
	token(T_INT, "4");
	token(T_RB, "]");
	token(T_COMMA, ",");
	token(T_ID, "a");
	token(T_SEMI, ";");
	token(T_DOTTED, "v.x");
	token(T_MINUS, "-");
	token(T_INT, "5");
	token(T_SEMI, ";");
	token(T_DOTTED, "a.b");
	token(T_ID, "c");
	token(T_COMMA, ",");
	token(T_LC, "{");
	token(T_ID, "d");
	token(T_SEMI, ";");
	token(T_DOTTED, "e.f");
	token(T_OPERANDS, "{g}, [h], {i, j};");
	assert_int_equal(p.nops, 3);
	finish(2);
}

static void test_names(void **state)
{
	(void)state;
	start("%r123 %r03 abc _ a1b22 %p0 9a");
	token(T_ID, "%r123");
	token(T_ID, "%r03");
	token(T_ID, "abc");
	token(T_ID, "_");
	token(T_ID, "a1b22");
	token(T_ID, "%p0");
	assert_int_equal(errors, 0);
	token(T_BAD, "9a");
	assert_int_equal(errors, 1);
	finish(1);
}

/* The symbol that a name stands for. */
static const struct ptx_sym *find(const char *s)
{
	struct span t = { s, s + strlen(s) };
	struct word *w = NULL;

	return ptx_find(&p, &t, &w);
}

static void test_ranges(void **state)
{
	static const char *const prefixes[] = { "%r", "a1b", "x" };
	struct ptx_func f = {0};
	struct head h = { .space = SPACE_REG, .type = TYPE_B32, .vec = 1 };

	(void)state;
	start("text that is long enough for a thousand registers");
	p.func = &f;
	ptx_scope_open(&p);
	for (unsigned i = 0; i < 3; i++) {
		struct span t = { prefixes[i], prefixes[i] + strlen(prefixes[i]) };

		assert_non_null(ptx_declare_range(&p, &t, 200, &h));
	}
	assert_int_equal(find("%r123")->reg, 123);
	assert_int_equal(find("%r03")->reg, 3);
	assert_null(find("%r200"));
	assert_null(find("%r"));
	assert_int_equal(find("a1b22")->reg, 222);
	assert_int_equal(find("x000000007")->reg, 407);
	/* More digits than a register number has. */
	assert_null(find("x0000000007"));
	assert_int_equal(errors, 0);
	ptx_arena_free(p.arena);
}

static void test_numbers(void **state)
{
	(void)state;
	start("0 42U 0x1FU 017 0b101 9.0 1. 1.5e-3 1e5 0f3F800000 0D3FF0000000000000 7 %4 7 % 4"
	      " 08 0xG 0f12 5UL");
	token(T_INT, "0");
	token(T_INT, "42U");
	token(T_INT, "0x1FU");
	token(T_INT, "017");
	token(T_INT, "0b101");
	token(T_FLOAT, "9.0");
	token(T_FLOAT, "1.");
	token(T_FLOAT, "1.5e-3");
	token(T_FLOAT, "1e5");
	token(T_FLOAT, "0f3F800000");
	token(T_FLOAT, "0D3FF0000000000000");
	token(T_INT, "7");
	token(T_ID, "%4");
	token(T_INT, "7");
	token(T_PERCENT, "%");
	token(T_INT, "4");
	token(T_BAD, "08");
	token(T_BAD, "0xG");
	token(T_BAD, "0f12");
	token(T_BAD, "5UL");
	assert_int_equal(errors, 4);
	finish(1);
}

static void test_layout(void **state)
{
	(void)state;
	start("a // b\r\n/* c\n * d */ e\n  # 5 \"f\"\n#line 7\ng \"s // t\" <<<= >>\v!=");
	token(T_ID, "a");
	token(T_ID, "e");
	token(T_ID, "g");
	token(T_STRING, "\"s // t\"");
	token(T_SHL, "<<");
	token(T_LE, "<=");
	token(T_SHR, ">>");
	token(T_NEQ, "!=");
	finish(6);
}

static void test_sections(void **state)
{
	(void)state;
	start(".section .debug_str\n{ a: .b8 1 // }\n/* } */ }\n.loc");
	token(T_SECTION, ".section .debug_str\n{ a: .b8 1 // }\n/* } */ }");
	token(T_LOC, ".loc");
	finish(4);
	start(".section .debug_str { ");
	token(T_BAD, ".section");
	assert_int_equal(errors, 1);
	ptx_arena_free(p.arena);
}

static void test_bad_bytes(void **state)
{
	(void)state;
	start("a \"b\nc # \303\251 $ \f /* d");
	token(T_ID, "a");
	token(T_BAD, "\"");
	token(T_ID, "b");
	token(T_ID, "c");
	token(T_BAD, "# \303\251 $ \f /* d");
	finish(2);
	start("\303\251 $ \f /* d");
	token(T_BAD, "\303\251");
	token(T_BAD, "$");
	token(T_BAD, "\f");
	token(T_BAD, "/* d");
	token(0, "");
	assert_int_equal(errors, 4);
	ptx_arena_free(p.arena);
	/* Comments may have anything. */
	start("// \303\251\n/* \377 */ a");
	token(T_ID, "a");
	assert_int_equal(errors, 0);
	finish(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_bad_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
