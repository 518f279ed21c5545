"""Small changes to statements as text: what nobody reads goes, layout is mended."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence

from ...code.pure import is_pure
from ...names.ast_nodes import children as ast_children
from ...names.ast_nodes import tree_of
from ...names.ast_nodes import walk as walk_ast
from .text import Text, attribute_of_self, formatted


def indented(text: str, by: str = "    ") -> str:
    """The text with each line that has something moved to the right.

    Lines inside of strings that go over several lines stay where they are.
    """
    inside = _lines_in_strings(text)
    lines = text.split("\n")
    return "\n".join(
        line if not line or number in inside else by + line
        for number, line in enumerate(lines, 1)
    )


def commented_once(text: str, source: str) -> str:
    """The text with each comment once, and without what only parts sections.

    ``source`` is the function whose statements it has, some of them several times.
    """
    inside = _lines_in_strings(text)
    said = [line.strip() for line in source.split("\n")]
    seen: set[str] = set()
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        comment = line.strip()
        if comment.startswith("#") and number not in inside:
            if comment in seen or said.count(comment) > 1:
                continue
            seen.add(comment)
        lines.append(line)
    return "\n".join(lines)


def listed(target: str, items: Sequence[str]) -> str:
    """``target = [...]``, in one line where it is short, else a line for each item."""
    return f"{target} = {held('[]', items, len(target) + 3)}\n"


def held(around: str, items: Sequence[str], place: int) -> str:
    """Items in brackets, behind so many characters of their line."""
    line = f"{around[0]}{', '.join(items)}{around[1]}"
    if len(line) + place < 79 and "\n" not in line:
        return line
    inside = "".join(indented(f"{item},\n") for item in items)
    return f"{around[0]}\n{inside}{around[1]}"


def _lines_in_strings(text: str) -> set[int]:
    """Lines of strings over several lines; those of docstrings may move."""
    try:
        tree = tree_of(text)
    except SyntaxError:
        return set()
    docstrings = {
        id(node.body[0].value)
        for node in walk_ast(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found: set[int] = set()
    for node in walk_ast(tree, ast.Constant, ast.JoinedStr):
        if id(node) not in docstrings and node.end_lineno != node.lineno:
            code = ast.get_source_segment(text, node) or ""
            if '"""' in code or "'''" in code:  # not several side by side
                found |= {*range(node.lineno + 1, (node.end_lineno or 0) + 1)}
    return found


def aligned(start: str, call: str) -> str:
    """A call behind the start of its line, with its lines below its first argument."""
    first, *rest = call.split("\n")
    opened = first.find("(") + 1
    space = len(rest[0]) - len(rest[0].lstrip()) if rest else 0
    if space < opened or not first.endswith(",") or '"""' in call or "'''" in call:
        return start + call
    by = len(start) + opened - space
    moved = [" " * by + one if by > 0 else one[-by:] for one in rest]
    plain = all(not one[: max(-by, 0)].strip() for one in rest)
    return "\n".join([start + first, *(moved if plain else rest)])


def without_unread(lines: Sequence[str], returned: str | None) -> list[str]:
    """Statements without plain assignments to names that nothing reads later."""
    kept: list[str] = []
    wanted: set[str] = _loads(returned) if returned is not None else set()
    inner: set[str] = set()
    for line in reversed(lines):
        statement = tree_of(line).body
        first = statement[0] if len(statement) == 1 else None
        if isinstance(first, ast.Assign) and all(
            isinstance(one, (ast.Name, ast.Tuple)) for one in first.targets
        ):
            names = {
                n.id for target in first.targets for n in walk_ast(target, ast.Name)
            }
            if not names & (wanted | inner):
                continue
            wanted -= names
        wanted |= _loads(line)
        kept.append(line)
    return kept[::-1]


def without_aliases(
    lines: Sequence[str], returned: str | None
) -> tuple[list[str], str | None]:
    """Statements without second names for what has one: ``net = features``."""
    found = list(lines)
    for place, line in enumerate(lines):
        match = re.fullmatch(r"(\w+) = (\w+)\n", line)
        if match is None or match[2] in ("None", "True", "False"):
            continue
        name, other = match.groups()
        rest = [one for index, one in enumerate(found) if index != place]
        bound = [n for one in rest for n in _stores(one)]
        later = "".join(found[place + 1 :]) + (returned or "")
        read = instead(ast.Name(name, ast.Load()), other)
        start = f"{name} = "
        if later.startswith(start) and _stores(found[place + 1]) == {name}:
            # It is of use for its next value alone.
            found[place : place + 2] = ["", in_other_words(found[place + 1], read)]
            continue
        if name in bound or other in bound or name in formatted(tree_of(later)):
            continue
        found[place] = ""
        found = [*found[:place], *(in_other_words(one, read) for one in found[place:])]
        returned = None if returned is None else in_other_words(returned, read)
    return [one for one in found if one], returned


