"""What of ``tf.contrib`` has no home here, and what to look at instead.

A plain table. The names are those that ``tf.contrib`` of TF 1.12 and 1.15 had;
each becomes an object that can be imported and raises when it is used. A name
in a subpackage that is not listed falls back to the advice of its subpackage.
"""

from __future__ import annotations

__all__ = ["PACKAGES", "SINGLE_NAMES", "TREES"]

_KERAS = "tf.keras has it as a layer or function; see tf.keras.layers."
_ADDONS_RNN = "Write the cell as a tf.nn.rnn_cell.RNNCell, or use tf.keras.layers.RNN."
_QUEUES = "Queues gave way to tf.data; see tf.data.Dataset."
_TFP = "It lives on in TensorFlow Probability (pip install tensorflow_probability)."
_LEARN = "Use the class of tf.estimator that does the same."
TREES = (
    "TensorFlow has no kernels for boosted trees any more; train them with TensorFlow "
    "Decision Forests (GradientBoostedTreesModel) or scikit-learn "
    "(HistGradientBoostingClassifier / -Regressor)."
)
_PROFILER = "Use the TensorFlow Profiler (tf.profiler)."

# Subpackage -> advice for whatever of it has no home.
PACKAGES: dict[str, str] = {
    "all_reduce": "Use the cross_device_ops of tf.distribute strategies.",
    "autograph": "Use tf.autograph.",
    "batching": "Use tf.nondifferentiable_batch_function.",
    "bayesflow": _TFP,
    "bigtable": "Use the google-cloud-bigtable client with tf.data.Dataset.from_generator.",
    "boosted_trees": TREES,
    "checkpoint": "Use tf.train.Checkpoint and tf.train.CheckpointManager.",
    "cloud": "Use the tensorflow-io package.",
    "cluster_resolver": "Use tf.distribute.cluster_resolver.",
    "coder": "Use the tensorflow-compression package.",
    "compiler": "Use tf.function(jit_compile=True).",
    "constrained_optimization": "Use the tensorflow_constrained_optimization package.",
    "copy_graph": "Use tf.graph_util.import_graph_def with graph.as_graph_def().",
    "crf": "Use the functions of tf.contrib.crf, which are here; cells are not.",
    "cudnn_rnn": "Its layers are here, with variables that a tf.train.Saver takes.",
    "data": "Use tf.data and tf.data.experimental.",
    "decision_trees": "Use the tensorflow_decision_forests package.",
    "deprecated": "Use tf.summary.",
    "distribute": "Use tf.distribute.",
    "distributions": _TFP,
    "eager": "Eager execution is part of TensorFlow now: tf.GradientTape, tf.function.",
    "estimator": "Use tf.estimator.",
    "factorization": "k-means is here; for WALS use the implicit package, for mixtures "
    "sklearn.mixture.GaussianMixture.",
    "feature_column": "Use the sequence columns of tf.feature_column.",
    "ffmpeg": "Use the tensorflow-io package, or tf.audio.",
    "framework": "Use the functions of tf and tf.train.",
    "fused_conv": "TensorFlow fuses convolutions by itself (Grappler, XLA).",
    "gan": "It is a package of its own now, which is found by the old name as well: pip "
    "install tensorflow-gan tensorflow-hub tensorflow-probability 'setuptools<81'.",
    "graph_editor": "Edit the GraphDef and import it with tf.graph_util.import_graph_def.",
    "grid_rnn": _ADDONS_RNN,
    "hadoop": "Use the tensorflow-io package.",
    "hooks": "Use tf.train.ProfilerHook.",
    "hvx": "Use TensorFlow Lite delegates.",
    "ignite": "Use the tensorflow-io package.",
    "image": "Use tf.image, or tf.raw_ops.ImageProjectiveTransformV3.",
    "input_pipeline": _QUEUES,
    "integrate": "Use the ODE solvers of TensorFlow Probability (tfp.math.ode).",
    "kafka": "Use the tensorflow-io package.",
    "keras": "Use tf.keras.",
    "kernel_methods": "Use tf.keras.layers.experimental.RandomFourierFeatures.",
    "kinesis": "Use the tensorflow-io package.",
    "labeled_tensor": "Use xarray beside TensorFlow, or plain tensors.",
    "layers": "Use tf.layers or tf.keras.layers.",
    "learn": _LEARN,
    "legacy_seq2seq": "Write the decoder with tf.nn.dynamic_rnn or tf.keras.layers.RNN.",
    "libsvm": "Parse with tf.strings.split in tf.data, or sklearn's load_svmlight_file.",
    "linear_optimizer": "Use tf.estimator.experimental.LinearSDCA.",
    "lite": "Use tf.lite.",
    "lookup": "Use tf.lookup.",
    "losses": "Use tf.losses.",
    "makefile": "Use TensorFlow Lite.",
    "memory_stats": "Use tf.config.experimental.get_memory_info.",
    "meta_graph_transform": "Use tf.graph_util and tf.saved_model.",
    "metrics": "Use tf.metrics.",
    "mixed_precision": "Use tf.keras.mixed_precision.",
    "model_pruning": "Use the tensorflow_model_optimization package.",
    "mpi_collectives": "Use Horovod, or tf.distribute.",
    "nccl": "Use tf.distribute.NcclAllReduce.",
    "nearest_neighbor": "Use tf.math.top_k on distances, or the scann package.",
    "nn": "Use tf.nn.",
    "opt": "Use tf.train's or tf.keras' optimizers.",
    "optimizer_v2": "Use the optimizers of tf.train or tf.keras.",
    "periodic_resample": "Use tf.gather and tf.reshape.",
    "predictor": "Use predictor.from_saved_model or from_estimator, which are here.",
    "proto": "Use tf.io.decode_proto and tf.io.encode_proto.",
    "quantization": "Use tf.quantization.",
    "quantize": "Use the tensorflow_model_optimization package.",
    "rate": "Divide the change of a counter by the seconds between two looks at it.",
    "receptive_field": "Use the receptivefield package.",
    "recurrent": "Use tf.while_loop, or tf.keras.layers.RNN.",
    "reduce_slice_ops": "Use tf.math.segment_sum and its relatives.",
    "remote_fused_graph": "Use TensorFlow Lite delegates.",
    "resampler": "Use tfg.image.transformer of tensorflow-graphics.",
    "rnn": _ADDONS_RNN,
    "rpc": "Use tf.distribute or gRPC itself.",
    "saved_model": "Use tf.saved_model and tf.keras.models.",
    "seq2seq": "Write the decoder loop with tf.while_loop, or use tf.keras.layers.RNN.",
    "session_bundle": "Use tf.saved_model.",
    "signal": "Use tf.signal.",
    "slim": "It is a package of its own now, which is found by the old name as well: "
    "pip install tf_slim.",
    "solvers": "Use tf.linalg.",
    "sparsemax": "Write it with tf.sort and tf.cumsum (it is ten lines).",
    "specs": "Write the layers out with tf.layers.",
    "staging": "Use tf.data's prefetch_to_device.",
    "stat_summarizer": _PROFILER,
    "stateless": "Use tf.random.stateless_*.",
    "summary": "Use tf.summary.",
    "tensor_forest": "Use the tensorflow_decision_forests package.",
    "tensorboard": "Use the tensorboard package.",
    "tensorrt": "Use tf.experimental.tensorrt on a TensorFlow built with TensorRT.",
    "testing": "Read event files with tf.compat.v1.train.summary_iterator.",
    "text": "Use the tensorflow_text package, or tf.random.log_uniform_candidate_sampler "
    "for skip-grams.",
    "tfprof": _PROFILER,
    "timeseries": "Use tfp.sts of TensorFlow Probability.",
    "tpu": "It drives TPU hardware: use tf.tpu and tf.distribute.TPUStrategy.",
    "training": _QUEUES,
    "util": "Use tf.make_tensor_proto, tf.make_ndarray, tf.get_static_value.",
    "verbs": "Use tf.distribute.",
}

