/* SPDX-License-Identifier: Apache-2.0
 *
 * image.c: under gsan-run, PTX that the program loads is instrumented before the driver sees it, by gsan-image or from what
 * is kept of its earlier answers.  Whatever fails, the program's own image is loaded, and the closing line counts it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.1"
#endif

#include "event/fatbin.h"
#include "rt/drv.h"
#include "rt/image.h"

/* UNKNOWN: nothing with PTX. */
enum kind { PTX, FATBIN, CUBIN, UNKNOWN };

struct image { enum kind kind; const void *at; size_t bytes; };

/* A cubin that NVRTC or nvJitLink made, and the instrumented PTX that it could have been. */
struct noted { struct entry_digest cubin; char *made; struct noted *next; };

static struct noted *noted;             /* with rt_lock */
static uint64_t code_alone, as_they_are;        /* atomic */

bool rt_image_wanted(void)
{
	const char *tool = getenv(RT_IMAGE_TOOL), *only = getenv(RT_IMAGE_ONLY);

	return tool && *tool == '/' && (!only || strtol(only, NULL, 10) == getpid());
}

void rt_image_count(struct rt_totals *t)
{
	t->code_alone = __atomic_load_n(&code_alone, __ATOMIC_RELAXED);
	t->as_they_are = __atomic_load_n(&as_they_are, __ATOMIC_RELAXED);
}

static void leave(const char *name, const char *why)
{
	__atomic_add_fetch(&as_they_are, 1, __ATOMIC_RELAXED);
	rt_say("%s is loaded as it is, and not watched: %s", name ? name : "a module", why);
}

void rt_image_code_alone(void)
{
	__atomic_add_fetch(&code_alone, 1, __ATOMIC_RELAXED);
}

void rt_image_refused(void)
{
	leave(NULL, "the driver does not take its instrumented PTX");
}

/* ---- what an image is --------------------------------------------------------------------------------- */

/* Up to the last of its tables and sections. */
static size_t elf_bytes(const void *at)
{
	const Elf64_Ehdr *h = at;
	const Elf64_Shdr *s = (const Elf64_Shdr *)((const char *)at + h->e_shoff);
	const size_t segments = h->e_phoff + (size_t)h->e_phnum * h->e_phentsize;
	size_t end = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;

	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_shentsize != sizeof *s)
		return 0;
	if (segments > end)
		end = segments;
	for (unsigned i = 0; i < h->e_shnum; i++)
		if (s[i].sh_type != SHT_NOBITS && s[i].sh_offset + s[i].sh_size > end)
			end = s[i].sh_offset + s[i].sh_size;
	return end;
}

/* PTX has no character that is not ASCII but in comments. */
static bool is_text(const unsigned char *p)
{
	for (unsigned i = 0; i < 4; i++)
		if (p[i] < 9 || p[i] > 126)
			return false;
	return true;
}

/* Most fat binaries of libraries have none, and are large. */
static bool has_ptx(const struct fatbin_header *h)
{
	const struct fatbin_entry *e;
	uint64_t at = 0;

	do
		e = fatbin_next(h, &at);
	while (e && e->kind != FATBIN_PTX);
	return e;
}

static struct image what_is(const void *at)
{
	const struct fatbin_wrapper *w = at;
	const struct fatbin_header *f;
	uint32_t magic;

