/* SPDX-License-Identifier: Apache-2.0
 *
 * wrap.c: `gsan-ptx --wrap CMD ARGS...`, which stands in front of a compiler
 * phase.  cicc writes PTX: into a file of ours, so that what has its name, or goes
 * down its pipe, is rewritten.  ptxas reads PTX: it gets a rewritten copy.  The phase's own output and exit status pass through
 * untouched, and so does PTX that cannot be rewritten.  If ptxas refuses what was
 * rewritten, the kernels at fault are left as they were, or else the whole file:
 * nothing that compiles without gsan fails with it, unless GSAN_NVCC_STRICT=1
 * asks for that, or what was rewritten cannot be written.  Whatever stays uninstrumented is said on stderr.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rewrite/rw.h"

static bool on(const char *name)
{
	const char *s = getenv(name);

	return s && *s && strcmp(s, "0");
}

static void *zeroed(size_t n, size_t each)
{
	void *p = calloc(n, each);

	if (!p) {
		rw_say("out of memory");
		exit(3);
	}
	return p;
}

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

/* The PTX in a file, malloc'd; NULL: none that we could read, and the phase will
 * say what it thinks of that. */
static char *read_ptx(const char *path, size_t *len)
{
	char *text = rw_read_file(path, len);

	if (text && !is_ptx(text, *len)) {
		free(text);
		text = NULL;
	}
	return text;
}

enum outcome { DONE, MARKED, AS_IT_WAS, FAILED, UNWRITTEN };

/* Rewrites the text that lies in `from` into the file `to`.  MARKED: it is our own
 * output; AS_IT_WAS: there is nothing to rewrite; UNWRITTEN: the disk is full, say. */
static enum outcome rewrite(const char *from, const char *text, size_t len, const char *to,
			    const struct gsan_rewrite_options *options, bool keep)
{
	struct gsan_rewrite_stats stats;
	enum outcome result = DONE;
	size_t out_len;
	char *out = gsan_rewrite(from, text, len, options, &stats, &out_len, NULL, NULL);

	if (!out) {
		rw_say("%s: not instrumented", from);
		return FAILED;
	}
	if (stats.passed == GSAN_PASSED_32BIT)
		rw_say("%s: not instrumented: 32-bit addresses", from);
	if (stats.passed != GSAN_REWRITTEN)
		result = stats.passed == GSAN_PASSED_MARKED ? MARKED : AS_IT_WAS;
	else if (!rw_write_file(to, out, out_len)) {
		rw_say("%s: %s", to, strerror(errno));
		result = UNWRITTEN;
	} else if (keep)
		rw_origin_keep(out, out_len, text, len);
	free(out);
	return result;
}

/* ---- cicc and its like ----------------------------------------------------------- */

/* Where the word behind the last of the options is that name an output; NULL if none. */
static char **output_of(char **argv)
{
	char **out = NULL;

	for (; *argv; argv++)
		if ((!strcmp(*argv, "-o") || !strcmp(*argv, "--output-file")) && argv[1])
			out = ++argv;
	return out;
}

/* An empty file of ours, malloc'd: beside the one that the name leads to, or else in the
 * folder for such, with that ending.  NULL, after saying why. */
static char *temp_file(const char *beside, const char *ending)
{
	const char *dir = getenv("TMPDIR");
	char *name = NULL;
	int fd = -1;

	if (beside)
		name = rw_beside(beside, &fd);
	if (!name && asprintf(&name, "%s/gsan-ptx-XXXXXX%s", dir && *dir ? dir : "/tmp", ending) < 0)
		return NULL;
	if (fd < 0)
		fd = mkstemps(name, (int)strlen(ending));
	if (fd < 0) {
		rw_say("%s: %s", name, strerror(errno));
		free(name);
		return NULL;
	}
	close(fd);
	return name;
}

/* What cicc wrote, to where it was to go; the status. */
static int pass_on(const char *temp, const char *out, const struct gsan_rewrite_options *options)
{
	size_t len;
	char *text = rw_read_file(temp, &len);
	enum outcome how = AS_IT_WAS;

	if (!text) {
		rw_say("%s: %s", temp, strerror(errno));
		return 1;
	}
	if (is_ptx(text, len))
		how = rewrite(out, text, len, out, options, true);
	if (how == FAILED && on("GSAN_NVCC_STRICT"))
		how = UNWRITTEN;
	if ((how == FAILED || how == AS_IT_WAS || how == MARKED) && !rw_write_file(out, text, len)) {
		rw_say("%s: %s", out, strerror(errno));
		how = UNWRITTEN;
	}
	free(text);
	return how == UNWRITTEN;
}

