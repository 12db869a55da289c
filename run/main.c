/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: gsan-run's command line.  Reads the reproducer, decides where it runs,
 * starts a child for every seed and every set of options, and turns what they
 * found into the exit status.
 */
#include "run/run.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rewrite/rewrite.h"
#include "rt/gsan.h"
#include "rt/kinds.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.1"
#endif

#define FOUND 66                /* status of a run in which the oracle alone found something */
#define MAX_SEEDS 100000
#define MAX_FILE (256u << 20)

struct options {
	bool check, oracle, only, parse_only, seeded;   /* only: the oracle, without gsan */
	uint64_t first_seed, last_seed;
	enum run_device device;
	unsigned timeout;               /* 0: the script's */
	struct run_job job;
	const char *path;
	char **program;                 /* instead of a file; or NULL */
	const char *kernel, *skip, *count;      /* of a program: which launches */
	bool alone;                     /* it, and not what it starts */
	bool child;
};

static const char usage_text[] =
"Usage: gsan-run [OPTION]... FILE.ptx\n"
"       gsan-run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
"Instrument and run a reproducer: a PTX file that says in //@ lines how it is\n"
"launched and what must be found in it.  Reports go to stderr.\n"
"Run a program, which stands behind -- or does not look like PTX, as it is: what PTX it\n"
"loads is instrumented on its way to the driver.  On the emulated device that device's own CUDA runtime takes NVIDIA's place.  Of the\n"
"options --device, --seed, --seeds, --timeout, -v and the last four are for it.\n"
"\n"
"      --check             hold what was found against the expect lines\n"
"      --oracle            on the emulated device, ask its own detector as well, and\n"
"                          hold the two against each other\n"
"      --oracle=only       run the PTX as it is, on the emulated device, and let its\n"
"                          own detector alone judge; expect-with lines count if their\n"
"                          options say what is taken where the documentation\n"
"                          leaves room (gsan(7)), and nothing else\n"
"      --events=probes     put probes in, run that, and judge by what it logs\n"
"      --events[=hostile]  run the PTX as it is, on the emulated device, and judge by the\n"
"                          events that it logs; hostile: with clocks that are as bad\n"
"                          as they may be.  --oracle compares that with its detector\n"
"      --device=WHERE      gpu, emu (the emulated device), or auto: the GPU if\n"
"                          there is one (default)\n"
"      --seed=N            schedule N of the emulated device\n"
"      --seeds=A..B        run with every seed from A to B; all findings count\n"
"      --region=SIZE       with --events=probes, so much memory for the log (K, M, G);\n"
"                          default: as much as the launches need, and at least 64M\n"
"      --no-drain          do not empty that while a kernel runs: what comes when it is\n"
"                          full is lost, and is not judged\n"
"      --cuts=N            with --events, judge N times more as if from some moment on a\n"
"                          part of the log were lost: that may hide findings alone\n"
"      --inline=N          functions that log at more than N places call what does it\n"
"      --timeout=SECONDS   end a run after so long, whatever the script says\n"
"      --no-instrument     run the PTX as it is\n"
"      --dump=NAME[,...]   print the words of these buffers after the run\n"
"      --keep=FILE         write the instrumented PTX to FILE\n"
"      --parse-only        check the script and the command line, run nothing\n"
"  -v, --verbose           say what is done\n"
"  -h, --help              print this text\n"
"  -V, --version           print the version\n"
"      --kernel=REGEX      of a program, watch only launches of kernels whose name matches\n"
"      --skip=N            of these, leave out the first N\n"
"      --count=N           and watch no more than N\n"
"      --no-follow         do not watch the programs that the program starts\n"
"\n"
"Exit status: 0 nothing found, 66 (or exitcode of GSAN_OPTIONS) something found;\n"
"with --check 0 every verdict held, 1 one did not, 77 skipped.  2 bad usage or\n"
"script, 3 could not be run.  Of a program: its own, the first that is not 0.\n";

/* Ends a process in which libgsan was to watch nothing: it is in this program for the
 * child's sake, and has no word to say at its end. */
static _Noreturn void leave(int status)
{
	gsan_off();
	fflush(NULL);
	_exit(status);
}

static _Noreturn void usage(const char *what, const char *word)
{
	if (what)
		fprintf(stderr, "gsan-run: %s%s%s%s\n", what, word ? " \"" : "", word ? word : "",
			word ? "\"" : "");
	fputs("Try 'gsan-run --help'.\n", stderr);
	leave(RUN_USAGE);
}

