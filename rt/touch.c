/* SPDX-License-Identifier: Apache-2.0
 *
 * touch.c: guards pages, and hears of faults there.
 *
 * Who faults is let through for one instruction, by a single step, and then the piece is guarded again: so each access is
 * told by its own address.  Where that cannot be done, or was done too often, the piece is let go.  A piece is a page; of
 * managed memory what its driver keeps together (doc/design/host.md).
 *
 * Lock: guard_lock, outside order_lock.  A fault comes where the program's own code runs, or the driver's; never in ours with
 * the lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "rt/touch.h"

enum { MANAGED_PIECE = 2 << 20 };       /* bytes */
enum { BLOCKS = 1024, STEPS = 8192, DEVICE_STEPS = 65536 /* of a block, while it is guarded */ };

struct block {
	uint64_t address, bytes;
	uint64_t from, to;              /* pages that can be guarded, */
	uint64_t piece;                 /* and so many bytes at once */
	bool guarded;
	uint32_t pending[DETECT_LINES]; /* of each line: the last deed that may touch it */
	unsigned steps, device_steps;
};

static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;
RT_LIST_LOCK(guard_lock, RT_LOCK_WHOLE);
static struct block block[BLOCKS];      /* with guard_lock */
static unsigned nblocks, nguarded;      /* the latter atomic, too */
static struct sigaction theirs[2];      /* what the program has for SIGSEGV and SIGTRAP */
static bool hearing;                    /* atomic */
static bool traced;                     /* no single steps */
static _Thread_local uint64_t step_at;  /* this thread is let through to that piece; 0 */

static uint64_t page_bytes(void)
{
	static uint64_t n;

	return n ? n : (n = (uint64_t)sysconf(_SC_PAGESIZE));
}

static bool protect(uint64_t from, uint64_t to, int how)
{
	return from >= to || !mprotect((void *)(uintptr_t)from, to - from, how);
}

/* The beginning of a file; "": there is none. */
static void read_text(const char *path, char *text, size_t room)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static struct block *block_at(uint64_t address)
{
	for (unsigned i = 0; i < nblocks; i++)
		if (address >= block[i].address && address - block[i].address < block[i].bytes)
			return &block[i];
	return NULL;
}

/* One of whose pages it is. */
static struct block *guard_at(uint64_t address)
{
	for (unsigned i = 0; i < nblocks; i++)
		if (block[i].guarded && address >= block[i].from && address < block[i].to)
			return &block[i];
	return NULL;
}

/* The piece that an address of its pages lies in. */
static bool protect_piece(const struct block *b, uint64_t address, int how)
{
	const uint64_t from = address - address % b->piece, to = from + b->piece;

	return protect(from > b->from ? from : b->from, to < b->to ? to : b->to, how);
}

static void let_go(struct block *b)
{
	if (!b->guarded)
		return;
	protect(b->from, b->to, PROT_READ | PROT_WRITE);
	b->guarded = false;
	__atomic_sub_fetch(&nguarded, 1, __ATOMIC_RELEASE);
}

static bool device_has(CUdevice_attribute which)
{
	CUdevice device;
	int value;

	return rt_drv.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
	       rt_drv.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS && value;
}

/* Where host and device may not access it at once the driver guards managed memory itself.  A GPU's kernel whose atomics of
 * the system's scope meet with a guard dies of it (doc/hardware.md 15). */
