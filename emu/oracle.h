/* SPDX-License-Identifier: Apache-2.0
 *
 * oracle.h: the second race detector, from outside.  It lives in the emulated
 * device and judges executions by the memory model alone: a vector clock for
 * every thread, every access kept, no limits.  It knows nothing of gsan but that
 * kernels named __gsan_* are not part of the program.
 *
 * Whoever wants it looks these functions up in the emulated device's library.
 * Results are complete after a synchronisation of the context.
 */
#ifndef EMU_ORACLE_H
#define EMU_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#define EMU_ORACLE_API __attribute__((visibility("default")))

/* Two lines of the PTX file and what is wrong between them. */
struct emu_oracle_pair {
	const char *kind;               /* "data-race", "scope-race", ... */
	unsigned line[2];               /* 0: unknown */
};

struct emu_oracle_finding {
	struct emu_oracle_pair pair;
	const char *kernel;
	/* It is a race, whichever order there is of what the documentation leaves open. */
	int certain;
	unsigned long long count;       /* pairs of accesses of this kind at these lines */
	/* The first of them. */
	unsigned long long block[2], thread[2], addr;
	int shared;
	/* The instructions ("cp.async.bulk", "": none, or not known), and how many bytes each of
	 * them accesses in all, or its operation that way (0: it is no access). */
	const char *inst[2];
	unsigned long long bytes[2];
};

/* Modules loaded from now on are watched.  `text` is what they were instrumented
 * from, whose lines findings name; NULL: the lines of what is loaded.  -1 if it is
 * no PTX. */
EMU_ORACLE_API int emu_oracle(const char *text, size_t len);
/* Only that: faults of modules loaded from now on name the lines of `text`, as `name`:LINE. */
EMU_ORACLE_API int emu_source(const char *name, const char *text, size_t len);
/* Somebody judges what kernels do, by other means: an access outside of what is allocated, but beside it, ends none of them. */
EMU_ORACLE_API void emu_judged(void);
/* Has a launch come to no end because each of its threads waits for what can no longer happen?  The lines where the first
 * two of what is waited for are waited for, the second 0 if there is one; 0: it has not. */
EMU_ORACLE_API int emu_hang(unsigned line[2]);
/* What is left open by the documentation, otherwise than by default, or back: the keys of
 * GSAN_OPTIONS that say so (rt/choices.def).  -1: no such option. */
EMU_ORACLE_API int emu_oracle_option(const char *name, const char *value);
/* Drops what was found so far. */
EMU_ORACLE_API void emu_oracle_forget(void);
/* Copies at most `max` findings; returns how many there are. */
EMU_ORACLE_API size_t emu_oracle_findings(struct emu_oracle_finding *, size_t max);

/* What launches that are over, and that nothing overlaps any more, have touched in global memory. */
struct emu_oracle_touch {
	unsigned long long launch;      /* its number, in the order of the calls */
	unsigned long long addr;
	unsigned bytes, line;
	int read, write, strong;        /* at gpu scope or wider */
};
EMU_ORACLE_API size_t emu_oracle_touches(const struct emu_oracle_touch **);
EMU_ORACLE_API unsigned long long emu_oracle_launch(void);     /* the number of the last one */

enum emu_oracle_word {
	ORACLE_NO_RACE,         /* given, but these two do not race */
	ORACLE_OTHER_KIND,      /* given, and they race, but this is not what is wrong */
	ORACLE_LACKS            /* a race for which nothing was given */
};
typedef void emu_oracle_tell(void *arg, enum emu_oracle_word, const struct emu_oracle_pair *);

/* Holds what another detector found in the same executions against this one's
 * findings; returns how many disagreements it told of.  The other may name one race
 * for several that follow from each other: the access before or after it by the same
 * thread, or one that is ordered behind it, stand for an access. */
EMU_ORACLE_API int emu_oracle_judge(const struct emu_oracle_pair *, size_t n,
				    emu_oracle_tell *, void *arg);

#endif
