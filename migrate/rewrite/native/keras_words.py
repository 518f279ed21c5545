"""`tf.keras` as tf_keras, with TF 1's numbers, and compiled models as tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import libcst as cst

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...code.tree import Tree
from ...names.dotted import import_path
from ...names.names import canonical
from ...names.surface import gone
from .code import Refused
from .optimizers import SIGNATURES, optimizer
from .page import Page
from .word import (
    Handler,
    Odd,
    Word,
    arguments,
    in_sight,
    keyword,
    keywords,
    placed,
    plain,
)

_KERAS = "tf.keras"
_LAYERS = "tf.keras.layers."
_INITIALIZERS = "tf.keras.initializers."


# -- names -----------------------------------------------------------------------------


def _home(page: Page, word: Word) -> None:
    """``tf.keras`` within a chain; what is imported by name has its import changed."""
    node: cst.BaseExpression = word.node
    while isinstance(node, cst.Attribute):
        if page.symbol(node) == _KERAS:
            page.rename(node, page.keras())
            return
        node = node.value


def imported(page: Page) -> None:
    """Imports of what is below tf.keras come from tf_keras."""
    for use in page.scopes.imports:
        node = use.node
        if isinstance(node.names, cst.ImportStar):
            continue
        if isinstance(node, cst.Import):
            for alias in node.names:
                home = _moved(import_path(alias.name))
                if home is not None and alias.asname is not None:
                    page.put(alias.name, home)
                elif home is not None:
                    page.put(alias.name, "tensorflow")
        elif node.module is not None and not node.relative:
            _from(page, node, import_path(node.module))


def _from(page: Page, node: cst.ImportFrom, module: str) -> None:
    assert not isinstance(node.names, cst.ImportStar)
    lines: dict[str, list[str]] = {}
    for alias in node.names:
        spelled = page.source(alias).rstrip(", ")
        home = _moved(f"{module}.{alias.evaluated_name}")
        if home is None:
            lines.setdefault(f"from {module} import ", []).append(spelled)
            continue
        parent, _, last = home.rpartition(".")
        if not parent:
            bound = alias.evaluated_alias or alias.evaluated_name
            lines[f"import {last}" + (f" as {bound}" if bound != last else "")] = []
        else:
            lines.setdefault(f"from {parent} import ", []).append(spelled)
    homes = [line for line in lines if "tf_keras" in line]
    if not homes:
        return
    if len(lines) == 1 and node.module is not None and lines[homes[0]]:
        page.put(node.module, homes[0].split()[1])
        return
    joint = page.newline + page.indent(node)
    page.put(node, joint.join(head + ", ".join(names) for head, names in lines.items()))


def _moved(path: str) -> str | None:
    """The dotted name in tf_keras of what an import names, if that is of Keras."""
    symbol = canonical(path) or ""
    if symbol != _KERAS and not symbol.startswith(f"{_KERAS}."):
        return None
    if symbol.startswith("tf.keras.estimator"):
        return None
    return f"tf_keras{symbol.removeprefix(_KERAS)}"


# -- layers that had other defaults ----------------------------------------------------

# Only these tell TF 1's batch normalization from that of today.
_NORMS = ("fused", "renorm", "renorm_clipping", "renorm_momentum", "virtual_batch_size")
_FROZEN = re.compile(r"\btrainable\s*=\s*False\b")
_GATES = "recurrent_activation"


def _recurrent(page: Page, word: Word) -> None:
    """LSTM and GRU with the defaults of TF 1 written out."""
    _home(page, word)
    call = word.call
    if page.for_tf2:
        return
    if call is None or any(arg.star for arg in call.args):
        raise Odd(word.node, f"`{word.symbol}` ({{}}) had other defaults: call it")
    given = {*keywords(call)}
    positional = len(call.args) - len(given)
    if positional > 3:
        raise Odd(word.node, f"name the arguments of `{word.symbol}` ({{}})")
    if _GATES not in given and positional < 3:
        page.add_argument(call, f"{_GATES}={page.string('hard_sigmoid')}")
    if "GRU" in word.symbol and "reset_after" not in given:
        page.add_argument(call, "reset_after=False")
    if given & {"dropout", "recurrent_dropout"} and "implementation" not in given:
        page.add_argument(call, "implementation=1")  # each gate drops on its own


def _normalized(page: Page, word: Word) -> None:
    _home(page, word)
    if page.for_tf2:
        return
    for arg in word.call.args if word.call is not None else ():
        if keyword(arg) in _NORMS and not is_none(arg.value):
            page.refuse(arg.value, f"`{keyword(arg)}` of batch normalization ({{}})")
    if any(_FROZEN.search(one.source.text) for one in page.files):
        page.note(
            word.node,
            "frozen batch normalization takes its moving averages in training too; "
            "TF 1 took the mean and variance of the batch there",
        )


def _cudnn(page: Page, word: Word) -> None:
    """cuDNN's layers are what LSTM and GRU are by default."""
    _home(page, word)
    if isinstance(word.node, cst.Attribute):
        page.put(word.node.attr, word.symbol.rpartition("CuDNN")[2])
    else:
        page.refuse(word.node, f"`{word.symbol}` ({{}}) is LSTM or GRU today")


