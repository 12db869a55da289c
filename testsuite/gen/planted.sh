# SPDX-License-Identifier: Apache-2.0
#
# Do the random programs find anything?  Plants one bug after another in a copy of
# the device runtime, each a change of one line, and gives soak two minutes to find it.
# `make planted` runs this in the build's top folder, with what it needs in
# top_srcdir, NVCC, COMPILE (a source to an object), LINK (to a program) and OBJECTS.
dir=planted
. "$top_srcdir/testsuite/gen/planted_lib.sh"

# plant NAME FILE SED [OPTION]: a bug that soak must find
plant()
{
	rm -rf "$dir"
	mkdir -p "$dir/testsuite/gen" "$dir/found" || exit 99
	cp -r "$top_srcdir/rt" "$dir/" && chmod -R u+w "$dir/rt" || exit 99
	planted_change "$1" "$top_srcdir/rt/device/$2" "$dir/rt/device/$2" "$3" || return
	"$NVCC" -ptx -rdc=true -arch=compute_90 -O3 -I"$dir" -o "$dir/runtime.ptx" "$dir/rt/device/runtime.cu" &&
	rewrite/embed "$dir/runtime.ptx" "$dir/runtime.ptx" >"$dir/runtime.c" &&
	$COMPILE -c -o "$dir/runtime.o" "$dir/runtime.c" &&
	cp rewrite/librewrite.a "$dir/" && ar r "$dir/librewrite.a" "$dir/runtime.o" 2>"$dir/log" &&
	$LINK -o "$dir/testsuite/gen/soak" $OBJECTS "$dir/librewrite.a" ptxparse/libptxparse.a libgsan.a $LIBS || {
		echo "$1: cannot be built"
		exit 99
	}
	timeout 120 "$dir/testsuite/gen/soak" --emu="$PWD/emu/libcuda.so.1" $4 --seed="${SEED:-1}" --count=100000 \
		--most=1 --no-shrink --save="$dir/found" >"$dir/out" 2>&1
	if [ $? = 1 ]; then
		planted_found "$1" "$(grep '^program' "$dir/out" | head -n 1)" \
			"$(sed -n 's/.*disagreement; \([0-9]*\) s,.*/\1/p' "$dir/out")"
	else
		planted_missed "$1" 'within two minutes'
		tail -n 3 "$dir/out"
	fi
}

plant 'clock merge: the lower of two clocks' snap.cuh \
	's/u32 base = a.base > b.base ? a.base : b.base;/u32 base = a.base < b.base ? a.base : b.base;/'
plant 'clock merge: lanes of the one that is behind' snap.cuh \
	's/a.top = a.top > b.top ? a.top : b.top;/a.top = b.top;/'
plant 'barrier join: one too many' barrier.cuh \
	's/w->floor = top;/w->floor = top + 1;/'
plant 'barrier join: a count whose threads bring nothing' barrier.cuh \
	's/^\tsnap_join(snap_of(id), snap);/\tsnap_join(snap_of(id), 0 * snap);/'
plant 'byte mask: always from the first byte' granule.cuh \
	's/((1u << size) - 1) << low;/(1u << size) - 1;/'
plant 'byte mask: one byte too few' granule.cuh \
	's/((1u << size) - 1) << low;/((1u << size) - 1) >> 1 << low;/'
plant 'scope test: a cluster is all of the gpu' report.cuh \
	's/if (level >= GSAN_GPU || (slot == w->slot/if (level >= GSAN_CLUSTER || (slot == w->slot/'
plant 'scope test: releases reach every block' words.cuh \
	's/return level >= GSAN_GPU || (level \&\& (slot/return level >= GSAN_CTA || (level \&\& (slot/'
plant 'scope test: the wider of two' words.cuh \
	's/u32 level = a < b ? a : b;/u32 level = a > b ? a : b;/'
plant 'own release: what a list had is replaced by it' snap.cuh \
	's/if (b.w && !(id & GSAN_SNAP_LARGE) && a.z/if (b.w \&\& a.z/' --locks
plant 'own release: without what the one before it held' snap.cuh \
	's/if (but && load(&snap_of(but)->mask))/if (0)/' --locks
planted_end
