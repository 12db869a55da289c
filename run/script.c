/* SPDX-License-Identifier: Apache-2.0
 *
 * script.c: reads the //@ lines of a reproducer.  Nothing is ignored: a word
 * that is not understood is an error with its place, because a misspelt
 * expectation that is skipped makes a test that cannot fail.  It knows the
 * script and nothing of the driver; what a launch needs beyond it (does the
 * kernel exist, how many parameters has it) launch.c finds out.
 */
#include "run/script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/kinds.h"

/* ---- Names. */

static int find(const struct parser *p, const char *name)
{
	int i;

	for (i = 0; i < p->s->nobjs; i++)
		if (!strcmp(p->s->objs[i].name, name))
			return i;
	return -1;
}

static struct run_obj *declare(struct parser *p, struct word w, enum run_obj_kind kind)
{
	struct run_script *s = p->s;
	unsigned cap = (unsigned)p->obj_cap;
	int old = find(p, w.s);

	if (p->bad)
		return NULL;
	if (old == 0)
		fail(p, w.col, "\"0\" is the null stream");
	else if (old > 0)
		fail(p, w.col, "\"%s\" is already declared on line %u", w.s, s->objs[old].pos.line);
	else if (!run_is_name(w.s) && strcmp(w.s, "0"))
		fail(p, w.col, "\"%s\" is not a name", w.s);
	if (p->bad)
		return NULL;
	s->objs = run_more(s, s->objs, sizeof *s->objs, (unsigned)s->nobjs, &cap);
	p->obj_cap = (int)cap;
	s->objs[s->nobjs] = (struct run_obj){ .name = w.s, .kind = kind,
					      .pos = { p->line, w.col } };
	return &s->objs[s->nobjs++];
}

static bool is_memory(enum run_obj_kind k)
{
	return k == OBJ_BUF || k == OBJ_HOSTBUF || k == OBJ_MANAGED;
}

static int known(struct parser *p, struct word w)
{
	int i = p->bad ? 0 : find(p, w.s);

	if (i < 0)
		fail(p, w.col, "\"%s\" is not declared", w.s);
	return i < 0 ? 0 : i;
}

static int of_kind(struct parser *p, struct word w, enum run_obj_kind kind, const char *what)
{
	int i = known(p, w);

	if (!p->bad && p->s->objs[i].kind != kind)
		fail(p, w.col, "\"%s\" is not %s", w.s, what);
	return i;
}

/* NAME or NAME+OFFSET of a memory block. */
static int place(struct parser *p, struct word w, uint64_t *off)
{
	const char *plus = strchr(w.s, '+');
	struct word name = w;
	int i;

	*off = 0;
	if (plus) {
		name.s = run_copy(p->s, w.s, (size_t)(plus - w.s));
		*off = run_number(p, (struct word){ plus + 1, w.col + (unsigned)(plus - w.s) + 1 },
			      UINT64_MAX, "offset");
	}
	i = known(p, name);
	if (!p->bad && !is_memory(p->s->objs[i].kind))
		fail(p, w.col, "\"%s\" is not a memory block", name.s);
	if (!p->bad && *off > p->s->objs[i].bytes)
		fail(p, w.col, "offset %llu is behind the end of \"%s\" (%llu bytes)",
		     (unsigned long long)*off, name.s, (unsigned long long)p->s->objs[i].bytes);
	return i;
}

static void within(struct parser *p, unsigned col, int obj, uint64_t off, uint64_t bytes)
{
	if (!p->bad && bytes > p->s->objs[obj].bytes - off)
		fail(p, col, "reaches beyond the end of \"%s\" (%llu bytes)",
		     p->s->objs[obj].name, (unsigned long long)p->s->objs[obj].bytes);
}

/* ---- Declarations. */

static void unsupported(struct parser *p, unsigned col, const char *what)
{
	if (p->s->unsupported || p->bad)
		return;
	p->s->unsupported = what;
	p->s->unsupported_pos = (struct run_pos){ p->line, col };
}

static void device_number(struct parser *p, struct word value)
{
	if (run_number(p, value, 63, "device"))
		unsupported(p, value.col, "a second device");
}

