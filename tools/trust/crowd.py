"""Several processes that tune one workload into one file at once."""
import random
import time

from trust import records
from trust.place import Place, expect

BATCH = 16  # candidates that a process may have stored and not yet reported


def whole(place: Place, processes: int, rounds: int) -> str:
    """All end with 0, and the file holds what each of them measured, once."""
    folder = place.new_folder(f"crowd{processes}")
    total = 0
    for number in range(rounds):
        path = folder / f"r{number}.db"
        runs = [place.start_tuning(path, trials=24) for _ in range(processes)]
        measured = sum(run.wait().expect_success().measured() for run in runs)
        stored = len(records.read(path))
        expect(stored == measured, f"{measured} measurements were reported and {stored} are in the file")
        total += stored
    place.expect_no_workers()
    return f"{processes} processes at once, {rounds} times: all ended with 0, {total} measured, {total} records"


def one_killed(place: Place, rounds: int, rng: random.Random) -> str:
    """The death of one harms no other."""
    folder = place.new_folder("crowd_killed")
    total = 0
    for number in range(rounds):
        path = folder / f"r{number}.db"
        runs = [place.start_tuning(path, trials=24) for _ in range(2)]
        victim = place.start_tuning(path)
        time.sleep(rng.uniform(0.2, 1.5))
        killed = victim.kill()
        measured = killed.measured() + sum(run.wait().expect_success().measured() for run in runs)
        stored = len(records.read(path))
        expect(measured <= stored <= measured + BATCH,
               f"{measured} measurements were reported and {stored} are in the file")
        total += stored
    place.expect_no_workers()
    return f"three processes, one of them killed, {rounds} times: the others ended with 0, {total} records, none lost"
