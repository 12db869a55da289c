/* SPDX-License-Identifier: Apache-2.0
 *
 * parse_tree.c: what the parser makes of a text, beyond what printing it shows:
 * which symbol a name stands for, numbers of registers, folded values, sizes,
 * initialisers, lines; and that hostile text ends in an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptxparse/ptx.h"

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

static struct ptx_module *parse(const char *text)
{
	struct ptx_module *m = ptx_parse("x.ptx", text, strlen(text), NULL, NULL);

	assert_non_null(m);
	return m;
}

/* The n-th statement of a kind in the body of `name`, from 0. */
static struct ptx_stmt *nth(struct ptx_module *m, const char *name, enum ptx_stmt_kind kind,
			    unsigned n)
{
	struct ptx_stmt *s = ptx_lookup(m, name)->func->body;

	for (; s; s = s->next)
		if (s->kind == kind && n-- == 0)
			return s;
	fail_msg("no such statement");
	return NULL;
}

static const struct ptx_operand *op(struct ptx_module *m, unsigned inst, unsigned n)
{
	struct ptx_stmt *s = nth(m, "k", STMT_INST, inst);

	assert_true(n < s->inst.nops);
	return &s->inst.ops[n];
}

static void test_arena(void **state)
{
	struct ptx_arena *a = ptx_arena_new();
	char name[20];
	const char *first;
	unsigned char *p;
	size_t n, i;

	(void)state;
	for (n = 1; n < 300000; n = n * 3 + 1) {
		p = ptx_alloc(a, n);
		assert_int_equal((uintptr_t)p % 8, 0);
		for (i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
	}
	first = ptx_intern(a, "abcdef", 3);
	assert_string_equal(first, "abc");
	/* Beyond what the first table of words holds. */
	for (n = 0; n < 30000; n++) {
		snprintf(name, sizeof name, "w%u", (unsigned)n);
		ptx_intern(a, name, strlen(name));
	}
	assert_ptr_equal(ptx_intern(a, "xabc" + 1, 3), first);
	assert_ptr_not_equal(ptx_intern(a, "abd", 3), first);
	assert_int_equal(strlen(ptx_sprintf(a, "%0300d", 7)), 300);
	assert_string_equal(ptx_sprintf(a, "%s-%d", "a", 5), "a-5");
	ptx_arena_free(a);
}

static void test_names(void **state)
{
	struct ptx_module *m = parse(HEAD
		".global .u32 g;\n"
		".entry k(.param .u32 x) {\n"
		"	.reg .b32 %r<3>, a; .reg .f64 %d<2>; .reg .pred p;\n"
		"	mov.b32 %r1, a;\n"                              /* 0 */
		"	{ .reg .b64 %r1; mov.b64 %r1, 5; mov.b32 %r2, a;\n"     /* 1, 2 */
		"	  { .reg .b32 %r<2>; mov.b32 %r01, a; } }\n"    /* 3 */
		"	mov.b32 %r1, a;\n"                              /* 4 */
		"	bra L;\n"                                       /* 5 */
		"	{ bra L; @!p bra out; L: bra L; }\n"            /* 6, 7, 8 */
		"L:	ld.param.u32 a, [x];\n"                         /* 9 */
		"	{ bra L; { bra L; } L: }\n"                     /* 10, 11 */
		"out:	mov.u32 a, %tid.y;\n"                           /* 12 */
		"	ld.global.u32 a, [g+12];\n"                     /* 13 */
		"	{ .reg .b32 %tid; mov.b32 %tid, 1; }\n"         /* 14 */
		"	ret; }\n");
	const struct ptx_sym *r1 = op(m, 0, 0)->sym, *outer, *inner, *last;

	(void)state;
	assert_int_equal(r1->kind, SYM_REG);
	assert_string_equal(r1->name, "%r1");
	assert_int_equal(r1->reg, 1);
	assert_int_equal(op(m, 0, 1)->sym->reg, 3);
	assert_ptr_equal(op(m, 4, 0)->sym, r1);
	assert_ptr_not_equal(op(m, 1, 0)->sym, r1);
	assert_int_equal(op(m, 1, 0)->sym->type, TYPE_B64);
	assert_string_equal(op(m, 1, 0)->sym->name, r1->name);
	assert_ptr_equal(op(m, 2, 0)->sym, r1 + 1);
	assert_ptr_not_equal(op(m, 3, 0)->sym, r1);
	assert_string_equal(op(m, 3, 0)->sym->name, "%r1");
	/* 3 + 1 + 2 + 1 outside, 1 and 2 inside, 1 at the end. */
	assert_int_equal(ptx_lookup(m, "k")->func->nregs, 11);

	outer = nth(m, "k", STMT_LABEL, 1)->sym;
	inner = nth(m, "k", STMT_LABEL, 0)->sym;
	/* Equal names are equal pointers. */
	assert_ptr_equal(inner->name, outer->name);
	last = nth(m, "k", STMT_LABEL, 2)->sym;
	assert_int_equal(outer->kind, SYM_LABEL);
	assert_ptr_equal(op(m, 5, 0)->sym, outer);
	assert_ptr_equal(op(m, 6, 0)->sym, inner);
	assert_ptr_equal(op(m, 8, 0)->sym, inner);
	assert_ptr_equal(op(m, 10, 0)->sym, last);
	assert_ptr_equal(op(m, 11, 0)->sym, last);
	assert_string_equal(op(m, 7, 0)->sym->name, "out");
	assert_non_null(op(m, 7, 0)->sym->stmt);
	assert_true(nth(m, "k", STMT_INST, 7)->inst.guard_neg);
	assert_int_equal(nth(m, "k", STMT_INST, 7)->inst.guard->type, TYPE_PRED);

	assert_int_equal(op(m, 9, 1)->kind, OP_ADDR);
	assert_int_equal(op(m, 9, 1)->list[0].sym->space, SPACE_PARAM);
	assert_int_equal(op(m, 12, 1)->sym->kind, SYM_SREG);
	assert_int_equal(op(m, 12, 1)->sym->reg, SREG_TID);
	assert_int_equal(op(m, 12, 1)->elem, 'y');
	assert_ptr_equal(op(m, 13, 1)->list[0].sym, ptx_lookup(m, "g"));
	assert_int_equal(op(m, 13, 1)->list[0].off, 12);
	assert_int_equal(op(m, 14, 0)->sym->kind, SYM_REG);
	assert_null(ptx_lookup(m, "%tid"));
	assert_null(ptx_lookup(m, "a"));
	ptx_free(m);
}

static void test_values(void **state)
{
	static const struct { const char *text; int64_t value; } cases[] = {
		{"0x1F", 31}, {"017", 15}, {"0b101", 5}, {"42U", 42}, {"-5", -5}, {"- 7", -7},
		{"0xFFFFFFFFFFFFFFFF", -1}, {"1<<4|2", 18}, {"-(3+4)*2", -14}, {"(0-7)>>1", -4},
		{"3 == 3 && 4 != 5 || 0", 1}, {"0 ? 1 : 2 ? 3 : 4", 3}, {"~5", -6}, {"!5", 0},
		{"(.u64)0xffffffff >> 4", 0xfffffff}, {"6 / 4 ^ 1 & 3", 0}, {"WARP_SZ-1", 31},
		/* As ptxas folds them: see expr.c. */
		{"-7 % 4", 1}, {"7 % -4", 7}, {"-7 / 2", -3}, {"-8 >> 1", -4}, {"-8 >> 65", -4},
		{"1 << 64", 1}, {"(-8U) / 4", 0x3ffffffffffffffe}, {"(~0) > 0", 1}, {"-5 < 3U", 0},
		{"(0 ? 1U : -1) > 0", 0}, {"(1<<2U) - 5 > 0", 0}, {"(1U<<2) - 5 > 0", 1},
		{"(7 % 4) - 4 > 0", 1}, {"(3U == 3) - 2 > 0", 0}, {"(.s64)5U - 6 > 0", 0},
		{"(((5)))", 5}, {"5 - 3 - 1", 1}, {"100 / 10 / 2", 5},
		{"0x8000000000000000 / -1", 0}, {"(0-0x7fffffffffffffff-1) / -1", INT64_MIN},
	};
	char text[400];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ptx_buf printed = { 0 };
		struct ptx_module *m;

		snprintf(text, sizeof text, HEAD ".entry k() { .reg .b64 a; mov.b64 a, %s;"
			 " ld.global.u64 a, [a+(%s)]; }", cases[i].text, cases[i].text);
		m = parse(text);
		assert_true(op(m, 0, 1)->kind == OP_INT || op(m, 0, 1)->kind == OP_EXPR);
		assert_int_equal(op(m, 0, 1)->ival, cases[i].value);
		ptx_print_operand(&printed, op(m, 0, 1));
		ptx_put(&printed, "", 1);
		assert_string_equal(printed.p, cases[i].text);
		free(printed.p);
		assert_int_equal(op(m, 1, 1)->list[0].off, cases[i].value);
		ptx_free(m);
	}
}

