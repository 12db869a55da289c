/* SPDX-License-Identifier: Apache-2.0
 *
 * ev.c: reads the text form of a log, which people write; event/print.c prints it.
 * An event a line:
 *
 *   launch blocks=2 threads=64 cluster=2 shared=1024    the blocks begin; early: before the last launch has ended
 *   map hash=7 base=0x1000 rank=2 dim0=64 ...           a tensor map (struct event_map)
 *   0.1:3-5,8 st g:0x100+4 size=4                       block 0, warp 1, lanes 3, 4, 5 and 8; each 4 bytes further on
 *   0.*       bar.arrive id=0                           every warp of block 0
 *   *.0:0     ld.acquire.gpu g:0x200 size=4 read=1 @70..75
 *   variable 1 at=0x400 bytes=960                       where a variable of shared memory lies in the launch's blocks
 *   memory                                              launches that come have none of the blocks that stand above
 *   allocated g:0x1000 bytes=100                        they have this one; there, freed: likewise (enum event_block_kind)
 *   over                                                all threads end, and the launch
 *   fault                                               the launch ends, where its threads are
 *   cut 75                                              from that time on a part of the launch's log may be lost
 *
 * Behind the event's name come its modifiers, then the address (g:, s: the block's own shared memory,
 * sN: that of rank N; a bare number is generic), then operands and what the site says (event.def), of which each lane may have one of its own:
 * count=1,2.  @BEFORE..BEHIND are clocks; without, lines are ten apart.  line=N: by the instruction of that line again.
 * in=1,2: the address comes from one of these variables; from_in=, mbar_in=: likewise, that of a copy's source, of its
 * mbarrier.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testsuite/detect/ev.h"

static const struct { const char *name; uint8_t kind, does; } accesses[] = {
	{"ld", EVENT_ACCESS, EVENT_READS}, {"st", EVENT_ACCESS, EVENT_WRITES},
	{"update", EVENT_ACCESS, EVENT_READS | EVENT_WRITES}, {"atom", EVENT_STRONG, EVENT_READS | EVENT_WRITES},
	{"red", EVENT_STRONG, EVENT_READS | EVENT_WRITES | EVENT_NO_RESULT}
};
static const struct { const char *name; uint8_t kind; unsigned at; } operands[] = {
#define OPERAND(kind, id, name, word, shift, bits) {name, EVENT_##kind, EVENT_##kind##_##id},
#include "event/event.def"
	{"read", EVENT_STRONG, 0}, {"written", EVENT_STRONG, 1} /* not operands: the words */
};

struct reader {
	struct ev *t;
	const char *path;
	char *error;
	size_t size;
	unsigned line;
	bool bad, running, early;
	uint32_t launch, blocks, threads, cluster, shared, number;
	struct event_put put;
	struct event_site site;
	struct event_origin origin[8];  /* of the site */
	uint32_t norigins;
	bool own;                       /* the address is of the block's own shared memory, */
	struct event_put own_put;       /* and some operands: what a rank of 1 adds to them */
	uint32_t *left;                 /* of each warp of the launch: lanes that have not ended */
	size_t piece;                   /* where the last piece begins in the log */
};

static bool fail(struct reader *r, const char *fmt, ...)
{
	va_list ap;
	int n = r->bad ? -1 : snprintf(r->error, r->size, "%s:%u: error: ", r->path, r->line);

	r->bad = true;
	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < r->size)
		vsnprintf(r->error + n, r->size - (size_t)n, fmt, ap);
	va_end(ap);
	return false;
}

static void *grown(void *v, size_t bytes)
{
	v = realloc(v, bytes);
	if (!v)
		abort();
	return v;
}

static bool number(struct reader *r, char **s, uint64_t *v)
{
	char *end;

	*v = strtoull(*s, &end, 0);     /* a minus is two's complement */
	if (end == *s)
		return fail(r, "a number was expected: %s", *s);
	*s = end;
	return true;
}

