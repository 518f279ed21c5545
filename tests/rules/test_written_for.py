"""Names that TF 1 and TF 2 both have are read as the module's own TensorFlow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import libcst as cst
import pytest
from tfmigrate.names.resolver import Resolver
from tfmigrate.rules.engine import run_rules

# Each means something else in TF 1, or takes its arguments in another order.
BOTH = """\
def f(x, y):
    a = tf.nn.dropout(x, 0.3)
    b = tf.math.in_top_k(x, y, 3)
    c = tf.where(x, y, -y)
    return tf.argmax(x, 1, "name"), tf.image.resize(x, (3, 3)), a, b, c
"""
TF2 = {
    "a function": "tf.random.set_seed(3)\n",
    "a class": "m = tf.metrics.MeanSquaredError()\n",
    "summaries": "w = tf.summary.create_file_writer('.')\n",
    "from-import": "from tensorflow.keras.optimizers.legacy import Adam\no = Adam()\n",
}
TF1 = {
    "nothing tells": "",
    "a session": "with tf.Session() as s:\n    pass\n",
    "both": "tf.random.set_seed(3)\nx = tf.placeholder(tf.float32)\n",
    "contrib": "from tensorflow.contrib import slim\ntf.random.set_seed(3)\n",
    "compat.v1 alone": "tf.compat.v1.disable_eager_execution()\n",
}


def rewritten(code: str) -> str:
    module = cst.parse_module(code)
    return run_rules(code, module, Resolver(module)).text


@pytest.mark.parametrize("told", TF2.values(), ids=TF2.keys())
def test_code_of_tf2_keeps_its_meaning(told: str) -> None:
    code = "import tensorflow as tf\n\n" + told + BOTH
    assert rewritten(code) == code
    direct = code.replace("as tf\n", "as tf\nfrom tensorflow import where\n", 1)
    direct = direct.replace("tf.where", "where")
    assert rewritten(direct) == direct


@pytest.mark.parametrize("told", TF1.values(), ids=TF1.keys())
def test_code_of_tf1_is_moved(told: str) -> None:
    text = rewritten("import tensorflow as tf\n\n" + told + BOTH)
    assert "tf.nn.dropout(x, rate=0.7)" in text
    assert "tf.compat.v1.where(x, y, -y)" in text
    assert "tf.math.in_top_k(y, x, 3)" in text or "predictions=x" in text
    # What is emitted names TF 2 things; a second run leaves it as it is.
    assert rewritten(text) == text


def test_names_that_differ_and_are_only_in_tf1_go_in_either() -> None:
    code = "import tensorflow as tf\n\ntf.random.set_seed(1)\nx = tf.log(2.0)\n"
    assert "tf.math.log(2.0)" in rewritten(code)


def test_a_project_may_hold_both(tmp_path: Path) -> None:
    old = "import tensorflow as tf\n\nx = tf.placeholder(tf.float32)\n" + BOTH
    new = "import tensorflow as tf\n\ntf.random.set_seed(1)\n" + BOTH
    (tmp_path / "old.py").write_text(old)
    (tmp_path / "new.py").write_text(new)
    command = [sys.executable, "-m", "tfmigrate", "rewrite", "--allow-dirty"]
    subprocess.run([*command, str(tmp_path)], check=False, capture_output=True)
    assert (tmp_path / "new.py").read_text() == new
    assert "tf.compat.v1.where" in (tmp_path / "old.py").read_text()
