#!/usr/bin/env python3
"""Writes docs/performance.md and its plots from what measure.py measured.

One section for each file of figures (a machine and a number of cores): the geometric mean of the speed-ups over the
fastest peer, how many cases are ahead, a table by kind of operator and the whole table, the slowest first. Sections of
other figures that the page has, as of another machine, stay behind these.
  docs/performance/speedup-NAME.svg    every case's speed-up on a logarithmic axis, a row for each kind
  docs/performance/quality-NAME.svg    how far the search has come after so many trials: the time of each task's
                                       last best program over that of its best so far; median and quartiles
  docs/performance/roofline-NAME.svg   GFLOP/s over operations a byte of the arguments, under the machine's peaks

usage: page.py --docs DOCS FIGURES.json ...
"""
import argparse
import json
import math
import re
import statistics
from pathlib import Path

from measure import geometric_mean, speedup_of

HEAD = """# Performance of operators
Made by `bench/operators/page.py` from figures that `bench/operators/measure.py` took; not written by hand.
A speed-up is the time of the fastest peer (oneDNN's direct form, its Winograd, OpenBLAS; PyTorch where these have no
such operator) over ours: best recorded program and peers measured in turns on the same cores,
the median over the turns of the ratio within each, times of either side its best,
layouts of activations free on both sides, constants transformed beforehand, every result compared with the reference.
GFLOP/s count the direct form's operations, so Winograd's algorithm may exceed the peak.
"""
TARGET = re.compile(r'^(\S+) cores=\d+ .*machine="([^"]*)"', re.M)
PEAK = re.compile(r"(fma peak|memory)\s+([0-9.]+) G\S+ on (\d+) core")
AXIS = (0.25, 0.5, 1, 2, 4, 8, 16, 32)  # of speed-ups


def svg(width: float, height: float, parts: list[str]) -> str:
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            'font-family="sans-serif" font-size="11">')
    return "\n".join([head, f'<rect width="{width:g}" height="{height:g}" fill="white"/>', *parts, "</svg>\n"])


def vertical(x: float, top: float, bottom: float, label: str, colour: str) -> list[str]:
    return [f'<line x1="{x:.1f}" y1="{top:g}" x2="{x:.1f}" y2="{bottom:g}" stroke="{colour}"/>',
            f'<text x="{x:.1f}" y="{bottom + 14:g}" text-anchor="middle">{label}</text>']


def by_kind(rows: list[dict]) -> dict[str, list[dict]]:
    kinds: dict[str, list[dict]] = {}
    for row in rows:
        kinds.setdefault(row["op"], []).append(row)
    return kinds


def speedup_plot(rows: list[dict]) -> str:
    left, width, step = 190, 560, 22
    kinds = by_kind([row for row in rows if speedup_of(row) is not None])
    bottom = 20 + step * len(kinds)
    def x_of(speedup: float) -> float:
        held = min(max(speedup, AXIS[0]), AXIS[-1])
        return left + width * math.log(held / AXIS[0]) / math.log(AXIS[-1] / AXIS[0])
    parts = []
    for value in AXIS:
        parts += vertical(x_of(value), 10, bottom, f"{value:g}x", "#c03020" if value == 1 else "#ddd")
    for i, (kind, of_kind) in enumerate(kinds.items()):
        y = 24 + step * i
        mean = geometric_mean([speedup_of(row) for row in of_kind])
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{kind} ({mean:.2f}x)</text>')
        for row in of_kind:
            speedup = speedup_of(row)
            parts.append(f'<circle cx="{x_of(speedup):.1f}" cy="{y}" r="4" fill="#2060a0" fill-opacity="0.5">'
                         f'<title>{row["name"]}: {speedup:.2f}x</title></circle>')
    return svg(left + width + 30, bottom + 24, parts)


def quality_curves(curves: dict[str, list[float | None]]) -> list[list[float]]:
    """For each trial, over the tasks, the last best time over the best so far: 0 before a program works. A task
    that ended earlier stays where it ended."""
    tasks = [curve for curve in curves.values() if curve and curve[-1]]
    longest = max(map(len, tasks), default=0)
    return [[curve[-1] / best if (best := curve[min(i, len(curve) - 1)]) else 0.0 for curve in tasks]
            for i in range(longest)]


