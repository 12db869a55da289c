/* SPDX-License-Identifier: Apache-2.0
 *
 * rt_report.c: the text of reports and of the closing line, suppressions,
 * patterns and names, from findings that were made up here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rt/rti.h"

static const struct rt_look plain = { .pid = 4242, .summary = true, .source = true, .strip = "" };

/* The race of a ring between two blocks. */
static struct rt_report example(void)
{
	struct rt_report r = {
		.kind = GSAN_DATA_RACE, .why = GSAN_WHY_OTHER_BLOCK, .addr = 0x7f001000a040,
		.count = 12, .exact = true, .launch = 7, .kernel = "ring", .kernel_raw = "_Z4ringPi",
		.grid = { 2, 1, 1 }, .block = { 32, 1, 1 }, .cluster = { 1, 1, 1 },
		.stream_known = true, .var = "",
		.where = "global memory, 64 bytes inside a 4096-byte allocation at 0x7f001000a000",
		.now = { .known = true, .write = true, .addr = 0x7f001000a040, .size = 4,
			.thread = { 3, 0, 0 }, .block_known = true, .block = { 1, 0, 0 },
			.op = "st.global.u32", .var = "", .ptx = "/src/ring.ptx", .ptx_line = 118,
			.nframes = 2, .frame = {
				{ "_Z8producerPi", "producer(int*)", "/src/ring.cu", 41 },
				{ "_Z4ringPi", "ring(int*)", "/src/ring.cu", 70 } } },
		.before = { .known = true, .addr = 0x7f001000a040, .size = 4,
			.block_known = true, .op = "ld.global.u32", .var = "", .ptx = "/src/ring.ptx",
			.ptx_line = 203, .nframes = 1, .frame = {
				{ "_Z8consumerPi", "consumer(int*)", "/src/ring.cu", 57 } } },
	};

	return r;
}

static void test_report(void **state)
{
	struct rt_report r = example();
	struct rt_look look = plain;
	struct rt_buf b = {0};

	(void)state;
	look.strip = "/src/";
	rt_print_report(&b, &r, &look);
	assert_string_equal(b.text,
		"==================\n"
		"WARNING: GSan: data race (pid=4242)\n"
		"  Write of size 4 at 0x7f001000a040 by thread (3,0,0) block (1,0,0):\n"
		"    #0 producer(int*) ring.cu:41 (ring.ptx:118)\n"
		"    #1 ring(int*) ring.cu:70\n"
		"\n"
		"  Previous read of size 4 at 0x7f001000a040 by thread (0,0,0) block (0,0,0):\n"
		"    #0 consumer(int*) ring.cu:57 (ring.ptx:203)\n"
		"\n"
		"  Location is global memory, 64 bytes inside a 4096-byte allocation at 0x7f001000a000\n"
		"  Launch #7 of ring<<<(2,1,1),(32,1,1)>>> on stream 0x0\n"
		"  Missing: a release at gpu scope after ring.cu:57 that is acquired at gpu scope before "
		"ring.cu:41 (on each side __threadfence() and an atomic flag); __syncthreads() does not "
		"order different blocks\n"
		"  [12 times]\n"
		"  Suppression: data-race:^producer(int*)$\n"
		"SUMMARY: GSan: data race ring.cu:41 in producer(int*)\n"
		"==================\n");
	rt_buf_free(&b);
}

static void assert_has(const struct rt_buf *b, const char *text)
{
	if (!strstr(b->text, text))
		fail_msg("no \"%s\" in:\n%s", text, b->text);
}

/* Without source lines, with one side lost, with what else may be unknown. */
static void test_unknown(void **state)
{
	struct rt_report r = example();
	struct rt_look look = plain;
	struct rt_buf b = {0};

	(void)state;
	look.source = false;
	look.summary = false;
	r.before.known = false;
	r.exact = false;
	r.count = 1;
	r.launch = 0;
	r.stream_known = false;
	r.now.block_known = false;
	rt_print_report(&b, &r, &look);
	assert_has(&b, "by thread (3,0,0) of an earlier block:\n    #0 producer(int*) (ring.ptx:118)\n");
	assert_has(&b, "  Previous access of which only the memory is known:\n    #0 <unknown>\n\n");
	assert_has(&b, "  Launch of ring<<<(2,1,1),(32,1,1)>>>\n");
	assert_has(&b, "  [at least 1 time]\n");
	assert_null(strstr(b.text, "SUMMARY"));
	assert_null(strstr(b.text, "ring.cu"));
	rt_buf_free(&b);
}

