"""What training programs are made of, for people who want to see it before a rewrite.

`tfmigrate scan -v` prints it: the model functions with their layers and variables,
loss, optimizer and metrics, Estimators, their calls and hooks, and what keeps a
program, with the change after which it is native.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import libcst as cst

from ..code.tree import Tree
from ..model.evaluator import Evaluator, Event, evaluated
from ..model.spelling import snake
from ..project.facts import ParsedModule, ProjectFacts
from ..project.nearby import files_of_program
from ..project.sources import SourceError
from ..report.model import FileResult, ProgramResult, Report
from .estimator_words import estimator_places
from .layers.model_functions import is_model_fn

_METHODS = ("evaluate", "export_saved_model", "export_savedmodel", "predict", "train")
# Of one model function; what makes more is hardly read to its end.
_MOST_LAYERS = 500
_LOSSES = re.compile(r"^tf\.(contrib\.)?losses\.(?!get_)|cross_entropy|sequence_loss$")
_OPTIMIZERS = re.compile(r"Optimizer$|\.optimize_loss$|\.create_train_op$")
_METRICS = re.compile(r"^tf\.(contrib\.)?metrics\.")
_AROUND = re.compile(r"^tf\..*(Hook|Spec|RunConfig|\.train_and_evaluate)$")


def plan_lines(report: Report, paths: Iterable[Path]) -> Iterator[str]:
    """The plans of all programs of a run, in the order of their files."""
    facts = ProjectFacts(tuple(paths))
    for result in report.results:
        program = result.program
        if program is None:
            continue
        yield f"{result.path}: {program.outcome.value}"
        for label, text in _plan(result, facts):
            yield f"  {label:<9} {text}".rstrip()
        yield ""


def _plan(result: FileResult, facts: ProjectFacts) -> Iterator[tuple[str, str]]:
    files = _files(result, facts)
    trees = [Tree(one.module, one.resolver) for one in files]
    for tree, parsed in zip(trees, files, strict=True):
        for node in parsed.nodes:
            if is_model_fn(node):
                assert isinstance(node, cst.FunctionDef)
                yield "model_fn", f"{node.name.value} ({_place(parsed, tree, node)})"
                yield from _model(evaluated(facts, files, parsed, node))
    for tree, parsed in zip(trees, files, strict=True):
        yield from _around(tree, parsed)
    assert result.program is not None
    yield from _reasons(result.program)


def _files(result: FileResult, facts: ProjectFacts) -> list[ParsedModule]:
    """The file that a program begins in, and those that it imports."""
    found = []
    for path, raw in files_of_program(
        result.path, facts, lambda one: _raw(one, result)
    ):
        with contextlib.suppress(SourceError):
            found.append(facts.load(path, raw))
    return found


def _raw(path: Path, result: FileResult) -> bytes:
    """A file as it was before the rewrite."""
    if path == result.path and result.old is not None:
        return result.old
    return path.read_bytes()


def _place(parsed: ParsedModule, tree: Tree, node: cst.CSTNode) -> str:
    cell, line = parsed.source.locate(tree.line(node))
    inside = f"cell {cell}:" if cell is not None else ""
    return f"{parsed.path.name}:{inside}{line}"


# -- the model


def _model(found: Evaluator) -> Iterator[tuple[str, str]]:
    counted: dict[str, int] = {}
    for event in found.events[:_MOST_LAYERS]:
        yield "  layer", _layer(event, counted)
    more = len(found.events) - _MOST_LAYERS
    if more > 0:
        yield "  layer", f"... and {more:,} more"
    if found.notes.keras:
        classes = dict.fromkeys(call.symbol for call in found.notes.keras)
        yield "  keras", ", ".join(classes)
    for label, pattern in (
        ("  loss", _LOSSES),
        ("  optimizer", _OPTIMIZERS),
        ("  metric", _METRICS),
    ):
        for node, (symbol, parsed) in found.notes.symbols.items():
            if pattern.search(symbol):
                tree = Tree(parsed.module, parsed.resolver)
                yield label, f"{symbol} ({_place(parsed, tree, node)})"


def _layer(event: Event, counted: dict[str, int]) -> str:
    """One call that makes variables: its place among names, its kind, what it makes.

    Those without a name are counted in each scope.
    """
    (kind, given), around = event
    said = dict(given)
    name = said.pop("name", said.pop("scope", "")).strip("'\"")
    scopes = [
        one.removeprefix("scope ").strip("'\"")
        for one in around
        if one.startswith("scope ")
    ]
    short = kind.rpartition(".")[2]
    path = "/".join([*scopes, name or snake(short)])
    if not name:
        counted[path] = counted.get(path, -1) + 1
        path += f"_{counted[path]}" if counted[path] else ""
    sizes = ", ".join(
        f"{key}={value}" if not key.isdigit() else value
        for key, value in said.items()
        if value != "?"
    )
    text = f"{path}: {kind}({sizes})" if kind != "variable" else f"{path}: a variable"
    made = _variables(short, said)
    if made:
        text += f", with {made}"
    if "for" in around:
        text += ", in a loop"
    if "if" in around or "else" in around:
        text += ", in a branch"
    return text


def _variables(kind: str, said: dict[str, str]) -> str:
    if kind == "BatchNormalization":
        names = ["moving_mean", "moving_variance"]
        names += ["beta"] if said.get("center") != "False" else []
        return ", ".join([*(["gamma"] if said.get("scale") != "False" else []), *names])
    bias = ["bias"] if said.get("use_bias") != "False" else []
    if kind.startswith("SeparableConv"):
        return ", ".join(["depthwise_kernel", "pointwise_kernel", *bias])
    if kind == "Dense" or kind.startswith("Conv"):
        return ", ".join(["kernel", *bias])
    return ""


# -- what is around it


def _around(tree: Tree, parsed: ParsedModule) -> Iterator[tuple[str, str]]:
    for call in estimator_places(tree.resolver).made:
        symbol = tree.symbol(call.func)
        yield "estimator", f"{symbol} ({_place(parsed, tree, call)})"
    for call in tree.resolver.scopes.calls.values():
        symbol = tree.symbol(call.func) or ""
        if _AROUND.search(symbol) and not symbol.endswith("EstimatorSpec"):
            label = "hook" if symbol.endswith("Hook") else "around"
            yield label, f"{symbol} ({_place(parsed, tree, call)})"
    for node in tree.nodes:
        if (
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Attribute)
            and node.func.attr.value in _METHODS
            and tree.symbol(node.func) is None
        ):
            shown = tree.code(node.func)
            yield "call", f"{shown} ({_place(parsed, tree, node)})"


# -- what stops it


def _reasons(program: ProgramResult) -> Iterator[tuple[str, str]]:
    if program.reason:
        yield "because", f"{program.reason} ({program.place})"
    if program.advice:
        yield "change", program.advice
