"""Lets the processes of tests read data without autotuning; each value stays the same.

The thread that tunes a ``tf.data`` iterator misses the iterator's end if it wakes before
the end is marked. It then sleeps on for as long as the iterator lived, and whoever drops
the iterator waits for it: half the time of many small trainings.

Keras finds neither scikit-learn nor matplotlib, which it would load for wrappers that no
test uses: a third of the time that TensorFlow takes to be imported.

Garbage is looked for less often, which is a fifth of what is left of that time. An
operation computes in one thread: there are as many workers as cores.
"""

import gc
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


class _WithoutForKeras:
    """Finds nothing for Keras where it looks for libraries that it can do without."""

    def find_spec(self, name, path=None, target=None):
        if name in ("sklearn", "matplotlib") and _importer().startswith("keras."):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _importer():
    """The module that imports, seen from a finder."""
    frame = sys._getframe(2)
    while frame and "importlib" in frame.f_globals.get("__name__", ""):
        frame = frame.f_back
    return frame.f_globals.get("__name__", "") if frame else ""


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
        _begin()


def _begin():
    sys.meta_path[:0] = (_Tensorflow(), _WithoutForKeras())
    gc.set_threshold(20_000, 50)
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")


if __name__ == "sitecustomize":
    if "TFMIGRATE_TEST_FORKS" in os.environ:
        from forks import hand_over

        hand_over()
    _begin()
