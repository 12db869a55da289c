# SPDX-License-Identifier: Apache-2.0
"""rings.py SEED...: random pipelines with their script, each in the file SEED.ptx: a warp copies tiles into a ring of stages, others read them
and store what they make of them, at full and empty mbarriers, named barriers, and with groups of copies.  Of every fourth
seed they are right, as the first line says; of others each has one defect, in all blocks or in one of several, by which it
may race, wait in vain, or be as right as before."""
import copy
import random
import sys

LANE_0, FIRST = "%lane0", "%first"      # of each warp; of the first warp's lanes
KERNELS = 4
TRIES = 500     # of a wait, which a defect may make one for ever; then it goes on
BAR_OFFSET = {"full": 0, "empty": 1, "go": 2}


class Step:
    """An instruction: kind, and what a defect may change.  who: a predicate of those that execute it, None: all."""

    def __init__(self, kind, who=None, **at):
        self.kind, self.who, self.at = kind, who, at


class Ring:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.products = r.random() < .15
        self.readers = 4 if self.products else r.randint(1, 4)
        self.stages, self.tiles, self.blocks = r.randint(1, 4), r.randint(1, 6), r.randint(1, 2)
        self.bytes = 2304 if self.products else 128 * self.readers * r.choice([1, 2, 4, 8])
        self.notes = not self.products and r.random() < .5      # words behind the bytes of a stage
        self.pitch = (self.bytes + (512 if self.notes else 0) + 1023) // 1024 * 1024
        self.buffers = r.choice([0, 1, 1, 2]) if not self.products else 0
        self.wait = r.choice(["all", "all", "lanes", "first"])
        self.release = r.choice(["all", "warps", "first"])
        self.helper = r.random() < .2   # another warp expects the bytes, and arrives for them
        self.silent = self.helper and r.random() < .2   # alone
        self.expect = r.choice(["arrive", "arrive", "before"])
        self.pieces = 2 if r.random() < (.5 if self.bytes >= 2048 else .1) else 1
        self.skip = r.random() < .5     # no wait for stages that nobody has used
        self.left = r.choice([0, 1]) if self.products and self.stages > 1 else 0
        self.apart = r.random() < .7    # mbarriers have memory of their own
        self.counts = {"full": 1 + (self.helper and not self.silent), "go": 1,
                       "empty": {"all": 32 * self.readers, "warps": self.readers, "first": 1}[self.release]}
        self.starts = True              # all wait for the mbarriers' inits
        self.roles = [self.reader(), self.producer()] + ([self.expecter()] if self.helper else [])

    def meet(self):
        return [Step("bar")]

    def wait_full(self, t):
        who = {"all": None, "lanes": LANE_0, "first": FIRST}[self.wait]
        wait = Step("wait", who, of="full", stage=t % self.stages, parity=t // self.stages & 1)
        return [wait] + (self.meet() if who else [])

    def give_back(self, t):
        """Of all readers; by one lane when all have read."""
        steps = [] if self.products else [Step("fence")]
        who = {"all": None, "warps": LANE_0, "first": FIRST}[self.release]
        return steps + (self.meet() if who else []) + [Step("arrive", who, of="empty", stage=t % self.stages)]

    def put_out(self, t):
        """Through a buffer: when it has been read, all store there, and one copies it."""
        steps = []
        if t >= self.buffers:
            steps += [Step("group", FIRST, left=self.buffers - 1, read=True)] + self.meet()
        steps += [Step("store", buffer=t % self.buffers, offset=0), Step("fence")] + self.meet()
        return steps + [Step("put", FIRST, tile=t, buffer=t % self.buffers, offset=0), Step("commit", FIRST)]

    def take_notes(self, t):
        at = {"stage": t % self.stages, "offset": self.bytes}
        return self.meet() + [Step("note", **at)] + self.meet() + [Step("look", **at)]

    def reader(self):
        steps, done = [], 0
        for t in range(self.tiles):
            steps += self.wait_full(t)
            if self.products:
                last = t + 1 == self.tiles
                steps += [Step("product", stage=t % self.stages), Step("products", left=0 if last else self.left)]
            for k in range(0 if self.products else self.bytes // 128 // self.readers):
                if k == 0 or self.r.random() < .7:
                    steps.append(Step("load", stage=t % self.stages, offset=128 * self.readers * k))
            if self.notes:
                steps += self.take_notes(t)
            while done <= t - self.left or (t + 1 == self.tiles and done <= t):
                steps += self.give_back(done)
                done += 1
            if self.buffers:
                steps += self.put_out(t)
        return steps + ([Step("group", FIRST, left=0, read=self.r.random() < .5)] if self.buffers else [])

    def wait_empty(self, t):
        turn = t // self.stages
        return [Step("wait", of="empty", stage=t % self.stages, parity=(turn & 1) ^ 1)] if turn or not self.skip else []

    def copies(self, t):
        size = self.bytes // 2 // 16 * 16 if self.bytes < 2048 else 1024
        at = [(0, self.bytes)] if self.pieces == 1 else [(0, size), (size, self.bytes - size)]
        return [Step("copy", stage=t % self.stages, tile=t, offset=o, bytes=n) for o, n in at]

    def producer(self):
        """Lane 0."""
        steps = []
        for t in range(self.tiles):
            s, expect = t % self.stages, Step("expect", stage=t % self.stages, bytes=self.bytes)
            steps += self.wait_empty(t)
            if self.helper:
                steps += [Step("wait", of="go", stage=s, parity=t // self.stages & 1)] + self.copies(t)
                steps += [] if self.silent else [Step("arrive", of="full", stage=s)]
            elif self.expect == "arrive":
                steps += [Step("arrive", of="full", stage=s, bytes=self.bytes)] + self.copies(t)
            else:
                steps += [expect] + self.copies(t) + [Step("arrive", of="full", stage=s)]
        return steps

    def expecter(self):
        """Lane 0 of another warp."""
        steps = []
        for t in range(self.tiles):
            s = t % self.stages
            steps += self.wait_empty(t)
            steps += [Step("arrive", of="full", stage=s, bytes=self.bytes), Step("arrive", of="go", stage=s)]
        return steps


# ---- defects: each changes one thing, and says which; None: it does not apply ----------------------------------------

def some(ring, *kinds):
    of = [(role, i) for role in ring.roles for i, s in enumerate(role) if s.kind in kinds]
    return ring.r.choice(of) if of else (None, 0)


def dropped(ring):
    role, i = some(ring, "wait", "arrive", "fence", "fence", "bar", "group", "commit", "products")
    return role and "without " + role.pop(i).kind


def unmet(ring):
    role, i = some(ring, "bar")
    return role and "without " + role.pop(i).kind


def moved(ring):
    role, i = some(ring, "wait", "arrive", "fence", "bar", "group", "load", "store", "copy", "put", "commit", "look",
                   "products")
    if not role:
        return None
    step = role.pop(i)
    role.insert(max(0, min(len(role), i + ring.r.choice([-1, 1]) * ring.r.randint(1, 7))), step)
    return "moved " + step.kind


def late(ring):
    """Behind what tells others."""
    role, i = some(ring, "fence", "fence", "load", "look", "store", "put", "products")
    to = next((k for k in range(i, len(role)) if role[k].kind in ("bar", "arrive")), None) if role else None
    if to is None:
        return None
    role.insert(to, role.pop(i))
    return "a late " + role[to].kind


def of_others(ring):
    """By all lanes what one does, or the other way round."""
    role, i = some(ring, "wait", "arrive", "fence", "group")
    if not role or role is not ring.roles[0]:
        return None
    role[i].who = ring.r.choice([w for w in (None, LANE_0, FIRST, "%others") if w != role[i].who])
    return "%s by %s" % (role[i].kind, role[i].who or "all")


def changed(name, change, *kinds):
    def defect(ring):
        role, i = some(ring, *kinds)
        if not role or name not in role[i].at:
            return None
        role[i].at[name] = change(ring, role[i].at[name])
        return "%s: another %s" % (role[i].kind, name)
    return defect


def counted(ring):
    of = ring.r.choice(["full", "empty"])
    ring.counts[of] = max(1, ring.counts[of] + ring.r.choice([-1, 1]))
    return "another count of " + of


def unstarted(ring):
    ring.starts = False
    return "without the first barrier"


def intruded(ring):
    """The producer's warp, or that of who expects, stores or loads somewhere."""
    role = ring.r.choice(ring.roles[1:])
    role.insert(ring.r.randint(0, len(role)), Step(ring.r.choice(["load", "note"]), stage=ring.r.randrange(ring.stages),
                                                   offset=4 * ring.r.randrange(ring.pitch // 4)))
    return "an access more"


def twice(ring):
    role, i = some(ring, "arrive", "copy", "put")
    if role:
        role.insert(ring.r.randint(i, len(role)), copy.deepcopy(role[i]))
    return role and "one more " + role[i].kind


DEFECTS = [
    dropped, dropped, dropped, unmet, unmet, unmet, moved, moved, late, late, late, late, of_others, of_others, counted, unstarted,
    intruded, intruded, twice,
    changed("parity", lambda ring, v: v ^ 1, "wait"),
    changed("stage", lambda ring, v: ring.r.randrange(ring.stages), "wait", "arrive", "load", "copy", "note", "look",
            "product"),
    changed("buffer", lambda ring, v: ring.r.randrange(ring.buffers), "store", "put"),
    changed("offset", lambda ring, v: max(0, v + 16 * ring.r.randint(-40, 40)), "load", "copy", "store", "put", "note",
            "look"),
    changed("bytes", lambda ring, v: max(16, v + 16 * ring.r.choice([-1, 1])), "copy", "expect", "arrive"),
    changed("left", lambda ring, v: v + 1, "group", "products"),
    changed("read", lambda ring, v: not v, "group"),
    changed("tile", lambda ring, v: ring.r.randrange(ring.tiles), "put", "copy"),
]


def spoil(ring):
    what = None
    while not what:
        what = ring.r.choice(DEFECTS)(ring)
    return what


# ---- text --------------------------------------------------------------------------------------------------------------

class Printer:
    def __init__(self, ring):
        self.ring, self.labels = ring, 0

    def bar(self, of, stage):
        return "[bar+%d]" % (8 * (stage + BAR_OFFSET[of] * self.ring.stages))

    def label(self):
        self.labels += 1
        return "L%d" % self.labels

    def wait(self, s):
        again, end = self.label(), self.label()
        text = ("mov.u32 %%tries, 0;\n%s:\nmbarrier.try_wait.parity.shared.b64 %%over, %s, %d;\n@%%over bra %s;\n"
                "add.u32 %%tries, %%tries, 1;\nsetp.lt.u32 %%over, %%tries, %d;\n@%%over bra %s;\n%s:" % (
                    again, self.bar(s.at["of"], s.at["stage"]), s.at["parity"], end, TRIES, again, end))
        return "@!%s bra %s;\n%s\nbar.warp.sync 0xffffffff;" % (s.who, end, text) if s.who else text

    def arrive(self, s):
        more = s.at.get("bytes")
        return "mbarrier.arrive%s.shared.b64 _, %s%s;" % (".expect_tx" if more else "", self.bar(s.at["of"], s.at["stage"]),
                                                          ", %d" % more if more else "")

    def expect(self, s):
        return "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 %s, %d;" % (self.bar("full", s.at["stage"]), s.at["bytes"])

    def at(self, s):
        return s.at["stage"] * self.ring.pitch + s.at["offset"]

    def load(self, s):
        return "ld.shared.u32 %%v, [%%mine+%d];\nadd.u32 %%sum, %%sum, %%v;" % self.at(s)

    def note(self, s):
        return "st.shared.u32 [%%mine+%d], %%sum;" % self.at(s)

    def look(self, s):
        return "ld.shared.u32 %%v, [%%next+%d];\nadd.u32 %%sum, %%sum, %%v;" % self.at(s)

    def copy(self, s):
        return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [ring+%d], [%%data+%d], %d, %s;" % (
            self.at(s), s.at["tile"] * self.ring.bytes + s.at["offset"], s.at["bytes"], self.bar("full", s.at["stage"]))

    def store(self, s):
        return "st.shared.u32 [%%buffer+%d], %%sum;" % (1024 * s.at["buffer"] + s.at["offset"])

    def put(self, s):
        return "cp.async.bulk.global.shared::cta.bulk_group [%%out+%d], [buffer+%d], %d;" % (
            s.at["tile"] * 512, 1024 * s.at["buffer"] + s.at["offset"], 128 * self.ring.readers)

    def group(self, s):
        return "cp.async.bulk.wait_group%s %d;" % (".read" if s.at["read"] else "", s.at["left"])

    def product(self, s):
        """A has 2,048 bytes, B 256 behind that; patterns are 128 bytes, 256 apart."""
        return ("add.u64 %%da, %%matrix, %d;\nadd.u64 %%db, %%da, 128;\nwgmma.fence.sync.aligned;\n"
                "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f0, %%f1, %%f2, %%f3}, %%da, %%db, 0, 1, 1, 0, 0;\n"
                "wgmma.commit_group.sync.aligned;" % (s.at["stage"] * self.ring.pitch // 16))

    def step(self, s):
        simple = {"fence": "fence.proxy.async.shared::cta;", "bar": "bar.sync 1, %d;" % (32 * self.ring.readers),
                  "commit": "cp.async.bulk.commit_group;"}
        if s.kind == "products":
            return "wgmma.wait_group.sync.aligned %d;" % s.at["left"]
        text = simple.get(s.kind) or getattr(self, s.kind)(s)
        return "\n".join("@%s %s" % (s.who, line) for line in text.split("\n")) if s.who and s.kind != "wait" else text

    def role(self, steps):
        return "\n".join(self.step(s) for s in steps)


HEAD = """//@ device sm_90a
//@ buf data 28672 iota
//@ buf out 65536"""
VERSION = """.version 8.0
.target sm_90a
.address_size 64"""
KERNEL = """// {what}
.visible .entry {name}(.param .u64 p_data, .param .u64 p_out)
{{
.reg .pred %lane0, %first, %others, %is, %over, %odd;
.reg .b32 %t, %w, %l, %v, %sum, %tries, %mine, %next, %buffer;
.reg .f32 %f<4>;
.reg .b64 %data, %out, %o, %matrix, %da, %db;
.shared .align 1024 .b8 ring[{ring}];
.shared .align 1024 .b8 buffer[2048];
.shared .align {align} .b64 bar[12];
ld.param.u64 %data, [p_data];
cvta.to.global.u64 %data, %data;
ld.param.u64 %out, [p_out];
cvta.to.global.u64 %out, %out;
mov.u32 %v, %ctaid.x;
setp.eq.u32 %odd, %v, {odd};
mul.wide.u32 %o, %v, {of_block};
add.u64 %out, %out, %o;
mov.u32 %t, %tid.x;
shr.u32 %w, %t, 5;
and.b32 %l, %t, 31;
setp.eq.u32 %lane0, %l, 0;
setp.eq.u32 %first, %t, 0;
setp.ne.u32 %others, %w, 0;
mov.u32 %sum, %t;
mov.u32 %mine, ring;
shr.u32 %v, %mine, 4;
cvt.u64.u32 %matrix, %v;
or.b64 %matrix, %matrix, 0x1000080000;
mad.lo.u32 %mine, %t, 4, %mine;
mov.u32 %buffer, buffer;
mad.lo.u32 %buffer, %t, 4, %buffer;
add.u32 %next, %t, 32;
setp.ge.u32 %is, %next, {read_by};
@%is sub.u32 %next, %next, {read_by};
mov.u32 %v, ring;
mad.lo.u32 %next, %next, 4, %v;
@%odd bra ODD;
{body}
ODD:
{odd_body}
END:
ret;
}}"""
BODY = """{inits}
{start}
setp.lt.u32 %is, %w, {readers};
@%is bra READ{n};
@!%lane0 bra END;
setp.eq.u32 %is, %w, {readers};
@%is bra COPY{n};
{expecter}
bra END;
COPY{n}:
{producer}
bra END;
READ{n}:
{reader}
mul.wide.u32 %o, %t, 4;
add.u64 %out, %out, %o;
st.global.u32 [%out+3072], %sum;
bra END;"""


def body(p, n):
    ring = p.ring
    inits = ["@%%first mbarrier.init.shared.b64 %s, %d;" % (p.bar(of, s), ring.counts[of])
             for of in ("full", "empty") + (("go",) if ring.helper else ()) for s in range(ring.stages)]
    roles = [p.role(steps) for steps in ring.roles] + [""]
    return BODY.format(n=n, inits="\n".join(inits), start="bar.sync 0;" if ring.starts else "", readers=ring.readers,
                       reader=roles[0], producer=roles[1], expecter=roles[2])


def text(ring, odd, name, what):
    """odd: which block does what in its place, or None."""
    p = Printer(ring)
    bodies = [body(p, 0)]
    if odd:
        p.ring = odd[1]
        bodies.append(body(p, 1))
    return KERNEL.format(
        what=what, name=name, odd=odd[0] if odd else ring.blocks, body=bodies[0], odd_body=bodies[-1] if odd else "",
        ring=ring.pitch * ring.stages + 1024, align=1024 if ring.apart else 8, of_block=8192, read_by=32 * ring.readers)


def program(seed):
    right = int(seed) % 4 == 0
    launches, kernels = [], []
    for i in range(KERNELS):
        ring = Ring("%s.%d" % (seed, i if right else 0))
        ring.r = random.Random("%s:%d" % (seed, i))
        one = random.Random("%s:%d:one" % (seed, i))
        threads, what, odd = 32 * (ring.readers + 1 + ring.helper), "right", None
        if one.random() < .5:
            ring.blocks = one.randint(2, 6)
            odd = None if right else (one.randrange(ring.blocks), copy.deepcopy(ring))
        if not right:
            what = spoil(odd[1] if odd else ring) + (" in block %d" % odd[0] if odd else "")
        launches.append("//@ launch k%d grid=%d block=%d args=data,out" % (i, ring.blocks, threads))
        kernels.append(text(ring, odd, "k%d" % i, what))
    return "\n".join(["// right" if right else "// wrong", HEAD] + launches + [VERSION] + kernels)


for number in sys.argv[1:]:
    with open(number + ".ptx", "w") as out:
        print(program(number), file=out)
