"""Writing SavedModels from an Estimator's checkpoint and model function.

The directory layout, tags, signature keys and the order in which modes are
written are those of TF 1.15: serving systems and later programs read them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from ...engine.private_api import export_utils, object_saver
from ..mode_keys import ModeKeys

__all__ = ["TRAIN_OP_COLLECTION", "add_mode", "export_all_saved_models"]

ReceiverFn = Callable[[], Any]

# The first of these that is asked for writes the variables; the others share
# them. Training comes first because only it has the optimizer's slots.
_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)

# Where loaders look for the training op of a training export.
TRAIN_OP_COLLECTION = "saved_model_train_op"


def export_all_saved_models(
    estimator: Any,
    export_dir_base: str | bytes | os.PathLike[str],
    input_receiver_fn_map: Mapping[str, ReceiverFn],
    *,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    strip_default_attrs: bool = True,
) -> bytes:
    """Exports one MetaGraph for each mode of the map into one SavedModel.

    Returns the path of the new time-stamped directory, as bytes: programs of
    every release call ``.decode()`` on it.
    """
    checkpoint_path = _checkpoint_to_export(estimator, checkpoint_path)
    modes = [mode for mode in _MODES if input_receiver_fn_map.get(mode)]
    if not modes:
        raise ValueError(
            "No valid modes for exporting found. "
            f"Got {list(input_receiver_fn_map.keys())}."
        )
    base = os.fsencode(os.fspath(export_dir_base))
    export_dir = export_utils.get_timestamped_export_dir(base)
    # Written aside and renamed at the end: a server that watches the base
    # directory never sees half an export.
    temporary_dir = export_utils.get_temp_export_dir(export_dir)
    try:
        builder = tf.saved_model.Builder(os.fsdecode(temporary_dir))
        for position, mode in enumerate(modes):
            estimator._add_meta_graph_for_mode(
                builder,
                input_receiver_fn_map,
                checkpoint_path,
                position == 0,
                mode=mode,
                strip_default_attrs=strip_default_attrs,
            )
        builder.save(as_text)
        _copy_extra_assets(os.fsdecode(temporary_dir), assets_extra or {})
    except BaseException:
        if tf.io.gfile.exists(temporary_dir):
            tf.io.gfile.rmtree(temporary_dir)
        raise
    tf.io.gfile.rename(temporary_dir, export_dir)
    assert isinstance(export_dir, bytes)
    return export_dir


def _checkpoint_to_export(estimator: Any, checkpoint_path: str | None) -> str | None:
    """The checkpoint to restore; None where initial values are what is exported."""
    path = checkpoint_path or tf.train.latest_checkpoint(estimator.model_dir)
    if path:
        return str(path)
    settings = getattr(estimator, "_warm_start_settings", None)
    if settings:
        # An Estimator that was never trained serves what it would start from.
        start = settings.ckpt_to_initialize_from
        if tf.io.gfile.isdir(start):
            start = tf.train.latest_checkpoint(start)
        if start:
            return os.fsdecode(start)
    if getattr(estimator._model_fn, "has_initial_weights", False):
        return None  # a Keras model that was trained before it became an Estimator
    raise ValueError(f"Couldn't find trained model at {estimator.model_dir}.")


def _copy_extra_assets(export_dir: str, assets_extra: Mapping[str, str]) -> None:
    for relative, source in assets_extra.items():
        destination = os.path.join(
            export_dir, "assets.extra", os.fsdecode(os.fspath(relative))
        )
        tf.io.gfile.makedirs(os.path.dirname(destination))
        tf.io.gfile.copy(source, destination)


def add_mode(
    builder: Any,
    estimator: Any,
    mode: str,
    receiver_fn: ReceiverFn,
    *,
    checkpoint_path: str | None,
    save_variables: bool,
    check_variables: bool,
    tags: Sequence[str] | None,
    strip_default_attrs: bool,
) -> None:
    """Builds the graph of one mode, restores it, and adds it to ``builder``."""
    if save_variables and not check_variables:
        raise ValueError(
            "If `save_variables` is `True, `check_variables` must not be `False`."
        )
    with tf.Graph().as_default() as graph:
        estimator._create_and_assert_global_step(graph)
        tf.set_random_seed(estimator.config.tf_random_seed)
        receiver = receiver_fn()
        spec = estimator._call_model_fn(
            receiver.features,
            getattr(receiver, "labels", None),
            mode,
            estimator.config,
        )
        signatures = _signatures(spec, receiver)
        local_init_op = spec.scaffold.local_init_op
        if local_init_op is None:
            local_init_op = tf.train.Scaffold.default_local_init_op()
        saver = _saver_of(spec.scaffold)
        with tf.Session(config=estimator._session_config) as session:
            if checkpoint_path is None:
                session.run(tf.global_variables_initializer())
            elif check_variables:
                _restore(saver, session, checkpoint_path, mode)
            if spec.train_op is not None:
                tf.add_to_collection(TRAIN_OP_COLLECTION, spec.train_op)
            contents: dict[str, Any] = {
                "signature_def_map": signatures,
                "assets_collection": tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                "main_op": local_init_op,
                "saver": saver,
                "strip_default_attrs": strip_default_attrs,
            }
            tags = tags or export_utils.EXPORT_TAG_MAP[mode]
            if save_variables:
                builder.add_meta_graph_and_variables(session, tags, **contents)
            else:
                builder.add_meta_graph(tags, **contents)


def _saver_of(scaffold: Any) -> Any:
    """What restores the variables, and will when the SavedModel is loaded."""
    saver = scaffold.saver
    if isinstance(saver, (tf.train.Checkpoint, tf2.train.Checkpoint)):
        return object_saver(saver)  # as the scaffold itself does in training
    return saver or tf.train.Saver(sharded=True)


def _signatures(spec: Any, receiver: Any) -> dict[str, Any]:
    outputs = export_utils.export_outputs_for_mode(
        mode=spec.mode,
        serving_export_outputs=spec.export_outputs,
        predictions=spec.predictions,
        loss=spec.loss,
        metrics=spec.eval_metric_ops,
    )
    made: dict[str, Any] = export_utils.build_all_signature_defs(
        receiver.receiver_tensors,
        outputs,
        getattr(receiver, "receiver_tensors_alternatives", None),
        serving_only=spec.mode == ModeKeys.PREDICT,
    )
    return made


def _restore(saver: Any, session: Any, checkpoint_path: str, mode: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except tf.errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make "
            "sure your model_fn does not expect variables that were not saved in "
            f"the checkpoint.\n\nEncountered error with mode `{mode}` while "
            f"restoring checkpoint from: `{checkpoint_path}`. Full Traceback:\n\n"
            f"{error}"
        ) from error
