"""A folder in which Lathe is run as a user runs it: copies of its programs, a small workload, the runs, and what
came of them."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Far more than any run here takes that does not hang.
LIMIT_SECONDS = 300
WAIT_SECONDS = 60  # for what a run does at its beginning
ENDLESS = 1_000_000  # trials
STATE = re.compile(r"^\[\d+/\d+\] (.+): (\d+) trials, \d+ failed, ", re.M)
WORKLOAD = '[{"name": "mm", "op": "expression", "text": "C[i:64, j:48] = sum(r:40) A[i,r] * B[r,j]"}]'


class Fault(Exception):
    """What must not be."""


def expect(condition: bool, fault: str):
    if not condition:
        raise Fault(fault)


@dataclass
class Outcome:
    """A run that has ended; `status` is negative where a signal ended it."""
    what: str
    status: int
    out: str
    err: str

    def known(self) -> int | None:
        """The trials that the records held when the run began; none where it has not come to say so."""
        states = STATE.findall(self.err)
        return int(states[0][1]) if states else None

    def measured(self) -> int:
        """The trials that the run has reported as its own: each of them must be in the records."""
        states = STATE.findall(self.err)
        return int(states[-1][1]) - int(states[0][1]) if states else 0

    def sentences(self) -> list[str]:
        lines = self.err.splitlines()
        passing = ("lathe: warning: ", "lathe: note: ")
        return [line for line in lines if line.startswith("lathe: ") and not line.startswith(passing)]

    def expect_success(self) -> "Outcome":
        expect(self.status == 0, f"{self.what} ended with status {self.status}: {self.err[-300:]}")
        return self

    def expect_sentence(self, pattern: str = "") -> "Outcome":
        """Exit status 1, and one sentence on stderr that the pattern is found in."""
        expect(self.status == 1, f"{self.what} ended with status {self.status}, not 1: {self.err[-300:]}")
        found = self.sentences()
        expect(len(found) == 1, f"{self.what} ended with {len(found)} sentences: {self.err[-300:]}")
        expect(re.search(pattern, found[0]) is not None, f"{self.what} does not say '{pattern}': {found[0]}")
        return self


class Run:
    """A process of its own group, whose output goes into files."""

    def __init__(self, arguments: list[str], folder: Path, **options):
        self.what = "lathe " + " ".join(str(argument) for argument in arguments[1:3])
        self.files = [tempfile.NamedTemporaryFile("w+", dir=folder, suffix=suffix, errors="replace")
                      for suffix in (".out", ".err")]
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self.files[0],
                                        stderr=self.files[1], cwd=folder, start_new_session=True, **options)

    def wait(self, seconds: float = LIMIT_SECONDS) -> Outcome:
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Fault(f"{self.what} has not ended within {seconds:g} s") from None
        texts = []
        for file in self.files:
            file.seek(0)
            texts.append(file.read())
            file.close()
        return Outcome(self.what, status, *texts)

    def kill(self) -> Outcome:
        self.process.kill()
        return self.wait()

    def send(self, number: int, to_group: bool):
        """To the process alone, or to its whole group as a terminal does."""
        with contextlib.suppress(ProcessLookupError):
            if to_group:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)

    def wait_for_handlers(self):
        """Until the process has taken over what SIGINT means; a program that is being loaded has not."""
        def has_taken_over() -> bool:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                status = Path(f"/proc/{self.process.pid}/status").read_text()
                caught = re.search(r"^SigCgt:\s*(\w+)", status, re.M)
                return caught is not None and int(caught.group(1), 16) >> (signal.SIGINT - 1) & 1 == 1
            return False
        self.wait_until(has_taken_over, "handles no SIGINT")

    def wait_for_measurements(self):
        """Until it has reported a batch of its own."""
        reported = Path(self.files[1].name)
        self.wait_until(lambda: len(STATE.findall(reported.read_text(errors="replace"))) > 1, "measures nothing")

    def wait_until(self, condition: Callable[[], bool], fault: str):
        deadline = time.monotonic() + WAIT_SECONDS
        while not condition():
            expect(self.process.poll() is None and time.monotonic() < deadline, f"{self.what} {fault}")
            time.sleep(0.005)


class Place:
    def __init__(self, lathe: Path, folder: Path):
        self.folder = folder = folder.resolve()  # by which processes name their programs
        folder.chmod(0o755)  # so that another user may run the programs
        self.lathe = folder / "bin" / "lathe"
        self.worker = folder / "bin" / "lathe-worker"
        self.lathe.parent.mkdir()
        for program in (self.lathe, self.worker):
            shutil.copy(lathe.parent / program.name, program)
        self.workload = folder / "w.json"
        self.workload.write_text(WORKLOAD)

    def new_folder(self, name: str) -> Path:
        """An empty one for a scenario."""
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path

    def start(self, *arguments, **options) -> Run:
        return Run([str(self.lathe), *map(str, arguments)], self.folder, **options)

    def run(self, *arguments, **options) -> Outcome:
        return self.start(*arguments, **options).wait()

    def start_tuning(self, records: Path, *more, trials: int = ENDLESS, **options) -> Run:
        """Makes all its trials, however fast one of them is."""
        return self.start("tune", "--workload", self.workload, "--cores", 1, "--records", records, "--trials", trials,
                          "--enough", 0, *more, **options)

    def tune(self, records: Path, *more, trials: int, **options) -> Outcome:
        return self.start_tuning(records, *more, trials=trials, **options).wait()

    def workers(self) -> list[int]:
        found = []
        for process in Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                if (process / "cmdline").read_bytes().startswith(bytes(self.worker) + b"\0"):
                    found.append(int(process.name))
        return found

    def expect_no_workers(self):
        """No worker outlives its parent, but for the moment that the system takes to end it."""
        deadline = time.monotonic() + 5
        while self.workers() and time.monotonic() < deadline:
            time.sleep(0.02)
        expect(not self.workers(), f"workers are left: {self.workers()}")
