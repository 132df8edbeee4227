#!/usr/bin/env python3
"""Reports how tests mirror the sources: tests/<path>_test.cpp stands for src/<path>.h or src/<path>.cpp.

Prints the tests that are named for a behaviour instead of a file, the share of the sources with a test of
their own, and the ratio of test lines to source lines (docs/comparison.md). A report, not a gate.

usage: report_tests.py [ROOT]
"""
import sys
from pathlib import Path


def lines(paths) -> int:
    return sum(path.read_text().count("\n") for path in paths)


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    sources = [path for path in (root / "src").rglob("*") if path.suffix in (".h", ".cpp")]
    stems = {path.relative_to(root / "src").with_suffix("") for path in sources}
    layers = {stem.parts[0] for stem in stems}
    tests = [path for path in (root / "tests").rglob("*") if path.suffix in (".h", ".cpp")]
    mirrored, others = set(), []
    for path in sorted(tests):
        test = path.relative_to(root / "tests").with_suffix("")
        if not test.name.endswith("_test") or len(test.parts) < 2 or test.parts[0] not in layers:
            continue
        stem = test.with_name(test.name.removesuffix("_test"))
        if stem in stems:
            mirrored.add(stem)
        else:
            others.append(f"tests/{test}.cpp")
    print("named for a behaviour:", ", ".join(others) or "none")
    with_code = {path.relative_to(root / "src").with_suffix("") for path in sources if path.suffix == ".cpp"}
    share = 100 * len(mirrored & with_code) / max(1, len(with_code))
    print(f"tests: {len(mirrored)} mirror a source, {share:.0f} % of {len(with_code)} sources with code have their own, "
          f"{lines(tests) / max(1, lines(sources)):.2f} test lines a source line")


if __name__ == "__main__":
    main()
