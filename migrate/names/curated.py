"""What introspection cannot know about symbols: meaning and advice.

The generator combines these hand-kept tables with what it finds in the real
packages; ``tests/symbols`` checks every target on a current TensorFlow.
"""

from __future__ import annotations

__all__ = [
    "ADVICE",
    "CONTRIB",
    "KEEP_V1",
    "MOVED_MODULES",
    "NOT_IMPORTABLE",
    "SAME",
    "advice_for",
    "importable",
    "moved",
]

# Attributes of the package that ``from tensorflow.X import ...`` cannot reach,
# because a directory of that name hides the public module.
NOT_IMPORTABLE = (
    "tf.distribute",
    "tf.lite",
    "tf.compat.v1.flags",
    "tf.compat.v1.app.flags",
)


def importable(name: str) -> bool:
    """Whether ``from <parent of name> import <name>`` works in TF 2.21."""
    parent = name.rpartition(".")[0]
    return name != "tf.compat.v1.app.flags" and not any(
        parent == hidden or parent.startswith(hidden + ".") for hidden in NOT_IMPORTABLE
    )


# The TF2 symbol of this name means something else even when the arguments fit;
# the TF1 behaviour lives on under tf.compat.v1.
KEEP_V1: frozenset[str] = frozenset(
    {
        "tf.where",  # v2 broadcasts
        "tf.image.resize",  # v2 samples at half-pixel centres
        "tf.image.resize_images",
        "tf.image.resize_bilinear",
        "tf.image.resize_bicubic",
        "tf.image.resize_area",
        "tf.image.resize_nearest_neighbor",
        "tf.image.extract_glimpse",
        "tf.image.sample_distorted_bounding_box",
        "tf.nn.embedding_lookup",  # partitions: mod against div
        "tf.nn.embedding_lookup_sparse",
        "tf.nn.safe_embedding_lookup_sparse",
        "tf.nn.nce_loss",
        "tf.nn.sampled_softmax_loss",
        "tf.nn.ctc_loss",
        "tf.nn.ctc_beam_search_decoder",
        "tf.nn.fractional_avg_pool",
        "tf.nn.fractional_max_pool",
        "tf.nn.dilation2d",
        "tf.nn.erosion2d",
        "tf.nn.rnn_cell.BasicLSTMCell",
        "tf.strings.split",  # v2 returns a RaggedTensor
        "tf.string_split",
        "tf.gradients",
        "tf.hessians",
        "tf.test.assert_equal_graph_def",
        "tf.test.compute_gradient",
        "tf.initializers.constant",
        "tf.random_normal_initializer",  # stddev 1.0 against 0.05
        "tf.random_uniform_initializer",
        "tf.batch_to_space",
        "tf.space_to_batch",
        "tf.nn.space_to_batch",
        "tf.decode_raw",
        "tf.io.decode_raw",
        "tf.lite.TFLiteConverter",
        "tf.autograph.to_graph",
        "tf.autograph.to_code",
        "tf.variable_creator_scope",
        "tf.math.bincount",
    }
)

# TF 1.15 and TF2 have different objects of this name, but a program that uses
# it under TF2 gets what it means.
SAME: frozenset[str] = frozenset(
    {
        "tf.DeviceSpec",
        "tf.Variable",
        "tf.VariableAggregation",
        "tf.data.Dataset",
        "tf.data.FixedLengthRecordDataset",
        "tf.data.TFRecordDataset",
        "tf.data.TextLineDataset",
        "tf.data.experimental.Counter",
        "tf.data.experimental.CsvDataset",
        "tf.data.experimental.RandomDataset",
        "tf.data.experimental.SqlDataset",
        "tf.data.experimental.choose_from_datasets",
        "tf.data.experimental.make_batched_features_dataset",
        "tf.data.experimental.make_csv_dataset",
        "tf.data.experimental.sample_from_datasets",
        "tf.device",
        "tf.distribute.MirroredStrategy",
        "tf.distribute.OneDeviceStrategy",
        "tf.distribute.Strategy",
        "tf.distribute.StrategyExtended",
        "tf.distribute.experimental.CentralStorageStrategy",
        "tf.distribute.experimental.MultiWorkerMirroredStrategy",
        "tf.distribute.experimental.ParameterServerStrategy",
        "tf.distribute.experimental.TPUStrategy",
        "tf.lookup.StaticHashTable",
        "tf.lookup.StaticVocabularyTable",
        "tf.train.Checkpoint",
        "tf.image.ResizeMethod",
        "tf.nn.sigmoid_cross_entropy_with_logits",
        "tf.nn.sparse_softmax_cross_entropy_with_logits",
        "tf.keras.backend.name_scope",
        "tf.saved_model.contains_saved_model",
        "tf.scalar_mul",
        "tf.math.scalar_mul",
        "tf.feature_column.make_parse_example_spec",
    }
)

