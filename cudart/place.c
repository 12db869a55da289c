/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c: puts this runtime where NVIDIA's is: every function of NVIDIA's that has one of
 * ours by its name begins with a jump to it.  nvcc links the runtime into programs and
 * libraries, so that no library could take its place; the names are in their symbol tables,
 * unless they were stripped.  Preloaded, this runs before the program's own constructors,
 * which register kernels; and of libraries that are loaded later, as Python's modules are,
 * when the dynamic linker tells debuggers of them, which is before theirs.
 */
#include "cudart/cudart.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct object {
	const char *path;
	uintptr_t base;
	const uint8_t *file;
	size_t bytes;
};

/* ---- jumps ----------------------------------------------------------------------------- */

/* A function may be smaller than a jump that reaches all of memory: it gets a short one, to
 * a long one that lies near the object. */
enum { LONG_BYTES = 16, MOST_JUMPS = 1024, STEP = 1 << 16 };
#define ROOM_BYTES ((size_t)LONG_BYTES * MOST_JUMPS)

/* Of what begins with a short one: it is ours already. */
#if defined __x86_64__
static bool is_short(const uint8_t *at)
{
	return *at == 0xe9;
}

enum { SHORT_BYTES = 5 };
#define REACH (UINT64_C(1) << 31)

static void write_short(uint8_t *at, const uint8_t *to)
{
	const int32_t distance = (int32_t)(to - (at + SHORT_BYTES));

	*at = 0xe9;                                                     /* jmp */
	memcpy(at + 1, &distance, sizeof distance);
}

static void write_long(uint8_t *at, const void *to)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};         /* jmp *0(%rip) */

	memcpy(at, jump, sizeof jump);
	memcpy(at + sizeof jump, &to, sizeof to);
}
#elif defined __aarch64__
static bool is_short(const uint8_t *at)
{
	return (at[3] & 0xfc) == 0x14;
}

enum { SHORT_BYTES = 4 };
#define REACH (UINT64_C(1) << 27)

static void write_short(uint8_t *at, const uint8_t *to)
{
	const uint32_t b = 0x14000000 | ((uint32_t)((to - at) >> 2) & 0x3ffffff);

	memcpy(at, &b, sizeof b);
	__builtin___clear_cache((char *)at, (char *)at + SHORT_BYTES);
}

static void write_long(uint8_t *at, const void *to)
{
	static const uint32_t jump[] = {0x58000050, 0xd61f0200};        /* ldr x16, #8; br x16 */

	memcpy(at, jump, sizeof jump);
	memcpy(at + sizeof jump, &to, sizeof to);
	__builtin___clear_cache((char *)at, (char *)at + LONG_BYTES);
}
#else
#error "no jump is known for this processor"
#endif

static uint8_t *room_at(uintptr_t at)
{
	void *want = (void *)at;
	void *got = mmap(want, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == want)
		return got;
	if (got != MAP_FAILED)
		munmap(got, ROOM_BYTES);        /* an old kernel, which took it for a hint */
	return NULL;
}

/* Room for an object's long jumps, where short ones from all of it reach: below it, or above. */
static uint8_t *near_room(const struct object *o)
{
	const uintptr_t base = o->base & ~(uintptr_t)(STEP - 1);
	uint8_t *room = NULL;

	for (uintptr_t away = STEP; !room && away + o->bytes < REACH - STEP && away < base; away += STEP)
		room = room_at(base - away);
	for (uintptr_t away = STEP; !room && away + ROOM_BYTES < REACH - STEP; away += STEP)
		room = room_at(base + away);
	return room;
}

/* The pages that a function begins in, as writable or as they were. */
static bool protect(uint8_t *at, int how)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t first = (uintptr_t)at & ~(page - 1);

	return !mprotect((void *)first, (uintptr_t)at + SHORT_BYTES - first, how);
}

