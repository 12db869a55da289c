/* SPDX-License-Identifier: Apache-2.0
 *
 * clear.c: whether launches are clear, by the screen (detect/screen.h) as kernels (clear.cu) on the device, where their logs
 * are: what is clear need not be read.
 *
 * They run in the program's own context, which need not be switched for that (doc/hardware.md 17), in a stream that waits for
 * no other.  Where a kernel of the program's holds all of the device they may not begin for long: then the launches they are
 * for are left to the host, and so is what comes until they are done.  Memory is freed with the context: cuMemFree waits for
 * kernels.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/clear.h"
#include "rt/slab.h"

enum {
	FIRST_CELLS = 1 << SCREEN_PAGE, /* of a look: of a page at least, whatever their size; and */
	MOST_CELLS = 1 << 27,           /* at most: then what is known of pages is forgotten */
	STAMPS = 65535,
	THREADS = 256,
	BLOCKS = 2048,                  /* of a pass that goes on by itself */
	FORMED = 256,                  /* kernels of which it is known which form they take */
	WALLS = 256,                    /* kernels of which the places of variables are kept there */
	TWINS = 8,                      /* kernels of which blocks are kept there, */
	TWIN_UNITS = 1 << 18,           /* so many of each */
	SMALL = 32 << 20,               /* bytes: what is smaller and too small is made twice as large */
	PATIENCE_MS = 3000, PATIENCE_EMULATED_MS = 60000,
	SALT_SHIFT = 40                 /* of a launch's number in its batch: screen.salt */
};

enum kernel { BEGIN, QUEUE, STARTS, LINK, BLOCKWISE, COMPARE, JUDGE, WRITES, READS, EMPTY, KERNELS };
static const char *const names[KERNELS] = {
	"gsan_begin", "gsan_queue", "gsan_starts", "gsan_link", "gsan_blocks", "gsan_compare", "gsan_judge", "gsan_writes", "gsan_reads", "gsan_empty"
};

/* Memory of the device. */
struct room { CUdeviceptr at; size_t bytes; };

/* Of a module's sites, which stay where they are (units.c). */
struct tables { const struct event_site *of; struct screen_table there; };
struct walls { const struct module_kernel *kernel; const struct event_site *of; uint32_t dynamic; struct room wall; };
struct twins { const struct module_kernel *kernel; uint32_t threads, shared; struct room all; unsigned batch /* that used it last */; };

/* What is known of global memory by the first look, or by the second one; see struct screen.  cells: a page has 1 << so many;
 * room: pages that have some. */
struct look { bool closer; struct room page, at, cell, counts; uint32_t cells, room, stamp; };

/* A launch that is looked at. */
struct asked { struct rt_question *of; struct screen s; uint32_t why[SCREEN_WHYS], noted /* blocks before its own */; };

static struct {
	enum { UNTRIED, READY, OFF } state;
	CUcontext ctx;
	struct log_way way;             /* of that context */
	uint64_t until;                 /* ms: nobody waits longer for it */
	bool late;                      /* somebody has waited in vain: the kernels are not done; */
	bool missed;                    /* it was the last call from outside */
	CUfunction f[KERNELS];
	size_t shared;                  /* bytes that a block may have beside its own */
	struct ground ground;
	struct rt_arena arena;          /* of all rooms */
	struct look first_look, second_look;
	struct room regions, starts, screens, why, after, first, warp, has, like, maps, gaps, against;
	uint64_t memory;                /* that the gaps are of */
	struct tables *tables;
	size_t ntables, tables_cap;
	struct walls walls[WALLS];
	struct twins twins[TWINS];
	struct formed { const struct module_kernel *kernel; const struct rt_tables *tables; enum screen_form form; } formed[FORMED];
	unsigned nwalls, ntwins, nformed, batch;
	uint32_t looks;
} gpu;

static CUcontext writes;        /* whose kernel writes what regions begin with; atomic */

