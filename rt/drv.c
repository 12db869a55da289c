/* SPDX-License-Identifier: Apache-2.0
 *
 * drv.c: stands between the program and the driver.  A program reaches the
 * driver in three ways, and all of them end at the hooks of drv.def:
 *
 *   by name at link time      the hooks have the driver's own names
 *   dlsym                     ours; the CUDA runtime finds cuGetProcAddress with it
 *   cuGetProcAddress          a hook, also when asked for itself
 *
 * dlopen is ours to hear that a driver was looked for, and does nothing else.
 *
 * The driver's own functions come from the handle of libcuda.so.1, so that
 * what a hook calls is never a hook.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "rt/drv.h"
#include "rt/gsan.h"
#include "rt/image.h"
#include "rt/seen.h"

#define EXPORT __attribute__((visibility("default")))
/* Hooks are for others to find, but within one program or library nobody else's
 * come before them. */
#define HOOKED __attribute__((visibility("protected")))

struct rt_drv rt_drv;

static rt_any *real[RT_HOOK_COUNT];
static void *driver;
static const char *driver_file = "libcuda.so.1";
static const char *lacking;
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(load_lock, RT_LOCK);
static _Thread_local bool loading;
static int loaded;              /* 1: yes; -1: cannot be; atomic */
static bool asked;              /* for the driver's file */

/* The first of the program's calls to fail; the name is set last, atomic. */
static const char *failed_call, *failed_why;

/* What the driver keeps for old programs is hooked, too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Every hook under its own name, and the one that is no row. */
HOOKED CUresult cuCtxSynchronize(void);
#define HOOK(symbol, base, version, ptsz, action, params, args) HOOKED CUresult symbol params;
#include "rt/drv.def"

static const struct hook {
	const char *symbol, *base;
	int version, ptsz;
	rt_any *fn;
} hooks[] = {
#define HOOK(symbol, base, version, ptsz, action, params, args) \
	{ #symbol, base, version, ptsz, (rt_any *)symbol },
#include "rt/drv.def"
	{ "cuCtxSynchronize", "cuCtxSynchronize", 2000, 0, (rt_any *)cuCtxSynchronize },
};

/* ---- the real dlsym ------------------------------------------------------------------------ */

typedef void *dlsym_fn(void *, const char *);

/* A sanitizer in the program calls dlsym before it can check anybody's accesses. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

__attribute__((visibility("hidden"))) dlsym_fn *rt_real_dlsym;
__attribute__((visibility("hidden"))) void *rt_real_dlopen;

UNCHECKED static void *find_versioned(const char *name)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5" };
	void *f = NULL;

	for (size_t i = 0; i < sizeof versions / sizeof *versions && !f; i++)
		f = dlvsym(RTLD_NEXT, name, versions[i]);
	if (!f)
		rt_die("this C library has no %s that the runtime knows", name);
	return f;
}

UNCHECKED static void find_dlsym(void)
{
	void *f = find_versioned("dlsym");

	memcpy(&rt_real_dlsym, &f, sizeof f);
}

/* Past our own hook: it notes what the program asks for. */
UNCHECKED static void *open_driver(int mode)
{
	void *(*next)(const char *, int);

	if (!rt_real_dlopen)
		rt_real_dlopen = find_versioned("dlopen");
	memcpy(&next, &rt_real_dlopen, sizeof next);
	return next(driver_file, mode);
}

void *rt_look_up_next(const char *name)
{
	if (!rt_real_dlsym)
		find_dlsym();
	return rt_real_dlsym(RTLD_NEXT, name);
}

struct loaded { const char *file; char path[4096]; };

static int has_name(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct loaded *l = arg;
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)bytes;
	if (!base || strncmp(base + 1, l->file, strlen(l->file)) || strlen(info->dlpi_name) >= sizeof l->path)
		return 0;
	strcpy(l->path, info->dlpi_name);
	return 1;
}

void *rt_look_up_behind(const char *file, const char *name)
{
	void *(*next)(const char *, int), *p = rt_look_up_next(name), *lib = NULL;
	struct loaded l = {file, ""};

	if (p || !dl_iterate_phdr(has_name, &l))
		return p;
	if (!rt_real_dlopen)
		rt_real_dlopen = find_versioned("dlopen");
	memcpy(&next, &rt_real_dlopen, sizeof next);
	lib = next(l.path, RTLD_NOW | RTLD_NOLOAD);
	return lib ? rt_real_dlsym(lib, name) : NULL;
}

const char *rt_driver_path(void)
{
	void *any = NULL;
	Dl_info where;

	memcpy(&any, &rt_drv.cuCtxSetCurrent, sizeof any);
	return dladdr(any, &where) && where.dli_fname ? where.dli_fname : driver_file;
}

