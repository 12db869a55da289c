// SPDX-License-Identifier: Apache-2.0
//
// What the emulated device does not have says so, and the program goes on.
// says: gsan: the emulated device has no cudaMallocArray
// says: gsan: the emulated device has no cudaCreateTextureObject
// prints: array: operation not supported
// prints: texture: operation not supported
// prints: and on: 5
#include "check.h"

__global__ void set(int *a)
{
	*a = 5;
}

int main()
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaResourceDesc resource = {};
	cudaTextureDesc how = {};
	cudaTextureObject_t texture;
	cudaArray_t array;
	int *a, h;

	printf("array: %s\n", cudaGetErrorString(cudaMallocArray(&array, &format, 64, 64)));
	printf("texture: %s\n", cudaGetErrorString(cudaCreateTextureObject(&texture, &resource, &how, NULL)));
	cudaGetLastError();
	CHECK(cudaMalloc(&a, sizeof h));
	set<<<1, 1>>>(a);
	CHECK(cudaMemcpy(&h, a, sizeof h, cudaMemcpyDeviceToHost));
	printf("and on: %d\n", h);
	return 0;
}
