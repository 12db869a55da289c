/* SPDX-License-Identifier: Apache-2.0
 *
 * refused.c: the runtime's functions that the emulated device does not have: textures,
 * surfaces and arrays, other programs' memory, graphics.  Each says its name, and returns
 * cudaErrorNotSupported (801).
 */
int crt_refuse(const char *what);

#define R(name) \
	int name(void); \
	int name(void) { return crt_refuse(#name); }
#include "cudart/refused.def"
