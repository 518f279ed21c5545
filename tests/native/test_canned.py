"""Canned Estimators as trainers of heads: texts, and the figures of TF 1.15.5 and 2.15."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tfmigrate.rewrite.native.canned import (
    LEARN,
    PLAIN,
    SIGNATURES,
    SIGNATURES_2,
    canned,
)
from tfmigrate.rewrite.native.code import Refused, matched
from tfmigrate.training import parts_for, training_module

ORACLE = Path(__file__).parents[2] / "fixtures" / "oracle"
DEEP = {"feature_columns": "deep", "hidden_units": "[5]"}


def text_of(name: str, *, tf2: bool = False, rows: bool = True, **given: str) -> str:
    return canned(f"tf.estimator.{name}", given, tf2=tf2, rows=rows).text


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("BoostedTreesClassifier", {}, "no task"),
        ("DNNClassifier", {"feature_columns": "deep"}, "without `hidden_units`"),
        ("LinearClassifier", {}, "without `feature_columns`"),
        ("DNNLinearCombinedClassifier", {}, "without feature columns"),
        ("DNNClassifier", {**DEEP, "warm_start_from": "tf.estimator.WarmStartSettings(folder, 'x')"}, "by name"),
        ("DNNClassifier", {**DEEP, "optimizer": "made[0]"}, "not made in its call"),
        ("DNNClassifier", {**DEEP, "optimizer": "'Momentum'"}, "the optimizer 'Momentum'"),
        ("DNNClassifier", {**DEEP, "batch_norm": "norm()"}, "a call gives"),
        ("DNNClassifier", {**DEEP, "n_classes": "count()"}, "name it"),
        ("DNNRegressor", {**DEEP, "loss_reduction": "tf.losses.Reduction.MEAN", "weight_column": "'w'"}, "reduced by"),
        ("DNNRegressor", {**DEEP, "weight_column": "tf.feature_column.numeric_column('w', normalizer_fn=f)"}, "name of a feature"),
        ("DNNEstimator", {**DEEP, "head": "head"}, "is `head`, not a known one"),
        ("DNNEstimator", {**DEEP, "head": "tf.contrib.estimator.multi_head([a, b])"}, "multi_head.*, not a known one"),
        ("DNNEstimator", {**DEEP, "head": "tf.contrib.estimator.regression_head(loss_fn=f)"}, "with `loss_fn`"),
        ("DNNEstimator", {**DEEP, "head": "tf.contrib.estimator.multi_label_head()"}, "without `n_classes`"),
        ("LinearClassifier", {"feature_columns": "columns()", "optimizer": "None"}, "name them"),
        ("LinearClassifier", {"feature_columns": "c", "optimizer": "tf.estimator.experimental.LinearSDCA('id')"}, "not made"),
    ],
)  # fmt: skip
def test_refusals(name: str, given: dict[str, str], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        text_of(name, **given)


LINEAR = {"feature_columns": "columns"}
BOTH = {
    "linear_feature_columns": "wide",
    "dnn_feature_columns": "deep",
    "dnn_hidden_units": "[5]",
}


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("DNNLinearCombinedClassifier", BOTH, "give it `fix_global_step_increment_bug=True`, and half"),
        ("LinearClassifier", {**LINEAR, "weight_column_name": "'w'"}, "evaluates another mean"),
        ("LinearClassifier", {**LINEAR, "enable_centered_bias": "True"}, "beside the model: take it out"),
        ("LinearRegressor", {**LINEAR, "_joint_weights": "joint"}, "one variable"),
        ("DNNRegressor", {**DEEP, "feature_engineering_fn": "f"}, "in the input function"),
        ("DNNClassifier", {**DEEP, "embedding_lr_multipliers": "rates"}, "other rates"),
        ("LinearClassifier", {"feature_columns": "columns()"}, "name them"),
    ],
)  # fmt: skip
def test_refusals_of_contrib_learn(
    name: str, given: dict[str, str], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        canned(f"{LEARN}{name}", given, tf2=False)


# --------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("LinearClassifier", LINEAR, "Ftrl(min(0.2, len(columns) ** -0.5)),\n        reduction=tf.reduce_mean,"),
        ("LinearClassifier", {"feature_columns": "[a, b]"}, "LinearModel([a, b]),\n        tf_keras.optimizers.Ftrl(0.2),"),
        ("LinearClassifier", {**LINEAR, "optimizer": "'SGD'"}, "SGD(0.2)"),
        ("LinearClassifier", {**LINEAR, "n_classes": "3", "label_keys": "KEYS"}, "label_vocabulary=KEYS"),
        ("LinearRegressor", {"feature_columns": PLAIN}, 'Dense(1, kernel_initializer="zeros")'),
        ("DNNRegressor", {**DEEP, "gradient_clip_norm": "5.0"}, "Adagrad(0.05, epsilon=0.0, global_clipnorm=5.0)"),
        ("DNNRegressor", {**DEEP, "enable_centered_bias": "False"}, "OrderedFeatures(deep)"),
        ("DNNRegressor", {**DEEP, "feature_columns": "[x]"}, "tf_keras.layers.DenseFeatures([x])"),
        (
            "DNNLinearCombinedClassifier",
            {**BOTH, "fix_global_step_increment_bug": "True", "linear_optimizer": "'Adagrad'", "dnn_activation_fn": "None"},
            "wide_optimizer=tf_keras.optimizers.Adagrad(\n            min(0.2, len(wide) ** -0.5),\n            epsilon=0.0,\n        )",
        ),
    ],
)  # fmt: skip
def test_those_of_contrib_learn(name: str, given: dict[str, str], text: str) -> None:
    code = canned(f"{LEARN}{name}", given, tf2=False)
    assert text in code.text
    assert any(one.startswith("Learn") for one in code.training)


def test_a_deep_classifier() -> None:
    text = text_of(
        "DNNClassifier",
        hidden_units="[10, 20]",
        feature_columns="feature_columns",
        n_classes="3",
        optimizer="tf.train.AdagradOptimizer(learning_rate=0.1)",
        model_dir="args.model_dir",
    )
    assert (
        text
        == """\
