#!/usr/bin/env python3
"""How many source files a new thing touches: a primitive, a pass, a strategy, an element type and so on.

tests/touches/<kind>.patch adds one of each kind. All are applied to a copy of the sources, what they touch is compiled
as far as its meaning (-fsyntax-only), so that a sample is known to be complete, and the files are counted. A file and
its header count as one. A kind that needs more than its bound is a fault: whoever adds the next one pays for it.

usage: count_touches.py BUILD [--no-compile]   BUILD has a compile_commands.json of these sources
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TOPS = ("src", "cli", "include")


class Kind(NamedTuple):
    bound: int          # files that a sample may touch, its own counted
    named_like: str = ""  # an older thing of the kind: files that name it are compiled too, for they may have to know
    also: tuple[str, ...] = ()  # further files to compile: a sample touches a header alone


KINDS = {
    # What is generic over steps is compiled too: they are instantiated there.
    "primitive": Kind(3, "RfactorStep", ("src/schedule/apply.cpp", "src/schedule/trace_text.cpp",
                                         "src/schedule/words.cpp")),
    "lowering_pass": Kind(2),
    "search_strategy": Kind(2),
    "cost_model": Kind(2),
    "space_kind": Kind(2),
    "backend": Kind(2),
    "device": Kind(2),
    "evaluator": Kind(2),
    "element_type": Kind(1, also=("src/expr/type.cpp", "src/codegen/c_like/functions.cpp", "src/codegen/llvm/types.cpp",
                                  "src/codegen/llvm/conversions.cpp", "src/graph/onnx/tensor.cpp")),
    "intrinsic": Kind(2),
}


def touched(patch: str) -> list[str]:
    return re.findall(r"^\+\+\+ b/(\S+)", patch, re.M)


def count(files: list[str]) -> int:
    return len({str(Path(name).with_suffix("")) for name in files})


def copy_sources(root: Path, scratch: Path):
    for top in TOPS:
        if (root / top).exists():
            shutil.copytree(root / top, scratch / top)


def apply(patch: Path, scratch: Path) -> str:
    """Why the sample does not apply; empty where it does."""
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(scratch.parent)}
    done = subprocess.run(["git", "apply", "-C1", str(patch.resolve())], cwd=scratch, env=outside, capture_output=True,
                          text=True)
    return done.stderr.strip()


class Compiler:
    def __init__(self, build: Path, root: Path, scratch: Path):
        self.root, self.scratch = root, scratch
        entries = json.loads((build / "compile_commands.json").read_text())
        self.folder = {entry["file"]: entry["directory"] for entry in entries}
        self.commands = {entry["file"]: entry["command"] for entry in entries}
        # Of a library whose files are compiled together none is listed by itself: their flags are the same.
        self.any = next(name for name, command in self.commands.items() if "lathe_core.dir/" in command)

    def faults_in(self, name: str) -> str:
        like = str(self.root / name)
        if like not in self.commands:
            like = self.any
        words = shlex.split(self.commands[like])
        at = words.index("-o")
        del words[at:at + 2]
        words[words.index("-c") + 1] = str(self.scratch / name)
        words = [f"-I{self.scratch}/{word.removeprefix(f'-I{self.root}/')}"
                 if word in {f"-I{self.root}/{top}" for top in TOPS} else word for word in words]
        done = subprocess.run([*words, "-fsyntax-only"], cwd=self.folder[like], capture_output=True, text=True)
        return done.stderr.strip() if done.returncode != 0 else ""


def to_compile(kind: Kind, files: list[str], scratch: Path) -> set[str]:
    names = {name for name in (*files, *kind.also) if name.endswith(".cpp")}
    if kind.named_like:
        word = re.compile(rf"\b{kind.named_like}\b")
        names |= {str(path.relative_to(scratch)) for path in (scratch / "src").rglob("*.cpp")
                  if word.search(path.read_text())}
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args()
    samples = options.root / "tests/touches"
    faults = [f"there is no sample for {kind}" for kind in KINDS if not (samples / f"{kind}.patch").exists()]
    faults += [f"{path.name} is a sample of no kind" for path in samples.glob("*") if path.stem not in KINDS]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        copy_sources(options.root, scratch)
        sources: set[str] = set()
        for name, kind in KINDS.items():
            patch = samples / f"{name}.patch"
            if not patch.exists():
                continue
            if refused := apply(patch, scratch):
                faults.append(f"{name}: the sample does not apply: {refused}")
                continue
            files = touched(patch.read_text())
            print(f"{name}: {count(files)} of at most {kind.bound}: {', '.join(files)}")
            if count(files) > kind.bound:
                faults.append(f"{name}: a new one touches {count(files)} files, the bound is {kind.bound}")
            sources |= to_compile(kind, files, scratch)
        if not options.no_compile:
            compiler = Compiler(options.build.resolve(), options.root.resolve(), scratch)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for name, wrong in zip(sorted(sources), pool.map(compiler.faults_in, sorted(sources))):
                    if wrong:
                        faults.append(f"{name} does not compile: {wrong}")
    print("\n".join([*faults, f"touches: {len(KINDS)} kinds, {len(sources)} files compiled, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
