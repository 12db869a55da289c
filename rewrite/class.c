/* SPDX-License-Identifier: Apache-2.0
 *
 * class.c: what does each instruction do that the runtime must hear of?  The
 * answer is the instruction's row in inst.def (columns ACCESS, ORDER, MODEL)
 * together with the set of its modifiers, which meanings[] translates; opcodes
 * are compared only where rows cannot tell (ret, exit, ldu, membar).  What cannot be
 * expressed becomes WHAT_UNMODELLED, which errs towards silence, and is counted.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rw.h"

/* What the modifiers of one instruction say, taken together. */
struct meaning {
	uint32_t info;          /* GSAN_INFO_* bits */
	unsigned char level;    /* enum gsan_level; the widest wins */
	bool strong;
	bool cluster;           /* shared memory of any block of the cluster */
	bool arrive, red, layout_col;
	char matrix;            /* wmma fragment: a b c d */
	unsigned char num;      /* .x1 .x2 .x4 */
};

#define ACQ GSAN_INFO_ACQUIRE
#define REL GSAN_INFO_RELEASE

static const struct meaning meanings[MOD_COUNT] = {
	/* PTX ISA "Scope": .gl is membar's older word for .gpu. */
	[MOD_CTA] = { .level = GSAN_CTA },
	[MOD_CLUSTER] = { .level = GSAN_CLUSTER },
	[MOD_GPU] = { .level = GSAN_GPU },
	[MOD_GL] = { .level = GSAN_GPU },
	[MOD_SYS] = { .level = GSAN_SYS },
	/* PTX ISA "Operation types".  A volatile operation is treated as relaxed
	 * with system scope, mmio likewise. */
	[MOD_RELAXED] = { .strong = true },
	[MOD_ACQUIRE] = { .strong = true, .info = ACQ },
	[MOD_RELEASE] = { .strong = true, .info = REL },
	[MOD_ACQ_REL] = { .strong = true, .info = ACQ | REL },
	[MOD_SC] = { .strong = true, .info = ACQ | REL | GSAN_INFO_SC },
	[MOD_VOLATILE] = { .strong = true, .info = GSAN_INFO_VOLATILE, .level = GSAN_SYS },
	[MOD_MMIO] = { .strong = true, .level = GSAN_SYS },
	[MOD_NC] = { .info = GSAN_INFO_NC },
	[MOD_SHARED_CLUSTER] = { .cluster = true },
	[MOD_ARRIVE] = { .arrive = true },
	[MOD_RED] = { .red = true },
	[MOD_A] = { .matrix = 'a' },
	[MOD_B] = { .matrix = 'b' },
	[MOD_C] = { .matrix = 'c' },
	[MOD_D] = { .matrix = 'd' },
	[MOD_COL] = { .layout_col = true },
	[MOD_X1] = { .num = 1 },
	[MOD_X2] = { .num = 2 },
	[MOD_X4] = { .num = 4 },
};

static struct meaning meaning_of(const struct ptx_inst *in)
{
	struct meaning m = { 0 };

	for (unsigned i = 0; i < in->nmods; i++) {
		const struct meaning *k = &meanings[in->mod[i]];

		m.info |= k->info;
		if (k->level > m.level)
			m.level = k->level;
		m.strong |= k->strong;
		m.cluster |= k->cluster;
		m.arrive |= k->arrive;
		m.red |= k->red;
		m.layout_col |= k->layout_col;
		if (k->matrix)
			m.matrix = k->matrix;
		if (k->num)
			m.num = k->num;
	}
	return m;
}

/* Operand that holds the address: the destination of what stores. */
static unsigned address_operand(enum ptx_access a)
{
	switch (a) {
	case ACCESS_LOAD:
	case ACCESS_ATOM:
	case ACCESS_LDMATRIX:
	case ACCESS_WMMA_LOAD:
		return 1;
	case ACCESS_STORE:
	case ACCESS_RED:
	case ACCESS_STMATRIX:
	case ACCESS_WMMA_STORE:
	case ACCESS_DISCARD:
	case ACCESS_ST_BULK:
	case ACCESS_TEX:
	case ACCESS_SURF_STORE:
	case ACCESS_COPY:
	case ACCESS_NONE:
		break;
	}
	return 0;
}

