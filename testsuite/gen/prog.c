/* SPDX-License-Identifier: Apache-2.0
 *
 * prog.c: programs as lists of items: copying, dropping, printing.
 */
#include "testsuite/gen/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gen_copy(struct gen_prog *to, const struct gen_prog *from)
{
	*to = *from;
	to->cap = from->n + 1;
	to->item = malloc(to->cap * sizeof *to->item);
	if (!to->item)
		abort();
	for (unsigned i = 0; i < from->n; i++) {
		to->item[i] = from->item[i];
		to->item[i].text = strdup(from->item[i].text);
		if (!to->item[i].text)
			abort();
	}
}

void gen_free(struct gen_prog *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free(p->item[i].text);
	free(p->item);
	p->item = NULL;
	p->n = p->cap = 0;
}

void gen_drop(struct gen_prog *p, unsigned i)
{
	free(p->item[i].text);
	p->n--;
	memmove(p->item + i, p->item + i + 1, (p->n - i) * sizeof *p->item);
}

#define CLEAR \
	"	shl.b32 %i, %t, 4;\n" \
	"CLEAR:\n" \
	"	add.u32 %a, %sb, %i;\n" \
	"	mov.u32 %k0, 0;\n" \
	"	st.shared.v4.u32 [%a], {%k0, %k0, %k0, %k0};\n" \
	"	mad.lo.u32 %i, %n, 16, %i;\n" \
	"	setp.lt.u32 %p, %i, 8192;\n" \
	"	@%p bra CLEAR;\n"
#define MEET \
	"	barrier.cta.sync 0;\n"

void gen_clear(struct gen_prog *p)
{
	struct gen_item *item = realloc(p->item, (p->n + 1) * sizeof *item);

	if (!item)
		abort();
	memmove(item + 1, item, p->n * sizeof *item);
	item[0] = (struct gen_item){strdup(p->async ? CLEAR "	fence.proxy.async;\n" MEET : CLEAR MEET), GEN_PLAIN, 0};
	if (!item[0].text)
		abort();
	p->item = item;
	p->cap = ++p->n;
}

const char gen_header[] =
	".version 8.6\n"
	".target sm_90a\n"
	".address_size 64\n";

/* Registers that items may count on: %c block, %m blocks, %t thread, %n threads, %w
 * warp, %l lane, %g thread in the grid, %rg the buffer, %sb shared memory; the others
 * are scratch, %f what the last poll or attempt came to.  In the asynchronous world
 * there are %src, the other buffer, %map, the tensor map, %rank and %peer in the cluster,
 * and %st, the state of an mbarrier. */
static const char async_start[] =
	"	.reg .b32 %rank, %peer;\n"
	"	.reg .b64 %src, %map, %st;\n"
	"	ld.param.u64 %src, [p_source];\n"
	"	cvta.to.global.u64 %src, %src;\n"
	"	mov.b64 %map, p_map;\n"
	"	cvta.param.u64 %map, %map;\n"
	"	mov.u64 %st, 0;\n"
	"	mov.u32 %rank, %cluster_ctarank;\n"
	"	xor.b32 %peer, %rank, 1;\n";

static const char shared_memory[] = "	.shared .align 1024 .b8 smem[8192];\n";

/* Where programs with errors have theirs: one variable behind the other, something in front of the first, and what must
 * not be overrun behind the last. */
static void print_variables(struct ptx_buf *b, const struct gen_prog *p)
{
	char line[64];

	ptx_puts(b, "	.shared .align 128 .b8 front[512];\n");
	for (unsigned i = 0; i < 4 && p->var[i]; i++) {
		snprintf(line, sizeof line, "	.shared .align 16 .b8 e%u[%u];\n", i, p->var[i]);
		ptx_puts(b, line);
	}
	ptx_puts(b, shared_memory);
	ptx_puts(b, "	.shared .align 128 .b64 eb[8];\n");
}

/* %e0 and so on: their addresses; %dyn: that of dynamic memory. */
static void print_addresses(struct ptx_buf *b, const struct gen_prog *p, const char *name)
{
	char line[64];

	ptx_puts(b, "	.reg .b32 %e<4>, %el<4>, %dyn, %ea, %eb, %ev;\n"
		 "	.reg .b64 %ex;\n"
		 "	mov.u32 %ea, front;\n");
	for (unsigned i = 0; i < 4 && p->var[i]; i++) {
		snprintf(line, sizeof line, "	mov.u32 %%e%u, e%u;\n", i, i);
		ptx_puts(b, line);
	}
	if (p->dynamic) {
		snprintf(line, sizeof line, "	mov.u32 %%dyn, dynamic_%s;\n", name);
		ptx_puts(b, line);
	}
}

void gen_print(struct ptx_buf *b, const struct gen_prog *p, const char *name)
{
	char line[256];

	if (p->dynamic) {
		snprintf(line, sizeof line, "\n.extern .shared .align 16 .b8 dynamic_%s[];", name);
		ptx_puts(b, line);
	}
	snprintf(line, sizeof line, "\n.visible .entry %s(.param .u64 p_data%s)%s\n{\n", name,
		 p->async ? ", .param .u64 p_source, .param .align 64 .b8 p_map[128]" : "",
		 p->cluster ? " .reqnctapercluster 2, 1, 1" : "");
	ptx_puts(b, line);
	if (p->seed >= GEN_ERRORS)
		print_variables(b, p);
	if (p->async)
		ptx_puts(b, async_start);
	if (p->seed >= GEN_ERRORS)
		print_addresses(b, p, name);
	ptx_puts(b,
		"	.reg .pred %p, %q, %f;\n"
		"	.reg .b16 %h<4>;\n"
		"	.reg .b32 %c, %m, %t, %n, %w, %l, %g, %sb, %i, %a, %v<8>, %k<8>;\n"
		"	.reg .b64 %rg, %ra, %x<8>;\n"
		"	.reg .f32 %d<4>;\n");
	if (p->seed < GEN_ERRORS)
		ptx_puts(b, shared_memory);
	ptx_puts(b,
		"	ld.param.u64 %rg, [p_data];\n"
		"	cvta.to.global.u64 %rg, %rg;\n"
		"	mov.u32 %sb, smem;\n"
		"	mov.u32 %c, %ctaid.x;\n"
		"	mov.u32 %m, %nctaid.x;\n"
		"	mov.u32 %t, %tid.x;\n"
		"	mov.u32 %n, %ntid.x;\n"
		"	shr.u32 %w, %t, 5;\n"
		"	and.b32 %l, %t, 31;\n"
		"	mad.lo.u32 %g, %c, %n, %t;\n"
		"	mov.u32 %v0, 1;\n"
		"	mov.u32 %v1, 2;\n"
		"	mov.u32 %v2, 3;\n"
		"	mov.u32 %v3, 4;\n"
		"	mov.u64 %x0, 5;\n"
		"	mov.u64 %x1, 6;\n"
		"	setp.eq.u32 %f, %t, %t;\n");
	for (unsigned i = 0; i < p->n; i++)
		ptx_puts(b, p->item[i].text);
	ptx_puts(b, "	ret;\n}\n");
}
