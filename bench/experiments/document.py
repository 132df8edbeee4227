#!/usr/bin/env python3
"""Writes docs/experiments.md from what `lathe experiment --out FOLDER` has written there: for each experiment its figure,
the numbers of each run on each table with their intervals, and its bars, met or missed.

usage: document.py FOLDER
"""
import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"

HEAD = """# Experiments
Made by `bench/experiments/document.py`. Searches on measured tables ([table_format.md](table_format.md)), the same on every \
machine; files in `bench/experiments/`, what the columns mean in [experiment_format.md](experiment_format.md). In brackets the \
interval that holds 95 % of the medians of resampled seeds. A claim that does not hold here stands as it is.
"""


def interval(numbers: dict) -> str:
    return f"{numbers['median']:.3f} ({numbers['low']:.3f} .. {numbers['high']:.3f})"


def table_of(table: dict) -> list[str]:
    lines = [f"**{table['table']}**, optimum {table['optimum'] * 1e6:.1f} us", "",
             "| run | seeds | score | final quality | trials to 95 % |", "|---|---|---|---|---|"]
    for run in table["runs"]:
        reached = run["trials_to_95"] if run["trials_to_95"] is not None else "-"
        lines.append(f"| {run['run']} | {run['seeds']} | {interval(run['score'])} | {interval(run['final_quality'])} "
                     f"| {reached} |")
    return [*lines, ""]


def section(experiment: dict, outcome: dict) -> list[str]:
    source = f", {experiment['source']}" if experiment.get("source") else ""
    lines = [f"## {experiment['name']}: {experiment['title']}{source}", "",
             f"![{experiment['title']}](experiments/{experiment['name']}.svg)", ""]
    for bar in outcome["bars"]:
        value = "never" if bar["value"] is None else f"{bar['value']:.3f}"
        lines.append(f"- {'met' if bar['is_met'] else '**missed**'}: {bar['claim']} ({value})")
    lines.append("")
    for table in outcome["tables"]:
        lines += table_of(table)
    return lines


def main() -> None:
    folder = Path(sys.argv[1])
    (DOCS / "experiments").mkdir(exist_ok=True)
    lines = [HEAD]
    for path in sorted(HERE.glob("*.json")):
        experiment = json.loads(path.read_text())
        written = folder / f"{experiment['name']}.json"
        if not written.exists():
            continue
        shutil.copy(folder / f"{experiment['name']}.svg", DOCS / "experiments")
        lines += section(experiment, json.loads(written.read_text()))
    (DOCS / "experiments.md").write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
