"""Where nodes stand in the text, for the few nodes that are asked about.

LibCST's PositionProvider records every node and costs more than the parse. One
code generation that notes offsets only for wanted nodes costs a quarter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import libcst as cst
from libcst._nodes.internal import CodegenState

__all__ = ["Span", "spans"]

Span = tuple[int, int]


class _State(CodegenState):
    """Generates code and notes the offsets of wanted nodes.

    The syntactic span leaves out the white space and parentheses around a node,
    as Python's own positions do.
    """

    def __init__(self, module: cst.Module, wanted: set[cst.CSTNode]) -> None:
        super().__init__(
            default_indent=module.default_indent, default_newline=module.default_newline
        )
        self.wanted = wanted
        self.offset = 0
        self.found: dict[cst.CSTNode, Span] = {}

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.offset += len(token)
        self.tokens.extend(self.indent_tokens)

    def add_token(self, value: str) -> None:
        self.offset += len(value)
        self.tokens.append(value)

    def before_codegen(self, node: cst.CSTNode) -> None:
        if node in self.wanted:
            self.found[node] = (self.offset, self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        if node in self.wanted:
            start, end = self.found[node]
            if start == end:
                self.found[node] = (start, self.offset)

    @contextmanager
    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Iterator[None]:
        if node not in self.wanted:
            # A block's end may be asked for through its last statement.
            yield
            return
        start = self.offset
        yield
        self.found[node] = (start, self.offset)


def spans(module: cst.Module, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, Span]:
    """Character offsets (start, end) of ``nodes`` in ``module.code``."""
    wanted = set(nodes)
    if not wanted:
        return {}
    state = _State(module, wanted)
    module._codegen(state)
    return state.found