def _initializer(page: Page, word: Word) -> None:
    """One that several layers share gives all of them the same numbers today."""
    _home(page, word)
    if word.call is None or page.for_tf2:
        return
    for binding in page.bindings():
        if binding.value is word.call and len(page.uses(binding)) > 1:
            page.refuse(
                word.node, f"`{word.symbol}` ({{}}) is shared: make one a layer"
            )


def layers(page: Page) -> None:
    """Refuses what tf_keras does not have."""
    for use in page.scopes.uses:
        symbol = page.symbol(use.node) or ""
        if not symbol.startswith(f"{_KERAS}.") or symbol in WORDS:
            continue
        if symbol.startswith("tf.keras.estimator") or page.is_gone(use.node):
            continue
        if gone(f"tf_keras{symbol.removeprefix(_KERAS)}") is not None:
            page.refuse(use.node, f"`{symbol}` ({{}}) is not in Keras any more")


def _session(page: Page, word: Word) -> None:
    """Sessions with settings are not needed for anything."""
    _home(page, word)
    if word.call is None or not isinstance(page.parent(word.call), cst.Expr):
        raise Odd(word.node, f"`{word.symbol}` ({{}}) works with a session")
    page.drop_statement(page.statement(word.node))
    page.forget(word.node)
    for arg in word.call.args:
        page.drop_made(arg.value)


# -- compiled models -------------------------------------------------------------------

_MODEL = (
    "keras_model", "keras_model_path", "custom_objects", "model_dir", "config",
    "checkpoint_format", "use_v2_estimator", "metric_names_map", "export_outputs",
)  # fmt: skip
_COMPILE = (
    "optimizer", "loss", "metrics", "loss_weights", "sample_weight_mode",
    "weighted_metrics", "target_tensors", "distribute",
)  # fmt: skip
# Abbreviations, which TF 1 reported under their whole names.
_WHOLE = {
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "mse": "mean_squared_error",
}
_SCALED = (
    "with several replicas TF 1.13 to 2.15 scaled the loss of Keras models twice "
    "(updates of 1/N, a reported loss of 1/N); this is the true mean, as in TF 1.12: "
    "check the learning rate"
)


def _model_to_estimator(page: Page, word: Word) -> None:
    """A compiled model is a task of its own."""
    call, args = in_sight(page, word, _MODEL)
    for name in ("metric_names_map", "export_outputs"):
        if name in args and not is_none(args[name].value):
            page.refuse(args[name].value, f"`{name}` of model_to_estimator ({{}})")
    model, path = (args.get(name) for name in _MODEL[:2])
    chosen = path if model is None or is_none(model.value) else model
    if chosen is None:
        raise Odd(word.node, "model_to_estimator ({}) has no model")
    page.rename(word.node, page.take("Trainer"))
    for name, arg in args.items():
        if arg is not chosen and name not in ("model_dir", "config"):
            page.drop_argument(call, arg)
        elif arg is not chosen and arg.keyword is None:
            page.put_before(arg.value, f"{name}=")
    start, end = page.outer(chosen.value)
    if chosen.keyword is not None:
        page.put_span(page.span(chosen.keyword)[0], start)
    head, tail = f"{page.take('KerasTask')}(", ")"
    if chosen is path:
        load = f"{page.keras()}.models.load_model("
        head, tail = head + load, tail + ")"
    objects = args.get("custom_objects")
    own = _own_functions(page)
    if objects is not None and not is_none(objects.value):
        page.put_span(end, end, ", ", objects.value, tail)
    elif own:
        known = ", ".join(f"{page.string(one)}: {one}" for one in own)
        page.put_span(end, end, f", {{{known}}}", tail)
    else:
        page.put_span(end, end, tail)
    page.put_span(start, start, head)
    symbols = (
        one.resolver.resolve(use.node) or ""
        for one in page.files
        for use in one.resolver.scopes.uses
    )
    if args.get("config") is not None and any(
        "distribute.MirroredStrategy" in one and "contrib" not in one for one in symbols
    ):
        page.note(word.node, _SCALED)


