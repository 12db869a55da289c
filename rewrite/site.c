/* SPDX-License-Identifier: Apache-2.0
 *
 * site.c: the tables that turn a site number back into words: strings, where sites are,
 * the calls they were inlined through, the module's variables (event/module.h).  They are
 * read by the host and only when it reports; here they are .global arrays of numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "event/module.h"
#include "rewrite/rw.h"

/* An array that grows in the arena; what it outgrows is left behind. */
struct vec { void *p; size_t n, cap; };

struct name { const char *text; uint32_t at; };         /* interned */

/* A label of .debug_str. */
struct label {
	const char *name;               /* interned */
	const char *bytes;              /* what stands behind it */
	uint32_t string;                /* its text in the string area, once `known` */
	bool known;
};

struct rw_sites {
	struct vec spots;               /* struct module_spot */
	struct vec frames;              /* struct module_frame */
	struct vec bytes;               /* char: the string area */
	struct name *names;             /* hash table, open addressing */
	size_t nnames, capnames;
	/* The last answers: neighbouring sites nearly always share them. */
	const struct ptx_loc *last_loc;
	const struct ptx_func *last_func;
	uint32_t last_frames, last_name, last_file_name;
	unsigned last_file;
	const void *last_mods;
	uint32_t last_op;
	struct label *labels;           /* of .debug_str: hash table by interned name */
	size_t caplabels;
};

static void *push(struct rw *r, struct vec *v, const void *item, size_t bytes, size_t n)
{
	char *at;

	if (v->n + n > v->cap) {
		size_t cap = (v->n + n) * 2 + 64;
		char *p = ptx_alloc(r->m->arena, cap * bytes);

		if (v->n)
			memcpy(p, v->p, v->n * bytes);
		v->p = p;
		v->cap = cap;
	}
	at = (char *)v->p + v->n * bytes;
	memcpy(at, item, n * bytes);
	v->n += n;
	return at;
}

/* Interned strings are told apart by where they are. */
static inline size_t hash(const char *s)
{
	return ((uintptr_t)s >> 3) * 0x9e3779b97f4a7c15u >> 20;
}

static struct name *slot(struct name *names, size_t cap, const char *s)
{
	size_t i = hash(s) & (cap - 1);

	while (names[i].text && names[i].text != s)
		i = (i + 1) & (cap - 1);
	return &names[i];
}

static void grow_names(struct rw *r, struct rw_sites *t)
{
	size_t cap = t->capnames ? t->capnames * 2 : 256;
	struct name *names = ptx_alloc(r->m->arena, cap * sizeof *names);

	for (size_t i = 0; i < t->capnames; i++)
		if (t->names[i].text)
			*slot(names, cap, t->names[i].text) = t->names[i];
	t->names = names;
	t->capnames = cap;
}

/* Offset of an interned string in the string area. */
static uint32_t interned(struct rw *r, const char *s)
{
	struct rw_sites *t = r->sites;
	struct name *n;

	if (!s || !*s)
		return 0;
	if (2 * t->nnames >= t->capnames)
		grow_names(r, t);
	n = slot(t->names, t->capnames, s);
	if (!n->text) {
		n->text = s;
		n->at = (uint32_t)t->bytes.n;
		push(r, &t->bytes, s, 1, strlen(s) + 1);
		t->nnames++;
	}
	return n->at;
}

static uint32_t string(struct rw *r, const char *s, size_t len)
{
	return interned(r, ptx_intern(r->m->arena, s, len));
}

uint32_t rw_string(struct rw *r, const char *s)
{
	return s ? string(r, s, strlen(s)) : 0;
}

/* ---- names of inlined functions --------------------------------------------- */

/* .loc names them by a label in .debug_str, whose bytes are written as numbers.
 * A module with -lineinfo refers to its labels thousands of times: the section is
 * read once, and each label's bytes once. */
static const char *debug_section(const struct rw *r)
{
	for (struct ptx_stmt *s = r->m->first; s; s = s->next)
		if (s->kind == STMT_SECTION && memmem(s->t.text,
				strcspn(s->t.text, "{"), ".debug_str", 10))
			return s->t.text;
	return "";
}

static bool word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '$' || c == '%';
}

static struct label *label_slot(struct label *labels, size_t cap, const char *name)
{
	size_t i = hash(name) & (cap - 1);

	while (labels[i].name && labels[i].name != name)
		i = (i + 1) & (cap - 1);
	return &labels[i];
}

