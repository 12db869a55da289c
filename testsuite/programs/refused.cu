// SPDX-License-Identifier: Apache-2.0
//
// What the emulated device does not have says so, and the program goes on.
// says emulated: gsan: the emulated device has no cudaMallocArray
// says emulated: gsan: the emulated device has no cudaCreateTextureObject
// says emulated: gsan: the emulated device has no such attribute of streams (cudaStreamSetAttribute)
// prints: array: had or not supported
// prints: texture: had or not supported
// prints: priority: had or not supported
// prints: the host's stack: invalid argument
// prints: direction: invalid copy direction for memcpy
// prints: and on: 5
#include "check.h"

__global__ void set(int *a)
{
	*a = 5;
}

static void say(const char *what, cudaError_t e)
{
	printf("%s: %s\n", what, !e || e == cudaErrorNotSupported ? "had or not supported" : cudaGetErrorString(e));
}

int main()
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaResourceDesc resource = {};
	cudaTextureDesc how = {};
	cudaTextureObject_t texture;
	cudaArray_t array = NULL;
	cudaStream_t s;
	cudaLaunchAttributeValue value = {};
	int *a, h, pageable;

	CHECK(cudaStreamCreate(&s));
	say("array", cudaMallocArray(&array, &format, 64, 64));
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	say("texture", cudaCreateTextureObject(&texture, &resource, &how, NULL));
	say("priority", cudaStreamSetAttribute(s, cudaLaunchAttributePriority, &value));
	CHECK(cudaMallocManaged(&a, sizeof h));
	CHECK(cudaStreamAttachMemAsync(0, a, 0, cudaMemAttachGlobal));
	// A device that can access the stack may attach it.
	CHECK(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0));
	printf("the host's stack: %s\n", cudaGetErrorString(pageable ? cudaErrorInvalidValue :
							     cudaStreamAttachMemAsync(0, &h, 0, cudaMemAttachGlobal)));
	printf("direction: %s\n", cudaGetErrorString(cudaMemcpy2D(a, 4, &h, 4, 4, 1, (cudaMemcpyKind)9)));
	cudaGetLastError();
	set<<<1, 1>>>(a);
	CHECK(cudaMemcpy(&h, a, sizeof h, cudaMemcpyDeviceToHost));
	printf("and on: %d\n", h);
	return 0;
}
