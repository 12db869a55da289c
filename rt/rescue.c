/* SPDX-License-Identifier: Apache-2.0
 *
 * rescue.c: a fault on a GPU ends all contexts of the process, and with them every way to read logs.  A program that is
 * started then (rescuer.c) has contexts of its own, and is given the descriptors of the logs' memory.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/region.h"
#include "rt/drv.h"
#include "rt/rescue.h"
#include "rt/slab.h"

enum { FILES = 4096, PATIENCE_S = 30, LOOKS = 100, LOOK_US = 10000 };
_Static_assert((int)LOG_CHUNK <= (int)RESCUE_BYTES, "so much is asked for at once");

extern const char rt_rescuer[], rt_rescuer_end[];
__asm__(".section .rodata,\"a\",@progbits\n"
	".globl rt_rescuer, rt_rescuer_end\n"
	".hidden rt_rescuer, rt_rescuer_end\n"
	"rt_rescuer: .incbin \"rt/rescuer\"\n"
	"rt_rescuer_end:\n"
	".previous");

static struct {
	pthread_mutex_t lock;
	bool runs, off;                 /* off: it did not help; nobody waits for it again */
	pid_t pid;
	int socket;
	const char *why;
	struct log_way way;
} rescue = {.lock = PTHREAD_MUTEX_INITIALIZER};
RT_LIST_LOCK(rescue.lock, RT_LOCK_WHOLE);

/* ---- starting it -------------------------------------------------------------------------------------------------------- */

/* Standard ones are others in the child. */
static int keep_out(int fd)
{
	const int above = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;

	if (fd >= 0)
		close(fd);
	return above;
}

/* A file in memory. */
static int program_file(void)
{
	const int fd = keep_out(memfd_create("gsan-rescuer", MFD_CLOEXEC));

	if (fd < 0 || !rt_write_all(fd, rt_rescuer, (size_t)(rt_rescuer_end - rt_rescuer)))
		return fd;
	close(fd);
	return -1;
}

static bool spawn(int program, int socket)
{
	posix_spawn_file_actions_t files;
	char name[32], device[16], *argv[] = {name, (char *)(uintptr_t)rt_driver_path(), device, NULL};
	int fd[FILES];
	const size_t n = rt_slab_files(fd, FILES);
	bool ok;

	snprintf(name, sizeof name, "/proc/self/fd/%d", program);
	snprintf(device, sizeof device, "%d", rt_device());
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, socket, RESCUE_SOCKET);
	for (size_t i = 0; i < n; i++)
		posix_spawn_file_actions_adddup2(&files, fd[i], fd[i]); /* it stays open there */
	ok = rt_spawn(&rescue.pid, argv, &files);
	posix_spawn_file_actions_destroy(&files);
	return ok;
}

static bool start(void)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	const int program = program_file();
	int pair[2];

	if (program < 0)
		return false;
	if (!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		rescue.socket = pair[0];
		pair[1] = keep_out(pair[1]);
		rescue.way.locked = rt_try_alloc(RESCUE_BYTES);
		rescue.runs = rescue.way.locked && !setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) &&
			      spawn(program, pair[1]);
		close(pair[1]);
		if (!rescue.runs)
			close(pair[0]);
	}
	close(program);
	return rescue.runs;
}

/* One that the driver holds is left. */
static void stop(void)
{
	int status;

	rt_free(rescue.way.locked);
	close(rescue.socket);
	kill(rescue.pid, SIGKILL);
	for (unsigned i = 0; i < LOOKS && !waitpid(rescue.pid, &status, WNOHANG); i++)
		rt_pause_us(LOOK_US);
	rescue.runs = false;
	rescue.off = true;
}

/* ---- asking it ------------------------------------------------------------------------------------------------------------ */

static bool get(void *to, size_t n)
{
	return recv(rescue.socket, to, n, MSG_WAITALL) == (ssize_t)n;
}

/* NULL, or why not. */
static const char *fetch(void *to, CUdeviceptr from, size_t n)
{
	struct rescue_ask ask = {.bytes = n};
	struct rt_slab of;
	int32_t answer;

	if (!rt_slab_find(from, &of) || n > of.bytes - (from - of.at))
		return "its memory cannot be shared with another process";
	ask.at = from - of.at;
	ask.all = of.mapped;
	ask.memory = of.fd;
	if (send(rescue.socket, &ask, sizeof ask, MSG_NOSIGNAL) != sizeof ask || !get(&answer, sizeof answer) || (!answer && !get(to, n)))
		return "the program that was to read it ended, or took too long";
	return answer ? "another process cannot read it" : NULL;
}

static CUresult read_there(void *to, CUdeviceptr from, size_t n, CUstream s)
{
	(void)s;
	rescue.why = fetch(to, from, n);
	return rescue.why ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static CUresult is_done(CUstream s)
{
	(void)s;
	return CUDA_SUCCESS;
}

bool rt_rescue(CUdeviceptr at, const struct log_shape *shape, struct log_copy *c, const char **why)
{
	struct rt_slab of;
	bool ok = false;

	pthread_mutex_lock(&rescue.lock);
	rescue.way.read = read_there;
	rescue.way.query = is_done;
	if (!rt_slab_find(at, &of)) {
		rescue.why = "its memory cannot be shared with another process";
	} else if (!rescue.off && !rescue.runs && !start()) {
		rescue.why = "the program that was to read it cannot be started";
		rescue.off = true;
	} else if (!rescue.off) {
		rescue.why = NULL;
		ok = log_take(&rescue.way, at, shape, c);
		if (rescue.why)
			stop();
	}
	*why = rescue.why ? rescue.why : "there is no memory for it";
	pthread_mutex_unlock(&rescue.lock);
	return ok;
}
