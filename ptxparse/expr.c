/* SPDX-License-Identifier: Apache-2.0
 *
 * expr.c: operands and constant expressions.  While a statement is read its
 * operands are struct xop from a pool; a finished list is copied into the arena
 * as an array of struct ptx_operand, and that is when names that are not known
 * yet are put on the waiting list, since only now their place is final.  Operands
 * that need no grammar (lex.re) are made there at once.
 *
 * Constant expressions are 64 bits wide, signed unless one side has a U or does
 * not fit (PTX ISA, "Integer Constant Expression Evaluation").  As ptxas has it,
 * ~ and % are always unsigned, ?: has the type of the side it takes, and a shift
 * looks at six bits of its count.
 */
#include "ptxparse/parse.h"
#include "ptxparse/gram.h"

#include <stdlib.h>
#include <string.h>

void ptx_x_reset(struct parser *p)
{
	p->xcur = p->xops;
	p->nx = 0;
	p->nxops = 0;
}

static struct xop *new_xop(struct parser *p, const char *s, const char *e)
{
	struct xop *x;

	if (++p->nxops > MAX_OPERANDS) {
		if (!p->stop)
			ptx_error_at(p, s, "too many operands");
		p->stop = true;
		x = ptx_alloc(p->arena, sizeof *x);
	} else {
		if (!p->xcur || p->nx == XOP_CHUNK) {
			struct xchunk *c = p->xcur ? p->xcur->next : p->xops;

			if (!c) {
				c = ptx_alloc(p->arena, sizeof *c);
				if (p->xcur)
					p->xcur->next = c;
				else
					p->xops = c;
			}
			p->xcur = c;
			p->nx = 0;
		}
		x = &p->xcur->x[p->nx++];
	}
	/* Apart: all of it at once is a call or a string instruction. */
	x->op = (struct ptx_operand){0};
	x->s = s;
	x->e = e;
	x->word = NULL;
	x->next = NULL;
	x->tail = x;
	x->mask = 0;
	x->n = 1;
	x->isconst = x->isuns = x->indexed = x->generic = false;
	return x;
}

/* The text between two places as one line, without comments. */
const char *ptx_clean(struct parser *p, const char *s, const char *e)
{
	struct ptx_buf *b = &p->tmp;
	const char *q = s;
	char *text;

	while (q < e && *q != '\n' && *q != '\r' && *q != '/' && *q != '\t')
		q++;
	if (q == e)
		return ptx_intern(p->arena, s, (size_t)(e - s));
	b->len = 0;
	for (q = s; q < e; ) {
		bool blank = false;

		while (q < e) {
			if (*q == ' ' || *q == '\t' || *q == '\n' || *q == '\r' || *q == '\v') {
				q++;
			} else if (*q == '/' && q[1] == '/') {
				q = memchr(q, '\n', (size_t)(e - q));
				if (!q)
					q = e;
			} else if (*q == '/' && q[1] == '*') {
				for (q += 2; q < e && !(*q == '*' && q[1] == '/'); q++)
					;
				q += 2;
			} else {
				break;
			}
			blank = true;
		}
		if (q >= e)
			break;
		if (blank && b->len)
			ptx_put(b, " ", 1);
		if (*q == '"') {
			const char *z = memchr(q + 1, '"', (size_t)(e - q - 1));

			z = z ? z + 1 : e;
			ptx_put(b, q, (size_t)(z - q));
			q = z;
		} else {
			s = q;
			while (q < e && *q != '"' && *q != ' ' && *q != '\t' && *q != '\n' &&
			       *q != '\r' && *q != '\v' && *q != '/')
				q++;
			/* A lone slash divides. */
			if (q == s)
				q++;
			ptx_put(b, s, (size_t)(q - s));
		}
	}
	text = ptx_alloc(p->arena, b->len + 1);
	if (b->len)
		memcpy(text, b->p, b->len);
	return text;
}

static const char *spelled(struct parser *p, const struct xop *x)
{
	return ptx_clean(p, x->s, x->e);
}