/* g:N, s:N, sN:N or N */
static bool place(struct reader *r, char **s, uint64_t *v, uint8_t *space, bool *own)
{
	uint64_t rank = 0;
	char *colon = strchr(*s, ':');

	*own = **s == 's' && colon == *s + 1;
	if (**s == 'g' || **s == 's') {
		*space = **s == 'g' ? EVENT_GLOBAL : EVENT_SHARED;
		++*s;
		if (colon > *s && !number(r, s, &rank))
			return false;
		if (!colon || *(*s)++ != ':')
			return fail(r, "a place is g:N, s:N or sN:N");
	}
	if (!number(r, s, v))
		return false;
	*v |= rank << 24;
	return true;
}

/* "3-5,8" or "*" */
static uint64_t ranges(struct reader *r, char **s)
{
	uint64_t mask = 0, from, to;

	if (**s == '*')
		return ++*s, UINT64_MAX;
	do {
		*s += mask != 0;
		if (!number(r, s, &from))
			return 0;
		to = from;
		if (**s == '-') {
			++*s;
			if (!number(r, s, &to))
				return 0;
		}
		for (; from <= to && from < 64; from++)
			mask |= UINT64_C(1) << from;
	} while (**s == ',' && mask);
	return mask;
}

/* "name.modifier.modifier" */
static bool instruction(struct reader *r, const char *word)
{
	struct event_site *site = &r->site;
	size_t best = 0, n;

#define LONGEST(word_, kind_, does_) \
	if ((n = strlen(word_)) > best && !strncmp(word, word_, n) && (!word[n] || word[n] == '.')) { \
		best = n; \
		site->kind = (uint8_t)(kind_); \
		site->does = does_; \
	}
	for (unsigned k = EVENT_END; k < EVENT_KINDS; k++)
		LONGEST(event_name(k), k, 0)
	for (unsigned k = 0; k < sizeof accesses / sizeof *accesses; k++)
		LONGEST(accesses[k].name, accesses[k].kind, accesses[k].does)
	if (!best)
		return fail(r, "no event: %s", word);
	for (const char *m = word + best; *m; m += n) {
		bool found = false;

		n = strcspn(++m, ".");
#define MODIFIER(name, field, value) \
		if (n == sizeof name - 1 && !strncmp(m, name, n)) { \
			site->field = (__typeof__(site->field))(site->field | value); \
			found = true; \
		}
#include "event/event.def"
		if (!found)
			return fail(r, "no modifier: %s", m);
	}
	if (site->kind == EVENT_ACCESS && site->sem != EVENT_SEM_NONE)
		site->kind = EVENT_STRONG;
	r->put.once = site->kind >= EVENT_WGMMA && site->kind <= EVENT_TC_STORE;
	return true;
}

static void set(struct reader *r, unsigned lane, unsigned at, uint64_t v, bool own)
{
	if (r->site.kind == EVENT_STRONG) {
		r->put.word[lane][at] = v;
		r->put.words = at < r->put.words ? r->put.words : at + 1;
		return;
	}
	event_set(&r->put, lane, (enum event_operand)at, v);
	event_set(&r->own_put, lane, (enum event_operand)at, own ? 1u << 24 : 0);
}

/* One value for all lanes, or one for each. */
static bool values(struct reader *r, char *s, unsigned at)
{
	uint64_t v = 0;
	bool own = false;

	for (unsigned l = 0; l < EVENT_LANES; l++) {
		if (!(r->put.lanes >> l & 1))
			continue;
		if (*s && !place(r, &s, &v, &r->site.from, &own))
			return false;
		s += *s == ',';
		set(r, l, at, v, own);
	}
	return !*s || fail(r, "more values than lanes: %s", s);
}

static const char *const origins[] = {[EVENT_OF_AT] = "in", [EVENT_OF_FROM] = "from_in", [EVENT_OF_MBAR] = "mbar_in"};

static bool variables(struct reader *r, char *s, enum event_address_of address)
{
	uint64_t v;

	do {
		s += *s == ',';
		if (!number(r, &s, &v))
			return false;
		if (r->norigins == sizeof r->origin / sizeof *r->origin)
			return fail(r, "too many variables");
		r->origin[r->norigins++] = (struct event_origin){0, (uint16_t)address, 0, (uint32_t)v};
	} while (*s == ',');
	return !*s || fail(r, "no variables: %s", s);
}

