"""The bundled programs, run and rewritten, against recordings of real TF 1.x.

Each recording was made by real TensorFlow 1.15.5 (one replica) or 1.12.3 (two)
from fixed initial weights; tolerances are ten times what real TensorFlow differs
from itself (fixtures/oracle/noise.json). Its two versions share most kernels;
where today's ones round otherwise and a convolution amplifies that, the limit is
what the program makes of a nudge to its own weights (docs/verify.md).
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tfmigrate.verify.comparison import LOSS_TOLERANCE
from tfmigrate.verify.parity import Options, verify
from tfmigrate.verify.sides import Kind, look_at

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ORACLE = FIXTURES / "oracle"


def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("recorder", ORACLE / "record.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["recorder"] = module
    spec.loader.exec_module(module)
    return module


PROGRAMS = {program.name: program for program in recorder().PROGRAMS}
NOISE = json.loads((ORACLE / "noise.json").read_text())["programs"]
MAIN = "fashion_mnist_mirrored"
SLOW = pytest.mark.slow


def loss_tolerance(name: str) -> float:
    """What was measured of real TensorFlow; of one network, the worst of its programs.

    Which step rounding decides a ReLU or a maximum in depends on the processor as well.
    """
    network = [
        f"fashion_mnist_{each}" for each in ("mirrored", "main", "imports", "core")
    ]
    group = network if name in network else [name]
    return max(float(NOISE[each]["loss_tolerance"]) for each in group)


@pytest.mark.parametrize(
    ("side", "name", "label", "script"),
    [
        # One program on all four; of the variants, two replicas of the rewrite.
        ("legacy", MAIN, "tf115-r1", "train.py"),
        ("legacy", MAIN, "tf112-r2", "train.py"),
        ("expected", MAIN, "tf115-r1", "train.py"),
        ("expected", MAIN, "tf112-r2", "train.py"),
        ("expected", MAIN, "tf112-r2", "train.ipynb"),
        ("expected", "fashion_mnist_main", "tf112-r2", "train.py"),
        ("expected", "fashion_mnist_partial", "tf112-r2", "train.py"),
        ("expected", "fashion_mnist_imports", "tf112-r2", "train.py"),
        *(
            pytest.param(*case, marks=SLOW)
            for case in [
                ("legacy", MAIN, "tf112-r1", "train.py"),
                ("expected", MAIN, "tf112-r1", "train.py"),
                ("legacy", "fashion_mnist_main", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_main", "tf112-r2", "train.py"),
                ("expected", "fashion_mnist_main", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_partial", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_partial", "tf112-r2", "train.py"),
                ("expected", "fashion_mnist_partial", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_imports", "tf115-r1", "train.py"),
                ("legacy", "fashion_mnist_imports", "tf112-r2", "train.py"),
                ("expected", "fashion_mnist_imports", "tf115-r1", "train.py"),
                # model_fns that are methods.
                ("expected", "class_held_estimator", "tf115-r1", "train.py"),
                ("expected", "one_shot_iterator", "tf115-r1", "train.py"),
                # A train_op from a helper, HParams, a metric of its own.
                ("expected", "hparams_factory", "tf115-r1", "train.py"),
                ("expected", "timeseries_keras_lstm", "tf115-r1", "train.py"),
                # Heads, metrics in loops, exports.
                ("expected", "multi_head_contrib", "tf115-r1", "train.py"),
                ("expected", "multi_output", "tf115-r1", "train.py"),
                ("expected", "serving_export", "tf115-r1", "train.py"),
                ("expected", "text_lstm", "tf115-r1", "train.py"),
            ]
        ),
    ],
)
def test_trains_like_real_tensorflow(
    side: str, name: str, label: str, script: str, tmp_path: Path
) -> None:
    program = PROGRAMS[name]
    recording = look_at(ORACLE / name / label)
    path = look_at(FIXTURES / side / name / script)
    assert path.kind is (Kind.LEGACY if side == "legacy" else Kind.TF2)
    verdict = verify(
        recording,
        path,
        Options(
            steps=program.steps,
            tolerance=loss_tolerance(name),
            args=program.arguments,
            env=program.environment,
        ),
        work=tmp_path,
        say=print,
    )
    compared = verdict.trajectory
    recorded, trained = verdict.recordings
    assert compared.same_start
    assert len(compared.steps) == program.steps == trained.global_step
    assert recorded.replicas == trained.replicas == int(label[-1])
    assert compared.parity, compared.loss_differences
    # The first steps, where mistakes would show, need no measured noise.
    assert max(compared.loss_differences[:3]) < LOSS_TOLERANCE
    assert compared.weight_difference is not None
    if not verdict.noise_measured:
        assert compared.weight_difference <= NOISE[name]["weight_tolerance"]
    if side == "legacy" and label.startswith("tf115"):
        # What a user's code reads from evaluate() keeps its names: those of
        # TF 1.15, whose `acc` was called `accuracy` by 1.12.
        assert set(trained.evaluate) == set(recorded.evaluate)
