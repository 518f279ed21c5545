"""Objects that are called as model functions: ``Estimator(Model(16))``."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn

_NAME = cst.Name("model_fn")


def with_methods_as_model_fns(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files with ``Estimator(Model(16).model_fn)``, a method by its name.

    They stay where an object has another use.
    """
    edits: dict[cst.CSTNode, object] = {}
    classes = set()
    for one in files:
        for kind in one.each(cst.ClassDef):
            methods = {m.name.value: m for m in walk(kind.body, cst.FunctionDef)}
            made = methods.get("__call__")
            if made and is_model_fn(made) and "model_fn" not in methods:
                edits[made.name] = _NAME
                classes.add(kind.name.value)
    for one in files if classes else ():
        tree = Tree(one.module, one.resolver)
        names = [node for name in classes for node in tree.loads(name)]
        names += [n.attr for n in one.each(cst.Attribute) if n.attr.value in classes]
        for node in [given for name in names for given in _uses(tree, name)]:
            if not _is_model_fn(tree, node):
                return [*files]
            edits[node] = cst.Attribute(node, _NAME)
    return [changed(one, facts, edits) if edits else one for one in files]


def _uses(tree: Tree, name: cst.Name) -> Sequence[cst.BaseExpression]:
    """Where an object of a class is: its call, or all that reads it by a name."""
    parent = tree.parent(name)
    made = tree.parent(parent) if isinstance(parent, cst.Attribute) else parent
    holder = tree.parent(made) if isinstance(made, cst.Call) else None
    target = holder.targets[0].target if isinstance(holder, cst.Assign) else None
    reads = tree.loads(target.value) if isinstance(target, cst.Name) else ()
    return reads or [made if isinstance(made, cst.Call) else name]


def _is_model_fn(tree: Tree, node: cst.CSTNode) -> bool:
    arg = tree.parent(node)
    call = tree.parent(arg) if isinstance(arg, cst.Arg) else None
    if not isinstance(call, cst.Call) or not isinstance(arg, cst.Arg):
        return False
    named = arg.keyword.value == "model_fn" if arg.keyword else call.args[0] is arg
    return named and (tree.symbol(call.func) or "").endswith("Estimator")