Trainer(
    lambda: Classifier(
        tf_keras.Sequential([
            tf_keras.layers.DenseFeatures(feature_columns),
            tf_keras.layers.Dense(10, activation="relu"),
            tf_keras.layers.Dense(20, activation="relu"),
            tf_keras.layers.Dense(3),
        ]),
        tf_keras.optimizers.Adagrad(0.1, epsilon=0.0),
    ),
    model_dir=args.model_dir,
)"""
    )


def test_a_linear_and_deep_classifier_whose_classes_are_counted_later() -> None:
    code = canned(
        "tf.estimator.DNNLinearCombinedClassifier",
        {
            "linear_feature_columns": "wide",
            "dnn_feature_columns": "deep",
            "dnn_hidden_units": "units",
            "dnn_dropout": "0.2",
            "n_classes": "N",
            "config": "config",
        },
        tf2=False,
    )
    assert (
        code.text
        == """\
Trainer(
    lambda: (BinaryClassifier if N == 2 else Classifier)(
        WideAndDeepModel(
            LinearModel(wide, units=1 if N == 2 else N),
            tf_keras.Sequential([
                tf_keras.layers.DenseFeatures(deep),
                *(
                    tf_keras.Sequential([
                        tf_keras.layers.Dense(size, activation="relu"),
                        tf_keras.layers.Dropout(0.2),
                    ])
                    for size in units
                ),
                tf_keras.layers.Dense(1 if N == 2 else N),
            ]),
        ),
        tf_keras.optimizers.Adagrad(0.001, epsilon=0.0),
        wide_optimizer=tf_keras.optimizers.Ftrl(0.005),
    ),
    config=config,
)"""
    )
    heads = {"BinaryClassifier", "Classifier"}
    assert code.training == {"Trainer", "LinearModel", "WideAndDeepModel", *heads}


@pytest.mark.parametrize(
    ("given", "tf2", "optimizer"),
    [
        # By default, by name, and None: three rates.
        ({}, False, "tf_keras.optimizers.Ftrl(0.2)"),
        ({"optimizer": "'SGD'"}, False, "tf_keras.optimizers.SGD(0.2)"),
        ({"optimizer": "None"}, False, "tf_keras.optimizers.Ftrl(min(0.2, len(wide) ** -0.5))"),
        ({"optimizer": "'Adam'"}, True, "tf_keras.optimizers.Adam(0.2)"),
        # Rows that are not looked up move by Keras' momentum, and by Ftrl's rate.
        ({"optimizer": "tf.train.MomentumOptimizer(0.1, 0.9)"}, False, "Momentum(0.1, momentum=0.9)"),
        (
            {"optimizer": "lambda: tf.train.FtrlOptimizer(tf.train.exponential_decay(0.1, step, 10, 0.5))"},
            False,
            "Ftrl(tf_keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5))",
        ),
    ],
)  # fmt: skip
def test_optimizers_of_linear_models(
    given: dict[str, str], tf2: bool, optimizer: str
) -> None:
    text = text_of("LinearRegressor", feature_columns="wide", tf2=tf2, **given)
    assert f" {optimizer}" in text


@pytest.mark.parametrize(
    ("given", "tf2", "rows", "optimizer"),
    [
        ({}, False, True, "tf_keras.optimizers.Adagrad(0.05, epsilon=0.0)"),
        ({}, True, True, "tf_keras.optimizers.Adagrad()"),
        ({"optimizer": "'RMSProp'"}, False, True, "RMSProp(0.05)"),
        ({"optimizer": "'RMSProp'"}, True, True, "RMSprop()"),
        ({"optimizer": "tf.train.FtrlOptimizer(0.1)"}, False, True, "Ftrl(0.1)"),
        ({"optimizer": "tf.train.FtrlOptimizer(0.1)"}, False, False, "tf_keras.optimizers.Ftrl(0.1)"),
        ({"optimizer": "tf.compat.v1.train.AdamOptimizer()"}, False, True, "tf_keras.optimizers.Adam(epsilon=1e-8)"),
        ({"optimizer": "lambda: tf.keras.optimizers.Adam(0.1)"}, True, True, "tf_keras.optimizers.Adam(0.1)"),
    ],
)  # fmt: skip
def test_optimizers_of_deep_models(
    given: dict[str, str], tf2: bool, rows: bool, optimizer: str
) -> None:
    text = text_of("DNNRegressor", tf2=tf2, rows=rows, **DEEP, **given)
    assert f" {optimizer}," in text


@pytest.mark.parametrize(
    ("activation", "layer"),
    [
        (None, 'Dense(5, activation="relu")'),
        ("None", "Dense(5)"),
        ("tf.nn.tanh", 'Dense(5, activation="tanh")'),
        ("tf.nn.leaky_relu", "Dense(5, activation=tf.nn.leaky_relu)"),
        ("swish", "Dense(5, activation=swish)"),
    ],
)
def test_activations(activation: str | None, layer: str) -> None:
    given = {} if activation is None else {"activation_fn": activation}
    assert f"{layer}," in text_of("DNNRegressor", **DEEP, **given)


def test_the_reduction_of_each_generation() -> None:
    assert "reduction" not in text_of("DNNRegressor", **DEEP)
    assert "reduction=tf.reduce_mean" in text_of("DNNRegressor", tf2=True, **DEEP)
    summed = {"loss_reduction": "tf.keras.losses.Reduction.SUM"}
    assert "reduction" not in text_of("DNNRegressor", tf2=True, **DEEP, **summed)
    mean = {"loss_reduction": "'weighted_mean'"}
    assert "reduction=tf.reduce_mean" in text_of("DNNRegressor", **DEEP, **mean)


def test_rows_that_start_warm_are_left_where_they_have_no_gradient() -> None:
    assert "tf_keras.optimizers.Ftrl(" in text_of("LinearRegressor", **LINEAR)
    text = text_of("LinearRegressor", **LINEAR, warm_start_from="folder")
    assert "tf_keras.optimizers.Ftrl(" not in text
    assert "Ftrl(" in text


def test_batch_normalization_may_be_asked_for() -> None:
    text = text_of("DNNClassifier", **DEEP, batch_norm="args.batch_norm")
    assert "if args.batch_norm\n" in text
    assert "else []\n" in text


def test_an_optimizer_of_another_place_may_be_a_name() -> None:
    text = text_of("DNNClassifier", **DEEP, optimizer="made")
    assert "optimizer_named(made, " in text


def test_a_warm_start_from_a_folder_is_the_trainers() -> None:
    text = text_of("DNNRegressor", **DEEP, warm_start_from="folder", model_dir="other")
    assert text.endswith("    model_dir=other,\n    warm_start_from=folder,\n)")


def test_long_calls_are_broken_within() -> None:
    rate = "tf.train.polynomial_decay(args.learning_rate, step, args.train_steps, 0.0)"
    optimizer = f"lambda: tf.train.AdamOptimizer({rate}, beta1=0.5)"
    text = text_of("DNNRegressor", **DEEP, optimizer=optimizer)
    assert (
        """\
        tf_keras.optimizers.Adam(
            tf_keras.optimizers.schedules.PolynomialDecay(
                args.learning_rate,
                args.train_steps,
                end_learning_rate=0.0,
            ),
            beta_1=0.5,
            epsilon=1e-8,
        ),
