# SPDX-License-Identifier: Apache-2.0
#
# What a reproducer's probes log, without libgsan (ptx.sh has the verdict of that): nothing is left out of the log, the
# detector has to give the expected verdict of it, and no other one of a log of which a part is lost.  One in PROBES (4)
# of them, by their names.
. "$top_srcdir/testsuite/lib.sh"
takes_long

export top_builddir
judge_some "${PROBES:-4}" 0 $((900 / ${PROBES:-4})) --events=probes --cuts=3
echo "$judged judged"
done_testing
