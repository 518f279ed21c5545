"""Whole programs train as they did: from the same weights, on compat and as rewritten."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import runner
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

from .program_texts import program_text

# The largest share by which the loss of a step may differ; rounding grows in eight.
TOLERANCES = {
    # Two updates in one tf.group: TF 1 leaves it to chance which sees the other's.
    "adversaries": 5e-3,
    "both_directions": 5e-6,
    "branch_net": 1e-5,
    "built_layers": 5e-6,
    "cells_of_function": 5e-6,
    "computed_metrics": 2e-5,
    "filters_in_loops": 2e-5,
    "keras_among": 5e-6,
    "keras_layers": 5e-6,
    "kept_in_self": 5e-6,
    "keras_updates": 2e-5,
    "late_weights": 1e-4,
    "learn_both": 5e-6,
    "learn_deep": 5e-6,
    "contrib_layers": 5e-6,
    "dissolved": 5e-6,
    "experts_by_task": 1e-5,
    "gru_lengths": 5e-6,
    "model_by_name": 5e-6,
    "own_estimator": 5e-6,
    "scaled_loss": 5e-6,
    "shared_tables": 1e-5,
    "sizes_of_input": 5e-6,
    "stacked_cells": 5e-6,
    "tagged_chains": 5e-6,
    "towers_by_name": 1e-6,
    "towers_of_tables": 5e-6,
    "two_optimizers": 1e-5,
    "wrapped_cells": 5e-6,
}


# One of each kind; the rest is slow.
FEW = ("branch_net", "built_layers", "dissolved", "keras_layers", "shared_tables")


@pytest.mark.parametrize(
    "name",
    [
        one if one in FEW else pytest.param(one, marks=pytest.mark.slow)
        for one in TOLERANCES
    ],
)
def test_the_losses_are_the_same(name: str, tmp_path: Path) -> None:
    before, after = (tmp_path / f"{name}_{side}.py" for side in ("before", "after"))
    for side in (before, after):
        side.write_text(program_text(name), "utf-8")
    report = run_job([after], Job())
    (program,) = (program for _, program in report.programs)
    assert program.outcome is ProgramOutcome.NATIVE, program.reason
    for result in report.changed:
        assert result.new is not None
        result.path.write_bytes(result.new)
    old = runner.run(before, env={"MODEL_DIR": str(tmp_path / "old")})
    assert old.returncode == 0, old.stderr[-3000:]
    new = runner.run(after, start=old, env={"MODEL_DIR": str(tmp_path / "new")})
    assert new.returncode == 0, new.stderr[-3000:]
    tolerance = TOLERANCES[name]
    assert len(old.losses) == 8
    np.testing.assert_allclose(new.losses, old.losses, rtol=tolerance)
    (first,), (second,) = old.evaluations, new.evaluations
    assert second == pytest.approx(first, rel=tolerance)


def test_tables_that_several_files_share_keep_the_program(tmp_path: Path) -> None:
    """Two towers of another file would have tables of their own."""
    text = program_text("towers_of_tables")
    start, end = text.index("def tower"), text.index("def data")
    imports = (
        "import tensorflow as tf\nfrom tensorflow import feature_column as fc\n\n\n"
    )
    (tmp_path / "towers.py").write_text(imports + text[start:end].rstrip() + "\n")
    text = "from towers import tower\n" + text[:start] + text[end:]
    (tmp_path / "train.py").write_text(text)
    report = run_job(sorted(tmp_path.iterdir()), Job())
    (program,) = (program for _, program in report.programs)
    assert program.outcome is ProgramOutcome.KEPT
    assert "share an embedding" in program.reason
