"""Functions within functions, whose layers are made where these call them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from ...code.tree import Tree, walk
from ...names.ast_nodes import parents_of
from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts
from .code import dotted
from .text import (
    Text,
    attribute_of_self,
    bound_names,
    loads_in,
    names_in,
    parameters_of,
    place_of,
    stores_in,
)

MAKES_LAYERS = re.compile(
    r"\blayers\.\w|\bslim\.\w|\bget_variable\(|\bVariable\(|\wCell\("
)
_LAYER = re.compile(r"(tf\.layers|tf\.contrib\.layers|slim|layers)\.\w+")
_MOST = 40


def makes_layers(tree: Tree, function: cst.CSTNode | None, most: int = 8) -> bool:
    """Whether a function makes layers, or calls others of its file that do."""
    if not isinstance(function, cst.FunctionDef) or not most:
        return False
    return MAKES_LAYERS.search(tree.excerpt(function)) is not None or any(
        makes_layers(tree, tree.resolver.definition(one.func), most - 1)
        for one in walk(function.body, cst.Call)
    )


def with_local_functions_apart(
    parsed: ParsedModule, facts: ProjectFacts
) -> ParsedModule:
    """The file with functions that make layers beside those that they stand in.

    They are given what they read of these. A function that is handed about stays. What
    a name is that has some arguments of a layer, is written out where it is called.
    """
    if MAKES_LAYERS.search(parsed.source.text) is None:
        return parsed
    others = [*facts.texts_of_importers(parsed.path)]
    for _ in range(_MOST):
        code = _once(parsed.source.text, "\n".join(others))
        if code is None:
            break
        parsed = facts.module_of(parsed.source.with_text(code))
    return parsed


def _once(code: str, others: str) -> str | None:
    text = Text(code)
    if _written_out(text, others) or _defined(text):
        return text.done()
    makers = _makers(text)
    for outer in text.body:
        for inner in getattr(outer, "body", ()):
            if not isinstance(inner, ast.FunctionDef) or inner.name not in makers:
                continue
            if isinstance(outer, ast.FunctionDef) and _moved(text, outer, inner):
                return text.done()
            if (
                isinstance(outer, ast.ClassDef)
                and re.search(rf"\.{inner.name}\b", others) is None
                and _moved_method(text, outer, inner)
            ):
                return text.done()
    return None


def _written_out(text: Text, others: str) -> bool:
    """``dense = partial(tf.layers.dense, ...)``: the layer where it is called."""
    module = ast.Module(text.body, [])
    blocks: list[ast.Module | ast.FunctionDef] = [module]
    for outer in [*blocks, *walk_ast(module, ast.FunctionDef)]:
        for made in outer.body:
            value = made.value if isinstance(made, ast.Assign) else None
            if (
                not isinstance(made, ast.Assign)
                or not isinstance(value, ast.Call)
                or dotted(value.func) not in ("functools.partial", "partial")
                or len(value.args) != 1
                or _LAYER.fullmatch(text.of(value.args[0])) is None
                or None in [one.arg for one in value.keywords]
            ):
                continue
            name = dotted(made.targets[0])
            reads = [
                n for n in names_in(outer) if n.id == name and n not in made.targets
            ]
            above = parents_of(outer)
            calls = [above[one] for one in reads]
            held = {n.id for one in value.keywords for n in names_in(one)}
            held |= {name} if outer is module else set()
            later = [one for one in stores_in(outer) if place_of(one) > place_of(made)]
            if outer is module and re.search(rf"\b{name}\b", others):
                continue
            if held & {one.id for one in later} or not all(
                isinstance(call, ast.Call)
                and call.func is one
                and None not in [other.arg for other in call.keywords]
                for call, one in zip(calls, reads, strict=True)
            ):
                continue
            for call in calls:
                assert isinstance(call, ast.Call)
                given = {one.arg for one in call.keywords}
                more = [text.of(o) for o in value.keywords if o.arg not in given]
                text.put(call.func, text.of(value.args[0]))
                if more:
                    text.add_argument(call, ", ".join(more))
            (text.cut if outer is module else text.drop)(made)
            return True
    return False


def _defined(text: Text) -> bool:
    """``fc = lambda x, n: tf.layers.dense(x, n)``: a function of this name."""
    called = {dotted(one.func) for top in text.body for one in walk_ast(top, ast.Call)}
    for made in [n for top in text.body for n in walk_ast(top, ast.Assign)]:
        name, value = dotted(made.targets[0]), made.value
        if (
            isinstance(value, ast.Lambda)
            and name in called
            and name.isidentifier()
            and len(made.targets) == 1
            and MAKES_LAYERS.search(text.of(value.body)) is not None
        ):
            head = f"def {name}({ast.unparse(value.args)}):"
            body = f"    return {text.of(value.body)}"
            text.put(made, f"{head}\n{text.indent(made)}{body}")
            return True
    return False


def _makers(text: Text) -> set[str]:
    """Functions that make layers, or call others that do."""
    functions = [one for top in text.body for one in walk_ast(top, ast.FunctionDef)]
    found = {one.name for one in functions if MAKES_LAYERS.search(text.of(one))}
    while True:
        more = {
            one.name
            for one in functions
            if any(
                isinstance(node, ast.Call) and dotted(node.func) in found
                for node in walk_ast(one)
            )
        }
        if more <= found:
            return found
        found |= more


def _moved(text: Text, outer: ast.FunctionDef, inner: ast.FunctionDef) -> bool:
    """Puts a function before the one that it stands in."""
    arguments = inner.args
    own = bound_names(outer)
    bound = bound_names(inner)
    loads = loads_in(inner)
    read = sorted((one for one in loads if one.id in own - bound), key=place_of)
    names = list(dict.fromkeys(one.id for one in read))
    calls = list(_calls(outer, inner))
    if not _is_plain(inner) or not calls or None in calls:
        return False
    # One that reads nothing is in the way of layers of TensorFlow 1 only.
    free = names or "keras.layers" not in text.of(inner)
    if inner.name in names or not (free or "mode" in parameters_of(outer)):
        return False
    first = min((one for one in calls if one is not None), key=place_of)
    if not {*names} <= _surely_bound(outer, first) or "self" in names:
        return False
    defaults = {one.id for part in arguments.defaults for one in names_in(part)}
    if defaults & own or _is_taken(text, outer, inner):
        return False
    required = len(arguments.args) - len(arguments.defaults)
    for call in calls:
        assert call is not None
        told = {name: name for name in names}
        _give(text, call, parameters_of(inner), required, told, inner.name)
    _put_before(text, outer, inner, required, names)
    return True


def _moved_method(text: Text, outer: ast.ClassDef, inner: ast.FunctionDef) -> bool:
    """Puts a method of a network before its class: it is given what it reads of it."""
    methods = [one for one in outer.body if isinstance(one, ast.FunctionDef)]
    known = {one.name for one in methods}
    own = {*walk_ast(inner)}
    reads = [one for one in own if attribute_of_self(one)]
    reads.sort(key=place_of)
    names = list(dict.fromkeys(str(attribute_of_self(one)) for one in reads))
    given = parameters_of(inner)
    calls = [
        one
        for one in walk_ast(outer, ast.Call)
        if attribute_of_self(one.func) == inner.name
    ]
    named = [
        one
        for top in text.body
        for one in walk_ast(top, ast.Attribute)
        if one.attr == inner.name
    ]
    stored = {
        attribute_of_self(one)
        for method in methods
        for one in walk_ast(method, ast.Attribute)
        if isinstance(one.ctx, ast.Store)
        if method.name != "__init__"
    }
    if (
        not _is_plain(inner)
        or "__call__" not in known
        or inner.name.startswith("__")
        or given[:1] != ["self"]
        or len(reads) != sum(one.id == "self" for one in names_in(inner))
        or {*names} & (known | stored | bound_names(inner))
        or len(calls) not in range(1, len(named) + 1)
        or len(calls) < len(named)
        or any(one in own or _is_starred(one) for one in calls)
        or _is_taken(text, outer, inner)
    ):
        return False
    required = len(given) - len(inner.args.defaults)
    told = {name: f"self.{name}" for name in names}
    for call in calls:
        _give(text, call, given[1:], required - 1, told, inner.name)
    _put_before(text, outer, inner, required, names)
    return True


def _is_plain(function: ast.FunctionDef) -> bool:
    """All its parameters have names and places, and it does nothing strange."""
    arguments = function.args
    return not (
        function.decorator_list
        or arguments.vararg
        or arguments.kwarg
        or arguments.kwonlyargs
        or arguments.posonlyargs
        or any(isinstance(one, _STRANGE) for one in walk_ast(function))
    )


def _is_starred(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(
        one.arg is None for one in call.keywords
    )


_STRANGE = (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Await)
_SCOPES = (
    ast.FunctionDef, ast.Lambda, ast.ListComp, ast.DictComp, ast.SetComp,
    ast.GeneratorExp,
)  # fmt: skip


def _calls(outer: ast.FunctionDef, inner: ast.FunctionDef) -> Iterator[ast.Call | None]:
    """Calls of a function; None for each other use."""
    above = parents_of(outer)
    own = {*walk_ast(inner)}
    for node in names_in(outer):
        if node.id != inner.name:
            continue
        call = above[node]
        around: ast.AST = node
        shadowed = False
        while around is not outer:
            around = above[around]
            if isinstance(around, _SCOPES) and around is not outer:
                shadowed = shadowed or not _binds_nothing(around, inner)
        whole = isinstance(call, ast.Call) and call.func is node
        starred = isinstance(call, ast.Call) and _is_starred(call)
        yield (
            call
            if isinstance(call, ast.Call)
            and whole
            and not starred
            and not shadowed
            and node not in own
            else None
        )


def _binds_nothing(scope: ast.AST, inner: ast.FunctionDef) -> bool:
    """What a function reads has the same meaning in a scope around its call."""
    stored = {one.id for one in stores_in(scope)} | {
        one.arg for one in walk_ast(scope, ast.arg)
    }
    loads = {one.id for one in names_in(inner)} - bound_names(inner)
    return not stored & loads


def _surely_bound(outer: ast.FunctionDef, call: ast.Call) -> set[str]:
    """Names that have a value when a function is first called."""
    found = {one.arg for one in walk_ast(outer.args, ast.arg)}

    def block(statements: Sequence[ast.stmt]) -> None:
        for one in statements:
            if any(node is call for node in walk_ast(one)) and not isinstance(
                one, ast.With
            ):
                return
            if isinstance(one, ast.With):
                block(one.body)
            elif isinstance(one, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
                found.update(name.id for name in stores_in(one))

    block(outer.body)
    return found


def _is_taken(text: Text, outer: ast.stmt, inner: ast.FunctionDef) -> bool:
    """Something else has the function's name."""
    return any(
        (isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one.name == inner.name)
        or (isinstance(one, ast.arg) and one.arg == inner.name)
        or (
            isinstance(one, ast.Name)
            and one.id == inner.name
            and (isinstance(one.ctx, ast.Store) or top is not outer)
        )
        or (isinstance(one, ast.alias) and (one.asname or one.name) == inner.name)
        for top in text.body
        for one in walk_ast(top)
        if one is not inner
    )


