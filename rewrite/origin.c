/* SPDX-License-Identifier: Apache-2.0
 *
 * origin.c: what PTX was before it was rewritten in place, for a ptxas that
 * refuses the rewritten text.  gsan-nvcc opens a file without a name and hands it
 * down to all phases of one nvcc (GSAN_ORIGINALS is its descriptor); each cicc adds
 * a record, each ptxas looks for the one whose rewritten text it was given.  The
 * file ends with its last user, and so nothing is left behind by anybody.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rewrite/rw.h"

/* In front of every original. */
struct record {
	char magic[8];
	uint64_t hash;          /* of the rewritten text */
	uint64_t rewritten_len, len;
};

static const char magic[8] = "gsan-or1";

static int log_file(void)
{
	const char *s = getenv("GSAN_ORIGINALS");
	char *end;
	struct stat st;
	long fd = s && *s ? strtol(s, &end, 10) : -1;

	return fd > 2 && fd < 1 << 20 && !*end && !fstat((int)fd, &st) && S_ISREG(st.st_mode) ?
	       (int)fd : -1;
}

/* Locks of this kind belong to the process, as those must that share one open
 * file; closing it would end them. */
static bool lock(int fd, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET };

	while (fcntl(fd, F_SETLKW, &l) < 0)
		if (errno != EINTR)
			return false;
	return true;
}

static bool write_at(int fd, const void *p, size_t len, off_t at)
{
	while (len) {
		ssize_t put = pwrite(fd, p, len, at);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		p = (const char *)p + put;
		at += put;
		len -= (size_t)put;
	}
	return true;
}

static bool read_at(int fd, void *p, size_t len, off_t at)
{
	while (len) {
		ssize_t got = pread(fd, p, len, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p = (char *)p + got;
		at += got;
		len -= (size_t)got;
	}
	return true;
}

void rw_origin_keep(const char *rewritten, size_t rewritten_len, const char *text, size_t len)
{
	struct record r = { .hash = rw_hash(rewritten, rewritten_len),
		.rewritten_len = rewritten_len, .len = len };
	struct stat st;
	int fd = log_file();

	memcpy(r.magic, magic, sizeof magic);
	if (fd < 0 || !lock(fd, F_WRLCK))
		return;
	/* The text goes first: a record that is there is there whole. */
	if (!fstat(fd, &st) && write_at(fd, text, len, st.st_size + (off_t)sizeof r))
		write_at(fd, &r, sizeof r, st.st_size);
	lock(fd, F_UNLCK);
}

bool rw_first(const char *text)
{
	struct record r = { .hash = rw_hash(text, strlen(text)) }, other;
	int fd = log_file();
	bool found = false;
	struct stat st;

	memcpy(r.magic, magic, sizeof magic);
	if (fd < 0 || !lock(fd, F_WRLCK))
		return true;
	for (off_t at = 0; !found && read_at(fd, &other, sizeof other, at);
	     at += (off_t)(sizeof other + other.len))
		found = other.hash == r.hash && !other.rewritten_len;
	if (!found && !fstat(fd, &st))
		write_at(fd, &r, sizeof r, st.st_size);
	lock(fd, F_UNLCK);
	return !found;
}

char *rw_origin(const char *rewritten, size_t rewritten_len, size_t *len)
{
	const uint64_t hash = rw_hash(rewritten, rewritten_len);
	int fd = log_file();
	char *text = NULL;
	struct record r;

	if (fd < 0 || !lock(fd, F_RDLCK))
		return NULL;
	for (off_t at = 0; read_at(fd, &r, sizeof r, at); at += (off_t)(sizeof r + r.len)) {
		if (memcmp(r.magic, magic, sizeof magic))
			break;
		if (r.hash != hash || r.rewritten_len != rewritten_len)
			continue;
		text = malloc(r.len + 1);
		if (text && !read_at(fd, text, r.len, at + (off_t)sizeof r)) {
			free(text);
			text = NULL;
		}
		*len = r.len;
		break;
	}
	lock(fd, F_UNLCK);
	return text;
}
