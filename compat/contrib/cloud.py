"""``tf.contrib.cloud``: how Google Cloud Storage is reached.

TensorFlow's file system for ``gs://`` takes its settings from the environment today:
a session's settings become those of this process.
"""

from __future__ import annotations

import atexit
import json
import os
import tempfile
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "BlockCacheParams",
    "ConfigureGcsHook",
    "configure_colab_session",
    "configure_gcs",
]

_MEGABYTE = 2**20


class BlockCacheParams:
    """How much of the files that are read is kept, and for how long."""

    def __init__(
        self,
        block_size: int | None = None,
        max_bytes: int | None = None,
        max_staleness: int | None = None,
    ) -> None:
        self.block_size = block_size or 128 * _MEGABYTE
        self.max_bytes = max_bytes or 2 * self.block_size
        self.max_staleness = max_staleness or 0


def configure_gcs(
    session: Any, credentials: Any = None, block_cache: Any = None, device: Any = None
) -> None:
    """Gives the file system credentials, and the size of its cache.

    Both count for this process, whatever ``session`` and ``device`` are; the cache must
    be set before the first file of ``gs://`` is touched.
    """
    del session, device
    if credentials:
        text = _checked(credentials)
        number, path = tempfile.mkstemp(prefix="credentials-", suffix=".json")
        with os.fdopen(number, "w") as stream:  # readable by its owner alone
            stream.write(text)
        atexit.register(_remove, path)
        os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = path
    if block_cache is not None:
        for name, size in (
            ("BLOCK_SIZE_MB", block_cache.block_size / _MEGABYTE),
            ("MAX_SIZE_MB", block_cache.max_bytes / _MEGABYTE),
            ("MAX_STALENESS", block_cache.max_staleness),
        ):
            os.environ[f"GCS_READ_CACHE_{name}"] = str(int(size))


def _checked(credentials: Any) -> str:
    if isinstance(credentials, str):
        credentials = json.loads(credentials)
    if not isinstance(credentials, dict):
        raise ValueError("credentials is of an unknown type")
    if not {"refresh_token", "private_key"} & set(credentials):
        raise ValueError(
            'credentials has neither a "refresh_token" nor a "private_key" field.'
        )
    return json.dumps(credentials)


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


class ConfigureGcsHook(tf.train.SessionRunHook):
    """`configure_gcs` when a session is made."""

    def __init__(self, credentials: Any = None, block_cache: Any = None) -> None:
        if credentials is not None:
            _checked(credentials)
        self._settings = credentials, block_cache

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Sets both."""
        del coord
        configure_gcs(session, *self._settings)


def configure_colab_session(session: Any) -> None:
    """Credentials of the user of a Colab notebook."""
    with open("/content/adc.json", encoding="utf-8") as stream:
        configure_gcs(session, credentials=json.load(stream))
