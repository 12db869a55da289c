/* SPDX-License-Identifier: Apache-2.0
 *
 * soak.c: random programs under gsan and the oracle.  soak --help says how.
 */
#include "testsuite/gen/soak.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 48 };

struct options {
	uint64_t seed, count;
	unsigned schedules, most;
	const char *save, *write;
	const char *device;             /* another driver; NULL: none */
	uint64_t each;
	bool print, shrink, any_kind, async;
	uint64_t kind;                  /* of async: 0, GEN_PRODUCTS, GEN_ROWS; GEN_LOCKS, of both; GEN_ERRORS */
};

static const char usage_text[] =
"Usage: soak [OPTION]...\n"
"Random programs on the emulated device under gsan and the oracle, which must agree.\n"
"\n"
"      --seed=N         the first program (default 1)\n"
"      --count=N        how many (default 1000)\n"
"      --async          programs of the asynchronous world: mbarriers, copies, clusters\n"
"      --products       of wgmma, from stages that copies fill\n"
"      --rows           of tiles that copies bring and take, and warps access by rows\n"
"      --locks          of locks that are taken again, and of chains whose links acquire releases\n"
"                       of their own; with --async by mbarriers as well\n"
"      --errors         of which half have an error that is no race: an access outside of its variable,\n"
"                       misuse of a barrier or an mbarrier, what is left behind by a block, a deadlock;\n"
"                       gsan has to say what was planted, and the oracle, and nothing else\n"
"      --events=CLOCKS  run the programs as they are, judge what they log, and hold that against the\n"
"                       oracle; CLOCKS: friendly or hostile\n"
"      --schedules=N    schedules for each (default 3)\n"
"      --save=DIR       where short programs that show a disagreement go (default .)\n"
"      --most=N         stop after so many of those (default 10)\n"
"      --no-shrink      save them as they are\n"
"      --any-kind       a race by another kind's name is no disagreement\n"
"      --write=DIR      save every program with its verdict, race-free and racy ones,\n"
"                       if the verdict is the same under all schedules\n"
"      --device=FILE    run programs with that driver as well, which must give the\n"
"                       verdict that they have here under all schedules (default 8);\n"
"                       race-free ones must leave the same in memory\n"
"      --each=N         until so many race-free and so many racy ones were (default 100)\n"
"      --print          print the programs and run nothing\n"
"      --emu=FILE       the emulated device's library\n"
"      --loud           show what the programs and gsan have to say\n"
"      --help           print this text\n"
"\n"
"Asked to end (SIGINT, SIGTERM), it ends behind the programs under way and says what it has.\n"
"Exit status: 0 no disagreement, 1 some, 2 bad usage, 3 it could not be run.\n";

static _Noreturn void usage(const char *what)
{
	fprintf(stderr, "soak: %s\nTry 'soak --help'.\n", what);
	exit(2);
}

static uint64_t number(const char *s)
{
	char *e;
	uint64_t v;

	errno = 0;
	v = strtoull(s, &e, 0);
	if (e == s || *e || *s == '-' || errno)
		usage("not a number");
	return v;
}

/* Beside this program's folder's folder's folder, as it is built. */
static const char *emu_path(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
	char *slash;

	for (int i = 0; i < 3; i++) {
		if (n <= 0)
			return NULL;
		path[n] = 0;
		slash = strrchr(path, '/');
		if (!slash)
			return NULL;
		n = slash - path;
	}
	strcpy(path + n, "/emu/libcuda.so.1");
	return path;
}