static const uint32_t access_bits[] = {
	[ACCESS_NONE] = 0,
	[ACCESS_LOAD] = GSAN_INFO_READ,
	[ACCESS_STORE] = GSAN_INFO_WRITE,
	[ACCESS_ATOM] = GSAN_INFO_READ | GSAN_INFO_WRITE,
	[ACCESS_RED] = GSAN_INFO_READ | GSAN_INFO_WRITE | GSAN_INFO_RED,
	[ACCESS_LDMATRIX] = GSAN_INFO_READ,
	[ACCESS_STMATRIX] = GSAN_INFO_WRITE,
	[ACCESS_WMMA_LOAD] = GSAN_INFO_READ,
	[ACCESS_WMMA_STORE] = GSAN_INFO_WRITE,
	[ACCESS_DISCARD] = GSAN_INFO_WRITE,
	[ACCESS_ST_BULK] = GSAN_INFO_WRITE,
};

/* Space for the call's name, from what the instruction and the address say. */
static char space_of(const struct ptx_inst *in, const struct meaning *m,
		     const struct ptx_operand *addr, struct rw_value v)
{
	/* [variable] without a space is in the variable's: so does ptxas read it. */
	bool direct = addr->list[0].kind == OP_SYM && addr->list[0].sym->kind == SYM_VAR;

	switch (in->id) {
	case INST_MULTIMEM_LD_REDUCE:
	case INST_MULTIMEM_ST:
	case INST_MULTIMEM_RED:
		return 'm';
	default:
		break;
	}
	switch (ptx_inst_space(in)) {
	case SPACE_GLOBAL:
		return 'g';
	case SPACE_SHARED:
		return !m->cluster || v.where == WHERE_SHARED ? 's' : 'c';
	case SPACE_LOCAL:
	case SPACE_PARAM:
	case SPACE_CONST:
		return 'p';
	default:
		break;
	}
	switch (v.where) {
	case WHERE_GLOBAL:
		return 'g';
	case WHERE_GENERIC_PRIVATE:
		return 'p';
	case WHERE_SHARED:
		return direct ? 's' : 'x';
	case WHERE_PRIVATE:
		return direct ? 'p' : 'x';
	case WHERE_GENERIC_SHARED:
	case WHERE_NONE:
	case WHERE_ANY:
		break;
	}
	return 'x';
}

/* Numbers of a shape such as ".m16n8k16"; 0 for what is not there. */
static bool shape_of(const struct ptx_inst *in, unsigned *m, unsigned *n, unsigned *k)
{
	for (unsigned i = 0; i < in->nmods; i++) {
		const char *t = in->modtext[i];
		char *end;

		if (t[1] != 'm' || t[2] < '0' || t[2] > '9')
			continue;
		*m = (unsigned)strtoul(t + 2, &end, 10);
		*n = *end == 'n' ? (unsigned)strtoul(end + 1, &end, 10) : 0;
		*k = *end == 'k' ? (unsigned)strtoul(end + 1, &end, 10) : 0;
		return *end == '\0';
	}
	return false;
}

/* PTX ISA "wmma.load", "wmma.store": a tile is rows (columns under .col) of
 * contiguous elements, `stride` elements apart. */
static bool tile(const struct ptx_inst *in, const struct meaning *k, struct rw_event *e)
{
	unsigned m, n, depth, rows, cols, bits = ptx_type_bits(in->type);

	if (!shape_of(in, &m, &n, &depth) || !bits || !k->matrix)
		return false;
	rows = k->matrix == 'b' ? depth : m;
	cols = k->matrix == 'a' ? depth : n;
	e->rows = (uint16_t)(k->layout_col ? cols : rows);
	e->row_bytes = (uint16_t)((k->layout_col ? rows : cols) * bits / 8);
	e->type_bits = (unsigned char)bits;
	e->what = WHAT_ROWS;
	e->info |= e->row_bytes;
	return e->rows && e->row_bytes && e->row_bytes < 256;
}

/* PTX ISA "ldmatrix", "stmatrix": a matrix is eight rows of 16 bytes, sixteen
 * where the shape has 16 rows of bytes; lane i addresses row i.  Rows of 6-bit
 * and 4-bit elements hold 16 of them and padding that is not read. */
static bool matrix_rows(const struct ptx_inst *in, const struct meaning *k, struct rw_event *e,
			bool store)
{
	unsigned m, n, depth, lanes, bytes = 16;

	if (!shape_of(in, &m, &n, &depth) || !k->num)
		return false;
	if (ptx_has(in, MOD_B6X16_P32))
		bytes = 12;
	else if (ptx_has(in, MOD_B4X16_P64))
		bytes = 8;
	/* stmatrix .m16n8 is stored transposed, in eight rows of 16 bytes. */
	lanes = (m == 16 && !store ? 16u : 8u) * k->num;
	if (lanes > 32)
		return false;
	e->matrix = true;
	e->lanes = lanes < 32 ? (unsigned char)lanes : 0;
	e->what = store ? WHAT_WRITE : WHAT_READ;
	e->info |= bytes;
	return true;
}