static int wrap_writer(char **argv, const struct gsan_rewrite_options *options)
{
	char **out = output_of(argv), *name = out ? *out : NULL, *file, *temp;
	int status;

	if (!out)
		return rw_phase(argv, NULL);
	file = rw_regular(name);
	temp = temp_file(file, ".ptx");
	if (!temp) {
		free(file);
		return 1;
	}
	*out = temp;
	status = rw_phase(argv, NULL);
	if (!status)
		status = pass_on(temp, name, options);
	unlink(temp);
	free(temp);
	free(file);
	return status;
}

/* ---- ptxas: its command line ------------------------------------------------------- */

struct input {
	unsigned word;          /* which of the arguments */
	char *path;             /* as the program gave it */
	char *text;             /* what it was before rewriting; NULL: not known */
	size_t len;
	char *temp;             /* the rewritten copy; NULL: it is rewritten where it lies */
};

struct job {
	char **args;
	unsigned nargs;
	struct input *in;
	unsigned nin;           /* those that are instrumented */
	struct gsan_rewrite_options options;
	const char **leave;     /* entries to leave as they are, NULL at the end */
	char **why;             /* what ptxas said of each */
	unsigned nleave;
	bool alone;             /* ptxas does not know --split-compile */
	bool unoptimised;       /* ptxas is to take it as it is */
};

/* Could this word be an input?  Options are passed over; what follows -o is an
 * output.  Words that belong to other options are no PTX files. */
static bool is_input(char **argv, int i)
{
	if (argv[i][0] == '-' || argv[i][0] == '\0')
		return false;
	return strcmp(argv[i - 1], "-o") && strcmp(argv[i - 1], "--output-file") &&
		access(argv[i], R_OK) == 0;
}

static void remove_temp(char *temp)
{
	if (temp && !on("GSAN_KEEP"))
		unlink(temp);
	free(temp);
}

/* Has the word's file instrumented, in a copy if it is not yet. */
static enum outcome prepare(struct job *j, unsigned word)
{
	struct input in = { .word = word, .path = j->args[word] };
	enum outcome how = UNWRITTEN;

	in.text = read_ptx(in.path, &in.len);
	if (!in.text)
		return AS_IT_WAS;
	in.temp = temp_file(NULL, ".ptx");
	if (in.temp)
		how = rewrite(in.path, in.text, in.len, in.temp, &j->options, false);
	if (how != DONE) {
		remove_temp(in.temp);
		in.temp = NULL;
	}
	if (how == MARKED) {
		char *marked = in.text;

		in.text = rw_origin(marked, in.len, &in.len);
		free(marked);
	}
	if (how == DONE || how == MARKED) {
		if (in.temp)
			j->args[word] = in.temp;
		j->in[j->nin++] = in;
	} else {
		free(in.text);
	}
	return how;
}

/* ---- ptxas: what it refuses -------------------------------------------------------- */

/* The signal that ended a phase with that status, as shells have it; 0: none did. */
static int signal_in(int status)
{
	return status > 128 && status < 128 + 32 ? status - 128 : 0;
}

/* The signal that ended ptxas, or the first line that says what is wrong, malloc'd. */
static char *reason(const char *said, int status)
{
	const char *line = said ? said : "", *first = NULL;
	int by = signal_in(status);
	char *ended;

	if (by && asprintf(&ended, "ptxas was ended by signal %d (%s)%s", by, strsignal(by),
			   by == SIGKILL ? ", as it is where memory is short" : "") >= 0)
		return ended;
	while (*line) {
		const char *end = strchrnul(line, '\n');
		const char *error = memmem(line, (size_t)(end - line), "error", 5);

		if (error || memmem(line, (size_t)(end - line), "fatal", 5))
			return strndup(line, (size_t)(end - line));
		if (!first && end > line)
			first = line;
		line = *end ? end + 1 : end;
	}
	return first ? strndup(first, strcspn(first, "\n")) : strdup("ptxas failed and said nothing");
}

static void ignore(void *arg, const char *path, const struct ptx_error *e)
{
	(void)arg, (void)path, (void)e;
}

/* The message that names the function or a line of it, malloc'd; NULL: none does. */
static char *blamed(const struct ptx_func *f, const char *said)
{
	char *quoted = NULL;
	const char *at = asprintf(&quoted, "'%s'", f->name) > 0 ? strstr(said, quoted) : NULL;

	free(quoted);
	for (const char *p = said; !at && (p = strstr(p, ", line ")); p++) {
		const unsigned long line = strtoul(p + 7, NULL, 10);

		if (line >= f->line && line <= f->end_line)
			at = p;
	}
	while (at && at > said && at[-1] != '\n')
		at--;
	return at ? strndup(at, strcspn(at, "\n")) : NULL;
}

