"""Bodies of model_fns as Keras models: what is written, and that it trains alike."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "model_fns").glob("*.py"))


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All programs rewritten: in place, or on the loop module."""
    folder = tmp_path_factory.mktemp("rewritten")
    command = [sys.executable, "-m", "tfmigrate", "rewrite", str(HERE / "model_fns")]
    command += ["--out", str(folder), "--format", "json"]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    (folder / "report.json").write_text(result.stdout, "utf-8")
    return folder


@pytest.fixture(scope="module")
def trained(rewritten: Path) -> dict[str, dict[str, object]]:
    """Every program and its rewrite, trained in one process."""
    output = rewritten / "figures.json"
    runner = [sys.executable, str(HERE / "model_fn_runner.py")]
    arguments = [str(HERE / "model_fns"), str(rewritten), str(output)]
    result = subprocess.run(
        [*runner, *arguments], check=False, capture_output=True, text=True
    )
    assert output.exists(), result.stderr[-2000:]
    found: dict[str, dict[str, object]] = json.loads(output.read_text("utf-8"))
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=[p.stem for p in PROGRAMS])
def test_a_lifted_body_trains_the_same(
    program: Path, rewritten: Path, trained: dict[str, dict[str, object]]
) -> None:
    figures = trained[program.stem]
    assert "error" not in figures, figures["error"]
    # What the loop prints has six digits behind the point.
    assert figures["rewritten"] == pytest.approx(figures["legacy"], rel=1e-5, abs=1e-6)
    if "import training_loop" not in (rewritten / program.name).read_text("utf-8"):
        steps = 24 if program.stem.startswith("warm_up") else 8
        assert len(figures["legacy"]) == steps  # type: ignore[arg-type]


# Only evaluation reads moving averages, where contrib's batch_norm differs for
# inputs of rank two: the report says so.
EVALUATED = [p for p in PROGRAMS if p.stem != "contrib_layers"]


@pytest.mark.parametrize("program", EVALUATED, ids=[p.stem for p in EVALUATED])
def test_a_lifted_body_evaluates_the_same(
    program: Path, trained: dict[str, dict[str, object]]
) -> None:
    figures = trained[program.stem]
    assert "error" not in figures, figures["error"]
    assert figures["result"] == pytest.approx(figures["expected"], rel=2e-5, abs=1e-6)


def test_every_program_becomes_layers(rewritten: Path) -> None:
    report = json.loads((rewritten / "report.json").read_text("utf-8"))
    tiers = {
        Path(file["path"]).name: finding["tier"]
        for file in report["files"]
        for finding in file["findings"]
        if finding["tier"] is not None
    }
    assert tiers == {program.name: "T1" for program in PROGRAMS}


PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features, 8, name="hidden")
    logits = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, logits)
    optimizer = tf.train.AdamOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors((x, y)).repeat(9)


