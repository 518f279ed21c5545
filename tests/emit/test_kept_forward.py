"""Tier T2: forward code that cannot become layers stays, inside a native loop."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tfmigrate.report.findings import Outcome, Tier

from .one_module import run
from .recorded import assert_same, record, rewrite

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted((HERE / "kept").glob("*.py"))
# Programs whose two-replica form trains differently, which the report says.
ONE_REPLICA = ("regularized",)
STEPS = 6


SMALL = """\
import tensorflow as tf


def helper(x):
    return x


def model_fn(features, labels, mode):
    with tf.variable_scope("body"):
        w = tf.get_variable("w", [3, 1])
        cell = tf.nn.rnn_cell.BasicRNNCell(3)
        _, state = tf.nn.dynamic_rnn(cell, features, dtype=tf.float32)
        y = helper(tf.matmul(state, w))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=y)
    loss = tf.losses.mean_squared_error(labels, y)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)


def data():
    return tf.data.Dataset.from_tensors((X, Y)).repeat(9)


estimator.train(data, steps=3)
"""


def test_the_report_names_the_tier_and_why() -> None:
    (finding,) = run(SMALL).findings
    assert finding.tier is Tier.FORWARD_KEPT
    assert finding.rule == "TFM102"
    assert finding.outcome is Outcome.REWRITTEN
    assert "around its own forward code" in finding.message


def test_kept_code_is_under_one_note() -> None:
    text = run(SMALL).module.code
    assert text.count("TODO(tfmigrate): TFM102") == 1
    assert "self.forward(features, training)" in text
    # The author's lines, one level deeper.
    assert '            w = tf.get_variable("w", [3, 1])\n' in text
    assert run(text).module.code == text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("return x", "return tf.contrib.crf.crf_decode(x)", "has no home"),
        # A Keras layer is lifted or not at all: what stood in the way of that counts.
        (
            "return x",
            "return tf.keras.layers.Dense(1)(x)",
            "BasicRNNCell` cannot be lifted",
        ),
        ('("w", [3, 1])', '("w", [3, 1], partitioner=p)', "split into parts"),
        ("import tensorflow as tf", "import tensorflow as tf\nimport blocks", None),
    ],
)
def test_what_the_store_cannot_hold_keeps_its_estimator(
    old: str, new: str, reason: str | None
) -> None:
    code = SMALL.replace(old, new)
    if reason is None:
        code, reason = code.replace("helper(tf", "blocks.helper(tf"), "another module"
    result = run(code)
    assert [f.tier for f in result.findings] == [Tier.COMPAT]
    assert reason in (result.findings[0].reason or "")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("return x", "return tf.Variable(1.0) * x", "does not keep"),
        ("return x", "return x + tf.train.get_global_step()", "belongs to"),
        ("return x", 'tf.add_to_collection("c", x)\n    return x', "collections"),
        ("y = helper(tf", "y = labels * helper(tf", "reads the labels"),
    ],
)
def test_what_the_store_cannot_hold_stays_in_the_model_fn(
    old: str, new: str, reason: str
) -> None:
    (finding,) = run(SMALL.replace(old, new)).findings
    assert finding.tier is Tier.FORWARD_KEPT
    assert "around its whole model_fn" in finding.message
    assert reason in finding.message


def test_one_fewer_feature_does_not_come_silently() -> None:
    scaled = SMALL.replace("return x", 'tf.summary.scalar("x", x[0])\n    return x')
    assert [f.rule for f in run(scaled).findings] == ["TFM102", "TFM141"]


def test_regularization_on_replicas_is_reported() -> None:
    total = "\n    loss = loss + tf.losses.get_regularization_loss()"
    code = SMALL.replace("(labels, y)", "(labels, y)" + total)
    assert [f.rule for f in run(code).findings] == ["TFM102"]
    code = code.replace(
        "Estimator(model_fn)",
        "Estimator(model_fn, config=tf.estimator.RunConfig(\n"
        "    train_distribute=tf.distribute.MirroredStrategy()))",
    )
    assert "TFM140" in {f.rule for f in run(code).findings}


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All programs of this folder rewritten once, by the command line."""
    target = tmp_path_factory.mktemp("kept")
    # The older form: in place, not on the loop module.
    result = rewrite(HERE / "kept", target, "--style", "inline")
    assert result.returncode == 1, result.stderr  # notes are left
    return target


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_nothing_of_the_estimator_or_of_ours_is_left(
    program: Path, rewritten: Path
) -> None:
    text = (rewritten / program.name).read_text("utf-8")
    names = {
        ast.unparse(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Attribute, ast.Import, ast.ImportFrom))
    }
    for gone in ("tf.estimator", "tf.layers", "tf.contrib", "tfmigrate", "tf.keras"):
        assert not [name for name in names if gone in name]


@pytest.fixture(scope="module")
def on_two(rewritten: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two replicas, but for the programs that the report says to differ there."""
    runs = [(p, 1 if p.stem in ONE_REPLICA else 2) for p in PROGRAMS]
    return record(runs, rewritten, tmp_path_factory.mktemp("two"), steps=STEPS)


@pytest.fixture(scope="module")
def on_one(rewritten: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One replica."""
    runs = [(p, 1) for p in PROGRAMS if p.stem not in ONE_REPLICA]
    return record(runs, rewritten, tmp_path_factory.mktemp("one"), steps=STEPS)


def keeps(program: Path, rewritten: Path) -> bool:
    """The store keeps the names under which TF1 checkpoints hold the variables."""
    return "track_tf1_style_variables" in (rewritten / program.name).read_text("utf-8")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_rewrite_trains_the_same(program: Path, on_two: Path, rewritten: Path) -> None:
    replicas = 1 if program.stem in ONE_REPLICA else 2
    folder = on_two / f"{program.stem}-{replicas}"
    assert_same(folder, steps=STEPS, names=keeps(program, rewritten))


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [p for p in PROGRAMS if p.stem not in ONE_REPLICA],
    ids=lambda p: p.stem,
)
def test_rewrite_trains_the_same_on_one_replica(
    program: Path, on_one: Path, rewritten: Path
) -> None:
    folder = on_one / f"{program.stem}-1"
    assert_same(folder, steps=STEPS, names=keeps(program, rewritten))
