/* SPDX-License-Identifier: Apache-2.0
 *
 * clear.c: whether a launch is clear, by the screen (detect/screen.h) as kernels (clear.cu) on the device, where its log
 * is: what is clear need not be read.
 *
 * All of it is done with RT_WAY_TAKE, whose context owns the kernels and their memory as it owns the logs.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/clear.h"

enum {
	FIRST_PAGES = 64, MOST_PAGES = 2048,    /* of 2 MiB each, that launches may write before what is known of pages is forgotten */
	STAMPS = 65535,
	THREADS = 256,
	BLOCKS = 2048,                  /* of a pass that goes on by itself */
	WALLS = 256,                    /* kernels of which the places of variables are kept there */
	TWINS = 8,                      /* kernels of which blocks are kept there, */
	TWIN_UNITS = 1 << 18            /* so many of each */
};

enum kernel { FILL, LINK, BLOCKWISE, COMPARE, JUDGE, WRITES, READS, KERNELS };
static const char *const names[KERNELS] = {
	"gsan_fill", "gsan_link", "gsan_blocks", "gsan_compare", "gsan_judge", "gsan_writes", "gsan_reads"
};

/* Memory of the device. */
struct room { CUdeviceptr at; size_t bytes; };

/* Of a module's sites, which stay where they are (units.c). */
struct tables { const struct event_site *of; struct screen_table there; };
struct walls { const struct module_kernel *kernel; const struct event_site *of; uint32_t dynamic; struct room wall; };
struct twins { const struct module_kernel *kernel; uint32_t threads, shared; struct room all; };

/* What a launch is asked by: one copy. */
struct question { struct screen s; uint32_t why[SCREEN_WHYS]; };

static struct {
	enum { UNTRIED, READY, OFF } state;
	const struct log_way *way;
	CUfunction f[KERNELS];
	size_t shared;                  /* bytes that a block may have beside its own */
	struct screen s;                /* what is the same for all launches, and the last stamp */
	unsigned since;                 /* launches since what is known of pages was forgotten */
	struct room question, page, cells, cell, counts, after, first, warp, has, like, maps, gaps;
	struct closer { struct room page, cells, cell, counts; uint32_t stamp; } closer;        /* the second look's */
	struct tables *tables;
	size_t ntables, tables_cap;
	struct walls walls[WALLS];
	struct twins twins[TWINS];
	unsigned nwalls, ntwins;
} gpu;

/* clear.cu, for all devices. */
extern const char rt_clear_image[];
__asm__(".section .rodata,\"a\",@progbits\n"
	".balign 16\n"
	".globl rt_clear_image\n"
	".hidden rt_clear_image\n"
	"rt_clear_image: .incbin \"rt/clear.fatbin\"\n"
	".previous");

/* ---- calls; false: the driver refused --------------------------------------------------------------------------- */

static bool launch(enum kernel k, const unsigned grid[2], const unsigned block[2], size_t shared, void **params)
{
	return REAL(cuLaunchKernel, RT_cuLaunchKernel)(gpu.f[k], grid[0], grid[1], 1, block[0], block[1], 1, (unsigned)shared, gpu.way->stream,
						      params, NULL) == CUDA_SUCCESS;
}

static unsigned blocks_for(uint64_t n)
{
	const uint64_t all = (n + THREADS - 1) / THREADS;

	return all < BLOCKS ? (unsigned)(all ? all : 1) : BLOCKS;
}

static bool fill(CUdeviceptr at, size_t bytes, uint32_t word)
{
	uint64_t n = bytes / sizeof(struct event_unit);

	return launch(FILL, (unsigned[]){blocks_for(n), 1}, (unsigned[]){THREADS, 1}, 0, (void *[]){&at, &n, &word});
}

/* A pass over a question. */
static bool pass(enum kernel k, const unsigned grid[2], const unsigned block[2], size_t shared)
{
	return launch(k, grid, block, shared, (void *[]){&gpu.question.at});
}

static size_t units(size_t bytes)
{
	return (bytes + sizeof(struct event_unit)) / sizeof(struct event_unit) * sizeof(struct event_unit);
}

