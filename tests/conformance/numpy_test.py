#!/usr/bin/env python3
"""Operators and expressions from outside: compiled, run as artifacts on .npy files, compared with NumPy.

LATHE names the program; build/release/bin/lathe where it is not set.
"""
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

from numpy_cases import Case, expression, floats
from numpy_expressions import float_expressions
from numpy_operators import operator_cases
from numpy_sources import run_sources
from numpy_types import typed_expressions

ROOT = Path(__file__).resolve().parents[2]
LATHE = os.environ.get("LATHE", ROOT / "build" / "release" / "bin" / "lathe")
# Of the largest magnitude of an output.
TOLERANCE = {np.dtype(np.float16): 1e-3, np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}


def lathe(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([LATHE, *map(str, arguments)], capture_output=True, text=True)


class ArtifactTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, cases: list[Case]) -> Path:
        path = self.folder / "workload.json"
        path.write_text(json.dumps([case.entry for case in cases]))
        return path

    def compile(self, cases: list[Case], *options) -> Path:
        """All cases by one command; the folder with a folder for each."""
        out = self.folder / "out"
        done = lathe("compile", "--workload", self.write(cases), "--out", out, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        # A wrong program gives way to the naive one: the numbers are right then, and Lathe is not.
        self.assertNotIn("is not used", done.stderr)
        return out

    def input_options(self, case: Case, names=None) -> list:
        """Inputs in order, or by these names."""
        options = []
        for i, array in enumerate(case.inputs):
            path = self.folder / f"input{i}.npy"
            np.save(path, array)
            options += ["--input", f"{names[i]}={path}" if names else path]
        return options

    def run_artifact(self, artifact: Path, case: Case, names=None) -> list[np.ndarray]:
        outputs = [self.folder / f"output{i}.npy" for i in range(len(case.expected))]
        options = self.input_options(case, names)
        for path in outputs:
            path.unlink(missing_ok=True)
            options += ["--output", path]
        done = lathe("run", artifact, "--repeat", 1, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^latency: [0-9.]+ ms \(median of 1, spread [0-9.]+ %\)\n$")
        return [np.load(path) for path in outputs]

    def compare(self, case: Case, outputs: list[np.ndarray]):
        self.assertEqual(len(outputs), len(case.expected))
        for output, expected in zip(outputs, case.expected):
            self.assertEqual((output.dtype, output.shape), (expected.dtype, expected.shape))
            if expected.dtype not in TOLERANCE:
                np.testing.assert_array_equal(output, expected)
                continue
            # In double; where an output is no number, so is the difference, which no bound allows.
            difference = np.abs(output - expected.astype(np.float64)).max()
            self.assertLessEqual(difference, TOLERANCE[expected.dtype] * np.abs(expected).max())

    def check(self, cases: list[Case], *options):
        out = self.compile(cases, *options)
        for case in cases:
            with self.subTest(case.name):
                self.compare(case, self.run_artifact(out / case.name, case))


class OperatorsTest(ArtifactTest):
    def test_numpy_computes_the_same(self):
        self.check(operator_cases(), "--cores", 1)

    def test_every_operator_has_a_case_of_one_and_of_several(self):
        refused = self.write([Case({"name": "refused", "op": "none"}, [], [])])
        sentence = lathe("compile", "--workload", refused, "--out", self.folder / "out").stderr
        operators = re.search("there are (.*)\n", sentence).group(1).split(", ")
        batches = {op: set() for op in operators if op != "expression"}
        for case in operator_cases():
            batches[case.entry["op"]].add(case.entry.get("batch", 1))
        self.assertEqual(len(batches), 17)
        without_batches = {"gemv", "block_circulant_matrix"}
        self.assertEqual(batches, {op: {1} if op in without_batches else {1, 3} for op in batches})

    def test_indices_that_lead_outside_are_refused(self):
        case = next(case for case in operator_cases() if case.entry["op"] == "shift_conv2d")
        artifact = self.compile([case]) / case.name
        for outside in (-1, 9):
            case.inputs[1][2] = outside
            done = lathe("run", artifact, *self.input_options(case))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(done.stderr, f"lathe: input 1 ('s') holds {outside} as element 2: the model takes values "
                                          "from 0 to 8 there\n")


class ExpressionsTest(ArtifactTest):
    def test_numpy_computes_the_same(self):
        self.check(float_expressions(), "--cores", 1)

    def test_numpy_computes_the_same_of_other_types(self):
        self.check(typed_expressions(), "--cores", 1)


class FormsTest(ArtifactTest):
    """Programs in other forms: for a smaller machine, on two cores, as C, behind the C face; inputs by name."""

    NAMES = {"conv2d.1", "conv2d_bn_relu.1", "conv2d_transpose.0", "conv2d_winograd.0", "depthwise_conv2d.0",
             "matmul.0", "shift_conv2d.0", "transpose_batch_matmul_softmax.1", "all_constant", "bytes_wrap_around",
             "causal_attention", "constant_embedding", "dequantised_product", "extremes_of_i32", "gelu",
             "half_product", "half_results", "long_products_wrap_around", "powers", "quantised", "quantised_product",
             "several_outputs", "six_dimensional_sum", "truths", "words", "words_of_c", "words_without_sign"}

    def chosen(self) -> list[Case]:
        cases = [case for case in operator_cases() + float_expressions() + typed_expressions()
                 if case.name in self.NAMES]
        self.assertEqual(len(cases), len(self.NAMES))
        return cases

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one cpu alone may be used")
    def test_two_cores(self):
        self.check(self.chosen(), "--cores", 2)

    def test_avx2(self):
        self.check(self.chosen(), "--target", "x86-avx2")

    def test_c_sources(self):
        cases = self.chosen()
        out = self.compile(cases, "--emit", "c")
        for case in cases:
            with self.subTest(case.name):
                self.compare(case, run_sources(out / case.name, case.inputs))

    def test_inputs_by_name(self):
        case = expression("difference", "C[i:7] = A[i] - B[i]", [floats(7), floats(7)], lambda a, b: b - a)
        self.compare(case, self.run_artifact(self.compile([case]) / "difference", case, ["B", "A"]))

    def test_the_example_in_c(self):
        out = self.folder / "out"
        done = lathe("compile", "--workload", ROOT / "examples" / "01_matmul.json", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        artifact, program = out / "matmul", self.folder / "run_artifact"
        subprocess.run(["cc", f"-I{artifact}", ROOT / "examples" / "01_run_artifact.c", artifact / "model.so",
                        f"-Wl,-rpath,{artifact}", "-o", program], check=True)
        done = subprocess.run([program, artifact], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "0 of 3072 elements are wrong\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
