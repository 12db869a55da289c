/* SPDX-License-Identifier: Apache-2.0
 *
 * locks.c: words that are taken and let go again and again by three or more, and
 * chains whose links acquire what they have released themselves before they hand
 * on what they know.  Whoever of a lock's contenders comes back to it may find its
 * own release there, which must not take the place of what it had learned before.
 */
#include "testsuite/gen/gen_async.h"

#include <stdio.h>
#include <string.h>

enum {
	MEMBERS = 4,
	TRIES = 400,            /* until a wait is given up: more than most take */
	LINK = 16               /* what a link adds to its word; it reads back smaller ones */
};

/* ---- who takes part ---------------------------------------------------------------------------- */

enum crew { ALONE, WARP, BLOCK };

/* Threads of different warps, their warps, or blocks.  Those of one block use memory of
 * the block, and every block has them. */
struct party {
	enum crew crew;
	bool same;              /* block */
	unsigned n, block[MEMBERS], warp[MEMBERS];
	unsigned lead;          /* who uses words: a lane of a warp, a thread of a block */
};

static bool put_party(struct gen *g, struct party *p)
{
	unsigned blocks = g->p->blocks, warps = (g->p->threads + 31) / 32;
	unsigned lanes = g->p->threads % 32 ? g->p->threads % 32 : 32;

	*p = (struct party){.same = warps >= 3 && (blocks < 3 || chance(g, 40)), .lead = chance(g, 50) ? 0 : below(g, lanes)};
	p->n = p->same ? warps : blocks * warps;
	if (p->n < 3)
		return false;
	if (p->n > 3)
		p->n = 3 + below(g, 2);
	for (unsigned i = 0; i < p->n; i++) {
		p->block[i] = p->same ? 0 : i % blocks;
		p->warp[i] = p->same ? i : i / blocks;
	}
	if (chance(g, 35))
		p->crew = !p->same && p->n <= blocks && chance(g, 50) ? BLOCK : WARP;
	return true;
}

static struct open open_member(struct gen *g, const struct party *p, unsigned i)
{
	if (p->crew == BLOCK)
		return open_eq(g, "%c", p->block[i]);
	if (p->crew == WARP)
		put(g, "setp.eq.u32 %%p, %%w, %u;", p->warp[i]);
	else
		put(g, "setp.eq.u32 %%p, %%t, %u;", p->warp[i] * 32 + p->lead);
	if (!p->same)
		put(g, "setp.eq.and.u32 %%p, %%c, %u, %%p;", p->block[i]);
	return open_if(g);
}

/* A thread of each that there is in the grid, or all of them. */
static struct open open_everyone(struct gen *g, const struct party *p)
{
	if (p->crew == ALONE)
		return open_eq(g, "%l", p->lead);
	return open_lt(g, "%t", g->p->threads);
}

/* The one of them that uses words; closed if it was opened. */
static struct open open_one(struct gen *g, const struct party *p, unsigned who)
{
	return p->crew == ALONE ? (struct open){0} : open_eq(g, p->crew == WARP ? "%l" : "%t", who);
}

static void close_one(struct gen *g, struct open o)
{
	if (o.pair)
		close_if(g, o);
}

static void meet(struct gen *g, const struct party *p)
{
	if (p->crew == BLOCK) {
		put_barrier(g);
	} else if (p->crew == WARP) {
		put(g, "bar.warp.sync 0xffffffff;");
		plain(g);
	}
}

/* Nobody but the one that looks finds anything. */
static void nobody(struct gen *g, const struct party *p)
{
	if (p->crew != ALONE) {
		put(g, "setp.ne.u32 %%f, %%t, %%t;");
		plain(g);
	}
}

/* What the one has found all of them have. */
static void share(struct gen *g, const struct party *p)
{
	if (p->crew == ALONE)
		return;
	if (p->crew == BLOCK)
		put(g, "barrier.red.or.pred %%f, 0, %%f;");
	else
		put(g, "vote.sync.any.pred %%f, %%f, 0xffffffff;");
	plain(g);
	if (p->crew == WARP && !slip(g, 10))
		meet(g, p);
}