static bool can_guard_managed(void)
{
	return rt_drv.gsanEmuDeviceThread && device_has(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
}

static bool can_guard(enum rt_pages of)
{
	return rt_flags.host_race && rt_flags.report_bugs && (of != RT_MANAGED_PAGES || can_guard_managed());
}

void rt_touch_new(uint64_t address, uint64_t bytes, enum rt_pages of)
{
	const uint64_t page = page_bytes();
	struct block b = {.address = address, .bytes = bytes, .from = address, .to = address + bytes,
		.piece = of == RT_MANAGED_PAGES ? MANAGED_PIECE : page};

	rt_order_want();
	if (!can_guard(of) || !bytes)
		return;
	if (of == RT_PROGRAMS_PAGES) {
		b.from = (address + page - 1) & ~(page - 1);
		b.to = (address + bytes) & ~(page - 1);
	} else {
		b.to = (b.to + page - 1) & ~(page - 1);
	}
	pthread_mutex_lock(&guard_lock);
	if (nblocks < BLOCKS && b.from < b.to && b.from % page == 0)
		block[nblocks++] = b;
	pthread_mutex_unlock(&guard_lock);
}

/* With guard_lock. */
static void forget(struct block *b)
{
	if (!b)
		return;
	let_go(b);
	*b = block[--nblocks];
}

void rt_touch_gone(uint64_t address)
{
	struct block *b;

	pthread_mutex_lock(&guard_lock);
	b = block_at(address);
	if (b && b->address == address)
		forget(b);
	pthread_mutex_unlock(&guard_lock);
}

void rt_touch_mapped(uint64_t address, uint64_t bytes)
{
	pthread_mutex_lock(&guard_lock);
	for (unsigned i = nblocks; i-- > 0; )
		if (block[i].address < address + bytes && address < block[i].address + block[i].bytes)
			forget(&block[i]);
	pthread_mutex_unlock(&guard_lock);
}

/* ---- faults -------------------------------------------------------------------------------------------------------- */

#if defined __x86_64__
enum { WRITE_FAULT = 2, SINGLE_STEP = 0x100 };

static bool wrote(const ucontext_t *u)
{
	return u->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT;
}

static const void *place_in(const ucontext_t *u)
{
	return (const void *)(uintptr_t)u->uc_mcontext.gregs[REG_RIP];
}

/* False: nobody would hear of it. */
static bool set_step(ucontext_t *u, bool on)
{
	if (on && sigismember(&u->uc_sigmask, SIGTRAP))
		return false;
	if (on)
		u->uc_mcontext.gregs[REG_EFL] |= SINGLE_STEP;
	else
		u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)SINGLE_STEP;
	return true;
}
#else
/* Which it is does not show: taken for a read, and if it faults again for a write. */
static _Thread_local uint64_t read_at;

static bool wrote(const ucontext_t *u)
{
	(void)u;
	return false;
}

static const void *place_in(const ucontext_t *u)
{
	(void)u;
	return NULL;
}

static bool set_step(ucontext_t *u, bool on)
{
	(void)u;
	return !on;
}
#endif

/* Nobody of the program's: a thread of the emulated device, or the driver in a call. */
static bool is_device(void)
{
	return rt_inside || (rt_drv.gsanEmuDeviceThread && rt_drv.gsanEmuDeviceThread());
}

/* The driver's code, as it lies in memory. */
static struct { uintptr_t from, to; } driver;

static int find_driver(struct dl_phdr_info *info, size_t size, void *in)
{
	const uintptr_t at = (uintptr_t)in;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && at >= from && at - from < p->p_memsz) {
			driver.from = from;
			driver.to = from + p->p_memsz;
			return 1;
		}
	}
	return 0;
}

/* Is the driver anywhere among its callers?  It copies, say, or it calls a function of the program's in a graph, of which
 * nobody knows what is before it; not one that a stream calls. */
static bool is_drivers(const struct rt_stack *s)
{
	const void *frame[RT_STACK_DEEP];
	unsigned n;

	if (!s->n || rt_order_within)
		return false;
	n = rt_stack_walk(frame, RT_STACK_DEEP);
	for (unsigned i = 0; i < n; i++)
		if ((uintptr_t)frame[i] >= driver.from && (uintptr_t)frame[i] < driver.to)
			return true;
	return false;
}

/* True: it was ours. */
static bool on_fault(const siginfo_t *info, ucontext_t *u)
{
	const uint64_t address = (uintptr_t)info->si_addr;
	const bool writes = wrote(u), device = is_device();
	struct rt_stack stack = {.n = 0};
	bool inside = false, step;
	struct block *b;

	pthread_mutex_lock(&guard_lock);
	b = guard_at(address);
	if (b) {
		inside = address >= b->address && address - b->address < b->bytes;
		step = !traced && (device ? b->device_steps++ < DEVICE_STEPS : b->steps++ < STEPS) && set_step(u, true);
		step_at = step ? address : 0;
		/* Another thread may have let it go meanwhile.  A piece that cannot be told from the others goes with them. */
		if (!protect_piece(b, address, PROT_READ | PROT_WRITE))
			let_go(b);
	}
	pthread_mutex_unlock(&guard_lock);
	if (b && inside && !device) {
		rt_inside++;
		rt_stack_from(&stack, place_in(u));
		if (!is_drivers(&stack))
			rt_deed_touch(address, 1, writes, &stack);
		rt_inside--;
	}
	return b;
}

