"""Records files that something has spoilt. Every command goes on or ends with one sentence: no crash, no hang, no error
of Lathe's own."""
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from trust import records
from trust.place import Fault, Place, expect

PAGE = 4096
HEAD = 100  # bytes of SQLite's head
COMMANDS = 9
Change = Callable[[Path], object]

# What a hand or another program may have done to the tables.
STATEMENTS = (
    "UPDATE records SET trace = 'nonsense'", "UPDATE records SET trace = x'ff00fe'",
    "UPDATE records SET point = '{}'", "UPDATE records SET point = '[[[[['", "UPDATE records SET samples = '[1,'",
    "UPDATE records SET samples = '[]'", "UPDATE records SET samples = '[\"a\", null]'",
    "UPDATE records SET seconds = 'soon'", "UPDATE records SET seconds = -1", "UPDATE records SET seconds = 1e-300",
    "UPDATE records SET seconds = 9e999", "UPDATE records SET seconds = 0", "UPDATE records SET source = 'guessed'",
    "UPDATE records SET cores = 4294967297", "UPDATE records SET failure_kind = 'bad luck'",
    "UPDATE records SET failure_kind = 'crash', seconds = NULL", "UPDATE records SET tolerance = 'none'",
    "UPDATE records SET created_at = 'yesterday', seed = 'x', wall_seconds = ''",
    "UPDATE records SET point = json_set(point, '$.choices', json('{\"none\": [9223372036854775807]}'))",
    "UPDATE records SET point = json_set(point, '$.sketch', 'another')",
    "UPDATE records SET task = 'ffffffffffffffff'", "UPDATE tasks SET hash = 'not hexadecimal'",
    "UPDATE tasks SET dag = 'nonsense'", "UPDATE tasks SET dag = 'Z[a:3] = X[a]'", "UPDATE tasks SET dag = ''",
    "UPDATE tasks SET constants = '{', layouts = '7'", "UPDATE tasks SET free_layouts = 'maybe'",
    "UPDATE tasks SET layouts = '[\"[0]\"]'", "UPDATE tasks SET name = x'ff'", "DELETE FROM tasks", "DROP TABLE tasks",
    "DROP TABLE records", "ALTER TABLE records DROP COLUMN point", "ALTER TABLE records RENAME TO recorded",
    "DROP INDEX records_by_task", "PRAGMA user_version = 7", "PRAGMA user_version = -1", "PRAGMA application_id = 1",
    "CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TABLE other (x)", "PRAGMA journal_mode = DELETE")


def of_statement(statement: str) -> Change:
    return lambda path: records.change(path, statement)


def of_bytes(change: Callable[[bytearray], bytes]) -> Change:
    return lambda path: path.write_bytes(change(bytearray(path.read_bytes())))


def of_log(change: Callable[[bytearray], bytes]) -> Change:
    """The log that a killed run has left beside the file."""
    return lambda path: of_bytes(change)(Path(f"{path}-wal"))


def flipped(data: bytearray, rng: random.Random, places: range, count: int) -> bytes:
    for _ in range(count):
        data[rng.choice(places)] ^= rng.randrange(1, 256)
    return bytes(data)


