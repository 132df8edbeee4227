#!/usr/bin/env python3
"""What networks take beside their time: peak memory of `lathe run` and of ONNX Runtime, seconds until a model is open,
and whether calls from several threads at once are right.

Each network is compiled without tuning where FOLDER/NAME.coresN.untuned is not there yet (measure.py writes it too).
ONNX Runtime's memory is that of a process that has imported it, loads the model and runs it as often, less what the
imports alone take. Opening is timed with the files in the page cache, beside a plain read of the weights. For the calls,
--threads threads call one model --calls times in all, each with inputs of its own, and every output must be, byte for byte,
what a call alone gives.

usage: footprint.py MODELS FOLDER [NETWORK ...] [--lathe BINARY] [--cpus 0[,1]] [--calls N] [--threads N]
"""
import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import onnx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import compare_network  # noqa: E402

RUNS = 3
SAMPLE_SECONDS = 0.002
SETS_OF_INPUTS = 8
PEER = """
import re, sys
from pathlib import Path
import numpy as np, onnxruntime

def most():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

before = most()
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(sys.argv[3])
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
feeds = dict(np.load(sys.argv[2]))
for _ in range(int(sys.argv[4])):
    session.run(None, feeds)
print(most() - before)
"""


def peak_of(command: list[str]) -> float:
    """Megabytes that the process had at most. What the system tells of one that has ended counts its parent's too."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    status = Path(f"/proc/{process.pid}/status")
    most = 0
    while process.poll() is None:
        found = re.search(r"VmHWM:\s+(\d+)", status.read_text())
        most = max(most, int(found[1]) if found else 0)
        time.sleep(SAMPLE_SECONDS)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed")
    return most / 1024


def peer_peak(model: Path, feeds: dict[str, np.ndarray], cores: int, scratch: Path) -> float:
    """Megabytes of ONNX Runtime."""
    arrays = scratch / "feeds.npz"
    np.savez(arrays, **feeds)
    done = subprocess.run([sys.executable, "-c", PEER, str(model), str(arrays), str(cores), str(RUNS)],
                          capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


class Model:
    """An artifact through its C face."""

    def __init__(self, folder: Path):
        self.library = ctypes.CDLL(str(folder / "model.so"))
        self.library.lathe_open.restype = ctypes.c_void_p
        self.library.lathe_open.argtypes = [ctypes.c_char_p, ctypes.c_int]
        self.library.lathe_close.argtypes = [ctypes.c_void_p]
        self.library.lathe_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        self.library.lathe_error.restype = ctypes.c_char_p
        begin = time.perf_counter()
        self.handle = self.library.lathe_open(str(folder).encode(), 0)
        self.open_seconds = time.perf_counter() - begin
        if not self.handle:
            sys.exit(self.library.lathe_error().decode())

    def run(self, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
        def pointers(arrays: list[np.ndarray]):
            return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        if self.library.lathe_run(self.handle, pointers(inputs), pointers(outputs)) != 0:
            sys.exit(self.library.lathe_error().decode())

    def close(self) -> None:
        self.library.lathe_close(self.handle)


def read_seconds(path: Path) -> float:
    begin = time.perf_counter()
    path.read_bytes()
    return time.perf_counter() - begin


def wrong_calls(model: Model, model_inputs: list[list[np.ndarray]], outputs: list[np.ndarray], calls: int,
                threads: int) -> int:
    """How many of the calls gave other bytes than the same inputs alone."""
    def fresh() -> list[np.ndarray]:
        return [np.empty_like(array) for array in outputs]

    expected = []
    for inputs in model_inputs:
        expected.append(fresh())
        model.run(inputs, expected[-1])
    wrong = [0] * threads

    def work(number: int) -> None:
        for call in range(number, calls, threads):
            results = fresh()
            which = call % len(model_inputs)
            model.run(model_inputs[which], results)
            wrong[number] += any(a.tobytes() != b.tobytes() for a, b in zip(results, expected[which]))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(wrong)


def several_inputs(feeds: dict[str, np.ndarray]) -> list[list[np.ndarray]]:
    """Sets of inputs of which none is another: floats scaled, integers rolled."""
    sets = []
    for number in range(SETS_OF_INPUTS):
        sets.append([np.ascontiguousarray(array * (1 + number / 8) if np.issubdtype(array.dtype, np.floating)
                                          else np.roll(array, number)).astype(array.dtype)
                     for array in feeds.values()])
    return sets


def type_of(name: str) -> np.dtype:
    """Of a manifest's name: "f32", "u8" .."""
    return np.dtype("bool" if name == "bool" else f"{name[0]}{int(name[1:]) // 8}")


def row_of(name: str, arguments: argparse.Namespace) -> dict:
    model = Path(arguments.models, f"{name}.onnx")
    cores = len(arguments.cpus.split(","))
    folder = Path(arguments.folder, f"{name}.cores{cores}.untuned")
    if not folder.exists():
        subprocess.run([arguments.lathe, "compile", model, "--cores", str(cores), "--out", folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    feeds = compare_network.random_inputs(onnx.load(model, load_external_data=False), {})
    with tempfile.TemporaryDirectory() as scratch:
        peer = peer_peak(model, feeds, cores, Path(scratch))
    ours = peak_of([arguments.lathe, "run", str(folder), "--random", "--repeat", str(RUNS)])
    read = min(read_seconds(folder / "weights.bin") for _ in range(RUNS))
    manifest = json.loads((folder / "manifest.json").read_text())
    outputs = [np.empty(each["shape"], type_of(each["type"])) for each in manifest["outputs"]]
    opened = Model(folder)
    wrong = wrong_calls(opened, several_inputs(feeds), outputs, arguments.calls, arguments.threads)
    opened.close()
    return {"lathe_megabytes": ours, "onnx_runtime_megabytes": peer, "open_milliseconds": 1e3 * opened.open_seconds,
            "read_milliseconds": 1e3 * read, "wrong_calls": wrong}


def main() -> int:
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("models")
    parser.add_argument("folder")
    parser.add_argument("networks", nargs="*")
    parser.add_argument("--lathe", default=str(ROOT / "build/release/bin/lathe"))
    parser.add_argument("--cpus", default="0")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=4)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, [int(cpu) for cpu in arguments.cpus.split(",")])
    print("| network | lathe run, MB | ONNX Runtime, MB | times | open, ms | weights read, ms | wrong calls |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.networks or sorted(path.stem for path in Path(arguments.models).glob("*.onnx")):
        row = row_of(name, arguments)
        print(f"| {name} | {row['lathe_megabytes']:.0f} | {row['onnx_runtime_megabytes']:.0f} | "
              f"{row['lathe_megabytes'] / row['onnx_runtime_megabytes']:.2f} | {row['open_milliseconds']:.1f} | "
              f"{row['read_milliseconds']:.1f} | {row['wrong_calls']} of {arguments.calls} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