static void test_words(void **state)
{
	struct rt_report r = example();
	struct rt_buf b = {0};

	(void)state;
	r.kind = GSAN_SCOPE_RACE;
	r.why = GSAN_WHY_SCOPE_ATOMIC;
	r.now.atomic = true;
	r.now.level = GSAN_GPU;
	r.before.atomic = r.before.write = true;
	r.before.level = GSAN_CTA;
	r.cluster[0] = 2;
	rt_print_report(&b, &r, &plain);
	assert_has(&b, "WARNING: GSan: scope race (pid=");
	assert_has(&b, "  Atomic write of size 4");
	assert_has(&b, "  Previous atomic write of size 4 at 0x7f001000a040 by thread");
	assert_has(&b, "a wider scope at ring.cu:57; it is atomic only within its block");
	assert_has(&b, " in clusters of (2,1,1)");
	rt_buf_free(&b);
	r.now.is_volatile = true;
	r.now.write = false;
	rt_print_report(&b, &r, &plain);
	assert_has(&b, "  Volatile read of size 4");
	rt_buf_free(&b);
}

/* Whatever the reason, the places are named that it is about. */
static void test_missing(void **state)
{
	(void)state;
	for (int why = 0; why < GSAN_WHY_COUNT; why++) {
		struct rt_report r = example();
		struct rt_buf b = {0};

		r.why = (enum gsan_why)why;
		r.wait = r.now;
		r.arrival = r.before;
		r.now.level = r.before.level = GSAN_CTA;
		rt_print_missing(&b, &r, &plain);
		assert_has(&b, "ring.cu:");
		if (why <= GSAN_WHY_PROXY) {
			assert_has(&b, "ring.cu:41");
			assert_has(&b, "ring.cu:57");
		}
		assert_null(strchr(b.text, '{'));
		rt_buf_free(&b);
	}
}

static void test_color(void **state)
{
	struct rt_report r = example();
	struct rt_look look = plain;
	struct rt_buf with = {0}, without = {0}, cut = {0};

	(void)state;
	look.color = true;
	rt_print_report(&with, &r, &look);
	rt_print_report(&without, &r, &plain);
	for (const char *s = with.text; *s; s++) {
		if (*s == '\033')
			while (*s != 'm')
				s++;
		else
			rt_putn(&cut, s, 1);
	}
	assert_true(with.len > without.len);
	assert_string_equal(cut.text, without.text);
	rt_buf_free(&with);
	rt_buf_free(&without);
	rt_buf_free(&cut);
}

static void test_closing(void **state)
{
	static const char *const bare[] = { "copy", "fill",
		"a_name_of_61_letters_that_is_one_letter_too_long_to_be_shown__",
		"a_name_of_60_letters_which_is_as_long_as_one_may_be_________",
		"5", "6", "7", "8", "9", "10" };
	struct rt_totals t = { .findings = 1, .launches = 3, .kernels_watched = 3, .sites = 57 };
	struct rt_buf b = {0};

	(void)state;
	rt_print_closing(&b, &t);
	assert_string_equal(b.text,
		"GSan: 1 finding; 3 launches, 57 sites watched\n");
	rt_buf_free(&b);
	t.findings = 0;
	t.bare = bare;
	t.nbare = 2;
	t.bare_launches = 5;
	t.same_values = 9;
	rt_print_closing(&b, &t);
	assert_string_equal(b.text,
		"GSan: 0 findings; 3 launches, 57 sites watched; "
		"5 launches of kernels that are not instrumented; "
		"9 unordered writes of one value left out; not instrumented: copy, fill\n");
	rt_buf_free(&b);
	t.nbare = 10;
	rt_print_closing(&b, &t);
	assert_has(&b, "; not instrumented: copy, fill, a_name_of_61_letters_that_is_one_letter_too_long_to_be_sh..., "
		   "a_name_of_60_letters_which_is_as_long_as_one_may_be_________, 5, 6, 7, 8 ... and 2 more\n");
	rt_buf_free(&b);
}

