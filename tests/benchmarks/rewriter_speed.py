"""How fast `scan` is, beside a bare LibCST parse and TensorFlow's own upgrader.

    python tests/benchmarks/rewriter_speed.py [FOLDER ...]

Without folders a tree of legacy code is generated from fixtures/legacy, beside
one without legacy code from the standard library. The candidates take turns,
round by round, so that a busy machine slows them alike; the best round of each
counts. tf_upgrade_v2 joins in when TFMIGRATE_TF215_PYTHON names an interpreter
with TF 2.15; its time is taken inside its process, after the imports.

At the end the command itself runs over each folder with one process and with
several; those are wall times, which say little on a busy machine. It runs twice
more over a repository with the folder's files, the second time from its cache.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import libcst
from tfmigrate.options import Job
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.files import find_files
from tfmigrate.rewrite.pipeline import process_file
from tfmigrate.rewrite.settle import settle
from tfmigrate.rewrite.training_file import with_training_files

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "legacy"
_UPGRADER = """
import sys, time
from tensorflow.tools.compatibility import tf_upgrade_v2, ast_edits
upgrade = ast_edits.ASTCodeUpgrader(tf_upgrade_v2.TFAPIChangeSpec())
for line in sys.stdin:
    begin = time.process_time()
    failed = 0
    for path in open(line.strip()).read().split("\\n"):
        try:
            upgrade.process_file(path, "/dev/null")
        except Exception:
            failed += 1  # it stops at some files; the time until then counts
    print("took", time.process_time() - begin, failed, flush=True)
"""


def main() -> None:
    """Print lines per second of every candidate, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = options.folders or _generated(Path(scratch), options.lines)
        for folder in folders:
            _compare(folder, options.rounds, Path(scratch))
            _spread(folder)
            _again(folder, Path(scratch))


def _generated(scratch: Path, lines: int) -> list[Path]:
    """A tree of legacy programs and a tree without any, of so many lines each."""
    legacy, other = scratch / "legacy", scratch / "other"
    library = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    for folder, sources in (
        (legacy, sorted(FIXTURES.glob("*/*.py"))),
        (other, library),
    ):
        folder.mkdir()
        total = number = 0
        while total < lines:
            source = sources[number % len(sources)]
            shutil.copy(source, folder / f"p{number:05}.py")
            total += source.read_bytes().count(b"\n")
            number += 1
    return [legacy, other]


def _compare(folder: Path, rounds: int, scratch: Path) -> None:
    paths = [candidate.path for candidate in find_files([folder])]
    lines = sum(path.read_bytes().count(b"\n") for path in paths)
    candidates: dict[str, Callable[[], float]] = {
        "tfmigrate": lambda: _cpu(lambda: _tfmigrate(folder)),
        "libcst.parse_module": lambda: _cpu(lambda: _parse(paths)),
    }
    upgrader = None
    interpreter = os.environ.get("TFMIGRATE_TF215_PYTHON")
    if interpreter:
        listing = scratch / "listing"
        listing.write_text("\n".join(map(str, paths)))
        upgrader = subprocess.Popen(
            [interpreter, "-c", _UPGRADER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        running = upgrader
        candidates["tf_upgrade_v2"] = lambda: _upgrade(running, listing)
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, candidate in candidates.items():
            best[name] = min(best[name], candidate())
    if upgrader is not None:
        upgrader.communicate()
    print(f"{folder.name}: {len(paths)} files, {lines} lines; CPU, one core")
    for name, seconds in best.items():
        ratio = best["tfmigrate"] / seconds
        print(
            f"  {name:20} {seconds:8.3f} s {lines / seconds:12,.0f} lines/s"
            f"   tfmigrate takes {ratio:.2f} of its time"
        )


def _spread(folder: Path) -> None:
    """Wall time of the command with one process and with several."""
    alone = 0.0
    for jobs in sorted({1, 2, os.cpu_count() or 1}):
        begin = time.perf_counter()
        _scan(folder, jobs, Path(os.devnull))
        wall = time.perf_counter() - begin
        alone = alone or wall
        print(f"  scan -j{jobs}: {wall:.1f} s, {alone / wall:.2f} times as fast as -j1")


def _again(folder: Path, scratch: Path) -> None:
    """Processor time of a first and a second scan, the programs' start included."""
    repository = scratch / "repository"
    shutil.copytree(folder, repository, ignore=shutil.ignore_patterns(".tfmigrate"))
    (repository / ".git").mkdir(exist_ok=True)
    took = []
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _scan(repository, 1, scratch / "home")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    shutil.rmtree(repository)
    print(
        f"  a second scan: {took[1]:.2f} s of {took[0]:.1f} s, "
        f"{took[0] / took[1]:.0f} times as fast"
    )


def _scan(folder: Path, jobs: int, home: Path) -> None:
    """The command; without a home for the key of its cache, it has none."""
    subprocess.run(
        [sys.executable, "-m", "tfmigrate", "scan", str(folder), f"-j{jobs}"],
        env={**os.environ, "XDG_CACHE_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _cpu(work: Callable[[], None]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _tfmigrate(folder: Path) -> None:
    """What `scan -j1` does: the walk, the facts, every file, the programs of these."""
    found = [candidate.path for candidate in find_files([folder])]
    facts = ProjectFacts(tuple(found))
    job = Job()
    gc.disable()  # as the processes of a run do
    try:
        results = [process_file(path, job, facts) for path in found]
        settled = settle(results, facts, job.selection)
        with_training_files(settled)
    finally:
        gc.enable()
        gc.collect()


def _parse(paths: list[Path]) -> None:
    for path in paths:
        try:
            libcst.parse_module(path.read_bytes())
        except libcst.ParserSyntaxError:
            print(f"  not parsed: {path}", file=sys.stderr)


def _upgrade(process: subprocess.Popen[str], listing: Path) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{listing}\n")
    process.stdin.flush()
    for line in process.stdout:
        if line.startswith("took "):
            _, seconds, failed = line.split()
            if int(failed):
                print(f"  tf_upgrade_v2 crashed on {failed} files", file=sys.stderr)
            return float(seconds)
    raise SystemExit("tf_upgrade_v2 ended early")


if __name__ == "__main__":
    main()
