/* SPDX-License-Identifier: Apache-2.0
 *
 * load.c: PTX text becomes a module: variables get memory and their initial
 * values, functions addresses, kernels their shared memory's layout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/listen.h"

/* Every function that was ever loaded, by address; slots are used again. */
static struct emu_func **by_address;
static unsigned naddresses, capaddresses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define FUNC_STRIDE 16

static void func_register(struct emu_func *f)
{
	unsigned i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < naddresses && by_address[i]; i++)
		;
	if (i == naddresses) {
		if (naddresses == capaddresses) {
			capaddresses = capaddresses ? capaddresses * 2 : 256;
			by_address = realloc(by_address, capaddresses * sizeof(struct emu_func *));
			if (!by_address)
				abort();
		}
		naddresses++;
	}
	by_address[i] = f;
	f->address = EMU_FUNC_WINDOW + (uint64_t)(i + 1) * FUNC_STRIDE;
	pthread_mutex_unlock(&lock);
}

struct emu_func *emu_func_at(uint64_t address)
{
	uint64_t off = address - EMU_FUNC_WINDOW;
	struct emu_func *f = NULL;

	pthread_mutex_lock(&lock);
	if (off % FUNC_STRIDE == 0 && off && off / FUNC_STRIDE <= naddresses)
		f = by_address[off / FUNC_STRIDE - 1];
	pthread_mutex_unlock(&lock);
	return f;
}

struct emu_func *emu_func_find(struct emu_module *mod, const char *name)
{
	for (unsigned i = 0; i < mod->nfuncs; i++)
		if (!strcmp(mod->funcs[i]->name, name))
			return mod->funcs[i];
	return NULL;
}

void emu_func_calls(struct emu_func *f, struct emu_func *callee)
{
	for (unsigned i = 0; i < f->ncalls; i++)
		if (f->calls[i] == callee)
			return;
	f->calls = realloc(f->calls, (f->ncalls + 1) * sizeof(struct emu_func *));
	if (!f->calls)
		abort();
	f->calls[f->ncalls++] = callee;
}

/* ---- variables of the module ------------------------------------------------------- */

static bool is_extern(const struct ptx_var *v)
{
	return v->link && strstr(v->link, ".extern");
}

static void put_place(struct emu_module *mod, struct ptx_sym *s, enum ptx_space space, uint64_t at)
{
	struct emu_place *p = ptx_alloc(mod->ptx->arena, sizeof *p);

	p->space = space;
	p->at = at;
	s->user = p;
}

/* Offsets in the two segments first; emu_place.at becomes an address when they
 * exist.  Function scopes may hold .global and .const variables, too. */
static void place_var(struct emu_module *mod, struct ptx_var *v, uint64_t size[2])
{
	for (; v; v = v->next) {
		struct ptx_sym *s = v->sym;
		uint64_t align = emu_align_of(s), *end;

		if (s->space == SPACE_SHARED && !s->user) {
			put_place(mod, s, SPACE_SHARED, emu_shared_new(mod, v));
			continue;
		}
		if (s->space != SPACE_GLOBAL && s->space != SPACE_CONST)
			continue;
		if (s->user || (is_extern(v) && !s->bytes))
			continue;
		end = &size[s->space == SPACE_CONST];
		*end = (*end + align - 1) / align * align;
		put_place(mod, s, s->space, *end);
		*end += s->bytes;
	}
}

static void each_var(struct emu_module *mod, bool inner,
		     void (*fn)(struct emu_module *, struct ptx_var *, uint64_t *), uint64_t *arg)
{
	for (struct ptx_stmt *s = mod->ptx->first; s; s = s->next) {
		if (s->kind == STMT_VAR)
			fn(mod, s->var, arg);
		if (s->kind != STMT_FUNC || !inner)
			continue;
		for (struct ptx_stmt *t = s->func->body; t; t = t->next)
			if (t->kind == STMT_VAR)
				fn(mod, t->var, arg);
	}
}

static void to_address(struct emu_module *mod, struct ptx_var *v, uint64_t *unused)
{
	(void)unused;
	for (; v; v = v->next) {
		struct emu_place *p = v->sym->user;

		if (p && (v->sym->space == SPACE_GLOBAL || v->sym->space == SPACE_CONST))
			p->at += mod->segment[v->sym->space == SPACE_CONST];
	}
}

static uint64_t init_value(const struct ptx_init *in)
{
	const struct emu_place *p;
	const struct emu_func *f;
	uint64_t v = in->ival;

	if (in->sym && in->sym->kind == SYM_FUNC) {
		f = in->sym->user;
		v += f ? f->address : 0;
	} else if (in->sym) {
		p = in->sym->user;
		v += p ? p->at : 0;
		if (p && p->space == SPACE_SHARED && in->generic)
			v += EMU_SHARED_WINDOW;
	}
	if (in->mask)
		v = (v & in->mask) >> __builtin_ctzll(in->mask);
	return v;
}

