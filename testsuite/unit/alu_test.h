/* SPDX-License-Identifier: Apache-2.0
 *
 * alu_test.h: runs one arithmetic instruction, given as text, on given registers.
 *
 * The text goes through the real parser and decoder.  Register names give the
 * width: %p .pred, %b 8 bits, %h 16, %r 32, %d 64, %q 128.  Values are taken for
 * the source registers in order; literals come from the text.
 */
#ifndef ALU_TEST_H
#define ALU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/alu.h"
#include "ptxparse/ptx.h"

enum { ALU_TEST_WORDS = 16 };

/* An instruction, parsed and decoded.  Tests run the same few on many values, so
 * the last ones are kept. */
struct alu_case {
	char text[160];
	struct ptx_module *mod;
	const struct ptx_inst *inst;
	struct emu_alu alu;
	bool ok;
	const char *why;
};

enum { ALU_CASES = 16 };

static struct {
	struct alu_case kept[ALU_CASES], *now;
	unsigned next;
} alu_test;

/* The one instruction of a module around `text`; NULL if it does not parse. */
static const struct ptx_inst *alu_test_parse(const char *text, struct ptx_module **mod)
{
	char buf[1024];
	int len = snprintf(buf, sizeof buf,
			   ".version 9.0\n.target sm_120a\n.address_size 64\n.entry k()\n{\n"
			   ".reg .pred %%p<10>; .reg .b8 %%b<10>; .reg .b16 %%h<10>; .reg .b32 %%r<20>;\n"
			   ".reg .b64 %%d<10>; .reg .b128 %%q<4>;\n%s\n}\n", text);

	*mod = ptx_parse("test", buf, (size_t)len, NULL, NULL);
	if (!*mod)
		return NULL;
	for (const struct ptx_stmt *s = (*mod)->first; s; s = s->next) {
		if (s->kind != STMT_FUNC)
			continue;
		for (const struct ptx_stmt *b = s->func->body; b; b = b->next) {
			if (b->kind == STMT_INST && b->inst.id != INST_UNKNOWN)
				return &b->inst;
		}
	}
	return NULL;
}

static inline bool alu_test_load(const char *text)
{
	struct alu_case *c = alu_test.now;

	if (c && !strcmp(c->text, text))
		return c->ok;
	for (unsigned i = 0; i < ALU_CASES; i++) {
		c = alu_test.now = &alu_test.kept[i];
		if (!strcmp(c->text, text))
			return c->ok;
	}
	c = alu_test.now = &alu_test.kept[alu_test.next++ % ALU_CASES];
	if (c->mod)
		ptx_free(c->mod);
	*c = (struct alu_case){ .ok = false };
	snprintf(c->text, sizeof c->text, "%s", text);
	c->inst = alu_test_parse(text, &c->mod);
	if (!c->inst)
		fail_msg("cannot parse: %s", text);
	c->ok = emu_alu_decode(c->inst, &c->alu, &c->why);
	return c->ok;
}

/* Lays out one source operand; *v are the values left for registers. */
static inline unsigned alu_test_flatten(const struct ptx_operand *o, uint64_t *src, const uint64_t **v)
{
	unsigned n = 0;

	switch (o->kind) {
	case OP_VEC:
		for (unsigned i = 0; i < o->n; i++)
			n += alu_test_flatten(&o->list[i], src + n, v);
		return n;
	case OP_INT: case OP_FLOAT: case OP_EXPR:
		src[0] = emu_alu_literal(alu_test.now->inst, o);
		return 1;
	default:
		n = o->sym->type == TYPE_B128 ? 2 : 1;
		for (unsigned i = 0; i < n; i++)
			src[i] = *(*v)++;
		if (o->neg && o->sym->type == TYPE_PRED)
			src[0] ^= 1;
		return n;
	}
}

static inline const uint64_t *alu_test_run(const char *text, const uint64_t *values)
{
	static uint64_t dst[ALU_TEST_WORDS];
	const struct alu_case *c;
	uint64_t src[ALU_TEST_WORDS];
	unsigned n = 0;

	if (!alu_test_load(text))
		fail_msg("not decoded: %s (%s)", text, alu_test.now->why);
	c = alu_test.now;
	for (unsigned i = 1; i < c->inst->nops; i++)
		n += alu_test_flatten(&c->inst->ops[i], src + n, &values);
	assert_int_equal(n, c->alu.nsrc);
	if (emu_alu_uses_cc(&c->alu))
		src[n] = *values++;
	memset(dst, 0xee, sizeof dst);
	c->alu.fn(&c->alu, dst, src);
	return dst;
}

/* First result, or the i-th. */
#define RUN(text, ...) (alu_test_run(text, (const uint64_t[]){ __VA_ARGS__ })[0])
#define RUN_I(i, text, ...) (alu_test_run(text, (const uint64_t[]){ __VA_ARGS__ })[i])

#define CHECK(want, text, ...) \
	do { \
		const uint64_t want_ = (uint64_t)(want), got_ = RUN(text, __VA_ARGS__); \
		if (want_ != got_) \
			fail_msg("%s:%d: %s(%s): %#llx, not %#llx", __FILE__, __LINE__, text, \
				 #__VA_ARGS__, (unsigned long long)got_, (unsigned long long)want_); \
	} while (0)

/* A refusal comes with its reason. */
#define REFUSED(text) \
	do { \
		if (alu_test_load(text) || !alu_test.now->why) \
			fail_msg("%s:%d: not refused: %s", __FILE__, __LINE__, text); \
	} while (0)

/* A small generator, so that failures repeat. */
static inline uint64_t alu_test_random(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

#endif
