"""What exports are asked with: receivers, exporters, and models loaded again."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..symbols.nodes import walk
from .page import Page, Part, Statement
from .word import Handler, Word, arguments, is_none, taken

__all__ = ["WORDS", "exports", "receivers"]

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
_GIVEN = ("serving_input_receiver_fn", "serving_input_fn")
# What an export has one form of today, and where the best figures are kept.
_FORMATS = ("strip_default_attrs", "as_text", "event_file_pattern", "assets_extra")


def receivers(page: Page) -> None:
    """Functions of placeholders become functions of tensors, with a signature."""
    for call in page.scopes.calls.values():
        if page.symbol(call.func) in _RECEIVERS:
            try:
                _Receiver(page, call).rewrite()
            except _Odd as odd:
                page.refuse(odd.node, f"a receiver ({{}}) {odd.why}")


class _Odd(Exception):
    """What a receiver does that no function of tensors can."""

    def __init__(self, node: cst.CSTNode, why: str) -> None:
        super().__init__(why)
        self.node, self.why = node, why


@dataclass
class _Receiver:
    page: Page
    call: cst.Call

    def rewrite(self) -> None:
        """Makes parameters of the placeholders, and returns the features alone."""
        page, function = self.page, self.page.function(self.call)
        holder = page.parent(self.call)
        if not isinstance(function, cst.FunctionDef) or not isinstance(
            holder, cst.Return
        ):
            raise _Odd(self.call, "is not what a function returns")
        params = function.params
        if (
            params.params
            or params.kwonly_params
            or isinstance(params.star_arg, cst.Param)
        ):
            raise _Odd(
                function, "takes arguments: make a function that takes none of it"
            )
        args = arguments(page, self.call, _RECEIVERS[page.symbol(self.call.func) or ""])
        if args is None or not {"features", "receiver_tensors"} <= args.keys():
            raise _Odd(self.call, "is made in a way that is not understood")
        for name, arg in args.items():
            known = name in ("features", "receiver_tensors")
            if not known and not is_none(arg.value):
                raise _Odd(arg.value, f"has `{name}`")
        received = args["receiver_tensors"].value
        specs, names, gone = self._parameters(function, received)
        for statement in gone:
            page.drop_statement(statement)
        if function.decorators:
            raise _Odd(function, "has decorators")
        place = page.span(function.name)[1]
        page.put_span(place, page.text.index(")", place) + 1, f"({', '.join(names)})")
        start = page.span(function)[0]
        decorated = page.tf(self.call.func, "function")
        head: list[Part] = [f"@{decorated}(input_signature=["]
        for index, spec in enumerate(specs):
            head += [", " if index else "", *spec]
        page.put_span(start, start, *head, f"]){page.newline}{page.indent(function)}")
        page.replaced.update(n for n in walk(self.call.func) if isinstance(n, cst.Name))
        self._return(holder, args["features"].value, set(names))

    def _return(
        self, holder: cst.Return, features: cst.BaseExpression, names: set[str]
    ) -> None:
        page = self.page
        bare = isinstance(features, cst.Name) and features.value in names
        single = (page.symbol(self.call.func) or "").endswith(".ServingInputReceiver")
        if bare and single and not self.is_dict:
            page.put(self.call, f"{{{page.string('feature')}: ", features, "}")
            return
        binding = page.assigned(features)
        block = list(page.block(page.statement(holder)))
        place = block.index(page.statement(holder))
        before = block[place - 1] if place else None
        made = binding.value if binding is not None else None
        reads = len(page.reads(binding)) if binding is not None else 0
        single = isinstance(before, cst.SimpleStatementLine) and len(before.body) == 1
        if (
            made is not None
            and before is not None
            and page.statement(made) is before
            and reads == 1
            and single
        ):
            # ``features = f(x)`` and ``return features``
            start = page.span(before)[0]
            page.put_span(start, page.span(holder)[1], "return ", made)
            return
        page.put(self.call, features)

    is_dict: bool = False

    def _parameters(
        self, function: cst.FunctionDef, received: cst.BaseExpression
    ) -> tuple[list[list[Part]], list[str], list[Statement]]:
        """Specs and names of the parameters, and statements that made placeholders."""
        page = self.page
        made = [
            one
            for one in walk(function.body)
            if isinstance(one, cst.Call) and page.symbol(one.func) == _PLACEHOLDER
        ]
        value = page.value(received)
        if isinstance(received, cst.Name) and isinstance(
            value, (cst.Dict, cst.DictComp)
        ):
            pairs = list(walk(value))
            if all(one in pairs for one in made):
                return self._dict(received.value, value)
        if not isinstance(value, cst.Dict):
            binding = page.assigned(received)
            if value in made and binding is not None and len(made) == 1:
                assert isinstance(value, cst.Call)
                spec = self._spec(value, page.string("input"))
                return [spec], [binding.name], [page.statement(value)]
            raise _Odd(received, "gets what is computed: give it placeholders by name")
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
                raise _Odd(one, "gets what is computed: give it placeholders by name")
            specs.append(self._spec(tensor, page.source(element.key)))
            names.append(binding.name)
            gone.append(page.statement(tensor))
        if len(names) != len(made):
            raise _Odd(received, "has placeholders that nobody feeds")
        if isinstance(received, cst.Name):
            gone.append(page.statement(value))
        return specs, names, gone

    def _dict(
        self, name: str, value: cst.Dict | cst.DictComp
    ) -> tuple[list[list[Part]], list[str], list[Statement]]:
        """``inputs = {"size": tf.placeholder(...), ...}`` is one parameter."""
        page = self.page
        self.is_dict = True
        elements = (
            [(value.key, value.value)]
            if isinstance(value, cst.DictComp)
            else [
                (one.key, one.value)
                for one in value.elements
                if isinstance(one, cst.DictElement)
            ]
        )
        for key, tensor in elements:
            call = tensor if isinstance(tensor, cst.Call) else None
            if call is None or page.symbol(call.func) != _PLACEHOLDER:
                raise _Odd(tensor, "gets what is computed: name its placeholders")
            page.put(call, *self._spec(call, page.source(key)))
        return [[value]], [name], [page.statement(value)]

    def _spec(self, call: cst.Call, name: str) -> list[Part]:
        """``tf.TensorSpec(shape, dtype, name)`` of a placeholder."""
        page = self.page
        return _spec(page, call, name)


def _spec(page: Page, call: cst.Call, name: str | None) -> list[Part]:
    args = arguments(page, call, ("dtype", "shape", "name"))
    if args is None or "dtype" not in args:
        raise _Odd(call, "has a placeholder that is made in a way not understood")
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
        page.refuse(word.node, f"`{word.symbol}` ({{}}) is not called in plain sight")
        return
    for one in walk(features):
        if isinstance(one, cst.Call) and page.symbol(one.func) == _PLACEHOLDER:
            page.put(one, *_spec(page, one, None))
            page.replaced.update(n for n in walk(one.func) if isinstance(n, cst.Name))
            page.rewritten.add(one)


# -- exports ---------------------------------------------------------------------------


def exports(page: Page) -> None:
    """The arguments of export methods, and what they return."""
    for node, call in page.scopes.calls.items():
        if not isinstance(node, cst.Attribute) or node.attr.value not in _METHODS:
            continue
        if page.resolver.qualified(node) is not None:
            continue
        for arg in call.args:
            name = arg.keyword.value if arg.keyword is not None else None
            if name in _GIVEN:
                page.rename_keyword(arg, "receiver")
            elif name in _FORMATS:
                _drop(page, call, arg)
        for index, arg in enumerate(call.args):
            name = arg.keyword.value if arg.keyword is not None else None
            if name in _GIVEN or (name is None and index == 1):
                _direct(page, arg)
        _decoded(page, call)


def _drop(page: Page, call: cst.Call, arg: cst.Arg) -> None:
    """Takes out an argument that says how an export is written."""
    name = arg.keyword.value if arg.keyword is not None else None
    if name == "assets_extra" and not is_none(arg.value):
        page.refuse(arg.value, "`assets_extra` ({}) has no native form yet")
    else:
        page.drop_argument(call, arg)


def _direct(page: Page, arg: cst.Arg) -> None:
    """``lambda: receiver()`` is the receiver."""
    value = arg.value
    if not isinstance(value, cst.Lambda) or value.params.params:
        return
    body = value.body
    if isinstance(body, cst.Call) and not body.args:
        page.put(value, body.func)
    else:
        page.refuse(value, "a receiver ({}) takes arguments: make one that takes none")


def _decoded(page: Page, call: cst.Call) -> None:
    """The path of an export was bytes, and is text."""
    holder = page.parent(call)
    reads: list[cst.BaseExpression] = [call]
    if isinstance(holder, cst.Assign) and isinstance(
        holder.targets[0].target, cst.Name
    ):
        name = holder.targets[0].target.value
        scope = page.scope(call)
        reads += [
            read
            for read in page.loads(name)
            if any(one.scope is scope for one in page.resolver.bindings(read))
        ]
    for read in reads:
        attribute = page.parent(read)
        decoded = page.parent(attribute) if attribute is not None else None
        if (
            isinstance(attribute, cst.Attribute)
            and attribute.attr.value == "decode"
            and isinstance(decoded, cst.Call)
            and decoded.func is attribute
        ):
            end = page.outer(read)[1]
            page.put_span(end, page.span(decoded)[1])


def _exporter(page: Page, word: Word) -> None:
    for arg in word.call.args if word.call is not None else ():
        name = arg.keyword.value if arg.keyword is not None else None
        if name in _GIVEN:
            page.rename_keyword(arg, "receiver")
        if name in _GIVEN or isinstance(arg.value, cst.Lambda):
            _direct(page, arg)
        elif name in _FORMATS and word.call is not None:
            _drop(page, word.call, arg)


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


_PARSING = "build_parsing_serving_input_receiver_fn"


def _nothing(page: Page, word: Word) -> None:
    """What a receiver is made of is changed with its function."""


WORDS: dict[str, Handler] = {
    **dict.fromkeys(_RECEIVERS, _nothing),
    f"{_EXPORT}{_PARSING}": taken("parsing_receiver"),
    "tf.contrib.learn.build_parsing_serving_input_fn": taken("parsing_receiver"),
    "tf.contrib.learn.utils.input_fn_utils.build_parsing_serving_input_fn": taken(
        "parsing_receiver"
    ),
    f"{_EXPORT}build_raw_serving_input_receiver_fn": taken("raw_receiver", _raw),
    **{
        f"tf.estimator.{name}": taken(name, _exporter)
        for name in ("BestExporter", "FinalExporter", "LatestExporter")
    },
    "tf.contrib.predictor.from_saved_model": taken("from_saved_model", _loaded),
}
