# SPDX-License-Identifier: Apache-2.0
#
# CMake with gsan-nvcc as its CUDA compiler, the one that is here and 3.25 and the newest of PyPI, where that is reached: it is
# taken for nvcc, and programs that CMake links with the C++ compiler get the runtime all the same.
. "$top_srcdir/testsuite/lib.sh"
takes_long
cmakes=$(command -v cmake)
case $(cmake --version 2>/dev/null) in *" 3.25."*) false ;; *) from_pypi cmake-3.25 'cmake==3.25.*' ;; esac && cmakes="$cmakes $venv/bin/cmake"
from_pypi cmake-4 'cmake>=4' && cmakes="$cmakes $venv/bin/cmake"
[ -n "$cmakes" ] || skip "no cmake"
stub_folder=gsan	# CMake loses what follows a blank in a library's folder
. "$top_srcdir/testsuite/shim/stub.sh"

project()
{
	rm -rf "$1"
	mkdir "$1"
	cp k.cu main.cu "$1"
	cat >"$1/CMakeLists.txt"
	run 0 "$cmake" -S "$1" -B "$1/build" -DCMAKE_CUDA_COMPILER="$gsan_nvcc" \
		-DCMAKE_CUDA_ARCHITECTURES=80 -DCMAKE_BUILD_TYPE=Release || return
	grep -q "CUDA compiler identification is NVIDIA [1-9]" out ||
		fail "$1: not identified as nvcc"
	: >"$home/log"
	run 0 "$cmake" --build "$1/build" || return
	rewritten "$2" "$1"
	run "$3" "$1/build/prog"
	has err runtime
}

all()
{
project plain 2 7 <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(plain LANGUAGES CUDA)
add_executable(prog main.cu k.cu)
EOF
project separable 2 7 <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(separable LANGUAGES CUDA)
add_executable(prog main.cu k.cu)
set_target_properties(prog PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
EOF
project library 1 3 <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(library LANGUAGES CXX CUDA)
file(WRITE ${CMAKE_BINARY_DIR}/f.cu
  "__global__ void k(int *p) { *p = 1; }\nvoid f(int *p) { k<<<1, 1>>>(p); }\n")
file(WRITE ${CMAKE_BINARY_DIR}/m.cpp
  "void f(int *); int main(int c, char **) { if (c > 9) f(nullptr); return 3; }\n")
add_library(part STATIC ${CMAKE_BINARY_DIR}/f.cu)
add_executable(prog ${CMAKE_BINARY_DIR}/m.cpp)
target_link_libraries(prog part)
EOF
project shared 1 3 <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(shared LANGUAGES CXX CUDA)
file(WRITE ${CMAKE_BINARY_DIR}/f.cu
  "__global__ void k(int *p) { *p = 1; }\nvoid f(int *p) { k<<<1, 1>>>(p); }\n")
file(WRITE ${CMAKE_BINARY_DIR}/m.cpp
  "void f(int *); int main(int c, char **) { if (c > 9) f(nullptr); return 3; }\n")
add_library(part SHARED ${CMAKE_BINARY_DIR}/f.cu)
add_executable(prog ${CMAKE_BINARY_DIR}/m.cpp)
target_link_libraries(prog part)
EOF
}
for cmake in $cmakes; do
	"$cmake" --version | head -n 1
	all
done

# As it is: CUDACXX names the compiler, CMake finds the toolkit behind it, and what it makes is watched.
unset GSAN_HOME
. "$top_srcdir/testsuite/shim/project.sh"
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.18)
project(turn LANGUAGES CXX CUDA)
option(RIGHT "with the barrier")
find_package(CUDAToolkit REQUIRED)
add_library(part STATIC kernel.cu)
target_compile_options(part PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
target_compile_definitions(part PRIVATE $<$<BOOL:${RIGHT}>:RIGHT>)
add_executable(turn main.cpp)
target_link_libraries(turn part CUDA::cudart_static)
add_executable(turn_shared main.cpp)
target_link_libraries(turn_shared part CUDA::cudart)
EOF
for cmake in $cmakes; do
	for right in OFF ON; do
		rm -rf build
		run 0 env "CUDACXX=$g" "$cmake" -S . -B build -DCMAKE_CUDA_ARCHITECTURES=90-virtual -DRIGHT=$right &&
			run 0 "$cmake" --build build || continue
		for program in build/turn build/turn_shared; do
			[ $right = ON ] || racy $program
			[ $right = OFF ] || right 3 $gsan_run -- $program
		done
	done
done
done_testing
