/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx.h: the PTX module as gsan sees it, and the functions of libptxparse.
 *
 * The parser turns text into a module and the printer turns a module into
 * text; neither knows anything of races.  Everything that hangs off a module
 * lives in its arena and dies with it: nothing here is freed on its own, and
 * every `const char *` name is interned (equal names are equal pointers), but for
 * those of registers of a range.
 *
 * Meaning comes from two tables: kw.def (modifiers, directives, types, special
 * registers) and inst.def (instructions).  Modifiers are a set: ptxas accepts
 * them in any order, so nothing may look at their position.
 *
 * Of statements, operands and symbols there are many, and most of the time goes into
 * memory that is touched for the first time: what their kind tells apart shares its
 * place, and their enumerations are as small as their values.
 */
#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PTX_SMALL __attribute__((packed))

/* ---- util.c: arena and interned strings ------------------------------- */

struct ptx_arena;                       /* owned by one module */

struct ptx_arena *ptx_arena_new(void);
void ptx_arena_free(struct ptx_arena *);
/* Zeroed memory, 8-byte aligned, alive until the arena is freed; never NULL
 * (running out of memory ends the process with status 3). */
void *ptx_alloc(struct ptx_arena *, size_t bytes);
/* The one copy of the `len` bytes at `s` (NUL-terminated). */
const char *ptx_intern(struct ptx_arena *, const char *s, size_t len);
/* A formatted string in the arena (not interned). */
char *ptx_sprintf(struct ptx_arena *, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- Words with a meaning (kw.def) ------------------------------------- */

/* MOD_SHARED_CTA for ".shared::cta" and so on; MOD_NONE is a modifier that
 * kw.def does not know, kept by its text. */
enum ptx_mod {
	MOD_NONE,
#define MOD(id, text) MOD_##id,
#include "kw.def"
	MOD_COUNT
};

enum ptx_type {
	TYPE_NONE,
#define TYPE(id, text, bits) TYPE_##id,
#include "kw.def"
	TYPE_COUNT
} PTX_SMALL;

/* Special registers; WARP_SZ, a constant to PTX, is one of them here. */
enum ptx_sreg {
	SREG_NONE,
#define SREG(id, text, type) SREG_##id,
#include "kw.def"
	SREG_COUNT
};

enum ptx_space {
	SPACE_NONE,             /* for an access: generic addressing */
	SPACE_REG, SPACE_SREG, SPACE_CONST, SPACE_GLOBAL, SPACE_LOCAL,
	SPACE_PARAM, SPACE_SHARED, SPACE_TEX
} PTX_SMALL;

const char *ptx_mod_text(enum ptx_mod);   /* ".shared::cta"; "" for MOD_NONE */
const char *ptx_type_text(enum ptx_type); /* ".u32" */
unsigned ptx_type_bits(enum ptx_type);    /* 1 for .pred */
enum ptx_type ptx_mod_type(enum ptx_mod); /* MOD_U32 -> TYPE_U32, else NONE */
const char *ptx_sreg_text(enum ptx_sreg); /* "%tid" */
enum ptx_type ptx_sreg_type(enum ptx_sreg);

/* ---- Instructions as a table (inst.def) -------------------------------- */

/* What an instruction does to memory (column ACCESS). */
enum ptx_access {
	ACCESS_NONE,
	ACCESS_LOAD,            /* ld, ldu: reads [operand 1] */
	ACCESS_STORE,           /* st: writes [operand 0] */
	ACCESS_ATOM,            /* atom: reads and writes [operand 1], has a result */
	ACCESS_RED,             /* red: reads and writes [operand 0], no result */
	ACCESS_LDMATRIX,        /* 8 row addresses a matrix, 16 bytes each */
	ACCESS_STMATRIX,
	ACCESS_WMMA_LOAD,       /* a tile of rows with a stride operand */
	ACCESS_WMMA_STORE,
	ACCESS_DISCARD,         /* weak write of the 128 bytes at operand 0 */
	ACCESS_ST_BULK,         /* st.bulk [a], size, 0 */
	ACCESS_TEX,             /* read through tex/surface hardware */
	ACCESS_SURF_STORE,
	ACCESS_COPY             /* asynchronous copy of any family */
};

/* Which order an instruction creates (column ORDER). */
enum ptx_order {
	ORDER_NONE,
	ORDER_FENCE,            /* fence.{sc,acq_rel,acquire,release}, membar */
	ORDER_PROXY_FENCE,
	ORDER_CTA_BARRIER,      /* bar, barrier (not .warp, not .cluster) */
	ORDER_WARP_BARRIER,     /* bar.warp.sync */
	ORDER_CLUSTER_BARRIER,
	ORDER_MBARRIER,
	ORDER_ASYNC_GROUP,      /* commit and wait of cp.async, bulk, wgmma, tcgen05 */
	ORDER_GRID,             /* griddepcontrol */
	ORDER_TENSOR            /* what tensor memory alone is about: its accesses and fences */
};

/* What the rewriter makes of it (column MODEL). */
enum ptx_model {
	MODEL_PLAIN,            /* touches registers, control flow or private memory only */
	MODEL_FULL,             /* instrumented with its exact meaning */
	MODEL_SYNC,             /* not modelled: orders its whole block and cluster; counted */
	MODEL_COUNT             /* not modelled, orders nothing that gsan watches; counted */
};

enum ptx_inst_id {
	INST_UNKNOWN,           /* in no row: printed back as it was, and counted */
#define INST(id, base, mods, access, order, model, ptx, sm) INST_##id,
#include "inst.def"
	INST_ID_COUNT
} PTX_SMALL;

struct ptx_inst_row {
	const char *base;       /* first word: "ld", "cp", "wgmma" */
	const char *mods;       /* modifiers that must be there, "async.bulk.tensor"; "" if none */
	enum ptx_access access;
	enum ptx_order order;
	enum ptx_model model;
	unsigned short ptx;     /* first PTX version, 10 * major + minor */
	unsigned short sm;      /* first target, 70 for sm_70 */
};

extern const struct ptx_inst_row ptx_insts[INST_ID_COUNT]; /* [INST_UNKNOWN] is all zero */

/* ---- Symbols ------------------------------------------------------------ */

enum ptx_sym_kind {
	SYM_UNRESOLVED, SYM_REG, SYM_SREG, SYM_VAR, SYM_FUNC, SYM_LABEL,
	SYM_PROTO,              /* .callprototype, .calltargets, .branchtargets label */
} PTX_SMALL;

/* A declared name.  Scopes nest; the same name in two scopes is two symbols. */
struct ptx_sym {
	const char *name;       /* of a range %r<100> each register has its own symbol */
	enum ptx_sym_kind kind;
	enum ptx_type type;     /* of registers and variables */
	enum ptx_space space;
	unsigned char vec;      /* 1, 2, 4 or 8 elements */
	unsigned align;         /* bytes; 0 if not given */
	uint64_t bytes;         /* size of a variable; 0 for an unsized extern array */
	int reg;                /* registers: number in its function, from 0, dense;
	                           special registers: enum ptx_sreg */
	unsigned len;           /* of its name; 0 if nobody counted */
	union {
		struct ptx_var *var;    /* SYM_VAR, SYM_REG; NULL for a register of a range */
		struct ptx_func *func;  /* SYM_FUNC */
		struct ptx_stmt *stmt;  /* SYM_LABEL, SYM_PROTO: where it stands; NULL until seen */
	};
	void *user;             /* free for one client at a time */
};

static inline size_t ptx_name_len(const struct ptx_sym *s)
{
	return s->len ? s->len : strlen(s->name);
}

/* ---- Operands ----------------------------------------------------------- */

enum ptx_opkind {
	OP_SINK,                /* _ */
	OP_SYM,                 /* register, special register, variable, label, function;
	                           with `off` for sym+off; `elem` for v.x, %tid.x, %r1.b0 */
	OP_INT,                 /* `ival`; `text` keeps the spelling, if it is not the decimal one */
	OP_FLOAT,               /* 0f, 0d or decimal: `ival` holds the bits, `isdouble` */
	OP_ADDR,                /* [list...]: list[0] is the base (OP_SYM or OP_INT, with
	                           its constant offset in `off`); further elements are
	                           tensor coordinates, texture coordinates and so on */
	OP_VEC,                 /* {list...} */
	OP_PAIR,                /* list[0] | list[1]: two destinations */
	OP_LIST,                /* (list...): arguments or results of a call */
	OP_EXPR                 /* constant expression, folded into `ival`; `text` as spelled */
} PTX_SMALL;

struct ptx_operand {
	enum ptx_opkind kind;
	bool neg;               /* !p, or -x on a register */
	bool isdouble;
	bool hasoff;            /* OP_SYM: "+0" was written; ptxas -g tells it from nothing */
	unsigned char elem;     /* 0 none, else 'x' 'y' 'z' 'w', 'b' or 'h' selectors: see elemtext */
	uint16_t n;             /* elements of list */
	const char *elemtext;   /* "x", "b0", "b3210"; NULL if none */
	struct ptx_sym *sym;    /* OP_SYM; kind SYM_UNRESOLVED if it names nothing known */
	union {
		int64_t off;            /* constant byte offset of an OP_SYM */
		uint64_t ival;
	};
	union {
		struct ptx_operand *list;       /* OP_ADDR, OP_VEC, OP_PAIR, OP_LIST */
		const char *text;       /* for the printer: spelling of literals; of an OP_SYM "!"
		                           or "-" if it is negated, "[3]" if an index gave the
		                           offset */
	};
};

/* ---- Statements ---------------------------------------------------------- */

enum ptx_stmt_kind {
	STMT_INST,
	STMT_LABEL,             /* `sym` */
	STMT_OPEN, STMT_CLOSE,  /* { and } of a nested scope */
	STMT_VAR,               /* any declaration of variables or registers: `var` list */
	STMT_LOC,               /* .loc: `loc` */
	STMT_FILE,              /* .file N "name" ...: `file`, `name` */
	STMT_PRAGMA,            /* `text` */
	STMT_SECTION,           /* .section with its bytes: `text` */
	STMT_TARGETS,           /* .branchtargets, .calltargets: `sym` the label, `ops` the list */
	STMT_PROTO,             /* .callprototype: `sym` the label, `text`, `proto` */
	STMT_FUNC,              /* a function or its declaration: `func` */
	STMT_ALIAS,             /* .alias a, b: `text` */
	STMT_TEXT               /* text kept or inserted as it is, printed on a line of its own */
} PTX_SMALL;

/* Where a statement came from, and what .loc said last before it. */
struct ptx_loc {
	unsigned file;          /* number of a .file, 0 = none */
	unsigned line, col;
	const char *func;       /* name behind function_name, NULL if none */
	int64_t func_off;       /* ... + offset */
	struct ptx_loc *inlined_at;     /* NULL: not inlined */
};

struct ptx_inst {
	enum ptx_inst_id id;
	unsigned char nmods;
	unsigned char nops;
	bool guarded, guard_neg;
	enum ptx_type type;     /* last type modifier, NONE if there is none */
	enum ptx_type type2;    /* the one before (cvt, mad.wide...), NONE */
	enum ptx_space space;   /* ptx_inst_space() */
	struct ptx_sym *guard;  /* predicate register */
	const uint16_t *mod;    /* enum ptx_mod, in the order written */
	const char **modtext;   /* text of each (also where mod is MOD_NONE), with its dot;
	                           behind them, [nmods], "ld.global.u32", all of it */
	struct ptx_operand *ops;
};

/* The register that decides whether it is carried out; NULL: nothing does, or what is no register, which ptxas refuses. */
static inline const struct ptx_sym *ptx_guard(const struct ptx_inst *in)
{
	return in->guarded && in->guard->kind == SYM_REG ? in->guard : NULL;
}

/* One declarator of a .reg/.local/.shared/.global/.const/.param declaration. */
struct ptx_var {
	struct ptx_sym *sym;    /* first of a range: %r7 is sym[7] */
	bool isrange;
	unsigned range;         /* %r<100>: 100; 0 if not a range, or an empty one */
	unsigned ndims;         /* .b8 a[4][5]: 2 */
	const uint64_t *dim;    /* [] is 0 */
	struct ptx_var *next;   /* next declarator of the same statement */
	const char *link;       /* ".visible", ".extern", ".weak", ".common", or NULL */
	const char *attrs;      /* .attribute(...), .ptr..., as spelled; NULL */
	const char *init;       /* initialiser as spelled, without '='; NULL */
	struct ptx_init *inits; /* the same, flat and in order; NULL */
};

/* One scalar of an initialiser. */
struct ptx_init {
	uint64_t ival;          /* literal, or the offset added to sym */
	struct ptx_sym *sym;    /* address of a variable or function; NULL for a literal */
	bool generic;           /* generic(sym) */
	uint64_t mask;          /* 0xff00(sym): mask; 0 if none */
	bool isfloat, isdouble;
	struct ptx_init *next;
};

struct ptx_stmt {
	enum ptx_stmt_kind kind;
	bool inserted;          /* for whoever wants to say so; the parser does not */
	unsigned line, col;     /* in the PTX file, from 1 */
	struct ptx_stmt *prev, *next;
	struct ptx_loc *loc;    /* last .loc before it in its function; NULL */
	union {
		struct ptx_inst inst;
		struct ptx_sym *sym;            /* STMT_LABEL */
		struct ptx_var *var;            /* STMT_VAR */
		struct ptx_func *func;          /* STMT_FUNC */
		struct {                        /* STMT_FILE */
			unsigned number;
			const char *name;
			const char *tail;       /* ", 123, 456" or NULL */
		} file;
		struct {                        /* PRAGMA, SECTION, TARGETS, PROTO, ALIAS, TEXT */
			const char *text;
			struct ptx_sym *sym;
			struct ptx_operand *ops;        /* TARGETS: list of OP_SYM */
			unsigned nops;
			struct ptx_func *proto;         /* PROTO: parameters and results */
		} t;
	};
};

struct ptx_func {
	const char *name;
	bool entry;
	bool has_body;
	bool noreturn;
	bool has_params, has_rets;      /* it has the parentheses, empty or not */
	const char *link;               /* ".visible", ".weak", ".extern" or NULL */
	const char *attrs;              /* .attribute(...) before the name, NULL if none */
	struct ptx_var *params;         /* chained by next, one declarator each */
	unsigned nparams;
	struct ptx_var *rets;           /* .func results, usually one .param or .reg */
	unsigned nrets;
	const char *directives;         /* performance directives, as spelled; "" if none */
	unsigned maxntid[3], reqntid[3];/* 0: not given (1 for a missing dimension) */
	unsigned minnctapersm, maxnreg;
	unsigned cluster[3];            /* .reqnctapercluster / explicit dims; 0 */
	int nregs;                      /* registers declared in it, all scopes */
	struct ptx_stmt *body;          /* first statement, without the outer braces */
	struct ptx_stmt *last;
	unsigned line, end_line;
	struct ptx_sym *sym;
	void *user;
};

struct ptx_module {
	struct ptx_arena *arena;
	const char *path;               /* for messages */
	unsigned version;               /* 10 * major + minor, 90 for 9.0 */
	unsigned sm;                    /* 90 for sm_90, sm_90a, sm_90f */
	char sm_suffix;                 /* 'a', 'f' or 0 */
	const char *target;             /* whole operand of .target, "sm_90a, debug" */
	unsigned address_size;          /* 64, or 32 */
	struct ptx_stmt *first, *last;  /* module-level statements in order */
	struct ptx_sym **globals;       /* module-scope variables and functions, in order */
	unsigned nglobals;
	unsigned nunknown;              /* INST_UNKNOWN statements */
	unsigned ninsts;
	unsigned nerrors;
	const char **files;             /* files[n] is the name of .file n, NULL if there is none */
	unsigned nfiles;
};

/* ---- Parsing and printing ----------------------------------------------- */

struct ptx_error {
	unsigned line, col;
	const char *text;               /* lower-case start, no final period */
	const char *source;             /* the line it points into */
};

/* Calls `report` for every error; the default (NULL) prints
 * "path:line:col: error: text", the line and a caret on stderr. */
typedef void ptx_report_fn(void *arg, const char *path, const struct ptx_error *);

/* Parses `len` bytes.  The text is copied where needed; it may go away.  Returns
 * NULL if there was an error (all have been reported by then). */
struct ptx_module *ptx_parse(const char *path, const char *text, size_t len,
			     ptx_report_fn *report, void *arg);
void ptx_free(struct ptx_module *);

/* A growing byte buffer; `p` is freed by the caller. */
struct ptx_buf { char *p; size_t len, cap; };
void ptx_put(struct ptx_buf *, const char *s, size_t len);
void ptx_puts(struct ptx_buf *, const char *s);

/* Puts the decimal digits of `v` where there is room for PTX_DIGITS bytes, and returns
 * their end; what is behind it is lost. */
enum { PTX_DIGITS = 20 };
char *ptx_more_digits(char *, uint64_t v);
static inline char *ptx_digits(char *p, uint64_t v)
{
	/* Most numbers are smaller. */
	if (v >= 10)
		return ptx_more_digits(p, v);
	*p = (char)('0' + v);
	return p + 1;
}

void ptx_print(struct ptx_buf *, const struct ptx_module *);
void ptx_print_stmt(struct ptx_buf *, const struct ptx_stmt *);
void ptx_print_operand(struct ptx_buf *, const struct ptx_operand *);

/* ---- Looking at instructions --------------------------------------------- */

/* The nth operand, or where there is none (a text that no ptxas takes) one of kind OP_SINK. */
extern const struct ptx_operand ptx_no_operand;
static inline const struct ptx_operand *ptx_operand(const struct ptx_inst *in, unsigned n)
{
	return n < in->nops ? &in->ops[n] : &ptx_no_operand;
}

/* The function that a call names; NULL: it is another instruction, or a call through a register. */
static inline const struct ptx_func *ptx_callee(const struct ptx_inst *in)
{
	for (unsigned i = 0; in->id == INST_CALL && i < in->nops; i++)
		if (in->ops[i].kind == OP_SYM && in->ops[i].sym && in->ops[i].sym->kind == SYM_FUNC)
			return in->ops[i].sym->func;
	return NULL;
}

static inline bool ptx_has(const struct ptx_inst *in, enum ptx_mod m)
{
	for (unsigned i = 0; i < in->nmods; i++)
		if (in->mod[i] == m)
			return true;
	return false;
}

/* Does control never reach what is behind it, if it has no guard? */
static inline bool ptx_leaves(const struct ptx_inst *in)
{
	switch (in->id) {
	case INST_BRA:
	case INST_BRX_IDX:
	case INST_RET:
	case INST_EXIT:
	case INST_TRAP:
		return true;
	default:
		return false;
	}
}

/* The state space named by the modifiers; SPACE_NONE means generic.
 * .shared, .shared::cta and .shared::cluster are all SPACE_SHARED. */
static inline enum ptx_space ptx_inst_space(const struct ptx_inst *in)
{
	return in->space;
}
/* Does it order less, or tell more, than what it is taken for (kw.def, LAX)? */
bool ptx_inst_lax(const struct ptx_inst *);
/* Elements of .v2 .v4 .v8 (1 without). */
unsigned ptx_inst_vec(const struct ptx_inst *);
/* The elements of a vector that stand as "_" where that means that their memory is not
 * accessed: bit i is element i. */
unsigned ptx_inst_left_out(const struct ptx_inst *);
/* Name of a source file by its .file number, NULL if there is none. */
const char *ptx_file_name(const struct ptx_module *, unsigned number);
/* The first instruction at or after a label's statement is label->stmt->next...;
 * looks a name up at module scope; NULL if absent. */
struct ptx_sym *ptx_lookup(const struct ptx_module *, const char *name);

/* ---- Changing a module ---------------------------------------------------- */

/* Inserts a STMT_TEXT before or after `at` in `func`'s body (`at` NULL: at the
 * body's start or end).  `text` must live as long as the module. */
struct ptx_stmt *ptx_insert_before(struct ptx_module *, struct ptx_func *,
				   struct ptx_stmt *at, const char *text);
struct ptx_stmt *ptx_insert_after(struct ptx_module *, struct ptx_func *,
				  struct ptx_stmt *at, const char *text);
/* The same at module level. */
struct ptx_stmt *ptx_insert_module(struct ptx_module *, struct ptx_stmt *before,
				   const char *text);

#endif
