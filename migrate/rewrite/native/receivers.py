"""What exports are asked with: receivers, exporters, and models loaded again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from ...code.arguments import is_none
from ...code.statements import is_docstring
from ...code.tree import Statement, walk
from ...project.facts import ParsedModule
from .page import Page, Part, Region
from .word import (
    Handler,
    Odd,
    Word,
    arguments,
    named,
    not_seen,
    nothing,
    taken,
)

_EXPORT = "tf.estimator.export."
_RECEIVERS = {
    f"{_EXPORT}ServingInputReceiver": (
        *("features", "receiver_tensors", "receiver_tensors_alternatives"),
    ),
    f"{_EXPORT}TensorServingInputReceiver": (
        *("features", "receiver_tensors", "receiver_tensors_alternatives"),
    ),
    "tf.contrib.learn.utils.input_fn_utils.InputFnOps": (
        *("features", "labels", "receiver_tensors"),
    ),
    "tf.contrib.learn.InputFnOps": ("features", "labels", "receiver_tensors"),
}
_PLACEHOLDER = "tf.placeholder"
_METHODS = ("export_savedmodel", "export_saved_model")


def receivers(page: Page) -> None:
    """Functions of placeholders become functions of tensors, with a signature."""
    for call in page.scopes.calls.values():
        if page.symbol(call.func) in _RECEIVERS:
            try:
                _Receiver(page, call).rewrite()
            except Odd as odd:
                page.refuse(odd.node, f"a receiver ({{}}) {odd.why}")
        outer = page.call_of(call)
        if outer is not None and _builds(page.parsed, outer):
            function = page.function(outer)
            if not isinstance(function, cst.FunctionDef):
                continue
            made, named = _returned(page.parsed, function), page.parent(outer)
            if made is outer:
                page.put(outer, call)
            elif made is None or not isinstance(named, cst.Assign):
                page.refuse(outer, "a receiver ({}) is made where none is asked for")
    for one in page.files:
        for function in _makers(one):
            _Uses(page, one, function).rewrite()


def _makers(parsed: ParsedModule) -> Iterator[cst.FunctionDef]:
    """Functions that return a receiver, and were one."""
    functions = parsed.resolver.scopes.opened
    for one in (each for each in functions if isinstance(each, cst.FunctionDef)):
        made = _returned(parsed, one)
        if made is None:
            continue
        built = _built(parsed, one) or _builds(parsed, made)
        if built or one.params.params or _filled(parsed, one):
            yield one


def _returned(parsed: ParsedModule, function: cst.FunctionDef) -> cst.Call | None:
    """The receiver that a function returns at its end."""
    last = function.body.body[-1]
    small = last.body[0] if isinstance(last, cst.SimpleStatementLine) else None
    value = small.value if isinstance(small, cst.Return) else None
    call = value if isinstance(value, cst.Call) else None
    known = call is not None and parsed.resolver.resolve(call.func) in _RECEIVERS
    return call if known or _builds(parsed, call) else None


def _filled(parsed: ParsedModule, function: cst.FunctionDef) -> list[cst.Call]:
    """The placeholders in ``inputs[key] = tf.placeholder(...)``."""
    return [
        node.value
        for node in walk(function.body, cst.Assign)
        if isinstance(node.targets[0].target, cst.Subscript)
        and isinstance(node.value, cst.Call)
        and parsed.resolver.resolve(node.value.func) == _PLACEHOLDER
    ]


def _builds(parsed: ParsedModule, node: cst.CSTNode | None) -> bool:
    """``build_parsing_serving_input_receiver_fn(...)()``."""
    maker = getattr(getattr(node, "func", None), "func", None)
    told = parsed.resolver.resolve(maker) if maker is not None else None
    return (told or "").rpartition(".")[2] in (_PARSING, _RAW)


def _built(parsed: ParsedModule, function: cst.FunctionDef) -> cst.Assign | None:
    """What gives the receiver of another function a name."""
    found = walk(function.body, cst.Assign)
    return next((one for one in found if _builds(parsed, one.value)), None)


@dataclass
class _Uses:
    """The places that hand a function about which makes a receiver now."""

    page: Page
    home: ParsedModule
    function: cst.FunctionDef

    def rewrite(self) -> None:
        """Calls the function where it was handed about."""
        page = self.page
        for node in self.nodes():
            call = page.call_of(node)
            holder = page.parent(call or node)
            outer = page.parent(holder) if isinstance(holder, cst.Arg) else None
            if call is not None and isinstance(holder, cst.Lambda):
                page.put(holder, call)
            elif call is not None:
                page.refuse(node, "a receiver ({}) is made where none is asked for")
            elif (
                isinstance(outer, cst.Call)
                and outer.args[0] is holder
                and (page.resolver.qualified(outer.func) == "functools.partial")
            ):
                start = page.span(node)[1]
                rest = page.text.find(",", start) + 1 or start
                page.put_span(page.span(outer)[0], page.span(node)[0])
                page.put_span(start, rest, "(")
                while page.text[rest : rest + 1] == " ":
                    page.put_span(rest, rest + 1)
                    rest += 1
            elif all(one.default is not None for one in self.parameters()):
                page.put(node, f"{page.source(node)}()")
            else:
                page.refuse(node, "a receiver ({}) lacks its arguments")

    def nodes(self) -> list[cst.BaseExpression]:
        """What means the function; a method may be of whatever object."""
        page, name = self.page, self.function.name.value
        if not self.is_method():
            nodes = [one.node for one in page.scopes.uses]
            return [one for one in nodes if _last(one) == name and self.is_meant(one)]
        found = [one for one in page.parsed.each(cst.Attribute) if _last(one) == name]
        every = [one for file in page.files for one in file.each(cst.FunctionDef)]
        if sum(one.name.value == name for one in every) > 1:
            for one in found:
                page.refuse(one, "{} may be one of several functions")
        return [*found]

    def parameters(self) -> Sequence[cst.Param]:
        """What a call has to give."""
        return self.function.params.params[self.is_method() :]

    def is_method(self) -> bool:
        classes = self.home.each(cst.ClassDef)
        return any(self.function in one.body.body for one in classes)

    def is_meant(self, node: cst.BaseExpression) -> bool:
        if self.home is self.page.parsed:
            return self.page.resolver.definition(node) is self.function
        path = self.page.resolver.qualified(node)
        return path == f"{self.home.name}.{self.function.name.value}"


def _last(node: cst.Name | cst.Attribute) -> str:
    return node.value if isinstance(node, cst.Name) else node.attr.value


@dataclass
class _Receiver:
    page: Page
    call: cst.Call
    is_dict: bool = False

    def rewrite(self) -> None:
        """Makes parameters of the placeholders, and returns the features alone."""
        page, function = self.page, self.page.function(self.call)
        if not isinstance(function, cst.FunctionDef) or function.decorators:
            raise Odd(self.call, "is not what a function returns")
        if _returned(page.parsed, function) is not self.call:
            raise Odd(self.call, "is not what a function returns at its end")
        args = arguments(page, self.call, _RECEIVERS[page.symbol(self.call.func) or ""])
        if args is None or not {"features", "receiver_tensors"} <= args.keys():
            raise Odd(self.call, "is made in a way that is not understood")
        for name, arg in args.items():
            if name not in ("features", "receiver_tensors") and not is_none(arg.value):
                raise Odd(arg.value, f"has `{name}`")
        features = args["features"].value
        received = _uncopied(page, args["receiver_tensors"].value)
        page.replaced.update(n for n in walk(self.call.func, cst.Name))
        built = _built(page.parsed, function)
        if built is not None:
            self._around(function, built, features)
            return
        filled = _filled(page.parsed, function)
        if filled:
            self._raw(filled, features, received)
            return
        specs, names, gone = self._parameters(function, received)
        for statement in gone:
            page.drop_statement(statement)
        self._return(features, set(names))
        decorated = page.tf(self.call.func, "function")
        inside = f"{page.newline}{page.indent(function)}    "
        several = inside if len(specs) > 1 else ""
        head: list[Part] = [f"@{decorated}(input_signature=["]
        for index, spec in enumerate(specs):
            head += [several or (" " if index else ""), *spec, ","]
        head[-1:] = [f",{inside[:-4]}" if several else "", "])", page.newline]
        if function.params.params:
            self._nest(function, head, names)
            return
        place = page.span(function.name)[1]
        page.put_span(place, page.text.index(")", place) + 1, f"({', '.join(names)})")
        start = page.span(function)[0]
        page.put_span(start, start, *head, page.indent(function))

    def _raw(
        self,
        filled: list[cst.Call],
        features: cst.BaseExpression,
        received: cst.BaseExpression,
    ) -> None:
        """``inputs[key] = tf.placeholder(...)``, which are the features."""
        page = self.page
        if not isinstance(received, cst.Name):
            raise Odd(received, "gets what is computed: give it placeholders by name")
        if page.source(features) != received.value:
            self._computed(filled, features, received)
            return
        for one in filled:
            if len(one.args) < 2:
                raise Odd(one, "has a placeholder of no known shape")
            page.put(one, *_spec(page, one, None))
        page.put(self.call, f"{page.take('raw_receiver')}(", features, ")")

    def _computed(
        self, filled: list[cst.Call], features: cst.BaseExpression, received: cst.Name
    ) -> None:
        """``inputs[key] = tf.placeholder(...)``, of which features are computed."""
        page, function = self.page, self.page.function(self.call)
        assert isinstance(function, cst.FunctionDef)
        for one in filled:
            holder = page.parent(one)
            assert isinstance(holder, cst.Assign)
            target = holder.targets[0].target
            assert isinstance(target, cst.Subscript)
            if page.source(target.value) != received.value or len(holder.targets) > 1:
                raise Odd(one, "is no part of what is received alone")
            page.put(one, *_spec(page, one, page.source(target.slice[0])))
        begun = page.value(received)
        if isinstance(begun, (cst.Dict, cst.DictComp)):
            self._specs(begun)
        self.is_dict = True
        self._return(features, {received.value})
        body = [*function.body.body]
        inside = [n for n, one in enumerate(body) if {*filled} & {*walk(one)}]
        made = {n for one in body[: inside[-1] + 1] for n in walk(one)}
        told = sum(one in made for one in self._reads(received))
        if told > len(filled):
            raise Odd(received, "is read among its placeholders: read it behind them")
        decorated = page.tf(self.call.func, "function")
        signature = f"@{decorated}(input_signature=[{received.value}]){page.newline}"
        head: list[Part] = [signature]
        self._nest(function, head, [received.value], body[inside[-1] + 1 :])

    def _around(
        self, function: cst.FunctionDef, built: cst.Assign, features: cst.CSTNode
    ) -> None:
        """What another receiver takes, of whose features some more are computed."""
        page, body = self.page, [*function.body.body]
        name, made = page.source(built.targets[0].target), page.statement(built)
        reads = [one for one in page.loads(name) if page.function(one) is function]
        taken = {page.source(one): one for one in map(page.parent, reads) if one}
        read = taken.get(f"{name}.features")
        told = taken.get(f"{name}.receiver_tensors")
        known = told in {*walk(self.call)} and len(reads) == 2 and made in body
        if not read or not known:
            raise Odd(self.call, "is made of another one in a way not understood")
        assert isinstance(built.value, cst.Call)
        page.put(built.value, built.value.func)
        if read is features:
            page.put(self.call, name)
            return
        given = page.free("inputs", "received")
        page.put(read, f"{name}({given})")
        page.put(self.call, features)
        decorated = page.tf(self.call.func, "function")
        head = f"@{decorated}(input_signature={name}.input_signature){page.newline}"
        self._nest(function, [head], [given], body[body.index(made) + 1 :])

    def _nest(
        self,
        function: cst.FunctionDef,
        head: list[Part],
        names: list[str],
        body: Sequence[cst.BaseStatement | cst.BaseSmallStatement] = (),
    ) -> None:
        """A function that takes arguments returns the receiver, made within it."""
        page = self.page
        blank = page.newline if body else ""
        body = body or [one for one in function.body.body if not is_docstring(one)]
        first = page.context.lines.starts[page.line(body[0]) - 1]
        end = page.span(self.call)[1]
        if any(row.count('"""') % 2 for row in page.text[first:end].splitlines()):
            raise Odd(function, "has a text over several lines")
        indent, newline = page.indent(body[0]), page.newline
        name = page.free("receive", "receive_tensors")
        page.put_span(
            first,
            end,
            blank,
            indent,
            *head,
            f"{indent}def {name}({', '.join(names)}):{newline}",
            Region(first, end, len(page.step)),
            f"{newline}{newline}{indent}return {name}",
        )

    def _return(self, features: cst.BaseExpression, names: set[str]) -> None:
        page = self.page
        bare = isinstance(features, cst.Name) and features.value in names
        single = (page.symbol(self.call.func) or "").endswith(".ServingInputReceiver")
        if bare and single and not self.is_dict:
            page.put(self.call, f"{{{page.string('feature')}: ", features, "}")
            return
        holder = page.statement(self.call)
        binding = page.assigned(features)
        block = list(page.block(holder))
        place = block.index(holder)
        before = block[place - 1] if place else None
        made = binding.value if binding is not None else None
        inside = set(walk(self.call))
        others = page.uses(binding) if binding is not None else []
        reads = 1 + sum(one not in inside for one in others)
        plain = isinstance(before, cst.SimpleStatementLine) and len(before.body) == 1
        plain = plain and before is not None and not page.is_gone(before)
        if made is not None and plain and page.statement(made) is before and reads == 1:
            # ``features = f(x)`` and ``return features``
            assert before is not None
            start = page.span(before)[0]
            page.put_span(start, page.span(self.call)[1], "return ", made)
            return
        page.put(self.call, features)

    def _parameters(
        self, function: cst.FunctionDef, received: cst.BaseExpression
    ) -> tuple[list[list[Part]], list[str], list[Statement]]:
        """Specs and names of the parameters, and statements that made placeholders."""
        page = self.page
        made = [
            one
            for one in walk(function.body, cst.Call)
            if page.symbol(one.func) == _PLACEHOLDER
        ]
        self._check_known(function, made)
        value = page.value(received)
        if isinstance(received, cst.Name) and isinstance(
            value, (cst.Dict, cst.DictComp)
        ):
            pairs = list(walk(value))
            if all(one in pairs for one in made):
                self._check_known(function, [value])
                return self._dict(received.value, value)
        if not isinstance(value, cst.Dict):
            binding = page.assigned(received)
            if value in made and binding is not None and len(made) == 1:
                assert isinstance(value, cst.Call)
                spec = _spec(page, value, page.string("input"))
                return [spec], [binding.name], [page.statement(value)]
            raise Odd(received, "gets what is computed: give it placeholders by name")
        specs, names, gone = [], [], []
        for element in value.elements:
            one = element.value
            tensor = page.value(one)
            binding = page.assigned(one)
            if (
                not isinstance(element, cst.DictElement)
                or not isinstance(tensor, cst.Call)
                or tensor not in made
                or binding is None
            ):
                raise Odd(one, "gets what is computed: give it placeholders by name")
            specs.append(_spec(page, tensor, page.source(element.key)))
            names.append(binding.name)
            gone.append(page.statement(tensor))
        if len(names) != len(made):
            raise Odd(received, "has placeholders that nobody feeds")
        if isinstance(received, cst.Name) and len(self._reads(received)) < 1:
            gone.append(page.statement(value))
        return specs, names, gone

    def _reads(self, node: cst.BaseExpression) -> list[cst.Name]:
        """Places that read a name, but for the one that says what is received."""
        binding = self.page.assigned(node)
        found = self.page.uses(binding) if binding is not None else []
        return [one for one in found if one is not node]

    def _check_known(
        self, function: cst.FunctionDef, nodes: Sequence[cst.CSTNode]
    ) -> None:
        """A signature stands before what the function computes."""
        scope = self.page.scopes.opened[function]
        params = {one.name.value for one in function.params.params}
        for node in (one for top in nodes for one in walk(top)):
            if isinstance(node, cst.Name) and node in self.page.scopes.loads:
                bound = self.page.resolver.bindings(node)
                own = any(one.scope is scope for one in bound)
                if own and node.value not in params:
                    raise Odd(node, f"has placeholders that depend on `{node.value}`")

    def _dict(
        self, name: str, value: cst.Dict | cst.DictComp
    ) -> tuple[list[list[Part]], list[str], list[Statement]]:
        """``inputs = {"size": tf.placeholder(...), ...}`` is one parameter."""
        page = self.page
        self.is_dict = True
        keys = self._specs(value)
        function = page.function(value)
        nested = isinstance(function, cst.FunctionDef) and function.params.params
        moved = 0 if nested else -len(page.step)
        lines = [page.line(key) for key in keys]
        if not nested and lines and lines[-1] > lines[0] == page.line(value):
            # What stood below the first one hangs now, as that does.
            first = page.outer(keys[0])[0]
            column = page.context.lines.place(first)[1] - 1
            head = page.newline + " " * column
            page.put_span(page.span(value)[0] + 1, first, head)
            moved = len(page.step) - column
        return [[Region(*page.outer(value), moved)]], [name], [page.statement(value)]

    def _specs(self, value: cst.Dict | cst.DictComp) -> list[cst.BaseExpression]:
        """Makes specs of the placeholders in a dict; returns its keys."""
        page = self.page
        parts = [value] if isinstance(value, cst.DictComp) else value.elements
        kinds = (cst.DictComp, cst.DictElement)
        elements = [(one.key, one.value) for one in parts if isinstance(one, kinds)]
        for key, tensor in elements:
            call = tensor if isinstance(tensor, cst.Call) else None
            if call is None or page.symbol(call.func) != _PLACEHOLDER:
                raise Odd(tensor, "gets what is computed: give it placeholders by name")
            page.put(call, *_spec(page, call, page.source(key)))
        return [key for key, _ in elements]