def quality_plot(curves: dict[str, list[float | None]]) -> str:
    left, top, width, height = 60, 20, 660, 220
    trials = quality_curves(curves)
    def points(values: list[float]) -> str:
        return " ".join(f"{left + width * (i + 1) / len(values):.1f},{top + height * (1 - value):.1f}"
                        for i, value in enumerate(values))
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>',
             f'<text x="{left - 6}" y="{top + 8}" text-anchor="end">100 %</text>',
             f'<text x="{left - 6}" y="{top + height}" text-anchor="end">0</text>',
             f'<text x="{left + width}" y="{top + height + 16}" text-anchor="end">{len(trials)} trials</text>']
    for quarter, label, stroke in ((1, "a quarter is below", 1), (2, "median", 2.2), (3, "a quarter is above", 1)):
        values = [statistics.quantiles(sample, n=4, method="inclusive")[quarter - 1] for sample in trials
                  if len(sample) > 1]
        if values:
            parts.append(f'<polyline points="{points(values)}" fill="none" stroke="#2060a0" '
                         f'stroke-width="{stroke}"><title>{label}</title></polyline>')
    return svg(left + width + 30, top + height + 30, parts)


def peaks_of(machine: list[str], cores: int) -> tuple[float, float]:
    """GFLOP/s and the GB/s of memory, as `lathe target` prints them: on so many cores, or else on one times as many."""
    figures: dict[tuple[str, int], float] = {}
    for line in machine:
        if found := PEAK.match(line):
            figures[found[1], int(found[3])] = float(found[2])
    def of(name: str) -> float:
        return figures.get((name, cores)) or figures[name, 1] * (cores if name == "fma peak" else 1)
    return of("fma peak"), of("memory")


def roofline_plot(rows: list[dict], gflops: float, gigabytes: float) -> str:
    left, top, width, height = 60, 20, 660, 320
    known = [row for row in rows if row["gflops"] and row.get("bytes") and row["flops"]]
    intensities = [row["flops"] / row["bytes"] for row in known]
    reach = (min(intensities) / 2, max(intensities) * 2)
    speeds = (min(row["gflops"] for row in known) / 2, max(row["gflops"] for row in known) * 2)
    def share(value: float, ends: tuple[float, float]) -> float:
        return math.log(value / ends[0]) / math.log(ends[1] / ends[0])
    def place(intensity: float, speed: float) -> str:
        return (f"{left + width * share(intensity, reach):.1f},"
                f"{top + height * (1 - share(min(max(speed, speeds[0]), speeds[1]), speeds)):.1f}")
    roof = [(x, min(gflops, gigabytes * x)) for x in (reach[0], min(max(gflops / gigabytes, reach[0]), reach[1]), reach[1])]
    parts = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>',
             f'<polyline points="{" ".join(place(*corner) for corner in roof)}" fill="none" stroke="#c03020" '
             f'stroke-width="1.5"><title>{gflops:.0f} GFLOP/s, {gigabytes:.1f} GB/s of memory</title></polyline>']
    for exponent in range(math.ceil(math.log10(speeds[0])), math.floor(math.log10(speeds[1])) + 1):
        y = place(reach[0], 10.0**exponent).split(",")[1]
        parts.append(f'<text x="{left - 6}" y="{y}" text-anchor="end">{10.0**exponent:g}</text>')
    for exponent in range(math.ceil(math.log10(reach[0])), math.floor(math.log10(reach[1])) + 1):
        x = place(10.0**exponent, speeds[0]).split(",")[0]
        parts.append(f'<text x="{x}" y="{top + height + 16}" text-anchor="middle">{10.0**exponent:g}</text>')
    parts += [f'<text x="{left}" y="{top - 6}">GFLOP/s</text>',
              f'<text x="{left + width}" y="{top + height + 30}" text-anchor="end">operations a byte</text>']
    for row, intensity in zip(known, intensities):
        x, y = place(intensity, row["gflops"]).split(",")
        parts.append(f'<circle cx="{x}" cy="{y}" r="3.5" fill="#2060a0" fill-opacity="0.5"><title>{row["name"]}: '
                     f'{row["gflops"]:.1f} GFLOP/s at {intensity:.2g} a byte</title></circle>')
    return svg(left + width + 30, top + height + 40, parts)


def kind_table(rows: list[dict]) -> list[str]:
    lines = ["| kind | cases | geometric mean | least | most | ahead |", "|---|---|---|---|---|---|"]
    for kind, of_kind in by_kind(rows).items():
        speedups = [value for row in of_kind if (value := speedup_of(row)) is not None]
        if speedups:
            lines.append(f"| {kind} | {len(speedups)} | {geometric_mean(speedups):.2f}x | {min(speedups):.2f}x | "
                         f"{max(speedups):.2f}x | {sum(s >= 1 for s in speedups)} |")
        else:
            lines.append(f"| {kind} | {len(of_kind)} | no peer | | | |")
    return lines