"""
        in text
    )


# ------------------------------------------------------------------- numbers

LABELLED = "label_vocabulary=['no', 'yes']"
# The calls of fixtures/oracle/canned/cases.py, as text.
CALLS: dict[str, str] = {
    "v1/dnn_classifier_binary": "DNNClassifier([8, 4], deep, weight_column='weight')",
    "v1/dnn_classifier_multi": "DNNClassifier(hidden_units=[6], feature_columns=deep, n_classes=3, label_vocabulary=['low', 'mid', 'high'], optimizer='Adam', activation_fn=tf.nn.tanh, batch_norm=True)",
    "v1/dnn_regressor": "DNNRegressor([5, 4], deep, label_dimension=2, optimizer=lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.9))",
    "v1/dnn_regressor_mean": "DNNRegressor([5], x, weight_column=tf.feature_column.numeric_column('weight'), optimizer=tf.train.GradientDescentOptimizer(0.1), loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE, input_layer_partitioner=None)",
    "v1/linear_regressor": "LinearRegressor(wide, label_dimension=2, optimizer='SGD', loss_reduction=tf.losses.Reduction.MEAN)",
    "v1/combined_regressor": "DNNLinearCombinedRegressor(linear_feature_columns=wide, linear_optimizer='Adagrad', dnn_feature_columns=deep, dnn_optimizer=tf.train.MomentumOptimizer(0.01, 0.9), dnn_hidden_units=[6], batch_norm=True)",
    "v1/linear_estimator": "LinearEstimator(tf.contrib.estimator.binary_classification_head(), feature_columns=wide, optimizer='SGD')",
    "v1/combined_estimator": "DNNLinearCombinedEstimator(tf.contrib.estimator.regression_head(), linear_feature_columns=wide, linear_optimizer='Adagrad', dnn_feature_columns=deep, dnn_hidden_units=[6], dnn_optimizer='SGD')",
    "v1/head_multi_class": "DNNEstimator(tf.contrib.estimator.multi_class_head(3, weight_column='weight'), [4], x, optimizer=tf.train.GradientDescentOptimizer(0.05))",
    "v1/head_regression": "DNNEstimator(tf.contrib.estimator.regression_head(weight_column='weight', label_dimension=2), [4], x, optimizer=tf.train.GradientDescentOptimizer(0.05))",
    "v1/head_poisson": "DNNEstimator(tf.contrib.estimator.poisson_regression_head(), [4], x, optimizer=tf.train.GradientDescentOptimizer(0.05))",
    "v2/dnn_classifier_binary": "DNNClassifier([8, 4], deep, weight_column='weight')",
    "v2/dnn_classifier_multi": "DNNClassifier(hidden_units=[6], feature_columns=deep, n_classes=3, label_vocabulary=['low', 'mid', 'high'], optimizer='Adam', activation_fn=tf.nn.tanh, batch_norm=True)",
    "v2/linear_regressor": "LinearRegressor(wide, label_dimension=2, optimizer=tf.keras.optimizers.SGD(0.005), loss_reduction=tf.keras.losses.Reduction.SUM, sparse_combiner='sqrtn')",
    "v2/head_multi_class": "DNNEstimator(tf.estimator.MultiClassHead(3, weight_column='weight'), [4], x, optimizer=tf.keras.optimizers.SGD(0.05))",
    # Those whose linear weights start at zero.
    "canned/linear_classifier_binary": f"LinearClassifier(wide, {LABELLED})",
    "canned/linear_classifier_multi": "LinearClassifier(feature_columns=wide, n_classes=3, optimizer=tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02), sparse_combiner='mean', weight_column='weight')",
    "canned/combined_classifier": "DNNLinearCombinedClassifier(linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[6, 4])",
    "canned/combined_wide_only": "DNNLinearCombinedClassifier(linear_feature_columns=wide, n_classes=3)",
}  # fmt: skip


# Enough to train each head, kind of model and optimizer once.
FEW = (
    "v1/dnn_classifier_binary",
    "v1/dnn_classifier_multi",
    "v1/combined_regressor",
    "v1/head_poisson",
    "canned/linear_classifier_multi",
)


def marked(keys: Iterable[str]) -> list[Any]:
    """The cases, most of which are slow together."""
    slow = pytest.mark.slow
    return [key if key in FEW else pytest.param(key, marks=slow) for key in keys]


def arguments_of(call: str, tf2: bool) -> tuple[str, dict[str, str]]:
    """The class and the arguments of one of the calls."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    symbol = f"tf.estimator.{ast.unparse(node.func)}"
    return symbol, matched(node, (SIGNATURES_2 if tf2 else SIGNATURES)[symbol])


