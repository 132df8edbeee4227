#!/usr/bin/env python3
"""What tools/replay_kernels finds: nothing in what it just recorded, every kernel that differs, and what it cannot read.

usage: replay_kernels_test.py REPLAY_KERNELS SOURCE_FOLDER
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, SOURCE = Path(sys.argv[1]), Path(sys.argv[2])
TASKS = SOURCE / "tools/replay_kernels/network_tasks.json"
NARROW = SOURCE / "tools/replay_kernels/narrow_types.json"
CASES = ["GMM.0.b1 x86-avx2 cores=1 free", "GMM.0.b1 x86-avx512 cores=2 fixed", "dqn.3 x86-avx2 cores=1 fixed"]


class ReplayKernels(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="lathe-test-")
        self.addCleanup(folder.cleanup)
        self.list = Path(folder.name) / "kernels.txt"

    def run_on(self, command: str, lines: list[str]) -> subprocess.CompletedProcess[str]:
        self.list.write_text("".join(line + "\n" for line in lines))
        return subprocess.run([PROGRAM, command, self.list, TASKS, SOURCE / "workloads/operators.json", NARROW], text=True,
                              capture_output=True, timeout=300, check=False)

    def recorded(self) -> list[str]:
        self.assertEqual(self.run_on("record", ["llvm ", *CASES]).returncode, 0)
        return self.list.read_text().splitlines()

    def test_what_was_recorded_is_found_again(self) -> None:
        lines = self.recorded()
        for line, case in zip(lines[1:], CASES, strict=True):
            self.assertTrue(line.startswith(case + " traces="))
            hashes = line.split()[4:]
            self.assertEqual([len(group.split(",")) for group in hashes], [9, 9, 9])
            self.assertGreater(len(set(hashes[1].partition("=")[2].split(","))), 4, "one code for all points")
        again = self.run_on("check", lines)
        self.assertEqual((again.returncode, again.stdout), (0, "27 of 27 kernels of 3 cases are as recorded\n"))

    def test_each_difference_is_named(self) -> None:
        lines = self.recorded()
        for group, word in ((4, "trace"), (5, "code"), (6, "C")):
            words = lines[2].split()
            key, _, hashes = words[group].partition("=")
            values = hashes.split(",")
            values[3] = f"{int(values[3], 16) ^ 1:08x}"
            words[group] = f"{key}={','.join(values)}"
            found = self.run_on("check", [lines[0], lines[1], " ".join(words), lines[3]])
            self.assertEqual(found.returncode, 1)
            self.assertEqual(found.stdout, f"GMM.0.b1 on x86-avx512: point 3 differs in {word}\n"
                                           "26 of 27 kernels of 3 cases are as recorded\n")

    def test_extensions_make_other_code(self) -> None:
        cases = [f"u8_i8.matmul {target} cores=1 free" for target in ("x86-avx512", "x86-avx512+avx512_vnni")]
        self.assertEqual(self.run_on("record", ["llvm ", *cases]).returncode, 0)
        plain, vnni = (line.split()[4] for line in self.list.read_text().splitlines()[1:])
        self.assertNotEqual(plain, vnni)

    def test_machine_code_of_another_llvm_does_not_count(self) -> None:
        words = self.recorded()[1].split()
        words[5] = "objects=" + ",".join(["00000000"] * 9)
        found = self.run_on("check", ["llvm 1.0", " ".join(words)])
        self.assertEqual(found.returncode, 0)
        self.assertIn("machine code is left out: it was made by LLVM 1.0", found.stdout)

    def test_a_case_that_is_not_recorded_differs(self) -> None:
        found = self.run_on("check", ["llvm ", CASES[0]])
        self.assertEqual(found.returncode, 1)
        self.assertIn("GMM.0.b1 on x86-avx2: 9 kernels, 0 recorded\n", found.stdout)

    def test_what_cannot_be_read_is_named(self) -> None:
        for line, sentence in (("GMM.0.b1 x86-avx2 cores=0 free", ":2: the line is no case"),
                               ("GMM.0.b1 x86-avx2 cores=1 free traces=1", ":2: the line is no case"),
                               ("GMM.0.b1 x86-sse2 cores=1 free", "GMM.0.b1 on x86-sse2: there is no such target"),
                               ("nobody x86-avx2 cores=1 free",
                                "nobody on x86-avx2: there is no operator or task of that name")):
            found = self.run_on("check", ["llvm ", line])
            self.assertEqual(found.returncode, 2, line)
            self.assertIn(sentence, found.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
