/* SPDX-License-Identifier: Apache-2.0
 *
 * resolve.c: whose names are these?  The parser has bound every name to its
 * declaration; this pass makes sure that none of them is one of ours, because
 * inserted code relies on all "__gsan_" names being free.
 */
#include <string.h>

#include "event/module.h"
#include "rewrite/rw.h"

#define PREFIX "__gsan_"
/* What only gsan's output of this version defines. */
#define MARK "__gsan_v2_"
_Static_assert(MODULE_VERSION == 2, "the mark names it");

static bool reserved(const char *name)
{
	if (name && *name == '%')
		name++;
	return name && !strncmp(name, PREFIX, sizeof PREFIX - 1);
}

static void refuse(struct rw *r, const char *name, unsigned line, unsigned col)
{
	rw_error(r, line, col, ptx_sprintf(r->m->arena,
		"name '%s' is reserved, and this is not the output of a gsan-ptx of this version",
		name));
}

static void vars(struct rw *r, const struct ptx_var *v, unsigned line, unsigned col)
{
	for (; v; v = v->next)
		if (reserved(v->sym->name))
			refuse(r, v->sym->name, line, col);
}

static void body(struct rw *r, const struct ptx_func *f)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind == STMT_VAR)
			vars(r, s->var, s->line, s->col);
		else if (s->kind == STMT_LABEL && reserved(s->sym->name))
			refuse(r, s->sym->name, s->line, s->col);
		else if ((s->kind == STMT_TARGETS || s->kind == STMT_PROTO) &&
			 reserved(s->t.sym->name))
			refuse(r, s->t.sym->name, s->line, s->col);
	}
}

bool rw_resolve(struct rw *r)
{
	const struct ptx_stmt *s;

	/* Most modules nowhere have the word, not even in a string. */
	if (!memmem(r->input, r->input_len, PREFIX, sizeof PREFIX - 1))
		return false;
	for (s = r->m->first; s; s = s->next)
		if (s->kind == STMT_FUNC && s->func->has_body &&
		    !strncmp(s->func->name, MARK, strlen(MARK)))
			return true;
	for (s = r->m->first; s; s = s->next) {
		if (s->kind == STMT_VAR)
			vars(r, s->var, s->line, s->col);
		if (s->kind != STMT_FUNC)
			continue;
		if (reserved(s->func->name))
			refuse(r, s->func->name, s->line, s->col);
		vars(r, s->func->params, s->line, s->col);
		vars(r, s->func->rets, s->line, s->col);
		body(r, s->func);
	}
	return false;
}
