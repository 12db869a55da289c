/* SPDX-License-Identifier: Apache-2.0
 *
 * soak.h: the parts of soak.  worker.c runs programs, many to a process, under gsan
 * and the oracle, contents.c and device.c compare what they leave in memory; shrink.c
 * makes a short program of a long one that shows the same; soak.c goes through the
 * seeds and says what came of them.
 */
#ifndef SOAK_H
#define SOAK_H

#include "detect/detect.h"
#include "emu/oracle.h"
#include "testsuite/gen/gen.h"

enum {
	BAD_CONTENTS = ORACLE_LACKS + 1,        /* beside enum emu_oracle_word */
	BAD_WAY,                                /* detect=reference, or portions: something else */
	BAD_PLANT,                              /* what the program's maker planted is not what was said */
	BAD_KINDS,
	PAIRS_MAX = 48,
	/* What can be the cause of a race that gsan lacks: one of the detector's counters that
	 * went up, the program's fault, or a log that was lost. */
	CAUSE_FAULT = DETECT_COUNTERS,
	CAUSE_LOST,
	CAUSES
};

struct run_result {             /* of one program under one schedule */
	bool done, fault, hung;
	bool told;              /* the error that is planted was */
	bool compared;          /* what it leaves, with gsan and without */
	uint64_t contents;      /* a hash of that */
	uint32_t races;         /* that the oracle found */
	uint32_t findings;      /* gsan's */
	uint32_t missed;        /* races that gsan lacks for causes of which it told */
	uint32_t cause[CAUSES]; /* those which each of them may have caused, */
	uint32_t alone[CAUSES]; /* and those for which it is the only one */
	uint32_t excused;       /* another kind, or another pair of one access, for what it counted */
	uint32_t bad[BAD_KINDS]; /* the others, by enum emu_oracle_word */
	char text[120];         /* of the first of them */
	unsigned npairs, pair[PAIRS_MAX][2];    /* lines of races that the oracle found */
};

static inline uint32_t bad_of(const struct run_result *r)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < BAD_KINDS; i++)
		n += r->bad[i];
	return n;
}

enum {
	SCHEDULES_MAX = 64,
	CONTENTS_BYTES = 2 * GEN_GLOBAL         /* a program's memory, and then its registers */
};

extern const char *soak_emu;            /* the emulated device's library */
extern bool soak_loud;                  /* the workers' standard error is shown */
/* Programs run as they are, and what they log is judged. */
extern enum soak_events { SOAK_INSTRUMENTED, SOAK_FRIENDLY, SOAK_HOSTILE } soak_events;
extern bool soak_contents;              /* compare contents under all schedules */

/* Runs every program under schedules first to first + n - 1; results by program,
 * n each.  The schedules of two programs differ. */
void run_all(const struct gen_prog *, unsigned nprogs, unsigned first, unsigned n,
	     struct run_result *);

/* Makes `p` short, as long as it shows a disagreement of that kind; returns a schedule
 * that does, or -1 if it does not when it runs alone. */
int shrink(struct gen_prog *, enum emu_oracle_word);

/* The program with its registers stored at its end. */
void contents_prog(struct gen_prog *to, const struct gen_prog *from);
/* Of the order of steps in which contents are compared. */
uint64_t contents_seed(const struct gen_prog *, unsigned schedule);

struct device_want {            /* of a program on another device */
	bool racy;
	bool stable;            /* what it leaves does not hang on the order of steps */
	uint64_t contents;      /* a hash of that */
	const struct run_result *known;         /* the runs on the emulated device */
	unsigned nknown;
};

/* Runs programs with the driver in that file; out[].bad[0] says that the verdict is
 * another, .bad[BAD_CONTENTS] that the contents are, .text how; .races that pairs of
 * lines were named that the emulated device did not show. */
void run_device(const char *driver, const struct gen_prog *, unsigned nprogs,
		const struct device_want *, struct run_result *out);

/* Does a program end in whatever order its steps are taken, as far as some hundred orders
 * on the emulated device show? */
bool ends_always(const struct gen_prog *);

#endif
