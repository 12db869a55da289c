# SPDX-License-Identifier: Apache-2.0
#
# The corpus: CUDA sources of our own, each one test (testsuite/corpus.sh).

corpus_tests = \
	testsuite/corpus/atomicref.cu \
	testsuite/corpus/barrier.cu \
	testsuite/corpus/calls.cu \
	testsuite/corpus/cluster.cu \
	testsuite/corpus/device.cu \
	testsuite/corpus/globals.cu \
	testsuite/corpus/groups.cu \
	testsuite/corpus/half.cu \
	testsuite/corpus/inline.cu \
	testsuite/corpus/library.cu \
	testsuite/corpus/math.cu \
	testsuite/corpus/pipeline.cu \
	testsuite/corpus/printf.cu \
	testsuite/corpus/ptx.cu \
	testsuite/corpus/shared.cu \
	testsuite/corpus/sort.cu \
	testsuite/corpus/tcgen05.cu \
	testsuite/corpus/texture.cu \
	testsuite/corpus/warp.cu \
	testsuite/corpus/wgmma.cu \
	testsuite/corpus/wmma.cu

check_PROGRAMS += testsuite/sameelf testsuite/samemem
testsuite_sameelf_SOURCES = testsuite/sameelf.c
testsuite_samemem_SOURCES = testsuite/samemem.c
testsuite_samemem_LDADD = rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a libgsan.a
TESTS += testsuite/contents.sh $(corpus_tests) testsuite/perturb.sh
EXTRA_DIST += testsuite/corpus.sh testsuite/contents.sh testsuite/perturb.sh $(corpus_tests)
