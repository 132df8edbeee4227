#!/usr/bin/env python3
"""Networks as PyTorch exports them, taken by Lathe and beside ONNX Runtime: how many are taken, how many of those right.

    tools/export_suite/export_suite.py LATHE [--folder DIR] [--kinds script,dynamo,..] [--only NAME ..]

Needs the packages of tools/requirements.txt and of tools/export_suite/requirements.txt in one environment. A kind is an
exporter (`script`, `dynamo`), one with a free batch (`script_free`, `dynamo_free`), or a form that ONNX Runtime's tools make
of the first (`qdq`, `qoperator`, `dynamic`, `half`), of the six networks of QUANTISED alone. Models are kept in DIR and made
once. Prints a line a model and a table; ends with status 1 where a model that was taken is wrong.
"""
import argparse
import contextlib
import io
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from architectures import ARCHITECTURES

EXPORTERS = ("script", "dynamo", "script_free", "dynamo_free")
FORMS = ("qdq", "qoperator", "dynamic", "half")
QUANTISED = ("resnet18", "mobilenet_v2", "unet", "speech", "encoder", "mixer")
OPERATOR_SET = 17  # of the older exporter
MOST = 1e-4  # of the largest magnitude, in f32
MOST_OF_HALF = 1e-2
MOST_OF_QUANTISED = 5e-2  # a rounding to 8 bits that falls to the other side is one of 256, and others follow from it
BATCH = 2  # what a free batch is set to


def export(name: str, kind: str, path: Path) -> None:
    torch.manual_seed(0)
    architecture = ARCHITECTURES[name]
    network, inputs = architecture.make().eval(), architecture.inputs()
    free = kind.endswith("_free")
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):  # it prints graphs
        warnings.simplefilter("ignore")
        if kind.startswith("dynamo"):
            shapes = tuple({0: torch.export.Dim.DYNAMIC} for _ in inputs) if free else None
            torch.onnx.export(network, inputs, path, dynamo=True, verbose=False, external_data=False, dynamic_shapes=shapes)
        else:
            names = [f"input{i}" for i in range(len(inputs))]
            axes = {each: {0: "batch"} for each in names} if free else None
            torch.onnx.export(network, inputs, path, dynamo=False, opset_version=OPERATOR_SET, input_names=names,
                              dynamic_axes=axes)


class Samples:
    """Inputs for calibration, as onnxruntime.quantization reads them."""

    def __init__(self, model: Path, count: int = 4):
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        rng = np.random.default_rng(1)
        self.left = [feeds_of(session, rng) for _ in range(count)]

    def get_next(self):
        return self.left.pop() if self.left else None


def convert(kind: str, source: Path, path: Path) -> None:
    from onnxruntime import quantization

    if kind == "half":
        from onnxruntime.transformers import float16

        onnx.save(float16.convert_float_to_float16(onnx.load(source)), path)
    elif kind == "dynamic":
        quantization.quantize_dynamic(source, path)
    else:
        form = quantization.QuantFormat.QDQ if kind == "qdq" else quantization.QuantFormat.QOperator
        quantization.quantize_static(source, path, Samples(source), quant_format=form)


def make(name: str, kind: str, folder: Path) -> Path | None:
    """The model's file; none, with a line that says why, where it cannot be made."""
    path = folder / f"{name}.{kind}.onnx"
    if path.exists():
        return path
    partial = path.with_suffix(".part")
    try:
        if kind in EXPORTERS:
            export(name, kind, partial)
        else:
            source = make(name, "script", folder) or make(name, "dynamo", folder)
            if source is None:
                return None
            convert(kind, source, partial)
    except Exception as error:  # whatever an exporter does not support
        print(f"{name}.{kind}: not made: {(str(error) or repr(error)).splitlines()[0][:120]}", flush=True)
        return None
    return partial.rename(path)


def feeds_of(session, rng) -> dict[str, np.ndarray]:
    feeds = {}
    for given in session.get_inputs():
        shape = [extent if isinstance(extent, int) else BATCH for extent in given.shape]
        if "int64" in given.type:
            feeds[given.name] = rng.integers(0, 100, shape)
        else:
            feeds[given.name] = rng.standard_normal(shape).astype(np.float16 if "float16" in given.type else np.float32)
    return feeds


def difference(kind: str, expected: list[np.ndarray], actual: list[np.ndarray]) -> str:
    """What is wrong; empty where nothing is."""
    for number, (x, y) in enumerate(zip(expected, actual)):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"output {number} is {y.dtype}{list(y.shape)} and not {x.dtype}{list(x.shape)}"
        apart = np.abs(x.astype(np.float64) - y.astype(np.float64))
        largest = max(float(np.abs(x.astype(np.float64)).max()), 1e-30)
        most = MOST_OF_HALF if kind == "half" else MOST if kind in EXPORTERS else MOST_OF_QUANTISED
        if float(apart.max()) / largest > most:
            return f"output {number} differs by {apart.max() / largest:.1e} of its largest magnitude"
    return ""


def judge(lathe: str, kind: str, model: Path, work: Path) -> tuple[str, str]:
    """`right`, `wrong` or `refused`, and a sentence."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = feeds_of(session, np.random.default_rng(0))
    shapes = [f"{name}={','.join(map(str, value.shape))}" for name, value in feeds.items()]
    began = time.monotonic()
    compiled = subprocess.run(
        [lathe, "compile", model, "--cores", "1", "--check", "none", "--out", work / "artifact", "--input", *shapes],
        capture_output=True, text=True)
    seconds = time.monotonic() - began
    if compiled.returncode != 0:
        return ("refused" if compiled.returncode == 1 else "wrong"), compiled.stderr.strip().splitlines()[-1]
    inputs = [work / f"input{i}.npy" for i in range(len(feeds))]
    for path, value in zip(inputs, feeds.values()):
        np.save(path, value)
    expected = session.run(None, feeds)
    outputs = [work / f"output{i}.npy" for i in range(len(expected))]
    run = subprocess.run([lathe, "run", work / "artifact", "--input", *inputs, "--output", *outputs],
                         capture_output=True, text=True)
    if run.returncode != 0:
        return "wrong", run.stderr.strip().splitlines()[-1]
    fault = difference(kind, expected, [np.load(path) for path in outputs])
    return ("wrong", fault) if fault else ("right", f"compiled in {seconds:.1f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lathe")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "lathe_exports")
    parser.add_argument("--kinds", default=",".join(EXPORTERS + FORMS))
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    counts = {kind: Counter() for kind in arguments.kinds.split(",")}
    for kind, count in counts.items():
        for name in arguments.only or (ARCHITECTURES if kind in EXPORTERS else QUANTISED):
            model = make(name, kind, arguments.folder)
            if model is None:
                count["not made"] += 1
                continue
            with tempfile.TemporaryDirectory() as work:
                verdict, sentence = judge(arguments.lathe, kind, model, Path(work))
            count[verdict] += 1
            print(f"{name}.{kind}: {verdict}: {sentence}", flush=True)
    print(f"\n{'kind':12s} {'right':>6s} {'refused':>8s} {'wrong':>6s} {'not made':>9s}")
    for kind, count in counts.items():
        print(f"{kind:12s} {count['right']:6d} {count['refused']:8d} {count['wrong']:6d} {count['not made']:9d}")
    return 1 if any(count["wrong"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
