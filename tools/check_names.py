#!/usr/bin/env python3
"""Every type of src/ and include/ that a header or another file's linkage can see has one definition of its name.

All layers share one namespace, so two types of one name in two files, or one of a header and one of a source
without an unnamed namespace, are one type for the linker, which silently takes either's functions.
"""
import collections
import pathlib
import re
import sys

TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)(?: final)?(?: : [^;{]*)?(?: ?\{|$)")


def seen_types(text):
    """Names of types defined at the outermost level of `namespace lathe` and not in an unnamed namespace."""
    hidden = 0
    for line in text.splitlines():
        if re.match(r"^namespace( \w+)? \{|^namespace \w+::.* \{", line):
            if line.startswith("namespace {") or not line.startswith("namespace lathe {"):
                hidden += 1
        elif re.match(r"^\}  // namespace(?! lathe$)", line):
            hidden = max(0, hidden - 1)
        found = TYPE.match(line)
        if found and hidden == 0 and not line.rstrip().endswith(";"):
            yield found.group(1)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    places = collections.defaultdict(set)
    for folder in ("src", "include", "cli"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp") and "artifact/runtime" not in str(path):
                for name in seen_types(path.read_text()):
                    places[name].add(str(path.relative_to(root)))
    faults = {name: files for name, files in places.items() if len(files) > 1}
    for name, files in sorted(faults.items()):
        print(f"{name} is defined in {', '.join(sorted(files))}")
    print(f"names: {len(places)} types, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
