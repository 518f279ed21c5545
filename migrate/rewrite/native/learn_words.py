"""Estimators of tf.contrib.learn: how they are called, in the words of a Trainer.

What makes an object says whether it is one; where that is not seen, a program is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...code.arguments import is_none
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule
from .config import make_trainer
from .page import Page, Part
from .tables import exports
from .word import Handler, Word, arguments, in_sight, keywords, taken

LEARN = "tf.contrib.learn."
_SK = f"{LEARN}SKCompat"
# Classes that are something else, or are called like Trainers.
_CLASSES = ("Estimator", "Classifier", "Regressor", "SKCompat")
# Methods, and their parameters; those of SKCompat, where it has other ones.
_FIT = ("x", "y", "input_fn", "steps", "batch_size", "monitors", "max_steps")
_METHODS = {
    "fit": _FIT,
    "evaluate": (
        *("x", "y", "input_fn", "feed_fn", "batch_size", "steps", "metrics", "name"),
        *("checkpoint_path", "hooks", "log_progress"),
    ),
    "predict": (
        *("x", "input_fn", "batch_size", "outputs", "as_iterable", "iterate_batches"),
    ),
}
_SK_METHODS = {
    "fit": ("x", "y", "batch_size", "steps", "max_steps", "monitors"),
    "score": ("x", "y", "batch_size", "steps", "metrics", "name"),
    "predict": ("x", "batch_size", "outputs"),
}
# Methods that no Trainer has, and what to do.
_GONE = {
    "export": "call `export_savedmodel`",
    "partial_fit": "call `fit` with `steps=1`",
    **dict.fromkeys(
        ("predict_classes", "predict_proba", "predict_scores"),
        "call `predict` with `outputs`",
    ),
    "get_params": "use its `params`",
    "set_params": "make another one",
}
_DATA = ("x", "y", "input_fn", "batch_size")
# What the arguments of a method are called by a Trainer.
_NAMES = {"monitors": "hooks", "outputs": "predict_keys"}
_NOW = "is told by a value whether to give all at once: write True or False"
# Arguments that nobody but an Estimator of tf.contrib.learn takes.
_OWN = {"x", "metrics", "feed_fn", "outputs", "as_iterable", "iterate_batches"}
# Arguments without a native form, and what to do.
_ODD = {
    "feed_fn": "feeds placeholders by `feed_fn`: give it an input function",
    "metrics": "measures by `metrics`: give them as `eval_metric_ops` of the model",
    "iterate_batches": "gives batches by `iterate_batches`: take the examples",
}
_DOUBLES = "arrays of doubles are trained on as floats, by layers of floats"
_QUEUES = ("numpy_input_fn", "pandas_input_fn")


def calls(page: Page) -> None:
    """Rewrites the calls of Estimators of tf.contrib.learn, and of SKCompat."""
    if not page.says("learn"):
        return
    for node, call in page.scopes.calls.items():
        if not isinstance(node, cst.Attribute) or page.resolver.qualified(node):
            continue
        if node.attr.value in (*_METHODS, "score"):
            _call(page, node, call)
        elif node.attr.value in _GONE and any(
            one.startswith(LEARN) or (not one and _trains_learned(page))
            for one in makers(page, node.value)
        ):
            why = f"has no Trainer: {_GONE[node.attr.value]}"
            page.refuse(call, f"`{page.source(node)}` ({{}}) {why}")


def makers(page: Page, node: cst.BaseExpression) -> Iterator[str]:
    """What makes an object, by its name; an empty one where that is not seen."""
    for parsed, made in page.origins.of(node, page.parsed):
        if isinstance(made, cst.Call):
            defined: cst.CSTNode | None = page.origins.defined(made.func, parsed)[1]
            if isinstance(made.func, cst.Name) and made.func.value == "super":
                around = Tree(parsed.module, parsed.resolver).ancestors(made)
                defined = next(o for o in around if isinstance(o, cst.ClassDef))
            if isinstance(defined, cst.ClassDef):
                yield from _kinds(parsed, defined)
            else:
                told = parsed.resolver.resolve(made.func)
                yield told or parsed.resolver.qualified(made.func) or ""
        elif isinstance(made, cst.ClassDef):
            yield from _kinds(parsed, made)
        else:
            yield "" if made is None else "a value"


def _kinds(parsed: ParsedModule, made: cst.ClassDef) -> Iterator[str]:
    """A class of the program, or the Estimator that it is made of; or both.

    It is more than an Estimator where it says itself how it is called.
    """
    bases = [parsed.resolver.resolve(one.value) or "" for one in made.bases]
    learned = [one for one in bases if one.startswith(LEARN)]
    yield from learned
    own = {o.name.value for o in made.body.body if isinstance(o, cst.FunctionDef)}
    if not learned or own & {*_METHODS}:
        yield made.name.value


def _call(page: Page, node: cst.Attribute, call: cst.Call) -> None:
    """One call of a method that Estimators of tf.contrib.learn have."""
    name = node.attr.value
    given = {*keywords(call)}
    made = set(makers(page, node.value))
    own = {one for one in made if one.startswith(LEARN) and one.endswith(_CLASSES)}
    made -= {""} if own else set()
    if "" in made and _trains_learned(page):
        if given & {"input_fn", *_OWN} - {"x"}:
            own, made = {f"{LEARN}Estimator"}, set()
        else:
            why = "is called of what is not seen to be made: make it in the program"
            page.refuse(call, f"`{page.source(node)}` ({{}}) {why}")
    if not own:
        return
    sk = _SK in own
    args = arguments(page, call, (_SK_METHODS if sk else _METHODS).get(name, ()))
    if len(made - own) or (sk and len(own) > 1) or args is None:
        why = "is called of several kinds of objects, or with `**`: write them apart"
        page.refuse(call, f"`{page.source(node)}` ({{}}) {why}")
        return
    args = {key: arg for key, arg in args.items() if not is_none(arg.value)}
    for odd in args.keys() & _ODD.keys():
        page.refuse(call, f"`{page.source(node)}` ({{}}) {_ODD[odd]}")
        return
    page.words.update(_NAMES.get(key, key) for key in args)
    if name == "predict":
        _predict(page, call, args, sk=sk)
    elif name == "fit":
        page.words.update(("train", "steps"))
        name = "train"
    else:
        page.words.add("evaluate")
        args.pop("log_progress", None)
        if "hooks" in args:
            page.words.add("evaluate(hooks)")
        name = "evaluate"
    page.put(node.attr, name)
    size = "128" if sk else ""
    _write(page, call, args, size=size, shuffle=name == "train")


def _trains_learned(page: Page) -> bool:
    """A file of the program names Estimators of tf.contrib.learn."""
    return any(
        (symbol := one.resolver.resolve(use.node) or "").startswith(LEARN)
        and symbol.endswith(_CLASSES)
        for one in page.files
        for use in one.resolver.scopes.uses
    )


def _predict(page: Page, call: cst.Call, args: dict[str, cst.Arg], *, sk: bool) -> None:
    """Predictions one by one, or all of them in one array."""
    arg = args.pop("as_iterable", None)
    told = page.source(arg.value) if arg is not None else "True"
    together = sk or told == "False"
    if told not in ("True", "False") or (
        not sk and together and args.keys() >= {"x", "outputs"}
    ):
        page.refuse(call, f"`{page.source(call.func)}` ({{}}) {_NOW}")
    page.words.add("predict")
    given = args["input_fn"].value if "input_fn" in args else None
    if given is not None and (together or not _has_queues(page, given)):
        page.note(call, "predicts the first batch alone, as tf.contrib.learn did")
        page.put(given, f"{page.take('first_batch')}(", given, ")")
    if together:
        page.put(call, f"{page.take('stacked')}(", call, ")")


def _has_queues(page: Page, node: cst.BaseExpression) -> bool:
    """An input function whose data came through queues, which knew their end."""
    waiting = [*page.origins.of(node, page.parsed)]
    seen: set[cst.CSTNode] = set()
    while waiting:
        parsed, made = waiting.pop()
        if made is None or made in seen:
            continue
        seen.add(made)
        for one in walk(made, cst.Name):
            if one.value in _QUEUES:
                return True
        for call in walk(made, cst.Call):
            waiting.append(page.origins.defined(call.func, parsed))
    return False


def _write(
    page: Page,
    call: cst.Call,
    args: dict[str, cst.Arg],
    *,
    size: str = "",
    shuffle: bool = False,
) -> None:
    """The arguments of a call behind the input function, which may be one of arrays."""
    if "x" not in args and all(arg.keyword is not None for arg in call.args):
        page.drop_argument(call, *(o for o in call.args if o not in args.values()))
        for key in args.keys() & _NAMES.keys():
            page.rename_keyword(args[key], _NAMES[key])
        return
    parts: list[Part] = [args["input_fn"].value] if "input_fn" in args else []
    if "x" in args:
        parts = [f"{page.take('arrays_input_fn')}(", args["x"].value]
        if "y" in args:
            parts += [", ", args["y"].value]
        if "batch_size" in args:
            parts += [", batch_size=", args["batch_size"].value]
        elif size:
            parts.append(f", batch_size={size}")
        parts.append(", shuffle=True)" if shuffle else ")")
        if shuffle:
            page.note(call, _DOUBLES)
    for key, arg in args.items():
        if key not in _DATA:
            parts += [f", {_NAMES.get(key, key)}=", arg.value]
    start = page.text.index("(", page.outer(call.func)[1]) + 1
    page.put_span(start, page.span(call)[1] - 1, *parts)


_ESTIMATOR = ("model_fn", "model_dir", "config", "params")
_ENGINEERS = "feature_engineering_fn"
_SIGNATURES = (
    "exports answer by `serving_default` alone; TF 1.15 had the same under "
    "`default_input_alternative:default_output_alternative`"
)


def _estimator(page: Page, word: Word) -> None:
    """A Trainer takes the same, but for a function that makes other features."""
    call = word.call
    if call is not None:
        args = arguments(page, call, (*_ESTIMATOR, _ENGINEERS)) or {}
        arg = args.get(_ENGINEERS)
        if arg is not None:
            page.drop_argument(call, arg)
        if arg is not None and not is_none(arg.value):
            why = "changes what the model takes: call it in the input function"
            page.refuse(arg, f"`{_ENGINEERS}` ({{}}) {why}")
        if any(exports(one.source.text) for one in page.files):
            page.note(call, _SIGNATURES)
    make_trainer(page, word)


def _sk(page: Page, word: Word) -> None:
    """Trainers need no wrapper: their calls say what it changed."""
    call, args = in_sight(page, word, ("estimator",), "estimator", may_stay=True)
    made = args["estimator"].value
    if any(one.endswith(("Classifier", "Regressor")) for one in makers(page, made)):
        why = "around a model of its own predicts all outputs: take it out"
        page.refuse(word.node, f"`{word.symbol}` ({{}}) {why}")
    page.forget(word.node)
    page.put(call, made)


WORDS: dict[str, Handler] = {
    f"{LEARN}Estimator": taken("Trainer", _estimator),
    _SK: _sk,
}
