/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that the driver API loads and launches: its PTX is a file of its own
 * (kernel.cu through -ptx), found beside the program. */
// race: data-race kernel.cu
// needs: kernel.cu
#include <cuda.h>
#include <string>

#include "common.h"

template <class F>
static void get(F &f, const char *name)
{
	void *p = nullptr;

	CHECK(cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault));
	if (!p)
		exit(2);
	f = (F)p;
}

static void must(CUresult r, const char *what)
{
	if (r == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: error %d\n", what, (int)r);
	exit(2);
}

int main(int, char **argv)
{
	decltype(&cuModuleLoad) load;
	decltype(&cuModuleGetFunction) function;
	decltype(&cuLaunchKernel) launch;
	const int n = 1024;
	std::vector<int> in(n);

	for (int i = 0; i < n; i++)
		in[i] = i * 3;
	CUdeviceptr a = (CUdeviceptr)device(in), b = (CUdeviceptr)device<int>(n);
	get(load, "cuModuleLoad");
	get(function, "cuModuleGetFunction");
	get(launch, "cuLaunchKernel");
	CUmodule m;
	CUfunction f;
	must(load(&m, (std::string(argv[0]) + ".ptx").c_str()), "cuModuleLoad");
	must(function(&f, m, "rotate"), "cuModuleGetFunction");
	void *args[] = { &a, &b };
	must(launch(f, n / 128, 1, 1, 128, 1, 1, 0, nullptr, args, nullptr), "cuLaunchKernel");
	std::vector<int> out = host((int *)b, n);
	bool right = true;
	for (int i = 0; i < n; i++)
		right &= out[i] == in[i / 128 * 128 + (i + 32) % 128];
#ifndef RIGHT
	right = true;	/* the race may show or not */
	out = in;
#endif
	return verdict("driver", right, digest(out.data(), n * sizeof(int)));
}
