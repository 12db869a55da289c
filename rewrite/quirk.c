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

static bool is_test(const struct ptx_inst *in)
{
	const struct ptx_operand *o = in->ops;

	if (in->id != INST_SETP || in->nops < 3 || !(ptx_has(in, MOD_EQ) || ptx_has(in, MOD_NE)))
		return false;
	if (in->type != TYPE_U32 && in->type != TYPE_S32 && in->type != TYPE_B32)
		return false;
	return o[1].kind == OP_SYM && o[1].sym->kind == SYM_REG && o[2].kind == OP_INT && !o[2].ival;
}

bool rw_is_bits(const struct ptx_inst *in)
{
	return (in->id == INST_AND && in->nops && in->ops[0].kind == OP_SYM &&
		in->ops[0].sym->kind == SYM_REG) || is_test(in);
}

bool rw_hide_zero(struct rw *r, struct ptx_func *f, const char *zero)
{
	const struct rw_list *l = &((const struct rw_func *)f->user)->bits;
	struct ptx_sym *sym;
	unsigned n = 0;
	bool *masked;

	if (l->n < PREDICATES)
		return false;
	masked = ptx_alloc(r->m->arena, (size_t)f->nregs + 1);
	for (size_t i = 0; i < l->n; i++)
		if (l->p[i]->inst.id == INST_AND)
			masked[l->p[i]->inst.ops[0].sym->reg] = true;
	for (size_t i = 0; i < l->n; i++)
		n += l->p[i]->inst.id == INST_SETP && masked[l->p[i]->inst.ops[1].sym->reg];
	if (n < PREDICATES)
		return false;
	sym = ptx_alloc(r->m->arena, sizeof *sym);
	sym->name = zero;
	sym->kind = SYM_REG;
	sym->type = TYPE_B32;
	for (size_t i = 0; i < l->n; i++) {
		struct ptx_inst *in = &l->p[i]->inst;

		if (in->id == INST_SETP && masked[in->ops[1].sym->reg])
			in->ops[2] = (struct ptx_operand){ .kind = OP_SYM, .sym = sym };
	}
	return true;
}

/* To ptxas what activemask returns is the same in every lane for good, and what waits by it asks one
 * lane.  With calls in between, lanes of another group are there, too, and whoever is late waits for
 * ever (HACKING.md; the runtime's own masks: together() in rt/device/base.cuh).  The lane's own bit,
 * which is set, makes the mask the lane's. */
bool rw_own_masks(struct rw *r, struct ptx_func *f, const char *own)
{
	const struct rw_list *l = &((const struct rw_func *)f->user)->masks;
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		const struct ptx_inst *in = &l->p[i]->inst;
		const char *mask, *text;

		if (!in->nops || in->ops[0].kind != OP_SYM)
			continue;
		mask = in->ops[0].sym->name;
		text = ptx_sprintf(r->m->arena, "\tmov.u32 %s, %%lanemask_eq;\n\t%s%s%sor.b32 %s, %s, %s;\n",
			own, in->guarded ? in->guard_neg ? "@!" : "@" : "", in->guarded ? in->guard->name : "",
			in->guarded ? " " : "", mask, mask, own);
		ptx_insert_after(r->m, f, l->p[i], text);
		any = true;
	}
	return any;
}

/* Threads that gave registers away could not run the runtime's functions, which
 * ptxas gives as many as the kernel: it fails with "register count of '232'", or
 * whatever setmaxnreg.inc asks for.  Without setmaxnreg all threads keep the same
 * number, and compute the same. */
void rw_drop_setmaxnreg(struct ptx_func *f)
{
	const struct rw_func *rf = f->user;

	for (struct ptx_stmt *s = rf->has_setmaxnreg ? f->body : NULL; s; s = s->next)
		if (s->kind == STMT_INST && s->inst.id == INST_SETMAXNREG) {
			s->kind = STMT_TEXT;
			s->t.text = "";
		}
}

/* At least `n` blocks a multiprocessor, in place of what the kernel said. */
static void set_least_blocks(struct rw *r, struct ptx_func *f, unsigned n)
{
	static const char name[] = ".minnctapersm";
	const char *all = f->directives, *at = strstr(all, name), *behind = at ? at + strcspn(at, "0123456789") : "";

	behind += strspn(behind, "0123456789");
	f->directives = ptx_sprintf(r->m->arena, "%.*s%s%s %u%s", at ? (int)(at - all) : (int)strlen(all), all,
				    at || !*all ? "" : " ", name, n, behind);
}

/* Left alone, ptxas gives a kernel as many registers as the runtime's rarest path can use, 255 mostly.  One that
 * says nothing of its block size may be launched with 1,024 threads, and such a launch fails.  Of one that does
 * say, few blocks fit a multiprocessor, where it waits for memory most of the time: two to three times slower
 * on an H100 (stencil, reduction, matrix products) than with room for 1,024 threads, or for 512 where bulk copies
 * are walked: 128 registers are best there.  Where the quick ways are simple,
 * more warps still gain more than fewer registers cost: 7 to 15 % on an H200, where others lose as much.
 * Kernels that keep tiles of matrices in registers need them themselves. */
void rw_bound_registers(struct rw *r, const struct rw_func *rf)
{
	enum { THREADS = 1024, BLOCKS = 16 };   /* as many of each fit on every architecture */
	const unsigned room = r->posts && rf->posts ? THREADS / 2 : THREADS;
	struct ptx_func *f = rf->f;
	const unsigned *dims = f->maxntid[0] ? f->maxntid : f->reqntid;
	const unsigned threads = dims[0] * dims[1] * dims[2], blocks = threads ? room / threads : 0;

	if (r->options->relocatable || f->maxnreg)
		return;
	if (threads) {
		if (!rf->tiles && blocks > 1 && blocks > f->minnctapersm)
			set_least_blocks(r, f, blocks < BLOCKS ? blocks : BLOCKS);
	} else if (!f->minnctapersm) {
		f->directives = ptx_sprintf(r->m->arena, "%s%s.maxntid 1024, 1, 1%s", f->directives,
					    *f->directives ? " " : "", rf->weak && !rf->columns ? " .maxnreg 40" : "");
	}
}
