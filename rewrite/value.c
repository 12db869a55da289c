/* SPDX-License-Identifier: Apache-2.0
 *
 * value.c: what a weak store stores, as one number, so that the device can tell whether two
 * unordered writes are of one value (memory-model.md 2.4, AMB-12): its first element, times
 * GSAN_VALUE_FACTOR plus the next, and so on; elements of 8 bytes count as two of 4.  The
 * device makes the same of what is in memory.
 */
#include "rewrite/call.h"

static bool is_float(enum ptx_type t)
{
	return t == TYPE_F16 || t == TYPE_BF16 || t == TYPE_F16X2 || t == TYPE_BF16X2 || t == TYPE_F32 ||
	       t == TYPE_F64;
}

static bool is_register(const struct ptx_operand *o)
{
	return o->kind == OP_SYM && o->sym->kind == SYM_REG && !o->neg && !o->elem && !o->off;
}

/* Can it be put into words?  PTX ISA "Operand Size Exceeding Instruction-Type Size": an
 * integer register may be wider than what is stored of it. */
static bool countable(const struct ptx_operand *o, unsigned bytes)
{
	unsigned bits = is_register(o) ? ptx_type_bits(o->sym->type) : 0;

	if (o->kind == OP_INT)
		return true;
	if (o->kind == OP_FLOAT)
		return bytes == (o->isdouble ? 8 : 4);
	return bits == bytes * 8 ? bits >= 32 || !is_float(o->sym->type) :
		bits > bytes * 8 && bits <= 64 && !is_float(o->sym->type);
}

static uint64_t low_bytes(uint64_t v, unsigned bytes)
{
	return bytes == 8 ? v : v & ((UINT64_C(1) << 8 * bytes) - 1);
}

static void put_step(struct ins *i, enum scratch word)
{
	struct rw *r = i->r;

	RW_PUT(r, "\tmad.lo.u32 ");
	rw_put_scratch(i, S_VALUE);
	RW_PUT(r, ", ");
	rw_put_scratch(i, S_VALUE);
	RW_PUT(r, ", ");
	rw_putu(r, GSAN_VALUE_FACTOR);
	RW_PUT(r, ", ");
	rw_put_scratch(i, word);
	RW_PUT(r, ";\n");
}

/* One element; `first`: it begins the number. */
static void put_element(struct ins *i, const struct ptx_operand *o, unsigned bytes, bool first)
{
	struct rw *r = i->r;
	enum scratch low = first ? S_VALUE : S_WORD;
	unsigned bits = o->kind == OP_SYM ? ptx_type_bits(o->sym->type) : 0;

	if (bytes == 8)
		RW_PUT(r, "\tmov.b64 {");
	else if (!bits || (bits == 32 && bytes == 4))
		RW_PUT(r, "\tmov.b32 ");
	else if (bytes == 4)
		RW_PUT(r, "\tcvt.u32.u64 ");
	else if (bytes == 2)
		RW_PUT(r, "\tcvt.u32.u16 ");
	else
		RW_PUT(r, "\tcvt.u32.u8 ");
	rw_put_scratch(i, low);
	RW_PUT(r, ", ");
	if (bytes == 8) {
		rw_put_scratch(i, S_HIGH);
		RW_PUT(r, "}, ");
	}
	if (bits)
		rw_put_operand(r, o);
	else
		rw_putu(r, low_bytes(o->ival, bytes));
	RW_PUT(r, ";\n");
	if (!first)
		put_step(i, S_WORD);
	if (bytes == 8)
		put_step(i, S_HIGH);
}

struct arg rw_put_value(struct ins *i, const struct rw_event *e, uint32_t *info)
{
	const struct ptx_inst *in = &e->stmt->inst;
	unsigned n = ptx_inst_vec(in), bytes = ptx_type_bits(in->type) / 8, log = 0;
	const struct ptx_operand *o;

	if (in->id != INST_ST || in->nops < 2 || bytes > 8 || n * bytes > 32)
		return number(0);
	o = in->ops[1].kind == OP_VEC ? in->ops[1].list : &in->ops[1];
	if (in->ops[1].kind == OP_VEC ? in->ops[1].n != n : n != 1)
		return number(0);
	for (unsigned k = 0; k < n; k++)
		if (!countable(&o[k], bytes))
			return number(0);
	while (log < 2 && 1u << log < bytes)
		log++;
	*info |= (log + 1) << GSAN_INFO_VALUE_SHIFT | (n * bytes >> log) << GSAN_INFO_ELEMS_SHIFT;
	if (n == 1 && bytes < 8 && o->kind != OP_SYM)
		return number(low_bytes(o->ival, bytes));
	if (n == 1 && bytes == 4 && is_register(o) && ptx_type_bits(o->sym->type) == 32)
		return operand(o);
	for (unsigned k = 0; k < n; k++)
		put_element(i, &o[k], bytes, !k);
	return reg(S_VALUE);
}