static void parse_device(struct parser *p, struct word dir)
{
	struct word w = run_next(p, "sm_XY");
	const char *s = w.s;
	unsigned n = 0;

	run_once(p, dir, &p->have_device);
	if (!strncmp(s, "sm_", 3))
		for (s += 3; *s >= '0' && *s <= '9' && n < 1000; s++)
			n = n * 10 + (unsigned)(*s - '0');
	p->s->sm_suffix = 0;
	if (*s == 'a' || *s == 'f')
		p->s->sm_suffix = *s++;
	if (*s || n < 50 || n > 999)
		fail(p, w.col, "\"%s\" is not a device (sm_XY, sm_XYa or sm_XYf)", w.s);
	p->s->sm = n;
	run_no_more(p);
}

static void parse_devices(struct parser *p, struct word dir)
{
	struct word w = run_next(p, "a number of devices");
	uint64_t n = run_number(p, w, 64, "devices");

	run_once(p, dir, &p->have_devices);
	if (!n)
		fail(p, w.col, "devices: at least 1");
	if (n > 1)
		unsupported(p, w.col, "a test with several devices");
	run_no_more(p);
}

static void parse_requires(struct parser *p, struct word dir)
{
	struct word w = run_next(p, "emu or gpu");

	run_once(p, dir, &p->have_place);
	if (!strcmp(w.s, "emu"))
		p->s->place = PLACE_EMU;
	else if (!strcmp(w.s, "gpu"))
		p->s->place = PLACE_GPU;
	else
		fail(p, w.col, "\"%s\" is neither emu nor gpu", w.s);
	run_no_more(p);
}

static void parse_faults(struct parser *p)
{
	p->s->faults = true;
	run_no_more(p);
}

static void parse_memory(struct parser *p, enum run_obj_kind kind)
{
	struct run_obj *o = declare(p, run_next(p, "a name"), kind);
	struct word w = run_next(p, "a size in bytes"), v;
	uint64_t bytes = run_number(p, w, 1ull << 40, "size");
	bool init = false;

	if (!p->bad && !bytes)
		fail(p, w.col, "size: at least 1 byte");
	if (p->bad)
		return;
	o->bytes = bytes;
	while (!run_done(p)) {
		w = run_next(p, "");
		if (kind == OBJ_BUF && run_option(w, "device", &v)) {
			device_number(p, v);
			run_no_more(p);
			return;
		}
		if (init)
			fail(p, w.col, "unexpected \"%s\"", w.s);
		init = true;
		if (kind == OBJ_BUF && !strcmp(w.s, "later")) {
			o->later = true;
		} else if (!strcmp(w.s, "zero")) {
			o->init = INIT_ZERO;
		} else if (!strcmp(w.s, "iota")) {
			o->init = INIT_IOTA;
		} else if (!strcmp(w.s, "fill")) {
			o->init = INIT_FILL;
			o->seed = run_number(p, run_next(p, "a 32-bit word"), UINT32_MAX, "fill");
		} else if (!strcmp(w.s, "rand")) {
			o->init = INIT_RAND;
			o->seed = run_number(p, run_next(p, "a seed"), UINT64_MAX, "rand");
		} else {
			fail(p, w.col, "unknown way to fill memory: \"%s\"", w.s);
		}
	}
}

static void parse_tmap(struct parser *p)
{
	struct word name = run_next(p, "a name"), w;
	struct run_tmap *t = run_alloc(p->s, sizeof *t);
	struct run_obj *o = declare(p, name, OBJ_TMAP);
	const char *wrong;

	t->buf = place(p, run_next(p, "a memory block"), &t->off);
	w = run_next(p, "an element type");
	if (!p->bad && !run_tmap_type(t, w.s))
		fail(p, w.col, "\"%s\" is no type of elements", w.s);
	while (!run_done(p)) {
		w = run_next(p, "");
		wrong = run_tmap_word(t, w.s);
		if (wrong)
			fail(p, w.col, "\"%s\" %s", w.s, wrong);
	}
	if (p->bad)
		return;
	wrong = run_tmap_end(t, p->s->objs[t->buf].bytes - t->off);
	if (wrong)
		fail(p, p->end_col, "%s", wrong);
	o->tmap = t;
}

/* ---- Actions. */

