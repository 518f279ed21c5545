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
_FOLDED = [
    "abspath",
    "realpath",
    "normpath",
    "str",
    "fspath",
    "Path",
    "PurePath",
    "resolve",
    "absolute",
]


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
            match node:
                case ast.Call(func=ast.Attribute(value, attr), args=[*_, last]):
                    if ast.unparse(value) != "sys.path":
                        continue
                    if attr in ("append", "insert"):
                        found.append(last)
                    elif attr == "extend":
                        found += self._items(node.args[0])
                case ast.Assign(targets=[*targets]) | ast.AugAssign(target=targets):
                    given = targets if isinstance(targets, list) else [targets]
                    if any(ast.unparse(one) == "sys.path" for one in given):
                        for one in walk_ast(node.value):
                            found += self._items(one)
        return found

    def _items(self, node: ast.AST) -> list[ast.expr]:
        return list(node.elts) if isinstance(node, (ast.List, ast.Tuple)) else []

    def text(self, node: ast.expr | None, depth: int = 0) -> str | None:
        """The path that an expression stands for, or None."""
        if depth > 12:
            return None
        deeper = depth + 1
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id="__file__"):
                return self.path
            case ast.Name(id=name):
                return self.text(self.values.get(name), deeper)
            case ast.BinOp(op=ast.Div() | ast.Add()):
                both = self.text(node.left, deeper), self.text(node.right, deeper)
                if both[0] is None or both[1] is None:
                    return None
                plain = isinstance(node.op, ast.Add)
                return both[0] + both[1] if plain else os.path.join(both[0], both[1])
            case ast.Attribute(attr="parent"):
                return self._above(node.value, 1, deeper)
            case ast.Attribute(attr=name):
                return {"pardir": "..", "curdir": "."}.get(name)
            case ast.Subscript(
                ast.Attribute(value, "parents"), ast.Constant(value=int(count))
            ):
                return self._above(value, count + 1, deeper)
            case ast.Subscript(
                ast.Call(ast.Attribute(attr="split"), [value, *_]),
                ast.Constant(value=0),
            ):
                return self._above(value, 1, deeper)
            case ast.Call():
                return self._call(node, deeper)
        return None

    def _above(self, node: ast.expr, steps: int, depth: int) -> str | None:
        """The folder so many steps above what an expression stands for."""
        inner = self.text(node, depth)
        for _ in range(steps):
            inner = os.path.dirname(inner) if inner is not None else None
        return inner

    def _call(self, node: ast.Call, depth: int) -> str | None:
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        if name in ("getcwd", "cwd"):
            return "."
        given = [self.text(one, depth) for one in node.args]
        if not given and isinstance(node.func, ast.Attribute):
            given = [self.text(node.func.value, depth)]  # Path(...).resolve()
        known = [one for one in given if one is not None]
        if len(known) != len(given) or not known:
            return None
        if name == "dirname":
            # Of a bare name that is the folder it lies in.
            return os.path.dirname(known[0]) or "."
        if name in ("join", "joinpath"):
            return os.path.join(*known)
        return known[0] if name in _FOLDED else None
