/* SPDX-License-Identifier: Apache-2.0
 *
 * screen.h: is there nothing to judge in a launch?
 *
 * In a launch whose blocks synchronise by barriers of all their threads alone, two accesses can be a finding only if
 * they touch the same memory, one writes, and nothing of what is below tells them apart.  Where that holds of no two,
 * the launch is clear; any other is the detector's (detect.h).  The passes are functions of one index over the region
 * as the kernel left it (event/region.h): cc makes them for the host, one index after the other, nvcc for a GPU,
 * where a thread takes an index, or a warp does: for screen_block and screen_judge, of which each lane takes a
 * warp of the block, and for screen_compare.
 */
#ifndef DETECT_SCREEN_H
#define DETECT_SCREEN_H

#include "detect/ground.h"
#include "event/event.h"
#include "event/region.h"

#ifdef __CUDACC__
#define SCREEN_PASS __device__
#else
#define SCREEN_PASS
#endif

#define SCREEN_NONE 0xffffffffu

/* A launch that is over, of which nothing is lost.  warps, threads: of a block; shared: bytes of its memory; next: where
 * the region's first free unit is; end: of the launch's own pieces; rows: of a warp, screen_rows(). */
struct screen_log {
	const struct event_unit *unit;
	uint32_t launch, heads, slots, end, next, piece, blocks, warps, threads, shared, rows;
};

/* Why a launch is not clear. */
enum screen_why {
	SCREEN_KIND,                    /* an event of another kind than accesses and barriers of all threads */
	SCREEN_ACCESS,                  /* an access that is not looked at here */
	SCREEN_GROUPS,                  /* barriers, or shared memory, and groups that no row's first lane leads, or of several rows */
	SCREEN_SPACE,                   /* no room for what would have to be kept */
	SCREEN_ORDER,                   /* an order, or a misuse, that screen_order does not follow */
	SCREEN_SHARED, SCREEN_GLOBAL,   /* two accesses of shared, of global memory */
	SCREEN_BOUNDS,                  /* an access that is not within its variable of shared memory, or may not be */
	SCREEN_GROUND,                  /* one that is behind a block of global memory, or in one that was freed, or may be */
	SCREEN_WHYS
};
/* In words. */
const char *screen_why(enum screen_why);

/* What an access is, as bits.  ATOMIC: a reduction nobody reads the result of (probe/plan.h), in a scope that holds
 * everybody. */
enum screen_trait {
	TRAIT_UNKNOWN = 1, TRAIT_SHARED_WRITE = 2, TRAIT_SHARED_READ = 4, TRAIT_GLOBAL_WRITE = 8, TRAIT_GLOBAL_READ = 16, TRAIT_ATOMIC = 32
};

enum { SCREEN_READS = 1, SCREEN_WRITES = 2 };

/* How blocks are judged: by intervals between barriers; by an order of their records, for who screen_needs_order(); by that with
 * cells of shared memory as small as may be. */
enum screen_form { SCREEN_BY_BARRIERS, SCREEN_BY_ORDER, SCREEN_BY_SMALL_CELLS };

/* One of those that a record stands for: so far behind its address. */
struct screen_access { int32_t offset; uint16_t bytes; uint8_t traits; };
EVENT_ASSERT(sizeof(struct screen_access) == 8);

/* So many blocks of a launch are noted where something is against them; others are not. */
enum { SCREEN_NOTED = 1 << 20 };

/* Global memory is looked at by lines, in pages of which those that are written have a cell for each line.  The second look is
 * at cells of the smallest access, of at most 1 << SCREEN_FINE bytes. */
enum { SCREEN_LINE = 7, SCREEN_PAGE = 21, SCREEN_LINES = 1 << (SCREEN_PAGE - SCREEN_LINE), SCREEN_PAGES = 1 << 13, SCREEN_FINE = 4 };

/* How far accesses reach, counted from the address that their record has; from > to: there are none. */
struct screen_reach { int32_t from, to; };

/* Of a site: its first access, and how many there are from `first` on; those in global memory together. */
struct screen_site { uint32_t first, n; struct screen_access one; struct screen_reach global; };

/* How far the descriptors of a record's products begin behind the first one's, in their units of 16 bytes: least and
 * most, of A and of B; known: they are of one shape. */
struct screen_span { int16_t a[2], b[2]; bool known; };

/* Where an address of a site may lie in a block's memory: in one of two ranges.  Of a site there is one for each of its
 * addresses (enum event_address_of).  least, most: if a record's addresses lie between these, all of its accesses
 * are within; if not, they may be.  0 and UINT32_MAX: no access has bounds. */
struct screen_wall { uint32_t from[2], to[2], least, most; };
enum { SCREEN_ADDRESSES = EVENT_OF_MBAR + 1 };

