"""``replicate_model_fn``: data parallelism from before strategies existed.

A batch is split over devices, the model function runs once for each (a
*tower*), variables are shared, and the last tower applies the summed
gradients. Numbers are those of TF 1.12 and 1.15.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine.callables import argument_names
from .export import ClassificationOutput, PredictOutput, RegressionOutput
from .mode_keys import ModeKeys
from .spec import EstimatorSpec

__all__ = ["TowerOptimizer", "replicate_model_fn"]

_VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp")


def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable[..., Any]:
    """A model function that runs ``model_fn`` on every device of ``devices``.

    All local GPUs by default, or the CPU. Optimizers of ``model_fn`` must be
    wrapped in :class:`TowerOptimizer`. Unless ``loss_reduction`` is ``SUM``,
    each tower's loss is divided by their number.
    """
    if loss_reduction == tf.losses.Reduction.NONE:
        raise ValueError(
            "Tower losses need to be reduced in some way, yet "
            f"{loss_reduction} reduction is specified."
        )
    chosen = tuple(devices or _local_devices("GPU") or _local_devices("CPU"))
    one_gpu = len(chosen) == 1 and "GPU" in chosen[0].upper()
    home = chosen[0] if one_gpu else "/CPU:0"
    tf.logging.info(
        "Replicating the `model_fn` across %s. Variables are going to be placed on %s.",
        chosen,
        home,
    )

    def replicated_model_fn(
        features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> EstimatorSpec:
        count = len(chosen)
        if count == 1:
            shards = [(features, labels)]
        else:
            shards = _split_batch(features, labels, count, home)
        specs = _build_towers(
            model_fn, shards, mode, params, config, chosen, home, loss_reduction
        )
        if count == 1:
            return specs[0]
        if mode == ModeKeys.TRAIN:
            return _train_spec(specs, home)
        if mode == ModeKeys.EVAL:
            return _eval_spec(specs, home)
        return _predict_spec(specs, home)

    return replicated_model_fn


class _Towers:
    """What the towers of one graph share while they are being built."""

    COLLECTION = "replicate_model_fn_graph_states"

    def __init__(self) -> None:
        self.count = 1
        self.reduction: str | None = None
        self.index = 0
        self.optimizer_was_used = False
        self.first_scopes: tuple[Any, str] = ("", "")
        # For each tower, the gradients of its optimizer calls in order.
        self.gradients: dict[int, list[list[tuple[Any, Any]]]] = {}

    @classmethod
    def of_this_graph(cls) -> _Towers:
        states = tf.get_default_graph().get_collection_ref(cls.COLLECTION)
        if not states:
            states.append(cls())
        state = states[-1]
        assert isinstance(state, _Towers)
        return state

    @classmethod
    def forget(cls) -> None:
        tf.get_default_graph().clear_collection(cls.COLLECTION)

    @property
    def is_last(self) -> bool:
        return self.index == self.count - 1

    def scaled(self, loss: Any) -> Any:
        if self.count == 1 or self.reduction == tf.losses.Reduction.SUM:
            return loss
        return tf.divide(loss, float(self.count), name="averaged_loss")


class TowerOptimizer(tf.train.Optimizer):
    """Gathers gradients from all towers; the last one applies their sum.

    Every tower must call the same optimizers in the same order. Without
    ``replicate_model_fn``, or with one device, calls go straight through.
    """

    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        super().__init__(use_locking=False, name="TowerOptimizer")
        self._given = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used() -> bool:
        """Whether the towers of this graph have used such an optimizer."""
        return _Towers.of_this_graph().optimizer_was_used

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """Gradients of this tower's share of the loss."""
        loss = _Towers.of_this_graph().scaled(loss)
        return self._optimizer().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any
    ) -> Any:
        """Keeps the gradients, or in the last tower applies all of them."""
        towers = _Towers.of_this_graph()
        optimizer = self._optimizer()
        pairs = list(grads_and_vars)
        if towers.count == 1:
            return optimizer.apply_gradients(pairs, global_step, **kwargs)
        towers.gradients.setdefault(towers.index, []).append(pairs)
        if not towers.is_last:
            with tf.control_dependencies(_dense_parts(pairs)):
                return tf.no_op(name="train_op_placeholder")
        var_scope, name_scope = towers.first_scopes
        with tf.variable_scope(var_scope), tf.name_scope(name_scope):
            return optimizer.apply_gradients(
                _summed_gradients(towers), global_step=global_step, **kwargs
            )

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the wrapped optimizer."""
        return self._optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Names of the wrapped optimizer's slots."""
        return self._optimizer().get_slot_names(*args, **kwargs)

    def get_name(self) -> str:
        """Name of the wrapped optimizer."""
        return str(self._optimizer().get_name())

    def variables(self) -> Any:
        """Variables of the wrapped optimizer."""
        return self._optimizer().variables()

    def _optimizer(self) -> Any:
        if not isinstance(self._given, tf.train.Optimizer) and callable(self._given):
            self._given = self._given()
        _Towers.of_this_graph().optimizer_was_used = True
        return self._given