static bool is_left(const struct job *j, const char *name)
{
	for (unsigned i = 0; i < j->nleave; i++)
		if (!strcmp(j->leave[i], name))
			return true;
	return false;
}

static void leave(struct job *j, const char *name, char *why)
{
	j->leave = realloc(j->leave, (j->nleave + 2) * sizeof *j->leave);
	j->why = realloc(j->why, (j->nleave + 1) * sizeof *j->why);
	if (!j->leave || !j->why || !(j->leave[j->nleave] = strdup(name))) {
		rw_say("out of memory");
		exit(3);
	}
	j->why[j->nleave++] = why;
	j->leave[j->nleave] = NULL;
}

/* Adds the entries of one input that a message blames to those to be left; returns
 * how many are neither. */
static unsigned blame(struct job *j, const struct input *in, const char *said)
{
	size_t len;
	char *text = read_ptx(j->args[in->word], &len), *why;
	struct ptx_module *m = text ? ptx_parse(in->path, text, len, ignore, NULL) : NULL;
	unsigned good = 0;

	for (struct ptx_stmt *s = m ? m->first : NULL; s; s = s->next) {
		const struct ptx_func *f = s->kind == STMT_FUNC ? s->func : NULL;

		if (!f || !f->entry || !f->has_body || !strncmp(f->name, "__gsan_", 7) ||
		    is_left(j, f->name))
			continue;
		why = blamed(f, said);
		if (why)
			leave(j, f->name, why);
		else
			good++;
	}
	if (m)
		ptx_free(m);
	free(text);
	return good;
}

/* Leaves out the entries that a message blames; false if it blames no other, or if
 * none remain. */
static bool leave_out(struct job *j, const char *said)
{
	const unsigned before = j->nleave;
	unsigned good = 0;
	bool any;

	for (unsigned i = 0; i < j->nin && said; i++)
		good += j->in[i].text ? blame(j, &j->in[i], said) : 0;
	any = good && j->nleave > before;
	j->options.leave = j->leave;
	for (unsigned i = 0; i < j->nin && any; i++) {
		struct input *in = &j->in[i];

		if (in->text && rewrite(in->path, in->text, in->len, in->temp ? in->temp : in->path,
					&j->options, !in->temp) != DONE)
			return false;
	}
	return any;
}

/* The program's own PTX for all inputs; false if it is not known. */
static bool put_back(struct job *j)
{
	for (unsigned i = 0; i < j->nin; i++)
		if (!j->in[i].text)
			return false;
	for (unsigned i = 0; i < j->nin; i++) {
		struct input *in = &j->in[i];

		j->args[in->word] = in->path;
		/* What nvcc embeds must agree with the machine code beside it. */
		if (!in->temp && !rw_write_file(in->path, in->text, in->len)) {
			rw_say("%s: %s", in->path, strerror(errno));
			return false;
		}
	}
	return true;
}

static void say_left(const struct job *j)
{
	for (unsigned i = 0; i < j->nleave; i++)
		rw_say("%s: kernel %s is not instrumented: %s", j->in[0].path, j->leave[i], j->why[i]);
}

/* ---- ptxas: running it ---------------------------------------------------------------- */

/* Registers a thread may have where 1,024 must fit a multiprocessor. */
#define MOST_REGISTERS 64
#define STRING2(x) #x
#define STRING(x) STRING2(x)

/* Is the bound on registers that these words give as low as ours? */
static bool is_low(const char *n)
{
	const long most = strtol(n, NULL, 10);

	return !strcmp(n, "archmin") || (most > 0 && most <= MOST_REGISTERS);
}

/* With -c functions may be called by kernels of other files, and with probes they need more
 * registers: nvlink would refuse a kernel with a bound of its own that calls them, and one
 * of 1,024 threads would not start.  So the whole file has a bound.  `args` has room for
 * one word more. */
static void bound_registers(char **args)
{
	static char word[] = "-maxrregcount=" STRING(MOST_REGISTERS), value[] = STRING(MOST_REGISTERS);
	const size_t name = sizeof "-maxrregcount" - 1;

	for (; *args; args++) {
		const char *s = *args + !strncmp(*args, "--", 2);

		if (strncmp(s, word, name))
			continue;
		if (s[name] == '=') {
			if (!is_low(s + name + 1))
				*args = word;
			return;
		}
		if (!s[name] && args[1]) {
			if (!is_low(args[1]))
				args[1] = value;
			return;
		}
	}
	*args = word;
}

