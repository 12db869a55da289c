# SPDX-License-Identifier: Apache-2.0
#
# CMake with gsan-nvcc as its CUDA compiler: it is taken for nvcc, and programs
# that CMake links with the C++ compiler get the runtime all the same.
. "$top_srcdir/testsuite/lib.sh"
takes_long
command -v cmake >/dev/null || skip "no cmake"
stub_folder=gsan	# CMake loses what follows a blank in a library's folder
. "$top_srcdir/testsuite/shim/stub.sh"

project()
{
	mkdir "$1"
	cp k.cu main.cu "$1"
	cat >"$1/CMakeLists.txt"
	run 0 cmake -S "$1" -B "$1/build" -DCMAKE_CUDA_COMPILER="$gsan_nvcc" \
		-DCMAKE_CUDA_ARCHITECTURES=80 -DCMAKE_BUILD_TYPE=Release || return
	grep -q "CUDA compiler identification is NVIDIA [1-9]" out ||
		fail "$1: not identified as nvcc"
	: >"$home/log"
	run 0 cmake --build "$1/build" || return
	rewritten "$2" "$1"
	run "$3" "$1/build/prog"
	has err runtime
}

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
done_testing
