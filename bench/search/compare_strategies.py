#!/usr/bin/env python3
"""Compares two search strategies: how many trials `--challenger` needs to reach what `--baseline` reaches at all.

Each case is tuned from scratch with every seed and both strategies, seed by seed in turns (the first to run
alternates), so that a drift of the machine meets both alike. A curve is the best time so far over the trials in
the order of the records, failures included; its times are those recorded. For each case and seed the challenger's
trials are counted until its curve is at or below
  own     the baseline's best of all trials with the same seed,
  median  the median of the baseline's bests over the seeds,
  again   as `own`, after both winners were measured again in turns: the baseline's winner as it is now, brought
          to the moment of the challenger's run by what the challenger's own winner takes now and took then.
A curve that never gets there counts as infinitely many. The figure is the median over all cases and seeds.

Writes FOLDER/comparison.json, FOLDER/curves.svg and a records file for each run; runs that are already in the
folder are not repeated, so an interrupted comparison goes on.

usage: compare_strategies.py --lathe BINARY --out FOLDER [--cpu 0] [--cases NAME,NAME ..] [--seeds 5]
                             [--trials 128] [--baseline random] [--challenger evolutionary] [--rounds 3]
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

CASES = "resnet18.C2,resnet18.C6,resnet18.C9,resnet18.C10,matmul.1024"
NOW = re.compile(r"^now: +([0-9.]+) us", re.M)
NEVER = math.inf


class Lathe:
    """The command line, on one processor."""

    def __init__(self, binary: str, cpu: int, workload: Path):
        self.prefix = ["taskset", "-c", str(cpu), binary]
        self.workload = workload

    def run(self, *arguments: str) -> str:
        done = subprocess.run(self.prefix + list(arguments), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"lathe {' '.join(arguments)} failed: {done.stderr.strip().splitlines()[-1:]}")
        return done.stdout

    def tune(self, case: str, strategy: str, seed: int, trials: int, records: Path) -> None:
        self.run("tune", "--workload", str(self.workload), "--filter", f"^{re.escape(case)}$", "--cores", "1",
                 "--trials", str(trials), "--seed", str(seed), "--strategy", strategy, "--cost-model", "gbt",
                 "--records", str(records))

    def measure_again(self, records: Path, record: int) -> float:
        """Seconds; the program is verified in full each time."""
        return float(NOW.search(self.run("replay", str(records), "--record", str(record))).group(1)) * 1e-6


def read_trials(records: Path, trials: int) -> list[tuple[int, float]]:
    """(id, seconds) in the order measured; a failure takes infinitely long."""
    with contextlib.closing(sqlite3.connect(f"file:{records}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT id, seconds FROM records ORDER BY id LIMIT ?", (trials,)).fetchall()
    return [(number, NEVER if seconds is None else seconds) for number, seconds in rows]


def best_so_far(seconds: list[float]) -> list[float]:
    curve, best = [], NEVER
    for value in seconds:
        best = min(best, value)
        curve.append(best)
    return curve


def trials_to_reach(curve: list[float], target: float) -> float:
    """How many trials until the curve is at or below the target."""
    return next((i + 1 for i, value in enumerate(curve) if value <= target), NEVER)


def measure_winners_again(lathe: Lathe, runs: dict, rounds: int) -> None:
    """Adds `again` to each run: the median over the rounds of its winner's seconds, the runs taking turns."""
    samples = {strategy: [] for strategy in runs}
    for _ in range(rounds):
        for strategy, run in runs.items():
            samples[strategy].append(lathe.measure_again(Path(run["records"]), run["winner"]))
    for strategy, run in runs.items():
        run["again"] = statistics.median(samples[strategy]) if rounds > 0 else None


