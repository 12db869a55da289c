# SPDX-License-Identifier: Apache-2.0
"""An extension's kernel on a stream beside PyTorch's own work: eager, compiled, and in a CUDA graph; "racy" leaves out that the
stream waits.

torch_streams.py racy|right
"""
import sys

import torch
from torch.utils.cpp_extension import load_inline

KERNEL = r'''
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void scale(float *x, float by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= by;
}

void scale_it(torch::Tensor x, double by)
{
	int n = x.numel();

	scale<<<(n + 255) / 256, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), by, n);
}
'''

ours = load_inline("gsan_scale", cpp_sources="void scale_it(torch::Tensor x, double by);", cuda_sources=KERNEL,
                   functions=["scale_it"], extra_cuda_cflags=["-lineinfo"])
right = sys.argv[1] == "right"
x = torch.ones(4096, device="cuda")
side = torch.cuda.Stream()

# Eager work of PyTorch's, and what its compiler makes, each behind the other in one stream.
y = torch.relu(x @ torch.ones(4096, 16, device="cuda").mul(2)).sum()
if "compile" in sys.argv:
    z = torch.compile(lambda a, b: (a * 2 + b).sum())(x, y)
    print("compiled", float(z))

# A graph of an extension's kernel, replayed.
g = torch.cuda.CUDAGraph()
captured = torch.ones(4096, device="cuda")
torch.cuda.synchronize()
with torch.cuda.graph(g):
    ours.scale_it(captured, 2.0)
g.replay()
g.replay()
torch.cuda.synchronize()
print("graph", float(captured.sum().cpu()))

# Two streams.
ours.scale_it(x, 2.0)
if right:
    side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    ours.scale_it(x, 3.0)
if right:
    torch.cuda.current_stream().wait_stream(side)
torch.cuda.synchronize()
print("streams", float(x.sum().cpu()) if right else "done")
