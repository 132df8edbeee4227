"""Calls that are wrong, one fault each, with what their sentence must say. Made of tables: each function's
arguments by each kind of value that does not fit them."""
import numpy as np

import lathe

PRODUCT = "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]"

# Values that stand for what a caller may get wrong, each with the type's name as sentences call it.
NOT_TEXT = [(None, "NoneType"), (3, "int"), (2.5, "float"), (b"text", "bytes"), (["text"], "list"), (object(), "object")]
NOT_PATH = [(None, "NoneType"), (3, "int"), (2.5, "float"), (["path"], "list"), ({}, "dict")]
NOT_NUMBER = [("4", "str"), (b"4", "bytes"), ([4], "list"), (True, "bool"), ({}, "dict"), (1j, "complex")]
NOT_WHOLE = [("4", "str"), (b"4", "bytes"), ([4], "list"), (True, "bool"), (2.5, "float"), (np.float32(2), "float32")]
NOT_FLAG = [(None, "NoneType"), (0, "int"), ("yes", "str"), ([], "list")]
NOT_FUNCTION = [(3, "int"), ("print", "str"), ([print], "list")]


class Table:
    """(what it is, a function that makes the call, what the sentence must hold) of each."""

    def __init__(self):
        self.rows = []

    def add(self, what, call, *words):
        self.rows.append((what, call, words))

    def by_values(self, what, values, make, *words):
        for value, kind in values:
            self.add(f"{what} = {value!r:.40}", lambda value=value: make(value), *words, kind)

    def by_numbers(self, what, values, make, *words):
        for value in values:
            self.add(f"{what} = {value!r:.40}", lambda value=value: make(value), *words)


def calls(network_path, artifact_path, folder):
    table = Table()
    options(table, "operator", lambda **other: lathe.operator(PRODUCT, **other))
    options(table, "network", lambda **other: lathe.network(network_path, **other))
    operators(table)
    networks(table, network_path, folder)
    artifacts(table, artifact_path, network_path, folder)
    tuning(table)
    called(table, "operator", lathe.operator(PRODUCT, cores=1))
    called(table, "artifact", lathe.load(artifact_path))
    return table.rows


def options(table, name, make):
    """Of operator() and network() alike."""
    table.by_values(f"{name}: target", NOT_TEXT, lambda value: make(target=value), "target must be a string")
    table.by_values(f"{name}: cores", NOT_WHOLE, lambda value: make(cores=value), "cores must be a whole number")
    table.by_numbers(f"{name}: cores", (0, -1, 4097, 2**70), lambda value: make(cores=value), "cores must be 1 to 4096")
    table.by_values(f"{name}: exact_specials", NOT_FLAG, lambda value: make(exact_specials=value),
                    "exact_specials must be True or False")
    table.by_values(f"{name}: check", NOT_TEXT[1:], lambda value: make(check=value), "check must be a string")
    table.by_numbers(f"{name}: check", ("Full", "some", "full "), lambda value: make(check=value),
                     "check must be one of", "full, sampled, none")
    table.by_numbers(f"{name}: target", ("pdp11", "x86", "native,", "Native"), lambda value: make(target=value), "target")


