"""The drop-in namespaces: complete clones that leave TensorFlow alone."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def run(python: Any) -> Callable[[str], None]:
    """Runs code in a process of its own, where it has to end well."""

    def run(code: str) -> None:
        done = python("-c", textwrap.dedent(code))
        assert done.returncode == 0, done.stderr[-3000:]

    return run


@pytest.mark.alone
def test_importing_the_clones_imports_and_changes_nothing(
    run: Callable[[str], None],
) -> None:
    run(
        """
        import os, sys
        environment = dict(os.environ)
        import tfmigrate.compat.v1, tfmigrate.compat.v2
        assert "tensorflow" not in sys.modules
        assert "tf_keras" not in sys.modules
        assert dict(os.environ) == environment

        import tensorflow
        def look(module):
            return {k: id(v) for k, v in vars(module).items() if k != "keras"}
        watched = [tensorflow, tensorflow.compat.v1, tensorflow.compat.v1.train,
                   tensorflow.compat.v1.data, tensorflow.compat.v1.nn]
        before = [look(module) for module in watched]
        eager = tensorflow.executing_eagerly()

        tf = tfmigrate.compat.v1
        for path in ("train.AdamOptimizer", "data.Dataset", "nn.rnn_cell.LSTMCell",
                     "layers.dense", "keras.layers.Dense", "estimator.SessionRunHook",
                     "contrib", "compat.v2.function"):
            found = tf
            for part in path.split("."):
                found = getattr(found, part)
        after = [look(module) for module in watched]
        changed = [[k for k in set(a) | set(b) if a.get(k) != b.get(k)]
                   for a, b in zip(before, after)]
        # TensorFlow's own wrappers cache what was looked up in them; nothing of
        # ours may be among it.
        for module, names in zip(watched, changed):
            for name in names:
                owner = type(getattr(module, name)).__module__
                assert not owner.startswith("tfmigrate"), (module, name)
        assert not hasattr(tensorflow, "estimator")
        assert not hasattr(tensorflow.compat.v1, "contrib")
        assert tensorflow.executing_eagerly() == eager
        assert sys.modules["tensorflow"] is tensorflow
        """
    )


def test_clone_is_complete_and_its_dir_is_honest(run: Callable[[str], None]) -> None:
    run(
        """
        import tensorflow
        import tfmigrate.compat.v1 as tf
        import tfmigrate.compat.v2 as tf2

        for ours, theirs in ((tf, tensorflow.compat.v1), (tf2, tensorflow)):
            listed = set(dir(ours))
            missing = {n for n in dir(theirs) if not n.startswith("_")} - listed
            assert not missing, missing
            assert {"estimator", "keras"} <= listed
            for name in listed:
                getattr(ours, name)
        assert "contrib" in dir(tf) and "layers" in dir(tf)
        assert "INFO" not in vars(type(tf.logging))
        assert vars(tf.logging)["INFO"] == tf.logging.__dict__["INFO"] == 20
        assert vars(tf.train)["Scaffold"] is tf.train.Scaffold
        assert tf.logging._logger is tensorflow.get_logger()
        try:
            tf.no_such_name
        except AttributeError as error:
            assert "no_such_name" in str(error)
        else:
            raise AssertionError("an unknown name was found")

        from tfmigrate.compat.v1.keras.layers import Conv2D
        from tfmigrate.compat.v1 import keras
        import tfmigrate.compat.v1.keras.layers as layers
        assert layers is tf.keras.layers and layers.Conv2D is Conv2D
        assert keras is tf.keras and Conv2D.__module__.startswith("tf_keras")
        assert tf.compat.v1 is tf and tf2.compat.v1 is tf
        assert tf.train.AdamOptimizer is tensorflow.compat.v1.train.AdamOptimizer
        """
    )


def test_a_name_without_home_raises_on_use_only(run: Callable[[str], None]) -> None:
    run(
        """
        import tfmigrate.compat.v1 as tf
        from tfmigrate.compat.surface.unavailable import UnavailableError

        import tf_keras
        assert tf.keras.mixed_precision.experimental.Policy is (
            tf_keras.mixed_precision.Policy)
        make = tf.keras.utils.multi_gpu_model
        class Mine(tf.keras.wrappers.scikit_learn.KerasClassifier):
            pass
        for use in (lambda: make(None, 2), Mine):
            try:
                use()
            except UnavailableError as error:
                assert "not available" in str(error) and "\\n" not in str(error)
            else:
                raise AssertionError("nothing was raised")
        """
    )


def test_outputs_of_layers_are_found_by_the_names_of_their_scopes(
    run: Callable[[str], None],
) -> None:
    run(
        """
        from tfmigrate.compat import v1 as tf

        slim = tf.contrib.slim
        filing = [slim.conv2d, slim.max_pool2d, slim.fully_connected, slim.flatten]
        with tf.Graph().as_default():
            with tf.variable_scope("net"):
                with slim.arg_scope(filing, outputs_collections="ends"):
                    x = tf.zeros([2, 8, 8, 3])
                    x = slim.repeat(x, 2, slim.conv2d, 4, 3, scope="c")
                    x = slim.flatten(slim.max_pool2d(x, 2, scope="pool"))
                    with tf.variable_scope("inner"):
                        x = slim.fully_connected(x, 2)
            ends = slim.utils.convert_collection_to_dict("ends")
            assert list(ends) == [
                "net/c/c_1", "net/c/c_2", "net/pool", "net/Flatten",
                "net/inner/fully_connected",
            ], list(ends)
            assert ends["net/inner/fully_connected"] is x
            assert slim.utils.get_tensor_aliases(tf.identity(x, "own")) == ["own"]
            assert slim.utils.gather_tensors_aliases([x, x]) == [
                "net/inner/fully_connected"
            ] * 2
            slim.utils.collect_named_outputs("ends", "more/", x)
            again = slim.utils.convert_collection_to_dict("ends", True)
            assert again["more"] is x
            assert tf.get_collection("ends") == []
        """
    )
