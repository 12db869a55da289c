/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_ctl.c: branches, calls, returns and ends.  A group whose lanes go
 * different ways is split; emu_arrive() puts lanes together again that meet.
 */
#include <string.h>

#include "emu/access.h"
#include "emu/listen.h"

/* ---- branches -------------------------------------------------------------------- */

const struct emu_op *emu_op_bra(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_op *target = op->u.target;
	uint32_t rest = x->mask & ~m;

	if (target > op) {
		if (rest) {
			emu_split(x, m, target, x->base);
			return op + 1;
		}
		return x->w->ngroups ? emu_arrive(x, target) : target;
	}
	if (rest)
		emu_split(x, rest, op + 1, x->base);
	/* Around a loop again after a look at memory that others may change: perhaps it
	 * waits for them. */
	if (x->spin) {
		x->spin = false;
		return emu_yield(x, target);
	}
	return x->w->ngroups ? emu_arrive(x, target) : target;
}

const struct emu_op *emu_op_brx(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const uint64_t *index = emu_row(x, op->o[0]);
	unsigned first = (unsigned)__builtin_ctz(m);
	uint32_t to = (uint32_t)index[first], same = 0;
	const struct emu_op *target;

	if (to >= op->u.table.n)
		return emu_fault(x, op, first, CUDA_ERROR_ILLEGAL_INSTRUCTION,
				 "branch index %u of %u targets", to, op->u.table.n);
	EMU_EACH(l, m)
		same |= (uint32_t)((uint32_t)index[l] == to) << l;
	target = op->u.table.list[to];
	/* The lanes that go elsewhere try again here, the others' guard is false. */
	if (m & ~same)
		emu_split(x, m & ~same, op, x->base);
	if (x->mask & ~same)
		emu_split(x, x->mask & ~same, op + 1, x->base);
	if (target <= op && x->spin) {
		x->spin = false;
		return emu_yield(x, target);
	}
	return x->w->ngroups ? emu_arrive(x, target) : target;
}

/* ---- calls --------------------------------------------------------------------------- */

static void copy_rows(struct emu_x *x, uint64_t *dst, const uint64_t *src, unsigned rows,
		      uint32_t m)
{
	(void)x;
	if (m == EMU_ALL) {
		memcpy(dst, src, rows * EMU_LANES * sizeof *dst);
		return;
	}
	for (unsigned i = 0; i < rows; i++, dst += EMU_LANES, src += EMU_LANES)
		EMU_EACH(l, m)
			dst[l] = src[l];
}

static unsigned slot_rows(const struct emu_slot *s)
{
	return (s->bytes + 7) / 8;
}

/* One argument into a parameter of the callee, whose frame starts at `base`. */
static void pass(struct emu_x *x, const struct emu_call *c, unsigned i, const struct emu_slot *to,
		 uint32_t base, uint32_t m)
{
	const struct emu_slot *from = &c->args[i];
	uint64_t *dst = x->w->rows + ((size_t)base + to->row) * EMU_LANES;

	if (to->pred) {
		uint32_t *p = &x->w->preds[base + to->row];

		*p = (*p & ~m) | (emu_pred(x, c->argv[i]) & m);
		return;
	}
	if (from->sym) {
		unsigned n = slot_rows(from) < slot_rows(to) ? slot_rows(from) : slot_rows(to);

		copy_rows(x, dst, x->bank[BANK_REG] + from->row * EMU_LANES, n, m);
		return;
	}
	EMU_EACH(l, m)
		dst[l] = emu_get(x, c->argv[i], l);
}

static const struct emu_op *call_builtin(struct emu_x *x, const struct emu_op *op, uint32_t m,
					 int which)
{
	const struct emu_call *c = op->u.call;
	uint64_t args[8][EMU_LANES] = {{0}}, ret[EMU_LANES] = {0};

	for (unsigned i = 0; i < c->nargs && i < 8; i++) {
		const uint64_t *row = x->bank[BANK_REG] + c->args[i].row * EMU_LANES;

		EMU_EACH(l, m) {
			args[i][l] = c->args[i].sym ? row[l] : emu_get(x, c->argv[i], l);
			if (c->args[i].sym && c->args[i].bytes < 8)
				args[i][l] &= (UINT64_C(1) << c->args[i].bytes * 8) - 1;
		}
	}
	if (!emu_builtin_run(x, op, m, which, args, ret))
		return NULL;
	if (c->nrets) {
		uint64_t *row = c->rets[0].sym ?
				x->bank[BANK_REG] + c->rets[0].row * EMU_LANES : NULL;

		EMU_EACH(l, m) {
			if (row)
				row[l] = ret[l];
			else
				emu_set(x, c->retv[0], l, ret[l]);
		}
	}
	return op + 1;
}

