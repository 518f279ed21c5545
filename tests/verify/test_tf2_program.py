"""The TF2 instrument: what it sees must be what the program really did.

The programs print the losses they compute themselves; the instrument reads
them from outside, at the gradient. Both must be the same numbers.
"""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from runner import Run, run

PROGRAMS = Path(__file__).parent / "programs"


def printed(done: Run, word: str = "LOSS") -> list[float]:
    """The numbers that the program printed after a word."""
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    return [float(line[1]) for line in lines if line[:1] == [word]]


@pytest.mark.parametrize("replicas", [1, 2])
def test_epoch_loop(replicas: int, tmp_path: Path) -> None:
    done = run(PROGRAMS / "epoch_loop.py", replicas=replicas, cwd=tmp_path)
    told = printed(done)
    assert not list(tmp_path.iterdir()), "the program's files must be kept apart"
    (recording,) = done.trainings
    # One rounding: the program adds the replicas' shares in float32.
    np.testing.assert_allclose(recording.losses, told, rtol=1.2e-7)
    per_epoch = 5 if replicas == 1 else 3
    assert recording.global_step == len(told) == 2 * per_epoch
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


def test_stops_exactly_between_two_steps_of_one_function() -> None:
    """Stopping a loop inside a function leaves the weights of that step.

    Batch norm makes it hard: its moving averages change in the forward pass.
    """
    program = PROGRAMS / "steps_in_function.py"
    whole = run(program, replicas=2, threads=1, env={"CALLS": "1x12"})
    np.testing.assert_allclose(whole.losses, printed(whole), rtol=1.2e-7)
    short = {"replicas": 2, "threads": 1, "start": whole}
    ended = run(program, env={"CALLS": "1x7"}, **short)
    stopped = run(program, env={"CALLS": "1x12"}, steps=7, **short)
    np.testing.assert_array_equal(ended.losses, whole.losses[:7])
    np.testing.assert_array_equal(stopped.losses, whole.losses[:7])
    finals = [each.trainings[0].final_weights for each in (ended, stopped, whole)]
    assert len(finals[0]) == 8
    assert [name for name, _ in finals[0]] == [name for name, _ in finals[1]]
    for (name, one), (_, other), (_, later) in zip(*finals, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
        assert not np.array_equal(one, later), name


def test_without_strategy_eager_and_compiled_steps() -> None:
    done = run(PROGRAMS / "no_strategy.py", steps=9)
    # The program was ended at its tenth step.
    np.testing.assert_allclose(done.losses, printed(done)[:9], rtol=1e-6)
    (recording,) = done.trainings
    assert recording.global_step == 9
    assert [name for name, _ in recording.initial_weights] == ["kernel", "bias"]
    assert not np.any(recording.initial_weights[0][1])


def test_trainings_of_one_process_are_told_apart() -> None:
    """Each has its own losses, its own first weights, and its own number of steps."""
    program = PROGRAMS / "two_loops.py"
    done = run(program)
    first, second = done.trainings
    assert [len(each.losses) for each in (first, second)] == [10, 20]
    for name, recording in (("first", first), ("second", second)):
        np.testing.assert_allclose(recording.losses, printed(done, name), rtol=1e-6)
        told = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
        kernel = next(line[2] for line in told if line[:2] == ["weights", name])
        final = recording.final_weights[0][1].ravel()
        np.testing.assert_array_equal(final, ast.literal_eval(kernel))
    # The same weights once more: the second is eager.
    again = run(program, start=done, seed=1)
    for one, other in zip(done.trainings, again.trainings, strict=True):
        np.testing.assert_allclose(one.losses, other.losses, rtol=1e-6)
    drawn = [each.trainings[1].extra["drawn"] for each in (done, again)]
    assert drawn[0] != drawn[1]
    # A limit is one of each training: it ends the program in the second.
    assert [len(each.losses) for each in run(program, steps=15).trainings] == [10, 15]


@pytest.mark.parametrize("library", ["tf_keras", "keras"])
def test_fit_ends_by_itself_at_the_limit(library: str) -> None:
    """... and is evaluated there, as the program says."""
    done = run(PROGRAMS / "by_fit.py", replicas=2, steps=5, env={"KERAS": library})
    (recording,) = done.trainings
    assert recording.replicas == 2
    assert len(recording.losses) == recording.global_step == 5
    assert recording.extra["ran_whole"]
    told = done.stdout.partition("evaluated ")[2]
    figures = ast.literal_eval(told)
    assert set(recording.evaluate) == set(figures) == {"accuracy", "loss"}
    for name, value in figures.items():
        assert recording.evaluate[name] == pytest.approx(value, rel=1e-6)


def test_foreign_weights_are_refused_with_reasons(tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    np.savez(other, **{"000:kernel": np.zeros((7, 2), np.float32)})
    refused = run(PROGRAMS / "no_strategy.py", start=other)
    assert refused.returncode == 1
    assert "kernel [7, 2]" in refused.stderr
    assert not (refused.folder / "recording.json").exists()
