"""Names of Tasks."""

from __future__ import annotations

import libcst as cst
import pytest
from tfmigrate.code.tree import Tree
from tfmigrate.names.resolver import Resolver
from tfmigrate.rewrite.native.names import task_name


@pytest.mark.parametrize(
    ("function", "stem", "name"),
    [
        ("digits_model_fn", "train", "DigitsTask"),
        ("model_fn", "03_pets_train", "PetsTask"),
        ("model_fn", "7 模型", "ModelTask"),
        ("cnn_2d_fn", "x", "CNN2DTask"),
    ],
)
def test_a_task_is_named_after_what_is_learnt(
    function: str, stem: str, name: str
) -> None:
    module = cst.parse_module(f"def {function}(features, labels, mode):\n    pass\n")
    tree = Tree(module, Resolver(module))
    (defined,) = module.body
    assert isinstance(defined, cst.FunctionDef)
    found = task_name(tree, defined, stem, set())
    assert found.isidentifier()
    assert found == name
