// SPDX-License-Identifier: Apache-2.0
//
// More than 48 KiB of dynamic shared memory, which a kernel has to be allowed.
// prints: without: invalid argument
// prints: with: 65536 bytes allowed, 1024 static, last 16383
#include "check.h"

__global__ void big(int *out)
{
	extern __shared__ int large[];
	__shared__ int some[256];

	for (int i = threadIdx.x; i < 16384; i += blockDim.x)
		large[i] = i;
	some[threadIdx.x] = 0;
	__syncthreads();
	if (threadIdx.x == 0)
		*out = large[16383] + some[255];
}

int main()
{
	cudaFuncAttributes attr;
	int *out, h, most;

	CHECK(cudaMalloc(&out, sizeof h));
	big<<<1, 256, 65536>>>(out);
	printf("without: %s\n", cudaGetErrorString(cudaGetLastError()));
	CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
	if (most < 66560)
		return 1;
	CHECK(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
	CHECK(cudaFuncGetAttributes(&attr, big));
	big<<<1, 256, 65536>>>(out);
	CHECK(cudaMemcpy(&h, out, sizeof h, cudaMemcpyDeviceToHost));
	printf("with: %d bytes allowed, %zu static, last %d\n", attr.maxDynamicSharedSizeBytes, attr.sharedSizeBytes, h);
	return 0;
}
