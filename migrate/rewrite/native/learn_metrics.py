"""Metrics that evaluations of tf.contrib.learn are given, and what they compare."""

from __future__ import annotations

import builtins
import re

import libcst as cst

from ...code.statements import is_docstring, names_in
from ...code.tree import only_small, statements_of
from ...names.scopes import BindingKind
from .code import Code
from .metrics import SIGNATURES, metric
from .page import Page, Part
from .word import Handler, Odd, Word, arguments, in_sight, placed, plain

_KEYS = ("prediction_key", "label_key", "weight_key")
# Names under which a function may take labels.
_LABELS = re.compile(r"(?<![\w.])(labels|label|targets|target)\b")


def _spec(page: Page, word: Word) -> None:
    """A metric of Keras, and what each batch gives it."""
    call, args = in_sight(page, word, ("metric_fn", *_KEYS), "metric_fn")
    function, key = args.pop("metric_fn").value, _key(page, call)
    told = _told(page, function)
    if key is None or told is None:
        why = "a MetricSpec ({}) is no entry of a dict with one function of tf.metrics"
        raise Odd(call, f"{why}: write one")
    symbol, given = told
    made = metric(symbol, key, given)
    if made.sample_weight is not None:
        raise Odd(call, "a metric ({}) has weights of its own: give a `weight_key`")
    values = ", ".join(made.update)
    # A partial has its arguments at once: so does the function that is written.
    read = names_in(f"({values})") - {"labels", "predictions", "tf", *dir(builtins)}
    more = sorted(one for one in read if not _is_imported(page, one))
    names = ", ".join(["labels", "predictions", *(f"{one}={one}" for one in more)])
    values = f"({values})" if len(made.update) > 1 else values
    text = f"MetricSpec({made.constructor.text}, lambda {names}: {values}"
    kept: dict[str, cst.CSTNode] = {}
    for name, arg in args.items():
        kept[f"{name.upper()}_ARGUMENT"] = arg.value
        text += f", {name}={name.upper()}_ARGUMENT"
    page.forget(word.node)
    page.drop_made(function)
    words = made.constructor.training | {"MetricSpec"}
    placed(page, call, Code(f"{text})", frozenset(words)), kept)


def _is_imported(page: Page, name: str) -> bool:
    bound = page.scopes.module_scope.bindings.get(name, ())
    return any(one.kind is BindingKind.IMPORT for one in bound)


def measuring(page: Page, node: cst.BaseExpression, metrics: cst.CSTNode) -> None:
    """Lets a trainer evaluate by more metrics, which get a name if they have none."""
    given: Part = metrics
    statement = page.statement(node)
    if isinstance(metrics, cst.Dict) and isinstance(statement, cst.SimpleStatementLine):
        given = page.free("metrics", "eval_metrics")
        start = page.span(statement)[0]
        end = f"{page.newline}{page.indent(statement)}"
        page.put_span(start, start, f"{given} = ", metrics, end)
    page.put(node, f"{page.take('with_metrics')}(", node, ", ", given, ")")


def _key(page: Page, call: cst.Call) -> str | None:
    """The text of the key under which a call stands in a dict."""
    holder = page.parent(call)
    if isinstance(holder, cst.DictElement):
        return page.source(holder.key)
    if isinstance(holder, cst.Assign) and len(holder.targets) == 1:
        target = holder.targets[0].target
        index = target.slice[0].slice if isinstance(target, cst.Subscript) else None
        return page.source(index.value) if isinstance(index, cst.Index) else None
    return None


def _told(page: Page, node: cst.BaseExpression) -> tuple[str, dict[str, str]] | None:
    """The function of TensorFlow that measures, and its arguments as texts."""
    value = page.value(node) or node
    symbol = page.symbol(value) or ""
    both = {"labels": "labels", "predictions": "predictions"}
    if both.keys() <= {*SIGNATURES.get(symbol, ())}:
        page.forget(value)
        return symbol, both
    if isinstance(value, cst.Call) and value.args:
        told = _told(page, value.args[0].value)
        more = arguments(page, value, ("metric_fn",))
        partial = page.resolver.qualified(value.func) == "functools.partial"
        if not partial or told is None or more is None:
            return None
        del more["metric_fn"]
        return told[0], {
            **told[1],
            **{k: plain(page, a.value) for k, a in more.items()},
        }
    made = page.resolver.definition(value)
    function = value if isinstance(value, cst.Lambda) else made
    if not isinstance(function, cst.Lambda | cst.FunctionDef):
        return None
    body: cst.CSTNode | None = function.body
    if isinstance(body, cst.IndentedBlock):
        inside = [one for one in statements_of(body) if not is_docstring(one)]
        small = only_small(inside[0]) if len(inside) == 1 else None
        body = small.value if isinstance(small, cst.Return) else None
    params = [one.name.value for one in function.params.params]
    names = [_LABELS.sub("labels", one) for one in params]
    called = page.symbol(body.func) or "" if isinstance(body, cst.Call) else ""
    args = None
    if isinstance(body, cst.Call) and called in SIGNATURES:
        args = arguments(page, body, SIGNATURES[called])
    if sorted(names) != [*both] or args is None or not isinstance(body, cst.Call):
        return None
    if isinstance(function, cst.FunctionDef):
        if len(page.loads_of(function)) > 1:
            return None
        page.drop_statement(function)
    page.forget(body.func)
    texts = {key: plain(page, arg.value) for key, arg in args.items()}
    if set().union(*map(names_in, texts.values())) - {"tf", *params}:
        return None
    return called, {key: _LABELS.sub("labels", text) for key, text in texts.items()}


WORDS: dict[str, Handler] = {"tf.contrib.learn.MetricSpec": _spec}