static void dims(struct parser *p, struct word v, unsigned d[3], const char *what)
{
	static const uint64_t max[3] = { INT32_MAX, 65535, 65535 };
	const char *s = v.s, *comma;
	unsigned i, col = v.col;
	size_t n;

	d[0] = d[1] = d[2] = 1;
	for (i = 0; ; i++) {
		if (i == 3) {
			fail(p, col, "%s: more than three numbers", what);
			return;
		}
		comma = strchr(s, ',');
		n = comma ? (size_t)(comma - s) : strlen(s);
		d[i] = (unsigned)run_number(p, (struct word){ run_copy(p->s, s, n), col }, max[i],
					    what);
		if (!d[i])
			fail(p, col, "%s: at least 1", what);
		if (!comma)
			return;
		s = comma + 1;
		col += (unsigned)n + 1;
	}
}

static const struct { const char *name; unsigned bytes; char kind; } value_types[] = {
	{ "u8:", 1, 'u' }, { "u16:", 2, 'u' }, { "u32:", 4, 'u' }, { "u64:", 8, 'u' },
	{ "s32:", 4, 's' }, { "s64:", 8, 's' }, { "f32:", 4, 'f' }, { "f64:", 8, 'f' },
};

static uint64_t real_bits(struct parser *p, struct word w, unsigned bytes)
{
	char *end;
	double d;
	float f;
	uint64_t bits = 0;
	uint32_t word;

	errno = 0;
	d = strtod(w.s, &end);
	f = (float)d;
	if (end == w.s || *end || w.s[0] == ' ')
		fail(p, w.col, "\"%s\" is not a number", w.s);
	else if ((errno == ERANGE && fabs(d) > 1) || (bytes == 4 && isinf(f) && !isinf(d)))
		fail(p, w.col, "%s does not fit in f%u", w.s, bytes * 8);
	if (bytes == 4) {
		memcpy(&word, &f, 4);
		bits = word;
	} else {
		memcpy(&bits, &d, 8);
	}
	return bits;
}

static void value(struct parser *p, struct word w, unsigned t, struct run_arg *a)
{
	unsigned bits = value_types[t].bytes * 8;
	uint64_t max = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	bool minus;

	a->obj = ARG_VALUE;
	a->size = value_types[t].bytes;
	w.col += (unsigned)strlen(value_types[t].name);
	w.s += strlen(value_types[t].name);
	switch (value_types[t].kind) {
	case 'f':
		a->bits = real_bits(p, w, a->size);
		break;
	case 'u':
		a->bits = run_number(p, w, max, "value");
		break;
	default:
		minus = *w.s == '-';
		w.s += minus;
		a->bits = run_number(p, w, (max >> 1) + minus, "value");
		if (minus)
			a->bits = -a->bits & max;
	}
}

static void argument(struct parser *p, struct word w, struct run_arg *a)
{
	unsigned t;
	int i;

	a->col = w.col;
	for (t = 0; t < sizeof value_types / sizeof *value_types; t++)
		if (!strncmp(w.s, value_types[t].name, strlen(value_types[t].name))) {
			value(p, w, t, a);
			return;
		}
	i = find(p, w.s);
	if (i > 0 && p->s->objs[i].kind == OBJ_TMAP) {
		a->obj = i;
		a->size = 128;
		return;
	}
	a->obj = place(p, w, &a->bits);
	a->size = 8;
}

static void arguments(struct parser *p, struct word v, struct run_action *a)
{
	const char *s = v.s, *comma;
	unsigned n = 1, col = v.col;
	size_t len;

	a->args_col = v.col;
	if (!*s)
		return;
	for (; *s; s++)
		n += *s == ',';
	a->args = run_alloc(p->s, n * sizeof *a->args);
	for (s = v.s; !p->bad; s = comma + 1) {
		comma = strchr(s, ',');
		len = comma ? (size_t)(comma - s) : strlen(s);
		if (!len)
			fail(p, col, "an argument is missing");
		argument(p, (struct word){ run_copy(p->s, s, len), col }, &a->args[a->nargs++]);
		if (!comma)
			break;
		col += (unsigned)len + 1;
	}
}

