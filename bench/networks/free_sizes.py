#!/usr/bin/env python3
"""How much of the speed of programs for one size is left where the size is free: one artifact for all sizes within the
bounds beside an artifact for each size alone, both tuned for --time seconds (0: compiled only), taking turns.

Inputs are given as `lathe` takes them, with SIZE for the free size. Of a file that spells its size (--fixed) an artifact
for one size alone is one for it and the size below, for 1 one for 1 and 2. The outputs of both artifacts are compared:
fails where they differ by more than 1e-4 of the largest magnitude. Artifacts and records stay in FOLDER, so that an
interrupted run goes on where it was.

usage: free_sizes.py MODEL.onnx FOLDER --input NAME=SIZE,3,224,224 [--input ..] --bounds 1..16
                     [--fixed]
                     [--sizes 1,2,3 (ten over the bounds)] [--lathe BINARY] [--cpus 0[,1]] [--time SECONDS] [--rounds N]
"""
import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import compare_network  # noqa: E402
from measure import mean, run  # noqa: E402

TOLERANCE = 1e-4
SIZES = 10


def made(arguments: argparse.Namespace, label: str, size: str) -> Path:
    """The artifact for a size, or for bounds."""
    folder = Path(arguments.folder, label)
    if folder.exists():
        return folder
    cores = len(arguments.cpus.split(","))
    command = [arguments.lathe, "tune" if arguments.time > 0 else "compile", arguments.model, "--cores", cores,
               "--out", folder]
    for entry in arguments.input:
        command += ["--input", entry.replace("SIZE", size)]
    if arguments.time > 0:
        command += ["--time", arguments.time, "--records", Path(arguments.folder, f"{label}.db")]
    run(arguments.cpus, *command)
    return folder


def compared(arguments: argparse.Namespace, size: int, free: Path, alone: Path) -> tuple[list[dict], float]:
    """The rows of both artifacts, and the largest difference of their outputs."""
    model = onnx.load(arguments.model, load_external_data=False)
    shapes = {name: [int(extent) for extent in shape.replace("SIZE", str(size)).split(",")]
              for name, _, shape in (entry.rpartition("=") for entry in arguments.input)}
    feeds = compare_network.random_inputs(model, shapes)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (scratch / "inputs").mkdir()
        for name, array in feeds.items():
            np.save(scratch / "inputs" / (name.replace("/", "_") + ".npy"), array)
        programs = [compare_network.Artifact(label, str(path), arguments.lathe, feeds, len(model.graph.output), scratch)
                    for label, path in (("free", free), ("alone", alone))]
        rows = compare_network.time_interleaved(programs, arguments.rounds)
        difference = compare_network.largest_difference(programs[0].outputs(), programs[1].outputs())
    return rows, difference


def chosen_sizes(arguments: argparse.Namespace) -> list[int]:
    if arguments.sizes:
        return [int(size) for size in arguments.sizes.split(",")]
    least, most = (int(bound) for bound in arguments.bounds.split(".."))
    count = min(SIZES, most - least + 1)
    return sorted({least + round(i * (most - least) / max(1, count - 1)) for i in range(count)})


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("model")
    parser.add_argument("folder")
    parser.add_argument("--input", action="append", required=True)
    parser.add_argument("--bounds", required=True)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--sizes")
    parser.add_argument("--lathe", default=str(ROOT / "build/release/bin/lathe"))
    parser.add_argument("--cpus", default="0")
    parser.add_argument("--time", type=float, default=0)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    free = made(arguments, "free", f"size:{arguments.bounds}")
    ratios, wrong = [], []
    print("| size | free, ms | alone, ms | times as fast as alone | difference |\n|---|---|---|---|---|")
    for size in chosen_sizes(arguments):
        alone = f"size:{max(1, size - 1)}..{max(2, size)}" if arguments.fixed else str(size)
        rows, difference = compared(arguments, size, free, made(arguments, f"size{size}", alone))
        ratios.append(statistics.median(alone / together for together, alone in
                                        zip(rows[0]["rounds"], rows[1]["rounds"])))
        wrong += [size] if difference > TOLERANCE else []
        print(f"| {size} | {1e3 * rows[0]['seconds']:.3f} | {1e3 * rows[1]['seconds']:.3f} | {ratios[-1]:.2f} | "
              f"{difference:.1e} |", flush=True)
    print(f"\nGeometric mean of {len(ratios)} sizes: {mean(ratios):.2f}")
    if wrong:
        print(f"outputs differ at {wrong}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
