/* SPDX-License-Identifier: Apache-2.0
 *
 * access.c: the records of accesses.
 */
#include <string.h>

#include "probe/place.h"

#define R "%%__gsan_"

/* v, or x in the upper bits of it: the elements of an operand as they lie in memory, in words of 64 bits; true: the word
 * is whole, and another one comes. */
static bool element(struct place *p, const struct ptx_operand *o, unsigned i)
{
	const struct event_site *s = p->site;
	const struct ptx_operand *x = !o || (o->kind == OP_VEC && i >= o->n) ? &ptx_no_operand : o->kind == OP_VEC ? &o->list[i] : o;
	unsigned bit = i * s->size * 8u % 64;
	struct emit *e = &p->to->e;

	if (x->kind == OP_SINK)
		emit(e, "mov.b64 " R "%s, 0", bit ? "x" : "v");
	else
		p->ok = p->ok && emit_value(e, bit ? "x" : "v", x, s->size * 8u);
	if (bit) {
		emit(e, "shl.b64 " R "x, " R "x, %u", bit);
		emit(e, "or.b64 " R "v, " R "v, " R "x");
	}
	return i + 1u == s->count || bit + s->size * 8u == 64;
}

/* Words with the elements of an operand, from the n-th word of the record on. */
static void put_elements(struct place *p, const struct emit_record *r, const struct ptx_operand *o, unsigned n)
{
	for (unsigned i = 0; i < p->site->count; i++)
		if (element(p, o, i))
			emit_put_word(&p->to->e, r, n++);
}

/* A number of 64 bits that stands for what is stored. */
static void put_stored(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_STORED, 1);
	struct emit *e = &p->to->e;

	emit(e, "mov.b64 " R "w, 0");
	for (unsigned i = 0; i < p->site->count; i++)
		if (element(p, place_operand(p, 1), i)) {
			emit(e, "xor.b64 " R "v, " R "v, " R "w");
			emit(e, "shr.u64 " R "w, " R "w, 29");
			emit(e, "mul.lo.u64 " R "v, " R "v, 0x9e3779b97f4a7c15");
			emit(e, "xor.b64 " R "w, " R "w, " R "v");
		}
	emit(e, "mov.b32 " R "a, 0");
	emit(e, "mov.b32 " R "b, 0");
	place_reserve(p, &r);
	emit(e, "mov.b64 " R "v, " R "w");
	emit_put_word(e, &r, 0);
}

/* v = a row of a matrix for each lane, from the last one on: which lane accesses what of it is not told, and a program
 * that counts on the first row's being lane 0's is wrong. */
static void find_row(struct place *p, unsigned rows)
{
	const struct ptx_operand *stride = place_operand(p, 2);
	struct emit *e = &p->to->e;

	if (stride)
		p->ok = p->ok && emit_value(e, "w", stride, 32);
	else
		emit(e, "mov.b64 " R "w, %u", p->site->shape[1]);
	emit(e, "mov.u32 " R "lo, %%laneid");
	emit(e, "sub.u32 " R "lo, %u, " R "lo", rows - 1);
	emit(e, "cvt.u64.u32 " R "x, " R "lo");
	emit(e, "mul.lo.u64 " R "x, " R "x, " R "w");
	emit(e, "mul.lo.u64 " R "x, " R "x, %u", p->site->shape[2]);
	emit(e, "shr.u64 " R "x, " R "x, 3");
	emit(e, "add.u64 " R "v, " R "v, " R "x");
}

/* So many bytes for each lane: st.bulk, or a row of wmma's matrix. */
static bool ranges(struct place *p, unsigned at, unsigned lanes, unsigned label)
{
	struct emit_record r = place_record(p, EVENT_ACCESS, 1);
	bool rows = p->site->shape[0];
	struct emit *e = &p->to->e;

	place_address(p, at);
	if (p->site->space == EVENT_GENERIC)
		emit_skip_private(e, label, false);
	if (lanes < EVENT_LANES)
		emit_skip_lanes(e, lanes, label);
	if (rows)
		find_row(p, lanes);
	place_reserve(p, &r);
	emit(e, "mov.b64 " R "y, " R "v");
	if (rows)
		emit(e, "mov.b64 " R "v, %u", p->site->shape[1] * p->site->shape[2] / 8u);
	else
		place_value(p, 1, 64);
	emit_put_word(e, &r, 0);
	emit(e, "mov.b64 " R "v, " R "y");
	emit_put_address(e, &r);
	emit_label(e, label);
	place_insert(p, false);
	return p->ok;
}

