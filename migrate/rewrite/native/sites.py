"""Plain classes and the places that make and call them, changed together.

Lifting makes a class of every function with layers. Here those that only pass their
inputs on go, parameters say what they are, and weights are read where they are kept.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...code.names import fresh
from ...model.spelling import snake
from ...names.ast_nodes import parents_of
from ...names.ast_nodes import walk as walk_ast
from .code import Refused, dotted, literal
from .text import (
    Text,
    attribute_of_self,
    bound_names,
    defaults_of,
    elements,
    loads_in,
    names_in,
    parameters_of,
    place_of,
    stores_in,
    substituted,
    without_gone,
)

_VERBS = ("Build", "Create", "Make", "Get", "Define", "Construct", "Setup")


def simplified(
    code: str,
    names: set[str],
    seen: Callable[[str], bool],
    first: Callable[[str], str | None],
    given_elsewhere: Callable[[str, str], bool],
) -> str:
    """The module with simpler classes.

    `names` are its classes; `seen` tells whether another file of the program may use
    one of them, `given_elsewhere` whether it gives a class some parameter. `first`
    gives the initializer, or the regularizer, of Keras that an expression means.
    """
    of_class = (
        _call_parameters,
        _owner,
        _made_by_call,
        _picked,
        _first_values,
        _unread_parameters,
        _passed_on,
        _one_layer,
        _returned_weights,
        _nested,
        _without_verb,
    )
    steps = [*map(_for_each, of_class)]
    steps.insert(of_class.index(_passed_on), _unread_values)
    program = Program(code, names, seen, first, given_elsewhere)
    changed = True
    while changed:
        changed = False
        for step in steps:
            while step(program):
                program = replace(program, code=without_gone(program.text.done()))
                changed = True
    return program.code


def _for_each(step: Callable[[Program, Plain], bool]) -> Callable[[Program], bool]:
    return lambda program: any(step(program, plain) for plain in program.classes)


@dataclass
class Site:
    """A place that makes an object of a class, and the calls of that object."""

    made: ast.Call
    # The function or the class around.
    owner: ast.FunctionDef | ast.ClassDef
    calls: list[ast.Call] = field(default_factory=list)


@dataclass
class Plain:
    """A plain class and its places; None where one of these is not understood."""

    node: ast.ClassDef
    init: ast.FunctionDef
    call: ast.FunctionDef
    sites: list[Site] | None


@dataclass
class Program:
    """A module with plain classes, and what is asked about it."""

    code: str
    names: set[str]
    seen: Callable[[str], bool]
    first: Callable[[str], str | None]
    given_elsewhere: Callable[[str, str], bool]

    def __post_init__(self) -> None:
        self.text = Text(self.code)
        self.module = ast.Module(self.text.body, [])
        self.above = parents_of(self.module)
        self.classes: list[Plain] = []
        nodes = walk_ast(self.module, ast.ClassDef)
        for node in nodes:
            methods = {f.name: f for f in node.body if isinstance(f, ast.FunctionDef)}
            if node.name not in self.names or "call" not in methods:
                continue
            if "__init__" not in methods or sum(o.name == node.name for o in nodes) > 1:
                continue
            sites = None if self.seen(node.name) else self._sites(node.name)
            found = Plain(node, methods["__init__"], methods["call"], sites)
            self.classes.append(found)

    def of(self, node: ast.AST) -> str:
        """Source of a node."""
        return self.text.of(node)

    def said(
        self, node: ast.expr, names: Mapping[str, str], hidden: Container[str]
    ) -> str | None:
        """An expression with other code for names; None if it means another thing.

        `hidden` are names that mean something else where it will stand.
        """
        free = {one.id for one in names_in(node)} - {*names}
        if "self" in free or any(one in hidden for one in free):
            return None
        return substituted(self.of(node), names)

    def owner(self, node: ast.AST) -> ast.FunctionDef | ast.ClassDef | None:
        """The plain function, or the class of the method, around a node."""
        above = self.above.get(node)
        while above is not None and not isinstance(above, ast.FunctionDef):
            above = self.above.get(above)
        if above is None:
            return None
        holder = self.above.get(above)
        if isinstance(holder, ast.ClassDef) and above.name == "__init__":
            return holder
        return above

    def _sites(self, name: str) -> list[Site] | None:
        found: list[Site] = []
        for node in walk_ast(self.module, ast.Name):
            if node.id != name:
                continue
            made = self.above[node]
            owner = self.owner(node)
            if not isinstance(made, ast.Call) or made.func is not node or owner is None:
                return None
            if any(
                isinstance(one, ast.Starred) or getattr(one, "arg", "") is None
                for one in (*made.args, *made.keywords)
            ):
                return None
            site = self._site(made, owner)
            if site is None:
                return None
            found.append(site)
        return found

    def _site(
        self, made: ast.Call, owner: ast.FunctionDef | ast.ClassDef
    ) -> Site | None:
        above = self.above[made]
        while isinstance(above, (ast.ListComp, ast.List, ast.IfExp)):
            above = self.above[above]
        if isinstance(above, ast.Call) and above.func is made:
            return Site(made, owner, [above])
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute):
            # self.blocks.append(Block())
            target: ast.expr = above.func.value
        elif isinstance(above, ast.Assign) and len(above.targets) == 1:
            target = above.targets[0]
        else:
            return None
        attribute = attribute_of_self(target)
        if isinstance(owner, ast.ClassDef) and attribute is not None:
            return Site(made, owner, calls_of(owner, attribute))
        if isinstance(owner, ast.FunctionDef) and isinstance(target, ast.Name):
            calls: list[ast.Call] = []
            for node in walk_ast(owner, ast.Name):
                if node.id != target.id:
                    continue
                above = self.above[node]
                if isinstance(above, ast.Call) and above.func is node:
                    calls.append(above)
                elif isinstance(node.ctx, ast.Load) and not isinstance(
                    above, ast.Attribute
                ):
                    return None
            return Site(made, owner, calls)
        return None

    def taken(self) -> set[str]:
        """Names that something in the module has."""
        kinds = walk_ast(self.module, ast.ClassDef, ast.FunctionDef)
        return {one.id for one in names_in(self.module)} | {one.name for one in kinds}

    def add_parameter(self, function: ast.FunctionDef, name: str) -> None:
        """Adds a parameter to a function."""
        last = function.args.args[-1]
        self.text.put(last, f"{self.of(last)}, {name}")

    def without(self, node: ast.Call, name: str, names: Sequence[str]) -> None:
        """Takes an argument out of a call."""
        gone = (_given(node, names) or {}).get(name)
        if gone is None:
            return
        kept = [self.of(one) for one in node.args if one is not gone]
        kept += [
            f"{one.arg}={self.of(one.value)}"
            for one in node.keywords
            if one.value is not gone
        ]
        self.text.put(node, f"{self.of(node.func)}({', '.join(kept)})")


def _given(node: ast.Call, names: Sequence[str]) -> dict[str, ast.expr] | None:
    """Arguments of a call by the names of parameters."""
    if any(isinstance(one, ast.Starred) for one in node.args):
        return None
    if len(node.args) > len(names) or any(k.arg is None for k in node.keywords):
        return None
    found = dict(zip(names, node.args, strict=False))
    found.update({str(one.arg): one.value for one in node.keywords})
    return found


def calls_of(owner: ast.ClassDef, attribute: str) -> list[ast.Call]:
    """Calls of an attribute of a class, or of the elements of a list that it is."""
    names: set[str] = set()
    for node in walk_ast(owner, ast.For, ast.comprehension):
        names |= elements(node.target, node.iter, attribute)
    return [
        node
        for node in walk_ast(owner, ast.Call)
        if (
            attribute_of_self(node.func) == attribute
            or (isinstance(node.func, ast.Name) and node.func.id in names)
        )
    ]


# -- steps: each changes one thing and tells whether it did


def _call_parameters(program: Program, plain: Plain) -> bool:
    """What the call was given, and the constructor reads, is the constructor's."""
    made, called = parameters_of(plain.init), parameters_of(plain.call)
    first: dict[str, ast.Name] = {}
    for one in sorted(names_in(plain.init), key=place_of):
        first.setdefault(one.id, one)
    names = [
        one
        for one in called[2:]
        if one in first and isinstance(first[one].ctx, ast.Load) and one not in made
    ]
    if not names:
        return False
    name = names[0]
    for site in plain.sites or ():
        given = [_given(one, called[1:]) or {} for one in site.calls]
        values = {program.of(one[name]) for one in given if name in one}
        if len(values) != 1:
            raise Refused(f"`{plain.node.name}` is called with several `{name}`")
        program.text.add_argument(site.made, f"{name}={values.pop()}")
        for used in site.calls:
            program.without(used, name, called[1:])
    if not plain.sites:
        raise Refused(f"`{plain.node.name}` is called where `{name}` is not seen")
    program.add_parameter(plain.init, name)
    _without_parameter(program, plain.call, name)
    return True


