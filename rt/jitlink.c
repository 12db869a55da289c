/* SPDX-License-Identifier: Apache-2.0
 *
 * jitlink.c: a program that has nvJitLink make a cubin, as Numba does, has PTX of the same inputs instrumented: the text, if
 * that is the only input, or what nvJitLink makes of them in a second link, if it optimises at link time.  The program gets its
 * cubin; when it loads it, it is known by its bytes.  What is linked of several texts, or of objects, is machine code alone to
 * us.  In libgsan.so alone, as nvrtc.c.  nvJitLink.h, of which each version has names of its own for its functions, is not
 * needed: handles are pointers, results and kinds of inputs numbers.  A program that is linked with nvJitLink meets functions
 * of ours under all these names; one that looks them up is given the same.
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

/* What stands in front of and behind the names of one version's functions; the first is that of nvJitLink.h without inline
 * functions (NVJITLINK_NO_INLINE). */
#define VERSIONS(V) \
	V(PLAIN, , ) \
	V(V12_0, __, _12_0) V(V12_1, __, _12_1) V(V12_2, __, _12_2) V(V12_3, __, _12_3) V(V12_4, __, _12_4) \
	V(V12_5, __, _12_5) V(V12_6, __, _12_6) V(V12_7, __, _12_7) V(V12_8, __, _12_8) V(V12_9, __, _12_9) \
	V(V13_0, __, _13_0) V(V13_1, __, _13_1) V(V13_2, __, _13_2) V(V13_3, __, _13_3) V(V13_4, __, _13_4) \
	V(V13_5, __, _13_5) V(V13_6, __, _13_6) V(V13_7, __, _13_7) V(V13_8, __, _13_8) V(V13_9, __, _13_9)

#define INDEX(version, front, behind) version,
enum version { VERSIONS(INDEX) VERSION_COUNT };

#define BEHIND(version, front, behind) #behind,
static const char *const behind[] = { VERSIONS(BEHIND) };

/* Of each version what was found last. */
static struct library {
	create_fn *create;
	add_data_fn *add_data;
	add_file_fn *add_file;
	complete_fn *complete;
	get_fn *get_cubin, *get_ptx;
	get_size_fn *get_cubin_size, *get_ptx_size;
	destroy_fn *destroy;
	bool whole;             /* it has all of these */
} libraries[VERSION_COUNT];

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

#define EXPORTED __attribute__((visibility("protected")))

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

static bool fill(const struct library *real, void *again, const struct link *l)
{
	for (uint32_t i = 0; i < l->ninputs; i++) {
		const struct input *in = &l->input[i];

		if (in->bytes ? real->add_data(again, in->kind, in->data, in->bytes, NULL) : real->add_file(again, in->kind, in->data))
			return false;
	}
	return !real->complete(again);
}

/* Linked once more, to PTX with line numbers; NULL: nvJitLink does not do that. */
static char *linked(const struct library *real, const struct link *l)
{
	const char *option[OPTIONS + 2];
	void *again = NULL;
	char *text = NULL;
	size_t bytes = 0;

	for (uint32_t i = 0; i < l->noptions; i++)
		option[i] = l->option[i];
	option[l->noptions] = "-ptx";
	option[l->noptions + 1] = "-lineinfo";
	if (real->create(&again, l->noptions + 2, option))
		return NULL;
	if (fill(real, again, l) && !real->get_ptx_size(again, &bytes) && bytes)
		text = rt_try_alloc(bytes + 1);
	if (text && real->get_ptx(again, text)) {
		rt_free(text);
		text = NULL;
	}
	real->destroy(&again);
	return text;
}

static void note_cubin(const struct library *real, void *handle, const void *cubin)
{
	struct link *l = take(handle);
	size_t bytes = 0;
	char *text = NULL;

	if (l && !l->lost && !real->get_cubin_size(handle, &bytes) && bytes) {
		if (l->ninputs == 1 && l->input[0].kind == INPUT_PTX && l->input[0].bytes)
			text = rt_copy(l->input[0].data);
		else if (optimises(l))
			text = linked(real, l);
	}
	if (text)
		rt_image_note(cubin, bytes, text, "what nvJitLink links");
	rt_free(text);
	drop(l);
}

/* ---- which nvJitLink ------------------------------------------------------------------------------------------------- */

/* handle: NULL for what comes behind us. */
static bool find(void *handle, enum version v, const char *function, void *to)
{
	char name[64];
	void *p;

	snprintf(name, sizeof name, "%s%s%s", v == PLAIN ? "" : "__", function, behind[v]);
	p = handle ? rt_real_dlsym(handle, name) : rt_look_up_behind("libnvJitLink.so", name);
	memcpy(to, &p, sizeof p);
	return p;
}

