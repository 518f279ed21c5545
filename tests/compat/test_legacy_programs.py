"""Unedited legacy programs train under compat as on the real TensorFlow 1.x.

Each program runs once, bounded, from the recorded initial weights; what the
real thing did is in fixtures/oracle/PROGRAM, the tolerance in noise.json.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from loading import load
from tfmigrate.datasets import make_keras_home
from tfmigrate.verify.recording import load_recording

programs = load(Path(__file__).with_name("programs.py"), "legacy_programs")

# Each way of the engine with one replica, of programs that also have more.
WITH_ONE = {"fashion_mnist_mirrored", "model_fn_dense"}
OTHERS = {name for name, replicas in programs.CASES if replicas > 1} - WITH_ONE


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_keras_home(tmp_path_factory.mktemp("home"), sample=True, noise=True)


@pytest.mark.parametrize(
    ("name", "replicas"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (case[0] in OTHERS))
        if case[1] == 1
        else case
        for case in programs.CASES
    ],
)
def test_trains_as_recorded(
    name: str, replicas: int, home: dict[str, str], tmp_path: Path
) -> None:
    program = programs.PROGRAMS[name]
    recorded = programs.reference(name, replicas)
    recording = programs.run(name, replicas, tmp_path, home)
    ours, theirs = programs.recording(recording), programs.recording(recorded)

    assert ours["global_step"] == theirs["global_step"]
    loss_tolerance, weight_tolerance = programs.tolerances(name)
    assert ours["losses"] == pytest.approx(
        theirs["losses"], rel=loss_tolerance, abs=programs.ROUNDING[name]
    )
    tight = program.steps
    if name in programs.CONVOLUTIONAL:
        tight = programs.CONVOLUTIONAL_TIGHT
    assert ours["losses"][:tight] == pytest.approx(
        theirs["losses"][:tight], rel=1e-5, abs=programs.ROUNDING[name]
    )
    names = [programs.KERAS_CELL.sub("/", each) for each in ours["weights"]]
    assert names == theirs["weights"]
    assert ours["hook_calls"] == theirs["hook_calls"]

    # The accuracy is called `acc` by 1.15 and `accuracy` by 1.12.
    alias = {"acc": "accuracy"}
    assert {alias.get(key, key) for key in ours["evaluate"]} == {
        alias.get(key, key) for key in theirs["evaluate"]
    }
    assert ours["evaluate"]["loss"] == pytest.approx(
        theirs["evaluate"]["loss"], rel=max(1e-3, loss_tolerance)
    )
    if not program.generated:
        final = load_recording(recording).final_weights
        expected = load_recording(recorded).final_weights
        for (label, value), (_, wanted) in zip(final, expected, strict=True):
            # Adagrad's sums of squares, which some models list among their
            # weights, reach thousands; rounding grows with them.
            scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
            np.testing.assert_allclose(
                value, wanted, rtol=0, atol=weight_tolerance * scale, err_msg=label
            )


def test_the_page_of_programs_has_every_case_and_its_recorded_figures() -> None:
    """What compat gave is in the page as it was measured on one machine."""
    written = programs.written()
    assert set(programs.PROGRAMS) == set(programs.NOISE)
    assert set(written) == set(programs.CASES)
    for name, replicas in programs.CASES:
        cells = [cell.strip() for cell in written[name, replicas].split("|")]
        row = programs.row(name, replicas, None)
        found = [*cells[3:6], *cells[8:10]]
        wanted = [row.real, str(row.steps), row.last_loss[0]]
        assert found == [*wanted, row.metric, row.measured[0]], (
            f"docs/programs.md: run `python tests/compat/programs.py --write {name}`"
        )