static uint64_t number(const char *name, const char *s, char until, const char **end)
{
	char *e;
	uint64_t v;

	errno = 0;
	v = strtoull(s, &e, 0);
	if (e == s || *s == '-' || *s == '+' || errno || *e != until)
		usage(name, s);
	if (end)
		*end = e;
	return v;
}

/* --child=FD,DEVICE[?]: how proc.c runs this program again. */
static void child(struct options *o, const char *s)
{
	const char *comma;
	size_t n;

	o->job.fd = (int)number("--child", s, ',', &comma);
	o->child = true;
	n = strlen(comma + 1);
	o->job.oracle = n && comma[n] == '+';
	n -= o->job.oracle;
	o->job.optional = n && comma[n] == '?';
	o->job.emu = !strncmp(comma + 1, "emu", 3);
}

static void seeds(struct options *o, const char *s)
{
	const char *dots;

	o->seeded = true;
	o->first_seed = number("--seeds wants A..B, not", s, '.', &dots);
	if (dots[1] != '.')
		usage("--seeds wants A..B, not", s);
	o->last_seed = number("--seeds wants A..B, not", dots + 2, 0, NULL);
	if (o->last_seed < o->first_seed || o->last_seed - o->first_seed >= MAX_SEEDS)
		usage("--seeds: an empty or too long range", s);
}

/* Bytes: a number, and K, M or G. */
static uint64_t size(const char *s)
{
	static const char units[] = "KMG";
	const char *end = s + strspn(s, "0123456789"), *unit = *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t v = number("--region wants a size, not", s, *end, &end);

	if ((*end && !unit) || (*end && end[1]) || !v || v > UINT64_MAX >> shift)
		usage("--region wants a size, not", s);
	return v << shift;
}

static const char *launches(const char *what, const char *s)
{
	if (number(what, s, 0, NULL) > INT32_MAX)
		usage(what, s);
	return s;
}

/* What asks for a script, or for a detector of gsan-run's own, is for files. */
static void check_program(const struct options *o)
{
	if (o->check || o->oracle || o->job.events || o->parse_only || o->job.plain || o->job.dump || o->job.keep || o->job.inline_most)
		usage("only --device, --seed, --seeds, --timeout, -v, --kernel, --skip, --count and --no-follow are for programs", NULL);
}

