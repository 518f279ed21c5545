"""What programs of certain shapes read like afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

from .shapes import PROGRAMS

# Lines that are there, and words that are not.
READS = {
    "encoder_blocks": (
        [
            "self.beta = self.add_weight('beta', input_shape[-1:]",
            "with tf.name_scope(scope):",
        ],
        ["variable_scope", "init_scope"],
    ),
    "learn_fits_arrays": (
        [
            'tf_keras.layers.Dense(3, kernel_initializer="zeros"),',
            "tf_keras.optimizers.Ftrl(0.2, global_clipnorm=2.),",
            "regressor.train(arrays_input_fn(X, PRICE, shuffle=True), steps=20)",
        ],
        ["contrib import", "real_valued", "columns = ", "DenseFeatures", "fit("],
    ),
    "learn_wide_deep": (
        [
            "sex = tf.feature_column.categorical_column_with_vocabulary_list(",
            'key="sex", vocabulary_list=["f", "m"]',
            "crossed_column([job, sex], hash_bucket_size=int(1e6)),",
            "embedding_column(job, dimension=8),",
            "OrderedFeatures(deep),",
            "tf_keras.optimizers.Ftrl(min(0.2, len(wide) ** -0.5)),",
            "tf_keras.optimizers.Adagrad(0.05, epsilon=0.0),",
            "m.train(input_fn=lambda: input_fn(0), steps=steps)",
        ],
        ["contrib.layers", "fix_global_step", "sparse_column", "fit("],
    ),
    "halves_by_scope": (
        [
            '"optimizer": self.model.linear_model.trainable_variables',
            "*self.model.input_layer.trainable_variables",
        ],
        ["assign_add", "variable_scope"],
    ),
    "learn_experiment": (
        [
            "Experiment(\n        estimator,\n        TrainSpec(input_fn,",
            "first_batch(lambda: input_fn(1)),",
        ],
        ["ModelFnOps", "def model_fn"],
    ),
    "learn_images": (
        [
            "arrays_input_fn(pictures, kinds, batch_size=20, shuffle=True),",
            "stacked(classifier.predict(arrays_input_fn(pictures[:7], batch_size=3)))",
        ],
        ["SKCompat", "learn.monitors"],
    ),
    "lets_go": (
        ["tf.get_logger().info('after %s: %s', 'block', x.shape)"],
        ["del unused"],
    ),
    "metrics_of_choice": (
        [
            "if params['kind'] == 'both':\n            self.metrics.append(",
            "if self.params['kind'] == 'both':\n            tf.summary.scalar('far',",
        ],
        ["self.metrics[1]"],
    ),
    "begun_elsewhere": (
        ["if self.params['start']:", "{'backbone/fc': self.model."],
        ["init_from_checkpoint"],
    ),
    "losses_collected": (
        [
            "added_loss = 0.02 * tf.reduce_mean(tf.abs(logits))",
            "cross_entropy, spread, added_loss, size, *self.model.losses",
        ],
        ["get_total_loss"],
    ),
    "residual_blocks": (
        [
            "class Network(tf_keras.Model):",
            "class Small(Network):",
            "self.block = block_fn(",
            "for block in self.block_layers:",
            "self.block_fn = Block if stages > 1 else Early",
            "            filters *= 2\n        self.dense",
            "        x = tf.reduce_mean(x, self.axes)",
            "padding='valid', use_bias=True):",
            "tf.summary.histogram(variable.name.partition(':')[0], variable)",
        ],
        ["kwargs", "shortcut is not None"],
    ),
    "cells_of_scope": (
        [
            "return [one(params) for _ in range(2)]",
            "params['units'], kernel_initializer=tf_keras.initializers.Constant(.1)",
            "outputs = self.rnn(features, training=training)",
        ],
        ["zero_state", "if training"],
    ),
    "network_of_methods": (
        [
            "class Block(tf_keras.layers.Layer):",
            "self.looked_up = looked_up(start=self.start)",
            "self.model = Network(config)",
        ],
        ["__call__", "network = "],
    ),
    "hooks_of_spec": (
        [
            "Bounded('loss', 'size', 9.)",
            "loss, size = values[self.loss], values[self.size]",
        ],
        ["step = step", "SessionRunArgs"],
    ),
    "network_of_a_maker": (
        [
            "class Residual(tf_keras.Model):",
            "    def __init__(self, depth, classes, widths=None):",
            "self.model = Residual(depth, classes=classes)",
            "rate = self.learning_rate(self.optimizer.iterations)",
        ],
        ["_generator", "def model("],
    ),
    "networks_by_name": (
        [
            "        if params['network'] == 'flat':\n            self.flat = flat(",
            "        elif self.params['head'] in ('two', 'both'):\n            guess = ",
            "raise ValueError('no head {}'.format(self.params['head']))",
        ],
        ["head_of", "network = "],
    ),
    "network_by_method": (
        [
            "class Net(tf_keras.Model):",
            "    def call(self, images, training):\n        net = images\n        skips = []",
            "tf_keras.layers.Dropout(0., noise_shape=[None, 1])",
            "LogValues({'now': 'loss'}, every_n_iter=2),",
        ],
        ["block_fn", "def build", "hooks"],
    ),
    "cells_of_both_ways": (
        ["DropoutCell(forward, outputs=1 - params['keep'])"],
        ["if training"],
    ),
    "compiled_with_own": (["KerasTask(compiled(), {'off': off, 'rmse': rmse})"], []),
    "tower_again": (
        [
            "return self.model(features['anchor'], training=training)",
            "near = self.model(features['near'], training=True)",
            "near = self.model(features['near'], training=False)",
        ],
        ["AUTO_REUSE"],
    ),
    "fine_tuned": (
        [
            "self.backbone.trainable = False",
            "self.backbone.first.trainable = False",
            "'backbone/first': self.model.backbone.first,",
        ],
        ["var_list", "trainable_variables()", "those_in", "import re"],
    ),
    "clips_in_next_line": (
        [
            "tf_keras.optimizers.SGD(rate, global_clipnorm=0.5)",
        ],
        ["clip_gradients_by_norm", "optimizer = "],
    ),
    "names_given": (
        [
            'def __init__(self, tensor_name="squared"):',
            "if values[self._tensor_name] < 0.1:",
            "share = tf.sigmoid(self.batch_normalization(x, training=False))",
            'Dice(name="second"),',
        ],
        ["SessionRun"],
    ),
    "losses_registered": (
        [
            "return lookup('shift', self.params['shift'])(net, 0.05)",
            "tf.add_n([chosen_loss, *self.model.losses])",
        ],
        ["get_total_loss"],
    ),
    "tables_of_objects": (
        [
            "net = ACTIVATIONS[self.params['activation']](net)",
            "self.optimizer = OPTIMIZERS[params['optimizer']](params['rate'])",
            "return LOSSES[self.params['loss']](labels, net)",
        ],
        ["tf.train."],
    ),
    "told_by_dicts": (
        [
            "NETWORKS = ('flat', 'seen')",
            "kind = params.get('network', 'flat')",
            "        elif kind == 'seen':\n            self.seen = Seen(",
            "raise KeyError(self.kind)",
            "left, left_bias, right, right_bias = self.model(",
            "'sgd': lambda learning_rate: tf_keras.optimizers.SGD(learning_rate)",
        ],
        ["assign_add", "network = "],
    ),
    "reads_well": (
        [
            "class ReadsWellLayer(tf_keras.layers.Layer):",
            "self.h1_layer = ReadsWellLayer(n_in=4, n_out=4)",
            "self.left_tower = Tower(units=3)",
            'for size in params["hidden"]\n',
            "owner.sizes[1] * 2,",
            'tf_keras.layers.Dropout(params["rate"])',
            "self.flatten = tf_keras.layers.Flatten()\n        self.dense_layers",
            "            x = tf.tanh(self.flatten(h))\n",
            'return {"sr": out,\n                "positive": tf.where(out > 0, tf.abs',
            '            if "bias" not in v.name\n        ])\n',
            "def input_fn(mode):\n    data = ",
            '    if mode == "train":',
            "config = RunConfig(tf_random_seed=1)",
        ],
        [
            "out_2",
            "units_2",
            "enumerate",
            "session_config",
            "compat.v1.where",
            "scope=",
        ],
    ),
    "optimizer_of_rate": (
        ["schedules.ExponentialDecay(params['lr'], 3, 0.8),", "beta_1=0.8,"],
        ["optimizer=lambda lr", "def decay"],
    ),
}


@pytest.mark.parametrize("name", READS)
def test_it_reads_as_one_would_write_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text(PROGRAMS[name], "utf-8")
    report = run_job([path], Job())
    (result,) = (one for one in report.changed if one.path == path)
    assert result.new is not None
    text = result.new.decode()
    lines, words = READS[name]
    assert [one for one in lines if one not in text] == []
    assert [one for one in words if one in text] == []


def test_pictures_are_told_of_where_they_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "import tensorflow as tf\n\n\n"
        "def spec(loss, mode):\n"
        "    step = tf.train.get_global_step()\n"
        "    train_op = tf.train.AdamOptimizer().minimize(loss, step)\n"
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n\n\n"
        "def model_fn(features, labels, mode):\n"
        "    loss = tf.reduce_mean(tf.layers.dense(tf.layers.flatten(features), 3))\n"
        "    tf.summary.image('shown', features)\n"
        "    return spec(loss, mode)\n\n\n"
        "tf.estimator.Estimator(model_fn)\n"
    )
    report = run_job([path], Job())
    told = [one.line for one in report.findings if one.rule == "TFM130"]
    assert told == [12]


def test_a_loss_that_is_bound_anew_keeps_its_program(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    text = PROGRAMS["losses_collected"]
    total = "    total = tf.losses.get_total_loss()"
    assert total in text
    path.write_text(text.replace(total, f"    spread = tf.abs(spread)\n{total}"))
    ((_, program),) = run_job([path], Job()).programs
    assert program.outcome is ProgramOutcome.KEPT
    assert "get_total_loss" in program.reason


def test_a_network_of_another_file_may_give_several_tensors(tmp_path: Path) -> None:
    network, train = tmp_path / "network.py", tmp_path / "train.py"
    network.write_text(
        "import tensorflow as tf\n\n\n"
        "def towers(x, sizes):\n"
        "    found = []\n"
        "    for size in sizes:\n"
        "        x = tf.layers.dense(x, size)\n"
        "        found.append(x)\n"
        "    return found\n"
    )
    train.write_text(
        "import tensorflow as tf\nimport network\n\n\n"
        "def model_fn(features, labels, mode, params):\n"
        "    found = network.towers(features, params['sizes'])\n"
        "    loss = tf.add_n([tf.nn.l2_loss(one) for one in found])\n"
        "    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(\n"
        "        loss, tf.train.get_global_step())\n"
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n"
        "\n\ntf.estimator.Estimator(model_fn, params={'sizes': [2, 3]})\n"
    )
    report = run_job([network, train], Job())
    ((_, program),) = report.programs
    assert program.outcome is ProgramOutcome.NATIVE, program.reason
    (result,) = (one for one in report.changed if one.path == train)
    assert result.new is not None
    # All layers of a Sequential give one tensor.
    assert b"Sequential" not in result.new
    assert b"self.towers = network.Towers(" in result.new


def test_tensors_of_a_file_that_stays_as_it_is_become_a_data_set(
    tmp_path: Path,
) -> None:
    inputs, train = tmp_path / "inputs.py", tmp_path / "train.py"
    inputs.write_text(
        "import tensorflow as tf\n\n\n"
        "def train_input_fn(rows):\n"
        "    return {'x': tf.constant(rows)}, tf.constant(rows)\n"
    )
    train.write_text(
        "import tensorflow as tf\nimport inputs\n\n"
        "columns = [tf.feature_column.numeric_column('x')]\n"
        "model = tf.estimator.LinearRegressor(columns)\n"
        "model.train(lambda: inputs.train_input_fn([1.0, 2.0]), steps=2)\n"
    )
    report = run_job([inputs, train], Job())
    (made,) = (one for one in report.added if one.path.name == "training.py")
    assert made.new is not None
    assert b"tf.data.Dataset.from_tensors(data).repeat()" in made.new
    assert inputs not in [one.path for one in report.changed]


def test_an_estimator_of_contrib_learn_is_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "import tensorflow as tf\n\n"
        "learn = tf.contrib.learn\n"
        "column = tf.contrib.layers.real_valued_column('', dimension=4)\n"
        "model = learn.DNNEstimator(head, feature_columns=[column], hidden_units=[4])\n"
        "model.fit(input_fn=data, steps=2)\n"
    )
    ((_, program),) = run_job([path], Job()).programs
    assert program.outcome is ProgramOutcome.KEPT
    assert "`tf.contrib.learn.DNNEstimator` (line 5) is of tf" in program.reason


def test_a_program_that_fits_and_does_no_more_is_one(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "import tensorflow as tf\n\n"
        "column = tf.contrib.layers.real_valued_column('x')\n"
        "model = tf.contrib.learn.LinearRegressor([column])\n"
        "model.fit(x={'x': [1., 2.]}, y=[3., 4.], steps=2)\n"
    )
    ((_, program),) = run_job([path], Job()).programs
    assert program.outcome is ProgramOutcome.NATIVE, program.reason


NETWORK = """\
import tensorflow as tf