estimator = tf.estimator.Estimator(model_fn, params={})
estimator.train(data, steps=3)
"""


def test_a_layer_is_called_what_the_program_called_it() -> None:
    text = run(PROGRAM).module.code
    assert 'self.hidden = tf_keras.layers.Dense(8, name="hidden")\n' in text
    assert "self.logits = tf_keras.layers.Dense(1)\n" in text
    assert "logits = self.logits(net)\n" in text
    assert "params" not in text  # nothing reads them


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("features, 8", "tf.one_hot(labels, 3), 8", "labels"),
        (
            "features, 8",
            "features, 8 + tf.shape(features)[0]",
            "depends on `8 + tf.shape(features)[0]`",
        ),
        ('name="hidden"', "reuse=True", "reused"),
        ('name="hidden"', "kernel_initializer=mine", "initialiser"),
        (
            "AdamOptimizer(0.1)",
            "AdamOptimizer(loss / tf.to_float(step))",
            "`tf.to_float` makes the optimizer",
        ),
        (
            "AdamOptimizer(0.1)",
            "AdamOptimizer(tf.py_func(f, [step], 1))",
            "py_func",
        ),
        ("AdamOptimizer(0.1)", "SyncReplicasOptimizer(0.1)", "SyncReplicas"),
        ("tf.train.get_global_step()", "None", "global step"),
        ("minimize(loss,", "minimize(2 * loss,", "something else than the loss"),
        (
            "(labels, logits)",
            "(labels, tf.py_func(f, [logits], tf.float32))",
            "py_func",
        ),
    ],
)
def test_what_is_not_understood_is_not_lifted(old: str, new: str, reason: str) -> None:
    code = PROGRAM.replace(old, new).replace(
        "    optimizer =", "    step = tf.train.get_global_step()\n    optimizer ="
    )
    result = run(code)
    assert all(f.tier is not Tier.NATIVE for f in result.findings)
    told = " ".join(f.reason or "" for f in result.findings)
    assert reason in told, told or result.module.code


def test_layers_of_keras_stand_among_others() -> None:
    keras = "tf.keras.layers.Dropout(0.5)(net, training=mode == 'train')"
    code = PROGRAM.replace('tf.layers.dense(features, 8, name="hidden")', MADE)
    code = code.replace("net, 1", f"{keras}, 1")
    text = run(code).module.code
    assert "self.net_of = tf_keras.layers.LSTM(8, recurrent_activation=" in text
    assert "self.dropout(net, training=training)" in text
    # It would be another function in training, if it knew.
    asked = code.replace("LSTM(8)", "LSTM(8, dropout=0.5)")
    (finding,) = run(asked).findings
    assert "LSTM` in a loop in place" in (finding.reason or "")


MADE = """tf.reshape(features, [-1, 2, 4])
    net_of = tf.keras.layers.LSTM(8)
    net = net_of(net)"""
CALLED = """\
class Net(object):
    def __init__(self, units):
        self.hidden = tf.keras.layers.Dense(units)

    def __call__(self, x):
        return self.hidden(x)


def model_fn"""


def test_a_class_that_holds_layers_is_for_the_loop_module() -> None:
    code = PROGRAM.replace("def model_fn", CALLED).replace(
        'tf.layers.dense(features, 8, name="hidden")', "Net(8)(features)"
    )
    (finding,) = run(code).findings
    assert "layers of Keras in a loop in place" in (finding.reason or "")


EVALUATED = """\
    k = params["k"]
    net = tf.layers.dense(features, 8)
    logits = tf.layers.dense(net, k)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    seen = tf.argmax(logits, 1)
    ops = {"iou": tf.metrics.mean_iou(labels, seen, COUNT, weights=WEIGHTS)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=ops)
"""


@pytest.mark.parametrize(
    ("count", "weights", "reason"),
    [
        ('params["k"]', "None", None),
        ('params["k"]', "k", None),
        ("k", "None", "made with `k`"),
        ('params["k"]', "tf.py_func(f, [seen], 1)", "py_func"),
    ],
)
def test_metrics_are_made_of_what_is_there_before_the_first_batch(
    count: str, weights: str, reason: str | None
) -> None:
    begin, end = PROGRAM.index("    net ="), PROGRAM.index("    optimizer =")
    body = EVALUATED.replace("COUNT", count).replace("WEIGHTS", weights)
    result = run(PROGRAM[:begin] + body + PROGRAM[end:] + "estimator.evaluate(data)\n")
    if reason is not None:
        assert reason in (result.findings[0].reason or "")
        return
    text = result.module.code
    assert 'tf_keras.metrics.MeanIoU(params["k"], name="iou")' in text
    step = text[text.index("def test_step") :]
    assert ('k = params["k"]' in step) is (weights == "k")


def test_a_second_minimize_is_for_the_loop_module() -> None:
    twice = "tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
    code = PROGRAM.replace("    return tf", f"    {twice}\n    return tf", 1)
    (finding,) = run(code).findings
    assert "it minimizes more than once" in (finding.reason or "")
