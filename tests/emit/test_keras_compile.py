"""Keras models compiled and given to an Estimator in the ways people wrote it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tfmigrate.report.findings import Tier

from .one_module import run
from .recorded import rewrite

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "keras_compile"
ORACLE = HERE.parents[1] / "fixtures" / "oracle" / "keras_compile"
NAMES = sorted(program.stem for program in PROGRAMS.glob("*.py"))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the rewritten programs did, from the weights TF 1.15.5 began with."""
    folder = tmp_path_factory.mktemp("keras_compile")
    rewrite(PROGRAMS, folder / "rewritten")
    jobs = []
    for name in NAMES:
        start = ORACLE / name / "initial_weights.npz"
        program = folder / "rewritten" / f"{name}.py"
        options = ["--no-shuffle", "--initial-weights", str(start)]
        arguments = [*options, "--out", str(folder / name), str(program)]
        module = "tfmigrate.verify.instruments.tf2_program"
        jobs.append((str(folder / f"{name}.log"), module, arguments))
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs), "utf-8")
    subprocess.run(
        [sys.executable, str(HERE / "forked.py"), str(listed)],
        check=False,
        env={**os.environ, "MODEL_DIR": ""},
    )
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_the_steps_are_those_of_tf_1_15(recordings: Path, name: str) -> None:
    expected = json.loads((ORACLE / name / "recording.json").read_text("utf-8"))
    path = recordings / name / "recording.json"
    assert path.is_file(), (recordings / f"{name}.log").read_text("utf-8")
    found = json.loads(path.read_text("utf-8"))
    assert len(found["losses"]) == len(expected["losses"]) == 20
    # The same arithmetic: 0 for SGD, 3e-7 for the others when this was recorded.
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=2e-6)


def test_an_optimizer_of_tf_1_takes_the_mean_over_replicas(tmp_path: Path) -> None:
    code = (PROGRAMS / "rmsprop_momentum.py").read_text("utf-8")
    code = code.replace("tf.logging.set_verbosity(tf.logging.INFO)\n", "")
    sides = {"two": (code, "2"), "one": (code.replace("batch(16)", "batch(32)"), "1")}
    start = ORACLE / "rmsprop_momentum" / "initial_weights.npz"
    found = {}
    for name, (text, replicas) in sides.items():
        made = tmp_path / f"{name}.py"
        made.write_text(run(text, strategy="mirrored").module.code, "utf-8")
        module = "tfmigrate.verify.instruments.tf2_program"
        options = f"--no-shuffle --steps 12 --replicas {replicas}".split()
        paths = ["--initial-weights", str(start), "--out", str(tmp_path / name)]
        subprocess.run(
            [sys.executable, "-m", module, *options, *paths, str(made)],
            check=True,
            capture_output=True,
            env={**os.environ, "MODEL_DIR": ""},
        )
        path = tmp_path / name / "recording.json"
        found[name] = json.loads(path.read_text("utf-8"))["losses"]
    assert len(found["two"]) == 12
    np.testing.assert_allclose(found["two"], found["one"], rtol=1e-5)


def program(optimizer: str, call: str = "est = {}(build(), model_dir=FOLDER)") -> str:
    code = (PROGRAMS / "adam_by_name.py").read_text("utf-8")
    place = code.index("est = ")
    estimator = call.format("tf.keras.estimator.model_to_estimator")
    estimator = estimator.replace("build", "get_model").replace("FOLDER", "None")
    code = code[:place] + estimator + "\n" + code[code.index("est.train") :]
    assert '"adam"' in code
    return code.replace('"adam"', optimizer)


@pytest.mark.parametrize(
    ("optimizer", "now"),
    [
        ("'SGD'", "tf_keras.optimizers.SGD()"),
        (
            "tf.keras.optimizers.Adam(3e-4)",
            "tf_keras.optimizers.Adam(learning_rate=3e-4)",
        ),
        ("tf.keras.optimizers.SGD(lr=.1, decay=0.)", "SGD(learning_rate=.1)"),
        (
            "tf.keras.optimizers.Adam(decay=1e-3)",
            "optimizers.schedules.InverseTimeDecay(0.001, 1, 1e-3)",
        ),
        ("'rmsprop'", "tf_keras.optimizers.legacy.RMSprop()"),
        (
            "tf.keras.optimizers.Nadam(lr=.1, clipnorm=1.)",
            "legacy.Nadam(learning_rate=.1, clipnorm=1.)",
        ),
    ],
)
def test_keras_optimizers_are_todays(optimizer: str, now: str) -> None:
    result = run(program(optimizer))
    assert {finding.tier for finding in result.findings} == {Tier.NATIVE}
    assert now in result.module.code


@pytest.mark.parametrize(
    ("optimizer", "reason"),
    [
        ("'ftrl'", "`'ftrl'` is not converted yet"),
        ("tf.keras.optimizers.RMSprop(.1, .9, 1e-6)", "positions"),
        (
            "tf.keras.optimizers.SGD(.1, .9, 1e-6)",
            "positions that changed their meaning",
        ),
        ("tf.keras.optimizers.Adam(clip=1.)", "`clip`"),
    ],
)
def test_other_keras_optimizers_keep_the_estimator(optimizer: str, reason: str) -> None:
    (finding,) = run(program(optimizer)).findings
    assert finding.tier is Tier.COMPAT
    assert reason in (finding.reason or "")


def test_an_optimizer_of_tf_1_is_refused_where_it_is_not() -> None:
    code = program("'adagrad'")
    for options in (
        {"keras": "keras3"},
        {"mixed_precision": True},
    ):
        (finding,) = run(code, **options).findings
        assert "only tf_keras has the `Adagrad` of TF 1.15" in (finding.reason or "")


def test_a_model_made_in_the_call_gets_a_name() -> None:
    plain = "model = build()\nest = {}(model, model_dir=FOLDER)"
    keyword = "est = {}(model_dir=FOLDER, keras_model=build())"
    texts = {run(program("'adam'", call)).module.code for call in (plain, keyword)} | {
        run(program("'adam'")).module.code
    }
    assert len(texts) == 1
    assert "model = get_model()" in texts.pop()


SEQUENTIAL = """\
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential(
    [tf.keras.layers.Dense(1, input_shape=(2,), name="only")]
)
model.compile(optimizer="sgd", loss="mse")
estimator = tf.keras.estimator.model_to_estimator(model)


def data():
    x = np.ones((4, 2), np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(2)


estimator.train(data, steps=2)
print("NAMES", [sorted(one) for one in estimator.predict(data)])
"""


@pytest.mark.parametrize("keras", ["tf_keras", "keras3"])
def test_predictions_have_the_names_of_output_layers(
    tmp_path: Path, keras: str
) -> None:
    program = tmp_path / "program.py"
    program.write_text(run(SEQUENTIAL, keras=keras).module.code, "utf-8")
    result = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False
    )
    assert f"NAMES {[['only']] * 4}" in result.stdout, result.stderr[-2000:]