static void test_operands(void **state)
{
	struct ptx_module *m = parse(HEAD
		".shared .align 8 .v2 .f32 s[8];\n"
		".func (.param .b32 r) f(.param .b32 a) { ret; }\n"
		".entry k() { .reg .b32 r<9>; .reg .f32 x; .reg .f64 y; .reg .pred p, q; .reg .v4 .b32 v;\n"
		"	mov.f32 x, 0fBF800000; add.f64 y, y, -1.5;\n"           /* 0 1 */
		"	setp.eq.and.s32 p|_, r1, 3, !q;\n"                      /* 2 */
		"	mov.v4.b32 v, {1, _, r2, v.w};\n"                       /* 3 */
		"	mov.u32 r1, s[3]; ld.shared.u32 r1, s[3];\n"            /* 4 5 */
		"	tex.1d.v4.s32.f32 {r1, r2, r3, r4}|p, [y, {x, x}], {r5, r6};\n"
		"	call (r1), f, ((5), r2);\n"                             /* 7 */
		"	ld.global.u32 r1, [r2+-4+0].unified;\n"                 /* 8 */
		"	vmad.u32.u32.u32 r1, r2.b3, r3.h1, -r4;\n"              /* 9 */
		"	.frob; frob.x r1, [heard, of], other+3; }\n");          /* 10 */
	const struct ptx_operand *o;

	(void)state;
	assert_int_equal(op(m, 0, 1)->ival, 0xBF800000);
	assert_false(op(m, 0, 1)->isdouble);
	assert_true(op(m, 1, 2)->isdouble);
	assert_int_equal(op(m, 1, 2)->ival, 0xBFF8000000000000);
	o = op(m, 2, 0);
	assert_int_equal(o->kind, OP_PAIR);
	assert_int_equal(o->n, 2);
	assert_int_equal(o->list[1].kind, OP_SINK);
	assert_true(op(m, 2, 3)->neg);
	o = op(m, 3, 1);
	assert_int_equal(o->kind, OP_VEC);
	assert_int_equal(o->n, 4);
	assert_string_equal(o->list[3].elemtext, "w");
	/* An index counts scalars, even of vectors. */
	assert_int_equal(op(m, 4, 1)->kind, OP_SYM);
	assert_int_equal(op(m, 4, 1)->off, 12);
	assert_int_equal(op(m, 5, 1)->kind, OP_ADDR);
	assert_int_equal(op(m, 5, 1)->list[0].off, 12);
	o = op(m, 6, 0);
	assert_int_equal(o->kind, OP_PAIR);
	assert_int_equal(o->list[0].kind, OP_VEC);
	assert_int_equal(op(m, 6, 1)->n, 2);
	assert_int_equal(op(m, 6, 1)->list[1].kind, OP_VEC);
	assert_int_equal(op(m, 7, 0)->kind, OP_LIST);
	assert_ptr_equal(op(m, 7, 1)->sym, ptx_lookup(m, "f"));
	o = op(m, 7, 2);
	assert_int_equal(o->kind, OP_LIST);
	assert_int_equal(o->list[0].kind, OP_EXPR);
	assert_int_equal(o->list[0].ival, 5);
	o = op(m, 8, 1);
	assert_string_equal(o->elemtext, "unified");
	assert_int_equal(o->list[0].off, -4);
	assert_int_equal(op(m, 9, 1)->elem, 'b');
	assert_string_equal(op(m, 9, 2)->elemtext, "h1");
	assert_true(op(m, 9, 3)->neg);
	assert_int_equal(nth(m, "k", STMT_INST, 10)->inst.id, INST_UNKNOWN);
	assert_int_equal(op(m, 10, 1)->list[1].sym->kind, SYM_UNRESOLVED);
	assert_int_equal(op(m, 10, 0)->sym->kind, SYM_REG);
	assert_int_equal(op(m, 10, 2)->off, 3);
	assert_int_equal(m->nunknown, 2);
	assert_int_equal(m->ninsts, 12);
	ptx_free(m);
}

