"""What a program pays before its first line: what is loaded, and what is not yet."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.alone


@pytest.fixture
def run(tfmigrate: Any, tmp_path: Path) -> Callable[[str], None]:
    """Runs a program of TensorFlow 1, which has to end well."""

    def run(code: str) -> None:
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(code), "utf-8")
        done = tfmigrate("run", "--tf", "1", program)
        assert done.returncode == 0, done.stderr[-3000:]

    return run


def test_what_a_program_does_not_name_is_not_loaded(run: Callable[[str], None]) -> None:
    run(
        """
        import sys
        import tensorflow as tf
        tf.estimator.Estimator, tf.keras.layers.Dense
        late = [name for name in sys.modules if name in (
            "pandas", "scipy", "h5py", "requests", "tfmigrate.compat.contrib.layers",
            "tfmigrate.compat.estimator.canned", "tfmigrate.compat.contrib.learn")]
        assert not late, late
        """,
    )


def test_modules_of_ours_that_come_late_mean_tensorflow_itself(
    run: Callable[[str], None],
) -> None:
    run(
        """
        import sys
        import tensorflow as tf
        real = tf.__dict__["_tfm_real"]
        for take in (
            lambda: tf.contrib.layers.fully_connected, lambda: tf.contrib.learn,
            lambda: tf.contrib.timeseries, lambda: tf.contrib.summary,
            lambda: tf.contrib.slim, lambda: tf.estimator.DNNClassifier,
            lambda: tf.contrib.seq2seq, lambda: tf.contrib.tpu.TPUEstimator):
            take()
        seen = 0
        for name, module in list(sys.modules.items()):
            if not name.startswith("tfmigrate.compat.") or name.endswith(".v1"):
                continue
            for known, meant in (("tf", real.compat.v1), ("tf2", real)):
                value = vars(module).get(known)
                if known == "tf2" and value is real.compat.v2:
                    continue
                if value is not None and name.split(".")[2] in ("contrib", "estimator"):
                    assert value is meant, (name, known, value)
                    seen += 1
        assert seen > 60, seen
        from tensorflow.contrib.learn.python.learn import experiment
        from tfmigrate.compat.contrib.learn.experiment import Experiment
        assert experiment.Experiment is Experiment
        """,
    )


def test_keras_knows_pandas_and_scipy_once_a_program_does(
    run: Callable[[str], None],
) -> None:
    run(
        """
        import sys
        import tensorflow as tf
        import numpy as np
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
        model.compile("sgd", "mse")
        model.fit(np.ones([4, 3]), np.ones([4]), verbose=0)
        assert "pandas" not in sys.modules and "scipy" not in sys.modules

        import pandas as pd
        frame = pd.DataFrame(np.ones([4, 3]))
        assert model.predict(frame).shape == (4, 1)
        model.fit(frame, pd.Series(np.ones([4])), verbose=0)
        assert sys.modules["pandas"] is pd and pd.DataFrame.__name__ == "DataFrame"

        import scipy.sparse
        from tensorflow.python.keras.engine import training_v1
        from tf_keras.src.engine import training_v1 as of_keras
        sparse = scipy.sparse.csr_matrix(np.eye(3))
        for module in (training_v1, of_keras):
            assert module.issparse(sparse) and not module.issparse(np.eye(3))

        # It loads what it needs by itself.
        path = sys.argv[0] + ".h5"
        model.save_weights(path)
        import h5py
        assert h5py.is_hdf5(path)
        image = np.ones([4, 4, 1])
        tf.keras.preprocessing.image.random_rotation(image, 30, 0, 1, 2)
        assert "scipy.ndimage" in sys.modules
        """,
    )


def test_a_package_that_is_loaded_already_is_the_one_that_keras_has(
    run: Callable[[str], None],
) -> None:
    run(
        """
        import h5py
        import pandas as pd
        import tensorflow as tf
        from tf_keras.src.engine import data_adapter
        from tf_keras.src.saving.legacy import hdf5_format
        assert data_adapter.pd is pd and hdf5_format.h5py is h5py
        """,
    )


def test_a_program_that_installs_the_clone_itself_has_it_too(
    tmp_path: Path, python: Any
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "import tfmigrate.compat\n"
        "tfmigrate.compat.install()\n"
        "import tensorflow as tf\n"
        "assert 'tfmigrate.compat.contrib.layers' not in sys.modules\n"
        "net = tf.contrib.layers.fully_connected(tf.ones([1, 2]), 3)\n"
        "assert net.shape.as_list() == [1, 3]\n"
        "import tfmigrate.compat.contrib.layers.dense as dense\n"
        "assert dense.tf is not tf and dense.tf.__version__ != tf.__version__\n"
    )
    done = python(program)
    assert done.returncode == 0, done.stderr[-3000:]
