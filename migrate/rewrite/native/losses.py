"""Losses: `tf.losses`, `tf.contrib.losses` and the cross entropies of `tf.nn`.

Each becomes one expression of its labels and outputs: the loss of each element by
TensorFlow 1's formula, and what the reduction makes of them. `tf.losses` computes in
float32 whatever it is given, and takes class numbers of [B, 1] as well as of [B].
"""

from __future__ import annotations

import ast

from .code import (
    Arguments,
    Code,
    Refused,
    call,
    dotted,
    grouped,
    is_absent,
    literal,
    parsed,
    repeatable,
)

# The key of the collection that all losses are in, as programs say it.
COLLECTION = r"'losses'|\"losses\"|[\w.]*GraphKeys\.LOSSES"
_LAST = ("scope", "loss_collection", "reduction")
_LABELS = ("labels", "predictions", "weights")
_CONTRIB = ("predictions", "labels", "weights")

_SEQUENCE = "tf.contrib.seq2seq.sequence_loss"
_CONTRASTIVE = "tf.contrib.losses.metric_learning.contrastive_loss"
# Parameters by position.
SIGNATURES: dict[str, tuple[str, ...]] = {
    "tf.losses.absolute_difference": (*_LABELS, *_LAST),
    "tf.losses.compute_weighted_loss": ("losses", "weights", *_LAST),
    "tf.losses.cosine_distance": (
        "labels", "predictions", "axis", "weights", *_LAST, "dim",
    ),
    "tf.losses.hinge_loss": ("labels", "logits", "weights", *_LAST),
    "tf.losses.huber_loss": (*_LABELS, "delta", *_LAST),
    "tf.losses.log_loss": (*_LABELS, "epsilon", *_LAST),
    "tf.losses.mean_squared_error": (*_LABELS, *_LAST),
    "tf.losses.sigmoid_cross_entropy": (
        "multi_class_labels", "logits", "weights", "label_smoothing", *_LAST,
    ),
    "tf.losses.softmax_cross_entropy": (
        "onehot_labels", "logits", "weights", "label_smoothing", *_LAST,
    ),
    "tf.losses.sparse_softmax_cross_entropy": ("labels", "logits", "weights", *_LAST),
    "tf.contrib.losses.absolute_difference": (*_CONTRIB, "scope"),
    "tf.contrib.losses.compute_weighted_loss": ("losses", "weights", "scope"),
    "tf.contrib.losses.cosine_distance": (
        "predictions", "labels", "axis", "weights", "scope", "dim",
    ),
    "tf.contrib.losses.hinge_loss": ("logits", "labels", "scope"),
    "tf.contrib.losses.log_loss": (*_CONTRIB, "epsilon", "scope"),
    "tf.contrib.losses.mean_squared_error": (*_CONTRIB, "scope"),
    "tf.contrib.losses.sigmoid_cross_entropy": (
        "logits", "multi_class_labels", "weights", "label_smoothing", "scope",
    ),
    "tf.contrib.losses.softmax_cross_entropy": (
        "logits", "onehot_labels", "weights", "label_smoothing", "scope",
    ),
    "tf.contrib.losses.sparse_softmax_cross_entropy": (
        "logits", "labels", "weights", "scope",
    ),
    _SEQUENCE: (
        "logits", "targets", "weights", "average_across_timesteps",
        "average_across_batch", "softmax_loss_function", "name",
    ),
    _CONTRASTIVE: ("labels", "embeddings_anchor", "embeddings_positive", "margin"),
    "tf.nn.sigmoid_cross_entropy_with_logits": (
        "_sentinel", "labels", "logits", "name",
    ),
    "tf.nn.softmax_cross_entropy_with_logits": (
        "_sentinel", "labels", "logits", "dim", "name", "axis",
    ),
    "tf.nn.softmax_cross_entropy_with_logits_v2": (
        "labels", "logits", "axis", "name", "dim",
    ),
    "tf.nn.sparse_softmax_cross_entropy_with_logits": (
        "_sentinel", "labels", "logits", "name",
    ),
    "tf.nn.weighted_cross_entropy_with_logits": (
        "labels", "logits", "pos_weight", "name", "targets",
    ),
}  # fmt: skip

# What reductions are called in constants and as strings.
_REDUCTIONS = {
    "NONE": "none",
    "SUM": "sum",
    "MEAN": "mean",
    "SUM_OVER_BATCH_SIZE": "batch",
    "SUM_OVER_NONZERO_WEIGHTS": "present",
    "SUM_BY_NONZERO_WEIGHTS": "present",
    "none": "none",
    "weighted_sum": "sum",
    "weighted_mean": "mean",
    "weighted_sum_over_batch_size": "batch",
    "weighted_sum_by_nonzero_weights": "present",
}
SUMMED = (
    "a loss that is a sum: with several replicas, TensorFlow 1 did not divide its "
    "gradients by their number"
)
_FLOATS = ("tf.float32", "tf.float16", "tf.float64", "'float32'", '"float32"')


