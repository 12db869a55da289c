/* SPDX-License-Identifier: Apache-2.0
 *
 * build.c: the driver of the parser, and what the grammar's rules for statements
 * do.  Declarations are in decl.c, operands in expr.c, names in scope.c.
 *
 * Items come flat; a function's body is everything between the brace behind its
 * header and the one that closes scope 1.
 */
#include "ptxparse/parse.h"
#include "ptxparse/gram.h"

#include <stdlib.h>
#include <string.h>

struct locslot {
	unsigned func;                  /* 0: free */
	struct ptx_loc *loc;
};

struct ptx_stmt *ptx_stmt_new(struct parser *p, enum ptx_stmt_kind kind, const struct span *at)
{
	struct ptx_stmt *s = ptx_alloc(p->arena, sizeof *s);
	struct ptx_stmt **first = p->func ? &p->func->body : &p->m->first;
	struct ptx_stmt **last = p->func ? &p->func->last : &p->m->last;

	s->kind = kind;
	ptx_place(p, at->s, &s->line, &s->col);
	s->loc = p->loc;
	s->prev = *last;
	if (*last)
		(*last)->next = s;
	else
		*first = s;
	*last = s;
	return s;
}

static bool in_body(struct parser *p, const struct span *t)
{
	if (!p->func)
		ptx_error_at(p, t->s, "'%.*s' outside a function",
			     ptx_show(t), t->s);
	return p->func != NULL;
}

/* --- header --- */

void b_version(struct parser *p, const struct span *t)
{
	const char *s = t->s, *e = t->e;
	unsigned major = 0, minor = 0;

	if (p->saw_version || p->saw_target || p->m->first) {
		ptx_error_at(p, t->s, "'.version' must come first, and once");
		return;
	}
	p->saw_version = true;
	for (; s < e && *s >= '0' && *s <= '9' && major < 1000; s++)
		major = major * 10 + (unsigned)(*s - '0');
	if (*s == '.' && s + 2 == e && s[1] >= '0' && s[1] <= '9')
		minor = (unsigned)(s[1] - '0');
	else
		ptx_error_at(p, t->s, "bad version number");
	p->m->version = major * 10 + minor;
}

void b_target(struct parser *p, struct span t)
{
	const char *s = t.s;
	struct ptx_module *m = p->m;

	if (p->saw_target || m->first) {
		ptx_error_at(p, t.s, "'.target' must come once, behind '.version'");
		return;
	}
	p->saw_target = true;
	m->target = ptx_clean(p, t.s, t.e);
	if (t.e - s > 3 && memcmp(s, "sm_", 3) == 0)
		for (s += 3; s < t.e && *s >= '0' && *s <= '9' && m->sm < 1000; s++)
			m->sm = m->sm * 10 + (unsigned)(*s - '0');
	if (m->sm && s < t.e && (*s == 'a' || *s == 'f'))
		m->sm_suffix = *s++;
	if (!m->sm || (s < t.e && *s != ',' && *s != ' ' && *s != '\t' && *s != '\n' &&
		       *s != '\r' && *s != '/'))
		ptx_error_at(p, t.s, "unknown target");
}

void b_address_size(struct parser *p, const struct span *t)
{
	uint64_t n = ptx_tok_int(p, t, NULL);

	if (n != 32 && n != 64)
		ptx_error_at(p, t->s, "address size is neither 32 nor 64");
	else if (p->m->first)
		ptx_error_at(p, t->s, "'.address_size' must come behind '.target'");
	else
		p->m->address_size = (unsigned)n;
}

/* --- debugging information --- */

static struct locslot *find_loc(struct parser *p, const struct ptx_loc *l)
{
	unsigned h = (l->line * 2654435761u) ^ (l->col * 40503u) ^ (l->file << 16), i;

	for (i = (h ^ h >> 15) & (p->caplocs - 1); p->locs[i].func;
	     i = (i + 1) & (p->caplocs - 1)) {
		struct ptx_loc *o = p->locs[i].loc;

		if (o->line == l->line && o->col == l->col && o->file == l->file)
			break;
	}
	return &p->locs[i];
}

static void note_loc(struct parser *p, struct ptx_loc *l)
{
	struct locslot *s, *old = p->locs;
	unsigned i, cap = p->caplocs;

	if (p->nlocs * 2 >= p->caplocs) {
		p->caplocs = cap ? cap * 2 : 256;
		p->locs = ptx_alloc(p->arena, p->caplocs * sizeof *p->locs);
		for (i = 0; i < cap; i++)
			if (old[i].func)
				*find_loc(p, old[i].loc) = old[i];
	}
	s = find_loc(p, l);
	p->nlocs += !s->func;
	s->func = p->locfunc;
	s->loc = l;
}

