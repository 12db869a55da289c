/* SPDX-License-Identifier: Apache-2.0
 *
 * emit.c: the text of probes: registers, operands, records.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/emit.h"

#define R "%%__gsan_"

void emit(struct emit *p, const char *fmt, ...)
{
	va_list ap;
	char *line;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);          /* names may be of any length */
	va_end(ap);
	if (n < 0)
		abort();
	ptx_puts(&p->out, "\t");
	ptx_put(&p->out, line, (size_t)n);
	ptx_puts(&p->out, ";\n");
	free(line);
}

void emit_label(struct emit *p, unsigned label)
{
	char line[32];

	ptx_put(&p->out, line, (size_t)snprintf(line, sizeof line, "$__gsan_L%u:\n", label));
}

void emit_registers(struct emit *p)
{
	emit(p, ".reg .b64 " R "p, " R "k, " R "kl, " R "v, " R "x, " R "w, " R "y");
	emit(p, ".reg .b32 " R "last, " R "lt, " R "m, " R "n, " R "rank, " R "lo, " R "hi");
	emit(p, ".reg .b32 " R "a, " R "b, " R "c, " R "t, " R "c0, " R "t0, " R "tried");
	emit(p, ".reg .b16 " R "h");
	emit(p, ".reg .pred " R "leader, " R "full, " R "line, " R "same, " R "guard, " R "private");
}

void emit_start(struct emit *p)
{
	emit(p, "mov.b64 " R "p, %u", PROBE_PIECE - 1);
	emit(p, "mov.b32 " R "last, 0");
	emit(p, "mov.b32 " R "tried, 0");
	emit(p, "mov.u32 " R "lt, %%lanemask_lt");
}

/* ---- operands ------------------------------------------------------------------------------- */

bool emit_value(struct emit *p, const char *to, const struct ptx_operand *o, unsigned bits)
{
	const char *dot = o->elemtext ? "." : "", *elem = o->elemtext ? o->elemtext : "";
	unsigned have;

	if (o->kind == OP_INT || o->kind == OP_FLOAT || o->kind == OP_EXPR) {
		uint64_t v = o->ival;

		emit(p, "mov.b64 " R "%s, 0x%llx", to, (unsigned long long)(bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v));
		return true;
	}
	if (o->kind != OP_SYM || !o->sym || o->neg)
		return false;
	if (o->sym->kind == SYM_VAR) {
		emit(p, "mov.b64 " R "%s, %s", to, o->sym->name);
		return true;
	}
	have = ptx_type_bits(o->sym->kind == SYM_SREG ? TYPE_B32 : o->sym->type);
	if (o->sym->kind != SYM_REG && o->sym->kind != SYM_SREG)
		return false;
	switch (have) {
	case 64:
		emit(p, "mov.b64 " R "%s, %s%s%s", to, o->sym->name, dot, elem);
		return true;
	case 32:
		emit(p, "mov.b32 " R "lo, %s%s%s", o->sym->name, dot, elem);
		emit(p, "cvt.u64.u32 " R "%s, " R "lo", to);
		break;
	case 16:
		emit(p, "mov.b16 " R "h, %s%s%s", o->sym->name, dot, elem);
		emit(p, "cvt.u64.u16 " R "%s, " R "h", to);
		break;
	default:
		return false;
	}
	if (bits < have)
		emit(p, "and.b64 " R "%s, " R "%s, 0x%llx", to, to, (unsigned long long)((UINT64_C(1) << bits) - 1));
	return true;
}

bool emit_address(struct emit *p, const struct ptx_operand *addr)
{
	struct ptx_operand base = addr->list[0];
	int64_t off = base.kind == OP_SYM ? base.off : 0;

	base.off = 0;
	if (!emit_value(p, "v", &base, 64))
		return false;
	if (off)
		emit(p, "add.s64 " R "v, " R "v, %lld", (long long)off);
	/* An offset from 32 bits wraps. */
	if (off && base.sym->kind == SYM_REG && ptx_type_bits(base.sym->type) == 32)
		emit(p, "and.b64 " R "v, " R "v, 0xffffffff");
	return true;
}

void emit_skip_private(struct emit *p, unsigned label, bool behind)
{
	if (!behind)
		emit(p, "isspacep.local " R "private, " R "v");
	emit(p, "@" R "private bra $__gsan_L%u", label);
}

