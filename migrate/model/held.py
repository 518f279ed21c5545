"""Objects that modules of the project hold: networks that are called.

A model function finds them when it is called, and something may have set their
attributes since they were made: what is plain in them counts as not known.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import libcst as cst

from ..project.facts import Definition, ParsedModule
from .arguments import parameters_of
from .definitions import constant, given_to, is_record
from .terms import term
from .values import Config, Const, Dict, Env, Instance, Symbol, Time, Value, time_of

if TYPE_CHECKING:
    from .evaluator import Evaluator


def held_object(
    evaluator: Evaluator, node: cst.BaseExpression, env: Env
) -> Instance | None:
    """The object that a name of a module stands for, if it may be followed.

    It is made by an evaluation of its own: nothing of that is of the model.
    """
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return None
    if isinstance(node, cst.Name) and env.find(node.value) is not None:
        return None
    found = evaluator.facts.definition(node, env.module) or constant(node, env)
    if found is None or not isinstance(found.node, cst.Call):
        return None
    if found.node not in evaluator.held:
        evaluator.held[found.node] = None  # It may be made of what asks for it.
        evaluator.held[found.node] = _made(evaluator, found)
    return evaluator.held[found.node]


def is_unseen(value: Value) -> bool:
    """What is called may be of an object that a module, this or another one, holds."""
    if isinstance(value, Symbol):
        return not value.name.startswith(("tf.", "builtins."))
    return isinstance(value, Config)


def _made(evaluator: Evaluator, found: Definition) -> Instance | None:
    assert isinstance(found.node, cst.Call)
    module = evaluator.files.get(os.path.abspath(found.module.path), found.module)
    made = evaluator.facts.definition(found.node.func, found.module)
    if made is None or not isinstance(made.node, cst.ClassDef):
        return None
    owner = Instance(made.node, made.module, made=True)
    if is_record(owner) or _is_of_tensorflow(evaluator, owner):
        return None
    if _is_changed(evaluator, found.name, module):
        return None
    apart = evaluator.apart()
    fill(apart, owner)
    if apart.notes.made or apart.notes.unknown:
        return None  # It makes variables, or what is not understood, at its start.
    for name, value in owner.attributes.items():
        if isinstance(value, (Config, Const, Dict)):
            owner.attributes[name] = Config(term=term(f"`{name}`"))
    return owner


def _is_of_tensorflow(evaluator: Evaluator, owner: Instance, depth: int = 0) -> bool:
    resolver = owner.module.resolver
    symbols = (resolver.resolve(one.value) or "" for one in owner.node.bases)
    return any(one.startswith("tf.") for one in symbols) or any(
        depth < 8 and _is_of_tensorflow(evaluator, base, depth + 1)
        for base in evaluator.bases(owner)
    )


def _is_changed(evaluator: Evaluator, name: str, home: ParsedModule) -> bool:
    """An attribute of the object is set from outside, in some file."""
    for module in evaluator.files.values():
        for node in module.each(cst.Assign, cst.AugAssign, cst.AnnAssign):
            targets: list[cst.BaseExpression] = []
            if isinstance(node, cst.Assign):
                targets = [one.target for one in node.targets]
            elif isinstance(node, (cst.AugAssign, cst.AnnAssign)):
                targets = [node.target]
            for target in targets:
                if isinstance(target, cst.Attribute) and _is_name_of(
                    evaluator, target.value, module, name, home
                ):
                    return True
    return False


def _is_name_of(
    evaluator: Evaluator,
    node: cst.BaseExpression,
    module: ParsedModule,
    name: str,
    home: ParsedModule,
) -> bool:
    """A name, in whatever file, of what a module has under ``name``."""
    if not isinstance(node, (cst.Name, cst.Attribute)):
        return False
    if module is home and isinstance(node, cst.Name):
        return node.value == name
    found = evaluator.facts.definition(node, module)
    return (
        found is not None
        and found.name == name
        and os.path.abspath(found.module.path) == os.path.abspath(home.path)
    )


# -- attributes -----------------------------------------------------------------


def fill(evaluator: Evaluator, owner: Instance) -> None:
    """Attributes that an object has since it was made, of what is not known here."""
    function = evaluator.method(owner, "__init__")
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return
    node = function.node
    given: dict[str, Value] = {
        one.name.value: Config(term=term(f"`{one.name.value}`"))
        for one in parameters_of(node.params, stars=True)
    }
    given |= given_to(evaluator, owner.node, node.params, bound=True)
    if node.params.params:
        given[node.params.params[0].name.value] = owner
    evaluator.enter(function, given)
    for name, value in owner.attributes.items():
        owner.attributes[name] = before(name, value)


def before(name: str, value: Value) -> Value:
    """A value that is made before the model function is called: it is in no graph."""
    late = time_of(value) is Time.GRAPH
    return Config(term=term(f"`{name}`")) if late else value