/* "0 findings" never stands alone when nothing was watched. */
static void test_nothing(void **state)
{
	struct rt_totals t = {0};
	struct rt_buf b = {0};

	(void)state;
	rt_print_closing(&b, &t);
	assert_string_equal(b.text, "GSan: nothing was watched: no kernel was launched\n");
	rt_buf_free(&b);
	t.failed = "cuInit";
	t.error = "CUDA_ERROR_NO_DEVICE";
	rt_print_closing(&b, &t);
	assert_string_equal(b.text, "GSan: nothing was watched: no kernel was launched; cuInit failed (CUDA_ERROR_NO_DEVICE)\n");
	rt_buf_free(&b);
	t.launches = t.bare_launches = 2;
	rt_print_closing(&b, &t);
	assert_has(&b, "nothing was watched: no kernel that was launched is instrumented; 2 launches");
	rt_buf_free(&b);
	t.off = "no memory";
	rt_print_closing(&b, &t);
	assert_has(&b, "nothing was watched: no memory");
	rt_buf_free(&b);
}

static void test_glob(void **state)
{
	(void)state;
	assert_true(rt_glob("prod", "my producer"));
	assert_true(rt_glob("", "anything"));
	assert_false(rt_glob("^prod", "my producer"));
	assert_true(rt_glob("^my*cer$", "my producer"));
	assert_false(rt_glob("^my*ce$", "my producer"));
	assert_true(rt_glob("a*b*c", "xxaxxbxxcxx"));
	assert_false(rt_glob("a*b*c", "xxaxxcxxbxx"));
	assert_true(rt_glob("^producer(int*)$", "producer(int*)"));
	assert_false(rt_glob("^producer(int*)$", "producer(int*, int)x"));
	assert_true(rt_glob("$", "x"));
	assert_true(rt_glob("^ab*ab$", "abxab"));
	assert_false(rt_glob("^ab*ab$", "ab"));
}

static struct rt_supps supps(const char *text)
{
	struct rt_supps s = {0};
	struct rt_buf err = {0};

	if (!rt_supps_parse(&s, text, "list", &err))
		fail_msg("%s", err.text);
	return s;
}

static bool suppresses(const char *text, const struct rt_report *r)
{
	struct rt_supps s = supps(text);
	bool yes = rt_suppressed(&s, r);

	rt_supps_free(&s);
	return yes;
}

static void test_suppressions(void **state)
{
	struct rt_report r = example();

	(void)state;
	assert_true(suppresses("race:producer", &r));
	assert_true(suppresses("race:_Z8consumerPi", &r));
	assert_true(suppresses("race:ring.cu", &r));
	assert_true(suppresses("race:ring.ptx", &r));
	assert_true(suppresses("# comment\n\n  data-race: consumer \t\n", &r));
	assert_false(suppresses("scope-race:consumer", &r));
	assert_false(suppresses("deadlock:consumer", &r));
	assert_true(suppresses("kernel:^ring$", &r));
	assert_false(suppresses("kernel:^rin$", &r));
	assert_true(suppresses("race:^ring(int*)$", &r));
	assert_false(suppresses("race_top:^ring(int*)$", &r));
	assert_true(suppresses("race_top:^producer", &r));
	assert_false(suppresses("race:counter", &r));
	r.var = "counter";
	assert_true(suppresses("race:counter", &r));
	r.kind = GSAN_BARRIER_MISUSE;
	assert_false(suppresses("race:producer", &r));
	assert_true(suppresses("barrier-misuse:producer", &r));
}

/* The line that a report offers suppresses that report. */
static void test_offered(void **state)
{
	struct rt_report r = example();
	struct rt_buf b = {0};

	(void)state;
	rt_supp_line(&b, &r);
	assert_true(suppresses(b.text, &r));
	r.now.frame[0].shown = r.now.frame[0].func = "other";
	assert_false(suppresses(b.text, &r));
	rt_buf_free(&b);
	r.now.known = r.before.known = false;
	rt_supp_line(&b, &r);
	assert_true(suppresses(b.text, &r));
	rt_buf_free(&b);
}

/* Of a name that takes many lines what it is made of is left out, and its end; the line that is
 * offered is good for it, too. */
