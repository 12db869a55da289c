// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong has a name, which is forgotten when it is asked for, unless the device
// is lost.  Its logs are not: a program that is started then reads them.
// prints: no such launch, then no error
// prints: cudaErrorInvalidValue
// prints: invalid device symbol
// prints: invalid device ordinal
// prints: an illegal memory access was encountered
// prints: an illegal memory access was encountered
#include "check.h"

__global__ void nothing() {}

__global__ void bad(int *p)
{
	*p = 1;
}

int main()
{
	const cudaError_t too_many = CUDART_VERSION < 13000 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue;
	cudaError_t e;
	int x, *p;

	nothing<<<1, 2048>>>();
	e = cudaGetLastError();
	printf("%s, then ", e == too_many ? "no such launch" : cudaGetErrorString(e));
	printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	CHECK(cudaMalloc(&p, 4));
	printf("%s\n", cudaGetErrorName(cudaMemcpy(NULL, p, 4, cudaMemcpyDeviceToHost)));
	printf("%s\n", cudaGetErrorString(cudaMemcpyToSymbol(x, p, 4)));
	printf("%s\n", cudaGetErrorString(cudaSetDevice(7)));
	cudaGetLastError();
	bad<<<1, 1>>>((int *)16);
	printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
	printf("%s\n", cudaGetErrorString(cudaMalloc(&p, 4)));
	return 0;
}