/* An access with an address for each lane, or as one if the lanes that are there show it. */
bool probe_access(struct place *p)
{
	struct emit_record r = place_record(p, EVENT_ACCESS, 0);
	int at = plan_address(&p->stmt->inst);
	unsigned label = p->to->e.labels++, lanes = plan_lanes(p->item);
	struct ptx_operand base;
	bool first;

	if (at < 0 || ptx_operand(&p->stmt->inst, (unsigned)at)->kind != OP_ADDR)
		return false;
	if (!p->site->size)
		return ranges(p, (unsigned)at, lanes, label);
	base = place_operand(p, (unsigned)at)->list[0];
	if (p->item->members) {         /* the record's run has the offsets */
		r.site = place_site(p->to, p->plan, p->at);
		base.off = base.kind == OP_SYM ? 0 : base.off;
	}
	p->ok = emit_address(&p->to->e, &(struct ptx_operand){.kind = OP_ADDR, .n = 1, .list = &base});
	if (p->site->space == EVENT_GENERIC && p->item->splits)
		emit_skip_private(&p->to->e, label, false);
	if (lanes < EVENT_LANES)
		emit_skip_lanes(&p->to->e, lanes, label);
	first = place_group(p);
	emit_addresses(&p->to->e, &r, p->site->size * p->site->count, first);
	p->group = false;
	if (p->item->stored)
		put_stored(p);
	emit_label(&p->to->e, label);
	place_insert(p, false);
	return p->ok;
}

/* Behind its instruction a clock is read that cannot be read before v is there. */
static void clocks_behind_use(struct emit *e)
{
	emit(e, "setp.eq.u64 " R "full, " R "v, 0x5a5a5a5a12345678");
	emit(e, "@" R "full mov.u32 " R "c, %%clock");
	emit(e, "@!" R "full mov.u32 " R "c, %%clock");
	emit(e, "mov.u32 " R "t, %%globaltimer_lo");
}

#define X "%__gsan_x"
#define W "%__gsan_w"
#define V "%__gsan_v"
#define FULL "%__gsan_full"
#define NEXT ";\n\t"
#define NARROW "cvt.s64.s32 " V ", " X NEXT "cvt.s64.s32 " W ", " W NEXT

/* Instructions that make v of the old value x and the operands w and y, as a read-modify-write does (`full`: x equals w);
 * NULL: that is not known.  How atomics round and flush floating-point numbers depends on the space (PTX ISA, "atom"). */
static const char *made_by(const struct place *p)
{
	static const struct { enum ptx_mod mod; const char *text, *narrow; } rows[] = {
		{MOD_ADD, "add.u64 " V ", " X ", " W, NULL}, {MOD_AND, "and.b64 " V ", " X ", " W, NULL},
		{MOD_OR, "or.b64 " V ", " X ", " W, NULL}, {MOD_XOR, "xor.b64 " V ", " X ", " W, NULL},
		{MOD_EXCH, "mov.b64 " V ", " W, NULL}, {MOD_CAS, "selp.b64 " V ", %__gsan_y, " X ", " FULL, NULL},
		{MOD_INC, "setp.ge.u64 " FULL ", " X ", " W NEXT "add.u64 " V ", " X ", 1" NEXT
			  "selp.b64 " V ", 0, " V ", " FULL, NULL},
		{MOD_DEC, "sub.u64 " V ", " X ", 1" NEXT "setp.ge.u64 " FULL ", " V ", " W NEXT
			  "selp.b64 " V ", " W ", " V ", " FULL, NULL},
		{MOD_MIN, "min.s64 " V ", " X ", " W, NARROW "min.s64 " V ", " V ", " W},
		{MOD_MAX, "max.s64 " V ", " X ", " W, NARROW "max.s64 " V ", " V ", " W}
	};
	const struct ptx_inst *in = &p->stmt->inst;
	bool is_signed = in->type == TYPE_S32 || in->type == TYPE_S64;
	bool number = in->type == TYPE_U32 || in->type == TYPE_B32 || in->type == TYPE_U64 || in->type == TYPE_B64 ||
		      in->type == TYPE_B16 || is_signed;

	if (!number || p->site->count != 1 || (in->id != INST_ATOM && in->id != INST_RED))
		return NULL;
	if (!is_signed && (ptx_has(in, MOD_MIN) || ptx_has(in, MOD_MAX)))
		return ptx_has(in, MOD_MIN) ? "min.u64 " V ", " X ", " W : "max.u64 " V ", " X ", " W;
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (ptx_has(in, rows[i].mod))
			return in->type == TYPE_S32 && rows[i].narrow ? rows[i].narrow : rows[i].text;
	return NULL;
}

