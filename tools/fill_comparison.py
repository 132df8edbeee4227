#!/usr/bin/env python3
"""Fills the figures of docs/comparison.md that can be counted, in place.

    tools/fill_comparison.py [ROOT]

Each figure is what one of the checks prints, or is counted here; a row whose check no longer prints it is an error.
"""
import re
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
# What begins a declaration that a header's reader sees, at the outermost level or in a struct.
DECLARATION = re.compile(r"^(?:  )?(?!return|using|namespace|if|for|else|case|friend|public|private|protected|static_assert)"
                         r"(?:struct|class|enum|[A-Za-z_][\w:<>,*& ]* \*?&?\w+\()")


def printed_by(tool: str, root: Path, wanted: str) -> tuple[str, ...]:
    printed = subprocess.run([sys.executable, TOOLS / tool, root], capture_output=True, text=True).stdout
    found = re.search(wanted, printed)
    if not found:
        sys.exit(f"{tool} prints nothing like {wanted}")
    return found.groups()


def commented_share(root: Path) -> tuple[int, int]:
    """Declarations of src's and include's headers with a comment before them or in their line, and all."""
    commented = count = 0
    for folder in ("src", "include"):
        for path in sorted((root / folder).rglob("*.h")):
            described = False  # by a comment before it, or before others right above it
            for line in path.read_text().splitlines():
                if line.lstrip().startswith("//"):
                    described = True
                elif not line.strip():
                    described = False
                elif DECLARATION.match(line):
                    count += 1
                    commented += described or "//" in line
    return commented, count


def first_command(root: Path) -> int:
    for number, line in enumerate((root / "README.md").read_text().splitlines(), 1):
        if line.startswith("$ "):
            return number
    sys.exit("README.md has no command")


def figures(root: Path) -> dict[str, str]:
    files, median, share = printed_by("check_sizes.py", root, r"code: (\d+) files, \d+ lines, median (\d+).*?, ([\d.]+) %")
    functions, p90, p99, long = printed_by("check_sizes.py", root,
                                           r"code: (\d+) functions, .*?p90 (\d+), p99 (\d+).*?, ([\d.]+) % above 60")
    pairs, both = printed_by("check_layers.py", root, r"(\d+) folder pairs, (\d+) of them both ways")
    mirrored, ratio = printed_by("report_tests.py", root, r"(\d+) % of \d+ sources with code.*?([\d.]+) test lines")
    commented, count = commented_share(root)
    return {
        "1": f"{median}, {share} % of {files} files",
        "2": f"{p90}, {p99}, {long} % of {functions} functions",
        "3": f"{both} of {pairs}",
        "6": f"{ratio}; {mirrored} % of the sources with code have a test of their own name",
        "8": f"{100 * commented / max(1, count):.0f} % of {count}; every header says what it promises",
        "9": f"the first command stands on line {first_command(root)} of the README and runs the product",
    }


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else TOOLS.parent).resolve()
    page = root / "docs" / "comparison.md"
    counted = figures(root)
    lines = []
    for line in page.read_text().splitlines():
        cells = line.split(" | ")
        number = cells[0].removeprefix("| ")
        if len(cells) == 5 and number in counted:
            cells[3] = counted.pop(number)
            line = " | ".join(cells)
        lines.append(line)
    if counted:
        sys.exit(f"{page.name} has no row {', '.join(counted)}")
    page.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
