"""Updates of a model function: what keeps a program, and where the report says it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))
from running import rewrite

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = tf.contrib.layers.batch_norm(features, {how}is_training=training)
    output = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, output)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
"""


def test_averages_that_are_never_updated_stay_as_they_began() -> None:
    text, reason = rewrite(PROGRAM.format(how="decay=0.9, "))
    assert text is not None, reason
    assert "SampleNormalization(momentum=1.0, scale=False)" in text
    assert "# Nothing ran the updates" in text


def test_averages_in_collections_of_their_own_keep_their_program() -> None:
    text, reason = rewrite(PROGRAM.format(how="updates_collections='own', "))
    assert text is None
    assert "is updated, some is not" in reason


@pytest.mark.parametrize("first", ["", "normalizer_fn = None\n    "])
def test_averages_may_be_updated_in_place(first: str) -> None:
    program = PROGRAM.format(how="updates_collections=None, ")
    text, reason = rewrite(program.replace("net =", f"{first}net =", 1))
    assert text is not None, reason
    assert "SampleNormalization(" in text


def test_a_layer_that_never_trains_has_no_averages_to_update() -> None:
    made = "tf.contrib.layers.batch_norm(features, {how}is_training=training)"
    within = "tf.layers.batch_normalization(tf.layers.flatten(features){}"
    text, reason = rewrite(PROGRAM.replace(made, within.format(")")))
    assert text is not None, reason
    assert "training=False)" in text
    text, reason = rewrite(PROGRAM.replace(made, within.format(", training=training)")))
    assert text is not None, reason
    assert "BatchNormalization(momentum=1.0)" in text


WATCHED = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    output = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, output)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, norm = tf.clip_by_global_norm(gradients, 5.0)
    train_op = optimizer.apply_gradients(
        zip(gradients, variables), tf.train.get_global_step())
    hook = tf.train.LoggingTensorHook({'seen': SEEN}, every_n_iter=10)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=[hook])


tf.estimator.Estimator(model_fn).train(input_fn)
"""


def test_a_hook_that_looks_at_gradients_keeps_its_program() -> None:
    text, reason = rewrite(WATCHED.replace("SEEN", "norm"))
    assert (text, reason) == (
        None,
        "a hook looks at what is made of gradients (line 4)",
    )
    text, reason = rewrite(WATCHED.replace("SEEN", "tf.reduce_mean(output)"))
    assert text is not None, reason
    assert "return {'seen': tf.reduce_mean(output)}" in text


def test_a_reason_names_the_line_as_the_author_wrote_it() -> None:
    """It stood elsewhere in the text with a Task, in which it was found."""
    source = PROGRAM.format(how="updates_collections=None, ") + "tf.Session()\n"
    text, reason = rewrite(source)
    assert text is None
    line = len(source.splitlines())
    assert reason.startswith(f"`tf.Session` (line {line}) runs a session")


def test_imports_end_as_the_lines_of_their_file() -> None:
    source = PROGRAM.format(how="updates_collections=None, ")
    text, reason = rewrite(source.replace("\n", "\r\n"))
    assert text is not None, reason
    assert "import tf_keras\r\n" in text
    assert "\n" not in text.replace("\r\n", "")


@pytest.mark.parametrize(
    "write",
    [
        "tf.scatter_sub(centers, labels, near - net)",
        "tf.group(tf.assign(centers, centers * 0.5))",
        "centers.assign(centers * 0.5)",
        "centers.scatter_nd_sub([[0]], net[:1])",
    ],
)
def test_a_write_that_the_update_waits_for_is_not_lost(write: str) -> None:
    text, reason = rewrite(f"""\
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.layers.dense(features['x'], 2)
    centers = tf.get_variable('centers', [2, 2], trainable=False)
    near = tf.gather(centers, labels)
    loss = tf.reduce_mean(tf.square(net - near))
    written = {write}
    with tf.control_dependencies([written]):
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
""")
    assert text is None
    assert "has no place in a Task" in reason


TRAINS = """\
import tensorflow as tf


