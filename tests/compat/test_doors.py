"""Every door through which programs of the era came in, in one process each."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2

# A module and a name that programs imported from it, and the public namespace that has
# the name, if one has. Nothing that is left of the original packages would answer:
# TensorFlow 2.21 has no tensorflow_core, no tensorflow_estimator, no contrib, no
# examples. Some TensorFlow has moved or lost, or means TF 2's thing by.
DOORS = """
tensorflow_core.python.platform tf_logging
tensorflow_core.python.ops.math_ops reduce_mean
tensorflow_core.estimator Estimator tf.estimator
tensorflow.estimator RunConfig tf.estimator
tensorflow.python.estimator.estimator Estimator tf.estimator
tensorflow.python.estimator.model_fn EstimatorSpec tf.estimator
tensorflow.python.estimator.run_config RunConfig tf.estimator
tensorflow.python.estimator.inputs.numpy_io numpy_input_fn tf.estimator.inputs
tensorflow.python.estimator.export.export ServingInputReceiver tf.estimator.export
tensorflow.python.estimator.canned.dnn DNNClassifier tf.estimator
tensorflow.python.estimator.util fn_args
tensorflow.python.estimator.canned.head _Head
tensorflow.python.estimator.canned.optimizers get_optimizer_instance
tensorflow.python.training.tracking data_structures
tensorflow.contrib.eager.python tfe
tensorflow.contrib.distributions Normal tf.distributions
tensorflow_estimator.python.estimator.estimator Estimator tf.estimator
tensorflow_estimator.python.estimator.training TrainSpec tf.estimator
tensorflow_estimator.contrib.estimator.python.estimator.extenders \
    add_metrics tf.estimator
tensorflow_estimator.estimator ModeKeys tf.estimator
tensorflow.python.layers.normalization BatchNormalization tf.layers
tensorflow.python.keras.layers Dense tf.keras.layers
tensorflow.python.keras.layers.core Dropout tf.keras.layers
tensorflow.python.keras.models Sequential tf.keras
tensorflow.python.keras Model tf.keras
tensorflow.python.keras.estimator model_to_estimator tf.keras.estimator
tensorflow.python.keras.applications.vgg16 VGG16 tf.keras.applications
tensorflow.python.training.session_run_hook SessionRunHook tf.train
tensorflow.python.ops.rnn_cell LSTMCell tf.nn.rnn_cell
tensorflow.python.feature_column feature_column_v2
tensorflow.contrib layers tf.contrib
tensorflow.contrib.distribute MirroredStrategy tf.contrib.distribute
tensorflow.contrib.distribute.python.mirrored_strategy \
    MirroredStrategy tf.contrib.distribute
tensorflow.contrib.layers.python.layers regularizers
tensorflow.contrib.layers.python.layers.regularizers l2_regularizer tf.contrib.layers
tensorflow.contrib.learn ModeKeys tf.contrib.learn
tensorflow.contrib.training HParams tf.contrib.training
tensorflow.contrib.training.python.training.hparam HParams tf.contrib.training
tensorflow.contrib.tpu.python.tpu.tpu_estimator TPUEstimator tf.contrib.tpu
tensorflow.contrib predictor tf.contrib
tensorflow.contrib lookup tf.contrib
tensorflow.contrib.slim conv2d tf.contrib.slim
tensorflow.contrib.slim.nets vgg tf.contrib.slim.nets
tensorflow.contrib.slim.python.slim.nets vgg tf.contrib.slim.nets
tensorflow.contrib.slim.python.slim.learning train tf.contrib.slim.learning
tensorflow.examples.tutorials.mnist input_data
tensorflow.python.ops.control_flow_ops while_loop tf
tensorflow.python.framework.ops Tensor tf
tensorflow.python.data Dataset tf.data
tensorflow.python.pywrap_tensorflow NewCheckpointReader tf.train
tensorflow.python.keras.optimizer_v2.optimizer_v2 OptimizerV2 tf.keras.optimizers
tensorflow.python.keras.engine.training Model tf.keras
tensorflow.python.keras.premade LinearModel
tensorflow.python.training.tracking util
tensorflow.python.training.checkpointable.util Checkpoint
tensorflow.contrib.tpu.python.tpu bfloat16
tensorflow.contrib.tpu.python.tpu.bfloat16 bfloat16_scope tf.contrib.tpu
tensorflow.contrib.tpu.python.tpu.tpu_estimator TPUEstimatorSpec tf.contrib.tpu
tensorflow.contrib.learn.python.learn.estimators.rnn_common select_last_activations
tensorflow.contrib.learn.python.learn.estimators.dynamic_rnn_estimator \
    DynamicRnnEstimator tf.contrib.learn
