/* SPDX-License-Identifier: Apache-2.0
 *
 * ev.c: fuzz target for the text form of a log.  A text is refused with its line and a reason,
 * or what it is read as is a log: pieces of its launches, and records of its sites.
 */
#include <stdlib.h>
#include <string.h>

#include "testsuite/detect/ev.h"
#include "testsuite/fuzz/fuzz.h"

static const char *const folders[] = {
	"testsuite/detect/async", "testsuite/detect/barrier", "testsuite/detect/fence", "testsuite/detect/host", "testsuite/detect/mbarrier",
	"testsuite/detect/order", "testsuite/detect/pdl", "testsuite/detect/proxy", "testsuite/detect/tcgen05", "testsuite/detect/wgmma", "testsuite/detect/words", NULL
};
const struct fuzz_target fuzz_target = { "ev", ".ev", folders, 60000, false };

static const struct event_host *launch_of(const struct ev *t, uint32_t number)
{
	for (uint32_t i = 0; i < t->nhost; i++)
		if (t->host[i].kind == EVENT_HOST_LAUNCH && t->host[i].launch == number)
			return &t->host[i];
	fuzz_broken("a piece of launch %u, which is not told", number);
}

static void check(const struct ev *t)
{
	size_t where;

	for (size_t at = 0; at < t->bytes;) {
		const struct event_piece *p = (const struct event_piece *)(const void *)(t->log + at);
		const char *why = event_piece_wrong(p, t->bytes - at, t->nsites, &where);

		if (why)
			fuzz_broken("%zu: %s", at, why);
		if (p->block >= launch_of(t, p->launch)->blocks || p->first + p->blocks > launch_of(t, p->launch)->blocks)
			fuzz_broken("a piece of block %u of %u", p->block, launch_of(t, p->launch)->blocks);
		at += p->bytes;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size < 4096 ? size : 4096), error[256] = "";
	struct ev t;

	if (ev_read(&t, "fuzz.ev", text, error, sizeof error)) {
		if (*error)
			fuzz_broken("accepted with an error: %s", error);
		check(&t);
	} else if (strncmp(error, "fuzz.ev:", 8) || !strstr(error, ": error: ")) {
		fuzz_broken("refused without an error: %s", error);
	}
	ev_free(&t);
	free(text);
	return 0;
}
