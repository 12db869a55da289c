# SPDX-License-Identifier: Apache-2.0
"""lanes.py LOG: what `gsan-run -v --events=probes` printed of ways.cu.  In the order in which the detector reads a warp,
runs by their clocks, each lane's places have to become larger (a record may stand for several).  Prints steps, runs,
and those out of order."""
import re
import sys

PLACES = 1024
runs, begun, stream, last, steps, wrong = [], {}, {}, {}, 0, 0
line_of = re.compile(r"^(\d+\.\d+):(?:0x[0-9a-f]+)? (\S+) (.*)")
for line in open(sys.argv[1]):
    m = line_of.match(line)
    if not m:
        continue
    warp, name, rest = m.groups()
    clock = int(rest.split("@")[1].split("/")[0]) if name in ("clock", "piece") else 0
    if name == "piece":
        # What comes before a clock goes on with the piece before it of that leader.
        leader = (warp, rest.split()[2])
        clock = stream.get(leader, clock)
    if name in ("clock", "piece"):
        stream[leader] = clock
        runs.append((clock - begun.setdefault(warp, clock) & 0xffffffff, len(runs), warp, []))
    elif name.startswith("access"):
        runs[-1][3].append([int(a[2:], 16) for a in rest.split(" ")[0].split(",")])
for clock, _, warp, records in sorted(runs, key=lambda r: r[:2]):
    for addresses in records:
        for a in addresses:
            thread, place = divmod(a // 4, PLACES)
            steps += 1
            wrong += place <= last.get(thread, -1)
            last[thread] = place
print(steps, "steps,", len(runs), "runs,", wrong, "out of order")
sys.exit(wrong != 0 or steps == 0)
