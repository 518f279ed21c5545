"""Which uses of canned Estimators become functions of the file, and which stay."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tfmigrate.options import RewriteOptions
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


def rewritten(tmp_path: Path, made: str) -> tuple[str, str, str]:
    """Tier, text and what is said of a program."""
    path = tmp_path / "train.py"
    path.write_text(_PROGRAM % made)
    report = run_here([path], Job(options=RewriteOptions(style="module")))
    (result,) = (one for one in report.results if one.path == path)
    assert result.program is not None
    assert result.new is not None
    said = " ".join(f.message + (f.reason or "") for f in result.findings)
    return result.program.tier.value, result.new.decode(), said


STAYING = {
    "partitioner": (
        "estimator = tf.estimator.LinearClassifier(\n"
        "    columns, partitioner=tf.fixed_size_partitioner(2))",
        "`partitioner=`",
    ),
    "derived": (
        "class Mine(tf.estimator.DNNClassifier):\n    pass\n\n\n"
        "estimator = Mine([4], columns)",
        "belongs to a program",
    ),
    "asked for": (
        "estimator = tf.estimator.DNNClassifier([4], columns)\n"
        "assert isinstance(estimator, tf.estimator.DNNClassifier)",
        "what is an instance of",
    ),
    "no optimizer": (
        "estimator = tf.estimator.LinearClassifier(columns, optimizer=None)",
        "without an optimizer",
    ),
    "imported": (
        "from tensorflow.estimator import DNNClassifier\n"
        "estimator = DNNClassifier([4], columns)",
        "imported by itself",
    ),
    "baseline": (
        "estimator = tf.estimator.BaselineClassifier()",
        "brings a model of its own",
    ),
}


@pytest.mark.parametrize("name", STAYING)
def test_stays(name: str, tmp_path: Path) -> None:
    made, reason = STAYING[name]
    tier, _, said = rewritten(tmp_path, made)
    assert tier == "T2"
    assert reason in said


def test_is_no_more_than_what_is_asked_for(tmp_path: Path) -> None:
    made = "estimator = tf.estimator.DNNClassifier([4], columns)"
    tier, text, _ = rewritten(tmp_path, made)
    assert tier == "T1"
    assert "estimator = dnn_classifier([4], columns)" in text
    assert "def dnn_classifier(hidden_units, feature_columns):" in text
    for absent in ("dropout", "batch", "n_classes", "LinearModel", "make_optimizer"):
        assert absent not in text


def test_names_of_the_file_are_kept(tmp_path: Path) -> None:
    made = (
        "class DeepModel:\n    pass\n\n\n"
        "def dnn_classifier():\n    return DeepModel()\n\n\n"
        "estimator = tf.estimator.DNNClassifier([4], columns)"
    )
    tier, text, _ = rewritten(tmp_path, made)
    assert tier == "T1"
    assert "estimator = dnn_classifier_2([4], columns)" in text
    assert "class DeepModel_2(" in text


def test_a_class_that_is_handed_about_has_all_its_parameters(tmp_path: Path) -> None:
    made = (
        "kinds = {'deep': tf.estimator.DNNRegressor}\n"
        "settings = dict(feature_columns=columns, hidden_units=[4])\n"
        "estimator = kinds['deep'](dropout=0.1, **settings)"
    )
    tier, text, _ = rewritten(tmp_path, made)
    assert tier == "T1"
    assert "kinds = {'deep': dnn_regressor}" in text
    for name in ("label_dimension=1", "dropout=None", "warm_start_from=None"):
        assert name in text


def test_how_many_classes_may_be_known_later(tmp_path: Path) -> None:
    made = (
        "import sys\n\n"
        "estimator = tf.estimator.LinearClassifier(columns, n_classes=len(sys.argv))"
    )
    tier, text, _ = rewritten(tmp_path, made)
    assert tier == "T1"
    assert "if n_classes == 2:" in text
