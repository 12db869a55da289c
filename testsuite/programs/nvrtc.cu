// SPDX-License-Identifier: Apache-2.0
//
// A kernel that the program compiles itself, by NVRTC, and loads through the driver's API
// and the runtime's.
// flags: -gencode arch=compute_90,code=compute_90 -lnvrtc -lcuda -L$CUDA_HOME/lib64/stubs
// prints: 93 by the driver, 94 by the runtime
#include "check.h"
#include <cuda.h>
#include <nvrtc.h>
#include <vector>

static const char source[] =
	"extern \"C\" __global__ void triple(int *a) { a[threadIdx.x] = threadIdx.x * 3 + a[threadIdx.x]; }";

__global__ void set(int *a, int v)
{
	a[threadIdx.x] = v;
}

int main()
{
	const char *option[] = {"-arch=compute_90"};
	nvrtcProgram p;
	cudaLibrary_t lib;
	cudaKernel_t kernel;
	CUmodule module;
	CUfunction f;
	size_t n;
	int *a, h[2];

	if (nvrtcCreateProgram(&p, source, "triple.cu", 0, NULL, NULL) || nvrtcCompileProgram(p, 1, option) ||
	    nvrtcGetPTXSize(p, &n))
		return 1;
	std::vector<char> ptx(n);
	if (nvrtcGetPTX(p, ptx.data()))
		return 1;
	CHECK(cudaMalloc(&a, 32 * sizeof *a));
	void *args[] = {&a};
	set<<<1, 32>>>(a, 0);
	if (cuModuleLoadData(&module, ptx.data()) || cuModuleGetFunction(&f, module, "triple") ||
	    cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL))
		return 1;
	CHECK(cudaMemcpy(&h[0], a + 31, sizeof h[0], cudaMemcpyDeviceToHost));
	set<<<1, 32>>>(a, 1);
	CHECK(cudaLibraryLoadData(&lib, ptx.data(), NULL, NULL, 0, NULL, NULL, 0));
	CHECK(cudaLibraryGetKernel(&kernel, lib, "triple"));
	CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32), args, 0, NULL));
	CHECK(cudaMemcpy(&h[1], a + 31, sizeof h[1], cudaMemcpyDeviceToHost));
	printf("%d by the driver, %d by the runtime\n", h[0], h[1]);
	return 0;
}
