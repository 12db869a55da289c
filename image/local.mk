# SPDX-License-Identifier: Apache-2.0
#
# gsan-image, which libgsan runs for what a program loads under gsan-run; no command for users.

gsanhelperdir = $(pkglibdir)
gsanhelper_PROGRAMS = gsan-image
gsan_image_SOURCES = image/main.c emu/fatbin.c emu/fatbin.h rt/entry.h
gsan_image_CFLAGS = $(AM_CFLAGS) $(UNPACK_CFLAGS)
gsan_image_LDADD = rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a $(UNPACK_LIBS)
