# SPDX-License-Identifier: Apache-2.0
#
# The parser.  lex.c, gram.c and gram.h are made by re2c and lemon from a
# checkout, without date, version or line numbers; the tarball carries them.

noinst_LIBRARIES += ptxparse/libptxparse.a
ptxparse_libptxparse_a_SOURCES = \
	ptxparse/ptx.h ptxparse/parse.h ptxparse/kw.def ptxparse/inst.def \
	ptxparse/util.c ptxparse/diag.c ptxparse/table.c ptxparse/scope.c \
	ptxparse/expr.c ptxparse/build.c ptxparse/decl.c ptxparse/print.c \
	ptxparse/lex.c ptxparse/gram.c ptxparse/gram.h
EXTRA_DIST += ptxparse/lex.re ptxparse/gram.y
BUILT_SOURCES += ptxparse/lex.c ptxparse/gram.c ptxparse/gram.h
MAINTAINERCLEANFILES += ptxparse/lex.c ptxparse/gram.c ptxparse/gram.h

ptxparse/lex.c: ptxparse/lex.re
	$(AM_V_GEN)$(MKDIR_P) ptxparse && \
	$(RE2C) -W -b --no-debug-info --no-generation-date --no-version \
		-o $@.new $(top_srcdir)/ptxparse/lex.re && mv $@.new $@

# Lemon names its output after its input, and leaves gram.h alone if it would be
# the same.
ptxparse/gram.c: ptxparse/gram.y
	$(AM_V_GEN)$(MKDIR_P) ptxparse && \
	$(LEMON) -l -q -dptxparse $(top_srcdir)/ptxparse/gram.y
ptxparse/gram.h: ptxparse/gram.c
	@test -f $@ || { rm -f ptxparse/gram.c; $(MAKE) $(AM_MAKEFLAGS) ptxparse/gram.c; }
	@touch $@
# For who makes one target alone, before BUILT_SOURCES.
$(ptxparse_libptxparse_a_OBJECTS): ptxparse/gram.h

parse_tests = testsuite/err/run.sh testsuite/parse/run.sh testsuite/parse/newer.sh
dist_check_SCRIPTS += $(parse_tests)
TESTS += $(parse_tests)
EXTRA_DIST += \
	testsuite/err/declare.exp testsuite/err/declare.ptx \
	testsuite/err/duplicate.exp testsuite/err/duplicate.ptx \
	testsuite/err/empty.exp testsuite/err/empty.ptx \
	testsuite/err/header.exp testsuite/err/header.ptx \
	testsuite/err/headless.exp testsuite/err/headless.ptx \
	testsuite/err/lexical.exp testsuite/err/lexical.ptx \
	testsuite/err/many.exp testsuite/err/many.ptx \
	testsuite/err/nothing.exp testsuite/err/nothing.ptx \
	testsuite/err/notarget.exp testsuite/err/notarget.ptx \
	testsuite/err/noversion.exp testsuite/err/noversion.ptx \
	testsuite/err/outside.exp testsuite/err/outside.ptx \
	testsuite/err/syntax.exp testsuite/err/syntax.ptx \
	testsuite/err/undeclared.exp testsuite/err/undeclared.ptx \
	testsuite/err/unknown.exp testsuite/err/unknown.ptx \
	testsuite/parse/arith.ptx testsuite/parse/blackwell.ptx \
	testsuite/parse/control.ptx testsuite/parse/declare.ptx \
	testsuite/parse/lines.ptx testsuite/parse/matrix.ptx \
	testsuite/parse/memory.ptx testsuite/parse/old.ptx \
	testsuite/parse/odd.ptx testsuite/parse/operands.ptx \
	testsuite/parse/sampler.ptx testsuite/parse/sm103.ptx \
	testsuite/parse/sm120.ptx \
	testsuite/parse/texture.ptx \
	testsuite/parse/newer/alloc_exclusive.ptx testsuite/parse/newer/bulk_ignore_oob.ptx \
	testsuite/parse/newer/bulk_multicast_32b.ptx testsuite/parse/newer/bulk_relaxed.ptx \
	testsuite/parse/newer/bulk_report.ptx testsuite/parse/newer/bulk_weak.ptx testsuite/parse/newer/clmad.ptx \
	testsuite/parse/newer/commit_multicast_32b.ptx testsuite/parse/newer/commit_reads.ptx \
	testsuite/parse/newer/fabric_atom.ptx testsuite/parse/newer/fabric_copies.ptx \
	testsuite/parse/newer/fabric_fences.ptx testsuite/parse/newer/fabric_groups.ptx \
	testsuite/parse/newer/fabric_wait.ptx testsuite/parse/newer/fence_alias.ptx \
	testsuite/parse/newer/fence_proxy_alias.ptx testsuite/parse/newer/fence_reads.ptx \
	testsuite/parse/newer/floats.ptx testsuite/parse/newer/locality.ptx testsuite/parse/newer/mbarrier_layout.ptx \
	testsuite/parse/newer/mbarrier_multicast_32b.ptx testsuite/parse/newer/mbarrier_phase_type.ptx \
	testsuite/parse/newer/mmio.ptx testsuite/parse/newer/multimem_bulk.ptx \
	testsuite/parse/newer/multimem_bulk_mask.ptx testsuite/parse/newer/multimem_fp8.ptx \
	testsuite/parse/newer/multimem_red_async.ptx testsuite/parse/newer/multimem_reduce_bulk.ptx \
	testsuite/parse/newer/multimem_st_async.ptx testsuite/parse/newer/packed_bytes.ptx \
	testsuite/parse/newer/prefetch.ptx testsuite/parse/newer/reduce_bulk_relaxed.ptx \
	testsuite/parse/newer/sin_2pi.ptx testsuite/parse/newer/spcompress.ptx testsuite/parse/newer/st_async_b128.ptx \
	testsuite/parse/newer/tensor_override.ptx testsuite/parse/newer/tensormap_alloc.ptx \
	testsuite/parse/newer/tensormap_query.ptx testsuite/parse/newer/volatile_local.ptx \
	testsuite/parse/newer/wait_group_async.ptx

# What from_pypi (testsuite/lib.sh) keeps.
clean-local:
	rm -rf testsuite/pypi-*

if HAVE_CMOCKA
parse_unit = testsuite/unit/parse_lex testsuite/unit/parse_table testsuite/unit/parse_tree
check_PROGRAMS += $(parse_unit)
TESTS += $(parse_unit)
testsuite_unit_parse_lex_SOURCES = testsuite/unit/parse_lex.c
testsuite_unit_parse_lex_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_parse_lex_LDADD = ptxparse/libptxparse.a $(CMOCKA_LIBS)
testsuite_unit_parse_table_SOURCES = testsuite/unit/parse_table.c
testsuite_unit_parse_table_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_parse_table_LDADD = ptxparse/libptxparse.a $(CMOCKA_LIBS)
testsuite_unit_parse_tree_SOURCES = testsuite/unit/parse_tree.c
testsuite_unit_parse_tree_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
testsuite_unit_parse_tree_LDADD = ptxparse/libptxparse.a $(CMOCKA_LIBS)
endif