/* Its work is done. */
static void done(struct gen *g, const struct party *p)
{
	if (p->crew == ALONE || !slip(g, 10))
		meet(g, p);
}

/* ---- memory --------------------------------------------------------------------------------------- */

/* Memory of which motifs cut parts, in shared memory where all of a block are. */
static bool take_area(struct gen *g, const struct party *p, struct place *area, unsigned bytes)
{
	return take(g, area, p->same && chance(g, 60), p->same, 4, bytes / 4);
}

static struct place cut(struct place *area, unsigned stride, unsigned bytes)
{
	struct place a = *area;

	a.stride = stride;
	a.index = IX_ZERO;
	area->off += bytes;
	return a;
}

/* What a member works on: an element of its own for each thread. */
static struct place cut_data(struct gen *g, const struct party *p, struct place *area, unsigned size)
{
	unsigned n = p->crew == ALONE ? 4 : p->crew == WARP ? 32 : g->p->threads;
	struct place a = cut(area, size, (size * n + 15) & ~15u);

	if (p->crew != ALONE)
		a.index = p->crew == WARP ? IX_LANE : IX_THREAD;
	return a;
}

static unsigned data_bytes(const struct gen *g, const struct party *p, unsigned size)
{
	return (size * (p->crew == BLOCK ? g->p->threads : 32) + 15) & ~15u;
}

static unsigned data_size(struct gen *g)
{
	return chance(g, 70) ? 4 : size_of(g);
}

/* All threads of a crew, their own elements or others'. */
static void work(struct gen *g, const struct party *p, struct place a, bool store)
{
	if (!store && p->crew != ALONE && chance(g, 40))
		a.index = chance(g, 50) ? IX_LAST : IX_ZERO;
	put_load_store(g, store, "", &a, a.stride, 1);
	plain(g);
}

/* ---- words ---------------------------------------------------------------------------------------- */

/* How an operation on a word orders: by itself, or by a fence beside it. */
struct order { char how[32]; const char *fence; };

static struct order order_of(struct gen *g, bool same, const char *itself, bool rmw)
{
	const char *sc = scope(g, same);
	struct order o = {.how = ".volatile"};

	if (slip(g, 10)) {
		snprintf(o.how, sizeof o.how, ".relaxed%s", sc);
		return o;
	}
	if (chance(g, 35)) {
		o.fence = scope(g, same);
		if (rmw || chance(g, 75))
			snprintf(o.how, sizeof o.how, ".relaxed%s", sc);
		return o;
	}
	snprintf(o.how, sizeof o.how, "%s%s", rmw && chance(g, 30) ? ".acq_rel" : itself, sc);
	return o;
}

/* A word that one thread at a time writes: its value is known then. */
struct word { struct place at; unsigned value; };

static void put_rmw(struct gen *g, const char *how, const struct word *w, unsigned value, bool red)
{
	const char *at = put_address(g, &w->at), *sp = space_text(&w->at);

	if (red && chance(g, 30))
		put(g, "red%s%s.add.u32 %s, %u;", how, sp, at, value - w->value);
	else if (chance(g, 30))
		put(g, "atom%s%s.add.u32 %%v3, %s, %u;", how, sp, at, value - w->value);
	else if (chance(g, 40))
		put(g, "atom%s%s.cas.b32 %%v3, %s, %u, %u;", how, sp, at, w->value, value);
	else
		put(g, "atom%s%s.exch.b32 %%v3, %s, %u;", how, sp, at, value);
}

static void put_release_word(struct gen *g, struct word *w, unsigned value, bool same)
{
	bool rmw = chance(g, 50);
	struct order o = order_of(g, same, ".release", rmw);

	if (o.fence)
		put_fence(g, true, o.fence);
	if (rmw) {
		put_rmw(g, o.how, w, value, !strstr(o.how, "acq_rel"));
	} else {
		const char *at = put_address(g, &w->at);

		put(g, "st%s%s.u32 %s, %u;", o.how, space_text(&w->at), at, value);
	}
	plain(g);
	w->value = value;
}

