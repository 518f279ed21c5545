"""Listing, comparing and converting checkpoints of both generations.

The TF1 side is a checkpoint that real TF 1.15 wrote: Adam's slots and powers, a
partitioned variable, batch-norm statistics, a moving average, step 5.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tfmigrate.cli.checkpoint import checkpoint
from tfmigrate.errors import UserError

TF1 = str(Path(__file__).parents[3] / "fixtures" / "oracle" / "lifecycle" / "handover")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(
        checkpoint, [str(a) for a in arguments], catch_exceptions=False
    )


def read(prefix: object) -> Any:
    import tensorflow as tf

    return tf.train.load_checkpoint(str(prefix))


def program(flavour: str, *, second: str = "second", sgd: bool = False) -> Any:
    """Model, optimizer and step of a rewritten program, one step trained."""
    import keras
    import tensorflow as tf
    import tf_keras

    k = keras if flavour == "keras3" else tf_keras
    tf.random.set_seed(1)
    model = k.Sequential(
        [
            k.layers.Dense(4, use_bias=False, name="first"),
            k.layers.BatchNormalization(name="normal"),
            k.layers.Dense(1, use_bias=False, name=second),
        ]
    )
    model.build((None, 3))
    if flavour == "v1":
        optimizer = tf.compat.v1.train.AdamOptimizer(0.05)
    elif sgd:
        optimizer = k.optimizers.SGD(0.05, momentum=0.9)
    else:
        rate: Any = 0.05
        if flavour == "schedule":
            rate = k.optimizers.schedules.ExponentialDecay(0.05, 10, 0.9)
        optimizer = k.optimizers.Adam(rate)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones([2, 3]), training=True) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    step = tf.Variable(1, dtype=tf.int64, name="step")
    return tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)


@pytest.mark.parametrize("flavour", ["v1", "tf_keras", "keras3", "schedule"])
def test_a_tf1_run_goes_on_in_tf2_and_back(flavour: str, tmp_path: Path) -> None:
    old = read(Path(TF1) / "model.ckpt-5")
    template = program(flavour).save(str(tmp_path / "template" / "ckpt"))
    moved = tmp_path / "moved" / "ckpt-1"
    result = run("convert", TF1, "--like", template, "-o", moved)
    assert result.exit_code == 0, result.output
    # What has no place in the new program is named.
    assert "not used: second/kernel/ExponentialMovingAverage" in result.output
    assert "next: --map NEW=OLD says which" in result.output

    fresh = program(flavour)
    fresh.restore(str(moved)).assert_consumed()
    assert int(fresh.step.numpy()) == 5
    values = {
        "first/kernel": fresh.model.layers[0].kernel,
        "normal/gamma": fresh.model.layers[1].gamma,
        "normal/moving_mean": fresh.model.layers[1].moving_mean,
        "normal/moving_variance": fresh.model.layers[1].moving_variance,
        "second/kernel": fresh.model.layers[2].kernel,
    }
    for name, variable in values.items():
        np.testing.assert_array_equal(np.asarray(variable), old.get_tensor(name))
    assert run("diff", TF1, moved).output.count("only in") == 1  # the average
    # Slots sit with their weights, not with their neighbours.
    kernel = fresh.model.layers[2].kernel
    if flavour == "v1":
        m, v = (fresh.optimizer.get_slot(kernel, s) for s in ("m", "v"))
    else:
        position = [id(w) for w in fresh.model.trainable_variables].index(id(kernel))
        m = fresh.optimizer._momentums[position]
        v = fresh.optimizer._velocities[position]
        assert int(fresh.optimizer.iterations.numpy()) == 5
    np.testing.assert_array_equal(np.asarray(m), old.get_tensor("second/kernel/Adam"))
    np.testing.assert_array_equal(np.asarray(v), old.get_tensor("second/kernel/Adam_1"))

    # And back, after some change.
    fresh.step.assign(12)
    if flavour != "v1":
        fresh.optimizer.iterations.assign(12)
    fresh.model.layers[0].kernel.assign(np.full([3, 4], 2.0, np.float32))
    m.assign(np.full([4, 1], 0.25, np.float32))
    changed = fresh.save(str(tmp_path / "changed" / "ckpt"))
    back = tmp_path / "back" / "model.ckpt-12"
    assert run("convert", changed, "--like", TF1, "-o", back).exit_code == 0
    new = read(back)
    assert int(new.get_tensor("global_step")) == 12
    assert new.get_tensor("first/kernel").tolist() == [[2.0] * 4] * 3
    assert new.get_tensor("second/kernel/Adam").ravel().tolist() == [0.25] * 4
    np.testing.assert_array_equal(
        new.get_tensor("second/kernel/Adam_1"), old.get_tensor("second/kernel/Adam_1")
    )
    if flavour != "v1":
        assert new.get_tensor("beta1_power") == pytest.approx(0.9**13, rel=1e-5)
        assert new.get_tensor("beta2_power") == pytest.approx(0.999**13, rel=1e-5)


def test_list(tmp_path: Path) -> None:
    data = json.loads(run("list", TF1, "--format", "json").output)
    assert (data["kind"], data["step"]) == ("name-based", 5)
    roles = {e["name"]: (e["role"], e["weight"], e["slot"]) for e in data["entries"]}
    assert roles["first/kernel"] == ("weight", None, None)
    assert roles["first/kernel/Adam_1"] == ("slot", "first/kernel", "v")
    assert roles["beta1_power"][0] == "power"
    assert roles["global_step"][0] == "step"
    text = run("list", Path(TF1) / "model.ckpt-5.index").output
    assert "slot m of second/kernel" in text
    path = program("keras3").save(str(tmp_path / "ckpt"))
    text = run("list", path).output
    assert "object-based, step 1" in text
    assert "slot v of sequential" in text


def test_diff_says_what_differs(tmp_path: Path) -> None:
    assert run("diff", TF1, TF1).exit_code == 0
    made = program("tf_keras")
    a = made.save(str(tmp_path / "a" / "ckpt"))
    made.model.layers[1].gamma.assign_add([0, 0, 0.5, 0])
    b = made.save(str(tmp_path / "b" / "ckpt"))
    result = run("diff", a, b)
    assert result.exit_code == 1
    assert "normal/gamma: differs by up to 0.5" in result.output
    assert run("diff", a, b, "--tolerance", "0.6").exit_code == 0


def test_momentum_is_rescaled(tmp_path: Path) -> None:
    import tensorflow as tf

    names = ["first/kernel", "second/kernel", "normal/gamma", "normal/beta"]
    shapes = [[3, 4], [4, 1], [4], [4]]
    values = {n: np.ones(s, np.float32) for n, s in zip(names, shapes, strict=True)}
    slots = {f"{n}/Momentum": 2 * v for n, v in values.items()}
    rest = {
        "normal/moving_mean": np.ones([4], np.float32),
        "normal/moving_variance": np.ones([4], np.float32),
        "global_step": np.int64(3),
    }
    everything = {**values, **slots, **rest}
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "old"),
        tensor_names=list(everything),
        shape_and_slices=[""] * len(everything),
        tensors=[tf.constant(v) for v in everything.values()],
    )
    made = program("keras3", sgd=True)
    template = made.save(str(tmp_path / "template" / "ckpt"))
    moved = tmp_path / "moved"
    assert (
        run("convert", tmp_path / "old", "--like", template, "-o", moved).exit_code == 0
    )
    made.restore(str(moved)).assert_consumed()
    # Velocity is -learning_rate * momentum: -0.05 * 2.
    for velocity in made.optimizer.momentums:
        np.testing.assert_allclose(np.asarray(velocity), -0.1, rtol=1e-6)


def test_unknown_names_need_a_map_and_nothing_is_written(tmp_path: Path) -> None:
    template = program("tf_keras", second="last").save(str(tmp_path / "t" / "ckpt"))
    moved = tmp_path / "moved" / "ckpt-1"
    with pytest.raises(UserError, match="no value found for: last/kernel") as caught:
        run("convert", TF1, "--like", template, "-o", moved)
    assert "--map NEW=OLD" in (caught.value.hint or "")
    assert not moved.parent.exists()
    arguments = ("convert", TF1, "--like", template, "-o", moved)
    result = run(*arguments, "--map", "last/kernel=second/kernel")
    assert result.exit_code == 0, result.output
    assert "last/kernel <- second/kernel" in result.output
    with pytest.raises(UserError, match="no weight 'none'"):
        run(*arguments, "--map", "none=second/kernel")
    with pytest.raises(UserError, match="expected NEW=OLD"):
        run(*arguments, "--map", "last/kernel")


def test_paths_that_are_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no checkpoint in this directory"):
        run("list", tmp_path)
    with pytest.raises(UserError, match="no such file or directory"):
        run("list", tmp_path / "model.ckpt-1")


def copied(folder: Path) -> Path:
    """The TF1 checkpoint as the user's own, its prefix."""
    folder.mkdir()
    for file in Path(TF1).iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    return folder / "model.ckpt-5"


