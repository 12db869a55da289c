/* SPDX-License-Identifier: Apache-2.0
 *
 * device.c: a program that does to the emulated device what its arguments say,
 * one after the other, and prints what came of it.  Linked with the runtime and
 * fed instrumented PTX it must print what it prints alone; its own status is 3.
 *
 *   load:FILE     use device 0's primary context and load the PTX there
 *   buf:BYTES     memory that kernels get as their one parameter, zeroed
 *   run:KERNEL    launch 2 blocks of 64 threads; blocks:N: N of them from then on
 *   threads:KERNEL:N    two threads launch it N times each, on streams of their own
 *   context       a new context, with the module and memory of its own; leave: destroy it
 *   reset         the primary context; load and buf again after it
 *   print         the memory's first words and their sum
 *   choke         stderr, a pipe, is full and does not wait
 *   sync, fork, sleep:MS, exit:N, quick
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

/* Every driver has it; the newest cuda.h has no name for it. */
#undef cuCtxCreate_v2
CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice device);

struct place {
	CUcontext ctx;
	CUmodule module;
	CUdeviceptr buf;
	size_t bytes;
};

static struct place primary, other;
static struct place *here = &primary;
static char *image;
static unsigned blocks = 2;

static bool check(CUresult r, const char *what)
{
	if (r != CUDA_SUCCESS)
		printf("%s: %d\n", what, (int)r);
	return r == CUDA_SUCCESS;
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = calloc(1, 8 << 20);

	if (!f || !text || !fread(text, 1, (8 << 20) - 1, f))
		exit(99);
	fclose(f);
	return text;
}

static void load(const char *path)
{
	CUdevice d;

	free(image);
	image = read_file(path);
	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&d, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&primary.ctx, d), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(primary.ctx), "cuCtxSetCurrent");
	check(cuModuleLoadData(&primary.module, image), "cuModuleLoadData");
}

static void buf(size_t bytes)
{
	here->bytes = bytes;
	if (check(cuMemAlloc(&here->buf, bytes), "cuMemAlloc"))
		check(cuMemsetD8(here->buf, 0, bytes), "cuMemsetD8");
}

static void launch(const struct place *p, const char *kernel, CUstream stream)
{
	CUfunction f;
	CUdeviceptr arg = p->buf;
	void *params[] = { &arg };

	if (check(cuModuleGetFunction(&f, p->module, kernel), kernel))
		check(cuLaunchKernel(f, blocks, 1, 1, 64, 1, 1, 0, stream, params, NULL), "cuLaunchKernel");
}

struct work { const char *kernel; unsigned long long n; };

static void *work(void *arg)
{
	const struct work *w = arg;
	CUstream stream;

	check(cuCtxSetCurrent(primary.ctx), "cuCtxSetCurrent");
	check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	for (unsigned long long i = 0; i < w->n; i++)
		launch(&primary, w->kernel, stream);
	check(cuStreamSynchronize(stream), "cuStreamSynchronize");
	return NULL;
}

static void threads(const char *kernel, unsigned long long n)
{
	struct work w = { kernel, n };
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, work, &w))
			exit(99);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static void context(void)
{
	CUdevice d;

	check(cuDeviceGet(&d, 0), "cuDeviceGet");
	if (!check(cuCtxCreate_v2(&other.ctx, 0, d), "cuCtxCreate"))
		return;
	here = &other;
	check(cuModuleLoadData(&other.module, image), "cuModuleLoadData");
	buf(primary.bytes);
}

static void leave(void)
{
	check(cuCtxDestroy(other.ctx), "cuCtxDestroy");
	here = &primary;
	check(cuCtxSetCurrent(primary.ctx), "cuCtxSetCurrent");
}

static void print(void)
{
	unsigned *word = malloc(here->bytes), sum = 0;

	if (!word)
		exit(99);
	if (check(cuMemcpyDtoH(word, here->buf, here->bytes), "cuMemcpyDtoH")) {
		for (size_t i = 0; i < here->bytes / 4; i++)
			sum += word[i];
		printf("%u %u %u %u: %u\n", word[0], word[1], word[2], word[3], sum);
	}
	free(word);
}

static void choke(void)
{
	static char line[4096];
	int flags = fcntl(STDERR_FILENO, F_GETFL);

	memset(line, '\n', sizeof line);
	if (flags < 0 || fcntl(STDERR_FILENO, F_SETPIPE_SZ, sizeof line) < 0 ||
	    fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK) < 0)
		exit(99);
	while (write(STDERR_FILENO, line, sizeof line) > 0)
		;
}

static void in_child(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		exit(5);
	waitpid(pid, &status, 0);
	printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void command(const char *c)
{
	char name[256];
	unsigned long long n = 0;

	if (sscanf(c, "load:%255s", name) == 1)
		load(name);
	else if (sscanf(c, "buf:%llu", &n) == 1)
		buf(n);
	else if (sscanf(c, "run:%255s", name) == 1)
		launch(here, name, NULL);
	else if (sscanf(c, "threads:%255[^:]:%llu", name, &n) == 2)
		threads(name, n);
	else if (!strcmp(c, "context"))
		context();
	else if (!strcmp(c, "leave"))
		leave();
	else if (!strcmp(c, "reset"))
		check(cuDevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset");
	else if (sscanf(c, "blocks:%llu", &n) == 1)
		blocks = (unsigned)n;
	else if (!strcmp(c, "print"))
		print();
	else if (!strcmp(c, "sync"))
		check(cuCtxSynchronize(), "cuCtxSynchronize");
	else if (!strcmp(c, "choke"))
		choke();
	else if (!strcmp(c, "fork"))
		in_child();
	else if (sscanf(c, "sleep:%llu", &n) == 1)
		usleep((useconds_t)n * 1000);
	else if (sscanf(c, "exit:%llu", &n) == 1)
		exit((int)n);
	else if (!strcmp(c, "quick"))
		fflush(stdout), quick_exit(4);
	else
		exit(99);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		command(argv[i]);
	return 3;
}
