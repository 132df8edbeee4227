#!/usr/bin/env python3
"""Holds files to 500 lines and functions to 60, and prints the figures of docs/comparison.md.

Functions are found by matching braces, not by parsing: a lambda counts towards the function around it, a
function's length runs from the first line of its declaration to its closing brace.

usage: check_sizes.py [ROOT]
"""
import re
import statistics
import sys
from pathlib import Path

FILE_LIMIT = 500
FUNCTION_LIMIT = 60
# Files that are one table of data, by name.
EXEMPT = {"tests/conformance/zoo.cpp", "tests/milestone/traces.cpp"}

CODE = ("src", "include", "cli", "python")
OTHERS = ("tests", "bench", "examples", "tools", "models")
SUFFIXES = {".h", ".cpp", ".c", ".py", ".sh"}

NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    r'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
SCOPE = re.compile(r'\b(namespace|class|struct|union|enum)\b|\bextern\s*$')
AFTER_PARAMETERS = re.compile(r'(\)|\bconst|\bnoexcept|\boverride|\bfinal|\bmutable|\btry|->.*)\s*$', re.S)


def blank(match: re.Match) -> str:
    """Comments, literals and preprocessor lines keep their newlines and lose the rest."""
    return re.sub(r"[^\n]", " ", match.group())


def opens_function(head: str) -> bool:
    """Whether the brace after `head` (text since the last statement) opens a function's body."""
    without_template = re.sub(r"^\s*template\s*<[^{]*?>\s*(?=[\w:~\[])", "", head, flags=re.S)
    if "(" not in head or SCOPE.match(without_template.strip()):
        return False
    if AFTER_PARAMETERS.search(head):
        return True
    # A constructor's last member initialiser: `: a_(a), b_{b} {`.
    return bool(re.search(r"\)\s*(noexcept\s*)?:[^:].*[)}]\s*$", head, re.S))


def cpp_functions(text: str):
    """(first line, length in lines) of each function of a C++ file."""
    text = NOISE.sub(blank, text)
    stack: list[tuple[str, int]] = []  # what each open brace is, and where its head began
    head_start = 0
    for place, char in enumerate(text):
        inside = any(kind == "function" for kind, _ in stack)
        if char == "{":
            head = text[head_start:place]
            if inside:
                kind = "block"
            elif opens_function(head):
                kind = "function"
            elif SCOPE.search(head) or not head.strip():
                kind = "scope"
            else:
                kind = "value"  # a braced initialiser: the statement goes on behind it
            stack.append((kind, head_start))
            if kind in ("function", "scope"):
                head_start = place + 1
        elif char == "}" and stack:
            kind, start = stack.pop()
            if kind == "function":
                start += len(text[start:]) - len(text[start:].lstrip())
                yield text.count("\n", 0, start) + 1, text.count("\n", start, place) + 1
            if kind in ("function", "scope"):
                head_start = place + 1
        elif char == ";" and not inside and not (stack and stack[-1][0] == "value"):
            head_start = place + 1
        elif char == ":" and re.search(r"\b(public|private|protected)\s*$", text[head_start:place]):
            head_start = place + 1


def python_functions(text: str):
    """(first line, length in lines) of each function of a Python file."""
    import ast
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def shell_functions(text: str):
    """(first line, length in lines) of each function of a shell script whose brace closes at column one."""
    for match in re.finditer(r"^\w+\(\) \{.*?^\}", text, re.S | re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group().count("\n") + 1


def functions(path: Path, text: str):
    if path.suffix == ".py":
        return python_functions(text)
    return shell_functions(text) if path.suffix == ".sh" else cpp_functions(text)


def percentile(values: list[int], share: float) -> int:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def survey(root: Path, tops: tuple[str, ...], title: str) -> list[str]:
    """Prints the figures of some folders and returns their faults."""
    faults, file_lines, function_lines = [], [], []
    for path in sorted(p for top in tops for p in (root / top).rglob("*") if p.suffix in SUFFIXES):
        text = path.read_text()
        name = str(path.relative_to(root))
        file_lines.append(text.count("\n"))
        if file_lines[-1] > FILE_LIMIT and name not in EXEMPT:
            faults.append(f"{name}: {file_lines[-1]} lines, the limit is {FILE_LIMIT}")
        for line, length in functions(path, text):
            function_lines.append(length)
            if length > FUNCTION_LIMIT and name not in EXEMPT:
                faults.append(f"{name}:{line}: a function of {length} lines, the limit is {FUNCTION_LIMIT}")
    if file_lines:
        print(f"{title}: {len(file_lines)} files, {sum(file_lines)} lines, median {statistics.median(file_lines):g}, "
              f"longest {max(file_lines)}, {100 * sum(n > FILE_LIMIT for n in file_lines) / len(file_lines):.1f} % "
              f"above {FILE_LIMIT}")
    if function_lines:
        print(f"{title}: {len(function_lines)} functions, median {statistics.median(function_lines):g}, "
              f"p90 {percentile(function_lines, 0.90)}, p99 {percentile(function_lines, 0.99)}, "
              f"longest {max(function_lines)}, "
              f"{100 * sum(n > FUNCTION_LIMIT for n in function_lines) / len(function_lines):.1f} % "
              f"above {FUNCTION_LIMIT}")
    return faults


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    faults = survey(root, CODE, "code") + survey(root, OTHERS, "tests and tools")
    print("\n".join(faults) if faults else "sizes: 0 faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
