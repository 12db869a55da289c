/* SPDX-License-Identifier: Apache-2.0
 *
 * parse_table.c: kw.def and inst.def agree with each other and with the spelling
 * of their words, and an instruction finds its row whatever the order of its
 * modifiers.  Every row and every kind of statement and operand is in some file
 * of testsuite/parse, which ptxas checks (testsuite/parse/run.sh, newer.sh).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <ctype.h>
#include <glob.h>

#include "ptxparse/parse.h"

static const char *const mod_ids[] = {
	"NONE",
#define MOD(id, text) #id,
#include "ptxparse/kw.def"
};

static const char *const inst_ids[] = {
	"UNKNOWN",
#define INST(id, base, mods, access, order, model, ptx, sm) #id,
#include "ptxparse/inst.def"
};

/* ".shared::cta" is SHARED_CTA. */
static void spell(char *id, const char *text)
{
	for (text++; *text; text++) {
		if (text[0] == ':' && text[1] == ':')
			text++;
		*id++ = (char)(isalnum((unsigned char)*text) ? toupper((unsigned char)*text) : '_');
	}
	*id = 0;
}

static void test_words(void **state)
{
	char id[200];
	int i, k;

	(void)state;
	for (i = 1; i < MOD_COUNT; i++) {
		const char *text = ptx_mod_text((enum ptx_mod)i);

		assert_int_equal(text[0], '.');
		spell(id, text);
		/* Two words differ in nothing but case. */
		if (strcmp(text, ".NaN") == 0)
			strcpy(id, "NAN_PROP");
		assert_string_equal(id, mod_ids[i]);
		for (k = 1; k < i; k++)
			assert_string_not_equal(text, ptx_mod_text((enum ptx_mod)k));
	}
	for (i = 1; i < TYPE_COUNT; i++) {
		assert_true(ptx_type_bits((enum ptx_type)i) > 0);
		for (k = 1; k < MOD_COUNT; k++)
			if ((int)ptx_mod_type((enum ptx_mod)k) == i)
				break;
		assert_true(k < MOD_COUNT);
		assert_string_equal(ptx_mod_text((enum ptx_mod)k), ptx_type_text((enum ptx_type)i));
	}
	assert_int_equal(ptx_mod_type(MOD_GLOBAL), TYPE_NONE);
	assert_int_equal(ptx_mod_type(MOD_BF16X2), TYPE_BF16X2);
	assert_int_equal(ptx_type_bits(TYPE_F32X2), 64);
	assert_string_equal(ptx_sreg_text(SREG_CLUSTER_CTARANK), "%cluster_ctarank");
	assert_int_equal(ptx_sreg_type(SREG_CLOCK64), TYPE_U64);
}

static void test_rows(void **state)
{
	struct ptx_arena *a = ptx_arena_new();
	char text[200];
	int i, k;

	(void)state;
	ptx_table_words(a);
	for (i = 1; i < INST_ID_COUNT; i++) {
		const struct ptx_inst_row *r = &ptx_insts[i];
		struct opcode *o;
		unsigned n;

		snprintf(text, sizeof text, "%s%s%s", r->base, *r->mods ? "." : "", r->mods);
		/* A row finds itself, and knows its words. */
		o = ptx_opcode(a, ptx_word(a, text, strlen(text)));
		assert_int_equal(o->id, i);
		for (n = 0; n < o->nmods; n++)
			assert_int_not_equal(o->mod[n], MOD_NONE);
		memmove(text + 1, text, strlen(text) + 1);
		text[0] = '.';
		spell(text, text);
		assert_string_equal(text, inst_ids[i]);
		assert_in_range(r->ptx, 10, 95);
		assert_in_range(r->sm, 10, 121);
		if (r->model == MODEL_FULL)
			assert_true(r->access != ACCESS_NONE || r->order != ORDER_NONE);
		if (r->model == MODEL_PLAIN)
			assert_true(r->access == ACCESS_NONE && r->order == ORDER_NONE);
		/* Rows of one first word stand together. */
		for (k = 1; k < i - 1; k++)
			if (strcmp(ptx_insts[k].base, r->base) == 0 &&
			    strcmp(ptx_insts[i - 1].base, r->base) != 0)
				fail_msg("%s is torn apart", r->base);
	}
	ptx_arena_free(a);
}

