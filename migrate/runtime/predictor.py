"""Predictors: a model as a function from arrays to arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .asked import HOOKS
from .checkpoints import saver_of_graph
from .estimator import Estimator
from .exporting import DEFAULT_SIGNATURE, signatures_of
from .vocabulary import ModeKeys, v1


class Predictor:
    """Gives the outputs of a signature for its inputs, by name."""

    def __init__(self, session: Any, signature: Any):
        self.session = session
        self.graph = session.graph
        self.feed_tensors = named_tensors(session.graph, signature.inputs)
        self.fetch_tensors = named_tensors(session.graph, signature.outputs)

    def __call__(self, input_dict: dict[str, Any]) -> dict[str, Any]:
        """Runs the model once."""
        unknown = sorted(set(input_dict) - set(self.feed_tensors))
        if unknown:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unknown}\n"
                f"expected: {sorted(self.feed_tensors)}"
            )
        feeds = {self.feed_tensors[name]: value for name, value in input_dict.items()}
        with self.graph.as_default():
            values: dict[str, Any] = self.session.run(self.fetch_tensors, feeds)
        return values


def named_tensors(graph: Any, infos: Any) -> dict[str, Any]:
    """The tensors of one side of a signature."""
    return {
        name: graph.as_graph_element(info.name)
        for name, info in infos.items()
        if info.name
    }


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Any = None,
    output_names: Any = None,
    tags: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """The predictor of an exported model."""
    if signature_def is None and input_names is not None:
        signature_def = v1.saved_model.build_signature_def(
            {name: v1.TensorInfo(name=value) for name, value in input_names.items()},
            {name: v1.TensorInfo(name=value) for name, value in output_names.items()},
        )
    graph = graph or tf.Graph()
    with graph.as_default():
        session = v1.Session(config=config)
        path = export_dir.decode() if isinstance(export_dir, bytes) else str(export_dir)
        chosen = tags.split(",") if tags else ["serve"]
        meta = v1.saved_model.loader.load(session, chosen, path)
    if signature_def is None:
        signature_def = meta.signature_def[signature_def_key or DEFAULT_SIGNATURE]
    return Predictor(session, signature_def)


def from_estimator(
    estimator: Estimator,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """The predictor of a trained model that has not been exported."""
    with (graph or tf.Graph()).as_default():
        v1.train.get_or_create_global_step()
        receiver = serving_input_receiver_fn()
        spec = estimator.call_model_fn(receiver.features, None, ModeKeys.PREDICT)
        session = v1.Session(config=config)
        session.run([v1.local_variables_initializer(), v1.tables_initializer()])
        checkpoint = estimator.trained_checkpoint()
        saver = spec.scaffold.saver if HOOKS else None
        saver = saver or saver_of_graph(checkpoint)
        saver.restore(session, checkpoint)
        signatures = signatures_of(spec, receiver)
    return Predictor(session, signatures[output_key or DEFAULT_SIGNATURE])
