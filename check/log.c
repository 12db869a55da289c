/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c: what the parts of a log say, held against what can be.  All that is told may be used without a look at it.
 */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

enum {
	THREADS_MOST = 1024,            /* of a block: CUDA C++ Programming Guide, Compute Capabilities */
	BLOCKS_MOST = 1 << 27           /* of a launch: more has no place in a region (log_lay_out) */
};

struct log_told {
	struct reader r;
	const struct listener *to;
	void *arg;
	struct part part;
	size_t at;                      /* of the part: what has been taken of it */
	bool any, ended;                /* the process was told; and its end */
	struct rt_module **module;
	struct rt_tables **unit;
	size_t nmodules, modules_cap, nunits, units_cap;
	struct rt_launch *launch;       /* that is being told; NULL: none is */
	bool own;                       /* it is to be freed */
	uint64_t launch_offset, pieces;
	uint32_t last;                  /* launch */
	struct rt_blocks memory;
	struct rt_totals totals;        /* of what was told */
};

static void damage(struct log_told *t, const char *what)
{
	if (!t->r.damaged)
		reader_damage(&t->r, t->part.offset + sizeof t->part.head + t->at, "%s", what);
}

/* ---- out of a part: NULL, and it was said: it is not there ------------------------------------------------- */

static const void *take(struct log_told *t, uint64_t n, size_t each)
{
	const unsigned char *p = t->part.data + t->at;

	if (n > (t->part.head.bytes - t->at) / each) {
		damage(t, "the part has not so much");
		return NULL;
	}
	t->at += n * each;
	return p;
}

static const char *take_string(struct log_told *t)
{
	const char *s = (const char *)t->part.data + t->at;
	const size_t n = strnlen(s, t->part.head.bytes - t->at);

	return take(t, n + 1, 1) ? s : NULL;
}

/* Strings that others name by offsets: NULs at both ends, or none. */
static const char *take_strings(struct log_told *t, uint32_t n)
{
	const char *s = take(t, n, 1);

	if (s && n && (*s || s[n - 1])) {
		damage(t, "strings have no end");
		return NULL;
	}
	return s;
}

/* What reports may tell of lives as long as the process. */
static void *keep(void *p)
{
	static void **kept;
	static size_t n, cap;

	kept = rt_grow(kept, &cap, n + 1, sizeof *kept);
	return kept[n++] = p;
}

/* What was taken stays when the part goes. */
static void hold(struct log_told *t)
{
	keep(t->part.data);
	t->part.data = NULL;
}

/* ---- what modules carry -------------------------------------------------------------------------------------- */

static struct rt_module *module_of(struct log_told *t, uint32_t number)
{
	if (number < t->nmodules)
		return t->module[number];
	if (number > t->nmodules) {
		damage(t, "a module of no such number");
		return NULL;
	}
	t->module = rt_grow(t->module, &t->modules_cap, t->nmodules + 1, sizeof *t->module);
	return t->module[t->nmodules++] = keep(rt_alloc(sizeof(struct rt_module)));
}

static bool take_tables(struct log_told *t, struct rt_tables *u, const struct log_unit *h)
{
	u->n = (struct module_tables){
		.nsites = h->nsites, .nruns = h->nruns, .nframes = h->nframes, .nkernels = h->nkernels, .nglobals = h->nglobals,
		.nstrings = h->nstrings, .path = h->path, .left_out = h->left_out, .unknown = h->unknown, .norigins = h->norigins,
		.nvariables = h->nvariables
	};
	return (u->site = take(t, h->nsites, sizeof *u->site)) && (u->run = take(t, h->nruns, sizeof *u->run)) &&
	       (u->spot = take(t, h->nsites, sizeof *u->spot)) && (u->frame = take(t, h->nframes, sizeof *u->frame)) &&
	       (u->kernel = take(t, h->nkernels, sizeof *u->kernel)) && (u->global = take(t, h->nglobals, sizeof *u->global)) &&
	       (u->origin = take(t, h->norigins, sizeof *u->origin)) && (u->variable = take(t, h->nvariables, sizeof *u->variable)) &&
	       (u->strings = take_strings(t, h->nstrings));
}

