/* SPDX-License-Identifier: Apache-2.0
 *
 * scope.c: names and what they stand for.  A word points at its innermost
 * binding; closing a scope takes its bindings off again.
 *
 * A register of a range (%r123) is found through the prefix and the number, with
 * no word of its own.  That is only right while no single name has the same
 * letters and some digits behind them: such names are kept on the list `digits` of
 * the word without its digits, and the slow way is taken when there are any.
 * As for ptxas, the prefix is the name without all of its digits, so that a range
 * whose own prefix ends in one can be declared but not used.
 *
 * A name that is not known yet may be a label further on: it waits on the list
 * of its scope, and goes to the scope around when that one closes without it.
 */
#include "ptxparse/parse.h"

#include <endian.h>
#include <string.h>

enum {
	MAX_DIGITS = 9,                 /* more digits make no register number */
	MAX_RANGE = 1 << 24             /* eight digits */
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A name that ends in digits, split before them. */
struct name {
	struct word *w;                 /* the prefix; the whole name if it has no digits */
	unsigned digits;                /* how many, 0 if none (or too many) */
	uint32_t num;                   /* the number they make */
};

static struct name split_slowly(struct parser *p, const struct span *t)
{
	const char *d = t->e;
	struct name n = {0};

	while (d > t->s && digit(d[-1]))
		d--;
	if (t->e - d > MAX_DIGITS)
		d = t->e;
	n.w = ptx_word(p->arena, t->s, (size_t)(d - t->s));
	n.digits = (unsigned)(t->e - d);
	for (; d < t->e; d++)
		n.num = n.num * 10 + (uint32_t)(*d - '0');
	return n;
}

/* The number of eight digits, the first one in the lowest byte: pairs, then fours,
 * then all of them. */
static uint32_t eight_digits(uint64_t v)
{
	v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
	return (uint32_t)(v * 10000 + (v >> 32));
}

/* The word of a short prefix.  A module has a dozen of them, which is why they are
 * found here without a hash of their letters. */
static inline struct word *prefix(struct parser *p, const char *s, size_t len)
{
	struct prefix *x;
	uint32_t key;

	if (len - 1 >= sizeof key)
		return ptx_word(p->arena, s, len);
	memcpy(&key, s, sizeof key);
	key = le32toh(key) & UINT32_MAX >> (32 - 8 * len);
	x = &p->prefixes[key * UINT32_C(0x9e3779b1) >> 26];
	if (x->key != key) {
		x->key = key;
		x->word = ptx_word(p->arena, s, len);
	}
	return x->word;
}

/* All names come through here, and how many digits they have is anyone's guess, the
 * processor's too: eight bytes at once tell it without a loop.  A name begins with
 * something else than a digit. */
static inline struct name split(struct parser *p, const struct span *t)
{
	struct name n = {0};
	uint64_t v, others;

	if (t->e - p->text < 8)
		return split_slowly(p, t);
	memcpy(&v, t->e - 8, 8);
	v = le64toh(v) ^ BYTES('0');
	others = (((v & BYTES(0x7f)) + BYTES(0x80 - 10)) | v) & BYTES(0x80);
	if (!others)
		return split_slowly(p, t);
	n.digits = (unsigned)__builtin_clzll(others) / 8;
	if (n.digits)
		n.num = eight_digits(v & UINT64_MAX << (64 - 8 * n.digits));
	n.w = prefix(p, t->s, (size_t)(t->e - t->s) - n.digits);
	return n;
}

/* The word without all of its digits; NULL if it ends in none. */
static struct word *stem(struct parser *p, const struct word *w)
{
	size_t n = w->len;

