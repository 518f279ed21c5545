"""Variables that are chosen by name: what is held, and what keeps its program."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

PROGRAM = """\
import tensorflow as tf


def base(x):
    with tf.variable_scope('base'):
        x = tf.layers.dense(x, 4, tf.tanh, name='one')
        {more}
        return tf.layers.dense(x, 3, tf.nn.relu)


def model_fn(features, labels, mode, params):
    net = base(features)
    with tf.variable_scope('top'):
        logits = tf.layers.dense(net, 2)
    with tf.variable_scope('topmost'):
        logits = logits + tf.layers.dense(net, 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    {loss}
    chosen = {chosen}
    train_op = tf.train.AdamOptimizer(.05).minimize(
        loss, tf.train.get_global_step(), chosen)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(data):
    tf.estimator.Estimator(model_fn, params={{'scope': 'top'}}).train(data)
"""
ALL = "tf.trainable_variables()"
WEIGHT = "x = tf.matmul(x, tf.get_variable('W', [4, 4]))"
CELL = "x = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), x, dtype=tf.float32)[0]"
JUDGE = """if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=logits)
    with tf.variable_scope('judge'):
        loss += tf.reduce_mean(tf.layers.dense(features, 2))"""
START = "s = tf.estimator.WarmStartSettings('folder', '.*{}')"
STILL = "x = tf.layers.dense(x, 3, trainable=False)"
DECAY = f"loss += tf.add_n([tf.nn.l2_loss(v) for v in {ALL}])"


def rewritten(folder: Path, chosen: str, more: str = "pass", loss: str = "pass") -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM.format(chosen=chosen, more=more, loss=loss), "utf-8")
    report = run_job([path], Job())
    ((_, program),) = report.programs
    if program.outcome is not ProgramOutcome.NATIVE:
        return f"{program.reason}"
    (result,) = (one for one in report.changed if one.path == path)
    assert result.new is not None
    return result.new.decode()


@pytest.mark.parametrize(
    ("chosen", "held"),
    [
        ("tf.trainable_variables('top')", ["self.base.trainable = False"]),
        ("tf.trainable_variables('topmost')", ["(2, trainable=False)", "self.base."]),
        ("tf.get_collection('trainable_variables', 'top/')", ["(2, trainable=False)"]),
        (f"[v for v in {ALL} if 'base/dense' in v.name]", ["name='one', trainable"]),
        (
            f"[v for v in {ALL} if not v.op.name.startswith(('top', 'base/d'))]",
            ["(3, activation=tf.nn.relu, trainable=False)"],
        ),
    ],
)
def test_what_is_not_chosen_is_held(
    chosen: str, held: list[str], tmp_path: Path
) -> None:
    text = rewritten(tmp_path, chosen)
    assert "class ModelTask(Task)" in text, text
    for line in held:
        assert line in text
    assert "trainable_variables" not in text


def test_a_layer_of_another_file_is_held(tmp_path: Path) -> None:
    texts = PROGRAM.format(chosen="tf.trainable_variables('top')", more="", loss="")
    net, start, main = texts.partition("def model_fn")
    (tmp_path / "net.py").write_text(net, "utf-8")
    top = "import tensorflow as tf\nfrom net import base\n\n\n"
    (tmp_path / "main.py").write_text(top + start + main, "utf-8")
    changed = run_job([*tmp_path.glob("*.py")], Job()).changed
    assert any(b"self.base.trainable = False" in (one.new or b"") for one in changed)


def test_a_weight_that_is_not_chosen_is_held(tmp_path: Path) -> None:
    chosen = f"[v for v in {ALL} if 'W' not in v.name]"
    assert "trainable=False" in rewritten(tmp_path, chosen, WEIGHT)


def test_a_choice_runs_nothing_of_a_program(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    system = f"re.enum.sys.modules['os'].mkdir({str(ran)!r})"
    told = rewritten(tmp_path, f"[v for v in {ALL} if {system} or 'top' in v.name]")
    assert "has no attribute 'enum'" in told
    assert not ran.exists()
    text = rewritten(tmp_path, f"[v for v in {ALL} if re.match('top/', v.name)]")
    assert "self.base.trainable = False" in text


@pytest.mark.parametrize(
    ("chosen", "more", "loss", "reason"),
    [
        (f"[v for v in {ALL} if 'kernel' in v.name]", "pass", "pass", "of `one`"),
        ("tf.trainable_variables(params['scope'])", "pass", "pass", "params['scope']"),
        ("tf.trainable_variables('other')", "pass", "pass", "no variable is found"),
        (f"{ALL}[-2:]", "pass", "pass", "gradients of some variables only"),
        ("tf.trainable_variables('top')", "pass", DECAY, "all of them are read"),
        ("tf.trainable_variables('top')", CELL, "pass", "`dynamic_rnn` makes others"),
        ("tf.trainable_variables('top')", "pass", JUDGE, "makes several models"),
        ("None", "pass", START.format("kernel"), "some variables of a layer"),
        ("None", STILL, START.format("dense"), "layers out that do not train"),
    ],
)
def test_what_keeps_a_program(
    chosen: str, more: str, loss: str, reason: str, tmp_path: Path
) -> None:
    assert reason in rewritten(tmp_path, chosen, more, loss)


TWO = """
    first = tf.train.AdamOptimizer(.05).minimize(
        loss, tf.train.get_global_step(), tf.trainable_variables('base'))
    tops = [v for v in tf.trainable_variables() if v.name.startswith('top')]
    {inside}second = tf.train.FtrlOptimizer(.1).minimize({loss}, var_list=tops{count})
    train_op = tf.group(first, second)
    return"""


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, '_optimizer": [\n'),
        ({"loss": "-loss"}, "_optimizer_loss(features, labels, logits)"),
        (
            {"inside": "with tf.control_dependencies([first]):\n        "},
            "an update waits for another",
        ),
        (
            {"count": ", global_step=tf.train.get_global_step()"},
            "several updates count",
        ),
    ],
)
def test_parts_have_optimizers_of_their_own(
    changes: dict[str, str], found: str, tmp_path: Path
) -> None:
    given = {"inside": "", "loss": "loss", "count": "", **changes}
    text = PROGRAM.replace("{loss}", "pass").replace("{more}", "pass")
    start, end = text.index("    chosen ="), text.index("\n\n\ndef main")
    rest = text[text.index("return tf.estimator.EstimatorSpec") + len("return") : end]
    text = text[:start] + TWO.format(**given)[1:] + rest + text[end:]
    path = tmp_path / "program.py"
    path.write_text(text.replace("{{", "{").replace("}}", "}"), "utf-8")
    report = run_job([path], Job())
    ((_, program),) = report.programs
    texts = [one.new.decode() for one in report.changed if one.path == path and one.new]
    assert found in (program.reason or texts[0])


LOOKED_AT = """\
import tensorflow as tf
from tensorflow.contrib import slim


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    with tf.variable_scope('base'):
        {layers}
    loss = tf.losses.sparse_softmax_cross_entropy(labels, net)
    decayed = [v for v in tf.trainable_variables() if {test}]
    loss += tf.add_n([tf.nn.l2_loss(v) for v in decayed])
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.GradientDescentOptimizer(.05).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(data):
    tf.estimator.Estimator(model_fn).train(data)
