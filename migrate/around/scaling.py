"""What a loop does otherwise than an Estimator where a Keras model has replicas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from ..plan.code.tree import Tree, walk
from ..plan.keras.program import SCALED_TWICE
from ..project.facts import ParsedModule
from ..report.findings import Finding, Outcome, Safety

__all__ = ["true_means"]

_WORD = "model_to_estimator"


def true_means(parsed: ParsedModule, program: Iterable[ParsedModule]) -> list[Finding]:
    """Findings for a file's Keras Estimators, if the program has a core strategy."""
    if _WORD not in parsed.source.text or not any(map(_has_core_strategy, program)):
        return []
    rule, message = SCALED_TWICE
    return [
        Finding(
            path=parsed.path,
            line=line,
            column=1,
            rule=rule,
            message=message,
            outcome=Outcome.REWRITTEN,
            safety=Safety.NEEDS_REVIEW,
        )
        for line, symbol in _calls(parsed)
        if symbol.rpartition(".")[2] == _WORD
    ]


def _has_core_strategy(parsed: ParsedModule) -> bool:
    return any(
        symbol.startswith("tf.distribute.") and symbol.endswith("Strategy")
        for _, symbol in _calls(parsed)
    )


def _calls(parsed: ParsedModule) -> Iterator[tuple[int, str]]:
    """Line and symbol of everything that is called under a known name."""
    tree = Tree(parsed.module, parsed.resolver)
    for node in walk(parsed.module):
        if isinstance(node, cst.Call):
            symbol = tree.symbol(node.func)
            if symbol is not None:
                yield tree.line(node), symbol