/* Reads what is there, or takes it and puts the same there. */
static void put_acquire_word(struct gen *g, const struct word *w, bool same)
{
	bool rmw = chance(g, 40);
	struct order o = order_of(g, same, ".acquire", rmw);

	if (rmw) {
		put_rmw(g, o.how, w, w->value, false);
	} else {
		const char *at = put_address(g, &w->at);

		put(g, "ld%s%s.u32 %%v3, %s;", o.how, space_text(&w->at), at);
	}
	if (o.fence)
		put_fence(g, false, o.fence);
	plain(g);
}

/* Waits a while for a value, or one above it; %f says whether it came. */
static void put_await_word(struct gen *g, const struct word *w, unsigned value, bool same)
{
	bool rmw = chance(g, 25);
	struct order o = order_of(g, same, ".acquire", rmw);
	unsigned loop = ++g->labels, end = ++g->labels;
	const char *at;

	put(g, "mov.u32 %%k7, 0;");
	put_label(g, loop);
	at = put_address(g, &w->at);
	if (rmw)
		put(g, "atom%s%s.add.u32 %%v3, %s, 0;", o.how, space_text(&w->at), at);
	else
		put(g, "ld%s%s.u32 %%v3, %s;", o.how, space_text(&w->at), at);
	put(g, "setp.ge.u32 %%f, %%v3, %u;", value);
	put(g, "@%%f bra L%u;", end);
	put(g, "add.u32 %%k7, %%k7, 1;");
	put(g, "setp.lt.u32 %%q, %%k7, %u;", TRIES);
	put(g, "@%%q bra L%u;", loop);
	put_label(g, end);
	if (o.fence)
		put_fence(g, false, o.fence);
	plain(g);
}

/* ---- chains ----------------------------------------------------------------------------------------- */

/* Releases once or more what the same member acquires then; another of its threads may do that. */
static void read_back(struct gen *g, const struct party *p, struct word *w)
{
	unsigned times = 1 + below(g, 3), other = chance(g, 40) ? below(g, g->p->threads < 32 ? g->p->threads : 32) : p->lead;
	struct open o;

	while (times--) {
		o = open_one(g, p, p->lead);
		put_release_word(g, w, w->value + 1, p->same);
		if (p->crew != ALONE && other != p->lead) {
			close_one(g, o);
			meet(g, p);
			o = open_one(g, p, other);
		}
		put_acquire_word(g, w, p->same);
		close_one(g, o);
		if (p->crew != ALONE && other != p->lead)
			meet(g, p);
	}
}

/* Each hears of what those before it have done from the one before it, by a word for each
 * or by one for all, and acquires releases of its own meanwhile. */
static void motif_read_back(struct gen *g)
{
	bool one = chance(g, 35), first = chance(g, 30);
	unsigned gap = 4u << 2 * below(g, 3), size = data_size(g);
	struct word own[MEMBERS], link[MEMBERS];
	struct place area, data[MEMBERS];
	struct party p;
	struct open o, i, f;

	if (!put_party(g, &p) || !take_area(g, &p, &area, MEMBERS * (2 * gap + data_bytes(g, &p, size))))
		return;
	for (unsigned k = 0; k < p.n; k++) {
		link[k] = (struct word){cut(&area, 4, gap), 0};
		own[k] = (struct word){cut(&area, 4, gap), 0};
	}
	for (unsigned k = 0; k < p.n; k++)
		data[k] = cut_data(g, &p, &area, size);
	for (unsigned k = 0; k < p.n; k++) {
		struct word *to = &link[one ? 0 : k], *from = &link[one || !k ? 0 : k - 1];
		bool may = slip(g, 5);

		o = open_member(g, &p, k);
		f.pair = 0;
		if (first)
			read_back(g, &p, &own[k]);
		if (k) {
			nobody(g, &p);
			i = open_one(g, &p, p.lead);
			put_await_word(g, from, from->value, p.same);
			close_one(g, i);
			share(g, &p);
			if (!may)
				f = open_found(g);
			for (unsigned b = 0; b < k; b++)
				if (chance(g, 60) || k + 1 == p.n)
					work(g, &p, data[b], k + 1 == p.n && chance(g, 20));
		}
		if (k + 1 < p.n) {
			work(g, &p, data[k], true);
			if (!one && chance(g, 20))
				to->value = 0;
			if (k || chance(g, 40))
				read_back(g, &p, chance(g, 50) ? to : &own[k]);
			done(g, &p);
			i = open_one(g, &p, p.lead);
			put_release_word(g, to, (to->value / LINK + 1) * LINK, p.same);
			if (slip(g, 6))
				work(g, &p, data[k], true);
			close_one(g, i);
		}
		close_one(g, f);
		close_if(g, o);
	}
}