static void parse_launch(struct parser *p, struct run_action *a)
{
	bool grid = false, block = false, cluster = false, smem = false;
	bool stream = false, device = false, args = false;
	struct word w, v;
	uint64_t threads;

	w = run_next(p, "a kernel");
	a->kernel = w.s;
	a->kernel_col = w.col;
	if (!p->bad && !run_is_name(w.s))
		fail(p, w.col, "\"%s\" is not a kernel's name", w.s);
	while (!run_done(p)) {
		w = run_next(p, "");
		if (run_option(w, "grid", &v)) {
			run_once(p, w, &grid);
			dims(p, v, a->grid, "grid");
		} else if (run_option(w, "block", &v)) {
			run_once(p, w, &block);
			dims(p, v, a->block, "block");
			threads = (uint64_t)a->block[0] * a->block[1] * a->block[2];
			if (!p->bad && threads > 1024)
				fail(p, v.col, "block: %llu threads are more than 1024",
				     (unsigned long long)threads);
		} else if (run_option(w, "cluster", &v)) {
			run_once(p, w, &cluster);
			dims(p, v, a->cluster, "cluster");
		} else if (run_option(w, "smem", &v)) {
			run_once(p, w, &smem);
			a->smem = (unsigned)run_number(p, v, 1 << 20, "smem");
		} else if (run_option(w, "stream", &v)) {
			run_once(p, w, &stream);
			a->stream = of_kind(p, v, OBJ_STREAM, "a stream");
		} else if (run_option(w, "device", &v)) {
			run_once(p, w, &device);
			device_number(p, v);
		} else if (run_option(w, "args", &v)) {
			run_once(p, w, &args);
			arguments(p, v, a);
		} else if (!strcmp(w.s, "pdl")) {
			run_once(p, w, &a->pdl);
		} else {
			fail(p, w.col, "unknown word \"%s\" in a launch", w.s);
		}
	}
	if (!grid)
		fail(p, p->end_col, "expected grid=X[,Y[,Z]]");
	if (!block)
		fail(p, p->end_col, "expected block=X[,Y[,Z]]");
	if (!args)
		fail(p, p->end_col, "expected args=A[,B...]");
}

static void parse_sync(struct parser *p, struct run_action *a)
{
	struct word w;

	a->event = -1;
	a->context = run_done(p);
	if (a->context)
		return;
	w = run_next(p, "");
	if (!strcmp(w.s, "stream"))
		a->stream = of_kind(p, run_next(p, "a stream"), OBJ_STREAM, "a stream");
	else if (!strcmp(w.s, "event"))
		a->event = of_kind(p, run_next(p, "an event"), OBJ_EVENT, "an event");
	else
		fail(p, w.col, "expected \"stream NAME\" or \"event NAME\"");
	run_no_more(p);
}

static void tail_stream(struct parser *p, struct run_action *a)
{
	struct word w, v;

	if (run_done(p))
		return;
	w = run_next(p, "");
	if (run_option(w, "stream", &v))
		a->stream = of_kind(p, v, OBJ_STREAM, "a stream");
	else
		fail(p, w.col, "unexpected \"%s\"", w.s);
	run_no_more(p);
}

static void parse_copy(struct parser *p, struct run_action *a)
{
	struct word d = run_next(p, "where to"), s, n;

	a->dst = place(p, d, &a->dst_off);
	s = run_next(p, "where from");
	a->src = place(p, s, &a->src_off);
	n = run_next(p, "a number of bytes");
	a->bytes = run_number(p, n, UINT64_MAX, "bytes");
	within(p, n.col, a->dst, a->dst_off, a->bytes);
	within(p, n.col, a->src, a->src_off, a->bytes);
	tail_stream(p, a);
}

static void parse_set(struct parser *p, struct run_action *a)
{
	struct word n;

	a->dst = place(p, run_next(p, "where to"), &a->dst_off);
	a->byte = (unsigned)run_number(p, run_next(p, "a byte"), 255, "byte");
	n = run_next(p, "a number of bytes");
	a->bytes = run_number(p, n, UINT64_MAX, "bytes");
	within(p, n.col, a->dst, a->dst_off, a->bytes);
	tail_stream(p, a);
}

/* NAME [stream=NAME] */
static void parse_block(struct parser *p, struct run_action *a)
{
	a->dst = of_kind(p, run_next(p, "a buf"), OBJ_BUF, "a buf");
	a->bytes = p->s->objs[a->dst].bytes;
	a->ordered = !run_done(p);
	tail_stream(p, a);
}

