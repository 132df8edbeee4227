#!/usr/bin/env python3
"""Measures the tables on which searches are compared (docs/table_format.md): the sets TA, TB, TF and TL.

Each table is one `lathe table record`, on one core, whose measurements stay in FOLDER/SET.db: what was measured is
never measured again, so that a run that is ended goes on where it was. Tables that are there already are left as they
are.

usage: record.py SET [CASE ...] --lathe BINARY [--folder FOLDER] [--cpu 0] [--seconds S]
"""
import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "workloads" / "operators.json"

KINDS = ["C1D.2.b1", "C2D.1.b1", "C3D.0.b1", "GMM.1.b1", "GRP.0.b1", "DIL.0.b1", "DEP.2.b1", "T2D.2.b1", "CAP.0.b1",
         "NRM.0.b1", "ConvLayer.1.b1", "TBS.0.b1"]
# The space of each set, and how many points its tables have at most.
SETS = {
    "TA": ("autotvm", {**{f"resnet18.C{i}": 4096 for i in range(1, 13)},
                       "resnet18.C2": 16384, "resnet18.C6": 16384, "resnet18.C9": 16384, "matmul.1024": 4096}),
    "TB": ("ansor", {"C1D.2.b1": 8192, "GMM.1.b1": 4096, "GRP.0.b1": 4096, "DEP.2.b1": 4096, "T2D.2.b1": 4096,
                     "CAP.0.b1": 4096, "TBS.0.b1": 4096, "NRM.0.b1": 1 << 20}),
    "TF": ("flextensor", {name: 8192 for name in ("yolo.C3", "yolo.C7", "yolo.C11", "C1D.2.b1", "flex.GRP.7")}),
    "TL": ("lathe", {name: 4096 for name in KINDS}),
}


def record(case: str, space: str, points: int, out: Path, arguments, seconds: float) -> bool:
    """Whether the table is written."""
    command = ["taskset", "-c", arguments.cpu, arguments.lathe, "table", "record", "--workload", WORKLOADS,
               "--filter", "^" + case.replace(".", "\\.") + "$", "--space", space, "--points", points, "--cores", 1,
               "--time", max(1, int(seconds)), "--records", out.parent / (arguments.set + ".db"), "--out", out]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{case}: {done.stderr.strip().splitlines()[-1]}")
    print(f"{case}: {done.stdout.strip().splitlines()[0]}", flush=True)
    return out.exists()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=SETS)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--lathe", required=True)
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parent)
    parser.add_argument("--cpu", default="0")
    parser.add_argument("--seconds", type=float, default=2400, help="of this run")
    arguments = parser.parse_args()
    space, tables = SETS[arguments.set]
    arguments.folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + arguments.seconds
    for case, points in tables.items():
        out = arguments.folder / f"{arguments.set}.{case}.table"
        if out.exists() or (arguments.cases and case not in arguments.cases):
            continue
        if time.monotonic() > end or not record(case, space, points, out, arguments, end - time.monotonic()):
            print("the time is over; the same command goes on")
            return


if __name__ == "__main__":
    main()
