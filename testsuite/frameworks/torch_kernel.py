# SPDX-License-Identifier: Apache-2.0
"""A kernel that PyTorch has NVRTC compile: a block reverses its numbers in shared memory; "racy" leaves the barrier out.

torch_kernel.py racy|right
"""
import sys

import torch

SOURCE = r'''
extern "C" __global__ void turn(const int *in, int *out)
{
	__shared__ int s[256];
	s[threadIdx.x] = in[threadIdx.x];
	%s
	out[threadIdx.x] = s[255 - threadIdx.x];
}
'''

turn = torch.cuda._compile_kernel(SOURCE % ("" if sys.argv[1] == "racy" else "__syncthreads();"), "turn", nvcc_options=["-lineinfo"])
a = torch.arange(256, dtype=torch.int32).cuda()
b = torch.empty_like(a)
turn((1, 1, 1), (256, 1, 1), (a, b))
torch.cuda.synchronize()
print(int(b.cpu().sum()))
