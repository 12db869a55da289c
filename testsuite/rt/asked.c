/* SPDX-License-Identifier: Apache-2.0
 *
 * asked.c: what the CUDA runtime asks the driver for, and who answers.
 *
 *   asked LIBCUDART   has that library look for the driver's functions (every.c notes them)
 *   asked             reads "NAME VERSION [ptsz]" lines, asks cuGetProcAddress as the CUDA runtime does, and prints each
 *                     line with the hook that it got, or "-", behind it
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int proc_fn(const char *, void **, int, uint64_t, int *);

static void *open_or_say(const char *file)
{
	void *lib = dlopen(file, RTLD_NOW);

	if (!lib)
		fprintf(stderr, "%s\n", dlerror());
	return lib;
}

/* Whatever comes of it: functions are looked for at the first call. */
static int wake(const char *file)
{
	void *lib = open_or_say(file), *p = lib ? dlsym(lib, "cudaGetDeviceCount") : NULL;
	int (*count)(int *), n;

	if (!p)
		return 1;
	memcpy(&count, &p, sizeof p);
	count(&n);
	return 0;
}

static const char *hook_of(void *p, const void *driver)
{
	Dl_info at, drivers;

	if (!dladdr(p, &at) || !dladdr(driver, &drivers) || at.dli_fbase == drivers.dli_fbase || !at.dli_sname)
		return "-";
	return at.dli_sname;
}

static int ask(void)
{
	void *lib = open_or_say("libcuda.so.1"), *p = lib ? dlsym(lib, "cuGetProcAddress_v2") : NULL;
	void *driver = lib ? dlsym(lib, "cuDriverGetVersion") : NULL;
	char line[256], name[128], thread[8];
	proc_fn *proc;
	int version;

	if (!p)
		return 1;
	memcpy(&proc, &p, sizeof p);
	while (fgets(line, sizeof line, stdin)) {
		int n = sscanf(line, "%127s %d %7s", name, &version, thread);
		void *fn = NULL;

		if (n < 2 || proc(name, &fn, version, n == 3 ? 2 : 1, NULL) || !fn)
			return 1;
		printf("%s %d %s %s\n", name, version, n == 3 ? "ptsz" : "-", hook_of(fn, driver));
	}
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 1 ? wake(argv[1]) : ask();
}
