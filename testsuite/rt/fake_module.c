/* SPDX-License-Identifier: Apache-2.0
 *
 * fake_module.c: a part of the pretended driver: modules, libraries, their functions and kernels, and launches of those.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testsuite/rt/fake_impl.h"

static struct module *module_of(const void *handle)
{
	struct module *m = (struct module *)handle;

	if (m->unloaded)
		fake_misused("a module that was unloaded");
	return m;
}

static struct fn *fn_of(const void *handle)
{
	struct fn *f = (struct fn *)handle;

	module_of(f->module);
	return f;
}

static bool registers(const struct fake_kernel *k)
{
	return !strncmp(k->name, "__gsan_v", 8);
}

bool fake_logs(const struct fn *f)
{
	return f->k->unit && !registers(f->k);
}

/* ---- modules ----------------------------------------------------------------------------------------------- */

API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	struct module *m;

	if (fake_is_fatbin(image) && !fake_has_screen())
		return CUDA_ERROR_NO_BINARY_FOR_GPU;
	m = calloc(1, sizeof *m);
	m->image = fake_is_fatbin(image) ? &fake_screen : image;
	m->fns = calloc(m->image->nkernels + 1, sizeof *m->fns);
	m->kernels = calloc(m->image->nkernels + 1, sizeof *m->fns);
	for (size_t i = 0; i < m->image->nkernels; i++) {
		m->fns[i] = (struct fn){ m, &m->image->kernel[i], false };
		m->kernels[i] = (struct fn){ m, &m->image->kernel[i], true };
	}
	*module = (CUmodule)(void *)m;
	return CUDA_SUCCESS;
}