def _uncopied(page: Page, node: cst.BaseExpression) -> cst.BaseExpression:
    """``features`` of ``dict(features)``"""
    if isinstance(node, cst.Call) and page.source(node.func) == "dict":
        given = [one.value for one in node.args]
        return given[0] if [*map(type, given)] == [cst.Name] else node
    return node


def _spec(page: Page, call: cst.Call, name: str | None) -> list[Part]:
    args = arguments(page, call, ("dtype", "shape", "name"))
    if args is None or "dtype" not in args:
        raise Odd(call, "has a placeholder that is made in a way not understood")
    page.replaced.update(n for n in walk(call.func, cst.Name))
    shape: Part = args["shape"].value if "shape" in args else "None"
    parts: list[Part] = [page.tf(call.func, "TensorSpec"), "(", shape, ", "]
    parts += [args["dtype"].value]
    if name is not None:
        parts += [f", name={name}"]
    return [*parts, ")"]


def _raw(page: Page, word: Word) -> None:
    """Features by name, as placeholders, are what a signature says of them."""
    features = None
    if word.call is not None:
        args = arguments(page, word.call, ("features", "default_batch_size")) or {}
        features = page.value(args["features"].value) if "features" in args else None
    if features is None:
        raise not_seen(word)
    made: list[cst.CSTNode] = [*walk(features)]
    for name in [one for one in made if isinstance(one, cst.Name)]:
        binding = page.assigned(name)
        if binding is not None and page.uses(binding) == [name]:
            made.append(binding.value or name)
    function = page.function(word.node)
    if isinstance(function, cst.FunctionDef):
        made += _filled(page.parsed, function)
    for one in made:
        if isinstance(one, cst.Call) and page.symbol(one.func) == _PLACEHOLDER:
            page.put(one, *_spec(page, one, None))