/* clear.cu, for all devices. */
extern const char rt_clear_image[];
__asm__(".section .rodata,\"a\",@progbits\n"
	".balign 16\n"
	".globl rt_clear_image\n"
	".hidden rt_clear_image\n"
	"rt_clear_image: .incbin \"rt/clear.fatbin\"\n"
	".previous");

/* ---- calls; false: the driver refused, or it takes too long ---------------------------------------------------------- */

static CUresult query(CUstream s)
{
	CUresult r = REAL(CUresult(CUstream), RT_cuStreamQuery)(s);

	if (r != CUDA_ERROR_NOT_READY || rt_now_ms() < gpu.until)
		return r;
	gpu.late = gpu.missed = true;
	return CUDA_ERROR_TIMEOUT;
}

static bool launch(enum kernel k, const unsigned grid[2], const unsigned block[2], size_t shared, void **params)
{
	return REAL(cuLaunchKernel, RT_cuLaunchKernel)(gpu.f[k], grid[0], grid[1], 1, block[0], block[1], 1, (unsigned)shared, gpu.way.stream,
						      params, NULL) == CUDA_SUCCESS;
}

static unsigned blocks_for(uint64_t n)
{
	const uint64_t all = (n + THREADS - 1) / THREADS;

	return all < BLOCKS ? (unsigned)(all ? all : 1) : BLOCKS;
}

static bool fill(CUdeviceptr at, size_t bytes, uint32_t word)
{
	return REAL(cuMemsetD32Async, RT_cuMemsetD32Async)(at, word, bytes / sizeof word, gpu.way.stream) == CUDA_SUCCESS;
}

/* A pass over n launches. */
static bool pass(enum kernel k, unsigned blocks, unsigned n, const unsigned block[2], size_t shared)
{
	return launch(k, (unsigned[]){blocks, n}, block, shared, (void *[]){&gpu.screens.at});
}

/* Room for so many bytes: what was there is lost, and each word becomes `word`, if there was too little. */
static bool make_room(struct room *r, size_t bytes, uint32_t word)
{
	if (r->at && r->bytes >= bytes)
		return true;
	*r = (struct room){0, (bytes + (bytes < SMALL ? bytes : 0) + 64) / sizeof word * sizeof word};
	r->at = rt_arena_take(&gpu.arena, rt_device(), r->bytes);
	return r->at && fill(r->at, r->bytes, word);
}

static bool upload(struct room *r, const void *from, size_t bytes)
{
	return make_room(r, bytes, 0) && log_write(&gpu.way, r->at, from, bytes);
}

static void *at(const struct room *r, size_t bytes)
{
	return (void *)(uintptr_t)(r->at + bytes);
}
#define AT(room) at(&(room), 0)

/* ---- what is there for all launches ------------------------------------------------------------------------------- */

static bool may_have(enum kernel k, int most)
{
	int own = 0;

	if (rt_drv.cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, gpu.f[k]) != CUDA_SUCCESS)
		return false;
	if (k == JUDGE)
		gpu.shared = (size_t)(most - own);
	return rt_drv.cuFuncSetAttribute(gpu.f[k], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - own) == CUDA_SUCCESS;
}

static bool load(void)
{
	CUdevice device;
	int most = 0, unused;
	CUmodule m;

	if (!rt_drv.cuFuncSetAttribute || REAL(cuModuleLoadData, RT_cuModuleLoadData)(&m, rt_clear_image) != CUDA_SUCCESS)
		return false;
	/* Who is asked for an attribute is loaded. */
	for (int k = 0; k < KERNELS; k++)
		if (REAL(cuModuleGetFunction, RT_cuModuleGetFunction)(&gpu.f[k], m, names[k]) != CUDA_SUCCESS ||
		    rt_drv.cuFuncGetAttribute(&unused, CU_FUNC_ATTRIBUTE_NUM_REGS, gpu.f[k]) != CUDA_SUCCESS)
			return false;
	return rt_drv.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
	       rt_drv.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device) == CUDA_SUCCESS &&
	       may_have(JUDGE, most) && may_have(BLOCKWISE, most);
}

