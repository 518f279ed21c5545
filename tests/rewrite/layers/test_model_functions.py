"""Which functions are taken for model functions, by their arguments or their use."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from tfmigrate.code.tree import Tree, walk
from tfmigrate.project.facts import ParsedModule, ProjectFacts
from tfmigrate.rewrite.layers.model_functions import handed_to_learn, is_model_fn
from tfmigrate.rewrite.layers.together import lifted_together

LEARN = """\
import tensorflow as tf
from tensorflow.contrib import layers, learn


def make(width):
    def model(x, y):
        net = layers.fully_connected(x, width)
        loss = tf.losses.mean_squared_error(y, net)
        return net, loss, layers.optimize_loss(loss, None, 0.1, 'SGD')
    return model


estimator = learn.Estimator(GIVEN, model_dir='model')
"""
OTHER = """\
import tensorflow as tf


def model(x, y):
    return tf.layers.dense(x, 1)
"""


def parsed(folder: Path, **texts: str) -> tuple[ProjectFacts, list[ParsedModule]]:
    paths = [folder / f"{name}.py" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, "utf-8")
    facts = ProjectFacts(tuple(paths))
    return facts, [facts.load(path, path.read_bytes()) for path in paths]


def trees(files: list[ParsedModule]) -> list[Tree]:
    return [Tree(one.module, one.resolver) for one in files]


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


@pytest.mark.parametrize("given", ["make(3)", "model_fn=make(3)"])
def test_what_an_estimator_of_learn_is_handed(given: str, tmp_path: Path) -> None:
    facts, files = parsed(tmp_path, program=LEARN.replace("GIVEN", given))
    (function,) = handed_to_learn(trees(files)).values()
    assert function is not None
    assert function.name.value == "model"
    lifting = lifted_together(files, facts)
    assert "class Model(" in lifting[0].source.text


def test_what_another_file_has(tmp_path: Path) -> None:
    program = LEARN.replace("GIVEN", "model").replace("import tensorflow as tf", "")
    program = "from nets import model\n" + program.replace("model(x", "inner(x")
    facts, files = parsed(tmp_path, program=program, nets=OTHER)
    (function,) = handed_to_learn(trees(files)).values()
    assert function is not None
    assert function in set(walk(files[1].module))
    lifted = lifted_together(files, facts)
    assert "class Model(" in lifted[1].source.text


@pytest.mark.parametrize("given", ["choose(make)", "*options", "make"])
def test_what_cannot_be_told_keeps_its_words(given: str, tmp_path: Path) -> None:
    text = LEARN.replace("GIVEN", given)
    facts, files = parsed(tmp_path, program=text)
    (found,) = lifted_together(files, facts)
    assert found is files[0]
