"""``tfmigrate run``: unedited TF 1 programs in a process of their own."""

from __future__ import annotations

import functools
import json
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


Ended = subprocess.CompletedProcess[str]


@pytest.fixture
def tool_run(tfmigrate: Any, tmp_path: Path) -> Callable[..., Ended]:
    """`tfmigrate run` in the folder of the test."""
    return functools.partial(tfmigrate, "run", cwd=tmp_path)


@pytest.mark.alone
class TestLikePython:
    """Programs that never import TensorFlow behave as under python itself."""

    def test_script(self, tmp_path: Path, tool_run: Any, python: Any) -> None:
        write(tmp_path / "pkg" / "helper.py", "value = 7\n")
        script = """
            import json, sys
            import helper
            main = sys.modules["__main__"]
            print(json.dumps({
                "name": __name__, "file": __file__, "argv": sys.argv,
                "path0": sys.path[0], "main": main.__dict__ is globals(),
                "spec": __spec__ is None, "doc": __doc__,
                "tensorflow": "tensorflow" in sys.modules,
            }))
            sys.exit(3)
        """
        write(tmp_path / "pkg" / "show.py", script)
        options = ("--epochs", "2", "-m", "x", "--help")
        ours = tool_run("pkg/show.py", *options)
        plain = python("pkg/show.py", *options, cwd=tmp_path)
        assert ours.returncode == plain.returncode == 3
        assert json.loads(ours.stdout) == json.loads(plain.stdout)

    def test_module_and_separator(self, tmp_path: Path, tool_run: Any) -> None:
        write(tmp_path / "trainer" / "__init__.py", "")
        write(
            tmp_path / "trainer" / "task.py",
            "import sys\nfrom . import __name__ as n\nprint(n, __name__, sys.argv[1:])\n",
        )
        done = tool_run("-m", "trainer.task", "--", "--job-dir", "x")
        assert done.stdout.split("\n")[0] == "trainer __main__ ['--job-dir', 'x']"

    def test_traceback_shows_only_the_program(
        self, tmp_path: Path, tool_run: Any
    ) -> None:
        write(
            tmp_path / "bad.py",
            """
            def inner():
                try:
                    {}["k"]
                except KeyError as error:
                    raise ValueError("no luck") from error

            inner()
            """,
        )
        done = tool_run("bad.py")
        assert done.returncode == 1
        files = [
            line.split('"')[1] for line in done.stderr.splitlines() if "  File" in line
        ]
        assert files
        assert set(files) == {str(tmp_path / "bad.py")}
        assert "ValueError: no luck" in done.stderr
        assert 'raise ValueError("no luck") from error' in done.stderr

    def test_notebook(self, tmp_path: Path, tool_run: Any) -> None:
        cells = [
            {"cell_type": "markdown", "source": ["# title"]},
            {
                "cell_type": "code",
                "source": ["%matplotlib inline\n", "!pip install nothing\n", "a = 2"],
            },
            {"cell_type": "code", "source": "if a:\n    %time b = a\nprint('in', a)"},
            {"cell_type": "code", "source": ["b = 7\n", "b * 6"]},
            {"cell_type": "code", "source": "%time c = (7\\\n %4)\nfiles = !ls\n"},
            {"cell_type": "code", "source": "%%bash\nexit 1"},
            {"cell_type": "code", "source": "print(c, files, '''\\n!ls\\n'''.strip())"},
            {"cell_type": "code", "source": ["1 / (a - 2)"]},
        ]
        (tmp_path / "n.ipynb").write_text(
            json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 2})
        )
        done = tool_run("n.ipynb")
        assert done.stdout.split("\n")[:2] == ["in 2", "42"]
        assert done.stdout.split("\n")[2] == "3 None !ls"
        assert "not run: !pip install nothing" in done.stderr
        assert "n.ipynb[5]: not run: %%bash" in done.stderr
        assert "1 / (a - 2)" in done.stderr
        assert "ZeroDivisionError" in done.stderr
        assert done.returncode == 1


class TestUserMistakes:
    def test_missing_file(self, tmp_path: Path, tool_run: Any) -> None:
        done = tool_run("trainer.task")
        assert done.returncode == 2
        assert "no such file or directory: trainer.task" in done.stderr
        assert "tfmigrate run -m trainer.task" in done.stderr
        assert "Traceback" not in done.stderr

    def test_missing_module(self, tmp_path: Path, tool_run: Any) -> None:
        done = tool_run("-m", "no.such.thing")
        assert done.returncode == 2
        assert "there is no module no.such.thing" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        "line",
        [
            'print "loss", 3',
            "print x",
            "try:\n    pass\nexcept ValueError, e:\n    pass",
            'raise ValueError, "x"',
            "mode = 0644",
            "if 1 <> 2: pass",
            'exec "x = 1"',
        ],
    )
    def test_python_2_names_2to3(
        self, tmp_path: Path, tool_run: Any, line: str
    ) -> None:
        write(tmp_path / "old.py", "import os\n")
        (tmp_path / "old.py").write_text(f"import os\n{line}\n")
        done = tool_run("old.py")
        assert done.returncode == 2
        assert "2to3 -w old.py" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.alone
    def test_plain_syntax_error_stays_one(self, tmp_path: Path, tool_run: Any) -> None:
        write(tmp_path / "typo.py", "def f(:\n    pass\n")
        done = tool_run("typo.py")
        assert done.returncode == 1
        assert "2to3" not in done.stderr
        assert f'File "{tmp_path / "typo.py"}", line 1' in done.stderr
        assert "launcher" not in done.stderr


