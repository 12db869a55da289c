/* SPDX-License-Identifier: Apache-2.0
 *
 * events_site.c: the sites of each module that is loaded, and the site of each op.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/events_impl.h"
#include "probe/derive.h"
#include "probe/site.h"

struct table {
	struct table *next;
	const struct emu_module *mod;
	unsigned funcs;                 /* that are loaded */
	struct event_site *site;        /* [0]: none */
	uint32_t n, cap;
	struct ptx_buf text;
	struct derive *derive;
	struct event_origin *origin;
	uint32_t norigins;
};

struct of_func { struct table *table; uint32_t site[]; };       /* by op; 0: none */

static struct table *tables;

static struct table *table_of(const struct emu_module *mod)
{
	struct table *t;

	for (t = tables; t && t->mod != mod; t = t->next)
		;
	if (t)
		return t;
	t = evt_alloc(sizeof *t);
	t->mod = mod;
	t->n = t->cap = 1;
	t->site = evt_alloc(sizeof *t->site);
	ptx_put(&t->text, "", 1);
	t->derive = derive_of(mod->ptx->arena, mod->ptx);
	t->next = tables;
	tables = t;
	return t;
}

/* Its text, on one line. */
static uint32_t text_of(struct table *t, const struct ptx_stmt *stmt)
{
	uint32_t at = (uint32_t)t->text.len;
	struct ptx_buf b = {0};
	size_t from = 0;

	ptx_print_stmt(&b, stmt);
	while (from < b.len && (b.p[from] == '\t' || b.p[from] == ' '))
		from++;
	while (b.len > from && b.p[b.len - 1] == '\n')
		b.len--;
	ptx_put(&t->text, b.p + from, b.len - from);
	ptx_put(&t->text, "", 1);
	free(b.p);
	return at;
}

static uint32_t add_site(struct table *t, const struct ptx_func *f, const struct ptx_stmt *stmt)
{
	struct event_site s;

	if (!probe_site(&s, &stmt->inst))
		return 0;
	if (t->n == t->cap) {
		t->cap *= 2;
		t->site = realloc(t->site, t->cap * sizeof *t->site);
		if (!t->site)
			abort();
	}
	derive_origins(t->derive, f, stmt, t->n, &t->origin, &t->norigins);
	s.line = stmt->line;
	s.text = text_of(t, stmt);
	t->site[t->n] = s;
	return t->n++;
}

void evt_load(struct emu_func *f, unsigned slot)
{
	const struct ptx_stmt *last = NULL;
	struct of_func *of;
	uint32_t site = 0;

	if (f->injected)
		return;
	of = evt_alloc(sizeof *of + f->nops * sizeof *of->site);
	of->table = table_of(f->mod);
	of->table->funcs++;
	for (unsigned i = 0; i < f->nops; i++) {
		const struct ptx_stmt *stmt = f->ops[i].stmt;

		if (stmt != last)
			site = stmt && stmt->kind == STMT_INST ? add_site(of->table, f->ptx, stmt) : 0;
		last = stmt;
		of->site[i] = site;
	}
	f->heard[slot] = of;
}

static void drop(struct table *t)
{
	struct table **at = &tables;

	if (--t->funcs)
		return;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	free(t->site);
	free(t->origin);
	free(t->text.p);
	free(t);
}

void evt_unload(struct emu_func *f, unsigned slot)
{
	struct of_func *of = f->heard[slot];

	if (of)
		drop(of->table);
	free(of);
	f->heard[slot] = NULL;
}

const struct event_site *evt_site(const struct emu_op *op, unsigned slot, uint32_t *number)
{
	const struct of_func *of = op ? op->func->heard[slot] : NULL;

	*number = of ? of->site[op - op->func->ops] : 0;
	return *number ? &of->table->site[*number] : NULL;
}

void evt_tell_sites(const struct emu_func *f, unsigned slot)
{
	const struct of_func *of = f->heard[slot];
	struct event_sites s;

	memset(&s, 0, sizeof s);
	s.site = of->table->site;
	s.nsites = of->table->n;
	s.text = of->table->text.p;
	s.origin = of->table->origin;
	s.norigins = of->table->norigins;
	evt_sink->sites(evt_sink->arg, &s);
}

void evt_tell_places(const struct emu_grid *g, uint32_t launch, unsigned slot)
{
	const struct of_func *of = g->func->heard[slot];
	const struct derive *d = of->table->derive;
	struct event_host h;

	memset(&h, 0, sizeof h);
	h.kind = EVENT_HOST_VARIABLE;
	h.launch = launch;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct ptx_sym *sym = d->variable[i].sym;
		const struct emu_place *p = sym->user;

		if (!p || p->space != SPACE_SHARED || g->func->shared_at[p->at] == EMU_ALL)
			continue;
		h.place = (struct event_place){i, g->func->shared_at[p->at], (uint32_t)(d->variable[i].dynamic ? g->smem_dynamic : sym->bytes)};
		evt_sink->host(evt_sink->arg, &h);
	}
}

/* ---- memory ------------------------------------------------------------------------------------------ */

struct telling { struct event_host h; const void *stream; };

/* What was freed in the order of another stream may be there. */
static void tell_block(void *arg, const struct emu_block_mem *b)
{
	struct telling *t = arg;

	t->h.block.at = b->base;
	t->h.block.bytes = b->bytes;
	if (t->h.block.kind != EVENT_BLOCK_FREED)
		t->h.block.kind = b->kind == MEM_DEVICE || b->kind == MEM_MANAGED ? EVENT_BLOCK_ALLOCATED : EVENT_BLOCK_THERE;
	if (!b->stream || b->stream == t->stream)
		evt_sink->host(evt_sink->arg, &t->h);
}

void evt_tell_memory(const struct emu_grid *g, uint32_t launch)
{
	struct telling t = {.stream = emu_grid_stream(g)};

	t.h.launch = launch;
	t.h.kind = EVENT_HOST_MEMORY;
	evt_sink->host(evt_sink->arg, &t.h);
	t.h.kind = EVENT_HOST_BLOCK;
	emu_mem_each(false, tell_block, &t);
	t.h.block.kind = EVENT_BLOCK_FREED;
	emu_mem_each(true, tell_block, &t);
}
