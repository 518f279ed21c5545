"""The calls that were evaluated on TF 1.15.5, and what came out."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from loading import load

FOLDER = Path(__file__).parents[2] / "fixtures" / "oracle" / "tables"


# The module of calls needs no TensorFlow.
CASES = load(FOLDER / "cases.py", "table_cases")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Gives a test that asks for `case_of_losses` every call of LOSSES, and so on."""
    for name in metafunc.fixturenames:
        kind = name.removeprefix("case_of_")
        if kind != name:
            cases = getattr(CASES, kind.upper())
            metafunc.parametrize(name, cases.items(), ids=list(cases))


@pytest.fixture(scope="session")
def cases() -> ModuleType:
    """The module of calls."""
    return CASES


@pytest.fixture(scope="session")
def recorded() -> Any:
    """`recorded(kind)`: what TF 1.15.5 made of the calls."""

    def read(kind: str) -> Any:
        return json.loads((FOLDER / f"{kind}.json").read_text())

    return read


@pytest.fixture(scope="session")
def array() -> Any:
    """`array(recorded)`: numbers with their shape."""

    def shaped(values: list[Any]) -> Any:
        return np.array(values[:-1], np.float32).reshape(values[-1])

    return shaped


@pytest.fixture(scope="session")
def names() -> dict[str, Any]:
    """What emitted code may name: TensorFlow, Keras and the parts of training.py."""
    tf = pytest.importorskip("tensorflow")
    tf_keras = pytest.importorskip("tf_keras")
    with contextlib.suppress(RuntimeError):  # other tests have started it
        two = [tf.config.LogicalDeviceConfiguration()] * 2
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, two)
    from tfmigrate.training import losses, metrics, optimizers

    parts = {**vars(losses), **vars(metrics), **vars(optimizers)}
    return {**parts, "tf": tf, "tf_keras": tf_keras}
