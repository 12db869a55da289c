/* SPDX-License-Identifier: Apache-2.0
 *
 * register.h: the symbol by which an instrumented program asks for the runtime.
 */
#ifndef RT_REGISTER_H
#define RT_REGISTER_H

/* gsan-nvcc links with -u __gsan_v1_register: it pulls register.o out of
 * libgsan.a, and with it everything else.  A runtime of another ABI has another
 * name there, and the link fails. */
void __gsan_v1_register(void);

#endif
