#!/usr/bin/env python3
"""join_tests.py OUT.cpp TEST.cpp ...: writes several tests as one file, which compiles in a fraction of their time.

What a test calls by itself stands in its one unnamed namespace, and gets a namespace of its own within: two tests may
use a name for two things. Messages name the tests' own files and lines.
"""
import pathlib
import sys

OPENING, CLOSING = "\nnamespace {\n", "\n}  // namespace\n"


def renamed(path, number):
    """The test's text; exits with a sentence where it has not one unnamed namespace, the last thing that it has."""
    text = path.read_text()
    rest = text.rpartition(CLOSING)[2].split("\n")
    is_last = all(not line or line.startswith("}  // namespace ") for line in rest)
    if text.count(OPENING) != 1 or text.count(CLOSING) != 1 or not is_last:
        sys.exit(f"{path}: a test has one unnamed namespace, with all that is in it")
    text = text.replace(OPENING, f"\nnamespace {{ namespace test_{number} {{\n")
    return f'#line 1 "{path}"\n' + text.replace(CLOSING, "\n}}  // namespace\n")


def main():
    out, *paths = map(pathlib.Path, sys.argv[1:])
    out.write_text("".join(renamed(path, number) for number, path in enumerate(paths)))


main()
