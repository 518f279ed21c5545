"""Estimators with a model of their own: linear, deep, both, and a mere bias.

Each becomes a Trainer of a head (a task of the training part `heads`, or `learn_heads`
for those of tf.contrib.learn), whose model stands in the program: layers on feature
columns, or a model of the parts `linear` and `wide_and_deep`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from .code import (
    UNKNOWN,
    Arguments,
    Code,
    Refused,
    call,
    dotted,
    grouped,
    is_absent,
    literal,
    matched,
    parsed,
    repeatable,
)
from .optimizers import CLIP, CLIP_PARAMETERS, NAMES, clipping, optimizer
from .optimizers import SIGNATURES as OPTIMIZERS
from .schedules import SIGNATURES as SCHEDULES
from .schedules import schedule
from .spread import spread

_CLASSES = ("n_classes", "weight_column", "label_vocabulary")
_NUMBERS = ("label_dimension", "weight_column")
_BASE = ("optimizer", "config", "loss_reduction")
_WARM = ("config", "warm_start_from", "loss_reduction")


def _linear(*head: str, partitioner: tuple[str, ...]) -> tuple[str, ...]:
    config, *rest = _WARM
    options = ("optimizer", config, *partitioner, *rest, "sparse_combiner")
    return ("feature_columns", "model_dir", *head, *options)


def _deep(*head: str, partitioner: tuple[str, ...]) -> tuple[str, ...]:
    options = ("optimizer", "activation_fn", "dropout", *partitioner, *_WARM)
    first = ("hidden_units", "feature_columns", "model_dir")
    return (*first, *head, *options, "batch_norm")


def _both(*head: str, partitioner: tuple[str, ...]) -> tuple[str, ...]:
    return (
        "model_dir", "linear_feature_columns", "linear_optimizer",
        "dnn_feature_columns", "dnn_optimizer", "dnn_hidden_units",
        "dnn_activation_fn", "dnn_dropout", *head, *partitioner, *_WARM,
        "batch_norm", "linear_sparse_combiner",
    )  # fmt: skip


def _signatures(
    linear: tuple[str, ...], deep: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Parameters by position, with what the partitioners are called."""
    return {
        "tf.estimator.LinearClassifier": _linear(*_CLASSES, partitioner=linear),
        "tf.estimator.LinearRegressor": _linear(*_NUMBERS, partitioner=linear),
        "tf.estimator.DNNClassifier": _deep(*_CLASSES, partitioner=deep),
        "tf.estimator.DNNRegressor": _deep(*_NUMBERS, partitioner=deep),
        "tf.estimator.DNNLinearCombinedClassifier": _both(*_CLASSES, partitioner=deep),
        "tf.estimator.DNNLinearCombinedRegressor": _both(*_NUMBERS, partitioner=deep),
        "tf.estimator.LinearEstimator": (
            "head", "feature_columns", "model_dir", "optimizer", "config", *linear,
            "sparse_combiner",
        ),
        "tf.estimator.DNNEstimator": (
            "head", "hidden_units", "feature_columns", "model_dir", "optimizer",
            "activation_fn", "dropout", *deep, "config", "warm_start_from",
            "batch_norm",
        ),
        "tf.estimator.DNNLinearCombinedEstimator": (
            "head", "model_dir", "linear_feature_columns", "linear_optimizer",
            "dnn_feature_columns", "dnn_optimizer", "dnn_hidden_units",
            "dnn_activation_fn", "dnn_dropout", *deep, "config",
            *(() if deep else ("warm_start_from",)), "batch_norm",
            "linear_sparse_combiner",
        ),
        "tf.estimator.BaselineClassifier": ("model_dir", *_CLASSES, *_BASE),
        "tf.estimator.BaselineRegressor": ("model_dir", *_NUMBERS, *_BASE),
        "tf.estimator.BaselineEstimator": ("head", "model_dir", *_BASE[:2]),
    }  # fmt: skip


