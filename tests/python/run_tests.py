#!/usr/bin/env python3
"""Installs the Python package of this checkout into a folder of its own, with the library of a build, and runs
the tests beside this file with it. Ends with 77 where .venv lacks what builds it (tools/make_environment.sh).

usage: run_tests.py BUILD_FOLDER [TEST ...]
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    python = ROOT / ".venv" / "bin" / "python"
    needed = "import nanobind, scikit_build_core, numpy, onnx"
    if not python.exists() or subprocess.run([python, "-c", needed], capture_output=True).returncode != 0:
        print("skipped: .venv lacks nanobind, scikit-build-core, numpy or onnx; tools/make_environment.sh puts them there")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "package"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps",
                   "--no-build-isolation", "--target", package, ROOT,
                   f"--config-settings=cmake.define.LATHE_BUILD_FOLDER={build}",
                   f"--config-settings=build-dir={build}/python"]
        subprocess.run([str(word) for word in install], check=True)
        environment = dict(os.environ, PYTHONPATH=str(package), LATHE=str(build / "bin" / "lathe"))
        tests = sys.argv[2:] or ["discover", "-s", str(HERE), "-p", "*_test.py"]
        return subprocess.run([str(python), "-B", "-m", "unittest", *tests], cwd=HERE, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
