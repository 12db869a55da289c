/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.h: inside the processes that run programs: the driver, loading programs as
 * they are and instrumented, one launch.  worker.c starts them and asks the
 * detectors, contents.c compares what is left in memory, device.c does both on
 * another device than the emulated one.
 */
#ifndef WORKER_H
#define WORKER_H

#include <cuda.h>

#include "testsuite/gen/soak.h"

#define CALLS(X) \
	X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) \
	X(cuCtxSynchronize) X(cuModuleLoadDataEx) X(cuModuleGetFunction) X(cuMemAlloc_v2) \
	X(cuMemsetD8_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyHtoD_v2) X(cuLaunchKernel) \
	X(cuTensorMapEncodeTiled)

enum { BATCH = 48, FEW = 12 };  /* programs in a process, at most */

struct worker {
#define X(name) __typeof__(name) *name;
	CALLS(X)
#undef X
	CUdeviceptr data;               /* CONTENTS_BYTES */
	CUdeviceptr source;             /* GEN_SOURCE */
	CUtensorMap map;
	/* Of the emulated device: */
	void (*emu_set_seed)(unsigned long long);
	void (*emu_set_stepwise)(int);
	__typeof__(emu_oracle) *oracle;
	__typeof__(emu_oracle_forget) *forget;
	__typeof__(emu_oracle_findings) *findings;
	__typeof__(emu_oracle_judge) *judge;
	__typeof__(emu_hang) *hang;
	unsigned first[BATCH];          /* lines before each program */
	CUmodule module[SCHEDULES_MAX]; /* under both detectors */
	CUmodule plain, same;           /* with their registers stored: as is, instrumented */
	size_t seen;                    /* findings of gsan before this launch */
};

_Noreturn void give_up(const char *what);
/* Looks up the driver's functions and starts it; returns the library. */
void *worker_start(struct worker *, const char *driver);
void worker_find(void *lib, const char *name, void *fn);
void worker_find_oracle(struct worker *, void *lib);
/* Programs as the kernels k0, k1 and so on of one text, NUL-terminated; how many lines
 * are before each, or NULL. */
struct ptx_buf worker_text(const struct gen_prog *, unsigned n, unsigned *first);
/* That instrumented; malloc'd. */
char *worker_instrument(const struct worker *, const struct ptx_buf *);
CUmodule worker_load(struct worker *, const char *text);
/* Runs program number i of a module on memory that is all 0; false: it faulted. */
bool worker_launch(struct worker *, CUmodule, const struct gen_prog *, unsigned i);

/* What gsan has counted so far that makes it see less, by cause; CAUSE_FAULT not. */
void worker_count(uint64_t n[CAUSES]);
/* Holds n findings of gsan against the oracle's; causes: of races that gsan lacks, as bits. */
void worker_judge(struct worker *, const struct emu_oracle_pair *, size_t n, uint32_t causes, struct run_result *);

/* plant.c: holds what was said of a program with an error, or its right twin, against what its maker knows; lines count
 * from `first` on.  open: nothing need be said; torn: what a fault has left of a log says anything. */
struct plant_said {
	const char *who;
	const struct emu_oracle_pair *pair;
	size_t n;
	bool open, torn;
};
void plant_check(struct worker *, const struct gen_prog *, unsigned first, const struct plant_said *, struct run_result *);

/* Work for processes: results by program, so many for each as there are schedules. */
struct job {
	/* Sends the results from number `done` on; after a fault it returns. */
	void (*child)(const struct job *, int fd, unsigned done);
	const struct gen_prog *p;
	unsigned n, first, schedules;
	int patience;                   /* milliseconds for one run */
	const char *driver;             /* device.c */
	const struct device_want *want;
};

/* events.c: one of those, for --events */
void events_child(const struct job *, int fd, unsigned done);

#define WORKER_LOADED UINT32_MAX         /* sent as the number of a result: programs are loaded, the first run begins */
void worker_send(int fd, unsigned at, const struct run_result *);
/* A process that was brought down is followed by one for the rest. */
void worker_job(const struct job *, struct run_result *out);

/* ---- contents.c ------------------------------------------------------------------- */

enum { REGISTER_BYTES = 160 };  /* of a thread */

/* Loads programs with their registers stored at the end: what contents_compare() runs;
 * how many lines are before each then, less those that make it longer, or NULL. */
void contents_load(struct worker *, const struct gen_prog *, unsigned n, unsigned *first);
/* Runs it as it is and instrumented, in the same order of steps. */
void contents_compare(struct worker *, const struct gen_prog *, unsigned i, uint64_t seed,
		      struct run_result *);
uint64_t contents_hash(const unsigned char *);

#endif