static bool operand(struct reader *r, char *word)
{
	char *value = strchr(word, '=');
	uint8_t from = r->site.from;
	uint64_t v;
	bool ok;

	if (!value)
		return fail(r, "no operand: %s", word);
	*value++ = 0;
	for (unsigned i = 0; i < sizeof operands / sizeof *operands; i++) {
		if (operands[i].kind != r->site.kind || strcmp(operands[i].name, word))
			continue;
		ok = values(r, value, operands[i].kind == EVENT_STRONG && !r->put.words ? 0 : operands[i].at);
		if (strcmp(word, "from"))       /* no other place says where a copy comes from */
			r->site.from = from;
		return ok;
	}
	for (unsigned i = 0; i < sizeof origins / sizeof *origins; i++)
		if (!strcmp(word, origins[i]))
			return variables(r, value, (enum event_address_of)i);
	if (!strcmp(word, "line")) {
		ok = number(r, &value, &v);
		r->site.line = (uint32_t)v;
		return ok;
	}
#define SITE(name, field) \
	if (!strcmp(word, name)) { \
		ok = number(r, &value, &v); \
		r->site.field = (__typeof__(r->site.field))v; \
		return ok; \
	}
#include "event/event.def"
	return fail(r, "no operand of %s: %s", event_name(r->site.kind), word);
}

/* "g:0x100+4", or a place for each lane. */
static bool address(struct reader *r, char *s)
{
	unsigned first = event_first(r->put.lanes);
	uint64_t v = 0, step = 0;

	for (unsigned l = first; l < EVENT_LANES; l++) {
		if (!(r->put.lanes >> l & 1))
			continue;
		if ((l == first || *s == ',') && (s += l != first, !place(r, &s, &v, &r->site.space, &r->own)))
			return false;
		if (l == first && *s == '+' && (s++, !number(r, &s, &step)))
			return false;
		r->put.address[l] = v + step * (l - first);
	}
	return !*s || fail(r, "no address: %s", s);
}

/* "@BEFORE..BEHIND" */
static bool clocks(struct reader *r, char *s)
{
	struct event_put *p = &r->put;

	s++;
	if (!number(r, &s, &p->clock[0]))
		return false;
	p->clock[1] = p->clock[0];
	if (!strncmp(s, "..", 2) && (s += 2, !number(r, &s, &p->clock[1])))
		return false;
	return !*s || fail(r, "no clocks: %s", s);
}

/* ---- into pieces -------------------------------------------------------------------------- */

static unsigned warps_of(const struct reader *r)
{
	return (r->threads + EVENT_LANES - 1) / EVENT_LANES;
}

/* A log of so many bytes has room for these: it grows by twice. */
static size_t room(size_t bytes)
{
	size_t n = 4096;

	while (n < bytes)
		n *= 2;
	return n;
}

static void append(struct ev *t, const void *p, size_t n)
{
	if (!t->log || room(t->bytes + n) > room(t->bytes))
		t->log = grown(t->log, room(t->bytes + n));
	memcpy(t->log + t->bytes, p, n);
	t->bytes += n;
}

/* What a write stored is of the piece that has the write. */
static void append_stored(struct reader *r, const struct event_put *p, uint32_t block, unsigned warp)
{
	struct event_unit unit[EVENT_UNITS_MAX];
	size_t n = event_encode(unit, p) * sizeof *unit;
	struct event_piece *head = (struct event_piece *)(void *)(r->t->log + r->piece);

	if (!r->t->bytes || head->block != block || head->warp != warp) {
		fail(r, "stored comes behind the write of that warp");
		return;
	}
	head->bytes += (uint32_t)n;
	append(r->t, unit, n);
}