/* Room for so many bytes: what was there is lost, and each word becomes `word`, if there was too little. */
static bool make_room(struct room *r, size_t bytes, uint32_t word)
{
	if (r->at && r->bytes >= bytes)
		return true;
	if (r->at)
		REAL(cuMemFree_v2, RT_cuMemFree_v2)(r->at);
	*r = (struct room){0, units(bytes + bytes / 2)};
	return REAL(cuMemAlloc_v2, RT_cuMemAlloc_v2)(&r->at, r->bytes) == CUDA_SUCCESS && fill(r->at, r->bytes, word);
}

static bool upload(struct room *r, const void *from, size_t bytes)
{
	return make_room(r, bytes, 0) && log_write(gpu.way, r->at, from, bytes);
}

#define AT(room) ((void *)(uintptr_t)(room).at)

/* ---- what is there for all launches ------------------------------------------------------------------------------- */

static bool load(void)
{
	CUdevice device;
	int most = 0, own = 0;
	CUmodule m;

	if (!rt_drv.cuFuncSetAttribute || REAL(cuModuleLoadData, RT_cuModuleLoadData)(&m, rt_clear_image) != CUDA_SUCCESS)
		return false;
	for (int k = 0; k < KERNELS; k++)
		if (REAL(cuModuleGetFunction, RT_cuModuleGetFunction)(&gpu.f[k], m, names[k]) != CUDA_SUCCESS)
			return false;
	if (rt_drv.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
	    rt_drv.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device) != CUDA_SUCCESS ||
	    rt_drv.cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, gpu.f[JUDGE]) != CUDA_SUCCESS)
		return false;
	gpu.shared = (size_t)(most - own);
	return rt_drv.cuFuncSetAttribute(gpu.f[JUDGE], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - own) == CUDA_SUCCESS &&
	       rt_drv.cuFuncSetAttribute(gpu.f[BLOCKWISE], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - own) == CUDA_SUCCESS;
}

/* Nothing is known of pages. */
static bool forget_pages(void)
{
	const struct { uint32_t pages, unused; uint64_t range[2]; } none = {0, 0, {UINT64_MAX, 0}};

	gpu.since = 0;
	gpu.s.stamp = 0;
	gpu.s.pages = AT(gpu.counts);
	gpu.s.range = (uint64_t *)AT(gpu.counts) + 1;
	return fill(gpu.page.at, gpu.page.bytes, 0) && fill(gpu.cells.at, gpu.cells.bytes, 0) && fill(gpu.cell.at, gpu.cell.bytes, 0) &&
	       upload(&gpu.counts, &none, sizeof none);
}

static bool make_pages(uint32_t n)
{
	if (!make_room(&gpu.cell, (size_t)n * SCREEN_LINES * sizeof *gpu.s.cell, 0))
		return false;
	gpu.s.room = (uint32_t)(gpu.cell.bytes / (SCREEN_LINES * sizeof *gpu.s.cell));
	gpu.s.page = AT(gpu.page);
	gpu.s.cells = AT(gpu.cells);
	gpu.s.cell = AT(gpu.cell);
	return forget_pages();
}

static bool set_up(void)
{
	return load() && make_room(&gpu.question, sizeof(struct question), 0) && make_room(&gpu.counts, 64, 0) &&
	       make_room(&gpu.page, SCREEN_PAGES * sizeof *gpu.s.page, 0) &&
	       make_room(&gpu.cells, SCREEN_PAGES * sizeof *gpu.s.cells, 0) && make_pages(FIRST_PAGES);
}

/* The memory and the kernels went with the context that owned them. */
void rt_clear_forget(void)
{
	free(gpu.tables);
	memset(&gpu, 0, sizeof gpu);
}

/* ---- what is there for a module, a kernel ------------------------------------------------------------------------- */

static bool upload_tables(struct screen_table *there, const struct event_sites *all)
{
	const size_t n = all->nsites, runs = all->nruns;
	struct screen_table t = {
		.site = rt_alloc((n + 1) * sizeof *t.site), .traits = rt_alloc(n + 1),
		.access = rt_alloc((n + runs + 1) * sizeof *t.access), .span = rt_alloc((n + 1) * sizeof *t.span)
	};
	struct room r[6] = {{0, 0}};
	bool ok;

	screen_table(&t, all);
	ok = upload(&r[0], t.site, n * sizeof *t.site) && upload(&r[1], t.traits, n) && upload(&r[2], t.access, (n + runs) * sizeof *t.access) &&
	     upload(&r[3], t.span, n * sizeof *t.span) && upload(&r[4], all->site, n * sizeof *all->site) &&
	     upload(&r[5], all->run, runs * sizeof *all->run);
	*there = (struct screen_table){
		.site = AT(r[0]), .traits = AT(r[1]), .access = AT(r[2]), .span = AT(r[3]), .all = AT(r[4]), .run = AT(r[5]), .shift = t.shift,
		.fine = t.fine
	};
	rt_free(t.site);
	rt_free(t.traits);
	rt_free(t.access);
	rt_free(t.span);
	return ok;
}

