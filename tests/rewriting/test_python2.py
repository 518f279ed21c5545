"""What the codemod makes of Python 2, and of packages that are handed about."""

from __future__ import annotations

from pathlib import Path

from tfmigrate.rewriting.pipeline import Job
from tfmigrate.rewriting.run import run_job

from .test_around import CHOSEN, MODEL, notebook, project, rewritten, texts, tiers

LEARN = """\
estimator = learn.Estimator(model_fn, config=learn.RunConfig())
estimator.fit(input_fn=lambda: None, steps=1)
"""


def test_files_of_python_2_are_one_program_with_others(tmp_path: Path) -> None:
    train = CHOSEN.replace("estimator.train(", "print 'Training'\nestimator.train(")
    paths = project(tmp_path, model=MODEL, train=train)
    report = run_job(paths, Job(py2=True))
    assert tiers(report) == ["T1"]
    found = texts(report)
    assert set(found) == {"model.py", "train.py", "training_loop.py"}
    assert "print('Training')\n" in found["train.py"]
    assert "training_loop.Estimator(model_fn" in found["train.py"]
    assert "class Estimator" in found["training_loop.py"]


def test_without_the_option_they_are_told(tmp_path: Path) -> None:
    train = CHOSEN.replace("estimator.train(", "print 'Training'\nestimator.train(")
    report = rewritten(project(tmp_path, train=train))
    assert not report.changed


def test_a_notebook_with_a_package_as_a_value_has_the_module_beside_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "program.ipynb"
    head = f"{MODEL}learn = tf.contrib.learn"
    path.write_text(notebook(head, LEARN), "utf-8")
    report = rewritten([path])
    assert tiers(report) == ["T1"]
    found = texts(report)
    assert set(found) == {"program.ipynb", "training_loop.py", "tf_contrib.py"}
    assert "learn = tf_contrib" in found["program.ipynb"]
    assert "class Experiment" not in found["tf_contrib.py"]
