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
	$(RE2C) -W --no-debug-info --no-generation-date --no-version \
		-o $@.new $(top_srcdir)/ptxparse/lex.re && mv $@.new $@

# Lemon names its output after its input, and leaves gram.h alone if it would be
# the same.
ptxparse/gram.c: ptxparse/gram.y
	$(AM_V_GEN)$(MKDIR_P) ptxparse && \
	$(LEMON) -l -q -dptxparse $(top_srcdir)/ptxparse/gram.y
ptxparse/gram.h: ptxparse/gram.c
	@test -f $@ || { rm -f ptxparse/gram.c; $(MAKE) $(AM_MAKEFLAGS) ptxparse/gram.c; }
	@touch $@
