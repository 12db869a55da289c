/* SPDX-License-Identifier: Apache-2.0
 *
 * device.c: the device, of which there is one, its properties and limits.
 */
#include "cudart/cudart.h"

#include <stdint.h>
#include <string.h>

static cudaError_t check(int device)
{
	cudaError_t e = crt_begin();

	return e != cudaSuccess ? e : crt_note(device ? cudaErrorInvalidDevice : cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int *n)
{
	cudaError_t e = crt_begin();

	return e != cudaSuccess ? e : crt_result(DRV(cuDeviceGetCount)(n));
}

cudaError_t cudaGetDevice(int *device)
{
	cudaError_t e = crt_begin();

	if (e != cudaSuccess || !device)
		return crt_note(device ? e : cudaErrorInvalidValue);
	*device = 0;
	return cudaSuccess;
}

/* From CUDA 12 on it makes the context. */
cudaError_t cudaSetDevice(int device)
{
	cudaError_t e = check(device);

	return e != cudaSuccess || crt_version < 12000 ? e : crt_begin_context();
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
	cudaError_t e = check(device);

	if (e == cudaSuccess && flags & ~(unsigned)cudaInitDeviceFlagsAreValid)
		e = crt_note(cudaErrorInvalidValue);
	if (e == cudaSuccess && flags)
		e = cudaSetDeviceFlags(device_flags);
	return e != cudaSuccess ? e : crt_begin_context();
}

cudaError_t cudaSetValidDevices(int *devices, int n)
{
	for (int i = 0; i < n; i++)
		if (devices[i])
			return crt_note(cudaErrorInvalidDevice);
	return crt_begin();
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *want)
{
	(void)want;
	return cudaGetDevice(device);
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	cudaError_t e = crt_begin();

	return e != cudaSuccess ? e : crt_result(DRV(cuDevicePrimaryCtxSetFlags)(0, flags));
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	int active;

	CALL(DRV(cuDevicePrimaryCtxGetState)(0, flags, &active));
}

cudaError_t cudaDeviceReset(void)
{
	cudaError_t e = crt_begin();

	if (e != cudaSuccess)
		return e;
	e = crt_result(DRV(cuDevicePrimaryCtxReset)(0));
	DRV(cuCtxSetCurrent)(NULL);
	crt_register_reset();
	crt_forget_context();
	return e;
}

cudaError_t cudaDeviceSynchronize(void)
{
	CALL(DRV(cuCtxSynchronize)());
}

/* ---- properties ------------------------------------------------------------------------ */

/* Where CUDA 11.8 and 12 have a field, and where 13 has it; -1: it has none.  The structure
 * of 11.8 is the beginning of that of 12. */
static const struct { CUdevice_attribute a; int at12, at13; bool wide; } fields[] = {
#define F(name, a, at12, at13, wide) { a, at12, at13, wide },
#include "cudart/props.def"
};

/* The structure's size in CUDA 11.8 and in 12. */
#define BYTES_11 728
#define BYTES_12 1032

#define F(name, a, in12, in13, is_wide) \
	_Static_assert(in13 < 0 || (offsetof(struct cudaDeviceProp, name) == (in13) && \
		       sizeof ((struct cudaDeviceProp *)0)->name >= (is_wide ? 8 : 4)), #name);
#define G(name, a, in12, in13, is_wide)         /* CUDA 13 has none */
#include "cudart/props.def"

static void put(uint8_t *to, int at, size_t bytes, uint64_t value, bool wide)
{
	size_t n = wide ? sizeof(uint64_t) : sizeof(int);
	int narrow = (int)value;

	if (at >= 0 && (size_t)at + n <= bytes)
		memcpy(to + at, wide ? (void *)&value : (void *)&narrow, n);
}

static cudaError_t properties(void *out, int device, int layout)
{
	const size_t bytes = layout == 11 ? BYTES_11 : layout == 12 ? BYTES_12 : sizeof(struct cudaDeviceProp);
	cudaError_t e = check(device);
	size_t total = 0;
	CUuuid uuid;

	if (e != cudaSuccess)
		return e;
	if (!out)
		return crt_note(cudaErrorInvalidValue);
	memset(out, 0, bytes);
	DRV(cuDeviceGetName)(out, sizeof ((struct cudaDeviceProp *)0)->name, 0);
	if (DRV(cuDeviceGetUuid)(&uuid, 0) == CUDA_SUCCESS)
		memcpy((uint8_t *)out + offsetof(struct cudaDeviceProp, uuid), &uuid, sizeof uuid);
	DRV(cuDeviceTotalMem)(&total, 0);
	put(out, (int)offsetof(struct cudaDeviceProp, totalGlobalMem), bytes, total, true);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		int v = 0;

		DRV(cuDeviceGetAttribute)(&v, fields[i].a, 0);
		put(out, layout < 13 ? fields[i].at12 : fields[i].at13, bytes, (uint64_t)v, fields[i].wide);
	}
	return cudaSuccess;
}

/* Programs that were built for CUDA 12 call it under the other name. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device)
{
	return properties(out, device, crt_version >= 13000 ? 13 : 11);
}

cudaError_t cudaGetDeviceProperties_v2(void *, int);
cudaError_t cudaGetDeviceProperties_v2(void *out, int device)
{
	return properties(out, device, 12);
}

/* The attributes have the driver's numbers. */
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr a, int device)
{
	cudaError_t e = check(device);

	return e != cudaSuccess ? e : crt_result(DRV(cuDeviceGetAttribute)(value, (CUdevice_attribute)a, 0));
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int len, int device)
{
	cudaError_t e = check(device);

	return e != cudaSuccess ? e : crt_result(DRV(cuDeviceGetPCIBusId)(id, len, 0));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
	cudaError_t e = crt_begin();

	return e != cudaSuccess ? e : crt_result(DRV(cuDeviceGetByPCIBusId)(device, id));
}

/* ---- other devices: there are none ------------------------------------------------------- */

cudaError_t cudaDeviceCanAccessPeer(int *can, int a, int b)
{
	cudaError_t e = check(a | b);

	if (e == cudaSuccess)
		*can = 0;
	return e;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	(void)peer;
	(void)flags;
	return crt_note(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	(void)peer;
	return crt_note(cudaErrorInvalidDevice);
}

/* ---- limits, and hints without effect ------------------------------------------------------ */

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	CALL(DRV(cuCtxSetLimit)((CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	CALL(DRV(cuCtxGetLimit)(value, (CUlimit)limit));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	CALL(DRV(cuCtxGetStreamPriorityRange)(least, greatest));
}

static enum cudaFuncCache cache;
static enum cudaSharedMemConfig banks = cudaSharedMemBankSizeFourByte;

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	cache = config;
	return crt_begin_context();
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	*config = cache;
	return crt_begin_context();
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig);
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
	banks = config;
	return crt_begin_context();
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *);
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
	*config = banks;
	return crt_begin_context();
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
	return crt_begin_context();
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
	return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* ---- what CUDA 11 still had under older names ------------------------------------------------ */

cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}

cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadExit(void)
{
	return cudaDeviceReset();
}