static enum ptx_inst_id id_of(struct ptx_arena *a, const char *s)
{
	return ptx_opcode(a, ptx_word(a, s, strlen(s)))->id;
}

static void test_lookup(void **state)
{
	struct ptx_arena *a = ptx_arena_new();
	struct opcode *o;
	struct ptx_inst in = {0};
	char many[400] = "add";
	int i;

	(void)state;
	ptx_table_words(a);
	assert_int_equal(id_of(a, "ld"), INST_LD);
	assert_int_equal(id_of(a, "ld.u32.global"), INST_LD);
	/* It may be anything else than what the row says, unless that says that it is nothing. */
	assert_int_equal(id_of(a, "ld.never.heard.of"), INST_UNKNOWN);
	assert_int_equal(id_of(a, "add.never.heard.of"), INST_ADD);
	assert_int_equal(id_of(a, "cp.async.bulk.shared::cta.global.ignore_oob"), INST_UNKNOWN);
	assert_int_equal(id_of(a, "cp.async.bulk.relaxed.gpu.global.shared::cta"), INST_CP_ASYNC_BULK_RELAXED);
	assert_int_equal(id_of(a, "multimem.st.async.release.sys.global.b32"), INST_MULTIMEM_ST_ASYNC);
	assert_int_equal(id_of(a, "ldx.u32"), INST_UNKNOWN);
	assert_int_equal(id_of(a, "l"), INST_UNKNOWN);
	assert_int_equal(id_of(a, "cp.async.bulk.tensor.2d.global.shared::cta"), INST_CP_ASYNC_BULK_TENSOR);
	assert_int_equal(id_of(a, "cp.tensor.2d.bulk.async"), INST_CP_ASYNC_BULK_TENSOR);
	assert_int_equal(id_of(a, "cp.async.bulk.prefetch.L2.global"), INST_CP_ASYNC_BULK_PREFETCH);
	assert_int_equal(id_of(a, "cp.async.bulk.wait_group.read"), INST_CP_ASYNC_BULK_WAIT_GROUP);
	assert_int_equal(id_of(a, "cp.async.bulks"), INST_UNKNOWN);
	assert_int_equal(id_of(a, "bar.warp.sync"), INST_BAR_WARP_SYNC);
	assert_int_equal(id_of(a, "bar.sync"), INST_BAR);
	assert_int_equal(id_of(a, "barrier.arrive.cluster.relaxed"), INST_BARRIER_CLUSTER_ARRIVE);
	assert_int_equal(id_of(a, "fence.proxy.async.shared::cta"), INST_FENCE_PROXY_ASYNC);
	assert_int_equal(id_of(a, "fence.proxy.async::generic.acquire"), INST_FENCE_PROXY_ASYNC_GENERIC);
	assert_int_equal(id_of(a, "st.async.weak"), INST_ST_ASYNC);
	/* A row needs all of its modifiers. */
	assert_int_equal(id_of(a, "mbarrier.frob"), INST_UNKNOWN);
	assert_int_equal(id_of(a, "vote.ballot.b32"), INST_VOTE);

	o = ptx_opcode(a, ptx_word(a, "cvt.rn.f16x2.f32", 16));
	assert_int_equal(o->type, TYPE_F32);
	assert_int_equal(o->type2, TYPE_F16X2);
	assert_ptr_equal(o, ptx_opcode(a, ptx_word(a, "cvt.rn.f16x2.f32", 16)));
	o = ptx_opcode(a, ptx_word(a, "ld.v4.shared::cta.odd", 21));
	in.mod = o->mod;
	in.nmods = (unsigned char)o->nmods;
	assert_int_equal(o->space, SPACE_SHARED);
	assert_int_equal(ptx_inst_vec(&in), 4);
	assert_true(ptx_has(&in, MOD_SHARED_CTA));
	assert_false(ptx_has(&in, MOD_SHARED));
	assert_int_equal(o->mod[2], MOD_NONE);
	assert_string_equal(o->modtext[2], ".odd");
	in.nmods = 0;
	assert_int_equal(ptx_opcode(a, ptx_word(a, "add.u32", 7))->space, SPACE_NONE);
	assert_int_equal(ptx_inst_vec(&in), 1);

	for (i = 0; i < MAX_MODS; i++)
		strcat(many, ".cc");
	assert_non_null(ptx_opcode(a, ptx_word(a, many, strlen(many))));
	strcat(many, ".cc");
	assert_null(ptx_opcode(a, ptx_word(a, many, strlen(many))));
	ptx_arena_free(a);
}

