"""Growing boosted trees: the model function of ``tf.estimator.BoostedTrees*``.

A step computes gradients of its batch and adds their statistics per bucket; a
layer is grown when enough batches have been seen. The kernels for all of it
are in TensorFlow.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from ...engine import private_api
from ..heads.checks import weight_key
from ..mode_keys import ModeKeys
from .trees_input import TreeColumns

__all__ = ["TreeSettings", "check_kernels", "tree_logits", "tree_spec"]

_NEW_NODE = -1
_PRUNING = ("none", "pre", "post")


def check_kernels() -> None:
    """Says what to do instead where TensorFlow has lost the tree kernels."""
    if not private_api.has_kernel("BoostedTreesTrainingPredict"):
        raise RuntimeError(
            f"TensorFlow {tf.VERSION} has no kernels for boosted trees any more; train "
            "them with TensorFlow Decision Forests (GradientBoostedTreesModel) or "
            "scikit-learn (HistGradientBoostingClassifier / -Regressor)."
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class TreeSettings:
    """Hyper-parameters of an ensemble."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    @property
    def max_splits(self) -> int:
        """Nodes of a full tree."""
        return (1 << self.max_depth) - 1

    @property
    def n_quantiles(self) -> int:
        """Buckets of a float feature."""
        return int(1.0 / self.quantile_sketch_epsilon)

    @property
    def pruning(self) -> int:
        """The pruning mode as the kernels number it."""
        if self.pruning_mode not in _PRUNING:
            raise ValueError(
                f"pruning_mode must be one of {_PRUNING}, got {self.pruning_mode!r}."
            )
        mode = _PRUNING.index(self.pruning_mode)
        if self.tree_complexity > 0 and mode == 0:
            raise ValueError(
                "Tree complexity have no effect unless pruning mode is chosen."
            )
        if self.tree_complexity <= 0 and mode != 0:
            raise ValueError("For pruning, tree_complexity must be positive.")
        return mode


class _StopWhenGrown(tf.train.SessionRunHook):  # type: ignore[misc]
    """Ends training when all trees are there, or growing them is hopeless."""

    def __init__(self, trees: Any, layers: Any, settings: TreeSettings) -> None:
        self._tensors = [trees, layers]
        self._settings = settings

    def _is_over(self, trees: int, layers: int, *, early: int = 0) -> bool:
        limit = 2 * self._settings.n_trees * self._settings.max_depth
        return trees >= self._settings.n_trees - early or layers > limit - early

    def before_run(self, run_context: Any) -> Any:
        """Fetches what has been grown."""
        del run_context
        return tf.train.SessionRunArgs(self._tensors)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """The step itself may have grown more than it could report: look again."""
        counts = run_values.results
        if self._is_over(*counts, early=1):
            counts = run_context.session.run(self._tensors)
        if self._is_over(*counts):
            run_context.request_stop()