def _own_functions(page: Page) -> list[str]:
    """Functions of the program that models are compiled with, by their names.

    A copy of a model finds them by these.
    """
    found: dict[str, None] = {}
    for parsed in page.files:
        tree = Tree(parsed.module, parsed.resolver)
        for call in parsed.each(cst.Call):
            func = call.func
            if not isinstance(func, cst.Attribute) or func.attr.value != "compile":
                continue
            for node in _functions_in(tree, call):
                defined, shown = tree.resolver.definition(node), tree.code(node)
                named = isinstance(defined, cst.FunctionDef) and defined.name.value
                if named != shown or parsed is not page.parsed:
                    raise Refused(
                        f"a model is compiled with `{shown}`, which copies lack"
                    )
                found[shown] = None
    return list(found)


def _functions_in(tree: Tree, call: cst.Call) -> Iterator[cst.BaseExpression]:
    """What is no name of Keras among the losses and metrics of a `compile`."""
    with suppress(UnknownArguments):
        given = match_arguments(call, _COMPILE)
        pending = [given[name] for name in ("loss", "metrics") if name in given]
        while pending:
            node = pending.pop(0)
            value = tree.value(node) or node
            if isinstance(value, (cst.List, cst.Tuple, cst.Dict)):
                pending += [one.value for one in value.elements]
                continue
            made = value.func if isinstance(value, cst.Call) else value
            own = isinstance(made, (cst.Lambda, cst.Name)) and tree.code(made) != "None"
            if own and tree.symbol(made) is None:
                yield node


def compiled(page: Page) -> None:
    """Calls of ``compile`` in a program that hands its model to an Estimator."""
    if not page.says("model_to_estimator") or page.for_tf2:
        return
    for node, call in page.scopes.calls.items():
        if not isinstance(node, cst.Attribute) or node.attr.value != "compile":
            continue
        if page.resolver.qualified(node) is not None:
            continue
        args = arguments(page, call, _COMPILE)
        if args is None:
            page.refuse(call, "the arguments of compile ({}) are hidden by stars")
            continue
        for name in ("sample_weight_mode", "target_tensors", "distribute"):
            if name in args and is_none(args[name].value):
                page.drop_argument(call, args[name])
            elif name in args:
                page.refuse(args[name].value, f"compile has no `{name}` ({{}})")
        if "optimizer" in args:
            _named_optimizer(page, args["optimizer"].value)
        if "metrics" in args and not is_none(args["metrics"].value):
            where = args["metrics"].value
            if not _metrics(page, where):
                why = "the metrics of compile ({}) are not said in plain sight"
                page.refuse(where, why)


def _metrics(page: Page, given: cst.BaseExpression) -> bool:
    """Names metrics in lists, or in dicts by outputs; returns whether they are seen."""
    pending = [(page.value(given), "")]
    seen = isinstance(pending[0][0], cst.List | cst.Tuple | cst.Dict)
    while seen and pending:
        value, output = pending.pop()
        if isinstance(value, cst.SimpleString):
            _metric(page, value, output)
        elif isinstance(value, cst.List | cst.Tuple):
            pending += [(one.value, output) for one in value.elements]
        for one in value.elements if isinstance(value, cst.Dict) else ():
            key = one.key if isinstance(one, cst.DictElement) else None
            seen = seen and isinstance(key, cst.SimpleString)
            if isinstance(key, cst.SimpleString):
                pending.append((one.value, f"{key.raw_value}_"))
    return seen


