/* SPDX-License-Identifier: Apache-2.0
 *
 * samemem.c: runs every kernel of a PTX file on the emulated device, as it is and
 * instrumented, in the same order of steps (emu/stepwise.c), in an order of each kind,
 * and holds what they leave in memory against each other.
 *
 *     samemem EMULATED-DEVICE FILE.ptx [N [KERNEL]...]
 *
 * Arguments of 8 bytes are addresses of memory with small numbers in it, all others
 * are N (default 16) in every word; kernels with one of the KERNELs in their name are
 * left out, and so is, with the reason, what does not run as it is.  Status 1 if any
 * memory differs.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

#include "ptxparse/ptx.h"
#include "rewrite/rewrite.h"
#include "rt/gsan.h"

enum {
	BUFFER = 1 << 18, MAX_PARAMS = 32, PARAM_WORDS = 1024, SMEM = 16384,
	SECONDS = 20,           /* of a processor, for one kernel */
	PATIENCE = 120,         /* in all: others may need the processor */
	SEEDS = 4,              /* orders of each kind, by the seed */
	SAME = 0, DIFFERS = 1, NOT_RUN = 2, BROKEN = 3
};

static struct {
	CUresult (*init)(unsigned);
	CUresult (*retain)(CUcontext *, CUdevice);
	CUresult (*set)(CUcontext);
	CUresult (*sync)(void);
	CUresult (*load)(CUmodule *, const void *, unsigned, CUjit_option *, void **);
	CUresult (*function)(CUfunction *, CUmodule, const char *);
	CUresult (*global)(CUdeviceptr *, size_t *, CUmodule, const char *);
	CUresult (*alloc)(CUdeviceptr *, size_t);
	CUresult (*put)(CUdeviceptr, const void *, size_t);
	CUresult (*get)(void *, CUdeviceptr, size_t);
	CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			   unsigned, CUstream, void **, void **);
	void (*seed)(unsigned long long);
	void (*stepwise)(int);
} cu;

static _Noreturn void broken(const char *what)
{
	fprintf(stderr, "samemem: %s\n", what);
	_exit(BROKEN);
}

static void *check(void *p)
{
	if (!p)
		broken("out of memory");
	return p;
}

static void start(const char *driver)
{
	static const struct { const char *name; void *at; } functions[] = {
		{"cuInit", &cu.init}, {"cuDevicePrimaryCtxRetain", &cu.retain},
		{"cuCtxSetCurrent", &cu.set}, {"cuCtxSynchronize", &cu.sync},
		{"cuModuleLoadDataEx", &cu.load}, {"cuModuleGetFunction", &cu.function},
		{"cuModuleGetGlobal_v2", &cu.global}, {"cuMemAlloc_v2", &cu.alloc},
		{"cuMemcpyHtoD_v2", &cu.put}, {"cuMemcpyDtoH_v2", &cu.get},
		{"cuLaunchKernel", &cu.launch}, {"emu_set_seed", &cu.seed},
		{"emu_set_stepwise", &cu.stepwise}
	};
	CUcontext ctx;
	void *lib;

	if (gsan_use_driver(driver) || !(lib = dlopen(driver, RTLD_NOW)))
		broken("no emulated device");
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *p = dlsym(lib, functions[i].name);

		if (!p)
			broken(functions[i].name);
		memcpy(functions[i].at, &p, sizeof p);
	}
	if (cu.init(0) || cu.retain(&ctx, 0) || cu.set(ctx))
		broken("no device");
	cu.stepwise(1);
}

/* ---- memory ------------------------------------------------------------------------- */

struct memory { unsigned char *p; size_t bytes; };

static void add(struct memory *m, CUdeviceptr at, size_t bytes)
{
	m->p = check(realloc(m->p, m->bytes + bytes));
	if (cu.get(m->p + m->bytes, at, bytes))
		broken("no copy");
	m->bytes += bytes;
}

