"""The parts of `training.py`, the file beside a rewritten program, and their joiner.

Each module here is a part. It may extend a class of another part by a subclass of the
same name; in the file that a program gets there is one class with all methods, and the
body of the extended method where a part calls it by `super()`.
"""

from __future__ import annotations

from .join import defined_for, members_of_task, parts_for, training_module

__all__ = ["defined_for", "members_of_task", "parts_for", "training_module"]
