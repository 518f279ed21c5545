"""Estimators of tf.contrib.learn: their calls, and what their model functions become."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from rewritten import rewritten
from tfmigrate.rewrite.native.code import Refused

from .test_words import body, rework

MADE = "learn = tf.contrib.learn\ne = learn.Estimator(Net, 'out', config=c)\n"
ROWS = {
    "arrays to train on": (
        "e.fit(x, y, batch_size=4, steps=9)\ne.fit(x, y).fit(x=x, y=None, max_steps=2)",
        "e.train(arrays_input_fn(x, y, batch_size=4, shuffle=True), steps=9)\n"
        "e.train(arrays_input_fn(x, y, shuffle=True)).train(\n"
        "    arrays_input_fn(x, shuffle=True), max_steps=2)",
    ),
    "monitors are hooks": (
        "e.fit(input_fn=f, steps=None, monitors=[m])\n"
        "e.fit(None, None, f, 9, monitors=m)",
        "e.train(input_fn=f, hooks=[m])\ne.train(f, steps=9, hooks=m)",
    ),
    "evaluations": (
        "e.evaluate(x, y, batch_size=2, name='a')\n"
        "e.evaluate(input_fn=f, steps=1, log_progress=False)",
        "e.evaluate(arrays_input_fn(x, y, batch_size=2), name='a')\n"
        "e.evaluate(input_fn=f, steps=1)",
    ),
    "predictions": (
        "e.predict(x, as_iterable=True)\ne.predict(x=x, as_iterable=False)\n"
        "e.predict(x, outputs=['a'])",
        "e.predict(arrays_input_fn(x))\nstacked(e.predict(arrays_input_fn(x)))\n"
        "e.predict(arrays_input_fn(x), predict_keys=['a'])",
    ),
    "predictions of an input function end with its queues": (
        "f = tf.estimator.inputs.numpy_input_fn(x, shuffle=False)\n"
        "e.predict(input_fn=f)\ne.predict(input_fn=f, as_iterable=False)\n"
        "e.predict(input_fn=lambda: g(1))",
        "f = numpy_input_fn(x, shuffle=False)\n"
        "e.predict(input_fn=f)\nstacked(e.predict(input_fn=first_batch(f)))\n"
        "e.predict(input_fn=first_batch(lambda: g(1)))",
    ),
    "the calls of scikit-learn": (
        "s = learn.SKCompat(e)\ns.fit(x, y, steps=1)\nprint(s.score(x, y)['loss'])\n"
        "print(s.predict(x))",
        "s = e\ns.train(arrays_input_fn(x, y, batch_size=128, shuffle=True), steps=1)\n"
        "print(s.evaluate(arrays_input_fn(x, y, batch_size=128))['loss'])\n"
        "print(stacked(s.predict(arrays_input_fn(x, batch_size=128))))",
    ),
    "whatever hands an Estimator about": (
        """
        from tables import Table


        class Held:
            def __init__(self):
                self.inner = None

            def start(self):
                self.inner = made()

            def go(self, other):
                self.inner.fit(x, y)
                other.evaluate(x, y)
                Table().fit(x, y)


        def made():
            return learn.Estimator(Net)


        Held().go(made())
        """,
        """
        class Held:
            def __init__(self):
                self.inner = None

            def start(self):
                self.inner = made()

            def go(self, other):
                self.inner.train(arrays_input_fn(x, y, shuffle=True))
                other.evaluate(arrays_input_fn(x, y))
                Table().fit(x, y)


        def made():
            return Trainer(Net)


        Held().go(made())
        """,
    ),
}


@pytest.mark.parametrize(("before", "after"), ROWS.values(), ids=ROWS)
def test_rows(before: str, after: str) -> None:
    made = "e = Trainer(Net, 'out', config=c)\n"
    assert _lines(body(MADE + dedent(before))) == _lines(made + dedent(after))


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


REFUSALS = {
    "an object that is not seen to be made": (
        "def go(one):\n    one.fit(x, y)\n",
        "`one.fit` (line 8) is called of what is not seen to be made",
    ),
    "objects of two kinds": (
        "e = sklearn.svm.SVC()\ne.fit(x, y)\n",
        "`e.fit` (line 8) is called of several kinds of objects",
    ),
    "arguments behind stars": (
        "e.fit(x, y, **more)\n",
        "(line 7) is called of several",
    ),
    "an array or its elements": (
        "e.predict(x, as_iterable=many)\n",
        "is told by a value whether to give all at once",
    ),
    "a function that feeds": (
        "e.evaluate(input_fn=f, feed_fn=g)\n",
        "feeds placeholders by `feed_fn`: give it an input function",
    ),
    "a function that makes features": (
        "a = learn.Estimator(Net, feature_engineering_fn=f)\n",
        "`feature_engineering_fn` (line 7) changes what the model takes",
    ),
    "metrics of an evaluation": (
        "m = {'a': learn.MetricSpec(f)}\n",
        "`tf.contrib.learn.MetricSpec` (line 7) is of tf.contrib.learn",
    ),
    "an evaluation by metrics that it is given": (
        "e.evaluate(x, y, metrics=found)\n",
        "`e.evaluate` (line 7) measures by `metrics`: give them as `eval_metric_ops`",
    ),
    "an Experiment that is measured": (
        "a = learn.Experiment(e, f, g, eval_metrics=found)\n",
        "an Experiment (line 7) with `eval_metrics` has no native form",
    ),
    "predictions in batches": (
        "e.predict(x, iterate_batches=True)\n",
        "`e.predict` (line 7) gives batches by `iterate_batches`",
    ),
    "one output of a canned Estimator": (
        "e.predict_proba(x)\n",
        "`e.predict_proba` (line 7) has no Trainer: call `predict` with `outputs`",
    ),
    "one of what is not seen to be made": (
        "def go(one):\n    one.predict_classes(x)\n",
        "`one.predict_classes` (line 8) has no Trainer",
    ),
    "a step of its own": (
        "e.partial_fit(x, y)\n",
        "`e.partial_fit` (line 7) has no Trainer: call `fit` with `steps=1`",
    ),
    "what no Trainer has": (
        "e.export('out')\n",
        "`e.export` (line 7) has no Trainer: call `export_savedmodel`",
    ),
    "another monitor": (
        "m = tf.contrib.learn.monitors.PrintTensor(['a'])\n",
        "is a monitor: write what it does as a hook",
    ),
    "a monitor that evaluates": (
        "m = learn.monitors.ValidationMonitor(x, y)\n",
        "is a monitor: write what it does as a hook",
    ),
}


@pytest.mark.parametrize(("code", "why"), REFUSALS.values(), ids=REFUSALS)
def test_what_keeps_its_program(code: str, why: str) -> None:
    with pytest.raises(Refused) as refused:
        rework(f"import tensorflow as tf\nimport sklearn\n\n{MADE}\n{code}")
    assert why in f"{refused.value}"


PROGRAM = """\
import tensorflow as tf

