"""Runs the public tests of tensorflow_estimator on tfmigrate.compat.

    python tests/peer/run.py 1.15.2 SOURCES --out RESULTS [--files PART...]
    python tests/peer/run.py 2.15.0 SOURCES --out RESULTS
    python tests/peer/run.py 1.15.2 SOURCES --out RESULTS --failed
    python tests/peer/run.py 1.15.2 SOURCES --out RESULTS --report \\
        --record tests/peer/results.json

SOURCES is a checkout of that release of https://github.com/tensorflow/estimator;
nothing of it is in this project. Each test file runs in a fork of one process:
1.15.2 under `tfmigrate run`, 2.15.0 with ``tfmigrate.compat.v2`` for ``tensorflow``.
What a test takes from private modules is mapped to the public name that the
release exported it under; a test that needs more is left out, and so are those of
left_out.py, each with its reason, and those that fail on the real release (--real
PYTHON runs the files that have failures there). RESULTS keeps a file for each test file; --failed
runs again what has not passed, or not run to its end, and --report prints what is
there.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from left_out import FILES, TESTS
from sources import PACKAGE

HERE = Path(__file__).resolve().parent
GENERATIONS = {"1.15.2": 1, "2.15.0": 2}
FAILED = ("fail", "error", "crash", "import")


def test_files(root: Path) -> list[str]:
    """Dotted names of the test files, smallest file first."""
    files = [
        file
        for file in (root / PACKAGE).rglob("*.py")
        if re.search(
            r"_test\.py$|_test_v1\.py$|test_fc_v\d(_v1)?\.py$|_test_v2\.py$", file.name
        )
    ]
    files.sort(key=lambda file: file.stat().st_size)
    return [".".join(file.relative_to(root).with_suffix("").parts) for file in files]


def left_out_file(release: str, name: str) -> str | None:
    """Why a whole file is left out."""
    for where, pattern, why in FILES:
        if where in ("both", release) and re.search(pattern, name):
            return why
    return None


def run_files(
    generation: int,
    root: Path,
    names: list[str],
    out: Path,
    options: argparse.Namespace,
) -> None:
    """Files in forks of one process; only what has not passed, if that is asked."""
    out.mkdir(parents=True, exist_ok=True)
    if not options.failed or generation == 0:
        for name in names:
            (out / f"{name}.json").unlink(missing_ok=True)
    child = str(HERE / "child.py")
    command = {
        0: [options.real, child],
        1: [str(Path(sys.executable).parent / "tfmigrate"), "run", child, "--"],
        2: [sys.executable, child],
    }[generation]
    variables = {"TF_CPP_MIN_LOG_LEVEL": "2"}
    if generation == 0:
        variables = {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
    arguments = [str(generation), str(root), str(out), str(options.limit)]
    again = ["--failed"] if options.failed and generation else []
    subprocess.run(
        [*command, *arguments, *again, *names],
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
        cwd=out,
        check=False,
    )


def real_states(out: Path, name: str) -> dict[str, str] | None:
    """Test -> what became of it on the real release; None where it was not asked."""
    file = out / "real" / f"{name}.json"
    if not file.is_file():
        return None
    rows = json.loads(file.read_text())
    return {row["test"]: row["state"] for row in rows}


def fails_on_real(states: dict[str, str], test: str) -> bool:
    """Whether the real release was seen to fail a test, which may have no mode there."""
    for name in (test, re.sub(r" \[(graph|eager)_mode\]$", "", test)):
        if name in states:
            return states[name] in FAILED
    return False


def rows_of(release: str, out: Path, name: str) -> list[dict[str, Any]]:
    """What became of the tests of a file, left-out tests marked."""
    file = out / f"{name}.json"
    if not file.is_file():
        return [{"test": "(process)", "state": "crash", "error": "no result"}]
    rows: list[dict[str, Any]] = json.loads(file.read_text())
    if not rows or rows[-1]["state"] not in ("end", "import"):
        rows.append({"test": "(process)", "state": "crash", "error": "cut off"})
    rows = [row for row in rows if row["state"] != "end"]
    real = real_states(out, name)
    for row in rows:
        if row["state"] in ("pass", "skip"):
            continue
        wrong = row["state"] in (*FAILED, "advice")
        if wrong and real is not None and fails_on_real(real, row["test"]):
            row["state"] = "real"
            continue
        for where, pattern, why in TESTS:
            full = f"{name}:{row['test']}"
            if where in ("both", release) and re.search(pattern, full):
                row["state"], row["why"] = "private", why
    return rows


def needs_again(release: str, out: Path, name: str) -> bool:
    """Whether a file has tests that did not pass, or did not run to its end."""
    rows = rows_of(release, out, name)
    return any(row["state"] in (*FAILED, "advice") for row in rows)


def report(release: str, root: Path, out: Path, record: Path | None) -> None:
    """Pass and fail by file, then failures by cause."""
    total: collections.Counter[str] = collections.Counter()
    reasons: dict[str, list[str]] = collections.defaultdict(list)
    files: list[str] = []
    not_run: list[str] = []
    print(f"{'pass':>5} {'fail':>5} {'advice':>6} {'left':>5}  file")
    for name in sorted(test_files(root)):
        if left_out_file(release, name):
            continue
        if not (out / f"{name}.log").exists():
            not_run.append(name.split(".", 1)[1].replace("python.estimator.", ""))
            continue
        files.append(name)
        rows = rows_of(release, out, name)
        states = collections.Counter(row["state"] for row in rows)
        total.update(states)
        short = name.split(".", 1)[1].replace("python.estimator.", "")
        failed = sum(states[state] for state in FAILED)
        left = states["private"] + states["skip"] + states["real"]
        print(f"{states['pass']:5} {failed:5} {states['advice']:6} {left:5}  {short}")
        for row in rows:
            if row["state"] in (*FAILED, "advice"):
                reasons[cause(row)].append(f"{short}:{row['test']}")
    failed = sum(total[state] for state in FAILED)
    applicable = total["pass"] + failed + total["advice"]
    rate = 100 * total["pass"] / max(applicable, 1)
    print(
        f"\n{release}: {total['pass']} of {applicable} pass ({rate:.1f} %), "
        f"{failed} fail, {total['advice']} raise with advice; "
        f"{total['private']} need private names, {total['real']} fail on the real "
        f"release, {total['skip']} skip themselves"
    )
    print()
    for text, tests in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(tests):4}  {text}")
        for test in sorted(set(tests))[:4]:
            print(f"        {test}")
    if record is not None:
        found = json.loads(record.read_text()) if record.is_file() else {}
        found[release] = {
            "files": len(files),
            "not_run": not_run,
            "passed": total["pass"],
            "failed": failed,
            "advice": total["advice"],
            "private": total["private"],
            "real": total["real"],
            "left": {text: sorted(set(tests)) for text, tests in reasons.items()},
        }
        record.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


def cause(row: dict[str, Any]) -> str:
    """One line that failures of the same kind share."""
    lines = [line.strip() for line in str(row.get("error", "")).splitlines()]
    text = next((line for line in lines if line), "")
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"/tmp/\S+", "/tmp/...", text)
    text = re.sub(r"\d+", "N", text)
    return text[:150]


def is_wanted(options: argparse.Namespace, name: str) -> bool:
    """Whether a file is to be run, after what is there of it."""
    out: Path = options.out.resolve()
    if left_out_file(options.release, name):
        return False
    if not (out / f"{name}.log").exists():
        return True
    if options.failed:
        return needs_again(options.release, out, name)
    return bool(options.again or options.files)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", choices=sorted(GENERATIONS))
    parser.add_argument("sources", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--files", nargs="*", default=[], help="parts of file names")
    parser.add_argument("--limit", type=int, default=900, help="seconds for a file")
    parser.add_argument("--record", type=Path, help="file that keeps the summary")
    parser.add_argument("--failed", action="store_true", help="only what failed")
    parser.add_argument("--report", action="store_true", help="only print results")
    parser.add_argument("--real", help="interpreter with the real release")
    parser.add_argument("--again", action="store_true", help="also files with results")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    root: Path = options.sources.resolve()
    out.mkdir(parents=True, exist_ok=True)
    names = test_files(root)
    if options.files:
        names = [n for n in names if any(part in n for part in options.files)]
    wanted = [] if options.report else [n for n in names if is_wanted(options, n)]
    if wanted:
        run_files(GENERATIONS[options.release], root, wanted, out, options)
    asked = [
        name
        for name in (names if options.real else ())
        if (out / f"{name}.log").exists()
        and real_states(out, name) is None
        and any(row["state"] in FAILED for row in rows_of(options.release, out, name))
    ]
    if asked:
        run_files(0, root, asked, out / "real", options)
    report(options.release, root, out, options.record)


if __name__ == "__main__":
    main()