static void parse(struct options *o, int argc, char **argv)
{
	enum {
		SEED = 256, COUNT, SCHEDULES, SAVE, MOST, NO_SHRINK, ANY_KIND, WRITE, PRINT,
		EMU, LOUD, HELP, DEVICE, EACH, ASYNC, PRODUCTS, ROWS, LOCKS, ERRORS, EVENTS
	};
	static const struct option longs[] = {
		{"seed", required_argument, NULL, SEED}, {"count", required_argument, NULL, COUNT},
		{"async", no_argument, NULL, ASYNC}, {"products", no_argument, NULL, PRODUCTS},
		{"rows", no_argument, NULL, ROWS}, {"locks", no_argument, NULL, LOCKS},
		{"errors", no_argument, NULL, ERRORS},
		{"events", required_argument, NULL, EVENTS},
		{"schedules", required_argument, NULL, SCHEDULES},
		{"save", required_argument, NULL, SAVE}, {"most", required_argument, NULL, MOST},
		{"no-shrink", no_argument, NULL, NO_SHRINK},
		{"any-kind", no_argument, NULL, ANY_KIND}, {"write", required_argument, NULL, WRITE},
		{"print", no_argument, NULL, PRINT}, {"emu", required_argument, NULL, EMU},
		{"device", required_argument, NULL, DEVICE}, {"each", required_argument, NULL, EACH},
		{"loud", no_argument, NULL, LOUD}, {"help", no_argument, NULL, HELP},
		{NULL, 0, NULL, 0}
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		switch (c) {
		case SEED:
			o->seed = number(optarg);
			break;
		case COUNT:
			o->count = number(optarg);
			break;
		case ASYNC:
			o->async = true;
			break;
		case PRODUCTS:
			o->async = true;
			o->kind = GEN_PRODUCTS;
			break;
		case ROWS:
			o->async = true;
			o->kind = GEN_ROWS;
			break;
		case LOCKS:
			o->kind = GEN_LOCKS;
			break;
		case ERRORS:
			o->kind = GEN_ERRORS;
			break;
		case EVENTS:
			if (strcmp(optarg, "friendly") && strcmp(optarg, "hostile"))
				usage("--events: friendly or hostile");
			soak_events = strcmp(optarg, "hostile") ? SOAK_FRIENDLY : SOAK_HOSTILE;
			break;
		case SCHEDULES:
			o->schedules = (unsigned)number(optarg);
			break;
		case SAVE:
			o->save = optarg;
			break;
		case MOST:
			o->most = (unsigned)number(optarg);
			break;
		case NO_SHRINK:
			o->shrink = false;
			break;
		case ANY_KIND:
			o->any_kind = true;
			break;
		case WRITE:
			o->write = optarg;
			break;
		case PRINT:
			o->print = true;
			break;
		case EMU:
			soak_emu = optarg;
			break;
		case DEVICE:
			o->device = optarg;
			break;
		case EACH:
			o->each = number(optarg);
			break;
		case LOUD:
			soak_loud = true;
			break;
		case HELP:
			fputs(usage_text, stdout);
			exit(0);
		default:
			usage("bad option");
		}
	}
	if (optind < argc)
		usage("no arguments are wanted");
	if (o->seed < GEN_PRODUCTS)
		o->seed += o->kind;
	if (!o->schedules)
		o->schedules = o->device ? 8 : 3;
	if (o->kind == GEN_ERRORS && o->device)
		usage("--errors: on the emulated device alone");
	if (!o->each || o->schedules > SCHEDULES_MAX)
		usage("--schedules: 1 to 64; --each: at least 1");
}

/* ---- reproducers ------------------------------------------------------------------ */

static void reproducer(FILE *f, const struct gen_prog *p, const char *comment, const char *expect,
		       unsigned bytes)
{
	struct ptx_buf b = {0};

	fprintf(f, "// SPDX-License-Identifier: Apache-2.0\n"
		"// %s\n"
		"//@ device sm_90\n"
		"//@ buf data %u\n", comment, bytes);
	if (p->async)
		fprintf(f, "//@ buf source %u iota\n"
			"//@ tmap map data u32 dims=%u,%u box=%u,%u\n", GEN_SOURCE, GEN_MAP_ROW,
			GEN_GLOBAL / GEN_MAP_ROW / 4, GEN_MAP_WIDE, GEN_MAP_HIGH);
	fprintf(f, "//@ launch k grid=%u block=%u smem=%u args=data%s\n", p->blocks, p->threads, p->dynamic,
		p->async ? ",source,map" : "");
	if (expect)
		fprintf(f, "//@ expect %s\n", expect);
	ptx_puts(&b, gen_header);
	gen_print(&b, p, "k");
	fwrite(b.p, 1, b.len, f);
	free(b.p);
}

