/* SPDX-License-Identifier: Apache-2.0
 *
 * choices.c: what the documentation leaves open (memory-model.md 2.4), by the keys and values of
 * GSAN_OPTIONS.
 */
#include <string.h>

#include "detect/impl.h"

/* Values of a choice, in the order of their numbers; 0 is the default. */
static const struct choice { const char *name, *value[3]; size_t at; } choices[] = {
	{"detect", {"normal", "reference"}, offsetof(struct choices, reference)},
	{"proxy_fence", {"own", "path"}, offsetof(struct choices, path)},
	{"proxy_war", {"error", "warn", "off"}, offsetof(struct choices, war)},
	{"proxy_cta", {"strict", "any"}, offsetof(struct choices, any_block)},
	{"async_proxy", {"cluster", "per-cta"}, offsetof(struct choices, per_block)},
	{"tx_scope", {"any", "strict"}, offsetof(struct choices, wide_tx)},
	{"tcgen05_fence", {"on", "off"}, offsetof(struct choices, no_tensor_fence)},
	{"async_read_fence", {"off", "strict"}, offsetof(struct choices, read_fence)},
	{"wgmma_read_retire", {"on", "off"}, offsetof(struct choices, no_retire)},
	{"mbar_init_fence", {"off", "strict"}, offsetof(struct choices, init_fence)},
	{"warp_sync_orders", {"off", "on"}, offsetof(struct choices, lockstep)},
	{"same_value", {"report", "ignore"}, offsetof(struct choices, same_value)},
	{"exit_async", {"off", "strict"}, offsetof(struct choices, exits)},
	{"pdl_no_trigger", {"clean", "race"}, offsetof(struct choices, trigger)},
	{"arrive_scope", {"reads", "any", "strict"}, offsetof(struct choices, arrive)}
};

static const struct choice *find(const char *name)
{
	for (unsigned i = 0; i < sizeof choices / sizeof *choices; i++)
		if (!strcmp(name, choices[i].name))
			return &choices[i];
	return NULL;
}

bool detect_knows(const char *name)
{
	return find(name) != NULL;
}

bool detect_choose(struct detect *d, const char *name, const char *value)
{
	const struct choice *c = find(name);

	for (uint8_t i = 0; c && i < 3; i++) {
		if (!c->value[i] || strcmp(value, c->value[i]))
			continue;
		*((uint8_t *)&d->choices + c->at) = i;
		return true;
	}
	return false;
}
