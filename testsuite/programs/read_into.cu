// SPDX-License-Identifier: Apache-2.0
//
// A system call reads into a part of a buffer that no kernel uses; it succeeds.
// prints: 256
// prints: 4096
// flags: -gencode arch=compute_90,code=compute_90 -g
#include <fcntl.h>
#include <unistd.h>
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
	int *h, fd = open("/dev/zero", O_RDONLY);
	FILE *f = fopen("/dev/zero", "r");

	CHECK(cudaMallocHost(&h, 8192));
	fill<<<1, 64>>>(h, 1);
	printf("%zd\n", read(fd, h + 64, 256));
	printf("%zu\n", fread(h + 1024, 1, 4096, f));
	CHECK(cudaDeviceSynchronize());
	return 0;
}
