"""The programs of a campaign: of a manifest, of any folder, of our own exhibits."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from harness import (
    BLOCK,
    Outcome,
    Program,
    Run,
    difference,
    load,
    outcome_of,
    rewritten,
)

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

__all__ = ["programs_of", "recorded", "trap_outcomes"]


def programs_of(source: Path, timeout: float | None) -> list[Program]:
    """What a campaign is over: a manifest, the legacy fixtures, or a folder."""
    if source.is_file():
        return load(source)
    if source.resolve() == FIXTURES / "legacy":
        return recorded(timeout or 600)
    return list(_found(source.resolve(), timeout or 120))


def recorded(timeout: float = 600) -> list[Program]:
    """The fixtures, with the arguments that they were recorded with."""
    record = FIXTURES / "oracle/record.py"
    spec = importlib.util.spec_from_file_location("oracle_record", record)
    assert spec is not None
    assert spec.loader is not None
    recorder = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = recorder
    spec.loader.exec_module(recorder)
    return [
        Program(
            each.name,
            each.path.parent,
            each.path.name,
            args=tuple(each.arguments),
            env=dict(each.environment),
            # They were written for TensorFlow 1 as well.
            data=each.prepare
            and f"{sys.executable} -m tfmigrate run --tf 1 {each.prepare}",
            timeout=timeout,
        )
        for each in recorder.PROGRAMS
    ]


def _found(folder: Path, timeout: float) -> Iterator[Program]:
    """Every program that `scan` counts in a folder, started without arguments.

    A script runs in the folder that holds it, a module of a package beside the
    package; its whole project is copied and rewritten.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tfmigrate", "scan", str(folder), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    for each in json.loads(done.stdout)["files"]:
        if each["program"] is None:
            continue
        path = Path(os.path.abspath(each["path"]))
        name, top = path.relative_to(folder).as_posix(), path.parent
        while (top / "__init__.py").exists() and top != folder:
            top = top.parent
        cwd = top.relative_to(folder).as_posix()
        if top == path.parent:
            yield Program(name, folder, path.name, timeout=timeout, cwd=cwd)
        else:
            module = ".".join(path.relative_to(top).with_suffix("").parts)
            yield Program(name, folder, module=module, timeout=timeout, cwd=cwd)


# -- programs with a semantic trap each, which print nothing ------------------------


# So many between two answers, if a campaign is stopped.
_AT_ONCE = 10


def trap_outcomes(
    names: Collection[str], done: Collection[str], work: Path
) -> Iterator[Outcome]:
    """The traps before and after, by their own runner: a fork of one process each."""
    folder = FIXTURES / "traps/programs"
    paths = sorted(p for p in folder.glob("*.py") if not names or p.stem in names)
    paths = [path for path in paths if path.stem not in done]
    for first in range(0, len(paths), _AT_ONCE):
        group = paths[first : first + _AT_ONCE]
        new = Path(tempfile.mkdtemp(prefix="after-", dir=work))
        report = rewritten(group, new)
        became = {p.stem: outcome_of(report, {p.resolve()}) for p in group}
        texts = {path.stem: path for path in new.rglob("*.py")}
        # What needed no change has no text of its own there.
        after = {path.stem: texts.get(path.stem, path) for path in group}
        moved = [after[p.stem] for p in group if became[p.stem] == "native"]
        kept = [after[p.stem] for p in group if became[p.stem] != "native"]
        before = _answers(group, "-m", "tfmigrate", "run", "--tf", "1")
        found = _answers(moved, "-c", f"{BLOCK}\n{_RUN_AS_MAIN}") | _answers(kept)
        for path in group:
            program = Program(path.stem, folder, path.name)
            yield _compared(program, became[path.stem], before, found)


_RUN_AS_MAIN = """\
import runpy
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def _answers(paths: list[Path], *command: str) -> dict[str, dict[str, Any]]:
    if not paths:
        return {}
    found = {}
    begin = time.monotonic()
    with subprocess.Popen(
        [
            sys.executable,
            *command,
            str(FIXTURES / "traps/run_traps.py"),
            *map(str, paths),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("{"):
                answer = json.loads(line)
                end = time.monotonic()
                answer["seconds"], begin = end - begin, end
                found[answer["name"]] = answer
    return found


def _compared(
    program: Program,
    became: str,
    before: dict[str, dict[str, Any]],
    after: dict[str, dict[str, Any]],
) -> Outcome:
    sides = [side.get(program.name, {"error": "no answer"}) for side in (before, after)]
    old, new = (dict(_told(side)) for side in sides)
    first, second = (
        Run(
            1 if "error" in side else 0,
            side.get("seconds", 0.0),
            side.get("error") or "\n".join(f"{n} = {v}" for n, v in told.items()),
        )
        for side, told in zip(sides, (old, new), strict=True)
    )
    shared = old.keys() & new.keys()
    largest = max((difference(old[name], new[name]) for name in shared), default=None)
    if old.keys() != new.keys():
        largest = float("inf")
    return Outcome(program, became, first, second, len(shared), largest, ())


def _told(answer: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The figures of an answer and its checkpoints; event files are the report's."""
    yield from _flat(answer.get("figures"), "figure")
    yield from _flat(answer.get("files", {}).get("checkpoints"), "checkpoint")


def _flat(value: Any, name: str) -> Iterator[tuple[str, float]]:
    """Every number in nested lists and dictionaries, by a name of its own."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _flat(one, f"{name}_{key}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _flat(one, f"{name}_{number}")
    elif isinstance(value, (int, float)):
        yield name, float(value)
    elif isinstance(value, str):
        # Another text is another figure, which the other side lacks.
        yield f"{name}_{value}", 1.0
