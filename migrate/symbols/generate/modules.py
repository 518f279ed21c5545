# ruff: noqa: UP006, UP035
"""Prints, as JSON, the private modules that the TensorFlow of an interpreter has.

Only file names are read, nothing of TensorFlow is imported. It also runs on the
Python of TF 1.
"""

import importlib.util
import json
import os
import sys
from typing import List

TOPS = ("core", "python", "tools")
# The compat layer has these itself, or they are about Keras and its layers.
OWN = ("python.estimator", "python.feature_column", "python.keras", "python.layers")


def private_modules(folder: str) -> List[str]:
    """Dotted names below ``tensorflow`` of the modules in a package folder."""
    found: List[str] = []
    for parent, folders, files in os.walk(folder):
        inside = os.path.relpath(parent, folder).replace(os.sep, ".")
        if inside == ".":
            folders[:] = [name for name in folders if name in TOPS]
            continue
        for name in files:
            if not name.endswith(".py"):
                continue
            dotted = inside if name == "__init__.py" else inside + "." + name[:-3]
            if not (dotted + ".").startswith(tuple(own + "." for own in OWN)):
                found.append(dotted)
    return sorted(found)


if __name__ == "__main__":
    for package in ("tensorflow_core", "tensorflow"):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            modules = private_modules(os.path.dirname(spec.origin))
            json.dump({"modules": modules}, sys.stdout)
            break
