"""Objects that a module holds: networks that are called, registries of functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from .evaluating import HEAD, evaluate, made, reasons

MODEL = "\n\ndef model_fn(features, labels, mode, params):\n    return "
DENSE = "return tf.layers.dense(x, self.units)\n"
NET = (
    "class Net:\n    def __init__(self, units):\n        self.units = units\n\n"
    f"    def __call__(self, x):\n        {DENSE}\n"
    f"    def apply(self, x):\n        {DENSE}\n"
)


@pytest.mark.parametrize(
    "code",
    [
        # What is set from outside nobody knows when the model is made.
        f"{NET}\n\nNETWORK = Net(3)\nNETWORK.units = 4\n",
        # Layers that the object makes at its start belong to no model.
        "class Net:\n    def __init__(self):\n"
        "        self.kernel = tf.get_variable('kernel', [3, 3])\n\n"
        "    def __call__(self, x):\n        return tf.matmul(x, self.kernel)\n"
        "\n\nNETWORK = Net()\n",
        # A class of another package, and one of TensorFlow's.
        "import house\n\nNETWORK = house.Net(3)\n",
        "class Net(tf.train.Checkpoint):\n    def __call__(self, x):\n"
        "        return tf.layers.dense(x, 3)\n\n\nNETWORK = Net()\n",
        # One that a function makes anew is another each time.
        f"{NET}\n\nNETWORK = Net(3)\nif VERBOSE:\n    NETWORK = Net(4)\n",
    ],
)
def test_what_is_not_followed(code: str, tmp_path: Path) -> None:
    found = evaluate(tmp_path, f"{HEAD}{code}{MODEL}NETWORK(features)\n")
    assert "`NETWORK` may make variables" in reasons(found)[0]


def test_an_object_of_numbers_is_none_of_the_model(tmp_path: Path) -> None:
    """What its methods do is not followed: it reads what it likes."""
    code = (
        "class Options:\n    def rate(self, name):\n        return read_file(name)\n\n\n"
        "OPTIONS = Options()\n"
    )
    model = "tf.layers.dense(features, 3) * OPTIONS.rate('rate')\n"
    found = evaluate(tmp_path, f"{HEAD}{code}{MODEL}{model}")
    assert len(made(found)) == 1
    assert not reasons(found)


@pytest.mark.parametrize("call", ["NETWORK(features)", "NETWORK.apply(features)"])
def test_a_network_that_a_module_holds(call: str, tmp_path: Path) -> None:
    code = f"{HEAD}{NET}\n\nNETWORK = Net(3)\n"
    found = evaluate(tmp_path, f"{code}{MODEL}{call}\n")
    # How many units it has is read when the layer is made, not before.
    assert [one.rpartition("/")[2] for one in made(found)] == ["Dense(?)"]
    assert not reasons(found)
