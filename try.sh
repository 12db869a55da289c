#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh checkout to a race report: installs what the build needs (saying
# so first), builds in build/, and runs an example with a race, on the GPU or on
# the emulated device where there is none.
cd "$(dirname "$0")" || exit 1
. testsuite/packages.sh
need_packages && need_nvcc || exit 1

# step TEXT COMMAND...: quietly, unless it fails
step()
{
	echo "$1"
	shift
	"$@" >build/try.log 2>&1 || {
		tail -n 40 build/try.log
		echo "failed: $*; the whole of it is in build/try.log" >&2
		exit 1
	}
}

mkdir -p build
[ -x configure ] || step "Making configure ..." ./autogen.sh
[ -f build/Makefile ] || step "Configuring ..." sh -c 'cd build && ../configure'
step "Building in build/ (a minute or two) ..." make -C build -j"$(nproc)"

echo
echo "\$ build/gsan-run examples/persistent_tma_nofence.ptx"
build/gsan-run examples/persistent_tma_nofence.ptx
status=$?
[ $status = 66 ] && exit 0
echo "gsan-run ended with $status instead of 66: the race was not reported" >&2
exit 1
