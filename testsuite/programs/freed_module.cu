// SPDX-License-Identifier: Apache-2.0
//
// A module that is loaded behind a free may have its variables where that memory was (memory-model.md 1.14.3): nothing is told,
// though the pointer is an old one.  On a GPU it may be elsewhere, and the old pointer's page be gone.
// needs: emulated
// flags: -gencode arch=compute_90,code=compute_90 -lcuda -L$CUDA_HOME/lib64/stubs
// prints: the module is there
#include "check.h"
#include <cuda.h>

__global__ void set(int *a)
{
	a[threadIdx.x] = threadIdx.x;
}

static const char source[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .align 4 .b32 words[64];\n";

int main()
{
	CUmodule module;
	int *a;

	CHECK(cudaMalloc(&a, 256));
	set<<<1, 64>>>(a);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(a));
	if (cuModuleLoadData(&module, source) == CUDA_SUCCESS)
		puts("the module is there");
	set<<<1, 64>>>(a);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