static void test_declarations(void **state)
{
	struct ptx_module *m = parse(HEAD
		".visible .global .align 16 .v4 .f32 a[4][5];\n"
		".extern .global .u32 e; .visible .global .u32 e;\n"
		".extern .shared .b8 dyn[];\n"
		".global .u16 open[] = {1, 2, 3}, rows[][2] = {{1, 2}, {3, 4}, {5}};\n"
		".global .u64 t[3] = {a, generic(e)+8, 7};\n"
		".global .u8 b[2] = {0xff00(a+4), 9};\n"
		".global .f32 c[2] = {0f3f800000, -2.0};\n"
		".extern .func announced(.param .b32 a);\n"
		".func later();\n.func later() { ret; }\n"
		".weak .entry k(.param .u64 .ptr .global .align 8 p, .param .align 8 .b8 q[24])\n"
		"	.maxntid 64, 2 .minnctapersm 3 .maxnreg 40 .reqnctapercluster 2 .noreturn\n"
		"{ .reg .b16 r<5>; }\n");
	const struct ptx_func *f = ptx_lookup(m, "k")->func;
	const struct ptx_sym *s = ptx_lookup(m, "a");
	const struct ptx_init *i;

	(void)state;
	assert_int_equal(m->version, 90);
	assert_int_equal(m->sm, 90);
	assert_int_equal(m->sm_suffix, 'a');
	assert_int_equal(s->bytes, 320);
	assert_int_equal(s->vec, 4);
	assert_int_equal(s->align, 16);
	assert_int_equal(s->var->ndims, 2);
	assert_int_equal(s->var->dim[1], 5);
	assert_string_equal(s->var->link, ".visible");
	assert_string_equal(ptx_lookup(m, "e")->var->link, ".visible");
	assert_int_equal(ptx_lookup(m, "dyn")->bytes, 0);
	assert_int_equal(ptx_lookup(m, "open")->bytes, 6);
	assert_int_equal(ptx_lookup(m, "rows")->bytes, 12);
	/* e counts once. */
	assert_int_equal(m->nglobals, 11);

	i = ptx_lookup(m, "t")->var->inits;
	assert_ptr_equal(i->sym, s);
	assert_false(i->generic);
	i = i->next;
	assert_ptr_equal(i->sym, ptx_lookup(m, "e"));
	assert_true(i->generic);
	assert_int_equal(i->ival, 8);
	i = i->next;
	assert_null(i->sym);
	assert_int_equal(i->ival, 7);
	assert_null(i->next);
	i = ptx_lookup(m, "b")->var->inits;
	assert_int_equal(i->mask, 0xff00);
	assert_int_equal(i->ival, 4);
	i = ptx_lookup(m, "c")->var->inits;
	assert_true(i->isfloat && !i->isdouble);
	assert_true(i->next->isdouble);
	assert_int_equal(i->next->ival, 0xC000000000000000);

	assert_true(ptx_lookup(m, "later")->func->has_body);
	assert_int_equal(ptx_lookup(m, "announced")->func->nparams, 1);
	assert_string_equal(ptx_lookup(m, "announced")->func->params->sym->name, "a");
	assert_true(f->entry && f->noreturn);
	assert_string_equal(f->link, ".weak");
	assert_int_equal(f->nparams, 2);
	assert_string_equal(f->params->attrs, ".ptr .global .align 8");
	assert_int_equal(f->params->sym->align, 0);
	assert_int_equal(f->params->next->sym->bytes, 24);
	assert_int_equal(f->maxntid[0], 64);
	assert_int_equal(f->maxntid[1], 2);
	assert_int_equal(f->maxntid[2], 1);
	assert_int_equal(f->reqntid[0], 0);
	assert_int_equal(f->cluster[0], 2);
	assert_int_equal(f->minnctapersm, 3);
	assert_int_equal(f->maxnreg, 40);
	assert_int_equal(f->line, 14);
	assert_int_equal(f->end_line, 16);
	ptx_free(m);
}

