"""A report is told again as long as all that it depends on is as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tfmigrate.cli import common
from tfmigrate.forms.json_report import json_report
from tfmigrate.options import Job, RewriteOptions
from tfmigrate.project.cache import Cache
from tfmigrate.project.selection import Selection
from tfmigrate.report.model import Report

MODEL = """import tensorflow as tf


def build(features):
    return tf.layers.dense(features["x"], 1)
"""
TRAIN = """import tensorflow as tf
from model import build


def model_fn(features, labels, mode):
    out = build(features)
    loss = tf.losses.mean_squared_error(labels, out)
    step = tf.train.get_global_step()
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


if __name__ == "__main__":
    tf.estimator.Estimator(model_fn, "out").train(lambda: None, steps=1)
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Report]:
    """A repository that is the present folder; the reports that had to be made."""
    made: list[Report] = []
    run = common._run

    def counted(*given: object) -> Report:
        made.append(run(*given))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(common, "_run", counted)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    monkeypatch.chdir(repository)
    Path("model.py").write_text(MODEL)
    Path("train.py").write_text(TRAIN)
    return made


def told(job: Job | None = None, *files: str) -> str:
    """The report of a run."""
    paths = [Path(one) for one in files or ("model.py", "train.py")]
    report = common.run_with_progress(paths, job or Job(), 1, 60)
    return json_report(report, written=False)


def test_the_second_report_is_the_first(runs: list[Report]) -> None:
    first = told()
    assert '"native": 1' in first
    assert told() == first
    assert len(runs) == 1
    assert Path(".tfmigrate/.gitignore").read_text() == "*\n"


def _change_program() -> None:
    Path("train.py").write_text(TRAIN.replace("0.1", "0.2"))


def _change_imported() -> None:
    Path("model.py").write_text(MODEL.replace("dense", "flatten"))


def _remove_imported() -> None:
    Path("model.py").unlink()


def _shadow_imported() -> None:
    Path("model").mkdir()
    Path("__init__.py").write_text("")


def _take_name() -> None:
    Path("training.py").write_text("x = 1\n")


@pytest.mark.parametrize(
    "change",
    [_change_program, _change_imported, _remove_imported, _shadow_imported, _take_name],
)
@pytest.mark.parametrize("files", [("train.py",), ("model.py", "train.py")])
def test_a_change_of_what_was_read_makes_it_anew(
    runs: list[Report], change: Callable[[], None], files: tuple[str, ...]
) -> None:
    """Also of files that were not given, and of which there are."""
    told(None, *files)
    change()
    again = told(None, *files)
    assert len(runs) == 2
    assert again == json_report(runs[1], written=False)
    assert told(None, *files) == again
    assert len(runs) == 2


def test_options_have_reports_of_their_own(runs: list[Report]) -> None:
    jobs = [
        Job(),
        Job(selection=Selection(ignore=("TFM2",))),
        Job(options=RewriteOptions(strategy="mirrored")),
        Job(py2=True),
    ]
    reports = [told(job) for job in jobs]
    assert len(runs) == len(jobs)
    assert [told(job) for job in jobs] == reports
    assert len(runs) == len(jobs)


def _entry() -> Path:
    path = Cache.of([Path("model.py"), Path("train.py")], Job()).path
    assert path is not None
    return path


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda raw: b"",
        lambda raw: raw[:-1],
        lambda raw: raw[:50] + bytes([raw[50] ^ 1]) + raw[51:],
        lambda raw: b"\0" * 32 + raw[32:],
    ],
)
def test_an_entry_that_was_changed_is_not_believed(
    runs: list[Report], spoiled: Callable[[bytes], bytes]
) -> None:
    first = told()
    _entry().write_bytes(spoiled(_entry().read_bytes()))
    assert told() == first
    assert len(runs) == 2
    assert told() == first
    assert len(runs) == 2


def test_what_another_user_wrote_is_not_believed(
    runs: list[Report], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    told()
    assert len(runs) == 2


def test_where_nothing_can_be_kept_nothing_is(
    runs: list[Report], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".tfmigrate").write_text("in its place")
    first = told()
    assert told() == first
    assert len(runs) == 2
    Path(".tfmigrate").unlink()
    # A link may lead out of the project.
    Path(".tfmigrate").symlink_to(tmp_path, target_is_directory=True)
    before = sorted(os.listdir(tmp_path))
    assert told() == first
    assert sorted(os.listdir(tmp_path)) == before
    Path(".tfmigrate").unlink()
    # The home has no key, and takes none.
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert told() == first
    assert len(runs) == 4


def test_only_a_repository_has_a_cache(runs: list[Report]) -> None:
    Path(".git").rmdir()
    assert told() == told()
    assert len(runs) == 2
    assert not Path(".tfmigrate").exists()


def test_a_run_that_was_cut_short_is_not_kept(
    runs: list[Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another time the file may be done within its time."""
    limits = common.Limits
    monkeypatch.setattr(
        common, "Limits", lambda seconds: replace(limits(seconds), memory=1)
    )
    assert "took too much memory" in told()
    monkeypatch.setattr(common, "Limits", limits)
    assert "took too much memory" not in told()
    assert len(runs) == 2
