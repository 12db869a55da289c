# SPDX-License-Identifier: Apache-2.0
#
# Random programs: soak runs them under gsan and the oracle.  `make check` takes a
# fixed thousand; `make soak N=...` any number, from SEED on, a quarter as many
# of the asynchronous world or of locks, and some with errors.

check_PROGRAMS += testsuite/gen/soak
TESTS += testsuite/gen/thousand.sh testsuite/gen/seeds.sh
testsuite_gen_soak_SOURCES = testsuite/gen/gen.h testsuite/gen/gen_impl.h testsuite/gen/gen.c \
	testsuite/gen/pieces.c testsuite/gen/prog.c \
	testsuite/gen/gen_async.h testsuite/gen/async.c testsuite/gen/cluster.c testsuite/gen/products.c testsuite/gen/rows.c \
	testsuite/gen/locks.c testsuite/gen/wrong.h testsuite/gen/wrong.c testsuite/gen/wrong_sync.c testsuite/gen/plant.c \
	testsuite/gen/soak.h testsuite/gen/soak.c testsuite/gen/shrink.c \
	testsuite/gen/worker.h testsuite/gen/worker.c testsuite/gen/contents.c \
	testsuite/gen/device.c testsuite/gen/events.c run/cut.c run/judge.c run/part.c run/judge.h
testsuite_gen_soak_LDADD = detect/libdetect.a rewrite/librewrite.a probe/libprobe.a event/libevent.a ptxparse/libptxparse.a libgsan.a

EXTRA_DIST += testsuite/gen/thousand.sh testsuite/gen/seeds.sh testsuite/gen/gpu.sh

N = 30000
SEED = 1
.PHONY: soak
soak: testsuite/gen/soak emu/libcuda.so.1
	testsuite/gen/soak --seed=$(SEED) --count=$(N) --save=soak-found
	testsuite/gen/soak --async --seed=$(SEED) --count=$$(($(N) / 4)) --save=soak-found
	testsuite/gen/soak --products --seed=$(SEED) --count=$$(($(N) / 16)) --save=soak-found
	testsuite/gen/soak --rows --seed=$(SEED) --count=$$(($(N) / 16)) --save=soak-found
	testsuite/gen/soak --locks --seed=$(SEED) --count=$$(($(N) / 4)) --save=soak-found
	testsuite/gen/soak --locks --async --seed=$(SEED) --count=$$(($(N) / 16)) --save=soak-found
	testsuite/gen/soak --errors --seed=$(SEED) --count=$$(($(N) / 16)) --save=soak-found
	testsuite/gen/soak --errors --events=friendly --seed=$(SEED) --count=$$(($(N) / 16)) --save=soak-found
	testsuite/gen/soak --errors --events=hostile --seed=$(SEED) --count=$$(($(N) / 16)) --save=soak-found

# Bugs that they must find.
EXTRA_DIST += testsuite/gen/planted.sh
.PHONY: planted
planted: testsuite/gen/soak testsuite/detect/judge gsan-run emu/libcuda.so.1 $(litmus_tests)
	@top_srcdir=$(top_srcdir) COMPILE="$(COMPILE)" LINK="$(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS)" \
		LD="$(LD)" OBJCOPY="$(OBJCOPY)" DETECT="$(detect_libparts_a_OBJECTS) $(extent_libextent_a_OBJECTS)" RUN="$(gsan_run_OBJECTS)" \
		SOAK="$(testsuite_gen_soak_OBJECTS)" JUDGE="$(testsuite_detect_judge_OBJECTS)" LIBS="$(LIBS)" \
		SEED=$(SEED) sh $(top_srcdir)/testsuite/gen/planted.sh
