"""NumPy arrays as the library takes them: row-major, of the right type and shape, at aligned addresses."""

import numpy as np

from ._check import kind_of
from .errors import InputError

# Lathe's names of the element types that NumPy has.
DTYPES = {
    "bool": np.dtype(np.bool_), "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64), "u8": np.dtype(np.uint8), "u16": np.dtype(np.uint16), "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64), "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
ALIGNMENT = 64  # arrays at multiples of it are used where they lie


def described(dtype_name: str, shape) -> str:
    return f"{dtype_name}[{','.join(str(extent) for extent in shape)}]"


def dtype_of(role: str, info) -> np.dtype:
    if info.type not in DTYPES:
        raise InputError(f"{role} '{info.name}' is {info.type}, a type that NumPy does not have")
    return DTYPES[info.type]


def bounds(info) -> list:
    """The extents, or where they are free their bounds."""
    return [most if least == most else f"{least}..{most}" for least, most in zip(info.least, info.shape)]


def contiguous(info, value) -> np.ndarray:
    """The value itself where it is row-major, of this machine's order of bytes and writable by nobody's
    business; else a copy that is."""
    if not isinstance(value, np.ndarray):
        raise InputError(f"input '{info.name}' must be a NumPy array, not {kind_of(value)}")
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"input '{info.name}' is a masked array, and what is masked has no value")
    wanted = dtype_of("input", info)
    native = value.dtype.newbyteorder("=")
    fits = value.ndim == len(info.shape) and all(
        least <= extent <= most for least, extent, most in zip(info.least, value.shape, info.shape))
    if native != wanted or not fits:
        given = described(NAMES.get(native, str(native)), value.shape)
        raise InputError(f"input '{info.name}' must be {described(info.type, bounds(info))}, this is {given}")
    return np.ascontiguousarray(value, dtype=wanted).reshape(value.shape)


def empty(info, shape) -> np.ndarray:
    """A new array of that shape for an output, aligned."""
    dtype = dtype_of("output", info)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    room = np.empty(size + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start:start + size].view(dtype).reshape(shape)


def in_order(infos, arrays, named) -> list:
    """One value for each input: those by name, and the others in order."""
    names = [info.name for info in infos]
    for name in named:
        if name not in names:
            raise InputError(f"there is no input '{name}'; there {'is' if len(names) == 1 else 'are'} {', '.join(names)}")
    free = [name for name in names if name not in named]
    if len(arrays) != len(free):
        given = len(arrays) + len(named)
        if len(arrays) > len(free) and given <= len(names):
            free = names
        raise InputError(f"it has {len(names)} input{'' if len(names) == 1 else 's'} ({', '.join(names)}), "
                         f"{given} {'is' if given == 1 else 'are'} given")
    values = dict(zip(free, arrays), **named)
    return [values[name] for name in names]


def run(artifact, arrays, named):
    """What the artifact makes of these arrays: one array, or a tuple where it has several outputs."""
    infos = artifact.inputs
    inputs = [contiguous(info, value) for info, value in zip(infos, in_order(infos, arrays, named))]
    shapes = [list(array.shape) for array in inputs]
    is_free = artifact.has_free_sizes
    given = artifact.output_shapes(shapes) if is_free else [info.shape for info in artifact.outputs]
    outputs = [empty(info, shape) for info, shape in zip(artifact.outputs, given)]
    read, written = ([array.ctypes.data for array in arrays] for arrays in (inputs, outputs))
    if is_free:
        artifact.run_sized(read, shapes, written)
    else:
        artifact.run(read, written)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
