"""Step times of one training run, summed up and written to files.

No TensorFlow here: reports are read back and compared on any machine.
"""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["TimingReport", "percentile", "write_csv"]

_FORMAT = 1


def percentile(values: Sequence[float], percent: float) -> float:
    """The value below which ``percent`` of ``values`` lie (linear between two)."""
    if not values:
        return math.nan
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100.0
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


@dataclass(frozen=True)
class TimingReport:
    """What a :class:`TimingHook` measured.

    ``step_seconds`` are the measured steps without the warm-up; a step is the
    session call (or the step function), ``wall_seconds`` is the whole time from
    the first measured step to the last, with input and hooks in between.
    ``batch_size`` is per replica, as an Estimator's input function means it.
    """

    step_seconds: tuple[float, ...]
    wall_seconds: float
    warmup_seconds: tuple[float, ...] = ()
    batch_size: int | None = None
    replicas: int = 1
    name: str | None = None

    @property
    def steps(self) -> int:
        """Number of measured steps."""
        return len(self.step_seconds)

    @property
    def mean_seconds(self) -> float:
        """Mean time of a measured step; NaN when nothing was measured."""
        return sum(self.step_seconds) / self.steps if self.steps else math.nan

    @property
    def global_batch_size(self) -> int | None:
        """Examples of one step over all replicas."""
        return None if self.batch_size is None else self.batch_size * self.replicas

    @property
    def images_per_second(self) -> float | None:
        """Examples per second over all replicas, from the mean step time."""
        batch = self.global_batch_size
        return None if batch is None else batch / self.mean_seconds

    @property
    def images_per_second_per_replica(self) -> float | None:
        """Examples per second of one replica."""
        total = self.images_per_second
        return None if total is None else total / self.replicas

    @property
    def images_per_second_wall(self) -> float | None:
        """Examples per second with everything between the steps counted."""
        batch = self.global_batch_size
        if batch is None:
            return None
        return batch * self.steps / self.wall_seconds if self.wall_seconds else math.nan

    def percentile(self, percent: float) -> float:
        """A percentile of the measured step times, in seconds."""
        return percentile(self.step_seconds, percent)

    def summary(self) -> dict[str, Any]:
        """The figures, without the single steps."""
        return {
            "name": self.name,
            "replicas": self.replicas,
            "batch_size_per_replica": self.batch_size,
            "batch_size_global": self.global_batch_size,
            "warmup_steps": len(self.warmup_seconds),
            "steps": self.steps,
            "mean_seconds": self.mean_seconds,
            "p50_seconds": self.percentile(50),
            "p90_seconds": self.percentile(90),
            "p99_seconds": self.percentile(99),
            "min_seconds": min(self.step_seconds, default=math.nan),
            "max_seconds": max(self.step_seconds, default=math.nan),
            "wall_seconds": self.wall_seconds,
            "images_per_second": self.images_per_second,
            "images_per_second_per_replica": self.images_per_second_per_replica,
            "images_per_second_wall": self.images_per_second_wall,
        }

    def __str__(self) -> str:
        if not self.steps:
            return "no step was measured (all of them were warm-up)"
        text = (
            f"{self.steps} steps of {self.mean_seconds * 1e3:.1f} ms "
            f"(median {self.percentile(50) * 1e3:.1f}, "
            f"90 % {self.percentile(90) * 1e3:.1f}, "
            f"99 % {self.percentile(99) * 1e3:.1f})"
        )
        if self.images_per_second is not None:
            text += (
                f", {self.images_per_second:.1f} images/s with "
                f"{self.replicas} replica(s), "
                f"{self.images_per_second_per_replica:.1f} per replica"
            )
        return text

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Writes everything, single steps included, to a JSON file."""
        data = {"format": _FORMAT, "report": asdict(self), "summary": self.summary()}
        with open(path, "w", encoding="utf-8") as file:
            # A figure that does not exist (no step) is null, not the NaN that
            # other readers of JSON refuse.
            json.dump(_without_nan(data), file, indent=1)
            file.write("\n")

    @classmethod
    def read_json(cls, path: str | os.PathLike[str]) -> TimingReport:
        """Reads what :meth:`write_json` wrote."""
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        if data.get("format") != _FORMAT:
            raise ValueError(f"{os.fspath(path)} is not a timing report of format 1.")
        fields = data["report"]
        for name in ("step_seconds", "warmup_seconds"):
            fields[name] = tuple(fields[name])
        return cls(**fields)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Mapping):
        return {k: _without_nan(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(v) for v in value]
    return value


def write_csv(reports: Sequence[TimingReport], path: str | os.PathLike[str]) -> None:
    """One line of figures per report, for spreadsheets."""
    rows = [report.summary() for report in reports]
    with open(path, "w", encoding="utf-8", newline="") as file:
        columns = list(rows[0]) if rows else []
        writer = csv.DictWriter(file, fieldnames=columns)
        writer.writeheader()
        writer.writerows(rows)
