#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh checkout to a race report: installs what the build needs (saying
# so first), builds in build/, and runs two examples with a race, on the GPU or on
# the emulated device where there is none: a CUDA program, and PTX.
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

# races COMMAND...: shown as it is typed; must report a race
races()
{
	echo "\$ $*"
	"$@"
	status=$?
	[ $status = 66 ] || {
		echo "it ended with $status instead of 66: the race was not reported" >&2
		exit 1
	}
}

# Where there is a GPU: machine code for it, or its driver would have to assemble.
arch=
[ ! -c /dev/nvidia0 ] || arch=-arch=native
echo
echo "\$ build/gsan-nvcc -lineinfo${arch:+ $arch} examples/reverse.cu -o build/reverse"
build/gsan-nvcc -lineinfo $arch examples/reverse.cu -o build/reverse || exit 1
races build/gsan-run -- build/reverse
echo
races build/gsan-run examples/persistent_tma_nofence.ptx
