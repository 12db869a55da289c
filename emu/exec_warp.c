/* SPDX-License-Identifier: Apache-2.0
 *
 * exec_warp.c: what lanes of a warp do together: shfl, vote, match, redux, elect,
 * bar.warp.sync.  A .sync instruction waits for all lanes of its mask that have
 * not exited; they may stand at different instructions of the same kind.
 */
#include <string.h>

#include "emu/listen.h"

static bool alike(const struct emu_op *a, const struct emu_op *b)
{
	return a->fn == b->fn && a->kind == b->kind && a->type == b->type && a->imm == b->imm;
}

/* The group that lanes come in, for who listens: at one of their first try to go on, without
 * those that wait here already. */
static void note_came(struct emu_x *x, uint32_t m)
{
	uint32_t *came = x->w->came, fresh = x->mask;

	EMU_EACH(l, x->mask)
		if (came[l])
			fresh &= ~(1u << l);
	EMU_EACH(l, m & fresh)
		came[l] = fresh;
}

static void take_came(struct emu_x *x, struct emu_gather *g)
{
	EMU_EACH(l, g->mask) {
		g->came[l] = x->w->came[l];
		x->w->came[l] = 0;
	}
}

bool emu_gather(struct emu_x *x, const struct emu_op *op, uint32_t m, uint32_t need,
		struct emu_gather *out)
{
	struct emu_warp *w = x->w;
	uint32_t have = m;

	if (emu_tells(op))
		note_came(x, m);
	if (x->mask & ~m)
		emu_split(x, x->mask & ~m, op + 1, x->base);
	out->n = 1;
	out->part[0] = (struct emu_part){op, m, x->base};
	if (need & w->live & ~have) {
		for (unsigned i = 0; i < w->ngroups; i++) {
			struct emu_group *g = &w->group[i];

			if (g->state == GROUP_WAIT_WARP && g->need == need && alike(g->at, op))
				have |= g->mask;
		}
		if (need & w->live & ~have) {
			emu_park(x, GROUP_WAIT_WARP, op)->need = need;
			return false;
		}
		for (unsigned i = 0; i < w->ngroups; i++) {
			struct emu_group *g = &w->group[i];

			if (g->state != GROUP_WAIT_WARP || g->need != need || !alike(g->at, op))
				continue;
			out->part[out->n++] = (struct emu_part){g->at, g->mask, g->base};
			g->state = GROUP_READY;
			g->pc = g->at + 1;
		}
		emu_find_stop(x, op);
	}
	out->mask = have;
	if (emu_listening)
		take_came(x, out);
	return true;
}

static struct emu_x view(struct emu_x *x, const struct emu_part *p)
{
	struct emu_x v = *x;

	v.base = p->base;
	emu_x_banks(&v);
	return v;
}

void emu_read_part(struct emu_x *x, const struct emu_part *p, struct emu_opnd o, uint64_t *row)
{
	struct emu_x v = view(x, p);

	if (o.kind == OPND_ROW && p->mask == EMU_ALL) {
		memcpy(row, emu_row(&v, o), EMU_LANES * sizeof *row);
		return;
	}
	EMU_EACH(l, p->mask)
		row[l] = emu_get(&v, o, l);
}

void emu_write_part(struct emu_x *x, const struct emu_part *p, struct emu_opnd o, const uint64_t *row)
{
	struct emu_x v = view(x, p);

	if (o.kind == OPND_NONE)
		return;
	EMU_EACH(l, p->mask)
		emu_set(&v, o, l, row[l]);
}

/* Reads operand number `i` of every part. */
static void read_all(struct emu_x *x, const struct emu_gather *g, unsigned i, uint64_t *row)
{
	for (unsigned k = 0; k < g->n; k++)
		emu_read_part(x, &g->part[k], g->part[k].op->o[i], row);
}

static void write_all(struct emu_x *x, const struct emu_gather *g, unsigned i, const uint64_t *row)
{
	for (unsigned k = 0; k < g->n; k++)
		emu_write_part(x, &g->part[k], g->part[k].op->o[i], row);
}

typedef void core_fn(struct emu_x *, const struct emu_op *, const struct emu_gather *);

