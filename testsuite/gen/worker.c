/* SPDX-License-Identifier: Apache-2.0
 *
 * worker.c: runs programs.  Loading a driver costs more than a small kernel does, so
 * many programs go into one module and one process; a process that a program brought
 * down is followed by another, which goes on behind that program.
 *
 * gsan names a pair of sites once in a process.  Every schedule has a module, and so
 * sites, of its own: every launch shows all that it has.
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
#include "rt/gsan.h"
#include "rt/judge.h"

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

char *worker_instrument(const struct worker *w, const struct ptx_buf *b)
{
	struct gsan_rewrite_options options = {.marks = w->oracle != NULL};
	size_t len;
	char *text = gsan_rewrite("soak.ptx", b->p, b->len - 1, &options, NULL, &len, NULL, NULL);

	if (!text)
		give_up("a program cannot be rewritten");
	return text;
}

CUmodule worker_load(struct worker *w, const char *text)
{
	CUmodule m;

	if (w->cuModuleLoadDataEx(&m, text, 0, NULL, NULL))
		give_up("a program cannot be loaded");
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
	if (w->cuLaunchKernel(f, p->blocks, 1, 1, p->threads, 1, 1, p->dynamic, NULL, params, NULL))
		give_up("a program cannot be launched");
	return w->cuCtxSynchronize() == CUDA_SUCCESS;
}

static void load(struct worker *w, const struct job *j)
{
	void *lib = worker_start(w, soak_emu);
	struct ptx_buf b = worker_text(j->p, j->n, w->first);
	__typeof__(emu_source) *source;         /* hangs name its lines */
	char *text;

	worker_find(lib, "emu_set_seed", &w->emu_set_seed);
	worker_find(lib, "emu_set_stepwise", &w->emu_set_stepwise);
	worker_find(lib, "emu_source", &source);
	worker_find_oracle(w, lib);
	contents_load(w, j->p, j->n, NULL);   /* not watched by the oracle, which is off yet */
	if (w->oracle(b.p, b.len - 1) || source("soak.ptx", b.p, b.len - 1))
		give_up("the oracle cannot read a program");
	text = worker_instrument(w, &b);
	for (unsigned i = 0; i < j->schedules; i++)
		w->module[i] = worker_load(w, text);
	free(text);
	free(b.p);
}

/* ---- what was counted ---------------------------------------------------------------- */

void worker_count(uint64_t n[CAUSES])
{
	struct rt_totals t = {0};

	rt_context_count(&t);
	memset(n, 0, CAUSES * sizeof *n);
	for (unsigned i = 0; i < DETECT_COUNTERS; i++)
		n[i] = t.inexact[i].n;
	n[DETECT_CUT] = t.cut;
	n[CAUSE_LOST] = t.lost_logs + t.unwatched;
}

/* The counters that went up, as bits. */
static uint32_t counted(const uint64_t *before)
{
	uint64_t n[CAUSES];
	uint32_t set = 0;

	worker_count(n);
	for (unsigned i = 0; i < CAUSES; i++)
		set |= (uint32_t)(n[i] != before[i]) << i;
	return set;
}

/* ---- gsan and the oracle --------------------------------------------------------------- */

void worker_find_oracle(struct worker *w, void *lib)
{
	worker_find(lib, "emu_oracle", &w->oracle);
	worker_find(lib, "emu_oracle_forget", &w->forget);
	worker_find(lib, "emu_oracle_findings", &w->findings);
	worker_find(lib, "emu_oracle_judge", &w->judge);
	worker_find(lib, "emu_hang", &w->hang);
}

struct verdict { struct run_result *r; uint32_t causes; };

/* That gsan lacks this race can be for what was counted: that is noted. */
static void missed(const struct verdict *v)
{
	for (unsigned i = 0; i < CAUSES; i++) {
		v->r->cause[i] += v->causes >> i & 1;
		v->r->alone[i] += v->causes == 1u << i;
	}
	v->r->missed++;
}

static void tell(void *arg, enum emu_oracle_word word, const struct emu_oracle_pair *p)
{
	static const char *const words[] = {
		[ORACLE_NO_RACE] = "gsan reports what is no race",
		[ORACLE_OTHER_KIND] = "gsan gives another kind to a race",
		[ORACLE_LACKS] = "gsan lacks a race"
	};
	struct verdict *v = arg;

	if (word == ORACLE_LACKS && v->causes) {
		missed(v);
		return;
	}
	/* What is ordered too much may be a matter of scope alone; what an instruction was to do is logged before it faults. */
	if ((word == ORACLE_OTHER_KIND && v->causes) || (word == ORACLE_NO_RACE && v->r->fault)) {
		v->r->excused++;
		return;
	}
	if (!bad_of(v->r))
		snprintf(v->r->text, sizeof v->r->text, "%s: %s at lines %u and %u", words[word],
			 p->kind, p->line[0], p->line[1]);
	v->r->bad[word]++;
}

