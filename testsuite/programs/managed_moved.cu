// SPDX-License-Identifier: Apache-2.0
//
// Managed memory that is prefetched to the host is watched no more, since its pages must not be guarded then: that it is read
// too early is not told.
// prints: one of two
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
#if CUDART_VERSION < 13000
	const int host = cudaCpuDeviceId;
#define NO_FLAGS                // of a prefetch
#else
	const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
#define NO_FLAGS 0,
#endif
	int *m, v;

	CHECK(cudaMallocManaged(&m, 4096));
	fill<<<1, 64>>>(m, 1);
	CHECK(cudaMemPrefetchAsync(m, 4096, host, NO_FLAGS 0));
	v = m[63];
	CHECK(cudaDeviceSynchronize());
	printf("%s\n", v == 64 || !v ? "one of two" : "neither");
	return 0;
}
