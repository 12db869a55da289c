/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_mem.c: ld, ldu, st, st.bulk, discard and the hints.  One function for each
 * element size and kind of address, so that the loop over the lanes holds no
 * decision; a strong access is the same access, since lanes run one after the
 * other and every access is made once, in order (sequential consistency).
 */
#include <stdlib.h>
#include <string.h>

#include "emu/access.h"
#include "emu/async.h"

static const char *const base_name[] = {
	[BASE_GENERIC] = "generic", [BASE_GLOBAL] = "global", [BASE_SHARED] = "shared",
	[BASE_OWN_SHARED] = "shared", [BASE_LOCAL] = "local", [BASE_FRAME] = "local",
	[BASE_KPARAM] = "param", [BASE_FPARAM] = "param", [BASE_PARAM] = "param"
};

const struct emu_op *emu_access_fault(struct emu_x *x, const struct emu_op *op, unsigned lane,
				      uint64_t addr, unsigned size, enum emu_base base)
{
	struct emu_block_mem near;

	if (size && !(size & (size - 1)) && (addr & (size - 1)))
		return emu_fault(x, op, lane, CUDA_ERROR_MISALIGNED_ADDRESS,
				 "misaligned %s address 0x%llx of %u bytes", base_name[base],
				 (unsigned long long)addr, size);
	if ((base == BASE_GLOBAL || base == BASE_GENERIC) && addr >= 256 &&
	    emu_mem_find(addr - 256, &near))
		return emu_fault(x, op, lane, CUDA_ERROR_ILLEGAL_ADDRESS,
				 "illegal %s address 0x%llx of %u bytes, %llu bytes into an "
				 "allocation of %llu", base_name[base], (unsigned long long)addr,
				 size, (unsigned long long)(addr - near.base),
				 (unsigned long long)near.bytes);
	return emu_fault(x, op, lane, CUDA_ERROR_ILLEGAL_ADDRESS,
			 "illegal %s address 0x%llx of %u bytes", base_name[base],
			 (unsigned long long)addr, size);
}

/* ---- ld, st through a register ----------------------------------------------------- */

#define AT_GENERIC(x, l, a, n) emu_at_generic(x, l, a, n)
#define AT_GLOBAL(x, l, a, n)  emu_at_global(a, n)
#define AT_SHARED(x, l, a, n)  emu_at_shared(x, a, n)
#define AT_LOCAL(x, l, a, n)   emu_at_local(x, l, a, n)
#define AT_PARAM(x, l, a, n)   emu_at_param(x, l, a, n)

