"""The class of a loop in place does what the model function did; mutants are refused."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import libcst as cst
import pytest
from tfmigrate.lift.plain_proof import PlainProof
from tfmigrate.plan.code.tree import Statement
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewriting.pipeline import Job, process_source

from .mutants import KINDS, mutants

LEGACY = Path(__file__).parents[2] / "fixtures" / "legacy"
PROGRAMS = (
    "mnist_cnn_logging",
    "model_fn_dense",
    "model_fn_train_and_evaluate",
    "tfrecord_pipeline",
)
# Of each kind, as many as this, from all over the class.
MOST = 4


@dataclass
class Seen:
    """What a rewrite has proved, and with what."""

    proof: PlainProof
    made: Statement
    call: str
    taken: Set[cst.CSTNode]

    def difference(self, made: Statement) -> str | None:
        return self.proof.compared(made, self.call, self.taken)


@cache
def seen(name: str) -> Seen:
    """The proof of a program's class."""
    found: list[Seen] = []
    compared = PlainProof.compared

    def watched(
        self: PlainProof, made: Statement, call: str, taken: Set[cst.CSTNode]
    ) -> str | None:
        found.append(Seen(self, made, call, taken))
        return compared(self, made, call, taken)

    path = LEGACY / name / "train.py"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlainProof, "compared", watched)
        result = process_source(path, path.read_bytes(), Job(), ProjectFacts())
    assert result.new is not None
    assert f"class {found[0].made.name.value}(".encode() in result.new
    return found[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_mutants_of_a_class_are_refused(name: str, kind: str) -> None:
    found = seen(name)
    assert found.difference(found.made) is None
    every = mutants(cst.Module([found.made]), "", kind)
    passed = []
    for one in every[:: len(every) // MOST or 1]:
        (made,) = cst.parse_module(one.text).body
        if found.difference(made) is None:
            passed.append(one.told)
    assert not passed