static rt_any *look_up(const char *name)
{
	void *p = rt_real_dlsym(driver, name);
	rt_any *fn;

	memcpy(&fn, &p, sizeof p);
	return fn;
}

static void load(void)
{
	if (!rt_real_dlsym)
		find_dlsym();
	rt_stay();
	driver = open_driver(RTLD_NOW | RTLD_LOCAL);
	if (!driver) {
		rt_verbose(1, "no driver: %s", dlerror());
		__atomic_store_n(&loaded, -1, __ATOMIC_RELEASE);
		return;
	}
	for (int i = 0; i < RT_HOOK_COUNT; i++)
		real[i] = look_up(hooks[i].symbol);
#define TEXT1(name) #name
#define TEXT2(name) TEXT1(name)
#define NEED(name) \
	if (!(rt_drv.name = (__typeof__(rt_drv.name))look_up(TEXT2(name)))) \
		lacking = TEXT2(name);
#define MAY(name) rt_drv.name = (__typeof__(rt_drv.name))look_up(TEXT2(name));
#include "rt/drv.def"
	rt_end_watch();
	__atomic_store_n(&loaded, 1, __ATOMIC_RELEASE);
}

bool rt_drv_load(void)
{
	if (__atomic_load_n(&loaded, __ATOMIC_ACQUIRE))
		return loaded > 0;
	if (loading)            /* the driver's own constructors */
		return false;
	rt_start();
	pthread_mutex_lock(&load_lock);
	loading = true;
	if (!loaded)
		load();
	loading = false;
	pthread_mutex_unlock(&load_lock);
	return loaded > 0;
}

bool rt_drv_loaded(void)
{
	return __atomic_load_n(&loaded, __ATOMIC_ACQUIRE) > 0;
}

/* Was the driver called past us?  One that nobody has called is not initialised. */
static bool is_bypassed(void *lib)
{
	CUresult (*current)(CUcontext *) = NULL;
	void *p = rt_real_dlsym(lib, "cuCtxGetCurrent");
	CUcontext ctx;

	memcpy(&current, &p, sizeof p);
	return current && current(&ctx) != CUDA_ERROR_NOT_INITIALIZED;
}

enum rt_drv_use rt_drv_used(void)
{
	const int have = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
	void *lib;

	if (have > 0)
		return RT_DRV_USED;
	if (!rt_real_dlsym)
		find_dlsym();
	lib = have < 0 ? NULL : open_driver(RTLD_NOW | RTLD_NOLOAD);
	if (lib)
		return is_bypassed(lib) ? RT_DRV_BYPASSED : RT_DRV_UNUSED;
	return have < 0 || __atomic_load_n(&asked, __ATOMIC_RELAXED) ? RT_DRV_MISSING : RT_DRV_UNUSED;
}

void rt_drv_count(struct rt_totals *t)
{
	const enum rt_drv_use use = rt_drv_used();

	t->missing = use == RT_DRV_MISSING;
	t->bypassed = use == RT_DRV_BYPASSED;
	t->failed = __atomic_load_n(&failed_call, __ATOMIC_ACQUIRE);
	t->error = failed_why;
}

/* A call of the program's failed: the first one may be why nothing is launched. */
static void note_failure(unsigned which, CUresult r)
{
	static bool any;
	const char *name = NULL;

	if (r == CUDA_ERROR_NOT_READY || r == CUDA_ERROR_NOT_FOUND ||
	    __atomic_exchange_n(&any, true, __ATOMIC_RELAXED))
		return;
	if (!rt_drv.cuGetErrorName || rt_drv.cuGetErrorName(r, &name) != CUDA_SUCCESS || !name)
		name = "unknown error";
	failed_why = name;
	__atomic_store_n(&failed_call, hooks[which].symbol, __ATOMIC_RELEASE);
}

const char *rt_drv_lacks(void)
{
	return lacking;
}

EXPORT int gsan_use_driver(const char *file)
{
	if (rt_other())
		return rt_other()->use_driver(file);
	if (__atomic_load_n(&loaded, __ATOMIC_ACQUIRE))
		return -1;
	driver_file = rt_copy(file);
	return rt_drv_load() ? 0 : -1;
}

rt_any *rt_real(enum rt_hook which)
{
	return rt_drv_load() ? real[which] : NULL;
}

rt_any *rt_hook(unsigned which)
{
	return hooks[which].fn;
}

bool rt_per_thread(enum rt_hook which)
{
	return hooks[which].ptsz;
}

/* ---- hooks ----------------------------------------------------------------------------------- */