/* Variables of the module whose first values are no addresses: those would differ. */
static void add_globals(struct memory *m, CUmodule module, const struct ptx_module *ptx)
{
	for (unsigned i = 0; i < ptx->nglobals; i++) {
		const struct ptx_sym *s = ptx->globals[i];
		const struct ptx_init *init;
		CUdeviceptr at;
		size_t bytes;

		if (s->kind != SYM_VAR || s->space != SPACE_GLOBAL)
			continue;
		for (init = s->var->inits; init && !init->sym; init = init->next)
			;
		if (!init && !cu.global(&at, &bytes, module, s->name))
			add(m, at, bytes);
	}
}

/* ---- one kernel ----------------------------------------------------------------------- */

static void fill(CUdeviceptr buffers, unsigned n)
{
	uint32_t *words = check(malloc((size_t)n * BUFFER));

	for (size_t i = 0; i < (size_t)n * BUFFER / 4; i++)
		words[i] = (uint32_t)i * 2654435761u >> 28;
	if (cu.put(buffers, words, (size_t)n * BUFFER))
		broken("no copy");
	free(words);
}

/* n buffers; what other arguments are. */
struct args { CUdeviceptr buffers; unsigned n; uint32_t number; };

static bool launch(CUmodule module, const struct ptx_func *f, struct args args, unsigned seed)
{
	static uint64_t value[MAX_PARAMS][PARAM_WORDS / 2];
	const unsigned *need = f->reqntid[0] ? f->reqntid : NULL;
	const unsigned *cluster = f->cluster[0] ? f->cluster : NULL;
	unsigned threads = need ? need[0] : f->maxntid[0] && f->maxntid[0] < 64 ? f->maxntid[0] : 64;
	void *params[MAX_PARAMS];
	CUfunction fn;
	unsigned i = 0;

	if (cu.function(&fn, module, f->name))
		broken(f->name);
	fill(args.buffers, args.n);
	for (const struct ptx_var *p = f->params; p; p = p->next, i++) {
		params[i] = value[i];
		for (unsigned k = 0; k < PARAM_WORDS / 2; k++)
			value[i][k] = (uint64_t)args.number << 32 | args.number;
		if (p->sym->bytes == 8)
			value[i][0] = args.buffers + (uint64_t)i * BUFFER;
	}
	cu.seed(seed);
	return !cu.launch(fn, cluster ? 2 * cluster[0] : 2, cluster ? cluster[1] : 1,
			  cluster ? cluster[2] : 1, threads, need ? need[1] : 1, need ? need[2] : 1,
			  SMEM, NULL, params, NULL) && !cu.sync();
}

static CUmodule load(const char *text)
{
	CUmodule m;

	if (cu.load(&m, text, 0, NULL, NULL))
		_exit(NOT_RUN);
	return m;
}

/* What the kernel of a module, plain or instrumented, leaves in memory by that seed. */
static bool leaves(struct memory *m, CUmodule module, const struct ptx_module *ptx,
		   const struct ptx_func *f, struct args args, unsigned seed)
{
	m->bytes = 0;
	if (!launch(module, f, args, seed))
		return false;
	add(m, args.buffers, (size_t)args.n * BUFFER);
	add_globals(m, module, ptx);
	return true;
}

static _Noreturn void differs(const struct ptx_func *f, unsigned seed, const struct memory *want,
			      const struct memory *got)
{
	size_t at;

	for (at = 0; at < want->bytes && at < got->bytes && want->p[at] == got->p[at]; at++)
		;
	printf("%s, seed %u: instrumented, it leaves something else in byte %zu of argument %zu\n",
	       f->name, seed, at % BUFFER, at / BUFFER);
	fflush(stdout);
	_exit(DIFFERS);
}

