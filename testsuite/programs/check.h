// SPDX-License-Identifier: Apache-2.0
//
// What the programs share: every call of the runtime is held to its error.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(call) \
	do { \
		cudaError_t check_error = (call); \
		if (check_error != cudaSuccess) { \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_error)); \
			exit(1); \
		} \
	} while (0)

// A number that says what is in an array.
template <typename T> static unsigned long long digest(const T *p, size_t n)
{
	unsigned long long h = 1469598103934665603ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned long long)p[i]) * 1099511628211ull;
	return h;
}
