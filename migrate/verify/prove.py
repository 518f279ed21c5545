"""``rewrite --prove``: what became native is tried, what trains otherwise is kept.

Nothing of the project is touched: the programs run in two copies of it, as it was and
as it would be, under the instruments of ``tfmigrate verify``.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import UserError
from ..options import Job, Refuted
from ..project.facts import ProjectFacts
from ..report.findings import ProgramOutcome
from ..report.model import FileResult, FileStatus, Report
from ..report.proofs import Proof, ProofOutcome
from ..rewrite.graph import ImportGraph
from .parity import Earlier, Options, verify
from .runner import ProgramFailed
from .sides import Command, Side, project_side
from .trees import copy_tree
from .verdict import Verdict

Say = Callable[[str], None]
Run = Callable[[Job], Report]

_PREFIX = re.compile(r"(No parity|Parity): ")


@dataclass(frozen=True)
class Trial:
    """How programs are tried."""

    # The project, which is copied, and the folder in which its programs are run.
    root: Path
    folder: Path
    steps: int = 20
    # What a program may take, run once.
    seconds: float = 600.0
    # Run instead of every single program.
    command: str | None = None

    def __post_init__(self) -> None:
        self.script()

    def script(self) -> str | None:
        """The file that the command starts; a UserError when it starts none."""
        if self.command is None:
            return None
        return os.path.realpath(project_side(self.folder, _read(self.command)).path)


@dataclass(frozen=True)
class _Program:
    """A program that was rewritten, with the files that it reaches."""

    result: FileResult
    files: frozenset[str]

    @property
    def path(self) -> Path:
        return self.result.path


def proved(report: Report, job: Job, run: Run, trial: Trial, say: Say) -> Report:
    """The report with every program tried; ``run`` rewrites once more.

    A refuted program is kept.
    """
    with tempfile.TemporaryDirectory(prefix="tfmigrate-prove-") as scratch:
        return _proved(report, job, run, trial, say, Path(os.path.realpath(scratch)))


def _proved(
    report: Report, job: Job, run: Run, trial: Trial, say: Say, scratch: Path
) -> Report:
    # Where each program is tried, and how it ran as it was.
    benches: dict[Path, tuple[Path, Earlier]] = {}
    proofs: dict[tuple[str, str], Proof] = {}
    refuted: list[Proof] = []
    kept: list[Refuted] = []
    while True:
        last: list[Proof] = []
        failed: list[tuple[_Program, Proof]] = []
        for program in _programs(report, trial.script()):
            key = (str(program.path), _digest(report, program))
            if key not in proofs:
                say(f"proving {program.path}")
                place = scratch / str(len(benches))
                bench = benches.setdefault(program.path, (place, []))
                proofs[key] = _tried(program, report, trial, *bench, say)
                say(f"  {proofs[key].outcome.value}: {proofs[key].told}")
            last.append(proofs[key])
            if proofs[key].outcome is ProofOutcome.REFUTED:
                failed.append((program, proofs[key]))
        if trial.command is not None and not proofs:
            raise UserError(
                f"--prove-command {trial.command}: starts no program that was rewritten"
            )
        if not failed:
            if not (refuted or last):
                say("nothing to prove: no program becomes native")
            return replace(report, proofs=(*refuted, *last))
        for program, proof in failed:
            refuted.append(proof)
            told = f"--prove showed a difference: {proof.told}"
            kept.append(Refuted(program.files, told))
        report = run(replace(job, options=replace(job.options, refuted=tuple(kept))))


def _read(text: str) -> Command:
    try:
        command = Command.read(shlex.split(text))
    except ValueError as problem:
        raise UserError(f"--prove-command {text}: {problem}") from None
    if command is None:
        raise UserError(
            f"--prove-command {text}: starts no Python program",
            hint="for instance: --prove-command 'python train.py --steps 20'",
        )
    return command


def _programs(report: Report, script: str | None) -> Iterator[_Program]:
    """The programs that move, or the one that a script is, and what they reach."""
    files = {os.path.abspath(result.path): result for result in report.results}
    graph = ImportGraph(files, ProjectFacts(tuple(r.path for r in report.results)))
    for key, result in sorted(files.items()):
        if script is not None and os.path.realpath(result.path) != script:
            continue
        program = result.program
        if program is None or program.outcome is not ProgramOutcome.NATIVE:
            continue
        reached = graph.closure(key)
        if any(each.is_native for one in reached for each in files[one].findings):
            yield _Program(result, reached)


def _digest(report: Report, program: _Program) -> str:
    """What a program and what is added to its project say, in few bytes."""
    digest = hashlib.sha256()
    for result in report.results:
        if result.added or os.path.abspath(result.path) in program.files:
            text = result.old if result.new is None else result.new
            digest.update(b"%d " % len(text) + text)
    return digest.hexdigest()


def _tried(
    program: _Program,
    report: Report,
    trial: Trial,
    work: Path,
    earlier: Earlier,
    say: Say,
) -> Proof:
    proof = Proof(program.path, ProofOutcome.OPEN, "")
    # Room for another trial; what ran as it was stays beside its data.
    for name in ("old", "new", "runs/run-1", "runs/noise"):
        shutil.rmtree(work / name, ignore_errors=True)

    def plain(text: str) -> str:
        """A text that names files as the project does, each in its copy."""
        text = text.replace(f"{work}/runs/run-1/files{work}/", "")
        return text.replace(f"{work}/", "")

    def say_plain(text: str) -> None:
        say(plain(text))

    try:
        sides, options = _sides(program, report, trial, work)
        runs = work / "runs"
        verdict = verify(*sides, options, work=runs, say=say_plain, earlier=earlier)
        return _judged(proof, verdict)
    except ProgramFailed as failure:
        told = plain(failure.reason)
        if failure.side.path.is_relative_to(work / "new"):
            told = f"it does not run any more: {told}"
            return replace(proof, outcome=ProofOutcome.REFUTED, told=told)
        return replace(proof, told=f"it did not run before the rewrite: {told}")
    except (UserError, OSError) as problem:
        return replace(proof, told=f"it could not be tried: {problem}")


def _judged(proof: Proof, verdict: Verdict) -> Proof:
    differences = [
        float(one)
        for training in verdict.trainings
        for one in training.between.trajectory.loss_differences
    ]
    proof = replace(
        proof,
        steps=sum(training.between.steps for training in verdict.trainings),
        difference=max(differences, default=None),
        told=_PREFIX.sub("", verdict.sentence).rstrip("."),
    )
    if verdict.parity:
        return replace(proof, outcome=ProofOutcome.PROVED)
    draws = [name for each in verdict.trainings for name in each.between.draws]
    if draws:
        told = (
            f"it draws random numbers while it trains ({draws[0]}), so no two runs "
            "agree step by step; `tfmigrate verify --seeds 5` compares accuracies"
        )
        return replace(proof, told=told)
    return replace(proof, outcome=ProofOutcome.REFUTED)


def _sides(
    program: _Program, report: Report, trial: Trial, work: Path
) -> tuple[tuple[Side, Side], Options]:
    """The program in both copies of the project, and how to run it."""
    root = Path(os.path.realpath(trial.root))
    before: dict[Path, bytes] = {}
    after: dict[Path, bytes] = {}
    for result in report.results:
        if result.status is not FileStatus.CHANGED or result.new is None:
            continue
        path = Path(os.path.realpath(result.path.parent)) / result.path.name
        after[path] = result.new
        if result.base is not None:
            before[path] = result.base
    for name, texts in (("old", before), ("new", after)):
        copy_tree(root, work / name, {each for path in texts for each in path.parents})
        for path, text in texts.items():
            place = work / name / path.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.write_bytes(text)
    command, folder = _command(program, trial, root)
    old, new = (project_side(work / name / folder, command) for name in ("old", "new"))
    options = Options(
        steps=trial.steps,
        seconds=trial.seconds,
        args=command.arguments,
        env=command.env,
    )
    return (old, new), options


def _command(program: _Program, trial: Trial, root: Path) -> tuple[Command, Path]:
    """What is run, and where below the tree."""
    here = Path(os.path.realpath(trial.folder))
    if not here.is_relative_to(root):
        here = root
    if trial.command is not None:
        return _read(trial.command), here.relative_to(root)
    script = Path(os.path.realpath(program.path.parent)) / program.path.name
    if not script.is_relative_to(here):
        here = script.parent
    name = str(script.relative_to(here))
    return Command(name, None, (), {}), here.relative_to(root)
