"""Evaluates the function ``model_fn`` of a text."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
from tfmigrate.code.tree import walk
from tfmigrate.model.evaluator import evaluate as go_through
from tfmigrate.model.terms import Term
from tfmigrate.model.tracing import Tracer
from tfmigrate.project.facts import ParsedModule, ProjectFacts

HEAD = "import functools\nimport tensorflow as tf\n\n\n"
START = HEAD + "def model_fn(features, labels, mode, params):\n"


def evaluate(folder: Path, code: str, **others: str) -> Tracer:
    """What is found out about a program; ``others`` are the files beside it."""
    facts, files, defined = _program(folder, code, others)
    tracer = Tracer(facts, files)
    go_through(tracer, files[0], defined)
    return tracer


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
    return [one.done for one in body(folder, code).steps]


def same(folder: Path, first: str, second: str) -> bool:
    """Two texts do the same."""
    return steps(folder, first) == steps(folder, second)


def body(folder: Path, code: str) -> Tracer:
    """The same for the statements of a model function alone."""
    lines = "".join(f"    {line}\n" for line in code.splitlines())
    return evaluate(folder, START + lines)


def made(found: Tracer) -> list[str]:
    """What makes variables, each with what is around it."""
    shown = []
    for one in found.steps:
        layer = one.done.kind == "apply"
        if not layer and one.node not in found.notes.made:
            continue
        of = one.done.parts[0] if layer else one.done
        given = [_shown(part) for part in of.parts if not part.kind.endswith("er=")]
        kind = of.kind.removeprefix("tf.")
        around = [_around(part) for part in one.path]
        shown.append("/".join([*around, f"{kind}({', '.join(given)})"]))
    return shown


def _shown(given: Term) -> str:
    """An argument, if the text tells it."""
    value = given.parts[0] if given.kind.endswith("=") and given.parts else given
    return value.kind[1:] if value.kind[:1] == "=" else "?"


def _around(part: Term) -> str:
    """A scope, with its name, or a loop or branch."""
    scope = part.parts[0].parts[-1] if part.kind == "with" else part
    if scope.kind != "tf.variable_scope":
        return part.kind
    return f"scope {_shown(scope.parts[0])}"


def reasons(found: Tracer) -> list[str]:
    """What is not understood."""
    return [one.reason for one in found.notes.unknown.values()]
