"""One model compiled and run by Lathe and beside ONNX Runtime."""
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from exports.make_models import QUANTISED, feeds_of, reference_of

MOST = 1e-4  # of the largest magnitude, in f32
MOST_OF_HALF = 1e-2
MOST_STEPPED = 1e-3  # of a quantised model's elements, one integer off
LIKE_ITSELF = 1.25  # of how far ONNX Runtime's executions of a quantised model are from each other
COMPILE_SECONDS = 900
RUN_SECONDS = 300
ALL = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
NONE = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


@dataclass
class Verdict:
    outcome: str  # right, refused, wrong, crashed, hung
    sentence: str
    seconds: float = 0  # of compiling


def session_of(model: Path, level=ALL) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = level
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(arguments: list, seconds: float) -> tuple[Verdict | None, str]:
    """What failed, or none; and all that was said on the way."""
    try:
        done = subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Verdict("hung", f"`{arguments[1]}` takes more than {seconds} s"), ""
    said = [line for line in done.stderr.strip().splitlines() if line]
    if done.returncode == 0:
        return None, done.stderr
    sentence = said[-1] if said else f"status {done.returncode}"
    return Verdict("refused" if done.returncode == 1 else "crashed", sentence), done.stderr


def run_artifact(lathe: str, artifact: Path, feeds: dict[str, np.ndarray], bf16: bool) -> Verdict | list[np.ndarray]:
    """The outputs; of one that holds less than its extents what counts."""
    import ml_dtypes

    manifest = json.loads((artifact / "manifest.json").read_text())
    options = []
    for i, (name, value) in enumerate(feeds.items()):
        if bf16 and value.dtype == np.float32:
            value = value.astype(ml_dtypes.bfloat16)
        np.save(artifact / f"in{i}.npy", value)
        options += ["--input", f"{name}={artifact / f'in{i}.npy'}"]
    names = [each["name"] for each in manifest["outputs"]]
    for i in range(len(names)):
        options += ["--output", artifact / f"out{i}.npy"]
    failure, _ = run([lathe, "run", artifact, "--repeat", 1, *options], RUN_SECONDS)
    if failure:
        return Verdict("wrong" if failure.outcome == "refused" else failure.outcome, failure.sentence)
    loaded = {name: np.load(artifact / f"out{i}.npy") for i, name in enumerate(names)}
    outputs = []
    for name, value in loaded.items():
        if value.dtype.kind == "V":
            value = value.view(ml_dtypes.bfloat16).astype(np.float32)
        if name.endswith(".count") and name.removesuffix(".count") in loaded:
            continue
        outputs.append((value, loaded.get(f"{name}.count")))
    return outputs


def cut(value: np.ndarray, count, shape: tuple[int, ...]) -> np.ndarray:
    if count is None or value.ndim != len(shape):
        return value
    longer = [axis for axis in range(value.ndim) if value.shape[axis] != shape[axis]]
    return np.take(value, range(int(count)), longer[0]) if len(longer) == 1 else value


def steps_of_outputs(model: Path) -> dict[str, float]:
    """The scale of each output that a DequantizeLinear gives."""
    graph = onnx.load(model).graph
    numbers = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    outputs = {each.name for each in graph.output}
    return {node.output[0]: float(numbers[node.input[1]]) for node in graph.node
            if node.op_type == "DequantizeLinear" and node.output[0] in outputs and numbers[node.input[1]].size == 1}


def differ_in_kind(expected: np.ndarray, actual: np.ndarray, number: int) -> str:
    if expected.shape != actual.shape:
        return f"output {number} is {list(actual.shape)} and not {list(expected.shape)}"
    if expected.dtype != actual.dtype:
        return f"output {number} is of {actual.dtype} and not of {expected.dtype}"
    if np.isnan(expected).any() != np.isnan(actual).any():
        return f"output {number} holds NaN on one side alone"
    return ""


