/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_oracle.c: what the oracle asks of another detector: that all is named, whether it is certain or not.
 */
#include "emu_test.h"

#include "emu/oracle.h"

/* Block 1 reads what block 0 wrote; both have run a fence.sc, and no access tells in which order:
 * block 1 hears of the other by a relaxed flag behind its own. */
#define UNORDERED ".visible .entry k(.param .u64 p) {\n" \
	".reg .b32 %c, %v; .reg .b64 %d; .reg .pred %p;\n" \
	"ld.param.u64 %d, [p]; mov.u32 %c, %ctaid.x; setp.eq.u32 %p, %c, 1; @%p bra SECOND;\n" \
	"SEEN: ld.relaxed.gpu.u32 %v, [%d+32]; setp.eq.u32 %p, %v, 0; @%p bra SEEN;\n" \
	"st.u32 [%d], 7;\n" \
	"fence.sc.gpu;\n" \
	"st.relaxed.gpu.u32 [%d+64], 1; ret;\n" \
	"SECOND: st.relaxed.gpu.u32 [%d+32], 1;\n" \
	"fence.sc.gpu;\n" \
	"TOLD: ld.relaxed.gpu.u32 %v, [%d+64]; setp.eq.u32 %p, %v, 0; @%p bra TOLD;\n" \
	"ld.u32 %v, [%d];\n" \
	"ret; }\n"
/* Of these there is no doubt. */
#define PLAIN ".visible .entry k(.param .u64 p) {\n" \
	".reg .b32 %c; .reg .b64 %d;\n" \
	"ld.param.u64 %d, [p]; mov.u32 %c, %ctaid.x;\n" \
	"st.v4.u32 [%d], {%c, %c, %c, %c};\n" \
	"ret; }\n"

enum { WRITE = 8, READ = 14, STORE = 7 };

static void run_watched(const char *text)
{
	emu_oracle_forget();
	assert_int_equal(emu_oracle(NULL, 0), 0);
	load(text);
	ok(run(2, 1, 0));
}

static void count(void *arg, enum emu_oracle_word word, const struct emu_oracle_pair *p)
{
	(void)p;
	assert_int_equal(word, ORACLE_LACKS);
	++*(unsigned *)arg;
}

static unsigned lacks(const struct emu_oracle_pair *given, size_t n)
{
	unsigned told = 0;
	int bad = emu_oracle_judge(given, n, count, &told);

	assert_int_equal(bad, told);
	return told;
}

/* Seeds under which block 0's fence ran first: there the race is uncertain. */
static void uncertain(void **unused)
{
	const struct emu_oracle_pair pair = {"data-race", {WRITE, READ}};
	unsigned doubtful = 0;

	(void)unused;
	for (unsigned seed = 0; seed < 12; seed++) {
		struct emu_oracle_finding f;

		emu_set_seed(seed);
		run_watched(PTX(UNORDERED));
		assert_int_equal(emu_oracle_findings(&f, 1), 1);
		assert_string_equal(f.pair.kind, "data-race");
		assert_int_equal(f.pair.line[0], WRITE);
		assert_int_equal(f.pair.line[1], READ);
		doubtful += !f.certain;
		assert_int_equal(lacks(NULL, 0), 1);
		assert_int_equal(lacks(&pair, 1), 0);
	}
	assert_true(doubtful);
}

static void certain(void **unused)
{
	const struct emu_oracle_pair pair = {"data-race", {STORE, STORE}};
	struct emu_oracle_finding f;

	(void)unused;
	run_watched(PTX(PLAIN));
	assert_int_equal(emu_oracle_findings(&f, 1), 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(f.inst[i], "st");
		assert_int_equal(f.bytes[i], 16);
	}
	assert_int_equal(lacks(NULL, 0), 1);
	assert_int_equal(lacks(&pair, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uncertain), cmocka_unit_test(certain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