static unsigned small(struct parser *p, const struct span *t)
{
	uint64_t v = ptx_tok_int(p, t, NULL);

	if (v > UINT32_MAX) {
		ptx_error_at(p, t->s, "number is too large");
		v = 0;
	}
	return (unsigned)v;
}

void b_loc(struct parser *p, const struct span *at, const struct span *file, const struct span *line,
	   const struct span *col)
{
	struct ptx_loc *l = ptx_alloc(p->arena, sizeof *l);

	*l = p->inl;
	memset(&p->inl, 0, sizeof p->inl);
	l->file = small(p, file);
	l->line = small(p, line);
	l->col = small(p, col);
	note_loc(p, l);
	p->loc = l;
	ptx_stmt_new(p, STMT_LOC, at);
}

static bool is_word(struct parser *p, const struct span *t, const char *word)
{
	if (ptx_span_is(t, word))
		return true;
	ptx_error_at(p, t->s, "expected '%s'", word);
	return false;
}

/* inlined_at names an earlier .loc of the function, which may be inlined itself. */
void b_loc_inlined(struct parser *p, const struct span *key, const struct span *name,
		   const struct span *off, const struct span *at, const struct span *file,
		   const struct span *line, const struct span *col)
{
	struct ptx_loc l = {0}, *site = NULL;
	struct locslot *s;

	if (!is_word(p, key, "function_name") || !is_word(p, at, "inlined_at"))
		return;
	l.file = small(p, file);
	l.line = small(p, line);
	l.col = small(p, col);
	if (p->caplocs) {
		s = find_loc(p, &l);
		if (s->func == p->locfunc && s->func)
			site = s->loc;
	}
	if (!site) {
		site = ptx_alloc(p->arena, sizeof *site);
		*site = l;
	}
	p->inl.func = ptx_word_of(p, name)->text;
	p->inl.func_off = off ? (int64_t)ptx_tok_int(p, off, NULL) : 0;
	p->inl.inlined_at = site;
}

void b_file(struct parser *p, const struct span *at, const struct span *num, const struct span *name,
	    const struct span *tail)
{
	enum { MAX_FILES = 1 << 20 };
	struct ptx_module *m = p->m;
	struct ptx_stmt *s;
	unsigned n = small(p, num);

	if (n >= MAX_FILES) {
		ptx_error_at(p, num->s, "file number is too large");
		return;
	}
	s = ptx_stmt_new(p, STMT_FILE, at);
	s->file.number = n;
	s->file.name = ptx_intern(p->arena, name->s + 1, (size_t)(name->e - name->s) - 2);
	if (tail)
		s->file.tail = ptx_clean(p, name->e, tail->e);
	if (n >= m->nfiles) {
		unsigned cap = p->capfiles;

		if (n >= cap) {
			const char **f;

			cap = n + 1 > cap * 2 ? n + 1 : cap * 2;
			f = ptx_alloc(p->arena, cap * sizeof *f);
			if (m->nfiles)
				memcpy(f, m->files, m->nfiles * sizeof *f);
			m->files = f;
			p->capfiles = cap;
		}
		m->nfiles = n + 1;
	}
	m->files[n] = s->file.name;
}

/* --- statements that are kept as text --- */

void b_text(struct parser *p, enum ptx_stmt_kind kind, struct span t)
{
	struct ptx_stmt *s = ptx_stmt_new(p, kind, &t);
	size_t n = (size_t)(t.e - t.s);
	char *text;

	if (kind == STMT_SECTION) {
		text = ptx_alloc(p->arena, n + 1);
		memcpy(text, t.s, n);
		s->t.text = text;
	} else {
		s->t.text = ptx_clean(p, t.s, t.e);
	}
}

void b_unknown(struct parser *p, const struct span *d, const char *end)
{
	const struct word *w = ptx_word_of(p, d);
	struct ptx_stmt *s;
	size_t n = (size_t)(end - d->s);
	char *text;

	if (w->dir || w->mod) {
		ptx_error_at(p, d->s, "unexpected '%.*s'", ptx_show(d), d->s);
		return;
	}
	s = ptx_stmt_new(p, STMT_TEXT, d);
	text = ptx_alloc(p->arena, n + 1);
	memcpy(text, d->s, n);
	s->t.text = text;
	p->m->nunknown++;
}

