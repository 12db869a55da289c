/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * gsan-nvcc and gsan-ptxas: what their files share.  Both read a command line
 * (args.c), decide how it must change so that the PTX in the middle is
 * rewritten (plan.c), and become the real tool (run.c).  Nothing here knows
 * PTX: gsan-ptx is run as a program.  Argument vectors are never strings.
 */
#ifndef GSAN_SHIM_H
#define GSAN_SHIM_H

#include <stdbool.h>
#include <stddef.h>

enum { SHIM_FAILED = 120 };	/* our own failures; no compiler uses it */

/* ---- args.c */

enum opt_value { OPT_NONE, OPT_VALUE, OPT_GLUE };

enum opt_effect {
	EFF_PLAIN, EFF_COMPILE, EFF_PREPROCESS, EFF_INFO, EFF_QUIET,
	EFF_OTHERLINK, EFF_SHARED, EFF_CUDART, EFF_LTO, EFF_ARCH, EFF_NOPTX, EFF_REFUSE,
	EFF_OPTFILE, EFF_LANGUAGE,
};

struct shim_opt {
	const char *longname;
	const char *shortname;		/* "" where there is none */
	enum opt_value value;
	enum opt_effect effect;
};

extern const struct shim_opt shim_opts[];
extern const size_t shim_nopts;

/* A growing list of strings, NULL-terminated so that it serves as an argv. */
struct strv {
	char **v;
	size_t n, cap;
};

struct shim_args {
	struct strv out;		/* the words for the real tool */
	size_t ninputs;			/* words that are no options */
	struct strv machine;		/* inputs that hold machine code already */
	bool compile_only, preprocess, info, quiet, otherlink, shared;
	bool cudart_apart;		/* the CUDA runtime stays a library */
	bool cut;			/* the last word lacks its value, and nothing may follow */
	bool lto;			/* link-time optimisation was asked for */
	const char *noptx;		/* long name of what leaves no PTX, or NULL */
	const char *refused;		/* long name of what we cannot do, or NULL */
	char *error;			/* an options file cannot be read: why */

	/* --gsan-*; the words themselves are in `held` */
	struct strv held;
	struct strv how;		/* options for gsan-ptx */
	bool gsan_help, gsan_version, gsan_show, gsan_keep, gsan_verbose;
	bool print_runtime, print_libs;
	const char *gsan_keep_dir;	/* NULL: the current folder */
	const char *gsan_unknown;
};

void shim_parse(struct shim_args *a, int argc, char *const *argv);
void shim_parse_env(struct shim_args *a, const char *flags);
void shim_ptxas_words(struct strv *out, int argc, char *const *argv);
void shim_args_free(struct shim_args *a);
void strv_add(struct strv *s, const char *word);
void strv_free(struct strv *s);
char *shim_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- plan.c */

struct shim_tools {
	char *real;			/* the nvcc or ptxas to become */
	char *ptx;			/* gsan-ptx */
	char *libdir;			/* the folder that holds libgsan.a alone */
	char *link;			/* the header that refers to the runtime */
	char *shared;			/* libgsan.so */
};

/* What is missing where a program of ours is linked without the runtime. */
#define SHIM_RUNTIME "__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan"

void shim_plan_nvcc(struct strv *plan, const struct shim_args *a,
    const struct shim_tools *t);
/* --gsan-stored or --gsan-perturb=SEED: adds what gsan-ptx calls it; false: another word. */
bool shim_how(struct strv *how, const char *word);
void shim_plan_ptxas(struct strv *plan, int argc, char *const *argv, const struct strv *how,
    const struct shim_tools *t);
char *shim_quote(const char *word);

/* ---- run.c */

void shim_find_parts(struct shim_tools *t);
bool shim_find_tools(struct shim_tools *t, const char *tool,
    const char *variable, const char *configured);
void shim_tools_free(struct shim_tools *t);
void shim_share_originals(void);
int shim_become(const struct strv *plan, bool show);
bool shim_strict(void);
void shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

extern const char *shim_name;		/* in front of every message */

#endif
