"""Evaluates the function ``model_fn`` of a text."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
from tfmigrate.code.tree import walk
from tfmigrate.model.evaluator import Evaluator, evaluated
from tfmigrate.model.evaluator import evaluate as go_through
from tfmigrate.model.terms import Term
from tfmigrate.model.tracing import Tracer
from tfmigrate.project.facts import ParsedModule, ProjectFacts

HEAD = "import functools\nimport tensorflow as tf\n\n\n"
START = HEAD + "def model_fn(features, labels, mode, params):\n"


def evaluate(folder: Path, code: str, **others: str) -> Evaluator:
    """What is found out about a program; ``others`` are the files beside it."""
    facts, files, defined = _program(folder, code, others)
    return evaluated(facts, files, files[0], defined)


def _program(
    folder: Path, code: str, others: dict[str, str]
) -> tuple[ProjectFacts, list[ParsedModule], cst.FunctionDef]:
    paths = []
    for name, text in {"program": code, **others}.items():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(text, "utf-8")
    facts = ProjectFacts(tuple(paths))
    files = [facts.load(path, path.read_bytes()) for path in paths]
    (defined,) = (
        node
        for node in walk(files[0].module)
        if isinstance(node, cst.FunctionDef) and node.name.value == "model_fn"
    )
    return facts, files, defined


def steps(folder: Path, code: str) -> list[Term]:
    """What the statements of a model function do, and what that is computed of."""
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    facts, files, defined = _program(folder, START + lines, {})
    tracer = Tracer(facts, files)
    go_through(tracer, files[0], defined)
    return [one.done for one in tracer.steps]


def same(folder: Path, first: str, second: str) -> bool:
    """Two texts do the same."""
    return steps(folder, first) == steps(folder, second)


def body(folder: Path, code: str) -> Evaluator:
    """The same for the statements of a model function alone."""
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    return evaluate(folder, START + lines)


def made(found: Evaluator) -> list[str]:
    """What makes variables, each with what is around it."""
    return [
        "/".join([*around, f"{kind}({', '.join(value for _, value in given)})"])
        for (kind, given), around in found.events
    ]


def reasons(found: Evaluator) -> list[str]:
    """What is not understood."""
    return [one.reason for one in found.notes.unknown.values()]
