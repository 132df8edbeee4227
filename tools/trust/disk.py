"""Disks and limits that leave no room, and places that take no writes."""
import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

from trust import records
from trust.place import Place, expect

NO_ROOM = r"[Nn]o space left"
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


@contextlib.contextmanager
def small_disk(place: Place, name: str, kilobytes: int) -> Iterator[Path | None]:
    """A disk of its own of that size; None where none can be mounted."""
    folder = place.new_folder(name)
    mounting = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=755", "lathe-trust", folder],
                              capture_output=True, check=False)
    if mounting.returncode != 0:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def fill(folder: Path, leave_kilobytes: int):
    disk = os.statvfs(folder)
    room = disk.f_bavail * disk.f_frsize - leave_kilobytes * 1024
    (folder / "ballast").write_bytes(bytes(room))


def make_room(folder: Path):
    (folder / "ballast").unlink()


def full_while_tuning(place: Place) -> str:
    with small_disk(place, "filling", 1024) as disk:
        if disk is None:
            return "not run: no disk can be mounted here, it takes root"
        path = disk / "r.db"
        place.tune(path, trials=4).expect_success()
        before = records.read(path)
        fill(disk, 160)
        ended = place.start_tuning(path).wait().expect_sentence(NO_ROOM)
        after = records.read(path)
        records.expect_kept(before, after)
        expect(len(after) >= len(before) + ended.measured(),
               f"{ended.measured()} more were reported than {len(before)}, and {len(after)} are there")
        make_room(disk)
        place.tune(path, trials=len(after) + 2).expect_success()
        records.expect_kept(after, records.read(path))
    return (f"one sentence, {len(before)} records before and {len(after)} after it, the file sound; with room the "
            "command ended with 0")


def full_from_the_start(place: Place) -> str:
    with small_disk(place, "full", 1024) as disk:
        if disk is None:
            return "not run: no disk can be mounted here, it takes root"
        old, new = disk / "old.db", disk / "new.db"
        place.tune(old, trials=4).expect_success()
        before = records.read(old)
        fill(disk, 0)
        for path in (old, new):
            ended = place.tune(path, trials=6).expect_sentence(NO_ROOM)
            expect(ended.measured() == 0, "something was measured that could not be stored")
        expect(records.read(old) == before, "the records have changed")
        place.run("show", old).expect_success()
        make_room(disk)
        for path in (old, new):
            place.tune(path, trials=6).expect_success()
            expect(len(records.read(path)) == 6, f"{path.name} has not all trials")
    return "an old and a new records file: one sentence before anything is measured; with room both ended with 0"


def full_for_outputs(place: Place) -> str:
    """The records lie elsewhere: what was measured must not go with what cannot be written."""
    with small_disk(place, "outputs", 256) as disk:
        if disk is None:
            return "not run: no disk can be mounted here, it takes root"
        fill(disk, 0)
        folder = place.new_folder("outputs_records")
        for option, output in (("--json", disk / "report.json"), ("--out", disk / "out")):
            path = folder / f"r{option}.db"
            place.tune(path, option, output, trials=4).expect_sentence(NO_ROOM)
            expect(len(records.read(path)) == 4, f"{option} on a full disk: not all records are there")
        left = [found for found in disk.rglob("*") if found.name.startswith(".") or found.suffix in (".so", ".bin")]
        expect(not left, f"something unfinished is left: {left}")
        make_room(disk)
        for option, output in (("--json", disk / "report.json"), ("--out", folder / "out")):
            ended = place.tune(folder / f"r{option}.db", option, output, trials=4).expect_success()
            expect(ended.measured() == 0 and output.exists(), f"{option} was not written from the records")
    return "--json and --out: one sentence each, all records kept; with room both were written, nothing measured anew"


def size_limit(place: Place) -> str:
    """`ulimit -f`: the limit holds for the shared memory of the measurements too, which is smaller."""
    path = place.new_folder("limit") / "r.db"
    limit = 256 * 1024
    run = place.start_tuning(path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    ended = run.wait().expect_sentence("File too large")
    after = records.read(path)
    expect(len(after) >= ended.measured() > 0, f"{ended.measured()} were reported and {len(after)} are there")
    place.tune(path, trials=len(after) + 2).expect_success()
    records.expect_kept(after, records.read(path))
    return (f"files of at most {limit // 1024} kB: one sentence, {len(after)} records kept; without the limit the "
            "command ended with 0")


def read_only(place: Place) -> str:
    """As a user who may not write, which root is not."""
    user = NOBODY if os.geteuid() == 0 else {}
    folder = place.new_folder("read_only")
    path = folder / "r.db"
    place.tune(path, trials=4).expect_success()
    before = records.read(path)
    cases = ((0o777, 0o444, path, r"it is read-only"), (0o555, 0o444, path, r"it is read-only"),
             (0o555, 0o666, path, r"no file can be made in the directory .*: Permission denied"),
             (0o555, 0o666, folder / "new.db", r"no file can be made in the directory .*: Permission denied"))
    for folder_mode, file_mode, records_file, sentence in cases:
        path.chmod(file_mode)
        folder.chmod(folder_mode)
        ended = place.tune(records_file, trials=6, **user).expect_sentence(sentence)
        expect(ended.measured() == 0, "something was measured that could not be stored")
        place.run("show", path, **user).expect_success()
    elsewhere = place.new_folder("writable")
    elsewhere.chmod(0o777)
    for option, output in (("--json", folder / "report.json"), ("--out", folder / "out")):
        ended = place.tune(elsewhere / "r.db", option, output, trials=6, **user).expect_sentence("Permission denied")
        expect(ended.measured() == 0, f"something was measured for {option}, which cannot be written")
    folder.chmod(0o755)
    expect(records.read(path) == before, "the records have changed")
    return (f"{len(cases)} kinds of file and folder, --json and --out: one sentence each, nothing changed, `show` "
            "reads them")


def read_only_disk(place: Place) -> str:
    with small_disk(place, "read_only_disk", 1024) as disk:
        if disk is None:
            return "not run: no disk can be mounted here, it takes root"
        path = disk / "r.db"
        place.tune(path, trials=4).expect_success()
        before = records.read(path)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for records_file in (path, disk / "new.db"):
            ended = place.tune(records_file, trials=6).expect_sentence(r"read-only|Read-only file system")
            expect(ended.measured() == 0, "something was measured that could not be stored")
        place.run("show", path).expect_success()
        place.run("compile", "--workload", place.workload, "--cores", 1, "--records", path, "--out",
                  place.folder / "from_read_only").expect_success()
        expect(records.read(path) == before, "the records have changed")
    return "tuning into an old and a new file: one sentence each; `show` and `compile` read the old one"
