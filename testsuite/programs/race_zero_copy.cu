// SPDX-License-Identifier: Apache-2.0
//
// A launch in the null stream does not wait: what a kernel writes into mapped memory is read before it is known to be over.
// race: host-race
// flags: -gencode arch=compute_90,code=compute_90 -g
// prints: Value: known
#include "check.h"

__global__ void kernel(int *var)
{
	*var = 42;                              // first
}

int main()
{
	int *var, *mapped_var;

	CHECK(cudaHostAlloc(&var, sizeof *var, cudaHostAllocMapped));
	*var = -1;
	CHECK(cudaHostGetDevicePointer(&mapped_var, var, 0));
	kernel<<<1, 1>>>(mapped_var);
	printf("Value: %s\n", *var == -1 || *var == 42 ? "known" : "unknown");            // second
	CHECK(cudaDeviceSynchronize());
	return 0;
}