static const struct emu_op *enter(struct emu_x *x, const struct emu_op *op, struct emu_func *f,
				  uint32_t m)
{
	const struct emu_call *c = op->u.call;
	struct emu_warp *w = x->w;
	uint32_t base = x->base + op->func->rows;
	uint64_t *frame;

	if (c->nargs != f->nparams)
		return emu_fault(x, op, (unsigned)__builtin_ctz(m), CUDA_ERROR_ILLEGAL_INSTRUCTION,
				 "%s takes %u arguments, not %u", f->name, f->nparams, c->nargs);
	if (base + f->rows > w->nrows) {
		emu_warp_grow(w, base + f->rows);
		emu_x_banks(x);
	}
	for (unsigned i = 0; i < c->nargs; i++)
		pass(x, c, i, &f->params[i], base, m);
	frame = w->rows + (size_t)base * EMU_LANES;
	EMU_EACH(l, m) {
		uint64_t sp = w->sp[l], local = sp;

		if (f->local_align > 1)
			local = (sp + f->local_align - 1) / f->local_align * f->local_align;
		frame[FRAME_RETURN * EMU_LANES + l] = (uint64_t)(uintptr_t)(op + 1);
		frame[FRAME_BASE * EMU_LANES + l] = x->base;
		frame[FRAME_STACK * EMU_LANES + l] = sp;
		frame[FRAME_LOCAL * EMU_LANES + l] = local;
		w->sp[l] = local + f->local_bytes;
		if (w->sp[l] > w->local_bytes && !emu_warp_grow_local(w, w->sp[l]))
			return emu_fault(x, op, l, CUDA_ERROR_LAUNCH_FAILED,
					 "stack overflow: %llu bytes of local memory",
					 (unsigned long long)w->sp[l]);
	}
	if (base > EMU_MAX_ROWS)
		return emu_fault(x, op, (unsigned)__builtin_ctz(m), CUDA_ERROR_LAUNCH_FAILED,
				 "calls nested too deep");
	x->base = base;
	emu_x_banks(x);
	return w->ngroups ? emu_arrive(x, f->ops) : f->ops;
}

static const struct emu_op *call(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const struct emu_call *c = op->u.call;
	struct emu_func *f = c->callee;
	uint32_t same = m;

	if (!f) {
		const uint64_t *target = emu_row(x, c->target);
		unsigned first = (unsigned)__builtin_ctz(m);

		f = emu_func_at(target[first]);
		if (!f || f->mod != op->func->mod)
			return emu_fault(x, op, first, CUDA_ERROR_INVALID_PC,
					 "call of 0x%llx, which is no function",
					 (unsigned long long)target[first]);
		same = 0;
		EMU_EACH(l, m)
			same |= (uint32_t)(target[l] == target[first]) << l;
	}
	if (f->alias)
		f = f->alias;
	if (f->builtin || !f->ops) {
		if (!f->builtin)
			return emu_fault(x, op, (unsigned)__builtin_ctz(m), CUDA_ERROR_NOT_SUPPORTED,
					 "call of %s, which is not defined", f->name);
		if (!call_builtin(x, op, same, f->builtin))
			return NULL;
		if (m & ~same)
			emu_split(x, m & ~same, op, x->base);
		return op + 1;
	}
	if (x->mask & ~m)
		emu_split(x, x->mask & ~m, op + 1, x->base);
	if (m & ~same)
		emu_split(x, m & ~same, op, x->base);
	return enter(x, op, f, same);
}

/* Results of the lanes in `m`, which return to the op behind `site`. */
static void give_back(struct emu_x *x, const struct emu_func *f, const struct emu_op *site,
		      uint32_t base, uint32_t m)
{
	const struct emu_call *c = site->u.call;
	uint64_t *caller = x->w->rows + (size_t)base * EMU_LANES;

	for (unsigned i = 0; i < c->nrets && i < f->nrets; i++) {
		const struct emu_slot *from = &f->rets[i], *to = &c->rets[i];
		const uint64_t *src = x->bank[BANK_REG] + from->row * EMU_LANES;
		struct emu_opnd o = c->retv[i];

		if (to->sym) {
			unsigned n = slot_rows(from) < slot_rows(to) ? slot_rows(from) : slot_rows(to);

			copy_rows(x, caller + to->row * EMU_LANES, src, n, m);
		} else if (o.kind == OPND_PRED) {
			uint32_t *p = &x->w->preds[base + o.at];

			*p = (*p & ~m) | (x->pred[from->row] & m);
		} else if (o.kind == OPND_ROW) {
			copy_rows(x, caller + o.at, src, 1, m);
		}
	}
}

