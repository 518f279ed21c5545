"""Makes the canned classes: each is a signature, a head and a network.

What a class takes was public and differs a little from one to the next, so that the
tables of v1.py and v2.py write it out; what is done with it is the same for all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["class_maker", "class_of_signature"]

_OF_RUNS = ("model_dir", "config", "warm_start_from")
_OF_HEADS = (
    "label_dimension",
    "label_vocabulary",
    "loss_reduction",
    "n_classes",
    "weight_column",
)


def class_of_signature(
    name: str,
    module: str,
    base: type,
    doc: str,
    parameters: str,
    *,
    known: Mapping[str, Any],
    prepare: Callable[[dict[str, Any]], dict[str, Any]],
) -> Any:
    """A class whose ``__init__`` takes ``parameters``, as Python writes them.

    ``known`` has the values that defaults name; ``prepare`` turns the arguments into
    those of the base.
    """
    signature = inspect.signature(eval(f"lambda self, {parameters}: None", {**known}))

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}.__init__() {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        del given["self"]
        super(cls, self).__init__(**prepare(given))

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    cls: Any = type(
        name, (base,), {"__init__": __init__, "__doc__": doc, "__module__": module}
    )
    return cls


def class_maker(
    module: str, base: type, heads: Any, regression_head: Any, loss_reduction: Any
) -> Callable[..., Any]:
    """A function that makes the classes of one generation.

    Args:
      module: where they are defined, which pickles name.
      base: the Estimator that they are.
      heads: the module with `binary_or_multi_class_head`.
      regression_head: makes the head of regressors.
      loss_reduction: the default of the argument of this name.
    """
    known = {"relu": tf.nn.relu, "REDUCTION": loss_reduction}

    def head_of(given: Mapping[str, Any]) -> Any:
        if "n_classes" in given:
            return heads.binary_or_multi_class_head(**given)
        return regression_head(**given)

    def make(
        name: str,
        doc: str,
        parameters: str,
        model_fn: Callable[..., Callable[..., Any]],
        check: Callable[[Mapping[str, Any]], None] | None = None,
        also: Sequence[str] = (),
    ) -> Any:
        """One class; ``parameters`` are as in `class_of_signature`.

        ``model_fn`` makes the model function: it gets the head, and by keyword what is
        neither the head's nor the run's, and of these what ``also`` names. ``check``
        may refuse the arguments.
        """

        def prepare(given: dict[str, Any]) -> dict[str, Any]:
            if check is not None:
                check(given)
            run = {key: given.pop(key) for key in _OF_RUNS if key in given}
            of_head = {key: given.pop(key) for key in _OF_HEADS if key in given}
            given.update((key, of_head[key]) for key in also)
            head = given.pop("head") if "head" in given else head_of(of_head)
            return {"model_fn": model_fn(head, **given), **run}

        return class_of_signature(
            name, module, base, doc, parameters, known=known, prepare=prepare
        )

    return make
