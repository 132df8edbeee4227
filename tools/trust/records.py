"""What a records file holds, read beside Lathe: never through the file itself, so that whatever a killed process left
is for Lathe to meet."""
import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from trust.place import Fault, expect

BESIDE = ("-wal", "-shm", "-journal")
# What later samples change: the best few are measured more often at the end of a run.
TIMES = ("samples", "seconds", "spread", "timed_once")
Rows = dict[int, dict]


def copy(path: Path, to: Path) -> Path:
    """The file with what lies beside it, but for the memory that only running processes share."""
    for suffix in ("", "-wal", "-journal"):
        if Path(f"{path}{suffix}").exists():
            shutil.copy(f"{path}{suffix}", f"{to}{suffix}")
    return to


def read(path: Path) -> Rows:
    """The records by id. A Fault where the file is not sound. No process may be writing it."""
    if not path.exists():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        with closing(sqlite3.connect(copy(path, Path(folder) / "copy.db"))) as connection:
            connection.row_factory = sqlite3.Row
            verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
            expect(verdict == "ok", f"{path.name} is not sound: {verdict}")
            if not connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'records'").fetchone()[0]:
                return {}  # ended before the tables were made
            return {row["id"]: dict(row) for row in connection.execute("SELECT * FROM records")}


def expect_kept(before: Rows, after: Rows):
    """Every record of `before` is in `after` as it was, but for samples that came later."""
    for number, row in before.items():
        now = after.get(number)
        if now is None:
            raise Fault(f"record {number} is lost")
        changed = [column for column in row if column not in TIMES and row[column] != now[column]]
        expect(not changed, f"record {number} has another {', '.join(changed)} than before")
        lost_time = row["seconds"] is not None and now["seconds"] is None
        expect(not lost_time, f"record {number} has lost its time")
        samples = json.loads(row["samples"])
        expect(json.loads(now["samples"])[: len(samples)] == samples, f"record {number} has lost samples")


def expect_no_point_twice(rows: Rows):
    points = [row["point"] for row in rows.values()]
    expect(len(points) == len(set(points)), f"{len(points) - len(set(points))} points were measured twice")


def change(path: Path, *statements: str):
    """Runs SQL on a file that nobody has open; nothing is left beside it."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def remove(path: Path):
    for suffix in ("", *BESIDE):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
