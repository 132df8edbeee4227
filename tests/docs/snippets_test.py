#!/usr/bin/env python3
"""Runs what the documents show: every command, every snippet of C and JSON, every name of a file or an option.

A block says behind its fence what it is. `console`: each line that begins with "$ " is run, in a folder that looks
like a checkout with a build. `json`: a workload file, compiled. `c`: compiled, alone or as the body of a function,
and run; with "beside FILE", in front of which it stands. `cpp of FILE`: an excerpt of an example, which is built and
run by a test of its own. `text`: nothing to run. Any other block is an error, and so is a command that is neither run
nor listed below with what is looked at in its place.

usage: snippets_test.py [UNITTEST ARGUMENTS]; LATHE names the program, build/release/bin/lathe where it is not set
"""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

from documents import Block, Word, commands_of, read_document
from small_model import write_small_model

ROOT = Path(__file__).resolve().parents[2]
LATHE = Path(os.environ.get("LATHE", ROOT / "build" / "release" / "bin" / "lathe")).resolve()
DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")), "CONTRIBUTING.md",
             "workloads/README.md", "models/README.md"]

# Commands are run as they stand, but for what takes long: every search has this short form. The file
# resnet18.onnx is a small network.
SHORTENED = [(r"--time \d+", "--time 2"), (r"lathe tune (?!.*--trials)", "lathe tune --trials 4 ")]

# What documents write for a value of the reader's own.
PLACEHOLDERS = {"MODEL.onnx": "resnet18.onnx", "model.onnx": "resnet18.onnx", "FILE.json": "mine.json",
                "FILE.db": "lathe.db", "INTO.db": "merged.db", "FROM.db": "lathe.db", "FILE.saved": "lathe.db",
                "FILE": "merged.db", "DIR": "resnet18", "ID": "{id}", "..": "", "...": ""}

# Commands that are not run, each with what is looked at instead: it names the method that does so. They install
# packages, build all of Lathe, or take minutes; CI and the tests of their own run them.
LOOKED_AT = [(r"make\b", "check_make"), (r"cmake\b", "check_cmake"), (r"ctest\b", "check_ctest"),
             (r"apt-get install\b", "check_packages"), (r"python3 -m venv\b", "check_requirements"),
             (r"\.venv/bin/python models/materialize\.py\b", "check_script"),
             (r"(sh |python3 )?(tools|bench|\.ci)/[\w/]+(\.(sh|py))?( |$)", "check_script"),
             (r"build/release/bin/lathe_tests\b", "check_gtest")]

# Options that the documents name and that are CMake's and the tests'. Those of scripts are found in them.
OTHER_OPTIONS = {"--preset", "--install", "--prefix", "--gtest_filter", "--build", "--test-dir"}

TOP_FOLDERS = "src|cli|tests|bench|docs|tools|examples|workloads|models|include|cmake|\\.ci"


def run(command, folder: Path, **options) -> subprocess.CompletedProcess:
    environment = os.environ | {"PATH": f"{LATHE.parent}:{os.environ['PATH']}"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, **options)


def make_checkout(folder: Path):
    """What commands find in a checkout after `make`, and a network of the name that they use."""
    for name in ("examples", "workloads", "models", "tools", "docs"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "build" / "release").mkdir(parents=True)
    (folder / "build" / "release" / "bin").symlink_to(LATHE.parent)
    write_small_model(folder / "resnet18.onnx")


def options_of(command: str) -> set[str]:
    """Those of `lathe COMMAND`, by its help."""
    text = run(f"lathe {command} --help", ROOT, shell=True).stdout
    return set(re.findall(r"^ +(--[\w-]+)", text, re.M)) - {"--help"}


def options_of_scripts() -> set[str]:
    scripts = [path for top in ("tools", "tests", "bench") for path in (ROOT / top).rglob("*.*")
               if path.suffix in (".py", ".sh") and path.parent != Path(__file__).parent]
    return {option for path in scripts for option in re.findall(r"\"(--[a-z][\w-]+)", path.read_text())}