"""
CONTRIB = (
    "net = slim.fully_connected(features, 4, normalizer_fn=slim.batch_norm, "
    "normalizer_params={'is_training': training})"
)
PLAIN = (
    "net = tf.layers.batch_normalization("
    "tf.layers.dense(features, 4, name='fc'), training=training)"
)


@pytest.mark.parametrize(
    ("layers", "test", "found"),
    [
        (CONTRIB, "'BatchNorm' not in v.name", "'normalization' not in v.name"),
        (CONTRIB, "'weights:0' in v.name", "'kernel:0' in v.name"),
        (CONTRIB, "'biases' not in v.op.name", "'bias' not in v.name.partition("),
        (
            CONTRIB,
            "'weights' in v.name and 'depthwise_weights' not in v.name",
            "'kernel' in v.name and 'depthwise_kernel' not in v.name",
        ),
        (CONTRIB, "'beta' not in v.name", "'beta' not in v.name"),
        (PLAIN, "'batch_normalization' not in v.name", "'batch_normalization' not"),
        (PLAIN, "'kernel' in v.name", "'kernel' in v.name"),
        (PLAIN, "'fc' in v.name", "'fc' in v.name"),
        (CONTRIB, "'fully_connected' in v.name", "that Keras does not give"),
        (CONTRIB, "'base' in v.name", "that Keras does not give"),
        (PLAIN, "'base' in v.name", "that Keras does not give"),
        (CONTRIB, "len(v.name) > 3", "that Keras does not give"),
        (f"{CONTRIB}; {PLAIN}", "'BatchNorm' in v.name", "that Keras does not give"),
    ],
)
def test_names_are_asked_for_as_they_are_now(
    tmp_path: Path, layers: str, test: str, found: str
) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOOKED_AT.format(layers=layers, test=test), "utf-8")
    report = run_job([path], Job())
    ((_, program),) = report.programs
    new = [one.new for one in report.changed if one.path == path]
    text = program.reason or (new[0] or b"").decode()
    assert found in text, text


BLOCKS = """\
import tensorflow as tf


