/* SPDX-License-Identifier: Apache-2.0
 *
 * attach.c: makes the module whole.  In front of everything goes the part of
 * the device runtime that the inserted calls reach, without linkage, so that
 * ptxas sees one program and linked objects do not clash; behind everything
 * the tables and the kernel that registers them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rw.h"

/* One statement of the runtime, ready to be copied. */
struct part {
	const char *text;
	size_t len;
	bool taken_apart;               /* site_base: every module has its own */
	unsigned *needs;                /* parts it refers to */
	unsigned nneeds;
	bool define;                    /* a function's body, not its declaration */
	const struct ptx_sym *sym;
};

/* The runtime, parsed when first needed and never changed after. */
static struct runtime {
	struct part *parts;
	unsigned n;
} runtimes[RW_VARIANTS];

static const char *const fn_names[RW_FN_COUNT] = {
#define FN(id, name, result, params) [RW_FN_##id] = name,
#include "rewrite/calls.def"
};

#define SITE_BASE "__gsan_site_base"

/* ---- the runtime in parts -------------------------------------------------------- */

static void need(struct part *p, unsigned k, struct ptx_arena *a)
{
	for (unsigned i = 0; i < p->nneeds; i++)
		if (p->needs[i] == k)
			return;
	/* Doubled at every power of two. */
	if (!(p->nneeds & (p->nneeds - 1))) {
		unsigned *more = ptx_alloc(a, (p->nneeds ? p->nneeds * 2 : 1) * sizeof *more);

		if (p->nneeds)
			memcpy(more, p->needs, p->nneeds * sizeof *more);
		p->needs = more;
	}
	p->needs[p->nneeds++] = k;
}

/* sym->user of a module-level symbol is 1 + the number of its definition. */
static void need_sym(struct part *p, const struct ptx_sym *sym, struct ptx_arena *a)
{
	if (sym && sym->user)
		need(p, (unsigned)(uintptr_t)sym->user - 1, a);
}

static void need_operand(struct part *p, const struct ptx_operand *o, struct ptx_arena *a)
{
	need_sym(p, o->sym, a);
	for (unsigned i = 0; i < o->n; i++)
		need_operand(p, &o->list[i], a);
}

static void need_inits(struct part *p, const struct ptx_var *v, struct ptx_arena *a)
{
	for (; v; v = v->next)
		for (const struct ptx_init *in = v->inits; in; in = in->next)
			need_sym(p, in->sym, a);
}

static void find_needs(struct part *p, const struct ptx_stmt *s, struct ptx_arena *a)
{
	if (s->kind == STMT_VAR)
		need_inits(p, s->var, a);
	if (s->kind != STMT_FUNC)
		return;
	for (const struct ptx_stmt *b = s->func->body; b; b = b->next) {
		if (b->kind == STMT_VAR)
			need_inits(p, b->var, a);
		if (b->kind == STMT_INST)
			for (unsigned i = 0; i < b->inst.nops; i++)
				need_operand(p, &b->inst.ops[i], a);
	}
}

/* The runtime's own names carry the reserved prefix; what the compiler named
 * (statics, outlined functions) must not meet a name of the module. */
static void make_local(struct ptx_module *m, struct ptx_sym *sym, const char **link)
{
	*link = NULL;
	if (strncmp(sym->name, "__gsan_", 7)) {
		const char *name = ptx_sprintf(m->arena, "__gsan_v%d_%s", GSAN_ABI, sym->name);

		sym->name = ptx_intern(m->arena, name, strlen(name));
		if (sym->kind == SYM_FUNC)
			sym->func->name = sym->name;
	}
}

static struct ptx_sym *declared(const struct ptx_stmt *s)
{
	if (s->kind == STMT_FUNC)
		return s->func->sym;
	return s->kind == STMT_VAR ? s->var->sym : NULL;
}

/* Lists the parts, in order. */
static void list_parts(struct runtime *rt, struct ptx_module *m)
{
	unsigned n = 0;

	for (struct ptx_stmt *s = m->first; s; s = s->next)
		n += declared(s) != NULL;
	rt->parts = ptx_alloc(m->arena, (n + 1) * sizeof *rt->parts);
	for (struct ptx_stmt *s = m->first; s; s = s->next) {
		struct ptx_sym *sym = declared(s);
		struct part *p = &rt->parts[rt->n];

		if (!sym)
			continue;
		p->sym = sym;
		p->define = s->kind == STMT_VAR || s->func->has_body;
		p->taken_apart = !strcmp(sym->name, SITE_BASE);
		rt->n++;
		/* A declaration stands in until the definition comes. */
		if (p->define || !sym->user)
			sym->user = (void *)(uintptr_t)rt->n;
		if (s->kind == STMT_FUNC)
			make_local(m, sym, &s->func->link);
		else
			make_local(m, sym, &s->var->link);
	}
}

static void load(enum rw_variant variant)
{
	struct runtime *rt = &runtimes[variant];
	struct ptx_module *m = ptx_parse("gsan-runtime.ptx", rw_runtime[variant].p,
					 rw_runtime[variant].len, NULL, NULL);
	struct part *p;

	if (!m) {
		fputs("gsan: the device runtime built into this program does not parse\n", stderr);
		exit(3);
	}
	list_parts(rt, m);
	p = rt->parts;
	for (struct ptx_stmt *s = m->first; s; s = s->next) {
		struct ptx_buf out = { 0 };

		if (!declared(s))
			continue;
		find_needs(p, s, m->arena);
		ptx_print_stmt(&out, s);
		p->text = out.p;
		p->len = out.len;
		p++;
	}
}

