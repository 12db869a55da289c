# SPDX-License-Identifier: Apache-2.0
"""A RawKernel of CuPy, and a RawModule by nvcc: a block reverses its numbers in shared memory; "racy" leaves the barrier out.

cupy_raw.py racy|right [nvrtc|nvcc]
"""
import sys

import cupy

SOURCE = r'''
extern "C" __global__ void turn(const int *in, int *out)
{
	__shared__ int s[256];
	s[threadIdx.x] = in[threadIdx.x];
	%s
	out[threadIdx.x] = s[255 - threadIdx.x];
}
'''

source = SOURCE % ("" if sys.argv[1] == "racy" else "__syncthreads();")
backend = sys.argv[2] if len(sys.argv) > 2 else "nvrtc"
turn = cupy.RawKernel(source, "turn", options=("-lineinfo",), backend=backend)
a = cupy.arange(256, dtype=cupy.int32)
b = cupy.empty_like(a)
turn((1,), (256,), (a, b))
cupy.cuda.runtime.deviceSynchronize()
print(int(b.get().sum()))
