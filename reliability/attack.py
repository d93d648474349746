"""What happens to an expert's answers when files, disks and processes fail: one table, counted anew.

python reliability/attack.py [--quick] [--kills N] [--window-kills N] [--rows PART ...]

A row is: what was tried, how often, how many went unnoticed, how many answers were lost. Anything but 0 in the last two
columns is a fault, and the exit code is 1. With --quick every row is tried on a sample.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from file_attacks import PARTS, Sound
from process_attacks import kills, leaving, window_kills


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a sample of every row")
    parser.add_argument("--kills", type=int, help="of the real command (default 1,000; quick: 5)")
    parser.add_argument("--window-kills", type=int, help="of the real window (default 200; quick: 1)")
    parser.add_argument("--rows", nargs="+", choices=(*PARTS, "kills", "window", "leaving"), help="only these parts")
    given = parser.parse_args()
    wanted = given.rows or (*PARTS, "kills", "leaving", "window")
    step = 97 if given.quick else 1
    number = given.kills if given.kills is not None else 5 if given.quick else 1_000
    windows = given.window_kills if given.window_kills is not None else 1 if given.quick else 200
    print(f"{'what':58}{'tried':>8}{'silent':>8}{'lost':>8}", flush=True)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="attack-") as place:
        folder = Path(place)
        sound = Sound(folder)
        rows = [part(sound, step) for name, part in PARTS.items() if name in wanted]
        rows += [kills(folder, number)] if "kills" in wanted else []
        rows += [leaving(folder)] if "leaving" in wanted else []
        rows += [window_kills(folder, windows)] if "window" in wanted else []
        for part in rows:
            for row in part:
                print(row, flush=True)
                faults += row.silent + row.lost
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
