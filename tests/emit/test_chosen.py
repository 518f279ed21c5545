"""Programs whose strategy, RunConfig or fetches are chosen on the way."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.report.findings import Tier
from tfmigrate.rewriting.pipeline import Job

from .one_module import run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "around"))

from here import run_here

PROGRAM = """\
import os

import tensorflow as tf


def model_fn(features, labels, mode):
    x = tf.layers.dense(features["x"], 3)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"x": x})
    part = tf.losses.mean_squared_error(labels, x)
    tf.identity(part, name="part")
    loss = part + 1.0
    train_op = tf.train.AdamOptimizer(0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        eval_metric_ops={"mean": tf.metrics.mean(x)})


def get_strategy(gpus):
    if gpus > 1:
        return tf.contrib.distribute.MirroredStrategy(num_gpus=gpus)
    return None


def data():
    return tf.data.Dataset.from_tensors(({"x": [1.0]}, [1.0])).repeat().batch(2)


def main(gpus):
    distribution = None
    config = tf.estimator.RunConfig(train_distribute=distribution)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    estimator.train(data, steps=3)
    print(estimator.evaluate(data, steps=2))
"""
NONE = "    distribution = None\n"
CONFIG = "    config = tf.estimator.RunConfig(train_distribute=distribution)\n"
TRAIN = "    estimator.train(data, steps=3)\n"


def native(code: str, **options: object) -> str:
    """The loop of a program that becomes one."""
    result = run(code, **options)
    tiers = {f.tier for f in result.findings if f.tier is not None}
    assert tiers == {Tier.NATIVE}, [f.reason for f in result.findings]
    compile(result.module.code, "program.py", "exec")
    return result.module.code


def refused(code: str) -> str:
    """Why a program keeps its Estimator."""
    finding = run(code).findings[0]
    assert finding.tier is Tier.COMPAT
    # Behind it stands the expression.
    return (finding.reason or "").partition(": `")[0]


MIRRORED = "tf.contrib.distribute.MirroredStrategy(num_gpus=gpus)"
STRATEGIES = {
    "a branch": f"{NONE}    if gpus > 1:\n        distribution = {MIRRORED}\n",
    "two branches": (
        f"    if gpus > 1:\n        distribution = {MIRRORED}\n"
        "    elif gpus == 1:\n"
        '        distribution = tf.contrib.distribute.OneDeviceStrategy("/gpu:0")\n'
        "    else:\n        distribution = None\n"
    ),
    "an expression": f"    distribution = {MIRRORED} if gpus > 1 else None\n",
    "a function": "    distribution = get_strategy(gpus)\n",
}


CONFIGS = {
    "an expression": (
        '    config = tf.contrib.learn.RunConfig("", 2, tf_random_seed=1) '
        'if os.environ.get("OLD") else tf.estimator.RunConfig(\n'
        "        tf_random_seed=1, keep_checkpoint_max=1)\n"
    ),
    "branches": (
        "    if gpus > 1:\n"
        "        config = tf.estimator.RunConfig(save_checkpoints_steps=7)\n"
        "    else:\n"
        "        config = tf.estimator.RunConfig(save_checkpoints_secs=9)\n"
    ),
    "replaced": (
        "    config = tf.estimator.RunConfig(save_checkpoints_secs=7)\n"
        "    if gpus > 1:\n"
        "        print(gpus)\n"
        "        config = config.replace(save_checkpoints_secs=9)\n"
    ),
}
TOGETHER = """\
    result = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(data, max_steps=3),
        tf.estimator.EvalSpec(data, steps=2))
    print(result)
