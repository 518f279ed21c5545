"""A program that a better result would break takes the next rung of the ladder."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.lacks import lacks_of
from tfmigrate.report.findings import Tier
from tfmigrate.report.model import FileResult, FileStatus
from tfmigrate.rewriting.pipeline import Job, process_source
from tfmigrate.rewriting.run import run_job
from tfmigrate.symbols.surface import gone

PROGRAM = """\
HEAD
import tensorflow as tf


def data():
    return tf.data.Dataset.from_tensors(([[1.0, 2.0]], [[3.0]])).repeat(8)


def model_fn(features, labels, mode):
    BODY
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    MORE
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, "model")
estimator.train(data, steps=3)
AFTER
"""
BODY = "y = tf.layers.dense(features, 1)"


def processed(
    head: str = "",
    body: str = BODY,
    more: str = "pass",
    after: str = "",
    style: str = "auto",
) -> FileResult:
    text = PROGRAM.replace("HEAD", head).replace("BODY", body)
    raw = text.replace("MORE", more).replace("AFTER", after).encode()
    result = outcome(raw, style)
    assert result.status is not FileStatus.FAILED, result.error
    return result


def outcome(raw: bytes, style: str = "auto") -> FileResult:
    """What becomes of a program that is a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_bytes(raw)
        job = Job(RewriteOptions(style=style))
        return process_source(path, raw, job, ProjectFacts([path]))


def tier(result: FileResult) -> Tier | None:
    return next((f.tier for f in result.findings if f.tier is not None), None)


def text(result: FileResult) -> str:
    assert result.new is not None
    return result.new.decode()


def test_an_import_of_nothing_that_nobody_uses_goes() -> None:
    head = (
        "from tensorflow.contrib.learn.python.learn import learn_runner\n"
        "from tensorflow.examples.tutorials.mnist import input_data"
    )
    result = processed(head)
    assert tier(result) is Tier.NATIVE
    assert "contrib" not in text(result)
    assert "tutorials" not in text(result)


def test_what_today_does_not_have_steps_down_with_its_name() -> None:
    head = "from tensorflow.examples.tutorials.mnist import input_data\n"
    code = head + "mnist = input_data.read_data_sets('data')"
    result = processed(code, style="inline")
    assert tier(result) is Tier.COMPAT
    reasons = [finding.reason or "" for finding in result.findings]
    assert any("`tensorflow.examples` stays" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (
            "import functools",
            "y = functools.partial(tf.layers.dense, units=1)(features)",
        ),
        (
            "",
            "import functools\n"
            "    y = functools.partial(tf.layers.dense, units=1)(features)",
        ),
    ],
    ids=["of the module", "of the function"],
)
def test_layers_that_are_passed_on_stay_in_a_kept_model_fn(
    head: str, body: str
) -> None:
    assert tier(processed(head, body)) is Tier.FORWARD_KEPT


def test_a_layer_of_a_partial_that_stands_outside_is_still_found() -> None:
    head = "import functools\nimport tensorflow as tf\n"
    head += "dense = functools.partial(tf.layers.dense, activation=None)"
    result = processed(head, "y = dense(features, 1)")
    assert tier(result) in (Tier.FORWARD_KEPT, Tier.COMPAT)
    assert "functools.partial(tf.layers.dense" not in text(result) or (
        tier(result) is Tier.COMPAT
    )


def test_a_value_and_a_layer_of_one_name() -> None:
    body = (
        "dropout = 0.5\n"
        "    net = tf.layers.dense(features, 2)\n"
        "    if dropout > 0:\n"
        "        net = tf.layers.dropout(net, dropout, training=mode == 'train')\n"
        "    y = tf.layers.dense(net, 1)"
    )
    result = processed(body=body)
    assert tier(result) is Tier.NATIVE
    made = text(result)
    assert made.count("self.dropout = ") <= 1


