"""Runs what `lathe compile --emit c` writes, by docs/artifact_format.md alone."""
import ctypes
import json
import subprocess
from pathlib import Path

import numpy as np

ALIGNMENT = 64
TYPES = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
         "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64}


def block(size: int) -> np.ndarray:
    """Bytes that begin at a multiple of the alignment; all ones, so that what is never written shows."""
    memory = np.full(size + ALIGNMENT, 0xff, np.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin:begin + size]


def copy_of(array: np.ndarray) -> np.ndarray:
    memory = block(array.nbytes)
    memory[:] = np.frombuffer(array.tobytes(), np.uint8)
    return memory


def build(folder: Path) -> ctypes.CDLL:
    library = folder / "kernels.so"
    subprocess.run(["cc", "-std=c99", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library,
                    *sorted(folder.glob("kernel*.c")), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def run_sources(folder: Path, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The outputs of an operator's C sources."""
    manifest = json.loads((folder / "manifest.json").read_text())
    library = build(folder)
    outputs = [block(np.dtype(TYPES[output["type"]]).itemsize * int(np.prod(output["shape"])))
               for output in manifest["outputs"]]
    tensors = {"input": [copy_of(array) for array in inputs], "output": outputs}
    memory = {kind: block(manifest[f"{kind}_bytes"]) for kind in ("arena", "resident")}

    def address(buffer: dict) -> int:
        storage, place = buffer["storage"], buffer["place"]
        return tensors[storage][place].ctypes.data if storage in tensors else memory[storage].ctypes.data + place

    for list_of, entry in (("prepares", "prepare"), ("launches", "symbol")):
        for launch in manifest[list_of]:
            kernel = manifest["kernels"][launch["kernel"]]
            buffers = (ctypes.c_void_p * len(launch["buffers"]))(*map(address, launch["buffers"]))
            workspace = block(kernel["workspace_bytes"])
            status = library[kernel[entry]](buffers, None, ctypes.c_void_p(workspace.ctypes.data), None)
            if status != 0:
                raise RuntimeError(f"{kernel[entry]} ended with status {status}")
    return [output.view(TYPES[of["type"]]).reshape(of["shape"]) for output, of in zip(outputs, manifest["outputs"])]