def _owner(program: Program, plain: Plain) -> bool:
    """A class that is made of an object takes what it reads of that."""
    names = parameters_of(plain.init)
    if plain.sites is None or "owner" not in names:
        return False
    reads = [one for one in loads_in(plain.node) if one.id == "owner"]
    above = [program.above[one] for one in reads]
    kept = [one for one in above if isinstance(one, ast.Assign)]
    held = [one for one in walk_ast(plain.call) if attribute_of_self(one) == "owner"]
    every = [one for one in above if one not in kept] + [program.above[o] for o in held]
    if not all(isinstance(one, ast.Attribute) for one in every) or len(kept) > 1:
        return False
    attributes = list(dict.fromkeys(one.attr for one in every))  # type: ignore[attr-defined]
    taken = bound_names(plain.init) | _own_attributes(plain)
    if taken & set(attributes) or any(
        isinstance(program.above[one], ast.Call) and program.above[one].func is one  # type: ignore[attr-defined]
        for one in every
    ):
        return False
    if any(not _is_fixed(program, site, attributes) for site in plain.sites):
        return False
    stored = list(dict.fromkeys(program.above[o].attr for o in held))  # type: ignore[attr-defined]
    for one in every:
        held_by = attribute_of_self(one.value)  # type: ignore[attr-defined]
        code = f"self.{one.attr}" if held_by else one.attr  # type: ignore[attr-defined]
        program.text.put(one, code)
    for statement in kept:
        lines = [f"self.{one} = {one}" for one in stored]
        indent = program.text.indent(statement)
        if lines:
            program.text.put(statement, f"\n{indent}".join(lines))
        else:
            program.text.drop(statement)
    if not attributes:
        return bool(kept)  # the parameter is unread from now on
    for argument in plain.init.args.args:
        if argument.arg == "owner":
            program.text.put(argument, ", ".join(attributes))
    for site in plain.sites:
        given = _given(site.made, names[1:])
        assert given is not None
        value = given["owner"]
        code = ", ".join(f"{program.of(value)}.{one}" for one in attributes)
        program.text.put(value, code)
    return True


