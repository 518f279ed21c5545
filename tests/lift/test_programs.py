"""Programs in shapes that only an evaluation understands: layers and function alike."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tfmigrate.around import on_module
from tfmigrate.options import RewriteOptions
from tfmigrate.rewriting.pipeline import Job

from ..around.here import run_here

PROGRAMS = Path(__file__).with_name("programs")
CHILD = Path(__file__).parents[1] / "around" / "child.py"
# Two replicas on one machine; it has to be said before anything is computed.
DEVICES = """\
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
RESULT = {}
"""
FILES = ("towers", "coder")
# Their variables begin with values that are the same everywhere.
SAME_START = (
    "chosen",
    "columns",
    "families",
    "held",
    "lazy",
    "mixed",
    "shaped",
    "zoo",
)
# What the next normalization takes away again: rounding alone moves it, and Adam makes
# whole steps of that.
NO_GRADIENT = ("batch_normalization/beta", "batch_normalization_1/moving_mean")
# An evaluation sees it: TF 1.15.5 itself gives losses 7e-6 apart on two processors.
SEEN_BY_EVALUATION = 5e-5
RECORDED = Path(__file__).parents[2] / "fixtures" / "oracle" / "lifted" / "tf115.json"
TWO = 'tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])'


def put(
    folder: Path, plain: Path, name: str, code: dict[str, str], words: dict[str, str]
) -> str:
    """Rewrites a program under another name into a folder; tells its tier."""
    folder.mkdir()
    for file, text in code.items():
        for old in code:
            text = text.replace(f"from {old} import", f"from {name}_{old} import")
        for old, new in words.items():
            text = text.replace(old, new)
        folder.joinpath(f"{name}_{file}.py").write_text(text, "utf-8")
    options = RewriteOptions(loop_module=f"loop_of_{name}_{min(code)}")
    report = run_here(sorted(folder.iterdir()), Job(options))
    # What was brought along is another module for each.
    own = f"tf_contrib_{name}_{min(code)}"
    for result in report.changed:
        assert result.new is not None
        written = plain / result.path.name.replace("tf_contrib", own)
        written.write_bytes(result.new.replace(b"tf_contrib", own.encode()))
    (tier,) = {r.program.tier.value for r in report.results if r.program}
    return tier


class Forms:
    """One program on some replicas, rewritten in several forms."""

    def __init__(self, folder: Path, file: str, replicas: str) -> None:
        self.folder, self.file, self.replicas = folder, file, replicas
        parts = sorted(PROGRAMS.glob(f"{file}*.py"))
        self.code = {part.stem: part.read_text("utf-8") for part in parts}

    def directory(self, form: str) -> Path:
        """Where a form keeps its checkpoints."""
        return self.folder / f"{self.file}_{self.replicas}_{form}"

    def put(self, form: str, steps: int) -> str:
        """Writes a form that trains, from the checkpoints of the first; its name."""
        directory = self.directory(form)
        copy = ""
        if form != "first" and self.file in FILES:
            copy = f"shutil.copytree({str(self.directory('first'))!r}, "
            copy += f"{str(directory)!r})\n"
        words = {
            "DIRECTORY": repr(str(directory)),
            "STEPS": str(steps),
            "STRATEGY": {"one": "None", "two": TWO}[self.replicas],
            "estimator = tf": f"{copy}estimator = tf",
        }
        name = f"{form}_{self.replicas}"
        work = self.folder / f"{self.file}_{name}_work"
        tier = put(work, self.folder / "plain", name, self.code, words)
        assert tier == ("T1" if form == "layers" else "T2")
        return f"{name}_{self.file}"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """What every program leaves: first steps, and more of them in both forms."""
    folder = tmp_path_factory.mktemp("lifted")
    plain = folder / "plain"
    plain.mkdir()
    plain.joinpath("devices.py").write_text(DEVICES, "utf-8")
    names = ["devices"]
    for file in FILES:
        for replicas in ("one", "two"):
            forms = Forms(folder, file, replicas)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(on_module, "kept_because", lambda *_: "it is asked for")
                names += [forms.put("first", 4), forms.put("kept", 8)]
            names.append(forms.put("layers", 8))
    for file in SAME_START:
        names.append(Forms(folder, file, "one").put("layers", 8))
        forms = Forms(folder, file, "two")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(on_module, "kept_because", lambda *_: "it is asked for")
            names.append(forms.put("kept", 8))
        names.append(forms.put("layers", 8))
    output = folder / "found.json"
    done = subprocess.run(
        [sys.executable, CHILD, "plain", plain, output, *names],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(output.read_text("utf-8"))
    wrong = {name: one["error"] for name, one in found.items() if "error" in one}
    assert not wrong, (wrong, done.stderr[-3000:])
    return {name: one["result"] for name, one in found.items()}


@pytest.mark.parametrize("replicas", ["one", "two"])
@pytest.mark.parametrize("file", FILES)
def test_layers_go_on_where_the_function_stopped(
    results: dict[str, dict[str, float]], file: str, replicas: str
) -> None:
    """Variables, slots and figures are those of the model function that was kept."""
    kept, layers, first = (
        results[f"{form}_{replicas}_{file}"] for form in ("kept", "layers", "first")
    )
    assert set(layers) == set(kept)
    assert kept["global_step"] == layers["global_step"] == 8
    # The same kernels on the same values, perhaps summed in another order.
    assert layers == pytest.approx(kept, rel=1e-5, abs=1e-6)
    assert layers != pytest.approx(first, rel=1e-3)


@pytest.mark.parametrize("file", SAME_START)
def test_figures_are_those_of_tensorflow_1(
    results: dict[str, dict[str, float]], file: str
) -> None:
    """Loss, variables and slots after eight steps, from the same values."""
    recorded = json.loads(RECORDED.read_text("utf-8"))[file]
    found = dict(results[f"layers_one_{file}"])
    assert set(found) == set(recorded)
    if any(name in recorded for name in NO_GRADIENT):
        loss = recorded.pop("loss")
        assert found.pop("loss") == pytest.approx(loss, rel=SEEN_BY_EVALUATION)
    for name in NO_GRADIENT:
        found.pop(name, None)
        recorded.pop(name, None)
    assert found == pytest.approx(recorded, rel=1e-5, abs=2e-6)
    kept, layers = (results[f"{form}_two_{file}"] for form in ("kept", "layers"))
    assert set(kept) == set(layers)
    assert layers == pytest.approx(kept, rel=1e-5, abs=1e-6)


def test_names_are_those_of_tensorflow_1(results: dict[str, dict[str, float]]) -> None:
    towers, coder = results["layers_one_towers"], results["layers_one_coder"]
    assert {
        "tower/dense_0/kernel",
        "tower/dense_1/kernel",
        "tower/block_2/dense/kernel",
        "batch_normalization/moving_mean",
        "tower/dense/bias",
        "tower/scale/Adam_1",
        "dense/kernel",
        "dense_1/kernel",
    } <= set(towers)
    assert {
        "input_layer/kind_embedding/embedding_weights",
        "encoder/dense_1/kernel",
        "encoder/code/kernel",
        "decoder/dense/bias/Momentum",
    } <= set(coder)
