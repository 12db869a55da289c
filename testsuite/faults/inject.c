/* SPDX-License-Identifier: Apache-2.0
 *
 * inject.c: an audit library (LD_AUDIT, see rtld-audit(7)) that makes calls of
 * the program fail.  It sees every symbol that the program binds, also those it
 * looks up with dlsym, as the runtime does with the driver's functions, and puts
 * a stub in front of those that it is told of.
 *
 *   FAULT=NAME[,NAME...]:N:M:VALUE   of the calls of these functions, those from
 *                                    the N-th to the M-th (0: to the end) are not
 *                                    made and return VALUE
 *   FAULT_TRACE=FILE                 the names are written there as they are called,
 *                                    with a "!" in front if the call failed; without
 *                                    FAULT, all of the driver's
 *   FAULT_MAIN=1                     of the calls of the program's first thread alone
 */
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STUBS 256
#define EXPORT __attribute__((visibility("default")))

static struct { const char *name; uintptr_t target; } stub[STUBS];
static unsigned nstubs;
static struct { uintptr_t at, bytes; } ours[2];
static unsigned nours;
static unsigned calls;
static const char *names;
static unsigned long from = 1, to;
static int trace = -1;
static bool main_alone;

__attribute__((visibility("hidden"))) long inject_value;
__attribute__((visibility("hidden"))) uintptr_t inject_decide(uintptr_t which, uintptr_t back);
__attribute__((visibility("hidden"))) extern char inject_stubs[];

/* Each stub says which one it is and goes on to `common`, which keeps the
 * arguments while it asks, and then either goes to the function or returns. */
#if defined __x86_64__
#define STUB_BYTES 16
__asm__(
"	.text\n"
"	.p2align 4\n"
"	.globl	inject_stubs\n"
"	.hidden	inject_stubs\n"
"inject_stubs:\n"
"	.set	number, 0\n"
"	.rept	256\n"
"	.p2align 4\n"
"	pushq	$number\n"
"	jmp	common\n"
"	.set	number, number + 1\n"
"	.endr\n"
"	.p2align 4\n"
"common:\n"
"	pushq	%rdi\n"
"	pushq	%rsi\n"
"	pushq	%rdx\n"
"	pushq	%rcx\n"
"	pushq	%r8\n"
"	pushq	%r9\n"
"	movq	48(%rsp), %rdi\n"
"	movq	56(%rsp), %rsi\n"
"	call	inject_decide\n"
"	popq	%r9\n"
"	popq	%r8\n"
"	popq	%rcx\n"
"	popq	%rdx\n"
"	popq	%rsi\n"
"	popq	%rdi\n"
"	addq	$8, %rsp\n"
"	testq	%rax, %rax\n"
"	je	1f\n"
"	jmp	*%rax\n"
"1:	movq	inject_value(%rip), %rax\n"
"	ret\n");
#else                           /* lib.sh skips the tests */
#define STUB_BYTES 1
char inject_stubs[STUBS];
#endif

static void note(const char *name, bool failed)
{
	char line[80] = "!";
	size_t n = strlen(name);

	if (trace < 0 || n > sizeof line - 3 || (main_alone && gettid() != getpid()))
		return;
	memcpy(line + failed, name, n);
	line[failed + n] = '\n';
	if (write(trace, line, failed + n + 1) < 0)
		trace = -1;
}

/* Whether the call goes back there into the program: the dynamic linker calls
 * malloc in its name. */
static bool is_ours(uintptr_t back)
{
	for (unsigned i = 0; i < nours; i++)
		if (back - ours[i].at < ours[i].bytes)
			return true;
	return false;
}

/* The function to go to, or 0. */
uintptr_t inject_decide(uintptr_t which, uintptr_t back)
{
	unsigned long n;
	bool fails;

	if (!is_ours(back))
		return stub[which].target;
	n = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	fails = names && n >= from && (!to || n <= to);
	note(stub[which].name, fails);
	return fails ? 0 : stub[which].target;
}

static bool is_named(const char *name)
{
	const size_t len = strlen(name);

	for (const char *s = names; *s; ) {
		size_t n = strcspn(s, ",:");

		if (n == len && !memcmp(s, name, n))
			return true;
		if (s[n] != ',')
			break;
		s += n + 1;
	}
	return false;
}

EXPORT unsigned la_version(unsigned version)
{
	const char *file = getenv("FAULT_TRACE"), *s;
	char *end;

	names = getenv("FAULT");
	main_alone = getenv("FAULT_MAIN") != NULL;
	if (file)
		trace = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (names && (s = strchr(names, ':'))) {
		from = strtoul(s + 1, &end, 10);
		to = *end ? strtoul(end + 1, &end, 10) : 0;
		inject_value = *end ? strtol(end + 1, &end, 10) : 0;
	}
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* Where an object lies whose ELF header is at its load address: one that is
 * position independent. */
static void add_ours(uintptr_t at)
{
	const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)at;
	const ElfW(Phdr) *p;

	if (!e)
		return;
	p = (const ElfW(Phdr) *)(at + e->e_phoff);
	ours[nours].at = at;
	for (int i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_vaddr + p[i].p_memsz > ours[nours].bytes)
			ours[nours].bytes = p[i].p_vaddr + p[i].p_memsz;
	nours++;
}

/* The cookie says whose calls are meant: the program's, whose name is empty, and
 * a preloaded runtime's. */
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	(void)lmid;
	*cookie = !*map->l_name || strstr(map->l_name, "libgsan.so") != NULL;
	if (*cookie && nours < sizeof ours / sizeof *ours)
		add_ours(map->l_addr);
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

EXPORT uintptr_t la_symbind64(Elf64_Sym *sym, unsigned ndx, uintptr_t *by, uintptr_t *of,
			      unsigned *flags, const char *name)
{
	unsigned i;

	(void)ndx;
	(void)flags;
	if (!*by || *of || (names ? !is_named(name) : strncmp(name, "cu", 2)))
		return sym->st_value;
	for (i = 0; i < nstubs && (stub[i].target != sym->st_value || strcmp(stub[i].name, name)); i++)
		;
	if (i == STUBS)
		return sym->st_value;
	if (i == nstubs) {
		stub[i].name = name;
		stub[i].target = sym->st_value;
		nstubs++;
	}
	return (uintptr_t)inject_stubs + i * STUB_BYTES;
}
