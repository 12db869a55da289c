/* SPDX-License-Identifier: Apache-2.0
 *
 * keep.c: the file of log=DIR (log/file.h), one for the process: what launches logged, before they are judged, and all
 * that reports of them need.  Parts are only added, so that whatever ends the process leaves a file that can be read up
 * to there.  Everything with the lock of who judges.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "log/file.h"
#include "rt/judge.h"

enum { PIECES = 1 << 18 /* bytes of them in a part, about */, NAMES = 100 /* that are tried */ };

/* FULL: it has as much as it may have, or as can be written. */
static struct {
	enum { NONE, OPEN, FULL, CLOSED } state;
	int fd;
	char *name;
	struct rt_buf part;             /* the one that is being made */
	uint64_t bytes, whole;          /* that are there; of those up to the last launch that is whole */
	uint32_t number, whole_number;  /* parts */
	uint32_t modules, units;        /* that are told */
	size_t maps;
	uint64_t changes;               /* of the memory that was told */
	uint64_t not_kept;              /* launches */
} file = {.fd = -1};

int rt_keep_file(void)
{
	return file.state == OPEN ? file.fd : -1;
}

void rt_keep_no_more(void)
{
	if (file.state == NONE)
		file.state = CLOSED;
}

bool rt_keeps(void)
{
	return *rt_flags.log;
}

/* ---- parts ----------------------------------------------------------------------------------------------- */

static void begin(enum log_part_kind kind)
{
	const struct log_part head = {.kind = kind, .number = file.number};

	file.part.len = 0;
	rt_putn(&file.part, (const char *)&head, sizeof head);
}

static void put(const void *data, size_t n)
{
	rt_putn(&file.part, data, n);
}

/* 0, or the error that keeps it from being written. */
static int put_part(void)
{
	static const char zeros[LOG_FILE_UNIT];
	struct log_part head;
	int error;

	put(zeros, (LOG_FILE_UNIT - file.part.len % LOG_FILE_UNIT) % LOG_FILE_UNIT);
	memcpy(&head, file.part.text, sizeof head);
	head.bytes = (uint32_t)(file.part.len - sizeof head);
	memcpy(file.part.text, &head, sizeof head);
	head.check = log_crc(0, file.part.text, file.part.len);
	memcpy(file.part.text, &head, sizeof head);
	error = file.part.len > LOG_PART_MOST ? EFBIG : rt_write_all(file.fd, file.part.text, file.part.len);
	file.bytes += file.part.len;
	file.number++;
	return error;
}

/* Nothing of a launch that is not whole stays. */
static bool cut_back(void)
{
	file.bytes = file.whole;
	file.number = file.whole_number;
	return !ftruncate(file.fd, (off_t)file.whole) && lseek(file.fd, 0, SEEK_END) >= 0;
}

static void stop(const char *why)
{
	file.state = cut_back() ? FULL : CLOSED;
	rt_say("cannot go on with %s (%s): launches from now on are not kept", file.name, why);
}

static void end(void)
{
	int error;

	if (file.state != OPEN)
		return;
	if (file.bytes + file.part.len > (uint64_t)rt_flags.log_file_mb << 20)
		stop("it may have no more than log_file_mb");
	else if ((error = put_part()))
		stop(strerror(error));
}

static void put_string(const char *s)
{
	put(s ? s : "", s ? strlen(s) + 1 : 1);
}

/* ---- the file ---------------------------------------------------------------------------------------------- */

