"""Programs that mean TF 2 by `tf` and TF 1 by a name of its own, under `tfmigrate run`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tfmigrate.launch.generation import generation_of

# Programs in the shape of TensorFlow's migration guides, and what they print on 2.15.1.
PROGRAMS = Path(__file__).parents[2] / "fixtures" / "oracle" / "moving"
NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.mark.parametrize("name", ["estimators", "layers"])
def test_prints_what_tf_2_15_prints(tmp_path: Path, name: str, tfmigrate: Any) -> None:
    done = tfmigrate("run", PROGRAMS / f"{name}.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    recorded = (PROGRAMS / f"{name}.txt").read_text()
    assert NUMBER.sub("#", done.stdout) == NUMBER.sub("#", recorded)
    found = [float(number) for number in NUMBER.findall(done.stdout)]
    expected = [float(number) for number in NUMBER.findall(recorded)]
    assert found == pytest.approx(expected, rel=1e-3, abs=2e-4)


PLAIN = "import tensorflow as tf\n"
BESIDE = PLAIN + "import tensorflow.compat.v1 as tf1\n"


@pytest.mark.parametrize(
    ("text", "generation"),
    [
        (PLAIN + "tf.estimator.Estimator(None)\n", 1),
        (PLAIN + "tf.compat.v1.Session()\n", 1),
        (PLAIN + "tf.enable_eager_execution()\nprint(tf.constant(1).numpy())\n", 1),
        (BESIDE + "tf1.placeholder(tf.float32)\ntf1.Session()\n", 2),
        (BESIDE + "tf.placeholder(tf.float32)\n", 1),
        (PLAIN + "tf1 = tf.compat.v1\ntf1.Session()\n", 2),
        (PLAIN + "from tensorflow.compat import v1\nv1.layers.dense\n", 2),
        ("import tensorflow.compat.v1 as tf\ntf.estimator.RunConfig()\n", 1),
        (PLAIN + "tf.keras.layers.DenseFeatures([])\n", 1),
        (PLAIN + "print(tf.keras.layers.DenseFeatures([])({}).numpy())\n", 2),
        (PLAIN + "tf.compat.v1.keras.utils.track_tf1_style_variables(f)\n", 2),
        (
            PLAIN + "o = tf.keras.optimizers\n"
            "tf.estimator.LinearRegressor([], optimizer=lambda: o.Ftrl(0.1))\n",
            2,
        ),
        (PLAIN + "import network\nnetwork.build()\n", 2),
        (PLAIN + "import network\ntf.contrib.layers.flatten\n", 1),
    ],
)
def test_which_tensorflow_a_program_was_written_for(
    tmp_path: Path, text: str, generation: int
) -> None:
    (tmp_path / "network.py").write_text(f"{BESIDE}def build(): return tf1.layers\n")
    program = tmp_path / "program.py"
    program.write_text(text)
    assert generation_of(program) == generation