enum {
	CHECK = 256, ORACLE, EVENTS, DEVICE, SEED, SEEDS, REGION, NO_DRAIN, CUTS, INLINE, TIMEOUT, PLAIN, DUMP, KEEP, PARSE, CHILD,
	KERNEL, SKIP, COUNT, ALONE
};
static const struct option longs[] = {
	{ "check", no_argument, NULL, CHECK },
	{ "oracle", optional_argument, NULL, ORACLE },
	{ "events", optional_argument, NULL, EVENTS },
	{ "device", required_argument, NULL, DEVICE },
	{ "seed", required_argument, NULL, SEED },
	{ "seeds", required_argument, NULL, SEEDS },
	{ "region", required_argument, NULL, REGION },
	{ "no-drain", no_argument, NULL, NO_DRAIN },
	{ "cuts", required_argument, NULL, CUTS },
	{ "inline", required_argument, NULL, INLINE },
	{ "timeout", required_argument, NULL, TIMEOUT },
	{ "no-instrument", no_argument, NULL, PLAIN },
	{ "dump", required_argument, NULL, DUMP },
	{ "keep", required_argument, NULL, KEEP },
	{ "parse-only", no_argument, NULL, PARSE },
	{ "child", required_argument, NULL, CHILD },
	{ "kernel", required_argument, NULL, KERNEL },
	{ "skip", required_argument, NULL, SKIP },
	{ "count", required_argument, NULL, COUNT },
	{ "no-follow", no_argument, NULL, ALONE },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

static enum run_device device_of(const char *s)
{
	if (!strcmp(s, "emu"))
		return DEVICE_EMU;
	if (!strcmp(s, "gpu"))
		return DEVICE_GPU;
	if (strcmp(s, "auto"))
		usage("--device: neither gpu, emu nor auto:", s);
	return DEVICE_AUTO;
}

static unsigned at_most(const char *s, unsigned least, unsigned most, const char *wants, const char *otherwise)
{
	const uint64_t v = number(wants, s, 0, NULL);

	if (v < least || v > most)
		usage(otherwise, s);
	return (unsigned)v;
}

/* Of what runs, and who judges.  False: none of these. */
static bool option_of_run(struct options *o, int c)
{
	switch (c) {
	case CHECK:
		o->check = true;
		break;
	case ORACLE:
		if (optarg && strcmp(optarg, "only"))
			usage("--oracle: the word behind it can only be only, not", optarg);
		o->oracle = true;
		o->only |= optarg != NULL;
		break;
	case EVENTS:
		if (optarg && strcmp(optarg, "hostile") && strcmp(optarg, "probes"))
			usage("--events: the word behind it can only be hostile or probes, not", optarg);
		o->job.events = !optarg ? EVENTS_FRIENDLY : *optarg == 'h' ? EVENTS_HOSTILE : EVENTS_PROBES;
		break;
	case DEVICE:
		o->device = device_of(optarg);
		break;
	case SEED:
		o->seeded = true;
		o->first_seed = o->last_seed = number("--seed wants a number, not", optarg, 0, NULL);
		break;
	case SEEDS:
		seeds(o, optarg);
		break;
	case TIMEOUT:
		o->timeout = at_most(optarg, 1, 86400, "--timeout wants seconds, not", "--timeout wants seconds, not");
		break;
	case CHILD:
		child(o, optarg);
		break;
	default:
		return false;
	}
	return true;
}

/* Of the log, and of what is shown. */
static bool option_of_log(struct options *o, int c)
{
	switch (c) {
	case REGION:
		o->job.region = size(optarg);
		break;
	case NO_DRAIN:
		o->job.no_drain = true;
		break;
	case CUTS:
		o->job.cuts = at_most(optarg, 0, 100000, "--cuts wants a number, not", "--cuts: too many:");
		break;
	case INLINE:
		if (!gsan_rewrite_inline(optarg, &o->job.inline_most))
			usage("--inline wants a number, not", optarg);
		break;
	case PLAIN:
		o->job.plain = true;
		break;
	case DUMP:
		o->job.dump = optarg;
		break;
	case KEEP:
		o->job.keep = optarg;
		break;
	case PARSE:
		o->parse_only = true;
		break;
	case 'v':
		o->job.verbose = true;
		break;
	default:
		return false;
	}
	return true;
}

static bool option_of_program(struct options *o, int c)
{
	switch (c) {
	case KERNEL:
		o->kernel = optarg;
		if (run_program_regex(optarg))
			usage("--kernel: no regular expression", run_program_regex(optarg));
		break;
	case SKIP:
		o->skip = launches("--skip wants a number of launches, not", optarg);
		break;
	case COUNT:
		o->count = launches("--count wants a number of launches, not", optarg);
		break;
	case ALONE:
		o->alone = true;
		break;
	default:
		return false;
	}
	return true;
}

/* What goes together; what one of them means for others. */
static void check_options(struct options *o)
{
	if (o->only && o->device == DEVICE_GPU)
		usage("--oracle=only: a GPU has no detector of its own", NULL);
	if (o->job.events == EVENTS_PROBES && o->oracle)
		usage("--events=probes: what has probes is not what the oracle judges", NULL);
	if ((o->job.region || o->job.no_drain) && o->job.events != EVENTS_PROBES)
		usage("--region, --no-drain: only with --events=probes", NULL);
	if (o->job.inline_most && (o->only || o->job.plain || (o->job.events && o->job.events != EVENTS_PROBES)))
		usage("--inline: only where probes are put in", NULL);
	if (o->job.cuts && !o->job.events)
		usage("--cuts: only with --events", NULL);
	if (o->job.events == EVENTS_PROBES)
		o->job.plain = true;
	else if (o->job.events && (o->only || o->device == DEVICE_GPU))
		usage("--events: only the emulated device logs, and the detector judges", NULL);
	if (o->only || (o->job.events && o->job.events != EVENTS_PROBES)) {
		o->device = DEVICE_EMU;
		o->job.plain = true;
	}
}

/* Where the first word stands that is no option, argc if there is none; a "--" in front of it stands there, too. */
static int first_word(int argc, char **argv)
{
	int at;

	opterr = 0;
	while (getopt_long(argc, argv, "+vhV", longs, NULL) >= 0)
		;
	at = optind;
	optind = 0;
	opterr = 1;
	return at;
}

static void parse(struct options *o, int argc, char **argv)
{
	const int word = first_word(argc, argv);
	int c;

	/* What stands behind a program is the program's. */
	if (word < argc && strcmp(argv[word - 1], "--") && run_is_program(argv[word])) {
		o->program = argv + word;
		argc = word;
	}
	while ((c = getopt_long(argc, argv, "vhV", longs, NULL)) >= 0) {
		if (c == 'h' || c == 'V') {
			fputs(c == 'h' ? usage_text : "gsan-run (gsan) " PACKAGE_VERSION "\n", stdout);
			leave(RUN_OK);
		}
		if (!option_of_run(o, c) && !option_of_log(o, c) && !option_of_program(o, c))
			usage(NULL, NULL);
	}
	check_options(o);
	if (o->program) {
		check_program(o);
		return;
	}
	if (!o->child && !strcmp(argv[optind - 1], "--") && optind < argc) {
		o->program = argv + optind;
		check_program(o);
		return;
	}
	if (o->kernel || o->skip || o->count || o->alone)
		usage("--kernel, --skip, --count and --no-follow are for programs", NULL);
	if (optind == argc)
		usage("no file", NULL);
	if (optind + 1 < argc)
		usage("more than one file:", argv[optind + 1]);
	o->path = argv[optind];
}

/* The whole file and a NUL behind it. */
static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL, *bigger;
	size_t n = 0, cap = 0, got;

	if (!f)
		goto bad;
	do {
		if (cap - n < 65536) {
			cap = cap ? cap * 2 : 1 << 17;
			bigger = cap > MAX_FILE ? NULL : realloc(text, cap);
			if (!bigger) {
				errno = EFBIG;
				goto bad;
			}
			text = bigger;
		}
		got = fread(text + n, 1, cap - n - 1, f);
		n += got;
	} while (got);
	if (ferror(f))
		goto bad;
	fclose(f);
	text[n] = 0;
	*len = n;
	return text;
bad:
	fprintf(stderr, "gsan-run: %s: %s\n", path, strerror(errno));
	if (f)
		fclose(f);
	free(text);
	return NULL;
}