static const struct screen_table *tables_of(const struct event_sites *all)
{
	struct screen_table t;

	for (size_t i = 0; i < gpu.ntables; i++)
		if (gpu.tables[i].of == all->site)
			return &gpu.tables[i].there;
	if (!upload_tables(&t, all))
		return NULL;
	gpu.tables = rt_grow(gpu.tables, &gpu.tables_cap, gpu.ntables + 1, sizeof *gpu.tables);
	gpu.tables[gpu.ntables] = (struct tables){all->site, t};
	return &gpu.tables[gpu.ntables++].there;
}

/* Where addresses of the kernel's sites may lie: of one kernel with as much dynamic memory always the same. */
static bool walls_of(const struct rt_question *c, const struct event_sites *all, struct screen_wall **there)
{
	const size_t n = SCREEN_ADDRESSES * (size_t)all->nsites;
	struct screen_wall *w;
	struct walls *x;
	bool ok;

	*there = NULL;
	if (!c->places.n)
		return true;
	for (unsigned i = 0; i < gpu.nwalls && i < WALLS; i++) {
		x = &gpu.walls[i];
		if (x->kernel == c->launch->kernel && x->of == all->site && x->dynamic == c->dynamic) {
			*there = AT(x->wall);
			return true;
		}
	}
	x = &gpu.walls[gpu.nwalls++ % WALLS];
	w = rt_alloc(n * sizeof *w);
	screen_walls(w, all, &c->places);
	ok = upload(&x->wall, w, n * sizeof *w);
	rt_free(w);
	x->kernel = c->launch->kernel;
	x->of = all->site;
	x->dynamic = c->dynamic;
	*there = AT(x->wall);
	return ok;
}

struct gaps { const struct screen_places *of; struct ground made; };

static void make_gaps(void *arg)
{
	struct gaps *g = arg;

	screen_ground(&g->made, g->of->block, g->of->nblocks);
}

/* Where none of the program's memory is. */
static bool gaps_of(const struct rt_question *c, struct ground *there)
{
	struct gaps of = {.of = &c->places};
	struct ground g;
	bool ok;

	if (!rt_with_memory(make_gaps, &of))
		return false;
	g = of.made;
	ok = upload(&gpu.gaps, g.gap, g.n * sizeof *g.gap);
	free(g.gap);
	*there = (struct ground){AT(gpu.gaps), g.n};
	return ok;
}

/* Blocks of the kernel that were clear; first the struct, then what it points to. */
static bool twins_of(const struct rt_question *c, struct screen_twins **there)
{
	const size_t first = units(sizeof(struct screen_twins)), bytes = TWIN_UNITS * sizeof(struct event_unit);
	struct screen_twins none = {.room = TWIN_UNITS};
	struct twins *x;

	for (unsigned i = 0; i < gpu.ntwins && i < TWINS; i++) {
		x = &gpu.twins[i];
		*there = AT(x->all);
		if (x->kernel == c->launch->kernel && x->threads == c->log.threads && x->shared == c->log.shared)
			return true;
	}
	x = &gpu.twins[gpu.ntwins++ % TWINS];
	*x = (struct twins){c->launch->kernel, c->log.threads, c->log.shared, x->all};
	if (!make_room(&x->all, first + bytes + TWIN_UNITS * sizeof *none.what, 0))
		return false;
	none.unit = (void *)(uintptr_t)(x->all.at + first);
	none.what = (void *)(uintptr_t)(x->all.at + first + bytes);
	*there = AT(x->all);
	return log_write(gpu.way, x->all.at, &none, sizeof none);
}

/* ---- a launch ------------------------------------------------------------------------------------------------------- */

/* Does it have room in a block of the device? */
static bool fits(const struct rt_question *c, const struct screen *s)
{
	const size_t bytes = s->order ? screen_order_bytes() : c->log.shared ? screen_cells(&c->log, s->table.shift) * sizeof(uint32_t) : 0;

	return bytes <= gpu.shared;
}