tensorflow.contrib.tensorboard.plugins projector tf.contrib.tensorboard.plugins
tensorflow.contrib.cudnn_rnn CudnnLSTM
tensorflow.contrib.compiler xla tf.contrib.compiler
tensorflow.contrib.cloud.python.ops.gcs_config_ops configure_gcs tf.contrib.cloud
tensorflow.python.lib.io.python_io TFRecordWriter tf.python_io
tensorflow.python.util.nest is_sequence tf.nest
tensorflow.contrib.framework.nest is_sequence tf.nest
tensorflow.python.keras.utils.tf_utils smart_cond tf.contrib.framework
tensorflow.python.training training_ops
tensorflow.python.training.gen_training_ops apply_adam
tensorflow.contrib.seq2seq.python.ops.decoder BaseDecoder
tensorflow.contrib.lookup.lookup_ops HashTable tf.contrib.lookup
"""
RENAMED = {"is_sequence": "is_nested", "OptimizerV2": "Optimizer"}
# Found, and raising when used; one private name that never was public.
GONE = (
    "from tensorflow.contrib.cloud import BigQueryReader",
    "from tensorflow.contrib.boosted_trees.estimator_batch import estimator",
    "from tensorflow.contrib.layers.python.layers.layers import _no_such_helper",
)

SLIM_LAYERS = """
zeros = slim.init_ops.zeros_initializer()
with slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(0.1),
                    biases_initializer=zeros):
    net = slim.conv2d(tf.ones([2, 8, 8, 3]), 4, [3, 3], scope="c")
    net = slim.fully_connected(slim.flatten(net), 2, activation_fn=None, scope="f")
assert [v.op.name for v in slim.get_model_variables()] == [
    "c/weights", "c/biases", "f/weights", "f/biases"]
assert len(tf.losses.get_regularization_losses()) == 1
"""
SLIM_ALONE = """
vgg = importlib.import_module("tensorflow.contrib.slim.nets").vgg
for use in (vgg.vgg_16, slim.learning.train):
    try:
        use(None)
    except Exception as error:
        assert "pip install tf_slim" in str(error), error
    else:
        raise AssertionError("used without tf_slim")
"""
GAN_ALONE = """
from tensorflow.contrib.gan import gan_model
from tensorflow.contrib import gan
for use in (gan_model, gan.losses.wasserstein_generator_loss, gan.estimator.GANEstimator):
    try:
        use()
    except Exception as error:
        assert "pip install tensorflow-gan" in str(error), error
    else:
        raise AssertionError("used without tensorflow_gan")
"""
GAN_WHOLE = """
import tensorflow as tf
import tensorflow_gan
import tensorflow.contrib.gan as gan
from tensorflow.contrib.gan.python.losses.python import losses_impl
assert gan.gan_model is tensorflow_gan.gan_model
assert losses_impl.wasserstein_generator_loss(tf.ones([2])).shape == []
model = gan.gan_model(lambda noise: tf.layers.dense(noise, 2),
                      lambda data, given: tf.layers.dense(data, 1),
                      tf.ones([4, 2]), tf.random_normal([4, 3]))
loss = gan.gan_loss(model, gan.losses.wasserstein_generator_loss,
                    gan.losses.wasserstein_discriminator_loss, gradient_penalty_weight=1.0)
optimizers = [tf.train.AdamOptimizer(0.001) for _ in range(2)]
steps = gan.gan_train(gan.gan_train_ops(model, loss, *optimizers), logdir="",
                      hooks=[tf.train.StopAtStepHook(num_steps=3)])
estimator = gan.estimator.GANEstimator(
    "model", lambda noise, mode: tf.layers.dense(noise, 2),
    lambda data, given, mode: tf.layers.dense(data, 1),
    gan.losses.wasserstein_generator_loss, gan.losses.wasserstein_discriminator_loss,
    optimizers[0], optimizers[1])
source = lambda: (tf.random_normal([4, 3]), tf.ones([4, 2]))
estimator.train(source, steps=3)
print(steps, estimator.evaluate(source, steps=1)["global_step"])
"""
SLIM_WHOLE = """
from tensorflow.contrib.slim.nets import resnet_v1
import tf_slim
assert slim.conv2d is tf_slim.conv2d
with slim.arg_scope(resnet_v1.resnet_arg_scope()):
    logits, ends = resnet_v1.resnet_v1_50(tf.ones([2, 32, 32, 3]), 10)
