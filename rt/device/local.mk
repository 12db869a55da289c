# The device runtime as PTX, for rewrite to embed.  The second one is for
# modules that target sm_90 or later: only they may read cluster registers.
gsan_device_sources = rt/device/runtime.cu rt/device/base.cuh rt/device/order.cuh \
	rt/device/cross.cuh rt/device/snap.cuh rt/device/bring.cuh rt/device/report.cuh rt/device/perturb.cuh rt/device/granule.cuh \
	rt/device/access.cuh rt/device/column.cuh rt/device/words.cuh \
	rt/device/fence.cuh rt/device/barrier.cuh rt/device/async.cuh rt/device/issue.cuh rt/device/line.cuh rt/device/link.cuh \
	rt/device/lines.cuh rt/device/row.cuh \
	rt/device/proxy.cuh rt/device/ghost.cuh rt/device/post.cuh rt/device/sweep.cuh \
	rt/device/peer.cuh rt/device/alias.cuh rt/device/mbar.cuh rt/device/choices.cuh rt/device/cluster.cuh rt/device/lanes.cuh rt/device/copy.cuh \
	rt/device/leave.cuh rt/device/maps.cuh rt/device/tensor.cuh rt/device/alone.cuh rt/device/matrix.cuh rt/device/wgmma.cuh \
	rt/device/tcgen05.cuh rt/device/value.cuh rt/device/grid.cuh rt/device/block.cuh
EXTRA_DIST += $(gsan_device_sources)
gsan_device_deps = $(gsan_device_sources) rt/abi.h rt/state.h rt/kinds.def rt/choices.def
CLEANFILES += rt/device/runtime.ptx rt/device/runtime_sm90.ptx

rt/device/runtime.ptx: $(gsan_device_deps)
	@$(MKDIR_P) rt/device
	$(AM_V_GEN)$(NVCC) -ptx -rdc=true -arch=compute_75 -O3 -I$(top_srcdir) \
		-o $@ $(top_srcdir)/rt/device/runtime.cu

rt/device/runtime_sm90.ptx: $(gsan_device_deps)
	@$(MKDIR_P) rt/device
	$(AM_V_GEN)$(NVCC) -ptx -rdc=true -arch=compute_90 -O3 -I$(top_srcdir) \
		-o $@ $(top_srcdir)/rt/device/runtime.cu