def _made_by_call(program: Program, plain: Plain) -> bool:
    """A layer that a call makes of what the constructor knows is an attribute."""
    local = bound_names(plain.call) - {"self"}
    known = {attribute_of_self(one) for one in walk_ast(plain.init)}
    for made in _without_scopes(plain.call.body):
        value = made.value if isinstance(made, ast.Assign) else None
        kind = dotted(value.func) if isinstance(value, ast.Call) else ""
        if (
            kind not in program.names
            or not isinstance(made, ast.Assign)
            or not isinstance(made.targets[0], ast.Name)
        ):
            continue
        name = made.targets[0].id
        reads = [one for one in names_in(plain.call) if one.id == name]
        reads.remove(made.targets[0])
        calls = [program.above[one] for one in reads]
        given = [
            attribute_of_self(program.above[one])
            for one in names_in(made.value)
            if one.id == "self"
        ]
        if {one.id for one in names_in(made.value)} & local or not all(
            isinstance(call, ast.Call) and call.func is one
            for call, one in zip(calls, reads, strict=True)
        ):
            continue
        taken = _own_attributes(plain)
        if None in given or not {*given} <= known:
            continue
        wanted = snake(kind)
        for one in program.classes:
            only = _only_attribute(one)
            if one.node.name == kind and only is not None:
                wanted = only[0]
        attribute = fresh(wanted, taken)
        program.text.add(
            plain.init.body[-1],
            f"self.{attribute} = {program.of(made.value)}",
            below=True,
        )
        for read in reads:
            program.text.put(read, f"self.{attribute}")
        program.text.drop(made)
        return True
    return False