/* ---- locks ------------------------------------------------------------------------------------------ */

enum lock_kind { EXCHANGE, SWAP, TESTED, TICKETS, READERS };

struct lock {
	enum lock_kind kind;
	struct place at, next;  /* next: the ticket that the next one draws */
	unsigned ticket;        /* the register that holds one's own */
};

/* Goes around in the loop of a wait unless %f. */
static void put_again(struct gen *g, unsigned loop, unsigned end)
{
	put(g, "@%%f bra L%u;", end);
	put(g, "add.u32 %%k7, %%k7, 1;");
	put(g, "setp.lt.u32 %%q, %%k7, %u;", TRIES);
	put(g, "@%%q bra L%u;", loop);
	put_label(g, end);
}

/* Waits a while to have it, alone or as one of its readers; %f says whether it came to that. */
static void put_take(struct gen *g, const struct lock *l, bool same, bool reads)
{
	struct order o = order_of(g, same, ".acquire", l->kind != TICKETS);
	const char *at, *sp = space_text(&l->at), *look = scope(g, same);
	unsigned loop = ++g->labels, end = ++g->labels, next = ++g->labels;
	bool swap = l->kind == SWAP || l->kind == READERS;

	put(g, "mov.u32 %%k7, 0;");
	if (l->kind == TICKETS) {
		at = put_address(g, &l->next);
		put(g, "atom.relaxed%s%s.add.u32 %%k%u, %s, 1;", look, sp, l->ticket, at);
	}
	put_label(g, loop);
	at = put_address(g, &l->at);
	switch (reads ? READERS : l->kind) {
	case TICKETS:
		put(g, "ld%s%s.u32 %%v3, %s;", o.how, sp, at);
		put(g, "setp.eq.u32 %%f, %%v3, %%k%u;", l->ticket);
		break;
	case READERS:
		if (reads) {
			put(g, "ld.relaxed%s%s.u32 %%v3, %s;", look, sp, at);
			put(g, "setp.ge.s32 %%f, %%v3, 0;");
			put(g, "@!%%f bra L%u;", next);
			put(g, "add.u32 %%v5, %%v3, 1;");
			put(g, "atom%s%s.cas.b32 %%v4, %s, %%v3, %%v5;", o.how, sp, at);
			put(g, "setp.eq.u32 %%f, %%v4, %%v3;");
			put_label(g, next);
			break;
		}
		/* fall through */
	default:
		if (l->kind == TESTED) {
			put(g, "ld.relaxed%s%s.u32 %%v3, %s;", look, sp, at);
			put(g, "setp.eq.u32 %%f, %%v3, 0;");
			put(g, "@!%%f bra L%u;", next);
		}
		if (swap)
			put(g, "atom%s%s.cas.b32 %%v3, %s, 0, -1;", o.how, sp, at);
		else
			put(g, "atom%s%s.exch.b32 %%v3, %s, -1;", o.how, sp, at);
		put(g, "setp.eq.u32 %%f, %%v3, 0;");
		if (l->kind == TESTED)
			put_label(g, next);
	}
	put_again(g, loop, end);
	if (o.fence)
		put_fence(g, false, o.fence);
	plain(g);
}

