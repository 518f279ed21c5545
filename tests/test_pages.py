"""The commands of README and docs, run as they stand, and where the other code is run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HERE = "tests/test_pages.py"
PAIRS = "tests/test_docs.py"

# For each page what runs its blocks, or the same by other names, in their order; after
# a dash why nothing does.
# Rules' pages are made from the rules, whose examples are tests.
BLOCKS = {
    "README.md": [
        *[PAIRS] * 2,
        *("tests/test_demo.py", "- these tests", HERE),
    ],
    "docs/already.md": ["tests/verify/test_already.py"] * 5,
    "docs/architecture.md": ["- a picture"],
    "docs/assess.md": [
        HERE,
        "- a report in general",
        "tests/project/test_rewrite_cli.py",
    ],
    "docs/checkpoints.md": [HERE],
    "docs/ci.md": [*["tests/project/test_rewrite_cli.py"] * 2, "tests/test_cli.py"],
    "docs/clusters.md": [
        "tests/launch/test_launch.py",
        "tests/native/test_strategy_option.py",
        "tests/training/test_cluster.py",
        "tests/launch/test_cluster_page.py",
        "tests/launch/test_cluster_page.py",
        "- it needs Slurm",
        "tests/launch/test_cluster_page.py",
    ],
    "docs/contributing.md": ["tests/rules/test_plugins.py"] * 2,
    "docs/index.md": ["tests/test_demo.py", HERE],
    "docs/interpretation.md": ["- an operation of nobody's"],
    "docs/rewrite.md": [HERE, "tests/native/test_variants.py"],
    "docs/run.md": [HERE, "tests/compat/test_install.py"],
    "docs/semantics.md": [HERE] * 4,
    "docs/task.md": [PAIRS] * 22,
}
# Commands that need what is not here.
ELSEWHERE = re.compile(r"pip |tfmigrate demo|tfmigrate data|.*--legacy-python")

PROGRAM = """\
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--steps", type=int)
parser.add_argument("--model-dir", default="run")
args, _ = parser.parse_known_args()


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    step = tf.train.get_global_step()
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=tf.train.GradientDescentOptimizer(0.5).minimize(loss, step),
        eval_metric_ops={"accuracy": accuracy},
    )


def input_fn():
    x = np.linspace(-1, 1, 16, dtype=np.float32)[:, None]
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, (x[:, 0] > 0).astype(int)))
    return data.repeat(args.epochs).batch(4)


estimator = tf.estimator.Estimator(model_fn, args.model_dir)
estimator.train(input_fn, steps=args.steps)
print(estimator.evaluate(input_fn))
"""
EXPORT = """\
import tensorflow as tf

model = tf.Module()
model.twice = tf.function(lambda x: 2 * x, [tf.TensorSpec([None], name="x")])
for side in ("old", "new"):
    tf.saved_model.save(model, f"{side}/export/1", {"serving_default": model.twice})
"""


def commands(page: str) -> list[str]:
    """The lines of a page that are commands: of blocks, and indented ones."""
    text = (ROOT / page).read_text("utf-8")
    found = re.findall(r"(?ms)^```sh\n(.*?)^```", text)
    lines = "".join(found).splitlines()
    lines += re.findall(r"(?m)^    (tfmigrate .*)$", text)
    return [line.partition(" #")[0].strip() for line in lines]


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command in a shell, where `tfmigrate` and `python` are those of the tests."""
    own = f'tfmigrate() {{ "{sys.executable}" -m tfmigrate "$@"; }}\n'
    own += f'python() {{ "{sys.executable}" "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", own + line],
        cwd=folder,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the rewritten program."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "train.py").write_text(PROGRAM)
    done = run("tfmigrate rewrite train.py --out native", folder)
    assert "1 native" in done.stdout, done
    return folder / "native"


