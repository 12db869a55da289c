# SPDX-License-Identifier: Apache-2.0
"""What probes hold for the same in all lanes, or for a row of them, has to be that (probe/flow.h).

shapes.py make SEED...: random kernels with their script, each in the file SEED.ptx: numbers made from those of threads and blocks, loops
that lanes leave apart, branches, guards; and stores at what comes out.
shapes.py check SEED...: in SEED.log, which `gsan-run -v --events=probes` printed of it, each thread has stored at the
addresses that are computed here, as often.  Prints, of each, the number of stores, and those that are wrong or missing."""
import collections
import random
import re
import sys

BLOCKS = 2
LIMIT = {"global": 1 << 14, "shared": 1 << 12}  # words
SHAPES = [(64, 1), (16, 4), (33, 2), (40, 2), (8, 8), (96, 1)]
NUMBERS = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 64, 128, -1, -4]
GIVEN = {"%x": "%tid.x", "%y": "%tid.y", "%block": "%ctaid.x", "%lane": "%laneid", "%width": "%ntid.x"}
NAMES = {"add": "add.u32", "sub": "sub.u32", "mul": "mul.lo.u32", "mad": "mad.lo.u32", "shl": "shl.b32", "shr": "shr.u32",
         "sar": "shr.s32", "and": "and.b32", "or": "or.b32"}
COMPARES = {"less": "setp.lt.s32", "equal": "setp.eq.s32", "differs": "setp.ne.s32"}


class Undefined(Exception):
    """A thread needs what it has not set, or stores too far away."""


class Statement:
    """to: a register, of a loop its counter, of a store the memory; of: operands, of a store the number and how many
    words behind that; body: of an if or a loop; other: behind else."""

    def __init__(self, kind, to=None, of=(), guard=None, body=(), other=()):
        self.kind, self.to, self.of, self.guard, self.body, self.other = kind, to, list(of), guard, body, other
        self.dropped, self.lines = False, []


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.predicates, self.registers, self.n = [], list(GIVEN), 0

    def fresh(self, kind):
        self.n += 1
        return "%%%s%d" % (kind, self.n)

    def register(self):
        return self.r.choice(self.registers if self.r.random() < .3 else self.registers[-6:])

    def operand(self):
        return self.r.choice(NUMBERS) if self.r.random() < .35 else self.register()

    def guard(self, often):
        return self.r.choice(self.predicates) if self.predicates and self.r.random() < often else None

    def arithmetic(self):
        kind = self.r.choice(list(NAMES))
        of = [self.register()] + [self.operand() for _ in range(2 if kind == "mad" else 1)]
        if kind in ("shl", "shr", "sar"):
            of[1] = self.r.choice([1, 2, 4, 5, 27, 28, 30, 31])
        old = [r for r in self.registers if r not in GIVEN and r[1] != "i"]
        to = self.r.choice(old) if old and self.r.random() < .25 else self.fresh("r")
        if to not in self.registers:
            self.registers.append(to)
        return Statement(kind, to, of, self.guard(.15))

    def compare(self):
        kind = self.r.choice(list(COMPARES))
        of = [self.register(), self.operand()]
        if kind != "less":  # often what one lane alone does, or all others
            of = [self.r.choice(["%x", "%lane", self.register()]), self.r.choice([self.r.randrange(40), self.operand()])]
        self.predicates.append(self.fresh("p"))
        return Statement(kind, self.predicates[-1], of)

    def loop(self, depth):
        counter = self.fresh("i")
        self.registers.append(counter)
        body = self.some(depth + 1, self.r.randint(2, 6))
        leave = self.guard(.5)
        return Statement("loop", counter, [self.r.choice([1, 2, "%x", "%lane"])], leave, body)

    def some(self, depth, n):
        out = []
        for _ in range(n):
            k = self.r.random()
            if k < .4:
                out.append(self.arithmetic())
            elif k < .52:
                out.append(self.compare())
            elif k < .75:
                words = [self.r.choice([0, 1, 2, 5, -1]) for _ in range(self.r.choice([1, 1, 2, 3]))]
                out.append(Statement("store", self.r.choice(list(LIMIT)), [self.register()] + words))
            elif k < .88 and depth < 3:
                if not self.predicates or self.r.random() < .5:
                    out.append(self.compare())
                p = self.r.choice(self.predicates[-3:])
                out.append(Statement("if", None, [p], None, self.some(depth + 1, self.r.randint(1, 4)),
                                     self.some(depth + 1, self.r.randint(0, 3))))
            elif depth < 2:
                out.append(self.loop(depth))
        return out


