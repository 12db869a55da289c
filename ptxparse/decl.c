/* SPDX-License-Identifier: Apache-2.0
 *
 * decl.c: variables, registers, initialisers and the headers of functions.
 *
 * While p->fhead is set the declarations are parameters of that header, in the
 * scope of its body; a second declaration of a function or an .extern variable
 * shares the first one's symbol.
 */
#include "ptxparse/parse.h"
#include "ptxparse/gram.h"

#include <string.h>

static unsigned number(struct parser *p, const struct span *t)
{
	uint64_t v = ptx_tok_int(p, t, NULL);

	if (v > INT32_MAX) {
		ptx_error_at(p, t->s, "number is too large");
		v = 0;
	}
	return (unsigned)v;
}

static const char *join(struct parser *p, const char *a, const char *b)
{
	return a ? ptx_sprintf(p->arena, "%s %s", a, b) : b;
}

/* --- the words in front of the names --- */

static enum ptx_space word_space(const struct word *w)
{
	switch (w->mod) {
	case MOD_REG:
		return SPACE_REG;
	case MOD_SREG:
		return SPACE_SREG;
	case MOD_CONST:
		return SPACE_CONST;
	case MOD_GLOBAL:
		return SPACE_GLOBAL;
	case MOD_LOCAL:
		return SPACE_LOCAL;
	case MOD_PARAM:
		return SPACE_PARAM;
	case MOD_SHARED:
		return SPACE_SHARED;
	case MOD_TEX:
		return SPACE_TEX;
	}
	return SPACE_NONE;
}

void b_head(struct parser *p, const struct span *link, const struct span *space)
{
	struct head *h = &p->head;

	memset(h, 0, sizeof *h);
	h->vec = 1;
	h->space = word_space(ptx_word_of(p, space));
	if (link)
		h->link = ptx_word_of(p, link)->text;
	if (p->fhead) {
		if (link || (h->space != SPACE_PARAM && h->space != SPACE_REG))
			ptx_error_at(p, link ? link->s : space->s,
				     "a parameter is '.param' or '.reg'");
		return;
	}
	p->start = link ? *link : *space;
	p->vars = p->vtail = NULL;
	if (h->space == SPACE_SREG)
		ptx_error_at(p, space->s, "special registers cannot be declared");
	else if (h->space == SPACE_REG && !p->func)
		ptx_error_at(p, space->s, "registers cannot be declared outside a function");
	else if (h->space == SPACE_REG && link)
		ptx_error_at(p, link->s, "registers have no linkage");
}

void b_head_word(struct parser *p, const struct span *t)
{
	const struct word *w = ptx_word_of(p, t);
	struct head *h = &p->head;

	if (h->ptr || w->dir == T_PTR) {
		h->ptr = true;
		h->attrs = join(p, h->attrs, w->text);
		return;
	}
	switch (w->mod) {
	case MOD_V2:
	case MOD_V4:
	case MOD_V8:
		if (h->vec == 1) {
			h->vec = w->mod == MOD_V2 ? 2 : w->mod == MOD_V4 ? 4 : 8;
			return;
		}
		break;
	default:
		if (w->type != TYPE_NONE && h->type == TYPE_NONE) {
			h->type = (enum ptx_type)w->type;
			return;
		}
	}
	h->bad = true;
	ptx_error_at(p, t->s, "unexpected '%.*s' in a declaration", ptx_show(t), t->s);
}

void b_head_align(struct parser *p, const struct span *at, const struct span *t)
{
	struct head *h = &p->head;
	unsigned n = number(p, t);

	(void)at;
	if (n == 0 || (n & (n - 1)))
		ptx_error_at(p, t->s, "alignment is not a power of two");
	else if (h->ptr)
		h->attrs = ptx_sprintf(p->arena, "%s .align %u", h->attrs, n);
	else
		h->align = n;
}

void b_head_text(struct parser *p, struct span t)
{
	if (p->head.ptr)
		ptx_error_at(p, t.s, "unexpected '.attribute' in a declaration");
	p->head.attrs = join(p, p->head.attrs, ptx_clean(p, t.s, t.e));
}

/* --- the names --- */

static void add_global(struct parser *p, struct ptx_sym *sym)
{
	struct ptx_module *m = p->m;

	if (m->nglobals == p->capglobals) {
		struct ptx_sym **g;

		p->capglobals = p->capglobals ? p->capglobals * 2 : 64;
		g = ptx_alloc(p->arena, p->capglobals * sizeof *g);
		if (m->nglobals)
			memcpy(g, m->globals, m->nglobals * sizeof *g);
		m->globals = g;
	}
	m->globals[m->nglobals++] = sym;
}

