#!/usr/bin/env python3
"""Networks as PyTorch exports them, taken by Lathe and beside ONNX Runtime: how many are taken, how many of those right.

    tools/export_suite.py LATHE [--folder DIR] [--kinds script,dynamo,..] [--only NAME ..] [--short] [--again]

Needs the packages of tools/requirements.txt and of tools/exports/requirements.txt in one environment. A kind is an exporter
(`script`, `dynamo`), one with free extents (`script_free`, `dynamo_free`), which `--input` then gives, or a form of six of the
networks (`qdq`, `qoperator`, `dynamic`, `f16`, `bf16`). Models are kept in DIR and made once; so are verdicts, in
DIR/results.json, of which a later call judges what is not right yet (`--again`: all). Prints a line a model, each refusal's
sentence, and a table; ends with status 1 where a model that was taken is wrong, or fewer than 95 % are taken.
"""
import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

LEAST_TAKEN = 0.95
OUTCOMES = ("right", "refused", "wrong", "crashed", "hung", "not made")


def verdict_of(lathe: str, name: str, kind: str, folder: Path) -> dict:
    from exports.judge import judge
    from exports.make_models import NotMade, make

    try:
        model = make(name, kind, folder)
    except NotMade as reason:
        return {"outcome": "not made", "sentence": str(reason), "seconds": 0}
    began = time.monotonic()
    try:
        verdict = asdict(judge(lathe, name, kind, model))
    except Exception as error:  # ONNX Runtime does not take it either, or gives out
        lines = str(error).strip().splitlines() or [repr(error)]
        return {"outcome": "not made", "sentence": f"ONNX Runtime: {lines[0][:200]}", "seconds": 0}
    verdict["seconds"] = round(time.monotonic() - began, 1)
    return verdict


def print_table(results: dict[str, dict]) -> bool:
    """Whether all is as it must be."""
    kinds = list(dict.fromkeys(key.split(".")[1] for key in results))
    counts = {kind: Counter(each["outcome"] for key, each in results.items() if key.split(".")[1] == kind) for kind in kinds}
    print("\n" + f"{'kind':12s}" + "".join(f"{each:>10s}" for each in OUTCOMES))
    for kind, count in counts.items():
        print(f"{kind:12s}" + "".join(f"{count[each]:10d}" for each in OUTCOMES))
    for outcome in OUTCOMES[1:]:
        for key, each in sorted(results.items()):
            if each["outcome"] == outcome:
                print(f"{outcome}: {key}: {each['sentence']}")
    total = Counter(each["outcome"] for each in results.values())
    made = sum(total.values()) - total["not made"]
    taken = total["right"] + total["wrong"]
    print(f"{taken} of {made} taken ({taken / max(made, 1):.1%}), {total['right']} right, {total['wrong']} wrong")
    return taken == total["right"] and taken >= LEAST_TAKEN * made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lathe")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "lathe_exports")
    parser.add_argument("--kinds", help="by commas; all where left out")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--short", action="store_true", help="a few networks, by both exporters")
    parser.add_argument("--again", action="store_true", help="what was right before too")
    parser.add_argument("--make", action="store_true", help="only write the models")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded
    from exports.architectures import SHORT
    from exports.make_models import EXPORTERS, FORMS, NotMade, make, names_of

    arguments.folder.mkdir(parents=True, exist_ok=True)
    kinds = arguments.kinds.split(",") if arguments.kinds else EXPORTERS[:2] if arguments.short else EXPORTERS + FORMS
    only = arguments.only or (SHORT if arguments.short else ())
    asked = [(name, kind) for kind in kinds for name in names_of(kind) if not only or name in only]
    if arguments.make:
        for name, kind in asked:
            try:
                make(name, kind, arguments.folder)
            except NotMade as reason:
                print(f"{name}.{kind}: not made: {reason}", flush=True)
        return 0
    file = arguments.folder / "results.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    for name, kind in asked:
        key = f"{name}.{kind}"
        if arguments.again or known.get(key, {}).get("outcome") != "right":
            known[key] = verdict_of(arguments.lathe, name, kind, arguments.folder)
            file.write_text(json.dumps(known, indent=1) + "\n")
        print(f"{key}: {known[key]['outcome']}: {known[key]['sentence']}", flush=True)
    return 0 if print_table({f"{name}.{kind}": known[f"{name}.{kind}"] for name, kind in asked}) else 1


if __name__ == "__main__":
    sys.exit(main())
