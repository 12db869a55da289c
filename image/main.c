/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: gsan-image, which libgsan runs for an image that a program loads (rt/image.c): a fat binary or the text of PTX
 * on its standard input, the answer (rt/entry.h) on its standard output.  It is a program of its own so that libgsan needs
 * nothing but libc, and so that whatever happens to it, the program goes on.  Status 0 if there is an answer.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/fatbin.h"
#include "rewrite/rewrite.h"
#include "rt/entry.h"

enum { EXIT_OK, EXIT_USAGE = 2, EXIT_IO };
enum { WHY_BYTES = 256 };

struct command {
	struct gsan_rewrite_options options;
	const char *path;
	unsigned sm;                    /* the device, of which a fat binary's PTX is taken; 0: any is too new */
};

/* All of standard input, and room for a word behind it; NULL after an error. */
static char *read_input(size_t *len)
{
	struct stat st;
	size_t cap = fstat(STDIN_FILENO, &st) || st.st_size <= 0 ? 1 << 16 : (size_t)st.st_size + 64, n = 0;
	char *p = malloc(cap), *more;
	ssize_t got = 1;

	while (p && got) {
		if (cap - n < 32) {
			more = realloc(p, cap *= 2);
			if (!more)
				free(p);
			p = more;
			continue;
		}
		got = read(STDIN_FILENO, p + n, cap - n - 16);
		if (got < 0 && errno != EINTR) {
			free(p);
			return NULL;
		}
		n += got > 0 ? (size_t)got : 0;
	}
	if (p)
		memset(p + n, 0, 16);
	*len = n;
	return p;
}

static bool write_all(const char *p, size_t n)
{
	while (n) {
		ssize_t put = write(STDOUT_FILENO, p, n);

		if (put < 0 && errno != EINTR)
			return false;
		p += put > 0 ? put : 0;
		n -= put > 0 ? (size_t)put : 0;
	}
	return true;
}

static int answer(enum entry_kind kind, const char *text, size_t bytes)
{
	const struct entry e = {kind, text, bytes};
	char line[ENTRY_LINE];
	const int n = entry_line(line, &e);

	return write_all(line, (size_t)n) && write_all(text, bytes) ? EXIT_OK : EXIT_IO;
}

/* ---- what is refused ------------------------------------------------------------------------------ */

/* The first error is the one to tell. */
static void note_error(void *arg, const char *path, const struct ptx_error *e)
{
	char *why = arg;

	(void)path;
	if (!*why)
		snprintf(why, WHY_BYTES, "line %u of its PTX: %.200s", e->line, e->text);
}

static int instrument(const struct command *c, const char *text, size_t len)
{
	struct gsan_rewrite_stats stats;
	char why[WHY_BYTES] = "";
	size_t bytes;
	char *out = gsan_rewrite(c->path, text, len, &c->options, &stats, &bytes, note_error, why);
	int status;

	if (!out)
		return answer(ENTRY_IS_REFUSED, why, strlen(why));
	if (stats.passed == GSAN_PASSED_MARKED)
		status = answer(ENTRY_IS_MARKED, "", 0);
	else if (stats.passed == GSAN_PASSED_32BIT)
		status = answer(ENTRY_IS_REFUSED, "its addresses have 32 bits", strlen("its addresses have 32 bits"));
	else
		status = answer(ENTRY_IS_PTX, out, bytes);
	free(out);
	return status;
}

static int work(const struct command *c, const char *image, size_t len)
{
	static const char damaged[] = "the fat binary is damaged, or compressed in a way that gsan was built without";
	struct ptx_buf text = {0}, log = {0};
	CUresult r;
	int status;

	if (len < 4 || !emu_fatbin_is(image))
		return instrument(c, image, strnlen(image, len));
	if (!emu_fatbin_whole(image, len))
		return answer(ENTRY_IS_REFUSED, damaged, sizeof damaged - 1);
	r = emu_fatbin_text(image, c->sm, &text, &log);
	if (r == CUDA_ERROR_NO_BINARY_FOR_GPU)
		status = answer(ENTRY_IS_NONE, "", 0);
	else if (r != CUDA_SUCCESS || !text.len)
		status = answer(ENTRY_IS_REFUSED, damaged, sizeof damaged - 1);
	else
		status = instrument(c, text.p, text.len);
	free(text.p);
	free(log.p);
	return status;
}

static int usage(void)
{
	fputs("usage: gsan-image [--sm=N] [--path=NAME] [--stored] [--perturb=SEED] [--relocatable] <IMAGE\n"
	      "libgsan runs this for what a program loads; gsan-ptx(1) is for you.\n", stderr);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	enum { PATH = 256, SM, STORED, PERTURB, RELOCATABLE };
	static const struct option longs[] = {
		{ "path", required_argument, NULL, PATH },
		{ "sm", required_argument, NULL, SM },
		{ "stored", no_argument, NULL, STORED },
		{ "perturb", required_argument, NULL, PERTURB },
		{ "relocatable", no_argument, NULL, RELOCATABLE },
		{ NULL, 0, NULL, 0 }
	};
	struct command c = {.path = "PTX", .options = {.gather = true}};
	char *image;
	size_t len;
	int opt, status;

	while ((opt = getopt_long(argc, argv, "", longs, NULL)) >= 0)
		if (opt == PATH)
			c.path = optarg;
		else if (opt == SM)
			c.sm = (unsigned)strtoul(optarg, NULL, 10);
		else if (opt == STORED)
			c.options.stored = true;
		else if (opt == RELOCATABLE)
			c.options.relocatable = true;
		else if (opt != PERTURB || !gsan_rewrite_seed(optarg, &c.options.perturb))
			return usage();
	if (optind != argc)
		return usage();
	image = read_input(&len);
	if (!image) {
		perror("gsan-image");
		return EXIT_IO;
	}
	status = work(&c, image, len);
	free(image);
	return status;
}
