"""Plain classes and the places that make and call them, changed together.

Lifting makes a class of every function with layers. Here those that only pass their
inputs on go, parameters say what they are, and weights are read where they are kept.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..interp.spelling import snake
from ..lift.spelling import RESERVED
from .code import Refused, dotted, literal
from .text import (
    Text,
    attribute_of_self,
    bound_names,
    elements,
    parameters_of,
    parents_of,
    without_gone,
)

__all__ = ["Program", "simplified"]

Symbol = Callable[[str], "str | None"]
_TRAIN = re.compile(
    r"tf\.(estimator|contrib\.learn|contrib\.estimator)\.ModeKeys\.TRAIN"
)
_VERBS = ("Build", "Create", "Make", "Get", "Define", "Construct", "Setup")


def simplified(
    code: str, names: set[str], symbol: Symbol, seen: Callable[[str], bool]
) -> str:
    """The module with simpler classes.

    `names` are its classes; `symbol` tells TensorFlow's name of an expression, and
    `seen` whether another file of the program may use a class.
    """
    steps = (
        _constructor_flags,
        _training,
        _owner,
        _picked,
        _unread_parameters,
        _passed_on,
        _one_layer,
        _returned_weights,
        _made_where_called,
        _called_object,
        _without_verb,
    )
    program = Program(code, names, symbol, seen)
    changed = True
    while changed:
        changed = False
        for step in steps:
            while step(program):
                program = Program(
                    without_gone(program.text.done()), names, symbol, seen
                )
                changed = True
    return program.text.code


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


class Program:
    """A module with plain classes."""

    def __init__(
        self,
        code: str,
        names: set[str],
        symbol: Symbol,
        seen: Callable[[str], bool],
    ) -> None:
        self.text = Text(code)
        self.symbol = symbol
        self.seen = seen
        self.names = names
        self.module = ast.Module(self.text.body, [])
        self.above = parents_of(self.module)
        self.classes: list[Plain] = []
        nodes = [n for n in ast.walk(self.module) if isinstance(n, ast.ClassDef)]
        for node in nodes:
            methods = {f.name: f for f in node.body if isinstance(f, ast.FunctionDef)}
            if node.name not in names or "call" not in methods:
                continue
            if "__init__" not in methods or sum(o.name == node.name for o in nodes) > 1:
                continue
            sites = None if seen(node.name) else self._sites(node.name)
            found = Plain(node, methods["__init__"], methods["call"], sites)
            self.classes.append(found)

    def of(self, node: ast.AST) -> str:
        """Source of a node."""
        return self.text.of(node)

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
        for node in ast.walk(self.module):
            if not isinstance(node, ast.Name) or node.id != name:
                continue
            made = self.above[node]
            owner = self.owner(node)
            if not isinstance(made, ast.Call) or made.func is not node or owner is None:
                return None
            starred = any(isinstance(one, ast.Starred) for one in made.args)
            if starred or any(one.arg is None for one in made.keywords):
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
            for node in ast.walk(owner):
                if not isinstance(node, ast.Name) or node.id != target.id:
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

    def given(self, node: ast.Call, names: Sequence[str]) -> dict[str, ast.expr] | None:
        """Arguments by the names of parameters."""
        if any(isinstance(one, ast.Starred) for one in node.args):
            return None
        if len(node.args) > len(names) or any(k.arg is None for k in node.keywords):
            return None
        found = dict(zip(names, node.args, strict=False))
        found.update({str(one.arg): one.value for one in node.keywords})
        return found

    def add_argument(self, node: ast.Call, code: str) -> None:
        """Adds an argument to a call."""
        _, end = self.text.span(node)
        inside = self.of(node)[len(self.of(node.func)) :].strip("() \n,")
        self.text.replace(end - 1, end - 1, f", {code}" if inside else code)

    def without(self, node: ast.Call, name: str, names: Sequence[str]) -> None:
        """Takes an argument out of a call."""
        given = self.given(node, names)
        assert given is not None
        gone = given.get(name)
        if gone is None:
            return
        kept = [self.of(one) for one in node.args if one is not gone]
        kept += [
            f"{one.arg}={self.of(one.value)}"
            for one in node.keywords
            if one.value is not gone
        ]
        self.text.put(node, f"{self.of(node.func)}({', '.join(kept)})")


def calls_of(owner: ast.ClassDef, attribute: str) -> list[ast.Call]:
    """Calls of an attribute of a class, or of the elements of a list that it is."""
    names: set[str] = set()
    for node in ast.walk(owner):
        if isinstance(node, (ast.For, ast.comprehension)):
            names |= elements(node.target, node.iter, attribute)
    return [
        node
        for node in ast.walk(owner)
        if isinstance(node, ast.Call)
        and (
            attribute_of_self(node.func) == attribute
            or (isinstance(node.func, ast.Name) and node.func.id in names)
        )
    ]


# -- steps: each changes one thing and tells whether it did


def _constructor_flags(program: Program) -> bool:
    """A flag that the constructor was given, and the call reads, is the call's."""
    for plain in program.classes:
        made, called = parameters_of(plain.init), parameters_of(plain.call)
        bound = bound_names(plain.call)
        reads = {one.id for one in ast.walk(plain.call) if isinstance(one, ast.Name)}
        flags = [one for one in made[1:] if one in reads - bound]
        if not flags:
            continue
        name = flags[0]
        if plain.sites is None:
            raise Refused(f"`{plain.node.name}` is made where its flag is not seen")
        for site in plain.sites:
            given = program.given(site.made, made[1:])
            value = (given or {}).get(name)
            if value is None:
                raise Refused(f"`{plain.node.name}` is made without `{name}`")
            code = program.of(value)
            for one in site.calls:
                known = (program.given(one, called[1:]) or {}).get("training")
                if known is not None and program.of(known) != code:
                    raise Refused(f"`{plain.node.name}` has two flags")
                if known is None:
                    program.add_argument(one, f"training={code}")
            program.without(site.made, name, made[1:])
        for node in ast.walk(plain.call):
            if isinstance(node, ast.Name) and node.id == name:
                program.text.put(node, "training")
        if "training" not in called:
            last = plain.call.args.args[-1]
            program.text.put(last, f"{program.of(last)}, training")
        read = {one.id for one in ast.walk(plain.init) if isinstance(one, ast.Name)}
        if name in read:
            raise Refused(f"the layers of `{plain.node.name}` depend on `{name}`")
        _without_parameter(program, plain.init, name)
        return True
    return False


