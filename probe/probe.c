/* SPDX-License-Identifier: Apache-2.0
 *
 * probe.c: which records an instruction makes, before it and behind it, and where their operands are.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/module.h"

#define R "%%__gsan_"

/* One instruction: its texts before and behind. */
struct place {
	struct module *to;
	struct ptx_func *f;
	struct ptx_stmt *stmt;
	const struct plan *plan;
	const struct plan_item *item;
	uint32_t at;                    /* of it in the plan */
	const struct event_site *site;
	const struct flow *flow;
	uint32_t number;                /* of the site */
	bool group;                     /* the lanes that are at a record have to become a group */
	bool ok;                        /* so far all operands could be had */
	bool guarded;                   /* a copy of its guard is there */
};

static const struct ptx_operand *operand(const struct place *p, unsigned n)
{
	return n < p->stmt->inst.nops ? &p->stmt->inst.ops[n] : NULL;
}

/* ---- text ------------------------------------------------------------------------------- */

/* What was emitted, for lanes that carry the instruction out: in front of it, or behind. */
static void insert(struct place *p, bool behind)
{
	struct module *t = p->to;
	const struct ptx_inst *in = &p->stmt->inst;
	const char *body = module_text(t);
	unsigned label = t->e.labels;

	if (!*body)
		return;
	if (in->guarded && !p->guarded) {
		emit(&t->e, "mov.pred " R "guard, %s", in->guard->name);
		ptx_insert_before(t->m, p->f, p->stmt, module_text(t));
		p->guarded = true;
	}
	if (in->guarded) {
		t->e.labels++;
		emit(&t->e, "@%s" R "guard bra $__gsan_L%u", in->guard_neg ? "" : "!", label);
	}
	ptx_puts(&t->e.out, body);
	if (in->guarded)
		emit_label(&t->e, label);
	if (behind)
		ptx_insert_after(t->m, p->f, p->stmt, module_text(t));
	else
		ptx_insert_before(t->m, p->f, p->stmt, module_text(t));
}

static void value(struct place *p, unsigned n, unsigned bits)
{
	p->ok = p->ok && operand(p, n) && emit_value(&p->to->e, "v", operand(p, n), bits);
}

static void address(struct place *p, unsigned n)
{
	p->ok = p->ok && operand(p, n) && operand(p, n)->kind == OP_ADDR && emit_address(&p->to->e, operand(p, n));
}

static struct emit_record record(const struct place *p, enum event_kind kind, unsigned words)
{
	return (struct emit_record){kind, p->number, words, p->item->once};
}

static void put_address(struct place *p, const struct emit_record *r, unsigned n)
{
	address(p, n);
	emit_put_address(&p->to->e, r);
}

/* ---- accesses ------------------------------------------------------------------------------ */

/* In front of a record with room of its own: is it the first one of its group? */
static bool grouped(struct place *p)
{
	if (p->group)
		emit_regroup(&p->to->e);
	return p->group;
}

static void reserve(struct place *p, const struct emit_record *r)
{
	emit_reserve(&p->to->e, r, grouped(p));
	p->group = false;
}

/* A site for all that the record tells: itself, or a run. */
static uint32_t line_site(struct module *t, const struct plan *plan, uint32_t at)
{
	const struct plan_item *it = &plan->item[at];
	struct probe_sites *s = t->sites;
	struct event_site site = it->site;

	if (it->members <= 1 && !it->offset)
		return t->number[at];
	site.run = s->nruns;
	site.nrun = it->members;
	s->run = realloc(s->run, (s->nruns + it->members) * sizeof *s->run);
	if (!s->run)
		abort();
	for (uint32_t i = at; i < plan->n && site.nrun > s->nruns - site.run; i++)
		if (i == at || (plan->item[i].kind == PLAN_MEMBER && plan->item[i].leader == at)) {
			s->run[s->nruns++] = (struct event_run){t->number[i], (int32_t)plan->item[i].offset};
			site.does |= plan->item[i].site.does;
		}
	return module_site(t, &site, NULL);
}

