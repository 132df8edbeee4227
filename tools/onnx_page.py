"""What docs/onnx.md says of operators: those in its tables, and those that it leaves out with a reason."""
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "onnx.md"


def rows(text: str) -> set[str]:
    """The first column of a page's tables, which may list several names."""
    names = set()
    for cell in re.findall(r"^\| ([\w.*, ]+) \|", text, re.M):
        names.update(cell.split(", "))
    return names - {"operator", "operators"}


def taken_and_left_out(page: str) -> tuple[set[str], set[str]]:
    before, _, left_out_on = page.partition("\n## Left out\n")
    section, _, after = left_out_on.partition("\n## ")
    return rows(before + after), rows(section)


def is_in(name: str, listed: set[str]) -> bool:
    """Itself, or by its domain: `ai.onnx.ml.*`."""
    return name in listed or f"{name.rpartition('.')[0]}.*" in listed
