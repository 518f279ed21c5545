"""Tests of tensorflow_estimator that say nothing about public behaviour, and why.

Rows of (release or "both", pattern, reason). Tests that use private names are found
by the runner itself and need no row.
"""

from __future__ import annotations

__all__ = ["FILES", "LEFT", "TESTS"]

FILES: tuple[tuple[str, str, str], ...] = (
    ("both", r"\.tpu\.", "needs TPU hardware or its simulation in Google's build"),
    ("both", r"boosted_trees", "TensorFlow has no kernels for boosted trees any more"),
    ("both", r"\.tools\.", "a script of its own, not part of the API"),
    ("both", r"linear_optimizer\.python\.utils", "private modules"),
    ("both", r"queues\.", "private modules"),
    ("both", r"\.gc_test$", "a private module"),
    ("both", r"canned\.optimizers_test", "private modules"),
    (
        "both",
        r"distribute_strategy_estimator_training_test",
        "simulates a cluster with private modules that are gone",
    ),
    ("both", r"canned\.timeseries", "a copy of tf.contrib.timeseries never exported"),
)

_TEXT = "the text of the error is TensorFlow's own, and has changed there"
_OP = "looks for an op of the graph by the name that TensorFlow had for it"
_LOG = "patches a private module to see what is logged"
_SESSION = "patches the private module that the Estimator made its session with"
_MOVED = "uses a private helper of TensorFlow that is gone"

TESTS: tuple[tuple[str, str, str], ...] = (
    ("1.15.2", r"model_fn_test:.*testExportOutputsMultiheadMissingDefault", _TEXT),
    ("1.15.2", r"model_fn_test:.*testExportOutputsNoDict", _TEXT),
    ("1.15.2", r"model_fn_test:.*testExportOutputsValueNotExportOutput", _TEXT),
    ("1.15.2", r"binary_class_head_test:.*test_incompatible_labels_shape", _TEXT),
    ("1.15.2", r"multi_class_head_test:.*test_incompatible_labels_shape", _TEXT),
    ("1.15.2", r"canned\.head_test:.*test_incompatible_labels_shape", _TEXT),
    ("both", r"estimator_test:.*_roundtrip_raw_receiver$", _OP),
    ("both", r"estimator_test:.*_proto_roundtrip_receiver_map$", _OP),
    ("both", r"estimator_test:.*test_export_saved_model_assets$", _OP),
    ("both", r"estimator_test:.*_with_saveables_proto_roundtrip$", _OP),
    ("both", r"estimator_test:.*test_warn_if_no_queue_runner", _LOG),
    ("both", r"estimator_test:.*test_master_(distributed_)?hooks", _SESSION),
    ("both", r"estimator_test:.*test_hooks_with_distributed_collective", _SESSION),
    ("both", r"estimator_test:.*test_export_from_warm_start", _MOVED),
    ("1.15.2", r"linear_test(_v1)?:.*test_compute_fraction_of_zero_v2", _MOVED),
    ("both", r"keras_test:.*test_warm_start_from_keras_ckpt", "a private attribute"),
)

# Why the tests that are left fail: rows of (pattern, reason).
LEFT: tuple[tuple[str, str], ...] = (
    (
        r"test_train_labels_(negative|too_large)|test_float_labels_invalid_values",
        "labels that are constants of the graph are checked while it is built: "
        "TensorFlow's own assertions do so today",
    ),
    (r"test_float_labels_eval", "the eighth digit of a loss"),
    (
        r"test_weighted_multi_batch_eval",
        "looks for the summary of an input queue; numpy_input_fn has no queue here",
    ),
    (
        r"testDefaultGradientClipping",
        "asks an optimizer of Keras for clipped gradients; it clips when it applies "
        "them now",
    ),
    (
        r"test_export_keras_estimator_",
        "serves an input of another width than the model was built for",
    ),
    (r"test_invalid_labels_values", "the text is TF 2's: Labels must be <= ..."),
    (r"receiver_features_invalid", "the text names RaggedTensor as well"),
    (r"test_custom_objects", "works without the custom objects it is refused for"),
    (r"test_train_vs_eval_mode", "patches the call method of DenseFeatures"),
)
