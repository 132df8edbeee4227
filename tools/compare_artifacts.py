#!/usr/bin/env python3
"""Whether tuning pays for whoever calls artifacts: of operators drawn at random, what `tune --out` writes with its
defaults beside what `compile` writes, both run in turns in one process through their C face.

    tools/compare_artifacts.py [--lathe PROGRAM] [--seed N] [--expressions 30] [--operators 20] [--trials 64] [--cores 1]

Prints a line a case, slowest last, and ends with status 1 where an artifact of `tune` takes more than 1.03 times as long.
On a shared machine a program takes up to 1.09 times as long as its own copy in turns with it: where a ratio says so, the
two race three times more and the median of all four counts; two copies of one program are said to be that, and pass.
"""
import argparse
import ctypes
import json
import mmap
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MOST = 1.03
TYPES = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.uint8}


def draw_expression(rng: random.Random, number: int) -> dict:
    def size(least, most):
        return rng.randint(least, most)

    a, b, c, d = size(1, 300), size(1, 300), size(1, 300), size(1, 9)
    texts = [
        f"C[i:{a}, j:{b}] = sum(r:{c}) A[i,r] * B[r,j]",
        f"C[i:{a}, j:{b}] = sum(r:{c}) A[r,i] * B[j,r]",
        f"C[b:{d}, i:{size(1, 99)}, j:{size(1, 99)}] = sum(r:{size(1, 99)}) A[b,i,r] * B[b,r,j]",
        f"C[i:{a}, j:{b}] = A[j,i] * 2.0",
        f"C[k:{d}, j:{size(1, 90)}, i:{size(1, 90)}] = A[i,k,j] + B[i,j]",
        f"C[i:{a}] = sum(r:{b}) A[i,r]",
        f"C[j:{b}] = max(r:{a}) A[r,j]",
        f"C[i:{a}, j:{b}] = A[2*i, 3*j] + 1.0",
        f"C[i:{size(1, 40000)}] = exp(A[i]) * B[i]",
        f"C[i:{size(1, 40000)}] = sum(r:{size(2, 9)}) A[i + r] * W[r]",
        f"C[f:{size(1, 40)}, z:{size(2, 12)}, y:{size(2, 12)}, x:{size(2, 12)}] = "
        f"sum(c:{size(1, 40)}, p:3, q:3, s:3) A[c, z+p, y+q, x+s] * W[f,c,p,q,s]",
        f"C[f:{size(1, 70)}, y:{size(2, 40)}, x:{size(2, 40)}] = "
        f"sum(c:{size(1, 70)}, q:3, s:3) A[c, 2*y+q, 2*x+s] * W[f,c,q,s]",
        f"T[i:{a}, j:{b}] = sum(r:{c}) A[i,r] * B[r,j]\nC[i:{a}, j:{b}] = max(T[i,j], 0.0) + D[j]",
        f"T[i:{a}] = sum(r:{b}) A[i,r] * A[i,r]\nC[i:{a}, j:{b}] = A[i,j] / sqrt(T[i] + 1.0)",
        f"C[i:{size(1, 200)}, j:{size(1, 200)}] = A[i] * B[j]",
    ]
    entry = {"name": f"e{number}", "op": "expression", "text": texts[number % len(texts)]}
    names = sorted({name for name in ("B", "W", "D") if f"{name}[" in entry["text"]})
    if names and rng.random() < 0.5:
        entry["constants"] = [names[-1]]
    return entry