static struct ptx_var *new_var(struct parser *p)
{
	struct ptx_var *v = ptx_alloc(p->arena, sizeof *v);

	v->link = p->head.link;
	v->attrs = p->head.attrs;
	p->inits = NULL;
	p->itail = NULL;
	if (p->vars)
		p->vtail->next = v;
	else
		p->vars = v;
	p->vtail = v;
	return v;
}

/* A variable declared .extern here or there is the same variable. */
static struct ptx_sym *redeclared(struct parser *p, struct word *w)
{
	struct ptx_sym *s = w->bind ? w->bind->sym : NULL;

	if (p->fhead || p->func || !s || s->kind != SYM_VAR || !s->var)
		return NULL;
	if ((s->var->link && WORD(s->var->link)->mod == 0 && strcmp(s->var->link, ".extern") == 0) ||
	    (p->head.link && strcmp(p->head.link, ".extern") == 0))
		return s;
	return NULL;
}

void b_declare(struct parser *p, const struct span *t)
{
	struct head *h = &p->head;
	struct word *w = ptx_word_of(p, t);
	struct ptx_func *f = p->fhead ? p->fhead : p->func;
	struct ptx_var *v = new_var(p);
	struct ptx_sym *s;
	bool sink = ptx_span_is(t, "_");

	if (h->type == TYPE_NONE && !h->bad)
		ptx_error_at(p, t->s, "'%.*s' has no type", ptx_show(t), t->s);
	s = redeclared(p, w);
	if (!s && !(p->isproto && sink)) {
		if (sink)
			ptx_error_at(p, t->s, "'_' cannot be declared");
		s = ptx_declare(p, t, h->space == SPACE_REG ? SYM_REG : SYM_VAR);
		if (s && !p->scope->depth)
			add_global(p, s);
	}
	if (!s) {
		/* A parameter of a prototype needs no name, and one in error gets
		 * a symbol that nobody finds. */
		s = ptx_alloc(p->arena, sizeof *s);
		s->name = w->text;
		s->kind = h->space == SPACE_REG ? SYM_REG : SYM_VAR;
	}
	s->type = h->type;
	s->space = h->space;
	s->vec = h->vec;
	s->align = h->align;
	s->bytes = (ptx_type_bits(h->type) + 7) / 8 * h->vec;
	s->reg = h->space == SPACE_REG && f ? f->nregs++ : -1;
	v->sym = s;
	/* What defines a variable says more than what announces it. */
	if (!s->var || !v->link || strcmp(v->link, ".extern") != 0)
		s->var = v;
}

void b_range(struct parser *p, const struct span *t, const struct span *count)
{
	struct head *h = &p->head;
	struct ptx_var *v = new_var(p);
	uint64_t n = ptx_tok_int(p, count, NULL);

	if (h->type == TYPE_NONE && !h->bad)
		ptx_error_at(p, t->s, "'%.*s' has no type", ptx_show(t), t->s);
	if (h->space != SPACE_REG || !p->func) {
		ptx_error_at(p, t->s, "only registers come in ranges");
		return;
	}
	v->isrange = true;
	v->range = (unsigned)n;
	v->sym = ptx_declare_range(p, t, n, h);
}

void b_dim(struct parser *p, const struct span *bracket, const struct span *t)
{
	struct ptx_var *v = p->vtail;
	uint64_t n = t ? ptx_tok_int(p, t, NULL) : 0, *dim;

	if (v->sym->kind == SYM_REG) {
		ptx_error_at(p, bracket->s, "registers cannot be arrays");
		return;
	}
	if (v->ndims == MAX_DIMS) {
		ptx_error_at(p, bracket->s, "too many dimensions");
		return;
	}
	if (!n && v->ndims) {
		ptx_error_at(p, bracket->s, "only the first dimension may be left out");
		return;
	}
	dim = ptx_alloc(p->arena, (v->ndims + 1) * sizeof *dim);
	if (v->ndims)
		memcpy(dim, v->dim, v->ndims * sizeof *dim);
	dim[v->ndims++] = n;
	v->dim = dim;
	if (n && v->sym->bytes > (UINT64_C(1) << 47) / n) {
		ptx_error_at(p, t->s, "array is too large");
		return;
	}
	/* Of an unsized array `bytes` holds one element until its initialiser. */
	v->sym->bytes *= t ? n : 1;
}