static uint64_t float_bits(const struct ptx_init *in, unsigned bits)
{
	double d;
	float f;
	uint32_t u = (uint32_t)in->ival;
	uint64_t v = in->ival;

	if (in->isdouble && bits == 32) {
		memcpy(&d, &v, sizeof d);
		f = (float)d;
		memcpy(&u, &f, sizeof u);
		return u;
	}
	if (!in->isdouble && bits == 64) {
		memcpy(&f, &u, sizeof f);
		d = f;
		memcpy(&v, &d, sizeof v);
	}
	return v;
}

static void init_var(struct emu_module *mod, struct ptx_var *v, uint64_t *unused)
{
	(void)unused;
	(void)mod;
	for (; v; v = v->next) {
		const struct emu_place *p = v->sym->user;
		unsigned bits = ptx_type_bits(v->sym->type);
		uint64_t off = 0;

		if (!p || (p->space != SPACE_GLOBAL && p->space != SPACE_CONST))
			continue;
		if (bits > 64)
			bits = 64;
		for (const struct ptx_init *in = v->inits; in && off + bits / 8 <= v->sym->bytes;
		     in = in->next) {
			uint64_t value = in->isfloat ? float_bits(in, bits) : init_value(in);

			if (in->sym && in->sym->kind == SYM_FUNC && in->sym->user)
				((struct emu_func *)in->sym->user)->address_taken = true;
			memcpy((void *)(uintptr_t)(p->at + off), &value, bits / 8);
			off += bits / 8;
		}
	}
}

/* ---- shared memory of kernels --------------------------------------------------------- */

static void reach(struct emu_module *mod, struct emu_func *f, bool *seen_func, bool *seen_var)
{
	unsigned i;

	for (i = 0; i < mod->nfuncs && mod->funcs[i] != f; i++)
		;
	if (i == mod->nfuncs || seen_func[i])
		return;
	seen_func[i] = true;
	for (i = 0; i < f->nuses_shared; i++)
		seen_var[f->uses_shared[i]] = true;
	for (i = 0; i < f->ncalls; i++)
		reach(mod, f->calls[i], seen_func, seen_var);
	for (i = 0; f->calls_any && i < mod->nfuncs; i++)
		if (mod->funcs[i]->address_taken)
			reach(mod, mod->funcs[i], seen_func, seen_var);
}

static void layout(struct emu_module *mod, struct emu_func *f)
{
	bool *seen_func = calloc(mod->nfuncs + 1, sizeof *seen_func);
	bool *seen_var = calloc(mod->nshared + 1, sizeof *seen_var);
	uint64_t end = EMU_SMEM_RESERVED, dynamic_align = 1;

	if (!seen_func || !seen_var)
		abort();
	reach(mod, f, seen_func, seen_var);
	f->shared_at = ptx_alloc(mod->ptx->arena, (mod->nshared + 1) * sizeof *f->shared_at);
	for (unsigned i = 0; i < mod->nshared; i++) {
		const struct emu_shared *s = &mod->shared[i];

		f->shared_at[i] = EMU_ALL;
		if (!seen_var[i])
			continue;
		if (s->dynamic) {
			if (dynamic_align < 16)
				dynamic_align = 16;
			if (dynamic_align < s->align)
				dynamic_align = s->align;
			continue;
		}
		end = (end + s->align - 1) / s->align * s->align;
		f->shared_at[i] = (uint32_t)end;
		end += s->bytes;
	}
	end = (end + dynamic_align - 1) / dynamic_align * dynamic_align;
	for (unsigned i = 0; i < mod->nshared; i++)
		if (seen_var[i] && mod->shared[i].dynamic)
			f->shared_at[i] = (uint32_t)end;
	f->static_smem = end - EMU_SMEM_RESERVED;
	free(seen_func);
	free(seen_var);
}

/* ---- functions ------------------------------------------------------------------------------ */

static struct emu_func *func_new(struct emu_module *mod, struct ptx_func *p)
{
	struct emu_func *f = ptx_alloc(mod->ptx->arena, sizeof *f);

	f->name = p->name;
	f->mod = mod;
	f->ptx = p;
	f->entry = p->entry;
	func_register(f);
	mod->funcs = realloc(mod->funcs, (mod->nfuncs + 1) * sizeof(struct emu_func *));
	if (!mod->funcs)
		abort();
	mod->funcs[mod->nfuncs++] = f;
	mod->instrumented |= emu_is_injected(f);
	emu_mem_judged |= mod->instrumented;
	return f;
}

