# SPDX-License-Identifier: Apache-2.0
#
# gsan-image, which libgsan runs for what a program loads under gsan-run; no command for users.

gsanhelperdir = $(pkglibdir)
gsanhelper_PROGRAMS = gsan-image
gsan_image_SOURCES = image/main.c emu/fatbin.c emu/fatbin.h rt/entry.h
gsan_image_CFLAGS = $(AM_CFLAGS) $(UNPACK_CFLAGS)
gsan_image_LDADD = rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a $(UNPACK_LIBS)

image_tests = testsuite/image/cache.sh testsuite/image/driver.sh testsuite/image/link.sh testsuite/image/jitlink.sh testsuite/image/nvrtc.sh \
	testsuite/image/programs.sh
dist_check_SCRIPTS += $(image_tests)
TESTS += $(image_tests)
EXTRA_DIST += testsuite/image/lib.sh testsuite/image/driver.c testsuite/image/link.c testsuite/image/jitlink.c testsuite/image/turn.h testsuite/image/nvrtc.c
