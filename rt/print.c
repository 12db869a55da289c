/* SPDX-License-Identifier: Apache-2.0
 *
 * print.c: the text of reports and of the closing line.  Formats what it is
 * given and looks nothing up.  The order and the indents of the lines are
 * ThreadSanitizer's, because tools split on them.
 */
#include <string.h>

#include "rt/rti.h"

#define RULE "==================\n"
#define BOLD_RED "\033[1m\033[31m"
#define BLUE "\033[1m\033[34m"
#define GREEN "\033[1m\033[32m"
#define PLAIN "\033[0m"

static const char *const kinds[] = {
#define KIND(id, name) name,
#include "rt/kinds.def"
};

const char *rt_kind_name(enum gsan_kind kind)
{
	return kind < GSAN_KIND_COUNT ? kinds[kind] : "unknown";
}

/* "data-race" reads "data race" in a report. */
static void put_kind(struct rt_buf *b, enum gsan_kind kind)
{
	for (const char *s = rt_kind_name(kind); *s; s++)
		rt_putn(b, *s == '-' ? " " : s, 1);
}

static void color(struct rt_buf *b, const struct rt_look *look, const char *code)
{
	if (look->color)
		rt_puts(b, code);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *strip(const char *path, const struct rt_look *look)
{
	size_t n = strlen(look->strip);

	return n && !strncmp(path, look->strip, n) ? path + n : path;
}

static void put_ptx(struct rt_buf *b, const struct rt_place *p)
{
	rt_printf(b, "%s:%u", *p->ptx ? base_name(p->ptx) : "ptx", p->ptx_line);
}

static bool has_source(const struct rt_place *p, const struct rt_look *look)
{
	return look->source && p->nframes && *p->frame[0].file && p->frame[0].line;
}

/* The spot in few characters, for sentences: ring.cu:41, or ring.ptx:118. */
void rt_print_spot(struct rt_buf *b, const struct rt_place *p, const struct rt_look *look)
{
	if (!p->known)
		rt_puts(b, "the other access");
	else if (has_source(p, look))
		rt_printf(b, "%s:%u", base_name(p->frame[0].file), p->frame[0].line);
	else if (p->call && !p->ptx_line)
		rt_printf(b, "%s", p->call);
	else
		put_ptx(b, p);
}

/* Names in libraries of templates take kilobytes: of those what they are made of is left out,
 * and their end. */
enum { LONG_NAME = 200 };

static void put_name(struct rt_buf *b, const char *name)
{
	bool whole = strlen(name) <= LONG_NAME;
	unsigned depth = 0, put = 0;
	const char *p;

	for (p = name; *p && put < LONG_NAME; p++) {
		bool bracket = !whole && (p - name < 8 || strncmp(p - 8, "operator", 8));

		if (bracket && *p == '>' && depth && p[-1] != '-') {
			depth--;
		} else if (bracket && *p == '<') {
			if (!depth++)
				rt_puts(b, "<...>");
		} else if (!depth) {
			rt_printf(b, "%c", *p);
			put++;
		}
	}
	if (*p)
		rt_puts(b, "...");
}

static void put_frame(struct rt_buf *b, const struct rt_place *p, unsigned i,
		      const struct rt_look *look)
{
	const struct rt_frame *f = &p->frame[i];

	rt_printf(b, "    #%u ", i);
	put_name(b, *f->shown ? f->shown : "<unknown>");
	if (look->source && *f->file && f->line)
		rt_printf(b, " %s:%u", strip(f->file, look), f->line);
	if (i == 0 && !p->call) {
		rt_puts(b, " (");
		put_ptx(b, p);
		rt_puts(b, ")");
	}
	rt_puts(b, "\n");
}

static void put_triple(struct rt_buf *b, const uint32_t v[3])
{
	rt_printf(b, "(%u,%u,%u)", v[0], v[1], v[2]);
}

/* "Write", "Previous atomic write", ..., "mbarrier.arrive", "bar.sync" */
static void put_access(struct rt_buf *b, const struct rt_place *p, bool previous)
{
	static const char mbarrier[] = "mbarrier.";
	const size_t n = sizeof mbarrier - 1;
	static const char *const words[2][4][2] = {
		{ { "Read", "Write" }, { "Atomic read", "Atomic write" },
		  { "Volatile read", "Volatile write" },
		  { "Asynchronous read", "Asynchronous write" } },
		{ { "Previous read", "Previous write" },
		  { "Previous atomic read", "Previous atomic write" },
		  { "Previous volatile read", "Previous volatile write" },
		  { "Previous asynchronous read", "Previous asynchronous write" } },
	};

	if (!strncmp(p->op, mbarrier, n)) {
		rt_printf(b, "%s%.*s", previous ? "Previous " : "", (int)(n + strcspn(p->op + n, ".")), p->op);
		return;
	}
	if (!p->size && *p->op) {       /* it is no access */
		const char *end = strstr(p->op, ".cta_group");

		rt_printf(b, "%s%.*s", previous ? "Previous " : "", (int)(end ? (size_t)(end - p->op) : strlen(p->op)), p->op);
		return;
	}
	rt_puts(b, words[previous][p->async ? 3 : p->is_volatile ? 2 : p->atomic][p->write]);
}

/* "Previous write of size 4 at 0x... by cudaMemcpyAsync on stream 0x0:" */
static void put_call(struct rt_buf *b, const struct rt_place *p, bool previous)
{
	if (p->verb)
		rt_printf(b, "%s%c%s of %u bytes", previous ? "Previous " : "", *p->verb + (previous ? 'a' - 'A' : 0), p->verb + 1, p->size);
	else
		rt_printf(b, "%s of size %u", previous ? p->write ? "Previous write" : "Previous read" : p->write ? "Write" : "Read", p->size);
	rt_printf(b, " at 0x%llx by %s", (unsigned long long)p->addr, p->call);
	if (p->stream_known)
		rt_printf(b, " on stream 0x%llx", (unsigned long long)p->stream);
	rt_puts(b, ":");
}

static void put_thread(struct rt_buf *b, const struct rt_place *p, bool previous)
{
	put_access(b, p, previous);
	if (p->size)
		rt_printf(b, " of size %u at 0x%llx", p->size, (unsigned long long)p->addr);
	rt_puts(b, " by thread ");
	put_triple(b, p->thread);
	if (p->block_known)
		rt_printf(b, " block (%llu,%llu,%llu):", (unsigned long long)p->block[0],
			  (unsigned long long)p->block[1], (unsigned long long)p->block[2]);
	else
		rt_puts(b, " of an earlier block:");
}

static void put_place(struct rt_buf *b, const struct rt_place *p, bool previous,
		      const struct rt_look *look)
{
	rt_puts(b, "  ");
	color(b, look, BLUE);
	if (!p->known) {
		rt_printf(b, "%s of which only the memory is known:", previous ?
			  "Previous access" : "Access");
		color(b, look, PLAIN);
		rt_puts(b, "\n    #0 <unknown>\n\n");
		return;
	}
	if (p->call)
		put_call(b, p, previous);
	else
		put_thread(b, p, previous);
	color(b, look, PLAIN);
	rt_puts(b, "\n");
	for (unsigned i = 0; i < p->nframes; i++)
		put_frame(b, p, i, look);
	rt_puts(b, "\n");
}

static void put_launch(struct rt_buf *b, const struct rt_report *r)
{
	rt_puts(b, "  Launch ");
	if (r->launch)
		rt_printf(b, "#%u ", r->launch);
	rt_puts(b, "of ");
	put_name(b, *r->kernel ? r->kernel : "<unknown>");
	rt_puts(b, "<<<");
	put_triple(b, r->grid);
	rt_puts(b, ",");
	put_triple(b, r->block);
	rt_puts(b, ">>>");
	if (r->cluster[0] > 1 || r->cluster[1] > 1 || r->cluster[2] > 1) {
		rt_puts(b, " in clusters of ");
		put_triple(b, r->cluster);
	}
	if (r->stream_known)
		rt_printf(b, " on stream 0x%llx", (unsigned long long)r->stream);
	rt_puts(b, "\n");
}

static void put_summary(struct rt_buf *b, const struct rt_report *r, const struct rt_look *look)
{
	const struct rt_place *p = r->now.known ? &r->now : &r->before;

	rt_puts(b, "SUMMARY: GSan: ");
	put_kind(b, r->kind);
	rt_puts(b, " ");
	if (has_source(p, look))
		rt_printf(b, "%s:%u", strip(p->frame[0].file, look), p->frame[0].line);
	else if (p->known)
		put_ptx(b, p);
	else
		rt_puts(b, "<unknown>");
	rt_puts(b, " in ");
	put_name(b, p->known && p->nframes && *p->frame[0].shown ? p->frame[0].shown : r->kernel);
	rt_puts(b, "\n");
}

/* memory-model.md 2.4, AMB-12: two writes of one value race, and do no harm. */
static void put_note(struct rt_buf *b, const struct rt_report *r)
{
	const struct rt_place *x = &r->now, *y = &r->before;

	if (r->values == GSAN_VALUES_SAME)
		rt_puts(b, "  Note: same value: both store the same, as compilers' reductions do, and "
			   "that does no harm (same_value=ignore leaves such races out)\n");
	else if (r->values == GSAN_VALUES_UNKNOWN && (r->kind == GSAN_DATA_RACE || r->kind == GSAN_SCOPE_RACE) &&
		 x->known && y->known && x->write && y->write && !x->async && !y->async && !x->atomic &&
		 !y->atomic && x->ptx_line == y->ptx_line && !strcmp(x->ptx, y->ptx))
		rt_puts(b, "  Note: one instruction writes both times; if all threads store the same "
			   "value there, as compilers' reductions do, the race does no harm "
			   "(values are not compared)\n");
}

/* What outlives its block, or comes before it, what uses an mbarrier that is not there, a wrong mask, and what lies
 * outside of its variable or of what was allocated, or reads what nobody has written, is one access. */
static bool may_be_one(enum gsan_kind kind)
{
	return kind == GSAN_LIFETIME || kind == GSAN_MBARRIER_MISUSE || kind == GSAN_BARRIER_MISUSE || kind == GSAN_SHARED_BOUNDS ||
	       kind == GSAN_GLOBAL_BOUNDS || kind == GSAN_USE_AFTER_FREE || kind == GSAN_UNINITIALISED_READ;
}

static void put_accesses(struct rt_buf *b, const struct rt_report *r, const struct rt_look *look)
{
	if (r->now.known || !may_be_one(r->kind))
		put_place(b, &r->now, false, look);
	if (r->before.known || !may_be_one(r->kind) || !r->now.known)
		put_place(b, &r->before, true, look);
	if (r->made.known)
		put_place(b, &r->made, true, look);
	rt_puts(b, "  ");
	color(b, look, GREEN);
	rt_printf(b, "Location is %s", r->where ? r->where : "unknown");
	color(b, look, PLAIN);
	rt_puts(b, "\n");
	if (!r->now.call || !r->before.call)
		put_launch(b, r);
	rt_puts(b, "  Missing: ");
	rt_print_missing(b, r, look);
	rt_puts(b, "\n");
	put_note(b, r);
	rt_printf(b, "  [%s%llu time%s]\n", r->exact ? "" : "at least ",
		  (unsigned long long)r->count, r->count == 1 ? "" : "s");
}

static void put_waiting(struct rt_buf *b, const struct rt_report *r, const struct rt_look *look)
{
	rt_puts(b, "  ");
	color(b, look, BLUE);
	rt_puts(b, "Wait by thread ");
	put_triple(b, r->now.thread);
	rt_printf(b, " block (%llu,%llu,%llu):", (unsigned long long)r->now.block[0], (unsigned long long)r->now.block[1],
		  (unsigned long long)r->now.block[2]);
	color(b, look, PLAIN);
	rt_puts(b, "\n");
	for (unsigned i = 0; i < r->now.nframes; i++)
		put_frame(b, &r->now, i, look);
	rt_puts(b, "\n");
	put_launch(b, r);
	rt_puts(b, r->hang);
}

void rt_print_report(struct rt_buf *b, const struct rt_report *r, const struct rt_look *look)
{
	rt_puts(b, RULE);
	color(b, look, BOLD_RED);
	rt_puts(b, "WARNING: GSan: ");
	put_kind(b, r->kind);
	rt_printf(b, " (pid=%ld)", look->pid);
	color(b, look, PLAIN);
	rt_puts(b, "\n");
	if (r->hang) {
		put_waiting(b, r, look);
	} else {
		put_accesses(b, r, look);
	}
	rt_puts(b, "  Suppression: ");
	rt_supp_line(b, r);
	rt_puts(b, "\n");
	if (look->cmdline)
		rt_printf(b, "  Command line: %s\n", look->cmdline);
	if (look->summary)
		put_summary(b, r, look);
	rt_puts(b, RULE);
}

static void put_count(struct rt_buf *b, uint64_t n, const char *one, const char *many)
{
	rt_printf(b, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

/* Kernels that are not instrumented: behind everything that counts, since they may be many
 * and long. */
static void put_names(struct rt_buf *b, const struct rt_totals *t)
{
	const size_t most = 8, longest = 60;

	rt_puts(b, "; not instrumented: ");
	for (size_t i = 0; i < t->nbare && i < most; i++) {
		const size_t n = strlen(t->bare[i]);

		rt_puts(b, i ? ", " : "");
		rt_putn(b, t->bare[i], n > longest ? longest - 3 : n);
		rt_puts(b, n > longest ? "..." : "");
	}
	if (t->nbare > most)
		rt_printf(b, " ... and %zu more", t->nbare - most);
}

/* A count that is left out while it is zero. */
static void put_nonzero(struct rt_buf *b, uint64_t n, const char *one, const char *many)
{
	if (n) {
		rt_puts(b, "; ");
		put_count(b, n, one, many);
	}
}

static void put_nothing(struct rt_buf *b, const struct rt_totals *t)
{
	rt_puts(b, "nothing was watched: ");
	if (t->off)
		rt_puts(b, t->off);
	else if (t->memory)
		rt_puts(b, "memory ran out before");
	else if (t->missing)
		rt_puts(b, "there is no CUDA driver here (libcuda.so.1)");
	else if (t->bypassed)
		rt_puts(b, "CUDA was used past gsan's runtime; start the program with libgsan.so preloaded");
	else if (!t->launches && !t->graphs && t->failed)
		rt_printf(b, "no kernel was launched; %s failed (%s)", t->failed, t->error);
	else if (!t->launches && !t->graphs)
		rt_puts(b, "no kernel was launched");
	else if (t->other_device && t->other_device == t->launches)
		rt_puts(b, "no launch was on the device that is watched");
	else if (!t->modules && !t->bare_launches)
		rt_puts(b, "no module could be looked at");
	else if (!t->sites && t->unregistered)
		rt_puts(b, "no instrumented module could be registered");
	else if (!t->sites)
		rt_puts(b, "no kernel that was launched is instrumented");
	else if (t->unchosen && !t->unwatched && !t->lost_logs)
		rt_puts(b, "no launch was chosen (launch_kernel, launch_skip, launch_count)");
	else if (t->unwatched)
		rt_puts(b, "no launch could be logged");
	else if (t->lost_logs)
		rt_puts(b, "the log of each launch was lost");
	else
		rt_puts(b, "no instrumented kernel was launched");
}

bool rt_nothing_watched(const struct rt_totals *t)
{
	return !t->kernels_watched && !t->findings;
}

bool rt_incomplete(const struct rt_totals *t)
{
	bool any = t->unwatched || t->lost_logs || t->cut || t->left_blocks || t->late_blocks || t->talked || t->unseen || t->deeds_dropped ||
		   t->unmodelled || t->unknown || t->unregistered || t->code_alone || t->as_they_are || t->other_device || t->same_values;

	for (int i = 0; i < RT_INEXACT; i++)
		any = any || t->inexact[i].n;
	return any;
}

void rt_print_closing(struct rt_buf *b, const struct rt_totals *t)
{
	rt_puts(b, "GSan: ");
	if (rt_nothing_watched(t)) {
		put_nothing(b, t);
	} else {
		put_count(b, t->findings, "finding", "findings");
		rt_puts(b, "; ");
		put_count(b, t->launches, "launch", "launches");
		rt_puts(b, ", ");
		put_count(b, t->sites, "site", "sites");
		rt_puts(b, " watched");
	}
	put_nonzero(b, t->suppressed, "finding suppressed", "findings suppressed");
	put_nonzero(b, t->warned, "finding that proxy_war=warn lets pass", "findings that proxy_war=warn lets pass");
	put_nonzero(b, t->filtered, "finding outside kernel_filter", "findings outside kernel_filter");
	put_nonzero(b, t->beyond_limit, "report left out by report_limit",
		    "reports left out by report_limit");
	put_nonzero(b, t->graphs, "graph launch", "graph launches");
	put_nonzero(b, t->bare_launches, "launch of a kernel that is not instrumented",
		    "launches of kernels that are not instrumented");
	put_nonzero(b, t->code_alone, "module that is machine code alone, into which gsan cannot look",
		    "modules that are machine code alone, into which gsan cannot look");
	put_nonzero(b, t->as_they_are, "module that could not be instrumented", "modules that could not be instrumented");
	put_nonzero(b, t->unchosen, "launch that was not chosen to be watched", "launches that were not chosen to be watched");
	put_nonzero(b, t->unregistered, "module whose registration failed",
		    "modules whose registration failed");
	put_nonzero(b, t->other_device, "launch on a device that is not watched",
		    "launches on devices that are not watched");
	put_nonzero(b, t->unmodelled, "instruction that is not modelled",
		    "instructions that are not modelled");
	put_nonzero(b, t->unknown, "unknown instruction", "unknown instructions");
	put_nonzero(b, t->unwatched, "launch that could not be watched", "launches that could not be watched");
	put_nonzero(b, t->lost_logs, "launch whose log was lost", "launches whose log was lost");
	put_nonzero(b, t->cut, "launch that was not judged to its end", "launches that were not judged to their end");
	put_nonzero(b, t->left_blocks, "block not judged, since others of its launch had findings (judge_all_mb)",
		    "blocks not judged, since others of their launches had findings (judge_all_mb)");
	put_nonzero(b, t->late_blocks, "block not judged, since its launch took too long (judge_s)",
		    "blocks not judged, since their launches took too long (judge_s)");
	put_nonzero(b, t->talked, "pair of accesses taken as ordered, since they may synchronise through memory",
		    "pairs of accesses taken as ordered, since they may synchronise through memory");
	put_nonzero(b, t->unseen, "call whose order is not seen", "calls whose order is not seen");
	put_nonzero(b, t->deeds_dropped, "launch or copy whose order was not followed", "launches and copies whose order was not followed");
	put_nonzero(b, t->not_kept, "launch whose log was not kept", "launches whose log was not kept");
	for (int i = 0; i < RT_INEXACT; i++)
		put_nonzero(b, t->inexact[i].n, t->inexact[i].name, t->inexact[i].name);
	put_nonzero(b, t->same_values, "unordered writes of one value left out", "unordered writes of one value left out");
	if (t->memory)
		rt_puts(b, "; memory ran out, and what came later was not watched");
	if (t->still_running)
		rt_puts(b, "; kernels still ran when the process ended");
	if (t->bare_launches && t->nbare)
		put_names(b, t);
	rt_puts(b, "\n");
}