# -- exports ---------------------------------------------------------------------------


_EXPORTED = (
    *("folder", "receiver", "assets_extra", "as_text", "checkpoint_path"),
    "strip_default_attrs",
)
_NOT_EXPORTED = ("assets_extra", "default_output_alternative_key")
_GIVEN = "serving_input_receiver_fn"
# Names of a parameter in its years.
_OLD = {
    "export_dir_base": "folder",
    "serving_input_receiver_fn": "receiver",
    "serving_input_fn": "receiver",
}


def exports(page: Page) -> None:
    """The arguments of export methods, and what they return."""
    for node, call in page.scopes.calls.items():
        if not isinstance(node, cst.Attribute) or node.attr.value not in _METHODS:
            continue
        if page.resolver.qualified(node) is not None:
            continue
        if node.attr.value != _METHODS[-1]:
            page.put(node.attr, _METHODS[-1])
        page.words.add(_METHODS[-1])
        receiving(page, call, _EXPORTED, ("folder", "receiver", "checkpoint_path"))
        _decoded(page, call)


def receiving(
    page: Page, call: cst.Call, parameters: Sequence[str], kept: Sequence[str]
) -> None:
    """The arguments of what takes a receiver, with those alone that have a meaning."""
    args = arguments(page, call, parameters)
    if args is None:
        page.refuse(call, "the arguments of an export ({}) are hidden by stars")
        return
    renamed = {_OLD.get(name, name): arg for name, arg in args.items()}
    named(page, call, renamed, 2)
    for name, arg in renamed.items():
        if arg.keyword is not None and arg.keyword.value != name:
            page.rename_keyword(arg, name)
        if name == "receiver":
            _direct(page, arg)
        elif name not in kept:
            page.drop_argument(call, arg)
            if name in _NOT_EXPORTED and not is_none(arg.value):
                page.refuse(arg.value, f"an export takes no `{name}` ({{}})")


