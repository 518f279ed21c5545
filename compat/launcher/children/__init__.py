"""Gives child processes the same treatment as the program itself.

Python imports ``sitecustomize`` at start-up. The one in this folder arms the
trigger, and only processes started by a program under ``tfmigrate run`` have
this folder on their ``PYTHONPATH``; nothing is installed anywhere.
"""

from __future__ import annotations

import os

__all__ = ["prepare"]


def prepare() -> None:
    """Put this folder first on the children's ``PYTHONPATH``."""
    here = os.path.dirname(os.path.abspath(__file__))
    known = os.environ.get("PYTHONPATH", "")
    if here not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, known)))
