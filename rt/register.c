/* SPDX-License-Identifier: Apache-2.0
 *
 * register.c: what pulls the runtime into an instrumented program.  Alone in its
 * file, so that its presence says that the runtime was asked for; a program that
 * links libgsan for gsan.h's functions does not have it.
 */
#include "rt/gsan.h"
#include "rt/register.h"

const int rt_linked_on_purpose = 1;

/* Nothing is left to do when it is called; the call or the mere reference brings
 * in the hooks, which stand where gsan_init is. */
__attribute__((visibility("default"))) void __gsan_v1_register(void)
{
	gsan_init();
}
