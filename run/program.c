/* SPDX-License-Identifier: Apache-2.0
 *
 * program.c: runs a program of the CUDA runtime as it is; on the emulated device with its
 * libcuda.so.1 and libcudart.so first where libraries are looked for, and a library
 * preloaded that takes the place of a runtime that was linked in (cudart/place.c).
 */
#include "run/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HANG_OPTIONS "hang_timeout=60"  /* which the user's own override */

/* `what` in front of what a variable of the environment lists. */
static void put_first(const char *variable, const char *what)
{
	const char *old = getenv(variable);
	size_t n = strlen(what) + (old ? strlen(old) : 0) + 2;
	char *both = malloc(n);

	if (!both)
		_exit(RUN_OTHER);
	snprintf(both, n, "%s%s%s", what, old && *old ? ":" : "", old ? old : "");
	setenv(variable, both, 1);
	free(both);
}

static void set_number(const char *variable, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	setenv(variable, text, 1);
}

static bool set_emu(const struct run_program *p, uint64_t seed)
{
	const char *driver = run_emu_path();
	const char *slash = driver ? strrchr(driver, '/') : NULL;
	char path[PATH_MAX];

	if (!slash) {
		fputs("gsan-run: the emulated device (emu/libcuda.so.1) is not where it was built"
		      " nor where it is installed\n", stderr);
		return false;
	}
	snprintf(path, sizeof path, "%.*s", (int)(slash - driver), driver);
	put_first("LD_LIBRARY_PATH", path);
	put_first("LD_PRELOAD", "libgsan-cudart.so");   /* found there: a path with a blank is two */
	if (p->seeded)
		set_number("EMU_SEED", seed);
	if (p->timeout)
		set_number("EMU_TIMEOUT", p->timeout);
	run_stay_put();
	return true;
}

static _Noreturn void become(const struct run_program *p, bool emu, uint64_t seed)
{
	if (emu && !set_emu(p, seed))
		_exit(RUN_OTHER);
	put_first("GSAN_OPTIONS", HANG_OPTIONS);
	execvp(p->argv[0], p->argv);
	fprintf(stderr, "gsan-run: %s: %s\n", p->argv[0], strerror(errno));
	_exit(RUN_OTHER);
}

/* Ends the child when its time is up; whether it was. */
static bool watch(pid_t pid, unsigned seconds)
{
	const int64_t end = run_now_ms() + ((int64_t)seconds + RUN_LINGER) * 1000;
	const struct timespec moment = {0, 10000000};
	siginfo_t info;

	while (run_now_ms() < end) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return false;
		nanosleep(&moment, NULL);
	}
	kill(pid, SIGKILL);
	return true;
}

static int run_one(const struct run_program *p, bool emu, uint64_t seed)
{
	bool late = false;
	int status;
	pid_t pid = run_fork();

	if (pid < 0)
		return RUN_OTHER;
	if (!pid)
		become(p, emu, seed);
	if (p->timeout)
		late = watch(pid, p->timeout);
	status = run_await(pid);
	if (late) {
		fprintf(stderr, "gsan-run: %s: not done after %u seconds", p->argv[0], p->timeout);
		if (p->seeded)
			fprintf(stderr, " (seed %llu)", (unsigned long long)seed);
		fputc('\n', stderr);
		return RUN_OTHER;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "gsan-run: %s was ended by signal %d (%s)\n", p->argv[0], WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return 128 + WTERMSIG(status);
}

int run_program(const struct run_program *p)
{
	const bool emu = p->device == DEVICE_EMU || (p->device == DEVICE_AUTO && !run_gpu_likely());
	int first = 0, status;

	for (uint64_t i = 0; i <= p->last_seed - p->first_seed; i++) {
		if (p->verbose)
			fprintf(stderr, "gsan-run: %s on %s, seed %llu\n", p->argv[0], emu ? "the emulated device" : "the GPU",
				(unsigned long long)(p->first_seed + i));
		status = run_one(p, emu, p->first_seed + i);
		if (!first)
			first = status;
	}
	return first;
}
