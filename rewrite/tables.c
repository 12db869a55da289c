/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.c: a module with probes: what it carries for the host (event/module.h).
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/module.h"
#include "probe/probe.h"
#include "rewrite/rw.h"

static void dump_origins(FILE *to, const struct probe_sites *s, uint32_t site)
{
	static const char *const words[] = {[EVENT_OF_AT] = "at", [EVENT_OF_FROM] = "from", [EVENT_OF_MBAR] = "mbarrier at"};

	for (uint32_t i = 0; i < s->norigins; i++)
		if (s->origin[i].site == site)
			fprintf(to, "\t%s %s\n", words[s->origin[i].address], s->variable[s->origin[i].variable].name);
}

/* What is logged, by the lines of the input. */
static void dump_sites(const struct rw *r, const struct probe_sites *s)
{
	FILE *to = r->options->dump_to ? r->options->dump_to : stderr;
	char text[256];

	if (!r->options->dump || !strchr(r->options->dump, 'P'))
		return;
	for (uint32_t i = 1; i < s->n; i++) {
		event_print_site(text, sizeof text, &s->site[i]);
		fprintf(to, "line %u: %s\n", s->site[i].line, text);
		dump_origins(to, s, i);
		for (uint32_t k = 0; k < s->site[i].nrun; k++)
			fprintf(to, "\tand line %u, %" PRId32 " on\n", s->site[s->run[s->site[i].run + k].site].line,
				s->run[s->site[i].run + k].offset);
	}
}

/* Accesses, and what orders them; what stands for several accesses is none itself. */
static void count_site(struct gsan_rewrite_stats *n, const struct event_site *s)
{
	switch (s->kind) {
	case EVENT_ACCESS:
		n->reads += !s->nrun && s->does & EVENT_READS;
		n->writes += !s->nrun && s->does & EVENT_WRITES;
		n->matrices += !s->nrun && s->flags & EVENT_ALIGNED;
		n->ranges += !s->nrun && !s->size && !s->shape[0];
		break;
	case EVENT_STRONG:
		n->strong++;
		break;
	case EVENT_FENCE: case EVENT_MAP_FENCE:
		n->fences++;
		break;
	case EVENT_BAR_ARRIVE: case EVENT_BAR_WAIT: case EVENT_CLUSTER_ARRIVE: case EVENT_CLUSTER_WAIT:
		n->barriers++;
		break;
	case EVENT_WARP_ARRIVE: case EVENT_WARP_WAIT:
		n->warp_syncs++;
		break;
	case EVENT_EXIT: case EVENT_OPAQUE: case EVENT_STORED:
		break;
	default:
		n->asyncs++;
	}
}

static const struct rw_func *owner(const struct rw *r, const struct ptx_func *f)
{
	for (unsigned i = 0; i < r->nfuncs; i++)
		if (r->funcs[i].f == f)
			return &r->funcs[i];
	return NULL;
}

/* The variable that its first address comes from. */
static const struct ptx_sym *variable(const struct rw_func *rf, const struct ptx_inst *in)
{
	for (unsigned i = 0; i < in->nops; i++)
		if (in->ops[i].kind == OP_ADDR)
			return rw_variable(rf, &in->ops[i]);
	return NULL;
}

static void add_spots(struct rw *r, const struct probe_sites *s)
{
	const struct rw_func *rf = NULL;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct probe_place *p = &s->place[i];

		if (p->func && (!rf || rf->f != p->func))
			rf = owner(r, p->func);
		if (p->stmt && rf)
			rw_spot(r, rf->f, p->stmt, variable(rf, &p->stmt->inst));
		else
			rw_spot(r, NULL, NULL, NULL);
	}
}

static bool is_wanted(const struct rw *r, const char *kernel)
{
	return !r->options->kernel || !fnmatch(r->options->kernel, kernel, 0);
}

static uint32_t line_of(const struct rw *r, const char *kernel)
{
	for (unsigned i = 0; i < r->nfuncs; i++)
		if (!strcmp(r->funcs[i].f->name, kernel))
			return r->funcs[i].f->line;
	return 0;
}

static void put_kernels(struct rw *r, const struct probe_sites *s)
{
	struct module_kernel *k = ptx_alloc(r->m->arena, (s->nkernels + 1) * sizeof *k);

	for (uint32_t i = 0; i < s->nkernels; i++) {
		const struct probe_kernel *from = &s->kernel[i];
		bool wanted = is_wanted(r, from->name);

		k[i] = (struct module_kernel){rw_string(r, from->name), from->piece, from->flat ? MODULE_FLAT : 0,
					      from->nparams, from->offset, line_of(r, from->name), from->maps};
		if (!wanted)
			k[i].flags |= MODULE_UNWATCHED;
		if (r->options->stored)
			k[i].flags |= MODULE_STORED;
		r->stats->entries += wanted;
	}
	for (unsigned i = 0; i < r->nfuncs; i++) {
		r->stats->funcs += !r->funcs[i].f->entry;
		r->stats->entries_left += r->funcs[i].f->entry;
	}
	r->stats->entries_left -= r->stats->entries;
	rw_put_array(r, "__gsan_kernels", (const uint32_t *)(const void *)k, s->nkernels * sizeof *k / 4);
}

