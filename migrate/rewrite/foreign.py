"""Trainers that come of packages which are not among the files: those run on compat."""

from __future__ import annotations

import re

import libcst as cst

from ..code.tree import Tree, walk
from ..names.scopes import BindingKind
from ..project.facts import ParsedModule, ProjectFacts
from .estimator_words import CLASS_ENDINGS
from .installed import KNOWN

_MAY_TRAIN = re.compile(r"\.train(?:_and_evaluate)?\(|RunConfig\(")


def trainer_of_package(
    parsed: ParsedModule, facts: ProjectFacts
) -> tuple[cst.Call, str] | None:
    """The call that makes a trainer of a package outside, and what is said of it.

    Such a package has an Estimator of its own, or makes one: it is given a RunConfig,
    trains and evaluates, or its class is called an Estimator and trains.
    """
    text = parsed.source.text
    if "tensorflow" not in text or not _MAY_TRAIN.search(text):
        return None
    tree = Tree(parsed.module, parsed.resolver)
    for func, call in parsed.resolver.scopes.calls.items():
        for made in _trainers(tree, func, call):
            name = parsed.resolver.qualified(made.func)
            if name is not None and _is_outside(made, name, parsed, facts):
                package = name.partition(".")[0]
                why = f"its trainer, `{name}`, is of `{package}`, which is not among "
                return made, f"{why}the files"
    return None


def _trainers(tree: Tree, func: cst.CSTNode, call: cst.Call) -> list[cst.Call]:
    """Calls that made a trainer if they are of a package, told from one call."""
    found = []
    if any(_is_config(tree, arg.value) for arg in call.args):
        found.append(call)
    if isinstance(func, cst.Attribute):
        made = tree.value(func.value)
        if isinstance(made, cst.Call):
            name = tree.resolver.qualified(made.func) or ""
            trains = func.attr.value == "train" and name.endswith(CLASS_ENDINGS)
            if trains or func.attr.value == "train_and_evaluate":
                found.append(made)
    return found


def _is_config(tree: Tree, node: cst.BaseExpression) -> bool:
    made = tree.value(node)
    if not isinstance(made, cst.Call):
        return False
    return (tree.symbol(made.func) or "").endswith((".RunConfig", ".RunConfig.replace"))


def _is_outside(
    made: cst.Call, name: str, parsed: ParsedModule, facts: ProjectFacts
) -> bool:
    """Whether a name was imported from a package that the project has no file of."""
    root = next(iter(walk(made.func, cst.Name)), None)
    bound = parsed.resolver.bindings(root) if root is not None else ()
    parts = name.split(".")
    return (
        bool(bound)
        and all(one.kind is BindingKind.IMPORT and not one.relative for one in bound)
        and parts[0] not in KNOWN
        and all(
            facts.locate(".".join(parts[:count]), parsed.path) is None
            for count in range(1, len(parts))
        )
    )