static void read_labels(struct rw *r)
{
	struct rw_sites *t = r->sites;
	const char *text = debug_section(r);
	size_t n = 0;

	for (const char *p = text; (p = strchr(p, ':')); p++)
		n++;
	for (t->caplabels = 16; t->caplabels < 2 * n; )
		t->caplabels *= 2;
	t->labels = ptx_alloc(r->m->arena, t->caplabels * sizeof *t->labels);
	for (const char *p = text; (p = strchr(p, ':')); p++) {
		const char *s = p;
		struct label *l;

		while (s > text && word_char(s[-1]))
			s--;
		if (s == p)
			continue;
		s = ptx_intern(r->m->arena, s, (size_t)(p - s));
		l = label_slot(t->labels, t->caplabels, s);
		l->name = s;
		l->bytes = p + 1;
	}
}

static uint32_t debug_name(struct rw *r, const char *label, int64_t skip)
{
	struct rw_sites *t = r->sites;
	bool whole = skip == 0;
	struct label *l;
	const char *p;
	char buf[4096];
	size_t n = 0;

	if (!t->labels)
		read_labels(r);
	l = label_slot(t->labels, t->caplabels, ptx_intern(r->m->arena, label, strlen(label)));
	if (!l->name)
		return rw_string(r, label);
	if (whole && l->known)
		return l->string;
	p = l->bytes;
	while (*p && *p != '}') {
		char *end;
		unsigned long c;

		if (*p < '0' || *p > '9' || word_char(p[-1])) {
			if (*p == ':')          /* the next label: ours had no end */
				break;
			p++;
			continue;
		}
		c = strtoul(p, &end, 0);
		p = end;
		if (skip > 0) {
			skip--;
			continue;
		}
		if (!c || n == sizeof buf)
			break;
		buf[n++] = (char)c;
	}
	if (!whole)
		return string(r, buf, n);
	l->known = true;
	l->string = string(r, buf, n);
	return l->string;
}

/* ---- sites ---------------------------------------------------------------- */

static uint32_t func_name(struct rw *r, const struct ptx_func *f)
{
	struct rw_sites *t = r->sites;

	if (f != t->last_func) {
		t->last_func = f;
		t->last_name = interned(r, f->name);
	}
	return t->last_name;
}

static uint32_t file_name(struct rw *r, unsigned number)
{
	struct rw_sites *t = r->sites;

	if (number != t->last_file) {
		t->last_file = number;
		t->last_file_name = interned(r, ptx_file_name(r->m, number));
	}
	return t->last_file_name;
}

/* Function that the code at `loc` was written in. */
static uint32_t written_in(struct rw *r, const struct ptx_func *f, const struct ptx_loc *loc)
{
	if (!loc || !loc->inlined_at || !loc->func)
		return func_name(r, f);
	return debug_name(r, loc->func, loc->func_off);
}

/* Index + 1 of the frame for an inlined call, made if it is new. */
static uint32_t frame(struct rw *r, const struct ptx_func *f, const struct ptx_loc *call)
{
	struct rw_sites *t = r->sites;
	struct module_frame fr;
	const struct module_frame *have;

	if (!call)
		return 0;
	fr.next = frame(r, f, call->inlined_at);
	fr.func = written_in(r, f, call);
	fr.file = file_name(r, call->file);
	fr.line = call->line;
	have = t->frames.p;
	for (size_t i = t->frames.n; i-- > 0 && i + 32 > t->frames.n; )
		if (!memcmp(&have[i], &fr, sizeof fr))
			return (uint32_t)i + 1;
	push(r, &t->frames, &fr, sizeof fr, 1);
	return (uint32_t)t->frames.n;
}

/* The instruction without its operands. */
static uint32_t op_name(struct rw *r, const struct ptx_inst *in)
{
	struct rw_sites *t = r->sites;

	if (in->modtext == t->last_mods)
		return t->last_op;
	t->last_mods = in->modtext;
	t->last_op = interned(r, in->modtext[in->nmods]);
	return t->last_op;
}

struct rw_sites *rw_sites_new(struct rw *r)
{
	struct rw_sites *t = ptx_alloc(r->m->arena, sizeof *t);

	r->sites = t;
	push(r, &t->bytes, "", 1, 1);   /* offset 0 is "" */
	return t;
}

static struct module_spot spot_of(struct rw *r, const struct ptx_func *f, const struct ptx_stmt *in, const struct ptx_sym *var)
{
	struct rw_sites *t = r->sites;
	const struct ptx_loc *loc = in->loc;
	struct module_spot s = { .func = written_in(r, f, loc) };

	if (loc) {
		s.file = file_name(r, loc->file);
		s.line = loc->line;
		if (loc != t->last_loc) {
			t->last_loc = loc;
			t->last_frames = frame(r, f, loc->inlined_at);
		}
		s.frames = t->last_frames;
	}
	s.op = op_name(r, &in->inst);
	s.var = var ? interned(r, var->name) : 0;
	return s;
}

