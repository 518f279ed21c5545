"""How a model function trains: its optimizer and rate, made once before a loop."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ..interp.arguments import Argument
from ..interp.in_mode import Called
from ..interp.values import Seq, Symbol, Value
from ..plan.code.pure import is_plain_call
from ..plan.code.statements import backward_slice, loads
from ..plan.code.texts import source_text
from ..plan.code.tree import Statement, walk
from ..plan.keras.program import OPTIMIZERS
from ..plan.program import TF, OptimizerPlan
from .steps import Steps

__all__ = ["DECAYS", "GLOBAL_STEPS", "Training", "is_updates", "read_training"]

GLOBAL_STEPS = (
    "tf.train.get_global_step",
    "tf.train.get_or_create_global_step",
    "tf.train.create_global_step",
    "tf.contrib.framework.get_global_step",
    "tf.contrib.framework.get_or_create_global_step",
)
_DECAYED = ("learning_rate", "global_step", "decay_steps", "decay_rate", "staircase")
# Functions of tf.train, Keras' schedule with the same rates, and their parameters.
_DECAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cosine_decay": (
        "CosineDecay",
        ("learning_rate", "global_step", "decay_steps", "alpha"),
    ),
    "cosine_decay_restarts": (
        "CosineDecayRestarts",
        (
            "learning_rate",
            "global_step",
            "first_decay_steps",
            "t_mul",
            "m_mul",
            "alpha",
        ),
    ),
    "exponential_decay": ("ExponentialDecay", _DECAYED),
    "inverse_time_decay": ("InverseTimeDecay", _DECAYED),
    "natural_exp_decay": ("ExponentialDecay", _DECAYED),
    "piecewise_constant": (
        "PiecewiseConstantDecay",
        ("x", "boundaries", "values"),
    ),
    "polynomial_decay": (
        "PolynomialDecay",
        (
            "learning_rate",
            "global_step",
            "decay_steps",
            "end_learning_rate",
            "power",
            "cycle",
        ),
    ),
}
_DECAYS["piecewise_constant_decay"] = _DECAYS["piecewise_constant"]
DECAYS = tuple(f"tf.train.{name}" for name in _DECAYS)
# Arguments that are given by their places, if all before them are.
_PLACES = ("learning_rate", "decay_steps", "decay_rate", "boundaries", "values")
_ATOMS = (cst.Attribute, cst.BaseNumber, cst.Call, cst.Name, cst.Subscript)
# Of these, a loop has no need.
_IGNORED = ("gate_gradients", "aggregation_method", "colocate_gradients_with_ops")
_MINIMIZE = ("loss", "global_step", "var_list", *_IGNORED, "name", "grad_loss")


@dataclass
class Training:
    """The optimizer, and plain statements that its arguments need."""

    optimizer: OptimizerPlan
    setup: list[str] = field(default_factory=list)
    # The rate follows the step.
    decays: bool = False


def is_updates(value: Value) -> bool:
    """The collection of what layers update besides, such as moving averages."""
    if not isinstance(value, Called) or value.symbol != "tf.get_collection":
        return False
    key = value.arguments[0].value if len(value.arguments) == 1 else None
    if isinstance(key, Symbol):
        return key.name.endswith(".UPDATE_OPS")
    return getattr(key, "value", None) == "update_ops"


def read_training(steps: Steps, train_op: Argument, loss: Argument) -> Training:
    """The training that a train_op stands for, or Blocked."""
    return _Reader(steps).read(train_op, loss)


class _Reader:
    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.tree = steps.tree
        self.chosen: set[Statement] = set()
        self.decays = False

    def read(self, train_op: Argument, loss: Argument) -> Training:
        stop = self.steps.stop
        call = _minimizing(train_op.value)
        if call is None or call.owner is None or not self.steps.is_own(call):
            raise stop(train_op.node, "the train_op is not a plain minimize")
        given = self.steps.arguments(call, _MINIMIZE)
        assert call.node is not None
        minimized = given.get("loss")
        if minimized is None or minimized.value is not loss.value:
            raise stop(call.node, "it minimizes something else than the loss")
        step = given.get("global_step")
        if step is None or not _is_step(step.value):
            raise stop(call.node, "minimize without the global step")
        for name in given:
            if name not in ("loss", "global_step", "name", *_IGNORED):
                raise stop(call.node, f"minimize(`{name}`=)")
        optimizer = self._optimizer(call.owner)
        setup = [one for one in self.steps.found.taken if one in self.chosen]
        return Training(optimizer, [source_text(one) for one in setup], self.decays)

    def _optimizer(self, called: Called) -> OptimizerPlan:
        assert called.node is not None
        if called.symbol not in OPTIMIZERS or not self.steps.is_own(called):
            shown = called.symbol
            reason = f"the optimizer `{shown}` is not converted yet"
            raise self.steps.stop(called.node, reason)
        given = self.steps.arguments(called, OPTIMIZERS[called.symbol])
        return OptimizerPlan(
            called.symbol, tuple((name, self._text(one)) for name, one in given.items())
        )

    def _text(self, one: Argument) -> str:
        """Source of an argument: a schedule, or a plain value."""
        value = one.value
        if isinstance(value, Called) and value.symbol in DECAYS:
            if not self.steps.is_own(value):
                raise self.steps.stop(one.node, "a rate that another function makes")
            return self._schedule(value)
        return self._plain(one.node)

    def _schedule(self, called: Called) -> str:
        """Keras' schedule, which reads the step before it is counted, as TF 1 did."""
        assert called.node is not None
        short = called.symbol.removeprefix("tf.train.")
        keras, parameters = _DECAYS[short]
        given = self.steps.arguments(called, (*parameters, "name"))
        step = given.get("x" if "x" in parameters else "global_step")
        if step is None or not _is_step(step.value):
            reason = "a learning rate of something else than the step"
            raise self.steps.stop(called.node, reason)
        self.decays = True
        parts: list[str] = []
        for name in parameters:
            if name not in given or given[name] is step:
                continue
            node = given[name].node
            code = self._plain(node)
            if short == "natural_exp_decay" and name == "decay_rate":
                # exp(-rate * step / steps), where Keras takes rate ** (step / steps).
                sign = code if isinstance(node, _ATOMS) else f"({code})"
                code = f"{TF}.exp(-{sign})"
            placed = name in _PLACES and not any("=" in part for part in parts)
            parts.append(code if placed else f"{name}={code}")
        return f"{TF}.keras.optimizers.schedules.{keras}({', '.join(parts)})"

    def _plain(self, node: cst.BaseExpression) -> str:
        """Source of a value of Python; what it is made of is said before."""
        needed = backward_slice(
            self.tree, self.steps.found.taken, loads(self.tree, node)
        )
        for one in (node, *needed):
            self._check(one)
        self.chosen.update(needed)
        return source_text(node)

    def _check(self, root: cst.CSTNode) -> None:
        if loads(self.tree, root) & {"features", "labels", "mode", "config"}:
            shown = self.tree.code(root)
            raise self.steps.stop(root, f"the optimizer depends on `{shown}`")
        for node in walk(root):
            if isinstance(node, cst.Call) and (
                self.tree.symbol(node.func) is not None
                or not is_plain_call(self.steps.source, node)
            ):
                shown = self.tree.code(node.func)
                raise self.steps.stop(node, f"`{shown}` makes the optimizer")
            if isinstance(node, (cst.While, cst.Try, cst.With, cst.FunctionDef)):
                reason = "the optimizer is made in a way not understood"
                raise self.steps.stop(node, reason)


def _is_step(value: Value) -> bool:
    return isinstance(value, Called) and value.symbol in GLOBAL_STEPS


def _minimizing(value: Value) -> Called | None:
    """The call that trains, through groups with updates of layers."""
    if not isinstance(value, Called):
        return None
    if value.symbol.endswith("().minimize"):
        return value
    if value.symbol != "tf.group":
        return None
    parts: list[Value] = []
    for one in value.arguments:
        if one.keyword is None:
            parts += one.value.items if isinstance(one.value, Seq) else [one.value]
    others = [one for one in parts if not is_updates(one)]
    return _minimizing(others[0]) if len(others) == 1 else None
