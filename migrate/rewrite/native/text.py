"""Edits of source text by the nodes of its tree, and line breaks for what is new."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache

from ...names.ast_nodes import children as ast_children
from ...names.ast_nodes import expression_of, parents_of, tree_of
from ...names.ast_nodes import walk as walk_ast
from ...names.table import lookup
from ...project.long_lines import WIDTH
from .code import Refused

# Stands for a statement that went elsewhere, until all edits are made.
GONE = "_gone_"
_INDENT = " " * 4
# Expressions that no operator beside them tears apart.
HELD = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.List, ast.Tuple,
    ast.Dict, ast.ListComp, ast.JoinedStr,
)  # fmt: skip


class Text:
    """Source text with its tree. Edits are collected, and made at once by `done`.

    The text may be indented as a whole. Edits must not overlap.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        head = "if 1:\n" if code[:1] in (" ", "\t") else ""
        tree = tree_of(head + code)
        self.body: list[ast.stmt] = tree.body
        if head:
            first = tree.body[0]
            assert isinstance(first, ast.If)
            self.body = first.body
        self._skipped = 1 + bool(head)
        self._lines = code.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[tuple[int, int, str]] = []

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends."""
        line, column = place_of(node)
        for one in getattr(node, "decorator_list", ()):
            line, column = min((line, column), (one.lineno, one.col_offset - 1))
        end = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return self._offset(line, column), self._offset(*end)

    def _offset(self, line: int, column: int) -> int:
        index = line - self._skipped
        if index >= len(self._lines):
            return len(self.code)
        text = self._lines[index]
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self._starts[index] + column

    def of(self, node: ast.AST) -> str:
        """The source of a node."""
        start, end = self.span(node)
        return self.code[start:end]

    def indent(self, node: ast.stmt) -> str:
        """The white space before a statement."""
        start, _ = self.span(node)
        line = self.code.rfind("\n", 0, start) + 1
        return self.code[line:start]

    def put(self, node: ast.AST, code: str) -> None:
        """Puts code in the place of a node."""
        start, end = self.span(node)
        self._edits.append((start, end, code))

    def drop(self, statement: ast.stmt) -> None:
        """Takes a statement away, and the comment behind it; those above it stay."""
        start, end = self.span(statement)
        self.replace(start, end + len(self.behind(statement)), GONE)

    def behind(self, statement: ast.stmt) -> str:
        """The comment in the line in which a statement ends, with the space before."""
        _, end = self.span(statement)
        rest = self.code[end : self._line_end(end)].rstrip("\r\n")
        return rest if rest.lstrip().startswith("#") else ""

    def cut(self, definition: ast.stmt) -> None:
        """Takes a definition away, with the blank lines below it.

        An assignment goes with those above it, where fewer are.
        """
        start, end = self.span(definition)
        start = self.code.rfind("\n", 0, start) + 1
        start = self.comments_above(start, self.indent(definition))
        end = after = self._line_end(end)
        while after < len(self.code) and not self._line(after).strip():
            after = self._line_end(after)
        above = len(self.code[:start].rstrip("\n")) + 1
        if isinstance(definition, ast.Assign) and 0 <= start - above < after - end:
            start = above
        elif self._line(after).startswith(f"{self.indent(definition)}"):
            end = after
        else:
            # It is the last of its block.
            before = self.code.rfind("\n", 0, start - 1) + 1
            while start and not self.code[before:start].strip():
                start, before = before, self.code.rfind("\n", 0, before - 1) + 1
        self.replace(start, end, "")

    def _line(self, offset: int) -> str:
        return self.code[offset : self._line_end(offset)]

    def replace(self, start: int, end: int, code: str) -> None:
        """Puts code in the place of a stretch of text."""
        self._edits.append((start, end, code))

    def add_argument(self, call: ast.Call, code: str) -> None:
        """Adds an argument to a call, behind all others."""
        given = [*call.args, *call.keywords]
        end = self.span(call)[1] - 1
        if given:
            _, last = self.span(max(given, key=place_of))
            # It may be in brackets of its own, and a comma behind it.
            brackets = re.match(r"(\s*\))*", self.code[last:end])
            end = last + (brackets.end() if brackets else 0)
        self.replace(end, end, f", {code}" if given else code)

    def add(self, statement: ast.stmt, *lines: str, below: bool = False) -> None:
        """Puts statements before (or below) one, as deep as it is."""
        indent = self.indent(statement)
        start, end = self.span(statement)
        if below:
            place = self._line_end(end)
            if not self.code[:place].endswith("\n"):
                indent = f"\n{indent}"
        else:
            place = self.comments_above(self.code.rfind("\n", 0, start) + 1, indent)
        new = "".join(f"{indent}{one}\n" for one in lines)
        self._edits.append((place, place, new))

    def _line_end(self, offset: int) -> int:
        end = self.code.find("\n", offset)
        return len(self.code) if end < 0 else end + 1

    def comments_above(self, start: int, indent: str) -> int:
        """Where the comments begin that stand right above a line."""
        while start:
            line = self.code.rfind("\n", 0, start - 1) + 1
            if not self.code[line:start].startswith(f"{indent}#"):
                break
            start = line
        return start

    def dissolve(self, block: ast.With) -> None:
        """Puts the statements of a block in its place."""
        start, end = self.span(block)
        body_start, _ = self.span(block.body[0])
        line = self.code.rfind("\n", 0, body_start) + 1
        if line <= start:
            self._edits.append((start, body_start, ""))
            return
        last = block.items[-1]
        colon = self.code.index(
            ":", self.span(last.optional_vars or last.context_expr)[1]
        )
        line = min(line, self._line_end(colon))
        margin = len(self.indent(block.body[0])) - len(self.indent(block))
        end = self._with_comments(end, self.indent(block))
        kept = "".join(self._dedented(block, line, end, margin))
        self._edits.append((start, end, kept.removeprefix(self.indent(block))))

    def _with_comments(self, end: int, outer: str) -> int:
        """The end of a block with the comments that still belong to it."""
        start = self._line_end(end)
        while start < len(self.code):
            after = self._line_end(start)
            line = self.code[start:after]
            margin = len(line) - len(line.lstrip())
            inside = line[margin:].startswith("#") and margin > len(outer)
            if line.strip() and not inside:
                break
            end = start + len(line.rstrip()) if inside else end
            start = after
        return end

    def _dedented(
        self, block: ast.With, start: int, end: int, margin: int
    ) -> Iterator[str]:
        within = {
            number
            for node in walk_ast(block, ast.Constant, ast.JoinedStr)
            if node.end_lineno != node.lineno
            for number in range(node.lineno + 1, (node.end_lineno or 0) + 1)
        }
        offset = start
        while offset < end:
            after = min(self._line_end(offset), end)
            number = self.code.count("\n", 0, offset) + self._skipped
            line = self.code[offset:after]
            if number not in within and not line[:margin].strip():
                line = line[margin:] if line.strip() else line.lstrip(" \t")
            yield line
            offset = after

    def done(self) -> str:
        """The text with all edits made."""
        parts: list[str] = []
        at = 0
        for start, end, code in sorted(self._edits, key=lambda one: one[:2]):
            if start < at:
                raise Refused("calls of its layers stand within one another")
            parts += [self.code[at:start], code]
            at = end
        return "".join([*parts, self.code[at:]])


def without_gone(code: str) -> str:
    """The code without the places of statements that went elsewhere."""
    if GONE not in code:
        return code
    text = Text(code)
    for node in walk_ast(ast.Module(text.body, [])):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            gone = [*filter(_is_gone, block)] if isinstance(block, list) else []
            whole = gone == block
            if gone and whole:
                text.put(gone[0], "pass")
            for one in gone[whole:]:
                _cut(text, one)
    return text.done()


def _is_gone(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and getattr(node.value, "id", "") == GONE


def _cut(text: Text, statement: ast.stmt) -> None:
    start, end = text.span(statement)
    line = text.code.rfind("\n", 0, start) + 1
    after = text._line_end(end)
    if "#" in text.code[end:after]:
        line, after = start, end
    text.replace(line, after, "")


# -- names


def bound_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names that a function binds, its parameters among them."""
    given = function.args
    found = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    found |= {one.arg for one in (given.vararg, given.kwarg) if one is not None}
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        pending += ast_children(node)
    return found