/* ---- Running. */

struct outcome {
	int status;             /* of the worst run: RUN_OK, RUN_USAGE, RUN_OTHER, RUN_SKIPPED */
	int exit_status;        /* the first child's that was not 0 */
	bool timed_out;
	bool disagreed;
};

/* Every seed under one set of options.  A missing GPU moves all to the emulated
 * device. */
static void run_all(const struct options *o, const struct run_script *s, char **argv,
		    enum run_device *device, const char *options, struct run_findings *f,
		    struct run_findings *oracle, struct outcome *out)
{
	struct run_child c = {
		.argv = argv, .options = options, .seeded = o->seeded, .sm = s->sm,
		.timeout = o->timeout ? o->timeout : s->timeout,
	};
	struct run_result r;
	uint64_t i;

	*out = (struct outcome){ 0 };
	for (i = 0; i <= o->last_seed - o->first_seed; i++) {
		c.seed = o->first_seed + i;
again:
		c.device = *device == DEVICE_EMU ? "emu" : "gpu";
		c.optional = o->device == DEVICE_AUTO && *device != DEVICE_EMU;
		c.oracle = o->oracle && *device == DEVICE_EMU && run_oracle_knows(options);
		if (!run_spawn(&c, f, oracle, &r)) {
			out->status = RUN_OTHER;
			return;
		}
		if (r.no_device && c.optional && s->place == PLACE_GPU) {
			printf("%s: skipped: runs only on a GPU\n", s->path);
			out->status = RUN_SKIPPED;
			return;
		}
		if (r.no_device && c.optional) {
			*device = DEVICE_EMU;
			goto again;
		}
		out->disagreed |= r.disagreed;
		if (r.exit_status && !out->exit_status)
			out->exit_status = r.exit_status;
		if (r.timed_out) {
			out->timed_out = true;
			if (r.deadlock)
				fprintf(stderr, "%s: a deadlock", s->path);
			else
				fprintf(stderr, "%s: not done after %u seconds", s->path, c.timeout);
			if (o->seeded)
				fprintf(stderr, " (seed %llu)", (unsigned long long)c.seed);
			fputc('\n', stderr);
		} else if (r.status) {
			out->status = r.status;
			return;
		}
	}
}

