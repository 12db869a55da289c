# SPDX-License-Identifier: Apache-2.0
#
# For try.sh and check.sh: installs the Debian packages that are missing, having
# said which.  Nothing is done where everything is there; on other systems the
# names are printed and left to the user.

# want PACKAGE COMMAND...: the package is needed unless the command succeeds
want()
{
	package=$1
	shift
	"$@" >/dev/null 2>&1 || missing="$missing $package"
}

# need_packages [test]: those of the build; with "test", those of the tests too
need_packages()
{
	missing=
	want gcc command -v gcc
	want g++ command -v g++
	want make command -v make
	want pkg-config command -v pkg-config
	want liblz4-dev pkg-config --exists liblz4
	want libzstd-dev pkg-config --exists libzstd
	if [ ! -f ptxparse/lex.c ] || [ ! -x configure ]; then
		want autoconf command -v autoconf
		want automake command -v automake
		want re2c command -v re2c
		want lemon command -v lemon
	fi
	if [ "$1" = test ]; then
		want libcmocka-dev pkg-config --exists cmocka
		want cmake command -v cmake
		want mandoc command -v mandoc
	fi
	[ -n "$missing" ] || return 0

	echo "These packages are missing:$missing"
	if ! command -v apt-get >/dev/null; then
		echo "Install them, or what they are called here, and start again." >&2
		return 1
	fi
	as_root=
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || {
			echo "Start again as root, or: apt-get install$missing" >&2
			return 1
		}
		as_root=sudo
	fi
	echo "Installing them: ${as_root:+$as_root }apt-get install$missing"
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null &&
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -q -y --no-install-recommends $missing >/dev/null || {
		echo "apt-get failed" >&2
		return 1
	}
}

need_nvcc()
{
	command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -n "$NVCC" ] || {
		echo "There is no nvcc in PATH nor in /usr/local/cuda: install NVIDIA's CUDA toolkit," >&2
		echo "or name it: NVCC=/where/it/is/bin/nvcc $0" >&2
		return 1
	}
}
