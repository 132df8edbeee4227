#!/usr/bin/env python3
"""Links and references of the documents lead somewhere, and a map stays a map.

In every *.md: a relative link leads to a file, with #heading to a heading of it; a file or folder that stands in
backticks with a slash (`tune/finals.h`) is there, counted from the root, src/, include/, docs/ or the document; no
paragraph of README.md and docs/architecture.md is longer than a reader takes in at once. What a build or a command
makes, and what stands for a name (`<architecture>`, `NAME`, `*`), is not looked for. A comment of a source that names
a file (tune/finals.h) is held to the same.
"""
import pathlib
import re
import sys

LONGEST = {"README.md": 900, "docs/architecture.md": 600}  # characters of a paragraph
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`([A-Za-z0-9_.\-]+(?:/[A-Za-z0-9_.\-]+)+/?)`")
MADE = ("build/", "tuned/", "mine/", "resnet18/", "peers/")
# A path has an ending that files of the tree have, or ends as a folder does.
IS_FILE = re.compile(r"\.(h|cpp|c|py|sh|md|txt|json|cmake|onnx)$|/$")


SOURCES = ("src", "cli", "include", "tests", "bench", "tools", "fuzz")
COMMENT = re.compile(r"^\s*//.*|\s//\s.*")
IN_COMMENT = re.compile(r"(?<![\w./<>*-])(?:[\w-]+/)+[\w.-]+\.(?:h|cpp|py|md)\b")


def headings(text):
    for line in text.splitlines():
        if line.startswith("#"):
            words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            yield words.replace(" ", "-")


def without_code(text):
    """Lines outside of fenced code, numbered."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            yield number, line


def faults_of(root, path):
    name = str(path.relative_to(root))
    places = [root, root / "src", root / "include", root / "docs", path.parent]
    for number, line in without_code(path.read_text()):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, heading = target.partition("#")
            led_to = path.parent / file if file else path
            if not led_to.exists():
                yield f"{name}:{number}: the link to {target} leads nowhere"
            elif heading and heading not in headings(led_to.read_text()):
                yield f"{name}:{number}: {file or name} has no heading #{heading}"
        for file in NAMED.findall(line):
            stands_for_names = any(part.split(".")[0].isupper() for part in file.split("/"))
            if file.startswith(MADE) or stands_for_names or not IS_FILE.search(file):
                continue
            if not any((place / file).exists() for place in places):
                yield f"{name}:{number}: there is no {file}"
        longest = LONGEST.get(name)
        if longest and len(line) > longest and not line.startswith("|"):
            yield f"{name}:{number}: a paragraph of {len(line)} characters, at most {longest}"


def faults_of_comments(root, path):
    places = [root, root / "src", root / "include", root / "docs", root / "tests", *path.relative_to(root).parents]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        comment = COMMENT.search(line)
        for file in IN_COMMENT.findall(comment.group()) if comment else ():
            if not any((root / place / file).exists() for place in places):
                yield f"{path.relative_to(root)}:{number}: there is no {file}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    skipped = {"build", ".venv", ".git"}
    documents = [path for path in sorted(root.rglob("*.md")) if skipped.isdisjoint(path.relative_to(root).parts)]
    faults = [fault for path in documents for fault in faults_of(root, path)]
    sources = [path for folder in SOURCES for path in sorted((root / folder).rglob("*")) if path.suffix in (".h", ".cpp")]
    faults += [fault for path in sources for fault in faults_of_comments(root, path)]
    for fault in faults:
        print(fault)
    print(f"documents: {len(documents)}, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
