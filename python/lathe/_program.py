"""What is compiled, tuned and called."""

import os
import tempfile
import threading
import warnings

from . import _arrays, _check, _lathe

TensorInfo = _lathe.TensorInfo
_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lathe-worker")
_CHECKS = ("", "full", "sampled", "none")


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=3)


class Artifact:
    """A saved program, open in this process. Any number of threads may call it."""

    def __init__(self, opened):
        self._opened = opened

    @property
    def inputs(self):
        """What it takes: name, type, shape and whether it is a constant."""
        return self._opened.inputs

    @property
    def outputs(self):
        return self._opened.outputs

    def __call__(self, *arrays, **named):
        """Runs it on one array for each input, by name or in order. Gives an array, or a tuple of several."""
        return _arrays.run(self._opened, arrays, named)


class Program:
    """An operator or a network. Made by operator() and network(); any number of threads may use it."""

    def __init__(self, computation, check: str):
        self._computation = computation
        self._check = check
        self._lock = threading.Lock()  # of the two below
        self._compiled = None
        self._opened = None

    @property
    def name(self) -> str:
        return self._computation.name

    @property
    def inputs(self):
        """What it takes: name, type, shape and whether it is a constant."""
        return self._computation.inputs

    @property
    def outputs(self):
        return self._computation.outputs

    def _compile(self):
        """With the lock held."""
        if self._compiled is None:
            self._compiled = _lathe.compile(self._computation, records="", check=self._check, worker=_WORKER,
                                            note=_warn)
        return self._compiled

    def __call__(self, *arrays, **named):
        """Runs it on one array for each input, by name or in order. Gives an array, or a tuple of several.

        The first call compiles it as a search would begin, unless it was tuned."""
        with self._lock:
            if self._opened is None:
                self._opened = _lathe.open_compiled(self._compile(), tempfile.gettempdir())
            opened = self._opened
        return _arrays.run(opened, arrays, named)

    def tune(self, time=None, trials=None, records="./lathe.db", *, enough=None, seed=0,
             strategy="evolutionary", cost_model="gbt", progress=None):
        """Searches for the fastest program by measuring on this machine, and takes it from here on.

        time: seconds for all of it. trials: measured candidates of each task, those in the records included;
        64 where neither is given. records: the file that keeps every measurement, and is taken up from;
        None: nowhere. progress: called with a sentence now and then. Gives what came of each task: name,
        trials, failed, seconds, spread, gflops, uses.

        Ctrl-C ends it with KeyboardInterrupt: what was measured is in the records, and the same call goes on
        from there."""
        if time is not None:
            time = _check.number("time", time, 0, 1e9)
        if trials is not None:
            trials = _check.whole_number("trials", trials, 1)
        if enough is not None:
            enough = _check.number("enough", enough, 0, 100)
        tasks, compiled = _lathe.tune(
            self._computation, worker=_WORKER,
            records=":memory:" if records is None else _check.path("records", records), trials=trials,
            seconds=time, enough=enough, seed=_check.whole_number("seed", seed, 0, 2**64 - 1),
            strategy=_check.text("strategy", strategy), cost_model=_check.text("cost_model", cost_model),
            progress=_check.function("progress", progress), note=_warn)
        with self._lock:
            self._compiled, self._opened = compiled, None
        return tasks

    def save(self, folder, name=None) -> None:
        """Writes an artifact to the folder: what the last tune() found, or what a first call compiles. `name`
        is what its functions in C are called by."""
        folder = _check.path("folder", folder)
        name = "" if name is None else _check.text("name", name)
        with self._lock:
            compiled = self._compile()
        _lathe.save(compiled, folder, name)


def _options(target, cores, exact_specials, check):
    return (_check.text("target", target), 0 if cores is None else _check.whole_number("cores", cores, 1, 4096),
            _check.flag("exact_specials", exact_specials),
            _check.choice("check", "" if check is None else check, _CHECKS))


def operator(text, constants=(), *, name="operator", target="native", cores=None, exact_specials=False,
             check=None) -> Program:
    """An operator from its formula, such as "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]".

    constants: the inputs whose values are known beforehand. cores: how many it uses; None: all that the
    process may. check: how much of what it computes is compared with a reference when it is compiled: "full",
    "sampled" or "none"; None: full, but sampled where that takes over a minute."""
    target, cores, exact_specials, check = _options(target, cores, exact_specials, check)
    computation = _lathe.make_operator(_check.text("text", text), _check.names("constants", constants),
                                       _check.text("name", name), target, cores, exact_specials)
    return Program(computation, check)


def network(path, inputs=None, *, batch=None, target="native", cores=None, exact_specials=False, check=None) -> Program:
    """A network from an ONNX file. inputs: shapes by name, for dimensions that the file leaves open and in
    place of those that it fixes. A pair (least, most) in the place of an extent leaves the size free: a call
    takes any size within these bounds; a third entry is a name, and sizes of one name are the same. batch: the
    leading extent of every input, in place of the file's. The other arguments are operator()'s."""
    target, cores, exact_specials, check = _options(target, cores, exact_specials, check)
    computation = _lathe.make_network(
        _check.path("path", path), *_check.shapes("inputs", inputs),
        0 if batch is None else _check.whole_number("batch", batch, 1, 2**32), target, cores, exact_specials)
    for note in computation.notes:
        _warn(note)
    return Program(computation, check)


def load(folder, cores=None) -> Artifact:
    """Opens an artifact. cores: at most so many for one call; None: as many as it was compiled for."""
    cores = 0 if cores is None else _check.whole_number("cores", cores, 1, 4096)
    return Artifact(_lathe.open_artifact(_check.path("folder", folder), cores))