def _training(program: Program) -> bool:
    """A class that asks whether the mode is that of training is told so."""
    for plain in program.classes:
        names = parameters_of(plain.call)
        if plain.sites is None or "training" in bound_names(plain.call):
            continue
        for name in names[2:]:
            reads = [
                one
                for one in ast.walk(plain.call)
                if isinstance(one, ast.Name) and one.id == name
            ]
            asked = [program.above[one] for one in reads]
            if not reads or not all(_asks_for_training(program, one) for one in asked):
                continue
            (first, *_) = asked
            assert isinstance(first, ast.Compare)
            key = program.of(first.comparators[0])
            calls = [one for site in plain.sites for one in site.calls]
            values = [program.given(one, names[1:]) for one in calls]
            if not all(one is not None and name in one for one in values):
                continue
            for one in asked:
                program.text.put(_in_brackets(program, one), "training")
            for argument in plain.call.args.args:
                if argument.arg == name:
                    program.text.put(argument, "training")
            for given in values:
                assert given is not None
                value = given[name]
                code = f"{program.of(value)} == {key}"
                above = program.above[value]
                place: ast.AST = above if isinstance(above, ast.keyword) else value
                named = "training=" if isinstance(above, ast.keyword) else ""
                program.text.put(place, named + code)
            return True
    return False


