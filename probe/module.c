/* SPDX-License-Identifier: Apache-2.0
 *
 * module.c: all of a module: its functions' plans, their starts, calls and returns, the kernels' parameter, the sites.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/bits.h"
#include "probe/module.h"
#include "probe/outside.h"
#include "probe/perturb.h"

/* A number in the PTX of start.ptx and refill.ptx. */
EVENT_ASSERT(EVENT_MAGIC == 0x67736e01u);

static const uint64_t launch_bytes[] = {sizeof(struct region_launch)};

const char *module_text(struct module *t)
{
	const int len = (int)t->e.out.len;
	const char *text = len ? t->e.out.p : "", *s;
	const unsigned label = t->e.labels;

	t->e.labels += t->marks && len;
	s = t->marks && len ? ptx_sprintf(t->m->arena, PROBE_IN "%u:\n%.*s" PROBE_OUT "%u:\n", label, len, text, label) :
			      ptx_sprintf(t->m->arena, "%.*s", len, text);
	t->e.out.len = 0;
	return s;
}

static void add_variables(struct module *t)
{
	struct probe_sites *s = t->sites;

	s->variable = malloc((t->derive->n + 1) * sizeof *s->variable);
	if (!s->variable)
		abort();
	for (uint32_t i = 0; i < t->derive->n; i++) {
		const struct derive_variable *v = &t->derive->variable[i];

		s->variable[s->nvariables++] = (struct probe_variable){strdup(v->sym->name), (uint32_t)v->sym->bytes, v->dynamic};
	}
}

/* Those whose places a kernel tells. */
static void tell_variables(struct module *t, const struct ptx_func *f)
{
	struct emit_variable *v = ptx_alloc(t->m->arena, DERIVE_MOST * sizeof *v);
	uint32_t number[DERIVE_MOST];

	t->e.variable = v;
	t->e.nvariables = derive_used(t->derive, t->m->arena, t->m, f, number);
	for (uint32_t i = 0; i < t->e.nvariables; i++)
		v[i] = (struct emit_variable){t->derive->variable[number[i]].sym->name, number[i]};
}

/* Where a function begins: behind the declarations of its variables of shared memory that stand in front of everything. */
static struct ptx_stmt *start_of(const struct module *t, const struct ptx_func *f)
{
	struct ptx_stmt *at = f->body;

	for (struct ptx_stmt *s = f->body; s && s->kind != STMT_INST && s->kind != STMT_LABEL && s->kind != STMT_OPEN; s = s->next)
		for (uint32_t i = 0; s->kind == STMT_VAR && i < t->derive->n; i++)
			at = t->derive->variable[i].sym == s->var->sym ? s->next : at;
	return at;
}

uint32_t module_site(struct module *t, const struct event_site *site, const struct ptx_stmt *stmt)
{
	struct probe_sites *s = t->sites;

	if (!(s->n & (s->n - 1))) {     /* there is room for a power of two */
		s->site = realloc(s->site, (s->n ? 2 * s->n : 1) * sizeof *s->site);
		s->place = realloc(s->place, (s->n ? 2 * s->n : 1) * sizeof *s->place);
		if (!s->site || !s->place)
			abort();
	}
	if (stmt)
		derive_origins(t->derive, t->f, stmt, s->n, &s->origin, &s->norigins);
	s->site[s->n] = *site;
	s->place[s->n] = (struct probe_place){t->f, stmt};
	return s->n++;
}

void module_leave_out(struct module *t, const struct ptx_stmt *stmt)
{
	t->sites->first = t->sites->left_out++ ? t->sites->first : stmt->line;
}

/* Where a parameter of 8 bytes' alignment lies behind others (PTX ISA, "Kernel Function Parameters"). */
static uint32_t end_of_params(const struct ptx_func *f)
{
	uint64_t at = 0;

	for (const struct ptx_var *v = f->params; v; v = v->next) {
		uint64_t own = ptx_type_bits(v->sym->type) / 8, align = v->sym->align ? v->sym->align : own ? own : 1;

		at = (at + align - 1) / align * align + v->sym->bytes;
	}
	return (uint32_t)((at + 7) / 8 * 8);
}