/* Kernels are several times as large with probes: ptxas is to be at several at a time.  `args` has room for one word more. */
static void split(char **args)
{
	static char word[] = "--split-compile=0";

	for (; *args; args++)
		if (!strncmp(*args + !strncmp(*args, "--", 2), word + 1, sizeof "-split-compile" - 1))
			return;
	*args = word;
}

static bool is_optimisation(const char *word)
{
	return !strcmp(word, "O") || !strcmp(word, "opt-level");
}

/* As with -O0, instead of what the words say of that.  `args` has room for one word more. */
static void do_not_optimise(char **args)
{
	static char word[] = "-O0", zero[] = "0";

	for (; *args; args++) {
		const char *s = *args + !strncmp(*args, "--", 2);
		const bool joined = !strncmp(s, "-O", 2) && s[2] >= '0' && s[2] <= '9';

		if (joined || !strncmp(s, "-O=", 3) || !strncmp(s, "-opt-level=", 11)) {
			*args = word;
			return;
		}
		if (*s == '-' && is_optimisation(s + 1) && args[1]) {
			args[1] = zero;
			return;
		}
	}
	*args = word;
}

/* Where the words name an output that can be replaced, and how its word begins; NULL. */
static char **output_word(char **args, const char **name)
{
	static const char *const forms[] = { "-o=", "--output-file=" };
	char **out = output_of(args);

	*name = "";
	for (char **a = args; *a && !out; a++)
		for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
			if (!strncmp(*a, forms[i], strlen(forms[i]))) {
				out = a;
				*name = forms[i];
			}
	return out;
}

/* What ptxas says of the program's own PTX, malloc'd; NULL if that cannot be had. */
static char *said_of_plain(const struct job *j)
{
	char **args = zeroed(j->nargs + 1, sizeof *args), **temps = zeroed(j->nin + 2, sizeof *temps);
	char *said = NULL, *word = NULL;
	const char *name;
	char **out;
	bool ok = true;

	memcpy(args, j->args, j->nargs * sizeof *args);
	out = output_word(args, &name);
	temps[j->nin] = out ? temp_file(NULL, ".cubin") : NULL;
	ok = temps[j->nin] && asprintf(&word, "%s%s", name, temps[j->nin]) > 0;
	if (ok)
		*out = word;
	for (unsigned i = 0; i < j->nin && ok; i++) {
		const struct input *in = &j->in[i];

		args[in->word] = in->path;
		if (in->temp)
			continue;
		temps[i] = in->text ? temp_file(NULL, ".ptx") : NULL;
		ok = temps[i] && rw_write_file(temps[i], in->text, in->len);
		args[in->word] = temps[i];
	}
	if (ok && rw_phase(args, &said)) {
		free(said);
		said = NULL;
	}
	for (unsigned i = 0; i <= j->nin; i++) {
		if (temps[i])
			unlink(temps[i]);
		free(temps[i]);
	}
	free(word);
	free(temps);
	free(args);
	return said;
}

/* What ptxas said of instrumented code, and no more than is about the program. */
static void say(const struct job *j, const char *said)
{
	static const char note[] = "the figures of kernels and functions include their instrumentation";
	char *plain, *ours;
	bool figures;

	if (on("GSAN_VERBOSE") || !*said) {
		fputs(said, stderr);
		return;
	}
	plain = said_of_plain(j);
	ours = rw_said_of_program(said, plain, &figures);
	fputs(ours ? ours : said, stderr);
	if (figures && rw_first(note))
		rw_say("%s", note);
	free(ours);
	free(plain);
}

static int attempt(struct job *j, bool bound, char **said)
{
	int status;

	for (;;) {
		char **args = zeroed(j->nargs + 4, sizeof *args);

		memcpy(args, j->args, j->nargs * sizeof *args);
		if (bound)
			bound_registers(args + 1);
		if (!j->alone)
			split(args + 1);
		if (j->unoptimised)
			do_not_optimise(args + 1);
		status = rw_phase(args, said);
		free(args);
		/* One that is older refuses the word; or there was no memory for several. */
		bool refused = status && *said && strstr(*said, "split-compile");
		if (j->alone || rw_interrupted() || !(signal_in(status) || refused))
			return status;
		j->alone = true;
		free(*said);
	}
}

/* Did ptxas give up a function, of which it does not say which?  Without its optimisation it does not. */
static bool gave_up(const char *said)
{
	return said && strstr(said, "Register allocation failed");
}

