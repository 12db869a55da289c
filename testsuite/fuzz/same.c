/* SPDX-License-Identifier: Apache-2.0
 *
 * same.c: compares two PTX modules node by node.  Each function returns what
 * differs, or NULL.  Symbols are compared by what was declared, not by address:
 * the two modules share nothing.
 */
#include <string.h>

#include "testsuite/fuzz/same.h"

#define DIFFER(condition, what) do { if (condition) return what; } while (0)
#define FIRST(call) do { const char *why_ = (call); if (why_) return why_; } while (0)

static bool text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *sym(const struct ptx_sym *a, const struct ptx_sym *b)
{
	DIFFER(!a != !b, "a symbol is missing");
	if (!a)
		return NULL;
	DIFFER(!text(a->name, b->name), "a symbol's name");
	DIFFER(a->kind != b->kind, "a symbol's kind");
	DIFFER(a->type != b->type || a->space != b->space, "a symbol's type or space");
	DIFFER(a->vec != b->vec || a->align != b->align, "a symbol's vector or alignment");
	DIFFER(a->bytes != b->bytes, "a symbol's size");
	DIFFER(a->reg != b->reg, "a register's number");
	return NULL;
}

static const char *operands(const struct ptx_operand *a, const struct ptx_operand *b, unsigned n);

static const char *operand(const struct ptx_operand *a, const struct ptx_operand *b)
{
	DIFFER(a->kind != b->kind, "an operand's kind");
	DIFFER(a->neg != b->neg, "an operand's sign");
	DIFFER(a->isdouble != b->isdouble, "an operand's precision");
	DIFFER(a->hasoff != b->hasoff || a->off != b->off, "an operand's offset");
	DIFFER(a->elem != b->elem || !text(a->elemtext, b->elemtext), "an operand's element");
	DIFFER(a->ival != b->ival, "an operand's value");
	DIFFER(a->n != b->n, "an operand's number of elements");
	FIRST(sym(a->sym, b->sym));
	if (a->n)
		return operands(a->list, b->list, a->n);
	DIFFER(!text(a->text, b->text), "an operand's spelling");
	return NULL;
}

static const char *operands(const struct ptx_operand *a, const struct ptx_operand *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		FIRST(operand(&a[i], &b[i]));
	return NULL;
}

static const char *inst(const struct ptx_inst *a, const struct ptx_inst *b)
{
	DIFFER(a->id != b->id, "an opcode");
	DIFFER(a->nmods != b->nmods, "the number of modifiers");
	DIFFER(!text(a->modtext[a->nmods], b->modtext[b->nmods]), "an opcode's spelling");
	for (unsigned i = 0; i < a->nmods; i++)
		DIFFER(a->mod[i] != b->mod[i] || !text(a->modtext[i], b->modtext[i]), "a modifier");
	DIFFER(a->type != b->type || a->type2 != b->type2, "an instruction's type");
	DIFFER(a->guarded != b->guarded || a->guard_neg != b->guard_neg, "a guard");
	FIRST(sym(a->guard, b->guard));
	DIFFER(a->nops != b->nops, "the number of operands");
	return operands(a->ops, b->ops, a->nops);
}

static const char *inits(const struct ptx_init *a, const struct ptx_init *b)
{
	for (; a && b; a = a->next, b = b->next) {
		DIFFER(a->ival != b->ival || a->mask != b->mask || a->generic != b->generic ||
		       a->isfloat != b->isfloat || a->isdouble != b->isdouble, "an initialiser");
		FIRST(sym(a->sym, b->sym));
	}
	DIFFER(a || b, "the number of initialisers");
	return NULL;
}

static const char *vars(const struct ptx_var *a, const struct ptx_var *b)
{
	for (; a && b; a = a->next, b = b->next) {
		FIRST(sym(a->sym, b->sym));
		DIFFER(a->isrange != b->isrange || a->range != b->range, "a range of registers");
		DIFFER(a->ndims != b->ndims, "a variable's dimensions");
		for (unsigned i = 0; i < a->ndims; i++)
			DIFFER(a->dim[i] != b->dim[i], "a variable's dimension");
		DIFFER(!text(a->link, b->link) || !text(a->attrs, b->attrs), "a variable's attributes");
		DIFFER(!text(a->init, b->init), "the text of an initialiser");
		FIRST(inits(a->inits, b->inits));
	}
	DIFFER(a || b, "the number of variables");
	return NULL;
}

static const char *loc(const struct ptx_loc *a, const struct ptx_loc *b)
{
	for (; a && b; a = a->inlined_at, b = b->inlined_at)
		DIFFER(a->file != b->file || a->line != b->line || a->col != b->col ||
		       !text(a->func, b->func) || a->func_off != b->func_off, "a .loc");
	DIFFER(a || b, "a .loc is missing");
	return NULL;
}

