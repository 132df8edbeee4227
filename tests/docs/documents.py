"""What stands in a Markdown file as code: its fenced blocks, and its words between backticks."""
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Block:
    where: str  # "README.md:5"
    kind: str  # the first word behind the fence; empty: none
    rest: str  # what follows it there, as "of examples/02_new_operator.cpp"
    text: str
    before: str  # the line of text before the block


@dataclass
class Word:
    where: str
    text: str


def read_document(path: Path, name: str) -> tuple[list[Block], list[Word]]:
    blocks, words = [], []
    block, before = None, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{name}:{number}"
        fence = re.match(r"```(\w*) ?(.*)$", line)
        if block is None and fence:
            block = Block(where, fence[1], fence[2], "", before)
        elif block is not None and line.startswith("```"):
            blocks.append(block)
            block = None
        elif block is not None:
            block.text += line + "\n"
        else:
            words += [Word(where, text) for text in re.findall(r"`([^`]+)`", line)]
            before = line or before
    return blocks, words


def commands_of(block: Block) -> list[str]:
    """The lines of a console block that begin with "$ ", each with the lines that it goes on in."""
    commands = []
    goes_on = False
    for line in block.text.splitlines():
        if goes_on:
            commands[-1] += "\n" + line
        elif line.startswith("$ "):
            commands.append(line[2:])
        goes_on = bool(commands) and line.endswith("\\")
    return commands