@pytest.fixture(scope="module")
def definitions() -> ModuleType:
    """Columns, data and weights of the recorded cases."""
    path = ORACLE / "canned" / "cases.py"
    spec = importlib.util.spec_from_file_location("canned_cases", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def old_name(variable: str, layer: Any, index: int, last: bool) -> str:
    """What TensorFlow 1 called a variable of a deep model."""
    column = re.search(r"(\w+_embedding)/embedding_weights", variable)
    if column:
        return (
            f"dnn/input_from_feature_columns/input_layer/{column[1]}/embedding_weights"
        )
    short = variable.rpartition("/")[2].partition(":")[0]
    if last:
        return f"dnn/logits/{short}"
    norm = "Normalization" in type(layer).__name__
    return f"dnn/hiddenlayer_{index}/{f'batchnorm_{index}/' if norm else ''}{short}"


def names_of(model: Any, tf_keras: Any) -> dict[str, Any]:
    """The variables of a model by the names that TensorFlow 1 gave them."""
    found = {}
    wide = model.wide if hasattr(model, "wide") else model
    if hasattr(wide, "bias"):
        for variable in wide.trainable_variables:
            column = re.search(r"(\w+)_embedding/embedding_weights", variable.name)
            name = column[1] if column else "x"
            found[f"linear/linear_model/{name}/weights"] = variable
        del found["linear/linear_model/x/weights"]
        (x,) = (layer for layer in wide.shares if hasattr(layer, "layers"))
        found["linear/linear_model/x/weights"] = x.layers[1].kernel
        found["linear/linear_model/bias_weights"] = wide.bias
    deep = model.deep if hasattr(model, "deep") else model
    if hasattr(deep, "layers") and not hasattr(deep, "bias"):
        index = -1
        for layer in deep.layers:
            index += isinstance(layer, tf_keras.layers.Dense)
            for variable in layer.trainable_variables:
                last = layer is deep.layers[-1]
                found[old_name(variable.name, layer, index, last)] = variable
    return found


def recorded_case(key: str, replicas: int) -> tuple[dict[str, Any], Any]:
    """What was recorded of a case, and its arrays by name."""
    generation, name = key.split("/")
    if generation == "canned":
        text = (ORACLE / "tables" / "canned.json").read_text()
        return json.loads(text)[name], None
    path = ORACLE / "canned" / generation / f"{name}.{replicas}"
    return json.loads(path.with_suffix(f".{replicas}.json").read_text()), np.load(
        path.with_suffix(f".{replicas}.npz")
    )


class Trained:
    """A case, trained by the code that stands for it."""

    def __init__(
        self,
        key: str,
        definitions: Any,
        names: dict[str, Any],
        folder: Path,
        replicas: int,
    ) -> None:
        tf, tf_keras = names["tf"], names["tf_keras"]
        self.recorded, self.arrays = recorded_case(key, replicas)
        generation, name = key.split("/")
        cases = definitions.cases("v1" if generation == "canned" else generation)
        (case,) = (case for case in cases if case.name == name)
        symbol, arguments = arguments_of(CALLS[key], generation == "v2")
        code = canned(symbol, {**arguments, "config": "config"}, tf2=generation == "v2")
        words = {*code.training, "hooks", "predict", "RunConfig"}
        words |= {*re.findall(r"\b(\w+)=", code.text)}
        on = {}
        if replicas > 1:
            on["strategy"] = tf.distribute.MirroredStrategy(
                [device.name for device in tf.config.list_logical_devices("CPU")],
                cross_device_ops=tf.distribute.ReductionToOneDevice(),
            )
        training = module_of({*words, *on}, folder)
        config = training.RunConfig(
            model_dir=str(folder / "model"),
            save_checkpoints_steps=1000,
            **on,
        )
        columns = {
            "deep": definitions._deep(tf),
            "wide": definitions._wide(tf),
            "x": [tf.feature_column.numeric_column("x", shape=(3,))],
        }
        given = {**vars(training), **columns, "tf": tf, "tf_keras": tf_keras}
        trainer = eval(code.text, {**given, "config": config})
        input_fn = case.train_input(tf)
        trainer._prepare(input_fn().element_spec[0])
        self.variables = names_of(trainer.task.model, tf_keras)
        for name, variable in self.variables.items():
            if self.arrays is not None:
                variable.assign(self.arrays[f"initial:{name}"])
            elif name.startswith("dnn/"):
                variable.assign(definitions.fixed_weights(name, variable.shape))
        self.losses: list[float] = []
        losses = self.losses

        class Watch(training.Callback):  # type: ignore[name-defined,misc]
            def after_step(self, step: int, values: Any) -> None:
                losses.append(values["loss"])

        steps = len(self.recorded["losses"])
        trainer.train(input_fn, hooks=[Watch()], steps=steps)
        self.evaluated = trainer.evaluate(case.eval_input(tf))
        self.predicted = list(trainer.predict(case.eval_input(tf)))[:6]


@pytest.mark.parametrize("key", marked(CALLS))
def test_the_same_figures(
    key: str, definitions: Any, names: Any, tmp_path: Path
) -> None:
    trained = Trained(key, definitions, names, tmp_path, 1)
    recorded = trained.recorded
    np.testing.assert_allclose(trained.losses, recorded["losses"], rtol=2e-5)
    assert trained.evaluated.keys() == recorded["evaluate"].keys()
    for name, wanted in recorded["evaluate"].items():
        assert trained.evaluated[name] == pytest.approx(wanted, rel=3e-5), name
    assert trained.predicted[0].keys() == recorded["predictions"].keys()
    for name in recorded["predictions"]:
        found = np.stack([prediction[name] for prediction in trained.predicted])
        if trained.arrays is None:
            wanted = np.reshape(recorded["predictions"][name], found.shape)
        else:
            wanted = trained.arrays[f"predictions:{name}"]
        if found.dtype.kind == "O":
            assert [v.decode() for v in found.ravel()] == list(wanted.ravel()), name
        else:
            np.testing.assert_allclose(
                found, wanted, rtol=1e-4, atol=1e-5, err_msg=name
            )
    if trained.arrays is not None:
        for name, variable in trained.variables.items():
            wanted = trained.arrays[f"final:{name}"]
            np.testing.assert_allclose(
                variable, wanted, rtol=2e-4, atol=1e-5, err_msg=name
            )


def module_of(words: Iterable[str], folder: Path) -> ModuleType:
    """The training module with what these words ask for."""
    path = folder / "training.py"
    path.write_text(training_module(parts_for(words)))
    spec = importlib.util.spec_from_file_location(f"training_{folder.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("head", "served", "units"),
    [
        ("BinaryClassifier", "binary", 1),
        ("Classifier", "classes", 3),
        ("Regressor", "values", 2),
    ],
)
def test_exports_answer_as_they_did(
    head: str, served: str, units: int, names: Any, tmp_path: Path
) -> None:
    tf, tf_keras = names["tf"], names["tf_keras"]
    training = module_of([head, "export_saved_model"], tmp_path)
    task = getattr(training, head)(None, tf_keras.optimizers.SGD())
    outputs = tf.constant(np.random.RandomState(0).randn(4, units), tf.float32)
    exports = task.exports({}, outputs)
    recorded = json.loads((ORACLE / "canned" / "served.json").read_text())[
        "signatures"
    ][served]
    assert exports.keys() == recorded.keys()
    for name, (_, _, keys) in recorded.items():
        assert sorted(exports[name]) == keys
    if head == "Classifier":
        classes = exports["classification"]["classes"].numpy()
        assert classes.tolist() == [[b"0", b"1", b"2"]] * 4


@pytest.mark.parametrize(
    "key", marked(["v1/dnn_classifier_binary", "v1/dnn_regressor_mean"])
)
def test_two_replicas_add_up_or_take_the_mean(
    key: str, definitions: Any, names: Any, tmp_path: Path
) -> None:
    if len(names["tf"].config.list_logical_devices("CPU")) < 2:
        pytest.skip("TensorFlow was started with one device")
    trained = Trained(key, definitions, names, tmp_path, 2)
    for name, variable in trained.variables.items():
        wanted = trained.arrays[f"final:{name}"]
        np.testing.assert_allclose(variable, wanted, rtol=2e-4, atol=1e-5, err_msg=name)
