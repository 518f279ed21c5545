"""Objects that an Estimator calls as its model function: a method of theirs is that."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...code.edits import changed
from ...project.facts import ParsedModule, ProjectFacts

_ESTIMATORS = ("Estimator", "TPUEstimator")
_METHOD = "model_fn"


def with_called_objects_as_methods(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files, with ``Estimator(Model().model_fn)`` for ``Estimator(Model())``."""
    if not any("def __call__(" in one.source.text for one in files):
        return [*files]
    places: list[dict[cst.CSTNode, object]] = [{} for _ in files]
    paths = [one.path for one in files]
    for parsed, edits in zip(files, places, strict=True):
        for node in parsed.each(cst.Call):
            given = _model_fn(parsed, node)
            made = _made(parsed, given) if given is not None else None
            told = facts.definition(made.func, parsed) if made is not None else None
            if given is None or told is None or told.module.path not in paths:
                continue
            there = paths.index(told.module.path)
            called = _called(files[there], told.name)
            if called is not None:
                edits[given] = cst.Attribute(given, cst.Name(_METHOD))
                places[there][called.name] = cst.Name(_METHOD)
    return [
        changed(one, facts, edits) if edits else one
        for one, edits in zip(files, places, strict=True)
    ]


def _model_fn(parsed: ParsedModule, call: cst.Call) -> cst.BaseExpression | None:
    """The first argument of an Estimator."""
    symbol = parsed.resolver.resolve(call.func) or ""
    if symbol.rpartition(".")[2] not in _ESTIMATORS:
        return None
    for one in call.args:
        if one.keyword is None or one.keyword.value == _METHOD:
            return one.value
    return None


def _made(parsed: ParsedModule, node: cst.BaseExpression) -> cst.Call | None:
    """The call that makes an object."""
    bound = parsed.resolver.bindings(node) if isinstance(node, cst.Name) else ()
    made = bound[0].value if len(bound) == 1 else node
    return made if isinstance(made, cst.Call) else None


def _called(parsed: ParsedModule, name: str) -> cst.FunctionDef | None:
    """The method that calls of an object call, if it is a model function."""
    for node in parsed.each(cst.ClassDef):
        if node.name.value != name:
            continue
        methods = [one for one in node.body.body if isinstance(one, cst.FunctionDef)]
        found = [one for one in methods if one.name.value == "__call__"]
        names = {one.name.value for f in found for one in f.params.params}
        taken = any(one.name.value == _METHOD for one in methods)
        return found[0] if "mode" in names and not taken else None
    return None
