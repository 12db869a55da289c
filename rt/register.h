/* SPDX-License-Identifier: Apache-2.0
 *
 * register.h: the symbol by which an instrumented program asks for the runtime.  It is
 * what a linker, or who loads a library, names where there is none: so it says what to do.
 */
#ifndef RT_REGISTER_H
#define RT_REGISTER_H

/* gsan-nvcc links with -u and this name: it pulls register.o out of libgsan.a, and with
 * it everything else.  A runtime of another version has another name there, and the link fails. */
void __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan(void);

#endif