/* --- initialisers --- */

void b_init_value(struct parser *p, struct xop *x)
{
	struct ptx_init *i = ptx_alloc(p->arena, sizeof *i);

	ptx_x_plain(p, x);
	switch (x->op.kind) {
	case OP_INT:
	case OP_EXPR:
		i->ival = x->op.ival;
		break;
	case OP_FLOAT:
		i->ival = x->op.ival;
		i->isfloat = true;
		i->isdouble = x->op.isdouble;
		break;
	case OP_SYM:
		i->ival = (uint64_t)x->op.off;
		i->sym = x->op.sym;
		i->generic = x->generic;
		i->mask = x->mask;
		if (!i->sym)
			ptx_pend(p, &i->sym, x->word, x->s, false);
		break;
	default:
		ptx_error_at(p, x->s, "not a constant");
	}
	if (p->inits)
		p->itail->next = i;
	else
		p->inits = i;
	p->itail = i;
	ptx_x_reset(p);
}

/* How many elements the outermost braces hold. */
static uint64_t count_elements(const char *s)
{
	uint64_t n = 1;
	int depth = 0;

	for (; *s; s++) {
		depth += (*s == '{' || *s == '(') - (*s == '}' || *s == ')');
		n += *s == ',' && depth == 1;
	}
	return n;
}

void b_init(struct parser *p, struct span t)
{
	struct ptx_var *v = p->vtail;

	v->init = ptx_clean(p, t.s, t.e);
	v->inits = p->inits;
	if (v->ndims && !v->dim[0])
		v->sym->bytes *= count_elements(v->init);
	if (v->sym->kind == SYM_REG)
		ptx_error_at(p, t.s, "registers cannot be initialised");
}

void b_vars(struct parser *p, const struct span *end)
{
	struct ptx_stmt *s;
	struct ptx_var *v;

	(void)end;
	for (v = p->vars; v; v = v->next)
		if (v->ndims && !v->dim[0] && !v->init)
			v->sym->bytes = 0;
	s = ptx_stmt_new(p, STMT_VAR, &p->start);
	s->var = p->vars;
	p->vars = NULL;
}

/* --- function headers --- */

static void new_header(struct parser *p, const struct span *at)
{
	if (p->func && !p->isproto) {
		/* Somebody forgot a brace: go on as if it were there. */
		ptx_error_at(p, at->s, "body of '%.100s' has no end", p->func->name);
		while (p->scope->depth)
			ptx_scope_close(p);
		p->func = NULL;
		p->brace = 0;
	}
	p->fhead = ptx_alloc(p->arena, sizeof *p->fhead);
	p->fhead->name = "";
	ptx_place(p, at->s, &p->fhead->line, NULL);
	p->start = *at;
	p->vars = p->vtail = NULL;
	p->dirs.len = 0;
	p->dir = NULL;
	ptx_scope_open(p);
}

void b_func(struct parser *p, const struct span *link, const struct span *dir)
{
	p->isproto = false;
	new_header(p, link ? link : dir);
	p->fhead->entry = ptx_word_of(p, dir)->dir == T_ENTRY;
	if (link)
		p->fhead->link = ptx_word_of(p, link)->text;
}

void b_proto(struct parser *p, const struct span *label, const struct span *dir)
{
	p->isproto = true;
	p->proto = NULL;
	if (!p->func)
		ptx_error_at(p, dir->s, "'.callprototype' outside a function");
	else
		p->proto = ptx_declare(p, label, SYM_PROTO);
	new_header(p, label);
}

void b_func_text(struct parser *p, struct span t)
{
	p->fhead->attrs = join(p, p->fhead->attrs, ptx_clean(p, t.s, t.e));
}

static unsigned take_params(struct parser *p, struct ptx_var **list)
{
	struct ptx_var *v;
	unsigned n = 0;

	*list = p->vars;
	p->vars = NULL;
	for (v = *list; v; v = v->next) {
		if (v->ndims && !v->dim[0])
			v->sym->bytes = 0;
		n++;
	}
	return n;
}

void b_func_rets(struct parser *p)
{
	p->fhead->nrets = take_params(p, &p->fhead->rets);
	p->fhead->has_rets = true;
}

void b_func_params(struct parser *p)
{
	p->fhead->nparams = take_params(p, &p->fhead->params);
	p->fhead->has_params = true;
}

