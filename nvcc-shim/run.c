/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Finding the real tool and our own parts, and becoming the tool.  The shim
 * holds no file that has a name and has nothing to do afterwards, so it is replaced
 * by what it wraps: exit status, output and signals are the tool's own.
 */
#include "nvcc-shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"

const char *shim_name = "gsan-nvcc";

void
shim_say(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", shim_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* With GSAN_NVCC_STRICT=1 what cannot be instrumented is not compiled either. */
bool
shim_strict(void)
{
	const char *s = getenv("GSAN_NVCC_STRICT");

	return s && *s && strcmp(s, "0") != 0;
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool
is_program(const char *path)
{
	return is_file(path) && access(path, X_OK) == 0;
}

static bool
same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 &&
	    x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The folder that this program lies in, links resolved. */
static char *
own_folder(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return shim_format("%s", path);
}

/*
 * The tool in PATH, passing over every entry that is this program under
 * another name: a link called nvcc in front of the real one is a common way
 * to install a wrapper.
 */
static char *
in_path(const char *tool)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t n = strcspn(path, ":");
		char *file = shim_format("%.*s/%s", n ? (int)n : 1, n ? path : ".", tool);

		if (is_program(file) && !same_file(file, "/proc/self/exe"))
			return file;
		free(file);
		path += n + (path[n] == ':');
	}
	return NULL;
}

static char *
find_real(const char *tool, const char *variable, const char *configured)
{
	const char *said = getenv(variable);

	if (said && *said) {
		if (!strchr(said, '/'))
			return in_path(said);
		return is_program(said) ? shim_format("%s", said) : NULL;
	}
	if (is_program(configured))
		return shim_format("%s", configured);
	return in_path(tool);
}

/*
 * Our parts lie beside us in a build tree, and where `make install` put them
 * after that; the installed tree may have been moved as a whole.  GSAN_HOME,
 * if set, is the one place to look.
 */
static char *
part(const char *home, const char *own, const char *const *places, const char *fixed)
{
	const char *base = home && *home ? home : own;

	for (; base && *places; places++) {
		char *file = shim_format("%s/%s", base, *places);

		if (is_file(file))
			return file;
		free(file);
	}
	if (!(home && *home) && is_file(fixed))
		return shim_format("%s", fixed);
	return NULL;
}

/*
 * What is gsan's own; what cannot be found is left NULL: without t->ptx nothing
 * is instrumented.  The archive lies in a folder where there is no shared libgsan,
 * which -lgsan would find first: an instrumented program needs nothing else to run.
 */
void
shim_find_parts(struct shim_tools *t)
{
	static const char *const ptx[] = { "gsan-ptx", "bin/gsan-ptx", NULL };
	static const char *const lib[] = {
		"gsan-lib/libgsan.a", "lib/gsan/libgsan.a", "../lib/gsan/libgsan.a", NULL
	};
	static const char *const link[] = {
		"gsan-link.h", "share/gsan/gsan-link.h", "../share/gsan/gsan-link.h", NULL
	};
	static const char *const shared[] = {
		"libgsan.so", "lib/libgsan.so", "../lib/libgsan.so", NULL
	};
	const char *home = getenv("GSAN_HOME");
	char *own = own_folder();

	t->ptx = part(home, own, ptx, BINDIR "/gsan-ptx");
	t->libdir = part(home, own, lib, PKGLIBDIR "/libgsan.a");
	if (t->libdir)
		*strrchr(t->libdir, '/') = '\0';
	t->link = part(home, own, link, PKGDATADIR "/gsan-link.h");
	t->shared = part(home, own, shared, LIBDIR "/libgsan.so");
	free(own);
}

/* And the real tool; false: there is none, which is said here. */
bool
shim_find_tools(struct shim_tools *t, const char *tool, const char *variable,
    const char *configured)
{
	t->real = find_real(tool, variable, configured);
	if (!t->real) {
		shim_say("cannot find the real %s; say where it is: %s=FILE", tool, variable);
		return false;
	}
	if (same_file(t->real, "/proc/self/exe")) {
		shim_say("%s: this is %s itself; say where the real %s is: %s=FILE",
		    t->real, shim_name, tool, variable);
		return false;
	}
	shim_find_parts(t);
	return true;
}

void
shim_tools_free(struct shim_tools *t)
{
	free(t->real);
	free(t->ptx);
	free(t->libdir);
	free(t->link);
	free(t->shared);
	*t = (struct shim_tools){ 0 };
}

/*
 * A tool that leads back to a shim (GSAN_NVCC is a script that calls the
 * nvcc in PATH, which is us) would go on for ever.  A few levels are fine: a
 * program that nvcc runs may well compile something itself.
 */
static bool
recursion(const char *real)
{
	enum { DEEPEST = 4 };
	const char *mark = getenv("GSAN_NVCC_DEPTH");
	int depth = mark ? atoi(mark) : 0;
	char digits[16];

	if (depth >= DEEPEST) {
		shim_say("%s leads back to %s", real, shim_name);
		return true;
	}
	snprintf(digits, sizeof digits, "%d", depth + 1);
	setenv("GSAN_NVCC_DEPTH", digits, 1);
	return false;
}

/*
 * cicc's PTX is rewritten where it lies, and a later phase may need to know what
 * it was.  The phases put it into a file that has no name, so that it goes when
 * the last of them does; without one they do without.
 */
void
shim_share_originals(void)
{
	enum { ABOVE = 64 };		/* shells use low descriptors themselves */
	int fd = memfd_create("gsan-originals", MFD_CLOEXEC), shared;
	char digits[16];

	if (fd < 0)
		return;
	shared = fcntl(fd, F_DUPFD, ABOVE);
	close(fd);
	if (shared < 0)
		return;
	snprintf(digits, sizeof digits, "%d", shared);
	setenv("GSAN_ORIGINALS", digits, 1);
}

/* Returns only when the tool could not be started, with our exit status. */
int
shim_become(const struct strv *plan, bool show)
{
	if (show) {
		for (size_t i = 0; i < plan->n; i++) {
			char *s = shim_quote(plan->v[i]);

			fprintf(stderr, "%s%s", i ? " " : "", s);
			free(s);
		}
		fputc('\n', stderr);
	}
	if (recursion(plan->v[0]))
		return SHIM_FAILED;
	execv(plan->v[0], plan->v);
	shim_say("%s: %s", plan->v[0], strerror(errno));
	return SHIM_FAILED;
}
