/* SPDX-License-Identifier: Apache-2.0
 *
 * part.c: which blocks of a launch that is not clear are judged before the others (part.h).
 */
#include "rt/part.h"
#include "rt/clear.h"

/* The first portion is judged in about a second; each that comes is so much larger, up to QUICK of them.  Then all blocks that may
 * come before others do, so many bytes at once, or that part of the log: portions are walked through the whole log. */
enum { FIRST_BYTES = 1 << 20, FIRST_BLOCKS = 16, MORE = 8, QUICK = 2, LATER_BYTES = 64 << 20, LATER_SHARE = 64 };
enum { TURNS = 3 };     /* of all blocks, in which they are chosen */

/* bytes: of its log; portion: from 1; 0: none so far. */
struct block { uint64_t bytes; uint8_t alone, portion; };

struct rt_part {
	const struct rt_launch *launch;
	struct block *block;
	uint32_t nblocks, logged, taken;
	uint64_t bytes;                 /* of all blocks */
	uint64_t at;                    /* of TURNS turns of all blocks: what comes before it is chosen, or is not to be */
	bool noted, together, rest;
	uint8_t portion;
};

bool rt_part_is_large(uint64_t units)
{
	return units * sizeof(struct event_unit) > (uint64_t)rt_flags.judge_all_mb << 20;
}

/* What the screen has against it; 0: nothing, or it has not been asked, or does not know. */
static uint64_t noted(const struct rt_part *p, uint32_t block)
{
	return block < p->launch->notes ? p->launch->note[block] : 0;
}

static bool any_noted(const struct rt_part *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->launch->notes; i++)
		any = any || noted(p, i);
	return any;
}

struct rt_part *rt_part_new(const struct rt_launch *l)
{
	struct rt_part *p = rt_alloc(sizeof *p);

	p->launch = l;
	p->nblocks = l->shape.blocks;
	p->noted = any_noted(p);
	p->block = rt_alloc((p->nblocks + 1) * sizeof *p->block);
	return p;
}

void rt_part_free(struct rt_part *p)
{
	if (p)
		rt_free(p->block);
	rt_free(p);
}

void rt_part_note(struct rt_part *p, const struct event_piece *piece, const struct event_sites *sites)
{
	const enum detect_alone is = detect_alone(piece, sites);
	struct block *b;

	p->together = p->together || is == DETECT_TOGETHER || piece->block >= p->nblocks;
	if (p->together)
		return;
	b = &p->block[piece->block];
	p->logged += !b->bytes;
	b->bytes += piece->bytes;
	p->bytes += piece->bytes;
	b->alone = is > b->alone ? (uint8_t)is : b->alone;
}

static bool may_take(const struct rt_part *p, uint32_t block)
{
	return block < p->nblocks && p->block[block].bytes && p->block[block].alone == DETECT_ALONE && !p->block[block].portion;
}

/* Returns how many bytes that are. */
static uint64_t take(struct rt_part *p, uint32_t block)
{
	if (!may_take(p, block))
		return 0;
	p->block[block].portion = p->portion;
	p->taken++;
	return p->block[block].bytes;
}

/* Lines of global memory that blocks share say less than what is within a block, whose turn it is first.  What nothing is said
 * against comes last. */
static bool is_its_turn(const struct rt_part *p, uint64_t note, unsigned turn)
{
	if (!p->noted || turn == TURNS - 1)
		return true;
	return note && (screen_note_why(note) == SCREEN_GLOBAL) == (turn == 1);
}

static uint32_t choose(struct rt_part *p, uint64_t bytes, uint32_t blocks, unsigned turns)
{
	const uint32_t before = p->taken;
	uint64_t sum = 0;

	for (; !p->together && p->at < turns * (uint64_t)p->nblocks && p->taken - before < blocks && sum < bytes; p->at++) {
		const uint32_t block = (uint32_t)(p->at % p->nblocks);
		const uint64_t note = noted(p, block);

		if (!is_its_turn(p, note, (unsigned)(p->at / p->nblocks)))
			continue;
		sum += take(p, block);
		if (note)
			sum += take(p, screen_note_other(note));
	}
	return p->taken - before;
}

/* Chooses the blocks of the next portion; returns how many there are.  0: what is left comes together. */
static uint32_t next_portion(struct rt_part *p)
{
	uint64_t bytes = FIRST_BYTES;
	uint32_t blocks = FIRST_BLOCKS, n = 0;

	for (uint8_t i = 0; i < p->portion && i < QUICK; i++) {
		bytes *= MORE;
		blocks *= MORE;
	}
	p->portion++;
	if (p->portion <= QUICK)
		n = choose(p, bytes, blocks, TURNS - 1);
	if (!n && p->portion < UINT8_MAX)
		n = choose(p, p->bytes / LATER_SHARE > LATER_BYTES ? p->bytes / LATER_SHARE : LATER_BYTES, p->nblocks, TURNS);
	p->rest = !n;
	return n;
}

static bool is_now(const struct rt_part *p, uint32_t block)
{
	const uint8_t portion = block < p->nblocks ? p->block[block].portion : 0;

	return p->rest ? !portion : portion == p->portion;
}

struct feeding { const struct rt_part *part; struct rt_verdict *verdict; };

static void feed(void *arg, const struct event_piece *piece)
{
	const struct feeding *f = arg;

	if (is_now(f->part, piece->block))
		rt_verdict_feed(f->verdict, piece);
}

static void say(const struct rt_part *p, uint32_t blocks, bool found)
{
	rt_verbose(2, "a launch of %s: %u of %u blocks are judged first: there is %s to report", rt_demangle(p->launch->func->name), blocks,
		   p->logged, found ? "something" : "nothing");
}

/* Has it taken longer than judge_s, behind the first portions? */
static bool is_late(const struct rt_part *p, uint64_t since)
{
	return p->portion >= QUICK && rt_now_ms() - since > (uint64_t)rt_flags.judge_s * 1000;
}

/* Blocks that were not judged, since others had findings, and for lack of time. */
static struct { uint64_t found, late; } left;

bool rt_part_judge(struct rt_part *p, struct rt_verdict *v, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	const uint64_t since = rt_now_ms();
	struct feeding f = {p, v};
	bool told = true, found = false, late = false;

	while (told && !found && !late && !p->rest) {
		const uint32_t blocks = next_portion(p);

		told = !log_tell(c, &p->launch->shape, fill, n, feed, &f);
		found = blocks && rt_verdict_look(v);
		if (blocks)
			say(p, blocks, found);
		late = is_late(p, since) && !p->rest && p->taken < p->logged;
	}
	left.found += found ? p->logged - p->taken : 0;
	left.late += !found && late ? p->logged - p->taken : 0;
	return told;
}

bool rt_part_left(void)
{
	return left.found || left.late;
}

void rt_part_count(struct rt_totals *t)
{
	t->left_blocks = left.found;
	t->late_blocks = left.late;
}
