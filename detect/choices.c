/* SPDX-License-Identifier: Apache-2.0
 *
 * choices.c: what the documentation leaves open (memory-model.md 2.4), by the keys and values of
 * GSAN_OPTIONS.
 */
#include <string.h>

#include "detect/impl.h"

bool detect_choose(struct detect *d, const char *name, const char *value)
{
	struct choices *c = &d->choices;
	const struct { const char *name, *value; bool *to, set; } rows[] = {
		{"detect", "reference", &c->reference, true}, {"detect", "normal", &c->reference, false},
		{"proxy_fence", "path", &c->path, true}, {"proxy_fence", "own", &c->path, false},
		{"proxy_war", "off", &c->no_war, true}, {"proxy_war", "warn", &c->no_war, true},
		{"proxy_war", "error", &c->no_war, false},
		{"proxy_cta", "any", &c->any_block, true}, {"proxy_cta", "strict", &c->any_block, false},
		{"async_proxy", "per-cta", &c->per_block, true}, {"async_proxy", "cluster", &c->per_block, false},
		{"tx_scope", "strict", &c->wide_tx, true}, {"tx_scope", "any", &c->wide_tx, false},
		{"tcgen05_fence", "off", &c->no_tensor_fence, true}, {"tcgen05_fence", "on", &c->no_tensor_fence, false},
		{"async_read_fence", "strict", &c->read_fence, true}, {"async_read_fence", "off", &c->read_fence, false},
		{"wgmma_read_retire", "off", &c->no_retire, true}, {"wgmma_read_retire", "on", &c->no_retire, false},
		{"mbar_init_fence", "strict", &c->init_fence, true}, {"mbar_init_fence", "off", &c->init_fence, false},
		{"warp_sync_orders", "on", &c->lockstep, true}, {"warp_sync_orders", "off", &c->lockstep, false},
		{"same_value", "ignore", &c->same_value, true}, {"same_value", "report", &c->same_value, false},
		{"exit_async", "strict", &c->exits, true}, {"exit_async", "off", &c->exits, false},
		{"pdl_no_trigger", "race", &c->trigger, true}, {"pdl_no_trigger", "clean", &c->trigger, false}
	};
	static const char *const arrives[] = {"reads", "any", "strict"};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(name, rows[i].name) || strcmp(value, rows[i].value))
			continue;
		*rows[i].to = rows[i].set;
		return true;
	}
	for (unsigned i = 0; !strcmp(name, "arrive_scope") && i < sizeof arrives / sizeof *arrives; i++) {
		if (strcmp(value, arrives[i]))
			continue;
		c->arrive = (enum arrive)i;
		return true;
	}
	return false;
}
