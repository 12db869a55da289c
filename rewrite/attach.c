/* SPDX-License-Identifier: Apache-2.0
 *
 * attach.c: makes the module whole.  In front of everything goes the part of
 * the device runtime that the inserted calls reach, without linkage, so that
 * ptxas sees one program and linked objects do not clash; behind everything
 * the tables and the kernel that registers them.
 */
#include <string.h>

#include "rewrite/rw.h"

#define SITE_BASE "__gsan_site_base"

/* ---- the part of the runtime that is used ------------------------------------- */

static const struct rw_runtime *runtime_for(const struct ptx_module *m)
{
	/* Special registers of clusters: PTX 7.8, sm_90. */
	return &rw_runtimes[m->sm >= 90 && m->version >= 78 ? RW_VARIANT_SM90 : RW_VARIANT_ANY];
}

static void take(const struct rw_runtime *rt, bool *taken, unsigned k)
{
	if (taken[k])
		return;
	taken[k] = true;
	for (const unsigned short *n = rt->parts[k].needs; *n; n++)
		take(rt, taken, *n - 1u);
}

static void insert_runtime(struct rw *r, struct ptx_stmt *first)
{
	const struct rw_runtime *rt = runtime_for(r->m);
	bool *taken = ptx_alloc(r->m->arena, rt->n + 1);

	for (unsigned f = 0; f < RW_FN_COUNT; f++)
		if (r->used[f] && rt->fns[f])
			take(rt, taken, rt->fns[f] - 1u);
	for (unsigned k = 0; k < rt->n; k++) {
		/* A prototype goes where its definition goes. */
		taken[k] = taken[rt->parts[k].definition];
		/* Every module has a site base of its own. */
		if (!taken[k] || !strcmp(rt->parts[k].name, SITE_BASE))
			continue;
		ptx_insert_module(r->m, first, rt->parts[k].text);
		r->text.total += rt->parts[k].len;
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
uint64_t rw_hash(const char *s, size_t len)
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
	rw_putx(r, rw_hash(r->input, r->input_len));
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

/* The oldest module that can hold the runtime, or probes: PTX 6.3 and sm_70. */
enum { LEAST_PTX = 63, LEAST_SM = 70, PARITY_PTX = 71 };

void rw_raise_header(struct rw *r)
{
	struct ptx_module *m = r->m;

	if (m->version < LEAST_PTX) {
		r->stats->old_version = m->version;
		m->version = LEAST_PTX;
	}
	/* The runtime asks mbarriers for a phase by its parity. */
	if (r->used[RW_FN_MBAR_WAIT] && m->version < PARITY_PTX)
		m->version = PARITY_PTX;
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

	rw_raise_header(r);
	r->used[RW_FN_REGISTER] = true;
	rw_open(r);
	RW_PUT(r, ".global .align 4 .u32 " SITE_BASE " = 0;\n");
	if (r->options->extern_runtime)
		put_prototypes(r);
	ptx_insert_module(m, first, rw_close(r));
	if (!r->options->extern_runtime)
		insert_runtime(r, first);
	rw_open(r);
	rw_put_sites(r);
	put_init(r);
	ptx_insert_module(m, NULL, rw_close(r));
}