def operators(table):
    operator = lambda **other: lathe.operator(PRODUCT, **other)
    table.by_values("operator: text", NOT_TEXT, lathe.operator, "text must be a string")
    table.by_values("operator: name", NOT_TEXT, lambda value: operator(name=value), "name must be a string")
    table.by_numbers("operator: constants", ("B", b"B"), lambda value: operator(constants=value), "constants must be a list")
    table.by_numbers("operator: constants", (3, 2.5, None), lambda value: operator(constants=value), "constants must be a list")
    table.by_values("operator: one of constants", NOT_TEXT, lambda value: operator(constants=["B", value]),
              "each of constants must be a string")
    table.by_numbers("operator: constants", (["X"], ["C"], ["b"], [""]), lambda value: operator(constants=value),
                     "is no input of the expression")
    for text, words in (("", ()), ("C", ()), ("C[i:9]", ()), ("C[i:9] =", ()), ("C[i:9] = A[i", ()), ("C[i:0] = A[i]", ()),
                        ("C[i:9] = A[j]", ("j",)), ("C[i:9] = sum(r:7) A[i,q]", ("q",)), ("C[i:9] = A[i] +", ()),
                        ("C[i:9] = f(A[i])", ()), ("C[i:-1] = A[i]", ()), ("C[i:9] = A[i] B[i]", ()),
                        ("C[i:9, i:9] = A[i]", ("i",)), ("C[i:9] = prod(r:7) A[i,r]", ()), ("input A[8] u9\nC[i:8] = A[i]", ("u9",)),
                        ("C[i:9] = A[i]; D", ()), ("\0", ("character of value 0",)), ("C[i:9] = \ud800", ("Unicode",))):
        table.add(f"operator: {text!r:.40}", lambda text=text: lathe.operator(text), *words)


def networks(table, network_path, folder):
    network = lambda **other: lathe.network(network_path, **other)
    table.by_values("network: path", NOT_PATH, lathe.network, "path must be a path")
    for path, words in (("", ("empty path",)), (folder / "missing.onnx", ("missing.onnx",)), (folder, (str(folder),)),
                        (__file__, ("wrong_calls.py",)), ("no\0path", ("character of value 0",))):
        table.add(f"network: {str(path)[-30:]!r}", lambda path=path: lathe.network(path), *words)
    table.by_numbers("network: inputs", (3, "image=1", ["image"], [(1, 3, 5, 5)]), lambda value: network(inputs=value),
               "inputs must be a dictionary")
    table.by_values("network: a name of inputs", NOT_TEXT[1:4], lambda value: network(inputs={value: (2, 3, 5, 5)}),
              "each name of inputs must be a string")
    table.by_numbers("network: shape", (3, None, 2.5, "2,3,5,5"), lambda value: network(inputs={"image": value}),
               "the shape of input 'image'")
    table.by_values("network: extent", NOT_WHOLE, lambda value: network(inputs={"image": (2, 3, value, 5)}),
              "each extent of the shape of input 'image' must be a whole number")
    table.by_numbers("network: shape", ((2, 3, 0, 5), (2, 3, -1, 5)), lambda value: network(inputs={"image": value}),
               "must be 1 to")
    table.by_numbers("network: shape", ((2, 3, 5), (2, 3, 5, 5, 1), (2, 4, 5, 5), (2, 3, 1, 1), ()),
               lambda value: network(inputs={"image": value}))
    table.add("network: no such input", lambda: network(inputs={"picture": (2, 3, 5, 5)}), "picture")


def artifacts(table, artifact_path, network_path, folder):
    """Of load() and save()."""
    table.by_values("load: folder", NOT_PATH, lathe.load, "folder must be a path")
    table.by_values("load: cores", NOT_WHOLE, lambda value: lathe.load(artifact_path, cores=value), "cores must be a whole number")
    table.by_numbers("load: cores", (0, -3, 4097), lambda value: lathe.load(artifact_path, cores=value), "cores must be 1 to 4096")
    for path in (folder / "missing", network_path, folder, ""):
        table.add(f"load: {str(path)[-30:]!r}", lambda path=path: lathe.load(path))
    product = lathe.operator(PRODUCT, cores=1)
    table.by_values("save: folder", NOT_PATH, product.save, "folder must be a path")
    table.by_values("save: name", NOT_TEXT[1:], lambda value: product.save(folder / "saved", name=value), "name must be a string")
    table.by_numbers("save: name", ("a b", "a/b", "ä", "a" * 300), lambda value: product.save(folder / "saved", name=value), "--name")