def draw_operator(rng: random.Random, number: int) -> dict:
    pick = rng.choice
    side, channels, features = pick([5, 7, 14, 28, 33, 56]), pick([3, 16, 24, 64, 100, 128]), pick([8, 16, 48, 64, 130])
    kernel = pick([1, 3, 5])
    conv = {"batch": pick([1, 1, 2]), "in_channels": channels, "out_channels": features, "kernel": kernel,
            "stride": pick([1, 2]), "padding": kernel // 2}
    kinds = [
        {"op": "conv2d", **conv, "height": side, "width": side},
        {"op": "conv2d", **conv, "height": side, "width": side},
        {"op": "conv1d", **conv, "length": side * 9},
        {"op": "conv3d", **conv, "in_channels": pick([3, 16]), "out_channels": 16, "depth": 6, "height": 14, "width": 14},
        {"op": "conv2d_transpose", **conv, "height": side // 2 + 1, "width": side // 2 + 1},
        {"op": "depthwise_conv2d", "batch": 1, "channels": channels, "kernel": 3, "stride": pick([1, 2]), "padding": 1,
         "height": side, "width": side},
        {"op": "matmul", "batch": pick([1, 4]), "m": rng.randint(1, 400), "n": rng.randint(1, 400),
         "k": rng.randint(1, 400)},
        {"op": "gemv", "m": rng.randint(1, 2000), "k": rng.randint(1, 2000)},
        {"op": "bilinear", "batch": 4, "out_features": 40, "in1_features": rng.randint(2, 60),
         "in2_features": rng.randint(2, 60)},
        {"op": "frobenius_norm", "batch": pick([1, 8]), "m": rng.randint(1, 700), "n": rng.randint(1, 700)},
    ]
    return {"name": f"o{number}", **kinds[number % len(kinds)]}


class Artifact:
    def __init__(self, folder: Path, cores: int):
        self.manifest = json.loads((folder / "manifest.json").read_text())
        library = ctypes.CDLL(str((folder / "model.so").resolve()))
        library.lathe_open.restype = ctypes.c_void_p
        library.lathe_error.restype = ctypes.c_char_p
        library.lathe_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        self.library = library
        self.model = library.lathe_open(str(folder).encode(), cores)
        if not self.model:
            sys.exit(library.lathe_error().decode())
        self.allocate()

    def allocate(self):
        rng = np.random.default_rng(1)
        self.inputs = [self.tensor(entry, rng) for entry in self.manifest["inputs"]]
        self.outputs = [self.tensor(entry, rng) for entry in self.manifest["outputs"]]
        self.point()

    def share(self, other: "Artifact"):
        self.inputs, self.outputs = other.inputs, other.outputs
        self.point()

    def point(self):
        """At its tensors, of which constants are given once."""
        self.pointers = [self.list_of(self.inputs, []), self.list_of(self.outputs, [])]
        self.run(1)
        constants = [entry.get("constant", False) for entry in self.manifest["inputs"]]
        self.pointers[0] = self.list_of(self.inputs, constants)

    @staticmethod
    def tensor(entry: dict, rng) -> np.ndarray:
        """At a multiple of 64; integers are 0, which leads no index outside."""
        dtype = np.dtype(TYPES[entry["type"]])
        count = int(np.prod(entry["shape"], dtype=np.int64))
        memory = np.frombuffer(mmap.mmap(-1, count * dtype.itemsize + 64), np.uint8)
        begin = -memory.ctypes.data % 64
        array = memory[begin:begin + count * dtype.itemsize].view(dtype)
        if dtype.kind == "f":
            array[:] = rng.uniform(-1, 1, count)
        return array

    @staticmethod
    def list_of(arrays, left_out):
        places = [None if i < len(left_out) and left_out[i] else array.ctypes.data for i, array in enumerate(arrays)]
        return (ctypes.c_void_p * max(1, len(places)))(*places)

    def run(self, times: int) -> float:
        begin = time.perf_counter()
        for _ in range(times):
            if self.library.lathe_run(self.model, *self.pointers) != 0:
                sys.exit(self.library.lathe_error().decode())
        return (time.perf_counter() - begin) / times


def race(first: Artifact, second: Artifact) -> tuple[float, float, float]:
    """Seconds of each, and the ratio. Where tensors nearly fill the second-level cache, the pages that they happen to lie
    in make one program up to 1.4 times as slow as in others: both read and write the same tensors, which are allocated
    anew several times, and each time their fastest turns are compared, which nothing else on the machine has delayed."""
    fastest = []
    for _ in range(9):
        first.allocate()
        second.share(first)
        runs = [max(1, min(20000, int(1e-3 / artifact.run(3)))) for artifact in (first, second)]
        turns = [(first.run(runs[0]), second.run(runs[1])) for _ in range(10)]
        fastest.append((min(turn[0] for turn in turns), min(turn[1] for turn in turns)))
    return (float(np.median([turn[0] for turn in fastest])), float(np.median([turn[1] for turn in fastest])),
            float(np.median([turn[1] / turn[0] for turn in fastest])))


def confirmed_race(first: Artifact, second: Artifact) -> tuple[float, float, float]:
    races = [race(first, second)]
    if races[0][2] > MOST:
        races += [race(first, second) for _ in range(3)]
    return tuple(float(np.median(figures)) for figures in zip(*races))


def programs_of(artifact: Artifact) -> list[str]:
    return [kernel["trace"] for kernel in artifact.manifest["kernels"]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lathe", default="build/release/bin/lathe")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--expressions", type=int, default=30)
    parser.add_argument("--operators", type=int, default=20)
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--cores", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    entries = [draw_expression(rng, i) for i in range(options.expressions)]
    entries += [draw_operator(rng, i) for i in range(options.operators)]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for entry in entries:
            place = Path(folder) / entry["name"]
            place.mkdir()
            workload = place / "workload.json"
            workload.write_text(json.dumps([entry]))
            common = ["--workload", workload, "--cores", str(options.cores)]
            for command in (["compile", *common, "--out", place / "compiled"],
                            ["tune", *common, "--trials", str(options.trials), "--out", place / "tuned",
                             "--records", place / "records.db"]):
                done = subprocess.run([options.lathe, *map(str, command)], capture_output=True, text=True)
                if done.returncode != 0:
                    print(f"{entry['name']}: {command[0]}: {done.stderr.strip().splitlines()[-1]} {entry}", flush=True)
                    break
            else:
                artifacts = [Artifact(place / kind / entry["name"], options.cores) for kind in ("compiled", "tuned")]
                before, after, ratio = confirmed_race(*artifacts)
                are_one = programs_of(artifacts[0]) == programs_of(artifacts[1])
                lines.append((1.0 if are_one else ratio,
                              f"{entry['name']:>4} {before * 1e6:12.2f} us {after * 1e6:12.2f} us {ratio:6.3f} "
                              f"{'(one program)' if are_one else ''} {entry.get('text', entry)}"))
                print(lines[-1][1].replace("\n", "; "), flush=True)
    lines.sort()
    print("\nslowest:")
    for _, line in lines[-5:]:
        print(line.replace("\n", "; "))
    return 1 if not lines or lines[-1][0] > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
