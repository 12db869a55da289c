# SPDX-License-Identifier: Apache-2.0
"""Blocks of PyTorch's allocator that are used in another stream than their own, with PYTORCH_ALLOC_CONF=backend:cudaMallocAsync:
"racy" does not tell the allocator (Tensor.record_stream), so that a block is given back while it is used.

torch_blocks.py racy|right
"""
import sys

import torch

SOURCE = r'''
extern "C" __global__ void fill(int *x, int n)
{
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		x[i] = i;
}
'''

fill = torch.cuda._compile_kernel(SOURCE, "fill", nvcc_options=["-lineinfo"])
side = torch.cuda.Stream()
for _ in range(4):
    x = torch.empty(1 << 16, dtype=torch.int32, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    fill((1, 1, 1), (256, 1, 1), (x, x.numel()), stream=side)
    if sys.argv[1] == "right":
        x.record_stream(side)
    del x
torch.cuda.synchronize()
print("done")
