"""Modules of tensorflow_hub: layers where their weights stay, else kept."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from rewritten import rewritten

# Both sides were run on a module that TensorFlow 1.15 exported: the same figures.
MODEL = dedent("""
    import tensorflow as tf
    import tensorflow_hub as hub


    def model_fn(features, labels, mode, params):
        module = hub.Module(params["url"], trainable=False, name="backbone")
        logits = tf.layers.dense(module(features["image"]), 2)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        step = tf.train.get_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


    estimator = tf.estimator.Estimator(model_fn, params={"url": "modules/1"})
    estimator.train(data, steps=3)
""")
COLUMN = dedent("""
    import tensorflow as tf
    import tensorflow_hub as hub

    column = hub.text_embedding_column("sentence", "modules/1")
    estimator = tf.estimator.DNNClassifier([5], [column])
    estimator.train(data, steps=3)
""")


def test_a_module_is_a_layer(tmp_path: Path) -> None:
    text = rewritten(tmp_path, MODEL)
    assert 'hub.KerasLayer(params["url"], name="backbone"),' in text
    assert "hub.Module" not in text


@pytest.mark.parametrize(
    ("text", "old", "new", "why"),
    [
        pytest.param(MODEL, "trainable=False", "trainable=True", "may train", id="fit"),
        pytest.param(
            MODEL, "trainable=False", "tags={'train'}", "by `tags`", id="another graph"
        ),
        pytest.param(
            MODEL,
            '["image"])',
            '["image"], as_dict=True)["map"]',
            "`as_dict`",
            id="map",
        ),
        pytest.param(COLUMN, "", "", "`tensorflow_hub.text_embedding_col", id="column"),
    ],
)
def test_kept(tmp_path: Path, text: str, old: str, new: str, why: str) -> None:
    after = rewritten(tmp_path, text.replace(old, new))
    assert "tfmigrate.compat.install()" in after
    assert why in after