# Names whose advice is more exact than that of their subpackage.
SINGLE_NAMES: dict[str, str] = {
    "layers.gdn": "Use tfc.GDN of the tensorflow-compression package.",
    "layers.GDN": "Use tfc.GDN of the tensorflow-compression package.",
    "layers.recompute_grad": "Use tf.recompute_grad.",
    "layers.scattered_embedding_column": "Use sparse_column_with_hash_bucket and "
    "embedding_column.",
    "layers.legacy_fully_connected": "Use layers.fully_connected.",
    "layers.conv2d_in_plane": "Use layers.separable_conv2d with num_outputs=None.",
    "rnn.ConvLSTMCell": "Use tf.keras.layers.ConvLSTM2D.",
    "rnn.Conv2DLSTMCell": "Use tf.keras.layers.ConvLSTM2D.",
    "framework.load_and_remap_matrix_initializer": "Use tf.train.warm_start.",
    "training.bucket_by_sequence_length": "Use "
    "tf.data.experimental.bucket_by_sequence_length.",
    "metrics.streaming_dynamic_auc": "Use streaming_auc.",
    "learn.LogisticRegressor": "Use tf.contrib.learn.Estimator, and return the metrics "
    "in ModelFnOps.eval_metric_ops.",
    "learn.estimators.tensor_signature.TensorSignature": "Leave it out, and the private "
    "attribute that it is written to: what a model takes is seen from its input_fn.",
    "learn.SVM": "Its solver (SDCA) is in tf.estimator.experimental.LinearSDCA, which "
    "tf.estimator.LinearClassifier takes as optimizer; for a linear SVM use "
    "sklearn.svm.LinearSVC.",
}