static bool put_jump(uint8_t *at, uint8_t *by, const void *to)
{
	write_long(by, to);
	if (!protect(at, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		perror("gsan: the program's CUDA runtime cannot be replaced: mprotect");
		return false;
	}
	write_short(at, by);
	return protect(at, PROT_READ | PROT_EXEC);
}

/* ---- symbol tables ----------------------------------------------------------------------- */

static const void *within(const struct object *o, uint64_t at, uint64_t n)
{
	return at <= o->bytes && n <= o->bytes - at ? o->file + at : NULL;
}

/* A table of the file and its strings, which end with a zero; false: there is none. */
static bool find_table(const struct object *o, uint32_t type, const Elf64_Sym **syms, size_t *n, const Elf64_Shdr **strings)
{
	const Elf64_Ehdr *h = within(o, 0, sizeof *h);
	const Elf64_Shdr *s, *str;
	const char *text;

	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_shentsize != sizeof *s)
		return false;
	s = within(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof *s);
	for (unsigned i = 0; s && i < h->e_shnum; i++) {
		if (s[i].sh_type != type || s[i].sh_link >= h->e_shnum)
			continue;
		str = &s[s[i].sh_link];
		*syms = within(o, s[i].sh_offset, s[i].sh_size);
		*n = s[i].sh_size / sizeof **syms;
		text = within(o, str->sh_offset, str->sh_size);
		*strings = str;
		return *syms && text && str->sh_size && !text[str->sh_size - 1];
	}
	return false;
}

typedef bool symbol_fn(const char *name, uint8_t *at, size_t bytes, void *arg);

/* Calls `fn` for the CUDA runtime's functions in the object, while it says so. */
static void each_function(const struct object *o, uint32_t type, symbol_fn *fn, void *arg)
{
	const Elf64_Shdr *strings;
	const Elf64_Sym *sym;
	const char *name;
	size_t n;

	if (!find_table(o, type, &sym, &n, &strings))
		return;
	for (size_t i = 0; i < n; i++) {
		if (ELF64_ST_TYPE(sym[i].st_info) != STT_FUNC || sym[i].st_shndx == SHN_UNDEF ||
		    sym[i].st_name >= strings->sh_size)
			continue;
		name = (const char *)o->file + strings->sh_offset + sym[i].st_name;
		if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6))
			continue;
		if (!fn(name, (uint8_t *)(o->base + sym[i].st_value), sym[i].st_size, arg))
			return;
	}
}

/* ---- objects -------------------------------------------------------------------------------- */

static void *self;              /* this library */

/* What NVIDIA's runtimes have that those of other versions have not. */
struct kind { bool runtime, has_12, has_11; };

static bool look(const char *name, uint8_t *at, size_t bytes, void *arg)
{
	struct kind *k = arg;

	(void)at;
	(void)bytes;
	k->runtime |= !strcmp(name, "cudaRuntimeGetVersion");
	k->has_12 |= !strcmp(name, "cudaGetDeviceProperties_v2");       /* only 12 */
	k->has_11 |= !strcmp(name, "cudaThreadExit");                   /* 12, too */
	return true;
}

/* A library says it by its name, a program that has one linked in by what is in it. */
static int version_of(const struct object *o, const struct kind *k)
{
	static const char library[] = "libcudart.so.";
	const char *slash = strrchr(o->path, '/');
	const char *name = slash ? slash + 1 : o->path;
	int major = strncmp(name, library, sizeof library - 1) ? 0 : atoi(name + sizeof library - 1);

	if (!major)
		major = k->has_12 ? 12 : k->has_11 ? 11 : 13;
	return major == 12 ? 12090 : major == 11 ? 11080 : 13000;
}

struct room { uint8_t *at, *end; };