learn = tf.contrib.learn


def net(x, {labels}):
    {labels} = tf.cast({labels}, tf.float32)
    logits = tf.contrib.layers.fully_connected(x, 1, None)
    loss = tf.losses.mean_squared_error({labels}, logits, scope='x')
    train_op = tf.contrib.layers.optimize_loss(
        loss, tf.train.get_global_step(), 0.1, 'SGD')
    return logits, loss, train_op
{more}

e = learn.Estimator(net)
e.fit(input_fn=data, steps=3)
"""


def test_a_function_of_any_names_that_returns_three_values(tmp_path: Path) -> None:
    text = rewritten(tmp_path, PROGRAM.format(labels="y", more=""))
    assert "def loss(self, features, labels, logits):\n" in text
    assert "labels = tf.cast(labels, tf.float32)\n" in text
    assert "def predictions(self, features, logits):\n        return logits\n" in text
    assert "e = Trainer(ModelTask)\ne.train(input_fn=data, steps=3)\n" in text


MODEL = """\
    net = tf.contrib.layers.fully_connected(one, 1, None)
    loss = tf.losses.mean_squared_error(two, net)
    train_op = tf.contrib.layers.optimize_loss(
        loss, tf.train.get_global_step(), 0.1, 'SGD')
    return net, loss, train_op
"""
INDENTED = MODEL.replace("    ", "        ", 1).replace("\n    ", "\n        ")
WAYS = {
    "what a function makes": (
        f"def make():\n    def inner(one, two):\n{INDENTED}\n    return inner\n\n\n"
        "e = tf.contrib.learn.Estimator(make())\n",
        "e = Trainer(make())\n",
    ),
    "an argument of a function": (
        f"def inner(one, two):\n{MODEL}\n\ndef go(model_fn, **more):\n"
        "    e = tf.contrib.learn.Estimator(model_fn, **more)\n    e.fit(x, y)\n\n\n"
        "go(inner, model_dir='out')\n",
        "    e.train(arrays_input_fn(x, y, shuffle=True))\n\n\ngo(InnerTask, model_dir=",
    ),
    "a method": (
        f"class Holder:\n    def inner(self, one, two):\n{INDENTED}\n"
        "    def go(self):\n        e = tf.contrib.learn.Estimator(self.inner)\n"
        "        e.fit(x, y)\n",
        "        e = Trainer(self.inner)\n",
    ),
    "a class of Estimators": (
        f"def inner(one, two):\n{MODEL}\n\nclass Own(tf.contrib.learn.Estimator):\n"
        "    def __init__(self):\n        super().__init__(inner)\n\n"
        "    def go(self):\n        self.fit(x, y)\n",
        "        self.train(arrays_input_fn(x, y, shuffle=True))\n",
    ),
    "parts of exports, where nothing is exported": (
        "def inner(one, two, mode):\n"
        + MODEL.replace(
            "return net, loss, train_op",
            "return tf.contrib.learn.ModelFnOps(\n        mode, net, loss, train_op,\n"
            "        output_alternatives={'a': (1, {'b': net})})",
        )
        + "\n\ne = tf.contrib.learn.Estimator(inner)\n",
        "e = Trainer(InnerTask)\n",
    ),
}


@pytest.mark.parametrize(("code", "line"), WAYS.values(), ids=WAYS)
def test_however_an_estimator_gets_its_function(
    tmp_path: Path, code: str, line: str
) -> None:
    text = rewritten(tmp_path, f"import tensorflow as tf\n\n\n{code}")
    assert "Task(Task):\n" in text, text
    assert line in text


def test_a_function_that_is_not_seen_keeps_the_program(tmp_path: Path) -> None:
    code = PROGRAM.format(labels="y", more="").replace(
        "(net)", "(lambda x, y: net(x, y))"
    )
    text = rewritten(tmp_path, code).replace("\n#   ", " ")
    assert "is not seen: give one that is defined by its name" in text


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("logits,", "logits, labels,"), "gives `labels` another meaning"),
        (("logits = tf", "mode = 1\n    logits = tf"), "has a `mode` of its own"),
    ],
)
def test_names_that_mean_something_else(
    tmp_path: Path, change: tuple[str, str], why: str
) -> None:
    text = PROGRAM.format(labels="y", more="").replace(*change)
    text = text.replace("    logits =", "    labels = y\n    logits =", why[0] == "g")
    assert why in rewritten(tmp_path, text).replace("\n#   ", " ")
