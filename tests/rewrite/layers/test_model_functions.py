"""Which functions are taken for model functions, by their arguments or their use."""

from __future__ import annotations

import libcst as cst
import pytest
from tfmigrate.code.tree import walk
from tfmigrate.rewrite.layers.model_functions import is_model_fn


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return tf.no_op()", True),
        ("raise NotImplementedError", False),
        ("'''To be said by classes.'''\n    raise NotImplementedError()", False),
        ("if mode:\n        raise ValueError\n    return 3", True),
        ("print(mode)\n    raise ValueError", True),
    ],
)
def test_one_that_only_raises_is_none(body: str, expected: bool) -> None:
    text = f"def model_fn(features, labels, mode):\n    {body}\n"
    found = [n for n in walk(cst.parse_module(text)) if is_model_fn(n)]
    assert bool(found) is expected