@pytest.mark.alone
def test_unedited_imports_graph_mode_and_children(
    tmp_path: Path, tool_run: Any
) -> None:
    """Every legacy door in one process, and in its children."""
    write(
        tmp_path / "child.py",
        """
        import tensorflow as tf
        with tf.Session() as session:
            print("child", session.run(tf.constant(5)), tf.executing_eagerly())
        """,
    )
    write(
        tmp_path / "doors.py",
        """
        import multiprocessing, os, subprocess, sys
        import tensorflow as tf
        import tensorflow.compat.v1 as tf1
        from tensorflow import keras
        from tensorflow.keras.layers import Dense
        from tensorflow.python.client import device_lib
        from tensorflow.python.estimator.model_fn import ModeKeys
        from tensorflow.python.estimator import estimator as estimator_lib
        from tensorflow.python.framework import ops
        from tensorflow.python.keras import backend as K
        from tensorflow.python.keras.layers import Dense as PrivateDense
        from tensorflow.python.layers import core as layers_core
        import tensorflow_estimator
        import keras as standalone

        flags = tf.app.flags
        flags.DEFINE_integer("steps", 3, "how many")
        FLAGS = flags.FLAGS

        def in_pool(number):
            with tf.Graph().as_default(), tf.Session() as session:
                return int(session.run(tf.placeholder_with_default(number, []))) + 1

        def main(argv):
            assert not tf.executing_eagerly()
            assert tf1 is tf and PrivateDense is Dense is tf.keras.layers.Dense
            assert standalone.layers.Dense is Dense
            assert layers_core.Dense is tf.layers.Dense
            assert ModeKeys is tf.estimator.ModeKeys
            assert estimator_lib.Estimator is tf.estimator.Estimator
            assert tf.__version__.startswith("1.15")
            assert K.image_data_format() == "channels_last"
            tf.set_random_seed(1)
            x = tf.placeholder(tf.float32, [None, 3])
            assert x.get_shape()[1].value == 3 and {x: 1}
            y = tf.layers.dense(x, 2, name="d")
            assert [v.name for v in tf.global_variables()] == ["d/kernel:0", "d/bias:0"]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                print("shape", session.run(y, {x: [[1, 2, 3]]}).shape, FLAGS.steps)
            sys.stdout.flush()
            subprocess.check_call([sys.executable, "child.py"])
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print("pool", pool.map(in_pool, [41]))
            sys.exit(4)

        if __name__ == "__main__":
            tf.app.run(main)
        """,
    )
    done = tool_run("--trace-legacy", "doors.py", "--steps=9")
    assert done.returncode == 4, done.stderr[-3000:]
    assert done.stdout.split("\n")[:3] == [
        "shape (1, 2) 9",
        "child 5 False",
        "pool [42]",
    ]
    listed = done.stderr[done.stderr.rindex("legacy TensorFlow symbols used") :]
    assert "tf.placeholder" in listed
    assert "doors.py:" in listed
    assert "tf.constant" not in listed


def test_eager_execution_can_be_enabled(tmp_path: Path, tool_run: Any) -> None:
    write(
        tmp_path / "eager.py",
        """
        import tensorflow as tf
        tf.enable_eager_execution()
        print(tf.executing_eagerly(), float(tf.constant(2.0) * 3))
        with tf.GradientTape() as tape:
            x = tf.Variable(3.0)
            y = x * x
        print(float(tape.gradient(y, x)), len(tf.config.list_logical_devices("CPU")))
        """,
    )
    done = tool_run("--replicas", "2", "eager.py")
    assert done.stdout.split("\n")[:2] == ["True 6.0", "6.0 2"], done.stderr[-2000:]


def test_names_that_python_and_numpy_dropped_are_there(
    tmp_path: Path, tool_run: Any
) -> None:
    script = """
        import collections, inspect, time
        from collections import Mapping, OrderedDict
        import numpy as np
        import tensorflow as tf

        def f(a, *b, c=1): pass
        def g(a, b=1): pass

        assert isinstance(OrderedDict(), (Mapping, collections.Sequence))
        assert np.int is int and np.object is object and np.NaN != np.NaN
        assert np.asscalar(np.ones([1])) == 1.0 and time.clock() > 0
        assert str([np.float32(0.5), np.int64(2)]) == "[0.5, 2]"
        assert np.ones(1, np.uint8).tostring() == np.uint8(1).tostring() == b"\x01"
        args, varargs, keywords, defaults = inspect.getargspec(g)
        assert (args, varargs, keywords, defaults) == (["a", "b"], None, None, (1,))
        for question in (lambda: inspect.getargspec(f), lambda: np.nothing,
                         lambda: time.nothing):
            try:
                question()
            except (AttributeError, ValueError) as error:
                print(type(error).__name__)
    """
    write(tmp_path / "old.py", script)
    result = tool_run("old.py")
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["ValueError", "AttributeError", "AttributeError"]
    # Told once each, with what to write instead.
    assert result.stderr.count("numpy.int is gone") == 1
    assert "getfullargspec" in result.stderr