#define HOOK(symbol, base, version, ptsz, action, params, args)                 \
	HOOKED CUresult symbol params                                           \
	{                                                                       \
		const struct rt_one *other = rt_other();                        \
		__typeof__(symbol) *fn;                                         \
		CUresult r;                                                     \
                                                                                \
		if (other)                                                      \
			return ((__typeof__(symbol) *)other->hook(RT_##symbol)) args; \
		fn = (__typeof__(symbol) *)rt_real(RT_##symbol);                \
		if (!fn)                                                        \
			return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;       \
		if (rt_inside || rt_forked())                                   \
			return fn args;                                         \
		rt_call_begin(__builtin_return_address(0), __builtin_frame_address(0)); \
		r = action(RT_##symbol, UNPACK args);                           \
		if (r != CUDA_SUCCESS)                                          \
			note_failure(RT_##symbol, r);                           \
		rt_call_end();                                                  \
		return r;                                                       \
	}
#define SEEN(symbol, base, version, ptsz, params, args, stream, act)            \
	HOOKED CUresult symbol params                                           \
	{                                                                       \
		const struct rt_one *other = rt_other();                        \
		struct rt_seen now, *seen = &now;                               \
		__typeof__(symbol) *fn;                                         \
		CUresult r;                                                     \
                                                                                \
		if (other)                                                      \
			return ((__typeof__(symbol) *)other->hook(RT_##symbol)) args; \
		fn = (__typeof__(symbol) *)rt_real(RT_##symbol);                \
		if (!fn)                                                        \
			return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;       \
		if (rt_inside || rt_forked())                                   \
			return fn args;                                         \
		rt_call_begin(__builtin_return_address(0), __builtin_frame_address(0)); \
		if (rt_seen_begin(seen, RT_##symbol, stream, #symbol))          \
			act;                                                    \
		r = fn args;                                                    \
		rt_seen_end_of(seen, r);                                        \
		rt_call_end();                                                  \
		return r;                                                       \
	}
#include "rt/drv.def"

HOOKED CUresult cuCtxSynchronize(void)
{
	const struct rt_one *other = rt_other();
	CUresult (*fn)(void), r;

	if (other)
		return ((CUresult (*)(void))other->hook(RT_cuCtxSynchronize))();
	fn = (CUresult (*)(void))rt_real(RT_cuCtxSynchronize);
	if (!fn)
		return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
	if (rt_inside || rt_forked())
		return fn();
	rt_call_begin(__builtin_return_address(0), __builtin_frame_address(0));
	r = rt_on_ctx_sync(RT_cuCtxSynchronize);
	rt_call_end();
	return r;
}

UNCHECKED static const struct hook *find_symbol(const char *name)
{
	if (name[0] != 'c' || name[1] != 'u')
		return NULL;
	for (int i = 0; i < RT_HOOK_COUNT; i++)
		if (!strcmp(hooks[i].symbol, name))
			return &hooks[i];
	return NULL;
}

/* strncmp may be a sanitizer's. */
UNCHECKED static bool begins(const char *name, const char *with)
{
	while (*with && *name == *with) {
		name++;
		with++;
	}
	return !*with;
}

/* In front of what compiles or links in the process: NULL, or ours. */
UNCHECKED static void *compiler_hook(void *handle, const char *name)
{
	if (rt_nvrtc_hook && begins(name, "nvrtc"))
		return rt_nvrtc_hook(handle, name);
	if (rt_jitlink_hook && (begins(name, "nvJitLink") || begins(name, "__nvJitLink")))
		return rt_jitlink_hook(handle, name);
	return NULL;
}

/* What dlsym gives for a hooked name; NULL: what the real one gives.  A name that
 * the real one does not find stays unfound. */
UNCHECKED void *rt_dlsym_hook(void *handle, const char *name)
{
	const struct rt_one *other;
	const struct hook *h;
	void *p = NULL;

	if (!rt_real_dlsym)
		find_dlsym();
	other = name && name[0] == 'c' && name[1] == 'u' ? rt_other() : NULL;
	if (other)
		return other->look_up(handle, name);
	if (name)
		p = compiler_hook(handle, name);
	if (p)
		return p;
	h = name ? find_symbol(name) : NULL;
	if (!h || rt_inside || loading || !rt_real_dlsym(handle, name))
		return NULL;
	if (!rt_drv_load() || !real[h - hooks])
		return NULL;
	memcpy(&p, &h->fn, sizeof p);
	return p;
}

UNCHECKED void *rt_dlopen_hook(const char *file, int mode)
{
	static const char name[] = "libcuda.so";
	const char *base = file ? strrchr(file, '/') : NULL;

	(void)mode;
	if (!rt_real_dlopen)
		rt_real_dlopen = find_versioned("dlopen");
	base = base ? base + 1 : file;
	if (base && !strncmp(base, name, sizeof name - 1))
		__atomic_store_n(&asked, true, __ATOMIC_RELAXED);
	return NULL;
}

/* The real ones are entered by a jump, with the program's return address: from that they
 * know whose RTLD_NEXT, and whose path of libraries, is meant. */
#if defined __x86_64__
#define IN_FRONT(name, hook, real) \
__asm__( \
	"	.text\n" \
	"	.globl	" name "\n" \
	"	.protected " name "\n" \
	"	.type	" name ", @function\n" \
	name ":\n" \
	"	.cfi_startproc\n" \
	"	endbr64\n" \
	"	pushq	%rdi\n" \
	"	.cfi_adjust_cfa_offset 8\n" \
	"	pushq	%rsi\n" \
	"	.cfi_adjust_cfa_offset 8\n" \
	"	subq	$8, %rsp\n" \
	"	.cfi_adjust_cfa_offset 8\n" \
	"	call	" hook "\n" \
	"	addq	$8, %rsp\n" \
	"	.cfi_adjust_cfa_offset -8\n" \
	"	popq	%rsi\n" \
	"	.cfi_adjust_cfa_offset -8\n" \
	"	popq	%rdi\n" \
	"	.cfi_adjust_cfa_offset -8\n" \
	"	testq	%rax, %rax\n" \
	"	jne	1f\n" \
	"	jmp	*" real "(%rip)\n" \
	"1:	ret\n" \
	"	.cfi_endproc\n" \
	"	.size	" name ", . - " name "\n")
IN_FRONT("dlsym", "rt_dlsym_hook", "rt_real_dlsym");
IN_FRONT("dlopen", "rt_dlopen_hook", "rt_real_dlopen");
#else
HOOKED void *dlsym(void *handle, const char *name)
{
	void *p = rt_dlsym_hook(handle, name);

	return p ? p : rt_real_dlsym(handle, name);
}
#endif

/* ---- cuGetProcAddress -------------------------------------------------------------------------- */

/* The newest CUDA version whose functions drv.def was written for: of a later one
 * only functions that are still the same are hooked. */
#define KNOWN_VERSION 13999

/* By the name that cuGetProcAddress has for all versions of a function, of those by that version; or by the name of this
 * one alone, which the CUDA runtime uses, too (cuGraphInstantiateWithFlags). */
static bool is_called(const struct hook *h, const char *name, int version)
{
	size_t n = strlen(name);

	if (!strcmp(h->base, name))
		return h->version <= version;
	return !strncmp(h->symbol, name, n) &&
	       (!h->symbol[n] || !strcmp(h->symbol + n, "_ptsz") || !strcmp(h->symbol + n, "_ptds"));
}

static const struct hook *find_base(const char *base, int version, cuuint64_t flags)
{
	bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	const struct hook *best = NULL;

	for (int i = 0; i < RT_HOOK_COUNT; i++) {
		const struct hook *h = &hooks[i];

		if (!is_called(h, base, version) || !real[i] || (h->ptsz && !per_thread))
			continue;
		if (!best || h->ptsz > best->ptsz ||
		    (h->ptsz == best->ptsz && h->version >= best->version))
			best = h;
	}
	return best;
}

static void replace(const char *base, void **fn, int version, cuuint64_t flags)
{
	const struct hook *h;
	rt_any *theirs;

	if (!fn || !*fn || !base)
		return;
	h = find_base(base, version, flags);
	if (!h)
		return;
	memcpy(&theirs, fn, sizeof theirs);
	if (version > KNOWN_VERSION && theirs != real[h - hooks]) {
		rt_verbose(1, "%s of CUDA %d is not known; its calls are not seen", base, version);
		return;
	}
	memcpy(fn, &h->fn, sizeof *fn);
}

CUresult rt_on_proc_v1(enum rt_hook which, const char *name, void **fn, int version,
		       cuuint64_t flags)
{
	CUresult r = REAL(CUresult(const char *, void **, int, cuuint64_t), which)(name, fn, version,
										   flags);

	if (r == CUDA_SUCCESS)
		replace(name, fn, version, flags);
	return r;
}

CUresult rt_on_proc_v2(enum rt_hook which, const char *name, void **fn, int version,
		       cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
	CUresult r = REAL(__typeof__(cuGetProcAddress_v2), which)(name, fn, version, flags, status);

	if (r == CUDA_SUCCESS)
		replace(name, fn, version, flags);
	return r;
}
