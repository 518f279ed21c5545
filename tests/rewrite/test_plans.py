"""``tfmigrate scan -v``: what programs are made of, and what keeps them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HEAD = "import tensorflow as tf\nfrom tensorflow.contrib import slim\n"
NET = HEAD + (
    "\n\ndef net(x, is_training):\n"
    "    with tf.variable_scope('net'):\n"
    "        x = tf.layers.conv2d(x, 8, 3, use_bias=False)\n"
    "        x = tf.layers.batch_normalization(x, training=is_training)\n"
    "        for size in (3, 4):\n"
    "            x = tf.layers.dense(x, size)\n"
    "        x = tf.layers.dense(x, 2, name='last')\n"
    "        scale = tf.get_variable('scale', [2])\n"
    "        return slim.fully_connected(x * scale, 5, scope='out')\n"
)
PROGRAM = (
    "from net import net\n"
    + HEAD
    + (
        "\n\ndef model_fn(features, labels, mode):\n"
        "    out = net(features, mode == 'train')\n"
        "    loss = tf.losses.mean_squared_error(labels, out)\n"
        "    metrics = {'error': tf.metrics.mean_absolute_error(labels, out)}\n"
        "    step = tf.train.get_global_step()\n"
        "    train_op = tf.train.AdamOptimizer().minimize(loss, step)\n"
        "    return tf.estimator.EstimatorSpec(\n"
        "        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)\n\n\n"
        "hook = tf.train.StopAtStepHook(3)\n"
        "estimator = tf.estimator.Estimator(model_fn, 'there')\n"
        "estimator.train(lambda: None, hooks=[hook])\n"
    )
)
PLAN = """\
  model_fn  model_fn (program.py:6)
    layer   net/conv2d: Conv2D(filters=8, kernel_size=3, use_bias=False), with kernel
    layer   net/batch_normalization: BatchNormalization(), with gamma, moving_mean, \
moving_variance, beta
    layer   net/dense: Dense(), with kernel, bias, in a loop
    layer   net/last: Dense(units=2), with kernel, bias
    layer   net/scale: a variable
    layer   net/out: contrib.slim.fully_connected(5)
    loss    tf.losses.mean_squared_error (program.py:8)
    optimizer tf.train.AdamOptimizer (program.py:11)
    metric  tf.metrics.mean_absolute_error (program.py:9)
  estimator tf.estimator.Estimator (program.py:17)
  hook      tf.train.StopAtStepHook (program.py:16)
  call      estimator.train (program.py:18)
"""


def scanned(folder: Path, program: str, *options: str) -> str:
    folder.joinpath("program.py").write_text(program, "utf-8")
    folder.joinpath("net.py").write_text(NET, "utf-8")
    call = [sys.executable, "-m", "tfmigrate", "scan", *options, str(folder)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 2), done.stderr
    return done.stdout + done.stderr


def test_the_plan_of_a_program(tmp_path: Path) -> None:
    plain = scanned(tmp_path, PROGRAM)
    found = scanned(tmp_path, PROGRAM, "-v")
    assert found.endswith(plain)
    assert f"{tmp_path / 'program.py'}: " in found
    assert PLAN in found


def test_what_keeps_it(tmp_path: Path) -> None:
    out = "labels.net(net(features, 1))\n    out = [lambda: 0, missing][1](out)"
    program = PROGRAM.replace("net(features, mode == 'train')", out)
    found = scanned(tmp_path, program, "-v")
    assert "program.py: kept\n" in found
    because = next(line for line in found.splitlines() if line.startswith("  because"))
    why = (
        "`[lambda: 0, missing][1]` may make variables: it is an entry of "
        "`[lambda: 0, missing]`, and not seen what that holds (program.py:8)"
    )
    assert why in because
    assert "  change    write the dict out where it is defined" in found


def test_nothing_to_show_and_no_other_form(tmp_path: Path) -> None:
    assert "model_fn" not in scanned(tmp_path, HEAD, "-v").partition("finding")[0]
    assert "no plans" in scanned(tmp_path, PROGRAM, "-v", "--format", "json")
