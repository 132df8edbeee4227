"""Runs that are ended at random moments: by SIGKILL, by the signals that ask, by a records file that goes."""
import random
import signal
import time

from trust import records
from trust.place import Place, expect


def kills(place: Place, count: int, rng: random.Random) -> str:
    """Each run goes on where a killed one has left off."""
    path = place.new_folder("kills") / "r.db"
    seen: records.Rows = {}
    for _ in range(count):
        run = place.start_tuning(path)
        time.sleep(rng.uniform(0.1, 2.5))
        ended = run.kill()
        now = records.read(path)
        records.expect_kept(seen, now)
        least = len(seen) + ended.measured()
        expect(len(now) >= least, f"{least} records were reported and {len(now)} are there")
        expect(ended.known() in (None, len(seen)), f"the run took over {ended.known()} of {len(seen)} records")
        place.expect_no_workers()
        seen = now
    records.expect_no_point_twice(seen)
    end = place.tune(path, trials=len(seen) + 2).expect_success()
    expect(end.known() == len(seen), f"the last run took over {end.known()} of {len(seen)} records")
    records.expect_kept(seen, records.read(path))
    return (f"{count} kills, {len(seen)} records, none lost, no point twice, no worker left; then the command ended "
            "with 0")


def interrupts(place: Place, count: int, rng: random.Random) -> str:
    """SIGINT, SIGTERM and SIGHUP, to the process alone or its whole group."""
    path = place.new_folder("interrupts") / "r.db"
    seen: records.Rows = {}
    told = 0
    slowest = 0.0
    for number in range(count):
        asked = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3]
        run = place.start_tuning(path)
        run.wait_for_handlers()
        time.sleep(rng.uniform(0, 2.0))
        run.send(asked, to_group=rng.random() < 0.5)
        begin = time.monotonic()
        ended = run.wait()
        slowest = max(slowest, time.monotonic() - begin)
        expect(ended.status == -asked, f"{asked.name} ended the run with status {ended.status}: {ended.err[-300:]}")
        found = ended.sentences()
        expect(len(found) == 1 and found[0].startswith(f"lathe: stopped by {asked.name}"), f"it says {found}")
        told += "what was measured is kept in" in found[0]
        now = records.read(path)
        records.expect_kept(seen, now)
        expect(len(now) == len(seen) + ended.measured(),
               f"{ended.measured()} measurements were reported and {len(now) - len(seen)} are new in the file")
        crashes = [row for row in now.values() if row["failure_kind"] == "crash"]
        expect(not crashes, f"a candidate is said to have crashed: {crashes[:1]}")
        place.expect_no_workers()
        seen = now
    expect(told > 0, "no signal came while the run was measuring")
    place.tune(path, trials=len(seen) + 2).expect_success()
    return (f"{count} signals, {len(seen)} records, none lost, {told} of the runs said where they are kept, the "
            f"slowest ended after {slowest:.1f} s; then the command ended with 0")


def ignored_hangup(place: Place) -> str:
    """What the process was started to ignore, as by nohup, stays ignored."""
    path = place.new_folder("nohup") / "r.db"
    run = place.start_tuning(path, trials=24, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    run.wait_for_handlers()
    run.send(signal.SIGHUP, to_group=True)
    run.wait().expect_success()
    expect(len(records.read(path)) == 24, "not all trials are there")
    return "SIGHUP to a run under nohup: it goes on and ends with 0"


def removed_file(place: Place) -> str:
    """The records file goes while it is in use."""
    path = place.new_folder("removed") / "r.db"
    run = place.start_tuning(path)
    run.wait_for_measurements()
    expect(len(place.workers()) == 1, f"a run that measures has the workers {place.workers()}")
    path.unlink()
    ended = run.wait().expect_sentence(r"was removed or replaced while it was in use; what it held is kept in")
    saved = path.with_name(path.name + ".saved")
    kept = records.read(saved)
    expect(len(kept) >= ended.measured(), f"{ended.measured()} were reported and {len(kept)} are kept")
    place.run("records", "merge", path, saved).expect_success()
    merged = len(records.read(path))
    expect(merged == len(kept), f"{merged} of {len(kept)} records were merged")
    return f"removed while in use: one sentence, {len(kept)} records kept in {saved.name}, all merged back"