/* An access with an address for each lane, or as one if the lanes that are there show it. */
static bool plain(struct place *p)
{
	struct emit_record r = record(p, EVENT_ACCESS, 0);
	int at = plan_address(&p->stmt->inst);
	unsigned label = p->to->e.labels++, lanes = plan_lanes(&p->stmt->inst);
	struct ptx_operand base;
	bool first;

	if (at < 0 || !p->site->size || operand(p, (unsigned)at)->kind != OP_ADDR)
		return false;
	base = operand(p, (unsigned)at)->list[0];
	if (p->item->members) {         /* the record's run has the offsets */
		r.site = line_site(p->to, p->plan, p->at);
		base.off = base.kind == OP_SYM ? 0 : base.off;
	}
	p->ok = emit_address(&p->to->e, &(struct ptx_operand){.kind = OP_ADDR, .n = 1, .list = &base});
	if (p->site->space == EVENT_GENERIC && p->item->splits)
		emit_skip_private(&p->to->e, label, false);
	if (lanes < EVENT_LANES)
		emit_skip_lanes(&p->to->e, lanes, label);
	first = grouped(p);
	emit_addresses(&p->to->e, &r, p->site->size * p->site->count, first);
	emit_label(&p->to->e, label);
	insert(p, false);
	return p->ok;
}

/* Words with the elements of an operand, from the n-th word of the record on. */
static void put_elements(struct place *p, const struct emit_record *r, const struct ptx_operand *o, unsigned n)
{
	const struct event_site *s = p->site;
	struct emit *e = &p->to->e;

	for (unsigned i = 0, bit = 0; i < s->count; i++, bit += s->size * 8u) {
		const struct ptx_operand *x = o->kind == OP_VEC ? &o->list[i] : o;

		p->ok = p->ok && (x->kind == OP_SINK || emit_value(e, bit % 64 ? "x" : "v", x, s->size * 8u));
		if (bit % 64) {
			emit(e, "shl.b64 " R "x, " R "x, %u", bit % 64);
			emit(e, "or.b64 " R "v, " R "v, " R "x");
		}
		if (i + 1 == s->count || (bit + s->size * 8u) % 64 == 0)
			emit_put_word(e, r, n++);
	}
}

/* Behind its instruction a clock is read that cannot be read before v is there. */
static void clocks_behind_use(struct emit *e)
{
	emit(e, "setp.eq.u64 " R "full, " R "v, 0x5a5a5a5a12345678");
	emit(e, "@" R "full mov.u32 " R "c, %%clock");
	emit(e, "@!" R "full mov.u32 " R "c, %%clock");
	emit(e, "mov.u32 " R "t, %%globaltimer_lo");
}

/* The instruction that makes v of the old value x and the operands w and y, as a read-modify-write does
 * (`full`: x equals w); NULL: that is not known. */
static const char *made_by(const struct place *p)
{
	static const struct { enum ptx_mod mod; const char *text; } rows[] = {
		{MOD_ADD, "add.u64 %__gsan_v, %__gsan_x, %__gsan_w"}, {MOD_AND, "and.b64 %__gsan_v, %__gsan_x, %__gsan_w"},
		{MOD_OR, "or.b64 %__gsan_v, %__gsan_x, %__gsan_w"}, {MOD_XOR, "xor.b64 %__gsan_v, %__gsan_x, %__gsan_w"},
		{MOD_EXCH, "mov.b64 %__gsan_v, %__gsan_w"},
		{MOD_CAS, "selp.b64 %__gsan_v, %__gsan_y, %__gsan_x, %__gsan_full"}
	};
	const struct ptx_inst *in = &p->stmt->inst;
	bool number = in->type == TYPE_U32 || in->type == TYPE_S32 || in->type == TYPE_B32 || in->type == TYPE_U64 ||
		      in->type == TYPE_S64 || in->type == TYPE_B64;

	if (!number || p->site->count != 1 || (in->id != INST_ATOM && in->id != INST_RED))
		return NULL;
	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (ptx_has(in, rows[i].mod))
			return rows[i].text;
	return NULL;
}

