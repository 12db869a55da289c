/* SPDX-License-Identifier: Apache-2.0
 *
 * hang.c: launches that come to no end (hang_timeout): looked at now and then while they run, by what they have logged
 * (log/stand.h).
 */
#include <stdlib.h>
#include <string.h>

#include "log/stand.h"
#include "rt/copy.h"
#include "rt/found.h"
#include "rt/hang.h"

enum { LEAST_PERIOD_MS = 100, POLL_BYTES = 256 /* that a lane's polls log in a second, at most */, NAMES = 16 };
#define MOST_LOG (UINT64_C(4) << 30)    /* bytes of a log that is looked at: the host has to have a copy */

struct rt_hang {
	struct log_stand *stand;        /* when it was looked at last; NULL: not yet */
	struct event_sites sites;
	uint64_t looked, due;           /* ms */
	uint32_t next;                  /* ticket, then */
	uint64_t quiet;                 /* ms that it has logged nothing but polls */
	bool told;
	char *name[NAMES];
	unsigned nnames;
};

static uint64_t period_ms(void)
{
	const uint64_t half = (uint64_t)rt_flags.hang_timeout * 500;

	return half < LEAST_PERIOD_MS ? LEAST_PERIOD_MS : half;
}

void rt_hang_forget(struct rt_launch *l)
{
	struct rt_hang *h = l->hang;

	if (!h)
		return;
	l->hang = NULL;
	log_stand_free(h->stand);
	for (unsigned i = 0; i < h->nnames; i++)
		rt_free(h->name[i]);
	rt_free(h);
}

bool rt_hang_is_quiet(const struct rt_launch *l)
{
	return l->hang && l->hang->quiet;
}

/* ---- what the log refers to --------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Who calls, where that is inlined from a library's header. */
static struct hang_place source_place(const struct rt_tables *t, const struct module_spot *spot)
{
	const char *file = rt_string(t, spot->file);
	struct hang_place p = {base_name(file), spot->line};

	for (uint32_t next = spot->frames, n = 0; strstr(file, "/include/") && next && next <= t->n.nframes && n < RT_FRAMES; n++) {
		const struct module_frame *f = &t->frame[next - 1];

		file = rt_string(t, f->file);
		if (*file && f->line && !strstr(file, "/include/"))
			p = (struct hang_place){base_name(file), f->line};
		next = f->next;
	}
	return p;
}

static struct hang_place place(void *arg, uint32_t site)
{
	const struct rt_launch *l = arg;
	const struct rt_tables *t = rt_unit_of(l->tables, site);
	const struct module_spot *spot = t ? &t->spot[site - t->base] : NULL;

	if (!t)
		return (struct hang_place){"?", 0};
	if (rt_flags.symbolize && *rt_string(t, spot->file) && spot->line)
		return source_place(t, spot);
	return (struct hang_place){base_name(rt_string(t, t->n.path)), t->site[site - t->base].line};
}

static const char *name(void *arg, uint64_t address)
{
	struct rt_launch *l = arg;
	struct rt_report r = {.addr = address};

	if (l->hang->nnames == NAMES)
		return NULL;
	pthread_mutex_lock(&rt_lock);
	rt_found_where(&r, rt_mem_at(l));
	pthread_mutex_unlock(&rt_lock);
	return l->hang->name[l->hang->nnames++] = r.where;
}

static uint32_t box(void *arg, const struct event_unit *u, const struct event_site *site, unsigned lane)
{
	const struct rt_launch *l = arg;
	const uint64_t hash = event_get(u, lane, EVENT_TENSOR_HASH);
	struct event_map m;

	for (size_t i = 0; i < l->nmaps; i++)
		if (l->map[i].hash == hash)
			return detect_box_bytes(u, site, lane, &l->map[i]);
	for (size_t i = 0; rt_map_get(i, &m); i++)
		if (m.hash == hash)
			return detect_box_bytes(u, site, lane, &m);
	return 0;
}

static struct log_stand *stand_of(struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	struct rt_hang *h = l->hang = l->hang ? l->hang : rt_alloc(sizeof *h);
	const struct log_stand_of of = {
		.shape = &l->shape, .sites = &h->sites, .threads = l->block[0] * l->block[1] * l->block[2], .place = place, .name = name,
		.box = box, .arg = l
	};

	h->sites = rt_sites_linked(l->tables);
	return log_stand_new(&of, c, fill, n);
}

/* ---- what is said -------------------------------------------------------------------------------------------- */

static void add_line(void *arg, const char *text)
{
	rt_printf(arg, "  why: %s\n", text);
}

static void say_line(void *arg, const char *text)
{
	(void)arg;
	rt_say("  why: %s", text);
}

