#!/usr/bin/env python3
"""Joins what measure.py measured of the same cases at several times: of weak cases tuned and measured again.

Each case keeps its best time of ours and of each peer, over all files; trials and tuning add up, and curves go on
where the file before ended. Refuses files of another machine or number of cores.

usage: join.py OUT.json FIGURES.json FIGURES.json ...
"""
import argparse
import json
import sys
from pathlib import Path

from measure import join_row


def join_curves(curve: list[float | None], later: list[float | None]) -> list[float | None]:
    last = curve[-1] if curve else None
    return curve + [min((value for value in (last, best) if value is not None), default=None) for best in later]


def join(report: dict, later: dict) -> None:
    report["tuning_seconds"] += later["tuning_seconds"]
    rows = {row["name"]: row for row in report["rows"]}
    for row in later["rows"]:
        if row["name"] in rows:
            known = rows[row["name"]]
            known["trials"] += row["trials"]
            known["tuning_seconds"] += row["tuning_seconds"]
            join_row(known, row)
        else:
            report["rows"].append(row)
    for name, curve in later["curves"].items():
        report["curves"][name] = join_curves(report["curves"].get(name, []), curve)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("figures", type=Path, nargs="+")
    options = parser.parse_args()
    report = json.loads(options.figures[0].read_text())
    for path in options.figures[1:]:
        later = json.loads(path.read_text())
        if (later["machine"][0], later["cores"]) != (report["machine"][0], report["cores"]):
            sys.exit(f"{path} is of another machine or number of cores than {options.figures[0]}")
        join(report, later)
    report["joined"] = len(options.figures)
    options.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