static void kernel(const char *driver, const char *path, const struct ptx_buf *text,
		   const struct ptx_module *ptx, const struct ptx_func *f, uint32_t number)
{
	struct gsan_rewrite_options options = {.marks = true};
	struct args args = {.n = f->nparams ? f->nparams : 1, .number = number};
	struct memory want = {0}, got = {0};
	CUmodule plain, same;
	char *rewritten;
	size_t len;

	alarm(PATIENCE);
	setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL);
	start(driver);
	plain = load(text->p);
	rewritten = gsan_rewrite(path, text->p, text->len - 1, &options, NULL, &len, NULL, NULL);
	if (!rewritten)
		broken("it cannot be rewritten");
	same = load(rewritten);
	if (args.n > MAX_PARAMS || cu.alloc(&args.buffers, (size_t)args.n * BUFFER))
		broken("no memory");
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		/* By another order what takes any numbers for its input may end in a fault. */
		if (!leaves(&want, plain, ptx, f, args, seed))
			_exit(seed == 1 ? NOT_RUN : SAME);
		if (!leaves(&got, same, ptx, f, args, seed)) {
			printf("%s, seed %u: instrumented, it ends in a fault\n", f->name, seed);
			fflush(stdout);
			_exit(DIFFERS);
		}
		if (want.bytes != got.bytes || memcmp(want.p, got.p, want.bytes))
			differs(f, seed, &want, &got);
	}
	_exit(SAME);
}

/* ---- all of them ---------------------------------------------------------------------- */

static struct ptx_buf slurp(const char *path)
{
	struct ptx_buf b = {0};
	char part[65536];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		broken(strerror(errno));
	while ((n = fread(part, 1, sizeof part, f)))
		ptx_put(&b, part, n);
	fclose(f);
	ptx_put(&b, "", 1);
	return b;
}

/* The emulated device's own words on why it stopped. */
static const char *why(FILE *f)
{
	static char line[1024];
	char *p, *q;

	rewind(f);
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "emu: ", 5))
			continue;
		/* "kernel K, block B, thread T, FILE:LINE: what" */
		for (p = line; (q = strstr(p, ": ")); p = q + 2)
			if (!strncmp(q + 2, "not emulated: ", 14))
				return q + 2;
		return line + 5;
	}
	return "no word about it";
}

int main(int argc, char **argv)
{
	unsigned count[4] = {0};
	struct ptx_module *ptx;
	struct ptx_buf text;
	char sm[16];
	bool any = false;

	if (argc < 3)
		broken("samemem EMULATED-DEVICE FILE.ptx [N [KERNEL]...]");
	text = slurp(argv[2]);
	ptx = ptx_parse(argv[2], text.p, text.len - 1, NULL, NULL);
	if (!ptx)
		return BROKEN;
	snprintf(sm, sizeof sm, "%u", ptx->sm);
	setenv("EMU_SM", sm, 1);
	/* Races are not what is asked. */
	setenv("GSAN_OPTIONS", "log_path=/dev/null:exitcode=0", 1);
	for (unsigned i = 0; i < ptx->nglobals; i++) {
		const struct ptx_sym *s = ptx->globals[i];
		FILE *said;
		int status, k;
		pid_t pid;

		if (s->kind != SYM_FUNC || !s->func->entry || !s->func->has_body)
			continue;
		any = true;
		for (k = 4; k < argc && !strstr(s->name, argv[k]); k++)
			;
		if (k < argc)
			continue;
		said = check(tmpfile());
		fflush(NULL);
		pid = fork();
		if (pid < 0)
			broken(strerror(errno));
		if (!pid) {
			dup2(fileno(said), 2);
			signal(SIGALRM, SIG_DFL);
			signal(SIGPROF, SIG_DFL);
			kernel(argv[1], argv[2], &text, ptx, s->func,
			       argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 16);
		}
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF)) {
			printf("%s: not run: no end in %d seconds\n", s->name, SECONDS);
			status = NOT_RUN;
		} else if (WIFSIGNALED(status)) {
			printf("%s: ended by signal %d\n", s->name, WTERMSIG(status));
			status = BROKEN;
		} else {
			status = WEXITSTATUS(status);
			if (status >= NOT_RUN)
				printf("%s: not run: %s\n", s->name, why(said));
		}
		count[status < BROKEN ? status : BROKEN]++;
		fclose(said);
	}
	if (any)
		printf("%u kernels leave the same in memory, %u do not, %u were not run\n", count[SAME],
		       count[DIFFERS], count[NOT_RUN]);
	ptx_free(ptx);
	free(text.p);
	return count[BROKEN] ? BROKEN : count[DIFFERS] != 0;
}