def run_pair(lathe: Lathe, case: str, seed: int, order: list[str], options: argparse.Namespace) -> dict:
    """Both strategies on one case with one seed."""
    runs = {}
    for strategy in order:
        records = Path(options.out) / f"{case}.seed{seed}.{strategy}.db"
        begin = time.monotonic()
        lathe.tune(case, strategy, seed, options.trials, records)
        trials = read_trials(records, options.trials)
        winner, best = min(trials, key=lambda trial: trial[1])
        runs[strategy] = {"records": str(records), "trials": len(trials), "winner": winner, "best": best,
                          "failed": sum(value == NEVER for _, value in trials),
                          "curve": best_so_far([value for _, value in trials]),
                          "wall_seconds": time.monotonic() - begin}
        print(f"{case} seed {seed} {strategy}: {len(trials)} trials, best {best * 1e6:.1f} us, "
              f"{runs[strategy]['wall_seconds']:.0f} s", file=sys.stderr, flush=True)
    measure_winners_again(lathe, runs, options.rounds)
    return runs


def compare(pairs: list[dict], baseline: str, challenger: str) -> list[dict]:
    """A row for each pair {case, seed, runs}; see the head of this file for the three counts."""
    medians = {}
    for case in {pair["case"] for pair in pairs}:
        medians[case] = statistics.median(p["runs"][baseline]["best"] for p in pairs if p["case"] == case)
    rows = []
    for pair in pairs:
        base, other = pair["runs"][baseline], pair["runs"][challenger]
        row = {"case": pair["case"], "seed": pair["seed"], "baseline": base["best"], "challenger": other["best"],
               "ratio": base["best"] / other["best"], "own": trials_to_reach(other["curve"], base["best"]),
               "median": trials_to_reach(other["curve"], medians[pair["case"]]), "ratio_again": None,
               "again": None}
        if base.get("again") and other.get("again"):
            row["ratio_again"] = base["again"] / other["again"]
            row["again"] = trials_to_reach(other["curve"], row["ratio_again"] * other["best"])
        rows.append(row)
    return rows


def summary(rows: list[dict]) -> dict:
    """The medians over rows of each column that was measured."""
    columns = ("ratio", "ratio_again", "own", "median", "again")
    return {key: statistics.median(row[key] for row in rows) for key in columns
            if all(row[key] is not None for row in rows)}


def count_text(value: float | None) -> str:
    return "-" if value is None else "never" if value == NEVER else f"{value:g}"


def ratio_text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def print_table(rows: list[dict], baseline: str, challenger: str) -> None:
    print(f"{'case':<16} {'seed':>4} {baseline + ' us':>16} {challenger + ' us':>16} {'ratio':>7} {'again':>7}"
          f" | trials to reach: {'own':>6} {'median':>6} {'again':>6}")
    def line(name: str, seed: str, times: str, row: dict) -> None:
        print(f"{name:<16} {seed:>4} {times:>33} {ratio_text(row.get('ratio')):>7} "
              f"{ratio_text(row.get('ratio_again')):>7} | {'':<16} {count_text(row.get('own')):>6} "
              f"{count_text(row.get('median')):>6} {count_text(row.get('again')):>6}")
    for case in dict.fromkeys(row["case"] for row in rows):
        of_case = [row for row in rows if row["case"] == case]
        for row in of_case:
            line(case, str(row["seed"]), f"{row['baseline'] * 1e6:>16.1f} {row['challenger'] * 1e6:>16.1f}", row)
        line(case, "all", "", summary(of_case))
    line("all", "all", "", summary(rows))


def curve_median(curves: list[list[float]]) -> list[float]:
    return [statistics.median(values) for values in zip(*curves)]


