// SPDX-License-Identifier: Apache-2.0
//
// What the emulated device does not have says so, and the program goes on.
// says: gsan: the emulated device has no cudaMallocArray
// says: gsan: the emulated device has no cudaCreateTextureObject
// prints: array: operation not supported
// prints: texture: operation not supported
// says: gsan: the emulated device has no such attribute of streams (cudaStreamSetAttribute)
// prints: priority: operation not supported
// prints: the host's stack: invalid argument
// prints: direction: invalid copy direction for memcpy
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
	cudaLaunchAttributeValue value = {};
	int *a, h;

	printf("array: %s\n", cudaGetErrorString(cudaMallocArray(&array, &format, 64, 64)));
	printf("texture: %s\n", cudaGetErrorString(cudaCreateTextureObject(&texture, &resource, &how, NULL)));
	printf("priority: %s\n", cudaGetErrorString(cudaStreamSetAttribute(0, cudaLaunchAttributePriority, &value)));
	CHECK(cudaMallocManaged(&a, sizeof h));
	CHECK(cudaStreamAttachMemAsync(0, a, 0, cudaMemAttachGlobal));
	printf("the host's stack: %s\n", cudaGetErrorString(cudaStreamAttachMemAsync(0, &h, 0, cudaMemAttachGlobal)));
	printf("direction: %s\n", cudaGetErrorString(cudaMemcpy2D(a, 4, &h, 4, 4, 1, (cudaMemcpyKind)9)));
	cudaGetLastError();
	set<<<1, 1>>>(a);
	CHECK(cudaMemcpy(&h, a, sizeof h, cudaMemcpyDeviceToHost));
	printf("and on: %d\n", h);
	return 0;
}
