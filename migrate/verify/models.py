"""Compares two SavedModels: what they are asked, and what they answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..errors import UserError
from .comparison import largest_share
from .html import page, table
from .outcome import Check, Outcome, compared, measured, skipped
from .runner import last_line, run_process
from .table import print_table

Say = Callable[[str], None]

# Sums over a layer's inputs, added in another order.
TOLERANCE = 1e-4

_INSTRUMENT = Path(__file__).parent / "instruments" / "saved_models.py"


@dataclass(frozen=True)
class Answer:
    """What one model is and answers, on one TensorFlow."""

    error: str | None
    tensorflow: str
    signatures: Mapping[str, Any]
    problems: Mapping[str, str]
    outputs: Mapping[str, Any]


@dataclass(frozen=True)
class ModelVerdict:
    """Two SavedModels, side by side."""

    paths: tuple[Path, Path]
    answers: tuple[Answer, Answer]
    checks: tuple[Check, ...]
    # Each model on real TensorFlow 1.x, and how it differs there.
    real: tuple[Answer, ...] = ()

    @property
    def differing(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(c for c in self.checks if c.outcome is Outcome.DIFFERS)

    @property
    def parity(self) -> bool:
        """Whether both are asked and answer alike, in something at least."""
        answered = any(
            c.outcome is Outcome.SAME and c.difference is not None for c in self.checks
        )
        return answered and not self.differing

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        left = [c for c in self.checks if c.outcome is Outcome.NOT_COMPARED]
        tail = f" Not compared: {', '.join(c.what for c in left)}." if left else ""
        if self.differing:
            first, *others = self.differing
            more = f" (and {', '.join(c.what for c in others)})" if others else ""
            return f"No parity: {first.told}{more}.{tail}"
        if not self.parity:
            return f"No parity shown: no signature could be asked.{tail}"
        asked = [c for c in self.checks if c.difference is not None]
        worst = max(c.difference or 0.0 for c in asked)
        real = ""
        if self.real:
            real = f", on TensorFlow {self.real[0].tensorflow} too"
        return (
            f"Parity: the same signatures, and the same answers to generated inputs "
            f"in {len(asked)} outputs, to {worst:.1e}{real}.{tail}"
        )


def model_in(path: Path) -> Path | None:
    """The SavedModel that a folder is, or holds alone under a version's number."""

    def is_model(folder: Path) -> bool:
        names = ("saved_model.pb", "saved_model.pbtxt")
        return any((folder / name).is_file() for name in names)

    if not path.is_dir():
        return None
    if is_model(path):
        return path
    inside = [each for each in path.iterdir() if is_model(each) and each.name.isdigit()]
    return max(inside, key=lambda each: int(each.name)) if inside else None


def compare_models(
    first: Path,
    second: Path,
    *,
    work: Path,
    say: Say,
    tolerance: float | None = None,
    legacy_python: Path | None = None,
) -> ModelVerdict:
    """Load both, ask both the same, and judge."""
    say(f"loading {first} and {second}")
    answers = _ask([first, second], work / "models", Path(sys.executable))
    for path, answer in zip((first, second), answers, strict=True):
        if answer.error is not None:
            raise UserError(f"{path}: cannot be loaded: {answer.error}")
    limit = TOLERANCE if tolerance is None else tolerance
    checks = list(_judged(answers[0], answers[1], limit))
    real: list[Answer] = []
    if legacy_python is not None:
        say(f"loading both with {legacy_python}")
        inputs = work / "models" / "inputs.npz"
        real = _ask([first, second], work / "real", legacy_python, inputs=inputs)
        for letter, today, then in zip("AB", answers, real, strict=True):
            checks += _judged_real(letter, today, then, limit)
    return ModelVerdict(
        (first, second), (answers[0], answers[1]), tuple(checks), tuple(real)
    )


def _ask(
    paths: Sequence[Path], out: Path, python: Path, *, inputs: Path | None = None
) -> list[Answer]:
    out.mkdir(parents=True, exist_ok=True)
    command = [str(python), str(_INSTRUMENT), "--out", str(out)]
    if inputs is not None:
        command += ["--inputs", str(inputs)]
    log = out / "program.log"
    command += map(str, paths)
    status = run_process(command, log, {"CUDA_VISIBLE_DEVICES": "-1"})
    described = out / "described.json"
    if status != 0 or not described.is_file():
        raise UserError(
            f"{' and '.join(map(str, paths))}: could not be asked: {last_line(log)}",
            hint=f"the whole output is in {log}",
        )
    found = []
    for number, each in enumerate(json.loads(described.read_text())):
        with np.load(out / f"outputs-{number}.npz") as stored:
            outputs = {key: stored[key] for key in stored.files}
        found.append(Answer(outputs=outputs, **each))
    return found