static bool make_way(void)
{
	void *locked = NULL;

	gpu.way = (struct log_way){.read = rt_drv.cuMemcpyDtoHAsync, .write = rt_drv.cuMemcpyHtoDAsync, .query = query};
	if (rt_drv.cuStreamCreate(&gpu.way.stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
	    REAL(cuMemHostAlloc, RT_cuMemHostAlloc)(&locked, LOG_CHUNK, 0) != CUDA_SUCCESS)
		return false;
	gpu.way.locked = locked;
	return true;
}

static bool set_up(void)
{
	return make_way() && load() && make_room(&gpu.regions, RT_CLEAR_BATCH * sizeof(struct clear_region), 0) &&
	       make_room(&gpu.starts, RT_CLEAR_BATCH * sizeof(struct clear_start), 0) &&
	       make_room(&gpu.screens, RT_CLEAR_BATCH * sizeof(struct screen), 0) &&
	       make_room(&gpu.why, RT_CLEAR_BATCH * SCREEN_WHYS * sizeof(uint32_t), 0);
}

/* What was there for another context went with that. */
bool rt_clear_forget(CUcontext ctx)
{
	if (gpu.ctx != ctx)
		return false;
	__atomic_store_n(&writes, NULL, __ATOMIC_RELEASE);
	rt_free(gpu.tables);
	rt_arena_free(&gpu.arena, gpu.way.stream && REAL(CUresult(CUstream), RT_cuStreamQuery)(gpu.way.stream) == CUDA_SUCCESS);
	memset(&gpu, 0, sizeof gpu);
	return true;
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

/* Where none of the program's memory is: of all launches that are looked at together it is the same. */
static bool gaps_of(const struct rt_question *c)
{
	struct gaps g = {.of = &c->places};
	bool ok;

	if (gpu.memory == c->memory)
		return true;
	if (!rt_with_memory(make_gaps, &g))
		return false;
	ok = upload(&gpu.gaps, g.made.gap, g.made.n * sizeof *g.made.gap);
	gpu.ground = (struct ground){AT(gpu.gaps), g.made.n};
	gpu.memory = ok ? c->memory : 0;
	free(g.made.gap);
	return ok;
}

/* Blocks of the kernel that were clear; first the struct, then what it points to.  False: others that are looked at now have
 * all that there is, or a call failed. */
static bool twins_of(const struct rt_question *c, struct screen_twins **there)
{
	const size_t first = (sizeof(struct screen_twins) + 15) / 16 * 16, bytes = TWIN_UNITS * sizeof(struct event_unit);
	struct screen_twins none = {.room = TWIN_UNITS};
	struct twins *x;

	for (unsigned i = 0; i < gpu.ntwins && i < TWINS; i++) {
		x = &gpu.twins[i];
		*there = AT(x->all);
		if (x->kernel == c->launch->kernel && x->threads == c->log.threads && x->shared == c->log.shared) {
			x->batch = gpu.batch;
			return true;
		}
	}
	x = &gpu.twins[gpu.ntwins % TWINS];
	if (x->batch == gpu.batch)
		return false;
	gpu.ntwins++;
	*x = (struct twins){c->launch->kernel, c->log.threads, c->log.shared, x->all, gpu.batch};
	if (!make_room(&x->all, first + bytes + TWIN_UNITS * sizeof *none.what, 0))
		return false;
	none.unit = at(&x->all, first);
	none.what = at(&x->all, first + bytes);
	*there = AT(x->all);
	return log_write(&gpu.way, x->all.at, &none, sizeof none);
}

/* ---- what is known of global memory ------------------------------------------------------------------------------- */

/* Nothing is. */
static bool forget_pages(struct look *k)
{
	const struct { uint32_t pages, unused; uint64_t range[2]; } none = {0, 0, {UINT64_MAX, 0}};

	k->stamp = 0;
	return fill(k->page.at, k->page.bytes, 0) && fill(k->at.at, k->at.bytes, 0) && fill(k->cell.at, k->cell.bytes, 0) &&
	       upload(&k->counts, &none, sizeof none);
}

static bool make_cells(struct look *k, size_t n)
{
	if (!make_room(&k->page, SCREEN_PAGES * sizeof(uint64_t), 0) || !make_room(&k->at, SCREEN_PAGES * sizeof(uint32_t), 0) ||
	    !make_room(&k->cell, n * sizeof(uint64_t), 0))
		return false;
	k->room = (uint32_t)(n >> k->cells);
	return forget_pages(k);
}

/* For launches of that module, whose cells at the second look may be of another size than those of others. */
static bool begin_look(struct look *k, const struct screen_table *t)
{
	const uint32_t cells = screen_page_cells(t, k->closer);
	const size_t have = (size_t)k->room << k->cells;

	if (!k->room || k->cells != cells) {
		k->cells = cells;
		return make_cells(k, have > FIRST_CELLS ? have : FIRST_CELLS);
	}
	return k->stamp < STAMPS || forget_pages(k);
}

static bool may_grow(const struct look *k)
{
	return (size_t)k->room << k->cells < MOST_CELLS;
}

/* What was there before is not freed: few steps. */
static size_t more_cells(const struct look *k)
{
	const size_t n = ((size_t)k->room << k->cells) * 8;

	return n < MOST_CELLS ? n : MOST_CELLS;
}

static void tell_look(struct screen *s, const struct look *k)
{
	s->closer = k->closer;
	s->stamp = k->stamp;
	s->room = k->room;
	s->pages = AT(k->counts);
	s->range = at(&k->counts, sizeof *s->range);
	s->page = AT(k->page);
	s->cells = AT(k->at);
	s->cell = AT(k->cell);
	s->look = gpu.looks;
}

/* ---- launches ------------------------------------------------------------------------------------------------------- */

static size_t cell_bytes(const struct screen *s)
{
	return screen_cells(&s->log, s->table.shift) * sizeof(uint32_t);
}

/* Does it have room in a block of the device? */
static bool fits(const struct screen *s)
{
	return (s->form ? screen_order_bytes(&s->log, s->form) : s->log.shared ? cell_bytes(s) : 0) <= gpu.shared;
}

/* The form that launches of its kernel took before; NULL: the first one. */
static struct formed *form_of(const struct rt_launch *l)
{
	for (unsigned i = 0; i < gpu.nformed && i < FORMED; i++)
		if (gpu.formed[i].kernel == l->kernel && gpu.formed[i].tables == l->tables)
			return &gpu.formed[i];
	return NULL;
}

static void note_form(const struct rt_launch *l, enum screen_form form)
{
	struct formed *f = form_of(l);

	f = f ? f : &gpu.formed[gpu.nformed++ % FORMED];
	*f = (struct formed){l->kernel, l->tables, form};
}

/* What is asked of one launch, but for its part of the rooms that it shares with others. */
static bool make_screen(struct screen *s, const struct rt_question *c)
{
	const struct event_sites all = rt_sites_linked(c->launch->tables);
	const struct screen_table *t = tables_of(&all);
	const struct formed *f = form_of(c->launch);

	*s = (struct screen){.log = c->log, .form = f && screen_needs_order(&c->log, &all) ? f->form : SCREEN_BY_BARRIERS};
	if (!t)
		return false;
	s->table = *t;
	s->together = screen_together(&c->log, t->shift, 16 << 10);
	return fits(s) && gaps_of(c) && walls_of(c, &all, &s->table.wall) && (!s->form || twins_of(c, &s->twins));
}

/* Of all launches together. */
struct sizes { uint32_t pieces, blocks, streams, maps; uint64_t units; };

static struct sizes add_up(struct asked *const *a, unsigned n)
{
	struct sizes all = {0, 0, 0, 0, 0};

	for (unsigned i = 0; i < n; i++) {
		all.pieces += screen_pieces(&a[i]->s.log);
		all.blocks += a[i]->s.log.blocks;
		all.streams += a[i]->s.log.blocks * screen_streams(&a[i]->s.log);
		all.maps += a[i]->of->maps.n;
		all.units += a[i]->s.log.next;
	}
	return all;
}

static bool upload_maps(struct asked *const *a, unsigned n, uint32_t all)
{
	struct event_map *v = rt_alloc((all + 1) * sizeof *v);
	uint32_t at = 0;
	bool ok;

	for (unsigned i = 0; i < n; i++) {
		memcpy(v + at, a[i]->of->maps.map, a[i]->of->maps.n * sizeof *v);
		at += a[i]->of->maps.n;
	}
	ok = upload(&gpu.maps, v, all * sizeof *v);
	rt_free(v);
	return ok;
}

/* Each launch's part of what they share. */
static void share(const struct look *k, struct asked *const *a, unsigned n)
{
	struct sizes from = {0, 0, 0, 0, 0};

	for (unsigned i = 0; i < n; i++) {
		struct screen *s = &a[i]->s;

		tell_look(s, k);
		s->salt = (uint64_t)i << SALT_SHIFT;
		s->ground = gpu.ground;
		s->after = at(&gpu.after, from.pieces * sizeof *s->after);
		s->first = at(&gpu.first, from.streams * sizeof *s->first);
		s->warp = at(&gpu.warp, from.pieces * sizeof *s->warp);
		s->has = at(&gpu.has, from.pieces);
		s->like = at(&gpu.like, from.blocks * sizeof *s->like);
		s->maps = (struct screen_maps){at(&gpu.maps, from.maps * sizeof *s->maps.map), a[i]->of->maps.n};
		s->why = at(&gpu.why, i * sizeof a[i]->why);
		s->against = at(&gpu.against, a[i]->noted * sizeof *s->against);
		from.pieces += screen_pieces(&s->log);
		from.blocks += s->log.blocks;
		from.streams += s->log.blocks * screen_streams(&s->log);
		from.maps += s->maps.n;
	}
}

static bool tell(const struct look *k, struct asked *const *a, unsigned n)
{
	const struct sizes all = add_up(a, n);
	struct screen s[RT_CLEAR_BATCH];

	if (!make_room(&gpu.after, all.pieces * sizeof *s->after, SCREEN_NONE) || !make_room(&gpu.warp, all.pieces * sizeof *s->warp, 0) ||
	    !make_room(&gpu.first, all.streams * sizeof *s->first, SCREEN_NONE) || !make_room(&gpu.has, all.pieces, 0) ||
	    !make_room(&gpu.like, all.blocks * sizeof *s->like, 0) || !upload_maps(a, n, all.maps))
		return false;
	share(k, a, n);
	for (unsigned i = 0; i < n; i++)
		s[i] = a[i]->s;
	return log_write(&gpu.way, gpu.screens.at, s, n * sizeof *s) && fill(gpu.why.at, n * sizeof a[0]->why, 0);
}

/* What blocks do, in their shared memory. */
static bool judge_blocks(struct asked *const *a, unsigned n)
{
	const unsigned lane[2] = {EVENT_LANES, 1}, by_warp[2] = {EVENT_LANES, THREADS / EVENT_LANES};
	unsigned groups = 0, blocks = 0, warps = 0;
	size_t cells = 0, order = 0;
	bool ok = true;

	for (unsigned i = 0; i < n; i++) {
		const struct screen *s = &a[i]->s;
		const unsigned g = (s->log.blocks + s->together - 1) / s->together;

		if (s->form) {
			const size_t own = screen_order_bytes(&s->log, s->form);

			order = own > order ? own : order;
			blocks = s->log.blocks > blocks ? s->log.blocks : blocks;
			warps = s->log.blocks * s->log.warps > warps ? s->log.blocks * s->log.warps : warps;
		} else if (s->log.shared) {
			groups = g > groups ? g : groups;
			cells = cell_bytes(s) * s->together > cells ? cell_bytes(s) * s->together : cells;
		}
	}
	if (blocks)
		ok = pass(COMPARE, (warps + by_warp[1] - 1) / by_warp[1], n, by_warp, 0) && pass(JUDGE, blocks, n, lane, order);
	return ok && (!groups || pass(BLOCKWISE, groups, n, lane, cells));
}

/* empties: regions of those that are clear. */
static bool all_passes(struct look *k, struct asked *const *a, unsigned n, bool empties)
{
	const unsigned block[2] = {THREADS, 1};
	uint32_t why[RT_CLEAR_BATCH][SCREEN_WHYS];
	const struct sizes all = add_up(a, n);
	const unsigned blocks = (blocks_for(all.pieces) + n - 1) / n;
	bool ok;

	if (!begin_look(k, &a[0]->s.table))
		return false;
	k->stamp++;
	gpu.looks = gpu.looks == UINT32_MAX ? 1 : gpu.looks + 1;
	if (!tell(k, a, n))
		return false;
	ok = pass(LINK, blocks, n, block, 0) && (k->closer || judge_blocks(a, n)) && pass(WRITES, blocks, n, block, 0) &&
	     pass(READS, blocks, n, block, 0) && (!empties || pass(EMPTY, (blocks_for(all.units / 4) + n - 1) / n, n, block, 0)) &&
	     log_read(&gpu.way, why, gpu.why.at, n * sizeof *why);
	for (unsigned i = 0; ok && i < n; i++)
		memcpy(a[i]->why, why[i], sizeof *why);
	return ok;
}

/* Those that lack room, which come first from now on; lack: room for pages.  False: a call failed. */
static bool lack_pages(const struct look *k, struct asked **a, unsigned *n, bool *lack)
{
	unsigned left = 0;
	uint32_t pages;

	*lack = false;
	for (unsigned i = 0; i < *n; i++)
		if (a[i]->why[SCREEN_SPACE])
			a[left++] = a[i];
	*n = left;
	if (!left)
		return true;
	if (!log_read(&gpu.way, &pages, k->counts.at, sizeof pages))
		return false;
	*lack = pages > k->room;
	return true;
}

/* Looks at them together, with room for what all of them write, or else at half of them and at the others. */
static bool look(struct look *k, struct asked **a, unsigned n, bool empties)
{
	bool ok = all_passes(k, a, n, empties), lack = false;

	while (ok && (ok = lack_pages(k, a, &n, &lack)) && lack && may_grow(k))
		ok = make_cells(k, more_cells(k)) && all_passes(k, a, n, empties);
	if (!ok || !lack)
		return ok;
	if (n == 1)
		return forget_pages(k) && all_passes(k, a, n, empties);
	return forget_pages(k) && look(k, a, n / 2, empties) && forget_pages(k) && look(k, a + n / 2, n - n / 2, empties);
}

/* At those of one size of cells that the first look found something of. */
static bool look_closer(struct asked *const *a, unsigned n, uint32_t fine, bool empties)
{
	struct asked *some[RT_CLEAR_BATCH];
	unsigned m = 0;

	for (unsigned i = 0; i < n; i++)
		if (a[i]->s.table.fine == fine && screen_looks_closer(a[i]->why))
			some[m++] = a[i];
	return !m || look(&gpu.second_look, some, m, empties);
}

/* At those of which that form may know more than the one that they were looked at in. */
static bool look_in_form(enum screen_form form, struct asked *const *a, unsigned n, bool empties)
{
	struct asked *some[RT_CLEAR_BATCH];
	unsigned m = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct rt_launch *l = a[i]->of->launch;
		const struct event_sites all = rt_sites_linked(l->tables);

		if (form == a[i]->s.form || form != screen_next_form(&a[i]->s.log, &all, a[i]->s.form, a[i]->why))
			continue;
		note_form(l, form);
		if (make_screen(&a[i]->s, a[i]->of))
			some[m++] = a[i];
	}
	return !m || look(&gpu.first_look, some, m, empties);
}

static bool answer(struct asked *const *a, unsigned n, bool empties)
{
	struct asked *all[RT_CLEAR_BATCH];
	bool ok;

	memcpy(all, a, n * sizeof *all);
	gpu.second_look.closer = true;
	ok = look(&gpu.first_look, all, n, empties) && look_in_form(SCREEN_BY_ORDER, a, n, empties) &&
	     look_in_form(SCREEN_BY_SMALL_CELLS, a, n, empties);
	for (uint32_t fine = 0; ok && fine <= SCREEN_FINE; fine++)
		ok = look_closer(a, n, fine, empties);
	return ok;
}

/* ---- which blocks something is against ------------------------------------------------------------------------------- */

static uint32_t noted_of(const struct asked *a)
{
	return a->s.log.blocks < SCREEN_NOTED ? a->s.log.blocks : SCREEN_NOTED;
}

/* All that are asked have room of their own for it, which is theirs at each look. */
static bool make_notes(struct asked *a, unsigned n)
{
	uint32_t all = 0;

	for (unsigned i = 0; i < n; i++) {
		a[i].noted = all;
		all += noted_of(&a[i]);
	}
	return make_room(&gpu.against, all * sizeof *a->s.against, 0);
}

/* Without it nobody knows of a block what is against it. */
static void read_notes(const struct asked *a)
{
	struct rt_question *q = a->of;
	const uint32_t n = noted_of(a);
	q->note = rt_alloc((n + 1) * sizeof *q->note);
	if (log_read(&gpu.way, q->note, gpu.against.at + a->noted * sizeof *q->note, n * sizeof *q->note))
		q->notes = n;
	for (uint32_t i = 0; i < n; i++)
		if (screen_note_look(q->note[i]) != a->s.look)
			q->note[i] = 0;
}

static bool is_none(const uint32_t why[SCREEN_WHYS])
{
	uint32_t all = 0;

	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		all |= why[i];
	return !all;
}

/* ---- what a region begins with: without the lock of all the rest -------------------------------------------------------- */

bool rt_clear_can_write(CUcontext ctx)
{
	return __atomic_load_n(&writes, __ATOMIC_ACQUIRE) == ctx;
}

static CUresult write_begin(enum rt_hook which, CUdeviceptr to, const void *from, size_t n, CUstream s)
{
	struct clear_begin b = {.region = (struct event_unit *)(uintptr_t)to};

	if (n > sizeof b.unit)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(b.unit, from, n);
	return REAL(cuLaunchKernel, which)(gpu.f[BEGIN], 1, 1, 1, EVENT_LANES, 1, 1, 0, s, (void *[]){&b}, NULL);
}

CUresult rt_clear_write(CUdeviceptr to, const void *from, size_t n, CUstream s)
{
	return write_begin(RT_cuLaunchKernel, to, from, n, s);
}

CUresult rt_clear_write_ptsz(CUdeviceptr to, const void *from, size_t n, CUstream s)
{
	return write_begin(RT_cuLaunchKernel_ptsz, to, from, n, s);
}

static CUresult write_queue(enum rt_hook which, CUdeviceptr at, uint32_t all, const struct log_shape *s, CUstream stream)
{
	struct clear_queue q = {
		.at = (struct region_entry *)(uintptr_t)at, .all = all, .entries = s->lanes ? s->entries : 0, .number = s->last / s->piece + 1, .piece = s->piece
	};

	return REAL(cuLaunchKernel, which)(gpu.f[QUEUE], blocks_for(all), 1, 1, THREADS, 1, 1, 0, stream, (void *[]){&q}, NULL);
}

CUresult rt_clear_queue(CUdeviceptr at, uint32_t all, const struct log_shape *s, CUstream stream)
{
	return write_queue(RT_cuLaunchKernel, at, all, s, stream);
}

CUresult rt_clear_queue_ptsz(CUdeviceptr at, uint32_t all, const struct log_shape *s, CUstream stream)
{
	return write_queue(RT_cuLaunchKernel_ptsz, at, all, s, stream);
}

/* ---- from outside ---------------------------------------------------------------------------------------------------- */

/* Who is in a context of the program's. */
struct visit { CUcontext was; CUstreamCaptureMode mode; };

static bool enter(CUcontext ctx, struct visit *v)
{
	if (rt_drv.cuCtxGetCurrent(&v->was) != CUDA_SUCCESS || rt_drv.cuCtxSetCurrent(ctx) != CUDA_SUCCESS)
		return false;
	v->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	rt_drv.cuThreadExchangeStreamCaptureMode(&v->mode);
	rt_inside++;
	gpu.missed = false;
	gpu.until = rt_now_ms() + (rt_drv.gsanEmuDeviceThread ? PATIENCE_EMULATED_MS : PATIENCE_MS);
	return true;
}

static void leave(const struct visit *v)
{
	rt_inside--;
	rt_drv.cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode[]){v->mode});
	rt_drv.cuCtxSetCurrent(v->was);
}