def _picked(program: Program, plain: Plain) -> bool:
    """A class that reads one feature alone gets that."""
    names = parameters_of(plain.call)
    if plain.sites is None or len(names) < 2:
        return False
    reads = [one for one in walk_ast(plain.call, ast.Name) if one.id == names[1]]
    above = [program.above[one] for one in reads]
    keys = {
        program.of(one.slice)
        for one in above
        if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant)
    }
    if len(keys) != 1 or not all(isinstance(one, ast.Subscript) for one in above):
        return False
    (key,) = keys
    value = literal(key)
    calls = [one for site in plain.sites for one in site.calls]
    given = [_given(one, names[1:]) for one in calls]
    if not isinstance(value, str) or None in given or not calls:
        return False
    bound = bound_names(plain.call) | {"self"}
    read = {one.id for one in walk_ast(plain.node, ast.Name)}
    name = value if value.isidentifier() and value not in bound | read else "inputs"
    if keyword.iskeyword(name) or (name == "inputs" and name in bound | read):
        return False
    for one in above:
        program.text.put(one, name)
    program.text.put(plain.call.args.args[1], name)
    for values in given:
        assert values is not None
        held = values[names[1]]
        program.text.put(held, f"{program.of(held)}[{key}]")
    return True


def _own_attributes(plain: Plain) -> set[str]:
    found = map(attribute_of_self, walk_ast(plain.node))
    return {name for name in found if name is not None}


def _is_fixed(program: Program, site: Site, attributes: Sequence[str]) -> bool:
    """Attributes of the object around a place that only its constructor sets."""
    above: ast.AST | None = site.made
    while above is not None and not isinstance(above, ast.ClassDef):
        above = program.above.get(above)
    if above is None:
        return False
    for function in (one for one in above.body if isinstance(one, ast.FunctionDef)):
        if function.name == "__init__":
            continue
        for node in walk_ast(function):
            name = attribute_of_self(node)
            if name in attributes and isinstance(node.ctx, ast.Store):  # type: ignore[attr-defined]
                return False
    return True


def _first_values(program: Program, plain: Plain) -> bool:
    """A class that is handed an initializer makes it where a weight begins.

    One object would give all weights of a shape the same values.
    """
    names = parameters_of(plain.init)
    for name in names[1:] if plain.sites else ():
        reads = [one for one in loads_in(plain.init) if one.id == name]
        if not reads or not all(_begins(program, one) for one in reads):
            continue
        sites = plain.sites or ()
        usual = defaults_of(plain.init)
        given = [_given(one.made, names[1:]) or {} for one in sites]
        told = [one.get(name, usual.get(name)) for one in given]
        codes = {
            None if one is None else program.first(program.of(one)) for one in told
        }
        code = codes.pop() if len(codes) == 1 else None
        if code is None:
            continue
        for one in reads:
            program.text.put(one, code)
        _without_parameter(program, plain.init, name)
        for site in plain.sites or ():
            program.without(site.made, name, names[1:])
        return True
    return False


def _begins(program: Program, read: ast.Name) -> bool:
    """A name is read to say how weights begin, or for a class that is told."""
    above = program.above[read]
    if isinstance(above, ast.keyword) and (above.arg or "").endswith(
        ("initializer", "regularizer")
    ):
        return True
    made = program.above[above] if isinstance(above, ast.keyword) else above
    return isinstance(made, ast.Call) and dotted(made.func) in program.names


