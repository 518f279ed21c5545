"""Watched values, stock callbacks, event files, exports and other optional parts."""

from __future__ import annotations

import glob
import gzip
import logging
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from loop import X, Y, plain
from programs import (
    Journal,
    by_turns,
    checkpoints,
    linear,
    mirrored,
    recorded,
    rows,
    same_linear_weights,
    same_result,
    same_values,
    same_weights,
    training,
)

STOCK = training(
    *("predict", "watch", "LogValues", "LogValues(formatter)", "StopAtStep"),
    *("NanGuard", "StepCounter"),
    *("Profiler", "summed", "strategy"),
)
SUMMED = training(
    "predict", "save_summary_steps", "hooks", "train_and_evaluate", "strategy"
)
EXPORTING = training(
    *("predict", "eval_loss", "train_and_evaluate", "parsing_receiver", "raw_receiver"),
    *("BestExporter", "LatestExporter", "FinalExporter", "exports", "from_estimator"),
)
IN_STEP = training("workers")
SCALING = training("mixed_precision", "strategy", "summed", "tpu_strategy")
STOPPING = training(
    *("eval_loss", "train_and_evaluate", "make_early_stopping_hook", "StopAtStep"),
    *("stop_if_no_decrease_hook", "stop_if_no_increase_hook"),
    *("stop_if_lower_hook", "stop_if_higher_hook"),
)
MANY = training(
    *("predict", "warm_start_from", "optimizers", "tf_random_seed", "replace", "gpus"),
    *("KerasTask", "evaluate(hooks)", "EvalSpec"),
    *("HParams", "from_saved_model", "RMSProp", "read_data_sets", "next_batch"),
    *("add_metrics", "forward_features", "Regressor", "LinearModel", "strategy"),
    *("arrays_input_fn", "first_batch", "stacked"),
    *(".parse", ".parse_json", ".to_json", ".add_hparam", ".get"),
)


def batches(repeat=None):
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return lambda: data.repeat(repeat).batch(4)


class Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())

    def __enter__(self):
        tf.get_logger().addHandler(self)
        tf.get_logger().setLevel("INFO")
        return self.lines

    def __exit__(self, *error):
        tf.get_logger().removeHandler(self)


def check_stock_callbacks_do_as_recorded(folder: str) -> None:
    seen, formatted = recorded("loop", "stock_hooks"), []

    def formatter(values):
        formatted.append(sorted((name, float(value)) for name, value in values.items()))
        return ""

    trainer = STOCK.Trainer(plain(STOCK), folder)
    hooks = [
        STOCK.StopAtStep(num_steps=5),
        STOCK.LogValues({"error": "error"}, every_n_iter=2, formatter=formatter),
        STOCK.LogValues(
            {"step": "global_step", "error": "error"}, every_n_iter=3, at_end=True
        ),
        STOCK.StepCounter(every_n_steps=2),
        STOCK.Profiler(save_steps=2, output_dir=f"{folder}/profile"),
    ]
    with Lines() as lines:
        trainer.train(batches(), hooks, steps=50)
    assert trainer.global_step == 5
    for ours, theirs in zip(formatted, seen["formatted"], strict=True):
        assert ours[0][0] == theirs[0][0] == "error"
        assert np.isclose(ours[0][1], theirs[0][1], rtol=1e-5)
    logged = [
        line for line in lines if line.startswith("step = ") and ", error" in line
    ]
    assert [line[7] for line in logged] == ["1", "4", "5"]
    assert all(line.endswith(" sec)") for line in logged)
    assert sum(line.startswith("global_step/sec: ") for line in lines) == 2
    assert glob.glob(f"{folder}/profile/**/*.xplane.pb", recursive=True)
    trainer.train(batches(), [STOCK.StopAtStep(last_step=7)])
    assert trainer.global_step == 7
    # A step is made before it is seen that there is nothing to do.
    trainer.train(batches(), [STOCK.StopAtStep(last_step=7)])
    assert trainer.global_step == 8