void b_func_name(struct parser *p, const struct span *t)
{
	struct ptx_func *f = p->fhead;
	struct word *w = ptx_word_of(p, t);
	struct ptx_sym *s = w->bind ? w->bind->sym : NULL;
	struct scope *inner = p->scope;

	f->name = w->text;
	if (p->isproto)
		return;
	if (s && s->kind == SYM_FUNC && !p->func) {
		f->sym = s;
		return;
	}
	/* The name is the module's, the parameters are the function's. */
	p->scope = inner->up;
	s = ptx_declare(p, t, SYM_FUNC);
	p->scope = inner;
	if (s) {
		s->func = f;
		add_global(p, s);
		f->sym = s;
	}
}

void b_func_dir(struct parser *p, const struct span *t)
{
	struct word *w = ptx_word_of(p, t);

	if (p->dirs.len)
		ptx_put(&p->dirs, " ", 1);
	ptx_put(&p->dirs, w->text, w->len);
	p->dir = w;
	p->ndirargs = 0;
	if (strcmp(w->text, ".noreturn") == 0)
		p->fhead->noreturn = true;
	else if (w->dir != T_DOT && (w->dir || w->mod))
		ptx_error_at(p, t->s, "unexpected '%.*s'", ptx_show(t), t->s);
	else if (!w->dir)
		p->m->nunknown++;
}

void b_func_arg(struct parser *p, const struct span *t)
{
	struct ptx_func *f = p->fhead;
	const char *d = p->dir ? p->dir->text : "";
	unsigned i = p->ndirargs++, n = number(p, t), k;
	unsigned *dims = NULL;

	if (i)
		ptx_put(&p->dirs, ",", 1);
	ptx_put(&p->dirs, " ", 1);
	ptx_put(&p->dirs, t->s, (size_t)(t->e - t->s));
	if (!p->dir)
		ptx_error_at(p, t->s, "unexpected '%.*s'", ptx_show(t), t->s);
	else if (strcmp(d, ".maxntid") == 0)
		dims = f->maxntid;
	else if (strcmp(d, ".reqntid") == 0)
		dims = f->reqntid;
	else if (strcmp(d, ".reqnctapercluster") == 0)
		dims = f->cluster;
	else if (strcmp(d, ".minnctapersm") == 0)
		f->minnctapersm = n;
	else if (strcmp(d, ".maxnreg") == 0)
		f->maxnreg = n;
	if (!dims)
		return;
	if (i > 2) {
		ptx_error_at(p, t->s, "more than three dimensions");
		return;
	}
	dims[i] = n;
	for (k = i + 1; k < 3; k++)
		dims[k] = 1;
}

void b_func_pragma(struct parser *p, struct span t)
{
	if (p->dirs.len)
		ptx_put(&p->dirs, " ", 1);
	ptx_puts(&p->dirs, ptx_clean(p, t.s, t.e));
	p->dir = NULL;
}

static void end_proto(struct parser *p, struct ptx_func *f, const struct span *end, bool body)
{
	struct ptx_stmt *s;

	ptx_scope_close(p);
	p->fhead = NULL;
	if (body) {
		ptx_error_at(p, end->s, "a prototype has no body");
		p->brace--;
		return;
	}
	if (!p->func)
		return;
	s = ptx_stmt_new(p, STMT_PROTO, &p->start);
	s->t.text = ".callprototype";
	s->t.sym = p->proto;
	s->t.proto = f;
	if (p->proto)
		p->proto->stmt = s;
}

void b_func_end(struct parser *p, const struct span *end, bool body)
{
	struct ptx_func *f = p->fhead;
	struct ptx_stmt *s;

	f->directives = ptx_intern(p->arena, p->dirs.len ? p->dirs.p : "", p->dirs.len);
	if (p->isproto) {
		end_proto(p, f, end, body);
		return;
	}
	p->fhead = NULL;
	p->loc = NULL;
	s = ptx_stmt_new(p, STMT_FUNC, &p->start);
	s->func = f;
	if (!body) {
		ptx_place(p, end->s, &f->end_line, NULL);
		ptx_scope_close(p);
		return;
	}
	if (f->sym && f->sym->func && f->sym->func->has_body)
		ptx_error_at(p, p->start.s, "'%.100s' has a body already", f->name);
	f->has_body = true;
	if (f->sym)
		f->sym->func = f;
	p->func = f;
	p->func_open = end->s;
	p->locfunc++;
}

void b_func_close(struct parser *p, const struct span *end)
{
	ptx_place(p, end->s, &p->func->end_line, NULL);
	ptx_scope_close(p);
	p->func = NULL;
	p->loc = NULL;
}
