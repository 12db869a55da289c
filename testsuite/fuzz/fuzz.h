/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz.h: what a fuzz target is.  A target is one C file with the entry point
 * that libFuzzer calls; drive.c calls the same one without libFuzzer, so that
 * `make check` replays and mutates with any compiler.  A target ends the process
 * when something does not hold of its input, and is silent otherwise.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;
	const char *suffix;             /* of the test suite's files that are seeds */
	const char *const *folders;     /* where those are, NULL ends them */
	unsigned runs;                  /* mutated inputs in a run of drive.c */
	bool is_binary;                 /* of numbers, whose places say what they are; else of words and lines */
};

extern const struct fuzz_target fuzz_target;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Prints what does not hold and aborts. */
_Noreturn void fuzz_broken(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The input with a NUL behind it, to be freed. */
char *fuzz_text(const uint8_t *data, size_t size);
/* A number below `below`, by chance. */
uint64_t fuzz_draw(uint64_t *state, uint64_t below);
/* Changes a text of `size` bytes once; its new size, at most `most`.  What is put in
 * comes from `other`, which lies elsewhere. */
size_t fuzz_mutate(uint8_t *data, size_t size, size_t most, const uint8_t *other, size_t nother,
		   uint64_t *state);
/* A number made of the input: targets draw options from it. */
uint64_t fuzz_hash(const uint8_t *data, size_t size);

#endif
