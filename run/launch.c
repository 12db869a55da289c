/* SPDX-License-Identifier: Apache-2.0
 *
 * launch.c: carries a script out through the driver API: instruments and loads
 * the PTX, makes what is declared, performs the actions in order, waits for
 * everything.  Runs in the child.  It judges nothing.
 */
#include "run/run.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "event/event.h"
#include "rewrite/rewrite.h"
#include "rt/kinds.h"
#include "rt/gsan.h"

#define MAX_PARAMS 128
#define PARAM_BYTES 4096        /* most that a kernel without large parameters takes */
#define STATIC_SMEM (48u << 10) /* dynamic shared memory that needs no permission */
#define SEND_EVERY_MS 50

struct place {                  /* what a declaration became */
	CUdeviceptr addr;
	unsigned char *host;    /* hostbuf, managed */
	CUstream stream;
	CUevent event;
	CUtensorMap tmap;
	bool there;             /* buf, hostbuf, managed */
};

struct runner {
	const struct run_script *s;
	const struct run_job *job;
	struct run_driver cu;
	struct place *at;       /* by object number */
	CUmodule module;
	CUdevice device;
	const void *more;       /* a parameter behind the kernel's; NULL */
	bool hung;              /* a kernel came to no end */
	unsigned together;      /* launches that overlap, if one of them is next; 0 */
};

/* A driver call that must succeed; `pos` is the script's line it belongs to. */
#define NOWHERE ((struct run_pos){ 0, 0 })
#define TRY(r, pos, call) check(r, pos, #call, (r)->cu.call)

static bool check(struct runner *r, struct run_pos pos, const char *call, CUresult e)
{
	const char *name = "", *text = "";
	int n = (int)strcspn(call, "(");

	if (e == CUDA_SUCCESS)
		return true;
	r->hung |= e == CUDA_ERROR_LAUNCH_TIMEOUT;
	if (r->cu.cuGetErrorName(e, &name) || !name)
		name = "unknown error";
	if (r->cu.cuGetErrorString(e, &text) || !text)
		text = "";
	if (pos.line)
		run_error(r->s, pos, "%.*s: %s (%s)", n, call, name, text);
	else
		fprintf(stderr, "gsan-run: %.*s: %s (%s)\n", n, call, name, text);
	return false;
}

/* ---- The device. */

static int start(struct runner *r)
{
	const struct run_script *s = r->s;
	int count = 0, major = 0, minor = 0, have;
	CUcontext ctx;
	char name[128] = "";
	CUresult e;
	bool fits;

	if (!run_driver_load(&r->cu, r->job->emu))
		return END_NO_DEVICE;
	e = r->cu.cuInit(0);
	if (e || r->cu.cuDeviceGetCount(&count) || !count) {
		if (!r->job->optional)
			fprintf(stderr, "gsan-run: no device (cuInit: %d)\n", (int)e);
		return END_NO_DEVICE;
	}
	if (!TRY(r, NOWHERE, cuDeviceGet(&r->device, 0)) ||
	    !TRY(r, NOWHERE, cuDeviceGetName(name, sizeof name, r->device)) ||
	    !TRY(r, NOWHERE, cuDeviceGetAttribute(&major,
			CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, r->device)) ||
	    !TRY(r, NOWHERE, cuDeviceGetAttribute(&minor,
			CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, r->device)))
		return RUN_OTHER;
	have = major * 10 + minor;
	switch (s->sm_suffix) {         /* a: that device alone; f: its family upwards */
	case 'a':
		fits = have == (int)s->sm;
		break;
	case 'f':
		fits = have >= (int)s->sm && have / 10 == (int)s->sm / 10;
		break;
	default:
		fits = have >= (int)s->sm;
	}
	if (!fits) {
		printf("%s: skipped: needs sm_%u%.1s, %s is sm_%d\n", s->path, s->sm,
		       s->sm_suffix ? &s->sm_suffix : "", name, have);
		return RUN_SKIPPED;
	}
	if (r->job->verbose)
		fprintf(stderr, "gsan-run: on %s (sm_%d)\n", name, have);
	if (!TRY(r, NOWHERE, cuDevicePrimaryCtxRetain(&ctx, r->device)) ||
	    !TRY(r, NOWHERE, cuCtxSetCurrent(ctx)))
		return RUN_OTHER;
	return RUN_OK;
}

