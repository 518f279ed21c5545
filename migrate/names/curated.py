"""What the listings of TensorFlow cannot know about symbols: imports and advice."""

from __future__ import annotations

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
