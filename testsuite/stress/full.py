# SPDX-License-Identifier: Apache-2.0
"""full.py THREADS ROUNDS LOG: what `gsan-run -v --events=probes` printed of fill.cu: each of a thread's stores in `out` is
there once (and that of the sum, which goes to its first place, again).  Prints how many there are, and how many are not so."""
import collections
import re
import sys

threads, rounds = int(sys.argv[1]), int(sys.argv[2])
seen = collections.Counter()
line_of = re.compile(r"^\d+\.\d+:0x[0-9a-f]+ access\.global (\S+) ")
for line in open(sys.argv[3]):
    m = line_of.match(line)
    if m:
        seen.update(int(a[2:], 16) // 4 for a in m.group(1).split(","))
first = min(seen)
want = collections.Counter(range(first, first + threads * rounds))
want.update(range(first, first + threads * rounds, rounds))
print(sum(seen.values()), "stores,", sum(((seen - want) + (want - seen)).values()), "wrong")
sys.exit(seen != want)
