"""Event files of rewritten programs against those of TF 1.15.5."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .program_texts import written as programs_written

HERE = Path(__file__).resolve().parent
ORACLE = HERE.parents[1] / "fixtures" / "oracle" / "summaries"
NAMES = ("replicas", "scalars")
# Trains the programs from recorded weights, and reads their event files: those of TF
# 1.15.5, each the next of its shape.
CHILD = """
import glob, json, os, sys, tempfile
from pathlib import Path
import numpy as np
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
sys.path.insert(0, sys.argv[1])
import training
begin = training.Trainer._start
def with_weights(self, step):
    for variable in self.task.model.variables if step == 0 else ():
        place = [value.shape == variable.shape for value in values].index(True)
        variable.assign(values.pop(place))
    begin(self, step)
for name, start in json.loads(sys.argv[2]):
    folder = os.environ["MODEL_DIR"] = tempfile.mkdtemp()
    values = list(np.load(start).values())
    training.Trainer._start = with_weights
    program = Path(sys.argv[1], name + ".py")
    exec(compile(program.read_text(), program, "exec"), {"__name__": "__main__"})
    tags = {}
    written = glob.glob(os.path.join(folder, "**", "events*"), recursive=True)
    for path in sorted(written):
        place = os.path.relpath(os.path.dirname(path), folder)
        for event in tf.compat.v1.train.summary_iterator(path):
            for value in event.summary.value:
                noted = tags.setdefault(f"{place} {value.tag}", [])
                tensor = tf.make_ndarray(value.tensor) if value.HasField("tensor") else np.float32(0)
                noted.append([event.step, value.simple_value or tensor.item()])
    program.with_suffix(".json").write_text(json.dumps(tags))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The event files of all programs, as tags with steps and values."""
    folder = tmp_path_factory.mktemp("summaries")
    programs = programs_written(NAMES, folder / "old")
    command = [sys.executable, "-m", "tfmigrate", "rewrite", *map(str, programs)]
    subprocess.run([*command, "--out", str(folder)], capture_output=True, check=False)
    jobs = [(name, str(ORACLE / f"{name}.npz")) for name in NAMES]
    result = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), json.dumps(jobs)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_tags_steps_and_values_are_those_of_tf_1_15(written: Path, name: str) -> None:
    expected = json.loads((ORACLE / f"{name}.json").read_text("utf-8"))
    found = json.loads((written / f"{name}.json").read_text("utf-8"))
    # A graph has each name once; TensorFlow 2 takes the tag as it stands.
    expected = {re.sub(r"_\d+$", "", tag): values for tag, values in expected.items()}
    # The path of an evaluated checkpoint is text, which was not recorded.
    assert set(found) - {"eval checkpoint_path"} == set(expected)
    for tag, values in expected.items():
        if tag.endswith("global_step/sec"):
            assert all(value > 0 for _, value in found[tag])
            continue
        # TF 1 counted from the first step of each call of train, and a Trainer from 0.
        ours, theirs = (
            {s: v for s, v in one if s <= 25} for one in (found[tag], values)
        )
        assert ours.keys() == theirs.keys()
        np.testing.assert_allclose(
            [ours[step] for step in theirs],
            [*theirs.values()],
            rtol=1e-5,
            err_msg=tag,
        )
