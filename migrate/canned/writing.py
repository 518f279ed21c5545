"""The functions and Keras classes that stand for canned Estimators in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from ..emit.module.template import Filling, fill, parse_statements
from ..plan.code.arguments import may_be_none
from ..plan.code.tree import Statement
from ..plan.program import TF
from .families import Head, Part
from .uses import Uses

__all__ = ["written"]

_FILE = "canned_estimators"
# What a scope is in TensorFlow 1 only is said so where a file speaks TensorFlow 2.
_OF_TF1 = (
    "GraphKeys",
    "assign_add",
    "control_dependencies",
    "estimator",
    "get_collection",
    "name_scope",
    "nn",
    "summary",
    "train",
    "variable_scope",
)
_SHARED_NAMES = ("DeepModel", "LinearModel", "make_optimizer", "summarise_layer")
# The learning rates of optimizers that are given by name, by part.
_RATES = {
    (Part.DEEP, ""): ("Adagrad", "0.05"),
    (Part.LINEAR, ""): ("Ftrl", "0.2"),
    (Part.COMBINED, "dnn_"): ("Adagrad", "0.001"),
    # 1 / sqrt(columns), if that is less: with more than 40,000 columns.
    (Part.COMBINED, "linear_"): ("Ftrl", "0.005"),
}
_OPTIMIZERS = {
    "Adagrad": "AdagradOptimizer",
    "Adam": "AdamOptimizer",
    "Ftrl": "FtrlOptimizer",
    "RMSProp": "RMSPropOptimizer",
    "SGD": "GradientDescentOptimizer",
}
_AROUND = ("model_dir", "config", "warm_start_from")
_WAYS_OF_DEEP = {"activation_fn": f"{TF}.nn.relu", "dropout": "None"}
_BATCH_NORM = "batch_norm"


@dataclass
class _Texts:
    """How a file says things."""

    tensorflow: str
    for_tf2: bool
    fresh: Callable[[str], str]

    def spelled(self, code: str) -> str:
        """Source text in the words of the file."""
        return code.replace(TF, self.v1)

    @property
    def v1(self) -> str:
        """TensorFlow 1."""
        return f"{self.tensorflow}.compat.v1" if self.for_tf2 else self.tensorflow

    def attributes(self) -> dict[str, str]:
        """Words of TensorFlow 1 in templates."""
        if not self.for_tf2:
            return {}
        return {f"tf.{one}": f"{self.v1}.{one}" for one in _OF_TF1}


def written(
    every: Sequence[Uses],
    tensorflow: str,
    fresh: Callable[[str], str],
    *,
    for_tf2: bool,
) -> tuple[list[Statement], dict[str, str]]:
    """Definitions for the uses of a file, and the function of each symbol."""
    texts = _Texts(tensorflow, for_tf2, fresh)
    return _Writer(every, texts).statements()


class _Writer:
    def __init__(self, every: Sequence[Uses], texts: _Texts) -> None:
        self.every = every
        self.texts = texts
        self.is_deep = any(map(_has_deep, every))
        self.is_linear = any(map(_has_linear, every))
        self.names = {one: texts.fresh(one) for one in _SHARED_NAMES}
        self.names["tf"] = texts.tensorflow
        # Whether some optimizer's kind is only known when the program runs.
        self.makes_optimizer = False

    def statements(self) -> tuple[list[Statement], dict[str, str]]:
        functions: dict[str, str] = {}
        made: list[Statement] = []
        for one in self.every:
            functions[one.symbol] = self.texts.fresh(one.family.function)
            made += self._function(one, functions[one.symbol])
        found: list[Statement] = []
        if any(one.family.part != Part.LINEAR for one in self.every):
            found += fill(_FILE, "summarise_layer", self._filling())
        if self.is_deep:
            found += self._deep_model()
        if self.is_linear:
            found += fill(_FILE, "linear_model", self._filling())
        if self.makes_optimizer:
            found += fill(_FILE, "make_optimizer", self._filling())
        return [*found, *made], functions

    def _filling(self, **more: object) -> Filling:
        filling = Filling(names=self.names, attributes=self.texts.attributes())
        return replace(filling, **more)  # type: ignore[arg-type]

    # -- the model ---------------------------------------------------------------

    def _asked_of_deep(self, name: str) -> bool:
        return any(one.asks(_of_deep(one, name)) for one in self.every)

    def _deep_model(self) -> list[Statement]:
        asked = {n: d for n, d in _WAYS_OF_DEEP.items() if self._asked_of_deep(n)}
        if self._asked_of_deep(_BATCH_NORM):
            asked[_BATCH_NORM] = "False"
        parameters = ["self, feature_columns, hidden_units, units"]
        parameters += [f"{n}={self.texts.spelled(d)}" for n, d in asked.items()]
        sized = "dropout" in asked and not any(map(self._may_have_none, self.every))
        activation = "activation_fn" if "activation_fn" in asked else _RELU
        return fill(
            _FILE,
            "deep_model",
            self._filling(
                parameters={
                    "X_PARAMETERS": ", ".join(parameters),
                    "X_INPUTS": "self, features"
                    + (", training" if self._depends_on_mode() else ""),
                },
                expressions={
                    "X_ACTIVATION": self.texts.spelled(activation),
                    "X_RATE": "dropout" if sized else "dropout or 0.0",
                },
                flags={
                    "X_DROPOUT": "dropout" in asked,
                    "X_BATCH_NORM": _BATCH_NORM in asked,
                },
            ),
        )

    def _may_have_none(self, uses: Uses) -> bool:
        """Whether there may be no dropout."""
        given = uses.given(_of_deep(uses, "dropout"))
        if not _has_deep(uses):
            return False
        every = uses.always(_of_deep(uses, "dropout"))
        return (
            given is None
            or not every
            or any(may_be_none(uses.tree, one) for one in given)
        )

    def _depends_on_mode(self) -> bool:
        return self._asked_of_deep("dropout") or self._asked_of_deep(_BATCH_NORM)

    # -- the estimator ---------------------------------------------------------------

    def _function(self, uses: Uses, name: str) -> list[Statement]:
        family = uses.family
        shown = [
            f"{one}={self.texts.spelled(default)}" if default else one
            for one, default in uses.parameters()
        ]
        training = ""
        if self._depends_on_mode():
            modes = self.texts.spelled(f"{TF}.estimator.ModeKeys")
            training = f", training=mode == {modes}.TRAIN"
        filling = self._filling(
            expressions={
                "X_FUNCTION": name,
                "X_DEEP_MODEL": self._deep_made(uses),
                "X_DEEP_LOGITS": f"model(features{training})",
                "X_LINEAR_MODEL": self._linear_made(uses),
                "X_OPTIMIZER": self._optimizer(uses, ""),
                "X_DEEP_OPTIMIZER": self._optimizer(uses, "dnn_"),
                "X_LINEAR_OPTIMIZER": self._optimizer(uses, "linear_"),
                "X_ESTIMATOR": self._estimator(uses),
            },
            parameters={"X_PARAMETERS": ", ".join(shown)},
            statements={
                "X_DOCSTRING": parse_statements(f'"""{family.does}."""\n'),
                "X_HEAD": self._head(uses),
            },
            flags={"X_DEEP": _has_deep(uses), "X_LINEAR": _has_linear(uses)},
        )
        return fill(_FILE, f"{family.part}_estimator", filling)

    def _deep_made(self, uses: Uses) -> str:
        prefix = "dnn_" if uses.family.part == Part.COMBINED else ""
        given = [f"{prefix}feature_columns", f"{prefix}hidden_units"]
        given.append("head.logits_dimension")
        for name in (*_WAYS_OF_DEEP, _BATCH_NORM):
            own = _of_deep(uses, name)
            if uses.asks(own):
                given.append(f"{name}={own}")
        return f"{self.names['DeepModel']}({', '.join(given)})"

    def _linear_made(self, uses: Uses) -> str:
        prefix = "linear_" if uses.family.part == Part.COMBINED else ""
        combiner = f"{prefix}sparse_combiner"
        given = [f"{prefix}feature_columns", "head.logits_dimension"]
        given.append(combiner if uses.asks(combiner) else '"sum"')
        return f"{self.names['LinearModel']}({', '.join(given)})"

    def _estimator(self, uses: Uses) -> str:
        given = ["model_fn", *(f"{n}={n}" for n in _AROUND if uses.asks(n))]
        return self.texts.spelled(f"{TF}.estimator.Estimator({', '.join(given)})")

    def _optimizer(self, uses: Uses, prefix: str) -> str:
        known = _RATES.get((uses.family.part, prefix))
        if known is None:
            return ""
        name, rate = known
        argument = f"{prefix}optimizer"
        if not uses.asks(argument):
            made = f"{TF}.train.{_OPTIMIZERS[name]}(learning_rate={rate})"
            return self.texts.spelled(made)
        given = uses.given(argument)
        if (
            given is not None
            and uses.always(argument)
            and all(_is_optimizer(uses, one) for one in given)
        ):
            return argument
        self.makes_optimizer = True
        return f"{self.names['make_optimizer']}({argument}, {rate})"

    # -- the head --------------------------------------------------------------------

    def _head(self, uses: Uses) -> list[Statement]:
        family = uses.family
        if family.head == Head.GIVEN:
            return []
        if family.head == Head.VALUES:
            names = ("label_dimension", "weight_column")
            return parse_statements(f"head = {self._made_head(uses, names)}\n")
        names = ("weight_column", "label_vocabulary")
        two = self._made_head(uses, names, "binary_classification_head")
        more = self._made_head(uses, ("n_classes", *names), "multi_class_head")
        classes = _known_classes(uses)
        if classes is not None:
            return parse_statements(f"head = {two if classes == 2 else more}\n")
        return parse_statements(
            f"if n_classes == 2:\n    head = {two}\nelse:\n    head = {more}\n"
        )

    def _made_head(
        self, uses: Uses, names: Sequence[str], made: str = "regression_head"
    ) -> str:
        given = [f"{name}={name}" for name in names if uses.asks(name)]
        reduction = "loss_reduction"
        if not uses.asks(reduction):
            reduction = self.texts.spelled(f"{TF}.losses.Reduction.SUM")
        given.append(f"loss_reduction={reduction}")
        return f"{self.texts.tensorflow}.contrib.estimator.{made}({', '.join(given)})"


_RELU = f"{TF}.nn.relu"


def _has_deep(uses: Uses) -> bool:
    part = uses.family.part
    return part == Part.DEEP or uses.asks("dnn_feature_columns")


def _has_linear(uses: Uses) -> bool:
    part = uses.family.part
    return part == Part.LINEAR or uses.asks("linear_feature_columns")


def _of_deep(uses: Uses, name: str) -> str:
    """What a family calls an argument of hidden layers."""
    if uses.family.part == Part.COMBINED and name != _BATCH_NORM:
        return f"dnn_{name}"
    return name


def _is_optimizer(uses: Uses, node: cst.BaseExpression) -> bool:
    """The expression makes an optimizer."""
    if not isinstance(node, cst.Call):
        return False
    symbol = uses.tree.symbol(node.func) or ""
    return symbol.startswith("tf.") and symbol.endswith("Optimizer")


def _known_classes(uses: Uses) -> int | None:
    """How many classes there are, if every call says the same."""
    given = uses.given("n_classes")
    if given is None:
        return None
    found = {
        one.evaluated_value if isinstance(one, cst.Integer) else None for one in given
    }
    if not all(uses.always("n_classes") for _ in given):
        found.add(2)
    if not given:
        return 2
    (only,) = found if len(found) == 1 else (None,)
    # More than two are one kind of head, whatever their number.
    if only is None and found and all(one is not None and one > 2 for one in found):
        return 3
    return only