void b_alias(struct parser *p, const struct span *d, const struct span *a, const struct span *b,
	     const struct span *z)
{
	struct xop *x;
	struct ptx_stmt *s;

	ptx_x_reset(p);
	p->lenient = false;
	x = ptx_x_append(ptx_x_name(p, a), ptx_x_name(p, b));
	s = ptx_stmt_new(p, STMT_ALIAS, d);
	s->t.ops = ptx_x_final(p, x, &s->t.nops);
	s->t.text = ptx_clean(p, d->s, z->e);
}

void b_targets(struct parser *p, const struct span *label, const struct span *d, struct xop *list)
{
	struct ptx_stmt *s;
	struct ptx_sym *sym;

	if (!in_body(p, d))
		return;
	sym = ptx_declare(p, label, SYM_PROTO);
	s = ptx_stmt_new(p, STMT_TARGETS, label);
	s->t.text = ptx_word_of(p, d)->text;
	s->t.ops = ptx_x_final(p, list, &s->t.nops);
	s->t.sym = sym;
	if (sym)
		sym->stmt = s;
	ptx_x_reset(p);
}

/* --- scopes and labels --- */

void b_open(struct parser *p, const struct span *t)
{
	if (!in_body(p, t))
		return;
	if (p->scope->depth == MAX_DEPTH) {
		ptx_error_at(p, t->s, "scopes are nested too deeply");
		p->stop = true;
		return;
	}
	ptx_stmt_new(p, STMT_OPEN, t);
	ptx_scope_open(p);
}

void b_close(struct parser *p, const struct span *t)
{
	if (!p->func) {
		ptx_error_at(p, t->s, "'}' closes nothing");
		p->brace = 0;
	} else if (p->scope->depth == 1) {
		b_func_close(p, t);
	} else {
		ptx_scope_close(p);
		ptx_stmt_new(p, STMT_CLOSE, t);
	}
}

void b_label(struct parser *p, const struct span *t)
{
	struct ptx_stmt *s;
	struct ptx_sym *sym;

	ptx_x_reset(p);
	if (!in_body(p, t))
		return;
	sym = ptx_declare(p, t, SYM_LABEL);
	if (!sym)
		return;
	s = ptx_stmt_new(p, STMT_LABEL, t);
	s->sym = sym;
	sym->stmt = s;
}

/* --- instructions --- */

void b_guard(struct parser *p, const struct span *at, const struct span *t, bool neg)
{
	p->start = *at;
	p->guarded = true;
	p->guard_neg = neg;
	p->guard_word = NULL;
	p->guard_pos = t->s;
	p->guard = ptx_find(p, t, &p->guard_word);
}

void b_opcode(struct parser *p, const struct span *t, bool first)
{
	if (first) {
		if (!p->guarded)
			p->start = *t;
		p->opword = ptx_word_of(p, t);
		ptx_x_reset(p);
	} else {
		size_t n = p->opword->len, more = (size_t)(t->e - t->s);

		p->tmp.len = 0;
		ptx_put(&p->tmp, p->opword->text, n);
		ptx_put(&p->tmp, t->s, more);
		p->opword = ptx_word(p->arena, p->tmp.p, n + more);
	}
	p->opc = p->opword->opc;
	if (!p->opc)
		p->opc = ptx_opcode(p->arena, p->opword);
	if (!p->opc)
		ptx_error_at(p, t->s, "too many modifiers");
	/* What an unknown instruction takes for operands is not ours to judge. */
	p->lenient = !p->opc || p->opc->id == INST_UNKNOWN;
}

/* ld r, a[3] means the element, mov r, a[3] its address. */
static void index_to_address(struct parser *p, struct xop *x)
{
	struct ptx_operand *list = ptx_alloc(p->arena, sizeof *list);

	*list = x->op;
	memset(&x->op, 0, sizeof x->op);
	x->op.kind = OP_ADDR;
	x->op.list = list;
	x->op.n = 1;
}

/* The instruction without its operands; NULL if there is none. */
static struct ptx_inst *new_inst(struct parser *p)
{
	const struct opcode *o = p->opc;
	struct ptx_inst *in;

	if (!o || !in_body(p, &p->start)) {
		p->guarded = false;
		return NULL;
	}
	in = &ptx_stmt_new(p, STMT_INST, &p->start)->inst;
	in->id = o->id;
	in->nmods = (unsigned char)o->nmods;
	in->type = o->type;
	in->type2 = o->type2;
	in->space = o->space;
	in->mod = o->mod;
	in->modtext = o->modtext;
	p->m->ninsts++;
	p->m->nunknown += o->id == INST_UNKNOWN;
	if (p->guarded) {
		p->guarded = false;
		in->guarded = true;
		in->guard_neg = p->guard_neg;
		in->guard = p->guard;
		if (!in->guard)
			ptx_pend(p, &in->guard, p->guard_word, p->guard_pos, false);
	}
	return in;
}