void rt_clear_begin(CUcontext ctx)
{
	struct visit v;

	if (gpu.state != UNTRIED || !enter(ctx, &v))
		return;
	gpu.ctx = ctx;
	gpu.state = set_up() ? READY : OFF;
	leave(&v);
	__atomic_store_n(&writes, gpu.state == READY ? ctx : NULL, __ATOMIC_RELEASE);
	if (gpu.state == OFF)
		rt_verbose(1, "device_screen: the device gives no memory or does not load the kernels for it; the host judges all launches");
}

/* A call failed, or something is not done in time. */
static void give_up(void)
{
	if (gpu.late) {
		rt_verbose(1, "device_screen: the device is busy with other kernels; until it is done the host judges all launches");
		return;
	}
	gpu.state = OFF;
	rt_verbose(1, "device_screen: a driver call failed; from now on the host judges all launches");
}

static bool is_ready(CUcontext ctx)
{
	if (gpu.state != READY || gpu.ctx != ctx)
		return false;
	if (gpu.late && query(gpu.way.stream) == CUDA_SUCCESS)
		gpu.late = false;
	return !gpu.late;
}

static bool read_starts(struct rt_launch *const *l, uint32_t n, struct clear_start *s)
{
	struct clear_region region[RT_CLEAR_BATCH];

	for (uint32_t i = 0; i < n; i++)
		region[i] = (struct clear_region){(void *)(uintptr_t)l[i]->memory.at, l[i]->shape.heads};
	return log_write(&gpu.way, gpu.regions.at, region, n * sizeof *region) &&
	       launch(STARTS, (unsigned[]){1, n}, (unsigned[]){EVENT_LANES, 1}, 0, (void *[]){&gpu.regions.at, &gpu.starts.at}) &&
	       log_read(&gpu.way, s, gpu.starts.at, n * sizeof *s);
}