def lay_out(page: str, folder: Path, native: Path) -> None:
    """The files that the commands of a page name."""
    old = ["train.py"]
    if page == "README.md":
        old += ["old.py", "src/train.py"]
        shutil.copy(native / "train.py", folder / "new.py")
        shutil.copy(native / "training.py", folder)
    elif page == "docs/assess.md":
        old += ["src/train.py"]
    elif page == "docs/run.md":
        old += ["package/__init__.py", "package/train.py"]
        cell = {"cell_type": "code", "source": PROGRAM, "metadata": {}, "outputs": []}
        notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        (folder / "notebook.ipynb").write_text(json.dumps(notebook))
    elif page == "docs/rewrite.md":
        old += ["src/train.py", "trainer/__init__.py", "trainer/task.py"]
        (folder / "src").mkdir()
        (folder / "src/requirements.txt").write_text("tensorflow==1.15\n")
    elif page == "docs/verify.md":
        old += ["old/train.py", "old/trainer/__init__.py", "old/trainer/task.py"]
        shutil.copytree(native, folder / "new")
        shutil.copytree(native, folder / "new/trainer")
        (folder / "new/trainer/train.py").rename(folder / "new/trainer/task.py")
        (folder / "export.py").write_text(EXPORT)
        assert run("python export.py", folder).returncode == 0
    for name in old:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("" if "__init__" in name else PROGRAM)
    if page == "docs/checkpoints.md":
        (folder / "train.py").rename(folder / "old.py")
        shutil.copytree(native, folder, dirs_exist_ok=True)
        for line in (
            "tfmigrate run old.py --model-dir old_run",
            "python train.py --model-dir new_run",
            "mkdir runs; for f in old_run/model.ckpt-20.*; do "
            "cp $f runs/model.ckpt-1000.${f##*.}; done",
        ):
            assert run(line, folder).returncode == 0, line


@pytest.mark.tensorflow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "page",
    [
        *(page for page, blocks in BLOCKS.items() if HERE in blocks and commands(page)),
        pytest.param("docs/verify.md", marks=pytest.mark.slow),
    ],
)
def test_commands_do_what_the_page_says(
    page: str, native: Path, tmp_path: Path
) -> None:
    """None fails, none ends in an error; what proves says so."""
    lay_out(page, tmp_path, native)
    commit = "git add -A && git -c user.name=a -c user.email=a@b commit -qm x"
    run(f"git init -q && echo .tfmigrate > .gitignore && {commit}", tmp_path)
    for line in commands(page):
        if ELSEWHERE.match(line) or not re.match(r"tfmigrate|python train", line):
            continue
        if "rewrite" in line:
            run("git checkout -q . && git clean -fdq -e run", tmp_path)
        done = run(line, tmp_path)
        # What is told of requirements is told by 1 as well.
        found = re.search(r"scan|rewrite src/|diff|--seeds|--prove-command", line)
        assert done.returncode in ((0, 1) if found else (0,)), (line, done)
        assert not re.search(r"(?m)^(error:|Traceback)", done.stderr), (line, done)
        if "--prove" in line:
            assert " proved: they train the same" in done.stdout, (line, done)
        if re.match("tfmigrate verify(?!.*--seeds)", line):
            assert "Parity: " in done.stdout, (line, done)
        if line == "tfmigrate undo":
            assert " 0 not restored" in done.stdout, (line, done)


@pytest.mark.tensorflow
def test_right_is_what_it_was_and_wrong_is_not(tmp_path: Path) -> None:
    """Each snippet of the semantics computes all three."""
    text = (ROOT / "docs/semantics.md").read_text("utf-8")
    near = "assert abs(old - right) < 1e-2 * abs(old - wrong)\n"
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", text)
    (tmp_path / "all.py").write_text("".join(block + near for block in blocks))
    done = run("python all.py", tmp_path)
    assert done.returncode == 0, done.stderr


def test_each_block_is_run_somewhere_or_says_why_not() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = {}
    for page in pages:
        blocks = re.findall(r"(?m)^```\w*$", page.read_text("utf-8"))
        # The commands' page is what they say of themselves.
        if blocks and page.name not in ("commands.md", "changelog.md"):
            found[page.relative_to(ROOT).as_posix()] = len(blocks) // 2
    assert found == {page: len(files) for page, files in BLOCKS.items()}
    named = {file for files in BLOCKS.values() for file in files if file[0] != "-"}
    assert [name for name in named if not (ROOT / name).is_file()] == []
