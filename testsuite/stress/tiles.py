# SPDX-License-Identifier: Apache-2.0
"""tiles.py SEED...: random kernels with their script, each in the file SEED.ptx, whose blocks have rows of few threads: they meet at barriers,
write and read tiles of shared memory and elements of global memory, and copy elements into rings of tiles by cp.async.  Of every third seed all is right, as the first line
says; in others one or two statements are lost or become others, by which they may race or be as right as before."""
import random
import sys

KERNELS = 3
SHAPES = [(16, 16, 1), (16, 4, 1), (16, 2, 1), (16, 3, 1), (8, 8, 1), (8, 4, 2), (8, 32, 1), (8, 6, 1), (4, 4, 1), (4, 8, 2), (4, 24, 1),
          (2, 16, 1), (1, 32, 1), (1, 8, 1), (16, 32, 1), (32, 4, 1), (12, 4, 1), (16, 40, 1)]
TILE = 1024     # where a block's memory begins on sm_90
PITCH = 8       # bytes from an element to the next; of each 1, 2, 4 or 8 are accessed
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
OWN, IN_ROW, BELOW, TURNED, ROW, FIRST, BESIDE = range(7)


class Kernel:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.x, self.y, self.z = r.choice(SHAPES)
        self.rows = self.y * self.z
        self.threads = self.x * self.rows
        self.blocks = r.choice([1, 2, 3])
        self.turns = r.choice([1, 1, 2, 5, 40 if self.threads <= 64 else 8])
        self.size = r.choice([4, 4, 4, 8, 2, 1])
        self.pitch = r.choice([PITCH, self.size])       # of elements in global memory
        self.told = r.random() < .7     # where the tile lies is told by its name
        self.body = []
        for _ in range(r.randint(1, 3)):
            self.body += r.choice([self.tile, self.tile, self.element, self.element, self.sums])()
        self.stages = 0
        if r.random() < .4:
            self.body += self.ring()
        self.lines = []
        self.spoiled = False    # nobody waits in the end

    # ---- what is right ----

    def tile(self):
        reads = [("ld", "shared", self.r.randrange(6), None) for _ in range(self.r.randint(1, 3))]
        return [("st", "shared", self.r.choice([OWN, OWN, IN_ROW, BELOW]), self.r.choice([None, None, "y"]))] + [("bar",)] + reads + [("bar",)]

    def element(self):
        return self.r.sample([("st", "global", OWN, None), ("ld", "global", OWN, None), ("st", "global", OWN, self.r.choice(["x", "y"]))],
                             self.r.randint(1, 3))

    def sums(self):
        return [("red", "sums", self.r.choice([FIRST, ROW, OWN]), None)]

    def ring(self):
        """A tile a turn, which is read in that turn or in a later one."""
        left = self.r.choice([0, 0, 1, 1, 2])
        self.stages = left + 2 + self.r.randrange(2)
        return [("cp", self.r.choice([OWN, OWN, IN_ROW, BELOW]), self.r.choice([None, None, "x", "y"])),
                ("commit",), ("wait", left), ("bar",)] + [("ld", "ring", self.r.randrange(6), left) for _ in range(self.r.randint(1, 2))]

    # ---- what may not be ----

    def spoil(self):
        self.spoiled = self.r.random() < .2
        r, body = self.r, self.body
        for _ in range(r.randint(1, 2)):
            i = r.randrange(len(body))
            kind = r.random()
            if self.stages and r.random() < .6:
                self.spoil_ring()
                continue
            if kind < .35 and len(body) > 1:
                bars = [k for k, s in enumerate(body) if s[0] == "bar"]
                del body[r.choice(bars) if bars and r.random() < .8 else i]
            elif kind < .7:
                space = r.choice(["shared", "global", "global"])
                body.insert(i, (r.choice(["st", "ld"]), space, r.choice([IN_ROW, BELOW, TURNED, ROW, FIRST, BESIDE]),
                                r.choice([None, "x", "x", "y", "odd", "alone"])))
            elif kind < .8:
                body.insert(i, ("exit", r.choice(["y", "x", "odd"])))
            elif kind < .9:
                body.insert(i, ("bars", r.choice(["y", "odd", "x"])))
            elif body[i][0] in ("st", "ld") and body[i][1] != "ring":
                body[i] = body[i][:3] + (r.choice(["x", "y", "odd", "alone"]),)

    def spoil_ring(self):
        at = {s[0]: i for i, s in enumerate(self.body)}
        kind = self.r.randrange(5)
        if kind == 0 and "wait" in at:
            self.body[at["wait"]] = ("wait", self.body[at["wait"]][1] + 1)
        elif kind == 1 and "cp" in at:
            self.body.insert(at["cp"], ("cp", self.r.choice([OWN, IN_ROW, BELOW, FIRST if self.threads <= 64 else ROW]), self.r.choice([None, "x", "alone"])))
        elif kind == 2 and self.stages > 1:
            self.stages -= 1
        elif kind == 3 and "bar" in at:
            del self.body[at["bar"]]
        elif "wait" in at:
            del self.body[at[self.r.choice(["wait", "commit"] if "commit" in at else ["wait"])]]

    # ---- as text ----

    def put(self, text):
        self.lines.append("\t" + text)

    def index(self, which):
        """%e: an element's number in the block's."""
        x, y = self.x, self.rows
        self.put({
            OWN: "mov.u32 %e, %t;",
            IN_ROW: f"xor.b32 %e, %x, {self.r.choice([1, 2, 4]) if x & (x - 1) == 0 else 0}; rem.u32 %e, %e, {x}; mad.lo.u32 %e, %y, {x}, %e;",
            BELOW: f"add.u32 %e, %y, {self.r.randint(1, 3)}; rem.u32 %e, %e, {y}; mad.lo.u32 %e, %e, {x}, %x;",
            TURNED: f"mad.lo.u32 %e, %x, {y}, %y;",
            ROW: f"mul.lo.u32 %e, %y, {x};",
            FIRST: "mov.u32 %e, 0;",
            BESIDE: f"add.u32 %e, %t, 1; rem.u32 %e, %e, {self.threads};"}[which])

    def guard(self, who):
        self.put({"x": f"setp.{self.r.choice(['lt', 'ge'])}.u32 %p, %x, {self.r.randint(1, self.x)};", "y": f"setp.lt.u32 %p, %y, {self.r.randint(1, self.rows)};",
                  "odd": f"and.b32 %v, %y, 1; setp.eq.u32 %p, %v, {self.r.randrange(2)};",
                  "alone": f"setp.eq.u32 %p, %t, {self.r.randrange(self.threads)};"}[who])

    def access(self, op, space, which, who):
        pitch = PITCH if space != "global" else self.pitch if who != "alone" else self.size
        size = 4 if op == "red" else self.size if self.r.random() < .8 else self.r.choice([n for n in TYPES if n <= pitch])
        value = {1: "%v", 2: "%h", 4: "%v", 8: "%d"}[size]
        self.index(which)
        if who:
            self.guard(who)
        at = "@%p " if who else ""
        if space == "shared":
            self.put(f"mad.lo.u32 %a, %e, {PITCH}, %tile;")
            address = f"[%a+{self.r.choice([0, 0, 0, PITCH - size])}]"
        else:
            self.put(f"mad.lo.u32 %e, %block, {self.threads}, %e;")
            self.put(f"mad.wide.u32 %g, %e, {pitch}, %{'sum' if space == 'sums' else 'data'};")
            address = "[%g]"
        if op == "red":
            self.put(f"red.relaxed.gpu.global.add.u32 {address}, 1;")
        elif op == "st":
            self.put(f"{at}st.{space}.{TYPES[size]} {address}, {value};")
        else:
            self.put(f"{at}ld.{space}.{TYPES[size]} {value}, {address};")

    def stage(self, behind):
        """%a: where the tile of so many turns ago lies."""
        self.put(f"add.u32 %a, %turn, {6 * self.stages - behind}; rem.u32 %a, %a, {self.stages};")
        self.put(f"mul.lo.u32 %a, %a, {PITCH * self.threads}; mad.lo.u32 %a, %e, {PITCH}, %a; add.u32 %a, %a, %ring;")

    def copy(self, which, who):
        size = self.r.choice([4, 8, 8])
        self.index(which)
        self.stage(0)
        if who:
            self.guard(who)
        self.put(f"mad.lo.u32 %e, %block, {self.threads}, %t; mad.wide.u32 %g, %e, {PITCH}, %from;")
        self.put(("@%p " if who else "") + f"cp.async.ca.shared.global [%a], [%g], {size};")

    def statement(self, n, s):
        if s[0] == "bar":
            self.put("bar.sync 0;")
        elif s[0] == "cp":
            self.copy(*s[1:])
        elif s[0] == "commit":
            self.put("cp.async.commit_group;")
        elif s[0] == "wait":
            self.put(f"cp.async.wait_group {max(s[1], 0)};" if s[1] or self.r.random() < .6 else "cp.async.wait_all;")
        elif s[0] == "ld" and s[1] == "ring":
            self.index(s[2])
            self.stage(s[3])
            self.put("ld.shared.u32 %v, [%a];")
        elif s[0] == "exit":
            self.guard(s[1])
            self.put("@%p exit;")
        elif s[0] == "bars":
            self.guard(s[1])
            self.put(f"@%p bra OTHER{n};")
            self.put("bar.sync 0;")
            self.put(f"bra.uni BOTH{n};")
            self.lines.append(f"OTHER{n}:")
            self.put("bar.sync 0;")
            self.lines.append(f"BOTH{n}:")
        else:
            self.access(*s)

    def text(self, name):
        for n, s in enumerate(self.body):
            self.statement(n, s)
        self.end = "cp.async.wait_all;" if self.stages and not self.spoiled else ""
        return f""".visible .entry {name}(.param .u64 p_data, .param .u64 p_sum, .param .u64 p_from, .param .u32 p_tile)
{{
	.reg .pred %p, %more;
	.reg .b16 %h;
	.reg .b32 %x, %y, %z, %t, %block, %tile, %ring, %a, %e, %v, %turn;
	.reg .b64 %data, %sum, %from, %g, %d;
	.shared .align 16 .b8 tile[{PITCH * self.threads}];
	.shared .align 16 .b8 ring[{PITCH * self.threads * max(self.stages, 1)}];
	ld.param.u64 %data, [p_data];
	ld.param.u64 %sum, [p_sum];
	ld.param.u64 %from, [p_from];
	mov.u32 %ring, ring;
	mov.u32 %e, tile;
	{"mov.u32 %tile, %e;" if self.told else "ld.param.u32 %tile, [p_tile];"}
	mov.u32 %x, %tid.x;
	mov.u32 %y, %tid.y;
	mov.u32 %z, %tid.z;
	mad.lo.u32 %y, %z, {self.y}, %y;
	mad.lo.u32 %t, %y, {self.x}, %x;
	mov.u32 %block, %ctaid.x;
	mov.u32 %v, 1;
	mov.u64 %d, 1;
	mov.u16 %h, 1;
	mov.u32 %turn, 0;
TURN:
""" + "\n".join(self.lines) + f"""
	add.u32 %turn, %turn, 1;
	setp.lt.u32 %more, %turn, {self.turns};
	@%more bra TURN;
	{self.end}
	ret;
}}
"""


def program(seed, out):
    kernels = [Kernel(KERNELS * seed + i) for i in range(KERNELS)]
    for k in kernels:
        if seed % 3 == 1 and k.stages:
            k.spoil_ring()
        elif seed % 3:
            k.spoil()
    print("// " + ("wrong" if seed % 3 else "right"), file=out)
    print("//@ device sm_90\n//@ buf data 65536\n//@ buf sum 65536\n//@ buf from 65536", file=out)
    for i, k in enumerate(kernels):
        print(f"//@ launch k{i} grid={k.blocks} block={k.x},{k.y},{k.z} args=data,sum,from,u32:{TILE}", file=out)
    print(".version 8.0\n.target sm_90\n.address_size 64", file=out)
    for i, k in enumerate(kernels):
        print(k.text(f"k{i}"), file=out)


for number in sys.argv[1:]:
    with open(number + ".ptx", "w") as file:
        program(int(number), file)