def optimizer_of(step, **options):
    return tf.train.AdamOptimizer(0.1 / (1.0 + tf.cast(step, tf.float32)), **options)


def trained(loss, step):
    {first}
    return tf.train.AdamOptimizer(0.1).minimize(loss, step)


def model_fn(features, labels, mode):
    output = tf.layers.dense(features, 1)
    loss = tf.losses.mean_squared_error(labels, output)
    step = tf.train.get_global_step()
    train_op = {train_op}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
"""


@pytest.mark.parametrize(
    ("first", "train_op", "why"),
    [
        ("", "optimizer_of(step).minimize(loss, step)", "the step is handed on"),
        (
            "",
            "optimizer_of(tf.train.get_global_step()).minimize(loss, step)",
            "the step is handed on",
        ),
    ],
)
def test_what_would_train_otherwise_is_kept(
    first: str, train_op: str, why: str
) -> None:
    text, reason = rewrite(TRAINS.format(first=first, train_op=train_op))
    assert text is None
    assert why in reason


def test_a_rate_of_the_step_that_a_helper_is_given() -> None:
    program = TRAINS.format(
        first="", train_op="optimizer_of(step).minimize(loss, step)"
    )
    text, reason = rewrite(program.replace(", **options", ""))
    assert text is not None, reason
    assert "Schedule(self.learning_rate)" in text
    assert "return 0.1 / (1.0 + tf.cast(step, tf.float32))" in text


STARTED = """\
import tensorflow as tf


def network(x, widths):
    start = tf.truncated_normal_initializer(stddev=0.02)
    x = tf.layers.dense(x, 8, kernel_initializer=start)
    for width in widths:
        x = tf.layers.dense(x, width, kernel_initializer=start)
    return x


def model_fn(features, labels, mode):
    value = network(features, [8, 1])
    loss = tf.losses.mean_squared_error(labels, value)
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
"""


def test_weights_do_not_begin_alike() -> None:
    # One object of Keras gives each weight of a shape the same values.
    text, reason = rewrite(STARTED)
    assert text is not None, reason
    assert text.count("TruncatedNormal(stddev=0.02)") == 2
    assert "start = " not in text


def test_an_entry_that_is_let_go_is_gone() -> None:
    made = "    value = network(features, [8, 1])\n"
    own = "    value = joined(features)\n"
    joined = (
        "def joined(features):\n    del features['id']\n"
        "    x = tf.concat(list(features.values()), 1)\n"
        "    return tf.layers.dense(x, 1)\n\n\ndef model_fn("
    )
    program = STARTED.replace(made, own).replace("def model_fn(", joined, 1)
    text, _ = rewrite(program.replace(", kernel_initializer=start", ""))
    assert text is None or "del features['id']" in text


def test_a_summary_goes_by_the_names_that_variables_have_today() -> None:
    step = "    step = tf.train.get_global_step()\n"
    shown = (
        "    [tf.summary.histogram(v.op.name, v) for v in tf.trainable_variables()]\n"
    )
    program = STARTED.replace(step, shown + step)
    text, reason = rewrite(program.replace(", kernel_initializer=start", ""))
    assert text is not None, reason
    assert 'tf.summary.histogram(v.name.partition(":")[0], v)' in text
    asked = program.replace(
        "trainable_variables()]", "trainable_variables() if v.name]"
    )
    text, _ = rewrite(asked.replace(", kernel_initializer=start", ""))
    assert text is None


def test_a_write_of_a_helper_is_not_made_in_evaluations() -> None:
    text, reason = rewrite("""\
import tensorflow as tf


def center_loss(net, labels, centers):
    near = tf.gather(centers, labels)
    return tf.nn.l2_loss(near - net), tf.scatter_sub(centers, labels, near - net)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features['x'], 2)
    centers = tf.get_variable('centers', [2, 2], trainable=False)
    loss, written = center_loss(net, labels, centers)
    with tf.control_dependencies([written]):
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
""")
    assert text is None
    assert "`written = tf.compat.v1.scatter_sub(" in reason
