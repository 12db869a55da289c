/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c: whole files in and out.  A regular file appears under its name only
 * when it is complete, and an error leaves nothing behind; into anything else (a
 * pipe, a device, a descriptor of ours) the text goes as a stream.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rewrite/rw.h"

static char *read_all(int fd, size_t hint, size_t *len)
{
	size_t cap = hint + 1, n = 0;
	char *p = rw_room(&cap);

	while (p) {
		ssize_t got = read(fd, p + n, cap - 1 - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			if (got < 0)
				break;
			p[n] = '\0';
			*len = n;
			return p;
		}
		n += (size_t)got;
		if (cap - n < 2) {
			char *more = realloc(p, cap *= 2);

			if (!more)
				break;
			p = more;
		}
	}
	free(p);
	return NULL;
}

char *rw_read_file(const char *path, size_t *len)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct stat st;
	char *p;
	int saved;

	if (fd < 0)
		return NULL;
	p = read_all(fd, fstat(fd, &st) || st.st_size < 0 ? 0 : (size_t)st.st_size, len);
	saved = errno;
	if (fd != STDIN_FILENO)
		close(fd);
	errno = saved;
	return p;
}

static bool write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t put = write(fd, p, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		p += put;
		len -= (size_t)put;
	}
	return true;
}

/* ---- where a name leads ---------------------------------------------------------------------- */

/* The descriptor of ours that the name stands for, -1: none. */
static int own_fd(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	char *end;
	long fd = -1;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof folders / sizeof *folders && fd < 0; i++) {
		const size_t n = strlen(folders[i]);

		if (strncmp(path, folders[i], n) || path[n] < '0' || path[n] > '9')
			continue;
		fd = strtol(path + n, &end, 10);
		fd = *end || fd > INT_MAX ? -1 : fd;
	}
	return (int)fd;
}

/* What a link says, seen from where the link is; malloc'd, NULL: it is no link. */
static char *link_at(const char *path)
{
	char text[PATH_MAX], *joined;
	ssize_t n = readlink(path, text, sizeof text - 1);
	const char *slash = strrchr(path, '/');

	if (n <= 0)
		return NULL;
	text[n] = '\0';
	if (*text == '/' || !slash)
		return strdup(text);
	return asprintf(&joined, "%.*s/%s", (int)(slash - path), path, text) < 0 ? NULL : joined;
}

/* The file, and not a link to it, so that links stay; malloc'd. */
static char *behind_links(const char *path)
{
	enum { MOST = 40 };     /* as many as the kernel follows */
	char *at = strdup(path), *next;

	for (int i = 0; at && i < MOST && own_fd(at) < 0 && (next = link_at(at)); i++) {
		free(at);
		at = next;
	}
	return at;
}

char *rw_regular(const char *path)
{
	char *at = behind_links(path);
	struct stat st;

	if (at && own_fd(at) < 0 && (stat(at, &st) || S_ISREG(st.st_mode)))
		return at;
	free(at);
	return NULL;
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Into the file as it is, where no other can be put beside it; it is empty if that fails. */
static bool write_over(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), saved;
	bool ok = fd >= 0 && write_all(fd, text, len);

	saved = errno;
	if (fd >= 0 && !ok && ftruncate(fd, 0))
		ok = false;
	if (fd >= 0 && close(fd) && ok)
		return false;
	errno = saved;
	return ok;
}

char *rw_beside(const char *path, int *fd)
{
	char *temp;

	if (asprintf(&temp, "%s.gsan-XXXXXX", path) < 0)
		return NULL;
	*fd = mkstemp(temp);
	if (*fd >= 0)
		return temp;
	free(temp);
	return NULL;
}

/* To a name beside it, then renamed. */
static bool write_beside(const char *path, const char *text, size_t len, mode_t mode)
{
	int fd, saved;
	char *temp = rw_beside(path, &fd);
	bool ok;

	if (!temp)
		return (errno == EACCES || errno == EROFS) && write_over(path, text, len);
	ok = write_all(fd, text, len) && !fchmod(fd, mode);
	ok &= !close(fd);
	ok = ok && !rename(temp, path);
	saved = errno;
	if (!ok)
		unlink(temp);
	free(temp);
	errno = saved;
	return ok;
}

static bool write_regular(const char *path, const char *text, size_t len)
{
	struct stat st;
	mode_t mask;

	if (!stat(path, &st))
		return write_beside(path, text, len, st.st_mode & 0777);
	mask = umask(0);
	umask(mask);
	return write_beside(path, text, len, 0666 & ~mask);
}

/* A pipe or a device keeps its identity. */
static bool write_stream(const char *path, const char *text, size_t len)
{
	char *at = behind_links(path);
	int fd = at ? own_fd(at) : -1;
	bool ok;

	free(at);
	if (fd >= 0)
		return write_all(fd, text, len);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write_all(fd, text, len);
	return !close(fd) && ok;
}

bool rw_write_file(const char *path, const char *text, size_t len)
{
	char *at = rw_regular(path);
	bool ok = at ? write_regular(at, text, len) : write_stream(path, text, len);
	int saved = errno;

	free(at);
	errno = saved;
	return ok;
}
