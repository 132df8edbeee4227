#!/usr/bin/env python3
"""Holds every include of the tree, and every word that belongs to some places alone, to src/layers.txt, whose head
says how to read it.

Prints file:line of each include or word that goes against it and fails if there is one. Also fails where the file
itself would allow a cycle, or where a folder is missing from it. Where a preset of CMakePresets.json tests some
layers alone (LATHE_LAYERS), their tests may include nothing of the others: they would not link.

usage: check_layers.py [ROOT]
"""
import json
import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')
PUBLIC_FACE = "lathe"
SUFFIXES = {".h", ".cpp", ".c", ".inc"}
TEXTS = SUFFIXES | {".txt", ".cmake"}  # what words are looked for in


def read_rules(path: Path) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, list[str]]]:
    """{folder: what it may include}, {prefix of a borrowed header: folders that may include it} and
    {pattern of words: places where they may stand}."""
    layers: dict[str, list[str]] = {}
    borrowed: dict[str, list[str]] = {}
    words: dict[str, list[str]] = {}
    current: list[str] = []
    for line in path.read_text().splitlines():
        line = line.split("#")[0].rstrip()
        if not line:
            continue
        if line[0].isspace():  # goes on with the line before
            current.extend(line.split())
            continue
        head, _, tail = line.partition(":")
        current = tail.split()
        if head.startswith("borrowed "):
            borrowed[head.removeprefix("borrowed ").strip("<>")] = current
        elif head.startswith("words "):
            words[head.removeprefix("words ")] = current
        else:
            layers[head] = current
    return layers, borrowed, words


def find_cycle(layers: dict[str, list[str]]) -> list[str] | None:
    """A cycle among whole folders that the rules would allow; single headers do not count."""
    finished: set[str] = set()

    def visit(layer: str, path: list[str]) -> list[str] | None:
        if layer in path:
            return path[path.index(layer):] + [layer]
        if layer in finished:
            return None
        for below in layers.get(layer, []):
            if "/" not in below and (cycle := visit(below, path + [layer])):
                return cycle
        finished.add(layer)
        return None

    return next((cycle for layer in layers if (cycle := visit(layer, []))), None)


def layer_of(path: Path) -> str:
    """The layer of a file given relative to the root: src/<layer>/..., include/lathe/..., cli/..."""
    return path.parts[0] if path.parts[0] == "cli" else path.parts[1]


def check_include(file: Path, quote: str, header: str, layers: dict, borrowed: dict) -> str | None:
    """What is wrong with one include, or None."""
    layer = layer_of(file)
    for prefix, folders in borrowed.items():
        if header.startswith(prefix) or (prefix.endswith("/") and header.startswith(prefix.rstrip("/") + "-c/")):
            place = "/".join(file.parts if layer == "cli" else file.parts[1:])
            if any(place.startswith(folder) for folder in folders):
                return None
            return f"<{header}> belongs to {', '.join(folders)} alone"
    if quote == "<":
        return None
    target = header.split("/")[0]
    if "/" not in header and layer != "cli":
        return f'"{header}" is not written from the include root, as "{layer}/{header}"'
    if "/" not in header or target == layer or target in layers[layer] or header in layers[layer]:
        return None
    if target not in layers:
        return f'"{header}" is in no layer; another project\'s header is written <{header}>'
    return f'{layer} may not include "{header}": src/layers.txt allows it {", ".join(layers[layer]) or "nothing"}'


def faults_of_words(root: Path, words: dict[str, list[str]]) -> list[str]:
    """The lines, and the files' names, that hold a word outside of its places."""
    faults = []
    for path in sorted(p for top in ("src", "include", "cli") for p in (root / top).rglob("*")):
        file = path.relative_to(root)
        if path.suffix not in TEXTS or file.as_posix() == "src/layers.txt":
            continue
        place = file.as_posix().removeprefix("src/")
        for pattern, places in words.items():
            if any(place == allowed or place.startswith(allowed + "/") for allowed in places):
                continue
            for number, line in enumerate([file.name, *path.read_text().splitlines()]):
                if match := re.search(pattern, line, re.IGNORECASE):
                    faults.append(f"{file}:{number}: the word '{match.group()}' belongs to {', '.join(places)} alone")
    return faults


def faults_of_tests(root: Path, layers: dict) -> list[str]:
    """The includes of tests that the presets which test some layers alone could not link."""
    presets = root / "CMakePresets.json"
    listed = json.loads(presets.read_text()) if presets.exists() else {"configurePresets": []}
    tested = {preset["configurePreset"] for preset in listed.get("testPresets", []) if "configurePreset" in preset}
    faults = []
    for preset in listed["configurePresets"]:
        if preset["name"] not in tested:
            continue
        built = [name for name in preset.get("cacheVariables", {}).get("LATHE_LAYERS", "").split(";") if name]
        for path in sorted(p for layer in built for p in (root / "tests" / layer).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                header = match.group(2) if match and match.group(1) == '"' else ""
                is_built = any(header.startswith(layer + "/") for layer in built)
                if header.split("/")[0] in layers and not is_built:
                    faults.append(f'{path.relative_to(root)}:{number}: preset {preset["name"]} builds this test, '
                                  f'but not "{match.group(2)}"')
    return faults


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    layers, borrowed, words = read_rules(root / "src/layers.txt")
    faults = []
    if cycle := find_cycle(layers):
        faults.append(f"src/layers.txt: allows the cycle {' -> '.join(cycle)}")
    seen_pairs: set[tuple[str, str]] = set()
    files = 0
    for path in sorted(p for top in ("src", "include", "cli") for p in (root / top).rglob("*")):
        file = path.relative_to(root)
        if path.suffix not in SUFFIXES or not path.is_file():
            continue
        if len(file.parts) < 3 and file.parts[0] == "src" or layer_of(file) not in layers:
            faults.append(f"{file}: its folder is not in src/layers.txt")
            continue
        files += 1
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := INCLUDE.match(line):
                quote, header = match.groups()
                if fault := check_include(file, quote, header, layers, borrowed):
                    faults.append(f"{file}:{number}: {fault}")
                if quote == '"' and header.split("/")[0] in layers:
                    seen_pairs.add((layer_of(file), header.split("/")[0]))
    faults += faults_of_tests(root, layers) + faults_of_words(root, words)
    pairs = {tuple(sorted(pair)) for pair in seen_pairs if pair[0] != pair[1]}
    both_ways = [pair for pair in pairs if pair in seen_pairs and pair[::-1] in seen_pairs]
    for fault in faults:
        print(fault)
    for left, right in sorted(both_ways):
        print(f"note: {left} and {right} include each other (single headers that src/layers.txt allows)")
    print(f"layers: {files} files, {len(pairs)} folder pairs, {len(both_ways)} of them both ways, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
