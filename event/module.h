/* SPDX-License-Identifier: Apache-2.0
 *
 * module.h: what a module with probes carries: tables in its memory, all of 32-bit words but for the last one, that
 * say what its sites are, and a kernel
 *   .visible .entry __gsan_v3_init_HASH(.param .u64 mailbox)
 * of one thread, which writes where they are.  HASH is 16 hexadecimal digits over the module's text, so that
 * translation units that are linked (nvcc -rdc=true) do not clash; each has one.  The host finds them by the names of
 * the module's functions.
 *
 * Addresses are generic, in device memory; strings are offsets into the string area, in which 0 is "".
 */
#ifndef EVENT_MODULE_H
#define EVENT_MODULE_H

#include "event/event.h"

/* MODULE_OLDEST: in kept logs; what one lacks that is older is empty there. */
enum { MODULE_VERSION = 3, MODULE_OLDEST = 2 };

/* A variable of 32 bits of a module whose warps are held up by chance: the seed, 0 for none. */
#define MODULE_SEED "__gsan_seed"

struct module_tables {
	uint64_t sites, runs;           /* struct event_site, event_run */
	uint64_t spots, frames;         /* struct module_spot of each site, module_frame */
	uint64_t kernels, globals;      /* struct module_kernel, module_global */
	uint64_t strings;
	uint64_t lanes;                 /* the variable that is to be set to where the table of lanes is
					   (event/region.h); 0: it is not asked for */
	uint64_t first;                 /* the variable (32 bits) that is to be set to the number, << 12, of its first site
					   among those of all units that are linked; 0: it is alone */
	uint32_t version;               /* MODULE_VERSION */
	uint32_t nsites, nruns, nframes, nkernels, nglobals, nstrings;  /* strings: bytes */
	uint32_t path;                  /* name of the PTX file */
	uint32_t left_out;              /* instructions that are not looked at, or not wholly, */
	uint32_t unknown;               /* and those of no known meaning */
	uint64_t origins, variables;    /* since version 3: struct event_origin, module_variable */
	uint32_t norigins, nvariables;
};

/* Where an instruction is. */
struct module_spot {
	uint32_t func;                  /* the function that it was written in */
	uint32_t file, line;            /* from .loc; 0: there was none */
	uint32_t frames;                /* 1 + index of the call that it was inlined into; 0: none */
	uint32_t op;                    /* the instruction without operands */
	uint32_t var;                   /* the variable that its address comes from; 0: unknown */
};

/* A call that was inlined: where it stood, in which function, and 1 + index of the one around it. */
struct module_frame { uint32_t func, file, line, next; };

enum {
	MODULE_FLAT = 1,                /* probe_kernel.flat */
	MODULE_UNWATCHED = 2,           /* the user does not want it logged */
	MODULE_STORED = 4               /* a digest of what weak stores store is logged (probe_what.stored) */
};
/* piece: units; its own parameters, and where that of the launch lies behind them; the line where it begins; maps: bits of
 * those parameters that are tensor maps of its copies. */
struct module_kernel { uint32_t name, piece, flags, nparams, offset, line; uint64_t maps; };

/* A variable of shared memory, by its number in struct event_origin; dynamic: it lies behind all others, and has as many
 * bytes as the launch says. */
struct module_variable { uint32_t name, bytes, dynamic; };

/* A variable; one of shared memory has no address. */
struct module_global { uint64_t address, bytes; uint32_t name, shared; };

/* The mailbox, in memory of the host: done is written last, 1. */
struct module_mailbox { uint64_t tables; uint32_t version, done; };

EVENT_ASSERT(sizeof(struct module_kernel) == 32 && sizeof(struct module_tables) == 136 && sizeof(struct module_global) == 24);
EVENT_ASSERT(sizeof(struct module_variable) == 12);

#endif
