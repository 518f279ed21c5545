"""What is lifted is the program that it was, and nothing else is: mutants are refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import libcst as cst
import pytest
from tfmigrate.code.tree import walk
from tfmigrate.model.evaluator import evaluate
from tfmigrate.model.tracing import Tracer
from tfmigrate.project.facts import ParsedModule, ProjectFacts
from tfmigrate.project.parsing import parse
from tfmigrate.rewrite.layers import model_functions, proof
from tfmigrate.rewrite.layers.scopes import with_scopes_said
from tfmigrate.rewrite.layers.together import lifted_together

from .mutants import KINDS, mutants

HERE = Path(__file__).parent
LEGACY = HERE.parents[2] / "fixtures" / "legacy"
PROGRAMS = {
    "towers": ("towers.py", "towers_blocks.py"),
    "functions": ("functions.py",),
    "held": ("held.py", "held_net.py"),
    "coder": ("coder.py",),
    "columns": ("columns.py",),
}
# Of each kind and file, as many as this, from all over it.
MOST = 3
FIXTURES = ("resnet_cycles", "tiles_batch_norm_l2", "text_cnn_params", "multi_output")


@dataclass
class Lifted:
    """A program before and after, and how the two differ once a file is broken."""

    facts: ProjectFacts
    files: list[ParsedModule]
    texts: dict[Path, cst.Module]
    before: Tracer
    defined: cst.FunctionDef

    def module(self, parsed: ParsedModule, text: str) -> ParsedModule:
        source = replace(parsed.source, text=text, module=parse(text))
        return self.facts.module_of(source)

    def difference(self, path: Path, text: str) -> str | None:
        """How the program differs with this text in the place of its lifted one."""
        files = []
        for parsed in self.files:
            known = self.texts.get(parsed.path)
            new = text if parsed.path == path else known.code if known else None
            files.append(parsed if new is None else self.module(parsed, new))
        now = proof.again(self.files[0], self.defined, files[0])
        return proof.difference(self.before, traced(files, now, self.facts))


def lifted(paths: list[Path]) -> Lifted:
    """A program whose first file has its model function."""
    facts = ProjectFacts(tuple(paths))
    files = [facts.load(path, path.read_bytes()) for path in paths]
    files = [with_scopes_said(one, facts) for one in files]
    found = lifted_together(files, facts)
    defined = next(filter(model_functions.is_model_fn, walk(files[0].module)))
    assert isinstance(defined, cst.FunctionDef)
    texts = {one.path: one.module for one in found if one not in files}
    before = traced(files, defined, facts)
    return Lifted(facts, files, texts, before, defined)


def traced(
    files: list[ParsedModule], defined: cst.FunctionDef, facts: ProjectFacts
) -> Tracer:
    """What a function of the first file does, step by step."""
    tracer = Tracer(facts, files)
    evaluate(tracer, files[0], defined)
    return tracer


@cache
def program(name: str) -> Lifted:
    if name in PROGRAMS:
        return lifted([HERE / "programs" / one for one in PROGRAMS[name]])
    return lifted([LEGACY / name / "train.py"])


@pytest.mark.parametrize("name", [*PROGRAMS, *FIXTURES])
def test_what_is_lifted_is_the_program(name: str) -> None:
    found = program(name)
    assert found.before.steps
    for path, module in found.texts.items():
        assert found.difference(path, module.code) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*PROGRAMS, *FIXTURES])
def test_mutants_are_refused(name: str, kind: str) -> None:
    found = program(name)
    passed = []
    for path, module in found.texts.items():
        every = mutants(module, found.defined.name.value, kind)
        for one in every[:: len(every) // MOST or 1]:
            if found.difference(path, one.text) is None:
                passed.append(one.told)
    assert not passed