def largest_difference(expected: list[np.ndarray], outputs: list) -> tuple[float, str]:
    """As a share of the largest magnitude of an output, and what cannot be compared."""
    largest = 0.0
    if len(expected) != len(outputs):
        return 0.0, f"{len(outputs)} outputs and not {len(expected)}"
    for number, (x, (y, count)) in enumerate(zip(expected, outputs)):
        y = cut(y, count, x.shape)
        if fault := differ_in_kind(x, y, number):
            return 0.0, fault
        apart = np.abs(np.nan_to_num(x.astype(np.float64)) - np.nan_to_num(y.astype(np.float64)))
        magnitude = float(np.abs(np.nan_to_num(x.astype(np.float64))).max(initial=0)) or 1.0
        largest = max(largest, float(apart.max(initial=0)) / magnitude)
    return largest, ""


class Apart:
    """How far results are from each other: in steps where all outputs have one, else as a share of the largest magnitude."""

    def __init__(self, steps: list[float | None], expected: list[np.ndarray], outputs: list):
        self.largest, self.fault = largest_difference(expected, outputs)
        self.one = self.more = None
        if not self.fault and None not in steps:
            apart = np.concatenate([np.rint(np.abs(x.astype(np.float64) - y) / step).ravel()
                                    for step, x, (y, _) in zip(steps, expected, outputs)])
            self.one, self.more = float((apart == 1).mean()), float((apart > 1).mean())

    def is_right(self, own: "Apart") -> bool:
        """The same integers but for one in a thousand; or no further off than ONNX Runtime's executions from each other."""
        if self.one is None:
            return self.largest <= max(MOST, LIKE_ITSELF * own.largest)
        is_same = self.more == 0 and self.one <= MOST_STEPPED
        return is_same or self.one + 9 * self.more <= LIKE_ITSELF * (own.one + 9 * own.more)

    def __str__(self) -> str:
        if self.one is None:
            return f"{self.largest:.1e} of the largest magnitude"
        return f"{self.one:.2%} one integer off and {self.more:.2%} more"


def compare_quantised(model: Path, feeds: dict, outputs: list) -> Verdict:
    """Beside ONNX Runtime as it executes the model, in parts by integers, and without its optimisations, node by node in
    f32: a rounding that falls to the other side in one layer goes through all others, so that these two differ too."""
    session, plain = session_of(model), session_of(model, NONE)
    by_name = steps_of_outputs(model)
    steps = [by_name.get(each.name) for each in session.get_outputs()]
    optimised, by_nodes = session.run(None, feeds), plain.run(None, feeds)
    own = Apart(steps, optimised, [(each, None) for each in by_nodes])
    beside = [Apart(steps, expected, outputs) for expected in (optimised, by_nodes)]
    if fault := beside[0].fault or beside[1].fault:
        return Verdict("wrong", fault)
    is_right = any(each.is_right(own) for each in beside)
    return Verdict("right" if is_right else "wrong",
                   f"{beside[0]} beside ONNX Runtime, {beside[1]} beside it node by node, which are {own} apart")


def judge(lathe: str, name: str, kind: str, model: Path) -> Verdict:
    reference = session_of(reference_of(model) if kind == "bf16" else model)
    feeds = feeds_of(name, kind, reference)
    expected = reference.run(None, feeds)  # first: an exporter's constants may hold for one size alone, for ONNX Runtime too
    with tempfile.TemporaryDirectory() as work:
        artifact = Path(work) / "artifact"
        shapes = []
        if kind.endswith("_free"):
            shapes = [part for each, value in feeds.items() for part in ("--input", f"{each}={','.join(map(str, value.shape))}")]
        failure, said = run([lathe, "compile", model, "--cores", 1, "--check", "none", "--out", artifact, *shapes],
                            COMPILE_SECONDS)
        if failure:
            return failure
        outputs = run_artifact(lathe, artifact, feeds, kind == "bf16")
    if isinstance(outputs, Verdict):
        return outputs
    if kind in QUANTISED:
        return compare_quantised(model, feeds, outputs)
    largest, fault = largest_difference(expected, outputs)
    most = MOST if kind not in ("f16", "bf16") else MOST_OF_HALF
    if fault or largest > most:
        return Verdict("wrong", fault or f"differs by {largest:.1e} of the largest magnitude")
    return Verdict("right", f"differs by {largest:.1e} of the largest magnitude")
