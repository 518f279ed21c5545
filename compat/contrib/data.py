"""``tf.contrib.data``: transformations for ``Dataset.apply`` and readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

_exp = tf.data.experimental

__all__ = [
    "AUTOTUNE",
    "CheckpointInputPipelineHook",
    "Counter",
    "CsvDataset",
    "Optional",
    "RandomDataset",
    "Reducer",
    "SqlDataset",
    "TFRecordWriter",
    "assert_element_shape",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "read_batch_features",
    "reduce_dataset",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sliding_window_batch",
    "sloppy_interleave",
    "unbatch",
    "unique",
]

Transformation = Callable[[Any], Any]

AUTOTUNE = tf.data.AUTOTUNE
Counter = _exp.Counter
CsvDataset = _exp.CsvDataset
Optional = _exp.Optional
RandomDataset = _exp.RandomDataset
Reducer = _exp.Reducer
SqlDataset = _exp.SqlDataset
TFRecordWriter = _exp.TFRecordWriter
bucket_by_sequence_length = _exp.bucket_by_sequence_length
choose_from_datasets = _exp.choose_from_datasets
copy_to_device = _exp.copy_to_device
dense_to_sparse_batch = _exp.dense_to_sparse_batch
get_next_as_optional = _exp.get_next_as_optional
get_single_element = _exp.get_single_element
group_by_reducer = _exp.group_by_reducer
make_batched_features_dataset = _exp.make_batched_features_dataset
make_csv_dataset = _exp.make_csv_dataset
make_saveable_from_iterator = _exp.make_saveable_from_iterator
parse_example_dataset = _exp.parse_example_dataset
prefetch_to_device = _exp.prefetch_to_device
rejection_resample = _exp.rejection_resample
sample_from_datasets = _exp.sample_from_datasets


def shuffle_and_repeat(
    buffer_size: Any, count: Any = None, seed: Any = None
) -> Transformation:
    """Shuffle, then repeat, with a new order in each epoch."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """Map, then batch; TensorFlow fuses the two by itself nowadays."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are "
            "mutually exclusive."
        )
    if num_parallel_batches is not None:
        num_parallel_calls = num_parallel_batches * batch_size

    def apply(dataset: Any) -> Any:
        mapped = dataset.map(map_func, num_parallel_calls=num_parallel_calls or 1)
        return mapped.batch(batch_size, drop_remainder=drop_remainder)

    return apply


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Batches of exactly ``batch_size``."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """Padded batches of exactly ``batch_size``."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def enumerate_dataset(start: int = 0) -> Transformation:
    """Pairs of a running number and an element."""
    return lambda dataset: dataset.enumerate(start)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Any = None,
) -> Transformation:
    """Group elements by key and reduce each group's windows."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def ignore_errors() -> Transformation:
    """Leave out elements that raise."""
    return lambda dataset: dataset.ignore_errors()


def unbatch() -> Transformation:
    """Split batches into their elements."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """Leave out elements that came before."""
    return lambda dataset: dataset.unique()


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """Map with a state that is carried along."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """Interleave several nested datasets in parallel."""
    del buffer_output_elements, prefetch_input_elements  # tf.data tunes them
    return lambda dataset: dataset.interleave(
        map_func,
        cycle_length=cycle_length,
        block_length=block_length,
        num_parallel_calls=cycle_length,
        deterministic=not sloppy,
    )


def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1
) -> Transformation:
    """`parallel_interleave` in whatever order elements are ready."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(
    window_size: int,
    stride: int | None = None,
    window_shift: int | None = None,
    window_stride: int = 1,
) -> Transformation:
    """Overlapping batches; windows that would be short at the end are dropped."""
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = window_shift if window_shift is not None else stride or 1

    def apply(dataset: Any) -> Any:
        windows = dataset.window(
            window_size, shift=shift, stride=window_stride, drop_remainder=True
        )

        def batch(*parts: Any) -> Any:
            batched = [part.batch(window_size) for part in tf.nest.flatten(parts)]
            packed = tf.nest.pack_sequence_as(parts, batched)
            if len(packed) == 1 and not isinstance(packed[0], dict | tuple):
                return packed[0]
            structure = packed if len(parts) > 1 else packed[0]
            return tf.data.Dataset.zip(structure)

        return windows.flat_map(batch)

    return apply


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Check every element's shapes, and tell the graph about them."""

    def check(*element: Any) -> Any:
        flat = tf.nest.flatten(element)
        shapes = _flatten_shapes(expected_shapes, len(flat))
        checked = [tf.ensure_shape(t, s) for t, s in zip(flat, shapes, strict=True)]
        packed = tf.nest.pack_sequence_as(element, checked)
        return packed[0] if len(element) == 1 else packed

    return lambda dataset: dataset.map(check)


def _flatten_shapes(shapes: Any, count: int) -> list[Any]:
    if isinstance(shapes, tf.TensorShape) or (
        count == 1 and not isinstance(shapes, dict)
    ):
        if isinstance(shapes, tuple) and isinstance(shapes[0], tf.TensorShape):
            return list(shapes)
        return [tf.TensorShape(shapes)]
    if isinstance(shapes, dict):
        return [
            shape for key in sorted(shapes) for shape in _flatten_shapes(shapes[key], 1)
        ]
    return [shape for part in shapes for shape in _flatten_shapes(part, 1)]


def reduce_dataset(dataset: Any, reducer: Any) -> Any:
    """The whole dataset reduced to one value."""

    def step(state: Any, *element: Any) -> Any:
        return reducer.reduce_func(state, element[0] if len(element) == 1 else element)

    state = dataset.reduce(reducer.init_func(tf.constant(0, tf.int64)), step)
    return reducer.finalize_func(state)


def read_batch_features(
    file_pattern: Any,
    batch_size: int,
    features: Any,
    reader: Any = tf.data.TFRecordDataset,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """Batches of parsed examples, as tensors."""
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return tf.data.make_one_shot_iterator(dataset).get_next()


class CheckpointInputPipelineHook(tf.train.SessionRunHook):
    """Keeps the position in the input pipeline in a checkpoint of its own.

    TensorFlow no longer saves iterators that hold Python functions; for others
    the state is written beside the model's checkpoints.
    """

    def __init__(self, estimator: Any) -> None:
        config = estimator.config
        suffix = "_input" if config.is_chief else f"_input_{config.task_id}"
        self._hook = tf.train.CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            checkpoint_basename=f"input{suffix}.ckpt",
            saver=None,
            scaffold=None,
        )

    def begin(self) -> None:
        """Collect the saveable iterators of the graph."""
        saveables = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
        iterators = [s for s in saveables if "Iterator" in type(s).__name__]
        if not iterators:
            raise ValueError(
                "CheckpointInputPipelineHook found no iterator to save; add one to "
                "SAVEABLE_OBJECTS with make_saveable_from_iterator."
            )
        self._hook._saver = tf.train.Saver(
            iterators, sharded=True, filename="input_checkpoint"
        )
        self._hook.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Save once at the start, as the checkpoint hook does."""
        self._hook.after_create_session(session, coord)

    def before_run(self, run_context: Any) -> Any:
        """Ask for the global step."""
        return self._hook.before_run(run_context)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Save when it is time."""
        self._hook.after_run(run_context, run_values)

    def end(self, session: Any) -> None:
        """Save at the end."""
        self._hook.end(session)
