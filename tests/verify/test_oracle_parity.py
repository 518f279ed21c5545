"""Programs of the era, run and rewritten, against recordings of real TensorFlow 1.x.

Each recording was made by real TensorFlow 1.15.5 (or 1.12.3) from fixed initial
weights; tolerances are ten times what real TensorFlow differs from itself
(fixtures/oracle/noise.json). Its two versions share most kernels; where today's ones
round otherwise and a convolution amplifies that, the limit is what the program makes
of a nudge to its own weights (docs/verify.md).
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from runner import verify
from tfmigrate.cli import cli
from tfmigrate.verify.comparison import LOSS_TOLERANCE
from tfmigrate.verify.sides import Kind, look_at

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ORACLE, LEGACY = FIXTURES / "oracle", FIXTURES / "legacy"


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


def loss_tolerance(name: str) -> float:
    """What was measured of real TensorFlow; of one network, the worst of its programs.

    Which step rounding decides a ReLU or a maximum in depends on the processor as well.
    """
    network = [
        f"fashion_mnist_{each}" for each in ("mirrored", "main", "imports", "core")
    ]
    group = network if name in network else [name]
    return max(float(NOISE[each]["loss_tolerance"]) for each in group)


def compared(name: str, label: str, path: Path) -> Any:
    """The verdict over the recording and a program, which must be parity."""
    program = PROGRAMS[name]
    variables = [f"--env={key}={value}" for key, value in program.environment.items()]
    told = verify(
        *[ORACLE / name / label, path, "--format", "json", *variables],
        *["--steps", program.steps, "--tolerance", loss_tolerance(name)],
        *["--", *program.arguments],
    )
    assert told.returncode in (0, 1), told.stderr
    verdict = json.loads(told.stdout)
    assert verdict["parity"], verdict["verdict"]
    found = verdict["trajectory"]
    assert found["same_start"]
    recorded, trained = verdict["sides"]
    assert len(found["steps"]) == recorded["global_step"] == trained["global_step"]
    # The first steps, where mistakes would show, need no measured noise.
    assert max(found["relative_differences"][:3]) < LOSS_TOLERANCE
    return verdict


# Of each program a run on real TF 1.15.5; of some also one on two replicas. Not that of
# fashion_mnist_partial on TF 1.12, whose Keras counts a last batch of 52 like one of 64.
NATIVE = [
    *[(MAIN, "tf115-r1"), (MAIN, "tf112-r2"), ("fashion_mnist_core", "tf115-r1")],
    *[("churn_package", "tf115-r2"), ("mirrored_gpus", "tf115-r2")],
    *[("fashion_mnist_partial", "tf115-r1"), ("model_fn_dense", "tf115-r2")],
    *(
        (name, "tf115-r1")
        for name in (
            *("bert_classifier", "class_held_estimator", "custom_hooks"),
            *("deepfm_recommender", "digits_model_fn", "fine_tuning", "flags_modes"),
            *("mnist_cnn_logging", "model_fn_train_and_evaluate", "one_shot_iterator"),
            *("resnet_cycles", "scoped_variables", "sensor_shards", "sklearn_wrapper"),
            *("spec_functions", "spoken_digits_builder", "strategy_helpers"),
            *("text_cnn_params", "tfrecord_pipeline", "tiles_batch_norm_l2"),
            *("timeseries_keras_lstm", "wine_best_exporter", "word_embedding"),
        )
    ),
]
QUICK = {
    *[
        (MAIN, "tf112-r2"),
        ("churn_package", "tf115-r2"),
        ("digits_model_fn", "tf115-r1"),
    ],
    *[("bert_classifier", "tf115-r1"), ("wine_best_exporter", "tf115-r1")],
}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        case if case in QUICK else pytest.param(*case, marks=pytest.mark.slow)
        for case in NATIVE
    ],
)
def test_what_became_native_trains_like_real_tensorflow(
    name: str, label: str, tmp_path: Path
) -> None:
    for folder in LEGACY.iterdir():  # data that lies beside
        (tmp_path / folder.name).symlink_to(folder)
    (tmp_path / name).unlink()
    project = Path(shutil.copytree(LEGACY / name, tmp_path / name))
    done = CliRunner().invoke(cli, ["rewrite", str(project), "--allow-dirty"])
    path = project / PROGRAMS[name].script
    assert look_at(path).kind is Kind.TF2, done.output
    compared(name, label, path)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (MAIN, "tf115-r1"),
        (MAIN, "tf112-r2"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [
                (MAIN, "tf112-r1"),
                *[
                    ("fashion_mnist_main", "tf115-r1"),
                    ("fashion_mnist_main", "tf112-r2"),
                ],
                ("fashion_mnist_partial", "tf115-r1"),
                ("fashion_mnist_imports", "tf115-r1"),
                ("fashion_mnist_imports", "tf112-r2"),
            ]
        ),
    ],
)
def test_what_is_kept_trains_like_real_tensorflow(name: str, label: str) -> None:
    path = LEGACY / name / PROGRAMS[name].script
    assert look_at(path).kind is Kind.LEGACY
    sides = compared(name, label, path)["sides"]
    if label.startswith("tf115"):
        # What a user's code reads from evaluate() keeps its names: those of
        # TF 1.15, whose `acc` was called `accuracy` by 1.12.
        assert set(sides[0]["evaluate"]) == set(sides[1]["evaluate"])
