"""The words of a program: what they take, refuse and say about themselves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tfmigrate.runtime.config import DistributeConfig, RunConfig
from tfmigrate.runtime.estimator import Estimator
from tfmigrate.runtime.inputs import (
    dataset_of,
    numpy_input_fn,
    pandas_input_fn,
)
from tfmigrate.runtime.iterators import make_one_shot_iterator
from tfmigrate.runtime.variables import ModelVariables
from tfmigrate.runtime.vocabulary import EstimatorSpec, EvalSpec, ModeKeys, TrainSpec

v1 = tf.compat.v1


def test_a_configuration_is_replaced_in_a_copy() -> None:
    config = RunConfig(save_checkpoints_steps=3)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (3, None)
    other = config.replace(save_checkpoints_secs=5, model_dir="there")
    assert (other.save_checkpoints_steps, other.save_checkpoints_secs) == (None, 5)
    assert (config.model_dir, other.model_dir) == (None, "there")
    with pytest.raises(ValueError, match="no_such"):
        config.replace(no_such=1)


def test_checkpoints_are_saved_every_ten_minutes_unless_it_is_said_otherwise() -> None:
    assert RunConfig().saves_every == (None, 600)
    assert RunConfig(save_checkpoints_secs=None).saves_every == (None, None)
    with pytest.raises(ValueError, match="cannot be both set"):
        RunConfig(save_checkpoints_steps=3, save_checkpoints_secs=5)


def test_strategies_may_come_in_a_distribute_config() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    given = DistributeConfig(train_distribute=strategy)
    config = RunConfig(experimental_distribute=given)
    assert config.train_distribute is strategy
    assert config.eval_distribute is None
    given = DistributeConfig(strategy, remote_cluster={"worker": ["a:1"]})
    with pytest.raises(ValueError, match="as each task of the cluster"):
        RunConfig(experimental_distribute=given)


def test_the_place_in_a_cluster_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}
    for task, index, chief in (("chief", 0, True), ("worker", 1, False)):
        given = {"cluster": cluster, "task": {"type": task, "index": index}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(given))
        config = RunConfig()
        assert (config.task_type, config.task_id) == (task, index)
        assert config.is_chief is chief
        assert (config.num_worker_replicas, config.num_ps_replicas) == (3, 1)


def test_a_loop_of_one_process_has_no_part_in_a_cluster(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["d:1"]}
    given = {"cluster": cluster, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(given))
    estimator = Estimator(print, tmp_path, RunConfig())
    with pytest.raises(ValueError, match="one of a cluster with 2 more tasks"):
        estimator.train(print, steps=1)


def test_specifications_say_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"Missing loss\."):
        EstimatorSpec(ModeKeys.EVAL)
    with pytest.raises(ValueError, match=r"Missing train_op\."):
        EstimatorSpec(ModeKeys.TRAIN, loss=tf.constant(1.0))
    with pytest.raises(ValueError, match=r"Missing predictions\."):
        EstimatorSpec(ModeKeys.PREDICT)
    with pytest.raises(ValueError, match="max_steps > 0"):
        TrainSpec(print, max_steps=0)
    with pytest.raises(TypeError, match="must be callable"):
        EvalSpec("no function")  # type: ignore[arg-type]
    spec = EstimatorSpec(ModeKeys.EVAL, loss=tf.constant([[1.0]]))
    assert spec.loss.shape.rank == 0
    assert spec._replace(predictions={"a": 1}).predictions == {"a": 1}


def test_two_directories_are_one_too_many(tmp_path: Path) -> None:
    config = RunConfig(model_dir=str(tmp_path / "a"))
    with pytest.raises(ValueError, match="different values"):
        Estimator(print, tmp_path / "b", config)
    assert Estimator(print, config=config).model_dir == str(tmp_path / "a")


def test_arrays_become_batches_across_epochs() -> None:
    data = numpy_input_fn(
        {"x": np.arange(5)}, np.arange(5) * 2, batch_size=2, num_epochs=2, shuffle=False
    )()
    found = [(f["x"].numpy().tolist(), y.numpy().tolist()) for f, y in data]
    assert found[2] == ([4, 0], [8, 0])
    assert len(found) == 5
    with pytest.raises(ValueError, match="shuffle must be provided"):
        numpy_input_fn(np.arange(5))


def test_frames_become_batches() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
    features, labels = next(
        iter(pandas_input_fn(frame, frame["a"], batch_size=2, shuffle=False)())
    )
    assert features["b"].numpy().tolist() == [b"x", b"y"]
    assert labels.numpy().tolist() == [1.5, 2.5]


def test_work_on_the_batches_of_an_iterator_is_part_of_the_data_replicas_need() -> None:
    def tensors() -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        drawn = np.random.rand(4)
        data = tf.data.Dataset.from_tensor_slices((np.arange(4.0), drawn)).batch(2)
        x, y = make_one_shot_iterator(data).get_next()
        return {"x": x, "square": x * x}, y

    np.random.seed(7)
    expected = np.random.rand(4)
    np.random.seed(7)
    made = dataset_of(tensors, needed=True)
    assert made is not None
    first, second = made.as_numpy_iterator()
    assert second[0]["square"].tolist() == [4, 9]
    assert [*first[1], *second[1]] == expected.tolist()
    # One replica takes the tensors as they are.
    assert dataset_of(tensors) is None


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("a/beta1_power", "a/a/beta1_power"),
        ("b/a/a/beta2_power", "b/a/beta2_power"),
        ("ba/a/beta1_power", "ba/a/a/beta1_power"),
        ("a/beta1_power", "a/beta1_power"),
        ("beta1_power", "beta1_power"),
    ],
)
def test_powers_are_found_that_replicas_named(name: str, saved: str) -> None:
    # TensorFlow 1.15.5: `with tf.variable_scope("a")` around an AdamOptimizer, trained
    # under MirroredStrategy, saves `a/a/beta1_power`; without it `a/beta1_power`.
    variables = ModelVariables(None, tf.distribute.get_strategy())
    variables.saved = {saved: []}
    assert variables.name_in_checkpoint(name) == saved


def test_two_iterators_are_no_data_set() -> None:
    def tensors() -> tuple[tf.Tensor, tf.Tensor]:
        x, y = (tf.data.Dataset.range(count) for count in (3, 4))
        return (
            make_one_shot_iterator(x).get_next(),
            make_one_shot_iterator(y).get_next(),
        )

    with pytest.raises(ValueError, match=r"must return a tf\.data\.Dataset"):
        dataset_of(tensors, needed=True)


def test_importing_the_parts_loads_nothing_of_the_tool() -> None:
    code = (
        "import sys, tfmigrate.runtime.estimator; "
        "print(sorted(m for m in sys.modules if m.startswith('tfmigrate.')"
        " and not m.startswith('tfmigrate.runtime')), 'tf_keras' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[] False"
