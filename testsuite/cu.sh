# SPDX-License-Identifier: Apache-2.0
#
# cu.sh FILE.cu: a CUDA source is a test of the folder that it lies in.
case $1 in
*/kernels/*) exec sh "$top_srcdir/testsuite/kernels.sh" "$1" ;;
*/gpu/*) exec sh "$top_srcdir/testsuite/gpu.sh" "$1" ;;
*)	exec sh "$top_srcdir/testsuite/corpus.sh" "$1" ;;
esac
