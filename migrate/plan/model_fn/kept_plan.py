"""A model_fn that stays as a whole, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KeptModelFnPlan"]


@dataclass(frozen=True)
class KeptModelFnPlan:
    """A ``model_fn`` inside a loop of graphs; texts are source code.

    ``model_fn`` is the expression that gives it, ``takes`` are its parameters,
    ``params`` what the Estimator gave it; ``fields`` are what its specs hold and
    ``reason`` says why it could not become a model. ``is_dict`` tells whether its
    predictions are a dict, ``assigns`` where it assigns to variables itself,
    ``loads`` whether new variables may start from a checkpoint.
    """

    model_fn: str
    takes: tuple[str, ...]
    params: str
    fields: tuple[str, ...]
    reason: str
    has_metrics: bool = True
    is_dict: bool = True
    contrib: tuple[str, ...] = ()
    assigns: int | None = None
    loads: bool = False
