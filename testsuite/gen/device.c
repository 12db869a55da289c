/* SPDX-License-Identifier: Apache-2.0
 *
 * device.c: programs on a GPU, whose verdict the emulated device has given under
 * every schedule.  Instrumented they must get the same; if they are free of races and
 * leave the same in every order of steps, they must leave that there, too, with gsan
 * and without.  A race that gsan lacks may be for what it counted in that run.  What the
 * device's screen says of each launch has to be what the host says.
 */
#include "testsuite/gen/worker.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/gsan.h"

enum { DEVICE_BATCH = 16, PLAIN_RUNS = 2, RUN_MS = 20000, ORDERS = 512, ORDERS_MS = 120000 };

static void wrong(struct run_result *r, unsigned which, const char *text)
{
	if (!bad_of(r))
		snprintf(r->text, sizeof r->text, "%s", text);
	r->bad[which]++;
}

/* Is it at lines where the emulated device has shown a race? */
static bool known(const struct device_want *want, unsigned a, unsigned b)
{
	for (unsigned s = 0; s < want->nknown; s++)
		for (unsigned i = 0; i < want->known[s].npairs; i++) {
			const unsigned *p = want->known[s].pair[i];

			if ((p[0] == a && p[1] == b) || (p[0] == b && p[1] == a))
				return true;
		}
	return false;
}

/* How much gsan has counted so far that makes it see less. */
static uint64_t counted(void)
{
	uint64_t n[CAUSES], sum = 0;

	worker_count(n);
	for (unsigned i = 0; i < CAUSES; i++)
		sum += n[i];
	return sum;
}

static void verdict(struct worker *w, unsigned first, const struct device_want *want,
		    bool rounded, struct run_result *r)
{
	size_t n = gsan_findings();
	struct gsan_report g;
	bool at_known = false;

	for (; w->seen < n; w->seen++) {
		if (gsan_finding(w->seen, &g))
			give_up("a finding that is not there");
		r->findings++;
		if (known(want, g.now.ptx_line - first, g.before.ptx_line - first))
			at_known = true;
		else
			r->races++;
		if (!want->racy && !bad_of(r)) {
			wrong(r, 0, "");
			snprintf(r->text, sizeof r->text, "%s at lines %u and %u of a program free of races",
				 g.kind, g.now.ptx_line - first, g.before.ptx_line - first);
		}
	}
	if (want->racy && !at_known && rounded)
		r->missed++;
	else if (want->racy && !r->findings)
		wrong(r, 0, "no race is found");
	else if (want->racy && !at_known)
		wrong(r, 0, "only other races are found");
}

/* What gsan writes; NULL: nothing yet. */
static char said_path[PATH_MAX];
static FILE *said;

/* The device and the host judge every launch, and gsan says where they do not agree. */
static void compare_both(void)
{
	const char *folder = getenv("TMPDIR");
	char options[PATH_MAX + 160];

	snprintf(said_path, sizeof said_path, "%s/gsan-soak", folder ? folder : "/tmp");
	snprintf(options, sizeof options, "log_path=%s:report_limit=1:symbolize=0:suppress_equal_stacks=0:quiet=1:exitcode=0:device_screen=3",
		 said_path);
	setenv("GSAN_OPTIONS", options, 1);
	snprintf(said_path + strlen(said_path), sizeof said_path - strlen(said_path), ".%ld", (long)getpid());
}

static bool they_differ(void)
{
	bool differ = false;
	char line[512];

	if (!said && (said = fopen(said_path, "r")))
		unlink(said_path);
	while (said && fgets(line, sizeof line, said))
		differ |= strstr(line, "a fault in gsan") != NULL;
	if (said)
		clearerr(said);
	return differ;
}

static bool copy(struct worker *w, unsigned char *to)
{
	return w->cuMemcpyDtoH_v2(to, w->data, CONTENTS_BYTES) == CUDA_SUCCESS;
}

static void one(struct worker *w, const struct gen_prog *p, unsigned i,
		const struct device_want *want, struct run_result *r)
{
	static unsigned char under[CONTENTS_BYTES], plain[CONTENTS_BYTES];
	uint64_t before = counted();

	if (!worker_launch(w, w->same, p, i)) {
		r->fault = true;
		wrong(r, 0, "under gsan it ends in a fault");
	}
	gsan_findings();        /* what is counted of a launch is, behind that */
	verdict(w, w->first[i], want, !r->fault && counted() != before, r);
	if (they_differ())
		wrong(r, 0, "the device and the host differ about a launch");
	if (r->fault || !want->stable || !copy(w, under))
		return;
	for (int k = 0; k < PLAIN_RUNS; k++) {
		if (!worker_launch(w, w->plain, p, i) || !copy(w, plain)) {
			r->fault = true;
			wrong(r, 0, "without gsan it ends in a fault");
			return;
		}
		if (contents_hash(plain) != want->contents)
			wrong(r, BAD_CONTENTS, "without gsan it leaves something else than on the "
			      "emulated device");
	}
	r->compared = true;
	if (memcmp(under, plain, sizeof plain))
		wrong(r, BAD_CONTENTS, "under gsan it leaves something else in memory");
}

static void on_device(const struct job *j, int fd, unsigned done)
{
	const struct run_result none = {0};
	struct worker w = {0};

	compare_both();
	worker_start(&w, j->driver);
	contents_load(&w, j->p, j->n, w.first);
	worker_send(fd, WORKER_LOADED, &none);
	for (unsigned k = done; k < j->n; k++) {
		struct run_result r = {0};

		one(&w, &j->p[k], k, &j->want[k], &r);
		worker_send(fd, k, &r);
		if (r.fault)
			break;
	}
}

/* As it is, on the emulated device, which knows when no thread can go on. */
static void in_many_orders(const struct job *j, int fd, unsigned done)
{
	struct run_result r = {0};
	struct worker w = {0};
	struct ptx_buf b;

	if (done)
		return;
	worker_find(worker_start(&w, j->driver), "emu_set_seed", &w.emu_set_seed);
	b = worker_text(j->p, 1, NULL);
	w.plain = worker_load(&w, b.p);
	free(b.p);
	worker_send(fd, WORKER_LOADED, &r);
	for (unsigned k = 1; k <= ORDERS && !r.fault; k++) {
		w.emu_set_seed(k);
		r.fault = !worker_launch(&w, w.plain, j->p, 0);
	}
	worker_send(fd, 0, &r);
}

bool ends_always(const struct gen_prog *p)
{
	struct run_result r = {0};
	struct job j = {
		.child = in_many_orders, .p = p, .n = 1, .schedules = 1, .patience = ORDERS_MS, .driver = soak_emu
	};

	worker_job(&j, &r);
	return !r.fault && !r.hung;
}

void run_device(const char *driver, const struct gen_prog *p, unsigned nprogs,
		const struct device_want *want, struct run_result *out)
{
	for (unsigned i = 0; i < nprogs; i += DEVICE_BATCH) {
		struct job j = {
			.child = on_device, .p = p + i, .schedules = 1, .patience = RUN_MS,
			.n = nprogs - i < DEVICE_BATCH ? nprogs - i : DEVICE_BATCH,
			.driver = driver, .want = want + i
		};

		worker_job(&j, out + i);
	}
}