LEARN = "tf.contrib.learn."
_MODEL, _RUN = ("feature_columns", "model_dir"), ("config", "feature_engineering_fn")
_NETWORK = ("optimizer", "activation_fn", "dropout", "gradient_clip_norm")
_BOTH = (
    *("linear_feature_columns", "linear_optimizer", "_joint_linear_weights"),
    *("dnn_feature_columns", "dnn_optimizer", "dnn_hidden_units"),
    *("dnn_activation_fn", "dnn_dropout", "gradient_clip_norm"),
)
_WEIGHED, _BIAS = "weight_column_name", "enable_centered_bias"
_OF_ROWS = ("embedding_lr_multipliers", "input_layer_min_slice_size")
_COUNTS = "fix_global_step_increment_bug"
# Those of tf.contrib.learn.
_OF_LEARN = {
    "LinearClassifier": (
        *_MODEL, "n_classes", _WEIGHED, "optimizer", "gradient_clip_norm", _BIAS,
        "_joint_weight", *_RUN, "label_keys",
    ),
    "LinearRegressor": (
        *_MODEL, _WEIGHED, "optimizer", "gradient_clip_norm", _BIAS, "label_dimension",
        "_joint_weights", *_RUN,
    ),
    "DNNClassifier": (
        "hidden_units", *_MODEL, "n_classes", _WEIGHED, *_NETWORK, _BIAS, *_RUN,
        *_OF_ROWS, "label_keys",
    ),
    "DNNRegressor": (
        "hidden_units", *_MODEL, _WEIGHED, *_NETWORK, _BIAS, *_RUN, "label_dimension",
        *_OF_ROWS,
    ),
    "DNNLinearCombinedClassifier": (
        "model_dir", "n_classes", _WEIGHED, *_BOTH, _BIAS, *_RUN, *_OF_ROWS,
        "label_keys", _COUNTS,
    ),
    "DNNLinearCombinedRegressor": (
        "model_dir", _WEIGHED, *_BOTH, _BIAS, "label_dimension", *_RUN, *_OF_ROWS,
        _COUNTS,
    ),
}  # fmt: skip
# Parameters by position, of TF 1's classes and of those that TF 2 gave their names.
SIGNATURES = {
    **_signatures(("partitioner",), ("input_layer_partitioner",)),
    **{f"{LEARN}{name}": parameters for name, parameters in _OF_LEARN.items()},
}
SIGNATURES_2 = _signatures((), ())

_HEAD = ("weight_column", "loss_reduction", "loss_fn", "name")
_OF_CLASSES = ("n_classes", "weight_column", "label_vocabulary", *_HEAD[1:])
_OF_TWO = ("weight_column", "thresholds", "label_vocabulary", *_HEAD[1:])
_OF_MANY = (
    "n_classes", "weight_column", "thresholds", "label_vocabulary", *_HEAD[1:3],
    "classes_for_class_based_metrics", "name",
)  # fmt: skip
_OF_NUMBERS = ("weight_column", "label_dimension", "loss_reduction")
# Heads that Estimators are given: the task, and their parameters.
_HEADS = {
    "tf.contrib.estimator.multi_class_head": ("Classifier", _OF_CLASSES),
    "tf.contrib.estimator.binary_classification_head": ("BinaryClassifier", _OF_TWO),
    "tf.contrib.estimator.multi_label_head": ("MultiLabelClassifier", _OF_MANY),
    "tf.contrib.estimator.regression_head": (
        "Regressor", (*_OF_NUMBERS, "loss_fn", "inverse_link_fn", "name"),
    ),
    "tf.contrib.estimator.poisson_regression_head": (
        "PoissonRegressor", (*_OF_NUMBERS, "compute_full_loss", "name"),
    ),
    "tf.estimator.MultiClassHead": ("Classifier", _OF_CLASSES),
    "tf.estimator.BinaryClassHead": ("BinaryClassifier", _OF_TWO),
    "tf.estimator.MultiLabelHead": ("MultiLabelClassifier", _OF_MANY),
    "tf.estimator.RegressionHead": (
        "Regressor",
        ("label_dimension", "weight_column", "loss_reduction", *_HEAD[2:3],
         "inverse_link_fn", "name"),
    ),
    "tf.estimator.PoissonRegressionHead": (
        "PoissonRegressor",
        ("label_dimension", "weight_column", "loss_reduction", "compute_full_loss",
         "name"),
    ),
}  # fmt: skip
TASKS = (
    "BinaryClassifier", "Classifier", "LearnBinaryClassifier", "LearnClassifier",
    "LearnRegressor", "MultiLabelClassifier", "PoissonRegressor", "Regressor",
    "ThresholdClassifier",
)  # fmt: skip
_USED_OF_HEADS = (
    "n_classes", "label_dimension", "weight_column", "label_vocabulary",
    "loss_reduction",
)  # fmt: skip

_OF_TRAINER = ("model_dir", "config", "warm_start_from")