def _judged(one: Answer, other: Answer, limit: float) -> Iterable[Check]:
    names = sorted(one.signatures), sorted(other.signatures)
    told = [", ".join(each) or "none" for each in names]
    yield compared("signatures", names[0] == names[1], *told)
    for name in names[0]:
        if name not in other.signatures:
            continue
        for part in ("inputs", "outputs"):
            ours, theirs = one.signatures[name][part], other.signatures[name][part]
            same = _fit(ours, theirs)
            yield compared(f"{name}: {part}", same, _told(ours), _told(theirs))
        yield from _answers(name, one, other, limit)


def _answers(name: str, one: Answer, other: Answer, limit: float) -> Iterable[Check]:
    what = f"answers of {name}"
    if name in one.problems and name in other.problems:
        note = f"neither takes generated inputs: {one.problems[name]}"
        yield skipped(what, note)
        return
    for side, answer in (("first", one), ("second", other)):
        if name in answer.problems:
            note = f"the {side} fails where the other answers: {answer.problems[name]}"
            yield compared(what, False, note=note)
            return
    keys = [key for key in one.outputs if key.rpartition("/")[0] == name]
    shared = [key for key in keys if key in other.outputs]
    if not shared:
        note = "no inputs that both take" if not keys else "no output in common"
        yield skipped(what, note)
    for key in shared:
        pair = one.outputs[key], other.outputs[key]
        told = [f"{each.dtype.name} {list(each.shape)}" for each in pair]
        yield measured(f"answer {key}", largest_share(*pair), limit, *told)


def _judged_real(
    letter: str, today: Answer, then: Answer, limit: float
) -> Iterable[Check]:
    """One model on TensorFlow 1.x against itself on today's."""
    what = f"{letter} on TensorFlow {then.tensorflow}"
    if then.error is not None:
        yield skipped(what, f"not loaded there: {then.error}")
        return
    shared = [key for key in today.outputs if key in then.outputs]
    if not shared:
        yield skipped(what, "nothing could be asked there")
        return
    apart = {
        key: largest_share(today.outputs[key], then.outputs[key]) for key in shared
    }
    worst = max(apart, key=lambda key: apart[key])
    told = ["", ""]
    told["AB".index(letter)] = f"{len(shared)} outputs"
    yield measured(what, apart[worst], limit, *told, note=f"most in {worst}")


def _fit(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """The same names and types, and shapes of which none excludes the other."""

    def fits(one: Any, other: Any) -> bool:
        if one["dtype"] != other["dtype"]:
            return False
        shapes = one["shape"], other["shape"]
        if None in shapes:
            return True
        return len(shapes[0]) == len(shapes[1]) and all(
            a == b or a is None or b is None for a, b in zip(*shapes, strict=True)
        )

    return sorted(ours) == sorted(theirs) and all(
        fits(one, theirs[key]) for key, one in ours.items()
    )


def _told(tensors: Mapping[str, Any]) -> str:
    def shape(dims: Sequence[int | None] | None) -> str:
        if dims is None:
            return "[...]"
        return "[" + ", ".join("?" if d is None else str(d) for d in dims) + "]"

    told = [
        f"{key} {each['dtype']} {shape(each['shape'])}"
        for key, each in sorted(tensors.items())
    ]
    return ", ".join(told) or "none"


# --------------------------------------------------------------------- reports


def _rows(verdict: ModelVerdict) -> list[tuple[str, str, str, str]]:
    return [
        (each.what, each.first or "-", each.second or "-", each.judged)
        for each in verdict.checks
    ]


def print_models(verdict: ModelVerdict, stream: IO[str]) -> None:
    """The table and the verdict's sentence."""
    heads = ("A: SavedModel", "B: SavedModel")
    print_table(verdict.paths, heads, _rows(verdict), verdict, stream)


def model_json(verdict: ModelVerdict) -> dict[str, Any]:
    """Everything in the table, for programs to read."""

    def told(answer: Answer) -> dict[str, Any]:
        fields = ("tensorflow", "error", "signatures", "problems")
        return {name: getattr(answer, name) for name in fields}

    return {
        "parity": verdict.parity,
        "verdict": verdict.sentence,
        "models": [
            {"path": str(path), **told(answer)}
            for path, answer in zip(verdict.paths, verdict.answers, strict=True)
        ],
        "real": [told(answer) for answer in verdict.real],
        "checks": [check.as_dict() for check in verdict.checks],
    }


def model_page(verdict: ModelVerdict) -> str:
    """A self-contained page."""
    paths = [str(path) for path in verdict.paths]
    shown = table([escape(path) for path in paths], _rows(verdict))
    return page(paths, "Do both models answer the same?", verdict, shown)
