/* SPDX-License-Identifier: Apache-2.0
 *
 * hint.c: what to say of a file that nobody has written a script for.
 */
#include <string.h>

#include "run/run.h"

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* An argument for a parameter of that type; "..." for what has no simple one. */
static const char *argument(const char *type)
{
	static const struct { const char *type, *value; } simple[] = {
		{ ".u64 ", "a" }, { ".b64 ", "a" }, { ".s64 ", "s64:0" }, { ".u32 ", "u32:1" }, { ".b32 ", "u32:1" },
		{ ".s32 ", "s32:1" }, { ".f32 ", "f32:1" }, { ".f64 ", "f64:1" }, { ".u16 ", "u16:1" }, { ".u8 ", "u8:1" },
	};

	for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
		if (begins(type, simple[i].type))
			return simple[i].value;
	return "...";
}

/* Arguments, from the parameters of the kernel that begins there. */
static void put_arguments(const char *entry)
{
	const char *end = entry + strcspn(entry, "{"), *p = entry, *sep = "";

	while ((p = strstr(p, ".param ")) && p < end) {
		p += sizeof ".param " - 1;
		fprintf(stderr, "%s%s", sep, argument(p));
		sep = ",";
	}
}

static void put_script(const char *entry)
{
	const char *name = entry + sizeof ".entry" - 1;
	int n;

	name += strspn(name, " \t\r\n");
	n = (int)strcspn(name, "( \t\r\n{");
	fprintf(stderr, "    //@ buf a 4096\n    //@ launch %.*s grid=1,1,1 block=128,1,1 args=", n, name);
	put_arguments(entry);
	fputs("\ngsan-run(1) says what a script can have in it\n", stderr);
}

bool run_is_machine_code(const char *path, const char *text)
{
	if (!begins(text, "\177ELF"))
		return false;
	fprintf(stderr, "%s: error: machine code (an ELF file); gsan-run wants PTX, as nvcc -ptx or cuobjdump -ptx"
		" give it\n", path);
	return true;
}

bool run_launches_nothing(const struct run_script *s)
{
	const char *entry = strstr(s->text, ".entry");

	for (unsigned i = 0; i < s->nactions; i++)
		if (s->actions[i].kind == ACT_LAUNCH)
			return false;
	if (!entry) {
		fprintf(stderr, "%s: error: no kernel (.entry) and no script (//@ launch ...): nothing can be run\n", s->path);
		return true;
	}
	fprintf(stderr, "%s: error: no script: nothing launches a kernel; lines such as these do, anywhere in the file:\n",
		s->path);
	put_script(entry);
	return true;
}