"""
STOPS = "tf.estimator.experimental.stop_if_no_decrease_hook(estimator, 'loss', 9)"
# What is not in plain sight, and is as it was on the loop module.
ON_THE_MODULE = {
    **{f"strategy: {n}": PROGRAM.replace(NONE, c) for n, c in STRATEGIES.items()},
    "strategy where it is given": PROGRAM.replace(NONE, "").replace(
        "=distribution", f"={MIRRORED} if gpus > 1 else None"
    ),
    **{
        f"config: {n}": PROGRAM.replace(NONE, "").replace(CONFIG, c)
        for n, c in CONFIGS.items()
    },
    "result": PROGRAM.replace(TRAIN, TOGETHER),
    "returned": PROGRAM.replace(TRAIN, f"{TRAIN}    return estimator\n"),
    "on an object": PROGRAM.replace(TRAIN, f"    main.it = estimator\n{TRAIN}"),
    "stopped early": PROGRAM.replace("steps=3)", f"steps=3, hooks=[{STOPS}])"),
    "a hook on a condition": PROGRAM.replace(
        "steps=3)", "steps=3, hooks=[tf.train.StopAtStepHook(2)] if gpus else None)"
    ),
    "exported": PROGRAM.replace(
        TRAIN,
        f"{TRAIN}    estimator.export_saved_model('out', lambda: "
        "tf.estimator.export.TensorServingInputReceiver(None, None))\n",
    ),
}


@pytest.mark.parametrize("name", ON_THE_MODULE)
def test_what_is_not_in_plain_sight_is_for_the_loop_module(
    name: str, tmp_path: Path
) -> None:
    code = ON_THE_MODULE[name]
    assert {f.tier for f in run(code).findings} == {Tier.COMPAT}
    path = tmp_path / "program.py"
    path.write_text(code)
    report = run_here([path], Job(options=RewriteOptions()))
    (result,) = (one for one in report.results if one.path == path)
    assert result.program is not None
    assert result.program.tier is Tier.NATIVE, result.findings
    text = (result.new or b"").decode()
    assert "tf.estimator" not in text
    # The program's own tests and branches stay.
    assert text.count("    if ") == code.count("    if ")


HOOK = """\
class Watch(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"part": "part:0", "step": "global_step:0"})

    def after_run(self, run_context, run_values):
        self.seen = run_values.results["part"], run_values.results["step"]


"""
HOOKED = PROGRAM.replace("steps=3)", "steps=3, hooks=[Watch()])").replace(
    "def model_fn", f"{HOOK}def model_fn"
)


def test_a_hook_that_fetches_other_tensors_is_for_the_loop_module() -> None:
    assert '`Watch` fetches `"part:0"`' in refused(HOOKED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "data.apply(tf.contrib.data.batch_and_drop_remainder(2))",
            "data.batch(2, drop_remainder=True)",
        ),
        (
            "data.shuffle(9).apply(tf.contrib.data.batch_and_drop_remainder(2)).repeat()",
            "data.shuffle(9).batch(2, drop_remainder=True).repeat()",
        ),
        (
            "data.map(len, tf.contrib.lookup.index_table_from_tensor(['a', 'b']))",
            "data.map(len, tf.lookup.StaticHashTable("
            "tf.lookup.KeyValueTensorInitializer("
            "['a', 'b'], tf.range(len(['a', 'b']), dtype=tf.int64)), -1,))",
        ),
    ],
)
def test_what_went_with_contrib_changes_inside_a_longer_expression(
    old: str, new: str
) -> None:
    given = (
        'return tf.data.Dataset.from_tensors(({"x": [1.0]}, [1.0])).repeat().batch(2)'
    )
    assert given in PROGRAM
    made = native(
        PROGRAM.replace(given, f"data = tf.data.Dataset.range(9)\n    return {old}")
    )
    assert "".join(f"return {new} def main".split()) in "".join(made.split())


OF_KERAS = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
NAME = 3


def data(count):
    return tf.data.Dataset.from_tensors(([1.0, 2.0], [1.0])).repeat(count).batch(2)


estimator = tf.keras.estimator.model_to_estimator(model)
estimator.train(lambda: data(NAME), steps=3)
"""


@pytest.mark.parametrize("name", ["sets", "context", "dataset"])
def test_batches_for_replicas_are_of_what_the_program_named(name: str) -> None:
    text = native(OF_KERAS.replace("NAME", name), strategy="mirrored")
    (function,) = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == "train_batches"
    ]
    nodes = [*ast.walk(function)]
    bound = {one.arg for one in nodes if isinstance(one, ast.arg)}
    bound |= {
        one.id
        for one in nodes
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    assert name not in bound
    assert f"data({name})" in ast.unparse(function)
