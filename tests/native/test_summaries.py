"""Event files of rewritten programs against those of TF 1.15.5."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
ORACLE = HERE.parents[1] / "fixtures" / "oracle" / "summaries"
NAMES = ("replicas", "scalars")
# Trains the programs from recorded weights, and reads their event files.
CHILD = """
import glob, json, os, sys, tempfile
from pathlib import Path
import numpy as np
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
sys.path.insert(0, sys.argv[1])
for name, start in json.loads(sys.argv[2]):
    folder = os.environ["MODEL_DIR"] = tempfile.mkdtemp()
    values = {key.removesuffix(":0"): value for key, value in np.load(start).items()}
    values["global_step"] = np.int64(0)
    names, whole = list(values), [""] * len(values)
    tf.raw_ops.SaveV2(
        prefix=folder + "/model.ckpt-0", tensor_names=names, shape_and_slices=whole,
        tensors=list(values.values()))
    Path(folder, "checkpoint").write_text('model_checkpoint_path: "model.ckpt-0"')
    program = Path(sys.argv[1], name + ".py")
    exec(compile(program.read_text(), program, "exec"), {"__name__": "__main__"})
    tags = {}
    written = glob.glob(os.path.join(folder, "**", "events*"), recursive=True)
    for path in sorted(written):
        place = os.path.relpath(os.path.dirname(path), folder)
        for event in tf.compat.v1.train.summary_iterator(path):
            for value in event.summary.value:
                noted = tags.setdefault(f"{place} {value.tag}", [])
                noted.append([event.step, value.simple_value])
    program.with_suffix(".json").write_text(json.dumps(tags))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The event files of all programs, as tags with steps and values."""
    folder = tmp_path_factory.mktemp("summaries")
    programs = [str(PROGRAMS / f"{name}.py") for name in NAMES]
    command = [sys.executable, "-m", "tfmigrate", "rewrite", *programs]
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
    # The path of an evaluated checkpoint is text, which was not recorded.
    assert set(found) - {"eval checkpoint_path"} == set(expected)
    for tag, values in expected.items():
        if tag.endswith("global_step/sec"):
            assert all(value > 0 for _, value in found[tag])
            continue
        assert [step for step, _ in found[tag]] == [step for step, _ in values]
        np.testing.assert_allclose(
            [value for _, value in found[tag]],
            [value for _, value in values],
            rtol=1e-5,
            err_msg=tag,
        )
