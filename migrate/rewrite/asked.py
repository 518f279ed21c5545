"""What a program asks of its training.py: words, which `training.join` knows."""

from __future__ import annotations

import ast
import re

from ..names.ast_nodes import walk as walk_ast

__all__ = ["called_in", "taken_from", "words_by_hand", "words_of"]

# Where a program may look rows of a variable up, their gradients are those rows.
_OF_ROWS = re.compile(
    r"gather|[Ee]mbed|_lookup|_mask|_column|LinearModel|nce_loss|sampled_|load_model"
    r"|\bhub\."
)


def words_of(text: str, tree: ast.Module, module: str) -> set[str]:
    """Words of a file that ask for parts of training.py by themselves.

    These are keywords that its names are called with, as `steps` and as
    `EvalSpec(steps)`, and summaries.
    """
    taken = taken_from(tree, module)
    found = {"summaries"} if re.search(r"\.summary\.\w+\(", text) else set()
    for node in walk_ast(tree, ast.Call):
        func = node.func
        name = func.id if isinstance(func, ast.Name) else ""
        if name in taken or name == "Trainer":
            given = {one.arg for one in node.keywords if one.arg is not None}
            found |= given | {f"{name}({one})" for one in given}
        if isinstance(func, ast.Attribute) and len(node.args) > 1:
            # Arguments by their places: hooks come first, as the Estimator had it.
            if func.attr == "train":
                found.add("hooks")
            elif func.attr == "evaluate" and len(node.args) > 2:
                found.add("evaluate(hooks)")
    return found


def words_by_hand(text: str, tree: ast.Module, module: str) -> set[str]:
    """All words of a native file, in which a person may have come to ask for more."""
    taken = taken_from(tree, module)
    found, tasks, trainers = words_of(text, tree, module) | taken, set(), set()
    for node in walk_ast(tree):
        if isinstance(node, ast.ClassDef):
            tasks |= {node.name} if "Task" in map(ast.unparse, node.bases) else set()
        if isinstance(node, ast.Assign):
            made = ast.unparse(node.value).startswith("Trainer(")
            trainers |= {ast.unparse(one) for one in node.targets if made}
    for node in walk_ast(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if ast.unparse(node.func.value) in trainers:
            method = node.func.attr
            given = {one.arg for one in node.keywords if one.arg is not None}
            found |= {method, *given, *(f"{method}({one})" for one in given)}
    called = called_in(text, tree, tasks)
    own = ("eval_loss", "watch", "optimizers", "exports")
    return found | called | {name for name in own if f"Task.{name}" in called}


def called_in(text: str, tree: ast.Module, tasks: set[str]) -> set[str]:
    """Words for what a file calls or changes of what training.py would leave out."""
    found = {f".{name}" for name in re.findall(r"\.(\w+)", text)}
    for node in walk_ast(tree, ast.ClassDef):
        if node.name in tasks:
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef))
            found |= {f"Task.{one.name}" for one in methods}
    return found | ({"rows"} if _OF_ROWS.search(text) else set())


def taken_from(tree: ast.Module, module: str) -> set[str]:
    """Names that a file imports from training.py."""
    return {
        alias.name
        for node in walk_ast(tree, ast.ImportFrom)
        if (node.module or "").rpartition(".")[2] == module
        for alias in node.names
    }
