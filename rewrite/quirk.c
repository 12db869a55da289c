/* SPDX-License-Identifier: Apache-2.0
 *
 * quirk.c: what ptxas 13.0 must be kept from doing to code with calls in it.
 */
#include "rewrite/rw.h"

/* Tests of single bits of one register become one R2P, which sets all seven
 * predicate registers at once; ptxas moves it over the calls that were inserted,
 * cannot save seven predicates around one, and gives up: "(C7600) Register
 * allocation failed with register count of '7'" (seen in CUB's radix sort, which
 * ballots the bits of a digit).  Compared with a register instead of the number
 * zero, the tests stay what they are. */
enum { PREDICATES = 7 };

static bool is_test(const struct ptx_inst *in, const bool *masked)
{
	const struct ptx_operand *o = in->ops;

	if (in->id != INST_SETP || in->nops < 3 || !(ptx_has(in, MOD_EQ) || ptx_has(in, MOD_NE)))
		return false;
	if (in->type != TYPE_U32 && in->type != TYPE_S32 && in->type != TYPE_B32)
		return false;
	return o[1].kind == OP_SYM && o[1].sym->kind == SYM_REG && masked[o[1].sym->reg] &&
	       o[2].kind == OP_INT && !o[2].ival;
}

/* The operands that are the zero of such a test; with `to`, they become it. */
static unsigned tests(struct ptx_func *f, const bool *masked, struct ptx_sym *to)
{
	unsigned n = 0;

	for (struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind != STMT_INST || !is_test(&s->inst, masked))
			continue;
		n++;
		if (to)
			s->inst.ops[2] = (struct ptx_operand){ .kind = OP_SYM, .sym = to };
	}
	return n;
}

bool rw_hide_zero(struct rw *r, struct ptx_func *f, const char *zero)
{
	bool *masked = ptx_alloc(r->m->arena, (size_t)f->nregs + 1);
	struct ptx_sym *sym;

	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && s->inst.id == INST_AND && s->inst.nops &&
		    s->inst.ops[0].kind == OP_SYM && s->inst.ops[0].sym->kind == SYM_REG)
			masked[s->inst.ops[0].sym->reg] = true;
	if (tests(f, masked, NULL) < PREDICATES)
		return false;
	sym = ptx_alloc(r->m->arena, sizeof *sym);
	sym->name = zero;
	sym->kind = SYM_REG;
	sym->type = TYPE_B32;
	tests(f, masked, sym);
	return true;
}

/* Threads that gave registers away could not run the runtime's functions, which
 * ptxas gives as many as the kernel: it fails with "register count of '232'", or
 * whatever setmaxnreg.inc asks for.  Without setmaxnreg all threads keep the same
 * number, and compute the same. */
void rw_drop_setmaxnreg(struct ptx_func *f)
{
	for (struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && s->inst.id == INST_SETMAXNREG) {
			s->kind = STMT_TEXT;
			s->t.text = "";
		}
}