def test_a_train_op_grouped_under_its_own_name() -> None:
    more = (
        "updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)\n"
        "    train_op = tf.group(updates, train_op)"
    )
    assert tier(processed(more=more)) is Tier.NATIVE


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            "rate = tf.train.exponential_decay(0.1, tf.train.get_global_step(), 2, 0.5)"
            "\n    other = tf.train.AdamOptimizer(rate)"
            "\n    more = other.minimize(loss, tf.train.get_global_step())"
            "\n    train_op = tf.group(train_op, more)",
            "counted more than once",
        ),
        (
            "train_op = tf.assign_add(tf.train.get_global_step(), 2)",
            "something else than one",
        ),
        (
            "tf.keras.layers.Dense(1)(features)\n"
            "    with tf.control_dependencies([train_op]):\n"
            "        train_op = tf.train.AdamOptimizer(0.1).minimize(loss)",
            "behind another update",
        ),
        (
            "count = tf.get_variable('count', [], trainable=False)\n"
            "    train_op = tf.group(train_op, tf.assign_add(count, 1.0))\n"
            "    tf.losses.add_loss(count)",
            "in no fixed order",
        ),
        (
            "def stepped(of):\n"
            "        return tf.train.AdamOptimizer(0.1).minimize(of)\n"
            "    train_op = tf.cond(loss > 1, lambda: stepped(loss), tf.no_op)",
            "takes the gradients of `of`",
        ),
    ],
)
def test_steps_without_a_fixed_order_keep_their_session(more: str, reason: str) -> None:
    result = processed(more=more)
    assert tier(result) is Tier.COMPAT
    assert any(reason in (finding.reason or "") for finding in result.findings)


def test_gradients_behind_an_update_read_by_reference() -> None:
    more = (
        "with tf.control_dependencies([train_op]):\n"
        "        train_op = tf.train.AdamOptimizer(0.1).minimize(loss)"
    )
    assert tier(processed(more=more)) is Tier.NATIVE


@pytest.mark.parametrize(
    ("evaluated", "expected"),
    [
        # Evaluations have a graph of their own, in which nothing moves the average.
        ("AVERAGE\n    if mode == 'eval':\n        RETURN\n    MOVED", Tier.NATIVE),
        ("AVERAGE\n    MOVED\n    if mode == 'eval':\n        RETURN", Tier.COMPAT),
        (
            "AVERAGE\n    for _ in range(2):\n        if mode == 'eval':\n"
            "            RETURN\n        MOVED",
            Tier.COMPAT,
        ),
    ],
    ids=["left before", "left behind", "in a loop"],
)
def test_a_variable_that_another_mode_reads(evaluated: str, expected: Tier) -> None:
    average = "average = tf.get_variable('average', [], trainable=False)"
    moved = "train_op = tf.group(train_op, tf.assign(average, loss))"
    returned = (
        "return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"
        "'average': (tf.identity(average), tf.no_op())})"
    )
    more = evaluated.replace("AVERAGE", average).replace("MOVED", moved)
    assert tier(processed(more=more.replace("RETURN", returned))) is expected


