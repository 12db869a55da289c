/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.h: what the files of libptxparse share and nobody else sees: interned
 * words, tokens, scopes and the state of one parse.
 *
 * A word is the header of an interned string.  It carries what its spelling
 * means (modifier, type, directive, special register) and what it is bound to
 * at this point of the text, so that looking a name up is following a pointer.
 */
#ifndef PARSE_H
#define PARSE_H

#include "ptxparse/ptx.h"

#include <string.h>

struct bind;
struct opcode;

struct word {
	struct bind *bind;              /* innermost symbol of this name */
	struct bind *range;             /* innermost register range with this prefix */
	struct bind *digits;            /* names declared as this word and digits, see scope.c */
	struct opcode *opc;             /* spelled as an opcode: its modifiers and row */
	const char **names;             /* names[n] is this word followed by n */
	uint64_t hash;
	unsigned nnames;
	uint32_t len;
	uint16_t mod;                   /* enum ptx_mod */
	uint16_t sreg;                  /* 1 + enum ptx_sreg, 0 if none */
	uint8_t type;                   /* enum ptx_type */
	uint8_t dir;                    /* terminal of a directive, 0 if none */
	char text[];
};

/* Eight times the byte v. */
#define BYTES(v) (UINT64_C(0x0101010101010101) * (v))

/* The word that an interned string belongs to. */
#define WORD(s) ((struct word *)(void *)((char *)(uintptr_t)(s) - offsetof(struct word, text)))

struct word *ptx_word(struct ptx_arena *, const char *s, size_t len);

/* What all uses of one opcode spelling share. */
struct opcode {
	const char *base;
	unsigned nmods;
	const uint16_t *mod;
	const char **modtext;
	enum ptx_inst_id id;
	enum ptx_type type, type2;
	enum ptx_space space;
};

/* A name or a register range in a scope. */
struct bind {
	struct ptx_sym *sym;            /* first one of a range */
	unsigned n;                     /* registers of a range */
	unsigned depth;                 /* of its scope; 0 is the module */
	struct word *word;
	struct bind *up;                /* what it hides */
	struct bind *next;              /* next one of its scope */
	struct bind *peer;              /* next one on word->digits */
};

/* A name that was used before anything by that name was seen. */
struct pending {
	struct ptx_sym **slot;
	struct word *word;
	const char *pos;
	bool lenient;                   /* may stay unresolved */
	struct pending *next;
};

struct scope {
	struct scope *up;
	unsigned depth;
	struct bind *binds;
	struct pending *pending;
};

/* A piece of the text; one token of it, mostly. */
struct span {
	const char *s, *e;
};

static inline bool ptx_span_is(const struct span *t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t->e - t->s) == n && memcmp(t->s, word, n) == 0;
}

/* An operand while its statement is being read. */
struct xop {
	struct ptx_operand op;
	const char *s, *e;              /* its spelling */
	struct word *word;              /* name of an unresolved symbol */
	struct xop *next;               /* next in its list */
	struct xop *tail;               /* the last one of the list that it begins */
	unsigned n;                     /* elements of that list */
	bool isconst, isuns;
	bool indexed;                   /* a[3] */
	bool generic;                   /* generic(x) */
	uint64_t mask;                  /* 0xff00(x) */
};

/* Every operand is a list of one. */
static inline struct xop *ptx_x_append(struct xop *list, struct xop *x)
{
	list->tail->next = x;
	list->tail = x->tail;
	list->n += x->n;
	return list;
}

/* An operand, or an element of one, that needs no grammar (lex.re). */
struct item {
	enum ptx_opkind kind;           /* OP_SYM, OP_INT, OP_FLOAT, OP_ADDR or OP_VEC */
	unsigned n;                     /* OP_VEC: how many behind it are its elements */
	struct span at;
	struct span off;                /* OP_ADDR: what is added to the name, with its sign, or nothing */
};

enum { XOP_CHUNK = 256 };

struct xchunk {
	struct xchunk *next;
	struct xop x[XOP_CHUNK];
};

/* Words at the head of a declaration. */
struct head {
	const char *link, *attrs;
	enum ptx_space space;
	enum ptx_type type;
	unsigned vec, align;
	bool ptr;
	bool bad;                       /* an error in it has been reported */
};