def microseconds(seconds: float | None) -> str:
    return f"{seconds * 1e6:.1f}" if seconds else "-"


def case_table(rows: list[dict]) -> list[str]:
    forms = list(dict.fromkeys(form for row in rows for form in row.get("peers", {})))
    lines = ["| case | ours us | GFLOP/s | trials | tuned s | " + "".join(f"{form} us | " for form in forms) + "speed-up |",
             "|---" * (6 + len(forms)) + "|"]
    for row in sorted(rows, key=lambda row: (speedup_of(row) is None, speedup_of(row) or 0)):
        speedup = speedup_of(row)
        peers = "".join(f"{microseconds(row.get('peers', {}).get(form))} | " for form in forms)
        lines.append(f"| {row['name']} | {microseconds(row['seconds'])} | {row['gflops'] or 0:.1f} | {row['trials']} | "
                     f"{row['tuning_seconds']:.0f} | {peers}{f'{speedup:.2f}x' if speedup else '-'} |")
    return lines


def heading(cores: int, machine: str) -> str:
    """Of a section, from what `lathe target` printed."""
    target, processor = TARGET.search(machine).groups()
    return f"## {cores} core{'s' if cores > 1 else ''}, {target}: {processor}"


def kept_sections(page: str, names: list[str]) -> list[str]:
    """Those of the page that show none of these figures, under headings of today."""
    sections = re.split(r"^(?=## )", page, flags=re.M)[1:]
    others = [text for text in sections if not any(f"performance/speedup-{name}.svg" in text for name in names)]
    return [heading(int(re.match(r"## (\d+)", text).group(1)), text) + text[text.index("\n"):].rstrip() + "\n"
            for text in others]


def section(report: dict, name: str) -> list[str]:
    rows, cores = report["rows"], report["cores"]
    lines = [heading(cores, "\n".join(report["machine"])), "```text", *report["machine"], "```"]
    libraries = [row for row in rows if "pytorch" not in row.get("peers", {})]
    for of_peer, peer in ((libraries, "one of the libraries"), ([row for row in rows if row not in libraries], "PyTorch")):
        speedups = [value for row in of_peer if (value := speedup_of(row)) is not None]
        if speedups:
            lines.append(f"{len(speedups)} cases have {peer} as their peer: geometric mean "
                         f"**{geometric_mean(speedups):.2f}x**, median {statistics.median(speedups):.2f}x, "
                         f"{sum(s >= 1 for s in speedups)} at least as fast, the least {min(speedups):.2f}x.")
    lines.append(f"Tuning all {len(rows)} took {report['tuning_seconds'] / 60:.0f} minutes.")
    if weak := report.get("weak"):
        lines.append(f"Cases below {weak['ratio']:g} were then tuned on, up to {weak['trials']} trials, and measured again "
                     f"with their peers, in at most {weak['passes']} more pass{'es' if weak['passes'] > 1 else ''}.")
    lines += ["", f"![speed-up of every case](performance/speedup-{name}.svg)", "", *kind_table(rows), "",
              f"![trials and quality](performance/quality-{name}.svg)", "",
              f"![roofline](performance/roofline-{name}.svg)", "",
              "Above the roof of memory lies what stays in caches from one run to the next, above that of the units what "
              "Winograd's algorithm or zeros that are left out save.", "", "<details><summary>every case</summary>",
              "", *case_table(rows), "", "</details>", ""]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, required=True)
    parser.add_argument("figures", type=Path, nargs="+")
    options = parser.parse_args()
    plots = options.docs / "performance"
    plots.mkdir(parents=True, exist_ok=True)
    page = options.docs / "performance.md"
    kept = kept_sections(page.read_text(), [figures.stem for figures in options.figures]) if page.exists() else []
    lines = [HEAD]
    for figures in options.figures:
        report, name = json.loads(figures.read_text()), figures.stem
        lines += section(report, name)
        (plots / f"speedup-{name}.svg").write_text(speedup_plot(report["rows"]))
        (plots / f"roofline-{name}.svg").write_text(roofline_plot(report["rows"], *peaks_of(report["machine"],
                                                                                         report["cores"])))
        (plots / f"quality-{name}.svg").write_text(quality_plot(report["curves"]))
    page.write_text("\n".join(lines + kept))


if __name__ == "__main__":
    main()