void rw_spot(struct rw *r, const struct ptx_func *f, const struct ptx_stmt *in, const struct ptx_sym *var)
{
	const struct module_spot s = in ? spot_of(r, f, in, var) : (struct module_spot){0};

	push(r, &r->sites->spots, &s, sizeof s, 1);
}

/* ---- the text of the tables --------------------------------------------------- */

/* The variables a module defines, in global and shared memory. */
static void add_vars(struct rw *r, const struct ptx_stmt *s, struct vec *out)
{
	for (const struct ptx_var *v = s->var; v; v = v->next) {
		if ((v->sym->space != SPACE_SHARED && v->sym->space != SPACE_GLOBAL) ||
		    !v->sym->bytes || (v->link && !strcmp(v->link, ".extern")))
			continue;
		/* .texref and its like have no bytes that a program addresses. */
		if (v->sym->type >= TYPE_TEXREF)
			continue;
		/* A name that is a function's own cannot be said out here: its memory
		 * has no name then. */
		if (v->sym->space == SPACE_GLOBAL && ptx_lookup(r->m, v->sym->name) != v->sym)
			continue;
		push(r, out, &v->sym, sizeof v->sym, 1);
	}
}

static void put_globals(struct rw *r, const struct vec *vars)
{
	struct ptx_sym **v = vars->p;

	if (!vars->n)
		return;
	RW_PUT(r, "\n.global .align 8 .u64 __gsan_globals[");
	rw_putu(r, vars->n * 3);
	RW_PUT(r, "] = {");
	for (size_t i = 0; i < vars->n; i++) {
		bool shared = v[i]->space == SPACE_SHARED;
		uint64_t name = interned(r, v[i]->name);

		rw_puts(r, i ? ", " : "");
		if (shared) {
			RW_PUT(r, "0");
		} else {
			RW_PUT(r, "generic(");
			rw_puts(r, v[i]->name);
			RW_PUT(r, ")");
		}
		RW_PUT(r, ", ");
		rw_putu(r, v[i]->bytes);
		RW_PUT(r, ", ");
		rw_putu(r, name | (uint64_t)shared << 32);
	}
	RW_PUT(r, "};");
}

void rw_put_array(struct rw *r, const char *name, const uint32_t *w, size_t n)
{
	if (!n)
		return;
	RW_PUT(r, "\n.global .align 8 .b32 ");
	rw_puts(r, name);
	RW_PUT(r, "[");
	rw_putu(r, n);
	RW_PUT(r, "] = {");
	rw_put_words(r, w, n);
	RW_PUT(r, "};");
}

static void put_strings(struct rw *r)
{
	size_t n = r->sites->bytes.n;

	RW_PUT(r, "\n.global .align 8 .b8 __gsan_strings[");
	rw_putu(r, n);
	RW_PUT(r, "] = {");
	rw_put_bytes(r, r->sites->bytes.p, n);
	RW_PUT(r, "};");
}

void rw_put_address(struct rw *r, const char *name, bool there)
{
	if (!there) {
		RW_PUT(r, "0, ");
		return;
	}
	RW_PUT(r, "generic(");
	rw_puts(r, name);
	RW_PUT(r, "), ");
}

void rw_put_pair(struct rw *r, uint32_t low, uint32_t high, const char *behind)
{
	rw_putu(r, low | (uint64_t)high << 32);
	rw_puts(r, behind);
}

static void find_globals(struct rw *r, struct vec *vars)
{
	for (size_t i = 0; i < r->vars.n; i++)
		add_vars(r, r->vars.p[i], vars);
}

struct rw_sites_size rw_put_spots(struct rw *r)
{
	struct rw_sites *t = r->sites;
	struct vec vars = { 0 };
	uint32_t path = rw_string(r, r->path);

	_Static_assert(sizeof(struct module_spot) == 24 && sizeof(struct module_frame) == 16, "arrays of words");
	find_globals(r, &vars);
	rw_reserve(r, t->spots.n * 48 + t->frames.n * 24 + t->bytes.n * 4);
	put_globals(r, &vars);
	rw_put_array(r, "__gsan_spots", t->spots.p, t->spots.n * sizeof(struct module_spot) / 4);
	rw_put_array(r, "__gsan_frames", t->frames.p, t->frames.n * sizeof(struct module_frame) / 4);
	put_strings(r);
	return (struct rw_sites_size){(uint32_t)t->frames.n, (uint32_t)vars.n, (uint32_t)t->bytes.n, path};
}