def _unread_values(program: Program) -> bool:
    """Initializers and regularizers that nothing reads any more are not made."""
    for node in program.above:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        (target,) = node.targets
        block = program.above[node]
        if not isinstance(target, ast.Name) or not isinstance(
            block, (ast.FunctionDef, ast.Module)
        ):
            continue
        reads = [one for one in names_in(block) if one.id == target.id]
        if len(reads) > 1 or program.seen(target.id):
            continue
        if program.first(program.of(node.value)) is None:
            continue
        program.text.drop(node)
        return True
    return False


def _unread_parameters(program: Program, plain: Plain) -> bool:
    """A parameter of a constructor that nothing reads is none."""
    names = parameters_of(plain.init)
    read = {one.id for one in walk_ast(plain.init, ast.Name)}
    if plain.sites is None:
        # Lifted calls of the file say by name what they give.
        told = {one.arg for one in walk_ast(program.module, ast.keyword)}
        for name in sorted({*defaults_of(plain.init)} - read - told):
            if None not in told and not program.given_elsewhere(plain.node.name, name):
                _without_parameter(program, plain.init, name)
                return True
        return False
    for name in names[1:]:
        given = [_given(site.made, names[1:]) for site in plain.sites]
        if name in read or None in given:
            continue
        values = [one[name] for one in given if one is not None and name in one]
        if any(isinstance(n, ast.Call) for v in values for n in walk_ast(v)):
            continue
        _without_parameter(program, plain.init, name)
        for site in plain.sites:
            program.without(site.made, name, names[1:])
        return True
    return False


def _without_parameter(program: Program, function: ast.FunctionDef, name: str) -> None:
    arguments = function.args
    first, last = arguments.args[0], arguments.args[-1]
    places = len(arguments.args) - len(arguments.defaults)
    kept: list[str] = []
    for place, one in enumerate(arguments.args):
        if one.arg != name:
            default = arguments.defaults[place - places] if place >= places else None
            more = "" if default is None else f"={program.of(default)}"
            kept.append(f"{program.of(one)}{more}")
    start, _ = program.text.span(first)
    _, end = program.text.span(arguments.defaults[-1] if arguments.defaults else last)
    after = program.code[end:].lstrip()
    if after.startswith(","):
        end = program.code.index(",", end) + 1
    program.text.replace(start, end, ", ".join(kept))


def _body(function: ast.FunctionDef) -> list[ast.stmt]:
    """Statements of a function without its docstring."""
    first = function.body[0]
    plain = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[plain:]


def _only_attribute(plain: Plain) -> tuple[str, ast.Call] | None:
    """The only thing that a constructor makes, by a call: its attribute."""
    statements = _body(plain.init)[1:]
    if len(statements) != 1 or not isinstance(statements[0], ast.Assign):
        return None
    name = attribute_of_self(statements[0].targets[0])
    value = statements[0].value
    return (name, value) if name and isinstance(value, ast.Call) else None


