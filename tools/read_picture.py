#!/usr/bin/env python3
"""Reads the text of pictures with RapidOCR's three trained networks, run by ONNX Runtime and by Lathe.

The pipeline around the networks (finding lines, cutting them out, decoding) is RapidOCR's own in both runs; in
the second every network is compiled by Lathe for each shape that the pipeline hands it, and its output is
compared with ONNX Runtime's on the same input. Prints the text and the largest difference of each network.
Where an output differs by more than 1e-4 of the largest magnitude, both are compared with the same network in
double precision, which tells whose rounding it is. Fails where a line of text differs, or an output by more than
that while Lathe's is the one farther from double precision, or by as much from that.

Needs rapidocr-onnxruntime 1.4 in the environment of Python (with opencv-python-headless where there is no display),
and onnx.

usage: read_picture.py --lathe BINARY PICTURE ... [--records FILE.db] [--cores N]
"""
import argparse
import collections
import subprocess
import sys
import tempfile
from pathlib import Path

import double_precision
import numpy as np
from rapidocr_onnxruntime import RapidOCR
from rapidocr_onnxruntime.ch_ppocr_cls import text_cls
from rapidocr_onnxruntime.ch_ppocr_det import text_detect
from rapidocr_onnxruntime.ch_ppocr_rec import text_recognize
from rapidocr_onnxruntime.utils import OrtInferSession

TOLERANCE = 1e-4
USERS = (text_cls, text_detect, text_recognize)


def difference(got: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, relative to the largest magnitude expected; infinite where it is none."""
    if got.shape != expected.shape:
        return np.inf
    largest = float(np.abs(got - expected).max()) / max(float(np.abs(expected).max()), 1e-30)
    return np.inf if np.isnan(largest) else largest


class Lathe:
    """Compiles models to artifacts, one for each shape of the input, and runs them."""

    def __init__(self, options: argparse.Namespace, folder: Path):
        self.options = options
        self.folder = folder
        self.artifacts = {}
        self.difference = collections.defaultdict(float)  # by the model's name, from ONNX Runtime
        self.failed = False
        self.calls = collections.Counter()

    def command(self, *words) -> str:
        done = subprocess.run([self.options.lathe, *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"lathe {words[0]} failed: {done.stderr.strip()}")
        return done.stdout

    def artifact(self, model: Path, name: str, shape: tuple[int, ...]) -> Path:
        key = (model.name, shape)
        if key not in self.artifacts:
            folder = self.folder / str(len(self.artifacts))
            words = ["compile", model, "--input", f"{name}={','.join(map(str, shape))}", "--out", folder,
                     "--cores", self.options.cores]
            if self.options.records:
                words += ["--records", self.options.records]
            self.command(*words)
            self.artifacts[key] = folder
        return self.artifacts[key]

    def run(self, model: Path, name: str, data: np.ndarray) -> np.ndarray:
        given, made = self.folder / "input.npy", self.folder / "output.npy"
        np.save(given, np.ascontiguousarray(data))
        self.command("run", self.artifact(model, name, data.shape), "--input", f"{name}={given}", "--output", made,
                     "--repeat", 1)
        return np.load(made)

    def note(self, model: Path, inputs: dict[str, np.ndarray], got: np.ndarray, expected: np.ndarray) -> None:
        now = difference(got, expected)
        self.difference[model.name] = max(self.difference[model.name], now)
        self.calls[model.name] += 1
        if now <= TOLERANCE:
            return
        exact = double_precision.evaluate(model, inputs)[0]
        ours, theirs = difference(got, exact), difference(expected, exact)
        print(f"{model.name}: {now:.1e} apart; from double precision: Lathe {ours:.1e}, ONNX Runtime {theirs:.1e}")
        self.failed |= not ours < min(theirs, TOLERANCE)

    def report(self) -> None:
        for name, largest in self.difference.items():
            print(f"{name}: {self.calls[name]} calls, largest difference {largest:.1e} of the largest magnitude")


def session_class(lathe: Lathe):
    """What RapidOCR takes for a session of ONNX Runtime: Lathe computes, ONNX Runtime is asked for comparison."""

    class LatheSession(OrtInferSession):
        def __init__(self, config):
            super().__init__(config)
            self.model = Path(config["model_path"])

        def __call__(self, data: np.ndarray) -> list[np.ndarray]:
            expected = super().__call__(data)
            name = self.get_input_names()[0]
            got = lathe.run(self.model, name, data)
            lathe.note(self.model, {name: data}, got, expected[0])
            return [got]

    return LatheSession


def read(engine: RapidOCR, picture: str) -> list[str]:
    lines, _ = engine(picture)
    return [text for _, text, _ in lines or []]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("pictures", nargs="+", metavar="PICTURE")
    parser.add_argument("--lathe", required=True, help="the binary")
    parser.add_argument("--records", help="records of tuning these networks")
    parser.add_argument("--cores", type=int, default=1)
    options = parser.parse_args()

    expected_engine = RapidOCR()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        lathe = Lathe(options, Path(folder))
        for module in USERS:
            module.OrtInferSession = session_class(lathe)
        engine = RapidOCR()
        for picture in options.pictures:
            expected, got = read(expected_engine, picture), read(engine, picture)
            print(f"{picture}: {len(expected)} lines of text, {'the same' if got == expected else 'NOT THE SAME'}")
            for i in range(max(len(expected), len(got))):
                pair = [lines[i] if i < len(lines) else "(no line)" for lines in (expected, got)]
                print(f"  {pair[0]}" if pair[0] == pair[1] else f"  {pair[0]}  <- ONNX Runtime, Lathe ->  {pair[1]}")
            failed |= got != expected
        lathe.report()
        failed |= lathe.failed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
