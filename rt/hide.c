/* SPDX-License-Identifier: Apache-2.0
 *
 * hide.c: has the linker keep the hooks inside what it links.  Of all that a symbol's
 * mentions ask for the linker takes the least visible (System V ABI, symbol visibility):
 * here they are mentioned as hidden, in a section that does not get into the output.
 * gsan-nvcc links shared libraries with it: a library stands before the driver for itself,
 * and not for every other library of a process.
 */
#define HIDE(symbol) \
	__asm__(".pushsection .gsan_hide, \"e\"\n" \
		".hidden " #symbol "\n" \
		".8byte " #symbol "\n" \
		".popsection");

#define HOOK(symbol, base, version, ptsz, action, params, args) HIDE(symbol)
#include "rt/drv.def"
HIDE(cuCtxSynchronize)
HIDE(dlsym)
HIDE(dlopen)
HIDE(_exit)
HIDE(_Exit)
HIDE(fread)
HIDE(fwrite)
HIDE(pread)
HIDE(pread64)
HIDE(preadv)
HIDE(pthread_sigmask)
HIDE(pwrite)
HIDE(pwrite64)
HIDE(pwritev)
HIDE(read)
HIDE(readv)
HIDE(recv)
HIDE(recvfrom)
HIDE(recvmsg)
HIDE(send)
HIDE(sendmsg)
HIDE(sendto)
HIDE(sigaction)
HIDE(signal)
HIDE(sigprocmask)
HIDE(write)
HIDE(writev)
