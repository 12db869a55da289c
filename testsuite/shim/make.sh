# SPDX-License-Identifier: Apache-2.0
#
# A Makefile as there are many: its rules call $(NVCC), with dependency files, relocatable device code that is linked in a step
# of its own, and the C++ compiler that links; NVCC=gsan-nvcc on make's command line is all that changes.
. "$top_srcdir/testsuite/lib.sh"
takes_long
. "$top_srcdir/testsuite/shim/project.sh"
command -v make >/dev/null || skip "no make"
unset MAKEFLAGS MAKELEVEL MFLAGS

cat >Makefile <<'EOK'
CUDA_HOME ?= /usr/local/cuda
NVCC ?= nvcc
CXX = g++
NVCCFLAGS = -O2 -lineinfo -gencode arch=compute_90,code=compute_90 -Xcompiler -Wall $(DEFS)
LDLIBS = -L$(CUDA_HOME)/lib64 -lcudart_static -ldl -lrt -lpthread

all: turn turn-rdc turn-cxx

turn: main.o kernel.o
	$(NVCC) -o $@ $^
turn-rdc: main.o kernel.rdc.o
	$(NVCC) -gencode arch=compute_90,code=compute_90 -dlink kernel.rdc.o -o linked.o
	$(NVCC) -o $@ -nodlink $^ linked.o
turn-cxx: main.o kernel.o
	$(CXX) -o $@ $^ $(LDLIBS)

%.o: %.cu
	$(NVCC) $(NVCCFLAGS) -MMD -MP -MF $*.d -c $< -o $@
%.rdc.o: %.cu
	$(NVCC) $(NVCCFLAGS) -dc $< -o $@
clean:
	rm -f *.o *.d turn turn-rdc turn-cxx
-include kernel.d
EOK
libs="$("$g" --print-libs) -L$CUDA_HOME/lib64 -lcudart_static -ldl -lrt -lpthread"
gsan_make="make CUDA_HOME=$CUDA_HOME NVCC=$g"

# As it stands another linker is told what it lacks.
run 2 $gsan_make -k all
has err __gsan_v1_runtime_missing__link_with_gsan_nvcc_or_preload_libgsan
racy ./turn
run 0 $gsan_make "LDLIBS=$libs" all
for program in ./turn ./turn-cxx; do
	racy $program
done
has kernel.d kernel.cu
run 0 $gsan_make "LDLIBS=$libs" all
[ "$(grep -c gsan-nvcc out)" = 0 ] || fail "built again: $(cat out)"
# Machine code alone is what the device's linker makes, of which the emulated device runs nothing.
nm turn-rdc | grep -q gsan_finish || fail "turn-rdc has no runtime"
run 0 $gsan_make clean
run 0 $gsan_make "LDLIBS=$libs" DEFS=-DRIGHT all
for program in ./turn ./turn-cxx; do
	right 3 $gsan_run -- $program
done
done_testing