static void parse_touch(struct parser *p, struct run_action *a)
{
	struct word w = run_next(p, "a hostbuf or managed block"), n;
	enum run_obj_kind k;

	a->dst = known(p, w);
	k = p->s->objs[a->dst].kind;
	if (!p->bad && k != OBJ_HOSTBUF && k != OBJ_MANAGED)
		fail(p, w.col, "\"%s\" is neither a hostbuf nor managed", w.s);
	n = run_next(p, "an offset");
	a->dst_off = run_number(p, n, UINT64_MAX, "offset");
	if (!p->bad && a->dst_off > p->s->objs[a->dst].bytes)
		fail(p, n.col, "behind the end of \"%s\"", w.s);
	n = run_next(p, "a number of bytes");
	a->bytes = run_number(p, n, UINT64_MAX, "bytes");
	within(p, n.col, a->dst, a->dst_off, a->bytes);
	run_no_more(p);
}

static void parse_action(struct parser *p, enum run_action_kind kind, unsigned col)
{
	struct run_script *s = p->s;
	struct run_action a = { .kind = kind, .pos = { p->line, col }, .event = -1 };

	p->acting = true;
	switch (kind) {
	case ACT_LAUNCH:
		parse_launch(p, &a);
		break;
	case ACT_SYNC:
		parse_sync(p, &a);
		break;
	case ACT_RECORD:
		a.event = of_kind(p, run_next(p, "an event"), OBJ_EVENT, "an event");
		a.stream = of_kind(p, run_next(p, "a stream"), OBJ_STREAM, "a stream");
		run_no_more(p);
		break;
	case ACT_WAIT:
		a.stream = of_kind(p, run_next(p, "a stream"), OBJ_STREAM, "a stream");
		a.event = of_kind(p, run_next(p, "an event"), OBJ_EVENT, "an event");
		run_no_more(p);
		break;
	case ACT_COPY:
		parse_copy(p, &a);
		break;
	case ACT_SET:
		parse_set(p, &a);
		break;
	case ACT_HOSTREAD:
	case ACT_HOSTWRITE:
		parse_touch(p, &a);
		break;
	case ACT_FREE:
	case ACT_ALLOC:
		parse_block(p, &a);
		break;
	}
	if (p->bad)
		return;
	s->actions = run_more(s, s->actions, sizeof a, s->nactions, &p->action_cap);
	s->actions[s->nactions++] = a;
}

/* ---- Verdicts. */

static void parse_verdict(struct parser *p, struct run_expect *e)
{
	struct word w = run_next(p, "clean, only or a kind of finding");
	int k;

	if (!strcmp(w.s, "clean")) {
		e->clean = true;
		run_no_more(p);
		return;
	}
	if (!strcmp(w.s, "only")) {
		e->only = true;
		w = run_next(p, "a kind of finding");
	}
	for (k = 0; k < GSAN_KIND_COUNT && strcmp(w.s, run_kind_name(k)); k++)
		;
	e->kind = strcmp(w.s, "race") ? k : KIND_ANY_RACE;
	if (k == GSAN_KIND_COUNT && e->kind != KIND_ANY_RACE)
		fail(p, w.col, "unknown kind of finding \"%s\"", w.s);
	while (!run_done(p) && e->nlines < 2) {
		w = run_next(p, "");
		e->lines[e->nlines] = (unsigned)run_number(p, w, UINT32_MAX, "line");
		if (!p->bad && (!e->lines[e->nlines] || e->lines[e->nlines] > p->s->nlines))
			fail(p, w.col, "this file has no line %s", w.s);
		e->nlines++;
	}
	run_no_more(p);
}

static void parse_expect(struct parser *p, bool with, unsigned col)
{
	struct run_script *s = p->s;
	struct run_expect e = { .pos = { p->line, col } };
	struct word w;
	char *o;

	if (with) {
		o = NULL;
		for (w = run_next(p, "OPTIONS"); !p->bad && strcmp(w.s, ":");
		     w = run_next(p, "\":\" behind the options")) {
			size_t have = o ? strlen(o) + 1 : 0;
			char *joined = run_alloc(s, have + strlen(w.s) + 1);

			if (o)
				sprintf(joined, "%s ", o);
			strcpy(joined + have, w.s);
			o = joined;
		}
		if (!p->bad && !o)
			fail(p, w.col, "expected OPTIONS");
		e.options = o;
	}
	parse_verdict(p, &e);
	if (p->bad)
		return;
	s->expects = run_more(s, s->expects, sizeof e, s->nexpects, &p->expect_cap);
	s->expects[s->nexpects++] = e;
}