def _only_result(plain: Plain) -> ast.Call | None:
    """The call whose value a class gives, if it does nothing else."""
    statements = _body(plain.call)
    last = statements[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    if len(statements) == 1:
        return last.value if isinstance(last.value, ast.Call) else None
    first = statements[0]
    if len(statements) != 2 or not isinstance(first, ast.Assign):
        return None
    name, given = (ast.unparse(one) for one in (first.targets[0], last.value))
    same = name.strip("()") == given.strip("()")
    return first.value if same and isinstance(first.value, ast.Call) else None


def _only_call(plain: Plain) -> tuple[ast.Call, ast.Call] | None:
    """What a class makes and how it calls that, if it does nothing else."""
    only, result = _only_attribute(plain), _only_result(plain)
    if only is None or result is None:
        return None
    attribute, made = only
    return (made, result) if attribute_of_self(result.func) == attribute else None


def _passed_on(program: Program, plain: Plain) -> bool:
    """A class that only passes its inputs on to another one is that one."""
    parts = _only_call(plain)
    if parts is None or plain.sites is None or len(plain.sites) != 1:
        return False
    made, result = parts
    inner = next(
        (one for one in program.classes if one.node.name == dotted(made.func)), None
    )
    if inner is None or inner.sites is None or len(inner.sites) != 1:
        return False
    names = parameters_of(plain.init)[1:], parameters_of(plain.call)[1:]
    (site,) = plain.sites
    edits = _replaced(program, site.owner, site.made, made, names[0], "")
    for one in site.calls:
        function = program.of(one.func)
        edits += _replaced(program, site.owner, one, result, names[1], function)
    if len(edits) != len(site.calls) + 1:
        return False
    for place, code in edits:
        program.text.put(place, code)
    program.text.put(inner.node.bases[0], program.of(plain.node.bases[0]))
    program.text.cut(plain.node)
    return True


def _replaced(
    program: Program,
    owner: ast.AST,
    outer: ast.Call,
    inner: ast.Call,
    names: Sequence[str],
    function: str,
) -> list[tuple[ast.AST, str]]:
    """A call of the inner class in the place of one of the outer class.

    No edit where it cannot be said there.
    """
    given = _given(outer, names)
    if given is None or not set(given) <= set(names):
        return []
    hidden = bound_names(owner) if isinstance(owner, ast.FunctionDef) else set()
    said = {name: program.of(one) for name, one in given.items()}
    if not set(names) <= set(given):
        used = {one.id for one in walk_ast(inner, ast.Name)}
        if used & (set(names) - set(given)):
            return []
    parts: list[str] = []
    values = [(None, one) for one in inner.args]
    for name, value in (*values, *((one.arg, one.value) for one in inner.keywords)):
        code = program.said(value, said, hidden)
        if code is None:
            return []
        parts.append(code if name is None else f"{name}={code}")
    return [(outer, f"{function or program.of(inner.func)}({', '.join(parts)})")]


def _one_layer(program: Program, plain: Plain) -> bool:
    """A class of one layer is a function that makes the layer."""
    only = _only_call(plain)
    if only is None or not plain.sites:
        return False
    made, result = only
    if not dotted(made.func).startswith("tf_keras."):
        return False
    names = parameters_of(plain.call)[1:]
    first = [one for one in result.args if isinstance(one, ast.Name)]
    if [one.id for one in first] != names[:1] or len(result.args) != 1:
        return False
    flags = [(one.arg, ast.unparse(one.value)) for one in result.keywords]
    if (
        flags not in ([], [("training", name) for name in names[1:]][:1])
        or len(flags) != len(names) - 1
    ):
        return False
    name = snake(plain.node.name)
    calls = [one for site in plain.sites for one in site.calls]
    given = [_given(one, names) for one in calls]
    if name in program.taken() or None in given:
        return False
    for one, values in zip(calls, given, strict=True):
        assert values is not None
        parts = [program.of(values[names[0]])]
        parts += [f"training={program.of(values[n])}" for n in names[1:]]
        program.text.put(one, f"{program.of(one.func)}({', '.join(parts)})")
    # What lifting has made, and not a function of the program.
    site, edits = plain.sites[0], list[tuple[ast.AST, str]]()
    alone = len(plain.sites) == 1 and isinstance(site.owner, ast.ClassDef)
    if alone and program.of(plain.node.bases[0]).endswith(".Model"):
        names = parameters_of(plain.init)[1:]
        edits = _replaced(program, site.owner, site.made, made, names, "")
    for place, code in edits:
        program.text.put(place, code)
    if edits:
        program.text.cut(plain.node)
        return True
    for site in plain.sites:
        program.text.put(site.made.func, name)
    program.text.put(plain.node, _function(program, plain, name, made))
    return True


def _function(program: Program, plain: Plain, name: str, made: ast.Call) -> str:
    """The function that makes a layer, in the place of its class."""
    indent = program.text.indent(plain.node)
    step = " " * (plain.init.col_offset - plain.node.col_offset)
    arguments = plain.init.args
    listed = ast.unparse(arguments).split(", ", 1)[1:]
    lines = [f"def {name}({', '.join(listed)}):"]
    first = plain.node.body[0]
    if isinstance(first, ast.Expr):
        lines.append(f"{indent}{step}{program.of(first)}")
    lines.append(f"{indent}{step}return {program.of(made)}")
    return "\n".join(lines)


def _returned_weights(program: Program, plain: Plain) -> bool:
    """Weights that a call gave back are read from the model."""
    returns = walk_ast(plain.call, ast.Return)
    if plain.sites is None or len(returns) != 1 or len(plain.sites) != 1:
        return False
    value = returns[0].value
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    weights = {
        place: name
        for place, one in enumerate(parts)
        if (name := attribute_of_self(one)) is not None
    }
    (site,) = plain.sites
    owner = site.owner
    if not weights or not isinstance(owner, ast.FunctionDef) or len(site.calls) != 1:
        return False
    (called,) = site.calls
    statement = program.above[called]
    if not isinstance(statement, ast.Assign) or value is None:
        return False
    target = statement.targets[0]
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    if len(targets) != len(parts) or isinstance(target, ast.Tuple) != isinstance(
        value, ast.Tuple
    ):
        return False
    names = {place: targets[place] for place in weights}
    bound = [one.id for one in stores_in(owner)]
    if not all(
        isinstance(one, ast.Name) and bound.count(one.id) == 1 for one in names.values()
    ):
        return False
    if len(weights) == len(parts):
        return False  # nothing would be left to call
    model = program.of(called.func)
    for node in names_in(owner):
        for place, one in names.items():
            same = isinstance(one, ast.Name) and node.id == one.id
            if same and isinstance(node.ctx, ast.Load):
                program.text.put(node, f"{model}.{weights[place]}")
    for whole, listed in ((target, targets), (value, parts)):
        kept = [program.of(o) for n, o in enumerate(listed) if n not in weights]  # type: ignore[arg-type]
        program.text.put(whole, ", ".join(kept))
    return True


def _without_scopes(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements, with those inside of scopes in the place of these."""
    found: list[ast.stmt] = []
    for one in statements:
        scopes = isinstance(one, ast.With) and all(
            item.optional_vars is None
            and isinstance(item.context_expr, ast.Call)
            and dotted(item.context_expr.func).endswith(
                ("variable_scope", "name_scope")
            )
            for item in one.items
        )
        if scopes and isinstance(one, ast.With):
            found += _without_scopes(one.body)
        else:
            found.append(one)
    return found


def _nested(program: Program, plain: Plain) -> bool:
    """A class within a function that needs nothing of it stands before the function."""
    block = program.above[plain.node]
    if not isinstance(block, ast.FunctionDef) or plain.node not in block.body:
        return False
    if not isinstance(program.above[block], ast.Module):
        return False
    names = [
        one.name
        for one in program.module.body
        if isinstance(one, (ast.ClassDef, ast.FunctionDef))
    ]
    own = bound_names(block) - {plain.node.name}
    local = {
        name
        for one in plain.node.body
        if isinstance(one, ast.FunctionDef)
        for name in bound_names(one)
    }
    read = {one.id for one in walk_ast(plain.node, ast.Name)}
    if (read - local) & own or plain.node.name in names:
        return False
    text = program.text
    margin = text.indent(plain.node)
    lines = text.of(plain.node).split("\n")
    code = "\n".join(line.removeprefix(margin) for line in lines)
    text.cut(plain.node)
    start, _ = text.span(block)
    text.replace(start, start, f"{code}\n\n\n")
    return True


def _without_verb(program: Program, plain: Plain) -> bool:
    """`Network` for a class that was called `BuildNetwork`, after its function."""
    old = plain.node.name
    verb = next((v for v in _VERBS if re.match(rf"{v}[A-Z]", old)), None)
    if plain.sites is None or verb is None:
        return False
    new = old.removeprefix(verb)
    if new in program.taken():
        return False
    program.names.discard(old)
    program.names.add(new)
    start, _ = program.text.span(plain.node)
    place = program.code.index(old, start)
    program.text.replace(place, place + len(old), new)
    for site in plain.sites:
        program.text.put(site.made.func, new)
    return True
