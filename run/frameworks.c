/* SPDX-License-Identifier: Apache-2.0
 *
 * frameworks.c: what Triton, PyTorch, CuPy and Numba read from the environment, set where the user has not: Triton's assembler
 * is gsan-ptxas, and PyTorch's compiler of extensions gsan-nvcc, since what they make holds no PTX; and what they keep compiled
 * from run to run is kept apart, since they would not compile again what they have from runs without gsan.
 */
#include "run/run.h"
#include "config.h"

#include <limits.h>
#include <stdlib.h>

/* Folders in gsan's own (rt/cache.c), by its version: what is kept has its probes. */
static const struct { const char *variable, *folder; } kept[] = {
	{"TRITON_CACHE_DIR", "triton"},
	{"TORCH_EXTENSIONS_DIR", "extensions"},
	{"TORCHINDUCTOR_CACHE_DIR", "inductor"},
	{"CUPY_CACHE_DIR", "cupy"},
	{"NUMBA_CACHE_DIR", "numba"},
};

static void set_kept(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const bool own = xdg && *xdg == '/';
	char path[PATH_MAX];

	if (!own && (!home || *home != '/'))
		return;
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		snprintf(path, sizeof path, "%s%s/gsan/%s-%s", own ? xdg : home, own ? "" : "/.cache", kept[i].folder, PACKAGE_VERSION);
		setenv(kept[i].variable, path, 0);
	}
}

void run_set_frameworks(bool emu)
{
	const char *ptxas = run_path(RUN_PTXAS), *nvcc = run_path(RUN_NVCC);

	set_kept();
	/* The emulated device does not run machine code. */
	if (!ptxas || !nvcc || emu)
		return;
	setenv("TRITON_PTXAS_PATH", ptxas, 0);
	setenv("TRITON_PTXAS_BLACKWELL_PATH", ptxas, 0);
	setenv("PYTORCH_NVCC", nvcc, 0);
}