def _asks_for_training(program: Program, node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Eq)
        and _TRAIN.fullmatch(program.symbol(program.of(node.comparators[0])) or "")
        is not None
    )


def _in_brackets(program: Program, node: ast.AST) -> ast.AST:
    """The node with the brackets that stand around it alone."""
    start, end = program.text.span(node)
    code = program.text.code
    above = program.above[node]
    if isinstance(above, ast.keyword) and code[start - 1] == "(" and code[end] == ")":
        found = ast.Name("")
        found.lineno, found.col_offset = node.lineno, node.col_offset - 1  # type: ignore[attr-defined]
        found.end_lineno = node.end_lineno  # type: ignore[attr-defined]
        found.end_col_offset = node.end_col_offset + 1  # type: ignore[attr-defined]
        return found
    return node


def _owner(program: Program) -> bool:
    """A class that is made of an object takes what it reads of that."""
    for plain in program.classes:
        names = parameters_of(plain.init)
        if plain.sites is None or "owner" not in names:
            continue
        reads = [
            one
            for one in ast.walk(plain.node)
            if isinstance(one, ast.Name)
            and one.id == "owner"
            and isinstance(one.ctx, ast.Load)
        ]
        above = [program.above[one] for one in reads]
        kept = [one for one in above if isinstance(one, ast.Assign)]
        held = [
            one for one in ast.walk(plain.call) if attribute_of_self(one) == "owner"
        ]
        every = [one for one in above if one not in kept] + [
            program.above[o] for o in held
        ]
        if not all(isinstance(one, ast.Attribute) for one in every) or len(kept) > 1:
            continue
        attributes = list(dict.fromkeys(one.attr for one in every))  # type: ignore[attr-defined]
        taken = bound_names(plain.init) | set(_own_attributes(plain))
        if taken & set(attributes) or any(
            isinstance(program.above[one], ast.Call) and program.above[one].func is one  # type: ignore[attr-defined]
            for one in every
        ):
            continue
        if any(not _is_fixed(program, site, attributes) for site in plain.sites):
            continue
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
        for argument in plain.init.args.args:
            if argument.arg == "owner":
                program.text.put(argument, ", ".join(attributes))
        for site in plain.sites:
            given = program.given(site.made, names[1:])
            assert given is not None
            value = given["owner"]
            code = ", ".join(f"{program.of(value)}.{one}" for one in attributes)
            program.text.put(value, code)
        return True
    return False


def _picked(program: Program) -> bool:
    """A class that reads one feature alone gets that."""
    for plain in program.classes:
        names = parameters_of(plain.call)
        if plain.sites is None or len(names) < 2:
            continue
        reads = [
            one
            for one in ast.walk(plain.call)
            if isinstance(one, ast.Name) and one.id == names[1]
        ]
        above = [program.above[one] for one in reads]
        keys = {
            program.of(one.slice)
            for one in above
            if isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Constant)
        }
        if len(keys) != 1 or not all(isinstance(one, ast.Subscript) for one in above):
            continue
        (key,) = keys
        value = literal(key)
        calls = [one for site in plain.sites for one in site.calls]
        given = [program.given(one, names[1:]) for one in calls]
        if not isinstance(value, str) or None in given or not calls:
            continue
        bound = bound_names(plain.call) | {"self"}
        read = {one.id for one in ast.walk(plain.node) if isinstance(one, ast.Name)}
        name = value if value.isidentifier() and value not in bound | read else "inputs"
        if keyword.iskeyword(name) or (name == "inputs" and name in bound | read):
            continue
        for one in above:
            program.text.put(one, name)
        program.text.put(plain.call.args.args[1], name)
        for values in given:
            assert values is not None
            held = values[names[1]]
            program.text.put(held, f"{program.of(held)}[{key}]")
        return True
    return False