enum {
	MAX_ERRORS = 20,                /* reported; then parsing ends */
	MAX_DEPTH = 1000,               /* nested scopes */
	MAX_OPERANDS = 4096,            /* of one statement, all levels together */
	MAX_ITEMS = UINT8_MAX,          /* of one T_OPERANDS */
	MAX_MODS = 64,
	MAX_TOKEN = 1 << 16,            /* bytes of a name, number or string */
	MAX_DIMS = 32
};
#define MAX_FILE ((size_t)1 << 31)

/* Up to four letters that names begin with, as a number (0: free), and their word. */
struct prefix { uint32_t key; struct word *word; };

struct parser {
	struct ptx_module *m;
	struct ptx_arena *arena;

	/* lexer */
	const char *text, *end;         /* a copy, with NULs behind it */
	const char *cur;
	bool bad;                       /* the last token was an error already reported */
	bool dotted;                    /* the last token was T_DOTTED: an opcode, most likely */
	struct item items[MAX_ITEMS];   /* of the last T_OPERANDS */
	unsigned nops;                  /* those that are no elements of a vector */

	/* places and errors */
	const char *bol, *eol;          /* of the last place asked for: its line's begin and end */
	unsigned line;
	ptx_report_fn *report;
	void *arg;
	bool stop;                      /* too many, or no way to go on */
	bool recover;                   /* skip to the end of the statement */
	bool saw_version, saw_target;
	const char *last_error;

	/* where statements go */
	struct ptx_func *func;          /* function whose body is being read */
	struct ptx_func *fhead;         /* header being read */
	struct ptx_sym *proto;          /* label of the .callprototype being read */
	bool isproto;                   /* fhead is one, with its label or without */
	struct word *dir;               /* performance directive being read */
	unsigned ndirargs;
	struct scope *scope;
	struct ptx_loc *loc;
	struct ptx_loc inl;             /* function and call site of the .loc being read */
	unsigned locfunc;               /* counts functions, to tell their .locs apart */
	struct locslot *locs;
	unsigned nlocs, caplocs;
	struct prefix prefixes[64];
	uint64_t nregs;                 /* registers of the module, against hostile ranges */
	int brace;                 /* { tokens minus } tokens */
	const char *func_open;          /* where the body began */
	const char *first;              /* the first token */

	/* the statement being read */
	struct span start;               /* its first token */
	struct ptx_sym *guard;
	struct word *guard_word;
	const char *guard_pos;
	bool guarded, guard_neg;
	struct word *opword;            /* opcode so far */
	struct opcode *opc;
	struct xchunk *xops, *xcur;
	unsigned nx, nxops;
	bool lenient;                   /* its names need not be known */
	struct head head;
	struct ptx_var *vars, *vtail;
	struct ptx_init *inits, *itail;
	struct ptx_buf tmp;
	struct ptx_buf dirs;

	unsigned capglobals, capfiles;
};

/* lex.re */
int ptx_lex(struct parser *, struct span *);

/* gram.y (Lemon's names) */
void *ptx_gramAlloc(void *(*)(size_t), struct parser *);
void ptx_gramFree(void *, void (*)(void *));
void ptx_gram(void *, int, struct span);

/* The word that a token spells. */
static inline struct word *ptx_word_of(struct parser *p, const struct span *t)
{
	return ptx_word(p->arena, t->s, (size_t)(t->e - t->s));
}

