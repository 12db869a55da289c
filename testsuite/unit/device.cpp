/* SPDX-License-Identifier: Apache-2.0
 *
 * device.cpp: the arithmetic of the device runtime, compiled for the host: what
 * joined clocks know, and which record may take another's place, held against
 * the definitions by trying everything in a small range.  Built and run by
 * testsuite/device.sh; what CUDA gives the runtime is stood in for below.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/state.h"

typedef unsigned int u32;
typedef unsigned long long u64;
struct uint4 { u32 x, y, z, w; };

#define FN static inline __attribute__((unused))
#define SLOW static __attribute__((unused))
#define API static __attribute__((unused))
#define ROLLED
#define __ffs __builtin_ffs
#define __popc __builtin_popcount
#define __clz __builtin_clz

static struct gsan_root the_root;
static unsigned rounded;

#define SHARED_WINDOW 0xffffffu

FN struct gsan_root *root(void) { return &the_root; }
#define ROOT(field) (the_root.field)
#define ROOT_NOW(field) ROOT(field)
template<class T> FN T *at(u64 p) { return (T *)p; }
/* What another thread does before the n-th access from now on. */
static int soon;
static void (*then)(void);
FN u32 load(const u32 *p) { if (then && !--soon) then(); return *p; }
FN u64 load64(const u64 *p) { return *p; }
FN void store(u32 *p, u32 v) { *p = v; }
FN uint4 load_cg(const void *p) { uint4 v; memcpy(&v, p, sizeof v); return v; }
FN uint4 load_ca(const void *p) { return load_cg(p); }
FN u32 load_ca32(const u32 *p) { return *p; }
FN u32 load_any(const u32 *p) { return *p; }
FN u64 load_ca64(const void *p) { return *(const u64 *)p; }
FN void store_cg(void *p, uint4 v) { memcpy(p, &v, sizeof v); }
FN uint4 four(u32 x, u32 y, u32 z, u32 w) { uint4 v = { x, y, z, w }; return v; }
FN u32 fetch_add(u32 *p, u32 v) { u32 old = *p; *p += v; return old; }
FN u32 fetch_or(u32 *p, u32 v) { u32 old = *p; *p |= v; return old; }
FN u32 fetch_and(u32 *p, u32 v) { u32 old = *p; *p &= v; return old; }
FN u64 swap(u64 *p, u64 old, u64 now) { u64 v = *p; if (v == old) *p = now; return v; }
FN u64 exchange64(u64 *p, u64 now) { u64 v = *p; *p = now; return v; }
FN void store_ca32(u32 *p, u32 v) { *p = v; }
FN void count(u32 which, u64 n) { if (which == GSAN_COUNT_MERGED) rounded += n; }
FN u32 sreg_laneid(void) { return 0; }
FN u32 clock32(void) { return 0; }
/* What happens elsewhere in a moment between two accesses. */
static void (*meanwhile)(void);
FN void __threadfence(void) { if (meanwhile) meanwhile(); }
FN void fence(void) { __threadfence(); }
FN void __threadfence_system(void) { }
FN u32 __activemask(void) { return 1; }
FN u32 together(void) { return 1; }
FN u32 __shfl_sync(u32, u32 v, int) { return v; }
FN bool __all_sync(u32, bool x) { return x; }
FN bool __any_sync(u32, bool x) { return x; }
FN void meet(u32) {}
FN u32 __match_any_sync(u32, u64) { return 1; }
FN bool __isShared(const void *) { return false; }
FN bool __isLocal(const void *) { return false; }
FN void *__cvta_global_to_generic(size_t p) { return (void *)p; }
FN size_t __cvta_generic_to_shared(const void *p) { return (size_t)p; }
FN void *__cvta_shared_to_generic(size_t p) { return (void *)p; }
FN void __nanosleep(u32) {}
FN bool chosen(u32) { return false; }
#define TOGETHER(...) do { u32 group_ = 1; (void)group_; __VA_ARGS__ } while (0)
u32 __gsan_site_base = 1;
FN struct gsan_block *block_of(u32 slot) { return at<struct gsan_block>(the_root.blocks) + slot; }
FN struct gsan_block *own_block(const struct gsan_warp *w) { return at<struct gsan_block>(w->block); }
FN struct gsan_lane *lane_of(const struct gsan_warp *, u32 lane) { return at<struct gsan_lane>(the_root.lanes) + lane; }
FN struct gsan_launch *launch_of(const struct gsan_block *b) { return at<struct gsan_launch>(the_root.launches) + b->launch; }