	memcpy(&magic, at, sizeof magic);
	/* Version 2: what the device's linker has linked, of which no text is left. */
	if (magic == FATBIN_WRAPPER)
		at = w->version == 1 ? w->data : NULL;
	if (!at)
		return (struct image){UNKNOWN, NULL, 0};
	memcpy(&magic, at, sizeof magic);
	f = at;
	if (magic == FATBIN_MAGIC)
		return (struct image){has_ptx(f) ? FATBIN : UNKNOWN, at, f->bytes + f->rest};
	if (!memcmp(at, ELFMAG, SELFMAG))
		return (struct image){CUBIN, at, elf_bytes(at)};
	if (is_text(at))
		return (struct image){PTX, at, strlen(at)};
	return (struct image){UNKNOWN, at, 0};
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

static unsigned device_sm(void)
{
	int major = 0, minor = 0;
	CUcontext ctx = NULL;
	CUdevice dev = 0;

	if (!rt_drv.cuDeviceGetAttribute)
		return 0;
	if (rt_drv.cuCtxGetCurrent && rt_drv.cuCtxGetCurrent(&ctx) == CUDA_SUCCESS && ctx && rt_drv.cuCtxGetDevice)
		rt_drv.cuCtxGetDevice(&dev);
	if (rt_drv.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev) != CUDA_SUCCESS ||
	    rt_drv.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev) != CUDA_SUCCESS)
		return 0;
	return (unsigned)(major * 10 + minor);
}

/* What is asked of gsan-image: its command line, and the name under which the answer is kept, which hangs on all of it, on
 * the image and on the very file of the program. */
struct question {
	char sm[32], perturb[32], path[64], name[96];
	char *argv[8];
};

static void add(struct question *q, const char *word)
{
	unsigned n = 0;

	while (q->argv[n])
		n++;
	q->argv[n] = (char *)(uintptr_t)word;
}

/* False: there is no gsan-image, or no device that could say which PTX of a fat binary it takes. */
static bool ask(struct question *q, const struct image *i, bool relocatable)
{
	const unsigned sm = i->kind == FATBIN ? device_sm() : 0;
	const char *tool = getenv(RT_IMAGE_TOOL);
	struct entry_digest d = {{0}}, own = {{0}};
	char of_tool[160];
	struct stat st;

	memset(q, 0, sizeof *q);
	if ((i->kind == FATBIN && !sm) || !tool || stat(tool, &st))
		return false;
	add(q, tool);
	snprintf(q->sm, sizeof q->sm, "--sm=%u", sm);
	if (sm)
		add(q, q->sm);
	if (relocatable)
		add(q, "--relocatable");
	if (rt_flags.same_value)
		add(q, "--stored");
	if (rt_flags.perturb) {
		snprintf(q->perturb, sizeof q->perturb, "--perturb=%d", rt_flags.perturb);
		add(q, q->perturb);
	}
	snprintf(of_tool, sizeof of_tool, "%s %u %lld %lld.%09ld", PACKAGE_VERSION, rt_tables_version, (long long)st.st_size,
		 (long long)st.st_mtim.tv_sec, (long)st.st_mtim.tv_nsec);
	entry_mix(&d, of_tool, strlen(of_tool));
	for (unsigned n = 1; q->argv[n]; n++)
		entry_mix(&d, q->argv[n], strlen(q->argv[n]));
	entry_mix(&own, i->at, i->bytes);
	entry_mix(&d, &own, sizeof own);
	snprintf(q->name, sizeof q->name, "%016" PRIx64 "%016" PRIx64, d.half[0], d.half[1]);
	/* By which reports call it: the same for the same PTX, so that suppressions can name it. */
	snprintf(q->path, sizeof q->path, "--path=module-%012" PRIx64 ".ptx", own.half[0] >> 16);
	add(q, q->path);
	return true;
}

static char *answer(const struct question *q, const struct image *i, struct entry *e, const char **why)
{
	char *all = rt_cache_get(q->name, e);

	rt_verbose(1, "%s: %s", q->path + sizeof "--path=" - 1, all ? "it is known what it becomes" : "gsan-image is asked");
	if (all)
		return all;
	all = rt_tool_run(q->argv, i->at, i->bytes, e, why);
	if (all)
		rt_cache_put(q->name, all, (size_t)(e->text - all) + e->bytes);
	return all;
}

/* Text of its own out of a whole answer. */
static char *text_of(char *all, const struct entry *e)
{
	memmove(all, e->text, e->bytes);
	all[e->bytes] = '\0';
	return all;
}

