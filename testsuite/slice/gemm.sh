# SPDX-License-Identifier: Apache-2.0
#
# gemm.sh: testsuite/kernels/gemm.cu by probes.
exec sh "$top_srcdir/testsuite/slice.sh" "$top_srcdir/testsuite/kernels/gemm.cu"
