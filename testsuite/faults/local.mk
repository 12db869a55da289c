# SPDX-License-Identifier: Apache-2.0
#
# Faults: calls that fail because inject.so makes them, over the pretended driver
# of testsuite/rt; and what can happen to a device, on the emulated one.

check_DATA += testsuite/faults/inject.so
CLEANFILES += testsuite/faults/inject.so
EXTRA_DIST += testsuite/faults/inject.c testsuite/faults/kernels.ptx testsuite/faults/lib.sh

# Without sanitizers: the dynamic linker loads it before theirs.
testsuite/faults/inject.so: testsuite/faults/inject.c
	@$(MKDIR_P) testsuite/faults
	$(AM_V_CCLD)$(CC) -D_GNU_SOURCE -std=gnu11 -fPIC $(WARN_CFLAGS) $(CFLAGS) -shared \
		-fvisibility=hidden -o $@ $(top_srcdir)/testsuite/faults/inject.c

check_PROGRAMS += testsuite/faults/device testsuite/faults/device_plain
testsuite_faults_device_SOURCES = testsuite/faults/device.c
testsuite_faults_device_LDFLAGS = $(AM_LDFLAGS) -Wl,-u,__gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan
testsuite_faults_device_LDADD = libgsan.a emu/libcuda.so.1
testsuite_faults_device_plain_SOURCES = testsuite/faults/device.c
testsuite_faults_device_plain_LDADD = emu/libcuda.so.1

faults_tests = testsuite/faults/driver.sh testsuite/faults/malloc.sh testsuite/faults/managed.sh testsuite/faults/log.sh \
	testsuite/faults/emulated.sh
TESTS += $(faults_tests)
dist_check_SCRIPTS += $(faults_tests)
