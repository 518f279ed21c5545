"""What scopes give to the calls within, said by these calls themselves.

An arg_scope gives arguments to functions of contrib; a variable scope says how weights
begin and are penalized, where nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import libcst as cst

from ...code.arguments import entries_of, is_none
from ...code.blocked import Blocked
from ...code.edits import changed
from ...code.texts import source_text
from ...code.tree import Tree, walk
from ...model.contrib_functions import SIGNATURES, contrib_name
from ...model.evaluator import TAKES_SCOPE
from ...model.layer_functions import CLASSES, GET_VARIABLE, LAYERS, STARTS
from ...model.notes import Notes
from ...project.facts import ParsedModule, ProjectFacts
from .model_functions import is_model_fn
from .own_scopes import ARG_SCOPES
from .spelling import argument_of

_SCOPE = (
    "name_or_scope", "default_name", "values", "initializer", "regularizer",
    "caching_device", "partitioner", "custom_getter", "reuse", "dtype", "use_resource",
    "constraint",
)  # fmt: skip
# Functions without weights.
_EMPTY = ("Dropout", "Flatten", "Pooling", "dropout", "flatten", "pool")
# Functions that others call several times: which argument that is.
_TIMES = {"repeat": 2, "stack": 1}
# Cells, and what says how the kernel of one begins.
_KERNELS = {
    "BasicLSTMCell": "initializer",
    "LSTMBlockCell": "initializer",
    "LSTMCell": "initializer",
    "GRUCell": "kernel_initializer",
    "BasicRNNCell": "initializer",
    "MultiRNNCell": None,
}
# So many functions that call one another are looked at.
_MOST = 4
_Given = dict[str, cst.BaseExpression]


def with_scopes_said(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with calls that say what the scopes around them say; raises Blocked."""
    reader = ScopeReader(parsed)
    for function in parsed.each(cst.FunctionDef) if reader.scopes else ():
        wanted = reader.unknown_in(function, reader.around_each(function))
        handed = _handed_on(reader.tree, function, sorted(wanted))
        if handed:
            return with_scopes_said(changed(parsed, facts, handed), facts)
    calls = parsed.each(cst.Call)
    places = reader.cells_told(calls) if reader.scopes else {}
    gone = _without_decorators(reader, facts, parsed) if reader.scopes else {}
    places |= gone
    for call in calls if reader.scopes else ():
        given = reader.given(call, [*reader.around(call)], reader)
        places |= {call: _told(given, reader.parameters(call))} if given else {}
    parsed = changed(parsed, facts, places) if places else parsed
    # Functions that scopes no longer name may be told what is around their calls.
    return with_scopes_said(parsed, facts) if gone else parsed


def _without_decorators(
    reader: ScopeReader, facts: ProjectFacts, parsed: ParsedModule
) -> dict[cst.CSTNode, object]:
    """Functions that arg_scopes give arguments to, when their calls say these."""
    if any("arg_scope" in one for one in facts.texts_of_importers(parsed.path)):
        return {}
    found: dict[cst.CSTNode, object] = {}
    for node in parsed.each(cst.Decorator):
        if reader.tree.symbol(node.decorator) in TAKES_SCOPE:
            found[node] = None
    for scope in _items(reader.scopes):
        first = scope.args[0].value if scope.args else None
        elements = first.elements if isinstance(first, cst.List) else ()
        if reader.tree.symbol(scope.func) in ARG_SCOPES:
            found |= {one: None for one in elements if reader.own(one.value)}
    return found


def _handed_on(
    tree: Tree, function: cst.FunctionDef, names: Sequence[str]
) -> dict[cst.CSTNode, object]:
    """A function that is given what the scopes around its calls speak of."""
    calls = tree.calls_of(function) or ()
    bound = tree.resolver.scopes.opened[function].bindings
    if not names or {*names} & {*bound} or function.params.star_kwarg is not None:
        return {}
    params = [*function.params.params]
    place = sum(one.default is None for one in params)
    if any(sum(a.keyword is None for a in call.args) > place for call in calls):
        none = cst.Name("None")
        params += [cst.Param(cst.Name(one), default=none) for one in names]
    else:
        params[place:place] = [cst.Param(cst.Name(one)) for one in names]
    places: dict[cst.CSTNode, object] = {
        function.params: function.params.with_changes(params=params)
    }
    more = [argument_of(cst.Name(one), cst.Name(one)) for one in names]
    for call in calls:
        places[call] = lambda now: now.with_changes(args=[*now.args, *more])
    return places


