/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * gsan-nvcc: nvcc's command line, nvcc's output and exit status, instrumented
 * programs.  Whatever is left uninstrumented is said on stderr, except where
 * programs read nvcc's stderr (-v, -dryrun).
 */
#include "nvcc-shim/shim.h"

#include <stdio.h>
#include <stdlib.h>

#include "config.h"

static void
help(void)
{
	fputs(
	    "usage: gsan-nvcc [--gsan-OPTION]... NVCC-ARGUMENT...\n"
	    "nvcc, but the device code that it compiles reports its data races\n"
	    "\n"
	    "  --gsan-help       this text (--help is nvcc's own)\n"
	    "  --gsan-version    gsan's version (--version is nvcc's own)\n"
	    "  --gsan-show       print the nvcc command before it runs\n"
	    "  --gsan-verbose    show all that ptxas says of instrumented code\n"
	    "  --gsan-keep[=DIR] keep the intermediate files, the rewritten PTX\n"
	    "                    among them, here or in DIR\n"
	    "  --gsan-stored     log what is stored, which same_value=ignore asks for\n"
	    "  --gsan-perturb=SEED\n"
	    "                    hold warps up by chance around synchronisation\n"
	    "  --print-runtime   print where libgsan.so is, for LD_PRELOAD\n"
	    "  --print-libs      print what a linker other than gsan-nvcc needs\n"
	    "\n"
	    "environment:\n"
	    "  GSAN_NVCC         the nvcc to run\n"
	    "  GSAN_NVCC_STRICT  1: fail rather than leave something uninstrumented\n"
	    "  GSAN_HOME         the folder of gsan-ptx, libgsan.a and gsan-link.h\n",
	    stdout);
}

/* Something stays uninstrumented: said, or an error where that is asked for. */
static bool
tolerate(bool quiet, const char *what, const char *why)
{
	if (!quiet || shim_strict())
		shim_say("%s: not instrumented: %s", what, why);
	return !shim_strict();
}

static bool
acceptable(const struct shim_args *a, struct shim_tools *t)
{
	bool ok = true;

	if (a->refused) {
		shim_say("--%s cannot be had together with gsan", a->refused);
		return false;
	}
	if (a->info || a->preprocess || a->ninputs == 0)
		return true;
	if (a->lto && !a->quiet && !a->compile_only)    /* once, and not for every object */
		shim_say("link-time optimisation is left out: it goes past PTX");
	if (a->noptx) {
		char *what = shim_format("--%s", a->noptx);

		ok &= tolerate(a->quiet, what, "there is no PTX on its way");
		free(what);
	} else if (!t->ptx || !t->libdir || !t->link) {
		ok &= tolerate(a->quiet, !t->ptx ? "gsan-ptx" : !t->libdir ? "libgsan.a" :
		    "gsan-link.h", "this part of gsan cannot be found; set GSAN_HOME");
		free(t->ptx);
		t->ptx = NULL;
	}
	for (size_t i = 0; i < a->machine.n; i++)
		ok &= tolerate(a->quiet, a->machine.v[i], "it is machine code");
	if (a->shared && a->cudart_apart && !a->quiet)
		shim_say("this library is watched in programs linked with gsan-nvcc, or with "
		    "libgsan.so preloaded: its CUDA runtime is another library");
	return ok;
}

/* For command lines: quoted where a shell would split it. */
static int
print(const struct shim_args *a, const struct shim_tools *t)
{
	char *dir = t->libdir ? shim_quote(t->libdir) : NULL;
	bool ok = (!a->print_runtime || t->shared) && (!a->print_libs || dir);

	if (!ok)
		shim_say("%s cannot be found; set GSAN_HOME", t->shared ? "libgsan.a" : "libgsan.so");
	if (ok && a->print_runtime)
		puts(t->shared);
	if (ok && a->print_libs)
		printf("-Wl,-u," SHIM_RUNTIME " -L%s -lgsan -ldl -lpthread\n", dir);
	free(dir);
	return ok ? 0 : SHIM_FAILED;
}

int
main(int argc, char **argv)
{
	struct shim_args a = { 0 };
	struct shim_tools t = { 0 };
	struct strv plan = { 0 };
	int status = SHIM_FAILED;

	shim_parse(&a, argc - 1, argv + 1);
	shim_parse_env(&a, getenv("NVCC_PREPEND_FLAGS"));
	shim_parse_env(&a, getenv("NVCC_APPEND_FLAGS"));
	if (a.gsan_unknown) {
		shim_say("%s: no such option; try --gsan-help", a.gsan_unknown);
	} else if (a.gsan_help) {
		help();
		status = 0;
	} else if (a.gsan_version) {
		puts("gsan-nvcc (gsan) " PACKAGE_VERSION);
		status = 0;
	} else if (a.print_runtime || a.print_libs) {
		shim_find_parts(&t);    /* where programs run there need be no nvcc */
		status = print(&a, &t);
	} else if (!shim_find_tools(&t, "nvcc", "GSAN_NVCC", NVCC)) {
		;               /* it has been said */
	} else if (acceptable(&a, &t)) {
		shim_plan_nvcc(&plan, &a, &t);
		if (a.gsan_verbose)
			setenv("GSAN_VERBOSE", "1", 1);
		shim_share_originals();
		status = shim_become(&plan, a.gsan_show);
	}
	strv_free(&plan);
	shim_tools_free(&t);
	shim_args_free(&a);
	return status;
}
