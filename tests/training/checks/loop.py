"""Training, evaluation and prediction."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from programs import (
    ORACLE,
    Journal,
    by_turns,
    checkpoints,
    linear,
    mirrored,
    recorded,
    rows,
    same_linear_weights,
    same_result,
    same_weights,
    training,
)

PLAIN = training("predict", "train_and_evaluate")
HOOKED = training("predict", "hooks", "train_and_evaluate", "exporters")
REPLICAS = training("predict", "train_and_evaluate", "strategy")
HOOKED_REPLICAS = training("predict", "hooks", "train_and_evaluate", "strategy")
EVALUATING = training("predict", "Callback.evaluate", "strategy")
INPUTS = training("predict", "input_fn(mode)", "numpy_input_fn", "pandas_input_fn")


def steps_of(module, folder, **config):
    return module.Trainer(
        linear(module), folder, module.RunConfig(save_checkpoints_steps=3, **config)
    )


def check_trains_evaluates_and_predicts_as_recorded(folder: str) -> None:
    figures = recorded("lifecycle", "train_and_evaluate_order")["results"][0][0]
    for module in PLAIN, HOOKED:
        trainer = steps_of(module, f"{folder}/{module is PLAIN}")
        assert trainer.train(rows(), max_steps=7) is trainer
        results = trainer.evaluate(rows(repeat=1))
        assert list(results) == ["mean_output", "loss", "global_step"]
        same_result((results, None), (figures, None))
        assert checkpoints(trainer.model_dir) == [
            f"model.ckpt-{n}" for n in (0, 3, 6, 7)
        ]
        predicted = list(trainer.predict(rows(repeat=1), ["output"]))
        assert [set(row) for row in predicted] == [{"output"}] * 4
        mean = np.mean([row["output"] for row in predicted])
        assert np.isclose(mean, figures["mean_output"][1], rtol=1e-5)
        whole = list(trainer.predict(rows(repeat=1), yield_single_examples=False))
        assert [batch["twice"].shape for batch in whole] == [(2, 1)] * 2
        older = trainer.evaluate(
            rows(repeat=1), checkpoint_path=f"{trainer.model_dir}/model.ckpt-3"
        )
        assert older["global_step"] == 3


def check_evaluates_by_turns_as_recorded(folder: str) -> None:
    seen = recorded("lifecycle", "train_and_evaluate_order")
    journal, results = Journal(), []
    for max_steps, throttle, name in (
        (7, 0, None),
        (10, 0, None),
        (10, 0, None),
        (16, 1000, "held_out"),
    ):
        journal.entries.append(["call", max_steps])
        result = by_turns(
            *(HOOKED, steps_of(HOOKED, folder), max_steps),
            hooks=[journal.callback(HOOKED, "train")],
            name=name,
            exporters=journal.exporter(),
            start_delay_secs=0,
            throttle_secs=throttle,
        )
        results.append(result)
    for result, recording in zip(results, seen["results"], strict=True):
        same_result(result, recording)
    assert checkpoints(folder) == seen["state"]["all"]
    # TensorFlow 1 asks for a step more before it finds the end of training.
    events = [entry for entry in seen["journal"] if entry[0] != "eval"]
    assert in_order(journal.entries) == in_order(events)


def in_order(entries):
    """The entries, where ends of training and last evaluations may change places."""
    entries = [tuple(map(str, entry)) for entry in entries]
    for index, entry in enumerate(entries[:-1]):
        if entry == ("train", "end") and entries[index + 1][0] == "export":
            entries[index : index + 2] = entries[index + 1], entry
    return entries


def check_ends_with_the_data_as_recorded(folder: str) -> None:
    for max_steps, (result, state) in zip(
        (50, None), recorded("lifecycle", "end_of_data")["results"], strict=True
    ):
        model_dir = f"{folder}/{max_steps}"
        found = by_turns(
            *(HOOKED, steps_of(HOOKED, model_dir), max_steps),
            repeat=2,
            steps=1,
            exporters=[Journal().exporter()],
        )
        same_result(found, result)
        assert checkpoints(model_dir) == state["all"]


def check_steps_add_up_and_max_steps_do_not(folder: str) -> None:
    for module in PLAIN, HOOKED:
        model_dir = f"{folder}/{module is PLAIN}"
        trainer = module.Trainer(linear(module), model_dir)
        trainer.train(rows(), steps=4)
        trainer.train(rows(), steps=3)
        assert trainer.global_step == 7
        trainer.train(rows(), max_steps=5)
        trainer.train(rows(), max_steps=9)
        assert trainer.global_step == 9
        other = module.Trainer(linear(module), model_dir)
        other.train(rows(), steps=1)
        # What another one has trained is where the first goes on.
        assert trainer.evaluate(rows(repeat=1)) == other.evaluate(rows(repeat=1))
        trainer.train(rows(), max_steps=11)
        assert trainer.global_step == 11


def check_resumes_with_weights_and_slots(folder: str) -> None:
    whole = PLAIN.Trainer(linear(PLAIN), f"{folder}/whole").train(rows(), steps=10)
    PLAIN.Trainer(linear(PLAIN), f"{folder}/parts").train(rows(), steps=6)
    resumed = PLAIN.Trainer(linear(PLAIN), f"{folder}/parts").train(rows(), steps=4)
    same_weights(whole, resumed)


def check_never_ends_by_an_exception_of_the_data(folder: str) -> None:
    for module in PLAIN, HOOKED:
        trainer = module.Trainer(linear(module), f"{folder}/{module is PLAIN}")
        trainer.train(rows(74, repeat=1))
        assert trainer.global_step == 37


def check_replicas_train_as_recorded(folder: str) -> None:
    seen = recorded("lifecycle", "replicas_train_and_evaluate")
    for module in REPLICAS, HOOKED_REPLICAS:
        model_dir = f"{folder}/{module is REPLICAS}"
        # The second of these strategies is the second of this process.
        trainer = steps_of(module, model_dir, strategy=mirrored())
        result = by_turns(module, trainer, 7, count=8)
        same_result((result[0], None), (seen["result"][0], None))
        assert checkpoints(model_dir) == seen["state"]["all"]
        same_linear_weights(trainer, seen["final"])


def check_replicas_share_ragged_data(folder: str) -> None:
    for module in REPLICAS, HOOKED_REPLICAS:
        config = module.RunConfig(strategy=mirrored())
        model_dir = f"{folder}/{module is REPLICAS}"
        trainer = module.Trainer(linear(module), model_dir, config)
        trainer.train(rows(9, repeat=1))  # batches of 2, 2, 2, 2 and 1
        assert trainer.global_step == 2
        single = PLAIN.Trainer(linear(PLAIN), trainer.model_dir)
        for repeat, steps in ((1, None), (3, 7)):
            found = trainer.evaluate(rows(9, repeat=repeat), steps)
            expected = single.evaluate(rows(9, repeat=repeat), steps)
            for name, value in expected.items():
                assert np.isclose(found[name], value, rtol=1e-5), name


def check_the_rate_of_the_program_wins(folder: str) -> None:
    decay = tf_keras.optimizers.schedules.ExponentialDecay
    for rates in (0.01, 0.5, 0.25), (decay(0.1, 5, 0.5), decay(0.3, 5, 0.5)):
        model_dir = f"{folder}/{rates[0]}"
        for rate in rates:
            trainer = PLAIN.Trainer(linear(PLAIN), model_dir, params=rate)
            trainer.train(rows(), steps=3)
            expected = (
                rate if isinstance(rate, float) else rate(trainer.global_step - 1)
            )
            found = trainer.task.optimizer.learning_rate.numpy()
            assert np.isclose(found, expected), rate


def check_loss_that_is_no_number_ends_training(folder: str) -> None:
    x = np.ones([10, 2], np.float32)
    y = np.array([[1.0]] * 4 + [[np.nan]] * 6, np.float32)
    for module in PLAIN, HOOKED:
        trainer = steps_of(module, f"{folder}/{module is PLAIN}")
        with pytest.raises(FloatingPointError, match="not a number after step 3"):
            trainer.train(
                lambda: tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(2)
            )
        assert checkpoints(trainer.model_dir) == ["model.ckpt-0"]


def check_old_checkpoint_is_named_in_one_sentence(folder: str) -> None:
    shutil.copytree(ORACLE / "checkpoint" / "tf115", folder, dirs_exist_ok=True)
    for module in PLAIN, HOOKED:
        trainer = module.Trainer(linear(module), folder)
        for use in trainer.train, trainer.evaluate, trainer.predict:
            with pytest.raises(ValueError, match="tfmigrate checkpoint convert"):
                list(use(rows()))


def check_writes_nothing_before_it_trains(folder: str) -> None:
    model_dir = Path(folder) / "model"
    trainer = PLAIN.Trainer(linear(PLAIN), str(model_dir))
    assert not model_dir.exists()
    trainer.train(rows(), steps=1)
    shutil.rmtree(model_dir)
    trainer = PLAIN.Trainer(linear(PLAIN), str(model_dir))
    trainer.train(rows(), steps=2)
    assert checkpoints(str(model_dir)) == ["model.ckpt-0", "model.ckpt-2"]


def check_saves_by_the_clock_within_one_call(folder: str) -> None:
    def slow():
        return rows()().map(
            lambda x, y: (tf.numpy_function(lambda: time.sleep(0.02), [], []), x, y)[1:]
        )

    for module in PLAIN, HOOKED:
        model_dir = f"{folder}/{module is PLAIN}"
        config = module.RunConfig(save_checkpoints_secs=0.2, log_step_count_steps=None)
        module.Trainer(linear(module), model_dir, config).train(slow, steps=40)
        kept = [int(name.rpartition("-")[2]) for name in checkpoints(model_dir)]
        assert len(kept) >= 4
        assert kept[-1] == 40


def check_keeps_as_many_checkpoints_as_it_is_told(folder: str) -> None:
    for keep, kept in ((2, [4, 5]), (0, [0, 1, 2, 3, 4, 5])):
        config = PLAIN.RunConfig(
            model_dir=f"{folder}/{keep}",
            save_checkpoints_steps=1,
            keep_checkpoint_max=keep,
        )
        PLAIN.Trainer(linear(PLAIN), config=config).train(rows(), steps=5)
        assert checkpoints(config.model_dir) == [f"model.ckpt-{step}" for step in kept]


def check_task_may_be_an_object_or_want_params(folder: str) -> None:
    trainer = PLAIN.Trainer(linear(PLAIN)(0.5), folder)
    assert np.isclose(trainer.task.optimizer.learning_rate.numpy(), 0.5)
    trainer = PLAIN.Trainer(linear(PLAIN), folder, None, 0.25)
    assert trainer.params == 0.25
    assert np.isclose(trainer.task.optimizer.learning_rate.numpy(), 0.25)


def check_predictions_may_be_one_tensor(folder: str) -> None:
    task = linear(PLAIN, predictions=lambda self, features, outputs: outputs[:, 0])
    trainer = PLAIN.Trainer(task, folder).train(rows(), steps=2)
    found = list(trainer.predict(lambda: rows(repeat=1)().map(lambda x, y: x)))
    assert [row.shape for row in found] == [()] * 4


def check_callbacks_see_steps_and_end_training(folder: str) -> None:
    class Watching(HOOKED.Callback):
        def __init__(self, last):
            self.last, self.seen = last, []

        def before_step(self, step):
            self.seen.append(step)

        def after_step(self, step, values):
            self.seen.append((step, float(values["loss"])))
            self.should_stop = step >= self.last

    watching, other = Watching(3), Watching(99)
    trainer = HOOKED.Trainer(linear(HOOKED), folder)
    trainer.train(rows(), [watching, other], 10)
    assert watching.seen == other.seen
    steps = [entry if isinstance(entry, int) else entry[0] for entry in watching.seen]
    assert steps == [0, 1, 1, 2, 2, 3]
    expected = recorded("lifecycle", "event_files")["train"]
    losses = {entry[0]: entry[2] for entry in expected if entry[1] == "loss"}
    seen = dict(entry for entry in watching.seen if isinstance(entry, tuple))
    for step in 1, 3:
        assert np.isclose(seen[step], losses[step], rtol=1e-5)
    assert checkpoints(folder) == ["model.ckpt-0", "model.ckpt-3"]
    # It may go on: that it was told to stop is over.
    watching.last = 5
    trainer.train(rows(), [watching], 10)
    assert trainer.global_step == 5


def check_evaluation_in_a_callback_leaves_training_alone(folder: str) -> None:
    class Evaluating(EVALUATING.Callback):
        steps = ()

        def after_step(self, step, values):
            # Of the latest checkpoint, as an Estimator did: steps since are not in it.
            results = trainer.evaluate(rows(repeat=1))
            next(trainer.predict(rows(repeat=1)))
            self.steps = (*self.steps, results["global_step"])

    for strategy in None, mirrored():
        alone = steps_of(REPLICAS, f"{folder}/alone{strategy}", strategy=strategy)
        alone.train(rows(8), steps=4)
        trainer = steps_of(EVALUATING, f"{folder}/with{strategy}", strategy=strategy)
        evaluating = Evaluating()
        trainer.train(rows(8), [evaluating], steps=4)
        assert evaluating.steps == (0, 0, 3, 3)
        assert trainer.global_step == 4
        same_weights(alone, trainer)
        assert trainer.evaluate(rows(repeat=1))["global_step"] == 4


def check_what_evaluations_write_does_not_leak(folder: str) -> None:
    class Counting(tf_keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf_keras.layers.Dense(1)
            self.calls = self.add_weight(
                "calls", (), initializer="zeros", trainable=False
            )

        def call(self, features, training=None):
            self.calls.assign_add(1.0)
            return self.dense(features)

    def __init__(self):
        self.model = Counting()
        self.optimizer = tf_keras.optimizers.SGD(0.1)

    for module in PLAIN, HOOKED:
        task = linear(
            module, __init__=__init__, update_metrics=lambda self, *batch: None
        )
        trainer = steps_of(module, f"{folder}/{module is PLAIN}")
        trainer = module.Trainer(task, trainer.model_dir, trainer.config)
        by_turns(module, trainer, 8)
        reader = tf.train.load_checkpoint(f"{trainer.model_dir}/model.ckpt-8")
        assert reader.get_tensor("model/calls/.ATTRIBUTES/VARIABLE_VALUE") == 8


def check_input_functions_get_what_they_ask_for(folder: str) -> None:
    seen = []

    def input_fn(mode, params, config):
        seen.append((mode, params, config.model_dir))
        return rows(repeat=1)()

    trainer = INPUTS.Trainer(
        linear(INPUTS), config=INPUTS.RunConfig(model_dir=folder), params=0.05
    )
    trainer.train(input_fn, steps=1)
    trainer.evaluate(input_fn)
    next(trainer.predict(input_fn))
    trainer.evaluate(rows(repeat=1))
    assert seen == [(mode, 0.05, folder) for mode in ("train", "eval", "infer")]


def check_tensors_are_fed_for_ever(folder: str) -> None:
    def tensors():
        return {"x": tf.constant([[1.0, 2.0]])}, tf.constant([[4.0]])

    trainer = INPUTS.Trainer(linear(INPUTS), folder)
    trainer.train(tensors, steps=25)
    assert trainer.global_step == 25
    assert trainer.evaluate(tensors, steps=2)["loss"] < 1.0
    # A data set of one batch is not: it ends.
    trainer.train(lambda: tf.data.Dataset.from_tensors(tensors()), steps=9)
    assert trainer.global_step == 26


X = np.arange(48, dtype=np.float32).reshape(24, 2) % 7 / 5.0
Y = (X.sum(axis=1, keepdims=True) * 0.7 + 0.3).astype(np.float32)


def plain(module):
    """The task of `plain_model_fn` of fixtures/oracle/loop/traps.py."""

    def __init__(self):
        kernel = tf.constant_initializer([[0.5], [-0.25]])
        self.model = tf_keras.Sequential(
            [tf_keras.layers.Dense(1, use_bias=False, kernel_initializer=kernel)]
        )
        self.optimizer = tf_keras.optimizers.SGD(0.1)
        self.metrics = []

    def watch(self, features, labels, outputs):
        return {"error": tf.reduce_mean(tf.abs(outputs - labels))}

    return linear(
        module,
        __init__=__init__,
        watch=watch,
        update_metrics=module.Task.update_metrics,
    )


def check_arrays_are_served_as_recorded(folder: str) -> None:
    seen = recorded("loop", "array_inputs")
    module = training("predict", "hooks", "numpy_input_fn")

    class Losses(module.Callback):
        def begin(self):
            self.seen = []

        def after_step(self, step, values):
            self.seen.append([values["loss"]])

    losses = Losses()
    trainer = module.Trainer(plain(module), folder)
    inputs = module.numpy_input_fn({"x": X}, Y, 10, num_epochs=2, shuffle=False)
    trainer.train(inputs, [losses], steps=20)
    np.testing.assert_allclose(losses.seen, seen["first"]["losses"], 1e-5)
    inputs = module.numpy_input_fn(
        {"x": X}, Y, batch_size=10, num_epochs=None, shuffle=False, num_threads=1
    )
    trainer.train(inputs, [losses], steps=4)
    np.testing.assert_allclose(losses.seen, seen["endless"]["losses"], 1e-5)
    few = module.numpy_input_fn({"x": X[:5]}, batch_size=2, shuffle=False)
    found = [row["output"][0] for row in trainer.predict(few)]
    np.testing.assert_allclose(found, seen["predicted"], 1e-5)


def check_data_frames_are_served() -> None:
    pandas = pytest.importorskip("pandas")
    x = np.arange(16, dtype=np.float32).reshape(8, 2)
    frame = pandas.DataFrame({"a": x[:, 0], "word": ["red", "blue"] * 4})
    series = pandas.Series(x[:, 1])
    serve = INPUTS.pandas_input_fn
    batches = list(serve(frame, series, batch_size=3, num_epochs=2, shuffle=False)())
    assert [len(labels) for _, labels in batches] == [3] * 5 + [1]
    assert batches[2][0]["word"].numpy().tolist() == [b"red", b"blue", b"red"]
    assert batches[2][1].numpy().tolist() == [13.0, 15.0, 1.0]
    labels = pandas.DataFrame({"one": x[:, 1]})
    (batch,) = list(serve(frame, labels, shuffle=True)())
    assert batch[1]["one"].shape == (8,)
    assert sorted(batch[0]["a"].numpy()) == list(x[:, 0])
