#!/usr/bin/env python3
"""TVM's MetaSchedule beside Lathe on some operators: how long each searches, and what it finds.

For each case MetaSchedule tries --trials programs and keeps the best; Lathe then tunes it for --time seconds with
nothing recorded before. Both run on the same cpus and count all that they do, compilation and checks included. The
two programs are then measured in turns. Prints for each case TVM's search, how long Lathe took to what TVM found in the
end, and both times; writes them as JSON.

Needs tvm and numpy: pip install apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.14.post0 numpy. With apache-tvm-ffi
0.1.15.post2 this TVM crashes when its search is set up.

usage: tvm_peer.py OUT.json [--lathe BINARY] [--workload FILE.json] [--cpus 0]
                            [--filter REGEX] [--trials N] [--time SECONDS] [--rounds N]
"""
import argparse
import contextlib
import json
import os
import re
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import tvm
from tvm import te, topi
from tvm.s_tir import meta_schedule

from measure import Lathe

CASES = r"^(matmul\.1024|resnet18\.C1|resnet18\.C6|DEP\.0\.b1|GMM\.2\.b1)$"


def matmul(case: dict) -> list[te.Tensor]:
    batch, m, n, k = (case[key] for key in ("batch", "m", "n", "k"))
    lead = [batch] if batch > 1 else []
    a, b = te.placeholder(lead + [m, k], name="A"), te.placeholder(lead + [k, n], name="B")
    r = te.reduce_axis((0, k), name="r")
    c = te.compute(lead + [m, n], lambda *i: te.sum(a[(*i[:-1], r)] * b[(*i[:-2], r, i[-1])], axis=r), name="C")
    return [a, b, c]


def conv2d(case: dict) -> list[te.Tensor]:
    image = te.placeholder([case[key] for key in ("batch", "in_channels", "height", "width")], name="I")
    weight = te.placeholder([case["out_channels"], case["in_channels"], case["kernel"], case["kernel"]], name="W")
    return [image, weight, topi.nn.conv2d_nchw(image, weight, case["stride"], case["padding"], case["dilation"])]


def depthwise_conv2d(case: dict) -> list[te.Tensor]:
    image = te.placeholder([case[key] for key in ("batch", "channels", "height", "width")], name="I")
    weight = te.placeholder([case["channels"], 1, case["kernel"], case["kernel"]], name="W")
    return [image, weight, topi.nn.depthwise_conv2d_nchw(image, weight, case["stride"], case["padding"], 1)]


KINDS = {make.__name__: make for make in (matmul, conv2d, depthwise_conv2d)}


class Tuned:
    """What MetaSchedule finds for a case, and how long it takes."""

    def __init__(self, case: dict, options: argparse.Namespace, cores: int):
        tensors = KINDS[case["op"]](case)
        target = tvm.target.Target({"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu(),
                                    "num-cores": cores})
        module = tvm.IRModule({"main": te.create_prim_func(tensors).with_attr("global_symbol", "main")})
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            database = meta_schedule.tune_tir(module, target, folder, max_trials_global=options.trials,
                                              num_tuning_cores=cores,
                                              builder=meta_schedule.builder.LocalBuilder(max_workers=cores))
            schedule = meta_schedule.tir_integration.compile_tir(database, module, target)
            self.seconds = time.monotonic() - begin
        built = tvm.compile(schedule.mod if hasattr(schedule, "mod") else schedule, target)
        device = tvm.cpu()
        generator = np.random.default_rng(0)
        self.arguments = [tvm.runtime.tensor(generator.standard_normal([int(d) for d in t.shape], dtype=np.float32),
                                             device) for t in tensors]
        self.evaluate = built.mod.time_evaluator("main", device, number=1, repeat=3, min_repeat_ms=30)

    def run_seconds(self) -> float:
        return float(np.median(self.evaluate(*self.arguments).results))


def seconds_until(records: Path, seconds: float, began_at: float) -> float | None:
    """From the start until a record was as fast as that."""
    with contextlib.closing(sqlite3.connect(f"file:{records}?mode=ro", uri=True)) as connection:
        first = connection.execute("SELECT min(created_at) FROM records WHERE seconds <= ?", (seconds,)).fetchone()[0]
    return None if first is None else first / 1e3 - began_at


def compare(case: dict, options: argparse.Namespace, lathe: Lathe) -> dict:
    peer = Tuned(case, options, lathe.cores)
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder, "operators.db")
        began_at = time.time()
        lathe.run("tune", "--workload", options.workload, "--filter", f"^{re.escape(case['name'])}$", "--cores",
                  str(lathe.cores), "--records", str(records), "--time", f"{options.time:g}")
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(lathe.recorded_seconds(options.workload, case["name"], str(records)))
            theirs.append(peer.run_seconds())
        return {"name": case["name"], "tvm_search_seconds": peer.seconds, "tvm_seconds": min(theirs),
                "seconds": min(ours), "seconds_to_tvm": seconds_until(records, min(theirs), began_at)}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("out", type=Path)
    parser.add_argument("--lathe", default=str(root / "build/release/bin/lathe"))
    parser.add_argument("--workload", default=str(root / "workloads/operators.json"))
    parser.add_argument("--cpus", default="0")
    parser.add_argument("--filter", default=CASES)
    parser.add_argument("--trials", type=int, default=128)
    parser.add_argument("--time", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    cpus = [int(cpu) for cpu in options.cpus.split(",")]
    os.sched_setaffinity(0, cpus)
    os.environ["TVM_NUM_THREADS"] = str(len(cpus))
    lathe = Lathe(options.lathe, options.cpus)
    rows = []
    for case in json.loads(Path(options.workload).read_text()):
        if case["op"] not in KINDS or not re.search(options.filter, case["name"]):
            continue
        row = compare(case, options, lathe)
        rows.append(row)
        reached = row["seconds_to_tvm"]
        after = "never" if reached is None else f"{reached:.1f} s ({row['tvm_search_seconds'] / reached:.0f} times sooner)"
        print(f"{row['name']}: TVM {row['tvm_seconds'] * 1e6:.0f} us after {row['tvm_search_seconds']:.0f} s; as fast "
              f"{after}; {row['seconds'] * 1e6:.0f} us in the end, {row['tvm_seconds'] / row['seconds']:.2f}x", flush=True)
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
    if not rows:
        sys.exit(f"no case matches {options.filter}")


if __name__ == "__main__":
    main()