/* diag.c */
void ptx_place(struct parser *, const char *pos, unsigned *line, unsigned *col);
int ptx_show(const struct span *);
void ptx_error_at(struct parser *, const char *pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void ptx_syntax_error(struct parser *, int major, const struct span *);

/* table.c */
void ptx_table_words(struct ptx_arena *);
struct opcode *ptx_opcode(struct ptx_arena *, struct word *);

/* scope.c */
void ptx_scope_open(struct parser *);
void ptx_scope_close(struct parser *);
void ptx_scope_settle(struct parser *);
struct ptx_sym *ptx_find(struct parser *, const struct span *, struct word **);
struct ptx_sym *ptx_find_word(struct parser *, struct word *, struct word **);
struct ptx_sym *ptx_declare(struct parser *, const struct span *, enum ptx_sym_kind);
struct ptx_sym *ptx_declare_range(struct parser *, const struct span *, uint64_t n,
				  const struct head *);
void ptx_pend(struct parser *, struct ptx_sym **slot, struct word *, const char *pos,
	      bool lenient);

/* expr.c: operands; every function returns its first argument or a new one */
void ptx_x_reset(struct parser *);
struct xop *ptx_x_name(struct parser *, const struct span *);
struct xop *ptx_x_dotted(struct parser *, const struct span *);
struct xop *ptx_x_int(struct parser *, const struct span *);
struct xop *ptx_x_float(struct parser *, const struct span *);
struct xop *ptx_x_suffix(struct parser *, struct xop *, const struct span *);
struct xop *ptx_x_unary(struct parser *, int op, const struct span *, struct xop *);
struct xop *ptx_x_binary(struct parser *, int op, struct xop *, struct xop *);
struct xop *ptx_x_ternary(struct parser *, struct xop *, struct xop *, struct xop *);
struct xop *ptx_x_cast(struct parser *, const struct span *, const struct span *, struct xop *);
struct xop *ptx_x_index(struct parser *, const struct span *, struct xop *, const struct span *);
struct xop *ptx_x_apply(struct parser *, const struct span *, struct xop *, const struct span *);
struct xop *ptx_x_labels(struct parser *, const struct span *, const struct span *);
struct xop *ptx_x_wrap(struct parser *, enum ptx_opkind, const struct span *, struct xop *,
		       const struct span *);
struct ptx_operand *ptx_x_final(struct parser *, struct xop *list, unsigned *n);
/* The same of p->items. */
struct ptx_operand *ptx_x_items(struct parser *, unsigned *n);
void ptx_x_unlist(struct parser *, struct xop *);
/* (5) where no list can be is a constant expression. */
static inline void ptx_x_plain(struct parser *p, struct xop *x)
{
	if (x->op.kind == OP_LIST && x->isconst)
		ptx_x_unlist(p, x);
}
uint64_t ptx_tok_int(struct parser *, const struct span *, bool *isuns);
const char *ptx_clean(struct parser *, const char *s, const char *e);

/* build.c: what the grammar's rules do */
void b_version(struct parser *, const struct span *);
void b_target(struct parser *, struct span);
void b_address_size(struct parser *, const struct span *);
void b_open(struct parser *, const struct span *);
void b_close(struct parser *, const struct span *);
void b_label(struct parser *, const struct span *);
void b_guard(struct parser *, const struct span *at, const struct span *, bool neg);
void b_opcode(struct parser *, const struct span *, bool first);
void b_inst(struct parser *, struct xop *list);
void b_inst_items(struct parser *);
void b_loc(struct parser *, const struct span *, const struct span *, const struct span *,
	   const struct span *);
void b_loc_inlined(struct parser *, const struct span *, const struct span *, const struct span *,
		   const struct span *, const struct span *, const struct span *,
		   const struct span *);
void b_file(struct parser *, const struct span *, const struct span *, const struct span *,
	    const struct span *);
void b_text(struct parser *, enum ptx_stmt_kind, struct span);
void b_unknown(struct parser *, const struct span *, const char *end);
void b_targets(struct parser *, const struct span *label, const struct span *dir, struct xop *);
void b_alias(struct parser *, const struct span *, const struct span *, const struct span *,
	     const struct span *);

/* decl.c: variables and function headers */
void b_head(struct parser *, const struct span *link, const struct span *space);
void b_head_word(struct parser *, const struct span *);
void b_head_align(struct parser *, const struct span *, const struct span *);
void b_head_text(struct parser *, struct span);
void b_declare(struct parser *, const struct span *);
void b_range(struct parser *, const struct span *, const struct span *);
void b_dim(struct parser *, const struct span *bracket, const struct span *);
void b_init_value(struct parser *, struct xop *);
void b_init(struct parser *, struct span);
void b_vars(struct parser *, const struct span *);
void b_func(struct parser *, const struct span *link, const struct span *dir);
void b_proto(struct parser *, const struct span *label, const struct span *dir);
void b_func_text(struct parser *, struct span);
void b_func_rets(struct parser *);
void b_func_name(struct parser *, const struct span *);
void b_func_params(struct parser *);
void b_func_dir(struct parser *, const struct span *);
void b_func_arg(struct parser *, const struct span *);
void b_func_pragma(struct parser *, struct span);
void b_func_end(struct parser *, const struct span *, bool body);
void b_func_close(struct parser *, const struct span *);

struct ptx_stmt *ptx_stmt_new(struct parser *, enum ptx_stmt_kind, const struct span *at);

#endif
