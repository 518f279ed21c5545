"""Metric classes that a program needs and Keras does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ...plan.code.tree import Statement
from ...plan.program import METRIC_CLASS, MetricUpdate
from ..module.names import rename
from ..module.spacing import with_blank_lines
from ..module.template import parse_statements

if TYPE_CHECKING:
    from .model_fn import ModelFnEmitter

__all__ = ["MetricClasses"]


class MetricClasses:
    """The classes behind a plan's metrics, each once, under free names."""

    def __init__(self, emitter: ModelFnEmitter) -> None:
        self.emitter = emitter
        wanted = dict.fromkeys(m.made for m in emitter.model.metrics if m.made)
        self._made = {made: self._definition(made) for made in wanted}
        self._names = {
            made: emitter.names.fresh(definition.name.value)
            for made, definition in self._made.items()
        }

    def _definition(self, template: str) -> cst.ClassDef:
        (made,) = self.emitter.fill(template, file="metrics")
        assert isinstance(made, cst.ClassDef)
        return made

    def code(self, metric: MetricUpdate) -> str:
        """What makes a metric."""
        if not metric.made:
            return metric.code
        return metric.code.replace(METRIC_CLASS, self._names[metric.made])

    def definitions(self) -> list[Statement]:
        """The classes, set off by blank lines."""
        found: list[Statement] = []
        for made, definition in self._made.items():
            code = cst.Module([definition]).code
            names = {definition.name.value: self._names[made]}
            (renamed,) = parse_statements(rename(code, names))
            found.append(with_blank_lines(renamed, 2))
        return found