def _dense_parts(pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
    gradients = [g for g, _ in pairs if g is not None]
    return [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]


def _summed_gradients(towers: _Towers) -> list[tuple[Any, Any]]:
    """The gradients of the last optimizer call, summed over towers."""
    call = len(towers.gradients[towers.index]) - 1
    variables: list[Any] = []
    gradients: dict[int, list[Any]] = {}
    for index in range(towers.count):
        for gradient, variable in towers.gradients[index][call]:
            if gradient is None:
                continue
            if id(variable) not in gradients:
                variables.append(variable)
            gradients.setdefault(id(variable), []).append(gradient)
    with tf.name_scope("gradient_aggregating"):
        return [(_sum(gradients[id(v)], v.device), v) for v in variables]


def _sum(values: Sequence[Any], device: str, name: str | None = None) -> Any:
    with tf.device(device):
        if not isinstance(values[0], tf.IndexedSlices):
            return tf.add_n(list(values), name=name)
        return tf.IndexedSlices(
            tf.concat([v.values for v in values], 0),
            tf.concat([v.indices for v in values], 0),
            values[0].dense_shape,
        )


def _local_devices(kind: str) -> list[str]:
    return [device.name for device in tf.config.list_logical_devices(kind)]


# -- the batch ------------------------------------------------------------------


def _split_batch(
    features: Any, labels: Any, count: int, device: str
) -> list[tuple[Any, Any]]:
    with tf.name_scope("split_inputs"), tf.device(device):
        feature_shards = _split(features, count)
        label_shards = [None] * count if labels is None else _split(labels, count)
    return list(zip(feature_shards, label_shards, strict=True))


def _split(value: Any, count: int) -> list[Any]:
    if isinstance(value, dict):
        parts = {key: _split(entry, count) for key, entry in value.items()}
        return [{key: parts[key][i] for key in value} for i in range(count)]
    if isinstance(value, tf.SparseTensor):
        return list(tf.sparse.split(sp_input=value, num_split=count, axis=0))
    value = tf.convert_to_tensor(value)
    size = value.shape[0] if value.shape.rank else None
    size = getattr(size, "value", size)
    # Without a static size the split itself checks, step by step.
    if size is not None and size % count:
        raise ValueError(
            f"Batch size {size} needs to be divisible by the number of GPUs, which "
            f"is {count}."
        )
    return list(tf.split(value, count))


# -- the towers -----------------------------------------------------------------


def _build_towers(
    model_fn: Callable[..., Any],
    shards: Sequence[tuple[Any, Any]],
    mode: str,
    params: Any,
    config: Any,
    devices: Sequence[str],
    home: str,
    loss_reduction: str,
) -> list[EstimatorSpec]:
    names = argument_names(model_fn)
    towers = _Towers.of_this_graph()
    towers.count, towers.reduction = len(devices), loss_reduction
    specs = []
    for index, (device, (features, labels)) in enumerate(
        zip(devices, shards, strict=True)
    ):
        arguments: dict[str, Any] = {"mode": mode, "features": features}
        if "labels" in names:
            arguments["labels"] = labels
        if "params" in names:
            arguments["params"] = copy.deepcopy(params)
        if "config" in names:
            arguments["config"] = copy.deepcopy(config)
        with _tower(towers, index, device, home):
            spec = model_fn(**arguments)
            if spec.train_op is not None and towers.count > 1:
                _check_optimizers(towers)
            if spec.loss is not None:
                spec = spec._replace(loss=towers.scaled(spec.loss))
            specs.append(spec)
    calls = {len(calls) for calls in towers.gradients.values()}
    if len(calls) > 1:
        raise ValueError(
            "Each invocation of model_fn was supposed to make the same optimizer calls."
        )
    _Towers.forget()
    return specs


def _check_optimizers(towers: _Towers) -> None:
    if not towers.optimizer_was_used:
        raise ValueError(
            "Please wrap optimizers with TowerOptimizer in order to use "
            "replicate_model_fn with multiple `devices`."
        )


@contextlib.contextmanager
def _tower(towers: _Towers, index: int, device: str, home: str) -> Iterator[None]:
    """The scopes of one tower: shared variables, own device and op names."""

    def place(op: Any) -> str:
        own = tf.DeviceSpec.from_string(op.device or "")
        base = tf.DeviceSpec.from_string(home if op.type in _VARIABLE_OPS else device)
        return str(base.make_merged_spec(own).to_string())

    towers.index = index
    with contextlib.ExitStack() as stack:
        var_scope = stack.enter_context(tf.variable_scope("", reuse=index > 0))
        name_scope = stack.enter_context(
            tf.name_scope("" if index == 0 else f"tower_{index}")
        )
        if index == 0:
            towers.first_scopes = var_scope, name_scope
        stack.enter_context(tf.device(place))
        yield


# -- one spec from many -----------------------------------------------------------


def _rebuilt(spec: EstimatorSpec, **fields: Any) -> EstimatorSpec:
    values = {name: getattr(spec, name) for name in spec._fields}
    return EstimatorSpec(**{**values, **fields})


def _train_spec(specs: Sequence[EstimatorSpec], home: str) -> EstimatorSpec:
    # The last tower's train_op is the one that applies everything.
    loss = _sum([spec.loss for spec in specs], home, "loss")
    return _rebuilt(specs[-1], loss=loss)


def _eval_spec(specs: Sequence[EstimatorSpec], home: str) -> EstimatorSpec:
    loss = _sum([spec.loss for spec in specs], home, "loss")
    updates = [update for spec in specs for _, update in spec.eval_metric_ops.values()]
    with tf.control_dependencies(updates):
        merged = _merge_metric_variables(len(specs))
    return _rebuilt(
        specs[0],
        loss=loss,
        eval_metric_ops={
            name: (value, merged)
            for name, (value, _) in specs[0].eval_metric_ops.items()
        },
    )


def _merge_metric_variables(count: int) -> Any:
    """Adds the other towers' metric totals to the first one's, and clears them."""
    variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    size = len(variables) // count
    if len(variables) % count:
        raise ValueError(
            "Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls. "
            f"Expected {size * count} local variables, but got {len(variables)} "
            "instead."
        )
    done: list[Any] = []
    for index in range(size):
        others = variables[index + size :: size]
        added = variables[index].assign_add(tf.add_n([v.read_value() for v in others]))
        with tf.control_dependencies([added]):
            done.extend(v.assign(tf.zeros_like(v.read_value())) for v in others)
    return tf.group(*done)


def _predict_spec(specs: Sequence[EstimatorSpec], home: str) -> EstimatorSpec:
    with tf.device(home):
        return _rebuilt(
            specs[0],
            predictions=_concatenated([spec.predictions for spec in specs]),
            export_outputs={
                name: _joined_output([spec.export_outputs[name] for spec in specs])
                for name in specs[0].export_outputs
            },
        )


def _concatenated(values: Sequence[Any]) -> Any:
    if isinstance(values[0], dict):
        return {key: _joined([value[key] for value in values]) for key in values[0]}
    return _joined(list(values))


def _joined(values: Sequence[Any]) -> Any:
    """Batches one behind the other; scalars become a batch."""
    if all(value.shape.ndims == 0 for value in values):
        return tf.stack(list(values))
    return tf.concat(list(values), 0)


def _joined_output(outputs: Sequence[Any]) -> Any:
    first = outputs[0]
    if isinstance(first, PredictOutput):
        return PredictOutput(_concatenated([o.outputs for o in outputs]))
    if isinstance(first, RegressionOutput):
        return RegressionOutput(_joined([o.value for o in outputs]))
    if isinstance(first, ClassificationOutput):
        return ClassificationOutput(
            scores=None
            if first.scores is None
            else _joined([o.scores for o in outputs]),
            classes=None
            if first.classes is None
            else _joined([o.classes for o in outputs]),
        )
    raise ValueError(
        f"replicate_model_fn cannot join export outputs of type {type(first)}."
    )