void emit_skip_lanes(struct emit *p, unsigned lane, unsigned label)
{
	emit(p, "mov.u32 " R "lo, %%laneid");
	emit(p, "setp.ge.u32 " R "full, " R "lo, %u", lane);
	emit(p, "@" R "full bra $__gsan_L%u", label);
}

/* ---- records ----------------------------------------------------------------------------------- */

void emit_clocks(struct emit *p, bool behind)
{
	if (!behind)
		emit(p, "mov.u32 " R "t, %%globaltimer_lo");
	emit(p, "mov.u32 " R "c, %%clock");
	if (behind)
		emit(p, "mov.u32 " R "t, %%globaltimer_lo");
}

static bool addressed(const struct emit_record *r)
{
	return event_form(r->kind) == EVENT_FORM_ADDRESS || event_form(r->kind) == EVENT_FORM_CLOCKED;
}

static unsigned fixed_bytes(const struct emit_record *r)
{
	return event_form(r->kind) == EVENT_FORM_CLOCKED ? 32 : 16;
}

static unsigned words_of(const struct emit_record *r)
{
	return r->words + addressed(r);
}

/* The group's mask (at a barrier of lanes: those of it that name the same lanes), and who of it stores for all. */
static void gather(struct emit *p, const struct emit_record *r)
{
	emit(p, "activemask.b32 " R "m");
	if (r->kind == EVENT_WARP_ARRIVE || r->kind == EVENT_WARP_WAIT)
		emit(p, "match.any.sync.b32 " R "m, " R "a, " R "m");
	emit(p, "and.b32 " R "rank, " R "lt, " R "m");
	if (words_of(r))
		emit(p, "popc.b32 " R "rank, " R "rank");
	emit(p, "setp.eq.u32 " R "leader, " R "rank, 0");
}

/* n = the bytes that the record takes. */
static void size_of(struct emit *p, const struct emit_record *r)
{
	if (!words_of(r)) {
		emit(p, "mov.b32 " R "n, %u", fixed_bytes(r));
		return;
	}
	emit(p, "popc.b32 " R "n, " R "m");
	emit(p, "mad.lo.u32 " R "n, " R "n, %u, 1", words_of(r));
	emit(p, "shr.u32 " R "n, " R "n, 1");
	emit(p, "mad.lo.u32 " R "n, " R "n, 16, %u", fixed_bytes(r));
}

/* k = room for n bytes.  Lanes that were not all together at their last record are ordered by a clock
 * first (event.h); 16 bytes are left zero behind the last record of a piece: its end. */
static void take_room(struct emit *p)
{
	unsigned have = p->labels++;

	emit(p, "cvt.u32.u64 " R "lo, " R "p");
	emit(p, "and.b32 " R "lo, " R "lo, %u", PROBE_PIECE - 1);
	emit(p, "add.u32 " R "lo, " R "lo, " R "n");
	emit(p, "setp.gt.and.u32 " R "full, " R "lo, %u, " R "leader", PROBE_PIECE - 16);
	emit(p, "setp.ne.or.u32 " R "full, " R "last, " R "m, " R "full");
	emit(p, "vote.sync.any.pred " R "full, " R "full, " R "m");
	emit(p, "@!" R "full bra $__gsan_L%u", have);
	emit(p, "call (" R "p), __gsan_turn, (" R "p, " R "m, " R "n)");
	emit_label(p, have);
	emit(p, "mov.b32 " R "last, " R "m");
	emit(p, "mov.b64 " R "k, " R "p");
	emit(p, "cvt.u64.u32 " R "x, " R "n");
	emit(p, "@" R "leader add.u64 " R "p, " R "p, " R "x");
}

/* The leader's k for all of the group. */
static void share_place(struct emit *p)
{
	emit(p, "brev.b32 " R "n, " R "m");
	emit(p, "clz.b32 " R "n, " R "n");
	emit(p, "mov.b64 {" R "lo, " R "hi}, " R "k");
	emit(p, "shfl.sync.idx.b32 " R "lo, " R "lo, " R "n, 31, " R "m");
	emit(p, "shfl.sync.idx.b32 " R "hi, " R "hi, " R "n, 31, " R "m");
	emit(p, "mov.b64 " R "k, {" R "lo, " R "hi}");
}