def _direct(page: Page, arg: cst.Arg) -> None:
    """``lambda: receiver()`` is the receiver."""
    value = arg.value
    if not isinstance(value, cst.Lambda) or value.params.params:
        return
    body = value.body
    if isinstance(body, cst.Call) and _makes_receiver(page, body.func):
        return
    if isinstance(body, cst.Call) and not body.args:
        page.put(value, body.func)
    else:
        page.refuse(value, "a receiver ({}) takes arguments: make one that takes none")


def _makes_receiver(page: Page, node: cst.BaseExpression) -> bool:
    return any(
        _Uses(page, one, function).is_meant(node)
        for one in page.files
        for function in _makers(one)
    )


def _decoded(page: Page, call: cst.Call) -> None:
    """The path of an export was bytes, and is text."""
    holder = page.parent(call)
    reads: list[cst.BaseExpression] = [call]
    if isinstance(holder, cst.Assign):
        reads += page.reads(holder, page.source(holder.targets[0].target))
    for read in reads:
        attribute = page.parent(read)
        decoded = page.call_of(attribute) if attribute is not None else None
        if (
            not isinstance(attribute, cst.Attribute)
            or attribute.attr.value != "decode"
            or decoded is None
        ):
            continue
        statement = page.statement(read)
        if page.source(statement) != f"{page.source(read)} = {page.source(decoded)}":
            page.put_span(page.outer(read)[1], page.span(decoded)[1])
            continue
        above = page.parent(page.parent(statement) or statement)
        if isinstance(above, cst.If) and len(above.body.body) == 1 > bool(above.orelse):
            statement = above  # ``if isinstance(path, bytes): path = path.decode()``
        page.drop_statement(statement)