def check_nan_of_a_watched_value(folder: str) -> None:
    def watch(self, features, labels, outputs):
        return {"rest": tf.where(self.optimizer.iterations > 1, np.nan, 1.0)}

    trainer = STOCK.Trainer(linear(STOCK, watch=watch), folder)
    trainer.train(rows(), [STOCK.NanGuard("rest", fail_on_nan_loss=False)], steps=9)
    assert trainer.global_step == 3
    with pytest.raises(FloatingPointError, match="rest is not a number in step 4"):
        trainer.train(rows(), [STOCK.NanGuard("rest")], steps=9)


def check_watched_values_are_those_of_the_first_replica(folder: str) -> None:
    class Watching(STOCK.Callback):
        def after_step(self, step, values):
            self.values = values

    def watch(self, features, labels, outputs):
        return {"x": features["x"]}

    watching = Watching()
    config = STOCK.RunConfig(strategy=mirrored())
    trainer = STOCK.Trainer(linear(STOCK, watch=watch), folder, config)
    trainer.train(rows(8), [watching], steps=1)
    np.testing.assert_allclose(watching.values["x"], [[0.0, 0.1], [0.2, 0.3]], 1e-6)
    events = recorded("lifecycle", "replicas_train_and_evaluate")["train_events"]
    loss = next(entry[2] for entry in events if entry[1] == "loss")
    assert np.isclose(watching.values["loss"], loss, rtol=1e-5)


def check_two_replicas_of_a_worker_take_the_steps_of_mirrored_ones(folder: str) -> None:
    devices = ["/device:CPU:0", "/device:CPU:1"]
    workers = tf.distribute.MultiWorkerMirroredStrategy._from_local_devices(devices)
    kept = []
    for module, strategy in ((STOCK, mirrored()), (IN_STEP, workers)):
        config = module.RunConfig(strategy=strategy)
        trainer = module.Trainer(linear(module), f"{folder}/{len(kept)}", config)
        trainer.train(rows(14, 1))  # the last of its batches is left out
        figures = trainer.evaluate(rows(4, 1))
        assert figures["global_step"] == 3
        kept.append([figures["loss"], figures["mean_output"]])
    np.testing.assert_allclose(*kept, rtol=1e-6)


def check_summed_losses_of_replicas_are_not_divided(folder: str) -> None:
    class Losses(STOCK.Callback):
        def after_step(self, step, values):
            self.loss = values["loss"]

    def loss(self, features, labels, outputs):
        return tf.reduce_sum(tf.square(outputs - labels))

    kept = []
    for strategy, size in ((None, 4), (mirrored(), 2)):
        task = linear(STOCK, loss=loss, summed=True)
        config = STOCK.RunConfig(strategy=strategy)
        trainer = STOCK.Trainer(
            lambda task=task: task(1e-3), f"{folder}/{size}", config
        )
        losses = Losses()
        trainer.train(rows(8, batch=size), [losses], steps=3)
        kept.append([losses.loss, *np.ravel(trainer.task.model.get_weights()[0])])
    np.testing.assert_allclose(*kept, rtol=1e-5)


def events(folder: str) -> list[list]:
    """Steps, tags and values of the event files of a folder, as they were written."""
    found = []
    for path in sorted(glob.glob(f"{folder}/events.out.tfevents.*")):
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                found.append(
                    [event.step, value.tag, float(tf.make_ndarray(value.tensor))]
                )
    return found


def summarizing(module):
    """A task that writes a summary as `tf.summary.scalar` does."""

    def loss(self, features, labels, outputs):
        loss = tf.reduce_mean(tf.square(outputs - labels))
        with tf.summary.experimental.summary_scope("twice") as (tag, _):
            tf.summary.write(tag, 2.0 * loss)
        return loss

    return linear(module, loss=loss)


