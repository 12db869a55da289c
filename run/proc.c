/* SPDX-License-Identifier: Apache-2.0
 *
 * proc.c: one run is one child process, this program executed anew, so that
 * GSAN_OPTIONS and the emulated device's settings are in its environment from
 * the start and a kernel that hangs can be ended.  Findings come through a pipe
 * as they are made; those that came before the end of the time count.
 */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long the child may take to leave once it has said that it is done. */
#define LINGER_MS 20000

/* Instrumented code runs on nothing older. */
#define LEAST_SM 75

int64_t run_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void run_send(int fd, const struct run_msg *m)
{
	ssize_t n;

	do
		n = write(fd, m, sizeof *m);
	while (n < 0 && errno == EINTR);
}

static void set_environment(const struct run_child *c)
{
	char text[32];

	if (c->options)
		setenv("GSAN_OPTIONS", c->options, 1);
	if (c->seeded) {
		snprintf(text, sizeof text, "%llu", (unsigned long long)c->seed);
		setenv("EMU_SEED", text, 1);
	}
	if (!strcmp(c->device, "emu")) {
		snprintf(text, sizeof text, "%u", c->timeout);
		setenv("EMU_TIMEOUT", text, 1);
	}
	if (c->sm) {
		snprintf(text, sizeof text, "%u", c->sm < LEAST_SM ? LEAST_SM : c->sm);
		setenv("EMU_SM", text, 1);
	}
}

/* Where memory lies decides what hashes to where: the same seed is to show the same. */
void run_stay_put(void)
{
	personality(PER_LINUX | ADDR_NO_RANDOMIZE);
}

static _Noreturn void become(const struct run_child *c, int fd)
{
	char child[64];
	char **argv;
	int n;

	set_environment(c);
	if (!strcmp(c->device, "emu"))
		run_stay_put();
	for (n = 0; c->argv[n]; n++)
		;
	argv = calloc((size_t)n + 2, sizeof *argv);
	if (!argv)
		_exit(RUN_OTHER);
	snprintf(child, sizeof child, "--child=%d,%s%s%s", fd, c->device, c->optional ? "?" : "",
		 c->oracle ? "+" : "");
	argv[0] = c->argv[0];
	argv[1] = child;
	memcpy(argv + 2, c->argv + 1, (size_t)n * sizeof *argv);
	execv("/proc/self/exe", argv);
	fprintf(stderr, "gsan-run: cannot run itself: %s\n", strerror(errno));
	_exit(RUN_OTHER);
}

static void take(const struct run_msg *m, struct run_findings *f, struct run_findings *oracle,
		 struct run_result *r, bool *ended)
{
	switch (m->kind) {
	case MSG_FINDING:
		run_add(f, &m->finding);
		break;
	case MSG_ORACLE:
		run_add(oracle, &m->finding);
		break;
	case MSG_DISAGREE:
		r->disagreed = true;
		break;
	case MSG_END:
		*ended = true;
		r->no_device = m->status == END_NO_DEVICE;
		r->timed_out = m->status == END_HUNG;
		r->status = r->no_device || r->timed_out ? RUN_OTHER : (int)m->status;
		break;
	}
}

/* Reads messages until the pipe closes.  False: the time was up first. */
static bool listen(int fd, int64_t deadline, struct run_findings *f, struct run_findings *oracle,
		   struct run_result *r, bool *ended)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct run_msg m;
	int64_t left;
	ssize_t n;

	for (;;) {
		left = deadline - run_now_ms();
		if (poll(&p, 1, left < 0 ? 0 : (int)left) < 0 && errno != EINTR)
			return true;
		if (p.revents) {
			n = read(fd, &m, sizeof m);
			if (n == (ssize_t)sizeof m) {
				take(&m, f, oracle, r, ended);
				if (*ended)
					deadline = run_now_ms() + LINGER_MS;
				continue;
			}
			if (n >= 0 || errno != EINTR)
				return true;
		}
		if (left <= 0)
			return false;
	}
}

static volatile sig_atomic_t child, ended_by;

/* Who ends us ends the child, which has a closing line to say. */
static void pass_on(int sig)
{
	ended_by = sig;
	if (child > 0)
		kill((pid_t)child, sig);
}

/* From one to the other, unless somebody has us ignore them. */
static void on_ends(void (*from)(int), void (*to)(int))
{
	static const int ends[] = { SIGINT, SIGTERM };
	struct sigaction now, sa = { .sa_handler = to, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (!sigaction(ends[i], NULL, &now) && now.sa_handler == from)
			sigaction(ends[i], &sa, NULL);
}

pid_t run_fork(void)
{
	pid_t pid, parent = getpid();

	fflush(NULL);
	on_ends(SIG_DFL, pass_on);
	child = pid = fork();
	if (pid <= 0)
		on_ends(pass_on, SIG_DFL);
	if (pid < 0)
		fprintf(stderr, "gsan-run: %s\n", strerror(errno));
	if (!pid) {
		/* Whoever ends the parent must not leave a kernel running. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(RUN_OTHER);
	}
	return pid;
}

int run_await(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child = 0;
	on_ends(pass_on, SIG_DFL);
	if (ended_by)
		raise(ended_by);
	return status;
}

bool run_spawn(const struct run_child *c, struct run_findings *f, struct run_findings *oracle,
	       struct run_result *r)
{
	const int64_t begun = run_now_ms();
	const unsigned more = strcmp(c->device, "emu") ? 0 : RUN_LINGER;
	pid_t pid;
	bool ended = false, in_time;
	int fd[2], status;

	*r = (struct run_result){ .status = RUN_OTHER };
	if (pipe(fd)) {
		fprintf(stderr, "gsan-run: %s\n", strerror(errno));
		return false;
	}
	pid = run_fork();
	if (pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return false;
	}
	if (!pid) {
		close(fd[0]);
		become(c, fd[1]);
	}
	close(fd[1]);
	in_time = listen(fd[0], begun + ((int64_t)c->timeout + more) * 1000, f, oracle, r, &ended);
	close(fd[0]);
	if (!in_time) {
		kill(pid, SIGKILL);
		r->timed_out |= !ended;
	}
	r->deadlock = r->timed_out && more && run_now_ms() - begun < (int64_t)c->timeout * 1000;
	status = run_await(pid);
	if (WIFEXITED(status))
		r->exit_status = WEXITSTATUS(status);
	else if (in_time)
		fprintf(stderr, "gsan-run: the run was ended by signal %d (%s)\n",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WIFEXITED(status) && in_time && !ended && r->exit_status != RUN_OTHER)
		fprintf(stderr, "gsan-run: the run ended by itself with status %d\n",
			r->exit_status);
	return true;
}