/* Where variables of shared memory lie in the launch; blocks of global memory, as the detector is told of them. */
struct screen_places { const struct event_place *place; uint32_t n; const struct event_block *block; uint32_t nblocks; };

/* Tables of what sites do, in memory of the caller's; screen_table() fills them in. */
struct screen_table {
	const struct event_site *all;   /* as they are told */
	const struct event_run *run;
	struct screen_site *site;
	uint8_t *traits;                /* of each site: those of its accesses */
	struct screen_access *access;   /* nsites + nruns */
	struct screen_span *span;       /* of each site; of use to products */
	struct screen_wall *wall;       /* SCREEN_ADDRESSES of each site, by screen_walls(); NULL: no address is looked at */
	uint32_t shift, fine;           /* the smallest access of shared memory has 1 << shift bytes, of global memory 1 << fine */
};
void screen_table(struct screen_table *, const struct event_sites *);
void screen_walls(struct screen_wall *, const struct event_sites *, const struct screen_places *);

/* Tensor maps that the launch may use, by hash. */
struct screen_maps { const struct event_map *map; uint32_t n; };

/* What blocks did that were clear (twin.c), of launches of one kernel of one module, with blocks of one size and as much
 * shared memory; in memory of the caller's: `unit`, `what` and `room` are set by him, the rest is zero at first.  Of all launches
 * that are screened at once one block is learned from. */
enum { SCREEN_WARPS = 12, SCREEN_CLASSES = 8 };
struct screen_stream { uint32_t first, n; };    /* units */
struct screen_twins {
	struct event_unit *unit;
	uint16_t *what;                 /* of each unit: what counts */
	uint32_t room, taken;           /* units */
	uint32_t tried, known;          /* so many blocks were learned from; those that were clear, and fit, as bits */
	uint32_t found;                 /* blocks that did the same as one of these */
	uint64_t first;                 /* of the others: launch << 32 | block; UINT64_MAX */
	struct screen_stream stream[SCREEN_CLASSES][SCREEN_WARPS];
};

struct screen {
	struct screen_log log;
	struct screen_table table;
	struct screen_maps maps;
	struct ground ground;           /* where no block is; n 0: no address is looked at */
	enum screen_form form;
	bool closer;                    /* the second look at global memory, with other pages and cells than the first one's */
	uint32_t stamp;                 /* of this launch, or look: 1 to 65535; a cell with another one is empty */
	uint64_t salt;                  /* is added to its page numbers: launches with different ones have their own cells */
	uint32_t together;              /* blocks that screen_block takes at once: screen_together() */
	uint32_t room;                  /* pages that have cells, at most */
	uint32_t *pages;                /* so many have */
	uint64_t *range;                /* the first of these, or of others, and the last one: page numbers */
	uint64_t *page;                 /* SCREEN_PAGES hashed page numbers + 1; 0: none */
	uint32_t *cells;                /* of each: which of the pages that have cells it is, + 1 */
	uint64_t *cell;                 /* room << screen_page_cells() */
	uint32_t *after;                /* of each piece: the one behind it; NONE */
	uint32_t *first;                /* of each row of each warp of the launch: the first piece of a row's first lane but lane 0; NONE */
	uint32_t *warp;                 /* of each piece: its warp in the launch */
	struct screen_twins *twins;     /* NULL: each block is judged by itself */
	uint8_t *has;                   /* with twins: what the records of each piece may do in global memory, as bits */
	uint32_t *like;                 /* of each block: those that it does the same as, as twins->known */
	uint32_t *why;                  /* of each enum screen_why: so often */
	uint64_t *against;              /* of each block up to SCREEN_NOTED: screen_note(), of a reason within the block if there is one; NULL: nobody asks */
	uint32_t look;                  /* not 0, and another one for each look: what others have noted is void */
};

/* What a look has against a block: why, and the other block that has a part in it, if one is known and below SCREEN_NOTED, else
 * itself.  Not 0. */
static inline EVENT_BOTH uint64_t screen_note(uint32_t look, enum screen_why why, uint32_t other)
{
	return (uint64_t)look << 32 | (uint64_t)why << 24 | other;
}
static inline EVENT_BOTH uint32_t screen_note_look(uint64_t note) { return note >> 32; }
static inline EVENT_BOTH enum screen_why screen_note_why(uint64_t note) { return (enum screen_why)(note >> 24 & 0xff); }
static inline EVENT_BOTH uint32_t screen_note_other(uint64_t note) { return note & 0xffffff; }

/* Pieces: those of the launch's warps, and those that were taken. */
static inline EVENT_BOTH uint32_t screen_pieces(const struct screen_log *l)
{
	return l->blocks * l->warps + (l->next > l->end ? (l->next - l->end) / l->piece : 0);
}