loss = tf.losses.softmax_cross_entropy(tf.one_hot([[[1]], [[2]]], 10), logits)
train = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(.01))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run(train))
"""


@pytest.fixture
def printed(tfmigrate: Any, tmp_path: Path) -> Callable[[str], str]:
    """What a program prints under `tfmigrate run`."""

    def run(source: str) -> str:
        (tmp_path / "program.py").write_text(source)
        done = tfmigrate("run", "program.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr[-3000:]
        return str(done.stdout)

    return run


def old_generated_module() -> str:
    """As protoc wrote modules until 3.19: a file, then each descriptor by hand."""
    described = descriptor_pb2.FileDescriptorProto(name="old.proto", package="old")
    kind = described.enum_type.add(name="Kind")
    for name, number in (("SOME", 0), ("BEST", 2)):
        kind.value.add(name=name, number=number)
    field = described.message_type.add(name="Answer").field.add(name="kind", number=1)
    field.label, field.type, field.type_name = 1, 14, ".old.Kind"
    return f"""
from google.protobuf import descriptor as _descriptor
DESCRIPTOR = _descriptor.FileDescriptor(
    name="old.proto", package="old", syntax="proto2",
    serialized_pb={described.SerializeToString()!r})
_KIND = _descriptor.EnumDescriptor(
    name="Kind", full_name="old.Kind", filename=None, file=DESCRIPTOR, values=[])
"""


def test_every_door_opens_to_the_public_name(
    tmp_path: Path, printed: Callable[[str], str]
) -> None:
    (tmp_path / "old_pb2.py").write_text(old_generated_module())
    doors = [(*row.split(), "")[:3] for row in DOORS.strip().splitlines()]
    program = f"""
import gzip, importlib, os, struct
from tensorflow.contrib import slim
import numpy as np
import tensorflow as tf

GONE = {GONE!r}
failed = []
for module, name, space in {doors!r}:
    scope = {{}}
    exec("from " + module + " import " + name, scope)
    found = scope[name]
    wanted = tf
    for part in space.split(".")[1:]:
        wanted = getattr(wanted, part)
    wanted = getattr(wanted, {RENAMED!r}.get(name, name)) if space else found
    if found is not wanted and repr(found) != repr(wanted):
        failed.append((module, found, wanted))
assert not failed, failed
for door in GONE:
    scope = {{}}
    exec(door, scope)
    try:
        scope[door.split()[-1]]()
    except Exception as error:
        assert "is not available on this TensorFlow" in str(error), error
    else:
        raise AssertionError(door)

# A class that goes by another name today.
from tensorflow.python.distribute.distribute_lib import _DefaultDistributionStrategy
assert isinstance(tf.distribute.get_strategy(), _DefaultDistributionStrategy)
with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
    assert not isinstance(tf.distribute.get_strategy(), _DefaultDistributionStrategy)

# What those private helpers do.
from functools import partial
from tensorflow.python.estimator.canned.optimizers import get_optimizer_instance
from tensorflow.python.estimator.util import fn_args
class Called:
    def method(self, a, b=1): pass
    def __call__(self, c): pass
assert fn_args(Called().method) == ("a", "b") and fn_args(Called()) == ("c",)
assert fn_args(partial(Called().method, 3)) == ("b",)
assert fn_args(lambda x, *y, z=1: 0) == ("x",)
from tensorflow.python.estimator.util import parse_input_fn_result
features, labels, hooks = parse_input_fn_result(tf.data.Dataset.from_tensors(([1], [2])))
assert (features.shape, labels.shape, len(hooks)) == ([1], [1], 1)
assert type(get_optimizer_instance("Ftrl", 0.1)).__name__ == "FtrlOptimizer"
for wrong in (("Ftrl", None), ("Nadam", 0.1), (3, 0.1)):
    try:
        get_optimizer_instance(*wrong)
    except ValueError:
        continue
    raise AssertionError(wrong)

# Every variable was a tf.Variable, those of Keras too.
layer = tf.keras.layers.Dense(2)
layer.build((None, 3))
plain, resource = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
for variable in (plain, resource, layer.kernel, tf.get_variable("v", [2])):
    assert isinstance(variable, tf.Variable) and issubclass(type(variable), tf.Variable)
assert not isinstance(plain.initializer, tf.Variable)
assert type(plain).__name__ == "RefVariable", type(plain)

