/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_flags.c: the grammar of GSAN_OPTIONS.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rt/rti.h"

struct parsed { struct rt_flags f; struct rt_buf err, warn; bool good; };

static struct parsed parse(const char *text)
{
	struct parsed p;

	memset(&p, 0, sizeof p);
	rt_flags_default(&p.f);
	p.good = rt_flags_parse(&p.f, text, &p.err, &p.warn);
	return p;
}

static void drop(struct parsed *p)
{
	rt_flags_free(&p->f);
	rt_buf_free(&p->err);
	rt_buf_free(&p->warn);
}

static void test_defaults(void **state)
{
	struct parsed p = parse("");

	(void)state;
	assert_true(p.good);
	assert_int_equal(p.f.exitcode, 66);
	assert_int_equal(p.f.halt_on_error, 0);
	assert_int_equal(p.f.suppress_equal_stacks, 1);
	assert_string_equal(p.f.log_path, "stderr");
	assert_string_equal(p.f.color, "auto");
	drop(&p);
}

/* All the separators of the field, several of them, and none at the ends. */
static void test_separators(void **state)
{
	struct parsed p = parse(" ::exitcode=3,quiet=1\n\thalt_on_error=yes\r verbosity=2:, ");

	(void)state;
	assert_true(p.good);
	assert_int_equal(p.f.exitcode, 3);
	assert_int_equal(p.f.quiet, 1);
	assert_int_equal(p.f.halt_on_error, 1);
	assert_int_equal(p.f.verbosity, 2);
	drop(&p);
}

static void test_quotes(void **state)
{
	struct parsed p = parse("log_path='/tmp/a:b,c d':strip_path_prefix=\"it's\" quiet=1");

	(void)state;
	assert_true(p.good);
	assert_string_equal(p.f.log_path, "/tmp/a:b,c d");
	assert_string_equal(p.f.strip_path_prefix, "it's");
	assert_int_equal(p.f.quiet, 1);
	drop(&p);
	p = parse("log_path='/tmp/a");
	assert_false(p.good);
	assert_non_null(strstr(p.err.text, "log_path"));
	drop(&p);
}

static void test_bool(void **state)
{
	static const struct { const char *text; int value; } good[] = {
		{ "quiet=1", 1 }, { "quiet=yes", 1 }, { "quiet=true", 1 },
		{ "demangle=0", 0 }, { "demangle=no", 0 }, { "demangle=false", 0 },
	};
	static const char *const bad[] = { "quiet=2", "quiet=", "quiet=True", "quiet=10" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct parsed p = parse(good[i].text);

		assert_true(p.good);
		assert_int_equal(*good[i].text == 'q' ? p.f.quiet : p.f.demangle, good[i].value);
		drop(&p);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct parsed p = parse(bad[i]);

		assert_false(p.good);
		assert_non_null(strstr(p.err.text, "quiet"));
		drop(&p);
	}
}

static void test_int(void **state)
{
	static const char *const bad[] = { "exitcode=256", "exitcode=-1", "exitcode=x", "exitcode=",
		"exitcode=6x", "exitcode=99999999999999999999" };
	struct parsed p = parse("exitcode=255 report_limit=0x10");

	(void)state;
	assert_true(p.good);
	assert_int_equal(p.f.exitcode, 255);
	assert_int_equal(p.f.report_limit, 16);
	drop(&p);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		p = parse(bad[i]);
		assert_false(p.good);
		assert_non_null(strstr(p.err.text, "0 to 255"));
		drop(&p);
	}
}

static void test_errors(void **state)
{
	struct parsed p = parse("quiet");

	(void)state;
	assert_false(p.good);
	assert_non_null(strstr(p.err.text, "'quiet'"));
	drop(&p);
	p = parse("color=blue");
	assert_false(p.good);
	assert_non_null(strstr(p.err.text, "auto, always or never"));
	drop(&p);
}

static void test_choice(void **state)
{
	struct parsed p = parse("proxy_war=warn async_proxy=per-cta tx_scope=any");

	(void)state;
	assert_true(p.good);
	assert_int_equal(p.f.proxy_war, PROXY_WAR_WARN);
	assert_int_equal(p.f.async_proxy, 1);
	assert_int_equal(p.f.tx_scope, 0);
	assert_int_equal(p.f.proxy_fence, 0);
	drop(&p);
	p = parse("proxy_war=of");
	assert_false(p.good);
	assert_non_null(strstr(p.err.text, "error warn off"));
	drop(&p);
}

/* An unknown key is a warning, and what follows it counts. */
static void test_unknown(void **state)
{
	struct parsed p = parse("exit_code=3:nonsense='a b':quiet=1");

	(void)state;
	assert_true(p.good);
	assert_int_equal(p.f.exitcode, 66);
	assert_int_equal(p.f.quiet, 1);
	assert_non_null(strstr(p.warn.text, "'exit_code'"));
	assert_non_null(strstr(p.warn.text, "'nonsense'"));
	drop(&p);
}

/* What is gone is a warning, too, whatever its value was. */
static void test_gone(void **state)
{
	struct parsed p = parse("shadow_mb=1:reconverge=x:quiet=1");

	(void)state;
	assert_true(p.good);
	assert_int_equal(p.f.quiet, 1);
	assert_string_equal(p.warn.text, "'shadow_mb' means nothing any more and is ignored\n"
			    "'reconverge' means nothing any more and is ignored\n");
	drop(&p);
}

/* Every row is listed, with its value as it is now. */
static void test_help(void **state)
{
	static const char *const choices[] = {
#define CHOICE(name, values, help) #name,
#include "rt/choices.def"
#undef CHOICE
	};
	static const char *const names[] = {
#define BOOL(name, value, help) #name,
#define INT(name, value, least, most, help) #name,
#define TEXT(name, value, help) #name,
#include "rt/flags.def"
	};
	struct parsed p = parse("exitcode=7");
	struct rt_buf b = {0};

	(void)state;
	rt_flags_help(&p.f, &b);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_non_null(strstr(b.text, names[i]));
		if (i)
			assert_true(strcmp(names[i - 1], names[i]) < 0);
	}
	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
		assert_non_null(strstr(b.text, choices[i]));
	assert_non_null(strstr(b.text, "reported (7)"));
	rt_buf_free(&b);
	drop(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_separators),
		cmocka_unit_test(test_quotes), cmocka_unit_test(test_bool), cmocka_unit_test(test_int),
		cmocka_unit_test(test_choice), cmocka_unit_test(test_errors), cmocka_unit_test(test_unknown), cmocka_unit_test(test_gone),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