#define LOAD_STORE(SPACE, T) \
	static const struct emu_op *ld_##SPACE##_##T(struct emu_x *x, const struct emu_op *op, \
						     uint32_t m) \
	{ \
		const uint64_t *base = emu_row(x, op->u.mem.reg); \
		const uint64_t off = (uint64_t)op->u.mem.off; \
		uint64_t *d[8]; \
		unsigned n = op->n; \
		for (unsigned i = 0; i < n; i++) \
			d[i] = emu_row(x, op->o[i]); \
		EMU_EACH(l, m) { \
			const uint64_t a = base[l] + off; \
			const T *p = AT_##SPACE(x, l, a, (unsigned)sizeof(T) * n); \
			if (!p) \
				return emu_access_fault(x, op, l, a, (unsigned)sizeof(T) * n, \
							BASE_##SPACE); \
			for (unsigned i = 0; i < n; i++) \
				d[i][l] = __atomic_load_n(p + i, __ATOMIC_RELAXED); \
		} \
		x->spin |= op->flags & EMU_F_STRONG; \
		return op + 1; \
	} \
	static const struct emu_op *st_##SPACE##_##T(struct emu_x *x, const struct emu_op *op, \
						     uint32_t m) \
	{ \
		const uint64_t *base = emu_row(x, op->u.mem.reg); \
		const uint64_t off = (uint64_t)op->u.mem.off; \
		const uint64_t *s[8]; \
		unsigned n = op->n; \
		for (unsigned i = 0; i < n; i++) \
			s[i] = emu_row(x, op->o[i]); \
		EMU_EACH(l, m) { \
			const uint64_t a = base[l] + off; \
			T *p = AT_##SPACE(x, l, a, (unsigned)sizeof(T) * n); \
			if (!p) \
				return emu_access_fault(x, op, l, a, (unsigned)sizeof(T) * n, \
							BASE_##SPACE); \
			for (unsigned i = 0; i < n; i++) \
				__atomic_store_n(p + i, (T)s[i][l], __ATOMIC_RELEASE); \
		} \
		return op + 1; \
	}

#define ALL_SIZES(SPACE) \
	LOAD_STORE(SPACE, uint8_t) LOAD_STORE(SPACE, uint16_t) \
	LOAD_STORE(SPACE, uint32_t) LOAD_STORE(SPACE, uint64_t)

ALL_SIZES(GENERIC)
ALL_SIZES(GLOBAL)
ALL_SIZES(SHARED)
ALL_SIZES(LOCAL)
ALL_SIZES(PARAM)

#define ROW_OF(dir, SPACE) \
	[BASE_##SPACE] = { dir##_##SPACE##_uint8_t, dir##_##SPACE##_uint16_t, \
			   dir##_##SPACE##_uint32_t, dir##_##SPACE##_uint64_t }

static emu_op_fn *const loads[][4] = {
	ROW_OF(ld, GENERIC), ROW_OF(ld, GLOBAL), ROW_OF(ld, SHARED), ROW_OF(ld, LOCAL),
	ROW_OF(ld, PARAM)
};
static emu_op_fn *const stores[][4] = {
	ROW_OF(st, GENERIC), ROW_OF(st, GLOBAL), ROW_OF(st, SHARED), ROW_OF(st, LOCAL),
	ROW_OF(st, PARAM)
};

/* ---- variables by name -------------------------------------------------------------- */

static uint64_t get_bytes(const void *p, unsigned size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	case 4:
		return __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED);
	}
	return __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED);
}

static void put_bytes(void *p, unsigned size, uint64_t v)
{
	switch (size) {
	case 1:
		*(uint8_t *)p = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)p = (uint16_t)v;
		break;
	case 4:
		__atomic_store_n((uint32_t *)p, (uint32_t)v, __ATOMIC_RELEASE);
		break;
	case 8:
		__atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE);
		break;
	}
}

/* Elements that stand as a sink are not written. */
static const struct emu_op *st_sparse(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	unsigned bytes = (unsigned)op->size * op->n;

	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l);
		struct emu_block *to;
		uint8_t *p = emu_range(x, op, l, op->u.mem.base, a, bytes, bytes, &to);

		if (!p)
			return NULL;
		for (unsigned i = 0; i < op->n; i++)
			if (op->o[i].kind != OPND_NONE)
				put_bytes(p + i * op->size, op->size, emu_get(x, op->o[i], l));
	}
	return op + 1;
}

/* The parameters of the kernel: the same for all. */
static const struct emu_op *ld_kparam(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t a = x->b->grid->params + (uint64_t)op->u.mem.off;
	const uint8_t *p = emu_at_global(a, (unsigned)op->size * op->n);

	if (!p)
		return emu_access_fault(x, op, (unsigned)__builtin_ctz(m), a,
					(unsigned)op->size * op->n, BASE_KPARAM);
	for (unsigned i = 0; i < op->n; i++) {
		uint64_t v = get_bytes(p + i * op->size, op->size);
		uint64_t *d = emu_row(x, op->o[i]);

		EMU_EACH(l, m)
			d[l] = v;
	}
	return op + 1;
}

/* .param of a function or a call: rows of the frame. */
static uint8_t *param_at(struct emu_x *x, const struct emu_op *op, unsigned i)
{
	uint64_t off = (uint64_t)op->u.mem.off + (uint64_t)i * op->size;

	return (uint8_t *)(x->bank[BANK_REG] + (op->u.mem.reg.at + off / 8) * EMU_LANES) + (off & 7);
}