/* Variables of shared memory, with their names among the strings. */
static void put_variables(struct rw *r, const struct probe_sites *s)
{
	struct module_variable *v = ptx_alloc(r->m->arena, (s->nvariables + 1) * sizeof *v);

	for (uint32_t i = 0; i < s->nvariables; i++)
		v[i] = (struct module_variable){rw_string(r, s->variable[i].name), s->variable[i].bytes, s->variable[i].dynamic};
	rw_put_array(r, "__gsan_variables", (const uint32_t *)(const void *)v, s->nvariables * sizeof *v / 4);
}

static void put_tables(struct rw *r, const struct probe_sites *s, const char *unit)
{
	const struct rw_sites_size n = rw_put_spots(r);

	rw_put_array(r, "__gsan_sites", (const uint32_t *)(const void *)s->site, s->n * sizeof *s->site / 4);
	rw_put_array(r, "__gsan_runs", (const uint32_t *)(const void *)s->run, s->nruns * sizeof *s->run / 4);
	rw_put_array(r, "__gsan_origins", (const uint32_t *)(const void *)s->origin, s->norigins * sizeof *s->origin / 4);
	RW_PUT(r, "\n.global .align 8 .u64 __gsan_tables[17] = {");
	rw_put_address(r, "__gsan_sites", true);
	rw_put_address(r, "__gsan_runs", s->nruns);
	rw_put_address(r, "__gsan_spots", true);
	rw_put_address(r, "__gsan_frames", n.frames);
	rw_put_address(r, "__gsan_kernels", s->nkernels);
	rw_put_address(r, "__gsan_globals", n.globals);
	rw_put_address(r, "__gsan_strings", true);
	rw_put_address(r, PROBE_LANES, s->called);
	rw_put_address(r, ptx_sprintf(r->m->arena, PROBE_FIRST "%s", unit), *unit);
	rw_put_pair(r, MODULE_VERSION, s->n, ", ");
	rw_put_pair(r, s->nruns, n.frames, ", ");
	rw_put_pair(r, s->nkernels, n.globals, ", ");
	rw_put_pair(r, n.strings, n.path, ", ");
	/* What textures and surfaces access is not looked at. */
	rw_put_pair(r, s->left_out + s->unwatched, r->m->nunknown, ", ");
	rw_put_address(r, "__gsan_origins", s->norigins);
	rw_put_address(r, "__gsan_variables", s->nvariables);
	rw_put_pair(r, s->norigins, s->nvariables, "};\n");
}

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
	RW_PUT(r, "\n.visible .entry __gsan_v3_init_");
	rw_putx(r, rw_hash(r->input, r->input_len));
	RW_PUT(r, "(.param .u64 __gsan_mailbox)\n"
		"{\n"
		"\t.reg .b64 %__gsan_mailbox, %__gsan_tables;\n"
		"\tld.param.u64 %__gsan_mailbox, [__gsan_mailbox];\n"
		"\tmov.u64 %__gsan_tables, __gsan_tables;\n"
		"\tcvta.global.u64 %__gsan_tables, %__gsan_tables;\n"
		"\tst.u64 [%__gsan_mailbox], %__gsan_tables;\n"
		"\tst.u32 [%__gsan_mailbox+8], 3;\n"
		"\tmembar.sys;\n"
		"\tst.u32 [%__gsan_mailbox+12], 1;\n"
		"\tret;\n"
		"}\n");
	_Static_assert(MODULE_VERSION == 3, "the name and the text above carry it");
}

/* The oldest module that can hold probes: PTX 6.3 and sm_70. */
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

void rw_probe(struct rw *r)
{
	struct probe_what what = {.stored = r->options->stored, .gather = r->options->gather, .marks = r->options->marks,
				  .perturb = r->options->perturb, .leave = r->options->leave,
				  .inline_most = r->options->inline_most};
	struct probe_sites sites;
	char unit[17] = "";

	raise_header(r);
	if (r->options->relocatable) {
		snprintf(unit, sizeof unit, "%016" PRIx64, rw_hash(r->input, r->input_len));
		what.unit = unit;
	}
	probe_put(r->m, what, &sites);
	dump_sites(r, &sites);
	r->stats->sites = sites.n - 1;
	for (uint32_t i = 1; i < sites.n; i++)
		count_site(r->stats, &sites.site[i]);
	r->stats->unmodelled = sites.left_out + sites.unwatched;
	r->stats->unknown = (unsigned)r->m->nunknown;
	rw_sites_new(r);
	add_spots(r, &sites);
	rw_open(r);
	put_kernels(r, &sites);
	put_variables(r, &sites);
	put_tables(r, &sites, unit);
	put_init(r);
	ptx_insert_module(r->m, NULL, rw_close(r));
	probe_sites_free(&sites);
}
