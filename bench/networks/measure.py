#!/usr/bin/env python3
"""Measures networks beside ONNX Runtime and OpenVINO, on one core and on two, untuned and tuned: the figures of
docs/notes/networks.md.

Each network is compiled and timed (untuned), tuned for --time seconds (0: not at all), and all its artifacts and the
peers take turns (tools/compare_network.py). Whatever was measured is kept in FOLDER/results.json, records in
FOLDER/NAME.coresN.db, so that an interrupted run goes on where it was, and one that is asked for again adds nothing.
`kernels` is the sum of the recorded times of the kernels that an artifact launches.

usage: measure.py MODELS FOLDER [NETWORK ...] [--lathe BINARY] [--cpus 0 | 0,1] [--time SECONDS] [--rounds N]
                  [--tolerance SHARE] [--table]
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
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import compare_network  # noqa: E402

OURS = ("untuned", "tuned")


def run(cpus: str, *command) -> tuple[str, float]:
    """What it printed, and the seconds that it took."""
    begin = time.perf_counter()
    done = subprocess.run(["taskset", "-c", cpus, *map(str, command)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout, time.perf_counter() - begin


def recorded_seconds(records: Path, folder: Path) -> float | None:
    """The sum over an artifact's launches, those of loops at every step, of what their kernels' records say; none where
    one was never measured."""
    manifest = json.loads((folder / "manifest.json").read_text())
    with contextlib.closing(sqlite3.connect(f"file:{records}?mode=ro", uri=True)) as connection:
        seconds = dict(connection.execute("SELECT id, seconds FROM records"))
    taken = [seconds.get(manifest["kernels"][launch["kernel"]]["record"]) for launch in manifest["launches"]]
    if None in taken:
        return None
    for loop in manifest.get("loops", []):
        first = loop["first_launch"]
        for launch in range(first, first + loop["launch_count"]):
            taken[launch] *= loop["steps"]
    return sum(taken)


class Store:
    """The results so far, by network and cores."""

    def __init__(self, path: Path):
        self.path = path
        self.rows = json.loads(path.read_text()) if path.exists() else {}

    def row(self, name: str, cores: int) -> dict:
        return self.rows.setdefault(f"{name}/{cores}", {})

    def save(self) -> None:
        aside = self.path.with_suffix(".new")
        aside.write_text(json.dumps(self.rows, indent=1) + "\n")
        aside.replace(self.path)


def measure(name: str, arguments: argparse.Namespace, store: Store) -> None:
    cores = len(arguments.cpus.split(","))
    row = store.row(name, cores)
    wanted = list(OURS if arguments.time > 0 else OURS[:1])
    if all(label in row.get("milliseconds", {}) for label in wanted):
        return
    model = Path(arguments.models, f"{name}.onnx")
    folder = Path(arguments.folder)
    artifacts = {label: folder / f"{name}.cores{cores}.{label}" for label in wanted}
    records = folder / f"{name}.cores{cores}.db"
    common = [model, "--cores", cores]
    if "compile_seconds" not in row or not artifacts["untuned"].exists():
        _, row["compile_seconds"] = run(arguments.cpus, arguments.lathe, "compile", *common, "--out",
                                        artifacts["untuned"])
    if "tuned" in artifacts and not artifacts["tuned"].exists():
        _, row["tune_seconds"] = run(arguments.cpus, arguments.lathe, "tune", *common, "--time", arguments.time,
                                     "--records", records, "--out", artifacts["tuned"])
        row["kernels"] = recorded_seconds(records, artifacts["tuned"])
    out = folder / "compared.json"
    pairs = [part for label, path in artifacts.items() for part in ("--artifact", f"{label}={path}")]
    run(arguments.cpus, sys.executable, "-W", "ignore", ROOT / "tools/compare_network.py", model, "--lathe",
        arguments.lathe, *pairs, "--cpus", arguments.cpus, "--rounds", arguments.rounds, "--tolerance",
        arguments.tolerance, "--json", out)
    compared = json.loads(out.read_text())
    row["milliseconds"] = {each["label"]: 1e3 * each["seconds"] for each in compared}
    peers = [each for each in compared if each["label"] not in OURS]
    faster = min(peers, key=lambda each: each["seconds"])
    row["speed_up"] = {each["label"]: statistics.median(slow / fast for slow, fast in
                                                        zip(faster["rounds"], each["rounds"]))
                       for each in compared if each["label"] in OURS}
    row["difference"] = {each["label"]: each["difference"] for each in compared}
    store.save()


def mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def table(store: Store) -> str:
    """Of all that was measured: milliseconds, how many times as fast as the faster peer, seconds of compilation."""
    lines = ["| network | cores | untuned | tuned | kernels | ONNX Runtime | OpenVINO | untuned, times as fast "
             "| tuned, times as fast | compiled in s |", "|---|---|---|---|---|---|---|---|---|---|"]

    def shown(value: float | None, digits: int = 2) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    for key, row in sorted(store.rows.items()):
        if "milliseconds" not in row:
            continue
        name, cores = key.rsplit("/", 1)
        took = {re.sub(r" [0-9.]+$", "", label): ms for label, ms in row["milliseconds"].items()}
        kernels = row.get("kernels")
        lines.append(f"| {name} | {cores} | {shown(took.get('untuned'))} | {shown(took.get('tuned'))} | "
                     f"{shown(kernels and 1e3 * kernels)} | {shown(took.get('ONNX Runtime'))} | "
                     f"{shown(took.get('OpenVINO'))} | {shown(row['speed_up'].get('untuned'))} | "
                     f"{shown(row['speed_up'].get('tuned'))} | {shown(row.get('compile_seconds'), 1)} |")
    for cores in (1, 2):
        for label in OURS:
            gains = [row["speed_up"][label] for key, row in store.rows.items()
                     if key.endswith(f"/{cores}") and label in row.get("speed_up", {})]
            if gains:
                lines.append(f"\nGeometric mean of {len(gains)}, {cores} core(s), {label}: {mean(gains):.2f}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("models")
    parser.add_argument("folder")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--lathe", default=str(ROOT / "build/release/bin/lathe"))
    parser.add_argument("--cpus", default="0")
    parser.add_argument("--time", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--tolerance", type=float, default=compare_network.TOLERANCE)
    parser.add_argument("--table", action="store_true", help="only print what was measured")
    arguments = parser.parse_args()
    folder = Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder / "results.json")
    names = arguments.networks or sorted(path.stem for path in Path(arguments.models).glob("*.onnx"))
    for name in [] if arguments.table else names:
        measure(name, arguments, store)
        row = store.row(name, len(arguments.cpus.split(",")))
        print(name, {label: round(gain, 2) for label, gain in row["speed_up"].items()}, flush=True)
    print(table(store))
    return 0


if __name__ == "__main__":
    sys.exit(main())