static void put_let_go(struct gen *g, const struct lock *l, bool same, bool reads)
{
	bool rmw = reads || chance(g, 40);
	struct order o = order_of(g, same, ".release", rmw);
	const char *at, *sp = space_text(&l->at);

	if (o.fence)
		put_fence(g, true, o.fence);
	at = put_address(g, &l->at);
	if (reads) {
		put(g, "atom%s%s.add.u32 %%v3, %s, -1;", o.how, sp, at);
	} else if (l->kind == TICKETS && !rmw) {
		put(g, "add.u32 %%v3, %%k%u, 1;", l->ticket);
		put(g, "st%s%s.u32 %s, %%v3;", o.how, sp, at);
	} else if (!rmw) {
		put(g, "st%s%s.u32 %s, 0;", o.how, sp, at);
	} else if (l->kind == TICKETS || chance(g, 30)) {
		put(g, "atom%s%s.add.u32 %%v3, %s, 1;", o.how, sp, at);
	} else if (chance(g, 40)) {
		put(g, "atom%s%s.cas.b32 %%v3, %s, -1, 0;", o.how, sp, at);
	} else {
		put(g, "atom%s%s.exch.b32 %%v3, %s, 0;", o.how, sp, at);
	}
	plain(g);
}

/* What a lock is for: a value that is read and written, or only read. */
static void section(struct gen *g, const struct party *p, const struct place *data, bool reads)
{
	if (chance(g, 85))
		work(g, p, *data, false);
	if (!reads && chance(g, 85))
		work(g, p, *data, true);
}

/* One turn with a lock, and perhaps with another inside of it. */
static void put_turn(struct gen *g, const struct party *p, const struct lock *l, const struct place *data, unsigned locks,
		     bool reads)
{
	struct open i, f;

	if (slip(g, 5))
		section(g, p, data, true);
	nobody(g, p);
	i = open_one(g, p, p->lead);
	put_take(g, l, p->same, reads);
	close_one(g, i);
	share(g, p);
	f = open_found(g);
	section(g, p, data, reads);
	if (locks > 1 && chance(g, 60))
		put_turn(g, p, l + 1, data + 1, locks - 1, false);
	if (locks == 1 || chance(g, 30))
		section(g, p, data, reads);
	done(g, p);
	i = open_one(g, p, p->lead);
	put_let_go(g, l, p->same, reads);
	close_one(g, i);
	if (slip(g, 5))
		section(g, p, data, reads);
	close_if(g, f);
}

/* Locks that all take two or three times, each in ways of its own or all of them alike. */
static void motif_lock_again(struct gen *g)
{
	unsigned locks = 1 + chance(g, 35), turns = 2 + below(g, 2), gap = 4u << 2 * below(g, 3), size = data_size(g);
	bool alike = chance(g, 40);
	struct place area, data[2];
	struct lock l[2];
	struct party p;
	struct open o, i;

	if (!put_party(g, &p) || !take_area(g, &p, &area, 4 * gap + 2 * data_bytes(g, &p, size)))
		return;
	for (unsigned k = 0; k < 2; k++) {
		l[k] = (struct lock){.kind = (enum lock_kind)below(g, 5), .ticket = 4 + k};
		l[k].at = cut(&area, 4, gap);
		l[k].next = cut(&area, 4, gap);
	}
	for (unsigned k = 0; k < 2; k++)
		data[k] = cut_data(g, &p, &area, size);
	for (unsigned k = 0; k < (alike ? 1 : p.n); k++) {
		bool loop = chance(g, 60);

		o = alike ? open_everyone(g, &p) : open_member(g, &p, k);
		if (loop)
			i = open_loop(g);
		for (unsigned r = 0; r < (loop ? 1 : turns); r++)
			put_turn(g, &p, l, data, locks, l->kind == READERS && chance(g, 60));
		if (loop)
			close_loop(g, i, turns);
		close_if(g, o);
	}
}

