// SPDX-License-Identifier: Apache-2.0
//
// Rows that are copied into a pitched buffer, beside a kernel that writes the rest of it.
// prints: done
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void right(char *a, size_t pitch)
{
	a[blockIdx.x * pitch + 64 + threadIdx.x] = 1;
}

int main()
{
	cudaStream_t s, t;
	char *a, *b;
	size_t pitch;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMallocPitch(&a, &pitch, 128, 16));
	CHECK(cudaMalloc(&b, 4096));
	right<<<16, 64, 0, s>>>(a, pitch);
	CHECK(cudaMemcpy2DAsync(a, pitch, b, 128, 64, 16, cudaMemcpyDeviceToDevice, t));
	CHECK(cudaDeviceSynchronize());
	printf("done\n");
	return 0;
}