def handed_by_scopes(
    files: Sequence[ParsedModule], functions: Collection[cst.CSTNode], notes: Notes
) -> dict[cst.CSTNode, object]:
    """Edits for functions that are called in scopes which say something of weights.

    They are given it, and give it to the layers that they make; raises Blocked.
    """
    handing = _Handing([ScopeReader(one) for one in files], notes)
    for reader in handing.readers:
        for call in reader.tree.each(cst.Call):
            if reader.tree.function(call) in functions:
                handing.look_at(call, reader)
    return handing.edits()


class _Handing:
    """Functions that get parameters, and calls that give them what scopes say."""

    def __init__(self, readers: Sequence[ScopeReader], notes: Notes) -> None:
        self.readers = readers
        self.notes = notes
        self.homes = {scope: one for one in readers for scope in one.scopes}
        self.given: dict[cst.Call, _Given] = {}
        self.parameters: dict[cst.FunctionDef, list[str]] = {}

    def look_at(self, call: cst.Call, reader: ScopeReader) -> None:
        """Takes what scopes give to a call that makes weights from a parameter."""
        self._check_object(call, reader)
        for scope in self._outer(call, reader):
            outer = self.homes[scope]
            for key in reader.given(call, [scope], outer):
                kind = key.rpartition("_")[2]
                function = reader.tree.function(call)
                why = why_around(source_text(getattr(function, "name", call)), [key])
                of_functions = any(True for _ in outer.arg_scopes(_items([scope])))
                if of_functions or not self._hand(function, kind, reader):
                    raise outer.stop(scope, why)
                self.given.setdefault(call, {})[key] = cst.Name(kind)

    def _outer(self, call: cst.Call, reader: ScopeReader) -> list[cst.With]:
        """The scopes around the calls that lead to the function of a call."""
        found = {one for way in self.notes.around.get(call, ()) for one in way}
        found -= {*reader.around(call, 0)}
        return [one for one in self.homes if one in found]

    def _hand(
        self, function: cst.CSTNode | None, kind: str, reader: ScopeReader
    ) -> bool:
        """Gives a function a parameter, wherever it is called; tells whether it can."""
        if not isinstance(function, cst.FunctionDef):
            return False
        known = self.parameters.setdefault(function, [])
        if kind in known:
            return True
        known.append(kind)
        scopes, params = reader.tree.resolver.scopes, function.params
        taken = {*scopes.opened[function].bindings}
        taken |= {one.value for one in walk(function, cst.Name) if one in scopes.loads}
        takes_any = isinstance(params.star_arg, cst.Param) or is_model_fn(function)
        if kind in taken or takes_any:
            return False
        calls = [one for one, to in self.notes.entered.items() if function in to]
        return all(self._gives(one, kind) for one in calls)

    def _gives(self, call: cst.CSTNode, kind: str) -> bool:
        """Says an argument in a call, and whether that can be done."""
        here = next((one for one in self.readers if one.tree.holds(call)), None)
        if here is None or not isinstance(call, cst.Call) or call in self.notes.symbols:
            return False
        own = here.variable_scopes(_items([*here.around(call, 0)]))
        value = own.get(kind)
        outer = self._outer(call, here)
        if value is None and any(
            kind in self.homes[one].variable_scopes(_items([one])) for one in outer
        ):
            value = cst.Name(kind)
            if not self._hand(here.tree.function(call), kind, here):
                return False
        if value is not None:
            self.given.setdefault(call, {})[kind] = value
        return all(
            self._hand(one, kind, reader)
            for one in self.notes.entered[call]
            for reader in self.readers
            if reader.tree.holds(one)
        )

    def edits(self) -> dict[cst.CSTNode, object]:
        """What becomes of the calls and of the parameters."""
        none = cst.Name("None")
        places: dict[cst.CSTNode, object] = {
            function.params: function.params.with_changes(
                params=[
                    *function.params.params,
                    *(cst.Param(cst.Name(one), default=none) for one in kinds),
                ]
            )
            for function, kinds in self.parameters.items()
        }
        for reader in self.readers:
            for call in filter(reader.tree.holds, self.given):
                names = reader.parameters(call) if call in self.notes.symbols else ()
                places[call] = _told(self.given[call], names)
        return places

    def _check_object(self, call: cst.Call, reader: ScopeReader) -> None:
        """Raises Blocked where scopes give a layer something as it is made or called.

        TensorFlow 1 made its weights when it was called.
        """
        called = self.notes.applied_in.get(call)
        if called is None or reader.tree.symbol(call.func) not in CLASSES:
            return
        ways: list[tuple[cst.With, ...]] = [()] if call in self.notes.bare else []
        told = [
            {one for one in way if one in self.homes and self._says(one)}
            for way in (*ways, *self.notes.around.get(call, ()), *called)
        ]
        if any(one != told[0] for one in told):
            why = why_around(reader.tree.code(call.func), ["initializer"])
            raise reader.stop(call, why)

    def _says(self, scope: cst.With) -> bool:
        return bool(self.homes[scope].variable_scopes(_items([scope])))