/* Cells of a block's shared memory, of 4 bytes each. */
static inline EVENT_BOTH uint32_t screen_cells(const struct screen_log *l, uint32_t shift)
{
	return ((l->shared + 1024) >> shift) + 1;       /* 1,024 bytes in front of a block's own */
}

/* Rows of a warp whose records the screen takes as one stream for each, of blocks with so many threads, x of them along x: probes
 * have no group of lanes of several rows (doc/probes.md).  1: the warp is one, or there are more streams than lanes of a GPU's
 * warp, which has one for each. */
static inline EVENT_BOTH uint32_t screen_rows(uint32_t x, uint32_t threads)
{
	uint32_t rows = x && x < EVENT_LANES && EVENT_LANES % x == 0 && threads > x ? EVENT_LANES / x : 1;

	return (threads + EVENT_LANES - 1) / EVENT_LANES * rows <= EVENT_LANES ? rows : 1;
}

/* Streams of a block. */
static inline EVENT_BOTH uint32_t screen_streams(const struct screen_log *l)
{
	return l->warps * (l->rows > 1 ? l->rows : 1);
}

/* A page has 1 << so many cells, at the first look or at the second. */
static inline EVENT_BOTH uint32_t screen_page_cells(const struct screen_table *t, bool closer)
{
	return SCREEN_PAGE - (closer ? t->fine : (uint32_t)SCREEN_LINE);
}

/* Pages that have cells at the second look, at most: those take 1 GiB. */
static inline EVENT_BOTH uint32_t screen_closer_pages(const struct screen_table *t)
{
	return (1u << 27) >> screen_page_cells(t, true);
}

/* How many blocks a GPU's warp can take at once, with so many bytes for their cells. */
static inline EVENT_BOTH uint32_t screen_together(const struct screen_log *l, uint32_t shift, uint32_t bytes)
{
	uint32_t n = 1;

	while (2 * n * screen_streams(l) <= EVENT_LANES && 2 * n * screen_cells(l, shift) * 4 <= bytes)
		n *= 2;
	return n;
}

/* Does the launch need screen_order in screen_block's place?  It is for blocks of few warps that meet at mbarriers and
 * named barriers, too, and for copies and products. */
bool screen_needs_order(const struct screen_log *, const struct event_sites *);
bool screen_order_fits(const struct screen_log *);
/* Its memory for a block. */
EVENT_BOTH uint32_t screen_order_bytes(const struct screen_log *, enum screen_form);

/* The form to look at a launch in that is not clear in another one: that one, if there is none. */
static inline enum screen_form screen_next_form(const struct screen_log *l, const struct event_sites *all, enum screen_form form,
					       const uint32_t why[SCREEN_WHYS])
{
	uint32_t others = 0;

	if (form == SCREEN_BY_BARRIERS)
		return why[SCREEN_KIND] && screen_needs_order(l, all) ? SCREEN_BY_ORDER : form;
	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		others |= i == SCREEN_SHARED || i == SCREEN_GLOBAL ? 0 : why[i];
	return form == SCREEN_BY_ORDER && why[SCREEN_SHARED] && !others ? SCREEN_BY_SMALL_CELLS : form;
}

/* Did the first look find something in global memory, and nothing else?  Then a second one may find nothing. */
static inline bool screen_looks_closer(const uint32_t why[SCREEN_WHYS])
{
	uint32_t others = 0;

	for (unsigned i = 0; i < SCREEN_WHYS; i++)
		others |= i == SCREEN_GLOBAL ? 0 : why[i];
	return why[SCREEN_GLOBAL] && !others;
}

/* The passes in their order, each for all of its indices: pieces; blocks divided by `together`, if they have shared
 * memory, or with `order` warps of the launch, if there are twins, and blocks; pieces; pieces.  With `closer` the last two
 * once more, after the others, if screen_looks_closer(): what they count then counts in place of what was counted before. */
SCREEN_PASS void screen_link(const struct screen *, uint32_t piece);
SCREEN_PASS void screen_block(const struct screen *, uint32_t n);
SCREEN_PASS void screen_compare(const struct screen *, uint32_t warp);
SCREEN_PASS void screen_judge(const struct screen *, uint32_t block);
SCREEN_PASS void screen_writes(const struct screen *, uint32_t piece);
SCREEN_PASS void screen_reads(const struct screen *, uint32_t piece);
/* Leaves `after` and `first` as they were before screen_link(). */
SCREEN_PASS void screen_unlink(const struct screen *, uint32_t piece);

/* All of that on the host: is the launch clear?  places: NULL, or where its variables and its memory lie, outside of which it is
 * not; twins: NULL, or what is known of launches before; why: counts by enum screen_why. */
bool screen_launch(const struct screen_log *, const struct event_sites *, const struct screen_maps *, const struct screen_places *,
		   struct screen_twins *twins, uint32_t why[SCREEN_WHYS]);

#endif