# Packages answer with the doors below them.
from tensorflow.python import keras
from tensorflow.python.ops import array_ops, control_flow_ops, rnn_cell_impl
assert keras.utils.to_categorical([1], 3).tolist() == [[0, 1, 0]]
assert control_flow_ops.cond is tf.cond and array_ops.stack is tf.stack
assert rnn_cell_impl.LSTMCell is tf.nn.rnn_cell.LSTMCell
assert rnn_cell_impl._zero_state_tensors(2, 1, tf.float32).shape == [1, 2]
# What a program writes into a private module, TensorFlow sees.
before = array_ops.newaxis
array_ops.newaxis = "changed"
assert array_ops.newaxis == "changed"
array_ops.newaxis = before

# Cells that were layers in TF 1.15 number their names.
cells = tf.contrib.rnn
steps = tf.ones([3, 2, 4])
first, second = cells.LSTMBlockFusedCell(5), cells.LSTMBlockFusedCell(5)
for cell in (first, first, second):
    cell(steps, dtype=tf.float32)
assert [v.op.name for v in tf.global_variables("lstm_fused")] == [
    "lstm_fused_cell/kernel", "lstm_fused_cell/bias",
    "lstm_fused_cell_1/kernel", "lstm_fused_cell_1/bias"]

# A Keras model takes what its first layer can take.
model = keras.Sequential([keras.layers.Reshape((784,), input_shape=(784,))])
assert model(tf.placeholder(tf.float32, [None, 28, 28])).shape.as_list() == [None, 784]

# What an old protoc wrote, which a current protobuf refuses.
from old_pb2 import Answer, Kind
assert Answer.FromString(Answer(kind=Kind.Value("BEST")).SerializeToString()).kind == 2
assert Kind.items() == [("SOME", 0), ("BEST", 2)], Kind.items()

# A loss that Keras has no more; it was the same as a metric.
cosine = tf.keras.losses.get("cosine_proximity")
assert cosine is tf.keras.metrics.cosine_proximity is tf.keras.losses.cosine
with tf.Session() as session:
    assert session.run(cosine([[0.0, 2.0]], [[0.0, 4.0]])) == [1.0]

# The usual loop around a KMeans: its first centers take the one epoch there is.
points = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
def one_epoch():
    return tf.train.limit_epochs(tf.convert_to_tensor(points), num_epochs=1)
kmeans = tf.contrib.factorization.KMeansClustering(2, use_mini_batch=False)
for _ in range(3):
    kmeans.train(one_epoch)
assert np.allclose(sorted(kmeans.cluster_centers().tolist()), [[0, 0.5], [9, 8.5]])

# What subclasses of exporters in published packages do.
class Keeper(tf.estimator.BestExporter):
    def export(self, estimator, export_path, *rest):
        os.makedirs(os.path.join(export_path, "1234567890"))
        os.makedirs(os.path.join(export_path, "1234567891"))
        self._garbage_collect_exports(export_path)
        return self._saved_model_exporter.name
keeper = Keeper("best", lambda: None, exports_to_keep=1)
assert keeper.export(None, "exports", None, None, True) == "best"
assert os.listdir("exports") == ["1234567891"]

# MNIST's tutorial reader, on files of four digits.
from tensorflow.examples.tutorials.mnist import input_data
for part in ("train", "t10k"):
    with gzip.open(part + "-images-idx3-ubyte.gz", "wb") as out:
        out.write(struct.pack(">IIII", 2051, 4, 28, 28) + bytes(range(4)) * 784)
    with gzip.open(part + "-labels-idx1-ubyte.gz", "wb") as out:
        out.write(struct.pack(">II", 2049, 4) + bytes([3, 1, 0, 9]))
mnist = input_data.read_data_sets(".", one_hot=True, validation_size=1)
images, labels = mnist.train.next_batch(3, shuffle=False)
assert images.shape == (3, 784) and 0 <= images.max() <= 1
assert labels.argmax(1).tolist() == [1, 0, 9], labels
{SLIM_LAYERS}
try:
    import tf_slim
except ImportError:
    exec({SLIM_ALONE!r})
try:
    import tensorflow_gan
except ImportError:
    exec({GAN_ALONE!r})
print("all opened")
"""
    assert "all opened" in printed(program)


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow_gan") is None,
    reason="tensorflow_gan is not installed",
)
def test_gan_is_tensorflow_gan_where_that_is_installed(
    printed: Callable[[str], str],
) -> None:
    assert printed(GAN_WHOLE).split() == ["3", "3"]


@pytest.mark.skipif(
    importlib.util.find_spec("tf_slim") is None, reason="tf_slim is not installed"
)
def test_slim_is_tf_slim_where_that_is_installed(printed: Callable[[str], str]) -> None:
    head = "import tensorflow as tf\nfrom tensorflow.contrib import slim\n"
    assert float(printed(head + SLIM_LAYERS + SLIM_WHOLE)) > 0