# Optimizers by their names whose steps are those of TF 1; of the second ones, where no
# gradient is of rows.
_SAME, _SAME_WITHOUT_ROWS = ("adam", "sgd"), ("adadelta", "adamax", "ftrl")


def _named_optimizer(page: Page, node: cst.BaseExpression) -> None:
    """``optimizer="rmsprop"``, whose steps are others today."""
    if isinstance(node, cst.SimpleString):
        same = _SAME if _has_rows(page) else (*_SAME, *_SAME_WITHOUT_ROWS)
        if str(node.evaluated_value).lower() not in same:
            why = "an optimizer by its name ({}), whose numbers are others today"
            page.refuse(node, f"{why}: make one")


def _metric(page: Page, node: cst.SimpleString, output: str) -> None:
    """The name under which TF 1 reported a metric, and the program reads it.

    It follows that of an output, if the model has several.
    """
    name = str(node.evaluated_value)
    whole = _WHOLE.get(name, name)
    if name in ("accuracy", "acc"):
        other = "acc" if name == "accuracy" else "accuracy"
        read = _is_read(page, output + name)
        whole = other if _is_read(page, output + other) and not read else name
        if name == whole == "accuracy" and not read:
            page.note(node, "TF 1.13 to 1.15 called this figure `acc`, not `accuracy`")
    if whole != name and not _is_read(page, output + name):
        page.put(node, page.string(whole))


def _is_read(page: Page, key: str) -> bool:
    """The program looks for a figure by this key."""
    found = re.compile(rf"""(?<=[\w)\]])\[\s*(['"]){key}\1\s*\]|\{{{key}\b""")
    return any(found.search(one.source.text) for one in page.files)


def _has_rows(page: Page) -> bool:
    """Some gradients may be those of rows of a table."""
    texts = [one.source.text for one in page.files]
    return any("embedding" in text.lower() for text in texts)


def _optimizer(page: Page, word: Word) -> None:
    """An optimizer of TF 1 takes the steps of one of Keras."""
    call, args = in_sight(page, word, SIGNATURES[word.symbol], may_stay=True)
    if word.symbol.startswith(_KERAS) and page.for_tf2:
        _home(page, word)
        return
    given = {name: plain(page, arg.value) for name, arg in args.items()}
    code = optimizer(word.symbol, given, schedule=False, rows=_has_rows(page))
    page.forget(word.node)
    placed(page, call, code)


def _other_steps(page: Page, word: Word) -> None:
    """An optimizer of the same name, which has come to take other steps."""
    if page.for_tf2:
        _home(page, word)
    else:
        page.refuse(word.node, f"`{word.symbol}` ({{}}) takes other steps today")


_RECURRENT = ("LSTM", "GRU", "LSTMCell", "GRUCell")
_DRAWN = (
    *("he_normal", "he_uniform", "lecun_normal", "lecun_uniform", "glorot_normal"),
    *("glorot_uniform", "RandomNormal", "RandomUniform", "TruncatedNormal"),
    *("VarianceScaling", "Orthogonal"),
)


def _alias(page: Page, word: Word) -> None:
    """``tf.optimizers`` is Keras by another name, in TF 2."""
    if isinstance(word.node, cst.Attribute):
        word.spell(page, f"{page.keras()}.{word.symbol.rpartition('.')[2]}")
    else:
        page.refuse(word.node, f"import `{word.symbol}` ({{}}) from tf.keras")


# What TF 2 means by these names.
WORDS_2: dict[str, Handler] = {
    f"tf.{name}": _alias
    for name in ("initializers", "losses", "metrics", "optimizers", "regularizers")
}
WORDS: dict[str, Handler] = {
    _KERAS: _home,
    **{f"{_LAYERS}{name}": _recurrent for name in _RECURRENT},
    f"{_LAYERS}BatchNormalization": _normalized,
    **{f"{_LAYERS}CuDNN{name}": _cudnn for name in ("LSTM", "GRU")},
    **{f"{_INITIALIZERS}{name}": _initializer for name in _DRAWN},
    "tf.keras.backend.set_session": _session,
    "tf.keras.estimator.model_to_estimator": _model_to_estimator,
    **dict.fromkeys(SIGNATURES, _optimizer),
    "tf.keras.optimizers.Nadam": _other_steps,
    "tf.keras.optimizers.schedules": _home,
}
