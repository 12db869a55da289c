# SPDX-License-Identifier: Apache-2.0
#
# cu.sh FILE.cu: a CUDA source is a test of the folder that it lies in.
# REPRODUCERS=N: one in N of them, by their names, as in ptx.sh.
[ "${REPRODUCERS:-1}" = 1 ] || [ $(($(basename "$1" | cksum | cut -d' ' -f1) % REPRODUCERS)) = 0 ] ||
	{ echo "SKIP: not one of those in $REPRODUCERS"; exit 77; }
case $1 in
*/kernels/*) exec sh "$top_srcdir/testsuite/kernels.sh" "$1" ;;
*/slice/*) exec sh "$top_srcdir/testsuite/slice.sh" "$1" ;;
*/programs/*) exec sh "$top_srcdir/testsuite/programs.sh" "$1" ;;
*/gpu/*) exec sh "$top_srcdir/testsuite/gpu.sh" "$1" ;;
*)	exec sh "$top_srcdir/testsuite/corpus.sh" "$1" ;;
esac
