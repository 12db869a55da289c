// SPDX-License-Identifier: Apache-2.0
//
// Boxes that are copied in three dimensions in two streams, and share a slice.
// race: stream-race
// flags: -gencode arch=compute_90,code=compute_90 -g
#include "check.h"

__global__ void fill(int *a, int v)
{
	a[threadIdx.x] = v + threadIdx.x;
}

int main()
{
	cudaStream_t s, t;
	cudaMemcpy3DParms p = {};
	cudaPitchedPtr a, b;

	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaMalloc3D(&a, make_cudaExtent(64, 8, 8)));
	CHECK(cudaMalloc3D(&b, make_cudaExtent(64, 8, 8)));
	fill<<<1, 64, 0, s>>>((int *)b.ptr, 1);
	CHECK(cudaDeviceSynchronize());
	p.srcPtr = b;
	p.dstPtr = a;
	p.extent = make_cudaExtent(64, 8, 4);
	p.kind = cudaMemcpyDeviceToDevice;
	CHECK(cudaMemcpy3DAsync(&p, s));                // first
	p.dstPos = make_cudaPos(0, 0, 3);
	CHECK(cudaMemcpy3DAsync(&p, t));                // second
	CHECK(cudaDeviceSynchronize());
	return 0;
}
