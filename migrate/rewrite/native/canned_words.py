"""Canned Estimators, whose models come to stand in the program."""

from __future__ import annotations

import libcst as cst

from ...code.statements import names_in
from ...names.nodes import walk
from .canned import LEARN, PLAIN, SIGNATURES, SIGNATURES_2, canned
from .code import Code, Refused
from .config import string
from .contrib_columns import drop_columns, is_of_all_features
from .metrics import SIGNATURES as METRICS
from .metrics import metric
from .page import Page
from .tidy import with_casts
from .word import (
    Handler,
    Odd,
    Word,
    arguments,
    in_sight,
    not_seen,
    placed,
    plain,
    spelled,
)

# What is written for arguments that stay as they are, with their own words changed.
_STAND = {"model_dir": "MODEL_DIR_ARGUMENT", "config": "CONFIG_ARGUMENT"}


def _canned(page: Page, word: Word) -> None:
    signatures = SIGNATURES_2 if page.for_tf2 else SIGNATURES
    call, args = in_sight(page, word, signatures[word.symbol])
    given: dict[str, str] = {}
    kept: dict[str, cst.CSTNode] = {}
    for name, arg in args.items():
        value: cst.BaseExpression = arg.value
        if name in _STAND:
            given[name] = _STAND[name]
            kept[_STAND[name]] = value
            continue
        if name.endswith("feature_columns"):
            columns = page.value(value)
            if is_of_all_features(page, columns):
                given[name] = PLAIN
            else:
                given[name] = _columns(page, value, kept)
            continue
        if name.endswith("optimizer") or name == "head":
            value = page.value(value) or value
            if _is_made_elsewhere(page, value):
                why = f"whose {name} is not made in its call"
                raise Odd(word.node, f"`{word.symbol}` ({{}}) {why}")
        elif name == "weight_column":
            value = page.value(value) or value
        given[name] = plain(page, value)
    number = page.value(args["n_classes"].value) if "n_classes" in args else None
    code = canned(
        word.symbol,
        given,
        tf2=page.for_tf2,
        rows=page.says("embedding"),
        shared_columns=page.says("shared_embedding_column"),
        classes=int(number.value) if isinstance(number, cst.Integer) else None,
    )
    page.forget(word.node)
    if word.symbol.startswith(LEARN):
        _check_learned(page)
    for name, arg in args.items():
        if given[name] == PLAIN:
            drop_columns(page, arg.value)
        if name.endswith("optimizer") or name in ("head", "weight_column"):
            page.drop_made(arg.value)
    placed(page, call, code, kept)


def _columns(
    page: Page, value: cst.BaseExpression, kept: dict[str, cst.CSTNode]
) -> str:
    """The text of columns; those that are made there stay, with their own words."""
    if isinstance(value, cst.List):
        texts = [
            "*" * isinstance(one, cst.StarredElement) + _columns(page, one.value, kept)
            for one in value.elements
        ]
        return f"[{', '.join(texts)}]"
    text = plain(page, value)
    if "tf.contrib.layers." in text:
        text = f"COLUMN_{len(kept):02}_ARGUMENT()"
        kept[text] = value
    return text


# What Estimators of tf.contrib.learn tell of their weights.
_WEIGHTS = {"weights_", "bias_", "linear_weights_", "linear_bias_", "dnn_weights_"}


def _check_learned(page: Page) -> None:
    """Refuses what is asked of an Estimator of tf.contrib.learn, and no Trainer has."""
    for one in page.parsed.each(cst.Attribute):
        if one.attr.value in _WEIGHTS:
            why = "is asked of an Estimator, and no Trainer has it: take those of"
            page.refuse(one, f"`{one.attr.value}` ({{}}) {why} `task.model`")


def _is_made_elsewhere(page: Page, value: cst.BaseExpression) -> bool:
    """A function makes it that no file of the program defines."""
    made = value.body if isinstance(value, cst.Lambda) else value
    if not isinstance(made, cst.Call) or not isinstance(made.func, cst.Name):
        return False
    if page.symbol(made.func) is not None:
        return False
    name = made.func.value
    return not any(
        one.name.value == name
        for parsed in page.files
        for one in parsed.each(cst.FunctionDef)
    )


