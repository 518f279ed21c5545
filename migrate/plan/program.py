"""What a training program does, as plain data.

A plan holds source text, not syntax nodes: it can be printed, compared and
tested without a parser. The places in the syntax tree that an emitter edits are
kept apart, in :mod:`.sites`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

__all__ = [
    "MODEL",
    "OPTIMIZER",
    "TF",
    "Blocker",
    "CallKind",
    "Difference",
    "EstimatorCall",
    "HookPlan",
    "InputPlan",
    "KerasModelPlan",
    "LayerClass",
    "MetricPlan",
    "MetricUpdate",
    "ModelFnPlan",
    "OptimizerPlan",
    "PredictPlan",
    "RunConfigPlan",
    "StockHooks",
    "StrategyPlan",
    "TrainingPlan",
]

# Stands for the program's own name of tensorflow in source text of a plan.
TF = "__tf__"
# Stand for the emitted loop's names of its model and its optimizer.
MODEL = "__model__"
OPTIMIZER = "__optimizer__"


@dataclass(frozen=True)
class Blocker:
    """Why a program cannot become a native loop, and where that is."""

    rule: str
    line: int
    reason: str


@dataclass(frozen=True)
class Difference:
    """Something in the emitted loop that changes numbers or needs a look."""

    rule: str
    line: int
    message: str
    needs_review: bool = False


@dataclass(frozen=True)
class StrategyPlan:
    """The distribution strategy; ``arguments`` are (name, source) pairs.

    ``symbol`` is the canonical name of the legacy class, or None when the
    program trains on one device without a strategy.
    """

    symbol: str | None = None
    variable: str | None = None
    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class RunConfigPlan:
    """Fields of RunConfig that shape the loop, as source text."""

    model_dir: str | None = None
    # The source of model_dir may evaluate to None or an empty string.
    model_dir_optional: bool = True
    seed: str | None = None
    save_steps: str | None = None
    save_seconds: str | None = None
    keep_max: str | None = None
    log_steps: str | None = None
    summary_steps: str | None = None
    # A step of an evaluation takes a batch for every replica.
    eval_distributed: bool = False

    @property
    def writes_events(self) -> bool:
        """The program asked for summaries every so many steps."""
        return self.summary_steps not in (None, "0")


@dataclass(frozen=True)
class OptimizerPlan:
    """The optimizer's constructor: canonical name and (name, source) pairs."""

    symbol: str
    arguments: tuple[tuple[str, str], ...] = ()
    variable: str | None = None


@dataclass(frozen=True)
class MetricPlan:
    """One entry of ``metrics=[...]``.

    ``key`` is its name in the dict that evaluate returned; ``code`` makes the
    Keras metric.
    """

    key: str
    code: str


@dataclass(frozen=True)
class KerasModelPlan:
    """A compiled Keras model that was turned into an Estimator.

    ``per_example_loss`` is source text of a callable ``(labels, predictions)``
    that gives one loss per example; ``loss_is_object`` says that it makes that
    callable and is to be called once.
    """

    variable: str
    optimizer: OptimizerPlan
    per_example_loss: str
    loss_is_object: bool
    metrics: tuple[MetricPlan, ...] = ()
    regularized: bool = False


@dataclass(frozen=True)
class MetricUpdate:
    """One eval_metric_ops entry: key, Keras metric, what each batch gives it."""

    key: str
    code: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class PredictPlan:
    """What predict gives: statements that make it, and the expression itself."""

    lines: tuple[str, ...]
    code: str
    is_dict: bool


@dataclass(frozen=True)
class LayerClass:
    """A Keras class that took the place of code which made layers.

    ``parameters`` are those of ``__init__``, ``arguments`` those of ``call``; ``init``
    and ``call`` are statements.
    """

    name: str
    base: str
    docstring: str
    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    init: tuple[str, ...]
    call: tuple[str, ...]