/* Two 16-bit elements that are accessed as one register but atomic each. */
static unsigned packed(enum ptx_type t)
{
	return t == TYPE_F16X2 || t == TYPE_BF16X2 ? 2 : 1;
}

static bool scalar(const struct ptx_inst *in, const struct meaning *k, enum ptx_access a,
		   struct rw_event *e)
{
	unsigned bytes = ptx_type_bits(in->type) / 8, n = ptx_inst_vec(in);
	bool rmw = a == ACCESS_ATOM || a == ACCESS_RED;

	if (!bytes || bytes > 16 || bytes * n > 64)
		return false;
	if (!rmw && !k->strong) {
		e->what = a == ACCESS_LOAD ? WHAT_READ : WHAT_WRITE;
		e->info |= bytes * n;
		if (in->id == INST_LDU)
			e->info |= GSAN_INFO_NC;
		return true;
	}
	e->what = WHAT_STRONG;
	n *= packed(in->type);
	bytes /= packed(in->type);
	/* PTX ISA "atom": without .sem it is relaxed, without .scope .gpu; "multimem": .sys. */
	e->info |= bytes | (n > 1 ? n << GSAN_INFO_ELEMS_SHIFT : 0) |
		(uint32_t)(k->level ? k->level : e->space == 'm' ? GSAN_SYS : GSAN_GPU) << GSAN_INFO_LEVEL_SHIFT;
	return true;
}

static bool range(const struct ptx_inst *in, struct rw_event *e)
{
	if (in->nops < 2)
		return false;
	e->what = WHAT_RANGE;
	if (in->ops[1].kind == OP_INT && in->ops[1].ival <= 128)
		e->info |= (uint32_t)in->ops[1].ival;
	return true;
}

/* Fills in an access; false if its form is not one that can be instrumented. */
static bool access(const struct rw_func *rf, const struct ptx_inst *in, struct rw_event *e)
{
	enum ptx_access a = ptx_insts[in->id].access;
	struct meaning k = meaning_of(in);
	unsigned at = address_operand(a);
	struct rw_value v;

	if (a >= sizeof access_bits / sizeof *access_bits || in->nops <= at || in->ops[at].kind != OP_ADDR ||
	    !in->ops[at].n)
		return false;
	e->addr = &in->ops[at];
	v = rw_address(rf, e->addr);
	e->var = v.var;
	e->space = space_of(in, &k, e->addr, v);
	if (e->space == 'c' && a != ACCESS_LOAD && a != ACCESS_STORE && a != ACCESS_ATOM && a != ACCESS_RED)
		return false;
	e->info = access_bits[a] | (k.info & ~(uint32_t)GSAN_INFO_SC);
	switch (a) {
	case ACCESS_LOAD:
	case ACCESS_STORE:
	case ACCESS_ATOM:
	case ACCESS_RED:
		return scalar(in, &k, a, e);
	case ACCESS_LDMATRIX:
	case ACCESS_STMATRIX:
		return matrix_rows(in, &k, e, a == ACCESS_STMATRIX);
	case ACCESS_WMMA_LOAD:
	case ACCESS_WMMA_STORE:
		return tile(in, &k, e);
	case ACCESS_DISCARD:
	case ACCESS_ST_BULK:
		return range(in, e);
	case ACCESS_TEX:
	case ACCESS_SURF_STORE:
	case ACCESS_COPY:
	case ACCESS_NONE:
		break;
	}
	return false;
}

/* PTX ISA "membar/fence": .acq_rel unless it says otherwise; membar is
 * fence.sc. */
static void fence(const struct ptx_inst *in, struct rw_event *e)
{
	struct meaning k = meaning_of(in);

	e->what = WHAT_FENCE;
	e->info = k.info | (uint32_t)k.level << GSAN_INFO_LEVEL_SHIFT;
	if (in->id == INST_MEMBAR)
		e->info |= meanings[MOD_SC].info;
	else if (!k.info)
		e->info |= meanings[MOD_ACQ_REL].info;
}

