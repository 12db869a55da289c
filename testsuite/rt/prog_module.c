/* SPDX-License-Identifier: Apache-2.0
 *
 * prog_module.c: what the modules of the test program carry (event/module.h), and the races of their kernels.
 */
#include "testsuite/rt/prog.h"

static const char strings[] =
	"\0_Z8producerPi\0_Z8consumerPi\0_Z4ringPi\0/src/ring.cu\0/src/ring.ptx\0st.global.u32\0"
	"counter\0tile\0atom.shared.add.u32\0ld.global.u32\0_Z4ropePi\0/src/rope.ptx\0flat\0hang\0die\0alone";
enum { NONE = 0, PRODUCER = 1, CONSUMER = 15, RING = 29, CU = 39, PTX = 52, STORE = 66, COUNTER = 80,
       TILE = 88, ATOM = 93, LOAD = 113, ROPE = 127, ROPE_PTX = 137, FLAT = 151, HANG = 156, DIE = 161, ALONE = 165 };

unsigned counter[4];

#define ACCESS .kind = EVENT_ACCESS, .count = 1
#define READ ACCESS, .does = EVENT_READS
#define WRITE ACCESS, .does = EVENT_WRITES

static const struct event_site sites[] = {
	{ 0 },
	{ WRITE, .space = EVENT_GLOBAL, .size = 4, .line = 118 },
	{ READ, .space = EVENT_GLOBAL, .size = 4, .line = 203 },
	{ .kind = EVENT_STRONG, .count = 1, .does = EVENT_READS | EVENT_WRITES, .sem = EVENT_RELAXED, .scope = EVENT_GPU,
	  .space = EVENT_SHARED, .size = 4, .line = 119 },
	{ READ, .space = EVENT_SHARED, .size = 2, .line = 203 },
	{ READ, .space = EVENT_GLOBAL, .size = 4, .line = 204 },
	[FILL_SITE] = { WRITE, .space = EVENT_GLOBAL, .size = 4, .line = 300 },
};
static const struct module_spot spots[] = {
	{ 0 },
	{ PRODUCER, CU, 41, 1, STORE, NONE }, { CONSUMER, CU, 57, 0, LOAD, NONE }, { PRODUCER, NONE, 0, 0, ATOM, TILE },
	{ CONSUMER, CU, 57, 0, LOAD, NONE }, { CONSUMER, CU, 57, 0, LOAD, NONE }, { RING, NONE, 0, 0, STORE, NONE },
};
static const struct module_frame frames[] = { { CONSUMER, CU, 70, 2 }, { RING, CU, 90, 0 } };
static const struct module_kernel logging[] = {
	{ RING, 64, 0, 1, 8, 100, 0 }, { FLAT, 64, MODULE_FLAT, 1, 8, 310, 0 }, { ALONE, 64, MODULE_UNWATCHED, 1, 8, 320, 0 },
	{ HANG, 64, 0, 1, 8, 330, 0 }, { DIE, 64, 0, 1, 8, 340, 0 },
};
static struct module_global globals[] = { { 0, sizeof counter, COUNTER, 0 }, { 0, 1024, TILE, 1 } };

/* The other unit that it may be linked with. */
static const struct event_site rope_sites[] = {
	{ 0 },
	{ WRITE, .space = EVENT_GLOBAL, .size = 8, .line = 21 }, { READ, .space = EVENT_GLOBAL, .size = 8, .line = 22 },
};
static const struct module_spot rope_spots[] = { { 0 }, { ROPE, NONE, 0, 0, STORE, NONE }, { ROPE, NONE, 0, 0, LOAD, NONE } };
static const struct module_kernel rope_logging[] = { { ROPE, 64, 0, 1, 8, 10, 0 } };

static uint64_t lanes[2];
static uint32_t first[2];

#define LENGTH(v) (sizeof (v) / sizeof *(v))
struct module_tables unit = {
	.version = MODULE_VERSION, .nsites = LENGTH(sites), .nframes = LENGTH(frames), .nkernels = LENGTH(logging),
	.nglobals = LENGTH(globals), .nstrings = sizeof strings, .path = PTX, .left_out = 2
};
static struct module_tables rope_unit = {
	.version = MODULE_VERSION, .nsites = LENGTH(rope_sites), .nkernels = LENGTH(rope_logging), .nstrings = sizeof strings,
	.path = ROPE_PTX
};

__attribute__((constructor)) static void fill_in(void)
{
	globals[0].address = (uintptr_t)counter;
	unit.sites = (uintptr_t)sites;
	unit.spots = (uintptr_t)spots;
	unit.frames = (uintptr_t)frames;
	unit.kernels = (uintptr_t)logging;
	unit.globals = (uintptr_t)globals;
	unit.lanes = (uintptr_t)&lanes[0];
	unit.first = (uintptr_t)&first[0];
	rope_unit.sites = (uintptr_t)rope_sites;
	rope_unit.spots = (uintptr_t)rope_spots;
	rope_unit.kernels = (uintptr_t)rope_logging;
	rope_unit.lanes = (uintptr_t)&lanes[1];
	rope_unit.first = (uintptr_t)&first[1];
	unit.strings = rope_unit.strings = (uintptr_t)strings;
}

/* ---- modules ------------------------------------------------------------------------------------------ */

static const struct fake_kernel kernels[] = {
	{ "__gsan_v3_init_0123456789abcdef", &unit }, { "_Z4ringPi", &unit }, { "flat", &unit }, { "alone", &unit },
	{ "hang", &unit }, { "die", &unit }, { "_Z4leftPi", NULL },
	/* and of the other unit */
	{ "_Z4ropePi", &rope_unit }, { "__gsan_v3_init_fedcba9876543210", &rope_unit },
};
static const struct fake_kernel bare_kernels[] = { { "_Z4copyPi", NULL } };
static const struct fake_kernel other_kernels[] = { { "__gsan_v9_init_0123456789abcdef", NULL }, { "_Z4ringPi", &unit } };

const struct fake_image image = { kernels, LENGTH(kernels) - 2, true };
const struct fake_image linked = { kernels, LENGTH(kernels), true };
const struct fake_image bare = { bare_kernels, LENGTH(bare_kernels), false };
const struct fake_image other = { other_kernels, LENGTH(other_kernels), true };

/* Addresses of global memory are the program's to fill in. */
const struct race races[RACES] = {
	{ "_Z4ringPi", { 2, 1, 1 }, { 8, 4, 1 },
	  { .naccesses = 2, .access = { { 2, 0, 0, 0 }, { 1, 1, 11, 0 } } } },
	/* the same source lines from other PTX lines */
	{ "_Z4ringPi", { 2, 1, 1 }, { 8, 4, 1 },
	  { .naccesses = 2, .access = { { 1, 1, 11, 0 }, { 5, 0, 0, 0 } } } },
	/* shared memory, one side without a source line */
	{ "_Z4ringPi", { 2, 2, 1 }, { 64, 1, 1 },
	  { .naccesses = 2, .access = { { 4, 3, 0, 0x46 }, { 3, 3, 40, 0x44 } } } },
	/* by the other unit's sites */
	{ "_Z4ropePi", { 2, 1, 1 }, { 32, 1, 1 },
	  { .naccesses = 2, .access = { { 1, 0, 0, 0 }, { 2, 1, 7, 0 } } } },
};
