# SPDX-License-Identifier: Apache-2.0
#
# The detector: from a log to findings.

noinst_LIBRARIES += detect/libdetect.a
detect_libdetect_a_SOURCES = detect/detect.h detect/impl.h detect/word.h detect/access.c detect/async.c detect/barrier.c \
	detect/cell.c detect/choices.c detect/closure.c detect/detect.c detect/direct.c detect/fence.c detect/finding.c \
	detect/graph.c detect/grid.c detect/judge.c detect/mbarrier.c detect/misuse.c detect/past.c detect/phase.c \
	detect/scan.c detect/shape.c detect/stream.c detect/table.c detect/tensor.c detect/word.c