/* --- leaves --- */

/* They fill in an operand that is all zero. */

static inline void take_name(struct parser *p, struct ptx_operand *o, const struct span *t, struct word **word)
{
	if (ptx_span_is(t, "_")) {
		o->kind = OP_SINK;
		return;
	}
	o->kind = OP_SYM;
	o->sym = ptx_find(p, t, word);
}

struct xop *ptx_x_name(struct parser *p, const struct span *t)
{
	struct xop *x = new_xop(p, t->s, t->e);

	take_name(p, &x->op, t, &x->word);
	return x;
}

/* %tid.x, v.y, %r1.b0 */
struct xop *ptx_x_dotted(struct parser *p, const struct span *t)
{
	const char *d = memchr(t->s, '.', (size_t)(t->e - t->s));
	struct span base = *t;
	struct xop *x;

	base.e = d;
	x = ptx_x_name(p, &base);
	x->e = t->e;
	if (x->op.kind == OP_SINK) {
		ptx_error_at(p, t->s, "'_' has no elements");
		return x;
	}
	x->op.elemtext = ptx_intern(p->arena, d + 1, (size_t)(x->e - d - 1));
	x->op.elem = (unsigned char)x->op.elemtext[0];
	return x;
}

struct xop *ptx_x_suffix(struct parser *p, struct xop *x, const struct span *t)
{
	if ((x->op.kind != OP_SYM && x->op.kind != OP_ADDR) || x->op.elemtext) {
		ptx_error_at(p, t->s, "unexpected '%.*s'", ptx_show(t), t->s);
		return x;
	}
	x->e = t->e;
	x->op.elemtext = ptx_intern(p->arena, t->s + 1, (size_t)(t->e - t->s) - 1);
	x->op.elem = (unsigned char)x->op.elemtext[0];
	return x;
}

uint64_t ptx_tok_int(struct parser *p, const struct span *t, bool *isuns)
{
	const char *s = t->s, *e = t->e;
	uint64_t v = 0;
	unsigned base = 10;
	bool uns = e[-1] == 'U';

	if (uns)
		e--;
	if (*s == '0' && e - s > 1) {
		if (s[1] == 'x' || s[1] == 'X') {
			base = 16;
			s += 2;
		} else if (s[1] == 'b' || s[1] == 'B') {
			base = 2;
			s += 2;
		} else {
			base = 8;
			s++;
		}
	}
	/* Most are decimal, and so short that they fit. */
	if (base == 10 && e - s < 19)
		for (; s < e; s++)
			v = v * 10 + (unsigned)(*s - '0');
	for (; s < e; s++) {
		unsigned d = (unsigned char)*s;

		d = d >= 'a' ? d - 'a' + 10 : d >= 'A' ? d - 'A' + 10 : d - '0';
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, d, &v)) {
			ptx_error_at(p, t->s, "number does not fit in 64 bits");
			break;
		}
	}
	if (isuns)
		*isuns = uns || v > INT64_MAX;
	return v;
}

/* A number, perhaps with a minus; true if it is unsigned.  Most are decimal, and look
 * the same printed: they keep no spelling. */
static bool take_int(struct parser *p, struct ptx_operand *o, const struct span *t)
{
	bool neg = *t->s == '-', isuns;
	struct span digits = { t->s + neg, t->e };
	uint64_t v = ptx_tok_int(p, &digits, &isuns);

	o->kind = OP_INT;
	o->ival = neg ? 0 - v : v;
	if (isuns || (*digits.s == '0' && t->e - t->s > 1))
		o->text = ptx_word_of(p, t)->text;
	return isuns;
}

struct xop *ptx_x_int(struct parser *p, const struct span *t)
{
	struct xop *x = new_xop(p, t->s, t->e);

	x->isuns = take_int(p, &x->op, t);
	x->isconst = true;
	return x;
}

static uint64_t double_bits(double d)
{
	uint64_t v;

	memcpy(&v, &d, sizeof v);
	return v;
}

