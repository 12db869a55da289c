/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_atom.c: atom and red, all operations, types, vectors and packed forms; and
 * multimem, which on one device is a load, a store and a red.
 *
 * One thread of the host runs all threads of the device, so a read and a write
 * are atomic together among them; only at .sys scope may the host be at the same
 * word, and then the update is a compare-and-swap of the processor's.
 */
#include <string.h>

#include "emu/access.h"
#include "emu/half.h"
#include "emu/listen.h"

enum kind { K_ADD, K_MIN, K_MAX, K_AND, K_OR, K_XOR, K_INC, K_DEC, K_EXCH, K_CAS };

static float f32(uint64_t v)
{
	uint32_t u = (uint32_t)v;
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static uint64_t bits32(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

static double f64(uint64_t v)
{
	double f;

	memcpy(&f, &v, sizeof f);
	return f;
}

static uint64_t bits64(double f)
{
	uint64_t u;

	memcpy(&u, &f, sizeof u);
	return u;
}

/* min and max of floats: a NaN gives way to a number (PTX ISA, "min", "max"). */
static float pick(enum kind k, float a, float b)
{
	if (a != a)
		return b;
	if (b != b)
		return a;
	return (k == K_MIN) == (a < b) ? a : b;
}

static uint16_t half(enum kind k, uint16_t a, uint16_t b)
{
	float x = half_to_f32(a), y = half_to_f32(b);

	return half_of_f32(k == K_ADD ? x + y : pick(k, x, y));
}

static uint16_t brain(enum kind k, uint16_t a, uint16_t b)
{
	float x = bf16_to_f32(a), y = bf16_to_f32(b);

	return bf16_of_f32(k == K_ADD ? x + y : pick(k, x, y));
}

static uint64_t apply(enum kind k, enum ptx_type t, uint64_t old, uint64_t b, uint64_t c)
{
	switch (k) {
	case K_AND:
		return old & b;
	case K_OR:
		return old | b;
	case K_XOR:
		return old ^ b;
	case K_EXCH:
		return b;
	case K_CAS:
		return old == b ? c : old;
	case K_INC:
		return old >= b ? 0 : old + 1;
	case K_DEC:
		return old == 0 || old > b ? b : old - 1;
	case K_ADD:
		switch (t) {
		case TYPE_F32:
			return bits32(f32(old) + f32(b));
		case TYPE_F64:
			return bits64(f64(old) + f64(b));
		default:
			break;
		}
		break;
	case K_MIN:
	case K_MAX:
		break;
	}
	switch (t) {
	case TYPE_F16:
		return half(k, (uint16_t)old, (uint16_t)b);
	case TYPE_F16X2:
		return half(k, (uint16_t)old, (uint16_t)b) |
		       (uint64_t)half(k, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
	case TYPE_BF16:
		return brain(k, (uint16_t)old, (uint16_t)b);
	case TYPE_BF16X2:
		return brain(k, (uint16_t)old, (uint16_t)b) |
		       (uint64_t)brain(k, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
	case TYPE_F32:
		return bits32(pick(k, f32(old), f32(b)));
	case TYPE_S32:
		return k == K_ADD ? (uint32_t)(old + b) :
		       (k == K_MIN) == ((int32_t)old < (int32_t)b) ? old : b;
	case TYPE_S64:
		return k == K_ADD ? old + b : (k == K_MIN) == ((int64_t)old < (int64_t)b) ? old : b;
	case TYPE_U64:
	case TYPE_B64:
		return k == K_ADD ? old + b : (k == K_MIN) == (old < b) ? old : b;
	default:
		return k == K_ADD ? (uint32_t)(old + b) :
		       (k == K_MIN) == ((uint32_t)old < (uint32_t)b) ? old : b;
	}
}

/* Replaces the value at `p`, which is of `size` bytes; returns the old one. */
uint64_t emu_atom_update(void *p, unsigned size, bool sys, unsigned k, enum ptx_type t, uint64_t b,
			 uint64_t c)
{
	uint64_t old, now;

	if (size == 4) {
		uint32_t o = __atomic_load_n((uint32_t *)p, __ATOMIC_RELAXED), n;

		b = (uint32_t)b;
		c = (uint32_t)c;
		if (!sys) {
			__atomic_store_n((uint32_t *)p, (uint32_t)apply(k, t, o, b, c),
					 __ATOMIC_RELEASE);
			return o;
		}
		do
			n = (uint32_t)apply(k, t, o, b, c);
		while (!__atomic_compare_exchange_n((uint32_t *)p, &o, n, false, __ATOMIC_SEQ_CST,
						    __ATOMIC_SEQ_CST));
		return o;
	}
	if (size == 2) {
		uint16_t o = __atomic_load_n((uint16_t *)p, __ATOMIC_RELAXED), n;

		do
			n = (uint16_t)apply(k, t, o, (uint16_t)b, (uint16_t)c);
		while (!__atomic_compare_exchange_n((uint16_t *)p, &o, n, false, __ATOMIC_SEQ_CST,
						    __ATOMIC_SEQ_CST));
		return o;
	}
	old = __atomic_load_n((uint64_t *)p, __ATOMIC_RELAXED);
	if (!sys) {
		__atomic_store_n((uint64_t *)p, apply(k, t, old, b, c), __ATOMIC_RELEASE);
		return old;
	}
	do
		now = apply(k, t, old, b, c);
	while (!__atomic_compare_exchange_n((uint64_t *)p, &old, now, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST));
	return old;
}

/* What each lane found and left. */
struct seen { uint64_t addr[EMU_LANES], bytes[EMU_LANES], old[EMU_LANES][EMU_ELEMS], now[EMU_LANES][EMU_ELEMS]; };

/* What emu_atom_update() makes of it. */
static uint64_t made(const struct emu_op *op, uint64_t old, uint64_t b, uint64_t c)
{
	uint64_t keep = op->size == 8 ? ~UINT64_C(0) : (UINT64_C(1) << op->size * 8) - 1;

	return apply(op->kind, op->type, old, b & keep, c & keep) & keep;
}

static void tell(struct emu_x *x, const struct emu_op *op, uint32_t m, const struct seen *s)
{
	struct emu_tell t = emu_tell_of(TELL_ACCESS, x, op, m, x->mask);
	struct emu_tell_access a = {
		.base = op->u.mem.base, .addr = s->addr, .bytes = s->bytes, .size = op->size, .n = op->n
	};

	if (op->size <= 8) {
		a.read = s->old;
		a.wrote = s->now;
	}
	t.u.access = &a;
	emu_tell(&t);
}

/* o[]: n results (atom only), n values, n values to swap in (cas only). */
static const struct emu_op *atom(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	const unsigned n = op->n, nd = op->nd;
	const unsigned bytes = (unsigned)op->size * n;
	const struct emu_opnd *b = op->o + nd, *c = op->kind == K_CAS ? b + n : b;
	const bool sys = op->flags & EMU_F_SYS, tells = emu_tells(op);
	struct seen s;

	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l);
		uint8_t *p = emu_at(x, l, op->u.mem.base, a, bytes);

		if (!p)
			return emu_access_fault(x, op, l, a, bytes, op->u.mem.base);
		if (tells) {
			s.addr[l] = a;
			s.bytes[l] = bytes;
		}
		for (unsigned i = 0; i < n; i++) {
			uint64_t v = emu_row(x, b[i])[l], w = emu_row(x, c[i])[l];
			uint64_t old = emu_atom_update(p + i * op->size, op->size, sys, op->kind,
						       op->type, v, w);

			if (nd)
				emu_row(x, op->o[i])[l] = old;
			if (tells) {
				s.old[l][i] = old;
				s.now[l][i] = made(op, old, v, w);
			}
		}
	}
	if (tells)
		tell(x, op, m, &s);
	if (nd)
		x->spin = true;
	return op + 1;
}

/* 16 bytes; low word first. */
static const struct emu_op *atom128(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct seen s;

	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l), old[2];
		uint64_t *p = emu_at(x, l, op->u.mem.base, a, 16);
		const struct emu_opnd *b = op->o + 2, *c = op->o + 4;

		if (!p)
			return emu_access_fault(x, op, l, a, 16, op->u.mem.base);
		s.addr[l] = a;
		s.bytes[l] = 16;
		memcpy(old, p, 16);
		if (op->kind == K_EXCH) {
			p[0] = emu_row(x, b[0])[l];
			p[1] = emu_row(x, b[1])[l];
		} else if (old[0] == emu_row(x, b[0])[l] && old[1] == emu_row(x, b[1])[l]) {
			p[0] = emu_row(x, c[0])[l];
			p[1] = emu_row(x, c[1])[l];
		}
		emu_row(x, op->o[0])[l] = old[0];
		emu_row(x, op->o[1])[l] = old[1];
	}
	if (emu_tells(op))
		tell(x, op, m, &s);
	x->spin = true;
	return op + 1;
}