def check_summaries_of_a_task_keep_their_tags(folder: str) -> None:
    for module, strategies in (
        (SUMMED, [None]),
        (training("save_summary_steps"), [None]),
        (training("save_summary_steps", "strategy"), [mirrored()]),
    ):
        for strategy in strategies:
            on = {"strategy": strategy} if strategy else {}
            config = module.RunConfig(save_summary_steps=4, **on)
            model_dir = f"{folder}/{module is SUMMED}{strategy is None}"
            trainer = module.Trainer(summarizing(module), model_dir, config)
            trainer.train(rows(8), steps=6)
            trainer.evaluate(rows(repeat=1))
            found = events(model_dir)
            assert sorted(entry[:2] for entry in found) == [
                [1, "loss"],
                [1, "twice"],
                [5, "loss"],
                [5, "twice"],
            ]
            if strategy is None:
                values = {tuple(entry[:2]): entry[2] for entry in found}
                assert np.isclose(values[5, "twice"], 2 * values[5, "loss"])


def check_no_steps_are_summarized_where_none_are_said(folder: str) -> None:
    module = training("save_summary_steps")
    for every in (None, 0):
        model_dir = f"{folder}/{every}"
        config = module.RunConfig(save_summary_steps=every)
        trainer = module.Trainer(summarizing(module), model_dir, config)
        trainer.train(rows(8), steps=3)
        assert events(model_dir) == []


def check_event_files_are_as_recorded(folder: str) -> None:
    for replicas, scenario in ((1, "train_and_evaluate_order"), (2, "")):
        seen = recorded("lifecycle", scenario or "replicas_train_and_evaluate")
        seen = seen.get("after_first", seen)
        config = SUMMED.RunConfig(
            save_checkpoints_steps=3,
            save_summary_steps=100 if replicas == 1 else 2,
            log_step_count_steps=3,
            strategy=None if replicas == 1 else mirrored(),
        )
        trainer = SUMMED.Trainer(linear(SUMMED), f"{folder}/{replicas}", config)
        by_turns(SUMMED, trainer, 7, count=4 * replicas)
        for place, name in (("", "train_events"), ("eval", "eval_events")):
            found = events(f"{trainer.model_dir}/{place}")
            rates = [entry for entry in found if entry[1] == "global_step/sec"]
            assert [entry[0] for entry in rates] == ([] if place else [3, 6])
            assert all(entry[2] > 0 for entry in rates)
            figures = sorted(entry for entry in found if entry not in rates)
            recording = sorted(
                entry for entry in seen[name] if isinstance(entry[-1], float)
            )
            assert [entry[:2] for entry in figures] == [
                entry[:2] for entry in recording
            ]
            values = [entry[2] for entry in figures], [entry[2] for entry in recording]
            np.testing.assert_allclose(*values, rtol=1e-4)
    trainer.evaluate(rows(repeat=1), name="held_out")
    assert events(f"{trainer.model_dir}/eval_held_out")


def served(path: str, name: str = "serving_default", **inputs):
    """What a signature of an export answers."""
    signature = tf.saved_model.load(path).signatures[name]
    return signature(**{key: tf.constant(value) for key, value in inputs.items()})


def check_exports_serve_as_recorded(folder: str) -> None:
    seen = recorded("lifecycle", "export_saved_model")

    def exports(self, features, outputs):
        return {
            "serving_default": self.predictions(features, outputs),
            "shifted": {"more": outputs + 1.0},
        }

    raw = EXPORTING.raw_receiver({"x": tf.zeros([1, 2])})
    parsing = EXPORTING.parsing_receiver({"x": tf.io.FixedLenFeature([2], tf.float32)})
    untrained = EXPORTING.Trainer(linear(EXPORTING), f"{folder}/none")
    with pytest.raises(ValueError, match="There is no checkpoint in"):
        untrained.export_saved_model(f"{folder}/out", raw)
    config = EXPORTING.RunConfig(save_checkpoints_steps=3)
    EXPORTING.Trainer(linear(EXPORTING), f"{folder}/1", config).train(rows(), steps=5)
    # In a run of its own: the weights are those of the checkpoint.
    trainer = EXPORTING.Trainer(linear(EXPORTING, exports=exports), f"{folder}/1")
    path = trainer.export_saved_model(f"{folder}/out", raw)
    again = trainer.export_saved_model(f"{folder}/out", raw)
    assert Path(path).name.isdigit()
    assert len(Path(path).name) == 10
    assert path != again
    answers = served(path, x=[[1.0, 2.0]])
    same_values(answers, seen["plain"][2])
    more = served(path, "shifted", x=[[1.0, 2.0]])
    assert set(more) == {"more"}
    np.testing.assert_allclose(more["more"], answers["output"] + 1.0)
    path = trainer.export_saved_model(
        f"{folder}/out", raw, checkpoint_path=f"{folder}/1/model.ckpt-3"
    )
    same_values(served(path, x=[[1.0, 2.0]]), seen["older"])
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0])
    path = trainer.export_saved_model(f"{folder}/parsing", parsing)
    answers = served(path, examples=[example.SerializeToString()])
    same_values(answers, seen["parsing"][1])