# Strings and last words of constants, by what the loss of a batch is.
_SUMS = ("SUM", "weighted_sum", "sum")
_MEANS = ("SUM_OVER_BATCH_SIZE", "weighted_sum_over_batch_size", "sum_over_batch_size")
# Other means, which are the same where all examples have the same weight.
_PLAIN_MEANS = (
    "MEAN", "weighted_mean", "SUM_BY_NONZERO_WEIGHTS", "SUM_OVER_NONZERO_WEIGHTS",
    "weighted_sum_by_nonzero_weights", "AUTO", "auto",
)  # fmt: skip
# What stands for columns of features that are no dictionary.
PLAIN = "..."
# What only Estimators of tf.contrib.learn had.
_ODD = {
    "weight_column_name": "evaluates another mean than it trains: use tf.estimator",
    "enable_centered_bias": "trains a bias beside the model: take it out",
    "feature_engineering_fn": "changes features: call it in the input function",
    "embedding_lr_multipliers": "moves embeddings by other rates: take it out",
    **dict.fromkeys(
        ("_joint_weight", "_joint_weights", "_joint_linear_weights"),
        "has one variable for all columns: take it out",
    ),
}
_ACTIVATIONS = ("elu", "relu", "selu", "sigmoid", "softplus", "softsign", "tanh")


def canned(
    symbol: str,
    arguments: Arguments,
    *,
    tf2: bool,
    rows: bool = True,
    shared_columns: bool = False,
    classes: int | None = None,
) -> Code:
    """The Trainer that takes the Estimator's place.

    `tf2`: the class is the one that TF 2 has under the name. `rows`: columns of deep
    models may be embeddings, whose gradients are those of looked-up rows;
    `shared_columns`: some of them may have one table together. `classes`: what
    `n_classes` is, if it is a name for a number.
    """
    if symbol not in SIGNATURES:
        raise Refused(f"`{symbol}` has no task that takes its place")
    given = {
        name: text
        for name, text in arguments.items()
        if not is_absent(text) or name.endswith("activation_fn")
    }
    if symbol.startswith(LEARN):
        for name, what in _ODD.items():
            if literal(given.get(name, "False")) is not False:
                raise Refused(f"`{symbol}` with `{name}` {what}")
        if "label_keys" in given:
            given["label_vocabulary"] = given.pop("label_keys")
    return _Canned(symbol, given, arguments, tf2, rows, shared_columns, classes).code()


def task_of_head(text: str) -> tuple[str, list[str]]:
    """The task that stands for a head, and its options besides model and optimizer."""
    name, _, options = _Canned("a model_fn", {"head": text}, {}, False, True).head()
    return name, options


def units_of_head(text: str) -> str:
    """How many logits a head wants."""
    _, units, _ = _Canned("a model_fn", {"head": text}, {}, False, True).head()
    if not repeatable(units):
        raise Refused(f"a head whose number of logits is `{units}`")
    return units