void worker_judge(struct worker *w, const struct emu_oracle_pair *pairs, size_t n, uint32_t causes, struct run_result *r)
{
	/* What came behind a fault, nobody logged. */
	struct verdict v = {r, causes | (uint32_t)r->fault << CAUSE_FAULT};

	r->races = (uint32_t)w->findings(NULL, 0);
	r->findings = (uint32_t)n;
	w->judge(pairs, n, tell, &v);
}

static void note_lines(struct worker *w, unsigned first, struct run_result *r)
{
	size_t all = w->findings(NULL, 0);
	struct emu_oracle_finding *f = calloc(all + 1, sizeof *f);

	if (!f)
		give_up("out of memory");
	w->findings(f, all);
	for (size_t i = 0; i < all && r->npairs < PAIRS_MAX; i++, r->npairs++)
		for (unsigned k = 0; k < 2; k++)
			r->pair[r->npairs][k] = f[i].pair.line[k] - first;
	free(f);
}

static void compare(struct worker *w, const struct gen_prog *p, unsigned first, struct run_result *r, const uint64_t *before)
{
	size_t n = gsan_findings();
	struct emu_oracle_pair *pairs = calloc(n - w->seen + 1, sizeof *pairs);
	struct gsan_report g;

	if (!pairs)
		give_up("out of memory");
	for (size_t i = w->seen; i < n; i++) {
		if (gsan_finding(i, &g))
			give_up("a finding that is not there");
		pairs[i - w->seen] = (struct emu_oracle_pair){
			g.kind, {g.now.ptx_line, g.before.ptx_line}
		};
	}
	note_lines(w, first, r);
	worker_judge(w, pairs, n - w->seen, counted(before), r);
	if (p->seed >= GEN_ERRORS)
		plant_check(w, p, first, &(struct plant_said){"gsan", pairs, n - w->seen, r->fault, r->fault}, r);
	w->seen = n;
	free(pairs);
}

/* ---- one run ------------------------------------------------------------------------- */

static void one(struct worker *w, const struct job *j, unsigned k, struct run_result *r)
{
	const unsigned i = k / j->schedules, schedule = j->first + k % j->schedules;
	const struct gen_prog *p = &j->p[i];
	uint64_t before[CAUSES];

	/* What polls for ever logs for ever, if it is instrumented: the device does not see that nothing comes of it. */
	if (p->may & GEN_POLLS) {
		r->done = true;
		return;
	}
	worker_count(before);
	w->forget();
	w->emu_set_seed(schedule ? p->seed * SCHEDULES_MAX + schedule : 0);
	r->fault = !worker_launch(w, w->module[k % j->schedules], p, i);
	compare(w, p, w->first[i], r, before);
	/* Once for each program, and every way to give turns comes up. */
	/* When the warps of a warpgroup come to a product is no step (emu/stepwise.c), and their
	 * copies land at other moments. */
	if (!r->fault && !p->planted && !(p->seed >= GEN_PRODUCTS && p->seed < GEN_ROWS) && (soak_contents || schedule % 3 == p->seed % 3)) {
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
	const unsigned skip = done / j->schedules;
	struct job rest = *j;
	struct worker w = {0};

	rest.p += skip;
	rest.n -= skip;
	load(&w, &rest);
	for (unsigned k = done; k < j->n * j->schedules; k++) {
		struct run_result r = {0};

		one(&w, &rest, k - skip * j->schedules, &r);
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
	bool hung = false, loaded = false;
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
	while (!(hung = poll(&q, 1, loaded ? j->patience : START_MS) == 0) && read(fd[0], &m, sizeof m) == sizeof m) {
		loaded = true;
		if (m.at == WORKER_LOADED)
			continue;
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
				 (loaded ? j->patience : START_MS) / 1000);
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
	/* After a fault the rest is loaded again: where there are many, fewer at a time. */
	const unsigned batch = p->seed >= GEN_ERRORS ? FEW : BATCH;

	for (unsigned i = 0; i < nprogs; i += batch) {
		struct job j = {
			.child = soak_events ? events_child : detectors, .p = p + i, .n = nprogs - i < batch ? nprogs - i : batch,
			.first = first, .schedules = n, .patience = PATIENCE_MS
		};

		worker_job(&j, out + i * n);
	}
}
