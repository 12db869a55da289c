# SPDX-License-Identifier: Apache-2.0
"""A kernel of Triton: programs count in one word; "racy" reads and writes it plainly.

triton_kernel.py racy|right
"""
import sys

import torch
import triton
import triton.language as tl

RIGHT = tl.constexpr(sys.argv[1] == "right")


@triton.jit
def count(x, total, n, BLOCK: tl.constexpr, ATOMIC: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + at, mask=at < n, other=0))
    if ATOMIC:
        tl.atomic_add(total, part)
    else:
        tl.store(total, tl.load(total) + part)


x = torch.ones(4096, dtype=torch.int32, device="cuda")
total = torch.zeros(1, dtype=torch.int32, device="cuda")
count[(16,)](x, total, 4096, BLOCK=256, ATOMIC=RIGHT)
torch.cuda.synchronize()
print(int(total.cpu()) if sys.argv[1] == "right" else "counted")
