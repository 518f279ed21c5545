"""Student's t and the two one-sided tests, without a statistics package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Equivalence:
    """Are two means closer than ``margin``? Both one-sided tests must say so.

    ``p_value`` is the larger of the two tests' p-values: the risk of calling
    programs equivalent whose true means are ``margin`` or more apart.
    """

    mean_first: float
    mean_second: float
    spread_first: float
    spread_second: float
    runs: int
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
    if len(first) < 2 or len(second) < 2:
        raise ValueError("an equivalence test needs at least two runs of each side")
    mean_1, variance_1 = _moments(first)
    mean_2, variance_2 = _moments(second)
    share_1, share_2 = variance_1 / len(first), variance_2 / len(second)
    error = math.sqrt(share_1 + share_2)
    difference = mean_2 - mean_1
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
    return Equivalence(
        mean_first=mean_1,
        mean_second=mean_2,
        spread_first=math.sqrt(variance_1),
        spread_second=math.sqrt(variance_2),
        runs=len(first),
        margin=margin,
        p_value=p_value,
    )


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


def _moments(values: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
