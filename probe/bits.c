/* SPDX-License-Identifier: Apache-2.0
 *
 * bits.c: `(word & bit) != 0`.  Of such comparisons of one word ptxas makes an R2P, which sets all seven predicates that there
 * are.  Where the warp's lanes may be apart, to ptxas, as they may behind a branch with probes in it, a vote needs another one,
 * for sm_90 and newer: ptxas gives up the function (C7600; doc/performance.md, "What ptxas does not take").  It makes no R2P
 * of an unsigned `> 0`, which means the same.
 */
#include <string.h>

#include "probe/bits.h"

/* The number of the register that an operand is; -1: it is none. */
static int reg_of(const struct ptx_operand *o)
{
	return o->kind == OP_SYM && o->sym && o->sym->kind == SYM_REG && !o->neg ? o->sym->reg : -1;
}

static enum ptx_mod unsigned_of(enum ptx_type type)
{
	switch (type) {
	case TYPE_B16: case TYPE_S16: case TYPE_U16:
		return MOD_U16;
	case TYPE_B32: case TYPE_S32: case TYPE_U32:
		return MOD_U32;
	case TYPE_B64: case TYPE_S64: case TYPE_U64:
		return MOD_U64;
	default:
		return MOD_NONE;
	}
}

/* Is what it sets made of masked bits, by a register's number in `masked`? */
static bool masks(const struct ptx_inst *in, const bool *masked)
{
	const int from = reg_of(ptx_operand(in, 1));

	if (in->id == INST_AND)
		return in->type != TYPE_PRED;
	return (in->id == INST_CVT || in->id == INST_MOV) && from >= 0 && masked[from];
}

static bool asks(const struct ptx_inst *in, const bool *masked)
{
	const struct ptx_operand *zero = ptx_operand(in, 2);
	const int of = reg_of(ptx_operand(in, 1));

	return in->id == INST_SETP && in->nops == 3 && (ptx_has(in, MOD_NE) || ptx_has(in, MOD_EQ)) && unsigned_of(in->type) &&
	       of >= 0 && masked[of] && zero->kind == OP_INT && !zero->ival;
}

/* != 0 is > 0, and == 0 is <= 0, of what has no sign. */
static void ask_otherwise(struct ptx_arena *arena, struct ptx_inst *in)
{
	const char **words = ptx_alloc(arena, (in->nmods + 1u) * sizeof *words);        /* others share what it has */
	uint16_t *mod = ptx_alloc(arena, in->nmods * sizeof *mod);
	const char *name = "setp";

	for (unsigned i = 0; i < in->nmods; i++) {
		enum ptx_mod to = in->mod[i] == MOD_NE ? MOD_GT : in->mod[i] == MOD_EQ ? MOD_LE : unsigned_of(ptx_mod_type(in->mod[i]));

		mod[i] = to ? (uint16_t)to : in->mod[i];
		words[i] = to ? ptx_mod_text(to) : in->modtext[i];
		name = ptx_sprintf(arena, "%s%s", name, words[i]);
	}
	words[in->nmods] = ptx_intern(arena, name, strlen(name));
	in->type = ptx_mod_type(unsigned_of(in->type));
	in->mod = mod;
	in->modtext = words;
}

void bits_put(struct ptx_module *m, struct ptx_func *f)
{
	bool *masked = ptx_alloc(m->arena, (size_t)f->nregs + 1);

	for (struct ptx_stmt *s = f->body; s; s = s->next) {
		const int to = s->kind == STMT_INST ? reg_of(ptx_operand(&s->inst, 0)) : -1;

		if (to >= 0 && masks(&s->inst, masked))
			masked[to] = true;
		else if (s->kind == STMT_INST && asks(&s->inst, masked))
			ask_otherwise(m->arena, &s->inst);
	}
}
