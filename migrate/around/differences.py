"""What the loop module does otherwise than an Estimator, for the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..plan.code.tree import Tree
from ..plan.keras.program import SCALED_TWICE
from ..project.facts import ParsedModule
from ..report.findings import Finding, Outcome, Safety
from ..rules.written_for import written_for_tf2
from .step_order import counted_by_hand, counted_by_several

__all__ = ["differences"]

_KERAS = "model_to_estimator"
# Loss functions and collections in which regularizers are found.
_REGULARIZERS = (
    "get_regularization_loss",
    "get_regularization_losses",
    "get_total_loss",
    "REGULARIZATION_LOSSES",
)


_REGULARIZED_ONCE = (
    "TFM140",
    "regularization counts in full on each replica; "
    "the Estimator applied its gradient on the first one only",
)
_COUNTED_BY_HAND = (
    "TFM147",
    "the step is counted by hand, when all that the update reads has read it; TF 1 "
    "left open which step a rate reads beside it",
)


_COUNTED_TWICE = (
    "TFM147",
    "the step moves by more than one at a time, for several optimizers count it; "
    "checkpoints and summaries can come one update sooner or later than in TF 1",
)


_DECAYED = (
    "TFM147",
    "weight decay is taken off after the gradients are computed; TF 1 left open which "
    "weights they read",
)
_DECAYS = (
    "tf.contrib.opt.AdamWOptimizer",
    "tf.contrib.opt.MomentumWOptimizer",
    "tf.contrib.opt.extend_with_decoupled_weight_decay",
)
_FIRST_IS_BEST = (
    "TFM148",
    "BestExporter exports its first evaluation: TF 1.15 let that compete with itself, "
    "so that it never was exported",
)


def differences(
    parsed: ParsedModule, program: Sequence[ParsedModule]
) -> Iterator[Finding]:
    """Findings for a file of a program that goes to the loop module."""
    yield from _true_means(parsed, program)
    tree = Tree(parsed.module, parsed.resolver)
    for call in counted_by_hand(tree):
        line = tree.line(call)
        yield _finding(parsed, line, _COUNTED_BY_HAND, Safety.CHANGES_NUMBERS)
    for node in counted_by_several(tree):
        told = _finding(parsed, tree.line(node), _COUNTED_TWICE, Safety.NEEDS_REVIEW)
        yield told
    for call in tree.calls(tree.module, _DECAYS):
        yield _finding(parsed, tree.line(call), _DECAYED, Safety.CHANGES_NUMBERS)
    if written_for_tf2(parsed.resolver):
        return
    for call in tree.calls(tree.module, ("tf.estimator.BestExporter",)):
        yield _finding(parsed, tree.line(call), _FIRST_IS_BEST, Safety.NEEDS_REVIEW)


def _true_means(parsed: ParsedModule, program: Sequence[ParsedModule]) -> list[Finding]:
    """Those for models on replicas, if the program has a core strategy."""
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
            found.append(_finding(parsed, line, _REGULARIZED_ONCE, safety))
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
