/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.h: a kernel that lacks a barrier between its lines 4 and 5.
 */
static const char source[] =
	"extern \"C\" __global__ void turn(int *a)\n"
	"{\n"
	"	__shared__ int row[64];\n"
	"	row[threadIdx.x] = threadIdx.x;\n"
	"	a[threadIdx.x] = row[63 - threadIdx.x];\n"
	"}\n";