def test_a_relative_result_is_what_its_folder_goes_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name that a program prints is below its model_dir, which may be relative."""
    import tensorflow as tf

    copied(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    for output in ("./mine/model.ckpt-6", "mine/model.ckpt-7", "model.ckpt-8"):
        assert run("convert", TF1, "--like", TF1, "-o", output).exit_code == 0
        latest = tf.train.latest_checkpoint(str(Path(output).parent))
        assert latest is not None
        assert Path(latest) == Path(output)


def test_a_conversion_overwrites_neither_side_nor_another(tmp_path: Path) -> None:
    mine = copied(tmp_path / "mine")
    before = {f.name: f.read_bytes() for f in mine.parent.iterdir()}
    (tmp_path / "alias").symlink_to(mine.parent)
    for source, like, words in (
        (mine, TF1, "is the source itself"),
        (mine.parent, TF1, "is the source itself"),
        (TF1, mine, "is the template itself"),
        (TF1, TF1, "there is a checkpoint of this name"),
    ):
        for output in (mine, tmp_path / "alias" / mine.name):
            with pytest.raises(UserError, match=words):
                run("convert", source, "--like", like, "-o", output)
    assert {f.name: f.read_bytes() for f in mine.parent.iterdir()} == before
    # With --force, and another name beside it: the folder's list keeps the others.
    assert run("convert", TF1, "--like", TF1, "-o", mine, "--force").exit_code == 0
    beside = mine.parent / "model.ckpt-6"
    assert run("convert", TF1, "--like", TF1, "-o", beside).exit_code == 0
    listed = (mine.parent / "checkpoint").read_text()
    assert 'all_model_checkpoint_paths: "model.ckpt-5"' in listed
    assert listed.startswith('model_checkpoint_path: "model.ckpt-6"')


@pytest.mark.parametrize(
    ("ending", "size"),
    [(".index", 0), (".index", 100), (".data", 0), (".data", 40), (".data", None)],
)
def test_truncated_and_missing_data_is_told(
    ending: str, size: int | None, tmp_path: Path
) -> None:
    mine = copied(tmp_path / "mine")
    (file,) = (f for f in mine.parent.iterdir() if f"ckpt-5{ending}" in f.name)
    if size is None:
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(UserError, match=r"ckpt-5: cannot be read") as told:
        run("diff", mine, TF1)
    assert "\n" not in told.value.message


def test_no_place_for_the_result_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        run("convert", TF1, "--like", TF1, "-o", tmp_path / "file" / "ckpt")
    with pytest.raises(UserError, match="is a folder"):
        run("convert", TF1, "--like", TF1, "-o", tmp_path)
