"""What bench/search/compare_strategies.py makes of curves whose answer is known."""
import json
import math
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/search"))
import compare_strategies as tool

NEVER = math.inf


def pair(seed: int, random: list[float], guided: list[float], again=(None, None)) -> dict:
    runs = {}
    for name, seconds, now in (("random", random, again[0]), ("guided", guided, again[1])):
        runs[name] = {"curve": tool.best_so_far(seconds), "best": min(seconds), "again": now}
    return {"case": "c", "seed": seed, "runs": runs}


class CurvesTest(unittest.TestCase):
    def test_failures_count_as_trials(self):
        self.assertEqual(tool.best_so_far([NEVER, 3.0, 4.0, 2.0]), [NEVER, 3.0, 3.0, 2.0])
        self.assertEqual(tool.trials_to_reach([NEVER, 3.0, 3.0, 2.0], 3.0), 2)
        self.assertEqual(tool.trials_to_reach([NEVER, 3.0], 1.0), NEVER)

    def test_trials_come_in_the_order_of_the_records(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "r.db")
            with sqlite3.connect(path) as connection:
                connection.execute("CREATE TABLE records (id INTEGER PRIMARY KEY, seconds REAL)")
                connection.executemany("INSERT INTO records VALUES (?, ?)", [(2, 5.0), (1, None), (3, 4.0)])
            connection.close()
            self.assertEqual(tool.read_trials(path, 2), [(1, NEVER), (2, 5.0)])


class CompareTest(unittest.TestCase):
    def test_counts_against_the_same_seed_and_the_median(self):
        pairs = [pair(1, [8, 4, 4], [6, 4, 3]), pair(2, [9, 9, 2], [5, 3, 3]), pair(3, [9, 6, 6], [6, 2, 2])]
        rows = tool.compare(pairs, "random", "guided")
        self.assertEqual([row["own"] for row in rows], [2, NEVER, 1])
        self.assertEqual([row["median"] for row in rows], [2, 2, 2])  # the median of 4, 2, 6
        self.assertEqual(tool.summary(rows)["own"], 2)
        self.assertNotIn("again", tool.summary(rows))

    def test_measuring_again_moves_the_target(self):
        # The machine was twice as fast for the guided run: its own winner now takes 4 and took 2.
        rows = tool.compare([pair(1, [4.0], [3.0, 2.5, 2.0], (4.5, 4.0))], "random", "guided")
        self.assertEqual(rows[0]["own"], 1)
        self.assertEqual(rows[0]["again"], 3)  # 4.5 / 4 * 2 = 2.25
        self.assertEqual(rows[0]["ratio_again"], 1.125)


class ReportTest(unittest.TestCase):
    def test_what_is_written_can_be_read(self):
        pairs = [pair(1, [NEVER, 4.0], [3.0, 2.0]), pair(2, [5.0, 4.0], [3.0, 3.0])]
        picture = ElementTree.fromstring(tool.svg(pairs, ["random", "guided"]))
        self.assertEqual(len(picture.findall("{http://www.w3.org/2000/svg}polyline")), 2 * (2 + 1))
        self.assertEqual(json.loads(json.dumps(tool.finite({"a": [NEVER, 1]}))), {"a": [None, 1]})


if __name__ == "__main__":
    unittest.main()
