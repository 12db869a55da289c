# SPDX-License-Identifier: Apache-2.0
"""What probes log and what the emulated device logs of the same program (event/event.h): the records of each lane have to
be the same ones, where the schedule does not say what they are.

records.py EMU PROBES [values]: two logs that `gsan-run -v` printed.  Prints those that only one of them has; `values`:
what strong accesses read and write counts as well.  The status is 1 if there are any."""
import re
import sys

SAME = ("tc.", "tensor", "map.", "copy", "cancel", "async.store", "wgmma", "cp.async", "commit", "wait.group", "fence",
        "mbar.init", "mbar.inval", "mbar.expect", "mbar.complete", "mbar.copies", "bar.", "cluster.", "dependents", "grid.wait")
ALIGNED = 512                           # bytes: memory lies at multiples of it
RECORD = re.compile(r"(\d+\.\d+):0x([0-9a-f]+) (\S+) (.*?)(?:@\S+ )?line=(\d+) *#(.*)")


def plain(word):
    """Without its name; of an address what does not depend on where the memory lies."""
    at = re.search(r"0x([0-9a-f]+)$", word)
    if not at:
        return word
    number = int(at[1], 16)
    return (word[:at.start()].split("=")[-1], number % ALIGNED if number >= 1 << 40 else number)


def records(path, values):
    found = set()
    with open(path, encoding="latin1") as log:
        for line in log:
            m = RECORD.match(line)
            # A record that stands for several has the first one's operands.
            if not m or "+" in m[6] or not m[3].startswith(SAME + (("strong",) if values else ())):
                continue
            # Maps have addresses in them, and those that are parameters have other names.
            words = [w.split(",") for w in m[4].split() if not w.startswith(("hash=", "was="))]
            lanes = [i for i in range(32) if int(m[2], 16) >> i & 1]
            for n, lane in enumerate(lanes):
                found.add((m[1], lane, m[3], m[5]) + tuple(plain(w[n if len(w) == len(lanes) else 0]) for w in words))
    return found


def main():
    values = len(sys.argv) > 3
    emu, probes = records(sys.argv[1], values), records(sys.argv[2], values)
    for who, what in (("emulated device", emu - probes), ("probes", probes - emu)):
        for record in sorted(what, key=str)[:5]:
            print(f"only the {who}:", *record)
    print(len(emu & probes), "records")
    return 1 if emu != probes else 0


sys.exit(main())
