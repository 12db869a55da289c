# SPDX-License-Identifier: Apache-2.0
#
# Frameworks under gsan-run, as gsan(7) shows them (testsuite/frameworks): what is racy is found, in the reader's own lines, what is
# right raises nothing, and where gsan cannot look the closing line says so.  On the emulated device what needs none of a
# framework's own machine code.  FRAMEWORKS: of these only; each is left out where its package is not there.
. "$top_srcdir/testsuite/lib.sh"
: "${PYTHON:=python3}"
folder=$(cd "$top_srcdir/testsuite/frameworks" && pwd)
device=$(have_gpu && echo gpu || echo emu)
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
n=0

# there MODULE DEVICE NAME: it is asked for, and the package is here
there()
{
	case " ${FRAMEWORKS:-$3} " in *" $3 "*) ;; *) return 1 ;; esac
	case $2 in *$device*) ;; *) return 1 ;; esac
	"$PYTHON" -c "import $1" 2>/dev/null || return 1
	n=$((n + 1))
}

# recipe STATUS FILE ARGUMENT...
recipe()
{
	status=$1
	file=$2
	shift 2
	start=$(date +%s)
	run "$status" timeout -k 5 "${FRAMEWORK_LIMIT:-120}" "$top_builddir/gsan-run" --device=$device -- "$PYTHON" "$folder/$file" "$@"
	echo "$file $*: $(($(date +%s) - start)) s; $(grep '^GSan: ' err | tail -n 1 | cut -c1-160)"
	sed -n '/^WARNING/,/^SUMMARY/p' err | cut -c1-200 | head -n 30
}

# both KIND FILE FIRST SECOND ADVICE [ARGUMENT...]: racy, between those lines of it, with that advice, and right
both()
{
	kind=$1 file=$2 first=$3 second=$4 advice=$5
	shift 5
	recipe 66 "$file" racy "$@"
	has err "WARNING: GSan: $kind"
	has err "$advice"
	has err "$file:$(grep -n -F -e "$first" "$folder/$file" | head -n 1 | cut -d: -f1)"
	has err "$file:$(grep -n -F -e "$second" "$folder/$file" | tail -n 1 | cut -d: -f1)"
	recipe 0 "$file" right "$@"
	has err "GSan: 0 findings; "
}

if there numba.cuda.cudaimpl 'gpu emu' numba; then
	both "data race" numba_kernel.py 's[i] = a[i]' 'b[i] = s[255 - i]' "cuda.syncthreads() (Numba) between"
fi
if there cupy gpu cupy; then
	for backend in nvrtc nvcc; do
		[ $backend = nvrtc ] || export NVCC="$top_builddir/gsan-nvcc"
		recipe 66 cupy_raw.py racy $backend
		has err "WARNING: GSan: data race"
		recipe 0 cupy_raw.py right $backend
		has err "GSan: 0 findings; 2 launches"
		hasnt err "machine code alone"
	done
fi
if there torch 'gpu emu' torch_kernel; then
	recipe 66 torch_kernel.py racy
	has err "WARNING: GSan: data race"
	recipe 0 torch_kernel.py right
	has err "GSan: 0 findings; 1 launch"
fi
if there torch 'gpu emu' torch_built && command -v ninja >/dev/null; then
	for way in racy right; do
		run 0 env "PYTORCH_NVCC=$top_builddir/gsan-nvcc" "CUDA_HOME=$CUDA_HOME" TORCH_CUDA_ARCH_LIST=9.0+PTX DEFS="$([ $way = racy ] || echo -DRIGHT)" \
			"$PYTHON" "$folder/torch_setup.py" -q build --build-base=base-$way --build-lib=$way
	done
	recipe 66 torch_built.py racy
	has err "WARNING: GSan: data race"
	for line in 's[t] = p[t]' 'p[t] = s[63'; do
		has err "torch_extension.cu:$(grep -n -F -e "$line" torch_extension.cu | cut -d: -f1)"
	done
	hasnt err "module-"
	recipe 0 torch_built.py right
	has err "GSan: 0 findings; 1 launch"
fi
if there torch gpu torch_blocks; then
	PYTORCH_ALLOC_CONF=backend:cudaMallocAsync
	PYTORCH_CUDA_ALLOC_CONF=$PYTORCH_ALLOC_CONF
	export PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF
	recipe 66 torch_blocks.py racy
	has err "WARNING: GSan: stream race"
	has err "Free of "
	recipe 0 torch_blocks.py right
	has err "GSan: 0 findings; "
	unset PYTORCH_ALLOC_CONF PYTORCH_CUDA_ALLOC_CONF
fi
if there triton gpu triton; then
	both "data race" triton_kernel.py 'tl.store(total' 'tl.store(total' "tl.atomic_add()"
fi
if there torch gpu torch_streams && command -v ninja >/dev/null; then
	recipe 66 torch_streams.py racy
	has err "WARNING: GSan: stream race"
	has err "scale("
	has err "GSan: 1 finding"
	recipe 0 torch_streams.py right compile
	has err "GSan: 0 findings; "
fi
if there jax gpu jax; then
	recipe 0 jax_add.py
	has err "machine code alone"
fi
[ $n -gt 0 ] || skip "none of Numba, CuPy, PyTorch, Triton, JAX is there"
done_testing
