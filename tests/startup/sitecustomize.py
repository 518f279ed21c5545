"""Lets the processes of tests read data without autotuning; each value stays the same.

The thread that tunes a ``tf.data`` iterator misses the iterator's end if it wakes before
the end is marked. It then sleeps on for as long as the iterator lived, and whoever drops
the iterator waits for it: half the time of many small trainings.
"""

import importlib.util
import os
import sys


class _Tensorflow:
    """Finds the module that loads data sets, and changes it once it is there."""

    def find_spec(self, name, path=None, target=None):
        if name != "tensorflow.python.data.ops.dataset_ops":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            module.DatasetV2._apply_debug_options = _untuned

        spec.loader.exec_module = exec_module
        return spec


def _untuned(dataset):
    from tensorflow.python.data.ops.options import Options

    options = Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


def install():
    """Here, and in the processes that are started from here."""
    here = os.path.dirname(os.path.abspath(__file__))
    known = os.environ.get("PYTHONPATH", "")
    if here not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, known)))
        sys.meta_path.insert(0, _Tensorflow())


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, _Tensorflow())