def signed(v):
    return (v & 0xffffffff) - ((v & 0x80000000) << 1)


class Thread:
    """stores: how often at which statement, which of its stores, and word."""

    def __init__(self, block, x, y, width):
        self.v = {"%x": x, "%y": y, "%block": block, "%lane": (y * width + x) % 32, "%width": width}
        self.stores = collections.Counter()

    def get(self, o):
        if isinstance(o, str) and o not in self.v:
            raise Undefined
        return self.v[o] if isinstance(o, str) else o

    def compute(self, s):
        v = [signed(self.get(o)) for o in s.of]
        a, b = v[0], v[1]
        return {"add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "mad": lambda: a * b + v[2], "shl": lambda: a << b,
                "shr": lambda: (a & 0xffffffff) >> b, "sar": lambda: a >> b, "and": lambda: a & b, "or": lambda: a | b,
                "less": lambda: a < b, "equal": lambda: signed(a) == signed(b), "differs": lambda: signed(a) != signed(b)}[s.kind]()

    def assign(self, s):
        if s.guard and not self.get(s.guard):
            return
        try:
            self.v[s.to] = self.compute(s)
        except Undefined:
            self.v.pop(s.to, None)

    def store(self, s):
        v = signed(self.get(s.of[0]))
        if abs(v) >= LIMIT[s.to] - 8:
            raise Undefined
        for i, w in enumerate(s.of[1:]):
            self.stores[s, i, v + w] += 1

    def loop(self, s):
        turns = self.get(s.of[0]) & 3
        self.v[s.to] = 0
        while True:
            self.run(s.body)
            self.v[s.to] += 1
            if self.v[s.to] > turns or (s.guard and self.get(s.guard)):
                return

    def one(self, s):
        if s.kind == "store":
            self.store(s)
        elif s.kind == "if":
            self.run(s.body if self.get(s.of[0]) else s.other)
        elif s.kind == "loop":
            self.loop(s)
        else:
            self.assign(s)

    def run(self, body):
        for s in body:
            if s.dropped:
                continue
            try:
                self.one(s)
            except Undefined:
                s.dropped = True
                raise


class Printer:
    def __init__(self):
        self.lines, self.labels = [], 0

    def put(self, text):
        self.lines.append(text)

    def label(self):
        self.labels += 1
        return "L%d" % self.labels

    def branch(self, s):
        other, end = self.label(), self.label()
        self.put("@!%s bra %s;" % (s.of[0], other))
        self.body(s.body)
        self.put("bra %s;\n%s:" % (end, other))
        self.body(s.other)
        self.put("%s:" % end)

    def loop(self, s):
        head, end = self.label(), self.label()
        limit, more = "%%limit%d" % self.labels, "%%more%d" % self.labels
        self.put("and.b32 %s, %s, 3;" % (limit, s.of[0]) if isinstance(s.of[0], str) else "mov.u32 %s, %d;" % (limit, s.of[0]))
        self.put("mov.u32 %s, 0;\n%s:" % (s.to, head))
        self.body(s.body)
        self.put("add.u32 %s, %s, 1;" % (s.to, s.to))
        if s.guard:
            self.put("@%s bra %s;" % (s.guard, end))
        self.put("setp.le.u32 %s, %s, %s;\n@%s bra %s;\n%s:" % (more, s.to, limit, more, head, end))

    def store(self, s):
        n = self.label()
        if s.to == "global":
            self.put("mul.wide.s32 %%o%s, %s, 4;\nadd.u64 %%a%s, %%base, %%o%s;" % (n, s.of[0], n, n))
        else:
            self.put("mad.lo.s32 %%s%s, %s, 4, %%own;" % (n, s.of[0]))
        for w in s.of[1:]:
            self.put("st.%s.u32 [%%%s%s+%d], %%x;" % (s.to, "as"[s.to == "shared"], n, 4 * w))
            s.lines.append("\n".join(self.lines).count("\n") + 1)

    def body(self, body):
        for s in body:
            if s.dropped:
                continue
            if s.kind in ("if", "loop", "store"):
                {"if": self.branch, "loop": self.loop, "store": self.store}[s.kind](s)
            else:
                self.put("%s%s %s, %s;" % ("@%s " % s.guard if s.guard else "", (NAMES | COMPARES)[s.kind], s.to, ", ".join(map(str, s.of))))


