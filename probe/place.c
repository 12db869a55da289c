/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c: what the probes of all kinds of instructions are made of.
 */
#include <stdlib.h>

#include "probe/place.h"

#define R "%%__gsan_"

const struct ptx_operand *place_operand(const struct place *p, unsigned n)
{
	return n < p->stmt->inst.nops ? &p->stmt->inst.ops[n] : NULL;
}

/* ---- text ------------------------------------------------------------------------------- */

static void close_record(struct place *p)
{
	if (p->open)
		place_put_address(p, &p->opened, p->open_at);
	p->open = false;
}

/* What was emitted, for lanes that carry the instruction out: in front of it, or behind. */
void place_insert(struct place *p, bool behind)
{
	struct module *t = p->to;
	const struct ptx_inst *in = &p->stmt->inst;
	const char *body;
	unsigned label;

	close_record(p);
	body = module_text(t);
	label = t->e.labels;
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

void place_value(struct place *p, unsigned n, unsigned bits)
{
	p->ok = p->ok && place_operand(p, n) && emit_value(&p->to->e, "v", place_operand(p, n), bits);
}

void place_address(struct place *p, unsigned n)
{
	const struct ptx_operand *o = place_operand(p, n);

	p->ok = p->ok && o && o->kind == OP_ADDR && emit_address(&p->to->e, o);
}

void place_number(struct place *p, const char *to, unsigned n, unsigned bits)
{
	place_value(p, n, bits);
	emit(&p->to->e, "cvt.u32.u64 " R "%s, " R "v", to);
}

void place_pair(struct place *p, const struct ptx_operand *low, const struct ptx_operand *high)
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

struct emit_record place_record(const struct place *p, enum event_kind kind, unsigned words)
{
	return (struct emit_record){kind, p->number, words, p->item->once};
}

void place_put_address(struct place *p, const struct emit_record *r, unsigned n)
{
	place_address(p, n);
	emit_put_address(&p->to->e, r);
}

/* In front of a record with room of its own: is it the first one of its group? */
bool place_group(struct place *p)
{
	if (p->group)
		emit_regroup(&p->to->e);
	return p->group;
}

void place_reserve(struct place *p, const struct emit_record *r)
{
	emit_reserve(&p->to->e, r, place_group(p));
	p->group = false;
}

struct emit_record place_open(struct place *p, enum event_kind kind, unsigned words, unsigned n)
{
	struct emit_record r = place_record(p, kind, words);

	if (event_form(kind) == EVENT_FORM_CLOCKED)
		emit_clocks(&p->to->e, false);
	place_reserve(p, &r);
	p->open = true;
	p->opened = r;
	p->open_at = n;
	return r;
}

/* A site for all that the record tells: itself, or a run. */
uint32_t place_site(struct module *t, const struct plan *plan, uint32_t at)
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

/* A record of an instruction in two parts. */
void place_part(struct place *p, const struct emit_record *r, unsigned at)
{
	if (p->item->kind == PLAN_OTHER)
		place_reserve(p, r);
	else
		emit_short(&p->to->e, r, p->item->at + at);
}

bool place_short(struct place *p, enum event_kind kind, bool behind)
{
	struct emit_record r = place_record(p, kind, 0);

	place_part(p, &r, 0);
	place_insert(p, behind);
	return p->ok;
}

void place_alone(struct place *p, struct emit_record *r)
{
	r->once = true;
	emit_alone(&p->to->e);
	p->group = false;
	emit_reserve(&p->to->e, r, true);
}