# tf.contrib symbols whose home is elsewhere under another name, or whose
# object in 1.15 is a wrapper, so that identity does not find it.
CONTRIB: dict[str, str] = {
    "tf.contrib.data.AUTOTUNE": "tf.data.AUTOTUNE",
    "tf.contrib.data.sliding_window_batch": "",
    "tf.contrib.distribute.MirroredStrategy": "tf.distribute.MirroredStrategy",
    "tf.contrib.distribute.CollectiveAllReduceStrategy": (
        "tf.distribute.MultiWorkerMirroredStrategy"
    ),
    "tf.contrib.distribute.OneDeviceStrategy": "tf.distribute.OneDeviceStrategy",
    "tf.contrib.distribute.AllReduceCrossDeviceOps": "tf.distribute.NcclAllReduce",
    "tf.contrib.distribute.get_loss_reduction": "",
    "tf.contrib.framework.sort": "tf.sort",
    "tf.contrib.framework.argsort": "tf.argsort",
    "tf.contrib.framework.get_or_create_global_step": (
        "tf.compat.v1.train.get_or_create_global_step"
    ),
    "tf.contrib.framework.get_global_step": "tf.compat.v1.train.get_global_step",
    "tf.contrib.framework.create_global_step": (
        "tf.compat.v1.train.create_global_step"
    ),
    "tf.contrib.framework.load_checkpoint": "tf.train.load_checkpoint",
    "tf.contrib.framework.load_variable": "tf.train.load_variable",
    "tf.contrib.framework.list_variables": "tf.train.list_variables",
    "tf.contrib.framework.init_from_checkpoint": (
        "tf.compat.v1.train.init_from_checkpoint"
    ),
    "tf.contrib.framework.is_tensor": "tf.is_tensor",
    "tf.contrib.framework.nest.is_sequence": "tf.nest.is_nested",
    "tf.contrib.layers.xavier_initializer": "tf.compat.v1.glorot_uniform_initializer",
    "tf.contrib.layers.xavier_initializer_conv2d": (
        "tf.compat.v1.glorot_uniform_initializer"
    ),
    "tf.contrib.lookup.HashTable": "tf.lookup.StaticHashTable",
    "tf.contrib.lookup.KeyValueTensorInitializer": (
        "tf.lookup.KeyValueTensorInitializer"
    ),
    "tf.contrib.lookup.TextFileInitializer": "tf.lookup.TextFileInitializer",
    "tf.contrib.lookup.TextFileIndex": "tf.lookup.TextFileIndex",
    "tf.contrib.lookup.MutableHashTable": "tf.lookup.experimental.MutableHashTable",
    "tf.contrib.lookup.MutableDenseHashTable": "tf.lookup.experimental.DenseHashTable",
    "tf.contrib.memory_stats.BytesInUse": "",
    "tf.contrib.rnn.stack_bidirectional_dynamic_rnn": "",
    "tf.contrib.saved_model.save_keras_model": "",
    # TF 2's need a step and `record_if` a condition, which these did not ask for.
    "tf.contrib.summary.always_record_summaries": "",
    "tf.contrib.summary.audio": "",
    "tf.contrib.summary.create_file_writer": "",
    "tf.contrib.summary.flush": "",
    "tf.contrib.summary.generic": "",
    "tf.contrib.summary.histogram": "",
    "tf.contrib.summary.image": "",
    "tf.contrib.summary.initialize": "tf.compat.v1.summary.initialize",
    "tf.contrib.summary.never_record_summaries": "",
    "tf.contrib.summary.scalar": "",
    "tf.contrib.tensorboard.plugins.projector": "",
    "tf.contrib.tpu.CrossShardOptimizer": "tf.compat.v1.tpu.CrossShardOptimizer",
    "tf.contrib.tpu.bfloat16_scope": "tf.compat.v1.tpu.bfloat16_scope",
    "tf.contrib.tpu.initialize_system": "tf.compat.v1.tpu.initialize_system",
    "tf.contrib.tpu.shutdown_system": "tf.compat.v1.tpu.shutdown_system",
    "tf.contrib.tpu.replicate": "tf.compat.v1.tpu.replicate",
    "tf.contrib.tpu.rewrite": "tf.compat.v1.tpu.rewrite",
    "tf.contrib.training.HParams": "",
    "tf.contrib.training.bucket_by_sequence_length": "",
}