/* The second word: v is the old value, w and y the operands; same: it is as the first. */
static void put_made(struct place *p, const struct emit_record *r, const char *text)
{
	struct emit *e = &p->to->e;

	emit(e, "mov.b64 " R "x, " R "v");
	emit(e, "setp.eq.u64 " R "full, " R "x, " R "w");
	emit(e, "%s", text);
	if (p->site->size < 8)
		emit(e, "and.b64 " R "v, " R "v, 0x%x", p->site->size == 4 ? 0xffffffff : 0xffff);
	emit_put_word(e, r, 1);
	emit(e, "setp.eq.u64 " R "same, " R "v, " R "x");
	emit(e, "mov.b64 " R "v, " R "x");
}

/* A reduction becomes an atom, whose result says which of its word's values it met. */
void probe_as_atom(struct place *p)
{
	struct ptx_inst *in = &p->stmt->inst;
	struct ptx_operand *ops;
	const char *name, **words;

	if (in->id != INST_RED || in->nops < 2 || !made_by(p))
		return;
	in->id = INST_ATOM;
	ops = ptx_alloc(p->to->m->arena, (in->nops + 1u) * sizeof *ops);
	ops[0].kind = OP_SYM;
	ops[0].sym = &p->to->scratch[p->site->size == 8];
	memcpy(ops + 1, in->ops, in->nops * sizeof *ops);
	in->ops = ops;
	in->nops++;
	name = ptx_sprintf(p->to->m->arena, "atom%s", in->modtext[in->nmods] + strlen("red"));
	/* Instructions that are spelled alike share their words. */
	words = ptx_alloc(p->to->m->arena, (in->nmods + 1u) * sizeof *words);
	memcpy(words, in->modtext, in->nmods * sizeof *words);
	words[in->nmods] = ptx_intern(p->to->m->arena, name, strlen(name));
	in->modtext = words;
}

bool probe_strong(struct place *p)
{
	bool reads = p->site->does & EVENT_READS, writes = p->site->does & EVENT_WRITES;
	const char *made = made_by(p);
	bool values = p->site->size && p->site->size <= 8 && (reads != writes || made);
	unsigned words = values ? (p->site->size * p->site->count + 7u) / 8 << (reads && writes) : 0;
	bool poll = p->item->poll && words;
	struct emit_record r = place_record(p, EVENT_STRONG, words);
	int at = plan_address(&p->stmt->inst);
	struct emit *e = &p->to->e;
	unsigned label = e->labels;

	if (at < 0)
		return probe_async_store(p);
	if (!p->site->size)
		return false;
	e->labels += 2;
	place_address(p, (unsigned)at);
	if (p->site->space == EVENT_GENERIC && p->item->splits)
		emit_skip_private(e, label, false);
	emit_clocks(e, false);
	if (poll)
		emit_poll(e, &r, place_group(p));
	else
		place_reserve(p, &r);
	for (unsigned i = 0; made && i < p->stmt->inst.nops - 2u && i < 2; i++)
		p->ok = p->ok && emit_value(e, i ? "y" : "w", place_operand(p, 2 + i), p->site->size * 8u);
	if (words && writes && !made)
		put_elements(p, &r, place_operand(p, 1), 0);
	place_put_address(p, &r, (unsigned)at);
	emit_label(e, label);
	place_insert(p, false);
	if (!reads || (p->site->does & EVENT_NO_RESULT && !made))
		return p->ok;
	if (p->site->space == EVENT_GENERIC && p->item->splits)
		emit_skip_private(e, label + 1, true);
	if (words)
		put_elements(p, &r, place_operand(p, 0), 0);
	else if (ptx_operand(&p->stmt->inst, 0)->kind == OP_SINK || !emit_value(e, "v", place_operand(p, 0), 64))
		emit(e, "mov.b64 " R "v, 0");
	if (made)
		put_made(p, &r, made);
	clocks_behind_use(e);
	emit_put_behind(e, &r);
	if (poll)
		emit_poll_end(e, &r, writes);
	emit_label(e, label + 1);
	place_insert(p, true);
	return p->ok;
}

bool probe_line(struct place *p)
{
	struct emit_record r = {EVENT_ACCESS, place_site(p->to, p->plan, p->at), 0, false};
	const struct ptx_operand *o = place_operand(p, (unsigned)plan_address(&p->stmt->inst));
	bool ok = p->item->kind == PLAN_EACH ? emit_each(&p->to->e, &r, o, p->item->at) :
		  emit_line(&p->to->e, &r, o, p->item->step, p->item->at);

	place_insert(p, false);
	return ok;
}