static void save(const char *dir, const struct gen_prog *p, const char *comment, const char *expect,
		 unsigned bytes)
{
	char path[PATH_MAX];
	FILE *f;

	mkdir(dir, 0777);
	snprintf(path, sizeof path, "%s/%llu.ptx", dir, (unsigned long long)p->seed);
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr, "soak: %s: %s\n", path, strerror(errno));
		exit(3);
	}
	reproducer(f, p, comment, expect, bytes);
	fclose(f);
	printf("  saved as %s\n", path);
}

/* What shows it is what its threads have in their registers. */
static void save_contents(const char *dir, const struct gen_prog *p, unsigned schedule)
{
	char comment[256];
	struct gen_prog q;

	contents_prog(&q, p);
	snprintf(comment, sizeof comment, "Program %llu: EMU_STEPWISE=1 gsan-run --device=emu --seed=%llu "
		 "--dump=data, and the same with --no-instrument.", (unsigned long long)p->seed,
		 (unsigned long long)contents_seed(p, schedule));
	save(dir, &q, comment, NULL, CONTENTS_BYTES);
	gen_free(&q);
}

static void disagreement(const struct options *o, const struct gen_prog *p, const struct run_result *r,
			 unsigned schedule)
{
	static const char *const words[] = {
		[ORACLE_NO_RACE] = "gsan reports what is no race",
		[ORACLE_OTHER_KIND] = "gsan gives another kind to a race",
		[ORACLE_LACKS] = "gsan lacks a race", [BAD_WAY] = "another way to judge finds something else",
		[BAD_PLANT] = "not what was planted"
	};
	unsigned word = r->bad[ORACLE_NO_RACE] ? ORACLE_NO_RACE :
			r->bad[BAD_CONTENTS] ? BAD_CONTENTS : r->bad[BAD_WAY] ? BAD_WAY :
			r->bad[BAD_PLANT] ? BAD_PLANT :
			r->bad[ORACLE_LACKS] ? ORACLE_LACKS : ORACLE_OTHER_KIND;
	char comment[256];
	struct gen_prog q;
	int at = (int)schedule;

	printf("program %llu, schedule %u: %s\n", (unsigned long long)p->seed, schedule, r->text);
	fflush(stdout);
	gen_copy(&q, p);
	if (o->shrink && !r->hung && word != BAD_PLANT) {
		at = shrink(&q, word);
		if (at < 0)
			printf("  it does not show when the program runs alone\n");
	}
	if (word == BAD_CONTENTS && !r->hung) {
		save_contents(o->save, &q, at < 0 ? schedule : (unsigned)at);
	} else {
		snprintf(comment, sizeof comment, "Program %llu: %s.", (unsigned long long)p->seed,
			 r->hung ? r->text : words[word]);
		save(o->save, &q, comment, NULL, GEN_GLOBAL);
	}
	gen_free(&q);
}

/* ---- the seeds -------------------------------------------------------------------------- */

struct totals {
	uint64_t progs, racy, silent, clean, either, faults, hung, findings, missed, excused, bad, runs, compared, planted, told;
	uint64_t cause[CAUSES], alone[CAUSES];
};