@dataclass
class _Canned:
    """The call of one of the classes."""

    symbol: str
    given: dict[str, str]
    all_given: Arguments
    tf2: bool
    rows: bool
    shared_columns: bool = False
    number: int | None = None
    training: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    @property
    def learn(self) -> bool:
        """Whether the class is one of tf.contrib.learn."""
        return self.symbol.startswith(LEARN)

    def code(self) -> Code:
        """The whole expression."""
        if "WarmStartSettings" in self.given.get("warm_start_from", ""):
            raise Refused(f"`{self.symbol}` with a warm start of variables by name")
        head, units, options = self.head()
        short = self.symbol.rpartition(".")[2]
        if short.startswith("DNNLinear"):
            parts = self.combined(units)
        elif short.startswith("DNN"):
            model = self.deep("", units)
            parts = [
                model,
                self.optimizer("optimizer", "Adagrad", None if self.tf2 else "0.05"),
            ]
        elif short.startswith("Baseline"):
            self.rows = False
            self.training.add("BaselineModel")
            made = self.optimizer("optimizer", "Ftrl", "0.3")
            parts = [call("BaselineModel", *([units] * (units != "1"))), made]
        else:
            model = self.linear("", units)
            parts = [
                model,
                self.linear_optimizer("optimizer", "feature_columns", "0.2"),
            ]
        task = call(f"lambda: {head}", *parts[:2], *options, *parts[2:])
        about = {key: self.given.get(key) for key in _OF_TRAINER}
        self.training.add("Trainer")
        text = spread(call("Trainer", task, **about))
        return Code(text, frozenset(self.training), tuple(dict.fromkeys(self.notes)))

    # ---------------------------------------------------------------- the head

    def head(self) -> tuple[str, str, list[str]]:
        """The task, the number of its logits, and its options."""
        if "head" in self.given:
            name, given = self.given_head(parsed(self.given["head"]))
            reduction = given.get("loss_reduction", "SUM_OVER_BATCH_SIZE")
        else:
            given = self.given
            regressor = self.symbol.endswith("Regressor")
            name = "Regressor" if regressor else "Classifier"
            means = self.tf2 or self.learn
            default = "SUM_OVER_BATCH_SIZE" if means else "SUM"
            reduction = given.get("loss_reduction", default)
        if name in ("BinaryClassifier", "ThresholdClassifier"):
            units = "1"
        elif name in ("Regressor", "PoissonRegressor"):
            units = given.get("label_dimension", "1")
        elif name == "MultiLabelClassifier" or "head" in self.given:
            units = given.get("n_classes", "2")
        else:
            name, units = self.classes(given.get("n_classes", "2"))
        if self.learn:
            name = re.sub(r"\b(?=\w*(Classifier|Regressor))", "Learn", name)
        self.training |= {head for head in TASKS if head in re.findall(r"\w+", name)}
        options: list[str] = []
        if name == "ThresholdClassifier":
            options.append(f"thresholds={given['thresholds']}")
        if "weight_column" in given:
            options.append(f"weight_column={_weight_column(given['weight_column'])}")
        if "label_vocabulary" in given:
            options.append(f"label_vocabulary={given['label_vocabulary']}")
        word = literal(reduction)
        word = word if isinstance(word, str) else reduction.rpartition(".")[2]
        if word in _MEANS or (word in _PLAIN_MEANS and "weight_column" not in given):
            options.append("reduction=tf.reduce_mean")
        elif word not in _SUMS:
            raise Refused(f"`{self.symbol}` whose loss is reduced by `{reduction}`")
        modern = self.tf2 or self.given.get("head", "").startswith("tf.estimator.")
        if modern and (re.search("Binary|Threshold", name) or name.startswith("Multi")):
            options.append("pr_auc=tf_keras.metrics.AUC")
        return name, units, options

    def classes(self, number: str) -> tuple[str, str]:
        """The classifier for so many classes, and the number of logits."""
        value = literal(number) if self.number is None else self.number
        if value == 2:
            return "BinaryClassifier", "1"
        if isinstance(value, int):
            return "Classifier", number
        if not repeatable(number):
            raise Refused(
                f"`{self.symbol}` with `n_classes` that a call gives: name it"
            )
        return (
            f"(BinaryClassifier if {number} == 2 else Classifier)",
            f"1 if {number} == 2 else {number}",
        )

    def given_head(self, node: ast.expr) -> tuple[str, dict[str, str]]:
        """The task that stands for a head, and the head's arguments."""
        shown = f"`{self.symbol}`" if "." in self.symbol else self.symbol
        if not isinstance(node, ast.Call) or dotted(node.func) not in _HEADS:
            told = f"the head of {shown} is `{ast.unparse(node)}`"
            raise Refused(f"{told}, not a known one that is made in its call")
        name, parameters = _HEADS[dotted(node.func)]
        found = matched(node, parameters)
        given = {key: text for key, text in found.items() if not is_absent(text)}
        if literal(given.get("compute_full_loss", "True")) is True:
            given.pop("compute_full_loss", None)
        if name == "BinaryClassifier" and "thresholds" in given:
            name = "ThresholdClassifier"
        known = (*_USED_OF_HEADS, "thresholds" if name.startswith("Thr") else "")
        unknown = [key for key in given if key not in known]
        if unknown:
            raise Refused(f"the head of {shown} is made with `{unknown[0]}`")
        if name.startswith("Multi") and "n_classes" not in given:
            raise Refused(f"the head of {shown} is made without `n_classes`")
        return name, given

    # --------------------------------------------------------------- the model

    def combined(self, units: str) -> list[str]:
        """A linear part, a deep one, or both; with the optimizers."""
        deep = "dnn_feature_columns" in self.given
        wide = "linear_feature_columns" in self.given
        rate, columns = "0.005", "linear_feature_columns"
        parts: list[str] = []
        if wide:
            model = self.linear("linear_", units)
            made = self.linear_optimizer("linear_optimizer", columns, rate)
            if not deep:
                return [model, made]
            parts = [model]
        if not deep:
            raise Refused(f"`{self.symbol}` without feature columns")
        rate = "0.05" if self.learn else "0.001"
        trained = self.optimizer("dnn_optimizer", "Adagrad", rate)
        if not wide:
            return [self.deep("dnn_", units), trained]
        parts.append(self.deep("dnn_", units))
        self.training.add("WideAndDeepModel")
        model = call("WideAndDeepModel", *parts)
        if self.learn and literal(self.given.get(_COUNTS)) is not True:
            why = "counts each step twice: give it"
            raise Refused(f"`{self.symbol}` {why} `{_COUNTS}=True`, and half the steps")
        return [model, trained, f"wide_optimizer={made}"]

    def linear(self, prefix: str, units: str) -> str:
        """A linear model of feature columns."""
        columns = self.needed(f"{prefix}feature_columns")
        if columns == PLAIN:
            return call("tf_keras.layers.Dense", units, kernel_initializer='"zeros"')
        combiner = self.given.get(f"{prefix}sparse_combiner", "'sum'")
        options = {
            "units": None if units == "1" else units,
            "combiner": None if literal(combiner) == "sum" else combiner,
        }
        self.training.add("LinearModel")
        return call("LinearModel", columns, **options)

    def deep(self, prefix: str, units: str) -> str:
        """Dense layers on feature columns."""
        columns = self.needed(f"{prefix}feature_columns")
        hidden = self.needed(f"{prefix}hidden_units")
        activation = self.given.get(f"{prefix}activation_fn", "tf.nn.relu")
        short = activation.removeprefix("tf.nn.").removeprefix("tf.")
        if short in _ACTIVATIONS and activation.startswith("tf."):
            activation = f'"{short}"'
        if activation == "None" and prefix and self.learn:
            activation = '"relu"'
        option = None if activation == "None" else activation
        after = []
        dropout = self.given.get(f"{prefix}dropout")
        if dropout is not None:
            if literal(dropout) is UNKNOWN:
                dropout = f"{grouped(dropout)} or 0.0"  # it may be None
            after.append(call("tf_keras.layers.Dropout", dropout))
        flag = self.given.get("batch_norm", "False")
        normalizing = "tf_keras.layers.BatchNormalization(momentum=0.999)"
        if literal(flag) is True:
            after.append(normalizing)
        elif literal(flag) is not False:
            if not repeatable(flag):
                raise Refused(f"`{self.symbol}` whose `batch_norm` a call gives")
            after.append(f"*([{normalizing}] if {flag} else [])")

        def dense(size: str) -> str:
            return call("tf_keras.layers.Dense", size, activation=option)

        features = "tf_keras.layers.DenseFeatures"
        several = len(getattr(parsed(columns), "elts", "ab")) > 1
        if self.shared_columns or (self.learn and several and columns != PLAIN):
            features = "OrderedFeatures" if self.learn else "DenseFeatures"
            self.training.add(features)
        layers = [] if columns == PLAIN else [call(features, columns)]
        sizes = parsed(hidden)
        if isinstance(sizes, ast.List | ast.Tuple) and not any(
            isinstance(size, ast.Starred) for size in sizes.elts
        ):
            for number in sizes.elts:
                layers += [dense(ast.unparse(number)), *after]
        else:
            size = "size" if hidden == "units" else "units"
            layer = _sequential([dense(size), *after]) if after else dense(size)
            layers.append(f"*({layer} for {size} in {hidden})")
        layers.append(call("tf_keras.layers.Dense", units))
        return _sequential(layers)

    def needed(self, name: str) -> str:
        """The text of an argument that has to be there."""
        if name not in self.given:
            raise Refused(f"`{self.symbol}` without `{name}`")
        return self.given[name]

    # ---------------------------------------------------------- the optimizers

    def linear_optimizer(self, name: str, columns: str, rate: str) -> str:
        """The optimizer of a linear model, whose default is Ftrl."""
        given = name in self.given
        counted = name in self.all_given and not given  # None
        if self.learn:
            named = isinstance(literal(self.given.get(name)), str)
            rate, counted = "0.2", not given or (named and name != "optimizer")
        count = self.needed(columns)
        known = getattr(parsed(count), "elts", ()) if "*" not in count else ()
        if count == PLAIN or 0 < len(known) <= 25:
            counted, rate = False, "0.2" if counted else rate
        if counted:
            if not repeatable(count):
                raise Refused(
                    f"`{self.symbol}` with columns that a call gives: name them"
                )
            rate = f"min(0.2, len({count}) ** -0.5)"
        return self.optimizer(name, "Ftrl", rate, from_zero=True)

    def optimizer(
        self, name: str, default: str, rate: str | None, *, from_zero: bool = False
    ) -> str:
        """An optimizer given by its name, as an object or by a function."""
        text = self.given.get(name, f'"{default}"')
        clips = _made_by(parsed(text))
        norm = None
        if isinstance(clips, ast.Call) and _symbol(clips) == CLIP:
            given = matched(clips, CLIP_PARAMETERS)
            text, norm = given["optimizer"], given["clip_norm"]
        norm = self.given.get("gradient_clip_norm", norm)
        named = literal(text)
        if norm is None and _is_function_of_program(parsed(text)):
            return ast.unparse(_made_by(parsed(text)))
        held = isinstance(parsed(text), ast.Name) and norm is None
        if held and rate is not None and not self.tf2 and not self.learn:
            self.training |= {"optimizer_named"}
            return f"optimizer_named({text}, {rate})"
        if isinstance(named, str):
            symbol, given = self.named_optimizer(named, rate)
        else:
            symbol, given = self.made_optimizer(name, parsed(text))
        changing = False
        inner = parsed(given.get("learning_rate", "0"))
        if isinstance(inner, ast.Call) and _symbol(inner) in SCHEDULES:
            of_rate = _symbol(inner)
            code = schedule(of_rate, matched(inner, SCHEDULES[of_rate]))
            given, changing = {**given, "learning_rate": code.text}, True
        elif isinstance(inner, ast.Call) and _symbol(inner).startswith("tf_keras.opt"):
            changing = True
        # Rows that start at zero, and follow from their slots, may be computed again.
        linear = from_zero
        from_zero = linear and "warm_start_from" not in self.all_given
        ftrl = from_zero and symbol.endswith(("Ftrl", "FtrlOptimizer")) and not changing
        rows = (linear or self.rows) and not ftrl
        made = optimizer(symbol, given, schedule=changing, rows=rows)
        made = made if norm is None else clipping(made, norm)
        self.training |= made.training
        self.notes += made.notes
        return made.text

    def named_optimizer(
        self, name: str, rate: str | None
    ) -> tuple[str, dict[str, str]]:
        """An optimizer of one of the five names."""
        if name not in NAMES or name == "Momentum":
            raise Refused(f"`{self.symbol}` with the optimizer {name!r}")
        given = {} if rate is None else {"learning_rate": rate}
        if not self.tf2:
            return NAMES[name], given
        short = {"RMSProp": "RMSprop"}.get(name, name)
        return f"tf.keras.optimizers.{short}", given

    def made_optimizer(self, name: str, node: ast.expr) -> tuple[str, dict[str, str]]:
        """An optimizer that is made where the Estimator is made."""
        node = _made_by(node)
        symbol = _symbol(node.func) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or symbol not in OPTIMIZERS:
            raise Refused(
                f"`{self.symbol}` whose {name.replace('_', ' ')} is not made in its "
                f"call, but is `{ast.unparse(node)}`"
            )
        return symbol, matched(node, OPTIMIZERS[symbol])


def _made_by(node: ast.expr) -> ast.expr:
    """What ``lambda: make(...)`` gives, or what is given at once."""
    return node.body if isinstance(node, ast.Lambda) and not node.args.args else node


def _is_function_of_program(node: ast.expr) -> bool:
    """An optimizer comes from a function, whose own words change where it stands."""
    made = _made_by(node)
    name = dotted(made.func) if isinstance(made, ast.Call) else ""
    return name.isidentifier()


def _sequential(layers: list[str]) -> str:
    return call("tf_keras.Sequential", f"[{', '.join(layers)}]")


def _symbol(node: ast.expr) -> str:
    """The canonical name of what is called."""
    name = dotted(node.func if isinstance(node, ast.Call) else node)
    return name.replace("tf.compat.v1.", "tf.", 1)


def _weight_column(text: str) -> str:
    """The key of the feature that holds weights."""
    node = parsed(text)
    if not isinstance(node, ast.Call):
        return text
    plain = len(node.args) + len(node.keywords) == 1
    if dotted(node.func) == "tf.feature_column.numeric_column" and plain:
        return ast.unparse(node.args[0] if node.args else node.keywords[0].value)
    raise Refused(f"weights of examples by `{text}`: give the name of a feature")