def check_replicas_warm_start_and_export_as_recorded(folder: str) -> None:
    seen = recorded("lifecycle", "replicas_values")
    module = training(
        *("predict", "warm_start_from", "export_saved_model", "raw_receiver"),
        "strategy",
    )

    def two(**config):
        return module.RunConfig(strategy=mirrored(), **config)

    source = module.Trainer(linear(module), f"{folder}/source", two())
    source.train(rows(8), steps=4)
    second = module.Trainer(
        linear(module), f"{folder}/second", two(), warm_start_from=f"{folder}/source"
    )
    second.train(rows(8), steps=2)
    same_linear_weights(second, seen["trained_on"])
    path = second.export_saved_model(
        f"{folder}/out", module.raw_receiver({"x": tf.zeros([1, 2])})
    )
    same_values(served(path, x=[[1.0, 2.0]]), seen["served"], 1e-4)
    found = [row["output"][0] for row in second.predict(rows(repeat=1))]
    np.testing.assert_allclose(found, seen["predicted"], 1e-4)


def scripted(module, losses):
    """A task whose loss in an evaluation is that of a list, by the step."""

    def eval_loss(self, features, labels, outputs):
        step = tf.cast(self.optimizer.iterations, tf.int32)
        return tf.gather(tf.constant(losses, tf.float32), step)

    return linear(module, eval_loss=eval_loss)


def losses_of(**values: float) -> list[float]:
    losses = [9.0] * 64
    for step, value in values.items():
        losses[int(step[1:])] = value
    return losses


def check_exporters_choose_as_recorded(folder: str) -> None:
    losses = losses_of(
        s2=5.0, s4=3.0, s6=4.0, s8=2.0, s10=2.0, s12=1.0, s14=1.5, s16=0.5
    )
    seen = recorded("lifecycle", "exporters")
    receiver = EXPORTING.raw_receiver({"x": tf.zeros([1, 2])})

    def larger(best_eval_result, current_eval_result):
        return best_eval_result["loss"] < current_eval_result["loss"]

    def steps(name):
        found = []
        for path in sorted(glob.glob(f"{folder}/export/{name}/*")):
            kernel = tf.train.load_checkpoint(f"{path}/variables/variables")
            shapes = kernel.get_variable_to_shape_map()
            (name,) = (one for one, shape in shapes.items() if len(shape) == 2)
            found.append(float(kernel.get_tensor(name)[0, 0]))
        return [by_weight[round(value, 5)] for value in found]

    by_weight = {}
    for max_steps, recording in ((8, seen["to_8"]), (16, seen["to_16"])):
        config = EXPORTING.RunConfig(save_checkpoints_steps=2, keep_checkpoint_max=None)
        trainer = EXPORTING.Trainer(scripted(EXPORTING, losses), folder, config)
        exporters = [
            EXPORTING.BestExporter("best", receiver, exports_to_keep=9),
            EXPORTING.BestExporter("largest", receiver, compare_fn=larger),
            EXPORTING.LatestExporter("latest", receiver, exports_to_keep=2),
            EXPORTING.FinalExporter("final", receiver),
        ]
        by_turns(EXPORTING, trainer, max_steps, steps=1, exporters=exporters)
        for step in range(2, max_steps + 1, 2):
            reader = tf.train.load_checkpoint(f"{folder}/model.ckpt-{step}")
            key = "model/layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE"
            by_weight[round(float(reader.get_tensor(key)[0, 0]), 5)] = step
        # TensorFlow 1.15 let the first evaluation compete with itself.
        assert steps("best") == [2, *recording["best"]]
        assert steps("latest") == recording["latest"]
        assert steps("final") == recording["final"]
        assert steps("largest") == [2]


