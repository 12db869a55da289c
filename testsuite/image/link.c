/* SPDX-License-Identifier: Apache-2.0
 *
 * link.c: a program that hands PTX to the driver's linker: link FILE
 */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	static char text[1 << 16];
	CUlinkState state = NULL;
	FILE *f = fopen(argv[argc - 1], "rb");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	cuInit(0);
	if (!n || cuLinkAddData(state, CU_JIT_INPUT_PTX, text, n + 1, "data", 0, NULL, NULL) ||
	    cuLinkAddData(state, CU_JIT_INPUT_PTX, text, n + 1, "refused", 0, NULL, NULL) ||
	    cuLinkAddData(state, CU_JIT_INPUT_CUBIN, text, n + 1, "cubin", 0, NULL, NULL) ||
	    cuLinkAddFile(state, CU_JIT_INPUT_PTX, argv[argc - 1], 0, NULL, NULL))
		return 4;
	return 3;
}