static double bits_double(uint64_t v)
{
	double d;

	memcpy(&d, &v, sizeof d);
	return d;
}

static void take_float(struct parser *p, struct ptx_operand *o, const struct span *t)
{
	o->kind = OP_FLOAT;
	o->text = ptx_word_of(p, t)->text;
	if (t->e - t->s > 2 && (t->s[1] | 32) == 'f') {
		o->ival = strtoull(o->text + 2, NULL, 16);
	} else if (t->e - t->s > 2 && (t->s[1] | 32) == 'd') {
		o->isdouble = true;
		o->ival = strtoull(o->text + 2, NULL, 16);
	} else {
		o->isdouble = true;
		o->ival = double_bits(strtod(o->text, NULL));
	}
}

struct xop *ptx_x_float(struct parser *p, const struct span *t)
{
	struct xop *x = new_xop(p, t->s, t->e);

	take_float(p, &x->op, t);
	x->isconst = true;
	return x;
}

/* --- constant expressions --- */

/* (5) is a list of one until somebody wants its value. */
static void unparen(struct xop *x)
{
	if (x->op.kind == OP_LIST && x->isconst) {
		struct ptx_operand in = x->op.list[0];

		x->op.kind = in.kind;
		x->op.ival = in.ival;
		x->op.isdouble = in.isdouble;
		x->op.n = 0;
		x->op.text = NULL;
	}
	if (x->op.kind == OP_SYM && x->op.sym && x->op.sym->kind == SYM_SREG &&
	    x->op.sym->reg == SREG_WARP_SZ && !x->op.off) {
		x->op.kind = OP_INT;
		x->op.ival = 32;
		x->isconst = true;
	}
}

static bool is_int(const struct xop *x)
{
	return x->isconst && (x->op.kind == OP_INT || x->op.kind == OP_EXPR);
}

static struct xop *folded(struct parser *p, struct xop *x, uint64_t v)
{
	x->op.kind = OP_EXPR;
	x->op.ival = v;
	x->op.sym = NULL;
	x->op.n = 0;
	x->op.text = spelled(p, x);
	x->isconst = true;
	return x;
}

struct xop *ptx_x_unary(struct parser *p, int op, const struct span *t, struct xop *x)
{
	bool literal = x->op.kind == OP_INT;
	bool plain = literal && !x->op.text && x->op.ival && x->s == t->s + 1;

	if (x->op.kind == OP_SYM && !x->op.neg && !x->op.off && (op == T_BANG || op == T_MINUS)) {
		if (op == T_MINUS)
			unparen(x);
		if (x->op.kind == OP_SYM) {
			x->op.neg = true;
			x->op.text = op == T_BANG ? "!" : "-";
			x->s = t->s;
			return x;
		}
	}
	unparen(x);
	x->s = t->s;
	if (is_int(x)) {
		uint64_t v = x->op.ival;

		if (plain && op == T_MINUS) {
			x->op.ival = 0 - v;
			return x;
		}
		switch (op) {
		case T_BANG:
			v = !v;
			x->isuns = false;
			break;
		case T_TILDE:
			v = ~v;
			x->isuns = true;
			break;
		case T_MINUS:
			v = 0 - v;
			break;
		}
		folded(p, x, v);
		if (literal && op == T_MINUS)
			x->op.kind = OP_INT;
		return x;
	}
	if (x->op.kind == OP_FLOAT && (op == T_MINUS || op == T_PLUS)) {
		if (op == T_MINUS)
			x->op.ival ^= (uint64_t)1 << (x->op.isdouble ? 63 : 31);
		x->op.text = spelled(p, x);
		return x;
	}
	ptx_error_at(p, t->s, "'%.1s' cannot stand before this operand", t->s);
	return x;
}

