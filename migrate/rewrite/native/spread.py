"""Long calls, with a line for each argument."""

from __future__ import annotations

import ast

from ...names.ast_nodes import expression_of

_WIDTH = 80
# Loops are broken early: what stands around them may be moved to the right.
_LOOP_WIDTH = 66


def spread(text: str) -> str:
    """An expression in one line if it fits, else with its arguments below each other.

    Other texts than calls and lists, which nobody can break, stay as they are.
    """
    return _Spread(text).written(expression_of(text), 0, 0)


class _Spread:
    """Writes the nodes of one expression."""

    def __init__(self, text: str) -> None:
        self.text = text

    def source(self, node: ast.AST) -> str:
        """The text of a node as it was."""
        found = ast.get_source_segment(self.text, node)
        assert found is not None
        return found

    def written(self, node: ast.AST, depth: int, used: int) -> str:
        """The node, some columns of whose first line are used by what stands before."""
        flat = self.source(node)
        held = node.value if isinstance(node, ast.Starred) else node
        loop = isinstance(held, ast.GeneratorExp | ast.ListComp)
        width = _LOOP_WIDTH if loop else _WIDTH
        if 4 * depth + used + len(flat) <= width or "\n" in flat:
            return flat
        if isinstance(node, ast.keyword):
            start = f"{node.arg}="
            return start + self.written(node.value, depth, used + len(start))
        if isinstance(node, ast.Lambda) and not node.args.args:
            return "lambda: " + self.written(node.body, depth, used + len("lambda: "))
        if isinstance(node, ast.Starred) and isinstance(held, ast.IfExp):
            inner, outer = "    " * (depth + 1), "    " * depth
            body = self.written(held.body, depth + 1, 0)
            test, other = map(self.source, (held.test, held.orelse))
            return f"*(\n{inner}{body}\n{inner}if {test}\n{inner}else {other}\n{outer})"
        if isinstance(node, ast.Starred):
            return "*" + self.written(node.value, depth, used + 1)
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            inner, outer = "    " * (depth + 1), "    " * depth
            body = self.written(node.elt, depth + 1, 0)
            after = flat[len(flat[0] + self.source(node.elt)) : -1].strip()
            return f"{flat[0]}\n{inner}{body}\n{inner}{after}\n{outer}{flat[-1]}"
        if isinstance(node, ast.List):
            return self.lines("[", node.elts, "]", depth)
        if not isinstance(node, ast.Call) or not (node.args or node.keywords):
            return flat
        arguments: list[ast.AST] = [*node.args, *node.keywords]
        function = self.source(node.func)
        plain = isinstance(node.func, ast.Name | ast.Attribute)
        start = f"{function}(" if plain else f"({function})("
        # One list in a call begins on the line of the call.
        if len(arguments) == 1 and isinstance(
            node.args[0] if node.args else None, ast.List
        ):
            return start + self.written(arguments[0], depth, _WIDTH) + ")"
        return self.lines(start, arguments, ")", depth)

    def lines(
        self, start: str, items: list[ast.AST] | list[ast.expr], end: str, depth: int
    ) -> str:
        """Brackets with a line for each item."""
        inner = "    " * (depth + 1)
        written = [inner + self.written(item, depth + 1, 1) for item in items]
        return "\n".join(
            [start, *(line + "," for line in written), "    " * depth + end]
        )
