/* SPDX-License-Identifier: Apache-2.0
 *
 * met.c: reports of deeds that have met (order.h), and of places of the host.
 */
#include <string.h>

#include "rt/found.h"
#include "rt/order.h"
#include "rt/symbol.h"

/* ---- reports ---------------------------------------------------------------------------------------------------------- */

/* Is it the driver's or the CUDA runtime's? */
static bool is_inner(const struct rt_symbol *s)
{
	const char *base = strrchr(s->object, '/');
	const char *f = s->function, *header = strstr(s->file, "cuda_runtime");

	base = base ? base + 1 : s->object;
	return (header && strchr(header, '.') && !strchr(header, '/')) || !strncmp(base, "libgsan", 7) || !strncmp(base, "libcuda", 7) ||
	       !strncmp(f, "cuda", 4) || !strncmp(f, "__cudart", 8) || !strncmp(f, "libcudart_static_", 17);
}

/* As the manual calls a function of the driver's. */
static const char *call_name(const char *symbol)
{
	static const char *const ends[] = {"_ptsz", "_ptds", "_v2"};
	char *name = rt_copy(symbol);

	for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t n = strlen(name), k = strlen(ends[i]);

		if (n > k && !strcmp(name + n - k, ends[i]))
			name[n - k] = '\0';
	}
	return name;
}

static void add_frame(struct rt_place *p, const struct rt_symbol *s)
{
	if (p->nframes < RT_FRAMES)
		p->frame[p->nframes++] = (struct rt_frame){.func = s->function, .shown = rt_demangle(s->function), .file = s->file, .line = s->line};
}

/* From the program's own code on, with the name of the runtime's function that it called. */
static void fill_stack(struct rt_place *p, const struct rt_stack *s)
{
	bool outside = false;

	if (s->file) {
		p->ptx = s->file;
		p->ptx_line = s->line;
		p->frame[p->nframes++] = (struct rt_frame){.func = "", .shown = "the script", .file = s->file, .line = s->line};
		return;
	}
	for (unsigned i = 0; i < s->n; i++) {
		struct rt_symbol sym;

		rt_symbol_find(s->frame[i], i > 0 || s->called, &sym);
		if (!outside && is_inner(&sym)) {
			if (!strncmp(sym.function, "cuda", 4))
				p->call = sym.function;
			continue;
		}
		outside = true;
		add_frame(p, &sym);
		if (!strcmp(sym.function, "main"))
			break;
	}
}

void rt_met_call(struct rt_place *p, const char *call, const struct rt_stack *s)
{
	memset(p, 0, sizeof *p);
	p->known = true;
	p->op = p->var = p->ptx = "";
	p->call = call_name(call);
	fill_stack(p, s);
}

static void fill(struct rt_place *p, const struct rt_deed *x, const struct detect_range *r)
{
	struct detect_side side = {
		.launch = x->of.number, .block = r->block, .thread = r->thread, .site = r->site, .address = r->address, .bytes = r->size,
		.reads = r->reads, .writes = r->writes
	};

	if (!x->call) {
		rt_found_place(p, &side, x->of.kernel ? &x->of : NULL);
		return;
	}
	rt_met_call(p, x->call, &x->stack);
	p->write = r->writes;
	p->addr = r->address;
	p->size = r->size;
	p->verb = x->d.kind == DETECT_FREE ? "Free" : x->d.kind == DETECT_ALLOC ? "Allocation" : NULL;
	p->stream_known = x->d.kind != DETECT_TOUCH;
	p->stream = x->stream;
}

/* The same sites or calls were told of before: it counts with that. */
static struct rt_report *told(const struct rt_deed *const x[2], const struct detect_meeting *m, bool *room)
{
	enum { MOST = 1024 };
	static struct { uint64_t origin[2]; uint32_t site[2]; struct rt_report *r; } known[MOST];
	static size_t n;

	for (size_t i = 0; i < n; i++)
		if (known[i].origin[0] == x[0]->d.origin && known[i].origin[1] == x[1]->d.origin && known[i].site[0] == m->range[0].site &&
		    known[i].site[1] == m->range[1].site)
			return known[i].r;
	*room = n < MOST;
	if (!*room)
		return NULL;
	known[n].r = rt_alloc(sizeof *known[n].r);
	for (unsigned k = 0; k < 2; k++) {
		known[n].origin[k] = x[k]->d.origin;
		known[n].site[k] = m->range[k].site;
	}
	return known[n++].r;
}

void rt_met(void *unused, const struct detect_meeting *m)
{
	const struct rt_deed *const x[2] = {
		(const struct rt_deed *)(uintptr_t)m->deed[0]->number, (const struct rt_deed *)(uintptr_t)m->deed[1]->number
	};
	const struct rt_launch *l = !x[1]->call && x[1]->of.kernel ? &x[1]->of : !x[0]->call && x[0]->of.kernel ? &x[0]->of : NULL;
	const bool host = x[0]->d.kind == DETECT_TOUCH || x[1]->d.kind == DETECT_TOUCH;
	bool room = true;
	struct rt_report *r = told(x, m, &room);

	(void)unused;
	if (!room || (host && !rt_flags.host_race))
		return;
	if (r->count++)
		return;
	r->kind = host ? GSAN_HOST_RACE : GSAN_STREAM_RACE;
	r->why = host ? GSAN_WHY_HOST : GSAN_WHY_STREAM;
	r->addr = m->address;
	r->exact = true;
	r->seen_ms = rt_now_ms();
	rt_found_launch(r, l);
	fill(&r->before, x[0], &m->range[0]);
	fill(&r->now, x[1], &m->range[1]);
	pthread_mutex_lock(&rt_lock);
	rt_found_where(r, &rt_blocks);
	pthread_mutex_unlock(&rt_lock);
	rt_report_add(&r, 1);
}