static void load_any(void)
{
	load(RW_VARIANT_ANY);
}

static void load_sm90(void)
{
	load(RW_VARIANT_SM90);
}

static const struct runtime *runtime_for(const struct ptx_module *m)
{
	static pthread_once_t any = PTHREAD_ONCE_INIT, sm90 = PTHREAD_ONCE_INIT;

	/* Special registers of clusters: PTX 7.8, sm_90. */
	if (m->sm >= 90 && m->version >= 78) {
		pthread_once(&sm90, load_sm90);
		return &runtimes[RW_VARIANT_SM90];
	}
	pthread_once(&any, load_any);
	return &runtimes[RW_VARIANT_ANY];
}

static void take(const struct runtime *rt, bool *taken, unsigned k)
{
	const struct part *p = &rt->parts[k];

	if (taken[k])
		return;
	taken[k] = true;
	for (unsigned i = 0; i < p->nneeds; i++)
		take(rt, taken, p->needs[i]);
}

static void put_runtime(struct rw *r)
{
	const struct runtime *rt = runtime_for(r->m);
	bool *taken = ptx_alloc(r->m->arena, rt->n + 1);

	for (unsigned f = 0; f < RW_FN_COUNT; f++)
		for (unsigned k = 0; r->used[f] && k < rt->n; k++)
			if (rt->parts[k].define && !strcmp(rt->parts[k].sym->name, fn_names[f]))
				take(rt, taken, k);
	for (unsigned k = 0; k < rt->n; k++) {
		const struct part *p = &rt->parts[k];
		unsigned definition = (unsigned)(uintptr_t)p->sym->user - 1;

		if (p->taken_apart || !taken[definition])
			continue;
		rw_putn(r, p->text, p->len);
		if (p->len && p->text[p->len - 1] != '\n')
			RW_PUT(r, "\n");
	}
}

/* ---- prototypes, for a linker ------------------------------------------------ */

static void put_prototype(struct rw *r, const char *name, const char *result, const char *params)
{
	RW_PUT(r, ".extern .func ");
	if (*result)
		rw_puts(r, *result == 'l' ? "(.param .b64 __gsan_r) " : "(.param .b32 __gsan_r) ");
	rw_puts(r, name);
	RW_PUT(r, "(");
	for (unsigned k = 0; params[k]; k++) {
		rw_puts(r, k ? ", .param .b" : ".param .b");
		rw_puts(r, params[k] == 'l' ? "64 __gsan_" : "32 __gsan_");
		rw_putu(r, k);
	}
	RW_PUT(r, ");\n");
}

static void put_prototypes(struct rw *r)
{
#define FN(id, name, result, params) \
	if (r->used[RW_FN_##id]) \
		put_prototype(r, name, result, params);
#include "rewrite/calls.def"
}

/* ---- the rest ----------------------------------------------------------------- */

/* Tells apart the modules of one program: FNV-1a in steps of 8 bytes, with the
 * high half folded in so that every byte reaches every digit. */
static uint64_t text_hash(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u ^ len;

	for (; len >= 8; s += 8, len -= 8) {
		uint64_t w;

		memcpy(&w, s, 8);
		h = (h ^ w) * 0x100000001b3u;
		h ^= h >> 32;
	}
	for (; len; s++, len--)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h ^ h >> 29;
}

static void put_init(struct rw *r)
{
	RW_PUT(r, "\n.visible .entry __gsan_v1_init_");
	rw_putx(r, text_hash(r->input, r->input_len));
	RW_PUT(r, "(.param .u64 __gsan_mailbox)\n"
		"{\n"
		"\t.reg .b64 %__gsan_mailbox, %__gsan_module;\n"
		"\tld.param.u64 %__gsan_mailbox, [__gsan_mailbox];\n"
		"\tmov.u64 %__gsan_module, __gsan_module;\n"
		"\tcvta.global.u64 %__gsan_module, %__gsan_module;\n"
		"\tcall __gsan_v1_register, (%__gsan_mailbox, %__gsan_module);\n"
		"\tret;\n"
		"}\n");
	_Static_assert(GSAN_ABI == 1, "names above and in calls.def carry the ABI's number");
}

/* The oldest module that can hold the runtime: PTX 6.3 and sm_70. */
enum { LEAST_PTX = 63, LEAST_SM = 70 };

static void raise_header(struct rw *r)
{
	struct ptx_module *m = r->m;

	if (m->version < LEAST_PTX) {
		r->stats->old_version = m->version;
		m->version = LEAST_PTX;
	}
	if (m->sm < LEAST_SM) {
		const char *rest = strchr(m->target, ',');

		r->stats->old_sm = m->sm;
		m->sm = LEAST_SM;
		m->sm_suffix = 0;
		m->target = ptx_sprintf(m->arena, "sm_%d%s", LEAST_SM, rest ? rest : "");
	}
}

void rw_attach(struct rw *r)
{
	struct ptx_module *m = r->m;
	struct ptx_stmt *first = m->first;

	raise_header(r);
	r->used[RW_FN_REGISTER] = true;
	rw_open(r);
	RW_PUT(r, ".global .align 4 .u32 " SITE_BASE " = 0;\n");
	if (r->options->extern_runtime)
		put_prototypes(r);
	else
		put_runtime(r);
	ptx_insert_module(m, first, rw_close(r));
	rw_open(r);
	rw_put_sites(r);
	put_init(r);
	ptx_insert_module(m, NULL, rw_close(r));
}
