"""Where a loop keeps the optimizer of TF1, nothing is left of the rounding of Adam."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
# A learning rate of 0.05 and clipped gradients: this program makes the last bit
# of an update large within forty steps.
SCRIPT = "hparams_factory/train.py"


@pytest.mark.timeout(300)
def test_all_losses_and_slots_of_the_loop_are_the_estimators_to_the_last_bit() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tfmigrate", "verify"),
            *(FIXTURES / "legacy" / SCRIPT, FIXTURES / "expected" / SCRIPT),
            *("--steps", "40", "--format", "json"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)
    legacy, loop = verdict["trajectory"]["losses"]
    assert len(legacy) == 40
    assert len(set(legacy)) == 40
    assert loop == legacy
    assert verdict["trajectory"]["largest_weight_difference"] == 0
    slots = next(c for c in verdict["checks"] if c["what"] == "optimizer slots")
    assert slots["first"] == slots["second"] == "12 (m, v)"
    assert slots["difference"] == 0