_EXPORTERS = {
    "BestExporter": (
        *("name", "receiver", "event_file_pattern", "compare_fn", "assets_extra"),
        *("as_text", "exports_to_keep"),
    ),
    "FinalExporter": ("name", "receiver", "assets_extra", "as_text"),
    "LatestExporter": (
        *("name", "receiver", "assets_extra", "as_text", "exports_to_keep"),
    ),
}


_FIRST = (
    "TF 1.15's BestExporter never exported the first evaluation of a run, as it let it "
    "compete with itself; TensorFlow 2 and this one do"
)


def _exporter(page: Page, word: Word) -> None:
    if word.call is not None:
        if word.symbol.endswith(".BestExporter"):
            page.note(word.node, _FIRST)
        kept = ("name", "receiver", "compare_fn", "exports_to_keep")
        receiving(page, word.call, _EXPORTERS[word.symbol.split(".")[-1]], kept)


_LOADED = (
    *("export_dir", "signature_def_key", "signature_def", "input_names"),
    *("output_names", "tags", "graph", "config"),
)


def _loaded(page: Page, word: Word) -> None:
    """A saved model that is asked with arrays and answers with arrays."""
    args = None if word.call is None else arguments(page, word.call, _LOADED)
    for name, arg in ({} if args is None else args).items():
        if name in ("graph", "config") and word.call is not None:
            page.drop_argument(word.call, arg)
            page.drop_made(arg.value)
        elif name not in _LOADED[:2] and not is_none(arg.value):
            page.refuse(arg.value, f"`{name}` of from_saved_model ({{}})")


