"""Feature columns of tf.contrib.layers, in the words of tf.feature_column."""

from __future__ import annotations

import libcst as cst

from ...code.arguments import is_none
from ...code.tree import walk
from .page import Page
from .word import Handler, Word, arguments, in_sight

_LAYERS = "tf.contrib.layers."
_INFERRED = "tf.contrib.learn.infer_real_valued_columns_from_input"
_REAL = f"{_LAYERS}real_valued_column"
# What stands for each, and the parameters by position: `new=old` where a name changed,
# `-old` where there is none any more.
_COLUMNS = {
    "real_valued_column": (
        "numeric_column key=column_name shape=dimension default_value dtype "
        "normalizer_fn=normalizer"
    ),
    "bucketized_column": "bucketized_column source_column boundaries",
    "sparse_column_with_hash_bucket": (
        "categorical_column_with_hash_bucket key=column_name hash_bucket_size "
        "-combiner dtype"
    ),
    "sparse_column_with_keys": (
        "categorical_column_with_vocabulary_list key=column_name vocabulary_list=keys "
        "default_value -combiner dtype"
    ),
    "sparse_column_with_integerized_feature": (
        "categorical_column_with_identity key=column_name num_buckets=bucket_size "
        "-combiner -dtype"
    ),
    "weighted_sparse_column": (
        "weighted_categorical_column categorical_column=sparse_id_column "
        "weight_feature_key=weight_column_name dtype"
    ),
    "one_hot_column": "indicator_column categorical_column=sparse_id_column",
    "embedding_column": (
        "embedding_column categorical_column=sparse_id_column dimension combiner "
        "initializer -ckpt_to_load_from -tensor_name_in_ckpt max_norm trainable"
    ),
    "crossed_column": (
        "crossed_column columns hash_bucket_size -combiner -ckpt_to_load_from "
        "-tensor_name_in_ckpt hash_key"
    ),
    "create_feature_spec_for_parsing": "make_parse_example_spec feature_columns",
}
# Those that begin, or divide, as they did by functions of training.py.
_OURS = ("embedding_column", "crossed_column")
# What the arguments that are gone may have said.
_SAME = {"combiner": ("'sum'", '"sum"'), "dtype": ("tf.int64", "tf.int32")}
_WHOLE = "is for features without names: give it in the Estimator's call"


def _column(page: Page, word: Word) -> None:
    """A column whose numbers are those of a column of tf.feature_column."""
    name = word.symbol.rpartition(".")[2]
    today, *told = _COLUMNS[name].split()
    names = {one.split("=")[-1].lstrip("-"): one.split("=")[0] for one in told}
    if page.is_rewritten(word.node):
        return
    call, args = in_sight(page, word, (*names,))
    for index, (old, arg) in enumerate(args.items()):
        new = names.get(old)
        if new is None or (old == "dimension" and is_none(arg.value)):
            page.refuse(call, f"`{word.symbol}` ({{}}) is made with `{old}`")
        elif new.startswith("-"):
            text = page.source(arg.value)
            if not is_none(arg.value) and text not in _SAME.get(old, ()):
                page.refuse(call, f"`{word.symbol}` ({{}}) is made with `{old}`")
            page.drop_argument(call, arg)
        elif arg.keyword is not None:
            page.rename_keyword(arg, new)
        elif index > 1:
            page.put_before(arg.value, f"{new}=")
    if today in _OURS:
        page.rename(word.node, page.take(today))
    else:
        word.spell(page, page.tf(word.node, f"feature_column.{today}"))
    if name == "crossed_column":
        page.note(call, "crosses fall into other buckets than in tf.contrib.layers")
    if "column_name" in args and _is_empty(page, args["column_name"]):
        page.refused_if_it_stays[call] = f"`{word.symbol}` ({{}}) {_WHOLE}"


def _inferred(page: Page, word: Word) -> None:
    """A column for all features, which a model takes as they are."""
    if not page.is_rewritten(word.node):
        page.refused_if_it_stays[word.node] = f"`{word.symbol}` ({{}}) {_WHOLE}"


def is_of_all_features(page: Page, node: cst.BaseExpression | None) -> bool:
    """Columns, or one, that stand for features without names."""
    if isinstance(node, (cst.List, cst.Tuple)) and len(node.elements) == 1:
        node = page.value(node.elements[0].value)
    symbol = page.symbol(node.func) if isinstance(node, cst.Call) else None
    if not isinstance(node, cst.Call) or symbol not in (_REAL, _INFERRED):
        return False
    args = arguments(page, node, ("column_name", "dimension")) or {}
    if symbol == _INFERRED:
        return not any(isinstance(page.value(a.value), cst.Dict) for a in node.args)
    known = "column_name" in args and _is_empty(page, args["column_name"])
    return known and args.keys() <= {"column_name", "dimension", "dtype"}


def _is_empty(page: Page, arg: cst.Arg) -> bool:
    return page.source(arg.value) in ("''", '""')


def drop_columns(page: Page, node: cst.BaseExpression) -> None:
    """Takes out columns for features without names, when no model takes them."""
    for one in walk(node, cst.Call):
        page.refused_if_it_stays.pop(one, None)
        page.refused_if_it_stays.pop(one.func, None)
        page.rewritten.add(one)
    names = [one for one in walk(node, cst.Name) if one in page.scopes.loads]
    page.replaced.update(names)
    for name in names:
        binding = page.assigned(name)
        if binding is None or binding.value is None:
            continue
        if page.replaced.issuperset(page.uses(binding)):
            page.drop_statement(page.statement(binding.value))
            drop_columns(page, binding.value)


WORDS: dict[str, Handler] = {
    **{f"{_LAYERS}{name}": _column for name in _COLUMNS},
    _INFERRED: _inferred,
}
