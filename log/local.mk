# SPDX-License-Identifier: Apache-2.0
#
# The memory that launches log into, from the host.

noinst_LIBRARIES += log/liblog.a
log_liblog_a_SOURCES = log/drain.c log/drain.h log/file.c log/file.h log/region.c log/region.h log/shape.h log/way.c log/way.h \
	log/blame.c log/stand.c log/stand.h log/stand_impl.h
