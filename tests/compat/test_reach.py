"""What is told without TensorFlow is what a program meets with it."""

from __future__ import annotations

from typing import Any

import pytest

_CHILD = """
import tfmigrate.compat.v1 as tf
from tfmigrate.compat.surface.contrib_names import known_names
from tfmigrate.compat.surface.reach import advice_about
from tfmigrate.compat.surface.unavailable import Unavailable

wrong, told = [], 0
names = [f"tf.contrib.{p}.{n}" for p, known in known_names().items() for n in known]
names += [f"tf.estimator.{name}" for name in dir(tf.estimator)]
for name in names:
    found = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    gone = isinstance(found, Unavailable)
    said = advice_about(name)
    told += said is not None
    # A package that does not spell its names out is not asked about.
    if said is not None and not gone:
        wrong.append(name)
    if gone and said is None and name.endswith(("Estimator", "Classifier", "Regressor")):
        wrong.append(name)
assert told > 100, told
print(wrong)
"""


def test_what_is_said_to_be_gone_is_gone(python: Any) -> None:
    result = python("-c", _CHILD)
    assert result.stdout.splitlines()[-1:] == ["[]"], result.stdout + result.stderr


@pytest.mark.alone
def test_the_answer_needs_no_tensorflow(python: Any) -> None:
    code = (
        "import sys\n"
        "from tfmigrate.compat.surface.reach import advice_about, opens\n"
        "assert advice_about('tf.estimator.BoostedTreesClassifier')\n"
        "assert advice_about('tf.estimator.LinearClassifier') is None\n"
        "assert opens('tensorflow.contrib.layers.python.layers')\n"
        "assert not opens('tensorflow.python.no_such')\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    result = python("-c", code)
    assert result.returncode == 0, result.stderr