def _add_metrics(page: Page, word: Word) -> None:
    """A trainer with more metrics, whose function tells what these are given."""
    call, args = in_sight(page, word, ("trainer", "measured"))
    page.rename(word.node, page.take("add_metrics"))
    for name, old in (("trainer", "estimator"), ("measured", "metric_fn")):
        if old in args:
            page.rename_keyword(args[old], name)
            args[name] = args[old]
    try:
        made = _measured(page, args["measured"].value)
    except (Odd, Refused) as problem:
        page.refuse(call, f"the metrics ({{}}) are not added: {problem}")
        return
    keyword = "make_metrics=" if "metric_fn" in args else ""
    shown = ", ".join(made)
    if len(made) > 1:
        line = f"{page.newline}{page.indent(call)}{page.step}"
        shown = "".join(f"{line}{page.step}{one}," for one in made) + line
    page.add_argument(call, f"{keyword}lambda: [{shown}]")


def _measured(page: Page, node: cst.BaseExpression) -> list[str]:
    """The metrics of a function, which tells from now on what they are given."""
    value = page.value(node)
    function = (
        value if isinstance(value, cst.Lambda) else page.resolver.definition(node)
    )
    returned: cst.BaseExpression | None
    name, alone = "lambda", True
    if isinstance(function, cst.Lambda):
        returned = function.body
    elif isinstance(function, cst.FunctionDef):
        name = function.name.value
        loads = [page.resolver.definition(n) for n in page.loads(name)]
        alone = loads.count(function) == 1
        returns = list(walk(function, cst.Return))
        returned = returns[0].value if len(returns) == 1 else None
    else:
        raise Odd(node, "their function is not one of the file")
    told = page.value(returned)
    given_name = page.assigned(returned)
    if given_name is not None and len(page.uses(given_name)) > 1:
        alone = False  # something else is added to it
    if not isinstance(told, cst.Dict) or not alone:
        raise Odd(node, f"`{name}` returns no plain dictionary, or is used besides")
    found = []
    for one in told.elements:
        made = page.value(one.value)
        symbol = page.symbol(made.func) if isinstance(made, cst.Call) else None
        args = None
        if isinstance(made, cst.Call) and symbol in METRICS:
            args = arguments(page, made, METRICS[symbol])
        if (
            not isinstance(one, cst.DictElement)
            or not isinstance(made, cst.Call)
            or not isinstance(one.key, cst.SimpleString)
            or symbol is None
            or args is None
        ):
            raise Odd(one, f"`{name}` returns more than metrics by their names")
        given = {key: plain(page, arg.value) for key, arg in args.items()}
        known = metric(symbol, page.source(one.key), given)
        names = names_in(known.constructor.text)
        if names & set(page.scopes.opened[function].bindings):
            raise Odd(one, f"a metric of `{name}` is made of what only it knows")
        found.append(spelled(page, node, known.constructor))
        values = [*known.update, *filter(None, [known.sample_weight])]
        page.rewritten.add(made)
        page.forget(made.func)
        shown = ", ".join(map(with_casts, values))
        placed(page, made, Code(f"({shown})" if len(values) > 1 else shown))
    return found


def _forward_features(page: Page, word: Word) -> None:
    _, args = in_sight(page, word, ("trainer", "keys"))
    if "sparse_default_values" in args:
        raise not_seen(word)
    page.rename(word.node, page.take("forward_features"))
    if "estimator" in args:
        page.rename_keyword(args["estimator"], "trainer")


# What tf.contrib.learn called outputs.
_KEYS = {
    name.upper(): name
    for name in ("classes", "probabilities", "logits", "logistic", "scores")
}
_HOMES = (LEARN, f"{LEARN}prediction_key.", f"{LEARN}estimators.prediction_key.")

WORDS: dict[str, Handler] = {
    **{
        f"{home}PredictionKey.{name}": string(key)
        for name, key in _KEYS.items()
        for home in _HOMES
    },
    **dict.fromkeys(SIGNATURES, _canned),
    "tf.estimator.add_metrics": _add_metrics,
    "tf.contrib.estimator.add_metrics": _add_metrics,
    "tf.contrib.estimator.forward_features": _forward_features,
}
