"""The TF2 instrument: what it sees must be what the program really did.

The programs print the losses they compute themselves; the instrument reads
them from outside, at the gradient. Both must be the same numbers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tfmigrate.verify.recording import Recording, load_recording

PROGRAMS = Path(__file__).parent / "programs"


def record(
    program: str, out: Path, *options: str, **env: str
) -> tuple[Recording, list[float]]:
    """Run the instrument; the recording and the losses the program printed."""
    work = out.parent / f"{out.name}-cwd"
    work.mkdir()
    command = [sys.executable, "-m", "tfmigrate.verify.instruments.tf2_program"]
    command += ["--out", str(out), *options, str(PROGRAMS / program)]
    result = subprocess.run(
        command,
        cwd=work,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", **env},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    assert not list(work.iterdir()), "the program's files must be kept apart"
    lines = [line.split() for line in result.stdout.splitlines()]
    return load_recording(out), [
        float(line[1]) for line in lines if line[:1] == ["LOSS"]
    ]


@pytest.mark.parametrize("replicas", [1, 2])
def test_epoch_loop(replicas: int, tmp_path: Path) -> None:
    recording, printed = record(
        "epoch_loop.py", tmp_path / "a", "--replicas", str(replicas), "--no-shuffle"
    )
    # One rounding: the program adds the replicas' shares in float32.
    np.testing.assert_allclose(recording.losses, printed, rtol=1.2e-7)
    per_epoch = 5 if replicas == 1 else 3
    assert recording.global_step == len(printed) == 2 * per_epoch
    assert [name.split("/")[-1] for name, _ in recording.final_weights] == [
        "kernel",
        "bias",
    ]
    # Only the figure of the test phase is an evaluation.
    assert set(recording.evaluate) == {"test_accuracy"}
    assert recording.accuracy_metric == "test_accuracy"

    # The whole training by numpy: the last batch of two replicas is ragged.
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3)).astype(np.float32).astype(np.float64)
    y = x @ np.array([[1.0], [-2.0], [0.5]]) + np.float64(np.float32(0.1))
    kernel, bias = (value.astype(np.float64) for _, value in recording.initial_weights)
    size = 4 * replicas
    expected = []
    for _ in range(2):
        for start in range(0, 20, size):
            xs, ys = x[start : start + size], y[start : start + size]
            error = xs @ kernel + bias - ys
            expected.append(float((error**2).sum() / size))
            kernel = kernel - 0.05 * (2 / size) * xs.T @ error
            bias = bias - 0.05 * (2 / size) * error.sum(axis=0)
    np.testing.assert_allclose(recording.losses, expected, rtol=2e-5)
    final = dict(recording.final_weights)
    np.testing.assert_allclose(final[next(iter(final))], kernel, rtol=1e-5, atol=1e-6)


def test_stops_exactly_between_two_steps_of_one_function(tmp_path: Path) -> None:
    """Stopping a loop inside a function leaves the weights of that step.

    Batch norm makes it hard: its moving averages change in the forward pass.
    """
    common = ["--replicas", "2", "--no-shuffle", "--threads", "1"]
    program = "steps_in_function.py"
    whole, printed = record(program, tmp_path / "whole", *common, CALLS="1x12")
    np.testing.assert_allclose(whole.losses, printed, rtol=1.2e-7)
    assert whole.global_step == 12
    start = ["--initial-weights", str(tmp_path / "whole" / "initial_weights.npz")]
    ended, _ = record(program, tmp_path / "ended", *common, *start, CALLS="1x7")
    stopped, _ = record(
        program, tmp_path / "stopped", *common, *start, "--steps", "7", CALLS="1x12"
    )
    assert ended.global_step == stopped.global_step == 7
    np.testing.assert_array_equal(ended.losses, whole.losses[:7])
    np.testing.assert_array_equal(stopped.losses, whole.losses[:7])
    assert len(whole.final_weights) == 8
    assert [n for n, _ in ended.final_weights] == [n for n, _ in stopped.final_weights]
    for (name, one), (_, other), (_, later) in zip(
        ended.final_weights, stopped.final_weights, whole.final_weights, strict=True
    ):
        np.testing.assert_array_equal(one, other, err_msg=name)
        assert not np.array_equal(one, later), name


def test_without_strategy_eager_and_compiled_steps(tmp_path: Path) -> None:
    recording, printed = record("no_strategy.py", tmp_path / "a", "--steps", "9")
    np.testing.assert_allclose(recording.losses, printed[:9], rtol=1e-6)
    assert recording.global_step == 9
    assert [name for name, _ in recording.initial_weights] == ["kernel", "bias"]
    assert not np.any(recording.initial_weights[0][1])


def test_foreign_weights_are_refused_with_reasons(tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    np.savez(other, **{"000:kernel": np.zeros((7, 2), np.float32)})
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "tfmigrate.verify.instruments.tf2_program",
            "--out",
            str(tmp_path / "a"),
            "--initial-weights",
            str(other),
            str(PROGRAMS / "no_strategy.py"),
        ],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 1
    assert "kernel [7, 2]" in result.stderr
    assert not (tmp_path / "a" / "recording.json").exists()
