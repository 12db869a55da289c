/* SPDX-License-Identifier: Apache-2.0
 *
 * module.c: all of a module: its functions' plans, their starts, calls and returns, the kernels' parameter, the sites.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/module.h"

/* A number in the PTX of start.ptx and refill.ptx. */
EVENT_ASSERT(EVENT_MAGIC == 0x67736e01u);

static const uint64_t launch_bytes[] = {sizeof(struct region_launch)};

const char *module_text(struct module *t)
{
	const char *s = ptx_sprintf(t->m->arena, "%.*s", (int)t->e.out.len, t->e.out.len ? t->e.out.p : "");

	t->e.out.len = 0;
	return s;
}

uint32_t module_site(struct probe_sites *s, const struct event_site *site)
{
	s->site = realloc(s->site, (s->n + 1) * sizeof *s->site);
	if (!s->site)
		abort();
	s->site[s->n] = *site;
	return s->n++;
}

void module_leave_out(struct module *t, const struct ptx_stmt *stmt)
{
	t->sites->first = t->sites->left_out++ ? t->sites->first : stmt->line;
}

static void add_kernel(struct module *t, struct ptx_func *f, uint32_t piece)
{
	struct probe_sites *s = t->sites;
	struct ptx_sym *sym = ptx_alloc(t->m->arena, sizeof *sym);
	struct ptx_var *v = ptx_alloc(t->m->arena, sizeof *v), **last = &f->params;

	s->kernel = realloc(s->kernel, (s->nkernels + 1) * sizeof *s->kernel);
	if (!s->kernel)
		abort();
	s->kernel[s->nkernels++] = (struct probe_kernel){strdup(f->name), piece, t->facts.flat};
	*sym = (struct ptx_sym){.name = PROBE_PARAM, .kind = SYM_VAR, .type = TYPE_B8, .space = SPACE_PARAM, .vec = 1, .align = 8,
				.bytes = sizeof(struct region_launch), .var = v};
	v->sym = sym;
	v->ndims = 1;
	v->dim = launch_bytes;
	while (*last)
		last = &(*last)->next;
	*last = v;
	f->nparams++;
	f->has_params = true;
}

static void put_returns(struct module *t, struct ptx_func *f)
{
	for (struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && s->inst.id == INST_RET) {
			emit_save(&t->e);
			ptx_insert_before(t->m, f, s, module_text(t));
		}
}

static void count_unwatched(struct module *t, const struct ptx_func *f)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next)
		t->sites->unwatched += s->kind == STMT_INST &&
				       (ptx_insts[s->inst.id].model == MODEL_COUNT || s->inst.id == INST_TCGEN05_SHIFT);
}

static void function(struct module *t, struct ptx_func *f)
{
	struct plan *plan = f->user;
	struct ptx_stmt *body = f->body;

	count_unwatched(t, f);
	t->number = ptx_alloc(t->m->arena, (plan->n + 1) * sizeof *t->number);
	for (uint32_t i = 0; i < plan->n; i++)
		t->number[i] = module_site(t->sites, &plan->item[i].site);
	t->e.piece = plan->piece;
	t->e.rows = plan->rows;
	t->e.polls = plan->polls;
	t->e.called = !f->entry;
	if (f->entry)
		emit_start(&t->e, 0);
	else
		emit_called(&t->e);
	ptx_insert_before(t->m, f, body, module_text(t));
	for (uint32_t i = 0; i < plan->n; i++)
		if (plan->item[i].kind != PLAN_MEMBER)
			probe_instruction(t, f, plan, i);
	if (f->entry)
		add_kernel(t, f, plan->piece);
	else
		put_returns(t, f);
}

/* Pieces of functions that are called are those of their kernels: all have one size; that of all modules, where others
 * may call them. */
static void plan_all(struct module *t, struct probe_what what)
{
	uint32_t piece = what.unit ? REGION_PIECE_MAX : 0;
	bool called = what.unit;

	t->facts = plan_facts(t->m);
	t->facts.stored = what.stored;
	for (struct ptx_stmt *s = t->m->first; s; s = s->next) {
		struct plan *p;

		if (s->kind != STMT_FUNC || !s->func->has_body)
			continue;
		s->func->user = p = plan_of(t->m->arena, s->func, t->facts);
		called |= !s->func->entry || p->calls;
		piece = p->piece > piece ? p->piece : piece;
	}
	for (struct ptx_stmt *s = t->m->first; s && called; s = s->next)
		if (s->kind == STMT_FUNC && s->func->has_body)
			((struct plan *)s->func->user)->piece = piece;
	t->called = called;
}

static struct ptx_stmt *first_function(const struct ptx_module *m)
{
	struct ptx_stmt *s = m->first;

	while (s && s->kind != STMT_FUNC)
		s = s->next;
	return s;
}

char *probe_module(const char *path, const char *text, struct probe_what what, struct probe_sites *sites, ptx_report_fn *report,
		   void *arg)
{
	struct module t = {.sites = sites, .scratch = {
		{.name = "%__gsan_hi", .kind = SYM_REG, .type = TYPE_B32}, {.name = "%__gsan_x", .kind = SYM_REG, .type = TYPE_B64}
	}};
	const struct event_site none = {0};

	*sites = (struct probe_sites){0};
	t.m = ptx_parse(path, text, strlen(text), report, arg);
	if (!t.m)
		return NULL;
	module_site(sites, &none);
	/* activemask: PTX 6.2; sm_75: 6.3. */
	t.m->version = t.m->version < 63 ? 63 : t.m->version;
	/* Special registers of clusters: PTX 7.8, sm_90. */
	t.e.clusters = t.m->sm >= 90 && t.m->version >= 78;
	t.e.unit = what.unit;
	plan_all(&t, what);
	for (struct ptx_stmt *s = t.m->first; s; s = s->next)
		if (s->kind == STMT_FUNC && s->func->has_body)
			function(&t, s->func);
	/* All modules that are linked have one of it. */
	if (t.called)
		ptx_insert_module(t.m, first_function(t.m), ".weak .global .align 8 .b64 " PROBE_LANES ";\n");
	if (what.unit)
		ptx_insert_module(t.m, first_function(t.m),
				  ptx_sprintf(t.m->arena, ".visible .global .align 4 .b32 " PROBE_FIRST "%s;\n", what.unit));
	t.e.out.len = 0;
	ptx_print(&t.e.out, t.m);
	ptx_put(&t.e.out, "", 1);
	ptx_free(t.m);
	return t.e.out.p;
}

void probe_sites_free(struct probe_sites *s)
{
	for (uint32_t i = 0; i < s->nkernels; i++)
		free((char *)(uintptr_t)s->kernel[i].name);
	free(s->kernel);
	free(s->run);
	free(s->site);
	*s = (struct probe_sites){0};
}
