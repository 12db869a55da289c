/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the real tool is told.  nvcc runs cicc (which writes PTX) and ptxas
 * (which reads it) behind prefixes of our choice, so `gsan-ptx --wrap` stands
 * in front of both: what cicc wrote is rewritten in place, so that the machine
 * code and the PTX that is embedded beside it agree, and PTX that did not come
 * from cicc is rewritten on its way into ptxas.  gsan-ptx lets its own output
 * pass, so nothing is instrumented twice.
 */
#include "nvcc-shim/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The word as /bin/sh reads it back, which is who nvcc hands a prefix to.
 */
char *
shim_quote(const char *word)
{
	const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_@%+=:,./-";
	size_t n = 0;
	char *out;

	if (*word && word[strspn(word, plain)] == '\0')
		return shim_format("%s", word);
	for (const char *p = word; *p; p++)
		n += *p == '\'' ? 4 : 1;
	out = shim_format("%*s", (int)n + 2, "");
	n = 0;
	out[n++] = '\'';
	for (const char *p = word; *p; p++) {
		if (*p == '\'') {
			memcpy(out + n, "'\\''", 4);
			n += 4;
		} else {
			out[n++] = *p;
		}
	}
	out[n++] = '\'';
	out[n] = '\0';
	return out;
}

static bool
links(const struct shim_args *a)
{
	return !a->compile_only && !a->otherlink && a->ninputs > 0;
}

/* A library keeps the hooks to itself; the file lies beside the archive. */
static void
add_hide(struct strv *plan, const struct shim_tools *t)
{
	char *file = shim_format("%s/gsan-hide.o", t->libdir);

	strv_add(plan, file);
	free(file);
}

bool
shim_how(struct strv *how, const char *word)
{
	bool ours = strcmp(word, "--gsan-stored") == 0 ||
	    strncmp(word, "--gsan-perturb=", strlen("--gsan-perturb=")) == 0;
	char *option;

	if (ours) {
		option = shim_format("--%s", word + strlen("--gsan-"));
		strv_add(how, option);
		free(option);
	}
	return ours;
}

/* What stands in front of a phase, as /bin/sh reads it. */
static char *
wrapper(const char *ptx, const struct strv *how)
{
	char *words = shim_quote(ptx), *more;

	for (size_t i = 0; i <= how->n; i++) {
		char *quoted = shim_quote(i < how->n ? how->v[i] : "--wrap");

		more = shim_format("%s %s", words, quoted);
		free(quoted);
		free(words);
		words = more;
	}
	return words;
}

void
shim_plan_nvcc(struct strv *plan, const struct shim_args *a,
    const struct shim_tools *t)
{
	char *prefix;

	strv_add(plan, t->real);
	for (size_t i = 0; i < a->out.n; i++)
		strv_add(plan, a->out.v[i]);
	if (a->gsan_keep && !a->cut) {
		strv_add(plan, "--keep");
		if (a->gsan_keep_dir) {
			strv_add(plan, "--keep-dir");
			strv_add(plan, a->gsan_keep_dir);
		}
	}
	if (a->cut || a->info || a->preprocess || a->noptx || a->ninputs == 0 || !t->ptx)
		return;

	prefix = wrapper(t->ptx, &a->how);
	strv_add(plan, "--cicc-prefix");
	strv_add(plan, prefix);
	strv_add(plan, "--ptxas-prefix");
	strv_add(plan, prefix);
	free(prefix);

	/*
	 * Host objects of instrumented code refer to the runtime: whoever links
	 * them without it is told so by the linker.  CMake, which links with the
	 * C++ compiler, learns from the link line of its first trial what a CUDA
	 * program needs: only -L and -l, so the archive is named that way.  A
	 * shared library gets the runtime like a program: of several in one process
	 * one works.
	 */
	strv_add(plan, "-include");
	strv_add(plan, t->link);
	if (links(a)) {
		if (a->shared)
			add_hide(plan, t);
		strv_add(plan, "-Xlinker");
		strv_add(plan, "-u");
		strv_add(plan, "-Xlinker");
		strv_add(plan, SHIM_RUNTIME);
		strv_add(plan, "-L");
		strv_add(plan, t->libdir);
		strv_add(plan, "-lgsan");
		strv_add(plan, "-ldl");
		strv_add(plan, "-lpthread");
	}
}

static bool
is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/*
 * ptxas's own command line.  Its options files are opened up, because gsan-ptx
 * looks for the .ptx among the words that it is given.
 */
void
shim_plan_ptxas(struct strv *plan, int argc, char *const *argv,
    const struct strv *how, const struct shim_tools *t)
{
	static const char *const info[] = {
		"--help", "-h", "--version", "-V", "--list-version",
		"-version-ls", NULL
	};
	struct strv words = { 0 };
	bool prints = argc == 0;

	shim_ptxas_words(&words, argc, argv);
	for (size_t i = 0; i < words.n; i++)
		prints |= is_one_of(words.v[i], info);
	if (!prints && t->ptx) {
		strv_add(plan, t->ptx);
		for (size_t i = 0; i < how->n; i++)
			strv_add(plan, how->v[i]);
		strv_add(plan, "--wrap");
	}
	strv_add(plan, t->real);
	for (size_t i = 0; i < words.n; i++)
		strv_add(plan, words.v[i]);
	strv_free(&words);
}