static bool ask(const struct rt_question *c, const struct event_sites *all, struct question *q)
{
	const uint32_t pieces = screen_pieces(&c->log);
	const struct screen_table *t = tables_of(all);

	*q = (struct question){.s = gpu.s};
	q->s.log = c->log;
	q->s.order = screen_needs_order(&c->log, all);
	if (!t || !make_room(&gpu.after, pieces * sizeof *q->s.after, SCREEN_NONE) ||
	    !make_room(&gpu.first, (size_t)c->log.blocks * screen_streams(&c->log) * sizeof *q->s.first, SCREEN_NONE) ||
	    !make_room(&gpu.warp, pieces * sizeof *q->s.warp, 0) ||
	    !make_room(&gpu.has, pieces, 0) || !make_room(&gpu.like, c->log.blocks * sizeof *q->s.like, 0) ||
	    !upload(&gpu.maps, c->maps.map, c->maps.n * sizeof *c->maps.map))
		return false;
	q->s.table = *t;
	q->s.after = AT(gpu.after);
	q->s.first = AT(gpu.first);
	q->s.warp = AT(gpu.warp);
	q->s.has = AT(gpu.has);
	q->s.like = AT(gpu.like);
	q->s.maps = (struct screen_maps){AT(gpu.maps), c->maps.n};
	q->s.together = screen_together(&c->log, t->shift, 16 << 10);
	q->s.why = (void *)(uintptr_t)(gpu.question.at + offsetof(struct question, why));
	return gaps_of(c, &q->s.ground) && walls_of(c, all, &q->s.table.wall) && (!q->s.order || twins_of(c, &q->s.twins));
}

static bool judge_blocks(const struct screen *s)
{
	const unsigned warps = s->log.blocks * s->log.warps, groups = (s->log.blocks + s->together - 1) / s->together;
	const unsigned lane[2] = {EVENT_LANES, 1}, by_warp[2] = {EVENT_LANES, THREADS / EVENT_LANES};

	if (s->order)
		return pass(COMPARE, (unsigned[]){(warps + by_warp[1] - 1) / by_warp[1], 1}, by_warp, 0) &&
		       pass(JUDGE, (unsigned[]){s->log.blocks, 1}, lane, screen_order_bytes());
	return !s->log.shared ||
	       pass(BLOCKWISE, (unsigned[]){groups, 1}, lane, screen_cells(&s->log, s->table.shift) * sizeof(uint32_t) * s->together);
}

static bool all_passes(struct question *q)
{
	const unsigned grid[2] = {blocks_for(screen_pieces(&q->s.log)), 1}, block[2] = {THREADS, 1};

	if (gpu.s.stamp == STAMPS && !forget_pages())
		return false;
	q->s.stamp = ++gpu.s.stamp;
	gpu.since++;
	memset(q->why, 0, sizeof q->why);
	return log_write(gpu.way, gpu.question.at, q, sizeof *q) && pass(LINK, grid, block, 0) && judge_blocks(&q->s) &&
	       pass(WRITES, grid, block, 0) && pass(READS, grid, block, 0) &&
	       log_read(gpu.way, q->why, gpu.question.at + offsetof(struct question, why), sizeof q->why);
}

/* Were there more pages than there is room for?  That leaves other launches with none, too. */
static bool lacks_pages(const struct question *q)
{
	uint32_t pages;

	return q->why[SCREEN_SPACE] && log_read(gpu.way, &pages, gpu.counts.at, sizeof pages) && pages > gpu.s.room;
}

/* What launches before have written may take all the room for pages; if it is not that, there is too little. */
static bool answer(struct question *q)
{
	bool ok = all_passes(q);

	if (ok && gpu.since > 1 && lacks_pages(q))
		ok = forget_pages() && all_passes(q);
	while (ok && lacks_pages(q) && gpu.s.room < MOST_PAGES) {
		ok = make_pages(2 * gpu.s.room);
		q->s.room = gpu.s.room;
		q->s.cell = gpu.s.cell;
		ok = ok && all_passes(q);
	}
	return ok;
}

/* ---- the second look ------------------------------------------------------------------------------------------------ */

enum { FIRST_CLOSER = 4 };      /* pages that have cells then, at first */

