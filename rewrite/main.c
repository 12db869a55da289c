/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: gsan-ptx, the rewriter's command line.  The only place that knows
 * getopt, the texts of --help and the exit statuses: 0 done, 1 input rejected,
 * 2 usage, 3 internal or input/output error.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/rw.h"

enum { EXIT_OK, EXIT_REJECTED, EXIT_USAGE, EXIT_IO };

enum { OPT_PRINT = 256, OPT_STATS, OPT_KERNEL, OPT_WRAP, OPT_RELOCATABLE, OPT_PERTURB, OPT_INLINE, OPT_STORED, OPT_LIST, OPT_HELP, OPT_VERSION };

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "dump", required_argument, NULL, 'd' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "print", no_argument, NULL, OPT_PRINT },
	{ "stats", no_argument, NULL, OPT_STATS },
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "wrap", no_argument, NULL, OPT_WRAP },
	{ "relocatable", no_argument, NULL, OPT_RELOCATABLE },
	{ "perturb", required_argument, NULL, OPT_PERTURB },
	{ "inline", required_argument, NULL, OPT_INLINE },
	{ "stored", no_argument, NULL, OPT_STORED },
	{ "list-insts", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

struct command {
	struct gsan_rewrite_options options;
	const char *input, *output;
	char **wrapped;
	bool print, stats, verbose;
};

static void help(void)
{
	fputs("usage: gsan-ptx [OPTION]... FILE.ptx [-o OUT.ptx]\n"
	      "       gsan-ptx [OPTION]... --wrap COMMAND [ARGUMENT]...\n"
	      "\n"
	      "Instruments PTX so that gsan finds races in it.  \"-\" is standard input or\n"
	      "output; without -o the result goes to standard output.\n"
	      "\n"
	      "  -o, --output=FILE     write the result to FILE\n"
	      "      --kernel=PATTERN  instrument only the entries that match (as in a shell)\n"
	      "      --wrap            run a compiler phase (cicc, ptxas) with its PTX rewritten\n"
	      "      --relocatable     for ptxas -c (nvcc -rdc=true); --wrap sees it by itself\n"
	      "      --perturb=SEED    hold warps up by chance around synchronisation, by this seed\n"
	      "      --inline=N        functions that log at more than N places call what does it\n"
	      "      --stored          log what is stored, which same_value=ignore asks for\n"
	      "      --print           parse and print, without instrumenting\n"
	      "      --stats           say on standard error what was done\n"
	      "  -d, --dump=LETTERS    print to standard error after these passes:\n", stdout);
	for (const struct gsan_rewrite_pass_name *p = gsan_rewrite_passes; p->name; p++)
		printf("                          %c  %-7s %s\n", p->letter, p->name, p->text);
	fputs("  -v, --verbose         say when the header had to be changed\n"
	      "      --list-insts      list the instruction table and what gsan makes of it\n"
	      "      --help            show this and exit\n"
	      "      --version         show the version and exit\n"
	      "\n"
	      "Exit status: 0 done, 1 input rejected, 2 bad usage, 3 anything else; with --wrap\n"
	      "that of COMMAND.  Environment: GSAN_KEEP=1 keeps rewritten copies,\n"
	      "GSAN_NVCC_STRICT=1 makes --wrap fail rather than leave PTX as it is, GSAN_OPTIONS\n"
	      "with same_value=ignore is --stored, with perturb=SEED --perturb=SEED.\n", stdout);
}

static int usage(const char *text)
{
	if (text)
		fprintf(stderr, "gsan-ptx: %s\n", text);
	fputs("Try 'gsan-ptx --help'.\n", stderr);
	return EXIT_USAGE;
}

static void list_insts(void)
{
	static const char *const model[] = {
		[MODEL_PLAIN] = "plain", [MODEL_FULL] = "full", [MODEL_SYNC] = "sync",
		[MODEL_COUNT] = "count"
	};
	static const char *const access[] = {
		[ACCESS_NONE] = "-", [ACCESS_LOAD] = "load", [ACCESS_STORE] = "store",
		[ACCESS_ATOM] = "atom", [ACCESS_RED] = "red", [ACCESS_LDMATRIX] = "ldmatrix",
		[ACCESS_STMATRIX] = "stmatrix", [ACCESS_WMMA_LOAD] = "wmma-load",
		[ACCESS_WMMA_STORE] = "wmma-store", [ACCESS_DISCARD] = "discard",
		[ACCESS_ST_BULK] = "st-bulk", [ACCESS_TEX] = "tex",
		[ACCESS_SURF_STORE] = "surface-store", [ACCESS_COPY] = "copy"
	};
	static const char *const order[] = {
		[ORDER_NONE] = "-", [ORDER_FENCE] = "fence", [ORDER_PROXY_FENCE] = "proxy-fence",
		[ORDER_CTA_BARRIER] = "cta-barrier", [ORDER_WARP_BARRIER] = "warp-barrier",
		[ORDER_CLUSTER_BARRIER] = "cluster-barrier", [ORDER_MBARRIER] = "mbarrier",
		[ORDER_ASYNC_GROUP] = "async-group", [ORDER_GRID] = "grid",
		[ORDER_TENSOR] = "tensor-memory"
	};

	printf("%-44s %-6s %-13s %-15s %-5s %s\n", "instruction", "model", "access", "order",
	       "PTX", "target");
	for (int i = INST_UNKNOWN + 1; i < INST_ID_COUNT; i++) {
		const struct ptx_inst_row *row = &ptx_insts[i];

		printf("%s%s%-*s %-6s %-13s %-15s %u.%-3u sm_%u\n", row->base, *row->mods ? "." : "",
		       44 - (int)strlen(row->base) - (*row->mods != '\0'), row->mods,
		       model[row->model], access[row->access], order[row->order],
		       row->ptx / 10u, row->ptx % 10u, row->sm);
	}
}

static void print_stats(const char *path, const struct gsan_rewrite_stats *s)
{
	fprintf(stderr, "%s: %u instructions, %u entries and %u functions instrumented",
		path, s->insts, s->entries, s->funcs);
	if (s->entries_left)
		fprintf(stderr, ", %u entries left alone", s->entries_left);
	fprintf(stderr, "\n%s: %u sites; %u reads, %u writes, %u strong, %u matrix, %u range;"
		" %u barriers, %u warp barriers, %u fences", path, s->sites, s->reads, s->writes,
		s->strong, s->matrices, s->ranges, s->barriers, s->warp_syncs, s->fences);
	if (s->asyncs)
		fprintf(stderr, ", %u asynchronous", s->asyncs);
	fputc('\n', stderr);
	if (s->unmodelled || s->unknown)
		fprintf(stderr, "%s: %u not modelled, %u unknown\n", path, s->unmodelled, s->unknown);
}

static void print_notes(const char *path, const struct gsan_rewrite_stats *s, bool verbose)
{
	if (s->passed == GSAN_PASSED_32BIT)
		fprintf(stderr, "%s: warning: 32-bit addresses, not instrumented\n", path);
	if (verbose && s->passed == GSAN_PASSED_MARKED)
		fprintf(stderr, "%s: instrumented before, left as it is\n", path);
	if (verbose && s->old_version)
		fprintf(stderr, "%s: .version raised from %u.%u\n", path,
			s->old_version / 10, s->old_version % 10);
	if (verbose && s->old_sm)
		fprintf(stderr, "%s: .target raised from sm_%u\n", path, s->old_sm);
}

/* The result for one file, malloc'd; NULL if it was rejected. */
static char *work(const struct command *c, const char *text, size_t len, size_t *out_len)
{
	struct gsan_rewrite_stats stats;
	const char *path = strcmp(c->input, "-") ? c->input : "<stdin>";
	char *out;

	if (c->print) {
		struct ptx_module *m = ptx_parse(path, text, len, NULL, NULL);
		struct ptx_buf b = { 0 };

		if (!m)
			return NULL;
		ptx_print(&b, m);
		*out_len = b.len;
		ptx_put(&b, "", 1);
		if (c->stats)
			fprintf(stderr, "%s: %u instructions, %u unknown\n", path, m->ninsts,
				m->nunknown);
		ptx_free(m);
		return b.p;
	}
	out = gsan_rewrite(path, text, len, &c->options, &stats, out_len, NULL, NULL);
	if (!out)
		return NULL;
	print_notes(path, &stats, c->verbose);
	if (c->stats && stats.passed == GSAN_REWRITTEN)
		print_stats(path, &stats);
	return out;
}

static int run(const struct command *c)
{
	size_t len, out_len;
	char *text = rw_read_file(c->input, &len), *out;
	int status = EXIT_OK;

	if (!text) {
		fprintf(stderr, "gsan-ptx: %s: %s\n", c->input, strerror(errno));
		return EXIT_IO;
	}
	out = work(c, text, len, &out_len);
	free(text);
	if (!out)
		return EXIT_REJECTED;
	if (!rw_write_file(c->output, out, out_len)) {
		fprintf(stderr, "gsan-ptx: %s: %s\n", c->output, strerror(errno));
		status = EXIT_IO;
	}
	free(out);
	return status;
}

static bool known_letters(const char *letters)
{
	for (; *letters; letters++) {
		const struct gsan_rewrite_pass_name *p = gsan_rewrite_passes;

		while (p->name && p->letter != *letters)
			p++;
		if (!p->name)
			return false;
	}
	return true;
}

/* Reads the command line; returns an exit status, or -1 to go on. */
static int arguments(struct command *c, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "o:d:vc", long_options, NULL)) != -1) {
		switch (opt) {
		case 'o':
			c->output = optarg;
			break;
		case 'd':
			c->options.dump = optarg;
			if (!known_letters(optarg))
				return usage("-d: no such pass");
			break;
		case 'v':
			c->verbose = true;
			break;
		case 'c':
			fputs("gsan-ptx: -c is ignored: instrumented code calls no runtime\n", stderr);
			break;
		case OPT_PRINT:
			c->print = true;
			break;
		case OPT_STATS:
			c->stats = true;
			break;
		case OPT_KERNEL:
			c->options.kernel = optarg;
			break;
		case OPT_WRAP:
			break;
		case OPT_RELOCATABLE:
			c->options.relocatable = true;
			break;
		case OPT_PERTURB:
			if (!gsan_rewrite_seed(optarg, &c->options.perturb))
				return usage("--perturb: a number from 1 to 2147483647");
			break;
		case OPT_INLINE:
			if (!gsan_rewrite_inline(optarg, &c->options.inline_most))
				return usage("--inline: a number from 0 to 2147483647");
			break;
		case OPT_STORED:
			c->options.stored = true;
			break;
		case OPT_LIST:
			list_insts();
			return EXIT_OK;
		case OPT_HELP:
			help();
			return EXIT_OK;
		case OPT_VERSION:
			puts("gsan-ptx (gsan) " PACKAGE_VERSION);
			return EXIT_OK;
		default:
			return usage(NULL);
		}
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct command c = { .output = "-" };
	int status;

	rw_error_instead(SIGXFSZ);
	gsan_rewrite_asked(&c.options, getenv("GSAN_OPTIONS"));
	/* Everything behind --wrap is another program's command line. */
	for (int i = 1; i < argc && !c.wrapped; i++)
		if (!strcmp(argv[i], "--wrap")) {
			c.wrapped = argv + i + 1;
			c.options.gather = true;
			argc = i + 1;
		}
	status = arguments(&c, argc, argv);
	if (status >= 0)
		return fflush(stdout) ? EXIT_IO : status;
	if (c.wrapped) {
		if (optind < argc || !*c.wrapped)
			return usage(*c.wrapped ? "a file and --wrap do not go together" :
				     "--wrap: no command");
		rw_error_instead(SIGPIPE);
		return rw_wrap(c.wrapped, &c.options);
	}
	if (optind + 1 != argc)
		return usage(optind == argc ? "no input file" : "one input file at a time");
	c.input = argv[optind];
	return run(&c);
}