FN struct gsan_warp *warp_of(u32 slot, u32 warp) { return at<struct gsan_warp>(the_root.warps) + (slot << 5) + warp; }
FN u32 block_clock(const struct gsan_block *, u32 slot) { return warp_of(slot, 0)->clock; }
/* One thread runs all this. */
FN void take_lock(u32 *) {}
FN void unlock(u32 *) {}
FN u32 ring_clock(struct gsan_warp *w, bool) { return w->clock++; }
FN bool ring_begin(struct gsan_warp *w, u32 lanes) { return lanes != w->live; }
FN void ring_end(struct gsan_warp *, bool) {}
FN bool same4(uint4 a, uint4 b) { return !memcmp(&a, &b, sizeof a); }

#include "rt/device/order.cuh"
#include "rt/device/cross.cuh"
#include "rt/device/snap.cuh"
#include "rt/device/value.cuh"
#include "rt/device/report.cuh"
#include "rt/device/granule.cuh"
#include "rt/device/access.cuh"

/* Operations have no arithmetic that is tried here. */
SLOW void judge_async(struct gsan_warp *w, u64 *sh, u32 *st, u32 i, u64 prev, u32 word, u64 now, u64 where, u32 site)
{
	(void)w, (void)sh, (void)st, (void)i, (void)prev, (void)word, (void)now, (void)where, (void)site;
}

SLOW bool settled(struct gsan_warp *w, u64 r, u32 kind)
{
	(void)w, (void)r, (void)kind;
	return false;
}

SLOW bool behind_product(struct gsan_warp *w, const u64 *sh, u64 prev)
{
	(void)w, (void)sh, (void)prev;
	return false;
}

/* Nor have lines. */
SLOW void line_open(struct gsan_warp *w, u64 *sh)
{
	(void)w, (void)sh;
}

/* Nor have launches that overlap. */
SLOW bool launch_beside(struct gsan_warp *w, u32 other, u32 chain)
{
	(void)w, (void)other, (void)chain;
	return false;
}

SLOW u64 row_quick(struct gsan_warp *w, u32 addr, u32 info, u32 write, u32 site, u32 value)
{
	(void)w, (void)addr, (void)info, (void)write, (void)site, (void)value;
	return ROW_NOT;
}

SLOW bool row_rest(struct gsan_warp *w, u32 addr, u32 write, u32 site, u64 said)
{
	(void)w, (void)addr, (void)write, (void)site, (void)said;
	return false;
}

static int failures;

static void expect(bool ok, const char *what)
{
	if (!ok && failures++ < 10)
		printf("FAIL: device: %s\n", what);
}