/* One of an earlier process of that number, or of what it was before it became another program, stays. */
static int create(struct rt_buf *name)
{
	int fd = -1;

	for (int i = 1; i < NAMES && fd < 0; i++) {
		name->len = 0;
		rt_printf(name, "%s/%s.%ld", rt_flags.log, program_invocation_short_name, (long)getpid());
		if (i > 1)
			rt_printf(name, ".%d", i);
		rt_puts(name, ".gsanlog");
		fd = open(name->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static void put_choice(void *unused, const char *name, const char *value)
{
	(void)unused;
	put(name, strlen(name));
	put("=", 1);
	put(value, strlen(value));
	put(" ", 1);
}

static uint32_t ask(CUdevice_attribute which)
{
	int n = 0;

	return rt_drv.cuDeviceGetAttribute(&n, which, rt_device()) == CUDA_SUCCESS ? (uint32_t)n : 0;
}

static void keep_process(void)
{
	const struct log_process p = {
		.pid = (uint32_t)getpid(), .event = EVENT_MAGIC, .module = MODULE_VERSION,
		.major = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), .minor = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
	};
	char *line = rt_command_line(), device[256] = "";

	if (!rt_drv.cuDeviceGetName || rt_drv.cuDeviceGetName(device, sizeof device, rt_device()) != CUDA_SUCCESS)
		*device = '\0';
	begin(LOG_PROCESS);
	put(&p, sizeof p);
	put_string(PACKAGE_VERSION);
	put_string(program_invocation_name);
	put_string(line);
	rt_flags_choices(&rt_flags, put_choice, NULL);
	put("", 1);
	put_string(device);
	end();
	rt_free(line);
}

static void open_file(void)
{
	const struct log_file head = {.magic = LOG_FILE_MAGIC, .version = LOG_FILE_VERSION, .order = LOG_FILE_ORDER};
	struct rt_buf name = {0};
	int error;

	file.fd = create(&name);
	error = errno;
	file.name = name.text;
	if (file.fd < 0) {
		file.state = CLOSED;
		rt_say("cannot write %s (%s): no launch is kept", file.name, strerror(error));
		return;
	}
	file.state = OPEN;
	error = rt_write_all(file.fd, &head, sizeof head);
	if (error) {
		stop(strerror(error));
		return;
	}
	file.bytes = sizeof head;
	keep_process();
	/* A log of no launch says of which process it is. */
	if (file.state == OPEN) {
		file.whole = file.bytes;
		file.whole_number = file.number;
	}
}

/* ---- what launches need -------------------------------------------------------------------------------------- */

static void keep_unit(struct rt_tables *t)
{
	const struct module_tables *n = &t->n;
	const struct log_unit u = {
		.module = t->linked->kept - 1, .nsites = n->nsites, .nruns = n->nruns, .nframes = n->nframes, .nkernels = n->nkernels,
		.nglobals = n->nglobals, .nstrings = n->nstrings, .path = n->path, .left_out = n->left_out, .unknown = n->unknown,
		.norigins = n->norigins, .nvariables = n->nvariables
	};

	begin(LOG_UNIT);
	put(&u, sizeof u);
	put(t->site, n->nsites * sizeof *t->site);
	put(t->run, n->nruns * sizeof *t->run);
	put(t->spot, n->nsites * sizeof *t->spot);
	put(t->frame, n->nframes * sizeof *t->frame);
	put(t->kernel, n->nkernels * sizeof *t->kernel);
	put(t->global, n->nglobals * sizeof *t->global);
	put(t->origin, n->norigins * sizeof *t->origin);
	put(t->variable, n->nvariables * sizeof *t->variable);
	put(t->strings, n->nstrings);
	end();
	t->kept = ++file.units;
}

/* All units of that module, in the order of their sites. */
static void keep_units(struct rt_linked *l, const struct rt_module *m)
{
	struct rt_tables *all, *t;

	pthread_mutex_lock(&rt_lock);
	all = rt_units();
	pthread_mutex_unlock(&rt_lock);
	if (!l->kept)
		l->kept = ++file.modules;
	for (uint32_t base = 0; base < l->sites.nsites; base += t->n.nsites) {
		for (t = all; t && (t->module != m || t->base != base); t = t->next)
			;
		if (!t || !t->n.nsites)
			return;
		if (!t->kept)
			keep_unit(t);
	}
}

static void keep_maps(const struct rt_verdict *v)
{
	size_t n;
	const struct event_map *m = rt_verdict_maps(v, &n);

	if (n == file.maps)
		return;
	begin(LOG_MAPS);
	put(m + file.maps, (n - file.maps) * sizeof *m);
	end();
	file.maps = n;
}

static enum log_memory memory_of(enum rt_mem kind)
{
	static const enum log_memory kinds[] = {
		[RT_MEM_DEVICE] = LOG_MEM_DEVICE, [RT_MEM_MANAGED] = LOG_MEM_MANAGED, [RT_MEM_HOST] = LOG_MEM_HOST,
		[RT_MEM_MAPPED] = LOG_MEM_MAPPED, [RT_MEM_VARIABLE] = LOG_MEM_VARIABLE, [RT_MEM_FREED] = LOG_MEM_FREED,
		[RT_MEM_GRAPH] = LOG_MEM_MAPPED
	};

	return kinds[kind];
}

static void keep_memory(const struct rt_verdict *v)
{
	const struct rt_blocks *b = rt_verdict_blocks(v);
	struct log_allocations all = {.n = (uint32_t)b->n, .strings = 1};

	if (file.changes == b->changes)
		return;
	file.changes = b->changes;
	for (size_t i = 0; i < b->n; i++)
		all.strings += b->list[i].name ? (uint32_t)strlen(b->list[i].name) + 1 : 0;
	begin(LOG_ALLOCATIONS);
	put(&all, sizeof all);
	for (size_t i = 0, name = 1; i < b->n; i++) {
		const struct rt_block *k = &b->list[i];
		const struct log_allocation a = {k->addr, k->bytes, memory_of(k->kind), k->name ? (uint32_t)name : 0};

		put(&a, sizeof a);
		name += k->name ? strlen(k->name) + 1 : 0;
	}
	put("", 1);
	for (size_t i = 0; i < b->n; i++)
		if (b->list[i].name)
			put_string(b->list[i].name);
	end();
}

/* ---- launches ---------------------------------------------------------------------------------------------- */

static void keep_head(const struct rt_launch *l, const struct log_copy *c)
{
	struct log_launch h = {
		.number = l->number, .nth = l->nth, .unit = l->tables->kept - 1, .kernel = (uint32_t)(l->kernel - l->tables->kernel),
		.stream = l->stream, .since = c->head.lost ? c->head.since : 0, .maps = (uint32_t)l->nmaps, .places = l->nplaces,
		.flags = (l->early ? LOG_EARLY : 0u) | (l->failed ? LOG_FAULT : 0u) | (c->head.lost ? LOG_CUT : 0u)
	};

	memcpy(h.grid, l->grid, sizeof h.grid);
	memcpy(h.block, l->block, sizeof h.block);
	memcpy(h.cluster, l->cluster, sizeof h.cluster);
	begin(LOG_LAUNCH);
	put(&h, sizeof h);
	if (l->nmaps)
		put(l->map, l->nmaps * sizeof *l->map);
	if (l->nplaces)
		put(l->place, l->nplaces * sizeof *l->place);
	end();
}

/* Without what is behind its last record. */
static void keep_piece(void *count, const struct event_piece *p)
{
	const struct event_unit *e = event_units_of(p);
	const uint32_t most = (p->bytes - (uint32_t)sizeof *p) / (uint32_t)sizeof *e;
	struct event_piece head = *p;
	uint32_t n = 0;

	while (n < most && event_kind_of(&e[n]) != EVENT_END)
		n += event_units(&e[n]);
	head.bytes = (uint32_t)(sizeof head + n * sizeof *e);
	if (file.part.len + head.bytes > PIECES && file.part.len > sizeof(struct log_part)) {
		end();
		begin(LOG_PIECES);
	}
	put(&head, sizeof head);
	put(e, n * sizeof *e);
	++*(uint64_t *)count;
}

static void keep_pieces(const struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill, uint32_t n)
{
	struct log_over over = {0};
	const char *wrong;

	begin(LOG_PIECES);
	wrong = log_tell(c, &l->shape, fill, n, keep_piece, &over.pieces);
	if (wrong && file.state == OPEN)
		stop(wrong);
	end();
	begin(LOG_OVER);
	put(&over, sizeof over);
	end();
}

void rt_keep_launch(const struct rt_verdict *v, const struct rt_launch *l, const struct log_copy *c, const struct log_fill *fill,
		    uint32_t n)
{
	if (file.state == NONE)
		open_file();
	if (file.state == OPEN) {
		keep_units(l->tables->linked, l->tables->module);
		keep_maps(v);
		keep_memory(v);
		keep_head(l, c);
		keep_pieces(l, c, fill, n);
	}
	if (file.state != OPEN) {
		file.not_kept++;
		return;
	}
	file.whole = file.bytes;
	file.whole_number = file.number;
}

/* ---- the end ----------------------------------------------------------------------------------------------- */

void rt_keep_count(struct rt_totals *t)
{
	t->not_kept = file.not_kept;
}

void rt_keep_end(const struct rt_totals *t)
{
	const struct log_end e = {
		.launches = t->launches, .graphs = t->graphs, .kernels_watched = t->kernels_watched, .sites = t->sites,
		.unmodelled = t->unmodelled, .unknown = t->unknown, .modules = t->modules, .bare_modules = t->bare_modules,
		.bare_launches = t->bare_launches,
		.other_device = t->other_device, .unregistered = t->unregistered, .unwatched = t->unwatched, .lost_logs = t->lost_logs,
		.not_kept = t->not_kept, .names = (uint32_t)t->nbare,
		.flags = (t->memory ? LOG_MEMORY_OUT : 0u) | (t->still_running ? LOG_STILL_RUNNING : 0u)
	};

	if (file.state != OPEN && file.state != FULL)
		return;
	begin(LOG_END);
	put(&e, sizeof e);
	put_string(t->failed);
	put_string(t->error);
	put_string(t->off);
	for (size_t i = 0; i < t->nbare; i++)
		put_string(t->bare[i]);
	/* Where it has no place the file is as one of a process that was killed. */
	if (put_part())
		cut_back();
	close(file.fd);
	if (!file.whole)                /* not even a head */
		unlink(file.name);
	file.state = CLOSED;
}