/* The second word: v is the old value, w and y the operands. */
static void put_made(struct place *p, const struct emit_record *r, const char *text)
{
	struct emit *e = &p->to->e;

	emit(e, "mov.b64 " R "x, " R "v");
	emit(e, "setp.eq.u64 " R "full, " R "x, " R "w");
	emit(e, "%s", text);
	if (p->site->size == 4)
		emit(e, "and.b64 " R "v, " R "v, 0xffffffff");
	emit_put_word(e, r, 1);
	emit(e, "mov.b64 " R "v, " R "x");
}

/* A reduction becomes an atom, whose result says which of its word's values it met. */
static void as_atom(struct place *p)
{
	struct ptx_inst *in = &p->stmt->inst;
	struct ptx_operand *ops;
	const char *name, **words;

	if (in->id != INST_RED || !made_by(p))
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

static bool strong(struct place *p)
{
	bool reads = p->site->does & EVENT_READS, writes = p->site->does & EVENT_WRITES;
	const char *made = made_by(p);
	bool values = p->site->size && p->site->size <= 8 && (reads != writes || made);
	unsigned words = values ? (p->site->size * p->site->count + 7u) / 8 << (reads && writes) : 0;
	struct emit_record r = record(p, EVENT_STRONG, words);
	int at = plan_address(&p->stmt->inst);
	struct emit *e = &p->to->e;
	unsigned label = e->labels;

	if (at < 0 || !p->site->size)
		return false;
	e->labels += 2;
	address(p, (unsigned)at);
	if (p->site->space == EVENT_GENERIC && p->item->splits)
		emit_skip_private(e, label, false);
	emit_clocks(e, false);
	reserve(p, &r);
	put_address(p, &r, (unsigned)at);
	for (unsigned i = 0; made && i < p->stmt->inst.nops - 2u && i < 2; i++)
		p->ok = p->ok && emit_value(e, i ? "y" : "w", operand(p, 2 + i), p->site->size * 8u);
	if (words && writes && !made)
		put_elements(p, &r, operand(p, 1), 0);
	emit_label(e, label);
	insert(p, false);
	if (!reads || (p->site->does & EVENT_NO_RESULT && !made))
		return p->ok;
	if (p->site->space == EVENT_GENERIC && p->item->splits)
		emit_skip_private(e, label + 1, true);
	if (words)
		put_elements(p, &r, operand(p, 0), 0);
	else if (p->stmt->inst.ops[0].kind == OP_SINK || !emit_value(e, "v", operand(p, 0), 64))
		emit(e, "mov.b64 " R "v, 0");
	if (made)
		put_made(p, &r, made);
	clocks_behind_use(e);
	emit_put_behind(e, &r);
	emit_label(e, label + 1);
	insert(p, true);
	return p->ok;
}

/* ---- fences and barriers ------------------------------------------------------------------------ */

/* A record without operands: in room that is shared, or with a guard in its own. */
static bool bare(struct place *p, bool behind)
{
	struct emit_record r = record(p, (enum event_kind)p->site->kind, 0);

	if (p->item->kind == PLAN_OTHER) {
		emit_clocks(&p->to->e, behind);
		reserve(p, &r);
	} else {
		emit_clocks(&p->to->e, behind);
		emit_short(&p->to->e, &r, p->item->at);
	}
	insert(p, behind);
	return true;
}

static bool bare_before(struct place *p) { return bare(p, false); }
static bool bare_behind(struct place *p) { return bare(p, true); }

/* A record of an instruction in two parts. */
static void part(struct place *p, const struct emit_record *r, unsigned at)
{
	if (p->item->kind == PLAN_OTHER)
		reserve(p, r);
	else
		emit_short(&p->to->e, r, p->item->at + at);
}

static void barrier_operands(struct place *p)
{
	const struct ptx_inst *in = &p->stmt->inst;
	bool red = ptx_has(in, MOD_RED);
	unsigned id = red, count = red ? (in->nops > 3 ? 2 : 0) : in->nops > 1 ? 1 : 0;
	struct emit *e = &p->to->e;

	value(p, id, 32);
	emit(e, "cvt.u32.u64 " R "a, " R "v");
	if (!count)
		return;
	value(p, count, 32);
	emit(e, "cvt.u32.u64 " R "b, " R "v");
	emit(e, "mad.lo.u32 " R "a, " R "b, 256, " R "a");
}

static bool barrier(struct place *p)
{
	struct emit_record arrive = record(p, EVENT_BAR_ARRIVE, 0), wait = record(p, EVENT_BAR_WAIT, 0);
	struct emit *e = &p->to->e;

	barrier_operands(p);
	emit(e, "mov.b32 " R "c0, " R "a");     /* its result may take an operand's register */
	emit_clocks(e, false);
	part(p, &arrive, 0);
	insert(p, false);
	if (ptx_has(&p->stmt->inst, MOD_ARRIVE))
		return p->ok;
	emit(e, "mov.b32 " R "a, " R "c0");
	emit_clocks(e, true);
	p->group = p->item->splits;
	part(p, &wait, 1);
	insert(p, true);
	return p->ok;
}

static bool warp_barrier(struct place *p)
{
	struct emit_record arrive = record(p, EVENT_WARP_ARRIVE, 0), wait = record(p, EVENT_WARP_WAIT, 0);
	struct emit *e = &p->to->e;

	for (unsigned behind = 0; behind < 2; behind++) {
		value(p, 0, 32);
		emit(e, "cvt.u32.u64 " R "a, " R "v");
		emit_clocks(e, behind);
		emit_regroup_by(e, "a");
		emit_reserve(e, behind ? &wait : &arrive, true);
		insert(p, behind);
	}
	return p->ok;
}

/* ---- mbarriers -------------------------------------------------------------------------------------- */

/* v = count, or bytes in the upper half and a count of one. */
static void arrive_operand(struct place *p)
{
	struct emit *e = &p->to->e;

	if (ptx_has(&p->stmt->inst, MOD_EXPECT_TX)) {
		value(p, 2, 32);
		emit(e, "shl.b64 " R "v, " R "v, 32");
		emit(e, "or.b64 " R "v, " R "v, 1");
	} else if (p->stmt->inst.nops > 2) {
		value(p, 2, 32);
	} else {
		emit(e, "mov.b64 " R "v, 1");
	}
}

static bool arrive(struct place *p)
{
	struct emit_record r = record(p, EVENT_MBAR_ARRIVE, 2);
	struct ptx_operand *state = &p->stmt->inst.ops[0];
	struct emit *e = &p->to->e;
	bool remote = ptx_has(&p->stmt->inst, MOD_SHARED_CLUSTER);

	if (state->kind == OP_ADDR)
		return false;
	emit_clocks(e, false);
	reserve(p, &r);
	put_address(p, &r, 1);
	arrive_operand(p);
	emit_put_word(e, &r, 0);
	insert(p, false);
	if (remote)                     /* it returns nothing */
		return p->ok;
	if (state->kind == OP_SINK) {
		*state = (struct ptx_operand){0};
		state->kind = OP_SYM;
		state->sym = &p->to->scratch[1];
	}
	value(p, 0, 64);
	emit_put_word(e, &r, 1);
	insert(p, true);
	return p->ok;
}

/* init, inval, expect_tx, complete_tx, cp.async.mbarrier.arrive. */
static bool mbarrier(struct place *p)
{
	struct emit_record r = record(p, (enum event_kind)p->site->kind,
				      p->site->kind != EVENT_MBAR_INVAL && p->site->kind != EVENT_MBAR_COPIES);
	struct emit *e = &p->to->e;

	emit_clocks(e, false);
	reserve(p, &r);
	put_address(p, &r, 0);
	if (r.words) {
		value(p, 1, 32);
		emit_put_word(e, &r, 0);
	}
	insert(p, false);
	return p->ok;
}

/* Behind a wait: from before it are c0, t0. */
static void waited(struct place *p, enum event_kind kind)
{
	struct emit_record r = record(p, kind, 1);
	struct emit *e = &p->to->e;

	emit_clocks(e, true);
	emit(e, "mov.b32 " R "a, " R "c");
	emit(e, "mov.b32 " R "b, " R "t");
	emit(e, "mov.b32 " R "c, " R "c0");
	emit(e, "mov.b32 " R "t, " R "t0");
	p->group = true;
	reserve(p, &r);
	put_address(p, &r, 1);
	value(p, 2, 64);
	emit_put_word(e, &r, 0);
	emit(e, "mov.b32 " R "c, " R "a");
	emit(e, "mov.b32 " R "t, " R "b");
	emit_put_behind(e, &r);
	emit(e, "mov.b32 " R "tried, %u", kind == EVENT_MBAR_TRY ? p->number : 0);
}

/* A wait that came to something; of those that did not, the first. */
static bool mbarrier_wait(struct place *p)
{
	const struct ptx_operand *over = operand(p, 0);
	struct emit *e = &p->to->e;
	unsigned vain = e->labels, end = vain + 1;

	if (over->kind != OP_SYM)
		return false;
	e->labels += 2;
	emit_clocks(e, false);
	emit(e, "mov.b32 " R "c0, " R "c");
	emit(e, "mov.b32 " R "t0, " R "t");
	insert(p, false);
	emit(e, "@!%s bra $__gsan_L%u", over->sym->name, vain);
	waited(p, EVENT_MBAR_WAIT);
	emit(e, "bra $__gsan_L%u", end);
	emit_label(e, vain);
	emit(e, "setp.eq.u32 " R "full, " R "tried, %u", p->number);
	emit(e, "@" R "full bra $__gsan_L%u", end);
	waited(p, EVENT_MBAR_TRY);
	emit_label(e, end);
	insert(p, true);
	return p->ok;
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static bool wait_group(struct place *p)
{
	struct emit_record r = record(p, EVENT_WAIT_GROUP, 0);
	struct emit *e = &p->to->e;

	if (p->stmt->inst.nops) {
		value(p, 0, 32);
		emit(e, "cvt.u32.u64 " R "a, " R "v");
	} else {
		emit(e, "mov.b32 " R "a, 0x%x", EVENT_WAIT_ALL);
	}
	emit(e, "mov.b32 " R "b, 0");
	part(p, &r, 0);
	insert(p, true);
	return p->ok;
}

/* Two of 32 bits in a word: v = low | high << 32; a missing one is 0. */
static void pair_of(struct place *p, const struct ptx_operand *low, const struct ptx_operand *high)
{
	struct emit *e = &p->to->e;

	p->ok = p->ok && (!high || emit_value(e, "w", high, 32));
	if (high)
		emit(e, "shl.b64 " R "w, " R "w, 32");
	if (low)
		p->ok = p->ok && emit_value(e, "v", low, 32);
	else
		emit(e, "mov.b64 " R "v, 0");
	if (high)
		emit(e, "or.b64 " R "v, " R "v, " R "w");
}

static void put_map(struct place *p, const struct emit_record *r, const struct ptx_operand *map)
{
	struct emit *e = &p->to->e;

	p->ok = p->ok && emit_address(e, map);
	emit_map(e, flow_param(p->flow, &map->list[0]));
	if (p->site->flags & EVENT_MULTICAST) {
		emit(e, "mov.b64 " R "y, " R "v");
		value(p, 3, 16);
		emit(e, "shl.b64 " R "v, " R "v, 48");
		emit(e, "or.b64 " R "v, " R "v, " R "y");
	}
	emit_put_word(e, r, 0);
	emit(e, "mov.b64 " R "v, " R "x");
	emit_put_word(e, r, 1);
}

static bool tensor_copy(struct place *p)
{
	struct emit_record r = record(p, EVENT_TENSOR, 6);
	bool load = p->site->flags & EVENT_COUNTED;
	const struct ptx_operand *map = operand(p, load), *at = map && map->kind == OP_ADDR && map->n > 1 ? &map->list[1] : NULL;
	struct emit *e = &p->to->e;

	if (!at || at->kind != OP_VEC || p->site->flags & EVENT_IM2COL)
		return false;
	emit_clocks(e, false);
	reserve(p, &r);
	put_address(p, &r, !load);
	put_map(p, &r, map);
	emit(e, "mov.b64 " R "v, 0");
	if (load)
		address(p, 2);
	emit_put_word(e, &r, 2);
	for (unsigned i = 0; i < 6; i += 2) {
		pair_of(p, i < at->n ? &at->list[i] : NULL, i + 1u < at->n ? &at->list[i + 1] : NULL);
		emit_put_word(e, &r, 3 + i / 2);
	}
	insert(p, false);
	return p->ok;
}

/* The warp's as one: descriptors, of which A may lie in registers. */
static bool wgmma(struct place *p)
{
	struct emit_record r = record(p, EVENT_WGMMA, 2);
	struct emit *e = &p->to->e;

	r.site = line_site(p->to, p->plan, p->at);
	if (ptx_has(&p->stmt->inst, MOD_SP) || p->item->kind != PLAN_SHORT)
		return false;
	if (p->site->flags & EVENT_A_ELSEWHERE)
		emit(e, "mov.b64 " R "w, 0");
	else
		p->ok = emit_value(e, "w", operand(p, 1), 64);
	value(p, 2, 64);
	emit_once(e, &r, p->item->at);
	insert(p, false);
	return p->ok;
}

static bool bulk_copy(struct place *p)
{
	struct emit_record r = record(p, EVENT_COPY, 3);
	struct emit *e = &p->to->e;

	if (p->site->flags & EVENT_BYTE_MASK)
		return false;
	emit_clocks(e, false);
	reserve(p, &r);
	put_address(p, &r, 0);
	address(p, 1);
	emit_put_word(e, &r, 0);
	if (p->site->flags & EVENT_MULTICAST) {
		value(p, 4, 16);
		emit(e, "shl.b64 " R "w, " R "v, 32");
	}
	value(p, 2, 32);
	if (p->site->flags & EVENT_MULTICAST)
		emit(e, "or.b64 " R "v, " R "v, " R "w");
	emit_put_word(e, &r, 1);
	if (p->site->flags & EVENT_COUNTED)
		address(p, 3);
	else
		emit(e, "mov.b64 " R "v, 0");
	emit_put_word(e, &r, 2);
	insert(p, false);
	return p->ok;
}

/* v = bytes that a cp.async reads: as many as it writes, or what an operand says: their number, or that
 * the source is ignored; behind that may be a cache policy, of 64 bits. */
static void source_bytes(struct place *p)
{
	const struct ptx_operand *o = operand(p, 3);
	enum ptx_type type = o && o->kind == OP_SYM ? o->sym->type : TYPE_NONE;

	if (type == TYPE_PRED)
		emit(&p->to->e, "selp.b64 " R "v, %u, %u, %s", o->neg ? p->site->size : 0, o->neg ? 0 : p->site->size, o->sym->name);
	else if (!o || ptx_type_bits(type) == 64)
		emit(&p->to->e, "mov.b64 " R "v, %u", p->site->size);
	else
		value(p, 3, 32);
}

static bool cp_async(struct place *p)
{
	struct emit_record r = record(p, EVENT_CP_ASYNC, 1);
	struct emit *e = &p->to->e;

	emit_clocks(e, false);
	reserve(p, &r);
	put_address(p, &r, 0);
	source_bytes(p);
	emit(e, "shl.b64 " R "w, " R "v, 48");
	address(p, 1);
	emit(e, "or.b64 " R "v, " R "v, " R "w");
	emit_put_word(e, &r, 0);
	insert(p, false);
	return p->ok;
}

/* ---- which it is -------------------------------------------------------------------------------- */

static const struct { uint8_t kind; bool (*put)(struct place *); } probes[] = {
	{EVENT_ACCESS, plain}, {EVENT_STRONG, strong}, {EVENT_FENCE, bare_before}, {EVENT_OPAQUE, bare_behind},
	{EVENT_BAR_ARRIVE, barrier}, {EVENT_WARP_ARRIVE, warp_barrier},
	{EVENT_CLUSTER_ARRIVE, bare_before}, {EVENT_CLUSTER_WAIT, bare_behind}, {EVENT_DEPENDENTS, bare_before}, {EVENT_GRID_WAIT, bare_behind},
	{EVENT_MBAR_INIT, mbarrier}, {EVENT_MBAR_INVAL, mbarrier}, {EVENT_MBAR_EXPECT, mbarrier}, {EVENT_MBAR_COMPLETE, mbarrier},
	{EVENT_MBAR_ARRIVE, arrive}, {EVENT_MBAR_WAIT, mbarrier_wait}, {EVENT_MBAR_COPIES, mbarrier},
	{EVENT_CP_ASYNC, cp_async}, {EVENT_COPY, bulk_copy}, {EVENT_TENSOR, tensor_copy}, {EVENT_WGMMA, wgmma},
	{EVENT_COMMIT, bare_before}, {EVENT_WAIT_GROUP, wait_group}, {EVENT_EXIT, bare_before}
};

/* Nothing may branch between wgmma.fence and the products behind it. */
static struct ptx_stmt *before_products(struct ptx_stmt *first)
{
	struct ptx_stmt *at = first;

	for (struct ptx_stmt *s = first; first->inst.id == INST_WGMMA_MMA_ASYNC && s; s = s->prev) {
		if (s->kind == STMT_TEXT || s->kind == STMT_LABEL || (s->kind == STMT_INST && ptx_leaves(&s->inst)))
			break;
		if (s->kind == STMT_INST && s->inst.id == INST_WGMMA_FENCE)
			at = s;
	}
	return at;
}

/* Do lanes arrive one by one at a barrier among those that share room?  The leader's clock has to be no later than
 * their arrivals: they have to wait for it while it fetches a piece. */
static bool has_arrivals(const struct plan *plan, uint32_t first)
{
	for (uint32_t i = first; i < plan->n && (i == first || !plan->item[i].first); i++) {
		const struct ptx_inst *in = &plan->item[i].stmt->inst;

		if (plan->item[i].site.kind == EVENT_BAR_ARRIVE && in->id == INST_BARRIER && !ptx_has(in, MOD_ALIGNED))
			return true;
	}
	return false;
}

/* In front of the first of those that share room. */
static void make_room(struct place *p)
{
	struct emit *e = &p->to->e;

	if (p->item->group)
		emit_regroup(e);
	emit_room(e, p->item->room, p->item->each);
	if (has_arrivals(p->plan, p->at))
		emit(e, "bar.warp.sync " R "m");
	if (p->item->group)
		emit_clock_record(e, 0);
	ptx_insert_before(p->to->m, p->f, before_products(p->stmt), module_text(p->to));
}

static bool line(struct place *p)
{
	struct emit_record r = {EVENT_ACCESS, line_site(p->to, p->plan, p->at), 0, false};
	const struct ptx_operand *o = operand(p, (unsigned)plan_address(&p->stmt->inst));
	bool ok = p->item->kind == PLAN_EACH ? emit_each(&p->to->e, &r, o, p->item->at) :
		  emit_line(&p->to->e, &r, o, p->item->step, p->item->at);

	insert(p, false);
	return ok;
}

/* One that cannot be logged whole is counted; what of it could be logged may stay. */
void probe_instruction(struct module *t, struct ptx_func *f, const struct plan *plan, uint32_t at)
{
	const struct plan_item *it = &plan->item[at];
	struct place p = {.to = t, .f = f, .stmt = it->stmt, .plan = plan, .item = it, .at = at, .flow = plan->flow, .site = &it->site, .ok = true};
	bool put = false;

	p.number = t->number[at];
	if (it->first && it->kind != PLAN_OTHER && it->kind != PLAN_CALL)
		make_room(&p);
	p.group = it->group || it->splits;
	if (it->site.kind == EVENT_STRONG)
		as_atom(&p);
	if (it->kind == PLAN_LINE || it->kind == PLAN_EACH)
		put = line(&p);
	for (unsigned k = 0; k < sizeof probes / sizeof *probes && it->kind != PLAN_LINE && it->kind != PLAN_EACH; k++)
		if (probes[k].kind == it->site.kind)
			put = probes[k].put(&p);
	if (!put)
		module_leave_out(t, it->stmt);
	t->e.out.len = 0;
}

