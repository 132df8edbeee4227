"""Records that another machine, build or number of cores has left in the file."""
import json
from pathlib import Path

from trust import records
from trust.place import Place, expect

INSTANT = 1e-9  # seconds: a time that would win against anything measured here

# What makes a record another's, as SQL over the record's columns. Target and number of cores are part of the task
# and its hash: records of others come from Lathe itself.
COLUMNS = {"machine": "'another processor (family 6 model 1 stepping 0)'", "compiler_version": "'99.1'"}
OPTIONS = {"target": ["--target", "x86-avx2", "--cores", 1], "cores": ["--cores", 2]}


def copies(rows: records.Rows) -> list[str]:
    """For each way of being another's, every record once more."""
    names = [name for name in next(iter(rows.values())) if name != "id"]
    statements = []
    for column, value in COLUMNS.items():
        replaced = {"seconds": str(INSTANT), column: value}
        values = ", ".join(replaced.get(name, name) for name in names)
        statements.append(f"INSERT INTO records ({', '.join(names)}) SELECT {values} FROM records "
                          f"WHERE id <= {max(rows)}")
    return statements


def add_others(place: Place, path: Path, own: records.Rows) -> list[str]:
    """What the others differ in: another target and more cores only where this machine has them."""
    records.change(path, *copies(own))
    target = next(iter(own.values()))["target"]
    made = list(COLUMNS)
    for name, options in OPTIONS.items():
        if target in options:
            continue
        ended = place.run("tune", "--workload", place.workload, "--records", path, "--trials", 4, "--enough", 0,
                          *options)
        if ended.status == 0:
            made.append(name)
    records.change(path, f"UPDATE records SET samples = '[{INSTANT}]', seconds = {INSTANT} WHERE id > {max(own)}")
    return made


def others(place: Place) -> str:
    folder = place.new_folder("machines")
    path, report = folder / "r.db", folder / "r.json"
    place.tune(path, trials=4).expect_success()
    own = records.read(path)
    made = add_others(place, path, own)
    mixed = records.read(path)
    expect(len(mixed) == len(own) * (1 + len(made)), f"{len(mixed)} records are there with those of another {made}")
    ended = place.tune(path, "--json", report, trials=7).expect_success()
    expect(ended.known() == len(own), f"{ended.known()} records were taken for ours, which are {len(own)}")
    best = json.loads(report.read_text())[0]
    expect(best["trials"] == 7 and best["seconds"] > 10 * INSTANT, f"another's time is reported as ours: {best}")
    after = records.read(path)
    records.expect_kept(mixed, after)
    expect(len(after) == len(mixed) + 3, f"{len(after) - len(mixed)} records are new, not 3")
    for command in commands(place, path, mixed):
        place.run(*command).expect_success()
    # What only others have recorded is none of our trials, and something to compile all the same.
    records.change(path, f"DELETE FROM records WHERE id <= {max(own)} OR id > {max(mixed)}")
    foreign = records.read(path)
    for command in commands(place, path, foreign):
        place.run(*command).expect_success()
    ended = place.tune(path, trials=4).expect_success()
    expect(ended.known() == 0 and ended.measured() == 4, f"{ended.known()} of others' records were taken for ours")
    records.expect_kept(foreign, records.read(path))
    return (f"{len(foreign)} records of another {', '.join(made)}: none taken for ours, all kept; `show`, `explain`, "
            "`bench`, `compile`, `merge` and `replay` take them")


def commands(place: Place, path: Path, rows: records.Rows) -> list[list]:
    program = ["--workload", place.workload, "--cores", 1, "--records", path]
    listed = [["show", path], ["bench", *program], ["compile", *program, "--out", path.with_name("out")],
              ["records", "merge", path.with_name("merged.db"), path]]
    for task in sorted({row["task"] for row in rows.values()}):
        listed += [["show", path, "--task", task], ["explain", path, "--task", task]]
    return listed + [["replay", path, "--record", number] for number in list(rows)[-1::-4]]