def _told(given: _Given, names: Sequence[str]) -> Callable[[cst.Call], cst.Call]:
    """Adds arguments to a call, or puts them in the place of None."""

    def change(now: cst.Call) -> cst.Call:
        left = dict(given)
        args = [
            one.with_changes(value=left.pop(name, one.value))
            for name, one in _named(now, names)
        ]
        args += [argument_of(value, cst.Name(name)) for name, value in left.items()]
        return now.with_changes(args=args)

    return change


def _named(call: cst.Call, names: Sequence[str]) -> Iterator[tuple[str, cst.Arg]]:
    """Arguments with the names of their parameters."""
    for place, one in enumerate(call.args):
        known = names[place] if place < len(names) else ""
        yield one.keyword.value if one.keyword is not None else known, one


class ScopeReader:
    """The scopes of a file, and calls that they give something to."""

    def __init__(self, parsed: ParsedModule) -> None:
        self.name = parsed.path.name
        self.tree = Tree(parsed.module, parsed.resolver)
        self.scopes = parsed.each(cst.With)
        # Cells say themselves how their kernels begin.
        self.told = False

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        """What to raise where it cannot be told what a scope gives."""
        line = self.tree.line(node)
        return Blocked(line, f"{reason} ({self.name}:{line})")

    def around(self, call: cst.CSTNode, most: int = _MOST) -> Iterator[cst.With]:
        """The scopes of the function around a call, the innermost first.

        Then arg_scopes around the calls of this function, where these are the same.
        """
        before: cst.CSTNode = call
        for one in self.tree.ancestors(call):
            if isinstance(one, (cst.FunctionDef, cst.Lambda)):
                if isinstance(one, cst.FunctionDef) and most:
                    yield from self._around_calls(one, most - 1)
                return
            if isinstance(one, cst.With) and before is one.body:
                yield one
            before = one

    def _around_calls(self, function: cst.FunctionDef, most: int) -> list[cst.With]:
        """The arg_scopes around all calls of a function, which can say the same."""
        scopes = self.around_each(function, most)
        return [] if self.unknown_in(function, scopes) else scopes

    def around_each(self, function: cst.FunctionDef, most: int = 1) -> list[cst.With]:
        """The arg_scopes around all calls of a function, if these are the same."""
        found = [
            [
                one
                for one in self.around(call, most)
                if any(self.tree.symbol(c.func) in ARG_SCOPES for c in _items([one]))
                and not self.variable_scopes(_items([one]))
            ]
            for call in self.tree.calls_of(function) or ()
        ]
        texts = {tuple(map(source_text, _items(one))) for one in found}
        return found[0] if len(texts) == 1 else []

    def unknown_in(
        self, function: cst.FunctionDef, scopes: Sequence[cst.With]
    ) -> set[str]:
        """Names in scopes that do not mean the same in a function that is called."""
        resolver = self.tree.resolver
        names = [one.name.value for one in function.params.params]
        handed = {*names}
        for call in self.tree.calls_of(function) or ():
            given = {name: source_text(one.value) for name, one in _named(call, names)}
            handed = {one for one in handed if given.get(one) == one}
        outside = [resolver.scopes.module_scope]
        return {
            one.value
            for scope in _items(scopes)
            for one in walk(scope, cst.Name)
            if one in resolver.scopes.loads and one.value not in handed
            if [b.scope for b in resolver.bindings(one)] not in ([], outside)
        }

    def cells_told(self, calls: Sequence[cst.Call]) -> dict[cst.CSTNode, object]:
        """Cells with the initializer of the scopes in which all of them are run."""
        starts: dict[str, cst.BaseExpression | None] = {}
        for call in calls:
            if (self.tree.symbol(call.func) or "").endswith("_rnn"):
                items = _items([*self.around(call)])
                start = self.tree.value(self.variable_scopes(items).get("initializer"))
                starts[source_text(start) if start is not None else ""] = start
        if len(starts) != 1:
            return {}
        (start,) = starts.values()
        kinds = [(self.tree.symbol(c.func) or "").rpartition(".")[2] for c in calls]
        if start is None or any(
            one.endswith("Cell") and one not in _KERNELS for one in kinds
        ):
            return {}
        found: dict[cst.CSTNode, object] = {}
        for call, kind in zip(calls, kinds, strict=True):
            name = _KERNELS.get(kind)
            if name is None:
                continue
            if not self._means_same(start, call):
                return {}
            if not any(
                one.keyword is not None and one.keyword.value == name
                for one in call.args
            ):
                found[call] = _told({name: start}, ())
        self.told = bool(found)
        return found

    def _means_same(self, value: cst.BaseExpression, place: cst.CSTNode) -> bool:
        """Its names are the module's, or have one value in the function of a place."""
        scopes = self.tree.resolver.scopes
        return all(
            bound[0].scope is scopes.module_scope
            or (len(bound) == 1 and bound[0].scope.node is self.tree.function(place))
            for name in walk(value, cst.Name)
            if (bound := self.tree.resolver.bindings(name))
        )

    def check(self, function: cst.CSTNode, scope: cst.With, outer: ScopeReader) -> None:
        """Raises Blocked where a scope around a function's calls gives it something."""
        for call in walk(function, cst.Call):
            given = self.given(call, [scope], outer)
            if given:
                name = source_text(getattr(function, "name", call.func))
                raise outer.stop(scope, why_around(name, [*given]))

    def _function(self, call: cst.Call) -> str:
        """The symbol of the function that makes layers."""
        symbol = self.tree.symbol(call.func) or ""
        place = _TIMES.get(contrib_name(symbol) or "")
        if place is not None and len(call.args) > place:
            return self.tree.symbol(call.args[place].value) or ""
        return symbol

    def own(self, func: cst.BaseExpression) -> cst.FunctionDef | None:
        """A function of the file that takes what arg_scopes give it."""
        defined = self.tree.resolver.definition(func)
        if not isinstance(defined, cst.FunctionDef):
            return None
        takes = [self.tree.symbol(one.decorator) for one in defined.decorators]
        return defined if {*takes} & TAKES_SCOPE else None

    def parameters(self, call: cst.Call) -> Sequence[str]:
        """Names of the arguments that a call gives by their places."""
        symbol = self._function(call)
        name = contrib_name(symbol)
        if name is not None:
            several = contrib_name(self.tree.symbol(call.func)) in _TIMES
            return (*["", ""][: 2 * several], *SIGNATURES.get(name, ()))
        own = self.own(call.func)
        if own is not None:
            return [one.name.value for one in own.params.params]
        if symbol in LAYERS:
            return (LAYERS[symbol].inputs, *LAYERS[symbol].parameters)
        return CLASSES[symbol].parameters if symbol in CLASSES else GET_VARIABLE

    def given(
        self, call: cst.Call, scopes: Sequence[cst.With], outer: ScopeReader
    ) -> _Given:
        """What scopes, of the ``outer`` file, give to a call that does not say it."""
        symbol = self._function(call) if scopes else ""
        starts, open_to = _left_open(symbol)
        own = self.own(call.func) if scopes else None
        if starts is None and own is None:
            return {}
        items = _items(scopes)
        said = {key: one.value for key, one in _named(call, self.parameters(call))}
        if own is not None or starts is None:
            told = [given for names, given in outer.arg_scopes(items) if own in names]
            return {k: v for one in told for k, v in one.items() if k not in said}
        found = self._of_contrib(symbol, said, [*outer.arg_scopes(items)])
        for kind, value in outer.variable_scopes(items).items():
            parts = [one for one in starts if one.endswith(kind)]
            if kind == "regularizer" and "kernel_initializer" in starts:
                parts = _penalized(said)
            if kind in open_to and not parts:
                if self.told and kind == "initializer" and symbol.endswith("_rnn"):
                    continue
                shown = self.tree.code(call.func)
                raise self.stop(call, why_around(shown, [kind]))
            found |= {one: value for one in parts if is_none(said.get(one))}
        return found

    def _of_contrib(
        self, symbol: str, said: _Given, scopes: Sequence[tuple[set[object], _Given]]
    ) -> _Given:
        """What arg_scopes give to a function, and to what normalizes its outputs."""

        def of(function: str | None) -> _Given:
            found: _Given = {}
            for functions, given in scopes:
                found |= given if function in functions else {}
            return found

        name = contrib_name(symbol)
        found = {key: value for key, value in of(name).items() if key not in said}
        said = said | found
        inner = of(contrib_name(self.tree.symbol(said.get("normalizer_fn"))))
        if inner:
            parts = [f"'{key}': {source_text(one)}" for key, one in inner.items()]
            params = said.get("normalizer_params")
            known = entries_of(params)
            if known is not None and inner.keys() <= known.keys():
                return found
            if known is not None:
                parts = [f"'{k}': {source_text(v)}" for k, v in (inner | known).items()]
            elif params is not None and not is_none(params):
                parts.append(f"**{source_text(params)}")
            code = f"{{{', '.join(parts)}}}"
            found["normalizer_params"] = cst.parse_expression(code)
        return found

    # -- what scopes say

    def arg_scopes(
        self, items: Sequence[cst.Call]
    ) -> Iterator[tuple[set[object], _Given]]:
        """The functions of arg_scopes, and what these get, the outermost first."""
        for node in reversed(items):
            if self.tree.symbol(node.func) not in ARG_SCOPES:
                continue
            shown = self.tree.code(node)
            first = [one.value for one in node.args if one.keyword is None]
            if any(one.star for one in node.args):
                raise self.stop(node, f"`{shown}` with `**` arguments")
            if len(first) != 1 or not isinstance(first[0], (cst.List, cst.Tuple)):
                raise self.stop(node, f"`{shown}` does not name its functions")
            named = [one.value for one in first[0].elements]
            functions: set[object] = {contrib_name(self.tree.symbol(o)) for o in named}
            functions |= {self.own(one) for one in named}
            functions.discard(None)
            yield functions, {key: one.value for key, one in _named(node, ()) if key}

    def _is_told(self, name: cst.BaseExpression) -> bool:
        """A scope that is entered again says something of weights, or may do so."""
        code = self.tree.code(name)
        begun = [
            one
            for one in self.scopes
            for item in one.items
            if item.asname is not None and self.tree.code(item.asname.name) == code
        ]
        return any(
            key in ("initializer", "regularizer")
            for one in begun
            for scope in _items([one, *self.around(one, 0)])
            for key, _ in _named(scope, _SCOPE)
        )

    def variable_scopes(self, items: Sequence[cst.Call]) -> _Given:
        """How weights begin, and their penalty, as the innermost scopes say."""
        found: _Given = {}
        for node in items:
            if self.tree.symbol(node.func) != "tf.variable_scope":
                continue
            for name, one in _named(node, _SCOPE):
                if is_none(one.value):
                    continue
                if name in ("custom_getter", "constraint"):
                    raise self.stop(node, f"a variable scope with `{name}`")
                if name == "name_or_scope" and self._is_told(one.value):
                    why = why_around(self.tree.code(node), ["initializer"])
                    raise self.stop(node, why)
                if name in ("initializer", "regularizer"):
                    found.setdefault(name, one.value)
        return found


