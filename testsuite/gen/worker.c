/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.c: runs programs.  Instrumenting and loading the device runtime costs more
 * than a small kernel does, so many programs go into one module and one process; a
 * process that a program brought down is followed by another, which goes on behind
 * that program.
 *
 * gsan names a pair of lines once in a process.  Its table of pairs is emptied
 * before every launch, so that every launch shows all that it has.
 */
#include "testsuite/gen/worker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewrite/rewrite.h"
#include "rt/abi.h"
#include "rt/gsan.h"

/* Before the first result there is a module to load, which on a GPU that many share at
 * once has taken two minutes. */
enum { PATIENCE_MS = 120000, START_MS = 300000, KEPT = 256 << 20 };

const char *soak_emu;
bool soak_loud, soak_contents;

_Noreturn void give_up(const char *what)
{
	fprintf(stderr, "soak: %s\n", what);
	_exit(3);
}

/* ---- a driver ------------------------------------------------------------------------ */

void worker_find(void *lib, const char *name, void *fn)
{
	void *p = dlsym(lib, name);

	if (!p)
		give_up(name);
	memcpy(fn, &p, sizeof p);
}

/* What programs of the asynchronous world have beside their memory. */
static void map_of(struct worker *w)
{
	const cuuint64_t dims[] = {GEN_MAP_ROW, GEN_GLOBAL / GEN_MAP_ROW / 4}, strides[] = {GEN_MAP_ROW * 4};
	const cuuint32_t box[] = {GEN_MAP_WIDE, GEN_MAP_HIGH}, steps[] = {1, 1};
	uint32_t words[GEN_SOURCE / 4];

	for (uint32_t i = 0; i < GEN_SOURCE / 4; i++)
		words[i] = i;
	if (w->cuMemcpyHtoD_v2(w->source, words, sizeof words))
		give_up("no copy");
	if (w->cuTensorMapEncodeTiled(&w->map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, (void *)(uintptr_t)w->data, dims,
				      strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
				      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
				      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
		give_up("no tensor map");
}

void *worker_start(struct worker *w, const char *driver)
{
	CUcontext ctx;
	CUdevice device;
	void *lib;

	/* Memory that one run gives back serves the next one, without a way through the kernel. */
	mallopt(M_MMAP_THRESHOLD, KEPT);
	mallopt(M_TRIM_THRESHOLD, KEPT);
	if (gsan_use_driver(driver))
		give_up("the driver cannot be loaded");
	lib = dlopen(driver, RTLD_NOW | RTLD_GLOBAL);
	if (!lib)
		give_up(dlerror());
#define X(name) worker_find(lib, #name, &w->name);
	CALLS(X)
#undef X
	if (w->cuInit(0) || w->cuDeviceGet(&device, 0) ||
	    w->cuDevicePrimaryCtxRetain(&ctx, device) || w->cuCtxSetCurrent(ctx))
		give_up("no device");
	if (w->cuMemAlloc_v2(&w->data, CONTENTS_BYTES) || w->cuMemAlloc_v2(&w->source, GEN_SOURCE))
		give_up("no memory");
	map_of(w);
	return lib;
}

struct ptx_buf worker_text(const struct gen_prog *p, unsigned n, unsigned *first)
{
	struct ptx_buf b = {0};
	unsigned line = 0;
	size_t at = 0;
	char name[16];

	ptx_puts(&b, gen_header);
	for (unsigned i = 0; i < n; i++) {
		for (; at < b.len; at++)
			line += b.p[at] == '\n';
		if (first)
			first[i] = line;
		snprintf(name, sizeof name, "k%u", i);
		gen_print(&b, &p[i], name);
	}
	ptx_put(&b, "", 1);
	return b;
}

CUmodule worker_load(struct worker *w, const struct ptx_buf *b, bool instrument)
{
	struct gsan_rewrite_options options = {0};
	char *text = NULL;
	CUmodule m;
	size_t len;

	if (instrument) {
		text = gsan_rewrite("soak.ptx", b->p, b->len - 1, &options, NULL, &len, NULL, NULL);
		if (!text)
			give_up("a program cannot be rewritten");
	}
	if (w->cuModuleLoadDataEx(&m, text ? text : b->p, 0, NULL, NULL))
		give_up("a program cannot be loaded");
	free(text);
	return m;
}

bool worker_launch(struct worker *w, CUmodule m, const struct gen_prog *p, unsigned i)
{
	void *params[] = {&w->data, &w->source, &w->map};
	char name[16];
	CUfunction f;

	snprintf(name, sizeof name, "k%u", i);
	if (w->cuModuleGetFunction(&f, m, name) ||
	    w->cuMemsetD8_v2(w->data, 0, CONTENTS_BYTES) || w->cuCtxSynchronize())
		give_up("a program cannot be started");
	if (w->cuLaunchKernel(f, p->blocks, 1, 1, p->threads, 1, 1, 0, NULL, params, NULL))
		give_up("a program cannot be launched");
	return w->cuCtxSynchronize() == CUDA_SUCCESS;
}

static void load(struct worker *w, const struct gen_prog *p, unsigned n)
{
	void *lib = worker_start(w, soak_emu);
	struct ptx_buf b = worker_text(p, n, w->first);

	worker_find(lib, "emu_set_seed", &w->emu_set_seed);
	worker_find(lib, "emu_set_stepwise", &w->emu_set_stepwise);
	worker_find(lib, "emu_oracle", &w->oracle);
	worker_find(lib, "emu_oracle_forget", &w->forget);
	worker_find(lib, "emu_oracle_findings", &w->findings);
	worker_find(lib, "emu_oracle_judge", &w->judge);
	contents_load(w, p, n, NULL);   /* not watched by the oracle, which is off yet */
	if (w->oracle(b.p, b.len - 1))
		give_up("the oracle cannot read a program");
	w->module = worker_load(w, &b, true);
	free(b.p);
}

/* ---- one run ------------------------------------------------------------------------- */

/* Device memory of the emulated device is memory of this process. */
static struct gsan_root *root(void)
{
	return (struct gsan_root *)(uintptr_t)GSAN_ROOT;
}

void worker_reconverge(bool on)
{
	struct gsan_root *r = (struct gsan_root *)(uintptr_t)GSAN_ROOT;

	r->options = on ? r->options & ~GSAN_OPT_APART : r->options | GSAN_OPT_APART;
}

#define BIT(cause) (1u << (cause))

/* The counters that went up, as bits. */
static uint32_t counted(const uint64_t *before)
{
	uint32_t set = 0;

	for (unsigned i = 0; i < GSAN_COUNTER_COUNT; i++)
		if (root()->counters[i] != before[i])
			set |= BIT(i);
	return set;
}

/* What a thread knows was rounded: that also makes a scope race of a data race. */
enum { ROUNDED = BIT(GSAN_COUNT_MERGED) | BIT(GSAN_COUNT_SNAP_LOST) | BIT(GSAN_COUNT_OBSERVED) };
/* What is lost of the records in shadow memory: the use of a block's shared memory outside of
 * its life is not found by those. */
enum {
	RECORDS = BIT(GSAN_COUNT_EVICTED) | BIT(GSAN_COUNT_UNBACKED) | BIT(GSAN_COUNT_OBSERVED) |
		  BIT(GSAN_COUNT_HISTORY_LOST)
};

struct verdict {
	struct run_result *r;
	uint32_t causes;                /* bits, as in run_result.cause */
	const struct emu_oracle_pair *said;     /* gsan's findings */
	size_t n;
};

static bool of_proxies(const char *kind)
{
	return !strcmp(kind, "proxy-race") || !strcmp(kind, "proxy-fence-order");
}

/* A barrier makes records of no account that a later copy may lack a fence behind: did gsan
 * tell of that access's missing fence with another copy?  The access comes first in the pair. */
static bool told_of_fence(const struct verdict *v, const struct emu_oracle_pair *p)
{
	for (size_t i = 0; of_proxies(p->kind) && i < v->n; i++)
		if (of_proxies(v->said[i].kind) &&
		    (v->said[i].line[0] == p->line[0] || v->said[i].line[1] == p->line[0]))
			return true;
	return false;
}

/* Can it be for what was counted that gsan lacks this race?  Then that is noted. */
static bool caused(const struct verdict *v, const struct emu_oracle_pair *p)
{
	uint32_t set = v->causes;

	if (!strcmp(p->kind, "lifetime"))
		set &= ~RECORDS;
	/* What threads did to mbarriers is none of an operation's. */
	if (!strcmp(p->kind, "mbarrier-misuse"))
		set &= ~BIT(GSAN_COUNT_RELAXED_WAIT);
	if (!set)
		return false;
	for (unsigned i = 0; i < CAUSES; i++) {
		v->r->cause[i] += set >> i & 1;
		v->r->alone[i] += set == BIT(i);
	}
	v->r->missed++;
	return true;
}

static void tell(void *arg, enum emu_oracle_word word, const struct emu_oracle_pair *p)
{
	static const char *const words[] = {
		[ORACLE_NO_RACE] = "gsan reports what is no race",
		[ORACLE_OTHER_KIND] = "gsan gives another kind to a race",
		[ORACLE_LACKS] = "gsan lacks a race"
	};
	struct verdict *v = arg;

	if (word == ORACLE_LACKS && caused(v, p))
		return;
	/* gsan judges an access before it is carried out: a fault may come between. */
	if ((word == ORACLE_OTHER_KIND && (v->causes & (ROUNDED | BIT(CAUSE_FAULT)))) ||
	    (word == ORACLE_NO_RACE && v->r->fault) || (word == ORACLE_LACKS && told_of_fence(v, p))) {
		v->r->excused++;
		return;
	}
	if (!bad_of(v->r))
		snprintf(v->r->text, sizeof v->r->text, "%s: %s at lines %u and %u", words[word],
			 p->kind, p->line[0], p->line[1]);
	v->r->bad[word]++;
}

static void compare(struct worker *w, unsigned first, struct run_result *r, const uint64_t *before)
{
	size_t n = gsan_findings(), all = w->findings(NULL, 0);
	struct emu_oracle_pair *pairs = calloc(n - w->seen + 1, sizeof *pairs);
	struct emu_oracle_finding *f = calloc(all + 1, sizeof *f);
	/* What warps counted that never ended is lost. */
	struct verdict v = {r, counted(before) | (r->fault ? BIT(CAUSE_FAULT) : 0), pairs, n - w->seen};
	struct gsan_report g;

	if (!pairs || !f)
		give_up("out of memory");
	for (size_t i = w->seen; i < n; i++) {
		if (gsan_finding(i, &g))
			give_up("a finding that is not there");
		pairs[i - w->seen] = (struct emu_oracle_pair){
			g.kind, {g.now.ptx_line, g.before.ptx_line}
		};
	}
	w->findings(f, all);
	r->races = (uint32_t)all;
	for (size_t i = 0; i < all; i++)
		r->certain += f[i].certain != 0;
	r->findings = (uint32_t)(n - w->seen);
	for (size_t i = 0; i < all && r->npairs < PAIRS_MAX; i++, r->npairs++)
		for (unsigned k = 0; k < 2; k++)
			r->pair[r->npairs][k] = f[i].pair.line[k] - first;
	w->judge(pairs, n - w->seen, tell, &v);
	w->seen = n;
	free(pairs);
	free(f);
}

static void one(struct worker *w, const struct gen_prog *p, unsigned i, unsigned schedule,
		struct run_result *r)
{
	uint64_t before[GSAN_COUNTER_COUNT], seed = p->seed * SCHEDULES_MAX;

	for (unsigned k = 0; k < GSAN_COUNTER_COUNT; k++)
		before[k] = root()->counters[k];
	w->forget();
	memset((void *)(uintptr_t)root()->dedup, 0, root()->ndedup * sizeof(struct gsan_dedup));
	w->emu_set_seed(schedule ? seed + schedule : 0);
	r->fault = !worker_launch(w, w->module, p, i);
	compare(w, w->first[i], r, before);
	/* Once for each program, and every way to give turns comes up. */
	/* When the warps of a warpgroup come to a product is no step (emu/stepwise.c), and their
	 * copies land at other moments. */
	if (!r->fault && !(p->seed >= GEN_PRODUCTS && p->seed < GEN_ROWS) && (soak_contents || schedule % 3 == p->seed % 3)) {
		contents_compare(w, p, i, contents_seed(p, schedule), r);
		w->seen = gsan_findings();
	}
	r->done = true;
}

/* ---- processes ----------------------------------------------------------------------------- */

struct msg { uint32_t at; struct run_result r; };

void worker_send(int fd, unsigned at, const struct run_result *r)
{
	struct msg m = {.at = at, .r = *r};

	if (write(fd, &m, sizeof m) != sizeof m)
		_exit(3);
}

static void detectors(const struct job *j, int fd, unsigned done)
{
	struct worker w = {0};

	load(&w, j->p, j->n);
	for (unsigned k = done; k < j->n * j->schedules; k++) {
		unsigned i = k / j->schedules;
		struct run_result r = {0};

		one(&w, &j->p[i], i, j->first + k % j->schedules, &r);
		worker_send(fd, k, &r);
		if (r.fault)            /* the context is lost */
			break;
	}
}

static _Noreturn void child(const struct job *j, int fd, unsigned done)
{
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Its parent says when it ends. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	if (!soak_loud)
		dup2(null, 2);
	setenv("GSAN_OPTIONS", "log_path=/dev/null:report_limit=1:symbolize=0:"
	       "suppress_equal_stacks=0:quiet=1:exitcode=0", 1);
	setenv("EMU_SM", "90", 1);
	j->child(j, fd, done);
	_exit(0);
}

/* Runs what is not done yet until the process ends; returns how far it came. */
static unsigned process(const struct job *j, unsigned done, struct run_result *out)
{
	unsigned start = done, all = j->n * j->schedules;
	struct pollfd q = {.events = POLLIN};
	struct msg m;
	int fd[2], status;
	bool hung = false;
	pid_t pid;

	if (pipe(fd))
		give_up("no pipe");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		give_up("no process");
	if (!pid) {
		close(fd[0]);
		child(j, fd[1], done);
	}
	close(fd[1]);
	q.fd = fd[0];
	while (!(hung = poll(&q, 1, done == start ? START_MS : j->patience) == 0) &&
	       read(fd[0], &m, sizeof m) == sizeof m) {
		out[m.at] = m.r;
		done = m.at + 1;
	}
	close(fd[0]);
	if (hung)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (done < all && (hung || WIFSIGNALED(status))) {
		out[done] = (struct run_result){.hung = true};
		if (hung)
			snprintf(out[done].text, sizeof out[done].text, "not done after %d seconds",
				 (done == start ? START_MS : j->patience) / 1000);
		else
			snprintf(out[done].text, sizeof out[done].text, "ended by signal %d",
				 WTERMSIG(status));
		done++;
	} else if (done < all && (WEXITSTATUS(status) || done == start)) {
		give_up("a worker failed; --loud says why");
	}
	return done;
}

void worker_job(const struct job *j, struct run_result *out)
{
	unsigned done = 0;

	while (done < j->n * j->schedules)
		done = process(j, done, out);
}

void run_all(const struct gen_prog *p, unsigned nprogs, unsigned first, unsigned n,
	     struct run_result *out)
{
	for (unsigned i = 0; i < nprogs; i += BATCH) {
		struct job j = {
			.child = soak_events ? events_child : detectors, .p = p + i, .n = nprogs - i < BATCH ? nprogs - i : BATCH,
			.first = first, .schedules = n, .patience = PATIENCE_MS
		};

		worker_job(&j, out + i * n);
	}
}
