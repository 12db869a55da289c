/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.c: gsan-run --no-follow: libgsan, which was preloaded into this process, is not to be in those that it starts.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/image.h"

static bool is_libgsan(const char *path, size_t n)
{
	static const char name[] = "libgsan.so";
	size_t base = n;

	while (base && path[base - 1] != '/')
		base--;
	return n - base >= sizeof name - 1 && !memcmp(path + base, name, sizeof name - 1);
}

/* The list without it; its parts stand between colons and blanks. */
static void take_out(const char *variable)
{
	const char *list = getenv(variable);
	char *rest = list ? malloc(strlen(list) + 2) : NULL, *to = rest;

	if (!rest)
		return;
	for (size_t n; *list; list += n) {
		list += strspn(list, ": ");
		n = strcspn(list, ": ");
		if (!n || is_libgsan(list, n))
			continue;
		memcpy(to, list, n);
		to += n;
		*to++ = ':';
	}
	*to = '\0';
	if (to > rest)
		to[-1] = '\0';
	if (*rest)
		setenv(variable, rest, 1);
	else
		unsetenv(variable);
	free(rest);
}

/* Who has this number is the program, and its children have others. */
__attribute__((constructor)) static void begin(void)
{
	const char *only = getenv(RT_IMAGE_ONLY);

	if (only && strtol(only, NULL, 10) == getpid())
		take_out("LD_PRELOAD");
}