static void find_funcs(struct emu_module *mod)
{
	for (struct ptx_stmt *s = mod->ptx->first; s; s = s->next) {
		struct emu_func *f;

		if (s->kind != STMT_FUNC)
			continue;
		f = emu_func_find(mod, s->func->name);
		if (!f)
			f = func_new(mod, s->func);
		else if (s->func->has_body)
			f->ptx = s->func;
		s->func->sym->user = f;
	}
	for (unsigned i = 0; i < mod->nfuncs; i++)
		if (!mod->funcs[i]->ptx->has_body)
			mod->funcs[i]->builtin = emu_builtin_find(mod->funcs[i]->name);
}

/* .alias a, b: a is declared like b and is b. */
static void find_aliases(struct emu_module *mod)
{
	for (struct ptx_stmt *s = mod->ptx->first; s; s = s->next) {
		struct emu_func *a, *b;
		char x[256], y[256];

		if (s->kind != STMT_ALIAS ||
		    sscanf(s->t.text, " .alias %255[^, \t\n] , %255[^; \t\n]", x, y) != 2)
			continue;
		a = emu_func_find(mod, x);
		b = emu_func_find(mod, y);
		if (a && b && !a->ops)
			a->alias = b;
	}
}

static void report(void *arg, const char *path, const struct ptx_error *e)
{
	struct ptx_buf *log = arg;
	char line[512];

	snprintf(line, sizeof line, "%s:%u:%u: error: %s\n", path, e->line, e->col, e->text);
	ptx_puts(log, line);
	if (e->source) {
		snprintf(line, sizeof line, "%s\n", e->source);
		ptx_puts(log, line);
	}
}

struct emu_module *emu_module_new(const char *name, const char *text, size_t len,
				  struct ptx_buf *log, CUresult *err)
{
	struct ptx_module *ptx = ptx_parse(name, text, len, report, log);
	struct emu_module *mod;
	uint64_t size[2] = {0, 0};
	char line[256];

	*err = CUDA_ERROR_INVALID_PTX;
	if (!ptx)
		return NULL;
	if (ptx->sm > emu_m.sm_version) {
		snprintf(line, sizeof line, "%s: target %s is newer than this device, sm_%u\n", name,
			 ptx->target, emu_m.sm_version);
		ptx_puts(log, line);
		*err = CUDA_ERROR_NO_BINARY_FOR_GPU;
		ptx_free(ptx);
		return NULL;
	}
	mod = calloc(1, sizeof *mod);
	if (!mod)
		abort();
	mod->ptx = ptx;
	mod->name = strdup(name);
	find_funcs(mod);
	each_var(mod, false, place_var, size);
	for (struct ptx_stmt *s = ptx->first; s; s = s->next) {
		if (s->kind != STMT_FUNC)
			continue;
		for (struct ptx_stmt *t = s->func->body; t; t = t->next)
			if (t->kind == STMT_VAR && t->var && (t->var->sym->space == SPACE_GLOBAL ||
							      t->var->sym->space == SPACE_CONST))
				place_var(mod, t->var, size);
	}
	for (unsigned i = 0; i < 2; i++) {
		mod->segment[i] = size[i] ? emu_mem_new(size[i], MEM_MODULE, i) : 0;
		if (size[i] && !mod->segment[i]) {
			*err = CUDA_ERROR_OUT_OF_MEMORY;
			emu_module_free(mod);
			return NULL;
		}
		if (size[i])
			memset((void *)(uintptr_t)mod->segment[i], 0, size[i]);
	}
	each_var(mod, true, to_address, NULL);
	for (unsigned i = 0; i < mod->nfuncs; i++)
		emu_decode(mod->funcs[i]);
	each_var(mod, true, init_var, NULL);
	find_aliases(mod);
	for (unsigned i = 0; i < mod->nfuncs; i++)
		if (mod->funcs[i]->entry && mod->funcs[i]->ops)
			layout(mod, mod->funcs[i]);
	*err = CUDA_SUCCESS;
	return mod;
}

void emu_module_free(struct emu_module *mod)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < mod->nfuncs; i++)
		by_address[(mod->funcs[i]->address - EMU_FUNC_WINDOW) / FUNC_STRIDE - 1] = NULL;
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < mod->nfuncs; i++) {
		emu_tell_unload(mod->funcs[i]);
		free(mod->funcs[i]->ops);
		free(mod->funcs[i]->uses_shared);
		free(mod->funcs[i]->calls);
	}
	for (unsigned i = 0; i < 2; i++)
		if (mod->segment[i])
			emu_mem_delete(mod->segment[i], MEM_MODULE);
	free(mod->funcs);
	free(mod->shared);
	free(mod->consts);
	free(mod->name);
	ptx_free(mod->ptx);
	free(mod);
}
