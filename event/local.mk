# SPDX-License-Identifier: Apache-2.0
#
# What a log holds: the contract between who logs and who judges.

noinst_LIBRARIES += event/libevent.a
event_libevent_a_SOURCES = event/event.def event/event.h event/fatbin.h event/module.h event/record.h event/region.h \
	event/event.c event/print.c
