#!/usr/bin/env python3
"""PyTorch beside Lathe on the operators for which oneDNN has no primitive: adds its times to a file of figures.

Each kind is written as a PyTorch user would, in one or two ways, and compiled by torch.compile; the fastest way counts,
eager included. PyTorch and the recorded program (`lathe bench`) take turns on the same cores; each keeps its best round.
Ends where a way's result differs by more than 1e-3 of the largest magnitude from that in double precision.

Needs torch and numpy.   usage: torch_peer.py FIGURES.json [--lathe BINARY] [--workload FILE.json] [--records FILE.db]
                                               [--cpus 0] [--rounds N] [--filter REGEX]
"""
import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from measure import Lathe, speedup_of

Ways = list[Callable[..., torch.Tensor]]
SAMPLE_SECONDS = 2e-3
SAMPLES = 15


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


def bilinear(case: dict) -> tuple[list[torch.Tensor], Ways]:
    batch, out, first, second = (case[k] for k in ("batch", "out_features", "in1_features", "in2_features"))
    inputs = [normal(batch, first), normal(out, first, second), normal(batch, second)]
    return inputs, [lambda x, w, y: functional.bilinear(x, y, w),
                    lambda x, w, y: torch.einsum("br,frs,bs->bf", x, w, y)]


def capsule_conv2d(case: dict) -> tuple[list[torch.Tensor], Ways]:
    size, k, stride, pad = case["capsule"], case["kernel"], case["stride"], case["padding"]
    poses = normal(case["batch"], case["height"], case["width"], case["in_channels"], size, size)
    weights = normal(k, k, case["in_channels"], case["out_channels"], size, size)

    def windows(p: torch.Tensor) -> torch.Tensor:
        padded = functional.pad(p, (0, 0, 0, 0, 0, 0, pad, pad, pad, pad))
        return padded.unfold(1, k, stride).unfold(2, k, stride)  # n y x c i r k l
    return [poses, weights], [lambda p, w: torch.einsum("nyxcirkl,klcfrj->nyxfij", windows(p), w)]


def frobenius_norm(case: dict) -> tuple[list[torch.Tensor], Ways]:
    shape = [case["batch"]] * (case["batch"] > 1) + [case["m"], case["n"]]
    return [normal(*shape)], [lambda a: torch.linalg.matrix_norm(a), lambda a: (a * a).sum((-2, -1)).sqrt()]


def transpose_batch_matmul_softmax(case: dict) -> tuple[list[torch.Tensor], Ways]:
    shape = (case["batch"], case["sequence"], case["heads"], case["head_dim"])
    return [normal(*shape) * 0.3, normal(*shape) * 0.3], [
        lambda q, k: torch.softmax(q.transpose(1, 2) @ k.permute(0, 2, 3, 1), -1)]


def block_circulant_matrix(case: dict) -> tuple[list[torch.Tensor], Ways]:
    rows, cols, f = case["rows"], case["cols"], case["block"]
    i = torch.arange(rows)[:, None]
    block, within = torch.arange(cols) // f * f, torch.arange(cols) % f
    spread = block + (within + f - i % f) % f

    def circulant(a: torch.Tensor) -> torch.Tensor:
        blocks = a.view(rows // f, f, cols)
        mean = sum(blocks[:, n, block + (within + n) % f] for n in range(f)) / f
        return mean[i // f, spread]
    return [normal(rows, cols)], [circulant]


def shift_conv2d(case: dict) -> tuple[list[torch.Tensor], Ways]:
    height, width, channels = case["height"], case["width"], case["channels"]
    kernel, dilation = case["kernel"], case["dilation"]
    pad = dilation * (kernel - 1) // 2
    image = normal(case["batch"], height, width, channels)
    shifts = torch.randint(0, kernel * kernel, (channels,), generator=torch.Generator().manual_seed(1))
    rows, columns, channel = torch.arange(height)[:, None, None], torch.arange(width)[None, :, None], torch.arange(channels)

    def shift(x: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        padded = functional.pad(x, (0, 0, pad, pad, pad, pad))
        return padded[:, rows + s // kernel * dilation, columns + s % kernel * dilation, channel]
    return [image, shifts], [shift]


KINDS = {make.__name__: make for make in (bilinear, capsule_conv2d, frobenius_norm, transpose_batch_matmul_softmax,
                                          block_circulant_matrix, shift_conv2d)}


def seconds_of(run: Callable[[], torch.Tensor]) -> float:
    """The median over samples of at least two milliseconds each."""
    begin = time.perf_counter()
    run()
    repeats = max(1, round(SAMPLE_SECONDS / max(time.perf_counter() - begin, 1e-7)))
    samples = []
    for _ in range(SAMPLES if repeats > 1 else 3):
        begin = time.perf_counter()
        for _ in range(repeats):
            run()
        samples.append((time.perf_counter() - begin) / repeats)
    return float(np.median(samples))


def prepared_ways(case: dict) -> list[Callable[[], torch.Tensor]]:
    """Every way that computes the right thing, eager and compiled, warmed up."""
    inputs, ways = KINDS[case["op"]](case)
    right = ways[-1](*[x.double() if x.is_floating_point() else x for x in inputs])
    prepared = []
    for way in ways:
        for form in (way, torch.compile(way, mode="max-autotune-no-cudagraphs", dynamic=False)):
            difference = (form(*inputs).double() - right).abs().max() / right.abs().max()
            if difference > 1e-3:
                sys.exit(f"{case['name']}: PyTorch's result is {difference:.1e} off")
            form(*inputs)
            prepared.append(lambda form=form: form(*inputs))
    return prepared


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("figures", type=Path)
    parser.add_argument("--lathe", default=str(root / "build/release/bin/lathe"))
    parser.add_argument("--workload", default=str(root / "workloads/operators.json"))
    parser.add_argument("--records", help="default: operators.db beside FIGURES.json")
    parser.add_argument("--cpus", default="0")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    options.records = options.records or str(options.figures.parent / "operators.db")
    return options


def main() -> None:
    options = parse_options()
    cpus = [int(cpu) for cpu in options.cpus.split(",")]
    os.sched_setaffinity(0, cpus)
    torch.set_num_threads(len(cpus))
    torch.set_grad_enabled(False)
    lathe = Lathe(options.lathe, options.cpus)
    report = json.loads(options.figures.read_text())
    if report["cores"] != len(cpus):
        sys.exit(f"{options.figures} is of {report['cores']} cores")
    rows = {row["name"]: row for row in report["rows"]}
    for case in json.loads(Path(options.workload).read_text()):
        if case["op"] not in KINDS or case["name"] not in rows or not re.search(options.filter, case["name"]):
            continue
        ways = prepared_ways(case)
        row = rows[case["name"]]
        for _ in range(options.rounds):
            ours = lathe.recorded_seconds(options.workload, case["name"], options.records)
            torchs = min(map(seconds_of, ways))
            row["seconds"] = min(filter(None, (row["seconds"], ours)))
            peers = row.setdefault("peers", {})
            peers["pytorch"] = min(torchs, peers.get("pytorch", torchs))
            row.setdefault("ratios", {}).setdefault("pytorch", []).append(torchs / ours)
        row["speedup"] = speedup_of(row)
        row["gflops"] = row["flops"] / row["seconds"] * 1e-9
        print(f"{case['name']}: {speedup_of(row):.2f}x", flush=True)
        options.figures.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
