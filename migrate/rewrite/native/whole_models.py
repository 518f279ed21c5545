"""A network that is all of a model is the model: no chain with that one step."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...names.ast_nodes import tree_of
from ...names.ast_nodes import walk as walk_ast
from ...project.long_lines import WIDTH
from .code import dotted
from .text import Text, fitted, parameters_of

_LAYER, _MODEL = "tf_keras.layers.Layer", "tf_keras.Model"


def with_whole_models(codes: Iterable[str]) -> list[str]:
    """The texts of files with ``Net(...)`` for ``tf_keras.Sequential([Net(...)])``.

    `Net` is a layer of one of the files that takes the flag, and is made just there.
    """
    every = [*codes]
    if not any("tf_keras.Sequential(" in code for code in every):
        return every
    texts = [Text(code) for code in every]
    trees = [tree_of(text.code) for text in texts]
    calls = [one for tree in trees for one in walk_ast(tree, ast.Call)]
    made = [dotted(one.func).rpartition(".")[2] for one in calls]
    for text, tree in zip(texts, trees, strict=True):
        for one in walk_ast(tree, ast.Call):
            if dotted(one.func) != "tf_keras.Sequential" or len(one.args) != 1:
                continue
            steps = one.args[0].elts if isinstance(one.args[0], ast.List) else []
            only = steps[0] if len(steps) == 1 else None
            name = dotted(only.func) if isinstance(only, ast.Call) else ""
            name = name.rpartition(".")[2]
            found = [
                (home, kind)
                for home, other in zip(texts, trees, strict=True)
                for kind in walk_ast(other, ast.ClassDef)
                if kind.name == name and [*map(dotted, kind.bases)] == [_LAYER]
            ]
            if only is None or len(found) != 1 or made.count(name) != 1:
                continue
            ((home, kind),) = found
            takes = [
                parameters_of(f)[2:]
                for f in kind.body
                if isinstance(f, ast.FunctionDef) and f.name == "call"
            ]
            if takes == [["training"]]:
                line = fitted(f"self.model = {text.of(only)}", " " * 8, WIDTH)
                text.put(one, line.strip().removeprefix("self.model = "))
                home.put(kind.bases[0], _MODEL)
    return [text.done() for text in texts]