static char *instrumented(const struct image *i, const char *name, bool relocatable, bool *code)
{
	const char *why = "gsan-image or the device cannot be found";
	struct question q;
	struct entry e;
	char *all = ask(&q, i, relocatable) ? answer(&q, i, &e, &why) : NULL;

	if (!all) {
		leave(name, why);
		return NULL;
	}
	if (e.kind == ENTRY_IS_PTX)
		return text_of(all, &e);
	if (e.kind == ENTRY_IS_REFUSED)
		leave(name, text_of(all, &e));
	*code = e.kind == ENTRY_IS_NONE;
	rt_free(all);
	return NULL;
}

/* ---- cubins that were made here ------------------------------------------------------------------------------------------- */

/* A copy of what was noted; NULL. */
static char *find_noted(const struct entry_digest *d)
{
	char *made = NULL;

	pthread_mutex_lock(&rt_lock);
	for (const struct noted *n = noted; n && !made; n = n->next)
		if (!memcmp(&n->cubin, d, sizeof *d))
			made = rt_copy(n->made);
	pthread_mutex_unlock(&rt_lock);
	return made;
}

void rt_image_note(const void *cubin, size_t bytes, const char *ptx, const char *name)
{
	const struct image code = {CUBIN, cubin, bytes}, text = {PTX, ptx, strlen(ptx)};
	bool none;
	char *made = instrumented(&text, name, false, &none), line[ENTRY_LINE], *all;
	struct noted *n;
	struct question q;
	struct entry e;
	size_t len;

	if (!made)
		return;
	n = rt_alloc(sizeof *n);
	entry_mix(&n->cubin, cubin, bytes);
	n->made = made;
	pthread_mutex_lock(&rt_lock);
	n->next = noted;
	noted = n;
	pthread_mutex_unlock(&rt_lock);
	/* For a program that keeps cubins and loads them in its next run. */
	if (!ask(&q, &code, false))
		return;
	e = (struct entry){ENTRY_IS_PTX, made, strlen(made)};
	len = (size_t)entry_line(line, &e);
	all = rt_try_alloc(len + e.bytes);
	if (!all)
		return;
	memcpy(all, line, len);
	memcpy(all + len, made, e.bytes);
	rt_cache_put(q.name, all, len + e.bytes);
	rt_free(all);
}

static char *made_of_cubin(const struct image *i)
{
	struct entry_digest d = {{0}};
	struct question q;
	struct entry e;
	char *made, *all;

	entry_mix(&d, i->at, i->bytes);
	made = find_noted(&d);
	all = !made && ask(&q, i, false) ? rt_cache_get(q.name, &e) : NULL;
	if (all && e.kind == ENTRY_IS_PTX)
		made = text_of(all, &e);
	else
		rt_free(all);
	return made;
}

/* ---- images ------------------------------------------------------------------------------------------------------- */

char *rt_image_made(const void *image, const char *name, bool relocatable, bool *code)
{
	struct image i;
	char *made;

	*code = false;
	if (!image || !rt_image_wanted() || rt_is_off() || rt_short())
		return NULL;
	i = what_is(image);
	if (i.kind == PTX || i.kind == FATBIN)
		return instrumented(&i, name, relocatable, code);
	made = i.kind == CUBIN ? made_of_cubin(&i) : NULL;
	*code = !made;
	return made;
}

char *rt_image_of_file(const char *file, bool relocatable, bool *code)
{
	char *all = NULL, *made = NULL;
	struct stat st;
	size_t n = 0;
	ssize_t got;
	int fd = file && rt_image_wanted() ? open(file, O_RDONLY | O_CLOEXEC) : -1;

	*code = false;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= 64)
		all = rt_try_alloc((size_t)st.st_size + 1);
	while (all && (got = read(fd, all + n, (size_t)st.st_size - n)) != 0 && (got > 0 || errno == EINTR))
		n += got > 0 ? (size_t)got : 0;
	close(fd);
	if (all && n == (size_t)st.st_size)
		made = rt_image_made(all, file, relocatable, code);
	rt_free(all);
	return made;
}
