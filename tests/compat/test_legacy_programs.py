"""Unedited legacy programs train under compat as on the real TensorFlow 1.x.

Each program runs once, bounded, from the recorded initial weights; what the
real thing did is in fixtures/oracle/PROGRAM, the tolerance in noise.json.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tfmigrate.datasets import make_keras_home
from tfmigrate.verify.recording import load_recording

ORACLE = Path(__file__).resolve().parents[2] / "fixtures" / "oracle"
NOISE: dict[str, Any] = json.loads((ORACLE / "noise.json").read_text())["programs"]


def _recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("oracle_record", ORACLE / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Registered, because its dataclasses look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


RECORDER = _recorder()
PROGRAMS = {program.name: program for program in RECORDER.PROGRAMS}


# In a convolutional program rounding alone decides some ReLU or maximum, at a step
# that depends on the build; from there on losses differ by 1e-5 to 3e-4. Which of
# the programs it meets is chance, so they share the worst that was measured on
# the real thing, and only the first three updates are held to 1e-5. Two replicas
# and one with the double batch drift alike under compat, which tells this from a
# wrong scale.
CONVOLUTIONAL = {
    "fashion_mnist_mirrored",
    "fashion_mnist_main",
    "fashion_mnist_imports",
    "fashion_mnist_core",
    "digits_model_fn",
    "oct_vgg16",
    "mnist_cnn_logging",
    "tiles_batch_norm_l2",
}
CONVOLUTIONAL_TIGHT = 3


def tolerances(name: str) -> tuple[float, float]:
    """For losses (relative) and final weights (absolute)."""
    group = CONVOLUTIONAL & set(NOISE) if name in CONVOLUTIONAL else {name}
    return (
        max(NOISE[each]["loss_tolerance"] for each in group),
        max(NOISE[each]["weight_tolerance"] for each in group),
    )


def reference(name: str, replicas: int) -> Path:
    """The recording to hold ``replicas`` against.

    Keras programs on a contrib strategy follow 1.12.3, because 1.15.5 scales
    their loss twice; those on a core strategy follow 1.15.5, as it is their own.
    """
    for version in ("tf112", "tf115") if replicas > 1 else ("tf115",):
        folder = ORACLE / name / f"{version}-r{replicas}"
        if folder.is_dir():
            return folder
    raise AssertionError(f"{name} has no recording for {replicas} replicas")


CASES = [
    (name, replicas)
    for name, program in PROGRAMS.items()
    for replicas in sorted({run.replicas for run in program.kept})
]


# Since TF 2 the weights of a recurrent Keras layer stand below its cell.
KERAS_CELL = re.compile(r"/(lstm|gru)_cell(_\d+)?/")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("home")
    return make_keras_home(folder, sample=True, noise=True)


# A case takes about nine seconds of a processor. The default run has one program
# of each kind: contrib strategy, core strategy, model_fn, canned, heads, sessions'
# own iterators, queues, TPU; what repeats a kind is marked slow.
SLOW = {
    ("fashion_mnist_mirrored", 1),
    ("fashion_mnist_main", 1),
    ("fashion_mnist_main", 2),
    ("fashion_mnist_partial", 1),
    ("fashion_mnist_partial", 2),
    ("fashion_mnist_imports", 2),
    ("fashion_mnist_core", 1),
    ("oct_vgg16", 1),
    ("deepfm_recommender", 1),
    ("text_lstm", 1),
    ("serving_export", 1),
    ("mnist_cnn_logging", 1),
    ("hparams_factory", 1),
    ("spoken_digits_builder", 1),
    ("wine_best_exporter", 1),
    ("bank_linear_csv", 1),
    ("tfrecord_pipeline", 1),
    ("tiles_batch_norm_l2", 1),
    ("scoped_variables", 1),
    ("contrib_fully_connected", 1),
    ("summary_hooks", 1),
    ("mirrored_gpus", 1),
    ("multi_output", 1),
    ("timeseries_keras_lstm", 1),
    ("autoencoder", 1),
    ("flags_modes", 1),
    ("word_embedding", 1),
    ("churn_package", 1),
    ("churn_package", 2),
}


@pytest.mark.parametrize(
    ("name", "replicas"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] if case in SLOW else [])
        for case in CASES
    ],
)
def test_trains_as_recorded(
    name: str, replicas: int, home: dict[str, str], tmp_path: Path
) -> None:
    program = PROGRAMS[name]
    recorded = reference(name, replicas)
    environment = {
        **os.environ,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        **home,
        **program.environment,
    }
    if program.prepare:
        # A legacy program itself, so it runs as one.
        subprocess.run(
            [
                *(sys.executable, "-m", "tfmigrate", "run"),
                str(program.path.with_name(program.prepare)),
            ],
            env=environment,
            cwd=tmp_path,
            check=True,
            timeout=300,
        )
    options = ["--steps", str(program.steps), "--replicas", str(replicas)]
    if program.own_weights:
        pass
    elif program.generated:
        options += ["--generate-weights", "7", "--light"]
    else:
        options += ["--initial-weights", str(recorded / "initial_weights.npz")]
    process = subprocess.run(
        [
            *(sys.executable, str(RECORDER.INSTRUMENT), "--compat", *options),
            *("--out", str(tmp_path / "recording"), "--no-shuffle", "--seed", "1"),
            *("--threads", "1", "--model-dir", str(tmp_path / "models")),
            *(str(program.path), *program.arguments),
        ],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=550,
    )
    assert process.returncode == 0, process.stderr[-4000:]
    ours = json.loads((tmp_path / "recording" / "recording.json").read_text())
    theirs = json.loads((recorded / "recording.json").read_text())

    assert ours["global_step"] == theirs["global_step"]
    loss_tolerance, weight_tolerance = tolerances(name)
    assert ours["losses"] == pytest.approx(theirs["losses"], rel=loss_tolerance)
    tight = CONVOLUTIONAL_TIGHT if name in CONVOLUTIONAL else program.steps
    assert ours["losses"][:tight] == pytest.approx(theirs["losses"][:tight], rel=1e-5)
    assert [KERAS_CELL.sub("/", each) for each in ours["weights"]] == theirs["weights"]
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
        final = load_recording(tmp_path / "recording").final_weights
        expected = load_recording(recorded).final_weights
        for (label, value), (_, wanted) in zip(final, expected, strict=True):
            # Adagrad's sums of squares, which some models list among their
            # weights, reach thousands; rounding grows with them.
            scale = max(1.0, float(np.abs(wanted).max(initial=0.0)))
            np.testing.assert_allclose(
                value, wanted, rtol=0, atol=weight_tolerance * scale, err_msg=label
            )


def test_every_program_of_the_recorder_is_recorded() -> None:
    assert set(PROGRAMS) == set(NOISE)
    assert set(CASES) >= SLOW