@dataclass(frozen=True)
class ModelFnPlan:
    """A ``model_fn`` taken apart; everything is source text of the new code.

    ``model`` is the class of its layers, ``outputs`` what it returns and all that
    losses, metrics and predictions read of it. ``optimizer_setup`` is what the
    arguments of the optimizer need.
    """

    name: str
    class_name: str
    has_params: bool
    params: str | None
    model: LayerClass
    outputs: tuple[str, ...]
    train_loss: tuple[str, ...]
    loss: str
    eval_loss: tuple[str, ...]
    eval_loss_name: str
    metrics: tuple[MetricUpdate, ...]
    optimizer_setup: tuple[str, ...]
    optimizer: OptimizerPlan
    predict: PredictPlan | None = None

    @property
    def metric_code(self) -> list[str]:
        """Statements that read what metrics are given."""
        return [f"f({a})\n" for metric in self.metrics for a in metric.arguments]

    def bound(self) -> set[str]:
        """Names that the functions of the loop bind for themselves."""
        predict = () if self.predict is None else self.predict.lines
        return set(self.outputs) | {
            node.id
            for text in (*self.train_loss, *self.eval_loss, *predict)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }


@dataclass(frozen=True)
class InputPlan:
    """Where batches come from: source text that evaluates to a Dataset."""

    dataset: str
    # The expression reads the Estimator's ``params``.
    needs_params: bool = False


@dataclass(frozen=True)
class HookPlan:
    """A hook given to train: source text and, for a user's class, its methods.

    ``stops`` says that the callback may ask the loop to end.
    """

    code: str
    class_name: str
    methods: tuple[str, ...] = ()
    stops: bool = False


@dataclass(frozen=True)
class StockHooks:
    """What TensorFlow's own hooks ask of a loop, as source text."""

    log_steps: str | None = None
    # The loss is logged at the end as well.
    log_end: bool = False
    rate_steps: str | None = None
    num_steps: str | None = None
    last_step: str | None = None


class CallKind:
    """What an Estimator was asked to do."""

    TRAIN = "train"
    EVALUATE = "evaluate"
    PREDICT = "predict"
    # A figure or a name that is asked for: the step, the latest checkpoint.
    VALUE = "value"
    TRAIN_AND_EVALUATE = "train_and_evaluate"
    TRAINING = (TRAIN, TRAIN_AND_EVALUATE)


@dataclass(frozen=True)
class EstimatorCall:
    """One call of a method of the Estimator."""

    kind: str
    line: int
    input: InputPlan | None = None
    steps: str | None = None
    max_steps: str | None = None
    # The limit's source may evaluate to None at run time.
    limit_optional: bool = False
    hooks: tuple[HookPlan, ...] = ()
    stock: StockHooks = StockHooks()
    # predict: the keys that are wanted, and whether examples come one by one.
    keys: str | None = None
    by_example: bool = True
    # value: what is asked for.
    wanted: str | None = None
    # train_and_evaluate: what is evaluated, on how much, how often at most.
    evaluated_input: InputPlan | None = None
    evaluated_steps: str | None = None
    throttle_seconds: str = "600"

    @property
    def evaluates(self) -> bool:
        """The call needs the model's metrics."""
        return self.kind in (CallKind.EVALUATE, CallKind.TRAIN_AND_EVALUATE)

    @property
    def predicts(self) -> bool:
        """The call needs the model's predictions."""
        return self.kind == CallKind.PREDICT


@dataclass(frozen=True)
class TrainingPlan:
    """Everything an emitter needs to know about one training program."""

    line: int
    estimator: str
    model: KerasModelPlan | ModelFnPlan
    strategy: StrategyPlan
    config: RunConfigPlan
    calls: tuple[EstimatorCall, ...]
    differences: tuple[Difference, ...] = field(default=())

    @property
    def trains(self) -> tuple[EstimatorCall, ...]:
        """The train calls, in source order."""
        return tuple(c for c in self.calls if c.kind in CallKind.TRAINING)

    @property
    def evaluates(self) -> bool:
        """The program evaluates its model."""
        return any(c.evaluates for c in self.calls)

    @property
    def predicts(self) -> bool:
        """The program predicts with its model."""
        return any(c.predicts for c in self.calls)

    @property
    def inputs(self) -> tuple[InputPlan, ...]:
        """The input functions of all calls, in source order."""
        both = ((c.input, c.evaluated_input) for c in self.calls)
        return tuple(i for pair in both for i in pair if i is not None)
