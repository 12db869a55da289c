/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c: a module as text, from the tree alone: what the tree does not hold is
 * lost, so printing a module and parsing it again shows that the tree is whole.
 * Also the small changes to a module that its clients make.
 */
#include "ptxparse/parse.h"

#include <string.h>

static inline void put_n(struct ptx_buf *b, const char *s, size_t n)
{
	if (n > b->cap - b->len) {
		ptx_put(b, s, n);
	} else {
		memcpy(b->p + b->len, s, n);
		b->len += n;
	}
}

static inline void put(struct ptx_buf *b, const char *s)
{
	put_n(b, s, strlen(s));
}

static inline void put_name_of(struct ptx_buf *b, const struct ptx_sym *s)
{
	put_n(b, s->name, ptx_name_len(s));
}

static inline void putch(struct ptx_buf *b, char c)
{
	if (b->len < b->cap)
		b->p[b->len++] = c;
	else
		ptx_put(b, &c, 1);
}

static void put_u(struct ptx_buf *b, uint64_t v)
{
	char d[PTX_DIGITS];

	put_n(b, d, (size_t)(ptx_digits(d, v) - d));
}

static void put_i(struct ptx_buf *b, int64_t v)
{
	if (v < 0)
		putch(b, '-');
	put_u(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* --- operands --- */

static void put_hex(struct ptx_buf *b, const char *prefix, uint64_t v, int digits)
{
	put(b, prefix);
	while (digits--)
		putch(b, "0123456789ABCDEF"[v >> 4 * digits & 15]);
}

static void put_list(struct ptx_buf *b, const struct ptx_operand *o, const char *sep)
{
	unsigned i;

	for (i = 0; i < o->n; i++) {
		if (i)
			put(b, sep);
		ptx_print_operand(b, &o->list[i]);
	}
}

static bool is_index(const struct ptx_operand *o)
{
	return o->kind == OP_SYM && !o->neg && o->text;
}

static inline void put_sym(struct ptx_buf *b, const struct ptx_operand *o)
{
	if (o->neg)
		put(b, o->text ? o->text : o->sym->type == TYPE_PRED ? "!" : "-");
	put_name_of(b, o->sym);
	if (is_index(o)) {
		put(b, o->text);
		return;
	}
	if (o->elemtext) {
		putch(b, '.');
		put(b, o->elemtext);
	}
	if (o->off || o->hasoff) {
		putch(b, '+');
		put_i(b, o->off);
	}
}

void ptx_print_operand(struct ptx_buf *b, const struct ptx_operand *o)
{
	switch (o->kind) {
	case OP_SINK:
		putch(b, '_');
		break;
	case OP_SYM:
		put_sym(b, o);
		break;
	case OP_INT:
	case OP_EXPR:
		if (o->text)
			put(b, o->text);
		else
			put_i(b, (int64_t)o->ival);
		break;
	case OP_FLOAT:
		if (o->text)
			put(b, o->text);
		else
			put_hex(b, o->isdouble ? "0d" : "0f", o->ival, o->isdouble ? 16 : 8);
		break;
	case OP_ADDR:
		if (o->n == 1 && is_index(&o->list[0])) {
			put_sym(b, &o->list[0]);
			break;
		}
		putch(b, '[');
		put_list(b, o, ", ");
		putch(b, ']');
		if (o->elemtext) {
			putch(b, '.');
			put(b, o->elemtext);
		}
		break;
	case OP_VEC:
		putch(b, '{');
		put_list(b, o, ", ");
		putch(b, '}');
		break;
	case OP_PAIR:
		put_list(b, o, "|");
		break;
	case OP_LIST:
		putch(b, '(');
		put_list(b, o, ", ");
		putch(b, ')');
		break;
	}
}

/* --- declarations --- */

/* The words before the name: space, attributes, alignment, type. */
static void put_head(struct ptx_buf *b, const struct ptx_var *v)
{
	static const char *const spaces[] = {
		[SPACE_REG] = ".reg", [SPACE_SREG] = ".sreg", [SPACE_CONST] = ".const",
		[SPACE_GLOBAL] = ".global", [SPACE_LOCAL] = ".local", [SPACE_PARAM] = ".param",
		[SPACE_SHARED] = ".shared", [SPACE_TEX] = ".tex",
	};
	const struct ptx_sym *s = v->sym;
	bool ptr = v->attrs && strncmp(v->attrs, ".ptr", 4) == 0;

	if (v->link) {
		put(b, v->link);
		putch(b, ' ');
	}
	put(b, spaces[s->space]);
	putch(b, ' ');
	if (v->attrs && !ptr) {
		put(b, v->attrs);
		putch(b, ' ');
	}
	if (s->align) {
		put(b, ".align ");
		put_u(b, s->align);
		putch(b, ' ');
	}
	if (s->vec > 1) {
		put(b, s->vec == 2 ? ".v2 " : s->vec == 4 ? ".v4 " : ".v8 ");
	}
	put(b, ptx_type_text(s->type));
	if (ptr) {
		putch(b, ' ');
		put(b, v->attrs);
	}
}

static void put_name(struct ptx_buf *b, const struct ptx_var *v)
{
	const char *name = v->sym->name;
	unsigned i;

	putch(b, ' ');
	if (v->isrange) {
		/* The first register's name is the prefix and a zero. */
		ptx_put(b, name, strlen(name) - 1);
		putch(b, '<');
		put_u(b, v->range);
		putch(b, '>');
	} else {
		put(b, name);
	}
	for (i = 0; i < v->ndims; i++) {
		putch(b, '[');
		if (v->dim[i])
			put_u(b, v->dim[i]);
		putch(b, ']');
	}
	if (v->init) {
		put(b, " = ");
		put(b, v->init);
	}
}

static void put_vars(struct ptx_buf *b, const struct ptx_var *v)
{
	put_head(b, v);
	for (;;) {
		put_name(b, v);
		v = v->next;
		if (!v)
			break;
		putch(b, ',');
	}
	put(b, ";\n");
}

static void put_params(struct ptx_buf *b, const struct ptx_var *v, const char *sep)
{
	putch(b, '(');
	for (; v; v = v->next) {
		put(b, sep);
		put_head(b, v);
		put_name(b, v);
		if (v->next)
			putch(b, ',');
	}
	putch(b, ')');
}

static void put_header(struct ptx_buf *b, const struct ptx_func *f, const char *sep)
{
	if (f->attrs) {
		putch(b, ' ');
		put(b, f->attrs);
	}
	if (f->has_rets) {
		putch(b, ' ');
		put_params(b, f->rets, "");
	}
	putch(b, ' ');
	put(b, f->name);
	if (f->has_params)
		put_params(b, f->params, sep);
	if (*f->directives) {
		putch(b, ' ');
		put(b, f->directives);
	}
}

static void put_func(struct ptx_buf *b, const struct ptx_func *f)
{
	const struct ptx_stmt *s;

	if (f->link) {
		put(b, f->link);
		putch(b, ' ');
	}
	put(b, f->entry ? ".entry" : ".func");
	put_header(b, f, "\n\t");
	if (!f->has_body) {
		put(b, ";\n");
		return;
	}
	put(b, "\n{\n");
	for (s = f->body; s; s = s->next)
		ptx_print_stmt(b, s);
	put(b, "}\n\n");
}

/* --- statements --- */

static void put_inst(struct ptx_buf *b, const struct ptx_inst *in)
{
	const struct word *opcode;
	unsigned i;

	putch(b, '\t');
	if (in->guarded) {
		put(b, in->guard_neg ? "@!" : "@");
		put_name_of(b, in->guard);
		putch(b, ' ');
	}
	opcode = WORD(in->modtext[in->nmods]);
	put_n(b, opcode->text, opcode->len);
	for (i = 0; i < in->nops; i++) {
		put(b, i ? ", " : " ");
		ptx_print_operand(b, &in->ops[i]);
	}
	put(b, ";\n");
}

static void put_loc(struct ptx_buf *b, const struct ptx_loc *l)
{
	put(b, "\t.loc ");
	put_u(b, l->file);
	putch(b, ' ');
	put_u(b, l->line);
	putch(b, ' ');
	put_u(b, l->col);
	if (l->func) {
		put(b, ", function_name ");
		put(b, l->func);
		if (l->func_off) {
			putch(b, '+');
			put_i(b, l->func_off);
		}
		put(b, ", inlined_at ");
		put_u(b, l->inlined_at->file);
		putch(b, ' ');
		put_u(b, l->inlined_at->line);
		putch(b, ' ');
		put_u(b, l->inlined_at->col);
	}
	putch(b, '\n');
}

static void put_targets(struct ptx_buf *b, const struct ptx_stmt *s)
{
	unsigned i;

	put(b, s->t.sym->name);
	put(b, ": ");
	put(b, s->t.text);
	for (i = 0; i < s->t.nops; i++) {
		put(b, i ? ", " : " ");
		ptx_print_operand(b, &s->t.ops[i]);
	}
	put(b, ";\n");
}

void ptx_print_stmt(struct ptx_buf *b, const struct ptx_stmt *s)
{
	switch (s->kind) {
	case STMT_INST:
		put_inst(b, &s->inst);
		break;
	case STMT_LABEL:
		put_name_of(b, s->sym);
		put(b, ":\n");
		break;
	case STMT_OPEN:
		put(b, "\t{\n");
		break;
	case STMT_CLOSE:
		put(b, "\t}\n");
		break;
	case STMT_VAR:
		if (!s->var->link)
			putch(b, '\t');
		put_vars(b, s->var);
		break;
	case STMT_LOC:
		put_loc(b, s->loc);
		break;
	case STMT_FILE:
		put(b, "\t.file ");
		put_u(b, s->file.number);
		put(b, " \"");
		put(b, s->file.name);
		putch(b, '"');
		if (s->file.tail)
			put(b, s->file.tail);
		putch(b, '\n');
		break;
	case STMT_TARGETS:
		put_targets(b, s);
		break;
	case STMT_PROTO:
		put(b, s->t.sym->name);
		put(b, ": .callprototype");
		put_header(b, s->t.proto, "");
		put(b, ";\n");
		break;
	case STMT_FUNC:
		put_func(b, s->func);
		break;
	case STMT_PRAGMA:
	case STMT_SECTION:
	case STMT_ALIAS:
	case STMT_TEXT:
		put(b, s->t.text);
		putch(b, '\n');
		break;
	}
}

void ptx_print(struct ptx_buf *b, const struct ptx_module *m)
{
	const struct ptx_stmt *s;

	put(b, ".version ");
	put_u(b, m->version / 10);
	putch(b, '.');
	put_u(b, m->version % 10);
	put(b, "\n.target ");
	put(b, m->target);
	put(b, "\n.address_size ");
	put_u(b, m->address_size);
	put(b, "\n\n");
	for (s = m->first; s; s = s->next)
		ptx_print_stmt(b, s);
}

/* --- looking things up, changing a module --- */

const char *ptx_file_name(const struct ptx_module *m, unsigned number)
{
	return number < m->nfiles ? m->files[number] : NULL;
}

struct ptx_sym *ptx_lookup(const struct ptx_module *m, const char *name)
{
	const struct word *w = ptx_word(m->arena, name, strlen(name));

	return w->bind && w->bind->sym->kind != SYM_SREG ? w->bind->sym : NULL;
}

static struct ptx_stmt *new_text(struct ptx_module *m, const struct ptx_stmt *at, const char *text)
{
	struct ptx_stmt *s = ptx_alloc(m->arena, sizeof *s);

	s->kind = STMT_TEXT;
	s->t.text = text;
	if (at) {
		s->line = at->line;
		s->col = at->col;
		s->loc = at->loc;
	}
	return s;
}

/* Puts `s` between `prev` and `next`, either of which may be an end. */
static struct ptx_stmt *splice(struct ptx_stmt **first, struct ptx_stmt **last,
			       struct ptx_stmt *prev, struct ptx_stmt *next, struct ptx_stmt *s)
{
	s->prev = prev;
	s->next = next;
	if (prev)
		prev->next = s;
	else
		*first = s;
	if (next)
		next->prev = s;
	else
		*last = s;
	return s;
}

struct ptx_stmt *ptx_insert_before(struct ptx_module *m, struct ptx_func *f, struct ptx_stmt *at,
				   const char *text)
{
	struct ptx_stmt *next = at ? at : f->body;

	return splice(&f->body, &f->last, next ? next->prev : NULL, next,
		      new_text(m, next, text));
}

struct ptx_stmt *ptx_insert_after(struct ptx_module *m, struct ptx_func *f, struct ptx_stmt *at,
				  const char *text)
{
	struct ptx_stmt *prev = at ? at : f->last;

	return splice(&f->body, &f->last, prev, prev ? prev->next : NULL,
		      new_text(m, prev, text));
}

/* `before` NULL: at the end. */
struct ptx_stmt *ptx_insert_module(struct ptx_module *m, struct ptx_stmt *before, const char *text)
{
	return splice(&m->first, &m->last, before ? before->prev : m->last, before,
		      new_text(m, before, text));
}