static bool on_step(ucontext_t *u)
{
	struct block *b;

	if (!step_at)
		return false;
	set_step(u, false);
	pthread_mutex_lock(&guard_lock);
	b = guard_at(step_at);
	if (b)
		protect_piece(b, step_at, PROT_NONE);
	pthread_mutex_unlock(&guard_lock);
	step_at = 0;
	return true;
}

/* As if the program's own handler had been called. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	struct sigaction to = theirs[sig == SIGTRAP];

	if (to.sa_flags & SA_SIGINFO) {
		to.sa_sigaction(sig, info, context);
	} else if (to.sa_handler != SIG_DFL && to.sa_handler != SIG_IGN) {
		to.sa_handler(sig);
	} else if (to.sa_handler == SIG_DFL || info->si_code > 0) {     /* a fault cannot be ignored */
		/* It comes again, and ends the process. */
		struct sigaction none = {.sa_handler = SIG_DFL};

		rt_real_sigaction(sig, &none, NULL);
		if (info->si_code <= 0 || sig == SIGTRAP)
			raise(sig);
	}
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	const int error = errno;
	const bool ours = sig == SIGTRAP ? on_step(context) : info->si_code == SEGV_ACCERR && on_fault(info, context);

	errno = error;
	if (!ours)
		pass_on(sig, info, context);
}

/* A debugger takes each SIGTRAP for itself. */
static bool is_traced(void)
{
	char text[2048], *at;

	read_text("/proc/self/status", text, sizeof text);
	at = strstr(text, "TracerPid:");
	return at && strtol(at + strlen("TracerPid:"), NULL, 10) != 0;
}

/* With guard_lock.  A handler on the alternate stack, where there is one: what is guarded may be a stack. */
static bool hear(void)
{
	struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	if (hearing)
		return true;
	traced = is_traced();
	if (rt_real(RT_cuMemAlloc_v2))
		dl_iterate_phdr(find_driver, (void *)(uintptr_t)rt_real(RT_cuMemAlloc_v2));
	rt_stack_here();                /* what is loaded at first for it has not to be loaded in a handler */
	sigemptyset(&ours.sa_mask);
	if (rt_real_sigaction(SIGSEGV, &ours, &theirs[0]) || rt_real_sigaction(SIGTRAP, &ours, &theirs[1]))
		return false;
	__atomic_store_n(&hearing, true, __ATOMIC_RELEASE);
	return true;
}

/* What the program asks for, once we hear: true: it is kept here. */
bool rt_touch_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	const unsigned i = sig == SIGTRAP;

	if ((sig != SIGSEGV && sig != SIGTRAP) || !__atomic_load_n(&hearing, __ATOMIC_ACQUIRE))
		return false;
	if (old)
		*old = theirs[i];
	if (act)
		theirs[i] = *act;
	return true;
}

/* ---- guarding ------------------------------------------------------------------------------------------------------ */

/* With guard_lock. */
static void guard(struct block *b, const struct detect_when *w)
{
	if (!b || w->open)
		return;
	b->pending[w->line] = w->number > b->pending[w->line] ? w->number : b->pending[w->line];
	if (b->guarded || !hear())
		return;
	b->steps = b->device_steps = 0;
	b->guarded = protect(b->from, b->to, PROT_NONE);
	if (b->guarded)
		__atomic_add_fetch(&nguarded, 1, __ATOMIC_RELEASE);
	else
		protect(b->from, b->to, PROT_READ | PROT_WRITE);
}