/* ---- The module. */

static bool keep(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "w");
	bool ok = f && fwrite(text, 1, len, f) == len;

	if (f && fclose(f))
		ok = false;
	if (!ok)
		fprintf(stderr, "gsan-run: %s: %s\n", path, strerror(errno));
	return ok;
}

static bool load(struct runner *r)
{
	static char log[16384];
	CUjit_option names[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	void *values[] = { log, (void *)(uintptr_t)sizeof log };
	struct gsan_rewrite_options options = { .marks = r->job->emu, .inline_most = r->job->inline_most };
	char *text = NULL;
	size_t len = 0;
	bool ok;

	gsan_rewrite_asked(&options, getenv("GSAN_OPTIONS"));
	if (r->job->events == EVENTS_PROBES) {
		text = run_probes_text(r->s, &options);
		len = text ? strlen(text) : 0;
	} else if (!r->job->plain) {
		text = gsan_rewrite(r->s->path, r->s->text, r->s->len, &options, NULL, &len,
				    NULL, NULL);
	}
	if (r->job->events == EVENTS_PROBES || !r->job->plain) {
		if (!text)
			return false;
		if (r->job->keep && !keep(r->job->keep, text, len)) {
			free(text);
			return false;
		}
	}
	ok = check(r, NOWHERE, "cuModuleLoadDataEx",
		   r->cu.cuModuleLoadDataEx(&r->module, text ? text : r->s->text, 2, names, values));
	if (!ok && *log)
		fprintf(stderr, "%s\n", log);
	free(text);
	return ok;
}

/* ---- Declarations. */

static uint64_t next_random(uint64_t *state)    /* splitmix64: the same words everywhere */
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void fill(const struct run_obj *o, unsigned char *p)
{
	uint64_t i, seed = o->seed;
	uint32_t word = 0;

	for (i = 0; i < o->bytes; i++) {
		if (i % 4 == 0)
			switch (o->init) {
			case INIT_ZERO:
				word = 0;
				break;
			case INIT_IOTA:
				word = (uint32_t)(i / 4);
				break;
			case INIT_FILL:
				word = (uint32_t)o->seed;
				break;
			case INIT_RAND:
				word = (uint32_t)next_random(&seed);
				break;
			}
		p[i] = (unsigned char)(word >> i % 4 * 8);
	}
}

static bool make_buf(struct runner *r, const struct run_obj *o, struct place *p)
{
	unsigned char *bytes = malloc(o->bytes);
	bool ok;

	if (!bytes) {
		run_error(r->s, o->pos, "out of memory");
		return false;
	}
	fill(o, bytes);
	ok = TRY(r, o->pos, cuMemAlloc_v2(&p->addr, o->bytes)) &&
	     TRY(r, o->pos, cuMemcpyHtoD_v2(p->addr, bytes, o->bytes));
	free(bytes);
	return ok;
}

static bool make(struct runner *r, const struct run_obj *o, struct place *p)
{
	void *host;

	p->there = !o->later;
	switch (o->kind) {
	case OBJ_BUF:
		return o->later || make_buf(r, o, p);
	case OBJ_HOSTBUF:
		if (!TRY(r, o->pos, cuMemHostAlloc(&host, o->bytes, CU_MEMHOSTALLOC_DEVICEMAP |
						   CU_MEMHOSTALLOC_PORTABLE)) ||
		    !TRY(r, o->pos, cuMemHostGetDevicePointer_v2(&p->addr, host, 0)))
			return false;
		p->host = host;
		fill(o, p->host);
		return true;
	case OBJ_MANAGED:
		if (!TRY(r, o->pos, cuMemAllocManaged(&p->addr, o->bytes, CU_MEM_ATTACH_GLOBAL)))
			return false;
		p->host = (unsigned char *)(uintptr_t)p->addr;
		fill(o, p->host);
		return true;
	case OBJ_STREAM:
		return TRY(r, o->pos, cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
	case OBJ_EVENT:
		return TRY(r, o->pos, cuEventCreate(&p->event, CU_EVENT_DISABLE_TIMING));
	case OBJ_TMAP:
		if (!check(r, o->pos, "cuTensorMapEncodeTiled",
			   run_tmap_make(o->tmap, &r->cu, r->at[o->tmap->buf].addr + o->tmap->off, &p->tmap)))
			return false;
		if (r->job->events == EVENTS_PROBES)
			run_probes_map(o->tmap, r->at[o->tmap->buf].addr + o->tmap->off, &p->tmap);
		return true;
	}
	return false;
}

/* ---- Actions. */

/* Whether the kernel takes what the script gives it; a driver that cannot tell
 * gets zeroes for whatever may be missing. */
static bool fits(struct runner *r, const struct run_action *a, CUfunction f)
{
	size_t at, size;
	unsigned i;
	CUresult e;

	if (!r->cu.cuFuncGetParamInfo)
		return true;
	for (i = 0; i < a->nargs; i++) {
		struct run_pos pos = { a->pos.line, a->args[i].col };

		e = r->cu.cuFuncGetParamInfo(f, i, &at, &size);
		if (e == CUDA_ERROR_INVALID_VALUE) {
			run_error(r->s, pos, "%s has only %u parameters", a->kernel, i);
			return false;
		}
		if (e)
			return true;
		if (size != a->args[i].size) {
			run_error(r->s, pos, "parameter %u of %s has %zu bytes, not %u", i,
				  a->kernel, size, a->args[i].size);
			return false;
		}
	}
	if (!r->cu.cuFuncGetParamInfo(f, a->nargs + (r->more != NULL), &at, &size)) {
		run_error(r->s, (struct run_pos){ a->pos.line, a->args_col },
			  "%s has more than %u parameters", a->kernel, a->nargs);
		return false;
	}
	return true;
}

static void put_arguments(struct runner *r, const struct run_action *a, uint64_t *values, void **params)
{
	static uint64_t none[PARAM_BYTES / 8];

	for (unsigned i = 0; i < MAX_PARAMS; i++)
		params[i] = none;
	for (unsigned i = 0; i < a->nargs; i++) {
		struct place *p = a->args[i].obj == ARG_VALUE ? NULL : &r->at[a->args[i].obj];

		values[i] = a->args[i].bits + (p ? p->addr : 0);
		params[i] = p && r->s->objs[a->args[i].obj].kind == OBJ_TMAP ?
			    (void *)&p->tmap : (void *)&values[i];
		if (r->more && params[i] != (void *)&values[i])
			run_probes_param(i, &p->tmap);
	}
	if (r->more)
		params[a->nargs] = (void *)(uintptr_t)r->more;
}

/* More than eight blocks of a cluster have to be allowed first. */
static bool allow(struct runner *r, const struct run_action *a, CUfunction f)
{
	if (a->smem > STATIC_SMEM &&
	    !TRY(r, a->pos, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)a->smem)))
		return false;
	return a->cluster[0] * a->cluster[1] * a->cluster[2] <= 8 ||
	       TRY(r, a->pos, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
}

static bool issue(struct runner *r, const struct run_action *a, CUfunction f, void **params)
{
	CUlaunchAttribute attr[2] = { 0 };
	CUlaunchConfig c = {
		.attrs = attr, .gridDimX = a->grid[0], .gridDimY = a->grid[1], .gridDimZ = a->grid[2], .blockDimX = a->block[0],
		.blockDimY = a->block[1], .blockDimZ = a->block[2], .sharedMemBytes = a->smem, .hStream = r->at[a->stream].stream
	};

	if (!a->cluster[0] && !a->pdl)
		return TRY(r, a->pos, cuLaunchKernel(f, c.gridDimX, c.gridDimY, c.gridDimZ, c.blockDimX, c.blockDimY, c.blockDimZ, a->smem,
						     c.hStream, params, NULL));
	if (a->cluster[0]) {
		attr[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
		attr[c.numAttrs].value.clusterDim.x = a->cluster[0];
		attr[c.numAttrs].value.clusterDim.y = a->cluster[1];
		attr[c.numAttrs++].value.clusterDim.z = a->cluster[2];
	}
	if (a->pdl) {
		attr[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
		attr[c.numAttrs++].value.programmaticStreamSerializationAllowed = 1;
	}
	return TRY(r, a->pos, cuLaunchKernelEx(&c, f, params, NULL));
}

static int launch(struct runner *r, const struct run_action *a)
{
	static uint64_t values[MAX_PARAMS];
	void *params[MAX_PARAMS];
	CUfunction f;
	CUresult e = r->cu.cuModuleGetFunction(&f, r->module, a->kernel);

	if (e == CUDA_ERROR_NOT_FOUND) {
		run_error(r->s, (struct run_pos){ a->pos.line, a->kernel_col },
			  "this file has no kernel \"%s\"", a->kernel);
		return RUN_USAGE;
	}
	if (!check(r, a->pos, "cuModuleGetFunction", e))
		return RUN_OTHER;
	if (a->nargs + 1 > MAX_PARAMS) {
		run_error(r->s, a->pos, "more than %d arguments", MAX_PARAMS);
		return RUN_USAGE;
	}
	if (!fits(r, a, f))
		return RUN_USAGE;
	put_arguments(r, a, values, params);
	return allow(r, a, f) && issue(r, a, f, params) ? RUN_OK : RUN_OTHER;
}

/* What there is of the script's memory when a launch comes. */
static void tell_memory(const struct runner *r)
{
	run_probes_memory(NULL);
	for (int i = 1; i < r->s->nobjs; i++) {
		const struct run_obj *o = &r->s->objs[i];
		const struct place *p = &r->at[i];
		const enum event_block_kind is = o->kind == OBJ_HOSTBUF ? EVENT_BLOCK_THERE : EVENT_BLOCK_ALLOCATED;

		if (o->bytes && p->addr)
			run_probes_memory(&(struct event_block){p->addr, o->bytes, p->there ? is : EVENT_BLOCK_FREED});
	}
}

/* One launch, which is over when this returns, but for one that others overlap. */
static int launch_logged(struct runner *r, const struct run_action *a)
{
	unsigned n = run_probes_overlap(r->s, a);
	int status;

	if (!r->together && !run_probes_begin(a, n))
		return RUN_OTHER;
	tell_memory(r);
	r->together = r->together ? r->together : n;
	r->more = run_probes_launch(r->together - n);
	status = launch(r, a);
	if (n > 1)
		return status;
	r->together = 0;
	return run_probes_take() ? status : RUN_OTHER;
}

static void touch(struct runner *r, const struct run_action *a)
{
	volatile unsigned char *p = r->at[a->dst].host + a->dst_off;
	unsigned char sum = 0;
	uint64_t i;

	for (i = 0; i < a->bytes; i++)
		if (a->kind == ACT_HOSTWRITE)
			p[i] = (unsigned char)i;
		else
			sum = (unsigned char)(sum + p[i]);
	if (r->job->verbose && a->kind == ACT_HOSTREAD)
		fprintf(stderr, "gsan-run: %s:%u: the bytes read add up to %u (mod 256)\n",
			r->s->path, a->pos.line, sum);
}

/* What is launched with it from then on has the address that it had, or gets. */
static bool change_block(struct runner *r, const struct run_action *a)
{
	struct place *p = &r->at[a->dst];
	const bool makes = a->kind == ACT_ALLOC;
	CUstream stream = r->at[a->stream].stream;

	if (p->there == makes) {
		run_error(r->s, a->pos, "\"%s\" is %s", r->s->objs[a->dst].name, makes ? "there already" : "not there");
		return false;
	}
	p->there = makes;
	if (!a->ordered)
		return makes ? TRY(r, a->pos, cuMemAlloc_v2(&p->addr, a->bytes)) : TRY(r, a->pos, cuMemFree_v2(p->addr));
	if (!r->cu.cuMemAllocAsync || !r->cu.cuMemFreeAsync) {
		run_error(r->s, a->pos, "the driver has no cuMemAllocAsync");
		return false;
	}
	return makes ? TRY(r, a->pos, cuMemAllocAsync(&p->addr, a->bytes, stream)) : TRY(r, a->pos, cuMemFreeAsync(p->addr, stream));
}

static int act(struct runner *r, const struct run_action *a)
{
	CUstream stream = r->at[a->stream].stream;
	CUevent event = a->event < 0 ? NULL : r->at[a->event].event;
	CUdeviceptr dst = r->at[a->dst].addr + a->dst_off;
	bool ok = true;

	switch (a->kind) {
	case ACT_LAUNCH:
		return r->job->events == EVENTS_PROBES ? launch_logged(r, a) : launch(r, a);
	case ACT_SYNC:
		if (a->context)
			ok = TRY(r, a->pos, cuCtxSynchronize());
		else if (event)
			ok = TRY(r, a->pos, cuEventSynchronize(event));
		else
			ok = TRY(r, a->pos, cuStreamSynchronize(stream));
		break;
	case ACT_RECORD:
		ok = TRY(r, a->pos, cuEventRecord(event, stream));
		break;
	case ACT_WAIT:
		ok = TRY(r, a->pos, cuStreamWaitEvent(stream, event, 0));
		break;
	case ACT_COPY:
		if (a->bytes)
			ok = TRY(r, a->pos, cuMemcpyAsync(dst, r->at[a->src].addr + a->src_off,
							  a->bytes, stream));
		break;
	case ACT_SET:
		if (a->bytes)
			ok = TRY(r, a->pos, cuMemsetD8Async(dst, (unsigned char)a->byte, a->bytes,
							    stream));
		break;
	case ACT_HOSTREAD:
	case ACT_HOSTWRITE:
		touch(r, a);
		break;
	case ACT_FREE:
	case ACT_ALLOC:
		ok = change_block(r, a);
		break;
	}
	return ok ? RUN_OK : RUN_OTHER;
}

/* ---- The end. */

static bool dump(struct runner *r, const char *name, size_t len)
{
	const struct run_obj *o = NULL;
	unsigned char *bytes;
	uint64_t i, n;
	uint32_t word;
	int k;

	for (k = 1; k < r->s->nobjs; k++)
		if (!strncmp(r->s->objs[k].name, name, len) && !r->s->objs[k].name[len] &&
		    r->s->objs[k].bytes)
			o = &r->s->objs[k];
	if (!o) {
		fprintf(stderr, "gsan-run: --dump: the script has no memory block \"%.*s\"\n",
			(int)len, name);
		return false;
	}
	n = (o->bytes + 3) / 4;
	bytes = calloc(n, 4);
	if (!bytes) {
		fputs("gsan-run: out of memory\n", stderr);
		return false;
	}
	if (!TRY(r, NOWHERE, cuMemcpyDtoH_v2(bytes, r->at[o - r->s->objs].addr, o->bytes))) {
		free(bytes);
		return false;
	}
	for (i = 0; i < n; i++) {
		if (i % 8 == 0)
			printf("%s%s+%04llx:", i ? "\n" : "", o->name, (unsigned long long)i * 4);
		memcpy(&word, bytes + i * 4, 4);
		printf(" %08x", word);
	}
	putchar('\n');
	free(bytes);
	return true;
}

static bool dump_all(struct runner *r)
{
	const char *p = r->job->dump;

	while (p) {
		size_t len = strcspn(p, ",");

		if (!dump(r, p, len))
			return false;
		p = p[len] ? p + len + 1 : NULL;
	}
	return true;
}

static int perform(struct runner *r)
{
	const struct run_script *s = r->s;
	int status = start(r), i;
	unsigned k;

	if (status)
		return status;
	if (run_elsewhere(r->job))      /* such kernels are not libgsan's */
		gsan_off();
	if (r->job->emu)
		run_emu_source(s);
	if (r->job->emu && r->job->events == EVENTS_PROBES)
		run_emu_judged();
	if (r->job->oracle && !run_oracle_start(s))
		return RUN_OTHER;
	if (r->job->events && !run_events_start(r->job))
		return RUN_OTHER;
	if (!load(r))
		return RUN_OTHER;
	if (r->job->events == EVENTS_PROBES && !run_probes_whole())
		return RUN_SKIPPED;
	if (r->job->events == EVENTS_PROBES && !run_probes_ready(&r->cu, r->module, r->device, s, r->job))
		return RUN_OTHER;
	for (i = 1; i < s->nobjs; i++) {
		gsan_at(s->path, s->objs[i].pos.line);
		if (!make(r, &s->objs[i], &r->at[i]))
			return RUN_OTHER;
		else if (r->at[i].host)
			run_host_block(r->at[i].addr, s->objs[i].bytes);
	}
	for (k = 0; k < s->nactions; k++) {
		gsan_at(s->path, s->actions[k].pos.line);
		status = act(r, &s->actions[k]);
		if (status)
			return status;
		if (r->job->oracle)
			run_host_did(s, k, &(struct run_host_place){r->at[s->actions[k].dst].addr + s->actions[k].dst_off,
				     r->at[s->actions[k].src].addr + s->actions[k].src_off}, run_oracle_launch());
	}
	if (!TRY(r, NOWHERE, cuCtxSynchronize()))
		return r->s->faults && !r->hung ? RUN_OK : RUN_OTHER;
	if (!dump_all(r))
		return RUN_OTHER;
	return RUN_OK;
}

/* ---- Findings. */

struct sender {
	const struct run_script *s;
	int fd;
	size_t next;            /* first finding not sent */
	sem_t stop;
};

static unsigned line_of(const struct sender *w, const struct gsan_spot *spot)
{
	return !strcmp(spot->ptx_file, w->s->path) ? spot->ptx_line : 0;
}

static void send_new(struct sender *w)
{
	struct run_msg m = { .kind = MSG_FINDING };
	struct gsan_report f;

	for (; !gsan_finding(w->next, &f); w->next++) {
		if (f.suppressed)
			continue;
		m.finding.kind = run_kind_of(f.kind);
		m.finding.line[0] = line_of(w, &f.now);
		m.finding.line[1] = line_of(w, &f.before);
		m.finding.count = f.count;
		if (m.finding.kind < GSAN_KIND_COUNT)
			run_send(w->fd, &m);
		else
			fprintf(stderr, "gsan-run: a finding of unknown kind \"%s\"\n", f.kind);
	}
}

/* While a kernel runs, perhaps for ever, what it shows is passed on. */
static void *send_along(void *arg)
{
	struct sender *w = arg;
	struct timespec next;

	do {
		send_new(w);
		clock_gettime(CLOCK_REALTIME, &next);
		next.tv_nsec += SEND_EVERY_MS * 1000000L;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
	} while (sem_timedwait(&w->stop, &next));
	return NULL;
}

bool run_elsewhere(const struct run_job *job)
{
	return job->events || (job->oracle && job->plain);
}

/* libgsan, which watched nothing, has no word to say. */
static void closing(const struct run_script *s, const struct run_job *job)
{
	const char *options = getenv("GSAN_OPTIONS");

	if (!run_elsewhere(job) || (options && strstr(options, "quiet=1")))
		return;
	if (job->events)
		run_events_close();
	else
		run_oracle_close(s);
}

int run_launch(const struct run_script *s, const struct run_job *job)
{
	struct runner r = { .s = s, .job = job };
	struct sender w = { .s = s, .fd = job->fd };
	struct run_msg end = { .kind = MSG_END };
	pthread_t thread;
	bool threaded;

	if (job->emu && gsan_use_driver(run_path(RUN_EMU))) {
		fprintf(stderr, "gsan-run: %s cannot be loaded\n", run_path(RUN_EMU));
		return RUN_OTHER;
	}
	/* calloc does not align as a tensor map needs it. */
	r.at = aligned_alloc(_Alignof(struct place), (size_t)s->nobjs * sizeof *r.at);
	if (!r.at)
		return RUN_OTHER;
	memset(r.at, 0, (size_t)s->nobjs * sizeof *r.at);
	sem_init(&w.stop, 0, 0);
	threaded = !pthread_create(&thread, NULL, send_along, &w);
	end.status = (uint32_t)perform(&r);
	if (threaded) {
		sem_post(&w.stop);
		pthread_join(thread, NULL);
	}
	sem_destroy(&w.stop);
	send_new(&w);
	if (job->events && !run_events_end(s, job))
		run_send(job->fd, &(struct run_msg){ .kind = MSG_DISAGREE });
	if (job->oracle)
		run_oracle_end(s, job, end.status != RUN_OK);
	if (end.status == RUN_OK || end.status == RUN_OTHER)
		closing(s, job);
	if (r.hung && job->emu)
		run_emu_hang(job);
	if (r.hung)
		end.status = END_HUNG;
	run_send(job->fd, &end);
	free(r.at);
	return r.hung ? RUN_OTHER : (int)end.status;
}
