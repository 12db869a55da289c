/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * gsan-nvcc includes this in front of every file that it compiles, installed
 * as gsan-link.h.  In host code it makes one reference to the runtime, so that
 * linking without libgsan, or with one of another version, is a link error.  It
 * declares nothing, so that nothing can clash with it.
 */
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
__asm__(".pushsection .gsan_link,\"aw\"\n"
	"\t.balign 8\n"
	"\t.8byte __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan\n"
	"\t.popsection");
#endif
