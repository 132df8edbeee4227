#!/usr/bin/env python3
"""Holds Lathe to what it promises of measurements: whatever happens, none is lost, and every command goes on or ends
with one clear sentence.

Runs the real programs through kills, signals, full disks, places that cannot be written, records of other machines,
damaged files and several processes on one file. Prints a line of what was seen for each; exit status 1 if anything
is not as it must be. A disk that is full takes root, which may mount one.

usage: trust_test.py LATHE [--long] [--kills N] [--seed N] [--only REGEX]
"""
import argparse
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from trust import crowd, damage, disk, ends, machines
from trust.place import Fault, Place

Scenario = Callable[[Place, random.Random], str]


def scenarios(long: bool, kills: int) -> dict[str, Scenario]:
    rounds = 10 if long else 1
    return {
        "kills": lambda place, rng: ends.kills(place, kills, rng),
        "signals": lambda place, rng: ends.interrupts(place, 60 if long else 6, rng),
        "nohup": lambda place, rng: ends.ignored_hangup(place),
        "file removed": lambda place, rng: ends.removed_file(place),
        "two processes": lambda place, rng: crowd.whole(place, 2, rounds),
        "three processes": lambda place, rng: crowd.whole(place, 3, rounds),
        "one of three killed": lambda place, rng: crowd.one_killed(place, rounds, rng),
        "disk fills up": lambda place, rng: disk.full_while_tuning(place),
        "disk is full": lambda place, rng: disk.full_from_the_start(place),
        "outputs on a full disk": lambda place, rng: disk.full_for_outputs(place),
        "file size limit": lambda place, rng: disk.size_limit(place),
        "read-only places": lambda place, rng: disk.read_only(place),
        "read-only disk": lambda place, rng: disk.read_only_disk(place),
        "other machines": lambda place, rng: machines.others(place),
        "no records file": lambda place, rng: damage.strangers(place),
        "damage": lambda place, rng: damage.spoilt(place, 20 if long else 2, rng, 1 if long else 0.1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lathe", type=Path)
    parser.add_argument("--long", action="store_true", help="100 kills and everything else more often, half an hour")
    parser.add_argument("--kills", type=int, help="default: 6, or 100 with --long")
    parser.add_argument("--seed", type=int, default=1, help="of the moments and places left to chance")
    parser.add_argument("--only", default="", help="the scenarios whose names the expression is found in")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's background jobs begin with it ignored
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and what nohup starts with that
    kills = options.kills or (100 if options.long else 6)
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Place(options.lathe.resolve(), Path(folder))
        for name, scenario in scenarios(options.long, kills).items():
            if not re.search(options.only, name):
                continue
            begin = time.monotonic()
            try:
                seen = scenario(place, random.Random(options.seed))
            except Fault as fault:
                faults += 1
                seen = f"FAILED: {fault}"
            print(f"{name} ({time.monotonic() - begin:.0f} s): {seen}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