static void test_lines(void **state)
{
	struct ptx_module *m = parse(HEAD
		".func f() { .loc 1 11 5 .loc 1 20 1\n ret; }\n"
		".entry k() { .reg .b32 r;\n"
		"	mov.u32 r, 0;\n"
		"	.loc 1 11 5\n"
		"	mov.u32 r, 1; mov.u32 r, 2;\n"
		"	.loc 2 3 9, function_name fa, inlined_at 1 11 5\n"
		"	{ mov.u32 r, 3;\n"
		"	.loc 2 7 2, function_name fb + 4, inlined_at 2 3 9 mov.u32 r, 4; }\n"
		"	.loc 1 12 3, function_name fc, inlined_at 1 20 1\n"
		"	mov.u32 r, 5; }\n"
		".file 2 \"b.h\" .file 1 \"a.cu\", 12, 34\n");
	struct ptx_stmt *s = nth(m, "k", STMT_INST, 1), *t;
	const struct ptx_loc *l;

	(void)state;
	assert_null(nth(m, "k", STMT_INST, 0)->loc);
	assert_int_equal(s->line, 9);
	assert_int_equal(s->col, 2);
	t = nth(m, "k", STMT_INST, 2);
	assert_int_equal(t->col, 16);
	assert_ptr_equal(s->loc, t->loc);
	assert_int_equal(s->loc->line, 11);
	assert_int_equal(s->loc->col, 5);
	l = nth(m, "k", STMT_INST, 4)->loc;
	assert_int_equal(l->line, 7);
	assert_string_equal(l->func, "fb");
	assert_int_equal(l->func_off, 4);
	l = l->inlined_at;
	assert_ptr_equal(l, nth(m, "k", STMT_INST, 3)->loc);
	assert_string_equal(l->func, "fa");
	/* The .loc of this function, not the other one's. */
	assert_ptr_equal(l->inlined_at, s->loc);
	assert_null(s->loc->inlined_at);
	l = nth(m, "k", STMT_INST, 5)->loc;
	assert_int_equal(l->inlined_at->line, 20);
	assert_ptr_not_equal(l->inlined_at, ptx_lookup(m, "f")->func->last->loc);
	assert_string_equal(ptx_file_name(m, 1), "a.cu");
	assert_string_equal(ptx_file_name(m, 2), "b.h");
	assert_null(ptx_file_name(m, 0));
	assert_null(ptx_file_name(m, 3));
	ptx_free(m);
}

