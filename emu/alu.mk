# SPDX-License-Identifier: Apache-2.0
#
# Arithmetic of the emulated device, and its unit tests.  The floating-point
# sources count on -frounding-math.
EMU_ALU_CFLAGS = -frounding-math -fno-fast-math -ffp-contract=off
EMU_ALU_SOURCES = emu/alu.h emu/alu_impl.h emu/half.h emu/alu.c \
	emu/alu_approx.c emu/alu_bits.c emu/alu_carry.c emu/alu_cmp.c \
	emu/alu_cvt.c emu/alu_float.c emu/alu_half.c emu/alu_int.c \
	emu/alu_logic.c emu/alu_pack.c emu/alu_video.c emu/half.c \
	emu/mma.h emu/mma.c

noinst_LIBRARIES += emu/libalu.a
emu_libalu_a_SOURCES = $(EMU_ALU_SOURCES)
emu_libalu_a_CFLAGS = $(AM_CFLAGS) $(EMU_ALU_CFLAGS)

if HAVE_CMOCKA
emu_alu_unit = testsuite/unit/alu_int testsuite/unit/alu_float testsuite/unit/alu_cvt \
	testsuite/unit/alu_video testsuite/unit/mma_frag
emu_alu_unit_libs = emu/libalu.a ptxparse/libptxparse.a $(CMOCKA_LIBS) -lm
emu_alu_unit_cflags = $(AM_CFLAGS) $(EMU_ALU_CFLAGS) $(CMOCKA_CFLAGS)
check_PROGRAMS += $(emu_alu_unit)
TESTS += $(emu_alu_unit)
testsuite_unit_alu_int_SOURCES = testsuite/unit/alu_int.c testsuite/unit/alu_test.h
testsuite_unit_alu_int_CFLAGS = $(emu_alu_unit_cflags)
testsuite_unit_alu_int_LDADD = $(emu_alu_unit_libs)
testsuite_unit_alu_float_SOURCES = testsuite/unit/alu_float.c testsuite/unit/alu_test.h
testsuite_unit_alu_float_CFLAGS = $(emu_alu_unit_cflags)
testsuite_unit_alu_float_LDADD = $(emu_alu_unit_libs)
testsuite_unit_alu_cvt_SOURCES = testsuite/unit/alu_cvt.c testsuite/unit/alu_test.h
testsuite_unit_alu_cvt_CFLAGS = $(emu_alu_unit_cflags)
testsuite_unit_alu_cvt_LDADD = $(emu_alu_unit_libs)
testsuite_unit_alu_video_SOURCES = testsuite/unit/alu_video.c testsuite/unit/alu_test.h
testsuite_unit_alu_video_CFLAGS = $(emu_alu_unit_cflags)
testsuite_unit_alu_video_LDADD = $(emu_alu_unit_libs)
testsuite_unit_mma_frag_SOURCES = testsuite/unit/mma_frag.c testsuite/unit/alu_test.h
testsuite_unit_mma_frag_CFLAGS = $(emu_alu_unit_cflags)
testsuite_unit_mma_frag_LDADD = $(emu_alu_unit_libs)
endif
