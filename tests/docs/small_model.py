"""An ONNX file without the package that writes them: what a network is to the commands of the documents."""
import struct
from pathlib import Path


def varint(value: int) -> bytes:
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name: str, shape: list[int]) -> bytes:
    dims = b"".join(field(1, field(1, extent)) for extent in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def initializer(name: str, shape: list[int], values: list[float]) -> bytes:
    dims = b"".join(field(1, extent) for extent in shape)
    return dims + field(2, 1) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values))


def node(op: str, inputs: list[str], output: str) -> bytes:
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(3, output) + field(4, op)


def write_small_model(path: Path):
    """relu(conv(x)) of a small image."""
    weights = [(i * 7 % 11 - 5) / 10 for i in range(8 * 3 * 3 * 3)]
    graph = (field(1, node("Conv", ["x", "w"], "c")) + field(1, node("Relu", ["c"], "y")) + field(2, "small")
             + field(5, initializer("w", [8, 3, 3, 3], weights))
             + field(11, value_info("x", [1, 3, 14, 14])) + field(12, value_info("y", [1, 8, 12, 12])))
    path.write_bytes(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