static void test_long_names(void **state)
{
	static const char *const names[][2] = {
		{ "f<int>(A<B>)", "f<int>(A<B>)" },
		{ "ns::copy<A<B<%s> >, 1>::go<C>(D<E>*)::operator<(int)", "ns::copy<...>::go<...>(D<...>*)::operator<(int)" },
		{ "ns::of<&X::operator-> + %s>::f(T<1>)", "ns::of<...>::f(T<...>)" },
		{ "_ZN%s", NULL },
	};
	char filler[301], name[400];

	(void)state;
	memset(filler, 'x', sizeof filler - 1);
	filler[sizeof filler - 1] = '\0';
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		struct rt_report r = example();
		struct rt_buf b = {0}, line = {0};
		char want[260];

		snprintf(name, sizeof name, names[i][0], filler);
		r.now.frame[0].shown = r.now.frame[0].func = name;
		if (names[i][1])
			snprintf(want, sizeof want, "    #0 %s ring.cu:41 ", names[i][1]);
		else
			snprintf(want, sizeof want, "    #0 %.200s... ring.cu:41 ", name);
		rt_print_report(&b, &r, &(struct rt_look){ .pid = 1, .source = true, .strip = "/src/" });
		assert_non_null(strstr(b.text, want));
		rt_supp_line(&line, &r);
		assert_true(line.len < 250);
		assert_true(suppresses(line.text, &r));
		rt_buf_free(&b);
		rt_buf_free(&line);
	}
}

/* One instruction that writes both times may write the same value; it may be known, too. */
static void test_note(void **state)
{
	struct rt_report r = example();
	struct rt_buf b = {0};

	(void)state;
	r.before = r.now;
	rt_print_report(&b, &r, &plain);
	assert_non_null(strstr(b.text, "  Note: one instruction writes both times"));
	rt_buf_free(&b);
	r.values = GSAN_VALUES_DIFFER;
	rt_print_report(&b, &r, &plain);
	assert_null(strstr(b.text, "  Note:"));
	rt_buf_free(&b);
	r.before.ptx_line++;
	r.values = GSAN_VALUES_SAME;
	rt_print_report(&b, &r, &plain);
	assert_non_null(strstr(b.text, "  Note: same value: "));
	rt_buf_free(&b);
	r.values = GSAN_VALUES_UNKNOWN;
	rt_print_report(&b, &r, &plain);
	assert_null(strstr(b.text, "  Note:"));
	rt_buf_free(&b);
	r.before = r.now;
	r.before.write = false;
	rt_print_report(&b, &r, &plain);
	assert_null(strstr(b.text, "  Note:"));
	rt_buf_free(&b);
}

static void test_hits(void **state)
{
	struct rt_supps s = supps("race:nobody\nrace:producer\n");
	struct rt_report r = example();
	struct rt_buf b = {0};

	(void)state;
	rt_supps_list(&s, &b);
	assert_int_equal(b.len, 0);
	assert_true(rt_suppressed(&s, &r));
	r.count = 1;
	assert_true(rt_suppressed(&s, &r));
	rt_supps_list(&s, &b);
	assert_string_equal(b.text, "GSan: 1 suppression used:\n  13 race:producer\n");
	rt_buf_free(&b);
	rt_supps_free(&s);
}

static void test_bad_suppressions(void **state)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "race\n", "list:1: a suppression is TYPE:PATTERN" },
		{ "race:x\nraces:x\n", "list:2: unknown suppression type 'races'; known are data-race, " },
		{ "race:\n", "list:1: nothing after 'race:'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct rt_supps s = {0};
		struct rt_buf err = {0};

		assert_false(rt_supps_parse(&s, bad[i].text, "list", &err));
		assert_has(&err, bad[i].says);
		rt_supps_free(&s);
		rt_buf_free(&err);
	}
}

static void test_names(void **state)
{
	static const struct { const char *shown, *bare; } names[] = {
		{ "ring", "ring" },
		{ "ring(int*)", "ring" },
		{ "void scan<int, 4>(int*, int (*)(int))", "scan<int, 4>" },
		{ "(anonymous namespace)::k(int)", "(anonymous namespace)::k" },
		{ "void (anonymous namespace)::k<a(b)>(int)", "(anonymous namespace)::k<a(b)>" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *bare = rt_bare_name(names[i].shown);

		assert_string_equal(bare, names[i].bare);
		free(bare);
	}
	rt_flags.demangle = 1;
	assert_string_equal(rt_demangle("plain"), "plain");
	assert_string_equal(rt_demangle("_Znonsense"), "_Znonsense");
	rt_flags.demangle = 0;
	assert_string_equal(rt_demangle("_Z4ringPi"), "_Z4ringPi");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_words), cmocka_unit_test(test_missing),
		cmocka_unit_test(test_color), cmocka_unit_test(test_closing),
		cmocka_unit_test(test_nothing), cmocka_unit_test(test_glob),
		cmocka_unit_test(test_suppressions), cmocka_unit_test(test_offered),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_note),
		cmocka_unit_test(test_hits), cmocka_unit_test(test_bad_suppressions),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