def read_by_name(
    lines: Sequence[str], returned: str | None
) -> tuple[list[str], str | None]:
    """Statements that read a value by its name where one has given it a name.

    Values that are drawn anew, or that a function of the program gives, are none.
    """
    found = list(lines)
    for place, line in enumerate(lines):
        value = _named(line)
        if value is None or not _is_fixed(value[1]):
            continue
        name, reads = value[0], _loads(ast.unparse(value[1]))
        if name in reads:
            continue
        fixed = {name} | reads
        for later in range(place + 1, len(found)):
            changes = _stores(found[later]) & fixed
            if changes and not isinstance(tree_of(found[later]).body[0], ast.Assign):
                break
            found[later] = in_other_words(found[later], instead(value[1], name))
            if changes:
                break
        else:
            if returned is not None:
                returned = in_other_words(returned, instead(value[1], name))
    return found, returned


def shared(
    made: Sequence[str], others: Sequence[list[str]], taken: Collection[str]
) -> list[str]:
    """Statements of a constructor, with attributes for what other methods call.

    They make the same again only to call it: a learning rate that changes with the
    step. ``others`` are changed; ``taken`` are attributes that mean something else.
    """
    found = list(made)
    for place, line in enumerate(made):
        value = _named(line)
        if value is None or value[0] in taken:
            continue
        name, dumped = value[0], ast.dump(value[1])

        def attribute(
            node: ast.AST, code: str = dumped, name: str = name
        ) -> str | None:
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Call):
                return None
            said = re.sub(_OWN, r"\1\2", ast.dump(node.func))
            given = ", ".join(map(ast.unparse, node.args))
            return f"self.{name}({given})" if said == code else None

        changed = [
            [in_other_words(one, attribute) for one in lines] for lines in others
        ]
        if changed == [*others]:
            continue
        for lines, new in zip(others, changed, strict=True):
            lines[:] = new
        found[place] = re.sub(rf"^{name} =", f"self.{name} =", line, flags=re.M)
        for later in range(place + 1, len(found)):
            read = instead(ast.Name(name, ast.Load()), f"self.{name}")
            found[later] = in_other_words(found[later], read)
    return found


# `self.params`, which a constructor calls `params`.
_OWN = (
    r"Attribute\(value=(Name\(id=)'self', ctx=Load\(\)\), attr=('\w+', ctx=Load\(\)\))"
)


def _named(line: str) -> tuple[str, ast.Call] | None:
    """The name that a statement gives to what a call returns."""
    body = tree_of(line).body
    one = body[0] if len(body) == 1 else None
    if not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Call):
        return None
    target = one.targets[0]
    return (target.id, one.value) if isinstance(target, ast.Name) else None


_DRAWN = re.compile("random|dropout|shuffle|multinomial|normal|uniform|sample")


def _is_fixed(value: ast.expr) -> bool:
    """Whether an expression calls nothing but functions of TensorFlow without state."""
    for one in walk_ast(value, ast.Call):
        module, _, name = ast.unparse(one.func).partition(".")
        known = module in ("tf", "__tf2__") and is_pure(f"tf.{name}")
        if not known or _DRAWN.search(name):
            return False
    return True


def instead(old: ast.expr, new: str) -> Callable[[ast.AST], str | None]:
    """What says an expression in another way."""
    dumped = ast.dump(old)
    return lambda node: new if ast.dump(node) == dumped else None


def in_other_words(code: str, said: Callable[[ast.AST], str | None]) -> str:
    """Code in which some expressions are said in another way."""
    text = Text(code)
    pending: list[ast.AST] = [*text.body]
    while pending:
        node = pending.pop()
        new = said(node)
        if new is None:
            pending += ast_children(node)
        else:
            text.put(node, new)
    return text.done()


def folded(code: str) -> str:
    """Code without what a constant decides, and rounds without an unread number."""
    text = Text(code)
    pending: list[ast.AST] = [*text.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.IfExp) and isinstance(node.test, ast.Constant):
            text.put(node, text.of(node.body if node.test.value else node.orelse))
        elif isinstance(node, ast.BoolOp) and isinstance(node.values[0], ast.Constant):
            first = node.values[0]
            rest = text.of(node)[len(text.of(first)) :].lstrip()
            goes_on = bool(first.value) is isinstance(node.op, ast.And)
            text.put(node, rest.split(None, 1)[1] if goes_on else text.of(first))
        else:
            if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
                _without_numbers(text, node)
            elif isinstance(node, ast.FunctionDef):
                _without_dicts(text, node)
            pending += ast_children(node)
    shorter = text.done()
    return code if shorter == code else folded(shorter)


def without_unread_initializers(code: str, module: str) -> str:
    """A class without initializers in attributes that no code of its module reads."""
    text = Text(code)
    for one in walk_ast(tree_of(code), ast.Assign):
        name = attribute_of_self(one.targets[0])
        made = text.of(one.value).startswith("tf_keras.initializers.")
        if name and made and len(re.findall(rf"\.{name}\b", module)) == 1:
            text.cut(one)
    return text.done()


