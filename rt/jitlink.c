/* SPDX-License-Identifier: Apache-2.0
 *
 * jitlink.c: a program that has nvJitLink make a cubin, as Numba does, has PTX of the same inputs instrumented: the text, if
 * that is the only input, or what nvJitLink makes of them in a second link, if it optimises at link time.  The program gets its
 * cubin; when it loads it, it is known by its bytes.  What is linked of several texts, or of objects, is machine code alone to
 * us.  In libgsan.so alone, as nvrtc.c.  nvJitLink.h, of which each version has names of its own for its functions, is not
 * needed: handles are pointers, results and kinds of inputs numbers.
 */
#include <stdio.h>
#include <string.h>

#include "rt/drv.h"
#include "rt/image.h"

enum { INPUT_PTX = 2, ERROR_INTERNAL = 6 };     /* NVJITLINK_INPUT_PTX, NVJITLINK_ERROR_INTERNAL */
enum { INPUTS = 64, OPTIONS = 64 };

typedef int create_fn(void **link, uint32_t n, const char **options);
typedef int add_data_fn(void *link, int kind, const void *data, size_t bytes, const char *name);
typedef int add_file_fn(void *link, int kind, const char *file);
typedef int complete_fn(void *link);
typedef int get_fn(void *link, void *out);
typedef int get_size_fn(void *link, size_t *bytes);
typedef int destroy_fn(void **link);

/* Of the nvJitLink that was found last. */
static struct {
	create_fn *create;
	add_data_fn *add_data;
	add_file_fn *add_file;
	complete_fn *complete;
	get_fn *get_cubin, *get_ptx;
	get_size_fn *get_cubin_size, *get_ptx_size;
	destroy_fn *destroy;
} real;

struct input { int kind; char *data; size_t bytes; };   /* bytes 0: `data` is a file's name */

/* What a link is made of, until it is destroyed; with rt_lock. */
struct link {
	struct link *next;
	const void *handle;
	bool lost;              /* not all that it is made of is here */
	uint32_t ninputs, noptions;
	struct input input[INPUTS];
	char *option[OPTIONS + 2];
};

static struct link *links;

extern void *(*rt_real_dlsym)(void *, const char *) __attribute__((visibility("hidden")));

/* ---- what links are made of ------------------------------------------------------------------------------------ */

static void drop(struct link *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->ninputs; i++)
		rt_free(l->input[i].data);
	for (uint32_t i = 0; i < l->noptions; i++)
		rt_free(l->option[i]);
	rt_free(l);
}

static struct link *take(const void *handle)
{
	struct link **at = &links, *l;

	pthread_mutex_lock(&rt_lock);
	while (*at && (*at)->handle != handle)
		at = &(*at)->next;
	l = *at;
	if (l)
		*at = l->next;
	pthread_mutex_unlock(&rt_lock);
	return l;
}

static void put(struct link *l)
{
	pthread_mutex_lock(&rt_lock);
	l->next = links;
	links = l;
	pthread_mutex_unlock(&rt_lock);
}

static void note_link(const void *handle, uint32_t n, const char *const *options)
{
	struct link *l = rt_alloc(sizeof *l);

	l->handle = handle;
	l->lost = n > OPTIONS;
	for (uint32_t i = 0; i < n && !l->lost; i++)
		l->option[l->noptions++] = rt_copy(options[i]);
	drop(take(handle));
	put(l);
}

static void note_input(const void *handle, int kind, const void *data, size_t bytes)
{
	const size_t n = bytes ? bytes : strlen(data);
	struct link *l = take(handle);
	struct input *in;

	if (!l)
		return;
	in = &l->input[l->ninputs];
	l->lost = l->lost || l->ninputs == INPUTS;
	if (!l->lost) {
		*in = (struct input){kind, rt_try_alloc(n + 1), bytes};
		l->lost = !in->data;
	}
	if (!l->lost) {
		memcpy(in->data, data, n);
		l->ninputs++;
	}
	put(l);
}

/* ---- their PTX ------------------------------------------------------------------------------------------------------ */

static bool optimises(const struct link *l)
{
	for (uint32_t i = 0; i < l->noptions; i++)
		if (!strcmp(l->option[i], "-lto") || !strcmp(l->option[i], "--link-time-opt"))
			return true;
	return false;
}

static bool fill(void *again, const struct link *l)
{
	for (uint32_t i = 0; i < l->ninputs; i++) {
		const struct input *in = &l->input[i];

		if (in->bytes ? real.add_data(again, in->kind, in->data, in->bytes, NULL) : real.add_file(again, in->kind, in->data))
			return false;
	}
	return !real.complete(again);
}

