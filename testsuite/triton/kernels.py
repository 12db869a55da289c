# SPDX-License-Identifier: Apache-2.0
#
# kernels.py FOLDER: kernels as people write them in Triton, compiled for devices that are not
# there, each a reproducer with its script.  What it is expected to say is with the options
# that testsuite/triton.sh gives.
import os
import re
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax(out, x, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def scan(out, x, ROWS: tl.constexpr, COLS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(out + i, tl.cumsum(tl.load(x + i), axis=0))


@triton.jit
def transpose(out, x, ROWS: tl.constexpr, COLS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    j = tl.arange(0, COLS)[:, None] * ROWS + tl.arange(0, ROWS)[None, :]
    tl.store(out + j, tl.trans(tl.load(x + i)))


@triton.jit
def locked(out, locks, x, n, BLOCK: tl.constexpr, GROUPS: tl.constexpr):
    """Rows are added to those of their group under a lock."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=0)
    group = row % GROUPS
    to = out + group * n + i
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    v += tl.load(to, mask=i < n, other=0)
    tl.store(to, v, mask=i < n)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.jit
def last_adds(out, parts, count, x, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    """Partial results; who comes last adds them."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(parts + row * BLOCK + i, tl.load(x + row * BLOCK + i) * 2)
    tl.debug_barrier()
    if tl.atomic_add(count, 1, sem="acq_rel") == PARTS - 1:
        sum = tl.zeros((BLOCK,), dtype=tl.float32)
        for k in range(PARTS):
            sum += tl.load(parts + k * BLOCK + i)
        tl.store(out + i, sum)


@triton.jit
def product(c, a, b, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    rm, rn, rk = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + rm[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


@triton.jit
def product_tma(c, a, b, M, N, K, STEP, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                SPECIAL: tl.constexpr):
    """Tiles one after the other, through tensor maps that are made on the device."""
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    across = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, STEP,
                      warp_specialize=SPECIAL, flatten=not SPECIAL):
        pm, pn = t // across, t % across
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            x, y = da.load([pm * BM, k * BK]), db.load([pn * BN, k * BK])
            acc = tl.dot(x, y.T, acc)
        dc.store([pm * BM, pn * BN], acc.to(tl.float16))


@triton.jit
def attention(out, q, k, v, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pm = tl.program_id(0)
    rm, rd, rn = pm * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    Q = tl.load(q + rm[:, None] * D + rd[None, :])
    m = tl.zeros((BM,), dtype=tl.float32) - float("inf")
    sum = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for s in range(0, N, BN):
        S = tl.dot(Q, tl.load(k + (s + rn)[None, :] * D + rd[:, None]))
        most = tl.maximum(m, tl.max(S, 1))
        p, scale = tl.exp2(S - most[:, None]), tl.exp2(m - most)
        sum = sum * scale + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + (s + rn)[:, None] * D + rd[None, :]),
                     acc * scale[:, None])
        m = most
    tl.store(out + rm[:, None] * D + rd[None, :], (acc / sum[:, None]).to(tl.float16))


@triton.jit
def add_tiles(out, x, M, N, BM: tl.constexpr, BN: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    do = tl.make_tensor_descriptor(out, shape=[BM, N], strides=[N, 1], block_shape=[BM, BN])
    for n in range(0, N, BN):
        do.atomic_add([0, n], dx.load([tl.program_id(0) * BM, n]))


SIZE = 256
SQUARE = 2 * SIZE * SIZE
HALF = [("*fp16", SQUARE)] + [("*fp16", f"{SQUARE} rand {i}") for i in (1, 2)]
EDGES = [("i32", SIZE)] * 3
HEADS = [("*fp16", 32768)] + [("*fp16", f"32768 rand {i}") for i in (1, 2, 3)]
# Who stores one value from several lanes races, by the letter.
SAME = "only data-race"

# kernel, arguments (type, and value or size of a buffer), constants, grid, devices, warps, blocks
# of a cluster, verdict
JOBS = [
    (softmax, [("*fp32", 16000), ("*fp32", "16000 rand 1"), ("i32", 1000)], {"BLOCK": 1024}, "4",
     (80, 90), 4, 1, SAME),
    (scan, [("*i32", 16384), ("*i32", "16384 rand 1")], {"ROWS": 128, "COLS": 32}, "1", (90,), 4, 1, "clean"),
    (transpose, [("*fp32", 16384), ("*fp32", "16384 rand 1")], {"ROWS": 64, "COLS": 64}, "1", (90,), 4, 1, "clean"),
    (transpose, [("*fp32", 16384), ("*fp32", "16384 rand 1")], {"ROWS": 64, "COLS": 64}, "2", (90,), 4, 2, "clean"),
    (locked, [("*fp32", 4096), ("*i32", 64), ("*fp32", "12000 rand 1"), ("i32", 500)], {"BLOCK": 512, "GROUPS": 2},
     "6", (80, 90), 4, 1, "clean"),
    (last_adds, [("*fp32", 2048), ("*fp32", 12288), ("*i32", 64), ("*fp32", "12288 rand 1")],
     {"BLOCK": 512, "PARTS": 6}, "6", (80, 90), 4, 1, "clean"),
    (product, HALF + EDGES, {"BM": 128, "BN": 128, "BK": 64}, "2,2", (80, 90, 100), 4, 1, "clean"),
    (product, HALF + EDGES, {"BM": 128, "BN": 128, "BK": 64}, "4,2", (90,), 4, 2, "clean"),
    (product_tma, HALF + EDGES + [("i32", 2)], {"BM": 128, "BN": 128, "BK": 64, "SPECIAL": False}, "2",
     (90, 100), 8, 1, "clean"),
    (product_tma, HALF + EDGES + [("i32", 2)], {"BM": 128, "BN": 128, "BK": 64, "SPECIAL": True}, "2",
     (90, 100), 4, 1, SAME),
    (attention, HEADS + [("i32", SIZE)], {"D": 64, "BM": 128, "BN": 64}, "2", (80, 90, 100), 4, 1, "clean"),
    (add_tiles, [("*fp32", 32768), ("*fp32", "131072 rand 1"), ("i32", 256), ("i32", 128)], {"BM": 64, "BN": 64},
     "4", (90, 100), 4, 1, "clean"),
]


def compiled(fn, args, constants, arch, warps, blocks):
    names = [p.name for p in fn.params]
    signature = dict(zip(names, [t for t, _ in args])) | {k: "constexpr" for k in constants}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(len(args))}
    source = ASTSource(fn=fn, signature=signature, constexprs=constants, attrs=aligned)
    options = {"num_warps": warps, "num_stages": 3, "num_ctas": blocks}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def script(fn, args, grid, blocks, verdict, kernel):
    ptx, scratch = kernel.asm["ptx"], kernel.metadata.global_scratch_size
    count, lines, values = 1, [], []
    for n in grid.split(","):
        count *= int(n)
    for i, (kind, value) in enumerate(args):
        if kind.startswith("*"):
            lines.append(f"buf b{i} {value}")
        values.append(f"b{i}" if kind.startswith("*") else f"u32:{value}")
    lines += [f"buf scratch {max(16, scratch * count)}", "buf profile 16"]
    threads = re.search(r"\.reqntid (\d+)", ptx).group(1)
    cluster = f" cluster={blocks}" if blocks > 1 else ""
    target = re.search(r"\.target (sm_\w+)", ptx).group(1)
    return [f"device {target}"] + lines + [
        f"launch {fn.__name__} grid={grid} block={threads}{cluster} smem={kernel.metadata.shared} "
        f"args={','.join(values)},scratch,profile", f"expect {verdict}",
        "expect-with proxy_fence=path:tcgen05_fence=off:same_value=ignore : clean", "timeout 300"]


for fn, args, constants, grid, archs, warps, blocks, verdict in JOBS:
    for arch in archs:
        try:
            kernel = compiled(fn, args, constants, arch, warps, blocks)
        except RuntimeError as e:
            # Triton 3.6: clusters, for which it makes a mapa of another kind; roles of warps on Blackwell.
            print(f"{fn.__name__} for sm_{arch}, {blocks} blocks of a cluster: Triton does not compile it: {e}", file=sys.stderr)
            continue
        special = "_special" if constants.get("SPECIAL") else ""
        name = f"{fn.__name__}{special}_{arch}" + (f"_cluster{blocks}" if blocks > 1 else "")
        with open(os.path.join(sys.argv[1], name + ".ptx"), "w") as f:
            f.writelines(f"//@ {line}\n" for line in script(fn, args, grid, blocks, verdict, kernel))
            f.write(kernel.asm["ptx"])