static void put_fixed(struct emit *p, const struct emit_record *r)
{
	unsigned head = event_head(r->kind, r->site, r->words, addressed(r));

	switch (event_form(r->kind)) {
	case EVENT_FORM_CLOCK:
		emit(p, "@" R "leader st.global.v4.b32 [" R "k], {0x%x, " R "m, " R "c, " R "t}", head);
		break;
	case EVENT_FORM_BARRIER:
		emit(p, "@" R "leader st.global.v4.b32 [" R "k], {0x%x, " R "m, " R "a, " R "c}", head);
		break;
	case EVENT_FORM_PAIR:
		emit(p, "@" R "leader st.global.v4.b32 [" R "k], {0x%x, " R "m, " R "a, " R "b}", head);
		break;
	default:
		emit(p, "@" R "leader st.global.v4.b32 [" R "k], {0x%x, " R "m, 0, 0}", head);
		break;
	}
	if (event_form(r->kind) == EVENT_FORM_CLOCKED)
		emit(p, "@" R "leader st.global.v2.b32 [" R "k+16], {" R "c, " R "t}");
}

void emit_reserve(struct emit *p, const struct emit_record *r)
{
	gather(p, r);
	size_of(p, r);
	take_room(p);
	if (words_of(r))
		share_place(p);
	put_fixed(p, r);
	if (!words_of(r))
		return;
	emit(p, "mul.wide.u32 " R "kl, " R "rank, %u", words_of(r) * 8);
	emit(p, "add.u64 " R "kl, " R "kl, " R "k");
}

/* line, and the step in a. */
static void find_line(struct emit *p, unsigned step)
{
	emit(p, "match.all.sync.b64 " R "lo|" R "same, " R "v, " R "m");
	emit(p, "mov.u32 " R "lo, %%laneid");
	emit(p, "mul.wide.u32 " R "x, " R "lo, %u", step);
	emit(p, "sub.u64 " R "x, " R "v, " R "x");
	emit(p, "match.all.sync.b64 " R "lo|" R "line, " R "x, " R "m");
	emit(p, "or.pred " R "line, " R "line, " R "same");
	emit(p, "selp.b32 " R "a, 0, 0x%x, " R "same", step << 16);
}

void emit_addresses(struct emit *p, const struct emit_record *r, unsigned step)
{
	unsigned each = p->labels++, end = p->labels++;

	emit(p, "and.b64 " R "v, " R "v, 0x%llx", (unsigned long long)EVENT_ADDRESS);
	gather(p, r);
	find_line(p, step);
	emit(p, "@!" R "line bra $__gsan_L%u", each);
	emit(p, "mov.b32 " R "n, 16");
	take_room(p);
	emit(p, "mov.b64 {" R "lo, " R "hi}, " R "v");
	emit(p, "or.b32 " R "hi, " R "hi, " R "a");
	emit(p, "@" R "leader st.global.v4.b32 [" R "k], {0x%x, " R "m, " R "lo, " R "hi}", event_head(r->kind, r->site, 0, false));
	emit(p, "bra $__gsan_L%u", end);
	emit_label(p, each);
	emit(p, "call (" R "p), __gsan_each, (" R "p, " R "v, " R "m, 0x%x)", event_head(r->kind, r->site, 0, true));
	emit(p, "mov.b32 " R "last, " R "m");
	emit_label(p, end);
}

void emit_put_address(struct emit *p, const struct emit_record *r)
{
	emit(p, "and.b64 " R "v, " R "v, 0x%llx", (unsigned long long)EVENT_ADDRESS);
	emit(p, "st.global.b64 [" R "kl+%u], " R "v", fixed_bytes(r));
}

void emit_put_word(struct emit *p, const struct emit_record *r, unsigned n)
{
	emit(p, "st.global.b64 [" R "kl+%u], " R "v", fixed_bytes(r) + 8 * (n + addressed(r)));
}

void emit_put_behind(struct emit *p, const struct emit_record *r)
{
	if (event_form(r->kind) == EVENT_FORM_CLOCKED)
		emit(p, "@" R "leader st.global.v2.b32 [" R "k+24], {" R "c, " R "t}");
}