def _without_dicts(text: Text, function: ast.FunctionDef) -> None:
    """``self.w_out`` for ``w['out']``, where `w` names parts of an object alone."""
    for one in function.body:
        if not isinstance(one, ast.Assign) or not isinstance(one.targets[0], ast.Name):
            continue
        name, entries = one.targets[0].id, _entries(one.value)
        if entries is None:
            continue
        parts = [
            n
            for n in walk_ast(function, ast.Subscript)
            if ast.unparse(n.value) == name and isinstance(n.slice, ast.Constant)
        ]
        added = [
            o
            for o in function.body
            if isinstance(o, ast.Assign) and o.targets[0] in parts
        ]
        entries += [(ast.unparse(o.targets[0].slice), o.value) for o in added]  # type: ignore[attr-defined]
        held = {key: ast.unparse(value) for key, value in entries}
        if (
            not entries
            or len(held) < len(entries)
            or any(attribute_of_self(value) is None for _, value in entries)
            or sum(n.id == name for n in walk_ast(function, ast.Name)) != 1 + len(parts)
            or any(ast.unparse(n.slice) not in held for n in parts)
        ):
            continue
        for gone in (one, *added):
            text.cut(gone)
        for n in parts:
            if isinstance(n.ctx, ast.Load):
                text.put(n, held[ast.unparse(n.slice)])


def _entries(value: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """The entries of a dict that is written out."""
    if ast.unparse(value) == "dict()":
        return []
    if not isinstance(value, ast.Dict) or None in value.keys:
        return None
    return [
        (ast.unparse(key), part)
        for key, part in zip(value.keys, value.values, strict=True)
        if key is not None
    ]


def _without_numbers(text: Text, node: ast.ListComp | ast.GeneratorExp) -> None:
    """``f(x) for i, x in enumerate(y)``, where nothing reads i."""
    for one in node.generators:
        pair, call = one.target, one.iter
        if (
            isinstance(pair, ast.Tuple)
            and isinstance(call, ast.Call)
            and ast.unparse(call.func) == "enumerate"
            and len(call.args) == 1
            and not call.keywords
            and isinstance(pair.elts[0], ast.Name)
            and pair.elts[0].id not in _loads(ast.unparse(node))
        ):
            said = text.of(pair.elts[1])
            bare = isinstance(pair.elts[1], ast.Tuple) and said[:1] == "("
            text.put(pair, said[1:-1] if bare else said)
            text.put(call, text.of(call.args[0]))


CASTS = {
    "tf.to_double": "float64",
    "tf.to_float": "float32",
    "tf.to_int32": "int32",
    "tf.to_int64": "int64",
}


def with_casts(code: str) -> str:
    """An expression with ``tf.cast(x, tf.float32)`` for ``tf.to_float(x)``."""
    text = Text(f"({code}\n)")
    for node in walk_ast(text.body[0], ast.Call):
        kind = CASTS.get(ast.unparse(node.func))
        if kind is not None and len(node.args) == 1 and not node.keywords:
            _, end = text.span(node)
            text.put(node.func, "tf.cast")
            text.replace(end - 1, end - 1, f", tf.{kind}")
    return text.done()[1:-2]


def _stores(code: str) -> set[str]:
    return _names(code, ast.Store)


def returning(lines: Sequence[str], returned: str) -> tuple[list[str], str]:
    """``x = f(y)`` and ``return x`` become ``return f(y)``; comments stay."""
    if lines and _gives(lines[-1], returned):
        above, start, value = re.split(
            rf"(?m)^({returned}\s*=\s*)", lines[-1], maxsplit=1
        )
        value = _moved(value.strip(), len("return ") - len(start), len(start))
        return [*lines[:-1], *above.splitlines(keepends=True)], value
    return list(lines), returned


def _moved(value: str, columns: int, start: int) -> str:
    """An expression whose further lines stood below its first one, and do so again."""
    inside = _lines_in_strings(value)
    first, *rest = value.split("\n")
    depth = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    if inside or not depth or min(depth) <= start:
        return value
    if columns < 0:
        return "\n".join([first, *(line[-columns:] for line in rest)])
    return "\n".join([first, *(" " * columns + line for line in rest)])


def with_attributes(lines: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Statements that give values to attributes, without a name in between."""
    lines = list(lines)
    for attribute, value in values.items():
        made = [line for line in lines if _gives(line, value)]
        if len(made) == 1 and not any(value in _loads(line) for line in lines):
            changed = re.sub(
                rf"(?m)^{value} =", f"self.{attribute} =", made[0], count=1
            )
            lines[lines.index(made[0])] = changed
        else:
            lines.append(f"self.{attribute} = {value}\n")
    return lines


def _gives(line: str, name: str) -> bool:
    """A statement gives a name its value, and does nothing else."""
    last = tree_of(line).body if name.isidentifier() else []
    one = last[0] if len(last) == 1 else None
    return (
        isinstance(one, ast.Assign)
        and len(one.targets) == 1
        and isinstance(one.targets[0], ast.Name)
        and one.targets[0].id == name
    )


def _loads(code: str) -> set[str]:
    return _names(code, ast.Load, ast.Del)


def _names(code: str, *contexts: type[ast.expr_context]) -> set[str]:
    return {
        node.id
        for node in walk_ast(tree_of(code), ast.Name)
        if isinstance(node.ctx, contexts)
    }
