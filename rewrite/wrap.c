/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap.c: `gsan-ptx --wrap CMD ARGS...`, which stands in front of a compiler
 * phase.  cicc writes PTX: it is rewritten where it lies.  ptxas reads PTX: it
 * gets a rewritten copy.  The phase's own output and exit status pass through
 * untouched, and so does PTX that cannot be rewritten, unless GSAN_NVCC_STRICT=1
 * makes that an error; either way stderr says so.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewrite/rw.h"

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *fmt, ...)
{
	va_list ap;

	fputs("gsan-ptx: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static bool on(const char *name)
{
	const char *s = getenv(name);

	return s && *s && strcmp(s, "0");
}

/* ---- running the phase ----------------------------------------------------------- */

static volatile sig_atomic_t child;

/* A signal meant for us is meant for the phase; we clean up when it ends. */
static void forward(int sig)
{
	if (child > 0)
		kill((pid_t)child, sig);
}

static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
enum { NSIGNALS = sizeof signals / sizeof *signals };

/* Runs it and waits; returns what a shell would call its status. */
static int run(char **argv)
{
	struct sigaction sa = { .sa_handler = forward, .sa_flags = SA_RESTART }, old[NSIGNALS];
	sigset_t block, saved;
	int status = 0;
	pid_t pid;

	sigemptyset(&sa.sa_mask);
	sigemptyset(&block);
	for (int i = 0; i < NSIGNALS; i++)
		sigaddset(&block, signals[i]);
	sigprocmask(SIG_BLOCK, &block, &saved);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		sigprocmask(SIG_SETMASK, &saved, NULL);
		execvp(argv[0], argv);
		say("cannot run %s: %s", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	child = pid;
	for (int i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &sa, &old[i]);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	if (pid < 0) {
		say("cannot run %s: %s", argv[0], strerror(errno));
		status = 3 << 8;
	} else {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	child = 0;
	for (int i = 0; i < NSIGNALS; i++)
		sigaction(signals[i], &old[i], NULL);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- rewriting one file ------------------------------------------------------------ */

/* The first word that is not a comment is .version; anything else is NVVM, or
 * nothing that we could make sense of. */
static bool is_ptx(const char *p, size_t len)
{
	const char *end = p + len;

	while (p < end) {
		if (*p == ' ' || (*p >= '\t' && *p <= '\r')) {
			p++;
		} else if (end - p > 1 && p[0] == '/' && p[1] == '/') {
			p = memchr(p, '\n', (size_t)(end - p));
			if (!p)
				return false;
		} else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
			p = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
			if (!p)
				return false;
			p += 2;
		} else {
			break;
		}
	}
	return end - p > 8 && !memcmp(p, ".version", 8);
}

enum outcome { DONE, AS_IT_WAS, FAILED };

/* Rewrites `from` into `to`.  AS_IT_WAS: there is nothing to rewrite. */
static enum outcome rewrite(const char *from, const char *to,
			    const struct gsan_rewrite_options *options)
{
	struct gsan_rewrite_stats stats;
	size_t len, out_len;
	char *text = rw_read_file(from, &len), *out;
	enum outcome result = DONE;

	if (!text)              /* the phase will say what it thinks of that */
		return AS_IT_WAS;
	if (!is_ptx(text, len)) {
		free(text);
		return AS_IT_WAS;
	}
	out = gsan_rewrite(from, text, len, options, &stats, &out_len, NULL, NULL);
	free(text);
	if (!out) {
		say("%s: not instrumented", from);
		return FAILED;
	}
	if (stats.passed == GSAN_PASSED_32BIT)
		say("%s: not instrumented: 32-bit addresses", from);
	if (stats.passed != GSAN_REWRITTEN)
		result = AS_IT_WAS;
	else if (!rw_write_file(to, out, out_len)) {
		say("%s: %s: not instrumented", to, strerror(errno));
		result = FAILED;
	}
	free(out);
	return result;
}

/* ---- cicc and its like ----------------------------------------------------------- */

/* The word behind the last of the options that name an output; NULL if none. */
static char *output_of(char **argv)
{
	char *out = NULL;

	for (; *argv; argv++)
		if ((!strcmp(*argv, "-o") || !strcmp(*argv, "--output-file")) && argv[1])
			out = *++argv;
	return out;
}

static int wrap_writer(char **argv, const struct gsan_rewrite_options *options)
{
	char *out = output_of(argv);
	int status = run(argv);

	if (status || !out)
		return status;
	if (rewrite(out, out, options) == FAILED && on("GSAN_NVCC_STRICT"))
		return 1;
	return 0;
}

/* ---- ptxas ------------------------------------------------------------------------- */

/* Could this word be an input?  Options are passed over; what follows -o is an
 * output.  Words that belong to other options are no PTX files. */
static bool is_input(char **argv, int i)
{
	if (argv[i][0] == '-' || argv[i][0] == '\0')
		return false;
	return strcmp(argv[i - 1], "-o") && strcmp(argv[i - 1], "--output-file") &&
		access(argv[i], R_OK) == 0;
}

/* An empty file of ours that ends in .ptx, malloc'd; NULL if there is none to be had. */
static char *temp_file(void)
{
	const char *dir = getenv("TMPDIR");
	char *name = NULL;
	int fd;

	if (asprintf(&name, "%s/gsan-ptx-XXXXXX.ptx", dir && *dir ? dir : "/tmp") < 0)
		return NULL;
	fd = mkstemps(name, 4);
	if (fd < 0) {
		say("%s: %s: not instrumented", name, strerror(errno));
		free(name);
		return NULL;
	}
	close(fd);
	return name;
}

static int wrap_reader(char **argv, const struct gsan_rewrite_options *options)
{
	unsigned n = 0, ntemps = 0;
	char **args, **temps;
	int status = 0;

	while (argv[n])
		n++;
	args = calloc(n + 1, sizeof *args);
	temps = calloc(n + 1, sizeof *temps);
	if (!args || !temps) {
		say("out of memory");
		exit(3);
	}
	for (unsigned i = 0; i < n; i++) {
		char *temp;
		enum outcome how;

		args[i] = argv[i];
		if (!i || !is_input(argv, (int)i))
			continue;
		temp = temp_file();
		how = temp ? rewrite(argv[i], temp, options) : FAILED;
		if (temp)
			temps[ntemps++] = temp;
		if (how == DONE)
			args[i] = temp;
		else if (how == FAILED && on("GSAN_NVCC_STRICT"))
			status = 1;
	}
	if (!status)
		status = run(args);
	for (unsigned i = 0; i < ntemps; i++) {
		if (!on("GSAN_KEEP"))
			unlink(temps[i]);
		free(temps[i]);
	}
	free(temps);
	free(args);
	return status;
}

/* Do both phases say that the code will be linked?  nvcc -rdc=true gives cicc
 * the first of these words, ptxas the others. */
static bool relocatable(char **argv)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, "--device-c") || !strcmp(*argv, "-c") ||
		    !strcmp(*argv, "--compile-only"))
			return true;
	return false;
}

int rw_wrap(char **argv, const struct gsan_rewrite_options *options)
{
	const char *base = strrchr(argv[0], '/');
	struct gsan_rewrite_options o = *options;

	base = base ? base + 1 : argv[0];
	o.relocatable |= relocatable(argv);
	/* Of the two phases only cicc writes PTX; a ptxas may have any name. */
	if (strstr(base, "cicc"))
		return wrap_writer(argv, &o);
	return wrap_reader(argv, &o);
}
