/* SPDX-License-Identifier: Apache-2.0
 *
 * register.c: what pulls the runtime into an instrumented program.
 */
#include "rt/gsan.h"
#include "rt/register.h"

/* Nothing is left to do when it is called; the call or the mere reference brings
 * in the hooks, which stand where gsan_init is. */
__attribute__((visibility("default"))) void __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan(void)
{
	gsan_init();
}