def _items(scopes: Sequence[cst.With]) -> list[cst.Call]:
    """What scopes enter, the innermost first."""
    return [
        item.item
        for scope in scopes
        for item in reversed(scope.items)
        if isinstance(item.item, cst.Call)
    ]


def _left_open(symbol: str) -> tuple[Sequence[str] | None, Sequence[str]]:
    """What a variable scope may say of a function's weights, and what cannot be said.

    None for a function without weights.
    """
    name = contrib_name(symbol)
    if symbol == "tf.get_variable" or name == "embed_sequence":
        return ("initializer", "regularizer"), ()
    if any(one in symbol for one in _EMPTY):
        return (() if name in SIGNATURES else None), ()
    if symbol in LAYERS or symbol in CLASSES:
        kind = (LAYERS.get(symbol) or CLASSES[symbol]).keras
        return STARTS.get(kind, ()), ("regularizer",)
    if name in SIGNATURES:
        return (), ("regularizer",)
    many = symbol.startswith("tf.") and (symbol.endswith("_rnn") or "crf" in symbol)
    return (() if many else None), ("initializer", "regularizer")


def _penalized(said: _Given) -> list[str]:
    """What a scope's regularizer is for, in a layer of a kernel and a bias.

    Nothing, where the layer has one of its own: TensorFlow 1 then applied both.
    """
    parts = ["kernel_regularizer", "bias_regularizer"]
    if not all(is_none(said.get(one)) for one in parts):
        return []
    biased = said.get("use_bias")
    return parts[: 1 if biased and source_text(biased) == "False" else 2]


def why_around(shown: str, given: Sequence[str]) -> str:
    """Why a scope that gives such arguments around a call keeps its program."""
    kinds = [one.rpartition("_")[2] for one in given]
    if not {*kinds} <= {"initializer", "regularizer"}:
        return f"an arg_scope is around the calls of `{shown}`"
    return f"the scope around `{shown}` gives its weights a {' and a '.join(kinds)}"
