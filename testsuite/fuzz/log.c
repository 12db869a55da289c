/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c: fuzz target for kept logs (log/file.h).  An input is a file, and is tried as
 * it is, or with its parts numbered and summed again, some of them exchanged perhaps, so that what is in them is
 * reached.  Whatever it is, gsan-check says where it is damaged, or judges it, and prints it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/check.h"
#include "testsuite/fuzz/fuzz.h"

static const char *const folders[] = {NULL};
const struct fuzz_target fuzz_target = { "log", "", folders, 8000, true };

/* How much an input asks for grows by what one number in it says: what would only take long is left out. */
enum { BLOCKS = 1 << 10, LANES = 1 << 10, EXTENT = 1 << 12, RUNS = 16 };

pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;

void rt_halt(void)
{
	fuzz_broken("a report ends the process, which nobody asked for");
}

/* ---- a file whose parts are right by themselves --------------------------------------------------------- */

static void sum(uint8_t *part, uint32_t number)
{
	struct log_part p;

	memcpy(&p, part, sizeof p);
	p.number = number;
	p.check = 0;
	memcpy(part, &p, sizeof p);
	p.check = log_crc(0, part, sizeof p + p.bytes);
	memcpy(part, &p, sizeof p);
}

/* Its parts, that of number `how` exchanged with the one behind it; the size of the new file. */
static size_t repair(uint8_t *to, const uint8_t *data, size_t size, uint8_t how)
{
	const struct log_file head = {.magic = LOG_FILE_MAGIC, .version = LOG_FILE_VERSION, .order = LOG_FILE_ORDER};
	size_t at = sizeof head, n = sizeof head;
	uint32_t number = 0;

	memcpy(to, &head, sizeof head);
	while (size - at > sizeof(struct log_part)) {
		struct log_part p, next = {0};
		size_t bytes, other = 0;

		memcpy(&p, data + at, sizeof p);
		p.bytes = p.bytes / LOG_FILE_UNIT * LOG_FILE_UNIT;
		if (p.bytes > size - at - sizeof p)
			p.bytes = (uint32_t)(size - at - sizeof p) / LOG_FILE_UNIT * LOG_FILE_UNIT;
		bytes = sizeof p + p.bytes;
		if (how == number && size - at - bytes > sizeof next) {
			memcpy(&next, data + at + bytes, sizeof next);
			other = sizeof next + next.bytes;
		}
		if (other && next.bytes % LOG_FILE_UNIT == 0 && next.bytes < size - at - bytes - sizeof next) {
			memcpy(to + n, data + at + bytes, other);
			sum(to + n, number++);
			n += other;
		} else {
			other = 0;
		}
		memcpy(to + n, &p, sizeof p);
		memcpy(to + n + sizeof p, data + at + sizeof p, p.bytes);
		sum(to + n, number++);
		n += bytes;
		at += bytes + other;
	}
	return n;
}

/* ---- what is asked for ------------------------------------------------------------------------------------ */

struct asked { uint64_t lanes, blocks; bool much; };

static void process(void *unused, const struct log_process *p, const char *const string[LOG_PROCESS_STRINGS])
{
	(void)unused;
	(void)p;
	(void)string;
}

static void map(void *unused, const struct event_map *m)
{
	(void)unused;
	(void)m;
}

static void memory(void *unused, const struct rt_blocks *b)
{
	(void)unused;
	(void)b;
}

static bool launch(void *arg, struct rt_launch *l, const uint64_t *cut)
{
	struct asked *a = arg;
	const struct event_sites *s = &l->tables->linked->sites;

	(void)cut;
	a->blocks += l->shape.blocks;
	for (uint32_t i = 0; i < s->nsites; i++)
		a->much |= (uint32_t)s->site[i].size * s->site[i].count > EXTENT || s->site[i].nrun > RUNS;
	return false;
}

static const char *piece(void *arg, const struct event_piece *p)
{
	struct asked *a = arg;
	const struct event_unit *e = event_units_of(p), *end = e + (p->bytes - sizeof *p) / sizeof *e;

	for (; e < end && event_kind_of(e) != EVENT_END; e += event_units(e))
		a->lanes += event_count(event_lanes(e));
	return NULL;
}

static void over(void *unused)
{
	(void)unused;
}

static void end(void *unused, const struct log_end *e, const struct rt_totals *t)
{
	(void)unused;
	(void)e;
	(void)t;
}

static bool is_small(const char *path)
{
	static const struct listener to = {process, map, memory, launch, piece, over, end};
	struct asked a = {0};

	log_read_all(path, &to, &a);
	return !a.much && a.lanes <= LANES && a.blocks <= BLOCKS;
}

/* ---- one input -------------------------------------------------------------------------------------------- */

static void try_file(const char *path)
{
	struct rt_totals t = {0};
	const char *const none[] = {""};
	bool good;

	if (!is_small(path))
		return;
	good = check_judge(path, none, 1, &t);
	rt_tell_all(0, NULL, NULL);
	rt_free((void *)t.bare);
	if (check_print(path) != good)
		fuzz_broken("what is judged cannot be printed, or the other way");
}

/* Reports of one input after the other are news. */
static int make_ready(char *path, size_t size)
{
	int fd = memfd_create("log", 0);

	rt_flags_default(&rt_flags);
	rt_flags.suppress_equal_stacks = 0;
	rt_flags.report_limit = 0;
	if (fd < 0 || !freopen("/dev/null", "w", stdout))
		fuzz_broken("no file to try");
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;
	uint8_t *file = malloc(size + sizeof(struct log_file) + 1);
	const uint64_t how = fuzz_hash(data, size);
	size_t n = size;

	if (fd < 0)
		fd = make_ready(path, sizeof path);
	if (!file)
		fuzz_broken("out of memory");
	if (size > sizeof(struct log_file) && how & 7)
		n = repair(file, data, size, (uint8_t)(how >> 3 & 15));
	else if (size)
		memcpy(file, data, size);
	if (ftruncate(fd, 0) || pwrite(fd, file, n, 0) != (ssize_t)n)
		fuzz_broken("no file to try");
	try_file(path);
	free(file);
	return 0;
}