void b_inst(struct parser *p, struct xop *list)
{
	struct ptx_inst *in = new_inst(p);
	struct xop *x;
	unsigned n;

	if (!in || !list)
		return;
	for (x = list; x; x = x->next) {
		if (in->id != INST_CALL)
			ptx_x_plain(p, x);
		if (x->indexed && ptx_insts[in->id].access != ACCESS_NONE)
			index_to_address(p, x);
	}
	if (list->n > UINT8_MAX) {
		ptx_error_at(p, list->s, "too many operands");
		return;
	}
	in->ops = ptx_x_final(p, list, &n);
	in->nops = (unsigned char)n;
}

void b_inst_items(struct parser *p)
{
	struct ptx_inst *in = new_inst(p);
	unsigned n;

	if (!in)
		return;
	in->ops = ptx_x_items(p, &n);
	in->nops = (unsigned char)n;
}

/* --- the driver --- */

/* Skips what belongs to a statement in error.  True if the token it stopped at
 * is part of what follows. */
static bool skip(struct parser *p, int *major, struct span *t)
{
	int depth;

	p->recover = false;
	p->guarded = false;
	memset(&p->inl, 0, sizeof p->inl);
	if (p->fhead) {
		ptx_scope_close(p);
		p->fhead = NULL;
	}
	p->vars = NULL;
	depth = p->func ? (int)p->scope->depth : 0;
	/* Most likely a semicolon is missing before a scope. */
	if (*major == T_LC && p->func)
		return true;
	for (; *major; *major = ptx_lex(p, t)) {
		if ((*major == T_SEMI || *major == T_OPERANDS) && (p->func || p->brace <= 0)) {
			p->brace = depth;
			return false;
		}
		if (*major == T_RC && p->func && p->brace < depth)
			return true;
		if (*major == T_RC && !p->func && p->brace <= 0) {
			p->brace = 0;
			return false;
		}
		if (p->stop)
			break;
	}
	return true;
}

static void parse_all(struct parser *p)
{
	void *g = ptx_gramAlloc(malloc, p);
	struct span t = {0};
	int major;

	if (!g) {
		fputs("gsan: out of memory\n", stderr);
		exit(3);
	}
	do {
		major = ptx_lex(p, &t);
		if (!p->first)
			p->first = t.s;
		if (p->stop)
			break;
		ptx_gram(g, major, t);
		if (p->recover) {
			struct span r = t;
			bool again = skip(p, &major, &t);

			if (p->stop)
				break;
			ptx_gram(g, T_RECOVER, r);
			if (again || !major)
				ptx_gram(g, major, t);
		}
	} while (major && !p->stop);
	ptx_gramFree(g, free);
	if (p->stop)
		return;
	if (p->func)
		ptx_error_at(p, p->func_open, "body of '%.100s' has no end", p->func->name);
	if (!p->saw_version || !p->saw_target)
		ptx_error_at(p, p->first, "missing %s", p->saw_version ? "'.target'" :
			     p->saw_target ? "'.version'" : "'.version' and '.target'");
	while (p->scope->depth)
		p->scope = p->scope->up;
	ptx_scope_settle(p);
}

struct ptx_module *ptx_parse(const char *path, const char *text, size_t len,
			     ptx_report_fn *report, void *arg)
{
	struct parser p = {0};
	struct ptx_module *m;
	char *copy;

	p.arena = ptx_arena_new();
	m = p.m = ptx_alloc(p.arena, sizeof *m);
	m->arena = p.arena;
	m->path = ptx_sprintf(p.arena, "%s", path);
	m->address_size = 64;
	p.report = report;
	p.arg = arg;
	p.line = 1;
	p.text = p.end = p.cur = p.bol = "";
	if (len >= MAX_FILE) {
		ptx_error_at(&p, p.text, "file is larger than 2 GiB");
	} else if (len >= 4 && !memcmp(text, "\177ELF", 4)) {
		ptx_error_at(&p, p.text, "machine code (an ELF file), not PTX");
	} else {
		copy = ptx_alloc(p.arena, len + 16);
		memcpy(copy, text, len);
		p.text = p.cur = p.bol = copy;
		p.end = copy + len;
		ptx_table_words(p.arena);
		ptx_scope_open(&p);
		parse_all(&p);
	}
	free(p.tmp.p);
	free(p.dirs.p);
	if (m->nerrors) {
		ptx_free(m);
		return NULL;
	}
	return m;
}

void ptx_free(struct ptx_module *m)
{
	if (m)
		ptx_arena_free(m->arena);
}
