"""What programs of certain shapes read like afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

SHAPES = Path(__file__).with_name("programs") / "shapes"
# Lines that are there, and words that are not.
READS = {
    "network_of_methods": (
        [
            "class Block(tf_keras.layers.Layer):",
            "self.looked_up = looked_up(start=self.start)",
            "self.model = Network(config)",
        ],
        ["__call__", "network = "],
    ),
    "tower_again": (
        [
            "return self.model(features['anchor'], training=training)",
            "near = self.model(features['near'], training=True)",
            "near = self.model(features['near'], training=False)",
        ],
        ["AUTO_REUSE"],
    ),
    "fine_tuned": (
        [
            "self.backbone.trainable = False",
            "self.backbone.first.trainable = False",
            "'backbone/first': self.model.backbone.first,",
        ],
        ["var_list", "trainable_variables()", "those_in", "import re"],
    ),
    "clips_in_next_line": (
        [
            "tf_keras.optimizers.SGD(rate, global_clipnorm=5.0),",
            "for units in hidden\n",
        ],
        ["clip_gradients_by_norm", "optimizer = "],
    ),
    "names_given": (
        [
            'if values["squared"] < 0.1:',
            "share = tf.sigmoid(self.batch_normalization(x, training=False))",
            'Dice(name="second"),',
        ],
        ["SessionRun"],
    ),
    "optimizer_of_rate": (
        ["schedules.ExponentialDecay(params['lr'], 3, 0.8),", "beta_1=0.8,"],
        ["optimizer=lambda lr", "def decay"],
    ),
}


@pytest.mark.parametrize("name", READS)
def test_it_reads_as_one_would_write_it(name: str, tmp_path: Path) -> None:
    path = Path(shutil.copy(SHAPES / f"{name}.py", tmp_path))
    report = run_job([path], Job())
    (result,) = (one for one in report.changed if one.path == path)
    assert result.new is not None
    text = result.new.decode()
    lines, words = READS[name]
    assert [one for one in lines if one not in text] == []
    assert [one for one in words if one in text] == []
