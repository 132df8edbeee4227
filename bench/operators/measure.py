#!/usr/bin/env python3
"""Tunes operators and measures the winners in turns with the peers: the figures of docs/performance.md.

Tuning keeps everything in FOLDER/operators.db, so an interrupted run goes on where it was and a run with more
trials or time adds to an earlier one. The winners are then measured in turns with the peers on the same cores
(`lathe bench --peers`), some cases at a time, since what slows a shared machine lasts for seconds. Writes
FOLDER/coresN.json: the machine as `lathe target` prints it, how it was tuned, the rows of `bench`, and for each task
the best time so far over its trials.

A speed-up is the median, over all turns, of what the peer took in a turn over what ours took in it. With --weak RATIO
the cases that are then below that are tuned on, up to --weak-trials, and they and their peers measured in so many
rounds more, --weak-passes times: the turns add up where the same program won, a new winner begins anew.

usage: measure.py --out FOLDER [--lathe BINARY] [--workload FILE.json] [--filter REGEX] [--cpus 0[,1]]
                  [--time SECONDS] [--case-time SECONDS] [--trials N] [--rounds N] [--target NAME]
                  [--weak RATIO [--weak-trials N] [--weak-passes N]]
"""
import argparse
import contextlib
import json
import math
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Lathe:
    """The command line, on some processors."""

    def __init__(self, binary: str, cpus: str):
        self.prefix = ["taskset", "-c", cpus, binary]
        self.cores = len(cpus.split(","))

    def run(self, *arguments: str) -> str:
        """What it printed; its progress goes where this program's does. Status 1, a case without a program or a
        peer's figure, is told by the rows."""
        done = subprocess.run(self.prefix + list(arguments), stdout=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"lathe {' '.join(arguments)} ended with {done.returncode}")
        return done.stdout


    def recorded_seconds(self, workload: str, name: str, records: str) -> float:
        """Of the best recorded program of one case, measured once more."""
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "row.json")
            self.run("bench", "--workload", workload, "--filter", f"^{re.escape(name)}$", "--cores", str(self.cores),
                     "--rounds", "1", "--records", records, "--json", str(out))
            return json.loads(out.read_text())[0]["seconds"]