bool rt_clear_starts(CUcontext ctx, struct rt_launch *const *l, uint32_t n, struct clear_start *s)
{
	struct visit v;
	bool ok = false;

	if (!enter(ctx, &v))
		return false;
	if (is_ready(ctx)) {
		ok = read_starts(l, n, s);
		if (!ok)
			give_up();
	}
	leave(&v);
	return ok;
}

bool rt_clear_missed(void)
{
	return gpu.missed;
}

void rt_clear_ask(CUcontext ctx, struct rt_question *q, uint32_t n, bool empties)
{
	struct asked *all = rt_alloc((n + 1) * sizeof *all), *some[RT_CLEAR_BATCH];
	unsigned asked = 0;
	struct visit v;
	bool ok = enter(ctx, &v);

	gpu.batch++;
	for (uint32_t i = 0; i < n; i++) {
		q[i].answer = RT_CLEAR_UNASKED;
		all[asked].of = &q[i];
		if (ok && make_screen(&all[asked].s, &q[i]))
			asked++;
	}
	for (unsigned i = 0; i < asked; i++)
		some[i] = &all[i];
	if (asked && !(make_notes(all, asked) && answer(some, asked, empties)))
		give_up();
	else
		for (unsigned i = 0; i < asked; i++) {
			all[i].of->answer = is_none(all[i].why) ? RT_CLEAR : RT_CLEAR_NOT;
			memcpy(all[i].of->why, all[i].why, sizeof all[i].why);
			if (all[i].of->answer == RT_CLEAR_NOT)
				read_notes(&all[i]);
		}
	rt_free(all);
	if (ok)
		leave(&v);
}
