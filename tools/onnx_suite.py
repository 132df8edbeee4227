#!/usr/bin/env python3
"""ONNX's own backend cases, compiled and run by Lathe: what passed, was refused, was wrong, crashed, hung.

Needs the package `onnx` of tools/requirements.txt, its own or that of .venv. LATHE names the program;
build/release/bin/lathe where it is not set.

usage: onnx_suite.py [--json FILE] [--write-list FILE]        all of them: minutes; then each refusal's sentence
       onnx_suite.py --list FILE [--sample N --seed S]        those listed, or N of them: each must pass
       onnx_suite.py NAME ...                                 these, with what is said of each
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SKIPPED = 77  # what ctest is told to take for a skipped test

try:
    import numpy as np

    from onnx_cases import Case, all_cases, has_elements
    from onnx_page import PAGE, is_in, taken_and_left_out
except ImportError as missing:
    own = ROOT / ".venv" / "bin" / "python"
    if own.exists() and Path(sys.prefix) != own.parents[1]:
        os.execv(own, [own, *sys.argv])
    print(f"skipped: {missing}; tools/make_environment.sh installs it")
    sys.exit(SKIPPED)

LATHE = os.environ.get("LATHE", ROOT / "build" / "release" / "bin" / "lathe")
TIMEOUT_SECONDS = 60
OUTCOMES = ("passed", "refused", "wrong", "crashed", "hung")


@dataclass
class Outcome:
    name: str
    outcome: str
    message: str = ""  # one line
    turned: int = 0
    nodes: str = ""  # the types of the model's nodes


def lathe(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run([LATHE, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_SECONDS)


def one_line(text: str) -> str:
    return " | ".join(line for line in text.strip().splitlines() if line)


# The expected numbers of 16 bits were rounded after each step, those of Lathe once: two units in the last place.
LEAST_RTOL = {"float16": 2 * 2.0**-10, "bfloat16": 2 * 2.0**-7}
# What is expected of an inverse transform holds the noise of its own sums in f32 where the right result is 0.
LEAST_ATOL = {"DFT": 1e-6}


# Types of fewer than 16 bits are bytes: of integers the number, of floats the code (docs/onnx.md).
def is_coded(dtype: np.dtype) -> bool:
    return str(dtype).startswith(("float8", "float4")) or str(dtype) in ("int4", "uint4", "int2", "uint2")


def encoded(array: np.ndarray) -> np.ndarray:
    if not is_coded(array.dtype):
        return array
    name = str(array.dtype)
    return array.view(np.uint8) if name.startswith("float") else array.astype(np.uint8 if name[0] == "u" else np.int8)


def decoded(output: np.ndarray, dtype: np.dtype) -> np.ndarray:
    return output.astype(dtype) if str(dtype).endswith(("int4", "int2")) else output.view(dtype)


def least_atol(case: Case) -> float:
    return max([case.atol, *(LEAST_ATOL.get(node.op_type, 0) for node in case.model.graph.node)])


def without_counts(loaded: dict) -> list:
    """The outputs by name, in order, without those that say how many places of another count."""
    return [(array, loaded.get(f"{name}.count")) for name, array in loaded.items()
            if not (name.endswith(".count") and name.removesuffix(".count") in loaded)]  # fmt: skip


def cut(array, count, shape):
    """The places that count, along the axis that is longer than in the expected shape."""
    longer = [d for d, extent in enumerate(shape) if len(shape) == array.ndim and extent != array.shape[d]]
    return array if count is None or len(longer) != 1 else np.take(array, range(int(count)), longer[0])


def difference(case: Case, outputs: list, loaded: dict) -> str:
    """What the outputs differ in from the expected ones, by ONNX's own rule; empty if in nothing."""
    given = without_counts(loaded)
    if len(given) != len(outputs):
        return f"{len(given)} outputs, expected {len(outputs)}"
    for i, (expected, (output, count)) in enumerate(zip(outputs, given)):
        output = cut(output, count, expected.shape)
        if output.dtype.kind == "V" or is_coded(expected.dtype):  # of a type that NumPy's files have no name for
            output = decoded(output, expected.dtype)
        if output.dtype != expected.dtype:
            return f"output {i} is of type {output.dtype}, expected {expected.dtype}"
        if output.shape != expected.shape:
            return f"output {i} has shape {output.shape}, expected {expected.shape}"
        try:
            rtol = max(case.rtol, LEAST_RTOL.get(str(expected.dtype), 0))
            np.testing.assert_allclose(output, expected, rtol=rtol, atol=least_atol(case))
        except AssertionError as error:
            return f"output {i}: {one_line(str(error))}"
    return ""


def judge(done: subprocess.CompletedProcess) -> tuple[str, str] | None:
    if done.returncode == 0:
        return None
    return ("refused" if done.returncode == 1 else "crashed"), one_line(done.stderr) or f"status {done.returncode}"


def open_shapes(case: Case) -> list[str]:
    """Options that say what shape an input has whose model leaves it open."""
    initial = {tensor.name for tensor in case.model.graph.initializer}
    inputs = [value for value in case.model.graph.input if value.name not in initial]
    options = []
    for value, array in zip(inputs, case.inputs):
        dims = value.type.tensor_type.shape.dim
        if isinstance(array, np.ndarray) and not all(dim.HasField("dim_value") for dim in dims):
            options += ["--input", f"{value.name}={','.join(map(str, array.shape))}"]
    return options


