/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_screen.c: a part of the pretended driver: the kernels that the runtime itself brings (rt/clear.cu).  FAKE_SCREEN=1: they
 * can be loaded, and find every launch clear.
 */
#include <stdlib.h>
#include <string.h>

#include "detect/screen.h"
#include "testsuite/rt/fake_impl.h"

#define FATBIN_MAGIC 0xba55ed50u

static const struct fake_kernel kernels[] = {
	{ "gsan_begin", NULL }, { "gsan_queue", NULL }, { "gsan_starts", NULL }, { "gsan_empty", NULL }, { "gsan_link", NULL }, { "gsan_blocks", NULL },
	{ "gsan_compare", NULL }, { "gsan_judge", NULL }, { "gsan_writes", NULL }, { "gsan_reads", NULL },
};
const struct fake_image fake_screen = { kernels, sizeof kernels / sizeof *kernels, false };

bool fake_is_fatbin(const void *image)
{
	uint32_t magic;

	memcpy(&magic, image, sizeof magic);
	return magic == FATBIN_MAGIC;
}

bool fake_has_screen(void)
{
	const char *on = getenv("FAKE_SCREEN");

	return on && *on == '1';
}

static bool is(const struct fn *f, const char *name)
{
	return !strcmp(f->k->name, name);
}

void fake_screen_values(const struct fn *f, void **params, unsigned char value[ROOM])
{
	memcpy(value, params[0], is(f, "gsan_begin") ? sizeof(struct clear_begin) :
				 is(f, "gsan_queue") ? sizeof(struct clear_queue) : sizeof(void *));
	if (is(f, "gsan_starts"))
		memcpy(value + sizeof(void *), params[1], sizeof(void *));
}

static void write_queue(const struct clear_queue *q)
{
	memset(q->at, 0, q->all * sizeof *q->at);
	for (uint32_t n = q->number; n < q->number + q->entries; n++)
		q->at[n & (q->entries - 1)].ticket = n * q->piece;
}

static void read_start(struct clear_start *s, const struct clear_region *r)
{
	memcpy(&s->head, r->unit, sizeof s->head);
	memcpy(&s->places, r->unit + REGION_PLACES, sizeof s->places);
	memcpy(&s->block, r->unit + r->heads, sizeof s->block);
}

static void make_empty(const struct screen *s)
{
	struct event_unit *unit = (struct event_unit *)s->log.unit;
	struct region_head head;

	memcpy(&head, unit, sizeof head);
	memset(unit + REGION_PLACES, 0, (REGION_QUEUE - REGION_PLACES) * sizeof *unit);
	memset(unit + s->log.heads, 0, (head.next - s->log.heads) * sizeof *unit);
}

void fake_screen_run(const struct launch *l)
{
	const struct clear_region *regions;
	struct clear_start *starts;
	const struct screen *all;
	struct clear_queue q;
	struct clear_begin b;

	memcpy(&regions, l->value, sizeof regions);
	memcpy(&all, l->value, sizeof all);
	memcpy(&starts, l->value + sizeof(void *), sizeof starts);
	memcpy(&b, l->value, sizeof b);
	memcpy(&q, l->value, sizeof q);
	if (is(l->fn, "gsan_begin"))
		memcpy(b.region, b.unit, sizeof b.unit);
	if (is(l->fn, "gsan_queue"))
		write_queue(&q);
	for (unsigned i = 0; i < l->grid[1]; i++)
		if (is(l->fn, "gsan_starts"))
			read_start(&starts[i], &regions[i]);
		else if (is(l->fn, "gsan_empty"))
			make_empty(&all[i]);
}