static bool check_tables(struct log_told *t, const struct rt_tables *u)
{
	const struct event_sites s = {.site = u->site, .run = u->run, .nsites = u->n.nsites, .nruns = u->n.nruns,
				      .norigins = u->n.norigins, .origin = u->origin};
	const char *wrong = event_sites_wrong(&s);

	for (uint32_t i = 0; i < u->n.norigins && !wrong; i++)
		wrong = u->origin[i].variable < u->n.nvariables ? NULL : "an address of no variable";

	for (const struct rt_tables *other = rt_units(); other && !wrong; other = other->next)
		if (other->module == u->module && other->linked->sites.nsites > EVENT_SITES_MAX - s.nsites)
			wrong = "a module of too many sites";
	if (wrong)
		damage(t, wrong);
	return !wrong;
}

static void take_unit(struct log_told *t)
{
	const struct log_unit *h = take(t, 1, sizeof *h);
	struct rt_module *m = h ? module_of(t, h->module) : NULL;
	struct rt_tables *u;

	if (!m)
		return;
	u = rt_alloc(sizeof *u);
	u->module = m;
	if (!take_tables(t, u, h) || !check_tables(t, u)) {
		rt_free(u);
		return;
	}
	hold(t);
	rt_unit_add(u);
	t->unit = rt_grow(t->unit, &t->units_cap, t->nunits + 1, sizeof *t->unit);
	t->unit[t->nunits++] = u;
	t->totals.sites += u->n.nsites - 1;
	t->totals.unmodelled += u->n.left_out;
	t->totals.unknown += u->n.unknown;
}

/* ---- what the host knows --------------------------------------------------------------------------------------- */

static void take_process(struct log_told *t)
{
	const struct log_process *p = take(t, 1, sizeof *p);
	const char *s[LOG_PROCESS_STRINGS];

	if (p && p->event != EVENT_MAGIC)
		damage(t, "its records are of another version of gsan");
	else if (p && (p->module < MODULE_OLDEST || p->module > MODULE_VERSION))
		damage(t, "its tables are of another version of gsan");
	for (unsigned i = 0; i < LOG_PROCESS_STRINGS && !t->r.damaged; i++)
		s[i] = take_string(t);
	if (t->r.damaged)
		return;
	hold(t);
	t->any = true;
	t->to->process(t->arg, p, s);
}

static void take_maps(struct log_told *t)
{
	const size_t n = t->part.head.bytes / sizeof(struct event_map);
	const struct event_map *m = take(t, n, sizeof *m);

	for (size_t i = 0; m && i < n; i++)
		if (m[i].hash)
			t->to->map(t->arg, &m[i]);
}

static enum rt_mem memory_of(uint32_t kind)
{
	static const enum rt_mem kinds[LOG_MEMORIES] = {
		[LOG_MEM_DEVICE] = RT_MEM_DEVICE, [LOG_MEM_MANAGED] = RT_MEM_MANAGED, [LOG_MEM_HOST] = RT_MEM_HOST,
		[LOG_MEM_MAPPED] = RT_MEM_MAPPED, [LOG_MEM_VARIABLE] = RT_MEM_VARIABLE, [LOG_MEM_FREED] = RT_MEM_FREED
	};

	return kinds[kind];
}

/* Reports may have names of memory that is gone; most are those of the table before. */
static const char *name_of(const struct rt_blocks *was, uint64_t address, const char *name)
{
	struct rt_block b;

	if (rt_block_find(was, address, &b) && b.addr == address && !strcmp(b.name, name))
		return b.name;
	return *name ? keep(rt_copy(name)) : "";
}

