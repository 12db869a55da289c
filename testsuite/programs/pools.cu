// SPDX-License-Identifier: Apache-2.0
//
// Memory in the order of a stream, from the device's pool and from one of the program's, which
// has room for so much, rounded up to what it takes from the device at a time; memory of a graph, which can free no other.
// prints: supported 1
// prints: a little more: no error, much more: out of memory
// prints: 7 from the default pool, 9 from another
// prints: 3 from a graph, frees of other memory and of its own: invalid argument, no error
// prints: in use 0, most 1028
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
	cudaGraph_t g;
	cudaGraphExec_t exec;
	cudaError_t first, second;
	unsigned long long keep = 1 << 20, used, most;
	int *a, *b, *c, *d, x, y, supported;

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
	printf("a little more: %s, ", cudaGetErrorString(cudaMallocFromPoolAsync(&c, sizeof *c, own, s)));
	printf("much more: %s\n", cudaGetErrorString(cudaMallocFromPoolAsync(&d, 1 << 30, own, s)));
	fill<<<1, 256, 0, s>>>(a, 7);
	fill<<<1, 256, 0, s>>>(b, 9);
	CHECK(cudaMemcpyAsync(&x, a + 255, sizeof x, cudaMemcpyDeviceToHost, s));
	CHECK(cudaMemcpyAsync(&y, b + 255, sizeof y, cudaMemcpyDeviceToHost, s));
	CHECK(cudaFreeAsync(a, s));
	CHECK(cudaFreeAsync(b, s));
	CHECK(cudaFreeAsync(c, s));
	CHECK(cudaStreamSynchronize(s));
	printf("%d from the default pool, %d from another\n", x, y);
	CHECK(cudaMallocAsync(&a, sizeof *a, s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	CHECK(cudaMallocAsync(&c, 256 * sizeof(int), s));
	fill<<<1, 256, 0, s>>>(c, 3);
	CHECK(cudaMemcpyAsync(&x, c + 255, sizeof x, cudaMemcpyDeviceToHost, s));
	first = cudaFreeAsync(a, s);
	second = cudaFreeAsync(c, s);
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	printf("%d from a graph, frees of other memory and of its own: %s, %s\n", x, cudaGetErrorString(first),
	       cudaGetErrorString(second));
	CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
	CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &most));
	printf("in use %llu, most %llu\n", used, most);
	CHECK(cudaMemPoolTrimTo(own, 0));
	CHECK(cudaMemPoolDestroy(own));
	return 0;
}