static void count(struct gsan_rewrite_stats *st, const struct rw_event *e)
{
	if (e->addr && e->space == 'p')
		return;
	switch ((enum rw_what)e->what) {
	case WHAT_READ:
		st->reads += !e->matrix;
		st->matrices += e->matrix;
		break;
	case WHAT_WRITE:
		st->writes += !e->matrix;
		st->matrices += e->matrix;
		break;
	case WHAT_RANGE:
		st->ranges++;
		break;
	case WHAT_ROWS:
		st->matrices++;
		break;
	case WHAT_STRONG:
		st->strong++;
		break;
	case WHAT_BARRIER:
	case WHAT_CLUSTER_ARRIVE:
		st->barriers++;
		break;
	case WHAT_WARP_SYNC:
		st->warp_syncs++;
		break;
	case WHAT_FENCE:
	case WHAT_PROXY_FENCE:
	case WHAT_INIT_FENCE:
		st->fences++;
		break;
	case WHAT_MBAR:
	case WHAT_MBAR_WAIT:
	case WHAT_COPY:
	case WHAT_TENSOR:
	case WHAT_MAP_EDIT:
	case WHAT_MAP_COPY:
	case WHAT_MAP_FENCE:
	case WHAT_WGMMA:
	case WHAT_GROUP:
	case WHAT_TCGEN05:
		st->asyncs++;
		break;
	case WHAT_CLUSTER_WAIT:
	case WHAT_GRID_GO:
	case WHAT_GRID_WAIT:
	case WHAT_TCGEN05_OTHER:
	case WHAT_UNMODELLED:
	case WHAT_LEAVE:
		break;
	}
}

/* False if it creates no order, or has not the operands that it should have. */
static bool order(const struct ptx_inst *in, enum ptx_order o, struct rw_event *e)
{
	switch (o) {
	case ORDER_CTA_BARRIER:
		/* bar.red has its result in front. */
		if (in->nops <= (unsigned)ptx_has(in, MOD_RED))
			return false;
		e->what = WHAT_BARRIER;
		return true;
	case ORDER_WARP_BARRIER:
		if (!in->nops)
			return false;
		e->what = WHAT_WARP_SYNC;
		return true;
	case ORDER_FENCE:
		fence(in, e);
		return true;
	default:
		return false;
	}
}

/* What the runtime must hear of an instruction; false: nothing. */
static bool event(struct rw *r, const struct rw_func *rf, const struct ptx_inst *in,
		  struct rw_event *e)
{
	const struct ptx_inst_row *row = &ptx_insts[in->id];

	if (in->id == INST_EXIT || (in->id == INST_RET && rf->f->entry)) {
		e->what = WHAT_LEAVE;
		return true;
	}
	if (in->id == INST_UNKNOWN) {
		r->stats->unknown++;
		e->what = WHAT_UNMODELLED;
		return true;
	}
	switch (row->model) {
	case MODEL_PLAIN:
		return false;
	case MODEL_COUNT:
		r->stats->unmodelled++;
		return false;
	case MODEL_SYNC:
		r->stats->unmodelled++;
		e->what = WHAT_UNMODELLED;
		return true;
	case MODEL_FULL:
		break;
	}
	if (rw_async(rf, in, e) || rw_tcgen05(r, rf, in, e) || order(in, row->order, e) || access(rf, in, e)) {
		if (e->space == 'x' && r->peers && (e->what == WHAT_STRONG ||
		    ((e->what == WHAT_READ || e->what == WHAT_WRITE) && !e->matrix)))
			e->space = 'y';
		return true;
	}
	/* Forms of copies, and of accesses to another block's shared memory, that are not
	 * modelled; any other form would be news.  Neither may invent a race. */
	if ((e->addr && e->space == 'c') || row->access == ACCESS_COPY)
		r->stats->unmodelled++;
	else
		r->stats->missed++;
	memset(e, 0, sizeof *e);
	e->what = WHAT_UNMODELLED;
	return true;
}

static bool selected(const struct rw *r, const struct ptx_func *f)
{
	for (const char *const *name = r->options->leave; f->entry && name && *name; name++)
		if (!strcmp(*name, f->name))
			return false;
	return !f->entry || !r->options->kernel || !fnmatch(r->options->kernel, f->name, 0);
}

/* How often each register is named, counted to 2. */
static void count_names(const struct ptx_operand *o, unsigned n, unsigned char *names)
{
	for (unsigned i = 0; i < n; i++) {
		if (o[i].kind == OP_SYM && o[i].sym->kind == SYM_REG && names[o[i].sym->reg] < 2)
			names[o[i].sym->reg]++;
		count_names(o[i].list, o[i].n, names);
	}
}

/* An atom whose result nobody looks at tells its thread nothing: nvcc writes one
 * for most atomicAdd() where red would do. */
