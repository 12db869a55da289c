# SPDX-License-Identifier: Apache-2.0
#
# gsan-nvcc and gsan-ptxas, and the header that gsan-nvcc puts in front of
# every file; a copy beside the programs serves the build tree.

noinst_LIBRARIES += nvcc-shim/libshim.a
nvcc_shim_libshim_a_SOURCES = nvcc-shim/args.c nvcc-shim/opts.def \
	nvcc-shim/plan.c nvcc-shim/run.c nvcc-shim/shim.h
nvcc_shim_libshim_a_CPPFLAGS = $(AM_CPPFLAGS) -DNVCC='"$(NVCC)"' \
	-DPTXAS='"$(PTXAS)"' -DBINDIR='"$(bindir)"' -DPKGLIBDIR='"$(pkglibdir)"' \
	-DLIBDIR='"$(libdir)"' \
	-DPKGDATADIR='"$(pkgdatadir)"'

bin_PROGRAMS += gsan-nvcc gsan-ptxas
gsan_nvcc_SOURCES = nvcc-shim/main.c
gsan_nvcc_CPPFLAGS = $(nvcc_shim_libshim_a_CPPFLAGS)
gsan_nvcc_LDADD = nvcc-shim/libshim.a
gsan_ptxas_SOURCES = nvcc-shim/ptxas.c
gsan_ptxas_CPPFLAGS = $(nvcc_shim_libshim_a_CPPFLAGS)
gsan_ptxas_LDADD = nvcc-shim/libshim.a

EXTRA_DIST += nvcc-shim/link.h
nodist_pkgdata_DATA = gsan-link.h
CLEANFILES += gsan-link.h
gsan-link.h: $(top_srcdir)/nvcc-shim/link.h
	$(AM_V_GEN)cp $(top_srcdir)/nvcc-shim/link.h $@

# The archive by itself, for -L and -lgsan: beside libgsan.so the linker would
# take that one, and the program would need it to run.
gsanarchivedir = $(pkglibdir)
gsanarchive_DATA = gsan-lib/libgsan.a gsan-lib/gsan-hide.o
CLEANFILES += gsan-lib/libgsan.a gsan-lib/gsan-hide.o
gsan-lib/libgsan.a: libgsan.a
	$(AM_V_GEN)$(MKDIR_P) gsan-lib && cp libgsan.a $@

# What a shared library is linked with as well: it keeps the hooks to itself.
EXTRA_DIST += rt/hide.c
gsan-lib/gsan-hide.o: $(top_srcdir)/rt/hide.c $(top_srcdir)/rt/drv.def $(top_srcdir)/rt/between.def
	$(AM_V_CC)$(MKDIR_P) gsan-lib && $(CC) $(AM_CPPFLAGS) $(CPPFLAGS) -fPIC -c -o $@ $(top_srcdir)/rt/hide.c