/* ---- mbarriers ---------------------------------------------------------------------------------------- */

/* How a warp tells the next one: by an mbarrier, at which all of its lanes arrive or one, or by a word. */
struct link {
	bool word, one;
	struct bar bar;
	struct word at;
};

static void await_link(struct gen *g, const struct party *p, const struct link *l)
{
	struct open i;

	if (!l->word) {
		put_wait_now(g, &l->bar);
		return;
	}
	i = open_one(g, p, p->lead);
	put_await_word(g, &l->at, l->at.value, true);
	close_one(g, i);
	share(g, p);
}

static void tell_link(struct gen *g, const struct party *p, struct link *l)
{
	struct open i;

	if (!l->word && !l->one) {
		put_arrive(g, &l->bar, "_", false);
		return;
	}
	done(g, p);
	i = open_one(g, p, p->lead);
	if (l->word)
		put_release_word(g, &l->at, l->at.value + LINK, true);
	else
		put_arrive(g, &l->bar, "_", false);
	close_one(g, i);
}

/* Warps hand on to each other in turn, around once or more.  Each arrives and waits at an mbarrier
 * of its own before it does. */
static void motif_own_phases(struct gen *g)
{
	unsigned warps = g->p->threads / 32, turns = 1 + below(g, 3);
	struct party p = {.crew = WARP, .same = true, .lead = below(g, 32)};
	struct place area, data[MEMBERS];
	struct link link[MEMBERS];
	struct bar own[MEMBERS];
	struct open o, f;

	if (!g->whole || warps < 3 || warps > MEMBERS ||
	    !take_area(g, &p, &area, MEMBERS * (16 + data_bytes(g, &p, 4))))
		return;
	for (unsigned k = 0; k < warps; k++) {
		link[k] = (struct link){.word = chance(g, 35), .one = chance(g, 40), .at = {cut(&area, 4, 16), 0}};
		data[k] = cut_data(g, &p, &area, 4);
		if (!take_bar(g, &own[k]) || !take_bar(g, &link[k].bar))
			return;
		put_init(g, &own[k], 32);
		put_init(g, &link[k].bar, link[k].one ? 1 : 32);
	}
	init_done(g);
	for (unsigned n = 0; n < turns * warps; n++) {
		unsigned k = n % warps, times = below(g, 3);
		struct link *from = &link[(k + warps - 1) % warps];

		o = open_eq(g, "%w", k);
		f.pair = 0;
		if (n) {
			nobody(g, &p);
			await_link(g, &p, from);
			from->bar.phase++;
			f = open_found(g);
			for (unsigned b = 0; b < warps; b++)
				if (b != k && (b < k || n >= warps))
					work(g, &p, data[b], false);
		}
		work(g, &p, data[k], true);
		while (times--) {
			put_arrive(g, &own[k], "_", false);
			put_wait_now(g, &own[k]);
			own[k].phase++;
		}
		tell_link(g, &p, &link[k]);
		close_one(g, f);
		close_if(g, o);
	}
}

/* ---- programs ------------------------------------------------------------------------------------------ */

void lock_motifs(struct gen *g)
{
	static void (*const motifs[])(struct gen *) = {
		motif_read_back, motif_read_back, motif_lock_again, motif_lock_again, motif_own_phases
	};
	struct gen_prog *p = g->p;
	unsigned times = 1 + below(g, 3);

	/* Three take part at least. */
	if (p->blocks < 3 || chance(g, 40)) {
		if (p->async || chance(g, 50))
			p->threads = 96;
		else
			p->blocks = 3 + below(g, 2);
	}
	g->whole = p->threads % 32 == 0;
	/* What is lost of one race would excuse the next. */
	g->slips = 1 + below(g, 2);
	while (times--) {
		if (chance(g, 20))
			any_motif(g);
		else
			motifs[below(g, p->async ? 5 : 4)](g);
	}
	if (chance(g, 5))
		motif_leave(g);
}