class _RunAtStart(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs an op once in every new session."""

    def __init__(self, op: Any) -> None:
        self._op = op

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        del coord
        session.run(self._op)


def _variable(value: Any, name: str) -> Any:
    return tf.Variable(
        value, trainable=False, validate_shape=False, name=name, use_resource=True
    )


def _choose(
    condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any], name: str
) -> Any:
    # A variable as the condition would be read once, outside of both branches.
    return tf.cond(tf.logical_and(condition, True), then, otherwise, name=name)


def _done(op: Callable[[], Any]) -> Callable[[], Any]:
    """`op` as a branch: branches have to return a tensor."""

    def branch() -> Any:
        with tf.control_dependencies([op()]):
            return tf.constant(True)

    return branch


class _Grower:
    """Grows layers from statistics, at once or after several batches."""

    def __init__(
        self,
        ensemble: Any,
        quantiles: Any,
        settings: TreeSettings,
        groups: list[tuple[int, list[int]]],
        *,
        stamp: Any,
        n_batches: int,
        in_memory: bool,
        is_chief: bool,
    ) -> None:
        self._ensemble = ensemble
        self._quantiles = quantiles
        self._settings = settings
        self._groups = groups
        self._stamp = stamp
        self._n_batches = n_batches
        self._in_memory = in_memory
        self._is_chief = is_chief
        self._pruning = settings.pruning
        self._statistics: list[Any] = []
        self._bias: Any = None
        self._init_ops: list[Any] = []
        if in_memory:
            return
        for index, (n_buckets, ids) in enumerate(groups):
            shape = [len(ids), settings.max_splits, n_buckets, 2]
            name = f"numeric_stats_summary_accumulator_{index}"
            self._statistics.append(self._accumulator(shape, name))
        if settings.center_bias:
            self._bias = self._accumulator([2, 1], "bias_accumulator")

    @property
    def init_op(self) -> Any:
        """Brings the accumulators to the stamp of a restored ensemble."""
        return tf.group(*self._init_ops)

    def _accumulator(self, shape: list[int], name: str) -> Any:
        made = tf.ConditionalAccumulator(tf.float32, shape=shape, shared_name=name)
        self._init_ops.append(made.set_global_step(self._stamp))
        return made

    def _when_complete(
        self, count: Any, action: Callable[[], Any], after: list[Any], name: str
    ) -> Any:
        """Runs `action` on the chief once enough batches are in."""
        with tf.control_dependencies(after):
            if not self._is_chief:
                return tf.no_op()
            enough = tf.greater_equal(count(), self._n_batches)
            return tf.cond(enough, _done(action), lambda: tf.constant(False), name=name)

    def add_quantiles(self, values: list[Any], weights: Any, ready: Any) -> Any:
        """Adds a batch to the sketches; makes the buckets when it was the last."""
        added = self._quantiles.add_summaries(values, weights)

        def finish() -> Any:
            with tf.control_dependencies([self._quantiles.flush()]):
                return ready.assign(True).op

        if self._in_memory:
            with tf.control_dependencies([added]):
                return finish()
        counter = tf.ConditionalAccumulator(
            tf.float32, shape=[], shared_name="quantile_summary_accum"
        )
        step = counter.set_global_step(self._stamp)
        count = counter.apply_grad(tf.constant(0.0), self._stamp)

        def finish_count() -> Any:
            return tf.group(counter.take_grad(1), finish())

        return self._when_complete(
            counter.num_accumulated,
            finish_count,
            [tf.group(added, step, count)],
            "wait_until_quaniles_accumulated",
        )

    def center(self, needed: Any, gradients: Any, hessians: Any) -> Any:
        """Moves the bias of the first tree towards the optimum."""

        def move(mean_gradients: Any, mean_hessians: Any) -> Any:
            again = tf.raw_ops.BoostedTreesCenterBias(
                tree_ensemble_handle=self._ensemble.resource_handle,
                mean_gradients=mean_gradients[tf.newaxis],
                mean_hessians=mean_hessians[tf.newaxis],
                l1=self._settings.l1,
                l2=self._settings.l2,
            )
            return needed.assign(again).op

        means = tf.reduce_mean(tf.stack([gradients, hessians], axis=0), axis=1)
        if self._in_memory:
            return move(means[0], means[1])

        def finish() -> Any:
            total = self._bias.take_grad(1)
            with tf.control_dependencies([move(total[0], total[1])]):

                def advance() -> Any:
                    # Growing starts at the next stamp.
                    return tf.group(
                        *(a.set_global_step(self._stamp + 1) for a in self._statistics)
                    )

                return _choose(
                    needed, lambda: tf.constant(False), _done(advance), "bias_centered"
                )

        return self._when_complete(
            self._bias.num_accumulated,
            finish,
            [self._bias.apply_grad(means, self._stamp)],
            "wait_until_n_batches_for_bias_accumulated",
        )

    def grow(self, statistics: list[list[Any]], nodes: Any) -> Any:
        """Adds a batch's statistics; grows a layer when it was the last."""
        if self._in_memory:
            return self._grow_layer(statistics, nodes)
        added = [
            accumulator.apply_grad(tf.stack(own, axis=0), self._stamp)
            for accumulator, own in zip(self._statistics, statistics, strict=True)
        ]

        def count() -> Any:
            counts = [a.num_accumulated() for a in self._statistics]
            return tf.reduce_min(tf.stack(counts))

        def grow_layer() -> Any:
            total = [tf.unstack(a.take_grad(1), axis=0) for a in self._statistics]
            return self._grow_layer(total, nodes)

        return self._when_complete(
            count, grow_layer, added, "wait_until_n_batches_accumulated"
        )

    def _grow_layer(self, statistics: list[list[Any]], nodes: Any) -> Any:
        settings = self._settings
        parts: list[list[Any]] = [[], [], [], [], []]
        feature_ids: list[int] = []
        for (_, ids), own in zip(self._groups, statistics, strict=True):
            best = tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(
                node_id_range=nodes,
                stats_summary_list=own,
                l1=settings.l1,
                l2=settings.l2,
                tree_complexity=settings.tree_complexity,
                min_node_weight=settings.min_node_weight,
                max_splits=settings.max_splits,
            )
            feature_ids.extend(ids)
            for part, found in zip(parts, best, strict=True):
                part.extend(found)
        return tf.raw_ops.BoostedTreesUpdateEnsemble(
            tree_ensemble_handle=self._ensemble.resource_handle,
            feature_ids=feature_ids,
            node_ids=parts[0],
            gains=parts[1],
            thresholds=parts[2],
            left_node_contribs=parts[3],
            right_node_contribs=parts[4],
            learning_rate=settings.learning_rate,
            max_depth=settings.max_depth,
            pruning_mode=self._pruning,
        )


@dataclasses.dataclass
class _Parts:
    """The ensemble of a graph and the buckets of its features."""

    ensemble: Any
    quantiles: Any
    boundaries: list[Any]


def _parts(columns: TreeColumns, settings: TreeSettings, name: str) -> _Parts:
    ensemble = private_api.boosted_trees_ops.TreeEnsemble(name=name)
    if not columns.floats:
        return _Parts(ensemble, None, [])
    quantiles = private_api.boosted_trees_ops.QuantileAccumulator(
        epsilon=settings.quantile_sketch_epsilon,
        num_streams=columns.n_floats,
        num_quantiles=settings.n_quantiles,
        name="QuantileAccumulator",
    )
    return _Parts(ensemble, quantiles, list(quantiles.get_bucket_boundaries()))


def tree_logits(
    features: Any, columns: TreeColumns, settings: TreeSettings, *, name: str
) -> tuple[Any, Any, list[Any]]:
    """Logits of a grown ensemble, its handle, and the buckets they came from."""
    parts = _parts(columns, settings, name)
    buckets = columns.buckets(features, parts.boundaries)
    logits = tf.raw_ops.BoostedTreesPredict(
        tree_ensemble_handle=parts.ensemble.resource_handle,
        bucketized_features=buckets,
        logits_dimension=1,
    )
    return logits, parts.ensemble.resource_handle, buckets


class _Memory:
    """Where every example of a data set that fits in one batch stands."""

    def __init__(self, batch: Any, n_features: int) -> None:
        zeros = tf.zeros([batch], tf.int32)
        self.tree_ids = _variable(zeros, "tree_ids_cache")
        self.node_ids = _variable(zeros + _NEW_NODE, "node_ids_cache")
        self.logits = _variable(tf.zeros([batch, 1]), "logits_cache")
        self.buckets = [
            _variable(zeros, f"cached_feature_{index}") for index in range(n_features)
        ]
        self.has_buckets = _variable(False, "are_features_cached")

    def cached_buckets(
        self, make: Callable[[], list[Any]], ready: Any
    ) -> tuple[list[Any], Any]:
        """Bucket indices, computed once after the boundaries are there."""
        n = len(self.buckets)

        def compute_and_keep() -> list[Any]:
            made = make()
            kept = [v.assign(b) for v, b in zip(self.buckets, made, strict=True)]
            with tf.control_dependencies([v.op for v in kept]):
                flipped = self.has_buckets.assign(True)
            with tf.control_dependencies([flipped.op]):
                return [tf.identity(b) for b in made]

        def use_kept() -> list[Any]:
            return [tf.identity(v.read_value()) for v in self.buckets]

        def after_boundaries() -> list[Any]:
            found: list[Any] = _choose(
                self.has_buckets, use_kept, compute_and_keep, "cached"
            )
            return found if n > 1 else [found]

        found = _choose(ready, after_boundaries, make, "features")
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        shaped = []
        for bucket in found:
            bucket.set_shape([None])
            shaped.append(bucket)
        return shaped, tf.group(*shaped)

    def insert(self, tree_ids: Any, node_ids: Any, logits: Any) -> Any:
        """Keeps where the examples stand now."""
        return tf.group(
            self.tree_ids.assign(tree_ids).op,
            self.node_ids.assign(node_ids).op,
            self.logits.assign(logits).op,
        )


def tree_spec(
    features: Any,
    labels: Any,
    mode: str,
    *,
    head: Any,
    columns: TreeColumns,
    settings: TreeSettings,
    n_batches_per_layer: int,
    config: Any,
    weight_column: Any = None,
    closed_form: Callable[[Any, Any], tuple[Any, Any]] | None = None,
    in_memory: bool = False,
) -> Any:
    """The spec of a boosted-trees model."""
    with tf.name_scope("boosted_trees") as name:
        if mode != ModeKeys.TRAIN:
            logits, _, _ = tree_logits(features, columns, settings, name=name)
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, logits=logits
            )
        _check_distribution(config, n_batches_per_layer, in_memory)
        global_step = tf.train.get_or_create_global_step()
        parts = _parts(columns, settings, name)
        ready = _variable(not columns.floats, "are_boundaries_ready")
        batch = tf.shape(labels)[0]
        make = functools.partial(columns.buckets, features, parts.boundaries)
        memory = _Memory(batch, len(columns.names)) if in_memory else None
        if memory is None:
            buckets, kept = make(), tf.no_op()
            seen = (
                tf.zeros([batch], tf.int32),
                tf.fill([batch], _NEW_NODE),
                tf.zeros([batch, 1]),
            )
        else:
            buckets, kept = memory.cached_buckets(make, ready)
            seen = tuple(
                tf.identity(v.read_value())
                for v in (memory.tree_ids, memory.node_ids, memory.logits)
            )
        stamp, trees, finished, layers, nodes = parts.ensemble.get_states()
        partial, tree_ids, node_ids = tf.raw_ops.BoostedTreesTrainingPredict(
            tree_ensemble_handle=parts.ensemble.resource_handle,
            cached_tree_ids=seen[0],
            cached_node_ids=seen[1],
            bucketized_features=buckets,
            logits_dimension=1,
        )
        logits = seen[2] + partial
        groups = columns.groups(settings.n_quantiles)
        grower = _Grower(
            parts.ensemble,
            parts.quantiles,
            settings,
            groups,
            stamp=stamp,
            n_batches=n_batches_per_layer,
            in_memory=in_memory,
            is_chief=config.is_chief,
        )
        tf.summary.scalar("ensemble/num_trees", trees)
        tf.summary.scalar("ensemble/num_finalized_trees", finished)
        tf.summary.scalar("ensemble/num_attempted_layers", layers)
        centering = _variable(settings.center_bias, "center_bias_needed")
        key = weight_key(weight_column)
        weights = (
            tf.constant(1.0, shape=[1])
            if key is None
            else tf.cast(tf.reshape(features[key], [-1]), tf.float32)
        )

        def grow(loss: Any) -> Any:
            steps = [kept]
            if memory is not None:
                steps.append(
                    _choose(
                        centering,
                        lambda: tf.constant(False),
                        _done(lambda: memory.insert(tree_ids, node_ids, logits)),
                        "insert",
                    )
                )
            if closed_form is None:
                gradients = tf.gradients(loss, logits, name="Gradients")[0]
                hessians = tf.gradients(gradients, logits, name="Hessians")[0]
            else:
                gradients, hessians = closed_form(logits, labels)
            statistics = [
                [
                    tf.squeeze(
                        tf.raw_ops.BoostedTreesMakeStatsSummary(
                            node_ids=node_ids,
                            gradients=gradients,
                            hessians=hessians,
                            bucketized_features_list=[buckets[feature]],
                            max_splits=settings.max_splits,
                            num_buckets=n_buckets,
                        ),
                        axis=0,
                    )
                    for feature in ids
                ]
                for n_buckets, ids in groups
            ]
            if settings.center_bias:
                update = _choose(
                    centering,
                    _done(lambda: grower.center(centering, gradients, hessians)),
                    _done(lambda: grower.grow(statistics, nodes)),
                    "center_or_grow",
                )
            else:
                update = grower.grow(statistics, nodes)
            with tf.control_dependencies([update]):
                steps.append(tf.assign_add(global_step, 1).op)
            return tf.group(*steps, name="grow_op")

        def train_op_fn(loss: Any) -> Any:
            if not columns.floats:
                return grow(loss)
            return _choose(
                ready,
                _done(lambda: grow(loss)),
                _done(
                    lambda: grower.add_quantiles(
                        columns.float_values(features), weights, ready
                    )
                ),
                "grow_or_sketch",
            )

        spec = head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            train_op_fn=train_op_fn,
            logits=logits,
        )
        stop = _StopWhenGrown(finished, layers, settings)
        return spec._replace(
            training_hooks=(*spec.training_hooks, stop),
            training_chief_hooks=(
                _RunAtStart(grower.init_op),
                *spec.training_chief_hooks,
            ),
        )


def _check_distribution(config: Any, n_batches: int, in_memory: bool) -> None:
    if in_memory and n_batches != 1:
        raise ValueError(
            "When train_in_memory is enabled, input_fn should return the entire "
            "dataset as a single batch, and n_batches_per_layer should be set as 1."
        )
    if config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
        raise ValueError(
            "Boosted trees train in one process here; start the program without "
            "TF_CONFIG, or use TensorFlow Decision Forests for distributed trees."
        )
