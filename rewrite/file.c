/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c: whole files in and out.  What is written appears under its name only
 * when it is complete; an error leaves nothing behind.
 */
#include <errno.h>
#include <fcntl.h>
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

/* To a name beside it, then renamed. */
static bool write_beside(const char *path, const char *text, size_t len, mode_t mode)
{
	char *temp = malloc(strlen(path) + sizeof ".XXXXXX");
	int fd, saved;
	bool ok;

	if (!temp)
		return false;
	strcpy(temp, path);
	strcat(temp, ".XXXXXX");
	fd = mkstemp(temp);
	if (fd < 0) {
		free(temp);
		return false;
	}
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

bool rw_write_file(const char *path, const char *text, size_t len)
{
	struct stat st;
	mode_t mask;

	if (!strcmp(path, "-"))
		return write_all(STDOUT_FILENO, text, len);
	if (!stat(path, &st)) {
		/* A pipe or a device keeps its identity. */
		if (!S_ISREG(st.st_mode)) {
			int fd = open(path, O_WRONLY | O_CLOEXEC);
			bool ok = fd >= 0 && write_all(fd, text, len);

			return fd >= 0 ? !close(fd) && ok : false;
		}
		return write_beside(path, text, len, st.st_mode & 0777);
	}
	mask = umask(0);
	umask(mask);
	return write_beside(path, text, len, 0666 & ~mask);
}