static void test_changes(void **state)
{
	struct ptx_module *m = parse(HEAD ".entry k() { ret; }\n.func empty() { }\n");
	struct ptx_func *f = ptx_lookup(m, "k")->func, *e = ptx_lookup(m, "empty")->func;
	struct ptx_buf b = {0};

	(void)state;
	ptx_insert_before(m, f, f->body, "// two");
	ptx_insert_before(m, f, NULL, "// one");
	ptx_insert_after(m, f, f->last, "// three");
	ptx_insert_after(m, f, NULL, "// four");
	ptx_insert_after(m, e, NULL, "// in");
	ptx_insert_module(m, m->first, "// front");
	ptx_insert_module(m, NULL, "// back");
	ptx_print(&b, m);
	ptx_put(&b, "", 1);
	assert_string_equal(b.p, ".version 9.0\n.target sm_90a\n.address_size 64\n\n"
		"// front\n.entry k()\n{\n// one\n// two\n\tret;\n// three\n// four\n}\n\n"
		".func empty()\n{\n// in\n}\n\n// back\n");
	free(b.p);
	ptx_free(m);
}

/* --- limits --- */

static unsigned reported;

static void count(void *arg, const char *path, const struct ptx_error *e)
{
	(void)arg;
	(void)path;
	assert_non_null(e->text);
	reported++;
}

