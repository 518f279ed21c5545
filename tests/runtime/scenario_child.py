"""Runs scenarios of fixtures/oracle on the loop module.

python scenario_child.py OUT.json [--replicas N] MODULE.NAME...
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).parent
ORACLE = HERE.parents[1] / "fixtures" / "oracle"
sys.path[:0] = [str(HERE), str(ORACLE / "lifecycle"), str(ORACLE / "loop")]


def main(out: str, names: list[str]) -> None:
    import tensorflow

    if names[0] == "--replicas":
        cpu = tensorflow.config.list_physical_devices("CPU")[0]
        devices = [tensorflow.config.LogicalDeviceConfiguration()] * int(names[1])
        tensorflow.config.set_logical_device_configuration(cpu, devices)
        names = names[2:]
    from legacy_names import LegacyTensorFlow

    tf = LegacyTensorFlow()
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for name in names:
        module, _, scenario = name.partition(".")
        try:
            found[scenario] = importlib.import_module(module).run(tf, scenario)
        except Exception:
            found[scenario] = {"error": traceback.format_exc()}
        # At once: what comes after may not end.
        Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