static void unused_results(struct rw *r, struct rw_func *rf)
{
	unsigned char *names = NULL;

	for (unsigned i = 0; i < rf->nevents; i++) {
		struct rw_event *e = &rf->events[i];
		const struct ptx_inst *in = &e->stmt->inst;

		if (e->what != WHAT_STRONG || ptx_insts[in->id].access != ACCESS_ATOM)
			continue;
		if (!names) {
			names = ptx_alloc(r->m->arena, (size_t)rf->f->nregs + 1);
			for (const struct ptx_stmt *s = rf->f->body; s; s = s->next)
				if (s->kind == STMT_INST)
					count_names(s->inst.ops, s->inst.nops, names);
		}
		if (in->ops[0].kind == OP_SINK ||
		    (in->ops[0].kind == OP_SYM && in->ops[0].sym->kind == SYM_REG &&
		     names[in->ops[0].sym->reg] == 1))
			e->info |= GSAN_INFO_UNUSED;
	}
}

void rw_class(struct rw *r)
{
	for (unsigned i = 0; i < r->nfuncs; i++) {
		struct rw_func *rf = r->funcs[i];
		struct rw_event *e;

		e = rf->events = ptx_alloc(r->m->arena, (rf->candidates.n + 1) * sizeof *e);
		rf->watched = selected(r, rf->f);
		if (!rf->watched) {
			r->stats->entries_left++;
			continue;
		}
		for (size_t k = 0; k < rf->candidates.n; k++) {
			struct ptx_stmt *s = rf->candidates.p[k];

			if (!event(r, rf, &s->inst, e))
				continue;
			e->stmt = s;
			count(r->stats, e);
			e++;
		}
		rf->nevents = (unsigned)(e - rf->events);
		unused_results(r, rf);
		if (rf->f->entry)
			r->stats->entries++;
		else
			r->stats->funcs += rf->nevents != 0;
	}
}

void rw_dump_class(const struct rw *r, FILE *out)
{
	static const char *const what[] = {
		[WHAT_READ] = "read", [WHAT_WRITE] = "write", [WHAT_RANGE] = "range",
		[WHAT_ROWS] = "rows", [WHAT_STRONG] = "strong", [WHAT_BARRIER] = "barrier",
		[WHAT_WARP_SYNC] = "warp sync", [WHAT_FENCE] = "fence",
		[WHAT_MBAR] = "mbarrier", [WHAT_MBAR_WAIT] = "mbarrier wait", [WHAT_COPY] = "copy",
		[WHAT_GROUP] = "group", [WHAT_WGMMA] = "wgmma", [WHAT_TENSOR] = "tensor", [WHAT_MAP_EDIT] = "map edit",
		[WHAT_MAP_COPY] = "map copy", [WHAT_MAP_FENCE] = "map fence", [WHAT_PROXY_FENCE] = "proxy fence",
		[WHAT_TCGEN05] = "tcgen05", [WHAT_TCGEN05_OTHER] = "tcgen05, not known",
		[WHAT_INIT_FENCE] = "init fence", [WHAT_CLUSTER_ARRIVE] = "cluster arrive",
		[WHAT_CLUSTER_WAIT] = "cluster wait",
		[WHAT_GRID_GO] = "launch dependents", [WHAT_GRID_WAIT] = "grid wait",
		[WHAT_UNMODELLED] = "unmodelled", [WHAT_LEAVE] = "leave"
	};

	for (unsigned i = 0; i < r->nfuncs; i++) {
		const struct rw_func *rf = r->funcs[i];

		fprintf(out, "%s %s%s\n", rf->f->entry ? "entry" : "func", rf->f->name,
			rf->watched ? "" : ": left alone");
		for (unsigned k = 0; k < rf->nevents; k++) {
			const struct rw_event *e = &rf->events[k];

			fprintf(out, "\tline %u: %s", e->stmt->line, what[e->what]);
			if (e->addr && e->space)
				fprintf(out, " space %c info 0x%x", e->space, e->info);
			else if (e->info)
				fprintf(out, " info 0x%x", e->info);
			if (e->lanes)
				fprintf(out, " lanes %u", e->lanes);
			if (e->what == WHAT_ROWS)
				fprintf(out, " rows %u of %u bytes", e->rows, e->row_bytes);
			if (e->var)
				fprintf(out, " in %s", e->var->name);
			if (e->rule)
				fprintf(out, ", left out: %s", gsan_rewrite_rule_name(e->rule));
			fputc('\n', out);
		}
	}
}