def _own_attributes(plain: Plain) -> list[str]:
    return [
        name
        for one in ast.walk(plain.node)
        if (name := attribute_of_self(one)) is not None
    ]


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
        for node in ast.walk(function):
            name = attribute_of_self(node)
            if name in attributes and isinstance(node.ctx, ast.Store):  # type: ignore[attr-defined]
                return False
    return True


def _unread_parameters(program: Program) -> bool:
    """A parameter of a constructor that nothing reads is none."""
    for plain in program.classes:
        if plain.sites is None:
            continue
        names = parameters_of(plain.init)
        read = {one.id for one in ast.walk(plain.init) if isinstance(one, ast.Name)}
        for name in names[1:]:
            given = [program.given(site.made, names[1:]) for site in plain.sites]
            if name in read or None in given:
                continue
            values = [one[name] for one in given if one is not None and name in one]
            if any(isinstance(n, ast.Call) for v in values for n in ast.walk(v)):
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
    after = program.text.code[end:].lstrip()
    if after.startswith(","):
        end = program.text.code.index(",", end) + 1
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
    same = ast.unparse(first.targets[0]).strip("()") == ast.unparse(last.value).strip(
        "()"
    )
    return first.value if same and isinstance(first.value, ast.Call) else None


def _passed_on(program: Program) -> bool:
    """A class that only passes its inputs on to another one is that one."""
    for plain in program.classes:
        only, result = _only_attribute(plain), _only_result(plain)
        if plain.sites is None or only is None or result is None:
            continue
        attribute, made = only
        if attribute_of_self(result.func) != attribute:
            continue
        inner = next(
            (one for one in program.classes if one.node.name == dotted(made.func)), None
        )
        if inner is None or inner.sites is None or len(inner.sites) != 1:
            continue
        names = parameters_of(plain.init)[1:], parameters_of(plain.call)[1:]
        edits: list[tuple[ast.AST, str]] = []
        for site in plain.sites:
            edits += _replaced(program, site.owner, site.made, made, names[0], "")
            for one in site.calls:
                new = _replaced(
                    program, site.owner, one, result, names[1], program.of(one.func)
                )
                edits += new
            if len(edits) != len(site.calls) + 1:
                edits = []
                break
        if len(plain.sites) != 1 or not edits:
            continue
        for place, code in edits:
            program.text.put(place, code)
        program.text.put(inner.node.bases[0], program.of(plain.node.bases[0]))
        program.text.cut(plain.node)
        return True
    return False


def _replaced(
    program: Program,
    owner: ast.AST,
    outer: ast.Call,
    inner: ast.Call,
    names: Sequence[str],
    function: str,
    *,
    method: bool = False,
) -> list[tuple[ast.AST, str]]:
    """A call of the inner class in the place of one of the outer class.

    No edit where it cannot be said there.
    """
    given = program.given(outer, names)
    if given is None or not set(given) <= set(names):
        return []
    plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)
    hidden = bound_names(owner) if isinstance(owner, ast.FunctionDef) else set()
    parts: list[str] = []
    for one in (*inner.args, *inner.keywords):
        value = one.value if isinstance(one, ast.keyword) else one
        code = program.of(value)
        text = Text(f"({code}\n)")
        for node in ast.walk(text.body[0]):
            if not isinstance(node, ast.Name):
                continue
            if node.id in names:
                new = given.get(node.id)
                if new is None:
                    return []
                shown = program.of(new)
                text.put(
                    node,
                    shown
                    if isinstance(new, plain) or node is text.body[0].value
                    else f"({shown})",
                )  # type: ignore[attr-defined]
            elif node.id in hidden and not (method and node.id == "self"):
                return []
            elif node.id == "self" and not method:
                return []
        code = text.done()[1:-2]
        parts.append(f"{one.arg}={code}" if isinstance(one, ast.keyword) else code)
    return [(outer, f"{function or program.of(inner.func)}({', '.join(parts)})")]


