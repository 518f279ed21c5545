"""Whole programs before and after a rewrite, each run as its outcome promises.

A program lies in a folder. It is copied twice. One copy runs under `tfmigrate run`;
the other is rewritten and then run by plain Python with tfmigrate not importable
(native), by plain Python (kept), or by `tfmigrate run` (untouched). The figures that
both print are compared.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = [
    "Outcome",
    "Program",
    "Run",
    "difference",
    "examine",
    "figures",
]

# From the same initial weights nothing but rounding may differ; from weights drawn
# anew a figure of a short training is only roughly the same.
SAME, NEAR = 1e-4, 0.25
_NUMBER = r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|nan|inf"
_FIGURE = re.compile(
    rf"""['"]?([A-Za-z_][\w/.\- ]{{0,40}}?)['"]?\s*[=:]\s*
        (?:np\.\w+\(|array\()?({_NUMBER})\)?""",
    re.VERBOSE,
)
# What tells of the machine and the hour, not of the model.
_OF_THE_RUN = re.compile(
    r"sec|time|\bport\b|\bpid\b|speed|/s$|throughput|version|\bcpu|duration|\bms$"
    r"|global_step$"
)
# The loss of one batch on the way is chance; what an evaluation found is not.
_ON_THE_WAY = re.compile(r"(?i)^(?!.*saving dict).*\bsteps?\b")
_BLOCK = """\
import sys


class _Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tfmigrate":
            raise ModuleNotFoundError("tfmigrate is not to be imported", name=name)


sys.meta_path.insert(0, _Block())
"""


@dataclass(frozen=True)
class Program:
    """What is run, where, and with what."""

    name: str
    folder: Path
    run: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    data: str | None = None
    timeout: float = 120
    rewrite: tuple[str, ...] = (".",)
    options: tuple[str, ...] = ()
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def target(self) -> list[str]:
        """What is run, as Python and `tfmigrate run` take it."""
        if self.module is not None:
            return ["-m", self.module, *self.args]
        assert self.run is not None, f"{self.name}: neither run nor module"
        return [self.run, *self.args]


@dataclass(frozen=True)
class Run:
    """How one run ended."""

    code: int | None  # None: it was stopped at its time limit
    seconds: float
    output: str

    @property
    def ok(self) -> bool:
        """It ended by itself and well."""
        return self.code == 0

    @property
    def word(self) -> str:
        """In one or two words."""
        if self.code is None:
            return "too long"
        return "ok" if self.ok else f"exit {self.code}"


@dataclass(frozen=True)
class Outcome:
    """What became of a program."""

    program: Program
    became: str
    before: Run
    after: Run
    compared: int
    largest: float | None
    touched: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """``worse`` is what must never be."""
        if not self.before.ok:
            return "better" if self.after.ok else "as before"
        if not self.after.ok or (figures(self.before.output) and not self.compared):
            return "worse"
        if self.largest is None:
            return "runs"
        if self.largest <= SAME:
            return "same"
        # From new weights, figures may be a little off.
        return "near" if self.largest <= NEAR else "differs"

    def row(self) -> dict[str, Any]:
        """What a failure shows of it."""
        return {
            "name": self.program.name,
            "became": self.became,
            "before": self.before.word,
            "after": self.after.word,
            "figures": self.compared,
            "largest": self.largest,
            "verdict": self.verdict,
            "seconds": (self.before.seconds, self.after.seconds),
        }


def examine(program: Program, work: Path, env: Mapping[str, str] = {}) -> Outcome:
    """Run a program before and after its rewrite, in copies below ``work``."""
    before, after = work / "before", work / "after"
    for copy in (before, after):
        shutil.copytree(program.folder, copy, ignore=_caches)
    report = _rewrite(program, after)
    outcome = _outcome(program, report, after)
    surroundings = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        "MPLBACKEND": "Agg",
        **env,
        **program.env,
    }
    for copy in (before, after):
        if program.data is not None:
            subprocess.run(
                program.data, shell=True, cwd=copy, env=surroundings, check=True
            )
    ours = [sys.executable, "-m", "tfmigrate", "run"]
    first = _run([*ours, *program.target], before / program.cwd, surroundings, program)
    command, blocked = [sys.executable], dict(surroundings)
    if outcome == "native":
        block = work / "block"
        block.mkdir()
        (block / "sitecustomize.py").write_text(_BLOCK)
        known = surroundings.get("PYTHONPATH", "")
        blocked["PYTHONPATH"] = os.pathsep.join(filter(None, (str(block), known)))
    elif outcome != "kept":
        command = ours
    if program.run is not None and program.run.endswith(".ipynb") and command != ours:
        script = _as_script(after / program.cwd / program.run)
        target = [script.name, *program.args]
    else:
        target = program.target
    second = _run([*command, *target], after / program.cwd, blocked, program)
    old, new = figures(first.output), figures(second.output)
    shared = sorted(old.keys() & new.keys())
    differences = [difference(old[name], new[name]) for name in shared]
    touched = tuple(sorted(f["path"] for f in report if f["status"] == "changed"))
    return Outcome(
        program,
        outcome,
        first,
        second,
        len(shared),
        max(differences, default=None),
        touched,
    )


def _caches(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name in ("__pycache__", ".git")}


def _rewrite(program: Program, copy: Path) -> list[dict[str, Any]]:
    """Rewrite a copy in place; what the report says of each file."""
    paths = [str(copy / path) for path in program.rewrite]
    result = subprocess.run(
        [
            *[sys.executable, "-m", "tfmigrate", "rewrite", "--format", "json"],
            *["--allow-dirty", *program.options, *paths],
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert result.stdout, result.stderr
    files: list[dict[str, Any]] = json.loads(result.stdout)["files"]
    return files


def _outcome(program: Program, report: list[dict[str, Any]], copy: Path) -> str:
    """What becomes of what is run; ``-`` where the report knows no program there."""
    if program.module is not None:
        name = program.module.replace(".", "/")
        wanted = [copy / program.cwd / f"{name}.py"]
        wanted.append(copy / program.cwd / name / "__main__.py")
    else:
        assert program.run is not None
        wanted = [copy / program.cwd / program.run]
    paths = {path.resolve() for path in wanted}
    for each in report:
        if Path(each["path"]).resolve() in paths and each["program"] is not None:
            return str(each["program"]["outcome"])
    return "-"


def _as_script(notebook: Path) -> Path:
    """A notebook's code cells as a script beside it, without magics."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    kept = [line for line in code.splitlines() if line.lstrip()[:1] not in ("%", "!")]
    script = notebook.with_name("notebook_as_script.py")
    script.write_text("\n".join(kept) + "\n", "utf-8")
    return script


def _run(
    command: list[str], cwd: Path, env: Mapping[str, str], program: Program
) -> Run:
    start = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=program.timeout)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            code = None
    return Run(code, time.monotonic() - start, output)


def figures(output: str) -> dict[str, float]:
    """The last value of each ``name = number`` that a program printed."""
    found: dict[str, float] = {}
    for line in output.splitlines():
        if _ON_THE_WAY.search(line):
            continue
        for name, value in _FIGURE.findall(line):
            name = " ".join(name.split()).lower()
            if not _OF_THE_RUN.search(name):
                found[name] = float(value)
    return found


def difference(old: float, new: float) -> float:
    """The relative difference of two figures; small ones are compared as they are."""
    if math.isnan(old) and math.isnan(new):
        return 0.0
    if not (math.isfinite(old) and math.isfinite(new)):
        return 0.0 if old == new else math.inf
    return abs(old - new) / max(abs(old), abs(new), 1.0)