def names_in(node: ast.AST) -> list[ast.Name]:
    """The names in some code."""
    return walk_ast(node, ast.Name)


def formatted(node: ast.AST) -> set[str]:
    """Names in texts that are formatted, where their places are not known."""
    return {one.id for text in walk_ast(node, ast.JoinedStr) for one in names_in(text)}


def loads_in(node: ast.AST) -> list[ast.Name]:
    """The names in some code that it reads."""
    return [one for one in names_in(node) if isinstance(one.ctx, ast.Load)]


def stores_in(node: ast.AST) -> list[ast.Name]:
    """The names in some code that it gives values."""
    return [one for one in names_in(node) if isinstance(one.ctx, ast.Store)]


def substituted(code: str, names: Mapping[str, str]) -> str:
    """An expression with other expressions for names."""
    text = Text(f"({code}\n)")
    above = parents_of(text.body[0])
    free = (
        ast.Call,
        ast.keyword,
        ast.Expr,
        ast.List,
        ast.Tuple,
        ast.Dict,
        ast.Subscript,
    )
    for one in names_in(text.body[0]):
        if one.id in names:
            new = names[one.id]
            held = expression_of(f"({new}\n)")
            alone = isinstance(above[one], free) or isinstance(held, HELD)
            text.put(one, new if alone else f"({new})")
    return text.done()[1:-2]