void rt_touch_guard_deed(const struct rt_deed *d)
{
	const struct detect_ranges *r = &d->d.ranges;

	if (!__atomic_load_n(&nblocks, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&guard_lock);
	for (size_t i = 0; i < r->n; i++)
		if (!r->v[i].strong)
			guard(block_at(r->v[i].address), &d->d.when);
	pthread_mutex_unlock(&guard_lock);
}

/* Pointers among the bytes of parameters, of at most 32,764 (PTX ISA, "Kernel Function Parameters"). */
struct words { uint64_t v[4096]; size_t n; };

/* Without guard_lock: they may lie on a page that is guarded. */
static void take_words(struct words *w, const void *p, size_t n)
{
	for (size_t i = 0; i + sizeof *w->v <= n && w->n < sizeof w->v / sizeof *w->v; i += sizeof *w->v)
		memcpy(&w->v[w->n++], (const char *)p + i, sizeof *w->v);
}

static size_t param_size(const struct rt_func *f, size_t i)
{
	size_t at, size = 0;

	if (f->kernel && rt_real(RT_cuKernelGetParamInfo) &&
	    REAL(cuKernelGetParamInfo, RT_cuKernelGetParamInfo)((CUkernel)(uintptr_t)f->handle, i, &at, &size) == CUDA_SUCCESS)
		return size;
	if (!f->kernel && rt_real(RT_cuFuncGetParamInfo) &&
	    REAL(cuFuncGetParamInfo, RT_cuFuncGetParamInfo)((CUfunction)(uintptr_t)f->handle, i, &at, &size) == CUDA_SUCCESS)
		return size;
	return 0;
}

void rt_touch_guard_params(struct rt_deed *d, const struct rt_func *f, const struct module_kernel *k, void *const *params, void **extra)
{
	size_t size = 0, n = k && params ? k->nparams : 0;
	const void *buffer = !params && extra ? rt_param_buffer(extra, &size) : NULL;
	struct words w;

	if (!__atomic_load_n(&nblocks, __ATOMIC_ACQUIRE) || !k)
		return;
	w.n = 0;
	for (size_t i = 0; i < n; i++)
		take_words(&w, params[i], param_size(f, i));
	if (buffer)
		take_words(&w, buffer, size);
	pthread_mutex_lock(&guard_lock);
	for (size_t i = 0; i < w.n; i++) {
		struct block *b = block_at(w.v[i]);

		if (b)
			rt_deed_keep(d);
		guard(b, &d->d.when);
	}
	pthread_mutex_unlock(&guard_lock);
}

void rt_touch_over(void)
{
	struct detect_clock host;

	if (!__atomic_load_n(&nguarded, __ATOMIC_ACQUIRE))
		return;
	host = rt_order_host();
	pthread_mutex_lock(&guard_lock);
	for (unsigned i = 0; i < nblocks; i++) {
		bool over = block[i].guarded;

		for (unsigned k = 0; over && k < DETECT_LINES; k++)
			over = block[i].pending[k] <= host.upto[k];
		if (over)
			let_go(&block[i]);
	}
	pthread_mutex_unlock(&guard_lock);
}

/* ---- system calls --------------------------------------------------------------------------------------------------- */

bool rt_touch_any(void)
{
	return __atomic_load_n(&nguarded, __ATOMIC_ACQUIRE) && !rt_inside;
}

void rt_touch_bytes(const void *p, size_t n, bool writes)
{
	const uint64_t address = (uintptr_t)p;
	const struct rt_stack *stack;
	bool told = false;

	if (!n || !rt_touch_any())
		return;
	rt_inside++;
	pthread_mutex_lock(&guard_lock);
	for (unsigned i = 0; i < nblocks; i++) {
		struct block *b = &block[i];
		const uint64_t from = address > b->from ? address : b->from, to = address + n < b->to ? address + n : b->to;
		bool open = true;

		if (!b->guarded || from >= to)
			continue;
		for (uint64_t at = from; at < to && open; at += b->piece - at % b->piece)
			open = protect_piece(b, at, PROT_READ | PROT_WRITE);
		if (!open)
			let_go(b);
		told = true;
	}
	pthread_mutex_unlock(&guard_lock);
	if (told) {
		stack = rt_stack_here();
		if (!is_drivers(stack))
			rt_deed_touch(address, n, writes, stack);
	}
	rt_inside--;
}

void rt_touch_end(void)
{
	pthread_mutex_lock(&guard_lock);
	for (unsigned i = 0; i < nblocks; i++)
		let_go(&block[i]);
	nblocks = 0;
	pthread_mutex_unlock(&guard_lock);
}

void rt_touch_fork(void)
{
	rt_touch_end();
}
