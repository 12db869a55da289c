// SPDX-License-Identifier: Apache-2.0
//
// Page-locked memory, mapped into the device's, and memory that is locked afterwards; what
// pointers are.
// prints: mapped 3, registered 4
// prints: types 1 2 0 1
// prints: flags mapped: yes
#include "check.h"

__global__ void put(int *a, int *b)
{
	*a = 3;
	*b = 4;
}

int main()
{
	static int later[1024];
	cudaPointerAttributes t[4];
	int *mapped, *a, *b, *device, plain;
	unsigned flags;

	CHECK(cudaHostAlloc(&mapped, sizeof *mapped, cudaHostAllocMapped));
	CHECK(cudaHostRegister(later, sizeof later, cudaHostRegisterDefault));
	CHECK(cudaMalloc(&device, 4));
	CHECK(cudaHostGetDevicePointer(&a, mapped, 0));
	CHECK(cudaHostGetDevicePointer(&b, later, 0));
	put<<<1, 1>>>(a, b);
	CHECK(cudaDeviceSynchronize());
	printf("mapped %d, registered %d\n", *mapped, later[0]);
	CHECK(cudaPointerGetAttributes(&t[0], mapped));
	CHECK(cudaPointerGetAttributes(&t[1], device));
	CHECK(cudaPointerGetAttributes(&t[2], &plain));
	CHECK(cudaPointerGetAttributes(&t[3], later));
	printf("types %d %d %d %d\n", t[0].type, t[1].type, t[2].type, t[3].type);
	CHECK(cudaHostGetFlags(&flags, mapped));
	printf("flags mapped: %s\n", flags & cudaHostAllocMapped ? "yes" : "no");
	CHECK(cudaHostUnregister(later));
	CHECK(cudaFreeHost(mapped));
	return 0;
}