def place_of(node: ast.AST) -> tuple[int, int]:
    """Line and column of a node."""
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def attribute_of_self(node: ast.AST | None) -> str | None:
    """`x` of `self.x`."""
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ):
        return node.attr
    return None


def parameters_of(function: ast.FunctionDef) -> list[str]:
    """Names of the parameters that may be given by place."""
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args)]


def defaults_of(defined: ast.FunctionDef) -> dict[str, ast.expr]:
    """What parameters are where nothing is given for them."""
    names = parameters_of(defined)
    found = defined.args.defaults
    return dict(zip(names[len(names) - len(found) :], found, strict=True))


def elements(target: ast.expr, over: ast.expr, attribute: str) -> set[str]:
    """Names of a loop's elements that come from a list of layers."""
    if attribute_of_self(over) == attribute:
        return {target.id} if isinstance(target, ast.Name) else set()
    if not isinstance(over, ast.Call) or ast.unparse(over.func) not in (
        "zip",
        "enumerate",
    ):
        return set()
    parts: Sequence[ast.expr] = over.args
    if ast.unparse(over.func) == "enumerate" and isinstance(target, ast.Tuple):
        return elements(target.elts[1], over.args[0], attribute)
    if not isinstance(target, ast.Tuple) or len(target.elts) != len(parts):
        return set()
    found: set[str] = set()
    for one, part in zip(target.elts, parts, strict=True):
        found |= elements(one, part, attribute)
    return found


# -- line breaks


@lru_cache(maxsize=1024)
def _tokens(code: str) -> Sequence[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, IndentationError):
        return []


_SKIPPED = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.DEDENT,
)
_OPEN, _CLOSE = "([{", ")]}"


def on_one_line(code: str) -> str:
    """A statement or an expression on one line; with comments inside, as it is."""
    if "\n" not in code.strip():
        return _without_last_comma(code.strip())
    found = _tokens(code.strip() + "\n")
    if not found or any(one.type == tokenize.COMMENT for one in found):
        return code.strip()
    if any(one.type == tokenize.STRING and "\n" in one.string for one in found):
        return code.strip()
    parts: list[str] = []
    before: tokenize.TokenInfo | None = None
    for one in found:
        if one.type in _SKIPPED or not one.string:
            continue
        if before is not None:
            if before.end[0] != one.start[0]:
                tight = (
                    before.string in _OPEN or one.string in _CLOSE or one.string == "."
                )
                parts.append("" if tight else " ")
            else:
                parts.append(" " * (one.start[1] - before.end[1]))
        parts.append(one.string)
        before = one
    return _without_last_comma("".join(parts))


def _without_last_comma(code: str) -> str:
    """``f(a, b, )`` without the comma; that of ``(a,)`` has to stay."""
    found = [one for one in _tokens(code + "\n") if one.type not in _SKIPPED]
    cut: list[tuple[int, int]] = []
    stack: list[tuple[int, int]] = []  # place of the bracket, commas within
    for place, one in enumerate(found):
        if one.type != tokenize.OP:
            continue
        if one.string in _OPEN:
            stack.append((place, 0))
        elif one.string == "," and stack:
            stack[-1] = (stack[-1][0], stack[-1][1] + 1)
        elif one.string in _CLOSE and stack:
            start, commas = stack.pop()
            last = found[place - 1]
            called = start > 0 and (
                (
                    found[start - 1].type == tokenize.NAME
                    and found[start - 1].string
                    not in ("in", "return", "and", "or", "not", "if", "else")
                )
                or found[start - 1].string in _CLOSE
            )
            tuple_of_one = commas == 1 and not (called and one.string == ")")
            if last.string == "," and not (tuple_of_one and one.string in ")]"):
                cut.append((last.start[1], one.start[1]))
    for start, end in reversed(cut):
        code = code[:start] + code[end:]
    return code


def fitted(code: str, indent: str, width: int) -> str:
    """A statement on one line, broken as black does where it is too long."""
    return "\n".join(_broken(on_one_line(code), indent, width))