/* Room for the cells of so many pages; that of a module with smaller cells may be more than enough. */
static bool make_closer(struct screen *s, uint32_t pages)
{
	const size_t page = sizeof *s->cell << screen_page_cells(&s->table, true);
	const struct room was = gpu.closer.cell;
	struct closer *c = &gpu.closer;

	if (!make_room(&c->page, SCREEN_PAGES * sizeof *s->page, 0) || !make_room(&c->cells, SCREEN_PAGES * sizeof *s->cells, 0) ||
	    !make_room(&c->counts, 64, 0) || !make_room(&c->cell, pages * page, 0) ||
	    (c->stamp == STAMPS && !fill(c->cell.at, c->cell.bytes, 0)))
		return false;
	if (c->cell.at != was.at || c->stamp == STAMPS)
		c->stamp = 0;
	s->page = AT(c->page);
	s->cells = AT(c->cells);
	s->cell = AT(c->cell);
	s->pages = AT(c->counts);
	s->range = (uint64_t *)AT(c->counts) + 1;
	s->room = c->cell.bytes / page < screen_closer_pages(&s->table) ? (uint32_t)(c->cell.bytes / page) : screen_closer_pages(&s->table);
	return true;
}

/* Pages have no cells before it. */
static bool closer_passes(struct question *q)
{
	const unsigned grid[2] = {blocks_for(screen_pieces(&q->s.log)), 1}, block[2] = {THREADS, 1};
	const struct { uint32_t pages, unused; uint64_t range[2]; } none = {0, 0, {UINT64_MAX, 0}};

	q->s.stamp = ++gpu.closer.stamp;
	memset(q->why, 0, sizeof q->why);
	return fill(gpu.closer.page.at, gpu.closer.page.bytes, 0) && fill(gpu.closer.cells.at, gpu.closer.cells.bytes, 0) &&
	       upload(&gpu.closer.counts, &none, sizeof none) && log_write(gpu.way, gpu.question.at, q, sizeof *q) &&
	       pass(WRITES, grid, block, 0) && pass(READS, grid, block, 0) &&
	       log_read(gpu.way, q->why, gpu.question.at + offsetof(struct question, why), sizeof q->why);
}

/* What the question's answer is then.  False: there is no memory for it.  Passes that lack room say how much there has to be. */
static bool look_closer(struct question *q)
{
	const uint32_t most = screen_closer_pages(&q->s.table);
	uint32_t pages = FIRST_CLOSER;
	bool ok;

	q->s.closer = true;
	ok = make_closer(&q->s, pages) && closer_passes(q);
	if (!ok || !q->why[SCREEN_SPACE] || !log_read(gpu.way, &pages, gpu.closer.counts.at, sizeof pages) || pages <= q->s.room || pages > most)
		return ok;
	return make_closer(&q->s, pages) && closer_passes(q);
}

static bool is_none(const uint32_t why[SCREEN_WHYS])
{
	uint32_t all = 0;

	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		all |= why[i];
	return !all;
}

static bool begin(const struct log_way *w)
{
	if (gpu.state == OFF)
		return false;
	gpu.way = w;
	if (gpu.state == UNTRIED)
		gpu.state = set_up() ? READY : OFF;
	if (gpu.state == OFF)
		rt_say("device_screen: the device gives no memory or does not load the kernels for it; the host judges all launches");
	return gpu.state == READY;
}

enum rt_clear rt_clear(const struct log_way *w, const struct rt_question *c)
{
	const struct event_sites all = rt_sites_linked(c->launch->tables);
	struct question q;

	if (!begin(w) || !ask(c, &all, &q) || !fits(c, &q.s))
		return RT_CLEAR_UNASKED;
	if (!answer(&q)) {
		gpu.state = OFF;
		rt_say("device_screen: a driver call failed; from now on the host judges all launches");
		return RT_CLEAR_UNASKED;
	}
	if (screen_looks_closer(q.why) && !look_closer(&q))
		return RT_CLEAR_UNASKED;
	return is_none(q.why) ? RT_CLEAR : RT_CLEAR_NOT;
}

bool rt_clear_empty(const struct log_way *w, CUdeviceptr at, uint64_t bytes)
{
	uint32_t first;

	return begin(w) && fill(at, bytes, 0) && log_read(w, &first, at, sizeof first) && !first;
}