static void take_memory(struct log_told *t)
{
	struct rt_blocks was = t->memory;
	const struct log_allocations *h = take(t, 1, sizeof *h);
	const struct log_allocation *a = h ? take(t, h->n, sizeof *a) : NULL;
	const char *strings = a ? take_strings(t, h->strings) : NULL;

	if (!strings)
		return;
	t->memory = (struct rt_blocks){.changes = was.changes + 1};
	t->memory.list = rt_grow(NULL, &t->memory.cap, h->n + 1, sizeof *t->memory.list);
	for (uint32_t i = 0; i < h->n; i++) {
		if (a[i].kind >= LOG_MEMORIES || (a[i].name && a[i].name >= h->strings) || (i && a[i].at < a[i - 1].at)) {
			damage(t, "memory of no kind, name or order");
			break;
		}
		t->memory.list[i] = (struct rt_block){.addr = a[i].at, .bytes = a[i].bytes, .kind = memory_of(a[i].kind),
						      .name = name_of(&was, a[i].at, a[i].name ? strings + a[i].name : "")};
		t->memory.n++;
	}
	rt_free(was.list);
	if (!t->r.damaged)
		t->to->memory(t->arg, &t->memory);
}

static void take_end(struct log_told *t)
{
	const struct log_end *e = take(t, 1, sizeof *e);
	struct rt_totals *all = &t->totals;
	const char **names;

	if (!e)
		return;
	all->failed = take_string(t);
	all->error = all->failed ? take_string(t) : NULL;
	all->off = all->error ? take_string(t) : NULL;
	names = rt_alloc((e->names < t->part.head.bytes ? e->names : t->part.head.bytes) * sizeof *names);
	for (uint32_t i = 0; i < e->names && !t->r.damaged; i++)
		names[i] = take_string(t);
	if (t->r.damaged) {
		rt_free(names);
		return;
	}
	all->bare = names;
	all->nbare = e->names;
	hold(t);
	t->ended = true;
	t->to->end(t->arg, e, all);
	rt_free(names);
	all->bare = NULL;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* 0: it is more. */
static uint64_t product(const uint32_t v[3], uint64_t most)
{
	uint64_t n = 1;

	for (int i = 0; i < 3; i++)
		n = v[i] && n <= most / v[i] ? n * v[i] : 0;
	return n;
}

static const char *wrong_launch(const struct log_told *t, const struct log_launch *h)
{
	const uint32_t *c = h->cluster;

	if (t->launch)
		return "a launch begins in another one";
	if (h->number <= t->last)
		return "a launch comes in front of the one before it";
	if (h->unit >= t->nunits || h->kernel >= t->unit[h->unit]->n.nkernels)
		return "a launch of no kernel";
	if (!product(h->grid, BLOCKS_MOST) || !product(h->block, THREADS_MOST) ||
	    ((c[0] || c[1] || c[2]) && !product(c, EVENT_BLOCKS_MAX)))
		return "a launch of no blocks or of too many";
	return NULL;
}

static void take_launch(struct log_told *t)
{
	const struct log_launch *h = take(t, 1, sizeof *h);
	const char *wrong = h ? wrong_launch(t, h) : NULL;
	const struct event_map *maps = h ? take(t, h->maps, sizeof *maps) : NULL;
	const struct event_place *places = maps ? take(t, h->places, sizeof *places) : NULL;
	struct rt_launch *l;

	if (wrong)
		damage(t, wrong);
	if (!places || wrong)
		return;
	l = rt_alloc(sizeof *l);
	l->number = t->last = h->number;
	l->nth = h->nth;
	l->tables = t->unit[h->unit];
	l->kernel = &l->tables->kernel[h->kernel];
	l->stream = h->stream;
	l->early = h->flags & LOG_EARLY;
	l->failed = h->flags & LOG_FAULT;
	memcpy(l->grid, h->grid, sizeof l->grid);
	memcpy(l->block, h->block, sizeof l->block);
	memcpy(l->cluster, h->cluster, sizeof l->cluster);
	l->shape.blocks = (uint32_t)product(h->grid, BLOCKS_MOST);
	l->map = rt_grow(NULL, &l->map_cap, h->maps, sizeof *l->map);
	l->nmaps = h->maps;
	if (h->maps)
		memcpy(l->map, maps, h->maps * sizeof *maps);
	l->place = rt_alloc((h->places + 1) * sizeof *l->place);
	l->nplaces = h->places;
	if (h->places)
		memcpy(l->place, places, h->places * sizeof *places);
	t->launch = l;
	t->launch_offset = t->part.offset;
	t->pieces = 0;
	t->totals.launches++;
	t->totals.kernels_watched++;
	t->own = !t->to->launch(t->arg, l, h->flags & LOG_CUT ? &h->since : NULL);
}

static const char *wrong_piece(struct log_told *t, const struct event_piece *p, size_t *at)
{
	const char *wrong = event_piece_wrong(p, t->part.head.bytes - t->at, t->launch->tables->linked->sites.nsites, at);

	if (wrong)
		return wrong;
	*at = 0;
	if (p->launch != t->launch->number)
		return "a piece of another launch";
	return p->block < t->launch->shape.blocks ? NULL : "a piece of a block that the launch has not got";
}

static void take_pieces(struct log_told *t)
{
	while (t->launch && t->at < t->part.head.bytes && !t->r.damaged) {
		const struct event_piece *p = (const struct event_piece *)(const void *)(t->part.data + t->at);
		size_t at;
		const char *wrong = wrong_piece(t, p, &at);

		if (!wrong)
			wrong = t->to->piece(t->arg, p);
		t->at += wrong ? at : p->bytes;
		t->pieces++;
		if (wrong)
			damage(t, wrong);
	}
	if (!t->launch)
		damage(t, "pieces of no launch");
}

static void launch_over(struct log_told *t)
{
	if (t->launch && t->own) {
		rt_free(t->launch->map);
		rt_free(t->launch->place);
		rt_free(t->launch);
	}
	t->launch = NULL;
}

static void take_over(struct log_told *t)
{
	const struct log_over *o = take(t, 1, sizeof *o);

	if (o && !t->launch)
		damage(t, "no launch is under way that could be over");
	else if (o && o->pieces != t->pieces)
		damage(t, "the launch has not so many pieces");
	if (t->r.damaged)
		return;
	t->to->over(t->arg);
	launch_over(t);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void take_part(struct log_told *t)
{
	static void (*const takes[])(struct log_told *) = {
		[LOG_PROCESS] = take_process, [LOG_UNIT] = take_unit, [LOG_MAPS] = take_maps, [LOG_ALLOCATIONS] = take_memory,
		[LOG_LAUNCH] = take_launch, [LOG_PIECES] = take_pieces, [LOG_OVER] = take_over, [LOG_END] = take_end
	};
	const uint32_t kind = t->part.head.kind;

	if (kind & LOG_PART_OPTIONAL)
		return;
	if (!kind || kind >= sizeof takes / sizeof *takes)
		reader_damage(&t->r, t->part.offset, "a part of kind %u, which is of a newer version of gsan", kind);
	else if (t->any == (kind == LOG_PROCESS))
		damage(t, t->any ? "a second process" : "it is not said of which process the log is");
	else if (t->ended)
		damage(t, "something comes behind the end");
	else if (t->launch && kind != LOG_PIECES && kind != LOG_OVER)
		damage(t, "something comes into a launch");
	else
		takes[kind](t);
}

static void close_log(struct log_told *t)
{
	launch_over(t);
	free(t->part.data);
	reader_close(&t->r);
	rt_free(t->module);
	rt_free(t->unit);
	rt_free(t->memory.list);
}

bool log_read_all(const char *path, const struct listener *to, void *arg)
{
	struct log_told t = {.to = to, .arg = arg};

	if (reader_open(&t.r, path))
		while (reader_next(&t.r, &t.part)) {
			t.at = 0;
			take_part(&t);
			free(t.part.data);
			t.part.data = NULL;
		}
	if (t.launch && !t.r.damaged)
		reader_damage(&t.r, t.launch_offset, "the launch that begins here has no end");
	else if (!t.any && !t.r.damaged)
		reader_damage(&t.r, t.r.offset, "the file ends before anything is told");
	if (t.any && !t.ended)
		to->end(arg, NULL, &t.totals);
	close_log(&t);
	return !t.r.damaged;
}
