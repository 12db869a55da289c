/* SPDX-License-Identifier: Apache-2.0
 *
 * demangle.c: C++ names as people write them.  The runtime depends on libc
 * alone, so the demangler is the process's own C++ library if it has one, else
 * one that can be loaded, else names stay as they are.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rti.h"

typedef char *demangle_fn(const char *, char *, size_t *, int *);

static demangle_fn *demangler;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_up(void)
{
	void *f = dlsym(RTLD_DEFAULT, "__cxa_demangle");
	void *lib;

	if (!f) {
		lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		f = lib ? dlsym(lib, "__cxa_demangle") : NULL;
	}
	memcpy(&demangler, &f, sizeof f);
}

/* Takes out tags of an ABI: nobody writes them, and Numba's are hashes of a hundred characters. */
static char *without_tags(char *shown)
{
	static const char tag[] = "[abi:";
	char *to = shown;

	for (const char *p = shown; *p;) {
		const char *end = strncmp(p, tag, sizeof tag - 1) ? NULL : strchr(p, ']');

		if (end)
			p = end + 1;
		else
			*to++ = *p++;
	}
	*to = '\0';
	return shown;
}

const char *rt_demangle(const char *name)
{
	char *shown;
	int status = -1;

	if (!rt_flags.demangle || strncmp(name, "_Z", 2))
		return name;
	pthread_once(&once, look_up);
	if (!demangler)
		return name;
	shown = demangler(name, NULL, NULL, &status);
	return shown && !status ? without_tags(shown) : name;
}

/* Where the parameter list of a demangled function starts, or its end.  A
 * parenthesis inside <...>, or of "(anonymous namespace)", is none. */
static const char *parameters(const char *s)
{
	static const char anonymous[] = "(anonymous namespace)";
	int depth = 0;

	for (const char *p = s; *p; p++) {
		if (!strncmp(p, anonymous, sizeof anonymous - 1)) {
			p += sizeof anonymous - 2;
		} else if (*p == '<') {
			depth++;
		} else if (*p == '>') {
			depth--;
		} else if (*p == '(' && depth == 0 && p > s) {
			return p;
		}
	}
	return s + strlen(s);
}

char *rt_bare_name(const char *shown)
{
	const char *end = parameters(shown), *start = shown;
	char *name;
	int depth = 0;

	for (const char *p = shown; p < end; p++) {
		if (*p == '<' || *p == '(')
			depth++;
		else if (*p == '>' || *p == ')')
			depth--;
		else if (*p == ' ' && depth == 0)
			start = p + 1;
	}
	name = rt_alloc((size_t)(end - start) + 1);
	return memcpy(name, start, (size_t)(end - start));
}
