#!/usr/bin/env python3
"""Times artifacts of one network beside ONNX Runtime, and OpenVINO where it is installed, and prints a table.

Programs take turns on the same cores, many short rounds; a latency is the median of its rounds' medians, its
spread the rounds' median deviation from it, `best` its fastest round. A speed-up is the median over the rounds
of the ratio in that round: what slows a shared machine for seconds slows both sides of a ratio. Inputs are
random, from a fixed seed; outputs are compared with ONNX Runtime's. Fails where one differs by more than
--tolerance (1e-4) of the largest magnitude. A peer that refuses the network is named and left out.

usage: compare_network.py MODEL.onnx --lathe BINARY --artifact "LABEL=FOLDER" ... [--cpus 0,1]
                          [--input NAME=1,3,224,224 ...] [--rounds N] [--tolerance SHARE] [--json OUT.json]
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-4
ROUND_SECONDS = 0.25
LATENCY = re.compile(r"^latency: ([0-9.]+) ms", re.M)


def random_inputs(model: onnx.ModelProto, shapes: dict[str, list[int]]) -> dict[str, np.ndarray]:
    """One array for each input that no initializer fills: normal numbers, or 0 and 1 for integers."""
    filled = {tensor.name for tensor in model.graph.initializer}
    generator = np.random.default_rng(2026)
    arrays = {}
    for value in model.graph.input:
        if value.name in filled:
            continue
        tensor = value.type.tensor_type
        shape = shapes.get(value.name) or [d.dim_value for d in tensor.shape.dim]
        if any(extent <= 0 for extent in shape):
            sys.exit(f"input '{value.name}' has a free dimension: give its shape with INPUT or --input {value.name}=...")
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        integral = np.issubdtype(kind, np.integer)
        drawn = generator.integers(0, 2, shape) if integral else generator.standard_normal(shape)
        arrays[value.name] = drawn.astype(kind)
    return arrays


class Artifact:
    """A folder that `lathe run` runs: each round is a process of its own."""

    def __init__(self, label: str, folder: str, lathe: str, feeds: dict, outputs: int, scratch: Path):
        self.label = label
        self.output_files = [scratch / f"{len(list(scratch.iterdir()))}.{i}.npy" for i in range(outputs)]
        self.command = [lathe, "run", folder]
        for name in feeds:
            self.command += ["--input", f"{name}={scratch / 'inputs' / (name.replace('/', '_') + '.npy')}"]
        for path in self.output_files:
            path.touch()
            self.command += ["--output", str(path)]

    def run(self, repeat: int) -> float:
        """The latency in seconds of the median of `repeat` runs."""
        done = subprocess.run(self.command + ["--repeat", str(repeat)], capture_output=True, text=True)
        found = LATENCY.search(done.stdout)
        if done.returncode != 0 or not found:
            sys.exit(f"{self.label}: lathe run failed: {done.stderr.strip() or done.stdout.strip()}")
        return float(found.group(1)) * 1e-3

    def outputs(self) -> list[np.ndarray]:
        return [np.load(path) for path in self.output_files]


class Peer:
    """Another runtime, called in this process."""

    def __init__(self, label: str, call):
        self.label = label
        self.call = call

    def run(self, repeat: int) -> float:
        seconds = []
        for _ in range(repeat):
            start = time.perf_counter()
            self.call()
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds)

    def outputs(self) -> list[np.ndarray]:
        return self.call()


def onnx_runtime(path: str, feeds: dict, threads: int) -> Peer:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return Peer(f"ONNX Runtime {onnxruntime.__version__}", lambda: session.run(None, feeds))


def openvino_if_installed(path: str, feeds: dict, threads: int) -> list[Peer]:
    try:
        import openvino
    except ImportError:
        return []
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    version = openvino.__version__.split("-")[0]
    try:
        request = openvino.Core().compile_model(path, "CPU", settings).create_infer_request()
    except RuntimeError as error:
        print(f"OpenVINO {version} refuses the network: {str(error).splitlines()[-1]}", file=sys.stderr)
        return []
    return [Peer(f"OpenVINO {version}", lambda: list(request.infer(feeds).values()))]


def largest_difference(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest difference of any output, relative to that output's largest magnitude."""
    worst = 0.0
    for left, right in zip(found, expected, strict=True):
        if left.shape != right.shape or not np.isfinite(left).all():
            return float("inf")
        scale = max(float(np.abs(right).max(initial=0)), 1e-30)
        worst = max(worst, float(np.abs(left.astype(np.float64) - right).max(initial=0)) / scale)
    return worst


