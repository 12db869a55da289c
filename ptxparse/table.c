/* SPDX-License-Identifier: Apache-2.0
 *
 * table.c: kw.def and inst.def as arrays, and the way from a spelling to its row.
 *
 * A spelling such as "ld.global.u32" is looked up once per module; the result
 * hangs on the interned word.  Modifiers are a set: their order never matters.
 */
#include "ptxparse/parse.h"
#include "ptxparse/gram.h"

#include <string.h>

const struct ptx_operand ptx_no_operand;

const struct ptx_inst_row ptx_insts[INST_ID_COUNT] = {
#define INST(id, base, mods, access, order, model, ptx, sm) \
	[INST_##id] = {base, mods, ACCESS_##access, ORDER_##order, MODEL_##model, ptx, sm},
#include "ptxparse/inst.def"
};

static const struct {
	const char *text;
	unsigned len;
} modtab[MOD_COUNT] = {
	[MOD_NONE] = {"", 0},
#define MOD(id, text) [MOD_##id] = {text, sizeof text - 1},
#include "ptxparse/kw.def"
};

static const struct {
	const char *text;
	unsigned bits;
} typetab[TYPE_COUNT] = {
	[TYPE_NONE] = {"", 0},
#define TYPE(id, text, bits) [TYPE_##id] = {text, bits},
#include "ptxparse/kw.def"
};

static const bool mod_open[MOD_COUNT] = {
	[MOD_NONE] = true,
#define OPEN(id, text) [MOD_##id] = true,
#include "ptxparse/kw.def"
};

static const bool mod_lax[MOD_COUNT] = {
#define LAX(id, text) [MOD_##id] = true,
#include "ptxparse/kw.def"
};

static const unsigned char mod_type[MOD_COUNT] = {
#define TYPE(id, text, bits) [MOD_##id] = TYPE_##id,
#include "ptxparse/kw.def"
};

static const struct {
	const char *text;
	unsigned char token;
} dirtab[] = {
#define DIR(id, text, token) {text, T_##token},
#include "ptxparse/kw.def"
};

static const struct {
	const char *text;
	enum ptx_type type;
} sregtab[SREG_COUNT] = {
	[SREG_NONE] = {"", TYPE_NONE},
#define SREG(id, text, type) [SREG_##id] = {text, TYPE_##type},
#include "ptxparse/kw.def"
};

const char *ptx_mod_text(enum ptx_mod m)
{
	return modtab[m].text;
}

const char *ptx_type_text(enum ptx_type t)
{
	return typetab[t].text;
}

unsigned ptx_type_bits(enum ptx_type t)
{
	return typetab[t].bits;
}

enum ptx_type ptx_mod_type(enum ptx_mod m)
{
	return mod_type[m];
}

const char *ptx_sreg_text(enum ptx_sreg r)
{
	return sregtab[r].text;
}

enum ptx_type ptx_sreg_type(enum ptx_sreg r)
{
	return sregtab[r].type;
}

/* Interns every word that means something and writes its meaning on it. */
void ptx_table_words(struct ptx_arena *a)
{
	size_t i;

	for (i = 1; i < MOD_COUNT; i++) {
		struct word *w = ptx_word(a, modtab[i].text, modtab[i].len);

		w->mod = (uint16_t)i;
		w->type = mod_type[i];
	}
	for (i = 0; i < sizeof dirtab / sizeof *dirtab; i++)
		ptx_word(a, dirtab[i].text, strlen(dirtab[i].text))->dir = dirtab[i].token;
	for (i = 1; i < SREG_COUNT; i++)
		ptx_word(a, sregtab[i].text, strlen(sregtab[i].text))->sreg = (uint16_t)i;
}

/* How many modifiers the row asks for, if all of them are there; else -1. */
static int fits(const struct ptx_inst_row *row, const struct opcode *o)
{
	const char *m = row->mods;
	int n = 0;

	while (*m) {
		size_t len = strcspn(m, ".");
		unsigned i;

		for (i = 0; i < o->nmods; i++)
			if (strncmp(o->modtext[i] + 1, m, len) == 0 && !o->modtext[i][len + 1])
				break;
		if (i == o->nmods)
			return -1;
		n++;
		m += len;
		m += *m == '.';
	}
	return n;
}

static enum ptx_inst_id find_row(const struct opcode *o)
{
	int best = -1, n, i;
	enum ptx_inst_id id = INST_UNKNOWN;
	bool seen = false;

	for (i = 1; i < INST_ID_COUNT; i++) {
		if (*ptx_insts[i].base != *o->base || strcmp(ptx_insts[i].base, o->base) != 0) {
			/* Rows of one first word stand together. */
			if (seen)
				break;
			continue;
		}
		seen = true;
		n = fits(&ptx_insts[i], o);
		if (n > best) {
			best = n;
			id = (enum ptx_inst_id)i;
		}
	}
	return id;
}

static enum ptx_space space_of(unsigned mod)
{
	switch (mod) {
	case MOD_GLOBAL:
		return SPACE_GLOBAL;
	case MOD_SHARED:
	case MOD_SHARED_CTA:
	case MOD_SHARED_CLUSTER:
		return SPACE_SHARED;
	case MOD_LOCAL:
		return SPACE_LOCAL;
	case MOD_CONST:
		return SPACE_CONST;
	case MOD_PARAM:
	case MOD_PARAM_ENTRY:
	case MOD_PARAM_FUNC:
		return SPACE_PARAM;
	default:
		return SPACE_NONE;
	}
}

/* Does it have a modifier that may make of it what its row does not say?  Of what neither accesses
 * memory nor orders anything no modifier makes something that does. */
static bool is_open(const struct opcode *o)
{
	for (unsigned i = 0; i < o->nmods; i++)
		if (mod_open[o->mod[i]])
			return ptx_insts[o->id].model != MODEL_PLAIN;
	return false;
}

/* `w` is the whole spelling.  NULL if it has too many modifiers. */
struct opcode *ptx_opcode(struct ptx_arena *a, struct word *w)
{
	const char *s = w->text, *end = w->text + w->len, *e;
	uint16_t mod[MAX_MODS];
	const char *text[MAX_MODS + 1];
	struct opcode *o;
	unsigned n = 0;
	void *p;

	if (w->opc)
		return w->opc;
	e = memchr(s, '.', w->len);
	if (!e)
		e = end;
	o = ptx_alloc(a, sizeof *o);
	o->base = ptx_intern(a, s, (size_t)(e - s));
	for (s = e; s < end; s = e) {
		struct word *m;

		e = memchr(s + 1, '.', (size_t)(end - s - 1));
		if (!e)
			e = end;
		if (n == MAX_MODS)
			return NULL;
		m = ptx_word(a, s, (size_t)(e - s));
		mod[n] = m->mod;
		text[n++] = m->text;
		if (m->type != TYPE_NONE) {
			o->type2 = o->type;
			o->type = m->type;
		}
		/* The first one named: cp.async and its like name the destination first. */
		if (o->space == SPACE_NONE)
			o->space = space_of(m->mod);
	}
	o->nmods = n;
	p = ptx_alloc(a, n * sizeof *mod);
	o->mod = memcpy(p, mod, n * sizeof *mod);
	text[n] = w->text;
	p = ptx_alloc(a, (n + 1) * sizeof *text);
	o->modtext = memcpy(p, text, (n + 1) * sizeof *text);
	o->id = find_row(o);
	if (is_open(o))
		o->id = INST_UNKNOWN;
	w->opc = o;
	return o;
}

/* --- looking at instructions --- */

bool ptx_inst_lax(const struct ptx_inst *in)
{
	for (unsigned i = 0; i < in->nmods; i++)
		if (mod_lax[in->mod[i]])
			return ptx_insts[in->id].model != MODEL_PLAIN;
	return false;
}

unsigned ptx_inst_vec(const struct ptx_inst *in)
{
	unsigned i;

	for (i = 0; i < in->nmods; i++) {
		switch (in->mod[i]) {
		case MOD_V2:
			return 2;
		case MOD_V4:
			return 4;
		case MOD_V8:
			return 8;
		}
	}
	return 1;
}

/* PTX ISA "ld", "st": a sink in .v8.b32 or .v4.b64, vectors of 32 bytes, means that its memory
 * is not read, or written. */
unsigned ptx_inst_left_out(const struct ptx_inst *in)
{
	const struct ptx_operand *v;
	unsigned mask = 0;

	if ((in->id != INST_LD && in->id != INST_ST) || in->nops < 2 ||
	    ptx_inst_vec(in) * ptx_type_bits(in->type) != 256)
		return 0;
	v = &in->ops[in->id == INST_ST];
	for (unsigned i = 0; v->kind == OP_VEC && i < v->n; i++)
		mask |= (unsigned)(v->list[i].kind == OP_SINK) << i;
	return mask;
}
