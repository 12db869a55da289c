# SPDX-License-Identifier: Apache-2.0
"""A kernel of Numba: a block reverses its numbers in shared memory; "racy" leaves the barrier out.

numba_kernel.py racy|right
"""
import sys

import numpy
from numba import cuda, int32

RIGHT = sys.argv[1] == "right"


@cuda.jit(lineinfo=True)
def turn(a, b):
    s = cuda.shared.array(256, int32)
    i = cuda.threadIdx.x
    s[i] = a[i]
    if RIGHT:
        cuda.syncthreads()
    b[i] = s[255 - i]


a = cuda.to_device(numpy.arange(256, dtype=numpy.int32))
b = cuda.device_array_like(a)
turn[1, 256](a, b)
cuda.synchronize()
print(int(b.copy_to_host().sum()))
