/* SPDX-License-Identifier: Apache-2.0
 *
 * rescuer.c: the program that reads memory of logs for a process whose contexts have ended (rescue.h).  It is in libgsan, as
 * a file in memory: a libgsan that is linked into a program has no folder of its own.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rt/rescue.h"

static struct {
	__typeof__(cuInit) *init;
	__typeof__(cuDevicePrimaryCtxRetain) *retain;
	__typeof__(cuCtxSetCurrent) *set_current;
	__typeof__(cuMemImportFromShareableHandle) *import;
	__typeof__(cuMemAddressReserve) *reserve;
	__typeof__(cuMemAddressFree) *address_free;
	__typeof__(cuMemMap) *map;
	__typeof__(cuMemUnmap) *unmap;
	__typeof__(cuMemRelease) *release;
	__typeof__(cuMemSetAccess) *set_access;
	__typeof__(cuMemcpyDtoH) *copy;
} drv;

static const struct { void *to; const char *name; } functions[] = {
	{&drv.init, "cuInit"}, {&drv.retain, "cuDevicePrimaryCtxRetain"}, {&drv.set_current, "cuCtxSetCurrent"},
	{&drv.import, "cuMemImportFromShareableHandle"}, {&drv.reserve, "cuMemAddressReserve"}, {&drv.address_free, "cuMemAddressFree"},
	{&drv.map, "cuMemMap"}, {&drv.unmap, "cuMemUnmap"}, {&drv.release, "cuMemRelease"}, {&drv.set_access, "cuMemSetAccess"},
	{&drv.copy, "cuMemcpyDtoH_v2"}
};

/* What was asked for last; fd: -1: nothing yet. */
static struct { int fd; uint64_t bytes; CUdeviceptr at; CUmemGenericAllocationHandle handle; } memory = {.fd = -1};

static bool load(const char *file)
{
	void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; lib && i < sizeof functions / sizeof *functions; i++) {
		void *p = dlsym(lib, functions[i].name);

		if (!p)
			return false;
		memcpy(functions[i].to, &p, sizeof p);
	}
	return lib;
}

static CUresult start(CUdevice device)
{
	CUcontext ctx;
	CUresult r = drv.init(0);

	r = r ? r : drv.retain(&ctx, device);
	return r ? r : drv.set_current(ctx);
}

static void forget(void)
{
	if (memory.fd < 0)
		return;
	drv.unmap(memory.at, memory.bytes);
	drv.address_free(memory.at, memory.bytes);
	drv.release(memory.handle);
	memory.fd = -1;
}

static CUresult show(CUdevice device, int fd, uint64_t bytes)
{
	const CUmemAccessDesc access = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE
	};
	CUresult r;

	if (memory.fd == fd)
		return CUDA_SUCCESS;
	forget();
	r = drv.import(&memory.handle, (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	r = r ? r : drv.reserve(&memory.at, bytes, 0, 0, 0);
	r = r ? r : drv.map(memory.at, bytes, 0, memory.handle, 0);
	r = r ? r : drv.set_access(memory.at, bytes, &access, 1);
	if (r == CUDA_SUCCESS) {
		memory.fd = fd;
		memory.bytes = bytes;
	}
	return r;
}

static bool put(const void *from, size_t n)
{
	const char *p = from;

	while (n) {
		const ssize_t k = send(RESCUE_SOCKET, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

int main(int argc, char **argv)
{
	const CUdevice device = argc == 3 ? atoi(argv[2]) : 0;
	struct rescue_ask ask;
	void *copy = malloc(RESCUE_BYTES);
	const CUresult started = argc == 3 && copy && load(argv[1]) ? start(device) : CUDA_ERROR_NOT_INITIALIZED;

	while (recv(RESCUE_SOCKET, &ask, sizeof ask, MSG_WAITALL) == sizeof ask) {
		CUresult r = started ? started : show(device, ask.memory, ask.all);
		const int32_t answer = r ? r : ask.bytes > RESCUE_BYTES ? CUDA_ERROR_INVALID_VALUE : drv.copy(copy, memory.at + ask.at, ask.bytes);

		if (!put(&answer, sizeof answer) || (!answer && !put(copy, ask.bytes)))
			break;
	}
	return started != CUDA_SUCCESS;
}