static u32 seed = 1;
static u32 below(u32 n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* ---- what a clock knows, by definition ----------------------------------------- */

static bool own_knows(struct gsan_own e, u32 lane, u32 clock)
{
	return clock <= e.base || (clock <= e.top && (e.mask >> lane & 1));
}

static bool slot_knows(struct gsan_cross e, u32 warp, u32 lane, u32 clock)
{
	return clock > CROSS_START(e) &&
		(clock <= e.base || (warp == CROSS_WARP(e) && clock <= CROSS_TOP(e) && (e.mask >> lane & 1)));
}

static void clocks_of_a_warp(void)
{
	unsigned exact = 0;

	for (int i = 0; i < 20000; i++) {
		struct gsan_own a = { below(6), below(8), below(8), 0 }, b = { below(6), below(8), below(8), 0 };
		rounded = 0;
		struct gsan_own j = join_own(a, b);
		exact += !rounded;
		for (u32 lane = 0; lane < 4; lane++)
			for (u32 c = 1; c < 9; c++) {
				bool want = own_knows(a, lane, c) || own_knows(b, lane, c);
				expect(own_knows(j, lane, c) || !want, "a joined clock forgets");
				expect(rounded || own_knows(j, lane, c) == want, "a joined clock invents, uncounted");
			}
	}
	expect(exact > 5000, "hardly any join is exact");
}

static void clocks_of_a_slot(void)
{
	unsigned exact = 0;

	for (int i = 0; i < 20000; i++) {
		u32 s1 = below(4), s2 = below(3) ? s1 : below(8);
		struct gsan_cross a = cross_make(s1, s1 + below(5), below(3) * 9, s1 + below(7), below(8));
		struct gsan_cross b = cross_make(s2, s2 + below(5), below(3) * 9, s2 + below(7), below(8));
		rounded = 0;
		struct gsan_cross j = join_cross(a, b);
		exact += !rounded;
		for (u32 warp = 0; warp < 27; warp += 9)
			for (u32 lane = 0; lane < 4; lane++)
				for (u32 c = 1; c < 16; c++) {
					bool want = slot_knows(a, warp, lane, c) || slot_knows(b, warp, lane, c);
					bool empty_a = !a.base && !a.mask, empty_b = !b.base && !b.mask;
					if (empty_a || empty_b)
						want = slot_knows(empty_a ? b : a, warp, lane, c);
					expect(slot_knows(j, warp, lane, c) || !want, "a joined slot forgets");
					expect(rounded || slot_knows(j, warp, lane, c) == want, "a joined slot invents, uncounted");
				}
	}
	expect(exact > 5000, "hardly any slot's join is exact");
	struct gsan_cross e = cross_make(GSAN_CLOCK_MAX, 7, 31, GSAN_CLOCK_MAX, 5);
	expect(CROSS_START(e) == GSAN_CLOCK_MAX && CROSS_TOP(e) == GSAN_CLOCK_MAX && CROSS_WARP(e) == 31, "an entry's fields");
}

/* Snapshots of a made-up world of 8 slots, by hand. */
static struct gsan_snap *made(u32 id, u32 slot, u32 warp, u32 top, u32 mask, u32 line)
{
	static uint4 small[16 * 4], large[4 * (GSAN_LARGE_BYTES / 16)], crosses[4 * (GSAN_CROSS_BYTES(8) / 16)];
	static struct gsan_block blocks[8];
	the_root.blocks = (uint64_t)blocks;
	the_root.knows = (uint64_t)small;
	the_root.snaps = (uint64_t)large;
	the_root.nknows = 16;
	the_root.nsnaps = 4;
	the_root.crosses = (uint64_t)crosses;
	the_root.ncrosses = 4;
	the_root.cross_bytes = GSAN_CROSS_BYTES(8);
	struct gsan_snap *s = snap_of(id);
	memset(s, 0, id & GSAN_SNAP_LARGE ? GSAN_LARGE_BYTES : 64);
	s->id = id;
	s->flags = id & GSAN_SNAP_LARGE ? GSAN_SNAP_OWN | GSAN_SNAP_CROSS : 0;
	s->nslots = id % 4 << GSAN_CROSS_SHIFT | 8;
	memset(cross_object(s->nslots), 0, GSAN_CROSS_BYTES(8));
	*cross_object(s->nslots) = id;
	s->slot = slot;
	s->start = 10; s->floor = 12;
	s->base = 12;
	s->warp = warp; s->top = top; s->mask = mask;
	s->line = line;
	return s;
}

static void lines(void)
{
	const u32 a = GSAN_SNAP_LARGE | 5, b = GSAN_SNAP_LARGE | 6;

	made(a, 1, 0, 0, 0, 77);
	made(b, 1, 0, 0, 0, 77);
	expect(the_wider(a, b) == b && the_wider(b, a) == b, "the later of a line");
	made(b, 1, 0, 0, 0, 78);
	expect(!the_wider(a, b), "two lines");
	made(b, 1, 0, 0, 0, 0);
	made(a, 1, 0, 0, 0, 0);
	expect(!the_wider(a, b), "no line");
	made(3, 1, 2, 20, 1, 0);
	made(4, 1, 2, 21, 1, 0);
	expect(the_wider(3, 4) == 4 && the_wider(4, 3) == 4, "the same thread, later");
	made(4, 1, 2, 21, 3, 0);
	expect(!the_wider(3, 4), "other lanes");
	made(4, 1, 2, 20, 1, 0);
	expect(!the_wider(3, 4) && the_wider(4, 4) == 4, "at one moment");
	snap_of(4)->id = 4 + 16;
	expect(!the_wider(3, 4), "overwritten");

	/* A small one in a large one: of another block, then of its own. */
	struct gsan_snap *s = made(a, 2, 0, 0, 0, 0);
	made(3, 1, 2, 20, 1, 0);
	expect(!the_wider(3, a), "nothing of that block");
	store_cross(cross_of(s->nslots) + 1, cross_make(10, 12, 2, 20, 1));
	expect(the_wider(3, a) == a, "all of it");
	store_cross(cross_of(s->nslots) + 1, cross_make(10, 12, 2, 19, 1));
	expect(!the_wider(3, a), "an earlier clock");
	*cross_object(s->nslots) = b;
	store_cross(cross_of(s->nslots) + 1, cross_make(10, 12, 2, 20, 1));
	expect(!the_wider(3, a), "another has what it knew of other blocks");
	expect(snap_knows(a, 1, 2, 1, 21, GSAN_CLOCK_MAX), "what is lost knows everything");
	*cross_object(s->nslots) = a;
	expect(!snap_knows(a, 1, 2, 1, 21, GSAN_CLOCK_MAX), "what is not does not");
	store_cross(cross_of(s->nslots) + 1, cross_make(10, 11, 2, 20, 1));
	expect(!the_wider(3, a), "an earlier floor");
	store_cross(cross_of(s->nslots) + 1, cross_make(11, 12, 2, 20, 1));
	expect(!the_wider(3, a), "a later block");
	snap_of(3)->sc = 4;
	store_cross(cross_of(s->nslots) + 1, cross_make(10, 12, 2, 20, 1));
	expect(!the_wider(3, a), "a fence more");
	s = made(a, 1, 0, 0, 0, 0);
	made(3, 1, 2, 20, 1, 0);
	expect(!the_wider(3, a), "its own block, too little");
	snap_join(s, 3);
	expect(the_wider(3, a) == a, "its own block, joined");
}

/* What snapshots know of other blocks, in lists and beyond, against all that was put in: by slot, warp and lane the
 * highest clock. */
enum { SLOTS = 24, WARPS = 3, LANES = 3, ROUNDS = 3000 };

static void put(struct gsan_snap *s, u32 (*known)[WARPS][LANES], u32 slot)
{
	u32 base = below(4) ? 0 : below(9), warp = below(WARPS), mask = below(1 << LANES), top = mask ? base + below(9) : 0;

	cross_add(s, slot, cross_make(0, base, warp, top, mask));
	for (u32 w = 0; w < WARPS; w++)
		for (u32 l = 0; l < LANES; l++) {
			u32 upto = w == warp && (mask >> l & 1) && top > base ? top : base;
			known[slot][w][l] = upto > known[slot][w][l] ? upto : known[slot][w][l];
		}
}

static void others(void)
{
	static uint4 large[4 * (GSAN_LARGE_BYTES / 16)], fews[8 * (GSAN_FEW_BYTES / 16)], crosses[8 * (GSAN_CROSS_BYTES(SLOTS) / 16)];
	unsigned lists = 0, exact = 0, wide = 0;

	memset(fews, 0x5a, sizeof fews);
	memset(crosses, 0x5a, sizeof crosses);
	the_root.snaps = (uint64_t)large;
	the_root.nsnaps = 4;
	the_root.fews = (uint64_t)fews;
	the_root.nfews = 8;
	the_root.crosses = (uint64_t)crosses;
	the_root.ncrosses = 8;
	the_root.cross_bytes = GSAN_CROSS_BYTES(SLOTS);
	for (int round = 0; round < ROUNDS; round++) {
		u32 known[2][SLOTS][WARPS][LANES] = { }, id[2], many = 1 + below(SLOTS);
		struct gsan_snap *s[2];
		rounded = 0;
		for (u32 i = 0; i < 2; i++) {
			s[i] = snap_new(true, &id[i]);
			s[i]->flags = s[i]->nslots = 0;
			for (u32 n = below(3) ? below(9) : below(60); n; n--)
				put(s[i], known[i], below(many));
		}
		if (s[1]->flags & GSAN_SNAP_CROSS)
			cross_join(s[0], s[1]->nslots);
		for (u32 i = 0; i < 2; i++) {
			if (!(s[i]->flags & GSAN_SNAP_CROSS))
				continue;
			expect(cross_stands(s[i]->nslots, id[i]), "an object of its own");
			lists += is_few(s[i]->nslots);
			wide += !is_few(s[i]->nslots);
			exact += !rounded && is_few(s[i]->nslots);
			for (u32 at = 0; at < SLOTS * WARPS * LANES * 20; at++) {
				u32 slot = at % SLOTS, w = at / SLOTS % WARPS, l = at / SLOTS / WARPS % LANES, c = 1 + at / SLOTS / WARPS / LANES;
				u32 upto = known[i][slot][w][l];
				if (!i && known[1][slot][w][l] > upto)
					upto = known[1][slot][w][l];
				bool knows = cross_knows(s[i]->nslots, slot, w, 1u << l, c);
				expect(knows || c > upto, "what is known of a slot is forgotten");
				expect(rounded || knows == (c <= upto), "what is known of a slot is invented, uncounted");
			}
		}
	}
	expect(lists > ROUNDS / 2 && exact > ROUNDS / 2 && wide > ROUNDS / 30, "lists, and what outgrew them");
	the_root.nfews = 0;
}

/* A large snapshot of six warps of a block, which knows of no other. */
static struct gsan_snap *rows_of(u32 id, u32 floor)
{
	struct gsan_snap *s = made(id, 1, 0, 0, 0, 0);

	s->flags = GSAN_SNAP_OWN | 6 << GSAN_SNAP_ROWS_SHIFT;
	s->floor = floor;
	s->base = 0;
	for (u32 i = 0; i < 6; i++)
		snap_own(s)[i].base = floor;
	return s;
}

static void rows(void)
{
	const u32 a = GSAN_SNAP_LARGE | 5, b = GSAN_SNAP_LARGE | 6;
	struct gsan_snap *s = rows_of(a, 12), *t = rows_of(b, 12);

	expect(!the_wider(a, b) && one_within(a, b, true) == b && !one_within(b, a, true), "the same in the later one");
	snap_own(s)[5].top = 20;
	snap_own(s)[5].mask = 2;
	expect(!one_within(a, b, true), "a row has more");
	snap_own(t)[5].top = 20;
	snap_own(t)[5].mask = 3;
	expect(one_within(a, b, true) == b, "a row has less");
	snap_own(t)[5].base = t->floor = 21;
	snap_own(t)[5].mask = 0;
	expect(one_within(a, b, true) == b, "all is known by then");
	t->floor = 12;
	snap_own(t)[5].base = 12;
	t->warp = 5; t->top = 20; t->mask = 2;
	expect(one_within(a, b, true) == b, "the header says it");
	t->warp = 4;
	expect(!one_within(a, b, true), "of another warp");
	snap_own(s)[4].top = 19;
	snap_own(s)[4].mask = 2;
	t->warp = 5;
	expect(!one_within(a, b, true), "and one more has more");
	snap_own(s)[4].mask = 0;
	s->warp = 3; s->top = 22; s->mask = 1;
	expect(!one_within(a, b, true), "the earlier one's header has more");
	snap_own(t)[3].top = 22;
	snap_own(t)[3].mask = 1;
	expect(one_within(a, b, true) == b, "which a row says, too");
	s->flags |= GSAN_SNAP_LOST;
	expect(!one_within(a, b, true), "lost");
	t->holds = a;
	expect(the_wider(a, b) == b && !the_wider(b, a), "it holds it");

	/* What a fresh one gets, and another what is more. */
	s = rows_of(a, 12);
	snap_own(s)[5].top = 20;
	snap_own(s)[5].mask = 2;
	s->warp = 1; s->top = 30; s->mask = 4;
	t = rows_of(b, 11);
	memset(snap_own(t), -1, 8 * sizeof *snap_own(t));
	expect(!join_rows(t, a, true) && t->floor == 12 && t->flags == (GSAN_SNAP_OWN | 6 << GSAN_SNAP_ROWS_SHIFT), "it knows of no other block");
	expect(one_within(a, b, true) == b && snap_knows(b, 1, 1, 4, 30, GSAN_CLOCK_MAX) && !snap_knows(b, 1, 1, 5, 30, GSAN_CLOCK_MAX) &&
	       snap_knows(b, 1, 0, 1, 12, GSAN_CLOCK_MAX) && !snap_knows(b, 1, 0, 1, 13, GSAN_CLOCK_MAX), "a fresh one has just that");
	snap_own(s)[2].top = 25;
	snap_own(s)[2].mask = 1;
	s->floor = 15;
	join_rows(t, a, false);
	expect(snap_knows(b, 1, 2, 1, 25, GSAN_CLOCK_MAX) && !snap_knows(b, 1, 2, 1, 26, GSAN_CLOCK_MAX) && snap_knows(b, 1, 0, 1, 15, GSAN_CLOCK_MAX) &&
	       !snap_knows(b, 1, 0, 1, 16, GSAN_CLOCK_MAX) && snap_knows(b, 1, 5, 2, 20, GSAN_CLOCK_MAX), "what is more is added");
	made(3, 1, 2, 0, 0, 0)->floor = 17;
	t = rows_of(b, 11);
	memset(snap_own(t), -1, 8 * sizeof *snap_own(t));
	join_rows(t, 3, true);
	expect(snap_knows(b, 1, 4, 1, 17, GSAN_CLOCK_MAX) && !snap_knows(b, 1, 4, 1, 18, GSAN_CLOCK_MAX), "of a small one its floor");
	join_rows(t, a + 64, true);
	expect(t->flags & GSAN_SNAP_LOST, "what was overwritten");
}

/* Warp 5 of slot 1 runs one more fence, of its lane 1, or 0. */
static u32 top_of_5, lane_of_5;
static void another_fence(void)
{
	void (*again)(void) = meanwhile;

	meanwhile = 0;
	fence_enter(fence_log(1, 5), &warp_of(1, 5)->fences, top_of_5++, 1u << lane_of_5, 0);
	meanwhile = lane_of_5 ? again : 0;
}

/* What fences published, by the log of a warp. */
static void fences(void)
{
	static struct gsan_fence log[8 * GSAN_FENCE_LOGS * GSAN_FENCES];
	static struct gsan_warp warps[8 * 32];
	static struct gsan_block blocks[8];
	uint64_t were[2] = {the_root.warps, the_root.blocks};
	u32 *entries;

	the_root.fences = (uint64_t)log;
	the_root.warps = (uint64_t)warps;
	the_root.blocks = (uint64_t)blocks;
	entries = &warp_of(1, 2)->fences;
	expect(!fence_knows(1, 2, 1, 12, 99, 1, 0), "no fence");
	expect(fence_enter(fence_log(1, 2), entries, 20, 1, 15) == 1, "the first fence");
	expect(fence_knows(1, 2, 1, 20, 99, 1, 0) && fence_knows(1, 2, 2, 15, 99, 1, 0), "up to its clock");
	expect(!fence_knows(1, 2, 1, 21, 99, 1, 0) && !fence_knows(1, 2, 2, 16, 99, 1, 0), "not later");
	expect(!fence_knows(1, 2, 1, 20, 99, 0, 0) && !fence_knows(1, 3, 1, 20, 99, 1, 0), "not before it, not another");
	expect(!fence_knows(1, 2, 1, 12, 13, 1, 0), "not of the block before");
	fence_enter(fence_log(1, 2), entries, 30 | GSAN_FENCE_CTA, 1, 15);
	expect(!fence_knows(1, 2, 1, 30, 99, 9, 0) && fence_knows(1, 2, 1, 30, 99, 0, 2), "of block scope");
	log[(GSAN_FENCE_LOGS + 2) * GSAN_FENCES + 2].number = GSAN_FENCE_BUSY;
	log[(GSAN_FENCE_LOGS + 2) * GSAN_FENCES + 2].top = 40;
	log[(GSAN_FENCE_LOGS + 2) * GSAN_FENCES + 2].mask = 1;
	expect(fence_knows(1, 2, 1, 40, 99, 9, 0), "a number being taken");
	for (int i = 0; i < GSAN_FENCES; i++)
		fence_enter(fence_log(1, 4), &warp_of(1, 4)->fences, 50 + i, 1, 50);
	expect(fence_knows(1, 4, 2, 40, 99, 0, 0) && !fence_knows(1, 4, 2, 60, 99, 0, 0), "one that was overwritten");
	fence_enter(fence_log(1, 32), &block_of(1)->fences, 70, ~0u, 70);
	expect(fence_knows(1, 6, 2, 70, 99, ~0u >> 1, 0), "what all of the block knew");

	/* The log moves on under who reads it. */
	fence_enter(fence_log(1, 5), &warp_of(1, 5)->fences, 10, 1, 10);
	top_of_5 = 80;
	lane_of_5 = 0;
	meanwhile = another_fence;
	expect(fence_knows(1, 5, 1, 80, 99, ~0u >> 1, 0) && !meanwhile, "one that was entered meanwhile");
	meanwhile = another_fence;
	expect(!fence_knows(1, 5, 2, 90, 99, ~0u >> 1, 0) && !meanwhile, "another that was");
	lane_of_5 = 1;
	meanwhile = another_fence;
	expect(fence_knows(1, 5, 1, 83, 99, ~0u >> 1, 0), "one that may have been overwritten meanwhile");
	meanwhile = 0;

	/* The groups of a split warp enter theirs by turns, a whole one has no need to. */
	struct gsan_warp w = {};
	w.clock = 7;
	w.live = 3;
	expect(ring_begin(&w, 1) && ring_clock(&w, true) == 7 && w.clock == 8 && !ring_begin(&w, 3), "a split warp");
	the_root.warps = were[0];
	the_root.blocks = were[1];
}

/* ---- records --------------------------------------------------------------------- */

/* The word that comes behind its record, when another's that looks the same stands there. */
static u32 words[4];
static u64 the_rec = 0x123456789abcdull;
static void own_site(void) { words[1] = site_word(5, the_rec); }
static void sites(void)
{
	static struct gsan_dedup dedup[64];
	u64 sh[4] = {0, the_rec, 0, 0};

	the_root.dedup = (uint64_t)dedup;
	the_root.ndedup = 64;
	the_root.next_site = 1000;
	/* What threads of a block left, at two clocks, tells no site of each other's records. */
	u32 mistaken = 0;
	for (u32 a = 0; a < 1024; a++)
		for (u32 b = 0; b < 1024; b++) {
			u64 x = the_rec + (a << 12), y = the_rec + (b << 12) + (3ull << 35);
			mistaken += site_in(site_word(999, x), x) != 999;
			mistaken += site_in(site_word(7, x), y) != 0;
		}
	/* 2^20 pairs, 1000 of 2^32 words: a quarter of one is to be expected. */
	expect(mistaken < 16, "a record's word tells a site of another");
	words[3] = site_word(9, the_rec);
	expect(site_found(sh, words, 1, words[3], the_rec, 2) == 9, "nothing better comes");
	soon = 50;
	then = own_site;
	expect(site_found(sh, words, 1, words[1], the_rec, 2) == 5, "its own comes");
	then = 0;
}

/* Would an access of kind z race with one of kind x, unordered, of another block? */
static bool conflict(u32 z, u32 x)
{
	u32 a = kind_level(z), b = kind_level(x);
	return ((z | x) & GSAN_KIND_WRITE) && !(a >= GSAN_GPU && b >= GSAN_GPU);
}

static void kinds(void)
{
	for (u32 now = 0; now < 15; now++)
		for (u32 old = 0; old < 15; old++) {
			if (now == 11 || now == 15 || old == 11 || old == 15 || !covers(now, old))
				continue;
			for (u32 z = 0; z < 10; z++)
				expect(conflict(z, now) || !conflict(z, old), "a record gives way to one with fewer enemies");
		}
	expect(covers(1, 0) && covers(1, 9) && !covers(0, 1) && !covers(7, 1), "weak writes cover all");
}

static void bytes(void)
{
	for (u64 addr = 0; addr < 8; addr++)
		for (u32 size = 1; size <= 16; size++) {
			u32 want = 0;
			for (u64 k = addr; k < addr + size && k < 8; k++)
				want |= 1u << k;
			expect(bytes_at(addr, size) == want, "bytes of an access");
		}
}

static struct rec2 rec(u32 clock, u32 slot, u32 thread, u32 kind, u32 mask)
{
	u64 r = (u64)clock << 35 | (u64)slot << 22 | (u64)thread << 12 | kind << 8 | mask;
	struct rec2 x = { (u32)r, (u32)(r >> 32) };
	return x;
}

/* A record may only go if nobody could still need it. */
static void giving_way(void)
{
	struct gsan_warp w;
	memset(&w, 0, sizeof w);
	w.clock = 20; w.floor = 12; w.start = 10; w.launch_base = 4; w.slot = 3; w.id = 3 << 5;
	struct view v = view_of(&w);
	struct rec2 now = rec(20, 3, 1, 1, 0x0f), reading = rec(20, 3, 1, 0, 0x0f);

	expect(gives_way(v, rec(3, 9, 5, 1, 0xff), now, false), "of an earlier launch");
	expect(!gives_way(v, rec(5, 9, 5, 1, 0x0f), now, false), "of another block");
	expect(!gives_way(v, rec(9, 3, 5, 1, 0x0f), now, false), "of the slot's last block");
	expect(gives_way(v, rec(12, 3, 5, 1, 0x0f), now, false), "ordered by a barrier");
	expect(!gives_way(v, rec(12, 3, 5, 1, 0x1f), now, false), "a byte would be forgotten");
	expect(!gives_way(v, rec(12, 3, 5, 1, 0x0f), reading, false), "a write to a read");
	expect(gives_way(v, rec(12, 3, 5, 0, 0x0f), reading, false), "a read to a read");
	expect(!gives_way(v, rec(13, 3, 5, 1, 0x0f), now, false), "not ordered");
	expect(gives_way(v, rec(15, 3, 1, 1, 0x0f), now, false), "the thread's own");
	expect(gives_way(v, rec(12, 3, 5, 1, 0xff), now, true), "shared memory, behind a barrier");
	expect(!gives_way(v, rec(13, 3, 5, 1, 0xff), now, true), "shared memory, not ordered");
	expect(!gives_way(v, rec(12, 3, 5, GSAN_KIND_OBSERVED_GPU, 0x0f), now, false), "what rule 9 needs");
	expect(!gives_way(v, rec(12, 3, 5, GSAN_KIND_OBSERVED_GPU, 0x0f), rec(20, 3, 1, 6, 0x0f), false), "nor to a strong read");

	expect(stands(rec(20, 3, 1, 1, 0xff), now) && stands(rec(20, 3, 1, 1, 0x0f), reading), "stands already");
	expect(!stands(rec(20, 3, 1, 1, 0x0f), rec(20, 3, 1, GSAN_KIND_WARP_READ, 0x0f)), "one lane for all");
	expect(!gives_way(v, rec(15, 3, 1, GSAN_KIND_WARP_READ, 0x0f), now, false), "all lanes for one");
	expect(!stands(rec(19, 3, 1, 1, 0x0f), now) && !stands(rec(20, 3, 2, 1, 0x0f), now), "another time, another lane");
	expect(!stands(rec(20, 3, 1, 0, 0x0f), now) && !stands(rec(20, 3, 1, 1, 0x07), now), "less than the access");
	for (u32 thread = 0; thread < 3; thread++)
		expect(site_word(5, rec_of(rec(20, 3, thread, 1, 1))) != site_word(5, rec_of(rec(21, 3, thread, 1, 1))), "tags differ");
}

int main(void)
{
	clocks_of_a_warp();
	clocks_of_a_slot();
	lines();
	others();
	rows();
	fences();
	sites();
	kinds();
	bytes();
	giving_way();
	printf("%s\n", failures ? "device: failed" : "device: all hold");
	return failures != 0;
}
