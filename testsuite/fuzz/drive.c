/* SPDX-License-Identifier: Apache-2.0
 *
 * drive.c: runs a fuzz target without libFuzzer.  With file names it tries those
 * inputs, as to see a finding again.  Without, as in `make check`, it tries every
 * finding and every seed of the test suite and then inputs made of them by
 * chance, the same ones every time; FUZZ_SEED=N are other ones, FUZZ_RUNS=N so
 * many.  The target runs in a child, so that whatever ends it, the input is left
 * and named.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testsuite/fuzz/fuzz.h"

enum { MOST = 1 << 16, SECONDS = 60 };  /* bytes of an input; for one input */

struct input { uint8_t *data; size_t size; };

/* What the child tries right now: shared with the parent. */
struct current { size_t size; uint64_t tried; uint8_t data[MOST]; };

static struct input *seeds;
static size_t nseeds, seeds_cap;
static struct current *current;
static uint64_t state = 1;

static _Noreturn void hard(const char *what, const char *path)
{
	fprintf(stderr, "%s: %s\n", what, path);
	exit(99);
}

static void add(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct input in = { malloc(MOST), 0 };

	if (!f || !in.data)
		hard("cannot read", path);
	in.size = fread(in.data, 1, MOST, f);
	fclose(f);
	if (nseeds == seeds_cap) {
		seeds_cap = seeds_cap ? seeds_cap * 2 : 256;
		seeds = realloc(seeds, seeds_cap * sizeof *seeds);
		if (!seeds)
			hard("out of memory", path);
	}
	seeds[nseeds++] = in;
}

static int is_visible(const struct dirent *d)
{
	return *d->d_name != '.';
}

/* All files of a folder that end so, in an order that does not depend on the
 * file system. */
static void add_folder(const char *top, const char *folder, const char *suffix)
{
	char path[4096];
	struct dirent **name;
	int n;

	snprintf(path, sizeof path, "%s/%s", top, folder);
	n = scandir(path, &name, is_visible, alphasort);
	for (int i = 0; i < n; i++) {
		size_t len = strlen(name[i]->d_name), end = strlen(suffix);

		snprintf(path, sizeof path, "%s/%s/%s", top, folder, name[i]->d_name);
		if (len > end && !strcmp(name[i]->d_name + len - end, suffix))
			add(path);
		free(name[i]);
	}
	if (n >= 0)
		free(name);
}

/* ---- inputs by chance ------------------------------------------------------------------------ */

static uint64_t draw(uint64_t below)
{
	return fuzz_draw(&state, below);
}

static void mutate(void)
{
	for (uint64_t n = 1 + draw(4); n; n--) {
		const struct input *other = &seeds[draw(nseeds)];

		current->size = fuzz_mutate(current->data, current->size, MOST, other->data, other->size,
					    &state);
	}
}

/* ---- the child ------------------------------------------------------------------------------------ */

/* The target reads a block of exactly that size, so that a sanitizer sees what is
 * read behind it. */
static void try_current(void)
{
	uint8_t *data = malloc(current->size ? current->size : 1);

	if (!data)
		hard("out of memory", "");
	memcpy(data, current->data, current->size);
	alarm(SECONDS);
	LLVMFuzzerTestOneInput(data, current->size);
	alarm(0);
	free(data);
	current->tried++;
}

static void load(const struct input *in)
{
	current->size = in->size;
	memcpy(current->data, in->data, in->size);
}

static void try_all(unsigned runs)
{
	for (size_t i = 0; i < nseeds; i++) {
		load(&seeds[i]);
		try_current();
	}
	for (unsigned i = 0; i < runs; i++) {
		load(&seeds[draw(nseeds)]);
		mutate();
		try_current();
	}
}

/* Runs all, or what is current once more; the child's wait status.  Targets may
 * talk to stderr about every input, which nobody wants to read. */
static int in_child(bool all, unsigned runs)
{
	pid_t pid = fork();
	int status = -1;

	if (pid < 0)
		hard("fork", "");
	if (pid == 0) {
		if (all) {
			int fd = open("/dev/null", O_WRONLY);

			if (fd >= 0)
				dup2(fd, STDERR_FILENO);
			try_all(runs);
		} else {
			try_current();
		}
		exit(0);
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	return status;
}

static void keep(void)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof path, "fuzz-%s-%d", fuzz_target.name, (int)getpid());
	f = fopen(path, "wb");
	if (f) {
		fwrite(current->data, 1, current->size, f);
		fclose(f);
		fprintf(stderr, "the input is in %s\n", path);
	}
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	unsigned runs = fuzz_target.runs;
	char folder[64];
	int status;

	for (int i = 1; i < argc; i++)
		add(argv[i]);
	if (argc == 1) {
		snprintf(folder, sizeof folder, "testsuite/fuzz/found/%s", fuzz_target.name);
		add_folder(top ? top : ".", folder, "");
		snprintf(folder, sizeof folder, "testsuite/fuzz/corpus/%s", fuzz_target.name);
		add_folder(top ? top : ".", folder, "");
		for (const char *const *s = fuzz_target.folders; *s; s++)
			add_folder(top ? top : ".", *s, fuzz_target.suffix);
	}
	if (!nseeds)
		hard("no inputs", top ? top : "set top_srcdir");
	current = mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (current == MAP_FAILED)
		hard("mmap", "");
	if (getenv("FUZZ_SEED"))
		state = strtoull(getenv("FUZZ_SEED"), NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (int i = 0; i < 8; i++)
		draw(0);
	if (getenv("FUZZ_RUNS"))
		runs = (unsigned)strtoul(getenv("FUZZ_RUNS"), NULL, 10);
	status = in_child(true, argc == 1 ? runs : 0);
	printf("%s: %zu inputs and what was made of them, %llu tried\n", fuzz_target.name, nseeds,
	       (unsigned long long)current->tried);
	if (status) {
		fprintf(stderr, "%s: input %llu: ", fuzz_target.name, (unsigned long long)current->tried);
		if (WIFSIGNALED(status))
			fprintf(stderr, "signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			fprintf(stderr, "status %d\n", WEXITSTATUS(status));
		fflush(stderr);
		if (!in_child(false, 0))
			fprintf(stderr, "alone that input does nothing: memory is lost, or more than one is needed\n");
		keep();
	}
	while (nseeds)
		free(seeds[--nseeds].data);
	free(seeds);
	return status ? 1 : 0;
}
