// SPDX-License-Identifier: Apache-2.0
//
// A box of three dimensions with a pitch: filled, a part of it copied there and back.
// prints: 24 of 24 as they were, outside 0x05050505
#include "check.h"

enum { X = 4, Y = 3, Z = 2 };

__global__ void twice(cudaPitchedPtr p)
{
	int *row = (int *)((char *)p.ptr + (threadIdx.z * p.ysize + threadIdx.y) * p.pitch);

	row[threadIdx.x] *= 2;
}

int main()
{
	static int h[Z][Y][X], back[Z][Y][X], outside;
	cudaExtent box = make_cudaExtent((X + 1) * sizeof(int), Y + 1, Z + 1);
	cudaMemcpy3DParms p = {};
	cudaPitchedPtr d;
	int right = 0;

	for (int i = 0; i < X * Y * Z; i++)
		(&h[0][0][0])[i] = i + 1;
	CHECK(cudaMalloc3D(&d, box));
	CHECK(cudaMemset3D(d, 5, box));
	p.srcPtr = make_cudaPitchedPtr(h, X * sizeof(int), X, Y);
	p.dstPtr = d;
	p.extent = make_cudaExtent(X * sizeof(int), Y, Z);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&p));
	twice<<<1, dim3(X, Y, Z)>>>(d);
	p.srcPtr = d;
	p.dstPtr = make_cudaPitchedPtr(back, X * sizeof(int), X, Y);
	p.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3DAsync(&p, 0));
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < X * Y * Z; i++)
		right += (&back[0][0][0])[i] == 2 * (i + 1);
	CHECK(cudaMemcpy(&outside, (char *)d.ptr + X * sizeof(int), 4, cudaMemcpyDeviceToHost));
	printf("%d of %d as they were, outside 0x%08x\n", right, X * Y * Z, outside);
	return 0;
}
