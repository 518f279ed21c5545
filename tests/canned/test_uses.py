"""Canned Estimators come along with Keras layers, however a program uses them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tfmigrate.options import RewriteOptions
from tfmigrate.report.model import Report
from tfmigrate.rewriting.pipeline import Job

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "around"))

from here import run_here

_PROGRAM = """\
import tensorflow as tf

columns = [tf.feature_column.numeric_column("x")]


def data():
    return tf.data.Dataset.from_tensors(({"x": [1.0]}, [0])).repeat(9)


%s
estimator.train(data, steps=3)
"""
_PLAIN = "estimator = tf.estimator.DNNClassifier([4], columns)"


def report_of(tmp_path: Path, made: str, **options: object) -> Report:
    """What is said of a program."""
    path = tmp_path / "train.py"
    path.write_text(_PROGRAM % made)
    return run_here([path], Job(options=RewriteOptions(**options)))


def tier_and_text(report: Report, name: str = "train") -> tuple[str, str]:
    """The tier of a program, and its text."""
    (result,) = (one for one in report.results if one.path.stem == name)
    assert result.program is not None
    return result.program.tier.value, (result.new or b"").decode()


USES = {
    "in plain sight": _PLAIN,
    "partitioner": (
        "estimator = tf.estimator.LinearClassifier(\n"
        "    columns, partitioner=tf.fixed_size_partitioner(2))"
    ),
    "derived": (
        "class Mine(tf.estimator.DNNClassifier):\n    pass\n\n\n"
        "estimator = Mine([4], columns)"
    ),
    "asked for": (
        f"{_PLAIN}\nassert isinstance(estimator, tf.estimator.DNNClassifier)"
    ),
    "no optimizer": "estimator = tf.estimator.LinearClassifier(columns, optimizer=None)",
    "imported": (
        "from tensorflow.estimator import DNNClassifier\n"
        "estimator = DNNClassifier([4], columns)"
    ),
    "baseline": "estimator = tf.estimator.BaselineClassifier()",
    "handed about": (
        "kinds = {'deep': tf.estimator.DNNRegressor}\n"
        "settings = dict(feature_columns=columns, hidden_units=[4])\n"
        "estimator = kinds['deep'](dropout=0.1, **settings)"
    ),
    "a number that is seen later": (
        "import sys\n\n"
        "estimator = tf.estimator.LinearClassifier(columns, n_classes=len(sys.argv))"
    ),
}


@pytest.mark.parametrize("name", USES)
def test_is_made_of_layers(name: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, USES[name])
    tier, text = tier_and_text(report)
    assert tier == "T1"
    assert "tf.estimator" not in text
    # Nothing but names and imports change.
    assert text.count("\n") <= (_PROGRAM % USES[name]).count("\n") + 2


def test_of_tensorflow_2_stays_as_it_is(tmp_path: Path) -> None:
    made = _PLAIN.replace(")", ", optimizer=tf.keras.optimizers.Adam(0.1))")
    assert tier_and_text(report_of(tmp_path, made))[0] == "T2"


def test_a_class_stands_once_for_all_files(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(_PROGRAM % _PLAIN)
    report = run_here(sorted(tmp_path.glob("*.py")), Job(options=RewriteOptions()))
    for name in ("first", "second"):
        tier, text = tier_and_text(report, name)
        assert tier == "T1"
        assert "class " not in text
    every = b"".join(one.new or b"" for one in report.results).decode()
    assert len(re.findall(r"^class DeepModel\(ScopedModel\)", every, re.M)) == 1
    assert "class LinearModel" not in every


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"style": "inline"}, "class on the loop module; use `--style auto`"),
        (
            {"keras": "keras3"},
            "`--keras keras3` is for loops that are written in place",
        ),
        ({"mixed_precision": True}, "`--mixed-precision` is for loops"),
        ({"loop": "function"}, "`--loop function` is for loops"),
    ],
)
def test_says_what_is_for_loops_in_place(
    options: dict[str, object], reason: str, tmp_path: Path
) -> None:
    report = report_of(tmp_path, _PLAIN, **options)
    assert tier_and_text(report)[0] == "T3"
    (result,) = report.results
    assert any(reason in (one.reason or "") for one in result.findings)