def lathe_commands() -> list[str]:
    def below(prefix: str) -> list[str]:
        text = run(f"lathe {prefix} --help", ROOT, shell=True).stdout
        if "Subcommands:" not in text:
            return [prefix.strip()]
        names = re.findall(r"^  (\w+) ", text.split("Subcommands:")[1], re.M)
        return [command for name in names for command in below(f"{prefix} {name}")]
    return below("")


class Reading(unittest.TestCase):
    """What the tests below go by."""

    def test_blocks_words_and_commands_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.md"
            path.write_text("In `a.json`, `lathe x`:\n```json\n[]\n```\n```\nbare `word`\n```\n"
                            "```console\n$ one \\\n  more\noutput\n$ two\n```\n")
            blocks, words = read_document(path, "page.md")
        self.assertEqual([(block.kind, block.where) for block in blocks],
                         [("json", "page.md:2"), ("", "page.md:5"), ("console", "page.md:8")])
        self.assertEqual(blocks[0].before, "In `a.json`, `lathe x`:")
        self.assertEqual([word.text for word in words], ["a.json", "lathe x"])
        self.assertEqual(commands_of(blocks[2]), ["one \\\n  more", "two"])


class Documents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        make_checkout(cls.folder)
        cls.read = {name: read_document(ROOT / name, name) for name in DOCUMENTS}
        cls.options = {command: options_of(command) for command in lathe_commands()}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def blocks(self) -> list[Block]:
        return [block for name in DOCUMENTS for block in self.read[name][0]]

    def words(self) -> list[Word]:
        return [word for name in DOCUMENTS for word in self.read[name][1]]

    def test_1_every_block_runs(self):
        for block in self.blocks():
            with self.subTest(block.where):
                handler = getattr(self, f"run_{block.kind}", None) if block.kind else None
                self.assertIsNotNone(handler, f"nothing runs a block of '{block.kind}'; `text` if nothing should")
                handler(block)

    def test_2_every_command_between_backticks_runs(self):
        for word in self.words():
            is_command = re.match(r"(build/release/bin/)?lathe \w", word.text) or " " in word.text and any(
                re.match(pattern, word.text) for pattern, _ in LOOKED_AT) or word.text.startswith("cc ")
            if is_command:
                with self.subTest(f"{word.where}: {word.text}"):
                    self.run_command(word.text)

    def test_3_every_option_exists(self):
        known = set().union(*self.options.values()) | OTHER_OPTIONS | options_of_scripts()
        known |= {"--help", "--version"}
        for word in self.words():
            for option in re.findall(r"(?:^| )(--[a-z][\w-]+)", word.text):
                with self.subTest(f"{word.where}: {word.text}"):
                    self.assertIn(option, known)

    def test_4_every_option_of_the_program_is_in_a_document(self):
        text = "\n".join((ROOT / name).read_text() for name in DOCUMENTS)
        for command, options in self.options.items():
            for name in [f"lathe {command}", *options]:
                with self.subTest(f"lathe {command}: {name}"):
                    self.assertTrue(re.search(re.escape(name) + r"\b", text), "no document speaks of it")

    def test_5_every_file_that_is_named_exists(self):
        for word in self.words():
            if re.fullmatch(rf"({TOP_FOLDERS})/[\w./*-]*", word.text):
                with self.subTest(f"{word.where}: {word.text}"):
                    self.assertTrue(list(ROOT.glob(word.text.rstrip("/"))))
            elif re.fullmatch(r"[a-z_]+/[\w.*/-]+\.(h|cpp|py)", word.text):
                with self.subTest(f"{word.where}: {word.text}"):
                    places = [ROOT / "src", ROOT / "include", ROOT]
                    self.assertTrue([path for place in places for path in place.glob(word.text)])
            elif re.fullmatch(r"[a-z_]+\.md", word.text):
                with self.subTest(f"{word.where}: {word.text}"):
                    self.assertTrue((ROOT / word.where.split(":")[0]).parent.joinpath(word.text).exists())

    def test_6_every_link_leads_somewhere(self):
        for name in DOCUMENTS:
            text = re.sub(r"(?ms)^```.*?^```", "", (ROOT / name).read_text())
            for link in re.findall(r"\]\(([^)#:]+)\)", text):
                with self.subTest(f"{name}: {link}"):
                    self.assertTrue((ROOT / name).parent.joinpath(link).exists())

    def test_7_paragraphs_of_the_readme_are_read_in_one_breath(self):
        for number, line in enumerate((ROOT / "README.md").read_text().splitlines(), 1):
            self.assertLess(len(line), 900, f"README.md:{number}")

    # Blocks, by the word behind the fence.

    def run_text(self, block: Block):
        """Only the options of a list of commands are looked at."""
        for line in block.text.splitlines():
            command = re.match(r"lathe (\w+)( merge)?", line)
            options = set(re.findall(r" (--[a-z][\w-]+)", line))
            if command and options:
                words = command[1] + (command[2] or "")
                self.assertLessEqual(options, self.options[words], line)

    def run_console(self, block: Block):
        commands = commands_of(block)
        self.assertTrue(commands, "no line begins with '$ '")
        for command in commands:
            self.run_command(command)

    def run_json(self, block: Block):
        entries = json.loads(block.text)
        names = re.findall(r"`(\w+\.json)`", block.before)
        path = self.folder / (names[-1] if names else "snippet.json")
        path.write_text(block.text)
        self.succeed(f"lathe compile --workload {path.name} --cores 1 --out compiled")
        for entry in entries if isinstance(entries, list) else [entries]:
            self.assertTrue((self.folder / "compiled" / entry["name"] / "model.so").exists())

    def run_cpp(self, block: Block):
        self.assertTrue(block.rest.startswith("of "), "a block of C++ names the example that it is an excerpt of")
        example = (ROOT / block.rest[3:]).read_text()
        self.assertIn(" ".join(block.text.split()), " ".join(example.split()))

    def run_python(self, block: Block):
        self.succeed(["python3", "-c", block.text])

    def run_c(self, block: Block):
        if block.rest.startswith("beside "):
            self.compile_beside(block)
            return
        opened = re.search(r'lathe_open\("([^"]+)"', block.text)
        artifact = self.folder / (opened[1] if opened else "resnet18")
        if not self.compiles(f'#include "model.h"\n{block.text}\nint main(void) {{ return 0; }}\n', artifact):
            self.assertTrue(self.compiles(BODY % block.text, artifact), self.why)
        self.succeed(["./snippet"])

    def compile_beside(self, block: Block):
        """Declarations that a file that Lathe writes has too: they are not at odds."""
        self.succeed("lathe compile --workload examples/01_matmul.json --cores 1 --emit c --out sources")
        source = (self.folder / "sources" / "matmul" / block.rest.removeprefix("beside ")).read_text()
        (self.folder / "beside.c").write_text(source + block.text)
        self.succeed("cc -std=c99 -Wall -Werror -Wno-unused -c beside.c -o beside.o")
        for function in re.findall(r"(\w+)\(", block.text):
            self.assertIn(f"{function}(", source)

    def compiles(self, source: str, artifact: Path) -> bool:
        (self.folder / "snippet.c").write_text(source)
        done = run(["cc", "-std=c11", "-Wall", "-Werror", f"-I{artifact}", "snippet.c", artifact / "model.so",
                    f"-Wl,-rpath,{artifact}", "-o", "snippet"], self.folder)
        self.why = done.stderr
        return done.returncode == 0

    # Commands.

    def succeed(self, command):
        done = run(command, self.folder, shell=isinstance(command, str))
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run_command(self, command: str):
        for pattern, method in LOOKED_AT:
            if re.match(pattern, command):
                getattr(self, method)(command)
                return
        if command.startswith("sqlite3 "):
            self.run_sqlite(command)
        elif command.startswith("cc "):
            shutil.copy(self.folder / "sources" / "matmul" / "kernel0.c", self.folder)
            self.succeed(command)
        else:
            self.run_lathe(command)

    def run_lathe(self, command: str):
        words = command.replace("build/release/bin/", "").split()
        self.assertEqual(words[0], "lathe", f"nothing says how to run '{command}'")
        name = " ".join(words[1:3]) if " ".join(words[1:3]) in self.options else words[1]
        given = words[1 + len(name.split()):]
        if given == ["--help"] and name == "COMMAND":
            return
        self.assertIn(name, {*self.options, "records", "table", "model", "--help", "--version"})
        self.assertLessEqual({word for word in given if word.startswith("--")}, self.options.get(name, set()))
        # A command without a file or folder is spoken of, no more.
        if not any(word in PLACEHOLDERS or re.search(r"[./]", word) for word in given):
            return
        command = " ".join(PLACEHOLDERS.get(word, word) for word in command.replace("\\\n", " ").split())
        for pattern, short in SHORTENED:
            command = re.sub(pattern, short, command)
        self.succeed(command.replace("{id}", self.an_id(name)))

    def an_id(self, name: str) -> str:
        if name == "replay" or not (self.folder / "lathe.db").exists():
            return "1"
        return json.loads(self.succeed("lathe show lathe.db --json"))[0]["task"]

    def run_sqlite(self, command: str):
        """As the program of that name does, which need not be there."""
        _, path, statement = re.fullmatch(r'(sqlite3) (\S+) "(.*)"', command).groups()
        with sqlite3.connect(self.folder / path) as records:
            self.assertTrue(records.execute(statement).fetchall())

    def check_make(self, command: str):
        makefile = (ROOT / "Makefile").read_text()
        for target in re.findall(r"make ([a-z]+)", command):
            self.assertRegex(makefile, rf"(?m)^{target}:")
        for variable in re.findall(r"([A-Z]+)=", command):
            self.assertIn(f"$({variable})", makefile)

    def check_cmake(self, command: str):
        presets = json.loads((ROOT / "CMakePresets.json").read_text())
        for kind, name in re.findall(r"(cmake|cmake --build|ctest) --preset (\w+)", command):
            part = {"cmake": "configurePresets", "cmake --build": "buildPresets", "ctest": "testPresets"}[kind]
            self.assertIn(name, [preset["name"] for preset in presets[part]])
        lists = "".join(path.read_text() for path in [*ROOT.glob("cmake/*.cmake"), ROOT / "CMakeLists.txt"])
        for variable in re.findall(r"-D(LATHE_\w+)=", command):
            self.assertIn(variable, lists)

    def check_ctest(self, command: str):
        self.check_cmake(command)
        for pattern in re.findall(r"-R (\w+)", command):
            listed = run(["ctest", "--test-dir", LATHE.parent.parent, "-N", "-R", pattern], self.folder).stdout
            self.assertNotIn("Total Tests: 0", listed)

    def check_packages(self, command: str):
        self.assertRegex(command, r"^apt-get install( [a-z][a-z0-9.+-]+)+$")

    def check_requirements(self, command: str):
        for path in re.findall(r"-r (\S+)", command):
            self.assertTrue((ROOT / path).exists(), path)

    def check_script(self, command: str):
        script = next(word for word in command.split() if re.match(r"(tools|bench|\.ci|models)/", word))
        self.assertTrue((ROOT / script).exists(), script)

    def check_gtest(self, command: str):
        tests = self.folder / "build" / "release" / "bin" / "lathe_tests"
        if tests.exists():
            self.assertIn("\n  ", self.succeed(command + " --gtest_list_tests"))


# What a snippet of C finds around it: tensors that are large enough for the small network.
BODY = """#include "model.h"
#include <stdio.h>
int main(void) {
  static _Alignas(64) float tensors[2][1 << 16];
  const void* inputs[] = {tensors[0]};
  void* outputs[] = {tensors[1]};
%s
  const char* error = lathe_error();
  if (error != NULL) fputs(error, stderr);
  return error != NULL && *error != 0;
}
"""

if __name__ == "__main__":
    unittest.main()
