"""Which figures of two evaluations are the same figure under two names."""

from __future__ import annotations

import re
from collections.abc import Mapping

# What a phase is called before the name of its metric.
_PHASE = re.compile(r"^(test|testing|eval|evaluation|val|valid|validation)[_/]")
# Keras names an accuracy after the labels that it compares.
_SAME = {
    "acc": "accuracy",
    "binary_accuracy": "accuracy",
    "categorical_accuracy": "accuracy",
    "sparse_categorical_accuracy": "accuracy",
}
# Says how far the training went, which is compared as such.
_NO_FIGURES = frozenset({"global_step"})

Pairs = tuple[list[tuple[str, str]], list[str], list[str]]


def plain_figure(name: str) -> str:
    """A figure's name without its phase, as both generations would say it.

    >>> plain_figure("test_sparse_categorical_accuracy")
    'accuracy'
    """
    name = _PHASE.sub("", re.sub(r"_\d+$", "", name))
    return _SAME.get(name, name)


def pair_figures(first: Mapping[str, float], second: Mapping[str, float]) -> Pairs:
    """Pairs of names, and the names on either side that have no partner.

    Equal names first; else names that say the same where each side has one of them.
    """
    one = [name for name in first if name not in _NO_FIGURES]
    other = [name for name in second if name not in _NO_FIGURES]
    pairs = [(name, name) for name in one if name in other]
    rest_one = [name for name in one if name not in other]
    rest_other = [name for name in other if name not in one]
    for name in list(rest_one):
        plain = plain_figure(name)
        rivals = [each for each in rest_one if plain_figure(each) == plain]
        partners = [each for each in rest_other if plain_figure(each) == plain]
        if len(rivals) == len(partners) == 1:
            pairs.append((name, partners[0]))
            rest_one.remove(name)
            rest_other.remove(partners[0])
    return pairs, rest_one, rest_other