# Private modules that are elsewhere today, with the same names in them.
MOVED_MODULES: dict[str, str] = {
    "tf.python.training.gen_training_ops": "tf.python.ops.gen_training_ops",
    "tf.python.training.training_ops": "tf.python.ops.gen_training_ops",
}

# Longest matching prefix wins. One sentence: what to do instead.
ADVICE: dict[str, str] = {
    "tf.contrib": (
        "tf.contrib was dropped in TensorFlow 2; look for a plain TF replacement, or "
        "copy the code you need from the TF 1.15 sources"
    ),
    "tf.contrib.slim": (
        "use Keras layers, or the tf_slim package, which continues this module"
    ),
    "tf.contrib.layers": (
        "use tf.keras.layers; mind other initialisers, activations and regularisers "
        "by default"
    ),
    "tf.contrib.layers.l2_regularizer": (
        "tf.keras.regularizers.l2(scale / 2): Keras does not halve the sum of squares"
    ),
    "tf.contrib.layers.l1_regularizer": "tf.keras.regularizers.l1(scale)",
    "tf.contrib.layers.optimize_loss": (
        "write the optimizer step out: gradients, clipping, apply_gradients"
    ),
    "tf.contrib.estimator": (
        "tf.estimator and its contrib helpers are gone; write the loop out, or run "
        "the program with `tfmigrate run`"
    ),
    "tf.contrib.distribute": (
        "use tf.distribute; the batch of an Estimator input_fn is per replica"
    ),
    "tf.contrib.distribute.ParameterServerStrategy": (
        "use tf.distribute.ParameterServerStrategy with a ClusterCoordinator"
    ),
    "tf.contrib.distribute.DistributeConfig": (
        "there is no RunConfig to take it; create the strategy where the model is made"
    ),
    "tf.contrib.learn": (
        "tf.contrib.learn was replaced by tf.estimator, which is gone as well; run "
        "the program with `tfmigrate run`"
    ),
    "tf.contrib.data": "use the method of the same name on tf.data.Dataset",
    "tf.contrib.data.sliding_window_batch": (
        "use Dataset.window(size, shift, stride) and batch each window"
    ),
    "tf.contrib.lookup.index_table_from_tensor": (
        "build a tf.lookup.StaticVocabularyTable (or StaticHashTable when there are "
        "no out-of-vocabulary buckets) from a KeyValueTensorInitializer"
    ),
    "tf.contrib.lookup.index_table_from_file": (
        "build a tf.lookup.StaticHashTable from a tf.lookup.TextFileInitializer"
    ),
    "tf.contrib.lookup.index_to_string_table_from_tensor": (
        "tf.gather(vocabulary, ids) does the same, or a tf.lookup.StaticHashTable"
    ),
    "tf.contrib.lookup": "use tf.lookup",
    "tf.contrib.rnn": "use tf.compat.v1.nn.rnn_cell, or tf.keras.layers.RNN cells",
    "tf.contrib.seq2seq": (
        "write the decoder with Keras layers; tf.contrib.seq2seq has no successor in "
        "TensorFlow"
    ),
    "tf.contrib.crf": "write the forward algorithm in plain TF; it has no successor",
    "tf.contrib.opt": "use tf.keras.optimizers, or keep the algorithm as own code",
    "tf.contrib.opt.AdamWOptimizer": "tf.keras.optimizers.AdamW",
    "tf.contrib.predictor": (
        "tf.saved_model.load(path).signatures['serving_default'](...)"
    ),
    "tf.contrib.training.HParams": "use a dataclass or a dict",
    "tf.contrib.training": "use tf.data and a plain training loop",
    "tf.contrib.metrics": "use tf.compat.v1.metrics, or tf.keras.metrics",
    "tf.contrib.eager": "eager execution is the default; use the plain tf name",
    "tf.contrib.tpu": "use tf.distribute.TPUStrategy",
    "tf.contrib.cluster_resolver": "use tf.distribute.cluster_resolver",
    "tf.contrib.summary": "use tf.summary with a writer as the default",
    "tf.contrib.framework": "use the plain tf function of the same name",
    "tf.contrib.framework.arg_scope": (
        "functools.partial, or pass the arguments at each call"
    ),
    "tf.contrib.saved_model": "use tf.saved_model",
    "tf.contrib.tensorrt": "use tf.experimental.tensorrt, or NVIDIA's own converter",
    "tf.contrib.image": "use Keras preprocessing layers or tf.raw_ops",
    "tf.contrib.integrate": "use scipy.integrate, or tensorflow_probability",
    "tf.contrib.distributions": "use the tensorflow_probability package",
    "tf.contrib.bayesflow": "use the tensorflow_probability package",
    "tf.contrib.gan": "use the tensorflow_gan package or a custom loop",
    "tf.contrib.ffmpeg": "use the tensorflow_io package",
    "tf.contrib.kafka": "use the tensorflow_io package",
    "tf.contrib.quantize": "use the tensorflow_model_optimization package",
    "tf.contrib.model_pruning": "use the tensorflow_model_optimization package",
    "tf.contrib.tensorboard": "use the tensorboard package's own plugins module",
    "tf.contrib.util": "use tf.make_ndarray, tf.make_tensor_proto, tf.get_static_value",
    "tf.contrib.factorization": "no successor in TF; scikit-learn has k-means",
    "tf.contrib.keras": "use tf.keras",
    "tf.estimator": (
        "tf.estimator was removed in TensorFlow 2.16; `tfmigrate run` still runs the "
        "program, or import tfmigrate.compat.v1 as tf"
    ),
    "tf.keras.estimator": (
        "tf.estimator was removed in TensorFlow 2.16; `tfmigrate run` still runs the "
        "program, or import tfmigrate.compat.v1 as tf"
    ),
    "tf.keras": "not in Keras 3; the tf_keras package still has it",
    "tf.distributions": "use the tensorflow_probability package",
    "tf.examples.tutorials": "load the data with tf.keras.datasets",
    "tf.python": "a private path of TensorFlow without a public name; it may move",
    "tf.layers": "use the tf.keras.layers class of the same name",
    "tf.nn.rnn_cell": "use the tf.keras.layers cell of the same name",
    "tf.nn": "use the Keras layer of the same purpose",
    "tf.lite": "use tf.lite.TFLiteConverter of TF2",
    "tf.contrib.lite": "use tf.lite",
}


def moved(symbol: str) -> str | None:
    """Where a name of a private module is that has moved, or the module itself."""
    for module, home in MOVED_MODULES.items():
        if symbol == module or symbol.startswith(module + "."):
            return home + symbol[len(module) :]
    return None


def advice_for(name: str) -> str | None:
    """The advice whose prefix fits ``name`` best, or None."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        found = ADVICE.get(".".join(parts[:end]))
        if found is not None:
            return found
    return None