static const struct emu_op *ld_fparam(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	for (unsigned i = 0; i < op->n; i++) {
		const uint8_t *p = param_at(x, op, i);
		uint64_t *d = emu_row(x, op->o[i]);

		EMU_EACH(l, m)
			d[l] = get_bytes(p + l * 8, op->size);
	}
	return op + 1;
}

static const struct emu_op *st_fparam(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	for (unsigned i = 0; i < op->n; i++) {
		uint8_t *p = param_at(x, op, i);
		const uint64_t *s = emu_row(x, op->o[i]);

		EMU_EACH(l, m)
			put_bytes(p + l * 8, op->size, s[l]);
	}
	return op + 1;
}

/* A variable in the block's shared memory or the thread's frame. */
static const struct emu_op *ld_named(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l);
		const uint8_t *p = emu_at(x, l, op->u.mem.base, a, (unsigned)op->size * op->n);

		if (!p)
			return emu_access_fault(x, op, l, a, (unsigned)op->size * op->n,
						op->u.mem.base);
		for (unsigned i = 0; i < op->n; i++)
			emu_row(x, op->o[i])[l] = get_bytes(p + i * op->size, op->size);
	}
	x->spin |= op->flags & EMU_F_STRONG;
	return op + 1;
}

static const struct emu_op *st_named(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l);
		uint8_t *p = emu_at(x, l, op->u.mem.base, a, (unsigned)op->size * op->n);

		if (!p)
			return emu_access_fault(x, op, l, a, (unsigned)op->size * op->n,
						op->u.mem.base);
		for (unsigned i = 0; i < op->n; i++)
			put_bytes(p + i * op->size, op->size, emu_row(x, op->o[i])[l]);
	}
	return op + 1;
}

/* After a load of a signed type into a wider register. */
static const struct emu_op *sign_extend(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	for (unsigned i = 0; i < op->n; i++) {
		uint64_t *d = emu_row(x, op->o[i]);
		unsigned from = 64 - op->size * 8u;
		uint64_t keep = op->o[i].bits >= 64 ? ~UINT64_C(0) :
				(UINT64_C(1) << op->o[i].bits) - 1;

		EMU_EACH(l, m)
			d[l] = (uint64_t)((int64_t)(d[l] << from) >> from) & keep;
	}
	return op + 1;
}

/* ---- ranges --------------------------------------------------------------------------- */

/* st.bulk [a], size, 0. */
static const struct emu_op *st_bulk(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l), size = emu_get(x, op->o[0], l);

		if ((a & 7) || (size & 7))
			return emu_access_fault(x, op, l, a | 1, 8, op->u.mem.base);
		for (uint64_t i = 0; i < size; i += 8) {
			uint64_t *p = emu_at(x, l, op->u.mem.base, a + i, 8);

			if (!p)
				return emu_access_fault(x, op, l, a + i, 8, op->u.mem.base);
			*p = 0;
		}
	}
	return op + 1;
}

/* discard [a], 128: the bytes become anything; here, what they are not likely to
 * have been. */
static const struct emu_op *discard(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m) {
		uint64_t a = emu_addr_of(x, &op->u.mem, l);

		if (a & 127)
			return emu_access_fault(x, op, l, a, 128, op->u.mem.base);
		for (unsigned i = 0; i < 128; i += 8) {
			uint64_t *p = emu_at(x, l, op->u.mem.base, a + i, 8);

			if (!p)
				return emu_access_fault(x, op, l, a + i, 8, op->u.mem.base);
			*p = UINT64_C(0xdddddddddddddddd);
		}
	}
	return op + 1;
}

/* ---- decoding --------------------------------------------------------------------------- */

static bool is_strong(const struct ptx_inst *in)
{
	return ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_RELAXED) ||
	       ptx_has(in, MOD_ACQUIRE) || ptx_has(in, MOD_MMIO);
}

static bool is_signed(enum ptx_type t)
{
	return t == TYPE_S8 || t == TYPE_S16 || t == TYPE_S32;
}

