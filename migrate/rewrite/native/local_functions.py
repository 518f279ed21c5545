"""Functions within functions, whose layers are made where these call them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from ...code.names import fresh
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

    So are methods of networks, and those that their class calls several times. They are
    given what they read of these. A function that is handed about stays. What a name is
    that has some arguments of a layer, is written out where it is called.
    """
    if MAKES_LAYERS.search(parsed.source.text) is None:
        return parsed
    others = "\n".join(facts.texts_of_importers(parsed.path))
    for _ in range(_MOST):
        text = Text(parsed.source.text)
        if not _once(text, others):
            break
        parsed = facts.module_of(parsed.source.with_text(text.done()))
    return parsed


def _once(text: Text, others: str) -> bool:
    if _written_out(text, others) or _defined(text):
        return True
    makers = _makers(text)
    return any(
        (isinstance(outer, ast.FunctionDef) and _moved(text, outer, inner))
        or (
            isinstance(outer, ast.ClassDef)
            and re.search(rf"(\.|\bdef ){inner.name}\b", others) is None
            and _moved_method(text, outer, inner)
        )
        for outer in text.body
        for inner in getattr(outer, "body", ())
        if isinstance(inner, ast.FunctionDef) and inner.name in makers
    )


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
                end = text.span(call)[1] - 1
                text.replace(end, end, "".join(f", {one}" for one in more))
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
                dotted(call.func).removeprefix("self.") in found
                for call in walk_ast(one, ast.Call)
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
    uses = list(_calls(outer, inner))
    calls = [one for one in uses if one is not None]
    if not _is_plain(inner) or not calls or None in uses:
        return False
    # One that reads nothing is in the way of layers of TensorFlow 1 only.
    free = names or "keras.layers" not in text.of(inner)
    if inner.name in names or not (free or "mode" in parameters_of(outer)):
        return False
    first = min(calls, key=place_of)
    if not {*names} <= _surely_bound(outer, first) or "self" in names:
        return False
    defaults = {one.id for part in arguments.defaults for one in names_in(part)}
    if defaults & own or _is_taken(text, outer, inner):
        return False
    required = len(arguments.args) - len(arguments.defaults)
    told = {name: name for name in names}
    for call in calls:
        _give(text, call, parameters_of(inner), required, told, inner.name)
    _put_before(text, outer, inner, required, told)
    return True


def _moved_method(text: Text, outer: ast.ClassDef, inner: ast.FunctionDef) -> bool:
    """Puts a method before its class: it is given what it reads of its object."""
    methods = [one for one in outer.body if isinstance(one, ast.FunctionDef)]
    known = {one.name for one in methods}
    own = {*walk_ast(inner)}
    reads = sorted(filter(attribute_of_self, own), key=place_of)
    names = list(dict.fromkeys(str(attribute_of_self(one)) for one in reads))
    given = parameters_of(inner)
    calls = [
        one
        for one in walk_ast(outer, ast.Call)
        if attribute_of_self(one.func) == inner.name
    ]
    words = walk_ast(ast.Module(text.body, []), ast.Attribute)
    said = sum(one.attr == inner.name for one in words)
    network = "__call__" in known
    others = [one for one in methods if one.name != "__init__"]
    stored = {*_stored(others if network else [inner])}
    # What is set in a branch may not be there yet.
    plain = [o for m in methods for o in m.body if not isinstance(o, _BRANCHES)]
    stored |= {*_stored(methods)} - {*_stored(plain)}
    if (
        not _is_plain(inner)
        or not (network or inner.name in _called_again(text, methods))
        or inner.name.startswith("__")
        or given[:1] != ["self"]
        or len(reads) != sum(one.id == "self" for one in names_in(inner))
        or {*names} & (known | stored)
        or not 0 < len(calls) == said
        or any(one in own or _is_starred(one) for one in calls)
        or _is_taken(text, outer, inner)
    ):
        return False
    required = len(given) - len(inner.args.defaults)
    taken = {one.id for one in names_in(inner)} | bound_names(inner)
    shown = {name: fresh(name, taken) for name in names}
    told = {shown[name]: f"self.{name}" for name in names}
    for call in calls:
        _give(text, call, given[1:], required - 1, told, inner.name)
    _put_before(text, outer, inner, required, shown)
    return True


def _stored(nodes: Sequence[ast.AST]) -> Iterator[str | None]:
    """Attributes of its object that some code sets."""
    for node in nodes:
        for one in walk_ast(node, ast.Attribute):
            if isinstance(one.ctx, ast.Store):
                yield attribute_of_self(one)


def _called_again(text: Text, methods: Sequence[ast.FunctionDef]) -> list[str]:
    """Methods that their class calls several times, or that such methods call."""
    called = {one.name: re.findall(r"\bself\.(\w+)\(", text.of(one)) for one in methods}
    every = [name for names in called.values() for name in names]
    found = [name for name in called if every.count(name) > 1]
    for name in found:
        found += {*called[name]} & {*called} - {*found}
    return found


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


_BRANCHES = (ast.If, ast.For, ast.While, ast.Try)
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
        plain = node not in own and getattr(call, "func", None) is node
        around = call
        while around is not outer:
            hides = isinstance(around, _SCOPES) and not _binds_nothing(around, inner)
            plain, around = plain and not hides, above[around]
        whole = isinstance(call, ast.Call) and plain and not _is_starred(call)
        yield call if isinstance(call, ast.Call) and whole else None


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
    names: Mapping[str, str],
) -> None:
    arguments = inner.args
    shown = [one.arg for one in arguments.args[:required]] + [*names.values()]
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
        body = re.sub(r"\bself\.(\w+)", lambda one: names[one[1]], body)
    place, _ = text.span(outer)
    text.cut(inner)
    text.replace(place, place, f"def {inner.name}({', '.join(shown)}):\n{body}\n\n\n")
