#!/usr/bin/env python3
"""Installs a build of Lathe into an empty folder and uses what lies there, and nothing of the build: the command
line on an example, and an example in C++ built against the installed library.

usage: install_test.py CMAKE BUILD_FOLDER
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE, BUILD = sys.argv[1:3]
ROOT = Path(__file__).resolve().parent.parent.parent


def run(*command) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = Path(cls.folder.name) / "prefix"
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_the_command_line_works_from_there(self):
        lathe = self.prefix / "bin" / "lathe"
        self.assertRegex(run(lathe, "--version"), r"0\.3\.0")
        records, out = self.prefix / "records.db", self.prefix / "artifacts"
        workload = self.prefix / "share" / "lathe" / "examples" / "01_matmul.json"
        run(lathe, "tune", "--workload", workload, "--cores", 1, "--trials", 2, "--records", records, "--out", out)
        self.assertTrue(list(out.glob("*/model.so")))

    def test_of_the_headers_only_the_public_ones_are_there(self):
        installed = {str(path.relative_to(self.prefix / "include")) for path in (self.prefix / "include").rglob("*.h")}
        public = {f"lathe/{path.name}" for path in (ROOT / "include" / "lathe").glob("*.h")}
        self.assertEqual(installed, public)
        self.assertLessEqual(len(public), 12)

    def test_the_examples_are_a_project_that_builds_against_the_library(self):
        examples, build = self.prefix / "share" / "lathe" / "examples", self.prefix / "own_build"
        run(CMAKE, "-S", examples, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(CMAKE, "--build", build)
        ctest = Path(CMAKE).with_name("ctest")
        self.assertIn("100% tests passed", run(ctest, "--test-dir", build))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