/* A piece of its own for each other record. */
static void emit(struct reader *r, uint32_t block, unsigned warp)
{
	uint32_t *left = &r->left[block * warps_of(r) + warp];
	struct event_put p = r->put, clock = {.kind = EVENT_CLOCK};
	struct event_unit unit[1 + EVENT_UNITS_MAX];
	struct event_piece head = {
		.magic = EVENT_MAGIC, .launch = r->launch, .block = block, .first = block - block % r->cluster,
		.rank = (uint16_t)(block % r->cluster), .blocks = (uint16_t)r->cluster, .warp = (uint8_t)warp,
		.sm = (uint16_t)block, .number = r->number++, .window = UINT64_C(0x7e0000000000),
		.clock = p.clock[0], .timer = p.clock[0]
	};
	unsigned n;

	p.lanes &= *left;
	if (!p.lanes)
		return;
	if (p.kind == EVENT_STORED) {
		append_stored(r, &p, block, warp);
		return;
	}
	for (unsigned l = 0; l < EVENT_LANES; l++) {
		p.address[l] += r->own ? (uint64_t)head.rank << 24 : 0;
		for (unsigned k = 0; k < EVENT_WORDS_MAX; k++)
			p.word[l][k] += r->own_put.word[l][k] * head.rank;
	}
	memcpy(p.timer, p.clock, sizeof p.timer);
	head.leader = (uint8_t)event_first(p.lanes);
	clock.lanes = p.lanes;
	clock.clock[0] = clock.timer[0] = p.clock[0];
	n = event_encode(unit, &clock);
	n += event_encode(unit + n, &p);
	head.bytes = (uint32_t)(sizeof head + n * sizeof *unit);
	r->piece = r->t->bytes;
	append(r->t, &head, sizeof head);
	append(r->t, unit, n * sizeof *unit);
	if (p.kind == EVENT_EXIT)
		*left &= ~p.lanes;
}

static void emit_all(struct reader *r, uint64_t blocks, uint64_t warps)
{
	for (uint32_t b = 0; b < r->blocks; b++)
		for (unsigned w = 0; w < warps_of(r); w++)
			if (blocks >> b & 1 && warps >> w & 1)
				emit(r, b, w);
}

static void new_event(struct reader *r)
{
	memset(&r->put, 0, sizeof r->put);
	memset(&r->own_put, 0, sizeof r->own_put);
	r->own = false;
	r->norigins = 0;
	r->put.lanes = ~0u;
	r->put.clock[0] = r->line * 10;
	r->put.clock[1] = r->line * 10 + 5;
}

/* The number of its site: a new one, or that of an earlier line. */
static uint32_t site_number(struct reader *r)
{
	struct ev *t = r->t;

	for (uint32_t i = 1; r->site.line != r->line && i < t->nsites; i++)
		if (t->site[i].line == r->site.line)
			return i;
	t->origin = grown(t->origin, (t->norigins + r->norigins + 1) * sizeof *t->origin);
	for (uint32_t i = 0; i < r->norigins; i++) {
		r->origin[i].site = t->nsites;
		t->origin[t->norigins++] = r->origin[i];
	}
	t->site = grown(t->site, (t->nsites + 1) * sizeof r->site);
	t->site[t->nsites] = r->site;
	return t->nsites++;
}

static bool event(struct reader *r, char *who, char *rest)
{
	uint64_t blocks = ranges(r, &who), warps = 0;
	char *save, *word = strtok_r(rest, " \t", &save);

	new_event(r);
	r->site = (struct event_site){.line = r->line, .size = 4, .count = 1};
	if (*who == '.') {
		who++;
		warps = ranges(r, &who);
	}
	if (*who == ':') {
		who++;
		r->put.lanes = (uint32_t)ranges(r, &who);
	}
	if (r->bad || *who || !word || !r->running)
		return fail(r, r->running ? "no event: BLOCK.WARP:LANES NAME ..." : "no launch yet");
	if (!instruction(r, word))
		return false;
	while ((word = strtok_r(NULL, " \t", &save))) {
		bool at = !strchr(word, '=') && (strchr(word, ':') || (*word >= '0' && *word <= '9'));

		if (!(*word == '@' ? clocks(r, word) : at ? address(r, word) : operand(r, word)))
			return false;
	}
	r->put.kind = r->site.kind;
	r->put.site = site_number(r);
	emit_all(r, blocks, warps);
	return true;
}

/* ---- directives ---------------------------------------------------------------------------- */