static void count(struct totals *t, const struct options *o, const struct gen_prog *p,
		  const struct run_result *r)
{
	unsigned racy = 0, clean = 0;
	bool bad = false, fault = false, told = false;

	for (unsigned s = 0; s < o->schedules; s++) {
		t->runs++;
		t->findings += r[s].findings;
		told |= r[s].findings != 0;
		t->missed += r[s].missed;
		t->excused += r[s].excused;
		for (unsigned i = 0; i < CAUSES; i++) {
			t->cause[i] += r[s].cause[i];
			t->alone[i] += r[s].alone[i];
		}
		t->faults += r[s].fault;
		t->hung += r[s].hung;
		t->compared += r[s].compared;
		t->planted += p->planted && (soak_events || !(p->may & GEN_POLLS));
		t->told += r[s].told;
		fault |= r[s].fault || r[s].hung;
		racy += r[s].races != 0;
		clean += !r[s].races;
		if ((r[s].bad[ORACLE_NO_RACE] || r[s].bad[ORACLE_LACKS] || r[s].bad[BAD_CONTENTS] || r[s].bad[BAD_WAY] ||
		     r[s].bad[BAD_PLANT] || r[s].hung ||
		     (r[s].bad[ORACLE_OTHER_KIND] && !o->any_kind)) && !bad) {
			bad = true;
			t->bad++;
			if (t->bad <= o->most)
				disagreement(o, p, &r[s], s);
		}
	}
	t->progs++;
	t->racy += racy == o->schedules;
	/* A fault takes the log with it. */
	if (racy == o->schedules && !told && !fault) {
		t->silent++;
		printf("program %llu races, and gsan is silent, for what it counted\n", (unsigned long long)p->seed);
	}
	t->clean += clean == o->schedules;
	t->either += racy != o->schedules && clean != o->schedules;
	if (o->write && !bad && !fault && (racy == o->schedules || clean == o->schedules))
		save(o->write, p, p->safe ? "Made to be free of races." :
		     "Made to go wrong anywhere.", racy ? "race" : "clean", GEN_GLOBAL);
}

