/* SPDX-License-Identifier: Apache-2.0
 *
 * cudart.h: the CUDA runtime of the emulated device, from inside.  NVIDIA's runtime works
 * with NVIDIA's driver alone; this one has the same entry points over the documented
 * driver API, for programs that were built for CUDA 11.8, 12 or 13.  It is a libcudart.so
 * of each of those versions, and a library that is preloaded into programs which have
 * NVIDIA's linked in (place.c).
 *
 * An error is a CUresult or a number of the runtime's own; those that both have are the
 * same.  Every function returns its error and notes it for cudaGetLastError.
 */
#ifndef CUDART_CUDART_H
#define CUDART_CUDART_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- core.c */

struct crt_driver {
#define D(name) __typeof__(name) *name;
#include "cudart/driver.def"
};

extern struct crt_driver crt_driver;
#define DRV(name) crt_driver.name

/* version.c: the version that the program was built for: 11080, 12040, ... */
extern int crt_version;

/* Notes an error, if it is one, and gives it back. */
cudaError_t crt_note(cudaError_t);
static inline cudaError_t crt_result(CUresult r)
{
	return crt_note((cudaError_t)r);
}
/* The driver is there. */
cudaError_t crt_begin(void);
/* And the calling thread has a context: that of device 0, unless the program made one. */
cudaError_t crt_begin_context(void);
void crt_forget_context(void);
/* Something that the runtime does not do: said in words, once in a row; cudaErrorNotSupported. */
cudaError_t crt_refuse(const char *what);

/* Calls of the driver, in a context. */
#define CALL(...) \
	do { \
		cudaError_t call_error = crt_begin_context(); \
		return call_error != cudaSuccess ? call_error : crt_result(__VA_ARGS__); \
	} while (0)
/* Goes on only in a context. */
#define ENTER() \
	do { \
		cudaError_t enter_error = crt_begin_context(); \
		if (enter_error != cudaSuccess) \
			return enter_error; \
	} while (0)

/* A function with a stream comes twice: where a program was built so that each thread has
 * its own default stream, the second is called (cuda_runtime_api.h, __CUDART_API_PTSZ).
 * `params` has a `stream`; `body` is all of the function, which uses it. */
#define WITH_STREAM(name, suffix, params, args, ...) \
	static cudaError_t name##_in params __VA_ARGS__ \
	cudaError_t name params; \
	cudaError_t name##suffix params; \
	cudaError_t name params { return name##_in args; } \
	cudaError_t name##suffix params \
	{ \
		stream = stream ? stream : cudaStreamPerThread; \
		return name##_in args; \
	}

/* A function whose arguments are others in one version of CUDA than in another: it has a name of
 * ours, is exported under theirs, and looks at crt_version. */
#define AS(id, name, params) cudaError_t id params __asm__(name); cudaError_t id params

/* ---- register.c */

/* The driver's function of a kernel that is named by the address of its stub or its cudaKernel_t,
 * in a context, and with its module loaded. */
cudaError_t crt_func_get(const void *, CUfunction *);
/* What a program calls that function: the address of its stub. */
const void *crt_func_name(CUfunction);
cudaError_t crt_var_get(const void *symbol, CUdeviceptr *, size_t *bytes);
/* Contexts are gone, and all modules with them. */
void crt_register_reset(void);
/* Tells the driver, before it starts, what will be loaded. */
void crt_register_expect(void *driver);

/* ---- memory.c */

/* A copy as the driver describes it, in a context. */
cudaError_t crt_copy_3d(const struct cudaMemcpy3DParms *, CUDA_MEMCPY3D *);
/* Where so many bytes of a variable lie, from an offset in it on. */
cudaError_t crt_var_part(const void *symbol, size_t bytes, size_t offset, CUdeviceptr *);

#endif
