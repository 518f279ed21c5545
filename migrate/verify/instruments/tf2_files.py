"""Keeps what a watched program writes apart, so that it changes nothing.

Without this a program would resume from the checkpoints of an earlier run,
and a comparison would leave files in the user's folders.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf


def keep_files_apart(folder: Path, make: Callable[[Any], Any]) -> None:
    """Send checkpoints, summaries and exported models below ``folder``.

    ``make`` makes a folder that is left empty so, and that a program may look for.
    """
    folder = folder.resolve()
    # What a program exports to a folder of its own is there when it moves it on.
    (folder / "temp").mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(folder / "temp")
    moved = functools.partial(kept_apart, folder)

    def moved_if_ours(path: Any) -> Any:
        """A checkpoint to read: ours if this run wrote it, else the real one."""
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
            return path
        ours = moved(path)
        return ours if tf.compat.v1.train.checkpoint_exists(ours) else path

    def ours(path: Any) -> Any:
        """A file or folder to read: ours if this run wrote it, else the real one."""
        return moved(path) if os.path.exists(moved(path)) else path

    checkpoint, manager = tf.train.Checkpoint, tf.train.CheckpointManager
    checkpoint.save = _redirected(checkpoint.save, 1, "file_prefix", moved)
    checkpoint.write = _redirected(checkpoint.write, 1, "file_prefix", moved)
    checkpoint.restore = _redirected(checkpoint.restore, 1, "save_path", moved_if_ours)
    checkpoint.read = _redirected(checkpoint.read, 1, "save_path", moved_if_ours)
    manager.__init__ = _redirected(
        manager.__init__, 2, "directory", lambda path: moved(make(path))
    )
    tf.train.latest_checkpoint = _redirected(
        tf.train.latest_checkpoint, 0, "checkpoint_dir", moved
    )
    tf.summary.create_file_writer = _redirected(
        tf.summary.create_file_writer, 0, "logdir", moved
    )
    tf.saved_model.save = _redirected(tf.saved_model.save, 1, "export_dir", moved)
    tf.saved_model.load = _redirected(tf.saved_model.load, 0, "export_dir", ours)
    _keep_folders_apart(tf.io.gfile, moved, ours)
    for name in ("keras", "tf_keras"):
        module = sys.modules.get(name)
        if module is not None:
            model = module.Model
            model.save = _redirected(model.save, 1, "filepath", moved)
            model.save_weights = _redirected(model.save_weights, 1, "filepath", moved)
            if hasattr(model, "export"):
                model.export = _redirected(model.export, 1, "filepath", moved)


def kept_apart(folder: Path, path: Any) -> str:
    """Where a file or folder of the program is kept below ``folder``."""
    absolute = Path(os.path.abspath(os.fspath(path)))
    if folder in absolute.parents or absolute == folder:
        return str(absolute)
    apart = folder / absolute.relative_to(absolute.anchor)
    apart.parent.mkdir(parents=True, exist_ok=True)
    return str(apart)


def _keep_folders_apart(
    gfile: Any, moved: Callable[[Any], str], ours: Callable[[Any], Any]
) -> None:
    """What an export does with its folders; those of earlier runs stay."""
    rename, rmtree = gfile.rename, gfile.rmtree

    def rename_ours(src: Any, dst: Any, overwrite: bool = False) -> None:
        apart = os.path.exists(moved(src))
        rename(ours(src), moved(dst) if apart else dst, overwrite)

    def rmtree_ours(path: Any) -> None:
        if os.path.exists(moved(path)):
            rmtree(moved(path))

    gfile.rename, gfile.rmtree = rename_ours, rmtree_ours
    gfile.exists = _redirected(gfile.exists, 0, "path", ours)
    gfile.isdir = _redirected(gfile.isdir, 0, "path", ours)
    gfile.listdir = _redirected(gfile.listdir, 0, "path", ours)


def _redirected(
    function: Callable[..., Any], place: int, keyword: str, change: Callable[[Any], Any]
) -> Callable[..., Any]:
    @functools.wraps(function)
    def redirected(*args: Any, **kwargs: Any) -> Any:
        if len(args) > place and args[place] is not None:
            args = (*args[:place], change(args[place]), *args[place + 1 :])
        elif kwargs.get(keyword) is not None:
            kwargs[keyword] = change(kwargs[keyword])
        return function(*args, **kwargs)

    return redirected
