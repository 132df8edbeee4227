#!/usr/bin/env python3
"""The largest errors of Lathe's functions in units in the last place, over all f32 or every n-th of them.

    tools/function_errors.py build/release/bin/lathe [--every 257] [--functions exp,log]

All 2^32 inputs (--every 1) take minutes a function; erf's reference is computed one by one, and takes hours.
"""
import argparse
import ctypes
import json
import math
import subprocess
import sys
import tempfile

import numpy as np

COUNT = 1 << 20  # inputs a call
REFERENCES = {
    "exp": np.exp, "log": np.log, "tanh": np.tanh, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
    "erf": np.vectorize(math.erf, otypes=[float]),
}
# pow by the exponents that have code of their own, and by those that have none.
POWERS = [0.5, -0.5, 2.0, 3.0, -1.0, -2.0, 5.0, 17.0, 0.1, -1.75, 1.0 / 3]


class Kernel:
    """Y[i] = body of X[i], compiled by Lathe."""

    def __init__(self, lathe: str, body: str, folder: str):
        workload = [{"name": "f", "op": "expression", "text": f"Y[i:{COUNT}] = {body}"}]
        path = f"{folder}/workload.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(workload, file)
        subprocess.run([lathe, "compile", "--workload", path, "--cores", "1", "--out", folder], check=True,
                       capture_output=True)
        self.library = ctypes.CDLL(f"{folder}/f/model.so")
        self.library.lathe_open.restype = ctypes.c_void_p
        self.model = ctypes.c_void_p(self.library.lathe_open(f"{folder}/f".encode(), 1))
        if not self.model:
            sys.exit(f"{folder}/f cannot be opened")

    def __call__(self, x: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        inputs = (ctypes.c_void_p * 1)(x.ctypes.data)
        outputs = (ctypes.c_void_p * 1)(y.ctypes.data)
        if self.library.lathe_run(self.model, inputs, outputs) != 0:
            sys.exit("a run failed")
        return y


def errors(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """In units in the last place of f32; infinite where one alone is NaN, or finite and too large or not."""
    rounded = exact.astype(np.float32)
    unit = np.exp2(np.maximum(np.frexp(exact)[1] - 24, -149).astype(np.float64))
    error = np.abs(got.astype(np.float64) - exact) / unit
    odd = ~(np.isfinite(rounded) & np.isfinite(got))
    alike = (np.isnan(rounded) & np.isnan(got)) | (rounded == got)
    # Next to the largest f32 a rounding may go over.
    near = np.abs(exact) >= np.nextafter(np.float32(np.inf), np.float32(0)).astype(np.float64) * (1 - 2e-7)
    return np.where(odd, np.where(alike | near, 0, np.inf), error)


def largest_error(kernel: Kernel, reference, every: int) -> tuple[float, float]:
    worst, where = -1.0, 0.0
    for first in range(0, 1 << 32, COUNT * every):
        bits = (first + every * np.arange(COUNT, dtype=np.uint64)) % (1 << 32)
        x = bits.astype(np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            error = errors(kernel(x), reference(x.astype(np.float64)))
        place = int(np.argmax(error))
        if error[place] > worst:
            worst, where = float(error[place]), float(x[place])
    return worst, where


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lathe")
    parser.add_argument("--every", type=int, default=257)
    parser.add_argument("--functions", default=",".join([*REFERENCES, "pow"]))
    options = parser.parse_args()
    cases = {f"{name}(X[i])": REFERENCES[name] for name in options.functions.split(",") if name != "pow"}
    if "pow" in options.functions.split(","):
        for exponent in POWERS:
            rounded = float(np.float32(exponent))
            cases[f"pow(X[i], {rounded!r})"] = lambda x, b=rounded: np.power(x, b)
    for body, reference in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            worst, where = largest_error(Kernel(options.lathe, body, folder), reference, options.every)
        print(f"{body:32} {worst:8.4f} at {where!r}", flush=True)


if __name__ == "__main__":
    main()