def test_the_update_that_a_wait_is_for_is_behind_none() -> None:
    more = (
        "step = tf.train.get_global_step()\n"
        "    with tf.control_dependencies([tf.train.AdamOptimizer(0.1).minimize(loss)]):\n"
        "        train_op = tf.assign_add(step, 1).op"
    )
    source = PROGRAM.replace("HEAD", "").replace("BODY", BODY).replace("AFTER", "")
    plain = "    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train"
    source = source.replace(plain + ".get_global_step())\n", "").replace("MORE", more)
    result = outcome(source.encode())
    assert tier(result) is Tier.NATIVE


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # Rows are copies: what moves the table moves nothing that gradients read.
        ("tf.gather(table, tf.cast(labels[:, 0], tf.int32))", Tier.NATIVE),
        ("tf.matmul(y, table, transpose_b=True)", Tier.COMPAT),
    ],
)
def test_gradients_behind_an_update_of_a_table(rows: str, expected: Tier) -> None:
    more = (
        "table = tf.get_variable(\n"
        "        'table', [9, 1], trainable=False, use_resource=True)\n"
        f"    rows = {rows}\n"
        "    moved = tf.scatter_sub(table, [0], rows[:1] * 0.1)\n"
        "    loss += tf.reduce_mean(rows - y)\n"
        "    with tf.control_dependencies([moved]):\n"
        "        train_op = tf.train.AdamOptimizer(0.1).minimize(\n"
        "            loss, tf.train.get_global_step())"
    )
    source = PROGRAM.replace("HEAD", "").replace("BODY", BODY).replace("AFTER", "")
    plain = "    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train"
    source = source.replace(plain + ".get_global_step())\n", "").replace("MORE", more)
    result = outcome(source.encode())
    assert (tier(result) is Tier.COMPAT) == (expected is Tier.COMPAT)


def test_branches_that_each_count_are_one_count() -> None:
    more = (
        "step = tf.train.get_global_step()\n"
        "    weights = tf.get_collection('own')\n"
        "    if len(weights) > 3:\n"
        "        train_op = tf.train.AdamOptimizer(0.1).minimize(loss, step)\n"
        "    else:\n"
        "        train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, step)"
    )
    result = processed(body=BODY, more=more)
    # The plain minimize above is the second one; alone, the branches are fine.
    told = [finding.message for finding in result.findings if finding.rule == "TFM147"]
    assert any("more than one at a time" in message for message in told)
    source = PROGRAM.replace("HEAD", "").replace("BODY", BODY).replace("AFTER", "")
    plain = "    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train"
    source = source.replace(plain + ".get_global_step())\n", "").replace("MORE", more)
    assert tier(outcome(source.encode())) is Tier.NATIVE


def test_a_step_in_a_function_inside_the_model_fn_is_one_count(tmp_path: Path) -> None:
    tail = "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)"
    step = "tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
    spec = (
        f"def train_op_fn(loss):\n        return {step}\n\n"
        "    return tf.contrib.estimator.regression_head().create_estimator_spec(\n"
        "        {}, mode, y, labels, train_op_fn=train_op_fn)"
    )
    source = PROGRAM.replace("HEAD", "").replace("BODY", BODY).replace("MORE", "pass")
    source = source.replace("    train_op = " + step + "\n", "").replace(tail, spec)
    # An Estimator in a table moves to the loop module with its model_fn.
    held = "held = {'one': estimator}\nfor name in held:\n    held[name].train"
    source = source.replace("estimator.train", held)
    program = tmp_path / "program.py"
    program.write_text(source.replace("AFTER", ""))
    made = run_job([program], Job()).results
    result = next(one for one in made if one.path == program)
    assert tier(result) is not Tier.COMPAT, result.findings


def test_roles_of_a_cluster_keep_the_estimator() -> None:
    result = processed("import os\nos.environ['TF_CONFIG'] = '{}'", style="inline")
    assert tier(result) is Tier.COMPAT
    assert any("TF_CONFIG" in (f.reason or "") for f in result.findings)


def test_a_function_whose_body_is_on_its_line() -> None:
    source = (
        b"import tensorflow as tf\n\n\n"
        b"def model_fn(features, labels, mode): pass\n\n\n"
        b"tf.estimator.Estimator(model_fn, 'model').train(lambda: None)\n"
    )
    result = outcome(source)
    assert result.status is not FileStatus.FAILED


def test_figures_that_nobody_takes_are_shown() -> None:
    after = "estimator.evaluate(data)\nfound = estimator.evaluate(data)"
    made = text(processed(after=after))
    assert made.count("print(evaluate(") == 1
    assert "found = evaluate(" in made


