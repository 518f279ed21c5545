"""Where nodes stand in the code of their module.

LibCST's PositionProvider costs more than the parse. Here each statement is laid out by
itself, and remembered: a text that is parsed again has most of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst
from libcst._nodes.internal import CodegenState

from .text import Lines

Span = tuple[int, int]
# A text, and the places of nodes in its parts, with where these begin.
_Laid = tuple[str, list[tuple[dict[int, Span], int]]]

# Statements that are remembered at a time.
_KEPT = 4096


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
        self.parts = [(self.found, 0)]
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


class _Inner:
    """A statement in a block, which is laid out by itself."""

    def __init__(self, node: cst.CSTNode) -> None:
        self.node = node

    def _codegen(self, state: _State) -> None:
        margin = "".join(state.indent_tokens)
        laid = _laid_out(self.node, state.default_indent, state.default_newline, margin)
        state.parts += [(found, at + state.offset) for found, at in laid[1]]
        state.add_token(laid[0])


@lru_cache(maxsize=_KEPT)
def _laid_out(node: cst.CSTNode, indent: str, newline: str, margin: str) -> _Laid:
    """The code of a statement, and where its nodes stand in that."""
    state = _State(indent, newline)
    state.increase_indent(margin)
    block = getattr(node, "body", None)
    if isinstance(block, cst.IndentedBlock):
        inside = block.with_changes(body=[*map(_Inner, block.body)])
        around = node.with_changes(body=inside)
        around._codegen(state)
        state.found[id(node)] = state.found.pop(id(around))
        state.found[id(block)] = state.found.pop(id(inside))
    else:
        node._codegen(state)
    return "".join(state.tokens), state.parts


def _parts(module: cst.Module) -> Iterator[_Laid]:
    for part in (*module.header, *module.body, *module.footer):
        yield _laid_out(part, module.default_indent, module.default_newline, "")


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
        for text, parts in _parts(module):
            for found, start in parts:
                self._homes.update(dict.fromkeys(found, (found, start + offset)))
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
