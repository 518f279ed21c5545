"""Timing figures."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tfmigrate.compat.hooks import TimingHook, TimingReport, write_csv


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def run_steps(hook: TimingHook, clock: Clock, seconds: list[float]) -> None:
    hook.begin()
    for duration in seconds:
        hook.before_run(None)
        clock.now += duration
        hook.after_run(None, None)
        clock.now += 1.0  # between two steps
    hook.end(None)


class TestTimingHook:
    def test_warm_up_is_kept_apart_and_time_between_steps_is_not_step_time(
        self,
    ) -> None:
        clock = Clock()
        hook = TimingHook(batch_size=10, replicas=4, warmup_steps=2, clock=clock)
        run_steps(hook, clock, [9.0, 8.0, 0.5, 0.25, 0.25])
        report = hook.report()
        assert report.warmup_seconds == (9.0, 8.0)
        assert report.step_seconds == (0.5, 0.25, 0.25)
        assert hook.times == [0.5, 0.25, 0.25]
        # 1 s of measured steps and the two gaps between them.
        assert report.wall_seconds == 3.0
        assert report.images_per_second == pytest.approx(40 / (1 / 3))
        assert report.images_per_second_per_replica == pytest.approx(10 / (1 / 3))
        assert report.images_per_second_wall == pytest.approx(40 * 3 / 3.0)

    def test_each_run_warms_up_and_runs_add_up(self) -> None:
        clock = Clock()
        hook = TimingHook(batch_size=1, warmup_steps=1, clock=clock)
        run_steps(hook, clock, [5.0, 1.0])
        run_steps(hook, clock, [6.0, 2.0, 3.0])
        report = hook.report()
        assert report.warmup_seconds == (5.0, 6.0)
        assert report.step_seconds == (1.0, 2.0, 3.0)
        assert report.wall_seconds == 1.0 + 6.0
        assert report.replicas == 1

    def test_report_in_the_middle_of_a_run(self) -> None:
        clock = Clock()
        hook = TimingHook(batch_size=1, warmup_steps=0, clock=clock)
        hook.begin()
        hook.before_run(None)
        clock.now += 2.0
        hook.after_run(None, None)
        assert hook.report().wall_seconds == 2.0

    def test_only_warm_up(self, tmp_path: Path) -> None:
        clock = Clock()
        path = tmp_path / "t.json"
        hook = TimingHook(batch_size=1, warmup_steps=5, output=path, clock=clock)
        run_steps(hook, clock, [1.0, 1.0])
        report = hook.report()
        assert math.isnan(report.mean_seconds)
        assert "no step was measured" in str(report)
        # Other readers refuse NaN.
        text = path.read_text()
        assert "NaN" not in text
        assert json.loads(text)["summary"]["mean_seconds"] is None

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"batch_size": 0}, "batch_size must be positive"),
            ({"warmup_steps": -1}, "must not be negative"),
            ({"replicas": 0}, "replicas must be positive"),
            ({"output": "t.txt"}, "must end in .json or .csv"),
        ],
    )
    def test_arguments(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            TimingHook(**arguments)

    def test_strategy_gives_the_replicas(self) -> None:
        strategy = tf.distribute.get_strategy()
        assert TimingHook(replicas=strategy).report().replicas == 1


class TestReport:
    def test_percentiles_are_numpys(self) -> None:
        values = tuple(np.random.default_rng(1).random(17))
        report = TimingReport(step_seconds=values, wall_seconds=1.0)
        for percent in (0, 10, 50, 90, 99, 100):
            assert report.percentile(percent) == pytest.approx(
                np.percentile(values, percent)
            )

    def test_json_round_trip(self, tmp_path: Path) -> None:
        report = TimingReport((0.5, 0.25), 0.8, (3.0,), 32, 2, "two")
        report.write_json(tmp_path / "r.json")
        assert TimingReport.read_json(tmp_path / "r.json") == report

    def test_foreign_json(self, tmp_path: Path) -> None:
        (tmp_path / "r.json").write_text("{}")
        with pytest.raises(ValueError, match="not a timing report"):
            TimingReport.read_json(tmp_path / "r.json")

    def test_csv(self, tmp_path: Path) -> None:
        write_csv([TimingReport((0.5,), 0.5, (), 32, 2, "two")], tmp_path / "r.csv")
        (row,) = csv.DictReader((tmp_path / "r.csv").open())
        assert (row["name"], row["images_per_second"]) == ("two", "128.0")

    def test_no_throughput_without_a_batch_size(self) -> None:
        assert TimingReport((0.5,), 0.5).images_per_second is None
