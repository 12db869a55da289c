/* SPDX-License-Identifier: Apache-2.0
 *
 * nvrtc.c: a program that has NVRTC make a cubin, and no PTX, has the PTX instrumented as well: NVRTC has both.  The program
 * gets its cubin; when it loads it, it is known by its bytes.  In libgsan.so alone: a program that has NVRTC linked in
 * statically has its own functions, and is not seen.  nvrtc.h is not needed: handles are pointers, results numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/drv.h"
#include "rt/image.h"

typedef int get_fn(void *program, void *out);

/* Of the NVRTC that was found last. */
static get_fn *get_cubin, *get_cubin_size, *get_ptx, *get_ptx_size;

extern void *(*rt_real_dlsym)(void *, const char *) __attribute__((visibility("hidden")));

__attribute__((visibility("protected"))) int nvrtcGetCUBIN(void *program, char *cubin);

static get_fn *look_up(void *handle, const char *name)
{
	void *p = handle ? rt_real_dlsym(handle, name) : rt_look_up_behind("libnvrtc.so", name);
	get_fn *fn;

	memcpy(&fn, &p, sizeof fn);
	return fn;
}

/* handle: NULL for what comes behind us. */
static void find(void *handle)
{
	get_cubin = look_up(handle, "nvrtcGetCUBIN");
	get_cubin_size = look_up(handle, "nvrtcGetCUBINSize");
	get_ptx = look_up(handle, "nvrtcGetPTX");
	get_ptx_size = look_up(handle, "nvrtcGetPTXSize");
}

void *rt_nvrtc_hook(void *handle, const char *name)
{
	int (*ours)(void *, char *) = nvrtcGetCUBIN;
	void *p;

	if (strcmp(name, "nvrtcGetCUBIN"))
		return NULL;
	find(handle);
	memcpy(&p, &ours, sizeof p);
	return get_cubin && rt_image_wanted() ? p : NULL;
}

static void note(void *program, const char *cubin)
{
	size_t bytes = 0, n = 0;
	char *text;

	if (!get_cubin_size || !get_ptx || !get_ptx_size || get_cubin_size(program, &bytes) || !bytes ||
	    get_ptx_size(program, &n) || !n)
		return;
	text = rt_try_alloc(n + 1);
	if (text && !get_ptx(program, text))
		rt_image_note(cubin, bytes, text, "a program of NVRTC's");
	rt_free(text);
}

int nvrtcGetCUBIN(void *program, char *cubin)
{
	enum { INTERNAL_ERROR = 11 };   /* NVRTC_ERROR_INTERNAL_ERROR */
	int r;

	if (!get_cubin)
		find(NULL);
	r = get_cubin ? get_cubin(program, cubin) : INTERNAL_ERROR;
	if (!r && cubin && rt_image_wanted() && rt_drv_load()) {
		rt_inside++;
		note(program, cubin);
		rt_inside--;
	}
	return r;
}
