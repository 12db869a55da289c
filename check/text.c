/* SPDX-License-Identifier: Apache-2.0
 *
 * text.c: a log as text: records as event/print.c has them, each with its instruction and where that is.
 */
#include <stdio.h>

#include "check/check.h"

enum { LINE = 1 << 14 };

struct text { const struct rt_launch *launch; uint64_t launches; };

static void process(void *unused, const struct log_process *p, const char *const string[LOG_PROCESS_STRINGS])
{
	(void)unused;
	printf("process %u of gsan %s: %s\n", p->pid, string[0], *string[2] ? string[2] : string[1]);
	printf("  on %s, compute capability %u.%u\n", *string[4] ? string[4] : "a device without a name", p->major, p->minor);
	printf("  judged by: %s\n", string[3]);
}

static void print_map(const struct event_map *m)
{
	printf("tensor map 0x%llx at 0x%llx:", (unsigned long long)m->hash, (unsigned long long)m->base);
	for (unsigned i = 0; i < m->rank && i < 5; i++)
		printf(" %u of %u, stride %llu;", m->box[i], m->dim[i], (unsigned long long)m->stride[i]);
	printf(" swizzle %u, slice %u%s\n", m->span, m->slice, m->im2col ? ", im2col" : "");
}

static void map(void *unused, const struct event_map *m)
{
	(void)unused;
	print_map(m);
}

static void memory(void *unused, const struct rt_blocks *b)
{
	static const char *const kinds[] = {
		[RT_MEM_DEVICE] = "device", [RT_MEM_MANAGED] = "managed", [RT_MEM_HOST] = "host", [RT_MEM_MAPPED] = "mapped",
		[RT_MEM_VARIABLE] = "variable", [RT_MEM_FREED] = "freed"
	};

	(void)unused;
	puts("memory:");
	for (size_t i = 0; i < b->n; i++)
		printf("  0x%llx, %llu bytes, %s %s\n", (unsigned long long)b->list[i].addr, (unsigned long long)b->list[i].bytes,
		       kinds[b->list[i].kind], b->list[i].name);
}

static void print_dim(const char *what, const uint32_t v[3])
{
	printf("%s(%u,%u,%u)", what, v[0], v[1], v[2]);
}

static bool launch(void *arg, struct rt_launch *l, const uint64_t *cut)
{
	struct text *t = arg;

	t->launch = l;
	t->launches++;
	printf("launch %u, #%u of %s", l->number, l->nth, rt_demangle(rt_string(l->tables, l->kernel->name)));
	print_dim("<<<", l->grid);
	print_dim(",", l->block);
	printf(">>>");
	if (l->cluster[0])
		print_dim(" in clusters of ", l->cluster);
	printf(" on stream 0x%llx%s%s", (unsigned long long)l->stream, l->early ? ", early" : "",
	       l->failed ? ", ended in an error" : "");
	if (cut)
		printf(", cut at %llu", (unsigned long long)*cut);
	putchar('\n');
	for (size_t i = 0; i < l->nmaps; i++) {
		printf("  parameter: ");
		print_map(&l->map[i]);
	}
	return false;
}

static void print_place(const struct rt_tables *t, uint32_t site)
{
	const struct module_spot *s = &t->spot[site];

	printf("  [%s", rt_string(t, s->op));
	if (s->line)
		printf(", %s:%u", rt_string(t, s->file), s->line);
	printf("]\n");
}

static void print_record(const struct rt_launch *l, const struct event_piece *p, const struct event_unit *e)
{
	static const struct event_site none;
	const uint32_t number = event_site_of(e);
	const struct rt_tables *t = rt_unit_of(l->tables, number);
	char line[LINE];

	event_print(line, sizeof line, p, e, t ? &t->site[number - t->base] : &none);
	printf("    %s", line);
	if (t && event_kind_of(e) != EVENT_CLOCK)
		print_place(t, number - t->base);
	else
		putchar('\n');
}

static const char *piece(void *arg, const struct event_piece *p)
{
	const struct text *t = arg;
	const struct event_unit *e = event_units_of(p), *end = e + (p->bytes - sizeof *p) / sizeof *e;

	printf("  block %u, warp %u, leader %u, piece %u: rank %u of %u, multiprocessor %u, from %llu/%llu\n", p->block, p->warp,
	       p->leader, p->number, p->rank, p->blocks, p->sm, (unsigned long long)p->clock, (unsigned long long)p->timer);
	for (; e < end && event_kind_of(e) != EVENT_END; e += event_units(e))
		print_record(t->launch, p, e);
	return NULL;
}

static void over(void *unused)
{
	(void)unused;
	puts("  over");
}

static void end(void *arg, const struct log_end *e, const struct rt_totals *unused)
{
	const struct text *t = arg;

	(void)unused;
	if (e)
		printf("end: %llu launches, %llu here, %llu not kept\n", (unsigned long long)e->launches, (unsigned long long)t->launches,
		       (unsigned long long)e->not_kept);
	else
		puts("no end: the process was ended before it could say what it counted");
}

bool check_print(const char *path)
{
	static const struct listener to = {process, map, memory, launch, piece, over, end};
	struct text t = {0};

	return log_read_all(path, &to, &t);
}