def _one_layer(program: Program) -> bool:
    """A class of one layer is a function that makes the layer."""
    for plain in program.classes:
        only, result = _only_attribute(plain), _only_result(plain)
        if plain.sites is None or only is None or result is None:
            continue
        attribute, made = only
        if attribute_of_self(result.func) != attribute:
            continue
        if not dotted(made.func).startswith("tf_keras.") or not plain.sites:
            continue
        names = parameters_of(plain.call)[1:]
        first = [one for one in result.args if isinstance(one, ast.Name)]
        if [one.id for one in first] != names[:1] or len(result.args) != 1:
            continue
        flags = [(one.arg, ast.unparse(one.value)) for one in result.keywords]
        if (
            flags not in ([], [("training", name) for name in names[1:]][:1])
            or len(flags) != len(names) - 1
        ):
            continue
        name = snake(plain.node.name)
        taken = {
            one.id for one in ast.walk(program.module) if isinstance(one, ast.Name)
        }
        taken |= {
            one.name
            for one in ast.walk(program.module)
            if isinstance(one, (ast.FunctionDef, ast.ClassDef))
        }
        calls = [one for site in plain.sites for one in site.calls]
        given = [program.given(one, names) for one in calls]
        if name in taken or None in given:
            continue
        for one, values in zip(calls, given, strict=True):
            assert values is not None
            parts = [program.of(values[names[0]])]
            parts += [f"training={program.of(values[n])}" for n in names[1:]]
            program.text.put(one, f"{program.of(one.func)}({', '.join(parts)})")
        for site in plain.sites:
            program.text.put(site.made.func, name)
        program.text.put(plain.node, _function(program, plain, name, made))
        return True
    return False


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


def _returned_weights(program: Program) -> bool:
    """Weights that a call gave back are read from the model."""
    for plain in program.classes:
        returns = [one for one in ast.walk(plain.call) if isinstance(one, ast.Return)]
        if plain.sites is None or len(returns) != 1 or len(plain.sites) != 1:
            continue
        value = returns[0].value
        if not isinstance(value, ast.Tuple):
            continue
        weights = {
            place: name
            for place, one in enumerate(value.elts)
            if (name := attribute_of_self(one)) is not None
        }
        (site,) = plain.sites
        owner = site.owner
        if (
            not weights
            or not isinstance(owner, ast.FunctionDef)
            or len(site.calls) != 1
        ):
            continue
        (called,) = site.calls
        statement = program.above[called]
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Tuple) or len(target.elts) != len(value.elts):
            continue
        names = {place: target.elts[place] for place in weights}
        bound = [
            one.id
            for one in ast.walk(owner)
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        ]
        once = all(
            isinstance(one, ast.Name) and bound.count(one.id) == 1
            for one in names.values()
        )
        if not once or len(weights) == len(value.elts):
            continue
        model = program.of(called.func)
        for node in ast.walk(owner):
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            for place, one in names.items():
                if isinstance(one, ast.Name) and node.id == one.id:
                    program.text.put(node, f"{model}.{weights[place]}")
        for listed in (target, value):
            kept = [
                program.of(o) for n, o in enumerate(listed.elts) if n not in weights
            ]
            program.text.put(listed, ", ".join(kept))
        return True
    return False


