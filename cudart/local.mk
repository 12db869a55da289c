# SPDX-License-Identifier: Apache-2.0
#
# The CUDA runtime of the emulated device, beside it: a libcudart.so for programs of each
# version of CUDA that have it as a library, and one that is preloaded into programs that
# have NVIDIA's linked in.  They differ in their names and in what version.c says.

noinst_LIBRARIES += cudart/libcudart.a
cudart_libcudart_a_SOURCES = cudart/cudart.h cudart/driver.def cudart/errors.def cudart/props.def \
	cudart/refused.def cudart/core.c cudart/register.c cudart/launch.c cudart/device.c cudart/memory.c \
	cudart/stream.c cudart/graph.c cudart/refused.c
EXTRA_DIST += cudart/version.c cudart/place.c cudart/cudart.map

emulatedlib_DATA += emu/libcudart.so.11.0 emu/libcudart.so.12 emu/libcudart.so.13 emu/libgsan-cudart.so
CLEANFILES += emu/libcudart.so.* emu/libgsan-cudart.so cudart/*.map.tmp

CUDART_LINK = $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) \
	$(AM_LDFLAGS) $(LDFLAGS) -shared -Wl,-Bsymbolic
CUDART_PARTS = -Wl,--whole-archive cudart/libcudart.a -Wl,--no-whole-archive -lpthread -ldl
CUDART_DEPS = cudart/libcudart.a cudart/version.c cudart/cudart.map

# the name of its symbols' version is the file's
cudart_version = $(AM_V_CCLD)sed 's/VERSION/$(@F)/' $(top_srcdir)/cudart/cudart.map >cudart/$(@F).map.tmp && \
	$(CUDART_LINK) -Wl,-soname,$(@F) -Wl,--version-script=cudart/$(@F).map.tmp -o $@ \
	$(top_srcdir)/cudart/version.c $(CUDART_PARTS)

emu/libcudart.so.11.0: $(CUDART_DEPS)
	$(cudart_version) -DCRT_VERSION=11080
emu/libcudart.so.12: $(CUDART_DEPS)
	$(cudart_version) -DCRT_VERSION=12090
emu/libcudart.so.13: $(CUDART_DEPS)
	$(cudart_version) -DCRT_VERSION=13000
emu/libgsan-cudart.so: $(CUDART_DEPS) cudart/place.c
	$(AM_V_CCLD)sed 's/^VERSION//' $(top_srcdir)/cudart/cudart.map >cudart/$(@F).map.tmp && \
	$(CUDART_LINK) -Wl,-soname,$(@F) -Wl,--version-script=cudart/$(@F).map.tmp -o $@ \
	$(top_srcdir)/cudart/version.c $(top_srcdir)/cudart/place.c $(CUDART_PARTS) -DCRT_VERSION=13000
