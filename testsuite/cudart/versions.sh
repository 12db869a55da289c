# SPDX-License-Identifier: Apache-2.0
#
# Programs of CUDA 11.8, 12 and 13 on the emulated device: with NVIDIA's headers and libraries
# of each version, as they come from PyPI (and of the toolkit that is here), once with the
# runtime as a library that is found where gsan-run looks first, once where the program looks
# first (an RPATH), and linked in where there is an archive: into the program, and into libraries
# that it loads.
. "${top_srcdir:?set top_srcdir and top_builddir}/testsuite/lib.sh"
takes_long
here=$top_srcdir/testsuite/cudart
: "${PYTHON:=python3}"

# As nvcc 12 and older compress PTX, as 13 does, and not at all: one for each version.
for mode in speed size none; do
	"$NVCC" -fatbin --compress-mode=$mode -gencode arch=compute_80,code=compute_80 \
		-o kernel.$mode.fatbin "$here/kernel.cu" || hard "nvcc refuses the kernel"
	{
		echo 'static const unsigned char fatbin[] __attribute__((aligned(8))) = {'
		od -An -v -tx1 kernel.$mode.fatbin | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
		echo '};'
	} >kernel.$mode.inc
done

# check NAME MODE INCLUDE LIBRARY [RPATH]: builds and runs it
check()
{
	name=$1 mode=$2 include=$3 library=$4
	mkdir -p "$name"
	cp kernel.$mode.inc "$name/kernel.inc"
	$CC -O1 -Wno-deprecated-declarations -I"$name" -I"$include" "$here/versions.c" -o "$name/program" "$library" \
		${5:+-Wl,--disable-new-dtags,-rpath,"$5"} -ldl -lrt -lpthread -lstdc++ >log 2>&1 || {
		cat log
		fail "$name: $CC refuses it"
		return
	}
	says_ok "$name/program"
}

# says_ok PROGRAM [ARGUMENT...]: on the emulated device
says_ok()
{
	run 0 timeout 60 "$top_builddir/gsan-run" --device=emu -- "$@" || return
	[ "$(sort -u out)" = ok ] || fail "$*: $(cat out)"
	hasnt err 'misread'
	echo "$*: $(cat out)"
}

# Loads libraries one after the other and calls the main function of each; with "close" the first is unloaded, and loaded again.
cat >load.c <<'EOF'
#include <dlfcn.h>
#include <string.h>
static int start(const char *file, int closes)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL), *p = library ? dlsym(library, "start") : NULL;
	int (*fn)(void), r;

	if (!p)
		return 1;
	memcpy(&fn, &p, sizeof p);
	r = fn();
	return r || (closes && dlclose(library));
}
int main(int argc, char **argv)
{
	int r = start(argv[1], argc == 2) || (argc == 2 && start(argv[1], 0));

	for (int i = 2; i < argc && !r; i++)
		r = start(argv[i], 0);
	return r;
}
EOF
$CC load.c -o load -ldl || hard "load.c"

# loaded NAME MODE INCLUDE ARCHIVE: libraries that have it in them
loaded()
{
	mkdir -p "$1"
	cp "kernel.$2.inc" "$1/kernel.inc"
	$CC -O1 -Wno-deprecated-declarations -Dmain=start -fPIC -shared -I"$1" -I"$3" "$here/versions.c" -o "$1/one.so" "$4" \
		-Wl,--exclude-libs,ALL -ldl -lrt -lpthread -lstdc++ >log 2>&1 || {
		cat log
		fail "$1: $CC refuses it"
		return
	}
	cp "$1/one.so" "$1/two.so"
	says_ok ./load "$1/one.so" "$1/two.so"
	says_ok ./load "$1/one.so"
}

names()
{
	nm -D --defined-only "$1" | sed 's/.* //; s/@.*//' | grep -E '^(__)?cuda' | sort -u
}

# has_names LIBRARY: the emulated device's of that name has all that NVIDIA's has
has_names()
{
	names "$1" >theirs
	names "$top_builddir/emu/${1##*/}" >ours
	[ -s theirs ] || fail "$1: no names"
	missing=$(comm -23 theirs ours)
	[ -z "$missing" ] || fail "${1##*/} lacks:" $missing
}

# all NAME MODE INCLUDE LIBRARIES: in each of the ways
all()
{
	for lib in "$4"/libcudart.so.[0-9]*; do
		case ${lib##*/} in
		*.so.11.0|*.so.1[0-9]) ;;
		*) continue ;;
		esac
		has_names "$lib"
		check "$1-library" "$2" "$3" "$lib"
		check "$1-rpath" "$2" "$3" "$lib" "$4"
	done
	[ ! -f "$4/libcudart_static.a" ] || {
		check "$1-static" "$2" "$3" "$4/libcudart_static.a"
		loaded "$1-loaded" "$2" "$3" "$4/libcudart_static.a"
	}
}

all here size "$CUDA_HOME/include" "$CUDA_HOME/lib64"

# Without gsan-run, where the library is found.
run 0 env LD_LIBRARY_PATH="$top_builddir/emu" here-library/program && [ "$(cat out)" = ok ] ||
	fail "by LD_LIBRARY_PATH alone: $(cat out)"

# A runtime whose symbols are gone cannot be replaced: that is said.
strip -o stripped here-static/program 2>/dev/null &&
	run 1 timeout 60 "$top_builddir/gsan-run" --device=emu -- ./stripped && has err "gsan-run --device=emu"

"$PYTHON" -m venv venv >log 2>&1 || {
	tail -n 3 log
	echo "no virtual environment: CUDA 11 and 12 are left out"
	done_testing
}
for wheel in cu11==11.8.89 cu12==12.0.146 cu12==12.4.127 cu12==12.9.79; do
	version=${wheel#*==}
	folder=wheel-$version
	venv/bin/pip install -q --disable-pip-version-check --no-deps --target "$folder" \
		"nvidia-cuda-runtime-$wheel" >log 2>&1 || {
		tail -n 3 log
		echo "no nvidia-cuda-runtime-$wheel: left out"
		continue
	}
	mode=speed
	[ "$version" != 12.0.146 ] || mode=none
	all "$version" $mode "$folder/nvidia/cuda_runtime/include" "$tmp/$folder/nvidia/cuda_runtime/lib"
done

# Two versions in one program are told of.
twelve=$tmp/$folder/nvidia/cuda_runtime/lib
cp kernel.size.inc kernel.inc
if [ -f "$CUDA_HOME/lib64/libcudart.so.13" ] && [ -f "$twelve/libcudart.so.12" ]; then
	$CC -O1 -Wno-deprecated-declarations -I. -I"$CUDA_HOME/include" "$here/versions.c" -o both \
		"$CUDA_HOME/lib64/libcudart_static.a" -Wl,--no-as-needed "$twelve/libcudart.so.12" \
		-Wl,--disable-new-dtags,-rpath,"$twelve" -ldl -lrt -lpthread -lstdc++ >log 2>&1 || hard "$(cat log)"
	timeout 60 "$top_builddir/gsan-run" --device=emu -- ./both >out 2>err || :
	has err 'whose calls are misread: build all of the program with one'
fi
done_testing
