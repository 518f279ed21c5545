"""The choices a user has for a rewrite, as one immutable value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

__all__ = ["Lowered", "RewriteOptions"]


@dataclass(frozen=True)
class Lowered:
    """Files whose programs may not become what they could, and why.

    Their model functions are kept; with ``estimator``, their Estimators are.
    """

    files: frozenset[str]
    because: str
    estimator: bool = False


@dataclass(frozen=True)
class RewriteOptions:
    """Options of ``tfmigrate rewrite`` that change the emitted code."""

    style: str = "auto"  # auto | inline | module
    # What the module is called that holds the loop for several files.
    loop_module: str = "training_loop"
    # All of that module comes along, for what the program's words do not tell.
    whole_module: bool = False
    loop: str = "epoch"  # epoch | step | graph
    strategy: str = "keep"
    keras: str = "tf_keras"  # tf_keras | keras3
    mixed_precision: bool = False
    profile: bool = False
    # Set where a better result was refused: why no loop is written in place, why the
    # model function is kept as well, and why a program keeps its Estimator.
    module_because: str | None = None
    model_because: str | None = None
    stays_because: str | None = None
    # Programs of which a trial showed that they train otherwise.
    lowered: tuple[Lowered, ...] = ()

    def for_program(self, files: Iterable[str]) -> RewriteOptions:
        """The options for a program of these files, which are absolute paths."""
        if not self.lowered:
            return self
        own = frozenset(files)
        found = [one for one in self.lowered if one.files & own]
        options = replace(self, lowered=())
        for one in found:
            if one.estimator:
                options = replace(options, stays_because=one.because)
            else:
                options = replace(options, model_because=one.because)
        return options
