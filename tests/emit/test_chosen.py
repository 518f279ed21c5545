"""Programs whose strategy, RunConfig or fetches are chosen on the way."""

from __future__ import annotations

import ast

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run

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


@pytest.mark.parametrize("code", STRATEGIES.values(), ids=STRATEGIES.keys())
def test_a_condition_keeps_choosing_the_strategy(code: str) -> None:
    program = PROGRAM.replace(NONE, code)
    made = native(program)
    assert "gpus > 1" in made
    assert "tf.distribute.MirroredStrategy" in made
    assert "for i in range(gpus)]" in made
    assert "tf.distribute.get_strategy()" in made
    assert "with distribution.scope():" in made
    assert "distribution.num_replicas_in_sync, drop_remainder=True" in made
    # The user's own choice takes the place of all of them.
    chosen = native(program, strategy="one_device")
    assert '    distribution = tf.distribute.OneDeviceStrategy("/gpu:0")\n' in chosen


def test_a_strategy_is_chosen_where_it_is_given() -> None:
    inside = f"{MIRRORED} if gpus > 1 else None"
    program = PROGRAM.replace(NONE, "").replace("=distribution", f"={inside}")
    for style in ("auto", "class"):
        made = native(program, style=style)
        assert (
            "        if gpus > 1\n        else tf.distribute.get_strategy()\n" in made
        )


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            f"{STRATEGIES['a branch']}    print(distribution is None)\n",
            "`distribution`, which may be None, is used here",
        ),
        (
            f"{NONE}    for _ in range(gpus):\n        distribution = {MIRRORED}\n",
            "the strategy is chosen in a way not understood",
        ),
        (
            "    distribution = get_strategy(gpus)\n    print(get_strategy(1))\n",
            "`get_strategy` is called elsewhere too",
        ),
    ],
)
def test_a_strategy_that_is_not_understood_is_not_guessed(
    code: str, reason: str
) -> None:
    assert refused(PROGRAM.replace(NONE, code)) == reason


CONFIGS = {
    "an expression": (
        '    config = tf.contrib.learn.RunConfig("", 2, tf_random_seed=1) '
        'if os.environ.get("OLD") else tf.estimator.RunConfig(\n'
        "        tf_random_seed=1, keep_checkpoint_max=1)\n",
        ["random.set_seed(1)", 'max_to_keep=5 if os.environ.get("OLD") else 1'],
    ),
    "branches": (
        "    if gpus > 1:\n"
        "        config = tf.estimator.RunConfig(save_checkpoints_steps=7)\n"
        "    else:\n"
        "        config = tf.estimator.RunConfig(save_checkpoints_steps=9)\n",
        ["if step - last_save >= (7 if gpus > 1 else 9):"],
    ),
    "replaced": (
        "    config = tf.estimator.RunConfig(save_checkpoints_secs=7)\n"
        "    if gpus > 1:\n"
        "        config = config.replace(save_checkpoints_secs=9)\n"
        "    config = config.replace(keep_checkpoint_max=2)\n",
        ["last_save >= (9 if gpus > 1 else 7):", "max_to_keep=2"],
    ),
}


@pytest.mark.parametrize(("code", "wanted"), CONFIGS.values(), ids=CONFIGS.keys())
def test_a_condition_chooses_the_fields_of_a_config(
    code: str, wanted: list[str]
) -> None:
    made = native(PROGRAM.replace(NONE, "").replace(CONFIG, code))
    assert "RunConfig" not in made
    for text in wanted:
        assert text in made


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "    config = tf.estimator.RunConfig(save_checkpoints_secs=7)\n"
            "    if gpus > 1:\n"
            "        config = config.replace(save_checkpoints_steps=9)\n",
            "a condition chooses whether it saves by steps or by time",
        ),
        (
            "    config = tf.estimator.RunConfig()\n"
            "    if gpus > 1:\n"
            "        print(gpus)\n"
            "        config = config.replace(save_checkpoints_secs=9)\n",
            "the branches that choose the RunConfig do more than that",
        ),
        (
            "    config = tf.estimator.RunConfig()\n"
            "    if input():\n"
            "        config = config.replace(save_checkpoints_secs=9)\n",
            "`input()`, which chooses the RunConfig, may change or has effects",
        ),
        (
            "    config = tf.estimator.RunConfig(tf_random_seed=1)\n"
            "    if gpus > 1:\n"
            "        config = tf.estimator.RunConfig()\n",
            "a condition chooses whether there is a seed",
        ),
    ],
)
def test_a_config_that_is_not_understood_is_not_guessed(code: str, reason: str) -> None:
    assert refused(PROGRAM.replace(NONE, "").replace(CONFIG, code)) == reason


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


TOGETHER = """\
    result = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(data, max_steps=3),
        tf.estimator.EvalSpec(data, steps=2))
"""


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("result =", "result =", "    result = results, []\n"),
        ("result =", "result, _ =", "    result = None\n"),
        ("    result =", "    return", "    return results, []\n"),
        ("steps=2))", "steps=2))[0]", "    result = results\n"),
    ],
)
def test_the_result_of_train_and_evaluate(old: str, new: str, wanted: str) -> None:
    body = TOGETHER.replace(old, new)
    program = PROGRAM.replace(TRAIN, body)
    program = program[: program.index("    print(estimator")]
    made = native(program)
    assert wanted in made
    used = native(program, style="class")
    assert "return results, []" in used


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
