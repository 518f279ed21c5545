"""Native programs find their training module however they are started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.report.model import FileStatus, Report
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

PROGRAM = '''\
import os

import tensorflow as tf


def model_fn(features, labels, mode, params):
    """One layer."""
    net = tf.layers.dense(features['x'], params['units'])
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def build(kind):
    """An Estimator of one layer."""
    return tf.estimator.Estimator(model_fn, params={'units': len(kind)})


def input_fn():
    """A batch, again and again."""
    data = tf.data.Dataset.from_tensors(({'x': [[1.]]}, [[1.]])).repeat(10)
    return data


if __name__ == '__main__':
    build(os.environ['KIND']).train(input_fn, steps=3)
    print('trained')
'''
BATCHES = '''\
def last(data, size):
    """What is handed here are data of TensorFlow, which the file never names."""
    data = data.take(size)
    iterator = data.make_one_shot_iterator()
    return iterator.get_next()
'''


def rewritten(folder: Path, **files: str) -> Report:
    """What becomes of files in a folder, written in place."""
    paths = []
    for name, text in files.items():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(text, "utf-8")
    report = run_job(paths, Job())
    for result in report.changed:
        assert result.new is not None
        result.path.write_bytes(result.new)
    return report


def started(folder: Path, *command: str) -> str:
    """What a command prints, in which importing tfmigrate would fail."""
    code = "import sys; sys.modules['tfmigrate'] = None; "
    first, *rest = command
    if first == "-m":
        code += f"import runpy; runpy.run_module({rest[0]!r}, run_name='__main__')"
    else:
        where = str(folder.joinpath(first).parent)
        code += f"sys.path[0] = {where!r}; "
        code += f"import runpy; runpy.run_path({first!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KIND": "a", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "command", [["-m", "trainer.task"], ["trainer/task.py"]], ids=["module", "script"]
)
def test_a_program_in_a_package_that_names_none_of_it(
    tmp_path: Path, command: list[str]
) -> None:
    """Nothing in such a file tells which of the two its people do."""
    folder = tmp_path / "trainer"
    folder.mkdir()
    (folder / "__init__.py").write_text("", "utf-8")
    rewritten(folder, task=PROGRAM)
    assert "from training import " in (folder / "task.py").read_text("utf-8")
    assert "trained" in started(tmp_path, *command)


def test_a_script_needs_no_path(tmp_path: Path) -> None:
    rewritten(tmp_path, task=PROGRAM)
    assert "sys.path" not in (tmp_path / "task.py").read_text("utf-8")


def test_data_that_a_file_is_handed(tmp_path: Path) -> None:
    """Methods that data have no more are seen where no word of TensorFlow is."""
    program = PROGRAM.replace("import os\n", "import os\n\nimport batches\n").replace(
        "return data", "return batches.last(data, 10)"
    )
    report = rewritten(tmp_path, task=program, batches=BATCHES)
    made = {one.path.name: one.status for one in report.results}
    assert made["batches.py"] is FileStatus.CHANGED
    assert "trained" in started(tmp_path, "task.py")
