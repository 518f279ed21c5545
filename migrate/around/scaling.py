"""What a loop does otherwise than an Estimator where a model has replicas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..plan.code.tree import Tree
from ..plan.keras.program import SCALED_TWICE
from ..plan.model_fn.program import REGULARIZED_ONCE
from ..project.facts import ParsedModule
from ..report.findings import Finding, Outcome, Safety

__all__ = ["true_means"]

_KERAS = "model_to_estimator"
# Loss functions and collections in which regularizers are found.
_REGULARIZERS = (
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
    "REGULARIZATION_LOSSES",
)


def true_means(parsed: ParsedModule, program: Sequence[ParsedModule]) -> list[Finding]:
    """Findings for a file's models, if the program has a core strategy."""
    text = parsed.source.text
    keras = _KERAS in text
    regularized = any(word in text for word in _REGULARIZERS) and any(
        "regularizer" in one.source.text for one in program
    )
    if not (keras or regularized) or not any(map(_has_core_strategy, program)):
        return []
    found = []
    for line, symbol in _named(parsed):
        word = symbol.rpartition(".")[2]
        if word == _KERAS:
            found.append(_finding(parsed, line, SCALED_TWICE, Safety.NEEDS_REVIEW))
        elif regularized and word in _REGULARIZERS:
            safety = Safety.CHANGES_NUMBERS
            found.append(_finding(parsed, line, REGULARIZED_ONCE, safety))
    return found


def _finding(
    parsed: ParsedModule, line: int, told: tuple[str, str], safety: Safety
) -> Finding:
    rule, message = told
    return Finding(
        path=parsed.path,
        line=line,
        column=1,
        rule=rule,
        message=message,
        outcome=Outcome.REWRITTEN,
        safety=safety,
    )


def _has_core_strategy(parsed: ParsedModule) -> bool:
    return any(
        symbol.startswith("tf.distribute.") and symbol.endswith("Strategy")
        for _, symbol in _named(parsed)
    )


def _named(parsed: ParsedModule) -> Iterator[tuple[int, str]]:
    """Line and symbol of every use of a known name, the whole chain of it."""
    tree = Tree(parsed.module, parsed.resolver)
    for use in parsed.resolver.scopes.uses:
        symbol = tree.symbol(use.node)
        if symbol is not None:
            yield tree.line(use.node), symbol
