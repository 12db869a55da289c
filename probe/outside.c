/* SPDX-License-Identifier: Apache-2.0
 *
 * outside.c: probes whose text is in functions that are called.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/outside.h"

#define R "%%__gsan_"
#define IN "__gsan_in"
#define OUT "__gsan_out"

enum what { REFILL, RESERVE, ADDRESSES, POLL, POLL_END };
struct form {
	enum what what;
	enum event_kind kind;
	unsigned words, step, piece, ahead;     /* of a record; of addresses; struct emit's */
	bool once, first, sure, full;
};

struct outside {
	struct ptx_arena *arena;
	struct ptx_buf text;
	struct made { struct made *next; const char *name; } *made;
};

struct outside *outside_new(struct ptx_arena *arena)
{
	struct outside *o = ptx_alloc(arena, sizeof *o);

	o->arena = arena;
	return o;
}

/* ---- which functions ----------------------------------------------------------------------------- */

/* With a call ptxas gives up setmaxnreg (C7507), and lets products of wgmma wait for each other. */
static bool may_call(const struct ptx_func *f)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && (s->inst.id == INST_SETMAXNREG || s->inst.id == INST_WGMMA_FENCE))
			return false;
	return true;
}

bool outside_wanted(const struct plan *plan, uint32_t most)
{
	uint32_t looks = 0;

	for (uint32_t i = 0; i < plan->n; i++) {
		const struct plan_item *it = &plan->item[i];

		looks += it->first && !it->sure;
	}
	return looks > most && may_call(plan->flow->f);
}

/* ---- parameters and results -------------------------------------------------------------------------- */

/* Registers of struct emit. */
struct regs { const char *name[13]; unsigned n; };

static void add(struct regs *r, const char *a, const char *b)
{
	r->name[r->n++] = a;
	if (b)
		r->name[r->n++] = b;
}

static unsigned bits_of(const char *reg)
{
	static const char *const wide[] = {"base", "k", "kl", "v", "pk", "sk"};

	for (unsigned i = 0; i < sizeof wide / sizeof *wide; i++)
		if (!strcmp(reg, wide[i]))
			return 64;
	return 32;
}

/* What a record has beside its words. */
static void add_operands(struct regs *r, enum event_kind kind)
{
	switch (event_form(kind)) {
	case EVENT_FORM_CLOCK:
	case EVENT_FORM_CLOCKED:
		add(r, "c", "t");
		break;
	case EVENT_FORM_BARRIER:
		add(r, "a", "c");
		break;
	case EVENT_FORM_PAIR:
		add(r, "a", "b");
		break;
	default:
		break;
	}
}

static void add_polls(struct regs *r)
{
	add(r, "polled", "pm");
	add(r, "pk", "sk");
}

static struct regs parameters(const struct form *s)
{
	struct regs r = {{"base", "p"}, 2};

	if (s->what == REFILL)
		return r;
	add(&r, "m", "first");
	if (s->what == ADDRESSES)
		add(&r, "v", NULL);
	else
		add_operands(&r, s->kind);
	if (s->what == POLL || s->what == POLL_END)
		add_polls(&r);
	if (s->what == POLL_END)
		add(&r, "k", "kl");
	if (s->full)
		add(&r, "n", NULL);
	return r;
}

static struct regs results(const struct form *s)
{
	struct regs r = {{"p"}, 1};

	if (s->what == RESERVE || s->what == POLL)
		add(&r, "k", s->once ? NULL : "kl");
	if (s->what == POLL_END) {
		r.n = 0;
		add_polls(&r);
	}
	return r;
}

/* Where result i lies; i == n: how many bytes all take. */
static unsigned place_of_result(const struct regs *r, unsigned i)
{
	return i < r->n ? 8 * i : 8 * r->n;
}

/* ---- a function ------------------------------------------------------------------------------------------- */

static void put_body(struct emit *q, const struct form *s)
{
	/* first: what is added to the number of site 1 */
	const struct emit_record r = {s->kind, 1, s->words, s->once};

	if (s->what == REFILL) {
		emit_piece(q);
		return;
	}
	emit_leader(q);
	switch (s->what) {
	case ADDRESSES:
		emit_addresses(q, &r, s->step, s->first);
		break;
	case POLL:
		emit_poll(q, &r, s->first);
		break;
	case POLL_END:
		if (s->full)
			emit(q, "setp.ne.u32 " R "same, " R "n, 0");
		emit_poll_end(q, &r, s->full);
		break;
	default:
		emit_reserve(q, &r, s->first);
		break;
	}
}

