/* SPDX-License-Identifier: Apache-2.0
 *
 * fatbin.h: the PTX in a fat binary.
 */
#ifndef EMU_FATBIN_H
#define EMU_FATBIN_H

#include "emu/emu.h"

/* An image is what cuModuleLoadData gets: at least four bytes. */
bool emu_fatbin_is(const void *image);
/* Whether all of a fat binary without a wrapper is within so many bytes. */
bool emu_fatbin_whole(const void *image, size_t bytes);
/* The newest compute capability that it has PTX for; 0: none. */
unsigned emu_fatbin_arch(const void *image);
/* Appends the text that suits sm_`sm` best; an error says in `log` what there is instead. */
CUresult emu_fatbin_text(const void *image, unsigned sm, struct ptx_buf *text, struct ptx_buf *log);
/* What an image is that is neither a fat binary nor text. */
const char *emu_image_kind(const void *image);

#endif
