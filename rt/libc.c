/* SPDX-License-Identifier: Apache-2.0
 *
 * libc.c: functions of libc that hand a buffer of the program's to the kernel, which does not fault there but fails: each
 * tells of the buffer first (touch.h).  And those by which a program asks for the signals that guards need, or blocks them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rt/touch.h"

#define HOOKED __attribute__((visibility("protected")))

/* The next one of that name, looked up once. */
#define NEXT(name) \
	static __typeof__(&name) next; \
	if (!next) { \
		void *found = rt_look_up_next(#name); \
		\
		memcpy(&next, &found, sizeof next); \
	}

static void vector(const struct iovec *v, int n, bool writes)
{
	for (int i = 0; v && i < n && rt_touch_any(); i++)
		rt_touch_bytes(v[i].iov_base, v[i].iov_len, writes);
}

/* Another thread's call may have guarded it again. */
static bool again(ssize_t r)
{
	return r < 0 && errno == EFAULT && rt_touch_any();
}

/* Not what the driver calls: then it is the driver that was called from there. */
static void called_from(const void *pc)
{
	if (!rt_inside)
		rt_call = (struct rt_call){.from = pc};
}

/* What is read into memory writes there. */
#define PLAIN(type, name, params, args, buffer, bytes, writes) \
	HOOKED type name params \
	{ \
		NEXT(name) \
		called_from(__builtin_return_address(0)); \
		if (rt_touch_any()) \
			rt_touch_bytes(buffer, bytes, writes); \
		return next args; \
	}
#define CALL(name, params, args, buffer, bytes, writes) \
	HOOKED ssize_t name params \
	{ \
		ssize_t r; \
		NEXT(name) \
		\
		called_from(__builtin_return_address(0)); \
		for (int tries = 0; tries < 8; tries++) { \
			if (rt_touch_any()) \
				rt_touch_bytes(buffer, bytes, writes); \
			r = next args; \
			if (!again(r)) \
				break; \
		} \
		return r; \
	}
#define VECTOR(type, name, params, args, writes) \
	HOOKED type name params \
	{ \
		NEXT(name) \
		called_from(__builtin_return_address(0)); \
		vector(v, n, writes); \
		return next args; \
	}
CALL(read, (int fd, void *p, size_t n), (fd, p, n), p, n, true)
CALL(write, (int fd, const void *p, size_t n), (fd, p, n), p, n, false)
CALL(pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), p, n, true)
CALL(pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), p, n, false)
CALL(pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), p, n, true)
CALL(pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), p, n, false)
CALL(recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), p, n, true)
CALL(send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), p, n, false)
CALL(recvfrom, (int fd, void *p, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *size), (fd, p, n, flags, from, size),
      p, n, true)
CALL(sendto, (int fd, const void *p, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t size),
      (fd, p, n, flags, to, size), p, n, false)
PLAIN(size_t, fread, (void *p, size_t each, size_t n, FILE *f), (p, each, n, f), p, each * n, true)
PLAIN(size_t, fwrite, (const void *p, size_t each, size_t n, FILE *f), (p, each, n, f), p, each * n, false)
VECTOR(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), true)
VECTOR(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), false)
VECTOR(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), true)
VECTOR(ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), false)

HOOKED ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	NEXT(recvmsg)

	called_from(__builtin_return_address(0));
	if (m)
		vector(m->msg_iov, (int)m->msg_iovlen, true);
	return next(fd, m, flags);
}

HOOKED ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	NEXT(sendmsg)

	called_from(__builtin_return_address(0));
	if (m)
		vector(m->msg_iov, (int)m->msg_iovlen, false);
	return next(fd, m, flags);
}

/* ---- signals ------------------------------------------------------------------------------------------------------ */

int rt_real_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	NEXT(sigaction)
	return next(sig, act, old);
}

HOOKED int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	return rt_touch_sigaction(sig, act, old) ? 0 : rt_real_sigaction(sig, act, old);
}

HOOKED void (*signal(int sig, void (*handler)(int)))(int)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
	NEXT(signal)

	if (!rt_touch_sigaction(sig, &act, &old))
		return next(sig, handler);
	return old.sa_handler;
}

/* Who faults with SIGSEGV blocked is ended by the kernel, whoever handles it: threads keep both open, from before the first
 * guard on. */
static const sigset_t *but_for_guards(int how, const sigset_t *set, sigset_t *fewer)
{
	if (!set || how == SIG_UNBLOCK)
		return set;
	*fewer = *set;
	sigdelset(fewer, SIGSEGV);
	sigdelset(fewer, SIGTRAP);
	return fewer;
}

HOOKED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t fewer;
	NEXT(pthread_sigmask)

	return next(how, but_for_guards(how, set, &fewer), old);
}

HOOKED int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t fewer;
	NEXT(sigprocmask)

	return next(how, but_for_guards(how, set, &fewer), old);
}
