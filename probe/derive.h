/* SPDX-License-Identifier: Apache-2.0
 *
 * derive.h: from which variables of shared memory an address comes.
 *
 * What is said is certain: each value that the address may have is one of these variables' addresses and a number.  How
 * large the number is nobody knows, which is why it is asked.  A number is what is made without any variable's address, and
 * what is loaded; a distance between two variables is none.
 */
#ifndef PROBE_DERIVE_H
#define PROBE_DERIVE_H

#include "event/event.h"
#include "ptxparse/ptx.h"

/* Variables that are told apart in a launch, and in a module; addresses of others are unknown. */
enum { DERIVE_MOST = 64, DERIVE_ALL = 4096 };

/* func: the one in which it is declared; NULL: none.  dynamic: it lies behind all others, and the launch says how large
 * it is.  first: declared before anything in its function, if in one.  bit: its own among those that one launch can have. */
struct derive_variable { const struct ptx_sym *sym; const struct ptx_func *func; bool dynamic, first; uint8_t bit; };

struct derive {
	struct derive_variable *variable;
	uint32_t n;
	struct derive_func *func, *last;        /* what registers hold, of each function and of the last one that was asked: derive.c's */
	struct derive_params *params;
	bool stored, mixed;             /* addresses, or what is made of several, are stored somewhere */
	bool pointers;                  /* something is called by a pointer */
};

/* In the arena.  Before anything is put into the module. */
struct derive *derive_of(struct ptx_arena *, const struct ptx_module *);
/* Puts what is known of the instruction's addresses behind the n rows of a list from malloc(3), which grows (NULL: of none), as
 * rows of that site. */
void derive_origins(struct derive *, const struct ptx_func *, const struct ptx_stmt *, uint32_t site, struct event_origin **, uint32_t *n);
/* Variables that a kernel uses, or what it calls by name: those whose address can be had where it begins.  Numbers of
 * them, at most DERIVE_MOST; returns how many. */
uint32_t derive_used(const struct derive *, struct ptx_arena *, const struct ptx_module *, const struct ptx_func *, uint32_t *numbers);

#endif
