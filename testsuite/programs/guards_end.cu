// SPDX-License-Identifier: Apache-2.0
//
// With its context the guards of memory end: it is the program's again, for system calls that gsan does not know, too.
// prints: 4 bytes
// flags: -gencode arch=compute_90,code=compute_90 -g
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
	int *h = (int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *d, to[2];

	CHECK(cudaHostRegister(h, 4096, cudaHostRegisterDefault));
	CHECK(cudaHostGetDevicePointer(&d, h, 0));
	fill<<<1, 64>>>(d, 1);
	if (pipe(to) || syscall(SYS_write, to[1], h, 4) == 4)
		printf("it was not guarded\n");
	CHECK(cudaDeviceReset());
	printf("%d bytes\n", (int)syscall(SYS_write, to[1], h, 4));
	return 0;
}
