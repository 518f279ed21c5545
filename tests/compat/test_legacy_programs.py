"""Unedited legacy programs train under compat as on the real TensorFlow 1.x.

Each program runs once, bounded, from the recorded initial weights; what the
real thing did is in fixtures/oracle/PROGRAM, the tolerance in noise.json.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tfmigrate.datasets import make_keras_home
from tfmigrate.verify.recording import load_recording


def _programs() -> ModuleType:
    path = Path(__file__).with_name("programs.py")
    spec = importlib.util.spec_from_file_location("legacy_programs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


programs = _programs()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("home")
    with programs.Server(make_keras_home(folder, sample=True, noise=True)) as started:
        yield started


@pytest.mark.parametrize(("name", "replicas"), programs.CASES)
def test_trains_as_recorded(
    name: str, replicas: int, server: Any, tmp_path: Path
) -> None:
    program = programs.PROGRAMS[name]
    recorded = programs.reference(name, replicas)
    recording = server.run(name, replicas, tmp_path)
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