def check_early_stopping_as_recorded(folder: str) -> None:
    losses = losses_of(s2=5.0, s4=3.0, s6=4.0, s8=5.0, s10=2.0)
    # name -> what makes the hook, its arguments, how often it looks
    makers = {
        "no_decrease": (STOPPING.stop_if_no_decrease_hook, ("loss", 4), {}, 1),
        "no_increase": (STOPPING.stop_if_no_increase_hook, ("loss", 2), {}, 1),
        "lower": (STOPPING.stop_if_lower_hook, ("loss", 2.5), {}, 3),
        "higher": (STOPPING.stop_if_higher_hook, ("loss", 4.5), {"min_steps": 7}, 1),
        "own": (STOPPING.make_early_stopping_hook, (lambda: True,), {}, 5),
        "at_checkpoint": None,
    }

    def hook(name, trainer):
        if makers[name] is None:
            return STOPPING.StopAtStep(last_step=7)
        make, arguments, options, every = makers[name]
        often = {"run_every_secs": None, "run_every_steps": every}
        return make(trainer, *arguments, **options, **often)

    saves = {"own": 100, "at_checkpoint": 3}
    seen = recorded("lifecycle", "early_stopping")
    for name in makers:
        result, state, _ = seen[name]
        config = STOPPING.RunConfig(save_checkpoints_steps=saves.get(name, 2))
        trainer = STOPPING.Trainer(
            scripted(STOPPING, losses), f"{folder}/{name}", config
        )
        found = by_turns(STOPPING, trainer, 30, hooks=[hook(name, trainer)], steps=1)
        same_result(found, result)
        assert checkpoints(trainer.model_dir) == state["all"], name
    # Training goes on from where it was stopped, and knows of earlier evaluations.
    trainer = STOPPING.Trainer(scripted(STOPPING, losses), f"{folder}/lower", config)
    trainer.train(rows(), [hook("lower", trainer)], steps=9)
    assert trainer.global_step == 11


def check_optional_settings(folder: str) -> None:
    config = MANY.RunConfig(tf_random_seed=7, keep_checkpoint_max=1)
    config = config.replace(save_checkpoints_steps=1)

    class Seeded(MANY.Task):
        def __init__(self):
            self.model = tf_keras.Sequential([tf_keras.layers.Dense(1)])
            self.optimizer = tf_keras.optimizers.SGD(0.1)

        def forward(self, features, training):
            return self.model(features["x"])

        def loss(self, features, labels, outputs):
            return tf.reduce_mean(tf.square(outputs - labels))

    one = MANY.Trainer(Seeded, f"{folder}/1", config).train(rows(), steps=3)
    other = MANY.Trainer(Seeded, f"{folder}/2", config).train(rows(), steps=3)
    same_weights(one, other)
    assert len(glob.glob(f"{folder}/1/model.ckpt-*.index")) == 1
    with pytest.raises(ValueError, match="64 GPUs are asked for, and this machine has"):
        MANY.gpus(64)
    assert MANY.gpus(0) == ["/cpu:0"]


def check_a_scaled_loss_trains_the_same_on_replicas(folder: str) -> None:
    found = []
    for scale in (None, "dynamic", 512):
        config = SCALING.RunConfig(strategy=mirrored())

        def make(scale=scale):
            task = linear(SCALING)()
            if scale is not None:
                task.optimizer = SCALING.mixed_precision(task.optimizer, scale)
            return task

        trainer = SCALING.Trainer(make, f"{folder}/{scale}", config)
        trainer.train(rows(8), steps=3)
        again = SCALING.Trainer(make, f"{folder}/{scale}", config)
        again.train(rows(8), steps=2)
        found.append([again.global_step, *again.evaluate(rows(4, 1)).values()])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)


