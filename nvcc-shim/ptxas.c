/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * gsan-ptxas: ptxas's command line, with the PTX rewritten before ptxas reads
 * it.  For tools that make PTX themselves and call a ptxas of one's choice.
 * The program that loads the result needs the runtime: gsan-run gives it.
 */
#include "nvcc-shim/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

static void
help(void)
{
	fputs(
	    "usage: gsan-ptxas PTXAS-ARGUMENT...\n"
	    "ptxas, but the code that it assembles reports its data races\n"
	    "\n"
	    "  --gsan-help       this text (--help is ptxas's own)\n"
	    "  --gsan-version    gsan's version (--version is ptxas's own)\n"
	    "  --gsan-show       print the command before it runs\n"
	    "  --gsan-verbose    show all that ptxas says of instrumented code\n"
	    "  --gsan-stored     log what is stored, which same_value=ignore asks for\n"
	    "  --gsan-perturb=SEED\n"
	    "                    hold warps up by chance around synchronisation\n"
	    "\n"
	    "environment:\n"
	    "  GSAN_PTXAS        the ptxas to run\n"
	    "  GSAN_NVCC_STRICT  1: fail rather than leave something uninstrumented\n"
	    "  GSAN_HOME         the folder of gsan-ptx\n",
	    stdout);
}

int
main(int argc, char **argv)
{
	struct shim_tools t = { 0 };
	struct strv rest = { 0 }, plan = { 0 }, how = { 0 };
	bool show = false, ok = true;
	int status = SHIM_FAILED;

	shim_name = "gsan-ptxas";
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--gsan-help") == 0) {
			help();
			return 0;
		} else if (strcmp(argv[i], "--gsan-version") == 0) {
			puts("gsan-ptxas (gsan) " PACKAGE_VERSION);
			return 0;
		} else if (strcmp(argv[i], "--gsan-show") == 0) {
			show = true;
		} else if (strcmp(argv[i], "--gsan-verbose") == 0) {
			setenv("GSAN_VERBOSE", "1", 1);
		} else if (shim_how(&how, argv[i])) {
			;       /* gsan-ptx's */
		} else if (strncmp(argv[i], "--gsan-", 7) == 0) {
			shim_say("%s: no such option; try --gsan-help", argv[i]);
			return SHIM_FAILED;
		} else {
			strv_add(&rest, argv[i]);
		}
	}
	if (!shim_find_tools(&t, "ptxas", "GSAN_PTXAS", PTXAS))
		return SHIM_FAILED;
	if (!t.ptx) {
		shim_say("gsan-ptx cannot be found, nothing is instrumented; set GSAN_HOME");
		ok = !shim_strict();
	}
	for (size_t i = 0; i < rest.n; i++) {
		if (strcmp(rest.v[i], "--input-as-string") != 0 &&
		    strcmp(rest.v[i], "-ias") != 0)
			continue;
		shim_say("%s: not instrumented: the PTX is not in a file", rest.v[i]);
		ok &= !shim_strict();
	}
	if (ok) {
		shim_plan_ptxas(&plan, (int)rest.n, rest.v, &how, &t);
		status = shim_become(&plan, show);
	}
	strv_free(&plan);
	strv_free(&rest);
	strv_free(&how);
	shim_tools_free(&t);
	return status;
}
