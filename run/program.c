/* SPDX-License-Identifier: Apache-2.0
 *
 * program.c: runs a program as it is, with libgsan preloaded, which has what the program loads instrumented; on the
 * emulated device with its libcuda.so.1 and libcudart.so first where libraries are looked for, and a library
 * preloaded that takes the place of a runtime that was linked in (cudart/place.c).
 */
#include "run/run.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_OPTIONS "hang_timeout=60:kill_watch=2"     /* which the user's own override */

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

/* The list that is loaded into every program has no way to write a blank or a colon: a file with such a name is found in
 * its folder. */
static bool set_runtime(const struct run_program *p)
{
	const char *runtime = run_path(RUN_RUNTIME), *tool = run_path(RUN_IMAGE);
	char folder[PATH_MAX];

	if (!runtime || !tool) {
		fprintf(stderr, "gsan-run: %s is not where it was built nor where it is installed\n", runtime ? "gsan-image" : "libgsan.so.1");
		return false;
	}
	if (strpbrk(runtime, ": ")) {
		snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(runtime, '/') - runtime), runtime);
		put_first("LD_LIBRARY_PATH", folder);
		runtime = strrchr(runtime, '/') + 1;
	}
	put_first("LD_PRELOAD", runtime);
	setenv("GSAN_RUN_TOOL", tool, 1);
	unsetenv("GSAN_RUN_ONLY");
	if (p->alone)
		set_number("GSAN_RUN_ONLY", (uint64_t)getpid());
	return true;
}

/* Options of the runtime that say which launches are watched, behind those that there are. */
static void set_chosen(const struct run_program *p)
{
	const char *old = getenv("GSAN_OPTIONS");
	const char quote = p->kernel && strchr(p->kernel, '"') ? '\'' : '"';
	char *all;

	if (!p->kernel && !p->skip && !p->count)
		return;
	if (asprintf(&all, "%s launch_kernel=%c%s%c launch_skip=%s launch_count=%s", old ? old : "", quote, p->kernel ? p->kernel : "",
		     quote, p->skip ? p->skip : "0", p->count ? p->count : "0") < 0)
		_exit(RUN_OTHER);
	setenv("GSAN_OPTIONS", all, 1);
	free(all);
}

/* Does the file begin as one that the system starts?  A cubin, which is an ELF file for the device, is none. */
static bool begins_as_program(const char *path)
{
	Elf64_Ehdr h = {0};
	FILE *f = fopen(path, "rb");
	const size_t n = f ? fread(&h, 1, sizeof h, f) : 0;

	if (f)
		fclose(f);
	if (n >= 2 && !memcmp(&h, "#!", 2))
		return true;
	return n >= offsetof(Elf64_Ehdr, e_version) && !memcmp(&h, ELFMAG, SELFMAG) && h.e_machine != EM_CUDA;
}

static bool is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* In one of the folders of PATH. */
static bool is_command(const char *name)
{
	const char *folder = getenv("PATH"), *end;
	char path[PATH_MAX];

	for (; folder; folder = *end ? end + 1 : NULL) {
		end = folder + strcspn(folder, ":");
		if (snprintf(path, sizeof path, "%.*s/%s", (int)(end - folder), folder, name) < (int)sizeof path && is_there(path))
			return true;
	}
	return false;
}

bool run_is_program(const char *word)
{
	if (!access(word, F_OK))
		return is_there(word) && begins_as_program(word);
	return !strchr(word, '/') && is_command(word);
}

const char *run_program_regex(const char *text)
{
	static char why[128];
	regex_t regex;
	const int error = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

	if (error)
		regerror(error, &regex, why, sizeof why);
	else
		regfree(&regex);
	return error ? why : strchr(text, '"') && strchr(text, '\'') ? "it has quotes of both kinds" : NULL;
}

static bool set_emu(const struct run_program *p, uint64_t seed)
{
	const char *driver = run_path(RUN_EMU);
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
	if ((emu && !set_emu(p, seed)) || !set_runtime(p))
		_exit(RUN_OTHER);
	run_set_frameworks(emu);
	put_first("GSAN_OPTIONS", RUN_OPTIONS);
	set_chosen(p);
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

static bool is_copy(long pid)
{
	char path[32], name[16] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/comm", pid);
	f = fopen(path, "r");
	if (f && !fgets(name, sizeof name, f))
		*name = 0;
	if (f)
		fclose(f);
	return !strcmp(name, "gsan-copy\n");
}

/* Copies of processes that were killed (kill_watch), which have become children of this one, are not done telling. */
static void await_copies(void)
{
	FILE *f = fopen("/proc/thread-self/children", "r");
	long pid;

	while (f && fscanf(f, "%ld", &pid) == 1)
		if (is_copy(pid))
			waitpid((pid_t)pid, NULL, __WALL);
	if (f)
		fclose(f);
}

static int run_one(const struct run_program *p, bool emu, uint64_t seed)
{
	bool late = false;
	int status;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = run_fork();

	if (pid < 0)
		return RUN_OTHER;
	if (!pid)
		become(p, emu, seed);
	if (p->timeout)
		late = watch(pid, p->timeout);
	status = run_await(pid);
	await_copies();
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
