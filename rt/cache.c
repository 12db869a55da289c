/* SPDX-License-Identifier: Apache-2.0
 *
 * cache.c: instrumented modules on disk, in $XDG_CACHE_HOME/gsan or ~/.cache/gsan, so that a program's second run need not
 * make them again.  A file is renamed to its name when it is complete, which any number of processes may do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/image.h"

/* A file of the folder, or with no name the folder itself; to be freed.  NULL: there is none. */
static char *path_of(const char *name, const char *suffix)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct rt_buf b = {0};

	/* One that is not absolute is to be ignored, says the XDG specification. */
	if (xdg && *xdg == '/')
		rt_printf(&b, "%s/gsan", xdg);
	else if (home && *home == '/')
		rt_printf(&b, "%s/.cache/gsan", home);
	else
		return NULL;
	rt_printf(&b, "%s%s%s", *name ? "/" : "", name, suffix);
	return b.text;
}

/* The folder and those above it. */
static void make_folder(void)
{
	char *path = path_of("", "");

	for (char *p = path ? path + 1 : NULL; p && *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0700);
			*p = '/';
		}
	if (path)
		mkdir(path, 0700);
	rt_free(path);
}

static char *read_whole(int fd, size_t bytes)
{
	char *all = rt_try_alloc(bytes + 1);
	size_t n = 0;

	while (all && n < bytes) {
		ssize_t got = read(fd, all + n, bytes - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (all && n == bytes)
		return all;
	rt_free(all);
	return NULL;
}

/* One of somebody else's is not to be trusted. */
static char *read_own(const char *path, struct entry *e)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *all = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size > 0)
		all = read_whole(fd, (size_t)st.st_size);
	close(fd);
	if (all && entry_read(all, (size_t)st.st_size, e))
		return all;
	rt_verbose(1, "%s is damaged, and made again", path);
	rt_free(all);
	return NULL;
}

char *rt_cache_get(const char *name, struct entry *e)
{
	char *path = path_of(name, ""), *all = path ? read_own(path, e) : NULL;

	rt_free(path);
	return all;
}

static int new_file(const char *name, char **temp)
{
	int fd = -1;

	for (int tries = 0; tries < 2 && fd < 0; tries++) {
		if (tries)
			make_folder();
		rt_free(*temp);
		*temp = path_of(name, ".XXXXXX");
		if (*temp)
			fd = mkostemp(*temp, O_CLOEXEC);
	}
	return fd;
}

void rt_cache_put(const char *name, const char *all, size_t bytes)
{
	char *path = path_of(name, ""), *temp = NULL;
	const int fd = path ? new_file(name, &temp) : -1;
	bool ok = fd >= 0 && !rt_write_all(fd, all, bytes);

	if (fd >= 0)
		ok &= !close(fd);
	else if (path)
		rt_verbose(1, "%s cannot be written: %s", path, strerror(errno));
	if (fd >= 0 && (!ok || rename(temp, path)))
		unlink(temp);
	rt_free(path);
	rt_free(temp);
}