def run_case(case: Case, folder: Path) -> tuple[str, str]:
    model = folder / "model.onnx"
    model.write_bytes(case.model.SerializeToString())
    compiled = lathe("compile", model, "--cores", 1, "--out", folder / "artifact", *open_shapes(case))
    if failure := judge(compiled):
        return failure
    # A wrong program gives way to the naive one: the numbers are right then, and Lathe is not.
    if "is not used" in compiled.stderr:
        return "wrong", one_line(compiled.stderr)
    options = []
    # An artifact has no input and no output without elements.
    inputs = [each for each in case.inputs if has_elements(each)]
    names = [each["name"] for each in json.loads((folder / "artifact" / "manifest.json").read_text())["outputs"]]
    # Those without elements are among the expected ones too where only a run tells that they have none.
    outputs = [each for each in case.outputs if has_elements(each)]
    if len(outputs) < len(names) and any(name.endswith(".count") for name in names):
        outputs = case.outputs
    for i, array in enumerate(inputs):
        np.save(folder / f"in{i}.npy", encoded(array))
        options += ["--input", folder / f"in{i}.npy"]
    for i in range(len(names)):
        options += ["--output", folder / f"out{i}.npy"]
    if failure := judge(lathe("run", folder / "artifact", "--repeat", 1, *options)):
        return failure
    loaded = {name: np.load(folder / f"out{i}.npy") for i, name in enumerate(names)}
    differs = difference(case, outputs, loaded)
    return ("wrong", differs) if differs else ("passed", "")


def outcome_of(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        try:
            outcome, message = run_case(case, Path(folder))
        except subprocess.TimeoutExpired:
            outcome, message = "hung", f"more than {TIMEOUT_SECONDS} s"
        message = message.replace(folder + "/", "")
    nodes = " ".join(sorted({f"{node.domain}.{node.op_type}" if node.domain else node.op_type
                             for node in case.model.graph.node}))  # fmt: skip
    return Outcome(case.name, outcome, message, case.turned, nodes)


def run_all(cases: list[Case], jobs: int) -> list[Outcome]:
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(outcome_of, cases))


def reason_of(message: str) -> str:
    """A refusal without what is the case's own: names, places, numbers."""
    message = re.sub(r"^lathe: model\.onnx: ", "", message)
    message = re.sub(r"('[\w.]+') \((node '[^']*'|[^)]*the first is '[^']*')\)", r"\1", message)
    message = re.sub(r" of the model, whose operator sets? .*", "", message)
    message = re.sub(r"node '[^']*' \(", "node (", message)
    message = re.sub(r"(input|initializer|tensor|output|node) '[^']*'", r"\1", message)
    message = re.sub(r"(input|output) (\d+), '[^']*'", r"\1 \2", message)
    return re.sub(r"\[[\d,? ]*\]", "[..]", message)


def print_table(outcomes: list[Outcome]):
    counts = Counter(each.outcome for each in outcomes)
    print(f"{len(outcomes)} cases: " + ", ".join(f"{counts[each]} {each}" for each in OUTCOMES))
    print(f"inputs made constants: {sum(each.turned for each in outcomes)}, in "
          f"{sum(each.turned > 0 for each in outcomes)} cases")  # fmt: skip
    reasons = defaultdict(list)
    for each in outcomes:
        if each.outcome == "refused":
            reasons[reason_of(each.message)].append(each)
    left_out = taken_and_left_out(PAGE.read_text())[1]
    explained = sum(each.outcome == "refused" and any(is_in(node, left_out) for node in each.nodes.split())
                    for each in outcomes)  # fmt: skip
    print(f"\nrefused, {explained} of them for operators that docs/onnx.md leaves out:")
    for reason, group in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"  {len(group):4} {reason}   e.g. {group[0].name}")
    print()
    for outcome in OUTCOMES[1:]:
        for each in outcomes:
            if each.outcome == outcome:
                print(f"{outcome}: {each.name} ({each.nodes}): {each.message[:300]}")


def names_in(path: str) -> list[str]:
    return [line for line in Path(path).read_text().split("\n") if line and not line.startswith("#")]


def wanted_names(options) -> list[str] | None:
    """None: all."""
    if options.names:
        return options.names
    if not options.list:
        return None
    names = names_in(options.list)
    return random.Random(options.seed).sample(names, options.sample) if options.sample else names


def check_listed(wanted: list[str], outcomes: list[Outcome]) -> int:
    missing = sorted(set(wanted) - {each.name for each in outcomes})
    failed = [each for each in outcomes if each.outcome != "passed"]
    for name in missing:
        print(f"{name}: the package `onnx` has no such case")
    for each in failed:
        print(f"{each.name}: {each.outcome}: {each.message}")
    print(f"{len(outcomes) - len(failed)} of {len(wanted)} listed cases passed")
    return 1 if missing or failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these cases")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count()), help="how many run at a time")
    parser.add_argument("--json", help="a file for every case's outcome")
    parser.add_argument("--list", help="a file of names: each must pass")
    parser.add_argument("--sample", type=int, help="how many of the listed, drawn")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--write-list", help="a file for the names of those that pass")
    options = parser.parse_args()
    wanted = wanted_names(options)
    outcomes = run_all(all_cases(wanted), options.jobs)
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(each) for each in outcomes], indent=1) + "\n")
    if options.write_list:
        passed = sorted(each.name for each in outcomes if each.outcome == "passed")
        Path(options.write_list).write_text("\n".join(passed) + "\n")
    if wanted is not None:
        return check_listed(wanted, outcomes)
    print_table(outcomes)
    return 0 if all(each.outcome in ("passed", "refused") for each in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
