/* SPDX-License-Identifier: Apache-2.0
 *
 * tool.c: runs gsan-image beside the program.  What it wrote is whole or is not taken, so that its status, which the program
 * may have waited for in our place, does not matter.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/image.h"

extern char **environ;

char **rt_plain_environment(void)
{
	size_t n = 0, k = 0;
	char **e;

	while (environ[n])
		n++;
	e = rt_alloc((n + 1) * sizeof *e);
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], "LD_AUDIT=", 9) && strncmp(environ[i], "GSAN_", 5))
			e[k++] = environ[i];
	return e;
}

/* As a file without a name, which cannot block as a pipe could. */
static int file_of(const void *in, size_t bytes)
{
	int fd = memfd_create("gsan-image", MFD_CLOEXEC);

	if (fd >= 0 && (rt_write_all(fd, in, bytes) || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		return -1;
	}
	return fd;
}

bool rt_spawn(pid_t *pid, char *const argv[], const posix_spawn_file_actions_t *files)
{
	posix_spawnattr_t how;
	sigset_t none, all;
	char **env = rt_plain_environment();
	bool ok;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	ok = !posix_spawn(pid, argv[0], files, &how, argv, env);
	posix_spawnattr_destroy(&how);
	rt_free(env);
	return ok;
}

static bool spawn(pid_t *pid, char *const argv[], int in, int out)
{
	posix_spawn_file_actions_t files;
	bool ok;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	ok = rt_spawn(pid, argv, &files);
	posix_spawn_file_actions_destroy(&files);
	return ok;
}

/* Until it closes the pipe.  NULL: in time it has not. */
static char *read_until(int fd, uint64_t end, size_t *n, const char **why)
{
	size_t cap = 1 << 16;
	char *all = rt_try_alloc(cap), *more;

	for (*n = 0; all; ) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		const uint64_t now = rt_now_ms();
		const int ready = now < end ? poll(&p, 1, (int)(end - now)) : 0;
		ssize_t got = ready > 0 ? read(fd, all + *n, cap - *n - 1) : -1;

		if (!got)
			return all;
		if (got < 0 && ready && errno == EINTR)
			continue;
		if (got < 0) {
			*why = ready ? "gsan-image cannot be read" : "gsan-image took too long (image_timeout)";
			break;
		}
		*n += (size_t)got;
		if (*n < cap / 2)
			continue;
		more = realloc(all, cap *= 2);
		if (!more) {
			*why = "there is no memory for what gsan-image makes";
			break;
		}
		all = more;
		memset(all + *n, 0, cap - *n);
	}
	rt_free(all);
	return NULL;
}

char *rt_tool_run(char *const argv[], const void *in, size_t bytes, struct entry *e, const char **why)
{
	int pipes[2] = {-1, -1}, file = file_of(in, bytes);
	char *all = NULL;
	size_t n = 0;
	int status = 0;
	pid_t pid;

	*why = "gsan-image cannot be run";
	if (file >= 0 && !pipe2(pipes, O_CLOEXEC) && spawn(&pid, argv, file, pipes[1])) {
		close(pipes[1]);
		pipes[1] = -1;
		*why = "gsan-image failed";
		all = read_until(pipes[0], rt_now_ms() + (uint64_t)rt_flags.image_timeout * 1000, &n, why);
		if (!all)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (all && !n && WIFEXITED(status) && WEXITSTATUS(status) == 127)
			*why = "gsan-image cannot be started: a library that it needs is missing (liblz4, libzstd)";
	}
	for (int i = 0; i < 2; i++)
		if (pipes[i] >= 0)
			close(pipes[i]);
	if (file >= 0)
		close(file);
	if (all && entry_read(all, n, e))
		return all;
	rt_free(all);
	return NULL;
}