def loss(symbol: str, arguments: Arguments, *, learned: bool) -> Code:
    """The loss as an expression.

    `learned`: what stands for labels may depend on trained variables.
    """
    if symbol not in SIGNATURES:
        raise Refused(f"the loss `{symbol}` is not known")
    given = {k: text for k, text in arguments.items() if not is_absent(text)}
    short = symbol.rpartition(".")[2]
    if symbol.startswith("tf.nn."):
        return Code(_cross_entropy(short, given, learned=learned))
    if symbol == _SEQUENCE:
        return Code(_of_sequences(given))
    if symbol == _CONTRASTIVE:
        return Code(_contrastive(given))
    contrib = symbol.startswith("tf.contrib.")
    elements = _elements(short, given, contrib, learned)
    if contrib and short == "hinge_loss":
        return Code(elements)
    return _reduced(symbol, elements, given)


def _cross_entropy(short: str, given: Arguments, *, learned: bool) -> str:
    """A function of tf.nn by today's name and parameters."""
    labels = given.get("labels") or given.get("targets")
    if labels is None or "logits" not in given:
        raise Refused(f"`tf.nn.{short}` without labels or logits")
    if short == "softmax_cross_entropy_with_logits" and learned:
        labels = call("tf.stop_gradient", labels)
    axis = given.get("axis") or given.get("dim")
    return call(
        "tf.nn." + short.removesuffix("_v2"),
        labels=labels,
        logits=given["logits"],
        pos_weight=given.get("pos_weight"),
        axis=None if literal(axis) == -1 else axis,
    )


def _of_sequences(given: Arguments) -> str:
    """The mean over all steps, each of which has a weight."""
    for name, text in given.items():
        means = name.startswith("average_across") and literal(text) is True
        if name not in ("logits", "targets", "weights", "name") and not means:
            raise Refused(f"`{_SEQUENCE}` with `{name}`")
    labels, logits, weights = (given.get(k) for k in ("targets", "logits", "weights"))
    if labels is None or weights is None:
        raise Refused(f"`{_SEQUENCE}` without targets or weights")
    function = "tf.nn.sparse_softmax_cross_entropy_with_logits"
    entropies = call(function, labels=labels, logits=logits)
    if weights.startswith(("tf.ones(", "tf.ones_like(")):
        return f"tf.reduce_mean({entropies})"
    if not repeatable(weights):
        raise Refused(f"`{_SEQUENCE}` of calls: give its weights a name")
    total = f"tf.reduce_sum({grouped(weights)} * {entropies})"
    return call("tf.math.divide_no_nan", total, f"tf.reduce_sum({weights})")


def _contrastive(given: Arguments) -> str:
    """Squares of distances, or of what these lack to a margin."""
    names = ("embeddings_anchor", "embeddings_positive")
    if not {*names, "labels"} <= given.keys() or not all(
        map(repeatable, given.values())
    ):
        raise Refused("`contrastive_loss` of calls: give what it compares names")
    apart = " - ".join(grouped(given[name]) for name in names)
    near = grouped(_floats("labels", given))
    lacking = f"{grouped(given.get('margin', '1.0'))} - tf.norm({apart}, axis=1)"
    return (
        f"tf.reduce_mean({near} * tf.reduce_sum(({apart}) ** 2, 1)"
        f" + (1 - {near}) * tf.nn.relu({lacking}) ** 2)"
    )


def _is_float(text: str) -> bool:
    """Whether an expression surely has floats."""
    node = parsed(text)
    if not isinstance(node, ast.Call):
        return isinstance(literal(text), float)
    name = dotted(node.func)
    if name == "tf.cast":
        kinds = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "dtype")]
        return any(ast.unparse(kind) in _FLOATS for kind in kinds)
    if name == "tf.one_hot":
        named = {keyword.arg for keyword in node.keywords}
        return len(node.args) < 6 and not named & {"dtype", "on_value", "off_value"}
    return name in ("tf.to_float", "tf.sigmoid", "tf.nn.sigmoid", "tf.nn.softmax")


def _floats(name: str, given: Arguments) -> str:
    """An argument as float32; outputs of models are floats by themselves."""
    if name not in given:
        raise Refused(f"a loss without `{name}`")
    text = given[name]
    if name in ("predictions", "logits", "losses") or _is_float(text):
        return text
    return f"tf.cast({text}, tf.float32)"


