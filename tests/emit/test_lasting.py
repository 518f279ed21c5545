"""What an Estimator did not see, and a loop would: later changes of what it was given.

It copied its params when it was made and for each call of the model_fn, and called
the model_fn anew for each training and evaluation. Programs that a loop would train
otherwise keep their Estimator.
"""

from __future__ import annotations

import pytest
from tfmigrate.report.findings import Tier

from .one_module import run

PROGRAM = """\
import tensorflow as tf

SCALE = 1.0
SEEN = []


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], params["units"], activation=tf.nn.relu)
    logits = tf.layers.dense(net, 2) * SCALE
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    return tf.data.Dataset.from_tensors(({"x": X}, Y)).repeat(9)


params = {"units": 4, "rate": 0.1}
params["rate"] = 0.2
estimator = tf.estimator.Estimator(model_fn, params=params)
estimator.train(data, steps=3)
print(estimator.evaluate(data))
params["rate"] = 0.3
"""
MADE = "estimator = tf.estimator.Estimator(model_fn, params=params)\n"
BODY = '    net = tf.layers.dense(features["x"]'


def test_changes_before_and_after_its_life_are_no_matter() -> None:
    (finding,) = run(PROGRAM).findings
    assert finding.tier is Tier.NATIVE, finding.reason


def test_a_copy_of_the_params_is_the_model_fns_own() -> None:
    copied = "    params = dict(params)\n    params['units'] = 8\n" + BODY
    (finding,) = run(PROGRAM.replace(BODY, copied)).findings
    assert "outlasts" not in (finding.reason or finding.message)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (MADE, MADE + "params['rate'] = 5.0\n", "`params` changes after"),
        (MADE, MADE + "params.update(rate=5.0)\n", "`params` changes after"),
        ("print(est", "params['units'] += 1\nprint(est", "`params` changes after"),
        ("print(est", "SCALE = 2.0\nprint(est", "it reads `SCALE`, which changes"),
        (BODY, "    params['rate'] /= 2\n" + BODY, "it changes `params`"),
        (BODY, "    p = params\n    p['rate'] /= 2\n" + BODY, "it changes `p`"),
        (BODY, "    SEEN.append(mode)\n" + BODY, "the forward pass has effects"),
    ],
)
def test_programs_that_would_train_otherwise_stay(
    old: str, new: str, reason: str
) -> None:
    assert old in PROGRAM
    (finding,) = run(PROGRAM.replace(old, new, 1)).findings
    assert finding.tier is Tier.COMPAT
    assert reason in (finding.reason or ""), finding.reason


def test_imports_stand_before_what_needs_them() -> None:
    late = (
        PROGRAM + "\nimport glob\nimport time\n\nprint(glob.glob('*'), time.time())\n"
    )
    text = run(late).module.code
    assert text.index("import time") < text.index("class Model")