/* Once more without optimisation; *said is what ptxas says in the end.  The status. */
static int attempt_plainly(struct job *j, int status, char **said)
{
	char *before = reason(*said, status), *now;
	int then;

	j->unoptimised = true;
	then = attempt(j, j->options.relocatable, &now);
	if (then) {
		j->unoptimised = false;
		free(now);
		free(before);
		return status;
	}
	for (unsigned i = 0; i < j->nin; i++)
		rw_say("%s: assembled without optimisation (-O0), which is slow: %s", j->in[i].path, before);
	free(before);
	free(*said);
	*said = now;
	return 0;
}

/* Are warnings errors? */
static bool is_strict(char **args)
{
	for (; *args; args++) {
		const char *s = *args + !strncmp(*args, "--", 2);

		if (!strcmp(s, "-Werror") || !strcmp(s, "-warning-as-error"))
			return true;
	}
	return false;
}

/* What helps against that. */
static void advise(const struct job *j, const char *why)
{
	const char *cure = NULL;

	if (gave_up(why))
		cure = "a higher -maxrregcount, or parts of the kernel in functions of their own (__noinline__)";
	else if (strstr(why, "where memory is short"))
		cure = "kernels in several files, or fewer compilations at a time";
	else if (is_strict(j->args))
		cure = "no -Werror for ptxas, for which instrumented code gives other warnings";
	if (cure)
		rw_say("what may help: %s", cure);
}

/* How often it is tried with fewer kernels instrumented. */
enum { ROUNDS = 4 };

/* Runs ptxas on what was rewritten, and if it refuses that, on less of it. */
static int assemble(struct job *j)
{
	char *said, *first = NULL, *more;
	bool plain = false;
	int status = attempt(j, j->options.relocatable, &said);

	if (status && j->options.relocatable && !rw_interrupted()) {
		free(said);
		status = attempt(j, false, &said);
	}
	if (status && !rw_interrupted() && gave_up(said))
		status = attempt_plainly(j, status, &said);
	if (status && !rw_interrupted() && !on("GSAN_NVCC_STRICT")) {
		first = reason(said, status);
		for (int i = 0; i < ROUNDS && status && leave_out(j, said); i++) {
			free(said);
			status = attempt(j, j->options.relocatable, &said);
		}
	}
	if (!status && first) {
		say_left(j);
	} else if (status && first && !rw_interrupted() && put_back(j)) {
		/* If the program's own PTX is at fault, ptxas says all there is to say. */
		status = attempt(j, false, &more);
		free(said);
		said = more;
		plain = true;
		for (unsigned i = 0; i < j->nin && !status; i++)
			rw_say("%s: not instrumented: %s", j->in[i].path, first);
		if (!status)
			advise(j, first);
	}
	if (said && (status || plain))
		fputs(said, stderr);
	else if (said)
		say(j, said);
	free(said);
	free(first);
	return status;
}

/* Has nvcc written what it was asked for down a pipe or to a device, and does it have ptxas look at that now?  It would read what
 * somebody else has, or wait for ever. */
static bool looks_at_stream(char **argv)
{
	const char *name;

	if (output_word(argv + 1, &name))
		return false;
	for (int i = 1; argv[i]; i++) {
		struct stat st;

		if (is_input(argv, i) && (!strncmp(argv[i], "/dev/", 5) || (!stat(argv[i], &st) && S_ISFIFO(st.st_mode))))
			return true;
	}
	return false;
}

static int wrap_reader(char **argv, const struct gsan_rewrite_options *options)
{
	struct job j = { .options = *options };
	int status = 0;

	if (looks_at_stream(argv))
		return 0;
	while (argv[j.nargs])
		j.nargs++;
	j.args = zeroed(j.nargs + 1, sizeof *j.args);
	j.in = zeroed(j.nargs, sizeof *j.in);
	memcpy(j.args, argv, j.nargs * sizeof *argv);
	for (unsigned i = 1; i < j.nargs && !status; i++) {
		const enum outcome how = is_input(argv, (int)i) ? prepare(&j, i) : AS_IT_WAS;

		if (how == UNWRITTEN || (how == FAILED && on("GSAN_NVCC_STRICT")))
			status = 1;
	}
	if (!status)
		status = j.nin ? assemble(&j) : rw_phase(j.args, NULL);
	for (unsigned i = 0; i < j.nin; i++) {
		remove_temp(j.in[i].temp);
		free(j.in[i].text);
	}
	for (unsigned i = 0; i < j.nleave; i++) {
		free((char *)j.leave[i]);
		free(j.why[i]);
	}
	free(j.leave);
	free(j.why);
	free(j.in);
	free(j.args);
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
