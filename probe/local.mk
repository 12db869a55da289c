# SPDX-License-Identifier: Apache-2.0
#
# What is put into a kernel, so that it logs; so far what its instructions are.

noinst_LIBRARIES += probe/libprobe.a
probe_libprobe_a_SOURCES = probe/site.c probe/site.h