const struct emu_op *emu_op_ret(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const uint64_t *frame = x->bank[BANK_REG];
	struct emu_warp *w = x->w;
	const struct emu_func *f = op->func;
	unsigned first = (unsigned)__builtin_ctz(m);
	const struct emu_op *to;
	uint32_t base, same = 0;

	if (f->entry) {
		emu_exit(x, m);
		return x->mask ? op + 1 : NULL;
	}
	to = (const struct emu_op *)(uintptr_t)frame[FRAME_RETURN * EMU_LANES + first];
	base = (uint32_t)frame[FRAME_BASE * EMU_LANES + first];
	EMU_EACH(l, m) {
		if (frame[FRAME_RETURN * EMU_LANES + l] == (uint64_t)(uintptr_t)to &&
		    frame[FRAME_BASE * EMU_LANES + l] == base) {
			same |= 1u << l;
			w->sp[l] = frame[FRAME_STACK * EMU_LANES + l];
		}
	}
	give_back(x, f, to - 1, base, same);
	if (x->mask != same) {
		if (x->mask & ~m)               /* the guard lets them go on */
			emu_split(x, x->mask & ~m, op + 1, x->base);
		if (m & ~same)                  /* they return to somewhere else */
			emu_split(x, m & ~same, op, x->base);
	}
	x->base = base;
	emu_x_banks(x);
	return w->ngroups ? emu_arrive(x, to) : to;
}

static const struct emu_op *op_exit(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	emu_exit(x, m);
	return x->mask ? op + 1 : NULL;
}

static const struct emu_op *trap(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	return emu_fault(x, op, (unsigned)__builtin_ctz(m), CUDA_ERROR_LAUNCH_FAILED, "trap");
}

static const struct emu_op *nanosleep_op(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	(void)m;
	return emu_yield(x, op + 1);
}

/* ---- decoding ----------------------------------------------------------------------------- */

static bool dec_arg(struct emu_dec *d, const struct ptx_operand *p, bool dst,
		    struct emu_slot *slot, struct emu_opnd *o)
{
	const struct emu_place *at = p->kind == OP_SYM && p->sym->kind == SYM_VAR ?
				     p->sym->user : NULL;

	if (at && at->space == SPACE_PARAM) {
		if (at->kparam)
			return emu_dec_refuse(d, "a parameter of the kernel handed on");
		slot->sym = p->sym;
		slot->row = (uint32_t)at->at;
		slot->bytes = (uint32_t)p->sym->bytes;
		return true;
	}
	*o = emu_dec_word(d, p, dst);
	slot->bytes = 8;
	return true;
}

static bool dec_list(struct emu_dec *d, const struct ptx_operand *p, bool dst, unsigned *n,
		     struct emu_slot **slots, struct emu_opnd **words)
{
	*slots = ptx_alloc(d->arena, (p->n + 1) * sizeof **slots);
	*words = ptx_alloc(d->arena, (p->n + 1) * sizeof **words);
	*n = p->n;
	for (unsigned i = 0; i < p->n; i++)
		if (!dec_arg(d, &p->list[i], dst, &(*slots)[i], &(*words)[i]))
			return false;
	return true;
}

static bool dec_call(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_call *c = ptx_alloc(d->arena, sizeof *c);
	const struct ptx_operand *target;
	struct emu_op *op;
	unsigned i = 0;

	if (in->nops > i && in->ops[i].kind == OP_LIST &&
	    !dec_list(d, &in->ops[i++], true, &c->nrets, &c->rets, &c->retv))
		return false;
	if (in->nops <= i || in->ops[i].kind != OP_SYM)
		return emu_dec_refuse(d, "a call of nothing");
	target = &in->ops[i++];
	if (in->nops > i && in->ops[i].kind == OP_LIST &&
	    !dec_list(d, &in->ops[i], false, &c->nargs, &c->args, &c->argv))
		return false;
	c->name = target->sym->name;
	if (target->sym->kind == SYM_FUNC) {
		c->callee = target->sym->user;
		if (!c->callee)
			return emu_dec_refuse(d, "a call of an unknown function");
		emu_func_calls(d->f, c->callee);
	} else {
		c->target = emu_dec_word(d, target, false);
		d->f->calls_any = true;
	}
	op = emu_dec_new(d);
	op->fn = call;
	op->u.call = c;
	return true;
}

bool emu_dec_ctl(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_opnd o;
	struct emu_op *op;

	switch (in->id) {
	case INST_BRA:
		if (in->nops != 1 || in->ops[0].kind != OP_SYM)
			return emu_dec_refuse(d, "a branch without a label");
		emu_dec_new(d)->fn = emu_op_bra;
		return true;
	case INST_BRX_IDX:
		if (in->nops != 2)
			return emu_dec_refuse(d, "a branch without a list of targets");
		o = emu_dec_word(d, &in->ops[0], false);
		op = emu_dec_new(d);
		op->fn = emu_op_brx;
		op->o = emu_dec_keep(d, &o, 1);
		return true;
	case INST_CALL:
		return dec_call(d, in);
	case INST_RET:
		emu_dec_new(d)->fn = emu_op_ret;
		return true;
	case INST_EXIT:
		emu_dec_new(d)->fn = op_exit;
		return true;
	case INST_TRAP:
		emu_dec_new(d)->fn = trap;
		return true;
	case INST_BRKPT:                        /* no debugger: as if continued at once */
	case INST_PMEVENT:
	case INST_SETMAXNREG:
		emu_dec_new(d)->fn = emu_op_nop;
		return true;
	case INST_NANOSLEEP:
		emu_dec_new(d)->fn = nanosleep_op;
		return true;
	default:
		return false;
	}
}
