/* SPDX-License-Identifier: Apache-2.0
 *
 * prog.h: what the parts of the test program share.
 */
#ifndef PROG_H
#define PROG_H

#include <cuda.h>

#include "testsuite/rt/fake.h"

#define CHECK(call) check((call), #call)
void check(CUresult, const char *what);
void expect(bool good, const char *what);

/* ---- prog_module.c: what modules carry -------------------------------------------------------------- */

extern const struct fake_image image, linked, bare, other;
extern struct module_tables unit;
extern unsigned counter[4];

struct race { const char *kernel; unsigned grid[3], block[3]; struct fake_work work; };
extern const struct race races[];
enum { RACES = 4, FILL_SITE = 6 };

/* ---- prog.c ------------------------------------------------------------------------------------------- */

/* A kernel with what the next launch is to do. */
struct run { CUfunction f; CUkernel k; unsigned grid[3], block[3]; uint64_t arg; };
void plan(struct run *, const char *kernel);
void plan_race(struct run *, unsigned n);
extern CUstream stream;
extern CUdeviceptr last;                /* allocated */

/* ---- prog_graph.c --------------------------------------------------------------------------------------- */

bool graph_command(const char *);       /* false: it is none of graphs */

#endif