static void add_kernel(struct module *t, struct ptx_func *f, uint32_t piece)
{
	struct probe_sites *s = t->sites;
	struct ptx_sym *sym = ptx_alloc(t->m->arena, sizeof *sym);
	struct ptx_var *v = ptx_alloc(t->m->arena, sizeof *v), **last = &f->params;

	s->kernel = realloc(s->kernel, (s->nkernels + 1) * sizeof *s->kernel);
	if (!s->kernel)
		abort();
	s->kernel[s->nkernels++] = (struct probe_kernel){
		.name = strdup(f->name), .piece = piece, .flat = t->facts.flat, .nparams = f->nparams, .offset = end_of_params(f),
		.maps = t->maps
	};
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

/* The program's own masks. */
static void put_masks(struct module *t, struct ptx_func *f)
{
	for (struct ptx_stmt *s = f->body; s; s = s->next)
		if (s->kind == STMT_INST && s->inst.id == INST_ACTIVEMASK && s->inst.nops && s->inst.ops[0].kind == OP_SYM) {
			emit_mask_of_lane(&t->e, &s->inst, s->inst.ops[0].sym->name);
			ptx_insert_after(t->m, f, s, module_text(t));
		}
}

static void count_unwatched(struct module *t, const struct ptx_func *f)
{
	for (const struct ptx_stmt *s = f->body; s; s = s->next) {
		if (s->kind != STMT_INST)
			continue;
		t->sites->unwatched += ptx_insts[s->inst.id].model == MODEL_COUNT || s->inst.id == INST_TCGEN05_SHIFT;
		/* What is known by name alone has a record that it may have ordered anything. */
		if (ptx_insts[s->inst.id].model == MODEL_SYNC || ptx_inst_lax(&s->inst))
			module_leave_out(t, s);
	}
}

static void function(struct module *t, struct ptx_func *f)
{
	struct plan *plan = f->user;
	struct ptx_stmt *body = start_of(t, f);

	t->f = f;
	t->maps = 0;
	count_unwatched(t, f);
	put_masks(t, f);
	bits_put(t->m, f);
	t->number = ptx_alloc(t->m->arena, (plan->n + 1) * sizeof *t->number);
	for (uint32_t i = 0; i < plan->n; i++)
		t->number[i] = module_site(t, &plan->item[i].site, plan->item[i].stmt);
	t->e.piece = plan->piece;
	t->e.rows = plan->rows;
	t->e.polls = plan->polls;
	t->e.called = !f->entry;
	t->e.outside = outside_wanted(plan, t->inline_most) ? t->outside : NULL;
	if (f->entry) {
		tell_variables(t, f);
		emit_start(&t->e, 0);
	} else
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

bool probe_leaves(const struct ptx_func *f, const char *const *leave)
{
	for (; leave && *leave; leave++)
		if (!strcmp(f->name, *leave))
			return true;
	return false;
}

/* Pieces of functions that are called are those of their kernels: all have one size; that of all modules, where others
 * may call them. */
static void plan_all(struct module *t, struct probe_what what)
{
	uint32_t piece = what.unit ? REGION_PIECE_MAX : 0;
	bool called = what.unit;

	t->facts = plan_facts(t->m);
	t->facts.gather = what.gather;
	t->facts.stored = what.stored;
	for (struct ptx_stmt *s = t->m->first; s; s = s->next) {
		struct plan *p;

		if (s->kind != STMT_FUNC || !s->func->has_body)
			continue;
		s->func->user = p = plan_of(t->m->arena, s->func, t->facts);
		called |= !s->func->entry || p->calls;
		piece = p->piece > piece ? p->piece : piece;
	}
	for (struct ptx_stmt *s = t->m->first; s && !called; s = s->next)
		if (s->kind == STMT_FUNC && s->func->has_body && probe_leaves(s->func, what.leave))
			s->func->user = NULL;
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

/* What launches log into that nobody watches: a region that has been full from the start, and that nobody empties.  No
 * more of it is read than its head, and the parameter's copy behind that. */
static void put_sink(struct module *t)
{
	const struct { struct region_head head; struct region_launch launch; } sink = {
		.head = {.next = REGION_OVER, .last = REGION_SINK_LAST, .cut = 1, .since = UINT64_MAX},
		.launch = {.last = REGION_SINK_LAST}
	};
	uint32_t words[sizeof sink / sizeof(uint32_t)];
	struct ptx_buf text = {0};
	char line[80];

	memcpy(words, &sink, sizeof words);
	snprintf(line, sizeof line, ".global .align 16 .b32 " PROBE_SINK "[%zu] = ",
		 REGION_SINK * sizeof(struct event_unit) / sizeof *words);
	ptx_puts(&text, line);
	for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
		snprintf(line, sizeof line, "%s%u", i ? ", " : "{", words[i]);
		ptx_puts(&text, line);
	}
	ptx_insert_module(t->m, first_function(t->m), ptx_sprintf(t->m->arena, "%.*s};\n", (int)text.len, text.p));
	free(text.p);
}

void probe_put(struct ptx_module *m, struct probe_what what, struct probe_sites *sites)
{
	struct module t = {.m = m, .sites = sites, .scratch = ptx_alloc(m->arena, 2 * sizeof *t.scratch)};
	const struct event_site none = {0};

	*sites = (struct probe_sites){0};
	t.scratch[0] = (struct ptx_sym){.name = "%__gsan_hi", .kind = SYM_REG, .type = TYPE_B32};
	t.scratch[1] = (struct ptx_sym){.name = "%__gsan_x", .kind = SYM_REG, .type = TYPE_B64};
	module_site(&t, &none, NULL);
	/* activemask: PTX 6.2; sm_75: 6.3. */
	m->version = m->version < 63 ? 63 : m->version;
	/* Special registers of clusters: PTX 7.8, sm_90. */
	t.e.clusters = m->sm >= 90 && m->version >= 78;
	t.e.unit = what.unit;
	t.marks = what.marks;
	t.outside = outside_new(m->arena);
	t.inline_most = what.inline_most == PROBE_INLINE_NONE ? 0 : what.inline_most ? what.inline_most : OUTSIDE_INLINE_MOST;
	t.derive = derive_of(m->arena, m);
	add_variables(&t);
	if (what.perturb)
		perturb_put(m, &what);
	plan_all(&t, what);
	for (struct ptx_stmt *s = m->first; s; s = s->next)
		if (s->kind == STMT_FUNC && s->func->has_body && s->func->user)
			function(&t, s->func);
	/* Modules that are linked have one mark and one table of lanes. */
	if (sites->nkernels)
		ptx_insert_module(m, first_function(m), ".weak .global .align 4 .b32 " PROBE_MARK ";\n");
	if (t.called)
		ptx_insert_module(m, first_function(m), ".weak .global .align 8 .b64 " PROBE_LANES ";\n");
	if (what.unit)
		ptx_insert_module(m, first_function(m),
				  ptx_sprintf(m->arena, ".visible .global .align 4 .b32 " PROBE_FIRST "%s;\n", what.unit));
	if (sites->nkernels)
		put_sink(&t);
	if (*outside_text(t.outside))
		ptx_insert_module(m, first_function(m), outside_text(t.outside));
	sites->called = t.called;
	free(t.e.out.p);
}

char *probe_module(const char *path, const char *text, struct probe_what what, struct probe_sites *sites, ptx_report_fn *report,
		   void *arg)
{
	struct ptx_module *m = ptx_parse(path, text, strlen(text), report, arg);
	struct ptx_buf out = {0};

	*sites = (struct probe_sites){0};
	if (!m)
		return NULL;
	probe_put(m, what, sites);
	ptx_print(&out, m);
	ptx_put(&out, "", 1);
	ptx_free(m);
	return out.p;
}

void probe_sites_free(struct probe_sites *s)
{
	for (uint32_t i = 0; i < s->nkernels; i++)
		free((char *)(uintptr_t)s->kernel[i].name);
	for (uint32_t i = 0; i < s->nvariables; i++)
		free((char *)(uintptr_t)s->variable[i].name);
	free(s->variable);
	free(s->origin);
	free(s->kernel);
	free(s->run);
	free(s->place);
	free(s->site);
	*s = (struct probe_sites){0};
}