def _asked(page: Page, word: Word) -> None:
    """A Trainer that is asked through a receiver."""
    parameters = ("trainer", "receiver", "output_key", "graph", "config")
    if word.call is not None:
        args = arguments(page, word.call, parameters) or {}
        for name, old in (("trainer", "estimator"), ("receiver", _GIVEN)):
            arg = args.get(old) or args.get(name)
            if arg is not None and arg.keyword is not None:
                page.rename_keyword(arg, name)
            if arg is not None and name == "receiver":
                _direct(page, arg)
        for name in ("graph", "config"):
            if name in args:
                page.drop_argument(word.call, args[name])


_PARSING = "build_parsing_serving_input_receiver_fn"
_RAW = "build_raw_serving_input_receiver_fn"


WORDS: dict[str, Handler] = {
    **dict.fromkeys(_RECEIVERS, nothing),
    f"{_EXPORT}{_PARSING}": taken("parsing_receiver"),
    "tf.contrib.learn.build_parsing_serving_input_fn": taken("parsing_receiver"),
    "tf.contrib.learn.utils.input_fn_utils.build_parsing_serving_input_fn": taken(
        "parsing_receiver"
    ),
    f"{_EXPORT}{_RAW}": taken("raw_receiver", _raw),
    **{f"tf.estimator.{name}": taken(name, _exporter) for name in _EXPORTERS},
    "tf.contrib.predictor.from_estimator": taken("from_estimator", _asked),
    "tf.contrib.predictor.from_saved_model": taken("from_saved_model", _loaded),
}