def test_the_surface_of_today() -> None:
    assert gone("tensorflow.data.Dataset.from_tensors") is None
    assert gone("tensorflow.estimator.Estimator") == "tensorflow.estimator"
    assert gone("tensorflow.compat.v1.train.Saver") is None
    assert gone("tensorflow.compat.v1.layers.dense") == "tensorflow.compat.v1.layers"
    assert gone("tf_keras.layers.Dense") is None
    assert gone("tf_keras.layers.CuDNNLSTM") == "tf_keras.layers.CuDNNLSTM"
    assert gone("numpy.int") is None


def test_tensors_that_another_function_takes_apart_stay_tensors() -> None:
    source = PROGRAM.replace("HEAD", "").replace("BODY", BODY).replace("MORE", "pass")
    source = source.replace(
        ".repeat(8)", ".repeat(8).make_one_shot_iterator().get_next()"
    )
    used = "x, y = data()\nprint(x.shape)\n"
    for after, expected in (("", Tier.NATIVE), (used, Tier.COMPAT)):
        raw = source.replace("AFTER", after).encode()
        assert tier(outcome(raw, "inline")) is expected


def test_what_a_condition_chooses_may_be_gone(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    chosen = "import inspect, six\nspec = NEW if six.PY3 else OLD\n"
    text = chosen.replace("NEW", "inspect.getfullargspec")
    path.write_text(text.replace("OLD", "inspect.getargspec"), "utf-8")
    facts = ProjectFacts([path])
    assert not list(lacks_of(facts.load(path, path.read_bytes()).resolver))
    path.write_text("import inspect\nspec = inspect.getargspec\n", "utf-8")
    facts = ProjectFacts([path])
    found = [
        one.what for _, one in lacks_of(facts.load(path, path.read_bytes()).resolver)
    ]
    assert found == ["inspect.getargspec"]


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        ("lost, _, moved = centred(y)", Tier.NATIVE),
        ("lost, rows, moved = centred(y)\n    rows = [rows]", Tier.COMPAT),
        ("lost, rows, moved = centred(y)\n    loss += rows[0, 0]", Tier.COMPAT),
        ("lost, *rest = centred(y)\n    moved = rest[1]", Tier.COMPAT),
        ("lost, moved = centred(y)[::2]", Tier.COMPAT),
    ],
)
def test_a_table_that_is_returned_is_read_by_who_takes_it(
    taken: str, expected: Tier
) -> None:
    head = (
        "def centred(net):\n"
        "    table = tf.get_variable('table', [9, 1], trainable=False)\n"
        "    rows = tf.gather(table, [0, 1])\n"
        "    moved = tf.scatter_sub(table, [0, 1], rows - net[:2])\n"
        "    return tf.nn.l2_loss(net[:2] - rows), table, moved\n"
    )
    more = f"{taken}\n    train_op = tf.group(train_op, moved)"
    result = processed(head=head, more=more)
    assert (tier(result) is Tier.COMPAT) == (expected is Tier.COMPAT)
    reasons = [finding.reason or "" for finding in result.findings]
    assert any("in no fixed order" in one for one in reasons) == (
        expected is Tier.COMPAT
    )


def test_why_the_model_fn_of_a_derived_estimator_is_kept() -> None:
    body = "y = OTHERS[mode](features)"
    text = PROGRAM.replace("HEAD", "OTHERS = made()").replace("BODY", body)
    text = text.replace("MORE", "pass").replace("AFTER", "")
    text = text.replace(
        'estimator = tf.estimator.Estimator(model_fn, "model")',
        "class Own(tf.estimator.Estimator):\n    def __init__(self):\n"
        '        super().__init__(model_fn, "model")\n\n\nestimator = Own()',
    )
    result = outcome(text.encode())
    assert tier(result) is Tier.FORWARD_KEPT
    (told,) = (f for f in result.findings if f.tier is Tier.FORWARD_KEPT)
    assert "its model_fn is kept: " in told.message
