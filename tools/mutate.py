#!/usr/bin/env python3
"""Whether the tests notice: makes one small mistake after another (tools/mutations.py) and runs the tests that must fail.

Each mutation compiles one source file, with those that it is joined with (LATHE_JOIN), from a scratch folder and links
it in front of the library: neither the tree nor its build changes. The build must be up to date (cmake --build
build/release --target lathe_tests). About ten seconds of one core each, twice that in a joined build.

usage: mutate.py [--build DIR] [--jobs N] [--only WORD]   prints a line a mutation; status 1 where one goes unnoticed
       mutate.py --check [ROOT]                           only that the table still fits the sources
"""
import argparse
import concurrent.futures
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from mutations import MUTATIONS, Mutation  # noqa: E402

SECONDS = 300  # for the tests of one mutation: a mistake may well make a loop endless
TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P)\(\s*(\w+),\s*(\w+)\)", re.M)


def test_names(root: Path) -> list[str]:
    return [f"{suite}.{test}" for path in sorted((root / "tests").rglob("*_test.cpp"))
            for suite, test in TEST.findall(path.read_text())]


def matches(pattern: str, name: str) -> bool:
    """As --gtest_filter has it, for a pattern without instantiations' names."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name) is not None


def faults(mutations: list[Mutation], root: Path):
    """What of the table no longer fits the tree."""
    names = test_names(root)
    for m in mutations:
        path = root / m.file
        found = path.read_text().count(m.text) if path.exists() else 0
        if found != 1:
            yield f"{m.file}: {found} times, not once: {m.text}"
        if m.text == m.replacement:
            yield f"{m.file}: nothing changes: {m.text}"
        for pattern in m.filter.split(":"):
            if not any(matches(pattern.removeprefix("*/"), name) for name in names):
                yield f"{m.file}: there is no test {pattern}"


PART = re.compile(r'^#(?:include|line 1) "(/[^"]+\.cpp)"$', re.M)


def parts_of(file: Path) -> list[str]:
    """The files that a joined one is made of (LATHE_JOIN)."""
    is_joined = "Unity" in file.parts or "joined" in file.parts
    return PART.findall(file.read_text()) if is_joined else []


class Build:
    """The commands of a build folder by which the tests are made."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.compile = {entry["file"]: entry for entry in json.loads((folder / "compile_commands.json").read_text())}
        self.joined = {path: file for file in self.compile for path in parts_of(Path(file))}
        commands = subprocess.run(["ninja", "-C", folder, "-t", "commands", "bin/lathe_tests"], capture_output=True,
                                  text=True, check=True).stdout.splitlines()
        link = commands[-1].removeprefix(": && ").split(" && ")[0]
        self.link = shlex.split(link)

    def source_of(self, root: Path, m: Mutation) -> Path:
        """What is compiled: the file itself, of a header the test of its name."""
        name = Path(m.file)
        if name.suffix == ".cpp":
            return root / name
        return root / "tests" / name.relative_to("src").parent / f"{name.stem}_test.cpp"

    def unit_of(self, root: Path, m: Mutation) -> str:
        """The file, or the joined one with it, that the compiler is given."""
        source = str(self.source_of(root, m))
        return self.joined.get(source, source)

    def object(self, root: Path, m: Mutation, scratch: Path) -> list[str]:
        unit = self.unit_of(root, m)
        words = shlex.split(self.compile[unit]["command"])
        words[words.index("-o") + 1] = str(scratch / "mutated.o")
        words.append("-Wno-error")  # a mistake may leave something unused
        mutated = scratch / m.file
        mutated.parent.mkdir(parents=True)
        mutated.write_text((root / m.file).read_text().replace(m.text, m.replacement))
        if mutated.suffix == ".cpp" and unit == str(root / m.file):
            words[words.index("-c") + 1] = str(mutated)
        elif mutated.suffix == ".cpp":
            joined = scratch / "joined.cpp"
            joined.write_text(Path(unit).read_text().replace(f'"{root / m.file}"', f'"{mutated}"'))
            words[words.index("-c") + 1] = str(joined)
        else:
            words.insert(1, f"-I{scratch / 'src'}")
        return words

    def tests(self, root: Path, m: Mutation, scratch: Path) -> list[str]:
        own = shlex.split(self.compile[self.unit_of(root, m)]["command"])
        replaced = own[own.index("-o") + 1]
        words = [word for word in self.link if word != replaced]
        words[words.index("-o") + 1] = str(scratch / "tests")
        words.insert(words.index("-o"), str(scratch / "mutated.o"))
        if shutil.which("ld.lld"):
            words.insert(1, "-fuse-ld=lld")
        return words


def tried(build: Build, root: Path, m: Mutation) -> tuple[str, str]:
    """'caught', 'unnoticed' or 'not built', and by which test or why."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for command in (build.object(root, m, scratch), build.tests(root, m, scratch)):
            done = subprocess.run(command, cwd=build.folder, capture_output=True, text=True)
            if done.returncode != 0:
                return "not built", done.stderr.strip().splitlines()[0]
        try:
            done = subprocess.run([scratch / "tests", f"--gtest_filter={m.filter}", "--gtest_brief=1"], cwd=build.folder,
                                  capture_output=True, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return "caught", "no end"
        failed = re.findall(r"^\[  FAILED  \] (\S+) \(", done.stdout, re.M)
        if done.returncode == 0:
            return "unnoticed", m.filter
        return "caught", failed[0].rstrip(",") if failed else f"status {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--build", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="those whose file or filter has this word")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    options.root = options.root.resolve()  # as the commands of the build name its files
    wrong = list(faults(MUTATIONS, options.root))
    print("\n".join([*wrong, f"mutations: {len(MUTATIONS)}, {len(wrong)} faults"]))
    if wrong or options.check:
        return 1 if wrong else 0
    build = Build((options.build or options.root / "build/release").resolve())
    chosen = [m for m in MUTATIONS if options.only in m.file or options.only in m.filter]
    unnoticed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for m, (outcome, detail) in zip(chosen, pool.map(lambda m: tried(build, options.root, m), chosen)):
            unnoticed += outcome != "caught"
            print(f"{outcome}: {m.file}: {m.text.strip()} -> {m.replacement.strip()}: {detail}", flush=True)
    print(f"{len(chosen)} mutations, {unnoticed} not caught")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