def curves_of(records: Path, cores: int) -> dict[str, list[float | None]]:
    """By task name, its best seconds so far after each trial: null before the first program that works."""
    with contextlib.closing(sqlite3.connect(f"file:{records}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT tasks.name, seconds FROM records JOIN tasks ON hash = task"
                                  " WHERE cores = ? ORDER BY records.id", (cores,)).fetchall()
    curves: dict[str, list[float | None]] = {}
    for name, seconds in rows:
        curve = curves.setdefault(name, [])
        best = curve[-1] if curve else None
        known = [value for value in (best, seconds) if value is not None]
        curve.append(min(known, default=None))
    return curves


def tuning_seconds_of(records: Path, cores: int) -> dict[str, float]:
    """By task name, the seconds that its trials took."""
    with contextlib.closing(sqlite3.connect(f"file:{records}?mode=ro", uri=True)) as connection:
        return dict(connection.execute("SELECT tasks.name, sum(wall_seconds) FROM records JOIN tasks ON hash = task"
                                       " WHERE cores = ? GROUP BY task", (cores,)))


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def speedup_of(row: dict) -> float | None:
    """The fastest peer's time over ours: of each peer the median of its turns."""
    return min(map(statistics.median, row.get("ratios", {}).values()), default=None)


def join_row(row: dict, other: dict) -> None:
    """The turns of both, and each side's best time, where one program took them; else those of the later one."""
    row["trials"] = other["trials"]
    is_same = row.get("record") == other.get("record")
    if not is_same or (row["seconds"] and other["seconds"] and other["seconds"] < row["seconds"]):
        row.update({key: other[key] for key in ("record", "seconds", "spread", "gflops") if key in other})
    if not is_same:
        row["ratios"] = {}
    for form, seconds in other.get("peers", {}).items():
        peers = row.setdefault("peers", {})
        peers[form] = min(seconds, peers.get(form, seconds))
    for form, ratios in other.get("ratios", {}).items():
        row.setdefault("ratios", {}).setdefault(form, []).extend(ratios)
    row["speedup"] = speedup_of(row)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--lathe", default=str(root / "build/release/bin/lathe"))
    parser.add_argument("--workload", default=str(root / "workloads/operators.json"))
    parser.add_argument("--filter", default="")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cpus", default="0")
    parser.add_argument("--time", type=float, help="seconds of tuning, shared among the cases")
    parser.add_argument("--case-time", type=float, help="seconds of trials a case at most, shared among the passes")
    parser.add_argument("--trials", type=int, help="trials a case; what was tuned before counts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--target", help="the code's target; the peers' is a matter of their environment")
    parser.add_argument("--weak", type=float, help="tune and measure again what is below this speed-up")
    parser.add_argument("--weak-trials", type=int, default=60)
    parser.add_argument("--weak-passes", type=int, default=1)
    return parser.parse_args()


class Table:
    """The rows of the cases, tuned and measured one or more times."""

    def __init__(self, options: argparse.Namespace, lathe: Lathe):
        self.lathe = lathe
        self.records = options.out / "operators.db"
        self.rows_file = options.out / "rows.json"
        self.common = ["--workload", options.workload, "--cores", str(lathe.cores), "--records", str(self.records)]
        if options.target:
            self.common += ["--target", options.target]
        self.report_file = options.out / f"cores{lathe.cores}.json"
        self.tuning_seconds = 0.0  # of this run and of those that it goes on from
        if self.report_file.exists():
            self.tuning_seconds = json.loads(self.report_file.read_text())["tuning_seconds"]
        self.rows: list[dict] = []

    def measure(self, expression: str, limits: list[str], rounds: int) -> None:
        """Tunes the cases of these names and measures them in turns with their peers."""
        cases = self.common + (["--filter", expression] if expression else [])
        begin = time.monotonic()
        self.lathe.run("tune", *cases, *limits)
        self.tuning_seconds += time.monotonic() - begin
        self.lathe.run("bench", *cases, "--peers", "--rounds", str(rounds), "--json", str(self.rows_file))
        known = {row["name"]: row for row in self.rows}
        for row in json.loads(self.rows_file.read_text()):
            if row["name"] in known:
                join_row(known[row["name"]], row)
            else:
                self.rows.append(row)
        seconds = tuning_seconds_of(self.records, self.lathe.cores)
        for row in self.rows:
            row["tuning_seconds"] = seconds.get(row["name"], 0.0)

    def names_below(self, ratio: float) -> list[str]:
        return [row["name"] for row in self.rows if (value := speedup_of(row)) is not None and value < ratio]


def main() -> None:
    options = parse_options()
    options.out.mkdir(parents=True, exist_ok=True)
    lathe = Lathe(options.lathe, options.cpus)
    table = Table(options, lathe)
    limits = [text for name in ("time", "trials") if (value := getattr(options, name)) is not None
              for text in (f"--{name}", f"{value:g}")]
    passes = options.weak_passes if options.weak else 0
    in_time = ["--case-time", f"{options.case_time / (1 + passes):g}"] if options.case_time else []
    table.measure(options.filter, limits + in_time, options.rounds)
    for _ in range(passes):
        weak = table.names_below(options.weak)
        if weak:
            expression = "^(" + "|".join(map(re.escape, weak)) + ")$"
            table.measure(expression, ["--trials", str(options.weak_trials), *in_time], options.rounds)
    report = {"machine": lathe.run("target").splitlines(), "cores": lathe.cores,
              "tuning_seconds": table.tuning_seconds, "rows": table.rows, "curves": curves_of(table.records, lathe.cores)}
    if options.weak:
        report["weak"] = {"ratio": options.weak, "trials": options.weak_trials, "passes": options.weak_passes}
    table.report_file.write_text(json.dumps(report, indent=1) + "\n")
    speedups = [value for row in table.rows if (value := speedup_of(row)) is not None]
    if speedups:
        print(f"{len(speedups)} of {len(table.rows)} cases have a peer: geometric mean "
              f"{geometric_mean(speedups):.2f}x, at least as fast {sum(s >= 1 for s in speedups)}, "
              f"least {min(speedups):.2f}x; {table.report_file}")


if __name__ == "__main__":
    main()
