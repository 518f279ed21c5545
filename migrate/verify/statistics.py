"""Student's t and the two one-sided tests, without a statistics package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

import numpy as np


@dataclass(frozen=True)
class Equivalence:
    """Are two means closer than ``margin``? Both one-sided tests must say so.

    ``p_value`` is the larger of the two tests' p-values: the risk of calling
    programs equivalent whose true means are ``margin`` or more apart.
    """

    first: Sequence[float]
    second: Sequence[float]
    margin: float
    p_value: float
    alpha: float = 0.05

    @property
    def equivalent(self) -> bool:
        """Whether equivalence within the margin is shown at level ``alpha``."""
        return self.p_value < self.alpha


def equivalence(
    first: Sequence[float], second: Sequence[float], *, margin: float
) -> Equivalence:
    """Two one-sided Welch tests of ``|mean(second) - mean(first)| < margin``."""
    share_1, share_2 = variance(first) / len(first), variance(second) / len(second)
    error = math.sqrt(share_1 + share_2)
    difference = fmean(second) - fmean(first)
    if error == 0:
        p_value = 0.0 if abs(difference) < margin else 1.0
    else:
        # Welch-Satterthwaite: the spreads of the two sides need not agree.
        freedom = (share_1 + share_2) ** 2 / (
            share_1**2 / (len(first) - 1) + share_2**2 / (len(second) - 1)
        )
        above = t_tail((difference + margin) / error, freedom)
        below = t_tail((margin - difference) / error, freedom)
        p_value = max(above, below)
    return Equivalence(first, second, margin, p_value)


def t_tail(value: float, freedom: float) -> float:
    """Probability that Student's t with ``freedom`` degrees exceeds ``value``.

    With t = sqrt(freedom) / tan(angle) the density is a power of sin(angle), and with
    the square root of the angle it is smooth enough for Gauss' rule.
    """
    end = math.sqrt(math.pi / 2 - math.atan(value / math.sqrt(freedom)))
    places, shares = np.polynomial.legendre.leggauss(200)
    roots = (places + 1) * end / 2
    powers = np.sin(roots**2) ** (freedom - 1)
    integral = float(np.sum(shares * powers * 2 * roots)) * end / 2
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    return math.exp(scale) / math.sqrt(math.pi) * integral
