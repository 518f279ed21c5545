"""Timing figures, and session hooks in a loop without a session."""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tfmigrate.compat.hooks import (
    HookDriver,
    TimingHook,
    TimingReport,
    plot_throughput,
    write_csv,
)

tf1 = tf.compat.v1


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

    def test_no_throughput_without_a_batch_size(self, tmp_path: Path) -> None:
        report = TimingReport((0.5,), 0.5)
        assert report.images_per_second is None
        with pytest.raises(ValueError, match="no batch size"):
            plot_throughput([report], tmp_path / "p.png")

    def test_plot_without_matplotlib(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(ImportError, match=r"tfmigrate\[plots\]"):
            plot_throughput([TimingReport((0.5,), 0.5, (), 2)], tmp_path / "p.png")


class Recorder(tf1.train.SessionRunHook):
    """Does in a loop all that hooks do in a session."""

    def __init__(self, fetches: Any = None) -> None:
        self.fetches = fetches
        self.calls: list[Any] = []

    def begin(self) -> None:
        counter = tf1.get_variable("counter", [], initializer=tf1.zeros_initializer())
        self.count = counter.assign_add(1.0)
        self.calls.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = session.run(tf1.train.get_global_step())
        self.calls.append(("session", int(step)))

    def before_run(self, run_context: Any) -> Any:
        if self.fetches is None:
            return None
        return tf1.train.SessionRunArgs(self.fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        counted = float(run_context.session.run(self.count))
        step = int(run_context.session.run(tf1.train.get_global_step()))
        self.calls.append((run_values.results, counted, step))

    def end(self, session: Any) -> None:
        self.calls.append("end")


class Copied:
    """A device value that notices when it is copied to the host."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.copies = 0

    def numpy(self) -> Any:
        self.copies += 1
        return np.float32(self.value)


class TestHookDriver:
    def test_order_values_and_steps(self) -> None:
        hook = Recorder({"a": "loss", "b": ["accuracy:0", "loss"]})
        step = tf.Variable(40, dtype=tf.int64)
        with HookDriver([hook], values=["loss", "accuracy"], step=step) as driver:
            for value in (1.5, 2.5):
                driver.before_step()
                step.assign_add(1)
                driver.after_step(loss=tf.constant(value), accuracy=0.5)
            assert driver.global_step == 42
        assert hook.calls == [
            "begin",
            ("session", 40),
            ({"a": 1.5, "b": [0.5, 1.5]}, 1.0, 41),
            ({"a": 2.5, "b": [0.5, 2.5]}, 2.0, 42),
            "end",
        ]

    def test_dtypes_and_vectors(self) -> None:
        hook = Recorder("labels")
        with HookDriver([hook], values={"labels": tf.string}) as driver:
            driver.before_step()
            driver.after_step(labels=np.array([b"x", b"y"], object))
        assert hook.calls[2][0].tolist() == [b"x", b"y"]

    def test_nothing_is_copied_unless_fetched(self) -> None:
        value = Copied(1.0)
        with HookDriver([tf1.train.SessionRunHook()]) as driver:
            driver.before_step()
            driver.after_step(loss=value)
        assert value.copies == 0
        with HookDriver([TimingHook()]) as driver:
            driver.before_step()
            driver.after_step(loss=value)
        assert value.copies == 1

    def test_stock_hooks(self, tmp_path: Path) -> None:
        def hooks() -> list[Any]:
            loss = tf1.get_default_graph().get_tensor_by_name("loss:0")
            return [
                tf1.train.StopAtStepHook(num_steps=5),
                tf1.train.LoggingTensorHook(["loss"], every_n_iter=2),
                tf1.train.StepCounterHook(2, output_dir=str(tmp_path)),
                tf1.train.SummarySaverHook(
                    save_steps=2,
                    output_dir=str(tmp_path),
                    summary_op=tf1.summary.scalar("seen_loss", loss),
                ),
            ]

        done = 0
        with HookDriver(hooks) as driver:
            while not driver.should_stop:
                with driver.step() as values:
                    values["loss"] = 10.0 - done
                done += 1
        assert done == 5
        tags = [
            (event.step, value.tag)
            for path in tmp_path.iterdir()
            for event in tf1.train.summary_iterator(str(path))
            for value in event.summary.value
        ]
        assert [step for step, tag in tags if tag == "seen_loss"] == [1, 3, 5]
        assert (3, "global_step/sec") in tags

    def test_nan_guard(self) -> None:
        with (
            pytest.raises(tf1.train.NanLossDuringTrainingError),
            HookDriver([tf1.train.NanTensorHook("loss")]) as driver,
        ):
            driver.before_step()
            driver.after_step(loss=float("nan"))

    def test_errors_skip_end_and_the_end_of_data_does_not(self) -> None:
        failed, ended = Recorder(), Recorder()
        with pytest.raises(ZeroDivisionError), HookDriver([failed]):
            raise ZeroDivisionError
        assert "end" not in failed.calls
        with HookDriver([ended]):
            raise tf.errors.OutOfRangeError(None, None, "no more data")
        assert ended.calls[-1] == "end"

    def test_misuse(self) -> None:
        driver = HookDriver([Recorder("loss")], values=["loss"])
        with pytest.raises(RuntimeError, match="with statement"):
            driver.before_step()
        with driver:
            with pytest.raises(RuntimeError, match="without before_step"):
                driver.after_step(loss=1.0)
            driver.before_step()
            with pytest.raises(RuntimeError, match="twice"):
                driver.before_step()
            with pytest.raises(ValueError, match="not told of these values"):
                driver.after_step(los=1.0)
            driver.before_step()
            with pytest.raises(ValueError, match=r"not given: one of \['loss'\]"):
                driver.after_step()

    def test_hooks_that_cannot_work_are_refused_with_advice(
        self, tmp_path: Path
    ) -> None:
        directory = str(tmp_path)
        with tf1.Graph().as_default():  # ProfilerHook opens its file at once
            refused = (
                (tf1.train.CheckpointSaverHook(directory, 1), "CheckpointManager"),
                (tf1.train.ProfilerHook(1, output_dir=directory), "tf.profiler"),
                (tf1.train.FeedFnHook(dict), "step function"),
            )
        for hook, advice in refused:
            with pytest.raises(ValueError, match=advice):
                HookDriver([hook])
        with pytest.raises(TypeError, match="SessionRunHook instances"):
            HookDriver(["no hook"])

    def test_feeding_is_refused(self) -> None:
        class Feeds(tf1.train.SessionRunHook):
            def before_run(self, run_context: Any) -> Any:
                return tf1.train.SessionRunArgs(None, feed_dict={"loss:0": 1.0})

        with (
            pytest.raises(ValueError, match="Feeds feeds tensors"),
            HookDriver([Feeds()]) as driver,
        ):
            driver.before_step()
