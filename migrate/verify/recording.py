"""Recordings: what one training run did, as files that outlive it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from .instruments.legacy_record import FORMAT, write_files
from .instruments.legacy_start import read_arrays

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Recording:
    """One training run; only itself is equal to it.

    ``losses`` are the losses of successive steps, each the mean over all examples of
    the step on all replicas; where not every step was logged, ``logged_steps`` says
    which. Weights are ordered as they were created, under the names that checkpoints
    give them. ``complete`` means that the program ended by itself, not by a limit on
    its steps. ``replicas`` are those that the program's own strategy had; 0 where that
    is not known.
    """

    program: str
    producer: Mapping[str, Any]
    replicas: int
    losses: Sequence[float]
    global_step: int
    evaluate: Mapping[str, float] = field(default_factory=dict)
    accuracy_metric: str | None = None
    initial_weights: Sequence[tuple[str, Array]] = ()
    final_weights: Sequence[tuple[str, Array]] = ()
    predictions: Mapping[str, Array] = field(default_factory=dict)
    logged_steps: Sequence[int] | None = None
    complete: bool = False
    # What the optimizer keeps for each weight, as the instrument names it (slots.py).
    slots: Sequence[tuple[str, Array]] = ()
    # The last part of the model_dir that an Estimator was given.
    training: str = ""
    # Those of the same program that began later.
    further: Sequence[Recording] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def steps(self) -> Sequence[int]:
        """The number of each step whose loss is known; the first step is 1."""
        if self.logged_steps is not None:
            return self.logged_steps
        return range(1, len(self.losses) + 1)

    @property
    def trainings(self) -> tuple[Recording, ...]:
        """Every training of the program, in the order in which they began."""
        return (self, *self.further)

    @property
    def accuracy(self) -> float | None:
        """The figure of ``evaluate`` that says how good the model is."""
        if self.accuracy_metric is None:
            return None
        return self.evaluate.get(self.accuracy_metric)


# What the document says of a recording itself, not of the arrays beside it.
_FIELDS = {field.name for field in fields(Recording)} | {
    "format",
    "first_step",
    "weights",
}


def is_recording(path: Path) -> bool:
    """Whether ``path`` is a recording's folder."""
    return (path / "recording.json").is_file()


def save_recording(recording: Recording, folder: Path) -> None:
    """Write ``recording`` into ``folder``, which is made when missing."""
    for number, further in enumerate(recording.further, 2):
        save_recording(further, folder / f"training-{number}")
    arrays = {
        "initial_weights": recording.initial_weights,
        "final_weights": recording.final_weights,
        "slots": recording.slots,
    }
    named = recording.initial_weights or recording.final_weights
    document = {
        "format": FORMAT,
        "program": recording.program,
        "producer": dict(recording.producer),
        "replicas": recording.replicas,
        "losses": [float(loss) for loss in recording.losses],
        "first_step": 1,
        "global_step": recording.global_step,
        "evaluate": dict(recording.evaluate),
        "accuracy_metric": recording.accuracy_metric,
        "weights": [name for name, _ in named],
        "predictions": bool(recording.predictions),
        "complete": recording.complete,
        "training": recording.training,
        **recording.extra,
    }
    if recording.logged_steps is not None:
        document["logged_steps"] = list(recording.logged_steps)
    write_files(str(folder), document, arrays, recording.predictions)


def load_recording(folder: Path) -> Recording:
    """Read a recording; damage of any kind is a :class:`UserError`."""
    try:
        document = json.loads((folder / "recording.json").read_text())
        if document.get("format") != FORMAT:
            raise UserError(
                f"{folder}: recording format {document.get('format')!r} is not "
                f"{FORMAT}, the one this version of tfmigrate reads"
            )
        further = [each for each in folder.glob("training-*") if is_recording(each)]
        further.sort(key=lambda each: int(each.name.rpartition("-")[2]))
        predictions = {}
        if (folder / "predictions.npz").is_file():
            with np.load(folder / "predictions.npz") as archive:
                predictions = dict(archive)
        return Recording(
            program=document["program"],
            producer=document["producer"],
            replicas=int(document["replicas"]),
            losses=[float(loss) for loss in document["losses"]],
            global_step=int(document["global_step"]),
            evaluate=document.get("evaluate") or {},
            accuracy_metric=document.get("accuracy_metric"),
            initial_weights=read_weights(folder / "initial_weights.npz"),
            final_weights=read_weights(folder / "final_weights.npz"),
            predictions=predictions,
            logged_steps=document.get("logged_steps"),
            slots=read_weights(folder / "slots.npz"),
            training=document.get("training") or "",
            further=[load_recording(each) for each in further],
            complete=bool(document.get("complete", False)),
            extra={key: document[key] for key in document.keys() - _FIELDS},
        )
    except UserError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{folder}: not a readable recording: {error}") from error


def read_weights(path: Path) -> list[tuple[str, Array]]:
    """Weights of an archive in their order; none when there is no archive."""
    return list(read_arrays(path)) if path.is_file() else []