def with_lines_fitted(
    code: str, column: int, step: int, known: Container[str] = ()
) -> str:
    """A module whose statements that get too long are broken.

    ``known`` are lines as their author broke them, which stay. The module moves to a
    column of a file with another indentation, and gets the names that the rules of
    symbols write.
    """
    lines = code.splitlines()
    for node in walk_ast(tree_of(code), ast.stmt):
        inside = getattr(node, "body", None)
        end = inside[0].lineno - 1 if inside else node.end_lineno
        line = lines[node.lineno - 1]
        written = lines[node.lineno - 1 : node.end_lineno]
        if not inside and any(
            len(_today(one)) + column > WIDTH and one.strip() not in known
            for one in written
        ):
            # What stands for the calls of several lines has made these long.
            whole = on_one_line("\n".join(written))
            if "\n" not in whole:
                line, end = line[: len(line) - len(line.lstrip())] + whole, node.lineno
                lines[node.lineno : node.end_lineno] = [GONE] * len(written[1:])
        longer = len(_today(line)) - len(line)
        if end == node.lineno and "#" not in line:
            indent = line[: len(line) - len(line.lstrip())]
            depth = column + len(indent) // len(_INDENT) * step
            width = WIDTH - longer - depth + len(indent)
            parts = _broken(line.strip(), indent, width)
            lines[node.lineno - 1] = "\n".join(parts)
    return "\n".join(one for one in lines if one != GONE) + "\n"


def _today(code: str) -> str:
    """The code with the names of TF 2."""

    def name_today(found: re.Match[str]) -> str:
        move = lookup(found[0])
        return move.to if move is not None else found[0]

    return re.sub(r"\btf(?:\.[A-Za-z_]\w*)+", name_today, code)


def _broken(line: str, indent: str, width: int) -> list[str]:
    """The lines of a statement, or of a part of one."""
    if "\n" in line or len(indent) + len(line) <= width:
        return [indent + line]
    for start, end in reversed(_pairs(line)):
        while line[start + 1] in _OPEN and _pairs(line[start + 1 : end]) == [
            (0, end - start - 2)
        ]:
            # A list alone in the brackets of a call: they open and close together.
            start, end = start + 1, end - 1
        head, body, tail = line[: start + 1], line[start + 1 : end], line[end:]
        if not body.strip() or len(indent) + len(head) > width:
            continue
        inner = indent + _INDENT
        if len(inner) + len(body) <= width:
            return [indent + head, inner + body, *_broken(tail, indent, width)]
        parts = _splits(body, ("for",))
        comma = ""
        if len(parts) > 1:
            parts = _splits(body, ("for", "if"))
        else:
            parts, comma = _splits(body, (",",)), ","
            if len(parts) == 1 and not body.rstrip().endswith(","):
                parts, comma = _splits(body, ("+", "-")), ""
        lines = [
            one for part in parts for one in _broken(part.strip() + comma, inner, width)
        ]
        return [indent + head, *lines, *_broken(tail, indent, width)]
    return [indent + line]


def _pairs(line: str) -> list[tuple[int, int]]:
    """The outermost brackets of a line."""
    found: list[tuple[int, int]] = []
    depth = 0
    start = 0
    for token in _tokens(line + "\n"):
        if token.type != tokenize.OP:
            continue
        if token.string in _OPEN:
            if not depth:
                start = token.start[1]
            depth += 1
        elif token.string in _CLOSE:
            depth -= 1
            if not depth:
                found.append((start, token.start[1]))
    return found


def _splits(body: str, words: tuple[str, ...]) -> list[str]:
    """Parts of an expression: cut at commas, or before other words, at its top."""
    cuts: list[int] = []
    depth = lambdas = 0
    last = ""
    for token in _tokens(f"({body})\n"):
        if token.type == tokenize.OP and token.string in _OPEN:
            depth += 1
        elif token.type == tokenize.OP and token.string in _CLOSE:
            depth -= 1
        elif depth == 1 and token.string == "lambda":
            lambdas += 1
        elif depth == 1 and token.string == ":" and lambdas:
            lambdas -= 1
        elif depth == 1 and token.string in words and not lambdas:
            unary = token.string in ("+", "-") and last in ("(", *"=,+-*/")
            if not unary and not (token.string == "if" and not cuts):
                cuts.append(token.start[1] - 1)
        last = token.string
    skipped = int(words == (",",))
    starts, ends = [0, *(one + skipped for one in cuts)], [*cuts, len(body)]
    parts = [body[start:end] for start, end in zip(starts, ends, strict=True)]
    return [one for one in parts if one.strip()]