/* What gsan counted where it missed races. */
static void causes(const struct totals *t)
{
	static const char *const others[CAUSES] = {[CAUSE_FAULT] = "the program's fault", [CAUSE_LOST] = "a lost log"};

	for (unsigned i = 0; i < CAUSES; i++)
		if (t->cause[i])
			printf("  missed with %s: %llu, and nothing else: %llu\n",
			       others[i] ? others[i] : detect_counter_name((enum detect_counter)i),
			       (unsigned long long)t->cause[i], (unsigned long long)t->alone[i]);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void chunk(struct totals *t, const struct options *o, uint64_t first, unsigned n)
{
	struct run_result *r = calloc((size_t)n * o->schedules, sizeof *r);
	struct gen_prog p[CHUNK] = {{0}};

	if (!r)
		exit(3);
	for (unsigned i = 0; i < n; i++)
		gen_make(&p[i], first + i, o->async);
	if (o->print)
		for (unsigned i = 0; i < n; i++)
			reproducer(stdout, &p[i], "A random program.", NULL, GEN_GLOBAL);
	else
		run_all(p, n, 0, o->schedules, r);
	for (unsigned i = 0; i < n; i++) {
		if (!o->print)
			count(t, o, &p[i], r + (size_t)i * o->schedules);
		gen_free(&p[i]);
	}
	free(r);
}

/* ---- another device ---------------------------------------------------------------------- */

struct there {
	uint64_t clean, racy;           /* programs that were run */
	uint64_t compared, differ, contents, lost, others, missed, stuck, rare;
};

static bool has(const struct gen_prog *p, const char *const words[], size_t n)
{
	for (unsigned i = 0; i < p->n; i++)
		for (size_t k = 0; k < n; k++)
			if (strstr(p->item[i].text, words[k]))
				return true;
	return false;
}

/* A loop that gives up: whether its race comes about may hang on the schedule. */
static bool gives_up(const struct gen_prog *p)
{
	static const char *const words[] = {"setp.lt.u32 %q, %k7"};

	return has(p, words, 1);
}

/* Strong accesses that find what others have done by then, or whose order counts: what
 * a program free of races leaves may hang on the schedule, if eight do not show it. */
static bool has_order(const struct gen_prog *p)
{
	static const char *const words[] = {
		"\tatom.", "\tred.", "ld.volatile", "ld.relaxed", "ld.acquire", "ld.mmio"
	};

	return has(p, words, sizeof words / sizeof *words);
}

/* What the device has to show, if the emulated one leaves no doubt. */
static bool wanted(const struct options *o, const struct gen_prog *p, const struct run_result *r,
		   const struct there *t, struct device_want *w)
{
	unsigned racy = 0, clean = 0;

	*w = (struct device_want){.stable = p->safe, .contents = r->contents, .known = r,
				  .nknown = o->schedules};
	for (unsigned s = 0; s < o->schedules; s++) {
		if (bad_of(&r[s]) || r[s].fault || r[s].hung)
			return false;
		racy += r[s].races != 0 && r[s].findings != 0;
		clean += !r[s].races && p->safe;
		w->stable &= r[s].compared && r[s].contents == r->contents;
	}
	w->racy = racy == o->schedules && !gives_up(p);
	w->stable &= clean == o->schedules && !has_order(p);
	return w->racy ? t->racy < o->each : clean == o->schedules && t->clean < o->each;
}

/* A race that some schedule does not show, if not one of the first ones: the device need not show it, either. */
static bool is_rare(const struct gen_prog *p)
{
	enum { MORE = 4 };
	struct run_result r[SCHEDULES_MAX];
	struct gen_prog again = *p;

	for (unsigned k = 0; k < MORE; k++) {
		again.seed += 1000003;          /* which decides about the schedules */
		memset(r, 0, sizeof r);
		run_all(&again, 1, 0, SCHEDULES_MAX, r);
		for (unsigned s = 0; s < SCHEDULES_MAX; s++)
			if (!r[s].races)
				return true;
	}
	return false;
}

static void judge(const struct options *o, struct there *t, const struct gen_prog *p,
		  const struct device_want *w, const struct run_result *r)
{
	t->compared += r->compared;
	t->others += w->racy && r->races;
	t->missed += r->missed != 0;
	if (!r->hung && !bad_of(r))
		return;
	/* Without gsan it would have come to no end either, if not this time. */
	if (r->hung || r->fault) {
		printf("program %llu: %s; may it hang without gsan?\n", (unsigned long long)p->seed, r->text);
		fflush(stdout);
	}
	if ((r->hung || r->fault) && !ends_always(p)) {
		t->stuck++;
		t->racy -= w->racy;
		t->clean -= !w->racy;
		return;
	}
	if (w->racy && !r->races && r->bad[0] && is_rare(p)) {
		t->rare++;
		t->racy--;
		return;
	}
	t->differ += r->bad[0] != 0;
	t->contents += r->bad[BAD_CONTENTS] != 0;
	t->lost += r->hung;
	printf("program %llu, %s on the emulated device: %s\n", (unsigned long long)p->seed,
	       w->racy ? "racy" : "race-free", r->text);
	save(o->save, p, r->text, w->racy ? "race" : "clean", GEN_GLOBAL);
}

/* Some programs from number `first` on. */
static void there(const struct options *o, struct there *t, uint64_t first)
{
	struct run_result *r = calloc((size_t)CHUNK * o->schedules, sizeof *r), out[CHUNK] = {{0}};
	struct gen_prog p[CHUNK] = {{0}}, picked[CHUNK];
	struct device_want want[CHUNK];
	unsigned n = 0;

	if (!r)
		exit(3);
	for (unsigned i = 0; i < CHUNK; i++) {
		gen_make(&p[i], first + i, o->async);
		gen_clear(&p[i]);
	}
	run_all(p, CHUNK, 0, o->schedules, r);
	for (unsigned i = 0; i < CHUNK; i++) {
		if (!wanted(o, &p[i], r + (size_t)i * o->schedules, t, &want[n]))
			continue;
		t->racy += want[n].racy;
		t->clean += !want[n].racy;
		picked[n++] = p[i];
	}
	run_device(o->device, picked, n, want, out);
	for (unsigned i = 0; i < n; i++)
		judge(o, t, &picked[i], &want[i], &out[i]);
	for (unsigned i = 0; i < CHUNK; i++)
		gen_free(&p[i]);
	free(r);
}

static volatile sig_atomic_t stopped;

/* At once, if interrupted again; timeout(1) sends its signal twice. */
static void stop(int signal_number)
{
	stopped = 1;
	if (signal_number == SIGINT)
		signal(signal_number, SIG_DFL);
}

static int on_device(const struct options *o)
{
	struct there t = {0};
	double start = now();
	uint64_t i;

	soak_contents = true;
	for (i = 0; (t.clean < o->each || t.racy < o->each) && t.differ + t.contents + t.lost < o->most && !stopped;
	     i += CHUNK)
		there(o, &t, o->seed + i);
	printf("%llu race-free, %llu racy: %llu verdicts differ, %llu ran into their limit; "
	       "%llu contents compared, %llu differ; %llu name other lines as well, %llu lack the race for what was counted; "
	       "%llu left out that may hang without gsan, %llu whose race not all schedules show; programs %llu to %llu, %.0f s\n",
	       (unsigned long long)t.clean, (unsigned long long)t.racy, (unsigned long long)t.differ,
	       (unsigned long long)t.lost, (unsigned long long)t.compared,
	       (unsigned long long)t.contents, (unsigned long long)t.others,
	       (unsigned long long)t.missed, (unsigned long long)t.stuck, (unsigned long long)t.rare,
	       (unsigned long long)o->seed, (unsigned long long)(o->seed + i - 1), now() - start);
	return t.differ || t.contents || t.lost || t.clean < o->each || t.racy < o->each;
}

/* Where things lie decides what hashes to where: the same seed is to show the same. */
static void lie_still(char **argv)
{
	int now_is = personality(0xffffffff);

	if (now_is == -1 || (now_is & ADDR_NO_RANDOMIZE))
		return;
	if (personality((unsigned long)now_is | ADDR_NO_RANDOMIZE) != -1)
		execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	struct options o = {.seed = 1, .count = 1000, .each = 100, .most = 10, .save = ".", .shrink = true};
	struct totals t = {0};
	double start = now();

	soak_emu = emu_path();
	parse(&o, argc, argv);
	if (!o.device)
		lie_still(argv);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	if (o.device)
		return on_device(&o);
	for (uint64_t i = 0; i < o.count && t.bad < o.most && !stopped; i += CHUNK)
		chunk(&t, &o, o.seed + i, o.count - i < CHUNK ? (unsigned)(o.count - i) : CHUNK);
	if (o.print)
		return 0;
	printf("%llu programs, %llu runs: %llu race, %llu do not, %llu either; %llu findings; "
	       "%llu race without a finding; "
	       "%llu runs end in a fault; %llu races missed and counted, %llu by another line or kind; "
	       "%llu runs again with and without gsan; "
	       "%llu programs with a disagreement; %.0f s, %.1f runs/s\n",
	       (unsigned long long)t.progs, (unsigned long long)t.runs, (unsigned long long)t.racy,
	       (unsigned long long)t.clean, (unsigned long long)t.either,
	       (unsigned long long)t.findings, (unsigned long long)t.silent, (unsigned long long)t.faults,
	       (unsigned long long)t.missed, (unsigned long long)t.excused,
	       (unsigned long long)t.compared,
	       (unsigned long long)t.bad, now() - start,
	       (double)t.runs / (now() - start));
	if (t.planted)
		printf("  %llu runs with a planted error, told in %llu\n", (unsigned long long)t.planted, (unsigned long long)t.told);
	causes(&t);
	return t.bad != 0;
}