/* --- what testsuite/parse covers --- */

static unsigned char rows[INST_ID_COUNT], stmts[STMT_TEXT + 1], ops[OP_EXPR + 1];

static void see_ops(const struct ptx_operand *o, unsigned n)
{
	for (; n; n--, o++) {
		ops[o->kind] = 1;
		see_ops(o->list, o->n);
	}
}

/* The first word of a spelling. */
static bool has_row(const char *text)
{
	size_t n = strcspn(text, ".");

	for (int i = 1; i < INST_ID_COUNT; i++)
		if (strlen(ptx_insts[i].base) == n && strncmp(ptx_insts[i].base, text, n) == 0)
			return true;
	return false;
}

static void see(const struct ptx_stmt *s)
{
	for (; s; s = s->next) {
		stmts[s->kind] = 1;
		if (s->kind == STMT_INST) {
			unsigned i;

			rows[s->inst.id] = 1;
			if (!has_row(s->inst.modtext[s->inst.nmods]))
				fail_msg("inst.def lacks %s", s->inst.modtext[s->inst.nmods]);
			for (i = 0; i < s->inst.nmods; i++)
				if (s->inst.mod[i] == MOD_NONE)
					fail_msg("kw.def lacks %s", s->inst.modtext[i]);
			see_ops(s->inst.ops, s->inst.nops);
		}
		if (s->kind == STMT_FUNC)
			see(s->func->body);
	}
}

static void read_file(const char *path, bool known)
{
	FILE *f = fopen(path, "rb");
	struct ptx_module *m;
	struct ptx_buf b = {0};
	char piece[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		ptx_put(&b, piece, n);
	fclose(f);
	m = ptx_parse(path, b.p, b.len, NULL, NULL);
	if (!m)
		fail_msg("%s does not parse", path);
	/* What ptxas takes is no unknown instruction, but for what has an OPEN modifier. */
	if (known && m->nunknown)
		fail_msg("%s has unknown instructions", path);
	see(m->first);
	ptx_free(m);
	free(b.p);
}

static void test_coverage(void **state)
{
	const char *dir = getenv("top_srcdir");
	char pattern[4096];
	int i, missing = 0;
	glob_t g;
	size_t k;

	(void)state;
	snprintf(pattern, sizeof pattern, "%s/testsuite/parse/*.ptx", dir ? dir : ".");
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	for (k = 0; k < g.gl_pathc; k++)
		read_file(g.gl_pathv[k], true);
	globfree(&g);
	snprintf(pattern, sizeof pattern, "%s/testsuite/parse/newer/*.ptx", dir ? dir : ".");
	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	for (k = 0; k < g.gl_pathc; k++)
		read_file(g.gl_pathv[k], false);
	globfree(&g);
	for (i = 1; i < INST_ID_COUNT; i++)
		if (!rows[i]) {
			print_error("no file in testsuite/parse has %s\n", inst_ids[i]);
			missing++;
		}
	for (i = 0; i <= OP_EXPR; i++)
		assert_true(ops[i]);
	for (i = 0; i < STMT_TEXT; i++)
		assert_true(stmts[i]);
	assert_int_equal(missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_coverage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
