/* SPDX-License-Identifier: Apache-2.0
 *
 * fatbin.c: finds the PTX in a fat binary, which is what nvcc puts into programs, and unpacks it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fatbin.h"
#include "event/fatbin.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define ELF_MAGIC 0x464c457fu
#define MOST_TEXT (UINT64_C(1) << 30)   /* bytes; more is no text */

static uint32_t magic_of(const void *image)
{
	uint32_t magic;

	memcpy(&magic, image, sizeof magic);
	return magic;
}

bool emu_fatbin_is(const void *image)
{
	uint32_t magic = magic_of(image);

	return magic == FATBIN_WRAPPER || magic == FATBIN_MAGIC;
}

bool emu_fatbin_whole(const void *image, size_t bytes)
{
	const struct fatbin_header *h = image;

	return magic_of(image) == FATBIN_MAGIC && bytes >= sizeof *h && h->bytes >= sizeof *h &&
	       h->bytes <= bytes && h->rest <= bytes - h->bytes;
}

/* The header behind a wrapper; NULL: not one with contents. */
static const struct fatbin_header *header_of(const void *image)
{
	const struct fatbin_wrapper *w = image;

	if (magic_of(image) == FATBIN_WRAPPER)
		image = w->data;
	return image && magic_of(image) == FATBIN_MAGIC ? image : NULL;
}

/* Whether `e` can be run, and is nearer to the device than what was found before. */
static bool is_better(const struct fatbin_entry *e, const struct fatbin_entry *than, unsigned sm)
{
	bool one = e->flags & FATBIN_ONE_ARCH;

	if (e->kind != FATBIN_PTX || (one ? e->arch != sm : e->arch > sm))
		return false;
	return !than || e->arch > than->arch || (e->arch == than->arch && one);
}

unsigned emu_fatbin_arch(const void *image)
{
	const struct fatbin_header *h = header_of(image);
	const struct fatbin_entry *e;
	unsigned arch = 0;
	uint64_t at = 0;

	while (h && (e = fatbin_next(h, &at)))
		if (e->kind == FATBIN_PTX && e->arch > arch)
			arch = e->arch;
	return arch;
}

/* What the fat binary holds, for who cannot use it. */
static void say_contents(const struct fatbin_header *h, struct ptx_buf *log)
{
	const struct fatbin_entry *e;
	const char *sep = "it holds ";
	uint64_t at = 0;
	char line[96];

	while ((e = fatbin_next(h, &at))) {
		snprintf(line, sizeof line, "%s%s%u%s", sep,
			 e->kind == FATBIN_PTX ? "PTX for compute_" : "machine code for sm_", e->arch,
			 e->flags & FATBIN_ONE_ARCH ? "a" : "");
		ptx_puts(log, line);
		sep = ", ";
	}
	if (!at)
		ptx_puts(log, "it is empty");
}

static bool unpack(const struct fatbin_entry *e, struct ptx_buf *text, struct ptx_buf *log)
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
	if (e->flags & FATBIN_LZ4)
		ok = LZ4_decompress_safe(from, to, (int)e->packed_size, (int)n) == (int)n;
#endif
#ifdef HAVE_ZSTD
	if (e->flags & FATBIN_ZSTD)
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
	const struct fatbin_header *h = header_of(image);
	const struct fatbin_entry *e, *best = NULL;
	uint64_t at = 0;
	char line[128];

	while (h && (e = fatbin_next(h, &at)))
		if (is_better(e, best, sm))
			best = e;
	if (best && (best->flags & (FATBIN_LZ4 | FATBIN_ZSTD)))
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
