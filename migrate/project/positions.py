"""Where nodes stand in the code of their module.

LibCST's PositionProvider costs more than the parse. Here each top-level statement is
laid out by itself, and remembered: a text that is parsed again has most of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst
from libcst._nodes.internal import CodegenState

from .text import Lines

Span = tuple[int, int]
_Laid = tuple[str, dict[int, Span]]

# Top-level statements that are remembered at a time.
_KEPT = 512


class Unfaithful(Exception):
    """LibCST has lost something (it does for some comments).

    Writing its version back would drop the user's text, and its offsets are
    not those of the file.
    """

    def __init__(self) -> None:
        super().__init__("the parser does not reproduce this file exactly")


class _State(CodegenState):
    """Generates code and notes the offsets of nodes, by their identities.

    The syntactic span leaves out the white space and parentheses around a node,
    as Python's own positions do.
    """

    def __init__(self, indent: str, newline: str) -> None:
        super().__init__(indent, newline)
        self.offset = 0
        self.found: dict[int, Span] = {}
        # Nodes that have begun; a generator for each would take much longer.
        self.begun: list[tuple[int, int]] = []

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.offset += len(token)
        self.tokens.extend(self.indent_tokens)

    def add_token(self, value: str) -> None:
        self.offset += len(value)
        self.tokens.append(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.found[id(node)] = (self.offset, self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start, end = self.found[id(node)]
        if start == end:
            self.found[id(node)] = (start, self.offset)

    def record_syntactic_position(self, node: cst.CSTNode, **_: object) -> _State:  # type: ignore[override]
        self.begun.append((id(node), self.offset))
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        key, start = self.begun.pop()
        self.found[key] = (start, self.offset)


@lru_cache(maxsize=_KEPT)
def _laid_out(node: cst.CSTNode, indent: str, newline: str) -> _Laid:
    """The code of a statement, and where its nodes stand in that."""
    state = _State(indent, newline)
    node._codegen(state)
    return "".join(state.tokens), state.found


def _parts(module: cst.Module) -> Iterator[_Laid]:
    for part in (*module.header, *module.body, *module.footer):
        yield _laid_out(part, module.default_indent, module.default_newline)


def code_of(module: cst.Module) -> str:
    """The code of a module, most of whose statements have been laid out before."""
    code = "".join(text for text, _ in _parts(module))
    if not module.has_trailing_newline:
        return code[: -2 if code.endswith("\r\n") else -1]
    return code or module.default_newline


class Places:
    """The code of a module, and where its nodes stand in it, layout included.

    For `Resolver.about`: who asks next need not generate the code again.
    """

    def __init__(self, module: cst.Module) -> None:
        # By the identity of a node: its statement's nodes, and where that begins.
        self._homes: dict[int, tuple[dict[int, Span], int]] = {}
        offset = 0
        for text, found in _parts(module):
            self._homes.update(dict.fromkeys(found, (found, offset)))
            offset += len(text)
        self.lines = Lines(code_of(module))
        offset = max(offset, len(self.lines.text))
        self._homes[id(module)] = ({id(module): (0, offset)}, 0)
        self.module = module  # whose nodes keep their identities

    def __contains__(self, node: cst.CSTNode) -> bool:
        return id(node) in self._homes

    def __getitem__(self, node: cst.CSTNode) -> Span:
        found, offset = self._homes[id(node)]
        start, end = found[id(node)]
        return start + offset, end + offset
