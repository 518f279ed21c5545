"""What canned models of ``tf.contrib.learn`` give: classes, probabilities, scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .heads import Head
from .keys import PredictionKey
from .model_fns import Estimator
from .networks import Deep, Wide, model_fn_of

__all__ = ["CannedEstimator", "Classifier", "Regressor"]


class CannedEstimator(Estimator):
    """A model over feature columns."""

    _default_output = ""

    def __init__(
        self,
        head: Head,
        deep: Deep | None,
        wide: Wide | None,
        *,
        model_dir: str | None,
        config: Any,
        feature_engineering_fn: Any,
        counts_twice: bool = False,
    ) -> None:
        super().__init__(
            model_fn=model_fn_of(head, deep, wide, counts_twice=counts_twice),
            model_dir=model_dir,
            config=config,
            params={},
            feature_engineering_fn=feature_engineering_fn,
        )

    def _one_output(
        self, key: str, x: Any, input_fn: Any, batch_size: int | None, as_iterable: bool
    ) -> Any:
        found = Estimator.predict(
            self,
            x=x,
            input_fn=input_fn,
            batch_size=batch_size,
            outputs=[key],
            as_iterable=as_iterable,
        )
        if as_iterable:
            return _values(found, key)
        values = found[key]
        return values.reshape(-1) if key == PredictionKey.CLASSES else values


def _values(found: Iterator[Mapping[str, Any]], key: str) -> Iterator[Any]:
    for prediction in found:
        yield prediction[key]


class Classifier(CannedEstimator):
    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """The given outputs of each example, or its class."""
        if not outputs:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The class of each example."""
        return self._one_output(
            PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable
        )

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of all classes for each example."""
        return self._one_output(
            PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable
        )


class Regressor(CannedEstimator):
    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
    ) -> Any:
        """The given outputs of each example, or its score."""
        if not outputs:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The score of each example."""
        return self._one_output(
            PredictionKey.SCORES, x, input_fn, batch_size, as_iterable
        )
