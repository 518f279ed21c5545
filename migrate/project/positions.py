"""Code of trees, and where the few nodes that are asked about stand in it.

LibCST's PositionProvider records every node and costs more than the parse. One
code generation that notes offsets only for wanted nodes costs a quarter. Plain
code generation is here too, without the context managers that ``Module.code``
makes for positions that nobody wants.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

import libcst as cst
from libcst._nodes.internal import CodegenState

from ..names.nodes import walk
from .text import Lines

Span = tuple[int, int]


class Unfaithful(Exception):
    """LibCST has lost something (it does for some comments).

    Writing its version back would drop the user's text, and its offsets are
    not those of the file.
    """

    def __init__(self) -> None:
        super().__init__("the parser does not reproduce this file exactly")


class _Unwanted:
    """The context of a node that nobody asks about."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None


class _Recorder(_Unwanted):
    """The context of a wanted node: what is generated meanwhile is its code."""

    def __init__(self, state: _State, node: cst.CSTNode) -> None:
        self.state = state
        self.node = node
        self.start = state.offset

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.state.found[self.node] = (self.start, self.state.offset)


_UNWANTED = _Unwanted()


class _Plain(CodegenState):
    """Generates code only."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(
            default_indent=module.default_indent, default_newline=module.default_newline
        )

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Unwanted:
        return _UNWANTED


def code_of(module: cst.Module, node: cst.CSTNode | None = None) -> str:
    """What ``module.code`` or ``module.code_for_node(node)`` says, in half the time."""
    state = _Plain(module)
    (module if node is None else node)._codegen(state)
    return "".join(state.tokens)


class _State(CodegenState):
    """Generates code and notes the offsets of wanted nodes.

    The syntactic span leaves out the white space and parentheses around a node,
    as Python's own positions do.
    """

    def __init__(self, module: cst.Module, wanted: Iterable[cst.CSTNode]) -> None:
        super().__init__(
            default_indent=module.default_indent, default_newline=module.default_newline
        )
        # Identities: nodes hash through a Python function, once for each lookup.
        self.wanted = {id(node): node for node in wanted}
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
        if id(node) in self.wanted:
            self.found[node] = (self.offset, self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        if id(node) in self.wanted:
            start, end = self.found[node]
            if start == end:
                self.found[node] = (start, self.offset)

    # A context manager as LibCST's own, without the cost of making a generator
    # for every node of the file.
    def record_syntactic_position(  # type: ignore[override]
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Unwanted:
        if id(node) not in self.wanted:
            # A block's end may be asked for through its last statement.
            return _UNWANTED
        return _Recorder(self, node)


def spans(
    module: cst.Module, nodes: Iterable[cst.CSTNode]
) -> tuple[str, dict[cst.CSTNode, Span]]:
    """The module's code, and in it the offsets (start, end) of ``nodes``."""
    state = _State(module, nodes)
    module._codegen(state)
    return "".join(state.tokens), state.found


def places_of(module: cst.Module) -> tuple[Lines, dict[cst.CSTNode, Span]]:
    """The module's code, and where all nodes stand that are no layout.

    For `Resolver.about`: who asks next need not generate the code again.
    """
    code, found = spans(module, walk(module))
    return Lines(code), found


class Regions:
    """Where every node of a module stands, for one that is cut up again and again."""

    def __init__(self, module: cst.Module) -> None:
        state = _All(module)
        module._codegen(state)
        self.text = "".join(state.tokens)
        self._whole = state.whole
        self._code = {id(node): span for node, span in state.found.items()}
        # Ends of lines and lines without code, which hold the comments.
        self.lines = state.lines

    def whole(self, node: cst.CSTNode) -> Span:
        """The span of a node with all that belongs to it: its lines, parentheses."""
        return self._whole[id(node)]

    def code(self, node: cst.CSTNode) -> Span:
        """The span of a node as Python counts it."""
        return self._code.get(id(node)) or self._whole[id(node)]


_LINES: frozenset[type[cst.CSTNode]] = frozenset(
    {cst.TrailingWhitespace, cst.EmptyLine}
)


class _All(_State):
    """Notes the offsets of all nodes."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(module, ())
        self.whole: dict[int, Span] = {}
        self.lines: list[cst.TrailingWhitespace | cst.EmptyLine] = []

    def before_codegen(self, node: cst.CSTNode) -> None:
        self.whole[id(node)] = (self.offset, self.offset)
        if node.__class__ in _LINES:
            self.lines.append(node)  # type: ignore[arg-type]

    def after_codegen(self, node: cst.CSTNode) -> None:
        start, _ = self.whole[id(node)]
        self.whole[id(node)] = (start, self.offset)

    def record_syntactic_position(  # type: ignore[override]
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> _Unwanted:
        return _Recorder(self, node)