static void nothing(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

static struct rt_report *report(struct rt_launch *l, struct log_stand *s, const struct log_stand *was, uint64_t quiet)
{
	struct rt_report *r = rt_alloc(sizeof *r);
	struct rt_buf text = {0};
	struct detect_side side = {0};
	struct log_waits waits;
	uint32_t waiting, ended;

	r->kind = GSAN_DEADLOCK;
	r->count = 1;
	r->exact = true;
	r->seen_ms = rt_now_ms();
	r->var = r->in = "";
	log_stand_blocks(s, &waiting, &ended);
	if (quiet)
		rt_printf(&text, "  Nothing was logged for %llu seconds", (unsigned long long)(quiet + 500) / 1000);
	else
		rt_puts(&text, rt_copy_is_here() ? "  It ran when the process ended" : "  The device has ended it");
	rt_printf(&text, "; of %u block%s %u have ended, and %u have not begun\n", l->shape.blocks, l->shape.blocks == 1 ? "" : "s", ended, waiting);
	log_stand_explain(s, was, add_line, &text, &waits);
	r->hang = text.text;
	side.site = waits.site;
	side.block = waits.block;
	side.thread = (uint16_t)waits.thread;
	rt_found_launch(r, l);
	rt_found_place(&r->now, &side, l);
	rt_found_place(&r->before, &side, NULL);
	return r;
}

static void say_may(struct rt_launch *l, struct log_stand *s, const struct log_stand *was)
{
	struct log_waits waits;

	rt_say("launch #%u of %s has logged nothing for %llu seconds, and may hang:", l->nth,
	       rt_demangle(rt_string(l->tables, l->kernel->name)), (unsigned long long)(l->hang->quiet + 500) / 1000);
	log_stand_explain(s, was, say_line, NULL, &waits);
}

/* ---- looking -------------------------------------------------------------------------------------------------- */

bool rt_hang_is_due(struct rt_launch *l)
{
	const uint64_t now = rt_now_ms();

	if (!l->hang) {
		l->hang = rt_alloc(sizeof *l->hang);
		l->hang->looked = now;
		l->hang->due = now + period_ms();
		l->hang->next = l->shape.end;
	}
	return l->hang->due <= now;
}

/* Has it logged more than polls alone would? */
static bool is_busy(const struct rt_launch *l, const struct log_copy *c, uint64_t ms)
{
	const uint64_t bytes = (uint64_t)(c->head.next - l->hang->next) * sizeof(struct event_unit);
	const uint64_t lanes = (uint64_t)l->shape.blocks * l->shape.warps * EVENT_LANES;

	return bytes > (lanes < l->shape.lanes ? lanes : l->shape.lanes) * (l->shape.piece * sizeof(struct event_unit) + POLL_BYTES * ms / 1000);
}

static bool read_head(const struct rt_launch *l, struct log_copy *c)
{
	const struct log_way *w = rt_way_begin(RT_WAY_TAKE);
	bool ok = w && log_read(w, &c->head, l->memory.at, sizeof c->head);

	if (w)
		rt_way_end(RT_WAY_TAKE);
	return ok;
}

static struct log_stand *look(struct rt_launch *l, const struct log_fill *fill, uint32_t n)
{
	const struct log_way *w = rt_way_begin(RT_WAY_TAKE);
	struct log_copy c = {0};
	struct log_stand *s = NULL;
	bool ok = w && log_take(w, l->memory.at, &l->shape, &c);

	c.torn = true;
	if (w)
		rt_way_end(RT_WAY_TAKE);
	if (ok && !c.head.lost)
		s = stand_of(l, &c, fill, n);
	free(c.unit);
	return s;
}

struct rt_report *rt_hang_look(struct rt_launch *l, const struct log_fill *fill, uint32_t n)
{
	struct rt_hang *h = l->hang;
	const uint64_t now = rt_now_ms(), ms = now - h->looked;
	struct log_stand *was = h->stand, *s = NULL;
	struct log_copy c = {0};
	struct rt_report *r = NULL;
	struct log_waits waits;
	enum log_hang hangs;

	h->looked = now;
	h->due = now + period_ms();
	if (!read_head(l, &c))
		return NULL;
	if (!is_busy(l, &c, ms) && (uint64_t)c.head.next * sizeof(struct event_unit) <= MOST_LOG)
		s = look(l, fill, n);
	h->next = c.head.next;
	h->quiet = s && was && !log_stand_moved(was, s) ? h->quiet + ms : 0;
	h->told = h->told && h->quiet;
	h->stand = s;
	if (h->quiet + LEAST_PERIOD_MS >= (uint64_t)rt_flags.hang_timeout * 1000 && !h->told) {
		hangs = log_stand_explain(s, was, nothing, NULL, &waits);
		h->told = hangs != LOG_RUNS;
		if (hangs == LOG_HANGS || (hangs == LOG_MAY_HANG && rt_flags.hang_exit > RT_HANG_EXIT_SURE))
			r = report(l, s, was, h->quiet);
		else if (hangs == LOG_MAY_HANG)
			say_may(l, s, was);
	}
	log_stand_free(was);
	return r;
}

struct rt_report *rt_hang_of(struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	struct log_stand *s = c->head.lost ? NULL : stand_of(l, c, fill, n);
	struct log_waits waits;
	struct rt_report *r = NULL;

	if (s && log_stand_explain(s, NULL, nothing, NULL, &waits) == LOG_HANGS)
		r = report(l, s, NULL, 0);
	log_stand_free(s);
	return r;
}
