/* SPDX-License-Identifier: Apache-2.0
 *
 * version.c: compiled once for each libcudart.so, as the newest CUDA whose programs it is
 * for; the preloaded one learns it from the program.
 */
#include "cudart/cudart.h"

int crt_version = CRT_VERSION;