static void refuse(const char *head, const char *piece, unsigned times, const char *tail)
{
	struct ptx_buf b = {0};

	ptx_puts(&b, HEAD);
	ptx_puts(&b, head);
	while (times--)
		ptx_puts(&b, piece);
	ptx_puts(&b, tail);
	reported = 0;
	assert_null(ptx_parse("x.ptx", b.p, b.len, count, NULL));
	assert_in_range(reported, 1, 21);
	free(b.p);
}

static void test_limits(void **state)
{
	static const char odd[] = HEAD ".func f() { ret; }\0 .func g() { ret; }";
	struct ptx_module *m;

	(void)state;
	refuse(".func f() {\n", "{", 100000, "\n");
	refuse(".func f() {\n", "{", 990, "");
	refuse(".global .u32 x = ", "(", 100000, "1;\n");
	refuse(".global .u32 x = ", "-", 100000, "1;\n");
	refuse(".global .u32 x = ", "{", 100000, "1;\n");
	refuse(".global .u32 x = 1 ", "? 1 : 1 ", 100000, ";\n");
	refuse(".func f() { .reg .b32 r; mov.b32 r", ", r", 100000, "; }\n");
	refuse(".func f() { .reg .b32 r; mov.b32 {r", ", r", 100000, "}; }\n");
	refuse(".func f() { .reg .b32 r; mov", ".b32", 200, " r, r; }\n");
	refuse(".func ", "a", 100000, "() { ret; }\n");
	refuse(".pragma \"", "a", 100000, "\";\n");
	refuse(".global .u32 x", "[1]", 1000, ";\n");
	refuse(".func f() { .reg .b32 r<4000000000>;", " ", 1, "}\n");
	refuse(".func f() {", ".reg .b32 a<900000>; { ", 30, "}\n");
	refuse("L: .branchtargets", " ", 1, "L<2000000000>;\n");
	refuse(".func f() { ret; }\n", "}", 100000, "\n");
	refuse("", "@", 100000, "\n");
	refuse("", "?;", 100000, "\n");
	refuse(".file 4294967295 \"x\"", " ", 1, "\n");
	refuse("", "\377", 1000, "\n");
	refuse(".section .debug_str {", "{", 10, "\n");
	refuse(".section .debug_str {", "a", 100000, "");
	assert_null(ptx_parse("x.ptx", odd, sizeof odd - 1, count, NULL));

	/* What is only long is no error: more digits than a number has. */
	m = parse(HEAD ".entry k() { .reg .b32 r00000000000000000007, r7, r<3>;"
		  " mov.b32 r7, r00000000000000000007; mov.b32 r7, r2; }");
	assert_ptr_not_equal(op(m, 0, 0)->sym, op(m, 0, 1)->sym);
	assert_int_equal(op(m, 1, 1)->sym->reg, 4);
	ptx_free(m);
}

/* Every prefix of a text, and every text with one byte changed, ends well. */
static void test_broken(void **state)
{
	static const char text[] = HEAD
		".pragma \"nounroll\"; .file 1 \"a\" .global .u8 b[2] = {0xff(b), generic(b)+1}; .frob {1};\n"
		".func (.param .u32 r) f(.param .b8 x[4]) .noreturn;\n"
		".entry k(.param .u64 .ptr .align 4 p) .maxntid 1, 2 { .reg .b32 %r<3>, a; .reg .pred p1;\n"
		".loc 1 2 3, function_name k + 1, inlined_at 1 2 3 L: @!p1 bra L; { mov.v2.b32 {a, _}, %tid.x; }\n"
		"T: .branchtargets L<2>, L; P: .callprototype (.reg .b32 _) _ (); call (a), %r1, (1, -2.5), P;\n"
		"ld.global.v2.u32 a|p1, [a+(3*4)? 1 : 2, {a}].unified; .section .debug_str { .b8 1 } }\n";
	static const char bytes[] = ";{}()[]<>.,:@!|+-%\"'/*0aL_ \n\0\377";
	char copy[sizeof text];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof text; i++)
		ptx_free(ptx_parse("x.ptx", text, i, count, NULL));
	for (i = 0; i < sizeof text - 1; i++)
		for (k = 0; k < sizeof bytes - 1; k++) {
			memcpy(copy, text, sizeof text);
			copy[i] = bytes[k];
			ptx_free(ptx_parse("x.ptx", copy, sizeof text - 1, count, NULL));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
