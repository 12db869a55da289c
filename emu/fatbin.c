/* SPDX-License-Identifier: Apache-2.0
 *
 * fatbin.c: finds the PTX in a fat binary, which is what nvcc puts into programs: a
 * header and, one behind the other, texts of PTX and machine code for several devices, as
 * they are or compressed.  The wrapper that points to it is in fatbinary_section.h of the
 * toolkit; the rest is as fat binaries are seen to be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fatbin.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC 0xba55ed50u
#define ELF_MAGIC 0x464c457fu
#define MOST_TEXT (UINT64_C(1) << 30)   /* bytes; more is no text */

enum { ENTRY_PTX = 1, ENTRY_MACHINE_CODE = 2 };

struct wrapper {
	uint32_t magic, version;        /* version 2: of several, for the device's linker */
	const void *data, *more;
};

struct header {
	uint32_t magic;
	uint16_t version, bytes;
	uint64_t rest;
};

#define ENTRY_LZ4 UINT64_C(0x2000)
#define ENTRY_ZSTD UINT64_C(0x8000)
#define ENTRY_ONE_ARCH UINT64_C(0x100000)       /* sm_90a and the like */

struct entry {
	uint16_t kind, version;
	uint32_t bytes;                 /* of this; what it holds comes behind */
	uint64_t size;
	uint32_t packed_size, options;
	uint16_t minor, major;
	uint32_t arch, name, name_len;
	uint64_t flags, zero, unpacked_size;    /* unpacked_size: if packed */
};

_Static_assert(sizeof(struct entry) == 64, "as it is in files");

static uint32_t magic_of(const void *image)
{
	uint32_t magic;

	memcpy(&magic, image, sizeof magic);
	return magic;
}

bool emu_fatbin_is(const void *image)
{
	uint32_t magic = magic_of(image);

	return magic == WRAPPER_MAGIC || magic == FATBIN_MAGIC;
}

bool emu_fatbin_whole(const void *image, size_t bytes)
{
	const struct header *h = image;

	return magic_of(image) == FATBIN_MAGIC && bytes >= sizeof *h && h->bytes >= sizeof *h &&
	       h->bytes <= bytes && h->rest <= bytes - h->bytes;
}

/* The header behind a wrapper; NULL: not one with contents. */
static const struct header *header_of(const void *image)
{
	const struct wrapper *w = image;

	if (magic_of(image) == WRAPPER_MAGIC)
		image = w->data;
	return image && magic_of(image) == FATBIN_MAGIC ? image : NULL;
}

/* The entry at `*at`, which goes on to the next; NULL: there is none. */
static const struct entry *next_entry(const struct header *h, uint64_t *at)
{
	const struct entry *e = (const void *)((const char *)h + h->bytes + *at);

	if (*at + sizeof *e > h->rest || e->bytes < sizeof *e || e->size > h->rest || *at + e->bytes + e->size > h->rest)
		return NULL;
	*at += e->bytes + e->size;
	return e;
}

/* Whether `e` can be run, and is nearer to the device than what was found before. */
static bool is_better(const struct entry *e, const struct entry *than, unsigned sm)
{
	bool one = e->flags & ENTRY_ONE_ARCH;

	if (e->kind != ENTRY_PTX || (one ? e->arch != sm : e->arch > sm))
		return false;
	return !than || e->arch > than->arch || (e->arch == than->arch && one);
}

unsigned emu_fatbin_arch(const void *image)
{
	const struct header *h = header_of(image);
	const struct entry *e;
	unsigned arch = 0;
	uint64_t at = 0;

	while (h && (e = next_entry(h, &at)))
		if (e->kind == ENTRY_PTX && e->arch > arch)
			arch = e->arch;
	return arch;
}

/* What the fat binary holds, for who cannot use it. */
static void say_contents(const struct header *h, struct ptx_buf *log)
{
	const struct entry *e;
	const char *sep = "it holds ";
	uint64_t at = 0;
	char line[96];

	while ((e = next_entry(h, &at))) {
		snprintf(line, sizeof line, "%s%s%u%s", sep,
			 e->kind == ENTRY_PTX ? "PTX for compute_" : "machine code for sm_", e->arch,
			 e->flags & ENTRY_ONE_ARCH ? "a" : "");
		ptx_puts(log, line);
		sep = ", ";
	}
	if (!at)
		ptx_puts(log, "it is empty");
}

static bool unpack(const struct entry *e, struct ptx_buf *text, struct ptx_buf *log)
{
	const char *from = (const char *)e + e->bytes;
	size_t n = e->unpacked_size;
	bool ok = false;
	char *to;

	if (n > MOST_TEXT || e->packed_size > e->size) {
		ptx_puts(log, "emu: a fat binary is damaged\n");
		return false;
	}
	to = calloc(1, n + 1);
	if (!to)
		abort();
#ifdef HAVE_LZ4
	if (e->flags & ENTRY_LZ4)
		ok = LZ4_decompress_safe(from, to, (int)e->packed_size, (int)n) == (int)n;
#endif
#ifdef HAVE_ZSTD
	if (e->flags & ENTRY_ZSTD)
		ok = ZSTD_decompress(to, n, from, e->packed_size) == n;
#endif
	if (ok)
		ptx_put(text, to, strlen(to));
	else
		ptx_puts(log, "emu: the program's PTX is compressed and cannot be unpacked: gsan was built"
			 " without liblz4 or libzstd, or the file is damaged; nvcc --no-compress keeps it plain\n");
	(void)from;
	free(to);
	return ok;
}

CUresult emu_fatbin_text(const void *image, unsigned sm, struct ptx_buf *text, struct ptx_buf *log)
{
	const struct header *h = header_of(image);
	const struct entry *e, *best = NULL;
	uint64_t at = 0;
	char line[128];

	while (h && (e = next_entry(h, &at)))
		if (is_better(e, best, sm))
			best = e;
	if (best && (best->flags & (ENTRY_LZ4 | ENTRY_ZSTD)))
		return unpack(best, text, log) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
	if (best) {
		const char *from = (const char *)best + best->bytes;

		ptx_put(text, from, strnlen(from, best->size));
		return CUDA_SUCCESS;
	}
	snprintf(line, sizeof line, "emu: a fat binary has no PTX that the emulated device, sm_%u, can run: ", sm);
	ptx_puts(log, line);
	if (h)
		say_contents(h, log);
	else
		ptx_puts(log, "it has no contents");
	ptx_puts(log, ".\nemu: build the program with PTX in it (-arch=sm_90, or -gencode arch=compute_90,code=compute_90);"
		 " -rdc=true leaves none, and EMU_SM=N makes the device an sm_N\n");
	return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

const char *emu_image_kind(const void *image)
{
	return magic_of(image) == ELF_MAGIC ? "machine code (a cubin)" : "no PTX";
}