def check_a_tpu_has_to_be_there(folder: str) -> None:
    with pytest.raises(ValueError, match="TPU"):
        SCALING.tpu_strategy()


def check_a_seed_leaves_the_draws_of_others(folder: str) -> None:
    np.random.seed(0)
    MANY.Trainer(linear(MANY), folder, MANY.RunConfig(tf_random_seed=7))
    assert np.random.rand() == np.random.RandomState(0).rand()


def check_several_optimizers_are_kept(folder: str) -> None:
    class Two(MANY.Task):
        def __init__(self):
            one, other = (tf_keras.layers.Dense(1) for _ in range(2))
            self.model = tf_keras.Sequential([one, other])
            self.optimizer = tf_keras.optimizers.SGD(0.01, momentum=0.9)
            self.second = tf_keras.optimizers.Adam(0.02)

        def optimizers(self):
            return {"optimizer": self.optimizer, "second": self.second}

        def build(self):
            self.optimizer.build(self.model.layers[0].trainable_variables)
            self.second.build(self.model.layers[1].trainable_variables)

        def forward(self, features, training):
            return self.model(features["x"])

        def loss(self, features, labels, outputs):
            return tf.reduce_mean(tf.square(outputs - labels))

        def apply_gradients(self, gradients):
            variables = self.model.trainable_variables
            self.optimizer.apply_gradients(
                zip(gradients[:2], variables[:2], strict=True)
            )
            self.second.apply_gradients(zip(gradients[2:], variables[2:], strict=True))

    config = MANY.RunConfig(tf_random_seed=3)
    whole = MANY.Trainer(Two, f"{folder}/whole", config).train(rows(), steps=6)
    MANY.Trainer(Two, f"{folder}/parts", config).train(rows(), steps=4)
    resumed = MANY.Trainer(Two, f"{folder}/parts", config).train(rows(), steps=2)
    same_weights(whole, resumed)


def keras_model():
    kernel = tf.constant_initializer([[0.5], [-0.25]])
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Dense(
                1,
                kernel_initializer=kernel,
                kernel_regularizer=tf_keras.regularizers.L2(0.01),
                input_shape=(2,),
                name="answer",
            )
        ]
    )
    model.compile(tf_keras.optimizers.SGD(0.05, 0.5), "mse", metrics=["mae"])
    return model


def check_compiled_model_is_a_task(folder: str) -> None:
    def data(size):
        return lambda: rows(8, batch=size)().map(lambda x, y: (x["x"], y))

    model, reference = keras_model(), keras_model()
    reference.fit(data(4)(), steps_per_epoch=5, verbose=0)
    for strategy, size in ((None, 4), (mirrored(), 2)):
        config = MANY.RunConfig(strategy=strategy)
        trainer = MANY.Trainer(MANY.KerasTask(model), f"{folder}/{size}", config)
        trainer.train(data(size), steps=5)
        for one, other in zip(
            trainer.task.model.get_weights(), reference.get_weights(), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-5)
        expected = reference.evaluate(data(4)().take(2), verbose=0, return_dict=True)
        found = trainer.evaluate(data(4), steps=2)
        assert list(found) == ["mae", "loss", "global_step"]
        for name, value in expected.items():
            assert np.isclose(found[name], value, rtol=1e-5), name
        assert trainer.evaluate(data(4), steps=2) == found
        assert list(next(trainer.predict(data(2)))) == ["answer"]

    # An optimizer of ours and a function of the program's are copied, too.
    def own_loss(labels, outputs):
        return tf.square(labels - outputs)

    other = keras_model()
    other.compile(MANY.RMSProp(0.01, 0.8, 0.5), own_loss)
    task = MANY.KerasTask(other, {"own_loss": own_loss})
    trainer = MANY.Trainer(task, f"{folder}/own", config).train(data(2), steps=2)
    assert trainer.task.optimizer.rho == 0.8
    assert trainer.task.optimizer is not other.optimizer
    # What was handed over is a pattern, as it was for an Estimator.
    np.testing.assert_array_equal(model.get_weights()[0], [[0.5], [-0.25]])


