"""Programs on the loop module: words are renamed, nothing is recognised.

What an Estimator program does around its model (configs, specs, hooks, calls) needs no
understanding if the same words exist at run time. So they are renamed into a module
that is put beside the program, file by file, and the model_fn stays as it is.
"""

from __future__ import annotations

from .decide import Moved
from .decide import moved as moved_programs
from .inside import put_inside

__all__ = ["Moved", "moved_programs", "put_inside"]