def _made_where_called(program: Program) -> bool:
    """A function that only makes a model and calls it stands where it is called."""
    for plain in program.classes:
        if plain.sites is None or len(plain.sites) != 1:
            continue
        (site,) = plain.sites
        function = site.owner
        if not isinstance(function, ast.FunctionDef) or len(site.calls) != 1:
            continue
        statements = _body(function)
        last = statements[-1]
        (called,) = site.calls
        if (
            len(statements) != 2
            or not isinstance(last, ast.Return)
            or last.value is not called
            or function.decorator_list
        ):
            continue
        holder = program.above.get(function)
        method = isinstance(holder, ast.ClassDef)
        uses = [
            one
            for one in ast.walk(program.module)
            if (isinstance(one, ast.Attribute) and one.attr == function.name)
            or (isinstance(one, ast.Name) and one.id == function.name)
        ]
        if len(uses) != 1 or program.seen(function.name):
            continue
        (use,) = uses
        call = program.above[use]
        if method and attribute_of_self(use) is None:
            continue
        if not isinstance(call, ast.Call) or call.func is not use:
            continue
        caller = program.owner(call)
        statement: ast.AST = call
        while not isinstance(statement, ast.stmt):
            statement = program.above[statement]
        if not isinstance(caller, ast.FunctionDef) or statement not in caller.body:
            continue
        names = parameters_of(function)[method:]
        model = "model"
        if model in bound_names(caller):
            continue
        first = _replaced(program, caller, call, site.made, names, "", method=method)
        second = _replaced(program, caller, call, called, names, model, method=method)
        if not first or not second:
            continue
        program.text.put(call, second[0][1])
        program.text.add(statement, f"{model} = {first[0][1]}")
        program.text.cut(function)
        return True
    return False


def _called_object(program: Program) -> bool:
    """A plain object that makes a model where it is called is the model itself."""
    for plain in program.classes:
        if plain.sites is None or len(plain.sites) != 1:
            continue
        (site,) = plain.sites
        function = site.owner
        outer = program.above.get(function)
        if (
            not isinstance(function, ast.FunctionDef)
            or function.name != "__call__"
            or not isinstance(outer, ast.ClassDef)
            or [dotted(one) for one in outer.bases] not in ([], ["object"])
        ):
            continue
        edits = _joined(program, plain, site, outer, function)
        if edits is not None:
            for edit in edits:
                program.text.replace(*edit)
            program.text.cut(plain.node)
            return True
    return False


_Edit = tuple[int, int, str]


def _joined(
    program: Program,
    plain: Plain,
    site: Site,
    outer: ast.ClassDef,
    function: ast.FunctionDef,
) -> list[_Edit] | None:
    """Edits that put the layers of a class into the object that makes it."""
    methods = {f.name: f for f in outer.body if isinstance(f, ast.FunctionDef)}
    init = methods.get("__init__")
    statements = _without_scopes(program, function.body)
    if init is None or "call" in methods or statements is None or len(site.calls) != 1:
        return None
    (called,) = site.calls
    made, run = program.above[site.made], program.above[called]
    if made not in statements or run not in statements:
        return None
    names = parameters_of(plain.call)[1:]
    given = program.given(called, names) or {}
    arguments = program.given(site.made, parameters_of(plain.init)[1:]) or {}
    own = {name for one in ast.walk(outer) if (name := attribute_of_self(one))}
    theirs = set(_own_attributes(plain))
    target = run.targets[0] if isinstance(run, ast.Assign) else None
    if (
        set(given) != set(names)
        or own & (theirs | RESERVED)
        or not all(isinstance(one, ast.Name) for one in given.values())
        or not (isinstance(run, ast.Return) or isinstance(target, ast.Name))
    ):
        return None
    renamed = {name: one.id for name, one in given.items() if isinstance(one, ast.Name)}
    local = bound_names(plain.call) - {*names, "self"}
    if local & (bound_names(function) - set(renamed.values())):
        return None
    stored = {
        program.of(one.targets[0]): one.value.id
        for one in init.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Name)
    }
    values = {
        name: stored.get(program.of(one), program.of(one))
        for name, one in arguments.items()
    }
    if (bound_names(plain.init) - {*parameters_of(plain.init)}) & bound_names(init):
        return None
    last = plain.call.body[-1]
    returns = [one for one in ast.walk(plain.call) if isinstance(one, ast.Return)]
    if returns != [last]:
        return None
    indent = program.text.indent(function.body[0])
    body: list[str] = []
    for one in statements:
        if one is made:
            continue
        if one is not run:
            body += _lines(program, one, {}, indent)
            continue
        inner = [part for part in plain.call.body if part is not last]
        for part in inner:
            body += _lines(program, part, renamed, indent)
        (result,) = _lines(program, last, renamed, indent)[-1:] or [""]
        value = result.strip().removeprefix("return ")
        if isinstance(run, ast.Return):
            body.append(result)
        elif isinstance(target, ast.Name) and value != target.id:
            body.append(f"{indent}{target.id} = {value}")
    layers = [
        line
        for one in _body(plain.init)[1:]
        for line in _lines(program, one, values, program.text.indent(init.body[0]))
    ]
    text = program.text
    edits: list[_Edit] = []
    header = text.code.index(outer.name, text.span(outer)[0]) + len(outer.name)
    end = text.code.index(":", header)
    edits.append((header, end, "(tf_keras.Model)"))
    first, _ = text.span(_body(init)[0])
    margin = text.indent(init.body[0])
    edits.append((first, first, f"super().__init__()\n{margin}"))
    _, after = text.span(init.body[-1])
    edits.append((after, after, "\n" + "\n".join(layers)))
    place = text.code.index("__call__", text.span(function)[0])
    edits.append((place, place + len("__call__"), "call"))
    start, _ = text.span(_body(function)[0])
    _, end = text.span(function.body[-1])
    edits.append((start, end, "\n".join(body).lstrip()))
    return edits