static void parse_timeout(struct parser *p, struct word dir)
{
	struct word w = run_next(p, "seconds");
	uint64_t v = run_number(p, w, 86400, "timeout");

	run_once(p, dir, &p->s->timeout_given);
	if (!p->bad && !v)
		fail(p, w.col, "timeout: at least 1");
	p->s->timeout = (unsigned)v;
	run_no_more(p);
}

/* ---- Lines. */

static const struct { const char *name; enum run_action_kind kind; } actions[] = {
	{ "launch", ACT_LAUNCH }, { "sync", ACT_SYNC }, { "record", ACT_RECORD },
	{ "wait", ACT_WAIT }, { "copy", ACT_COPY }, { "set", ACT_SET },
	{ "hostread", ACT_HOSTREAD }, { "hostwrite", ACT_HOSTWRITE }, { "free", ACT_FREE }, { "alloc", ACT_ALLOC },
};

static bool parse_declaration(struct parser *p, struct word dir)
{
	const char *d = dir.s;
	bool mine = true;

	if (!strcmp(d, "device"))
		parse_device(p, dir);
	else if (!strcmp(d, "devices"))
		parse_devices(p, dir);
	else if (!strcmp(d, "requires"))
		parse_requires(p, dir);
	else if (!strcmp(d, "faults"))
		parse_faults(p);
	else if (!strcmp(d, "buf"))
		parse_memory(p, OBJ_BUF);
	else if (!strcmp(d, "hostbuf"))
		parse_memory(p, OBJ_HOSTBUF);
	else if (!strcmp(d, "managed"))
		parse_memory(p, OBJ_MANAGED);
	else if (!strcmp(d, "tmap"))
		parse_tmap(p);
	else if (!strcmp(d, "stream"))
		declare(p, run_next(p, "a name"), OBJ_STREAM), run_no_more(p);
	else if (!strcmp(d, "event"))
		declare(p, run_next(p, "a name"), OBJ_EVENT), run_no_more(p);
	else
		mine = false;
	if (mine && p->acting)
		fail(p, dir.col, "\"%s\" declares something, so it goes before the first action", d);
	return mine;
}

static void parse_line(struct parser *p)
{
	struct word dir = run_next(p, "a directive");
	unsigned i;

	if (p->bad || parse_declaration(p, dir))
		return;
	for (i = 0; i < sizeof actions / sizeof *actions; i++)
		if (!strcmp(dir.s, actions[i].name)) {
			parse_action(p, actions[i].kind, dir.col);
			return;
		}
	if (!strcmp(dir.s, "expect"))
		parse_expect(p, false, dir.col);
	else if (!strcmp(dir.s, "expect-with"))
		parse_expect(p, true, dir.col);
	else if (!strcmp(dir.s, "timeout"))
		parse_timeout(p, dir);
	else
		fail(p, dir.col, "unknown directive \"%s\"", dir.s);
}

bool run_parse(struct run_script *s, const char *path, const char *text, size_t len)
{
	struct parser p = { .s = s };
	const char *line, *eol, *end = text + len;
	size_t n, i;

	*s = (struct run_script){ .path = path, .text = text, .len = len, .timeout = RUN_TIMEOUT };
	declare(&p, (struct word){ "0", 0 }, OBJ_STREAM);
	for (i = 0; i < len; i++)
		s->nlines += text[i] == '\n' || i + 1 == len;
	for (line = text; line < end; line = eol + 1) {
		eol = memchr(line, '\n', (size_t)(end - line));
		if (!eol)
			eol = end;
		n = (size_t)(eol - line);
		if (n && line[n - 1] == '\r')
			n--;
		p.line++;
		for (i = 0; i < n && (line[i] == ' ' || line[i] == '\t'); i++)
			;
		if (n - i < 3 || memcmp(line + i, "//@", 3))
			continue;
		run_split(&p, line, n, i + 3);
		parse_line(&p);
	}
	if (p.nerrors > MAX_ERRORS)
		fprintf(stderr, "%s: %u more errors\n", path, p.nerrors - MAX_ERRORS);
	return !p.nerrors;
}
