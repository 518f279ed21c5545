"""Student's t and the two one-sided tests, without a statistics package."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


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
    def difference(self) -> float:
        """Second mean minus first."""
        return self.mean_second - self.mean_first

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
    """Probability that Student's t with ``freedom`` degrees exceeds ``value``."""
    half = 0.5 * _beta(freedom / 2, 0.5, freedom / (freedom + value * value))
    return half if value >= 0 else 1 - half


def _moments(values: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)


def _beta(a: float, b: float, x: float) -> float:
    """Regularised incomplete beta function, by its continued fraction."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log1p(-x)
    )
    # The fraction converges fast only below the mean; use symmetry above it.
    if x > (a + 1) / (a + b + 2):
        return 1 - front * _fraction(b, a, 1 - x) / b
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz' evaluation of the continued fraction of the beta function."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    result = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            change = d * c
            result *= change
        if abs(change - 1) < 1e-15:
            break
    return result