API CUresult cuModuleUnload(CUmodule module)
{
	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	fake_wait_all(fake_current());
	module_of(module)->unloaded = true;
	return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunctionCount(unsigned int *n, CUmodule module)
{
	*n = (unsigned)module_of(module)->image->nkernels;
	return fake_fails("cuModuleGetFunctionCount") ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

API CUresult cuModuleEnumerateFunctions(CUfunction *f, unsigned int n, CUmodule module)
{
	struct module *m = module_of(module);

	for (unsigned i = 0; i < n; i++)
		f[i] = (CUfunction)(void *)&m->fns[i];
	return fake_fails("cuModuleEnumerateFunctions") ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name)
{
	struct module *m = module_of(module);

	for (size_t i = 0; i < m->image->nkernels; i++) {
		if (!strcmp(m->fns[i].k->name, name)) {
			*f = (CUfunction)(void *)&m->fns[i];
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_NOT_FOUND;
}

API CUresult cuModuleGetGlobal_v2(CUdeviceptr *at, size_t *bytes, CUmodule module, const char *name)
{
	static unsigned char mark;

	*at = (uintptr_t)&mark;
	*bytes = sizeof mark;
	return module_of(module)->image->probes && !strcmp(name, "__gsan_probes") ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API CUresult cuFuncGetName(const char **name, CUfunction f)
{
	*name = fn_of(f)->k->name;
	return CUDA_SUCCESS;
}

API CUresult cuFuncGetModule(CUmodule *module, CUfunction f)
{
	*module = (CUmodule)(void *)fn_of(f)->module;
	return CUDA_SUCCESS;
}

/* Functions only, as the real one says. */
API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction f)
{
	(void)which;
	*value = 0;
	return fn_of(f)->kernel ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

API CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute which, int value)
{
	(void)which, (void)value;
	return fn_of(f)->kernel ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

API CUresult cuFuncGetParamInfo(CUfunction f, size_t i, size_t *offset, size_t *size)
{
	if (i > fake_logs(fn_of(f)))
		return CUDA_ERROR_INVALID_VALUE;
	*offset = i ? OWN : 0;
	*size = i ? sizeof(struct region_launch) : OWN;
	return CUDA_SUCCESS;
}

API CUresult cuKernelGetParamInfo(CUkernel k, size_t i, size_t *offset, size_t *size)
{
	return cuFuncGetParamInfo((CUfunction)(void *)k, i, offset, size);
}

/* ---- libraries: modules whose kernels belong to no context ------------------------------------ */

API CUresult cuLibraryLoadData(CUlibrary *lib, const void *code, CUjit_option *jit, void **jit_values,
			       unsigned int njit, CUlibraryOption *options, void **values,
			       unsigned int n)
{
	CUmodule m;
	CUresult r = cuModuleLoadData(&m, code);

	(void)jit, (void)jit_values, (void)njit, (void)options, (void)values, (void)n;
	*lib = (CUlibrary)(void *)m;
	return r;
}

API CUresult cuLibraryUnload(CUlibrary lib)
{
	return lib ? cuModuleUnload((CUmodule)(void *)lib) : CUDA_ERROR_INVALID_HANDLE;
}

API CUresult cuLibraryGetModule(CUmodule *module, CUlibrary lib)
{
	*module = (CUmodule)(void *)module_of(lib);
	return CUDA_SUCCESS;
}

API CUresult cuLibraryGetKernelCount(unsigned int *n, CUlibrary lib)
{
	return cuModuleGetFunctionCount(n, (CUmodule)(void *)lib);
}

API CUresult cuLibraryEnumerateKernels(CUkernel *k, unsigned int n, CUlibrary lib)
{
	struct module *m = module_of(lib);

	for (unsigned i = 0; i < n; i++)
		k[i] = (CUkernel)(void *)&m->kernels[i];
	return CUDA_SUCCESS;
}

API CUresult cuLibraryGetKernel(CUkernel *k, CUlibrary lib, const char *name)
{
	struct module *m = module_of(lib);
	CUfunction f;
	CUresult r = cuModuleGetFunction(&f, (CUmodule)(void *)lib, name);

	if (r == CUDA_SUCCESS)
		*k = (CUkernel)(void *)&m->kernels[fn_of(f) - m->fns];
	return r;
}

API CUresult cuKernelGetName(const char **name, CUkernel k)
{
	*name = fn_of(k)->k->name;
	return CUDA_SUCCESS;
}

API CUresult cuKernelGetFunction(CUfunction *f, CUkernel k)
{
	struct fn *fn = fn_of(k);

	if (!fake_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	*f = (CUfunction)(void *)&fn->module->fns[fn - fn->module->kernels];
	return CUDA_SUCCESS;
}

/* ---- launches ----------------------------------------------------------------------------------------------- */

static size_t bytes_of(const struct fn *f)
{
	return fake_logs(f) ? VALUES : OWN;
}

static bool from_buffer(const struct fn *f, void **extra, unsigned char value[ROOM])
{
	size_t size = 0;

	if (extra[0] != CU_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != CU_LAUNCH_PARAM_BUFFER_SIZE || extra[4] != CU_LAUNCH_PARAM_END)
		return false;
	memcpy(&size, extra[3], sizeof size);
	if (size != bytes_of(f))
		return false;
	memcpy(value, extra[1], size);
	return true;
}

bool fake_values(const struct fn *f, void **params, void **extra, unsigned char value[ROOM])
{
	memset(value, 0, ROOM);
	if (f->module->image == &fake_screen) {
		fake_screen_values(f, params, value);
		return true;
	}
	if (!params)
		return extra && from_buffer(f, extra, value);
	memcpy(value, params[0], OWN);
	if (fake_logs(f))
		memcpy(value + OWN, params[1], VALUES - OWN);
	return true;
}

API CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			    CUstream stream, void **params, void **extra)
{
	struct launch l = { .fn = fn_of(f), .ctx = fake_current(), .grid = { gx, gy, gz }, .block = { bx, by, bz } };

	(void)shared;
	fake_may_shut_down("launch");
	if (fake_state() != CUDA_SUCCESS)
		return fake_state();
	if (fake_fails("cuLaunchKernel"))
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (!gx || !bx || bx * by * bz > 1024 || !fake_values(l.fn, params, extra, l.value))
		return CUDA_ERROR_INVALID_VALUE;
	return fake_issue(fake_stream(stream), &l);
}

API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
			      c->sharedMemBytes, c->hStream, params, extra);
}

API CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
				       unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params)
{
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, NULL);
}

API CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned int n, unsigned int flags)
{
	CUresult r = CUDA_SUCCESS;

	(void)flags;
	for (const CUDA_LAUNCH_PARAMS *p = list; p < list + n && r == CUDA_SUCCESS; p++)
		r = cuLaunchKernel(p->function, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX, p->blockDimY, p->blockDimZ,
				   p->sharedMemBytes, p->hStream, p->kernelParams, NULL);
	return r;
}

/* ---- the linker ------------------------------------------------------------------------------------ */

/* It says what it is given; what is called "refused" it takes without probes alone. */
API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name, unsigned int n,
			      CUjit_option *options, void **values)
{
	const bool probes = memmem(data, bytes, "__gsan_probes", 13) != NULL;

	(void)state;
	(void)n;
	(void)options;
	(void)values;
	if (probes && !strcmp(name, "refused"))
		return CUDA_ERROR_INVALID_PTX;
	printf("linked %s, type %d, %s probes\n", name, (int)type, probes ? "with" : "without");
	return CUDA_SUCCESS;
}

API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *file, unsigned int n, CUjit_option *options,
			      void **values)
{
	(void)state;
	(void)n;
	(void)options;
	(void)values;
	printf("linked the file %s, type %d\n", file, (int)type);
	return CUDA_SUCCESS;
}