static bool same_options(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool expects_hang(const struct run_script *s, const char *options)
{
	for (unsigned i = 0; i < s->nexpects; i++)
		if (same_options(s->expects[i].options, options) && s->expects[i].kind == GSAN_DEADLOCK && !s->expects[i].clean)
			return true;
	return false;
}

/* Runs the file once for every set of options that some verdict asks for. */
static int check_all(const struct options *o, const struct run_script *s, char **argv,
		     enum run_device *device)
{
	struct run_findings f, oracle;
	struct outcome out;
	unsigned i, k;
	int status = RUN_OK, judged = 0;

	for (i = 0; i < s->nexpects; i++) {
		for (k = 0; k < i; k++)
			if (same_options(s->expects[k].options, s->expects[i].options))
				break;
		if (k < i || ((o->only || o->job.events) && !run_oracle_knows(s->expects[i].options)))
			continue;
		f = oracle = (struct run_findings){ 0 };
		run_all(o, s, argv, device, s->expects[i].options, &f, &oracle, &out);
		if (out.status) {
			free(f.v);
			free(oracle.v);
			return out.status;
		}
		if ((out.timed_out && !expects_hang(s, s->expects[i].options)) || out.disagreed)
			status = RUN_FAILED;
		for (k = i; k < s->nexpects; k++) {
			if (!same_options(s->expects[k].options, s->expects[i].options))
				continue;
			judged++;
			if ((!o->only && !run_holds(s, &s->expects[k], &f, "")) ||
			    (o->oracle && *device == DEVICE_EMU && run_oracle_knows(s->expects[i].options) &&
			     !run_holds(s, &s->expects[k], &oracle, " from the oracle")))
				status = RUN_FAILED;
		}
		free(f.v);
		free(oracle.v);
	}
	if (status == RUN_OK && o->job.verbose)
		fprintf(stderr, "%s: %d verdicts held\n", s->path, judged);
	return status;
}

static int plain_run(const struct options *o, const struct run_script *s, char **argv,
		     enum run_device *device)
{
	struct run_findings f = { 0 }, oracle = { 0 };
	struct outcome out;

	run_all(o, s, argv, device, NULL, &f, &oracle, &out);
	free(f.v);
	free(oracle.v);
	if (((o->only && oracle.n) || (o->job.events && f.n)) && !out.exit_status)
		out.exit_status = FOUND;
	if (out.status && out.status != RUN_OTHER)
		return out.status;
	if (out.exit_status)
		return out.exit_status;
	return out.status || out.timed_out ? RUN_OTHER : RUN_OK;
}

/* Where the file can run; RUN_OK, or why it is not run at all. */
static int choose(const struct options *o, const struct run_script *s, enum run_device *device)
{
	*device = o->device;
	if (*device == DEVICE_AUTO && !run_gpu_likely())
		*device = DEVICE_EMU;
	if ((s->place == PLACE_EMU && o->device == DEVICE_GPU) ||
	    (s->place == PLACE_GPU && *device == DEVICE_EMU)) {
		printf("%s: skipped: runs only on %s\n", s->path,
		       s->place == PLACE_EMU ? "the emulated device" : "a GPU");
		return RUN_SKIPPED;
	}
	if (s->place == PLACE_EMU)
		*device = DEVICE_EMU;
	if (s->place == PLACE_GPU)
		*device = DEVICE_GPU;
	if (*device == DEVICE_EMU && !run_path(RUN_EMU)) {
		fputs("gsan-run: there is no GPU, and the emulated device (emu/libcuda.so.1) is"
		      " not where it was built nor where it is installed\n", stderr);
		return RUN_OTHER;
	}
	return RUN_OK;
}

int main(int argc, char **argv)
{
	struct options o = { .job.fd = -1 };
	struct run_script s;
	enum run_device device;
	char *text;
	size_t len;
	int status;

	parse(&o, argc, argv);
	if (o.program)
		leave(run_program(&(struct run_program){
			.argv = o.program, .device = o.device, .seeded = o.seeded, .first_seed = o.first_seed,
			.last_seed = o.last_seed, .timeout = o.timeout, .verbose = o.job.verbose,
			.alone = o.alone, .kernel = o.kernel, .skip = o.skip, .count = o.count
		}));
	text = slurp(o.path, &len);
	if (!text)
		leave(RUN_OTHER);
	if (run_is_machine_code(o.path, text))
		leave(RUN_USAGE);
	if (!run_parse(&s, o.path, text, len)) {
		status = RUN_USAGE;
	} else if (o.check && !s.nexpects) {
		run_error(&s, (struct run_pos){ 1, 1 }, "no expect line: there is nothing to check");
		status = RUN_USAGE;
	} else if (o.parse_only) {
		status = RUN_OK;
	} else if (s.unsupported) {
		run_error(&s, s.unsupported_pos, "%s is not supported yet", s.unsupported);
		status = RUN_OTHER;
	} else if (run_launches_nothing(&s)) {
		status = RUN_USAGE;
	} else if (o.child) {
		status = run_launch(&s, &o.job);
	} else {
		status = choose(&o, &s, &device);
		if (!status)
			status = o.check ? check_all(&o, &s, argv, &device)
					 : plain_run(&o, &s, argv, &device);
	}
	run_free(&s);
	free(text);
	/* The child of a run that happened ends like any watched program. */
	if (o.child && !run_elsewhere(&o.job) && (status == RUN_OK || status == RUN_OTHER))
		return status;
	leave(status == END_NO_DEVICE ? RUN_OTHER : status);
}
