"""Five epochs of the full Fashion-MNIST: as accurate as real TensorFlow 1.15.

Shuffling and initial weights are random here, so only the final accuracy can be
compared. The margin is four standard deviations of what real TF 1.15.5 differs
from itself over seeds (fixtures/oracle/accuracy.json says how it was found).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from runner import run
from tfmigrate.cli import cli
from tfmigrate.datasets import fashion_mnist, make_keras_home
from tfmigrate.errors import UserError

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ACCURACY = json.loads((FIXTURES / "oracle" / "accuracy.json").read_text())
PROGRAM = FIXTURES / "legacy" / "fashion_mnist_mirrored"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("side", ["compat", "rewritten"])
def test_accuracy_of_five_epochs(side: str, replicas: int, tmp_path: Path) -> None:
    try:
        fashion_mnist.find(download=False)
    except UserError:
        pytest.skip("the full Fashion-MNIST is not on this machine")
    folder = Path(shutil.copytree(PROGRAM, tmp_path / "program"))
    if side == "rewritten":
        done = CliRunner().invoke(cli, ["rewrite", str(folder), "--allow-dirty"])
        assert done.exit_code == 0, done.output
    home = make_keras_home(tmp_path / "home", sample=False, noise=False)
    done = run(
        folder / "train.py",
        replicas=replicas,
        shuffle=True,
        env={**home, "MODEL_DIR": str(tmp_path / "model")},
        timeout=3600,
    )
    (recording,) = done.trainings
    figures = recording.evaluate
    accuracy = figures.get("acc", figures.get("accuracy"))
    # Steps prove that the batch means the same: 512 images for each replica.
    real = [run for run in ACCURACY["groups"] if run.endswith(f"-r{replicas}")]
    assert recording.global_step == {1: 586, 2: 293}[replicas]
    expected = sum(ACCURACY["groups"][name]["mean_accuracy"] for name in real)
    assert accuracy == pytest.approx(expected / len(real), abs=ACCURACY["margin"])