def check_callbacks_of_evaluations_as_recorded(folder: str) -> None:
    entries, result, _ = recorded("loop", "eval_spec_hooks")
    journal = Journal()
    config = MANY.RunConfig(save_checkpoints_steps=2)
    task = plain(MANY)
    trainer = MANY.Trainer(lambda: task(), folder, config)
    found = MANY.train_and_evaluate(
        trainer,
        MANY.TrainSpec(batches(), max_steps=3, hooks=[journal.callback(MANY, "train")]),
        MANY.EvalSpec(
            batches(),
            steps=2,
            name="held",
            throttle_secs=0,
            hooks=[journal.callback(MANY, "eval")],
        ),
    )
    same_result(found, result)
    ours = [entry for entry in journal.entries if entry[0] == "eval"]
    assert ours == [entry for entry in entries if entry[0] == "eval"]


def check_hyperparameters_are_changed_by_text() -> None:
    params = MANY.HParams(rate=0.1, units=[16, 8], name="a", deep=True, steps=10)
    params.parse("rate=0.5,units=[4,2],name=b,deep=false").override_from_dict(
        {"steps": "7"}
    )
    assert params.values() == {
        "rate": 0.5,
        "units": [4, 2],
        "name": "b",
        "deep": False,
        "steps": 7,
    }
    assert "rate" in params
    assert params.get("none", 3) == 3
    assert MANY.HParams(rate=1.0).parse_json('{"rate": 2}').to_json() == '{"rate": 2.0}'
    params.add_hparam("more", 1)
    params.set_hparam("more", "2")
    assert params.more == 2


def check_saved_models_answer_arrays(folder: str) -> None:
    receiver = EXPORTING.raw_receiver({"x": tf.zeros([1, 2])})
    trainer = EXPORTING.Trainer(linear(EXPORTING), folder).train(rows(), steps=1)
    path = trainer.export_saved_model(f"{folder}/out", receiver)
    answers = MANY.from_saved_model(path)({"x": [[0.0, 0.1], [0.2, 0.3]]})
    expected = list(trainer.predict(rows(2, repeat=1)))
    values = [one["output"] for one in expected]
    np.testing.assert_allclose(answers["output"], values, 1e-5)
    answers = EXPORTING.from_estimator(trainer, receiver)(
        {"x": [[0.0, 0.1], [0.2, 0.3]]}
    )
    np.testing.assert_allclose(answers["output"], values, 1e-5)


def check_mnist_is_shuffled_as_recorded(folder: str) -> None:
    images = np.random.RandomState(0).randint(0, 256, (7, 784)).astype(np.uint8)
    for name, count in (("train", 5), ("t10k", 2)):
        pixels = bytes(16) + images[:count].tobytes()
        Path(folder, f"{name}-images-idx3-ubyte").write_bytes(pixels)
        labels = gzip.compress(bytes(8) + bytes(range(count)))
        Path(folder, f"{name}-labels-idx1-ubyte.gz").write_bytes(labels)
    data = MANY.read_data_sets(folder, validation_size=1, seed=7)
    np.testing.assert_allclose(data.train.images * 255, images[1:5], 1e-6)
    assert data.train.images.dtype == np.float32
    assert [*data.validation.labels] == [0]
    assert [*data.test.labels] == [0, 1]
    batches = [data.train.next_batch(3) for _ in range(3)]
    # What tf.contrib.learn.datasets.mnist.DataSet of TensorFlow 1.15.5 hands out.
    recorded = [[3, 2, 1], [4, 4, 2], [3, 1, 1]]
    assert [[*labels] for _, labels in batches] == recorded
    for shown, labels in batches:
        np.testing.assert_allclose(shown * 255, images[labels], 1e-6)
    assert data.train.epochs_completed == 2
    one_hot = MANY.read_data_sets(folder, True, False, 0).test
    assert one_hot.images.shape == (2, 28, 28, 1)
    np.testing.assert_array_equal(one_hot.labels, np.eye(10)[:2])


