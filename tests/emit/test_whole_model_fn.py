"""Tier T2: a loop around a model_fn that stays as a whole."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tfmigrate.report.findings import Tier

from .one_module import run
from .recorded import assert_same, record, rewrite

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "whole"
PROGRAMS = sorted(FOLDER.glob("*.py"))
STEPS = 12
# Program and replicas, as they are trained.
RUNS = [
    (FOLDER / "bare_variables.py", 1),
    (FOLDER / "from_checkpoint.py", 1),
    (FOLDER / "from_checkpoint.py", 2),
    (FOLDER / "own_optimizer.py", 1),
    (FOLDER / "replicas.py", 1),
    (FOLDER / "replicas.py", 2),
    (FOLDER / "two_normalizations.py", 1),
]
NAMES = [f"{program.stem}-{replicas}" for program, replicas in RUNS]


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All programs of this folder rewritten once, by the command line."""
    target = tmp_path_factory.mktemp("whole")
    # The older form: in place, not on the loop module.
    result = rewrite(FOLDER, target, "--style", "inline")
    assert result.returncode == 1, result.stderr  # notes are left
    return target


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_the_model_fn_stays_and_nothing_of_ours_comes(
    program: Path, rewritten: Path
) -> None:
    text = (rewritten / program.name).read_text("utf-8")
    names = {
        ast.unparse(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Attribute, ast.Import, ast.ImportFrom))
    }
    for gone in ("tf.estimator", "tf.layers", "tf.contrib", "tfmigrate"):
        assert not [name for name in names if gone in name]
    assert text.count("TODO(tfmigrate): TFM102") == 1
    assert run(text).module.code == text
    for function in ast.parse(program.read_text("utf-8")).body:
        if isinstance(function, ast.FunctionDef):
            assert f"def {function.name}(" in text


@pytest.fixture(scope="module")
def recorded(rewritten: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Losses and weights of both sides."""
    return record(RUNS, rewritten, tmp_path_factory.mktemp("recorded"), steps=STEPS)


@pytest.mark.parametrize("name", NAMES)
def test_rewrite_trains_the_same(name: str, recorded: Path) -> None:
    assert_same(recorded / name, steps=STEPS, names=True)


@pytest.mark.parametrize(("program", "replicas"), RUNS, ids=NAMES)
def test_figures_predictions_and_a_second_run(
    program: Path, replicas: int, rewritten: Path, tmp_path: Path
) -> None:
    output = tmp_path / "found.json"
    command = [sys.executable, str(HERE / "whole_child.py"), str(program)]
    command += [str(rewritten / program.name), str(output), str(replicas)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert output.is_file(), done.stderr
    found: dict[str, Any] = json.loads(output.read_text("utf-8"))
    # The same variables, those of the optimizer too, under the names of TF 1.
    assert found["names"][0] == found["names"][1]
    for legacy, new in zip(found["legacy"], found["rewritten"], strict=True):
        assert set(new["result"]) == set(legacy["result"])
        for name, value in legacy["result"].items():
            assert new["result"][name] == pytest.approx(value, rel=1e-5), name
        np.testing.assert_allclose(new["predicted"], legacy["predicted"], rtol=1e-4)
    # In the same directory training went on where it ended.
    assert new["result"]["global_step"] == 2 * STEPS


# Real TF 1.15.5 on one replica: the loss and a prediction after so many steps.
STARTED = {12: (1.16234, 0.0716946), 5: (2.68427, -1.6402369)}


@pytest.mark.parametrize("steps", STARTED)
def test_variables_start_from_a_checkpoint(
    steps: int, rewritten: Path, tmp_path: Path
) -> None:
    # Nothing is given to this program: all its values are those it loads itself.
    code = "import json, runpy, sys\nfound = runpy.run_path(sys.argv[1])\n"
    code += "found = found['RESULT']['loss'], float(found['PREDICTED'][0][0])\n"
    code += "print('found', json.dumps(found))\n"
    program = str(rewritten / "from_checkpoint.py")
    environment = {**os.environ, "MODEL_DIR": str(tmp_path), "STEPS": str(steps)}
    losses = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", code, program],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        line = next(x for x in done.stdout.splitlines() if x.startswith("found"))
        loss, predicted = json.loads(line.removeprefix("found"))
        if not losses:
            assert (loss, predicted) == pytest.approx(STARTED[steps], rel=1e-5)
        losses.append(loss)
    # The second time what was trained wins over the checkpoint to start from.
    assert losses[1] < losses[0]


SMALL = """\
import tensorflow as tf


def net(x):
    w = tf.Variable(tf.zeros([3, 1]))
    tf.add_to_collection("kept", w)
    return tf.matmul(x, w)


def model_fn(features, labels, mode):
    y = net(features)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=y)
    loss = tf.reduce_mean((labels - y) ** 2)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors((X, Y)).repeat(9)


config = tf.estimator.RunConfig()
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(data, steps=3)
"""


def test_the_report_says_what_was_kept_and_why() -> None:
    (finding,) = run(SMALL).findings
    assert finding.tier is Tier.FORWARD_KEPT
    assert finding.rule == "TFM102"
    assert "around its whole model_fn" in finding.message


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("    y = net", "    tf.placeholder(tf.int32)\n    y = net", "by a session"),
        ("    y = net", "    tf.contrib.crf.viterbi_decode\n    y = net", "no home"),
        (
            "    y = net",
            "    table = tf.lookup.StaticHashTable(x)\n    y = net",
            "makes a table",
        ),
        (
            "    y = net",
            "    k = tf.keras.layers.Dense(1)\n    y = net",
            "Keras object",
        ),
        ("train_op=train_op", "train_op=train_op, scaffold=S", "`scaffold`"),
        (
            "train_op=train_op",
            "train_op=train_op, scaffold=tf.train.Scaffold(init_fn=F)",
            "`scaffold`",
        ),
        ("train_op=train_op", "train_op=train_op, training_hooks=[H()]", "hook `H()`"),
        ("tf.train.AdamOptimizer", "tf.train.SyncReplicasOptimizer", "a session"),
        ("mode):", "mode, config):\n    print(config)", "reads its `config`"),
    ],
)
def test_what_no_graph_can_hold_keeps_its_estimator(
    old: str, new: str, reason: str
) -> None:
    finding = run(SMALL.replace(old, new)).findings[0]
    assert finding.tier is Tier.COMPAT
    assert reason in (finding.reason or "")


def test_replicas_that_would_assign_keep_their_estimator() -> None:
    # TF 1 refused this; today's variables would drift apart in silence.
    code = SMALL.replace(
        "    return tf.matmul", "    w.assign_add(w)\n    return tf.matmul"
    )
    # On one replica too: what is changed and read in one step has no fixed order.
    finding = run(code).findings[0]
    assert finding.tier is Tier.COMPAT
    assert "in no fixed order" in (finding.reason or "")


def test_showing_hooks_are_reported() -> None:
    hook = (
        'train_op=train_op, training_hooks=[tf.train.LoggingTensorHook({"l": loss}, 9)]'
    )
    findings = run(SMALL.replace("train_op=train_op", hook)).findings
    assert [f.rule for f in findings] == ["TFM102", "TFM141"]
