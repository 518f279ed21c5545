"""``tf.estimator.export``: what a model serves, and how requests reach it."""

from __future__ import annotations

from ...engine.private_api import export_output as _outputs
from .receivers import (
    ServingInputReceiver,
    SupervisedInputReceiver,
    TensorServingInputReceiver,
    UnsupervisedInputReceiver,
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
)

# TensorFlow's own classes: SavedModel building inside TensorFlow checks for
# them, and objects made by other libraries on the same classes keep working.
ExportOutput = _outputs.ExportOutput
ClassificationOutput = _outputs.ClassificationOutput
RegressionOutput = _outputs.RegressionOutput
PredictOutput = _outputs.PredictOutput
TrainOutput = _outputs.TrainOutput
EvalOutput = _outputs.EvalOutput

__all__ = [
    "ClassificationOutput",
    "EvalOutput",
    "ExportOutput",
    "PredictOutput",
    "RegressionOutput",
    "ServingInputReceiver",
    "SupervisedInputReceiver",
    "TensorServingInputReceiver",
    "TrainOutput",
    "UnsupervisedInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
]
