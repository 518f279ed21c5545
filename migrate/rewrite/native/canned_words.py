"""Canned Estimators, whose models come to stand in the program."""

from __future__ import annotations

import libcst as cst

from .added_metrics import ADD_METRICS, add_metrics
from .canned import LEARN, PLAIN, SIGNATURES, SIGNATURES_2, canned
from .config import string
from .contrib_columns import drop_columns, is_of_all_features
from .page import Page
from .word import (
    Handler,
    Odd,
    Word,
    in_sight,
    not_seen,
    placed,
    plain,
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
    **dict.fromkeys(ADD_METRICS, add_metrics),
    "tf.contrib.estimator.forward_features": _forward_features,
}
