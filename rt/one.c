/* SPDX-License-Identifier: Apache-2.0
 *
 * one.c: one runtime for a process.  The program and any of its libraries may
 * have been linked with a runtime of their own; each is found by a note that it
 * carries into what it is linked into, and the first that was loaded is the one
 * that works.  The others pass on to it whatever is asked of them, so that all
 * hooks are the same whoever looks them up.  Nothing depends on which of the
 * dynamic linker's scopes a library is in.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "rt/drv.h"
#include "rt/gsan.h"

#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define NAME "GSan"
/* Of struct rt_one and of the hooks: what another runtime has to have. */
#define VERSION 1

/* A program's sanitizer may not be ready when its first look-up comes here. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

/* The note: its name, the version as its type, and where rt_self lies from there. */
__asm__(
	"	.pushsection .note.gsan, \"a\", %note\n"
	"	.balign	4\n"
	"	.4byte	2f - 1f, 4f - 3f, " STRING(VERSION) "\n"
	"1:	.asciz	\"" NAME "\"\n"
	"2:	.balign	4\n"
	"3:	.8byte	rt_self - .\n"
	"4:	.balign	4\n"
	"	.popsection\n");

__attribute__((visibility("hidden"))) extern const struct rt_one rt_self;

const struct rt_one rt_self = {
	.hooks = RT_HOOK_COUNT, .bytes = sizeof rt_self, .hook = rt_hook, .look_up = rt_dlsym_hook,
	.init = gsan_init, .use_driver = gsan_use_driver, .findings = gsan_findings,
	.finding = gsan_finding, .incomplete = gsan_incomplete, .finish = rt_finish, .off = rt_off, .end_with = rt_end_with, .at = gsan_at,
	.allocated = gsan_allocated, .freed = gsan_freed,
};

static const struct rt_one *one;        /* atomic */

/* The runtime that a note tells of, if it is like this one. */
UNCHECKED static const struct rt_one *in_note(const char *p, const char *end)
{
	while (end - p >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(const void *)p;
		const char *name = p + sizeof *n, *desc = name + ((n->n_namesz + 3u) & ~3u);
		const struct rt_one *found;
		int64_t far = 0;

		if (n->n_namesz > 256 || n->n_descsz > (1u << 20))
			return NULL;
		p = desc + ((n->n_descsz + 3u) & ~3u);
		if (p > end)
			return NULL;
		if (n->n_namesz != sizeof NAME || n->n_type != VERSION || n->n_descsz != sizeof far)
			continue;
		for (unsigned i = 0; i < sizeof NAME; i++)
			if (name[i] != NAME[i])
				far = 1;
		if (far)
			continue;
		for (unsigned i = 0; i < sizeof far; i++)
			((char *)&far)[i] = desc[i];
		found = (const struct rt_one *)(const void *)(desc + far);
		if (found->bytes == sizeof *found && found->hooks == RT_HOOK_COUNT)
			return found;
	}
	return NULL;
}

/* Of one loaded object; the program comes first, then libraries as they came. */
UNCHECKED static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct rt_one **found = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum && !*found; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_NOTE) {
			const char *at = (const char *)(uintptr_t)(info->dlpi_addr + ph->p_vaddr);

			*found = in_note(at, at + ph->p_memsz);
		}
	}
	return *found != NULL;
}

/* A library that is loaded later comes later: the answer does not change. */
UNCHECKED static const struct rt_one *find(void)
{
	const struct rt_one *found = __atomic_load_n(&one, __ATOMIC_ACQUIRE);

	if (found)
		return found;
	dl_iterate_phdr(visit, &found);
	if (!found)             /* in another of the linker's namespaces, or stripped of it */
		found = &rt_self;
	__atomic_store_n(&one, found, __ATOMIC_RELEASE);
	return found;
}

UNCHECKED const struct rt_one *rt_other(void)
{
	const struct rt_one *found = find();

	return found == &rt_self ? NULL : found;
}

const struct rt_one *rt_known(void)
{
	return __atomic_load_n(&one, __ATOMIC_ACQUIRE);
}

/* Hooks have been handed out, and a thread may run: a library that this is in is
 * not unloaded. */
void rt_stay(void)
{
	Dl_info where;

	if (dladdr(&rt_self, &where) && where.dli_fname)
		dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
