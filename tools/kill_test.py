#!/usr/bin/env python3
"""Kills a tuning run at random moments and checks that every record that was there is still there.

usage: kill_test.py LATHE WORKLOAD.json [--filter REGEX] [--kills N] [--seed N]

Each round starts the same tuning command on the same records file and ends it with SIGKILL after 0.2 to 3 seconds.
After each kill every record seen before must be unchanged and no worker may be left; at the end the command runs
to its end. Prints a line a round and exits with 1 on the first fault.
"""
import argparse
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time


def records(path: pathlib.Path) -> dict[int, tuple]:
    if not path.exists():
        return {}
    with sqlite3.connect(path) as connection:
        try:
            rows = connection.execute("SELECT id, task, trace, samples, seconds FROM records").fetchall()
        except sqlite3.OperationalError:  # killed before the tables were made
            return {}
    return {row[0]: row[1:] for row in rows}


def workers(lathe: str) -> list[str]:
    worker = str(pathlib.Path(lathe).resolve().parent / "lathe-worker")
    found = subprocess.run(["pgrep", "-f", worker], capture_output=True, text=True, check=False)
    return found.stdout.split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lathe")
    parser.add_argument("workload")
    parser.add_argument("--filter", default="")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    before_all = set(workers(options.lathe))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kills.db"
        command = [options.lathe, "tune", "--workload", options.workload, "--filter", options.filter,
                   "--cores", "1", "--records", str(path)]
        seen: dict[int, tuple] = {}
        for kill in range(options.kills):
            process = subprocess.Popen(command + ["--trials", "100000"], stderr=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.2, 3.0))
            process.kill()
            process.wait()
            time.sleep(0.3)
            now = records(path)
            lost = [i for i, row in seen.items() if now.get(i) != row]
            left = set(workers(options.lathe)) - before_all
            print(f"kill {kill + 1}: {len(now)} records, {len(lost)} lost or changed, {len(left)} workers left")
            if lost or left or len(now) < len(seen):
                return 1
            seen = now
        end = subprocess.run(command + ["--trials", "4"], capture_output=True, text=True, check=False)
        print(f"the command then runs to its end: exit status {end.returncode}")
        return end.returncode


if __name__ == "__main__":
    sys.exit(main())