slim = tf.contrib.slim


def network_scope(decay, is_training):
    params = {'is_training': is_training}
    with slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(decay),
                        normalizer_fn=slim.batch_norm, normalizer_params=params):
        with slim.arg_scope([slim.max_pool2d], padding='SAME') as scope:
            return scope


def network(images, classes, scope='net'):
    with tf.variable_scope(scope):
        net = slim.conv2d(images, 8, [3, 3])
        net = slim.flatten(slim.max_pool2d(net, [2, 2]))
        logits = slim.fully_connected(net, classes, activation_fn=None)
        return logits, slim.softmax(logits, scope='predictions')
"""
TRAIN = """\
import tensorflow as tf

import nets
from nets import network_scope

slim = tf.contrib.slim


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    with slim.arg_scope(network_scope(params['decay'], is_training)):
        logits, shares = nets.network(features, 3)
    tf.summary.histogram('shares', shares)
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss()
    train_op = slim.learning.create_train_op(loss, tf.train.AdamOptimizer())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn, params={'decay': 1e-4}).train(input_fn, steps=3)
"""


def test_scopes_and_penalties_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(NETWORK)
    (tmp_path / "train.py").write_text(TRAIN)
    report = run_job(sorted(tmp_path.glob("*.py")), Job())
    new = {one.path.name: (one.new or b"").decode() for one in report.results}
    nets, train = new["nets.py"], new["train.py"]
    assert "def __init__(self, classes, params):" in nets
    assert "tf_keras.regularizers.L2(params['decay'] / 2)" in nets
    assert "tf.nn.softmax(logits)" in nets
    assert "MaxPooling2D(2, padding='same')" in nets
    assert "arg_scope" not in nets + train
    assert "nets.Network(classes=3, " in train
    assert "*self.model.losses" in train


def test_a_helper_that_fills_a_table_keeps_its_program(tmp_path: Path) -> None:
    """The Task would not call it: nothing of the model needs what it gives."""
    helper = "SEEN = {}\n\n\ndef remember(name):\n    SEEN[name] = 1\n\n\n"
    (tmp_path / "program.py").write_text(
        "import tensorflow as tf\n\n"
        f"{helper}"
        "def model_fn(features, labels, mode):\n"
        "    logits = tf.layers.dense(features['x'], 2)\n"
        "    remember('logits')\n"
        "    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)\n"
        "    train_op = tf.train.AdamOptimizer().minimize(\n"
        "        loss, tf.train.get_global_step())\n"
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n\n\n"
        "tf.estimator.Estimator(model_fn).train(input_fn, steps=3)\n"
    )
    ((_, program),) = run_job([tmp_path / "program.py"], Job()).programs
    assert program.outcome is ProgramOutcome.KEPT
    assert "`remember('logits')` has no place in a Task" in (program.reason or "")
