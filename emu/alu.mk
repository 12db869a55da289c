# SPDX-License-Identifier: Apache-2.0
#
# Arithmetic of the emulated device.  The floating-point sources count on
# -frounding-math (EMU_ALU_CFLAGS).
EMU_ALU_CFLAGS = -frounding-math -fno-fast-math -ffp-contract=off
EMU_ALU_SOURCES = emu/alu.h emu/alu_impl.h emu/half.h emu/alu.c \
	emu/alu_approx.c emu/alu_bits.c emu/alu_carry.c emu/alu_cmp.c \
	emu/alu_cvt.c emu/alu_float.c emu/alu_half.c emu/alu_int.c \
	emu/alu_logic.c emu/alu_pack.c emu/alu_video.c emu/half.c emu/mma.h emu/mma.c
