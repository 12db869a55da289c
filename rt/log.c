/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c: where reports and messages go: log_path of GSAN_OPTIONS.  The file is
 * opened at the first text, so that a process with nothing to say leaves none.
 * Written with write(2) only: neither stdio's locks nor its buffers.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rt/rti.h"

#define PATIENCE_MS 10000        /* for who reads the other end of a full pipe */

static int log_fd = -1;
static char *log_name;          /* of log_fd */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(log_lock, RT_LOCK_WHOLE);

/* What write(2) can send instead of an error is kept from the program, which did
 * not write: a pipe that nobody reads, a limit on the size of files. */
static void hold_signals(sigset_t *mask, sigset_t *before)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &ours, mask);
	sigpending(before);
}

static void drop_signals(const sigset_t *mask, const sigset_t *before)
{
	static const int ours[] = { SIGPIPE, SIGXFSZ };
	const struct timespec now = {0};

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
		sigset_t one;

		sigemptyset(&one);
		sigaddset(&one, ours[i]);
		while (!sigismember(before, ours[i]) && sigtimedwait(&one, NULL, &now) < 0 &&
		       errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

int rt_write_all(int fd, const void *from, size_t n)
{
	const char *text = from;
	struct pollfd full = { .fd = fd, .events = POLLOUT };
	sigset_t mask, before;
	int why = 0;

	hold_signals(&mask, &before);
	while (n && !why) {
		ssize_t k = write(fd, text, n);

		if (k > 0) {
			text += k;
			n -= (size_t)k;
		} else if (k < 0 && errno == EAGAIN) {
			why = poll(&full, 1, PATIENCE_MS) > 0 ? 0 : EAGAIN;
		} else if (k == 0 || errno != EINTR) {
			why = k == 0 ? EIO : errno;
		}
	}
	drop_signals(&mask, &before);
	return why;
}

/* What cannot be written elsewhere goes to stderr, from now on. */
static void give_up(int why)
{
	struct rt_buf b = {0};

	log_fd = STDERR_FILENO;
	rt_printf(&b, "GSan: cannot write %s (%s); reports go to stderr\n", log_name, strerror(why));
	rt_write_all(log_fd, b.text, b.len);
	rt_buf_free(&b);
}

static void open_log(void)
{
	const char *path = rt_flags.log_path;
	struct rt_buf name = {0};

	log_fd = STDERR_FILENO;
	if (!path || !*path || !strcmp(path, "stderr"))
		return;
	if (!strcmp(path, "stdout")) {
		log_fd = STDOUT_FILENO;
		log_name = rt_copy("stdout");
		return;
	}
	rt_puts(&name, path);
	if (rt_flags.log_exe_name)
		rt_printf(&name, ".%s", program_invocation_short_name);
	rt_printf(&name, ".%ld%s", rt_pid(), rt_flags.log_suffix);
	log_name = name.text;
	log_fd = open(name.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (log_fd < 0)
		give_up(errno);
}

void rt_log(const char *text, size_t n)
{
	int why;

	pthread_mutex_lock(&log_lock);
	if (log_fd < 0)
		open_log();
	why = rt_write_all(log_fd, text, n);
	if (why && log_fd != STDERR_FILENO) {
		if (log_fd != STDOUT_FILENO)
			close(log_fd);
		give_up(why);
		rt_write_all(log_fd, text, n);
	}
	pthread_mutex_unlock(&log_lock);
}

void rt_log_plain(const char *text, size_t n)
{
	const int fd = __atomic_load_n(&log_fd, __ATOMIC_RELAXED);

	if (write(fd < 0 ? STDERR_FILENO : fd, text, n) < 0)
		return;         /* there is nobody to be told */
}

int rt_log_file(void)
{
	return log_fd;
}

/* In the child of a fork: a file named for the parent is not ours. */
void rt_log_fork(void)
{
	if (log_fd > STDERR_FILENO)
		close(log_fd);
	log_fd = -1;
}

bool rt_log_color(void)
{
	bool tty;

	if (strcmp(rt_flags.color, "auto"))
		return !strcmp(rt_flags.color, "always");
	pthread_mutex_lock(&log_lock);
	if (log_fd < 0)
		open_log();
	tty = isatty(log_fd) == 1;
	pthread_mutex_unlock(&log_lock);
	return tty;
}

static void line(const char *fmt, va_list ap)
{
	struct rt_buf b = {0};
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	rt_puts(&b, "GSan: ");
	if (n > 0) {
		b.text = rt_grow(b.text, &b.cap, b.len + (size_t)n + 1, 1);
		vsnprintf(b.text + b.len, (size_t)n + 1, fmt, again);
		b.len += (size_t)n;
	}
	va_end(again);
	rt_puts(&b, "\n");
	rt_log(b.text, b.len);
	rt_buf_free(&b);
}

void rt_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line(fmt, ap);
	va_end(ap);
}

void rt_verbose(int level, const char *fmt, ...)
{
	va_list ap;

	if (rt_flags.verbosity < level)
		return;
	va_start(ap, fmt);
	line(fmt, ap);
	va_end(ap);
}

/* A bad GSAN_OPTIONS or suppression file: to stderr whatever log_path says, which
 * may be the bad part. */
void rt_die(const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof text)
		n = sizeof text - 1;
	rt_write_all(STDERR_FILENO, "GSan: ", 6);
	rt_write_all(STDERR_FILENO, text, n > 0 ? (size_t)n : 0);
	rt_write_all(STDERR_FILENO, "\n", 1);
	_exit(2);
}