static void put_function(struct outside *o, const struct form *s, const char *name)
{
	struct emit q = {.piece = s->piece, .called = true, .given = true, .sure = s->sure, .ahead = s->ahead, .most = UINT32_MAX,
			 .polls = s->what == POLL || s->what == POLL_END, .untimed = s->first};
	const struct regs in = parameters(s), out = results(s);
	struct ptx_buf *b = &q.out;
	char line[160];

	snprintf(line, sizeof line, ".func (.param .align 8 .b8 " OUT "[%u]) %s(", place_of_result(&out, out.n), name);
	ptx_puts(b, line);
	for (unsigned i = 0; i < in.n; i++) {
		snprintf(line, sizeof line, "%s.param .b%u " IN "%u", i ? ", " : "", bits_of(in.name[i]), i);
		ptx_puts(b, line);
	}
	ptx_puts(b, ")\n{\n");
	emit_registers(&q);
	for (unsigned i = 0; i < in.n; i++)
		emit(&q, "ld.param.b%u " R "%s, [" IN "%u]", bits_of(in.name[i]), in.name[i], i);
	put_body(&q, s);
	for (unsigned i = 0; i < out.n; i++)
		emit(&q, "st.param.b%u [" OUT "+%u], " R "%s", bits_of(out.name[i]), place_of_result(&out, i), out.name[i]);
	emit(&q, "ret");
	ptx_puts(b, "}\n");
	ptx_put(&o->text, b->p, b->len);
	free(b->p);
}

/* The function of a shape. */
static const char *function(struct outside *o, const struct form *s)
{
	static const char *const what[] = {"refill", "record", "addresses", "poll", "poll_end"};
	struct made *m;
	char name[128];

	snprintf(name, sizeof name, PROBE_OUTSIDE "%s_%u_%u_%u_%u_%u_%d%d%d%d", what[s->what], s->kind, s->words, s->step, s->piece,
		 s->ahead, s->once, s->first, s->sure, s->full);
	for (m = o->made; m; m = m->next)
		if (!strcmp(m->name, name))
			return m->name;
	m = ptx_alloc(o->arena, sizeof *m);
	*m = (struct made){o->made, ptx_intern(o->arena, name, strlen(name))};
	o->made = m;
	put_function(o, s, m->name);
	return m->name;
}

const char *outside_text(const struct outside *o)
{
	return ptx_sprintf(o->arena, "%.*s", (int)o->text.len, o->text.len ? o->text.p : "");
}

/* ---- a call --------------------------------------------------------------------------------------------------- */

/* What the function adds to the number of site 1. */
static void put_site(struct emit *p, unsigned at, uint32_t site)
{
	const char *from = p->unit ? R "lo" : NULL;

	if (from)
		emit(p, "add.u32 " R "lo, " R "first, 0x%x", (site - 1) << 12);
	if (from)
		emit(p, "st.param.b32 [" IN "%u], " R "lo", at);
	else
		emit(p, "st.param.b32 [" IN "%u], 0x%x", at, (site - 1) << 12);
}

static void call(struct emit *p, const struct form *s, uint32_t site)
{
	const struct regs in = parameters(s), out = results(s);
	const char *name = function(p->outside, s);

	if (s->first && !p->untimed)
		abort();                /* the function reads the group's clocks */
	p->untimed = p->untimed && !s->first;
	ptx_puts(&p->out, "\t{\n");
	for (unsigned i = 0; i < in.n; i++)
		emit(p, ".param .b%u " IN "%u", bits_of(in.name[i]), i);
	emit(p, ".param .align 8 .b8 " OUT "[%u]", place_of_result(&out, out.n));
	for (unsigned i = 0; i < in.n; i++)
		if (!strcmp(in.name[i], "first"))
			put_site(p, i, site);
		else
			emit(p, "st.param.b%u [" IN "%u], " R "%s", bits_of(in.name[i]), i, in.name[i]);
	ptx_puts(&p->out, "\tcall.uni (" OUT "), ");
	ptx_puts(&p->out, name);
	for (unsigned i = 0; i < in.n; i++) {
		char word[24];

		snprintf(word, sizeof word, "%s" IN "%u", i ? ", " : ", (", i);
		ptx_puts(&p->out, word);
	}
	ptx_puts(&p->out, ");\n");
	for (unsigned i = 0; i < out.n; i++)
		emit(p, "ld.param.b%u " R "%s, [" OUT "+%u]", bits_of(out.name[i]), out.name[i], place_of_result(&out, i));
	ptx_puts(&p->out, "\t}\n");
}

void outside_refill(struct emit *p)
{
	call(p, &(struct form){.what = REFILL, .piece = p->piece}, 0);
}

void outside_reserve(struct emit *p, const struct emit_record *r, bool first)
{
	call(p, &(struct form){.what = RESERVE, .kind = r->kind, .words = r->words, .once = r->once, .first = first,
				.piece = p->piece, .sure = p->sure, .ahead = p->sure ? 0 : p->ahead}, r->site);
}

void outside_addresses(struct emit *p, const struct emit_record *r, unsigned step, bool first)
{
	call(p, &(struct form){.what = ADDRESSES, .kind = r->kind, .step = step, .first = first, .piece = p->piece,
				.sure = p->sure, .ahead = p->sure ? 0 : p->ahead}, r->site);
}

void outside_poll(struct emit *p, const struct emit_record *r, bool first)
{
	call(p, &(struct form){.what = POLL, .kind = r->kind, .words = r->words, .first = first, .piece = p->piece,
			       .sure = p->sure, .ahead = p->sure ? 0 : p->ahead}, r->site);
}

void outside_poll_end(struct emit *p, const struct emit_record *r, bool full)
{
	if (full)
		emit(p, "selp.b32 " R "n, 1, 0, " R "same");
	call(p, &(struct form){.what = POLL_END, .kind = r->kind, .words = r->words, .full = full, .piece = p->piece}, r->site);
}