def _elements(short: str, given: Arguments, contrib: bool, learned: bool) -> str:
    """The loss of each element."""
    if short == "compute_weighted_loss":
        return _floats("losses", given)
    if short == "sparse_softmax_cross_entropy":
        return _sparse(given, contrib)
    if short in ("softmax_cross_entropy", "sigmoid_cross_entropy"):
        return _smoothed(short, given, learned)
    labels = _floats("labels", given)
    outputs = _floats("logits" if "logits" in given else "predictions", given)
    one, other = grouped(outputs), grouped(labels)
    if short == "mean_squared_error":
        return call("tf.math.squared_difference", outputs, labels)
    if short == "absolute_difference":
        return f"tf.abs({one} - {other})"
    if short == "hinge_loss":
        return f"tf.nn.relu(1 - (2 * {other} - 1) * {one})"
    if short == "cosine_distance":
        axis = given.get("axis") or given.get("dim")
        if axis is None:
            raise Refused("`cosine_distance` without an axis")
        keep = None if contrib else "True"
        product = call("tf.reduce_sum", f"{one} * {other}", axis=axis, keepdims=keep)
        return f"1 - {product}"
    if short == "huber_loss":
        delta = given.get("delta", "1.0")
        plain = () if literal(delta) == 1.0 else (delta,)
        # Keras takes the mean over the last axis: here, over one of length 1.
        if not _is_mean(given):
            labels, outputs = f"{other}[..., tf.newaxis]", f"{one}[..., tf.newaxis]"
        return call("tf_keras.losses.huber", labels, outputs, *plain)
    assert short == "log_loss"
    if not (repeatable(labels) and repeatable(outputs)):
        raise Refused("`log_loss` of calls: give its labels and predictions names")
    epsilon = given.get("epsilon", "1e-7")
    return (
        f"-{other} * tf.math.log({one} + {epsilon})"
        f" - (1 - {other}) * tf.math.log(1 - {one} + {epsilon})"
    )


def _sparse(given: Arguments, contrib: bool) -> str:
    """Cross entropies with numbers of classes, [B] or [B, 1]."""
    if "labels" not in given or "logits" not in given:
        raise Refused("`sparse_softmax_cross_entropy` without labels or logits")
    labels, logits = given["labels"], given["logits"]
    if contrib:
        labels = call("tf.reshape", labels, "[-1]")
        name = "tf.nn.sparse_softmax_cross_entropy_with_logits"
        return call(name, labels=labels, logits=logits)
    # Takes labels of either shape, as the function of TensorFlow 1 did.
    entropy = "tf_keras.losses.sparse_categorical_crossentropy"
    return call(entropy, labels, logits, from_logits="True")


def _smoothed(short: str, given: Arguments, stopped: bool) -> str:
    """Cross entropies with a probability for each class."""
    softmax = short == "softmax_cross_entropy"
    name = "onehot_labels" if softmax else "multi_class_labels"
    if name not in given or "logits" not in given:
        raise Refused(f"`{short}` without labels or logits")
    labels, logits = given[name], given["logits"]
    smoothing = given.get("label_smoothing", "0")
    smooth = literal(smoothing) != 0
    if softmax and stopped:
        labels = call("tf.stop_gradient", labels)
    elif not softmax:  # which casts its labels by itself
        labels = _floats(name, given)
    if smooth and not softmax:
        share = grouped(smoothing)
        labels = f"{grouped(labels)} * (1 - {share}) + 0.5 * {share}"
    if smooth and softmax:
        entropy = "tf_keras.losses.categorical_crossentropy"
        options = {"from_logits": "True", "label_smoothing": smoothing}
        return call(entropy, labels, logits, **options)
    return call(f"tf.nn.{short}_with_logits", labels=labels, logits=logits)


def _reduction(given: Arguments) -> str:
    text = given.get("reduction", "SUM_BY_NONZERO_WEIGHTS")
    value = literal(text)
    word = value if isinstance(value, str) else text.rpartition(".")[2]
    if word not in _REDUCTIONS:
        raise Refused(f"a loss whose reduction is `{text}`")
    return _REDUCTIONS[word]


def _is_mean(given: Arguments) -> bool:
    """No weights of examples, and a mean: it may be taken in any order."""
    number = literal(given.get("weights", "1.0"))
    return isinstance(number, int | float) and _reduction(given) in ("present", "batch")


def _reduced(symbol: str, elements: str, given: Arguments) -> Code:
    """What a reduction makes of the losses of all elements."""
    reduction = _reduction(given)
    notes = (SUMMED,) if reduction == "sum" else ()
    weights = given.get("weights", "1.0")
    number = literal(weights)
    if isinstance(number, int | float):
        if reduction == "mean":
            number = 1.0  # divides by the sum of weights, too
        scale = "" if number == 1.0 else f"{grouped(weights)} * "
        if reduction == "none":
            return Code(scale + elements)
        reduce = "tf.reduce_sum" if reduction == "sum" else "tf.reduce_mean"
        return Code(f"{scale}{reduce}({elements})", notes=notes)
    sparse = symbol.endswith(".sparse_softmax_cross_entropy")
    if symbol.startswith("tf.contrib.") and not sparse:
        raise Refused(f"`{symbol}` whose examples have weights")
    if reduction == "present":
        return Code(
            f"weighted_mean({elements}, {weights})", frozenset({"weighted_mean"})
        )
    if sparse:
        raise Refused(f"`{symbol}` with weights, whose logits have an unknown rank")
    if reduction == "mean":
        raise Refused(f"`{symbol}` that divides by the sum of weights")
    product = f"{grouped(weights)} * {grouped(elements)}"
    if reduction == "none":
        return Code(product)
    if reduction == "sum":
        return Code(f"tf.reduce_sum({product})", notes=notes)
    return Code(f"tf.reduce_mean({product})")
