# SPDX-License-Identifier: Apache-2.0
#
# gsan-run.  It is a sanitized program like any other: libgsan.a brings its own
# dlsym, which puts the runtime between gsan-run and the driver.

bin_PROGRAMS += gsan-run
gsan_run_SOURCES = \
	run/run.h run/check.c run/driver.c run/launch.c run/main.c run/proc.c run/script.c
gsan_run_CPPFLAGS = $(AM_CPPFLAGS) -DHAVE_CONFIG_H -DLIBEXECDIR='"$(pkglibexecdir)"'
gsan_run_LDADD = rewrite/librewrite.a ptxparse/libptxparse.a libgsan.a