static uint64_t divide(bool uns, uint64_t a, uint64_t b)
{
	if (uns)
		return a / b;
	return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift_right(bool uns, uint64_t a, unsigned n)
{
	return uns || a <= INT64_MAX ? a >> n : ~(~a >> n);
}

static struct xop *fold(struct parser *p, int op, struct xop *x, struct xop *y)
{
	uint64_t a = x->op.ival, b = y->op.ival, v = 0;
	bool uns = x->isuns || y->isuns, less = uns ? a < b : (int64_t)a < (int64_t)b;
	bool result_uns = uns;

	switch (op) {
	case T_OROR:	v = a || b; result_uns = false; break;
	case T_ANDAND:	v = a && b; result_uns = false; break;
	case T_EQEQ:	v = a == b; result_uns = false; break;
	case T_NEQ:	v = a != b; result_uns = false; break;
	case T_LT:	v = less; result_uns = false; break;
	case T_GE:	v = !less; result_uns = false; break;
	case T_GT:	v = !less && a != b; result_uns = false; break;
	case T_LE:	v = less || a == b; result_uns = false; break;
	case T_BAR:	v = a | b; break;
	case T_CARET:	v = a ^ b; break;
	case T_AMP:	v = a & b; break;
	case T_PLUS:	v = a + b; break;
	case T_MINUS:	v = a - b; break;
	case T_STAR:	v = a * b; break;
	case T_SHL:	v = a << (b & 63); result_uns = x->isuns; break;
	case T_SHR:	v = shift_right(x->isuns, a, b & 63); result_uns = x->isuns; break;
	case T_SLASH:	v = b ? divide(uns, a, b) : 0; break;
	case T_PERCENT:	v = b ? a % b : 0; result_uns = true; break;
	}
	if (!b && (op == T_SLASH || op == T_PERCENT))
		ptx_error_at(p, y->s, "division by zero");
	x->e = y->e;
	x->isuns = result_uns;
	return folded(p, x, v);
}

static struct xop *fold_float(struct parser *p, int op, struct xop *x, struct xop *y)
{
	double a = x->op.kind == OP_FLOAT ? bits_double(x->op.ival) : (double)(int64_t)x->op.ival;
	double b = y->op.kind == OP_FLOAT ? bits_double(y->op.ival) : (double)(int64_t)y->op.ival;

	switch (op) {
	case T_PLUS:	a += b; break;
	case T_MINUS:	a -= b; break;
	case T_STAR:	a *= b; break;
	case T_SLASH:	a /= b; break;
	}
	x->e = y->e;
	folded(p, x, double_bits(a));
	x->op.kind = OP_FLOAT;
	x->op.isdouble = true;
	return x;
}

struct xop *ptx_x_binary(struct parser *p, int op, struct xop *x, struct xop *y)
{
	unparen(y);
	if ((op == T_PLUS || op == T_MINUS) && x->op.kind == OP_SYM && !x->op.neg && is_int(y)) {
		uint64_t off = (uint64_t)x->op.off;

		if (!x->op.sym || x->op.sym->kind != SYM_SREG || x->op.sym->reg != SREG_WARP_SZ) {
			off = op == T_PLUS ? off + y->op.ival : off - y->op.ival;
			x->op.off = (int64_t)off;
			x->op.hasoff = true;
			x->e = y->e;
			return x;
		}
	}
	unparen(x);
	if (is_int(x) && is_int(y))
		return fold(p, op, x, y);
	if (x->isconst && y->isconst &&
	    (op == T_PLUS || op == T_MINUS || op == T_STAR || op == T_SLASH) &&
	    (x->op.kind != OP_FLOAT || x->op.isdouble) &&
	    (y->op.kind != OP_FLOAT || y->op.isdouble))
		return fold_float(p, op, x, y);
	if (op == T_BAR) {
		struct xop *pair = new_xop(p, x->s, y->e);
		unsigned n;

		pair->op.kind = OP_PAIR;
		pair->op.list = ptx_x_final(p, ptx_x_append(x, y), &n);
		pair->op.n = (uint16_t)n;
		return pair;
	}
	ptx_error_at(p, y->s, "operands cannot be combined");
	return x;
}

struct xop *ptx_x_ternary(struct parser *p, struct xop *x, struct xop *y, struct xop *z)
{
	unparen(x);
	unparen(y);
	unparen(z);
	if (!is_int(x) || !is_int(y) || !is_int(z)) {
		ptx_error_at(p, x->s, "operands of ?: are not all constant");
		return x;
	}
	x->e = z->e;
	x->isuns = x->op.ival ? y->isuns : z->isuns;
	return folded(p, x, x->op.ival ? y->op.ival : z->op.ival);
}

struct xop *ptx_x_cast(struct parser *p, const struct span *open, const struct span *type,
		       struct xop *x)
{
	const struct word *w = ptx_word_of(p, type);

	unparen(x);
	if (!is_int(x) || (w->type != TYPE_S64 && w->type != TYPE_U64)) {
		ptx_error_at(p, open->s, "only integer constants can be cast, to .s64 or .u64");
		return x;
	}
	x->s = open->s;
	x->isuns = w->type == TYPE_U64;
	return folded(p, x, x->op.ival);
}

/* a[3]: the address of an element. */
struct xop *ptx_x_index(struct parser *p, const struct span *t, struct xop *i, const struct span *end)
{
	struct xop *x = ptx_x_name(p, t);

	unparen(i);
	x->e = end->e;
	if (x->op.kind != OP_SYM || !x->op.sym || x->op.sym->kind != SYM_VAR) {
		ptx_error_at(p, t->s, "'%.*s' is not an array", t->e - t->s < 100 ? (int)(t->e - t->s) : 100, t->s);
	} else if (!is_int(i)) {
		ptx_error_at(p, i->s, "index is not a constant");
	} else {
		/* Even of vectors the index counts scalars. */
		uint64_t size = (ptx_type_bits(x->op.sym->type) + 7) / 8;

		x->op.off = (int64_t)(i->op.ival * size);
		/* ptxas -g tells it from a+12. */
		x->op.text = ptx_clean(p, t->e, x->e);
		x->indexed = true;
	}
	return x;
}

/* generic(v), 0xff00(v): only initialisers have them. */
struct xop *ptx_x_apply(struct parser *p, const struct span *f, struct xop *x, const struct span *end)
{
	x->e = end->e;
	if (x->op.kind != OP_SYM || x->op.neg) {
		ptx_error_at(p, x->s, "not an address");
	} else if (*f->s >= '0' && *f->s <= '9') {
		x->mask = ptx_tok_int(p, f, NULL);
		if (!x->mask)
			ptx_error_at(p, f->s, "mask is zero");
	} else if (ptx_span_is(f, "generic")) {
		x->generic = true;
	} else {
		ptx_error_at(p, f->s, "'%.*s' is not an operator",
			     ptx_show(f), f->s);
	}
	x->s = f->s;
	return x;
}

/* L<3> stands for L0, L1, L2. */
struct xop *ptx_x_labels(struct parser *p, const struct span *t, const struct span *count)
{
	uint64_t n = ptx_tok_int(p, count, NULL), i;
	struct xop *list = NULL;

	if (n == 0 || n > MAX_OPERANDS / 2) {
		ptx_error_at(p, count->s, "bad number of labels");
		n = 1;
	}
	for (i = 0; i < n; i++) {
		const char *name = ptx_sprintf(p->arena, "%.*s%u", (int)(t->e - t->s), t->s,
					       (unsigned)i);
		struct xop *x = new_xop(p, t->s, t->e);

		x->op.kind = OP_SYM;
		x->op.sym = ptx_find_word(p, ptx_word(p->arena, name, strlen(name)), &x->word);
		list = list ? ptx_x_append(list, x) : x;
	}
	return list;
}

/* --- lists --- */

/* A name that may yet come to stand for something else waits at its place. */
static void wait_at(struct parser *p, struct ptx_operand *o, struct word *word, const char *pos)
{
	/* A label of an outer scope may be hidden by one of this scope. */
	if (o->sym)
		word = WORD(o->sym->name);
	o->sym = ptx_alloc(p->arena, sizeof *o->sym);
	o->sym->name = word->text;
	o->sym->len = word->len;
	ptx_pend(p, &o->sym, word, pos, p->lenient);
}

/* An OP_SYM has come to its place; `word`: its name, if it stands for nothing yet. */
static inline void settle(struct parser *p, struct ptx_operand *o, struct word *word, const char *pos)
{
	if (!o->sym || (o->sym->kind == SYM_LABEL && p->scope->depth > 1))
		wait_at(p, o, word, pos);
}

/* Copies a list into the arena. */
struct ptx_operand *ptx_x_final(struct parser *p, struct xop *list, unsigned *n)
{
	struct ptx_operand *ops = ptx_alloc(p->arena, list->n * sizeof *ops), *o = ops;
	struct xop *x;

	for (x = list; x; x = x->next, o++) {
		*o = x->op;
		if (x->op.kind == OP_SYM) {
			settle(p, o, x->word, x->s);
			if (x->generic || x->mask)
				ptx_error_at(p, x->s, "only an initialiser can have this");
		}
	}
	*n = list->n;
	return ops;
}

struct xop *ptx_x_wrap(struct parser *p, enum ptx_opkind kind, const struct span *open,
		       struct xop *list, const struct span *close)
{
	struct xop *x = new_xop(p, open->s, close->e), *e;
	unsigned n = 0;

	x->op.kind = kind;
	if (!list)
		return x;
	for (e = list; e; e = e->next)
		ptx_x_plain(p, e);
	if (kind == OP_LIST && list->n == 1 && list->isconst) {
		x->isconst = true;
		x->isuns = list->isuns;
	}
	if (kind == OP_ADDR && list->op.kind == OP_EXPR)
		list->op.kind = OP_INT;
	x->op.list = ptx_x_final(p, list, &n);
	x->op.n = (uint16_t)n;
	return x;
}

void ptx_x_unlist(struct parser *p, struct xop *x)
{
	unparen(x);
	if (x->op.kind != OP_FLOAT)
		x->op.kind = OP_EXPR;
	x->op.text = spelled(p, x);
}

/* --- operands that were read as one token --- */

static inline void final_name(struct parser *p, struct ptx_operand *o, const struct span *t)
{
	struct word *word = NULL;

	take_name(p, o, t, &word);
	if (o->kind == OP_SYM)
		settle(p, o, word, t->s);
}

static void final_address(struct parser *p, struct ptx_operand *o, const struct item *i)
{
	struct span name = { i->at.s + 1, i->off.s };
	struct span number = { i->off.s + 1, i->off.e };
	struct ptx_operand off = {0};

	o->kind = OP_ADDR;
	o->n = 1;
	o->list = ptx_alloc(p->arena, sizeof *o->list);
	final_name(p, o->list, &name);
	if (i->off.s < i->off.e) {
		take_int(p, &off, &number);
		o->list->off = off.off;
		o->list->hasoff = true;
	}
}

static inline void final_item(struct parser *p, struct ptx_operand *o, const struct item *i)
{
	switch (i->kind) {
	case OP_SYM:
		final_name(p, o, &i->at);
		break;
	case OP_INT:
		take_int(p, o, &i->at);
		break;
	case OP_FLOAT:
		take_float(p, o, &i->at);
		break;
	default:
		final_address(p, o, i);
	}
}

struct ptx_operand *ptx_x_items(struct parser *p, unsigned *n)
{
	struct ptx_operand *ops = ptx_alloc(p->arena, p->nops * sizeof *ops), *end = ops + p->nops, *o;
	const struct item *i = p->items;

	for (o = ops; o < end; o++, i++) {
		unsigned k;

		if (i->kind != OP_VEC) {
			final_item(p, o, i);
			continue;
		}
		o->kind = OP_VEC;
		o->n = (uint16_t)i->n;
		o->list = ptx_alloc(p->arena, o->n * sizeof *o->list);
		for (k = 0; k < o->n; k++)
			final_item(p, &o->list[k], ++i);
	}
	*n = p->nops;
	return ops;
}
