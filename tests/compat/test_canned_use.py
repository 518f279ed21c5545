"""Heads, canned models and TPUEstimator as programs use them: mistakes, export."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="module")
def tf():
    """The TF 1 surface."""
    import tfmigrate.compat.v1 as surface

    surface.logging.set_verbosity(surface.logging.ERROR)
    return surface


@pytest.fixture(scope="module")
def tf2():
    """The TF 2 surface."""
    import tfmigrate.compat.v2 as surface

    return surface


X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5], [-2.0, 1.0]], np.float32)
Y = np.array([1, 0, 1, 0], np.int64)


def _input(tf, *, labels=True, batch=2, repeat=True, **extra):
    def input_fn():
        features = {"x": X, **extra}
        data = tf.data.Dataset.from_tensor_slices((features, Y) if labels else features)
        data = data.repeat() if repeat else data
        return data.batch(batch)

    return input_fn


# -- what canned models say about mistakes ----------------------------------


def _columns(tf):
    return [tf.feature_column.numeric_column("x", shape=(2,))]


# A model, what it gets for rows and labels, and what is said of it.
MISTAKES = {
    "one-hot labels": (
        lambda tf: tf.estimator.DNNClassifier([2], _columns(tf)),
        ({"x": X}, np.eye(2)[Y]),
        "one-hot",
    ),
    "features that are no dict": (
        lambda tf: tf.estimator.LinearRegressor(_columns(tf)),
        (X, Y),
        "dictionary",
    ),
    "a categorical column in a DNN": (
        lambda tf: tf.estimator.DNNRegressor(
            [2], [tf.feature_column.categorical_column_with_identity("k", 3)]
        ),
        ({"x": X, "k": np.zeros([4, 1], np.int64)}, Y),
        "indicator_column",
    ),
    "an unknown optimizer": (
        lambda tf: tf.estimator.DNNRegressor([2], _columns(tf), optimizer="Adamw"),
        ({"x": X}, Y),
        "Adagrad.*Ftrl",
    ),
    "labels outside of the classes": (
        lambda tf: tf.estimator.LinearClassifier(_columns(tf), n_classes=3),
        ({"x": X}, Y + 5),
        "n_classes",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(tf, mistake):
    make, data, message = MISTAKES[mistake]
    kinds = (ValueError, tf.errors.InvalidArgumentError)
    with pytest.raises(kinds, match=message):
        make(tf).train(lambda: tf.data.Dataset.from_tensor_slices(data).batch(2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"thresholds": [0.5, 1.0]}, "thresholds"),
        ({"loss_reduction": "none"}, "loss_reduction"),
        ({"loss_fn": lambda labels: labels}, "logits"),
        ({"loss_fn": lambda labels, logits, extra: labels}, "unexpected"),
        ({"label_vocabulary": "yes"}, "label_vocabulary"),
    ],
)
def test_heads_check_their_arguments(tf, arguments, message):
    make = tf.contrib.estimator.binary_classification_head
    with pytest.raises((ValueError, TypeError), match=message):
        make(**arguments)
    with pytest.raises((ValueError, TypeError), match=message):
        tf.estimator.BinaryClassHead(**arguments)


def test_boosted_trees_say_what_to_use_instead(tf):
    column = tf.feature_column.numeric_column("x")
    with pytest.raises(Exception, match="Decision Forests"):
        tf.estimator.BoostedTreesClassifier([column], n_batches_per_layer=1)


# -- TF 2 heads also work outside of Estimators --------------------------------


def test_heads_of_tf2_run_eagerly(tf2):
    head = tf2.estimator.MultiClassHead(3)
    logits = np.array([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0]], np.float32)
    labels = np.array([[0], [2]], np.int64)
    probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    expected = -np.log(probabilities[[0, 1], labels[:, 0]]).mean()
    assert float(head.loss(labels, logits)) == pytest.approx(expected, rel=1e-6)
    predictions = head.predictions(logits)
    np.testing.assert_allclose(predictions["probabilities"], probabilities, rtol=1e-6)
    assert predictions["classes"].numpy().tolist() == [[b"0"], [b"1"]]

    metrics = head.metrics()
    head.update_metrics(metrics, {}, logits, labels)
    head.update_metrics(metrics, {}, logits[:1], labels[:1])
    assert float(metrics["accuracy"].result()) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="Labels must be"):
        head.loss(np.array([[7], [0]], np.int64), logits)
    with pytest.raises(ValueError, match="logits shape"):
        head.loss(labels, logits[:, :2])


def test_accuracy_baseline_is_that_of_the_frequent_class(tf2):
    head = tf2.estimator.BinaryClassHead()
    metrics = head.metrics()
    logits = np.array([[1.0], [-1.0], [2.0], [0.5]], np.float32)
    head.update_metrics(metrics, {}, logits, np.array([[1], [1], [1], [0]]))
    assert float(metrics["accuracy_baseline"].result()) == pytest.approx(0.75)
    assert float(metrics["label/mean"].result()) == pytest.approx(0.75)


# -- export and warm start ----------------------------------------------------


def test_a_canned_classifier_serves_what_it_predicts(tf, tmp_path):
    columns = _columns(tf)
    model = tf.estimator.DNNClassifier([3], columns, model_dir=tmp_path / "model")
    model.train(_input(tf), steps=3)
    expected = [
        p["probabilities"]
        for p in model.predict(_input(tf, labels=False, repeat=False))
    ]

    spec = tf.feature_column.make_parse_example_spec(columns)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    path = model.export_saved_model(str(tmp_path / "export"), receiver)
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], path.decode())
        signatures = loaded.signature_def
        assert set(signatures) == {
            "serving_default",
            "classification",
            "regression",
            "predict",
        }
        signature = signatures["serving_default"]
        assert signature.method_name == "tensorflow/serving/classify"
        examples = []
        for row in X:
            example = tf.train.Example()
            example.features.feature["x"].float_list.value.extend(row)
            examples.append(example.SerializeToString())
        (source,) = signature.inputs.values()
        scores = session.run(signature.outputs["scores"].name, {source.name: examples})
    np.testing.assert_allclose(scores, expected, rtol=1e-5)


def test_a_canned_model_starts_warm_from_another(tf, tmp_path):
    columns = _columns(tf)
    first = tf.estimator.DNNRegressor([3], columns, model_dir=tmp_path / "first")
    first.train(_input(tf), steps=5)
    second = tf.estimator.DNNRegressor(
        [3],
        columns,
        model_dir=tmp_path / "second",
        warm_start_from=tf.estimator.WarmStartSettings(
            str(tmp_path / "first"), vars_to_warm_start=".*hiddenlayer_0.*"
        ),
        optimizer=tf.train.GradientDescentOptimizer(0.0),
    )
    second.train(_input(tf), steps=1)
    name = "dnn/hiddenlayer_0/kernel"
    np.testing.assert_array_equal(
        second.get_variable_value(name), first.get_variable_value(name)
    )
    name = "dnn/logits/kernel"
    assert (second.get_variable_value(name) != first.get_variable_value(name)).any()


# -- TPUEstimator ---------------------------------------------------------------


def _tpu_model_fn(tf, seen, wrap):
    def model_fn(features, labels, mode, params):
        seen.append((mode, dict(params)))
        weight = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        output = tf.matmul(features["x"], weight)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode,
                predictions={"y": output},
                export_outputs={"y": tf.estimator.export.PredictOutput(output)},
            )
        error = output[:, 0] - tf.cast(labels, tf.float32)
        loss = tf.reduce_mean(tf.square(error))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        if wrap:
            optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        step = tf.train.get_or_create_global_step()
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=optimizer.minimize(loss, step)
        )

    return model_fn


def _tpu_input(tf):
    def input_fn(params):
        data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
        return data.repeat(2).batch(params["batch_size"], drop_remainder=True)

    return input_fn


def _tpu_estimator(tf, tmp_path, seen, *, use_tpu=False, wrap=False):
    return tf.contrib.tpu.TPUEstimator(
        _tpu_model_fn(tf, seen, wrap),
        config=tf.contrib.tpu.RunConfig(model_dir=str(tmp_path), tf_random_seed=1),
        params={"depth": 2},
        use_tpu=use_tpu,
        train_batch_size=2,
        eval_batch_size=4,
        predict_batch_size=1,
    )


def test_tpu_estimator_hands_over_batch_sizes_by_mode(tf, tmp_path):
    seen = []
    model = _tpu_estimator(tf, tmp_path, seen)
    model.train(_tpu_input(tf), max_steps=3)
    assert model.evaluate(_tpu_input(tf))["global_step"] == 3
    assert len(list(model.predict(_tpu_input(tf)))) == 8
    model.export_saved_model(
        str(tmp_path / "export"),
        _receiver(tf),
    )
    plain = {"depth": 2, "use_tpu": False}
    assert seen == [
        ("train", {**plain, "batch_size": 2}),
        ("eval", {**plain, "batch_size": 4}),
        ("infer", {**plain, "batch_size": 1}),
        # An export has no batch size of its own.
        ("infer", plain),
    ]


def _receiver(tf):
    def receiver_fn():
        x = tf.placeholder(tf.float32, [None, 2])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    return receiver_fn


def test_cross_shard_optimizer_trains_alike_off_tpu(tf, tmp_path):
    weights = []
    for wrap in (False, True):
        model = _tpu_estimator(tf, tmp_path / str(wrap), [], wrap=wrap)
        model.train(_tpu_input(tf), max_steps=3)
        weights.append(model.get_variable_value("w"))
    np.testing.assert_array_equal(*weights)


def test_use_tpu_without_a_tpu_is_one_clear_sentence(tf, tmp_path):
    model = _tpu_estimator(tf, tmp_path, [], use_tpu=True)
    with pytest.raises(RuntimeError, match="use_tpu=False"):
        model.train(_tpu_input(tf), max_steps=1)


def test_tpu_estimator_checks_what_legacy_checked(tf, tmp_path):
    model = _tpu_estimator(tf, tmp_path, [])
    with pytest.raises(ValueError, match="params"):
        model.train(_input(tf), max_steps=1)
    with pytest.raises(ValueError, match="RunConfig"):
        tf.contrib.tpu.TPUEstimator(lambda features, params: None, use_tpu=False)
    with pytest.raises(ValueError, match="batch_size"):
        tf.contrib.tpu.TPUEstimator(
            lambda features, params: None,
            config=tf.contrib.tpu.RunConfig(),
            params={"batch_size": 3},
            use_tpu=False,
        )
    with pytest.raises(ValueError, match="num_cores_per_replica"):
        tf.contrib.tpu.TPUConfig(num_cores_per_replica=3)