def svg_panel(left: float, top: float, case: str, curves: dict[str, list[list[float]]], colours: dict) -> list[str]:
    """One case: for each strategy every seed's curve, thin, and their median, thick, as speed relative to the
    fastest program of all."""
    width, height = 300, 180
    fastest = min(value for group in curves.values() for curve in group for value in curve)
    longest = max(len(curve) for group in curves.values() for curve in group)
    def points(curve: list[float]) -> str:
        return " ".join(f"{left + width * (i + 1) / longest:.1f},{top + height * (1 - fastest / value):.1f}"
                        for i, value in enumerate(curve))
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>',
             f'<text x="{left}" y="{top - 6}">{case}: fastest {fastest * 1e6:.1f} us</text>',
             f'<text x="{left + width}" y="{top + height + 14}" text-anchor="end">{longest} trials</text>',
             f'<text x="{left - 4}" y="{top + 10}" text-anchor="end">100 %</text>',
             f'<text x="{left - 4}" y="{top + height}" text-anchor="end">0</text>']
    for strategy, group in curves.items():
        for curve, stroke, opacity in [(c, 0.8, 0.4) for c in group] + [(curve_median(group), 2.2, 1)]:
            parts.append(f'<polyline points="{points(curve)}" fill="none" stroke="{colours[strategy]}" '
                         f'stroke-width="{stroke}" stroke-opacity="{opacity}"/>')
    return parts


def svg(pairs: list[dict], strategies: list[str]) -> str:
    colours = dict(zip(strategies, ("#888888", "#c03020")))
    cases = list(dict.fromkeys(pair["case"] for pair in pairs))
    parts = []
    for i, case in enumerate(cases):
        curves = {s: [p["runs"][s]["curve"] for p in pairs if p["case"] == case] for s in strategies}
        parts += svg_panel(60 + 380 * (i % 2), 60 + 240 * (i // 2), case, curves, colours)
    for i, strategy in enumerate(strategies):
        parts.append(f'<text x="{60 + 140 * i}" y="24" fill="{colours[strategy]}">{strategy}</text>')
    parts.append('<text x="340" y="24">speed of the best program so far, relative to the fastest of all</text>')
    height = 60 + 240 * ((len(cases) + 1) // 2)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="{height}" font-family="sans-serif" font-size="11">'
    return "\n".join([head, f'<rect width="800" height="{height}" fill="white"/>', *parts, "</svg>\n"])


def finite(value):
    """JSON has no infinity: null."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if value == NEVER else value


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--lathe", default=str(root / "build/release/bin/lathe"))
    parser.add_argument("--workload", type=Path, default=root / "workloads/operators.json")
    parser.add_argument("--out", required=True)
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=128)
    parser.add_argument("--baseline", default="random")
    parser.add_argument("--challenger", default="evolutionary")
    parser.add_argument("--rounds", type=int, default=3, help="how often both winners are measured again")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    Path(options.out).mkdir(parents=True, exist_ok=True)
    lathe = Lathe(options.lathe, options.cpu, options.workload)
    strategies = [options.baseline, options.challenger]
    begin = time.monotonic()
    pairs = []
    for case in options.cases.split(","):
        for seed in range(1, options.seeds + 1):
            order = strategies if seed % 2 == 1 else strategies[::-1]
            pairs.append({"case": case, "seed": seed, "runs": run_pair(lathe, case, seed, order, options)})
    rows = compare(pairs, *strategies)
    overall = summary(rows)
    print_table(rows, *strategies)
    bar = options.trials / 2
    verdict = "met" if overall["own"] < bar and overall["median"] < bar else "missed"
    print(f"median trials of {options.challenger} to reach {options.baseline}'s best of {options.trials}: "
          f"{count_text(overall['own'])} (same seed), {count_text(overall['median'])} (median over seeds); "
          f"below {bar:g}: {verdict}; {time.monotonic() - begin:.0f} s")
    report = {"options": {**vars(options), "workload": str(options.workload)}, "machine": lathe.run("target").splitlines(),
              "rows": rows, "summary": overall, "bar": bar, "pairs": pairs}
    Path(options.out, "comparison.json").write_text(json.dumps(finite(report), indent=1) + "\n")
    Path(options.out, "curves.svg").write_text(svg(pairs, strategies))


if __name__ == "__main__":
    main()