/* Linked once more, to PTX with line numbers; NULL: nvJitLink does not do that. */
static char *linked(const struct link *l)
{
	const char *option[OPTIONS + 2];
	void *again = NULL;
	char *text = NULL;
	size_t bytes = 0;

	for (uint32_t i = 0; i < l->noptions; i++)
		option[i] = l->option[i];
	option[l->noptions] = "-ptx";
	option[l->noptions + 1] = "-lineinfo";
	if (real.create(&again, l->noptions + 2, option))
		return NULL;
	if (fill(again, l) && !real.get_ptx_size(again, &bytes) && bytes)
		text = rt_try_alloc(bytes + 1);
	if (text && real.get_ptx(again, text)) {
		rt_free(text);
		text = NULL;
	}
	real.destroy(&again);
	return text;
}

static void note_cubin(void *handle, const void *cubin)
{
	struct link *l = take(handle);
	size_t bytes = 0;
	char *text = NULL;

	if (l && !l->lost && !real.get_cubin_size(handle, &bytes) && bytes) {
		if (l->ninputs == 1 && l->input[0].kind == INPUT_PTX && l->input[0].bytes)
			text = rt_copy(l->input[0].data);
		else if (optimises(l))
			text = linked(l);
	}
	if (text)
		rt_image_note(cubin, bytes, text, "what nvJitLink links");
	rt_free(text);
	drop(l);
}

/* ---- in front of nvJitLink's -------------------------------------------------------------------------------------- */

static int create(void **link, uint32_t n, const char **options)
{
	const int r = real.create(link, n, options);

	if (!r)
		note_link(*link, n, options);
	return r;
}

static int add_data(void *link, int kind, const void *data, size_t bytes, const char *name)
{
	if (data && bytes)
		note_input(link, kind, data, bytes);
	return real.add_data(link, kind, data, bytes, name);
}

static int add_file(void *link, int kind, const char *file)
{
	if (file)
		note_input(link, kind, file, 0);
	return real.add_file(link, kind, file);
}

static int get_cubin(void *link, void *cubin)
{
	const int r = real.get_cubin(link, cubin);

	if (!r && cubin && rt_drv_load()) {
		rt_inside++;
		note_cubin(link, cubin);
		rt_inside--;
	}
	return r;
}

static int destroy(void **link)
{
	if (link)
		drop(take(*link));
	return real.destroy(link);
}

/* ---- look-ups -------------------------------------------------------------------------------------------------------- */

/* The end of the names of one version's functions: "" or "_13_0". */
struct version { char of[16]; };

static bool find(void *handle, const struct version *v, const char *function, void *to)
{
	char name[64];
	void *p;

	snprintf(name, sizeof name, "%s%s%s", *v->of ? "__" : "", function, v->of);
	p = rt_real_dlsym(handle, name);
	memcpy(to, &p, sizeof p);
	return p;
}

/* All that we call; false: that nvJitLink lacks something. */
static bool find_all(void *handle, const struct version *v)
{
	return find(handle, v, "nvJitLinkCreate", &real.create) && find(handle, v, "nvJitLinkAddData", &real.add_data) &&
	       find(handle, v, "nvJitLinkAddFile", &real.add_file) && find(handle, v, "nvJitLinkComplete", &real.complete) &&
	       find(handle, v, "nvJitLinkGetLinkedCubin", &real.get_cubin) &&
	       find(handle, v, "nvJitLinkGetLinkedCubinSize", &real.get_cubin_size) &&
	       find(handle, v, "nvJitLinkGetLinkedPtx", &real.get_ptx) && find(handle, v, "nvJitLinkGetLinkedPtxSize", &real.get_ptx_size) &&
	       find(handle, v, "nvJitLinkDestroy", &real.destroy);
}

void *rt_jitlink_hook(void *handle, const char *name)
{
	create_fn *const on_create = create;
	add_data_fn *const on_data = add_data;
	add_file_fn *const on_file = add_file;
	get_fn *const on_cubin = get_cubin;
	destroy_fn *const on_destroy = destroy;
	const struct { const char *name; const void *fn; } ours[] = {
		{"nvJitLinkCreate", &on_create}, {"nvJitLinkAddData", &on_data}, {"nvJitLinkAddFile", &on_file},
		{"nvJitLinkGetLinkedCubin", &on_cubin}, {"nvJitLinkDestroy", &on_destroy}
	};
	struct version v = {""};
	void *p;

	name += name[0] == '_' ? 2 : 0;
	for (unsigned i = 0; i < sizeof ours / sizeof *ours && rt_image_wanted(); i++) {
		const size_t n = strlen(ours[i].name);

		if (strncmp(name, ours[i].name, n) || (name[n] && name[n] != '_') || strlen(name + n) >= sizeof v.of)
			continue;
		strcpy(v.of, name + n);
		memcpy(&p, ours[i].fn, sizeof p);
		return find_all(handle, &v) ? p : NULL;
	}
	return NULL;
}