def fc_bn_relu(x, units, training, name):
    with tf.variable_scope(name):
        x = tf.layers.dense(x, units, name='fc')
        return tf.layers.batch_normalization(x, training=training, name='bn')


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = fc_bn_relu(features, 4, training, 'first')
    net = fc_bn_relu(net, 3, training, 'second')
    """
ABOUT_NAMES = "`{}` is about names that Keras does not give"


@pytest.mark.parametrize(
    ("test", "found"),
    [
        # What a class is called has a part of it, but no layer beside.
        ("'bn' not in v.name", "'bn/' not in v.name"),
        ("'fc' in v.name", "'fc/' in v.name"),
        ("'second' in v.name", ABOUT_NAMES.format("'second' in v.name")),
        ("'fc_bn' in v.name", ABOUT_NAMES.format("'fc_bn' in v.name")),
    ],
)
def test_names_of_classes_and_scopes_are_told_apart(
    tmp_path: Path, test: str, found: str
) -> None:
    rest = LOOKED_AT[LOOKED_AT.index("loss = tf.losses") :]
    path = tmp_path / "program.py"
    path.write_text(BLOCKS + rest.format(test=test), "utf-8")
    report = run_job([path], Job())
    ((_, program),) = report.programs
    new = [one.new for one in report.changed if one.path == path]
    text = program.reason or (new[0] or b"").decode()
    assert found in text, text


BEGUN = """\
import tensorflow as tf


def trunk(x):
    with tf.variable_scope('trunk'):
        with tf.variable_scope('a'):
            x = tf.layers.dense(x, 3, tf.nn.relu, name='one')
        with tf.variable_scope('b'):
            x = tf.layers.dense(x, 3, name='{second}')
    return x


def model_fn(features, labels, mode):
    logits = trunk(features)
    tf.train.init_from_checkpoint('first', {{'trunk/': 'trunk/'}})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(.05).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn)
"""


@pytest.mark.parametrize(("second", "reason"), [("two", ""), ("one", "`one_2` begins")])
def test_a_layer_begins_under_one_name(
    tmp_path: Path, second: str, reason: str
) -> None:
    path = tmp_path / "program.py"
    path.write_text(BEGUN.format(second=second), "utf-8")
    ((_, program),) = run_job([path], Job()).programs
    assert (program.reason or "").startswith(reason)
    assert (program.outcome is ProgramOutcome.NATIVE) == (not reason)
