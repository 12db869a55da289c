/* SPDX-License-Identifier: Apache-2.0
 *
 * maps.c: tensor maps that the program has had made, for the detector.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/judge.h"
#include "rt/state.h"

enum { MAP_BYTES = 128, SWIZZLED_ATOM = 16 };

/* With rt_lock; they are only added. */
static struct event_map *known;
static size_t nknown, known_cap;

static void add(const struct event_map *m)
{
	for (size_t i = 0; i < nknown; i++)
		if (known[i].hash == m->hash)
			return;
	known = rt_grow(known, &known_cap, nknown + 1, sizeof *known);
	known[nknown++] = *m;
}

/* Compilers make maps on the device of nothing: 128 bytes of zeros, and then each field by tensormap.replace. */
static void add_blank(void)
{
	static const unsigned char zeros[MAP_BYTES];
	struct event_map m = {.hash = event_map_hash(zeros), .rank = 1};

	for (unsigned i = 0; i < 5; i++)
		m.dim[i] = m.box[i] = m.every[i] = 1;
	add(&m);
}

void rt_map_made(const void *bytes, const struct gsan_map *from)
{
	struct event_map m = {
		.hash = event_map_hash(bytes), .base = from->base, .rank = (uint8_t)from->rank, .im2col = (uint8_t)from->im2col,
		.span = (uint8_t)from->span, .atom = SWIZZLED_ATOM, .slice = (uint8_t)from->slice
	};

	for (unsigned i = 0; i < 5; i++) {
		m.stride[i] = from->stride[i];
		m.dim[i] = from->dim[i];
		m.box[i] = from->box[i];
		m.every[i] = from->every[i];
	}
	memcpy(m.lower, from->lower, sizeof m.lower);
	memcpy(m.upper, from->upper, sizeof m.upper);
	pthread_mutex_lock(&rt_lock);
	if (!nknown)
		add_blank();
	add(&m);
	pthread_mutex_unlock(&rt_lock);
}

bool rt_map_find(const void *bytes, struct event_map *m)
{
	const uint64_t hash = event_map_hash(bytes);
	bool found = false;

	pthread_mutex_lock(&rt_lock);
	for (size_t i = 0; i < nknown && !found; i++)
		if ((found = known[i].hash == hash))
			*m = known[i];
	pthread_mutex_unlock(&rt_lock);
	return found;
}

bool rt_map_get(size_t i, struct event_map *m)
{
	bool there;

	pthread_mutex_lock(&rt_lock);
	if (!nknown)
		add_blank();
	there = i < nknown;
	if (there)
		*m = known[i];
	pthread_mutex_unlock(&rt_lock);
	return there;
}