def page_replaced(data: bytearray, rng: random.Random) -> bytes:
    page = rng.randrange(1, len(data) // PAGE) * PAGE
    other = rng.randrange(0, len(data) // PAGE) * PAGE
    data[page:page + PAGE] = rng.choice((bytes(PAGE), bytes(data[other:other + PAGE]), rng.randbytes(PAGE)))
    return bytes(data)


def truncations(length: int, count: int, rng: random.Random) -> list[int]:
    """Around the sizes that mean something, and anywhere."""
    edges = [1, 15, 16, HEAD - 1, HEAD, 511, 512, PAGE - 1, PAGE, PAGE + 1, length // 2, length - PAGE, length - 1]
    return edges + [rng.randrange(length) for _ in range(count)]


def file_changes(length: int, count: int, rng: random.Random) -> Iterator[tuple[str, Change]]:
    """What is done to a file without a log; `count` sets how often what is left to chance is done."""
    for size in truncations(length, count, rng):
        yield f"cut to {size} bytes", of_bytes(lambda data, size=size: bytes(data[:size]))
    for place in range(HEAD):
        yield f"head byte {place}", of_bytes(lambda data, place=place: flipped(data, rng, range(place, place + 1), 1))
    for _ in range(count):
        yield "first page flipped", of_bytes(lambda data: flipped(data, rng, range(HEAD, PAGE), 8))
        yield "a few bytes flipped", of_bytes(lambda data: flipped(data, rng, range(PAGE, len(data)), 4))
        yield "many bytes flipped", of_bytes(lambda data: flipped(data, rng, range(PAGE, len(data)), 2000))
        yield "a page replaced", of_bytes(lambda data: page_replaced(data, rng))
    for statement in STATEMENTS:
        yield statement, of_statement(statement)


def log_changes(count: int, rng: random.Random) -> Iterator[tuple[str, Change]]:
    """What is done to a file that a killed run left with its log."""
    yield "the log as it was left", lambda path: None
    yield "the log cut to nothing", of_log(lambda data: b"")
    for _ in range(count):
        yield "the log cut", of_log(lambda data: bytes(data[:rng.randrange(len(data))]))
        yield "the log's head flipped", of_log(lambda data: flipped(data, rng, range(32), 1))
        yield "the log flipped", of_log(lambda data: flipped(data, rng, range(32, len(data)), 16))
        yield "the log under a file cut short", of_bytes(lambda data: bytes(data[:rng.randrange(1, len(data))]))
        yield "nonsense for shared memory", lambda path: Path(f"{path}-shm").write_bytes(rng.randbytes(32768))


def commands(place: Place, path: Path, task: str) -> list[list]:
    program = ["--workload", place.workload, "--cores", 1, "--records", path]
    return [["show", path], ["show", path, "--task", task, "--json"], ["explain", path, "--task", task],
            ["records", "merge", path.with_name("merged.db"), path], ["replay", path, "--record", 1],
            ["compile", *program, "--out", path.with_name("out")], ["tune", *program, "--trials", 10],
            ["records", "prune", path, "--keep", 2], ["records", "repair", path]]


def expect_well_ended(place: Place, path: Path, task: str, chosen: list[int]) -> int:
    """Runs the chosen commands, or all; how many of them ended with a sentence."""
    refused = 0
    for number, command in enumerate(commands(place, path, task)):
        if chosen and number not in chosen:
            continue
        ended = place.run(*command)
        if ended.status != 0:
            ended.expect_sentence()
            refused += 1
    place.expect_no_workers()
    return refused


def spoilt(place: Place, count: int, rng: random.Random, share: float) -> str:
    """`share` of the changes, each met by two of the commands; by all where it is 1."""
    folder = place.new_folder("damage")
    whole, killed = folder / "whole.db", folder / "killed.db"
    place.tune(whole, trials=8).expect_success()
    run = place.start_tuning(killed)
    run.wait_for_measurements()
    run.kill()
    expect(Path(f"{killed}-wal").exists(), "the killed run left no log")
    task = next(iter(records.read(whole).values()))["task"]
    changes = [(whole, *change) for change in file_changes(whole.stat().st_size, count, rng)]
    changes += [(killed, *change) for change in log_changes(count, rng)]
    changes = [change for change in changes if rng.random() < share]
    refused = met = 0
    for base, name, change in changes:
        path = folder / "r.db"
        records.remove(path)
        records.remove(path.with_name("merged.db"))
        records.copy(base, path)
        chosen = [] if share == 1 else rng.sample(range(COMMANDS), 2)
        try:
            change(path)
            refused += expect_well_ended(place, path, task, chosen)
        except Fault as fault:
            raise Fault(f"{name}: {fault}") from None
        met += len(chosen) or COMMANDS
    return f"{len(changes)} times, met by {met} commands: {refused} ended with one sentence, the others went on"


def strangers(place: Place) -> str:
    """What is no records file is named, and left as it is."""
    folder = place.new_folder("strangers")
    other = folder / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.commit()
    (folder / "text.db").write_text("hello, this is no records file\n" * 1000)
    (folder / "zeros.db").write_bytes(bytes(PAGE))
    for path in (other, folder / "text.db", folder / "zeros.db"):
        before = path.read_bytes()
        place.tune(path, trials=2).expect_sentence("is not a Lathe records file")
        place.run("show", path).expect_sentence("is not a Lathe records file")
        expect(path.read_bytes() == before, f"{path.name} was changed")
        expect(not Path(f"{path}-wal").exists(), f"something was left beside {path.name}")
    place.tune(folder, trials=2).expect_sentence("is a directory, not a records file")
    empty = folder / "empty.db"
    empty.touch()
    place.run("show", empty).expect_sentence("it is empty")
    place.tune(empty, trials=2).expect_success()
    expect(len(records.read(empty)) == 2, "an empty file was not taken for a new one")
    return ("a text, zeros, another program's database, a directory: one sentence each, left as they are; an empty "
            "file is taken")
