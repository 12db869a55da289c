/* SPDX-License-Identifier: Apache-2.0
 *
 * symbol.c: asks addr2line, where there is one, for function and line of a place in the host's code; else what the dynamic
 * linker knows.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/rti.h"
#include "rt/symbol.h"

enum { PATIENCE_MS = 10000, KNOWN = 256 };

static struct { const void *pc; struct rt_symbol s; } known[KNOWN];     /* one thread's at a time: who has judge_lock */
static unsigned nknown;

static size_t read_all(int fd, char *to, size_t size)
{
	size_t n = 0;

	while (n < size - 1) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t got;

		if (poll(&p, 1, PATIENCE_MS) <= 0)
			break;
		got = read(fd, to + n, size - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	to[n] = '\0';
	return n;
}

/* Its output; false: it cannot be had. */
static bool ask(const char *object, uint64_t offset, char *out, size_t size)
{
	char where[32], *argv[] = {(char *)"addr2line", (char *)"-fe", (char *)(uintptr_t)object, where, NULL}, **env;
	posix_spawn_file_actions_t files;
	int pipes[2], status = 0;
	bool ok = false;
	pid_t pid;

	if (pipe(pipes))
		return false;
	snprintf(where, sizeof where, "0x%llx", (unsigned long long)offset);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, pipes[1], 1);
	posix_spawn_file_actions_addclose(&files, pipes[0]);
	posix_spawn_file_actions_addclose(&files, pipes[1]);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", 1, 0);
	env = rt_plain_environment();
	if (!posix_spawnp(&pid, argv[0], &files, NULL, argv, env)) {
		close(pipes[1]);
		pipes[1] = -1;
		ok = read_all(pipes[0], out, size);
		waitpid(pid, &status, 0);
	}
	rt_free(env);
	posix_spawn_file_actions_destroy(&files);
	close(pipes[0]);
	if (pipes[1] >= 0)
		close(pipes[1]);
	return ok;
}

/* "function\nfile:line [...]\n" */
static void read_answer(char *text, struct rt_symbol *s)
{
	char *end = strchr(text, '\n'), *colon;

	if (!end)
		return;
	*end++ = '\0';
	if (strcmp(text, "??"))
		s->function = rt_copy(text);
	end[strcspn(end, "\n")] = '\0';
	colon = strrchr(end, ':');
	if (!colon || *end == '?')
		return;
	*colon = '\0';
	s->line = (unsigned)strtoul(colon + 1, NULL, 10);
	if (s->line)
		s->file = rt_copy(end);
}

static void find(const char *pc, struct rt_symbol *s)
{
	struct link_map *map = NULL;
	char answer[4096];
	Dl_info info;
	void *extra = NULL;

	*s = (struct rt_symbol){"", "", "", 0, 0};
	if (!dladdr1(pc, &info, &extra, RTLD_DL_LINKMAP) || !info.dli_fname)
		return;
	map = extra;
	s->object = rt_copy(info.dli_fname);
	if (map && !*map->l_name)               /* the program itself */
		s->object = "/proc/self/exe";
	s->offset = (uint64_t)(pc - (const char *)(map ? map->l_addr : 0));
	if (info.dli_sname)
		s->function = rt_copy(info.dli_sname);
	if (!strcmp(s->object, "/proc/self/exe")) {
		static char self[4096];
		ssize_t n = readlink(s->object, self, sizeof self - 1);

		if (n > 0)
			self[n] = '\0';
		s->object = n > 0 ? self : s->object;
	}
	if (rt_flags.symbolize && ask(s->object, s->offset, answer, sizeof answer))
		read_answer(answer, s);
}

void rt_symbol_find(const void *pc, bool behind, struct rt_symbol *s)
{
	const char *at = (const char *)pc - behind;

	for (unsigned i = 0; i < nknown; i++)
		if (known[i].pc == at) {
			*s = known[i].s;
			return;
		}
	find(at, s);
	if (nknown < KNOWN) {
		known[nknown].pc = at;
		known[nknown++].s = *s;
	}
}
