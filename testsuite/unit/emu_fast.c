/* SPDX-License-Identifier: Apache-2.0
 *
 * emu_fast.c: the fast forms of arithmetic compute what emu_alu computes, for full
 * and partial groups, and write no other lanes.
 */
#include "emu/emu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TYPES(op) op ".u32 %r0, %r1, %r2;" op ".s32 %r0, %r1, %r2;" \
	op ".u64 %d0, %d1, %d2;" op ".s64 %d0, %d1, %d2;"
#define BITS(op) op ".b32 %r0, %r1, %r2;" op ".b64 %d0, %d1, %d2;" op ".pred %p0, %p1, %p2;"
#define CMP(op) "setp." op ".u32 %p0, %r1, %r2;" "setp." op ".s32 %p0, %r1, %r2;" \
	"setp." op ".u64 %p0, %d1, %d2;" "setp." op ".s64 %p0, %d1, %d2;" \
	"setp." op ".f32 %p0, %f1, %f2;" "setp." op ".f64 %p0, %e1, %e2;"

static const char text[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
	".entry k() {\n"
	".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .f64 %e<4>; .reg .pred %p<4>;\n"
	".reg .b16 %h<4>;\n"
	TYPES("add") TYPES("sub") TYPES("mul.lo") TYPES("min") TYPES("max")
	"mul.hi.u32 %r0, %r1, %r2; mul.hi.s32 %r0, %r1, %r2;"
	"mul.wide.u32 %d0, %r1, %r2; mul.wide.s32 %d0, %r1, %r2;"
	"mad.lo.u32 %r0, %r1, %r2, %r3; mad.lo.s64 %d0, %d1, %d2, %d3;"
	"mad.wide.u32 %d0, %r1, %r2, %d3; mad.wide.s32 %d0, %r1, %r2, %d3;"
	"neg.s32 %r0, %r1; neg.s64 %d0, %d1;"
	BITS("and") BITS("or") BITS("xor")
	"not.b32 %r0, %r1; not.b64 %d0, %d1; not.pred %p0, %p1;"
	"shl.b32 %r0, %r1, %r2; shl.b64 %d0, %d1, %r2; shr.u32 %r0, %r1, %r2;"
	"shr.s32 %r0, %r1, %r2; shr.u64 %d0, %d1, %r2; shr.s64 %d0, %d1, %r2;"
	"mov.u32 %r0, %r1; mov.b64 %d0, %d1; mov.f32 %f0, %f1; mov.f64 %e0, %e1; mov.pred %p0, %p1;"
	"mov.b64 %d0, {%r1, %r2};"
	"add.f32 %f0, %f1, %f2; sub.rn.f32 %f0, %f1, %f2; mul.f32 %f0, %f1, %f2;"
	"fma.rn.f32 %f0, %f1, %f2, %f3;"
	CMP("eq") CMP("ne") CMP("lt") CMP("le") CMP("gt") CMP("ge")
	"setp.lo.u32 %p0, %r1, %r2; setp.hs.u64 %p0, %d1, %d2;"
	"selp.b32 %r0, %r1, %r2, %p3; selp.u64 %d0, %d1, %d2, %p3; selp.f32 %f0, %f1, %f2, %p3;"
	"cvt.u64.u32 %d0, %r1; cvt.s64.s32 %d0, %r1; cvt.u64.s32 %d0, %r1; cvt.s64.u32 %d0, %r1;"
	"cvt.u32.u64 %r0, %d1; cvt.s32.s64 %r0, %d1; cvt.u16.u32 %h0, %r1; cvt.u32.s32 %r0, %r1;"
	"ret; }\n";

static uint64_t state = 1;

/* Numbers near the edges as often as any others. */
static uint64_t number(void)
{
	static const uint64_t edges[] = {
		0, 1, 2, 31, 32, 33, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f800000,
		0xff800000, 0x7fc00001, 0x3f800000, 0x80000001, 0x7ff0000000000000,
		0x7ff8000000000001, 0x8000000000000000, 0x7fffffffffffffff, 0xffffffffffffffff
	};

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	if (state >> 62)
		return state ^ state >> 29;
	return edges[(state >> 33) % (sizeof edges / sizeof *edges)];
}

struct world { uint64_t rows[64 * EMU_LANES]; uint32_t preds[64]; struct emu_warp warp; };

static void run_one(const struct emu_op *op, emu_op_fn *fn, uint32_t m, struct world *w)
{
	struct emu_x x = {.mask = m, .w = &w->warp, .pred = w->preds};

	x.bank[BANK_REG] = w->rows;
	x.bank[BANK_CONST] = op->func->mod->consts;
	assert_ptr_equal(fn(&x, op, m), op + 1);
}

static void fast_is_right(void **unused)
{
	static struct world a, b;
	struct ptx_buf log = {0};
	struct emu_module *mod;
	struct emu_func *f;
	unsigned fast = 0;
	CUresult err;

	(void)unused;
	emu_set_device(90);
	mod = emu_module_new("fast", text, strlen(text), &log, &err);
	assert_non_null(mod);
	f = emu_func_find(mod, "k");
	for (unsigned i = 0; i < f->nops; i++) {
		const struct emu_op *op = &f->ops[i];

		if (!op->u.alu.fn || !op->ns)
			continue;
		fast += op->fn != emu_op_alu;
		for (unsigned round = 0; round < 300; round++) {
			uint32_t m = round % 2 ? EMU_ALL : (uint32_t)(number() ^ number() >> 7) | 1;

			for (unsigned k = 0; k < 64; k++)
				a.preds[k] = (uint32_t)number();
			for (unsigned k = 0; k < 64 * EMU_LANES; k++)
				a.rows[k] = number();
			/* A narrow register holds nothing above its width. */
			for (unsigned k = 0; k < op->ns; k++) {
				struct emu_opnd o = op->o[op->nd + k];

				if (o.kind == OPND_ROW && o.bank == BANK_REG && o.bits < 64)
					for (unsigned l = 0; l < EMU_LANES; l++)
						a.rows[o.at + l] &= (UINT64_C(1) << o.bits) - 1;
			}
			b = a;
			run_one(op, op->fn, m, &a);
			run_one(op, emu_op_alu, m, &b);
			if (memcmp(a.rows, b.rows, sizeof a.rows) ||
			    memcmp(a.preds, b.preds, sizeof a.preds)) {
				struct ptx_buf s = {0};

				ptx_print_stmt(&s, op->stmt);
				fail_msg("%.*s differs", (int)s.len, s.p);
			}
		}
	}
	/* Were they not chosen, there would be nothing to test. */
	assert_true(fast > 90);
	emu_module_free(mod);
	free(log.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(fast_is_right)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
