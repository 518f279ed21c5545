"""Copies of directories in which programs run."""

from __future__ import annotations

import os
from pathlib import Path

from tfmigrate.verify.trees import copy_tree, in_tree, set_stage


def test_what_is_written_on_the_stage_stays_there(tmp_path: Path) -> None:
    user = tmp_path / "user"
    here, home = user / "work", user / "programs" / "one"
    for folder in (here / "data", here / ".git", here / "many", here / "env", home):
        folder.mkdir(parents=True)
    (here / "predictions.csv").write_text("mine")
    (here / "data" / "x.csv").write_text("1")
    (here / "link.csv").symlink_to("data/x.csv")
    (here / "env" / "pyvenv.cfg").touch()
    with (here / "large.bin").open("wb") as stream:
        stream.truncate(2**20 + 1)
    for number in range(1001):
        (here / "many" / str(number)).touch()
    (user / "beside.csv").write_text("2")
    (home / "train.py").touch()

    # Inside a folder that is copied as well.
    top = here / "kept" / "stage"
    top.mkdir(parents=True)
    (here / "kept" / "train.py").touch()
    set_stage(top, [here, home])
    there = in_tree(top, here)
    for linked in (".git", "many", "env", "large.bin"):
        assert (there / linked).is_symlink()
    assert not (there / "kept" / "stage").exists()
    assert (there / "kept" / "train.py").is_file()
    assert (there / ".." / "beside.csv").read_text() == "2"
    assert in_tree(top, home / "train.py").is_file()

    for name in ("predictions.csv", "data/x.csv", "new.csv", "link.csv"):
        (there / name).write_text("theirs")
    (in_tree(top, home) / "out.csv").touch()
    assert (here / "predictions.csv").read_text() == "mine"
    assert (here / "data" / "x.csv").read_text() == "1"
    assert not (here / "new.csv").exists()
    assert os.listdir(home) == ["train.py"]


def test_one_folder_inside_the_other(tmp_path: Path) -> None:
    home = tmp_path / "here" / ".hidden" / "programs"
    home.mkdir(parents=True)
    (home / "train.py").touch()
    for number, places in enumerate(
        ([tmp_path / "here", home], [home, tmp_path / "here"], [home, home])
    ):
        top = tmp_path / str(number)
        top.mkdir()
        set_stage(top, places)
        (in_tree(top, home) / "written").touch()
    assert os.listdir(home) == ["train.py"]


def test_folders_whose_files_change_are_copied(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / ".hidden" / "package").mkdir(parents=True)
    copy_tree(root, tmp_path / "copy", [root / ".hidden"])
    assert not (tmp_path / "copy" / ".hidden").is_symlink()
    assert (tmp_path / "copy" / ".hidden" / "package").is_dir()
