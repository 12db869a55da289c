/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: gsan-check's command line: options as GSAN_OPTIONS has them, logs, and the exit status.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "check/check.h"

enum { UNWATCHED = 65 };        /* as of programs, under strict=1 */

pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;

static const char usage_text[] =
"Usage: gsan-check [OPTION]... LOG...\n"
"Judge what kernels have logged again: files that GSAN_OPTIONS=log=DIR keeps.\n"
"Reports are those of the run, and go where GSAN_OPTIONS says.\n"
"\n"
"  -o, --option KEY=VALUE  as in GSAN_OPTIONS (gsan(7)), which counts as well; the\n"
"                          later one counts, and what neither says is as it was\n"
"                          when the log was made\n"
"      --print             print the logs as text, and judge nothing\n"
"  -h, --help              print this text\n"
"  -V, --version           print the version\n"
"\n"
"Exit status: 0 nothing found, 66 (or exitcode of GSAN_OPTIONS) something found;\n"
"2 bad usage or options, 3 a log cannot be read, or not to its end: what comes before\n"
"that is judged.\n";

static struct { const char **list; unsigned n; bool print; } options;

static _Noreturn void usage(const char *what, const char *word)
{
	if (what)
		fprintf(stderr, "gsan-check: %s%s%s\n", what, word ? " " : "", word ? word : "");
	fputs("Try 'gsan-check --help'.\n", stderr);
	exit(CHECK_USAGE);
}

/* After the first report. */
void rt_halt(void)
{
	if (rt_flags.print_suppressions) {
		struct rt_buf b = {0};

		rt_supps_list(&rt_supps, &b);
		rt_log(b.text, b.len);
	}
	exit(rt_flags.exitcode);
}

static void add_option(const char *text, const char *origin)
{
	struct rt_buf err = {0}, unknown = {0};

	if (!rt_flags_parse(&rt_flags, text, &err, &unknown) || unknown.len) {
		fprintf(stderr, "gsan-check: %s: %.*s\n", origin, (int)strcspn(err.len ? err.text : unknown.text, "\n"),
			err.len ? err.text : unknown.text);
		exit(CHECK_USAGE);
	}
	options.list[options.n++] = text;
}

static void parse(int argc, char **argv)
{
	enum { PRINT = 256 };
	static const struct option longs[] = {
		{ "option", required_argument, NULL, 'o' },
		{ "print", no_argument, NULL, PRINT },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	int c;

	options.list = calloc((size_t)argc + 1, sizeof *options.list);
	if (!options.list)
		usage("out of memory", NULL);
	rt_flags_default(&rt_flags);
	if (getenv("GSAN_OPTIONS"))
		add_option(getenv("GSAN_OPTIONS"), "GSAN_OPTIONS");
	while ((c = getopt_long(argc, argv, "o:hV", longs, NULL)) >= 0)
		switch (c) {
		case 'o':
			add_option(optarg, optarg);
			break;
		case PRINT:
			options.print = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		case 'V':
			puts("gsan-check (gsan) " PACKAGE_VERSION);
			exit(0);
		default:
			usage(NULL, NULL);
		}
	if (optind == argc)
		usage("no log", NULL);
}

static void prepare(void)
{
	struct rt_buf text = {0};

	if (*rt_flags.suppressions && !rt_supps_load(&rt_supps, rt_flags.suppressions, &text)) {
		fprintf(stderr, "gsan-check: %s\n", text.text);
		exit(CHECK_USAGE);
	}
	if (rt_flags.help) {
		rt_flags_help(&rt_flags, &text);
		rt_log(text.text, text.len);
	}
	rt_buf_free(&text);
}

static int judge(char **logs)
{
	struct rt_totals t = {0}, found = {0};
	bool good = true;

	for (; *logs; logs++)
		good &= check_judge(*logs, options.list, options.n, &t);
	rt_tell_all(0, NULL, NULL);
	rt_findings_count(&found);
	t.findings = found.findings;
	t.suppressed = found.suppressed;
	t.warned = found.warned;
	t.filtered = found.filtered;
	t.beyond_limit = found.beyond_limit;
	rt_tell_closing(&t);
	rt_free((void *)t.bare);
	if (!good)
		return CHECK_DAMAGED;
	if (rt_reported())
		return rt_flags.exitcode;
	return rt_flags.strict && rt_nothing_watched(&t) ? UNWATCHED : 0;
}

static int print(char **logs)
{
	bool good = true;

	for (; *logs; logs++)
		good &= check_print(*logs);
	if (fflush(stdout) || ferror(stdout)) {
		perror("gsan-check: stdout");
		good = false;
	}
	return good ? 0 : CHECK_DAMAGED;
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	prepare();
	return options.print ? print(argv + optind) : judge(argv + optind);
}