static void find_all(void *handle, enum version v)
{
	struct library l = {.whole = true};

	l.whole &= find(handle, v, "nvJitLinkCreate", &l.create);
	l.whole &= find(handle, v, "nvJitLinkAddData", &l.add_data);
	l.whole &= find(handle, v, "nvJitLinkAddFile", &l.add_file);
	l.whole &= find(handle, v, "nvJitLinkComplete", &l.complete);
	l.whole &= find(handle, v, "nvJitLinkGetLinkedCubin", &l.get_cubin);
	l.whole &= find(handle, v, "nvJitLinkGetLinkedCubinSize", &l.get_cubin_size);
	l.whole &= find(handle, v, "nvJitLinkGetLinkedPtx", &l.get_ptx);
	l.whole &= find(handle, v, "nvJitLinkGetLinkedPtxSize", &l.get_ptx_size);
	l.whole &= find(handle, v, "nvJitLinkDestroy", &l.destroy);
	libraries[v] = l;
}

/* Of a program that calls ours without having looked them up. */
static const struct library *library(enum version v)
{
	if (!libraries[v].whole)
		find_all(NULL, v);
	return &libraries[v];
}

/* ---- in front of nvJitLink's -------------------------------------------------------------------------------------- */

static bool is_followed(const struct library *real)
{
	return real->whole && rt_image_wanted();
}

static int create(enum version v, void **link, uint32_t n, const char **options)
{
	const struct library *real = library(v);
	const int r = real->create ? real->create(link, n, options) : ERROR_INTERNAL;

	if (!r && is_followed(real))
		note_link(*link, n, options);
	return r;
}

static int add_data(enum version v, void *link, int kind, const void *data, size_t bytes, const char *name)
{
	const struct library *real = library(v);

	if (data && bytes && is_followed(real))
		note_input(link, kind, data, bytes);
	return real->add_data ? real->add_data(link, kind, data, bytes, name) : ERROR_INTERNAL;
}

static int add_file(enum version v, void *link, int kind, const char *file)
{
	const struct library *real = library(v);

	if (file && is_followed(real))
		note_input(link, kind, file, 0);
	return real->add_file ? real->add_file(link, kind, file) : ERROR_INTERNAL;
}

static int get_cubin(enum version v, void *link, void *cubin)
{
	const struct library *real = library(v);
	const int r = real->get_cubin ? real->get_cubin(link, cubin) : ERROR_INTERNAL;

	if (!r && cubin && is_followed(real) && rt_drv_load()) {
		rt_inside++;
		note_cubin(real, link, cubin);
		rt_inside--;
	}
	return r;
}

static int destroy(enum version v, void **link)
{
	const struct library *real = library(v);

	if (link)
		drop(take(*link));
	return real->destroy ? real->destroy(link) : ERROR_INTERNAL;
}

/* All spellings of each. */
#define OURS(version, front, behind) \
	EXPORTED create_fn front##nvJitLinkCreate##behind; \
	EXPORTED add_data_fn front##nvJitLinkAddData##behind; \
	EXPORTED add_file_fn front##nvJitLinkAddFile##behind; \
	EXPORTED get_fn front##nvJitLinkGetLinkedCubin##behind; \
	EXPORTED destroy_fn front##nvJitLinkDestroy##behind; \
	int front##nvJitLinkCreate##behind(void **link, uint32_t n, const char **options) \
	{ return create(version, link, n, options); } \
	int front##nvJitLinkAddData##behind(void *link, int kind, const void *data, size_t bytes, const char *name) \
	{ return add_data(version, link, kind, data, bytes, name); } \
	int front##nvJitLinkAddFile##behind(void *link, int kind, const char *file) \
	{ return add_file(version, link, kind, file); } \
	int front##nvJitLinkGetLinkedCubin##behind(void *link, void *cubin) \
	{ return get_cubin(version, link, cubin); } \
	int front##nvJitLinkDestroy##behind(void **link) \
	{ return destroy(version, link); }
VERSIONS(OURS)

/* ---- look-ups -------------------------------------------------------------------------------------------------------- */

/* ISO C has no conversion from a function pointer to an object pointer. */
typedef void any_fn(void);

#define ROW(version, front, behind) \
	{version, #front "nvJitLinkCreate" #behind, (any_fn *)front##nvJitLinkCreate##behind}, \
	{version, #front "nvJitLinkAddData" #behind, (any_fn *)front##nvJitLinkAddData##behind}, \
	{version, #front "nvJitLinkAddFile" #behind, (any_fn *)front##nvJitLinkAddFile##behind}, \
	{version, #front "nvJitLinkGetLinkedCubin" #behind, (any_fn *)front##nvJitLinkGetLinkedCubin##behind}, \
	{version, #front "nvJitLinkDestroy" #behind, (any_fn *)front##nvJitLinkDestroy##behind},
static const struct { enum version version; const char *name; any_fn *fn; } ours[] = { VERSIONS(ROW) };

void *rt_jitlink_hook(void *handle, const char *name)
{
	unsigned i = 0;
	void *p;

	while (i < sizeof ours / sizeof *ours && strcmp(name, ours[i].name))
		i++;
	if (i == sizeof ours / sizeof *ours || !rt_image_wanted())
		return NULL;
	find_all(handle, ours[i].version);
	memcpy(&p, &ours[i].fn, sizeof p);
	return libraries[ours[i].version].whole ? p : NULL;
}
