"""``tf.contrib.predictor``: call a saved model or an estimator like a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["from_estimator", "from_saved_model"]


class Predictor:
    """Feeds and fetches by name, in a session of its own."""

    def __init__(
        self,
        graph: Any,
        session: Any,
        feed_tensors: Mapping[str, Any],
        fetch_tensors: Mapping[str, Any],
    ) -> None:
        self._graph = graph
        self._session = session
        self._feed_tensors = dict(feed_tensors)
        self._fetch_tensors = dict(fetch_tensors)

    @property
    def graph(self) -> Any:
        """The graph that holds the model."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session that holds the weights."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """Inputs by name."""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """Outputs by name."""
        return self._fetch_tensors

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self._feed_tensors} and "
            f"fetch_tensors {self._fetch_tensors}"
        )

    def __call__(self, input_dict: Mapping[str, Any]) -> Any:
        """The outputs for these inputs, as arrays by name."""
        unknown = set(input_dict) - set(self._feed_tensors)
        if unknown:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unknown}\n"
                f"expected: {set(self._feed_tensors)}"
            )
        feed = {
            self._feed_tensors[key]: value
            for key, value in input_dict.items()
            if value is not None
        }
        return self._session.run(self._fetch_tensors, feed_dict=feed)


def from_saved_model(
    export_dir: str,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: Any = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor over a signature (or named tensors) of a SavedModel."""
    given = [
        signature_def_key is not None,
        signature_def is not None,
        input_names is not None and output_names is not None,
    ]
    if sum(given) > 1 or (input_names is None) != (output_names is None):
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR "
            "(input_names AND output_names)."
        )
    tag_set = (
        set(
            tags.split(",")
            if isinstance(tags, str)
            else tags or [tf.saved_model.SERVING]
        )
        if not tags or isinstance(tags, str)
        else set(tags)
    )
    graph = graph or tf.Graph()
    with graph.as_default():
        session = tf.Session(config=config)
        meta = tf.saved_model.loader.load(session, list(tag_set), export_dir)
    if input_names is None or output_names is None:
        if signature_def is None:
            key = (
                signature_def_key
                or tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
            )
            if key not in meta.signature_def:
                raise ValueError(
                    f'Got signature_def_key "{key}". Available signatures are '
                    f"{sorted(meta.signature_def)}."
                )
            signature_def = meta.signature_def[key]
        input_names = {k: v.name for k, v in signature_def.inputs.items()}
        output_names = {k: v.name for k, v in signature_def.outputs.items()}
    return Predictor(
        graph,
        session,
        {k: graph.get_tensor_by_name(v) for k, v in input_names.items()},
        {k: graph.get_tensor_by_name(v) for k, v in output_names.items()},
    )


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Any,
    output_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor over the latest checkpoint of an Estimator."""
    graph = graph or tf.Graph()
    with graph.as_default():
        tf.train.create_global_step(graph)
        receiver = serving_input_receiver_fn()
        spec = estimator.model_fn(receiver.features, None, "infer", estimator.config)
        checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
        session = tf.train.MonitoredSession(
            session_creator=tf.train.ChiefSessionCreator(
                config=config,
                checkpoint_filename_with_path=checkpoint,
                scaffold=spec.scaffold,
            )
        )
    outputs = _outputs_of(spec, output_key)
    inputs = receiver.receiver_tensors
    if not isinstance(inputs, dict):
        inputs = {"input": inputs}
    return Predictor(graph, session, inputs, outputs)


def _outputs_of(spec: Any, output_key: str | None) -> dict[str, Any]:
    key = (
        output_key
        or tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    )
    exports = spec.export_outputs
    if exports is None:
        predictions = spec.predictions
        return predictions if isinstance(predictions, dict) else {"output": predictions}
    if output_key is None and len(exports) == 1:
        key = next(iter(exports))
    if key not in exports:
        raise KeyError(f"no export output {key}; there are {sorted(exports)}")
    output = exports[key]
    if hasattr(output, "outputs"):
        return dict(output.outputs)
    if hasattr(output, "value"):
        return {"outputs": output.value}
    found = {"scores": output.scores, "classes": output.classes}
    return {name: tensor for name, tensor in found.items() if tensor is not None}
