# SPDX-License-Identifier: Apache-2.0
#
# logs.sh LIST: judges the logs that the list names (judge.c), which speaks TAP.  The list is made
# by the Makefile (local.mk).
list=$PWD/${1:?a list of logs}
[ -s "$list" ] || { echo "Bail out! $list names no logs"; exit 1; }
cd "${top_srcdir:?run by make check, or set top_srcdir and top_builddir}" || exit 1
exec "${top_builddir:?}/testsuite/detect/judge" $(cat "$list")
