/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h: what the programs that are measured share, those of testsuite/bench and of
 * testsuite/kernels: checked calls, and the time of a kernel. */
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#define CHECK(call) check((call), #call)

static size_t asked;    /* bytes of device memory that the program asked for */

static inline void check(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
	exit(2);
}

/* Milliseconds of the kernel: of its only launch, or with `bench` the best of several
 * (BENCH_ONCE=1: of the only one, for tools that make it take minutes). */
template <class F>
static float time_of(bool bench, F launch)
{
	bool once = !bench || getenv("BENCH_ONCE");
	cudaEvent_t from, to;
	float best = 1e30f, total = 0, ms;

	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	if (!once) {
		launch();
		CHECK(cudaDeviceSynchronize());
	}
	for (int i = 0; i < (once ? 1 : 20) && total < 2000; i++) {
		CHECK(cudaEventRecord(from));
		launch();
		CHECK(cudaEventRecord(to));
		CHECK(cudaEventSynchronize(to));
		CHECK(cudaGetLastError());
		CHECK(cudaEventElapsedTime(&ms, from, to));
		best = std::min(best, ms);
		total += ms;
	}
	return best;
}