def _without_scopes(
    program: Program, statements: Sequence[ast.stmt]
) -> list[ast.stmt] | None:
    """Statements, with those inside of scopes that only name things in their place."""
    found: list[ast.stmt] = []
    for one in statements:
        if not isinstance(one, ast.With):
            found.append(one)
            continue
        for item in one.items:
            entered = item.context_expr
            if (
                item.optional_vars is not None
                or not isinstance(entered, ast.Call)
                or program.symbol(program.of(entered.func))
                not in ("tf.variable_scope", "tf.name_scope")
                or entered.keywords
                or len(entered.args) > 1
            ):
                return None
        inner = _without_scopes(program, one.body)
        if inner is None:
            return None
        found += inner
    return found


def _lines(
    program: Program, node: ast.stmt, names: Mapping[str, str], indent: str
) -> list[str]:
    """Lines of a statement at another depth, with other names, and its comments."""
    text = program.text
    margin = text.indent(node)
    start, end = text.span(node)
    start = text.comments_above(text.code.rfind("\n", 0, start) + 1, margin)
    rest = text.code[end : text.code.find("\n", end)]
    code = text.code[start:end] + (rest if rest.strip().startswith("#") else "")
    moved = Text(code)
    for one in (n for top in moved.body for n in ast.walk(top)):
        if isinstance(one, ast.Name) and names.get(one.id, one.id) != one.id:
            moved.put(one, names[one.id])
    return [
        indent + line.removeprefix(margin) if line.strip() else ""
        for line in moved.done().split("\n")
    ]


def _without_verb(program: Program) -> bool:
    """`Network` for a class that was called `BuildNetwork`, after its function."""
    names = {one.id for one in ast.walk(program.module) if isinstance(one, ast.Name)}
    defined = {
        one.name
        for one in ast.walk(program.module)
        if isinstance(one, (ast.ClassDef, ast.FunctionDef))
    }
    for plain in program.classes:
        old = plain.node.name
        verb = next((v for v in _VERBS if re.match(rf"{v}[A-Z]", old)), None)
        if plain.sites is None or verb is None:
            continue
        new = old.removeprefix(verb)
        if new in names | defined:
            continue
        program.names.discard(old)
        program.names.add(new)
        start, _ = program.text.span(plain.node)
        place = program.text.code.index(old, start)
        program.text.replace(place, place + len(old), new)
        for site in plain.sites:
            program.text.put(site.made.func, new)
        return True
    return False
