"""The picture of a scaling experiment: throughput against replicas."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .report import TimingReport

__all__ = ["plot_throughput"]


def plot_throughput(
    reports: Sequence[TimingReport], path: str | os.PathLike[str], *, title: str = ""
) -> None:
    """Draws images/s and time per step over the number of replicas.

    The dashed line is what perfect scaling of the smallest run would give.
    Needs matplotlib (``pip install "tfmigrate[plots]"``).
    """
    if not reports:
        raise ValueError("There is no report to plot.")
    without = [r.name or "unnamed" for r in reports if r.images_per_second is None]
    if without:
        raise ValueError(
            f"These reports have no batch size, so no throughput: {without}. "
            "Give batch_size= to their TimingHook."
        )
    try:
        # The figure class alone: no window system, no global state.
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise ImportError(
            'Plots need matplotlib: pip install "tfmigrate[plots]"'
        ) from error

    ordered = sorted(reports, key=lambda r: r.replicas)
    replicas = [r.replicas for r in ordered]
    rates = [r.images_per_second for r in ordered]
    figure = Figure(figsize=(9, 4), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title)
    left, right = figure.subplots(1, 2)
    left.plot(replicas, rates, "o-", label="measured")
    base = ordered[0].images_per_second_per_replica
    assert base is not None
    left.plot(replicas, [base * n for n in replicas], "--", label="perfect scaling")
    left.set_ylabel("images per second")
    left.legend()
    right.plot(replicas, [r.mean_seconds * 1e3 for r in ordered], "o-")
    right.set_ylabel("mean step, ms")
    for axes in (left, right):
        axes.set_xlabel("replicas")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
    figure.savefig(os.fspath(path))