	while (n && digit(w->text[n - 1]))
		n--;
	return n < w->len ? ptx_word(p->arena, w->text, n) : NULL;
}

static void add_bind(struct parser *p, struct bind **slot, struct bind *b, struct word *w)
{
	b->word = w;
	b->depth = p->scope->depth;
	b->up = *slot;
	*slot = b;
	b->next = p->scope->binds;
	p->scope->binds = b;
}

void ptx_scope_open(struct parser *p)
{
	struct scope *s = ptx_alloc(p->arena, sizeof *s);

	s->up = p->scope;
	s->depth = s->up ? s->up->depth + 1 : 0;
	p->scope = s;
}

/* Gives the names that wait in the innermost scope what they stand for. */
void ptx_scope_settle(struct parser *p)
{
	struct scope *s = p->scope;
	struct pending *w, *next, *list = NULL;

	/* The list is newest first; errors should come in the order of the text. */
	for (w = s->pending; w; w = next) {
		next = w->next;
		w->next = list;
		list = w;
	}
	for (w = list; w; w = next) {
		struct bind *b = w->word->bind;

		next = w->next;
		if (b && b->depth == s->depth) {
			*w->slot = b->sym;
		} else if (s->depth > 1) {
			w->next = s->up->pending;
			s->up->pending = w;
		} else if (b) {
			*w->slot = b->sym;
		} else if (!w->lenient) {
			ptx_error_at(p, w->pos, "'%.100s' is not declared", w->word->text);
		}
	}
}

void ptx_scope_close(struct parser *p)
{
	struct scope *s = p->scope;
	struct bind *b;

	ptx_scope_settle(p);
	for (b = s->binds; b; b = b->next) {
		struct word *st;

		if (b->n) {
			b->word->range = b->up;
			continue;
		}
		b->word->bind = b->up;
		st = stem(p, b->word);
		if (st)
			st->digits = b->peer;
	}
	p->scope = s->up;
}

/* The range that the name is a register of.  An inner one hides no more than it has. */
static struct bind *find_range(const struct name *n)
{
	struct bind *r = n->digits ? n->w->range : NULL;

	while (r && n->num >= r->n)
		r = r->up;
	return r;
}

static struct ptx_sym *sreg(struct parser *p, struct word *w)
{
	struct bind *b = ptx_alloc(p->arena, sizeof *b);
	struct ptx_sym *s = ptx_alloc(p->arena, sizeof *s);
	struct bind **at;

	s->name = w->text;
	s->len = w->len;
	s->kind = SYM_SREG;
	s->space = SPACE_SREG;
	s->vec = 1;
	s->reg = w->sreg;
	s->type = ptx_sreg_type((enum ptx_sreg)w->sreg);
	/* Under everything else by that name, for the rest of the module. */
	for (at = &w->bind; *at; at = &(*at)->up)
		;
	*at = b;
	b->sym = s;
	b->word = w;
	return s;
}

/* What a word stands for here as a whole; NULL and itself if nothing does yet. */
struct ptx_sym *ptx_find_word(struct parser *p, struct word *w, struct word **word)
{
	if (w->bind)
		return w->bind->sym;
	if (w->sreg)
		return sreg(p, w);
	*word = w;
	return NULL;
}

/* The same for a name, which may be a register of a range. */
struct ptx_sym *ptx_find(struct parser *p, const struct span *t, struct word **word)
{
	struct name n = split(p, t);
	struct bind *r = find_range(&n);
	struct word *w;

	if (r && !n.w->digits)
		return &r->sym[n.num];
	w = n.digits ? ptx_word_of(p, t) : n.w;
	if (r && (!w->bind || r->depth > w->bind->depth))
		return &r->sym[n.num];
	return ptx_find_word(p, w, word);
}

/* NULL if the scope has the name already; that has been said then. */
struct ptx_sym *ptx_declare(struct parser *p, const struct span *t, enum ptx_sym_kind kind)
{
	struct name n = split(p, t);
	struct bind *b, *r = find_range(&n);
	struct word *w = n.digits ? ptx_word_of(p, t) : n.w, *st;
	struct ptx_sym *s;