/* Runs `core` for the lanes of a .sync instruction, whose mask is the last operand,
 * once for each mask.  Lanes whose partners are elsewhere wait; the others go on. */
static const struct emu_op *together(struct emu_x *x, const struct emu_op *op, uint32_t m,
				     core_fn *core)
{
	struct emu_opnd o = op->o[op->nd + op->ns - 1];
	struct emu_gather g;
	uint32_t pending = 0, first_pending = 0, rest = m, need = 0;

	g.n = 1;
	if (op->flags & EMU_F_NO_MASK) {        /* old forms: who happens to be here */
		g.mask = m;
		g.part[0] = (struct emu_part){op, m, x->base};
		core(x, op, &g);
		return op + 1;
	}
	if (emu_tells(op))
		note_came(x, m);
	while (rest) {
		unsigned first = (unsigned)__builtin_ctz(rest);
		uint32_t members = (uint32_t)emu_get(x, o, first), same = 0;

		EMU_EACH(l, rest)
			same |= (uint32_t)((uint32_t)emu_get(x, o, l) == members) << l;
		if (same & ~members)
			return emu_fault(x, op, (unsigned)__builtin_ctz(same & ~members),
					 CUDA_ERROR_ILLEGAL_INSTRUCTION,
					 "the lane is not in its member mask 0x%x", members);
		rest &= ~same;
		if (members & x->w->live & ~same) {
			if (!pending) {
				first_pending = same;
				need = members;
			}
			pending |= same;
			continue;
		}
		g.mask = same;
		g.part[0] = (struct emu_part){op, same, x->base};
		if (emu_listening)
			take_came(x, &g);
		core(x, op, &g);
	}
	if (!pending)
		return op + 1;
	if (x->mask & ~pending)
		emu_split(x, x->mask & ~pending, op + 1, x->base);
	if (pending & ~first_pending)
		emu_split(x, pending & ~first_pending, op, x->base);
	if (!emu_gather(x, op, first_pending, need, &g))
		return NULL;
	core(x, op, &g);
	return op + 1;
}

/* ---- the instructions --------------------------------------------------------------- */

enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };

/* o[]: result, predicate, value, lane or delta, clamp and segment mask (, members). */
static void shfl_core(struct emu_x *x, const struct emu_op *op, const struct emu_gather *g)
{
	uint64_t a[EMU_LANES], b[EMU_LANES], c[EMU_LANES], d[EMU_LANES], p[EMU_LANES];

	read_all(x, g, 2, a);
	read_all(x, g, 3, b);
	read_all(x, g, 4, c);
	EMU_EACH(l, g->mask) {
		int seg = (int)(c[l] >> 8 & 31), clamp = (int)(c[l] & 31), lane = (int)l;
		int by = (int)(b[l] & 31), j, max = (lane & seg) | (clamp & ~seg);
		bool in;

		switch (op->kind) {
		case SHFL_UP:
			j = lane - by;
			in = j >= max;
			break;
		case SHFL_DOWN:
			j = lane + by;
			in = j <= max;
			break;
		case SHFL_BFLY:
			j = lane ^ by;
			in = j <= max;
			break;
		default:
			j = (lane & seg) | (by & ~seg);
			in = j <= max;
			break;
		}
		if (!in)
			j = lane;
		p[l] = in;
		d[l] = (uint32_t)(g->mask >> j & 1 ? a[j] : a[l]);
	}
	write_all(x, g, 0, d);
	write_all(x, g, 1, p);
}

static const struct emu_op *shfl(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	return together(x, op, m, shfl_core);
}

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static void vote_core(struct emu_x *x, const struct emu_op *op, const struct emu_gather *g)
{
	uint64_t a[EMU_LANES], d[EMU_LANES];
	uint32_t yes = 0;

	read_all(x, g, 1, a);
	EMU_EACH(l, g->mask)
		yes |= (uint32_t)(a[l] & 1) << l;
	for (unsigned l = 0; l < EMU_LANES; l++)
		d[l] = op->kind == VOTE_ALL ? yes == g->mask : op->kind == VOTE_ANY ? yes != 0 :
		       op->kind == VOTE_UNI ? yes == g->mask || !yes : yes;
	write_all(x, g, 0, d);
}

