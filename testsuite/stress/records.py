# SPDX-License-Identifier: Apache-2.0
"""What probes log and what the emulated device logs of the same program (event/event.h): the records of each lane have to
be the same ones, where the schedule does not say what they are.

records.py NAME...: of each what `gsan-run -v` printed, in the files NAME.emu and NAME.probes.  Prints those that only one of
them has, and how many both have; of a NAME that begins with "values" what strong accesses read and write counts as well.  The
status is 1 if any differ."""
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


def compare(name):
    """How many are the same, and whether all are."""
    emu, probes = (records(name + of, name.startswith("values")) for of in (".emu", ".probes"))
    for who, what in (("emulated device", emu - probes), ("probes", probes - emu)):
        for record in sorted(what, key=str)[:5]:
            print(f"{name}: only the {who}:", *record)
    return len(emu & probes), emu == probes


def main():
    all_of = [compare(name) for name in sys.argv[1:]]
    print(sum(n for n, _ in all_of), "records")
    return 0 if all(same for _, same in all_of) else 1


sys.exit(main())
