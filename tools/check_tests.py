#!/usr/bin/env python3
"""Tests mirror the sources: in these folders every file with code has a test file of its name.

src/lower/blocks/known.cpp has tests/lower/blocks/known_test.cpp. A header counts as code where it defines functions and has no
source file of its name. A test file of these folders must have tests in it.

usage: check_tests.py [ROOT]
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from check_sizes import cpp_functions  # noqa: E402

# Folders of src/, with all below them.
MIRRORED = ("check", "codegen", "compile", "cost", "evaluate", "features", "lower", "peers", "schedule", "search",
            "space", "task")
TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(", re.M)


def has_code(path: Path) -> bool:
    if path.suffix == ".cpp":
        return True
    return not path.with_suffix(".cpp").exists() and any(cpp_functions(path.read_text()))


def faults_of(root: Path):
    for folder in MIRRORED:
        for path in sorted((root / "src" / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h") or not has_code(path):
                continue
            name = path.relative_to(root / "src").with_suffix("")
            test = root / "tests" / name.parent / f"{name.name}_test.cpp"
            if not test.exists():
                yield f"{path.relative_to(root)} has no {test.relative_to(root)}"
            elif not TEST.search(test.read_text()):
                yield f"{test.relative_to(root)} has no test in it"


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    faults = list(faults_of(root))
    print("\n".join([*faults, f"tests: {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