def tuning(table):
    """Of tune(), before anything is measured."""
    product = lathe.operator(PRODUCT, cores=1)
    tune = lambda **other: product.tune(**{"trials": 1, "records": None, **other})
    table.by_values("tune: time", NOT_NUMBER, lambda value: tune(time=value), "time must be a number")
    table.by_numbers("tune: time", (-1, -0.5, 1e10, float("inf"), float("nan")), lambda value: tune(time=value), "time must be 0 to")
    table.by_values("tune: trials", NOT_WHOLE, lambda value: tune(trials=value), "trials must be a whole number")
    table.by_numbers("tune: trials", (0, -1, 2**41), lambda value: tune(trials=value), "trials must be 1 to")
    table.by_values("tune: enough", NOT_NUMBER, lambda value: tune(enough=value), "enough must be a number")
    table.by_numbers("tune: enough", (-1, 101, float("nan")), lambda value: tune(enough=value), "enough must be 0 to 100")
    table.by_values("tune: seed", NOT_WHOLE, lambda value: tune(seed=value), "seed must be a whole number")
    table.by_numbers("tune: seed", (-1, 2**64), lambda value: tune(seed=value), "seed must be 0 to")
    table.by_values("tune: records", NOT_PATH[1:], lambda value: tune(records=value), "records must be a path")
    table.by_values("tune: strategy", NOT_TEXT, lambda value: tune(strategy=value), "strategy must be a string")
    table.by_values("tune: cost_model", NOT_TEXT, lambda value: tune(cost_model=value), "cost_model must be a string")
    table.by_values("tune: progress", NOT_FUNCTION, lambda value: tune(progress=value), "progress must be a function")
    table.by_numbers("tune: strategy", ("", "evolution"), lambda value: tune(strategy=value), "strategy")
    table.by_numbers("tune: cost_model", ("", "forest"), lambda value: tune(cost_model=value), "cost model")
    table.by_numbers("tune: records", ("", __file__), lambda value: tune(records=value))


def called(table, what, program):
    """Of a call, with a program of PRODUCT."""
    a, b = np.zeros((9, 7), np.float32), np.zeros((7, 8), np.float32)

    def add(fault, call, *words):
        table.add(f"{what}: {fault}", call, *words)

    for count in (0, 1, 3, 4):
        add(f"{count} arrays", lambda count=count: program(*[a, b, a, b][:count]), "it has 2 inputs (A, B)", str(count))
    add("an unknown name", lambda: program(a, X=b), "there is no input 'X'; there are A, B")
    add("a name and too many", lambda: program(a, b, A=a), "it has 2 inputs")
    add("one by name alone", lambda: program(B=b), "it has 2 inputs")
    for value in (None, 3, 2.5, [[1.0]], "array", (1, 2), memoryview(b"1"), np.float32(1)):
        add(f"A = {value!r:.30}", lambda value=value: program(value, b),
            "input 'A' must be a NumPy array", type(value).__name__)
    for dtype, name in ((np.float64, "f64"), (np.float16, "f16"), (np.int8, "i8"), (np.int16, "i16"), (np.int32, "i32"),
                        (np.int64, "i64"), (np.uint8, "u8"), (np.uint16, "u16"), (np.bool_, "bool"), (np.uint32, "u32"),
                        (np.uint64, "u64"), (np.complex64, "complex64"), (object, "object"), ("U3", "<U3"), ("S3", "S3"),
                        ("M8[s]", "datetime64"), ([("x", "f4")], "x")):
        add(f"A of {name}", lambda dtype=dtype: program(np.zeros((9, 7), dtype), b), "input 'A' must be f32[9,7], this is", name)
    for shape in ((), (9,), (7, 9), (9, 7, 1), (9, 8), (1, 9, 7), (0, 7), (63,)):
        text = ",".join(map(str, shape))
        add(f"A of shape {shape}", lambda shape=shape: program(np.zeros(shape, np.float32), b),
            f"input 'A' must be f32[9,7], this is f32[{text}]")
    for shape in ((8, 7), (7,), (7, 8, 1)):
        text = ",".join(map(str, shape))
        add(f"B of shape {shape}", lambda shape=shape: program(A=a, B=np.zeros(shape, np.float32)),
            f"input 'B' must be f32[7,8], this is f32[{text}]")
    add("a masked array", lambda: program(np.ma.masked_array(a), b), "input 'A' is a masked array")