static bool dec_ld_st(struct emu_dec *d, const struct ptx_inst *in, bool load)
{
	const struct ptx_operand *addr = &in->ops[load ? 1 : 0];
	unsigned bits = ptx_type_bits(in->type), log2, n;
	struct emu_addr mem;
	struct emu_opnd o[16];
	struct emu_op *op;
	emu_op_fn *fn;

	if (in->nops < 2 || bits < 8)
		return emu_dec_refuse(d, "an access without a type or operands");
	if (!emu_dec_addr(d, addr, ptx_inst_space(in), &mem))
		return false;
	n = emu_dec_words(d, &in->ops[load ? 0 : 1], load, o, 16);
	if (bits == 128)
		bits = 64;
	if (n > 8 || n != ptx_inst_vec(in) * (ptx_type_bits(in->type) == 128 ? 2 : 1))
		return emu_dec_refuse(d, "operands that do not fit the vector");
	for (unsigned i = 0; i < n; i++)
		if (o[i].kind == OPND_PRED)
			return emu_dec_refuse(d, "a predicate in memory");
	log2 = (unsigned)__builtin_ctz(bits / 8);
	switch ((enum emu_base)mem.base) {
	case BASE_KPARAM:
		if (!load)
			return emu_dec_refuse(d, "a store to a parameter of the kernel");
		fn = ld_kparam;
		break;
	case BASE_FPARAM:
		if (mem.off < 0 || (mem.off & (bits / 8 - 1)))
			return emu_dec_refuse(d, "a misaligned parameter");
		fn = load ? ld_fparam : st_fparam;
		break;
	case BASE_OWN_SHARED:
	case BASE_FRAME:
		fn = load ? ld_named : st_named;
		break;
	default:
		fn = load ? loads[mem.base][log2] : stores[mem.base][log2];
		if (!load && ptx_inst_left_out(in))
			fn = st_sparse;
		break;
	}
	op = emu_dec_new(d);
	op->fn = fn;
	op->size = (uint8_t)(bits / 8);
	op->n = (uint8_t)n;
	op->u.mem = mem;
	op->o = emu_dec_keep(d, o, n);
	op->flags |= EMU_F_ACCESS;
	if (is_strong(in))
		op->flags |= EMU_F_STRONG;
	if (load && is_signed(in->type)) {
		struct emu_op *ext = emu_dec_new(d);

		op = ext - 1;
		ext->fn = sign_extend;
		ext->size = op->size;
		ext->n = op->n;
		ext->o = op->o;
	}
	return true;
}

static bool dec_hint(struct emu_dec *d)
{
	emu_dec_new(d)->fn = emu_op_nop;
	return true;
}

static const struct emu_op *set_zero(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	EMU_EACH(l, m)
		emu_set(x, op->o[0], l, 0);
	return op + 1;
}

bool emu_dec_mem(struct emu_dec *d, const struct ptx_inst *in)
{
	struct emu_addr mem;
	struct emu_opnd o;
	struct emu_op *op;

	switch (in->id) {
	case INST_LD:
	case INST_LDU:
		return dec_ld_st(d, in, true);
	case INST_ST:
		return dec_ld_st(d, in, false);
	case INST_ST_BULK:
	case INST_DISCARD:
		if (in->nops < 2 || !emu_dec_addr(d, &in->ops[0], ptx_inst_space(in), &mem))
			return emu_dec_refuse(d, "operands that do not fit the instruction");
		o = emu_dec_word(d, &in->ops[1], false);
		op = emu_dec_new(d);
		op->fn = in->id == INST_DISCARD ? discard : st_bulk;
		op->flags |= EMU_F_ACCESS;
		op->u.mem = mem;
		op->o = emu_dec_keep(d, &o, 1);
		return true;
	case INST_CREATEPOLICY:                 /* a hint's handle: any value will do */
		o = emu_dec_word(d, &in->ops[0], true);
		op = emu_dec_new(d);
		op->fn = set_zero;
		op->o = emu_dec_keep(d, &o, 1);
		return true;
	case INST_PREFETCH:
	case INST_PREFETCHU:
	case INST_APPLYPRIORITY:
	case INST_CP_ASYNC_BULK_PREFETCH:
	case INST_CP_ASYNC_BULK_PREFETCH_TENSOR:
		return dec_hint(d);
	default:
		return false;
	}
}
