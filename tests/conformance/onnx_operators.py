#!/usr/bin/env python3
"""Every operator of ONNX's standard stands in docs/onnx.md: in the table of those taken, or with a reason in that of
those left out.

Needs the package `onnx` of tools/requirements.txt, its own or that of .venv, whose operators are those of the
standard.

usage: onnx_operators.py
"""
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from onnx_page import PAGE, is_in, taken_and_left_out  # noqa: E402

SKIPPED = 77  # what ctest is told to take for a skipped test

try:
    import onnx
except ImportError as missing:
    own = ROOT / ".venv" / "bin" / "python"
    if own.exists() and Path(sys.prefix) != own.parents[1]:
        os.execv(own, [own, *sys.argv])
    print(f"skipped: {missing}; tools/make_environment.sh installs it")
    sys.exit(SKIPPED)


def standard() -> set[str]:
    return {f"{s.domain}.{s.name}" if s.domain else s.name for s in onnx.defs.get_all_schemas()}


def faults(page: str) -> list[str]:
    taken, left_out = taken_and_left_out(page)
    names = standard()
    found = [f"{name} stands in no table of docs/onnx.md" for name in sorted(names)
             if not is_in(name, taken) and not is_in(name, left_out)]  # fmt: skip
    found += [f"{name} is taken, and stands among what is left out" for name in sorted(taken & left_out)]
    domains = {f"{name.rpartition('.')[0]}.*" for name in names}
    found += [f"{name} is left out, and is no operator of ONNX" for name in sorted(left_out - names - domains)]
    return found


def main() -> int:
    found = faults(PAGE.read_text())
    for fault in found:
        print(fault)
    print(f"{len(standard())} operators of ONNX {onnx.__version__}, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
