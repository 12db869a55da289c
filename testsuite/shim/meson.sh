# SPDX-License-Identifier: Apache-2.0
#
# Meson with gsan-nvcc as its CUDA compiler, by a native file, and by a folder of tools in front of PATH.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/shim/project.sh"
if command -v meson >/dev/null && command -v ninja >/dev/null; then
	meson=meson
else
	from_pypi meson meson ninja || skip "no Meson"
	meson=$venv/bin/meson
	PATH=$PATH:$venv/bin
fi

mkdir project tools
cp kernel.cu main.cpp project
cat >project/meson.build <<'EOK'
project('turn', 'cpp', 'cuda', default_options : ['buildtype=release'])
args = ['-gencode', 'arch=compute_90,code=compute_90', '-lineinfo']
if get_option('right')
  args += '-DRIGHT'
endif
part = static_library('part', 'kernel.cu', cuda_args : args)
executable('turn', 'main.cpp', link_with : part, link_language : 'cuda')
EOK
echo "option('right', type : 'boolean', value : false)" >project/meson_options.txt
printf "[binaries]\ncuda = '%s'\n" "$g" >gsan.ini
ln -s "$g" tools/nvcc

# build FOLDER OPTION...
build()
{
	folder=$1
	shift
	run 0 "$meson" setup "$folder" project "$@" || return
	run 0 "$meson" compile -C "$folder"
}

build file --native-file gsan.ini && racy file/turn
build right --native-file gsan.ini -Dright=true && right 3 $gsan_run -- right/turn
PATH=$tmp/tools:$(dirname "$NVCC"):$PATH build path && racy path/turn
done_testing