bool emu_atom_kind(const struct ptx_inst *in, uint8_t *k)
{
	static const struct { enum ptx_mod mod; enum kind kind; } table[] = {
		{MOD_ADD, K_ADD}, {MOD_MIN, K_MIN}, {MOD_MAX, K_MAX}, {MOD_AND, K_AND},
		{MOD_OR, K_OR}, {MOD_XOR, K_XOR}, {MOD_INC, K_INC}, {MOD_DEC, K_DEC},
		{MOD_EXCH, K_EXCH}, {MOD_CAS, K_CAS}
	};

	for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
		if (ptx_has(in, table[i].mod)) {
			*k = table[i].kind;
			return true;
		}
	}
	return false;
}

bool emu_dec_atom(struct emu_dec *d, const struct ptx_inst *in)
{
	bool has_result = in->id == INST_ATOM;
	unsigned bits = ptx_type_bits(in->type), n, vec = ptx_inst_vec(in), values;
	struct emu_opnd o[32];
	struct emu_addr mem;
	struct emu_op *op;
	uint8_t kind;

	if (in->id != INST_ATOM && in->id != INST_RED)
		return false;
	if (!emu_atom_kind(in, &kind) || bits < 16 || in->nops < 2u + has_result + (kind == K_CAS))
		return emu_dec_refuse(d, "an atomic operation that is not emulated");
	if (!emu_dec_addr(d, &in->ops[has_result], ptx_inst_space(in), &mem))
		return false;
	values = vec * (bits == 128 ? 2 : 1);
	n = has_result ? emu_dec_words(d, &in->ops[0], true, o, 32) : 0;
	if (has_result && bits == 128 && n == 1) {      /* a sink for both halves */
		o[1] = o[0];
		n = 2;
	}
	if (has_result && n == 1 && vec > 1)            /* likewise for a vector */
		for (; n < vec; n++)
			o[n] = o[0];
	n += emu_dec_words(d, &in->ops[1 + has_result], false, o + n, 32 - n);
	if (kind == K_CAS)
		n += emu_dec_words(d, &in->ops[2 + has_result], false, o + n, 32 - n);
	if (n != values * (1u + has_result + (kind == K_CAS)))
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	op = emu_dec_new(d);
	op->fn = bits == 128 ? atom128 : atom;
	if (bits == 128 && (!has_result || (kind != K_CAS && kind != K_EXCH) || vec != 1))
		return emu_dec_refuse(d, "an atomic operation that is not emulated");
	op->nd = (uint8_t)(has_result ? values : 0);
	op->n = (uint8_t)vec;
	op->size = (uint8_t)(bits / 8);
	op->kind = kind;
	op->type = (uint8_t)in->type;
	op->flags |= EMU_F_ACCESS;
	if (ptx_has(in, MOD_SYS))
		op->flags |= EMU_F_SYS;
	op->u.mem = mem;
	op->o = emu_dec_keep(d, o, n);
	return true;
}

/* PTX ISA, "multimem": the operation is carried out on the memory of every device that
 * the address stands for.  Here that is one: the sum of all is the value there. */
bool emu_dec_multimem(struct emu_dec *d, const struct ptx_inst *in)
{
	struct ptx_inst plain = *in;
	uint8_t kind;

	switch (in->id) {
	case INST_MULTIMEM_LD_REDUCE:
		if (!emu_atom_kind(in, &kind))
			return emu_dec_refuse(d, "a reduction that is not emulated");
		plain.id = INST_LD;
		return emu_dec_mem(d, &plain);
	case INST_MULTIMEM_ST:
		plain.id = INST_ST;
		return emu_dec_mem(d, &plain);
	case INST_MULTIMEM_RED:
		switch (in->type) {
		case TYPE_F16: case TYPE_F16X2: case TYPE_BF16: case TYPE_BF16X2: case TYPE_F32:
		case TYPE_F64: case TYPE_U32: case TYPE_S32: case TYPE_B32: case TYPE_U64:
		case TYPE_S64: case TYPE_B64:
			plain.id = INST_RED;
			return emu_dec_atom(d, &plain);
		default:
			return emu_dec_refuse(d, "a reduction that is not emulated");
		}
	default:
		return false;
	}
}