static const struct emu_op *vote(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	return together(x, op, m, vote_core);
}

/* o[]: result, predicate, value, members. */
static void match_core(struct emu_x *x, const struct emu_op *op, const struct emu_gather *g)
{
	uint64_t a[EMU_LANES], d[EMU_LANES], p[EMU_LANES];
	bool all = op->kind;

	read_all(x, g, 2, a);
	if (op->type == TYPE_B32)
		EMU_EACH(l, g->mask)
			a[l] = (uint32_t)a[l];
	EMU_EACH(l, g->mask) {
		uint32_t same = 0;

		EMU_EACH(k, g->mask)
			same |= (uint32_t)(a[k] == a[l]) << k;
		p[l] = same == g->mask;
		d[l] = !all || same == g->mask ? same : 0;
	}
	write_all(x, g, 0, d);
	write_all(x, g, 1, p);
}

static const struct emu_op *match(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	return together(x, op, m, match_core);
}

enum { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };
enum { REDUX_ABS = 8, REDUX_NAN = 16 };

static float as_float(uint64_t v)
{
	uint32_t u = (uint32_t)v;
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static uint32_t redux_f32(const struct emu_op *op, const uint64_t *a, uint32_t m)
{
	uint32_t best = 0;
	bool any = false;

	EMU_EACH(l, m) {
		uint32_t v = (uint32_t)a[l] & (op->imm & REDUX_ABS ? 0x7fffffffu : EMU_ALL);
		float f = as_float(v);

		if (f != f) {
			if (op->imm & REDUX_NAN)
				return 0x7fffffffu;
			continue;
		}
		if (!any || (op->kind == REDUX_MIN ? f < as_float(best) : f > as_float(best)))
			best = v;
		any = true;
	}
	return any ? best : 0x7fffffffu;
}

static void redux_core(struct emu_x *x, const struct emu_op *op, const struct emu_gather *g)
{
	uint64_t a[EMU_LANES], d[EMU_LANES];
	uint32_t r;

	read_all(x, g, 1, a);
	r = (uint32_t)a[__builtin_ctz(g->mask)];
	EMU_EACH(l, g->mask & (g->mask - 1)) {
		uint32_t v = (uint32_t)a[l];

		switch (op->kind) {
		case REDUX_ADD:
			r += v;
			break;
		case REDUX_MIN:
			r = (op->type == TYPE_S32 ? (int32_t)v < (int32_t)r : v < r) ? v : r;
			break;
		case REDUX_MAX:
			r = (op->type == TYPE_S32 ? (int32_t)v > (int32_t)r : v > r) ? v : r;
			break;
		case REDUX_AND:
			r &= v;
			break;
		case REDUX_OR:
			r |= v;
			break;
		default:
			r ^= v;
			break;
		}
	}
	if (op->type == TYPE_F32)
		r = redux_f32(op, a, g->mask);
	for (unsigned l = 0; l < EMU_LANES; l++)
		d[l] = r;
	write_all(x, g, 0, d);
}

static const struct emu_op *redux(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	return together(x, op, m, redux_core);
}

static void elect_core(struct emu_x *x, const struct emu_op *op, const struct emu_gather *g)
{
	uint64_t d[EMU_LANES], p[EMU_LANES];

	(void)op;
	for (unsigned l = 0; l < EMU_LANES; l++) {
		d[l] = (uint64_t)__builtin_ctz(g->mask);
		p[l] = l == d[l];
	}
	write_all(x, g, 0, d);
	write_all(x, g, 1, p);
}

static const struct emu_op *elect(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	return together(x, op, m, elect_core);
}

/* Lanes of one mask. */
static void tell_sync(struct emu_x *x, const struct emu_op *op, uint32_t lanes, uint32_t need, const uint32_t *came)
{
	struct emu_tell t = emu_tell_of(TELL_WARP_SYNC, x, op, lanes, x->mask);
	uint32_t members[EMU_LANES];

	EMU_EACH(l, lanes)
		members[l] = need;
	t.came = came;
	t.u.members = members;
	emu_tell(&t);
}

static void warp_sync_core(struct emu_x *x, const struct emu_op *op, const struct emu_gather *g)
{
	uint64_t row[EMU_LANES];

	if (!emu_tells(op))
		return;
	read_all(x, g, 0, row);
	tell_sync(x, op, g->mask, (uint32_t)row[__builtin_ctz(g->mask)], g->came);
}

/* What a lane waits for, and lanes that have met whom they named. */
struct met { uint32_t need[EMU_LANES], lanes; };

static void meets(struct met *met, uint32_t lanes, uint32_t need)
{
	EMU_EACH(l, lanes)
		met->need[l] = need;
	met->lanes |= lanes;
}

/* Those that are outside their masks have been told of. */
static void tell_met(struct emu_x *x, const struct emu_op *op, const struct met *met)
{
	struct emu_warp *w = x->w;

	for (uint32_t rest = met->lanes, same; rest; rest &= ~same) {
		uint32_t need = met->need[__builtin_ctz(rest)];

		same = 0;
		EMU_EACH(l, rest)
			same |= (uint32_t)(met->need[l] == need) << l;
		if (same & need)
			tell_sync(x, op, same & need, need, w->came);
	}
	EMU_EACH(l, met->lanes)
		w->came[l] = 0;
	w->outside &= ~met->lanes;
}

/* Those with the mask of the first of `lanes`. */
static uint32_t of_one_mask(struct emu_x *x, const struct emu_op *op, uint32_t lanes, uint32_t *members)
{
	struct emu_opnd o = op->o[op->nd + op->ns - 1];
	struct emu_warp *w = x->w;
	uint32_t same = 0, outside;

	*members = (uint32_t)emu_get(x, o, (unsigned)__builtin_ctz(lanes));
	EMU_EACH(l, lanes)
		same |= (uint32_t)((uint32_t)emu_get(x, o, l) == *members) << l;
	outside = same & ~*members & ~w->outside;
	if (outside)
		tell_sync(x, op, outside, *members, w->came);
	w->outside |= outside;
	return same;
}

/* PTX ISA, "bar.warp.sync": undefined if the lane is not in its mask.  From the first of these on
 * a lane of the warp waits until all that it names are at such an instruction, whatever they
 * name, so that each comes to its end: a lane is only ever kept by one that is elsewhere. */
static const struct emu_op *warp_sync_loose(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_warp *w = x->w;
	uint32_t here = m, members, same;
	struct met met = {.lanes = 0};

	w->loose = true;
	note_came(x, m);
	if (x->mask & ~m)
		emu_split(x, x->mask & ~m, op + 1, x->base);
	for (unsigned i = 0; i < w->ngroups; i++)
		if (w->group[i].state == GROUP_WAIT_WARP && w->group[i].at->fn == op->fn)
			here |= w->group[i].mask;
	for (unsigned i = 0; i < w->ngroups; i++) {
		struct emu_group *g = &w->group[i];

		if (g->state != GROUP_WAIT_WARP || g->at->fn != op->fn || (g->need & w->live & ~here))
			continue;
		meets(&met, g->mask, g->need);
		g->state = GROUP_READY;
		g->pc = g->at + 1;
	}
	for (uint32_t rest = m; rest; rest &= ~same) {
		same = of_one_mask(x, op, rest, &members);
		if (!(members & w->live & ~here)) {
			meets(&met, same, members);
			continue;
		}
		emu_split(x, same, op, x->base);
		w->group[w->ngroups - 1].state = GROUP_WAIT_WARP;
		w->group[w->ngroups - 1].at = op;
		w->group[w->ngroups - 1].need = members;
	}
	tell_met(x, op, &met);
	emu_find_stop(x, op);
	if (x->mask)
		return op + 1;
	x->why = WHY_PARKED;
	return NULL;
}

static const struct emu_op *warp_sync(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	struct emu_opnd o = op->o[0];
	bool loose = x->w->loose;
	uint32_t outside = 0;

	EMU_EACH(l, m)
		outside |= (~(uint32_t)emu_get(x, o, l) >> l & 1) << l;
	if (!emu_goes_on(op)) {
		if (outside && emu_tells(op))   /* which ends the kernel */
			tell_sync(x, op, outside, ~outside, NULL);
		return together(x, op, m, warp_sync_core);
	}
	loose |= outside != 0;
	return loose ? warp_sync_loose(x, op, m) : together(x, op, m, warp_sync_core);
}

static const struct emu_op *activemask(struct emu_x *x, const struct emu_op *op, uint32_t m)
{
	uint64_t *d = emu_row(x, op->o[0]);

	EMU_EACH(l, m)
		d[l] = m;
	return op + 1;
}

/* ---- decoding -------------------------------------------------------------------------- */

/* Destination `d` or `d|p`: always two words. */
static void dec_dst(struct emu_dec *d, const struct ptx_operand *p, struct emu_opnd *o)
{
	if (emu_dec_words(d, p, true, o, 2) < 2)
		o[1] = (struct emu_opnd){.kind = OPND_NONE, .bank = BANK_WARP};
}

static int pick(const struct ptx_inst *in, const enum ptx_mod *mods, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (ptx_has(in, mods[i]))
			return (int)i;
	return -1;
}

static bool dec(struct emu_dec *d, const struct ptx_inst *in, emu_op_fn *fn, unsigned nd,
		unsigned ns, int kind, bool sync)
{
	struct emu_opnd o[6];
	struct emu_op *op;

	if (in->nops != (nd ? 1 : 0) + ns || kind < 0)
		return emu_dec_refuse(d, "operands that do not fit the instruction");
	if (nd == 2)
		dec_dst(d, &in->ops[0], o);
	else if (nd)
		o[0] = emu_dec_word(d, &in->ops[0], true);
	for (unsigned i = 0; i < ns; i++)
		o[nd + i] = emu_dec_word(d, &in->ops[(nd ? 1 : 0) + i], false);
	op = emu_dec_new(d);
	op->fn = fn;
	op->nd = (uint8_t)nd;
	op->ns = (uint8_t)ns;
	op->kind = (uint8_t)kind;
	op->type = (uint8_t)in->type;
	op->imm = (ptx_has(in, MOD_ABS) ? REDUX_ABS : 0) | (ptx_has(in, MOD_NAN_PROP) ? REDUX_NAN : 0);
	if (!sync)
		op->flags |= EMU_F_NO_MASK;
	op->o = emu_dec_keep(d, o, nd + ns);
	return true;
}

bool emu_dec_warp(struct emu_dec *d, const struct ptx_inst *in)
{
	static const enum ptx_mod shuffles[] = {MOD_UP, MOD_DOWN, MOD_BFLY, MOD_IDX};
	static const enum ptx_mod votes[] = {MOD_ALL, MOD_ANY, MOD_UNI, MOD_BALLOT};
	static const enum ptx_mod matches[] = {MOD_ANY, MOD_ALL};
	static const enum ptx_mod reductions[] = {
		MOD_ADD, MOD_MIN, MOD_MAX, MOD_AND, MOD_OR, MOD_XOR
	};

	switch (in->id) {
	case INST_SHFL:
		return dec(d, in, shfl, 2, 3, pick(in, shuffles, 4), false);
	case INST_SHFL_SYNC:
		return dec(d, in, shfl, 2, 4, pick(in, shuffles, 4), true);
	case INST_VOTE:
		return dec(d, in, vote, 1, 1, pick(in, votes, 4), false);
	case INST_VOTE_SYNC:
		return dec(d, in, vote, 1, 2, pick(in, votes, 4), true);
	case INST_MATCH_SYNC:
		return dec(d, in, match, 2, 2, pick(in, matches, 2), true);
	case INST_REDUX_SYNC:
		return dec(d, in, redux, 1, 2, pick(in, reductions, 6), true);
	case INST_ELECT_SYNC:
		return dec(d, in, elect, 2, 1, 0, true);
	case INST_BAR_WARP_SYNC:
		return dec(d, in, warp_sync, 0, 1, 0, true);
	case INST_ACTIVEMASK:
		return dec(d, in, activemask, 1, 0, 0, false);
	default:
		return false;
	}
}
