"""Keeps what a watched program writes apart, so that it changes nothing.

Without this a program would resume from the checkpoints of an earlier run,
and a comparison would leave files in the user's folders.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf

from .tf2_weights import kerases


def keep_files_apart(folder: Path, make: Callable[[Any], Any]) -> None:
    """Send checkpoints, summaries and exported models below ``folder``.

    ``make`` makes a folder that is left empty so, and that a program may look for.
    """
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

    def made(path: Any) -> str:
        return moved(make(path))

    gfile, models = tf.io.gfile, [library.Model for library in kerases()]
    _keep_folders_apart(gfile, moved, ours)
    redirections: list[tuple[Any, str, int, str, Callable[[Any], Any]]] = [
        (tf.train.Checkpoint, "save", 1, "file_prefix", moved),
        (tf.train.Checkpoint, "write", 1, "file_prefix", moved),
        (tf.train.Checkpoint, "restore", 1, "save_path", moved_if_ours),
        (tf.train.Checkpoint, "read", 1, "save_path", moved_if_ours),
        (tf.train.CheckpointManager, "__init__", 2, "directory", made),
        (tf.train, "latest_checkpoint", 0, "checkpoint_dir", moved),
        (tf.summary, "create_file_writer", 0, "logdir", moved),
        (tf.saved_model, "save", 1, "export_dir", moved),
        (tf.saved_model, "load", 0, "export_dir", ours),
        *((gfile, name, 0, "path", ours) for name in ("exists", "isdir", "listdir")),
        *(
            (model, name, 1, "filepath", moved)
            for model in models
            for name in ("save", "save_weights", "export")
            if hasattr(model, name)
        ),
    ]
    for holder, name, place, keyword, change in redirections:
        original = getattr(holder, name)
        setattr(holder, name, _redirected(original, place, keyword, change))


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
