"""Names that one file binds and another reads, where both are rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.rewrite.pipeline import Job, process_file

PARTS = """\
import tensorflow as tf
start = tf.orthogonal_initializer
whole = tf.to_int32
"""


def rewritten(folder: Path, name: str, **files: str) -> str:
    """The new text of one of these files."""
    for stem, text in files.items():
        (folder / f"{stem}.py").write_text(text)
    paths = tuple(folder / f"{stem}.py" for stem in files)
    result = process_file(folder / f"{name}.py", Job(), ProjectFacts(paths))
    assert result.error is None
    return (result.new or result.old).decode()


def test_a_name_of_another_module_is_rewritten_where_it_is_bound(
    tmp_path: Path,
) -> None:
    use = """\
import parts
from parts import start, whole


def two(x):
    return whole(x) + parts.whole(parts.start()) + start()
"""
    assert rewritten(tmp_path, "use", parts=PARTS, use=use) == use
    made = rewritten(tmp_path, "parts", parts=PARTS, use=use)
    assert "start = tf.compat.v1.orthogonal_initializer" in made


def test_a_name_that_another_module_only_imports_is_rewritten_here(
    tmp_path: Path,
) -> None:
    handed = "from tensorflow import to_int32\n"
    use = "from handed import to_int32\nx = to_int32(3.0)\n"
    made = rewritten(tmp_path, "use", handed=handed, use=use)
    assert "tf.compat.v1.to_int32(3.0)" in made


PROGRAM = """\
import tensorflow as tf
import reader


def model_fn(features, labels, mode):
    loss = tf.reduce_sum(tf.square(tf.layers.dense(features, 3)))
    step = tf.train.get_global_step()
    op = tf.train.GradientDescentOptimizer(.1).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)


def data():
    mode = tf.estimator.ModeKeys.TRAIN
    return tf.data.Dataset.from_tensors(reader.read(mode))


tf.estimator.Estimator(model_fn).train(data, steps=3)
"""
READER = """\
import os
import tensorflow as tf
import numpy as np


def read(mode):
    if mode == tf.estimator.ModeKeys.TRAIN:
        return np.ones(3, 'f')
    return np.zeros(3, 'f')
"""


def test_an_import_whose_last_reader_is_rewritten_goes(tmp_path: Path) -> None:
    made = rewritten(tmp_path, "reader", main=PROGRAM, reader=READER)
    assert "mode == 'train'" in made
    assert "tensorflow" not in made
    assert "import os\n" in made, "nobody read it before either: it stays"


@pytest.mark.parametrize(
    "taking", ["from reader import *", "from reader import tf", "x = reader.tf"]
)
def test_an_import_that_others_take_from_the_file_stays(
    tmp_path: Path, taking: str
) -> None:
    main = PROGRAM.replace("import reader\n", f"import reader\n{taking}\n", 1)
    made = rewritten(tmp_path, "reader", main=main, reader=READER)
    assert "import tensorflow as tf\n" in made


@pytest.mark.parametrize(
    "named",
    ["FLAGS = config.FLAGS", "from config import FLAGS", "from config import *"],
)
def test_flags_of_another_file_are_no_lack_of_the_program(
    named: str, tmp_path: Path
) -> None:
    config = """\
import tensorflow as tf
flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_integer('steps', 3, 'How many.')
"""
    main = PROGRAM.replace("import reader\n", f"import reader, config\n{named}\n", 1)
    main = main.replace("steps=3", "steps=FLAGS.steps")
    files = {"main": main, "reader": READER, "config": config}
    made = rewritten(tmp_path, "main", **files)
    assert "Trainer(" in made
    assert "tfmigrate" not in made
    assert "tf.compat.v1.app.flags" in rewritten(tmp_path, "config", **files)
