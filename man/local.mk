# SPDX-License-Identifier: Apache-2.0
#
# Manual pages, and the test that they name every option there is.

dist_man_MANS += man/gsan-check.1 man/gsan-log.5 man/gsan-nvcc.1 man/gsan-ptx.1 man/gsan-run.1 man/gsan.7
TESTS += testsuite/man.sh
dist_check_SCRIPTS += testsuite/man.sh
