// SPDX-License-Identifier: Apache-2.0
//
// Memory in the order of a stream, from the device's pool and from one of the program's, which
// has room for so much.
// prints: supported 1
// prints: full: out of memory
// prints: 7 from the default pool, 9 from another
// prints: in use 0, most 1024
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v;
}

int main()
{
	cudaMemPoolProps props = {};
	cudaMemPool_t pool, own;
	cudaStream_t s;
	unsigned long long keep = 1 << 20, used, most;
	int *a, *b, *c, x, y, supported;

	CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
	printf("supported %d\n", supported);
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = 0;
	props.maxSize = 1024;
	CHECK(cudaMemPoolCreate(&own, &props));
	CHECK(cudaMallocAsync(&a, 256 * sizeof(int), s));
	CHECK(cudaMallocFromPoolAsync(&b, 256 * sizeof(int), own, s));
	printf("full: %s\n", cudaGetErrorString(cudaMallocFromPoolAsync(&c, sizeof *c, own, s)));
	fill<<<1, 256, 0, s>>>(a, 7);
	fill<<<1, 256, 0, s>>>(b, 9);
	CHECK(cudaMemcpyAsync(&x, a + 255, sizeof x, cudaMemcpyDeviceToHost, s));
	CHECK(cudaMemcpyAsync(&y, b + 255, sizeof y, cudaMemcpyDeviceToHost, s));
	CHECK(cudaFreeAsync(a, s));
	CHECK(cudaFreeAsync(b, s));
	CHECK(cudaStreamSynchronize(s));
	printf("%d from the default pool, %d from another\n", x, y);
	CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
	CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &most));
	printf("in use %llu, most %llu\n", used, most);
	CHECK(cudaMemPoolTrimTo(own, 0));
	CHECK(cudaMemPoolDestroy(own));
	return 0;
}