def simulate(body, shape):
    """The stores of each thread; drops what a thread cannot do."""
    while True:
        try:
            out = {}
            for block in range(BLOCKS):
                for y in range(shape[1]):
                    for x in range(shape[0]):
                        t = Thread(block, x, y, shape[0])
                        t.run(body)
                        out[block, y * shape[0] + x] = t.stores
            return out
        except Undefined:
            pass


def make(seed):
    maker = Maker(seed)
    shape = maker.r.choice(SHAPES)
    bound = maker.r.choice(["", ".maxntid %d, 1, 1" % (shape[0] * shape[1]), ".reqntid %d, %d, 1" % shape])
    body = maker.some(0, 14)
    stores = simulate(body, shape)
    p = Printer()
    p.put("// shapes.py make %s\n//@ device sm_90\n//@ buf data %d\n//@ launch k grid=%d block=%d,%d args=data" %
          (seed, 8 * LIMIT["global"], BLOCKS, shape[0], shape[1]))
    p.put(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p_data)\n%s\n{\nDECLARATIONS" % bound)
    p.put(".shared .align 16 .b8 start[%d];\nmov.u32 %%own, start;\nst.shared.u32 [start], 0;" % (8 * LIMIT["shared"]))
    p.put("ld.param.u64 %data, [p_data];\ncvta.to.global.u64 %data, %data;\nst.global.u32 [%data], 0;")
    p.put("add.u32 %%own, %%own, %d;\nadd.u64 %%base, %%data, %d;" % (4 * LIMIT["shared"], 4 * LIMIT["global"]))
    for name, of in GIVEN.items():
        p.put("mov.u32 %s, %s;" % (name, "0" if name == "%y" and shape[1] == 1 else of))
    p.body(body)
    p.put("ret;\n}")
    text = "\n".join(p.lines)
    kinds = {"%p": ".pred", "%more": ".pred", "%o": ".b64", "%a": ".b64", "%base": ".b64", "%data": ".b64"}
    names = sorted(set(re.findall(r"%(?:[a-z]+L?\d*)(?![\w.])", text)) - {"%laneid"})
    of = {n: kinds.get(re.match(r"%[a-z]+", n).group(), ".b32") for n in names}
    return text.replace("DECLARATIONS", " ".join(".reg %s %s;" % (of[n], n) for n in names)), stores


def logged(log):
    """Counts by (block, thread, line, memory, word); each thread has stored at the start of both memories, where no
    number leads."""
    out = collections.Counter()
    for text in open(log):
        m = re.match(r"(\d+)\.(\d+):(0x[0-9a-f]+) access\S* (\S+) .*# lines? (.*)", text)
        if not m:
            continue
        lanes = [i for i in range(32) if int(m.group(3), 16) >> i & 1]
        memory = "shared" if m.group(4)[0] == "s" else "global"
        addresses = [int(a.split(":")[1], 16) for a in m.group(4).split(",")]
        for of in m.group(5).split(", "):
            line, sign, offset = re.match(r"(\d+)([+-]?)(\d*)", of).groups()
            for lane, a in zip(lanes, addresses):
                out[int(m.group(1)), int(m.group(2)) * 32 + lane, int(line), memory, a + int(sign + offset or "0")] += 1
    start = {m: min((k[4] for k in out if k[3] == m), default=0) for m in LIMIT}
    return collections.Counter({k[:4] + ((k[4] - start[k[3]]) // 4 - LIMIT[k[3]],): n
                                for k, n in out.items() if k[4] != start[k[3]]})


def check(seed):
    _, stores = make(seed)
    got = logged(seed + ".log")
    want = collections.Counter()
    for (block, thread), of in stores.items():
        for (s, i, word), n in of.items():
            want[block, thread, s.lines[i], s.to, word] += n
    wrong = (got - want) + (want - got)
    print(sum(want.values()), "stores of seed", seed + ",", sum(wrong.values()), "wrong or missing", sorted(wrong)[:4])
    return bool(wrong)


if sys.argv[1] == "make":
    for number in sys.argv[2:]:
        with open(number + ".ptx", "w") as out:
            print(make(number)[0], file=out)
else:
    sys.exit(any([check(number) for number in sys.argv[2:]]))
