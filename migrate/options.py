"""The choices a user has for a rewrite, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RewriteOptions"]


@dataclass(frozen=True)
class RewriteOptions:
    """Options of ``tfmigrate rewrite`` that change the emitted code."""

    style: str = "auto"  # auto | inline | module | class
    # What the module is called that holds the loop for several files.
    loop_module: str = "training_loop"
    loop: str = "epoch"  # epoch | step | graph
    strategy: str = "keep"
    keras: str = "tf_keras"  # tf_keras | keras3
    mixed_precision: bool = False
    profile: bool = False
    # Set where a better result was refused: why no loop is written in place, and why
    # a program keeps its Estimator.
    module_because: str | None = None
    stays_because: str | None = None