static const char *statements(const struct ptx_stmt *a, const struct ptx_stmt *b, unsigned *line);

static const char *three(const unsigned a[3], const unsigned b[3])
{
	DIFFER(a[0] != b[0] || a[1] != b[1] || a[2] != b[2], "a function's dimensions");
	return NULL;
}

static const char *func(const struct ptx_func *a, const struct ptx_func *b, unsigned *line)
{
	DIFFER(!a != !b, "a function is missing");
	if (!a)
		return NULL;
	DIFFER(!text(a->name, b->name), "a function's name");
	DIFFER(a->entry != b->entry || a->has_body != b->has_body || a->noreturn != b->noreturn,
	       "what a function is");
	DIFFER(a->has_params != b->has_params || a->has_rets != b->has_rets ||
	       a->nparams != b->nparams || a->nrets != b->nrets, "the number of parameters");
	DIFFER(!text(a->link, b->link) || !text(a->attrs, b->attrs) ||
	       !text(a->directives, b->directives), "a function's attributes");
	FIRST(vars(a->params, b->params));
	FIRST(vars(a->rets, b->rets));
	FIRST(three(a->maxntid, b->maxntid));
	FIRST(three(a->reqntid, b->reqntid));
	FIRST(three(a->cluster, b->cluster));
	DIFFER(a->minnctapersm != b->minnctapersm || a->maxnreg != b->maxnreg, "a function's bounds");
	DIFFER(a->nregs != b->nregs, "the number of registers");
	return statements(a->body, b->body, line);
}

static const char *statement(const struct ptx_stmt *a, const struct ptx_stmt *b, unsigned *line)
{
	DIFFER(a->kind != b->kind, "a statement's kind");
	FIRST(loc(a->loc, b->loc));
	switch (a->kind) {
	case STMT_INST:
		return inst(&a->inst, &b->inst);
	case STMT_LABEL:
		return sym(a->sym, b->sym);
	case STMT_OPEN:
	case STMT_CLOSE:
	case STMT_LOC:
		return NULL;
	case STMT_VAR:
		return vars(a->var, b->var);
	case STMT_FILE:
		DIFFER(a->file.number != b->file.number || !text(a->file.name, b->file.name) ||
		       !text(a->file.tail, b->file.tail), "a .file");
		return NULL;
	case STMT_FUNC:
		return func(a->func, b->func, line);
	case STMT_PROTO:
		FIRST(sym(a->t.sym, b->t.sym));
		return func(a->t.proto, b->t.proto, line);
	case STMT_TARGETS:
		FIRST(sym(a->t.sym, b->t.sym));
		DIFFER(a->t.nops != b->t.nops, "the number of targets");
		FIRST(operands(a->t.ops, b->t.ops, a->t.nops));
		DIFFER(!text(a->t.text, b->t.text), "the text of a statement");
		return NULL;
	case STMT_PRAGMA:
	case STMT_SECTION:
	case STMT_ALIAS:
	case STMT_TEXT:
		DIFFER(!text(a->t.text, b->t.text), "the text of a statement");
		return NULL;
	}
	return "a kind of statement that is none";
}

static const char *statements(const struct ptx_stmt *a, const struct ptx_stmt *b, unsigned *line)
{
	const char *why;

	for (; a && b; a = a->next, b = b->next) {
		DIFFER((a->next && a->next->prev != a) || (b->next && b->next->prev != b),
		       "statements are not chained both ways");
		*line = 0;
		why = statement(a, b, line);
		if (!why)
			continue;
		if (!*line)
			*line = a->line;
		return why;
	}
	DIFFER(a || b, "the number of statements");
	return NULL;
}

const char *same_module(const struct ptx_module *a, const struct ptx_module *b, unsigned *line)
{
	*line = 0;
	DIFFER(a->version != b->version, "the version");
	DIFFER(a->sm != b->sm || a->sm_suffix != b->sm_suffix || !text(a->target, b->target),
	       "the target");
	DIFFER(a->address_size != b->address_size, "the size of an address");
	DIFFER(a->ninsts != b->ninsts || a->nunknown != b->nunknown, "the number of instructions");
	DIFFER(a->nglobals != b->nglobals, "the number of globals");
	for (unsigned i = 0; i < a->nglobals; i++)
		FIRST(sym(a->globals[i], b->globals[i]));
	DIFFER(a->nfiles != b->nfiles, "the number of files");
	for (unsigned i = 0; i < a->nfiles; i++)
		DIFFER(!text(a->files[i], b->files[i]), "a file's name");
	return statements(a->first, b->first, line);
}
