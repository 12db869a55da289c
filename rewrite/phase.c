/* SPDX-License-Identifier: Apache-2.0
 *
 * phase.c: runs a compiler phase in place of ourselves, with its exit status and
 * the signals that are meant for it; what it says on standard error is kept back
 * where it may have to be unsaid.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewrite/rw.h"

void rw_say(const char *fmt, ...)
{
	va_list ap;

	fputs("gsan-ptx: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static volatile sig_atomic_t child, interrupted;

/* A signal meant for us is meant for the phase; we clean up when it ends. */
static void forward(int sig)
{
	interrupted = 1;
	if (child > 0)
		kill((pid_t)child, sig);
}

bool rw_interrupted(void)
{
	return interrupted;
}

/* What such signals did before us. */
static struct { int sig; void (*did)(int); } ignored[2];
static int nignored;

void rw_error_instead(int sig)
{
	ignored[nignored].sig = sig;
	ignored[nignored++].did = signal(sig, SIG_IGN);
}

static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
enum { NSIGNALS = sizeof signals / sizeof *signals };

/* Runs it and waits; returns what a shell would call its status.  err: where its
 * standard error goes, -1: where ours goes. */
static int run(char **argv, int err)
{
	struct sigaction sa = { .sa_handler = forward, .sa_flags = SA_RESTART }, old[NSIGNALS];
	sigset_t block, saved;
	int status = 0;
	pid_t pid;

	sigemptyset(&sa.sa_mask);
	sigemptyset(&block);
	for (int i = 0; i < NSIGNALS; i++)
		sigaddset(&block, signals[i]);
	sigprocmask(SIG_BLOCK, &block, &saved);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, &saved, NULL);
		for (int i = 0; i < nignored; i++)
			signal(ignored[i].sig, ignored[i].did);
		if (err >= 0)
			dup2(err, STDERR_FILENO);
		execvp(argv[0], argv);
		rw_say("cannot run %s: %s", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	child = pid;
	for (int i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &sa, &old[i]);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	if (pid < 0) {
		rw_say("cannot run %s: %s", argv[0], strerror(errno));
		status = 3 << 8;
	} else {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	child = 0;
	for (int i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int rw_phase(char **argv, char **said)
{
	int err = said ? memfd_create("gsan-ptx", MFD_CLOEXEC) : -1;
	int status = run(argv, err);
	off_t len;

	if (!said)
		return status;
	*said = NULL;
	if (err < 0)            /* then it was said */
		return status;
	len = lseek(err, 0, SEEK_END);
	*said = len < 0 ? NULL : calloc((size_t)len + 1, 1);
	if (*said && pread(err, *said, (size_t)len, 0) != len)
		(*said)[0] = '\0';
	close(err);
	return status;
}