/* What nvcc's code, which is in the program itself, defines under such names is not ours. */
static bool place(const char *name, uint8_t *at, size_t bytes, void *arg)
{
	struct room *room = arg;
	void *ours = dlsym(self, name);

	if (!ours || (bytes && bytes < SHORT_BYTES) || is_short(at))
		return true;
	if (room->at == room->end) {
		fprintf(stderr, "gsan: %s and what follows stays NVIDIA's: its runtime has more than %d functions\n", name,
			MOST_JUMPS);
		return false;
	}
	room->at += LONG_BYTES;
	return put_jump(at, room->at - LONG_BYTES, ours);
}

/* One process has one version of the runtime: all its copies become this one. */
static void set_version(const struct object *o, int version)
{
	static bool is_set;

	if (is_set && version != crt_version)
		fprintf(stderr, "gsan: %s has the runtime of CUDA %d and something before it that of CUDA %d, whose calls are"
			" misread: build all of the program with one\n", *o->path ? o->path : "the program", version / 1000,
			crt_version / 1000);
	is_set = true;
	crt_version = version;
}

static void place_in(const struct object *o)
{
	const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	struct room room;

	for (unsigned i = 0; i < 2; i++) {
		struct kind kind = {0};

		each_function(o, types[i], look, &kind);
		if (!kind.runtime)
			continue;
		set_version(o, version_of(o, &kind));
		room.at = near_room(o);
		if (!room.at) {
			fputs("gsan: the program's CUDA runtime cannot be replaced: no memory near it\n", stderr);
			return;
		}
		room.end = room.at + ROOM_BYTES;
		each_function(o, types[i], place, &room);
		mprotect(room.end - ROOM_BYTES, ROOM_BYTES, PROT_READ | PROT_EXEC);
		return;
	}
}

/* What was looked at since something was unloaded last. */
static struct { uintptr_t base[4096]; unsigned n; unsigned long long unloads; } seen;

/* Was it looked at before?  It counts as that from now on. */
static bool is_seen(uintptr_t base)
{
	for (unsigned i = 0; i < seen.n; i++)
		if (seen.base[i] == base)
			return true;
	if (seen.n < sizeof seen.base / sizeof *seen.base)
		seen.base[seen.n++] = base;
	return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object o = {.path = info->dlpi_name, .base = info->dlpi_addr};
	struct link_map *map;
	struct stat st;
	int fd;

	(void)size;
	(void)arg;
	if (seen.unloads != info->dlpi_subs)
		seen.n = 0;
	seen.unloads = info->dlpi_subs;
	if (is_seen(o.base) || (!dlinfo(self, RTLD_DI_LINKMAP, &map) && map->l_addr == o.base))
		return 0;
	fd = open(*o.path ? o.path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && st.st_size > 0) {
		o.bytes = (size_t)st.st_size;
		o.file = mmap(NULL, o.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		if (o.file != MAP_FAILED) {
			place_in(&o);
			munmap((void *)(uintptr_t)o.file, o.bytes);
		}
	}
	close(fd);
	return 0;
}

/* ---- libraries that are loaded later ----------------------------------------------------------- */

/* The dynamic linker calls this in the place of r_brk, an empty function at which debuggers
 * stop: when libraries were mapped, before they are relocated and run their constructors, and
 * when some were unloaded (link.h). */
static void loaded(void)
{
	if (_r_debug.r_state == RT_CONSISTENT)
		dl_iterate_phdr(visit, NULL);
}

static void watch(void)
{
	uint8_t *at = (uint8_t *)(uintptr_t)_r_debug.r_brk;
	const struct object linker = {.base = (uintptr_t)_r_debug.r_ldbase};
	uint8_t *room = at && linker.base ? near_room(&linker) : NULL;

	if (room && put_jump(at, room, (const void *)(uintptr_t)loaded))
		mprotect(room, ROOM_BYTES, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) static void begin(void)
{
	Dl_info me;

	if (!dladdr((const void *)(uintptr_t)begin, &me))
		return;
	self = dlopen(me.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	if (!self)
		return;
	dl_iterate_phdr(visit, NULL);
	watch();
}