	if ((w->bind && w->bind->depth == p->scope->depth && w->bind->sym->kind != SYM_SREG) ||
	    (r && r->depth == p->scope->depth)) {
		ptx_error_at(p, t->s, "'%.100s' is already declared in this scope", w->text);
		return NULL;
	}
	b = ptx_alloc(p->arena, sizeof *b);
	s = ptx_alloc(p->arena, sizeof *s);
	s->name = w->text;
	s->len = w->len;
	s->kind = kind;
	s->vec = 1;
	s->reg = -1;
	b->sym = s;
	add_bind(p, &w->bind, b, w);
	st = stem(p, w);
	if (st) {
		b->peer = st->digits;
		st->digits = b;
	}
	return s;
}

/* Names of a range are made once for all functions of a module.  They are no words:
 * nobody looks them up, and there are more of them than of all others. */
static void make_names(struct parser *p, struct word *w, unsigned n)
{
	const char **names;
	unsigned cap, i;
	char *text;

	if (n <= w->nnames)
		return;
	cap = w->nnames * 2 > n ? w->nnames * 2 : n;
	names = ptx_alloc(p->arena, cap * sizeof *names);
	if (w->nnames)
		memcpy(names, w->names, w->nnames * sizeof *names);
	text = ptx_alloc(p->arena, (cap - w->nnames) * (w->len + sizeof "16777216") + PTX_DIGITS);
	for (i = w->nnames; i < cap; i++) {
		names[i] = text;
		memcpy(text, w->text, w->len);
		text = ptx_digits(text + w->len, i) + 1;
	}
	w->names = names;
	w->nnames = cap;
}

/* Is this name `w` followed by a number below n? */
static bool in_range(const struct word *name, const struct word *w, uint64_t n)
{
	uint64_t v = 0;
	size_t i;

	if (name->len <= w->len || name->len - w->len > MAX_DIGITS ||
	    memcmp(name->text, w->text, w->len) != 0)
		return false;
	for (i = w->len; i < name->len; i++) {
		if (!digit(name->text[i]))
			return false;
		v = v * 10 + (uint64_t)(name->text[i] - '0');
	}
	return v < n;
}

struct ptx_sym *ptx_declare_range(struct parser *p, const struct span *t, uint64_t n,
				  const struct head *h)
{
	struct word *w = ptx_word_of(p, t);
	struct bind *b;
	struct ptx_sym *s;
	unsigned i, count, len, more = 10;

	/* Nobody declares more registers than a file could use. */
	if (n > MAX_RANGE || p->nregs + n > (uint64_t)(p->end - p->text) + (1 << 20)) {
		ptx_error_at(p, t->s, "too many registers");
		return NULL;
	}
	/* The list is in the order of the scopes, innermost first. */
	for (b = w->digits; b && b->depth == p->scope->depth; b = b->peer)
		if (in_range(b->word, w, n)) {
			ptx_error_at(p, t->s, "'%.100s' is already declared in this scope",
				     b->word->text);
			return NULL;
		}
	if (w->range && w->range->depth == p->scope->depth) {
		ptx_error_at(p, t->s, "'%.100s<>' is already declared in this scope", w->text);
		return NULL;
	}
	p->nregs += n;
	/* An empty range still needs a symbol to carry its type and name. */
	count = n ? (unsigned)n : 1;
	make_names(p, w, count);
	s = ptx_alloc(p->arena, count * sizeof *s);
	len = w->len + 1;
	for (i = 0; i < count; i++) {
		if (i == more) {
			len++;
			more *= 10;
		}
		s[i].name = w->names[i];
		s[i].len = len;
		s[i].kind = SYM_REG;
		s[i].space = SPACE_REG;
		s[i].type = h->type;
		s[i].vec = h->vec;
		s[i].align = h->align;
		s[i].reg = n ? p->func->nregs++ : -1;
	}
	if (n) {
		b = ptx_alloc(p->arena, sizeof *b);
		b->sym = s;
		b->n = count;
		add_bind(p, &w->range, b, w);
	}
	return s;
}

void ptx_pend(struct parser *p, struct ptx_sym **slot, struct word *w, const char *pos,
	      bool lenient)
{
	struct pending *n = ptx_alloc(p->arena, sizeof *n);

	n->slot = slot;
	n->word = w;
	n->pos = pos;
	n->lenient = lenient;
	n->next = p->scope->pending;
	p->scope->pending = n;
}
