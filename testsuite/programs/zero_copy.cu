// SPDX-License-Identifier: Apache-2.0
//
// The host waits for the kernel before it reads what that writes into mapped memory.
// flags: -gencode arch=compute_90,code=compute_90 -g
// prints: Value: known
#include "check.h"

__global__ void kernel(int *var)
{
	*var = 42;
}

int main()
{
	int *var, *mapped_var;

	CHECK(cudaHostAlloc(&var, sizeof *var, cudaHostAllocMapped));
	*var = -1;
	CHECK(cudaHostGetDevicePointer(&mapped_var, var, 0));
	kernel<<<1, 1>>>(mapped_var);
	CHECK(cudaDeviceSynchronize());
	printf("Value: %s\n", *var == -1 || *var == 42 ? "known" : "unknown");
	return 0;
}
