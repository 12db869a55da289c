/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.c: finds the driver and its functions.  They are looked up with plain
 * dlsym, which in this program is libgsan's: that is how its hooks get into
 * the path, exactly as in a program that was built with it.
 */
#include "run/run.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PKGLIBDIR
#define PKGLIBDIR "/usr/local/lib/gsan"
#endif
#ifndef LIBDIR
#define LIBDIR "/usr/local/lib"
#endif

static bool readable(char *out, const char *dir, const char *rest)
{
	if ((size_t)snprintf(out, PATH_MAX, "%s%s", dir, rest) >= PATH_MAX)
		return false;
	return !access(out, R_OK);
}

/* Where a part of gsan is: beside this program as it was built, or beside its folder, or where configure said. */
static bool find_part(char *path, const char *built, const char *beside, const char *folder, const char *installed)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n > 0) {
		self[n] = 0;
		slash = strrchr(self, '/');
		if (slash) {
			*slash = 0;
			if (readable(path, self, built) || readable(path, self, beside))
				return true;
		}
	}
	return readable(path, folder, installed);
}

const char *run_path(enum run_part part)
{
	static const struct { const char *built, *beside, *folder, *installed; } parts[RUN_PARTS] = {
		[RUN_EMU] = {"/emu/libcuda.so.1", "/../lib/gsan/emu/libcuda.so.1", PKGLIBDIR, "/emu/libcuda.so.1"},
		[RUN_RUNTIME] = {"/libgsan.so.1", "/../lib/libgsan.so.1", LIBDIR, "/libgsan.so.1"},
		[RUN_IMAGE] = {"/gsan-image", "/../lib/gsan/gsan-image", PKGLIBDIR, "/gsan-image"},
		[RUN_PTXAS] = {"/gsan-ptxas", "/../bin/gsan-ptxas", LIBDIR, "/../bin/gsan-ptxas"},
		[RUN_NVCC] = {"/gsan-nvcc", "/../bin/gsan-nvcc", LIBDIR, "/../bin/gsan-nvcc"}
	};
	static char path[RUN_PARTS][PATH_MAX];

	return find_part(path[part], parts[part].built, parts[part].beside, parts[part].folder, parts[part].installed) ? path[part] : NULL;
}

bool run_gpu_likely(void)
{
	static const char *const nodes[] = { "/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu" };
	size_t i;

	for (i = 0; i < sizeof nodes / sizeof *nodes; i++)
		if (!access(nodes[i], F_OK))
			return true;
	return false;
}

/* ISO C has no conversion from an object pointer to a function pointer. */
static bool look_up(void *lib, const char *name, void *fn)
{
	void *p = dlsym(lib, name);

	memcpy(fn, &p, sizeof p);
	return p != NULL;
}

void *run_emu_function(const char *name)
{
	const char *path = run_path(RUN_EMU);
	void *lib = path ? dlopen(path, RTLD_NOW) : NULL;

	return lib ? dlsym(lib, name) : NULL;
}

bool run_driver_load(struct run_driver *d, bool emu)
{
	const char *path = emu ? run_path(RUN_EMU) : "libcuda.so.1";
	void *lib;

	if (!path) {
		fputs("gsan-run: the emulated device (emu/libcuda.so.1) is not where it was built"
		      " nor where it is installed\n", stderr);
		return false;
	}
	lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!lib) {
		fprintf(stderr, "gsan-run: %s\n", dlerror());
		return false;
	}
#define X(name) \
	if (!look_up(lib, #name, &d->name)) { \
		fprintf(stderr, "gsan-run: %s has no %s\n", path, #name); \
		return false; \
	}
	DRIVER_CALLS(X)
#undef X
	look_up(lib, "cuCtxCreate_v2", &d->cuCtxCreate_v2);
#define X(name) look_up(lib, #name, &d->name);
	DRIVER_EXTRAS(X)
#undef X
	return true;
}