static void host(struct reader *r, const struct event_host *h)
{
	r->t->host = grown(r->t->host, (r->t->nhost + 1) * sizeof *h);
	r->t->host[r->t->nhost++] = *h;
}

static void everywhere(struct reader *r, enum event_kind kind)
{
	new_event(r);
	r->put.kind = kind;
	r->put.a = r->threads;
	r->put.b = r->shared;
	emit_all(r, UINT64_MAX, UINT64_MAX);
}

static void over(struct reader *r, bool fault)
{
	if (r->running && !fault)
		everywhere(r, EVENT_EXIT);
	if (r->running)
		host(r, &(struct event_host){.kind = EVENT_HOST_OVER, .launch = r->launch, .fault = fault});
	r->running = false;
}

/* name=value among `n` names; -1: none of them. */
static int setting(struct reader *r, char *word, const char *const *names, int n, uint64_t *v)
{
	size_t len = strcspn(word, "=");
	char *value = word + len + 1;

	for (int i = 0; i < n; i++)
		if (word[len] && len == strlen(names[i]) && !strncmp(word, names[i], len))
			return number(r, &value, v) ? i : -1;
	fail(r, "no such word: %s", word);
	return -1;
}

static bool launch(struct reader *r, char *rest)
{
	static const char *const names[] = {"blocks", "threads", "cluster", "shared"};
	uint32_t v[] = {1, EVENT_LANES, 1, 4096};
	struct event_host h = {.kind = EVENT_HOST_LAUNCH};
	char *save;

	for (char *w = strtok_r(rest, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		uint64_t n;
		int i = -1;

		if (!strcmp(w, "early"))
			h.early = true;
		else if ((i = setting(r, w, names, 4, &n)) < 0)
			return false;
		else
			v[i] = (uint32_t)n;
	}
	if (!h.early)
		over(r, false);
	r->blocks = v[0];
	r->threads = v[1];
	r->cluster = v[2];
	r->shared = v[3];
	if (!r->blocks || r->blocks > 64 || !r->threads || r->threads > 1024 || !r->cluster || r->cluster > EVENT_BLOCKS_MAX ||
	    r->blocks % r->cluster)
		return fail(r, "1 to 64 blocks of 1 to 1024 threads, in whole clusters of at most 16");
	h.launch = ++r->launch;
	h.blocks = r->blocks;
	host(r, &h);
	r->left = grown(r->left, r->blocks * warps_of(r) * sizeof *r->left);
	for (unsigned i = 0; i < r->blocks * warps_of(r); i++) {
		unsigned n = r->threads - i % warps_of(r) * EVENT_LANES;

		r->left[i] = n < EVENT_LANES ? (1u << n) - 1 : ~0u;
	}
	r->running = true;
	everywhere(r, EVENT_BEGIN);
	return true;
}

static bool map(struct reader *r, char *rest)
{
	static const char *const names[] = {
		"hash", "base", "rank", "im2col", "span", "slice", "stride0", "stride1", "stride2", "stride3", "stride4",
		"dim0", "dim1", "dim2", "dim3", "dim4", "box0", "box1", "box2", "box3", "box4",
		"every0", "every1", "every2", "every3", "every4", "lower0", "lower1", "lower2", "upper0", "upper1", "upper2"
	};
	struct event_host h = {.kind = EVENT_HOST_MAP, .launch = r->launch};
	struct event_map *m = &h.map;
	char *save;

	for (unsigned i = 0; i < 5; i++)
		m->dim[i] = m->box[i] = m->every[i] = 1;
	for (char *w = strtok_r(rest, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		uint64_t v;
		int i = setting(r, w, names, (int)(sizeof names / sizeof *names), &v);

		if (i < 0)
			return false;
		if (i < 2)
			*(i ? &m->base : &m->hash) = v;
		else if (i < 6)
			*(i == 2 ? &m->rank : i == 3 ? &m->im2col : i == 4 ? &m->span : &m->slice) = (uint8_t)v;
		else if (i < 11)
			m->stride[i - 6] = v;
		else if (i < 26)
			(i < 16 ? m->dim : i < 21 ? m->box : m->every)[(i - 11) % 5] = (uint32_t)v;
		else
			(i < 29 ? m->lower : m->upper)[(i - 26) % 3] = (int32_t)v;
	}
	host(r, &h);
	return true;
}

static bool variable(struct reader *r, char *rest)
{
	static const char *const names[] = {"at", "bytes"};
	struct event_host h = {.kind = EVENT_HOST_VARIABLE, .launch = r->launch};
	char *save;
	uint64_t v;

	rest += strspn(rest, " \t");
	if (!r->running)
		return fail(r, "no launch that has it");
	if (!number(r, &rest, &v))
		return false;
	h.place.variable = (uint32_t)v;
	for (char *w = strtok_r(rest, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		int i = setting(r, w, names, 2, &v);

		if (i < 0)
			return false;
		*(i ? &h.place.bytes : &h.place.at) = (uint32_t)v;
	}
	host(r, &h);
	return true;
}

/* The word is "memory", or that of a kind of block. */
static bool memory(struct reader *r, const char *word, char *rest)
{
	static const char *const kinds[] = {"allocated", "there", "freed"}, *const names[] = {"bytes"};
	struct event_host h = {.kind = EVENT_HOST_BLOCK, .launch = r->launch};
	uint8_t space;
	bool own;

	for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(word, kinds[i]))
			h.block.kind = (enum event_block_kind)i;
	rest += strspn(rest, " \t");
	if (!strcmp(word, "memory"))
		h.kind = EVENT_HOST_MEMORY;
	else if (!place(r, &rest, &h.block.at, &space, &own) || (rest += strspn(rest, " \t"), setting(r, rest, names, 1, &h.block.bytes)))
		return fail(r, "a block is g:N bytes=N");
	host(r, &h);
	return true;
}

static bool cut(struct reader *r, char *rest)
{
	struct event_host h = {.kind = EVENT_HOST_CUT, .launch = r->launch};

	rest += strspn(rest, " \t");
	if (!r->running)
		return fail(r, "no launch to cut");
	if (!number(r, &rest, &h.timer))
		return false;
	host(r, &h);
	return true;
}

static bool line(struct reader *r, char *s)
{
	char *word, *rest;

	s += strspn(s, " \t");
	word = s;
	s += strcspn(s, " \t\n");
	rest = *s ? s + 1 : s;
	*s = 0;
	rest[strcspn(rest, "#\n")] = 0;
	if (!*word || *word == '#' || !strncmp(word, "expect", 6))
		return true;
	if (!strcmp(word, "launch"))
		return launch(r, rest);
	if (!strcmp(word, "map"))
		return map(r, rest);
	if (!strcmp(word, "variable"))
		return variable(r, rest);
	if (!strcmp(word, "memory") || !strcmp(word, "allocated") || !strcmp(word, "there") || !strcmp(word, "freed"))
		return memory(r, word, rest);
	if (!strcmp(word, "cut"))
		return cut(r, rest);
	if (strcmp(word, "over") && strcmp(word, "fault"))
		return event(r, word, rest);
	over(r, !strcmp(word, "fault"));
	return true;
}

bool ev_read(struct ev *t, const char *path, const char *text, char *error, size_t size)
{
	struct reader r = {.t = t, .path = path, .error = error, .size = size};
	const struct event_site none = {0};

	*t = (struct ev){0};
	t->site = grown(NULL, sizeof none);
	t->site[t->nsites++] = none;
	for (const char *s = text; *s && !r.bad; s += strcspn(s, "\n"), s += *s != 0) {
		char copy[1024];
		size_t n = strcspn(s, "\n");

		r.line++;
		if (n >= sizeof copy) {
			fail(&r, "a line of more than %zu bytes", sizeof copy - 1);
			break;
		}
		memcpy(copy, s, n);
		copy[n] = 0;
		line(&r, copy);
	}
	if (!r.bad)
		over(&r, false);
	free(r.left);
	return !r.bad;
}

void ev_free(struct ev *t)
{
	free(t->log);
	free(t->host);
	free(t->site);
	free(t->origin);
	*t = (struct ev){0};
}