def _give(
    text: Text,
    call: ast.Call,
    parameters: Sequence[str],
    required: int,
    names: Mapping[str, str],
    function: str,
) -> None:
    """Gives a call what the function reads besides its arguments."""
    parts = [text.of(one) for one in call.args[:required]]
    placed = len(parts) == required
    parts += names.values() if placed else []
    parts += [
        f"{name}={text.of(one)}"
        for name, one in zip(parameters[required:], call.args[required:], strict=False)
    ]
    parts += [f"{one.arg}={text.of(one.value)}" for one in call.keywords]
    more = [f"{name}={told}" for name, told in names.items()]
    parts += [] if placed else more
    text.put(call, f"{function}({', '.join(parts)})")


def _put_before(
    text: Text,
    outer: ast.stmt,
    inner: ast.FunctionDef,
    required: int,
    names: Sequence[str],
) -> None:
    arguments = inner.args
    shown = [one.arg for one in arguments.args[:required]] + [*names]
    shown = [one for one in shown if one != "self"]
    shown += [
        f"{one.arg}={text.of(default)}"
        for one, default in zip(
            arguments.args[required:], arguments.defaults, strict=True
        )
    ]
    margin = text.indent(inner)
    start, end = text.span(inner.body[0])[0], text.span(inner)[1]
    start = text.code.rfind("\n", 0, start) + 1
    lines = text.code[start:end].split("\n")
    body = "\n".join(line.removeprefix(margin) for line in lines)
    if isinstance(outer, ast.ClassDef):
        body = re.sub(r"\bself\.(?=\w)", "", body)
    place, _ = text.span(outer)
    text.cut(inner)
    text.replace(place, place, f"def {inner.name}({', '.join(shown)}):\n{body}\n\n\n")
