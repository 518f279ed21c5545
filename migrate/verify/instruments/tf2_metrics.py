"""Notes the figures that a program reads from its Keras metrics."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from .tf2_probe import Probe, Site, unconverted
from .tf2_weights import kerases


class MetricLog:
    """Last value of every metric, and which of them were fed by training."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        # id -> (metric, the steps that feed it); the metric is held so that
        # its id stays its own.
        self._fed: dict[int, tuple[Any, list[Site]]] = {}
        # By training that began last, and by metric.
        self._values: dict[tuple[int, int], float] = {}

    def install(self) -> None:
        """Watch the metrics of every Keras; `__init__` sees every instance."""
        for library in kerases():
            self._watch(library.metrics.Metric)

    def _watch(self, metric_class: Any) -> None:
        original = metric_class.__init__

        @functools.wraps(original)
        def init(metric: Any, *args: Any, **kwargs: Any) -> None:
            original(metric, *args, **kwargs)
            sites: list[Site] = []
            self._fed[id(metric)] = (metric, sites)
            update, read = metric.update_state, metric.result

            @functools.wraps(update)
            def update_state(*args: Any, **kwargs: Any) -> Any:
                if self._probe.site is not None:
                    sites.append(self._probe.site)
                return update(*args, **kwargs)

            @functools.wraps(read)
            def result(*args: Any, **kwargs: Any) -> Any:
                value = read(*args, **kwargs)
                if tf.executing_eagerly() and getattr(value, "shape", None) == ():
                    training = max(len(self._probe.trainings) - 1, 0)
                    self._values[training, id(metric)] = float(value)
                return value

            # On the instance: subclasses and tf_keras replace both methods.
            object.__setattr__(metric, "update_state", unconverted(update_state))
            object.__setattr__(metric, "result", unconverted(result))

        metric_class.__init__ = unconverted(init)

    def figures(self, training: int) -> dict[str, float]:
        """Last figure of each metric that no training step feeds, by name.

        Those that were read before the next training began. When training feeds
        every metric (one object for both phases), the last figure is that of the
        last phase, which is what the program reported.
        """
        read = {
            key: value for (at, key), value in self._values.items() if at == training
        }
        named = [
            (metric.name, read[key], sites)
            for key, (metric, sites) in self._fed.items()
            if key in read
        ]
        evaluated = {
            name: value
            for name, value, sites in named
            if not any(site.training is not None for site in sites)
        }
        return evaluated or {name: value for name, value, _ in named}
