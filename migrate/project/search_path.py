"""Directories that a program puts on its search path itself.

``sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))`` makes files of
other folders part of a program. What is computed from more than constants, the file's
own place and names for these is not followed.
"""

from __future__ import annotations

import ast
import os
import re
import warnings

from ..names.ast_nodes import walk as walk_ast
from .reading import is_folder

_LITERAL = re.compile(
    rb"""sys\.path\.(?:append|insert)\(\s*(?:\d+\s*,\s*)?\\?["']([^"'\\\n]+)\\?["']"""
)
# Calls that leave a path what it is, seen from where it is used.
_FOLDED = frozenset(
    {
        *("abspath", "realpath", "normpath", "str", "fspath"),
        *("Path", "PurePath", "resolve", "absolute"),
    }
)


def added_directories(path: str, raw: bytes) -> list[str]:
    """The existing directories that a file adds, relative ones seen from its own."""
    if b"sys.path" not in raw:
        return []
    found: list[str | None] = []
    tree = None if path.endswith(".ipynb") else _parsed(raw)
    if tree is None:
        found += [text.decode("utf-8", "replace") for text in _LITERAL.findall(raw)]
    else:
        reader = _Reader(path, tree)
        found += [reader.text(node) for node in reader.added()]
    base = os.path.dirname(path)
    full = [os.path.normpath(os.path.join(base, one)) for one in found if one]
    return [one for one in dict.fromkeys(full) if is_folder(one)]


def _parsed(raw: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(raw)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


class _Reader:
    """Reads the paths that expressions of one file stand for."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path = path
        self.nodes = walk_ast(tree)
        self.values: dict[str, ast.expr | None] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        known = target.id in self.values
                        self.values[target.id] = None if known else node.value

    def added(self) -> list[ast.expr]:
        """What is given to ``sys.path``, in whatever way."""
        found: list[ast.expr] = []
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if ast.unparse(node.func.value) == "sys.path":
                    if node.func.attr in ("append", "insert"):
                        found += node.args[-1:]
                    elif node.func.attr == "extend" and node.args:
                        found += self._items(node.args[0])
            elif isinstance(node, (ast.Assign, ast.AugAssign)):
                targets = (
                    node.targets if isinstance(node, ast.Assign) else [node.target]
                )
                if any(ast.unparse(one) == "sys.path" for one in targets):
                    for one in walk_ast(node.value):
                        found += self._items(one)
        return found

    def _items(self, node: ast.AST) -> list[ast.expr]:
        return list(node.elts) if isinstance(node, (ast.List, ast.Tuple)) else []

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        """The path that an expression stands for, or None."""
        if depth > 12:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            if node.id == "__file__":
                return self.path
            bound = self.values.get(node.id)
            return self.text(bound, depth + 1) if bound is not None else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
            return self._both(node, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, depth)
        if isinstance(node, ast.Subscript):
            return self._ancestor(node, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        return None

    def _both(self, node: ast.BinOp, depth: int) -> str | None:
        left, right = self.text(node.left, depth + 1), self.text(node.right, depth + 1)
        if left is None or right is None:
            return None
        return (
            left + right if isinstance(node.op, ast.Add) else os.path.join(left, right)
        )

    def _attribute(self, node: ast.Attribute, depth: int) -> str | None:
        if node.attr == "parent":
            inner = self.text(node.value, depth + 1)
            return os.path.dirname(inner) if inner is not None else None
        return {"pardir": "..", "curdir": "."}.get(node.attr)

    def _ancestor(self, node: ast.Subscript, depth: int) -> str | None:
        """``Path(__file__).parents[1]``, ``os.path.split(path)[0]``."""
        at = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if not isinstance(at, int):
            return None
        steps, inner = 0, None
        if isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
            steps, inner = at + 1, self.text(node.value.value, depth + 1)
        elif isinstance(node.value, ast.Call) and at == 0 and node.value.args:
            name = getattr(node.value.func, "attr", None)
            if name == "split":
                steps, inner = 1, self.text(node.value.args[0], depth + 1)
        for _ in range(steps):
            inner = os.path.dirname(inner) if inner is not None else None
        return inner

    def _call(self, node: ast.Call, depth: int) -> str | None:
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        if name in ("getcwd", "cwd"):
            return "."
        given = [self.text(one, depth + 1) for one in node.args]
        if not given and isinstance(node.func, ast.Attribute):
            given = [self.text(node.func.value, depth + 1)]  # Path(...).resolve()
        known = [one for one in given if one is not None]
        if len(known) != len(given) or not known:
            return None
        if name == "dirname":
            # Of a bare name that is the folder it lies in.
            return os.path.dirname(known[0]) or "."
        if name in ("join", "joinpath"):
            return os.path.join(*known)
        return known[0] if name in _FOLDED else None