def time_interleaved(programs: list, rounds: int) -> list[dict]:
    """Rows {label, seconds, spread, best, rounds}, the programs taking turns."""
    repeats = []
    for program in programs:
        program.run(2)  # warm-up: caches, pages, the peers' own first-run work
        repeats.append(min(500, max(3, round(ROUND_SECONDS / program.run(2)))))
    samples = [[] for _ in programs]
    for _ in range(rounds):
        for program, repeat, into in zip(programs, repeats, samples):
            into.append(program.run(repeat))
    rows = []
    for program, seconds in zip(programs, samples):
        centre = statistics.median(seconds)
        spread = statistics.median(abs(s - centre) for s in seconds) / centre
        rows.append({"label": program.label, "seconds": centre, "spread": spread, "best": min(seconds),
                     "rounds": seconds})
    return rows


def speed_up(over: dict, row: dict) -> float:
    """How many times as fast `row` is as `over`."""
    return statistics.median(slow / fast for slow, fast in zip(over["rounds"], row["rounds"]))


def processor() -> str:
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return names[0] if names else "an unnamed processor"


def print_table(title: str, rows: list[dict]) -> None:
    width = max(len(row["label"]) for row in rows)
    print(f"\n{title}\n")
    print(f"{'':{width}}  {'latency':>11}  {'spread':>7}  {'best':>11}  {'speed-up':>8}  largest difference")
    for row in rows:
        difference = "(the reference)" if row["difference"] is None else f"{row['difference']:.1e}"
        print(f"{row['label']:{width}}  {1e3 * row['seconds']:8.3f} ms  {100 * row['spread']:5.1f} %  "
              f"{1e3 * row['best']:8.3f} ms  {speed_up(rows[0], row):7.2f}x  {difference}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("model")
    parser.add_argument("--lathe", required=True)
    parser.add_argument("--artifact", action="append", default=[], metavar="LABEL=FOLDER")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=SHAPE")
    parser.add_argument("--cpus", default="0")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    parser.add_argument("--json")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    cpus = [int(cpu) for cpu in arguments.cpus.split(",")]
    os.sched_setaffinity(0, cpus)  # `lathe run` inherits it
    shapes = {name: [int(extent) for extent in shape.split(",")]
              for name, _, shape in (entry.rpartition("=") for entry in arguments.input)}
    model = onnx.load(arguments.model, load_external_data=False)
    feeds = random_inputs(model, shapes)
    reference = onnx_runtime(arguments.model, feeds, len(cpus))
    expected = reference.outputs()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (scratch / "inputs").mkdir()
        for name, array in feeds.items():
            np.save(scratch / "inputs" / (name.replace("/", "_") + ".npy"), array)
        artifacts = [Artifact(label, path, arguments.lathe, feeds, len(expected), scratch)
                     for label, _, path in (entry.rpartition("=") for entry in arguments.artifact)]
        programs = artifacts + [reference] + openvino_if_installed(arguments.model, feeds, len(cpus))
        rows = time_interleaved(programs, arguments.rounds)
        for program, row in zip(programs, rows):
            row["difference"] = None if program is reference else largest_difference(program.outputs(), expected)
    print_table(f"{Path(arguments.model).stem} on {len(cpus)} core(s) of {processor()} (taskset -c {arguments.cpus}), "
                f"{arguments.rounds} interleaved rounds", rows)
    if artifacts:
        tuned, peer = rows[len(artifacts) - 1], rows[len(artifacts)]
        print(f"\n{tuned['label']}: {speed_up(peer, tuned):.2f}x the speed of {peer['label']}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n")
    wrong = [row["label"] for row in rows
             if row["difference"] is not None and not row["difference"] <= arguments.tolerance]
    for label in wrong:
        print(f"{label}: outputs differ from ONNX Runtime's by more than {arguments.tolerance:g}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