def check_arrays_come_in_the_order_of_tf_contrib_learn(folder: str) -> None:
    x, y = np.arange(14).reshape(7, 2), np.arange(7)
    data = MANY.arrays_input_fn({"a": x, "b": y}, y[:, None], 3, shuffle=True)
    found = [*data().take(5)]
    # What the feeder of TensorFlow 1.15.5 gives.
    recorded = [[0, 1, 5], [2, 4, 3], [6], [5, 0, 3], [2, 1, 6]]
    assert [labels.numpy().tolist() for _, labels in found] == recorded
    for (features, _), some in zip(found, recorded, strict=True):
        np.testing.assert_array_equal(features["a"], x[some])
        np.testing.assert_array_equal(features["b"], y[some, None])
    whole = [*MANY.arrays_input_fn(x.tolist(), [*y])()]
    assert [labels.numpy().tolist() for _, labels in whole] == [[*range(7)]]
    once = [*MANY.first_batch(MANY.arrays_input_fn(x, batch_size=3))()]
    np.testing.assert_array_equal(once[0], x[:3])
    assert len([*MANY.first_batch(lambda: (tf.constant(x), None))()]) == 1
    assert MANY.stacked(iter(x)).shape == (7, 2)
    told = MANY.stacked([{"a": one, "b": one[0]} for one in x])
    assert (told["a"].shape, told["b"].shape) == ((7, 2), (7,))


def check_metrics_and_features_are_added_as_recorded(folder: str) -> None:
    inputs = np.random.RandomState(0).rand(12, 1).astype(np.float32)
    weights = np.linspace(0.5, 1, 12).astype(np.float32)
    features = {"x": inputs, "key": np.arange(12), "w": weights}
    data = tf.data.Dataset.from_tensor_slices((features, inputs[:, 0] * 3 - 1))

    def input_fn():
        return data.batch(5)

    def more(labels, predictions, features):
        labels = tf.reshape(labels, [-1, 1])
        told = predictions["predictions"]
        errors, weights = tf.abs(told - labels), tf.reshape(features["w"], [-1, 1])
        return {"mae": (errors, weights), "rmse": (labels, told)}

    def metrics():
        kinds = tf_keras.metrics.RootMeanSquaredError, tf_keras.metrics.Mean
        return [kind(name) for kind, name in zip(kinds, ("rmse", "mae"), strict=True)]

    # What tf.contrib.estimator of TensorFlow 1.15.5 adds to a LinearRegressor.
    expected = {"average_loss": 0.2777058, "mae": 0.42257866, "rmse": 0.52697796}
    for strategy in (None, mirrored()):
        column = tf.feature_column.numeric_column("x")
        trainer = MANY.Trainer(
            lambda: MANY.Regressor(
                MANY.LinearModel([column]),  # noqa: B023
                tf_keras.optimizers.Ftrl(0.2),
            ),
            f"{folder}/{strategy is None}",
            MANY.RunConfig(strategy=strategy),
        )
        trainer = MANY.add_metrics(trainer, more, metrics)
        trainer = MANY.forward_features(trainer, "key")
        if strategy is None:
            trainer.train(input_fn)
            found = trainer.evaluate(input_fn)
            assert {k: found[k] for k in expected} == pytest.approx(expected)
            told = [*trainer.predict(input_fn)]
            assert [one["key"] for one in told] == [*range(12)]
            assert told[1]["predictions"] == pytest.approx(0.65305269)
        else:  # it begins with zeros
            found = trainer.evaluate(input_fn)
            labels = inputs[:, 0] * 3 - 1
            assert found["mae"] == pytest.approx(np.average(abs(labels), 0, weights))
